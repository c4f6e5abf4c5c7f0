/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA's completer unit (hostport.md 9.6, 11.5).
 *
 * packet -> header 2, context 2, checks 2, address 2, store 3, hand-over 1
 *        -> one burst into the receive queue, status word last
 *        -> pointers 2, context 2, acknowledge 2 + 2, idle 1
 *
 * The numbers are cycles: the store takes place after 12, and the next packet
 * is taken after 21. A packet whose port has no free slice waits, and so do the
 * packets of its port behind it. Its cells stay in the network, so that the
 * sender is blocked. */
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/nic/pool.h"
#include "systems/hostport/nic/ultra.h"

enum { ACK_AFTER = 8 }; /* number of cycles from hand-over to acknowledge */

static void in_unlink(struct hp_ultra *u, struct ultra_in *i)
{
	struct ultra_in **at = &u->head;

	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	for (u->tail = u->head; u->tail && u->tail->next;)
		u->tail = u->tail->next;
}

/* ---- checks (step 3) ---- */

/* Returns whether the packet has an allowed source, no more words than a
 * requester sends, and fits into a slice. */
static bool ultra_completer_accepted(struct hp_ultra *u,
				     const struct ultra_in *i)
{
	const uint64_t *c = i->head.c;
	uint32_t k = i->head.bytes / 8;
	const struct ultra_cpl *p;

	if (i->tupid >= u->n->param.ultra_ports)
		return false;
	p = &u->cpl[i->tupid];
	return p->en && ULTRA_C4_OUPID(c[4]) == p->oupid &&
	       HP_C0_HPID(c[0]) == p->hpid && !(i->head.bytes % 8) &&
	       k < ULTRA_WORDS && (p->on_device || k + 2 <= p->words);
}

static bool slice_free(const struct ultra_cpl *p)
{
	if (p->on_device)
		return ring_count(&p->kept) < p->slices;
	return p->slices && hp_next(p->wp, 1, p->slices) != p->rp;
}

/* ---- storing ---- */

static void ultra_completer_ack(struct hp_nic *n, void *arg)
{
	struct ultra_in *i = arg;

	hp_ack(n, &i->head, HP_ERR_NOERR, 0);
	hp_pool_put(n->ultra->pool, i);
}

/* Ends a packet whose store was handed to the bus: raises the interrupt of its
 * port, and sends the acknowledge if one was requested (8.4). */
static void ultra_completer_stored(struct hp_nic *n, struct hp_dma *d)
{
	struct ultra_in *i = d->arg;
	uint64_t now = hp_now(n);

	hp_count(n, HP_K_ULTRA_RECEIVED, 1);
	if (d->txn.bytes) {
		n->ultra->cpl[i->tupid].storing--;
		ultra_mean_add(&n->ultra->handed_at,
			       (double)d->txn.t_req / WEFT_NS);
	}
	if (n->ultra->cpl[i->tupid].irq)
		hp_irq(n, HP_IRQ_ULTRA);
	if (HP_CMD_BYTE(HP_C0_CMD(i->head.c[0])) & HP_A)
		hp_at(n, i->ack_at > now ? i->ack_at : now, ultra_completer_ack,
		      i);
	else
		hp_pool_put(n->ultra->pool, i);
}

static void ultra_completer_store(struct hp_ultra *u, struct ultra_in *i)
{
	struct ultra_cpl *p = &u->cpl[i->tupid];
	uint64_t w[ULTRA_WORDS + 1];
	uint32_t k = i->head.bytes / 8, words = k + 2;
	uint64_t at =
		p->base + 8ULL * ((uint64_t)(p->wp + 1) * p->words - words);
	uint64_t trace = i->rx->f->trace_id, *kept;
	struct hp_dma *d;

	/* order of the words in the slice: tag, payload, status */
	w[0] = i->head.c[2];
	if (k)
		memcpy(w + 1, weft_slice_data(i->rx->f->payload) + i->head.skip,
		       8 * k);
	w[k + 1] = HP_ULTRA_STATUS(k);
	weft_mark(u->n->comp, trace, "ULTRA completer", weft_now(u->n->comp));
	ultra_mean_add(&u->completer, (double)(hp_now(u->n) - i->from));
	i->ack_at = hp_now(u->n) + ACK_AFTER;
	i->head.vpid = p->vpid;
	in_unlink(u, i);
	hp_rx_end(u->n, i->rx);
	i->rx = NULL;
	if (p->on_device) {
		kept = ring_push(&p->kept)->w; /* status first */
		kept[0] = w[words - 1];
		memcpy(&kept[1], w, 8 * (words - 1));
		weft_msg_end(u->n->comp, trace, true);
		ultra_completer_stored(u->n, &(struct hp_dma){ .arg = i });
		return;
	}
	p->wp = hp_next(p->wp, 1, p->slices);
	p->storing++;
	d = hp_dma_put(u->n, at, w, 8 * words, ultra_completer_stored, i);
	d->txn.trace_id = trace;
	d->txn.trace_last = true;
}

static void ultra_completer_discard(struct hp_ultra *u, struct ultra_in *i,
				    bool nack)
{
	if (nack && HP_CMD_BYTE(HP_C0_CMD(i->head.c[0])) & HP_A)
		hp_ack(u->n, &i->head, HP_ERR_ROUTE_BROKEN, 0);
	hp_count(u->n, HP_K_ULTRA_DISCARDED, 1);
	in_unlink(u, i);
	hp_rx_end(u->n, i->rx);
	hp_pool_put(u->pool, i);
}

/* ---- the unit ---- */

/* Checks a packet after the latency of the unit, and stores the packet once it
 * has arrived completely. */
static void ultra_completer_finish(struct hp_nic *n, void *arg)
{
	struct hp_ultra *u = n->ultra;
	struct ultra_in *i = arg;

	/* Checks the packet again, because the port may have been closed
	 * since. */
	if (!ultra_completer_accepted(u, i)) {
		ultra_completer_discard(u, i, false);
	} else if (i->checked || slice_free(&u->cpl[i->tupid])) {
		i->checked = true;
		if (!i->rx->whole)
			return;
		ultra_completer_store(u, i);
	} else if (u->n->param.ultra_full_policy) {
		ultra_completer_discard(u, i, true);
	} else {
		hp_count(u->n, HP_K_RX_STALLS, 1);
		i->taken = false; /* the packet has to wait for a slice */
	}
	ultra_cpl_go(u);
}

static void ultra_completer_more(struct hp_nic *n, struct hp_rx *rx)
{
	struct ultra_in *i = rx->arg;

	if (i->taken && i->checked && rx->whole)
		ultra_completer_finish(n, i);
}

/* Returns whether the packet is the oldest of its port and a slice is free for
 * it. */
static bool may_go(struct hp_ultra *u, const struct ultra_in *me)
{
	if (me->taken)
		return false;
	for (const struct ultra_in *i = u->head; i != me; i = i->next)
		if (i->tupid == me->tupid)
			return false;
	return u->n->param.ultra_full_policy ||
	       !ultra_completer_accepted(u, me) ||
	       slice_free(&u->cpl[me->tupid]);
}

static void ultra_completer_again(struct hp_nic *n, void *arg)
{
	n->ultra->waiting = false;
	ultra_cpl_go(n->ultra);
}

void ultra_cpl_go(struct hp_ultra *u)
{
	struct hp_nic *n = u->n;
	uint64_t now = hp_now(n);
	struct ultra_in *i;

	for (i = u->head; i && !may_go(u, i); i = i->next)
		;
	if (!i || u->waiting)
		return;
	if (u->free_at > now) {
		u->waiting = true;
		hp_at(n, u->free_at, ultra_completer_again, NULL);
		return;
	}
	i->taken = true;
	i->from = now;
	weft_mark(n->comp, i->rx->f->trace_id, "waits for the completer",
		  weft_now(n->comp));
	if (u->took && now - u->took < u->least)
		u->least = now - u->took;
	u->took = now;
	u->free_at = now + n->param.ultra_cpl_occupancy;
	hp_after(n, n->param.ultra_cpl_latency, ultra_completer_finish, i);
	ultra_cpl_go(u);
}

void ultra_cpl_rx(struct hp_ultra *u, struct hp_rx *rx)
{
	struct ultra_in *i = u->pool;

	if (i)
		u->pool = i->next;
	else
		i = need(malloc(sizeof(*i)));
	*i = (struct ultra_in){ 0 };
	i->rx = rx;
	i->head = rx->head;
	i->tupid = (uint16_t)ULTRA_C4_TUPID(rx->head.c[4]);
	rx->more = ultra_completer_more;
	rx->arg = i;
	weft_mark(u->n->comp, rx->f->trace_id, "to the core clock",
		  weft_now(u->n->comp));
	if (u->head)
		u->tail->next = i;
	else
		u->head = i;
	u->tail = i;
	ultra_cpl_go(u);
}

/* ---- retrieval by loads ---- */

uint64_t ultra_cpl_load(struct hp_ultra *u, uint32_t upid, uint32_t index)
{
	struct ultra_cpl *p = &u->cpl[upid];
	struct ultra_slot *s;
	uint32_t words;
	uint64_t v;

	if (!p->on_device || !p->en)
		return ~0ULL;
	if (ring_empty(&p->kept))
		return 0;
	s = ring_front(&p->kept);
	words = HP_ULTRA_STATUS_WORDS(s->w[0]) + 2;
	v = index < words ? s->w[index] : 0;
	if (index + 1 == words) {
		ring_pop(&p->kept);
		ultra_cpl_go(u);
	}
	return v;
}
