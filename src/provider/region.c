/* SPDX-License-Identifier: Apache-2.0 */
/* Direct access to memory regions of peers; see region.h. */
#include "provider/region.h"

#include <stdlib.h>
#include <string.h>

#include "provider/bulk.h"

/* Limits of a direct transfer in bytes. Shorter transfers use messages, which
 * are as fast. */
enum { DIRECT_MIN = 1024, DIRECT_MAX = 1 << 26 };

struct wfi_region {
	uint16_t port;
	uint64_t name;	      /* key that the peer's user has given */
	struct wire_region r; /* region of the NIC; len 0: none, or not known
			       * yet */
};

/* ---- questions to peers ---- */

/* Returns the key of a region in peer.regions. If two regions have one key, the
 * region asked for last replaces the other. */
static uint64_t region_place(uint16_t port, uint64_t key)
{
	return (key ^ (uint64_t)port << 40) & INT64_MAX;
}

static struct wfi_region *region_get(struct wfi_peer *p, uint16_t port,
				     uint64_t key)
{
	struct wfi_region *g = map_ptr(&p->regions, region_place(port, key));

	return g && g->port == port && g->name == key ? g : NULL;
}

static void region_ask(struct wfi_ep *ep, struct wfi_peer *p, uint16_t port,
		       uint64_t key)
{
	uint64_t place = region_place(port, key);
	struct wfi_region *g = map_ptr(&p->regions, place);
	struct wire w = { .op = WIRE_QUERY,
			  .flags = WIRE_REPLY,
			  .dst = port,
			  .src = ep->port.num,
			  .b = key };

	if (!g)
		g = malloc(sizeof(*g));
	if (!g)
		return;
	*g = (struct wfi_region){ .port = port, .name = key };
	if (map_set(&p->regions, place, (uintptr_t)g)) {
		free(g);
		return;
	}
	wfi_hub_tell(ep->hub, p, &w, NULL, 0);
}

bool wfi_region_find(struct wfi_ep *ep, struct wfi_peer *p, uint16_t port,
		     uint64_t key, uint64_t addr, size_t len, uint64_t access,
		     struct wire_window *to)
{
	uint32_t cap = access & FI_REMOTE_WRITE ? WEFT_EP_PUT : WEFT_EP_GET;
	const struct weft_att_info *info = ep->hub->info;
	struct wfi_region *g;
	uint64_t at;

	/* Direct access needs a NIC that can access the peer's memory. */
	if (len < DIRECT_MIN || len > DIRECT_MAX || p->addr == ep->hub->self ||
	    !(info->caps & cap) || (info->emulated & cap))
		return false;
	g = region_get(p, port, key);
	if (!g) {
		region_ask(ep, p, port, key);
		return false;
	}
	at = addr - g->r.base;
	if ((g->r.access & access) != access || addr < g->r.base ||
	    at > g->r.len || len > g->r.len - at)
		/* The caller then sends a message, because the peer's answer to
		 * the message gives the reason of the refusal. */
		return false;
	*to = (struct wire_window){ g->r.addr + at, g->r.key, len };
	return true;
}

void wfi_region_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	struct wfi_region *g = region_get(in->peer, in->w->src, in->w->b);

	if (g && in->w->op == WIRE_FORGET) {
		map_del(&in->peer->regions, region_place(g->port, g->name));
		free(g);
	} else if (g && in->len == sizeof(g->r)) {
		memcpy(&g->r, in->data, sizeof(g->r));
	}
}

/* ---- answers to peers ---- */

/* Records a peer that asked for the region, because it must be notified when
 * the region is closed. Returns false if memory is exhausted. */
static bool region_remember(struct wfi_mr *mr, const struct wfi_in *in)
{
	wfi_name *at;

	for (size_t i = 0; i < mr->shown; i++)
		if (mr->shown_to[i] == in->from)
			return true;
	at = reallocarray(mr->shown_to, mr->shown + 1, sizeof(*at));
	if (!at)
		return false;
	mr->shown_to = at;
	mr->shown_to[mr->shown++] = in->from;
	mr->shown_port = in->w->dst;
	return true;
}

void wfi_query_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	struct wfi_mr *mr = map_ptr(&ep->dom->mrs, in->w->b);
	struct wire w = { .op = WIRE_REGION,
			  .flags = WIRE_REPLY,
			  .dst = in->w->src,
			  .src = ep->port.num,
			  .b = in->w->b };
	struct wire_region r = { 0 };
	/* Direct access is refused if accesses must be counted, or if the NIC
	 * cannot name the region. */
	bool direct = mr && mr->iovs == 1 && mr->len && !mr->cntr &&
		      !ep->cntr[WFI_C_REMOTE_WRITE] &&
		      !ep->cntr[WFI_C_REMOTE_READ];

	if (direct && !mr->reg)
		direct = !wfi_reg_get(ep->hub, mr->iov[0].iov_base, mr->len,
				      &mr->reg);
	if (direct && region_remember(mr, in))
		r = (struct wire_region){
			.addr = mr->reg->mr.addr +
				(uint64_t)((char *)mr->iov[0].iov_base -
					   mr->reg->base),
			.key = mr->reg->mr.key,
			.len = mr->len,
			.base = mr->base,
			.access = mr->access,
		};
	wfi_hub_tell(ep->hub, in->peer, &w, &r, sizeof(r));
}

void wfi_region_gone(struct wfi_mr *mr)
{
	struct wfi_hub *h = mr->dom->hub;
	struct wire w = { .op = WIRE_FORGET,
			  .flags = WIRE_REPLY,
			  .src = mr->shown_port,
			  .b = mr->fid.key };

	for (size_t i = 0; i < mr->shown; i++) {
		struct wfi_peer *p = wfi_peer_get(h, WFI_PEER(mr->shown_to[i]));

		w.dst = WFI_PORT(mr->shown_to[i]);
		if (p)
			wfi_hub_tell(h, p, &w, NULL, 0);
	}
	free(mr->shown_to);
	mr->shown_to = NULL;
	mr->shown = 0;
	if (mr->reg)
		wfi_reg_put(h, mr->reg);
	mr->reg = NULL;
}
