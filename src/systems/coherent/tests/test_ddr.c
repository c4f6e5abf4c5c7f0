/* SPDX-License-Identifier: Apache-2.0 */
/* The DDR controller alone: stored bytes, and the cycles of an access when its
 * row is open, when no row is open, and when another row is open. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/coherent/ddr.h"

static void open_ddr(struct coh_ddr *d)
{
	*d = (struct coh_ddr){ .row_bytes = 2048,
			       .banks = 4,
			       .width = 8,
			       .t_ctrl = 4,
			       .t_rp = 3,
			       .t_rcd = 5,
			       .t_cas = 2,
			       .t_cwl = 1 };
	assert_true(coh_ddr_init(d, 256 << 20));
}

static void row_costs(void **state)
{
	struct coh_ddr d;
	uint8_t b[32] = { 0 };

	open_ddr(&d);
	assert_int_equal(coh_ddr_read(&d, 0, b, 32), 4 + 5 + 2);
	assert_int_equal(coh_ddr_read(&d, 2016, b, 32), 4 + 2);
	/* consecutive rows are in consecutive banks. The row at 8192 is in the
	 * same bank as the row at 0 */
	assert_int_equal(coh_ddr_read(&d, 2048, b, 32), 4 + 5 + 2);
	assert_int_equal(coh_ddr_read(&d, 0, b, 4), 4 + 2);
	assert_int_equal(coh_ddr_read(&d, 8192, b, 32), 4 + 3 + 5 + 2);
	assert_int_equal(coh_ddr_write(&d, 8200, b, 32), 4 + 1 + 4);
	assert_int_equal(coh_ddr_write(&d, 0, b, 4), 4 + 3 + 5 + 1 + 1);
	assert_int_equal(d.reads, 5);
	assert_int_equal(d.writes, 2);
	assert_int_equal(d.row_hits, 3);
	assert_int_equal(d.row_misses, 2);
	assert_int_equal(d.row_conflicts, 2);
	coh_ddr_fini(&d);
}

static void burst_has_one_beat_for_each_8_bytes(void **state)
{
	struct coh_ddr d = { .width = 8 };

	assert_int_equal(coh_ddr_beats(&d, 1), 1);
	assert_int_equal(coh_ddr_beats(&d, 8), 1);
	assert_int_equal(coh_ddr_beats(&d, 9), 2);
	assert_int_equal(coh_ddr_beats(&d, 32), 4);
}

/* The memory of 256 MB allocates only pages that were written. Accesses may
 * cross pages. */
static void bytes_stay(void **state)
{
	uint8_t in[64], out[64], zero[64] = { 0 };
	struct coh_mem m;

	for (int i = 0; i < 64; i++)
		in[i] = (uint8_t)(i * 37 + 1);
	assert_true(coh_mem_init(&m, 256 << 20));
	coh_mem_read(&m, (256 << 20) - 64, out, 64);
	assert_memory_equal(out, zero, 64);
	coh_mem_write(&m, 4096 - 20, in, 64);
	coh_mem_write(&m, (256 << 20) - 64, in, 64);
	coh_mem_read(&m, 4096 - 20, out, 64);
	assert_memory_equal(out, in, 64);
	coh_mem_read(&m, 4096, out, 44);
	assert_memory_equal(out, in + 20, 44);
	coh_mem_read(&m, (256 << 20) - 1, out, 1);
	assert_int_equal(out[0], in[63]);
	coh_mem_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_costs),
		cmocka_unit_test(burst_has_one_beat_for_each_8_bytes),
		cmocka_unit_test(bytes_stay),
	};

	return cmocka_run_group_tests_name("coh-ddr", tests, NULL, NULL);
}
