/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.net: what belongs to a direct network as a whole.  The fabric
 * makes one, called `net`: it holds the topology, and what traffic components
 * share and measure together; it looks for deadlock (deadlock.c).
 *
 *   0 ...... from ............... until ........ all marked have come ... over
 *    warm-up      window: packets made in it are marked,     no new packets
 *                 flits that arrive in it are accepted load
 *
 * Cycles are those of the crossbars' clock. */
#ifndef SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H
#define SYSTEMS_EXTOLL_NETWORK_DIRECT_NETWORK_H

#include "measure/growth.h"
#include "measure/steady_state.h"
#include "systems/extoll/network/place.h"
#include "net/pattern.h"

struct trace;

/* Packets and flits that wait in a source. */
struct exnet_backlog {
	uint64_t packets, flits;
};

/* What the network asks of a source of traffic. */
struct exnet_source {
	/* What has arrived by `cycle` but was not made: that from cycle `from`
	 * on. */
	struct exnet_backlog (*backlog)(const struct weft_comp *c,
					uint64_t from, uint64_t cycle);
	/* It has had something to send since before `before`, and sent
	 * nothing. */
	bool (*starves)(const struct weft_comp *c, uint64_t before);
};

struct exnet_end { /* a source, or NULL */
	struct weft_comp *comp;
	const struct exnet_source *ops;
};

enum exnet_state {
	EXNET_STEADY,
	EXNET_UNSETTLED, /* ended in the warm-up, or before the last marked */
	EXNET_SATURATED, /* less arrives than is offered: queues grow */
	EXNET_STARVED,	 /* some cannot send while others do */
	EXNET_DEADLOCK,
};
extern const char *const exnet_state_names[];

enum { EXNET_SENT, EXNET_RECEIVED, EXNET_FLITS, EXNET_HOPS, EXNET_N_COUNTERS };

struct exnet {
	/* parameters */
	uint64_t warmup, measure, watchdog;
	double precision;
	bool detect;
	char note[200];
	/* from the fabric; arrays belong to us */
	struct topology *topo;
	struct weft_comp **xbar;
	uint32_t n_xbars;
	/* sources of traffic by node; what they share */
	struct exnet_end *gen;
	uint32_t n_gens;
	struct weft_clock clk;
	struct trace *trace;
	uint32_t *perm;
	uint64_t perm_seed;
	/* the window */
	uint64_t from, until;	    /* UINT64_MAX: not known yet */
	bool closed, over, again;   /* again: the second one */
	uint64_t marked, marked_in; /* made in the window; of these, arrived */
	uint64_t expected;	    /* those that will have been marked */
	uint64_t offered;	    /* flits of them */
	uint64_t backlog;	    /* packets waiting in sources at its end */
	uint64_t in_flits;	    /* arrived in the window */
	double latency_sum;	    /* of the marked */
	struct weft_hist *latency, *network;
	struct steady steady;
	struct growth growth; /* of what is in sources and network */
	uint64_t made_flits;  /* since the beginning */
	enum exnet_state state;
	uint32_t starved;
	weft_time_t last; /* packet received */
	uint64_t total;	  /* packets that will be made; UINT64_MAX = no end */
	/* how busy cables were in the window */
	uint64_t *busy; /* at its beginning, by crossbar and link */
	weft_time_t busy_from;
	double busy_mean, busy_max;
	const struct weft_port *busiest;
	uint32_t n_links;
	/* the watchdog */
	uint64_t moved; /* packets sent and received at the last look */
};

static inline struct exnet *exnet_of(const struct ex_place *p)
{
	return p->net ? p->net->state : NULL;
}

/* A source stands in this network at `node` (ops.start) and will make so many
 * packets (UINT64_MAX: without end).  Fails when its clock is not the
 * network's. */
int exnet_join(struct weft_comp *net, uint32_t node, struct exnet_end gen,
	       const struct weft_clock *clk, uint64_t packets,
	       struct weft_err *err);
/* Those there are; the loop's body is a statement. */
#define EXNET_GENS(n, e)                                                       \
	for (const struct exnet_end *e = (n)->gen;                             \
	     e && e < (n)->gen + (n)->topo->nodes; e++)                        \
		if (e->comp)
/* pattern_init for a source that stands at `at`, with the network's shape. */
int exnet_pattern(const struct ex_place *at, uint64_t permutation,
		  uint32_t dest, struct pattern *p, struct weft_err *err);
/* The permutation of all nodes by this seed. */
const uint32_t *exnet_permutation(struct exnet *n, uint64_t seed);

/* A packet, as measured. */
struct exnet_pkt {
	uint64_t born, injected; /* cycles */
	uint32_t flits;
	bool marked; /* counts in the latency */
};
/* Marks it when it is of the window. */
void exnet_made(struct weft_comp *net, struct exnet_pkt *p);
/* Its last cell has left the source. */
void exnet_sent(struct weft_comp *net);
/* Its last flit is here; it was taken at `cycle`. */
void exnet_received(struct weft_comp *net, const struct exnet_pkt *p,
		    uint64_t cycle);
static inline bool exnet_over(const struct exnet *n)
{
	return n && n->over;
}

/* measuring_window.c: the window begins at `from`; is at its end, where it may
 * begin anew; ends at `until` for good. */
enum { EXNET_TAG_WATCH, EXNET_TAG_OPEN, EXNET_TAG_CLOSE, EXNET_TAG_NONE };
void exnet_window_open(struct weft_comp *net, uint64_t from);
void exnet_window_end(struct weft_comp *net);
void exnet_window_close(struct weft_comp *net, uint64_t until);

/* link_load.c: how busy links are from now on, up to now (the first call
 * counts), and that in the results. */
void exnet_links_begin(struct weft_comp *net);
void exnet_links_end(struct weft_comp *net);
void exnet_links_report(struct weft_comp *net);

/* deadlock.c: cells that have waited since before `before` and wait for each
 * other; writes the way round.  Or one that waits for an end that takes
 * nothing: *blocked_p. */
bool exnet_cycle(const struct exnet *n, uint64_t before, char *text,
		 size_t size, bool *blocked_p);

#endif
