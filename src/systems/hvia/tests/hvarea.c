/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of scattered pages: see hvarea.h. */
#include "hvarea.h"

#include <assert.h>
#include <stdio.h>

void hvarea_new(struct hvarea *a, struct hvrig *r, uint64_t va, uint32_t len,
		uint32_t rights, uint32_t seed)
{
	weft_phys_t phys, page[HVAREA_PAGES];

	a->va = va;
	a->len = len;
	a->pages =
		(uint32_t)((va % HVIA_PAGE + len + HVIA_PAGE - 1) / HVIA_PAGE);
	assert(a->pages <= HVAREA_PAGES);
	a->mem = weft_mem_alloc(r->h, (size_t)a->pages * HVIA_PAGE, HVIA_PAGE,
				&phys);
	assert(a->mem);
	for (uint32_t i = 0; i < a->pages; i++)
		a->place[i] = i;
	for (uint32_t i = a->pages; i > 1; i--) {
		uint32_t k = hvarea_rand(&seed) % i, t = a->place[k];

		a->place[k] = a->place[i - 1];
		a->place[i - 1] = t;
	}
	for (uint32_t i = 0; i < a->pages; i++)
		page[i] = phys + (weft_phys_t)a->place[i] * HVIA_PAGE;
	a->handle = hvrig_region(r, va, len, page, HVRIG_PTAG, rights);
}

uint8_t *hvarea_at(const struct hvarea *a, uint64_t off)
{
	uint64_t x = a->va % HVIA_PAGE + off;

	return a->mem + (size_t)a->place[x / HVIA_PAGE] * HVIA_PAGE +
	       x % HVIA_PAGE;
}

void hvarea_meet(struct weft_host *h, uint32_t *turn)
{
	uint32_t me = weft_host_node(h);
	char key[32];

	snprintf(key, sizeof(key), "n%u.%u", me, *turn);
	weft_oob_put(h, key, 1);
	snprintf(key, sizeof(key), "n%u.%u", !me, (*turn)++);
	weft_oob_get(h, key);
}
