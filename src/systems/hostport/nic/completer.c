/* SPDX-License-Identifier: Apache-2.0 */
/* Completer units (hostport.md 8.4): a packet becomes bytes in memory and a
 * notification.
 *
 *   LOOKUP  reads the context and the window, and checks the window
 *   PLACE   finds the destination of the payload: RDR, posted buffer
 *           (receive_buffer.c), pages
 *   STORE   stores the payload as it arrives, then sends the acknowledge
 *   FINISH  writes the notification
 *
 * The acknowledge is sent when the last store of payload was handed to the bus.
 * If the notification carries the payload, the acknowledge is sent when the
 * notification was handed to the bus. */
#include "systems/hostport/nic/completer.h"

enum { LOOKUP, PLACE, STORE, FINISH, STAGES };

void hp_cpl_done(struct hp_nic *n, void *arg)
{
	struct hp_cpl *q = arg;

	hp_stage_done(&n->sched[HP_CPL], &q->in.job);
}

static bool has_window(const struct hp_cpl *q)
{
	return q->kind == CPL_PUT || q->kind == CPL_MASKED ||
	       q->kind == CPL_GET;
}

/* Returns whether a process of this node is notified of the packet. */
static bool wants_note(const struct hp_cpl *q)
{
	return !q->in.gone && (q->in.reply || !has_window(q) || q->in.err ||
			       q->in.flags & HP_CTX_RMA_NTF);
}

/* ---- LOOKUP ---- */

static void lookup_checked(struct hp_nic *n, void *arg)
{
	struct hp_cpl *q = arg;
	const uint64_t *c = q->in.head.c;
	bool target = !q->in.reply;
	struct hp_access a = {
		.target = target,
		.hpid = target ? HP_C0_HPID(c[0]) : (uint32_t)n->reg.hpid,
		.vpid = target ? HP_C0_VPID(c[0]) : q->in.head.vpid,
		.capa = (uint32_t)c[4],
		.rights = HP_WIN_WR,
		.off = target ? c[5] : c[7],
		.len = hp_in_size(&q->in),
	};
	enum hp_err err = hp_win_check(&a, &q->in.win);

	q->va = hp_win_va(&q->in.win) + a.off;
	if (err && target)
		hp_in_refuse(n, &q->in, err);
	else if (err)
		hp_in_end(n, &q->in);
	q->in.err = err;
	hp_cpl_done(n, q);
}

static void lookup_win(struct hp_nic *n, void *arg)
{
	hp_after(n, n->param.t_check, lookup_checked, arg);
}

static void lookup_ctx(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_cpl *q = r->arg;
	const uint64_t *w = q->in.head.c;
	bool usable = hp_in_usable(n, &q->in, c), wants;

	/* Reserves an entry of the notification queue if the packet will need
	 * one and its origin has reserved none. Messages for the RDR or a
	 * posted buffer reserve their entry in PLACE. */
	if (q->kind == CPL_ACK)
		wants = hp_is_extra(&q->in.head);
	else
		wants = q->kind == CPL_FAST || (!q->in.reply && has_window(q) &&
						q->in.flags & HP_CTX_RMA_NTF);
	if (usable)
		q->lacks = wants && !hp_room_entry(n, &q->in, c);
	/* A packet that got no entry of the notification queue waits in LOOKUP
	 * if its payload fits into a line. A longer packet waits in PLACE, once
	 * its destination is known. */
	if (usable && q->lacks && hp_in_size(&q->in) <= HP_LINE) {
		hp_rx_wait(n, &q->in, c, true);
		return;
	}
	hp_rx_unwait(n, &q->in, c);
	if (!usable || !has_window(q)) {
		hp_cpl_done(n, q);
		return;
	}
	q->in.win.done = lookup_win;
	q->in.win.arg = q;
	hp_win_get(n, &q->in.win, q->in.head.vpid, HP_BASE(c->w, HP_F_WDT_BASE),
		   (uint32_t)(w[q->in.reply ? 6 : 4] >> 32));
}

static void cpl_lookup(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;
	uint32_t byte = HP_CMD_BYTE(q->in.cmd);

	hp_mark(s->own, q->in.trace, "waits for a completer");
	switch (HP_MAIN(byte)) {
	case HP_M_SEND:
	case HP_M_FAST_SEND:
		q->kind = hp_in_size(&q->in) <= 8 * HP_FAST_WORDS ? CPL_FAST
								  : CPL_RECV;
		break;
	case HP_M_MIS_PUT:
		q->kind = CPL_MASKED;
		break;
	case HP_M_GET:
		q->kind = CPL_GET;
		break;
	case HP_M_PUT:
	case HP_M_FAST_PUT:
		q->kind = CPL_PUT;
		break;
	default:
		q->kind = CPL_RESULT;
	}
	if (byte == HP_B_ACK)
		q->kind = CPL_ACK;
	hp_in_context(s->own, &q->in, lookup_ctx);
}

/* ---- PLACE ---- */

static void store_over(struct hp_nic *n, struct hp_cpl *q);

/* Ends PLACE once the destination is known and no translation of its first
 * pages is in flight. */
static void place_check(struct hp_nic *n, struct hp_cpl *q)
{
	if (q->in.job.stage == PLACE && !q->in.job.over && q->pushes &&
	    hp_walk_known(&q->push.walk))
		hp_cpl_done(n, q);
}

static void push_go(struct hp_nic *n, struct hp_push *p)
{
	struct hp_cpl *q = p->arg;

	if (q->in.job.stage == PLACE)
		place_check(n, q);
	else if (q->in.job.stage == STORE && !q->in.job.over && q->push.over)
		store_over(n, q);
}

void hp_cpl_store(struct hp_nic *n, struct hp_cpl *q, uint32_t total)
{
	q->push.total = total;
	q->pushes = true;
	place_check(n, q);
}

/* Moves the payload out of the network. A payload of up to a line is copied to
 * the job's record. A longer payload is moved to the unit's buffer or to main
 * memory. Returns false when the payload has to stay in the network. */
static bool place_leaves(struct hp_nic *n, struct hp_cpl *q)
{
	q->push.copied = q->push.copied || q->push.size <= HP_LINE;
	return q->push.copied ||
	       hp_park_begin(n, &q->push, q->in.job.fu, HP_VPIDS);
}

/* Sets the job aside while the driver serves a page miss, so that the stage is
 * free for other jobs. */
static void place_missed(struct hp_nic *n, void *arg)
{
	const struct hp_push *p = arg;
	struct hp_cpl *q = p->arg;

	if (q->in.job.stage == PLACE && place_leaves(n, q))
		hp_stage_aside(&n->sched[HP_CPL], &q->in.job);
}

/* Starts to accept payload. Stops accepting when the unit's buffer is full. */
static void place_begin(struct hp_nic *n, struct hp_cpl *q)
{
	struct hp_push *p = &q->push;

	p->go = push_go;
	p->arg = q;
	p->walk.go = hp_push_go;
	p->walk.missed = place_missed;
	p->walk.arg = p;
	p->rx = q->in.rx;
	p->size = hp_in_size(&q->in);
	p->hold = true;
	hp_push_start(n, p);
}

static void place_virt(struct hp_nic *n, struct hp_cpl *q)
{
	uint32_t size = hp_in_size(&q->in);

	hp_walk_virt(n, &q->push.walk, q->in.head.vpid, q->va, size, true);
	hp_cpl_store(n, q, size);
}

/* Retries to reserve the entry of the notification queue that LOOKUP did not
 * get. */
static void place_entry(struct hp_nic *n, struct hp_ctx_req *r,
			struct hp_ctx *c)
{
	struct hp_cpl *q = r->arg;
	bool usable = hp_in_usable(n, &q->in, c);

	if (usable && !hp_room_entry(n, &q->in, c)) {
		hp_rx_wait(n, &q->in, c, true);
		return;
	}
	hp_rx_unwait(n, &q->in, c);
	if (usable)
		place_virt(n, q);
	else
		hp_cpl_done(n, q);
}

static void cpl_place(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;
	bool stores =
		q->kind == CPL_RECV || q->kind == CPL_PUT || q->kind == CPL_GET;

	hp_mark(s->own, q->in.trace, "completer: lookups, check");
	if (q->in.gone || q->in.err || !stores) {
		hp_stage_done(s, j);
		return;
	}
	place_begin(s->own, q);
	q->in.space = q->kind == CPL_RECV;
	if (q->in.space)
		hp_in_context(s->own, &q->in, hp_place_recv);
	else if (q->lacks)
		hp_in_context(s->own, &q->in, place_entry);
	else
		place_virt(s->own, q);
}

/* ---- STORE ---- */

/* Sends the acknowledge if one was requested. Otherwise sends an acknowledge
 * only to report an error of this node. Errors of messages are not reported
 * then, because messages are posted (6.3). An error of a packet that its sender
 * ended early is not reported either, because the sender knows of the error
 * (8.10). */
static void store_ack(struct hp_nic *n, struct hp_cpl *q)
{
	bool wanted = HP_CMD_BYTE(q->in.cmd) & HP_A;
	bool told = q->kind == CPL_RECV || (q->push.tail && !q->push.stop);

	if (q->in.reply || q->in.gone)
		return;
	if (!wanted && (!q->in.err || told))
		return;
	hp_ack(n, &q->in.head, q->in.err, wants_note(q) ? 0 : q->in.trace);
	if (!wants_note(q))
		q->in.trace = 0;
}

static void store_over(struct hp_nic *n, struct hp_cpl *q)
{
	/* a page was not translated, or memory refused a store */
	if (!q->in.err && q->push.stop)
		q->in.err = q->in.reply ? HP_ERR_OWINID : HP_ERR_TWINID;
	else if (!q->in.err) /* error from the tail of the packet */
		q->in.err = q->push.tail;
	if (q->kind != CPL_FAST)
		store_ack(n, q);
	hp_in_end(n, &q->in);
	hp_cpl_done(n, q);
}

/* Collects payload that the notification will carry. */
static void imm_more(struct hp_nic *n, struct hp_rx *rx)
{
	struct hp_cpl *q = rx->arg;
	uint32_t size = hp_in_size(&q->in);
	uint32_t here = hp_rx_bytes(rx, size, &q->push.tail);

	if (here < size && !rx->whole)
		return;
	if (here > sizeof(q->imm))
		here = sizeof(q->imm);
	memcpy(q->imm, weft_slice_data(rx->f->payload) + rx->head.skip, here);
	store_over(n, q);
}

/* Handles the end of a store of MISALIGNED_PUT. Each store writes one run of
 * enabled bytes. The last store ends the stage. */
static void masked_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_cpl *q = d->arg;

	if (d->txn.status != WEFT_BUS_OK)
		q->push.stop = true;
	if (!--q->runs)
		store_over(n, q);
}

/* Writes each run of enabled bytes once the page is translated. */
static void masked_page(struct hp_nic *n, void *arg)
{
	struct hp_cpl *q = arg;
	struct hp_walk *w = &q->push.walk;
	uint32_t be = (uint32_t)q->in.head.c[6] & 0xff, left;
	const uint8_t *b = (const uint8_t *)q->imm;
	weft_phys_t pa;

	if (!hp_walk_known(w))
		return;
	q->push.stop = hp_walk_at(w, 0, &pa, &left) == HP_STEP_FAULT;
	hp_walk_end(n, w);
	/* counts the loop as one store, so that no store ends the stage before
	 * the loop has ended */
	q->runs = 1;
	for (uint32_t i = 0, k; i < 8 && !q->push.stop; i = k) {
		for (k = i + 1; k < 8 && (be >> k & 1) == (be >> i & 1); k++)
			;
		if (!(be >> i & 1))
			continue;
		q->runs++;
		hp_dma_put(n, pa + i, b + i, k - i, masked_done, q)
			->txn.trace_id = q->in.trace;
	}
	if (!--q->runs)
		store_over(n, q);
}

static void masked_missed(struct hp_nic *n, void *arg)
{
	struct hp_cpl *q = arg;

	hp_stage_aside(&n->sched[HP_CPL], &q->in.job);
}

static void masked_more(struct hp_nic *n, struct hp_rx *rx)
{
	struct hp_cpl *q = rx->arg;

	if (rx->here < 8 && !rx->whole)
		return;
	rx->more = NULL;
	if (hp_rx_bytes(rx, 8, &q->push.tail) < 8) {
		store_over(n, q);
		return;
	}
	memcpy(q->imm, weft_slice_data(rx->f->payload) + rx->head.skip, 8);
	q->push.walk.go = masked_page;
	q->push.walk.missed = masked_missed;
	q->push.walk.arg = q;
	hp_walk_virt(n, &q->push.walk, q->in.head.vpid, q->va, 8, true);
}

static void cpl_store(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;

	hp_mark(s->own, q->in.trace, "completer: place");
	if (!q->in.rx || q->kind == CPL_ACK) {
		hp_in_end(s->own, &q->in);
		hp_stage_done(s, j);
	} else if (q->pushes) {
		q->push.hold = false;
		hp_push_start(s->own, &q->push);
	} else if (q->kind == CPL_MASKED) {
		q->in.rx->arg = q;
		q->in.rx->more = masked_more;
		masked_more(s->own, q->in.rx);
	} else if (q->in.err) { /* PLACE has refused the packet */
		store_over(s->own, q);
	} else {
		q->in.rx->arg = q;
		q->in.rx->more = imm_more;
		imm_more(s->own, q->in.rx);
	}
}

/* ---- FINISH ---- */

static void finish_told(struct hp_nic *n, void *arg)
{
	struct hp_cpl *q = arg;

	if (q->kind == CPL_FAST)
		store_ack(n, q);
	hp_cpl_done(n, q);
}

/* Fills in the words that all layouts share (6.2). */
static void finish_begin(struct hp_cpl *q, uint32_t cmd)
{
	const uint64_t *c = q->in.head.c;
	struct hp_nqe *e = &q->in.nqe;

	e->vpid = (uint16_t)q->in.head.vpid;
	e->done = finish_told;
	e->arg = q;
	e->trace = q->in.trace;
	e->reserved = q->in.nq;
	e->w[0] = c[2];
	e->w[1] = HP_C1_TAG(c[1]);
	e->w[7] = HP_NQE_W7(cmd, HP_C0_HPID(c[0]), HP_C0_VPID(c[0]));
}

static void finish_message(struct hp_cpl *q)
{
	bool fast = q->kind == CPL_FAST;
	uint64_t size = hp_in_size(&q->in);
	struct hp_nqe *e = &q->in.nqe;

	finish_begin(q,
		     HP_CMD(q->in.err, HP_G_PORT,
			    fast ? HP_B_NOTIFY_FAST_RECV : HP_B_NOTIFY_RECV));
	if (fast) {
		e->w[1] |= HP_PUT((size + 7) / 8, 63, 48);
		memcpy(&e->w[2], q->imm, 8 * HP_FAST_WORDS);
		return;
	}
	e->w[2] = q->in.snap;
	e->w[3] = size;
	if (!q->posted)
		return;
	e->w[1] |= HP_NQE_POSTED;
	e->w[3] = q->pushes ? q->push.stored : 0;
	e->w[4] = q->prd[HP_PRD_ADDR];
	e->w[5] = size;
	e->w[6] = q->prd[HP_PRD_COOKIE];
}

/* Notifies the completion of an instruction of this node, with a copy of its
 * command. A negative acknowledge that was not requested has no reservation
 * (4.9). */
static void finish_origin(struct hp_nic *n, struct hp_cpl *q)
{
	uint32_t byte = HP_CMD_BYTE(q->in.cmd) & ~(uint32_t)HP_RESPONSE;
	uint32_t err = q->in.err, cmd;
	bool get = true;

	if (!err)
		err = HP_CMD_ERR(q->in.cmd);
	cmd = HP_CMD(err, HP_G_PORT, byte);
	if (q->kind == CPL_ACK) {
		cmd = HP_C1_ORIG(q->in.head.c[1]) | HP_CMD(err, 0, 0);
		get = hp_is_get(HP_CMD_BYTE(cmd));
	}
	if (get) /* the next get of the process may be fetched now */
		hp_share_less(n, q->in.head.vpid, HP_SHARE_ANSWERS);
	finish_begin(q, cmd);
	q->in.nqe.reserved = get || cmd & HP_A || q->in.nq;
	q->in.nqe.snapshot = true;
	if (q->kind != CPL_RESULT || err)
		return;
	q->in.nqe.w[1] |= HP_PUT(hp_in_size(&q->in) / 8, 63, 48);
	memcpy(&q->in.nqe.w[3], q->imm, 8 * HP_FAST_RMA_WORDS);
}

static void cpl_finish(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;
	struct hp_nic *n = s->own;

	hp_mark(n, q->in.trace, "completer: store");
	q->in.nqe.done = finish_told;
	q->in.nqe.waits = hp_room_stand;
	q->in.nqe.arg = q;
	if (!wants_note(q)) {
		hp_stage_done(s, j);
		return;
	}
	if (!q->in.reply && has_window(q)) {
		hp_in_rma(n, &q->in);
		return;
	}
	if (q->in.reply)
		finish_origin(n, q);
	else
		finish_message(q);
	hp_notify(n, &q->in.nqe);
}

static void cpl_left(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;
	struct hp_nic *n = s->own;

	hp_room_leave(n, &q->in);
	weft_msg_end(n->comp, q->in.trace, !q->in.err);
}

/* Handles a job that follows an older job of the same key. If the older job
 * waits for room, moves a payload of more than a line to the unit's buffer, so
 * that the payload does not block the network. */
static void cpl_behind(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;
	struct hp_nic *n = s->own;

	if (q->in.rx && !q->push.rx && hp_in_size(&q->in) > HP_LINE &&
	    hp_room_lacks(n, q->in.head.vpid))
		place_begin(n, q);
	hp_room_behind(s, j);
}

/* Moves the payload out of the network: the bytes that have arrived, and all
 * later bytes as they arrive. */
static void cpl_aside(struct hp_sched *s, struct hp_job *j)
{
	struct hp_cpl *q = (struct hp_cpl *)j;

	if (!q->in.rx)
		return;
	if (q->push.rx) {
		place_leaves(s->own, q);
		hp_push_go(s->own, &q->push);
		return;
	}
	q->in.rx->more = hp_rx_copied;
	hp_rx_copied(s->own, q->in.rx);
}

const struct hp_pipe hp_cpl_pipe = {
	.name = "completer",
	.queue_name = "completer_queue",
	.wait_name = "completer_wait",
	.stage_name = { "completer_lookup", "completer_place",
			"completer_store", "completer_finish" },
	.what = hp_in_what,
	.job_size = sizeof(struct hp_cpl),
	.stages = STAGES,
	.stage = { cpl_lookup, cpl_place, cpl_store, cpl_finish },
	.left = cpl_left,
	.aside = cpl_aside,
	.behind = cpl_behind,
};
