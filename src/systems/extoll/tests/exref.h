/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests that compare a unit of the EXTOLL NIC with its reference:
 * random numbers, and a NIC on the bench of velo_rig.h with random times at the
 * host's side. */
#ifndef EXTOLL_TESTS_EXREF_H
#define EXTOLL_TESTS_EXREF_H

#include "ref_htax.h"
#include "systems/extoll/nic/nic.h"
#include "velo_rig.h"

void exref_seed(uint64_t seed);
uint32_t dice(uint32_t n);
/* Returns random delays of synchronisers and HTAX, depths of queues and times
 * on the bus. */
struct ref_hx_cfg exref_hx(void);
/* Opens one NIC with the parameters of c and of `more`. Its event queue is
 * off. */
void exref_open(struct xr *r, struct ref_hx_cfg *c, const char *more);
struct extoll_nic *exref_nic(const struct xr *r);

#endif
