/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the FORTH NIC: regions of the user.  The NIC has no table of
 * them (forth.md 3): it writes to any address of the node.  Keys carry base and
 * length, and what goes through this library is looked up. */
#include <errno.h>
#include <string.h>

#include "systems/forth/lib/endpoint.h"

struct forth_ep_mr *forth_ep_mr_find(struct forth_ep *e, uint64_t raddr,
				     size_t len)
{
	for (uint32_t i = 0; i < e->n_mr; i++) {
		struct forth_ep_mr *mr = &e->mr[i];

		if (raddr >= mr->phys && len <= mr->len &&
		    raddr - mr->phys <= mr->len - len)
			return mr;
	}
	return NULL;
}

uint8_t *forth_ep_mr_at(struct forth_ep *e, uint64_t raddr, size_t len)
{
	struct forth_ep_mr *mr = forth_ep_mr_find(e, raddr, len);

	return mr ? mr->p + (raddr - mr->phys) : NULL;
}

static uint64_t forth_ep_key(weft_phys_t base, size_t len)
{
	return base << 32 | (uint32_t)len;
}

bool forth_ep_key_covers(uint64_t key, uint64_t addr, size_t len)
{
	uint64_t base = key >> 32, size = (uint32_t)key;

	return addr >= base && len <= size && addr - base <= size - len;
}

int forth_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		    struct weft_ep_mr *mr_p)
{
	struct forth_ep *e = forth_ep_of(ep);
	weft_phys_t phys, last;
	struct forth_ep_mr *mr;

	if (!len || len > UINT32_MAX)
		return -EINVAL;
	if (!weft_mem_phys(e->h, p, &phys) ||
	    !weft_mem_phys(e->h, (uint8_t *)p + len - 1, &last) ||
	    last - phys != len - 1 || last > UINT32_MAX)
		return -EFAULT;
	mr = weft_host_calloc(e->h, e->n_mr + 1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	if (e->n_mr)
		memcpy(mr, e->mr, e->n_mr * sizeof(*mr));
	weft_host_free(e->h, e->mr);
	e->mr = mr;
	mr[e->n_mr++] =
		(struct forth_ep_mr){ .p = p, .phys = phys, .len = len };
	*mr_p = (struct weft_ep_mr){ .key = forth_ep_key(phys, len),
				     .addr = phys,
				     .len = len };
	return 0;
}

/* An answer that still reads the region. */
static bool forth_ep_list_uses(const struct forth_ep_list *l,
			       const struct forth_ep_mr *mr)
{
	for (const struct forth_ep_op *op = l->head; op; op = op->next)
		if (op->internal && op->len && op->buf >= mr->p &&
		    op->buf < mr->p + mr->len)
			return true;
	return false;
}

static bool forth_ep_mr_used(const struct forth_ep *e,
			     const struct forth_ep_mr *mr)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (forth_ep_list_uses(&e->peer[p].todo, mr) ||
		    forth_ep_list_uses(&e->peer[p].departing, mr))
			return true;
	return false;
}

/* The NIC goes on to write what is put there: it has no table of regions. */
int forth_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct forth_ep *e = forth_ep_of(ep);
	uint32_t i = e->n_mr;

	while (i &&
	       (e->mr[i - 1].phys != mr->addr || e->mr[i - 1].len != mr->len))
		i--;
	if (!i--)
		return -EINVAL;
	if (forth_ep_mr_used(e, &e->mr[i]))
		return -EAGAIN;
	memmove(&e->mr[i], &e->mr[i + 1], (--e->n_mr - i) * sizeof(*e->mr));
	return 0;
}
