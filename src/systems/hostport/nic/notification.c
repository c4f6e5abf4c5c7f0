/* SPDX-License-Identifier: Apache-2.0 */
/* Notification unit (hostport.md 4.9, 6, 7.5 CSB13).
 *
 * unit -> context -> entry of the NQ (NQ_WP++) -> t_nqe -> 64 bytes -> irq
 *
 * An NQE without a reservation that finds no room waits, in order with other
 * NQEs of its VPID, so that none is overwritten or dropped. Status NQEs merge:
 * a requested status is only a bit of the context (STAT) until its NQE is
 * written. cause[] keeps the last command that requested the status. */
#include <stdlib.h>

#include "systems/hostport/nic/functional_units.h"
#include "systems/hostport/nic/pool.h"

struct hp_status { /* a status NQE in flight */
	struct hp_nqe e;
	struct hp_status *next, *chain;
};

/* ---- marks and levels for listeners ---- */

static void notification_tell(const struct hp_nic *n)
{
	const struct hp_notify *u = &n->notify;

	if (!weft_heard_kind(n->comp, WEFT_TRACE_STATE))
		return;
	weft_state(n->comp, "notification",
		   u->waiting	? "FULL"
		   : u->writing ? "WRITE"
		   : u->looking ? "LOOKUP"
				: "IDLE",
		   weft_now(n->comp));
	weft_level(n->comp, "notifications", WEFT_TRACE_ONE,
		   u->looking + u->writing + u->waiting, weft_now(n->comp));
}

/* ---- list of all entries ---- */

static void live_add(struct hp_notify *u, struct hp_nqe *e)
{
	e->live = u->live;
	e->live_at = &u->live;
	if (e->live)
		e->live->live_at = &e->live;
	u->live = e;
}

static void live_end(struct hp_nqe *e)
{
	*e->live_at = e->live;
	if (e->live)
		e->live->live_at = e->live_at;
}

/* ---- writing ---- */

static void nqe_handed(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_nqe *e = d->arg;

	hp_count(n, HP_K_NQES, 1);
	n->notify.writing--;
	notification_tell(n);
	if (d->user)
		hp_irq_vpid(n, e->vpid);
	live_end(e);
	if (e->done)
		e->done(n, e->arg);
}

/* Writes the entry to the address that nqe_place() chose, and interrupts if
 * nqe_place() decided so. */
static void nqe_write(struct hp_nic *n, void *arg)
{
	struct hp_nqe *e = arg;
	struct hp_dma *d;

	hp_mark(n, e->trace, "notification unit");
	d = hp_dma_put(n, e->at, e->w, HP_LINE, nqe_handed, e);
	d->user = e->irq;
	d->txn.trace_id = e->trace;
}

/* Takes the next entry of the queue for the notification. */
static void nqe_place(struct hp_nic *n, struct hp_nqe *e, struct hp_ctx *c)
{
	uint32_t wp = (uint32_t)HP_CTX(c->w, HP_F_NQ_WP);
	uint32_t err = HP_CMD_ERR(HP_NQE_CMD(e->w));

	HP_CTX_SET(c->w, HP_F_NQ_WP, hp_next(wp, 1, n->reg.nq_size));
	if (e->reserved)
		HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) - 1);
	if (err)
		HP_CTX_SET(c->w, HP_F_LAST_ERR, err);
	if (e->snapshot)
		e->w[2] = HP_PS(HP_CTX(c->w, HP_F_WQ_RP),
				HP_CTX(c->w, HP_F_RDR_WP));
	hp_ctx_dirty(c);
	e->at = HP_BASE(c->w, HP_F_NQ_BASE) + (uint64_t)HP_LINE * wp;
	e->irq = c->w[0] & HP_CTX_IRQ_EN;
	n->notify.writing++;
	notification_tell(n);
	hp_after(n, n->param.t_nqe, nqe_write, e);
}

/* ---- waiting for room ---- */

bool hp_notify_waits(const struct hp_nic *n, uint32_t vpid)
{
	for (const struct hp_nqe *e = n->notify.wait; e; e = e->next)
		if (e->vpid == vpid)
			return true;
	return false;
}

void hp_stall_update(struct hp_nic *n, struct hp_ctx *c)
{
	bool stall = hp_notify_waits(n, c->vpid) || hp_rx_waits(n, c->vpid);
	uint64_t w =
		stall ? c->w[0] | HP_CTX_STALL_RX : c->w[0] & ~HP_CTX_STALL_RX;

	if (w == c->w[0])
		return;
	c->w[0] = w;
	hp_ctx_dirty(c);
}

static void nqe_context(struct hp_nic *n, struct hp_ctx_req *r,
			struct hp_ctx *c)
{
	struct hp_nqe *e = r->arg, **at = &n->notify.wait;
	bool on = c->w[0] & HP_CTX_EN;

	n->notify.looking--;
	/* no entry can be reserved for the NQE, because no instruction of this
	 * VPID expects an answer */
	if (!HP_CTX(c->w, HP_F_NQ_RESV))
		e->reserved = false;
	if (on && (e->reserved || (hp_nq_free(c, n->reg.nq_size) &&
				   !hp_notify_waits(n, c->vpid)))) {
		nqe_place(n, e, c);
		return;
	}
	/* A notification without a queue, or one that may be dropped, is only
	 * recorded in the error log (N7). */
	if (!on || n->param.nq_full_policy || !hp_csb_on(&n->csb, e->vpid) ||
	    (e->waits && !e->waits(n, e->arg))) {
		notification_tell(n);
		hp_err_log(n, HP_NQE_CMD(e->w), e->vpid);
		live_end(e);
		if (e->done)
			e->done(n, e->arg);
		return;
	}
	while (*at)
		at = &(*at)->next;
	e->next = NULL;
	*at = e;
	hp_count(n, HP_K_NQE_WAITS, 1);
	n->notify.waiting++;
	notification_tell(n);
	hp_stall_update(n, c);
}

static void notification_look(struct hp_nic *n, struct hp_nqe *e)
{
	e->ctx.vpid = e->vpid;
	e->ctx.done = nqe_context;
	e->ctx.arg = e;
	n->notify.looking++;
	notification_tell(n);
	hp_ctx_get(n, &e->ctx);
}

void hp_notify(struct hp_nic *n, struct hp_nqe *e)
{
	live_add(&n->notify, e);
	notification_look(n, e);
}

/* ---- status ---- */

static void status_done(struct hp_nic *n, void *arg)
{
	struct hp_status *s = arg;

	hp_pool_put(n->notify.pool, s);
}

/* Writes the status NQE once the queue has room and all VCIs that were
 * triggered before were fetched or are parked (T15). The pointers in the status
 * NQE already count its own entry (T13, O14). */
static void status_try(struct hp_nic *n, struct hp_ctx *c)
{
	bool behind =
		HP_CTX(c->w, HP_F_WQ_PEND) && !(c->w[0] & HP_CTX_STALL_NQ);
	uint32_t wp = (uint32_t)HP_CTX(c->w, HP_F_NQ_WP), cause = 0;
	struct hp_nqe *e;
	struct hp_status *s;

	if (!(c->w[0] & HP_CTX_STAT) || behind ||
	    !hp_nq_free(c, n->reg.nq_size))
		return;
	c->w[0] &= ~HP_CTX_STAT;
	/* STAT may be set although no command requested a status, because the
	 * driver can write contexts. */
	if (n->notify.cause)
		cause = n->notify.cause[c->vpid];
	s = hp_pool_take(n->notify.pool, n->notify.all);
	e = &s->e;
	*e = (struct hp_nqe){ .vpid = c->vpid, .done = status_done, .arg = s };
	e->w[0] = HP_STATUS_W0(c->w[0], cause >> 5 & 15, cause & 31);
	e->w[1] = HP_CTX(c->w, HP_F_WQ_RP);
	e->w[2] = HP_PS(HP_CTX(c->w, HP_F_RDR_RP), HP_CTX(c->w, HP_F_RDR_WP));
	e->w[3] =
		HP_PS(HP_CTX(c->w, HP_F_NQ_RP), hp_next(wp, 1, n->reg.nq_size));
	e->w[4] = HP_PS(HP_CTX(c->w, HP_F_PRQ_RP), HP_CTX(c->w, HP_F_PRQ_WP));
	e->w[7] = HP_NQE_W7(HP_CMD(cause >> 9, HP_G_PORT, HP_B_NOTIFY_CC),
			    n->reg.hpid, c->vpid);
	live_add(&n->notify, e);
	nqe_place(n, e, c);
}

void hp_notify_status(struct hp_nic *n, struct hp_ctx *c, uint32_t cmd,
		      uint32_t par, enum hp_err err)
{
	struct hp_notify *u = &n->notify;

	if (!u->cause)
		u->cause = need(calloc(HP_VPIDS, sizeof(*u->cause)));
	/* keeps the earlier error when commands merge */
	if (!err && c->w[0] & HP_CTX_STAT)
		err = u->cause[c->vpid] >> 9;
	u->cause[c->vpid] =
		(uint16_t)((uint32_t)err << 9 | (cmd & 15) << 5 | (par & 31));
	c->w[0] |= HP_CTX_STAT;
	hp_ctx_dirty(c);
	status_try(n, c);
}

void hp_notify_room(struct hp_nic *n, struct hp_ctx *c)
{
	struct hp_nqe **at = &n->notify.wait, *e;

	while ((e = *at) && hp_nq_free(c, n->reg.nq_size)) {
		if (e->vpid != c->vpid) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		hp_mark(n, e->trace, "notification waits for room");
		n->notify.waiting--;
		nqe_place(n, e, c);
	}
	hp_stall_update(n, c);
	hp_rx_room(n, c->vpid);
	status_try(n, c);
}

void hp_notify_again(struct hp_nic *n, uint32_t vpid)
{
	struct hp_nqe **at = &n->notify.wait, *e;

	while ((e = *at)) {
		if (e->vpid != vpid) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		n->notify.waiting--;
		notification_look(n, e);
	}
}

/* ---- the block ---- */

static void notify_fini(struct hp_nic *n)
{
	hp_pool_free(n->notify.all);
	free(n->notify.cause);
}

const struct hp_block hp_notify_block = {
	.name = "notify",
	.fini = notify_fini,
};
