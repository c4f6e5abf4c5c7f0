/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of fi_atomic(3): a function for each type and operation,
 * generated from two lists. */
#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "provider/atomic.h"

typedef __int128 int128_t;
typedef unsigned __int128 uint128_t;
typedef float complex cfloat;
typedef double complex cdouble;
typedef long double ldouble;
typedef long double complex cldouble;

/* X(type of libfabric, C type, type for the calculation). The calculation of
 * integers is unsigned, so that overflow is defined. */
#define ATOMIC_INTS(X)                                                         \
	X(INT8, int8_t, uint32_t)                                              \
	X(UINT8, uint8_t, uint32_t)                                            \
	X(INT16, int16_t, uint32_t)                                            \
	X(UINT16, uint16_t, uint32_t)                                          \
	X(INT32, int32_t, uint32_t)                                            \
	X(UINT32, uint32_t, uint32_t)                                          \
	X(INT64, int64_t, uint64_t)                                            \
	X(UINT64, uint64_t, uint64_t)                                          \
	X(INT128, int128_t, uint128_t)                                         \
	X(UINT128, uint128_t, uint128_t)
#define ATOMIC_REALS(X)                                                        \
	X(FLOAT, float, float)                                                 \
	X(DOUBLE, double, double)                                              \
	X(LONG_DOUBLE, ldouble, ldouble)
#define ATOMIC_COMPLEX(X)                                                      \
	X(FLOAT_COMPLEX, cfloat, cfloat)                                       \
	X(DOUBLE_COMPLEX, cdouble, cdouble)                                    \
	X(LONG_DOUBLE_COMPLEX, cldouble, cldouble)

/* Y(operation, C type, new value of d), with s as operand and c as compare
 * operand. */
#define ATOMIC_ANY(Y, T, U)                                                    \
	Y(SUM, T, (T)((U)d + (U)s))                                            \
	Y(PROD, T, (T)((U)d * (U)s))                                           \
	Y(LOR, T, d || s)                                                      \
	Y(LAND, T, d &&s)                                                      \
	Y(LXOR, T, !d != !s)                                                   \
	Y(ATOMIC_READ, T, d)                                                   \
	Y(ATOMIC_WRITE, T, s)                                                  \
	Y(CSWAP, T, c == d ? s : d)                                            \
	Y(CSWAP_NE, T, c != d ? s : d)
#define ATOMIC_ORDERED(Y, T, U)                                                \
	Y(MIN, T, s < d ? s : d)                                               \
	Y(MAX, T, s > d ? s : d)                                               \
	Y(CSWAP_LE, T, c <= d ? s : d)                                         \
	Y(CSWAP_LT, T, c < d ? s : d)                                          \
	Y(CSWAP_GE, T, c >= d ? s : d)                                         \
	Y(CSWAP_GT, T, c > d ? s : d)
#define ATOMIC_BITS(Y, T, U)                                                   \
	Y(BOR, T, d | s)                                                       \
	Y(BAND, T, d &s)                                                       \
	Y(BXOR, T, d ^ s)                                                      \
	Y(MSWAP, T, (s & c) | (d & ~c))

#define ATOMIC_FN(op, T, expr)                                                 \
	static void T##_##op(void *dst, const void *src, const void *cmp,      \
			     void *res, size_t n)                              \
	{                                                                      \
		for (size_t i = 0; i < n * sizeof(T); i += sizeof(T)) {        \
			T d, s = 0, c = 0;                                     \
                                                                               \
			memcpy(&d, (char *)dst + i, sizeof(T));                \
			if (src)                                               \
				memcpy(&s, (const char *)src + i, sizeof(T));  \
			if (cmp)                                               \
				memcpy(&c, (const char *)cmp + i, sizeof(T));  \
			if (res)                                               \
				memcpy((char *)res + i, &d, sizeof(T));        \
			(void)s, (void)c;                                      \
			d = expr;                                              \
			memcpy((char *)dst + i, &d, sizeof(T));                \
		}                                                              \
	}
#define ATOMIC_REF(op, T, expr) [FI_##op] = T##_##op,

#define INT_FNS(type, T, U)                                                    \
	ATOMIC_ANY(ATOMIC_FN, T, U)                                            \
	ATOMIC_ORDERED(ATOMIC_FN, T, U)                                        \
	ATOMIC_BITS(ATOMIC_FN, T, U)
#define REAL_FNS(type, T, U)                                                   \
	ATOMIC_ANY(ATOMIC_FN, T, U) ATOMIC_ORDERED(ATOMIC_FN, T, U)
#define COMPLEX_FNS(type, T, U) ATOMIC_ANY(ATOMIC_FN, T, U)

ATOMIC_INTS(INT_FNS)
ATOMIC_REALS(REAL_FNS)
ATOMIC_COMPLEX(COMPLEX_FNS)

#define INT_ROW(type, T, U)                                                    \
	[FI_##type] = { ATOMIC_ANY(ATOMIC_REF, T, U) ATOMIC_ORDERED(           \
		ATOMIC_REF, T, U) ATOMIC_BITS(ATOMIC_REF, T, U) },
#define REAL_ROW(type, T, U)                                                   \
	[FI_##type] = { ATOMIC_ANY(ATOMIC_REF, T, U)                           \
				ATOMIC_ORDERED(ATOMIC_REF, T, U) },
#define COMPLEX_ROW(type, T, U) [FI_##type] = { ATOMIC_ANY(ATOMIC_REF, T, U) },

static wfi_atomic_fn *const atomic_tab[WFI_TYPES][WFI_ATOMICS] = { ATOMIC_INTS(
	INT_ROW) ATOMIC_REALS(REAL_ROW) ATOMIC_COMPLEX(COMPLEX_ROW) };

#define ATOMIC_SIZE(type, T, U) [FI_##type] = sizeof(T),

static const size_t atomic_sizes[WFI_TYPES] = { ATOMIC_INTS(
	ATOMIC_SIZE) ATOMIC_REALS(ATOMIC_SIZE) ATOMIC_COMPLEX(ATOMIC_SIZE) };

size_t wfi_atomic_size(unsigned type)
{
	return type < WFI_TYPES ? atomic_sizes[type] : 0;
}

wfi_atomic_fn *wfi_atomic_find(unsigned type, unsigned op)
{
	return type < WFI_TYPES && op < WFI_ATOMICS ? atomic_tab[type][op]
						    : NULL;
}
