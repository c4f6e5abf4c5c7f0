/* SPDX-License-Identifier: Apache-2.0 */
/* Golden vectors of hostport.md appendix A: the macros of the register header
 * must produce them, and the device must read and write them. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

/* ---- appendix A ---- */

static void test_words_have_hand_computed_values(void **state)
{
	assert_int_equal(
		HP_VCI_W0(HP_CMD(0, 0, HP_B_FAST_SEND | HP_A | 3), 16, 0x40),
		0x001B001000000040);
	assert_int_equal(HP_VCI_W1(0x12, 7), 0x0012000000000007);
	assert_int_equal(
		HP_NQE_W7(HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_PUT | HP_A), 5,
			  0x12),
		0x50A8000000050012);
	assert_int_equal(HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_ACK), 0x50FF);
	assert_int_equal(HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_NOTIFY_RMA),
			 0x50F1);
	assert_int_equal(HP_CMD(HP_ERR_POSTED_TRUNC, 0, HP_B_NOTIFY_RECV),
			 0x88F3);
	assert_int_equal(HP_TRIGGER_PAGE(0x1234) | HP_TRIGGER(HP_T_ISSUE, 5),
			 0x1234028);
	assert_int_equal(HP_RET_MAKE(3, HP_CSB_FULL, 0), 0x103);
	assert_int_equal(HP_RET_MAKE(5, HP_OK, 17), 0x110085);
	assert_int_equal(HP_ULTRA_PAGE(0x123) | HP_ULTRA_NOTIFY | HP_ULTRA_ACK |
				 HP_ULTRA_START(6),
			 0x1236D0);
	assert_int_equal(HP_ULTRA_CPL | HP_ULTRA_PAGE(0x123) | HP_ULTRA_RP,
			 0x923800);
	assert_int_equal(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_ACKED), 0x118);
	assert_int_equal(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_REFUSED), 0x120);
	assert_int_equal(HP_EL(HP_PORT_LP + 0, 3), 0x43);
	assert_int_equal(HP_EL(HP_PORT_LP + 2, 2), 0x62);
	assert_int_equal(HP_EL(HP_PORT_NP + 0, 1), 0x01);
	assert_int_equal(HP_TRIGGER_BYTES, 256 << 20);	     /* HP-11 */
	assert_int_equal(HP_PAGE / 8, HP_T_CODES);	     /* HP-10 */
	assert_int_equal(8ull << HP_PTR_BITS, 128ull << 20); /* HP-12 */
}

/* ---- on the device ---- */

/* Node 1 is Host Port 5, reached by a route of 16 bytes at 0x40. */
static void near_device(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS] = {
		0x001B001000000040, 0x0012000000000007, 99, 1, 2, 3
	};
	struct hprma a = hpend_put(0, 0, 8);

	hppair_meet(e);
	e->d.rs[0x43] = 5;
	hpend_windows(e);
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
	hpend_expect(e, 0x001B, w);
	assert_int_equal(w[7], 0x001B000000050012);
	hpend_other(e, 0x00F2, w);
	assert_int_equal(HP_NQE_WORDS(w), 3);
	assert_int_equal(HP_NQE_TAG(w), 7);
	a.capa++;
	hpend_rma(e, &a);
	hpend_expect(e, 0x50A8, w);
	assert_int_equal(w[7], 0x50A8000000050012);
	hpend_other(e, 0x50F1, NULL);
	hppair_meet(e);
}

static void far_device(struct hppair *t, struct hpend *e)
{
	hpdrv_set(&e->d, HP_R_HPID, 5);
	hpdrv_get(&e->d, HP_R_HPID);
	hppair_meet(e);
	hpend_windows(e);
	hppair_meet(e);
}

static void test_device_sends_hand_computed_words(void **state)
{
	hppair_once(NULL, near_device, far_device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_have_hand_computed_values),
		cmocka_unit_test(test_device_sends_hand_computed_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
