/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies of BookSim2 whose routers have several ends: cmesh, flatfly and
 * dragonflynew.
 *
 * BookSim2 numbers the ends of cmesh and flatfly row by row over the whole
 * plane, in which a router has a block of xr * yr ends. Topology
 * flattened_butterfly of Weft numbers ends router by router. A pattern that
 * depends on the numbers is refused if the two orders differ. The exception is
 * bitcomp with sizes that are powers of two. There the two numbers of an end
 * have the same bits in different order, and the complements of these numbers
 * also belong to one end. */
#include <string.h>

#include "systems/router/import/booksim.h"

/* Latencies of cables within a group and between groups (DRAGON_LATENCY). */
enum { LOCAL = 10, GLOBAL = 100 };

/* Checks the settings of the plane: x * y routers with xr * yr ends each. */
static bool plane_check(struct booksim *b)
{
	double x = booksim_number(b, "x"), xr = booksim_number(b, "xr");
	double c = booksim_number(b, "c"), k = booksim_number(b, "k");
	double routers = 1;

	for (double n = booksim_number(b, "n"); n > 0; n--)
		routers *= k;
	if (x != booksim_number(b, "y") || x * x != routers)
		booksim_cannot(b, "x",
			       "BookSim2 wants a square of routers, x = y: k "
			       "would do if n is 2");
	else if (xr != booksim_number(b, "yr") || xr * xr != c)
		booksim_cannot(b, "xr",
			       "BookSim2 wants a square of ends at a router, "
			       "xr = yr: 2 would do if c is 4");
	else
		return true;
	return false;
}

/* Refuses patterns that depend on the numbers of ends. */
static void numbers_check(struct booksim *b)
{
	const char *pattern = booksim_text(b, "traffic");
	uint32_t routers = b->nodes / (uint32_t)booksim_number(b, "c");

	if (booksim_number(b, "c") == 1 || !strcmp(pattern, "uniform") ||
	    !strncmp(pattern, "randperm", 8))
		return;
	if (strcmp(pattern, "bitcomp") || (routers & (routers - 1)))
		booksim_cannot(
			b, "traffic",
			"ends are numbered router by router, in BookSim2 "
			"row by row: uniform, bitcomp or c=1 would do");
}

static bool placed(const struct booksim *b)
{
	return booksim_number(b, "use_noc_latency") == 1;
}

uint32_t booksim_cmesh_nodes(struct booksim *b)
{
	if (booksim_number(b, "n") != 2)
		booksim_cannot(b, "n", "2 would do in a cmesh");
	else if (booksim_number(b, "c") != 4)
		booksim_cannot(b, "c", "4 would do in a cmesh");
	else if (plane_check(b))
		return booksim_power(b, 4);
	return 0;
}

/* Writes the cmesh. A cable between neighbours takes 2 cycles, because the ends
 * of a router are two in a row and two in a column. An express cable spans k
 * ends, half of a row, and takes k cycles. */
void booksim_cmesh_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "cmesh");
	if (placed(b))
		fprintf(f,
			"  link: { latency: 2 }\n  trunk: { latency: %.0f }\n",
			booksim_number(b, "k"));
}

uint32_t booksim_flatfly_nodes(struct booksim *b)
{
	if (placed(b))
		booksim_cannot(b, "use_noc_latency",
			       "cables of a flattened_butterfly have one "
			       "length: 0 would do");
	return plane_check(b) ? booksim_power(b, booksim_number(b, "c")) : 0;
}

void booksim_flatfly_write(struct booksim *b, FILE *f)
{
	numbers_check(b);
	booksim_dims(b, f, "flattened_butterfly");
	fprintf(f, "  ends: %.0f\n", booksim_number(b, "c"));
}

/* Returns the number of ends. A group has 2 k routers, each with k ends and k
 * cables to other groups. */
uint32_t booksim_dragonfly_nodes(struct booksim *b)
{
	double k = booksim_number(b, "k");

	if (booksim_number(b, "n") != 1)
		booksim_cannot(b, "n", "1 would do in a dragonfly");
	else if (k < 1 || k > 10)
		booksim_cannot(b, "k", "1 to 10 would do in a dragonfly");
	else
		return (uint32_t)(2 * k * k * (2 * k * k + 1));
	return 0;
}

void booksim_dragonfly_write(struct booksim *b, FILE *f)
{
	double k = booksim_number(b, "k"), used = 2;

	if (!strcmp(booksim_text(b, "routing_function"), "ugal"))
		used = 3;
	if (booksim_number(b, "num_vcs") != used)
		booksim_cannot(b, "num_vcs",
			       "BookSim2 uses %.0f VCs with this routing: "
			       "num_vcs=%.0f would do",
			       used, used);
	fprintf(f, "  topology: dragonfly\n  dims: [%.0f, %.0f]\n", 2 * k, k);
	fprintf(f, "  link: { latency: %d }\n  trunk: { latency: %d }\n", LOCAL,
		GLOBAL);
}
