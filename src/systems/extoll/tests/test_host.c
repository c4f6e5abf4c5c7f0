/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL on HyperTransport: answers that overtake each other (extoll.md 5.3:
 * order restored), and reads that reach no unit (2.4). */
#include "unit/cmocka_all.h"
#include "exproc.h"
#include "exrig.h"

#include <string.h>

enum { VPID = 5, OPT = RMA_OPT_TE, PAGES = 24, FROM = 0, TO = 40 };

static struct exproc proc[2];

static void banks(struct exrig *r)
{
	exrig_new(r, "2");
	exrig_set(r, "bus.ht", "banks", "16");
	exrig_set(r, "bus.ht", "t_bank", "37ns");
}

static uint8_t byte(uint32_t page, uint32_t i)
{
	return (uint8_t)(page * 7 + i * 13 + (i >> 6) * 5 + 1);
}

static void fill(struct exproc *p)
{
	for (uint32_t k = 0; k < PAGES; k++)
		for (uint32_t i = 0; i < RMA_PAGE; i++)
			p->buf[(FROM + k) * RMA_PAGE + i] = byte(k, i);
}

static void check(const struct exproc *p)
{
	for (uint32_t k = 0; k < PAGES; k++)
		for (uint32_t i = 0; i < RMA_PAGE - 8 * k; i++)
			assert_int_equal(p->buf[(TO + k) * RMA_PAGE + i],
					 byte(k, i + 8 * k));
}

/* Posts a transfer of page k from byte 8 k of the page on. Therefore the
 * transfers start at different bytes of a line and in different memory
 * banks. */
static void post(struct exproc *p, uint32_t op, uint32_t k)
{
	exproc_post(p, OPT,
		    RMA_D_MAKE(op, 1, VPID, RMA_COMPLETER, 0) |
			    RMA_D_BYTES(RMA_PAGE - 8 * k),
		    EXPROC_NLA((FROM + k) * RMA_PAGE + 8 * k),
		    EXPROC_NLA((TO + k) * RMA_PAGE));
}

static void open_node(struct weft_host *h, uint32_t node)
{
	exproc_open(&proc[node], h, VPID);
	fill(&proc[node]);
	weft_oob_put(h, node ? "far" : "near", 1);
	weft_oob_get(h, node ? "near" : "far");
}

/* Puts and gets run together, so that requester, responder and ATU all read. */
static int banks_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w0, w1;

	open_node(h, node);
	for (uint32_t k = 0; k < PAGES; k++) {
		post(&proc[0], RMA_PUT_QW, k);
		post(&proc[0], RMA_GET_QW, k);
	}
	for (uint32_t k = 0; k < PAGES; k++) {
		assert_true(exproc_noti(&proc[0], &w0, &w1));
		assert_int_equal(RMA_N_ERROR(w1), 0);
	}
	check(&proc[0]);
	return 0;
}

static int banks_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w0, w1;

	open_node(h, node);
	for (uint32_t k = 0; k < PAGES; k++) {
		assert_true(exproc_noti(&proc[1], &w0, &w1));
		assert_int_equal(RMA_N_ERROR(w1), 0);
	}
	check(&proc[1]);
	return 0;
}

static void test_rma_restores_the_order_of_answers(void **state)
{
	struct exrig r;

	banks(&r);
	exrig_prog(&r, 0, banks_near);
	exrig_prog(&r, 1, banks_far);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- the error bit ---- */

static int hole_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_io hole;

	exproc_open(&proc[0], h, VPID);
	assert_true(weft_io_map(h, proc[0].dev, EXTOLL_BAR, EXTOLL_VELO,
				EXTOLL_PAGE, WEFT_UC, &hole));
	/* at reset one interval holds the whole register file (2.4) */
	assert_int_equal(exproc_get(&proc[0], EXTOLL_INTERVAL_LOWER), 0);
	assert_int_equal(exproc_get(&proc[0], EXTOLL_INTERVAL_UPPER),
			 EXTOLL_RF_BYTES - 1);
	exproc_get(&proc[0], EXTOLL_NODE_ID);
	assert_false(weft_io_error(h));
	r->v[0] = weft_io_load64(h, &hole, 0);
	assert_true(weft_io_error(h));
	/* The answer is deferred, because the load is behind a store. */
	exproc_set(&proc[0], EXTOLL_VELO_TIMEOUT, 1);
	r->v[1] = weft_io_load32(h, &hole, 8);
	assert_true(weft_io_error(h));
	assert_int_equal(exproc_get(&proc[0], EXTOLL_HTAX_DISCARDED), 2);
	assert_false(weft_io_error(h));
	return 0;
}

static void test_read_that_hits_no_interval_gets_the_error_bit(void **state)
{
	struct exrig r;

	exrig_new(&r, "1");
	exrig_prog(&r, 0, hole_main);
	exrig_start(&r);
	exrig_run(&r);
	assert_true(r.v[0] == UINT64_MAX);
	assert_true(r.v[1] == UINT32_MAX);
	assert_int_equal(exrig_counter(r.node[0].bus, "aborts"), 2);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rma_restores_the_order_of_answers),
		cmocka_unit_test(
			test_read_that_hits_no_interval_gets_the_error_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
