/* SPDX-License-Identifier: Apache-2.0 */
/* Class watch.bus: sits between a NIC and its bus, forwards everything, and
 * compares each remote notification with the true events:
 *
 * - Each packet that the source of the notification sent earlier is in memory,
 *   or was lost and a later packet of the same path has arrived (forth.md 7.4).
 * - The NIC requests the write of the notification at the clock at which this
 *   first condition became true, or at which the engine was free again.
 *   Neither a packet nor a local notification overtakes a notification that
 *   waits. A notification follows a packet or another notification without a
 *   gap (3.7).
 * - Count, source and loss flag of the notification are right (3.8, 7.5).
 *
 * The engine starts no write while it fetches a descriptor or moves the data of
 * a read. The engine does start writes in the split wait (R-27). */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "systems/forth/nic/regs_map.h"
#include "watch.h"

enum { P_DEV, P_BUS, TOLD = 5 };

void watch_fail(struct watch *w, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (w->failures++ >= TOLD)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	weft_check_failed(w->comp, "%s at %" PRIu64 " fs: %s", w->nic->name,
			  weft_now(w->comp), text);
}

static uint64_t pc_of(const struct watch *w, weft_time_t t)
{
	return weft_clock_cycle(&w->pci, t);
}

static weft_phys_t reg64(const struct watch *w, uint32_t lo)
{
	return weft_reg_load(w->nic, 2, lo, 4) |
	       (uint64_t)weft_reg_load(w->nic, 2, lo + 4, 4) << 32;
}

/* ---- times at which the engine could start ---- */

static void busy_from(struct watch *w, uint64_t pc)
{
	w->busy[w->n_busy++ % WATCH_READS] =
		(struct watch_busy){ pc, WATCH_NEVER };
}

static void busy_to(struct watch *w, uint64_t pc)
{
	w->busy[(w->n_busy - 1) % WATCH_READS].to = pc;
}

/* Returns the first bus clock from pc on at which a write can start. If a read
 * and a write are ready at the same clock, the NIC may start either first.
 * `give` assumes that the read is first. */
static uint64_t engine_free(const struct watch *w, uint64_t pc, bool give)
{
	uint32_t i = w->n_busy > WATCH_READS ? w->n_busy - WATCH_READS : 0;

	for (; i < w->n_busy; i++) {
		const struct watch_busy *b = &w->busy[i % WATCH_READS];

		if (pc >= b->from + !give && pc < b->to)
			pc = b->to;
	}
	return pc;
}

/* ---- writes ---- */

static void check_time(struct watch *w, uint64_t pc, uint64_t may)
{
	bool behind = w->op == WATCH_PACKET || w->op == WATCH_REMOTE;
	uint64_t from = w->op ? w->done + w->t_upd : 0;

	w->wait_max = pc - may > w->wait_max ? pc - may : w->wait_max;
	if (behind && may <= w->done) {
		weft_count(w->comp, WATCH_C_AT_ONCE, 1);
		if (pc != w->done)
			watch_fail(w,
				   "notification at %" PRIu64
				   ", allowed at %" PRIu64
				   ", engine free at %" PRIu64,
				   pc, may, w->done);
		return;
	}
	from = may > from ? may : from;
	if (pc != engine_free(w, from, true) &&
	    pc != engine_free(w, from, false))
		watch_fail(w,
			   "notification at %" PRIu64 ", allowed at %" PRIu64
			   ", engine free at %" PRIu64,
			   pc, may, engine_free(w, from, true));
}

static void check_remote(struct watch *w, uint64_t pc, uint64_t word)
{
	uint32_t src = forth_rnotify_source(word);
	struct watch_due d;

	weft_count(w->comp, WATCH_C_NOTES, 1);
	if (forth_rnotify_count(word) != ++w->notes)
		watch_fail(w, "notification %u has number %u", w->notes,
			   forth_rnotify_count(word));
	if (w->groups) {
		watch_group(w, src, forth_rnotify_group(word), pc);
		return;
	}
	if (!w->due[src].n) {
		watch_fail(w, "source %u: notified before its data", src);
		return;
	}
	d = WATCH_FRONT(&w->due[src]);
	WATCH_POP(&w->due[src]);
	if (d.loss != !!(word & FORTH_RNOTIFY_LOSS))
		watch_fail(w, "source %u: loss flag is %u", src, !d.loss);
	weft_count(w->comp, WATCH_C_FLAGGED, d.loss);
	check_time(w, pc, d.may);
}

/* Called when the NIC starts to write a packet, at bus clock pc. Checks that no
 * notification is allowed by then, because a packet must not overtake a waiting
 * notification. */
static void check_none_waits(struct watch *w, uint64_t pc)
{
	for (uint32_t s = 0; s < WATCH_NODES; s++)
		if (w->due[s].n && WATCH_FRONT(&w->due[s]).may <= pc)
			watch_fail(w,
				   "source %u could have notified at %" PRIu64,
				   s, WATCH_FRONT(&w->due[s]).may);
}

/* Takes a packet from the front of a link's buffer: the packet that is written
 * by transaction t. Returns false if that packet is not at the front of any
 * buffer. */
static bool take_packet(struct watch *w, const struct weft_bus_txn *t)
{
	for (uint32_t k = 0; k < WATCH_LINKS; k++) {
		struct watch_wait f;
		const struct watch_pkt *p;

		if (!w->fifo[k].n)
			continue;
		f = WATCH_FRONT(&w->fifo[k]);
		p = watch_pkt(&w->stream[f.src], f.number);
		if ((uint32_t)p->hdr != t->addr ||
		    8 * (p->hdr >> 32 & 1023) != t->bytes)
			continue;
		WATCH_POP(&w->fifo[k]);
		w->writing = f;
		return true;
	}
	return false;
}

static void look_write(struct watch *w, const struct weft_bus_txn *t)
{
	weft_phys_t remote = reg64(w, FORTH_RNOTIFY_LO);
	weft_phys_t local = reg64(w, FORTH_LNOTIFY_LO);
	uint64_t pc = pc_of(w, weft_now(w->comp)), word = 0;

	watch_advance(w, pc);
	w->write = t;
	if (t->data.buf)
		memcpy(&word, weft_slice_data(t->data), 8);
	if (t->addr == remote && t->bytes == 8) {
		check_remote(w, pc, word);
		w->op = WATCH_REMOTE;
	} else if (t->addr >= local && t->addr < local + 64 && t->bytes == 8) {
		w->op = WATCH_LOCAL;
	} else {
		check_none_waits(w, pc);
		if (!take_packet(w, t))
			watch_fail(w,
				   "%u bytes written to %#" PRIx64
				   " that no source sent",
				   t->bytes, t->addr);
		w->op = WATCH_PACKET;
	}
}

/* ---- the bus, on both sides ---- */

static struct weft_port *bus_side(struct weft_port *dev_port)
{
	return &dev_port->peer->comp->ports[P_BUS];
}

static void bus_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct weft_port *p = bus_side(dev_port);
	struct watch *w = p->comp->state;

	if (t->op == WEFT_BUS_WRITE)
		look_write(w, t);
	else
		busy_from(w, pc_of(w, weft_now(w->comp)) - w->t_desc);
	weft_bus_of(p)->submit(p, t);
}

static void bus_reply(struct weft_port *dev_port, const void *data,
		      uint32_t bytes)
{
	struct weft_port *p = bus_side(dev_port);

	weft_bus_of(p)->reply(p, data, bytes);
}

static void bus_irq(struct weft_port *dev_port, bool asserted)
{
	struct weft_port *p = bus_side(dev_port);

	weft_bus_of(p)->irq(p, asserted);
}

static const struct weft_clock *bus_clock(struct weft_port *dev_port)
{
	struct weft_port *p = bus_side(dev_port);

	return weft_bus_of(p)->clock(p);
}

static const struct weft_bus_ops bus_ops = { .submit = bus_submit,
					     .reply = bus_reply,
					     .irq = bus_irq,
					     .clock = bus_clock };

static void note_read(struct watch *w, const struct weft_bus_note *n)
{
	const struct watch_busy *b = &w->busy[(w->n_busy - 1) % WATCH_READS];

	if (n->kind == WEFT_NOTE_SPLIT)
		busy_to(w, pc_of(w, n->time));
	else if (n->kind == WEFT_NOTE_BURST && b->to != WATCH_NEVER)
		busy_from(w, pc_of(w, n->time));
	else if (n->kind == WEFT_NOTE_DONE)
		busy_to(w, pc_of(w, n->time) + w->t_upd);
}

static void note_written(struct watch *w, const struct weft_bus_note *n)
{
	struct watch_stream *s = &w->stream[w->writing.src];

	w->write = NULL;
	w->done = pc_of(w, n->time);
	if (w->op == WATCH_PACKET)
		watch_pkt(s, w->writing.number)->past = w->done;
}

static void bus_note(struct weft_comp *c, uint32_t port,
		     const struct weft_bus_note *note)
{
	struct watch *w = c->state;

	if (note->txn && note->txn->op == WEFT_BUS_READ &&
	    note->kind <= WEFT_NOTE_DONE)
		note_read(w, note);
	else if (note->kind == WEFT_NOTE_DONE)
		note_written(w, note);
	weft_bus_tell(&c->ports[P_DEV], note);
}

/* ---- start and end ---- */

struct watch *watch_of(struct weft_sim *sim, uint32_t node)
{
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		struct weft_comp *c = weft_sim_at(sim, i);
		unsigned int k;

		if (c->cls == &weft_class_watch_bus &&
		    sscanf(c->on->comp->name, "n%u", &k) == 1 && k == node)
			return c->state;
	}
	return NULL;
}

static int bus_init(struct weft_comp *c, struct weft_err *err)
{
	struct watch *w = c->state;

	w->comp = c;
	c->ports[P_DEV].iface = &bus_ops;
	return 0;
}

static int bus_start(struct weft_comp *c, struct weft_err *err)
{
	struct watch *w = c->state;

	w->nic = c->on->comp;
	w->pci = *weft_bus_of(&c->ports[P_BUS])->clock(&c->ports[P_BUS]);
	return 0;
}

static uint64_t nic_counter(const struct watch *w, const char *name)
{
	const struct weft_class *cls = w->nic->cls;

	for (uint32_t i = 0; i < cls->n_counters; i++)
		if (!strcmp(cls->counters[i].name, name))
			return w->nic->counters[i];
	return 0;
}

/* Returns the number of packets whose fate is unknown to the NIC. They were
 * lost, and no later packet of their path has arrived to reveal the loss. */
static uint64_t open_packets(const struct watch *w)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < WATCH_NODES; s++)
		for (uint64_t i = w->stream[s].front; i < w->stream[s].end; i++)
			n += w->stream[s].ring[i & w->stream[s].mask].past ==
			     WATCH_NEVER;
	return n;
}

static int bus_finish(struct weft_comp *c, struct weft_err *err)
{
	struct watch *w = c->state;
	uint64_t found;

	watch_advance(w, WATCH_NEVER - 1);
	check_none_waits(w, WATCH_NEVER);
	found = c->counters[WATCH_C_FOUND];
	if (w->groups && watch_group_left(w))
		watch_fail(w, "%" PRIu64 " packets were never notified",
			   watch_group_left(w));
	if (nic_counter(w, "losses") != found)
		watch_fail(w, "%" PRIu64 " losses found, %" PRIu64 " expected",
			   nic_counter(w, "losses"), found);
	weft_metric(c, "wait_max", "pc", (double)w->wait_max);
	weft_metric(c, "failures", "", (double)w->failures);
	weft_metric(c, "open", "packets", (double)open_packets(w));
	return 0;
}

static void bus_fini(struct weft_comp *c)
{
	struct watch *w = c->state;

	for (uint32_t i = 0; i < WATCH_NODES; i++) {
		free(w->stream[i].ring);
		free(w->due[i].at);
	}
	for (uint32_t k = 0; k < WATCH_LINKS; k++)
		free(w->fifo[k].at);
}

static const struct weft_param bus_params[] = {
	WEFT_PARAM(U32, struct watch, t_desc, "3", "", OWN, "of the NIC"),
	WEFT_PARAM(U32, struct watch, t_upd, "1", "", OWN, "of the NIC"),
	WEFT_PARAM(BOOL, struct watch, groups, "no", "", OWN,
		   "the NIC counts (7.7)"),
	{ 0 }
};
static const struct weft_counter bus_counters[WATCH_C_N] = {
	[WATCH_C_PACKETS] = { "watched", "packets", "sent to this node" },
	[WATCH_C_NOTES] = { "seen", "", "notifications looked at" },
	[WATCH_C_LOST] = { "lost", "packets", "sent, and passed by others" },
	[WATCH_C_FOUND] = { "found", "packets", "of them, by the receiver" },
	[WATCH_C_FLAGGED] = { "flagged", "", "notifications after a loss" },
	[WATCH_C_AT_ONCE] = { "at_once", "", "right behind a write" },
};
static const struct weft_port_decl bus_ports[] = {
	[P_DEV] = { "dev", WEFT_PORT_BUS, .doc = "the NIC" },
	[P_BUS] = { "bus", WEFT_PORT_BUS, .doc = "the bus" },
	{ 0 }
};

WEFT_COMPONENT(watch_bus, .name = "watch.bus", .kind = WEFT_KIND_FAULT,
	       .doc = "holds notifications against what has happened",
	       .state_size = sizeof(struct watch), .params = bus_params,
	       .counters = bus_counters, .n_counters = WATCH_C_N,
	       .ports = bus_ports,
	       .ops = { .init = bus_init,
			.start = bus_start,
			.note = bus_note,
			.finish = bus_finish,
			.fini = bus_fini });
