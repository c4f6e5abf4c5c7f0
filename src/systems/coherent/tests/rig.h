/* SPDX-License-Identifier: Apache-2.0 */
/* A coh.system that plays a script of the reference, with everything it does
 * written down. */
#ifndef COHERENT_TESTS_RIG_H
#define COHERENT_TESTS_RIG_H

#include "ref_coh.h"

struct rig {
	struct weft_sim *sim;
	struct weft_comp *c;
	struct ref_coh_log *log;
	uint64_t errors; /* of the model's own checks */
};

/* The class's defaults, small memories, no accesses. */
void rig_script_default(struct ref_coh_script *s);
/* Plays s to its end; the system stays until rig_free. */
void rig_run(struct rig *r, const struct ref_coh_script *s,
	     struct ref_coh_log *log);
void rig_free(struct rig *r);
uint64_t rig_counter(const struct rig *r, const char *name);
double rig_metric(const struct rig *r, const char *name);

/* A system with parameters "name=value name=value", not yet started. */
void rig_open(struct rig *r, uint64_t seed, const char *params);
/* Starts it, runs to the end of everything and closes the books. */
void rig_finish(struct rig *r);

#endif
