/* SPDX-License-Identifier: Apache-2.0 */
/* Class tables, port settings and counters of the EXTOLL crossbar (extoll.md
 * 4). crossbar.c implements the arbitration. */
#include "systems/extoll/network/crossbar.h"

#include <errno.h>

enum { EXTOLL_XBAR_FRAMED, EXTOLL_XBAR_PLAIN };

static const struct weft_param extoll_xbar_params[] = {
	/* clang-format off */
	WEFT_PARAM(CLOCK, struct extoll_xbar, clock, "156MHz", "", STATED,
		   "core clock"),
	WEFT_PARAM(REAL, struct extoll_xbar, ppm, "0", "-1000..1000", OWN,
		   "offset of this node's crystal in parts per million"),
	WEFT_PARAM(ENUM, struct extoll_xbar, width, "w32", "w16|w32", STATED,
		   "network data path, 16 or 32 bit"),
	WEFT_PARAM(ENUM, struct extoll_xbar, links, "framed", "framed|plain", OWN,
		   "links with framing, control cells and replay, or bare "
		   "ones: cells and credits cost nothing but their time"),
	WEFT_PARAM(U32, struct extoll_xbar, cell_flits, "0", "0..128", OWN,
		   "flits of a cell at most; 0 = 64 bytes (plain links only)"),
	WEFT_PARAM(U32, struct extoll_xbar, gap, "4", "1..16", STATED,
		   "least distance of cell starts: shift-in of the "
		   "multi-queue"),
	WEFT_PARAM(U32, struct extoll_xbar, slots, "64", "4..128", RECONSTRUCTED,
		   "cells an input holds (4.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, reserved, "8", "1..32", RECONSTRUCTED,
		   "of these for each VC, the rest is shared (4.4)"),
	WEFT_PARAM(U32, struct extoll_xbar, window, "32", "1..127", RECONSTRUCTED,
		   "cells not yet acknowledged (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, ack_every, "4", "1..32", RECONSTRUCTED,
		   "cells per ACK (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, ack_idle, "64", "1..", RECONSTRUCTED,
		   "cycles without a cell before an ACK (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, refresh, "256", "16..", RECONSTRUCTED,
		   "cycles between credit refreshes (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, timeout, "1024", "64..", RECONSTRUCTED,
		   "cycles without progress before a replay (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, attempts, "15", "1..15", STATED,
		   "replays before the link goes down (4.7)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_route, "5", "1..64", CALIBRATED,
		   "cycles, first flit to request; X = 10 in all (7.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_cross, "5", "0..64", CALIBRATED,
		   "cycles, grant to first flit at the output (7.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_lp_out, "8", "0..64", CALIBRATED,
		   "cycles, link port out, L1 (7.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_lp_in, "10", "0..64", CALIBRATED,
		   "cycles, link port in, L6 (7.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_transit, "0", "0..64", OWN,
		   "cycles more for packets that go from link to link: the "
		   "hop, where t_lp_out and t_lp_in are fitted to the ends of "
		   "a path (Host Port specification 2.1, 11.5)"),
	WEFT_PARAM(U32, struct extoll_xbar, t_sync, "5", "1..64", CALIBRATED,
		   "cycles, receive FIFO, L5 (7.1)"),
	WEFT_PARAM(U32, struct extoll_xbar, mgt, "17", "0..64", STATED,
		   "cycles, transceivers and codec, L3 (7.4)"),
	WEFT_PARAM(U32, struct extoll_xbar, mgt_ui, "140", "0..1024", STATED,
		   "and unit intervals of 1/40 cycle, in steps of 20 (7.4)"),
	WEFT_PARAM(U32, struct extoll_xbar, dateline, "0", "0..63", OWN,
		   "bit per link port: its cable closes a ring (4.6)"),
	WEFT_PARAM(U32, struct extoll_xbar, node, "0", "0..65533", OWN,
		   "own number, for routing by table"),
	WEFT_PARAM(BOOL, struct extoll_xbar, hap, "no", "", OWN,
		   "packets that lead nowhere go to np2 instead of being "
		   "discarded (Host Port specification 3.1)"),
	WEFT_PARAM(BOOL, struct extoll_xbar, hash_order, "no", "", OWN,
		   "packets of the Host Port with equal hash of their "
		   "destination leave in order of arrival (Host Port "
		   "specification 3.1)"),
	WEFT_PARAM(BOOL, struct extoll_xbar, store_forward, "no", "", RECONSTRUCTED,
		   "a cell is whole before it goes on (5.6)"),
	WEFT_PARAM(BOOL, struct extoll_xbar, train, "no", "", OWN,
		   "links are brought up at the start (5.7); else they are up"),
	{ 0 },
	/* clang-format on */
};

static const struct weft_preset extoll_xbar_presets[] = {
	{ "w16", "width=w16", "16-bit network data path (variant A)" },
	{ "w32", "width=w32", "32-bit network data path (variant B)" },
	{ "plain",
	  "links=plain gap=1 cell_flits=32 t_route=2 t_cross=1 t_lp_out=0 "
	  "t_lp_in=0 t_sync=1 mgt=0 mgt_ui=0",
	  "five cycles per hop, packets of up to 32 flits whole, bare links" },
	{ "hostport",
	  "clock=312.5MHz width=w16 t_route=2 t_cross=1 t_lp_out=5 t_lp_in=5 "
	  "t_transit=13 t_sync=1 mgt=0 mgt_ui=0 hap=yes hash_order=yes",
	  "links of 6.25 Gbit/s, crossbar of 3 cycles, a hop of 30 cycles of "
	  "330 MHz; link ports at the ends of a path calibrated: ULTRA on PCI "
	  "66 takes 1198 ns (Host Port specification 11.5)" },
	{ 0 },
};

static const struct weft_counter extoll_xbar_counters[EXTOLL_XBAR_N_COUNTERS] = {
	[EXTOLL_XBAR_CELLS] = { "cells", "cells", "cells sent on" },
	[EXTOLL_XBAR_PACKETS] = { "packets", "packets", "packets sent on" },
	[EXTOLL_XBAR_ILLEGAL] = { "illegal", "packets",
				  "routing nibble that is no port: discarded" },
	[EXTOLL_XBAR_NO_PORT] = { "no_port", "packets",
				  "output that leads nowhere: discarded" },
	[EXTOLL_XBAR_VOIDS] = { "voids", "cells", "void cells dropped here" },
	[EXTOLL_XBAR_CONFLICTS] = { "conflicts", "grants",
				    "grants not accepted: the input took another" },
	[EXTOLL_XBAR_SPACING] = { "spacing", "cycles",
				  "least distance of cells at an input (4.1); 0 = "
				  "there were no two" },
	[EXTOLL_XBAR_VCS] = { "vcs", "channels",
			      "virtual channels that were used" },
	[EXTOLL_XBAR_RETRIES] = { "retries", "times",
				  "cells were sent again (4.7)" },
	[EXTOLL_XBAR_TIMEOUTS] = { "timeouts", "times",
				   "of these after a timeout" },
	[EXTOLL_XBAR_NACKS] = { "nacks", "cells", "NACKs sent" },
	[EXTOLL_XBAR_CRC] = { "crc_errors", "cells",
			      "received with a bad CRC" },
	[EXTOLL_XBAR_CODE] = { "code_errors", "cells",
			       "received with code errors" },
	[EXTOLL_XBAR_SEQ] = { "seq_errors", "cells",
			      "received out of sequence" },
	[EXTOLL_XBAR_VOIDS_IN] = { "voids_in", "cells",
				   "void cells taken in (5.6)" },
	[EXTOLL_XBAR_DOWNS] = { "downs", "times", "a link went down (4.7)" },
	[EXTOLL_XBAR_LOST] = { "lost", "times", "a link lost alignment (5.7)" },
	[EXTOLL_XBAR_RESENT] = { "resent", "cells", "sent again" },
	[EXTOLL_XBAR_NACKS_IN] = { "nacks_in", "cells", "NACKs received" },
	[EXTOLL_XBAR_STALE] = { "nacks_stale", "cells",
				"of these, for cells that have come meanwhile" },
	[EXTOLL_XBAR_IGNORED] = { "ignored", "cells",
				  "refused while a NACK was out already" },
	[EXTOLL_XBAR_CONTROL] = { "control_errors", "cells",
				  "control cells received with errors" },
	[EXTOLL_XBAR_IDLE] = { "idle_errors", "times",
			       "damage without a bad cell: its start was not seen" },
	[EXTOLL_XBAR_PIECES] = { "pieces", "cells",
				 "further bad cells found in one damaged cell" },
};

static const struct weft_port_decl extoll_xbar_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "3", &ex_wire_internal, true,
	  "internal, to a network port" },
	{ "lp%u", WEFT_PORT_LINK, "6", &ex_wire_link, true,
	  "link port: +x -x +y -y +z -z" },
	{ 0 },
};

/* ---- ports ---- */

struct cell_channel_cfg extoll_xbar_cfg_link(const struct extoll_xbar *x)
{
	struct cell_channel_cfg c = cell_channel_cfg_link(x->width, &x->clock);

	c.gap = x->gap;
	c.t_out = x->t_cross + x->t_lp_out;
	c.t_in = x->t_lp_in + x->t_route;
	c.t_ctl_in = x->t_lp_in;
	c.t_ser = 2 * x->mgt + x->mgt_ui / 20;
	c.t_sync = 2 * x->t_sync;
	c.t_credit = 5 + x->t_lp_out;
	c.t_ack = 2 + x->t_lp_out;
	c.slots = x->slots;
	c.reserved = x->reserved;
	c.window = x->window;
	c.ack_every = x->ack_every;
	c.ack_idle = x->ack_idle;
	c.refresh = x->refresh;
	c.timeout = x->timeout;
	c.attempts = x->attempts;
	c.store_forward = x->store_forward;
	c.train = x->train;
	c.node = x->node;
	if (x->links == EXTOLL_XBAR_PLAIN) {
		c.overhead = c.ctl_flits = c.window = c.refresh = 0;
		c.cell_flits = x->cell_flits;
		c.t_credit = 1;
	}
	return c;
}

struct cell_channel_cfg extoll_xbar_cfg_internal(const struct extoll_xbar *x)
{
	struct cell_channel_cfg c =
		cell_channel_cfg_internal(x->width, &x->clock);

	c.gap = x->gap;
	c.t_out = x->t_cross;
	c.t_in = x->t_route;
	c.slots = x->slots;
	c.reserved = x->reserved;
	return c;
}

static uint32_t flits_or_64(uint32_t flits, uint32_t width)
{
	return flits ? flits : EX_CELL_BYTES / ex_flit_bytes(width);
}

/* Checks that cells of the network ports fit into cells of the crossbar,
 * because a crossbar forwards cells uncut. */
int extoll_xbar_cells_fit(const struct extoll_xbar *x, struct weft_err *err)
{
	uint32_t max = flits_or_64(x->cell_flits, x->width);

	if (x->cell_flits && x->links != EXTOLL_XBAR_PLAIN)
		return weft_fail(
			err, EINVAL,
			"%s: cell_flits = %u: cells of framed links have 64 bytes; write links: plain, or cell_flits: 0",
			x->comp->name, x->cell_flits);
	for (uint32_t i = 0; i < EX_INTERNAL; i++) {
		const struct cell_channel *p = x->ep[i].peer;
		uint32_t n = p ? flits_or_64(p->cfg.cell_flits, x->width) : 0;

		if (n > max)
			return weft_fail(
				err, EINVAL,
				"%s: cells of %u flits at most: %s sends cells of %u; write links: plain, cell_flits: %u",
				x->comp->name, max, p->comp->name, n, n);
	}
	return 0;
}

/* ---- counters ---- */

int extoll_xbar_sample(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_xbar *x = c->state;
	uint32_t i, least, used, q;

	for (i = 0; i < EX_PORTS; i++)
		if (x->ep[i].peer)
			cell_channel_volume(&x->ep[i]);
	least = EXTOLL_XBAR_FAR;
	for (i = 0; i < EX_PORTS; i++)
		if (x->in[i].spacing < least)
			least = x->in[i].spacing;
	c->counters[EXTOLL_XBAR_SPACING] = least < EXTOLL_XBAR_FAR ? least : 0;
	/* Counts the VCs on which a cell ever arrived. The tail of a queue is
	 * set by the first cell and never reset. */
	used = 0;
	for (i = 0; i < EX_PORTS; i++)
		for (q = 0; q < EXTOLL_XBAR_QUEUES; q++)
			if (x->in[i].tail[q] != EXTOLL_XBAR_NONE)
				used |= 1u << q % EX_VCS;
	c->counters[EXTOLL_XBAR_VCS] = (uint32_t)__builtin_popcount(used);
	extoll_xbar_link_counts(x);
	return 0;
}

WEFT_COMPONENT(extoll_xbar, .name = "extoll.xbar", .kind = WEFT_KIND_SWITCH,
	       .doc = "EXTOLL crossbar: 9 ports, virtual output queues, 4 VCs",
	       .source = "extoll.md 4",
	       .not_modelled = "slot numbers of the input RAMs",
	       .state_size = sizeof(struct extoll_xbar),
	       .params = extoll_xbar_params, .presets = extoll_xbar_presets,
	       .counters = extoll_xbar_counters,
	       .n_counters = EXTOLL_XBAR_N_COUNTERS, .ports = extoll_xbar_ports,
	       .ops = { .init = extoll_xbar_init,
			.start = extoll_xbar_start,
			.arrive = extoll_xbar_arrive,
			.event = extoll_xbar_event,
			.soon = extoll_xbar_soon,
			.finish = extoll_xbar_finish,
			.sample = extoll_xbar_sample,
			.waiting = extoll_xbar_waiting,
			.route = extoll_xbar_set_table,
			.place = ex_stand,
			.fini = extoll_xbar_fini });
