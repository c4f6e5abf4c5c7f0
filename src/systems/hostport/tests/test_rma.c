/* SPDX-License-Identifier: Apache-2.0 */
/* RMA and atomics of the Host Port: scenarios R01 and R10 to R15 of hostport.md
 * 13.3. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

/* ---- R01: sizes ---- */

static const struct {
	uint64_t off, ooff, len;
	uint32_t pages, opages;
} sizes[] = {
	{ 0, 0, 8, 1, 1 },	    { 4096, 8192, 4096, 1, 1 },
	{ 4096, 8192, 4104, 2, 2 }, { 8, 24, 4096, 2, 2 },
	{ 4088, 40, 4112, 3, 2 },   { 16, 4088, 1 << 20, 257, 257 },
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static void near_sizes(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], seen[2] = { 0 };

	hpend_windows(e);
	for (uint32_t i = 0; i < SIZES; i++) {
		struct hprma a =
			hpend_put(sizes[i].off, sizes[i].ooff, sizes[i].len);

		hpend_fill(e, a.ooff, (uint32_t)a.len, i);
		hpend_rma(e, &a);
		hpend_expect(e, HP_B_PUT | HP_A, w);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID1);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID1);
		assert_true(hpend_equal(&t->end[1], a.off, (uint32_t)a.len, i));
		assert_true(
			hpend_rest(&t->end[1], a.off, (uint32_t)a.len, 0xee));
		a.byte = HP_B_GET;
		hpend_set(e, 0xdd);
		hpend_rma(e, &a);
		hpend_expect(e, HP_B_GET, w);
		assert_true(hpend_equal(e, a.ooff, (uint32_t)a.len, i));
		assert_true(hpend_rest(e, a.ooff, (uint32_t)a.len, 0xdd));
		hpend_set(&t->end[1], 0xee);
		/* each page is translated once in each direction */
		for (uint32_t k = 0; k < 2; k++) {
			uint64_t all = hppair_counter(t, k, "tlb_hits") +
				       hppair_counter(t, k, "tlb_misses");

			assert_int_equal(
				all - seen[k],
				2 * (k ? sizes[i].pages : sizes[i].opages));
			seen[k] = all;
		}
	}
	hppair_meet(e);
}

/* R01 */
static void test_put_and_get_of_every_size_are_exact(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_sizes, hppair_far_memory);
	assert_true(t.end[1].misses >= 257);
	hppair_free(&t);
}

/* ---- R10 to R15: fast instructions, bytes, atomics ---- */

static void near_fast(struct hppair *t, struct hpend *e)
{
	struct hprma a = { .win = HPEND_WIN, .capa = HPEND_CAPA, .off = 64 };
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t n = 1; n <= 3; n++) {
		for (uint32_t i = 0; i < 3; i++)
			a.imm[i] = 0x1111111111111111ull * (n + i);
		a.byte = HP_B_FAST_PUT | HP_A | n;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_memory_equal(hpend_at(&t->end[1], 64), a.imm, 8 * n);
		assert_true(hpend_rest(&t->end[1], 64, 8 * n, 0xee));
		a.byte = HP_B_FAST_GET | n;
		memset(a.imm, 0, sizeof(a.imm));
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_int_equal(HP_NQE_WORDS(w), n);
		assert_memory_equal(&w[3], hpend_at(&t->end[1], 64), 8 * n);
		for (uint32_t i = n; i < 3; i++)
			assert_int_equal(w[3 + i], 0);
		hpend_set(&t->end[1], 0xee);
	}
	a.byte = HP_B_FAST_PUT | HP_A; /* R11 */
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, a.byte), w);
	a.byte = HP_B_FAST_GET;
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, a.byte), w);
	hppair_meet(e);
}

static void near_bytes(struct hppair *t, struct hpend *e)
{
	struct hprma a = { .byte = HP_B_MIS_PUT | HP_A,
			   .win = HPEND_WIN,
			   .capa = HPEND_CAPA,
			   .off = 128 };
	uint64_t word = 0x8877665544332211ull, w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t be = 0; be < 256; be++) {
		a.imm[0] = be;
		a.imm[1] = word;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(*hpend_at(&t->end[1], 128 + i),
					 be >> i & 1 ? word >> (8 * i) & 0xff
						     : 0xee);
		memset(hpend_at(&t->end[1], 128), 0xee, 8);
	}
	assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
	hppair_meet(e);
}

/* memory before, operands, then memory and answer afterwards */
static const struct {
	uint32_t byte;
	uint64_t before, a, b, after;
} atomics[] = {
	{ HP_B_FAA, 40, 2, 0, 42 },
	{ HP_B_FAA, ~0ull, 3, 0, 2 },
	{ HP_B_CAS, 5, 5, 9, 9 },
	{ HP_B_CAS, 6, 5, 9, 6 },
};

static void near_atomics(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], *m;

	hpend_windows(e);
	for (uint32_t i = 0; i < 4; i++) {
		struct hprma a = { .byte = atomics[i].byte,
				   .win = HPEND_WIN,
				   .capa = HPEND_CAPA,
				   .off = 256,
				   .imm = { atomics[i].a, atomics[i].b } };

		m = (uint64_t *)hpend_at(&t->end[1], 256);
		*m = atomics[i].before;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_int_equal(HP_NQE_WORDS(w), 1);
		assert_int_equal(w[3], atomics[i].after);
		hpend_at(&t->end[1], 256);
		assert_int_equal(*m, atomics[i].after);
	}
	hppair_meet(e);
}

/* R10 to R14 */
static void test_fast_and_atomic_accesses_are_exact(void **state)
{
	static const hppair_fn all[] = { near_fast, near_bytes, near_atomics };
	static struct hppair t;

	for (uint32_t i = 0; i < 3; i++) {
		hppair_run(&t, NULL, all[i], hppair_far_memory);
		hppair_free(&t);
	}
}

/* ---- R15: many adders ---- */

enum { ADDERS = 64, ADDS = 100 };

static void adders(struct hppair *t, struct hpend *e)
{
	static struct hpproc p[ADDERS];
	static uint8_t seen[ADDERS * ADDS];
	struct hpend *b = &t->end[1];
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t i = 0; i < ADDERS; i++)
		hpproc_open(&p[i], &e->d, e->h, 0x100 + i, 0);
	*(uint64_t *)hpend_at(b, 8) = 0;
	memset(seen, 0, sizeof(seen));
	for (uint32_t k = 0; k < ADDS; k++) {
		for (uint32_t i = 0; i < ADDERS; i++) {
			hpproc_to(w, HP_B_FAA, 1, HPEND_VPID1, i);
			w[3] = HP_VCI_W3(HPEND_WIN, HPEND_CAPA);
			w[4] = 8;
			w[5] = 1;
			hpproc_put(&p[i], w);
			hpproc_issue(&p[i], 1);
		}
		for (uint32_t i = 0; i < ADDERS; i++) {
			assert_true(hpproc_wait(&p[i], w));
			assert_int_equal(HP_NQE_CMD(w), HP_B_FAA);
			assert_in_range(w[3], 1, ADDERS * ADDS);
			assert_false(seen[w[3] - 1]++);
		}
	}
	assert_int_equal(*(uint64_t *)hpend_at(b, 8), ADDERS * ADDS);
	hppair_meet(e);
}

/* R15 */
static void test_concurrent_adders_get_different_values(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, adders, hppair_far_memory);
	hppair_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_and_get_of_every_size_are_exact),
		cmocka_unit_test(test_fast_and_atomic_accesses_are_exact),
		cmocka_unit_test(test_concurrent_adders_get_different_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
