/* SPDX-License-Identifier: Apache-2.0 */
/* Translates topologies and routing functions of BookSim2 to those of a routed
 * fabric. */
#include <string.h>

#include "systems/router/import/booksim.h"

enum { NODES = 65536, DIMS = 8 };

struct topology {
	const char *name;
	/* Returns the number of ends, 0 after a refusal. */
	uint32_t (*nodes)(struct booksim *b);
	/* Writes the keys `topology` and `dims`, and the keys of the cables. */
	void (*write)(struct booksim *b, FILE *f);
};

/* Routing functions of a topology. */
struct function {
	const char *topology, *name;
	const char *routing; /* name here; NULL: there is none */
	const char *remark;  /* difference, or other that would do; or NULL */
};

/* BookSim2 keeps the outputs of a packet in a set that is ordered by priority
 * alone (outputset.hpp). Therefore the set loses the second of two outputs with
 * equal priority. */
static const char first_only[] =
	"a packet may take each of several outputs, in BookSim2 the first alone";

/* clang-format off */
static const struct function functions[] = {
	{ "mesh", "dor", "dimension_order", NULL },
	{ "mesh", "dim_order", "dimension_order", NULL },
	{ "mesh", "valiant", "valiant", NULL },
	{ "mesh", "romm", "romm", NULL },
	{ "mesh", "xy_yx", "o1turn", NULL },
	{ "mesh", "min_adapt", "minimal_adaptive", first_only },
	{ "mesh", "planar_adapt", "planar_adaptive", first_only },
	{ "torus", "dim_order", "dimension_order", NULL },
	{ "torus", "dim_order_bal", "dimension_order\n  datelines: balanced",
	  NULL },
	{ "torus", "valiant", "valiant", NULL },
	{ "torus", "min_adapt", "minimal_adaptive", first_only },
	{ "mesh", "adaptive_xy_yx", "xy_yx_adaptive", NULL },
	{ "fly", "dest_tag", "destination_tag", NULL },
	{ "fattree", "nca", "nearest_common_ancestor", NULL },
	{ "fattree", "anca", "nca_adaptive", NULL },
	{ "qtree", "nca", "nearest_common_ancestor", NULL },
	{ "tree4", "nca", "nearest_common_ancestor", NULL },
	{ "cmesh", "dor", "express_order", NULL },
	{ "cmesh", "dor_no_express", "dimension_order", NULL },
	{ "anynet", "min", "shortest_all_vcs", NULL },
	{ "dragonflynew", "min", "minimal", NULL },
	{ "dragonflynew", "ugal", "ugal\n  threshold: 30",
	  "the long way ends where another group is entered, in BookSim2 at a "
	  "random router of it" },
	{ "flatfly", "ran_min", "dimension_order", NULL },
	{ "flatfly", "xyyx", "o1turn", NULL },
	{ "flatfly", "adaptive_xyyx", "xy_yx_adaptive", NULL },
	{ "flatfly", "valiant", "valiant", NULL },
	{ "flatfly", "ugal", "ugal\n  threshold: 2", NULL },
	/* Routing functions that are missing here. */
	{ "mesh", "dim_order_ni", NULL, "dim_order would do" },
	{ "mesh", "dim_order_pni", NULL, "dim_order would do" },
	{ "mesh", "romm_ni", NULL, "romm would do" },
	{ "mesh", "chaos", NULL, "min_adapt would do" },
	{ "torus", "dim_order_ni", NULL, "dim_order would do" },
	{ "torus", "valiant_ni", NULL, "valiant would do" },
	{ "torus", "chaos", NULL, "min_adapt would do" },
	{ "tree4", "anca", NULL, "nca would do" },
	{ "cmesh", "xy_yx", NULL, "dor would do" },
	{ "cmesh", "xy_yx_no_express", NULL, "dor_no_express would do" },
	{ "flatfly", "ugal_xyyx", NULL, "ugal would do" },
	{ "flatfly", "ugal_pni", NULL, "ugal would do" },
};
/* clang-format on */
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* ---- shapes ---- */

uint32_t booksim_power(struct booksim *b, double factor)
{
	double k = booksim_number(b, "k"), n = booksim_number(b, "n");
	double nodes = factor;

	if (n < 1 || n > DIMS) {
		booksim_cannot(b, "n", "1 to %d would do", DIMS);
		return 0;
	}
	if (k < 2) {
		booksim_cannot(b, "k", "2 or more would do");
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		nodes *= k;
	if (nodes > NODES) {
		booksim_cannot(b, "k",
			       "with n = %g the network has more than %d ends",
			       n, NODES);
		return 0;
	}
	return (uint32_t)nodes;
}

static uint32_t grid_nodes(struct booksim *b)
{
	return booksim_power(b, 1);
}

void booksim_dims(struct booksim *b, FILE *f, const char *topology)
{
	uint32_t n = (uint32_t)booksim_number(b, "n");

	fprintf(f, "  topology: %s\n  dims: [", topology);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, "%s%g", i ? ", " : "", booksim_number(b, "k"));
	fprintf(f, "]\n");
}

static void mesh_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "mesh");
}

/* A cable of a torus has two cycles, because the ring is folded: a cable passes
 * a router that lies on the way back. */
static void torus_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "torus");
	if (booksim_number(b, "use_noc_latency") == 1)
		fprintf(f, "  link: { latency: 2 }\n");
}

static void fly_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "fly");
}

static void fattree_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "fat_tree");
}

/* Accepts only the size of tree that BookSim2 has for qtree and tree4. */
static uint32_t tree_nodes(struct booksim *b)
{
	const char *name = booksim_text(b, "topology");

	if (booksim_number(b, "k") != 4)
		booksim_cannot(b, "k", "4 would do in a %s", name);
	else if (booksim_number(b, "n") != 3)
		booksim_cannot(b, "n", "3 would do in a %s", name);
	else
		return 64;
	return 0;
}

static void qtree_write(struct booksim *b, FILE *f)
{
	booksim_dims(b, f, "fat_tree");
	fprintf(f, "  up: [1, 1]\n");
}

static void tree4_write(struct booksim *b, FILE *f)
{
	fprintf(f, "  topology: tree4\n");
}

static const struct topology topologies[] = {
	{ "mesh", grid_nodes, mesh_write },
	{ "torus", grid_nodes, torus_write },
	{ "fly", grid_nodes, fly_write },
	{ "fattree", grid_nodes, fattree_write },
	{ "qtree", tree_nodes, qtree_write },
	{ "tree4", tree_nodes, tree4_write },
	{ "cmesh", booksim_cmesh_nodes, booksim_cmesh_write },
	{ "flatfly", booksim_flatfly_nodes, booksim_flatfly_write },
	{ "anynet", booksim_anynet_nodes, booksim_anynet_write },
	{ "dragonflynew", booksim_dragonfly_nodes, booksim_dragonfly_write },
};
enum { TOPOLOGIES = sizeof(topologies) / sizeof(topologies[0]) };

static const struct topology *topology_of(const struct booksim *b)
{
	const char *name = booksim_text(b, "topology");

	for (uint32_t i = 0; i < TOPOLOGIES; i++)
		if (!strcmp(topologies[i].name, name))
			return &topologies[i];
	return NULL;
}

bool booksim_shape(struct booksim *b)
{
	const struct topology *t = topology_of(b);

	if (!t)
		booksim_cannot(
			b, "topology",
			"there is none: mesh, torus, cmesh, fly, "
			"fattree, qtree, tree4, flatfly, dragonflynew or "
			"anynet would do");
	else
		b->nodes = t->nodes(b);
	return t && b->nodes;
}

/* ---- routing ---- */

/* Writes to `text` those routing functions of a topology that Weft has, too. */
static void functions_list(const char *topology, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].routing &&
		    !strcmp(functions[i].topology, topology) && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s",
						len ? ", " : "",
						functions[i].name);
}

static const struct function *function_of(const struct booksim *b)
{
	const char *topology = booksim_text(b, "topology");
	const char *name = booksim_text(b, "routing_function");

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (!strcmp(functions[i].topology, topology) &&
		    !strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

void booksim_fabric(struct booksim *b, FILE *f)
{
	const struct function *r = function_of(b);
	char all[200];

	fprintf(f, "fabric:\n  type: routed\n");
	topology_of(b)->write(b, f);
	functions_list(booksim_text(b, "topology"), all, sizeof(all));
	if (!r)
		booksim_cannot(b, "routing_function",
			       "BookSim2 has none of this name for a %s: %s "
			       "would do",
			       booksim_text(b, "topology"), all);
	else if (!r->routing)
		booksim_cannot(b, "routing_function", "there is none: %s",
			       r->remark);
	else
		fprintf(f, "  routing: %s\n", r->routing);
	if (r && r->routing && r->remark)
		booksim_remark(b, "routing_function", "%s", r->remark);
}
