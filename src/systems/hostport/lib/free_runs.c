/* SPDX-License-Identifier: Apache-2.0 */
/* Bookkeeping of free pages for both allocators of the Host Port's driver
 * (driver_memory.h). These functions do not access the pages. */
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/lib/driver_memory.h"

/* ---- runs, first fit ---- */

bool hport_runs_init(struct hport_runs *r, uint32_t pages)
{
	r->n = pages;
	r->len = calloc(pages, sizeof(*r->len));
	return r->len;
}

void hport_runs_fini(struct hport_runs *r)
{
	free(r->len);
}

int64_t hport_runs_take(struct hport_runs *r, uint64_t pages)
{
	uint32_t from = 0, i = 0;

	while (pages && i < r->n) {
		if (r->len[i]) {
			i += r->len[i];
			from = i;
		} else if (++i - from == pages) {
			r->len[from] = (uint32_t)pages;
			return from;
		}
	}
	return -1;
}

uint32_t hport_runs_give(struct hport_runs *r, uint32_t page)
{
	uint32_t pages = page < r->n ? r->len[page] : 0;

	if (pages)
		r->len[page] = 0;
	return pages;
}

/* ---- powers of two ---- */

/* values of head[]: 0 stands for a page inside a piece */
enum { FREE = 1, TAKEN = 0x80 };

static uint32_t order_at(const struct hport_buddy *b, uint32_t page)
{
	return (uint32_t)(b->head[page] & ~TAKEN) - FREE;
}

void hport_buddy_init(struct hport_buddy *b, uint32_t order)
{
	memset(b->head, 0, sizeof(b->head));
	b->order = order;
	b->head[0] = (uint8_t)(FREE + order);
}

bool hport_buddy_whole(const struct hport_buddy *b)
{
	return b->head[0] == FREE + b->order;
}

int32_t hport_buddy_take(struct hport_buddy *b, uint32_t order)
{
	int32_t at = -1;

	/* finds the smallest free piece that is large enough, and the lowest of
	 * equally small ones */
	for (uint32_t i = 0; i < 1u << b->order; i += 1u << order_at(b, i))
		if (!(b->head[i] & TAKEN) && order_at(b, i) >= order &&
		    (at < 0 || order_at(b, i) < order_at(b, (uint32_t)at)))
			at = (int32_t)i;
	if (at < 0)
		return -1;
	for (uint32_t o = order_at(b, (uint32_t)at); o > order; o--)
		b->head[(uint32_t)at + (1u << (o - 1))] =
			(uint8_t)(FREE + o - 1);
	b->head[at] = (uint8_t)(TAKEN | (FREE + order));
	return at;
}

int32_t hport_buddy_give(struct hport_buddy *b, uint32_t page)
{
	uint32_t order, o;

	if (page >= 1u << b->order || !(b->head[page] & TAKEN))
		return -1;
	order = order_at(b, page);
	for (o = order; o < b->order && b->head[page ^ 1u << o] == FREE + o;
	     o++) {
		b->head[page] = b->head[page ^ 1u << o] = 0;
		page &= ~(1u << o);
	}
	b->head[page] = (uint8_t)(FREE + o);
	return (int32_t)order;
}

uint32_t hport_order(uint64_t pages)
{
	uint32_t order = 0;

	while (order < 63 && 1ull << order < pages)
		order++;
	return order;
}
