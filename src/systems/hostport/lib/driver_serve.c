/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: the thread that answers the device (hostport.md 8.8, 4.10
 * error log, 6.1 N8).
 *
 * The device writes records to a ring in main memory. The thread inserts
 * translations by posted stores, and stores the number of records that it has
 * taken into a register of the device. The thread makes no load, because a load
 * would occupy the bridge and delay the triggers of unrelated processes. All
 * records are taken before a miss is served, and VPIDs are served in turn.
 * Therefore a process that misses many pages delays a miss of another process
 * by one miss at most. */
#include <errno.h>
#include <stdlib.h>

#include "host/times.h"
#include "systems/hostport/lib/driver.h"

enum {
	RECORDS = HP_PAGE / (8 * HP_EVENT_WORDS),
	PARK_PAGES = 1024, /* pages of the area for packets that wait */
	PARK_BYTES = PARK_PAGES * HP_PAGE,
	MISSES = 1024, /* largest number of misses taken and not yet served */
};

struct server {
	struct hport_drv d;
	volatile uint64_t *ring;
	/* Area for parked packets (HP_R_PARK_SIZE). If it is NULL because
	 * memory was short, units wait with their packets. */
	void *park;
	uint32_t rp;
	weft_time_t service;
	uint64_t *miss;	       /* records, oldest first */
	uint32_t misses, last; /* last: VPID of the miss that was served last */
	bool always;
	/* value of begun in struct hport_kernel when the thread started */
	uint32_t begun;
	int ret;
};

/* Serves the oldest miss of the VPID that follows the VPID served last. */
static void serve_next(struct server *s)
{
	uint32_t best = 0, best_after = UINT32_MAX;
	struct hport_drv *d = &s->d;
	uint64_t w, arg;

	for (uint32_t i = 0; i < s->misses; i++) {
		uint32_t vpid = HP_MISS_VPID(s->miss[i]);
		uint32_t after = (vpid - s->last - 1) & (HP_VPIDS - 1);

		if (after < best_after) {
			best = i;
			best_after = after;
		}
	}
	w = s->miss[best];
	s->misses--;
	for (uint32_t i = best; i < s->misses; i++)
		s->miss[i] = s->miss[i + 1];
	s->last = HP_MISS_VPID(w);
	if (s->service)
		weft_host_cpu(d->host, s->service);
	/* takes the lock, so that the memory cannot be freed between lookup and
	 * insert */
	hport_drv_lock(d);
	arg = hport_drv_translate(d, s->last, HP_MISS_PAGE(w));
	d->kernel->misses++;
	d->kernel->faults += arg == HP_TLB_FAULT;
	hport_drv_cache_post(
		d, HP_CACHE_CMD(HP_CACHE_INSERT, HP_CACHE_TLB, s->last, 1),
		HP_MISS_PAGE(w), arg);
	hport_drv_unlock(d);
}

/* Takes all records and serves one miss. Returns whether there was work. */
static bool serve_some(struct server *s)
{
	uint32_t told = s->rp, from = s->rp;
	volatile uint64_t *e;

	do {
		for (;;) {
			e = s->ring +
			    (size_t)HP_EVENT_WORDS * (s->rp % RECORDS);
			if (!e[1] || s->misses == MISSES)
				break;
			/* Only misses and errors need work in this thread. The
			 * process itself receives the interrupt of its VPID. */
			if (e[1] == HP_IRQ_TLB)
				s->miss[s->misses++] = e[0];
			else
				s->d.kernel->errors += e[1] == HP_IRQ_ERR;
			e[1] = 0;
			if (++s->rp - told < RECORDS / 2)
				continue;
			hport_drv_store(&s->d, HP_R_EVENTS_RP, s->rp);
			told = s->rp;
		}
		if (s->misses)
			serve_next(s);
	} while (s->misses ||
		 s->ring[(size_t)HP_EVENT_WORDS * (s->rp % RECORDS) + 1]);
	if (s->rp != told)
		hport_drv_store(&s->d, HP_R_EVENTS_RP, s->rp);
	return s->rp != from;
}

/* ---- start and end of the thread ---- */

static int server_open(struct server *s)
{
	struct weft_host *h = s->d.host;
	weft_phys_t phys;

	s->ring = hport_kmem_table(&s->d, HP_PAGE, &phys);
	s->miss = weft_host_calloc(h, MISSES, sizeof(*s->miss));
	if (!s->ring || !s->miss)
		return -ENOMEM;
	s->rp = (uint32_t)hport_drv_load(&s->d, HP_R_EVENTS_RP);
	hport_drv_store(&s->d, HP_R_EVENTS_BASE, phys);
	hport_drv_store(&s->d, HP_R_EVENTS_SIZE, RECORDS);
	s->park = hport_kmem_table(&s->d, PARK_BYTES, &phys);
	if (s->park) {
		hport_drv_store(&s->d, HP_R_PARK_BASE, phys);
		hport_drv_store(&s->d, HP_R_PARK_SIZE, PARK_PAGES);
	}
	return 0;
}

/* Waits until the first port is open, because opening that port sets the sizes
 * of the queues. Then serves misses. The wait has no timeout and schedules no
 * events. */
static int server_main(struct weft_host *h, void *arg)
{
	weft_time_t nap = weft_host_time(h, T_hostport_nap);
	struct server *s = arg;
	struct hport_kernel *k = s->d.kernel;

	s->d.host = h;
	while (!k->opened && k->begun == s->begun)
		weft_host_wait(h, &k->begun, s->begun, WEFT_NEVER);
	s->ret = server_open(s);
	while (!s->ret && (s->always || k->opened))
		if (weft_host_irq_wait(h, s->d.dev,
				       s->always ? WEFT_NEVER
						 : weft_host_now(h) + nap) &&
		    !serve_some(s)) /* no record was in the ring, because the
				     * interrupt was for a process */
			hport_drv_store(&s->d, HP_R_IRQ_STATUS,
					HP_IRQ_DEADLOCK | HP_IRQ_ULTRA);
	if (!s->ret) {
		/* The device answers the load only after all records have
		 * reached memory. The area for parked packets is freed only if
		 * the load of its size returns 0, because otherwise the area
		 * still holds packets. */
		hport_drv_store(&s->d, HP_R_EVENTS_SIZE, 0);
		hport_drv_load(&s->d, HP_R_EVENTS_SIZE);
		serve_some(s);
		hport_drv_store(&s->d, HP_R_EVENTS_RP, s->rp);
		hport_drv_store(&s->d, HP_R_PARK_SIZE, 0);
		if (s->park && !hport_drv_load(&s->d, HP_R_PARK_SIZE))
			hport_kmem_free(&s->d, s->park, PARK_BYTES);
		hport_kmem_free(&s->d, (void *)(uintptr_t)s->ring, HP_PAGE);
	}
	k->serves = false;
	k->served++;
	weft_host_wake(h, &k->served);
	return 0;
}

/* Starts the thread that serves misses. The driver has only one such thread. If
 * `always` is clear, waits until the thread has ended, and returns its result.
 * If `always` is set, returns at once, because the caller then waits in
 * hport_serve(), where the wait can be ended. Errors: -EPERM when the caller is
 * a process, -EBUSY when the thread already runs, -ENOMEM. */
int hport_k_serve(struct hport_drv *d, struct hport_c_serve *a)
{
	struct hport_kernel *k = d->kernel;
	struct server *s = k->server;
	uint32_t served = k->served;

	if (weft_proc_self(d->host))
		return -EPERM;
	if (k->serves)
		return -EBUSY;
	if (!s)
		s = k->server = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct server){ .d = *d,
			      .service = a->service,
			      .always = a->always,
			      .begun = k->begun };
	if (!weft_thread_start(d->host, server_main, s))
		return -ENOMEM;
	k->serves = true;
	while (!a->always && k->served == served)
		weft_host_wait(d->host, &k->served, served, WEFT_NEVER);
	return s->ret;
}

int hport_serve(struct weft_host *h, weft_time_t service, bool always)
{
	struct hport_c_serve a = { service, always };
	struct weft_dev *dev = weft_dev_open(h, 0);
	int ret = dev ? hport_drv_call(h, dev, HPORT_C_SERVE, &a) : -ENODEV;

	while (!ret && always)
		weft_host_sleep(h, WEFT_NEVER);
	return ret;
}
