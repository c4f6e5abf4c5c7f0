/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver (see driver.h): allocates VPIDs, opens and closes ports.
 *
 * To close a port, the driver closes its Triggerpage, turns its context off,
 * and waits until no unit of the device uses the VPID. Then the driver frees
 * translations, windows, memory and the VPID, in this order.
 *
 * The next owner of the VPID has another epoch, so that the device refuses
 * replies and requests to the previous owner that are still in flight. A
 * request contains only the low 8 bits of the epoch, and these repeat after 255
 * owners. Therefore the driver does not assign a closed VPID again before a
 * minimum time has passed, and assigns VPIDs that never had an owner first. */
#include "systems/hostport/lib/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"

/* ---- VPIDs ---- */

uint32_t hport_vpid_own(struct hport_drv *d)
{
	const struct hport_kernel *k = d->kernel;
	uint32_t vpid = 0;

	while (vpid < HP_VPIDS && !hport_port_of(d, vpid))
		vpid++;
	if (vpid < HP_VPIDS)
		return vpid;
	while (--vpid && k->vpids[vpid / 64] >> vpid % 64 & 1)
		;
	return vpid;
}

/* Returns `want` if it is not negative. Otherwise returns the lowest VPID that
 * never had an owner or, if every VPID had one, the VPID that has been free for
 * longest. Skips VPIDs that an ULTRA port of another process names. Returns
 * HP_VPIDS when no VPID is left. */
static uint32_t vpid_choose(struct hport_drv *d, int32_t want)
{
	const struct hport_kernel *k = d->kernel;

	if (want >= 0)
		return (uint32_t)want;
	for (uint32_t i = 0; i < HP_VPIDS / 64; i++)
		for (uint64_t w = ~(k->used[i] | k->vpids[i]); w; w &= w - 1) {
			uint32_t vpid = 64 * i + (uint32_t)__builtin_ctzll(w);

			if (!hport_ultra_names(d, vpid))
				return vpid;
		}
	for (size_t i = 0; i < k->closed.n; i++)
		if (!hport_ultra_names(d, k->closed.at[i].vpid))
			return k->closed.at[i].vpid;
	return HP_VPIDS;
}

int hport_drv_vpid(struct hport_drv *d, int32_t want)
{
	struct hport_kernel *k = d->kernel;
	weft_time_t rested = 0;
	uint32_t vpid;

	if (want >= HP_VPIDS)
		return -EINVAL;
	hport_drv_lock(d);
	vpid = vpid_choose(d, want);
	if (vpid == HP_VPIDS || k->vpids[vpid / 64] >> vpid % 64 & 1 ||
	    hport_ultra_names(d, vpid)) {
		hport_drv_unlock(d);
		return vpid == HP_VPIDS ? -ENOSPC : -EBUSY;
	}
	k->vpids[vpid / 64] |= 1ull << vpid % 64;
	k->used[vpid / 64] |= 1ull << vpid % 64;
	for (size_t i = k->closed.n; i-- && !rested;) {
		if (k->closed.at[i].vpid != vpid)
			continue;
		rested = k->closed.at[i].at +
			 weft_host_time(d->host, T_hostport_vpid_rest);
		memmove(&k->closed.at[i], &k->closed.at[i + 1],
			(--k->closed.n - i) * sizeof(k->closed.at[0]));
	}
	k->opened++;
	hport_drv_unlock(d);
	if (rested)
		weft_host_sleep(d->host, rested);
	return (int)vpid;
}

void hport_drv_vpid_end(struct hport_drv *d, uint32_t vpid)
{
	struct hport_kernel *k = d->kernel;
	struct hport_closed c = { (uint16_t)vpid, weft_host_now(d->host) };

	hport_drv_epoch_next(d, vpid);
	hport_drv_lock(d);
	k->opened--;
	k->vpids[vpid / 64] &= ~(1ull << vpid % 64);
	vec_push(&k->closed, c);
	hport_drv_unlock(d);
}

/* ---- contexts ---- */

static void context_drop(struct hport_drv *d, uint32_t vpid)
{
	hport_drv_cache(d, HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_CTX, vpid, 1),
			0, 0);
}

void hport_drv_begin(struct hport_drv *d)
{
	d->kernel->begun++;
	weft_host_wake(d->host, &d->kernel->begun);
}

/* Writes the context, then enables the VPID. Drops the device's cached copy
 * before and after the write. The device may have cached an incomplete context,
 * because packets may arrive for any VPID at any time. */
void hport_drv_enable(struct hport_drv *d, uint32_t vpid, const uint64_t *w)
{
	uint64_t *c = d->kernel->ct + (size_t)HP_WORDS * vpid;

	context_drop(d, vpid);
	memcpy(c, w, HP_LINE);
	HP_CTX_SET(c, HP_F_EPOCH, d->kernel->epoch[vpid]);
	context_drop(d, vpid);
	hport_drv_store(d, HP_R_VPID_EN, HP_VPID_EN(vpid, true));
	hport_drv_begin(d);
}

bool hport_drv_disable(struct hport_drv *d, uint32_t vpid)
{
	uint64_t *c = d->kernel->ct + (size_t)HP_WORDS * vpid;
	weft_time_t until;
	/* number of parts of the device that still use the VPID */
	uint64_t parts;

	hport_drv_store(d, HP_R_VPID_EN, HP_VPID_EN(vpid, false));
	/* Repeats until EN stays clear in the table, because the device may
	 * write back a copy that it read before EN was cleared. */
	do {
		context_drop(d, vpid);
		c[0] &= ~HP_CTX_EN;
		context_drop(d, vpid);
	} while (c[0] & HP_CTX_EN);
	until = weft_host_now(d->host) +
		weft_host_time(d->host, T_hostport_close_timeout);
	for (;;) {
		hport_drv_lock(d);
		hport_drv_store(d, HP_R_VPID_QUIET, vpid);
		parts = hport_drv_load(d, HP_R_VPID_QUIET);
		hport_drv_unlock(d);
		if (!parts)
			return true;
		if (weft_host_now(d->host) >= until)
			return false;
		weft_host_sleep(
			d->host,
			weft_host_now(d->host) +
				weft_host_time(d->host, T_hostport_close_poll));
	}
}

uint64_t hport_context_flags(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		uint64_t bit;
	} row[] = { { HPORT_ORDERED, HP_CTX_ORD },
		    { HPORT_RMA_NOTES, HP_CTX_RMA_NTF },
		    { HPORT_POSTED, HP_CTX_PR_EN },
		    { HPORT_POSTED_PA, HP_CTX_PR_PA },
		    { HPORT_IRQ, HP_CTX_IRQ_EN } };
	uint64_t w = HP_CTX_EN;

	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		if (flags & row[i].flag)
			w |= row[i].bit;
	return w;
}

/* ---- ports ---- */

struct hport_kport *hport_port_of(struct hport_drv *d, uint32_t vpid)
{
	struct hport_kport *p = vpid < HP_VPIDS ? d->kernel->port[vpid] : NULL;

	return p && !p->closing && p->proc == weft_proc_self(d->host) ? p
								      : NULL;
}

static void queues_free(struct hport_drv *d, struct hport_kport *p)
{
	for (uint32_t i = 0; i < HPORT_QUEUES; i++)
		if (p->queue[i])
			hport_kmem_free(
				d, p->queue[i],
				hport_queue_bytes(&d->kernel->sizes, i));
}

/* Allocates queues, and fills in the context that names them. */
static bool queues_new(struct hport_drv *d, struct hport_kport *p,
		       struct hport_c_open *a, uint64_t *w)
{
	for (uint32_t i = 0; i < HPORT_QUEUES; i++) {
		p->queue[i] = hport_kmem_alloc(
			d, hport_queue_bytes(&d->kernel->sizes, i),
			&a->queue[i]);
		if (!p->queue[i])
			return false;
	}
	HP_CTX_SET(w, HP_F_WQ_BASE, a->queue[0] / HP_PAGE);
	HP_CTX_SET(w, HP_F_SDR_BASE, a->queue[1] / HP_PAGE);
	HP_CTX_SET(w, HP_F_RDR_BASE, a->queue[2] / HP_PAGE);
	HP_CTX_SET(w, HP_F_WDT_BASE, a->queue[3] / HP_PAGE);
	HP_CTX_SET(w, HP_F_PRQ_BASE, a->queue[4] / HP_PAGE);
	HP_CTX_SET(w, HP_F_NQ_BASE, a->queue[5] / HP_PAGE);
	return true;
}

/* Maps the Triggerpage for the port's process alone (hostport.md 7.8 V2). */
static bool page_map(struct hport_drv *d, struct hport_kport *p, uint32_t vpid)
{
	if (!p->proc)
		return weft_io_map(d->host, d->dev, HP_BAR_TRIGGER,
				   HP_TRIGGER_PAGE(vpid), HP_PAGE, WEFT_UC,
				   &p->page) &&
		       weft_io_map(d->host, d->dev, HP_BAR_INFO, 0,
				   HP_INFO_BYTES, WEFT_UC, &p->info);
	return weft_proc_map(d->host, p->proc, d->dev, HP_BAR_TRIGGER,
			     HP_TRIGGER_PAGE(vpid), HP_PAGE, WEFT_UC,
			     &p->page) &&
	       weft_proc_map(d->host, p->proc, d->dev, HP_BAR_INFO, 0,
			     HP_INFO_BYTES, WEFT_UC, &p->info);
}

static int port_open(struct hport_drv *d, struct hport_kport *p,
		     struct hport_c_open *a)
{
	uint64_t w[HP_WORDS] = { hport_context_flags(a->flags) };
	int vpid = hport_drv_vpid(d, a->vpid);
	bool first = p->proc;

	if (vpid < 0)
		return vpid;
	a->vpid = vpid;
	a->hpid = (uint32_t)hport_drv_load(d, HP_R_HPID);
	if (!queues_new(d, p, a, w) || !page_map(d, p, (uint32_t)vpid)) {
		queues_free(d, p);
		hport_drv_vpid_end(d, (uint32_t)vpid);
		return -ENOMEM;
	}
	d->kernel->port[vpid] = p;
	/* the tag of a process is the VPID of its first port */
	for (uint32_t i = 0; first && i < HP_VPIDS; i++) {
		const struct hport_kport *q = d->kernel->port[i];

		first = !q || q == p || q->proc != p->proc;
	}
	if (first)
		weft_proc_set_tag(d->host, p->proc, (uint16_t)vpid);
	a->sizes = d->kernel->sizes;
	a->page = p->page.off;
	a->info = p->info.off;
	a->bar = p->page.bar;
	hport_drv_enable(d, (uint32_t)vpid, w);
	return 0;
}

/* Opens a port. A program without a process becomes a process when it opens its
 * first port. Only the kernel's own code has ports without a process, and may
 * let the device use physical addresses. */
int hport_k_open(struct hport_drv *d, struct hport_c_open *a)
{
	struct hport_kernel *k = d->kernel;
	struct hport_kport *p = calloc(1, sizeof(*p));
	bool made = false;
	int ret = 0;

	if (!p)
		return -ENOMEM;
	p->proc = weft_proc_self(d->host);
	if (!p->proc && k->runs != d->host) {
		p->proc = weft_proc_new(d->host, 0);
		made = p->proc;
		if (made)
			vec_push(&k->procs, p->proc);
		else
			ret = -ENOMEM;
	}
	if (!ret && p->proc && a->flags & HPORT_POSTED_PA)
		ret = -EPERM;
	if (!ret && !k->opened)
		hport_dev_sizes(d, &a->sizes);
	if (!ret)
		ret = port_open(d, p, a);
	if (!ret && made)
		weft_proc_enter(d->host, p->proc);
	if (ret && made) {
		(void)vec_pop(&k->procs);
		weft_proc_free(d->host, p->proc);
	}
	if (ret)
		free(p);
	return ret;
}

static void port_end(struct hport_drv *d, uint32_t vpid)
{
	struct hport_kernel *k = d->kernel;
	struct hport_kport *p = k->port[vpid];

	p->closing = true;
	if (p->proc) {
		weft_proc_unmap(d->host, p->proc, &p->page);
		weft_proc_unmap(d->host, p->proc, &p->info);
	}
	if (!hport_drv_disable(d, vpid)) {
		k->stuck++;
		k->opened--;
		weft_host_log(
			d->host,
			"the device holds on to VPID %u: its memory is not used again",
			vpid);
		return;
	}
	hport_space_end(d, vpid);
	/* Removes all cached window descriptors, because the process could
	 * write anything into its window table. */
	hport_drv_cache(d, HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_WIN, vpid, 1),
			HP_NONE, 0);
	queues_free(d, p);
	k->port[vpid] = NULL;
	free(p);
	hport_drv_vpid_end(d, vpid);
}

void hport_ports_gone(struct hport_drv *d, const struct weft_proc *p)
{
	struct hport_kernel *k = d->kernel;

	for (uint32_t i = 0; i < HP_VPIDS; i++)
		if (k->port[i] && k->port[i]->proc == p && !k->port[i]->closing)
			port_end(d, i);
}

int hport_k_close(struct hport_drv *d, struct hport_c_vpid *a)
{
	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	port_end(d, a->vpid);
	return 0;
}

int hport_k_window(struct hport_drv *d, struct hport_c_win *a)
{
	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	hport_drv_cache(d,
			HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_WIN, a->vpid, 1),
			a->id, 0);
	return 0;
}

int hport_k_run(struct hport_drv *d, struct hport_c_run *a)
{
	struct weft_host *was = d->kernel->runs;
	int ret;

	if (weft_proc_self(d->host))
		return -EPERM;
	d->kernel->runs = d->host;
	ret = a->fn(d, a->arg);
	d->kernel->runs = was;
	return ret;
}
