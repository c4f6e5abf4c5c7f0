/* SPDX-License-Identifier: Apache-2.0 */
/* Limits at which the Host Port refuses: a full error log (hostport.md 4.10),
 * messages larger than any receive region (4.6), instructions of a process that
 * is switched off (4.3). */
#include "unit/cmocka_all.h"

#include "hpend.h"

/* ---- the error log: 256 records ---- */

enum { NOBODY = 0x99, LOG = 256, MORE = 5 };

static void near_log(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], data = 1;

	for (uint32_t i = 0; i < LOG + MORE; i++) {
		hpproc_fast_send(&e->p, 1, NOBODY, HP_A, i, &data, 1);
		assert_true(hpproc_wait(&e->p, w));
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), HP_ERR_TVPID_INV);
	}
	hppair_meet(e);
	hppair_meet(e);
}

static void far_log(struct hppair *t, struct hpend *e)
{
	const uint64_t want = HP_LOG_MAKE(
		HP_CMD(HP_ERR_TVPID_INV, HP_G_PORT, HP_B_FAST_SEND | HP_A | 1),
		NOBODY);

	hppair_meet(e);
	assert_int_equal(hppair_counter(t, 1, "err_logs"), LOG);
	assert_int_equal(hppair_counter(t, 1, "err_lost"), MORE);
	assert_int_equal(hpdrv_get(&e->d, HP_R_IRQ_STATUS) & HP_IRQ_ERR,
			 HP_IRQ_ERR);
	for (uint32_t i = 0; i < LOG; i++)
		assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), want);
	assert_int_equal(hpdrv_get(&e->d, HP_R_IRQ_STATUS) & HP_IRQ_ERR, 0);
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), HP_NONE);
	hppair_meet(e);
}

static void a_full_error_log_loses_the_newest(void **state)
{
	hppair_once(NULL, near_log, far_log);
}

/* ---- messages that are too long ---- */

enum { RDR = 512 }; /* words of the region; it holds one less */

static void near_long(struct hppair *t, struct hpend *e)
{
	hpend_sdr(e, RDR, 4);
	hpend_send(e, HP_B_SEND | HP_A, 0, 8 * RDR);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_SEND | HP_A), NULL);
	hppair_meet(e);
	hppair_meet(e);
	hpend_send(e, HP_B_SEND | HP_A, 0, 8 * (RDR - 1));
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	hppair_meet(e);
}

static void far_long(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hppair_meet(e);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_NOTIFY_RECV), w);
	/* the notification has the length of the refused message */
	assert_int_equal(w[3], 8 * RDR);
	assert_int_equal(e->p.rdr[0], 0);
	hppair_meet(e);
	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, 8 * (RDR - 1), 4);
}

static void small_rdr(struct hppair *t)
{
	t->end[1].d.rdr = RDR;
}

static void a_message_longer_than_the_region_is_refused(void **state)
{
	hppair_once(small_rdr, near_long, far_long);
}

/* ---- instructions of a process that is off ---- */

enum { VCIS = 5 };

/* Turns the context off while the page still takes triggers. */
static void near_off(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], *c;
	uint32_t rp;

	c = (uint64_t *)hpdrv_ctx(&e->d, e->vpid);
	rp = (uint32_t)HP_CTX(c, HP_F_WQ_RP);
	c[0] &= ~HP_CTX_EN;
	for (uint32_t i = 0; i < VCIS; i++)
		hpproc_self(&e->p, i);
	hpproc_issue(&e->p, VCIS);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	assert_int_equal(hppair_counter(t, 0, "err_logs"), VCIS);
	for (uint32_t i = 0; i < VCIS; i++)
		assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG) & 0xffff,
				 e->vpid);
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), HP_NONE);
	c = (uint64_t *)hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_WQ_PEND), 0);
	assert_int_equal(HP_CTX(c, HP_F_WQ_RP), rp);
	assert_int_equal(c[0] & HP_CTX_EN, 0);
	assert_false(hpproc_wait(&e->p, w));
	hppair_meet(e);
}

static void instructions_of_a_context_that_is_off_are_dropped(void **state)
{
	hppair_once(NULL, near_off, hppair_far_1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_error_log_loses_the_newest),
		cmocka_unit_test(a_message_longer_than_the_region_is_refused),
		cmocka_unit_test(
			instructions_of_a_context_that_is_off_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
