/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of FI_EP_MSG, and names of all endpoints.
 *
 *	active			passive
 *	fi_connect   CONNECT ->	FI_CONNREQ
 *			     <- ACCEPT (fi_accept) or REJECT (fi_reject)
 *	FI_CONNECTED		FI_CONNECTED
 *	fi_shutdown  SHUTDOWN-> FI_SHUTDOWN
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "provider/obj.h"
#include "provider/pep.h"

enum { CONN_PATIENCE_US = 3000000 };

/* ---- events ---- */

static void cm_event(struct wfi_ep *ep, uint32_t event, const void *data,
		     size_t len)
{
	struct fi_eq_cm_entry e = { .fid = &ep->fid.fid };

	if (ep->eq)
		wfi_eq_add(ep->eq, event, 0, &e, sizeof(e), data, len);
}

static void cm_failed(struct wfi_ep *ep, int err, const void *data, size_t len)
{
	struct fi_eq_err_entry e = { .fid = &ep->fid.fid,
				     .context = ep->fid.fid.context,
				     .err = err,
				     .prov_errno = err };

	ep->conn = CONN_NONE;
	if (ep->eq)
		wfi_eq_add(ep->eq, 0, err, &e, sizeof(e), data, len);
}

/* ---- active side ---- */

static void connect_end(struct wfi_op *op, int err)
{
	if (!op->ep)
		return;
	op->ep->connecting = NULL;
	if (err)
		cm_failed(op->ep, FI_ECONNREFUSED, NULL, 0);
}

static const struct wfi_op_type connect_type = {
	.end = connect_end,
};

/* Sends the connection request when the owner of the port is known. Gives up
 * after CONN_PATIENCE_US, because the port may never have an owner. */
static int connect_step(struct wfi_op *op)
{
	struct wfi_ep *ep = op->ep;
	wfi_name name = wfi_name_find(op->hub, &ep->peer_sin);
	struct wire w = { .op = WIRE_CONNECT,
			  .src = ep->port.num,
			  .id = op->id };
	struct iovec iov = { op->bounce, op->len };

	if (!name && wfi_name_age(op->hub, &ep->peer_sin) < CONN_PATIENCE_US)
		return wfi_op_again(op, connect_step);
	op->peer = name ? wfi_peer_get(op->hub, WFI_PEER(name)) : NULL;
	w.dst = WFI_PORT(name);
	if (!op->peer ||
	    wfi_hub_send(op->hub, op->peer, &w, &iov, 1, NULL, true))
		wfi_op_end(op, ECONNREFUSED);
	return 0;
}

static int cm_enable(struct wfi_ep *ep)
{
	return ep->enabled ? 0
			   : ep->fid.fid.ops->control(&ep->fid.fid, FI_ENABLE,
						      NULL);
}

static int cm_connect_locked(struct wfi_ep *ep, const void *addr,
			     const void *param, size_t len)
{
	struct wfi_op *op;
	int rc = cm_enable(ep);

	if (rc)
		return rc;
	if (ep->conn != CONN_NONE)
		return -FI_EISCONN;
	op = wfi_op_new(ep->hub, &connect_type, ep, NULL);
	if (!op)
		return -FI_ENOMEM;
	op->bounce = malloc(len + 1);
	if (!op->bounce || wfi_op_number(op)) {
		wfi_op_free(op);
		return -FI_ENOMEM;
	}
	if (len)
		memcpy(op->bounce, param, len);
	op->len = len;
	memcpy(&ep->peer_sin, addr, sizeof(ep->peer_sin));
	ep->connecting = op;
	ep->conn = CONN_ASKED;
	connect_step(op);
	return 0;
}

static int cm_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t len)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	int rc;

	if (ep->type != FI_EP_MSG)
		return -FI_ENOSYS;
	if (len > WFI_CM_DATA || (!addr && !ep->info->dest_addr))
		return -FI_EINVAL;
	wfi_lock(ep->hub);
	rc = cm_connect_locked(ep, addr ? addr : ep->info->dest_addr, param,
			       len);
	wfi_unlock(ep->hub);
	return rc;
}

/* Handles the answer to a request: WIRE_ACCEPT or WIRE_REJECT. */
void wfi_answer_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	if (!ep->connecting || ep->connecting->peer != in->peer ||
	    ep->connecting->id != in->w->id || in->len > WFI_CM_DATA)
		return;
	wfi_op_free(ep->connecting);
	ep->connecting = NULL;
	if (in->w->op == WIRE_REJECT) {
		cm_failed(ep, FI_ECONNREFUSED, in->data, in->len);
		return;
	}
	ep->remote = in->from;
	ep->conn = CONN_UP;
	wfi_name_sin(in->from, &ep->peer_sin);
	cm_event(ep, FI_CONNECTED, in->data, in->len);
}

/* ---- passive side ---- */

int wfi_cm_adopt(struct wfi_ep *ep, struct fid *handle)
{
	if (handle->fclass == FI_CLASS_CONNREQ) {
		ep->req = container_of(handle, struct wfi_connreq, fid);
		ep->shown = ep->req->port;
		return 0;
	}
	if (handle->fclass != FI_CLASS_PEP)
		return -FI_EINVAL;
	return wfi_pep_give(container_of(handle, struct wfi_pep, fid.fid),
			    ep->info);
}

static int cm_accept(struct fid_ep *fid, const void *param, size_t len)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct wire w = { .op = WIRE_ACCEPT, .src = ep->port.num };
	struct wfi_peer *p;
	int rc;

	if (!ep->req || len > WFI_CM_DATA)
		return -FI_EINVAL;
	wfi_lock(ep->hub);
	rc = cm_enable(ep);
	p = rc ? NULL : wfi_peer_get(ep->hub, WFI_PEER(ep->req->from));
	if (p) {
		w.dst = WFI_PORT(ep->req->from);
		w.id = ep->req->id;
		ep->remote = ep->req->from;
		ep->conn = CONN_UP;
		wfi_name_sin(ep->remote, &ep->peer_sin);
		wfi_hub_tell(ep->hub, p, &w, param, len);
		cm_event(ep, FI_CONNECTED, NULL, 0);
		free(ep->req);
		ep->req = NULL;
	}
	wfi_unlock(ep->hub);
	return rc ? rc : p ? 0 : -FI_ENOMEM;
}

/* ---- ends ---- */

static void cm_hang_up(struct wfi_ep *ep)
{
	struct wfi_peer *p = wfi_peer_get(ep->hub, WFI_PEER(ep->remote));
	struct wire w = { .op = WIRE_SHUTDOWN,
			  .flags = WIRE_REPLY,
			  .src = ep->port.num,
			  .dst = WFI_PORT(ep->remote) };

	ep->conn = CONN_DOWN;
	if (p)
		wfi_hub_tell(ep->hub, p, &w, NULL, 0);
}

static int cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	int rc = 0;

	wfi_lock(ep->hub);
	if (ep->conn == CONN_UP) {
		cm_hang_up(ep);
		cm_event(ep, FI_SHUTDOWN, NULL, 0);
	} else if (ep->conn != CONN_DOWN) {
		rc = -FI_ENOTCONN;
	}
	wfi_unlock(ep->hub);
	return rc;
}

void wfi_shutdown_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	if (ep->conn != CONN_UP || ep->remote != in->from)
		return;
	ep->conn = CONN_DOWN;
	cm_event(ep, FI_SHUTDOWN, NULL, 0);
}

void wfi_cm_down(struct wfi_port *port, struct wfi_peer *peer)
{
	struct wfi_ep *ep = container_of(port, struct wfi_ep, port);

	if (ep->conn != CONN_UP || WFI_PEER(ep->remote) != peer->addr)
		return;
	ep->conn = CONN_DOWN;
	cm_event(ep, FI_SHUTDOWN, NULL, 0);
}

void wfi_cm_close(struct wfi_ep *ep)
{
	if (ep->conn == CONN_UP)
		cm_hang_up(ep);
	free(ep->req);
	ep->req = NULL;
}

/* ---- names ---- */

int wfi_sin_give(const struct sockaddr_in *sin, void *addr, size_t *len)
{
	size_t room = *len;

	*len = sizeof(*sin);
	if (addr && room)
		memcpy(addr, sin, min_of(room, sizeof(*sin)));
	return room < sizeof(*sin) ? -FI_ETOOSMALL : 0;
}

static int cm_getname(fid_t fid, void *addr, size_t *len)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);
	struct sockaddr_in sin;

	wfi_name_sin(
		WFI_NAME(ep->hub->self, ep->shown ? ep->shown : ep->port.num),
		&sin);
	return wfi_sin_give(&sin, addr, len);
}

static int cm_setname(fid_t fid, void *addr, size_t len)
{
	struct wfi_ep *ep = container_of(fid, struct wfi_ep, fid.fid);
	const struct sockaddr_in *sin = addr;
	int rc;

	if (len < sizeof(*sin) || ep->enabled)
		return ep->enabled ? -FI_EOPBADSTATE : -FI_EINVAL;
	wfi_lock(ep->hub);
	wfi_port_close(ep->hub, &ep->port);
	rc = wfi_port_open(ep->hub, &ep->port, ntohs(sin->sin_port));
	wfi_unlock(ep->hub);
	return rc;
}

static int cm_getpeer(struct fid_ep *fid, void *addr, size_t *len)
{
	struct wfi_ep *ep = wfi_ep_of(fid);

	if (ep->conn != CONN_UP)
		return -FI_ENOTCONN;
	return wfi_sin_give(&ep->peer_sin, addr, len);
}

int wfi_no_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

int wfi_no_reject(struct fid_pep *pep, fid_t handle, const void *param,
		  size_t len)
{
	return -FI_ENOSYS;
}

int wfi_no_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_cm wfi_ops_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.listen = wfi_no_listen,
	.accept = cm_accept,
	.reject = wfi_no_reject,
	.shutdown = cm_shutdown,
	.join = wfi_no_join,
};
