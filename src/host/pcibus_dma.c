/* SPDX-License-Identifier: Apache-2.0 */
/* PCI and PCI-X: transactions of devices. The sequence of a read is in pcix.c
 * and pci.c, because it differs between the two classes. Rules and formulas:
 * top of these two files. */
#include "host/pcibus.h"

#include <assert.h>

void pcibus_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct pcibus *b;
	struct pcibus_dev *dev = pcibus_dev_of(dev_port, &b);
	uint64_t edge = pcibus_edge_next(b);

	assert(t->bytes);
	t->status = WEFT_BUS_OK;
	t->t_req = pcibus_time(b, edge);
	t->t_done = 0;
	t->tenures = t->splits = t->moved = 0;
	/* A device has at most one read and one write in flight. */
	if (t->op == WEFT_BUS_READ) {
		assert(!dev->rd && edge >= dev->rd_busy);
		dev->rd = t;
		dev->rd_ready = edge;
		dev->delayed.until = 0;
	} else {
		assert(!dev->wr && edge >= dev->wr_busy);
		dev->wr = t;
		dev->wr_ready = edge;
	}
	pcibus_kick(b);
}

/* Checks the error first, because a bridge that cannot trust the address does
 * not touch memory. */
enum weft_bus_status pcibus_answer(const struct pcibus *b,
				   const struct weft_bus_txn *t, uint32_t bytes)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;

	if (t->error == WEFT_BUS_E_ADDRESS || t->error == WEFT_BUS_E_TARGET)
		return WEFT_BUS_TARGET_ABORT;
	if (t->error == WEFT_BUS_E_MASTER ||
	    !host->decode(b->host->peer, t->addr + t->moved, bytes))
		return WEFT_BUS_MASTER_ABORT;
	return WEFT_BUS_OK;
}

void pcibus_done(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint64_t end)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .time = pcibus_time(b, end),
				      .txn = t,
				      .last = true };

	t->t_done = note.time;
	if (t->error == WEFT_BUS_E_REPEAT) {
		note.wrong = WEFT_BUS_E_REPEAT;
		note.data_end = pcibus_time(b, b->free_at);
	}
	if (t->op == WEFT_BUS_READ) {
		dev->rd = NULL;
		dev->rd_ready = PCIBUS_NEVER;
		dev->rd_busy = end;
	} else {
		dev->wr = NULL;
		dev->wr_ready = PCIBUS_NEVER;
		dev->wr_busy = end;
	}
	weft_bus_tell(dev->port, &note);
}

void pcibus_aborted(struct pcibus *b, struct pcibus_dev *dev,
		    struct weft_bus_txn *t, uint64_t d,
		    enum weft_bus_status status)
{
	uint64_t len = b->p.t_arb + b->p.t_ph + pcibus_dac(b, t);

	if (status == WEFT_BUS_MASTER_ABORT)
		/* the tenure lasts until the master gives up */
		len += b->p.t_abort;
	t->tenures++;
	t->status = status;
	weft_count(b->comp, PCIBUS_C_ABORTS, 1);
	pcibus_occupy(b, d, len);
	pcibus_done(b, dev, t, d + len);
}

void pcibus_mem_tell(struct pcibus *b, struct pcibus_dev *dev,
		     const struct weft_bus_txn *t, uint32_t bytes,
		     weft_time_t time)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;
	struct weft_bus_note mem = {
		.kind = t->op == WEFT_BUS_READ ? WEFT_NOTE_MEM_READ
					       : WEFT_NOTE_MEM_WRITE,
		.time = time,
		.off = t->addr + t->moved,
		.bytes = bytes,
		.dev = (uint32_t)(dev - b->dev),
		.lazy = dev->port->peer->told && host->settle,
		.slice = t->data.buf ? weft_slice_sub(t->data, t->moved, bytes)
				     : (struct weft_slice){ .len = bytes },
		.wrong = t->error == WEFT_BUS_E_DATA ? t->error : 0,
		/* Without H_DW the write to memory coincides with the last
		 * datum, whose stage is marked already. Therefore the write
		 * marks no stage. */
		.trace_id = b->p.h_dw ? t->trace_id : 0,
	};

	weft_bus_tell(b->host, &mem);
}

uint64_t pcibus_burst(struct pcibus *b, struct pcibus_dev *dev,
		      struct weft_bus_txn *t, uint32_t bytes, uint64_t frame,
		      uint64_t start, bool timer)
{
	uint64_t end = start + pcibus_beats(b, t->addr + t->moved, bytes);
	bool read = t->op == WEFT_BUS_READ;
	struct weft_bus_note note = {
		.kind = WEFT_NOTE_BURST,
		.time = pcibus_time(b, start),
		.txn = t,
		.frame = pcibus_time(b, frame),
		.data_end = pcibus_time(b, end),
		.offset = t->moved,
		.bytes = bytes,
		.last = t->moved + bytes == t->bytes,
		.timer = timer,
		.wrong = t->error == WEFT_BUS_E_DATA ? t->error : 0,
	};

	if (!read) {
		b->commit = note.data_end + b->p.h_dw;
		pcibus_mem_tell(b, dev, t, bytes, b->commit);
	}
	weft_bus_tell(dev->port, &note);
	b->burst = (struct pcibus_burst){
		.counter = read ? PCIBUS_C_READ_BYTES : PCIBUS_C_WRITE_BYTES,
		.bytes = bytes,
		.start = note.time,
		.end = note.data_end,
	};
	weft_count(b->comp, b->burst.counter, bytes);
	if (note.wrong) {
		t->status = WEFT_BUS_PARITY;
		/* the error hits one datum only */
		t->error = WEFT_BUS_E_NONE;
	}
	t->moved += bytes;
	return end;
}

/* ---- tenures ---- */

/* Ends a tenure, whose last datum moved at edge `end`. */
static void tenure_end(struct pcibus *b, struct pcibus_dev *dev, bool read,
		       uint64_t end, bool timer)
{
	struct weft_bus_txn *t = dev->wr;

	if (read) {
		b->kind->read_end(b, dev, end, timer);
		return;
	}
	if (t->moved == t->bytes) {
		pcibus_done(b, dev, t, end);
		return;
	}
	/* The next address phase starts T_DISC later at the earliest. */
	dev->wr_ready =
		end +
		(b->p.t_disc > b->p.t_arb ? b->p.t_disc - b->p.t_arb : 0) +
		pcibus_slower(t, b->p.t_disc);
	weft_count(b->comp, timer ? PCIBUS_C_TIMER_CUTS : PCIBUS_C_DISCONNECTS,
		   1);
}

void pcibus_data(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint32_t n, uint64_t d, uint64_t frame,
		 uint64_t start)
{
	bool read = t->op == WEFT_BUS_READ;
	uint64_t expiry = frame + t->latency_timer, end;
	uint32_t sure = n;

	if (t->latency_timer) {
		/* The timer can end the tenure only between blocks. Therefore
		 * all bytes before the first block that starts after the timer
		 * has run out are certain to move. */
		uint64_t addr = t->addr + t->moved;

		sure = b->block - (uint32_t)(addr % b->block);
		while (sure < n &&
		       start + pcibus_beats(b, addr, sure) <= expiry)
			sure += b->block;
		sure = pcibus_least(sure, n);
	}
	end = pcibus_burst(b, dev, t, sure, frame, start, false);
	pcibus_occupy(b, d, end - d);
	if (sure == n) {
		tenure_end(b, dev, read, end, false);
		return;
	}
	b->tenure = (struct pcibus_tenure){ .dev = (uint32_t)(dev - b->dev),
					    .read = read,
					    .frame = frame,
					    .expiry = expiry,
					    .next = end,
					    .left = n - sure };
	weft_wake(b->comp, PCIBUS_EV_BLOCK, pcibus_time(b, end - 1) + 1);
}

/* Moves a block of data, and decides whether it is the last one because the
 * latency timer has run out. Called one clock before the block starts. */
void pcibus_block(struct pcibus *b)
{
	struct pcibus_tenure *tn = &b->tenure;
	struct pcibus_dev *dev = &b->dev[tn->dev];
	struct weft_bus_txn *t = tn->read ? dev->rd : dev->wr;
	uint32_t n = pcibus_least(tn->left, b->block);
	bool timer = false;
	uint64_t end;

	/* The block is the last one if another master waits. */
	for (uint32_t m = 0; m < PCIBUS_M_DEVICES + 2 * b->p.devices; m++)
		if ((m < PCIBUS_M_DEVICES ||
		     (m - PCIBUS_M_DEVICES) / 2 != tn->dev) &&
		    pcibus_ready(b, m) < tn->next)
			timer = n < tn->left;
	end = pcibus_burst(b, dev, t, n, tn->frame, tn->next, timer);

	pcibus_occupy(b, tn->next, end - tn->next);
	tn->left -= n;
	tn->next = end;
	if (tn->left && !timer) {
		weft_wake(b->comp, PCIBUS_EV_BLOCK,
			  pcibus_time(b, end - 1) + 1);
		return;
	}
	tn->left = 0;
	tenure_end(b, dev, tn->read, end, timer);
	pcibus_kick(b);
}

/* ---- writes ---- */

void pcibus_write_grant(struct pcibus *b, uint32_t i, uint64_t d)
{
	struct pcibus_dev *dev = &b->dev[i];
	struct weft_bus_txn *t = dev->wr;
	uint64_t addr = t->addr + t->moved, frame = d + b->p.t_arb;
	uint32_t n = pcibus_least(t->bytes - t->moved, b->p.wr_chunk);
	enum weft_bus_status status;

	/* The bridge ends a write after WR_CHUNK bytes. The device ends it at
	 * the end of a page. */
	if (b->p.page)
		n = pcibus_least(n, b->p.page - addr % b->p.page);
	status = pcibus_answer(b, t, n);

	dev->wr_ready = PCIBUS_NEVER;
	if (status != WEFT_BUS_OK) {
		pcibus_aborted(b, dev, t, d, status);
		return;
	}
	t->tenures++;
	weft_count(b->comp, PCIBUS_C_WRITES, 1);
	pcibus_data(b, dev, t, n, d, frame,
		    frame + b->p.t_ph + pcibus_dac(b, t));
}
