/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of neighbouring pages of a buffer. */
#ifndef STORAGE_PAGES_H
#define STORAGE_PAGES_H

#include "storage/record.h"
#include "weft/host.h"

struct pages {
	uint8_t *used; /* by page */
	uint32_t n, hint;
};

struct pages_run {
	uint32_t first, n; /* n 0: none */
};

/* Makes an allocator for `bytes` bytes, whose pages are all free. Returns false
 * if the host has too little memory. pages_free frees the allocator. */
bool pages_make(struct weft_host *h, struct pages *p, uint64_t bytes);
void pages_free(struct weft_host *h, struct pages *p);
/* Allocates a run of pages for `bytes` bytes, at least one page. Returns false
 * if no run of free pages is long enough. */
bool pages_get(struct pages *p, uint64_t bytes, struct pages_run *run_p);
/* Gives a run back and clears it. */
void pages_put(struct pages *p, struct pages_run *run);

#endif
