/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the crossbar and its links (extoll.md 2.6), and their events
 * (2.7). The NIC's register file has them, because crossbar and NIC are one
 * chip, although they are two components here. */
#include "systems/extoll/network/cell_channel_framed.h"
#include "systems/extoll/nic/nic.h"

_Static_assert((int)EXTOLL_LP_READY == CELL_CHANNEL_READY,
	       "states as they are told");
_Static_assert((int)EXTOLL_LINK_UP == CELL_CHANNEL_LINK_UP, "events likewise");
_Static_assert((int)EXTOLL_LINK_ERROR == CELL_CHANNEL_LINK_ERROR,
	       "the last one");
_Static_assert((int)EXTOLL_LP_XBAR == CELL_CHANNEL_NEWS_XBAR,
	       "the same number");

void ex_link_news(struct extoll_nic *n)
{
	uint32_t news = n->news;

	n->news = 0;
	for (; news; news &= news - 1) {
		uint32_t tag =
			CELL_CHANNEL_NEWS + (uint32_t)__builtin_ctz(news);
		uint32_t bit = news & -news;

		if (CELL_CHANNEL_NEWS_WHAT(tag) == CELL_CHANNEL_LINK_ERROR) {
			if (n->evq.told & bit)
				continue;
			n->evq.told |= bit;
		}
		ex_event(n, EXTOLL_EV_LINK, 0, 0,
			 CELL_CHANNEL_NEWS_LP(tag) | CELL_CHANNEL_NEWS_WHAT(tag)
							     << 8);
	}
}

/* Returns port i of the crossbar, or NULL without a crossbar or cable. */
static struct cell_channel *port_of(struct weft_comp *c, uint32_t i)
{
	const struct extoll_nic *n = c->state;
	const struct weft_port *np = n->comp->ports[EX_PORT_NP].peer;
	struct weft_comp *xbar = np ? np->comp : NULL;

	if (!n->started || !xbar || xbar->n_ports < EX_PORTS ||
	    !xbar->ports[i].peer)
		return NULL;
	return (struct cell_channel *)xbar->ports[i].iface;
}

uint64_t ex_xbar_read(struct weft_comp *c, uint32_t i)
{
	uint32_t k = i % (EXTOLL_XBAR_STRIDE / 8) * 8;
	struct cell_channel *ep = port_of(c, i / (EXTOLL_XBAR_STRIDE / 8));
	const struct cell_channel_count *n =
		ep ? cell_channel_counts(ep) : NULL;
	uint64_t v = 0;

	switch (n ? k : EXTOLL_XBAR_STRIDE) {
	case EXTOLL_XBAR_OUT_CELLS:
		return n->tx_cells;
	case EXTOLL_XBAR_OUT_PACKETS:
		return n->tx_packets;
	case EXTOLL_XBAR_IN_CELLS:
		return n->rx_cells;
	case EXTOLL_XBAR_IN_PACKETS:
		return n->rx_packets;
	case EXTOLL_XBAR_CREDITS:
		for (uint32_t vc = 0; vc < EX_VCS; vc++)
			v |= (uint64_t)ep->used[vc] << 8 * vc;
		return v;
	case EXTOLL_XBAR_SHARED:
		return ep->shared;
	case EXTOLL_XBAR_HELD:
		return ep->held;
	default:
		return 0;
	}
}

/* By register: offset of its counter in struct cell_channel_count, plus 1. 0 =
 * none. */
#define F(field) (offsetof(struct cell_channel_count, field) + 1)
static const uint16_t lp_field[EXTOLL_LP_STRIDE / 8] = {
	[EXTOLL_LP_ACKS / 8] = F(acks),
	[EXTOLL_LP_NACKS / 8] = F(nacks),
	[EXTOLL_LP_REPLAYS / 8] = F(replays),
	[EXTOLL_LP_TIMEOUTS / 8] = F(timeouts),
	[EXTOLL_LP_CRC / 8] = F(crc),
	[EXTOLL_LP_CODE / 8] = F(code),
	[EXTOLL_LP_SEQ / 8] = F(seq),
	[EXTOLL_LP_VOIDS / 8] = F(voids),
	[EXTOLL_LP_DOWNS / 8] = F(downs),
};
#undef F

uint64_t ex_lp_read(struct weft_comp *c, uint32_t i)
{
	uint32_t per = EXTOLL_LP_STRIDE / 8, k = i % per;
	struct cell_channel *ep = port_of(c, EX_INTERNAL + i / per);
	uint64_t v = 0;

	if (k == EXTOLL_LP_STATE / 8) {
		/* A line without frames has no errors, so that it is always
		 * ready. */
		if (!ep)
			return EXTOLL_LP_NONE;
		return ep->slow ? ep->slow->state : EXTOLL_LP_READY;
	}
	if (!ep)
		return 0;
	if (k == EXTOLL_LP_UNACKED / 8)
		return ep->unacked;
	if (k == EXTOLL_LP_LOST / 8)
		return ep->slow ? ep->slow->n.lost : 0;
	if (lp_field[k])
		memcpy(&v,
		       (const char *)cell_channel_counts(ep) + lp_field[k] - 1,
		       sizeof(v));
	return v;
}
