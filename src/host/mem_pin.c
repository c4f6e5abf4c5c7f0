/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of ordinary memory that devices can reach: contract in mem.h.
 *
 * A pinned page stays where it is and gets a page of the node's physical memory
 * as its address. Accesses of devices to this address go to the pinned page.
 * Neighbouring pages get addresses that are not neighbours, as on a machine
 * that has run for a while. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host/mem.h"

/* A pin of a physical page. Pages with equal hash form a chain. */
struct mem_pin {
	uint8_t *page; /* NULL: not pinned */
	uint32_t refs;
	uint32_t next; /* number + 1 of the next pin in the chain */
	bool gone;     /* the page was unpinned, so that accesses are strays */
};

static uint8_t *page_of(const void *p)
{
	return (uint8_t *)((uintptr_t)p & ~(uintptr_t)(MEM_PAGE - 1));
}

/* Returns the address of the link to the page's pin in its hash chain. Returns
 * the address of the chain's last link, which is 0, if the page has no pin. A
 * link is the index of a pin + 1. */
static uint32_t *mem_pin_find(const struct mem *m, const uint8_t *page)
{
	uint64_t x = (uintptr_t)page / MEM_PAGE * 0x9e3779b97f4a7c15u;
	uint32_t *f = &m->pin_hash[(x >> 32) % (m->bytes / MEM_PAGE)];

	while (*f && m->pin[*f - 1].page != page)
		f = &m->pin[*f - 1].next;
	return f;
}

/* Returns the bytes at phys of a pinned page, or NULL. A device may still reach
 * a page that its program has unpinned. Such accesses are dropped and counted
 * (weft_prog_strays). */
uint8_t *mem_pinned(struct mem *m, weft_phys_t phys)
{
	const struct mem_pin *pin = &m->pin[(phys - m->base) / MEM_PAGE];

	if (pin->page)
		return pin->page + phys % MEM_PAGE;
	m->strays += pin->gone;
	return NULL;
}

void mem_pins_taken(struct mem *m, uint64_t off, uint64_t bytes)
{
	for (uint64_t i = off / MEM_PAGE; i * MEM_PAGE < off + bytes; i++)
		m->pin[i].gone = false;
}

bool mem_pinned_phys(const struct mem *m, const void *p, weft_phys_t *phys_p)
{
	uint32_t f = *mem_pin_find(m, page_of(p));

	if (!f)
		return false;
	*phys_p = m->base + (uint64_t)(f - 1) * MEM_PAGE +
		  (uintptr_t)p % MEM_PAGE;
	return true;
}

void mem_pins_fini(struct mem *m)
{
	free(m->pin);
	free(m->pin_hash);
	m->pin = NULL;
	m->pin_hash = NULL;
}

static bool pin_page(struct mem *m, uint8_t *page, weft_phys_t *phys_p)
{
	uint32_t *f = mem_pin_find(m, page), frame;

	if (!*f) {
		if (!mem_alloc(m, MEM_PAGE, MEM_PAGE, phys_p))
			return false;
		frame = (uint32_t)((*phys_p - m->base) / MEM_PAGE);
		m->pin[frame] = (struct mem_pin){ .page = page };
		*f = frame + 1;
	}
	m->pin[*f - 1].refs++;
	*phys_p = m->base + (uint64_t)(*f - 1) * MEM_PAGE;
	return true;
}

static void unpin_page(struct mem *m, const uint8_t *page)
{
	uint32_t *f = mem_pin_find(m, page), frame = *f - 1;

	assert(*f);
	if (--m->pin[frame].refs)
		return;
	*f = m->pin[frame].next;
	m->pin[frame] = (struct mem_pin){ .gone = true };
	mem_free(m, m->map + (uint64_t)frame * MEM_PAGE);
}

bool mem_pin(struct mem *m, const void *p, uint64_t len, weft_phys_t *phys)
{
	uint64_t n = mem_pages((uintptr_t)p, len), i;
	uint8_t *page = page_of(p);
	weft_phys_t first;

	if (m->map && mem_phys_own(m, p, &first)) { /* device-visible already */
		for (i = 0; i < n; i++)
			phys[i] = first / MEM_PAGE * MEM_PAGE + i * MEM_PAGE;
		return true;
	}
	if (msync(page, n * MEM_PAGE, MS_ASYNC)) {
		errno = EFAULT; /* the program has no memory there */
		return false;
	}
	errno = ENOMEM;
	if (!m->pin) {
		m->pin = calloc(m->bytes / MEM_PAGE, sizeof(*m->pin));
		m->pin_hash = calloc(m->bytes / MEM_PAGE, sizeof(*m->pin_hash));
		if (!m->pin || !m->pin_hash) {
			mem_pins_fini(m);
			return false;
		}
	}
	for (i = n; i && pin_page(m, page + (i - 1) * MEM_PAGE, &phys[i - 1]);
	     i--)
		;
	if (!i)
		return true;
	for (; i < n; i++)
		unpin_page(m, page + i * MEM_PAGE);
	return false;
}

void mem_unpin(struct mem *m, const void *p, uint64_t len)
{
	weft_phys_t phys;

	if (mem_phys_own(m, p, &phys))
		return;
	for (uint64_t i = 0; i < mem_pages((uintptr_t)p, len); i++)
		unpin_page(m, page_of(p) + i * MEM_PAGE);
}
