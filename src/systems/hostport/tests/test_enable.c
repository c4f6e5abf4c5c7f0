/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a driver that writes VPID_EN and contexts while a VPID is in use
 * (hostport.md 4.3, 4.10, 7.5), and the weights and shares of VPIDs. */
#include "unit/cmocka_all.h"

#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

enum { VPID = 0x11, VCIS = 8 };

static struct hpdrv drv;

static void run(exrig_fn fn)
{
	drv = (struct hpdrv){ 0 };
	hprig_one(fn);
}

/* Stores VPID_EN while instructions are fetched. Each round stores it a little
 * later. */
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

static uint32_t places(const struct hp_fetch_unit *u, uint32_t vpid)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < ring_count(&u->turn); i++)
		k += *ring_nth(&u->turn, i) == vpid;
	for (uint32_t i = 0; i < ring_count(&u->first); i++)
		k += *ring_nth(&u->first, i) == vpid;
	return k;
}

/* Lets the device read one VCI at a time, so that the VPID waits in u->turn or
 * u->first between two reads. */
static int goes_on(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const struct hp_fetch_unit *u =
		&((struct hp_nic *)r->node[0].nic->state)->fetch;
	uint32_t first = 0;
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, VPID, 0);
	hpdrv_set(&drv, HP_R_VPID_EN, HP_VPID_EN_WEIGHT(VPID, 3));
	for (uint32_t i = 0; i < VCIS; i++)
		hpproc_self(&p, i);
	hpproc_issue(&p, VCIS);
	for (uint32_t i = 0; i < 1000; i++) {
		first += !ring_empty(&u->first);
		assert_int_equal(places(u, VPID),
				 u->in_turn[VPID / 64] >> VPID % 64 & 1);
		weft_host_cpu(h, 10 * WEFT_NS);
	}
	assert_true(first > 0);
	hpproc_own(&p, (uint64_t[VCIS]){ 0 }, VCIS);
	return 0;
}

static void a_vpid_whose_turn_goes_on_is_marked_as_in_turn(void **state)
{
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "fetches", "1");
	exrig_prog(&r, 0, goes_on);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* Gives VPID 1 two of four slots and VPID 2 one slot. VPID 2 made its last
 * progress `ago` cycles ago. */
static bool full_beside(struct hp_nic *n, uint64_t ago)
{
	struct hp_shares *s = &n->fetch.share;
	bool full;

	n->param.vpid_ahead = 4;
	s->last_vpid = 1;
	s->last_other = hp_now(n);
	vec_push(&s->ahead,
		 ((struct hp_ahead){ .vpid = 1, .n = 2, .at = hp_now(n) }));
	vec_push(&s->ahead,
		 ((struct hp_ahead){
			 .vpid = 2, .n = 1, .at = hp_now(n) - ago }));
	full = hp_share_full(n, 1);
	s->ahead.n = 0;
	return full;
}

static int still(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = r->node[0].nic->state;

	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	n->param.vpid_recent = 100;
	assert_true(full_beside(n, 99));
	assert_false(full_beside(n, 100));
	return 0;
}

static void a_vpid_that_was_still_for_long_has_no_share(void **state)
{
	run(still);
}

/* Sets STAT, which demands a status entry, without a command that the device
 * could report. */
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
		cmocka_unit_test(
			a_vpid_whose_turn_goes_on_is_marked_as_in_turn),
		cmocka_unit_test(a_vpid_that_was_still_for_long_has_no_share),
		cmocka_unit_test(a_context_may_owe_a_status_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
