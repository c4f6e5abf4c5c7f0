/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `benes`: Benes network of k x k switches (`radix`), folded.
 *
 *   k^L ends, 2L - 1 stages of k^(L-1) switches.  Stage i and its mirror image
 *   are one chip of 2k ports (level i of s1_0.. sL_0..), because a link carries
 *   both directions. The middle stage has chips of k ports.
 *
 * As in the unfolded network every packet crosses all 2L - 1 stages. A packet
 * that enters a switch from below climbs, whatever its destination, and a
 * packet that enters from above descends. Therefore each input has a separate
 * table. The network is rearrangeable, with k^(L-1) paths, one for each middle
 * switch. */
#include "front/exp/multistage.h"
#include "front/exp/section.h"

static const char *const keys[] = { "radix", "levels", "switch",
				    "link",  "trunk",  NULL };

static int benes_build(struct exp_build *b, const struct doc_node *map,
		       struct weft_err *err)
{
	struct stages s = { .whole = true };
	uint32_t radix = 2;

	if (exp_option(map, "radix", WEFT_P_U32, "2..32", &radix, sizeof(radix),
		       err) ||
	    stages_depth(b, map, radix, &s.levels, err))
		return -1;
	for (uint32_t l = 1; l <= s.levels; l++)
		s.down[l] = s.up[l] = radix;
	return stages_build(b, map, &s, err);
}

const struct fabric_gen fabric_benes = {
	.name = "benes",
	.doc = "Benes network of k x k switches, folded",
	.keys = keys,
	.build = benes_build,
};
