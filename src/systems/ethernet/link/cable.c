/* SPDX-License-Identifier: Apache-2.0 */
/* Class eth.cable: a 1000BASE-T cable with the PHYs at both ends, 1 Gb/s, full
 * duplex. By default a frame takes 100 ns through the sending PHY, 300 ns
 * through the receiving PHY and 10 ns through the cable (hvia.md 7.1). The
 * sender stores the rate in the frame (wire.h).
 *
 * Not modelled: autonegotiation, half duplex, line codes. */
#include "systems/ethernet/link/wire.h"

struct eth_cable {
	struct weft_link_state head;
	weft_time_t phy_tx, phy_rx, per_metre;
	double length;
};

static const struct weft_param cable_params[] = {
	/* clang-format off */
	WEFT_PARAM(TIME, struct eth_cable, phy_tx, "100ns", "", RECONSTRUCTED,
		   "through the transmitting PHY (7.1)"),
	WEFT_PARAM(TIME, struct eth_cable, phy_rx, "300ns", "", RECONSTRUCTED,
		   "through the receiving PHY (7.1)"),
	WEFT_PARAM(TIME, struct eth_cable, per_metre, "5ns", "1fs..", OWN,
		   "flight time of a metre"),
	WEFT_PARAM(REAL, struct eth_cable, length, "2", "0.1..100", OWN,
		   "metres; two of them are the 10 ns of 7.1"),
	{ 0 }
	/* clang-format on */
};

static int cable_init(struct weft_comp *c, struct weft_err *err)
{
	struct eth_cable *k = c->state;
	weft_time_t flight =
		(weft_time_t)(k->length * (double)k->per_metre + 0.5);

	k->head.delay = k->phy_tx + k->phy_rx + (flight ? flight : 1);
	return 0;
}

const struct weft_network_parts eth_network_parts = {
	.link = "eth.cable",
	.gateway = "eth.gateway",
};

WEFT_COMPONENT(eth_cable, .name = "eth.cable", .kind = WEFT_KIND_LINK,
	       .doc = "1000BASE-T cable with its two PHYs",
	       .source = "hvia.md 4, 7.1",
	       .not_modelled = "autonegotiation, half duplex, line codes",
	       .state_size = sizeof(struct eth_cable), .params = cable_params,
	       .ops = { .init = cable_init });
