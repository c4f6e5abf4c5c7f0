/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of peers for which this process has asked. Direct writes and reads
 * use the NIC's name of a region, so that they do not need the peer's
 * processor.
 *
 * The first access to a region uses a message and also asks the peer for the
 * region, so that later accesses can be direct. A peer that closes a region
 * first notifies all processes that have asked for the region, and only then
 * sends other messages. Therefore a process that receives any later message of
 * the peer no longer uses the region. */
#ifndef PROVIDER_REGION_H
#define PROVIDER_REGION_H

#include "provider/obj.h"

/* Returns true and the target of a direct access to a region, or false if the
 * access must use a message. Asks the peer for the region at the first call. */
bool wfi_region_find(struct wfi_ep *ep, struct wfi_peer *p, uint16_t port,
		     uint64_t key, uint64_t addr, size_t len, uint64_t access,
		     struct wire_window *to);
/* Answers a peer that asks for a region. */
void wfi_query_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Stores the answer to a question of this process (WIRE_REGION), or removes a
 * region that the peer has closed (WIRE_FORGET). */
void wfi_region_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Notifies peers that a region was closed or has changed. */
void wfi_region_gone(struct wfi_mr *mr);

#endif
