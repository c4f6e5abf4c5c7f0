/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of messages (hostport.md 4.6, 4.8): words of the receive data
 * region, or the next posted buffer. Without space the packet waits
 * (receiver_room.c). */
#include "systems/hostport/nic/completer.h"

/* Refuses the message. Nothing is stored. Stage STORE sends the answer, and
 * stage FINISH notifies. */
static void place_refuse(struct hp_nic *n, struct hp_cpl *q, enum hp_err err)
{
	q->in.err = err;
	hp_cpl_done(n, q);
}

/* Reserves an entry of the notification queue and returns true, if the message
 * has space and an entry is free. Otherwise queues the packet until its
 * receiver has room, and returns false. */
static bool place_room(struct hp_nic *n, struct hp_cpl *q, struct hp_ctx *c,
		       bool space)
{
	space = space && hp_rx_first(n, &q->in);
	if (space && hp_room_entry(n, &q->in, c))
		return true;
	hp_rx_wait(n, &q->in, c, space);
	return false;
}

/* ---- RDR ---- */

static void place_rdr(struct hp_nic *n, struct hp_cpl *q, struct hp_ctx *c)
{
	uint32_t size = hp_in_size(&q->in), have = (size + 7) / 8;
	uint64_t unit =
		1ull
		<< n->reg.rdr_unit; /* RDR pointers move by whole units (7.3) */
	uint64_t words = (have + unit - 1) & ~(unit - 1);
	uint32_t rp = (uint32_t)HP_CTX(c->w, HP_F_RDR_RP);
	uint32_t wp = (uint32_t)HP_CTX(c->w, HP_F_RDR_WP), start;

	if (words >= n->reg.rdr_size || size > HP_BYTES_MAX) {
		/* Refuses a message that is longer than the region, because it
		 * would wait for ever. The specification has no code for this
		 * error. The code here is a segmentation fault, like that of a
		 * SEND outside the send region (SDR). */
		hp_rx_unwait(n, &q->in, c);
		place_refuse(n, q, HP_ERR_TWINID);
		return;
	}
	if (!place_room(n, q, c,
			hp_used(rp, wp, n->reg.rdr_size) + words <
				n->reg.rdr_size))
		return;
	wp = hp_next(wp, (uint32_t)words, n->reg.rdr_size);
	HP_CTX_SET(c->w, HP_F_RDR_WP, wp);
	hp_ctx_dirty(c);
	hp_rx_unwait(n, &q->in, c);
	q->in.snap |= wp;
	start = wp >= have ? wp - have : wp + n->reg.rdr_size - have;
	hp_walk_ring(&q->push.walk, HP_BASE(c->w, HP_F_RDR_BASE),
		     8ull * n->reg.rdr_size, 8ull * start, size);
	hp_cpl_store(n, q, size);
}

/* ---- posted ---- */

/* Refuses a physical buffer that ends beyond memory (PR4). */
static void prd_probed(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_cpl *q = d->arg;
	uint64_t len = q->prd[HP_PRD_LEN], size = hp_in_size(&q->in);

	if (d->txn.status != WEFT_BUS_OK)
		q->in.err = HP_ERR_POSTED_PA_INV;
	if (--q->probes)
		return;
	if (q->in.err) {
		hp_cpl_done(n, q);
		return;
	}
	q->in.err = size > len ? HP_ERR_POSTED_TRUNC : HP_ERR_NOERR;
	hp_walk_phys(&q->push.walk, q->prd[HP_PRD_ADDR],
		     (uint32_t)(size < len ? size : len));
	hp_cpl_store(n, q, q->push.walk.bytes);
}

static void prd_phys(struct hp_nic *n, struct hp_cpl *q)
{
	uint64_t pa = q->prd[HP_PRD_ADDR], len = q->prd[HP_PRD_LEN];

	if (!(q->in.flags & HP_CTX_PR_PA)) {
		place_refuse(n, q, HP_ERR_POSTED_PA);
		return;
	}
	if (pa & 7 || len & 7 || pa >> 52 || len >> 40) {
		place_refuse(n, q, HP_ERR_POSTED_PA_INV);
		return;
	}
	if (!len) {
		place_refuse(n, q, HP_ERR_POSTED_TRUNC);
		return;
	}
	q->probes = 2;
	hp_dma_read(n, pa, 8, prd_probed, q);
	hp_dma_read(n, pa + len - 8, 8, prd_probed, q);
}

static void prd_read(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_cpl *q = d->arg;
	uint64_t len, size = hp_in_size(&q->in);

	memcpy(q->prd, weft_slice_data(d->txn.data), HP_LINE);
	if (d->txn.status != WEFT_BUS_OK)
		memset(q->prd, 0, HP_LINE);
	len = q->prd[HP_PRD_LEN];
	if (!(q->prd[HP_PRD_FLAGS] & HP_PRD_VALID)) {
		place_refuse(n, q, HP_ERR_POSTED_PA_INV); /* our own */
		return;
	}
	if (q->prd[HP_PRD_FLAGS] & HP_PRD_PA) {
		prd_phys(n, q);
		return;
	}
	if (size > len)
		q->in.err = HP_ERR_POSTED_TRUNC;
	if (!len) {
		hp_cpl_done(n, q);
		return;
	}
	hp_walk_virt(n, &q->push.walk, q->in.head.vpid, q->prd[HP_PRD_ADDR],
		     (uint32_t)(size < len ? size : len), true);
	hp_cpl_store(n, q, q->push.walk.bytes);
}

/* ---- both kinds of buffers ---- */

void hp_place_recv(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	uint32_t rp = (uint32_t)HP_CTX(c->w, HP_F_PRQ_RP), next;
	struct hp_cpl *q = r->arg;

	q->in.asking = false;
	if (!hp_in_usable(n, &q->in, c)) { /* closed meanwhile */
		hp_rx_unwait(n, &q->in, c);
		hp_cpl_done(n, q);
		return;
	}
	if (!(q->in.flags & HP_CTX_PR_EN)) {
		place_rdr(n, q, c);
		return;
	}
	if (!place_room(n, q, c, rp != HP_CTX(c->w, HP_F_PRQ_WP)))
		return;
	next = hp_next(rp, 1, n->reg.prq_size);
	HP_CTX_SET(c->w, HP_F_PRQ_RP, next);
	hp_ctx_dirty(c);
	hp_rx_unwait(n, &q->in, c);
	q->posted = true;
	q->in.snap |= next;
	hp_dma_read(n, HP_BASE(c->w, HP_F_PRQ_BASE) + (uint64_t)HP_LINE * rp,
		    HP_LINE, prd_read, q);
}
