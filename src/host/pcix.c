/* SPDX-License-Identifier: Apache-2.0 */
/* PCI-X bus, exact to the clock at transaction level.
 *
 *   host ---- bridge (posted writes, split completions) --+-- dev0
 *                                                         +-- dev1 ...
 *
 * Source: FORTH specification 2.1, 3.7 and 11.1 to 11.5, 11.10. The bus is a
 * serial resource. A tenure occupies it from the arbitration to its last datum:
 *
 *   device write     T_ARB + T_PH + q, again after a disconnect every WR_CHUNK
 *   read request     T_ARB + T_PH, ends in a split response
 *   completion       T_GAP + T_PH + q, SC_CHUNK bytes each; first datum no
 *                    earlier than T_SPLIT after the split response
 *   host store       T_PIO1 for one dword, T_PIOB + dwords for a burst
 *   host load        T_ARB + T_PH + T_READ + dwords
 *
 * Memory is read when the address phase of a completion begins, and written
 * when the last datum of a burst has moved.
 *
 * Arbitration is round robin over {host accesses, completions, each device's
 * writes, each device's read requests}, evaluated at the first edge at which
 * the bus is free and a master requests it.
 *
 * q is the number of bus data phases that carry the bytes. Any number of bytes
 * at any address is allowed, because the first and last datum have byte
 * enables.
 *
 * Own choices: a device tenure ends early if its latency timer has run out and
 * another master waits. It still moves the 128-byte block that starts next, and
 * never ends before its first block is complete. After that the device requests
 * the bus again as after a disconnect. A read that is cut by max_request
 * requests the bus again when the last datum of a sequence has moved. An access
 * that no target decodes takes T_ABORT additional clocks. An address above 4 GB
 * takes T_DAC additional clocks. The bridge answers splits in the order of
 * their requests, one sequence after the other.
 *
 * Errors that a fault injects (fault.bus, enum weft_bus_error): an address of
 * wrong parity and a target abort end a request in its address phase. A master
 * abort ends the request T_ABORT later. Wrong parity of data takes no time. An
 * error message is a completion of one datum. A repeated completion follows at
 * once.
 *
 * Not modelled: target retries, wait states of the initiator, fast
 * back-to-back, ordering of completions behind posted host stores. */
#include "host/pcibus.h"

#include <assert.h>
#include <errno.h>

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct pcibus_params, field, def, range, source, doc)
static const struct weft_param pcix_params[] = {
	P(CLOCK, clock,     "100MHz", "",      STATED,        "bus clock F_PCI (P 1, T 2.1)"),
	P(U32,   width,     "8",      "4|8",   STATED,        "bytes per clock of device transfers W_PCI (P 1)"),
	PCIBUS_PARAM_DEVICES,
	P(U32,   t_arb,     "6",      "1..",   CALIBRATED,    "T_ARB: request to start, device-initiated, clocks (R-26)"),
	P(U32,   t_ph,      "4",      "1..",   STATED,        "T_PH: protocol phases of a transaction, clocks (P 5.2)"),
	P(U32,   t_gap,     "6",      "1..",   STATED,        "T_GAP: before each completion transaction, clocks (P 5.2)"),
	P(U32,   t_split,   "50",     "2..",   STATED,        "T_SPLIT: split response to first datum, clocks (P 5.2)"),
	P(BYTES, sc_chunk,  "1536",   "8..",   CALIBRATED,    "SC_CHUNK: bytes per completion transaction (P 5.2: 3 per 4 KB)"),
	P(BYTES, wr_chunk,  "1536",   "8..",   CALIBRATED,    "WR_CHUNK: bytes until the bridge disconnects a write (11.3)"),
	P(U32,   t_disc,    "20",     "1..",   CALIBRATED,    "T_DISC: disconnect to next address phase, clocks (11.3)"),
	P(U32,   t_pio1,    "10",     "2..",   STATED,        "T_PIO1: single-word host store, clocks (P 5.2)"),
	P(U32,   t_piob,    "8",      "1..",   STATED,        "T_PIOB: host burst store less one clock per dword (P 5.2)"),
	P(U32,   t_read,    "6",      "1..",   OWN,           "target latency of a host load, clocks"),
	PCIBUS_PARAM_ABORT,
	P(U32,   t_dac,     "1",      "0..",   RECONSTRUCTED, "dual address cycle: more clocks above 4 GB (T 3.1.1)"),
	PCIBUS_PARAMS_BRIDGE,
	{ 0 }
};
#undef P

static const struct weft_counter pcix_counters[PCIBUS_C_N] = {
	PCIBUS_COUNTERS,
	[PCIBUS_C_STORES]      = { "pio_stores", "tenures", "host stores and bursts" },
	[PCIBUS_C_LOADS]       = { "pio_loads", "tenures", "host loads" },
	[PCIBUS_C_COMPLETIONS] = { "completions", "tenures", "split completions" },
	[PCIBUS_C_READS]       = { "read_requests", "tenures", "read requests of devices, split" },
	[PCIBUS_C_DISCONNECTS] = { "disconnects", "tenures", "writes the bridge disconnected" },
	[PCIBUS_C_TIMER_CUTS]  = { "timer_cuts", "tenures", "writes ended by the latency timer" },
};

/* clang-format on */

enum { PCIX_ADB = 128 }; /* allowable disconnect boundary, bytes (PCI-X) */

/* ---- reads ---- */

static void pcix_read_grant(struct pcibus *b, uint32_t i, uint64_t d)
{
	struct pcibus_dev *dev = &b->dev[i];
	struct weft_bus_txn *t = dev->rd;
	uint64_t resp = d + b->p.t_arb + b->p.t_ph + pcibus_dac(b, t);
	struct weft_bus_note note = { .kind = WEFT_NOTE_SPLIT,
				      .time = pcibus_time(b, resp),
				      .frame = pcibus_time(b, d + b->p.t_arb),
				      .txn = t,
				      .offset = t->moved };

	enum weft_bus_status status;
	uint32_t last;

	dev->rd_ready = PCIBUS_NEVER;
	note.bytes = t->bytes - t->moved;
	if (t->max_request)
		note.bytes = pcibus_least(note.bytes, t->max_request);
	status = pcibus_answer(b, t, note.bytes);
	if (status != WEFT_BUS_OK) {
		pcibus_aborted(b, dev, t, d, status);
		return;
	}
	t->tenures++;
	t->splits++;
	weft_count(b->comp, PCIBUS_C_READS, 1);
	pcibus_occupy(b, d, resp - d);
	weft_bus_tell(dev->port, &note);
	dev->seq_left = note.bytes;
	/* T_SPLIT ends at the first datum, therefore gap and phases are
	 * subtracted. */
	last = (b->split_head + b->n_split++) % b->p.devices;
	assert(b->n_split <= b->p.devices);
	b->split[last] = (struct pcibus_split){
		.dev = i,
		.ready = resp + b->p.t_split + pcibus_slower(t, b->p.t_split) +
			 t->slow_split - b->p.t_gap - b->p.t_ph
	};
}

/* Ends a sequence of a read that the bridge has answered. If the read has more
 * bytes, it may request the bus again from edge `end` on, otherwise the read is
 * done. */
static void split_pop(struct pcibus *b, struct pcibus_dev *dev, uint64_t end)
{
	struct weft_bus_txn *t = dev->rd;

	b->split_head = (b->split_head + 1) % b->p.devices;
	b->n_split--;
	if (t->moved == t->bytes || t->status == WEFT_BUS_SPLIT_ERROR)
		pcibus_done(b, dev, t, end);
	else
		dev->rd_ready = end;
}

static void pcix_completion_grant(struct pcibus *b, uint64_t d)
{
	struct pcibus_split *s = &b->split[b->split_head];
	struct pcibus_dev *dev = &b->dev[s->dev];
	struct weft_bus_txn *t = dev->rd;
	uint32_t n = pcibus_least(dev->seq_left, b->p.sc_chunk);
	uint64_t frame = d + b->p.t_gap;
	uint64_t end;

	if (t->error == WEFT_BUS_E_MESSAGE) {
		uint64_t len = b->p.t_gap + b->p.t_ph + 1;

		/* An error: the bridge sends a message of one datum in place of
		 * the data. */
		dev->rd->status = WEFT_BUS_SPLIT_ERROR;
		weft_count(b->comp, PCIBUS_C_COMPLETIONS, 1);
		pcibus_occupy(b, d, len);
		split_pop(b, dev, d + len);
		return;
	}
	pcibus_mem_tell(b, dev, t, n, pcibus_time(b, frame));
	end = pcibus_burst(b, dev, t, n, frame, frame + b->p.t_ph, false);
	weft_count(b->comp, PCIBUS_C_COMPLETIONS, 1);
	pcibus_occupy(b, d, end - d);
	/* A fault: the bridge sends the last completion once more. */
	if (t->error == WEFT_BUS_E_REPEAT && t->moved == t->bytes) {
		weft_count(b->comp, PCIBUS_C_COMPLETIONS, 1);
		pcibus_occupy(b, end,
			      b->p.t_gap + b->p.t_ph + pcibus_beats(b, 0, n));
	}
	dev->seq_left -= n;
	if (dev->seq_left)
		s->ready = end + pcibus_slower(t, b->p.t_gap) + t->slow_next;
	else
		split_pop(b, dev, end);
}

/* ---- stores, interface ---- */

static uint64_t pcix_dwords(const struct pcibus *b, uint64_t off,
			    uint32_t bytes)
{
	(void)b, (void)off;
	return (bytes + 3) / 4;
}

static uint64_t pcix_store_clocks(const struct pcibus *b,
				  const struct pcibus_pio *p)
{
	uint64_t n = pcix_dwords(b, p->io.off, p->io.bytes);

	return n == 1 ? b->p.t_pio1 : b->p.t_piob + n;
}

static const struct pcibus_kind pcix_kind = {
	.read_grant = pcix_read_grant,
	.completion_grant = pcix_completion_grant,
	.store_clocks = pcix_store_clocks,
	.pio_beats = pcix_dwords,
};

static const struct weft_bus_ops pcix_ops = {
	PCIBUS_OPS,
};

/* ---- lifetime ---- */

static int pcix_init(struct weft_comp *c, struct weft_err *err)
{
	struct pcibus *b = c->state;

	if (b->p.sc_chunk % b->p.width || b->p.wr_chunk % b->p.width)
		return weft_fail(
			err, EINVAL,
			"%s: sc_chunk and wr_chunk must be multiples of the bus width %u",
			c->name, b->p.width);
	if (b->p.t_split < b->p.t_gap + b->p.t_ph)
		return weft_fail(err, EINVAL,
				 "%s.t_split: %u is below t_gap + t_ph = %u",
				 c->name, b->p.t_split, b->p.t_gap + b->p.t_ph);
	b->p.t_park = b->p.t_arb;
	b->block = PCIX_ADB;
	b->lanes = b->p.width - 1;
	return pcibus_init(c, &pcix_kind, &pcix_ops, err);
}

WEFT_COMPONENT(bus_pcix, .name = "bus.pcix", .kind = WEFT_KIND_BUS,
	       .doc = "PCI-X bus with split reads, and its host bridge",
	       .source = "FORTH specification 2.1, 11.1",
	       .not_modelled = "target retries, initiator wait states",
	       .state_size = sizeof(struct pcibus), .params = pcix_params,
	       .counters = pcix_counters, .n_counters = PCIBUS_C_N,
	       .ports = pcibus_ports,
	       .ops = { .init = pcix_init,
			.arrive = pio_arrive,
			.event = pcibus_event,
			.ahead = pcibus_ahead,
			.finish = pcibus_finish,
			.fini = pcibus_fini });
