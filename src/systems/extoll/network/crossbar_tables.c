/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar (extoll.md 4): its tables, what they mean to its ports, its
 * counters (see crossbar.c for what it does). */
#include "systems/extoll/network/crossbar.h"

#include <errno.h>

enum { XB_FRAMED, XB_PLAIN };

static const struct weft_param xb_params[] = {
	/* clang-format off */
	WEFT_PARAM(CLOCK, struct xb, clock, "156MHz", "", STATED,
		   "core clock"),
	WEFT_PARAM(REAL, struct xb, ppm, "0", "-1000..1000", OWN,
		   "offset of this node's crystal in parts per million"),
	WEFT_PARAM(ENUM, struct xb, width, "w32", "w16|w32", STATED,
		   "network data path, 16 or 32 bit"),
	WEFT_PARAM(ENUM, struct xb, links, "framed", "framed|plain", OWN,
		   "links with framing, control cells and replay, or bare "
		   "ones: cells and credits cost nothing but their time"),
	WEFT_PARAM(U32, struct xb, cell_flits, "0", "0..128", OWN,
		   "flits of a cell at most; 0 = 64 bytes (plain links only)"),
	WEFT_PARAM(U32, struct xb, gap, "4", "1..16", STATED,
		   "least distance of cell starts: shift-in of the "
		   "multi-queue"),
	WEFT_PARAM(U32, struct xb, slots, "64", "4..128", RECONSTRUCTED,
		   "cells an input holds (4.1)"),
	WEFT_PARAM(U32, struct xb, reserved, "8", "1..32", RECONSTRUCTED,
		   "of these for each VC, the rest is shared (4.4)"),
	WEFT_PARAM(U32, struct xb, window, "32", "1..127", RECONSTRUCTED,
		   "cells not yet acknowledged (4.7)"),
	WEFT_PARAM(U32, struct xb, ack_every, "4", "1..32", RECONSTRUCTED,
		   "cells per ACK (4.7)"),
	WEFT_PARAM(U32, struct xb, ack_idle, "64", "1..", RECONSTRUCTED,
		   "cycles without a cell before an ACK (4.7)"),
	WEFT_PARAM(U32, struct xb, refresh, "256", "16..", RECONSTRUCTED,
		   "cycles between credit refreshes (4.7)"),
	WEFT_PARAM(U32, struct xb, timeout, "1024", "64..", RECONSTRUCTED,
		   "cycles without progress before a replay (4.7)"),
	WEFT_PARAM(U32, struct xb, attempts, "15", "1..15", STATED,
		   "replays before the link goes down (4.7)"),
	WEFT_PARAM(U32, struct xb, t_route, "5", "1..64", CALIBRATED,
		   "cycles, first flit to request; X = 10 in all (7.1)"),
	WEFT_PARAM(U32, struct xb, t_cross, "5", "0..64", CALIBRATED,
		   "cycles, grant to first flit at the output (7.1)"),
	WEFT_PARAM(U32, struct xb, t_lp_out, "8", "0..64", CALIBRATED,
		   "cycles, link port out, L1 (7.1)"),
	WEFT_PARAM(U32, struct xb, t_lp_in, "10", "0..64", CALIBRATED,
		   "cycles, link port in, L6 (7.1)"),
	WEFT_PARAM(U32, struct xb, t_transit, "0", "0..64", OWN,
		   "cycles more for packets that go from link to link: the "
		   "hop, where t_lp_out and t_lp_in are fitted to the ends of "
		   "a path (Host Port specification 2.1, 11.5)"),
	WEFT_PARAM(U32, struct xb, t_sync, "5", "1..64", CALIBRATED,
		   "cycles, receive FIFO, L5 (7.1)"),
	WEFT_PARAM(U32, struct xb, mgt, "17", "0..64", STATED,
		   "cycles, transceivers and codec, L3 (7.4)"),
	WEFT_PARAM(U32, struct xb, mgt_ui, "140", "0..1024", STATED,
		   "and unit intervals of 1/40 cycle, in steps of 20 (7.4)"),
	WEFT_PARAM(U32, struct xb, dateline, "0", "0..63", OWN,
		   "bit per link port: its cable closes a ring (4.6)"),
	WEFT_PARAM(U32, struct xb, node, "0", "0..65533", OWN,
		   "own number, for routing by table"),
	WEFT_PARAM(BOOL, struct xb, hap, "no", "", OWN,
		   "packets that lead nowhere go to np2 instead of being "
		   "discarded (Host Port specification 3.1)"),
	WEFT_PARAM(BOOL, struct xb, hash_order, "no", "", OWN,
		   "packets of the Host Port with equal hash of their "
		   "destination leave in order of arrival (Host Port "
		   "specification 3.1)"),
	WEFT_PARAM(BOOL, struct xb, store_forward, "no", "", RECONSTRUCTED,
		   "a cell is whole before it goes on (5.6)"),
	WEFT_PARAM(BOOL, struct xb, train, "no", "", OWN,
		   "links with faults or captures are brought up at the start "
		   "(5.7); else they are up"),
	{ 0 },
	/* clang-format on */
};

static const struct weft_preset xb_presets[] = {
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

static const struct weft_counter xb_counters[XB_N_COUNTERS] = {
	[XB_CELLS] = { "cells", "cells", "cells sent on" },
	[XB_PACKETS] = { "packets", "packets", "packets sent on" },
	[XB_ILLEGAL] = { "illegal", "packets",
			 "routing nibble that is no port: discarded" },
	[XB_NO_PORT] = { "no_port", "packets",
			 "output that leads nowhere: discarded" },
	[XB_VOIDS] = { "voids", "cells", "void cells dropped here" },
	[XB_CONFLICTS] = { "conflicts", "grants",
			   "grants not accepted: the input took another" },
	[XB_SPACING] = { "spacing", "cycles",
			 "least distance of cells at an input (4.1); 0 = "
			 "there were no two" },
	[XB_VCS] = { "vcs", "channels", "virtual channels that were used" },
	[XB_RETRIES] = { "retries", "times", "cells were sent again (4.7)" },
	[XB_TIMEOUTS] = { "timeouts", "times", "of these after a timeout" },
	[XB_NACKS] = { "nacks", "cells", "NACKs sent" },
	[XB_CRC] = { "crc_errors", "cells", "received with a bad CRC" },
	[XB_CODE] = { "code_errors", "cells", "received with code errors" },
	[XB_SEQ] = { "seq_errors", "cells", "received out of sequence" },
	[XB_VOIDS_IN] = { "voids_in", "cells", "void cells taken in (5.6)" },
	[XB_DOWNS] = { "downs", "times", "a link went down (4.7)" },
	[XB_LOST] = { "lost", "times", "a link lost alignment (5.7)" },
	[XB_RESENT] = { "resent", "cells", "sent again" },
	[XB_NACKS_IN] = { "nacks_in", "cells", "NACKs received" },
	[XB_STALE] = { "nacks_stale", "cells",
		       "of these, for cells that have come meanwhile" },
	[XB_IGNORED] = { "ignored", "cells",
			 "refused while a NACK was out already" },
	[XB_CONTROL] = { "control_errors", "cells",
			 "control cells received with errors" },
	[XB_IDLE] = { "idle_errors", "times",
		      "damage without a bad cell: its start was not seen" },
	[XB_PIECES] = { "pieces", "cells",
			"further bad cells found in one damaged cell" },
};

static const struct weft_port_decl xb_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "3", &ex_wire_internal, true,
	  "internal, to a network port" },
	{ "lp%u", WEFT_PORT_LINK, "6", &ex_wire_link, true,
	  "link port: +x -x +y -y +z -z" },
	{ 0 },
};

/* ---- ports ---- */

struct eport_cfg xb_cfg_link(const struct xb *x)
{
	struct eport_cfg c = eport_cfg_link(x->width, &x->clock);

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
	if (x->links == XB_PLAIN) {
		c.overhead = c.ctl_flits = c.window = c.refresh = 0;
		c.cell_flits = x->cell_flits;
		c.t_credit = 1;
	}
	return c;
}

struct eport_cfg xb_cfg_internal(const struct xb *x)
{
	struct eport_cfg c = eport_cfg_internal(x->width, &x->clock);

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

/* Cells are cut by network ports and stay as they are: the first one has the
 * route, the Host Port's with its 64 bytes, too. */
int xb_cells_fit(const struct xb *x, struct weft_err *err)
{
	uint32_t max = flits_or_64(x->cell_flits, x->width);

	if (x->cell_flits && x->links != XB_PLAIN)
		return weft_fail(
			err, EINVAL,
			"%s: cell_flits = %u: cells of framed links have 64 bytes; write links: plain, or cell_flits: 0",
			x->comp->name, x->cell_flits);
	for (uint32_t i = 0; i < EX_INTERNAL; i++) {
		const struct eport *p = x->ep[i].peer;
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

/* Virtual channels on which cells have come: a queue that was used has a tail
 * for ever. */
static uint32_t vcs_used(const struct xb *x)
{
	uint32_t used = 0, i, q;

	for (i = 0; i < EX_PORTS; i++)
		for (q = 0; q < XB_QUEUES; q++)
			if (x->in[i].tail[q] != XB_NONE)
				used |= 1u << q % EX_VCS;
	return (uint32_t)__builtin_popcount(used);
}

static uint32_t spacing(const struct xb *x)
{
	uint32_t least = XB_FAR, i;

	for (i = 0; i < EX_PORTS; i++)
		if (x->in[i].spacing < least)
			least = x->in[i].spacing;
	return least < XB_FAR ? least : 0;
}

int xb_sample(struct weft_comp *c, struct weft_err *err)
{
	struct xb *x = c->state;
	uint32_t i;

	for (i = 0; i < EX_PORTS; i++)
		if (x->ep[i].peer)
			eport_volume(&x->ep[i]);
	c->counters[XB_SPACING] = spacing(x);
	c->counters[XB_VCS] = vcs_used(x);
	xb_link_counts(x);
	return 0;
}

WEFT_COMPONENT(extoll_xbar, .name = "extoll.xbar", .kind = WEFT_KIND_SWITCH,
	       .doc = "EXTOLL crossbar: 9 ports, virtual output queues, 4 VCs",
	       .source = "extoll.md 4",
	       .not_modelled = "slot numbers of the input RAMs",
	       .state_size = sizeof(struct xb), .params = xb_params,
	       .presets = xb_presets, .counters = xb_counters,
	       .n_counters = XB_N_COUNTERS, .ports = xb_ports,
	       .ops = { .init = xb_init,
			.start = xb_start,
			.arrive = xb_arrive,
			.event = xb_event,
			.soon = xb_soon,
			.finish = xb_finish,
			.sample = xb_sample,
			.waiting = xb_waiting,
			.route = xb_set_table,
			.place = ex_stand,
			.fini = xb_fini });
