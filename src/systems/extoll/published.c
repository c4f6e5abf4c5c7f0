/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL R1: extoll.md section 8, rows EX-01 to EX-17. The model's numbers come
 * from the programs of the experiments, from counters, and from statistics of
 * ports. published_eval.c computes the numbers that need several of these
 * sources. In a row that exists for both widths, `-16` and `-32` stand for
 * letters A and B of the specification. */
#include "systems/extoll/published_eval.h"

/* clang-format off */
#define HOST_SUM "bus.ht.t_store, t_write, host.pc.poll_hit"
#define FRAMING "flits of framing per 64-byte cell, 5 and 2"
#define HALF "half round trip; the host's sum fits the loopback, the sum of " \
	     "crossbar and link ports this (7.6)"
#define CELLS "2382 and 1159 cycles per put (7.3)"
#define REFRESH "7.3 leaves out the credit refresh, a cell in 256 cycles"
/* Note of rows that hold only with an option that the real machine does not
 * have. */
#define BESIDE                                                                 \
	"with extoll.nic.rf_core, registers beside the HT core; behind HTAX, " \
	"as everywhere else, writes of 64 B go at 1.11 GB/s"
#define COUNTED "symbols on the line in 256 us, whole cells, framing and " \
		"control cells too"
#define ALL_TO_ALL "2 x 2 x 2 torus, all to all"
#define NARROW "extoll.*.width=w16"

const struct repro_row repro_extoll_rows[] = {
	{ "EX-01", "VELO ping-pong, 8 B, 16 bit", "us", 1.18, REPRO_ROUNDED, 2,
	  REPRO_CALIBRATED, HOST_SUM "; extoll.xbar.t_*", .note = HALF,
	  .experiment = "extoll/widths", .eval = extoll_eval_half_16 },
	{ "EX-02", "VELO ping-pong, 8 B, 32 bit", "us", 1.16, REPRO_ROUNDED, 2,
	  REPRO_CALIBRATED, HOST_SUM "; extoll.xbar.t_*", .note = HALF,
	  .experiment = "extoll/widths", .eval = extoll_eval_half_32 },
	{ "EX-03", "VELO ping-pong, 8 B, 16 bit less 32 bit", "ns", 20,
	  REPRO_ABS, 10, REPRO_PREDICTED, .note = "4 cycles for two words",
	  .why = "difference of two values that are rounded to 10 ns",
	  .experiment = "extoll/widths", .eval = extoll_eval_half_gap },
	{ "EX-04", "VELO to itself, 8 B, 32 bit", "ns", 800, REPRO_PCT, 0.5,
	  REPRO_CALIBRATED, HOST_SUM, .why = "printed as approximately 800",
	  .experiment = "extoll/loopback", .metric = "n0.prog0.latency" },
	{ "EX-05", "RMA put, 4 KB, 16 bit", "MB/s", 267, REPRO_PCT, 0.4,
	  REPRO_CALIBRATED, FRAMING, .note = CELLS, .why = REFRESH,
	  .experiment = "extoll/put-widths", .point = W16,
	  .metric = "n0.prog0.bandwidth" },
	{ "EX-06", "RMA put, 4 KB, 32 bit", "MB/s", 552, REPRO_PCT, 0.6,
	  REPRO_CALIBRATED, FRAMING, .note = CELLS, .why = REFRESH,
	  .experiment = "extoll/put-widths", .point = W32,
	  .metric = "n0.prog0.bandwidth" },
	{ "EX-07", "RMA put, 4 KB, 32 bit over 16 bit", "", 2.067, REPRO_ABS,
	  0.006, REPRO_CALIBRATED, FRAMING, .derived = true,
	  .note = "follows from EX-05 and EX-06",
	  .why = "552 and 267 are rounded", .experiment = "extoll/put-widths",
	  .eval = extoll_eval_put_ratio },
	{ "EX-08", "serial lane, 32 bit", "Gbit/s", 6.24, REPRO_ROUNDED, 2,
	  REPRO_STRUCTURAL, .note = COUNTED, .experiment = "extoll/saturated",
	  .eval = extoll_eval_lane },
	{ "EX-08-16", "serial lane, 16 bit", "Gbit/s", 3.12, REPRO_ROUNDED, 2,
	  REPRO_STRUCTURAL, .note = "not printed, but implied (7.4)",
	  .derived = true, .experiment = "extoll/saturated", .set = NARROW,
	  .eval = extoll_eval_lane },
	{ "EX-09", "HyperTransport, raw, one direction", "GB/s", 1.6,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = "extoll/pio",
	  .eval = extoll_eval_ht_raw, .note = "dwords from the host over time; " BESIDE },
	{ "EX-10", "HyperTransport, posted writes of 64 B", "GB/s", 1.4,
	  REPRO_PCT, 2, REPRO_STRUCTURAL, .experiment = "extoll/pio",
	  .point = LINES, .metric = "n0.prog0.store_rate",
	  .note = "64 of 72 bytes, 1.422; " BESIDE },
	{ "EX-11", "PIO read of a register", "ns", 180, REPRO_ROUNDED, 0,
	  REPRO_CALIBRATED, "bus.ht.rx, tx, t_out, t_in, t_reg",
	  .experiment = "extoll/pio", .point = LINES, .metric = "n0.prog0.load"
	  },
	{ "EX-12", "crossbar, all 9 ports, 156.25 MHz", "Gbit/s", 45,
	  REPRO_ABS, 0.05, REPRO_STRUCTURAL, .note = COUNTED
	  "; flits at internal ports",
	  .experiment = "extoll/saturated", .set = "extoll.*.clock=156.25MHz",
	  .eval = extoll_eval_aggregate },
	{ "EX-12-156", "crossbar, all 9 ports, 156 MHz", "Gbit/s", 44.9,
	  REPRO_ROUNDED, 1, REPRO_STRUCTURAL, .note = "printed as more than "
	  "45: that takes a reference of 156.25 MHz (O-5)", .derived = true,
	  .experiment = "extoll/saturated", .eval = extoll_eval_aggregate },
	{ "EX-13", "crossbar: queues per input", "", 36, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = "extoll/torus",
	  .eval = extoll_eval_queues, .note = "outputs times virtual channels "
	  "that were used" },
	{ "EX-13-ports", "crossbar: ports", "", 9, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = "extoll/torus",
	  .eval = extoll_eval_ports },
	{ "EX-13-vcs", "crossbar: virtual channels", "", 4, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = "extoll/torus", .metric = "s0.vcs" },
	{ "EX-13-clocks", "clock domains of a node", "", 10, REPRO_EXACT, 0,
	  REPRO_INPUT, "bus.ht.width, ports with a cable",
	  .experiment = "extoll/torus", .eval = extoll_eval_domains,
	  .note = "HT receive 2 (by width: the model has one), HT core, "
	  "EXTOLL core, links 6 (the clocks of the peers)" },
	{ "EX-14", "RMA, puts of 8 B, 32 bit", "M/s", 4.9, REPRO_AT_LEAST, 0,
	  REPRO_CALIBRATED, "extoll.nic.rma_interval", .far = 5.04,
	  .why = "printed: more than 4.9; one command in 31 cycles is 5.03",
	  .experiment = "extoll/rma-rate", .eval = extoll_eval_commands },
	{ "EX-14-16", "RMA, puts of 8 B, 16 bit", "M/s", 4.9, REPRO_AT_LEAST,
	  0, REPRO_CALIBRATED, "extoll.nic.rma_interval", .far = 5.04,
	  .why = "printed: more than 4.9; one command in 31 cycles is 5.03",
	  .experiment = "extoll/rma-rate", .set = NARROW,
	  .eval = extoll_eval_commands },
	{ "EX-15", "transceivers: gain of the bypass", "%", 44, REPRO_AT_LEAST,
	  0, REPRO_INPUT, "extoll.xbar.mgt, extoll.xbar.mgt_ui",
	  .note = "receive half from the data sheet, transmit half "
	  "reconstructed (7.4): the quotient of both", .far = 46,
	  .why = "printed: more than 44", .experiment = "extoll/mgt",
	  .eval = extoll_eval_mgt_gain },
	{ "EX-15-most", "transceivers: gain of the bypass, at most", "%", 46,
	  REPRO_AT_MOST, 0, REPRO_INPUT, "extoll.xbar.mgt, extoll.xbar.mgt_ui",
	  .derived = true, .far = 44,
	  .why = "34 + 140/40 cycles against 17 + 140/40",
	  .experiment = "extoll/mgt", .eval = extoll_eval_mgt_gain },
	{ "EX-16", ALL_TO_ALL ", 32 bit: distance of cells at an input",
	  "cycles", 4, REPRO_AT_LEAST, 0, REPRO_INPUT, "extoll.xbar.gap",
	  .far = 4, .why = "all to all makes the least distance occur",
	  .experiment = "extoll/alltoall", .eval = extoll_eval_spacing },
	{ "EX-16-16", ALL_TO_ALL ", 16 bit: distance of cells at an input",
	  "cycles", 4, REPRO_AT_LEAST, 0, REPRO_INPUT, "extoll.xbar.gap",
	  .far = 4, .why = "all to all makes the least distance occur",
	  .experiment = "extoll/alltoall", .set = NARROW,
	  .eval = extoll_eval_spacing },
	{ "EX-17", ALL_TO_ALL ", 32 bit: lost", "messages", 0, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = "extoll/alltoall",
	  .eval = extoll_eval_lost, .note = "order of every pair is checked "
	  "by the program" },
	{ "EX-17-16", ALL_TO_ALL ", 16 bit: lost", "messages", 0, REPRO_EXACT,
	  0, REPRO_STRUCTURAL, .experiment = "extoll/alltoall", .set = NARROW,
	  .eval = extoll_eval_lost },
	{ .id = NULL },
};
/* clang-format on */
