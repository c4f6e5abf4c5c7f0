/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that writes VPID_EN and contexts while a VPID is at work
 * (hostport.md 4.3, 4.10, 7.5). */
#include "unit/cmocka_all.h"

#include "hpproc.h"

enum { VPID = 0x11, VCIS = 8 };

static struct hpdrv drv;

static void run(exrig_fn fn)
{
	drv = (struct hpdrv){ 0 };
	hprig_one(fn);
}

/* The register is stored while instructions are being fetched, each time a
 * little later. */
static int enable_again(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;
	uint64_t tags[VCIS];

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, VPID, 0);
	for (uint32_t late = 0; late < 40; late++) {
		for (uint32_t i = 0; i < VCIS; i++)
			hpproc_self(&p, late * VCIS + i);
		hpproc_issue(&p, VCIS);
		weft_host_cpu(h, late * 20 * WEFT_NS);
		hpdrv_set(&drv, HP_R_VPID_EN,
			  HP_VPID_EN_WEIGHT(VPID, late % 3));
		hpproc_own(&p, tags, VCIS);
		for (uint32_t i = 0; i < VCIS; i++)
			assert_int_equal(tags[i], late * VCIS + i);
	}
	return 0;
}

static void a_vpid_that_is_enabled_again_keeps_what_was_fetched(void **state)
{
	run(enable_again);
}

/* STAT says that a status is owed; the device has no command for it. */
static int owe_status(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS], tag;
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, VPID, HP_CTX_STAT);
	hpproc_self(&p, 5);
	hpproc_issue(&p, 1);
	assert_true(hpproc_nqe(&p, w));
	assert_int_equal(HP_CMD_BYTE(HP_NQE_CMD(w)), HP_B_NOTIFY_CC);
	assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), HP_ERR_NOERR);
	hpproc_own(&p, &tag, 1);
	assert_int_equal(tag, 5);
	return 0;
}

static void a_context_may_owe_a_status_from_the_start(void **state)
{
	run(owe_status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_vpid_that_is_enabled_again_keeps_what_was_fetched),
		cmocka_unit_test(a_context_may_owe_a_status_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
