/* SPDX-License-Identifier: Apache-2.0 */
/* Computed rows, see published_eval.h. */
#include "systems/hostport/published_eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* ---- ULTRA ---- */

static double published_eval_gap(const struct repro_data *d, const char *from,
				 const char *to)
{
	return repro_value(d, NULL, to) - repro_value(d, NULL, from);
}

double hostport_eval_ultra_store(const struct repro_data *d)
{
	return published_eval_gap(d, "n0.prog0.sent_at",
				  "n0.nic.ultra_seen_at");
}

double hostport_eval_ultra_write(const struct repro_data *d)
{
	return published_eval_gap(d, "n1.nic.ultra_handed_at",
				  "n1.prog0.got_at");
}

/* Returns a clock parameter in Hz. */
static double clock_of(const struct repro_data *d, const char *name)
{
	const char *text = repro_param(d, NULL, name);
	struct weft_clock c;

	if (!text || units_parse(WEFT_P_CLOCK, "", text, &c, sizeof(c), NULL))
		return NAN;
	return 1e15 * (double)c.den / (double)c.num;
}

double hostport_eval_ultra_units(const struct repro_data *d)
{
	return (repro_value(d, NULL, "n0.nic.ultra_requester") +
		repro_value(d, NULL, "n1.nic.ultra_completer")) /
	       clock_of(d, "n0.nic.f_core") * 1e9;
}

double hostport_eval_ultra_latency(const struct repro_data *d)
{
	return (repro_value(d, d->row->point, "n0.prog0.latency") +
		repro_value(d, d->row->point, "n1.prog0.latency")) /
	       2;
}

double hostport_eval_ultra_share(const struct repro_data *d)
{
	return 100 *
	       (hostport_eval_ultra_store(d) + hostport_eval_ultra_write(d)) /
	       repro_value(d, NULL, "n1.prog0.latency");
}

/* Returns the bus transactions of a packet: bursts of the sender's host and
 * writes of the receiver's NIC. */
double hostport_eval_ultra_bus(const struct repro_data *d)
{
	return repro_value(d, NULL, "n0.host.wc_bursts") /
		       repro_value(d, NULL, "n0.nic.ultra_sent") +
	       repro_value(d, NULL, "n1.nic.writes") /
		       repro_value(d, NULL, "n1.nic.ultra_received");
}

/* Returns how many of the published start-up latencies of other networks, in
 * us, are longer than that of ULTRA (hostport.md 11.8). */
double hostport_eval_ultra_fastest(const struct repro_data *d)
{
	static const double others[] = { 37.45, 3.4, 2.78, 2.76, 1.71, 1.35 };
	double ns = hostport_eval_ultra_latency(d), n = 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		n += ns < 1000 * others[i];
	return n;
}

/* ---- ATOLL ---- */

static double published_eval_least(const struct repro_data *d,
				   const char *point, const char *name)
{
	const struct hist *h = repro_hist(d, point, name);

	return h && h->count ? h->min : NAN;
}

double hostport_eval_atoll_hop(const struct repro_data *d)
{
	return published_eval_least(d, "workload.partner=4", "n1.nic.hop") /
	       clock_of(d, "n1.nic.clock") * 1e9;
}

double hostport_eval_atoll_fall(const struct repro_data *d)
{
	return published_eval_least(d, "workload.partner=4",
				    "n1.nic.fall_through");
}

/* Returns the slope of half the round trip over the number of links, less the
 * delay of the cable. */
double hostport_eval_atoll_slope(const struct repro_data *d)
{
	double n = (double)d->n_points, sx = 0, sy = 0, sxx = 0, sxy = 0;
	const char *cable = repro_param(d, NULL, "link.delay");
	weft_time_t fs;

	if (!cable ||
	    units_parse(WEFT_P_TIME, "", cable, &fs, sizeof(fs), NULL))
		return NAN;
	for (size_t i = 0; i < d->n_points; i++) {
		const char *at = d->points[i].name;
		double x = repro_number(d, at, "n0.prog0.partner", WEFT_P_U64);
		double y = repro_value(d, at, "n0.prog0.half_rtt");

		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	return (n * sxy - sx * sy) / (n * sxx - sx * sx) - (double)fs / WEFT_NS;
}

/* ---- network ---- */

#define FROM "run.until=50us"
#define TO   "run.until=306us"

static double published_eval_later(const struct repro_data *d, const char *glob)
{
	return repro_sum(d, TO, glob) - repro_sum(d, FROM, glob);
}

/* Returns the rate of a node's links, both directions together: the time in
 * which links were busy, multiplied by the rate of a busy internal line. The
 * internal line gives the rate, because it carries nothing but flits. */
double hostport_eval_links(const struct repro_data *d)
{
	const char *width = repro_param(d, TO, "s0.width");
	double busy = published_eval_later(d, "s0.lp?.busy") +
		      published_eval_later(d, "s[1-6].lp0.busy");
	double bits = width && !strcmp(width, "w16") ? 16 : 32;

	return published_eval_later(d, "s0.np0.words") * bits /
	       published_eval_later(d, "s0.np0.busy") * busy / 256000;
}

/* ---- Triggerpage ---- */

double hostport_eval_trigger_more(const struct repro_data *d)
{
	return published_eval_gap(d, "n0.prog0.register", "n0.prog0.trigger");
}

double hostport_eval_threads_ratio(const struct repro_data *d)
{
	const char *name = "n0.prog0.per_operation";

	return repro_value(d, "workload.threads=64", name) /
	       repro_value(d, "workload.threads=8", name);
}

/* ---- tagged instructions ---- */

/* Returns the host accesses and device reads per instruction: the difference
 * between runs of 30 and of 10 instructions, divided by 20. */
double hostport_eval_issue(const struct repro_data *d)
{
	static const char *const names[] = { "n0.bus.pio_loads",
					     "n0.bus.pio_stores",
					     "n0.bus.tagged", "n0.bus.reads" };
	char few[96], many[96];
	double n = 0;

	snprintf(few, sizeof(few), "%s workload.count=10", d->row->point);
	snprintf(many, sizeof(many), "%s workload.count=30", d->row->point);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		n += repro_value(d, many, names[i]) -
		     repro_value(d, few, names[i]);
	return n / 20;
}
