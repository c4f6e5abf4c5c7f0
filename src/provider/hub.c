/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and end of hubs. Each attachment of the process has one hub. */
#include "provider/hub.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "provider/bulk.h"
#include "provider/op.h"

/* The hubs of this process. They are static, because libfabric has no storage
 * for the state of a provider. */
static struct wfi_hubs {
	pthread_mutex_t lock;
	struct wfi_hub *first;
	uint16_t made;
} wfi_hubs_ = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t wfi_real_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct wfi_hub *hub_new(struct weft_att *att)
{
	struct wfi_hub *h = calloc(1, sizeof(*h));
	pthread_mutexattr_t attr;

	if (!h)
		return NULL;
	h->att = att;
	h->ep = weft_att_ep(att);
	h->info = weft_att_info(att);
	wfi_calls_open(h);
	h->self = WEFT_ATT_ADDR(h->info->node, h->info->slot);
	h->eager = h->info->max_msg < WIRE_MAX ? 0 : WIRE_ROOM;
	h->next_port = 0x8000;
	pthread_mutexattr_init(&attr);
	/* The lock is recursive, because a counter may start work that takes
	 * the lock again. */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&h->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	TAILQ_INIT(&h->busy);
	TAILQ_INIT(&h->live);
	TAILQ_INIT(&h->again);
	TAILQ_INIT(&h->idle);
	STAILQ_INIT(&h->loop);
	h->scratch = malloc(WIRE_MAX);
	if (h->scratch && h->eager)
		return h;
	free(h->scratch);
	free(h);
	return NULL;
}

/* Returns the hub, and makes it if necessary. Each hub holds one reference of
 * the attachment, however many users the hub has. */
int wfi_hub_get(struct wfi_hub **h_p)
{
	struct weft_att *att;
	struct wfi_hub *h;
	int rc = weft_att_open(&att);

	if (rc)
		return rc;
	pthread_mutex_lock(&wfi_hubs_.lock);
	for (h = wfi_hubs_.first; h && h->att != att; h = h->next)
		;
	if (h) {
		h->refs++;
		weft_att_close(att);
	} else if ((h = hub_new(att))) {
		h->refs = 1;
		h->gen = wfi_hubs_.made++;
		h->next = wfi_hubs_.first;
		wfi_hubs_.first = h;
	} else {
		weft_att_close(att);
		rc = -ENOMEM;
	}
	pthread_mutex_unlock(&wfi_hubs_.lock);
	*h_p = h;
	return rc;
}

static void pkts_free(struct wfi_pkts *q)
{
	struct wfi_pkt *k;

	while ((k = STAILQ_FIRST(q))) {
		STAILQ_REMOVE_HEAD(q, link);
		free(k);
	}
}

/* Sends queued messages and waits until all operations have ended. Waits for
 * half a second at most, because a peer may never receive. Returns true if no
 * message, operation or registration of the hub remains, or if the simulator
 * has gone. */
static bool hub_flush(struct wfi_hub *h)
{
	uint64_t end = wfi_real_us() + 500000;
	bool rests;

	wfi_lock(h);
	for (;;) {
		rests = weft_att_gone(h->att) ||
			(TAILQ_EMPTY(&h->busy) && STAILQ_EMPTY(&h->loop) &&
			 TAILQ_EMPTY(&h->live) && wfi_regs_drop(h));
		if (rests || wfi_real_us() >= end)
			break;
		if (wfi_hub_progress(h))
			continue;
		wfi_unlock(h);
		weft_att_wait(h->att, 1000);
		wfi_lock(h);
	}
	wfi_unlock(h);
	return rests;
}

/* Drops one user of the hub. A hub with operations in flight or registered
 * memory is not freed, because the attachment may have other users. */
void wfi_hub_put(struct wfi_hub *h)
{
	pthread_mutex_lock(&wfi_hubs_.lock);
	if (!--h->refs && hub_flush(h)) {
		struct wfi_hub **at;

		for (at = &wfi_hubs_.first; *at != h; at = &(*at)->next)
			;
		*at = h->next;
		weft_att_close(h->att);
		map_foreach(&h->peers, it)
		{
			struct wfi_peer *p = (void *)(uintptr_t)it->val;

			pkts_free(&p->queue);
			map_foreach(&p->regions, r)
				free((void *)(uintptr_t)r->val);
			map_free(&p->regions);
			free(p);
		}
		map_foreach(&h->asks, a) free((void *)(uintptr_t)a->val);
		pkts_free(&h->loop);
		wfi_ops_free(h);
		map_free(&h->peers);
		map_free(&h->ports);
		map_free(&h->asks);
		pthread_mutex_destroy(&h->lock);
		free(h->scratch);
		free(h);
	}
	pthread_mutex_unlock(&wfi_hubs_.lock);
}
