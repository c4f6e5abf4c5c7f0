/* SPDX-License-Identifier: Apache-2.0 */
/* Conventional PCI, 32 or 64 bit, exact to the clock at transaction level.
 *
 *   processor ---- bridge (posted writes, delayed reads) --+-- dev0
 *                    |                                     +-- dev1 ...
 *                  memory
 *
 * Source: Host Port specification 11.1, 11.2, 11.10 (presets pci33, pci66),
 * HVIA specification 2.1 (pci64-66). Arbiter, writes, posted stores and the
 * latency timer are those of bus.pcix (pcibus*.c). A tenure costs
 *
 *   device write    T_ARB + T_PH + data; the data are in memory H_DW later
 *   device read     T_ARB + T_PH + T_END for each retry, until the bridge has
 *                   the bytes, T_MEM after the first request; then
 *                   T_ARB + T_PH + T_TURN + data + T_END. With reads = wait
 *                   the device does not retry: the first tenure stays on the
 *                   bus until the bridge has the bytes
 *   host store      H_WR_OUT, T_PARK + T_PH + data, H_WR_IN
 *   host load       H_RD_OUT, T_PARK + T_PH + T_TURN + T_READ + data + T_END,
 *                   H_RD_IN
 *
 * with one clock for each WIDTH bytes that data touch. Tagged accesses (Host
 * Port specification 10.1) have their header in a further address phase, T_TAG.
 * A conditional store carries its condition before its data. The target reports
 * the result T_READ later by the kind of its termination.
 *
 * Own choices: the bridge reads memory ahead up to RD_CHUNK bytes and the end
 * of a page, after its posted writes are in memory. It keeps bytes that were
 * not transferred because a latency timer expired. A device without a free slot
 * for a store answers it with a retry. A device that defers an answer inserts
 * wait states for T_INITIAL clocks (PCI 2.1) and then answers with a retry. A
 * retried master requests the bus again T_RETRY clocks later.
 *
 * Not modelled: parity, wait states of the initiator, fast back-to-back, write
 * merging in the bridge, stores that pass a delayed load. */
#include "host/pcibus.h"

#include <assert.h>
#include <errno.h>

enum { PCI_DELAYED, PCI_WAIT };

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct pcibus_params, field, def, range, source, doc)
static const struct weft_param pci_params[] = {
	P(CLOCK, clock,       "30ns",     "",             STATED,        "bus clock (11.2)"),
	P(U32,   width,       "4",        "4|8",          RECONSTRUCTED, "bytes per clock (11.2)"),
	PCIBUS_PARAM_DEVICES,
	P(U32,   t_arb,       "2",        "1..",          RECONSTRUCTED, "request to address phase, device, clocks (11.2)"),
	P(U32,   t_park,      "2",        "1..",          RECONSTRUCTED, "request to address phase, host, clocks (11.2)"),
	P(U32,   t_ph,        "2",        "1..",          RECONSTRUCTED, "address phase and device select, clocks (11.2)"),
	P(U32,   t_turn,      "1",        "0..",          RECONSTRUCTED, "turn-around of a read, clocks (11.2)"),
	P(U32,   t_read,      "6",        "1..",          RECONSTRUCTED, "target latency of a host load, clocks (11.2)"),
	P(U32,   t_end,       "1",        "0..",          RECONSTRUCTED, "end of a read or retry, clocks (11.2)"),
	P(U32,   t_disc,      "4",        "1..",          OWN,           "disconnect to next address phase, clocks"),
	P(U32,   t_retry,     "2",        "1..",          OWN,           "retry to next request, clocks (PCI 2.1: REQ# low for two)"),
	P(U32,   t_initial,   "16",       "2..",          OWN,           "address phase to retry by a target without answer, clocks (PCI 2.1)"),
	PCIBUS_PARAM_ABORT,
	P(U32,   t_dac,       "1",        "0..",          OWN,           "dual address cycle: more clocks above 4 GB"),
	P(U32,   t_tag,       "1",        "0..",          OWN,           "header of a tagged access: more clocks (10.1)"),
	PCIBUS_PARAMS_BRIDGE,
	P(U32,   max_retries, "16777216", "1..",          OWN,           "retries until the bridge gives an access of the host up"),
	P(ENUM,  reads,       "delayed",  "delayed|wait", OWN,           "reads of devices: retried until the bridge has the bytes, or held"),
	P(BYTES, wr_chunk,    "4KiB",     "8..",          OWN,           "bytes until the bridge disconnects a write"),
	P(BYTES, rd_chunk,    "4KiB",     "8..",          OWN,           "bytes the bridge reads ahead of a read"),
	P(BYTES, page,        "4KiB",     "",             RECONSTRUCTED, "bursts stop at multiples of this; 0: they do not (HVIA 2.1)"),
	P(BYTES, line,        "32",       "8..4096",      OWN,           "a latency timer ends a burst at multiples of this"),
	P(TIME,  t_mem,       "360ns",    "",             CALIBRATED,    "read: request to bytes in the bridge (HVIA 2.1: A_rd = 35)"),
	P(TIME,  h_rd_out,    "82.5ns",   "",             CALIBRATED,    "load: processor to bus, then to the next clock edge; with h_rd_in h_rd = 210 ns (11.10; 630 ns)"),
	P(TIME,  h_rd_in,     "120ns",    "",             CALIBRATED,    "load: bus to processor, the rest of h_rd"),
	P(TIME,  h_wr_out,    "360ns",    "",             CALIBRATED,    "store: processor to bus, part of h_wr = 381 ns (11.10; 471 ns)"),
	P(TIME,  h_wr_in,     "21ns",     "",             CALIBRATED,    "store: bus to device, the rest of h_wr"),
	P(TIME,  h_dw,        "155ns",    "",             CALIBRATED,    "write of a device: bus to memory (11.10; 260 ns)"),
	{ 0 }
};
#undef P

static const struct weft_preset pci_presets[] = {
#define PCI_PRESET(...) { __VA_ARGS__ },
#include "systems.def"
	{ 0 }
};

static const struct weft_counter pci_counters[PCIBUS_C_PCI_N] = {
	PCIBUS_COUNTERS,
	[PCIBUS_C_STORES]      = { "pio_stores", "tenures", "host stores and bursts, tagged ones too" },
	[PCIBUS_C_LOADS]       = { "pio_loads", "loads", "host loads" },
	[PCIBUS_C_COMPLETIONS] = { "completions", "tenures", "reads of devices that moved data" },
	[PCIBUS_C_READS]       = { "read_requests", "requests", "reads of devices the bridge took up" },
	[PCIBUS_C_DISCONNECTS] = { "disconnects", "tenures", "bursts that ended at a page or at the end of a chunk" },
	[PCIBUS_C_TIMER_CUTS]  = { "timer_cuts", "tenures", "bursts ended by the latency timer" },
	[PCIBUS_C_TAGGED]      = { "tagged", "accesses", "tagged accesses of the host" },
	[PCIBUS_C_RETRIES]     = { "retries", "tenures", "tenures the target stopped without data" },
	[PCIBUS_C_WAITS]       = { "wait_states", "clocks", "clocks loads waited for a device that deferred its answer" },
	[PCIBUS_C_DISCARDS]    = { "discards", "accesses", "accesses of the host given up after max_retries" },
};
/* clang-format on */

/* ---- reads of devices ---- */

/* Starts a delayed read in the bridge at edge resp. */
static void read_latch(struct pcibus *b, struct pcibus_dev *dev, uint32_t n,
		       uint64_t resp)
{
	const struct weft_bus_txn *t = dev->rd;
	uint32_t mem = (uint32_t)weft_clock_cycle(&b->p.clock, b->p.t_mem);
	uint64_t posted = weft_clock_cycle(&b->p.clock, b->commit);
	uint64_t ready = resp + mem + pcibus_slower(t, mem) + t->slow_split;

	if (ready < posted)
		ready = posted;
	if (ready <= resp)
		ready = resp + 1;
	dev->delayed.ready = ready;
	dev->delayed.until = t->moved + n;
	weft_count(b->comp, PCIBUS_C_READS, 1);
	pcibus_mem_tell(b, dev, t, n, pcibus_time(b, ready));
}

/* Retries the read, because the bridge does not have the bytes yet. */
static void read_retry(struct pcibus *b, struct pcibus_dev *dev, uint64_t d,
		       uint64_t resp)
{
	struct weft_bus_txn *t = dev->rd;
	struct weft_bus_note note = { .kind = WEFT_NOTE_SPLIT,
				      .time = pcibus_time(b, resp),
				      .frame = pcibus_time(b, d + b->p.t_arb),
				      .txn = t,
				      .offset = t->moved,
				      .bytes = dev->delayed.until - t->moved };

	t->splits++;
	weft_count(b->comp, PCIBUS_C_RETRIES, 1);
	pcibus_occupy(b, d, resp + b->p.t_end - d);
	dev->rd_ready = resp + b->p.t_end + b->p.t_retry;
	weft_bus_tell(dev->port, &note);
}

static void pci_read_grant(struct pcibus *b, uint32_t i, uint64_t d)
{
	struct pcibus_dev *dev = &b->dev[i];
	struct weft_bus_txn *t = dev->rd;
	uint64_t frame = d + b->p.t_arb;
	uint64_t resp = frame + b->p.t_ph + pcibus_dac(b, t), start;
	uint64_t addr = t->addr + t->moved;
	uint32_t n = pcibus_least(t->bytes - t->moved, b->p.rd_chunk);
	bool first = dev->delayed.until <= t->moved;

	/* Bytes that the bridge reads ahead. */
	if (t->max_request)
		n = pcibus_least(n, t->max_request);
	if (b->p.page)
		n = pcibus_least(n, b->p.page - addr % b->p.page);
	dev->rd_ready = PCIBUS_NEVER;
	if (first && pcibus_answer(b, t, n) != WEFT_BUS_OK) {
		pcibus_aborted(b, dev, t, d, WEFT_BUS_MASTER_ABORT);
		return;
	}
	t->tenures++;
	if (first)
		read_latch(b, dev, n, resp);
	start = dev->delayed.ready;
	if (start > resp && b->p.reads == PCI_DELAYED) {
		read_retry(b, dev, d, resp);
		return;
	}
	if (start < resp + b->p.t_turn)
		start = resp + b->p.t_turn;
	weft_count(b->comp, PCIBUS_C_COMPLETIONS, 1);
	pcibus_data(b, dev, t, dev->delayed.until - t->moved, d, frame, start);
}

static void pci_read_end(struct pcibus *b, struct pcibus_dev *dev, uint64_t end,
			 bool timer)
{
	struct weft_bus_txn *t = dev->rd;

	if (b->p.t_end)
		pcibus_occupy(b, end, b->p.t_end);
	if (t->moved == t->bytes) {
		pcibus_done(b, dev, t, end);
		return;
	}
	dev->rd_ready = end + b->p.t_end + b->p.t_retry;
	weft_count(b->comp, timer ? PCIBUS_C_TIMER_CUTS : PCIBUS_C_DISCONNECTS,
		   1);
}

/* ---- stores, interface ---- */

static uint64_t pci_store_clocks(const struct pcibus *b,
				 const struct pcibus_pio *p)
{
	return b->p.t_park + b->p.t_ph + (p->io.tagged ? b->p.t_tag : 0) +
	       pcibus_beats(b, p->io.off, p->io.bytes);
}

static const struct pcibus_kind pci_kind = {
	.read_grant = pci_read_grant,
	.read_end = pci_read_end,
	.store_clocks = pci_store_clocks,
	.pio_beats = pcibus_beats,
};

static const struct weft_bus_ops pci_ops = {
	PCIBUS_OPS,
	.window = pcibus_window,
	.consumed = pcibus_consumed,
	.defer = pcibus_defer,
	.pio_tagged = pcibus_tagged,
	.takes_tagged = pcibus_takes_tagged,
	.tagged_reply = pcibus_tagged_reply,
};

static int pci_init(struct weft_comp *c, struct weft_err *err)
{
	struct pcibus *b = c->state;

	if (b->p.page & (b->p.page - 1) || (b->p.page && b->p.page < 8) ||
	    b->p.line & (b->p.line - 1))
		return weft_fail(
			err, EINVAL,
			"%s: page and line must be powers of two from 8 on",
			c->name);
	b->block = (uint32_t)b->p.line;
	b->lanes = b->p.width - 1;
	return pcibus_init(c, &pci_kind, &pci_ops, err);
}

WEFT_COMPONENT(
	bus_pci, .name = "bus.pci", .kind = WEFT_KIND_BUS,
	.doc = "conventional PCI bus with delayed reads, and its bridge",
	.source = "Host Port specification 10.1, 11.2; HVIA specification 2.1",
	.not_modelled = "parity, initiator wait states, write merging",
	.state_size = sizeof(struct pcibus), .params = pci_params,
	.presets = pci_presets, .counters = pci_counters,
	.n_counters = PCIBUS_C_PCI_N, .ports = pcibus_ports,
	.ops = { .init = pci_init,
		 .arrive = pio_arrive,
		 .event = pcibus_event,
		 .ahead = pcibus_ahead,
		 .finish = pcibus_finish,
		 .fini = pcibus_fini });
