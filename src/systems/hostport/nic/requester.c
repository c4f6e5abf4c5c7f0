/* SPDX-License-Identifier: Apache-2.0 */
/* Requester units (hostport.md 8.2): an instruction becomes a packet.
 *
 * LOOKUP  reads context, route and origin window in parallel, and checks (7a)
 * FRAME   makes the command frame, and translates the payload's pages
 * OUTPUT  sends the packet, with the payload as it arrives. Ends when the
 *         network port has taken the packet. Until then further instructions
 *         stay in the work queue
 * FINISH  notifies of a failure, or where no acknowledge was requested
 *
 * An instruction that fails a check sends nothing to the network. */
#include "systems/hostport/nic/functional_units.h"

enum { LOOKUP, FRAME, OUTPUT, FINISH, STAGES };

struct req {
	struct hp_req in; /* first member, because the job is cast to it */
	struct hp_ctx_req ctx;
	struct hp_route_req route;
	struct hp_look win;
	struct hp_pull pull;
	struct hp_nqe nqe;
	weft_phys_t sdr;
	uint64_t len; /* bytes of the transfer */
	uint32_t epoch;
	uint32_t waits;
	enum hp_err err;
	bool gone; /* the context is off. No notification is written then */
	bool sent, framed, pulls;
	bool waits_port; /* the network port has no room for the packet */
};

static void req_next(struct hp_nic *n, void *arg)
{
	struct req *q = arg;

	hp_stage_done(&n->sched[HP_REQ], &q->in.job);
}

/* ---- LOOKUP ---- */

/* Continues once route, context and origin window have arrived. Checks the
 * route first. Then checks the window or the SDR, in the order of errors 6, 7,
 * 5 (6.3). */
static void lookup_join(struct hp_nic *n, void *arg)
{
	struct req *q = arg;
	const uint64_t *w = q->in.vci.w;
	struct hp_access a = { .hpid = (uint32_t)n->reg.hpid,
			       .vpid = q->in.vci.vpid,
			       .off = HP_VCI_OOFF(w),
			       .len = HP_VCI_LEN(w) };
	uint64_t size = 8ull * n->reg.sdr_size, len = HP_VCI_SEND_LEN(w);
	uint32_t m = q->in.vci.main;

	if (--q->waits)
		return;
	if (!q->err && !q->route.ok) {
		q->err = HP_ERR_ROUTE_INV;
	} else if (!q->err && (m == HP_M_PUT || m == HP_M_GET)) {
		q->err = hp_win_check(&a, &q->win);
	} else if (!q->err && m == HP_M_SEND) {
		if (HP_VCI_SDR_OFF(w) & 7)
			q->err = HP_ERR_OOFFSET;
		else if (len & 7)
			q->err = HP_ERR_OLENGTH;
		else if (len > size || HP_VCI_SDR_OFF(w) > size - len ||
			 len > HP_BYTES_MAX)
			q->err = HP_ERR_OWINID;
	}
	hp_after(n, n->param.t_check, req_next, q);
}

static void lookup_ctx(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct req *q = r->arg;
	const struct hp_vci *v = &q->in.vci;

	q->sdr = HP_BASE(c->w, HP_F_SDR_BASE);
	q->epoch = (uint32_t)HP_CTX(c->w, HP_F_EPOCH);
	if (!(c->w[0] & HP_CTX_EN)) {
		q->gone = true;
		q->err = HP_ERR_OVPID_INV;
		hp_err_log(n, HP_CMD(q->err, HP_G_PORT, v->byte), v->vpid);
	} else if (v->main == HP_M_PUT || v->main == HP_M_GET) {
		q->win.done = lookup_join;
		q->win.arg = q;
		q->waits++;
		hp_win_get(n, &q->win, v->vpid, HP_BASE(c->w, HP_F_WDT_BASE),
			   HP_VCI_OWIN(v->w));
	}
	lookup_join(n, q);
}

static void req_lookup(struct hp_sched *s, struct hp_job *j)
{
	struct req *q = (struct req *)j;
	struct hp_nic *n = s->own;
	const struct hp_vci *v = &q->in.vci;

	hp_mark(n, q->in.trace, "waits for a requester");
	q->err = v->err;
	if (q->err) {
		hp_stage_done(s, j);
		return;
	}
	q->waits = 2;
	q->ctx.vpid = v->vpid;
	q->ctx.done = lookup_ctx;
	q->ctx.arg = q;
	hp_ctx_get(n, &q->ctx);
	q->route.done = lookup_join;
	q->route.arg = q;
	hp_route_get(n, &q->route, HP_VCI_ROFF(v->w), HP_VCI_RLEN(v->w));
}

/* ---- FRAME ---- */

/* Makes the frame. Returns false when the route is too long for a packet. */
static bool frame_make(struct hp_nic *n, struct req *q)
{
	const struct hp_vci *v = &q->in.vci;
	bool payload = v->main == HP_M_SEND || v->main == HP_M_PUT;
	struct hp_head h = { .vpid = HP_VCI_TVPID(v->w), .bytes = 8u * v->imm };
	struct hp_pull *p = &q->pull;

	if (v->main == HP_M_SEND)
		q->len = HP_VCI_SEND_LEN(v->w);
	else if (v->main == HP_M_PUT || v->main == HP_M_GET)
		q->len = HP_VCI_LEN(v->w);
	else if (v->main == HP_M_FAST_GET)
		q->len = 8u * HP_L2(v->byte);
	else
		q->len = 8u * v->imm;
	h.c[0] = HP_C0(HP_CMD(0, HP_G_PORT, v->byte), n->reg.hpid, v->vpid);
	h.c[1] = HP_C1(q->epoch, HP_VCI_TAG(v->w));
	h.c[2] = HP_VCI_USER(v->w);
	h.c[3] = HP_C3(q->route.route.dtag, q->len) |
		 HP_C3_OWNER_PUT(HP_VCI_OWNER(v->w));
	h.c[4] = v->w[3];
	h.c[5] = v->w[4];
	h.c[6] = v->main == HP_M_MIS_PUT ? HP_VCI_BE(v->w)
					 : HP_VCI_W5(HP_VCI_OWIN(v->w));
	h.c[7] = HP_VCI_OOFF(v->w);
	if (payload)
		h.bytes = (uint32_t)q->len;
	p->f = hp_pkt_new(n->comp->sim, &q->route.route, &h, 0);
	if (!p->f)
		return false;
	p->f->trace_id = q->in.trace;
	p->data = weft_slice_data(p->f->payload) + hp_pkt_skip(p->f, &h);
	memcpy(p->data, &v->w[v->first], 8u * v->imm);
	p->total = p->got = h.bytes;
	return true;
}

/* Returns whether the instruction ends when its packet has been sent. */
static bool wants_sent(const struct req *q)
{
	return !q->in.vci.ack && !q->in.vci.three;
}

/* Ends the present stage of the job when no work of the stage is pending. Frame
 * generation and translation run side by side. */
static void stage_check(struct hp_nic *n, void *arg)
{
	struct req *q = arg;

	if (q->in.job.over)
		return;
	if (q->in.job.stage == FRAME) {
		if (!q->framed || (q->pulls && !hp_pull_ready(&q->pull)))
			return;
		if (q->pulls && hp_pull_failed(&q->pull)) {
			q->err = HP_ERR_OWINID;
			hp_pull_drop(n, &q->pull);
		}
	} else {
		if (q->framed || q->waits_port || q->in.job.stage != OUTPUT ||
		    (q->pulls && !q->pull.over))
			return;
		/* The target reports the error if an acknowledge or a response
		 * follows. */
		if (q->pull.cut && wants_sent(q))
			q->err = HP_ERR_OWINID;
	}
	req_next(n, q);
}

/* Called when the frame is made, and in OUTPUT when all words of the packet
 * have been sent, one per cycle. */
static void frame_timer(struct hp_nic *n, void *arg)
{
	struct req *q = arg;

	q->framed = !q->framed;
	stage_check(n, q);
}

/* Sets the instruction aside while the driver serves a page miss. Other
 * instructions continue meanwhile, but no more instructions of this process are
 * fetched. */
static void pull_missed(struct hp_nic *n, void *arg)
{
	const struct hp_pull *p = arg;
	struct req *q = p->arg;

	if (q->in.job.stage == FRAME)
		hp_stage_aside(&n->sched[HP_REQ], &q->in.job);
}

/* Makes the frame, while the payload is read. */
static void req_frame(struct hp_sched *s, struct hp_job *j)
{
	struct req *q = (struct req *)j;
	const struct hp_vci *v = &q->in.vci;
	struct hp_pull *p = &q->pull;
	struct hp_nic *n = s->own;

	hp_mark(n, q->in.trace, "requester: lookups, check");
	if (!q->err && !frame_make(n, q))
		q->err = HP_ERR_ROUTE_INV;
	if (q->err) {
		hp_stage_done(s, j);
		return;
	}
	hp_after(n, n->param.t_frame, frame_timer, q);
	q->pulls = (v->main == HP_M_SEND || v->main == HP_M_PUT) && p->total;
	if (!q->pulls)
		return;
	p->got = 0;
	p->err = HP_ERR_OWINID;
	p->go = stage_check;
	p->arg = q;
	p->walk.go = hp_pull_go;
	p->walk.missed = pull_missed;
	p->walk.arg = p;
	if (v->main == HP_M_SEND)
		hp_walk_phys(&p->walk, q->sdr + HP_VCI_SDR_OFF(v->w), p->total);
	else
		hp_walk_virt(n, &p->walk, v->vpid,
			     hp_win_va(&q->win) + HP_VCI_OOFF(v->w), p->total,
			     false);
	hp_pull_go(n, p);
}

/* ---- OUTPUT ---- */

static void req_finish(struct hp_sched *s, struct hp_job *j);

static void output_sent(struct hp_nic *n, struct hp_tx *tx)
{
	struct req *q = tx->arg;

	hp_share_less(n, tx->vpid, HP_SHARE_PORT);
	q->sent = true;
	req_finish(&n->sched[HP_REQ], &q->in.job);
}

/* Stops counting the instruction in the share of its VPID, because its packet
 * has left the network port. The job itself may have ended long ago. */
static void output_gone(struct hp_nic *n, struct hp_tx *tx)
{
	hp_share_less(n, tx->vpid, HP_SHARE_PORT);
}

static void output_taken(struct hp_nic *n, struct hp_tx *tx)
{
	struct req *q = tx->arg;

	q->waits_port = false;
	stage_check(n, q);
}

static void req_output(struct hp_sched *s, struct hp_job *j)
{
	struct req *q = (struct req *)j;
	struct hp_nic *n = s->own;

	hp_mark(n, q->in.trace, "requester: frame");
	hp_fetch_resume(n, q->in.vci.vpid);
	if (q->err) {
		hp_share_less(n, q->in.vci.vpid, HP_SHARE_PORT);
		if (q->in.vci.three)
			hp_share_less(n, q->in.vci.vpid, HP_SHARE_ANSWERS);
		hp_stage_done(s, j);
		return;
	}
	hp_after(n, (q->pull.f->payload.len + 7) / 8, frame_timer, q);
	hp_pull_release(n, &q->pull, hp_now(n),
			wants_sent(q) ? output_sent : output_gone, q);
	q->pull.tx->vpid = q->in.vci.vpid;
	q->in.trace = 0; /* the packet continues the message */
	q->waits_port = !q->pull.tx->pkt;
	if (q->waits_port)
		q->pull.tx->taken = output_taken;
}

/* ---- FINISH ---- */

static void req_finish(struct hp_sched *s, struct hp_job *j)
{
	struct req *q = (struct req *)j;
	struct hp_nic *n = s->own;
	const struct hp_vci *v = &q->in.vci;
	struct hp_nqe *e = &q->nqe;

	if (j->stage != FINISH)
		return;
	if (q->gone || (!q->err && !wants_sent(q))) {
		req_next(n, q);
		return;
	}
	if (q->pull.tx && wants_sent(q) && !q->sent)
		return; /* the callback continues when the last word has left */
	e->vpid = v->vpid;
	e->reserved = true;
	e->snapshot = true;
	e->trace = q->in.trace;
	e->done = req_next;
	e->arg = q;
	e->w[0] = HP_VCI_USER(v->w);
	e->w[1] = HP_VCI_TAG(v->w);
	e->w[7] = HP_NQE_W7(
		HP_CMD(q->err, HP_CMD_GROUP(HP_VCI_CMD(v->w)), v->byte),
		q->route.route.dtag, HP_VCI_TVPID(v->w));
	hp_notify(n, e);
}

/* Ends the message of an instruction in the trace if the instruction sent no
 * packet. */
static void req_left(struct hp_sched *s, struct hp_job *j)
{
	struct hp_nic *n = s->own;

	weft_msg_end(n->comp, ((struct req *)j)->in.trace, false);
}

static const char *req_what(const struct hp_job *j)
{
	return hp_command_name(((const struct req *)j)->in.vci.byte);
}

/* Drops the unsent packet of a job at the end of the run. */
static void req_abandon(struct hp_nic *n, struct hp_job *j)
{
	hp_pull_drop(n, &((struct req *)j)->pull);
}

const struct hp_pipe hp_req_pipe = {
	.name = "requester",
	.queue_name = "requester_queue",
	.wait_name = "requester_wait",
	.stage_name = { "requester_lookup", "requester_frame",
			"requester_output", "requester_finish" },
	.what = req_what,
	.job_size = sizeof(struct req),
	.stages = STAGES,
	.stage = { req_lookup, req_frame, req_output, req_finish },
	.left = req_left,
	.abandon = req_abandon,
};
