/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of receives that wait for messages, and of messages that wait for
 * receives, in their order. The queues only match, and do not move data. */
#ifndef PROVIDER_RXQ_H
#define PROVIDER_RXQ_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "provider/hub.h"
#include "provider/op.h"

/* Sender that a receive accepts: a name, 0 for any sender, or RX_PORT | port
 * for any process with that port, because the process may be unknown yet. */
#define RX_PORT (1ull << 63)

struct wfi_rx {
	TAILQ_ENTRY(wfi_rx) link;
	bool tagged, multi, posted;
	bool quiet;
	uint64_t tag, ignore;
	wfi_name from;
	void *context;
	uint64_t flags;
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	/* Multi-receives: bytes used, smallest free space with which the
	 * receive stays posted, and number of messages in flight. */
	size_t used, least;
	unsigned pending;
};

/* A message, or the announcement of a long message. */
struct wfi_msg {
	struct wfi_ep *ep;
	struct wfi_peer *peer;
	wfi_name from;
	uint8_t flags; /* flags of wire.h */
	uint64_t tag, data;
	uint32_t id;
	size_t len;
	const void *buf; /* payload; NULL: the message was only announced */
};

/* A message that arrived before its receive. */
struct wfi_unx {
	TAILQ_ENTRY(wfi_unx) link;
	struct wfi_msg m;
	bool claimed;
	void *claim; /* context for which a peek has kept the message */
	char buf[];
};

TAILQ_HEAD(wfi_rx_list, wfi_rx);
TAILQ_HEAD(wfi_unx_list, wfi_unx);

struct wfi_rxq {
	struct wfi_rx_list posted[2]; /* receives of untagged and of tagged
				       * messages */
	struct wfi_unx_list early[2];
	struct wfi_unx_list claimed;
	size_t early_bytes, early_max; /* bytes in both early lists, and their
					* limit */
	size_t min_multi;
};

/* Makes an empty queue. */
void wfi_rxq_init(struct wfi_rxq *q);
/* Frees the early and the claimed messages of endpoint ep. With ep == NULL
 * frees all messages and all receives. */
void wfi_rxq_drop(struct wfi_rxq *q, struct wfi_ep *ep);
/* Returns the first posted receive that matches a message, or NULL. */
struct wfi_rx *wfi_rxq_find(struct wfi_rxq *q, bool tagged, wfi_name from,
			    uint64_t tag);
/* Returns the first early message that matches a receive, or NULL. */
struct wfi_unx *wfi_rxq_early(struct wfi_rxq *q, bool tagged, wfi_name from,
			      uint64_t tag, uint64_t ignore);
/* Returns the message that a peek has kept for this context, or NULL. */
struct wfi_unx *wfi_rxq_claimed(struct wfi_rxq *q, void *context);
/* Keeps a message for a context. */
void wfi_rxq_claim(struct wfi_rxq *q, struct wfi_unx *u, void *context);
/* Queues a receive. */
void wfi_rxq_post(struct wfi_rxq *q, struct wfi_rx *rx);
/* Removes the receive with this context. Returns the receive, which the caller
 * frees, or NULL. */
struct wfi_rx *wfi_rxq_cancel(struct wfi_rxq *q, void *context);
/* Removes a receive from its queue. */
void wfi_rxq_remove(struct wfi_rxq *q, struct wfi_rx *rx);
/* Returns true if the queue has room for an early message with `bytes` of
 * data. */
bool wfi_rxq_room(const struct wfi_rxq *q, size_t bytes);
/* Queues an early message. */
void wfi_rxq_add(struct wfi_rxq *q, struct wfi_unx *u);
/* Removes a message from its queue. */
void wfi_rxq_take(struct wfi_rxq *q, struct wfi_unx *u);

#endif
