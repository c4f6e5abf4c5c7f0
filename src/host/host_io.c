/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-mapped I/O, configuration space, device-visible memory: the part of
 * weft/host.h that reaches the bus.
 *
 * A gate lets one thread at a time use the bus, first come first served. A
 * thread holds the gate while the bridge is full or its load is unanswered. On
 * a bus that allows several loads in flight a thread holds the gate only until
 * its load has been sent, so that loads overlap. */
#include "host/host_internal.h"

#include <assert.h>
#include <string.h>

enum { CFG_BAR0 = 0x10, BAR_IO = 1, BAR_TYPE = 6, BAR_TYPE64 = 4 };

/* ---- the gate ---- */

void host_gate_enter(struct weft_host *h)
{
	struct host *hp = h->hp;

	host_pass(h, 0);
	h->gate_next = NULL;
	if (hp->gate_head)
		hp->gate_tail->gate_next = h;
	else
		hp->gate_head = h;
	hp->gate_tail = h;
	while (hp->gate_head != h)
		host_block(h, HOST_BRIDGE);
}

void host_gate_leave(struct weft_host *h)
{
	struct host *hp = h->hp;

	hp->gate_head = h->gate_next;
	host_nudge(hp->gate_head, HOST_BRIDGE);
}

static void gate_store(struct weft_host *h, const struct weft_dev *d,
		       uint8_t space, uint64_t off, const void *data,
		       uint32_t n)
{
	struct host *hp = h->hp;
	bool stalled = false;

	while (!host_bus(h)->pio_store(hp->bus, d->index, space, off, data,
				       n)) {
		if (!stalled)
			weft_count(hp->comp, HOST_C_STALL, 1);
		stalled = true;
		host_block(h, HOST_BRIDGE);
	}
	hp->stores_in++;
}

static void io_store(struct weft_host *h, const struct weft_dev *d,
		     uint8_t space, uint64_t off, const void *data, uint32_t n)
{
	host_gate_enter(h);
	gate_store(h, d, space, off, data, n);
	host_gate_leave(h);
}

/* Performs a load on a bus that allows several loads in flight. The thread
 * holds the gate. */
static void load_beside(struct weft_host *h, const struct weft_dev *d,
			uint8_t space, uint64_t off, void *data, uint32_t n)
{
	struct host *hp = h->hp;
	uint32_t loads = host_bus(h)->loads(hp->bus);
	struct host_load *end =
		hp->load + (loads < HOST_LOADS ? loads : HOST_LOADS);
	struct host_load *l;

	for (;;) { /* until a load number is free */
		for (l = hp->load; l < end && l->of; l++)
			;
		if (l < end)
			break;
		host_block(h, HOST_BRIDGE);
	}
	*l = (struct host_load){ .of = h };
	host_bus(h)->pio_load_as(hp->bus, (uint32_t)(l - hp->load), d->index,
				 space, off, n);
	host_gate_leave(h);
	while (!l->done)
		host_block(h, HOST_BRIDGE);
	memcpy(data, l->data, n);
	h->load_error = l->error;
	l->of = NULL;
	/* the thread at the head of the gate may wait for a free load number */
	host_nudge(hp->gate_head, HOST_BRIDGE);
}

static void io_load(struct weft_host *h, const struct weft_dev *d,
		    uint8_t space, uint64_t off, void *data, uint32_t n)
{
	const struct weft_bus_ops *bus = host_bus(h);
	struct host *hp = h->hp;

	weft_io_fence(h);
	host_gate_enter(h);
	if (bus->loads && bus->loads(hp->bus) > 1) {
		load_beside(h, d, space, off, data, n);
	} else {
		/* Holds the gate until the answer arrives, because the bus
		 * allows only one load in flight. */
		hp->loaded = false;
		host_bus(h)->pio_load(hp->bus, d->index, space, off, n);
		while (!hp->loaded)
			host_block(h, HOST_BRIDGE);
		memcpy(data, hp->load_data, n);
		h->load_error = hp->load_error;
		host_gate_leave(h);
	}
	weft_count(hp->comp, HOST_C_LOADS, 1);
	host_pass(h, hp->p.cost_load);
}

/* ---- write combining ---- */

/* Flushes the line in the fewest ascending bursts of neighbouring dwords. */
static void line_flush(struct weft_host *h, struct host_line *slot)
{
	struct host_line l = *slot;
	uint32_t from, to;

	slot->dev = NULL;
	for (from = 0; from < HOST_LINE / 4; from = to + 1) {
		for (to = from; to < HOST_LINE / 4 && l.mask >> to & 1; to++)
			;
		if (to == from)
			continue;
		io_store(h, l.dev, (uint8_t)(1 + l.bar), l.base + 4 * from,
			 l.data + 4 * from, 4 * (to - from));
		weft_count(h->hp->comp, HOST_C_BURSTS, 1);
	}
}

/* Returns the buffer for a dword: the buffer that holds the dword's line, a
 * free buffer, or the oldest buffer, which is flushed first. */
static struct host_line *line_of(struct weft_host *h,
				 const struct host_place *pl, uint64_t base)
{
	struct host_line *l, *empty = NULL, *oldest = NULL;

	for (l = h->line; l < h->line + h->hp->p.wc_lines; l++) {
		if (!l->dev)
			empty = empty ? empty : l;
		else if (l->dev == pl->dev && l->bar == pl->bar &&
			 l->base == base)
			return l;
		else if (!oldest || l->age < oldest->age)
			oldest = l;
	}
	if (!empty) {
		line_flush(h, oldest);
		empty = oldest;
	}
	empty->dev = pl->dev;
	empty->bar = pl->bar;
	empty->base = base;
	empty->mask = 0;
	empty->age = ++h->age;
	return empty;
}

void weft_io_fence(struct weft_host *h)
{
	struct host_line *l, *oldest;

	do {
		oldest = NULL;
		for (l = h->line; l < h->line + h->hp->p.wc_lines; l++)
			if (l->dev && (!oldest || l->age < oldest->age))
				oldest = l;
		if (oldest)
			line_flush(h, oldest);
	} while (oldest);
}

/* ---- windows ---- */

bool host_fits(struct weft_host *h, const struct weft_io *io, uint64_t off,
	       uint64_t n, uint64_t align)
{
	if (off <= io->len && n <= io->len - off &&
	    (io->off + off) % align == 0)
		return true;
	weft_check_failed(
		h->prog,
		"access of %llu bytes at %llu: outside of its window of %llu bytes, or not aligned",
		(unsigned long long)n, (unsigned long long)off,
		(unsigned long long)io->len);
	return false;
}

bool host_place(struct weft_host *h, const struct weft_io *io, uint64_t off,
		struct host_place *pl)
{
	if (h->proc)
		return host_translate(h, io->off + off, pl);
	if (!host_reaches(h, io->dev, io->bar)) {
		weft_count(h->hp->comp, HOST_C_FAULTS, 1);
		return false;
	}
	*pl = (struct host_place){ .dev = io->dev,
				   .off = io->off + off,
				   .bar = io->bar,
				   .attr = io->attr };
	return true;
}

static void window_store(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, const void *data, uint32_t n)
{
	struct host *hp = h->hp;
	struct host_place pl;

	weft_count(hp->comp, HOST_C_STORES, 1);
	if (!host_place(h, io, off, &pl))
		return;
	if (pl.attr != WEFT_WC) {
		h->debt += hp->p.cost_store;
		io_store(h, pl.dev, (uint8_t)(1 + pl.bar), pl.off, data, n);
		return;
	}
	h->debt += hp->p.cost_wc;
	for (uint32_t i = 0; i < n; i += 4) {
		uint64_t base = (pl.off + i) & ~(uint64_t)(HOST_LINE - 1);
		uint32_t word = (pl.off + i) % HOST_LINE / 4;
		struct host_line *l = line_of(h, &pl, base);

		memcpy(l->data + 4 * word, (const uint8_t *)data + i, 4);
		l->mask |= (uint16_t)(1u << word);
		if (l->mask == UINT16_MAX)
			line_flush(h, l);
	}
}

static void window_load(struct weft_host *h, const struct weft_io *io,
			uint64_t off, void *data, uint32_t n)
{
	struct host_place pl;

	if (host_fits(h, io, off, n, n) && host_place(h, io, off, &pl))
		io_load(h, pl.dev, (uint8_t)(1 + pl.bar), pl.off, data, n);
}

bool weft_io_error(const struct weft_host *h)
{
	return h->load_error;
}

uint32_t weft_io_load32(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	uint32_t val = UINT32_MAX;

	window_load(h, io, off, &val, sizeof(val));
	return val;
}

uint64_t weft_io_load64(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	uint64_t val = UINT64_MAX;

	window_load(h, io, off, &val, sizeof(val));
	return val;
}

void weft_io_store32(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint32_t val)
{
	if (host_fits(h, io, off, sizeof(val), 4))
		window_store(h, io, off, &val, sizeof(val));
}

void weft_io_store64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t val)
{
	if (host_fits(h, io, off, sizeof(val), 8))
		window_store(h, io, off, &val, sizeof(val));
}

void weft_io_copy(struct weft_host *h, const struct weft_io *io, uint64_t off,
		  const void *src, size_t n)
{
	const char *p = src;

	if (!host_fits(h, io, off, n, 4) || !host_fits(h, io, off + n, 0, 4))
		return;
	while (n) {
		uint32_t step = n >= 8 && (io->off + off) % 8 == 0 ? 8 : 4;

		window_store(h, io, off, p, step);
		p += step;
		off += step;
		n -= step;
	}
}

/* ---- devices ---- */

struct weft_dev *weft_dev_open(struct weft_host *h, uint32_t i)
{
	if (!h->hp->bus->peer || !host_bus(h)->present(h->hp->bus, i))
		return NULL;
	return host_dev(h->hp, i);
}

static bool cfg_legal(struct weft_host *h, uint32_t off, uint32_t size)
{
	if (h->proc)
		return host_refuse(h);
	if ((size == 1 || size == 2 || size == 4) && off % size == 0)
		return true;
	weft_check_failed(
		h->prog,
		"configuration access of %u bytes at 0x%x: 1, 2 or 4 bytes, aligned, are possible",
		size, off);
	return false;
}

uint32_t weft_cfg_load(struct weft_host *h, struct weft_dev *d, uint32_t off,
		       uint32_t size)
{
	uint32_t val = 0;

	if (!cfg_legal(h, off, size))
		return UINT32_MAX;
	io_load(h, d, 0, off, &val, size);
	return val;
}

/* Configuration stores are not posted: the thread continues when the device has
 * received the store. A process is refused, because configuration belongs to
 * the kernel. */
void weft_cfg_store(struct weft_host *h, struct weft_dev *d, uint32_t off,
		    uint32_t size, uint32_t val)
{
	struct host *hp = h->hp;
	uint64_t mine;

	if (h->proc && !h->proc->kernel) {
		host_refuse(h);
		return;
	}
	if (!cfg_legal(h, off, size))
		return;
	h->debt += hp->p.cost_store;
	host_gate_enter(h);
	gate_store(h, d, 0, off, &val, size);
	mine = hp->stores_in;
	while (hp->stores_out < mine)
		host_block(h, HOST_BRIDGE);
	host_gate_leave(h);
}

/* Determines the size of a BAR as PCI firmware does, and assigns an address. */
static uint64_t bar_probe(struct weft_host *h, struct weft_dev *d, uint8_t bar)
{
	uint32_t reg = CFG_BAR0 + 4u * bar, lo, hi = UINT32_MAX;
	uint32_t old = weft_cfg_load(h, d, reg, 4);
	uint64_t size;
	bool wide;

	weft_cfg_store(h, d, reg, 4, UINT32_MAX);
	lo = weft_cfg_load(h, d, reg, 4);
	if (!lo || lo == UINT32_MAX || lo & BAR_IO) {
		weft_cfg_store(h, d, reg, 4, old);
		return 0;
	}
	wide = (lo & BAR_TYPE) == BAR_TYPE64 && bar + 1 < HOST_BARS;
	if (wide) {
		weft_cfg_store(h, d, reg + 4, 4, UINT32_MAX);
		hi = weft_cfg_load(h, d, reg + 4, 4);
	}
	size = ~((uint64_t)hi << 32 | (lo & ~15u)) + 1;
	h->hp->bar_next = (h->hp->bar_next + size - 1) & ~(size - 1);
	weft_cfg_store(h, d, reg, 4, (uint32_t)h->hp->bar_next);
	if (wide)
		weft_cfg_store(h, d, reg + 4, 4,
			       (uint32_t)(h->hp->bar_next >> 32));
	h->hp->bar_next += size;
	return size;
}

uint64_t host_bar_size(struct weft_host *h, struct weft_dev *d, uint8_t bar)
{
	if (bar >= HOST_BARS)
		return 0;
	while (d->probing) { /* another thread sizes it */
		host_wake(h, weft_now(h->hp->comp) + h->hp->p.poll_period);
		host_block(h, HOST_DEVICE);
	}
	if (!d->bar[bar].known) {
		d->probing = true;
		d->bar[bar].size = bar_probe(h, d, bar);
		d->bar[bar].known = true;
		d->probing = false;
	}
	return d->bar[bar].size;
}

bool weft_io_map(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		 uint64_t off, uint64_t len, enum weft_io_attr attr,
		 struct weft_io *io_p)
{
	uint64_t size;

	if (!host_reaches(h, d, bar))
		return host_refuse(h);
	if (h->proc) /* the thread is kernel of a domain */
		return weft_proc_map(h, h->proc, d, bar, off, len, attr, io_p);
	size = host_bar_size(h, d, bar);
	if (bar >= HOST_BARS || off > size || len > size - off)
		return false;
	*io_p = (struct weft_io){
		.dev = d, .off = off, .len = len, .bar = bar, .attr = attr
	};
	return true;
}

/* ---- memory ---- */

void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p)
{
	return mem_alloc_for(&h->hp->mem, bytes, align, host_owner(h), phys_p);
}

void weft_mem_free(struct weft_host *h, void *p)
{
	const void *me = host_owner(h);
	const void *owner = p ? mem_owner(&h->hp->mem, p) : NULL;

	if (me != MEM_KERNEL && owner == MEM_KERNEL)
		weft_check_failed(h->prog, "frees memory of a driver");
	else if (h->proc && !h->proc->kernel && owner && owner != me)
		weft_check_failed(h->prog, "frees memory of another process");
	else if (!mem_free(&h->hp->mem, p))
		weft_check_failed(h->prog, "frees memory it never allocated");
}

bool weft_mem_phys(struct weft_host *h, const void *p, weft_phys_t *phys_p)
{
	return mem_phys(&h->hp->mem, p, phys_p);
}

void *weft_mem_at(struct weft_host *h, weft_phys_t phys, size_t n)
{
	return mem_at(&h->hp->mem, phys, n);
}

void weft_mem_give(struct weft_host *h, weft_phys_t phys)
{
	if (h->proc)
		host_refuse(h);
	else
		mem_own(&h->hp->mem, phys, h->owner);
}

bool weft_mem_hold(struct weft_host *h, weft_phys_t phys, size_t len)
{
	if (h->proc)
		return host_refuse(h);
	return mem_hold(&h->hp->mem, phys, len, h->owner);
}

bool weft_mem_release(struct weft_host *h, weft_phys_t phys)
{
	if (h->proc)
		return host_refuse(h);
	return mem_release(&h->hp->mem, phys);
}

bool weft_mem_pin(struct weft_host *h, const void *p, size_t len,
		  weft_phys_t *phys)
{
	if (!mem_pin(&h->hp->mem, p, len, phys))
		return false;
	for (size_t i = 0; i < mem_pages((uintptr_t)p, len); i++)
		mem_own(&h->hp->mem, phys[i], h->owner);
	return true;
}

void weft_mem_unpin(struct weft_host *h, const void *p, size_t len)
{
	mem_unpin(&h->hp->mem, p, len);
}
