/* SPDX-License-Identifier: Apache-2.0 */
/* PCI-X: transactions of devices.  Rules and formulas: top of pcix.c. */
#include "host/pcix.h"

#include <assert.h>

void pcix_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct pcix *b = dev_port->peer->comp->state;
	struct pcix_dev *dev = &b->dev[dev_port->peer->index - 1];
	uint64_t edge = pcix_edge_next(b);

	assert(t->bytes && t->bytes % b->width == 0);
	t->status = WEFT_BUS_OK;
	t->t_req = pcix_time(b, edge);
	t->t_done = 0;
	t->tenures = t->splits = t->moved = 0;
	/* One read and one write of a device at a time. */
	if (t->op == WEFT_BUS_READ) {
		assert(!dev->rd && edge >= dev->rd_busy);
		dev->rd = t;
		dev->rd_ready = edge;
	} else {
		assert(!dev->wr && edge >= dev->wr_busy);
		dev->wr = t;
		dev->wr_ready = edge;
	}
	pcix_kick(b);
}

static uint32_t dac(const struct pcix *b, const struct weft_bus_txn *t)
{
	return (t->addr + t->moved) >> 32 ? b->t_dac : 0;
}

static bool decoded(const struct pcix *b, const struct weft_bus_txn *t,
		    uint32_t bytes)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;

	return host->decode(b->host->peer, t->addr + t->moved, bytes);
}

/* Clocks that a slow bridge takes longer for what takes it so many. */
static uint64_t slower(const struct weft_bus_txn *t, uint32_t clocks)
{
	if (t->slow_factor <= 1)
		return 0;
	return (uint64_t)((t->slow_factor - 1) * clocks + 0.5);
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static struct weft_slice piece(const struct weft_bus_txn *t, uint32_t bytes)
{
	if (!t->data.buf)
		return (struct weft_slice){ .len = bytes };
	return weft_slice_sub(t->data, t->moved, bytes);
}

/* NOTE_DONE at edge `end`; the transaction goes back to the device. */
static void done(struct pcix *b, struct pcix_dev *dev, struct weft_bus_txn *t,
		 uint64_t end)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .time = pcix_time(b, end),
				      .txn = t,
				      .last = true };

	t->t_done = note.time;
	if (t->op == WEFT_BUS_READ) {
		dev->rd = NULL;
		dev->rd_ready = PCIX_NEVER;
		dev->rd_busy = end;
	} else {
		dev->wr = NULL;
		dev->wr_ready = PCIX_NEVER;
		dev->wr_busy = end;
	}
	weft_bus_tell(dev->port, &note);
}

static void aborted(struct pcix *b, struct pcix_dev *dev,
		    struct weft_bus_txn *t, uint64_t d)
{
	uint64_t len = b->t_arb + b->t_ph + dac(b, t) + b->t_abort;

	t->tenures++;
	t->status = WEFT_BUS_MASTER_ABORT;
	weft_count(b->comp, PCIX_C_ABORTS, 1);
	pcix_occupy(b, d, len);
	done(b, dev, t, d + len);
}

/* Data of one tenure, or of a part of it: tells device and memory. */
static uint64_t burst(struct pcix *b, struct pcix_dev *dev,
		      struct weft_bus_txn *t, uint32_t bytes, uint64_t frame,
		      uint64_t start, bool timer)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;
	uint64_t end = start + pcix_beats(b, bytes);
	bool read = t->op == WEFT_BUS_READ;
	struct weft_bus_note mem = {
		.kind = read ? WEFT_NOTE_MEM_READ : WEFT_NOTE_MEM_WRITE,
		.time = pcix_time(b, read ? frame : end),
		.off = t->addr + t->moved,
		.bytes = bytes,
		.dev = (uint32_t)(dev - b->dev),
		.lazy = dev->port->peer->told && host->settle,
		.slice = piece(t, bytes),
	};
	struct weft_bus_note note = {
		.kind = WEFT_NOTE_BURST,
		.time = pcix_time(b, start),
		.txn = t,
		.frame = pcix_time(b, frame),
		.data_end = pcix_time(b, end),
		.offset = t->moved,
		.bytes = bytes,
		.last = t->moved + bytes == t->bytes,
		.timer = timer,
	};

	weft_bus_tell(b->host, &mem);
	weft_bus_tell(dev->port, &note);
	weft_count(b->comp, read ? PCIX_C_READ_BYTES : PCIX_C_WRITE_BYTES,
		   bytes);
	t->moved += bytes;
	return end;
}

/* ---- writes ----------------------------------------------------------------
 */

/* A write tenure has moved its last datum at edge `end`. */
static void write_end(struct pcix *b, struct pcix_dev *dev, uint64_t end,
		      bool timer)
{
	struct weft_bus_txn *t = dev->wr;

	if (t->moved == t->bytes) {
		done(b, dev, t, end);
		return;
	}
	/* The next address phase comes T_DISC later at the earliest. */
	dev->wr_ready = end +
			(b->t_disc > b->t_arb ? b->t_disc - b->t_arb : 0) +
			slower(t, b->t_disc);
	weft_count(b->comp, timer ? PCIX_C_TIMER_CUTS : PCIX_C_DISCONNECTS, 1);
}

/* Bytes from the start of a tenure to the first block that starts after the
 * timer has run out; all of them when there is none. */
static uint32_t uncut(const struct pcix *b, const struct weft_bus_txn *t,
		      uint32_t bytes, uint64_t start, uint64_t expiry)
{
	uint32_t n = PCIX_ADB - (uint32_t)((t->addr + t->moved) % PCIX_ADB);

	while (n < bytes && start + pcix_beats(b, n) <= expiry)
		n += PCIX_ADB;
	return least(n, bytes);
}

void pcix_write_grant(struct pcix *b, uint32_t i, uint64_t d)
{
	struct pcix_dev *dev = &b->dev[i];
	struct weft_bus_txn *t = dev->wr;
	uint32_t n = least(t->bytes - t->moved, b->wr_chunk), sure = n;
	uint64_t frame = d + b->t_arb, start, end;

	dev->wr_ready = PCIX_NEVER;
	if (!decoded(b, t, n)) {
		aborted(b, dev, t, d);
		return;
	}
	t->tenures++;
	weft_count(b->comp, PCIX_C_WRITES, 1);
	start = frame + b->t_ph + dac(b, t);
	if (t->latency_timer)
		sure = uncut(b, t, n, start, frame + t->latency_timer);
	end = burst(b, dev, t, sure, frame, start, false);
	pcix_occupy(b, d, end - d);
	if (sure == n) {
		write_end(b, dev, end, false);
		return;
	}
	b->tenure = (struct pcix_tenure){ .dev = i,
					  .frame = frame,
					  .expiry = frame + t->latency_timer,
					  .next = end,
					  .left = n - sure };
	weft_wake(b->comp, PCIX_EV_BLOCK, pcix_time(b, end - 1) + 1);
}

static bool others_wait(const struct pcix *b, uint32_t dev, uint64_t edge)
{
	for (uint32_t m = 0; m < PCIX_M_DEVICES + 2 * b->devices; m++)
		if ((m < PCIX_M_DEVICES || (m - PCIX_M_DEVICES) / 2 != dev) &&
		    pcix_ready(b, m) <= edge)
			return true;
	return false;
}

/* One clock before a 128-byte block starts, timer run out: is it the last? */
void pcix_block(struct pcix *b)
{
	struct pcix_tenure *tn = &b->tenure;
	struct pcix_dev *dev = &b->dev[tn->dev];
	bool cut = others_wait(b, tn->dev, tn->next - 1);
	uint32_t n = least(tn->left, PCIX_ADB);
	bool timer = cut && n < tn->left;
	uint64_t end = burst(b, dev, dev->wr, n, tn->frame, tn->next, timer);

	pcix_occupy(b, tn->next, end - tn->next);
	tn->left -= n;
	tn->next = end;
	if (tn->left && !timer) {
		weft_wake(b->comp, PCIX_EV_BLOCK, pcix_time(b, end - 1) + 1);
		return;
	}
	tn->left = 0;
	write_end(b, dev, end, timer);
	pcix_kick(b);
}

/* ---- reads ------------------------------------------------------------------
 */

static void split_push(struct pcix *b, uint32_t dev, uint64_t ready)
{
	uint32_t i = (b->split_head + b->n_split++) % b->devices;

	assert(b->n_split <= b->devices);
	b->split[i] = (struct pcix_split){ .dev = dev, .ready = ready };
}

void pcix_read_grant(struct pcix *b, uint32_t i, uint64_t d)
{
	struct pcix_dev *dev = &b->dev[i];
	struct weft_bus_txn *t = dev->rd;
	uint64_t resp = d + b->t_arb + b->t_ph + dac(b, t);
	struct weft_bus_note note = { .kind = WEFT_NOTE_SPLIT,
				      .time = pcix_time(b, resp),
				      .frame = pcix_time(b, d + b->t_arb),
				      .txn = t,
				      .offset = t->moved };

	dev->rd_ready = PCIX_NEVER;
	note.bytes = t->bytes - t->moved;
	if (t->max_request)
		note.bytes = least(note.bytes, t->max_request);
	if (!decoded(b, t, note.bytes)) {
		aborted(b, dev, t, d);
		return;
	}
	t->tenures++;
	t->splits++;
	weft_count(b->comp, PCIX_C_READS, 1);
	pcix_occupy(b, d, resp - d);
	weft_bus_tell(dev->port, &note);
	dev->seq_left = note.bytes;
	/* T_SPLIT ends at the first datum: gap and phases are inside. */
	split_push(b, i,
		   resp + b->t_split + slower(t, b->t_split) + t->slow_split -
			   b->t_gap - b->t_ph);
}

void pcix_completion_grant(struct pcix *b, uint64_t d)
{
	struct pcix_split *s = &b->split[b->split_head];
	struct pcix_dev *dev = &b->dev[s->dev];
	struct weft_bus_txn *t = dev->rd;
	uint32_t n = least(dev->seq_left, b->sc_chunk);
	uint64_t frame = d + b->t_gap;
	uint64_t end = burst(b, dev, t, n, frame, frame + b->t_ph, false);

	weft_count(b->comp, PCIX_C_COMPLETIONS, 1);
	pcix_occupy(b, d, end - d);
	dev->seq_left -= n;
	if (dev->seq_left) {
		s->ready = end + slower(t, b->t_gap) + t->slow_next;
		return;
	}
	b->split_head = (b->split_head + 1) % b->devices;
	b->n_split--;
	if (t->moved == t->bytes)
		done(b, dev, t, end);
	else
		dev->rd_ready = end;
}
