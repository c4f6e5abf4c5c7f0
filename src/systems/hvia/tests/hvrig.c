/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE on a bench: see hvrig.h. */
#include "hvrig.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "systems/ethernet/link/wire.h"
#include "weft/trace.h"

extern const struct weft_class weft_class_bus_pci, weft_class_hvia_nic,
	weft_class_eth_cable;

static void join(struct bench *b)
{
	struct weft_comp *cable = weft_sim_find(b->sim, "cable");
	struct weft_err err = { 0 };

	if (weft_connect(&b->node[0].dev->ports[1], &b->node[1].dev->ports[1],
			 cable, 0, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

struct bench *hvrig_bench(void)
{
	struct bench *b =
		bench_make(2, &weft_class_bus_pci, &weft_class_hvia_nic);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < 2; i++)
		if (weft_preset_apply(b->node[i].bus, "pci64-66", &err))
			abort();
	if (!weft_sim_add(b->sim, &weft_class_eth_cable, "cable", &err))
		abort();
	b->join = join;
	return b;
}

/* ---- registers ---- */

uint64_t hvrig_load(struct hvrig *r, uint64_t off)
{
	return weft_io_load64(r->h, &r->ctl, off);
}

void hvrig_store(struct hvrig *r, uint64_t off, uint64_t val)
{
	weft_io_store64(r->h, &r->ctl, off, val);
}

static void table_in_host(struct hvrig *r)
{
	weft_phys_t l1, l2;

	r->host_l1 = weft_mem_alloc(r->h, (HVRIG_FIRST + 64) * HVIA_L1_BYTES,
				    64, &l1);
	r->host_l2 = weft_mem_alloc(r->h, 4096 * HVIA_L2_BYTES, 64, &l2);
	hvrig_store(r, HVIA_ATT_HOST_L1, l1);
	hvrig_store(r, HVIA_ATT_HOST_L2, l2);
}

void hvrig_open(struct hvrig *r, struct weft_host *h)
{
	memset(r, 0, sizeof(*r));
	r->handles = HVRIG_FIRST;
	r->h = h;
	r->dev = weft_dev_open(h, 0);
	weft_cfg_store(h, r->dev, HVIA_CFG_COMMAND, 2,
		       HVIA_CMD_MEMORY | HVIA_CMD_MASTER);
	if (!weft_io_map(h, r->dev, HVIA_BAR_DOORBELL, 0,
			 HVIA_BAR_DOORBELL_BYTES, WEFT_UC, &r->db) ||
	    !weft_io_map(h, r->dev, HVIA_BAR_CTRL, 0, HVIA_BAR_CTRL_BYTES,
			 WEFT_UC, &r->ctl))
		abort();
	if (hvrig_load(r, HVIA_CTRL) & HVIA_CTRL_ATT_HOST)
		table_in_host(r);
	r->desc = hvrig_mem(r, HVRIG_DESCS * sizeof(*r->desc), 0,
			    &r->desc_handle);
	hvrig_store(r, HVIA_CTRL,
		    hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_ENABLE |
			    HVIA_CTRL_IRQ);
}

/* ---- memory ---- */

static void store_l2(struct hvrig *r, uint32_t page)
{
	if (r->host_l2)
		r->host_l2[r->l2] = page;
	else
		hvrig_store(r, HVIA_ATT_L2, (uint64_t)r->l2 << 32 | page);
}

static void store_l1(struct hvrig *r, const struct hvia_l1 *e)
{
	uint64_t w[3];

	if (r->host_l1) {
		r->host_l1[r->handles] = *e;
		return;
	}
	memcpy(w, e, sizeof(w));
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(r->handles));
	for (uint32_t i = 0; i < 3; i++)
		hvrig_store(r, HVIA_ATT_DATA, w[i]);
}

uint32_t hvrig_region(struct hvrig *r, uint64_t va, uint32_t len,
		      const weft_phys_t *page, uint32_t ptag, uint32_t rights)
{
	uint32_t first = HVIA_PAGE - va % HVIA_PAGE;
	struct hvia_l1 e = { .va = va, .l2 = r->l2, .length = len };

	e.pages =
		(uint32_t)((va % HVIA_PAGE + len + HVIA_PAGE - 1) / HVIA_PAGE);
	e.first = (uint16_t)(first < len ? first : HVIA_PAGE - va % HVIA_PAGE);
	e.attr = HVIA_ATT_ATTR(ptag, rights);
	for (uint32_t i = 0; i < e.pages; i++, r->l2++)
		store_l2(r, (uint32_t)page[i]);
	store_l1(r, &e);
	hvrig_store(r, HVIA_ATT_L1_COUNT, r->handles + 1);
	return r->handles++;
}

void *hvrig_mem(struct hvrig *r, uint32_t len, uint32_t rights,
		uint32_t *handle_p)
{
	weft_phys_t phys, *page;
	void *p = weft_mem_alloc(r->h, len, HVIA_PAGE, &phys);
	uint32_t n = (len + HVIA_PAGE - 1) / HVIA_PAGE;

	assert(p);
	page = malloc(n * sizeof(*page));
	for (uint32_t i = 0; i < n; i++)
		page[i] = phys + (weft_phys_t)i * HVIA_PAGE;
	*handle_p =
		hvrig_region(r, (uintptr_t)p, len, page, HVRIG_PTAG, rights);
	free(page);
	return p;
}

/* Clears the pages field, which is in the second quadword of the entry. */
void hvrig_unmap(struct hvrig *r, uint32_t handle)
{
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(handle) + 8);
	hvrig_store(r, HVIA_ATT_DATA, 0);
	hvrig_store(r, HVIA_ATT_BUSY, handle);
}

/* ---- VIs ---- */

void hvrig_vi_state(struct hvrig *r, uint32_t vi, uint32_t peer,
		    enum hvia_vi_state state, uint32_t flags)
{
	uint8_t mac[6];

	eth_addr_of(mac, !weft_host_node(r->h));
	hvrig_store(r, hvia_vi_entry(vi, HVIA_VI_1), hvia_vi_1(mac, 0, 0));
	hvrig_store(r, hvia_vi_entry(vi, HVIA_VI_2), 1 << 20);
	hvrig_store(r, hvia_vi_entry(vi, HVIA_VI_0),
		    hvia_vi_0(state, flags, HVRIG_PTAG, peer, mac));
}

void hvrig_vi(struct hvrig *r, uint32_t vi, uint32_t peer, uint32_t flags)
{
	hvrig_vi_state(r, vi, peer, HVIA_VI_CONNECTED, flags);
}

/* ---- descriptors ---- */

struct hvrig_desc *hvrig_desc(struct hvrig *r, uint32_t i, uint32_t control)
{
	struct hvrig_desc *d = &r->desc[i];

	memset(d, 0, sizeof(*d));
	d->d.control = (uint16_t)control;
	return d;
}

void hvrig_seg(struct hvrig_desc *d, const void *p, uint32_t handle,
	       uint32_t len)
{
	d->seg[d->d.seg_count++] =
		(struct hvia_seg){ (uintptr_t)p, handle, len };
	d->d.length += len;
}

void hvrig_remote(struct hvrig_desc *d, uint64_t va, uint32_t handle)
{
	d->seg[d->d.seg_count++] = (struct hvia_seg){ va, handle, 0 };
}

void hvrig_post(struct hvrig *r, uint32_t vi, uint32_t q, struct hvrig_desc *d)
{
	struct hvrig_q *p = &r->q[vi][q];

	d->d.next = d->d.next_handle = 0;
	d->d.status = 0;
	if (p->tail && p->tail != d) {
		p->tail->d.next_handle = r->desc_handle;
		p->tail->d.next = (uintptr_t)d;
	}
	p->tail = d;
	weft_io_store64(
		r->h, &r->db, hvia_doorbell(vi, q),
		hvia_token(r->desc_handle,
			   (uint32_t)((uint8_t *)d - (uint8_t *)r->desc)));
}

uint32_t hvrig_wait(struct hvrig *r, struct hvrig_desc *d)
{
	volatile uint64_t *w = (volatile uint64_t *)&d->d.length;
	weft_time_t end = weft_host_now(r->h) + 20 * WEFT_MS;
	uint64_t old;

	while (!((old = *w) >> 32 & HVIA_ST_DONE))
		if (!weft_host_poll64(r->h, w, old, end))
			return 0;
	return (uint32_t)(old >> 32);
}

uint64_t hvrig_error(struct hvrig *r)
{
	return hvrig_load(r, HVIA_ERR_POP);
}

/* ---- trace of the cards ---- */

enum { TOLD = 4096 }; /* largest number of messages and packets together */

struct ear {
	struct weft_listener listener;
	struct {
		uint64_t id;
		uint32_t seq; /* sequence number of a packet */
		/* time of a message's doorbell, or 0 after it was reported */
		weft_time_t bell;
	} told[TOLD];
	uint32_t n, packets[2];
};

static uint32_t told(const struct ear *e, uint64_t id)
{
	for (uint32_t i = e->n; i--;)
		if (e->told[i].id == id)
			return i;
	abort();
}

static void note(const struct weft_trace *t, const char *what, uint32_t seq,
		 weft_time_t at)
{
	weft_series_add((struct weft_comp *)t->comp, what, "packet", "ns", seq,
			(double)at / (double)WEFT_NS);
}

/* Records the start of a message or of a packet. */
static void opened(struct ear *e, const struct weft_trace *t)
{
	uint32_t node = t->comp->name[1] - '0', of;

	assert(e->n < TOLD && node < 2);
	e->told[e->n].id = t->id;
	if (t->value) {
		of = told(e, t->value);
		e->told[e->n].seq = e->packets[node]++;
		if (e->told[of].bell)
			note(t, "doorbell", e->told[e->n].seq,
			     e->told[of].bell);
		e->told[of].bell = 0;
	}
	e->n++;
}

static void hear(struct weft_listener *l, const struct weft_trace *t)
{
	static const char *const name[][2] = {
		{ "waits for the MAC", "txd" },
		{ "poll", "poll" },
		{ "visible, bookkeeping", "data" },
		{ "completion visible", "done" },
	};
	struct ear *e = (struct ear *)l;

	if (t->kind == WEFT_TRACE_OPEN)
		opened(e, t);
	if (t->kind != WEFT_TRACE_MARK)
		return;
	if (!strcmp(t->name, "access on the bus"))
		e->told[told(e, t->id)].bell = t->to;
	for (uint32_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (!strcmp(t->name, name[i][0]))
			note(t, name[i][1], e->told[told(e, t->id)].seq, t->to);
}

void hvrig_listen(struct bench *b)
{
	struct ear *e = calloc(1, sizeof(*e));

	assert(e);
	e->listener.hear = hear;
	b->ear = &e->listener;
	weft_sim_listen(b->sim, b->ear);
}

double hvrig_stage(struct bench *b, uint32_t node, const char *name, double x)
{
	const struct weft_result *res = weft_sim_result(b->sim);
	char full[64];

	snprintf(full, sizeof(full), "n%u.nic.%s", node, name);
	for (size_t i = 0; i < res->n_series; i++)
		for (size_t k = 0; k < res->series[i].n; k++)
			if (!strcmp(res->series[i].name, full) &&
			    res->series[i].x[k] == x)
				return res->series[i].y[k];
	fprintf(stderr, "no %s at %g\n", full, x);
	abort();
}
