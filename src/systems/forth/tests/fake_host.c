/* SPDX-License-Identifier: Apache-2.0 */
/* A host and a toy NIC for tests of the user library. */
#include "fake_host.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "host/times.h"
#include "systems/hvia/lib/agent.h"

static struct weft_host *fake_first;

/* ---- the toy NIC ---- */

static void *fake_at(struct weft_host *h, weft_phys_t phys, size_t n)
{
	assert(phys >= h->base && phys + n <= h->base + FAKE_MEM);
	return h->mem + (phys - h->base);
}

static void fake_word(struct weft_host *h, uint32_t reg, uint32_t add,
		      uint64_t word)
{
	weft_phys_t at = h->reg[reg / 4] | (uint64_t)h->reg[reg / 4 + 1] << 32;

	memcpy(fake_at(h, at + add, 8), &word, 8);
}

static void fake_land(struct weft_host *h, struct weft_host *to,
		      const uint64_t *d, uint32_t n)
{
	memcpy(fake_at(to, (uint32_t)d[1], n), fake_at(h, d[0], n), n);
	if (d[1] & FORTH_DESC_RNOTIFY) {
		to->reg[FORTH_RNOTIFY_TOTAL / 4] = ++to->rnotify;
		fake_word(to, FORTH_RNOTIFY_LO, 0,
			  forth_rnotify_pack(to->rnotify, to->node, false));
	}
	to->irq |= d[1] & FORTH_DESC_RIRQ;
}

static void fake_one(struct weft_host *h, uint32_t q)
{
	uint32_t depth = 1024 / h->queues;
	uint64_t *d = h->slot[q * depth + h->head[q]];
	uint32_t n = forth_desc_qwords(d[1]) * 8;
	struct weft_host *to = &fake_first[forth_desc_flow(d[1])];

	if (h->lose)
		h->lose--;
	else
		fake_land(h, to, d, n);
	h->head[q] = (h->head[q] + 1) % depth;
	h->departed[q]++;
	h->reg[(FORTH_QUEUE_POINTERS + 4 * q) / 4] =
		forth_pointers_pack(h->head[q], 0, h->tail[q]);
	if (d[1] & FORTH_DESC_LNOTIFY)
		fake_word(h, FORTH_LNOTIFY_LO, 8 * q,
			  forth_lnotify_pack(h->head[q], q, h->departed[q]));
}

void fake_run(struct weft_host *h)
{
	for (uint32_t q = 0; q < h->queues; q++)
		for (; h->pending[q]; h->pending[q]--)
			fake_one(h, q);
}

static void fake_note(struct weft_host *h, enum fake_what what, uint32_t off,
		      uint32_t size, uint64_t val)
{
	if (h->n_log < FAKE_LOG)
		h->log[h->n_log++] =
			(struct fake_access){ what, off, size, val };
}

static void fake_slot(struct weft_host *h, uint32_t off, uint32_t size,
		      uint64_t val)
{
	uint32_t at = off - FORTH_QUEUE_MEM, depth = 1024 / h->queues;
	uint32_t i = at / 16;

	memcpy((uint8_t *)h->slot[i] + at % 16, &val, size);
	if (at % 16 + size == 16 && h->slot[i][1] & FORTH_DESC_START) {
		uint32_t q = i / depth;

		h->tail[q] = (i % depth + 1) % depth;
		h->pending[q] = (h->tail[q] + depth - h->head[q]) % depth;
		/* head = tail after a release means a full ring (forth.md
		 * 3.3) */
		if (!h->pending[q])
			h->pending[q] = depth;
		if (h->running)
			fake_run(h);
	}
}

static void fake_store(struct weft_host *h, uint64_t off, uint32_t size,
		       uint64_t val)
{
	h->now += 50 * WEFT_NS;
	fake_note(h, off >= FORTH_QUEUE_MEM ? FAKE_SLOT : FAKE_REG,
		  (uint32_t)off, size, val);
	if (off >= FORTH_QUEUE_MEM) {
		fake_slot(h, (uint32_t)off, size, val);
		return;
	}
	if (off == FORTH_CONTROL && val & FORTH_CTL_POINTER_RESET)
		for (uint32_t q = 0; q < 8; q++)
			h->head[q] = h->tail[q] = h->pending[q] = 0;
	h->reg[off / 4] = (uint32_t)val;
}

/* ---- host.h ---- */

struct weft_dev *weft_dev_open(struct weft_host *h, uint32_t i)
{
	return i ? NULL : &h->dev;
}

uint32_t weft_cfg_load(struct weft_host *h, struct weft_dev *d, uint32_t off,
		       uint32_t size)
{
	uint32_t v = 0;

	memcpy(&v, (uint8_t *)h->cfg + off, size);
	return v;
}

void weft_cfg_store(struct weft_host *h, struct weft_dev *d, uint32_t off,
		    uint32_t size, uint32_t val)
{
	fake_note(h, FAKE_CFG, off, size, val);
	memcpy((uint8_t *)h->cfg + off, &val, size);
	if (off == FORTH_CFG_APP_IRQ && val & FORTH_APP_IRQ_FLAG)
		h->irq = false;
}

bool weft_io_map(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		 uint64_t off, uint64_t len, enum weft_io_attr attr,
		 struct weft_io *io_p)
{
	*io_p = (struct weft_io){ d, off, len, bar, attr };
	return bar == FORTH_BAR_REGS && off + len <= FORTH_BAR1_BYTES;
}

uint32_t weft_io_load32(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	h->now += 100 * WEFT_NS;
	h->io_loads++;
	if (io->off + off == FORTH_TIMESTAMP)
		return (uint32_t)(h->now / (10 * WEFT_NS));
	return h->reg[(io->off + off) / 4];
}

uint64_t weft_io_load64(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	return weft_io_load32(h, io, off) |
	       (uint64_t)weft_io_load32(h, io, off + 4) << 32;
}

/* The toy host has no processes. */
bool weft_proc_map(struct weft_host *h, struct weft_proc *p, struct weft_dev *d,
		   uint8_t bar, uint64_t off, uint64_t len,
		   enum weft_io_attr attr, struct weft_io *io_p)
{
	return false;
}

void weft_proc_unmap(struct weft_host *h, struct weft_proc *p,
		     const struct weft_io *io)
{
}

struct weft_proc *weft_proc_new(struct weft_host *h, uint32_t domain)
{
	return NULL;
}

void weft_proc_free(struct weft_host *h, struct weft_proc *p)
{
}

bool weft_proc_set_tag(struct weft_host *h, struct weft_proc *p, uint16_t tag)
{
	return false;
}

struct weft_proc *weft_proc_self(struct weft_host *h)
{
	return NULL;
}

bool weft_proc_enter(struct weft_host *h, struct weft_proc *p)
{
	return false;
}

bool weft_page_share(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		     uint64_t off)
{
	return false;
}

/* The toy host has neither drivers nor threads. */
bool weft_drv_set(struct weft_host *h, struct weft_dev *d,
		  const struct weft_drv *drv)
{
	return false;
}

/* Returns the default times of host.pc. */
weft_time_t weft_host_time(const struct weft_host *h, enum host_time_id id)
{
	return id == T_forth_ep_call ? 20 * WEFT_NS : 2 * WEFT_MS;
}

int weft_drv_call(struct weft_host *h, struct weft_dev *d, uint32_t op,
		  void *arg)
{
	return -19; /* ENODEV */
}

struct weft_host *weft_thread_start(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg)
{
	return NULL;
}

bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline)
{
	return false;
}

void weft_host_wake(struct weft_host *h, const uint32_t *p)
{
}

void weft_host_log(struct weft_host *h, const char *fmt, ...)
{
}

/* PCI-X has no tagged accesses. */
bool weft_io_can_tag(struct weft_host *h, struct weft_dev *d)
{
	return false;
}

bool weft_io_tload64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t *val_p)
{
	*val_p = UINT64_MAX;
	return false;
}

bool weft_io_tcstore(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, const void *data, uint32_t n, uint64_t cond)
{
	return false;
}

void weft_io_store32(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint32_t val)
{
	fake_store(h, io->off + off, 4, val);
}

void weft_io_store64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t val)
{
	fake_store(h, io->off + off, 8, val);
}

void weft_io_copy(struct weft_host *h, const struct weft_io *io, uint64_t off,
		  const void *src, size_t n)
{
	uint64_t q;

	/* a store must stay in one line, because it is one burst */
	assert((off / 64) == (off + n - 1) / 64);
	for (size_t i = 0; i < n; i += 8) {
		memcpy(&q, (const uint8_t *)src + i, 8);
		fake_store(h, io->off + off + i, 8, q);
	}
}

void weft_io_fence(struct weft_host *h)
{
	fake_note(h, FAKE_FENCE, 0, 0, 0);
}

void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p)
{
	uint32_t at = (h->used + 4095) & ~4095u;

	if (at + bytes > FAKE_MEM)
		return NULL;
	h->used = at + (uint32_t)bytes;
	*phys_p = h->base + at;
	memset(h->mem + at, 0, bytes);
	return h->mem + at;
}

void weft_mem_free(struct weft_host *h, void *p)
{
}

void *weft_host_calloc(struct weft_host *h, size_t n, size_t size)
{
	return calloc(n, size);
}

void *weft_host_align(struct weft_host *h, size_t align, size_t bytes)
{
	void *p = aligned_alloc(align, (bytes + align) / align * align);

	return p ? memset(p, 0, bytes) : NULL;
}

void weft_host_free(struct weft_host *h, void *p)
{
	free(p);
}

void *weft_mem_at(struct weft_host *h, weft_phys_t phys, size_t n)
{
	return NULL;
}

void weft_mem_give(struct weft_host *h, weft_phys_t phys)
{
}

bool weft_mem_hold(struct weft_host *h, weft_phys_t phys, size_t len)
{
	return false;
}

bool weft_mem_release(struct weft_host *h, weft_phys_t phys)
{
	return false;
}

bool weft_mem_phys(struct weft_host *h, const void *p, weft_phys_t *phys_p)
{
	const uint8_t *b = p;

	if (b < h->mem || b >= h->mem + FAKE_MEM)
		return false;
	*phys_p = h->base + (weft_phys_t)(b - h->mem);
	return true;
}

weft_time_t weft_host_now(struct weft_host *h)
{
	return h->now += 10 * WEFT_NS;
}

void weft_host_cpu(struct weft_host *h, weft_time_t cost)
{
	h->now += cost;
}

void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n)
{
	weft_host_copy(h, dst, src, n);
}

/* Returns at once, because no event can occur while a program waits here. The
 * result is true only if the word has already changed. */
bool weft_host_poll64(struct weft_host *h, const volatile uint64_t *p,
		      uint64_t old, weft_time_t deadline)
{
	fake_run(h);
	if (*p == old && deadline != WEFT_NEVER)
		h->now = deadline;
	return *p != old;
}

bool weft_host_poll_range(struct weft_host *h, const volatile void *p, size_t n,
			  weft_time_t deadline)
{
	fake_run(h);
	if (deadline != WEFT_NEVER)
		h->now = deadline;
	return false;
}

bool weft_host_irq_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	fake_run(h);
	return h->irq;
}

void weft_host_sleep(struct weft_host *h, weft_time_t until)
{
	if (until > h->now)
		h->now = until;
}

void weft_host_nap(struct weft_host *h, weft_time_t cost)
{
	weft_host_sleep(h, h->now + cost);
}

uint32_t weft_host_node(struct weft_host *h)
{
	return h->node;
}
uint32_t weft_host_nodes(struct weft_host *h)
{
	return h->nodes;
}

/* ---- the out-of-band network ---- */

static struct {
	char key[64];
	uint64_t val;
} fake_oob[256];
static uint32_t fake_n_oob;

void weft_oob_put(struct weft_host *h, const char *key, uint64_t val)
{
	assert(fake_n_oob < 256);
	snprintf(fake_oob[fake_n_oob].key, 64, "%s", key);
	fake_oob[fake_n_oob++].val = val;
}

bool weft_oob_there(struct weft_host *h, const char *key)
{
	for (uint32_t i = 0; i < fake_n_oob; i++)
		if (!strcmp(fake_oob[i].key, key))
			return true;
	return false;
}

/* Returns the value of a key. If the other node has not put the key yet, uses
 * the value of this node, because all nodes are alike. If this value is an
 * address, returns the address at the same offset in the other node's
 * memory. */
uint64_t weft_oob_get(struct weft_host *h, const char *key)
{
	char mine[64], what[32];
	uint32_t node;

	for (uint32_t i = fake_n_oob; i-- > 0;)
		if (!strcmp(fake_oob[i].key, key))
			return fake_oob[i].val;
	/* the endpoint forms its keys in word_name() */
	if (sscanf(key, "ep.forth.0.%u.%31s", &node, what) != 2)
		abort();
	snprintf(mine, sizeof(mine), "ep.forth.0.%u.%s", h->node, what);
	for (uint32_t i = fake_n_oob; i-- > 0;)
		if (!strcmp(fake_oob[i].key, mine))
			return fake_oob[i].val >= h->base
				       ? fake_oob[i].val - h->base +
						 fake_first[node].base
				       : fake_oob[i].val;
	abort();
}

/* ---- stubs of VIPL, which would need a whole kernel ---- */

static bool fake_probe(struct weft_host *h, struct weft_dev *d)
{
	return false;
}

const struct ep_nic ep_nic_hvia = { .probe = fake_probe };

/* ---- start and stop ---- */

void fake_start(struct weft_host *h, uint32_t nodes, uint32_t queues)
{
	uint32_t log2 = (uint32_t)__builtin_ctz(queues);

	memset(h, 0, nodes * sizeof(*h));
	fake_first = h;
	fake_n_oob = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		h[i].node = i;
		h[i].nodes = nodes;
		h[i].queues = queues;
		h[i].running = true;
		h[i].base = 0x1000000u * (i + 1);
		h[i].mem = aligned_alloc(4096, FAKE_MEM);
		assert(h[i].mem);
		h[i].cfg[0] = FORTH_DEVICE_ID << 16 | FORTH_VENDOR_ID;
		h[i].reg[FORTH_BUILD / 4] = forth_build_pack(
			1, log2, queues == 8 ? 8 : 0, queues == 8 ? 64 : 62,
			queues == 8 ? 3 : 1);
	}
}

void fake_stop(struct weft_host *h, uint32_t nodes)
{
	for (uint32_t i = 0; i < nodes; i++)
		free(h[i].mem);
}
