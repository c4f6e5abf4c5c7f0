/* SPDX-License-Identifier: Apache-2.0 */
/* VELO completer: writes messages from the network into mailboxes. Source:
 * extoll.md 3.3, 5.2. The request to HTAX follows the last word of a message by
 * 21 cycles (7.1: N5).
 *
 *   WAIT -> CHECK -> SLOT -> DATA -> WRITE -> WAIT
 *            |       |STALL   ^
 *            '-------'-> DISCARD
 *
 * The completer handles one message at a time. The 21 cycles are a pipeline, so
 * that the next message may follow at once. While the completer stalls, cells
 * stay in their slots, so that the crossbar runs out of credits
 * (back-pressure).
 *
 * Our reading: with 64-byte slots a long message takes one slot for each 56
 * bytes. The status of each slot has the length of that slot's part. All slots
 * but the last have "end of message" clear. The network port drops void cells
 * (systems/extoll/network/network_port.c). */
#include "systems/extoll/nic/nic.h"

enum { CP_WRITES = 8 }; /* most writes not granted by HTAX */

const char *const extoll_velo_cp_name[VELO_CP_STATES] = {
	[VELO_CP_WAIT] = "WAIT",       [VELO_CP_CHECK] = "CHECK",
	[VELO_CP_SLOT] = "SLOT",       [VELO_CP_DATA] = "DATA",
	[VELO_CP_WRITE] = "WRITE",     [VELO_CP_STALL] = "STALL",
	[VELO_CP_DISCARD] = "DISCARD",
};

static struct extoll_velo_vpid *cp_vpid(struct extoll_nic *n)
{
	struct extoll_velo_vpid *p =
		velo_vpid(&n->velo, EX_H0_DVPID(n->velo.cp.pkt->u[0]));

	return p && p->rx & EXTOLL_RX_ENABLE ? p : NULL;
}

static uint32_t slot_bytes(const struct extoll_velo_vpid *p)
{
	return p->rx & EXTOLL_RX_SLOT64 ? EXTOLL_SLOT_SMALL : EXTOLL_SLOT;
}

/* ---- states ---- */

/* Starts the next message, round robin among the VCs. A message starts at the
 * first cell of a queue, because the cells of earlier messages have left it. */
static enum extoll_velo_cp_state cp_wait(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;

	for (uint32_t k = 1; k <= EX_VCS; k++) {
		uint32_t vc = (q->vc + k) % EX_VCS;

		if (ring_empty(&q->cell[vc]))
			continue;
		q->vc = (uint8_t)vc;
		q->pkt = ring_front(&q->cell[vc])->pkt;
		q->discard = false;
		return VELO_CP_CHECK;
	}
	return VELO_CP_WAIT;
}

static int cp_wrong(struct extoll_nic *n, const struct weft_frame *f)
{
	const struct extoll_velo_vpid *p = cp_vpid(n);
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	uint32_t len = EX_VELO_LEN(f->u[0]);

	if (m->words != 1 || !len || len > n->velo_max || len != f->payload.len)
		return EXTOLL_DISCARD_FORMAT;
	if (EX_H0_CHECK(f->u[0]) != (n->place.node & 0xff))
		return EXTOLL_DISCARD_MISROUTED;
	if (!p)
		return EXTOLL_DISCARD_DISABLED;
	if (EXTOLL_RX_PD(p->rx) != ex_pd(f))
		return EXTOLL_DISCARD_PROTECTION;
	return -1;
}

static enum extoll_velo_cp_state cp_check(struct extoll_nic *n)
{
	int wrong = cp_wrong(n, n->velo.cp.pkt);

	if (wrong < 0)
		return VELO_CP_SLOT;
	n->velo.cp.why = (enum extoll_discard)wrong;
	return VELO_CP_DISCARD;
}

/* Returns true if a message of `len` bytes has room. One slot stays empty,
 * because a full ring would otherwise look empty (3.3). */
static bool slots_there(const struct extoll_velo_vpid *p, uint32_t len)
{
	uint32_t n = EXTOLL_RX_SLOTS(p->rx), data = slot_bytes(p) - 8;

	return (p->rp + n - p->wp - 1) % n >= (len + data - 1) / data;
}

static enum extoll_velo_cp_state cp_slot(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;
	const struct extoll_velo_vpid *p = cp_vpid(n);

	if (slots_there(p, EX_VELO_LEN(q->pkt->u[0])))
		return VELO_CP_DATA;
	q->stalled = ex_now(n);
	weft_count(n->comp, EX_C_VELO_STALLS, 1);
	return VELO_CP_STALL;
}

static enum extoll_velo_cp_state cp_stall(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;
	const struct extoll_velo_vpid *p = cp_vpid(n);
	uint64_t end = q->stalled + n->velo.timeout;

	if (p && slots_there(p, EX_VELO_LEN(q->pkt->u[0])))
		return VELO_CP_SLOT;
	if (p && !n->velo.policy_drop)
		return VELO_CP_STALL;
	if (!p || ex_now(n) >= end) {
		q->why = p ? EXTOLL_DISCARD_FULL : EXTOLL_DISCARD_DISABLED;
		return VELO_CP_DISCARD;
	}
	weft_timer_arm(n->comp, &q->timer, EX_TAG_UNIT + EXTOLL_HX_VELO,
		       ex_edge(n, end));
	return VELO_CP_STALL;
}

static void count_discard(struct extoll_nic *n, enum extoll_discard why)
{
	uint64_t h0 = n->velo.cp.pkt->u[0];

	n->velo.discard[why]++;
	n->velo.discard_src = EX_H0_SRC(h0) | EX_H0_SVPID(h0) << 16;
	weft_count(n->comp, EX_C_VELO_DISCARDED, 1);
	ex_event(n, EXTOLL_EV_VELO_DISCARD, EX_H0_DVPID(h0), EX_H0_SRC(h0),
		 why);
}

static enum extoll_velo_cp_state cp_discard(struct extoll_nic *n)
{
	count_discard(n, n->velo.cp.why);
	n->velo.cp.discard = true;
	return VELO_CP_DATA;
}

static enum extoll_velo_cp_state cp_over(struct extoll_velo_cp *q)
{
	weft_frame_free(q->pkt);
	q->pkt = NULL;
	return VELO_CP_WAIT;
}

static enum extoll_velo_cp_state cp_data(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;
	uint64_t now = ex_now(n);

	while (!ring_empty(&q->cell[q->vc])) {
		struct netport_cell c = *ring_front(&q->cell[q->vc]);

		ring_pop(&q->cell[q->vc]);
		netport_release(&n->np[EX_NP_VELO], c.slot, now);
		if (!c.eop)
			continue;
		q->from = now + n->velo_comp;
		ex_mark(n, q->pkt->trace_id, "waits for the completer", now);
		ex_mark(n, q->pkt->trace_id, "VELO completer", q->from);
		return q->discard ? cp_over(q) : VELO_CP_WRITE;
	}
	return VELO_CP_DATA;
}

/* ---- WRITE ---- */

static void write_sent(struct extoll_nic *n, struct hx_pkt *p)
{
	uint64_t h0 = p->user[0];
	struct extoll_velo_vpid *v = velo_vpid(&n->velo, EX_H0_DVPID(h0));

	n->velo.cp.writes--;
	if (h0 & EX_VELO_IRQ && v) { /* the message asks for an interrupt */
		v->wanted = true;
		v->late = (uint16_t)EX_H0_SRC(h0);
		extoll_velo_look(n, EX_H0_DVPID(h0));
	}
	extoll_velo_cp_again(n);
}

/* Requests one write into the mailbox. irq is H0 if the write ends the message,
 * otherwise 0. */
static void write_part(struct extoll_nic *n, const uint8_t *image,
		       weft_phys_t at, uint32_t bytes, uint64_t irq)
{
	struct extoll_velo_cp *q = &n->velo.cp;
	struct hx_pkt *p = ex_pkt_write(n, at, bytes);

	memcpy(weft_slice_data(p->txn.data), image, bytes);
	p->box = (uint16_t)(EX_H0_DVPID(q->pkt->u[0]) + 1);
	p->user[0] = irq;
	p->txn.trace_id = q->pkt->trace_id;
	p->txn.trace_last = irq != 0;
	p->sent = write_sent;
	q->writes++;
	ex_htax_send(n, EXTOLL_HX_VELO, p, q->from);
}

/* Writes a slot: `len` bytes of the message from `off` on, then the status. The
 * data lie just below the status, which is the end of the slot. The part with
 * the status is written last, because software polls the status. */
static void write_slot(struct extoll_nic *n, weft_phys_t slot, uint32_t size,
		       uint32_t off, uint32_t len, bool last)
{
	const struct weft_frame *f = n->velo.cp.pkt;
	const uint8_t *data = weft_slice_data(f->payload);
	uint64_t h0 = f->u[0], irq = last ? h0 : 0;
	uint8_t image[EXTOLL_SLOT] = { 0 };
	uint32_t first = size - 8 - (len + 7) / 8 * 8;
	uint64_t status = EXTOLL_STATUS(EX_H0_SRC(h0), EX_H0_SVPID(h0),
					EX_VELO_MTT(h0), EX_VELO_TAG(h0), len) |
			  (last ? EXTOLL_STATUS_EOM : 0) |
			  (h0 & EX_VELO_ERROR ? EXTOLL_STATUS_ERROR : 0);

	if (data)
		memcpy(image + first, data + off, len);
	memcpy(image + size - 8, &status, 8);
	if (first < size - 64) {
		write_part(n, image + first, slot + first, size - 64 - first,
			   0);
		first = size - 64;
	}
	write_part(n, image + first, slot + first, size - first, irq);
}

/* Writes the message. Checks the mailbox again, because software may have
 * closed it or given it to another owner since state SLOT. */
static enum extoll_velo_cp_state cp_write(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;
	struct extoll_velo_vpid *p = cp_vpid(n);
	uint64_t now = ex_now(n);
	int wrong;

	if (q->writes >= CP_WRITES)
		return VELO_CP_WRITE;
	if (q->from < now)
		q->from = now;
	wrong = cp_wrong(n, q->pkt);
	if (wrong < 0 && !slots_there(p, q->pkt->payload.len))
		wrong = EXTOLL_DISCARD_DISABLED;
	if (wrong < 0) {
		uint32_t len = q->pkt->payload.len, size = slot_bytes(p);

		for (uint32_t off = 0, k; off < len; off += k) {
			k = len - off < size - 8 ? len - off : size - 8;
			write_slot(n, p->base + (uint64_t)p->wp * size, size,
				   off, k, off + k == len);
			p->wp = (p->wp + 1) % EXTOLL_RX_SLOTS(p->rx);
		}
		n->velo.received++;
		weft_count(n->comp, EX_C_VELO_RECEIVED, 1);
	} else {
		count_discard(n, (enum extoll_discard)wrong);
	}
	return cp_over(q);
}

void extoll_velo_cp_run(struct extoll_nic *n)
{
	static enum extoll_velo_cp_state (*const state[])(
		struct extoll_nic *) = {
		[VELO_CP_WAIT] = cp_wait,	[VELO_CP_CHECK] = cp_check,
		[VELO_CP_SLOT] = cp_slot,	[VELO_CP_DATA] = cp_data,
		[VELO_CP_WRITE] = cp_write,	[VELO_CP_STALL] = cp_stall,
		[VELO_CP_DISCARD] = cp_discard,
	};
	struct extoll_velo_cp *q = &n->velo.cp;
	enum extoll_velo_cp_state old;

	do {
		old = q->state;
		q->state = state[old](n);
		if (q->state != old)
			weft_state(n->comp, "velo_completer",
				   extoll_velo_cp_name[q->state],
				   weft_now(n->comp));
	} while (q->state != old);
}

/* ---- calls from outside ---- */

void extoll_velo_cp_cell(void *own, struct netport *np,
			 const struct netport_cell *c)
{
	struct extoll_nic *n = own;

	*ring_push(&n->velo.cp.cell[c->vc]) = *c;
	extoll_velo_cp_run(n);
}

void extoll_velo_cp_again(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;

	if (q->state == VELO_CP_STALL || q->state == VELO_CP_WRITE)
		weft_timer_arm(n->comp, &q->timer, EX_TAG_UNIT + EXTOLL_HX_VELO,
			       ex_edge(n, ex_now(n)));
}

/* Frees the packets whose last cell has arrived, because the completer owns
 * them. */
void extoll_velo_cp_fini(struct extoll_nic *n)
{
	struct extoll_velo_cp *q = &n->velo.cp;

	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		for (; !ring_empty(&q->cell[vc]); ring_pop(&q->cell[vc]))
			if (ring_front(&q->cell[vc])->eop)
				weft_frame_free(ring_front(&q->cell[vc])->pkt);
		ring_free(&q->cell[vc]);
	}
	if (q->state == VELO_CP_WRITE)
		weft_frame_free(q->pkt);
	q->state = VELO_CP_WAIT;
}
