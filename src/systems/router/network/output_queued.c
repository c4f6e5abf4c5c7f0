/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.router_oq: a router with queues at its outputs, whose fabric is
 * `speedup` times as fast as a line (queued.h). With speedup = 0 the router is
 * an ideal switch, in which no flit waits for the fabric. */
#include <errno.h>

#include "systems/router/network/queued.h"

/* clang-format off */
static const struct weft_param oq_params[] = {
	QUEUED_PARAMS,
	QUEUED_PARAM(U32, queue_flits, "32", "1..65535",
		     "places for flits of each output VC"),
	QUEUED_PARAM(U32, speedup, "0", "0..128",
		     "flits that the fabric takes from an input and gives to "
		     "an output in a cycle; 0 = any number"),
	QUEUED_CLOCK
};
/* clang-format on */

static const struct weft_counter oq_counters[QUEUED_N_COUNTERS] = {
	QUEUED_COUNTERS("most flits in its queues at a time"),
};

static int oq_init(struct weft_comp *c, struct weft_err *err)
{
	const struct queued *r = c->state;
	const struct queued_params *p = &r->p;

	if (p->flow != ROUTER_WORMHOLE && p->queue_flits < p->buf_flits)
		return weft_fail(
			err, EINVAL,
			"%s: packets that fit in buffers of %u flits do not fit in queues of %u: set switch.queue_flits to %u, or flow: wormhole",
			c->name, p->buf_flits, p->queue_flits, p->buf_flits);
	return queued_init(c, err);
}

static int oq_rooms(struct queued *r, struct weft_err *err)
{
	uint32_t speedup = r->p.speedup ? r->p.speedup : QUEUED_ANY;

	r->room = (struct queued_room){ .own = r->p.queue_flits,
					.limit = r->p.queue_flits };
	r->rates = (struct queued_rates){ .input = speedup,
					  .server = speedup,
					  .lines = QUEUED_ANY,
					  .servers = r->p.ports };
	return 0;
}

static int oq_start(struct weft_comp *c, struct weft_err *err)
{
	return queued_start(c, oq_rooms, err);
}

WEFT_COMPONENT(net_router_oq, .name = "net.router_oq", .kind = WEFT_KIND_SWITCH,
	       .doc = "router with output queues and virtual channels",
	       .source = "own; Karol, Hluchyj and Morgan 1987",
	       .not_modelled = "errors, multicast",
	       .state_size = sizeof(struct queued), .params = oq_params,
	       .counters = oq_counters, .n_counters = QUEUED_N_COUNTERS,
	       .ports = queued_ports,
	       .ops = { .init = oq_init,
			.start = oq_start,
			.arrive = queued_arrive,
			.event = queued_event,
			.fini = queued_fini,
			.place = station_place });
