/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the RMA: requester and responder (extoll.md 5.3, 5.4). Both go
 * through CMD, XLATE, READ, SEND, NOTI with up to four commands at a time, in
 * order. */
#include <assert.h>

#include "ref_rma_internal.h"

enum { T_CHECK = 8 }; /* cycles of CMD; the ATU has the other 4 of 12 */

static uint32_t port_of(uint32_t unit)
{
	return unit == REQ ? PORT_REQ : PORT_RESP;
}

/* ---- requests for the responder ---- */

static bool for_responder(const struct cmd *c)
{
	return ref_is_get(c) || (c->op == LOCK_REQ && c->at_resp);
}

/* Moves packets of port 2 to the request queue while it has room. */
void ref_resp_packets(struct program *w)
{
	while (w->wait_first < w->wait_n) {
		const struct ref_rma_pkt *p =
			&w->x->pkt[w->wait[w->wait_first]];
		struct cmd c;

		if (!ref_packet(w, p, &c) || !for_responder(&c))
			w->x->discarded++;
		else if (w->a_n - w->a_first == REF_RMA_QUEUE)
			return;
		else
			w->asked[w->a_n++] = c;
		w->wait_first++;
	}
}

/* ---- CMD ---- */

static bool route(const struct program *w, const struct cmd *c)
{
	return c->far_node < w->x->cfg.nodes;
}

static bool lock_there(const struct program *w, const struct cmd *c)
{
	return (c->w[0] & 0xffffff) < w->x->cfg.locks;
}

static void check_request(struct program *w, struct op *o)
{
	const struct cmd *c = &o->c;

	o->w0 = c->w[ref_is_get(c)];
	o->bad |= !ref_enabled(w, c->vpid) || !route(w, c);
	o->out = (struct ref_rma_out){
		.h = { ref_header(w, c, c->op), c->w[ref_is_put(c)], c->w[1] },
	};
	if (ref_is_put(c)) {
		o->bytes = c->bytes;
		o->from = c->w[0];
		o->physical = !(c->opt & 16);
	}
}

static void check_answer(struct program *w, struct op *o)
{
	const struct cmd *c = &o->c;
	bool lock = c->op == LOCK_REQ;

	o->w0 = c->w[0];
	o->answers = route(w, c);
	o->bad = !o->answers || !ref_enabled(w, c->vpid) ||
		 (lock && !lock_there(w, c));
	o->out = (struct ref_rma_out){
		.h = { ref_header(w, c, lock ? LOCK_RSP : c->op + GET_BT_RSP),
		       c->w[1] },
		.cls = 1,
	};
	o->lock = o->physical = lock;
	o->bytes = lock ? 4 : c->bytes;
	o->from =
		lock ? w->x->cfg.lock_base + 4ull * (c->vpid * w->x->cfg.locks +
						     (c->w[0] & 0xffffff))
		     : c->w[0];
}

static enum ref_rma_tx_state refused(const struct op *o)
{
	return o->answers ? REF_TX_SEND : REF_TX_NOTI;
}

static enum ref_rma_tx_state do_cmd(struct program *w, uint32_t unit,
				    struct op *o)
{
	if (w->now < o->until)
		return REF_TX_CMD;
	if (unit == REQ)
		check_request(w, o);
	else
		check_answer(w, o);
	if (o->bad)
		return refused(o);
	o->until = w->now + REF_ATU_HIT;
	return REF_TX_XLATE;
}

/* ---- XLATE ---- */

void ref_tx_answer(struct program *w, uint32_t unit, uint64_t phys, int use)
{
	struct tx *t = &w->tx[unit];

	t->translating = false;
	for (uint32_t i = t->first; i < t->n; i++)
		if (t->op[i].asked_atu && !t->op[i].told) {
			t->op[i].told = true;
			t->op[i].phys = phys;
			t->op[i].use = use;
		}
	ref_tx_run(w, unit);
}

static enum ref_rma_tx_state read_at(struct op *o, uint64_t phys)
{
	o->phys = phys;
	o->skew = phys % 4;
	o->total = (o->skew + o->bytes + 3) / 4 * 4;
	return REF_TX_READ;
}

static enum ref_rma_tx_state do_xlate(struct program *w, uint32_t unit,
				      struct op *o)
{
	struct tx *t = &w->tx[unit];

	if (!o->bytes || o->physical) {
		if (w->now < o->until)
			return REF_TX_XLATE;
		return o->bytes ? read_at(o, o->from) : REF_TX_SEND;
	}
	if (!o->asked_atu && !t->translating) {
		o->asked_atu = t->translating = true;
		ref_atu_ask(&w->atu, unit, o->from, o->bytes, o->c.vpid, false,
			    0);
	}
	if (!o->told)
		return REF_TX_XLATE;
	if (o->use >= 0)
		return read_at(o, o->phys);
	o->bad = true;
	return refused(o);
}

/* ---- READ ---- */

/* Returns true if a lock must wait because an earlier lock has not been written
 * back. */
static bool lock_waits(const struct tx *t, uint32_t i)
{
	for (uint32_t k = t->first; k < i; k++)
		if (t->op[k].lock && t->op[k].asked && !t->op[k].sent)
			return true;
	return false;
}

static void read_next(struct program *w, uint32_t unit, uint32_t i)
{
	struct tx *t = &w->tx[unit];
	struct op *o = &t->op[i];
	uint64_t a = o->phys - o->skew + o->asked;
	uint32_t n = 64 - a % 64;
	struct ref_rma_req *r;

	if (n > o->total - o->asked)
		n = o->total - o->asked;
	r = ref_ask(w, port_of(unit), true, a, n);
	r->user = t->rd_n;
	o->asked += n;
	t->rd[t->rd_n++] = (struct rd){ .op = i, .end = o->asked };
}

/* Requests reads in the order of commands, while less than 8 are
 * outstanding. */
static void reads(struct program *w, uint32_t unit)
{
	struct tx *t = &w->tx[unit];

	for (uint32_t i = t->first; i < t->n; i++) {
		struct op *o = &t->op[i];

		if (o->state < REF_TX_READ)
			return;
		if (o->lock && o->asked < o->total && lock_waits(t, i))
			return;
		while (o->asked < o->total &&
		       t->rd_n - t->rd_first < REF_RMA_READS)
			read_next(w, unit, i);
		if (o->asked < o->total)
			return;
	}
}

void ref_tx_read_done(struct program *w, uint32_t unit, uint32_t rd)
{
	struct tx *t = &w->tx[unit];

	t->rd[rd].done = true;
	for (; t->rd_first < t->rd_n && t->rd[t->rd_first].done; t->rd_first++)
		t->op[t->rd[t->rd_first].op].got = t->rd[t->rd_first].end;
	ref_tx_run(w, unit);
}

static enum ref_rma_tx_state do_read(struct program *w, uint32_t unit,
				     struct op *o)
{
	if (!o->got || (o->lock && o->got < o->total))
		return REF_TX_READ;
	return REF_TX_SEND;
}

/* ---- SEND ---- */

/* Executes a fetch-compare-and-add (3.5) on the word that the read returned.
 * Returns the word of the answer. */
static uint64_t lock_do(struct program *w, struct op *o)
{
	const struct ref_hx *hx = &w->x->hx;
	uint64_t number = o->c.w[0] & 0xffffff, result = 0;
	uint32_t i = hx->n_req, mem;

	while (i-- > 0)
		if (hx->req[i].unit == PORT_RESP && hx->req[i].read &&
		    w->x->req[i].addr == o->phys && hx->req[i].done <= w->now)
			break;
	mem = ref_memory(w, o->phys, ref_hx_bus_end(hx, &hx->req[i]));
	if ((int32_t)mem <= (int32_t)(o->c.w[0] >> 32)) {
		mem += (uint32_t)(o->c.w[1] >> 32);
		result = 1;
		ref_ask(w, PORT_RESP, false, o->phys, 4)->w[1] = mem;
	}
	w->x->locks++;
	return (uint64_t)mem << 32 | result << 24 | number;
}

static void fill(struct program *w, struct op *o)
{
	struct ref_rma_out *out = &o->out;

	out->pd = w->x->cfg.vpid[o->c.vpid % REF_RMA_VPIDS].pd;
	if (o->c.vpid >= REF_RMA_VPIDS)
		out->pd = 0;
	if (out->cls && o->c.op == LOCK_REQ) {
		o->w0 = o->bad ? 0xffull << 24 | (o->c.w[0] & 0xffffff)
			       : lock_do(w, o);
		out->h[1] = o->w0;
	} else if (!o->bad && o->bytes) {
		out->len = o->bytes;
		out->from = o->phys;
	}
}

/* Returns true if each command before o has started to send, or will send
 * nothing. */
static bool its_turn(const struct tx *t, const struct op *o)
{
	for (const struct op *k = &t->op[t->first]; k != o; k++)
		if (!k->sent && k->state != REF_TX_NOTI)
			return false;
	return true;
}

static enum ref_rma_tx_state do_send(struct program *w, uint32_t unit,
				     struct op *o)
{
	struct tx *t = &w->tx[unit];

	if (!o->sent) {
		if (!its_turn(t, o) || t->handed - t->left >= w->x->cfg.depth)
			return REF_TX_SEND;
		fill(w, o);
		o->sent = true;
		t->handed++;
		assert(w->x->n_out < REF_RMA_MAX);
		w->x->out[w->x->n_out++] = o->out;
	}
	return o->got == o->total ? REF_TX_NOTI : REF_TX_SEND;
}

/* ---- NOTI ---- */

/* Writes the notification of a command. Returns false if the ring is full. If
 * the responder refuses a lock that was addressed to the completer, the
 * notification names the completer. */
static bool told(struct program *w, uint32_t unit, const struct op *o)
{
	uint32_t as = unit;
	bool wanted = o->c.spec >> unit & 1 || o->bad;

	if (unit == RESP && o->c.op == LOCK_REQ && !o->c.at_resp) {
		as = COMP;
		wanted = o->bad;
	}
	if (!wanted || !ref_enabled(w, o->c.vpid))
		return true;
	return ref_tell(w, port_of(unit), &o->c, o->w0, as,
			o->bad ? 1u << as : 0);
}

/* Ends command o: writes its notification. Returns false while an earlier
 * command has not ended, or the ring is full. */
static bool do_noti(struct program *w, uint32_t unit, struct op *o)
{
	struct tx *t = &w->tx[unit];

	if (o != &t->op[t->first])
		return false;
	ref_atu_finish(&w->atu, o->use);
	o->use = -1;
	if (!told(w, unit, o)) {
		w->x->stalls += !o->stalled;
		o->stalled = true;
		return false;
	}
	if (o->bad)
		w->x->bad[unit]++;
	else
		w->x->good[unit]++;
	return true;
}

/* ---- the unit ---- */

static bool step(struct program *w, uint32_t unit, struct op *o)
{
	static enum ref_rma_tx_state (*const in[])(struct program *, uint32_t,
						   struct op *) = {
		[REF_TX_CMD] = do_cmd,
		[REF_TX_XLATE] = do_xlate,
		[REF_TX_READ] = do_read,
		[REF_TX_SEND] = do_send,
	};
	enum ref_rma_tx_state old = o->state;

	if (old == REF_TX_NOTI)
		return false;
	o->state = in[old](w, unit, o);
	return o->state != old;
}

static bool take(struct program *w, uint32_t unit, struct op *o)
{
	if (unit == REQ) {
		if (w->q_first == w->q_n)
			return false;
		o->bad = !ref_desc(w, &w->x->store[w->queue[w->q_first++]],
				   &o->c);
		return true;
	}
	if (w->a_first == w->a_n)
		return false;
	o->c = w->asked[w->a_first++];
	ref_resp_packets(w);
	return true;
}

static bool start(struct program *w, uint32_t unit)
{
	struct tx *t = &w->tx[unit];
	struct op *o = &t->op[t->n];

	if (t->n - t->first == REF_RMA_UNDER_WAY || w->now < t->next)
		return false;
	*o = (struct op){ .state = REF_TX_CMD,
			  .until = w->now + T_CHECK,
			  .use = -1 };
	if (!take(w, unit, o))
		return false;
	t->next = w->now + (unit == REQ ? w->x->cfg.interval : 12);
	t->n++;
	return true;
}

bool ref_tx_run(struct program *w, uint32_t unit)
{
	struct tx *t = &w->tx[unit];
	bool moved, any = false;

	do {
		moved = start(w, unit);
		for (uint32_t i = t->first; i < t->n; i++) {
			while (step(w, unit, &t->op[i]))
				moved = true;
			if (t->op[i].state == REF_TX_NOTI &&
			    do_noti(w, unit, &t->op[i])) {
				t->first++;
				moved = true;
			}
		}
		reads(w, unit);
		any |= moved;
	} while (moved);
	return any;
}
