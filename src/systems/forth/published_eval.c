/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH RDMA NIC and buffered crossbar: functions that compute values of
 * forth.md section 12 from several metrics, counters and parameters of a
 * run. */
#include "systems/forth/published_eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB 1048576.0

/* Points of sweeps. */
/* clang-format off */
#define STREAM "workload.stream=100"
#define STREAM_900 "workload.stream=1000"
#define STREAM_1000 "workload.stream=1100"
#define BOARD_NS 1651200.0
/* clang-format on */

/* ---- NIC ---- */

static double nic_pc(const struct repro_data *d, const char *point)
{
	return repro_value(d, point, "n1.prog0.nic");
}

static double published_eval_stage(const struct repro_data *d,
				   const char *without)
{
	return nic_pc(d, STAGES) - nic_pc(d, without);
}

double forth_eval_stage(const struct repro_data *d)
{
	return published_eval_stage(d, d->row->point);
}

/* Returns the time in which 40 bytes, which are 5 qwords, move into the VOQ:
 * the rise of the NIC's latency per qword between 24 and 512 bytes. */
double forth_eval_into_voq(const struct repro_data *d)
{
	double step = nic_pc(d, "workload.size=512") - nic_pc(d, STAGES);

	return 5 * step / ((512 - 24) / 8);
}

/* Returns the PCI cycles of the DMA stage: the NIC's latency less the times of
 * its other four stages. */
double forth_eval_dma_stage(const struct repro_data *d)
{
	return nic_pc(d, STAGES) - published_eval_stage(d, NO_SYNC_DV) -
	       forth_eval_into_voq(d) - published_eval_stage(d, NO_SYNC_VL) -
	       published_eval_stage(d, NO_LINKSTART);
}

/* ---- round trips ---- */

/* Converts `ns` to cycles of the NET clock. A cycle is the time of 32 bits at
 * the link's rate. */
static double ns_to_cc(const struct repro_data *d, const char *point, double ns)
{
	double gbit = repro_number(d, point, "link.rate", WEFT_P_RATE) / 1e9;

	return ns * gbit / 32;
}

static double rtt_cc(const struct repro_data *d, const char *point)
{
	return ns_to_cc(d, point, repro_value(d, point, "n0.prog0.rtt_ns"));
}

double forth_eval_rtt(const struct repro_data *d)
{
	return rtt_cc(d, d->row->point);
}

/* Returns the rise of the round trip per word, from 32 to 512 words. */
double forth_eval_rtt_slope(const struct repro_data *d)
{
	return (rtt_cc(d, RTT_512) - rtt_cc(d, RTT_32)) / 480;
}

/* Returns the cost of the synchroniser for one round trip, from a run with and
 * a run without the synchroniser. The 26 packets of a run span 25 round
 * trips. */
double forth_eval_cs_sync(const struct repro_data *d)
{
	const char *with = "forth.xbar.cs_sync=3";
	double ns = repro_value(d, with, "n4.prog0.span_ns") -
		    repro_value(d, "forth.xbar.cs_sync=0", "n4.prog0.span_ns");

	return ns_to_cc(d, with, ns) / 25;
}

/* ---- rates ---- */

static bool in_mib(const struct repro_data *d)
{
	return !strcmp(d->row->unit, "MiB/s");
}

static double published_eval_gbit(double mib)
{
	return mib * MIB * 8 / 1e9;
}

double forth_eval_one_way_gbit(const struct repro_data *d)
{
	return published_eval_gbit(
		repro_value(d, NULL, "n1.prog0.bandwidth_in"));
}

double forth_eval_total_gbit(const struct repro_data *d)
{
	return published_eval_gbit(
		repro_value(d, NULL, "n0.prog0.bandwidth_in"));
}

double forth_eval_each(const struct repro_data *d)
{
	double mib = (repro_value(d, NULL, "n1.prog0.bandwidth_out") +
		      repro_value(d, NULL, "n2.prog0.bandwidth_out") +
		      repro_value(d, NULL, "n3.prog0.bandwidth_out")) /
		     3;

	return in_mib(d) ? mib : published_eval_gbit(mib);
}

/* Returns the rate of the fastest of three senders, divided by one third of the
 * receiver's rate. The result is 1 if the senders share the receiver fairly. If
 * they were served one after the other, each sender would have the whole rate
 * while it sends, and the result would be 3. */
double forth_eval_fairness(const struct repro_data *d)
{
	return 3 * repro_max(d, NULL, "n[123].prog0.bandwidth_out") /
	       repro_value(d, NULL, "n0.prog0.bandwidth_in");
}

static double packet_cc(const struct repro_data *d, const char *point)
{
	return repro_value(d, point, "n0.prog0.packet_cc");
}

/* Returns the time in ns of the transfers that stream `longer` has beyond the
 * 100 transfers of STREAM. The times of start and end cancel in the
 * difference. */
static double transfers_ns(const struct repro_data *d, const char *longer)
{
	return (repro_value(d, longer, "n1.prog0.stream") -
		repro_value(d, STREAM, "n1.prog0.stream")) *
	       repro_value(d, STREAM, "n1.prog0.pc_ns");
}

/* Returns the rate of the packets in Gb/s, from the words and the time of the
 * packets. In each cycle each of the `links` carries one word. */
static double line_gbit(const struct repro_data *d, const char *longer,
			double packets, uint32_t links)
{
	return packets * packet_cc(d, STREAM) * 32 * links /
	       transfers_ns(d, longer);
}

double forth_eval_line_rate(const struct repro_data *d)
{
	double gbit = line_gbit(d, STREAM_1000, 1000, 1);

	return in_mib(d) ? gbit * 1e9 / 8 / MIB : gbit;
}

double forth_eval_two_links(const struct repro_data *d)
{
	return line_gbit(d, STREAM_900, 900, 2) * 1e9 / 8 / MIB;
}

double forth_eval_bundle(const struct repro_data *d)
{
	return line_gbit(d, STREAM_1000, 1000, 4);
}

/* Returns the payload rate of 4 KB transfers, without the words of framing. */
double forth_eval_payload(const struct repro_data *d)
{
	return 1000 * 4096 * 8 / transfers_ns(d, STREAM_1000);
}

/* Returns the rate of transfers of eight packets. Each packet takes one of four
 * links. */
double forth_eval_four_switches(const struct repro_data *d)
{
	return line_gbit(d, STREAM_1000, 8 * 1000, 1);
}

/* Returns the number of cycles in which the output line carries no word while
 * 1000 packets pass. */
double forth_eval_idle(const struct repro_data *d)
{
	return ns_to_cc(d, STREAM, transfers_ns(d, STREAM_1000)) -
	       1000 * packet_cc(d, STREAM);
}

/* ---- switch ---- */

/* Returns the cut-through time without header decode and start of
 * transmission. */
double forth_eval_decision(const struct repro_data *d)
{
	return repro_value(d, TO_OTHER_DOMAIN, "n4.prog0.switch") -
	       repro_number(d, TO_OTHER_DOMAIN, "s0.decode", WEFT_P_U64) -
	       repro_number(d, TO_OTHER_DOMAIN, "s0.tx_start", WEFT_P_U64);
}

/* Returns the cycles of the synchroniser in a crosspoint between two clock
 * domains. Within one domain the synchroniser takes xp_sync_same cycles.
 * Between two domains a packet takes longer, and the difference is added. */
double forth_eval_xp_sync(const struct repro_data *d)
{
	return repro_value(d, TO_OTHER_DOMAIN, "n4.prog0.switch") -
	       repro_value(d, TO_SAME_DOMAIN, "n1.prog0.switch") +
	       repro_number(d, TO_SAME_DOMAIN, "s0.xp_sync_same", WEFT_P_U64);
}

/* Returns the cycles of a packet without its delimiter word. */
double forth_eval_packet(const struct repro_data *d)
{
	return packet_cc(d, d->row->point) - 1;
}

/* Returns the rate in Gb/s of the words that leave four boards within BOARD_NS.
 * The row's point gives the number of ports. */
double forth_eval_boards(const struct repro_data *d)
{
	char from[160], to[160];

	snprintf(from, sizeof(from), "%s run.until=200us", d->row->point);
	snprintf(to, sizeof(to), "%s run.until=1851.2us", d->row->point);
	return 4 * 32 *
	       (repro_sum(d, to, "s0.port*.words") -
		repro_sum(d, from, "s0.port*.words")) /
	       BOARD_NS;
}

/* Returns the number of BRAMs of 2 KB in all crosspoints. */
double forth_eval_xp_bram(const struct repro_data *d)
{
	double ports = repro_number(d, NULL, "s0.ports", WEFT_P_U64);
	double bytes = repro_number(d, NULL, "s0.xp_bytes", WEFT_P_BYTES);

	return ports * ports * ceil(bytes / 2048);
}

/* Returns the on-chip memory of all VOQs, in KB or in BRAMs of 2 KB as the
 * row's unit says. */
double forth_eval_voq(const struct repro_data *d)
{
	double kb = repro_number(d, NULL, "n0.nic.voqs", WEFT_P_U64) *
		    repro_number(d, NULL, "n0.nic.voq_bytes", WEFT_P_BYTES) /
		    1024;

	return !strcmp(d->row->unit, "KB") ? kb : kb / 2;
}

double forth_eval_errors(const struct repro_data *d)
{
	return repro_sum(d, NULL, "n*.prog0.errors") +
	       repro_sum(d, NULL, "n*.prog0.nic_errors") +
	       repro_sum(d, NULL, "n*.prog0.sent") -
	       repro_sum(d, NULL, "n*.prog0.received");
}

/* ---- storage ---- */

static double storage_rate(const struct repro_data *d, const char *point)
{
	return repro_value(d, point, "n0.prog0.bandwidth_binary");
}

static double notify_rate(const struct repro_data *d, const char *preset)
{
	char point[120];

	snprintf(point, sizeof(point),
		 "%s workload.preset=%s workload.0.size=65536", d->row->point,
		 preset);
	return storage_rate(d, point);
}

/* Returns the rate with one interrupt per request, divided by the rate with one
 * interrupt per packet. */
double forth_eval_gain(const struct repro_data *d)
{
	return notify_rate(d, "clustered-irq") / notify_rate(d, "packet-irq");
}

/* Returns the smallest ratio of the rate at a request size to the rate at half
 * that size, over all sizes and over reads and writes. */
double forth_eval_rise(const struct repro_data *d)
{
	double least = INFINITY;

	for (int read = 0; read <= 100; read += 100) {
		double last = 0;

		for (uint32_t size = 4096; size <= 1 << 20; size *= 2) {
			char point[80];
			double rate;

			snprintf(point, sizeof(point),
				 "workload.0.read=%d workload.0.size=%u", read,
				 size);
			rate = storage_rate(d, point);
			if (isnan(rate))
				return NAN;
			least = last ? fmin(least, rate / last) : least;
			last = rate;
		}
	}
	return least;
}
