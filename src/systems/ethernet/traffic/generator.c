/* SPDX-License-Identifier: Apache-2.0 */
/* Class eth.gen: a station that has no host. It is a source and a sink of
 * Ethernet frames.
 *
 * It sends `frames` frames of `size` bytes, as fast as the line and `load`
 * allow, to one station or to all of `stations` in random order. `load` is a
 * fraction of the line's rate, with even or random gaps. The station checks
 * received frames: bytes, order and number for each source. With `pause` it
 * obeys pause frames.
 *
 * Data after the header (big endian), in bytes: source 4, number 4, time of
 * sending in fs 8, then bytes that are computed from source and number. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "net/traffic_source.h"
#include "systems/ethernet/link/wire.h"

enum { TYPE = 0x88b6, DATA = ETH_HEAD + 16 };

enum {
	C_SENT,
	C_RECEIVED,
	C_BYTES,
	C_LOST,
	C_LATE,
	C_BAD,
	C_WRONG,
	C_STRAY,
	C_PAUSES,
	C_N
};
static const struct weft_counter counters[C_N] = {
	[C_SENT] = { "sent", "frames", "frames sent" },
	[C_RECEIVED] = { "received", "frames", "frames for this station" },
	[C_BYTES] = { "bytes", "bytes", "of those, without FCS" },
	[C_LOST] = { "lost", "frames", "numbers that were skipped" },
	[C_LATE] = { "late", "frames", "came again, or behind a later one" },
	[C_BAD] = { "bad", "frames", "FCS, length or symbols wrong" },
	[C_WRONG] = { "wrong", "frames", "good FCS, but other bytes" },
	[C_STRAY] = { "stray", "frames", "for somebody else, or not of ours" },
	[C_PAUSES] = { "pauses", "frames", "pause frames obeyed" },
};

struct eth_gen {
	uint32_t station, to, stations, size, gaps;
	uint64_t frames;
	double load;
	weft_time_t at;
	bool pause;
	/* state: */
	struct weft_comp *comp;
	struct traffic_source source; /* times in fs */
	struct weft_hist *latency;
	uint8_t addr[ETH_ADDR];
	uint32_t *number, *expected; /* by station */
	weft_time_t held; /* time until which a pause frame stops sending */
	struct weft_timer tx, rx;
	struct weft_frame *line;
};

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct eth_gen, field, def, range, OWN, doc)
static const struct weft_param params[] = {
	P(U32,  station,  "4294967295", "",          "number of the station; default: the digits in its name"),
	P(U32,  to,       "4294967295", "",          "station to send to; default: all others at random"),
	P(U32,  stations, "2",          "1..65536",  "stations there are, from 0 on"),
	P(U32,  size,     "1514",       "60..9014",  "bytes of a frame without FCS"),
	P(U64,  frames,   "0",          "",          "frames to send; to itself it sends none"),
	P(REAL, load,     "1",          "0.000001..1", "share of the line that it uses"),
	P(ENUM, gaps,     "even",       "even|random", "gaps of one length, or exponentially distributed"),
	P(TIME, at,       "0",          "",          "time of the first frame"),
	P(BOOL, pause,    "yes",        "",          "obey pause frames"),
	{ 0 }
};
#undef P
/* clang-format on */

static const struct weft_port_decl ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &eth_wire, .doc = "1000BASE-T" },
	{ 0 }
};

/* ---- bytes ---- */

static uint8_t generator_pattern(uint32_t src, uint32_t number, uint32_t i)
{
	return (uint8_t)(src * 31 + number * 7 + i);
}

/* ---- sending ---- */

static struct weft_frame *generator_make(struct eth_gen *g,
					 const struct traffic_packet *k)
{
	struct weft_frame *f = eth_frame_new(g->comp->sim, k->size);
	uint8_t *p = eth_frame_data(f), dst[ETH_ADDR];
	uint32_t n = g->number[k->dest % g->stations]++, i;

	eth_addr_of(dst, k->dest);
	eth_frame_head(f, dst, g->addr, TYPE);
	put_be(p + ETH_HEAD, g->station, 4);
	put_be(p + ETH_HEAD + 4, n, 4);
	put_be(p + ETH_HEAD + 8, weft_now(g->comp), 8);
	for (i = DATA; i < k->size; i++)
		p[i] = generator_pattern(g->station, n, i);
	return f;
}

static void tx_event(struct eth_gen *g)
{
	weft_time_t now = weft_now(g->comp), due;

	if (!weft_timer_due(g->comp, &g->tx))
		return;
	if (g->held <= now && traffic_due(&g->source) <= now) {
		struct weft_rng *rng = &g->comp->rng;
		struct traffic_packet p = traffic_draw(&g->source, rng);
		struct weft_frame *f = generator_make(g, &p);

		/* if a pause has delayed this frame, later frames are delayed,
		 * too */
		arrivals_wait(&g->source.arrivals, now);
		traffic_step(
			&g->source,
			(double)(eth_frame_time(f) + ETH_GAP * ETH_BYTE_FS),
			rng);
		weft_count(g->comp, C_SENT, 1);
		weft_port_send(&g->comp->ports[0], f, now);
	}
	due = traffic_due(&g->source);
	if (due != ARRIVALS_NEVER)
		weft_timer_arm(g->comp, &g->tx, 0,
			       due > g->held ? due : g->held);
}

/* ---- receiving ---- */

static void generator_take(struct eth_gen *g, struct weft_frame *f)
{
	const uint8_t *p = eth_frame_data(f);
	uint32_t src = (uint32_t)get_be(p + ETH_HEAD, 4);
	uint32_t n = (uint32_t)get_be(p + ETH_HEAD + 4, 4);
	weft_time_t t = get_be(p + ETH_HEAD + 8, 8);
	uint32_t i = DATA;

	if (memcmp(p, g->addr, ETH_ADDR) || eth_frame_type(f) != TYPE ||
	    src >= g->stations) {
		weft_count(g->comp, C_STRAY, 1);
		return;
	}
	weft_count(g->comp, C_RECEIVED, 1);
	weft_count(g->comp, C_BYTES, f->payload.len);
	while (i < f->payload.len && p[i] == generator_pattern(src, n, i))
		i++;
	weft_count(g->comp, C_WRONG, i < f->payload.len);
	if (n < g->expected[src]) {
		weft_count(g->comp, C_LATE, 1);
	} else {
		weft_count(g->comp, C_LOST, n - g->expected[src]);
		g->expected[src] = n + 1;
	}
	weft_hist_put(g->latency,
		      (double)(weft_now(g->comp) - t) / (double)WEFT_NS);
}

static void rx_event(struct eth_gen *g)
{
	weft_time_t now = weft_now(g->comp);
	struct weft_frame *f;
	uint16_t quanta;

	if (!weft_timer_due(g->comp, &g->rx))
		return;
	while ((f = eth_line_take(&g->line, now))) {
		if (eth_frame_check(f, ETH_FRAME_JUMBO) != ETH_GOOD) {
			weft_count(g->comp, C_BAD, 1);
		} else if (!eth_pause_parse(f, &quanta)) {
			generator_take(g, f);
		} else if (g->pause) {
			weft_count(g->comp, C_PAUSES, 1);
			g->held = now + quanta * ETH_PAUSE_QUANTA;
			weft_timer_arm(g->comp, &g->tx, 0, now);
		}
		weft_frame_free(f);
	}
	if (g->line)
		weft_timer_arm(g->comp, &g->rx, 1, eth_frame_end(g->line));
}

static void gen_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct eth_gen *g = c->state;

	eth_line_add(&g->line, f);
	weft_timer_arm(c, &g->rx, 1, eth_frame_end(g->line));
}

/* ---- events, set-up ---- */

static void gen_event(struct weft_comp *c, uint32_t tag)
{
	(tag ? rx_event : tx_event)(c->state);
}

static int gen_init(struct weft_comp *c, struct weft_err *err)
{
	struct eth_gen *g = c->state;
	bool some, sends;

	if (g->station == UINT32_MAX)
		g->station = eth_station_of(c->name);
	if (g->station >= g->stations)
		return weft_fail(err, EINVAL,
				 "%s: station %u: there are only %u, from 0 on",
				 c->name, g->station, g->stations);
	g->comp = c;
	g->number = weft_comp_alloc(c, g->stations * sizeof(*g->number));
	g->expected = weft_comp_alloc(c, g->stations * sizeof(*g->expected));
	g->latency = weft_hist(c, "latency", "ns");
	eth_addr_of(g->addr, g->station);
	/* A station whose parameter `to` names itself sends nothing. If there
	 * is only one station and no `to`, the station sends to itself. */
	some = g->to == UINT32_MAX && g->stations > 1;
	sends = g->frames && g->to != g->station;
	g->source = (struct traffic_source){
		.pattern = { .kind = some ? PATTERN_UNIFORM : PATTERN_FIXED,
			     .node = g->station,
			     .nodes = g->stations,
			     .partner = g->to == UINT32_MAX ? 0 : g->to },
		.arrivals = { .kind = g->gaps ? ARRIVALS_POISSON
					      : ARRIVALS_EVEN,
			      .rate = g->load,
			      .next = sends ? g->at : ARRIVALS_NEVER },
		.size = g->size,
		.packets = g->frames
	};
	return 0;
}

static int gen_start(struct weft_comp *c, struct weft_err *err)
{
	struct eth_gen *g = c->state;

	if (traffic_due(&g->source) != ARRIVALS_NEVER)
		weft_timer_arm(c, &g->tx, 0, g->at);
	return 0;
}

static void gen_fini(struct weft_comp *c)
{
	eth_line_free(&((struct eth_gen *)c->state)->line);
}

WEFT_COMPONENT(eth_gen, .name = "eth.gen", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "source and sink of Ethernet frames", .source = "own",
	       .state_size = sizeof(struct eth_gen), .params = params,
	       .counters = counters, .n_counters = C_N, .ports = ports,
	       .ops = { .init = gen_init,
			.start = gen_start,
			.arrive = gen_arrive,
			.event = gen_event,
			.fini = gen_fini },
	       .network_parts = &eth_network_parts);
