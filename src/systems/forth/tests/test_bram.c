/* SPDX-License-Identifier: Apache-2.0 */
/* Memory budgets (forth.md 10.3): every preset fits. With budget=refuse a
 * memory that does not fit is refused with its name and size. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "weft/sim.h"

extern const struct weft_class weft_class_forth_nic, weft_class_forth_xbar;

struct row {
	const struct weft_class *cls;
	/* bram: number of block RAMs, or text of the error */
	const char *preset, *set[2], *bram;
};

static const struct row rows[] = {
	/* block RAMs: queues 8 + FIFOs 4 + 4 + samples 8 */
	{ &weft_class_forth_nic, "tr-direct", { NULL }, "24" },
	{ &weft_class_forth_nic, "tr-switch", { NULL }, "24" },
	/* block RAMs: queues 8 + FIFO 4 + VOQs 32 + samples 8 */
	{ &weft_class_forth_nic, "plat-switch", { NULL }, "52" },
	{ &weft_class_forth_nic, "plat-direct4", { NULL }, "52" },
	/* block RAMs: 52 of plat-direct4, 3 more FIFOs of 4, headers 4 */
	{ &weft_class_forth_nic, "plat-multi", { NULL }, "68" },
	{ &weft_class_forth_nic,
	  "plat-switch",
	  { "voq_bytes", "9472" },
	  "VOQs: 40 block RAMs of 2 KB, the FPGA had 37" },
	{ &weft_class_forth_nic, "tr-direct", { "h2n_words", "2559" }, "30" },
	{ &weft_class_forth_nic,
	  "tr-direct",
	  { "h2n_words", "2560" },
	  "Net2Host FIFO: 24" },
	{ &weft_class_forth_nic,
	  "plat-multi",
	  { "reseq_headers", "2048" },
	  "72" },
	{ &weft_class_forth_nic,
	  "plat-multi",
	  { "reseq_headers", "2049" },
	  "multipath: FIFOs of further links, headers: 21" },
	{ &weft_class_forth_xbar, "plat-switch", { NULL }, "64" },
	{ &weft_class_forth_xbar, "plat-switch", { "ports", "12" }, "144" },
	{ &weft_class_forth_xbar,
	  "plat-switch",
	  { "xp_bytes", "2049" },
	  "crosspoints: 128 block RAMs of 2 KB, the FPGA had 64" },
};

static struct weft_comp *make(struct weft_sim *sim, const struct row *r,
			      const char *budget)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, r->cls, "n0", &err);

	assert_non_null(c);
	assert_int_equal(weft_preset_apply(c, r->preset, &err), 0);
	if (r->set[0])
		assert_int_equal(weft_param_set(c, r->set[0], r->set[1], &err),
				 0);
	assert_int_equal(weft_param_set(c, "budget", budget, &err), 0);
	return c;
}

static uint64_t bram(const struct weft_comp *c)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, "bram"))
			return c->counters[i];
	return 0;
}

static void memories_fit_or_are_refused(void **state)
{
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_comp *c = make(sim, r, "refuse");
		struct weft_err err = { 0 };
		int ret = weft_comp_init(c, &err);
		unsigned blocks;

		print_message("%s %s\n", r->preset, r->bram);
		if (sscanf(r->bram, "%u", &blocks) == 1) {
			assert_int_equal(ret, 0);
			if (r->cls == &weft_class_forth_nic)
				assert_int_equal(bram(c), blocks);
		} else {
			assert_int_not_equal(ret, 0);
			assert_non_null(strstr(err.msg, r->bram));
		}
		weft_sim_free(sim);
	}
}

/* With budget=report nothing is refused. */
static void larger_memories_are_built_and_reported(void **state)
{
	static const struct row r = { &weft_class_forth_nic,
				      "plat-switch",
				      { "voq_bytes", "16KiB" },
				      NULL };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_comp *c = make(sim, &r, "report");
	struct weft_err err = { 0 };

	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(bram(c), 52 + 32);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memories_fit_or_are_refused),
		cmocka_unit_test(larger_memories_are_built_and_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
