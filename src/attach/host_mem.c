/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of weft/host.h in a process for memory of the node, which process and
 * simulator map, and for memory of the process. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/host_client.h"
#include "base/minmax.h"

uint64_t host_off(const struct weft_host *h, const volatile void *p)
{
	const uint8_t *at = (const uint8_t *)p;

	if (at < h->node->mem || at >= h->node->mem + h->node->info.mem_bytes)
		return UINT64_MAX;
	return (uint64_t)(at - h->node->mem);
}

/* ---- of the node ---- */

void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_ALLOC,
				  .io_len = bytes,
				  .io_off = align };
	struct att_reply r;

	if (!host_call(h, &c, &r))
		return NULL;
	if (phys_p)
		*phys_p = h->node->info.mem_base + r.b;
	return h->node->mem + r.b;
}

void weft_mem_free(struct weft_host *h, void *p)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_FREE,
				  .off = host_off(h, p) };

	if (p)
		host_put(h, &c);
}

bool weft_mem_phys(struct weft_host *h, const void *p, weft_phys_t *phys_p)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_PHYS, .off = (uintptr_t)p };
	uint64_t off = host_off(h, p);
	struct att_reply r;

	if (off != UINT64_MAX) {
		*phys_p = h->node->info.mem_base + off;
		return true;
	}
	if (!host_call(h, &c, &r))
		return false;
	*phys_p = r.b;
	return true;
}

void *weft_mem_at(struct weft_host *h, weft_phys_t phys, size_t n)
{
	uint64_t off = phys - h->node->info.mem_base;
	uint64_t size = h->node->info.mem_bytes;

	return off > size || n > size - off ? NULL : h->node->mem + off;
}

void weft_mem_give(struct weft_host *h, weft_phys_t phys)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_GIVE, .off = phys };

	host_put(h, &c);
}

bool weft_mem_hold(struct weft_host *h, weft_phys_t phys, size_t len)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_HOLD,
				  .off = phys,
				  .io_len = len };

	return host_call(h, &c, NULL);
}

bool weft_mem_release(struct weft_host *h, weft_phys_t phys)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_RELEASE, .off = phys };

	host_put(h, &c);
	return true;
}

/* ---- of the process ---- */

void *weft_host_calloc(struct weft_host *h, size_t n, size_t size)
{
	return calloc(n ? n : 1, size ? size : 1);
}

void *weft_host_align(struct weft_host *h, size_t align, size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, align, bytes ? bytes : 1))
		return NULL;
	return memset(p, 0, bytes);
}

void weft_host_free(struct weft_host *h, void *p)
{
	free(p);
}

void **weft_host_word(struct weft_host *h, const void *key)
{
	struct host_node *n = h->node;

	for (uint32_t i = 0; i < HOST_WORDS; i++) {
		if (n->word[i].key && n->word[i].key != key)
			continue;
		n->word[i].key = key;
		return &n->word[i].val;
	}
	return NULL;
}

static uint64_t pages_of(const void *p, size_t len)
{
	return ((uintptr_t)p % WEFT_PAGE + len + WEFT_PAGE - 1) / WEFT_PAGE;
}

static bool pin_some(struct weft_host *h, uint64_t va, uint64_t pages,
		     weft_phys_t *phys)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_PIN,
				  .off = va,
				  .io_len = pages * WEFT_PAGE };

	if (!host_call(h, &c, NULL))
		return false;
	memcpy(phys, h->att->rx, pages * sizeof(*phys));
	return true;
}

static void unpin_some(struct weft_host *h, uint64_t va, uint64_t pages)
{
	struct att_host_cmd c = { .kind = ATT_H_MEM_UNPIN,
				  .off = va,
				  .io_len = pages * WEFT_PAGE };

	host_put(h, &c);
}

/* Pins the last pages first, as the node does for a program in the simulator,
 * so that the process and such a program get equal addresses. */
bool weft_mem_pin(struct weft_host *h, const void *p, size_t len,
		  weft_phys_t *phys)
{
	/* The reply holds the addresses of `part` pages at most. A longer
	 * region needs several calls. */
	uint64_t n = pages_of(p, len), left = n,
		 part = h->att->seg->rx_bytes / sizeof(weft_phys_t);
	uint64_t va = (uintptr_t)p / WEFT_PAGE * WEFT_PAGE;
	uint64_t off = host_off(h, p);

	for (uint64_t i = 0; off != UINT64_MAX && i < n; i++)
		phys[i] = h->node->info.mem_base +
			  (off / WEFT_PAGE + i) * WEFT_PAGE;
	if (off != UINT64_MAX)
		return true;
	/* msync fails if the pages are not mapped. */
	if (msync((void *)(uintptr_t)va, n * WEFT_PAGE, MS_ASYNC))
		return false;
	while (left) {
		uint64_t k = min_of(left, part);

		if (!pin_some(h, va + (left - k) * WEFT_PAGE, k,
			      phys + left - k)) {
			if (left < n)
				unpin_some(h, va + left * WEFT_PAGE, n - left);
			return false;
		}
		left -= k;
	}
	return true;
}

void weft_mem_unpin(struct weft_host *h, const void *p, size_t len)
{
	if (host_off(h, p) == UINT64_MAX)
		unpin_some(h, (uintptr_t)p / WEFT_PAGE * WEFT_PAGE,
			   pages_of(p, len));
}

void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n)
{
	struct att_host_cmd c = { .kind = ATT_H_COPY, .io_len = n };

	host_post(h, &c, HOST_TAKES(1));
	weft_host_move(h, dst, src, n);
}

void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n)
{
	if (n)
		memcpy(dst, src, n);
}
