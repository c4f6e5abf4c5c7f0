/* SPDX-License-Identifier: Apache-2.0 */
/* A crossbar surrounded by scripted nodes, for the switch tests. */
#ifndef FORTH_TESTS_STAR_H
#define FORTH_TESTS_STAR_H

#include "scripted_node.h"
#include "unit/cmocka_all.h"
#include "systems/forth/switch/crossbar.h"

struct star {
	struct weft_sim *sim;
	struct weft_comp *sw, *comp[8];
	struct node *n[8];
	struct forth_xbar *x;
	uint32_t ports;
	weft_time_t cc;
};

/* Makes the star. Settings are NULL, or "name", "value", ..., NULL. */
void star_init(struct star *s, uint32_t ports, const char *const *sw_set,
	       const char *const *node_set);
/* Sends `count` packets of `qwords`, ready at cycle `at`. Call it once per
 * node, before star_start. */
void star_send(struct star *s, uint32_t from, uint32_t to, uint32_t count,
	       uint32_t qwords, uint64_t at);
/* Puts a fault on frames that leave node i, or with `back` on frames that leave
 * the switch towards node i. */
struct weft_comp *star_fault(struct star *s, const struct weft_class *cls,
			     uint32_t i, bool back, const char *const *set);
void star_start(struct star *s);
void star_run(struct star *s, uint64_t cycle);
/* star_start_of returns the cycle of the k-th packet start at source `node`.
 * star_out_of returns the cycle of the k-th packet start at output `port` of
 * the switch. */
uint64_t star_start_of(const struct star *s, uint32_t node, uint32_t k);
uint64_t star_out_of(const struct star *s, uint32_t port, uint32_t k,
		     uint32_t *src_p);
void star_fini(struct star *s);

#endif
