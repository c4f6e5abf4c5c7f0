/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of peers that this process has asked about. With the NIC's name of a
 * region, writes and reads reach it without the peer's processor.
 *
 * The first access asks, and goes by message. A peer that closes a region
 * notifies all processes that have asked, before any later message, so that
 * none uses a closed region. */
#ifndef PROVIDER_REGION_H
#define PROVIDER_REGION_H

#include "provider/obj.h"

/* Returns true and the target of an access to a region, or false if it must go
 * by message. Asks the peer if that was not done before. */
bool wfi_region_find(struct wfi_ep *ep, struct wfi_peer *p, uint16_t port,
		     uint64_t key, uint64_t addr, size_t len, uint64_t access,
		     struct wire_window *to);
/* Answers a peer that asks for a region. */
void wfi_query_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Stores the answer to an own question (WIRE_REGION), or forgets a region that
 * the peer has closed (WIRE_FORGET). */
void wfi_region_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Notifies peers that a region was closed or has changed. */
void wfi_region_gone(struct wfi_mr *mr);

#endif
