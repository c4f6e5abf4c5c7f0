/* SPDX-License-Identifier: Apache-2.0 */
/* A HyperTransport bus on a bench: see rig_ht.h. */
#include "rig_ht.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "used_txn.h"

extern const struct weft_class weft_class_bus_ht;

/* Wake-ups of a device: to submit the next operation of its list, to answer a
 * load, and to consume a store. */
enum { TAG_LIST, TAG_ANSWER, TAG_EAT };

struct dev {
	struct htrig *rig;
	uint32_t index;
	struct weft_port *port;
	uint32_t next, stores, loads, load_bytes;
	struct weft_bus_txn txn[HT_OPS];
};

struct host {
	struct htrig *rig;
	struct weft_port *port;
	uint32_t next;
	bool waits; /* the host waits for room in the bridge */
	/* the host waits for an answer, because all load numbers are in use */
	bool stands;
	uint32_t busy; /* load numbers in use, one bit each */
};

static const struct weft_port_decl bus_port[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "the bus" }, { 0 }
};

/* Returns the byte that memory holds at addr. */
static uint8_t pattern(uint64_t addr)
{
	return (uint8_t)(addr * 29 + (addr >> 7));
}

static struct ht_said *record(struct htrig *r, uint32_t port,
			      const struct weft_bus_note *b)
{
	struct ht_said *n = &r->log->said[r->log->n++];

	assert(r->log->n <= HT_LOG);
	*n = (struct ht_said){ .kind = b->kind,
			       .port = port,
			       .time = b->time,
			       .bytes = b->bytes };
	return n;
}

/* ---- device ---- */

static const struct ht_list *dev_list(const struct dev *d)
{
	return &d->rig->script->dev[d->index];
}

static void dev_plan(struct weft_comp *c)
{
	struct dev *d = c->state;

	if (d->next < dev_list(d)->n)
		weft_wake(c, TAG_LIST,
			  weft_now(c) + dev_list(d)->op[d->next].delay);
}

static int dev_start(struct weft_comp *c, struct weft_err *err)
{
	struct dev *d = c->state;

	d->port = &c->ports[0];
	if (d->rig->script->window)
		weft_bus_window(d->port, d->rig->script->window);
	dev_plan(c);
	return 0;
}

static void dev_submit(struct weft_comp *c)
{
	struct dev *d = c->state;
	struct weft_bus_txn *t = &d->txn[d->next];
	const struct ht_op *o = &dev_list(d)->op[d->next++];

	if (o->what == HT_IRQ) {
		weft_bus_of(d->port)->irq(d->port, o->level);
		return;
	}
	*t = (struct weft_bus_txn){
		.op = o->what == HT_WRITE ? WEFT_BUS_WRITE : WEFT_BUS_READ,
		.addr = o->addr,
		.bytes = o->bytes,
		.relaxed = o->relaxed,
		.any_order = o->any_order,
		.data = weft_slice_new(c->sim, o->bytes),
	};
	for (uint32_t i = 0; o->what == HT_WRITE && i < o->bytes; i++)
		weft_slice_data(t->data)[i] = pattern(o->addr + i);
	used_txn(t);
	weft_bus_of(d->port)->submit(d->port, t);
}

static void dev_answer(struct dev *d)
{
	uint8_t data[8];

	memset(data, ref_ht_byte(d->loads++), sizeof(data));
	weft_bus_of(d->port)->reply(d->port, data, d->load_bytes);
}

static void dev_event(struct weft_comp *c, uint32_t tag)
{
	struct dev *d = c->state;

	if (tag == TAG_LIST) {
		dev_submit(c);
		dev_plan(c);
	} else if (tag == TAG_ANSWER) {
		dev_answer(d);
	} else {
		weft_bus_consumed(d->port, 1);
	}
}

/* Checks that bytes from memory are right and bytes from a hole are ones. */
static bool read_good(const struct weft_bus_txn *t)
{
	for (uint32_t i = 0; i < t->bytes; i++) {
		uint64_t a = t->addr + i;
		uint8_t want = ref_ht_decode(a, 1) ? pattern(a) : 0xff;

		if (weft_slice_data(t->data)[i] != want)
			return false;
	}
	return true;
}

static void dev_done(struct dev *d, struct weft_bus_txn *t, struct ht_said *n)
{
	n->write = t->op == WEFT_BUS_WRITE;
	n->status = t->status;
	n->tenures = t->tenures;
	n->bytes = t->moved;
	if (t->t_done != n->time || (!n->write && !read_good(t)))
		d->rig->bad_data = true;
	weft_slice_drop(&t->data);
}

static void dev_stored(struct weft_comp *c, const struct weft_bus_note *b,
		       struct ht_said *n)
{
	struct dev *d = c->state;
	weft_time_t eat = d->rig->script->eat[d->stores % HT_CYCLE];

	n->addr = b->off;
	n->first = b->data[0];
	for (uint32_t i = 1; i < b->bytes; i++)
		if (b->data[i] != (uint8_t)(b->data[0] + i))
			d->rig->bad_data = true;
	if (!eat)
		weft_bus_consumed(d->port, 1);
	else
		weft_wake(c, TAG_EAT + d->stores % 4096, b->time + eat);
	d->stores++;
}

static void dev_load(struct weft_comp *c, const struct weft_bus_note *b,
		     struct ht_said *n)
{
	struct dev *d = c->state;
	weft_time_t after = d->rig->script->answer[d->loads % HT_CYCLE];

	n->addr = b->off;
	d->load_bytes = b->bytes;
	if (after == WEFT_NEVER) {
		d->loads++;
		return;
	}
	if (!after) {
		dev_answer(d);
		return;
	}
	weft_bus_defer(d->port);
	weft_wake(c, TAG_ANSWER, b->time + after);
}

static void dev_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct dev *d = c->state;
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b)) {
		struct ht_said *n = record(d->rig, 1 + d->index, &b);

		if (b.kind == WEFT_NOTE_STORE)
			dev_stored(c, &b, n);
		else if (b.kind == WEFT_NOTE_LOAD)
			dev_load(c, &b, n);
		else if (b.kind == WEFT_NOTE_DONE)
			dev_done(d, b.txn, n);
		n->offset = b.offset;
		n->last = b.last;
	}
}

static WEFT_COMPONENT(htrig_dev, .name = "test.htdev", .kind = WEFT_KIND_NIC,
		      .doc = "scripted device",
		      .state_size = sizeof(struct dev), .ports = bus_port,
		      .ops = { .start = dev_start,
			       .arrive = dev_arrive,
			       .event = dev_event });

/* ---- host ---- */

static void host_plan(struct weft_comp *c)
{
	struct host *h = c->state;
	const struct ht_list *l = &h->rig->script->host;

	h->waits = false;
	if (h->next < l->n)
		weft_wake(c, 0, weft_now(c) + l->op[h->next].delay);
}

static uint8_t host_free(const struct host *h)
{
	uint8_t i = 0;

	while (i < h->rig->script->loads && h->busy >> i & 1)
		i++;
	return i;
}

/* Issues a load under the lowest free load number. Plans the next operation if
 * another load number is free. */
static void host_load(struct weft_comp *c, const struct ht_op *o)
{
	struct host *h = c->state;
	uint8_t number = host_free(h);

	h->next++;
	h->busy |= 1u << number;
	weft_bus_of(h->port)->pio_load_as(h->port, number, o->dev, 1, o->addr,
					  o->bytes);
	h->stands = host_free(h) == h->rig->script->loads;
	if (!h->stands)
		host_plan(c);
}

static void host_loaded(struct weft_comp *c, uint8_t number)
{
	struct host *h = c->state;

	h->busy &= ~(1u << number);
	if (h->stands)
		host_plan(c);
	h->stands = false;
}

static void host_event(struct weft_comp *c, uint32_t tag)
{
	struct host *h = c->state;
	const struct weft_bus_ops *bus = weft_bus_of(h->port);
	const struct ht_op *o = &h->rig->script->host.op[h->next];
	uint8_t data[64];

	if (o->what == HT_LOAD) {
		host_load(c, o);
		return;
	}
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(ref_ht_byte(h->next) + i);
	h->waits = !bus->pio_store(h->port, o->dev, 1, o->addr, data, o->bytes);
	if (h->waits)
		return;
	h->next++;
	host_plan(c);
}

static void host_memory(struct htrig *r, struct weft_bus_note *b)
{
	uint8_t *p = weft_slice_data(b->slice);

	for (uint32_t i = 0; p && i < b->bytes; i++)
		if (b->kind == WEFT_NOTE_MEM_READ)
			p[i] = pattern(b->off + i);
		else if (p[i] != pattern(b->off + i))
			r->bad_data = true;
	weft_slice_drop(&b->slice);
}

static void host_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	struct host *h = c->state;
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b)) {
		struct ht_said *n = record(h->rig, 0, &b);

		n->addr = b.off;
		n->level = b.level;
		host_memory(h->rig, &b);
		if (b.kind == WEFT_NOTE_LOADED) {
			n->first = b.data[0];
			n->load = b.load;
			host_loaded(c, b.load);
		} else if (b.kind == WEFT_NOTE_STORED && h->waits) {
			/* tries the waiting operation again, once */
			h->waits = false;
			weft_wake(c, 0, weft_now(c));
		}
	}
}

static bool host_decode(struct weft_port *p, weft_phys_t phys, uint32_t bytes)
{
	return ref_ht_decode(phys, bytes);
}

static const struct weft_bus_host_ops decode_ops = { .decode = host_decode };

static int host_start(struct weft_comp *c, struct weft_err *err)
{
	host_plan(c);
	return 0;
}

static WEFT_COMPONENT(htrig_host, .name = "test.hthost", .kind = WEFT_KIND_HOST,
		      .doc = "scripted host", .state_size = sizeof(struct host),
		      .ports = bus_port,
		      .ops = { .start = host_start,
			       .arrive = host_arrive,
			       .event = host_event });

/* ---- the bench ---- */

void htrig_default(struct ht_script *s)
{
	memset(s, 0, sizeof(*s));
	weft_clock_from_hz(&s->slot, 400000000, 1);
	weft_clock_from_hz(&s->core, 200000000, 1);
	s->devices = 1;
	s->credits = s->pio_depth = 8;
	s->tags = 32;
	s->depth = s->np_depth = s->r_depth = 16;
	s->loads = 1;
	s->rx = 12;
	s->tx = 6;
	s->t_store = 75 * WEFT_NS;
	s->t_out = s->t_in = 35 * WEFT_NS;
	s->t_reg = 10 * WEFT_NS;
	s->t_read = 90 * WEFT_NS;
	s->banks = 1;
	s->t_write = s->t_irq = 74 * WEFT_NS;
	s->t_credit = 32500000;
}

struct ht_op *htrig_add(struct ht_list *l, enum ht_what what, uint64_t addr,
			uint32_t bytes)
{
	struct ht_op *o = &l->op[l->n++];

	assert(l->n <= HT_OPS);
	*o = (struct ht_op){ .what = what, .addr = addr, .bytes = bytes };
	return o;
}

static void set(struct weft_comp *c, const char *name, uint64_t v,
		const char *unit)
{
	char text[40];
	struct weft_err err = { 0 };

	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)v, unit);
	if (weft_param_set(c, name, text, &err))
		abort();
}

static void set_all(struct weft_comp *c, const struct ht_script *s)
{
	const struct {
		const char *name;
		uint64_t v;
		const char *unit;
	} t[] = {
		{ "clock", s->slot.num, "fs" },
		{ "core", s->core.num, "fs" },
		{ "devices", s->devices, "" },
		{ "credits", s->credits, "" },
		{ "tags", s->tags, "" },
		{ "depth", s->depth, "" },
		{ "pio_depth", s->pio_depth, "" },
		{ "np_depth", s->np_depth, "" },
		{ "r_depth", s->r_depth, "" },
		{ "loads", s->loads, "" },
		{ "rx", s->rx, "" },
		{ "tx", s->tx, "" },
		{ "t_store", s->t_store, "fs" },
		{ "t_out", s->t_out, "fs" },
		{ "t_in", s->t_in, "fs" },
		{ "t_reg", s->t_reg, "fs" },
		{ "t_read", s->t_read, "fs" },
		{ "t_bank", s->t_bank, "fs" },
		{ "banks", s->banks, "" },
		{ "t_write", s->t_write, "fs" },
		{ "t_irq", s->t_irq, "fs" },
		{ "t_credit", s->t_credit, "fs" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		set(c, t[i].name, t[i].v, t[i].unit);
}

static struct weft_comp *add(struct htrig *r, const struct weft_class *cls,
			     const char *name)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(r->sim, cls, name, &err);

	assert(c);
	if (cls == &weft_class_bus_ht)
		set_all(c, r->script);
	for (const char *const *p = r->set;
	     cls == &weft_class_bus_ht && p && *p; p += 2)
		if (weft_param_set(c, p[0], p[1], &err))
			abort();
	if (weft_comp_init(c, &err))
		abort();
	return c;
}

static void build(struct htrig *r)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[] = "n0.dev0";

	r->sim = weft_sim_new(1);
	r->bus = add(r, &weft_class_bus_ht, "n0.bus");
	c = add(r, &weft_class_htrig_host, "n0.host");
	*(struct host *)c->state =
		(struct host){ .rig = r, .port = &c->ports[0] };
	c->ports[0].iface = &decode_ops;
	weft_connect(&r->bus->ports[0], &c->ports[0], NULL, 0, &err);
	for (uint32_t i = 0; i < r->script->devices; i++, name[6]++) {
		c = add(r, &weft_class_htrig_dev, name);
		((struct dev *)c->state)->rig = r;
		((struct dev *)c->state)->index = i;
		weft_connect(&r->bus->ports[1 + i], &c->ports[0], NULL, 0,
			     &err);
	}
	if (weft_sim_start(r->sim, &err))
		abort();
}

void htrig_run(struct htrig *r, const struct ht_script *s, struct ht_log *log)
{
	struct weft_err err = { 0 };

	r->script = s;
	r->log = log;
	log->n = 0;
	build(r);
	weft_sim_run(r->sim, WEFT_NEVER);
	if (weft_sim_finish(r->sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	log->busy[0] = htrig_counter(r, "down_busy");
	log->busy[1] = htrig_counter(r, "up_busy");
}

void htrig_free(struct htrig *r)
{
	weft_sim_free(r->sim);
	r->sim = NULL;
}

uint64_t htrig_counter(const struct htrig *r, const char *name)
{
	for (uint32_t i = 0; i < r->bus->cls->n_counters; i++)
		if (!strcmp(r->bus->cls->counters[i].name, name))
			return r->bus->counters[i];
	abort();
}

const struct ht_said *htrig_said(const struct ht_log *log, uint32_t port,
				 enum weft_note_kind kind, uint32_t n)
{
	for (const struct ht_said *s = log->said; s < log->said + log->n; s++)
		if (s->port == port && s->kind == kind && !n--)
			return s;
	return NULL;
}
