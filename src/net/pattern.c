/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of synthetic traffic, see pattern.h. */
#include "net/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* ---- names ---- */

static const char *const pattern_names[PATTERN_KINDS] = {
	[PATTERN_UNIFORM] = "uniform",
	[PATTERN_TRANSPOSE] = "transpose",
	[PATTERN_BIT_COMPLEMENT] = "bit_complement",
	[PATTERN_BIT_REVERSE] = "bit_reverse",
	[PATTERN_SHUFFLE] = "shuffle",
	[PATTERN_TORNADO] = "tornado",
	[PATTERN_NEIGHBOUR] = "neighbour",
	[PATTERN_HOTSPOT] = "hotspot",
	[PATTERN_PERMUTATION] = "permutation",
	[PATTERN_FIXED] = "fixed",
	[PATTERN_NONE] = "none",
	[PATTERN_DIAGONAL] = "diagonal",
	[PATTERN_ASYMMETRIC] = "asymmetric",
	[PATTERN_TAPER] = "taper",
	[PATTERN_BACKGROUND] = "background",
	[PATTERN_ADVERSARIAL] = "adversarial",
	[PATTERN_ROW_COLUMN] = "row_column",
	[PATTERN_TURN] = "round-robin",
	[PATTERN_OFFSET] = "offset",
	[PATTERN_RUNS] = "runs",
};

int pattern_parse(const char *name, enum pattern_kind *kind_p,
		  struct weft_err *err)
{
	char all[400] = "";
	size_t n = 0;

	for (uint32_t k = 0; k < PATTERN_KINDS; k++) {
		if (!strcmp(name, pattern_names[k])) {
			*kind_p = k;
			return 0;
		}
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s",
				      k ? ", " : "", pattern_names[k]);
	}
	return weft_fail(err, EINVAL,
			 "there is no pattern '%s': write one of %s", name,
			 all);
}

/* ---- nodes with weights ---- */

static int spot_read(struct pattern_spots *s, const char **p, uint32_t nodes,
		     double *sum)
{
	char *end;
	unsigned long node = strtoul(*p, &end, 10);
	double weight = 1;

	if (end == *p || node >= nodes || s->n == PATTERN_SPOTS)
		return -EINVAL;
	if (*end == ':') {
		*p = end + 1;
		weight = strtod(*p, &end);
		if (end == *p || !(weight > 0) || weight > 1e9)
			return -EINVAL;
	}
	if (*end && *end != ',')
		return -EINVAL;
	s->node[s->n] = (uint32_t)node;
	s->upto[s->n++] = *sum += weight;
	*p = end + (*end == ',');
	return 0;
}

int pattern_spots_read(struct pattern_spots *s, const char *text,
		       uint32_t nodes, struct weft_err *err)
{
	const char *at = text;
	double sum = 0;

	s->n = 0;
	while (*at)
		if (spot_read(s, &at, nodes, &sum))
			return weft_fail(
				err, EINVAL,
				"spots: '%s': write up to %u of the %u nodes as NODE:WEIGHT,NODE:WEIGHT",
				text, PATTERN_SPOTS, nodes);
	for (uint32_t i = 0; i < s->n; i++)
		s->upto[i] /= sum;
	return 0;
}

static bool spots_have(const struct pattern_spots *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->node[i] == node)
			return true;
	return false;
}

static uint32_t spots_draw(const struct pattern_spots *s, struct weft_rng *rng)
{
	double u = weft_rng_real(rng);
	uint32_t i = 0;

	while (i + 1 < s->n && u >= s->upto[i])
		i++;
	return s->node[i];
}

/* ---- destinations ---- */

static uint32_t bits_of(uint32_t nodes)
{
	return 31 - (uint32_t)__builtin_clz(nodes);
}

static uint32_t bits_rotated(uint32_t v, uint32_t bits, uint32_t by)
{
	return (v << by | v >> (bits - by)) & ((1u << bits) - 1);
}

/* Returns the node whose digits are those of p->node, each increased modulo its
 * base: by nearly half the base if `far` is set, otherwise by 1. */
static uint32_t digits_moved(const struct pattern *p,
			     const struct pattern_shape *s, bool far)
{
	uint32_t n = p->node, stride = 1, res = 0;

	for (uint32_t i = 0; i < s->dims; i++) {
		uint32_t k = s->size[i], by = far ? (k + 1) / 2 - 1 : 1;

		res += (n % k + by) % k * stride;
		n /= k;
		stride *= k;
	}
	return res;
}

static int bits_check(const struct pattern *p, struct weft_err *err)
{
	bool even = p->kind == PATTERN_TRANSPOSE;

	if (p->nodes & (p->nodes - 1) || (even && bits_of(p->nodes) % 2))
		return weft_fail(
			err, EINVAL,
			"this pattern permutes bits: it needs a power of %u nodes, not %u",
			even ? 4 : 2, p->nodes);
	return 0;
}

static uint32_t bits_partner(const struct pattern *p)
{
	uint32_t bits = bits_of(p->nodes), rev = 0;

	if (!bits)
		return 0;
	switch (p->kind) {
	case PATTERN_TRANSPOSE:
		return bits_rotated(p->node, bits, bits / 2);
	case PATTERN_BIT_REVERSE:
		for (uint32_t i = 0; i < bits; i++)
			rev |= (p->node >> i & 1) << (bits - 1 - i);
		return rev;
	case PATTERN_SHUFFLE:
		return bits_rotated(p->node, bits, 1);
	default:
		return ~p->node & (p->nodes - 1);
	}
}

/* Returns true if the pattern draws anew when a node would be its own
 * partner. */
static bool pattern_redraws(const struct pattern *p)
{
	return p->kind >= PATTERN_DIAGONAL && p->kind <= PATTERN_ROW_COLUMN;
}

static int background_check(const struct pattern *p, struct weft_err *err)
{
	uint32_t left = 0;

	if (!p->spots)
		return weft_fail(
			err, EINVAL,
			"background leaves out nodes: set spots to those that get nothing, or use uniform");
	for (uint32_t i = 0; i < p->nodes && !left; i++)
		left = (p->self || i != p->node) && !spots_have(p->spots, i);
	return left ? 0
		    : weft_fail(err, EINVAL,
				"spots: no node is left that gets packets");
}

/* Checks that a random pattern fits the network. Copies the sizes of a row and
 * of a group from the shape. */
static int random_init(struct pattern *p, const struct pattern_shape *s,
		       struct weft_err *err)
{
	if (s->dims > 1)
		p->row = s->size[0];
	if (!p->group)
		p->group = s->group;
	if (p->kind == PATTERN_BACKGROUND)
		return background_check(p, err);
	if (p->kind == PATTERN_ASYMMETRIC && p->nodes < 2)
		return weft_fail(err, EINVAL,
				 "asymmetric needs two nodes or more");
	if (p->kind == PATTERN_ROW_COLUMN &&
	    (uint64_t)p->row * p->row != p->nodes)
		return weft_fail(
			err, EINVAL,
			"row_column needs a network of two equal dimensions, e.g. dims: [8, 8]");
	if (p->kind != PATTERN_ADVERSARIAL)
		return 0;
	if (!p->group)
		return weft_fail(
			err, EINVAL,
			"adversarial sends to the next group: this network has no groups, set group to a number of nodes");
	if (p->group >= p->nodes || p->nodes % p->group)
		return weft_fail(
			err, EINVAL,
			"group = %u: %u nodes do not divide into two or more groups of that size",
			p->group, p->nodes);
	return 0;
}

int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err)
{
	struct pattern_shape s = *shape;

	if (!s.dims) {
		s.size = &p->nodes;
		s.dims = 1;
	}
	if (pattern_redraws(p))
		return random_init(p, &s, err);
	switch (p->kind) {
	case PATTERN_TRANSPOSE:
	case PATTERN_BIT_COMPLEMENT:
	case PATTERN_BIT_REVERSE:
	case PATTERN_SHUFFLE:
		if (bits_check(p, err))
			return -EINVAL;
		p->partner = bits_partner(p);
		break;
	case PATTERN_TORNADO:
	case PATTERN_NEIGHBOUR:
		p->partner = digits_moved(p, &s, p->kind == PATTERN_TORNADO);
		break;
	case PATTERN_PERMUTATION:
		p->partner = s.perm[p->node];
		break;
	case PATTERN_OFFSET:
		p->partner = (p->node + s.dest) % p->nodes;
		break;
	default:
		p->partner = s.dest;
	}
	if (p->partner >= p->nodes)
		return weft_fail(err, EINVAL, "dest = %u: there are %u nodes",
				 p->partner, p->nodes);
	return 0;
}

bool pattern_sends(const struct pattern *p)
{
	if (pattern_redraws(p))
		return p->self || p->nodes > 1;
	switch (p->kind) {
	case PATTERN_NONE:
		return false;
	case PATTERN_UNIFORM:
	case PATTERN_HOTSPOT:
		return p->set || p->self || p->nodes > 1;
	case PATTERN_TURN:
	case PATTERN_RUNS:
		return true;
	default:
		return p->self || p->partner != p->node;
	}
}

static uint32_t pattern_any(const struct pattern *p, struct weft_rng *rng)
{
	uint32_t d;

	if (p->set)
		return p->set[weft_rng_below(rng, p->n_set)];
	if (p->self)
		return (uint32_t)weft_rng_below(rng, p->nodes);
	d = (uint32_t)weft_rng_below(rng, p->nodes - 1);
	/* skips the node itself, so that all other nodes are equally likely */
	return d + (d >= p->node);
}

/* Returns a node at most one step away in each of the first two dimensions. At
 * the edge of the network, a step adds or subtracts node numbers modulo
 * p->nodes. */
static uint32_t taper_step(const struct pattern *p, struct weft_rng *rng)
{
	uint64_t d = p->node + p->nodes - 1 + weft_rng_below(rng, 3);

	if (p->row)
		d += p->nodes - p->row + p->row * weft_rng_below(rng, 3);
	return (uint32_t)(d % p->nodes);
}

/* Draws a node for the random patterns of random_init(). */
static uint32_t random_draw(const struct pattern *p, struct weft_rng *rng)
{
	uint32_t half = p->nodes / 2, d;

	switch (p->kind) {
	case PATTERN_DIAGONAL:
		return weft_rng_below(rng, 3) ? p->node
					      : (p->node + 1) % p->nodes;
	case PATTERN_ASYMMETRIC:
		return p->node % half + half * (uint32_t)weft_rng_below(rng, 2);
	case PATTERN_TAPER:
		if (weft_rng_below(rng, 2))
			return taper_step(p, rng);
		return (uint32_t)weft_rng_below(rng, p->nodes);
	case PATTERN_BACKGROUND:
		do
			d = (uint32_t)weft_rng_below(rng, p->nodes);
		while (spots_have(p->spots, d));
		return d;
	case PATTERN_ADVERSARIAL:
		d = (p->node / p->group + 1) * p->group % p->nodes;
		return d + (uint32_t)weft_rng_below(rng, p->group);
	default:
		return (uint32_t)weft_rng_below(rng, p->row) * p->row +
		       p->node / p->row;
	}
}

static uint32_t hotspot_dest(struct pattern *p, struct weft_rng *rng)
{
	uint32_t d = p->partner;

	if (weft_rng_real(rng) >= p->hot)
		return pattern_any(p, rng);
	if (p->spots)
		d = spots_draw(p->spots, rng);
	return p->self || d != p->node ? d : pattern_any(p, rng);
}

uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng)
{
	uint32_t d;

	if (pattern_redraws(p)) {
		do
			d = random_draw(p, rng);
		while (d == p->node && !p->self);
		return d;
	}
	switch (p->kind) {
	case PATTERN_HOTSPOT:
		return hotspot_dest(p, rng);
	case PATTERN_UNIFORM:
		return pattern_any(p, rng);
	case PATTERN_TURN:
		return p->set[p->turn++ % p->n_set];
	case PATTERN_RUNS:
		if (!p->run_left) {
			p->run_dest = pattern_any(p, rng);
			p->run_left =
				1 + (uint32_t)weft_rng_below(
					    rng, (uint64_t)(2 * p->run - 1));
		}
		p->run_left--;
		return p->run_dest;
	default:
		return p->partner;
	}
}

void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n)
{
	struct weft_rng rng;

	weft_rng_seed(&rng, seed, "shuffle");
	for (uint32_t i = 0; i < n; i++)
		at[i] = i;
	for (uint32_t i = n - 1; i; i--) {
		uint32_t k = (uint32_t)weft_rng_below(&rng, i + 1), t = at[i];

		at[i] = at[k];
		at[k] = t;
	}
}
