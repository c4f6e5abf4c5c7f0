/* SPDX-License-Identifier: Apache-2.0 */
/* RMA and atomics of the Host Port: scenarios R01 and R10 to R15 of hostport.md
 * 13.3. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

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

/* memory before the instruction, its two operands, and the value that memory
 * and the answer have afterwards */
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

/* ---- operands behind the first cell ---- */

enum { LATE_OFF = 128 };

static const struct late {
	uint32_t byte, bytes, hops_back;
	uint64_t c6, data[3], after; /* the word at LATE_OFF */
} lates[] = {
	/* without a return path, so that the head has exactly 64 bytes */
	{ HP_B_MIS_PUT,
	  8,
	  0,
	  0x7e,
	  { 0x8877665544332211ull },
	  0xee776655443322eeull },
	{ HP_B_FAST_PUT | 1, 8, 1, 0, { 5 }, 5 },
	{ HP_B_CAS, 16, 1, 0, { 0xeeeeeeeeeeeeeeeeull, 9 }, 9 },
	{ HP_B_FAST_SEND | 3, 24, 1, 0, { 6, 7, 8 }, 0xeeeeeeeeeeeeeeeeull },
};

/* Sends a packet of node 0 that stops behind its first cell for 5 us. */
static void late_send(struct hppair *t, struct hpend *e, const struct late *l)
{
	struct hp_nic *n = t->rig.node[0].nic->state;
	struct hp_route r = { .dtag = HPEND_HPID1, .nf = 2 };
	struct hp_head h = {
		.c = { HP_C0(l->byte, HPEND_HPID0, HPEND_VPID0), 0, 0,
		       HP_C3(HPEND_HPID1, l->bytes),
		       HP_VCI_W3(HPEND_WIN, HPEND_CAPA), LATE_OFF, l->c6 },
		.vpid = HPEND_VPID1,
		.bytes = l->bytes,
	};
	struct weft_frame *f;
	struct hp_tx *tx;
	uint32_t skip;

	assert_int_equal(hp_route_topo(&t->rig.topo, 0, 1, r.fwd), 1);
	r.fwd[1] = HP_EL(0, 1);
	if (l->hops_back) {
		r.nr = 2;
		hp_route_topo(&t->rig.topo, 1, 0, r.back);
		r.back[1] = HP_EL(1, 1);
	}
	f = hp_pkt_new(t->rig.sim, &r, &h, 0);
	assert_non_null(f);
	skip = hp_pkt_skip(f, &h);
	assert_in_range(skip, HP_LINE - l->bytes + 1, HP_LINE);
	memcpy(weft_slice_data(f->payload) + skip, l->data, l->bytes);
	tx = hp_net_send(n, f, skip, hp_now(n) + 10, HP_LINE - skip, NULL,
			 NULL);
	weft_host_sleep(e->h, weft_host_now(e->h) + 5 * WEFT_US);
	hp_net_more(n, tx, l->bytes);
}

static void near_late(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t i = 0; i < sizeof(lates) / sizeof(*lates); i++) {
		const struct late *l = &lates[i];
		uint64_t in = hppair_counter(t, 1, "packets_in");

		late_send(t, e, l);
		assert_int_equal(hppair_counter(t, 1, "packets_in"), in + 1);
		assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
		weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
		assert_int_equal(*(uint64_t *)hpend_at(&t->end[1], LATE_OFF),
				 l->after);
		assert_true(hpend_rest(&t->end[1], LATE_OFF, 8, 0xee));
		hpend_set(&t->end[1], 0xee);
		if (HP_MAIN(l->byte) == HP_M_CAS)
			hpend_expect(e, HP_B_CAS, w);
		if (HP_MAIN(l->byte) != HP_M_FAST_SEND)
			continue;
		hpend_other(e, HP_B_NOTIFY_FAST_RECV, w);
		assert_memory_equal(&w[2], l->data, l->bytes);
	}
	hppair_meet(e);
	hpend_silent(e);
}

static void test_operands_may_arrive_after_their_head(void **state)
{
	hppair_once(NULL, near_late, hppair_far_memory);
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
		cmocka_unit_test(test_operands_may_arrive_after_their_head),
		cmocka_unit_test(test_concurrent_adders_get_different_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
