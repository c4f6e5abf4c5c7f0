/* SPDX-License-Identifier: Apache-2.0 */
/* Folded multistage networks have levels 1, 2 .. of switches above the ends and
 * full-duplex links. Packets climb and then descend.
 *
 *   level 2      s2_0    s2_1          down[2] = 3: children of each
 *               / | \   / | \          up[2] = 2: parents of each s1
 *   level 1   s1_0  s1_1  s1_2         down[1] = 2: ends at each
 *              /\    /\    /\
 *   ends      0  1  2  3  4  5
 *
 * A switch's ports 0 .. down-1 lead to its children, and the following ports to
 * its parents. Path 1 + i names a parent for each level that the packet climbs:
 * i % up[2], then i / up[2] % up[3] .. Path 0 takes the parents from the
 * destination's number. The route down depends on the destination alone.  Links
 * cannot wait for each other in a cycle, because no packet climbs after it has
 * descended (tests/unit/front/test_fabric.c checks this). */
#ifndef FRONT_EXP_MULTISTAGE_H
#define FRONT_EXP_MULTISTAGE_H

#include "front/exp/build.h"

#define STAGES_MAX 7 /* a flow number has 7 bits, for 2^7 ends */

struct stages {
	uint32_t levels;
	uint32_t down[STAGES_MAX + 1]; /* children of a switch of level l */
	uint32_t up[STAGES_MAX + 2];   /* parents of a switch of level l - 1 */
	/* Packets climb to the top level even if they could turn below it. */
	bool whole;
};

/* Returns the number of ends below one switch of a level. */
uint32_t stages_ends(const struct stages *s, uint32_t level);
/* Returns the number of switches of a level. */
uint32_t stages_switches(const struct stages *s, uint32_t level);
/* Returns the ports that a switch of a level needs. */
uint32_t stages_ports(const struct stages *s, uint32_t level);
/* Returns the port of switch `index` towards `dest` on a path. `falling` is
 * true when the packet has arrived from a parent. */
uint32_t stages_port(const struct stages *s, uint32_t level, uint32_t index,
		     uint32_t path, uint32_t dest, bool falling);

/* Reads the key `levels`. By default *levels_p is the number of levels that the
 * ends need with this radix. Returns 0, or a negative errno with a message. */
int stages_depth(const struct exp_build *b, const struct doc_node *map,
		 uint32_t radix, uint32_t *levels_p, struct weft_err *err);
/* Builds switches s1_0, s1_1 .. s2_0 .., cables and tables from the keys
 * `switch`, `link` and `trunk` of map. */
int stages_build(struct exp_build *b, const struct doc_node *map,
		 const struct stages *s, struct weft_err *err);

#endif
