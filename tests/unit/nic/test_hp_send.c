/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, Send and Receive of the Host Port (hostport.md 13.2, Q01 to Q22), and
 * packets made by hand (R23). */
#include "../cmocka_all.h"

#include <string.h>

#include "hppair.h"
#include "nic/hostport/nic.h"

static uint64_t nic_counter(struct hppair *t, uint32_t node, const char *name)
{
	return exrig_counter(t->rig.node[node].nic, name);
}

static void far_idle(struct hppair *t, struct hpend *e)
{
	(void)t;
	hppair_meet(e);
	hppair_meet(e);
}

static void run(void (*before)(struct hppair *), hppair_fn near, hppair_fn far)
{
	static struct hppair t;

	hppair_run(&t, before, near, far);
	hppair_free(&t);
}

static void sdr_fill(struct hpend *e, uint32_t words, uint32_t seed)
{
	for (uint32_t i = 0; i < 8 * words; i++)
		((uint8_t *)e->p.sdr)[i] = hpend_byte(i, seed);
}

/* Words of the RDR that end at wp are what sdr_fill made. */
static void rdr_check(struct hpend *e, const uint64_t *w, uint32_t bytes,
		      uint32_t seed)
{
	uint32_t wp = HP_PS_LO(w[2]), size = e->d.rdr;
	uint32_t start = (wp + size - bytes / 8) % size;

	assert_int_equal(w[3], bytes);
	for (uint32_t i = 0; i < bytes; i++) {
		uint32_t at = (8 * start + i) % (8 * size);

		assert_int_equal(((uint8_t *)e->p.rdr)[at],
				 hpend_byte(i, seed));
	}
}

static void rdr_free(struct hpend *e, uint32_t words)
{
	while (words) {
		uint32_t k = words > HP_COUNT_MAX ? HP_COUNT_MAX : words;

		if (hpproc_trigger(&e->p, HP_T_RDR_RP, k) & HP_TRUE)
			words -= k;
	}
}

/* ---- Q01, Q02: work queue, FAST_SEND ----------------------------------- */

enum { WQ = 37, ROUND = WQ + 10 };

static void odd_queue(struct hppair *t)
{
	t->end[0].d.wq = t->end[1].d.wq = WQ;
	t->end[0].d.ctrl = t->end[1].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

static void near_wrap(struct hppair *t, struct hpend *e)
{
	uint64_t data;

	(void)t;
	for (uint32_t i = 0; i < 3 * ROUND; i++) {
		data = i;
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
		if (i % 16 == 15)
			for (uint32_t k = 0; k < 16; k++)
				hpend_expect(e, HP_B_FAST_SEND | 1, NULL);
	}
	hppair_meet(e);
}

static void far_wrap(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	(void)t;
	for (uint32_t i = 0; i < 3 * ROUND; i++) {
		hpend_expect(e, HP_B_NOTIFY_FAST_RECV, w);
		assert_int_equal(w[2], i);
		assert_int_equal(HP_NQE_TAG(w), i);
	}
	hppair_meet(e);
}

static void test_wrap(void **state)
{
	(void)state;
	run(odd_queue, near_wrap, far_wrap);
}

static void near_fast(struct hppair *t, struct hpend *e)
{
	uint64_t data[7] = { 1, 2, 3, 4, 5, 6, 7 }, w[HP_WORDS], sent;

	for (uint32_t n = 0; n <= 5; n++) {
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, n & 1 ? HP_A : 0,
				 100 + n, data, n);
		hpend_expect(e, HP_B_FAST_SEND | (n & 1 ? HP_A : 0) | n, w);
		assert_int_equal(HP_NQE_USER(w), 100 + n);
		hpend_other(e, HP_B_NOTIFY_FAST_RECV, w);
		assert_int_equal(HP_NQE_WORDS(w), n);
		assert_int_equal(HP_NQE_TAG(w), 100 + n);
		assert_int_equal(HP_NQE_USER(w), 100 + n);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID0);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID0);
		assert_memory_equal(&w[2], data, 8 * n);
		for (uint32_t i = n; i < 5; i++)
			assert_int_equal(w[2 + i], 0);
	}
	sent = nic_counter(t, 0, "packets_out");
	for (uint32_t n = 6; n <= 7; n++) {
		hpproc_to(w, HP_B_FAST_SEND | n, 1, HPEND_VPID1, n);
		hpproc_put(&e->p, w);
		hpproc_issue(&e->p, 1);
		hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, HP_B_FAST_SEND | n),
			     w);
	}
	assert_int_equal(nic_counter(t, 0, "packets_out"), sent);
	hpend_silent(e);
	hppair_meet(e);
	hppair_meet(e);
}

static void test_fast(void **state)
{
	(void)state;
	run(NULL, near_fast, far_idle);
}

/* ---- Q03 to Q05, Q08, Q13: RDR ----------------------------------------- */

static const uint32_t lengths[] = { 0,	  8,	40,    48,   56,    4096,
				    4104, 8192, 65528, 1000, 65528, 64000 };
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static void near_rdr(struct hppair *t, struct hpend *e)
{
	(void)t;
	for (uint32_t i = 0; i < LENGTHS; i++) {
		uint32_t byte = HP_B_SEND | (i & 1 ? HP_A : 0);

		sdr_fill(e, lengths[i] / 8, i);
		hpend_send(e, byte, 0, lengths[i]);
		hpend_expect(e, byte, NULL);
		/* what has been notified has been read (Q08) */
		memset(e->p.sdr, 0xcc, lengths[i]);
		hppair_meet(e);
	}
}

static void far_rdr(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	(void)t;
	for (uint32_t i = 0; i < LENGTHS; i++) {
		uint32_t n = lengths[i];

		hpend_expect(e,
			     n <= 40 ? HP_B_NOTIFY_FAST_RECV : HP_B_NOTIFY_RECV,
			     w);
		if (n > 40) {
			rdr_check(e, w, n, i);
			rdr_free(e, n / 8);
		} else {
			assert_int_equal(HP_NQE_WORDS(w), n / 8);
		}
		hppair_meet(e);
	}
}

static void test_rdr(void **state)
{
	(void)state;
	run(NULL, near_rdr, far_rdr);
}

/* ---- Q06: RDR full ------------------------------------------------------ */

static void near_full(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	(void)t;
	sdr_fill(e, 8000, 1);
	hpend_send(e, HP_B_SEND | HP_A, 0, 64000);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	hpend_send(e, HP_B_SEND | HP_A, 0, 2400); /* 192 words are free */
	assert_false(hpproc_wait(&e->p, w));
	hppair_meet(e);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	hppair_meet(e);
}

static void far_full(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	rdr_check(e, w, 64000, 1);
	hppair_meet(e);
	assert_int_equal(nic_counter(t, 1, "rx_stalls"), 1);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	rdr_free(e, 8000);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	rdr_check(e, w, 2400, 1);
	assert_false(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	hppair_meet(e);
}

static void test_full(void **state)
{
	(void)state;
	run(NULL, near_full, far_full);
}

/* ---- Q07: two messages, two units -------------------------------------- */

enum { BURST = 40 };

static void near_burst(struct hppair *t, struct hpend *e)
{
	(void)t;
	sdr_fill(e, 8192, 9);
	for (uint32_t i = 0; i < BURST; i++)
		hpend_send(e, HP_B_SEND, 0, 48 + 8 * (i * 37 % 150));
	for (uint32_t i = 0; i < BURST; i++)
		hpend_expect(e, HP_B_SEND, NULL);
	hppair_meet(e);
}

static void far_burst(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	(void)t;
	for (uint32_t i = 0; i < BURST; i++) {
		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		rdr_check(e, w, (uint32_t)w[3], 9);
	}
	hppair_meet(e);
}

static void test_burst(void **state)
{
	(void)state;
	run(NULL, near_burst, far_burst);
}

/* ---- Q09, Q21, Q22: full notification queue ---------------------------- */

enum { NQ = 16 };

static void small_nq(struct hppair *t)
{
	t->end[0].d.nq = NQ;
}

static void near_nq(struct hppair *t, struct hpend *e)
{
	static struct hpproc other;
	uint64_t w[HP_WORDS], data = 5;
	const uint64_t *c;

	(void)t;
	hpproc_open(&other, &e->d, e->h, 0x77, 0);
	for (uint32_t i = 0; i < 2 * NQ; i++)
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	c = hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_WQ_PEND), 2 * NQ - (NQ - 1));
	assert_true(c[0] & HP_CTX_STALL_NQ);
	/* others go on */
	for (uint32_t i = 0; i < NQ / 2; i++) {
		hpproc_fast_send(&other, 1, HPEND_VPID1, 0, i, &data, 1);
		assert_true(hpproc_wait(&other, w));
	}
	for (uint32_t i = 0; i < 100; i++) /* Q21 */
		while (!(hpproc_trigger(&e->p, HP_T_SNAPSHOT, 0) & HP_TRUE))
			;
	/* Q22: not applied, reported when there is room */
	while (!(hpproc_trigger(&e->p, HP_T_NQ_RP, NQ) & HP_TRUE))
		;
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	c = hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_NQ_RP), 0);
	assert_true(c[0] & HP_CTX_STAT);
	for (uint32_t i = 0; i < NQ - 1; i++) {
		assert_true(hpproc_nqe(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | 1);
		assert_int_equal(HP_NQE_USER(w), i);
	}
	hpproc_free(&e->p);
	assert_true(hpproc_nqe(&e->p, w)); /* one for all of them */
	assert_int_equal(HP_NQE_CMD(w),
			 HP_CMD(HP_ERR_CMD_INV, 0, HP_B_NOTIFY_CC));
	assert_int_equal(HP_PS_HI(w[3]), NQ - 1); /* newest NQ_RP */
	for (uint32_t i = NQ - 1; i < 2 * NQ; i++) {
		hpend_expect(e, HP_B_FAST_SEND | 1, w);
		assert_int_equal(HP_NQE_USER(w), i);
	}
	hppair_meet(e);
	hppair_meet(e);
}

static void test_nq(void **state)
{
	(void)state;
	run(small_nq, near_nq, far_idle);
}

/* ---- Q11, Q12, Q19, Q20: errors ---------------------------------------- */

struct bad {
	uint32_t byte;
	uint64_t off, len;
	uint32_t vpid, rlen, roff;
	enum hp_err err;
	bool sends;
};
enum { S = HP_B_SEND, A = HP_B_SEND | HP_A, T = HPEND_VPID1, R = HPDRV_ROUTE };

static const struct bad bads[] = {
	{ A, 4, 8, T, R, R, HP_ERR_OOFFSET, 0 }, /* Q11 */
	{ S, 4, 12, T, R, R, HP_ERR_OOFFSET, 0 },
	{ S, 0, 12, T, R, R, HP_ERR_OLENGTH, 0 },
	{ A, 65528, 16, T, R, R, HP_ERR_OWINID, 0 },
	{ A, 65536, 8, T, R, R, HP_ERR_OWINID, 0 },
	{ A, ~0ull - 7, 16, T, R, R, HP_ERR_OWINID, 0 },
	{ A, 0, 8, T, 0, R, HP_ERR_ROUTE_INV, 0 }, /* Q19 */
	{ A, 0, 8, T, R, R *EXRIG_NODES - R + 1, HP_ERR_ROUTE_INV, 0 },
	{ A, 0, 8, T, 8, R, HP_ERR_ROUTE_INV, 0 },	  /* too short */
	{ A, 4, 8, T, 0, R, HP_ERR_ROUTE_INV, 0 },	  /* precedence */
	{ A, 0, 8, 0x999, R, R, HP_ERR_TVPID_INV, 1 },	  /* Q12 */
	{ A, 0, 8, T, R, 2 * R, HP_ERR_ROUTE_BROKEN, 1 }, /* Q20 */
};

static void bad_one(struct hppair *t, struct hpend *e, const struct bad *b)
{
	uint64_t w[HP_WORDS], sent = nic_counter(t, 0, "packets_out");

	memset(w, 0, sizeof(w));
	w[0] = HP_VCI_W0(b->byte, b->rlen, b->roff);
	w[1] = HP_VCI_W1(b->vpid, 0);
	w[3] = b->off;
	w[4] = b->len;
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
	hpend_expect(e, HP_CMD(b->err, 0, b->byte), w);
	assert_int_equal(nic_counter(t, 0, "packets_out") > sent, b->sends);
}

static void near_errors(struct hppair *t, struct hpend *e)
{
	/* a way to node 1 that is labelled for another one */
	memcpy(e->d.rs + 2 * HPDRV_ROUTE, e->d.rs + HPDRV_ROUTE, HPDRV_ROUTE);
	e->d.rs[2 * HPDRV_ROUTE + 3] = 77;
	for (uint32_t i = 0; i < sizeof(bads) / sizeof(*bads); i++)
		bad_one(t, e, &bads[i]);
	/* Q12 with A=0: injected, then the error */
	{
		struct bad b = { S, 0, 8, 0x999, R, R, HP_ERR_NOERR, true };

		bad_one(t, e, &b);
		hpend_expect(e, HP_CMD(HP_ERR_TVPID_INV, 0, S), NULL);
	}
	hpend_silent(e);
	hppair_meet(e);
	hppair_meet(e);
}

static void far_errors(struct hppair *t, struct hpend *e)
{
	(void)t;
	hppair_meet(e);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			hpdrv_get(&e->d, HP_R_ERR_LOG),
			HP_LOG_MAKE(HP_CMD(HP_ERR_TVPID_INV, 0, i ? S : A),
				    0x999));
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), HP_NONE);
	hppair_meet(e);
}

static void test_errors(void **state)
{
	(void)state;
	run(NULL, near_errors, far_errors);
}

/* The origin is closed before its acknowledge comes: ERR_OVPID_INV. */
static void near_closed(struct hppair *t, struct hpend *e)
{
	(void)t;
	sdr_fill(e, 8, 1);
	hpend_send(e, A, 0, 64);
	weft_host_sleep(e->h, weft_host_now(e->h) + 10 * WEFT_US);
	hpdrv_disable(&e->d, e->vpid);
	hppair_meet(e); /* now the target takes it */
	hppair_meet(e);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG),
			 HP_LOG_MAKE(HP_CMD(HP_ERR_OVPID_INV, 0, HP_B_ACK),
				     HPEND_VPID0));
}

static void posted_on(struct hppair *t)
{
	t->end[1].flags = HP_CTX_PR_EN;
}

static void prd(struct hpend *e, uint64_t addr, uint64_t len, uint64_t flags,
		uint64_t cookie)
{
	uint64_t *w = e->p.prq + HP_WORDS * e->p.pi++;

	w[HP_PRD_ADDR] = addr;
	w[HP_PRD_LEN] = len;
	w[HP_PRD_FLAGS] = HP_PRD_VALID | flags;
	w[HP_PRD_COOKIE] = cookie;
	while (!(hpproc_trigger(&e->p, HP_T_PRQ_WP, 1) & HP_TRUE))
		;
}

static void far_closed(struct hppair *t, struct hpend *e)
{
	(void)t;
	hppair_meet(e);
	prd(e, HPEND_VA, 64, 0, 0);
	hpend_expect(e, HP_B_NOTIFY_RECV, NULL);
	hppair_meet(e);
}

static void test_closed(void **state)
{
	(void)state;
	run(posted_on, near_closed, far_closed);
}

/* ---- Q14 to Q18: posted receive ---------------------------------------- */

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
};
enum { POSTEDS = sizeof(posteds) / sizeof(*posteds) };

static bool forbidden; /* PRDs with physical addresses are (Q16) */

static void near_posted(struct hppair *t, struct hpend *e)
{
	(void)t;
	for (uint32_t i = 0; i < POSTEDS; i++) {
		const struct posted *c = &posteds[i];
		enum hp_err err =
			c->pa && forbidden ? HP_ERR_POSTED_PA : c->err;

		sdr_fill(e, c->words, i);
		hpend_send(e, A, 0, 8 * c->words);
		if (!i)
			hpend_silent(e); /* Q18 */
		hppair_meet(e);
		hpend_expect(e, HP_CMD(err, 0, A), NULL);
		hppair_meet(e);
	}
	/* small ones need no buffer */
	sdr_fill(e, 5, 99);
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
	prd(e, addr, 8ull * c->buffer + c->lskew, c->pa ? HP_PRD_PA : 0,
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
	(void)t;
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

static void test_posted(void **state)
{
	(void)state;
	forbidden = false;
	run(posted_pa, near_posted, far_posted);
	forbidden = true;
	run(posted_on, near_posted, far_posted);
}

/* ---- R23 and others: packets made by hand ------------------------------ */

static void inject(struct hppair *t, struct hp_head *h, uint32_t bytes)
{
	struct hp_nic *n = t->rig.node[0].nic->state;
	struct hp_route r = { .dtag = HPEND_HPID1, .nr = 0 };
	int k = hp_route_topo(&t->rig.topo, 0, 1, r.fwd);
	struct weft_frame *f;

	r.nf = (uint8_t)(k + 1);
	r.fwd[k] = HP_EL(0, 1);
	k = hp_route_topo(&t->rig.topo, 1, 0, r.back);
	r.nr = (uint8_t)(k + 1);
	r.back[k] = HP_EL(1, 1);
	h->vpid = HPEND_VPID1;
	h->bytes = bytes;
	f = hp_pkt_new(t->rig.sim, &r, h, 0);
	assert_non_null(f);
	hp_net_send(n, f, hp_pkt_skip(f, h), hp_now(n) + 10, UINT32_MAX, NULL,
		    NULL);
}

static void hand_made(struct hp_head *h, uint32_t byte, uint32_t size)
{
	*h = (struct hp_head){ 0 };
	h->c[0] = HP_C0(byte, HPEND_HPID0, HPEND_VPID0);
	h->c[3] = HP_C3(HPEND_HPID1, size);
	h->c[4] = HP_VCI_W3(3, 0x1234);
}

static void near_hand(struct hppair *t, struct hpend *e)
{
	struct hp_head h;

	hppair_meet(e);
	hand_made(&h, HP_B_PUT, 12);
	inject(t, &h, 12);
	hpend_expect(e, HP_CMD(HP_ERR_TLENGTH, 0, HP_B_PUT), NULL);
	hpend_other(e, HP_CMD(HP_ERR_TLENGTH, 0, HP_B_NOTIFY_RMA), NULL);
	hand_made(&h, HP_B_GET, 12);
	inject(t, &h, 0);
	hpend_expect(e, HP_CMD(HP_ERR_TLENGTH, 0, HP_B_GET), NULL);
	hpend_other(e, HP_CMD(HP_ERR_TLENGTH, 0, HP_B_NOTIFY_RMA), NULL);
	hand_made(&h, 0x50, 0); /* no such command */
	inject(t, &h, 0);
	hand_made(&h, HP_CMD(0, 2, HP_B_SEND), 0); /* multicast */
	inject(t, &h, 0);
	hpend_silent(e);
	assert_int_equal(nic_counter(t, 1, "bad_packets"), 2);
	hppair_meet(e);
}

static void far_hand(struct hppair *t, struct hpend *e)
{
	(void)t;
	hpend_win(e, 3, 0, HP_PAGE, HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | 0x1234,
		  0);
	hppair_meet(e);
	hppair_meet(e);
}

static void test_hand(void **state)
{
	(void)state;
	run(NULL, near_hand, far_hand);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),   cmocka_unit_test(test_fast),
		cmocka_unit_test(test_rdr),    cmocka_unit_test(test_full),
		cmocka_unit_test(test_burst),  cmocka_unit_test(test_nq),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_closed),
		cmocka_unit_test(test_posted), cmocka_unit_test(test_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
