/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `random_regular`: dims [routers, degree], each router joined to
 * `degree` others at random (Jellyfish; Singla et al., NSDI 2012). A seed gives
 * the same graph on every machine.
 *
 * Stub i is port i % degree of router i / degree. Stubs are paired at random. A
 * pair is wrong if it joins a router to itself, or two routers that another
 * pair joins already. A wrong pair exchanges mates with a random pair. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/rng.h"
#include "net/graph.h"

enum { TRIES = 100, SWAPS = 1000 };

struct pairs {
	uint32_t n, degree; /* stubs; of a router */
	uint32_t *mate;	    /* by stub */
	struct weft_rng rng;
};

static int random_check(const struct net_shape *s, struct weft_err *err)
{
	uint32_t n = s->size[0], degree = s->size[1];

	if (s->dims != 2)
		return weft_fail(
			err, EINVAL,
			"a random_regular has dims: [routers, cables of each], e.g. [64, 6]");
	if (degree < 3)
		return weft_fail(
			err, EINVAL,
			"%u cables of each router do not join all of them: at least 3 (torus has rings)",
			degree);
	if (degree >= n)
		return weft_fail(
			err, EINVAL,
			"%u routers cannot have %u cables to different others: at most %u",
			n, degree, n - 1);
	if ((uint64_t)n * degree % 2)
		return weft_fail(
			err, EINVAL,
			"%u routers with %u cables have an odd number of cable ends: make one of both even",
			n, degree);
	return 0;
}

static void pairs_draw(struct pairs *p)
{
	uint32_t *order = need(calloc(p->n, sizeof(*order)));

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = (uint32_t)weft_rng_below(&p->rng, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; i < p->n; i += 2) {
		p->mate[order[i]] = order[i + 1];
		p->mate[order[i + 1]] = order[i];
	}
	free(order);
}

/* Returns the number of cables between two routers. For a == b it returns 2, so
 * that a cable from a router to itself is replaced like a doubled cable. */
static uint32_t cables(const struct pairs *p, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	if (a == b)
		return 2;
	for (uint32_t i = 0; i < p->degree; i++)
		n += p->mate[a * p->degree + i] / p->degree == b;
	return n;
}

/* Mends the wrong pair of a stub: exchanges its mate with that of a random
 * stub. Returns false if all tries fail. */
static bool pair_mend(struct pairs *p, uint32_t a)
{
	for (uint32_t k = 0; k < SWAPS; k++) {
		uint32_t b = p->mate[a], d = p->degree;
		uint32_t c = (uint32_t)weft_rng_below(&p->rng, p->n);
		uint32_t e = p->mate[c];

		if (a == c || b == c || cables(p, a / d, e / d) ||
		    cables(p, c / d, b / d))
			continue;
		p->mate[a] = e;
		p->mate[e] = a;
		p->mate[c] = b;
		p->mate[b] = c;
		return true;
	}
	return false;
}

/* Draws random pairs of stubs and mends the wrong ones. Returns false if a pair
 * cannot be mended. */
static bool pairs_make(struct pairs *p)
{
	pairs_draw(p);
	for (uint32_t a = 0; a < p->n; a++)
		while (cables(p, a / p->degree, p->mate[a] / p->degree) > 1)
			if (!pair_mend(p, a))
				return false;
	return true;
}

/* Returns true if cables join all routers. */
static bool pairs_connected(const struct pairs *p)
{
	uint32_t routers = p->n / p->degree, n = 1;
	uint32_t *queue = need(calloc(routers, sizeof(*queue)));
	bool *seen = need(calloc(routers, sizeof(*seen)));

	seen[0] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < p->degree; k++) {
			uint32_t to =
				p->mate[queue[i] * p->degree + k] / p->degree;

			if (seen[to])
				continue;
			seen[to] = true;
			queue[n++] = to;
		}
	free(queue);
	free(seen);
	return n == routers;
}

static int random_build(struct net_graph *g, const struct net_shape *s,
			struct weft_err *err)
{
	uint32_t ends = s->ends ? s->ends : 1, degree = s->size[1], tries = 0;
	struct pairs p = { .degree = degree };

	if (random_check(s, err) ||
	    net_graph_alloc(g, s->size[0], (uint64_t)degree + ends,
			    (uint64_t)s->size[0] * ends, err))
		return -EINVAL;
	g->shape.ends = ends;
	p.n = g->routers * degree;
	p.mate = need(calloc(p.n, sizeof(*p.mate)));
	weft_rng_seed(&p.rng, s->seed, "random_regular");
	while (tries < TRIES && !(pairs_make(&p) && pairs_connected(&p)))
		tries++;
	for (uint32_t a = 0; tries < TRIES && a < p.n; a++)
		if (a < p.mate[a])
			net_graph_join(g, a / degree, a % degree,
				       p.mate[a] / degree, p.mate[a] % degree);
	free(p.mate);
	if (tries == TRIES)
		return weft_fail(
			err, EINVAL,
			"%u routers with %u cables were not joined in %u tries: use another seed or fewer cables",
			g->routers, degree, TRIES);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / ends, degree + e % ends);
	return 0;
}

/* Keeps the whole graph for the search for circles of channels, because a
 * smaller random graph has different paths. */
static bool random_reduce(struct net_shape *s)
{
	return false;
}

static const char *const keys[] = { "dims", "ends", "seed", NULL };

const struct net_topology net_topology_random_regular = {
	.name = "random_regular",
	.doc = "each router joined to others at random",
	.build = random_build,
	.reduce = random_reduce,
	.routing = "shortest",
	.keys = keys,
};
