/* SPDX-License-Identifier: Apache-2.0 */
/* The scripted bus of rig.h. It runs one transaction at a time, with fixed
 * priority and the times of forth.md 11.1. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum { EV_DECIDE, EV_TELL };

static const struct weft_param tbus_params[] = {
	WEFT_PARAM(CLOCK, struct tbus, clock, "100MHz", "", OWN, "clock"),
	WEFT_PARAM(U32, struct tbus, t_arb, "6", "", OWN, "T_ARB"),
	WEFT_PARAM(U32, struct tbus, t_ph, "4", "", OWN, "T_PH"),
	WEFT_PARAM(U32, struct tbus, t_split, "50", "", OWN, "T_SPLIT"),
	WEFT_PARAM(U32, struct tbus, t_gap, "6", "", OWN, "T_GAP"),
	WEFT_PARAM(U32, struct tbus, t_disc, "20", "", OWN, "T_DISC"),
	WEFT_PARAM(U32, struct tbus, chunk, "1536", "", OWN, "SC, WR_CHUNK"),
	WEFT_PARAM(BOOL, struct tbus, contend, "false", "", OWN, "GNT# lost"),
	WEFT_PARAM(BOOL, struct tbus, refuse, "false", "", OWN, "aborts"),
	WEFT_PARAM(U32, struct tbus, repeat, "0", "", OWN, "unexpected"),
	WEFT_PARAM(BOOL, struct tbus, ahead, "false", "", OWN, "notes early"),
	{ 0 }
};
static const struct weft_port_decl tbus_ports[] = {
	{ "dev", WEFT_PORT_BUS, .doc = "device" }, { 0 }
};

static weft_time_t at(const struct tbus *b, uint64_t pc)
{
	return weft_clock_edge(&b->clock, pc);
}

/* Queues a note for its time, behind notes of the same or an earlier time. */
static void pend(struct tbus *b, struct weft_bus_note note, bool mem_write,
		 uint64_t phys)
{
	uint32_t i = b->n_pend;

	if (b->ahead && note.txn) {
		weft_bus_tell(b->dev, &note);
		return;
	}
	b->n_pend++;
	b->pend = realloc(b->pend, b->n_pend * sizeof(*b->pend));
	assert(b->pend);
	for (; i > 0 && b->pend[i - 1].note.time > note.time; i--)
		b->pend[i] = b->pend[i - 1];
	b->pend[i] = (struct tbus_pend){ note, mem_write, phys };
	weft_wake(b->comp, EV_TELL, note.time - 1);
}

static bool in_mem(weft_phys_t a, uint32_t bytes)
{
	return a >= RIG_MEM && a - RIG_MEM <= RIG_MEM_BYTES - bytes;
}

static void tell(struct tbus *b)
{
	while (b->n_pend && b->pend[0].note.time <= weft_now(b->comp) + 1) {
		struct tbus_pend p = b->pend[0];

		memmove(b->pend, b->pend + 1, --b->n_pend * sizeof(*b->pend));
		if (p.mem_write && weft_slice_data(p.note.slice))
			memcpy(b->mem + (p.phys - RIG_MEM),
			       weft_slice_data(p.note.slice), p.note.bytes);
		weft_slice_drop(&p.note.slice);
		if (p.note.txn || !p.mem_write)
			weft_bus_tell(b->dev, &p.note);
	}
}

static void decide_at(struct tbus *b, uint64_t pc)
{
	weft_wake(b->comp, EV_DECIDE, at(b, pc) + 1);
}

static struct tbus_op *log_of(struct tbus *b, struct weft_bus_txn *t)
{
	return &b->log[t->priv_[0]];
}

static void tbus_submit(struct weft_port *p, struct weft_bus_txn *t)
{
	struct tbus *b = p->peer->comp->state;
	uint64_t pc = weft_clock_cycle(&b->clock, weft_now(b->comp));

	assert(!b->txn[t->op] && t->bytes && t->bytes % 8 == 0);
	/* REQ# must be on a clock edge */
	assert(at(b, pc) == weft_now(b->comp));
	/* if the log is full, overwrite its last entry */
	if (b->n_log == RIG_LOG)
		b->n_log--;
	t->status = WEFT_BUS_OK;
	t->tenures = t->splits = t->moved = 0;
	t->priv_[0] = b->n_log;
	b->log[b->n_log++] = (struct tbus_op){
		.op = t->op, .req = pc, .addr = t->addr, .bytes = t->bytes
	};
	if (t->op == WEFT_BUS_WRITE && weft_slice_data(t->data))
		memcpy(&log_of(b, t)->word, weft_slice_data(t->data), 8);
	b->txn[t->op] = t;
	b->ready[t->op] = pc;
	decide_at(b, pc > b->free_at ? pc : b->free_at);
}

static void done(struct tbus *b, struct weft_bus_txn *t, uint64_t end)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .time = at(b, end),
				      .txn = t };
	struct tbus_op *l = log_of(b, t);

	if (b->repeat && t->op == WEFT_BUS_READ) {
		note.wrong = WEFT_BUS_E_REPEAT;
		note.data_end = at(b, end + b->repeat);
	}
	t->t_done = note.time;
	l->done = end;
	l->splits = t->splits;
	l->tenures = t->tenures;
	b->txn[t->op] = NULL;
	b->ready[t->op] = UINT64_MAX;
	pend(b, note, false, 0);
}

static uint64_t burst(struct tbus *b, struct weft_bus_txn *t, uint32_t bytes,
		      uint64_t frame, uint64_t start, bool timer)
{
	uint64_t end = start + bytes / 8;
	struct weft_bus_note note = {
		.kind = WEFT_NOTE_BURST,
		.time = at(b, start),
		.txn = t,
		.frame = at(b, frame),
		.data_end = at(b, end),
		.offset = t->moved,
		.bytes = bytes,
		.last = t->moved + bytes == t->bytes,
		.timer = timer,
	};
	struct weft_bus_note mem = { .time = at(b, end), .bytes = bytes };
	weft_phys_t phys = t->addr + t->moved;

	pend(b, note, false, 0);
	if (t->op == WEFT_BUS_READ && weft_slice_data(t->data)) {
		memcpy(weft_slice_data(t->data) + t->moved,
		       b->mem + (phys - RIG_MEM), bytes);
	} else if (t->op == WEFT_BUS_WRITE) {
		mem.slice = t->data.buf
				    ? weft_slice_sub(t->data, t->moved, bytes)
				    : (struct weft_slice){ .len = bytes };
		pend(b, mem, true, phys);
	}
	t->moved += bytes;
	return end;
}

static bool abort_if_bad(struct tbus *b, struct weft_bus_txn *t, uint64_t d)
{
	if (!b->refuse && in_mem(t->addr, t->bytes))
		return false;
	t->tenures++;
	t->status = b->refuse ? WEFT_BUS_TARGET_ABORT : WEFT_BUS_MASTER_ABORT;
	b->free_at = d + b->t_arb + b->t_ph + 4;
	done(b, t, b->free_at);
	return true;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void grant_write(struct tbus *b, uint64_t d)
{
	struct weft_bus_txn *t = b->txn[WEFT_BUS_WRITE];
	uint32_t n, cut;

	b->ready[WEFT_BUS_WRITE] = UINT64_MAX;
	if (abort_if_bad(b, t, d))
		return;
	t->tenures++;
	n = cut = least(t->bytes - t->moved, b->chunk);
	if (b->contend && t->latency_timer)
		cut = least(n, t->latency_timer * 8 / 128 * 128);
	b->free_at =
		burst(b, t, cut, d + b->t_arb, d + b->t_arb + b->t_ph, cut < n);
	if (t->moved == t->bytes)
		done(b, t, b->free_at);
	else
		b->ready[WEFT_BUS_WRITE] = b->free_at + b->t_disc - b->t_arb;
}

static void grant_read(struct tbus *b, uint64_t d)
{
	struct weft_bus_txn *t = b->txn[WEFT_BUS_READ];
	struct weft_bus_note note = { .kind = WEFT_NOTE_SPLIT, .txn = t };
	uint64_t resp = d + b->t_arb + b->t_ph;

	b->ready[WEFT_BUS_READ] = UINT64_MAX;
	if (abort_if_bad(b, t, d))
		return;
	t->tenures++;
	t->splits++;
	note.time = at(b, resp);
	note.frame = at(b, d + b->t_arb);
	pend(b, note, false, 0);
	b->free_at = resp;
	b->seq_left = t->bytes - t->moved;
	if (t->max_request)
		b->seq_left = least(b->seq_left, t->max_request);
	b->compl_ready = resp + b->t_split - b->t_gap - b->t_ph;
}

static void grant_completion(struct tbus *b, uint64_t d)
{
	struct weft_bus_txn *t = b->txn[WEFT_BUS_READ];
	uint32_t n = least(b->seq_left, b->chunk);

	b->free_at =
		burst(b, t, n, d + b->t_gap, d + b->t_gap + b->t_ph, false);
	b->seq_left -= n;
	b->compl_ready = b->seq_left ? b->free_at : UINT64_MAX;
	if (b->seq_left)
		return;
	if (t->moved == t->bytes)
		done(b, t, b->free_at);
	else
		b->ready[WEFT_BUS_READ] = b->free_at;
}

static void decide(struct tbus *b)
{
	uint64_t d = weft_clock_cycle(&b->clock, weft_now(b->comp) - 1);
	uint64_t next = UINT64_MAX;

	if (d >= b->free_at) {
		if (b->compl_ready <= d)
			grant_completion(b, d);
		else if (b->ready[WEFT_BUS_WRITE] <= d)
			grant_write(b, d);
		else if (b->ready[WEFT_BUS_READ] <= d)
			grant_read(b, d);
	}
	for (uint32_t i = 0; i < 2; i++)
		next = b->ready[i] < next ? b->ready[i] : next;
	next = b->compl_ready < next ? b->compl_ready : next;
	if (next == UINT64_MAX)
		return;
	next = next > b->free_at ? next : b->free_at;
	if (next > d)
		decide_at(b, next);
}

static void tbus_event(struct weft_comp *c, uint32_t tag)
{
	if (tag == EV_TELL)
		tell(c->state);
	else
		decide(c->state);
}

static void tbus_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	assert(!f);
}

static void tbus_reply(struct weft_port *p, const void *data, uint32_t bytes)
{
	struct tbus *b = p->peer->comp->state;

	b->reply = 0;
	memcpy(&b->reply, data, bytes);
	b->replied = true;
}

static void tbus_irq(struct weft_port *p, bool asserted)
{
	struct tbus *b = p->peer->comp->state;

	assert(b->irq != asserted);
	b->irq_edges += asserted;
	b->irq = asserted;
}

static const struct weft_clock *tbus_clock(struct weft_port *p)
{
	return &((struct tbus *)p->peer->comp->state)->clock;
}

static const struct weft_bus_ops tbus_ops = {
	.submit = tbus_submit,
	.reply = tbus_reply,
	.irq = tbus_irq,
	.clock = tbus_clock,
};

static int tbus_init(struct weft_comp *c, struct weft_err *err)
{
	struct tbus *b = c->state;

	b->comp = c;
	b->dev = &c->ports[0];
	b->dev->iface = &tbus_ops;
	b->mem = calloc(1, RIG_MEM_BYTES);
	b->ready[0] = b->ready[1] = b->compl_ready = UINT64_MAX;
	return b->mem ? 0 : -1;
}

static void tbus_fini(struct weft_comp *c)
{
	struct tbus *b = c->state;

	for (uint32_t i = 0; i < b->n_pend; i++)
		weft_slice_drop(&b->pend[i].note.slice);
	free(b->pend);
	free(b->mem);
}

WEFT_COMPONENT(test_bus, .name = "test.bus", .kind = WEFT_KIND_BUS,
	       .doc = "scripted bus with memory",
	       .state_size = sizeof(struct tbus), .params = tbus_params,
	       .ports = tbus_ports,
	       .ops = { .init = tbus_init,
			.arrive = tbus_arrive,
			.event = tbus_event,
			.fini = tbus_fini });

/* ---- host accesses ---- */

uint64_t rig_pc(const struct rig *r)
{
	const struct weft_clock *k = &r->n[0].bus->clock;
	weft_time_t now = weft_sim_now(r->sim);
	uint64_t pc = weft_clock_cycle(k, now);

	return weft_clock_edge(k, pc) > now ? pc - 1 : pc;
}

void rig_run_pc(struct rig *r, uint64_t pc)
{
	weft_sim_run(r->sim, weft_clock_edge(&r->n[0].bus->clock, pc));
}

void rig_wait(struct rig *r, uint64_t pcs)
{
	rig_run_pc(r, rig_pc(r) + pcs);
}

static void access_note(struct rig *r, uint32_t node,
			struct weft_bus_note *note)
{
	struct tbus *b = r->n[node].bus;
	uint64_t pc = rig_pc(r) + 1;

	note->time = weft_clock_edge(&b->clock, pc);
	weft_bus_tell(b->dev, note);
	rig_run_pc(r, pc);
}

void rig_store(struct rig *r, uint32_t node, uint8_t space, uint64_t off,
	       const void *data, uint32_t bytes)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_STORE,
				      .space = space,
				      .off = off,
				      .bytes = bytes };

	memcpy(note.data, data, bytes);
	access_note(r, node, &note);
}

uint64_t rig_load(struct rig *r, uint32_t node, uint8_t space, uint64_t off,
		  uint32_t bytes)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_LOAD,
				      .space = space,
				      .off = off,
				      .bytes = bytes };

	r->n[node].bus->replied = false;
	access_note(r, node, &note);
	if (!r->n[node].bus->replied)
		return UINT64_MAX >> (64 - 8 * bytes);
	return r->n[node].bus->reply;
}

uint64_t rig_mem64(struct rig *r, uint32_t node, uint64_t phys)
{
	uint64_t v;

	memcpy(&v, r->n[node].bus->mem + (phys - RIG_MEM), 8);
	return v;
}

void rig_mem_set64(struct rig *r, uint32_t node, uint64_t phys, uint64_t val)
{
	memcpy(r->n[node].bus->mem + (phys - RIG_MEM), &val, 8);
}
