/* SPDX-License-Identifier: Apache-2.0 */
/* Class forth.link: a cable with its two transceivers (forth.md 4.6, 11.1). The
 * cable sets the line rate and thereby the NET clock of both ends. It also sets
 * the time from the first word at the serialiser to the first word behind the
 * deserialiser. Not modelled here: faults, which are components of their own
 * (net/fault.h). */
#include <errno.h>

#include "systems/forth/link/port.h"

static const struct weft_param link_params[] = {
	/* clang-format off */
	WEFT_PARAM(RATE, struct forth_link, rate, "2.5Gb/s", "1Mb/s..1Tb/s",
		   STATED, "line rate after 8b/10b, 32 bits per NET cycle "
		   "(P 1)"),
	WEFT_PARAM(U32, struct forth_link, t_ser, "24", "1..1000000",
		   CALIBRATED, "NET cycles through serialiser, cable and "
		   "deserialiser, one way; printed 45..50 for both (P 2.4)"),
	WEFT_PARAM(TIME, struct forth_link, cable, "0", "",
		   OWN, "additional flight time of a long cable"),
	WEFT_PARAM(BOOL, struct forth_link, powerup, "no", "",
		   RECONSTRUCTED, "power comes at time 0: an end is in sync "
		   "after 16 words of commas (4.9); no = long before"),
	{ 0 }
	/* clang-format on */
};

static int link_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_link *k = c->state;

	if (!weft_clock_from_hz(&k->clk, k->rate, 32))
		return weft_fail(err, EINVAL,
				 "%s: rate 0: a line rate is needed", c->name);
	k->head.delay = weft_clock_edge(&k->clk, k->t_ser) + k->cable;
	return 0;
}

const struct weft_network_parts forth_network_parts = {
	.link = "forth.link",
	.gateway = "forth.gateway",
};

WEFT_COMPONENT(forth_link, .name = "forth.link", .kind = WEFT_KIND_LINK,
	       .doc = "FORTH link: 3.125 GBaud serial cable, full duplex",
	       .source = "forth.md 4.6, 4.13, 11.1",
	       .not_modelled =
		       "10-bit codes of bytes that are right, clock "
		       "correction as such",
	       .state_size = sizeof(struct forth_link), .params = link_params,
	       .ops = { .init = link_init });
