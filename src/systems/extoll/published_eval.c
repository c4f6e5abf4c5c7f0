/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL: values of extoll.md section 8 that are computed from several metrics,
 * counters and parameters of a run. */
#include "systems/extoll/published_eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Settings that select runs of sweeps. FROM and TO are the bounds of the
 * measured window. */
/* clang-format off */
#define MORE_LINES "workload.lines=3000"
#define FROM "run.until=50us"
#define TO "run.until=306us"
#define WINDOW_NS 256000.0
#define BYPASS "extoll.xbar.mgt=17 extoll.xbar.mgt_ui=140"
#define FULL "extoll.xbar.mgt=34 extoll.xbar.mgt_ui=140"
#define NEXT_TO_NONE "extoll.xbar.mgt=0 extoll.xbar.mgt_ui=20"
/* clang-format on */

/* Defines a function whose value is one formula over the data d. */
#define EVAL(name, value)                                                      \
	double extoll_eval_##name(const struct repro_data *d)                  \
	{                                                                      \
		return value;                                                  \
	}

static double published_eval_gain(const struct repro_data *d, const char *from,
				  const char *to, const char *name)
{
	return repro_value(d, to, name) - repro_value(d, from, name);
}

/* ---- latency and throughput ---- */

static double half_rtt(const struct repro_data *d, const char *width)
{
	return repro_value(d, width, "n0.prog0.half_rtt");
}

/* clang-format off */
EVAL(half_16, half_rtt(d, W16) / 1000)
EVAL(half_32, half_rtt(d, W32) / 1000)
EVAL(half_gap, half_rtt(d, W16) - half_rtt(d, W32))
EVAL(put_ratio, repro_value(d, W32, "n0.prog0.bandwidth") /
		repro_value(d, W16, "n0.prog0.bandwidth"))
EVAL(commands, repro_value(d, NULL, "n0.prog0.rate") / 1e6)
/* clang-format on */

/* Returns the bytes per ns that the link carries while the processor stores
 * lines of 64 bytes. Two runs differ only in the number of lines, so that the
 * difference of their busy times is that of the additional lines. Each run
 * stores its lines three times. */
double extoll_eval_ht_raw(const struct repro_data *d)
{
	double lines =
		repro_number(d, MORE_LINES, "n0.prog0.lines", WEFT_P_U64) -
		repro_number(d, LINES, "n0.prog0.lines", WEFT_P_U64);
	double ns = 3 * lines * repro_value(d, LINES, "n0.prog0.line");

	return 4 *
	       published_eval_gain(d, LINES, MORE_LINES, "n0.bus.down_busy") /
	       ns;
}

/* ---- saturated crossbar ---- */

/* Returns the increase of the counters per ns, summed over all components that
 * have them. */
static double published_eval_rate(const struct repro_data *d,
				  const char *counters)
{
	return (repro_sum(d, TO, counters) - repro_sum(d, FROM, counters)) /
	       WINDOW_NS;
}

/* Bits per ns on the line of the first link port, where a symbol has ten
 * bits. */
EVAL(lane, published_eval_rate(d, "fault0.symbols") * 10)

/* Returns the bits per ns that left through internal ports and links. */
double extoll_eval_aggregate(const struct repro_data *d)
{
	const char *width = repro_param(d, TO, "s0.width");
	double bits = width && !strcmp(width, "w16") ? 16 : 32;

	if (!width)
		return NAN;
	return published_eval_rate(d, "s0.np?.words") * bits +
	       published_eval_rate(d, "fault?.symbols") * 8;
}

/* ---- structure ---- */

/* Counts the outputs of a kind that sent a frame. */
static double ports_used(const struct repro_data *d, const char *kind)
{
	double n = 0, frames = 0;
	char name[32];

	for (uint32_t i = 0; !isnan(frames); i++) {
		snprintf(name, sizeof(name), "s0.%s%u.frames", kind, i);
		frames = repro_value(d, NULL, name);
		n += frames > 0;
	}
	return n;
}

EVAL(ports, ports_used(d, "np") + ports_used(d, "lp"))

/* an input has a queue for each output and virtual channel */
EVAL(queues, extoll_eval_ports(d) * repro_value(d, NULL, "s0.vcs"))

/* Returns the number of clocks: HT receive (one for each 8 lanes, but the model
 * has one for all), HT core, EXTOLL core, and at each link the clock of the
 * peer. */
double extoll_eval_domains(const struct repro_data *d)
{
	double ht = repro_number(d, NULL, "n0.bus.width", WEFT_P_U64) / 8;
	double cores = !!repro_param(d, NULL, "n0.bus.core") +
		       !!repro_param(d, NULL, "n0.nic.clock");

	return ht + cores + repro_count(d, NULL, "s0.lp?.frames");
}

/* ---- transceivers ---- */

/* Returns the cycles that the transceivers add to a packet's time: the
 * difference to a run without transceivers, plus half a cycle. That run still
 * includes a delay of 20 unit intervals, and a cycle has 40. */
static double mgt_cycles(const struct repro_data *d, const char *point)
{
	return published_eval_gain(d, NEXT_TO_NONE, point, "net.latency") +
	       20 / 40.0;
}

EVAL(mgt_gain, 100 * (1 - mgt_cycles(d, BYPASS) / mgt_cycles(d, FULL)))

/* ---- behaviour ---- */

/* clang-format off */
EVAL(spacing, repro_min(d, NULL, "s*.spacing"))
EVAL(lost, repro_sum(d, NULL, "n*.prog0.lost") +
	   repro_sum(d, NULL, "n*.nic.velo_dropped") +
	   repro_sum(d, NULL, "n*.nic.velo_discarded") +
	   repro_sum(d, NULL, "n*.nic.velo_sent") -
	   repro_sum(d, NULL, "n*.nic.velo_received"))
/* clang-format on */
