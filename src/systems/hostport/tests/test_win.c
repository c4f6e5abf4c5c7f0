/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of the Host Port: scenarios R02 to R09, R16 to R18 and R20 of
 * hostport.md 13.3, O15 of 13.4. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

/* ---- R02 to R09, R20: windows ---- */

/* Windows of the target, all on its first page. */
static const struct {
	uint32_t id;
	uint64_t flags, owner;
} target_wins[] = {
	{ 6, HP_WIN_EN | HP_WIN_RD | HPEND_CAPA, 0 },
	{ 7, HP_WIN_EN | HP_WIN_WR | HPEND_CAPA, 0 },
	{ 8, HP_WIN_RD | HP_WIN_WR | HPEND_CAPA, 0 }, /* disabled */
	{ 9, HPEND_OPEN | HP_WIN_LOCK | HPEND_CAPA, HP_WIN_OWNER_MAKE(9, 9) },
	{ 10, HPEND_OPEN | HP_WIN_LOCK | HPEND_CAPA,
	  HP_WIN_OWNER_MAKE(HPEND_HPID0, HPEND_VPID0) },
	{ 11, HPEND_OPEN | HP_WIN_CAP_ANY | 77, 0 },
};

static void far_windows(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	for (uint32_t i = 0; i < 6; i++)
		hpend_win(e, target_wins[i].id, 0, HP_PAGE,
			  target_wins[i].flags, target_wins[i].owner);
	hpend_windows(e);
	hpend_win(e, HPEND_WIN, 0, HP_PAGE, HPEND_OPEN | HPEND_CAPA, 0);
	hppair_meet(e);
	hppair_meet(e);
}

struct refusal {
	uint32_t byte, win, capa, owin;
	uint64_t off, len;
	enum hp_err err;
	bool at_target; /* the target is notified too */
};
enum { P = HP_B_PUT | HP_A, G = HP_B_GET };

static const struct refusal refusals[] = {
	{ P, HPEND_WIN, HPEND_CAPA + 1, HPEND_OWN, 0, 8, HP_ERR_TWINID_CAPA,
	  1 }, /* R02 */
	{ G, HPEND_WIN, HPEND_CAPA + 1, HPEND_OWN, 0, 8, HP_ERR_TWINID_CAPA,
	  1 },
	{ P, 6, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 }, /* R03 */
	{ G, 7, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ HP_B_FAA, 6, HPEND_CAPA, 0, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ HP_B_FAA, 7, HPEND_CAPA, 0, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ P, 64, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_INV, 1 }, /* R04 */
	{ G, 64, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_INV, 1 },
	{ P, 8, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_INV, 1 },
	{ P, HPEND_WIN, HPEND_CAPA, 64, 0, 8, HP_ERR_OWINID_INV, 0 },
	{ G, HPEND_WIN, HPEND_CAPA, 20, 0, 8, HP_ERR_OWINID_INV, 0 },
	{ P, 9, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_TWINID_INV, 1 }, /* R05 */
	{ P, 10, HPEND_CAPA, HPEND_OWN, 0, 8, HP_ERR_NOERR, 0 },
	{ P, HPEND_WIN, HPEND_CAPA, 21, 0, 8, HP_ERR_OWINID_INV, 0 }, /* R06 */
	{ P, HPEND_WIN, HPEND_CAPA, HPEND_OWN, 4096 - 8, 16, HP_ERR_TWINID,
	  1 }, /* R07 */
	{ P, HPEND_WIN, HPEND_CAPA, HPEND_OWN, 4096 - 8, 8, HP_ERR_NOERR, 0 },
	{ G, HPEND_WIN, HPEND_CAPA, HPEND_OWN, 4096, 8, HP_ERR_TWINID, 1 },
	{ P, HPEND_WIN, HPEND_CAPA, HPEND_OWN, ~0ull & ~7ull, 16, HP_ERR_TWINID,
	  1 },
	{ P, HPEND_WIN, HPEND_CAPA, HPEND_OWN, 4, 8, HP_ERR_TOFFSET,
	  1 }, /* R08 */
	{ P, HPEND_WIN, HPEND_CAPA, HPEND_OWN, 4, 12, HP_ERR_OLENGTH, 0 },
	{ P, HPEND_WIN, HPEND_CAPA + 1, HPEND_OWN, 4, 8, HP_ERR_TWINID_CAPA,
	  1 },						   /* R09 */
	{ P, 11, 4711, HPEND_OWN, 0, 8, HP_ERR_NOERR, 0 }, /* R20 */
	{ G, 11, 0, HPEND_OWN, 0, 8, HP_ERR_NOERR, 0 },
};
enum { REFUSALS = sizeof(refusals) / sizeof(*refusals) };

static void near_refusals(struct hppair *t, struct hpend *e)
{
	enum hp_err last = HP_ERR_NOERR; /* error that the context holds */
	uint64_t w[HP_WORDS], sent;

	hpend_windows(e);
	hpend_win(e, 21, 0, HP_PAGE, HP_WIN_EN | HP_WIN_LOCK,
		  HP_WIN_OWNER_MAKE(9, 9));
	hppair_meet(e);
	for (uint32_t i = 0; i < REFUSALS; i++) {
		const struct refusal *f = &refusals[i];
		struct hprma a = { .byte = f->byte,
				   .win = f->win,
				   .capa = f->capa,
				   .owin = f->owin,
				   .off = f->off,
				   .len = f->len };

		sent = hppair_counter(t, 0, "packets_out");
		hpend_set(e, 0xee);
		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(f->err, 0, f->byte), w);
		last = f->err ? f->err : last;
		hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_CTX, 0, 0);
		assert_int_equal(
			HP_CTX(e->d.ct + HP_WORDS * e->vpid, HP_F_LAST_ERR),
			last);
		/* an error at the origin sends no byte into the network */
		if (f->err && !f->at_target)
			assert_int_equal(hppair_counter(t, 0, "packets_out"),
					 sent);
		if (!f->at_target)
			continue;
		hpend_other(e, HP_CMD(f->err, 0, HP_B_NOTIFY_RMA), w);
		assert_int_equal(w[3], HP_RMA_W3(f->win, HP_CMD_BYTE(f->byte)));
		assert_int_equal(w[4], f->off);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID0);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID0);
		assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
	}
	hppair_meet(e);
}

/* R02 to R09, R20 */
static void test_refused_access_changes_no_byte(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_refusals, far_windows);
	hppair_free(&t);
}

/* ---- R16: locked between request and response ---- */

static void near_locked(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_get(0, 0, 8);
	uint64_t *own = e->p.wdt + HP_WORDS * HPEND_OWN;

	hpend_windows(e);
	hpend_set(e, 0xdd);
	/* waits, because the target's page is not translated yet */
	hpend_rma(e, &a);
	weft_host_sleep(e->h, weft_host_now(e->h) + 2 * WEFT_US);
	own[HP_WIN_FLAGS] |= HP_WIN_LOCK;
	own[HP_WIN_OWNER] = HP_WIN_OWNER_MAKE(9, 9);
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_WIN, HPEND_OWN, 0);
	hppair_meet(e);
	hpend_expect(e, HP_CMD(HP_ERR_OWINID_INV, 0, HP_B_GET), NULL);
	assert_true(hpend_rest(e, 0, 0, 0xdd));
	hppair_meet(e);
}

static void far_locked(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	e->hold = true;
	hpend_windows(e);
	hppair_meet(e);
	e->hold = false;
	hppair_meet(e);
}

/* R16 */
static void test_window_locked_in_flight_ends_the_get(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_locked, far_locked);
	assert_int_equal(hppair_counter(&t, 0, "nacks"), 0);
	hppair_free(&t);
}

/* ---- R20: a capability for a group ---- */

/* Uses a window of a group. Processes 0 and 1 have the capability of the group,
 * process 2 has another. */
static void near_group(struct hppair *t, struct hpend *e)
{
	static struct hpproc p[3];
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t i = 0; i < 3; i++) {
		hpproc_open(&p[i], &e->d, e->h, 0x200 + i, 0);
		hpproc_to(w, HP_B_FAST_PUT | HP_A | 1, 1, HPEND_VPID1, i);
		w[3] = HP_VCI_W3(HPEND_WIN, HPEND_CAPA + i / 2);
		w[4] = 8 * i;
		w[5] = i;
		hpproc_put(&p[i], w);
		hpproc_issue(&p[i], 1);
		assert_true(hpproc_wait(&p[i], w));
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)),
				 i == 2 ? HP_ERR_TWINID_CAPA : 0);
		if (i < 2)
			assert_int_equal(
				*(uint64_t *)hpend_at(&t->end[1], 8 * i), i);
	}
	assert_true(hpend_rest(&t->end[1], 0, 16, 0xee));
	hpend_other(e, HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_NOTIFY_RMA), NULL);
	hppair_meet(e);
}

/* R20 */
static void test_group_capability_admits_its_holders_only(void **state)
{
	hppair_once(NULL, near_group, hppair_far_memory);
}

/* ---- windows of equal number ---- */

enum { ALIKE = 5 };
static const uint32_t alike[ALIKE] = { 0x21, 0x121, 0x2021, 0x8021, 0x22 };

/* Opens windows of VPIDs that differ in one bit, each with a capability of its
 * own. All of them are in the device's cache. */
static void near_alike(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t i = 0; i < 3 * ALIKE; i++)
		for (uint32_t k = 0; k < 2; k++) {
			hpproc_to(w, HP_B_FAST_PUT | HP_A | 1, 1,
				  alike[i % ALIKE], i);
			w[3] = HP_VCI_W3(HPEND_WIN, 100 + (i + k) % ALIKE);
			w[4] = 0;
			hpproc_put(&e->p, w);
			hpproc_issue(&e->p, 1);
			assert_true(hpproc_wait(&e->p, w));
			assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)),
					 k ? HP_ERR_TWINID_CAPA : 0);
		}
	hppair_meet(e);
}

static void far_alike(struct hppair *t, struct hpend *e)
{
	static struct hpproc p[ALIKE];

	e->hold = true;
	for (uint32_t i = 0; i < ALIKE; i++) {
		uint64_t *d;

		hpproc_open(&p[i], &e->d, e->h, alike[i], 0);
		d = p[i].wdt + HP_WORDS * HPEND_WIN;
		d[HP_WIN_VA] = HPEND_VA;
		d[HP_WIN_LEN] = HP_PAGE;
		d[HP_WIN_FLAGS] = HPEND_OPEN | (100 + i);
		hpdrv_cache(&e->d, HP_CACHE_INSERT, HP_CACHE_TLB, alike[i],
			    HPEND_VA / HP_PAGE,
			    HP_TLB_ARG(e->mem_phys / HP_PAGE + i, 1ull));
	}
	e->hold = false;
	hpend_windows(e);
	hppair_meet(e);
}

static void test_similar_vpids_keep_separate_windows(void **state)
{
	hppair_once(NULL, near_alike, far_alike);
}

/* ---- O15: a window changes ---- */

static void fast_put(struct hpend *e, enum hp_err err)
{
	struct hprma a = hpend_put(0, 0, 0);

	a.byte = HP_B_FAST_PUT | HP_A | 1;
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(err, 0, a.byte), NULL);
	if (err)
		hpend_other(e, HP_CMD(err, 0, HP_B_NOTIFY_RMA), NULL);
}

/* Changes the window in memory only, then notifies the device. The first change
 * is of the rights at the target, the second of the origin's own window. */
static void near_stale(struct hppair *t, struct hpend *e)
{
	uint64_t *far = t->end[1].p.wdt + HP_WORDS * HPEND_WIN;
	uint64_t *own = e->p.wdt + HP_WORDS * HPEND_OWN;
	struct hprma a = hpend_put(0, 0, 8);

	hpend_windows(e);
	fast_put(e, HP_ERR_NOERR);
	far[HP_WIN_FLAGS] &= ~HP_WIN_WR;
	/* succeeds, because the device has the old descriptor */
	fast_put(e, HP_ERR_NOERR);
	hppair_meet(e); /* removed */
	hppair_meet(e);
	fast_put(e, HP_ERR_TWINID_CAPA);
	far[HP_WIN_FLAGS] |= HP_WIN_WR;
	hppair_meet(e);
	hppair_meet(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	own[HP_WIN_LEN] = 0;
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_WIN, HPEND_OWN, 0);
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_OWINID, 0, a.byte), NULL);
	hppair_meet(e);
}

static void far_stale(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	hpend_windows(e);
	for (uint32_t i = 0; i < 2; i++) {
		hppair_meet(e);
		hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_WIN, HPEND_WIN, 0);
		hppair_meet(e);
	}
	hppair_meet(e);
}

/* O15 */
static void test_changed_window_takes_effect_after_removal(void **state)
{
	hppair_once(NULL, near_stale, far_stale);
}

/* ---- R17, R18 ---- */

static void near_notify(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(64, 0, 24), bad = hpend_put(64, 0, 24), f;
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hppair_meet(e);
	a = hpend_get(64, 0, 24);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hppair_meet(e);
	f = (struct hprma){
		.byte = HP_B_FAA, .win = HPEND_WIN, .capa = HPEND_CAPA, .off = 8
	};
	hpend_rma(e, &f);
	hpend_expect(e, f.byte, NULL);
	hppair_meet(e);
	bad.byte = HP_B_PUT; /* R18 */
	bad.capa++;
	hpend_rma(e, &bad);
	hpend_expect(e, HP_B_PUT, w);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_PUT), w);
	hpend_silent(e);
	hppair_meet(e);
}

static void far_notify(struct hppair *t, struct hpend *e)
{
	static const struct {
		uint32_t byte;
		uint64_t off, size;
	} want[] = { { HP_B_PUT | HP_A, 64, 24 },
		     { HP_B_GET, 64, 24 },
		     { HP_B_FAA, 8, 8 } };
	uint64_t w[HP_WORDS];

	hpend_windows(e);
	for (uint32_t i = 0; i < 3; i++) {
		if (e->flags & HP_CTX_RMA_NTF) {
			hpend_expect(e, HP_B_NOTIFY_RMA, w);
			assert_int_equal(w[0], 7);
			assert_int_equal(w[3],
					 HP_RMA_W3(HPEND_WIN, want[i].byte));
			assert_int_equal(w[4], want[i].off);
			assert_int_equal(w[5], want[i].size);
			assert_int_equal(HP_NQE_HPID(w), HPEND_HPID0);
		} else {
			hpend_silent(e);
		}
		hppair_meet(e);
	}
	hpend_expect(e, HP_CMD(HP_ERR_TWINID_CAPA, 0, HP_B_NOTIFY_RMA), w);
	hppair_meet(e);
}

static void wants_notify(struct hppair *t)
{
	t->end[1].flags = HP_CTX_RMA_NTF;
}

/* R17, R18 */
static void test_target_is_notified_when_its_window_asks(void **state)
{
	static struct hppair t;

	hppair_run(&t, wants_notify, near_notify, far_notify);
	hppair_free(&t);
	hppair_run(&t, NULL, near_notify, far_notify);
	hppair_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_access_changes_no_byte),
		cmocka_unit_test(test_window_locked_in_flight_ends_the_get),
		cmocka_unit_test(test_group_capability_admits_its_holders_only),
		cmocka_unit_test(
			test_changed_window_takes_effect_after_removal),
		cmocka_unit_test(test_target_is_notified_when_its_window_asks),
		cmocka_unit_test(test_similar_vpids_keep_separate_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
