/* SPDX-License-Identifier: Apache-2.0 */
/* RMA user library: ports, connections, memory (extoll.md 6.1, 6.2).  See
 * weft/rma.h. */
#include <errno.h>

#include "systems/extoll/lib/rma_internal.h"

enum { SLOTS = 16384, LAZY = 4 };

static const struct {
	int err, ret;
} errnos[] = {
	{ -ENODEV, RMA_NO_DEVICE }, { -ENOSPC, RMA_PORTS_USED },
	{ -ENOMEM, RMA_NO_MEM },    { -EINVAL, RMA_INV_VALUE },
	{ -EFAULT, RMA_IOCTL },	    { -EPERM, RMA_MLOCKLIMIT },
};

static int ret_of(int err)
{
	for (uint32_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].err == err)
			return errnos[i].ret;
	return err ? RMA_ERROR : RMA_SUCCESS;
}

static const struct {
	int ret;
	const char *text;
} texts[] = {
	{ RMA_SUCCESS, "success" },
	{ RMA_ERROR, "error" },
	{ RMA_INV_HANDLE, "not a connection of this port" },
	{ RMA_INV_PORT, "not a port" },
	{ RMA_INV_VALUE, "a value is out of range" },
	{ RMA_NO_ROUTE, "there is no such node" },
	{ RMA_PORTS_USED, "all ports are in use" },
	{ RMA_NO_MEM, "no memory, or no table entries" },
	{ RMA_NO_NOTI, "no notification" },
	{ RMA_POLL_EXCEEDED, "no notification in time" },
	{ RMA_WRONG_ARG, "wrong argument" },
	{ RMA_NO_DESC_MEM, "no descriptor" },
	{ RMA_NO_MATCH, "no notification matches" },
	{ RMA_WRONG_CMD, "wrong command" },
	{ RMA_NO_DEVICE, "no device" },
	{ RMA_NO_CONNECT, "not connected" },
	{ RMA_IOCTL, "memory that no device can reach" },
	{ RMA_MMAP, "the device's pages cannot be mapped" },
	{ RMA_FD, "the device cannot be opened" },
	{ RMA_MLOCKLIMIT, "more memory than may be locked" },
};

const char *rma_strerror(int ret)
{
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].ret == ret)
			return texts[i].text;
	return "?";
}

/* ---- ports ---- */

int rma_open(struct weft_host *h, const struct rma_attr *attr,
	     struct rma_port **port_p)
{
	static const struct rma_attr none;
	struct rma_port *p = weft_host_calloc(h, 1, sizeof(*p));
	int ret;

	if (!p)
		return RMA_NO_MEM;
	if (!attr)
		attr = &none;
	ret = xmem_open(&p->mem, h, attr->slots ? attr->slots : SLOTS);
	if (ret) {
		weft_host_free(h, p);
		return ret_of(ret);
	}
	p->host = h;
	p->last = &p->first;
	p->lazy = attr->lazy ? attr->lazy : LAZY;
	/* At most slots - 1 slots can be unread. If `lazy` were larger, the
	 * library would never store the read pointer, and the NIC would never
	 * learn of a free slot. */
	if (p->lazy >= p->mem.slots)
		p->lazy = 1;
	if (attr->memlock)
		p->mem.memlock = attr->memlock;
	*port_p = p;
	return RMA_SUCCESS;
}

static void notis_free(struct rma_port *p, struct rma_noti *n)
{
	struct rma_noti *next;

	for (; n; n = next) {
		next = n->next;
		weft_host_free(p->host, n);
	}
}

int rma_close(struct rma_port *p)
{
	struct weft_host *h;

	if (!p)
		return RMA_INV_PORT;
	h = p->host;
	while (p->handles)
		rma_disconnect(p, p->handles);
	while (p->regions) {
		struct rma_region *r = p->regions;

		p->regions = r->next;
		weft_host_free(h, r);
	}
	xmem_close(&p->mem); /* also clears registered regions */
	notis_free(p, p->first);
	notis_free(p, p->spare);
	weft_host_free(h, p);
	return RMA_SUCCESS;
}

uint32_t rma_get_nodeid(const struct rma_port *p)
{
	return p->mem.drv.node;
}

uint32_t rma_get_vpid(const struct rma_port *p)
{
	return p->mem.vpid;
}

/* ---- connections ---- */

int rma_connect(struct rma_port *p, uint32_t node, uint32_t vpid,
		uint32_t options, struct rma_handle **handle_p)
{
	uint32_t opt = RMA_OPT_TE | (options & RMA_CONN_IRQ ? RMA_OPT_INT : 0);
	struct rma_handle *c;

	if (node > EXTOLL_NODE_MAX ||
	    (p->mem.drv.nodes && node >= p->mem.drv.nodes))
		return RMA_NO_ROUTE;
	if (vpid >= RMA_VPIDS)
		return RMA_INV_VALUE;
	c = weft_host_calloc(p->host, 1, sizeof(*c));
	if (!c)
		return RMA_NO_MEM;
	if (!weft_io_map(p->host, p->mem.drv.dev, EXTOLL_BAR,
			 extoll_rma_page(opt, p->mem.vpid), EXTOLL_PAGE,
			 WEFT_WC, &c->page)) {
		weft_host_free(p->host, c);
		return RMA_MMAP;
	}
	c->port = p;
	c->word0 = RMA_D_MAKE(0, node, vpid, 0, 0);
	c->next = p->handles;
	p->handles = c;
	*handle_p = c;
	return RMA_SUCCESS;
}

int rma_disconnect(struct rma_port *p, struct rma_handle *c)
{
	struct rma_handle **at = &p->handles;

	while (*at && *at != c)
		at = &(*at)->next;
	if (!*at)
		return RMA_INV_HANDLE;
	*at = c->next;
	weft_host_free(p->host, c);
	return RMA_SUCCESS;
}

/* ---- memory ---- */

int rma_register(struct rma_port *p, void *buf, size_t bytes,
		 struct rma_region **region_p)
{
	struct rma_region *r = weft_host_calloc(p->host, 1, sizeof(*r));
	int ret;

	if (!r)
		return RMA_NO_MEM;
	ret = xmem_register(&p->mem, buf, bytes, &r->mem);
	if (ret) {
		weft_host_free(p->host, r);
		return ret_of(ret);
	}
	r->port = p;
	r->next = p->regions;
	p->regions = r;
	*region_p = r;
	return RMA_SUCCESS;
}

int rma_unregister(struct rma_port *p, struct rma_region *r)
{
	struct rma_region **at = &p->regions;

	while (*at && *at != r)
		at = &(*at)->next;
	if (!*at)
		return RMA_INV_VALUE;
	*at = r->next;
	xmem_unregister(&p->mem, &r->mem);
	weft_host_free(p->host, r);
	return RMA_SUCCESS;
}

int rma_get_nla(const struct rma_region *r, size_t offset, rma_nla_t *nla_p)
{
	if (offset >= r->mem.len)
		return RMA_INV_VALUE;
	*nla_p = r->mem.nla + offset;
	return RMA_SUCCESS;
}
