/* SPDX-License-Identifier: Apache-2.0 */
/* Options of endpoints, cancelling of receives, and shared contexts. */
#include <stdlib.h>
#include <string.h>

#include "provider/obj.h"

/* Returns the receive queue of an endpoint or of a shared context. */
static struct wfi_rxq *opt_rxq(struct fid *fid, struct wfi_hub **h_p,
			       struct wfi_cq **cq_p)
{
	struct wfi_srx *s;
	struct wfi_ep *ep;

	*cq_p = NULL;
	if (fid->fclass == FI_CLASS_SRX_CTX) {
		s = container_of(fid, struct wfi_srx, fid.fid);
		*h_p = s->dom->hub;
		return &s->rxq;
	}
	ep = container_of(fid, struct wfi_ep, fid.fid)->base;
	*h_p = ep->hub;
	*cq_p = ep->rx_cq;
	return ep->rxq;
}

/* Returns true if the object has receives. Shared transmit contexts and
 * passive endpoints have none. */
static bool opt_receives(const struct fid *fid)
{
	return fid->fclass != FI_CLASS_PEP && fid->fclass != FI_CLASS_STX_CTX;
}

static ssize_t opt_cancel(fid_t fid, void *context)
{
	struct wfi_hub *h;
	struct wfi_cq *cq;
	struct wfi_rxq *q;
	struct wfi_rx *rx;

	if (!opt_receives(fid))
		return -FI_ENOSYS;
	q = opt_rxq(fid, &h, &cq);
	wfi_lock(h);
	rx = wfi_rxq_cancel(q, context);
	if (rx && cq) {
		struct wfi_comp c = {
			.e.op_context = context,
			.e.flags = FI_RECV | (rx->tagged ? FI_TAGGED : FI_MSG) |
				   (rx->multi ? FI_MULTI_RECV : 0),
			.e.tag = rx->tag,
			.err = FI_ECANCELED,
			.src = FI_ADDR_NOTAVAIL,
		};

		wfi_cq_add(cq, &c);
	}
	if (rx && !rx->pending)
		free(rx);
	wfi_unlock(h);
	return 0;
}

static int opt_get(fid_t fid, int level, int name, void *val, size_t *len)
{
	struct wfi_hub *h;
	struct wfi_cq *cq;
	size_t got;

	if (level != FI_OPT_ENDPOINT || *len < sizeof(size_t))
		return level ? -FI_ENOPROTOOPT : -FI_ETOOSMALL;
	if (!opt_receives(fid) && name != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	switch (name) {
	case FI_OPT_MIN_MULTI_RECV:
		got = opt_rxq(fid, &h, &cq)->min_multi;
		break;
	case FI_OPT_CM_DATA_SIZE:
		got = WFI_CM_DATA;
		break;
	case FI_OPT_TX_SIZE:
	case FI_OPT_RX_SIZE:
		got = WFI_CTX;
		break;
	default:
		return -FI_ENOPROTOOPT;
	}
	memcpy(val, &got, sizeof(got));
	*len = sizeof(got);
	return 0;
}

static int opt_set(fid_t fid, int level, int name, const void *val, size_t len)
{
	struct wfi_hub *h;
	struct wfi_cq *cq;
	struct wfi_rxq *q;

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV ||
	    !opt_receives(fid))
		return -FI_ENOPROTOOPT;
	if (len < sizeof(size_t))
		return -FI_EINVAL;
	q = opt_rxq(fid, &h, &cq);
	wfi_lock(h);
	memcpy(&q->min_multi, val, sizeof(size_t));
	wfi_unlock(h);
	return 0;
}

static int opt_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		      struct fid_ep **tx_ep, void *context)
{
	return -FI_ENOSYS;
}

static int opt_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		      struct fid_ep **rx_ep, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t opt_size_left(struct fid_ep *ep)
{
	return WFI_CTX;
}

struct fi_ops_ep wfi_ops_ep = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = opt_cancel,
	.getopt = opt_get,
	.setopt = opt_set,
	.tx_ctx = opt_tx_ctx,
	.rx_ctx = opt_rx_ctx,
	.rx_size_left = opt_size_left,
	.tx_size_left = opt_size_left,
};

/* ---- shared contexts ---- */

struct wfi_stx {
	struct fid_stx fid;
	struct wfi_domain *dom;
};

static int stx_close(struct fid *fid)
{
	struct wfi_stx *s = container_of(fid, struct wfi_stx, fid.fid);

	wfi_domain_use(s->dom, -1);
	free(s);
	return 0;
}

static struct fi_ops stx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = stx_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

/* Opens a shared transmit context. It has no state, because endpoints keep no
 * queue of sends. */
int wfi_stx(struct fid_domain *fid, struct fi_tx_attr *attr,
	    struct fid_stx **stx_p, void *context)
{
	struct wfi_stx *s = calloc(1, sizeof(*s));

	if (!s)
		return -FI_ENOMEM;
	s->dom = container_of(fid, struct wfi_domain, fid);
	s->fid.fid = (struct fid){ FI_CLASS_STX_CTX, context, &stx_fid_ops };
	s->fid.ops = &wfi_ops_ep;
	wfi_domain_use(s->dom, 1);
	*stx_p = &s->fid;
	return 0;
}

static int srx_close(struct fid *fid)
{
	struct wfi_srx *s = container_of(fid, struct wfi_srx, fid.fid);

	wfi_lock(s->dom->hub);
	if (s->refs) {
		wfi_unlock(s->dom->hub);
		return -FI_EBUSY;
	}
	wfi_rxq_drop(&s->rxq, NULL);
	wfi_unlock(s->dom->hub);
	wfi_domain_use(s->dom, -1);
	free(s);
	return 0;
}

static struct fi_ops srx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = srx_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

int wfi_srx(struct fid_domain *fid, struct fi_rx_attr *attr,
	    struct fid_ep **ep_p, void *context)
{
	struct wfi_srx *s = calloc(1, sizeof(*s));

	if (!s)
		return -FI_ENOMEM;
	s->dom = container_of(fid, struct wfi_domain, fid);
	wfi_rxq_init(&s->rxq);
	s->fid.fid = (struct fid){ FI_CLASS_SRX_CTX, context, &srx_fid_ops };
	s->fid.ops = &wfi_ops_ep;
	s->fid.msg = &wfi_ops_msg;
	s->fid.tagged = &wfi_ops_tagged;
	wfi_domain_use(s->dom, 1);
	*ep_p = &s->fid;
	return 0;
}
