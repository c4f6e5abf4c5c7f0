/* SPDX-License-Identifier: Apache-2.0 */
/* Notification unit (notification.c; hostport.md 4.9, 6): entries of
 * notification queues, and entries that wait for room in them. */
#ifndef SYSTEMS_HOSTPORT_NIC_NOTIFICATION_H
#define SYSTEMS_HOSTPORT_NIC_NOTIFICATION_H

#include "systems/hostport/nic/context_cache.h"
#include "weft/sim.h"

struct hp_nic;

struct hp_nqe {
	uint64_t w[HP_WORDS];
	uint16_t vpid;
	/* The entry uses a reservation (4.9). Without one it may have to wait
	 * for room. */
	bool reserved;
	/* W2 is set to the pointer snapshot (6.2, PS) when the entry is
	 * written. */
	bool snapshot;
	uint64_t trace; /* id of the listeners' message that ends with the
			   entry, or 0 */
	/* Called with arg when the queue has no room. Returns false when the
	 * entry cannot wait. May be NULL. */
	bool (*waits)(struct hp_nic *n, void *arg);
	/* Called with arg when the entry was handed to the bus, or was put into
	 * ERR_LOG because it has no NQ. May be NULL. */
	void (*done)(struct hp_nic *n, void *arg);
	void *arg;
	/* state of notification.c */
	struct hp_ctx_req ctx;
	weft_phys_t at;
	bool irq;
	struct hp_nqe *next;
	/* list of the entries that are not done */
	struct hp_nqe *live, **live_at;
};
struct hp_notify {
	struct hp_nqe *wait; /* entries that wait for room */
	/* command that requested the pending status of each VPID (13:9 error,
	 * 8:5 command, 4:0 parameter). Allocated on first use */
	uint16_t *cause;
	struct hp_status *pool, *all;
	/* numbers of entries whose context is being read, that are being
	 * written, and that wait for room */
	uint32_t looking, writing, waiting;
	struct hp_nqe *live;
};
/* Writes an entry. The unit keeps the pointer until it calls done. */
void hp_notify(struct hp_nic *n, struct hp_nqe *e);
/* Requests a status NQE for this command (CSB13). The status merges with a
 * status of the context that is already pending. Called inside done of the
 * context request. */
void hp_notify_status(struct hp_nic *n, struct hp_ctx *c, uint32_t cmd,
		      uint32_t par, enum hp_err err);
/* Retries entries that wait for room, and a pending status, because NQ_RP of
 * the context has moved or its VCIs were fetched. */
void hp_notify_room(struct hp_nic *n, struct hp_ctx *c);
/* Retries the entries of a closed VPID that wait for room. They end, because
 * the context is off. */
void hp_notify_again(struct hp_nic *n, uint32_t vpid);
/* Retries packets that wait for room in the queues of a VPID, because RDR_RP,
 * PRQ_WP or NQ_RP of the VPID has moved, or because the VPID was closed. */
void hp_rx_room(struct hp_nic *n, uint32_t vpid);
/* Retries packets that wait for the queues of the completers or responders,
 * because the queues have room again. */
void hp_rx_ready(struct hp_nic *n);
/* Returns how many entries are free for new reservations (4.9). */
static inline uint32_t hp_nq_free(const struct hp_ctx *c, uint32_t nq_size)
{
	uint32_t used = hp_used((uint32_t)HP_CTX(c->w, HP_F_NQ_RP),
				(uint32_t)HP_CTX(c->w, HP_F_NQ_WP), nq_size);
	uint32_t taken = used + (uint32_t)HP_CTX(c->w, HP_F_NQ_RESV);

	return taken + 1 >= nq_size ? 0 : nq_size - 1 - taken;
}

#endif
