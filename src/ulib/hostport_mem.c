/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: virtual memory and the TLB (hostport.md 4.11, 8.8).
 *
 * A region is whole pages at virtual addresses of its VPID.  New regions are
 * put into the TLB by bulk insert as far as a part of it goes; everything else
 * comes by misses, which hport_serve (hostport_serve.c) answers. */
#include <errno.h>
#include <string.h>

#include "ulib/hostport_drv.h"

enum { PRELOAD = 64 }; /* pages of a new region that go into the TLB at once */

static struct hport_region *region_of(struct hport_drv *d, uint32_t vpid,
				      uint64_t va)
{
	struct hport_region *r = d->kernel->regions;

	while (r && (r->vpid != vpid || va < r->va || va >= r->va + r->bytes))
		r = r->next;
	return r;
}

uint64_t hport_drv_translate(struct hport_drv *d, uint32_t vpid, uint64_t vpage)
{
	struct hport_region *r = region_of(d, vpid, vpage * HP_PAGE);
	uint64_t i;

	if (!r)
		return HP_TLB_FAULT;
	i = vpage - r->va / HP_PAGE;
	r->out[i / 64] &= ~(1ull << i % 64); /* pinned while it is there */
	return HP_TLB_ARG(r->phys / HP_PAGE + i, true);
}

/* ---- regions ----------------------------------------------------------- */

static void preload(struct hport_drv *d, const struct hport_region *r)
{
	struct hport_kernel *k = d->kernel;
	uint64_t n = r->bytes / HP_PAGE;

	n = n < PRELOAD ? n : PRELOAD;
	hport_drv_lock(d); /* the page is for all processes */
	for (uint64_t i = 0; i < n; i++)
		k->bulk[i] =
			hport_drv_translate(d, r->vpid, r->va / HP_PAGE + i);
	hport_drv_cache_locked(
		d, HP_CACHE_CMD(HP_CACHE_BULK, HP_CACHE_TLB, r->vpid, n),
		r->va / HP_PAGE, k->bulk_phys);
	hport_drv_unlock(d);
}

/* New memory, or the pages of some that is there. */
static bool region_memory(struct hport_drv *d, struct hport_region *r,
			  uint64_t bytes, uint8_t *mem)
{
	weft_phys_t phys;
	uint64_t skew = 0, bits;

	r->own = !mem;
	if (r->own)
		mem = weft_mem_alloc(d->host, bytes, HP_PAGE, &r->phys);
	else if (weft_mem_phys(d->host, mem, &r->phys))
		skew = r->phys % HP_PAGE;
	else
		mem = NULL;
	r->mem = mem ? mem - skew : NULL;
	r->phys -= skew;
	r->bytes = (skew + bytes + HP_PAGE - 1) / HP_PAGE * HP_PAGE;
	bits = r->bytes / HP_PAGE / 64 * 8 + 8;
	r->out = weft_mem_alloc(d->host, bits, 64, &phys);
	if (r->out)
		memset(r->out, 0xff, bits);
	return r->mem && r->out;
}

static void region_free(struct hport_drv *d, struct hport_region *r)
{
	if (r->own && r->mem)
		weft_mem_free(d->host, r->mem);
	if (r->out)
		weft_mem_free(d->host, r->out);
	weft_mem_free(d->host, r);
}

int hport_drv_map(struct hport_drv *d, uint32_t vpid, uint64_t bytes, void *mem,
		  struct hport_region **r_p)
{
	weft_phys_t phys;
	struct hport_region *r =
		weft_mem_alloc(d->host, sizeof(*r), HP_LINE, &phys);

	if (!r)
		return -ENOMEM;
	if (!region_memory(d, r, bytes, mem)) {
		region_free(d, r);
		return mem ? -EFAULT : -ENOMEM;
	}
	r->vpid = vpid;
	hport_drv_lock(d);
	r->va = d->kernel->next_va;
	d->kernel->next_va += r->bytes + HP_PAGE;
	r->next = d->kernel->regions;
	d->kernel->regions = r;
	hport_drv_unlock(d);
	preload(d, r);
	*r_p = r;
	return 0;
}

static void tlb_drop(struct hport_drv *d, const struct hport_region *r)
{
	uint64_t cmd = HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_TLB, r->vpid, 1);

	for (uint64_t i = 0; i < r->bytes / HP_PAGE; i++)
		while (!(r->out[i / 64] >> i % 64 & 1) &&
		       hport_drv_cache(d, cmd, r->va / HP_PAGE + i, 0) &
			       HP_CACHE_IN_USE)
			weft_host_cpu(d->host, WEFT_US);
}

void hport_drv_unmap(struct hport_drv *d, struct hport_region *r)
{
	struct hport_region **at = &d->kernel->regions;

	hport_drv_lock(d);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	hport_drv_unlock(d);
	tlb_drop(d, r);
	region_free(d, r);
}
