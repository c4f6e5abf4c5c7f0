/* SPDX-License-Identifier: Apache-2.0 */
/* The incoming half of the FORTH NIC's engine: received packets, remote and
 * local notifications, one write to memory at a time. Source: forth.md sections
 * 3.4 (RxWr, Notify), 3.7, 3.8, 2.3 (interrupt flag), 7.4.
 *
 * A waiting local notification goes first, then a remote one, then a packet.
 * The FIFOs of the links are served round robin (our choice, because the text
 * does not say). After the write of a packet the engine handles the
 * notifications and interrupts that the packet has released. */
#include "systems/forth/nic/nic.h"

uint64_t forth_write_at(const struct forth_nic *n)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t k = 0; k < n->n_link; k++)
		if (!ring_empty(&n->fifo[k].q) &&
		    ring_front(&n->fifo[k].q)->ready < at)
			at = ring_front(&n->fifo[k].q)->ready;
	if (!ring_empty(&n->deliver) && ring_front(&n->deliver)->at < at)
		at = ring_front(&n->deliver)->at;
	if (!ring_empty(&n->lnotify) && ring_front(&n->lnotify)->at < at)
		at = ring_front(&n->lnotify)->at;
	return at;
}

bool forth_write_ready(struct forth_nic *n)
{
	uint64_t at = forth_write_at(n);

	if (at == UINT64_MAX || n->wr.state != FORTH_NO_PND_OP ||
	    n->wr.orphan || !n->enabled)
		return false;
	if (at <= forth_pc(n))
		return true;
	forth_engine_wake(n, at);
	return false;
}

static void wr_submit(struct forth_nic *n, weft_phys_t addr, uint32_t bytes,
		      struct weft_slice data, uint64_t trace)
{
	struct forth_wr *w = &n->wr;

	w->phase = PHASE_NONE;
	w->txn = (struct weft_bus_txn){
		.op = WEFT_BUS_WRITE,
		.addr = addr & ~7ull,
		.bytes = bytes,
		.data = data,
		.latency_timer = forth_cell(n, R_LATENCY),
		.trace_id = trace,
	};
	weft_bus_of(n->bus)->submit(n->bus, &w->txn);
}

/* Writes one qword to memory. txn.data owns the reference to the slice that
 * holds the qword. */
static void wr_word(struct forth_nic *n, weft_phys_t addr, uint64_t word,
		    uint64_t trace)
{
	struct weft_slice s = weft_slice_word(n->comp->sim, 8);

	memcpy(weft_slice_data(s), &word, 8);
	wr_submit(n, addr, 8, s, trace);
}

static uint64_t address_of(struct forth_nic *n, enum forth_reg lo)
{
	return forth_cell(n, lo) | (uint64_t)forth_cell(n, lo + 1) << 32;
}

void forth_write_notify(struct forth_nic *n, uint32_t q, uint64_t word)
{
	struct forth_wr *w = &n->wr;

	w->job = JOB_LNOTIFY;
	w->state = FORTH_NOTIFY;
	w->for_rq = w->aborted = w->irq = false;
	wr_word(n, address_of(n, R_LNOTIFY_LO) + 8 * q, word, 0);
}

static void wr_packet(struct forth_nic *n)
{
	struct forth_wr *w = &n->wr;
	uint64_t now = forth_pc(n);
	struct forth_fifo *q;

	/* choose the next FIFO, round robin, that has a ready packet. The
	 * caller has checked that one FIFO has such a packet */
	do {
		q = &n->fifo[n->rr_fifo];
		n->rr_fifo = (n->rr_fifo + 1) % n->n_link;
	} while (ring_empty(&q->q) || ring_front(&q->q)->ready > now);
	w->rx = *ring_front(&q->q);
	ring_pop(&q->q);
	w->job = JOB_PACKET;
	w->state = FORTH_RX_WR;
	w->for_rq = w->aborted = w->irq = false;
	w->drained = 0;
	w->burst_end = now;
	forth_log(n, LOG_WRITE, LOG_START, w->rx.link);
	forth_mark(n, w->rx.trace, "waits for the engine", now);
	/* the header has left the FIFO, which returns 2 / width link words as
	 * credits (5.2) */
	n->fifo[w->rx.link].used--;
	w->credited = 2 / n->width;
	if (w->credited)
		forth_port_fwd(forth_rx_end(n, &w->rx), 0, w->credited,
			       weft_now(n->comp));
	forth_perf_req(n, DIR_N2H, now);
	if (w->rx.qwords && !forth_is_announce(n, w->rx.hdr)) {
		wr_submit(n, forth_hdr_addr(w->rx.hdr), w->rx.qwords * 8,
			  w->rx.data, w->rx.trace);
		return;
	}
	/* do not write: the payload was lost, or the packet only announces a
	 * count */
	w->txn = (struct weft_bus_txn){ .data = w->rx.data,
					.t_done = weft_now(n->comp) };
	w->phase = PHASE_DONE;
	w->ends = now;
	forth_netif_rest_out(n, now);
}

/* Wakes the engine for the end of the write, which the bus has reported ahead
 * of time. The engine wakes at that end if a notification follows or the
 * outgoing half waits for the write, otherwise after UpdtCnt. */
static void wr_wake_done(struct forth_nic *n)
{
	const struct forth_wr *w = &n->wr;
	bool next = w->for_rq || n->multi || w->orphan ||
		    (w->state == FORTH_RX_WR &&
		     w->rx.hdr & FORTH_HDR_REMOTE_NOTIFY);

	forth_engine_wake(n, w->ends + (next ? 0 : n->p.t_upd));
}

static bool wr_over(struct forth_nic *n)
{
	if (n->wr.phase != PHASE_DONE)
		return false;
	if (forth_pc(n) >= n->wr.ends)
		return true;
	wr_wake_done(n);
	return false;
}

/* ---- states: each returns the next one ---- */

static enum forth_state wr_update(struct forth_nic *n)
{
	n->wr.until = forth_pc_of(n, n->wr.txn.t_done) + n->p.t_upd;
	return FORTH_UPDT_CNT;
}

/* Handles the notifications and interrupts that are due. Starts the write of
 * one notification word, and requests that an interrupt follows the end of this
 * write. Returns the next state. */
static enum forth_state wr_deliver(struct forth_nic *n)
{
	while (!ring_empty(&n->deliver) &&
	       ring_front(&n->deliver)->at <= forth_pc(n)) {
		struct forth_deliver d = *ring_front(&n->deliver);
		uint32_t flow = forth_hdr_flow(d.hdr);

		ring_pop(&n->deliver);
		if (!(d.hdr & FORTH_HDR_REMOTE_NOTIFY))
			weft_msg_end(n->comp, d.trace, true);
		n->wr.irq |= (d.hdr & FORTH_HDR_REMOTE_IRQ) != 0;
		if (!(d.hdr & FORTH_HDR_REMOTE_NOTIFY))
			continue;
		forth_log(n, LOG_WRITE, LOG_NOTIFY, flow);
		n->rnotify_count++;
		wr_word(n, address_of(n, R_RNOTIFY_LO),
			forth_rnotify_pack(n->rnotify_count, flow, d.bad) |
				forth_rnotify_from(d.src, d.group, d.loss),
			d.trace);
		return FORTH_NOTIFY;
	}
	return wr_update(n);
}

void forth_write_start(struct forth_nic *n)
{
	struct forth_lnotify l;

	if (!ring_empty(&n->lnotify) &&
	    ring_front(&n->lnotify)->at <= forth_pc(n)) {
		l = *ring_front(&n->lnotify);
		ring_pop(&n->lnotify);
		forth_write_notify(n, l.queue, l.word);
	} else if (!ring_empty(&n->deliver) &&
		   ring_front(&n->deliver)->at <= forth_pc(n)) {
		n->wr.job = JOB_DELIVER;
		n->wr.for_rq = n->wr.aborted = n->wr.irq = false;
		n->wr.txn.t_done = weft_now(n->comp);
		n->wr.state = wr_deliver(n);
	} else {
		wr_packet(n);
	}
	weft_state(n->comp, "write", forth_state_name[n->wr.state],
		   weft_now(n->comp));
}

static enum forth_state wr_rx_wr(struct forth_nic *n)
{
	struct forth_wr *w = &n->wr;
	const struct forth_rx *rx = &w->rx;

	if (!wr_over(n))
		return FORTH_RX_WR;
	forth_netif_gone(n, &w->rx);
	w->done = forth_pc_of(n, w->txn.t_done);
	w->requests = w->txn.tenures;
	weft_slice_drop(&w->rx.data);
	if (forth_dma_failed(n, &w->txn)) {
		forth_netif_rest_out(n, forth_pc(n));
		w->aborted = true;
	}
	if (n->reseq) {
		forth_reseq_written(n, rx, w->aborted);
	} else if (n->multi) {
		if (!w->aborted)
			forth_group_written(n, rx);
	} else if (!w->aborted && !(rx->bad && n->p.suppress_bad_body_notify) &&
		   rx->hdr & (FORTH_HDR_REMOTE_NOTIFY | FORTH_HDR_REMOTE_IRQ)) {
		/* on a single path a packet notifies as soon as it is in
		 * memory */
		*ring_push(&n->deliver) = (struct forth_deliver){
			.hdr = rx->hdr,
			.at = forth_pc(n),
			.bad = rx->bad,
			.trace = rx->trace,
		};
		return wr_deliver(n);
	}
	weft_msg_end(n->comp, rx->trace, true);
	return wr_deliver(n);
}

static enum forth_state wr_notify(struct forth_nic *n)
{
	struct forth_wr *w = &n->wr;
	bool local = w->job == JOB_LNOTIFY;

	if (!wr_over(n))
		return FORTH_NOTIFY;
	weft_slice_drop(&w->txn.data);
	if (!forth_dma_failed(n, &w->txn)) {
		forth_perf_add(
			n, local ? PERF_LOCAL_NOTIFY : PERF_REMOTE_NOTIFY, 1);
		weft_count(n->comp, local ? C_LNOTIFY : C_RNOTIFY, 1);
	}
	weft_msg_end(n->comp, w->txn.trace_id, true);
	if (w->for_rq)
		return FORTH_NO_PND_OP;
	return local ? wr_update(n) : wr_deliver(n);
}

static enum forth_state wr_updt_cnt(struct forth_nic *n)
{
	struct forth_wr *w = &n->wr;

	if (forth_pc(n) < w->until) {
		forth_engine_wake(n, w->until);
		return FORTH_UPDT_CNT;
	}
	if (w->job == JOB_PACKET) {
		forth_perf_add(n, PERF_N2H_REQ, w->requests);
		forth_perf_end(n, DIR_N2H, w->done, forth_pc(n));
	}
	if (w->job == JOB_PACKET && !w->aborted) {
		forth_perf_add(n, PERF_N2H_DMA_OPS, 1);
		weft_count(n->comp, C_QWORDS_IN, w->rx.qwords);
		forth_log(n, LOG_WRITE, LOG_STOP, w->rx.link);
	}
	if (w->irq)
		forth_irq_set(n);
	return FORTH_NO_PND_OP;
}

/* Makes one step. Returns whether the state has changed. */
bool forth_write_run(struct forth_nic *n)
{
	enum forth_state s = n->wr.state;

	if (s == FORTH_NO_PND_OP)
		return false;
	n->wr.state = s == FORTH_RX_WR	  ? wr_rx_wr(n)
		      : s == FORTH_NOTIFY ? wr_notify(n)
					  : wr_updt_cnt(n);
	if (n->wr.state != s)
		weft_state(n->comp, "write", forth_state_name[n->wr.state],
			   weft_now(n->comp));
	return n->wr.state != s;
}

/* ---- from the bus and from software ---- */

static void wr_burst(struct forth_nic *n, const struct weft_bus_note *note)
{
	uint32_t first = note->offset / 8, count = note->bytes / 8;
	const struct forth_rx *rx = &n->wr.rx;
	uint64_t pc0 = forth_pc_of(n, note->time);

	if (n->wr.job != JOB_PACKET || n->wr.state != FORTH_RX_WR || !count)
		return;
	/* check that Net2Host has each word before the word moves to the bus,
	 * because the initiator cannot wait (4.11) */
	if (forth_rx_word_at(n, rx, first) >
		    weft_clock_edge(&n->pci, pc0 + 1) ||
	    forth_rx_word_at(n, rx, first + count - 1) >
		    weft_clock_edge(&n->pci, pc0 + count)) {
		weft_count(n->comp, C_RX_UNDERRUN, 1);
		weft_check_failed(n->comp, "Net2Host ran empty during a write");
	}
	n->wr.burst_end = forth_pc_of(n, note->data_end);
	forth_netif_words_out(n, first, count, pc0);
	if (first + count == rx->qwords)
		forth_netif_rest_out(n, n->wr.burst_end);
}

void forth_write_note(struct forth_nic *n, const struct weft_bus_note *note)
{
	struct forth_wr *w = &n->wr;

	if (w->state == FORTH_RX_WR)
		forth_perf_note(n, DIR_N2H, note);
	if (note->kind == WEFT_NOTE_BURST)
		wr_burst(n, note);
	if (note->kind == WEFT_NOTE_DONE) {
		w->phase = PHASE_DONE;
		w->ends = forth_pc_of(n, note->time);
		wr_wake_done(n);
	}
}

void forth_write_orphan(struct forth_nic *n)
{
	if (!wr_over(n))
		return;
	n->wr.orphan = false;
	weft_slice_drop(&n->wr.txn.data);
}

void forth_write_reset(struct forth_nic *n)
{
	struct forth_wr *w = &n->wr;
	uint64_t now = forth_pc(n);
	uint64_t from = w->burst_end > now ? w->burst_end : now;

	if (w->state == FORTH_RX_WR) {
		forth_netif_rest_out(n, from);
		forth_netif_gone(n, &w->rx);
		forth_reseq_written(n, &w->rx, true);
	}
	if (w->state == FORTH_RX_WR || w->state == FORTH_NOTIFY) {
		w->orphan = w->phase != PHASE_DONE || now < w->ends;
		if (!w->orphan)
			weft_slice_drop(&w->txn.data);
	}
	w->rx.data = (struct weft_slice){ 0 };
	w->state = FORTH_NO_PND_OP;
	forth_netif_flush(n, from);
}
