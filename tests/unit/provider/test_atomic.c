/* SPDX-License-Identifier: Apache-2.0 */
/* The table of atomics against the definitions of fi_atomic(3). */
#include <complex.h>
#include <string.h>

#include "../cmocka_all.h"
#include "provider/atomic.h"

/* Executes one atomic on operands at odd addresses, and checks memory and the
 * old value. */
#define STEP(T, type, op, mem, src, cmp, want)                                 \
	do {                                                                   \
		char d_[40], s_[40], c_[40], r_[40];                           \
		T in_ = (mem), sv_ = (src), cv_ = (cmp), want_ = (want);       \
		T got_, old_;                                                  \
                                                                               \
		memcpy(d_ + 1, &in_, sizeof(T));                               \
		memcpy(s_ + 3, &sv_, sizeof(T));                               \
		memcpy(c_ + 5, &cv_, sizeof(T));                               \
		wfi_atomic_find(type, op)(d_ + 1, s_ + 3, c_ + 5, r_ + 7, 1);  \
		memcpy(&got_, d_ + 1, sizeof(T));                              \
		memcpy(&old_, r_ + 7, sizeof(T));                              \
		assert_true(got_ == want_);                                    \
		assert_true(old_ == in_);                                      \
	} while (0)

static void integer_atomics_wrap_and_combine_bits(void **state)
{
	STEP(int8_t, FI_INT8, FI_SUM, 127, 1, 0, -128);
	STEP(int8_t, FI_INT8, FI_MIN, -5, 3, 0, -5);
	STEP(uint8_t, FI_UINT8, FI_MIN, 251, 3, 0, 3);
	STEP(uint16_t, FI_UINT16, FI_PROD, 65535, 65535, 0, 1);
	STEP(int32_t, FI_INT32, FI_SUM, INT32_MAX, 1, 0, INT32_MIN);
	STEP(int32_t, FI_INT32, FI_MAX, -1, -2, 0, -1);
	STEP(int64_t, FI_INT64, FI_PROD, INT64_MIN, -1, 0, INT64_MIN);
	STEP(uint64_t, FI_UINT64, FI_LOR, 0, 8, 0, 1);
	STEP(uint64_t, FI_UINT64, FI_LAND, 4, 8, 0, 1);
	STEP(uint64_t, FI_UINT64, FI_LXOR, 4, 8, 0, 0);
	STEP(uint64_t, FI_UINT64, FI_BOR, 4, 8, 0, 12);
	STEP(uint64_t, FI_UINT64, FI_BAND, 12, 8, 0, 8);
	STEP(uint64_t, FI_UINT64, FI_BXOR, 12, 8, 0, 4);
	STEP(uint64_t, FI_UINT64, FI_ATOMIC_READ, 12, 8, 0, 12);
	STEP(uint64_t, FI_UINT64, FI_ATOMIC_WRITE, 12, 8, 0, 8);
}

/* The operands of the comparison are the compare value and memory. */
static void swap_happens_when_the_compared_value_fits(void **state)
{
	STEP(int32_t, FI_INT32, FI_CSWAP, 5, 9, 5, 9);
	STEP(int32_t, FI_INT32, FI_CSWAP, 5, 9, 6, 5);
	STEP(int32_t, FI_INT32, FI_CSWAP_NE, 5, 9, 6, 9);
	STEP(int32_t, FI_INT32, FI_CSWAP_LE, 5, 9, 5, 9);
	STEP(int32_t, FI_INT32, FI_CSWAP_LE, 5, 9, 6, 5);
	STEP(int32_t, FI_INT32, FI_CSWAP_LT, 5, 9, 4, 9);
	STEP(int32_t, FI_INT32, FI_CSWAP_LT, 5, 9, 5, 5);
	STEP(int32_t, FI_INT32, FI_CSWAP_GE, -5, 9, -5, 9);
	STEP(int32_t, FI_INT32, FI_CSWAP_GE, -5, 9, -6, -5);
	STEP(int32_t, FI_INT32, FI_CSWAP_GT, -5, 9, -4, 9);
	STEP(uint32_t, FI_UINT32, FI_MSWAP, 0xff00ff00, 0x12345678, 0x0000ffff,
	     0xff005678);
}

static void atomics_of_128_bits_carry_and_compare(void **state)
{
	unsigned __int128 big = (unsigned __int128)1 << 100;
	__int128 neg = -((__int128)1 << 90);

	STEP(unsigned __int128, FI_UINT128, FI_SUM, big - 1, 1, 0, big);
	STEP(unsigned __int128, FI_UINT128, FI_CSWAP, big, 7, big, 7);
	STEP(unsigned __int128, FI_UINT128, FI_CSWAP, big, 7, big + 1, big);
	STEP(unsigned __int128, FI_UINT128, FI_MSWAP, 0, ~(unsigned __int128)0,
	     big, big);
	STEP(__int128, FI_INT128, FI_MIN, 3, neg, 0, neg);
	STEP(__int128, FI_INT128, FI_CSWAP_GT, neg, 1, 0, 1);
}

static void real_and_complex_atomics_compute(void **state)
{
	STEP(float, FI_FLOAT, FI_SUM, 1.5f, 2.25f, 0, 3.75f);
	STEP(double, FI_DOUBLE, FI_MAX, -1.5, 2.25, 0, 2.25);
	STEP(double, FI_DOUBLE, FI_CSWAP_LT, 2, 9, 1, 9);
	STEP(long double, FI_LONG_DOUBLE, FI_PROD, 3, 4, 0, 12);
	STEP(float complex, FI_FLOAT_COMPLEX, FI_PROD, 1 + 2 * I, 3 - I, 0,
	     5 + 5 * I);
	STEP(double complex, FI_DOUBLE_COMPLEX, FI_CSWAP, 1 + I, 4, 1 + I, 4);
	STEP(double complex, FI_DOUBLE_COMPLEX, FI_LXOR, I, 0, 0, 1);
}

static void meaningless_atomics_do_not_exist(void **state)
{
	unsigned n = 0;

	for (unsigned t = 0; t < WFI_TYPES; t++)
		for (unsigned o = 0; o < WFI_ATOMICS; o++)
			n += wfi_atomic_find(t, o) != NULL;
	/* 10 types of integers, 3 of reals, 3 of complex numbers */
	assert_int_equal(n, 10 * 19 + 3 * 15 + 3 * 9);
	assert_null(wfi_atomic_find(FI_DOUBLE, FI_BXOR));
	assert_null(wfi_atomic_find(FI_FLOAT_COMPLEX, FI_MIN));
	assert_null(wfi_atomic_find(WFI_TYPES, FI_SUM));
	assert_null(wfi_atomic_find(FI_INT8, WFI_ATOMICS));
	assert_int_equal(wfi_atomic_size(WFI_TYPES), 0);
	assert_int_equal(wfi_atomic_size(FI_LONG_DOUBLE_COMPLEX), 32);
}

static void elements_are_independent_and_results_optional(void **state)
{
	uint16_t mem[4] = { 1, 2, 3, 4 }, src[4] = { 10, 20, 30, 40 };
	const uint16_t want[4] = { 11, 22, 33, 4 };

	wfi_atomic_find(FI_UINT16, FI_SUM)(mem, src, NULL, NULL, 3);
	assert_memory_equal(mem, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integer_atomics_wrap_and_combine_bits),
		cmocka_unit_test(swap_happens_when_the_compared_value_fits),
		cmocka_unit_test(atomics_of_128_bits_carry_and_compare),
		cmocka_unit_test(real_and_complex_atomics_compute),
		cmocka_unit_test(meaningless_atomics_do_not_exist),
		cmocka_unit_test(elements_are_independent_and_results_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
