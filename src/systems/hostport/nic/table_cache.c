/* SPDX-License-Identifier: Apache-2.0 */
/* Read-only caches of tables in main memory (hostport.md 8.8): window
 * descriptors and routes. They have sets of four lines with LRU.
 *
 * A lookup takes `cycles`, and is done then if the line is present. Otherwise a
 * line of its set is filled from memory, and the fill ends all lookups that
 * wait for the line.
 *
 * An entry is read and not kept if it is longer than a line, or if all lines of
 * its set are being filled. */
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/functional_units.h"

struct hp_lines *hp_lines_new(struct hp_lines like, uint32_t entries)
{
	struct hp_lines *l = need(malloc(sizeof(*l)));
	uint32_t sets = entries / HP_LINE_WAYS;

	*l = like;
	assoc_init(&l->dir, sets ? sets : 1, HP_LINE_WAYS, ASSOC_LRU);
	l->at = need(calloc(assoc_size(&l->dir), sizeof(*l->at)));
	for (uint32_t i = 0; i < assoc_size(&l->dir); i++)
		l->at[i].lines = l;
	return l;
}

void hp_lines_init(struct hp_nic *n)
{
	n->win = hp_lines_new((struct hp_lines){ .width = HP_LINE,
						 .cycles = n->param.t_win,
						 .hits = HP_K_WIN_HITS,
						 .misses = HP_K_WIN_MISSES },
			      n->param.win_cache);
	n->routes =
		hp_lines_new((struct hp_lines){ .width = 32,
						.cycles = n->param.t_route,
						.hits = HP_K_ROUTE_HITS,
						.misses = HP_K_ROUTE_MISSES },
			     n->param.route_cache);
}

void hp_lines_free(struct hp_lines *l)
{
	if (!l)
		return;
	assoc_fini(&l->dir);
	free(l->at);
	free(l);
}

static uint32_t line_set(const struct hp_lines *l, uint64_t key)
{
	uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)((mixed >> 32) % l->dir.sets);
}

/* ---- misses ---- */

static void look_answer(struct hp_nic *n, struct hp_look *k,
			const struct hp_dma *d)
{
	k->ok = d->txn.status == WEFT_BUS_OK;
	memcpy(k->data, weft_slice_data(d->txn.data), k->bytes);
	k->done(n, k->arg);
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
	struct assoc_entry *e = &l->dir.at[c - l->at];

	memcpy(c->data, weft_slice_data(d->txn.data), d->txn.data.len);
	e->state = e->state == ASSOC_FILLING && d->txn.status == WEFT_BUS_OK
			   ? ASSOC_VALID
			   : ASSOC_EMPTY;
	assoc_touch(&l->dir, (uint32_t)(c - l->at));
	for (to = &mine; (k = *at);) {
		/* Skips a lookup that waits for another line. That line may
		 * have the same key, if line c was removed while it was being
		 * filled. */
		if (k->line != c) {
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

/* ---- requests ---- */

static void line_look(struct hp_nic *n, void *arg)
{
	struct hp_look *k = arg;
	struct hp_lines *l = k->lines;
	uint32_t i = assoc_find(&l->dir, line_set(l, k->key), 0, k->key);

	if (!k->ok) { /* the lookup fails without a read */
		k->done(n, k->arg);
		return;
	}
	if (assoc_valid(&l->dir, i)) {
		hp_count(n, l->hits, 1);
		assoc_touch(&l->dir, i);
		memcpy(k->data, l->at[i].data, k->bytes);
		k->done(n, k->arg);
		return;
	}
	hp_count(n, l->misses, 1);
	if (i != ASSOC_NONE) {
		look_wait(k, &l->at[i]);
		return;
	}
	if (k->bytes <= l->width)
		i = assoc_victim(&l->dir, line_set(l, k->key));
	if (i == ASSOC_NONE) {
		hp_dma_read(n, k->addr, k->bytes, look_read, k);
		return;
	}
	assoc_put(&l->dir, i, 0, k->key, ASSOC_FILLING);
	look_wait(k, &l->at[i]);
	hp_dma_read(n, k->addr, k->bytes, line_filled, &l->at[i]);
}

void hp_lines_get(struct hp_nic *n, struct hp_lines *l, struct hp_look *k,
		  bool exists)
{
	k->lines = l;
	k->ok = exists;
	hp_after(n, l->cycles, line_look, k);
}

/* ---- the driver ---- */

uint64_t hp_lines_cmd(struct hp_lines *l, uint32_t op, uint64_t key)
{
	uint32_t i = assoc_find(&l->dir, line_set(l, key), 0, key);

	if (op == HP_CACHE_REMOVE && i != ASSOC_NONE)
		assoc_remove(&l->dir, i);
	else if (op == HP_CACHE_FLUSH)
		hp_lines_drop(l, 0, UINT64_MAX);
	return assoc_valid(&l->dir, i) ? HP_CACHE_PRESENT : 0;
}

void hp_lines_drop(struct hp_lines *l, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < assoc_size(&l->dir); i++)
		if (l->dir.at[i].key >= from && l->dir.at[i].key <= to)
			assoc_remove(&l->dir, i);
}
