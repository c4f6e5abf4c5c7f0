/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own switch in one file: store and forward, output queues without
 * limit, first come first served.
 *
 * An output sends the packet that was complete first. Packets that were
 * complete at the same time leave in the order of their inputs' numbers, so
 * that their order does not depend on the order of events. Not modelled: finite
 * buffers, flow control. */
#include <stdlib.h>

#include "own.h"

enum { C_FORWARDED, C_UNROUTABLE, C_N };

struct own_input {
	struct weft_frame *first, **last; /* queued frames, oldest first */
};

struct own_switch {
	uint32_t ports, latency; /* parameters: number of ports, latency in
				  * cycles */
	struct weft_clock clock;
	struct own_input *in;
	weft_time_t *line_free; /* time at which the line of each output becomes
				 * free */
};

static const struct weft_param switch_params[] = {
	WEFT_PARAM(U32, struct own_switch, ports, "4", "2..64", OWN, "ports"),
	WEFT_PARAM(U32, struct own_switch, latency, "5", "1..1000", OWN,
		   "cycles from last word in to first word out"),
	WEFT_PARAM(CLOCK, struct own_switch, clock, "125MHz", "", OWN,
		   "clock of the switch"),
	{ 0 }
};

static const struct weft_counter switch_counters[C_N] = {
	[C_FORWARDED] = { "forwarded", "packets", "packets sent on" },
	[C_UNROUTABLE] = { "unroutable", "packets", "no such port" },
};

static const struct weft_port_decl switch_ports[] = {
	{ "port%u", WEFT_PORT_LINK, "ports", &own_wire, true, "a link" }, { 0 }
};

static int switch_init(struct weft_comp *c, struct weft_err *err)
{
	struct own_switch *s = c->state;

	s->in = calloc(s->ports, sizeof(*s->in));
	s->line_free = calloc(s->ports, sizeof(*s->line_free));
	for (uint32_t i = 0; s->in && i < s->ports; i++)
		s->in[i].last = &s->in[i].first;
	return s->in && s->line_free ? 0 : weft_fail(err, 12, "no memory");
}

static void switch_fini(struct weft_comp *c)
{
	struct own_switch *s = c->state;

	for (uint32_t i = 0; s->in && i < s->ports; i++)
		for (struct weft_frame *f; (f = s->in[i].first);) {
			s->in[i].first = f->next;
			weft_frame_free(f);
		}
	free(s->in);
	free(s->line_free);
}

/* Phase 0: queues the frame. Phase 1 routes the frame when all of it has
 * arrived. */
static void switch_arrive(struct weft_comp *c, uint32_t port,
			  struct weft_frame *f)
{
	struct own_switch *s = c->state;
	weft_time_t end = f->time + f->words * f->word_fs;

	f->next = NULL;
	*s->in[port].last = f;
	s->in[port].last = &f->next;
	weft_wake(c, port, weft_clock_after(&s->clock, end, s->latency));
}

static void switch_event(struct weft_comp *c, uint32_t port)
{
	struct own_switch *s = c->state;
	struct weft_frame *f = s->in[port].first;
	weft_time_t start = weft_now(c);
	uint64_t out = f->u[F_NODE];

	s->in[port].first = f->next;
	if (!f->next)
		s->in[port].last = &s->in[port].first;
	if (out >= s->ports || !c->ports[out].peer) {
		weft_count(c, C_UNROUTABLE, 1);
		weft_frame_free(f);
		return;
	}
	if (start < s->line_free[out])
		start = s->line_free[out];
	s->line_free[out] = start + f->words * f->word_fs;
	weft_count(c, C_FORWARDED, 1);
	weft_port_send(&c->ports[out], f, start);
}

WEFT_COMPONENT(own_switch, .name = "own.switch", .kind = WEFT_KIND_SWITCH,
	       .doc = "output-queued switch: the worked example of a switch",
	       .source = "examples/own", .not_modelled = "finite buffers",
	       .state_size = sizeof(struct own_switch), .params = switch_params,
	       .counters = switch_counters, .n_counters = C_N,
	       .ports = switch_ports,
	       .ops = { .init = switch_init,
			.arrive = switch_arrive,
			.event = switch_event,
			.fini = switch_fini });
