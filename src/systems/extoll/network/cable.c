/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.cable: the cable between two link ports (extoll.md 7.1, L4). It
 * models the flight time only, because transceivers and codec belong to the
 * ports and faults are components of their own. */
#include <errno.h>
#include <math.h>

#include "systems/extoll/network/cell_channel.h"

static const struct weft_param cable_params[] = {
	WEFT_PARAM(REAL, struct extoll_cable, length, "2", "0.0001..100000",
		   CALIBRATED, "metres (7.1)"),
	WEFT_PARAM(TIME, struct extoll_cable, per_metre, "5ns", "1fs..1us",
		   CALIBRATED, "flight time of a metre (7.1)"),
	{ 0 }
};

static int cable_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_cable *k = c->state;

	k->head.delay = (weft_time_t)llround(k->length * (double)k->per_metre);
	if (!k->head.delay)
		return weft_fail(
			err, EINVAL,
			"%s: a cable of %g m without latency: at least 1fs is needed",
			c->name, k->length);
	return 0;
}

WEFT_COMPONENT(extoll_cable, .name = "extoll.cable", .kind = WEFT_KIND_LINK,
	       .doc = "EXTOLL cable, full duplex, 6.24 or 3.12 Gbit/s",
	       .source = "extoll.md 7.1",
	       .state_size = sizeof(struct extoll_cable),
	       .params = cable_params, .ops = { .init = cable_init });
