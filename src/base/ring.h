/* SPDX-License-Identifier: Apache-2.0 */
/* Growable FIFO of any type, power-of-two capacity:
 *
 *	struct { RING(struct pkt); } r = { 0 };
 *
 *	*ring_push(&r) = pkt;
 *	ring_front(&r)->size;
 *	ring_pop(&r);
 *
 * Pointers into it last until the next push.  After warm-up nothing is
 * allocated.  Running out of memory ends the program. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RING(type)                                                             \
	type *at;                                                              \
	uint32_t head, tail, cap

/* Doubles a full ring; head and tail count without wrapping. */
static inline void *ring_grow_(void *at, uint32_t head, uint32_t tail,
			       uint32_t *cap, size_t size)
{
	uint32_t old = *cap;
	char *a;

	*cap = old ? old * 2 : 4;
	a = malloc(*cap * size);
	if (!a)
		abort();
	for (uint32_t i = head; i != tail; i++)
		memcpy(a + (i & (*cap - 1)) * size,
		       (char *)at + (i & (old - 1)) * size, size);
	free(at);
	return a;
}

/* The next push takes new memory. */
#define ring_full(r) ((r)->tail - (r)->head == (r)->cap)
/* Address of a new, unfilled last element. */
#define ring_push(r)                                                           \
	((void)(ring_full(r) &&                                                \
		((r)->at = ring_grow_((r)->at, (r)->head, (r)->tail,           \
				      &(r)->cap, sizeof(*(r)->at)))),          \
	 &(r)->at[(r)->tail++ & ((r)->cap - 1)])
#define ring_empty(r)  ((r)->head == (r)->tail)
#define ring_count(r)  ((r)->tail - (r)->head)
#define ring_nth(r, i) (&(r)->at[((r)->head + (i)) & ((r)->cap - 1)])
#define ring_front(r)  ring_nth(r, 0)
#define ring_pop(r)    ((void)(r)->head++)
/* Element pushed as number `seq` (value of tail at that time). */
#define ring_at(r, seq) (&(r)->at[(seq) & ((r)->cap - 1)])
/* Adds v behind all elements that are not greater, nearly always as the last
 * one.  key: the member that orders them, with its dot; nothing for numbers. */
#define ring_insert_sorted(r, v, key)                                          \
	do {                                                                   \
		uint32_t at_;                                                  \
                                                                               \
		(void)ring_push(r);                                            \
		for (at_ = (r)->tail - 1; at_ != (r)->head; at_--) {           \
			if ((*ring_at(r, at_ - 1)) key <= (v)key)              \
				break;                                         \
			*ring_at(r, at_) = *ring_at(r, at_ - 1);               \
		}                                                              \
		*ring_at(r, at_) = (v);                                        \
	} while (0)
#define ring_clear(r) ((void)((r)->head = (r)->tail))
#define ring_free(r)                                                           \
	(free((r)->at), (r)->at = NULL,                                        \
	 (void)((r)->head = (r)->tail = (r)->cap = 0))

#endif
