/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.router_sm: a router whose output queues share a memory (queued.h).
 * A cell of the memory holds one flit. `share` divides the cells:
 *
 * static	Every queue has an equal part of the memory.
 * complete	Every queue has `reserved` cells, so that full queues of other
 *		outputs and VCs cannot block it. It may use any other free
 *		cells, up to `limit`.
 * dynamic	Every queue has `reserved` cells. It may use further cells while
 *		it uses fewer of them than alpha times the free ones (Choudhury
 *		and Hahne, IEEE/ACM ToN 1998). */
#include <errno.h>

#include "systems/router/network/queued.h"

/* clang-format off */
static const struct weft_param sm_params[] = {
	QUEUED_PARAMS,
	QUEUED_PARAM(U32, cells, "512", "1..1048576",
		     "flits that the memory holds"),
	QUEUED_PARAM(ENUM, share, "dynamic", "static|complete|dynamic",
		     "cells of a queue: an equal part, any free ones, or those "
		     "below a threshold that follows the free ones"),
	QUEUED_PARAM(REAL, alpha, "1", "0.001..1000",
		     "dynamic: threshold by free cells"),
	QUEUED_PARAM(U32, reserved, "1", "1..65535",
		     "complete, dynamic: cells of each output VC that no other "
		     "takes"),
	QUEUED_PARAM(U32, limit, "0", "0..1048576",
		     "complete, dynamic: cells of an output VC at most; 0 = "
		     "any number"),
	QUEUED_PARAM(U32, writes, "0", "0..128",
		     "flits into the memory in a cycle; 0 = any number"),
	QUEUED_PARAM(U32, reads, "0", "0..128",
		     "flits out of it in a cycle; 0 = any number"),
	QUEUED_CLOCK
};
/* clang-format on */

static const struct weft_counter sm_counters[QUEUED_N_COUNTERS] = {
	QUEUED_COUNTERS("most flits in its memory at a time"),
};

static int sm_init(struct weft_comp *c, struct weft_err *err)
{
	const struct queued *r = c->state;
	const struct queued_params *p = &r->p;

	if (p->share == QUEUED_STATIC)
		return queued_init(c, err);
	if (p->flow != ROUTER_WORMHOLE && p->reserved < p->buf_flits)
		return weft_fail(
			err, EINVAL,
			"%s: packets that fit in buffers of %u flits may wait for ever if each output VC has only %u cells for itself: set switch.reserved to %u, or flow: wormhole",
			c->name, p->buf_flits, p->reserved, p->buf_flits);
	if (p->limit && p->limit < p->reserved)
		return weft_fail(
			err, EINVAL,
			"%s: an output VC has %u cells of its own, more than the limit of %u: set switch.limit to %u or more, or 0",
			c->name, p->reserved, p->limit, p->reserved);
	return queued_init(c, err);
}

/* Returns the minimum number of cells of each queue. */
static uint32_t cells_least(const struct queued_params *p)
{
	if (p->share != QUEUED_STATIC)
		return p->reserved;
	return p->flow == ROUTER_WORMHOLE ? 1 : p->buf_flits;
}

static int sm_rooms(struct queued *r, struct weft_err *err)
{
	const struct queued_params *p = &r->p;
	uint32_t queues = queued_outputs(r) * p->vcs;
	uint64_t least = (uint64_t)queues * cells_least(p);
	uint32_t part = queues ? p->cells / queues : p->cells;

	if (least > p->cells)
		return weft_fail(
			err, EINVAL,
			"%s: %u output VCs with at least %u cells each need a memory of %llu: set switch.cells to that or more",
			r->s.comp->name, queues, cells_least(p),
			(unsigned long long)least);
	r->room = (struct queued_room){
		.own = p->reserved,
		.pool = p->cells - (uint32_t)least,
		.limit = p->limit ? p->limit : p->cells,
		.alpha = p->share == QUEUED_DYNAMIC ? p->alpha : 0,
	};
	if (p->share == QUEUED_STATIC)
		r->room = (struct queued_room){ .own = part, .limit = part };
	r->rates = (struct queued_rates){
		.input = QUEUED_ANY,
		.server = p->writes ? p->writes : QUEUED_ANY,
		.lines = p->reads ? p->reads : QUEUED_ANY,
		.servers = 1,
	};
	return 0;
}

static int sm_start(struct weft_comp *c, struct weft_err *err)
{
	return queued_start(c, sm_rooms, err);
}

WEFT_COMPONENT(net_router_sm, .name = "net.router_sm", .kind = WEFT_KIND_SWITCH,
	       .doc = "router whose output queues share a memory",
	       .source = "own; Choudhury and Hahne 1998",
	       .not_modelled = "errors, multicast, cells of several flits",
	       .state_size = sizeof(struct queued), .params = sm_params,
	       .counters = sm_counters, .n_counters = QUEUED_N_COUNTERS,
	       .ports = queued_ports,
	       .ops = { .init = sm_init,
			.start = sm_start,
			.arrive = queued_arrive,
			.event = queued_event,
			.fini = queued_fini,
			.place = station_place });
