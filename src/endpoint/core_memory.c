/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: memory that the NIC reaches. Regions of the user stay
 * registered. Registrations for single transfers are kept in a cache with
 * least-recently-used replacement. */
#include <errno.h>

#include "endpoint/core.h"

bool ep_reachable(struct ep *e, const void *p, size_t len)
{
	size_t last = len ? len - 1 : 0;
	weft_phys_t a, b;

	return weft_mem_phys(e->h, p, &a) &&
	       weft_mem_phys(e->h, (const uint8_t *)p + last, &b) &&
	       b - a == last;
}

struct ep_buf *ep_buf_get(struct ep_buf *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!b[i].busy) {
			b[i].busy = true;
			return &b[i];
		}
	return NULL;
}

static uint64_t pool_cut(struct ep *e, struct ep_buf *b, uint32_t n,
			 size_t bytes, size_t at)
{
	for (uint32_t i = 0; i < n; i++, at += bytes)
		b[i] = (struct ep_buf){ .p = e->pool.p + at, .at = at };
	return at;
}

int ep_pool_open(struct ep *e)
{
	size_t big = (e->ep.info.max_msg / EP_PAGE + 2) * EP_PAGE, at;
	int ret;

	e->lands = big > 128 << 10 ? EP_LANDS / 2 : e->nic->lands;
	e->pool.len = EP_BOUNCES * EP_BOUNCE + (EP_STAGES + e->lands) * big;
	ret = e->nic->pool_open(e, &e->pool);
	if (ret)
		return ret;
	at = pool_cut(e, e->bounce, EP_BOUNCES, EP_BOUNCE, 0);
	at = pool_cut(e, e->stage, EP_STAGES, big, at);
	pool_cut(e, e->land, e->lands, big, at);
	return 0;
}

/* ---- regions ---- */

static int region_open(struct ep *e, struct ep_region *r, const void *p,
		       size_t len, bool write)
{
	int ret = 0;

	r->p = (uint8_t *)(uintptr_t)p;
	r->len = len;
	if (e->nic->region_open) {
		ret = e->nic->region_open(e, r, write);
	} else {
		r->addr = (uintptr_t)p;
		r->key = ++e->age;
	}
	if (ret)
		r->p = NULL;
	return ret;
}

static void region_close(struct ep *e, struct ep_region *r)
{
	if (e->nic->region_close)
		e->nic->region_close(e, r);
	r->p = NULL;
}

/* ---- the cache ---- */

static bool region_covers(const struct ep_region *r, const uint8_t *p,
			  size_t len)
{
	return r->p && p >= r->p && len <= r->len &&
	       (size_t)(p - r->p) <= r->len - len;
}

/* Returns a free entry of the cache, or closes the least recently used region
 * that no operation uses. Returns NULL if all are in use. */
static struct ep_region *cache_place(struct ep *e)
{
	struct ep_region *old = NULL;

	for (struct ep_region *r = e->cache; r < e->cache + EP_CACHE; r++) {
		if (!r->p)
			return r;
		if (!r->users && (!old || r->age < old->age))
			old = r;
	}
	if (old)
		region_close(e, old);
	return old;
}

struct ep_region *ep_region_get(struct ep *e, const void *p, size_t len)
{
	struct ep_region *r = e->mr;

	while (r && !region_covers(r, p, len))
		r = r->next;
	for (uint32_t i = 0; i < EP_CACHE && !r; i++)
		if (region_covers(&e->cache[i], p, len))
			r = &e->cache[i];
	if (!r) {
		r = cache_place(e);
		if (!r || region_open(e, r, p, len, false))
			return NULL;
	}
	r->users++;
	r->age = ++e->age;
	return r;
}

/* ---- regions of the user ---- */

static bool within(uint64_t base, uint64_t size, uint64_t addr, uint64_t len)
{
	return addr >= base && len <= size && addr - base <= size - len;
}

bool ep_key_covers(const struct ep *e, uint64_t key, uint64_t addr, size_t len)
{
	uint32_t bits = e->nic->key_len_bits;

	return !bits ||
	       within(key >> bits, key & ((1ull << bits) - 1), addr, len);
}

struct ep_region *ep_region_find(struct ep *e, uint64_t key, uint64_t addr,
				 uint64_t len)
{
	for (struct ep_region *r = e->mr; r; r = r->next)
		if ((e->nic->key_len_bits || r->key == key) &&
		    within(r->addr, r->len, addr, len))
			return r;
	return NULL;
}

uint8_t *ep_region_at(struct ep *e, uint64_t key, uint64_t addr, uint64_t len)
{
	struct ep_region *r = ep_region_find(e, key, addr, len);

	return r ? r->p + (addr - r->addr) : NULL;
}

int ep_mr_reg(struct weft_ep *ep, void *p, size_t len, struct weft_ep_mr *mr_p)
{
	struct ep *e = (struct ep *)ep;
	uint32_t bits = e->nic->key_len_bits;
	struct ep_region *r;
	int ret;

	if (!len || (bits && len >> bits))
		return -EINVAL;
	if (e->nic->region_open ? !ep_reachable(e, p, len) : !p)
		return -EFAULT;
	r = weft_host_calloc(e->h, 1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	ret = region_open(e, r, p, len, true);
	if (ret) {
		weft_host_free(e->h, r);
		return ret;
	}
	r->next = e->mr;
	e->mr = r;
	*mr_p = (struct weft_ep_mr){ .key = r->key,
				     .addr = r->addr,
				     .len = len };
	return 0;
}

int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct ep *e = (struct ep *)ep;
	struct ep_region **at = &e->mr, *r;

	while ((r = *at) && (r->key != mr->key || r->addr != mr->addr))
		at = &r->next;
	if (!r)
		return -EINVAL;
	if (r->users)
		return -EAGAIN;
	*at = r->next;
	region_close(e, r);
	weft_host_free(e->h, r);
	return 0;
}
