/* SPDX-License-Identifier: Apache-2.0 */
/* Growable array of any type:
 *
 *	struct { VEC(int); } v = { 0 };
 *
 *	vec_push(&v, 7);
 *	vec_foreach(&v, int, it)
 *		sum += *it;
 *	vec_free(&v);
 *
 * v.at[0..v.n-1] are the elements. Pointers to them are valid until the next
 * push. If memory runs out, the program ends. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                              \
	type *at;                                                              \
	size_t n, cap

/* Returns the array with room for one more element of `size` bytes. */
static inline void *vec_grow_(void *at, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return at;
	*cap = *cap ? *cap * 2 : 8;
	at = reallocarray(at, *cap, size);
	if (!at)
		abort();
	return at;
}

#define vec_push(v, ...)                                                       \
	((v)->at = vec_grow_((v)->at, (v)->n, &(v)->cap, sizeof(*(v)->at)),    \
	 (void)((v)->at[(v)->n++] = (__VA_ARGS__)))
/* Inserts val at index i <= n. The elements from index i on move to the next
 * higher index. */
#define vec_insert(v, i, ...)                                                  \
	({                                                                     \
		size_t i_ = (i); /* before n grows, because i may use it */    \
		(v)->at = vec_grow_((v)->at, (v)->n, &(v)->cap,                \
				    sizeof(*(v)->at));                         \
		memmove((v)->at + i_ + 1, (v)->at + i_,                        \
			((v)->n++ - i_) * sizeof(*(v)->at));                   \
		(v)->at[i_] = (__VA_ARGS__);                                   \
	})
/* Removes element i < n. The elements behind it move to the next lower
 * index. */
#define vec_remove(v, i)                                                       \
	({                                                                     \
		size_t i_ = (i);                                               \
		memmove((v)->at + i_, (v)->at + i_ + 1,                        \
			(--(v)->n - i_) * sizeof(*(v)->at));                   \
	})
#define vec_pop(v)   ((v)->at[--(v)->n])
#define vec_last(v)  ((v)->at[(v)->n - 1])
#define vec_clear(v) ((void)((v)->n = 0))
#define vec_free(v)                                                            \
	(free((v)->at), (v)->at = NULL, (void)((v)->n = (v)->cap = 0))
#define vec_foreach(v, type, it)                                               \
	for (type *it = (v)->at, *it##_end = it ? it + (v)->n : it;            \
	     it != it##_end; it++)

#endif
