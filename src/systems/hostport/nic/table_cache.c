/* SPDX-License-Identifier: Apache-2.0 */
/* Read-only caches of tables in main memory (hostport.md 8.8): window
 * descriptors and routes.  Sets of four lines, LRU.
 *
 *   get -> `cycles` -> present: done
 *                      else: a line of its set, bytes from memory, done for
 *                      all who wait for the line
 *
 * What is longer than a line, or finds all lines of its set being filled, is
 * read and not kept. */
#include <stdlib.h>

#include "systems/hostport/nic/functional_units.h"

struct hp_lines *hp_lines_new(struct hp_lines like, uint32_t entries)
{
	struct hp_lines *l = malloc(sizeof(*l));

	like.sets = entries / HP_LINE_WAYS ? entries / HP_LINE_WAYS : 1;
	like.at = calloc(like.sets * HP_LINE_WAYS, sizeof(*like.at));
	if (!l || !like.at)
		abort();
	*l = like;
	return l;
}

void hp_lines_free(struct hp_lines *l)
{
	if (l)
		free(l->at);
	free(l);
}

static struct hp_cached *line_set(const struct hp_lines *l, uint64_t key)
{
	uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15ull;

	return &l->at[(mixed >> 32) % l->sets * HP_LINE_WAYS];
}

static struct hp_cached *line_find(const struct hp_lines *l, uint64_t key)
{
	struct hp_cached *c = line_set(l, key);

	for (uint32_t i = 0; i < HP_LINE_WAYS; i++)
		if ((c[i].valid || c[i].filling) && c[i].key == key &&
		    !c[i].gone)
			return &c[i];
	return NULL;
}

static struct hp_cached *line_victim(const struct hp_lines *l, uint64_t key)
{
	struct hp_cached *c = line_set(l, key), *best = NULL;

	for (uint32_t i = 0; i < HP_LINE_WAYS; i++) {
		if (c[i].filling)
			continue;
		if (!c[i].valid)
			return &c[i];
		if (!best || c[i].used < best->used)
			best = &c[i];
	}
	return best;
}

/* ---- misses ---- */

static void look_answer(struct hp_nic *n, struct hp_look *k,
			const struct hp_dma *d)
{
	k->ok = d->txn.status == WEFT_BUS_OK;
	memcpy(k->data, weft_slice_data(d->txn.data), k->bytes);
	k->done(n, k);
}

static void look_read(struct hp_nic *n, struct hp_dma *d)
{
	look_answer(n, d->arg, d);
}

static void line_filled(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_cached *c = d->arg;
	struct hp_lines *l = c->lines;
	struct hp_look *k = l->wait, **at = &l->wait, *mine = NULL, **to;

	memcpy(c->data, weft_slice_data(d->txn.data), d->txn.data.len);
	c->valid = !c->gone && d->txn.status == WEFT_BUS_OK;
	c->filling = c->gone = false;
	c->used = ++l->clock;
	for (to = &mine; (k = *at);) {
		if (k->line != c) { /* asked after it was removed, perhaps */
			at = &k->next;
			continue;
		}
		*at = k->next;
		*to = k;
		to = &k->next;
		k->next = NULL;
	}
	while ((k = mine)) {
		mine = k->next;
		look_answer(n, k, d);
	}
}

static void look_wait(struct hp_look *k, const struct hp_cached *c)
{
	struct hp_look **at = &k->lines->wait;

	while (*at)
		at = &(*at)->next;
	k->line = c;
	k->next = NULL;
	*at = k;
}

static void line_fill(struct hp_nic *n, struct hp_look *k)
{
	struct hp_lines *l = k->lines;
	struct hp_cached *c =
		k->bytes <= l->width ? line_victim(l, k->key) : NULL;

	if (!c) {
		hp_dma_read(n, k->addr, k->bytes, look_read, k);
		return;
	}
	c->key = k->key;
	c->lines = l;
	c->filling = true;
	c->valid = c->gone = false;
	look_wait(k, c);
	hp_dma_read(n, k->addr, k->bytes, line_filled, c);
}

/* ---- requests ---- */

static void line_look(struct hp_nic *n, void *arg)
{
	struct hp_look *k = arg;
	struct hp_lines *l = k->lines;
	struct hp_cached *c = line_find(l, k->key);

	if (c && c->valid) {
		hp_count(n, l->hits, 1);
		c->used = ++l->clock;
		k->ok = true;
		memcpy(k->data, c->data, k->bytes);
		k->done(n, k);
		return;
	}
	hp_count(n, l->misses, 1);
	if (c)
		look_wait(k, c);
	else
		line_fill(n, k);
}

void hp_lines_get(struct hp_nic *n, struct hp_lines *l, struct hp_look *k)
{
	k->lines = l;
	hp_after(n, l->cycles, line_look, k);
}

static void line_none(struct hp_nic *n, void *arg)
{
	struct hp_look *k = arg;

	k->ok = false;
	k->done(n, k);
}

void hp_lines_none(struct hp_nic *n, struct hp_lines *l, struct hp_look *k)
{
	hp_after(n, l->cycles, line_none, k);
}

/* ---- the driver ---- */

static void line_remove(struct hp_cached *c)
{
	c->gone = c->filling;
	c->valid = false;
}

uint64_t hp_lines_cmd(struct hp_lines *l, uint32_t op, uint64_t key)
{
	struct hp_cached *c = line_find(l, key);

	if (op == HP_CACHE_REMOVE && c)
		line_remove(c);
	for (uint32_t i = 0; op == HP_CACHE_FLUSH && i < l->sets * HP_LINE_WAYS;
	     i++)
		line_remove(&l->at[i]);
	return c && c->valid ? HP_CACHE_PRESENT : 0;
}

void hp_lines_drop(struct hp_lines *l, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < l->sets * HP_LINE_WAYS; i++)
		if (l->at[i].key >= from && l->at[i].key <= to)
			line_remove(&l->at[i]);
}
