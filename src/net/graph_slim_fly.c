/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `slim_fly`: the graphs of McKay, Miller and Siran for dims [q],
 * where q is a prime power 4w + d with d = -1, 0 or 1 (Besta and Hoefler, SC
 * 2014). A graph has 2 q^2 routers of degree (3q - d) / 2. Any two routers are
 * at most two cables apart.
 *
 * Routers are (0, x, y) and (1, m, c), with elements of the field of q. (0, x,
 * y) is joined to (0, x, y + a) for each a of a set X. (1, m, c) is joined to
 * (1, m, c + a) for each a of a set X'. (0, x, y) is joined to (1, m, c) if y =
 * m x + c. With a primitive element z, X has even powers of z and X' odd
 * powers. If d = -1, the exponents in the second half of each set are one less,
 * because a set must contain -a with each a.
 *
 * Router (side, x, y) has the number side * q^2 + x * q + y, with m and c for x
 * and y on side 1. The first ports of a router lead to routers of its side, the
 * next ports to the other side in order of m or x, the last ports to ends.
 * Cables to the other side are trunks. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/graph.h"

enum { Q_MAX = 83 };

/* The field of q = p^n. Elements are polynomials whose coefficients are the
 * digits to base p. */
struct field {
	uint32_t q, p;
	uint32_t power; /* x^n as an element */
	uint32_t root;	/* a primitive element */
};

static uint32_t field_add(const struct field *f, uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (uint32_t unit = 1; unit < f->q; unit *= f->p) {
		sum += (a % f->p + b % f->p) % f->p * unit;
		a /= f->p;
		b /= f->p;
	}
	return sum;
}

static uint32_t field_minus(const struct field *f, uint32_t a)
{
	uint32_t minus = 0;

	for (uint32_t unit = 1; unit < f->q; unit *= f->p) {
		minus += (f->p - a % f->p) % f->p * unit;
		a /= f->p;
	}
	return minus;
}

static uint32_t field_times(const struct field *f, uint32_t a, uint32_t n)
{
	uint32_t sum = 0;

	while (n--)
		sum = field_add(f, sum, a);
	return sum;
}

static uint32_t field_mul(const struct field *f, uint32_t a, uint32_t b)
{
	uint32_t top = f->q / f->p, product = 0;

	for (uint32_t unit = top; unit; unit /= f->p) {
		uint32_t over = product / top;

		product = field_add(f, product % top * f->p,
				    field_times(f, f->power, over));
		product = field_add(f, product,
				    field_times(f, a, b / unit % f->p));
	}
	return product;
}

/* Returns true if the powers of an element are all elements but 0. */
static bool is_primitive(const struct field *f, uint32_t z)
{
	uint32_t n = 1;

	for (uint32_t a = z; a != 1; n++) {
		if (!a || n >= f->q)
			return false;
		a = field_mul(f, a, z);
	}
	return n == f->q - 1;
}

/* Finds the field of q. Returns false if q is not a power of a prime. */
static bool field_init(struct field *f, uint32_t q)
{
	uint32_t rest = q;

	*f = (struct field){ .q = q, .p = 2 };
	while (q % f->p)
		f->p++;
	while (rest % f->p == 0)
		rest /= f->p;
	if (rest != 1)
		return false;
	/* Finds a polynomial x^n - power for which a primitive element exists.
	 * The polynomial is then irreducible. */
	for (f->power = 0; f->power < q; f->power++)
		for (f->root = 1; f->root < q; f->root++)
			if (is_primitive(f, f->root))
				return true;
	return false;
}

/* Sets X (side 0) and X' (side 1). */
struct sets {
	uint32_t n, at[2][Q_MAX];
};

/* Fills the set of each side k with the powers z^(k + 2 i) of the primitive
 * element z. If d = -1, the exponents from i = w on are one less. */
static void sets_make(const struct field *f, struct sets *s)
{
	uint32_t w = (f->q + 1) / 4;

	s->n = f->q % 4 == 1 ? (f->q - 1) / 2 : 2 * w;
	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t i = 0; i < s->n; i++) {
			uint32_t n = k + 2 * i - (f->q % 4 == 3 && i >= w);
			uint32_t a = 1;

			while (n--)
				a = field_mul(f, a, f->root);
			s->at[k][i] = a;
		}
}

static uint32_t index_of(const struct sets *s, uint32_t side, uint32_t a)
{
	uint32_t i = 0;

	while (s->at[side][i] != a)
		i++;
	return i;
}

static void groups_join(struct net_graph *g, const struct field *f,
			const struct sets *s)
{
	uint32_t q = f->q;

	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t i = 0; i < s->n; i++) {
			uint32_t side = r / (q * q), y = r % q;
			uint32_t a = s->at[side][i], to = field_add(f, y, a);

			if (to > y)
				net_graph_join(
					g, r, i, r - y + to,
					index_of(s, side, field_minus(f, a)));
		}
	for (uint32_t x = 0; x < q; x++)
		for (uint32_t m = 0; m < q; m++)
			for (uint32_t c = 0; c < q; c++) {
				uint32_t y =
					field_add(f, field_mul(f, m, x), c);

				net_graph_join_trunk(g, x * q + y, s->n + m,
						     q * q + m * q + c,
						     s->n + x);
			}
}

static int fly_build(struct net_graph *g, const struct net_shape *s,
		     struct weft_err *err)
{
	uint32_t q = s->size[0], ends, ports;
	struct field f;
	struct sets sets;

	if (s->dims != 1 || q < 3 || q > Q_MAX || !field_init(&f, q))
		return weft_fail(
			err, EINVAL,
			"a slim_fly has a prime power q from 3 to %u: write e.g. dims: [5], of 50 routers (7: 98, 9: 162, 11: 242, 13: 338)",
			Q_MAX);
	sets_make(&f, &sets);
	ports = sets.n + q;
	ends = s->ends ? s->ends : (ports + 1) / 2;
	if (net_graph_alloc(g, 2ull * q * q, (uint64_t)ports + ends,
			    2ull * q * q * ends, err))
		return -EINVAL;
	g->shape.ends = ends;
	groups_join(g, &f, &sets);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / ends, ports + e % ends);
	return 0;
}

/* Keeps the whole graph for the search for circles of channels, because the
 * graph of a smaller field has different paths. */
static bool fly_reduce(struct net_shape *s)
{
	return false;
}

const struct net_topology net_topology_slim_fly = {
	.name = "slim_fly",
	.doc = "any two routers at most two cables apart, by a finite field",
	.build = fly_build,
	.reduce = fly_reduce,
	.routing = "shortest",
};
