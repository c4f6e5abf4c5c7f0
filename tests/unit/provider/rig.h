/* SPDX-License-Identifier: Apache-2.0 */
/* Two endpoints of the provider, each in a simulated "process". */
#ifndef TESTS_PROVIDER_RIG_H
#define TESTS_PROVIDER_RIG_H

#include "../cmocka_all.h"
#include "double.h"
#include "provider/obj.h"

struct rig_side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *dom;
	struct fid_eq *eq;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t to; /* address of the other side */
};

struct rig {
	struct rig_side s[2];
};

/* Opens endpoints of type `type` (RDM, DGRAM) on both sides. The endpoints
 * know each other's addresses. */
void rig_up(struct rig *r, enum fi_ep_type type);
void rig_down(struct rig *r);
/* Closes all objects of a side and opens them anew, in the same process. */
void rig_again(struct rig *r, unsigned side);
/* Lets a side make progress. Returns true if something arrived. */
bool rig_progress(struct rig *r, int side);
/* Lets both sides make progress until nothing arrives any more. */
void rig_settle(struct rig *r);
/* Returns the next completion of a side, which must exist. */
struct fi_cq_tagged_entry rig_next(struct rig *r, int side);
/* Returns the next completion of a side, which must be an error. */
struct fi_cq_err_entry rig_error(struct rig *r, int side);
void rig_none(struct rig *r, int side);
void rig_fill(void *p, size_t len, unsigned seed);
struct wfi_ep *rig_ep(struct rig *r, int side);

#endif
