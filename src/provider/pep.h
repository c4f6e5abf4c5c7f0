/* SPDX-License-Identifier: Apache-2.0 */
/* Passive endpoints, and the connection requests that they pass to the user. */
#ifndef PROVIDER_PEP_H
#define PROVIDER_PEP_H

#include "provider/obj.h"

/* A connection request, as fi_info.handle of FI_CONNREQ. An endpoint that is
 * opened with a request owns the request. */
struct wfi_connreq {
	struct fid fid;
	wfi_name from;
	uint32_t id;
	uint16_t port; /* port to which the request was sent */
};

struct wfi_pep {
	struct fid_pep fid;
	struct wfi_fabric *fabric;
	struct wfi_hub *hub;
	struct wfi_eq *eq;
	struct fi_info *info;
	struct wfi_port port;
};

/* Moves the address of a passive endpoint to info, for an endpoint that will
 * connect from that address. Closes the port of the passive endpoint. Returns 0
 * or -FI_ENOMEM. */
int wfi_pep_give(struct wfi_pep *pep, struct fi_info *info);

/* Copies an address to the user's memory. Returns 0, or -FI_ETOOSMALL. */
int wfi_sin_give(const struct sockaddr_in *sin, void *addr, size_t *len);
/* Each implements a call that an endpoint does not support. Returns
 * -FI_ENOSYS. */
int wfi_no_listen(struct fid_pep *pep);
int wfi_no_reject(struct fid_pep *pep, fid_t handle, const void *param,
		  size_t len);
int wfi_no_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		struct fid_mc **mc, void *context);

#endif
