/* SPDX-License-Identifier: Apache-2.0 */
/* Watches each simulation that a fuzz target makes. The linker redirects the
 * calls that start it, send a frame, deliver a note and free it to functions of
 * this file (-Wl,--wrap). */
#include "outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vec.h"
#include "host/host_internal.h"
#include "sim/sim_internal.h"
#include "weft/bus.h"

#define START 0x9E3779B97F4A7C15ull

const char *const outcome_names[OUTCOME_PARTS] = {
	"counters", "registers", "memory", "frames",
	"notes",    "trace",	 "result", "seen",
};

/* Listener of the frames on the line of a port. Only connected ports whose wire
 * tells listeners of its frames have a listener. */
struct ear {
	struct weft_line_listener l;
	struct weft_port *port;
};

static struct {
	struct outcome o;
	struct {
		VEC(struct ear *);
	} ears;
	struct weft_listener listener;
	bool on;	/* outcome_begin was called */
	bool collected; /* outcomes of the finished run were collected */
} w;

/* ---- digests ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xD6E8FEB86659FD93ull;
	return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *data, uint64_t n)
{
	const uint8_t *p = data;
	uint64_t v;

	h = mix(h, n);
	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = mix(h, v);
	}
	v = 0;
	memcpy(&v, p, n);
	return mix(h, v);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	return mix_bytes(h, text ? text : "", text ? strlen(text) : 0);
}

static uint64_t mix_real(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return mix(h, bits);
}

static uint64_t of_port(const struct weft_port *p)
{
	return mix(mix_text(START, p->comp->name), p->index);
}

static void add(enum outcome_part part, uint64_t h)
{
	w.o.digest[part] += mix(h, part);
}

/* ---- events of a run ---- */

static uint64_t mix_frame(uint64_t h, const struct weft_port *p,
			  const struct weft_frame *f, weft_time_t start)
{
	const struct weft_wire *wire = p->decl->wire;
	uint16_t sym[4096];
	uint32_t n = 0;

	h = mix(mix(h, start), f->words);
	if (f->raw)
		return mix_bytes(h, f->raw->sym, f->raw->n * sizeof(*sym));
	if (wire && wire->encode)
		n = wire->encode(f, sym, sizeof(sym) / sizeof(*sym));
	if (n > sizeof(sym) / sizeof(*sym))
		n = sizeof(sym) / sizeof(*sym);
	return mix_bytes(h, sym, n * sizeof(*sym));
}

static void frame(const struct weft_port *p, const struct weft_frame *f,
		  weft_time_t start)
{
	w.o.frames++;
	w.o.words += f->words;
	add(OUTCOME_FRAMES, mix_frame(of_port(p), p, f, start));
}

static void hear_line(struct weft_line_listener *l, const struct weft_frame *f,
		      weft_time_t start)
{
	frame(((struct ear *)l)->port, f, start);
}

static void hear_trace(struct weft_listener *l, const struct weft_trace *t)
{
	uint64_t h = mix(mix_text(START, t->comp->name), t->kind);

	/* the value of an OPEN is left out, because it is the number of another
	 * message, and the digest contains no such numbers */
	if (t->kind != WEFT_TRACE_OPEN)
		h = mix(h, t->value);
	h = mix_text(mix_text(h, t->name), t->text);
	w.o.marks++;
	add(OUTCOME_TRACE, mix(mix(mix(h, t->index), t->from), t->to));
}

static uint64_t mix_data(uint64_t h, const struct weft_bus_note *n)
{
	switch (n->kind) {
	case WEFT_NOTE_STORE:
	case WEFT_NOTE_TAGGED:
		h = mix(mix(h, n->space), n->off);
		return mix_bytes(h, n->data, n->bytes);
	case WEFT_NOTE_LOAD:
		return mix(mix(mix(h, n->space), n->off), n->bytes);
	case WEFT_NOTE_LOADED:
	case WEFT_NOTE_ANSWERED:
		return mix_bytes(mix(h, n->level), n->data, 8);
	case WEFT_NOTE_IRQ:
		return mix(h, n->level);
	case WEFT_NOTE_MEM_WRITE:
		h = mix(mix(h, n->off), n->bytes);
		return n->slice.buf ? mix_bytes(h, weft_slice_data(n->slice),
						n->slice.len)
				    : h;
	case WEFT_NOTE_MEM_READ:
		return mix(mix(h, n->off), n->bytes);
	default:
		return n->txn ? mix(mix(mix(h, n->txn->op), n->txn->addr),
				    n->txn->bytes)
			      : h;
	}
}

static void note(const struct weft_port *p, const struct weft_bus_note *n)
{
	w.o.notes++;
	add(OUTCOME_NOTES, mix_data(mix(mix(of_port(p), n->kind), n->time), n));
}

void replay_see(const void *data, uint64_t bytes);
void replay_see(const void *data, uint64_t bytes)
{
	/* the digest depends on the order of the calls */
	w.o.digest[OUTCOME_SEEN] =
		mix_bytes(w.o.digest[OUTCOME_SEEN], data, bytes);
}

/* ---- state at the end of a run ---- */

static void counters(const struct weft_comp *c)
{
	const struct weft_class *cls = c->cls;

	for (uint32_t i = 0; i < cls->n_counters; i++) {
		uint64_t h = mix_text(START, c->name);

		w.o.counted += c->counters[i];
		add(OUTCOME_COUNTERS,
		    mix(mix_text(h, cls->counters[i].name), c->counters[i]));
	}
	for (uint32_t i = 0; i < c->n_ports; i++) {
		const struct weft_port *p = &c->ports[i];

		add(OUTCOME_COUNTERS,
		    mix(mix(mix(of_port(p), p->out_frames), p->out_words),
			p->out_busy));
	}
}

/* Returns the value of a register as a load would read it. Loads may have side
 * effects, so that registers are read last. */
static uint64_t reg_value(struct weft_comp *c, uint32_t row, uint32_t i)
{
	const struct weft_reg *r = &c->cls->regs[row];

	if (r->read)
		return r->read(c, i);
	return r->bare ? 0 : *weft_reg_cell(c, row, i);
}

static void registers(struct weft_comp *c)
{
	for (uint32_t row = 0; c->regmap && c->cls->regs[row].name; row++) {
		const struct weft_reg *r = &c->cls->regs[row];
		uint64_t h = mix_text(mix_text(START, c->name), r->name);

		for (uint32_t i = 0; i < (r->count ? r->count : 1); i++)
			h = mix(h, reg_value(c, row, i));
		add(OUTCOME_REGISTERS, h);
	}
}

static void page(const uint8_t *p, uint64_t number)
{
	static const uint8_t zero[MEM_PAGE];

	if (memcmp(p, zero, MEM_PAGE))
		add(OUTCOME_MEMORY, mix_bytes(mix(START, number), p, MEM_PAGE));
}

/* Adds the memory of a host to the outcome. Skips pages that were never
 * touched, so that they stay untouched. */
static void memory(const struct mem *m, uint32_t id)
{
	uint64_t pages = (m->touched + MEM_PAGE - 1) / MEM_PAGE;
	unsigned char *there;

	if (!m->map)
		return;
	there = malloc(pages);
	if (!there || mincore(m->map, pages * MEM_PAGE, there))
		abort();
	for (uint64_t i = 0; i < pages; i++)
		if (there[i] & 1)
			page(m->map + i * MEM_PAGE, (uint64_t)id << 40 | i);
	free(there);
}

static void hist(const char *name, const struct hist *h)
{
	uint64_t d = mix(mix_text(START, name), h->count);

	d = mix_real(mix_real(d, h->sum), h->sum2);
	for (uint32_t i = 0; i < h->n_bins; i++)
		if (h->bin[i])
			d = mix(mix(d, i), h->bin[i]);
	add(OUTCOME_RESULT, d);
}

static void result(struct weft_sim *sim)
{
	struct weft_result *r = sim->result;

	for (size_t i = 0; i < r->n_hists; i++)
		hist(r->hists[i].name, &r->hists[i].h);
	for (size_t i = 0; i < r->n_metrics; i++)
		add(OUTCOME_RESULT,
		    mix_real(mix_text(START, r->metrics[i].name),
			     r->metrics[i].value));
	for (size_t i = 0; i < r->n_failures; i++)
		add(OUTCOME_RESULT, mix_text(START, r->failures[i]));
	add(OUTCOME_RESULT, mix(START, sim->live_frames));
	add(OUTCOME_RESULT, mix(START + 1, sim->live_bufs));
}

static void look(struct weft_sim *sim)
{
	struct weft_err err = { 0 };

	if (!w.collected && weft_sim_finish(sim, &err))
		add(OUTCOME_RESULT, mix_text(START, err.msg));
	w.collected = false;
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		struct weft_comp *c = weft_sim_at(sim, i);

		counters(c);
		if (c->cls == &weft_class_host_pc)
			memory(&((struct host *)c->state)->mem, c->id);
	}
	result(sim);
	for (uint32_t i = 0; i < weft_sim_count(sim); i++)
		registers(weft_sim_at(sim, i));
	w.o.end_ns += weft_sim_now(sim) / WEFT_NS;
}

/* ---- wrappers of calls of the simulation ---- */

static void put_ear(struct weft_port *p)
{
	struct ear *e;

	if (p->kind != WEFT_PORT_LINK || !p->decl->wire ||
	    !p->decl->wire->tells || p->listener || !p->peer)
		return;
	e = calloc(1, sizeof(*e));
	if (!e)
		abort();
	*e = (struct ear){ .l = { .hear = hear_line }, .port = p };
	p->listener = &e->l;
	vec_push(&w.ears, e);
}

int __real_weft_sim_start(struct weft_sim *sim, struct weft_err *err);
int __wrap_weft_sim_start(struct weft_sim *sim, struct weft_err *err);
int __wrap_weft_sim_start(struct weft_sim *sim, struct weft_err *err)
{
	if (!w.on)
		return __real_weft_sim_start(sim, err);
	for (uint32_t i = 0; i < weft_sim_count(sim); i++)
		for (uint32_t k = 0; k < weft_sim_at(sim, i)->n_ports; k++)
			put_ear(&weft_sim_at(sim, i)->ports[k]);
	w.listener = (struct weft_listener){ .hear = hear_trace };
	weft_sim_listen(sim, &w.listener);
	return __real_weft_sim_start(sim, err);
}

void __real_weft_sim_free(struct weft_sim *sim);
void __wrap_weft_sim_free(struct weft_sim *sim);
void __wrap_weft_sim_free(struct weft_sim *sim)
{
	if (!w.on) {
		__real_weft_sim_free(sim);
		return;
	}
	for (size_t i = 0; i < w.ears.n; i++)
		if (w.ears.at[i]->l.settle)
			w.ears.at[i]->l.settle(w.ears.at[i]->port);
	look(sim);
	__real_weft_sim_free(sim);
	while (w.ears.n)
		free(vec_pop(&w.ears));
	vec_free(&w.ears);
}

void __real_weft_port_send(struct weft_port *p, struct weft_frame *f,
			   weft_time_t start);
void __wrap_weft_port_send(struct weft_port *p, struct weft_frame *f,
			   weft_time_t start);
void __wrap_weft_port_send(struct weft_port *p, struct weft_frame *f,
			   weft_time_t start)
{
	if (w.on)
		frame(p, f, start);
	__real_weft_port_send(p, f, start);
}

void __real_weft_bus_tell(struct weft_port *p, const struct weft_bus_note *n);
void __wrap_weft_bus_tell(struct weft_port *p, const struct weft_bus_note *n);
void __wrap_weft_bus_tell(struct weft_port *p, const struct weft_bus_note *n)
{
	if (w.on)
		note(p->peer, n);
	__real_weft_bus_tell(p, n);
}

void __real_result_collect(struct weft_sim *sim);
void __wrap_result_collect(struct weft_sim *sim);
void __wrap_result_collect(struct weft_sim *sim)
{
	__real_result_collect(sim);
	w.collected = true;
}

/* ---- one input ---- */

void outcome_begin(void)
{
	w.o = (struct outcome){ .digest = { 0 } };
	w.on = true;
}

const struct outcome *outcome_end(void)
{
	return &w.o;
}

void outcome_tell(const struct outcome *o, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(
		buf, size,
		"ns=%llu frames=%llu words=%llu notes=%llu marks=%llu sum=%llu",
		(unsigned long long)o->end_ns, (unsigned long long)o->frames,
		(unsigned long long)o->words, (unsigned long long)o->notes,
		(unsigned long long)o->marks, (unsigned long long)o->counted);

	for (uint32_t i = 0; i < OUTCOME_PARTS; i++)
		n += (size_t)snprintf(
			buf + n, size - n, " %08x",
			(unsigned int)(o->digest[i] ^ o->digest[i] >> 32));
}

void outcome_explain(char *want, char *got)
{
	char *a, *b, *x = strtok_r(want, " ", &a), *y = strtok_r(got, " ", &b);

	for (int i = 0; x && y; i++) {
		if (strcmp(x, y))
			fprintf(stderr, "  %s%s%s, was %s\n",
				i < 6 ? "" : outcome_names[i - 6],
				i < 6 ? "" : " ", y, x);
		x = strtok_r(NULL, " ", &a);
		y = strtok_r(NULL, " ", &b);
	}
	fprintf(stderr, "If that is meant: make golden\n");
}
