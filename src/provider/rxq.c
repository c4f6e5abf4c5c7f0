/* SPDX-License-Identifier: Apache-2.0 */
/* Matches receives and messages; see rxq.h. */
#include "provider/rxq.h"

#include <stdlib.h>

/* bytes of early messages that a queue keeps */
#define EARLY_MAX ((size_t)1 << 30)

void wfi_rxq_init(struct wfi_rxq *q)
{
	for (int i = 0; i < 2; i++) {
		TAILQ_INIT(&q->posted[i]);
		TAILQ_INIT(&q->early[i]);
	}
	TAILQ_INIT(&q->claimed);
	q->early_max = EARLY_MAX;
	q->min_multi = 64;
}

static bool rx_from(wfi_name want, wfi_name from)
{
	if (!want || want == from)
		return true;
	return (want & RX_PORT) && WFI_PORT(want) == WFI_PORT(from);
}

struct wfi_rx *wfi_rxq_find(struct wfi_rxq *q, bool tagged, wfi_name from,
			    uint64_t tag)
{
	struct wfi_rx *rx;

	TAILQ_FOREACH(rx, &q->posted[tagged], link)
	if (rx_from(rx->from, from) &&
	    (!tagged || !((rx->tag ^ tag) & ~rx->ignore)))
		return rx;
	return NULL;
}

struct wfi_unx *wfi_rxq_early(struct wfi_rxq *q, bool tagged, wfi_name from,
			      uint64_t tag, uint64_t ignore)
{
	struct wfi_unx *u;

	TAILQ_FOREACH(u, &q->early[tagged], link)
	if (rx_from(from, u->m.from) &&
	    (!tagged || !((tag ^ u->m.tag) & ~ignore)))
		return u;
	return NULL;
}

struct wfi_unx *wfi_rxq_claimed(struct wfi_rxq *q, void *context)
{
	struct wfi_unx *u;

	TAILQ_FOREACH(u, &q->claimed, link)
	if (u->claim == context)
		return u;
	return NULL;
}

void wfi_rxq_claim(struct wfi_rxq *q, struct wfi_unx *u, void *context)
{
	wfi_rxq_take(q, u);
	u->claimed = true;
	u->claim = context;
	TAILQ_INSERT_TAIL(&q->claimed, u, link);
}

void wfi_rxq_post(struct wfi_rxq *q, struct wfi_rx *rx)
{
	rx->posted = true;
	TAILQ_INSERT_TAIL(&q->posted[rx->tagged], rx, link);
}

void wfi_rxq_remove(struct wfi_rxq *q, struct wfi_rx *rx)
{
	if (rx->posted)
		TAILQ_REMOVE(&q->posted[rx->tagged], rx, link);
	rx->posted = false;
}

struct wfi_rx *wfi_rxq_cancel(struct wfi_rxq *q, void *context)
{
	struct wfi_rx *rx;

	for (int i = 0; i < 2; i++) {
		TAILQ_FOREACH(rx, &q->posted[i], link)
		{
			if (rx->context != context)
				continue;
			wfi_rxq_remove(q, rx);
			return rx;
		}
	}
	return NULL;
}

static size_t unx_bytes(const struct wfi_unx *u)
{
	return sizeof(*u) + (u->m.buf ? u->m.len : 0);
}

bool wfi_rxq_room(const struct wfi_rxq *q, size_t bytes)
{
	return q->early_bytes + sizeof(struct wfi_unx) + bytes <= q->early_max;
}

void wfi_rxq_add(struct wfi_rxq *q, struct wfi_unx *u)
{
	q->early_bytes += unx_bytes(u);
	TAILQ_INSERT_TAIL(&q->early[!!(u->m.flags & WIRE_TAGGED)], u, link);
}

void wfi_rxq_take(struct wfi_rxq *q, struct wfi_unx *u)
{
	if (u->claimed) {
		TAILQ_REMOVE(&q->claimed, u, link);
		return;
	}
	TAILQ_REMOVE(&q->early[!!(u->m.flags & WIRE_TAGGED)], u, link);
	q->early_bytes -= unx_bytes(u);
}

static void unx_drop(struct wfi_rxq *q, struct wfi_unx_list *l,
		     struct wfi_ep *ep)
{
	struct wfi_unx *u, *next;

	for (u = TAILQ_FIRST(l); u; u = next) {
		next = TAILQ_NEXT(u, link);
		if (ep && u->m.ep != ep)
			continue;
		wfi_rxq_take(q, u);
		free(u);
	}
}

void wfi_rxq_drop(struct wfi_rxq *q, struct wfi_ep *ep)
{
	struct wfi_rx *rx;

	for (int i = 0; i < 2; i++) {
		unx_drop(q, &q->early[i], ep);
		while (!ep && (rx = TAILQ_FIRST(&q->posted[i]))) {
			wfi_rxq_remove(q, rx);
			free(rx);
		}
	}
	unx_drop(q, &q->claimed, ep);
}
