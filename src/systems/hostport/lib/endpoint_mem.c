/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: windows over the user's memory (hostport.md
 * 4.7).  What the user registers stays; what one transfer needs is kept in a
 * cache, the one that was not used for longest goes first.
 *
 * A key is Win-ID and capability, an address is an offset in the window, in
 * words at either end: the NIC that has the memory checks both. */
#include <errno.h>

#include "systems/hostport/lib/endpoint.h"

struct hostport_ep_buf *hostport_ep_buf_get(struct hostport_ep_buf *b,
					    uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!b[i].busy) {
			b[i].busy = true;
			return &b[i];
		}
	return NULL;
}

bool hostport_ep_reachable(struct hostport_ep *e, const void *p, size_t len)
{
	size_t last = len ? len - 1 : 0;
	weft_phys_t a, b;

	return weft_mem_phys(e->h, p, &a) &&
	       weft_mem_phys(e->h, (const uint8_t *)p + last, &b) &&
	       b - a == last;
}

uint64_t hostport_ep_reg_at(const struct hostport_ep_reg *r, const uint8_t *p)
{
	return (uint64_t)(p - r->p) + r->va % 8;
}

/* ---- windows ---- */

static int win_new(struct hostport_ep *e)
{
	for (uint32_t i = 0; i < e->windows; i++) {
		uint64_t bit = 1ull << i % 64;

		if (e->win_used[i / 64] & bit)
			continue;
		e->win_used[i / 64] |= bit;
		return (int)i;
	}
	return -ENOSPC;
}

/* Whole words; the capability has not been there before. */
int hostport_ep_win_open(struct hostport_ep *e, struct hostport_ep_reg *r,
			 uint32_t rights)
{
	uint64_t from = r->va & ~7ull, to = (r->va + r->len + 7) & ~7ull;
	int win = win_new(e);

	if (win < 0)
		return win;
	r->win = (uint32_t)win;
	r->capability = hport_vpid(e->p) << 16 ^ (uint32_t)++e->age * 40503u;
	return hport_window(e->p, r->win, from, to - from, rights,
			    r->capability);
}

static int reg_open(struct hostport_ep *e, struct hostport_ep_reg *r,
		    const void *p, size_t len, uint32_t rights)
{
	int ret;

	r->p = (uint8_t *)(uintptr_t)p;
	r->len = len;
	ret = hport_map(e->p, r->p, len, &r->va);
	if (!ret) {
		ret = hostport_ep_win_open(e, r, rights);
		if (ret)
			hport_unmap(e->p, r->va);
	}
	if (ret)
		r->p = NULL;
	return ret;
}

static void reg_close(struct hostport_ep *e, struct hostport_ep_reg *r)
{
	hport_window_close(e->p, r->win);
	hport_unmap(e->p, r->va);
	e->win_used[r->win / 64] &= ~(1ull << r->win % 64);
	r->p = NULL;
}

/* ---- the cache ---- */

static bool reg_covers(const struct hostport_ep_reg *r, const uint8_t *p,
		       size_t len)
{
	return r->p && p >= r->p && p + len <= r->p + r->len;
}

static struct hostport_ep_reg *reg_find(struct hostport_ep *e, const uint8_t *p,
					size_t len)
{
	struct hostport_ep_reg *r = e->mr;

	while (r && !reg_covers(r, p, len))
		r = r->next;
	for (uint32_t i = 0; !r && i < HOSTPORT_EP_CACHE; i++)
		if (reg_covers(&e->cache[i], p, len))
			r = &e->cache[i];
	return r;
}

/* A free one, or the oldest that nobody uses, closed. */
static struct hostport_ep_reg *reg_place(struct hostport_ep *e)
{
	struct hostport_ep_reg *old = NULL;

	for (struct hostport_ep_reg *r = e->cache;
	     r < e->cache + HOSTPORT_EP_CACHE; r++) {
		if (!r->p)
			return r;
		if (!r->users && (!old || r->age < old->age))
			old = r;
	}
	if (old)
		reg_close(e, old);
	return old;
}

struct hostport_ep_reg *hostport_ep_reg_get(struct hostport_ep *e,
					    const void *p, size_t len)
{
	struct hostport_ep_reg *r = reg_find(e, p, len);

	if (!r) {
		r = reg_place(e);
		if (!r || reg_open(e, r, p, len, HPORT_READ))
			return NULL;
	}
	r->users++;
	r->age = ++e->age;
	return r;
}

void hostport_ep_reg_put(struct hostport_ep_reg *r)
{
	if (r)
		r->users--;
}

/* ---- regions of the user ---- */

int hostport_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		       struct weft_ep_mr *mr_p)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_reg *r;
	int ret;

	if (!len)
		return -EINVAL;
	if (!hostport_ep_reachable(e, p, len))
		return -EFAULT;
	r = weft_host_calloc(e->h, 1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	ret = reg_open(e, r, p, len, HPORT_READ | HPORT_WRITE);
	if (ret) {
		weft_host_free(e->h, r);
		return ret;
	}
	r->next = e->mr;
	e->mr = r;
	mr_p->key = (uint64_t)r->win << 32 | r->capability;
	mr_p->addr = r->va % 8;
	mr_p->len = len;
	return 0;
}

static bool reg_is(const struct hostport_ep_reg *r, uint64_t key)
{
	return r->win == key >> 32 && r->capability == (uint32_t)key;
}

int hostport_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_reg **at = &e->mr, *r;

	while ((r = *at) && !reg_is(r, mr->key))
		at = &r->next;
	if (!r)
		return -EINVAL;
	if (r->users)
		return -EAGAIN;
	*at = r->next;
	reg_close(e, r);
	weft_host_free(e->h, r);
	return 0;
}

uint8_t *hostport_ep_mr_word(struct hostport_ep *e, uint64_t raddr,
			     uint64_t rkey)
{
	struct hostport_ep_reg *r = e->mr;
	uint64_t at;

	while (r && !reg_is(r, rkey))
		r = r->next;
	if (!r || raddr < r->va % 8)
		return NULL;
	at = raddr - r->va % 8;
	return at < r->len && r->len - at >= 8 ? r->p + at : NULL;
}

/* Windows and translations go with the port. */
void hostport_ep_mem_free(struct hostport_ep *e)
{
	struct hostport_ep_reg *r = e->mr;

	while (r) {
		struct hostport_ep_reg *next = r->next;

		weft_host_free(e->h, r);
		r = next;
	}
}
