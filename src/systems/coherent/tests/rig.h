/* SPDX-License-Identifier: Apache-2.0 */
/* A coh.system that plays a script of the reference and logs all accesses and
 * transactions. */
#ifndef COHERENT_TESTS_RIG_H
#define COHERENT_TESTS_RIG_H

#include "ref_coh.h"

struct rig {
	struct weft_sim *sim;
	struct weft_comp *c;
	struct ref_coh_log *log;
	uint64_t errors; /* errors that the model's own checks found */
};

/* Fills s with the default parameters of the class, but with small memories,
 * and without accesses. */
void rig_script_default(struct ref_coh_script *s);
/* Plays s to its end. The system exists until rig_free. */
void rig_run(struct rig *r, const struct ref_coh_script *s,
	     struct ref_coh_log *log);
void rig_free(struct rig *r);
uint64_t rig_counter(const struct rig *r, const char *name);
double rig_metric(const struct rig *r, const char *name);

/* Makes a system with parameters "name=value name=value" and does not start
 * it. */
void rig_open(struct rig *r, uint64_t seed, const char *params);
/* Starts the system, runs until no event is left, and calls finish. */
void rig_finish(struct rig *r);

#endif
