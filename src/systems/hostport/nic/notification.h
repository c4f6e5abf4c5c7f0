/* SPDX-License-Identifier: Apache-2.0 */
/* Notification unit (notification.c; hostport.md 4.9, 6): entries of
 * notification queues, and what waits for room in them. */
#ifndef SYSTEMS_HOSTPORT_NIC_NOTIFICATION_H
#define SYSTEMS_HOSTPORT_NIC_NOTIFICATION_H

#include "systems/hostport/nic/context_cache.h"
#include "weft/sim.h"

struct hp_nic;

struct hp_nqe {
	uint64_t w[HP_WORDS];
	uint16_t vpid;
	bool reserved; /* ends a reservation (4.9); else waits for room */
	/* W2 gets the pointer snapshot (6.2, PS) when it is written. */
	bool snapshot;
	uint64_t trace; /* of the message that it ends */
	/* There is no room: false, where it cannot wait for it.  May be NULL.
	 */
	bool (*waits)(struct hp_nic *n, struct hp_nqe *e);
	/* It has been handed to the bus; err: no such NQ, see ERR_LOG.  May be
	 * NULL. */
	void (*done)(struct hp_nic *n, struct hp_nqe *e, bool err);
	void *arg;
	/* notification.c's own */
	struct hp_ctx_req ctx;
	weft_phys_t at;
	bool irq;
	struct hp_nqe *next;
	struct hp_nqe *live, **live_at; /* all that are not done */
};
struct hp_notify {
	struct hp_nqe *wait; /* for room */
	uint16_t *cause;     /* by VPID: 13:9 error, 8:5 command, 4:0 parameter;
			      * made on first use */
	struct hp_status *pool, *all;
	uint32_t looking, writing, waiting; /* NQEs, by what they are at */
	struct hp_nqe *live;
};
/* Lent until done. */
void hp_notify(struct hp_nic *n, struct hp_nqe *e);
/* A status NQE is owed for this command (CSB13): merges with one that waits.
 * Called with the context, inside of done. */
void hp_notify_status(struct hp_nic *n, struct hp_ctx *c, uint32_t cmd,
		      uint32_t par, enum hp_err err);
/* NQ_RP of the context has moved, or its VCIs have been fetched: NQEs that wait
 * for room, and a status that is owed, may go. */
void hp_notify_room(struct hp_nic *n, struct hp_ctx *c);
/* Some NQE of the VPID is not done. */
bool hp_notify_holds(const struct hp_nic *n, uint32_t vpid);
/* The VPID has been closed: those that wait for room end. */
void hp_notify_again(struct hp_nic *n, uint32_t vpid);
/* RDR_RP, PRQ_WP or NQ_RP of the VPID has moved, or it has been closed: packets
 * that wait for room. */
void hp_rx_room(struct hp_nic *n, uint32_t vpid);
/* The queues of the completers or responders have room. */
void hp_rx_ready(struct hp_nic *n);
/* Free entries for new reservations (4.9). */
static inline uint32_t hp_nq_free(const struct hp_ctx *c, uint32_t nq_size)
{
	uint32_t used = hp_used((uint32_t)HP_CTX(c->w, HP_F_NQ_RP),
				(uint32_t)HP_CTX(c->w, HP_F_NQ_WP), nq_size);
	uint32_t taken = used + (uint32_t)HP_CTX(c->w, HP_F_NQ_RESV);

	return taken + 1 >= nq_size ? 0 : nq_size - 1 - taken;
}

#endif
