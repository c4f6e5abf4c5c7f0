/* SPDX-License-Identifier: Apache-2.0 */
/* A node without its devices: processor, memory, programs.
 *
 *   prog0, prog1 ... (coroutines) -- processor -- memory
 *                                        |
 *                                       bus
 *
 * Source: FORTH specification 2.1, 2.9 for what host software does. The costs
 * are Weft's own choice, because no document prints them (14, open point 7).
 * Each program has a separate processor. All programs share memory and the path
 * to the bus.
 *
 * Not modelled: caches, virtual addresses of memory, scheduling of more
 * programs than processors (except light processes: light_processes.c), an
 * interrupt's cost to programs that do not wait for it. */
#include "host/host_internal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct host_params, field, def, range, OWN, doc)
static const struct weft_param host_params[] = {
	P(BYTES, mem_bytes,   "64MiB",  "64KiB..",  "memory of the node; costs nothing until used"),
	P(BYTES, mem_base,    "0",      "",         "its first physical address"),
	P(U32,   node,        "0",      "",         "node number, for a component not called n<number>.*"),
	P(BYTES, stack,       "256KiB", "16KiB..",  "stack of each program"),
	P(U32,   wc_lines,    "6",      "1..16",    "write-combining buffers of 64 bytes per processor"),
	P(TIME,  cost_store,  "5ns",    "",         "processor time of an uncached store"),
	P(TIME,  cost_wc,     "1ns",    "",         "processor time of a write-combined store"),
	P(TIME,  cost_load,   "50ns",   "",         "processor time of an uncached load besides the bus"),
	P(TIME,  cost_clock,  "10ns",   "",         "processor time of reading the clock"),
	P(TIME,  copy_fixed,  "20ns",   "",         "processor time of a copy, whatever its size"),
	P(RATE,  copy_rate,   "1GB/s",  "1Mb/s..",  "rate of copying"),
	P(TIME,  poll_period, "20ns",   "1fs..",       "one turn of a loop that polls memory"),
	P(TIME,  poll_hit,    "0",      "",         "the turn that sees a change takes longer: the line comes from memory"),
	P(TIME,  irq_entry,   "2us",    "",         "interrupt line to interrupt handler"),
	P(TIME,  wake_up,     "3us",    "",         "interrupt handler to the program that waits"),
	P(TIME,  oob_delay,   "50us",   "1fs..",       "latency of the out-of-band network"),
	P(U32,   tlb,         "64",     "1..65536", "translations of device pages a processor remembers"),
	P(TIME,  walk,        "0",      "",         "processor time of finding another one"),
	P(TIME,  turn,        "0",      "",         "processor time of giving a light process its turn"),
#define HOST_TIME(name_, def_, range_, source_, doc_)                                  \
	{ #name_, WEFT_P_TIME, offsetof(struct host_params, time[T_##name_]), sizeof(weft_time_t), def_, range_, WEFT_##source_, doc_ },
#include "host/times.def"
#include "systems.def"
	{ 0 }
};
#undef P

static const struct weft_preset host_presets[] = {
#define HOST_PRESET(...) { __VA_ARGS__ },
#include "systems.def"
	{ 0 }
};

static const struct weft_counter host_counters[HOST_C_N] = {
	[HOST_C_STORES]  = { "stores", "stores", "uncached and write-combined stores of programs" },
	[HOST_C_LOADS]   = { "loads", "loads", "uncached loads of programs" },
	[HOST_C_BURSTS]  = { "wc_bursts", "bursts", "bursts that left write-combining buffers" },
	[HOST_C_STALL]   = { "store_stalls", "stores", "stores that found the bridge full" },
	[HOST_C_POLLS]   = { "polls", "calls", "waits for a change of memory" },
	[HOST_C_IRQS]    = { "irqs", "interrupts", "interrupts a program waited for" },
	[HOST_C_COPIED]  = { "copied", "bytes", "bytes copied by programs" },
	[HOST_C_RESUMES] = { "resumes", "switches", "times a program was resumed, other than from outside" },
	[HOST_C_TAGGED]  = { "tagged", "accesses", "tagged accesses of programs" },
	[HOST_C_FAULTS]  = { "page_faults", "accesses", "accesses of processes to pages that they do not have" },
	[HOST_C_REFUSED] = { "refused", "calls", "what a process or a domain's kernel may not do" },
	[HOST_C_WALKS]   = { "page_walks", "accesses", "accesses of processes whose translation was not remembered" },
	[HOST_C_TURNS]   = { "turns", "turns", "turns of light processes" },
	[HOST_C_BUSY]    = { "busy", "ns", "processor time of all programs: at work, polling, waiting for the bus" },
};

static const struct weft_port_decl host_ports[] = {
	{ "bus", WEFT_PORT_BUS, .optional = true, .doc = "the bridge" },
	{ 0 }
};
/* clang-format on */

static_assert(offsetof(struct host, p) == 0, "rows have offsets in params");

weft_time_t weft_host_time(const struct weft_host *h, enum host_time_id id)
{
	return h->hp->p.time[id];
}

struct weft_dev *host_dev(struct host *hp, uint32_t i)
{
	while (hp->devs.n <= i) {
		struct weft_dev *d = calloc(1, sizeof(*d));

		assert(d);
		d->index = (uint32_t)hp->devs.n;
		vec_push(&hp->devs, d);
	}
	return hp->devs.at[i];
}

/* ---- notes of the bus ---- */

static bool host_decode(struct weft_port *port, weft_phys_t phys,
			uint32_t bytes)
{
	struct host *hp = port->comp->state;

	return mem_contains(&hp->mem, phys, bytes);
}

static void note_mem_write(struct host *hp, struct weft_bus_note *note)
{
	uint32_t n;

	for (uint32_t i = 0; i < note->bytes; i += n) {
		weft_phys_t at = note->off + i;
		void *p;

		n = (uint32_t)mem_piece(&hp->mem, at, note->bytes - i);
		p = mem_at(&hp->mem, at, n);
		assert(p);
		if (note->slice.buf)
			mem_store(&hp->mem, p, weft_slice_data(note->slice) + i,
				  n);
		if (note->wrong && !i && note->slice.buf) {
			/* A fault flipped a bit on the bus. The bridge stores
			 * the wrong byte, because it does not check data. */
			uint8_t byte;

			mem_copy(&hp->mem, &byte, p, 1);
			byte ^= 1;
			mem_store(&hp->mem, p, &byte, 1);
		}
		host_stored(hp, p, n);
	}
	weft_slice_drop(&note->slice);
}

static void note_mem_read(struct host *hp, struct weft_bus_note *note)
{
	uint32_t n;

	for (uint32_t i = 0; i < note->bytes; i += n) {
		weft_phys_t at = note->off + i;
		const void *p;

		n = (uint32_t)mem_piece(&hp->mem, at, note->bytes - i);
		p = mem_at(&hp->mem, at, n);
		assert(p);
		if (note->slice.buf)
			mem_copy(&hp->mem, weft_slice_data(note->slice) + i, p,
				 n);
	}
	if (note->wrong && note->slice.buf)
		weft_slice_data(note->slice)[0] ^= 1;
	weft_slice_drop(&note->slice);
}

static void note_loaded(struct host *hp, struct weft_bus_note *note)
{
	struct host_load *l = &hp->load[note->load];

	if (note->kind == WEFT_NOTE_ANSWERED)
		hp->load_status = note->level;

	if (note->kind == WEFT_NOTE_LOADED && l->of) {
		memcpy(l->data, note->data, sizeof(l->data));
		l->error = note->error;
		l->done = true;
		host_nudge(l->of, HOST_BRIDGE);
		return;
	}
	memcpy(hp->load_data, note->data, sizeof(hp->load_data));
	hp->loaded = true;
	hp->load_error = note->error;
	host_nudge(hp->gate_head, HOST_BRIDGE);
}

static void host_note(struct host *hp, struct weft_bus_note *note)
{
	switch (note->kind) {
	case WEFT_NOTE_MEM_WRITE:
		note_mem_write(hp, note);
		break;
	case WEFT_NOTE_MEM_READ:
		note_mem_read(hp, note);
		break;
	case WEFT_NOTE_STORED:
		hp->stores_out++;
		host_nudge(hp->gate_head, HOST_BRIDGE);
		break;
	case WEFT_NOTE_IRQ:
		host_irq(hp, host_dev(hp, note->dev), note->level);
		break;
	default: /* LOADED, ANSWERED */
		note_loaded(hp, note);
	}
}

void host_settle(struct host *hp)
{
	struct weft_bus_note note;
	uint32_t left;

	while (weft_bus_next(hp->bus, &note))
		host_note(hp, &note);
	/* `quiet` counts queued notes, therefore it is at most `left` */
	left = weft_bus_queued(hp->bus);
	hp->quiet = hp->quiet < left ? hp->quiet : left;
}

static void host_bus_settle(struct weft_port *port)
{
	host_settle(port->comp->state);
}

static const struct weft_bus_host_ops host_bus_ops = {
	.decode = host_decode,
	.settle = host_bus_settle,
};

/* Requests an arrival event if the note needs one. Programs see memory only
 * when they run, and the host settles before a program runs. So a store to
 * memory that no program polls needs no arrival event. NOTE_STORED needs none
 * if no thread waits for room in the bridge. A thread that starts to wait
 * requests the arrivals. */
static enum weft_told host_told(struct weft_port *port,
				const struct weft_bus_note *note)
{
	struct host *hp = port->comp->state;
	bool cares = true;

	switch (note->kind) {
	case WEFT_NOTE_MEM_READ:
		cares = !note->lazy;
		break;
	case WEFT_NOTE_MEM_WRITE:
		cares = false;
		for (uint32_t i = 0, n; i < note->bytes && !cares; i += n) {
			weft_phys_t at = note->off + i;

			n = (uint32_t)mem_piece(&hp->mem, at, note->bytes - i);
			cares = host_polled(hp, mem_at(&hp->mem, at, n), n);
		}
		break;
	case WEFT_NOTE_STORED:
		cares = hp->gate_head != NULL;
		break;
	default:
		break;
	}
	return cares || ++hp->quiet > HOST_QUIET_MAX ? WEFT_TOLD_POST
						     : WEFT_TOLD_QUIET;
}

/* Handles an arrival. Tag n_ports + i makes thread i check its key again,
 * because an out-of-band value has arrived. */
static void host_arrive(struct weft_comp *c, uint32_t tag, struct weft_frame *f)
{
	struct host *hp = c->state;

	assert(!f);
	if (tag >= c->n_ports)
		host_nudge(hp->threads.at[tag - c->n_ports], HOST_KEY);
	else
		host_settle(hp);
}

static void host_event(struct weft_comp *c, uint32_t tag)
{
	struct host *hp = c->state;
	struct weft_host *h = hp->threads.at[tag];

	if (h->resume_at != weft_now(c))
		return;
	host_settle(hp);
	if (hp->mem.far_due) /* the data may let a process continue */
		mem_settled(&hp->mem);
	host_thread_run(h);
}

/* ---- lifetime ---- */

static int host_init(struct weft_comp *c, struct weft_err *err)
{
	struct host *hp = c->state;
	unsigned long number;
	char *end;

	hp->comp = c;
	if (hp->p.mem_bytes % 4096 || hp->p.mem_base % 4096 ||
	    hp->p.mem_base + hp->p.mem_bytes < hp->p.mem_base)
		return weft_fail(
			err, EINVAL,
			"%s: mem_bytes and mem_base must be multiples of 4KiB inside 64-bit addresses",
			c->name);
	if (host_shared_get(hp))
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	if (c->name[0] == 'n' && isdigit((unsigned char)c->name[1])) {
		number = strtoul(c->name + 1, &end, 10);
		if (*end == '.' || !*end) /* "n12.host" is on node 12 */
			hp->p.node = (uint32_t)number;
	}
	hp->bus = &c->ports[0];
	hp->bus->iface = &host_bus_ops;
	hp->bus->told = host_told;
	hp->bar_next = 0xc0000000;
	mem_init(&hp->mem, hp->p.mem_base, hp->p.mem_bytes);
	coro_pool_init(&hp->pool, hp->p.stack);
	return 0;
}

static int thread_cmp(const void *a, const void *b)
{
	const struct weft_host *x = *(struct weft_host *const *)a;
	const struct weft_host *y = *(struct weft_host *const *)b;

	return x->prog->id < y->prog->id ? -1 : x->prog->id > y->prog->id;
}

static int host_start(struct weft_comp *c, struct weft_err *err)
{
	struct host *hp = c->state;
	const uintptr_t first = (uintptr_t)1 << 45, end = (uintptr_t)3 << 44;
	uintptr_t at = 1ull << 20;

	/* Addresses of memory are sent to other nodes (RDMA) and must be equal
	 * in every run. Therefore the memory of each node has a fixed address,
	 * if address space suffices. */
	while (at < hp->p.mem_bytes)
		at *= 2;
	if (at <= (end - first) / (hp->comp->id + 1ull))
		hp->mem.hint = first + hp->comp->id * at;
	/* Threads are ordered by the names of their programs, so that the order
	 * in which the front end attached them does not matter. */
	if (hp->threads.n > 1)
		qsort(hp->threads.at, hp->threads.n, sizeof(hp->threads.at[0]),
		      thread_cmp);
	for (size_t i = 0; i < hp->threads.n; i++)
		hp->threads.at[i]->tag = (uint32_t)i;
	for (size_t i = 0; i < hp->threads.n; i++)
		host_wake(hp->threads.at[i], weft_now(c));
	return 0;
}

static int host_sample(struct weft_comp *c, struct weft_err *err)
{
	struct host *hp = c->state;
	weft_time_t t = 0;

	for (size_t i = 0; i < hp->threads.n; i++)
		t += hp->threads.at[i]->busy;
	c->counters[HOST_C_BUSY] = t / WEFT_NS;
	return 0;
}

static int host_finish(struct weft_comp *c, struct weft_err *err)
{
	struct host *hp = c->state;
	char what[160];
	struct weft_bus_note note;

	host_sample(c, err);
	/* No event is left. Stores that no thread waits for may be due after
	 * the last event, so they are carried out now. */
	host_settle(hp);
	while (weft_sim_idle(hp->comp->sim) && weft_bus_left(hp->bus, &note))
		host_note(hp, &note);
	mem_settled(&hp->mem);
	for (size_t i = 0; i < hp->threads.n; i++) {
		struct weft_host *h = hp->threads.at[i];

		if (h->wait == HOST_ENDED || h->background)
			continue;
		host_wait_describe(h, what, sizeof(what));
		weft_check_failed(h->prog, "still waits for %s", what);
	}
	return 0;
}

static void host_fini(struct weft_comp *c)
{
	struct host *hp = c->state;

	for (size_t i = 0; i < hp->threads.n; i++) {
		struct weft_host *h = hp->threads.at[i];

		coro_free(&hp->pool, h->co);
		for (size_t k = 0; k < HOST_WATCHES; k++)
			free(h->watch[k].old);
		free(h->tlb);
		free(h);
	}
	for (size_t i = 0; i < hp->heaps.n; i++) {
		struct host_heap *a = hp->heaps.at[i];

		for (size_t k = 0; k < a->words.n; k++)
			free(a->words.at[k]);
		vec_free(&a->words);
		heap_fini(&a->heap);
		free(a);
	}
	vec_free(&hp->heaps);
	free(hp->crew.words);
	vec_free(&hp->crew.sleeps);
	host_procs_fini(hp);
	for (size_t i = 0; i < hp->devs.n; i++) {
		const struct weft_drv *drv = &hp->devs.at[i]->drv;

		if (drv->fini)
			drv->fini(drv->own);
		free(hp->devs.at[i]);
	}
	vec_free(&hp->threads);
	vec_free(&hp->devs);
	coro_pool_fini(&hp->pool);
	mem_fini(&hp->mem);
	host_shared_put(hp);
}

WEFT_COMPONENT(host_pc, .name = "host.pc", .kind = WEFT_KIND_HOST,
	       .doc = "processor, memory and programs of a node",
	       .source = "FORTH specification 2.1, 2.9, 11.5; costs own",
	       .not_modelled = "caches, virtual memory, processor sharing",
	       .state_size = sizeof(struct host), .params = host_params,
	       .presets = host_presets, .counters = host_counters,
	       .n_counters = HOST_C_N, .ports = host_ports,
	       .ops = { .init = host_init,
			.start = host_start,
			.arrive = host_arrive,
			.event = host_event,
			.finish = host_finish,
			.sample = host_sample,
			.fini = host_fini });
