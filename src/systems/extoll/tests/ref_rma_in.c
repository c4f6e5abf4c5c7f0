/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the RMA: the completer (extoll.md 5.4, 5.5, 7.5). Each virtual
 * channel has one current packet. Packets start 20 cycles apart, responses
 * first. */
#include <string.h>

#include "ref_rma_internal.h"

enum { T_COMPL = 20, WRITES = 16 };

static const struct ref_rma_cell *head(const struct program *w,
				       const struct in *n)
{
	return n->first < n->n ? &w->x->cell[n->cell[n->first]] : NULL;
}

static bool has_data(const struct cmd *c)
{
	return ref_is_put(c) || c->op == GET_BT_RSP || c->op == GET_QW_RSP;
}

static uint32_t word_bytes(const struct cmd *c)
{
	return ref_is_get(c) || c->op == IMM_PUT || c->op == LOCK_REQ ? 24 : 16;
}

/* ---- slots ---- */

/* Frees the slots of the first `bytes` bytes of the packet. */
static void give_back(struct program *w, struct in *n, uint32_t bytes)
{
	const struct ref_rma_cell *c;

	while (!n->eop && (c = head(w, n)) && c->end <= bytes) {
		n->eop = c->eop;
		n->first++;
	}
}

/* Returns the payload bytes that arrived at least 20 cycles ago. */
static uint32_t ready(const struct program *w, const struct in *n)
{
	uint32_t end = 0, words = word_bytes(&n->c);

	for (uint32_t k = n->first; k < n->n; k++) {
		const struct ref_rma_cell *c = &w->x->cell[n->cell[k]];

		if (c->cycle + T_COMPL > w->now)
			break;
		end = c->end;
		if (c->eop)
			break;
	}
	return end > words ? end - words : 0;
}

/* ---- states ---- */

static enum ref_rma_in_state do_wait(struct program *w, struct in *n)
{
	if (!head(w, n) || w->now < w->in_next)
		return REF_IN_WAIT;
	w->in_next = w->now + T_COMPL;
	n->pkt = head(w, n)->pkt;
	n->until = w->now + T_COMPL - REF_ATU_HIT;
	n->wrote = 0;
	n->use = -1;
	n->bad = n->silent = n->remote = n->asked_atu = n->told = false;
	n->stalled = n->eop = false;
	return REF_IN_CHECK;
}

static bool for_us(const struct program *w, struct in *n)
{
	return ref_packet(w, &w->x->pkt[n->pkt], &n->c) && !ref_is_get(&n->c) &&
	       !(n->c.op == LOCK_REQ && n->c.at_resp);
}

static enum ref_rma_in_state do_check(struct program *w, struct in *n)
{
	if (w->now < n->until)
		return REF_IN_CHECK;
	n->silent = !for_us(w, n) ||
		    (!ref_enabled(w, n->c.vpid) && n->c.op != LOCK_REQ);
	n->bad = n->silent;
	if (n->bad || n->c.op == NOTI_PUT)
		return REF_IN_DRAIN;
	if (n->c.op == LOCK_REQ)
		return REF_IN_LOCK;
	if (n->c.op == LOCK_RSP)
		n->remote = (n->c.w[0] >> 24 & 0xff) == 0xff;
	if (has_data(&n->c))
		n->remote = !w->x->pkt[n->pkt].len;
	n->bad = n->remote;
	return n->bad || n->c.op == LOCK_RSP ? REF_IN_DRAIN : REF_IN_XLATE;
}

void ref_in_answer(struct program *w, uint32_t vc, uint64_t phys, int use)
{
	w->in_translating = false;
	w->in[vc].told = true;
	w->in[vc].phys = phys;
	w->in[vc].use = use;
	ref_in_run(w);
}

static enum ref_rma_in_state do_xlate(struct program *w, struct in *n)
{
	if (!n->asked_atu && !w->in_translating) {
		n->asked_atu = w->in_translating = true;
		ref_atu_ask(&w->atu, COMP, n->c.w[0], n->c.bytes, n->c.vpid,
			    true, (uint32_t)(n - w->in));
	}
	if (!n->told)
		return REF_IN_XLATE;
	n->bad = n->use < 0;
	return n->bad ? REF_IN_DRAIN : REF_IN_WRITE;
}

static enum ref_rma_in_state do_lock(struct program *w, struct in *n)
{
	if (w->a_n - w->a_first == REF_RMA_QUEUE)
		return REF_IN_LOCK;
	w->asked[w->a_n++] = n->c;
	return REF_IN_DRAIN;
}

/* Returns the length of the next write: whole dwords up to the next multiple of
 * 64, or bytes up to the next multiple of 32. */
static uint32_t piece(uint64_t a, uint32_t left)
{
	uint32_t n = 64 - a % 64;

	if (a % 4 || left < 4) {
		n = 32 - a % 32;
		return left < n ? left : n;
	}
	return left < n ? left / 4 * 4 : n;
}

static void write_one(struct program *w, struct in *n, uint32_t bytes)
{
	struct ref_rma_req *r =
		ref_ask(w, PORT_COMP, false, n->phys + n->wrote, bytes);

	r->data = true;
	r->pkt = n->pkt;
	r->off = n->wrote;
	r->user = (uint32_t)(n - w->in) + 1;
	n->wrote += bytes;
	n->out++;
	w->in_writes++;
}

static enum ref_rma_in_state do_write(struct program *w, struct in *n)
{
	uint32_t here = n->c.op == IMM_PUT ? n->c.bytes : ready(w, n);
	uint32_t k;

	while (!n->eop && n->wrote < n->c.bytes && w->in_writes < WRITES) {
		k = piece(n->phys + n->wrote, n->c.bytes - n->wrote);
		if (n->wrote + k > here)
			break;
		write_one(w, n, k);
	}
	give_back(w, n,
		  n->wrote == n->c.bytes ? UINT32_MAX
					 : word_bytes(&n->c) + n->wrote);
	if (!n->eop || n->out)
		return REF_IN_WRITE;
	ref_atu_finish(&w->atu, n->use);
	return REF_IN_NOTI;
}

void ref_in_granted(struct program *w, uint32_t vc)
{
	w->in[vc].out--;
	w->in_writes--;
}

static enum ref_rma_in_state do_drain(struct program *w, struct in *n)
{
	give_back(w, n, UINT32_MAX);
	return n->eop ? REF_IN_NOTI : REF_IN_DRAIN;
}

/* Writes the notification if one is due. Returns false if its ring is full.
 * Notification puts and lock responses always notify, because they do nothing
 * else. */
static bool told(struct program *w, const struct in *n)
{
	bool always = n->c.op == NOTI_PUT || n->c.op == LOCK_RSP;
	uint32_t error = n->bad ? 4 : 0;
	struct cmd c = n->c;

	if (n->silent || n->c.op == LOCK_REQ)
		return true;
	if (n->remote && (n->c.op != LOCK_RSP || n->c.low & 1))
		error = 2;
	if (!(c.spec & 4) && !always && !n->bad)
		return true;
	return ref_tell(w, PORT_COMP, &c, c.w[0], COMP, error);
}

static enum ref_rma_in_state do_noti(struct program *w, struct in *n)
{
	if (!told(w, n)) {
		w->x->stalls += !n->stalled;
		n->stalled = true;
		return REF_IN_NOTI;
	}
	if (n->silent)
		w->x->discarded++;
	else if (n->bad)
		w->x->bad[COMP]++;
	else
		w->x->good[COMP] += n->c.op != LOCK_REQ;
	return REF_IN_WAIT;
}

/* ---- the unit ---- */

void ref_in_cell(struct program *w, uint32_t cell)
{
	struct in *n = &w->in[w->x->cell[cell].vc];

	n->cell[n->n++] = cell;
}

bool ref_in_run(struct program *w)
{
	static enum ref_rma_in_state (*const in[])(struct program *,
						   struct in *) = {
		[REF_IN_WAIT] = do_wait,   [REF_IN_CHECK] = do_check,
		[REF_IN_XLATE] = do_xlate, [REF_IN_LOCK] = do_lock,
		[REF_IN_WRITE] = do_write, [REF_IN_DRAIN] = do_drain,
		[REF_IN_NOTI] = do_noti,
	};
	bool any = false;

	for (uint32_t vc = REF_RMA_VCS; vc-- > 0;) {
		struct in *n = &w->in[vc];
		enum ref_rma_in_state old;

		do {
			old = n->state;
			n->state = in[old](w, n);
			any |= n->state != old;
		} while (n->state != old);
	}
	return any;
}
