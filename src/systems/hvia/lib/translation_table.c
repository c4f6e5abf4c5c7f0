/* SPDX-License-Identifier: Apache-2.0 */
/* Allocator of the address translation table, see translation_table.h. */
#include "systems/hvia/lib/translation_table.h"

#include <errno.h>
#include <stdlib.h>

/* ---- free blocks: a treap by level-2 index; node 0 means none ---- */

/* Returns the priority of a block in the treap: a hash of the block's index, so
 * that all runs build equal treaps. */
static uint32_t translation_table_rank(const struct hvia_att *a, uint32_t i)
{
	uint32_t x = a->node.at[i].at * 2654435761u;

	return x ^ x >> 15;
}

static uint32_t translation_table_update(const struct hvia_att *a, uint32_t i)
{
	struct hvia_att_node *n = &a->node.at[i];
	uint32_t l = a->node.at[n->left].most, r = a->node.at[n->right].most;

	n->most = n->len;
	n->most = l > n->most ? l : n->most;
	n->most = r > n->most ? r : n->most;
	return i;
}

/* Joins two trees. All blocks of l must be below all blocks of r. */
static uint32_t translation_table_join(struct hvia_att *a, uint32_t l,
				       uint32_t r)
{
	if (!l || !r)
		return l ? l : r;
	if (translation_table_rank(a, l) > translation_table_rank(a, r)) {
		a->node.at[l].right =
			translation_table_join(a, a->node.at[l].right, r);
		return translation_table_update(a, l);
	}
	a->node.at[r].left = translation_table_join(a, l, a->node.at[r].left);
	return translation_table_update(a, r);
}

/* Splits a tree into the blocks below `at` and all others. */
static void translation_table_split(struct hvia_att *a, uint32_t i, uint32_t at,
				    uint32_t *lo_p, uint32_t *hi_p)
{
	if (!i) {
		*lo_p = *hi_p = 0;
	} else if (a->node.at[i].at < at) {
		translation_table_split(a, a->node.at[i].right, at,
					&a->node.at[i].right, hi_p);
		*lo_p = translation_table_update(a, i);
	} else {
		translation_table_split(a, a->node.at[i].left, at, lo_p,
					&a->node.at[i].left);
		*hi_p = translation_table_update(a, i);
	}
}

static uint32_t node_new(struct hvia_att *a, uint32_t at, uint32_t len)
{
	struct hvia_att_node n = { .at = at, .len = len, .most = len };

	if (a->spare_nodes.n) {
		uint32_t i = vec_pop(&a->spare_nodes);

		a->node.at[i] = n;
		return i;
	}
	vec_push(&a->node, n);
	return (uint32_t)a->node.n - 1;
}

static uint32_t translation_table_outermost(const struct hvia_att *a,
					    uint32_t i, bool right)
{
	uint32_t next = i;

	while (next) {
		i = next;
		next = right ? a->node.at[i].right : a->node.at[i].left;
	}
	return i;
}

/* Removes the highest (`right`) or the lowest block of a tree. Returns its
 * length, which the caller adds to the neighbouring block. */
static uint32_t translation_table_swallow(struct hvia_att *a, uint32_t *tree_p,
					  bool right)
{
	uint32_t i = translation_table_outermost(a, *tree_p, right), rest, it;
	uint32_t at = a->node.at[i].at;

	if (right) {
		translation_table_split(a, *tree_p, at, &rest, &it);
		*tree_p = rest;
	} else {
		translation_table_split(a, *tree_p, at + 1, &it, &rest);
		*tree_p = rest;
	}
	vec_push(&a->spare_nodes, i);
	return a->node.at[i].len;
}

/* Returns the node of the lowest block of at least `len` entries, or 0. */
static uint32_t block_find(const struct hvia_att *a, uint32_t len)
{
	uint32_t i = a->root;

	if (a->node.at[i].most < len)
		return 0;
	for (;;) {
		const struct hvia_att_node *n = &a->node.at[i];

		if (a->node.at[n->left].most >= len)
			i = n->left;
		else if (n->len >= len)
			return i;
		else
			i = n->right;
	}
}

/* ---- free handles: a heap with the lowest first ---- */

static uint32_t handle_pop(struct hvia_att *a)
{
	uint32_t *heap = a->spare_handles.at, first = heap[0];
	uint32_t h = vec_pop(&a->spare_handles);
	size_t n = a->spare_handles.n, i = 0, k;

	for (; (k = 2 * i + 1) < n; i = k) {
		k += k + 1 < n && heap[k + 1] < heap[k];
		if (h <= heap[k])
			break;
		heap[i] = heap[k];
	}
	if (n)
		heap[i] = h;
	/* Level 1 may have shrunk below freed handles. Such handles are dropped
	 * now, so that none is left when level 1 grows. Level 1 grows only if
	 * no handle is free. */
	if (a->spare_handles.n && heap[0] >= a->region.n)
		vec_clear(&a->spare_handles);
	return first;
}

/* ---- the allocator ---- */

static void blocks_reset(struct hvia_att *a)
{
	vec_clear(&a->node);
	vec_clear(&a->spare_nodes);
	vec_push(&a->node, (struct hvia_att_node){ 0 });
	a->root = node_new(a, a->used, a->sdram / HVIA_L2_BYTES - a->used);
}

void hvia_att_init(struct hvia_att *a, uint32_t sdram)
{
	*a = (struct hvia_att){ .sdram = sdram };
	blocks_reset(a);
}

void hvia_att_fini(struct hvia_att *a)
{
	vec_free(&a->region);
	vec_free(&a->spare_handles);
	vec_free(&a->node);
	vec_free(&a->spare_nodes);
}

uint32_t hvia_att_top(const struct hvia_att *a)
{
	uint32_t end = a->sdram / HVIA_L2_BYTES;
	uint32_t i = translation_table_outermost(a, a->root, true);

	if (i && a->node.at[i].at + a->node.at[i].len == end)
		return a->node.at[i].at;
	return end;
}

int hvia_att_take(struct hvia_att *a, uint32_t pages, uint32_t *handle_p)
{
	uint64_t l1 = a->region.n + !a->spare_handles.n;
	uint64_t level1 = l1 * HVIA_L1_BYTES;
	uint32_t limit, i, at, had, lo, mid, hi;

	if (level1 + (uint64_t)HVIA_L2_BYTES * (a->used + (uint64_t)pages) >
	    a->sdram)
		return -ENOSPC;
	limit = (uint32_t)((a->sdram - level1) / HVIA_L2_BYTES);
	i = block_find(a, pages);
	if (hvia_att_top(a) > limit || !i || a->node.at[i].at + pages > limit)
		return -EAGAIN;
	if (!a->spare_handles.n)
		vec_push(&a->region, (struct hvia_att_region){ 0 });
	*handle_p =
		a->spare_handles.n ? handle_pop(a) : (uint32_t)a->region.n - 1;
	a->region.at[*handle_p] =
		(struct hvia_att_region){ pages, a->node.at[i].at };
	/* takes the first entries of the block into use */
	at = a->node.at[i].at;
	had = a->node.at[i].len;
	translation_table_split(a, a->root, at, &lo, &mid);
	translation_table_split(a, mid, at + 1, &mid, &hi);
	vec_push(&a->spare_nodes, mid);
	if (had > pages)
		a->root = translation_table_join(
			a,
			translation_table_join(
				a, lo, node_new(a, at + pages, had - pages)),
			hi);
	else
		a->root = translation_table_join(a, lo, hi);
	a->used += pages;
	a->live++;
	return 0;
}

void hvia_att_give(struct hvia_att *a, uint32_t handle)
{
	struct hvia_att_region *r = &a->region.at[handle];
	uint32_t at = r->l2, len = r->pages, lo, hi, node;
	size_t i;

	/* Joins the block with its free neighbours, so that first fit finds
	 * long blocks. */
	translation_table_split(a, a->root, at, &lo, &hi);
	node = translation_table_outermost(a, lo, true);
	if (node && a->node.at[node].at + a->node.at[node].len == at) {
		uint32_t n = translation_table_swallow(a, &lo, true);

		at -= n;
		len += n;
	}
	node = translation_table_outermost(a, hi, false);
	if (node && at + len == a->node.at[node].at)
		len += translation_table_swallow(a, &hi, false);
	a->root = translation_table_join(
		a, translation_table_join(a, lo, node_new(a, at, len)), hi);
	a->used -= r->pages;
	a->live--;
	r->pages = 0;
	i = a->spare_handles.n;
	vec_push(&a->spare_handles, handle);
	for (; i && handle < a->spare_handles.at[(i - 1) / 2]; i = (i - 1) / 2)
		a->spare_handles.at[i] = a->spare_handles.at[(i - 1) / 2];
	a->spare_handles.at[i] = handle;
	while (a->region.n && !vec_last(&a->region).pages)
		a->region.n--;
	if (a->spare_handles.n && a->spare_handles.at[0] >= a->region.n)
		vec_clear(&a->spare_handles);
}

struct place {
	uint32_t at, handle;
};

static int place_cmp(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->at < b->at ? -1 : a->at > b->at;
}

void hvia_att_compact(struct hvia_att *a,
		      void (*move)(void *own, uint32_t handle, uint32_t from),
		      void *own)
{
	struct {
		VEC(struct place);
	} order = { 0 };
	uint32_t to = 0;

	for (uint32_t h = 0; h < a->region.n; h++)
		if (a->region.at[h].pages)
			vec_push(&order,
				 (struct place){ a->region.at[h].l2, h });
	if (order.n)
		qsort(order.at, order.n, sizeof(order.at[0]), place_cmp);
	for (size_t i = 0; i < order.n; i++) {
		struct hvia_att_region *r = &a->region.at[order.at[i].handle];
		uint32_t from = r->l2;

		r->l2 = to;
		if (from != to)
			move(own, order.at[i].handle, from);
		to += r->pages;
	}
	vec_free(&order);
	blocks_reset(a);
}
