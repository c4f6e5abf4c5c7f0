/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of ports over time, see port_activity.h. */
#include "base/need.h"
#include "measure/port_activity.h"

#include <stdlib.h>
#include <string.h>

void view_intervals(struct view *v, size_t n)
{
	free(v->end);
	v->end = need(calloc(n + 1, sizeof(*v->end)));
	v->n = n;
}

struct view_port *view_port_add(struct view *v, const char *name,
				const char *peer, const char *kind,
				const char *unit, uint32_t n)
{
	v->ports = grown(v->ports, v->n_ports, sizeof(*v->ports));
	v->ports[v->n_ports] = (struct view_port){ .name = need(strdup(name)),
						   .peer = need(strdup(peer)),
						   .kind = need(strdup(kind)),
						   .unit = need(strdup(unit)),
						   .n = n };
	return &v->ports[v->n_ports++];
}

uint64_t *view_values(const struct view *v, struct view_port *p,
		      enum view_what what)
{
	if (!p->y[what])
		p->y[what] = need(calloc(v->n + 1, sizeof(*p->y[what])));
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
