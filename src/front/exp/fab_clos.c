/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `clos`: three-stage Clos network C(m, n, r), folded.
 *
 *   leaves s1_0 .. (r of them), `hosts` n ends each, one link to every spine
 *   spines s2_0 .. (m of them)
 *
 * First and third stage are one chip, because links carry both directions.
 * Packets between ends of one leaf turn in that leaf. With m >= n the network
 * is rearrangeable: any permutation fits on the paths if existing connections
 * may be moved to other spines. With m >= 2n - 1 it never blocks, and
 * connections need not be moved. Path number 1 + s leads through spine s. */
#include "front/exp/multistage.h"
#include "front/exp/section.h"

static const char *const keys[] = { "hosts", "spines", "leaves", "switch",
				    "link",  "trunk",  NULL };

static int clos_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	uint32_t hosts = 4, spines, leaves;
	struct stages s = { .levels = 2 };

	if (exp_option(map, "hosts", WEFT_P_U32, "1..63", &hosts, sizeof(hosts),
		       err))
		return -1;
	spines = hosts;
	leaves = (uint32_t)((b->ends.n + hosts - 1) / hosts);
	if (exp_option(map, "spines", WEFT_P_U32, "1..63", &spines,
		       sizeof(spines), err) ||
	    exp_option(map, "leaves", WEFT_P_U32, "1..64", &leaves,
		       sizeof(leaves), err))
		return -1;
	if (leaves < 2)
		return doc_fail(
			map->at, err,
			"a Clos network of %u leaf is a switch: give more ends or fewer hosts per leaf",
			leaves);
	s.down[1] = hosts;
	s.up[2] = spines;
	s.down[2] = leaves;
	return stages_build(b, map, &s, err);
}

const struct fabric_gen fabric_clos = {
	.name = "clos",
	.doc = "three-stage Clos network, folded: leaves and spines",
	.keys = keys,
	.build = clos_build,
};
