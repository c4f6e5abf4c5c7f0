/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged accesses: the part of weft/host.h that Host Port specification 10.1
 * adds. The tag of a process is in a register that only the monitor writes. A
 * thread outside any process has tag 0. */
#include <string.h>

#include "host/host_internal.h"

bool weft_io_can_tag(struct weft_host *h, struct weft_dev *d)
{
	return h->hp->bus->peer && host_bus(h)->pio_tagged;
}

/* Finds the target of a tagged access. Returns false if there is none. */
static bool tagged_place(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, struct weft_bus_tagged *t, uint32_t *dev)
{
	uint64_t align = t->op == WEFT_TLOAD ? 8 : 4;
	struct host_place pl;

	if (!host_fits(h, io, off, t->bytes, align))
		return false;
	if (!t->bytes || t->bytes % 4 ||
	    (io->off + off) % HOST_LINE + t->bytes > HOST_LINE) {
		weft_check_failed(
			h->prog,
			"tagged access of %u bytes: 4..64, a multiple of 4, inside of a line are possible",
			t->bytes);
		return false;
	}
	if (!weft_io_can_tag(h, io->dev) || !host_place(h, io, off, &pl))
		return false;
	t->space = (uint8_t)(1 + pl.bar);
	t->off = pl.off;
	if (!t->user)
		t->tag = h->proc ? h->proc->tag : 0;
	*dev = pl.dev->index;
	return true;
}

/* Runs a tagged access. A load or conditional store waits for its answer. */
static bool tagged_run(struct weft_host *h, const struct weft_io *io,
		       uint64_t off, struct weft_bus_tagged *t, void *data)
{
	struct host *hp = h->hp;
	bool store = t->op == WEFT_TSTORE, stalled = false;
	uint32_t dev;

	if (!tagged_place(h, io, off, t, &dev))
		return false;
	weft_count(hp->comp, HOST_C_TAGGED, 1);
	h->debt += store ? hp->p.cost_store : 0;
	weft_io_fence(h);
	host_gate_enter(h);
	hp->loaded = hp->load_status = false;
	while (!host_bus(h)->pio_tagged(hp->bus, dev, t)) {
		weft_count(hp->comp, HOST_C_STALL, !stalled);
		stalled = true;
		host_block(h, HOST_BRIDGE);
	}
	hp->stores_in += store;
	while (!store && !hp->loaded)
		host_block(h, HOST_BRIDGE);
	if (data)
		memcpy(data, hp->load_data, t->bytes);
	stalled = hp->load_status;
	host_gate_leave(h);
	if (!store)
		host_pass(h, hp->p.cost_load);
	return stalled;
}

void weft_io_tstore(struct weft_host *h, const struct weft_io *io, uint64_t off,
		    const void *data, uint32_t n)
{
	struct weft_bus_tagged t = { .op = WEFT_TSTORE,
				     .bytes = n,
				     .data = data };

	tagged_run(h, io, off, &t, NULL);
}

void weft_io_tstore_user(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, const void *data, uint32_t n,
			 uint16_t tag)
{
	struct weft_bus_tagged t = { .op = WEFT_TSTORE,
				     .user = true,
				     .tag = tag,
				     .bytes = n,
				     .data = data };

	tagged_run(h, io, off, &t, NULL);
}

bool weft_io_tload64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t *val_p)
{
	struct weft_bus_tagged t = { .op = WEFT_TLOAD, .bytes = 8 };

	*val_p = UINT64_MAX;
	return tagged_run(h, io, off, &t, val_p);
}

bool weft_io_tload64_user(struct weft_host *h, const struct weft_io *io,
			  uint64_t off, uint16_t tag, uint64_t *val_p)
{
	struct weft_bus_tagged t = {
		.op = WEFT_TLOAD, .user = true, .tag = tag, .bytes = 8
	};

	*val_p = UINT64_MAX;
	return tagged_run(h, io, off, &t, val_p);
}

bool weft_io_tcstore(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, const void *data, uint32_t n, uint64_t cond)
{
	struct weft_bus_tagged t = {
		.op = WEFT_TCSTORE, .bytes = n, .data = data, .cond = cond
	};

	return tagged_run(h, io, off, &t, NULL);
}
