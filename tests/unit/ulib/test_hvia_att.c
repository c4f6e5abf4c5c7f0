/* SPDX-License-Identifier: Apache-2.0 */
/* Book of the address translation table against a reference allocator that
 * keeps an owner for every entry of level 2 (hvia.md 3.5, 6.2, T-32, T-35). */
#include "../cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "ulib/hvia_att.h"

enum {
	SDRAM = 1 << 14, /* scaled: 4 Ki entries */
	ENTRIES = SDRAM / HVIA_L2_BYTES,
	HANDLES = SDRAM / (HVIA_L1_BYTES + HVIA_L2_BYTES) + 1,
};

/* ---- reference: one word per entry, everything searched for ---------------
 */

struct ref {
	uint16_t owner[ENTRIES]; /* handle + 1 */
	uint32_t pages[HANDLES], at[HANDLES];
	uint32_t used, top; /* top: one more than the last entry in use */
};

static uint32_t ref_l1(const struct ref *r)
{
	uint32_t n = HANDLES;

	while (n && !r->pages[n - 1])
		n--;
	return n;
}

static uint32_t ref_fit(const struct ref *r, uint32_t pages)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		run = r->owner[i] ? 0 : run + 1;
		if (run == pages)
			return i + 1 - pages;
	}
	return ENTRIES;
}

static void ref_set(struct ref *r, uint32_t h, uint32_t at, uint32_t pages,
		    bool taken)
{
	for (uint32_t i = 0; i < pages; i++)
		r->owner[at + i] = taken ? (uint16_t)(h + 1) : 0;
	r->at[h] = at;
	r->pages[h] = taken ? pages : 0;
	r->used += taken ? pages : -pages;
	for (r->top = ENTRIES; r->top && !r->owner[r->top - 1]; r->top--)
		;
}

static int ref_take(struct ref *r, uint32_t pages, uint32_t *h_p)
{
	uint32_t h = 0, n1 = ref_l1(r), limit, at;

	while (h < HANDLES && r->pages[h])
		h++;
	n1 = h >= n1 ? h + 1 : n1;
	if (n1 * HVIA_L1_BYTES + (r->used + pages) * HVIA_L2_BYTES > SDRAM)
		return -ENOSPC;
	limit = (SDRAM - n1 * HVIA_L1_BYTES) / HVIA_L2_BYTES;
	at = ref_fit(r, pages);
	if (r->top > limit || at + pages > limit)
		return -EAGAIN;
	ref_set(r, h, at, pages, true);
	*h_p = h;
	return 0;
}

static void ref_compact(struct ref *r)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t h = r->owner[i];

		r->owner[i] = 0;
		if (!h)
			continue;
		if (r->at[h - 1] == i && r->pages[h - 1])
			r->at[h - 1] = to;
		r->owner[to++] = (uint16_t)h;
	}
	r->top = to;
}

/* ---- comparison ------------------------------------------------------------
 */

struct pair {
	struct hvia_att att;
	struct ref ref;
	uint32_t sdram[ENTRIES]; /* what the card would hold */
	uint32_t live[HANDLES], n_live;
	struct weft_rng rng;
	uint32_t compactions, refused;
};

static void moved(void *own, uint32_t h, uint32_t from)
{
	struct pair *p = own;
	const struct hvia_att_region *g = &p->att.region.at[h];

	assert_true(g->l2 < from);
	memmove(p->sdram + g->l2, p->sdram + from, g->pages * 4);
}

static void same(const struct pair *p)
{
	assert_int_equal(p->att.used, p->ref.used);
	assert_int_equal(p->att.region.n, ref_l1(&p->ref));
	assert_int_equal(hvia_att_top(&p->att), p->ref.top);
	for (uint32_t i = 0; i < p->n_live; i++) {
		uint32_t h = p->live[i];
		const struct hvia_att_region *g = &p->att.region.at[h];

		assert_int_equal(g->pages, p->ref.pages[h]);
		assert_int_equal(g->l2, p->ref.at[h]);
		for (uint32_t k = 0; k < g->pages; k++)
			assert_int_equal(p->sdram[g->l2 + k], h << 16 | k);
	}
}

static void compact(struct pair *p)
{
	hvia_att_compact(&p->att, moved, p);
	ref_compact(&p->ref);
	p->compactions++;
	same(p);
}

static void take(struct pair *p, uint32_t pages)
{
	uint32_t h = 0, ref_h = 0;
	int ret = hvia_att_take(&p->att, pages, &h);

	assert_int_equal(ret, ref_take(&p->ref, pages, &ref_h));
	if (ret == -EAGAIN) {
		compact(p);
		assert_int_equal(hvia_att_take(&p->att, pages, &h), 0);
		assert_int_equal(ref_take(&p->ref, pages, &ref_h), 0);
	} else if (ret) {
		p->refused++;
		return;
	}
	assert_int_equal(h, ref_h);
	p->live[p->n_live++] = h;
	for (uint32_t k = 0; k < pages; k++)
		p->sdram[p->att.region.at[h].l2 + k] = h << 16 | k;
}

static void give(struct pair *p)
{
	uint32_t i = (uint32_t)weft_rng_below(&p->rng, p->n_live);
	uint32_t h = p->live[i];

	assert_true(hvia_att_has(&p->att, h));
	hvia_att_give(&p->att, h);
	assert_false(hvia_att_has(&p->att, h));
	ref_set(&p->ref, h, p->ref.at[h], p->ref.pages[h], false);
	p->live[i] = p->live[--p->n_live];
}

static uint32_t some_pages(struct pair *p)
{
	uint64_t kind = weft_rng_below(&p->rng, 64);

	if (!kind)
		return 1 + (uint32_t)weft_rng_below(&p->rng, ENTRIES / 2);
	return 1 + (uint32_t)weft_rng_below(&p->rng, kind < 40 ? 8 : 80);
}

/* Random order, with a share of registrations that swings so that the table
 * fills and empties. */
static void test_reference(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	(void)state;
	weft_rng_seed(&p->rng, 6, "att");
	hvia_att_init(&p->att, SDRAM);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t share = i / 2000 % 2 ? 45 : 58;

		if (p->n_live && weft_rng_below(&p->rng, 100) >= share)
			give(p);
		else
			take(p, some_pages(p));
		if (i % 64 == 0)
			same(p);
	}
	assert_true(p->compactions > 50);
	assert_true(p->refused > 100);
	while (p->n_live)
		give(p);
	same(p);
	assert_int_equal(hvia_att_blocks(&p->att), 1);
	hvia_att_fini(&p->att);
	free(p);
}

/* ---- full size -------------------------------------------------------------
 */

struct big {
	struct hvia_att att;
	uint32_t *live, n, moves;
	uint64_t moved;
};

static void big_moved(void *own, uint32_t h, uint32_t from)
{
	struct big *b = own;

	(void)from;
	b->moves++;
	b->moved += b->att.region.at[h].pages;
}

/* Every entry has one owner at most, and the book's sums are right. */
static void big_check(const struct big *b)
{
	uint32_t n = b->att.sdram / HVIA_L2_BYTES, used = 0, top = 0;
	uint8_t *taken = calloc(n, 1);

	for (uint32_t i = 0; i < b->n; i++) {
		const struct hvia_att_region *g = &b->att.region.at[b->live[i]];

		assert_true(g->pages && g->l2 + g->pages <= n);
		for (uint32_t k = 0; k < g->pages; k++)
			assert_false(taken[g->l2 + k]++);
		used += g->pages;
		top = g->l2 + g->pages > top ? g->l2 + g->pages : top;
	}
	assert_int_equal(used, b->att.used);
	assert_int_equal(top, hvia_att_top(&b->att));
	assert_int_equal(b->n, b->att.live);
	assert_true((uint64_t)b->att.region.n * HVIA_L1_BYTES + 4ull * top <=
		    b->att.sdram);
	free(taken);
}

static bool big_take(struct big *b, uint32_t pages)
{
	uint32_t h = 0;
	int ret = hvia_att_take(&b->att, pages, &h);

	if (ret == -EAGAIN) {
		hvia_att_compact(&b->att, big_moved, b);
		assert_int_equal(hvia_att_top(&b->att), b->att.used);
		ret = hvia_att_take(&b->att, pages, &h);
		assert_int_equal(ret, 0);
	}
	if (ret)
		return false;
	b->live[b->n++] = h;
	return true;
}

static void big_give(struct big *b, uint32_t i)
{
	hvia_att_give(&b->att, b->live[i]);
	b->live[i] = b->live[--b->n];
}

/* A million registrations and de-registrations in random order. */
static void test_million(void **state)
{
	struct big b = { .live = calloc(3000000, 4) };
	struct weft_rng rng;
	uint32_t refused = 0, takes = 0;

	(void)state;
	weft_rng_seed(&rng, 7, "million");
	hvia_att_init(&b.att, 1 << 26);
	for (uint32_t i = 0; i < 1000000; i++) {
		bool rising = i / 100000 % 2 == 0;

		if (b.n && weft_rng_below(&rng, 100) >= (rising ? 55 : 45))
			big_give(&b, (uint32_t)weft_rng_below(&rng, b.n));
		else
			refused += !big_take(
				&b, 1 + (uint32_t)weft_rng_below(
						&rng, i % 50 ? 1024 : 120000)),
				takes++;
		if (i % 100000 == 99999)
			big_check(&b);
	}
	assert_true(takes > 450000 && refused && b.moves > 1000);
	hvia_att_fini(&b.att);
	free(b.live);
}

/* 3.5: one page per buffer, and 1,024 buffers. */
static void test_capacity(void **state)
{
	struct big b = { .live = calloc(3000000, 4) };
	uint32_t n = 0;

	(void)state;
	hvia_att_init(&b.att, 1 << 26);
	while (big_take(&b, 1))
		n++;
	assert_int_equal(n, 2396745);
	big_give(&b, 1000);
	assert_true(big_take(&b, 1));
	assert_false(big_take(&b, 1));
	while (b.n)
		big_give(&b, b.n - 1);
	for (n = 0; n < 1024; n++)
		assert_true(big_take(&b, 16378));
	assert_false(big_take(&b, 16378));
	big_check(&b);
	hvia_att_fini(&b.att);
	free(b.live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
