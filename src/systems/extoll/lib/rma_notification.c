/* SPDX-License-Identifier: Apache-2.0 */
/* RMA user library: notifications (extoll.md 3.6, 6.2). The library reads a
 * notification from the ring only when the program asks for one. Unread
 * notifications fill the ring, and a full ring stops the senders. The library
 * stores the read pointer only every few slots, so that most notifications need
 * no store to the NIC. */
#include "systems/extoll/lib/rma_internal.h"

static void noti_tell(struct rma_port *p, uint64_t flags)
{
	xmem_rf(&p->mem, EXTOLL_RMA_RP + p->mem.vpid * RMA_PAGE, p->rp | flags);
	p->told = p->rp;
}

const volatile uint64_t *rma_noti_ring(const struct rma_port *p,
				       size_t *bytes_p)
{
	*bytes_p = (size_t)p->mem.slots * RMA_NOTI_BYTES;
	return p->mem.ring;
}

void rma_noti_arm(struct rma_port *p)
{
	noti_tell(p, RMA_RP_REARM);
}

bool rma_irq_wait(struct rma_port *p, weft_time_t deadline)
{
	if (!extoll_drv_event_wait(&p->mem.drv, deadline))
		return false;
	while (extoll_drv_event(&p->mem.drv))
		;
	return true;
}

/* Moves the next notification from the ring to the port's list. Returns false
 * if the ring is empty or no memory is available. */
static bool noti_take(struct rma_port *p)
{
	volatile uint64_t *slot = &p->mem.ring[2 * p->rp];
	uint64_t w = slot[1];
	struct rma_noti *n = p->spare;

	if (!w)
		return false;
	if (n)
		p->spare = n->next;
	else
		n = weft_host_calloc(p->host, 1, sizeof(*n));
	if (!n)
		return false;
	*n = (struct rma_noti){
		.value = slot[0],
		.bytes = RMA_N_OP(w) == RMA_NOTI_PUT ? RMA_N_CLASS(w)
						     : RMA_N_COUNT(w),
		.node = (uint16_t)RMA_N_NODE(w),
		.vpid = (uint8_t)RMA_N_VPID(w),
		.unit = (uint8_t)RMA_N_UNIT(w),
		.command = (uint8_t)RMA_N_OP(w),
		.mode = (uint8_t)RMA_N_MODE(w),
		.error = (uint8_t)RMA_N_ERROR(w),
	};
	slot[1] = 0;
	*p->last = n;
	p->last = &n->next;
	p->rp = (p->rp + 1) % p->mem.slots;
	if ((p->rp + p->mem.slots - p->told) % p->mem.slots >= p->lazy)
		noti_tell(p, 0);
	return true;
}

/* Removes a notification from the port's list and returns it. */
static struct rma_noti *noti_out(struct rma_port *p, struct rma_noti **at)
{
	struct rma_noti *n = *at;

	*at = n->next;
	if (!n->next)
		p->last = at;
	n->next = NULL;
	return n;
}

int rma_noti_probe(struct rma_port *p, struct rma_noti **noti_p)
{
	if (!p->first && !noti_take(p))
		return RMA_NO_NOTI;
	*noti_p = noti_out(p, &p->first);
	return RMA_SUCCESS;
}

bool rma_noti_ready(const struct rma_port *p)
{
	return p->first || p->mem.ring[2 * p->rp + 1];
}

bool rma_noti_wait(struct rma_port *p, weft_time_t deadline)
{
	if (rma_noti_ready(p))
		return true;
	if (p->told != p->rp)
		noti_tell(p, 0); /* at once, since the program waits anyway */
	return weft_host_poll64(p->host, &p->mem.ring[2 * p->rp + 1], 0,
				deadline);
}

int rma_noti_get_until(struct rma_port *p, weft_time_t deadline,
		       struct rma_noti **noti_p)
{
	while (rma_noti_probe(p, noti_p) == RMA_NO_NOTI)
		if (!rma_noti_wait(p, deadline))
			return RMA_POLL_EXCEEDED;
	return RMA_SUCCESS;
}

int rma_noti_get_block(struct rma_port *p, struct rma_noti **noti_p)
{
	return rma_noti_get_until(p, WEFT_NEVER, noti_p);
}

int rma_noti_match(struct rma_port *p, int unit, int command, int32_t node,
		   struct rma_noti **noti_p)
{
	for (struct rma_noti **at = &p->first; *at || noti_take(p);
	     at = &(*at)->next) {
		const struct rma_noti *n = *at;

		if ((unit >= 0 && n->unit != unit) ||
		    (command >= 0 && n->command != command) ||
		    (node >= 0 && n->node != node))
			continue;
		*noti_p = noti_out(p, at);
		return RMA_SUCCESS;
	}
	return RMA_NO_MATCH;
}

int rma_noti_free(struct rma_port *p, struct rma_noti *n)
{
	if (!n)
		return RMA_WRONG_ARG;
	n->next = p->spare;
	p->spare = n;
	return RMA_SUCCESS;
}
