/* SPDX-License-Identifier: Apache-2.0 */
/* What the ports of a network did over the time of a run: the picture behind
 * `weft report`.  Bounded: a few dozen intervals of equal length, whatever the
 * length of the run. */
#ifndef MEASURE_PORT_ACTIVITY_H
#define MEASURE_PORT_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

enum view_what {
	VIEW_BUSY,    /* ns of the interval in which the line was in use */
	VIEW_BLOCKED, /* ns in which a packet waited for room at the far end */
	VIEW_QUEUED,  /* waiting for the port at the end of the interval */
	VIEW_N
};

/* A cabled port; in large networks all ports of a component together. */
struct view_port {
	char *name;	     /* "s0.port3"; together: "s0" */
	char *peer;	     /* port at the other end; together: "" */
	char *kind;	     /* of the component: "switch" */
	char *unit;	     /* of what is queued: "words" */
	uint32_t n;	     /* ports this is the sum of */
	uint64_t *y[VIEW_N]; /* one value per interval; NULL: not known */
};

struct view {
	uint64_t *end; /* fs: ends of the intervals */
	size_t n;
	struct view_port *ports; /* in the order of the simulation */
	size_t n_ports;
};

/* Room for n intervals of a further port.  Valid until the next call. */
struct view_port *view_port_add(struct view *v, const char *name,
				const char *peer, const char *kind,
				const char *unit, uint32_t n);
/* The values of one kind, zeroed; created. */
uint64_t *view_values(const struct view *v, struct view_port *p,
		      enum view_what what);
/* How many intervals; before any values. */
void view_intervals(struct view *v, size_t n);
void view_fini(struct view *v);

#endif
