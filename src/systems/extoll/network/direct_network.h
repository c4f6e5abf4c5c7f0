/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.net: state of a direct network as a whole. The fabric makes one,
 * called `net`. It holds the topology, the data that traffic components share
 * and the common measurement, and searches for deadlock (deadlock.c).
 *
 * Cycles are those of the crossbars' clock. */
#ifndef SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H
#define SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H

#include "net/network_meter.h"
#include "systems/extoll/network/place.h"

struct trace;

struct extoll_net {
	struct net_meter m;
	/* parameters: */
	uint64_t watchdog;
	char note[200];
	/* set by the fabric, but freed by this component: */
	struct topology *topo;
	struct weft_comp **xbar;
	uint32_t n_xbars;
	struct trace *trace; /* packets of all sources, or NULL */
	/* load of the cables in the window: */
	/* Busy cycles at the start of the window, by crossbar and link port. */
	uint64_t *busy;
	weft_time_t busy_from;
	double busy_mean, busy_max;
	const struct weft_port *busiest;
	uint32_t n_links;
	/* the watchdog: */
	/* packets sent and received at the watchdog's last run */
	uint64_t moved;
};

static inline struct extoll_net *extoll_net_of(const struct ex_place *p)
{
	return p->net ? p->net->state : NULL;
}

/* Adds the source `gen` at `node` to this network. Called in ops.start. The
 * source makes `packets` packets (UINT64_MAX: without end). Returns 0, or
 * -EINVAL with a message if the source's clock differs from the network's. */
int extoll_net_join(struct weft_comp *net, uint32_t node, struct net_end gen,
		    const struct weft_clock *clk, uint64_t packets,
		    struct weft_err *err);
/* Returns true once sources may stop, because the measurement has ended. */
static inline bool extoll_net_over(const struct extoll_net *n)
{
	return n && n->m.over;
}

/* link_load.c: extoll_net_links_begin() starts to measure the load of the
 * links, extoll_net_links_end() ends the measurement. Later calls of
 * extoll_net_links_end() have no effect. extoll_net_links_report() reports the
 * load. */
void extoll_net_links_begin(struct weft_comp *net);
void extoll_net_links_end(struct weft_comp *net);
void extoll_net_links_report(struct weft_comp *net);

/* deadlock.c: returns true if cells that have waited since before cycle
 * `before` wait for each other, and writes the circle to text. Otherwise sets
 * *blocked_p if a NIC or traffic component accepts none of the cells that wait
 * for it, and names it in text. */
bool extoll_net_cycle(const struct extoll_net *n, uint64_t before, char *text,
		      size_t size, bool *blocked_p);

#endif
