/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: virtual memory and the TLB (hostport.md 4.11, 8.8).
 *
 * A region consists of whole pages at virtual addresses of its VPID. A bulk
 * insert enters the first pages of a new region into the TLB. The driver's
 * thread (driver_serve.c) inserts each other page after a TLB miss.
 *
 * While memory of a process is mapped, the driver prevents its reuse. Pages
 * that the process frees are allocated again only after their translations were
 * removed. */
#include "systems/hostport/lib/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"

/* number of pages of a new region that enter the TLB at once */
enum { PRELOAD = 64 };
#define FIRST_VA 0x100000000ull

static struct hport_region *region_of(struct hport_kernel *k, uint32_t vpid,
				      uint64_t va)
{
	struct hport_region *r = k->space[vpid].first;

	while (r && va - r->va >= r->bytes)
		r = r->next;
	return r;
}

uint64_t hport_drv_translate(struct hport_drv *d, uint32_t vpid, uint64_t vpage)
{
	struct hport_region *r = region_of(d->kernel, vpid, vpage * HP_PAGE);
	uint64_t i;

	if (!r)
		return HP_TLB_FAULT;
	i = vpage - r->va / HP_PAGE;
	/* the page is pinned while the translation exists */
	r->out[i / 64] &= ~(1ull << i % 64);
	return HP_TLB_ARG(r->phys / HP_PAGE + i, true);
}

/* ---- regions ---- */

#define PAGE_UP(bytes) (((bytes) + HP_PAGE - 1) / HP_PAGE * HP_PAGE)

/* Allocates the memory of a region, or uses the memory at `phys`. Prevents
 * reuse of this memory while the region exists. */
static bool region_memory(struct hport_drv *d, struct hport_region *r,
			  uint64_t bytes, weft_phys_t phys)
{
	uint64_t skew = phys % HP_PAGE, bits;

	r->own = !phys;
	if (r->own) {
		r->mem =
			weft_mem_alloc(d->host, PAGE_UP(bytes), HP_PAGE, &phys);
		if (!r->mem)
			return false;
		weft_mem_give(d->host, phys);
	}
	if (!weft_mem_hold(d->host, phys, bytes))
		return false;
	r->held = phys;
	r->phys = phys - skew;
	r->bytes = PAGE_UP(skew + bytes);
	bits = r->bytes / HP_PAGE / 64 * 8 + 8;
	r->out = malloc(bits);
	if (r->out)
		memset(r->out, 0xff, bits);
	return r->out;
}

static void region_free(struct hport_drv *d, struct hport_region *r)
{
	if (r->held)
		weft_mem_release(d->host, r->held);
	if (r->mem)
		weft_mem_free(d->host, r->mem);
	free(r->out);
	free(r);
}

int hport_drv_map(struct hport_drv *d, uint32_t vpid, uint64_t bytes,
		  weft_phys_t phys, struct hport_region **r_p)
{
	struct hport_kernel *k = d->kernel;
	struct hport_space *s = &k->space[vpid];
	uint64_t n;
	struct hport_region *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	if (!bytes || bytes > UINT64_MAX / 2 ||
	    !region_memory(d, r, bytes, phys)) {
		region_free(d, r);
		return phys ? -EFAULT : -ENOMEM;
	}
	r->vpid = vpid;
	hport_drv_lock(d);
	r->va = s->next_va ? s->next_va : FIRST_VA;
	s->next_va = r->va + r->bytes + HP_PAGE;
	r->next = s->first;
	s->first = r;
	hport_drv_unlock(d);
	n = r->bytes / HP_PAGE < PRELOAD ? r->bytes / HP_PAGE : PRELOAD;
	/* takes the lock, because all processes use the page of bulk inserts */
	hport_drv_lock(d);
	for (uint64_t i = 0; i < n; i++)
		k->bulk[i] = hport_drv_translate(d, vpid, r->va / HP_PAGE + i);
	hport_drv_cache_locked(
		d, HP_CACHE_CMD(HP_CACHE_BULK, HP_CACHE_TLB, vpid, n),
		r->va / HP_PAGE, k->bulk_phys);
	hport_drv_unlock(d);
	*r_p = r;
	return 0;
}

/* Selects a region by its address, or by the physical address of memory that
 * the driver allocated for it. */
struct which {
	uint64_t va;
	weft_phys_t phys;
};

/* Removes a region from the list, then frees it. In this order a miss cannot
 * find a region whose pages are being freed. Returns false when no such region
 * exists. */
static bool region_end(struct hport_drv *d, uint32_t vpid, struct which w)
{
	struct hport_region **at = &d->kernel->space[vpid].first, *r;
	uint64_t cmd = HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_TLB, vpid, 1);

	hport_drv_lock(d);
	while ((r = *at) && (w.phys ? !r->own || r->phys != w.phys
				    : w.va - r->va >= r->bytes))
		at = &r->next;
	if (r)
		*at = r->next;
	hport_drv_unlock(d);
	if (!r)
		return false;
	for (uint64_t i = 0; i < r->bytes / HP_PAGE; i++)
		while (!(r->out[i / 64] >> i % 64 & 1) &&
		       hport_drv_cache(d, cmd, r->va / HP_PAGE + i, 0) &
			       HP_CACHE_IN_USE)
			weft_host_cpu(
				d->host,
				weft_host_time(d->host, T_hostport_close_poll));
	region_free(d, r);
	return true;
}

void hport_space_end(struct hport_drv *d, uint32_t vpid)
{
	struct hport_space *s = &d->kernel->space[vpid];

	while (s->first)
		region_end(d, vpid, (struct which){ .va = s->first->va });
	s->next_va = 0;
}

/* ---- calls ---- */

int hport_k_map(struct hport_drv *d, struct hport_c_mem *a)
{
	struct hport_region *r;
	int ret;

	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	ret = hport_drv_map(d, a->vpid, a->bytes, a->phys, &r);
	if (ret)
		return ret;
	a->va = r->va + a->phys % HP_PAGE;
	a->phys = r->phys;
	return 0;
}

int hport_k_unmap(struct hport_drv *d, struct hport_c_mem *a)
{
	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	return region_end(d, a->vpid, (struct which){ .va = a->va }) ? 0
								     : -EINVAL;
}

/* Frees memory that was allocated for the process. */
int hport_k_free(struct hport_drv *d, struct hport_c_mem *a)
{
	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	return a->phys && region_end(d, a->vpid,
				     (struct which){ .phys = a->phys })
		       ? 0
		       : -EINVAL;
}

/* Swaps a page out, as the operating system would. Fails while the device uses
 * the page. */
int hport_k_page_out(struct hport_drv *d, struct hport_c_mem *a)
{
	uint64_t cmd = HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_TLB, a->vpid, 1);
	struct hport_region *r;
	uint64_t i;
	int ret = -EBUSY;

	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	hport_drv_lock(d);
	r = region_of(d->kernel, a->vpid, a->va);
	if (r && !(hport_drv_cache_locked(d, cmd, a->va / HP_PAGE, 0) &
		   HP_CACHE_PRESENT)) {
		i = (a->va - r->va) / HP_PAGE;
		r->out[i / 64] |= 1ull << i % 64;
		ret = 0;
	}
	hport_drv_unlock(d);
	return r ? ret : -EINVAL;
}

int hport_k_page_in(struct hport_drv *d, struct hport_c_mem *a)
{
	uint64_t cmd = HP_CACHE_CMD(HP_CACHE_INSERT, HP_CACHE_TLB, a->vpid, 1);

	if (!hport_port_of(d, a->vpid))
		return -EBADF;
	hport_drv_lock(d);
	hport_drv_cache_locked(
		d, cmd, a->va / HP_PAGE,
		hport_drv_translate(d, a->vpid, a->va / HP_PAGE));
	hport_drv_unlock(d);
	return 0;
}
