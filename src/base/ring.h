/* SPDX-License-Identifier: Apache-2.0 */
/* Growable FIFO of any type, power-of-two capacity:
 *
 *	struct { RING(struct pkt); } r = { 0 };
 *
 *	*ring_push(&r) = pkt;
 *	ring_front(&r)->size;
 *	ring_pop(&r);
 *	*ring_insert(&r, e, e->time <= pkt.time) = pkt;
 *
 * Pointers to elements are valid until the next push. After warm-up nothing is
 * allocated. If memory runs out, the program ends. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RING(type)                                                             \
	type *at;                                                              \
	uint32_t head, tail, mask

/* Doubles the capacity. head and tail are free-running counters. The function
 * is cold and not inlined, so that a push saves no registers for it. */
__attribute__((noinline, cold, unused)) static void *
ring_grow_(void *at, uint32_t head, uint32_t tail, uint32_t *mask, size_t size)
{
	uint32_t old = *mask;
	char *a;

	*mask = old ? old * 2 + 1 : 7;
	a = malloc((*mask + 1ul) * size);
	if (!a)
		abort();
	for (uint32_t i = head; i != tail; i++)
		memcpy(a + (i & *mask) * size, (char *)at + (i & old) * size,
		       size);
	free(at);
	return a;
}

/* Is true if the next push allocates. One element always stays free, so a ring
 * without memory (mask 0) counts as full. */
#define ring_full(r) ((r)->tail - (r)->head >= (r)->mask)
/* Adds an element at the end and returns its address. The caller fills the
 * element. */
#define ring_push(r)                                                           \
	((void)(ring_full(r) &&                                                \
		((r)->at = ring_grow_((r)->at, (r)->head, (r)->tail,           \
				      &(r)->mask, sizeof(*(r)->at)))),         \
	 &(r)->at[(r)->tail++ & (r)->mask])
/* Adds an element behind the last element e for which the condition `stays`
 * holds, moves the later elements up, and returns the address of the new one.
 * The search starts at the end, because elements are pushed nearly in order. */
#define ring_insert(r, e, stays)                                               \
	({                                                                     \
		uint32_t i_ = (ring_push(r), (r)->tail - 1);                   \
                                                                               \
		for (; i_ != (r)->head; i_--) {                                \
			__typeof__((r)->at) e = ring_at(r, i_ - 1);            \
                                                                               \
			if (stays)                                             \
				break;                                         \
			*ring_at(r, i_) = *e;                                  \
		}                                                              \
		ring_at(r, i_);                                                \
	})
/* Adds v behind all elements that are not greater than v. Elements are ordered
 * by the member `key`, given with its dot or arrow. For elements that are
 * numbers, `key` is empty. */
#define ring_insert_sorted(r, v, key)                                          \
	((void)(*ring_insert(r, e_, (*e_)key <= (v)key) = (v)))
#define ring_empty(r)  ((r)->head == (r)->tail)
#define ring_count(r)  ((r)->tail - (r)->head)
#define ring_nth(r, i) (&(r)->at[((r)->head + (i)) & (r)->mask])
#define ring_front(r)  ring_nth(r, 0)
#define ring_pop(r)    ((void)(r)->head++)
/* Returns the address of element number `seq`. The number of an element is the
 * value of tail when the element was pushed. */
#define ring_at(r, seq) (&(r)->at[(seq) & (r)->mask])
/* Returns the address of the first or the last element, or NULL if the ring is
 * empty. */
#define ring_first(r) (ring_empty(r) ? NULL : ring_front(r))
#define ring_last(r)  (ring_empty(r) ? NULL : ring_at(r, (r)->tail - 1))
#define ring_clear(r) ((void)((r)->head = (r)->tail))
#define ring_free(r)                                                           \
	(free((r)->at), (r)->at = NULL,                                        \
	 (void)((r)->head = (r)->tail = (r)->mask = 0))

#endif
