/* SPDX-License-Identifier: Apache-2.0 */
/* HyperTransport: loads and stores of the host, and stores that wait for a free
 * slot of the device. Rules: top of ht.c. */
#include "host/ht.h"

#include <assert.h>
#include <string.h>

static struct ht_pkt *pio_new(struct ht *b, uint32_t dev, uint8_t space,
			      uint64_t off, uint32_t bytes, weft_time_t delay)
{
	struct ht_pkt *p = ht_pkt_new(b);

	p->ready = ht_later(ht_slot_near(b, weft_now(b->comp) + delay),
			    ht_slot_next(b));
	p->seq = b->seq++;
	p->io.asked = weft_now(b->comp);
	pio_at(&p->io, dev, space, off, bytes);
	return p;
}

/* Returns the link of the device. Returns NULL if there is no device, or if the
 * access is tagged and the device takes no tagged accesses. */
static struct ht_link *ht_pio_target(struct ht *b, uint32_t dev, bool tagged)
{
	struct ht_link *l = ht_link_of(b, dev);

	return l && (l->tagged || !tagged) ? l : NULL;
}

/* ---- stores ---- */

static void store_push(struct ht *b, struct ht_pkt *p)
{
	struct ht_link *l = ht_pio_target(b, p->io.dev, p->io.tagged);

	if (!l) {
		uint64_t s = ht_later(p->ready, ht_slot_next(b) + 1);
		struct weft_bus_note note =
			pio_note(&p->io, WEFT_NOTE_STORED, ht_time(b, s));

		/* No device: the bridge drops the store. */
		weft_count(b->comp, HT_C_ABORTS, 1);
		weft_bus_tell(b->host, &note);
		ht_pkt_free(b, p);
		return;
	}
	ht_queue_push(&l->lane[HT_DOWN].queue[HT_POSTED], p);
	ht_kick(b, l, HT_DOWN);
}

/* Returns a packet for a store, or NULL if the bridge has no room. */
static struct ht_pkt *store_new(struct ht *b, uint32_t dev, uint8_t space,
				uint64_t off, const void *data, uint32_t bytes)
{
	struct ht_link *l = ht_link_of(b, dev);
	struct ht_pkt *p;
	uint32_t leaving;

	assert(bytes && off % HT_LINE + bytes <= HT_LINE);
	/* A store occupies the bridge's buffer until it has left. */
	leaving = l && weft_now(b->comp) < ht_time(b, l->store_until);
	if (l && l->lane[HT_DOWN].queue[HT_POSTED].n + leaving >= b->pio_depth)
		return NULL;
	p = pio_new(b, dev, space, off, bytes, b->t_store);
	memcpy(p->io.data, data, bytes);
	return p;
}

bool ht_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
	      uint64_t off, const void *data, uint32_t bytes)
{
	struct ht *b = host_port->peer->comp->state;
	struct ht_pkt *p = store_new(b, dev, space, off, data, bytes);

	if (p)
		store_push(b, p);
	return p != NULL;
}

static uint32_t store_slots(const struct ht_pkt *p)
{
	uint32_t mask = p->io.off % 4 || p->io.bytes % 4 ? HT_MASK : 0;

	if (p->io.tagged)
		return (HT_TAGGED + p->io.bytes) / 4;
	return (HT_REQUEST + mask) / 4 + ht_dwords(p->io.off, p->io.bytes);
}

/* Hands a store from the core to the device at slot s, or later if the core is
 * still busy with the previous store. The core delivers one dword per slot. */
static void store_tell(struct ht *b, struct ht_link *l, struct ht_pkt *p,
		       uint64_t s)
{
	struct weft_bus_note note;

	l->told = ht_later(s, l->told + store_slots(p));
	note = pio_note(&p->io,
			p->io.tagged ? WEFT_NOTE_TAGGED : WEFT_NOTE_STORE,
			ht_time(b, l->told));
	weft_bus_tell(l->port, &note);
	l->places -= l->window != 0;
	ht_pkt_free(b, p);
}

void ht_store_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_DOWN];
	struct ht_pkt *p = ht_queue_pop(&lane->queue[HT_POSTED]);
	uint64_t end = ht_occupy(b, l, HT_DOWN, d, store_slots(p));
	uint64_t s = end + b->s_rx;
	struct weft_bus_note note =
		pio_note(&p->io, WEFT_NOTE_STORED, ht_time(b, end));

	p->io.start = weft_heard(b->comp) ? ht_time(b, d) : 0;
	weft_count(b->comp, HT_C_STORES, 1);
	weft_count(b->comp, HT_C_TAGGED, p->io.tagged);
	weft_count(b->comp, HT_C_STORE_BYTES, p->io.bytes);
	l->store_until = end;
	l->store_seq = p->seq;
	weft_bus_tell(b->host, &note);
	if (l->wait.n || !l->places) {
		struct ht_ring *credit = &l->lane[HT_DOWN].credit[HT_POSTED];
		bool in = l->wait.n < b->depth;

		/* The store is in the core at slot s, but the device has no
		 * free slot for it. The store's link buffer is freed when the
		 * store is among the first `depth` stores of the queue. */
		weft_count(b->comp, HT_C_HELD, 1);
		p->ready = s;
		p->seq = ht_ring_take(credit, b->credits,
				      in ? s + b->s_credit : HT_NEVER);
		ht_queue_push(&l->wait, p);
	} else {
		ht_ring_take(&lane->credit[HT_POSTED], b->credits,
			     s + b->s_credit);
		store_tell(b, l, p, s);
	}
	/* A load from another device may have waited for this store. */
	for (uint32_t i = 0; i < b->devices; i++)
		if (&b->link[i] != l &&
		    b->link[i].lane[HT_DOWN].queue[HT_NONPOSTED].n)
			ht_kick(b, &b->link[i], HT_DOWN);
}

/* ---- back-pressure ---- */

bool ht_window(struct weft_port *dev_port, uint32_t stores)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);

	assert(!l->window && stores);
	l->window = l->places = stores;
	return true;
}

/* Returns packet number n of a queue. */
static const struct ht_pkt *queue_nth(const struct ht_queue *q, uint32_t n)
{
	const struct ht_pkt *p = q->head;

	while (n--)
		p = p->next;
	return p;
}

static void load_moved(struct ht *b, struct ht_link *l);

bool ht_consumed(struct weft_port *dev_port, uint32_t stores)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);
	struct ht_ring *credit = &l->lane[HT_DOWN].credit[HT_POSTED];
	uint64_t next = weft_clock_cycle(&b->slot, weft_now(b->comp) + 1);

	if (!l->window)
		return true;
	assert(stores <= l->window - l->places);
	l->places += stores;
	while (l->places && l->wait.n) {
		struct ht_pkt *p = ht_queue_pop(&l->wait);
		uint64_t s = ht_later(p->ready, next);

		/* The store leaves the core's queue, so the first store outside
		 * the queue enters it. */
		if (l->wait.n >= b->depth) {
			const struct ht_pkt *in =
				queue_nth(&l->wait, b->depth - 1);

			ht_ring_back(credit, b->credits, in->seq,
				     ht_later(in->ready, s) + b->s_credit);
		}
		store_tell(b, l, p, s);
		load_moved(b, l);
	}
	ht_kick(b, l, HT_DOWN);
	return true;
}

/* ---- loads ---- */

static void load_done(struct ht *b, struct ht_pkt *p, weft_time_t t)
{
	struct weft_bus_note note = pio_note(
		&p->io, p->io.tagged ? WEFT_NOTE_ANSWERED : WEFT_NOTE_LOADED,
		t);

	note.error = p->error;
	weft_bus_tell(b->host, &note);
	ht_pkt_free(b, p);
}

static void load_push(struct ht *b, struct ht_pkt *p)
{
	struct ht_link *l = ht_pio_target(b, p->io.dev, p->io.tagged);

	/* A tagged load may be in flight at the same time as numbered loads. */
	assert(b->n_loads <= b->loads);
	if (!l) {
		uint64_t s = ht_later(p->ready, ht_slot_next(b) + 1);

		/* No device: the bridge answers. */
		weft_count(b->comp, HT_C_ABORTS, 1);
		memset(p->io.data, 0xff, sizeof(p->io.data));
		p->error = true;
		load_done(b, p, ht_time(b, s) + b->t_in);
		return;
	}
	b->n_loads++;
	ht_queue_push(&l->lane[HT_DOWN].queue[HT_NONPOSTED], p);
	ht_kick(b, l, HT_DOWN);
}

void ht_load_as(struct weft_port *host_port, uint32_t number, uint32_t dev,
		uint8_t space, uint64_t off, uint32_t bytes)
{
	struct ht *b = host_port->peer->comp->state;
	struct ht_pkt *p;

	assert(bytes && bytes <= 8 && number < b->loads);
	p = pio_new(b, dev, space, off, bytes, b->t_out);
	p->io.load = (uint8_t)number;
	load_push(b, p);
}

void ht_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
	     uint64_t off, uint32_t bytes)
{
	ht_load_as(host_port, 0, dev, space, off, bytes);
}

bool ht_tagged(struct weft_port *host_port, uint32_t dev,
	       const struct weft_bus_tagged *r)
{
	struct ht *b = host_port->peer->comp->state;
	struct ht_pkt *p;

	if (r->op == WEFT_TSTORE)
		p = store_new(b, dev, r->space, r->off, r->data, r->bytes);
	else
		p = pio_new(b, dev, r->space, r->off, r->bytes, b->t_out);
	if (!p)
		return false;
	pio_tagged(&p->io, dev, r);
	if (r->op == WEFT_TSTORE)
		store_push(b, p);
	else
		load_push(b, p);
	return true;
}

bool ht_takes_tagged(struct weft_port *dev_port)
{
	struct ht *b;

	ht_link_dev(dev_port, &b)->tagged = true;
	return true;
}

/* Notifies the device of the first load, if the device has answered the
 * previous one and was notified of all earlier stores. */
static void load_tell(struct ht *b, struct ht_link *l)
{
	struct ht_pkt *p = l->loads.head;
	struct weft_bus_note note;
	bool room = l->lane[HT_UP].queue[HT_ANSWER].n < b->r_depth;

	if (!p || p->behind || l->load.told)
		return;
	/* A load waits until the queue of answers has room, because otherwise
	 * its answer could block the core. */
	weft_count(b->comp, HT_C_ANSWER_WAITS, !room && !l->load.late);
	l->load.late = !room;
	if (!room)
		return;
	p->ready = ht_later(p->ready, l->load.from);
	l->load.told = true;
	l->load.deferred = false;
	note = pio_note(&p->io,
			p->io.tagged ? WEFT_NOTE_TAGGED : WEFT_NOTE_LOAD,
			ht_time(b, p->ready));
	weft_bus_tell(l->port, &note);
	weft_wake(b->comp, b->devices * HT_DIRS + ht_link_number(b, l),
		  note.time + 1);
}

static uint32_t load_slots(const struct ht_pkt *p)
{
	if (!p->io.tagged)
		return HT_REQUEST / 4;
	if (p->io.op == WEFT_TLOAD)
		return HT_TAGGED / 4;
	return (HT_TAGGED + HT_COND + p->io.bytes) / 4;
}

void ht_load_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_DOWN];
	struct ht_pkt *p = ht_queue_pop(&lane->queue[HT_NONPOSTED]);
	uint64_t end = ht_occupy(b, l, HT_DOWN, d, load_slots(p)), in;

	weft_count(b->comp, p->io.tagged ? HT_C_TAGGED : HT_C_LOADS, 1);
	p->io.start = weft_heard(b->comp) ? ht_time(b, d) : 0;
	p->after = end + b->s_rx;
	p->behind = l->wait.n;
	p->ready = ht_later(p->after, p->behind ? 0 : l->told);
	/* The load's link buffer is freed when the load enters the core's
	 * queue. The load that was answered last leaves that queue at
	 * load.from. */
	in = p->after;
	if (l->loads.n + 1 >= b->np_depth)
		in = ht_later(in, l->load.from);
	weft_count(b->comp, HT_C_LOADS_HELD, l->loads.n >= b->np_depth);
	p->seq = ht_ring_take(&lane->credit[HT_NONPOSTED], b->credits,
			      l->loads.n < b->np_depth ? in + b->s_credit
						       : HT_NEVER);
	ht_queue_push(&l->loads, p);
	load_tell(b, l);
}

/* Lets loads continue, because the device was notified of a store that precedes
 * them. */
static void load_moved(struct ht *b, struct ht_link *l)
{
	for (struct ht_pkt *p = l->loads.head; p; p = p->next)
		if (p->behind && !--p->behind)
			p->ready = ht_later(p->ready, l->told);
	load_tell(b, l);
}

/* Sends the answer, which is ready to leave the device's core at slot s. */
static void load_answer(struct ht *b, struct ht_link *l, uint64_t s)
{
	const struct ht_pkt *in;
	struct ht_pkt *p = ht_queue_pop(&l->loads);

	l->load.told = false;
	p->ready = s + b->s_tx;
	p->seq = l->seq++;
	ht_queue_push(&l->lane[HT_UP].queue[HT_ANSWER], p);
	ht_kick(b, l, HT_UP);
	/* The device has answered and can be notified of the next load. */
	s = ht_later(s, weft_clock_cycle(&b->slot, weft_now(b->comp) + 1));
	l->load.from = s;
	/* A load leaves the core's queue, so the first load outside the queue
	 * enters it. */
	if (l->loads.n >= b->np_depth) {
		in = queue_nth(&l->loads, b->np_depth - 1);
		ht_ring_back(&l->lane[HT_DOWN].credit[HT_NONPOSTED], b->credits,
			     in->seq, ht_later(in->after, s) + b->s_credit);
		ht_kick(b, l, HT_DOWN);
	}
	load_tell(b, l);
}

void ht_tagged_reply(struct weft_port *dev_port, const void *data,
		     uint32_t bytes, bool status)
{
	struct ht *b;

	ht_link_dev(dev_port, &b)->loads.head->io.level = status;
	ht_reply(dev_port, data, bytes);
}

void ht_reply(struct weft_port *dev_port, const void *data, uint32_t bytes)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);
	struct ht_pkt *p = l->loads.head;
	uint64_t s;

	assert(l->load.told && (!data || bytes == p->io.bytes));
	if (data)
		memcpy(p->io.data, data, bytes);
	/* An answer takes the device t_reg. A deferred answer is sent at once
	 * if t_reg has passed since the device was notified. */
	s = ht_slot_next(b);
	s = l->load.deferred ? ht_later(s, p->ready + b->s_reg) : s + b->s_reg;
	load_answer(b, l, s);
}

/* Answers a load with all ones and the error bit (extoll.md 2.4). */
void ht_refuse(struct weft_port *dev_port)
{
	struct ht *b;
	struct ht_pkt *p = ht_link_dev(dev_port, &b)->loads.head;
	uint8_t ones[sizeof(p->io.data)];

	weft_count(b->comp, HT_C_ABORTS, 1);
	memset(ones, 0xff, sizeof(ones));
	p->error = true;
	ht_reply(dev_port, ones, p->io.bytes);
}

bool ht_defer(struct weft_port *dev_port)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);

	assert(l->load.told);
	l->load.deferred = true;
	return true;
}

/* Answers a load that the device neither answered nor deferred with all ones
 * and the error bit (2.4). */
void ht_unanswered(struct ht *b, struct ht_link *l)
{
	struct ht_pkt *p = l->loads.head;

	if (!l->load.told || l->load.deferred ||
	    ht_time(b, p->ready) + 1 != weft_now(b->comp))
		return; /* answered, or another load is shown */
	weft_count(b->comp, HT_C_ABORTS, 1);
	memset(p->io.data, 0xff, sizeof(p->io.data));
	p->error = true;
	load_answer(b, l, p->ready + b->s_reg);
}

/* Sends an answer to the host. The host gets the answer when all earlier writes
 * are in memory. */
void ht_loaded_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_UP];
	struct ht_pkt *p = ht_queue_pop(&lane->queue[HT_ANSWER]);
	/* the answer to a conditional store is a status without data */
	bool status = p->io.tagged && p->io.op == WEFT_TCSTORE;
	uint32_t head = p->io.tagged ? HT_ANSWERED / 4 : HT_RESPONSE / 4;
	uint32_t data = status ? 0 : ht_dwords(p->io.off, p->io.bytes);
	uint64_t end = ht_occupy(b, l, HT_UP, d, head + data);

	ht_ring_take(&lane->credit[HT_ANSWER], b->credits, end + b->s_credit);
	b->n_loads--;
	if (l->load.late) {
		l->loads.head->ready = ht_later(l->loads.head->ready, d + 1);
		load_tell(b, l);
	}
	load_done(b, p, ht_later(ht_time(b, end) + b->t_in, l->commit));
}
