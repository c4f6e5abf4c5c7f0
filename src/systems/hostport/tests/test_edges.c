/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of queues, caches and windows of the Host Port (hostport.md 4.2, 4.6,
 * 4.7, 7.3, 8.8): the entry that is replaced, the packet that is handled first,
 * and the first value beyond a limit. */
#include "unit/cmocka_all.h"

#include "hpend.h"

/* ---- TLB and context cache: least recently used ---- */

static bool page_there(struct hpend *e, uint32_t page)
{
	return hpend_cache(e, HP_CACHE_QUERY, HP_CACHE_TLB,
			   HPEND_VA / HP_PAGE + page, 0) &
	       HP_CACHE_PRESENT;
}

static void put_page(struct hpend *e, uint32_t page)
{
	struct hprma a = hpend_put(0, (uint64_t)page * HP_PAGE, 8);

	hpend_rma(e, &a);
	hpend_expect(e, HP_B_PUT | HP_A, NULL);
}

static void near_tlb(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	for (uint32_t i = 1; i <= 4; i++)
		put_page(e, i);
	/* uses page 1 again, so that page 2 is the least recently used one */
	put_page(e, 1);
	put_page(e, 5);
	assert_true(page_there(e, 1));
	assert_false(page_there(e, 2));
	for (uint32_t i = 3; i <= 5; i++)
		assert_true(page_there(e, i));
	hppair_meet(e);
}

static void few(struct hppair *t)
{
	exrig_set(&t->rig, "hostport.nic", "tlb", "4");
	exrig_set(&t->rig, "hostport.nic", "ctx_cache", "4");
}

static void test_the_tlb_replaces_the_least_recently_used_page(void **state)
{
	hppair_once(few, near_tlb, hppair_far_memory);
}

/* ---- routes: entries of the routing cache by offset and length ---- */

static bool route_cmd(struct hpend *e, uint32_t op, uint32_t off, uint32_t len)
{
	uint64_t status;

	hpdrv_set(&e->d, HP_R_CACHE_ARG0, off);
	hpdrv_set(&e->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(op, HP_CACHE_ROUTE, 0, len));
	do
		status = hpdrv_get(&e->d, HP_R_CACHE_STATUS);
	while (status & HP_CACHE_BUSY);
	return status & HP_CACHE_PRESENT;
}

static void near_route(struct hppair *t, struct hpend *e)
{
	uint64_t misses;

	hpend_windows(e);
	put_page(e, 1);
	misses = hppair_counter(t, 0, "route_misses");
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(route_cmd(e, HP_CACHE_QUERY,
					   HPDRV_ROUTE - 1 + i, HPDRV_RLEN),
				 i == 1);
		assert_int_equal(route_cmd(e, HP_CACHE_QUERY, HPDRV_ROUTE,
					   HPDRV_RLEN - 1 + i),
				 i == 1);
	}
	put_page(e, 1);
	assert_int_equal(hppair_counter(t, 0, "route_misses"), misses);
	assert_false(route_cmd(e, HP_CACHE_REMOVE, HPDRV_ROUTE, HPDRV_RLEN));
	assert_false(route_cmd(e, HP_CACHE_QUERY, HPDRV_ROUTE, HPDRV_RLEN));
	put_page(e, 1);
	assert_int_equal(hppair_counter(t, 0, "route_misses"), misses + 1);
	hppair_meet(e);
}

static void test_a_route_is_removed_by_offset_and_length(void **state)
{
	hppair_once(NULL, near_route, hppair_far_memory);
}

enum { PROCS = 5 };

static bool ctx_there(struct hpend *e, uint32_t vpid)
{
	return hpdrv_cache(&e->d, HP_CACHE_QUERY, HP_CACHE_CTX, vpid, 0, 0) &
	       HP_CACHE_PRESENT;
}

static void near_ctx(struct hppair *t, struct hpend *e)
{
	static const uint32_t order[] = { 0, 1, 2, 3, 0, 4 };
	static struct hpproc p[PROCS];

	for (uint32_t i = 0; i < PROCS; i++)
		hpproc_open(&p[i], &e->d, e->h, 0x40 + i, 0);
	hpdrv_cache(&e->d, HP_CACHE_FLUSH, HP_CACHE_CTX, 0, 0, 0);
	for (uint32_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		assert_true(hpproc_trigger(&p[order[i]], HP_T_SNAPSHOT, 0) &
			    HP_TRUE);
		weft_host_sleep(e->h, weft_host_now(e->h) + 5 * WEFT_US);
	}
	assert_true(ctx_there(e, 0x40));
	assert_false(ctx_there(e, 0x41));
	for (uint32_t i = 2; i < PROCS; i++)
		assert_true(ctx_there(e, 0x40 + i));
	hppair_meet(e);
}

static void test_the_context_cache_replaces_the_least_recent(void **state)
{
	hppair_once(few, near_ctx, hppair_far_1);
}

/* ---- Q06: order of messages in the RDR ---- */

enum { LONG = 6000, SHORT = 64, SMALL = 1024 };

static void near_rdr(struct hppair *t, struct hpend *e)
{
	static struct hpproc second;
	uint64_t w[HP_WORDS];

	hpproc_open(&second, &e->d, e->h, 0x44, 0);
	hpend_sdr(e, LONG / 8, 1);
	hpend_send(e, HP_B_SEND, 0, LONG); /* fills most of the region */
	hpend_expect(e, HP_B_SEND, NULL);
	/* waits, because the region has no space left */
	hpend_send(e, HP_B_SEND, 0, LONG);
	hpend_expect(e, HP_B_SEND, NULL);
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	/* Sends a short message from another process. The region has space for
	 * it, but it must not pass the long message. */
	hpproc_to(w, HP_B_SEND, 1, HPEND_VPID1, 9);
	w[3] = 0;
	w[4] = SHORT;
	hpproc_put(&second, w);
	hpproc_issue(&second, 1);
	assert_true(hpproc_wait(&second, w));
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	hppair_meet(e);
	hppair_meet(e);
}

static void far_rdr(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];
	uint32_t end[2] = { 0, 0 };

	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_free(e, LONG / 8);
	/* both messages are notified when they are stored. The words of the
	 * long message are first in the region */
	for (uint32_t i = 0; i < 2; i++) {
		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		end[w[3] == SHORT] = HP_PS_LO(w[2]);
	}
	assert_int_equal(end[0], 2 * LONG / 8 % SMALL);
	assert_int_equal(end[1], (2 * LONG + SHORT) / 8 % SMALL);
	hppair_meet(e);
}

static void small_rdr(struct hppair *t)
{
	t->end[1].d.rdr = SMALL;
}

/* Drops messages for which the notification queue has no entry, so that
 * messages wait only for space in the region. */
static void small_rdr_no_entry(struct hppair *t)
{
	small_rdr(t);
	exrig_set(&t->rig, "hostport.nic", "nq_full_policy", "drop");
}

/* Q06 */
static void test_no_message_passes_one_that_waits_for_space(void **state)
{
	hppair_once(small_rdr, near_rdr, far_rdr);
	hppair_once(small_rdr_no_entry, near_rdr, far_rdr);
}

/* ---- Q22: pointers beyond the opposite one ---- */

static uint32_t status_error(struct hpend *e, uint32_t cmd, uint32_t par)
{
	uint64_t w[HP_WORDS];

	assert_true(hpproc_trigger(&e->p, cmd, par) & HP_TRUE);
	assert_true(hpproc_nqe(&e->p, w));
	assert_int_equal(HP_CMD_BYTE(HP_NQE_CMD(w)), HP_B_NOTIFY_CC);
	return HP_CMD_ERR(HP_NQE_CMD(w));
}

static void near_beyond(struct hppair *t, struct hpend *e)
{
	const uint64_t *c;

	/* refused, because nothing was received */
	assert_int_equal(status_error(e, HP_T_RDR_RP, 1), HP_ERR_CMD_INV);
	/* refused, because a queue of eight entries holds seven */
	assert_int_equal(status_error(e, HP_T_PRQ_WP, 8), HP_ERR_CMD_INV);
	assert_int_equal(status_error(e, HP_T_PRQ_WP, 7), HP_ERR_NOERR);
	assert_int_equal(status_error(e, HP_T_PRQ_WP, 1), HP_ERR_CMD_INV);
	c = hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_RDR_RP), 0);
	assert_int_equal(HP_CTX(c, HP_F_PRQ_WP), 7);
	hppair_meet(e);
}

static void small_prq(struct hppair *t)
{
	t->end[0].d.prq = t->end[1].d.prq = 8;
}

/* Q22 */
static void test_increments_beyond_the_other_pointer_are_refused(void **state)
{
	hppair_once(small_prq, near_beyond, hppair_far_1);
}

/* ---- R07: below a window ---- */

static void near_below(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(~(uint64_t)7, 0, 16);

	hpend_windows(e);
	hppair_meet(e);
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_PUT | HP_A), NULL);
	hppair_meet(e);
}

/* The window begins in the middle of memory, so that all pages around it
 * exist. */
static void far_below(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	hpend_windows(e);
	hpend_win(e, HPEND_WIN, 8 * HP_PAGE, 4 * HP_PAGE,
		  HPEND_OPEN | HPEND_CAPA, 0);
	hppair_meet(e);
	hppair_meet(e);
	assert_true(hpend_rest(e, 0, 0, 0xee));
}

/* R07 */
static void test_an_offset_that_wraps_does_not_reach_below(void **state)
{
	hppair_once(NULL, near_below, far_below);
}

/* ---- records for the driver ---- */

enum { RING = 8, NOBODY = 0x99, ERRORS = 20 };

static void near_records(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 8);
	uint64_t w[HP_WORDS], data = 1;

	hpend_windows(e);
	hppair_meet(e);
	for (uint32_t i = 0; i < ERRORS; i++) {
		hpproc_fast_send(&e->p, 1, NOBODY, HP_A, i, &data, 1);
		assert_true(hpproc_wait(&e->p, w));
	}
	hpend_rma(e, &a);
	hpend_expect(e, HP_B_PUT | HP_A, NULL);
	hppair_meet(e);
}

/* Fills the ring of records, from which the driver takes none. */
static void far_records(struct hppair *t, struct hpend *e)
{
	weft_phys_t phys;
	volatile uint64_t *ring = weft_mem_alloc(e->h, HP_PAGE, HP_PAGE, &phys);
	uint32_t at = 0;

	assert_non_null(ring);
	hpend_windows(e);
	e->hold = true;
	hpdrv_set(&e->d, HP_R_EVENTS_BASE, phys);
	hpdrv_set(&e->d, HP_R_EVENTS_SIZE, RING);
	hppair_meet(e);
	for (uint32_t i = 0; i < 1000 && at < RING; i++) {
		weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_US);
		while (at < RING && ring[2 * at + 1] == HP_IRQ_ERR)
			at++;
		if (at < RING && ring[2 * at + 1] == HP_IRQ_TLB)
			break;
	}
	assert_int_equal(at, RING / 2);
	assert_int_equal(ring[2 * at + 1], HP_IRQ_TLB);
	hpdrv_set(&e->d, HP_R_EVENTS_SIZE, 0);
	hpend_cache(e, HP_CACHE_INSERT, HP_CACHE_TLB, HPEND_VA / HP_PAGE,
		    HP_TLB_ARG(e->mem_phys / HP_PAGE + 3, true));
	e->hold = false;
	hppair_meet(e);
}

static void test_error_records_leave_half_of_the_ring_to_misses(void **state)
{
	hppair_once(NULL, near_records, far_records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_the_tlb_replaces_the_least_recently_used_page),
		cmocka_unit_test(test_a_route_is_removed_by_offset_and_length),
		cmocka_unit_test(
			test_the_context_cache_replaces_the_least_recent),
		cmocka_unit_test(
			test_no_message_passes_one_that_waits_for_space),
		cmocka_unit_test(
			test_increments_beyond_the_other_pointer_are_refused),
		cmocka_unit_test(
			test_an_offset_that_wraps_does_not_reach_below),
		cmocka_unit_test(
			test_error_records_leave_half_of_the_ring_to_misses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
