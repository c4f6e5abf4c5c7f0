/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a stream that a stack keeps. They are appended at the end and
 * dropped at the front. */
#ifndef SYSTEMS_ETHERNET_LIB_STACK_BYTES_H
#define SYSTEMS_ETHERNET_LIB_STACK_BYTES_H

#include "weft/host.h"

struct stack_bytes {
	uint8_t *mem;
	/* first: offset of the first byte; n: number of bytes kept; cap:
	 * allocated bytes */
	uint32_t first, n, cap;
};

/* Appends n bytes. Returns 0, or -ENOMEM without any change. */
int stack_bytes_add(struct stack_bytes *b, struct weft_host *h, const void *p,
		    uint32_t n);
/* Drops the first n bytes. n must not exceed b->n. */
void stack_bytes_drop(struct stack_bytes *b, uint32_t n);
static inline const uint8_t *stack_bytes_at(const struct stack_bytes *b,
					    uint32_t i)
{
	return b->mem + b->first + i;
}
void stack_bytes_free(struct stack_bytes *b, struct weft_host *h);

#endif
