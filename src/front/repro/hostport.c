/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port, ULTRA, ATOLL: spec section 12.  The numbers come out of the
 * programs of experiments/hostport, of metrics and counters; what is computed
 * from several of them is in hostport_eval.c. */
#include "front/repro/hostport_eval.h"

/* clang-format off */
#define ULTRA "hostport/ultra-pingpong"
#define PARTS "hostport/ultra-parts"
#define HTX "hostport/ultra-htx"
#define HOPS "hostport/atoll-hops"
#define FITTED "mean over all phases of the clocks; the network is what is " \
	       "left of the 1198 ns (11.5)"

const struct repro_row repro_hostport_rows[] = {
	/* ULTRA */
	{ "UL-01", "PCI66: burst that injects the smallest packet", "ns", 471,
	  REPRO_PCT, 1, REPRO_CALIBRATED, "bus.pci.h_wr_out, h_wr_in",
	  .experiment = PARTS, .eval = hostport_eval_ultra_store },
	{ "UL-02", "PCI66: device write into the receive queue", "ns", 260,
	  REPRO_PCT, 1, REPRO_CALIBRATED, "bus.pci.h_dw", .experiment = PARTS,
	  .eval = hostport_eval_ultra_write },
	{ "UL-03", "ULTRA requester: latency", "cycles", 13, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = PARTS,
	  .metric = "n0.nic.ultra_requester" },
	{ "UL-04", "ULTRA completer: occupancy", "cycles", 21, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = "hostport/ultra-burst",
	  .metric = "n1.nic.ultra_occupancy" },
	{ "UL-04-latency", "ULTRA completer: latency", "cycles", 12,
	  REPRO_EXACT, 0, REPRO_CALIBRATED, "hostport.nic.ultra_cpl_latency",
	  .note = "inferred, not printed: 13 + 12 cycles are the 250 ns (11.5)",
	  .experiment = PARTS, .metric = "n1.nic.ultra_completer" },
	{ "UL-05", "ULTRA: both units, 100 MHz", "ns", 250, REPRO_EXACT, 0,
	  REPRO_CALIBRATED, "hostport.nic.ultra_cpl_latency",
	  .experiment = PARTS, .eval = hostport_eval_ultra_units },
	{ "UL-06", "ULTRA: both units, 500 MHz", "ns", 50, REPRO_EXACT, 0,
	  REPRO_PREDICTED, .experiment = PARTS,
	  .set = "hostport.nic.f_core=500MHz",
	  .eval = hostport_eval_ultra_units },
	{ "UL-07", "ULTRA end to end, PCI66, 100 MHz", "ns", 1198, REPRO_PCT,
	  2, REPRO_CALIBRATED, "extoll.xbar.t_lp_out, t_lp_in, cable",
	  .note = FITTED, .experiment = ULTRA,
	  .eval = hostport_eval_ultra_latency },
	{ "UL-08", "ULTRA, PCI66: share of I/O", "%", 61, REPRO_ABS, 2,
	  REPRO_CALIBRATED, "quotient of fitted values", .experiment = PARTS,
	  .eval = hostport_eval_ultra_share },
	{ "UL-09", "ULTRA end to end, PCI66, 500 MHz", "ns", 998, REPRO_PCT, 2,
	  REPRO_PREDICTED, .report_only = true, .note = "the thesis has no "
	  "value; 998 is the specification's", .experiment = ULTRA,
	  .set = "hostport.nic.f_core=500MHz",
	  .eval = hostport_eval_ultra_latency },
	{ "UL-10", "ULTRA end to end, HTX, lumped", "ns", 750, REPRO_PCT, 10,
	  REPRO_PREDICTED, .note = "a crossing is half of a read, nothing "
	  "retuned (11.6)", .experiment = HTX,
	  .eval = hostport_eval_htx_lumped },
	{ "UL-10-wire", "ULTRA end to end, HTX, byte-true", "ns", 750,
	  REPRO_PCT, 10, REPRO_PREDICTED, .report_only = true,
	  .note = "the other reading of a crossing: does not come out (11.6)",
	  .experiment = HTX, .eval = hostport_eval_htx_wire },
	{ "UL-11", "HTX: load of 4 bytes", "ns", 320, REPRO_PCT, 1,
	  REPRO_CALIBRATED, "bus.ht.t_out, t_in, t_reg", .experiment = HTX,
	  .set = "hostport.nic.t_reg=0", .note = "of a device that answers at "
	  "once",
	  .eval = hostport_eval_htx_load },
	{ "UL-12", "ULTRA, PCI66: slower interconnects of six", "", 6,
	  REPRO_EXACT, 0, REPRO_CALIBRATED, "as UL-07",
	  .note = "published values of 11.8", .experiment = ULTRA,
	  .eval = hostport_eval_ultra_fastest },
	{ "UL-13", "ULTRA: I/O transactions per packet, both sides", "", 2,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .note = "one burst write, one "
	  "device write", .experiment = PARTS,
	  .eval = hostport_eval_ultra_bus },
	{ "UL-14", "ULTRA end to end, HTX, byte-true: below 1 us", "ns", 1000,
	  REPRO_AT_MOST, 0, REPRO_PREDICTED, .experiment = HTX,
	  .eval = hostport_eval_htx_wire },
	/* ATOLL */
	{ "AT-01", "ATOLL: hop", "ns", 90.909, REPRO_ABS, 0.001,
	  REPRO_STRUCTURAL, .note = "30 cycles of 330 MHz", .experiment = HOPS,
	  .eval = hostport_eval_atoll_hop },
	{ "AT-02", "ATOLL: fall-through of the crossbar", "cycles", 3,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = HOPS,
	  .eval = hostport_eval_atoll_fall },
	{ "AT-03", "ATOLL end to end, PIO", "ns", 3400, REPRO_PCT, 10,
	  REPRO_CALIBRATED, "bus.pcix.t_piob, t_read; atoll.pingpong.cost",
	  .experiment = "hostport/atoll-pingpong",
	  .metric = "n0.prog0.half_rtt" },
	{ "AT-04", "ATOLL: latency per hop", "ns", 90.909, REPRO_PCT, 1,
	  REPRO_PREDICTED, .note = "less the cable", .experiment = HOPS,
	  .eval = hostport_eval_atoll_slope },
	/* network */
	{ "NW-01", "six links, both directions", "Gbit/s", 60, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .note = "16 bits a cycle of 312.5 MHz are 6.25 "
	  "Gbit/s in 8b/10b", .experiment = ULTRA,
	  .eval = hostport_eval_links },
	{ .id = NULL },
};
/* clang-format on */
