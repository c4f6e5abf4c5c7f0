/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of ports over time, see port_activity.h. */
#include "measure/port_activity.h"

#include <stdlib.h>
#include <string.h>

static char *view_dup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		abort();
	return copy;
}

static uint64_t *view_array(size_t n)
{
	uint64_t *a = calloc(n + 1, sizeof(*a));

	if (!a)
		abort();
	return a;
}

void view_intervals(struct view *v, size_t n)
{
	free(v->end);
	v->end = view_array(n);
	v->n = n;
}

struct view_port *view_port_add(struct view *v, const char *name,
				const char *peer, const char *kind,
				const char *unit, uint32_t n)
{
	/* capacities are powers of two */
	if (!(v->n_ports & (v->n_ports - 1)))
		v->ports =
			reallocarray(v->ports, v->n_ports ? 2 * v->n_ports : 1,
				     sizeof(*v->ports));
	if (!v->ports)
		abort();
	v->ports[v->n_ports] = (struct view_port){ .name = view_dup(name),
						   .peer = view_dup(peer),
						   .kind = view_dup(kind),
						   .unit = view_dup(unit),
						   .n = n };
	return &v->ports[v->n_ports++];
}

uint64_t *view_values(const struct view *v, struct view_port *p,
		      enum view_what what)
{
	if (!p->y[what])
		p->y[what] = view_array(v->n);
	return p->y[what];
}

void view_fini(struct view *v)
{
	for (size_t i = 0; i < v->n_ports; i++) {
		struct view_port *p = &v->ports[i];

		free(p->name);
		free(p->peer);
		free(p->kind);
		free(p->unit);
		for (uint32_t k = 0; k < VIEW_N; k++)
			free(p->y[k]);
	}
	free(v->ports);
	free(v->end);
	*v = (struct view){ 0 };
}
