/* SPDX-License-Identifier: Apache-2.0 */
/* A node on a bench: see node.h. */
#include "node.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"

extern const struct weft_class weft_class_bus_pcix, weft_class_bus_ht;
extern const struct weft_class weft_class_host_pc;

/* ---- the card ---- */

enum { CARD_EV_DMA };

static const struct weft_port_decl card_ports[] = {
	{ "bus", WEFT_PORT_BUS, NULL, NULL, false, "slot" }, { 0 }
};

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

/* Sets vendor and device. The BARs are 0 until the host sets them. */
static int card_init(struct weft_comp *c, struct weft_err *err)
{
	struct card *d = c->state;

	d->port = &c->ports[0];
	put32(d->cfg, 0x12345678);
	return 0;
}

static uint8_t *card_at(struct card *d, uint8_t space, uint64_t off)
{
	return space ? &d->bar[space - 1][off] : &d->cfg[off];
}

static void card_store_bytes(struct card *d, const struct weft_bus_note *b)
{
	memcpy(card_at(d, b->space, b->off), b->data, b->bytes);
	if (b->space)
		return;
	/* The BARs at 0x10 and 0x14 have 32 KB, so that only the upper address
	 * bits are writable. The BAR at 0x18 has 64 bits and 8 GiB. */
	for (uint32_t bar = 0; bar < 2; bar++) {
		uint8_t *p = &d->cfg[0x10 + 4 * bar];

		p[0] = 0;
		p[1] &= 0x80;
	}
	put32(&d->cfg[0x18], 4); /* type: 64 bits */
	d->cfg[0x1c] &= 0xfe;
	memset(&d->cfg[0x20], 0, 0x10);
}

static void card_stored(struct weft_comp *c, const struct weft_bus_note *b)
{
	struct card *d = c->state;
	const uint8_t *r = d->bar[1];

	assert(d->n_stores < STORES);
	d->store[d->n_stores++] =
		(struct card_store){ b->time, b->space, b->off, b->bytes };
	card_store_bytes(d, b);
	if (b->space == 2 && b->off == CARD_DMA)
		weft_wake(c, CARD_EV_DMA,
			  weft_now(c) + get64(r + CARD_DELAY) * PC);
	if (b->space == 2 && b->off == CARD_IRQ)
		weft_bus_of(d->port)->irq(d->port, b->data[0] & 1);
}

static void card_event(struct weft_comp *c, uint32_t tag)
{
	struct card *d = c->state;

	d->txn = (struct weft_bus_txn){ .op = WEFT_BUS_WRITE,
					.addr = get64(d->bar[1] + CARD_DMA),
					.bytes = 8,
					.data = weft_slice_new(c->sim, 8) };
	memcpy(weft_slice_data(d->txn.data), d->bar[1] + CARD_VALUE, 8);
	weft_bus_of(d->port)->submit(d->port, &d->txn);
}

static void card_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	struct card *d = c->state;
	struct weft_bus_note b;

	while (weft_bus_next(&c->ports[port], &b)) {
		if (b.kind == WEFT_NOTE_STORE)
			card_stored(c, &b);
		if (b.kind == WEFT_NOTE_LOAD)
			weft_bus_of(d->port)->reply(
				d->port, card_at(d, b.space, b.off), b.bytes);
		if (b.kind == WEFT_NOTE_DONE) {
			d->t_dma = b.time;
			weft_slice_drop(&b.txn->data);
		}
	}
}

static WEFT_COMPONENT(card, .name = "test.card", .kind = WEFT_KIND_NIC,
		      .doc = "simple card", .state_size = sizeof(struct card),
		      .ports = card_ports,
		      .ops = { .init = card_init,
			       .arrive = card_arrive,
			       .event = card_event });

/* ---- programs ---- */

struct prog {
	node_fn fn;
	struct bench *bench;
};

static int prog_main(struct weft_comp *c)
{
	struct prog *p = c->state;

	return p->fn(weft_prog_host(c), p->bench);
}

static WEFT_COMPONENT(prog, .name = "test.prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test function", .state_size = sizeof(struct prog),
		      .ops = { .main = prog_main });

/* ---- the bench ---- */

static struct weft_comp *bench_add(struct bench *b,
				   const struct weft_class *cls, uint32_t node,
				   const char *what)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[32];

	snprintf(name, sizeof(name), "n%u.%s", node, what);
	c = weft_sim_add(b->sim, cls, name, &err);
	assert(c);
	return c;
}

struct bench *bench_make(uint32_t nodes, const struct weft_class *bus,
			 const struct weft_class *dev)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert(b && nodes <= NODES);
	b->sim = weft_sim_new(1);
	b->nodes = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		struct node *n = &b->node[i];

		n->host = bench_add(b, &weft_class_host_pc, i, "host");
		n->bus = bench_add(b, bus, i, "bus");
		n->dev = bench_add(b, dev, i, "nic");
		n->card = n->dev->state;
	}
	return b;
}

struct bench *bench_new(uint32_t nodes)
{
	return bench_make(nodes, &weft_class_bus_pcix, &weft_class_card);
}

struct bench *bench_new_ht(uint32_t nodes)
{
	struct bench *b =
		bench_make(nodes, &weft_class_bus_ht, &weft_class_card);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < nodes; i++)
		if (weft_preset_apply(b->node[i].host, "opteron", &err))
			abort();
	return b;
}

void bench_free(struct bench *b)
{
	weft_sim_free(b->sim);
	free(b->ear);
	free(b);
}

void bench_set(struct bench *b, const char *of, const char *param,
	       const char *value)
{
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < weft_sim_count(b->sim); i++) {
		struct weft_comp *c = weft_sim_at(b->sim, i);

		if ((!strcmp(c->cls->name, of) || !strcmp(c->name, of)) &&
		    weft_param_set(c, param, value, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			abort();
		}
	}
}

void bench_prog(struct bench *b, uint32_t node, node_fn fn)
{
	struct node *n = &b->node[node];
	struct prog *p;
	char name[32];

	assert(n->progs < PROGS);
	snprintf(name, sizeof(name), "prog%u", n->progs);
	n->prog[n->progs] = bench_add(b, &weft_class_prog, node, name);
	p = n->prog[n->progs++]->state;
	p->fn = fn;
	p->bench = b;
}

static void must(int ret, const struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "%s\n", err->msg);
	abort();
}

void bench_start(struct bench *b)
{
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < weft_sim_count(b->sim); i++)
		must(weft_comp_init(weft_sim_at(b->sim, i), &err), &err);
	for (uint32_t i = 0; i < b->nodes; i++) {
		struct node *n = &b->node[i];

		must(weft_connect(&n->bus->ports[0], &n->host->ports[0], NULL,
				  0, &err),
		     &err);
		must(weft_connect(&n->bus->ports[1], &n->dev->ports[0], NULL, 0,
				  &err),
		     &err);
		for (uint32_t k = 0; k < n->progs; k++)
			must(weft_prog_attach(n->host, n->prog[k]), &err);
	}
	if (b->join)
		b->join(b);
	must(weft_sim_start(b->sim, &err), &err);
}

void bench_run(struct bench *b)
{
	struct weft_err err = { 0 };

	weft_sim_run(b->sim, WEFT_NEVER);
	must(weft_sim_finish(b->sim, &err), &err);
	for (uint32_t i = 0; i < b->nodes; i++)
		if (weft_prog_strays(b->node[i].host)) {
			fprintf(stderr,
				"node %u: a device has reached pages "
				"that are not pinned\n",
				i);
			abort();
		}
}

void bench_main(struct bench *b, node_fn fn)
{
	bench_prog(b, 0, fn);
	bench_start(b);
	bench_run(b);
}

void bench_well(struct bench *b, node_fn fn)
{
	bench_main(b, fn);
	if (*bench_failure(b, 0) || weft_progs_running(b->sim)) {
		fprintf(stderr, "%s\n", bench_failure(b, 0));
		abort();
	}
}

int bench_teardown(void **state)
{
	bench_free(*state);
	return 0;
}

const char *bench_failure(const struct bench *b, size_t i)
{
	const struct weft_result *r = weft_sim_result(b->sim);

	return i < r->n_failures ? r->failures[i] : "";
}

uint64_t bench_counter(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	abort();
}
