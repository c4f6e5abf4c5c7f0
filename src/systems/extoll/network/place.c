/* SPDX-License-Identifier: Apache-2.0 */
/* Places and routes of EXTOLL's direct networks, see place.h. */
#include "systems/extoll/network/place.h"

const struct weft_network_parts ex_network_parts = {
	.net = "extoll.net",
	.switch_class = "extoll.xbar",
	.link = "extoll.cable",
	.gateway = "extoll.gateway",
};

int ex_stand(struct weft_comp *c, const struct weft_place *at,
	     struct weft_err *err)
{
	struct ex_place *p = c->state;

	p->node = at->node;
	p->topo = at->topo;
	p->net = at->net;
	return 0;
}

bool ex_route_make(const struct topology *t, uint32_t s, uint32_t d,
		   uint32_t port, uint32_t coins, struct weft_frame *f)
{
	struct ex_meta *m = ex_meta(f);
	uint32_t n = 0, out;

	m->pos = m->hops = 0;
	m->dest = (uint16_t)d;
	m->port = (uint8_t)port;
	if (!t->path)
		return true;
	for (; s != d; s = topo_far(t, s, out)) {
		out = topo_way(t, s, d, coins);
		if (out == TOPO_NO_PORT || n + 1 >= EX_ROUTE_MAX)
			return false;
		ex_route_set(f, n++, out);
	}
	ex_route_set(f, n++, port);
	m->hops = (uint8_t)n;
	return true;
}
