/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a trace (net/packet_trace.h) or a collective operation
 * (net/collective.h). All sources of a network share them. A packet leaves in
 * its cycle, but not before the cycle after the arrival of the last packet that
 * it waits for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "net/collective.h"
#include "systems/router/network/meter.h"
#include "systems/router/traffic/source_classes.h"

static const double LOAD = 0.1; /* default of NET_SOURCE_TRAFFIC */

uint32_t source_trace_flits(const struct router_source *s, uint32_t size)
{
	if (s->collective)
		return size;
	return size ? (size + s->flit_bytes - 1) / s->flit_bytes : 1;
}

void source_trace_done(struct router_source *s, uint32_t i, uint64_t now)
{
	struct router_net *net = s->s.net->state;
	struct trace *t = net->trace;
	uint64_t then = now + 1;

	if (net->step && net->step[t->step[i]] < now)
		net->step[t->step[i]] = now;
	for (uint32_t k = 0; k < t->pkt[i].n; k++) {
		uint32_t d = t->next[t->pkt[i].first + k];
		struct trace_pkt *p = &t->pkt[d];
		const struct weft_comp *c = net->m.gen[p->src].comp;
		struct router_source *src;

		if (p->cycle < then)
			p->cycle = then;
		if (--p->wait || !c || c->cls != &weft_class_net_source)
			continue;
		src = c->state;
		if (!src->t.replay)
			continue;
		packet_replay_ready(src->t.replay, d);
		station_wake(&src->s, p->cycle);
	}
}

/* Makes the packets of all sources. The source that starts first calls it. */
static int packets_load(struct router_source *s, struct router_net *net,
			struct weft_err *err)
{
	const struct router_face *r = s->router;
	struct weft_err sub = { 0 };
	uint32_t most = 0;

	if (s->collective)
		net->trace = collective_make(s->collective, s->nodes, s->flits,
					     &sub);
	else
		net->trace = trace_load(s->trace, s->nodes,
					4096 * s->flit_bytes, &sub);
	if (!net->trace)
		return weft_fail(err, EINVAL, "%s: %s", s->s.comp->name,
				 sub.msg);
	for (uint32_t i = 0; i < net->trace->n; i++) {
		uint32_t flits =
			source_trace_flits(s, net->trace->pkt[i].bytes);

		most = flits > most ? flits : most;
	}
	if (r->flow != ROUTER_WORMHOLE && most > r->places)
		return weft_fail(
			err, EINVAL,
			"%s: packets of %u flits do not fit in queues of %u: set switch.buf_flits to %u, or flow: wormhole",
			s->s.comp->name, most, r->places, most);
	if (net->trace->steps)
		net->step = need(calloc(net->trace->steps, 8));
	return 0;
}

int source_trace_alike(struct router_source *s, struct weft_err *err)
{
	struct router_net *net = s->s.net->state;
	const struct router_source *first = net->first_source;

	if (!first)
		net->first_source = first = s;
	if (s->collective == first->collective &&
	    !strcmp(s->trace, first->trace) &&
	    (!net->trace ||
	     (s->flits == first->flits && s->flit_bytes == first->flit_bytes)))
		return 0;
	return weft_fail(
		err, EINVAL,
		"%s: its trace or collective operation is not that of %s: give all ends the same 'collective', 'trace', 'flits' and 'flit_bytes'",
		s->s.comp->name, first->s.comp->name);
}

/* Returns the name of a parameter that conflicts with a trace or a collective
 * operation, or NULL. */
static const char *asked_beside(const struct router_source *s)
{
	const struct {
		const char *name;
		bool asked;
	} of[] = {
		{ "load", s->load < LOAD || s->load > LOAD },
		{ "packets", s->packets > 0 },
		{ "sizes", s->sizes[0] },
		{ "flits_max", s->flits_max > 0 },
		{ "pattern", s->pattern != PATTERN_UNIFORM },
		{ "arrivals", s->arrivals != ARRIVALS_BERNOULLI },
		{ "flits", s->trace[0] && s->flits != 1 },
	};

	for (uint32_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i].asked)
			return of[i].name;
	return NULL;
}

int source_trace_start(struct router_source *s, struct weft_err *err)
{
	struct router_net *net = s->s.net->state;
	const char *beside = asked_beside(s);

	if (s->n_parts || !class_plain(&s->cls) ||
	    (s->collective && s->trace[0]))
		return weft_fail(
			err, EINVAL,
			"%s: a trace or a collective operation names all packets: leave out classes, replies, limits and batches",
			s->s.comp->name);
	if (beside)
		return weft_fail(
			err, EINVAL,
			"%s: a trace or a collective operation names all packets: leave out '%s'",
			s->s.comp->name, beside);
	if (!net->trace && packets_load(s, net, err))
		return -EINVAL;
	s->range = (struct net_range){ 0, (uint8_t)s->router->vcs };
	net->m.timed = true;
	traffic_replay(&s->t, net->trace, s->node);
	if (traffic_due(&s->t) != ARRIVALS_NEVER)
		station_wake(&s->s, traffic_due(&s->t));
	return 0;
}
