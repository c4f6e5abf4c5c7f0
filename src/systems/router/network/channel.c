/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.channel: a cable between routers, one flit per cycle and a latency
 * in cycles. Flits and credits are in the lines of its ends (lines.h). */
#include "systems/router/network/lines.h"

static const struct weft_param channel_params[] = {
	WEFT_PARAM(U32, struct net_channel, latency, "1", "1..65535", OWN,
		   "cycles on the cable"),
	WEFT_PARAM(CLOCK, struct net_channel, clock, "1GHz", "", OWN,
		   "clock of the network"),
	{ 0 }
};

static int channel_init(struct weft_comp *c, struct weft_err *err)
{
	struct net_channel *k = c->state;

	k->head.delay = weft_clock_edge(&k->clock, k->latency);
	return 0;
}

WEFT_COMPONENT(net_channel, .name = "net.channel", .kind = WEFT_KIND_LINK,
	       .doc = "a cable between routers, a flit per cycle",
	       .source = "own", .not_modelled = "width, errors",
	       .state_size = sizeof(struct net_channel),
	       .params = channel_params, .ops = { .init = channel_init });
