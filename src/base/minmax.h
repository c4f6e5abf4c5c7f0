/* SPDX-License-Identifier: Apache-2.0 */
/* The lesser and the greater of two numbers. Each argument is evaluated once.
 * The result has the type of the sum of both arguments, so that a narrow
 * counter and a wide limit compare as wide ones. The comparison under `if (0)`
 * makes the compiler warn about a mix of signed and unsigned variables. */
#ifndef BASE_MINMAX_H
#define BASE_MINMAX_H

#define min_of(a, b)                                                           \
	({                                                                     \
		__typeof__(1 ? (a) : (b)) min_a_ = (a), min_b_ = (b);          \
		if (0)                                                         \
			(void)((a) == (b));                                    \
		min_a_ < min_b_ ? min_a_ : min_b_;                             \
	})
#define max_of(a, b)                                                           \
	({                                                                     \
		__typeof__(1 ? (a) : (b)) max_a_ = (a), max_b_ = (b);          \
		if (0)                                                         \
			(void)((a) == (b));                                    \
		max_a_ > max_b_ ? max_a_ : max_b_;                             \
	})

#endif
