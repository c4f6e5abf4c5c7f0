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

#endif
