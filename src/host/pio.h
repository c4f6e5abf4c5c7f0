/* SPDX-License-Identifier: Apache-2.0 */
/* An access of the host on its path through a bus, and the note that reports
 * it. */
#ifndef HOST_PIO_H
#define HOST_PIO_H

#include <assert.h>
#include <string.h>

#include "weft/bus.h"
#include "weft/trace.h"

enum { PIO_MAX = 64 };

struct pio {
	uint64_t off, cond;
	uint32_t dev, bytes;
	uint16_t tag;
	uint8_t space, op; /* op: enum weft_bus_tagged_op */
	uint8_t load;	   /* number of a load */
	/* `level` is the status in the answer to a tagged access. */
	bool tagged, user, level;
	/* time of the host's request, and time at which the access starts on
	 * the bus */
	weft_time_t asked, start;
	uint8_t data[PIO_MAX];
};

static inline void pio_at(struct pio *p, uint32_t dev, uint8_t space,
			  uint64_t off, uint32_t bytes)
{
	p->dev = dev;
	p->space = space;
	p->off = off;
	p->bytes = bytes;
	p->load = 0;
	p->tagged = false;
}

static inline void pio_tagged(struct pio *p, uint32_t dev,
			      const struct weft_bus_tagged *r)
{
	pio_at(p, dev, r->space, r->off, r->bytes);
	p->tagged = true;
	p->op = (uint8_t)r->op;
	p->user = r->user;
	p->tag = r->tag;
	p->cond = r->cond;
	p->level = false;
	if (r->op != WEFT_TLOAD)
		memcpy(p->data, r->data, r->bytes);
}

static inline struct weft_bus_note
pio_note(const struct pio *p, enum weft_note_kind kind, weft_time_t time)
{
	struct weft_bus_note note = { .kind = kind,
				      .time = time,
				      .space = p->space,
				      .off = p->off,
				      .bytes = p->bytes,
				      .dev = p->dev,
				      .load = p->load,
				      .asked = p->asked,
				      .frame = p->start };

	if (p->tagged) {
		note.op = p->op;
		note.user = p->user;
		note.tag = p->tag;
		note.cond = p->cond;
		note.level = p->level;
	}
	memcpy(note.data, p->data, sizeof(note.data));
	return note;
}

/* Never called, because hosts and devices call a bus by its operations. */
static inline void pio_arrive(struct weft_comp *c, uint32_t port,
			      struct weft_frame *f)
{
	assert(!"a bus takes no messages");
}

/* Implements `settle` of a bus whose port 0 leads to the host. */
static inline void pio_settle(struct weft_port *dev_port)
{
	struct weft_port *host = dev_port->peer->comp->ports[0].peer;
	const struct weft_bus_host_ops *ops = host->iface;

	if (ops->settle)
		ops->settle(host);
}

#endif
