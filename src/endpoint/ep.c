/* SPDX-License-Identifier: Apache-2.0 */
/* Implements weft_ep_open: chooses the library that serves the node's
 * device. */
#include <errno.h>

#include "endpoint/ep_open.h"

static const struct ep_nic *const ep_nics[] = {
#define ENDPOINT(id) &ep_nic_##id,
#include "systems.def"
};

int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p)
{
	static const struct weft_ep_attr none;
	struct weft_dev *d = weft_dev_open(h, 0);

	attr = attr ? attr : &none;
	for (size_t i = 0; d && i < sizeof(ep_nics) / sizeof(ep_nics[0]); i++) {
		if (!ep_nics[i]->probe(h, d))
			continue;
		if (attr->group && !ep_nics[i]->groups)
			return -EOPNOTSUPP;
		return ep_nics[i]->open(h, attr, ep_p);
	}
	return -ENODEV;
}
