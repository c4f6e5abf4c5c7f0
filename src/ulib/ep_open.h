/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint implementations, one per NIC, opened by the ids of device 0. */
#ifndef ULIB_EP_OPEN_H
#define ULIB_EP_OPEN_H

#include "weft/ep.h"

int ep_forth_open(struct weft_host *h, const struct weft_ep_attr *attr,
		  struct weft_ep **ep_p);
int ep_extoll_open(struct weft_host *h, const struct weft_ep_attr *attr,
		   struct weft_ep **ep_p);
int ep_hostport_open(struct weft_host *h, const struct weft_ep_attr *attr,
		     struct weft_ep **ep_p);
int ep_hvia_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p);

/* What a library does for its peers where the NIC has no atomics: adds a to the
 * word of a region, or (swap) sets it to b if it is a; its old value. */
uint64_t ep_atomic(struct weft_host *h, void *at, bool swap, uint64_t a,
		   uint64_t b);

#endif
