/* SPDX-License-Identifier: Apache-2.0 */
/* A HyperTransport bus on a bench: scripted host and devices around one bus.ht,
 * with all their notes in one log. */
#ifndef TESTS_HOST_RIG_HT_H
#define TESTS_HOST_RIG_HT_H

#include "ref_ht.h"
#include "weft/sim.h"

struct htrig {
	struct weft_sim *sim;
	struct weft_comp *bus;
	const struct ht_script *script;
	struct ht_log *log;
	bool bad_data; /* a byte arrived wrong */
	/* parameters of the bus besides those of the script, or NULL */
	const char *const *set;
};

/* Sets the parameters of the specification, with one device and no
 * operations. */
void htrig_default(struct ht_script *s);
struct ht_op *htrig_add(struct ht_list *l, enum ht_what what, uint64_t addr,
			uint32_t bytes);
/* Plays s to its end. */
void htrig_run(struct htrig *r, const struct ht_script *s, struct ht_log *log);
void htrig_free(struct htrig *r);
uint64_t htrig_counter(const struct htrig *r, const char *name);
/* Returns the n-th note of a kind on a port, or NULL. */
const struct ht_said *htrig_said(const struct ht_log *log, uint32_t port,
				 enum weft_note_kind kind, uint32_t n);

#endif
