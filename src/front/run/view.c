/* SPDX-License-Identifier: Apache-2.0 */
/* Records the ports of the network over the time of a run, for `weft report`.
 *
 * The length of a run need not be known in advance: intervals begin short, and
 * when all are used, pairs of neighbouring intervals are merged. The number of
 * values is bounded, so a network with very many ports has one row for each
 * component instead of each port. No event is added, so that recording does not
 * change the run. */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "front/exp/registry.h"
#include "front/run/run.h"

enum {
	VIEW_MAX = 64, /* intervals at most */
	VIEW_MIN = 4,
	/* largest number of ports with one row each; a larger network has one
	 * row for each component */
	VIEW_PORTS = 16384,
	VIEW_CELLS = 1 << 18 /* ports times intervals at most */
};
#define VIEW_FIRST (100 * WEFT_NS)

/* Totals of a port or component at the end of an interval. */
struct cell {
	uint64_t v[VIEW_N];
};

struct place {
	struct weft_comp *comp;
	uint32_t first, n; /* first port of the row, and number of ports that
			    * the row sums */
};

struct viewer {
	struct weft_sim *sim;
	weft_time_t interval, next;
	bool together; /* each row sums all ports of a component */
	struct {
		VEC(struct place);
	} places;
	size_t cap;
	weft_time_t end[VIEW_MAX + 1];
	size_t n;
	struct cell *row[VIEW_MAX + 1]; /* cells of all rows of the result, one
					 * array per interval */
};

static bool view_cabled(const struct weft_port *p)
{
	return p->kind == WEFT_PORT_LINK && p->peer;
}

static void viewer_places(struct viewer *v)
{
	for (uint32_t i = 0; i < weft_sim_count(v->sim); i++) {
		struct weft_comp *c = weft_sim_at(v->sim, i);
		bool any = false;

		for (uint32_t p = 0; p < c->n_ports; p++) {
			if (!view_cabled(&c->ports[p]))
				continue;
			if (!v->together)
				vec_push(&v->places, (struct place){ c, p, 1 });
			any = true;
		}
		if (v->together && any)
			vec_push(&v->places,
				 (struct place){ c, 0, c->n_ports });
	}
}

struct viewer *viewer_open(const struct exp_case *c)
{
	struct viewer *v;

	if (!c->exp->view)
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		abort();
	v->sim = c->sim;
	viewer_places(v);
	if (v->places.n > VIEW_PORTS) {
		v->together = true;
		vec_clear(&v->places);
		viewer_places(v);
	}
	v->cap = VIEW_MAX;
	while (v->cap > VIEW_MIN && v->cap * v->places.n > VIEW_CELLS)
		v->cap /= 2;
	/* The interval is longer for many ports, because reading them takes
	 * time. */
	v->interval = VIEW_FIRST * (1 + v->places.n / 2048);
	v->next = v->places.n ? weft_sim_now(c->sim) + v->interval : WEFT_NEVER;
	return v;
}

void viewer_free(struct viewer *v)
{
	if (!v)
		return;
	for (size_t i = 0; i <= VIEW_MAX; i++)
		free(v->row[i]);
	vec_free(&v->places);
	free(v);
}

/* ---- taking samples ---- */

static void viewer_take(struct viewer *v)
{
	struct cell **row = &v->row[v->n];

	if (!*row)
		*row = calloc(v->places.n + 1, sizeof(**row));
	if (!*row)
		abort();
	weft_sim_sample(v->sim);
	for (size_t i = 0; i < v->places.n; i++) {
		const struct place *p = &v->places.at[i];
		const struct weft_ops *ops = &p->comp->cls->ops;
		struct cell *out = &(*row)[i];

		*out = (struct cell){ 0 };
		for (uint32_t k = 0; k < p->n; k++) {
			struct weft_port *at = &p->comp->ports[p->first + k];
			struct weft_waiting w = { 0 };

			if (!view_cabled(at))
				continue;
			if (ops->waiting)
				ops->waiting(p->comp, at->index, &w);
			out->v[VIEW_BUSY] +=
				(at->out_busy - weft_port_ahead(at)) / WEFT_NS;
			out->v[VIEW_BLOCKED] += w.blocked / WEFT_NS;
			out->v[VIEW_QUEUED] += w.queued;
		}
	}
	v->end[v->n++] = weft_sim_now(v->sim);
}

weft_time_t viewer_due(const struct viewer *v)
{
	return v ? v->next : WEFT_NEVER;
}

void viewer_rest(struct viewer *v)
{
	if (!v || v->next == WEFT_NEVER)
		return;
	if (!v->n || v->end[v->n - 1] < weft_sim_now(v->sim))
		viewer_take(v);
	v->next = WEFT_NEVER;
}

void viewer_tick(struct viewer *v)
{
	viewer_take(v);
	if (v->n == v->cap) {
		/* Keeps the ends of the second, fourth, ... interval, which are
		 * the ends of the merged intervals. */
		for (size_t i = 0; i < v->n / 2; i++) {
			struct cell *keep = v->row[2 * i + 1];

			v->end[i] = v->end[2 * i + 1];
			v->row[2 * i + 1] = v->row[i];
			v->row[i] = keep;
		}
		v->n /= 2;
		v->interval *= 2;
	}
	v->next = v->end[v->n - 1] + v->interval;
}

/* ---- at the end ---- */

/* Turns the totals of row i into differences between intervals. Queue contents
 * stay as they are. A total that falls counts as unchanged. The total of a
 * line's time in use can fall, because this time may be counted one interval
 * early. */
static void place_values(const struct viewer *v, size_t i, struct view *out,
			 struct view_port *p, enum view_what what)
{
	uint64_t *y = view_values(out, p, what), before = 0;

	for (size_t k = 0; k < v->n; k++) {
		uint64_t now = v->row[k][i].v[what];

		if (what == VIEW_QUEUED)
			y[k] = now;
		else if (now > before)
			y[k] = now - before;
		before = now > before ? now : before;
	}
}

static void place_out(const struct viewer *v, size_t i, struct view *out)
{
	const struct place *at = &v->places.at[i];
	const struct weft_port *port = &at->comp->ports[at->first];
	struct weft_waiting w = { 0 };
	char name[160], peer[160] = "";
	struct view_port *p;
	uint32_t n = 0;

	for (uint32_t k = 0; k < at->n; k++)
		n += view_cabled(&port[k]);
	snprintf(name, sizeof(name), "%s", at->comp->name);
	if (!v->together) {
		snprintf(name, sizeof(name), "%s.%s", at->comp->name,
			 port->name);
		snprintf(peer, sizeof(peer), "%s.%s", port->peer->comp->name,
			 port->peer->name);
	}
	if (at->comp->cls->ops.waiting)
		at->comp->cls->ops.waiting(at->comp, at->first, &w);
	p = view_port_add(out, name, peer, kind_name(at->comp->cls->kind),
			  w.unit ? w.unit : "", n);
	place_values(v, i, out, p, VIEW_BUSY);
	if (w.knows_blocked)
		place_values(v, i, out, p, VIEW_BLOCKED);
	if (w.unit)
		place_values(v, i, out, p, VIEW_QUEUED);
}

void viewer_result(struct viewer *v, struct weft_result *r)
{
	if (!v->places.n || !weft_sim_now(v->sim))
		return;
	viewer_rest(v);
	view_intervals(&r->view, v->n);
	for (size_t k = 0; k < v->n; k++)
		r->view.end[k] = v->end[k];
	for (size_t i = 0; i < v->places.n; i++)
		place_out(v, i, &r->view);
}
