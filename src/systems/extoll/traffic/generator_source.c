/* SPDX-License-Identifier: Apache-2.0 */
/* Source of extoll.gen: packets of its own making.
 *
 * Arrivals do not depend on the network, so the queue in front of the network
 * port need not exist: the next packet is drawn when the port has room for it,
 * with the cycle in which it arrived or will arrive.  No event is its own, and
 * an unbounded queue costs nothing. */
#include <errno.h>
#include <stdlib.h>

#include "systems/extoll/traffic/generator.h"

/* ---- sizes ---- */

struct mix { /* "64:3,512:1" */
	uint32_t size[EXTOLL_GEN_SIZES];
	double upto[EXTOLL_GEN_SIZES]; /* share of this size and those before */
	uint32_t n;
};

static int mix_entry(struct mix *m, const char **p, double *sum)
{
	char *end;
	unsigned long size = strtoul(*p, &end, 10);
	double weight = 1;

	if (end == *p || size > EX_PAYLOAD_MAX || m->n == EXTOLL_GEN_SIZES)
		return -EINVAL;
	if (*end == ':') {
		*p = end + 1;
		weight = strtod(*p, &end);
		if (end == *p || !(weight > 0) || weight > 1e9)
			return -EINVAL;
	}
	if (*end && *end != ',')
		return -EINVAL;
	m->size[m->n] = (uint32_t)size;
	m->upto[m->n++] = *sum += weight;
	*p = end + (*end == ',');
	return 0;
}

static int mix_read(struct mix *m, const char *text)
{
	const char *p = text;
	double sum = 0;

	m->n = 0;
	while (*p)
		if (mix_entry(m, &p, &sum))
			return -EINVAL;
	for (uint32_t i = 0; i < m->n; i++)
		m->upto[i] /= sum;
	return 0;
}

static bool sizes_raw(const struct extoll_gen *g)
{
	return g->flits > 0;
}

/* Range of sizes when they are not listed. */
static void sizes_range(const struct extoll_gen *g, uint32_t *lo_p,
			uint32_t *hi_p)
{
	*lo_p = sizes_raw(g) ? g->flits : (uint32_t)g->size;
	*hi_p = sizes_raw(g) ? g->flits_max : (uint32_t)g->size_max;
	if (!*hi_p)
		*hi_p = *lo_p;
}

static uint32_t size_draw(const struct extoll_gen *g, struct weft_rng *rng)
{
	uint32_t lo, hi, i = 0;
	double u;

	sizes_range(g, &lo, &hi);
	if (!g->mix)
		return hi == lo ? lo
				: lo + (uint32_t)weft_rng_below(rng,
								hi - lo + 1);
	u = weft_rng_real(rng);
	while (i + 1 < g->mix->n && u >= g->mix->upto[i])
		i++;
	return g->mix->size[i];
}

/* Flits of a packet of that size, one of them for the route. */
static uint32_t size_flits(const struct extoll_gen *g, uint32_t size)
{
	if (sizes_raw(g))
		return size;
	return 1 +
	       (g->words * 8 + (size + 7) / 8 * 8) / ex_flit_bytes(g->width);
}

static double flits_mean(const struct extoll_gen *g)
{
	double sum = 0, was = 0;
	uint32_t lo, hi;

	sizes_range(g, &lo, &hi);
	if (!g->mix) {
		for (uint32_t s = lo; s <= hi; s++)
			sum += size_flits(g, s);
		return sum / (hi - lo + 1);
	}
	for (uint32_t i = 0; i < g->mix->n; i++) {
		sum += (g->mix->upto[i] - was) * size_flits(g, g->mix->size[i]);
		was = g->mix->upto[i];
	}
	return sum;
}

static int sizes_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	uint32_t lo, hi;

	sizes_range(g, &lo, &hi);
	if (!g->sizes[0] && hi < lo)
		return weft_fail(err, EINVAL, "%s.%s_max: %u is below %u",
				 c->name, sizes_raw(g) ? "flits" : "size", hi,
				 lo);
	if (!g->sizes[0])
		return 0;
	g->mix = calloc(1, sizeof(*g->mix));
	if (!g->mix)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	if (mix_read(g->mix, g->sizes))
		return weft_fail(
			err, EINVAL,
			"%s.sizes: '%s': write up to %u sizes of at most %u as SIZE:WEIGHT,SIZE:WEIGHT",
			c->name, g->sizes, EXTOLL_GEN_SIZES, EX_PAYLOAD_MAX);
	return 0;
}

/* ---- packets ---- */

uint32_t extoll_gen_flits(const struct extoll_gen *g,
			  const struct weft_frame *f)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	uint32_t w = ex_flit_bytes(g->width);

	return ex_route_flits(g->width, m->hops) +
	       (m->words ? ex_words(f) * 8 : f->payload.len) / w;
}

/* Packets of a pair may overtake each other unless their order is checked. */
static uint32_t extoll_gen_coins(const struct extoll_gen *g, uint32_t d)
{
	return g->check ? topo_coins_pair(g->node, d)
			: topo_coins((uint64_t)g->node << 48 | g->made);
}

struct weft_frame *extoll_gen_packet(struct weft_comp *c, uint32_t d,
				     uint32_t size, bool raw)
{
	struct extoll_gen *g = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	struct ex_meta *m = ex_meta(f);
	uint32_t route;

	*m = (struct ex_meta){ .words = raw ? 0 : (uint8_t)g->words,
			       .cls = (uint8_t)g->kind,
			       .dest = (uint16_t)d,
			       .port = (uint8_t)g->port,
			       .dim = 0xff };
	if (g->place.topo && !ex_route_make(g->place.topo, g->node, d, g->port,
					    extoll_gen_coins(g, d), f)) {
		weft_frame_free(f);
		return NULL;
	}
	f->u[0] = EX_H0_MAKE(g->node, 0, 0, d);
	route = ex_route_flits(g->width, m->hops);
	if (raw)
		size = (size > route ? size - route : 0) *
		       ex_flit_bytes(g->width);
	f->payload = (struct weft_slice){ .len = size };
	return f;
}

void extoll_gen_submit(struct weft_comp *c, struct weft_frame *f, uint64_t born,
		       uint32_t number)
{
	struct extoll_gen *g = c->state;
	uint64_t now = extoll_gen_now(g), ready = born > now ? born : now;
	struct extoll_net_pkt p = { .born = born,
				    .injected = g->np.ep.next_grant,
				    .flits = extoll_gen_flits(g, f) };

	if (p.injected < ready)
		p.injected = ready;
	if (g->net)
		extoll_net_made(g->place.net, &p);
	extoll_gen_stamp(f, &p, number);
	g->made++;
	netport_send(&g->np, f, ready, UINT32_MAX);
}

/* ---- drawing ---- */

struct draw {
	uint64_t born;
	uint32_t dest, size;
};

static struct draw draw_next(struct extoll_gen *g, struct arrivals *a,
			     struct weft_rng *rng)
{
	struct draw d = { .born = a->next };

	d.dest = pattern_dest(&g->pat, rng);
	d.size = size_draw(g, rng);
	arrivals_step(a, rng);
	return d;
}

static bool src_over(const struct extoll_gen *g)
{
	return g->arr.next == UINT64_MAX || extoll_net_over(g->net) ||
	       (g->packets && g->made >= g->packets);
}

static void src_next(struct weft_comp *c)
{
	struct extoll_gen *g = c->state;
	uint32_t number = 0;
	struct weft_frame *f;
	struct draw d;

	while (netport_room(&g->np, g->kind) && !src_over(g)) {
		d = draw_next(g, &g->arr, &c->rng);
		f = extoll_gen_packet(c, d.dest, d.size, sizes_raw(g));
		if (!f) { /* looked at before the run */
			weft_check_failed(c, "no way to node %u", d.dest);
			return;
		}
		if (g->check) {
			number = extoll_gen_check_number(g, d.dest);
			f->payload = extoll_gen_check_payload(c, d.dest, number,
							      f->payload.len);
		}
		extoll_gen_submit(c, f, d.born, number);
	}
}

struct extoll_net_backlog extoll_gen_backlog(const struct weft_comp *c,
					     uint64_t from, uint64_t cycle)
{
	struct extoll_gen *g = c->state;
	struct extoll_net_backlog b = { 0, 0 };
	struct arrivals a = g->arr;
	struct weft_rng rng = c->rng;
	uint64_t made = g->made;

	if (g->replay || src_over(g))
		return b;
	while (a.next < cycle && (!g->packets || made++ < g->packets)) {
		struct draw d = draw_next(g, &a, &rng);

		if (d.born < from)
			continue;
		b.packets++;
		b.flits += size_flits(g, d.size);
	}
	return b;
}

void extoll_gen_next(struct weft_comp *c)
{
	struct extoll_gen *g = c->state;

	if (g->replay)
		extoll_gen_replay_next(c);
	else
		src_next(c);
}

uint64_t extoll_gen_total(const struct extoll_gen *g)
{
	if (g->replay)
		return g->replay->end - g->replay->at;
	if (g->arr.next == UINT64_MAX)
		return 0;
	return g->packets ? g->packets : UINT64_MAX;
}

/* ---- start ---- */

static int pattern_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct weft_err sub = { 0 };

	g->pat = (struct pattern){ .kind = g->pattern,
				   .node = g->node,
				   .nodes = g->nodes,
				   .self = g->self,
				   .hot = g->hot };
	if (extoll_net_pattern(&g->place, g->permutation, g->dest, &g->pat,
			       &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	return 0;
}

int extoll_gen_src_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct weft_err sub = { 0 };
	double mean;

	if (sizes_start(c, err) || pattern_start(c, err))
		return -EINVAL;
	mean = flits_mean(g);
	g->arr = (struct arrivals){ .kind = g->arrivals,
				    .rate = g->load / mean };
	if (!pattern_sends(&g->pat))
		g->arr.rate = 0;
	if (arrivals_init(&g->arr, g->peak / mean, g->burst, &c->rng, &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	return 0;
}
