/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA against random descriptors, registers, tables and packets: the NIC
 * writes only where it may, and works afterwards (extoll.md 5.5: the network
 * never blocks). */
#include "unit/cmocka_all.h"
#include "exproc.h"
#include "exrig.h"

#include <string.h>

#include "systems/extoll/nic/nic.h"

enum { VPID = 5, OPT = RMA_OPT_TE, DST = 8 * RMA_PAGE, GUARD = 40 };

static struct exproc proc[2];
static uint64_t seed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Returns a random address. Most of these addresses exist. */
static uint64_t rnd_nla(void)
{
	switch (rnd() % 8) {
	case 0:
		return rnd();
	case 1:
		return NLA_MAKE(rnd() % 4, rnd() % 100, rnd() % RMA_PAGE);
	case 2:
		return EXPROC_NLA(rnd() % (GUARD * RMA_PAGE));
	case 3:
		return EXPROC_NLA(0) | rnd() % 4; /* a lock */
	default:
		return EXPROC_NLA(rnd() % (GUARD * RMA_PAGE) & ~7ull);
	}
}

/* Returns a valid command with some bits changed. */
static uint64_t rnd_word0(void)
{
	static const uint8_t ops[] = { 0, 1, 2, 3, 5, 6, 12, 4, 13 };
	uint64_t w = RMA_D_MAKE(ops[rnd() % 9], rnd() % 3, VPID, rnd() % 8, 0) |
		     RMA_D_BYTES(1 + (rnd() % 4 ? 8 * (rnd() % 16) + 7
						: rnd() % 5000));

	if (rnd() % 4 == 0)
		w ^= 1ull << rnd() % 64;
	return rnd() % 16 ? w : rnd();
}

/* Takes all notifications that have arrived. */
static void drain(struct exproc *p)
{
	for (uint32_t i = 0; i < EXPROC_SLOTS; i++)
		p->ring[2 * i] = p->ring[2 * i + 1] = 0;
	p->rp = (uint32_t)exproc_get(p, EXTOLL_RMA_WP + 8 * VPID);
	exproc_rp(p);
}

/* Waits until no notification arrives any more. Then a good put has to work. */
static void recover(struct exproc *p, const char *mine, const char *other)
{
	weft_oob_put(p->h, mine, 1);
	weft_oob_get(p->h, other);
	for (uint32_t i = 0; i < 40; i++) {
		weft_host_sleep(p->h, weft_host_now(p->h) + 20 * WEFT_US);
		drain(p);
	}
}

static void good_put(struct exproc *p)
{
	uint64_t w0, w1;

	memcpy(p->buf + DST, "all well", 8);
	exproc_post(p, OPT,
		    RMA_D_MAKE(RMA_PUT_QW, 1, VPID, RMA_REQUESTER, 0) |
			    RMA_D_BYTES(8),
		    EXPROC_NLA(DST), EXPROC_NLA(DST));
	assert_true(exproc_noti(p, &w0, &w1));
	assert_int_equal(RMA_N_ERROR(w1), 0);
}

static int far_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = &proc[1];

	exproc_open(p, h, VPID);
	for (uint32_t i = GUARD; i < EXPROC_PAGES; i++) { /* not registered */
		p->gat[i] = 0;
		memset(p->buf + i * RMA_PAGE, 0xee, RMA_PAGE);
	}
	weft_oob_put(h, "far", 1);
	while (weft_oob_get(h, "far"), !r->v[0]) {
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
		drain(p);
	}
	recover(p, "far2", "near2");
	weft_oob_get(h, "end");
	assert_memory_equal(p->buf + DST, "all well", 8);
	for (uint32_t i = GUARD * RMA_PAGE; i < EXPROC_PAGES * RMA_PAGE; i++)
		assert_int_equal(p->buf[i], 0xee);
	return 0;
}

/* ---- descriptors ---- */

static void bad_store(struct exproc *p)
{
	uint64_t junk[8];
	uint32_t off = rnd() % 3 ? 0 : 8 * (rnd() % 500);
	uint32_t n = 8 * (1 + rnd() % 8);

	for (uint32_t i = 0; i < 8; i++)
		junk[i] = rnd_word0();
	weft_io_copy(p->h, &p->page[OPT], off, junk, n);
	weft_io_fence(p->h);
}

static int desc_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = &proc[0];

	exproc_open(p, h, VPID);
	weft_oob_get(h, "far");
	for (uint32_t i = 0; i < 3000; i++) {
		if (i % 8 == 0)
			bad_store(p);
		else
			exproc_post(p, rnd() % 8 ? OPT : rnd() % 32,
				    rnd_word0(), rnd_nla(), rnd_nla());
		if (i % 16 == 0)
			drain(p);
		if (i % 256 == 0)
			exproc_set(p, EXTOLL_ATU_COMMAND, rnd());
	}
	r->v[0] = 1;
	recover(p, "near2", "far2");
	good_put(p);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	weft_oob_put(h, "end", 1);
	return 0;
}

static void play(exrig_fn near)
{
	struct exrig r;

	exrig_new(&r, "2");
	exrig_prog(&r, 0, near);
	exrig_prog(&r, 1, far_main);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void test_random_descriptors_leave_the_nic_working(void **state)
{
	for (uint32_t i = 1; i < 4; i++) {
		seed = i;
		play(desc_near);
	}
}

/* ---- packets injected into the network port ---- */

static struct weft_frame *rnd_frame(struct extoll_nic *n)
{
	static const uint8_t ops[] = { 0, 1, 2, 3, 5, 6, 10, 11, 12, 13, 7 };
	struct weft_frame *f = weft_frame_new(n->comp->sim);
	uint32_t bytes = 1 + rnd() % (rnd() % 4 ? 64 : 4096);
	uint32_t op = ops[rnd() % 11];

	if (!ex_route(n, f, 1, 1 + rnd() % 2, 1 + rnd() % 3, rnd() % 2))
		abort();
	f->u[0] = EX_H0_MAKE(0, VPID, rnd() % 8 ? VPID : rnd(), 1) |
		  EX_PUT(rnd(), 34, 32) | EX_PUT(op, 42, 39) |
		  EX_PUT(bytes - 1, 54, 43) | EX_RMA_LAST;
	if (rnd() % 4 == 0)
		f->u[0] ^= 1ull << rnd() % 64;
	f->u[1] = rnd_nla();
	f->u[2] = rnd_nla();
	if (rnd() % 4)
		ex_meta(f)->words = (uint8_t)extoll_rma_words(op);
	if (rnd() % 2)
		f->payload = weft_slice_new(n->comp->sim,
					    rnd() % 8 ? bytes : 1 + rnd() % 64);
	return f;
}

static int packet_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct extoll_nic *n = r->node[0].nic->state;
	struct exproc *p = &proc[0];

	exproc_open(p, h, VPID);
	weft_oob_get(h, "far");
	for (uint32_t i = 0; i < 3000; i++) {
		struct weft_frame *f = rnd_frame(n);
		struct netport *np = &n->np[EX_NP_VELO];

		while (!netport_room(np, ex_meta(f)->cls))
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
		netport_send(np, f, ex_now(n) + 1, UINT32_MAX);
		if (i % 16 == 0)
			drain(p);
	}
	r->v[0] = 1;
	recover(p, "near2", "far2");
	good_put(p);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	weft_oob_put(h, "end", 1);
	return 0;
}

static void test_random_packets_leave_the_nic_working(void **state)
{
	for (uint32_t i = 1; i < 4; i++) {
		seed = i;
		play(packet_near);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_descriptors_leave_the_nic_working),
		cmocka_unit_test(test_random_packets_leave_the_nic_working),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
