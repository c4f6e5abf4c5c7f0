/* SPDX-License-Identifier: Apache-2.0 */
/* Responder units (hostport.md 8.3): requests of other nodes that are answered
 * with data of this node's memory: GET, FAST_GET, FAA and CAS.
 *
 * LOOKUP  reads the context and the window, and checks the window
 * FRAME   makes the frame along the return route, and translates pages
 * OUTPUT  sends the response, with the payload as it arrives. An atomic reads,
 *         changes and writes one word before another atomic reads it (5.6)
 * FINISH  notifies where that was requested or the request was refused
 *
 * A request that needs a page from the driver is set aside in FRAME after its
 * packet has left the network, so that other requests pass it. */
#include "systems/hostport/nic/functional_units.h"

enum { LOOKUP, FRAME, OUTPUT, FINISH, STAGES };

struct rsp {
	struct hp_in in; /* first member, because the job is cast to it */
	struct hp_pull pull;
	uint64_t va, operand[2], result;
	weft_phys_t word; /* address of the word on which an atomic works */
	bool atomic, locked, framed, pulls;
};

static void rsp_next(struct hp_nic *n, void *arg)
{
	struct rsp *q = arg;

	hp_stage_done(&n->sched[HP_RSP], &q->in.job);
}

static uint32_t rsp_main(const struct rsp *q)
{
	return HP_MAIN(HP_CMD_BYTE(q->in.cmd));
}

/* ---- LOOKUP ---- */

/* Returns the number of bytes of the operands, which are the only payload of a
 * request. */
static uint32_t operand_bytes(const struct rsp *q)
{
	return rsp_main(q) == HP_M_CAS ? 16 : 8;
}

static void lookup_checked(struct hp_nic *n, void *arg)
{
	struct rsp *q = arg;
	const uint64_t *c = q->in.head.c;
	struct hp_access a = {
		.target = true,
		.hpid = HP_C0_HPID(c[0]),
		.vpid = HP_C0_VPID(c[0]),
		.capa = (uint32_t)c[4],
		.rights = HP_WIN_RD | (q->atomic ? HP_WIN_WR : 0),
		.off = c[5],
		.len = q->atomic ? 8 : hp_in_size(&q->in),
	};
	enum hp_err err = hp_win_check(&a, &q->in.win);

	if (!err && q->atomic && hp_in_size(&q->in) != operand_bytes(q))
		err = HP_ERR_TLENGTH;
	if (!err && rsp_main(q) == HP_M_FAST_GET &&
	    a.len > 8 * HP_FAST_RMA_WORDS)
		err = HP_ERR_TLENGTH;
	q->va = hp_win_va(&q->in.win) + q->in.head.c[5];
	if (err)
		hp_in_refuse(n, &q->in, err);
	rsp_next(n, q);
}

static void lookup_win(struct hp_nic *n, void *arg)
{
	hp_after(n, n->param.t_check, lookup_checked, arg);
}

static void lookup_ctx(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct rsp *q = r->arg;
	bool usable = hp_in_usable(n, &q->in, c);

	if (usable && q->in.flags & HP_CTX_RMA_NTF &&
	    !hp_room_entry(n, &q->in, c)) {
		hp_rx_wait(n, &q->in, c, true);
		return;
	}
	hp_rx_unwait(n, &q->in, c);
	if (!usable) {
		rsp_next(n, q);
		return;
	}
	q->in.win.done = lookup_win;
	q->in.win.arg = q;
	hp_win_get(n, &q->in.win, q->in.head.vpid, HP_BASE(c->w, HP_F_WDT_BASE),
		   (uint32_t)(q->in.head.c[4] >> 32));
}

static void rsp_lookup(struct hp_sched *s, struct hp_job *j)
{
	struct rsp *q = (struct rsp *)j;

	hp_mark(s->own, q->in.trace, "waits for a responder");
	q->atomic = rsp_main(q) == HP_M_FAA || rsp_main(q) == HP_M_CAS;
	hp_in_context(s->own, &q->in, lookup_ctx);
}

/* ---- FRAME ---- */

static bool frame_make(struct hp_nic *n, struct rsp *q)
{
	const uint64_t *c = q->in.head.c;
	uint32_t bytes = q->atomic ? 8 : hp_in_size(&q->in);
	struct hp_head h = { .vpid = HP_C0_VPID(c[0]), .bytes = bytes };
	struct hp_pull *p = &q->pull;

	h.c[0] = HP_C0(q->in.cmd | HP_RESPONSE, n->reg.hpid, q->in.head.vpid);
	h.c[1] = HP_C1(HP_C1_ORIG(c[1]), HP_C1_TAG(c[1]));
	h.c[2] = c[2];
	h.c[3] = HP_C3(HP_C0_HPID(c[0]), bytes);
	h.c[6] = c[6];
	h.c[7] = c[7];
	if (q->in.head.back.nf)
		p->f = hp_pkt_new(n->comp->sim, &q->in.head.back, &h, 1);
	if (!p->f)
		return false;
	p->f->trace_id = q->in.trace;
	p->data = weft_slice_data(p->f->payload) + hp_pkt_skip(p->f, &h);
	p->total = bytes;
	return true;
}

/* Ends the present stage of the job when no work of the stage is pending. */
static void stage_check(struct hp_nic *n, void *arg)
{
	struct rsp *q = arg;
	struct hp_pull *p = &q->pull;
	bool missing = false; /* a page */
	uint32_t left;

	if (q->in.job.over)
		return;
	if (q->in.job.stage != FRAME) {
		if (q->framed || q->in.job.stage != OUTPUT ||
		    (q->pulls && !p->over))
			return;
		if (p->cut)
			q->in.err = HP_ERR_TWINID;
		rsp_next(n, q);
		return;
	}
	if (!q->framed ||
	    (q->pulls ? !hp_pull_ready(p) : !hp_walk_known(&p->walk)))
		return;
	if (q->pulls) {
		missing = hp_pull_failed(p);
	} else if (q->atomic) {
		missing = hp_walk_at(&p->walk, 0, &q->word, &left) !=
			  HP_STEP_READY;
		hp_walk_end(n, &p->walk);
	}
	if (missing) {
		hp_in_refuse(n, &q->in, HP_ERR_TWINID);
		hp_pull_drop(n, p);
	}
	rsp_next(n, q);
}

/* Called when the frame is made, and in OUTPUT when all words of the packet
 * have been sent, one per cycle. */
static void frame_timer(struct hp_nic *n, void *arg)
{
	struct rsp *q = arg;

	q->framed = !q->framed;
	stage_check(n, q);
}

static void walk_missed(struct hp_nic *n, void *arg)
{
	const struct hp_pull *p = arg;
	struct rsp *q = p->arg;

	if (q->in.job.stage == FRAME)
		hp_stage_aside(&n->sched[HP_RSP], &q->in.job);
}

/* Translates the page of an atomic while its frame is made. */
static void atomic_page(struct hp_nic *n, void *arg)
{
	const struct hp_pull *p = arg;

	stage_check(n, p->arg);
}

static void rsp_frame(struct hp_sched *s, struct hp_job *j)
{
	struct rsp *q = (struct rsp *)j;
	struct hp_pull *p = &q->pull;
	struct hp_nic *n = s->own;

	hp_mark(n, q->in.trace, "responder: lookups, check");
	if (!q->in.err && !q->in.gone && !frame_make(n, q)) {
		hp_in_refuse(n, &q->in, HP_ERR_ROUTE_BROKEN);
		q->in.gone = true;
	}
	if (q->in.err || q->in.gone) {
		hp_stage_done(s, j);
		return;
	}
	hp_after(n, n->param.t_frame, frame_timer, q);
	if (!p->total)
		return;
	/* requests translations for the payload or for the word of the atomic.
	 * Payload is read as soon as its page is translated */
	p->arg = q;
	p->walk.go = q->atomic ? atomic_page : hp_pull_go;
	p->walk.missed = walk_missed;
	p->walk.arg = p;
	q->pulls = !q->atomic;
	if (q->pulls) {
		p->err = HP_ERR_TWINID;
		p->go = stage_check;
	}
	hp_walk_virt(n, &p->walk, q->in.head.vpid, q->va, p->total, q->atomic);
	if (q->pulls)
		hp_pull_go(n, p);
}

/* ---- OUTPUT: atomics ---- */

static void atomic_lock(struct hp_nic *n, struct rsp *q);

/* Resumes the jobs in other units that wait for this word. */
static void atomic_unlock(struct hp_nic *n, struct rsp *me)
{
	struct hp_sched *s = &n->sched[HP_RSP];

	me->locked = false;
	for (uint32_t f = 0; f < s->n_fu; f++) {
		struct rsp *q = (struct rsp *)s->fu[f].stage[OUTPUT];

		if (q && q != me && q->atomic && q->in.waiting &&
		    q->word == me->word)
			atomic_lock(n, q);
	}
}

static void atomic_wrote(struct hp_nic *n, struct hp_dma *d)
{
	struct rsp *q = d->arg;

	atomic_unlock(n, q);
	memcpy(q->pull.data, &q->result, sizeof(q->result));
	q->pull.got = q->pull.total;
	hp_after(n, (q->pull.f->payload.len + 7) / 8, rsp_next, q);
	hp_pull_release(n, &q->pull, hp_now(n), NULL, NULL);
	q->in.trace = 0; /* the response continues the message */
}

static void atomic_refuse(struct hp_nic *n, struct rsp *q, enum hp_err err)
{
	hp_in_refuse(n, &q->in, err);
	hp_pull_drop(n, &q->pull);
	rsp_next(n, q);
}

static void atomic_read(struct hp_nic *n, struct hp_dma *d)
{
	struct rsp *q = d->arg;
	uint64_t m;

	if (d->txn.status != WEFT_BUS_OK) {
		atomic_unlock(n, q);
		atomic_refuse(n, q, HP_ERR_TWINID);
		return;
	}
	memcpy(&m, weft_slice_data(d->txn.data), sizeof(m));
	/* FAA and CAS return the new value in memory (5.6) */
	if (rsp_main(q) == HP_M_FAA)
		q->result = m + q->operand[0];
	else
		q->result = m == q->operand[0] ? q->operand[1] : m;
	hp_dma_put(n, q->word, &q->result, sizeof(q->result), atomic_wrote, q)
		->txn.trace_id = q->in.trace;
}

/* Reads the word when no other unit works on it, because the change must be
 * atomic. */
static void atomic_lock(struct hp_nic *n, struct rsp *me)
{
	const struct hp_sched *s = &n->sched[HP_RSP];

	me->in.waiting = false;
	for (uint32_t f = 0; f < s->n_fu; f++) {
		const struct rsp *q = (struct rsp *)s->fu[f].stage[OUTPUT];

		if (q && q != me && q->locked && q->word == me->word)
			me->in.waiting = true;
	}
	if (me->in.waiting)
		return;
	me->locked = true;
	hp_dma_read(n, me->word, sizeof(me->result), atomic_read, me)
		->txn.trace_id = me->in.trace;
}

static void atomic_more(struct hp_nic *n, struct hp_rx *rx)
{
	struct rsp *q = rx->arg;
	uint32_t bytes = operand_bytes(q);

	if (rx->here < bytes && !rx->whole)
		return;
	if (rx->here < bytes) {
		atomic_refuse(n, q, HP_ERR_TLENGTH);
		return;
	}
	memcpy(q->operand, weft_slice_data(rx->f->payload) + rx->head.skip,
	       bytes);
	hp_in_end(n, &q->in);
	atomic_lock(n, q);
}

/* ---- OUTPUT ---- */

static void rsp_output(struct hp_sched *s, struct hp_job *j)
{
	struct rsp *q = (struct rsp *)j;
	struct hp_nic *n = s->own;

	hp_mark(n, q->in.trace, "responder: frame");
	if (q->in.err || q->in.gone) {
		hp_stage_done(s, j);
	} else if (q->atomic) {
		q->in.rx->arg = q;
		q->in.rx->more = atomic_more;
		atomic_more(n, q->in.rx);
	} else {
		hp_in_end(n, &q->in);
		hp_after(n, (q->pull.f->payload.len + 7) / 8, frame_timer, q);
		hp_pull_release(n, &q->pull, hp_now(n), NULL, NULL);
		q->in.trace = 0; /* the response continues the message */
	}
}

/* ---- FINISH ---- */

static void rsp_finish(struct hp_sched *s, struct hp_job *j)
{
	struct rsp *q = (struct rsp *)j;

	hp_in_end(s->own, &q->in);
	if (q->in.gone || (!q->in.err && !(q->in.flags & HP_CTX_RMA_NTF))) {
		hp_stage_done(s, j);
		return;
	}
	q->in.nqe.done = rsp_next;
	q->in.nqe.waits = hp_room_stand;
	q->in.nqe.arg = q;
	hp_in_rma(s->own, &q->in);
}

/* Gives back the request's share of the room. The message goes on in the
 * response or in the refusal. */
static void rsp_left(struct hp_sched *s, struct hp_job *j)
{
	hp_room_leave(s->own, &((struct rsp *)j)->in);
}

/* Frees the packet's cells in the network. The job's record has a copy of the
 * operands, which are the only payload. */
static void rsp_aside(struct hp_sched *s, struct hp_job *j)
{
	struct rsp *q = (struct rsp *)j;

	if (q->atomic && q->in.rx) {
		q->in.rx->more = hp_rx_copied;
		hp_rx_copied(s->own, q->in.rx);
	} else {
		hp_in_end(s->own, &q->in);
	}
}

/* Drops the unsent response of a job at the end of the run. */
static void rsp_abandon(struct hp_nic *n, struct hp_job *j)
{
	hp_pull_drop(n, &((struct rsp *)j)->pull);
}

const struct hp_pipe hp_rsp_pipe = {
	.name = "responder",
	.queue_name = "responder_queue",
	.wait_name = "responder_wait",
	.stage_name = { "responder_lookup", "responder_frame",
			"responder_output", "responder_finish" },
	.what = hp_in_what,
	.job_size = sizeof(struct rsp),
	.stages = STAGES,
	.stage = { rsp_lookup, rsp_frame, rsp_output, rsp_finish },
	.left = rsp_left,
	.abandon = rsp_abandon,
	.aside = rsp_aside,
	.behind = hp_room_behind,
};
