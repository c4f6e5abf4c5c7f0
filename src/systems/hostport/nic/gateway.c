/* SPDX-License-Identifier: Apache-2.0 */
/* Class hostport.gateway: joins the crossbar beside a Host Port to an end of a
 * network of routers, as extoll.gateway does (extoll/network/gateway.c). A
 * route has two runs of hops. The first run leads over the link to the gateway,
 * and the crossbar removes it from the packet. The second run names the network
 * port at the far crossbar. DTAG of the command frame holds the Host Port
 * number of the destination.
 *
 * Not modelled: multicast. */
#include "systems/extoll/network/gateway.h"
#include "systems/hostport/nic/wire.h"

/* clang-format off */
static const struct weft_param params[] = {
	EX_GATEWAY_PARAMS("312.5MHz", "w16", OWN),
	{ 0 }
};
/* clang-format on */

static bool tag_dest(const struct weft_frame *f, uint32_t *end_p)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	struct hp_head h;

	if (m->hops != EX_ROUTE_RUNS ||
	    hp_pkt_head(f, f->payload.len, &h) != HP_PARSE_GOOD)
		return false;
	*end_p = HP_C3_DTAG(h.c[3]) - 1;
	return true;
}

static int hgw_init(struct weft_comp *c, struct weft_err *err)
{
	return ex_gateway_init(c, tag_dest, err);
}

WEFT_COMPONENT(hostport_gateway, .name = "hostport.gateway",
	       .kind = WEFT_KIND_SWITCH,
	       .doc = "Host Port's link to a network of routers",
	       .source = "own; link port as extoll.md 4",
	       .not_modelled = "multicast",
	       .state_size = sizeof(struct ex_gateway), .params = params,
	       .counters = ex_gateway_counters,
	       .n_counters = EX_GATEWAY_N_COUNTERS, .ports = ex_gateway_ports,
	       .ops = EX_GATEWAY_OPS(hgw_init),
	       .network_parts = &ex_gateway_parts);
