/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a stream that a stack keeps: added behind, dropped in front. */
#ifndef SYSTEMS_ETHERNET_LIB_STACK_BYTES_H
#define SYSTEMS_ETHERNET_LIB_STACK_BYTES_H

#include "weft/host.h"

struct stack_bytes {
	uint8_t *mem;
	uint32_t first, n, cap; /* first and number of those kept */
};

/* 0 or -ENOMEM; then nothing is added. */
int stack_bytes_add(struct stack_bytes *b, struct weft_host *h, const void *p,
		    uint32_t n);
void stack_bytes_drop(struct stack_bytes *b, uint32_t n);
static inline const uint8_t *stack_bytes_at(const struct stack_bytes *b,
					    uint32_t i)
{
	return b->mem + b->first + i;
}
void stack_bytes_free(struct stack_bytes *b, struct weft_host *h);

#endif
