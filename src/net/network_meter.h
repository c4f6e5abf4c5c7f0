/* SPDX-License-Identifier: Apache-2.0 */
/* Measurement of a network as a whole, for the component that is the network:
 * packets made in a window are marked, and the run lasts until they have
 * arrived.
 *
 *   0 ...... from ............... until .... all marked have arrived ... over
 *   warm-up      window: packets made in it are marked,     no new packets
 *                flits that arrive in it are accepted load
 *
 * Cycles are those of the network's clock. If the content of sources and
 * network has grown by the window's end, the network is either saturated or
 * still filling up. A second window follows, which is twice as long. If the
 * content still grows in the second half of that window, the network is
 * saturated. Otherwise the first window was part of the warm-up. */
#ifndef NET_NETWORK_METER_H
#define NET_NETWORK_METER_H

#include "measure/growth.h"
#include "measure/hist.h"
#include "measure/steady_state.h"
#include "weft/sim.h"

/* Packets and flits in the queue of a source. */
struct net_backlog {
	uint64_t packets, flits;
};

/* Functions of a source of traffic that the network calls. */
struct net_source_ops {
	/* Returns the packets that were due by `cycle` but are not made yet,
	 * without those due before `from`. */
	struct net_backlog (*backlog)(const struct weft_comp *c, uint64_t from,
				      uint64_t cycle);
	/* Returns the backlog of one class. NULL in networks that have no
	 * classes. */
	struct net_backlog (*backlog_of)(const struct weft_comp *c,
					 uint32_t cls, uint64_t from,
					 uint64_t cycle);
	/* Returns true if the source has had a packet ready since a cycle
	 * earlier than `before`, and has sent none. */
	bool (*starves)(const struct weft_comp *c, uint64_t before);
};

struct net_end { /* a source, or NULL */
	struct weft_comp *comp;
	const struct net_source_ops *ops;
};

enum net_state {
	NET_STEADY,
	/* The run ended in the warm-up, or before the last marked packet
	 * arrived. */
	NET_UNSETTLED,
	NET_SATURATED, /* less arrives than is offered: queues grow */
	NET_STARVED,   /* some sources cannot send while others do */
	NET_DEADLOCK,
};
extern const char *const net_state_names[];

enum { NET_SENT, NET_RECEIVED, NET_FLITS, NET_HOPS, NET_N_COUNTERS };

/* A class of packets (network_classes.h). */
enum { NET_CLASSES_MAX = 16, NET_CLASS_NONE = 255 };
struct net_class {
	char name[24];
	uint64_t offered, in_flits; /* flits of the window */
	struct weft_hist *latency;
};

/* State of the measurement. It must be the first member of the state of the
 * network's component. */
struct net_meter {
	/* parameters: */
	uint64_t warmup, measure;
	double precision;
	bool detect;
	/* gen[i] is the source of node i, and is empty if the node has none.
	 * gen has `nodes` entries, of which n_gens are not empty. */
	struct net_end *gen;
	uint32_t nodes, n_gens;
	/* permutation that the patterns of all sources share, and the seed that
	 * it was drawn from */
	uint32_t *perm;
	uint64_t perm_seed;
	/* clock of the network; the clock of each source must equal it */
	struct weft_clock clk;
	/* If not NULL, called before the window ends, so that the component can
	 * finish its own measurements. */
	void (*closing)(struct weft_comp *c);
	/* the window: */
	/* cycles of the window; UINT64_MAX: not known yet */
	uint64_t from, until;
	bool closed, over, again; /* again: this is the second window */
	/* number of packets made in the window, and how many of these packets
	 * have arrived */
	uint64_t marked, marked_in;
	uint64_t expected; /* packets that will be marked in all */
	uint64_t offered;  /* flits of the expected packets */
	/* Packets that wait in sources at the end of the window. */
	uint64_t backlog;
	uint64_t in_flits;  /* flits that arrived in the window */
	double latency_sum; /* sum over the marked packets */
	struct weft_hist *latency, *network;
	struct steady steady;
	struct growth growth; /* growth of the content of sources and network */
	uint64_t made_flits;  /* flits made since the start of the run */
	enum net_state state;
	uint32_t starved;
	weft_time_t last; /* time of the last packet received */
	struct net_class *cls;
	uint32_t n_classes;
	/* number of requests made in the window, number of replies to them that
	 * have arrived, and histogram of round trips (NULL without requests) */
	uint64_t trips, trips_in;
	struct weft_hist *trip;
	/* All packets are known before the run, so that the time until the last
	 * of them arrives is a result. */
	bool timed;
	uint64_t total; /* packets to be made; UINT64_MAX = no end */
};

/* Rows of the parameters and of the first counters of the component. */
#define NET_METER_PARAM(type, field, def, range, doc)                          \
	WEFT_PARAM(type, struct net_meter, field, def, range, OWN, doc)
#define NET_METER_PARAMS                                                       \
	NET_METER_PARAM(U64, warmup, "0", "",                                  \
			"cycles before the window of measurement"),            \
		NET_METER_PARAM(                                               \
			BOOL, detect, "no", "",                                \
			"and as long as latency has not settled (MSER-5)"),    \
		NET_METER_PARAM(                                               \
			U64, measure, "0", "",                                 \
			"cycles of the window, twice as many in the second "   \
			"one when content grows in the first; the run ends "   \
			"when what was made in it has arrived; 0 = to the "    \
			"end of the run"),                                     \
		NET_METER_PARAM(                                               \
			REAL, precision, "0", "0..1",                          \
			"the window ends when the 95 % confidence interval "   \
			"of the mean latency is this narrow, +- as a share "   \
			"of it; 0 = no")
#define NET_METER_COUNTERS(hops)                                               \
	[NET_SENT] = { "sent", "packets", "packets into the network" },        \
	[NET_RECEIVED] = { "received", "packets", "packets out of it" },       \
	[NET_FLITS] = { "flits", "flits", "flits out of it" },                 \
	[NET_HOPS] = { "hops", "packets", hops }

/* net_meter_init() sets up the state in ops.init. net_meter_fini() frees in
 * ops.fini what the meter allocated. */
void net_meter_init(struct net_meter *n);
void net_meter_fini(struct net_meter *n);
/* Adds a source at `node` of `nodes`. Called in ops.start, when the network's
 * clock is already set. The source makes `packets` packets (UINT64_MAX: without
 * end). Returns 0, or -EINVAL with a message if the source's clock differs from
 * the network's clock, because results count cycles. */
int net_meter_join(struct weft_comp *net, uint32_t node, uint32_t nodes,
		   struct net_end gen, const struct weft_clock *clk,
		   uint64_t packets, struct weft_err *err);
/* Loops over all sources. The loop's body is a statement. */
#define NET_METER_SOURCES(n, e)                                                \
	for (const struct net_end *e = (n)->gen;                               \
	     e && e < (n)->gen + (n)->nodes; e++)                              \
		if (e->comp)

/* A measured packet. */
struct net_packet {
	uint64_t born, injected; /* cycles */
	uint32_t flits;
	bool marked; /* the packet counts in the latency */
	uint8_t cls; /* number of its class, or NET_CLASS_NONE */
};
/* Marks the packet if it was made in the window. */
void net_meter_made(struct weft_comp *net, struct net_packet *p);
/* Counts a packet whose last flit has left the source. */
static inline void net_meter_sent(struct weft_comp *net)
{
	weft_count(net, NET_SENT, 1);
}
/* Counts a packet whose last flit arrived at `cycle`. */
void net_meter_received(struct weft_comp *net, const struct net_packet *p,
			uint64_t cycle);
/* net_meter_asked() counts a request that was made. net_meter_answered() counts
 * a reply that arrived at `cycle`, to a request that was made in cycle `asked`
 * (network_classes.c). */
void net_meter_asked(struct weft_comp *net, const struct net_packet *p);
void net_meter_answered(struct weft_comp *net, uint64_t asked, uint64_t cycle);
/* Returns true if all packets and replies that the window waits for have
 * arrived. */
static inline bool net_meter_settled(const struct net_meter *n)
{
	return n->closed && n->marked_in == n->expected &&
	       n->trips_in == n->trips;
}
/* Returns true once sources may stop, because the measurement has ended. */
static inline bool net_meter_over(const struct net_meter *n)
{
	return n && n->over;
}

/* Tags of the component's events. The component calls net_meter_due() for
 * NET_TAG_CLOSE. */
enum { NET_TAG_WATCH, NET_TAG_OPEN, NET_TAG_CLOSE, NET_TAG_NONE };
/* Returns true if the time of this cycle fits in 63 bits, so that an event can
 * be set for it. */
static inline bool net_cycle_comes(const struct weft_clock *clk, uint64_t cycle)
{
	/* the slowest clock has 1 Hz */
	return !(cycle >> 23) || cycle < weft_clock_cycle(clk, UINT64_MAX / 2);
}
/* Opens the window at `from`. */
void net_meter_open(struct weft_comp *net, uint64_t from);
/* Ends the window at `until`. Opens a second window if the first one showed
 * growth and `last` is false. */
void net_meter_close(struct weft_comp *net, uint64_t until, bool last);
/* Ends the window if it ends now. */
void net_meter_due(struct weft_comp *net);
/* Counts the sources that have had a packet ready since a cycle earlier than
 * `before` and have sent none. The state `starved` is derived from this
 * count. */
void net_meter_starved(struct net_meter *n, uint64_t before);

/* Called in ops.finish. Closes the window at cycle `now` if the run ended
 * before the window did. */
void net_meter_finish(struct weft_comp *net, uint64_t now);
/* Reports percentiles of a histogram as metrics PREFIX_p50 etc. */
void net_meter_percentiles(struct weft_comp *net, const char *prefix,
			   const struct hist *h);
/* Reports metrics of the window and the state of the network. */
void net_meter_report(struct weft_comp *net);

#endif
