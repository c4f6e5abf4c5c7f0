/* SPDX-License-Identifier: Apache-2.0 */
/* A plain cable of constant latency, for NICs and switches with a wire format
 * of their own. The cable models no errors, because faults add them. */
#include "weft/sim.h"

struct cable {
	struct weft_link_state head;
	weft_time_t delay;
};

static const struct weft_param cable_params[] = {
	WEFT_PARAM(TIME, struct cable, delay, "50ns", "1fs..", OWN,
		   "one way, first word out to first word in"),
	{ 0 }
};

static int cable_init(struct weft_comp *c, struct weft_err *err)
{
	struct cable *k = c->state;

	k->head.delay = k->delay;
	return 0;
}

WEFT_COMPONENT(link_cable, .name = "link.cable", .kind = WEFT_KIND_LINK,
	       .doc = "a cable of constant latency for any wire format",
	       .state_size = sizeof(struct cable), .params = cable_params,
	       .ops = { .init = cable_init });
