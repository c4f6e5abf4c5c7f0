/* SPDX-License-Identifier: Apache-2.0 */
/* A framed EXTOLL line, here one with a fault that never acts, has the same
 * cycles as a line without frames (systems/extoll/network/cell_channel.h). */
#include "ex_pair.h"

#include "base/b8b10.h"

extern const struct weft_class weft_class_fault_delay;

static bool same_cell(const struct ex_seen *a, const struct ex_seen *b)
{
	return a->cycle == b->cycle && a->id == b->id && a->first == b->first &&
	       a->flits == b->flits && a->flags == b->flags && a->vc == b->vc;
}

/* Runs traffic with and without a fault that never acts. Both runs must be
 * equal. */
static void same_cycles(const char *const *set)
{
	struct ex_pair p[2];
	uint32_t i, k;

	for (i = 0; i < 2; i++) {
		ex_pair_init(&p[i], set);
		if (i)
			ex_pair_fault(&p[i], 0, &weft_class_fault_delay, NULL);
		ex_pair_start(&p[i]);
		assert_int_equal(p[i].n[0]->ep.needs_frames, i);
		ex_pair_drain(&p[i], 10000000);
		ex_pair_check_all(&p[i]);
	}
	for (i = 0; i < 2; i++) {
		const struct ex_node *a = p[0].n[i], *b = p[1].n[i];

		assert_int_equal(a->n_log, b->n_log);
		assert_true(a->n_log > 500);
		for (k = 0; k < a->n_log; k++)
			if (!same_cell(&a->log[k], &b->log[k]))
				fail_msg("end %u cell %u: cycle %llu, not %llu",
					 i, k,
					 (unsigned long long)b->log[k].cycle,
					 (unsigned long long)a->log[k].cycle);
		assert_int_equal(a->ep.count.acks, b->ep.count.acks);
		assert_int_equal(b->ep.count.replays, 0);
		assert_int_equal(b->ep.count.nacks, 0);
	}
	ex_pair_fini(&p[0]);
	ex_pair_fini(&p[1]);
}

static void test_same_cycles(void **state)
{
	static const char *const width[] = { "w16", "w32" };
	static const char *const gap[] = { "0", "3", "60", "400" };
	static const char *const hold[] = { "0", "50", "1500" };

	for (uint32_t i = 0; i < 2 * 4 * 3; i++)
		same_cycles((const char *[]){
			"width", width[i % 2], "gap", gap[i / 2 % 4], "hold",
			hold[i / 8], "packets", "1000", NULL });
}

static void test_same_cycles_one_way(void **state)
{
	same_cycles((const char *[]){ "gap", "10", "0.packets", "2000",
				      "1.packets", "600", "1.size", "0",
				      NULL });
	same_cycles((const char *[]){ "width", "w16", "gap", "0", "hold", "0",
				      "vcs", "1", "0.packets", "900",
				      "1.packets", "520", "1.gap", "2000",
				      NULL });
	same_cycles((const char *[]){ "store_forward", "yes", "packets", "900",
				      "window", "5", NULL });
}

/* Lane alignment needs a comma in 1024 flits (extoll.md 3.10). A line that is
 * never idle has one in the K28.1 of each control cell, and a refresh every 256
 * cycles (4.7), so that commas are at most 256 flits and a cell apart. */
static void test_busy_line_keeps_a_comma_in_1024_flits(void **state)
{
	uint32_t flits = 0, most = 0;
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "0.packets", "400", "size", "4000",
					   "gap", "0", "hold", "0", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	for (uint32_t i = 0; i + 1 < p.n[1]->n_log; i++) {
		const struct ex_seen *c = &p.n[1]->log[i];

		flits += c->flits + 2u;
		most = flits > most ? flits : most;
		if (c[1].cycle > c->cycle + c->flits + 2)
			flits = 0; /* idle, or a control cell */
	}
	assert_in_range(most, 200, 256 + 18);
	ex_pair_fini(&p);
	/* A comma is 0011111 or its inverse. Data never contain a comma. */
	for (uint32_t rd = 0; rd < 2; rd++) {
		uint32_t after = rd;
		uint32_t code = b8b10_encode(B8B10_K | EX_K_CONTROL, &after);

		assert_int_equal(code >> 3, rd ? 0x60 : 0x1f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_cycles),
		cmocka_unit_test(test_same_cycles_one_way),
		cmocka_unit_test(test_busy_line_keeps_a_comma_in_1024_flits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
