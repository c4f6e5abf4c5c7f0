/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of synthetic traffic, see pattern.h. */
#include "net/pattern.h"

#include <errno.h>
#include <stdio.h>
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
	[PATTERN_TURN] = "round-robin",
	[PATTERN_OFFSET] = "offset",
	[PATTERN_RUNS] = "runs",
};

int pattern_parse(const char *name, enum pattern_kind *kind_p,
		  struct weft_err *err)
{
	char all[256] = "";
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

int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err)
{
	struct pattern_shape s = *shape;

	if (!s.dims) {
		s.size = &p->nodes;
		s.dims = 1;
	}
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

uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng)
{
	switch (p->kind) {
	case PATTERN_HOTSPOT:
		if (weft_rng_real(rng) < p->hot &&
		    (p->self || p->partner != p->node))
			return p->partner;
		return pattern_any(p, rng);
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
