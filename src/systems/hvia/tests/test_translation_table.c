/* SPDX-License-Identifier: Apache-2.0 */
/* The address translation table's allocator against a reference that searches a
 * list (hvia.md 3.5, 6.2). The test compares handles and indices after every
 * operation, and all entries of level 2 at every compaction and at the end.
 * `test_translation_table N` makes N operations at full size. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "systems/hvia/lib/translation_table.h"

enum { SCALED = 1 << 14, FULL = 1 << 26, BLOCKS = 40000 };

/* Builds with a sanitizer execute fewer operations, which are enough to reach
 * all code. */
#ifdef __SANITIZE_ADDRESS__
static uint32_t operations = 40000;
#else
static uint32_t operations = 100000;
#endif

/* ---- reference ---- */

struct ref_block {
	uint32_t at, pages, handle;
};

struct ref {
	uint32_t sdram, n;
	struct ref_block b[BLOCKS]; /* by index */
	bool taken[BLOCKS];	    /* by handle */
	uint32_t *l2;
};

static uint32_t ref_used(const struct ref *r)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < r->n; i++)
		used += r->b[i].pages;
	return used;
}

/* Returns one more than the highest index in use. */
static uint32_t ref_top(const struct ref *r)
{
	return r->n ? r->b[r->n - 1].at + r->b[r->n - 1].pages : 0;
}

/* Returns one more than the highest handle in use. */
static uint32_t ref_l1(const struct ref *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n = r->b[i].handle >= n ? r->b[i].handle + 1 : n;
	return n;
}

/* Finds the first gap that is large enough. Returns the number of the block
 * after the gap. */
static uint32_t ref_fit(const struct ref *r, uint32_t pages, uint32_t *at_p)
{
	uint32_t i;

	*at_p = 0;
	for (i = 0; i < r->n && r->b[i].at - *at_p < pages; i++)
		*at_p = r->b[i].at + r->b[i].pages;
	return i;
}

static int ref_take(struct ref *r, uint32_t pages, uint32_t *h_p)
{
	uint32_t h = 0, n1 = ref_l1(r), at, i;
	uint64_t room;

	while (r->taken[h])
		h++;
	n1 = h >= n1 ? h + 1 : n1;
	room = (r->sdram - (uint64_t)n1 * HVIA_L1_BYTES) / HVIA_L2_BYTES;
	if (ref_used(r) + pages > room)
		return -ENOSPC;
	i = ref_fit(r, pages, &at);
	if (ref_top(r) > room || at + pages > room)
		return -EAGAIN;
	assert_true(r->n < BLOCKS);
	memmove(&r->b[i + 1], &r->b[i], (r->n++ - i) * sizeof(r->b[0]));
	r->b[i] = (struct ref_block){ at, pages, h };
	r->taken[h] = true;
	*h_p = h;
	return 0;
}

static struct ref_block *ref_find(struct ref *r, uint32_t h)
{
	uint32_t i = 0;

	while (r->b[i].handle != h)
		i++;
	return &r->b[i];
}

static void ref_give(struct ref *r, uint32_t h)
{
	struct ref_block *b = ref_find(r, h);

	r->taken[h] = false;
	memmove(b, b + 1, (size_t)(r->b + r->n-- - b - 1) * sizeof(*b));
}

static void ref_compact(struct ref *r)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		memmove(r->l2 + to, r->l2 + r->b[i].at, 4ul * r->b[i].pages);
		r->b[i].at = to;
		to += r->b[i].pages;
	}
}

/* ---- comparison ---- */

struct pair {
	struct hvia_att att;
	struct ref ref;
	uint32_t *sdram; /* expected content of level 2 on the card */
	uint32_t live[BLOCKS], n_live;
	struct weft_rng rng;
	uint32_t stamp, takes, compactions, moves, refused;
};

static struct pair *pair_new(uint32_t sdram, const char *name)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->sdram = calloc(1, sdram);
	p->ref.l2 = calloc(1, sdram);
	p->ref.sdram = sdram;
	weft_rng_seed(&p->rng, 6, name);
	hvia_att_init(&p->att, sdram);
	return p;
}

static void pair_free(struct pair *p)
{
	hvia_att_fini(&p->att);
	free(p->ref.l2);
	free(p->sdram);
	free(p);
}

static void moved(void *own, uint32_t h, uint32_t from)
{
	struct pair *p = own;
	const struct hvia_att_region *g = &p->att.region.at[h];

	assert_true(g->l2 < from);
	memmove(p->sdram + g->l2, p->sdram + from, 4ul * g->pages);
	p->moves++;
}

static void same_sums(const struct pair *p)
{
	assert_int_equal(p->att.live, p->ref.n);
	assert_int_equal(p->att.used, ref_used(&p->ref));
	assert_int_equal(p->att.region.n, ref_l1(&p->ref));
	assert_int_equal(hvia_att_top(&p->att), ref_top(&p->ref));
}

/* Compares every region and every entry. */
static void same(const struct pair *p)
{
	same_sums(p);
	for (uint32_t i = 0; i < p->ref.n; i++) {
		const struct ref_block *b = &p->ref.b[i];
		const struct hvia_att_region *g = &p->att.region.at[b->handle];

		assert_int_equal(g->pages, b->pages);
		assert_int_equal(g->l2, b->at);
		assert_int_equal(memcmp(p->sdram + b->at, p->ref.l2 + b->at,
					4ul * b->pages),
				 0);
	}
}

static void compact(struct pair *p)
{
	hvia_att_compact(&p->att, moved, p);
	ref_compact(&p->ref);
	p->compactions++;
	same(p);
}

/* Fills entries with values that no other region has or had. */
static void fill(struct pair *p, uint32_t at, uint32_t pages)
{
	for (uint32_t k = 0; k < pages; k++)
		p->sdram[at + k] = p->ref.l2[at + k] = p->stamp++;
}

static void take(struct pair *p, uint32_t pages)
{
	uint32_t h = 0, ref_h = 0;
	int ret = hvia_att_take(&p->att, pages, &h);

	p->takes++;
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
	assert_int_equal(p->att.region.at[h].l2, ref_find(&p->ref, h)->at);
	p->live[p->n_live++] = h;
	fill(p, p->att.region.at[h].l2, pages);
}

static void give(struct pair *p)
{
	uint32_t i = (uint32_t)weft_rng_below(&p->rng, p->n_live);
	uint32_t h = p->live[i];

	assert_true(hvia_att_has(&p->att, h));
	hvia_att_give(&p->att, h);
	assert_false(hvia_att_has(&p->att, h));
	ref_give(&p->ref, h);
	p->live[i] = p->live[--p->n_live];
}

/* Does operations in random order: takes regions until one is refused, then
 * gives regions back until half of the table is free. */
static void operate(struct pair *p, uint32_t n,
		    uint32_t (*pages)(struct pair *))
{
	uint32_t share = 72, refused = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (p->n_live && weft_rng_below(&p->rng, 100) >= share)
			give(p);
		else
			take(p, pages(p));
		if (p->refused != refused)
			share = 42;
		else if (p->att.used < p->ref.sdram / HVIA_L2_BYTES / 2)
			share = 72;
		refused = p->refused;
		if (i % 64 == 0)
			same_sums(p);
	}
	same(p);
}

static void empty(struct pair *p)
{
	while (p->n_live)
		give(p);
	same(p);
	assert_int_equal(hvia_att_blocks(&p->att), 1);
}

static uint32_t scaled_pages(struct pair *p)
{
	uint64_t kind = weft_rng_below(&p->rng, 64);

	if (!kind)
		return 1 + (uint32_t)weft_rng_below(&p->rng, SCALED / 8);
	return 1 + (uint32_t)weft_rng_below(&p->rng, kind < 40 ? 8 : 80);
}

/* T-32: a small table, so that it is full most of the time. */
static void test_small_table_stays_consistent_when_full(void **state)
{
	struct pair *p = pair_new(SCALED, "scaled");

	operate(p, 20000, scaled_pages);
	assert_true(p->compactions > 50);
	assert_true(p->refused > 100);
	empty(p);
	pair_free(p);
}

static uint32_t full_pages(struct pair *p)
{
	bool large = !weft_rng_below(&p->rng, 50);

	return 1 + (uint32_t)weft_rng_below(&p->rng, large ? 120000 : 1024);
}

/* T-32: registrations and de-registrations in random order at full size, a
 * million in the long test. */
static void test_random_registrations_keep_the_table_consistent(void **state)
{
	struct pair *p = pair_new(FULL, "full");

	operate(p, operations, full_pages);
	assert_true(p->refused && p->moves > 1000);
	printf("%u operations, %u refused, %u compactions, %u blocks moved\n",
	       operations, p->refused, p->compactions, p->moves);
	empty(p);
	pair_free(p);
}

/* ---- capacity ---- */

/* Takes as many regions of this size as fit. Returns their number. */
static uint32_t take_all(struct hvia_att *a, uint32_t pages)
{
	uint32_t h = 0, n = 0;

	for (; !hvia_att_take(a, pages, &h); n++)
		assert_int_equal(h, n);
	return n;
}

/* T-35, 3.5: number of regions that fit, first with one page each, then with
 * the 16,378 pages that allow 1,024 regions. */
static void test_table_holds_exactly_its_capacity(void **state)
{
	struct hvia_att a;
	uint32_t h = 0;

	hvia_att_init(&a, FULL);
	assert_int_equal(take_all(&a, 1), 2396745);
	hvia_att_give(&a, 1000);
	assert_int_equal(hvia_att_take(&a, 1, &h), 0);
	assert_int_equal(h, 1000);
	assert_int_equal(hvia_att_take(&a, 1, &h), -ENOSPC);
	for (h = 2396745; h--;)
		hvia_att_give(&a, h);
	assert_int_equal(take_all(&a, 16378), 1024);
	assert_int_equal(hvia_att_take(&a, 16378, &h), -ENOSPC);
	hvia_att_fini(&a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_table_stays_consistent_when_full),
		cmocka_unit_test(
			test_random_registrations_keep_the_table_consistent),
		cmocka_unit_test(test_table_holds_exactly_its_capacity),
	};

	if (argc > 1)
		operations = (uint32_t)strtoul(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
