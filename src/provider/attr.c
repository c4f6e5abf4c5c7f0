/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that the provider offers, in one table for each type of
 * endpoint. */
#include <arpa/inet.h>
#include <string.h>

#include "provider/obj.h"

#define ATTR_COMM (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define ATTR_MSG  (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_MULTI_RECV)
#define ATTR_RMA                                                               \
	(FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ |            \
	 FI_REMOTE_WRITE | FI_RMA_EVENT | FI_TRIGGER)
/* FI_ORDER_SAW is missing, because a send may overtake an earlier long write. A
 * long write is announced first, and its data is put later. */
#define ATTR_ORDER                                                             \
	(FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR |           \
	 FI_ORDER_WAW | FI_ORDER_RAS | FI_ORDER_WAS | FI_ORDER_RMA_RAR |       \
	 FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW |              \
	 FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR |     \
	 FI_ORDER_ATOMIC_WAW)

const uint64_t wfi_caps_secondary =
	FI_MULTI_RECV | FI_RMA_EVENT | FI_TRIGGER | ATTR_COMM;

static const struct attr_kind {
	enum fi_ep_type type;
	uint64_t caps, order;
	size_t max_msg;
} attr_kinds[] = {
	{ FI_EP_RDM,
	  ATTR_MSG | ATTR_RMA | ATTR_COMM | FI_SOURCE | FI_DIRECTED_RECV,
	  ATTR_ORDER, SIZE_MAX / 2 },
	{ FI_EP_MSG, ATTR_MSG | ATTR_RMA | ATTR_COMM, ATTR_ORDER,
	  SIZE_MAX / 2 },
	{ FI_EP_DGRAM,
	  FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_SOURCE | ATTR_COMM,
	  FI_ORDER_NONE, WFI_DGRAM },
};

static const struct fi_tx_attr attr_tx = {
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
		    FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
		    FI_MATCH_COMPLETE,
	.inject_size = WFI_INJECT,
	.size = WFI_CTX,
	.iov_limit = WFI_IOV,
	.rma_iov_limit = 1,
};

static const struct fi_rx_attr attr_rx = {
	.op_flags = FI_COMPLETION | FI_MULTI_RECV,
	.total_buffered_recv = 0,
	.size = WFI_CTX,
	.iov_limit = WFI_IOV,
};

static const struct fi_ep_attr attr_ep = {
	.protocol = FI_PROV_SPECIFIC | 0x77656674, /* "weft" */
	.protocol_version = 1,
	.max_order_raw_size = WIRE_ROOM - 64,
	.max_order_war_size = WIRE_ROOM - 64,
	.max_order_waw_size = WIRE_ROOM - 64,
	.mem_tag_format = UINT64_MAX,
	.tx_ctx_cnt = 1,
	.rx_ctx_cnt = 1,
};

static const struct fi_domain_attr attr_domain = {
	.threading = FI_THREAD_SAFE,
	.control_progress = FI_PROGRESS_MANUAL,
	.data_progress = FI_PROGRESS_MANUAL,
	.resource_mgmt = FI_RM_ENABLED,
	.av_type = FI_AV_UNSPEC,
	.mr_key_size = 8,
	.cq_data_size = 8,
	.cq_cnt = 1024,
	.ep_cnt = 1024,
	.tx_ctx_cnt = 1024,
	.rx_ctx_cnt = 1024,
	.max_ep_tx_ctx = 1,
	.max_ep_rx_ctx = 1,
	.max_ep_stx_ctx = 1024,
	.max_ep_srx_ctx = 1024,
	.cntr_cnt = 1024,
	.mr_iov_limit = WFI_IOV,
	.caps = ATTR_COMM,
	.mr_cnt = 65536,
};

struct fi_info *wfi_info_base(unsigned i)
{
	const struct attr_kind *k = &attr_kinds[i];
	struct fi_info *info;

	if (i >= sizeof(attr_kinds) / sizeof(*attr_kinds))
		return NULL;
	info = fi_allocinfo();
	if (!info)
		return NULL;
	info->caps = k->caps;
	info->addr_format = FI_SOCKADDR_IN;
	*info->tx_attr = attr_tx;
	*info->rx_attr = attr_rx;
	*info->ep_attr = attr_ep;
	*info->domain_attr = attr_domain;
	info->tx_attr->msg_order = info->rx_attr->msg_order = k->order;
	info->tx_attr->caps =
		k->caps & (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND |
			   FI_READ | FI_WRITE | FI_TRIGGER);
	info->rx_attr->caps =
		k->caps &
		(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
		 FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE |
		 FI_DIRECTED_RECV | FI_RMA_EVENT | FI_TRIGGER);
	info->ep_attr->type = k->type;
	info->ep_attr->max_msg_size = k->max_msg;
	info->domain_attr->name = strdup("weft0");
	info->fabric_attr->name = strdup("weft");
	return info;
}
