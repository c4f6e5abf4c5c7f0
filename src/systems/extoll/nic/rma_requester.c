/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA requester: descriptors to packets (extoll.md 3.4, 5.3).
 *
 * A descriptor is one HT packet of 24 bytes at the start of a requester page.
 * Other stores are counted and dropped. The queue holds 16 descriptors. While
 * it is full, HTAX and the host's posted queue wait. */
#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

bool extoll_rma_req_room(struct extoll_nic *n, uint32_t flying)
{
	struct rma *r = extoll_rma_make(n);

	return r->q_tail - r->q_head + flying < RMA_QUEUE;
}

static void req_tell(const struct rma *r)
{
	weft_level(r->nic->comp, "rma_commands", WEFT_TRACE_ONE,
		   r->q_tail - r->q_head, weft_now(r->nic->comp));
}

void extoll_rma_req_store(struct extoll_nic *n, const struct hx_store *s)
{
	struct rma *r = extoll_rma_make(n);
	struct extoll_rma_desc d = { .vpid = (uint8_t)EXTOLL_PAGE_VPID(s->off),
				     .opt = (uint8_t)EXTOLL_RMA_OPT(s->off) };

	if (s->off % EXTOLL_PAGE || s->bytes != RMA_DESC_BYTES) {
		extoll_rma_count(r->nic, RMA_K_BAD_COMMANDS, 1);
		ex_event(r->nic, EXTOLL_EV_RMA_ERROR, d.vpid, 0,
			 RMA_BAD_FORMAT | RMA_REQUESTER << 8);
		return;
	}
	memcpy(d.w, s->data, RMA_DESC_BYTES);
	d.trace = s->trace;
	r->queue[r->q_tail++ % RMA_QUEUE] = d;
	req_tell(r);
	extoll_rma_tx_run(&r->req);
}

static bool req_waits(const struct rma *r)
{
	return r->q_head != r->q_tail;
}

static void req_take(struct rma *r, struct extoll_rma_txop *op)
{
	const struct extoll_rma_desc *d = &r->queue[r->q_head++ % RMA_QUEUE];
	uint32_t mtu = RMA_C_MTU(r->config) * 64;

	/* an invalid descriptor is refused at the end of CMD */
	op->bad = extoll_rma_desc_decode(d, extoll_rma_vpid_ctl(r, d->vpid),
					 mtu, &op->cmd);
	op->cmd.trace = d->trace;
	req_tell(r);
	ex_htax_go(r->nic);
}

static enum extoll_rma_bad req_check(struct rma *r, struct extoll_rma_txop *op)
{
	const struct extoll_rma_cmd *c = &op->cmd;
	bool get = c->op == RMA_GET_BT || c->op == RMA_GET_QW;
	bool put = c->op == RMA_PUT_BT || c->op == RMA_PUT_QW;
	struct weft_frame *f;

	/* the local address, which for a get is the write address */
	op->w0 = c->w[get];
	if (!(extoll_rma_vpid_ctl(r, c->vpid) & RMA_V_ENABLE))
		return RMA_BAD_VPID;
	if (op->bad)
		return op->bad;
	/* A get goes to the responder, a put to the completer. A lock names its
	 * unit. */
	op->f = f = weft_frame_new(r->nic->comp->sim);
	if (!ex_route(r->nic, f, c->far_node,
		      get || c->at_resp ? EX_NP_RESP : EX_NP_RMA,
		      extoll_rma_words(c->op), 0))
		return RMA_BAD_ROUTE;
	f->u[0] = extoll_rma_h0(c, r->nic->place.node);
	ex_pd_set(f, RMA_V_PD(extoll_rma_vpid_ctl(r, c->vpid)));
	/* The packet of a put carries only the write address. */
	f->u[1] = c->w[put];
	f->u[2] = c->w[1];
	if (put) {
		op->bytes = c->bytes;
		op->from = c->w[0];
		op->physical = !(c->opt & RMA_OPT_TE);
	}
	return RMA_FINE;
}

const struct extoll_rma_tx_type extoll_rma_requester = {
	.name = "requester",
	.machine = "rma_requester",
	.port = EXTOLL_HX_RMA_REQ,
	.unit = RMA_REQUESTER,
	.cls = 0,
	.good = RMA_K_COMMANDS,
	.bad = RMA_K_BAD_COMMANDS,
	.waits = req_waits,
	.take = req_take,
	.check = req_check,
};
