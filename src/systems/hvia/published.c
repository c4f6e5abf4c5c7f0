/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE: rows of hvia.md section 8. The numbers are metrics of the system's
 * experiments. Values computed from several metrics are in published_eval.c,
 * and the rows of M-VIA and TCP/IP are in published_stacks.h. */
#include "systems/hvia/published_eval.h"
#include "systems/hvia/published_stacks.h"

/* clang-format off */
#define LATENCY "hvia/latency"
#define BREAKDOWN "hvia/breakdown"
#define PCI_CLOCK "whole cycles of 33 MHz, 30 ns each"
#define QUOTED "other hardware, quoted for plots, not simulated: no verdict, " \
	       "shown beside HVIA-GE's own value"

const struct repro_row repro_hvia_rows[] = {
	{ "HV-01", "latency, send and receive, polling", "us", 8.2,
	  REPRO_ROUNDED, 1, REPRO_CALIBRATED,
	  "host.pc preset hvia, hvia.nic.mac_receive", .note = "the sum "
	  "of 7.1 is 8.199; waiting for clock edges is on top",
	  .experiment = LATENCY, .eval = hvia_eval_latency_4 },
	{ "HV-02", "parts: post", "us", 0.9, REPRO_PCT, 5, REPRO_CALIBRATED,
	  "host.pc.vipl_post, vipl_post_store", .experiment = BREAKDOWN, .metric = "part.post" },
	{ "HV-02-sender", "parts: sender", "us", 2.4, REPRO_ROUNDED, 1,
	  REPRO_CALIBRATED, "bus.pci.t_mem (A_rd = 35)",
	  .note = "one value for HV-05, HV-07 and this part",
	  .experiment = BREAKDOWN, .metric = "part.sender" },
	{ "HV-02-wire", "parts: wire", "us", 3, REPRO_PCT, 5,
	  REPRO_CALIBRATED, "hvia.nic.mac_receive", .experiment = BREAKDOWN,
	  .metric = "part.wire" },
	{ "HV-02-receiver", "parts: receiver", "us", 1, REPRO_PCT, 5,
	  REPRO_CALIBRATED, "hvia.nic.t_rxcheck, t_book",
	  .experiment = BREAKDOWN, .metric = "part.receiver" },
	{ "HV-02-completion", "parts: completion", "us", 1, REPRO_AT_MOST, 0,
	  REPRO_CALIBRATED, "host.pc.vipl_found, vipl_take", .far = 0.9,
	  .why = "printed: below 1 us; the parts are to add up to 8.2",
	  .experiment = BREAKDOWN, .metric = "part.completion" },
	{ "HV-03", "bandwidth, 1 MB", "MB/s", 112.1, REPRO_ROUNDED, 1,
	  REPRO_CALIBRATED, "hvia.nic.mac_start, tx_outstanding",
	  .experiment = LATENCY, .point = "workload.size=1048576",
	  .metric = "n0.prog0.bandwidth" },
	{ "HV-04", "address translation on the card", "ns", 450, REPRO_PCT,
	  1.1, REPRO_CALIBRATED,
	  "hvia.nic.t_index, t_l1, t_lcheck, t_l2, t_add", .why = PCI_CLOCK,
	  .experiment = "hvia/translation", .point = "nodes.nic.att_host=no",
	  .metric = "n0.nic.translation" },
	{ "HV-05", "the same with the table in host memory", "x", 3, REPRO_ABS,
	  0.3, REPRO_CALIBRATED, "bus.pci.t_mem (A_rd = 35)",
	  .note = "one value for HV-05, HV-07 and the sender's part of HV-02",
	  .experiment = "hvia/translation", .eval = hvia_eval_att_ratio },
	{ "HV-06", "send/receive less RDMA, with prefetch", "us", 0.51,
	  REPRO_ABS, 0.012, REPRO_CALIBRATED,
	  "host.pc.vipl_found, vipl_take, poll_hit",
	  .why = PCI_CLOCK, .experiment = "hvia/ways",
	  .eval = hvia_eval_rdma_with },
	{ "HV-07", "send/receive less RDMA, without prefetch", "us", 1.52,
	  REPRO_ABS, 0.012, REPRO_CALIBRATED, "bus.pci.t_mem (A_rd = 35)",
	  .note = "given HV-05 and HV-06", .why = PCI_CLOCK,
	  .experiment = "hvia/ways", .eval = hvia_eval_rdma_without },
	{ "HV-08", "gain of prefetch, 4 B to 1 MB: least", "us", 1.01,
	  REPRO_ABS, 0.012, REPRO_CALIBRATED, "difference of HV-06 and HV-07",
	  .note = "sizes of 7.2; the source says "
	  "uniform, and up to twice that is the gain at others (1473 bytes)",
	  .why = PCI_CLOCK, .experiment = "hvia/prefetch",
	  .eval = hvia_eval_gain_least },
	{ "HV-08-most", "gain of prefetch, 4 B to 1 MB: most", "us", 1.01,
	  REPRO_ABS, 0.012, REPRO_CALIBRATED, "difference of HV-06 and HV-07",
	  .note = "twice that where a short "
	  "last packet waits for the writes of the one before, as at 16 KB",
	  .why = PCI_CLOCK, .experiment = "hvia/prefetch",
	  .eval = hvia_eval_gain_most },
	{ "HV-09", "latency, blocking", "us", 14.1, REPRO_PCT, 2.7,
	  REPRO_CALIBRATED, "E = 5.5 us, a compromise with HV-10 (7.5)",
	  .why = "E = 5.5 us is a compromise between this and HV-10",
	  .experiment = "hvia/blocking", .eval = hvia_eval_latency_4 },
	{ "HV-10", "blocking less polling, mean up to 8 KB", "us", 5.2,
	  REPRO_PCT, 6.1, REPRO_CALIBRATED, "E = 5.5 us, vipl.pingpong.pause",
	  .note = "the "
	  "receiver sleeps 3 us behind each send; without that it "
	  "is 6.06 us",
	  .why = "E = 5.5 us is a compromise between this and HV-09",
	  .experiment = "hvia/waits", .eval = hvia_eval_block_mean },
	{ "HV-11", "latency, 8192 bytes", "us", 100, REPRO_AT_MOST, 0,
	  REPRO_PREDICTED, .far = 73.7, .why = "printed: below 100 us; "
	  "the line alone needs 65.5 us on top of HV-01",
	  .experiment = LATENCY, .eval = hvia_eval_latency_8192 },
	{ "HV-11-10000", "latency, 10,000 bytes", "us", 100, REPRO_AT_MOST, 0,
	  REPRO_PREDICTED, .report_only = true,
	  .note = "printed: below 100 us below 10 KB; its 8.2 us and 112.1 MB/s "
	  "make 97.4; messages of several frames take 3.7 us more here, "
	  "100 us at 9890 bytes", .far = 88.2,
	  .why = "the line alone needs 80 us on top of HV-01",
	  .experiment = LATENCY, .eval = hvia_eval_latency_10000 },
	{ "HV-12", "utilisation, blocking, from 10,000 bytes on: most", "%", 1,
	  REPRO_AT_MOST, 0, REPRO_CALIBRATED, "charged time of a round trip, "
	  "2.0 us (7.5)", .far = 0.5, .why = "printed: below 1 %; half of "
	  "it would be half of the charged time",
	  .experiment = "hvia/blocking", .eval = hvia_eval_utilisation },
	HVIA_STACK_ROWS,
	{ "HV-20", "table: a buffer for each of 1024 VIs", "MiB", 60,
	  REPRO_AT_LEAST, 0, REPRO_STRUCTURAL, .note = "16,378 pages each",
	  .far = 64, .why = "printed: 60; 2^26 entries for 1024 VIs are 64",
	  .experiment = "hvia/capacity", .metric = "n0.prog0.per_vi" },
	{ "HV-20-pages", "table: buffers of one page", "", 2400000, REPRO_PCT,
	  0.15, REPRO_STRUCTURAL, .note = "printed: more than 2.4 million; "
	  "2^26 / 28 is slightly less",
	  .why = "printed: more than 2.4 million",
	  .experiment = "hvia/capacity", .metric = "n0.prog0.buffers" },
	{ "HV-21-latency", "ServerNet II, 8 bytes: 12 us; cLAN: 7 us", "us", 7,
	  REPRO_QUOTED, 0, REPRO_INPUT, "none", .report_only = true,
	  .note = QUOTED, .experiment = LATENCY,
	  .eval = hvia_eval_latency_4 },
	{ "HV-21-bw", "ServerNet II, 64 KB: 92 MB/s; cLAN: 110 MB/s", "MB/s",
	  110, REPRO_QUOTED, 0, REPRO_INPUT, "none", .report_only = true,
	  .note = QUOTED, .experiment = LATENCY,
	  .point = "workload.size=65536", .metric = "n0.prog0.bandwidth" },
	{ 0 }
};
/* clang-format on */
