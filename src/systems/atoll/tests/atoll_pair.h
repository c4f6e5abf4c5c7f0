/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes with ATOLL each, joined by one cable, and programs on both. */
#ifndef ATOLL_TESTS_ATOLL_PAIR_H
#define ATOLL_TESTS_ATOLL_PAIR_H

#include "systems/atoll/nic/nic.h"
#include "weft/atoll.h"
#include "weft/prog.h"
#include "weft/sim.h"

enum { ATOLL_ENDS = 2, ATOLL_PAIR_LINK = 1 }; /* the port of the cable */

struct atoll_pair {
	struct weft_sim *sim;
	struct weft_comp *nic[ATOLL_ENDS];
};

/* Builds the pair without starting the run. progs lists classes of programs,
 * each of which runs on both nodes. set lists parameters of the NICs as "name",
 * "value", ... Both lists end with NULL. */
void atoll_pair_new(struct atoll_pair *p, const struct weft_class *const *progs,
		    const char *const *set);
struct at_nic *atoll_pair_nic(const struct atoll_pair *p, uint32_t node);

#endif
