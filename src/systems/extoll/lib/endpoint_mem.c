/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: registered memory.  Regions of the user stay; what a
 * single transfer needs is kept in a cache of six, the one that was not used
 * for longest goes first (extoll.md 6.3).
 *
 * A key is address and length: key = address << 31 | length (addresses of the
 * one table that the driver uses have 30 bits), so that a put outside of its
 * region is refused before it leaves; the NIC checks pages. */
#include <errno.h>

#include "systems/extoll/lib/endpoint.h"

enum { KEY_LEN_BITS = 31 };

bool extoll_ep_reachable(struct extoll_ep *e, const void *p, size_t len)
{
	weft_phys_t first, last;

	return weft_mem_phys(e->h, p, &first) &&
	       weft_mem_phys(e->h, (const uint8_t *)p + (len ? len - 1 : 0),
			     &last) &&
	       last - first == (len ? len - 1 : 0);
}

static bool reg_covers(const struct extoll_ep_reg *r, const uint8_t *p,
		       size_t len)
{
	return r->region && p >= r->p && len <= r->len &&
	       (size_t)(p - r->p) <= r->len - len;
}

static struct extoll_ep_reg *reg_find(struct extoll_ep *e, const uint8_t *p,
				      size_t len)
{
	for (struct extoll_ep_reg *r = e->mr; r; r = r->next)
		if (reg_covers(r, p, len))
			return r;
	for (uint32_t i = 0; i < EXTOLL_EP_CACHE; i++)
		if (reg_covers(&e->cache[i], p, len))
			return &e->cache[i];
	return NULL;
}

/* A place in the cache: free, or the oldest that nobody uses. */
static struct extoll_ep_reg *reg_place(struct extoll_ep *e)
{
	struct extoll_ep_reg *best = NULL;

	for (uint32_t i = 0; i < EXTOLL_EP_CACHE; i++) {
		struct extoll_ep_reg *r = &e->cache[i];

		if (!r->region)
			return r;
		if (!r->users && (!best || r->age < best->age))
			best = r;
	}
	if (best)
		rma_unregister(e->rma, best->region);
	if (best)
		best->region = NULL;
	return best;
}

struct extoll_ep_reg *extoll_ep_reg_get(struct extoll_ep *e, const void *p,
					size_t len)
{
	struct extoll_ep_reg *r = reg_find(e, p, len);

	if (!r) {
		r = reg_place(e);
		if (!r ||
		    rma_register(e->rma, (void *)(uintptr_t)p, len, &r->region))
			return NULL;
		r->p = (uint8_t *)(uintptr_t)p;
		r->len = len;
	}
	r->users++;
	r->age = ++e->age;
	return r;
}

void extoll_ep_reg_put(struct extoll_ep_reg *r)
{
	if (r)
		r->users--;
}

/* ---- regions of the user ---- */

bool extoll_ep_key_covers(uint64_t key, uint64_t addr, size_t len)
{
	uint64_t base = key >> KEY_LEN_BITS;
	uint64_t size = key & ((1u << KEY_LEN_BITS) - 1);

	return addr >= base && len <= size && addr - base <= size - len;
}

int extoll_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		     struct weft_ep_mr *mr_p)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	struct extoll_ep_reg *r;
	rma_nla_t nla;
	int ret;

	if (!len || len >= 1u << KEY_LEN_BITS)
		return -EINVAL;
	if (!extoll_ep_reachable(e, p, len))
		return -EFAULT;
	r = weft_host_calloc(e->h, 1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	ret = rma_register(e->rma, p, len, &r->region);
	if (ret) {
		weft_host_free(e->h, r);
		return -ENOMEM;
	}
	r->p = p;
	r->len = len;
	r->next = e->mr;
	e->mr = r;
	rma_get_nla(r->region, 0, &nla);
	*mr_p = (struct weft_ep_mr){ .key = nla << KEY_LEN_BITS | len,
				     .addr = nla,
				     .len = len };
	return 0;
}

/* Its entries are out of the ATU and unused before it is over. */
int extoll_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	struct extoll_ep_reg **at = &e->mr, *r;
	rma_nla_t nla;

	for (; (r = *at); at = &r->next)
		if (!rma_get_nla(r->region, 0, &nla) && nla == mr->addr &&
		    r->len == mr->len)
			break;
	if (!r)
		return -EINVAL;
	if (r->users)
		return -EAGAIN;
	*at = r->next;
	rma_unregister(e->rma, r->region);
	weft_host_free(e->h, r);
	return 0;
}

uint8_t *extoll_ep_mr_at(struct extoll_ep *e, uint64_t addr, size_t len)
{
	for (struct extoll_ep_reg *r = e->mr; r; r = r->next) {
		rma_nla_t nla;

		rma_get_nla(r->region, 0, &nla);
		if (addr >= nla && len <= r->len && addr - nla <= r->len - len)
			return r->p + (addr - nla);
	}
	return NULL;
}

/* The port closes with all its registrations. */
void extoll_ep_mem_free(struct extoll_ep *e)
{
	struct extoll_ep_reg *r;

	while ((r = e->mr)) {
		e->mr = r->next;
		weft_host_free(e->h, r);
	}
}
