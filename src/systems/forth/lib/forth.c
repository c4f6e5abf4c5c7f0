/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH RDMA NIC: driver (initialisation, control) and user library (request
 * queues, notifications). Source: forth.md 2.2-2.9, 3.1-3.3, 3.8. The driver
 * uses nothing but host.h and the register map.
 *
 *   program --- weft_forth_post --- slots (WC or UC) ---> NIC
 *      ^------- notification words <--- DMA writes ----------'
 *
 * Not covered: BAR0 memory, multipath, the on-chip CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

#include "systems/forth/lib/forth_internal.h"

/* largest cluster: the descriptors of 64 bytes, because the CPU writes its
 * write-combining buffer in lines of 64 bytes */
#define FORTH_WC_SLOTS (64 / FORTH_DESC_BYTES)

/* ---- start-up (2.9) ---- */

bool weft_forth_probe(struct weft_host *h, struct weft_dev *d)
{
	uint32_t id = weft_cfg_load(h, d, FORTH_CFG_VENDOR, 4);

	return id == (FORTH_DEVICE_ID << 16 | FORTH_VENDOR_ID) ||
	       id == (FORTH_VENDOR_ID << 16 | FORTH_DEVICE_ID);
}

/* Step 1: sets up the bus interface. */
static void forth_init_config(struct weft_forth *f,
			      const struct weft_forth_attr *a)
{
	struct weft_host *h = f->host;
	uint32_t lat =
		a->latency_timer ? a->latency_timer : FORTH_LATENCY_RECOMMENDED;
	uint32_t read_max = a->read_max ? a->read_max : FORTH_DMA_MAX_BYTES;
	uint32_t mmrbc = 0;

	while (mmrbc < 3 && (512u << mmrbc) < read_max)
		mmrbc++;
	weft_cfg_store(h, f->dev, FORTH_CFG_COMMAND, 2,
		       FORTH_CMD_MEMORY | FORTH_CMD_MASTER | FORTH_CMD_PARITY |
			       FORTH_CMD_SERR);
	weft_cfg_store(h, f->dev, FORTH_CFG_LATENCY, 1, lat);
	weft_cfg_store(h, f->dev, FORTH_CFG_CACHE_LINE, 1,
		       FORTH_CACHE_LINE_RECOMMENDED);
	weft_cfg_store(h, f->dev, FORTH_CFG_PCIX_CMD, 2,
		       mmrbc << FORTH_PCIX_CMD_MMRBC_SHIFT |
			       FORTH_PCIX_CMD_RECOVER);
}

/* Step 2 of weft_forth_open: maps the queues write-combining and uncached, and
 * the registers uncached. The NIC writes notifications to `block` of the
 * program, or to memory of the library if `block` is NULL. */
static bool forth_init_memory(struct weft_forth *f, void *block)
{
	const uint32_t bytes = FORTH_DESC_TOTAL * FORTH_DESC_BYTES;

	if (!weft_io_map(f->host, f->dev, FORTH_BAR_REGS, 0, FORTH_BAR1_BYTES,
			 WEFT_UC, &f->io) ||
	    !weft_io_map(f->host, f->dev, FORTH_BAR_REGS, FORTH_QUEUE_MEM,
			 bytes, WEFT_WC, &f->wc))
		return false;
	f->notify_own = !block;
	if (!block)
		block = weft_mem_alloc(f->host, WEFT_FORTH_NOTIFY_BYTES, 64,
				       &f->notify_phys);
	else if (!weft_mem_phys(f->host, block, &f->notify_phys))
		return false;
	f->notify = block;
	return block != NULL;
}

static void forth_init_build(struct weft_forth *f)
{
	uint32_t b = weft_forth_load(f, FORTH_BUILD);
	struct weft_forth_info *i = &f->info;

	i->links = b & 0xF;
	i->queues = 1u << (b >> 4 & 3);
	i->multipath = b & FORTH_BUILD_MULTIPATH;
	i->groups = b & FORTH_BUILD_COUNT;
	i->depth = FORTH_DESC_TOTAL / i->queues;
	i->voqs = b >> 8 & 0xF;
	i->max_payload = 8 * ((b >> 12 & 0x3FF) + 1);
	i->min_payload = 8 * (b >> 22 & 0x3FF);
	/* Without VOQs a transfer is one packet, because only the VOQ block
	 * cuts long transfers (3.5). */
	i->max_transfer = i->voqs ? FORTH_DMA_MAX_BYTES : i->max_payload;
}

/* Steps 3 to 5: sets up the DMA engine. */
static void forth_init_engine(struct weft_forth *f,
			      const struct weft_forth_attr *a)
{
	weft_phys_t local = f->notify_phys;
	weft_phys_t remote = local + 8 * FORTH_QUEUES_MAX;

	weft_forth_store(f, FORTH_CONTROL, FORTH_CTL_RESET);
	weft_forth_store(f, FORTH_CONTROL, FORTH_CTL_POINTER_RESET);
	weft_forth_store(f, FORTH_LNOTIFY_LO, (uint32_t)local);
	weft_forth_store(f, FORTH_LNOTIFY_HI, (uint32_t)(local >> 32));
	weft_forth_store(f, FORTH_RNOTIFY_LO, (uint32_t)remote);
	weft_forth_store(f, FORTH_RNOTIFY_HI, (uint32_t)(remote >> 32));
	weft_forth_counters_clear(f);
	weft_forth_irq_ack(f);
	weft_forth_irq_enable(f, a->irq);
	weft_forth_bench(f, a->bench);
	if (!a->stopped)
		weft_forth_enable(f, true);
}

int weft_forth_open(struct weft_host *h, const struct weft_forth_attr *attr,
		    struct weft_forth **f_p)
{
	static const struct weft_forth_attr none;
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_forth *f;

	if (!attr)
		attr = &none;
	if (!d || !weft_forth_probe(h, d))
		return -ENODEV;
	f = weft_host_calloc(h, 1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->host = h;
	f->dev = d;
	f->post = attr->post;
	forth_init_config(f, attr);
	if (!forth_init_memory(f, attr->notify)) {
		weft_host_free(h, f);
		return -ENOMEM;
	}
	forth_init_build(f);
	f->lnotify_every =
		attr->lnotify_every ? attr->lnotify_every : f->info.depth / 4;
	forth_init_engine(f, attr);
	*f_p = f;
	return 0;
}

void weft_forth_close(struct weft_forth *f)
{
	weft_forth_enable(f, false);
	if (f->notify_own)
		weft_mem_free(f->host, (void *)f->notify);
	weft_host_free(f->host, f);
}

const struct weft_forth_info *weft_forth_info(const struct weft_forth *f)
{
	return &f->info;
}

struct weft_dev *weft_forth_dev(struct weft_forth *f)
{
	return f->dev;
}

/* ---- posting (3.2, 3.3) ---- */

static uint32_t forth_queue_of(const struct weft_forth *f, uint32_t dst)
{
	return dst % f->info.queues;
}

/* Reads the count of departed transfers from the word that the NIC writes for a
 * queue. */
static struct forth_queue *forth_refresh(struct weft_forth *f, uint32_t q)
{
	struct forth_queue *fq = &f->queue[q];
	uint64_t word = f->notify[q];
	uint32_t head = forth_lnotify_head(word);
	int32_t news;

	if (!word)
		return fq;
	/* Compute the departures that the NIC counted before the library was
	 * opened. The head was 0 at that time. The NIC writes the first word
	 * before the head has made more than one pass through the ring.
	 * Therefore the head, or the depth if the head is 0 again, is the
	 * number of departures since then. */
	if (!fq->based)
		fq->base = forth_lnotify_departed(word) -
			   (head ? head : f->info.depth);
	fq->based = true;
	news = (int32_t)(forth_lnotify_departed(word) - fq->base -
			 (uint32_t)fq->departed);
	/* ignore an older word, because the pointer register may have returned
	 * a later count */
	if (news > 0)
		fq->departed += (uint32_t)news;
	return fq;
}

/* Builds the second qword of the next descriptor of fq. If the last
 * lnotify_every descriptors have requested no local notification, requests one
 * for the library itself. */
static uint64_t forth_build_q1(struct weft_forth *f, struct forth_queue *fq,
			       const struct weft_forth_desc *d)
{
	uint64_t flags =
		(d->flags & WEFT_FORTH_LNOTIFY ? FORTH_DESC_LNOTIFY : 0) |
		(d->flags & WEFT_FORTH_RNOTIFY ? FORTH_DESC_RNOTIFY : 0) |
		(d->flags & WEFT_FORTH_RIRQ ? FORTH_DESC_RIRQ : 0);

	fq->posted++;
	if (fq->posted - fq->noted >= f->lnotify_every)
		flags |= FORTH_DESC_LNOTIFY;
	if (flags & FORTH_DESC_LNOTIFY)
		fq->noted = fq->posted;
	if (d->flags & WEFT_FORTH_ANNOUNCE)
		flags |= FORTH_DESC_ANNOUNCE;
	flags |= (uint64_t)(d->group & 63) << FORTH_DESC_GROUP_SHIFT;
	return forth_desc_q1(d->dst, d->qwords, d->remote, flags);
}

/* Writes a cluster: n descriptors into consecutive slots. */
static void forth_cluster(struct weft_forth *f, uint32_t off, const uint64_t *q,
			  uint32_t n)
{
	if (f->post == WEFT_FORTH_POST_WC) {
		weft_io_copy(f->host, &f->wc, off - FORTH_QUEUE_MEM, q,
			     n * FORTH_DESC_BYTES);
		weft_io_fence(f->host);
		return;
	}
	for (uint32_t i = 0; i < 2 * n; i++, off += 8) {
		if (f->post == WEFT_FORTH_POST_64) {
			weft_io_store64(f->host, &f->io, off, q[i]);
			continue;
		}
		weft_io_store32(f->host, &f->io, off, (uint32_t)q[i]);
		weft_io_store32(f->host, &f->io, off + 4,
				(uint32_t)(q[i] >> 32));
	}
}

uint32_t weft_forth_post(struct weft_forth *f, const struct weft_forth_desc *d,
			 uint32_t n)
{
	uint64_t q[2 * FORTH_WC_SLOTS];
	uint32_t done = 0;

	while (done < n) {
		uint32_t qi = forth_queue_of(f, d[done].dst);
		struct forth_queue *fq = &f->queue[qi];
		uint32_t slot = fq->posted & (f->info.depth - 1);
		uint32_t line = FORTH_WC_SLOTS - slot % FORTH_WC_SLOTS;
		uint32_t room = weft_forth_space(f, d[done].dst), k = 0;

		/* a cluster must lie in one queue and in one line of 64
		 * bytes */
		while (k < line && k < room && done + k < n &&
		       forth_queue_of(f, d[done + k].dst) == qi)
			k++;
		if (!k)
			break;
		for (uint32_t i = 0; i < k; i++) {
			q[2 * i] = d[done + i].local;
			q[2 * i + 1] = forth_build_q1(f, fq, &d[done + i]);
		}
		if (!(d[done + k - 1].flags & WEFT_FORTH_HOLD))
			q[2 * k - 1] |= FORTH_DESC_START;
		forth_cluster(f, forth_desc_offset(qi, f->info.depth, slot), q,
			      k);
		done += k;
	}
	return done;
}

int weft_forth_put(struct weft_forth *f, uint32_t dst, weft_phys_t local,
		   weft_phys_t remote, uint32_t qwords, uint32_t flags)
{
	struct weft_forth_desc d = { .local = local,
				     .remote = (uint32_t)remote,
				     .qwords = (uint16_t)qwords,
				     .dst = (uint8_t)dst,
				     .flags = (uint8_t)flags };

	if (!qwords || 8 * qwords > f->info.max_transfer || dst > 0x7F ||
	    remote > UINT32_MAX || (local | remote) % 8)
		return -EINVAL;
	return weft_forth_post(f, &d, 1) ? 0 : -EAGAIN;
}

void weft_forth_slot_write(struct weft_forth *f, uint32_t queue, uint32_t slot,
			   uint64_t q0, uint64_t q1)
{
	uint64_t q[2] = { q0, q1 };

	forth_cluster(f, forth_desc_offset(queue, f->info.depth, slot), q, 1);
}

/* ---- queue space ---- */

uint32_t weft_forth_space(struct weft_forth *f, uint32_t dst)
{
	struct forth_queue *fq = forth_refresh(f, forth_queue_of(f, dst));

	return f->info.depth - (uint32_t)(fq->posted - fq->departed);
}

uint64_t weft_forth_posted(struct weft_forth *f, uint32_t dst)
{
	return f->queue[forth_queue_of(f, dst)].posted;
}

uint64_t weft_forth_departed(struct weft_forth *f, uint32_t dst)
{
	return forth_refresh(f, forth_queue_of(f, dst))->departed;
}

/* Waits until `departed` of queue q reaches `want`. Returns false at the
 * deadline. */
static bool forth_wait_departed(struct weft_forth *f, uint32_t q, uint64_t want,
				weft_time_t deadline)
{
	uint32_t depth = f->info.depth, head, out;
	struct forth_queue *fq;
	uint64_t old;

	for (;;) {
		old = f->notify[q];
		fq = forth_refresh(f, q);
		if (fq->departed >= want)
			return true;
		if (weft_host_now(f->host) >= deadline)
			return false;
		if (fq->noted >= want) {
			if (!weft_host_poll64(f->host, &f->notify[q], old,
					      deadline))
				return false;
			continue;
		}
		/* Compute the departures from the head pointer in the register.
		 * The result is exact if less than a whole ring has departed
		 * since the last count. The library requests notifications
		 * often enough for that. */
		forth_refresh(f, q);
		head = forth_pointers_head(
			weft_forth_load(f, FORTH_QUEUE_POINTERS + 4 * q));
		out = (uint32_t)(fq->posted - head) & (depth - 1);
		/* head = tail means a full or an empty ring, so that only the
		 * notification word decides */
		if (!out && fq->posted - fq->departed == depth)
			continue;
		if (fq->posted - out > fq->departed)
			fq->departed = fq->posted - out;
	}
}

bool weft_forth_wait_space(struct weft_forth *f, uint32_t dst, uint32_t n,
			   weft_time_t deadline)
{
	uint32_t q = forth_queue_of(f, dst);
	uint64_t posted = f->queue[q].posted;

	if (n > f->info.depth)
		return false;
	if (posted + n <= f->info.depth)
		return true;
	return forth_wait_departed(f, q, posted + n - f->info.depth, deadline);
}

bool weft_forth_flush(struct weft_forth *f, uint32_t dst, weft_time_t deadline)
{
	uint32_t q = forth_queue_of(f, dst);

	return forth_wait_departed(f, q, f->queue[q].posted, deadline);
}

/* ---- notifications, interrupts ---- */

uint64_t weft_forth_remote_word(const struct weft_forth *f)
{
	return f->notify[FORTH_QUEUES_MAX];
}

uint32_t weft_forth_remote_count(const struct weft_forth *f)
{
	return forth_rnotify_count(f->notify[FORTH_QUEUES_MAX]);
}

bool weft_forth_wait_remote(struct weft_forth *f, uint32_t seen,
			    weft_time_t deadline)
{
	for (;;) {
		uint64_t old = f->notify[FORTH_QUEUES_MAX];

		if (forth_rnotify_count(old) != seen)
			return true;
		if (!weft_host_poll64(f->host, &f->notify[FORTH_QUEUES_MAX],
				      old, deadline))
			return false;
	}
}

uint64_t weft_forth_local_word(const struct weft_forth *f, uint32_t queue)
{
	return f->notify[queue % FORTH_QUEUES_MAX];
}

void weft_forth_irq_enable(struct weft_forth *f, bool on)
{
	f->irq = on;
	weft_cfg_store(f->host, f->dev, FORTH_CFG_APP_IRQ, 4,
		       on ? FORTH_APP_IRQ_ENABLE : 0);
}

void weft_forth_irq_ack(struct weft_forth *f)
{
	weft_cfg_store(f->host, f->dev, FORTH_CFG_APP_IRQ, 4,
		       FORTH_APP_IRQ_FLAG |
			       (f->irq ? FORTH_APP_IRQ_ENABLE : 0));
	/* A load waits until the store has reached the NIC and the interrupt
	 * line is down, because stores are posted. */
	weft_cfg_load(f->host, f->dev, FORTH_CFG_APP_IRQ, 4);
}

bool weft_forth_irq_wait(struct weft_forth *f, weft_time_t deadline)
{
	return weft_host_irq_wait(f->host, f->dev, deadline);
}
