/* SPDX-License-Identifier: Apache-2.0 */
/* Receives that wait for messages and messages that wait for receives, in
 * order.  Only the matching; nothing here knows how data move. */
#ifndef PROVIDER_RXQ_H
#define PROVIDER_RXQ_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "provider/hub.h"
#include "provider/op.h"

/* From a name; 0: from anybody; RX_PORT | port: from whoever has the port. */
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
	/* multi: what has been used, and the messages still on their way */
	size_t used, least;
	unsigned pending;
};

/* A message, or the announcement of one. */
struct wfi_msg {
	struct wfi_ep *ep;
	struct wfi_peer *peer;
	wfi_name from;
	uint8_t flags; /* of wire.h */
	uint64_t tag, data;
	uint32_t id;
	size_t len;
	const void *buf; /* NULL: announced only */
};

/* One that nobody has asked for. */
struct wfi_unx {
	TAILQ_ENTRY(wfi_unx) link;
	struct wfi_msg m;
	bool claimed;
	void *claim; /* context */
	char buf[];
};

TAILQ_HEAD(wfi_rx_list, wfi_rx);
TAILQ_HEAD(wfi_unx_list, wfi_unx);

struct wfi_rxq {
	struct wfi_rx_list posted[2]; /* msg, tagged */
	struct wfi_unx_list early[2];
	struct wfi_unx_list claimed;
	size_t early_bytes, early_max; /* of both lists of early ones */
	size_t min_multi;
};

void wfi_rxq_init(struct wfi_rxq *q);
/* All of it, or what belongs to one endpoint. */
void wfi_rxq_drop(struct wfi_rxq *q, struct wfi_ep *ep);
/* The first posted receive that takes such a message. */
struct wfi_rx *wfi_rxq_find(struct wfi_rxq *q, bool tagged, wfi_name from,
			    uint64_t tag);
/* The first early message that such a receive takes. */
struct wfi_unx *wfi_rxq_early(struct wfi_rxq *q, bool tagged, wfi_name from,
			      uint64_t tag, uint64_t ignore);
struct wfi_unx *wfi_rxq_claimed(struct wfi_rxq *q, void *context);
void wfi_rxq_claim(struct wfi_rxq *q, struct wfi_unx *u, void *context);
void wfi_rxq_post(struct wfi_rxq *q, struct wfi_rx *rx);
struct wfi_rx *wfi_rxq_cancel(struct wfi_rxq *q, void *context);
void wfi_rxq_remove(struct wfi_rxq *q, struct wfi_rx *rx);
/* There is room for an early message with that much data. */
bool wfi_rxq_room(const struct wfi_rxq *q, size_t bytes);
void wfi_rxq_add(struct wfi_rxq *q, struct wfi_unx *u);
/* Takes the message out of the queue it is in. */
void wfi_rxq_take(struct wfi_rxq *q, struct wfi_unx *u);

#endif
