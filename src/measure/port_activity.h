/* SPDX-License-Identifier: Apache-2.0 */
/* Busy time, blocked time and queues of the ports of a network over the time of
 * a run, for `weft report`. Memory is bounded: a few dozen intervals of equal
 * length, however long the run is. */
#ifndef MEASURE_PORT_ACTIVITY_H
#define MEASURE_PORT_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

enum view_what {
	VIEW_BUSY,    /* ns of the interval for which the line was in use */
	VIEW_BLOCKED, /* ns for which a packet waited for room at the far end */
	/* content of the port's queue at the end of the interval */
	VIEW_QUEUED,
	VIEW_N
};

/* A port with a cable. In large networks one entry is the sum of all ports of
 * a component, because thousands of curves would be too many to keep and to
 * read. */
struct view_port {
	char *name;	     /* name, such as "s0.port3", or "s0" for a sum of
			      * ports */
	char *peer;	     /* port at the far end, or "" for a sum of ports */
	char *kind;	     /* kind of the component, such as "switch" */
	char *unit;	     /* unit of the queue, such as "words" */
	uint32_t n;	     /* number of ports that the entry sums */
	uint64_t *y[VIEW_N]; /* one value per interval, or NULL if unknown */
};

struct view {
	uint64_t *end; /* ends of the intervals, in fs */
	size_t n;
	struct view_port *ports; /* ports in the order of the simulation */
	size_t n_ports;
};

/* Adds a port with room for n intervals. Returns a pointer to the port, which
 * is valid until the next port is added. */
struct view_port *view_port_add(struct view *v, const char *name,
				const char *peer, const char *kind,
				const char *unit, uint32_t n);
/* Returns the values of one kind, one per interval. At the first call all
 * values are zero. */
uint64_t *view_values(const struct view *v, struct view_port *p,
		      enum view_what what);
/* Sets the number of intervals. Call it before any view_values. */
void view_intervals(struct view *v, size_t n);
/* Frees intervals and ports. */
void view_fini(struct view *v);

#endif
