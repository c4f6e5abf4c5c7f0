/* SPDX-License-Identifier: Apache-2.0 */
/* fi_getinfo: compares the user's hints with the provider's attributes, and
 * fills in the result. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "provider/obj.h"

#define CORE_ONLY (1ull << 59) /* set when the caller is a utility provider */

/* ---- addresses ---- */

/* Returns true for addresses that bind accepts: 127.x.y.z and addresses of this
 * machine. */
static bool sin_ours(const struct sockaddr_in *sin)
{
	struct sockaddr_in any = *sin;
	int fd, rc;

	if (ntohl(sin->sin_addr.s_addr) >> 24 == 127)
		return true;
	any.sin_port = 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	rc = bind(fd, (struct sockaddr *)&any, sizeof(any));
	close(fd);
	return !rc;
}

int wfi_resolve(const char *node, const char *service,
		struct sockaddr_in *sin_p)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	char *end;
	unsigned long port = service ? strtoul(service, &end, 0) : 0;

	if (service && (*end || port > UINT16_MAX))
		return -FI_ENODATA;
	if (getaddrinfo(node ? node : "127.0.0.1", NULL, &hints, &ai))
		return -FI_ENODATA;
	memcpy(sin_p, ai->ai_addr, sizeof(*sin_p));
	freeaddrinfo(ai);
	sin_p->sin_port = htons(port);
	return sin_ours(sin_p) ? 0 : -FI_ENODATA;
}

static int addr_dup(const void *addr, size_t len, void **to_p, size_t *len_p)
{
	const struct sockaddr_in *sin = addr;

	if (len < sizeof(*sin) || sin->sin_family != AF_INET)
		return -FI_ENODATA;
	free(*to_p);
	*to_p = malloc(sizeof(*sin));
	if (!*to_p)
		return -FI_ENOMEM;
	memcpy(*to_p, sin, sizeof(*sin));
	*len_p = sizeof(*sin);
	return 0;
}

static int info_addrs(struct fi_info *info, const struct fi_info *hints,
		      const char *node, const char *service, uint64_t flags)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	bool given = hints && hints->src_addr;
	int rc;

	/* The default source address is any port of this process. */
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	rc = addr_dup(given ? hints->src_addr : &sin,
		      given ? hints->src_addrlen : sizeof(sin), &info->src_addr,
		      &info->src_addrlen);
	if (!rc && hints && hints->dest_addr)
		rc = addr_dup(hints->dest_addr, hints->dest_addrlen,
			      &info->dest_addr, &info->dest_addrlen);
	if (rc || (!node && !service))
		return rc;
	rc = wfi_resolve(node, service, &sin);
	if (rc)
		return rc;
	if (flags & FI_SOURCE)
		return addr_dup(&sin, sizeof(sin), &info->src_addr,
				&info->src_addrlen);
	return addr_dup(&sin, sizeof(sin), &info->dest_addr,
			&info->dest_addrlen);
}

/* ---- attributes: true when they fit ---- */

static bool fit_most(size_t want, size_t have)
{
	return want <= have;
}

static bool fit_bits(uint64_t want, uint64_t have)
{
	return !(want & ~have);
}

static bool fit_tx(const struct fi_tx_attr *want, const struct fi_info *have)
{
	const struct fi_tx_attr *t = have->tx_attr;

	return fit_bits(want->caps, have->caps) &&
	       fit_bits(want->op_flags, t->op_flags) &&
	       fit_bits(want->msg_order, t->msg_order) && !want->comp_order &&
	       fit_most(want->inject_size, t->inject_size) &&
	       fit_most(want->size, t->size) &&
	       fit_most(want->iov_limit, t->iov_limit) &&
	       fit_most(want->rma_iov_limit, t->rma_iov_limit);
}

static bool fit_rx(const struct fi_rx_attr *want, const struct fi_info *have)
{
	const struct fi_rx_attr *r = have->rx_attr;

	return fit_bits(want->caps, have->caps) &&
	       fit_bits(want->op_flags, r->op_flags) &&
	       fit_bits(want->msg_order, r->msg_order) && !want->comp_order &&
	       fit_most(want->size, r->size) &&
	       fit_most(want->iov_limit, r->iov_limit);
}

static bool fit_ep(const struct fi_ep_attr *want, const struct fi_info *have)
{
	const struct fi_ep_attr *e = have->ep_attr;

	return (!want->type || want->type == e->type) &&
	       (!want->protocol || want->protocol == e->protocol) &&
	       fit_most(want->protocol_version, e->protocol_version) &&
	       fit_most(want->max_msg_size, e->max_msg_size) &&
	       fit_most(want->max_order_raw_size, e->max_order_raw_size) &&
	       fit_most(want->max_order_war_size, e->max_order_war_size) &&
	       fit_most(want->max_order_waw_size, e->max_order_waw_size) &&
	       /* An endpoint has one transmit and one receive context, or
		* shares them with other endpoints. */
	       (want->tx_ctx_cnt <= 1 ||
		want->tx_ctx_cnt == FI_SHARED_CONTEXT) &&
	       (want->rx_ctx_cnt <= 1 ||
		want->rx_ctx_cnt == FI_SHARED_CONTEXT) &&
	       !want->auth_key_size;
}

static bool fit_domain(const struct fi_domain_attr *want,
		       const struct fi_info *have)
{
	const struct fi_domain_attr *d = have->domain_attr;

	return (!want->name || !strcmp(want->name, d->name)) &&
	       (unsigned)want->threading <= FI_THREAD_ENDPOINT &&
	       want->data_progress != FI_PROGRESS_AUTO &&
	       want->control_progress != FI_PROGRESS_AUTO &&
	       (unsigned)want->resource_mgmt <= FI_RM_ENABLED &&
	       (unsigned)want->av_type <= FI_AV_TABLE &&
	       fit_most(want->mr_key_size, d->mr_key_size) &&
	       fit_most(want->cq_data_size, d->cq_data_size) &&
	       fit_most(want->cq_cnt, d->cq_cnt) &&
	       fit_most(want->ep_cnt, d->ep_cnt) &&
	       fit_most(want->tx_ctx_cnt, d->tx_ctx_cnt) &&
	       fit_most(want->rx_ctx_cnt, d->rx_ctx_cnt) &&
	       fit_most(want->max_ep_tx_ctx, d->max_ep_tx_ctx) &&
	       fit_most(want->max_ep_rx_ctx, d->max_ep_rx_ctx) &&
	       fit_most(want->max_ep_stx_ctx, d->max_ep_stx_ctx) &&
	       fit_most(want->max_ep_srx_ctx, d->max_ep_srx_ctx) &&
	       fit_most(want->cntr_cnt, d->cntr_cnt) &&
	       fit_most(want->mr_iov_limit, d->mr_iov_limit) &&
	       fit_most(want->mr_cnt, d->mr_cnt) &&
	       fit_bits(want->caps, d->caps) && !want->auth_key_size;
}

static bool info_fits(const struct fi_info *hints, const struct fi_info *have)
{
	if (!fit_bits(hints->caps, have->caps))
		return false;
	if (hints->addr_format != FI_FORMAT_UNSPEC &&
	    hints->addr_format != FI_SOCKADDR &&
	    hints->addr_format != FI_SOCKADDR_IN)
		return false;
	if (hints->fabric_attr && hints->fabric_attr->name &&
	    strcmp(hints->fabric_attr->name, have->fabric_attr->name))
		return false;
	return (!hints->tx_attr || fit_tx(hints->tx_attr, have)) &&
	       (!hints->rx_attr || fit_rx(hints->rx_attr, have)) &&
	       (!hints->ep_attr || fit_ep(hints->ep_attr, have)) &&
	       (!hints->domain_attr || fit_domain(hints->domain_attr, have));
}

/* ---- the answer ---- */

static uint64_t info_caps(uint64_t want, uint64_t have)
{
	uint64_t caps = want | (have & wfi_caps_secondary);

	if (!want)
		return have;
	if ((want & (FI_MSG | FI_TAGGED)) && !(want & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if ((want & (FI_RMA | FI_ATOMIC)) &&
	    !(want & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	if (!(want & (FI_RMA | FI_ATOMIC)))
		caps &= ~(FI_RMA_EVENT | FI_TRIGGER) | want;
	return caps & have;
}

#define TAKE(attr, field)                                                      \
	do {                                                                   \
		if (hints->attr->field)                                        \
			info->attr->field = hints->attr->field;                \
	} while (0)

/* Sets the attributes that the user's hints contain. */
static void info_take(struct fi_info *info, const struct fi_info *hints)
{
	info->tx_attr->op_flags = info->rx_attr->op_flags = 0;
	if (hints->tx_attr) {
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
		info->tx_attr->msg_order = hints->tx_attr->msg_order;
		TAKE(tx_attr, inject_size);
		TAKE(tx_attr, size);
		TAKE(tx_attr, iov_limit);
		TAKE(tx_attr, rma_iov_limit);
		TAKE(tx_attr, tclass);
	}
	if (hints->rx_attr) {
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
		info->rx_attr->msg_order = hints->rx_attr->msg_order;
		TAKE(rx_attr, size);
		TAKE(rx_attr, iov_limit);
	}
	if (hints->ep_attr) {
		TAKE(ep_attr, tx_ctx_cnt);
		TAKE(ep_attr, rx_ctx_cnt);
		TAKE(ep_attr, mem_tag_format);
	}
	if (hints->domain_attr) {
		TAKE(domain_attr, threading);
		TAKE(domain_attr, resource_mgmt);
		TAKE(domain_attr, av_type);
		TAKE(domain_attr, tclass);
	}
}

static void info_fill(struct fi_info *info, uint32_t version,
		      const struct fi_info *hints)
{
	int mode = hints && hints->domain_attr ? hints->domain_attr->mr_mode
					       : FI_MR_UNSPEC;

	/* The user chooses keys and offsets of regions, unless the user
	 * requests FI_MR_BASIC. */
	if (mode != FI_MR_BASIC && mode != FI_MR_SCALABLE)
		mode = FI_VERSION_LT(version, FI_VERSION(1, 5)) ? FI_MR_SCALABLE
								: 0;
	info->domain_attr->mr_mode = mode;
	info->fabric_attr->api_version = version;
	info->fabric_attr->prov_version = wfi_prov.version;
	if (!hints) {
		info->tx_attr->op_flags = info->rx_attr->op_flags = 0;
		return;
	}
	info->caps = info_caps(hints->caps, info->caps);
	info->tx_attr->caps &= info->caps;
	info->rx_attr->caps &= info->caps;
	info->handle = hints->handle;
	info_take(info, hints);
}

static int info_make(unsigned i, uint32_t version, const char *node,
		     const char *service, uint64_t flags,
		     const struct fi_info *hints, struct fi_info **info_p)
{
	struct fi_info *info = wfi_info_base(i);
	int rc;

	*info_p = NULL;
	if (!info)
		return -FI_ENOMEM;
	rc = hints && !info_fits(hints, info)
		     ? -FI_ENODATA
		     : info_addrs(info, hints, node, service, flags);
	if (rc) {
		fi_freeinfo(info);
		return rc;
	}
	info_fill(info, version, hints);
	*info_p = info;
	return 0;
}

int wfi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info)
{
	struct fi_info **at = info, *one;
	int rc = 0, layer = 0;

	*info = NULL;
	if (!getenv("WEFT_SOCKET"))
		return -FI_ENODATA;
	if (flags & CORE_ONLY)
		fi_param_get_bool(&wfi_prov, "layer", &layer);
	if (flags & CORE_ONLY && !layer)
		return -FI_ENODATA;
	if (!(flags & FI_SOURCE) && service && !node &&
	    !(hints && hints->dest_addr))
		return -FI_ENODATA;
	for (unsigned i = 0; i < 3; i++) {
		rc = info_make(i, version, node, service, flags, hints, &one);
		if (rc && rc != -FI_ENODATA)
			break;
		if (!one)
			continue;
		*at = one;
		at = &one->next;
	}
	if (*info)
		return 0;
	return rc ? rc : -FI_ENODATA;
}
