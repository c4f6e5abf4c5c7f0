/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA's requester unit (hostport.md 9.3 to 9.5, 9.7, 11.5), with numbers of
 * cycles:
 *
 *   store -> decode 2, context 2, check 1, enqueue 2 -> WP
 *   WP != RP -> scheduler 2, route 2, header 1, hand-over 1 -> network port
 *
 * A packet takes 13 cycles from the store of its last word to the network port.
 * Earlier words are decoded as they arrive. */
#include "systems/hostport/nic/ultra.h"

#include <stdlib.h>
#include <string.h>

#include "systems/hostport/nic/pool.h"

/* number of cycles of ultra_req_latency from scheduler to hand-over */
enum { BACK = 6 };

static uint32_t ultra_requester_back(const struct hp_nic *n)
{
	return n->param.ultra_req_latency < BACK ? n->param.ultra_req_latency
						 : BACK;
}

/* ---- notifications (9.7) ---- */

static void ultra_requester_notify(struct ultra_port *p, uint32_t cmd,
				   uint64_t tag, uint32_t hpid, uint32_t vpid,
				   bool irq);

static void ultra_requester_notified(struct hp_nic *n, void *arg)
{
	struct ultra_nqe *q = arg;
	struct ultra_port *p = q->port;
	bool failed = HP_CMD_BYTE(HP_NQE_CMD(q->e.w)) == HP_B_ULTRA_REFUSED;

	if (q->irq)
		hp_irq(n, HP_IRQ_ULTRA);
	hp_pool_put(p->u->nqe_pool, q);
	p->nqes--;
	p->failing &= !failed;
	if (failed && p->fail_owed) {
		p->failing = true;
		p->fail_owed = false;
		ultra_requester_notify(
			p, HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_REFUSED),
			p->fail_tag, p->dtag, 0, false);
	}
	ultra_req_go(p->u);
}

static void ultra_requester_notify(struct ultra_port *p, uint32_t cmd,
				   uint64_t tag, uint32_t hpid, uint32_t vpid,
				   bool irq)
{
	struct hp_ultra *u = p->u;
	struct ultra_nqe *q = hp_pool_take(u->nqe_pool, u->nqe_all);

	p->nqes++;
	q->port = p;
	q->irq = irq;
	q->e = (struct hp_nqe){ .vpid = p->vpid,
				.done = ultra_requester_notified,
				.arg = q };
	q->e.w[0] = tag;
	q->e.w[1] = p->upid;
	q->e.w[7] = HP_NQE_W7(cmd, hpid, vpid);
	hp_notify(u->n, &q->e);
}

/* Writes the notification and raises the interrupt, if the flags of a finished
 * packet request them. */
static void ultra_requester_completed(struct ultra_port *p, uint32_t flags,
				      uint32_t cmd, uint64_t tag, uint32_t hpid,
				      uint32_t vpid)
{
	if (flags & ULTRA_F_NOTIFY)
		ultra_requester_notify(p, cmd, tag, hpid, vpid,
				       flags & ULTRA_F_IRQ);
	else if (flags & ULTRA_F_IRQ)
		hp_irq(p->u->n, HP_IRQ_ULTRA);
}

/* Notifies the process of a packet that was not accepted (step 5a). One such
 * notification is in flight at a time, and further refusals merge. */
static void ultra_requester_refused(struct ultra_port *p, uint64_t tag)
{
	hp_count(p->u->n, HP_K_ULTRA_REFUSED, 1);
	if (p->failing) {
		p->fail_owed = true;
		p->fail_tag = tag;
		return;
	}
	p->failing = true;
	ultra_requester_notify(p, HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_REFUSED),
			       tag, p->dtag, 0, false);
}

/* ---- access sequence ---- */

static uint32_t ultra_requester_room(const struct ultra_port *p)
{
	uint32_t size = p->upper - p->lower;

	if (!size)
		return 0;
	return size - 1 - hp_used(p->rp - p->lower, p->wp - p->lower, size);
}

static uint16_t ultra_requester_step(const struct ultra_port *p, uint32_t at,
				     uint32_t by)
{
	return (uint16_t)(p->lower +
			  hp_next(at - p->lower, by, p->upper - p->lower));
}

bool ultra_req_takes(const struct hp_ultra *u, uint32_t upid, uint16_t tag,
		     uint32_t words)
{
	const struct ultra_port *p = &u->port[upid];

	return p->en && p->vpid == tag && p->state == ULTRA_IDLE &&
	       words <= u->n->param.ultra_max_words &&
	       words <= ultra_requester_room(p);
}

static void ultra_requester_committed(struct hp_nic *n, void *arg)
{
	struct ultra_port *p = arg;

	if (weft_heard(n->comp))
		weft_mark(n->comp,
			  ring_nth(&p->pkts, p->flying + p->ready)->trace,
			  "ULTRA requester: decode, context, check, enqueue",
			  weft_now(n->comp));
	p->ready++;
	p->u->ready[p->upid / 64] |= 1ULL << (p->upid % 64);
	ultra_req_go(p->u);
}

/* Ends a packet after the word at index 31. */
static void ultra_requester_end(struct ultra_port *p)
{
	struct hp_nic *n = p->u->n;

	if (p->state == ULTRA_DROP) {
		p->state = ULTRA_IDLE;
		ultra_requester_refused(p, p->tag);
		return;
	}
	p->state = ULTRA_IDLE;
	p->wp = p->at;
	*ring_push(&p->pkts) =
		(struct ultra_pkt){ p->words, p->flags, hp_now(n),
				    weft_msg_open(n->comp) };
	ultra_mean_add(&p->u->seen_at, (double)weft_now(n->comp) / WEFT_NS);
	hp_after(n, n->param.ultra_req_latency - ultra_requester_back(n),
		 ultra_requester_committed, p);
}

/* Takes a word. The index of the first word of a packet determines the number
 * of words. */
void ultra_req_word(struct hp_ultra *u, uint32_t upid, uint32_t cmd,
		    uint64_t val)
{
	struct ultra_port *p = &u->port[upid];
	uint32_t index = cmd >> 3 & 31;

	if (!p->en || cmd & HP_ULTRA_RP)
		return;
	if (p->state != ULTRA_IDLE && index != p->next) {
		p->state = ULTRA_IDLE; /* broken sequence */
		ultra_requester_refused(p, p->tag);
	}
	if (p->state == ULTRA_IDLE) {
		p->words = (uint8_t)(ULTRA_WORDS - index);
		p->flags = cmd >> 8 & 7;
		p->next = (uint8_t)index;
		p->at = p->wp;
		p->state = p->words <= u->n->param.ultra_max_words &&
					   p->words <= ultra_requester_room(p)
				   ? ULTRA_ASSEMBLE
				   : ULTRA_DROP;
		p->tag = val;
	}
	p->next++;
	if (p->state == ULTRA_ASSEMBLE) {
		u->queue[p->at] = val;
		p->at = ultra_requester_step(p, p->at, 1);
	}
	if (index == HP_ULTRA_LAST)
		ultra_requester_end(p);
}

/* ---- injection ---- */

/* Removes the port's oldest packet after it has left, and moves RP (steps 7 and
 * 8). */
static void ultra_requester_sent(struct hp_nic *n, struct hp_tx *tx)
{
	struct ultra_port *p = tx->arg;
	struct ultra_pkt k = *ring_front(&p->pkts);
	uint64_t tag = p->u->queue[p->rp];

	ring_pop(&p->pkts);
	p->rp = ultra_requester_step(p, p->rp, k.words);
	p->flying--;
	p->u->flying--;
	hp_count(n, HP_K_ULTRA_SENT, 1);
	if (!(k.flags & ULTRA_F_ACK))
		ultra_requester_completed(
			p, k.flags, HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_SEND), tag,
			p->dtag, 0);
	ultra_req_go(p->u);
}

static struct weft_frame *
ultra_requester_assemble(struct ultra_port *p, uint32_t at, struct ultra_pkt k)
{
	struct hp_nic *n = p->u->n;
	uint32_t a = k.flags & ULTRA_F_ACK ? HP_A : 0, size = 8u * k.words - 8;
	uint64_t *q = p->u->queue;
	struct hp_head h = { .bytes = size };
	struct hp_route r = { .dtag = p->dtag, .dhash = p->dhash };
	struct weft_frame *f;
	uint32_t i = 0;
	uint8_t *b;

	for (; i < p->route_len && p->route[i] != HP_EL_SEP; i++)
		r.fwd[r.nf++] = p->route[i];
	/* adds the return route if the packet requests an answer */
	for (i++; a && i < p->route_len; i++)
		r.back[r.nr++] = p->route[i];
	h.c[0] = HP_C0(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_SEND | a), n->reg.hpid,
		       p->vpid);
	h.c[1] = HP_C1(0, ULTRA_TAG(p->upid, k.flags));
	h.c[2] = q[at];
	h.c[3] = HP_C3(p->dtag, size);
	h.c[4] = ULTRA_C4(p->tupid, p->upid);
	f = hp_pkt_new(n->comp->sim, &r, &h, 0);
	if (!f)
		return NULL;
	b = weft_slice_data(f->payload) + hp_pkt_skip(f, &h);
	for (i = 1; i < k.words; i++) {
		at = ultra_requester_step(p, at, 1);
		memcpy(b + 8 * (i - 1), &q[at], 8);
	}
	return f;
}

/* Sends the port's next packet, behind its packets in flight. */
static void ultra_requester_inject(struct hp_nic *n, void *arg)
{
	struct ultra_port *p = arg;
	uint32_t at = p->rp, i;
	struct weft_frame *f;

	n->ultra->busy = false;
	for (i = 0; i < p->flying - 1; i++)
		at = ultra_requester_step(p, at, ring_nth(&p->pkts, i)->words);
	f = ultra_requester_assemble(p, at, *ring_nth(&p->pkts, i));
	f->trace_id = ring_nth(&p->pkts, i)->trace;
	weft_mark(n->comp, f->trace_id,
		  "ULTRA requester: schedule, route, header",
		  weft_now(n->comp));
	ultra_mean_add(&p->u->requester,
		       (double)(hp_now(n) - ring_nth(&p->pkts, i)->seen));
	hp_net_send(n, f, f->payload.len, hp_now(n), UINT32_MAX,
		    ultra_requester_sent, p);
	ultra_req_go(p->u);
}

/* Starts to send a packet of the next port that has one, round robin. Skips a
 * port whose notifications wait for room. */
void ultra_req_go(struct hp_ultra *u)
{
	uint32_t ports = u->n->param.ultra_ports, k;
	struct ultra_port *p = NULL;

	if (u->busy || u->flying >= ULTRA_FLYING)
		return;
	for (k = 1; k <= ports; k++) {
		uint32_t i = (u->last + k) % ports;

		p = &u->port[i];
		if (!(i % 64) && !u->ready[i / 64] && k + 63 <= ports)
			/* skips these 64 ports, because none of them is
			 * ready */
			k += 63;
		else if (p->ready && p->en && p->nqes < ULTRA_NQES)
			break;
	}
	if (k > ports)
		return;
	u->last = p->upid;
	if (!--p->ready)
		u->ready[p->upid / 64] &= ~(1ULL << (p->upid % 64));
	p->flying++;
	u->flying++;
	u->busy = true;
	hp_after(u->n, ultra_requester_back(u->n), ultra_requester_inject, p);
}

/* ---- acknowledges ---- */

void ultra_req_acked(struct hp_ultra *u, const struct hp_head *h)
{
	uint64_t tag = HP_C1_TAG(h->c[1]);
	uint32_t err = HP_CMD_ERR(HP_C0_CMD(h->c[0]));

	if (ULTRA_TAG_UPID(tag) >= u->n->param.ultra_ports)
		return;
	ultra_requester_completed(
		&u->port[ULTRA_TAG_UPID(tag)], ULTRA_TAG_FLAGS(tag),
		HP_CMD(err, HP_G_ULTRA, HP_B_ULTRA_ACKED), h->c[2],
		HP_C0_HPID(h->c[0]), HP_C0_VPID(h->c[0]));
}
