/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlock timer of the network ports (hostport.md 2.3, 4.10). It expires when
 * a port has a packet of which every byte is in the device, and the network
 * accepts no word for dl_counter cycles. IRQ_STATUS reports each expiry once.
 * As in ATOLL, an expiry does not prove a deadlock: a receiver without room may
 * also be the reason. */
#include "systems/hostport/nic/nic.h"

static bool empty(const struct hp_nic *n, uint32_t p)
{
	return !n->net.flying[p][0].head && !n->net.flying[p][1].head;
}

static void expire(struct hp_nic *n, void *arg)
{
	struct hp_stall *s = arg;
	uint32_t p = (uint32_t)(s - n->net.stall);
	const struct hp_tx_list *flying = n->net.flying[p];
	bool whole = false;
	uint64_t now = hp_now(n);
	uint64_t last = weft_clock_cycle(
		&n->param.f_core, weft_clock_edge(&n->param.net_clock,
						  n->net.np[p].ep.line_free));

	if (empty(n, p)) {
		s->counts = false;
		return;
	}
	if (last > s->since)
		s->since = last;
	/* restarts the interval while memory has not delivered all bytes of the
	 * packet, because then the network does not block the packet */
	for (uint32_t cls = 0; cls < 2; cls++)
		whole |= flying[cls].head &&
			 flying[cls].head->avail == UINT32_MAX;
	if (!whole)
		s->since = now;
	if (s->since + n->param.dl_counter > now) {
		hp_at(n, s->since + n->param.dl_counter, expire, s);
		return;
	}
	/* the timer is started again when the next word leaves */
	s->counts = false;
	hp_count(n, HP_K_DEADLOCKS, 1);
	hp_irq(n, HP_IRQ_DEADLOCK);
}

void hp_stall(struct hp_nic *n, uint32_t p)
{
	struct hp_stall *s = &n->net.stall[p];

	if (!n->param.dl_counter || s->counts || empty(n, p))
		return;
	s->counts = true;
	s->since = hp_now(n);
	hp_after(n, n->param.dl_counter, expire, s);
}
