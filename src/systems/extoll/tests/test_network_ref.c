/* SPDX-License-Identifier: Apache-2.0 */
/* Compares crossbars, link ports and network ports of EXTOLL with
 * src/systems/extoll/tests/ref_ex.c, for random networks of up to four nodes
 * with random parameters and packets. The cycle at which each cell is
 * delivered, the cells, flits and control cells of every line, and the
 * conflicts of every crossbar must be equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ref_ex.h"
#include "unit/replay.h"
#include "systems/extoll/network/crossbar.h"
#include "systems/extoll/network/network_port.h"

extern const struct weft_class weft_class_extoll_xbar;

struct scene {
	struct rx_cfg c;
	struct rx_pkt pkt[RX_PKTS];
	uint32_t n;
	uint64_t cycles;
	weft_time_t cable;
	uint32_t mgt, mgt_ui, t_sync;
	struct rx_result want, got;
};

/* ---- a component with three network ports ---- */

struct rig {
	struct weft_comp *comp;
	struct weft_clock clock;
	struct scene *s;
	uint32_t node;
	struct netport np[3];
};

enum {
	TAG_NP = RX_PKTS
	/* Events of a cycle run in the order of tags. Network ports have higher
	 * tags than packets, so that a port sees a packet in the cycle in which
	 * the packet is ready. */
};

static void rig_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	struct rig *r = own;
	struct rx_result *res = &r->s->got;
	uint32_t w = r->s->c.flit_bytes;
	uint64_t now = cell_channel_now(&np->ep);

	res->got[res->n_got++] = (struct rx_got){
		.cycle = now,
		.node = (uint16_t)r->node,
		.np = (uint16_t)(np - r->np),
		.pkt = (uint16_t)c->pkt->trace_id,
		.first = (uint16_t)(c->first / w),
		.flits = (uint16_t)(c->bytes / w),
		.eop = c->eop,
	};
	netport_release(np, c->slot, now + r->s->pkt[c->pkt->trace_id].hold);
	if (c->eop)
		weft_frame_free(c->pkt);
}

static const struct netport_ops rig_ops = { .cell = rig_cell };

static int rig_init(struct weft_comp *c, struct weft_err *err)
{
	struct rig *r = c->state;

	r->comp = c;
	return 0;
}

static void rig_make(struct rig *r, struct scene *s, uint32_t node)
{
	struct cell_channel_cfg cfg = cell_channel_cfg_internal(
		s->c.flit_bytes == 2 ? EX_W16 : EX_W32, &r->clock);
	struct weft_err err = { 0 };
	uint32_t i;

	r->s = s;
	r->node = node;
	cfg.gap = s->c.gap;
	cfg.slots = s->c.slots;
	cfg.reserved = s->c.reserved;
	cfg.cell_flits = s->c.cell_flits;
	for (i = 0; i < 3; i++)
		if (netport_init(&r->np[i], r->comp, &r->comp->ports[i], &cfg,
				 RX_PKTS, &rig_ops, r, TAG_NP + i, &err))
			abort();
}

static int rig_start(struct weft_comp *c, struct weft_err *err)
{
	struct rig *r = c->state;
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (netport_start(&r->np[i], err))
			return -1;
	for (i = 0; i < r->s->n; i++)
		if (r->s->pkt[i].src == r->node)
			weft_wake(
				c, i,
				weft_clock_edge(&r->clock, r->s->pkt[i].ready));
	return 0;
}

static void rig_send(struct rig *r, uint32_t id)
{
	const struct rx_pkt *p = &r->s->pkt[id];
	struct weft_frame *f = weft_frame_new(r->comp->sim);
	uint32_t i;

	memset(f->u, 0xff, sizeof(f->u));
	f->trace_id = id;
	f->payload =
		(struct weft_slice){ .len = p->flits * r->s->c.flit_bytes };
	*ex_meta(f) = (struct ex_meta){ .hops = (uint8_t)p->hops,
					.cls = (uint8_t)p->cls,
					.words = p->headed };
	if (p->headed)
		f->payload.len -= 8;
	for (i = 0; i < 8; i++)
		f->u[0] = f->u[0] << 4 | p->head[7 - i];
	for (i = 0; i < p->hops; i++)
		ex_route_set(f, i, p->nib[i]);
	netport_send(&r->np[p->np], f, p->ready, UINT32_MAX);
}

static void rig_event(struct weft_comp *c, uint32_t tag)
{
	struct rig *r = c->state;

	if (tag >= TAG_NP)
		netport_event(&r->np[tag - TAG_NP]);
	else
		rig_send(r, tag);
}

static void rig_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	(void)c, (void)port, (void)f;
	abort();
}

static void rig_fini(struct weft_comp *c)
{
	struct rig *r = c->state;
	uint32_t i;

	for (i = 0; r->s && i < 3; i++)
		netport_fini(&r->np[i]);
}

static const struct weft_param rig_params[] = {
	WEFT_PARAM(CLOCK, struct rig, clock, "156MHz", "", OWN, "clock"),
	{ 0 },
};
static const struct weft_port_decl rig_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "3", &ex_wire_internal, true, "ports" },
	{ 0 },
};
WEFT_COMPONENT(rig, .name = "rig", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "three network ports", .source = "test",
	       .not_modelled = "", .state_size = sizeof(struct rig),
	       .params = rig_params, .ports = rig_ports,
	       .ops = { .init = rig_init,
			.start = rig_start,
			.event = rig_event,
			.arrive = rig_arrive,
			.fini = rig_fini });

/* ---- the scene ---- */

static uint32_t pick(struct weft_rng *r, uint32_t lo, uint32_t hi)
{
	return lo + (uint32_t)(weft_rng_u64(r) % (hi - lo + 1));
}

/* Joins free link ports of random nodes in pairs. */
static void scene_cables(struct scene *s, struct weft_rng *r)
{
	uint32_t k, tries = pick(r, 0, 24);

	for (k = 0; k < tries; k++) {
		uint32_t a = pick(r, 0, s->c.nodes - 1), p = pick(r, 3, 8);
		uint32_t b = pick(r, 0, s->c.nodes - 1), q = pick(r, 3, 8);

		if (s->c.peer[a][p] != RX_NOWHERE ||
		    s->c.peer[b][q] != RX_NOWHERE || (a == b && p == q))
			continue;
		s->c.peer[a][p] = (uint16_t)(b * RX_PORTS + q);
		s->c.peer[b][q] = (uint16_t)(a * RX_PORTS + p);
		if (pick(r, 0, 3) == 0) {
			s->c.dateline[a] |= 1u << p;
			s->c.dateline[b] |= 1u << q;
		}
	}
}

static void scene_route(struct scene *s, struct weft_rng *r, struct rx_pkt *p)
{
	uint32_t at = p->src,
		 want = pick(r, 0, 6) ? pick(r, 0, 4) : pick(r, 0, 14);

	p->hops = 0;
	while (p->hops < want) {
		uint32_t o = pick(r, 3, 8), k;

		for (k = 0; k < 6 && s->c.peer[at][o] == RX_NOWHERE; k++)
			o = o == 8 ? 3 : o + 1;
		if (s->c.peer[at][o] == RX_NOWHERE)
			break;
		p->nib[p->hops++] = (uint8_t)o;
		at = s->c.peer[at][o] / RX_PORTS;
	}
	p->nib[p->hops++] =
		(uint8_t)(pick(r, 0, 30) ? pick(r, 0, 2) : pick(r, 9, 13));
}

/* Ends the route at a cable. The next crossbar finds no nibble and reads the
 * header, which consists of whole words, as the rest of the route. */
static void scene_cut(struct scene *s, struct weft_rng *r, struct rx_pkt *p)
{
	uint32_t word = 8 / s->c.flit_bytes, i;

	p->headed = true;
	p->hops--;
	p->flits = (p->flits + word - 1) / word * word;
	for (i = 0; i < 8; i++)
		p->head[i] = (uint8_t)(pick(r, 0, 5) ? pick(r, 0, 8)
						     : pick(r, 9, 15));
	for (i = pick(r, 0, 12); i < 8; i++)
		p->head[i] = 0xf;
}

static int by_ready(const void *a, const void *b)
{
	const struct rx_pkt *p = a, *q = b;

	return p->ready < q->ready ? -1 : p->ready > q->ready;
}

static void scene_packets(struct scene *s, struct weft_rng *r)
{
	uint32_t i, span = pick(r, 1, 4000), hold = pick(r, 0, 2);

	s->n = pick(r, 1, pick(r, 1, 300));
	for (i = 0; i < s->n; i++) {
		struct rx_pkt *p = &s->pkt[i];

		p->src = pick(r, 0, s->c.nodes - 1);
		p->np = pick(r, 0, 2);
		p->cls = pick(r, 0, 3) == 0;
		p->ready = pick(r, 1, span);
		p->flits = pick(r, 0, 3) ? pick(r, 1, 12) : pick(r, 1, 150);
		p->hold = hold ? pick(r, 0, hold == 1 ? 30 : 400) : 0;
		scene_route(s, r, p);
		if (p->hops > 1 && pick(r, 0, 15) == 0)
			scene_cut(s, r, p);
	}
	qsort(s->pkt, s->n, sizeof(s->pkt[0]), by_ready);
	/* at most one packet in a cycle, so that their order is defined */
	for (i = 1; i < s->n; i++)
		if (s->pkt[i].ready <= s->pkt[i - 1].ready)
			s->pkt[i].ready = s->pkt[i - 1].ready + 1;
	s->cycles = s->pkt[s->n - 1].ready + 6000;
}

static void scene_make(struct scene *s, uint64_t seed)
{
	struct weft_rng r;
	long double t = 1e15L / 156e6L, x;
	uint32_t i, o;

	weft_rng_seed(&r, seed, "ex");
	s->c = (struct rx_cfg){
		.nodes = pick(&r, 1, RX_NODES),
		.flit_bytes = pick(&r, 0, 1) ? 4 : 2,
		.framed = pick(&r, 0, 3),
		.gap = pick(&r, 1, 6),
		.reserved = pick(&r, 1, 8),
		.window = pick(&r, 4, 32),
		.ack_every = pick(&r, 1, 6),
		.ack_idle = pick(&r, 1, 100),
		.refresh = pick(&r, 16, 400),
		.t_route = pick(&r, 1, 8),
		.t_cross = pick(&r, 1, 5),
		.t_lp_out = pick(&r, 0, 10),
		.t_lp_in = pick(&r, 0, 12),
	};
	s->c.slots = 4 * s->c.reserved + pick(&r, 0, 32);
	s->c.cell_flits = 64 / s->c.flit_bytes;
	/* draws short cells, too, but the first cell of a packet must be longer
	 * than the longest route (systems/extoll/network/network_port.c) */
	if (!s->c.framed && pick(&r, 0, 1))
		s->c.cell_flits = pick(&r, s->c.flit_bytes == 2 ? 22 : 10, 40);
	if (s->c.window < s->c.ack_every)
		s->c.window = s->c.ack_every;
	s->mgt = pick(&r, 0, 20);
	s->mgt_ui = 20 * pick(&r, 0, 9);
	s->t_sync = pick(&r, 1, 6);
	s->cable = pick(&r, 1, 40000000);
	x = (2 * s->mgt + s->mgt_ui / 20 + 2 * s->t_sync - 1) / 2.0L +
	    s->cable / t;
	s->c.cross = (uint32_t)x + (x > (uint32_t)x);
	for (i = 0; i < RX_NODES; i++)
		for (o = 0; o < RX_PORTS; o++) {
			s->c.peer[i][o] = RX_NOWHERE;
			if (o < 3)
				s->c.np[i][o] = true;
		}
	scene_cables(s, &r);
	scene_packets(s, &r);
	if (!pick(&r, 0, 2))
		s->c.t_transit = pick(&r, 1, 20);
}

/* ---- the product ---- */

static void set(struct weft_comp *c, const char *name, uint32_t v)
{
	struct weft_err err = { 0 };
	char text[16];

	snprintf(text, sizeof(text), "%u", v);
	if (weft_param_set(c, name, text, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.msg);
		abort();
	}
}

static struct weft_comp *make_switch(struct weft_sim *sim, struct scene *s,
				     uint32_t i)
{
	const struct rx_cfg *c = &s->c;
	struct weft_err err = { 0 };
	struct weft_comp *x;
	char name[16];

	snprintf(name, sizeof(name), "s%u", i);
	x = weft_sim_add(sim, &weft_class_extoll_xbar, name, &err);
	weft_param_set(x, "width", c->flit_bytes == 2 ? "w16" : "w32", &err);
	weft_param_set(x, "links", c->framed ? "framed" : "plain", &err);
	set(x, "cell_flits", c->framed ? 0 : c->cell_flits);
	set(x, "gap", c->gap);
	set(x, "slots", c->slots);
	set(x, "reserved", c->reserved);
	set(x, "window", c->window);
	set(x, "ack_every", c->ack_every);
	set(x, "ack_idle", c->ack_idle);
	set(x, "refresh", c->refresh);
	set(x, "t_route", c->t_route);
	set(x, "t_cross", c->t_cross);
	set(x, "t_lp_out", c->t_lp_out);
	set(x, "t_lp_in", c->t_lp_in);
	set(x, "t_transit", c->t_transit);
	set(x, "t_sync", s->t_sync);
	set(x, "mgt", s->mgt);
	set(x, "mgt_ui", s->mgt_ui);
	set(x, "dateline", c->dateline[i] >> 3);
	if (weft_comp_init(x, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	return x;
}

static void join(struct scene *s, struct weft_comp **x, struct weft_comp **g)
{
	struct weft_err err = { 0 };
	uint32_t i, o;

	for (i = 0; i < s->c.nodes; i++) {
		for (o = 0; o < 3; o++)
			weft_connect(&g[i]->ports[o], &x[i]->ports[o], NULL, 1,
				     &err);
		for (o = 3; o < RX_PORTS; o++) {
			uint32_t p = s->c.peer[i][o];

			if (p != RX_NOWHERE && p > i * RX_PORTS + o)
				weft_connect(
					&x[i]->ports[o],
					&x[p / RX_PORTS]->ports[p % RX_PORTS],
					NULL, s->cable, &err);
		}
	}
}

static struct rx_sum sum_of(struct cell_channel *ep)
{
	const struct cell_channel_count *n = cell_channel_counts(ep);

	return (struct rx_sum){ .cells = n->tx_cells,
				.flits = n->tx_flits,
				.busy = n->busy,
				.ctl = n->ctl_out };
}

static void product_sums(struct scene *s, struct weft_comp **x,
			 struct weft_comp **g)
{
	uint32_t i, o;

	for (i = 0; i < s->c.nodes; i++) {
		struct extoll_xbar *b = x[i]->state;
		struct rig *r = g[i]->state;

		for (o = 0; o < RX_PORTS; o++)
			if (b->ep[o].peer)
				s->got.sum[i][o] = sum_of(&b->ep[o]);
		for (o = 0; o < 3; o++)
			s->got.np_sum[i][o] = sum_of(&r->np[o].ep);
		s->got.conflicts[i] = x[i]->counters[EXTOLL_XBAR_CONFLICTS];
		s->got.discards[i] = x[i]->counters[EXTOLL_XBAR_ILLEGAL] +
				     x[i]->counters[EXTOLL_XBAR_NO_PORT];
	}
}

static void product_run(struct scene *s)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_comp *x[RX_NODES], *g[RX_NODES];
	struct weft_err err = { 0 };
	struct weft_clock clk;
	char name[16];
	uint32_t i;

	weft_clock_from_hz(&clk, 156000000, 1);
	s->got.got = calloc(65536, sizeof(*s->got.got));
	for (i = 0; i < s->c.nodes; i++) {
		x[i] = make_switch(sim, s, i);
		snprintf(name, sizeof(name), "g%u", i);
		g[i] = weft_sim_add(sim, &weft_class_rig, name, &err);
		weft_comp_init(g[i], &err);
		rig_make(g[i]->state, s, i);
	}
	join(s, x, g);
	if (weft_sim_start(sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	weft_sim_run(sim, weft_clock_edge(&clk, s->cycles) - 1);
	product_sums(s, x, g);
	weft_sim_free(sim);
}

/* ---- comparison ---- */

static int by_place(const void *a, const void *b)
{
	const struct rx_got *p = a, *q = b;

	if (p->cycle != q->cycle)
		return p->cycle < q->cycle ? -1 : 1;
	return (p->node * 4 + p->np) - (q->node * 4 + q->np);
}

static int compare_sum(const char *what, uint32_t at, const struct rx_sum *got,
		       const struct rx_sum *want)
{
	return replay_differ(what, at, got->cells, want->cells) ||
	       replay_differ(what, at, got->flits, want->flits) ||
	       replay_differ("control cells", at, got->ctl, want->ctl) ||
	       replay_differ("busy cycles", at, got->busy, want->busy);
}

static int compare(struct scene *s)
{
	uint32_t i, o;

	qsort(s->got.got, s->got.n_got, sizeof(s->got.got[0]), by_place);
	qsort(s->want.got, s->want.n_got, sizeof(s->want.got[0]), by_place);
	for (i = 0; i < s->got.n_got && i < s->want.n_got; i++) {
		const struct rx_got *g = &s->got.got[i], *w = &s->want.got[i];

		if (replay_differ("cycle of cell", i, g->cycle, w->cycle) ||
		    replay_differ("place of cell", i, g->node * 4u + g->np,
				  w->node * 4u + w->np) ||
		    replay_differ("packet of cell", i, g->pkt, w->pkt) ||
		    replay_differ("first flit of cell", i, g->first,
				  w->first) ||
		    replay_differ("flits of cell", i, g->flits, w->flits) ||
		    replay_differ("end of packet", i, g->eop, w->eop))
			return 1;
	}
	if (replay_differ("number of cells", 0, s->got.n_got, s->want.n_got))
		return 1;
	for (i = 0; i < s->c.nodes; i++) {
		for (o = 0; o < RX_PORTS; o++)
			if (compare_sum("line", i * 16 + o, &s->got.sum[i][o],
					&s->want.sum[i][o]))
				return 1;
		for (o = 0; o < 3; o++)
			if (compare_sum("network port", i * 16 + o,
					&s->got.np_sum[i][o],
					&s->want.np_sum[i][o]))
				return 1;
		if (replay_differ("conflicts", i, s->got.conflicts[i],
				  s->want.conflicts[i]) ||
		    replay_differ("discards", i, s->got.discards[i],
				  s->want.discards[i]))
			return 1;
	}
	return 0;
}

struct totals {
	uint64_t cells, packets, conflicts, discards, control;
};

static void add_up(struct totals *t, const struct scene *s)
{
	uint32_t i, o;

	t->cells += s->got.n_got;
	t->packets += s->n;
	for (i = 0; i < s->c.nodes; i++) {
		t->conflicts += s->got.conflicts[i];
		t->discards += s->got.discards[i];
		for (o = 0; o < RX_PORTS; o++)
			t->control += s->got.sum[i][o].ctl;
	}
}

static int one(uint64_t seed, void *totals)
{
	struct scene *s = calloc(1, sizeof(*s));
	int bad;

	scene_make(s, seed);
	rx_run(&s->c, s->pkt, s->n, s->cycles, &s->want);
	product_run(s);
	bad = compare(s);
	add_up(totals, s);
	free(s->got.got);
	free(s->want.got);
	free(s);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	uint64_t n = replay(argc, argv, 500, one, &t);

	if (!n)
		return 1;
	printf("%llu scenarios: %llu packets, %llu cells handed over, "
	       "%llu conflicts, %llu discards, %llu control cells: the same\n",
	       (unsigned long long)n, (unsigned long long)t.packets,
	       (unsigned long long)t.cells, (unsigned long long)t.conflicts,
	       (unsigned long long)t.discards, (unsigned long long)t.control);
	/* The scenarios must have had cells, conflicts and discards. */
	return n >= 1000 && (!t.cells || !t.conflicts || !t.discards);
}
