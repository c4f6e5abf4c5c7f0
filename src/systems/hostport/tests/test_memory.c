/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that try to reach memory and registers of other processes through
 * the Host Port: memory that is freed while in use, lies beside the program's
 * own, or is named by its address. Victims get the memory that attackers had
 * before. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/nic/nic.h"

enum { BLOCK = HPORTS_BLOCK, MINE = 'A' };

static const struct hport_tag tag = { 1, 2 };

/* ---- memory that is freed in the middle of a put: window, pages, port ---- */

static int put_and_free(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open_any(h), *p = hports_open_any(h);
	struct hport_peer to = hports_peer(q, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };
	uint8_t *m;

	m = hports_window(p, 0, 8 * BLOCK, 0, NULL);
	hports_window(q, 0, 8 * BLOCK, MINE, NULL);
	for (uint32_t i = 0; i < 3; i++)
		hport_put(q, &to, HPORT_ACK, tag, &far, 0, 0, 8 * BLOCK);
	hports_pause(h, 20 * WEFT_US);
	hport_window_close(p, 0);
	hport_free(p, m);
	hports.step = HPORTS_GONE;
	hports_await(h, HPORTS_TAKEN);
	for (uint32_t i = 0; i < 3; i++)
		hports_note(q, 20 * WEFT_MS);
	hport_close(p);
	hport_close(q);
	hports.step = HPORTS_OVER;
	return 0;
}

static void memory_freed_during_a_put_is_not_written_any_more(void **state)
{
	HPORTS_ONE(put_and_free, hports_victim);
}

static int put_to_freed(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open_any(h);
	struct hport_peer to = hports_peer(p, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1;
	struct hport_note n;
	uint8_t *m;

	m = hports_window(p, 0, BLOCK, MINE, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
		n = hports_note(p, WEFT_MS);
		while (n.event != HPORT_DONE)
			assert_true(hport_wait(p, &n, WEFT_NEVER));
		assert_int_equal(n.error, i ? HP_ERR_TWINID : 0);
		if (i)
			break;
		hport_free(p, m); /* frees the memory while its window stays */
		hports.step = HPORTS_GONE;
		hports_await(h, HPORTS_TAKEN);
	}
	hport_close(p);
	hports.step = HPORTS_OVER;
	return 0;
}

static void translations_go_with_the_memory(void **state)
{
	HPORTS_ONE(put_to_freed, hports_victim);
}

/* ---- memory that is freed while it is mapped ---- */

static int map_and_free(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open_any(h);
	struct hport_peer to = hports_peer(p, 0, hport_vpid(p));
	struct hport_far far = { 1, 0, 0 };
	uint64_t va, word = 0x1111111111111111;
	uint8_t *own, *m;

	own = hports_window(p, 0, BLOCK, 0, NULL);
	m = weft_mem_alloc(h, BLOCK, 4096, NULL);
	memset(m, MINE, BLOCK);
	assert_int_equal(hport_map(p, m, BLOCK, &va), 0);
	hport_window(p, 1, va, BLOCK, HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0);
	weft_mem_free(h, m);
	hports.step = HPORTS_GONE;
	hports_await(h, HPORTS_TAKEN);
	hport_get(p, &to, 0, tag, &far, 0, 0, BLOCK);
	hports_note(p, WEFT_MS);
	assert_int_equal(hports_count(own, BLOCK, HPORTS_THEIRS), 0);
	hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
	hports_note(p, WEFT_MS);
	hport_close(p);
	hports.step = HPORTS_OVER;
	return 0;
}

static void memory_freed_while_mapped_is_given_to_nobody_else(void **state)
{
	HPORTS_ONE(map_and_free, hports_victim);
}

/* ---- memory of victims: beside the attacker's, or named by address ---- */

static uint8_t *small;

static int small_victim(struct weft_host *h, struct exrig *r, uint32_t node)
{
	weft_oob_get(h, "first");
	small = weft_mem_alloc(h, 64, 64, NULL);
	memset(small, HPORTS_THEIRS, 64);
	weft_oob_put(h, "second", 1);
	hports_await(h, HPORTS_OVER);
	assert_int_equal(hports_count(small, 64, HPORTS_THEIRS), 64);
	return 0;
}

static int map_beside(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open_any(h);
	struct hport_peer to = hports_peer(p, 0, hport_vpid(p));
	struct hport_far far = { 1, 0, 0 };
	uint8_t *own, *m;
	uint64_t va, at;

	own = hports_window(p, 0, BLOCK, 0, NULL);
	m = weft_mem_alloc(h, 64, 64, NULL);
	weft_oob_put(h, "first", 1);
	weft_oob_get(h, "second");
	assert_int_equal(hport_map(p, small, 64, &at), -EFAULT);
	if (!hport_map(p, m, 64, &va)) {
		hport_window(p, 1, va & ~4095ull, 4096, HPORT_READ | HPORT_OPEN,
			     0);
		hport_get(p, &to, 0, tag, &far, 0, 0, 4096);
		hports_note(p, WEFT_MS);
		assert_int_equal(hports_count(own, 4096, HPORTS_THEIRS), 0);
	}
	hport_close(p);
	hports.step = HPORTS_OVER;
	return 0;
}

static void memory_of_others_in_the_same_page_is_not_mapped(void **state)
{
	HPORTS_ONE(map_beside, small_victim);
}

static int posted_pa(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr a = { .vpid = -1,
				.flags = HPORT_POSTED | HPORT_POSTED_PA };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), -EPERM);
	assert_null(p);
	/* opens a port first, because the next call must also be refused to a
	 * program that has a port */
	p = hports_open_any(h);
	assert_int_equal(hport_open(h, &a, &p), -EPERM);
	return 0; /* ends without a close */
}

static void physical_addresses_are_refused_to_processes(void **state)
{
	HPORTS_ONE(posted_pa);
}

/* ---- locks ---- */

static uint32_t put_word(struct hport *p, uint32_t vpid, uint32_t id)
{
	struct hport_peer to = hports_peer(p, 0, vpid);
	struct hport_far far = { id, 0, 0 };
	uint64_t word = 1;
	struct hport_note n;

	assert_int_equal(hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1),
			 0);
	do
		n = hports_note(p, WEFT_MS);
	while (n.event != HPORT_DONE);
	return n.error;
}

/* Checks that a lock of window 0 lets only one VPID use the window, and that an
 * unlock lets all VPIDs use it. If the windows other than k are locked for b,
 * then a can use only window k, but b can use all four. */
static int locks(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *own = hports_open(h, 7), *a = hports_open(h, 8),
		     *b = hports_open(h, 9);

	for (uint32_t i = 0; i < 4; i++)
		hports_window(own, i, 4096, 0, NULL);
	/* joins in the order 0 2 1 3, so that a window is joined in front of
	 * one that has a neighbour */
	assert_int_equal(hport_window_join(own, 1, 0), 0);
	assert_int_equal(hport_window_join(own, 2, 0), 0);
	assert_int_equal(hport_window_join(own, 3, 1), 0);
	assert_int_equal(hport_window_lock(own, 0, hport_hpid(a), 8), 0);
	assert_int_equal(put_word(a, 7, 0), 0);
	assert_int_equal(put_word(b, 7, 0), HP_ERR_TWINID_INV);
	assert_int_equal(put_word(own, 7, 0), HP_ERR_TWINID_INV);
	assert_int_equal(hport_window_lock(own, 0, hport_hpid(a) + 1, 8), 0);
	assert_int_equal(put_word(a, 7, 0), HP_ERR_TWINID_INV);
	assert_int_equal(hport_window_unlock(own, 0), 0);
	assert_int_equal(put_word(a, 7, 0), 0);
	assert_int_equal(put_word(b, 7, 0), 0);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(
			hport_window_lock_others(own, k, hport_hpid(b), 9), 0);
		for (uint32_t i = 0; i < 4; i++) {
			assert_int_equal(put_word(a, 7, i),
					 i == k ? 0 : HP_ERR_TWINID_INV);
			assert_int_equal(put_word(b, 7, i), 0);
			hport_window_unlock(own, i);
		}
	}
	assert_int_equal(hport_window_close(own, 2), 0);
	assert_int_equal(put_word(a, 7, 2), HP_ERR_TWINID_INV);
	hport_close(own);
	hport_close(a);
	hport_close(b);
	return 0;
}

static void a_window_is_locked_for_one(void **state)
{
	HPORTS_ONE(locks);
}

/* ---- registers and pages of others ---- */

static int map_registers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io = { .dev = d, .len = HP_MGMT_BYTES };
	uint64_t faults;

	weft_oob_get(h, "open");
	faults = exrig_counter(r->node[node].host, "page_faults");
	assert_false(weft_io_map(h, d, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
				 &(struct weft_io){ 0 }));
	weft_io_store64(h, &io, HP_R_VPID_EN, HP_VPID_EN(7, false));
	assert_true(weft_io_load64(h, &io, HP_R_HPID) == HP_NONE);
	assert_int_equal(exrig_counter(r->node[node].host, "page_faults"),
			 faults + 2);
	weft_oob_put(h, "tried", 1);
	return 0;
}

static int forge_pages(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 7);
	struct weft_dev *d = weft_dev_open(h, 0);
	struct hport_peer to = hports_peer(p, 0, 7);
	struct hport_note n;
	uint64_t word = 5;

	weft_oob_put(h, "open", 1);
	weft_oob_get(h, "tried");
	for (uint8_t bar = 0; bar < HP_BARS; bar++)
		for (uint64_t off = 0; off < 64 * HP_PAGE; off += HP_PAGE) {
			struct weft_io io = {
				.dev = d, .off = off, .len = HP_PAGE, .bar = bar
			};

			assert_false(weft_io_map(h, d, bar, off, HP_PAGE,
						 WEFT_UC, &io));
			/* pages beyond the caller's own */
			if (off > 5 * HP_PAGE)
				weft_io_store64(h, &io, HP_R_VPID_EN,
						HP_VPID_EN(7, false));
		}
	assert_int_equal(hport_fast_send(p, &to, HPORT_ACK, tag, &word, 1), 0);
	n = hports_note(p, WEFT_MS);
	assert_int_equal(n.error, 0);
	hport_close(p);
	return 0;
}

static void registers_and_pages_of_others_are_out_of_reach(void **state)
{
	HPORTS_ONE(forge_pages, map_registers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			memory_freed_during_a_put_is_not_written_any_more),
		cmocka_unit_test(translations_go_with_the_memory),
		cmocka_unit_test(
			memory_freed_while_mapped_is_given_to_nobody_else),
		cmocka_unit_test(
			memory_of_others_in_the_same_page_is_not_mapped),
		cmocka_unit_test(physical_addresses_are_refused_to_processes),
		cmocka_unit_test(a_window_is_locked_for_one),
		cmocka_unit_test(
			registers_and_pages_of_others_are_out_of_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
