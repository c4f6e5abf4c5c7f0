/* SPDX-License-Identifier: Apache-2.0 */
/* Passive endpoints, which listen, receive connection requests and reject
 * them. */
#include "provider/pep.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int connreq_close(struct fid *fid)
{
	free(container_of(fid, struct wfi_connreq, fid));
	return 0;
}

static struct fi_ops connreq_ops = {
	.size = sizeof(struct fi_ops),
	.close = connreq_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

/* Returns the fi_info by which the user opens an endpoint for the connection
 * request. */
static struct fi_info *pep_info(struct wfi_pep *pep, struct wfi_connreq *req)
{
	struct fi_info *info = fi_dupinfo(pep->info);
	struct sockaddr_in *sin = malloc(sizeof(*sin));

	if (!info || !sin) {
		fi_freeinfo(info);
		free(sin);
		return NULL;
	}
	wfi_name_sin(req->from, sin);
	free(info->dest_addr);
	info->dest_addr = sin;
	info->dest_addrlen = sizeof(*sin);
	info->handle = &req->fid;
	return info;
}

static void pep_in(struct wfi_port *port, const struct wfi_in *in)
{
	struct wfi_pep *pep = container_of(port, struct wfi_pep, port);
	struct fi_eq_cm_entry e = { .fid = &pep->fid.fid };
	struct wfi_connreq *req = NULL;

	if (in->w->op == WIRE_CONNECT && port->open && pep->eq &&
	    in->len <= WFI_CM_DATA)
		req = calloc(1, sizeof(*req));
	if (req) {
		req->fid = (struct fid){ FI_CLASS_CONNREQ, NULL, &connreq_ops };
		req->from = in->from;
		req->id = in->w->id;
		req->port = port->num;
		e.info = pep_info(pep, req);
	}
	if (e.info) {
		wfi_eq_add(pep->eq, FI_CONNREQ, 0, &e, sizeof(e), in->data,
			   in->len);
		return;
	}
	free(req);
	if (!(in->w->flags & WIRE_REPLY))
		wfi_hub_ack(pep->hub, in->peer, in->w->src, in->w->id,
			    FI_ECONNREFUSED);
}

static int pep_listen(struct fid_pep *fid)
{
	struct wfi_pep *pep = container_of(fid, struct wfi_pep, fid);

	if (!pep->eq)
		return -FI_ENOEQ;
	wfi_lock(pep->hub);
	pep->port.open = true;
	wfi_unlock(pep->hub);
	return 0;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
		      size_t len)
{
	struct wfi_pep *pep = container_of(fid, struct wfi_pep, fid);
	struct wire w = { .op = WIRE_REJECT,
			  .flags = WIRE_REPLY,
			  .src = pep->port.num };
	struct wfi_connreq *req;
	struct wfi_peer *p;

	if (!handle || handle->fclass != FI_CLASS_CONNREQ || len > WFI_CM_DATA)
		return -FI_EINVAL;
	req = container_of(handle, struct wfi_connreq, fid);
	w.id = req->id;
	w.dst = WFI_PORT(req->from);
	wfi_lock(pep->hub);
	p = wfi_peer_get(pep->hub, WFI_PEER(req->from));
	if (p)
		wfi_hub_tell(pep->hub, p, &w, param, len);
	wfi_unlock(pep->hub);
	free(req);
	return 0;
}

int wfi_pep_give(struct wfi_pep *pep, struct fi_info *info)
{
	struct sockaddr_in *sin = malloc(sizeof(*sin));

	if (!sin)
		return -FI_ENOMEM;
	wfi_name_sin(WFI_NAME(pep->hub->self, pep->port.num), sin);
	free(info->src_addr);
	info->src_addr = sin;
	info->src_addrlen = sizeof(*sin);
	wfi_port_close(pep->hub, &pep->port);
	return 0;
}

static int pep_getname(fid_t fid, void *addr, size_t *len)
{
	struct wfi_pep *pep = container_of(fid, struct wfi_pep, fid.fid);
	struct sockaddr_in sin;

	wfi_name_sin(WFI_NAME(pep->hub->self, pep->port.num), &sin);
	return wfi_sin_give(&sin, addr, len);
}

static int pep_setname(fid_t fid, void *addr, size_t len)
{
	struct wfi_pep *pep = container_of(fid, struct wfi_pep, fid.fid);
	const struct sockaddr_in *sin = addr;
	int rc;

	if (len < sizeof(*sin))
		return -FI_EINVAL;
	wfi_lock(pep->hub);
	wfi_port_close(pep->hub, &pep->port);
	rc = wfi_port_open(pep->hub, &pep->port, ntohs(sin->sin_port));
	wfi_unlock(pep->hub);
	return rc;
}

static int pep_no_getpeer(struct fid_ep *ep, void *addr, size_t *len)
{
	return -FI_ENOSYS;
}

static int pep_no_connect(struct fid_ep *ep, const void *addr,
			  const void *param, size_t len)
{
	return -FI_ENOSYS;
}

static int pep_no_accept(struct fid_ep *ep, const void *param, size_t len)
{
	return -FI_ENOSYS;
}

static int pep_no_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

static struct fi_ops_cm pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pep_setname,
	.getname = pep_getname,
	.getpeer = pep_no_getpeer,
	.connect = pep_no_connect,
	.listen = pep_listen,
	.accept = pep_no_accept,
	.reject = pep_reject,
	.shutdown = pep_no_shutdown,
	.join = wfi_no_join,
};

static int pep_close(struct fid *fid)
{
	struct wfi_pep *pep = container_of(fid, struct wfi_pep, fid.fid);

	wfi_lock(pep->hub);
	wfi_port_close(pep->hub, &pep->port);
	wfi_unlock(pep->hub);
	if (pep->eq)
		wfi_eq_use(pep->eq, -1);
	pep->fabric->refs--;
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = wfi_eq_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

int wfi_passive_ep(struct fid_fabric *fid, struct fi_info *info,
		   struct fid_pep **pep_p, void *context)
{
	const struct sockaddr_in *sin;
	struct wfi_pep *pep;
	int rc = -FI_ENOMEM;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->fabric = container_of(fid, struct wfi_fabric, fid);
	pep->hub = pep->fabric->hub;
	pep->info = fi_dupinfo(info);
	pep->port.in = pep_in;
	if (pep->info) {
		sin = pep->info->src_addr;
		wfi_lock(pep->hub);
		rc = wfi_port_open(pep->hub, &pep->port,
				   sin ? ntohs(sin->sin_port) : 0);
		wfi_unlock(pep->hub);
	}
	if (rc) {
		fi_freeinfo(pep->info);
		free(pep);
		return rc;
	}
	pep->fid.fid = (struct fid){ FI_CLASS_PEP, context, &pep_fid_ops };
	pep->fid.ops = &wfi_ops_ep;
	pep->fid.cm = &pep_cm_ops;
	pep->fabric->refs++;
	*pep_p = &pep->fid;
	return 0;
}
