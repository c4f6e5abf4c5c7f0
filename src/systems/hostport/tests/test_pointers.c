/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers of a process: scenarios T13 to T15 of hostport.md 13.1 and O14 of
 * 13.4, on one node. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "hpproc.h"

static struct hpdrv drv;

static void run(exrig_fn fn)
{
	drv = (struct hpdrv){ 0 };
	hprig_one(fn);
}

/* ---- T13, T14, T15: pointers ---- */

static void status_equal(const uint64_t *w, const uint64_t *c)
{
	assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_CC);
	assert_int_equal(w[1], HP_CTX(c, HP_F_WQ_RP));
	assert_int_equal(HP_PS_HI(w[2]), HP_CTX(c, HP_F_RDR_RP));
	assert_int_equal(HP_PS_LO(w[2]), HP_CTX(c, HP_F_RDR_WP));
	assert_int_equal(HP_PS_HI(w[3]), HP_CTX(c, HP_F_NQ_RP));
	assert_int_equal(HP_PS_LO(w[3]), HP_CTX(c, HP_F_NQ_WP));
	assert_int_equal(HP_PS_HI(w[4]), HP_CTX(c, HP_F_PRQ_RP));
	assert_int_equal(HP_PS_LO(w[4]), HP_CTX(c, HP_F_PRQ_WP));
}

static void status_is(struct hpproc *p, const uint64_t *w)
{
	status_equal(w, hpdrv_ctx(p->drv, p->vpid));
}

static int t13(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	for (uint32_t i = 0; i < 3; i++)
		hpproc_self(&p, i);
	hpproc_issue(&p, 3);
	hpproc_own(&p, (uint64_t[3]){ 0 }, 3);
	while (p.owed < 6)
		assert_true(hpproc_nqe(&p, w));
	hpproc_trigger(&p, HP_T_PRQ_WP, 2);
	assert_true(hpproc_nqe(&p, w));
	status_is(&p, w);
	assert_int_equal(HP_PS_LO(w[4]), 2);
	assert_int_equal(HP_GET(w[0], 8, 5), HP_T_PRQ_WP);
	hpproc_trigger(&p, HP_T_SNAPSHOT, 0);
	assert_true(hpproc_nqe(&p, w));
	status_is(&p, w);
	assert_int_equal(HP_GET(w[0], 8, 5), HP_T_SNAPSHOT);
	assert_int_equal(w[1], 3);
	assert_false(hpproc_nqe(&p, w)); /* one each */
	return 0;
}

/* T13 */
static void test_t13_snapshot(void **state)
{
	run(t13);
}

static uint32_t level(struct hpproc *p)
{
	const uint64_t *c = hpdrv_ctx(p->drv, p->vpid);

	return (uint32_t)((HP_CTX(c, HP_F_NQ_WP) + p->drv->nq -
			   HP_CTX(c, HP_F_NQ_RP)) %
			  p->drv->nq);
}

static int t14(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];
	struct hpproc p;
	uint32_t before;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	for (uint32_t i = 0; i < 40; i++) {
		hpproc_trigger(&p, HP_T_SNAPSHOT, 0);
		assert_true(hpproc_nqe(&p, w));
	}
	assert_int_equal(hpproc_trigger(&p, HP_T_NQ_RP, 31) & 0xff, 0x81);
	assert_true(hpproc_nqe(&p, w));
	status_is(&p, w);
	assert_int_equal(HP_PS_HI(w[3]), 31);
	assert_int_equal(HP_GET(w[0], 8, 5), HP_T_NQ_RP);
	assert_int_equal(HP_GET(w[0], 4, 0), 31);
	before = level(&p);
	for (uint32_t i = 0; i < 10; i++) {
		hpproc_trigger(&p, HP_T_NQ_RP, 1);
		assert_true(hpproc_nqe(&p, w));
		assert_int_equal(level(&p), before);
	}
	return 0;
}

/* T14 */
static void test_t14_increment(void **state)
{
	run(t14);
}

/* Runs T15. A snapshot shows the VCIs that were triggered before it. Then, in a
 * queue of 4, the second VCI finds no free entry. It is executed after the
 * pointer update that makes room. */
static int t15(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];
	struct hpproc p;

	drv.nq = 4;
	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	/* completes at once, because the command does not exist */
	hpproc_to(w, 0x50, 0, 5, 1);
	hpproc_put(&p, w);
	hpproc_issue(&p, 1);
	hpproc_trigger(&p, HP_T_SNAPSHOT, 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(hpproc_nqe(&p, w));
		if (HP_NQE_CMD(w) == HP_B_NOTIFY_CC)
			assert_int_equal(w[1], 1);
	}
	for (uint32_t i = 2; i < 4; i++) {
		hpproc_to(w, 0x50, 0, 5, i);
		hpproc_put(&p, w);
	}
	hpproc_issue(&p, 2);
	assert_true(hpproc_nqe(&p, w));
	assert_int_equal(HP_NQE_TAG(w), 2);
	assert_false(hpproc_nqe(&p, w));
	assert_int_equal(exrig_counter(r->node[0].nic, "parked"), 1);
	assert_int_equal(HP_CTX(hpdrv_ctx(&drv, 5), HP_F_WQ_PEND), 1);
	hpproc_trigger(&p, HP_T_NQ_RP, 3);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(hpproc_nqe(&p, w));
	assert_int_equal(HP_CTX(hpdrv_ctx(&drv, 5), HP_F_WQ_RP), 3);
	assert_int_equal(HP_CTX(hpdrv_ctx(&drv, 5), HP_F_WQ_PEND), 0);
	assert_int_equal(HP_CTX(hpdrv_ctx(&drv, 5), HP_F_NQ_RESV), 0);
	return 0;
}

/* T15 */
static void test_t15_order(void **state)
{
	run(t15);
}

/* ---- O14 ---- */

/* Runs O14. After a flush the table in memory agrees with the last status
 * NQE. */
static int o14(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS], before[HP_WORDS];
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	for (uint32_t i = 0; i < 3; i++)
		hpproc_self(&p, i);
	hpproc_issue(&p, 3);
	hpproc_own(&p, (uint64_t[3]){ 0 }, 3);
	while (p.owed < 6)
		assert_true(hpproc_nqe(&p, w));
	hpproc_free(&p);
	hpproc_trigger(&p, HP_T_PRQ_WP, 3);
	hpproc_trigger(&p, HP_T_SNAPSHOT, 0);
	while (hpproc_nqe(&p, w))
		;
	memcpy(before, drv.ct + HP_WORDS * 5, HP_LINE);
	hpdrv_cache(&drv, HP_CACHE_FLUSH, HP_CACHE_CTX, 0, 0, 0);
	assert_memory_not_equal(before, drv.ct + HP_WORDS * 5, HP_LINE);
	status_equal(w, drv.ct + HP_WORDS * 5);
	assert_int_equal(w[1], 3);
	assert_int_equal(HP_PS_LO(w[4]), 3);
	return 0;
}

/* O14 */
static void test_o14_flush(void **state)
{
	run(o14);
}

/* ---- Q22: random increments of all pointers ---- */

enum { NQ = 16, PRQ = 8, RDR = 64, ROUNDS = 600 };

struct ring {
	uint32_t rp, wp, size;
};

static uint32_t used(const struct ring *r)
{
	return (r->wp + r->size - r->rp) % r->size;
}

static struct ring any_ring(struct weft_rng *g, uint32_t size)
{
	return (struct ring){ (uint32_t)(weft_rng_u64(g) % size),
			      (uint32_t)(weft_rng_u64(g) % size), size };
}

static void rings_put(uint64_t *c, const struct ring *nq,
		      const struct ring *rdr, const struct ring *prq)
{
	HP_CTX_SET(c, HP_F_NQ_RP, nq->rp);
	HP_CTX_SET(c, HP_F_NQ_WP, nq->wp);
	HP_CTX_SET(c, HP_F_RDR_RP, rdr->rp);
	HP_CTX_SET(c, HP_F_RDR_WP, rdr->wp);
	HP_CTX_SET(c, HP_F_PRQ_RP, prq->rp);
	HP_CTX_SET(c, HP_F_PRQ_WP, prq->wp);
}

/* Applies a command to the pointers (7.3). Returns false if the pointer would
 * pass the opposite one. */
static bool apply(uint32_t cmd, uint32_t by, uint32_t unit, struct ring *nq,
		  struct ring *rdr, struct ring *prq)
{
	if (cmd == HP_T_NQ_RP && by > used(nq))
		return false;
	if (cmd == HP_T_RDR_RP && by << unit > used(rdr))
		return false;
	if (cmd == HP_T_PRQ_WP && used(prq) + by > PRQ - 1)
		return false;
	if (cmd == HP_T_NQ_RP)
		nq->rp = (nq->rp + by) % NQ;
	if (cmd == HP_T_RDR_RP)
		rdr->rp = (rdr->rp + (by << unit)) % RDR;
	if (cmd == HP_T_PRQ_WP)
		prq->wp = (prq->wp + by) % PRQ;
	return true;
}

static int any_pointers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint32_t cmds[] = { HP_T_SNAPSHOT, HP_T_NQ_RP, HP_T_RDR_RP,
					 HP_T_PRQ_WP };
	uint64_t w[HP_WORDS], want[HP_WORDS];
	struct weft_rng g;
	struct hpproc p;

	drv = (struct hpdrv){ .nq = NQ, .prq = PRQ, .rdr = RDR };
	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	weft_rng_seed(&g, 2, NULL);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct ring nq = any_ring(&g, NQ), rdr = any_ring(&g, RDR),
			    prq = any_ring(&g, PRQ);
		uint32_t cmd = cmds[weft_rng_u64(&g) % 4], unit = i / 50 % 3;
		uint32_t by = (uint32_t)(weft_rng_u64(&g) % (i % 3 ? 10 : 32));
		bool ok;

		if (used(&nq) > NQ - 2)
			continue;
		hpdrv_set(&drv, HP_R_RDR_UNIT, unit);
		rings_put((uint64_t *)hpdrv_ctx(&drv, 5), &nq, &rdr, &prq);
		p.ni = nq.wp;
		ok = apply(cmd, by, unit, &nq, &rdr, &prq);
		nq.wp = (nq.wp + 1) % NQ; /* entry of the status */
		assert_true(hpproc_trigger(&p, cmd, by) & HP_TRUE);
		assert_true(hpproc_nqe(&p, w));
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)),
				 ok ? 0 : HP_ERR_CMD_INV);
		w[7] = HP_NQE_W7(HP_B_NOTIFY_CC, 0ull, 0ull);
		memcpy(want, hpdrv_ctx(&drv, 5), HP_LINE);
		status_equal(w, want);
		rings_put(want, &nq, &rdr, &prq);
		assert_memory_equal(want, hpdrv_ctx(&drv, 5), HP_LINE);
	}
	return 0;
}

/* Q22 */
static void test_increments_of_any_pointers(void **state)
{
	hprig_one(any_pointers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t13_snapshot),
		cmocka_unit_test(test_t14_increment),
		cmocka_unit_test(test_t15_order),
		cmocka_unit_test(test_o14_flush),
		cmocka_unit_test(test_increments_of_any_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
