/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.net: state of a direct network as a whole. The fabric makes one,
 * called `net`. It holds the topology, the data that traffic components share
 * and the common measurement, and searches for deadlock (deadlock.c).
 *
 *   0 ...... from ............... until .... all marked have arrived ... over
 *   warm-up      window: packets made in it are marked,     no new packets
 *                flits that arrive in it are accepted load
 *
 * Cycles are those of the crossbars' clock. */
#ifndef SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H
#define SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H

#include "measure/growth.h"
#include "measure/steady_state.h"
#include "systems/extoll/network/place.h"
#include "net/pattern.h"

struct trace;

/* Packets and flits in the queue of a source. */
struct extoll_net_backlog {
	uint64_t packets, flits;
};

/* Operations of a source of traffic, called by the network. */
struct extoll_net_source {
	/* Returns the packets that were due in the cycles from .. cycle - 1 and
	 * have not been made. */
	struct extoll_net_backlog (*backlog)(const struct weft_comp *c,
					     uint64_t from, uint64_t cycle);
	/* Returns true if the source has had a packet to send since before
	 * cycle `before`, and has not sent it. */
	bool (*starves)(const struct weft_comp *c, uint64_t before);
};

/* a source of traffic, comp = NULL where a node has none */
struct extoll_net_end {
	struct weft_comp *comp;
	const struct extoll_net_source *ops;
};

enum extoll_net_state {
	EXTOLL_NET_STEADY,
	/* The run ended in the warm-up, or before the last marked packet
	 * arrived. */
	EXTOLL_NET_UNSETTLED,
	EXTOLL_NET_SATURATED, /* less arrives than is offered: queues grow */
	EXTOLL_NET_STARVED,   /* some sources cannot send while others do */
	EXTOLL_NET_DEADLOCK,
};
extern const char *const extoll_net_state_names[];

enum {
	EXTOLL_NET_SENT,
	EXTOLL_NET_RECEIVED,
	EXTOLL_NET_FLITS,
	EXTOLL_NET_HOPS,
	EXTOLL_NET_N_COUNTERS
};

struct extoll_net {
	/* parameters: */
	uint64_t warmup, measure, watchdog;
	double precision;
	bool detect;
	char note[200];
	/* from the fabric, but the network owns the arrays: */
	struct topology *topo;
	struct weft_comp **xbar;
	uint32_t n_xbars;
	/* sources of traffic by node, and their shared data: */
	struct extoll_net_end *gen;
	uint32_t n_gens;
	struct weft_clock clk;
	struct trace *trace;
	uint32_t *perm;
	uint64_t perm_seed;
	/* the window: */
	/* Window: first cycle, and first cycle behind it. UINT64_MAX: not known
	 * yet. */
	uint64_t from, until;
	/* window has ended, sources may stop, window is the second one */
	bool closed, over, again;
	/* Packets made in the window, and how many of them have arrived. */
	uint64_t marked, marked_in;
	/* marked packets, including those due but not made */
	uint64_t expected;
	uint64_t offered; /* flits of the expected packets */
	/* Packets that wait in sources at the end of the window. */
	uint64_t backlog;
	uint64_t in_flits; /* flits that arrived in the window */
	/* sum of cycles over the marked packets that arrived */
	double latency_sum;
	struct weft_hist *latency, *network;
	struct steady steady;
	struct growth growth; /* change of the flits in sources and network */
	uint64_t made_flits;  /* flits made since the start of the run */
	enum extoll_net_state state;
	uint32_t starved;
	weft_time_t last; /* time of the last packet received */
	uint64_t total;	  /* packets of all sources; UINT64_MAX = without end */
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

/* Adds the source of traffic at `node` to this network. Called in ops.start.
 * The source will make `packets` packets (UINT64_MAX: without end). Returns 0,
 * or -EINVAL with a message if its clock differs from the network's, because
 * results count cycles. */
int extoll_net_join(struct weft_comp *net, uint32_t node,
		    struct extoll_net_end gen, const struct weft_clock *clk,
		    uint64_t packets, struct weft_err *err);
/* Loops over all sources. The loop's body is a statement. */
#define EXTOLL_NET_GENS(n, e)                                                  \
	for (const struct extoll_net_end *e = (n)->gen;                        \
	     e && e < (n)->gen + (n)->topo->nodes; e++)                        \
		if (e->comp)
/* Calls pattern_init() for the source at place `at`, with the shape of its
 * network. Returns 0, or a negative errno with a message. */
int extoll_net_pattern(const struct ex_place *at, uint64_t permutation,
		       uint32_t dest, struct pattern *p, struct weft_err *err);

/* A measured packet. */
struct extoll_net_pkt {
	uint64_t born, injected; /* cycles */
	uint32_t flits;
	bool marked; /* the packet counts in the latency */
};
/* Marks the packet if it was made in the window. */
void extoll_net_made(struct weft_comp *net, struct extoll_net_pkt *p);
/* Counts a packet whose last cell has left the source. */
static inline void extoll_net_sent(struct weft_comp *net)
{
	weft_count(net, EXTOLL_NET_SENT, 1);
}
/* Counts a packet whose last flit arrived at `cycle`. */
void extoll_net_received(struct weft_comp *net, const struct extoll_net_pkt *p,
			 uint64_t cycle);
/* Returns true once sources may stop, because the measurement has ended. */
static inline bool extoll_net_over(const struct extoll_net *n)
{
	return n && n->over;
}

/* measuring_window.c: extoll_net_window_open() opens the window at cycle
 * `from`. extoll_net_window_end() ends it at `until`. Unless `last` is true, a
 * second window may follow. */
enum {
	EXTOLL_NET_TAG_WATCH,
	EXTOLL_NET_TAG_OPEN,
	EXTOLL_NET_TAG_CLOSE,
	EXTOLL_NET_TAG_NONE
};
void extoll_net_window_open(struct weft_comp *net, uint64_t from);
void extoll_net_window_end(struct weft_comp *net, uint64_t until, bool last);

/* link_load.c: start to measure the load of the links, stop, and report the
 * load. Only the first stop counts. */
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
