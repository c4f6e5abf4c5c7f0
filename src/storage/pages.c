/* SPDX-License-Identifier: Apache-2.0 */
/* Allocator of runs of pages, next fit. Runs that are allocated one after the
 * other are neighbours in the buffer, and their owners usually free them at
 * about the same time. Therefore free pages form long runs. */
#include "storage/pages.h"

#include <string.h>

bool pages_make(struct weft_host *h, struct pages *p, uint64_t bytes)
{
	p->n = (uint32_t)(bytes / STORAGE_PAGE);
	p->hint = 0;
	p->used = weft_host_calloc(h, p->n + 1, 1);
	return p->used;
}

void pages_free(struct weft_host *h, struct pages *p)
{
	weft_host_free(h, p->used);
	*p = (struct pages){ 0 };
}

/* Returns the first of n free pages in [from, to), or `to`. */
static uint32_t run_find(const struct pages *p, uint32_t from, uint32_t to,
			 uint32_t n)
{
	uint32_t run = 0;

	for (uint32_t i = from; i < to; i++) {
		run = p->used[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return to;
}

bool pages_get(struct pages *p, uint64_t bytes, struct pages_run *run_p)
{
	uint64_t n = bytes ? (bytes + STORAGE_PAGE - 1) / STORAGE_PAGE : 1;
	uint32_t at;

	if (n > p->n)
		return false;
	at = run_find(p, p->hint, p->n, (uint32_t)n);
	if (at == p->n && p->hint)
		at = run_find(p, 0, p->n, (uint32_t)n);
	if (at == p->n)
		return false;
	memset(p->used + at, 1, n);
	*run_p = (struct pages_run){ at, (uint32_t)n };
	p->hint = at + (uint32_t)n;
	return true;
}

void pages_put(struct pages *p, struct pages_run *run)
{
	memset(p->used + run->first, 0, run->n);
	*run = (struct pages_run){ 0 };
}
