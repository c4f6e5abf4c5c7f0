/* SPDX-License-Identifier: Apache-2.0 */
/* ep.conformance: memory of the program, and tests of regions.
 *
 * With `far` the endpoint gets the address of a shadow, as it does for memory
 * of an attached process. The bytes lie at another address, so that an endpoint
 * that accesses the shadow directly fails. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "programs/ep_conformance.h"

/* ---- memory ---- */

static uint8_t *area_new(struct ec *e, uint32_t i, size_t bytes, bool pinned)
{
	struct conformance_area *a = &e->area[i];
	weft_phys_t phys;

	a->len = bytes;
	if (e->far || !pinned)
		a->p = weft_host_calloc(e->w.h, 1, bytes);
	else
		a->p = weft_mem_alloc(e->w.h, bytes, 64, &phys);
	if (e->far && a->p)
		a->shadow =
			weft_far_add(e->w.h, &e->owner, (uintptr_t)a->p, bytes);
	return e->far && !a->shadow ? NULL : a->p;
}

int conformance_memory(struct ec *e)
{
	size_t bytes = EC_COUNTERS + (size_t)e->w.n * EC_AREA;

	e->owner = (struct weft_far_owner){ .pid = getpid(), .strict = true };
	e->region = area_new(e, 0, bytes, true);
	e->pinned = area_new(e, 1, EC_AREA + 64, true);
	e->heap = area_new(e, 2, EC_AREA + 64, false);
	e->extra = area_new(e, 3, EC_EXTRA, true);
	e->shadow = weft_host_calloc(e->w.h, 1, bytes);
	return e->region && e->pinned && e->heap && e->extra && e->shadow
		       ? 0
		       : -ENOMEM;
}

void conformance_memory_free(struct ec *e)
{
	for (uint32_t i = 0; e->far && i < EC_AREAS; i++)
		weft_far_del(e->w.h, e->area[i].shadow);
	for (uint32_t i = 0; i < EC_AREAS; i++)
		if (e->far || i == 2)
			weft_host_free(e->w.h, e->area[i].p);
	weft_host_free(e->w.h, e->shadow);
}

void *conformance_at(const struct ec *e, const void *p)
{
	const uint8_t *b = p;

	for (uint32_t i = 0; e->far && i < EC_AREAS; i++) {
		const struct conformance_area *a = &e->area[i];

		if (b >= a->p && b < a->p + a->len)
			return a->shadow + (b - a->p);
	}
	return (void *)(uintptr_t)p;
}

/* ---- regions that are registered and removed ---- */

/* Deregisters a region. Waits for operations that still use it. */
static int conformance_memory_dereg(struct ec *e, const struct weft_ep_mr *mr)
{
	return EPW_RETRY(e->ep->ops->mr_dereg(e->ep, mr),
			 conformance_serve(e, false));
}

static int conformance_memory_reg(struct ec *e, size_t off, size_t len,
				  struct weft_ep_mr *mr_p)
{
	return e->ep->ops->mr_reg(e->ep, conformance_at(e, e->extra + off), len,
				  mr_p);
}

/* Opens more regions than any table can hold, but has at most four of them open
 * at the same time. Closing a region for the second time must fail.
 * conformance_dereg opens a further region afterwards, and reads it. */
void conformance_regs(struct ec *e)
{
	struct weft_ep_mr mr[4] = { 0 };

	for (uint32_t i = 0; i < e->regs; i++) {
		size_t len = 1 + conformance_random(e, EC_EXTRA);
		size_t off = conformance_random(e, EC_EXTRA - len + 1);
		struct weft_ep_mr *m = &mr[i % 4];
		int ret = m->len ? conformance_memory_dereg(e, m) : 0;

		EC_EXPECT(e, !ret, "regions: number %u goes with %d", i, ret);
		ret = conformance_memory_reg(e, off, len, m);
		EC_EXPECT(e, !ret && m->len == len,
			  "regions: number %u of %zu bytes says %d", i, len,
			  ret);
		if (ret)
			return;
	}
	for (uint32_t i = 0; i < 4 && mr[i].len; i++) {
		EC_EXPECT(e, !conformance_memory_dereg(e, &mr[i]),
			  "regions: one does not go");
		EC_EXPECT(e, conformance_memory_dereg(e, &mr[i]) == -EINVAL,
			  "regions: one goes twice");
	}
}

/* Gets a word of a peer's region. Returns the status of the get. */
static int read_word(struct ec *e, uint32_t src, uint64_t *val_p)
{
	struct conformance_op *op = conformance_ops(e, 1);
	char addr[24], key[24];
	int ret;

	conformance_key(e, "xaddr", addr, sizeof(addr));
	conformance_key(e, "xkey", key, sizeof(key));
	ret = EPW_RETRY(
		weft_ep_post(e->ep,
			     &(struct weft_ep_op){
				     .code = WEFT_EP_GET,
				     .dst = src,
				     .into = conformance_at(e, e->pinned),
				     .len = 64,
				     .raddr = program_get(&e->w, addr, src),
				     .rkey = program_get(&e->w, key, src),
				     .ctx = op }),
		conformance_serve(e, false));
	if (ret)
		return ret;
	conformance_wait(e, op);
	memcpy(val_p, e->pinned, sizeof(*val_p));
	return op->status;
}

static void read_all(struct ec *e, bool there)
{
	conformance_barrier(e);
	for (uint32_t p = 0; p < e->w.n; p++) {
		uint64_t val = 0;
		int ret = read_word(e, p, &val);

		EC_EXPECT(e, !there == (ret < 0),
			  "dereg: get from node %u says %d, the region is %s",
			  p, ret, there ? "there" : "gone");
		EC_EXPECT(e, !there || val == program_base(p, 7, 7),
			  "dereg: get from node %u brings something else", p);
	}
	conformance_barrier(e);
}

/* Tests that an access to a closed region fails with an error. */
void conformance_dereg(struct ec *e)
{
	uint64_t val = program_base(e->w.me, 7, 7);
	char addr[24], key[24];
	struct weft_ep_mr mr;

	memcpy(e->extra, &val, sizeof(val));
	if (conformance_memory_reg(e, 0, 4096, &mr)) {
		weft_check_failed(e->w.c, "dereg: cannot register");
		return;
	}
	conformance_key(e, "xaddr", addr, sizeof(addr));
	conformance_key(e, "xkey", key, sizeof(key));
	program_put(&e->w, addr, mr.addr);
	program_put(&e->w, key, mr.key);
	read_all(e, true);
	EC_EXPECT(e, !conformance_memory_dereg(e, &mr),
		  "dereg: it does not go");
	read_all(e, false);
}
