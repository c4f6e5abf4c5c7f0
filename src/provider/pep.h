/* SPDX-License-Identifier: Apache-2.0 */
/* Passive endpoints, and the requests that they hand to the user. */
#ifndef PROVIDER_PEP_H
#define PROVIDER_PEP_H

#include "provider/obj.h"

/* fi_info.handle of FI_CONNREQ; belongs to the endpoint that takes it. */
struct wfi_connreq {
	struct fid fid;
	wfi_name from;
	uint32_t id;
	uint16_t port; /* that was asked for */
};

struct wfi_pep {
	struct fid_pep fid;
	struct wfi_fabric *fabric;
	struct wfi_hub *hub;
	struct wfi_eq *eq;
	struct fi_info *info;
	struct wfi_port port;
};

/* Its address goes to an endpoint that will connect from there. */
int wfi_pep_give(struct wfi_pep *pep, struct fi_info *info);

int wfi_sin_give(const struct sockaddr_in *sin, void *addr, size_t *len);
int wfi_no_listen(struct fid_pep *pep);
int wfi_no_reject(struct fid_pep *pep, fid_t handle, const void *param,
		  size_t len);
int wfi_no_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		struct fid_mc **mc, void *context);

#endif
