/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of another process that are pinned: contract in process_memory.h.
 *
 * Each pinned page gets a frame of the node's memory, whose address stands for
 * the page, as in mem_pin.c. The frame is a shadow of the page. The last page
 * of a range gets its frame first. */
#include "host/host_internal.h"
#include "host/process_memory_internal.h"

/* Returns the index of the first pin at address va or above. */
static size_t pin_find(const struct mem *m, uint64_t va)
{
	size_t lo = 0, hi = m->far_pins.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->far_pins.at[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct mem_far_pin *pin_of(const struct mem *m,
				  const struct weft_far_owner *o, uint64_t va)
{
	for (size_t i = pin_find(m, va);
	     i < m->far_pins.n && m->far_pins.at[i].va == va; i++)
		if (m->far_pins.at[i].owner == o)
			return &m->far_pins.at[i];
	return NULL;
}

static bool pin_page(struct mem *m, struct weft_far_owner *o, uint64_t va,
		     weft_phys_t *phys_p)
{
	struct mem_far_pin *pin = pin_of(m, o, va);
	struct mem_far f = { .owner = o, .va = va, .len = MEM_PAGE };

	if (pin) {
		pin->refs++;
		return mem_phys_own(m, pin->frame, phys_p);
	}
	f.shadow = mem_alloc(m, MEM_PAGE, MEM_PAGE, phys_p);
	if (!f.shadow)
		return false;
	mem_far_set(m, &f);
	vec_insert(&m->far_pins, pin_find(m, va),
		   (struct mem_far_pin){ va, o, f.shadow, 1 });
	return true;
}

static bool unpin_page(struct mem *m, const struct weft_far_owner *o,
		       uint64_t va)
{
	struct mem_far_pin *pin = pin_of(m, o, va);
	uint8_t *frame;

	if (!pin)
		return false;
	if (--pin->refs)
		return true;
	frame = pin->frame;
	vec_remove(&m->far_pins, (size_t)(pin - m->far_pins.at));
	return mem_far_del(m, frame);
}

bool mem_far_pin(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 uint64_t len, weft_phys_t *phys)
{
	uint64_t n = mem_pages(va, len), first = va - va % MEM_PAGE, i;

	if (len > m->bytes || va + len < va)
		return false;
	for (i = n;
	     i && pin_page(m, o, first + (i - 1) * MEM_PAGE, &phys[i - 1]); i--)
		;
	if (!i)
		return true;
	for (; i < n; i++)
		unpin_page(m, o, first + i * MEM_PAGE);
	return false;
}

bool mem_far_unpin(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   uint64_t len)
{
	uint64_t first = va - va % MEM_PAGE;
	bool ok = len <= m->bytes && va + len >= va;

	for (uint64_t i = 0; ok && i < mem_pages(va, len); i++)
		ok = unpin_page(m, o, first + i * MEM_PAGE);
	return ok;
}

bool mem_far_phys(const struct mem *m, const struct weft_far_owner *o,
		  uint64_t va, weft_phys_t *phys_p)
{
	const struct mem_far_pin *pin = pin_of(m, o, va - va % MEM_PAGE);

	return pin && mem_phys_own(m, pin->frame + va % MEM_PAGE, phys_p);
}

/* ---- functions for programs ---- */

bool weft_far_pin(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		  size_t len, weft_phys_t *phys)
{
	return mem_far_pin(&h->hp->mem, o, va, len, phys);
}

bool weft_far_unpin(struct weft_host *h, const struct weft_far_owner *o,
		    uint64_t va, size_t len)
{
	return mem_far_unpin(&h->hp->mem, o, va, len);
}

bool weft_far_phys(struct weft_host *h, const struct weft_far_owner *o,
		   uint64_t va, weft_phys_t *phys_p)
{
	return mem_far_phys(&h->hp->mem, o, va, phys_p);
}
