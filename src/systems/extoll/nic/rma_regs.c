/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of EXTOLL's RMA and ATU (extoll.md 2.6, 3.8). */
#include <assert.h>
#include <stdlib.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

static uint64_t vpid_get(const struct rma *r, enum extoll_rma_reg reg,
			 uint32_t i)
{
	const struct extoll_rma_vpid *v = extoll_rma_vpid(r, i);
	uint64_t n;

	if (!v)
		return 0;
	switch (reg) {
	case RMA_R_VPID:
		return v->ctl;
	case RMA_R_BASE:
		return v->base;
	case RMA_R_SIZE:
		return v->size;
	case RMA_R_WP:
		return v->wp;
	case RMA_R_PENDING:
		/* Counts the commands that the requester has not finished, and
		 * the notifications that have not left the NIC. */
		n = ex_htax_pending(r->nic, i);
		for (uint32_t k = r->q_head; k != r->q_tail; k++)
			n += r->queue[k % RMA_QUEUE].vpid == i;
		for (uint32_t k = r->req.head; k != r->req.tail; k++)
			n += r->req.op[k % RMA_TXOPS].cmd.vpid == i;
		return n;
	case RMA_R_RP:
		return v->rp | (v->armed ? RMA_RP_REARM : 0);
	default:
		return 0;
	}
}

uint64_t extoll_rma_reg_get(struct extoll_nic *n, enum extoll_rma_reg reg,
			    uint32_t i)
{
	const struct rma *r = n->rma;

	if (!r && (reg == RMA_R_CONFIG || reg == RMA_R_ATU_GATS))
		return reg == RMA_R_CONFIG ? RMA_C_RESET : n->gats;
	if (!r)
		return 0;
	switch (reg) {
	case RMA_R_CONFIG:
		return r->config;
	case RMA_R_LOCK_BASE:
		return r->lock.base;
	case RMA_R_LOCK_N:
		return r->lock.n;
	case RMA_R_ATU_ENABLE:
		return r->atu.enable;
	case RMA_R_ATU_COMMAND:
		return r->atu.tail - r->atu.head;
	case RMA_R_ATU_GAT:
		return atu_gat_get(&r->atu, i);
	case RMA_R_ATU_GATS:
		return n->gats;
	case RMA_R_ATU_FAULT:
		return r->atu.faults[i];
	default:
		return vpid_get(r, reg, i);
	}
}

static void vpid_set(struct rma *r, enum extoll_rma_reg reg, uint32_t i,
		     uint64_t val)
{
	struct extoll_rma_vpid *v = ex_vpid_make(&r->vpid, i, sizeof(*v));
	uint64_t now;

	switch (reg) {
	case RMA_R_VPID:
		v->ctl = val;
		if (!(val & RMA_V_ENABLE))
			v->armed = v->wanted = false;
		break;
	case RMA_R_BASE:
		v->base = val & ~63ULL;
		break;
	case RMA_R_SIZE:
		v->size = (uint32_t)val;
		v->wp = v->rp = 0;
		v->wanted = false;
		break;
	case RMA_R_RP:
		/* Ignores a pointer outside the ring. */
		if ((uint32_t)val < v->size)
			v->rp = (uint32_t)val;
		if (val & RMA_RP_REARM)
			v->armed = true;
		extoll_rma_look(r->nic, i);
		break;
	default:
		break;
	}
	/* Wake all units, because each may wait for room in the ring or for the
	 * VPID to be enabled. */
	now = ex_now(r->nic);
	extoll_rma_wake(r, &r->req.timer, EXTOLL_HX_RMA_REQ, now);
	extoll_rma_wake(r, &r->resp.timer, EXTOLL_HX_RMA_RESP, now);
	extoll_rma_wake(r, &r->in_timer, EXTOLL_HX_RMA_COMP, now);
}

void extoll_rma_reg_set(struct extoll_nic *n, enum extoll_rma_reg reg,
			uint32_t i, uint64_t val)
{
	struct rma *r = extoll_rma_make(n);

	switch (reg) {
	case RMA_R_CONFIG:
		r->config = val;
		break;
	case RMA_R_LOCK_BASE:
		r->lock.base = val & ~3ULL;
		break;
	case RMA_R_LOCK_N:
		r->lock.n = (uint32_t)val & 0xffffff;
		break;
	case RMA_R_ATU_ENABLE:
		r->atu.enable = val & 1;
		break;
	case RMA_R_ATU_COMMAND:
		atu_command(&r->atu, val);
		break;
	case RMA_R_ATU_GAT:
		if (i >= r->atu.n_gats)
			break;
		if (!r->atu.gat)
			r->atu.gat = calloc(r->atu.n_gats, sizeof(*r->atu.gat));
		assert(r->atu.gat);
		r->atu.gat[i] = (uint32_t)val;
		break;
	case RMA_R_ATU_GATS:
	case RMA_R_ATU_FAULT:
		break;
	default:
		vpid_set(r, reg, i, val);
	}
}

/* Hooks of the table's rows. */
#define X(id, name, off, n, step, acc, doc)                                    \
	uint64_t extoll_rma_##id##_read(struct weft_comp *c, uint32_t i)       \
	{                                                                      \
		return extoll_rma_reg_get(c->state, RMA_R_##id, i);            \
	}                                                                      \
	void extoll_rma_##id##_wrote(struct weft_comp *c, uint32_t i,          \
				     uint64_t val)                             \
	{                                                                      \
		extoll_rma_reg_set(c->state, RMA_R_##id, i, val);              \
	}
RMA_REGS(X)
#undef X
