/* SPDX-License-Identifier: Apache-2.0 */
/* See hostport_eval.h. */
#include "front/repro/hostport_eval.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "link/extoll_wire.h"

/* ---- ULTRA ---- */

static double gap(const struct repro_data *d, const char *from, const char *to)
{
	return repro_value(d, NULL, to) - repro_value(d, NULL, from);
}

double hostport_eval_ultra_store(const struct repro_data *d)
{
	return gap(d, "n0.prog0.sent_at", "n0.nic.ultra_seen_at");
}

double hostport_eval_ultra_write(const struct repro_data *d)
{
	return gap(d, "n1.nic.ultra_handed_at", "n1.prog0.got_at");
}

/* Hz of a parameter. */
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
	return (repro_value(d, NULL, "n0.prog0.latency") +
		repro_value(d, NULL, "n1.prog0.latency")) /
	       2;
}

double hostport_eval_ultra_share(const struct repro_data *d)
{
	return 100 *
	       (hostport_eval_ultra_store(d) + hostport_eval_ultra_write(d)) /
	       repro_value(d, NULL, "n1.prog0.latency");
}

/* Bursts of the sender's host and writes of the receiver's NIC per packet. */
double hostport_eval_ultra_bus(const struct repro_data *d)
{
	return repro_value(d, NULL, "n0.host.wc_bursts") /
		       repro_value(d, NULL, "n0.nic.ultra_sent") +
	       repro_value(d, NULL, "n1.nic.writes") /
		       repro_value(d, NULL, "n1.nic.ultra_received");
}

/* Published start-up latencies in us (11.8). */
double hostport_eval_ultra_fastest(const struct repro_data *d)
{
	static const double others[] = { 37.45, 3.4, 2.78, 2.76, 1.71, 1.35 };
	double ns = hostport_eval_ultra_latency(d), n = 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		n += ns < 1000 * others[i];
	return n;
}

static double htx(const struct repro_data *d, const char *point)
{
	return (repro_value(d, point, "n0.prog0.latency") +
		repro_value(d, point, "n1.prog0.latency")) /
	       2;
}

double hostport_eval_htx_lumped(const struct repro_data *d)
{
	return htx(d, "nodes.bus.preset=htx100");
}

double hostport_eval_htx_wire(const struct repro_data *d)
{
	return htx(d, "nodes.bus.preset=htx100_wire");
}

double hostport_eval_htx_load(const struct repro_data *d)
{
	return repro_value(d, "nodes.bus.preset=htx100", "n0.prog0.load");
}

/* ---- ATOLL ---- */

static double least(const struct repro_data *d, const char *point,
		    const char *name)
{
	const struct hist *h = repro_hist(d, point, name);

	return h && h->count ? h->min : NAN;
}

double hostport_eval_atoll_hop(const struct repro_data *d)
{
	return least(d, "workload.partner=4", "n1.nic.hop") /
	       clock_of(d, "n1.nic.clock") * 1e9;
}

double hostport_eval_atoll_fall(const struct repro_data *d)
{
	return least(d, "workload.partner=4", "n1.nic.fall_through");
}

/* From host port to host port, four links and one, less the cables. */
double hostport_eval_atoll_slope(const struct repro_data *d)
{
	const double cable = 30.30303;

	return (least(d, "workload.partner=4", "n4.nic.way") -
		least(d, "workload.partner=1", "n1.nic.way")) /
		       3 -
	       cable;
}

/* ---- network ---- */

/* Both directions of a node's links, 16 or 32 bits a cycle, in Gbit/s. */
double hostport_eval_links(const struct repro_data *d)
{
	const char *width = repro_param(d, NULL, "s0.width");

	if (!width)
		return NAN;
	return clock_of(d, "s0.clock") * (strcmp(width, "w16") ? 32 : 16) *
	       EX_LINKS * 2 / 1e9;
}
