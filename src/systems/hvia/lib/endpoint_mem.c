/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over VIs: regions of the user, a table of this library. */
#include <errno.h>

#include "systems/hvia/lib/endpoint.h"

static struct hvia_ep_region *region_of(const struct hvia_ep *e, uint64_t key)
{
	struct hvia_ep_region *r;

	if ((uint32_t)key >= e->region.n)
		return NULL;
	r = &e->region.at[(uint32_t)key];
	return r->p && r->age == key >> 32 ? r : NULL;
}

uint8_t *hvia_ep_at(const struct hvia_ep *e, uint64_t key, uint64_t addr,
		    uint64_t len)
{
	const struct hvia_ep_region *r;

	r = region_of(e, key);
	if (!r || addr < (uintptr_t)r->p || addr - (uintptr_t)r->p > r->len ||
	    len > r->len - (addr - (uintptr_t)r->p))
		return NULL;
	return (uint8_t *)(uintptr_t)addr;
}

int hvia_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		   struct weft_ep_mr *mr_p)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_region *r;
	size_t i = 0;

	if (!p)
		return -EFAULT;
	while (i < e->region.n && e->region.at[i].p)
		i++;
	e->region.at = hvia_ep_grow(e, e->region.at, e->region.n,
				    &e->region.cap, sizeof(*r));
	if (i == e->region.n)
		e->region.at[e->region.n++] = (struct hvia_ep_region){ 0 };
	r = &e->region.at[i];
	r->p = p;
	r->len = len;
	*mr_p = (struct weft_ep_mr){ .key = (uint64_t)r->age << 32 | i,
				     .addr = (uintptr_t)p,
				     .len = len };
	return 0;
}

/* An answer still reads the region. */
static bool region_used(const struct hvia_ep *e, const struct hvia_ep_region *r)
{
	for (const struct hvia_ep_op *op = e->op; op < e->op + HVIA_EP_OPS;
	     op++)
		if (op->used && op->kind == HVIA_EP_GET_DATA && op->len &&
		    op->buf >= r->p && op->buf < r->p + r->len)
			return true;
	return false;
}

int hvia_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_region *r = region_of(e, mr->key);

	if (!r)
		return -EINVAL;
	if (region_used(e, r))
		return -EAGAIN;
	r->p = NULL;
	r->age++;
	return 0;
}
