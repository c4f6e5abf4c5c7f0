/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA: notifications and their rings (extoll.md 3.6, 2.7).
 *
 * The three units share the ring of a VPID: each takes the next slot when it
 * issues its write. A ring is full when (WP + 1) mod N is the read pointer that
 * software wrote last. The unit then waits. R1's packets do not carry option
 * INT. Therefore an armed ring interrupts on every notification of responder
 * and completer. Notifications of the requester interrupt only if the command
 * had INT. Software may arm the ring while an unread notification that
 * interrupts is already in the ring. Then the interrupt follows at once,
 * because that notification may have crossed the store that arms the ring. */
#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

uint64_t extoll_rma_noti_pack(const struct extoll_rma_cmd *c, uint32_t unit,
			      uint32_t error)
{
	return RMA_N_MAKE(c->low, c->far_vpid, c->far_node, unit, c->op,
			  (c->opt & RMA_OPT_RRA ? RMA_MODE_RRA : 0) |
				  (c->opt & RMA_OPT_INT ? RMA_MODE_IRQ : 0) |
				  (c->opt & RMA_OPT_TE ? RMA_MODE_TE : 0) |
				  (c->mods & RMA_MOD_EWA ? RMA_MODE_EWA : 0) |
				  (c->mods & RMA_MOD_NTR ? RMA_MODE_NTR : 0) |
				  (c->mods & RMA_MOD_ERA ? RMA_MODE_ERA : 0),
			  error);
}

bool extoll_rma_wants_noti(const struct rma *r, const struct extoll_rma_cmd *c,
			   uint32_t unit, enum extoll_rma_bad bad)
{
	if (!(extoll_rma_vpid_ctl(r, c->vpid) & RMA_V_ENABLE))
		return false;
	return c->spec & unit || (bad && r->config & RMA_C_FORCE);
}

/* Requests the interrupt once HTAX has granted the notification's write, so
 * that the event follows the notification. */
static void noti_sent(struct extoll_nic *n, struct hx_pkt *p)
{
	struct extoll_rma_vpid *v =
		extoll_rma_vpid(n->rma, (uint32_t)p->user[0]);

	v->wanted = true;
	v->late = RMA_N_NODE(p->user[1]);
	extoll_rma_look(n, (uint32_t)p->user[0]);
}

void extoll_rma_look(struct extoll_nic *n, uint32_t vpid)
{
	struct extoll_rma_vpid *v =
		n->rma ? extoll_rma_vpid(n->rma, vpid) : NULL;

	if (!v)
		return;
	if (v->rp == v->wp)
		v->wanted = false;
	if (v->wanted && v->armed &&
	    ex_event_vpid(n, EXTOLL_EV_RMA_IRQ, vpid, v->late))
		v->armed = v->wanted = false;
}

bool extoll_rma_notify(struct rma *r, enum extoll_htax_port port, uint32_t vpid,
		       uint64_t w0, uint64_t w1, uint64_t trace)
{
	struct extoll_rma_vpid *v = extoll_rma_vpid(r, vpid);
	uint64_t w[2] = { w0, w1 };
	struct hx_pkt *p;

	if (!v->size) /* a ring without slots drops each notification */
		return true;
	if ((v->wp + 1) % v->size == v->rp)
		return false;
	p = ex_pkt_write(r->nic, v->base + (uint64_t)v->wp * RMA_NOTI_BYTES,
			 RMA_NOTI_BYTES);
	memcpy(weft_slice_data(p->txn.data), w, sizeof(w));
	/* A requester's notification interrupts only if the command had INT. */
	if (port != EXTOLL_HX_RMA_REQ || RMA_N_MODE(w1) & RMA_MODE_IRQ)
		p->sent = noti_sent;
	p->box = (uint16_t)(vpid + 1);
	p->user[0] = vpid;
	p->user[1] = w1;
	p->txn.trace_id = trace;
	p->txn.trace_last = true;
	ex_htax_send(r->nic, port, p, ex_now(r->nic));
	extoll_rma_count(r->nic, RMA_K_NOTIFICATIONS, 1);
	v->wp = (v->wp + 1) % v->size;
	return true;
}
