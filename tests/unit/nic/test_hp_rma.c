/* SPDX-License-Identifier: Apache-2.0 */
/* RMA, windows and atomics of the Host Port (hostport.md 13.3, R01 to R23). */
#include "../cmocka_all.h"

#include <string.h>

#include "hppair.h"

enum { WIN = 3, OWN = 5, CAPA = 0x1234, LEN = 280 * HP_PAGE };
#define OPEN (HP_WIN_EN | HP_WIN_RD | HP_WIN_WR)

static uint64_t nic_counter(struct hppair *t, uint32_t node, const char *name)
{
	return exrig_counter(t->rig.node[node].nic, name);
}

/* Both have all of their memory in a window. */
static void windows(struct hpend *e)
{
	hpend_win(e, WIN, 0, LEN, OPEN | CAPA, 0);
	hpend_win(e, OWN, 0, LEN, HP_WIN_EN, 0);
	hppair_meet(e);
}

static void far_idle(struct hppair *t, struct hpend *e)
{
	(void)t;
	hpend_set(e, 0xee);
	windows(e);
	hppair_meet(e);
}

static struct hprma put(uint64_t off, uint64_t ooff, uint64_t len)
{
	return (struct hprma){ .byte = HP_B_PUT | HP_A,
			       .win = WIN,
			       .capa = CAPA,
			       .owin = OWN,
			       .off = off,
			       .ooff = ooff,
			       .len = len };
}

static struct hprma get(uint64_t off, uint64_t ooff, uint64_t len)
{
	struct hprma a = put(off, ooff, len);

	a.byte = HP_B_GET;
	return a;
}

/* ---- R01: sizes -------------------------------------------------------- */

static const struct {
	uint64_t off, ooff, len;
	uint32_t pages, opages;
} sizes[] = {
	{ 0, 0, 8, 1, 1 },	    { 4096, 8192, 4096, 1, 1 },
	{ 4096, 8192, 4104, 2, 2 }, { 8, 24, 4096, 2, 2 },
	{ 4088, 40, 4112, 3, 2 },   { 16, 4088, 1 << 20, 257, 257 },
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static void near_sizes(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], seen[2] = { 0 };

	windows(e);
	for (uint32_t i = 0; i < SIZES; i++) {
		struct hprma a = put(sizes[i].off, sizes[i].ooff, sizes[i].len);

		hpend_fill(e, a.ooff, (uint32_t)a.len, i);
		hpend_rma(e, &a);
		hpend_expect(e, HP_B_PUT | HP_A, w);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID1);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID1);
		assert_true(hpend_equal(&t->end[1], a.off, (uint32_t)a.len, i));
		assert_true(
			hpend_rest(&t->end[1], a.off, (uint32_t)a.len, 0xee));
		a.byte = HP_B_GET;
		hpend_set(e, 0xdd);
		hpend_rma(e, &a);
		hpend_expect(e, HP_B_GET, w);
		assert_true(hpend_equal(e, a.ooff, (uint32_t)a.len, i));
		assert_true(hpend_rest(e, a.ooff, (uint32_t)a.len, 0xdd));
		hpend_set(&t->end[1], 0xee);
		/* one translation per page, each way */
		for (uint32_t k = 0; k < 2; k++) {
			uint64_t all = nic_counter(t, k, "tlb_hits") +
				       nic_counter(t, k, "tlb_misses");

			assert_int_equal(
				all - seen[k],
				2 * (k ? sizes[i].pages : sizes[i].opages));
			seen[k] = all;
		}
	}
	hppair_meet(e);
}

static void test_sizes(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_sizes, far_idle);
	assert_true(t.end[1].misses >= 257);
	hppair_free(&t);
}

/* ---- R02 to R09, R20: windows ------------------------------------------ */

/* Windows of the target, all over its first page. */
static const struct {
	uint32_t id;
	uint64_t flags, owner;
} target_wins[] = {
	{ 6, HP_WIN_EN | HP_WIN_RD | CAPA, 0 },
	{ 7, HP_WIN_EN | HP_WIN_WR | CAPA, 0 },
	{ 8, HP_WIN_RD | HP_WIN_WR | CAPA, 0 }, /* disabled */
	{ 9, OPEN | HP_WIN_LOCK | CAPA, HP_WIN_OWNER_MAKE(9, 9) },
	{ 10, OPEN | HP_WIN_LOCK | CAPA,
	  HP_WIN_OWNER_MAKE(HPEND_HPID0, HPEND_VPID0) },
	{ 11, OPEN | HP_WIN_CAP_ANY | 77, 0 },
};

static void far_windows(struct hppair *t, struct hpend *e)
{
	(void)t;
	hpend_set(e, 0xee);
	for (uint32_t i = 0; i < 6; i++)
		hpend_win(e, target_wins[i].id, 0, HP_PAGE,
			  target_wins[i].flags, target_wins[i].owner);
	windows(e);
	hpend_win(e, WIN, 0, HP_PAGE, OPEN | CAPA, 0);
	hppair_meet(e);
	hppair_meet(e);
}

struct refusal {
	uint32_t byte, win, capa, owin;
	uint64_t off, len;
	enum hp_err err;
	bool at_target; /* told there too */
};
enum { P = HP_B_PUT | HP_A, G = HP_B_GET };

static const struct refusal refusals[] = {
	{ P, WIN, CAPA + 1, OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 }, /* R02 */
	{ G, WIN, CAPA + 1, OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ P, 6, CAPA, OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 }, /* R03 */
	{ G, 7, CAPA, OWN, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ HP_B_FAA, 6, CAPA, 0, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ HP_B_FAA, 7, CAPA, 0, 0, 8, HP_ERR_TWINID_CAPA, 1 },
	{ P, 64, CAPA, OWN, 0, 8, HP_ERR_TWINID_INV, 1 }, /* R04 */
	{ G, 64, CAPA, OWN, 0, 8, HP_ERR_TWINID_INV, 1 },
	{ P, 8, CAPA, OWN, 0, 8, HP_ERR_TWINID_INV, 1 },
	{ P, WIN, CAPA, 64, 0, 8, HP_ERR_OWINID_INV, 0 },
	{ G, WIN, CAPA, 20, 0, 8, HP_ERR_OWINID_INV, 0 },
	{ P, 9, CAPA, OWN, 0, 8, HP_ERR_TWINID_INV, 1 }, /* R05 */
	{ P, 10, CAPA, OWN, 0, 8, HP_ERR_NOERR, 0 },
	{ P, WIN, CAPA, 21, 0, 8, HP_ERR_OWINID_INV, 0 },      /* R06 */
	{ P, WIN, CAPA, OWN, 4096 - 8, 16, HP_ERR_TWINID, 1 }, /* R07 */
	{ P, WIN, CAPA, OWN, 4096 - 8, 8, HP_ERR_NOERR, 0 },
	{ G, WIN, CAPA, OWN, 4096, 8, HP_ERR_TWINID, 1 },
	{ P, WIN, CAPA, OWN, ~0ull & ~7ull, 16, HP_ERR_TWINID, 1 },
	{ P, WIN, CAPA, OWN, 4, 8, HP_ERR_TOFFSET, 1 }, /* R08 */
	{ P, WIN, CAPA, OWN, 4, 12, HP_ERR_OLENGTH, 0 },
	{ P, WIN, CAPA + 1, OWN, 4, 8, HP_ERR_TWINID_CAPA, 1 }, /* R09 */
	{ P, 11, 4711, OWN, 0, 8, HP_ERR_NOERR, 0 },		/* R20 */
	{ G, 11, 0, OWN, 0, 8, HP_ERR_NOERR, 0 },
};
enum { REFUSALS = sizeof(refusals) / sizeof(*refusals) };

static void near_refusals(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], sent;

	windows(e);
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

		sent = nic_counter(t, 0, "packets_out");
		hpend_set(e, 0xee);
		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(f->err, 0, f->byte), w);
		/* an error of the origin: not one byte in the network */
		if (f->err && !f->at_target)
			assert_int_equal(nic_counter(t, 0, "packets_out"),
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

static void test_refusals(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_refusals, far_windows);
	hppair_free(&t);
}

/* ---- R10 to R15: fast ones, bytes, atomics ----------------------------- */

static void near_fast(struct hppair *t, struct hpend *e)
{
	struct hprma a = { .win = WIN, .capa = CAPA, .off = 64 };
	uint64_t w[HP_WORDS];

	windows(e);
	for (uint32_t n = 1; n <= 3; n++) {
		for (uint32_t i = 0; i < 3; i++)
			a.imm[i] = 0x1111111111111111ull * (n + i);
		a.byte = HP_B_FAST_PUT | HP_A | n;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_memory_equal(hpend_at(&t->end[1], 64), a.imm, 8 * n);
		assert_true(hpend_rest(&t->end[1], 64, 8 * n, 0xee));
		a.byte = HP_B_FAST_GET | n;
		memset(a.imm, 0, sizeof(a.imm));
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_int_equal(HP_NQE_WORDS(w), n);
		assert_memory_equal(&w[3], hpend_at(&t->end[1], 64), 8 * n);
		for (uint32_t i = n; i < 3; i++)
			assert_int_equal(w[3 + i], 0);
		hpend_set(&t->end[1], 0xee);
	}
	a.byte = HP_B_FAST_PUT | HP_A; /* R11 */
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, a.byte), w);
	a.byte = HP_B_FAST_GET;
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, a.byte), w);
	hppair_meet(e);
}

static void near_bytes(struct hppair *t, struct hpend *e)
{
	struct hprma a = { .byte = HP_B_MIS_PUT | HP_A,
			   .win = WIN,
			   .capa = CAPA,
			   .off = 128 };
	uint64_t word = 0x8877665544332211ull, w[HP_WORDS];

	windows(e);
	for (uint32_t be = 0; be < 256; be++) {
		a.imm[0] = be;
		a.imm[1] = word;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(*hpend_at(&t->end[1], 128 + i),
					 be >> i & 1 ? word >> (8 * i) & 0xff
						     : 0xee);
		memset(hpend_at(&t->end[1], 128), 0xee, 8);
	}
	assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
	hppair_meet(e);
}

/* memory, operands, memory and answer afterwards */
static const struct {
	uint32_t byte;
	uint64_t before, a, b, after;
} atomics[] = {
	{ HP_B_FAA, 40, 2, 0, 42 },
	{ HP_B_FAA, ~0ull, 3, 0, 2 },
	{ HP_B_CAS, 5, 5, 9, 9 },
	{ HP_B_CAS, 6, 5, 9, 6 },
};

static void near_atomics(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], *m;

	windows(e);
	for (uint32_t i = 0; i < 4; i++) {
		struct hprma a = { .byte = atomics[i].byte,
				   .win = WIN,
				   .capa = CAPA,
				   .off = 256,
				   .imm = { atomics[i].a, atomics[i].b } };

		m = (uint64_t *)hpend_at(&t->end[1], 256);
		*m = atomics[i].before;
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, w);
		assert_int_equal(HP_NQE_WORDS(w), 1);
		assert_int_equal(w[3], atomics[i].after);
		hpend_at(&t->end[1], 256);
		assert_int_equal(*m, atomics[i].after);
	}
	hppair_meet(e);
}

static void test_fast(void **state)
{
	static const hppair_fn all[] = { near_fast, near_bytes, near_atomics };
	static struct hppair t;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		hppair_run(&t, NULL, all[i], far_idle);
		hppair_free(&t);
	}
}

/* ---- R15: many adders -------------------------------------------------- */

enum { ADDERS = 64, ADDS = 100 };

static void adders(struct hppair *t, struct hpend *e)
{
	static struct hpproc p[ADDERS];
	static uint8_t seen[ADDERS * ADDS];
	struct hpend *b = &t->end[1];
	uint64_t w[HP_WORDS];

	windows(e);
	for (uint32_t i = 0; i < ADDERS; i++)
		hpproc_open(&p[i], &e->d, e->h, 0x100 + i, 0);
	*(uint64_t *)hpend_at(b, 8) = 0;
	memset(seen, 0, sizeof(seen));
	for (uint32_t k = 0; k < ADDS; k++) {
		for (uint32_t i = 0; i < ADDERS; i++) {
			hpproc_to(w, HP_B_FAA, 1, HPEND_VPID1, i);
			w[3] = HP_VCI_W3(WIN, CAPA);
			w[4] = 8;
			w[5] = 1;
			hpproc_put(&p[i], w);
			hpproc_issue(&p[i], 1);
		}
		for (uint32_t i = 0; i < ADDERS; i++) {
			assert_true(hpproc_wait(&p[i], w));
			assert_int_equal(HP_NQE_CMD(w), HP_B_FAA);
			assert_in_range(w[3], 1, ADDERS * ADDS);
			assert_false(seen[w[3] - 1]++);
		}
	}
	assert_int_equal(*(uint64_t *)hpend_at(b, 8), ADDERS * ADDS);
	hppair_meet(e);
}

static void test_adders(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, adders, far_idle);
	hppair_free(&t);
}

/* ---- R16: locked between request and response -------------------------- */

static void near_locked(struct hppair *t, struct hpend *e)
{
	struct hprma a = get(0, 0, 8);
	uint64_t *own = e->p.wdt + HP_WORDS * OWN;

	(void)t;
	windows(e);
	hpend_set(e, 0xdd);
	hpend_rma(e, &a); /* the target's page is not translated yet */
	weft_host_sleep(e->h, weft_host_now(e->h) + 2 * WEFT_US);
	own[HP_WIN_FLAGS] |= HP_WIN_LOCK;
	own[HP_WIN_OWNER] = HP_WIN_OWNER_MAKE(9, 9);
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_WIN, OWN, 0);
	hppair_meet(e);
	hpend_expect(e, HP_CMD(HP_ERR_OWINID_INV, 0, HP_B_GET), NULL);
	assert_true(hpend_rest(e, 0, 0, 0xdd));
	hppair_meet(e);
}

static void far_locked(struct hppair *t, struct hpend *e)
{
	(void)t;
	hpend_set(e, 0xee);
	e->hold = true;
	windows(e);
	hppair_meet(e);
	e->hold = false;
	hppair_meet(e);
}

static void test_locked(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_locked, far_locked);
	assert_int_equal(nic_counter(&t, 0, "nacks"), 0);
	hppair_free(&t);
}

/* ---- R17, R18 ---------------------------------------------------------- */

static void near_notify(struct hppair *t, struct hpend *e)
{
	struct hprma a = put(64, 0, 24), bad = put(64, 0, 24), f;
	uint64_t w[HP_WORDS];

	(void)t;
	windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hppair_meet(e);
	a = get(64, 0, 24);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hppair_meet(e);
	f = (struct hprma){
		.byte = HP_B_FAA, .win = WIN, .capa = CAPA, .off = 8
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

	(void)t;
	windows(e);
	for (uint32_t i = 0; i < 3; i++) {
		if (e->flags & HP_CTX_RMA_NTF) {
			hpend_expect(e, HP_B_NOTIFY_RMA, w);
			assert_int_equal(w[0], 7);
			assert_int_equal(w[3], HP_RMA_W3(WIN, want[i].byte));
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

static void test_notify(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, wants_notify, near_notify, far_notify);
	hppair_free(&t);
	hppair_run(&t, NULL, near_notify, far_notify);
	hppair_free(&t);
}

/* ---- R19, 8.10: pages that are missing --------------------------------- */

static void page_out(struct hpend *e, uint32_t page, bool out)
{
	uint64_t bit = 1ull << (page % 64), *w = &e->out[page / 64];

	*w = out ? *w | bit : *w & ~bit;
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, HPEND_VA / HP_PAGE + page,
		    0);
}

enum { HOLE = 40 }; /* page, counted in both memories */

struct fault {
	uint32_t byte;
	uint64_t off, ooff, len;
	bool origin;	       /* the hole is there */
	enum hp_err near, far; /* NQEs */
	uint32_t stored;       /* bytes that are there all the same */
	bool sends;
};

/* The hole is page 40 of the side that is named. */
static const struct fault faults[] = {
	{ P, 0, HOLE *HP_PAGE, 64, true, HP_ERR_OWINID, 0, 0, false },
	{ P, 0, (HOLE - 1) * HP_PAGE, 2 * HP_PAGE, true, HP_ERR_OWINID,
	  HP_ERR_OWINID, HP_PAGE, true },
	{ HP_B_PUT, 0, (HOLE - 20) * HP_PAGE, 30 * HP_PAGE, true, HP_ERR_OWINID,
	  HP_ERR_OWINID, 20 * HP_PAGE, true },
	{ P, HOLE *HP_PAGE, 0, 64, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ P, (HOLE - 1) * HP_PAGE + 8, 0, HP_PAGE, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, HP_PAGE - 8, true },
	{ HP_B_FAST_PUT | HP_A | 1, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, 0, true },
	{ HP_B_MIS_PUT | HP_A, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, 0, true },
	{ HP_B_FAA, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ G, HOLE *HP_PAGE, 0, 64, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ G, (HOLE - 1) * HP_PAGE, 0, 2 * HP_PAGE, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, HP_PAGE, true },
	{ G, 0, HOLE *HP_PAGE, 64, true, HP_ERR_OWINID, 0, 0, true },
	{ G, 0, (HOLE - 1) * HP_PAGE, 2 * HP_PAGE, true, HP_ERR_OWINID, 0,
	  HP_PAGE, true },
};
enum { FAULTS = sizeof(faults) / sizeof(*faults) };

static void fault_one(struct hppair *t, struct hpend *e, const struct fault *f)
{
	struct hprma a = { .byte = f->byte,
			   .win = WIN,
			   .capa = CAPA,
			   .owin = OWN,
			   .off = f->off,
			   .ooff = f->ooff,
			   .len = f->len };
	bool is_get = f->byte == HP_B_GET;
	struct hpend *b = &t->end[1], *from = is_get ? b : e,
		     *to = is_get ? e : b;
	uint64_t sent = nic_counter(t, 0, "packets_out");

	hpend_set(to, 0xee);
	hpend_fill(from, is_get ? f->off : f->ooff, (uint32_t)f->len, 3);
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(f->near, 0, f->byte), NULL);
	if (f->far)
		hpend_other(e, HP_CMD(f->far, 0, HP_B_NOTIFY_RMA), NULL);
	assert_int_equal(nic_counter(t, 0, "packets_out") > sent, f->sends);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	assert_true(hpend_equal(to, is_get ? f->ooff : f->off, f->stored, 3));
	assert_true(hpend_rest(to, is_get ? f->ooff : f->off, f->stored, 0xee));
}

static void near_faults(struct hppair *t, struct hpend *e)
{
	windows(e);
	for (uint32_t i = 0; i < FAULTS; i++) {
		struct hpend *hole = faults[i].origin ? e : &t->end[1];

		hole->out[0] = 1ull << HOLE;
		if (hole == e)
			page_out(e, HOLE, true);
		fault_one(t, e, &faults[i]);
		hole->out[0] = 0;
	}
	hpend_silent(e);
	hppair_meet(e);
}

static void test_faults(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_faults, far_idle);
	assert_true(nic_counter(&t, 0, "tlb_faults") >= 5);
	assert_true(nic_counter(&t, 1, "tlb_faults") >= 6);
	hppair_free(&t);
}

/* A page that may be read but not written. */
static void near_read_only(struct hppair *t, struct hpend *e)
{
	struct hprma a = get(0, 0, 64), b = put(0, 0, 64);

	windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hpend_rma(e, &b);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, b.byte), NULL);
	hpend_other(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_NOTIFY_RMA), NULL);
	hppair_meet(e);
}

static void far_read_only(struct hppair *t, struct hpend *e)
{
	e->read_only = true;
	far_idle(t, e);
}

static void test_read_only(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_read_only, far_read_only);
	hppair_free(&t);
}

/* ---- R22: the O/S wants a page back ------------------------------------ */

/* In use: a put waits in the target for its second page. */
static void far_swap(struct hppair *t, struct hpend *e)
{
	uint64_t v = HPEND_VA / HP_PAGE;

	(void)t;
	hpend_set(e, 0xee);
	e->hold = true;
	windows(e);
	while (hpdrv_get(&e->d, HP_R_TLB_MISS_CNT) < 2)
		;
	hpend_cache(
		e, HP_CACHE_INSERT, HP_CACHE_TLB, v,
		HP_TLB_ARG((e->mem_phys + (uint64_t)(hpend_at(e, 0) - e->mem)) /
				   HP_PAGE,
			   true));
	assert_int_equal(hpend_cache(e, HP_CACHE_QUERY, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	assert_int_equal(hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	assert_int_equal(hpend_cache(e, HP_CACHE_FLUSH, HP_CACHE_TLB, 0, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	e->hold = false;
	hppair_meet(e);
}

static void near_swap_wait(struct hppair *t, struct hpend *e)
{
	struct hprma a = put(0, 0, 2 * HP_PAGE);
	uint64_t v = HPEND_VA / HP_PAGE;

	(void)t;
	windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(hpend_cache(e, HP_CACHE_QUERY, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT);
	assert_int_equal(hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, v, 0),
			 0);
	assert_int_equal(e->misses, 2);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(e->misses, 3);
	hppair_meet(e);
}

static void test_swap(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_swap_wait, far_swap);
	hppair_free(&t);
}

/* Bulk insert: all pages of a transfer at once, no miss. */
static void near_bulk(struct hppair *t, struct hpend *e)
{
	struct hprma a = put(0, 0, 8 * HP_PAGE);
	weft_phys_t phys;
	uint64_t *list = weft_mem_alloc(e->h, HP_PAGE, HP_PAGE, &phys);

	(void)t;
	for (uint32_t i = 0; i < 8; i++)
		list[i] = HP_TLB_ARG(
			(e->mem_phys +
			 (uint64_t)(hpend_at(e, i * HP_PAGE) - e->mem)) /
				HP_PAGE,
			true);
	hpdrv_set(&e->d, HP_R_CACHE_ARG0, HPEND_VA / HP_PAGE);
	hpdrv_set(&e->d, HP_R_CACHE_ARG1, phys);
	hpdrv_set(&e->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_BULK, HP_CACHE_TLB, e->vpid, 8));
	while (hpdrv_get(&e->d, HP_R_CACHE_STATUS) & HP_CACHE_BUSY)
		;
	windows(e);
	hpend_fill(e, 0, 8 * HP_PAGE, 1);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(e->misses, 0);
	assert_true(hpend_equal(&t->end[1], 0, 8 * HP_PAGE, 1));
	hppair_meet(e);
}

static void test_bulk(void **state)
{
	static struct hppair t;

	(void)state;
	hppair_run(&t, NULL, near_bulk, far_idle);
	hppair_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_fast),   cmocka_unit_test(test_adders),
		cmocka_unit_test(test_locked), cmocka_unit_test(test_notify),
		cmocka_unit_test(test_faults), cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_swap),   cmocka_unit_test(test_bulk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
