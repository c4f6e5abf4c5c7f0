/* SPDX-License-Identifier: Apache-2.0 */
/* Busy time, blocked time and queues of the ports of a network over the time of
 * a run, for `weft report`. Memory is bounded: a few dozen intervals of equal
 * length, however long the run is. */
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

/* A cabled port. In large networks all ports of a component are one, because
 * thousands of curves are neither kept nor read. */
struct view_port {
	char *name;	     /* "s0.port3"; together: "s0" */
	char *peer;	     /* port at the far end; together: "" */
	char *kind;	     /* kind of the component: "switch" */
	char *unit;	     /* unit of the queue: "words" */
	uint32_t n;	     /* ports that were summed */
	uint64_t *y[VIEW_N]; /* one value per interval; NULL: not known */
};

struct view {
	uint64_t *end; /* fs: ends of the intervals */
	size_t n;
	struct view_port *ports; /* in the order of the simulation */
	size_t n_ports;
};

/* Adds a port with room for n intervals. The pointer is valid until the next
 * call. */
struct view_port *view_port_add(struct view *v, const char *name,
				const char *peer, const char *kind,
				const char *unit, uint32_t n);
/* Returns the values of one kind, zeroed. Creates them on first use. */
uint64_t *view_values(const struct view *v, struct view_port *p,
		      enum view_what what);
/* Sets the number of intervals. Call it before any view_values. */
void view_intervals(struct view *v, size_t n);
/* Frees intervals and ports. */
void view_fini(struct view *v);

#endif
