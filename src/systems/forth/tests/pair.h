/* SPDX-License-Identifier: Apache-2.0 */
/* Two scripted nodes, joined by a cable, for tests of links. */
#ifndef FORTH_TESTS_PAIR_H
#define FORTH_TESTS_PAIR_H

#include "scripted_node.h"
#include "unit/cmocka_all.h"

struct pair {
	struct weft_sim *sim;
	struct weft_comp *comp[2], *fault;
	struct node *n[2];
	weft_time_t cc;
};

/* Makes the pair. `set` applies to both nodes and is a list "name", "value",
 * ..., NULL. `fault` is the class of a filter on frames that leave node 0, with
 * the settings `fault_set`, or NULL for no filter. */
void pair_init(struct pair *p, const char *const *set,
	       const struct weft_class *fault, const char *const *fault_set);
/* Makes the pair on cables of class forth.link with the settings `link_set`. */
void pair_init_on(struct pair *p, const char *const *set,
		  const struct weft_class *fault, const char *const *fault_set,
		  const char *const *link_set);
/* Sends `count` packets of `qwords` from node `from` to the other node. All
 * packets are ready at the start of the run. */
void pair_send(struct pair *p, uint32_t from, uint32_t count, uint32_t qwords);
void pair_start(struct pair *p);
void pair_run(struct pair *p, uint64_t cycles); /* runs up to this cycle */
void pair_fini(struct pair *p);

#endif
