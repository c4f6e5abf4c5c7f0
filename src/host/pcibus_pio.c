/* SPDX-License-Identifier: Apache-2.0 */
/* PCI and PCI-X: loads and stores of the host. The bridge posts stores and
 * keeps the host's accesses in order.
 *
 * A load reaches its device behind every earlier store. If H_WR_IN is longer
 * than the clocks of the load's request, the bus is held until the last store
 * has arrived.
 *
 * bus.pci: a device without a free slot for a store answers it with a retry. A
 * device whose answer is late holds the bus for up to T_INITIAL clocks and then
 * answers the load with a retry. The device is notified of each access once.
 * The bridge repeats the access T_RETRY clocks after a retry. After MAX_RETRIES
 * retries it gives up. */
#include "host/pcibus.h"

#include <assert.h>
#include <string.h>

static struct pcibus_pio *pio_push(struct pcibus *b, enum pcibus_op op)
{
	uint32_t cap = b->p.pio_depth + 1;
	struct pcibus_pio *p = &b->pio[(b->pio_head + b->n_pio++) % cap];

	assert(b->n_pio <= cap);
	p->op = op;
	p->retries = 0;
	p->io.asked = weft_now(b->comp);
	/* The access is ready at the first edge at or after its arrival,
	 * because processor and bus do not run in step. */
	p->ready = weft_clock_cycle(
		&b->p.clock,
		weft_now(b->comp) +
			(op == PCIBUS_STORE ? b->p.h_wr_out : b->p.h_rd_out));
	if (p->ready < pcibus_edge_next(b))
		p->ready = pcibus_edge_next(b);
	b->n_store += op == PCIBUS_STORE;
	return p;
}

static void pio_pop(struct pcibus *b)
{
	b->pio_head = (b->pio_head + 1) % (b->p.pio_depth + 1);
	b->n_pio--;
}

/* Returns true if the buffer has room. A store occupies the buffer until its
 * tenure has ended. */
static bool store_room(const struct pcibus *b)
{
	uint32_t on_bus = weft_now(b->comp) < pcibus_time(b, b->store_until);

	return b->n_store + on_bus < b->p.pio_depth;
}

bool pcibus_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		  uint64_t off, const void *data, uint32_t bytes)
{
	struct pcibus *b = host_port->peer->comp->state;
	struct pcibus_pio *p;

	assert(bytes && bytes <= PIO_MAX);
	if (!store_room(b))
		return false;
	p = pio_push(b, PCIBUS_STORE);
	pio_at(&p->io, dev, space, off, bytes);
	memcpy(p->io.data, data, bytes);
	pcibus_kick(b);
	return true;
}

void pcibus_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
		 uint64_t off, uint32_t bytes)
{
	struct pcibus *b = host_port->peer->comp->state;

	assert(bytes && bytes <= 8 && !b->load.pending);
	b->load = (struct pcibus_load){ .pending = true };
	pio_at(&pio_push(b, PCIBUS_LOAD)->io, dev, space, off, bytes);
	pcibus_kick(b);
}

bool pcibus_tagged(struct weft_port *host_port, uint32_t dev,
		   const struct weft_bus_tagged *r)
{
	static const enum pcibus_op op[] = { [WEFT_TSTORE] = PCIBUS_STORE,
					     [WEFT_TLOAD] = PCIBUS_LOAD,
					     [WEFT_TCSTORE] = PCIBUS_COND };
	struct pcibus *b = host_port->peer->comp->state;
	struct pcibus_pio *p;

	assert(r->bytes && r->bytes <= PIO_MAX);
	if (r->op == WEFT_TSTORE && !store_room(b))
		return false;
	if (r->op != WEFT_TSTORE) {
		assert(!b->load.pending);
		b->load = (struct pcibus_load){ .pending = true };
	}
	p = pio_push(b, op[r->op]);
	pio_tagged(&p->io, dev, r);
	pcibus_kick(b);
	return true;
}

bool pcibus_present(struct weft_port *host_port, uint32_t dev)
{
	struct pcibus *b = host_port->peer->comp->state;

	return dev < b->p.devices && b->dev[dev].port->peer;
}

/* Returns the device that answers, or NULL. */
static struct pcibus_dev *pcibus_pio_target(struct pcibus *b,
					    const struct pcibus_pio *p)
{
	struct pcibus_dev *dev = &b->dev[p->io.dev];

	if (!pcibus_present(b->host->peer, p->io.dev) ||
	    (p->io.tagged && !dev->tagged))
		return NULL;
	return dev;
}

/* ---- stores ---- */

/* Ends the tenure that started at edge d, because the target retries the
 * access. Returns true if the access has had more than max_retries retries and
 * is given up. */
static bool pcibus_pio_retried(struct pcibus *b, struct pcibus_pio *p,
			       uint64_t d, uint64_t len)
{
	weft_count(b->comp, PCIBUS_C_RETRIES, 1);
	pcibus_occupy(b, d, len);
	p->ready = d + len + b->p.t_retry;
	if (p->retries++ < b->p.max_retries)
		return false;
	weft_count(b->comp, PCIBUS_C_DISCARDS, 1);
	return true;
}

static uint32_t retry_clocks(const struct pcibus *b)
{
	return b->p.t_park + b->p.t_ph + b->p.t_end;
}

/* Ends a store. The store leaves the bridge, and its tenure ends, at edge
 * `end`. */
static void store_gone(struct pcibus *b, const struct pcibus_pio *p,
		       uint64_t end)
{
	struct weft_bus_note note =
		pio_note(&p->io, WEFT_NOTE_STORED, pcibus_time(b, end));

	weft_count(b->comp, PCIBUS_C_STORES, 1);
	weft_count(b->comp, PCIBUS_C_STORE_BYTES, p->io.bytes);
	b->n_store--;
	b->store_until = end;
	weft_bus_tell(b->host, &note);
	pio_pop(b);
}

static void store_grant(struct pcibus *b, struct pcibus_pio *p, uint64_t d)
{
	struct pcibus_dev *dev = pcibus_pio_target(b, p);
	uint64_t len = b->p.t_park + b->p.t_ph + b->p.t_abort;
	struct weft_bus_note note;

	if (dev && dev->window && !dev->places) {
		if (pcibus_pio_retried(b, p, d, retry_clocks(b)))
			store_gone(b, p, d + retry_clocks(b));
		return;
	}
	if (dev) {
		len = b->kind->store_clocks(b, p);
		note = pio_note(&p->io,
				p->io.tagged ? WEFT_NOTE_TAGGED
					     : WEFT_NOTE_STORE,
				pcibus_time(b, d + len) + b->p.h_wr_in);
		if (p->io.tagged)
			weft_count(b->comp, PCIBUS_C_TAGGED, 1);
		dev->places -= dev->window != 0;
		b->stored = note.time;
		weft_bus_tell(dev->port, &note);
	} else {
		weft_count(b->comp, PCIBUS_C_ABORTS, 1);
	}
	pcibus_occupy(b, d, len);
	store_gone(b, p, d + len);
}

bool pcibus_window(struct weft_port *dev_port, uint32_t stores)
{
	struct pcibus *b;
	struct pcibus_dev *dev = pcibus_dev_of(dev_port, &b);

	assert(!dev->window && stores);
	dev->window = dev->places = stores;
	return true;
}

bool pcibus_consumed(struct weft_port *dev_port, uint32_t stores)
{
	struct pcibus *b;
	struct pcibus_dev *dev = pcibus_dev_of(dev_port, &b);

	if (!dev->window)
		return true;
	assert(stores <= dev->window - dev->places);
	dev->places += stores;
	return true;
}

bool pcibus_takes_tagged(struct weft_port *dev_port)
{
	struct pcibus *b;

	pcibus_dev_of(dev_port, &b)->tagged = true;
	return true;
}

/* ---- loads, conditional stores ---- */

static void load_wake(struct pcibus *b, uint64_t edge)
{
	b->load.due = edge;
	weft_wake(b->comp, PCIBUS_EV_LOADED, pcibus_time(b, edge) + 1);
}

/* Answers the host. The first datum moves at edge `start`. */
static void load_finish(struct pcibus *b, uint64_t start)
{
	struct pcibus_load *l = &b->load;
	uint64_t end = start + l->tail;
	struct weft_bus_note note = pio_note(
		&l->pio, l->pio.tagged ? WEFT_NOTE_ANSWERED : WEFT_NOTE_LOADED,
		pcibus_time(b, end) + b->p.h_rd_in);

	if (!l->replied)
		weft_count(b->comp, PCIBUS_C_ABORTS, 1);
	if (end > b->free_at)
		pcibus_occupy(b, b->free_at, end - b->free_at);
	/* The answer follows the writes of devices that the bridge has
	 * accepted. */
	if (note.time < b->commit)
		note.time = b->commit;
	note.level = l->status;
	l->pending = l->open = false;
	pio_pop(b);
	weft_bus_tell(b->host, &note);
}

/* Ends the tenure after len clocks by a retry, because the target has no
 * answer. */
static void load_retry(struct pcibus *b, uint64_t d, uint64_t len)
{
	struct pcibus_load *l = &b->load;
	struct pcibus_pio *p = &b->pio[b->pio_head];

	l->open = false;
	if (!pcibus_pio_retried(b, p, d, len))
		return;
	b->dev[p->io.dev].orphans++;
	l->tail = 0;
	load_finish(b, d + len);
}

/* Notifies the device of a load, once for all its retries. */
static void load_tell(struct pcibus *b, struct pcibus_dev *dev,
		      const struct pcibus_pio *p, uint64_t asked)
{
	struct pcibus_load *l = &b->load;
	struct weft_bus_note note = pio_note(
		&p->io, p->io.tagged ? WEFT_NOTE_TAGGED : WEFT_NOTE_LOAD,
		pcibus_time(b, asked));

	l->pio = p->io;
	memset(l->pio.data, 0xff, sizeof(l->pio.data));
	weft_count(b->comp, p->io.tagged ? PCIBUS_C_TAGGED : PCIBUS_C_LOADS, 1);
	if (!dev)
		return;
	l->latched = true;
	weft_bus_tell(dev->port, &note);
}

static void load_grant(struct pcibus *b, struct pcibus_pio *p, uint64_t d)
{
	struct pcibus_load *l = &b->load;
	struct pcibus_dev *dev = pcibus_pio_target(b, p);
	uint64_t asked = d + b->p.t_park + b->p.t_ph;
	uint64_t stored = weft_clock_cycle(&b->p.clock, b->stored);
	bool cond = p->op == PCIBUS_COND;

	if (l->latched && !l->replied) {
		load_retry(b, d, retry_clocks(b));
		return;
	}
	if (p->io.tagged)
		asked += b->p.t_tag;
	if (cond) /* the condition precedes the data */
		asked += b->kind->pio_beats(b, 0, 8) +
			 b->kind->pio_beats(b, p->io.off, p->io.bytes);
	/* The load must not overtake stores in flight to the device. Therefore
	 * the bus is held until the last store has arrived. */
	if (asked < stored)
		asked = stored;
	if (!l->latched)
		load_tell(b, dev, p, asked);
	l->data = asked + (cond ? 0 : b->p.t_turn) + b->p.t_read;
	l->tail = b->p.t_end +
		  (cond ? 0 : b->kind->pio_beats(b, p->io.off, p->io.bytes));
	if (!dev) {
		l->data = d + b->p.t_park + b->p.t_ph + b->p.t_abort;
		l->tail = 0;
	}
	l->limit = d + b->p.t_park + b->p.t_initial;
	l->open = true;
	pcibus_occupy(b, d, l->data - d);
	load_wake(b, l->data - 1);
}

void pcibus_pio_grant(struct pcibus *b, uint64_t d)
{
	struct pcibus_pio *p = &b->pio[b->pio_head];

	p->io.start = weft_heard(b->comp) ? pcibus_time(b, d) : 0;
	if (p->op == PCIBUS_STORE)
		store_grant(b, p, d);
	else
		load_grant(b, p, d);
}

/* Checks the load one clock before its first datum, or before the target ends
 * the tenure with a retry. */
void pcibus_loaded(struct pcibus *b)
{
	struct pcibus_load *l = &b->load;

	if (!l->open || l->due != pcibus_edge_past(b))
		return;
	if (l->replied || !l->deferred) {
		load_finish(b, l->data);
	} else if (l->due + 1 < l->limit) {
		load_wake(b, l->limit - 1); /* wait states */
		return;
	} else {
		weft_count(b->comp, PCIBUS_C_WAITS, l->due + 1 - l->data);
		load_retry(b, b->free_at, l->due + 1 + b->p.t_end - b->free_at);
	}
	pcibus_kick(b);
}

void pcibus_reply(struct weft_port *dev_port, const void *data, uint32_t bytes)
{
	pcibus_tagged_reply(dev_port, data, bytes, false);
}

void pcibus_tagged_reply(struct weft_port *dev_port, const void *data,
			 uint32_t bytes, bool status)
{
	struct pcibus *b;
	struct pcibus_dev *dev = pcibus_dev_of(dev_port, &b);
	struct pcibus_load *l = &b->load;
	uint64_t next;

	if (dev->orphans) { /* the bridge has given this load up */
		dev->orphans--;
		return;
	}
	assert(l->pending && l->latched && !l->replied &&
	       (!data || bytes == l->pio.bytes) && &b->dev[l->pio.dev] == dev);
	if (data)
		memcpy(l->pio.data, data, bytes);
	l->replied = true;
	l->status = status;
	if (!l->open || l->due < l->data)
		return;
	/* The answer ends the wait states of the load. */
	next = pcibus_edge_next(b) + 1;
	weft_count(b->comp, PCIBUS_C_WAITS, next - l->data);
	load_finish(b, next);
	pcibus_kick(b);
}

bool pcibus_defer(struct weft_port *dev_port)
{
	struct pcibus *b;
	struct pcibus_dev *dev = pcibus_dev_of(dev_port, &b);

	assert(b->load.latched && !b->load.replied &&
	       &b->dev[b->load.pio.dev] == dev);
	b->load.deferred = true;
	return true;
}
