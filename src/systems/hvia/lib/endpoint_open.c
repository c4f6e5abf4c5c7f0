/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over VIs: opening and closing, see endpoint.h. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/hvia/lib/agent.h"
#include "systems/hvia/lib/endpoint.h"

void hvia_ep_post(struct hvia_ep *e, struct hvia_ep_peer *p,
		  struct hvia_ep_slot *s)
{
	uint32_t bytes =
		(uint32_t)(e->stride - offsetof(struct hvia_ep_slot, head));

	memset(&s->desc, 0, sizeof(s->desc));
	s->desc.CS.SegCount = 1;
	s->desc.DS[0].Local.Data.Address = &s->head;
	s->desc.DS[0].Local.Handle = p->handle;
	s->desc.DS[0].Local.Length = bytes;
	VipPostRecv(p->vi, &s->desc, p->handle);
}

static void endpoint_open_address(const struct hvia_ep *e, uint32_t node,
				  uint32_t from, uint32_t to, uint32_t group,
				  void *out)
{
	const struct vipl_nic *n = vipl_nic(e->nic);
	VIP_NET_ADDRESS *a = out;
	uint32_t disc[3] = { from, to, group };

	a->HostAddressLen = 6;
	a->DiscriminatorLen = sizeof(disc);
	memcpy((uint8_t *)out + 4, n->mac, 6);
	((uint8_t *)out)[8] = (uint8_t)(node >> 8);
	((uint8_t *)out)[9] = (uint8_t)node;
	memcpy((uint8_t *)out + 10, disc, sizeof(disc));
}

static int peer_make(struct hvia_ep *e, uint32_t i)
{
	struct hvia_ep_peer *p = &e->peer[i];
	uint32_t n = 2 * (e->slots + HVIA_EP_SPARE);
	VIP_MEM_ATTRIBUTES m = { .Ptag = e->ptag };
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION,
		.MaxTransferSize = VIPL_MAX_TRANSFER,
		.Ptag = e->ptag,
	};

	p->tail = &p->head;
	p->places = e->slots;
	p->mem = weft_host_align(e->h, HVIA_PAGE, n * e->stride);
	if (!p->mem)
		return -ENOMEM;
	if (VipRegisterMem(e->nic, p->mem, n * e->stride, &m, &p->handle) !=
		    VIP_SUCCESS ||
	    VipCreateVi(e->nic, &a, NULL, NULL, &p->vi) != VIP_SUCCESS)
		return -ENOMEM;
	for (uint32_t k = n / 2; k < n; k++)
		hvia_ep_post(e, p, hvia_ep_slot(e, p, k));
	return 0;
}

static int peer_connect(struct hvia_ep *e, uint32_t i, uint32_t group)
{
	VIP_VI_ATTRIBUTES a;
	uint32_t local[8], remote[8];
	uint32_t lo = e->me < i ? e->me : i, hi = e->me < i ? i : e->me;

	endpoint_open_address(e, e->me, lo, hi, group, local);
	endpoint_open_address(e, i, lo, hi, group, remote);
	if (VipConnectPeerRequest(e->peer[i].vi, (VIP_NET_ADDRESS *)local,
				  (VIP_NET_ADDRESS *)remote,
				  VIP_INFINITE) != VIP_SUCCESS ||
	    VipConnectPeerWait(e->peer[i].vi, &a) != VIP_SUCCESS)
		return -ECONNREFUSED;
	return 0;
}

/* The program knows messages as sent: they are, before the connection ends.
 * The service gives up by itself. */
static void peer_flush(struct hvia_ep *e, struct hvia_ep_peer *p)
{
	VIP_DESCRIPTOR *d;

	for (;;) {
		VIP_RETURN ret = VipSendDone(p->vi, &d);

		if (ret == VIP_NOT_DONE)
			weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_US);
		else if (!d)
			return;
	}
}

void hvia_ep_close(struct weft_ep *ep)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	VIP_DESCRIPTOR *d;

	for (uint32_t i = 0; e->peer && i < e->n; i++) {
		struct hvia_ep_peer *p = &e->peer[i];

		if (!p->vi)
			continue;
		peer_flush(e, p);
		VipDisconnect(p->vi);
		do
			VipRecvDone(p->vi, &d);
		while (d);
		VipDestroyVi(p->vi);
		VipDeregisterMem(e->nic, p->mem, p->handle);
		weft_host_free(e->h, p->mem);
	}
	if (e->nic)
		VipCloseNic(e->nic);
	weft_host_free(e->h, e->region.at);
	weft_host_free(e->h, e->event.at);
	weft_host_free(e->h, e->peer);
	weft_host_free(e->h, e);
}

static int hvia_ep_start(struct hvia_ep *e, uint32_t group)
{
	int ret = 0;

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	if (!e->peer || VipOpenNic("hvia0+reliable", &e->nic) != VIP_SUCCESS ||
	    VipCreatePtag(e->nic, &e->ptag) != VIP_SUCCESS)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n && !ret; i++)
		ret = i == e->me ? 0 : peer_make(e, i);
	for (uint32_t i = 0; i < e->n && !ret; i++)
		ret = i == e->me ? 0 : peer_connect(e, i, group);
	return ret;
}

static int ep_hvia_open(struct weft_host *h, const struct weft_ep_attr *attr,
			struct weft_ep **ep_p)
{
	struct hvia_ep *e = weft_host_calloc(h, 1, sizeof(*e));
	const uint32_t all = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET |
			     WEFT_EP_FADD | WEFT_EP_CSWAP;
	int ret;

	if (!e)
		return -ENOMEM;
	e->ep = (struct weft_ep){
		.ops = &hvia_ep_ops,
		.host = h,
		.info = { .name = "hvia",
			  .caps = all,
			  .emulated = all & ~(uint32_t)WEFT_EP_MSG,
			  .max_msg = attr->max_msg ? attr->max_msg : 16384,
			  .max_put = UINT32_MAX,
			  .align = 1 },
	};
	e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->slots = attr->rx_slots ? attr->rx_slots : 8;
	e->irq = attr->use_irq;
	e->stride =
		(sizeof(struct hvia_ep_slot) + e->ep.info.max_msg + 63) & ~63ul;
	ret = hvia_ep_start(e, attr->group);
	if (ret) {
		hvia_ep_close(&e->ep);
		return ret;
	}
	*ep_p = &e->ep;
	return 0;
}

const struct ep_nic ep_nic_hvia = { .probe = hvia_probe,
				    .open = ep_hvia_open,
				    .groups = true };
