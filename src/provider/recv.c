/* SPDX-License-Identifier: Apache-2.0 */
/* Posts receives. A receive takes messages that arrived before it was posted
 * (early messages), waits for later ones, or only peeks. */
#include <stdlib.h>
#include <string.h>

#include "provider/bulk.h"
#include "provider/tx.h"

static struct wfi_rx *rx_new(const struct wfi_rxd *r, wfi_name from,
			     struct wfi_rxq *q, bool quiet)
{
	struct wfi_rx *rx = calloc(1, sizeof(*rx));

	if (!rx)
		return NULL;
	rx->tagged = r->tagged;
	rx->multi = r->flags & FI_MULTI_RECV;
	rx->least = q->min_multi ? q->min_multi : 1;
	rx->quiet = quiet;
	rx->tag = r->tag;
	rx->ignore = r->ignore;
	rx->from = from;
	rx->context = r->context;
	rx->iovs = r->iovs;
	if (r->iovs)
		memcpy(rx->iov, r->iov, r->iovs * sizeof(*r->iov));
	rx->len = wfi_iov_len(rx->iov, rx->iovs);
	return rx;
}

/* Posts a receive. The receive gets the first early message that matches. A
 * multi-receive gets matching early messages as long as the next one fits. */
static void rx_post(struct wfi_rxq *q, struct wfi_rx *rx)
{
	struct wfi_unx *u;
	bool again;

	wfi_rxq_post(q, rx);
	do {
		u = wfi_rxq_early(q, rx->tagged, rx->from, rx->tag, rx->ignore);
		if (!u)
			return;
		again = rx->multi && rx->len - rx->used >= u->m.len + rx->least;
		wfi_rxq_take(q, u);
		wfi_rx_meet(q, rx, &u->m);
		free(u);
	} while (again);
}

static int rx_peek(struct wfi_ep *ep, struct wfi_rxq *q,
		   const struct wfi_rxd *r, wfi_name from)
{
	struct wfi_unx *u;
	struct wfi_comp c = { .e.op_context = r->context,
			      .err = FI_ENOMSG,
			      .e.flags = FI_RECV | FI_TAGGED,
			      .e.tag = r->tag,
			      .src = FI_ADDR_NOTAVAIL };

	wfi_hub_progress(ep->hub);
	u = wfi_rxq_early(q, r->tagged, from, r->tag, r->ignore);
	if (u) {
		c = wfi_rx_comp(&u->m, r->context);
		if (r->flags & FI_DISCARD) {
			wfi_rx_refuse(ep->hub, &u->m);
			wfi_rxq_take(q, u);
			free(u);
		} else if (r->flags & FI_CLAIM) {
			wfi_rxq_claim(q, u, r->context);
		}
	}
	/* No counter changes, because a peek receives no message. */
	if (ep->rx_cq)
		wfi_cq_add(ep->rx_cq, &c);
	return 0;
}

/* Gets the sender that a receive accepts: the name of the endpoint at an
 * address, or its port while the process at the address is unknown. A message
 * matches if its sender has this name or this port. Returns 0 or negative
 * errno. */
static int rx_from_addr(struct wfi_ep *ep, fi_addr_t addr, wfi_name *from_p)
{
	int rc;

	*from_p = 0;
	if (addr == FI_ADDR_UNSPEC || !ep->av ||
	    !(ep->info->caps & FI_DIRECTED_RECV))
		return 0;
	rc = wfi_av_name(ep->av, addr, from_p);
	if (!rc && !*from_p)
		*from_p = RX_PORT | ntohs(ep->av->at[addr].sin.sin_port);
	return rc;
}

static int rx_any(struct wfi_ep *ep, struct wfi_rxq *q, const struct wfi_rxd *r,
		  bool quiet)
{
	wfi_name from;
	struct wfi_rx *rx;
	int rc = ep ? rx_from_addr(ep, r->addr, &from) : 0;

	if (!ep)
		from = 0;
	if (rc)
		return rc;
	if (ep && (r->flags & FI_PEEK))
		return rx_peek(ep, q, r, from);
	if (ep && (r->flags & FI_CLAIM)) {
		/* FI_CLAIM receives the message that a peek has kept for this
		 * context. */
		struct wfi_unx *u = wfi_rxq_claimed(q, r->context);

		if (!u)
			return -FI_EINVAL;
		if (r->flags & FI_DISCARD) {
			struct wfi_comp c = wfi_rx_comp(&u->m, r->context);

			wfi_rx_refuse(ep->hub, &u->m);
			wfi_ep_rx_end(u->m.ep, &c, quiet);
		} else {
			rx = rx_new(r, 0, q, quiet);
			if (!rx)
				return -FI_ENOMEM;
			wfi_rx_meet(q, rx, &u->m);
		}
		wfi_rxq_take(q, u);
		free(u);
		return 0;
	}
	rx = rx_new(r, from, q, quiet);
	if (!rx)
		return -FI_ENOMEM;
	rx_post(q, rx);
	return 0;
}

/* Posts a receive to the endpoint's own queue or to that of a shared
 * context. */
ssize_t wfi_recv(struct fid_ep *fid, const struct wfi_rxd *r)
{
	bool shared = fid->fid.fclass == FI_CLASS_SRX_CTX;
	struct wfi_ep *ep = shared ? NULL : wfi_ep_of(fid)->base;
	struct wfi_srx *srx =
		shared ? container_of(fid, struct wfi_srx, fid) : NULL;
	struct wfi_hub *h = shared ? srx->dom->hub : ep->hub;
	bool quiet = ep && ep->rx_sel && !(r->flags & FI_COMPLETION);
	int rc;

	if (r->iovs > WFI_IOV)
		return -FI_EINVAL;
	wfi_lock(h);
	wfi_call_begin(h, r->tagged ? WFI_CALL_TRECV : WFI_CALL_RECV,
		       wfi_iov_len(r->iov, r->iovs));
	rc = rx_any(ep, shared ? &srx->rxq : ep->rxq, r, quiet);
	wfi_call_end(h, rc);
	wfi_unlock(h);
	return rc;
}
