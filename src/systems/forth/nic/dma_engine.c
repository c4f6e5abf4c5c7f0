/* SPDX-License-Identifier: Apache-2.0 */
/* Request-queue FSM of the FORTH NIC: outgoing transfers, and the choice
 * between them and incoming packets. Source: forth.md sections 3.4 (states),
 * 3.6 (errors, R-39), 3.7 (arbitration, R-27), 2.6 (software reset, R-41), 11.1
 * (T_DESC, T_UPD).
 *
 * The FSM changes its state in wake-ups only. RdD0, RdD1 and Check are one wait
 * of t_desc cycles. Observers compute from the time which of the three is the
 * present state. Other states depend on the time, too, because the bus reports
 * its work ahead of time. Not modelled: the abort of a transaction that is on
 * the bus when software resets the engine. Such a transaction runs to its end
 * on the bus, without effect. */
#include "systems/forth/nic/nic.h"

const char *const forth_state_name[FORTH_STATES] = {
	[FORTH_NO_PND_OP] = "NoPndOp", [FORTH_RD_D0] = "RdD0",
	[FORTH_RD_D1] = "RdD1",	       [FORTH_CHECK] = "Check",
	[FORTH_RD_REQ] = "RdReq",      [FORTH_SPLIT_WAIT] = "SplitWait",
	[FORTH_RD_DATA] = "RdData",    [FORTH_BM_GEN] = "BmGen",
	[FORTH_RX_WR] = "RxWr",	       [FORTH_NOTIFY] = "Notify",
	[FORTH_UPDT_CNT] = "UpdtCnt",
};

void forth_engine_enable(struct forth_nic *n)
{
	n->enabled = forth_cell(n, R_CONTROL) & FORTH_CTL_ENABLE &&
		     forth_cell(n, R_COMMAND) & FORTH_CMD_MASTER;
	forth_engine_wake(n, forth_pc(n));
}

/* Returns whether the state that ends at PCI edge `until` has ended. Otherwise
 * wakes the engine at that edge. */
static bool time_is_up(struct forth_nic *n, uint64_t until)
{
	if (forth_pc(n) >= until)
		return true;
	forth_engine_wake(n, until);
	return false;
}

/* ---- one function per state: returns the next state ---- */

static enum forth_state st_no_pnd_op(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	bool in = forth_write_ready(n), out = false;
	uint32_t q = 0;

	forth_voq_unmask(n);
	/* choose round robin among the released queues that are not blocked
	 * (3.7) */
	for (uint32_t i = 0;
	     n->enabled && !rq->orphan && !out && i < n->p.queues; i++) {
		q = (n->rr_queue + i) & (n->p.queues - 1);
		out = n->queue[q].pending && !n->queue[q].masked;
	}
	if (in && (!out || n->last_out)) {
		n->last_out = false;
		forth_write_start(n);
		return FORTH_RX_WR;
	}
	if (!out)
		return FORTH_NO_PND_OP;
	n->last_out = true;
	n->rr_queue = q + 1;
	rq->queue = q;
	rq->since = forth_pc(n);
	rq->until = rq->since + n->p.t_desc;
	if (weft_heard(n->comp) && n->trace) {
		rq->trace = n->trace[q * n->depth + n->queue[q].head];
		forth_mark(n, rq->trace, "waits for the engine", rq->since);
	}
	return FORTH_RD_D0;
}

static enum forth_state st_rd_d0(struct forth_nic *n)
{
	return time_is_up(n, n->rq.until) ? FORTH_RD_D1 : FORTH_RD_D0;
}

static enum forth_state st_rd_d1(struct forth_nic *n)
{
	const struct forth_queue *q = &n->queue[n->rq.queue];
	const uint64_t *d = n->qmem + 4 * (n->rq.queue * n->depth + q->head);

	n->rq.q0 = d[0] | d[1] << 32;
	n->rq.q1 = d[2] | d[3] << 32;
	return FORTH_CHECK;
}

/* Ends the read of a transfer whose last datum moved at edge `done`. Returns
 * the next state. */
static enum forth_state rq_finish(struct forth_nic *n, uint64_t done)
{
	n->rq.done = done;
	n->rq.until = done + n->p.t_upd;
	n->rq.notified = false;
	if (n->p.lnotify_at == LNOTIFY_READ && n->rq.q1 & FORTH_DESC_LNOTIFY)
		return FORTH_NOTIFY;
	return FORTH_UPDT_CNT;
}

static void rq_submit(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	uint32_t mmrbc = forth_cell(n, R_PCIX_CMD) & FORTH_PCIX_CMD_MMRBC_MASK;

	rq->txn = (struct weft_bus_txn){
		.op = WEFT_BUS_READ,
		.addr = rq->q0 & ~7ull,
		.bytes = rq->qwords * 8,
		.data = rq->data,
		.max_request = 512u << (mmrbc >> FORTH_PCIX_CMD_MMRBC_SHIFT),
		.latency_timer = forth_cell(n, R_LATENCY),
		.trace_id = rq->trace,
	};
	rq->active = true;
	forth_perf_req(n, DIR_H2N, forth_pc(n));
	weft_bus_of(n->bus)->submit(n->bus, &rq->txn);
}

static enum forth_state rq_begin(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	uint8_t *p;

	forth_log(n, LOG_ENGINE, LOG_START, rq->queue);
	forth_mark(n, rq->trace, "reads the descriptor", forth_pc(n));
	forth_trace_voq(n, rq->voq);
	rq->error = false;
	rq->spoilt = false;
	rq->cut = 0;
	rq->phase = PHASE_NONE;
	rq->data_from = UINT64_MAX;
	rq->data = weft_slice_new(n->comp->sim, rq->qwords * 8);
	if (n->p.lnotify_at == LNOTIFY_DEPARTED)
		rq->seq = forth_track_add(n, rq->queue,
					  rq->q1 & FORTH_DESC_LNOTIFY);
	if (!(forth_bench_mode(n) & FORTH_BENCH_ZERO)) {
		rq_submit(n);
		return FORTH_RD_REQ;
	}
	p = weft_slice_data(rq->data);
	if (p)
		memset(p, 0, rq->qwords * 8);
	forth_voq_feed(n, 0, rq->qwords, forth_pc(n), !n->p.voqs);
	rq->until = forth_pc(n) + rq->qwords;
	return FORTH_BM_GEN;
}

static enum forth_state st_check(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	uint32_t flow = forth_desc_flow(rq->q1);

	rq->qwords = forth_desc_qwords(rq->q1);
	if (!n->enabled || !n->queue[rq->queue].pending)
		return FORTH_NO_PND_OP;
	if (!rq->qwords || rq->qwords > FORTH_SIZE_MAX || flow >= n->p.flows) {
		/* nothing is transferred, but the head advances and the
		 * notification is sent */
		rq->error = true;
		*weft_reg_cell(n->comp, R_DESC_ERR, 0) += 1;
		weft_count(n->comp, C_DESC_ERR, 1);
		forth_log(n, LOG_ENGINE, LOG_ERROR, rq->queue);
		return rq_finish(n, forth_pc(n));
	}
	rq->voq = n->p.voqs ? flow : 0;
	if (!forth_voq_reserve(n, rq->voq, rq->qwords)) {
		n->queue[rq->queue].masked = true;
		n->queue[rq->queue].voq = rq->voq;
		n->queue[rq->queue].need = rq->qwords;
		n->n_masked++;
		forth_log(n, LOG_ENGINE, LOG_STALL, rq->queue);
		weft_count(n->comp, C_NO_ROOM, 1);
		return FORTH_NO_PND_OP;
	}
	return rq_begin(n);
}

/* Wakes the engine for the end of the read, which the bus has reported ahead of
 * time. The engine wakes when the read ends if a notification follows or
 * software has reset the engine. Otherwise the engine wakes at the end of
 * UpdtCnt, because nothing happens between the end of the read and the end of
 * UpdtCnt. */
static void rq_wake_done(struct forth_nic *n)
{
	const struct forth_rq *rq = &n->rq;
	bool notify =
		n->p.lnotify_at == LNOTIFY_READ && rq->q1 & FORTH_DESC_LNOTIFY;

	forth_engine_wake(n,
			  rq->ends + (notify || rq->orphan ? 0 : n->p.t_upd));
}

static bool rq_over(struct forth_nic *n)
{
	if (n->rq.phase != PHASE_DONE)
		return false;
	if (forth_pc(n) >= n->rq.ends)
		return true;
	rq_wake_done(n);
	return false;
}

/* Returns the reading state that the last report of the bus implies, or the
 * next state if the read has ended. */
static enum forth_state st_reading(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;

	if (!rq_over(n))
		return forth_pc(n) < rq->data_from ? rq->state : FORTH_RD_DATA;
	if (!forth_dma_failed(n, &rq->txn))
		return rq_finish(n, rq->ends);
	forth_voq_abandon(n);
	rq->error = true;
	return rq_finish(n, forth_pc_of(n, rq->txn.t_done));
}

/* Wakes the engine at the start of the split wait if a write is pending,
 * because the write may start then. */
static void wake_for_gap(struct forth_nic *n)
{
	uint64_t at = forth_write_at(n);

	if (at != UINT64_MAX && n->p.rw_overlap)
		forth_engine_offer(n, at);
}

/* During the split wait, starts a pending write, because the bus is free until
 * the completion of the read. */
static enum forth_state st_split_wait(struct forth_nic *n)
{
	uint64_t now = forth_pc(n);

	if (n->p.rw_overlap && now < n->rq.split_from) {
		wake_for_gap(n);
	} else if (n->p.rw_overlap && now < n->rq.data_from &&
		   forth_write_ready(n)) {
		n->last_out = false;
		weft_count(n->comp, C_GAP_WRITES, 1);
		forth_write_start(n);
	}
	return st_reading(n);
}

static enum forth_state st_bm_gen(struct forth_nic *n)
{
	if (!time_is_up(n, n->rq.until))
		return FORTH_BM_GEN;
	return rq_finish(n, n->rq.until);
}

/* Returns RxWr until the write that was started from NoPndOp has ended. */
static enum forth_state st_rx_wr(struct forth_nic *n)
{
	return n->wr.state == FORTH_NO_PND_OP ? FORTH_NO_PND_OP : FORTH_RX_WR;
}

/* Writes the local notification of a transfer before the transfer ends, as the
 * tr-* presets do. */
static enum forth_state st_notify(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	struct forth_queue *q = &n->queue[rq->queue];
	uint32_t next = (q->head + 1) & (n->depth - 1);

	if (n->wr.state != FORTH_NO_PND_OP || n->wr.orphan)
		return FORTH_NOTIFY;
	if (!rq->notified) {
		rq->notified = true;
		forth_write_notify(
			n, rq->queue,
			forth_lnotify_pack(next, rq->queue, q->departed + 1));
		n->wr.for_rq = true;
		return FORTH_NOTIFY;
	}
	rq->until = forth_pc(n) + n->p.t_upd;
	return FORTH_UPDT_CNT;
}

static enum forth_state st_updt_cnt(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	struct forth_queue *q = &n->queue[rq->queue];

	if (!time_is_up(n, rq->until))
		return FORTH_UPDT_CNT;
	if (n->p.lnotify_at == LNOTIFY_READ) {
		q->departed++;
	} else if (rq->error) {
		if (!rq->active)
			rq->seq = forth_track_add(n, rq->queue,
						  rq->q1 & FORTH_DESC_LNOTIFY);
		forth_track_done(n, rq->queue, rq->seq, forth_pc(n));
	}
	if (rq->active)
		forth_perf_add(n, PERF_H2N_REQ, rq->txn.tenures);
	if (rq->active || !rq->error)
		forth_perf_end(n, DIR_H2N, rq->done, forth_pc(n));
	rq->active = false;
	weft_slice_drop(&rq->data);
	weft_msg_end(n->comp, rq->trace, false);
	rq->trace = 0;
	if (!rq->error) {
		forth_perf_add(n, PERF_H2N_DMA_OPS, 1);
		weft_count(n->comp, C_TRANSFERS, 1);
		weft_count(n->comp, C_QWORDS_OUT, rq->qwords);
	}
	forth_log(n, LOG_ENGINE, LOG_STOP, rq->queue);
	/* the queue may be empty, because software may have reset its pointers
	 * during the transfer */
	if (q->pending) {
		q->head = (q->head + 1) & (n->depth - 1);
		q->pending--;
	}
	return FORTH_NO_PND_OP;
}

static enum forth_state (*const st_step[FORTH_STATES])(struct forth_nic *) = {
	[FORTH_NO_PND_OP] = st_no_pnd_op, [FORTH_RD_D0] = st_rd_d0,
	[FORTH_RD_D1] = st_rd_d1,	  [FORTH_CHECK] = st_check,
	[FORTH_RD_REQ] = st_reading,	  [FORTH_SPLIT_WAIT] = st_split_wait,
	[FORTH_RD_DATA] = st_reading,	  [FORTH_BM_GEN] = st_bm_gen,
	[FORTH_RX_WR] = st_rx_wr,	  [FORTH_NOTIFY] = st_notify,
	[FORTH_UPDT_CNT] = st_updt_cnt,
};

/* Steps both halves of the engine until neither half can make a step. The write
 * half makes all its steps first, because the choice between incoming and
 * outgoing work must see the present state of the write half. The wake-up of
 * the write half does not ensure this, because it may come as late as the end
 * of UpdtCnt (wr_wake_done). */
void forth_engine_run(struct forth_nic *n)
{
	bool moved;

	/* finish transactions that a software reset left on the bus */
	if (n->wr.orphan)
		forth_write_orphan(n);
	if (n->rq.orphan && rq_over(n)) {
		n->rq.orphan = false;
		weft_slice_drop(&n->rq.txn.data);
	}
	/* an unexpected completion sets the status bit when the completion
	 * ends. The data of the completion are dropped */
	if (n->stray && forth_pc(n) < n->stray) {
		forth_engine_wake(n, n->stray);
	} else if (n->stray) {
		n->stray = 0;
		*weft_reg_cell(n->comp, R_PCIX_STATUS, 0) |=
			FORTH_PCIX_STATUS_UNEXPECTED;
	}
	forth_reseq_run(n);
	do {
		enum forth_state next;

		for (moved = false; forth_write_run(n);)
			moved = true;
		next = st_step[n->rq.state](n);
		moved |= next != n->rq.state;
		if (next != n->rq.state)
			weft_state(n->comp, "engine", forth_state_name[next],
				   weft_now(n->comp));
		n->rq.state = next;
	} while (moved);
}

/* ---- from the bus and from software ---- */

void forth_engine_note(struct forth_nic *n, const struct weft_bus_note *note)
{
	struct forth_rq *rq = &n->rq;
	uint32_t first = note->offset / 8;
	uint64_t pc = forth_pc_of(n, note->time);

	forth_perf_note(n, DIR_H2N, note);
	if (note->kind == WEFT_NOTE_DONE) {
		rq->phase = PHASE_DONE;
		rq->ends = pc;
		if (note->wrong == WEFT_BUS_E_REPEAT) {
			/* a split completion that no request of this NIC
			 * expects */
			n->stray = forth_pc_of(n, note->data_end);
			forth_engine_wake(n, n->stray);
		}
		rq_wake_done(n);
	} else if (rq->orphan) {
		return;
	} else if (note->kind == WEFT_NOTE_SPLIT) {
		rq->phase = PHASE_SPLIT;
		rq->state = FORTH_SPLIT_WAIT;
		weft_state(n->comp, "engine", "SplitWait", note->time);
		rq->split_from = pc;
		rq->data_from = UINT64_MAX;
		wake_for_gap(n);
	} else {
		rq->phase = PHASE_DATA;
		if (pc < rq->data_from)
			rq->data_from = pc;
		weft_state(n->comp, "engine", "RdData", note->time);
		rq->spoilt |= note->wrong && forth_minds_parity(n);
		if (rq->spoilt) /* data of wrong parity must not be sent */
			return;
		forth_voq_feed(n, first, first + note->bytes / 8, pc, true);
	}
}

/* Handles control bit 4: empties the FIFOs and makes the FSMs idle. Credits of
 * dropped packets return, and all registers keep their values. */
void forth_engine_reset(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	bool on_bus = rq->active && !rq->orphan &&
		      (rq->phase != PHASE_DONE || forth_pc(n) < rq->ends);

	weft_count(n->comp, C_RESETS, 1);
	if (rq->active)
		forth_perf_end(n, DIR_H2N, forth_pc(n), forth_pc(n));
	rq->active = false;
	/* keep the reference in txn.data until the transaction on the bus has
	 * ended */
	if (on_bus)
		rq->orphan = true;
	else
		weft_slice_drop(&rq->data);
	rq->data = (struct weft_slice){ 0 };
	rq->state = FORTH_NO_PND_OP;
	n->insert_free = 0;
	forth_write_reset(n);
	forth_voq_reset(n);
	for (uint32_t i = 0; i < n->p.queues; i++) {
		n->queue[i].masked = false;
		ring_clear(&n->queue[i].track);
	}
	ring_clear(&n->lnotify);
	ring_clear(&n->deliver);
	forth_engine_wake(n, forth_pc(n));
}
