/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `fat-tree`: tree of L levels in which every switch has k children
 * (`arity`) and `up` parents, with k^L ends and up^(L-1) paths. up = k gives
 * the k-ary n-tree with full bandwidth at every level. Fewer parents give less
 * bandwidth. Packets turn at the first level that has both ends below it. */
#include "front/exp/multistage.h"
#include "front/exp/section.h"

static const char *const keys[] = { "arity", "up",    "levels", "switch",
				    "link",  "trunk", NULL };

static int tree_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	struct stages s = { 0 };
	uint32_t arity = 4, up;

	if (exp_option(map, "arity", WEFT_P_U32, "2..32", &arity, sizeof(arity),
		       err) ||
	    stages_depth(b, map, arity, &s.levels, err))
		return -1;
	up = arity;
	if (exp_option(map, "up", WEFT_P_U32, "1..32", &up, sizeof(up), err))
		return -1;
	for (uint32_t l = 1; l <= s.levels; l++) {
		s.down[l] = arity;
		s.up[l] = up;
	}
	return stages_build(b, map, &s, err);
}

const struct fabric_gen fabric_fat_tree = {
	.name = "fat-tree",
	.doc = "k-ary fat tree of any number of levels",
	.keys = keys,
	.build = tree_build,
};
