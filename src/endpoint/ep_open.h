/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint implementations, one per NIC. The ids of device 0 choose one. */
#ifndef ENDPOINT_EP_OPEN_H
#define ENDPOINT_EP_OPEN_H

#include "weft/ep.h"

/* A library for one kind of NIC. ENDPOINT(id) in system.def lists it. */
struct ep_nic {
	/* Returns true if this library serves device d. Does not change the
	 * device's state, because the probes of other libraries may follow. */
	bool (*probe)(struct weft_host *h, struct weft_dev *d);
	/* Opens the endpoint. Returns the results of weft_ep_open. attr must
	 * not be NULL. */
	int (*open)(struct weft_host *h, const struct weft_ep_attr *attr,
		    struct weft_ep **ep_p);
	bool groups; /* the library allows several processes on a node */
};

#define ENDPOINT(id) extern const struct ep_nic ep_nic_##id;
#include "systems.def"

#endif
