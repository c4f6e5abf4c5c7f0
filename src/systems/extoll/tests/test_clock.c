/* SPDX-License-Identifier: Apache-2.0 */
/* Link ports whose clocks differ: compensation (extoll.md 3.10; T-41). */
#include "ex_pair.h"

#include <stdlib.h>

/* Runs for `cycles` with both directions saturated. */
static void run(struct ex_pair *p, const char *ppm0, const char *ppm1,
		bool compensate, const char *width, uint64_t cycles)
{
	ex_pair_init(p,
		     (const char *[]){ "packets", "1000000", "size", "4000",
				       "gap", "0", "hold", "0", "width", width,
				       "0.ppm", ppm0, "1.ppm", ppm1, NULL });
	ex_pair_start(p);
	assert_true(p->n[0]->ep.needs_frames);
	for (uint32_t i = 0; i < 2 && !compensate; i++)
		p->n[i]->ep.slow->comp_at = WEFT_NEVER;
	/* The log is cleared, because this test does not read it. */
	for (uint64_t c = 1; c <= 20; c++) {
		ex_pair_run(p, c * cycles / 20);
		p->n[0]->n_log = p->n[1]->n_log = 0;
	}
}

/* Fewer cycles reach all code, which is enough for sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

/* T-41: +-100 ppm, no cell is lost. */
static void test_compensation_keeps_every_cell_at_100_ppm(void **state)
{
	static const char *const ppm[][2] = { { "100", "-100" },
					      { "-100", "100" },
					      { "100", "0" } };

	for (uint32_t i = 0; i < 3; i++) {
		struct ex_pair p;

		run(&p, ppm[i][0], ppm[i][1], true, i == 2 ? "w16" : "w32",
		    i ? 1000000 : 10000000 / SHARE);
		for (uint32_t k = 0; k < 2; k++) {
			const struct cell_channel_count *n = &p.n[k]->ep.count;

			assert_int_equal(n->fifo, 0);
			assert_int_equal(n->replays, 0);
			assert_int_equal(n->nacks, 0);
			assert_int_equal(p.n[k]->bad_order, 0);
		}
		/* full cells are 18 cycles apart */
		assert_true(cell_channel_counts(&p.n[1]->ep)->rx_cells > 24000);
		ex_pair_fini(&p);
	}
}

/* Without compensation the FIFO of the slower end overflows again and again. */
static void test_not_compensated(void **state)
{
	struct ex_pair p;

	run(&p, "100", "-100", false, "w32", 1000000);
	assert_true(p.n[1]->ep.count.fifo > 1);
	assert_int_equal(p.n[0]->ep.count.fifo, 0);
	assert_true(p.n[0]->ep.count.replays > 1);
	assert_int_equal(p.n[1]->bad_order, 0);
	ex_pair_fini(&p);
}

/* The clock parameters of the two ends differ, their ppm do not. */
static void test_unequal_clocks_need_no_replay(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p,
		     (const char *[]){ "packets", "2000", "0.clock", "156MHz",
				       "1.clock", "156.01MHz", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 10000000);
	ex_pair_check_all(&p);
	assert_int_equal(p.n[0]->ep.count.replays, 0);
	ex_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compensation_keeps_every_cell_at_100_ppm),
		cmocka_unit_test(test_not_compensated),
		cmocka_unit_test(test_unequal_clocks_need_no_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
