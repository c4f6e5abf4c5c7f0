/* SPDX-License-Identifier: Apache-2.0 */
/* Routes in direct networks, see direct_route.h. */
#include "net/direct_route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN }; /* index into ex_topo.port */

/* ---- one dimension ---- */

/* Cables of the row of `node` in `dim` that do not exist: is one of the `len`
 * cables from coordinate `at` on in this direction among them? */
static bool row_cut(const struct ex_topo *t, uint32_t node, uint32_t dim,
		    uint32_t at, uint32_t len, uint32_t dir)
{
	uint32_t k = t->size[dim], base = node - at * t->stride[dim];

	for (uint32_t i = 0; i < t->n_cuts; i++) {
		uint32_t c = ex_coord(t, t->cut[i].node, dim), dist;

		if (t->cut[i].dim != dim ||
		    t->cut[i].node - c * t->stride[dim] != base)
			continue;
		dist = dir == UP ? c + k - at : at + k - 1 - c;
		if (dist % k < len)
			return true;
	}
	return false;
}

static uint32_t tie_dir(const struct ex_topo *t, uint32_t dim, uint32_t a,
			uint32_t coins)
{
	switch (t->tie) {
	case EX_TIE_BALANCED:
		return a % 2 ? DOWN : UP;
	case EX_TIE_RANDOM:
		return coins >> dim & 1 ? DOWN : UP;
	case EX_TIE_NEGATIVE:
		return DOWN;
	default:
		return UP;
	}
}

/* Direction in which to go from a to b != a, or EX_NO_PORT. */
static uint32_t row_dir(const struct ex_topo *t, uint32_t node, uint32_t dim,
			uint32_t a, uint32_t b, uint32_t coins)
{
	uint32_t k = t->size[dim], len = b > a ? b - a : b + k - a, dir;

	if (!(t->wrap >> dim & 1)) {
		dir = b < a;
		len = dir == UP ? len : k - len;
		return t->n_cuts && row_cut(t, node, dim, a, len, dir)
			       ? EX_NO_PORT
			       : dir;
	}
	dir = 2 * len == k ? tie_dir(t, dim, a, coins) : 2 * len > k;
	if (!t->n_cuts)
		return dir;
	if (!row_cut(t, node, dim, a, dir == UP ? len : k - len, dir))
		return dir;
	dir = !dir;
	return row_cut(t, node, dim, a, dir == UP ? len : k - len, dir)
		       ? EX_NO_PORT
		       : dir;
}

/* ---- next hop ---- */

void ex_here_init(struct ex_here *h, const struct ex_topo *t, uint32_t node)
{
	*h = (struct ex_here){ .node = node };
	for (uint32_t i = 0; i < t->dims; i++)
		h->at[i] = (uint16_t)ex_coord(t, node, i);
}

static uint32_t here_port(const struct ex_here *h, const struct ex_topo *t,
			  uint32_t d, uint32_t coins)
{
	uint32_t left = d;

	if (t->kind == EX_TOPO_GRAPH)
		return t->table[(size_t)h->node * t->nodes + d];
	for (uint32_t i = 0; i < t->dims; i++) {
		uint32_t q = (uint32_t)(left * t->recip[i] >> 32);
		uint32_t b = left - q * t->size[i], dir;

		left = q;
		if (b == h->at[i])
			continue;
		dir = row_dir(t, h->node, i, h->at[i], b, coins);
		return dir == EX_NO_PORT ? EX_NO_PORT : t->port[i][dir];
	}
	return EX_NO_PORT;
}

uint32_t ex_here_port(const struct ex_here *h, const struct ex_topo *t,
		      uint32_t d)
{
	return here_port(h, t, d, 0);
}

uint32_t ex_topo_way(const struct ex_topo *t, uint32_t s, uint32_t d,
		     uint32_t coins)
{
	struct ex_here h;

	if (t->kind == EX_TOPO_GRAPH)
		return t->table[(size_t)s * t->nodes + d];
	ex_here_init(&h, t, s);
	return here_port(&h, t, d, coins);
}

uint32_t ex_topo_port(const struct ex_topo *t, uint32_t s, uint32_t d)
{
	return ex_topo_way(t, s, d, 0);
}

/* ---- cables ---- */

static bool grid_cut(const struct ex_topo *t, uint32_t node, uint32_t dim)
{
	for (uint32_t i = 0; i < t->n_cuts; i++)
		if (t->cut[i].node == node && t->cut[i].dim == dim)
			return true;
	return false;
}

/* Direction of a port at this node: where both ends of a cable have the same
 * number the coordinate decides. */
static uint32_t grid_dir(const struct ex_topo *t, uint32_t s, uint32_t port)
{
	uint32_t dim = t->dim[port];

	if (t->port[dim][UP] == t->port[dim][DOWN])
		return ex_coord(t, s, dim) ? DOWN : UP;
	return port == t->port[dim][DOWN];
}

/* Neighbour in a direction, EX_FAR_NONE at the edge of a mesh. */
static uint32_t grid_step(const struct ex_topo *t, uint32_t s, uint32_t dim,
			  uint32_t dir)
{
	uint32_t a = ex_coord(t, s, dim), k = t->size[dim];
	uint32_t b = dir == UP ? a + 1 : a + k - 1;

	if ((dir == UP ? a == k - 1 : a == 0) && !(t->wrap >> dim & 1))
		return EX_FAR_NONE;
	return s + b % k * t->stride[dim] - a * t->stride[dim];
}

static uint32_t grid_far(const struct ex_topo *t, uint32_t s, uint32_t port)
{
	uint32_t dim = t->dim[port], dir, far;

	if (dim >= t->dims)
		return EX_FAR_NONE;
	dir = grid_dir(t, s, port);
	far = grid_step(t, s, dim, dir);
	if (far == EX_FAR_NONE || grid_cut(t, dir == UP ? s : far, dim))
		return EX_FAR_NONE;
	return far;
}

uint32_t ex_topo_far(const struct ex_topo *t, uint32_t s, uint32_t port)
{
	if (port < EX_INTERNAL || port >= EX_PORTS)
		return EX_FAR_NONE;
	if (t->kind == EX_TOPO_GRAPH)
		return t->far[s * EX_LINKS + port - EX_INTERNAL];
	return grid_far(t, s, port);
}

uint32_t ex_topo_far_port(const struct ex_topo *t, uint32_t s, uint32_t port)
{
	if (t->kind == EX_TOPO_GRAPH)
		return t->far_port[s * EX_LINKS + port - EX_INTERNAL];
	return t->port[t->dim[port]][!grid_dir(t, s, port)];
}

uint32_t ex_topo_datelines(const struct ex_topo *t, uint32_t s)
{
	uint32_t mask = 0;

	if (t->kind == EX_TOPO_GRAPH || !t->dateline)
		return 0;
	for (uint32_t i = 0; i < t->dims; i++) {
		if (!(t->wrap >> i & 1))
			continue;
		if (ex_coord(t, s, i) == t->size[i] - 1)
			mask |= 1u << t->port[i][UP];
		if (ex_coord(t, s, i) == 0)
			mask |= 1u << t->port[i][DOWN];
	}
	return mask;
}

/* ---- whole ways ---- */

uint32_t ex_topo_hops(const struct ex_topo *t, uint32_t s, uint32_t d)
{
	uint32_t n = 0, port;

	for (; s != d; s = ex_topo_far(t, s, port)) {
		port = ex_topo_port(t, s, d);
		if (port == EX_NO_PORT || n++ >= t->nodes)
			return UINT32_MAX;
	}
	return n;
}

/* The last steps of splitmix64: all bits of the key count in each of them. */
uint32_t ex_coins(uint64_t key)
{
	key += 0x9e3779b97f4a7c15;
	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
	key = (key ^ key >> 27) * 0x94d049bb133111eb;
	return (uint32_t)(key >> 32) & ((1u << EX_DIMS) - 1);
}

bool ex_topo_route(const struct ex_topo *t, uint32_t s, uint32_t d,
		   uint32_t port, uint32_t coins, struct weft_frame *f)
{
	struct ex_meta *m = ex_meta(f);
	uint32_t n = 0, out;

	m->pos = m->hops = 0;
	m->dim = 0xff;
	m->dest = (uint16_t)d;
	m->port = (uint8_t)port;
	if (!t->path)
		return true;
	for (; s != d; s = ex_topo_far(t, s, out)) {
		out = ex_topo_way(t, s, d, coins);
		if (out == EX_NO_PORT || n + 1 >= EX_ROUTE_MAX)
			return false;
		ex_route_set(f, n++, out);
	}
	ex_route_set(f, n++, port);
	m->hops = (uint8_t)n;
	return true;
}

/* ---- making ---- */

/* Ports of a dimension. */
static uint32_t grid_ports(const struct ex_topo *t, uint32_t dim, bool compact)
{
	if (t->size[dim] == 1)
		return 0;
	return t->size[dim] == 2 && compact && !t->both ? 1 : 2;
}

static int grid_number(struct ex_topo *t, bool compact, struct weft_err *err)
{
	uint32_t next = EX_INTERNAL;

	memset(t->port, EX_NO_PORT, sizeof(t->port));
	memset(t->dim, 0xff, sizeof(t->dim));
	for (uint32_t i = 0; i < t->dims; i++) {
		uint32_t n = grid_ports(t, i, compact);

		if (!compact)
			next = EX_INTERNAL + 2 * i;
		if (next + n > EX_PORTS)
			return weft_fail(
				err, EINVAL,
				"a switch has %u links: these dimensions need more (two each, one where the size is 2)",
				EX_LINKS);
		for (uint32_t k = 0; k < n; k++) {
			t->port[i][k] = (uint8_t)(next + k);
			t->dim[next + k] = (uint8_t)i;
		}
		if (n == 1)
			t->port[i][DOWN] = t->port[i][UP];
		next += n;
	}
	return 0;
}

static int grid_make(struct ex_topo *t, const uint32_t *size, uint32_t dims,
		     struct weft_err *err)
{
	uint64_t n = 1;

	if (dims < 1 || dims > EX_DIMS)
		return weft_fail(err, EINVAL, "%u dimensions: give 1 to %u",
				 dims, EX_DIMS);
	for (uint32_t i = 0; i < dims; i++) {
		if (!size[i] || n * size[i] > EX_NODES_MAX)
			return weft_fail(
				err, EINVAL,
				size[i] ? "more than %u nodes"
					: "a dimension of size 0 (most are %u nodes)",
				EX_NODES_MAX);
		t->size[i] = size[i];
		t->stride[i] = (uint32_t)n;
		t->recip[i] = ((1ULL << 32) + size[i] - 1) / size[i];
		n *= size[i];
	}
	t->dims = dims;
	t->nodes = (uint32_t)n;
	return 0;
}

int ex_topo_grid(struct ex_topo *t, const uint32_t *size, uint32_t dims,
		 bool wrap, bool both, struct weft_err *err)
{
	*t = (struct ex_topo){ .kind = EX_TOPO_GRID,
			       .dateline = true,
			       .both = both && wrap };
	if (grid_make(t, size, dims, err))
		return -EINVAL;
	for (uint32_t i = 0; i < dims && wrap; i++)
		if (size[i] > 2 || (size[i] == 2 && both))
			t->wrap |= 1u << i;
	return grid_number(t, dims > 3, err);
}

int ex_topo_cube(struct ex_topo *t, uint32_t dims, struct weft_err *err)
{
	static const uint32_t two[EX_DIMS] = { 2, 2, 2, 2, 2, 2 };

	*t = (struct ex_topo){ .kind = EX_TOPO_GRID, .dateline = true };
	if (grid_make(t, two, dims, err))
		return -EINVAL;
	return grid_number(t, true, err);
}

void ex_topo_fini(struct ex_topo *t)
{
	free(t->table);
	free(t->far);
	free(t->far_port);
	*t = (struct ex_topo){ 0 };
}

static void graph_cut(struct ex_topo *t, uint32_t node, uint32_t port)
{
	uint32_t far = ex_topo_far(t, node, port);
	uint32_t fp = ex_topo_far_port(t, node, port);

	t->far[node * EX_LINKS + port - EX_INTERNAL] = EX_FAR_NONE;
	t->far[far * EX_LINKS + fp - EX_INTERNAL] = EX_FAR_NONE;
}

bool ex_topo_cut(struct ex_topo *t, uint32_t node, uint32_t port)
{
	uint32_t far =
		node < t->nodes ? ex_topo_far(t, node, port) : EX_FAR_NONE;

	if (far == EX_FAR_NONE)
		return false;
	if (t->kind == EX_TOPO_GRAPH) {
		graph_cut(t, node, port);
		return true;
	}
	if (t->n_cuts == EX_CUTS)
		return false;
	t->cut[t->n_cuts++] = (struct ex_cut){
		.node = grid_dir(t, node, port) == UP ? node : far,
		.dim = t->dim[port],
	};
	return true;
}
