/* SPDX-License-Identifier: Apache-2.0 */
/* Class forth.gen: traffic source and sink without a host, for switches and
 * links. It speaks the link protocol like a NIC: a queue per destination,
 * credits per flow, a sink that drains its FIFO at the rate of a bus and
 * returns credits on its own line (forth.md 5, 6.3, 11.1).
 *
 *   arrivals -> queue per destination -> round robin, credits -> link
 *   link -> 1023-qword FIFO -> bus of `bus` x 8 bytes -> checked, dropped
 *
 * The address field of a packet is source << 24 | number of the packet to its
 * destination. The payload is a function of that field and the offset, so that
 * the sink can check order and bytes. When packets of one flow take several
 * paths, the sink does not expect order but measures how many packets overtook
 * each packet (generator_order.c).
 *
 * Not modelled: any part of a NIC in front of the link. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/forth/traffic/generator.h"

/* clang-format off */
static const struct weft_param forth_gen_params[] = {
	WEFT_PARAM(U32, struct forth_gen_params, node, "0", "0..127", OWN,
		   "own number = the flow by which others reach this node"),
	WEFT_PARAM(U32, struct forth_gen_params, dests, "8", "1..128", OWN,
		   "nodes there are, this one included"),
	WEFT_PARAM(ENUM, struct forth_gen_params, pattern, "uniform",
		   "uniform|permutation|hotspot|bursty|fixed|none|shuffle|list",
		   OWN, "whom it sends to; none = sink only; shuffle = a "
		   "random permutation, list = one that is written down"),
	WEFT_PARAM(U32, struct forth_gen_params, dest, "0", "0..127", OWN,
		   "fixed, hotspot: that node; permutation: node + dest"),
	WEFT_PARAM(U64, struct forth_gen_params, shuffle, "1", "", OWN,
		   "shuffle: which permutation, the same at every node"),
	WEFT_PARAM(STR, struct forth_gen_params, targets, "", "", OWN,
		   "list: destination of node 0, of node 1, ..; 4+9 = these "
		   "two in turn"),
	WEFT_PARAM(ENUM, struct forth_gen_params, balance, "destination",
		   "packet|destination|static|fabric", OWN,
		   "paths in turn over all packets or per destination; by "
		   "source and destination; the fabric's own choice (7.1)"),
	WEFT_PARAM(U32, struct forth_gen_params, paths, "0", "0..511", OWN,
		   "paths used; 0 = all the fabric has"),
	WEFT_PARAM(REAL, struct forth_gen_params, hot, "0.5", "0..1", OWN,
		   "hotspot: share that goes to `dest`"),
	WEFT_PARAM(REAL, struct forth_gen_params, burst, "16", "1..", OWN,
		   "bursty: mean packets to one destination in a row"),
	WEFT_PARAM(REAL, struct forth_gen_params, load, "0.5", "0..1000", OWN,
		   "offered share of the line rate; above 1 = always ready"),
	WEFT_PARAM(BYTES, struct forth_gen_params, size, "512", "8..4096", OWN,
		   "payload, rounded up to qwords"),
	WEFT_PARAM(BYTES, struct forth_gen_params, size_max, "0", "0..4096", OWN,
		   "payload uniform from size to this; 0 = always size"),
	WEFT_PARAM(U64, struct forth_gen_params, packets, "0", "", OWN,
		   "packets to send; 0 = no end"),
	WEFT_PARAM(U32, struct forth_gen_params, backlog, "64", "1..1048576", OWN,
		   "packets queued at which arrivals pause"),
	WEFT_PARAM(ENUM, struct forth_gen_params, frame, "word", "word|packed",
		   RECONSTRUCTED, "frame layout (R-18)"),
	WEFT_PARAM(U32, struct forth_gen_params, min_payload, "24", "0..4096", STATED,
		   "shorter payloads are padded on the wire (P 3, R-40)"),
	WEFT_PARAM(U32, struct forth_gen_params, refresh_cc, "1024", "0..", RECONSTRUCTED,
		   "cycles after which an idle line repeats a credit (5.3)"),
	WEFT_PARAM(U32, struct forth_gen_params, t_crtx, "3", "0..64", CALIBRATED,
		   "cycles, credit formation to line (11.7)"),
	WEFT_PARAM(U32, struct forth_gen_params, t_crrx, "2", "0..64", CALIBRATED,
		   "cycles, credit parse (11.7)"),
	WEFT_PARAM(U32, struct forth_gen_params, credit_words, "0", "0..5", OWN,
		   "extra credit words allowed per transmission"),
	WEFT_PARAM(U32, struct forth_gen_params, resync, "0", "0..", OWN,
		   "cycles without credits after which a flow starts anew on "
		   "both sides (5.7); 0 = never; must agree with neighbours"),
	WEFT_PARAM(BOOL, struct forth_gen_params, crc32_complement, "no", "", STATED,
		   "body CRC complemented as in AAL5 (R-20); as neighbours"),
	WEFT_PARAM(BOOL, struct forth_gen_params, credit_filter, "no", "", OWN,
		   "ignore implausible credits (5.4)"),
	WEFT_PARAM(BYTES, struct forth_gen_params, rx_bytes, "8184", "1024..16376", STATED,
		   "receive FIFO (T 3.1.5)"),
	WEFT_PARAM(CLOCK, struct forth_gen_params, bus, "100MHz", "", STATED,
		   "bus behind the FIFO, 8 bytes per cycle (P 1)"),
	WEFT_PARAM(U32, struct forth_gen_params, t_bus, "10", "0..", STATED,
		   "bus cycles per packet besides the data (T_ARB + T_PH)"),
	WEFT_PARAM(U32, struct forth_gen_params, t_l2d, "5", "0..", STATED,
		   "NET cycles from link to bus request (P 2.4)"),
	WEFT_PARAM(TIME, struct forth_gen_params, hold, "0", "", OWN,
		   "the sink takes nothing before this time"),
	WEFT_PARAM(STR, struct forth_gen_params, crystal, "0", "", OWN,
		   "how fast the crystal is, ppm"),
	WEFT_PARAM(BOOL, struct forth_gen_params, verify, "yes", "", OWN,
		   "payload of its own for every packet, checked"),
	WEFT_PARAM(BOOL, struct forth_gen_params, stamp, "no", "", OWN,
		   "measure latency, from arrival at the source's queue to the "
		   "delimiter at the sink"),
	WEFT_PARAM(TIME, struct forth_gen_params, warmup, "0", "", OWN,
		   "latency, order and accepted load are measured from here"),
	{ 0 }
};
/* clang-format on */

static const struct weft_counter forth_gen_counters[C_N] = {
	[C_SENT] = { "sent", "packets", "packets sent" },
	[C_SENT_BYTES] = { "sent_bytes", "bytes", "payload sent" },
	[C_RECEIVED] = { "received", "packets", "packets received" },
	[C_BYTES] = { "bytes", "bytes", "payload received" },
	[C_DISORDER] = { "disorder", "packets",
			 "not the next number of their source" },
	[C_CORRUPT] = { "corrupt", "packets", "payload is not what was sent" },
	[C_BAD_BODY] = { "bad_body", "packets", "body CRC wrong" },
	[C_BACKPRESSURE] = { "backpressure", "cycles",
			     "packets ready, no credits" },
	[C_OVERFLOW] = { "overflow", "packets", "dropped: FIFO full" },
	[C_PARITY] = { "credit_parity", "credits", "credits thrown away" },
	[C_HEADER_CRC] = { "header_crc", "packets", "header CRC wrong" },
	[C_ALIGN] = { "align", "events", "misaligned input" },
	[C_LATE] = { "late", "packets", "overtaken by others of their flow" },
	[C_DUPLICATE] = { "duplicate", "packets", "came twice" },
	[C_MISSING] = { "missing", "packets",
			"given up: 4096 later ones have come" },
	[C_SYNC_LOSS] = { "sync_loss", "events", "out of sync (4.9)" },
	[C_UNSYNC] = { "unsync", "packets", "lost while out of sync" },
	[C_RESYNCS] = { "resyncs", "times", "flows to others begun anew" },
};

static const struct weft_port_decl forth_gen_ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &forth_wire,
	  .doc = "full-duplex link" },
	{ 0 }
};

static const struct forth_port_ops forth_gen_link_ops = {
	.next = forth_gen_next,
	.sent = forth_gen_sent,
	.packet = forth_gen_packet
};

/* ---- set-up and end ---- */

static struct forth_port_cfg forth_gen_cfg(const struct forth_gen *g)
{
	struct forth_port_cfg cfg = forth_port_cfg_default();

	cfg.layout = g->p.frame;
	cfg.rx_cap = (uint32_t)g->p.rx_bytes / 4;
	cfg.one_size = g->p.size_max <= g->p.size;
	if (g->source.pattern.kind != PATTERN_NONE)
		cfg.max_payload =
			(uint32_t)(cfg.one_size ? g->p.size : g->p.size_max);
	cfg.min_payload = g->p.min_payload > 8 ? g->p.min_payload : 0;
	cfg.refresh_cc = g->p.refresh_cc;
	cfg.t_crtx = g->p.t_crtx;
	cfg.t_crrx = g->p.t_crrx;
	cfg.credit_words = g->p.credit_words;
	cfg.credit_filter = g->p.credit_filter;
	cfg.crc32_complement = g->p.crc32_complement;
	cfg.resync_cc = g->p.resync;
	return cfg;
}

static int forth_gen_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	struct forth_port_cfg cfg;
	char *end;
	int32_t ppm = (int32_t)strtol(g->p.crystal, &end, 10);

	if (*end || end == g->p.crystal)
		return weft_fail(err, EINVAL,
				 "%s.crystal: '%s' is no number of ppm",
				 c->name, g->p.crystal);
	if (forth_gen_source_init(c, err))
		return -err->code;
	g->voq = calloc(g->p.dests, sizeof(*g->voq));
	if (!g->voq)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	cfg = forth_gen_cfg(g);
	cfg.ppm = ppm;
	return forth_port_init(&g->link, c, &c->ports[0], &cfg,
			       &forth_gen_link_ops, c, 0, err);
}

static int forth_gen_start(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;

	if (forth_port_start(&g->link, err) || forth_gen_paths(c, err) ||
	    forth_gen_order_init(c, err))
		return -err->code;
	/* Model the content of the FIFO only on a line that may lose words,
	 * because on other lines credits keep the FIFO from overflowing. */
	if (g->p.resync || c->ports[0].needs_frames ||
	    c->ports[0].peer->needs_frames)
		g->sink.fifo = calloc(1, sizeof(*g->sink.fifo));
	if (g->p.stamp)
		g->sink.latency = weft_hist(c, "latency", "ns");
	if (!g->p.verify) {
		g->shared = weft_slice_new(c->sim, 4096);
		if (g->shared.buf)
			memset(weft_slice_data(g->shared), 0x5A, 4096);
	}
	forth_gen_rearm(g);
	return 0;
}

static void forth_gen_arrive(struct weft_comp *c, uint32_t port,
			     struct weft_frame *f)
{
	forth_port_arrive(&((struct forth_gen *)c->state)->link, port, f);
}

static void forth_gen_event(struct weft_comp *c, uint32_t tag)
{
	forth_port_event(&((struct forth_gen *)c->state)->link);
}

/* Brings the counters up to date. */
static int forth_gen_sample(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	const struct forth_port_count *n = forth_port_counts(&g->link);

	c->counters[C_BACKPRESSURE] = n->backpressure;
	c->counters[C_PARITY] = n->credit_parity;
	c->counters[C_HEADER_CRC] = n->header_crc;
	c->counters[C_SYNC_LOSS] = n->sync_loss[0];
	c->counters[C_UNSYNC] = n->unsync;
	c->counters[C_RESYNCS] = n->resyncs;
	c->counters[C_ALIGN] = n->align + n->header_align;
	return 0;
}

static int forth_gen_finish(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	const struct forth_gen_sink *s = &g->sink;
	uint64_t all = forth_port_cycle(&g->link, weft_now(c));
	uint64_t cold = forth_port_cycle(&g->link, g->p.warmup);

	weft_slice_drop(&g->shared);
	if (all > cold)
		weft_metric(c, "accepted", "share",
			    (double)s->words / (double)(all - cold));
	if (s->last > s->first)
		weft_metric(c, "rate", "MiB/s",
			    (double)c->counters[C_BYTES] / 1048576 /
				    ((double)(s->last - s->first) /
				     (double)WEFT_SEC));
	forth_gen_order_report(c);
	return forth_gen_sample(c, err);
}

static void forth_gen_fini(struct weft_comp *c)
{
	struct forth_gen *g = c->state;

	for (uint32_t d = 0; g->voq && d < g->p.dests; d++)
		ring_free(&g->voq[d]);
	free(g->voq);
	if (g->sink.fifo)
		ring_free(g->sink.fifo);
	free(g->sink.fifo);
	free(g->sink.from);
	weft_slice_drop(&g->shared);
	forth_port_fini(&g->link);
}

WEFT_COMPONENT(forth_gen, .name = "forth.gen", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "traffic source and sink on a FORTH link",
	       .source = "own; link side as forth.md 4, 5, 6.3",
	       .not_modelled = "everything of a NIC in front of the link",
	       .state_size = sizeof(struct forth_gen),
	       .params = forth_gen_params, .counters = forth_gen_counters,
	       .n_counters = C_N, .ports = forth_gen_ports,
	       .ops = { .init = forth_gen_init,
			.start = forth_gen_start,
			.arrive = forth_gen_arrive,
			.event = forth_gen_event,
			.sample = forth_gen_sample,
			.finish = forth_gen_finish,
			.fini = forth_gen_fini },
	       .network_parts = &forth_network_parts);
