/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a network (network_meter.h). Joins the sources, opens and closes the
 * window of measurement, and reports results.
 *
 * A network is `saturated` if the content of sources and network has grown in
 * the window by more than chance (growth.h) and by more than a packet per
 * source. A network is `starved` if a source had a packet ready for the time of
 * the watchdog and sent none, while other sources sent packets. */
#include "net/network_meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "net/network_classes.h"

const char *const net_state_names[] = {
	[NET_STEADY] = "steady",       [NET_UNSETTLED] = "unsettled",
	[NET_SATURATED] = "saturated", [NET_STARVED] = "starved",
	[NET_DEADLOCK] = "deadlock",
};

void net_meter_init(struct net_meter *n)
{
	n->from = n->until = UINT64_MAX;
	steady_init(&n->steady);
}

void net_meter_fini(struct net_meter *n)
{
	free(n->gen);
	free(n->perm);
	free(n->cls);
}

int net_meter_join(struct weft_comp *net, uint32_t node, uint32_t nodes,
		   struct net_end gen, const struct weft_clock *clk,
		   uint64_t packets, struct weft_err *err)
{
	struct net_meter *n = net->state;

	if (!weft_clock_same(clk, &n->clk))
		return weft_fail(
			err, EINVAL,
			"%s.clock: sources measure in cycles, their clock must be that of all crossbars, e.g. %.*s.*.clock=200MHz",
			gen.comp->name, (int)strcspn(gen.comp->cls->name, "."),
			gen.comp->cls->name);
	if (!n->gen) {
		n->gen = calloc(nodes, sizeof(*n->gen));
		if (!n->gen)
			abort();
		n->nodes = nodes;
		n->latency = weft_hist(net, "latency", "cycles");
		n->network = weft_hist(net, "network_latency", "cycles");
		if (!n->detect)
			net_meter_open(net, n->warmup);
	}
	n->gen[node] = gen;
	n->n_gens++;
	n->total = n->total > UINT64_MAX - packets ? UINT64_MAX
						   : n->total + packets;
	return 0;
}

/* ---- the window ---- */

/* WINDOW_LOOKS is the number of samples in a window of known length. Without a
 * known length, the first samples are WINDOW_STEP cycles apart. */
enum { WINDOW_LOOKS = 16, WINDOW_STEP = 64 };

void net_meter_open(struct weft_comp *c, uint64_t from)
{
	struct net_meter *n = c->state;
	uint64_t length = n->again && n->measure > UINT64_MAX / 2
				  ? UINT64_MAX
				  : n->measure << n->again;

	n->from = from;
	n->until = length && length < UINT64_MAX - from ? from + length
							: UINT64_MAX;
	steady_init(&n->steady);
	growth_init(&n->growth, from,
		    length ? length / WINDOW_LOOKS : WINDOW_STEP);
	if (net_cycle_comes(&n->clk, from))
		weft_wake(c, NET_TAG_OPEN, weft_clock_edge(&n->clk, from));
	if (length && net_cycle_comes(&n->clk, n->until))
		weft_wake(c, NET_TAG_CLOSE, weft_clock_edge(&n->clk, n->until));
}

/* Takes the samples that are due before the event at `cycle`. A sample counts
 * the flits that were made, or were due at sources, and have not arrived. It
 * includes packets that a source holds ready for a later cycle, about one for
 * each source. */
static void window_look(struct weft_comp *c, uint64_t cycle)
{
	struct net_meter *n = c->state;
	uint64_t due;

	while (!n->closed && (due = growth_due(&n->growth)) <= cycle &&
	       due <= n->until) {
		uint64_t flits = n->made_flits;

		NET_METER_SOURCES(n, g)
		{
			flits += g->ops->backlog(g->comp, 0, due).flits;
		}
		growth_look(&n->growth,
			    (double)flits - (double)c->counters[NET_FLITS]);
	}
}

void net_meter_close(struct weft_comp *c, uint64_t until, bool last)
{
	struct net_meter *n = c->state;
	bool grows;
	double packet;

	if (n->closing)
		n->closing(c);
	n->until = until;
	window_look(c, until);
	/* Counts all packets that were due in the window, although a source may
	 * not have made them yet. */
	n->expected = n->marked;
	NET_METER_SOURCES(n, g)
	{
		struct net_backlog b =
			g->ops->backlog(g->comp, n->from, n->until);

		n->expected += b.packets;
		n->offered += b.flits;
		n->backlog += b.packets;
	}
	if (n->n_classes)
		net_class_close(n);
	/* The growth may be one packet for each source, because a packet that a
	 * source holds ready is not a queue. */
	packet = n->expected ? (double)n->offered / (double)n->expected : 0;
	grows = growth_found(&n->growth, packet * n->n_gens);
	if (grows && !last && !n->again) {
		/* Opens the second window. Packets marked in the first window
		 * do not count, because it may have been warm-up. */
		n->again = true;
		n->marked = n->marked_in = n->expected = 0;
		n->offered = n->backlog = n->in_flits = 0;
		n->latency_sum = 0;
		weft_hist_clear(n->latency);
		weft_hist_clear(n->network);
		net_class_again(n);
		net_meter_open(c, n->until);
		return;
	}
	n->closed = true;
	if (grows && growth_lasts(&n->growth)) {
		n->state = NET_SATURATED;
		n->over = true;
	}
	n->over |= net_meter_settled(n);
}

/* After every STEADY_ENOUGH batches, checks if the warm-up has ended or the
 * mean is known well enough. */
static void window_settle(struct weft_comp *c, uint64_t cycle)
{
	struct net_meter *n = c->state;
	double mean, half;

	if (n->steady.count || n->steady.n % STEADY_ENOUGH)
		return;
	if (n->from == UINT64_MAX) {
		if (cycle >= n->warmup && steady_reached(&n->steady))
			net_meter_open(c, cycle + 1);
		return;
	}
	if (n->precision > 0 && !n->closed && steady_reached(&n->steady) &&
	    steady_interval(&n->steady, steady_cut(&n->steady), &mean, &half) &&
	    half <= n->precision * mean)
		net_meter_close(c, cycle + 1, true);
}

void net_meter_made(struct weft_comp *net, struct net_packet *p)
{
	struct net_meter *n = net->state;

	n->made_flits += p->flits;
	p->marked = p->born >= n->from && p->born < n->until;
	/* A source with a limit may make more packets than it reported as its
	 * backlog. The additional packets are not marked. */
	p->marked &= !n->closed || n->marked < n->expected;
	if (n->n_classes)
		net_class_made(n, p);
	if (!p->marked)
		return;
	n->marked++;
	if (!n->closed)
		n->offered += p->flits;
}

void net_meter_received(struct weft_comp *net, const struct net_packet *p,
			uint64_t cycle)
{
	struct net_meter *n = net->state;
	double lat = (double)(cycle - p->born);
	bool marked = p->marked && p->born >= n->from;

	if (cycle >= n->from)
		window_look(net, cycle);
	weft_count(net, NET_RECEIVED, 1);
	weft_count(net, NET_FLITS, p->flits);
	n->last = weft_now(net);
	if (cycle >= n->from && cycle < n->until)
		n->in_flits += p->flits;
	if (n->n_classes)
		net_class_received(n, p, cycle);
	if (marked) {
		n->marked_in++;
		n->latency_sum += lat;
		weft_hist_put(n->latency, lat);
		weft_hist_put(n->network, (double)(cycle - p->injected));
		/* the sources stop once all marked packets have arrived */
		n->over |= net_meter_settled(n);
	}
	if (net->counters[NET_RECEIVED] == n->total && !n->closed &&
	    cycle >= n->from)
		net_meter_close(net, cycle + 1, true); /* all packets have
							* arrived */
	if (marked || n->from == UINT64_MAX) {
		steady_add(&n->steady, lat);
		window_settle(net, cycle);
	}
}

void net_meter_due(struct weft_comp *c)
{
	struct net_meter *n = c->state;

	if (!n->closed && weft_now(c) == weft_clock_edge(&n->clk, n->until))
		net_meter_close(c, n->until, false);
}

void net_meter_starved(struct net_meter *n, uint64_t before)
{
	uint32_t starved = 0;

	NET_METER_SOURCES(n, g)
	{
		starved += g->ops->starves(g->comp, before);
	}
	if (starved > n->starved)
		n->starved = starved;
}

/* ---- results ---- */

static void report_state(struct weft_comp *c)
{
	struct net_meter *n = c->state;
	char text[64];

	if (n->state == NET_STEADY && (!n->closed || (n->measure && !n->over)))
		n->state = NET_UNSETTLED;
	if (n->again) {
		snprintf(text, sizeof(text), "cycles %llu to %llu",
			 (unsigned long long)n->from,
			 (unsigned long long)n->until);
		result_param_set(weft_sim_result(c->sim), "net.window", text);
	}
	if (n->starved && n->state != NET_DEADLOCK)
		n->state = NET_STARVED;
	weft_metric(c, "starved", "sources", n->starved);
	weft_metric(c, "state", net_state_names[n->state], n->state);
	result_param_set(weft_sim_result(c->sim), "net.state",
			 net_state_names[n->state]);
}

static void report_load(struct weft_comp *c)
{
	struct net_meter *n = c->state;
	double mean, half, cycles = (double)(n->until - n->from);
	double nodes = (double)n->n_gens;

	weft_metric(c, "offered", "flits/cycle",
		    (double)n->offered / cycles / nodes);
	weft_metric(c, "accepted", "flits/cycle",
		    (double)n->in_flits / cycles / nodes);
	weft_metric(c, "backlog", "packets", (double)n->backlog / nodes);
	if (n->marked_in)
		weft_metric(c, "latency", "cycles",
			    n->latency_sum / (double)n->marked_in);
	if (steady_interval(&n->steady, 0, &mean, &half))
		weft_metric(c, "latency_ci", "cycles", half);
}

void net_meter_finish(struct weft_comp *c, uint64_t now)
{
	struct net_meter *n = c->state;

	if (!n->closed && n->n_gens && now > n->from)
		net_meter_close(c, now, true);
}

void net_meter_report(struct weft_comp *c)
{
	struct net_meter *n = c->state;

	if (!n->n_gens)
		return;
	if (n->closed && n->until > n->from) {
		report_load(c);
		net_class_report(c);
	}
	if (n->timed && n->total == c->counters[NET_RECEIVED])
		weft_metric(c, "completion", "cycles",
			    (double)weft_clock_cycle(&n->clk, n->last));
	report_state(c);
}
