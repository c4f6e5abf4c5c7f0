/* SPDX-License-Identifier: Apache-2.0 */
/* Address translation of HVIA-GE by internal functions: random entries of level
 * 1 and random addresses are compared with the steps of hvia.md 3.6, which the
 * test computes without wrap-around. The table is on the card or in host
 * memory. */
#include "hvduo.h"

#include <string.h>

#include "systems/hvia/nic/nic.h"

enum { HANDLES = 24, PAGES = 40, ROUNDS = 3000, L2_MAX = (64 << 20) / 4 };

static struct hvrig rig;
static struct hvia_l1 l1[HANDLES];
static uint32_t l2[PAGES], seed;

static uint32_t any(uint32_t n)
{
	return hvarea_rand(&seed) % n;
}

static struct hv_nic *card(struct bench *b)
{
	return b->node[0].dev->state;
}

/* ---- the table ---- */

static void entry_put(struct hv_nic *n, uint32_t h)
{
	uint64_t w[3];

	memcpy(w, &l1[h], sizeof(w));
	if (rig.host_l1)
		rig.host_l1[h] = l1[h];
	for (uint32_t i = 0; i < 3; i++)
		hv_sdram_store(n, hvia_l1_addr(h) + 8 * i, w[i]);
}

/* Makes an entry, mostly one that a driver would write. */
static void entry_make(struct hv_nic *n, uint32_t h)
{
	struct hvia_l1 *e = &l1[h];

	e->va = (any(3) ? 0x7f0000000000ull : UINT64_MAX - 8 * HVIA_PAGE) +
		any(3 * HVIA_PAGE);
	e->length = any(20) ? 1 + any(4 * HVIA_PAGE) : 0;
	e->first = (uint16_t)(HVIA_PAGE - e->va % HVIA_PAGE);
	e->pages = (uint32_t)((e->va % HVIA_PAGE + e->length + HVIA_PAGE - 1) /
			      HVIA_PAGE);
	e->l2 = any(PAGES - 6);
	e->attr = HVIA_ATT_ATTR(any(3), any(4));
	switch (any(16)) {
	case 0:
		e->pages = 0;
		break;
	case 1:
		e->pages -= e->pages > 1;
		break;
	case 2:
		e->first = (uint16_t)(any(2) ? 0 : HVIA_PAGE + 1);
		break;
	/* the last index of level 2, so that a second page does not exist */
	case 3:
		e->l2 = rig.host_l2 ? UINT32_MAX - 1 : L2_MAX - 1;
		break;
	case 4:
		e->l2 = UINT32_MAX;
		break;
	}
	entry_put(n, h);
}

static void table_make(struct hv_nic *n)
{
	for (uint32_t i = 0; i < PAGES; i++) {
		l2[i] = (0x10000 + any(0x1000)) * HVIA_PAGE + any(2) * 17;
		hv_l2_store(n, (uint64_t)i << 32 | l2[i]);
		if (rig.host_l2)
			rig.host_l2[i] = l2[i];
	}
	for (uint32_t h = 0; h < HANDLES; h++)
		entry_make(n, h);
}

/* ---- the steps of 3.6 ---- */

/* Reads an entry of level 2. Behind the last entry level 1 begins. */
static bool page_of(const struct hvia_l1 *e, uint64_t k, uint32_t *page_p)
{
	uint64_t i = (uint64_t)e->l2 + k;

	if (k >= e->pages || i >= L2_MAX)
		return false;
	*page_p = (i < PAGES ? l2[i] : (uint32_t)l1[0].va) & ~(HVIA_PAGE - 1u);
	return true;
}

static bool steps(const struct hv_xlate *x, struct hv_xlate *want)
{
	const struct hvia_l1 *e = &l1[x->handle % HANDLES];
	uint64_t va = x->by_offset ? (e->va & ~63ull) + x->va : x->va, off;
	uint32_t left = x->len, page;

	*want = *x;
	want->n_piece = 0;
	if (x->handle >= HANDLES - 4 || !e->pages ||
	    HVIA_ATT_PTAG(e->attr) != x->ptag ||
	    (x->remote && !(e->attr & HVIA_ATT_RDMA_WRITE)) || !e->first ||
	    e->first > HVIA_PAGE)
		return false;
	if (va < e->va || va - e->va > e->length ||
	    (unsigned __int128)(va - e->va) + x->len > e->length)
		return false;
	off = va - e->va;
	do {
		uint64_t at = HVIA_PAGE - e->first + off, k = at / HVIA_PAGE;
		struct hv_piece *p = &want->piece[want->n_piece++];

		if (!page_of(e, k, &page))
			return false;
		p->pa = page + at % HVIA_PAGE;
		p->len = (uint32_t)(HVIA_PAGE - at % HVIA_PAGE);
		p->len = p->len < left ? p->len : left;
		left -= p->len;
		off += p->len;
	} while (left && want->n_piece < 2);
	return true;
}

static struct hv_xlate some_address(void)
{
	struct hv_xlate x = { .handle = any(HANDLES + 1),
			      .ptag = any(8) ? 0 : any(3),
			      .remote = any(3) == 0,
			      .by_offset = any(4) == 0 };
	const struct hvia_l1 *e = &l1[x.handle % HANDLES];
	uint32_t off = any(e->length + 1);

	if (any(8))
		x.ptag = HVIA_ATT_PTAG(e->attr);
	x.va = e->va + off;
	x.len = any(4) ? any(e->length - off + 1) : e->length - off + any(2);
	/* in some cases an address before the beginning of the region */
	x.va -= any(10) ? 0 : off + 1;
	if (x.by_offset)
		x.va = (any(8) * 64) + (any(10) ? 0 : 1ull << 32);
	return x;
}

static void one(struct hv_nic *n, struct weft_host *h)
{
	struct hv_xlate x = some_address(), want;
	const struct hv_xlate *got = &n->att.x[HV_SEND];
	bool ok = steps(&x, &want);

	hv_xlate(n, HV_SEND, &x);
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_US);
	assert_false(got->pending);
	assert_int_equal(got->ok, ok);
	if (!ok)
		return;
	assert_int_equal(got->n_piece, want.n_piece);
	for (uint32_t i = 0; i < want.n_piece; i++) {
		assert_int_equal(got->piece[i].pa, want.piece[i].pa);
		assert_int_equal(got->piece[i].len, want.piece[i].len);
	}
}

static int any_address(struct weft_host *h, struct bench *b)
{
	struct hv_nic *n = card(b);
	uint64_t good;

	hvrig_open(&rig, h);
	seed = 77;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (i % 40 == 0) {
			table_make(n);
			/* the last four handles are not looked up */
			hvrig_store(&rig, HVIA_ATT_L1_COUNT, HANDLES - 4);
			hvrig_load(&rig, HVIA_ID);
		}
		one(n, h);
	}
	good = bench_counter(b->node[0].dev, "translations") -
	       bench_counter(b->node[0].dev, "refused");
	assert_in_range(good, ROUNDS / 5, ROUNDS * 4 / 5); /* both happen */
	return 0;
}

static void run(const char *att_host)
{
	struct bench *b = hvrig_bench();

	bench_set(b, "hvia.nic", "att_host", att_host);
	bench_prog(b, 0, any_address);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

static void addresses_are_translated_on_the_card(void **state)
{
	run("no");
}

static void addresses_are_translated_by_a_table_in_memory(void **state)
{
	run("yes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_translated_on_the_card),
		cmocka_unit_test(addresses_are_translated_by_a_table_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
