/* SPDX-License-Identifier: Apache-2.0 */
/* Fetch unit: executes the pointer commands of the CSB, fetches VCIs and passes
 * them to the scheduler (hostport.md 7.3, 7.5 CSB5, CSB8, CSB11 to CSB13, 8.2
 * steps 1 and 2).
 *
 *   CSB --one entry per cycle--> context: moves pointers, or adds to WQ_PEND
 *   turn --next VPID--> reserves an NQ entry, reads 64 bytes of the WQ,
 *                       WQ_RP++, WQ_PEND-- --> scheduler
 *
 * The turn lists VPIDs that have VCIs to be fetched (WQ_PEND > 0). Each VPID is
 * listed once, and VPIDs are served round robin. An entry of the CSB never
 * waits for units, queues or memory of its VPID, because the context only
 * counts VCIs that cannot be fetched yet (WQ_PEND). A VPID whose notification
 * queue has no entry left to reserve is taken out of the turn (STALL_NQ) until
 * its NQ_RP moves. */
#include <stdlib.h>

#include "systems/hostport/nic/nic.h"

/* ---- VPIDs with work ---- */

static void turn_add(struct hp_nic *n, uint32_t vpid)
{
	uint64_t bit = 1ULL << (vpid % 64), *w = &n->fetch.in_turn[vpid / 64];

	if (*w & bit)
		return;
	*w |= bit;
	*ring_push(&n->fetch.turn) = (uint16_t)vpid;
}

/* Puts a VPID that has more VCIs back into the turn. A VPID with weight w stays
 * at the front until w of its VCIs were fetched. */
static void turn_again(struct hp_nic *n, uint32_t vpid)
{
	struct hp_fetch_unit *u = &n->fetch;
	struct hp_weight *w = u->share.weight ? &u->share.weight[vpid] : NULL;
	uint64_t bit = 1ULL << (vpid % 64);

	if (!w || u->in_turn[vpid / 64] & bit) {
		turn_add(n, vpid);
		return;
	}
	w->left = w->left ? w->left - 1 : w->is - 1;
	if (!w->left || !w->is) {
		w->left = 0;
		turn_add(n, vpid);
		return;
	}
	u->in_turn[vpid / 64] |= bit;
	*ring_push(&u->first) = (uint16_t)vpid;
}

/* Keeps a VPID out of the turn, because the VPID has used up its share or some
 * of its instructions wait for the driver. Otherwise all later instructions of
 * the VPID could be fetched and set aside, too. */
static void held_add(struct hp_nic *n, uint32_t vpid)
{
	for (size_t i = 0; i < n->fetch.held.n; i++)
		if (n->fetch.held.at[i] == vpid)
			return;
	vec_push(&n->fetch.held, (uint16_t)vpid);
}

/* ---- held back ---- */

static bool held_stays(struct hp_nic *n, uint32_t vpid)
{
	return hp_sched_aside(&n->sched[HP_REQ], vpid) ||
	       hp_share_full(n, vpid);
}

void hp_fetch_resume(struct hp_nic *n, uint32_t vpid)
{
	for (size_t i = 0; i < n->fetch.held.n; i++) {
		if (n->fetch.held.at[i] != vpid || held_stays(n, vpid))
			continue;
		n->fetch.held.at[i] = vec_pop(&n->fetch.held);
		turn_add(n, vpid);
		hp_fetch_go(n);
		return;
	}
}

/* Returns how many VCIs of a VPID are being read from memory. */
static uint32_t fetch_reading(const struct hp_nic *n, uint32_t vpid)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < HP_FETCHES; i++)
		if (n->fetch.op[i].req && n->fetch.op[i].reading &&
		    n->fetch.op[i].ctx.vpid == vpid)
			k++;
	return k;
}

/* Returns whether both driver and context have the VPID enabled. */
static bool fetch_usable(const struct hp_nic *n, const struct hp_ctx *c)
{
	return c->w[0] & HP_CTX_EN && hp_csb_on(&n->csb, c->vpid);
}

/* ---- pointer commands ---- */

static uint32_t fetch_field(const struct hp_ctx *c, uint32_t i, uint32_t hi,
			    uint32_t lo)
{
	return (uint32_t)HP_GET(c->w[i], hi, lo);
}

/* Moves a pointer by a number of entries, words or buffers. Does not apply a
 * move beyond the opposite pointer (7.3). A snapshot moves no pointer. */
static enum hp_err pointer_move(struct hp_nic *n, struct hp_ctx *c,
				uint32_t cmd, uint32_t by)
{
	const struct hp_registers *r = &n->reg;
	uint32_t rp, wp;

	switch (cmd) {
	case HP_T_NQ_RP:
		rp = fetch_field(c, HP_F_NQ_RP);
		wp = fetch_field(c, HP_F_NQ_WP);
		if (by > hp_used(rp, wp, r->nq_size))
			return HP_ERR_CMD_INV;
		HP_CTX_SET(c->w, HP_F_NQ_RP, hp_next(rp, by, r->nq_size));
		break;
	case HP_T_RDR_RP:
		rp = fetch_field(c, HP_F_RDR_RP);
		wp = fetch_field(c, HP_F_RDR_WP);
		by <<= r->rdr_unit;
		if (by > hp_used(rp, wp, r->rdr_size))
			return HP_ERR_CMD_INV;
		HP_CTX_SET(c->w, HP_F_RDR_RP, hp_next(rp, by, r->rdr_size));
		break;
	case HP_T_PRQ_WP:
		rp = fetch_field(c, HP_F_PRQ_RP);
		wp = fetch_field(c, HP_F_PRQ_WP);
		if (by + hp_used(rp, wp, r->prq_size) >= r->prq_size)
			return HP_ERR_CMD_INV;
		HP_CTX_SET(c->w, HP_F_PRQ_WP, hp_next(wp, by, r->prq_size));
		break;
	}
	return HP_ERR_NOERR;
}

/* Executes a pointer command. Each update of a pointer that the process owns
 * requests a status NQE (6.2). The status is requested first. Otherwise packets
 * that use the new room could take the NQ entry that the status needs. */
static void do_pointer(struct hp_nic *n, struct hp_ctx *c,
		       const struct hp_csb_entry *e)
{
	enum hp_err err = pointer_move(n, c, e->cmd, e->par);

	hp_count(n, HP_K_STATUS, 1);
	hp_ctx_dirty(c);
	hp_notify_status(n, c, e->cmd, e->par, err);
	if (err || e->cmd == HP_T_SNAPSHOT)
		return;
	if (e->cmd != HP_T_NQ_RP) {
		hp_rx_room(n, c->vpid);
		return;
	}
	hp_notify_room(n, c);
	if (!(c->w[0] & HP_CTX_STALL_NQ))
		return;
	/* VCIs that stalled for lack of NQ entries continue */
	c->w[0] &= ~HP_CTX_STALL_NQ;
	turn_add(n, c->vpid);
	hp_fetch_go(n);
}

/* ---- entries leave the CSB ---- */

static void csb_done(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_csb_out *o = r->arg;
	const struct hp_csb_entry *e = &o->entry;

	o->busy = false;
	if (!fetch_usable(n, c)) {
		hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, 0), e->vpid);
	} else if (e->cmd == HP_T_BARRIER) {
		hp_count(n, HP_K_BARRIERS, 1);
	} else if (e->cmd != HP_T_ISSUE) {
		do_pointer(n, c, e);
	} else {
		HP_CTX_SET(c->w, HP_F_WQ_PEND, HP_CTX(c->w, HP_F_WQ_PEND) + 1);
		hp_ctx_dirty(c);
		if (c->w[0] & HP_CTX_STALL_NQ)
			hp_count(n, HP_K_PARKED, 1);
		else
			turn_add(n, c->vpid);
	}
	hp_fetch_go(n);
}

static void csb_later(struct hp_nic *n, void *arg)
{
	n->fetch.out_armed = false;
	hp_fetch_go(n);
}

/* Takes one entry of the CSB per cycle. A VPID whose context is not in the
 * cache delays no other VPID. Entries of one VPID stay in order (CSB4). */
static void csb_next(struct hp_nic *n)
{
	struct hp_fetch_unit *u = &n->fetch;
	struct hp_csb_out *o = u->out, *end = o + n->param.lookups;

	while (o < end && o->busy)
		o++;
	if (o == end || !n->csb.n)
		return;
	if (hp_now(n) < u->out_next) {
		if (!u->out_armed)
			hp_at(n, u->out_next, csb_later, NULL);
		u->out_armed = true;
		return;
	}
	hp_csb_take(&n->csb, &o->entry);
	hp_csb_tell(n);
	u->out_next = hp_now(n) + 1;
	o->busy = true;
	o->ctx.vpid = o->entry.vpid;
	o->ctx.done = csb_done;
	o->ctx.arg = o;
	hp_ctx_get(n, &o->ctx);
	/* arms the callback that takes the next entry one cycle later */
	csb_next(n);
}

/* ---- reading VCIs ---- */

static void op_free(struct hp_nic *n, struct hp_fetch *op)
{
	op->req = NULL;
	op->reading = false;
	n->fetch.n--;
}

static void op_abandon(struct hp_nic *n, struct hp_fetch *op)
{
	if (op->req->ahead) {
		hp_share_read(n, op->ctx.vpid, false);
		hp_share_less(n, op->ctx.vpid, HP_SHARE_PORT);
	}
	weft_msg_end(n->comp, op->req->trace, false);
	hp_job_drop(&n->sched[HP_REQ], &op->req->job);
	op_free(n, op);
	hp_fetch_go(n);
}

static void issue_put(struct hp_nic *n, void *arg)
{
	struct hp_req *req = arg;
	uint32_t vpid = req->vci.vpid;

	n->fetch.decoding--;
	hp_share_read(n, vpid, req->vci.three);
	hp_mark(n, req->trace, "decode");
	hp_sched_put(&n->sched[HP_REQ], &req->job);
	hp_fetch_resume(n, vpid);
}

void hp_fetch_issue(struct hp_nic *n, uint32_t vpid, uint64_t flags,
		    struct hp_req *req, const uint64_t *w)
{
	/* counts a tagged VCI here, because it is never fetched. Other VCIs
	 * were counted when they were fetched */
	hp_share_add(n, vpid, req);
	hp_vci_decode(&req->vci, w, vpid);
	hp_count(n, HP_K_VCIS, 1);
	n->vci_at += (double)weft_now(n->comp) / WEFT_NS;
	n->vcis++;
	hp_count(n, HP_K_BAD_VCIS, req->vci.err != HP_ERR_NOERR);
	req->job.ordered = n->reg.ctrl & HP_CTRL_ORDER && flags & HP_CTX_ORD;
	req->job.key = hp_key(vpid, HP_VCI_TVPID(w), HP_VCI_ROFF(w),
			      req->vci.rma ? HP_KEY_RMA : HP_KEY_SEND);
	n->fetch.decoding++;
	hp_after(n, n->param.t_decode, issue_put, req);
}

/* Issues a VCI that was read. Its context was requested again, because the
 * cache may have evicted it meanwhile. */
static void read_ctx(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_fetch *op = r->arg;
	struct hp_req *req = op->req;

	if (!fetch_usable(n, c) || !HP_CTX(c->w, HP_F_WQ_PEND)) {
		hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, 0), c->vpid);
		op_abandon(n, op);
		return;
	}
	HP_CTX_SET(c->w, HP_F_WQ_RP,
		   hp_next(fetch_field(c, HP_F_WQ_RP), 1, n->reg.wq_size));
	HP_CTX_SET(c->w, HP_F_WQ_PEND, HP_CTX(c->w, HP_F_WQ_PEND) - 1);
	hp_ctx_dirty(c);
	op_free(n, op);
	hp_mark(n, req->trace, "context");
	hp_fetch_issue(n, c->vpid, c->w[0], req, op->w);
	if (!HP_CTX(c->w, HP_F_WQ_PEND))
		hp_notify_room(n, c);
	hp_fetch_go(n);
}

static void read_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_fetch *op = d->arg;

	memcpy(op->w, weft_slice_data(d->txn.data), HP_LINE);
	op->ctx.done = read_ctx;
	hp_ctx_get(n, &op->ctx);
}

/* Drops instructions that were triggered before the context was closed, and
 * ends their messages in the trace. */
static void drop_pending(struct hp_nic *n, struct hp_ctx *c, uint32_t pend)
{
	uint64_t id;

	while (pend--)
		hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, 0), c->vpid);
	while ((id = hp_marks_take(n, c->vpid)))
		weft_msg_end(n->comp, id, false);
	HP_CTX_SET(c->w, HP_F_WQ_PEND, 0);
	hp_ctx_dirty(c);
}

/* Reads the next VCI of a VPID, once its context is known. */
static void turn_ctx(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_fetch *op = r->arg;
	uint32_t ahead = fetch_reading(n, c->vpid), at;
	uint32_t pend = fetch_field(c, HP_F_WQ_PEND);

	/* number of VCIs whose read has not started. If a context was reopened
	 * while its old VCIs were being read, WQ_PEND may be less than
	 * `ahead`. */
	pend = pend > ahead ? pend - ahead : 0;
	if (!fetch_usable(n, c)) {
		drop_pending(n, c, pend);
		op_abandon(n, op);
		return;
	}
	if (pend && !hp_nq_free(c, n->reg.nq_size)) {
		if (!(c->w[0] & HP_CTX_STALL_NQ))
			hp_count(n, HP_K_PARKED, pend);
		c->w[0] |= HP_CTX_STALL_NQ;
		hp_ctx_dirty(c);
		pend = 0;
	}
	if (pend && held_stays(n, c->vpid)) {
		held_add(n, c->vpid);
		pend = 0;
	}
	if (!pend) {
		op_abandon(n, op);
		return;
	}
	HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) + 1);
	hp_ctx_dirty(c);
	op->reading = true;
	hp_share_add(n, c->vpid, op->req);
	hp_share_mark(n, c->vpid);
	op->req->trace = hp_marks_take(n, c->vpid);
	hp_mark(n, op->req->trace, "CSB, context");
	at = hp_next(fetch_field(c, HP_F_WQ_RP), ahead, n->reg.wq_size);
	hp_dma_read(n, HP_BASE(c->w, HP_F_WQ_BASE) + (uint64_t)HP_LINE * at,
		    HP_LINE, read_done, op)
		->txn.trace_id = op->req->trace;
	if (pend > 1)
		turn_again(n, c->vpid);
	hp_fetch_go(n);
}

/* Starts the fetch of the next VCI of each listed VPID while u->op has a free
 * slot. VPIDs in u->first are served before those in u->turn. */
static void turn_next(struct hp_nic *n)
{
	struct hp_fetch_unit *u = &n->fetch;

	while ((!ring_empty(&u->first) || !ring_empty(&u->turn)) &&
	       hp_fetch_room(n)) {
		struct hp_fetch *op = u->op, *end = op + n->param.fetches;
		bool first = !ring_empty(&u->first);
		uint16_t vpid =
			first ? *ring_front(&u->first) : *ring_front(&u->turn);

		while (op < end && op->req)
			op++;
		if (op == end)
			return;
		if (first)
			ring_pop(&u->first);
		else
			ring_pop(&u->turn);
		u->in_turn[vpid / 64] &= ~(1ULL << (vpid % 64));
		u->n++;
		op->req = hp_job_new(&n->sched[HP_REQ]);
		op->req->job.key = (uint64_t)vpid << 48;
		op->ctx.vpid = vpid;
		op->ctx.arg = op;
		op->ctx.done = turn_ctx;
		hp_ctx_get(n, &op->ctx);
	}
}

void hp_fetch_go(struct hp_nic *n)
{
	csb_next(n);
	turn_next(n);
	hp_tagged_go(n);
}
