/* SPDX-License-Identifier: Apache-2.0 */
/* The line between two EXTOLL crossbars loses, repeats, damages and forges
 * cells and control cells (line.h). A traffic component at each end sends
 * numbered packets to the other end.
 *
 * No port holds more cells than it has room for, or has more in flight than its
 * credits allow. The run ends, and no frame is left over. Damage alone neither
 * changes nor reorders a packet, and loses none while the link is up. Forged
 * control cells may remove packets, but not change or reorder them. A changed
 * or forged cell whose CRC fits may have any effect on packets.
 *
 * Byte 0 of an input selects the machine. The other bytes are actions of the
 * line. */
#include <stdlib.h>
#include <string.h>

#include "line.h"
#include "sim/sim_internal.h"
#include "systems/extoll/network/cell_channel_framed.h"
#include "systems/extoll/network/crossbar.h"
#include "systems/extoll/traffic/generator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct weft_class weft_class_extoll_xbar, weft_class_extoll_gen,
	weft_class_extoll_cable;

enum { ENDS = 2, LP = 3, END_US = 20000 };

static struct {
	struct weft_sim *sim;
	struct weft_comp *gen[ENDS], *xbar[ENDS];
	struct cell_channel *ep[ENDS];
	struct fuzz_line line;
} m;

/* ---- the machine ---- */

static struct weft_comp *add(const struct weft_class *cls, const char *name,
			     uint32_t i, const char *const *set)
{
	char full[8] = { name[0], (char)('0' + i) };
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(m.sim, cls, full, &err);
	int ret = !c;

	for (; !ret && set && *set; set += 2)
		ret = weft_param_set(c, set[0], set[1], &err);
	fuzz_must(!ret, err.msg);
	return c;
}

static void init(struct weft_comp *c)
{
	struct weft_err err = { 0 };

	fuzz_must(!weft_comp_init(c, &err), err.msg);
}

static void join(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *cable)
{
	struct weft_err err = { 0 };

	fuzz_must(!weft_connect(a, b, cable, cable ? 0 : 1, &err), err.msg);
}

/* Sets the routes of crossbar i. Packets for the other crossbar leave through
 * the cable. */
static void tables(uint32_t i)
{
	const uint32_t to[ENDS] = { i ? LP : 0, i ? 0 : LP };
	struct weft_err err = { 0 };

	fuzz_must(!weft_class_extoll_xbar.ops.route(m.xbar[i], WEFT_ANY_PORT, 0,
						    to, ENDS, &err),
		  err.msg);
}

static void node_new(uint32_t i, uint32_t how)
{
	const char *width = how & 1 ? "w16" : "w32", *me = i ? "1" : "0";
	const char *const gen[] = {
		"width",    width,
		"node",	    me,
		"nodes",    "2",
		"load",	    "0.9",
		"packets",  how & 8 ? "150" : "12",
		"size",	    "0",
		"size_max", how & 8 ? "64" : "200",
		"verify",   "yes",
		"kind",	    how & 16 ? "response" : "request",
		NULL
	};
	const char *const xbar[] = { "width",
				     width,
				     "node",
				     me,
				     "train",
				     how & 2 ? "yes" : "no",
				     "store_forward",
				     how & 4 ? "yes" : "no",
				     "slots",
				     how & 32 ? "8" : "64",
				     "reserved",
				     how & 32 ? "2" : "8",
				     NULL };

	m.gen[i] = add(&weft_class_extoll_gen, "g", i, gen);
	m.xbar[i] = add(&weft_class_extoll_xbar, "x", i, xbar);
	init(m.gen[i]);
	init(m.xbar[i]);
	tables(i);
	join(&m.gen[i]->ports[0], &m.xbar[i]->ports[0], NULL);
	m.ep[i] = &((struct extoll_xbar *)m.xbar[i]->state)->ep[LP];
}

static void build(uint32_t how)
{
	struct weft_err err = { 0 };
	struct weft_comp *cable;

	m.sim = weft_sim_new(1);
	for (uint32_t i = 0; i < ENDS; i++)
		node_new(i, how);
	cable = add(&weft_class_extoll_cable, "c", 0, NULL);
	init(cable);
	join(&m.xbar[0]->ports[LP], &m.xbar[1]->ports[LP], cable);
	fuzz_line_on(&m.line, &m.xbar[0]->ports[LP], "l0");
	fuzz_line_on(&m.line, &m.xbar[1]->ports[LP], "l1");
	fuzz_must(!weft_sim_start(m.sim, &err), err.msg);
}

/* ---- checks ---- */

static void port_within_limits(const struct cell_channel *ep)
{
	uint32_t shared = 0;

	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		fuzz_must(ep->used[vc] <= ep->peer->cfg.slots,
			  "more cells out than the far end holds");
		if (ep->used[vc] > ep->lim_reserved)
			shared += ep->used[vc] - ep->lim_reserved;
	}
	fuzz_must(shared == ep->shared, "shared credits are counted wrong");
	fuzz_must(ep->held <= ep->cfg.slots, "more cells held than slots");
	fuzz_must(ep->unacked <= ep->cfg.window, "the window is overrun");
	fuzz_must((uint8_t)(ep->slow->seq - ep->slow->oldest) == ep->unacked,
		  "cells not acknowledged are counted wrong");
}

static void check(void)
{
	for (uint32_t i = 0; i < ENDS; i++)
		if (m.ep[i]->slow)
			port_within_limits(m.ep[i]);
}

static uint64_t lost(uint32_t from)
{
	const struct extoll_gen *tx = m.gen[from]->state;
	const struct extoll_gen *rx = m.gen[!from]->state;

	return tx->check->sent[!from] - rx->check->expected[from];
}

static void packets_are_good(void)
{
	bool down = false;

	for (uint32_t i = 0; i < ENDS; i++) {
		const uint64_t *n = m.gen[i]->counters;

		down |= m.ep[i]->slow->state != CELL_CHANNEL_READY;
		fuzz_must(!n[EXTOLL_GEN_CORRUPT], "a packet with wrong bytes");
		fuzz_must(!n[EXTOLL_GEN_DISORDER], "a packet out of order");
		fuzz_must(!n[EXTOLL_GEN_MISROUTED],
			  "a packet for another node");
	}
	if (down || m.line.forged)
		return;
	for (uint32_t i = 0; i < ENDS; i++) {
		fuzz_must(!lost(i), "lost although the link is up");
		fuzz_must(!m.gen[i]->counters[EXTOLL_GEN_BACKLOG],
			  "not sent although the link is up");
		fuzz_must(!m.ep[i]->held && !m.ep[i]->unacked,
			  "not at rest although nothing happens any more");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_err err = { 0 };
	uint32_t how;

	memset(&m, 0, sizeof(m));
	m.line.in = (struct fuzz_in){ data, data + size };
	m.line.check = check;
	how = (uint32_t)take(&m.line.in, 1);
	m.line.wire = how & 1 ? &fuzz_wire_ex16 : &fuzz_wire_ex32;
	build(how);
	weft_sim_run(m.sim, END_US * WEFT_US);
	fuzz_must(weft_sim_idle(m.sim), "something goes on for ever");
	check();
	if (!m.line.sealed)
		packets_are_good();
	weft_sim_finish(m.sim, &err);
	fuzz_must(!m.sim->live_frames && !m.sim->live_bufs,
		  "frames or payloads are left over");
	weft_sim_free(m.sim);
	return 0;
}
