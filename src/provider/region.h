/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of peers that this process has asked about: with what the NIC of the
 * peer calls them, writes and reads go there without the peer's processor.
 *
 * The first access asks and goes the long way.  A peer that closes a region
 * tells everybody who has asked, in front of whatever it says later. */
#ifndef PROVIDER_REGION_H
#define PROVIDER_REGION_H

#include "provider/obj.h"

/* Where an access to a region goes, or false: not this way.  Asks the peer when
 * nobody has asked before. */
bool wfi_region_find(struct wfi_ep *ep, struct wfi_peer *p, uint16_t port,
		     uint64_t key, uint64_t addr, size_t len, uint64_t access,
		     struct wire_window *to);
void wfi_query_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_region_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_forget_in(struct wfi_ep *ep, const struct wfi_in *in);
/* A region of ours has gone, or is not what it was. */
void wfi_region_gone(struct wfi_mr *mr);

#endif
