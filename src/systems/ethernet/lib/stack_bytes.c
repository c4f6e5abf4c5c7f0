/* SPDX-License-Identifier: Apache-2.0 */
/* Queue of the bytes of a stack, see stack_bytes.h. */
#include "systems/ethernet/lib/stack_bytes.h"

#include <errno.h>
#include <string.h>

enum { LEAST = 4096 };

int stack_bytes_add(struct stack_bytes *b, struct weft_host *h, const void *p,
		    uint32_t n)
{
	uint64_t cap = b->cap ? b->cap : LEAST;
	uint8_t *m = b->mem;

	if (!n)
		return 0;
	if (b->cap - b->first - b->n < n) {
		/* move the bytes to the start of the memory, or to a larger
		 * block */
		while (cap < (uint64_t)b->n + n)
			cap *= 2;
		if (cap > UINT32_MAX)
			return -ENOMEM;
		if (cap != b->cap)
			m = weft_host_calloc(h, cap, 1);
		if (!m)
			return -ENOMEM;
		if (b->n)
			memmove(m, b->mem + b->first, b->n);
		if (m != b->mem)
			weft_host_free(h, b->mem);
		b->mem = m;
		b->cap = (uint32_t)cap;
		b->first = 0;
	}
	memcpy(b->mem + b->first + b->n, p, n);
	b->n += n;
	return 0;
}

void stack_bytes_drop(struct stack_bytes *b, uint32_t n)
{
	b->n -= n;
	b->first = b->n ? b->first + n : 0;
}

void stack_bytes_free(struct stack_bytes *b, struct weft_host *h)
{
	weft_host_free(h, b->mem);
	memset(b, 0, sizeof(*b));
}
