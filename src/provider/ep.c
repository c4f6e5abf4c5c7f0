/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, binds, enables and closes endpoints, and sets their flags. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/obj.h"

/* ---- binding ---- */

static const uint64_t ep_cntr_flag[WFI_CNTRS] = {
	[WFI_C_SEND] = FI_SEND,
	[WFI_C_RECV] = FI_RECV,
	[WFI_C_READ] = FI_READ,
	[WFI_C_WRITE] = FI_WRITE,
	[WFI_C_REMOTE_READ] = FI_REMOTE_READ,
	[WFI_C_REMOTE_WRITE] = FI_REMOTE_WRITE,
};

static int ep_bind_cntr(struct wfi_ep *ep, struct wfi_cntr *c, uint64_t flags)
{
	for (int i = 0; i < WFI_CNTRS; i++) {
		if (!(flags & ep_cntr_flag[i]))
			continue;
		if (ep->cntr[i])
			return -FI_EINVAL;
		ep->cntr[i] = c;
		c->refs++;
	}
	return 0;
}

static int ep_bind_cq(struct wfi_ep *ep, struct wfi_cq *cq, uint64_t flags)
{
	if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
		return -FI_EBADFLAGS;
	if (((flags & FI_TRANSMIT) && ep->tx_cq) ||
	    ((flags & FI_RECV) && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_sel = flags & FI_SELECTIVE_COMPLETION;
		cq->refs++;
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_sel = flags & FI_SELECTIVE_COMPLETION;
		cq->refs++;
	}
	return 0;
}

static int ep_bind_any(struct wfi_ep *ep, struct fid *b, uint64_t flags)
{
	if ((b->fclass == FI_CLASS_AV && ep->av) ||
	    (b->fclass == FI_CLASS_EQ && ep->eq) ||
	    (b->fclass == FI_CLASS_SRX_CTX && ep->srx))
		return -FI_EINVAL;
	switch (b->fclass) {
	case FI_CLASS_AV:
		ep->av = container_of(b, struct wfi_av, fid.fid);
		ep->av->refs++;
		return 0;
	case FI_CLASS_EQ:
		ep->eq = container_of(b, struct wfi_eq, fid.fid);
		wfi_eq_use(ep->eq, 1);
		return 0;
	case FI_CLASS_CQ:
		return ep_bind_cq(ep, container_of(b, struct wfi_cq, fid.fid),
				  flags);
	case FI_CLASS_CNTR:
		return ep_bind_cntr(
			ep, container_of(b, struct wfi_cntr, fid.fid), flags);
	case FI_CLASS_SRX_CTX:
		ep->srx = container_of(b, struct wfi_srx, fid.fid);
		ep->srx->refs++;
		ep->rxq = &ep->srx->rxq;
		return 0;
	case FI_CLASS_STX_CTX:
	case FI_CLASS_MR:
		return 0;
	default:
		return -FI_EINVAL;
	}
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);
	int rc;

	wfi_lock(ep->hub);
	rc = ep->enabled ? -FI_EOPBADSTATE : ep_bind_any(ep, bfid, flags);
	wfi_unlock(ep->hub);
	return rc;
}

/* ---- control ---- */

static int ep_enable(struct wfi_ep *ep)
{
	uint64_t caps = ep->info->caps;

	if (ep->type != FI_EP_MSG && !ep->av)
		return -FI_ENOAV;
	if (ep->type == FI_EP_MSG && !ep->eq)
		return -FI_ENOEQ;
	if ((caps & FI_SEND) && !ep->tx_cq && !ep->cntr[WFI_C_SEND] &&
	    !ep->cntr[WFI_C_WRITE] && !ep->cntr[WFI_C_READ])
		return -FI_ENOCQ;
	if ((caps & FI_RECV) && !ep->rx_cq && !ep->cntr[WFI_C_RECV])
		return -FI_ENOCQ;
	ep->enabled = ep->port.open = true;
	return 0;
}

static uint64_t *ep_ops_flags(struct wfi_ep *ep, uint64_t flags)
{
	return flags & FI_TRANSMIT ? &ep->tx_flags
	       : flags & FI_RECV   ? &ep->rx_flags
				   : NULL;
}

static int ep_set_flags(struct wfi_ep *ep, uint64_t flags)
{
	uint64_t *of = ep_ops_flags(ep, flags);

	if (!of)
		return -FI_EINVAL;
	*of = flags & ~(FI_TRANSMIT | FI_RECV);
	return 0;
}

static int ep_alias_close(struct fid *fid)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);

	wfi_lock(ep->hub);
	ep->base->refs--;
	wfi_unlock(ep->hub);
	free(ep);
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg);

static struct fi_ops ep_alias_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_alias_close,
	.bind = wfi_no_bind,
	.control = ep_control,
	.ops_open = wfi_no_ops_open,
};

/* Makes an alias, which shares the endpoint but has separate flags. */
static int ep_alias(struct wfi_ep *ep, struct fi_alias *a)
{
	struct wfi_ep *alias = malloc(sizeof(*alias));

	if (!alias)
		return -FI_ENOMEM;
	*alias = *ep;
	alias->base = ep->base;
	alias->fid.fid.ops = &ep_alias_fid_ops;
	ep_set_flags(alias, a->flags);
	ep->base->refs++;
	*a->fid = &alias->fid.fid;
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);
	const uint64_t *of;
	int rc;

	wfi_lock(ep->hub);
	switch (command) {
	case FI_ENABLE:
		rc = ep_enable(ep->base);
		break;
	case FI_GETOPSFLAG:
		of = ep_ops_flags(ep, *(uint64_t *)arg);
		rc = of ? 0 : -FI_EINVAL;
		if (of)
			*(uint64_t *)arg = *of;
		break;
	case FI_SETOPSFLAG:
		rc = ep_set_flags(ep, *(uint64_t *)arg);
		break;
	case FI_ALIAS:
		rc = ep_alias(ep, arg);
		break;
	default:
		rc = -FI_ENOSYS;
	}
	wfi_unlock(ep->hub);
	return rc;
}

/* Returns true if no injected operation is in flight. Closing an endpoint waits
 * for injected operations, because the user gets no completion from them. */
static bool ep_drained(void *arg)
{
	struct wfi_ep *ep = arg;
	struct wfi_op *op;

	TAILQ_FOREACH(op, &ep->hub->live, all)
	if (op->ep == ep && op->quiet && !op->peer->dead &&
	    op->type->end == wfi_ep_tx_end)
		return false;
	return true;
}

static int ep_close(struct fid *fid)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);
	struct wfi_hub *h = ep->hub;

	wfi_lock(h);
	if (ep->refs) {
		wfi_unlock(h);
		return -FI_EBUSY;
	}
	/* completes operations whose answers have arrived */
	wfi_hub_progress(h);
	wfi_wait_until(h, ep_drained, ep, 500);
	wfi_cm_close(ep);
	wfi_ops_leave(h, ep);
	wfi_port_close(h, &ep->port);
	wfi_rxq_drop(ep->rxq, ep);
	wfi_rxq_drop(&ep->own_rxq, NULL);
	for (int i = 0; i < WFI_CNTRS; i++)
		if (ep->cntr[i])
			ep->cntr[i]->refs--;
	if (ep->tx_cq)
		ep->tx_cq->refs--;
	if (ep->rx_cq)
		ep->rx_cq->refs--;
	if (ep->av)
		ep->av->refs--;
	if (ep->srx)
		ep->srx->refs--;
	if (ep->eq)
		wfi_eq_use(ep->eq, -1);
	ep->dom->refs--;
	wfi_unlock(h);
	fi_freeinfo(ep->info);
	free(ep);
	return 0;
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = wfi_no_ops_open,
};

/* ---- opening ---- */

/* Opens the requested port. If this port is in use, opens another port, because
 * a user may open several endpoints from one fi_info. */
static int ep_port(struct wfi_ep *ep)
{
	const struct sockaddr_in *sin = ep->info->src_addr;
	uint16_t num =
		sin && sin->sin_family == AF_INET ? ntohs(sin->sin_port) : 0;
	int rc;

	ep->port.in = wfi_ep_in;
	ep->port.down = wfi_cm_down;
	rc = wfi_port_open(ep->hub, &ep->port, ep->req ? 0 : num);
	return rc == -EADDRINUSE ? wfi_port_open(ep->hub, &ep->port, 0) : rc;
}

static void ep_init(struct wfi_ep *ep, struct wfi_domain *d, void *context)
{
	ep->base = ep;
	ep->dom = d;
	ep->hub = d->hub;
	ep->type = ep->info->ep_attr->type;
	ep->tx_flags = ep->info->tx_attr->op_flags;
	ep->rx_flags = ep->info->rx_attr->op_flags;
	wfi_rxq_init(&ep->own_rxq);
	ep->rxq = &ep->own_rxq;
	ep->fid.fid = (struct fid){ FI_CLASS_EP, context, &ep_fid_ops };
	ep->fid.ops = &wfi_ops_ep;
	ep->fid.cm = &wfi_ops_cm;
	ep->fid.msg = &wfi_ops_msg;
	ep->fid.rma = &wfi_ops_rma;
	ep->fid.tagged = &wfi_ops_tagged;
	ep->fid.atomic = &wfi_ops_atomic;
}

int wfi_endpoint(struct fid_domain *fid, struct fi_info *info,
		 struct fid_ep **ep_p, void *context)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	struct wfi_ep *ep;
	int rc = 0;

	if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr)
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->info = fi_dupinfo(info);
	if (!ep->info) {
		free(ep);
		return -FI_ENOMEM;
	}
	ep_init(ep, d, context);
	wfi_lock(d->hub);
	if (info->handle)
		rc = wfi_cm_adopt(ep, info->handle);
	if (!rc)
		rc = ep_port(ep);
	if (!rc)
		d->refs++;
	wfi_unlock(d->hub);
	if (rc) {
		fi_freeinfo(ep->info);
		free(ep);
		return rc;
	}
	*ep_p = &ep->fid;
	return 0;
}
