/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA responder: gets and locks (extoll.md 3.5, 5.4).
 *
 * It also answers requests that it refuses, because the origin would otherwise
 * wait for ever: a get by a response without payload, a lock by RMA_LOCK_NONE.
 * Locks are 32-bit words in host memory, lock `number` of VPID v at base + (v *
 * n + number) * 4. One lock is read, changed and written back before the next
 * is read, because the read would otherwise find an old value. */
#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

/* ---- requests ---- */

static void resp_tell(const struct rma *r)
{
	weft_level(r->nic->comp, "rma_requests", WEFT_TRACE_ONE,
		   r->a_tail - r->a_head, weft_now(r->nic->comp));
}

bool extoll_rma_resp_push(struct rma *r, const struct extoll_rma_cmd *c)
{
	if (r->a_tail - r->a_head == RMA_QUEUE)
		return false;
	r->asked[r->a_tail++ % RMA_QUEUE] = *c;
	resp_tell(r);
	return true;
}

/* Handles a request packet. f->words holds the number of the packet's slot.
 * Returns false if the request queue has no room. */
static bool resp_packet(struct rma *r, struct weft_frame *f)
{
	struct extoll_nic *n = r->nic;
	struct extoll_rma_cmd c;

	if (!(extoll_rma_packet_ours(r, f, &c) &&
	      (c.op == RMA_GET_BT || c.op == RMA_GET_QW ||
	       (c.op == RMA_LOCK_REQ && c.at_resp)))) {
		extoll_rma_count(n, RMA_K_DISCARDED, 1);
		ex_event(n, EXTOLL_EV_RMA_ERROR, c.vpid, c.far_node,
			 RMA_BAD_MISROUTE | RMA_RESPONDER << 8);
	} else if (!extoll_rma_resp_push(r, &c)) {
		return false;
	}
	netport_release(&n->np[EX_NP_RESP], f->words, ex_now(n));
	weft_frame_free(f);
	return true;
}

static void resp_waiting(struct rma *r)
{
	struct weft_frame *f;

	while ((f = r->wait_head)) {
		struct weft_frame *next = f->next;

		if (!resp_packet(r, f))
			return;
		r->wait_head = next;
	}
}

void extoll_rma_resp_cell(struct rma *r, const struct netport_cell *c)
{
	struct weft_frame *f = c->pkt;

	/* the EOP cell is enough, because the frame has the whole packet */
	if (!c->eop) {
		netport_release(&r->nic->np[EX_NP_RESP], c->slot,
				ex_now(r->nic));
		return;
	}
	f->words = c->slot;
	f->next = NULL;
	if (r->wait_head)
		r->wait_tail->next = f;
	else
		r->wait_head = f;
	r->wait_tail = f;
	if (r->wait_head == f)
		resp_waiting(r);
	extoll_rma_tx_run(&r->resp);
}

static bool resp_waits(const struct rma *r)
{
	return r->a_head != r->a_tail;
}

static void resp_take(struct rma *r, struct extoll_rma_txop *op)
{
	op->cmd = r->asked[r->a_head++ % RMA_QUEUE];
	resp_tell(r);
	if (r->wait_head)
		resp_waiting(r);
	extoll_rma_wake(r, &r->in_timer, EXTOLL_HX_RMA_COMP, ex_now(r->nic));
}

/* ---- locks ---- */

uint32_t extoll_rma_lock_fcaa(int32_t *mem, int32_t compare, int32_t add)
{
	if (*mem > compare)
		return RMA_LOCK_NO;
	*mem = (int32_t)((uint32_t)*mem + (uint32_t)add);
	return RMA_LOCK_YES;
}

/* ---- answers ---- */

static enum extoll_rma_bad resp_check(struct rma *r, struct extoll_rma_txop *op)
{
	const struct extoll_rma_cmd *c = &op->cmd;
	struct weft_frame *f = weft_frame_new(r->nic->comp->sim);
	struct extoll_rma_cmd answer = op->cmd;
	uint32_t number;

	op->w0 = c->w[0];
	answer.op =
		c->op == RMA_LOCK_REQ ? RMA_LOCK_RSP : c->op + RMA_GET_BT_RSP;
	if (!ex_route(r->nic, f, c->far_node, EX_NP_RMA, 2, 1)) {
		weft_frame_free(f);
		return RMA_BAD_ROUTE;
	}
	f->u[0] = extoll_rma_h0(&answer, r->nic->place.node);
	ex_pd_set(f, RMA_V_PD(extoll_rma_vpid_ctl(r, c->vpid)));
	f->u[1] = c->w[1]; /* get: write address at the origin */
	op->f = f;
	if (!(extoll_rma_vpid_ctl(r, c->vpid) & RMA_V_ENABLE))
		return RMA_BAD_VPID;
	op->from = c->w[0];
	op->bytes = c->bytes;
	if (c->op != RMA_LOCK_REQ)
		return RMA_FINE;
	number = RMA_LOCK_NUMBER(c->w[0]);
	if (number >= r->lock.n)
		return RMA_BAD_LOCK;
	op->from = r->lock.base + ((uint64_t)c->vpid * r->lock.n + number) * 4;
	op->bytes = 4;
	op->physical = op->alone = true;
	return RMA_FINE;
}

static void resp_fill(struct rma *r, struct extoll_rma_txop *op)
{
	const struct extoll_rma_cmd *c = &op->cmd;

	uint32_t result = RMA_LOCK_NONE;
	struct hx_pkt *p;
	int32_t mem = 0;

	if (c->op != RMA_LOCK_REQ) {
		if (op->bad) {
			weft_slice_drop(&op->f->payload);
			op->f->payload = (struct weft_slice){ 0 };
		}
		return;
	}
	if (!op->bad) { /* op->buf holds the word of the lock */
		memcpy(&mem, weft_slice_data(op->buf), sizeof(mem));
		result = extoll_rma_lock_fcaa(&mem, RMA_LOCK_COMPARE(c->w[0]),
					      RMA_LOCK_ADD(c->w[1]));
		extoll_rma_count(r->nic, RMA_K_LOCKS, 1);
	}
	if (result == RMA_LOCK_YES) {
		p = ex_pkt_write(r->nic, op->phys, sizeof(mem));
		memcpy(weft_slice_data(p->txn.data), &mem, sizeof(mem));
		ex_htax_send(r->nic, EXTOLL_HX_RMA_RESP, p, ex_now(r->nic));
	}
	op->w0 = RMA_LOCK_ANSWER(mem, result, RMA_LOCK_NUMBER(c->w[0]));
	op->f->u[1] = op->w0;
}

const struct extoll_rma_tx_type extoll_rma_responder = {
	.name = "responder",
	.machine = "rma_responder",
	.port = EXTOLL_HX_RMA_RESP,
	.unit = RMA_RESPONDER,
	.cls = 1,
	.good = RMA_K_RESPONSES,
	.bad = RMA_K_BAD_RESPONSES,
	.waits = resp_waits,
	.take = resp_take,
	.check = resp_check,
	.fill = resp_fill,
};
