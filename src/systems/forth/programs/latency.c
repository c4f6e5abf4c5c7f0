/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.latency: benchmark mode (forth.md 10.1; F11, F12, F13, F23,
 * F27, F28). Node `from` sends bursts of stamped packets to node `to`. The
 * receiver's software reads the stamps out of the payload and reports:
 *
 *   nic     ts2 - ts1 of a burst's first packet: pipeline of the NIC
 *   switch  ts4 - ts3
 *   span    ts2 of the last packet - ts2 of the first. This is the credit round
 *           trip if the last packet has to wait for a credit of the first
 *
 * With `log` the sender reads the event log of its NIC (10.2) and reports rtt:
 * from the start of the burst's first packet to the first credit with a new
 * value.
 *
 * Afterwards node `from` sends `stream` packets back to back and reports wire
 * cycles per packet and the rate. */
#include <errno.h>
#include <stdio.h>

#include "host/times.h"
#include "programs/program.h"
#include "systems/forth/lib/device.h"

#define LAT_SLOTS 64

struct lat_stat {
	double sum, min, max;
	uint32_t n;
};

struct lat {
	/* parameters */
	uint64_t size;
	uint32_t bursts, packets, stream, from, to;
	bool stamps34, bench, held, log;
	weft_time_t pause, phase;
	/* run */
	struct program w;
	struct weft_forth *f;
	uint64_t *mem;
	weft_phys_t buf, remote;
	uint32_t seen;
	uint8_t value[128]; /* value of the last credit of each flow */
	struct lat_stat nic, sw, span, rtt;
};

static void lat_add(struct lat_stat *s, double v)
{
	if (!s->n || v < s->min)
		s->min = v;
	if (!s->n || v > s->max)
		s->max = v;
	s->sum += v;
	s->n++;
}

static void lat_report(struct lat *l, const struct lat_stat *s,
		       const char *name, const char *unit)
{
	char full[48];

	if (!s->n)
		return;
	weft_metric(l->w.c, name, unit, s->sum / s->n);
	snprintf(full, sizeof(full), "%s_min", name);
	weft_metric(l->w.c, full, unit, s->min);
	snprintf(full, sizeof(full), "%s_max", name);
	weft_metric(l->w.c, full, unit, s->max);
}

/* ---- sender ---- */

/* Posts n packets, of which the last requests a remote notification. */
static void lat_post(struct lat *l, uint32_t n)
{
	struct weft_forth_desc d = { .local = l->buf,
				     .qwords = (uint16_t)(l->size / 8),
				     .dst = (uint8_t)l->to };
	struct weft_forth_desc line[4];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		d.remote = (uint32_t)(l->remote + i % LAT_SLOTS * l->size);
		d.flags = i + 1 == n ? WEFT_FORTH_RNOTIFY | WEFT_FORTH_LNOTIFY
				     : 0;
		line[k++] = d;
		if (k < 4 && i + 1 < n)
			continue;
		weft_forth_wait_space(l->f, l->to, k, WEFT_NEVER);
		weft_forth_post(l->f, line, k);
		k = 0;
	}
}

/* Sends the stream. Returns its wire cycles per packet, credit refreshes
 * included. */
static double lat_packet_cc(struct lat *l)
{
	uint32_t packets = 0;

	weft_forth_counters_clear(l->f);
	if (l->held)
		weft_forth_enable(l->f, false);
	lat_post(l, l->stream);
	if (l->held) {
		weft_forth_counters_clear(l->f);
		weft_forth_enable(l->f, true);
	}
	/* wait before reading counters, because loads would take bus clocks
	 * from the packets */
	weft_forth_flush(l->f, l->to, WEFT_NEVER);
	/* sum the loaded values, because each load clears the counter */
	while (packets < l->stream)
		packets += weft_forth_load(l->f, FORTH_NET_OUT_PACKETS);
	weft_host_sleep(l->w.h, weft_host_now(l->w.h) + l->pause / 10);
	return (double)weft_forth_load(l->f, FORTH_NET_OUT_CYCLES) / packets;
}

static void lat_stream_out(struct lat *l)
{
	double best = lat_packet_cc(l), cc;

	for (int i = 0; i < 3; i++) {
		weft_host_sleep(l->w.h,
				weft_host_now(l->w.h) + l->pause / 20 * 37);
		cc = lat_packet_cc(l);
		best = cc < best ? cc : best;
	}
	weft_metric(l->w.c, "packet_cc", "cc", best);
}

/* Measures the credit round trip from the log of this burst (5.8). */
static void lat_log(struct lat *l)
{
	uint32_t n = weft_forth_log_count(l->f);
	struct weft_forth_event *e = weft_host_calloc(l->w.h, n, sizeof(*e));
	const struct weft_forth_event *sent = NULL, *back = NULL;

	if (!e)
		return;
	weft_forth_log_read(l->f, 0, n, e);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *value = &l->value[e[i].arg >> 7 & 0x7F];
		uint8_t now = e[i].arg & 0x7F;

		if (e[i].unit != LOG_LINK0)
			continue;
		if (e[i].event == LOG_START && !sent)
			sent = &e[i];
		if (e[i].event != LOG_CREDIT_IN)
			continue;
		/* take the first credit after the start whose value differs
		 * from the previous credit of the flow */
		if (*value != now && sent && !back)
			back = &e[i];
		*value = now;
	}
	if (back)
		lat_add(&l->rtt, (double)(back->time - sent->time));
	weft_host_free(l->w.h, e);
}

/* ---- receiver ---- */

static void lat_stamps(struct lat *l)
{
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < l->packets; i++) {
		const uint64_t *q = l->mem + i * l->size / 8;
		uint32_t ts1 = forth_stamp_hi(q[0]), ts2 = forth_stamp_lo(q[0]);

		if (i == 0) {
			lat_add(&l->nic, (double)(uint32_t)(ts2 - ts1));
			first = ts2;
		}
		last = ts2;
		if (l->stamps34)
			lat_add(&l->sw,
				(double)(uint32_t)(forth_stamp_lo(q[1]) -
						   forth_stamp_hi(q[1])));
		for (uint32_t k = FORTH_STAMP_QWORDS; k < l->size / 8; k++)
			if (q[k])
				weft_check_failed(
					l->w.c,
					"packet %u: byte %u is not zero", i,
					8 * k);
	}
	if (l->packets > 1)
		lat_add(&l->span, (double)(uint32_t)(last - first));
}

static void lat_stream_in(struct lat *l)
{
	double ns = weft_forth_pc_ns(l->f), elapsed;
	uint32_t q;

	weft_forth_store(l->f, FORTH_N2H_QWORD, 0);
	weft_forth_timer_arm(l->f, 0);
	program_barrier(&l->w, "lat.armed");
	weft_forth_wait_remote(l->f, l->seen++, WEFT_NEVER);
	q = weft_forth_load(l->f, FORTH_N2H_QWORD);
	elapsed = weft_forth_timer_read(l->f);
	weft_metric(l->w.c, "stream", "pc", elapsed);
	weft_metric(l->w.c, "pc_ns", "ns", ns);
	elapsed *= ns;
	weft_metric(l->w.c, "stream_rate", "MiB/s",
		    8.0 * q / elapsed * 1e9 / 1048576);
	weft_metric(l->w.c, "stream_packets", "Mpackets/s",
		    l->stream / elapsed * 1e3);
}

/* ---- both ---- */

static void lat_bursts(struct lat *l)
{
	for (uint32_t b = 0; b < l->bursts; b++) {
		program_barrier_n(&l->w, "lat.burst", b);
		/* make each pause a little longer than the previous pause, to
		 * vary the phase between the clocks */
		weft_host_sleep(l->w.h, weft_host_now(l->w.h) + l->pause +
						b * l->phase);
		if (l->w.me == l->from) {
			if (l->log)
				weft_forth_log_start_credits(l->f);
			lat_post(l, l->packets);
		}
		if (l->w.me == l->from && l->log) {
			weft_host_sleep(l->w.h,
					weft_host_now(l->w.h) + l->pause);
			lat_log(l);
		}
		if (l->w.me != l->to)
			continue;
		weft_forth_wait_remote(l->f, l->seen++, WEFT_NEVER);
		if (l->bench)
			lat_stamps(l);
	}
	program_barrier(&l->w, "lat.bursts");
}

static int lat_open(struct lat *l)
{
	struct weft_forth_attr a = { 0 };
	int ret;

	if (l->bench)
		a.bench = WEFT_FORTH_BENCH_ON | WEFT_FORTH_BENCH_ZERO |
			  (l->stamps34 ? WEFT_FORTH_BENCH_TS34 : 0);
	if (l->size % 8 || (l->bench && l->size < 24) ||
	    l->packets > LAT_SLOTS || l->from >= l->w.n || l->to >= l->w.n) {
		weft_check_failed(
			l->w.c,
			"size is a multiple of 8 and holds the stamps; up to %u packets; from and to are nodes",
			LAT_SLOTS);
		return -EINVAL;
	}
	l->mem = weft_mem_alloc(l->w.h, LAT_SLOTS * l->size, 64, &l->buf);
	if (!l->mem)
		return -ENOMEM;
	ret = weft_forth_open(l->w.h, &a, &l->f);
	if (ret)
		return ret;
	program_put(&l->w, "lat.buf", l->buf);
	l->remote = program_get(&l->w, "lat.buf", l->to);
	weft_forth_pc_ns(l->f);
	if (l->held && weft_forth_space(l->f, l->to) < l->stream) {
		weft_check_failed(
			l->w.c,
			"a stream that is held fits into the request queue");
		return -EINVAL;
	}
	return 0;
}

static int lat_main(struct weft_comp *c)
{
	struct lat *l = c->state;
	int ret;

	l->w = program_from(c);
	ret = lat_open(l);
	if (ret)
		return ret;
	lat_bursts(l);
	if (l->w.me == l->to && l->stream)
		lat_stream_in(l);
	else if (l->stream)
		program_barrier(&l->w, "lat.armed");
	if (l->w.me == l->from && l->stream)
		lat_stream_out(l);
	if (l->w.me == l->to) {
		lat_report(l, &l->nic, "nic", "pc");
		lat_report(l, &l->sw, "switch", "cc");
		lat_report(l, &l->span, "span", "pc");
		if (l->span.n)
			weft_metric(c, "span_ns", "ns",
				    l->span.sum / l->span.n *
					    weft_forth_pc_ns(l->f));
	}
	lat_report(l, &l->rtt, "rtt", "pc");
	if (l->rtt.n)
		weft_metric(c, "rtt_ns", "ns",
			    l->rtt.sum / l->rtt.n * weft_forth_pc_ns(l->f));
	program_barrier(&l->w, "lat.end");
	host_nap(l->w.h, T_settle);
	weft_forth_close(l->f);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct lat, field, def, range, OWN, doc)
static const struct weft_param lat_params[] = {
	P(BYTES, size, "24", "8..4096", "payload; three qwords are stamps"),
	P(BOOL, bench, "yes", "", "benchmark mode; no = only the stream"),
	P(U32, bursts, "32", "1..", "measurements"),
	P(U32, packets, "1", "1..64", "packets of a burst"),
	P(U32, stream, "0", "", "packets of the final stream; 0 = none"),
	P(BOOL, log, "no", "", "credit round trip from the event log"),
	P(BOOL, held, "no", "",
	  "all descriptors of the stream are posted before the engine starts"),
	P(U32, from, "0", "", "sending node"),
	P(U32, to, "1", "", "receiving node"),
	P(BOOL, stamps34, "yes", "", "a switch stamps, too"),
	P(TIME, pause, "20us", "1us..", "before a burst, and for its end"),
	P(TIME, phase, "1.7ns", "", "each burst begins so much later in its clock period"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_latency, .name = "forth.latency",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "benchmark mode: time stamps of NIC and switch",
	       .source = "forth.md 10.1", .state_size = sizeof(struct lat),
	       .params = lat_params, .ops = { .main = lat_main });
