/* SPDX-License-Identifier: Apache-2.0 */
/* A treap: a tree that is sorted by offset, and a heap by a pseudo-random
 * number of each node. These numbers keep the depth near the logarithm of the
 * number of nodes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/need.h"
#include "storage/extents.h"

struct extent_node {
	struct extent x;
	uint64_t rank;
	struct extent_node *left, *right;
};

/* ---- one extent ---- */

uint64_t extent_room(const struct extent *x, uint32_t sector)
{
	return x->data ? x->len : sector;
}

void extent_read(const struct extent *x, uint64_t at, size_t len, void *p)
{
	uint64_t from = max_of(at, x->at);
	uint64_t to = min_of(at + len, x->at + x->len);
	uint8_t *out = (uint8_t *)p + (from - at);

	if (from >= to)
		return;
	if (x->data)
		memcpy(out, x->data + (from - x->at), to - from);
	else
		memset(out, 0, to - from);
}

/* Returns a copy of a part of x. */
static struct extent extent_part(const struct extent *x, uint64_t at,
				 uint64_t len)
{
	struct extent part = { .at = at, .len = len, .code = x->code };

	if (x->data) {
		part.data = need(malloc(len));
		memcpy(part.data, x->data + (at - x->at), len);
	}
	return part;
}

int extent_cut(struct extent x, uint64_t at, uint64_t len,
	       struct extent part[2])
{
	uint64_t end = x.at + x.len;
	int n = 0;

	if (at > x.at)
		part[n++] = extent_part(&x, x.at, at - x.at);
	if (at + len < end)
		part[n++] = extent_part(&x, at + len, end - (at + len));
	free(x.data);
	return n;
}

/* ---- tree ---- */

/* Returns a pseudo-random number, which depends on the number of calls
 * alone. */
static uint64_t draw(struct extents *e)
{
	uint64_t z = ++e->places * 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Divides a tree. Extents that begin before `at` go to l, all other extents to
 * r. */
static void split(struct extent_node *n, uint64_t at, struct extent_node **l,
		  struct extent_node **r)
{
	if (!n) {
		*l = *r = NULL;
	} else if (n->x.at < at) {
		split(n->right, at, &n->right, r);
		*l = n;
	} else {
		split(n->left, at, l, &n->left);
		*r = n;
	}
}

/* Joins two trees. All extents of l must lie before all extents of r. */
static struct extent_node *merge(struct extent_node *l, struct extent_node *r)
{
	if (!l || !r)
		return l ? l : r;
	if (l->rank > r->rank) {
		l->right = merge(l->right, r);
		return l;
	}
	r->left = merge(l, r->left);
	return r;
}

static void tree_free(struct extents *e, struct extent_node *n)
{
	if (!n)
		return;
	tree_free(e, n->left);
	tree_free(e, n->right);
	e->room -= extent_room(&n->x, e->sector);
	free(n->x.data);
	free(n);
}

static void insert(struct extents *e, struct extent x)
{
	struct extent_node *n = need(calloc(1, sizeof(*n))), *l, *r;

	n->x = x;
	n->rank = draw(e);
	e->room += extent_room(&x, e->sector);
	split(e->root, x.at, &l, &r);
	e->root = merge(merge(l, n), r);
}

/* Returns the node that holds a byte, or NULL. */
static struct extent_node *find(const struct extents *e, uint64_t at)
{
	struct extent_node *n = e->root;

	while (n && (at < n->x.at || at - n->x.at >= n->x.len))
		n = at < n->x.at ? n->left : n->right;
	return n;
}

/* Divides the extent that begins before `at` and ends behind `at`. Does nothing
 * if no such extent exists. */
static void divide(struct extents *e, uint64_t at)
{
	struct extent_node *n = find(e, at);
	struct extent behind;

	if (!n || n->x.at == at)
		return;
	behind = extent_part(&n->x, at, n->x.at + n->x.len - at);
	e->room -= extent_room(&n->x, e->sector);
	n->x.len = at - n->x.at;
	if (n->x.data)
		n->x.data = need(realloc(n->x.data, n->x.len));
	e->room += extent_room(&n->x, e->sector);
	insert(e, behind);
}

void extents_cut(struct extents *e, uint64_t at, uint64_t len)
{
	struct extent_node *l, *mid, *r;

	if (!e->root || !len)
		return;
	divide(e, at);
	divide(e, at + len);
	split(e->root, at, &l, &mid);
	split(mid, at + len, &mid, &r);
	tree_free(e, mid);
	e->root = merge(l, r);
}

void extents_put(struct extents *e, struct extent x)
{
	assert(x.len && !x.data == (x.code != DRIVE_WRITE));
	extents_cut(e, x.at, x.len);
	insert(e, x);
}

bool extents_overwrite(struct extents *e, uint64_t at, const void *p,
		       size_t len)
{
	struct extent_node *n = find(e, at);

	if (!n || !n->x.data || n->x.at + n->x.len - at < len)
		return false;
	memcpy(n->x.data + (at - n->x.at), p, len);
	return true;
}

bool extents_take(struct extents *e, uint64_t from, struct extent *x_p)
{
	struct extent_node *l, *r, *n, **tree;

	if (!e->root)
		return false;
	split(e->root, from, &l, &r);
	tree = r ? &r : &l;
	for (n = *tree; n->left;)
		n = n->left;
	split(*tree, n->x.at + 1, &n, tree);
	*x_p = n->x;
	e->room -= extent_room(&n->x, e->sector);
	free(n);
	e->root = merge(l, r);
	return true;
}

const struct extent *extents_find(const struct extents *e, uint64_t at)
{
	struct extent_node *n = find(e, at);

	return n ? &n->x : NULL;
}

static void tree_read(const struct extent_node *n, uint64_t at, size_t len,
		      void *p)
{
	if (!n)
		return;
	if (at < n->x.at)
		tree_read(n->left, at, len, p);
	extent_read(&n->x, at, len, p);
	if (at + len > n->x.at + n->x.len)
		tree_read(n->right, at, len, p);
}

void extents_read(const struct extents *e, uint64_t at, size_t len, void *p)
{
	tree_read(e->root, at, len, p);
}
