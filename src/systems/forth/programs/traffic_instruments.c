/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic: takes measurements with the NIC's own instruments (forth.md
 * 2.5-2.8), and runs the timed actions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "systems/forth/lib/device.h"
#include "systems/forth/programs/traffic.h"

#define MIB 1048576.0

/* ---- timed actions ---- */

/* Measures the NIC's traffic with its qword counters. Reports the rates since
 * the last call if `end`. */
static void traffic_window(struct traffic *t, bool end)
{
	uint32_t out = weft_forth_load(t->f, FORTH_H2N_QWORD);
	uint32_t in = weft_forth_load(t->f, FORTH_N2H_QWORD);
	weft_time_t now = weft_host_now(t->w.h);
	double s = (double)(now - t->meas.at) / WEFT_SEC;

	if (end) {
		weft_metric(t->w.c, "window_out", "MiB/s",
			    8.0 * (out - t->meas.out) / s / MIB);
		weft_metric(t->w.c, "window_in", "MiB/s",
			    8.0 * (in - t->meas.in) / s / MIB);
	}
	t->meas.out = out;
	t->meas.in = in;
	t->meas.at = now;
}

/* Without `home`: reports, for each flow, the words that were sent and for
 * which no credit has returned. With `home`: checks that these words are fewer
 * than a credit's granularity. */
static void traffic_credit_state(struct traffic *t, bool home)
{
	char name[32];

	for (uint32_t d = 0; d < t->w.n && d < FORTH_QUEUES_MAX; d++) {
		uint32_t sent, fwd;

		weft_forth_credit(t->f, d, &sent, &fwd);
		sent = (sent - fwd) & 0xFFF;
		snprintf(name, sizeof(name), "outstanding%u", d);
		if (!home)
			weft_metric(t->w.c, name, "words", sent);
		else if (sent >= 32)
			weft_check_failed(
				t->w.c,
				"flow %u: %u words of credit did not come home",
				d, sent);
	}
}

struct traffic_action {
	weft_time_t at; /* time after the start */
	enum { ACT_STALL, ACT_RESUME, ACT_FROM, ACT_TO } act;
};

static int traffic_action_cmp(const void *a, const void *b)
{
	const struct traffic_action *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

weft_time_t traffic_timed(struct traffic *t)
{
	struct traffic_action a[4];
	weft_time_t now = t->now - t->t0;
	uint32_t n = 0;

	if (!t->stall_for && !t->meas_for)
		return WEFT_NEVER;
	if (t->stall_for) {
		a[n++] = (struct traffic_action){ t->stall_from, ACT_STALL };
		a[n++] = (struct traffic_action){ t->stall_from + t->stall_for,
						  ACT_RESUME };
	}
	if (t->meas_for) {
		a[n++] = (struct traffic_action){ t->meas_from, ACT_FROM };
		a[n++] = (struct traffic_action){ t->meas_from + t->meas_for,
						  ACT_TO };
	}
	qsort(a, n, sizeof(a[0]), traffic_action_cmp);
	for (; t->step < n && a[t->step].at <= now; t->step++) {
		switch (a[t->step].act) {
		case ACT_STALL:
		case ACT_RESUME:
			weft_forth_enable(t->f, a[t->step].act == ACT_RESUME);
			break;
		case ACT_FROM:
			traffic_window(t, false);
			break;
		case ACT_TO:
			traffic_window(t, true);
			traffic_credit_state(t, false);
			break;
		}
	}
	return t->step < n ? t->t0 + a[t->step].at : WEFT_NEVER;
}

/* ---- sampler ---- */

void traffic_meas_start(struct traffic *t)
{
	weft_forth_pc_ns(t->f);
	weft_forth_counters_clear(t->f);
	if (t->interval)
		weft_forth_sample_start(t->f, t->interval, FORTH_SAMPLES);
}

static uint32_t sample_get(const struct weft_forth_sample *s, bool in)
{
	return in ? s->in : s->out;
}

/* Reports the rate in MiB/s between one tenth and nine tenths of the volume. */
static void traffic_rate(struct traffic *t, const struct weft_forth_sample *s,
			 uint32_t n, bool in, const char *name)
{
	uint32_t end = sample_get(&s[n - 1], in), i = 0, k = n - 1;
	double us = t->interval * weft_forth_pc_ns(t->f) / 1000;

	while (i < k && sample_get(&s[i], in) < end / 10)
		i++;
	while (k > i && sample_get(&s[k], in) > (uint64_t)end * 9 / 10)
		k--;
	if (k < i + 4)
		return;
	weft_metric(t->w.c, name, "MiB/s",
		    8.0 * (sample_get(&s[k], in) - sample_get(&s[i], in)) /
			    ((k - i) * us) * 1e6 / MIB);
}

static void traffic_samples(struct traffic *t)
{
	double ns = (double)(weft_host_now(t->w.h) - t->t0) / WEFT_NS;
	double us = t->interval * weft_forth_pc_ns(t->f) / 1000;
	double taken = ns / (t->interval * weft_forth_pc_ns(t->f)) - 1;
	uint32_t n = taken < FORTH_SAMPLES ? (uint32_t)taken : FORTH_SAMPLES;
	struct weft_forth_sample *s;

	if (taken < 8)
		return;
	s = weft_host_calloc(t->w.h, n, sizeof(*s));
	if (!s)
		return;
	weft_forth_sample_read(t->f, 0, n, s);
	/* drop samples of the quiet time at the end */
	while (n > 1 && s[n - 1].in == s[n - 2].in &&
	       s[n - 1].out == s[n - 2].out)
		n--;
	traffic_rate(t, s, n, true, "bandwidth_in");
	traffic_rate(t, s, n, false, "bandwidth_out");
	for (uint32_t i = 1; t->series && i < n; i++) {
		weft_series_add(t->w.c, "in", "us", "MiB/s", i * us,
				8.0 * (s[i].in - s[i - 1].in) / us * 1e6 / MIB);
		weft_series_add(t->w.c, "out", "us", "MiB/s", i * us,
				8.0 * (s[i].out - s[i - 1].out) / us * 1e6 /
					MIB);
	}
	weft_host_free(t->w.h, s);
}

/* ---- results ---- */

static void traffic_sources(struct traffic *t)
{
	uint64_t msgs = 0, bytes = 0;
	char name[32];

	for (uint32_t s = 0; s < t->w.n; s++) {
		const struct traffic_rx *rx = &t->rx[s];

		msgs += rx->got;
		bytes += rx->bytes;
		if (!rx->got)
			continue;
		snprintf(name, sizeof(name), "from%u", s);
		weft_metric(t->w.c, name, "messages", (double)rx->got);
		if (rx->last <= rx->first || !t->peer[s].notify)
			continue;
		snprintf(name, sizeof(name), "rate_from%u", s);
		weft_metric(
			t->w.c, name, "MiB/s",
			(double)rx->bytes /
				((double)(rx->last - rx->first) / WEFT_SEC) /
				MIB);
	}
	weft_metric(t->w.c, "received", "messages", (double)msgs);
	weft_metric(t->w.c, "received_bytes", "B", (double)bytes);
}

static void traffic_counters(struct traffic *t)
{
	struct weft_forth_counters *c = &t->total;
	uint64_t errors;

	weft_forth_counters_read(t->f, c);
	errors = weft_forth_counters_errors(c);
	weft_metric(t->w.c, "nic_errors", "", (double)errors);
	weft_metric(t->w.c, "packets_out", "packets", c->out_packets);
	weft_metric(t->w.c, "packets_in", "packets", c->in_packets);
	weft_metric(t->w.c, "net_out", "cc", c->out_cc);
	weft_metric(t->w.c, "backpressure", "cc", c->backpressure_cc);
	weft_metric(t->w.c, "remote_notifications", "", c->remote_notes);
	weft_metric(t->w.c, "local_notifications", "", c->local_notes);
	if (errors)
		weft_check_failed(
			t->w.c, "error counters of the NIC add up to %" PRIu64,
			errors);
}

void traffic_meas_end(struct traffic *t)
{
	if (t->interval)
		traffic_samples(t);
	traffic_credit_state(t, true);
	traffic_counters(t);
	traffic_sources(t);
	weft_metric(t->w.c, "sent", "messages", (double)t->sent);
	weft_metric(t->w.c, "errors", "", (double)t->errors);
	weft_metric(t->w.c, "elapsed", "us",
		    (double)(t->moved - t->t0) / WEFT_US);
}
