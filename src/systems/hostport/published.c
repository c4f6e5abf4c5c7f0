/* SPDX-License-Identifier: Apache-2.0 */
/* Published numbers of Host Port, ULTRA and ATOLL (hostport.md section 12). The
 * values are results of programs, metrics and counters of the system's
 * experiments. published_eval.c computes values that depend on several of
 * these. */
#include "systems/hostport/published_eval.h"

/* clang-format off */
#define ULTRA "hostport/ultra-pingpong"
#define PARTS "hostport/ultra-parts"
#define HTX "hostport/ultra-htx"
#define LUMPED "nodes.bus.preset=htx100"
#define WIRE "nodes.bus.preset=htx100_wire"
#define HOPS "hostport/atoll-hops"
#define TRIGGER "hostport/trigger"
#define THREADS "hostport/threads"
#define LIMITS "hostport/limits"
#define TAGGED "hostport/tagged"
#define OS_NONE "hostport.threads.os_c0=0 hostport.threads.os_c1=0"
#define OS_FITTED "two constants of the operating system from two values (11.4)"
#define OS_WHY "fitted by hand: two constants for both values"
#define EDGES "waiting for clock edges, which the sums of 11.2 and 11.5 do not have"
#define AROUND "printed: around 750, of first basic measurements"
#define FITTED "mean over all phases of the clocks; the network is what is " \
	       "left of the 1198 ns (11.5)"

const struct repro_row repro_hostport_rows[] = {
	/* Triggerpage */
	{ "HP-01", "PCI33: load of a register", "ns", 630, REPRO_ROUNDED, 0,
	  REPRO_CALIBRATED, "bus.pci.h_rd_out, h_rd_in", .experiment = TRIGGER,
	  .metric = "n0.prog0.register" },
	{ "HP-02", "PCI33: trigger, one process", "ns", 630, REPRO_ROUNDED, 0,
	  REPRO_PREDICTED, .note = "given HP-01", .experiment = TRIGGER,
	  .metric = "n0.prog0.trigger" },
	{ "HP-03", "PCI33: trigger less register", "ns", 0, REPRO_ROUNDED, 0,
	  REPRO_PREDICTED, .note = "as long as the decision fits into the "
	  "target's six clocks: t_trigger up to 18 cycles; 4 are assumed",
	  .experiment = TRIGGER, .eval = hostport_eval_trigger_more },
	{ "HP-04", "PCI33: time over number of triggers, slope", "ns", 630,
	  REPRO_ROUNDED, 0, REPRO_PREDICTED, .experiment = TRIGGER,
	  .metric = "n0.prog0.slope" },
	{ "HP-05", "8 threads x 8 triggers, per operation", "us", 107,
	  REPRO_ROUNDED, 0, REPRO_CALIBRATED, "hostport.threads.os_c0, os_c1",
	  .note = OS_FITTED, .experiment = THREADS,
	  .point = "workload.threads=8", .metric = "n0.prog0.per_operation" },
	{ "HP-06", "64 threads x 8 triggers, per operation", "us", 1513,
	  REPRO_PCT, 0.15, REPRO_CALIBRATED, "hostport.threads.os_c0, os_c1",
	  .note = OS_FITTED, .why = OS_WHY, .experiment = THREADS,
	  .point = "workload.threads=64", .metric = "n0.prog0.per_operation" },
	{ "HP-07", "64 threads / 8 threads", "", 14.1, REPRO_ABS, 0.06,
	  REPRO_CALIBRATED, "hostport.threads.os_c0, os_c1", .note = OS_FITTED,
	  .derived = true, .why = OS_WHY, .experiment = THREADS,
	  .eval = hostport_eval_threads_ratio },
	{ "HP-08", "device's part of HP-05: n x 0.63 us", "us", 5.04,
	  REPRO_AT_MOST, 0, REPRO_CALIBRATED, "as HP-01",
	  .note = "operating system "
	  "without cost; two processors, one load at a time on the bus",
	  .derived = true, .far = 5.03, .why = "the bus is never idle: "
	  "one load less than n x 0.63 would be 12 % less",
	  .experiment = THREADS, .set = OS_NONE, .point = "workload.threads=8",
	  .metric = "n0.prog0.per_operation" },
	{ "HP-08-64", "device's part of HP-06: n x 0.63 us", "us", 40.32,
	  REPRO_AT_MOST, 0, REPRO_CALIBRATED, "as HP-01", .derived = true,
	  .far = 40.31, .why = "the bus is never idle", .experiment = THREADS,
	  .set = OS_NONE, .point = "workload.threads=64",
	  .metric = "n0.prog0.per_operation" },
	{ "HP-09", "Triggerpages open at once", "", 65536, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .note = "each accepted a trigger while all were "
	  "open", .experiment = LIMITS, .metric = "n0.prog1.pages" },
	{ "HP-10", "commands of a Triggerpage", "", 512, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .note = "addresses that answer as triggers",
	  .experiment = LIMITS, .metric = "n0.prog1.commands" },
	{ "HP-11", "aperture of the Triggerpages", "MiB", 256, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = LIMITS,
	  .metric = "n0.prog1.aperture" },
	{ "HP-12", "largest receive data region", "MiB", 128, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = LIMITS, .metric = "n0.prog1.rdr" },
	{ "HP-13", "largest FAST_SEND", "words", 5, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = LIMITS,
	  .metric = "n0.prog1.fast_send" },
	{ "HP-14", "largest FAST_PUT", "words", 3, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .experiment = LIMITS,
	  .metric = "n0.prog1.fast_put" },
	{ "HP-15", "scoreboard of 2 units x 4 stages", "entries", 8,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = LIMITS,
	  .set = "hostport.nic.n_req_fu=2", .metric = "n0.nic.scoreboard" },
	/* ULTRA */
	{ "UL-01", "PCI66: burst that injects the smallest packet", "ns", 471,
	  REPRO_PCT, 0.5, REPRO_CALIBRATED, "bus.pci.h_wr_out, h_wr_in",
	  .why = EDGES, .experiment = PARTS, .eval = hostport_eval_ultra_store
	  },
	{ "UL-02", "PCI66: device write into the receive queue", "ns", 260,
	  REPRO_PCT, 0.5, REPRO_CALIBRATED, "bus.pci.h_dw", .why = EDGES,
	  .experiment = PARTS, .eval = hostport_eval_ultra_write },
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
	  REPRO_CALIBRATED, "hostport.nic.ultra_cpl_latency",
	  .experiment = PARTS, .set = "hostport.nic.f_core=500MHz",
	  .eval = hostport_eval_ultra_units },
	{ "UL-07", "ULTRA end to end, PCI66, 100 MHz", "ns", 1198, REPRO_PCT,
	  0.5, REPRO_CALIBRATED, "extoll.xbar.t_lp_out, t_lp_in, cable",
	  .note = FITTED, .why = EDGES, .experiment = ULTRA,
	  .eval = hostport_eval_ultra_latency },
	{ "UL-07-hop", "the same, link ports as slow as ATOLL's", "ns", 1198,
	  REPRO_PCT, 2, REPRO_CALIBRATED, "cable", .report_only = true,
	  .note = "of the network only the cable is fitted, to the sum of "
	  "11.5, which is 1198; a hop of 28 cycles of 3.2 ns (30 of 330 MHz) "
	  "as there; too long, because network ports, framing of cells and "
	  "waiting for clock edges, which that sum does not have, come on "
	  "top", .why = EDGES,
	  .experiment = ULTRA,
	  .set = "extoll.xbar.t_lp_out=12 extoll.xbar.t_lp_in=12 "
	  "extoll.xbar.t_transit=0", .eval = hostport_eval_ultra_latency },
	{ "UL-08", "ULTRA, PCI66: share of I/O", "%", 61, REPRO_ABS, 0.6,
	  REPRO_CALIBRATED, "quotient of fitted values",
	  .why = "quotient of UL-01, UL-02 and UL-07", .experiment = PARTS,
	  .eval = hostport_eval_ultra_share },
	{ "UL-09", "ULTRA end to end, PCI66, 500 MHz", "ns", 998, REPRO_PCT, 2,
	  REPRO_PREDICTED, .report_only = true, .note = "the thesis has no "
	  "value; 998 is the specification's", .derived = true,
	  .why = "the network remainder was fitted at 100 MHz",
	  .experiment = ULTRA, .set = "hostport.nic.f_core=500MHz",
	  .eval = hostport_eval_ultra_latency },
	{ "UL-10", "ULTRA end to end, HTX, lumped", "ns", 750, REPRO_PCT, 4,
	  REPRO_PREDICTED, .note = "a crossing is half of a read, nothing "
	  "retuned (11.6)", .why = AROUND,
	  .experiment = HTX, .point = LUMPED,
	  .eval = hostport_eval_ultra_latency },
	{ "UL-10-wire", "ULTRA end to end, HTX, byte-true", "ns", 750,
	  REPRO_PCT, 4, REPRO_PREDICTED, .report_only = true, .note = "the "
	  "other reading of a crossing: does not come out (11.6); cable, "
	  "clock and size of what was measured are not printed",
	  .why = AROUND, .experiment = HTX, .point = WIRE,
	  .eval = hostport_eval_ultra_latency },
	{ "UL-11", "HTX: load of 4 bytes", "ns", 320, REPRO_ROUNDED, 0,
	  REPRO_CALIBRATED, "bus.ht.t_out, t_in, t_reg", .experiment = HTX,
	  .point = LUMPED, .metric = "n0.prog0.load" },
	{ "UL-12", "ULTRA, PCI66: slower interconnects of six", "", 6,
	  REPRO_EXACT, 0, REPRO_CALIBRATED, "as UL-07",
	  .note = "published values of 11.8", .experiment = ULTRA,
	  .eval = hostport_eval_ultra_fastest },
	{ "UL-13", "ULTRA: I/O transactions per packet, both sides", "", 2,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .note = "one burst write, one "
	  "device write", .experiment = PARTS,
	  .eval = hostport_eval_ultra_bus },
	{ "UL-14", "ULTRA end to end, HTX, byte-true: below 1 us", "ns", 1000,
	  REPRO_AT_MOST, 0, REPRO_PREDICTED, .far = 750,
	  .why = "printed: below one microsecond, of a first prototype; the "
	  "750 ns of UL-10 are the least",
	  .experiment = HTX, .point = WIRE,
	  .eval = hostport_eval_ultra_latency },
	/* ATOLL */
	{ "AT-01", "ATOLL: hop", "ns", 90.909, REPRO_ROUNDED, 3,
	  REPRO_STRUCTURAL, .note = "printed: 30 cycles, about 90 ns at "
	  "330 MHz", .derived = true,
	  .experiment = HOPS, .eval = hostport_eval_atoll_hop },
	{ "AT-02", "ATOLL: fall-through of the crossbar", "cycles", 3,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = HOPS,
	  .eval = hostport_eval_atoll_fall },
	{ "AT-03", "ATOLL end to end, PIO", "ns", 3400, REPRO_PCT, 3.1,
	  REPRO_CALIBRATED,
	  "six accesses of 500 ns (bus.pcix.t_piob, t_read), 200 ns of "
	  "software", .note = "mean over all phases of the clocks (11.7)",
	  .why = "printed as 3.4 us, the sum of 11.7; on the average half a "
	  "load that looked too early comes on top",
	  .experiment = "hostport/atoll-pingpong",
	  .metric = "n0.prog0.half_rtt" },
	{ "AT-04", "ATOLL: latency per hop", "ns", 90.909, REPRO_PCT, 0.3,
	  REPRO_PREDICTED, .note = "slope of half the round trip over 1 to 16 "
	  "links, less the cable of ten cycles; one of 27.5 ns (9.1 cycles) "
	  "waits for the tenth edge and makes it 93.5", .derived = true,
	  .why = "the bus hands over at its edges of 10 ns: up to 0.7 ns a "
	  "hop over 15 hops",
	  .experiment = HOPS, .eval = hostport_eval_atoll_slope },
	/* network */
	{ "NW-01", "six links, both directions", "Gbit/s", 60, REPRO_EXACT, 0,
	  REPRO_STRUCTURAL, .note = "bits that left and came on busy lines, "
	  "framing of cells included", .experiment = "hostport/links",
	  .eval = hostport_eval_links },
	/* tagged instructions */
	{ "XI-01", "bus transactions per issue, Triggerpage", "", 2,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .note = "a load, and the device's "
	  "read of the instruction", .experiment = TAGGED,
	  .point = LUMPED " workload.by=trigger",
	  .eval = hostport_eval_issue },
	{ "XI-01-tagged", "the same, tagged conditional store", "", 1,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = TAGGED,
	  .point = LUMPED " workload.by=tagged", .eval = hostport_eval_issue },
	{ "XI-02", "address space for issue, Triggerpages", "MiB", 256,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL, .experiment = LIMITS,
	  .metric = "n0.prog1.aperture" },
	{ "XI-02-tagged", "the same, tagged: pages that processes need", "", 1,
	  REPRO_EXACT, 0, REPRO_STRUCTURAL,
	  .note = "64 processes issued through so many different pages",
	  .experiment = "hostport/tagged-page", .metric = "n0.prog0.pages" },
	{ .id = NULL },
};
/* clang-format on */
