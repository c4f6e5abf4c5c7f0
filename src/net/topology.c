/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and neighbours of nodes (topology.h). In a grid they are computed. In a
 * graph they are in tables that front/exp/route_graph.c makes. */
#include "net/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN }; /* index into topology.port */

/* ---- one dimension ---- */

/* Returns true if a cable is cut between coordinate `at` and the coordinate
 * `len` steps further in this direction, in the row along `dim` that holds
 * `node`. */
static bool row_cut(const struct topology *t, uint32_t node, uint32_t dim,
		    uint32_t at, uint32_t len, uint32_t dir)
{
	uint32_t k = t->size[dim], base = node - at * t->stride[dim];

	for (uint32_t i = 0; i < t->n_cuts; i++) {
		uint32_t c = topo_coord(t, t->cut[i].node, dim), dist;

		if (t->cut[i].dim != dim ||
		    t->cut[i].node - c * t->stride[dim] != base)
			continue;
		dist = dir == UP ? c + k - at : at + k - 1 - c;
		if (dist % k < len)
			return true;
	}
	return false;
}

static uint32_t tie_dir(const struct topology *t, uint32_t dim, uint32_t a,
			uint32_t coins)
{
	switch (t->tie) {
	case TOPO_TIE_BALANCED:
		return a % 2 ? DOWN : UP;
	case TOPO_TIE_RANDOM:
		return coins >> dim & 1 ? DOWN : UP;
	case TOPO_TIE_NEGATIVE:
		return DOWN;
	default:
		return UP;
	}
}

/* Returns the direction from a to b != a, or TOPO_NO_PORT if cuts block both
 * directions. */
static uint32_t row_dir(const struct topology *t, uint32_t node, uint32_t dim,
			uint32_t a, uint32_t b, uint32_t coins)
{
	uint32_t k = t->size[dim], len = b > a ? b - a : b + k - a, dir;

	if (!(t->wrap >> dim & 1)) {
		dir = b < a;
		len = dir == UP ? len : k - len;
		return t->n_cuts && row_cut(t, node, dim, a, len, dir)
			       ? TOPO_NO_PORT
			       : dir;
	}
	dir = 2 * len == k ? tie_dir(t, dim, a, coins) : 2 * len > k;
	if (!t->n_cuts)
		return dir;
	if (!row_cut(t, node, dim, a, dir == UP ? len : k - len, dir))
		return dir;
	/* The shorter direction is cut, so that the packet takes the other
	 * direction unless that direction is cut, too. */
	dir = !dir;
	return row_cut(t, node, dim, a, dir == UP ? len : k - len, dir)
		       ? TOPO_NO_PORT
		       : dir;
}

/* ---- next hop ---- */

void topo_here_init(struct topo_here *h, const struct topology *t,
		    uint32_t node)
{
	*h = (struct topo_here){ .node = node };
	for (uint32_t i = 0; i < t->dims; i++)
		h->at[i] = (uint16_t)topo_coord(t, node, i);
}

uint32_t topo_here_way(const struct topo_here *h, const struct topology *t,
		       uint32_t d, uint32_t coins)
{
	uint32_t left = d;

	if (t->kind == TOPO_HUB)
		return d < t->nodes ? t->ports.first : TOPO_NO_PORT;
	if (t->kind == TOPO_GRAPH)
		return t->table[(size_t)h->node * t->nodes + d];
	for (uint32_t i = 0; i < t->dims; i++) {
		uint32_t q = (uint32_t)(left * t->recip[i] >> 32);
		uint32_t b = left - q * t->size[i], dir;

		left = q;
		if (b == h->at[i])
			continue;
		dir = row_dir(t, h->node, i, h->at[i], b, coins);
		return dir == TOPO_NO_PORT ? TOPO_NO_PORT : t->port[i][dir];
	}
	return TOPO_NO_PORT;
}

uint32_t topo_way(const struct topology *t, uint32_t s, uint32_t d,
		  uint32_t coins)
{
	struct topo_here h;

	if (t->kind == TOPO_GRAPH)
		return t->table[(size_t)s * t->nodes + d];
	topo_here_init(&h, t, s);
	return topo_here_way(&h, t, d, coins);
}

uint32_t topo_port(const struct topology *t, uint32_t s, uint32_t d)
{
	return topo_way(t, s, d, 0);
}

/* ---- cables ---- */

/* Returns the direction of a port at this node. If both ends of a cable have
 * one port number, the coordinate decides. */
static uint32_t grid_dir(const struct topology *t, uint32_t s, uint32_t port)
{
	uint32_t dim = t->dim[port];

	if (t->port[dim][UP] == t->port[dim][DOWN])
		return topo_coord(t, s, dim) ? DOWN : UP;
	return port == t->port[dim][DOWN];
}

/* Returns the node at the far end of the cable. Returns TOPO_FAR_NONE without a
 * cable, which includes the edge of a mesh and a cut cable. */
uint32_t topo_far(const struct topology *t, uint32_t s, uint32_t port)
{
	uint32_t dim, dir, a, b, k, far;

	if (port < t->ports.first || port >= topo_ports_end(t))
		return TOPO_FAR_NONE;
	if (t->kind == TOPO_HUB)
		return TOPO_FAR_NONE;
	if (t->kind == TOPO_GRAPH)
		return t->far[topo_link(t, s, port)];
	dim = t->dim[port];
	if (dim >= t->dims)
		return TOPO_FAR_NONE;
	dir = grid_dir(t, s, port);
	k = t->size[dim];
	a = topo_coord(t, s, dim);
	b = dir == UP ? a + 1 : a + k - 1;
	if ((dir == UP ? a == k - 1 : a == 0) && !(t->wrap >> dim & 1))
		return TOPO_FAR_NONE;
	far = s + b % k * t->stride[dim] - a * t->stride[dim];
	for (uint32_t i = 0; i < t->n_cuts; i++)
		if (t->cut[i].dim == dim &&
		    t->cut[i].node == (dir == UP ? s : far))
			return TOPO_FAR_NONE;
	return far;
}

uint32_t topo_far_port(const struct topology *t, uint32_t s, uint32_t port)
{
	if (t->kind == TOPO_GRAPH)
		return t->far_port[topo_link(t, s, port)];
	return t->port[t->dim[port]][!grid_dir(t, s, port)];
}

uint32_t topo_datelines(const struct topology *t, uint32_t s)
{
	uint32_t mask = 0;

	if (t->kind != TOPO_GRID || !t->dateline)
		return 0;
	for (uint32_t i = 0; i < t->dims; i++) {
		if (!(t->wrap >> i & 1))
			continue;
		if (topo_coord(t, s, i) == t->size[i] - 1)
			mask |= 1u << t->port[i][UP];
		if (topo_coord(t, s, i) == 0)
			mask |= 1u << t->port[i][DOWN];
	}
	return mask;
}

/* ---- whole routes ---- */

uint32_t topo_hops(const struct topology *t, uint32_t s, uint32_t d)
{
	uint32_t n = 0, port;

	if (t->kind == TOPO_HUB)
		return s != d;
	for (; s != d; s = topo_far(t, s, port)) {
		port = topo_port(t, s, d);
		if (port == TOPO_NO_PORT || n++ >= t->nodes)
			return UINT32_MAX;
	}
	return n;
}

/* The last steps are those of splitmix64, because with them every bit of the
 * key affects every coin. */
uint32_t topo_coins(uint64_t key)
{
	key += 0x9e3779b97f4a7c15;
	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
	key = (key ^ key >> 27) * 0x94d049bb133111eb;
	return (uint32_t)(key >> 32) & ((1u << TOPO_DIMS) - 1);
}

/* ---- making ---- */

static int grid_number(struct topology *t, bool compact, struct weft_err *err)
{
	uint32_t next = t->ports.first;

	memset(t->port, TOPO_NO_PORT, sizeof(t->port));
	memset(t->dim, 0xff, sizeof(t->dim));
	for (uint32_t i = 0; i < t->dims; i++) {
		uint32_t n = 2; /* number of ports of this dimension */

		if (t->size[i] == 1)
			n = 0;
		else if (t->size[i] == 2 && compact && !t->both)
			n = 1;

		if (!compact)
			next = t->ports.first + 2 * i;
		if (next + n > topo_ports_end(t))
			return weft_fail(
				err, EINVAL,
				"a switch has %u links: these dimensions need more (two each, one where the size is 2)",
				t->ports.links);
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

static int grid_make(struct topology *t, const uint32_t *size, uint32_t dims,
		     struct weft_err *err)
{
	uint64_t n = 1;

	if (dims < 1 || dims > TOPO_DIMS)
		return weft_fail(err, EINVAL, "%u dimensions: give 1 to %u",
				 dims, TOPO_DIMS);
	for (uint32_t i = 0; i < dims; i++) {
		if (!size[i] || n * size[i] > TOPO_NODES_MAX)
			return weft_fail(
				err, EINVAL,
				size[i] ? "more than %u nodes"
					: "a dimension of size 0 (most are %u nodes)",
				TOPO_NODES_MAX);
		t->size[i] = size[i];
		t->stride[i] = (uint32_t)n;
		t->recip[i] = ((1ULL << 32) + size[i] - 1) / size[i];
		n *= size[i];
	}
	t->dims = dims;
	t->nodes = (uint32_t)n;
	return 0;
}

int topo_grid(struct topology *t, struct topo_ports ports, const uint32_t *size,
	      uint32_t dims, bool wrap, bool both, struct weft_err *err)
{
	*t = (struct topology){ .kind = TOPO_GRID,
				.ports = ports,
				.dateline = true,
				.both = both && wrap };
	if (grid_make(t, size, dims, err))
		return -EINVAL;
	for (uint32_t i = 0; i < dims && wrap; i++)
		if (size[i] > 2 || (size[i] == 2 && both))
			t->wrap |= 1u << i;
	return grid_number(t, dims > 3, err);
}

int topo_cube(struct topology *t, struct topo_ports ports, uint32_t dims,
	      struct weft_err *err)
{
	static const uint32_t two[TOPO_DIMS] = { 2, 2, 2, 2, 2, 2 };

	*t = (struct topology){ .kind = TOPO_GRID,
				.ports = ports,
				.dateline = true };
	if (grid_make(t, two, dims, err))
		return -EINVAL;
	return grid_number(t, true, err);
}

void topo_hub(struct topology *t, struct topo_ports ports, uint32_t nodes)
{
	*t = (struct topology){ .kind = TOPO_HUB,
				.ports = ports,
				.nodes = nodes };
	memset(t->dim, 0xff, sizeof(t->dim));
}

void topo_fini(struct topology *t)
{
	free(t->table);
	free(t->far);
	free(t->far_port);
	*t = (struct topology){ 0 };
}

void topo_free(struct topology *t)
{
	if (t)
		topo_fini(t);
	free(t);
}

bool topo_cut(struct topology *t, uint32_t node, uint32_t port)
{
	uint32_t far =
		node < t->nodes ? topo_far(t, node, port) : TOPO_FAR_NONE;
	uint32_t back;

	if (far == TOPO_FAR_NONE)
		return false;
	if (t->kind == TOPO_GRAPH) {
		back = topo_far_port(t, node, port);
		t->far[topo_link(t, node, port)] = TOPO_FAR_NONE;
		t->far[topo_link(t, far, back)] = TOPO_FAR_NONE;
		return true;
	}
	if (t->n_cuts == TOPO_CUTS)
		return false;
	t->cut[t->n_cuts++] = (struct topo_cut){
		.node = grid_dir(t, node, port) == UP ? node : far,
		.dim = t->dim[port],
	};
	return true;
}
