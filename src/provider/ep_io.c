/* SPDX-License-Identifier: Apache-2.0 */
/* Finds destinations of operations, completes operations, and delivers messages
 * to endpoints. */
#include "provider/region.h"

/* ---- completions ---- */

void wfi_ep_count(struct wfi_ep *ep, enum wfi_cntr_kind k, bool err)
{
	if (ep->cntr[k])
		wfi_cntr_inc(ep->cntr[k], err);
}

void wfi_ep_tx_end(struct wfi_op *op, int err)
{
	struct wfi_ep *ep = op->ep;
	struct wfi_comp c = { .e.op_context = op->context,
			      .e.flags = op->flags,
			      .err = err,
			      .src = FI_ADDR_NOTAVAIL };

	if (!ep)
		return;
	wfi_ep_count(ep,
		     op->flags & FI_SEND   ? WFI_C_SEND
		     : op->flags & FI_READ ? WFI_C_READ
					   : WFI_C_WRITE,
		     err);
	if (op->work)
		wfi_cntr_inc(op->work, err);
	if (ep->tx_cq && (err || !op->quiet))
		wfi_cq_add(ep->tx_cq, &c);
}

void wfi_ep_rx_end(struct wfi_ep *ep, const struct wfi_comp *c, bool quiet)
{
	wfi_ep_count(ep, WFI_C_RECV, c->err);
	if (ep->rx_cq && (c->err || !quiet || (c->e.flags & FI_MULTI_RECV)))
		wfi_cq_add(ep->rx_cq, c);
}

/* ---- destinations and senders ---- */

int wfi_ep_dest(struct wfi_ep *ep, fi_addr_t addr, struct wfi_peer **p_p,
		uint16_t *port_p)
{
	wfi_name name = ep->remote;
	int rc = 0;

	if (!ep->base->enabled)
		return -FI_EOPBADSTATE;
	if (ep->type == FI_EP_MSG) {
		if (ep->base->conn != CONN_UP)
			return -FI_ENOTCONN;
		name = ep->base->remote;
	} else if (!ep->av) {
		return -FI_EINVAL;
	} else {
		rc = wfi_av_name(ep->av, addr, &name);
	}
	if (rc)
		return rc;
	if (!name)
		return -FI_EAGAIN;
	*p_p = wfi_peer_get(ep->hub, WFI_PEER(name));
	*port_p = WFI_PORT(name);
	return *p_p ? 0 : -FI_ENOMEM;
}

static void (*const ep_in[WIRE_OPS])(struct wfi_ep *, const struct wfi_in *) = {
	[WIRE_MSG] = wfi_msg_in,	   [WIRE_RTS] = wfi_msg_in,
	[WIRE_WRITE] = wfi_write_in,	   [WIRE_WREQ] = wfi_long_in,
	[WIRE_READ] = wfi_read_in,	   [WIRE_RREQ] = wfi_long_in,
	[WIRE_ATOMIC] = wfi_atomic_in,	   [WIRE_QUERY] = wfi_query_in,
	[WIRE_REGION] = wfi_region_in,	   [WIRE_FORGET] = wfi_region_in,
	[WIRE_ACCEPT] = wfi_answer_in,	   [WIRE_REJECT] = wfi_answer_in,
	[WIRE_SHUTDOWN] = wfi_shutdown_in,
};

/* Returns true if the endpoint accepts the message. A connected endpoint
 * accepts messages of its peer alone. */
static bool ep_hears(const struct wfi_ep *ep, const struct wfi_in *in)
{
	bool cm = in->w->op >= WIRE_ACCEPT;

	if (!ep->enabled || in->w->op >= WIRE_OPS || !ep_in[in->w->op])
		return false;
	if (ep->type == FI_EP_DGRAM)
		return in->w->op == WIRE_MSG;
	if (ep->type != FI_EP_MSG)
		return !cm;
	return cm || (ep->conn == CONN_UP && ep->remote == in->from);
}

void wfi_ep_in(struct wfi_port *p, const struct wfi_in *in)
{
	struct wfi_ep *ep = container_of(p, struct wfi_ep, port);

	if (ep_hears(ep, in))
		ep_in[in->w->op](ep, in);
	else if (in->w->id && !(in->w->flags & WIRE_REPLY))
		wfi_hub_ack(ep->hub, in->peer, in->w->src, in->w->id,
			    FI_ECONNREFUSED);
}
