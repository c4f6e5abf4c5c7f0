/* SPDX-License-Identifier: Apache-2.0 */
/* weft_ep_open: which library serves the device that is there.  A NIC adds one
 * row. */
#include <errno.h>

#include "ulib/ep_open.h"
#include "ulib/extoll_drv.h"
#include "ulib/hostport_drv.h"
#include "ulib/hvia_agent.h"
#include "weft/forth.h"

static const struct {
	bool (*probe)(struct weft_host *h, struct weft_dev *d);
	int (*open)(struct weft_host *h, const struct weft_ep_attr *attr,
		    struct weft_ep **ep_p);
	bool groups; /* several processes on a node */
} ep_nics[] = {
	{ weft_forth_probe, ep_forth_open, false },
	{ extoll_drv_probe, ep_extoll_open, false },
	{ hport_drv_probe, ep_hostport_open, true },
	{ hvia_probe, ep_hvia_open, true },
};

uint64_t ep_atomic(struct weft_host *h, void *at, bool swap, uint64_t a,
		   uint64_t b)
{
	uint64_t old, new;

	weft_host_move(h, &old, at, sizeof(old));
	new = swap ? (old == a ? b : old) : old + a;
	if (new != old)
		weft_host_move(h, at, &new, sizeof(new));
	return old;
}

int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p)
{
	static const struct weft_ep_attr none;
	struct weft_dev *d = weft_dev_open(h, 0);

	attr = attr ? attr : &none;
	for (size_t i = 0; d && i < sizeof(ep_nics) / sizeof(ep_nics[0]); i++) {
		if (!ep_nics[i].probe(h, d))
			continue;
		if (attr->group && !ep_nics[i].groups)
			return -EOPNOTSUPP;
		return ep_nics[i].open(h, attr, ep_p);
	}
	return -ENODEV;
}
