/* SPDX-License-Identifier: Apache-2.0 */
/* Ports, cables, filters: how frames travel from one component to another. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/ring.h"
#include "sim/sim_internal.h"
#include "weft/trace.h"

/* Computes the number of ports. The declared count is a number or the name of a
 * U32 parameter. */
static int decl_count(const struct weft_comp *c, const struct weft_port_decl *d,
		      uint32_t *n_p, struct weft_err *err)
{
	char *end;

	if (!d->count) {
		*n_p = 1;
		return 0;
	}
	*n_p = (uint32_t)strtoul(d->count, &end, 10);
	if (!*end)
		return 0;
	for (const struct weft_param *p = c->cls->params; p && p->name; p++)
		if (!strcmp(p->name, d->count) && p->type == WEFT_P_U32) {
			memcpy(n_p, (char *)c->state + p->offset, sizeof(*n_p));
			return 0;
		}
	return weft_fail(err, EINVAL, "%s: port count '%s' is no parameter",
			 c->cls->name, d->count);
}

static void port_init(struct weft_comp *c, const struct weft_port_decl *d,
		      uint32_t i)
{
	struct weft_port *p = &c->ports[c->n_ports];

	p->comp = c;
	p->index = c->n_ports++;
	p->kind = d->kind;
	p->decl = d;
	if (!d->count) {
		snprintf(p->name, sizeof(p->name), "%s", d->name);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(p->name, sizeof(p->name), d->name, i);
#pragma GCC diagnostic pop
}

int comp_ports_init(struct weft_comp *c, struct weft_err *err)
{
	const struct weft_port_decl *d;
	uint32_t n, total = 0;

	for (d = c->cls->ports; d && d->name; d++) {
		if (decl_count(c, d, &n, err))
			return -EINVAL;
		total += n;
	}
	c->ports = calloc(total + 1, sizeof(*c->ports));
	assert(c->ports);
	for (d = c->cls->ports; d && d->name; d++) {
		decl_count(c, d, &n, err);
		for (uint32_t i = 0; i < n; i++)
			port_init(c, d, i);
	}
	return 0;
}

void comp_ports_fini(struct weft_comp *c)
{
	for (uint32_t i = 0; i < c->n_ports; i++) {
		struct weft_port *p = &c->ports[i];

		for (; !ring_empty(&p->in); ring_pop(&p->in))
			weft_frame_free(*ring_front(&p->in));
		ring_free(&p->in);
		free(p->filters);
		notes_fini(p);
	}
	free(c->ports);
	c->ports = NULL;
	c->n_ports = 0;
}

struct weft_port *weft_port_find(struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_ports; i++)
		if (!strcmp(c->ports[i].name, name))
			return &c->ports[i];
	return NULL;
}

int weft_connect(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link, weft_time_t delay,
		 struct weft_err *err)
{
	const struct weft_port *taken = a->peer ? a : b->peer ? b : NULL;

	if (a == b)
		return weft_fail(err, EINVAL, "%s.%s is cabled to itself",
				 a->comp->name, a->name);
	if (taken)
		return weft_fail(err, EBUSY,
				 "%s.%s already has a cable, to %s.%s",
				 taken->comp->name, taken->name,
				 taken->peer->comp->name, taken->peer->name);
	if (a->kind != b->kind || a->decl->wire != b->decl->wire)
		return weft_fail(
			err, EINVAL,
			"%s.%s and %s.%s do not fit: different kind of port",
			a->comp->name, a->name, b->comp->name, b->name);
	if (link)
		delay = ((struct weft_link_state *)link->state)->delay;
	if (!delay && a->kind == WEFT_PORT_LINK)
		return weft_fail(
			err, EINVAL,
			"the cable from %s.%s to %s.%s has no latency: at least 1fs is needed",
			a->comp->name, a->name, b->comp->name, b->name);
	a->peer = b;
	b->peer = a;
	a->delay = b->delay = delay;
	a->link = b->link = link;
	return 0;
}

static void port_join(struct weft_port *a, struct weft_port *b)
{
	a->peer = b;
	b->peer = a;
}

int weft_filter_add(struct weft_port *p, struct weft_comp *fault,
		    struct weft_err *err)
{
	const struct weft_ops *ops = &fault->cls->ops;
	struct weft_comp **f;

	if (fault->cls->kind != WEFT_KIND_FAULT || (!ops->filter && !ops->note))
		return weft_fail(err, EINVAL, "%s is no fault component",
				 fault->cls->name);
	if (fault->on)
		return weft_fail(err, EBUSY, "%s sits on %s.%s already",
				 fault->name, fault->on->comp->name,
				 fault->on->name);
	if (p->kind == WEFT_PORT_BUS && ops->note) {
		/* The first port of the fault faces the device, the second one
		 * the bus. */
		bool bus = p->comp->cls->kind == WEFT_KIND_BUS;
		struct weft_port *q = p->peer;

		assert(fault->n_ports == 2);
		if (!q)
			return weft_fail(err, EINVAL,
					 "%s.%s is connected to nothing",
					 p->comp->name, p->name);
		port_join(p, &fault->ports[bus]);
		port_join(q, &fault->ports[!bus]);
		fault->on = p;
		return 0;
	}
	if (p->kind != WEFT_PORT_LINK || !ops->filter)
		return weft_fail(
			err, EINVAL, "%s.%s is no %s: %s sits on a %s port",
			p->comp->name, p->name, ops->filter ? "link" : "bus",
			fault->cls->name, ops->filter ? "link" : "bus");
	f = realloc(p->filters, (p->n_filters + 1) * sizeof(*f));
	assert(f);
	p->filters = f;
	fault->on = p;
	fault->on_index = p->n_filters;
	f[p->n_filters++] = fault;
	p->needs_frames = true;
	return 0;
}

/* Queues a frame at the far port. Inserts it in order of arrival, because
 * filters may make frames overtake each other. */
static void port_deliver(struct weft_port *from, struct weft_frame *f)
{
	struct weft_port *p = from->peer;
	struct weft_sim *sim = p->comp->sim;

	assert(f->time > sim->head.now);
	ring_insert_sorted(&p->in, f, ->time);
	evq_push(&sim->q, f->time, comp_key(p->comp, 0, p->index));
}

static inline void port_out(struct weft_port *p, struct weft_frame *f)
{
	if (p->n_filters)
		p->filters[0]->cls->ops.filter(p->filters[0], f);
	else
		port_deliver(p, f);
}

WEFT_COLD static void port_out_told(struct weft_port *p, struct weft_frame *f)
{
	trace_frame(p, f, f->time - p->delay);
	port_out(p, f);
}

static inline void port_send(struct weft_port *p, struct weft_frame *f,
			     weft_time_t start, weft_time_t busy,
			     weft_time_t end)
{
	p->out_run = start > p->out_end ? busy : p->out_run + busy;
	f->time = start + p->delay;
	p->out_end = end;
	p->out_frames++;
	p->out_words += f->words;
	p->out_busy += busy;
	if (weft_heard(p->comp))
		port_out_told(p, f);
	else
		port_out(p, f);
}

/* Sends a frame while the line is in use. The first overlap of a port fails a
 * check, because a component that does not wait for its line sends more than
 * the line can carry. This code is a separate function, so that the common path
 * needs no stack frame. */
WEFT_COLD static void port_send_beside(struct weft_port *p,
				       struct weft_frame *f, weft_time_t start)
{
	weft_time_t busy = f->words * f->word_fs;
	weft_time_t end = max_of(start + busy, p->out_end);

	if (!p->beside && !p->overlapped) {
		p->overlapped = true;
		weft_check_failed(
			p->comp,
			"%s: a frame starts at %.3f ns while the one before it is on the line until %.3f ns: wait until the line is free",
			p->name, (double)start / (double)WEFT_NS,
			(double)p->out_end / (double)WEFT_NS);
	}
	port_send(p, f, start, busy, end);
}

void weft_port_send(struct weft_port *p, struct weft_frame *f,
		    weft_time_t start)
{
	weft_time_t busy = f->words * f->word_fs;

	assert(start >= p->comp->sim->head.now && p->peer);
	if (__builtin_expect(start < p->out_end, 0))
		port_send_beside(p, f, start);
	else
		port_send(p, f, start, busy, start + busy);
}

weft_time_t weft_port_ahead(const struct weft_port *p)
{
	weft_time_t now = p->comp->sim->head.now;
	weft_time_t left = p->out_end > now ? p->out_end - now : 0;

	return min_of(left, p->out_run);
}

void weft_filter_pass(struct weft_comp *filter, struct weft_frame *f)
{
	struct weft_port *p = filter->on;
	uint32_t next = filter->on_index + 1;

	if (next < p->n_filters)
		p->filters[next]->cls->ops.filter(p->filters[next], f);
	else
		port_deliver(p, f);
}

/* Delivers every frame that has arrived by now. Called in phase 0. */
void port_drain(struct weft_comp *c, uint32_t port)
{
	struct weft_port *p = &c->ports[port];

	while (!ring_empty(&p->in)) {
		struct weft_frame *f = *ring_front(&p->in);

		if (f->time > c->sim->head.now)
			break;
		ring_pop(&p->in);
		c->cls->ops.arrive(c, port, f);
	}
}
