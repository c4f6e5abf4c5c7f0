/* SPDX-License-Identifier: Apache-2.0 */
/* A device of many pages: see pages.h. */
#include "pages.h"

#include <string.h>

static const struct weft_port_decl ports[] = {
	{ "bus", WEFT_PORT_BUS, NULL, NULL, false, "slot" }, { 0 }
};

static int pages_start(struct weft_comp *c, struct weft_err *err)
{
	struct pages *d = c->state;

	d->port = &c->ports[0];
	weft_bus_takes_tagged(d->port);
	return 0;
}

static void dma_next(struct weft_comp *c)
{
	struct pages *d = c->state;
	uint32_t i = d->dma_head % PAGES;

	if (d->dma_busy || d->dma_head == d->dma_tail)
		return;
	d->dma_head++;
	d->dma_busy = true;
	d->txn = (struct weft_bus_txn){ .op = WEFT_BUS_WRITE,
					.addr = d->dma[i].addr,
					.bytes = 8,
					.data = weft_slice_new(c->sim, 8) };
	memcpy(weft_slice_data(d->txn.data), &d->dma[i].page, 8);
	weft_bus_of(d->port)->submit(d->port, &d->txn);
}

static void pages_event(struct weft_comp *c, uint32_t tag)
{
	struct pages *d = c->state;

	d->dma_tail += tag;
	dma_next(c);
}

static void load(struct pages *d, const struct weft_bus_note *b)
{
	uint64_t page = b->off / 4096, v = 0;

	if (b->space) {
		v = page << 32 | ++d->loads[page];
		d->n_loads++;
		d->t = b->time;
		d->last_off = b->off;
	} else if (b->off == 0x10) {
		v = d->bar & 0xf0000000;
	} else if (b->off == 0) {
		v = 0x12345678;
	}
	weft_bus_of(d->port)->reply(d->port, &v, b->bytes);
}

static void store(struct weft_comp *c, const struct weft_bus_note *b)
{
	struct pages *d = c->state;
	uint32_t i = (uint32_t)d->n_stores % PAGES;

	if (!b->space) {
		if (b->off == 0x10)
			memcpy(&d->bar, b->data, 4);
		return;
	}
	d->t = b->time;
	d->last_off = b->off;
	d->last_bytes = b->bytes;
	d->n_stores++;
	if (b->off % 4096 != PAGES_DMA)
		return;
	memcpy(&d->dma[i].addr, b->data, 8);
	d->dma[i].page = b->off / 4096;
	weft_wake(c, 1, weft_now(c) + PAGES_DELAY);
}

static void tagged(struct pages *d, const struct weft_bus_note *b)
{
	const struct weft_bus_ops *bus = weft_bus_of(d->port);
	uint64_t v = b->tag;
	bool room = d->n_queue < PAGES_QUEUE;

	d->n_tagged++;
	d->tag = b->tag;
	d->user = b->user;
	d->t = b->time;
	d->last_off = b->off;
	d->last_bytes = b->bytes;
	if (b->op == WEFT_TLOAD)
		bus->tagged_reply(d->port, &v, 8, d->n_queue != 0);
	if (b->op != WEFT_TCSTORE)
		return;
	if (room)
		memcpy(&d->queue[d->n_queue++], b->data, 8);
	bus->tagged_reply(d->port, NULL, 0, room);
}

static void pages_arrive(struct weft_comp *c, uint32_t port,
			 struct weft_frame *f)
{
	struct pages *d = c->state;
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b)) {
		if (b.kind == WEFT_NOTE_LOAD)
			load(d, &b);
		if (b.kind == WEFT_NOTE_STORE)
			store(c, &b);
		if (b.kind == WEFT_NOTE_TAGGED)
			tagged(d, &b);
		if (b.kind != WEFT_NOTE_DONE)
			continue;
		weft_slice_drop(&b.txn->data);
		d->dma_busy = false;
		weft_wake(c, 0, weft_now(c));
	}
}

WEFT_COMPONENT(pages, .name = "test.pages", .kind = WEFT_KIND_NIC,
	       .doc = "device of many pages",
	       .state_size = sizeof(struct pages), .ports = ports,
	       .ops = { .start = pages_start,
			.arrive = pages_arrive,
			.event = pages_event });
