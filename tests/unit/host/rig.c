/* SPDX-License-Identifier: Apache-2.0 */
/* A bus on a bench: see rig.h. */
#include "rig.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "used_txn.h"

extern const struct weft_class weft_class_bus_pcix, weft_class_bus_pci;
extern const struct weft_class weft_class_fault_bus;

enum { DIR_WRITE, DIR_READ, DIRS };
enum { EV_ANSWER = DIRS, EV_CONSUMED };

struct rig_dev {
	struct rig *rig;
	uint32_t index;
	struct weft_port *port;
	const struct ref_list *list[DIRS];
	uint32_t next[DIRS];
	struct weft_bus_txn txn[DIRS];
	struct weft_bus_note asked; /* access that waits for an answer */
};

struct rig_host {
	struct rig *rig;
	struct weft_port *port;
};

/* Returns the byte that memory holds at addr. */
static uint8_t pattern(uint64_t addr)
{
	return (uint8_t)(addr * 37 + (addr >> 9));
}

static struct ref_note *record(struct rig *r, uint32_t port,
			       const struct weft_bus_note *b)
{
	struct ref_note *n = &r->log->note[r->log->n++];

	assert(r->log->n <= REF_LOG);
	*n = (struct ref_note){ .kind = b->kind,
				.port = port,
				.time = b->time };
	return n;
}

/* ---- device ---- */

static const struct weft_port_decl dev_ports[] = {
	{ "bus", WEFT_PORT_BUS, NULL, NULL, false, "slot" }, { 0 }
};

static void dev_plan(struct weft_comp *c, uint32_t dir, weft_time_t from)
{
	struct rig_dev *d = c->state;

	if (d->next[dir] < d->list[dir]->n)
		weft_wake(c, dir, from + d->list[dir]->op[d->next[dir]].delay);
}

static int dev_start(struct weft_comp *c, struct weft_err *err)
{
	struct rig_dev *d = c->state;

	d->port = &c->ports[0];
	d->list[DIR_WRITE] = &d->rig->script->wr[d->index];
	d->list[DIR_READ] = &d->rig->script->rd[d->index];
	dev_plan(c, DIR_WRITE, 0);
	dev_plan(c, DIR_READ, 0);
	if (d->rig->script->window)
		weft_bus_window(d->port, d->rig->script->window);
	weft_bus_takes_tagged(d->port);
	return 0;
}

static void dev_answer(struct rig_dev *d)
{
	const struct weft_bus_ops *bus = weft_bus_of(d->port);
	const struct weft_bus_note *b = &d->asked;
	uint64_t answer = 0x1122334455667788;

	if (b->kind == WEFT_NOTE_LOAD)
		bus->reply(d->port, &answer, b->bytes);
	else if (b->op == WEFT_TLOAD)
		bus->tagged_reply(d->port, &answer, b->bytes,
				  b->off / 4096 % 2);
	else
		bus->tagged_reply(d->port, NULL, 0, b->off / 4096 % 2);
}

/* Handles a load or store of the host. Holds a store, or delays the answer to a
 * load, for the time in the script. */
static void dev_access(struct weft_comp *c, const struct weft_bus_note *b)
{
	struct rig_dev *d = c->state;
	const struct ref_script *s = d->rig->script;
	weft_time_t takes = s->pci ? s->pio.op[b->off / 4096].takes : 0;

	if (b->kind == WEFT_NOTE_STORE ||
	    (b->kind == WEFT_NOTE_TAGGED && b->op == WEFT_TSTORE)) {
		if (s->window && takes)
			weft_wake(c, EV_CONSUMED, weft_now(c) + takes);
		else
			weft_bus_consumed(d->port, 1);
		return;
	}
	d->asked = *b;
	if (takes) {
		weft_bus_defer(d->port);
		weft_wake(c, EV_ANSWER, weft_now(c) + takes);
	} else {
		dev_answer(d);
	}
}

static void dev_submit(struct weft_comp *c, uint32_t dir)
{
	struct rig_dev *d = c->state;
	const struct ref_op *o = &d->list[dir]->op[d->next[dir]++];
	struct weft_bus_txn *t = &d->txn[dir];

	*t = (struct weft_bus_txn){
		.op = dir == DIR_WRITE ? WEFT_BUS_WRITE : WEFT_BUS_READ,
		.addr = o->addr,
		.bytes = o->bytes,
		.max_request = o->max_request,
		.latency_timer = o->latency_timer,
		.data = weft_slice_new(c->sim, o->bytes),
	};
	for (uint32_t i = 0; dir == DIR_WRITE && i < o->bytes; i++)
		weft_slice_data(t->data)[i] = pattern(o->addr + i);
	used_txn(t);
	weft_bus_of(d->port)->submit(d->port, t);
}

static void dev_event(struct weft_comp *c, uint32_t tag)
{
	struct rig_dev *d = c->state;

	if (tag == EV_ANSWER)
		dev_answer(d);
	else if (tag == EV_CONSUMED)
		weft_bus_consumed(d->port, 1);
	else
		dev_submit(c, tag);
}

static bool read_good(const struct weft_bus_txn *t)
{
	for (uint32_t i = 0; i < t->moved; i++)
		if (weft_slice_data(t->data)[i] != pattern(t->addr + i))
			return false;
	return true;
}

static void dev_done(struct weft_comp *c, const struct weft_bus_note *b,
		     struct ref_note *n)
{
	struct rig_dev *d = c->state;
	struct weft_bus_txn *t = b->txn;
	uint32_t dir = t->op == WEFT_BUS_WRITE ? DIR_WRITE : DIR_READ;

	n->status = t->status;
	n->last = b->last;
	n->bytes = t->moved;
	n->tenures = t->tenures;
	n->splits = t->splits;
	if (dir == DIR_READ && !read_good(t))
		d->rig->bad_data = true;
	weft_slice_drop(&t->data);
	dev_plan(c, dir, t->t_done);
}

static void dev_take(struct weft_comp *c, const struct weft_bus_note *b)
{
	struct rig_dev *d = c->state;
	struct ref_note *n = record(d->rig, 1 + d->index, b);

	n->bytes = b->bytes;
	n->offset = b->offset;
	switch (b->kind) {
	case WEFT_NOTE_BURST:
		n->write = b->txn->op == WEFT_BUS_WRITE;
		n->frame = b->frame;
		n->data_end = b->data_end;
		n->last = b->last;
		n->timer = b->timer;
		break;
	case WEFT_NOTE_DONE:
		n->write = b->txn->op == WEFT_BUS_WRITE;
		dev_done(c, b, n);
		break;
	case WEFT_NOTE_TAGGED:
		n->offset = 1u + b->op;
		d->rig->bad_data |=
			b->tag != 77 || b->user != (b->off / 4096) % 2;
		/* fallthrough */
	case WEFT_NOTE_STORE:
	case WEFT_NOTE_LOAD:
		n->addr = b->off;
		if (!d->rig->mute)
			dev_access(c, b);
		break;
	default:
		break;
	}
}

static void dev_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b))
		dev_take(c, &b);
}

/* Frees accesses that a fault holds for ever. */
static int dev_finish(struct weft_comp *c, struct weft_err *err)
{
	struct rig_dev *d = c->state;

	weft_slice_drop(&d->txn[DIR_WRITE].data);
	weft_slice_drop(&d->txn[DIR_READ].data);
	return 0;
}

static WEFT_COMPONENT(rig_dev, .name = "test.dev", .kind = WEFT_KIND_NIC,
		      .doc = "scripted device",
		      .state_size = sizeof(struct rig_dev), .ports = dev_ports,
		      .ops = { .start = dev_start,
			       .arrive = dev_arrive,
			       .finish = dev_finish,
			       .event = dev_event });

/* ---- host ---- */

static void host_plan(struct weft_comp *c, weft_time_t from)
{
	struct rig *r = ((struct rig_host *)c->state)->rig;

	r->waits = false;
	if (r->next < r->script->pio.n)
		weft_wake(c, 0, from + r->script->pio.op[r->next].delay);
}

/* Makes a tagged access. Returns false if the bridge has no room. */
static bool host_tagged(struct rig_host *h, const struct ref_op *o,
			const void *data)
{
	struct weft_bus_tagged t = {
		.op = (enum weft_bus_tagged_op)(o->tagged - 1),
		.user = o->addr / 4096 % 2,
		.tag = 77,
		.space = 1,
		.off = o->addr,
		.bytes = o->bytes,
		.data = data,
	};

	return weft_bus_of(h->port)->pio_tagged(h->port, o->dev, &t);
}

static bool host_store(struct rig_host *h, const struct ref_op *o,
		       const void *data)
{
	if (o->tagged)
		return host_tagged(h, o, data);
	return weft_bus_of(h->port)->pio_store(h->port, o->dev, 1, o->addr,
					       data, o->bytes);
}

static void host_event(struct weft_comp *c, uint32_t tag)
{
	struct rig_host *h = c->state;
	struct rig *r = h->rig;
	const struct ref_op *o = &r->script->pio.op[r->next];
	uint8_t data[64] = { 1, 2, 3, 4 };

	if (o->load && o->tagged) {
		host_tagged(h, o, data);
		r->next++;
		return;
	}
	if (o->load) {
		weft_bus_of(h->port)->pio_load(h->port, o->dev, 1, o->addr,
					       o->bytes);
		r->next++;
		return;
	}
	if (!host_store(h, o, data)) {
		r->waits = true;
		return;
	}
	r->next++;
	host_plan(c, weft_now(c));
}

static void host_take(struct weft_comp *c, struct weft_bus_note *b)
{
	struct rig *r = ((struct rig_host *)c->state)->rig;
	struct ref_note *n = record(r, 0, b);
	uint8_t *p = weft_slice_data(b->slice);

	n->addr = b->off;
	n->bytes = b->bytes;
	for (uint32_t i = 0; p && i < b->bytes; i++)
		if (b->kind == WEFT_NOTE_MEM_READ)
			p[i] = pattern(b->off + i);
		else if (p[i] != pattern(b->off + i))
			r->bad_data = true;
	weft_slice_drop(&b->slice);
	if (b->kind == WEFT_NOTE_ANSWERED)
		n->last = b->level;
	if (b->kind == WEFT_NOTE_LOADED || b->kind == WEFT_NOTE_ANSWERED)
		host_plan(c, b->time);
	else if (b->kind == WEFT_NOTE_STORED && r->waits)
		weft_wake(c, 0, weft_now(c)); /* try again */
}

static void host_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b))
		host_take(c, &b);
}

static bool host_decode(struct weft_port *p, weft_phys_t phys, uint32_t bytes)
{
	return ref_pcix_decode(phys, bytes);
}

static const struct weft_bus_host_ops host_ops = { .decode = host_decode };

static int host_start(struct weft_comp *c, struct weft_err *err)
{
	host_plan(c, 0);
	return 0;
}

static WEFT_COMPONENT(rig_host, .name = "test.host", .kind = WEFT_KIND_HOST,
		      .doc = "scripted host",
		      .state_size = sizeof(struct rig_host), .ports = dev_ports,
		      .ops = { .start = host_start,
			       .arrive = host_arrive,
			       .event = host_event });

/* ---- the bench ---- */

void rig_script_default(struct ref_script *s)
{
	memset(s, 0, sizeof(*s));
	weft_clock_from_hz(&s->clock, 100000000, 1);
	s->width = 8;
	s->devices = 1;
	s->pio_depth = 8;
	s->t_arb = 6;
	s->t_ph = 4;
	s->t_gap = 6;
	s->t_split = 50;
	s->t_disc = 20;
	s->t_pio1 = 10;
	s->t_piob = 8;
	s->t_read = 6;
	s->t_abort = 4;
	s->t_dac = 1;
	s->sc_chunk = s->wr_chunk = 1536;
}

void rig_script_pci(struct ref_script *s)
{
	rig_script_default(s);
	weft_clock_from_period(&s->clock, 30000000);
	s->pci = true;
	s->width = 4;
	s->t_arb = s->t_park = s->t_ph = 2;
	s->t_turn = s->t_end = s->t_tag = 1;
	s->t_disc = 4;
	s->t_retry = 2;
	s->t_initial = 16;
	s->max_retries = 1 << 24;
	s->wr_chunk = s->rd_chunk = s->page = 4096;
	s->line = 32;
	s->t_mem = 360000000;
	s->h_rd_out = 90000000;
	s->h_rd_in = 120000000;
	s->h_wr_out = 360000000;
	s->h_wr_in = 21000000;
	s->h_dw = 155000000;
}

static void set_u32(struct weft_comp *c, const char *name, uint32_t v)
{
	char text[16];
	struct weft_err err = { 0 };
	int ret;

	snprintf(text, sizeof(text), "%u", v);
	ret = weft_param_set(c, name, text, &err);
	assert(!ret);
}

static void set_time(struct weft_comp *c, const char *name, weft_time_t v)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%llufs", (unsigned long long)v);
	if (weft_param_set(c, name, text, &err))
		assert(0);
}

static void set_pci(struct weft_comp *c, const struct ref_script *s)
{
	struct weft_err err = { 0 };

	set_u32(c, "t_park", s->t_park);
	set_u32(c, "t_turn", s->t_turn);
	set_u32(c, "t_end", s->t_end);
	set_u32(c, "t_retry", s->t_retry);
	set_u32(c, "t_initial", s->t_initial);
	set_u32(c, "t_tag", s->t_tag);
	set_u32(c, "max_retries", s->max_retries);
	set_u32(c, "page", s->page);
	set_u32(c, "line", s->line);
	set_u32(c, "rd_chunk", s->rd_chunk);
	set_time(c, "t_mem", s->t_mem);
	set_time(c, "h_rd_out", s->h_rd_out);
	set_time(c, "h_rd_in", s->h_rd_in);
	set_time(c, "h_wr_out", s->h_wr_out);
	set_time(c, "h_wr_in", s->h_wr_in);
	set_time(c, "h_dw", s->h_dw);
	if (weft_param_set(c, "reads", s->wait ? "wait" : "delayed", &err))
		assert(0);
}

static void set_pcix(struct weft_comp *c, const struct ref_script *s)
{
	set_u32(c, "t_gap", s->t_gap);
	set_u32(c, "t_split", s->t_split);
	set_u32(c, "t_pio1", s->t_pio1);
	set_u32(c, "t_piob", s->t_piob);
	set_u32(c, "sc_chunk", s->sc_chunk);
}

static void set_params(struct weft_comp *c, const struct ref_script *s)
{
	const struct {
		const char *name;
		uint32_t v;
	} t[] = {
		{ "width", s->width },	     { "devices", s->devices },
		{ "t_arb", s->t_arb },	     { "t_ph", s->t_ph },
		{ "t_disc", s->t_disc },     { "t_read", s->t_read },
		{ "t_abort", s->t_abort },   { "t_dac", s->t_dac },
		{ "wr_chunk", s->wr_chunk }, { "pio_depth", s->pio_depth },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		set_u32(c, t[i].name, t[i].v);
	assert(s->clock.den == 1);
	set_time(c, "clock", s->clock.num);
	if (s->pci)
		set_pci(c, s);
	else
		set_pcix(c, s);
}

static struct weft_comp *rig_add(struct rig *r, const struct weft_class *cls,
				 const char *name)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(r->sim, cls, name, &err);

	assert(c);
	if (cls->kind == WEFT_KIND_BUS)
		set_params(c, r->script);
	if (weft_comp_init(c, &err))
		assert(0);
	return c;
}

static void rig_fault(struct rig *r, uint32_t i)
{
	struct weft_err err = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "fault%u", i);
	r->shim[i] = weft_sim_add(r->sim, &weft_class_fault_bus, name, &err);
	for (const char *const *s = r->fault; *s; s += 2)
		if (weft_param_set(r->shim[i], s[0], s[1], &err))
			assert(0);
	if (weft_comp_init(r->shim[i], &err) ||
	    weft_filter_add(r->fault_host ? &r->host->ports[0]
					  : &r->dev[i]->ports[0],
			    r->shim[i], &err))
		assert(0);
}

static void rig_build(struct rig *r)
{
	struct weft_err err = { 0 };
	struct rig_host *h;

	r->sim = weft_sim_new(1);
	r->bus = rig_add(
		r, r->script->pci ? &weft_class_bus_pci : &weft_class_bus_pcix,
		"n0.bus");
	r->host = rig_add(r, &weft_class_rig_host, "n0.host");
	h = r->host->state;
	h->rig = r;
	h->port = &r->host->ports[0];
	h->port->iface = &host_ops;
	weft_connect(&r->bus->ports[0], h->port, NULL, 0, &err);
	for (uint32_t i = 0; i < r->script->devices; i++) {
		char name[32];
		struct rig_dev *d;

		snprintf(name, sizeof(name), "n0.dev%u", i);
		r->dev[i] = rig_add(r, &weft_class_rig_dev, name);
		d = r->dev[i]->state;
		d->rig = r;
		d->index = i;
		weft_connect(&r->bus->ports[1 + i], &r->dev[i]->ports[0], NULL,
			     0, &err);
		if (r->fault && !r->fault_host)
			rig_fault(r, i);
	}
	if (r->fault_host)
		rig_fault(r, 0);
	if (weft_sim_start(r->sim, &err))
		assert(0);
}

void rig_run(struct rig *r, const struct ref_script *s, struct ref_log *log)
{
	struct weft_err err = { 0 };

	r->script = s;
	r->log = log;
	r->next = 0;
	r->waits = false;
	log->n = 0;
	rig_build(r);
	weft_sim_run(r->sim, WEFT_NEVER);
	if (weft_sim_finish(r->sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	log->busy = rig_counter(r, "busy");
}

void rig_free(struct rig *r)
{
	weft_sim_free(r->sim);
	r->sim = NULL;
}

uint64_t rig_counter(const struct rig *r, const char *name)
{
	const struct weft_class *cls = r->bus->cls;

	for (uint32_t i = 0; i < cls->n_counters; i++)
		if (!strcmp(cls->counters[i].name, name))
			return r->bus->counters[i];
	abort();
}

const struct ref_note *rig_note(const struct ref_log *log, uint32_t port,
				enum weft_note_kind kind, uint32_t n)
{
	for (uint32_t i = 0; i < log->n; i++)
		if (log->note[i].port == port && log->note[i].kind == kind &&
		    !n--)
			return &log->note[i];
	return NULL;
}
