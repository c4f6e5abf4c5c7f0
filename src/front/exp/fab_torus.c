/* SPDX-License-Identifier: Apache-2.0 */
/* Fabrics `torus`, `mesh` and `hypercube`: regular direct networks, whose
 * routes are computed by arithmetic.
 *
 *	type: torus, dims: [8, 8, 8], routing: table
 *	tie: positive	direction to a node half way round a ring (default)
 *	tie: balanced	the parity of the coordinate selects this direction
 *	tie: random	a random bit of each packet selects this direction
 *			(routing: path)
 *	both: yes	two cables in dimensions of size 2
 *	dateline: no	no odd channel, so that deadlocks can be shown
 */
#include "front/exp/direct_network.h"
#include "front/exp/section.h"

static const char *const torus_keys[] = { "dims",     "tie",	   "both",
					  "dateline", DIRECT_KEYS, NULL };
static const char *const mesh_keys[] = { "dims", DIRECT_KEYS, NULL };
static const char *const cube_keys[] = { "dims", DIRECT_KEYS, NULL };

struct shape {
	uint32_t size[TOPO_DIMS], dims, tie;
	bool both, dateline;
};

static int grid_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	bool wrap = !strcmp(doc_get(map, "type")->text, "torus");
	const struct doc_node *n = doc_get(map, "dims");
	struct shape s = { .dateline = true };
	struct weft_err sub = { 0 };
	struct topo_ports ports;
	struct topology t;

	if (!n)
		return doc_fail(
			map->at, err,
			"the fabric has no 'dims': write e.g. dims: [4, 4, 4]");
	if (exp_want(n, DOC_SEQ, "dims", err))
		return -1;
	if (n->n < 1 || n->n > TOPO_DIMS)
		return doc_fail(n->at, err, "%u dimensions: give 1 to %u", n->n,
				TOPO_DIMS);
	for (s.dims = 0; s.dims < n->n; s.dims++)
		if (exp_value(n->items[s.dims].val, WEFT_P_U32, "1..65536",
			      &s.size[s.dims], sizeof(uint32_t), "dims", err))
			return -1;
	if (exp_option(map, "tie", WEFT_P_ENUM, "positive|balanced|random",
		       &s.tie, sizeof(s.tie), err) ||
	    exp_option(map, "both", WEFT_P_BOOL, "", &s.both, sizeof(s.both),
		       err) ||
	    exp_option(map, "dateline", WEFT_P_BOOL, "", &s.dateline,
		       sizeof(s.dateline), err) ||
	    direct_ports(b, map, &ports, err))
		return -1;
	if (topo_grid(&t, ports, s.size, s.dims, wrap, s.both, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	t.tie = (enum topo_tie)s.tie;
	t.dateline = s.dateline;
	return direct_build(b, map, &t, err);
}

/* Reads the number of dimensions from `dims`. Without `dims` the network has as
 * many dimensions as its number of ends needs. */
static int cube_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	struct weft_err sub = { 0 };
	struct topo_ports ports;
	struct topology t;
	uint32_t dims = 1;

	while (dims < TOPO_DIMS && 1u << dims < b->ends.n)
		dims++;
	if (exp_option(map, "dims", WEFT_P_U32, "1..6", &dims, sizeof(dims),
		       err) ||
	    direct_ports(b, map, &ports, err))
		return -1;
	if (topo_cube(&t, ports, dims, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	return direct_build(b, map, &t, err);
}

const struct fabric_gen fabric_torus = {
	.name = "torus",
	.doc = "a switch at each end, in rings of up to 6 dimensions",
	.keys = torus_keys,
	.build = grid_build,
};

const struct fabric_gen fabric_mesh = {
	.name = "mesh",
	.doc = "a switch at each end, in a grid of up to 6 dimensions",
	.keys = mesh_keys,
	.build = grid_build,
};

const struct fabric_gen fabric_hypercube = {
	.name = "hypercube",
	.doc = "a switch at each end, a link for each bit of its number",
	.keys = cube_keys,
	.build = cube_build,
};
