/* SPDX-License-Identifier: Apache-2.0 */
/* Runs forth.nic on the bench of rig.h with the scripts and parameters of a
 * ref_dma_cfg. */
#ifndef FORTH_TESTS_REF_RIG_H
#define FORTH_TESTS_REF_RIG_H

#include "ref_dma.h"
#include "unit/replay.h"
#include "rig.h"

/* Sets the parameters that all scenarios share. */
void ref_rig_base(struct ref_dma_cfg *c);
/* Opens the bench with a NIC that has the parameters of c. */
void ref_rig_open(struct rig *r, const struct ref_dma_cfg *c);
/* Runs the model with the scripts of c. */
void ref_rig_run(struct rig *r, const struct ref_dma_cfg *c);
/* Compares bus operations, packets sent and packets received with the
 * reference. Returns 0 if they are equal. */
int ref_rig_compare(const struct rig *r, const struct ref_dma_cfg *c,
		    const struct ref_dma_log *l);
/* Runs the model and the reference, and compares them. */
int ref_rig_both(struct rig *r, const struct ref_dma_cfg *c,
		 struct ref_dma_log *l);

static inline uint32_t below(struct weft_rng *g, uint32_t n)
{
	return (uint32_t)weft_rng_below(g, n);
}

#endif
