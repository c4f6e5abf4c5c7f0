/* SPDX-License-Identifier: Apache-2.0 */
/* Posted receive: scenarios Q14 to Q18 of hostport.md 13.2. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

enum { S = HP_B_SEND, A = HP_B_SEND | HP_A };

static void posted_on(struct hppair *t)
{
	t->end[1].flags = HP_CTX_PR_EN;
}

/* ---- Q14 to Q18: posted receive ---- */

struct posted {
	uint32_t words, buffer;
	bool pa;
	uint32_t skew, lskew;
	enum hp_err err;
	uint32_t stored;
};

static const struct posted posteds[] = {
	{ 100, 100, 0, 0, 0, HP_ERR_NOERR, 100 }, /* Q14 */
	{ 1000, 1200, 0, 8, 0, HP_ERR_NOERR, 1000 },
	{ 100, 60, 0, 0, 0, HP_ERR_POSTED_TRUNC, 60 }, /* Q15 */
	{ 100, 100, 1, 0, 0, HP_ERR_NOERR, 100 },
	{ 100, 60, 1, 0, 0, HP_ERR_POSTED_TRUNC, 60 },
	{ 100, 100, 1, 4, 0, HP_ERR_POSTED_PA_INV, 0 }, /* Q17 */
	{ 100, 100, 1, 0, 4, HP_ERR_POSTED_PA_INV, 0 },
	{ 100, 1u << 28, 1, 0, 0, HP_ERR_POSTED_PA_INV, 0 }, /* no memory */
	{ 100, 0, 0, 0, 0, HP_ERR_POSTED_TRUNC, 0 }, /* buffers of 0 bytes */
	{ 100, 0, 1, 0, 0, HP_ERR_POSTED_TRUNC, 0 },
};
enum { POSTEDS = sizeof(posteds) / sizeof(*posteds) };

static bool forbidden; /* PRDs with physical addresses are forbidden (Q16) */

static void near_posted(struct hppair *t, struct hpend *e)
{
	for (uint32_t i = 0; i < POSTEDS; i++) {
		const struct posted *c = &posteds[i];
		enum hp_err err =
			c->pa && forbidden ? HP_ERR_POSTED_PA : c->err;

		hpend_sdr(e, c->words, i);
		hpend_send(e, A, 0, 8 * c->words);
		if (!i)
			hpend_silent(e); /* Q18 */
		hppair_meet(e);
		hpend_expect(e, HP_CMD(err, 0, A), NULL);
		hppair_meet(e);
	}
	/* fast messages need no buffer */
	hpend_sdr(e, 5, 99);
	hpend_send(e, S, 0, 40);
	hpend_expect(e, S, NULL);
	hppair_meet(e);
}

static void far_posted_one(struct hpend *e, const struct posted *c, uint32_t i)
{
	enum hp_err err = c->pa && forbidden ? HP_ERR_POSTED_PA : c->err;
	uint32_t stored = err == HP_ERR_POSTED_PA ? 0 : c->stored;
	uint64_t at = 3 * HP_PAGE, addr = HPEND_VA + at + c->skew;
	uint64_t w[HP_WORDS];

	if (c->pa)
		addr = e->mem_phys + (uint64_t)(hpend_at(e, at) - e->mem) +
		       c->skew;
	hpend_set(e, 0xee);
	hpend_prd(e, addr, 8ull * c->buffer + c->lskew, c->pa ? HP_PRD_PA : 0,
		  0xabc0 + i);
	hpend_expect(e, HP_CMD(err, 0, HP_B_NOTIFY_RECV), w);
	if (err == HP_ERR_POSTED_TRUNC)
		assert_int_equal(HP_NQE_CMD(w), 0x88F3);
	assert_true(w[1] & HP_NQE_POSTED);
	assert_int_equal(HP_PS_LO(w[2]), i + 1);
	assert_int_equal(w[3], 8 * stored);
	assert_int_equal(w[4], addr);
	assert_int_equal(w[5], 8 * c->words);
	assert_int_equal(w[6], 0xabc0 + i);
	assert_true(hpend_equal(e, at + c->skew, 8 * stored, i));
	assert_true(hpend_rest(e, at + c->skew, 8 * stored, 0xee));
}

static void far_posted(struct hppair *t, struct hpend *e)
{
	for (uint32_t i = 0; i < POSTEDS; i++) {
		hppair_meet(e);
		far_posted_one(e, &posteds[i], i);
		hppair_meet(e);
	}
	hpend_expect(e, HP_B_NOTIFY_FAST_RECV, NULL);
	hppair_meet(e);
}

static void posted_pa(struct hppair *t)
{
	t->end[1].flags = HP_CTX_PR_EN | HP_CTX_PR_PA;
}

/* Q14 to Q18 */
static void test_posted_receive_lands_truncates_and_refuses(void **state)
{
	forbidden = false;
	hppair_once(posted_pa, near_posted, far_posted);
	forbidden = true;
	hppair_once(posted_on, near_posted, far_posted);
}

/* ---- a port that is closed while a message waits for a buffer ---- */

static void near_closed(struct hppair *t, struct hpend *e)
{
	hpend_sdr(e, 100, 1);
	hpend_send(e, A, 0, 800);
	hpend_silent(e);
	hppair_meet(e);
	hpend_expect(e, HP_CMD(HP_ERR_TVPID_INV, 0, A), NULL);
	hppair_meet(e);
}

/* The driver turns the context off in its table alone, and asks the device to
 * end the messages that wait for this VPID. */
static void far_closed(struct hppair *t, struct hpend *e)
{
	struct hpdrv *d = &e->d;

	hppair_meet(e);
	hpdrv_ctx(d, e->vpid);
	d->ct[HP_WORDS * e->vpid] &= ~HP_CTX_EN;
	hpdrv_set(d, HP_R_VPID_QUIET, e->vpid);
	hppair_meet(e);
	assert_int_equal(hpdrv_get(d, HP_R_VPID_QUIET), 0);
	assert_false(hpproc_nqe(&e->p, (uint64_t[HP_WORDS]){ 0 }));
}

static void test_message_that_waits_ends_when_its_port_is_off(void **state)
{
	hppair_once(posted_on, near_closed, far_closed);
}

/* ---- PR4: wrong descriptors, buffers at the end of memory ---- */

#define END (64ull << 20) /* end of the node's memory */

static const struct {
	uint64_t addr, len, flags;
	enum hp_err err;
} odd[] = {
	{ END - 800, 800, HP_PRD_VALID | HP_PRD_PA, HP_ERR_NOERR },
	{ END - 792, 800, HP_PRD_VALID | HP_PRD_PA, HP_ERR_POSTED_PA_INV },
	{ END, 800, HP_PRD_VALID | HP_PRD_PA, HP_ERR_POSTED_PA_INV },
	{ 1ull << 52, 800, HP_PRD_VALID | HP_PRD_PA, HP_ERR_POSTED_PA_INV },
	{ 0, 1ull << 40, HP_PRD_VALID | HP_PRD_PA, HP_ERR_POSTED_PA_INV },
	{ HPEND_VA, 800, 0, HP_ERR_POSTED_PA_INV }, /* not valid */
};
enum { ODD = sizeof(odd) / sizeof(*odd) };

static void near_odd(struct hppair *t, struct hpend *e)
{
	hpend_sdr(e, 100, 1);
	for (uint32_t i = 0; i < ODD; i++) {
		hppair_meet(e);
		hpend_send(e, A, 0, 800);
		hpend_expect(e, HP_CMD(odd[i].err, 0, A), NULL);
		hppair_meet(e);
	}
}

static void far_odd(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_set(e, 0xee);
	for (uint32_t i = 0; i < ODD; i++) {
		hpend_prd_raw(e, odd[i].addr, odd[i].len, odd[i].flags, i);
		hppair_meet(e);
		hpend_expect(e, HP_CMD(odd[i].err, 0, HP_B_NOTIFY_RECV), w);
		assert_int_equal(w[3], odd[i].err ? 0 : 800);
		assert_int_equal(w[6], i);
		hppair_meet(e);
	}
	assert_true(hpend_rest(e, 0, 0, 0xee));
}

static void test_wrong_descriptors(void **state)
{
	hppair_once(posted_pa, near_odd, far_odd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_posted_receive_lands_truncates_and_refuses),
		cmocka_unit_test(
			test_message_that_waits_ends_when_its_port_is_off),
		cmocka_unit_test(test_wrong_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
