/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered crossbar: a FIFO at every crosspoint, a round-robin scheduler per
 * output, a credit scheduler per input (forth.md 8).
 *
 *   in0 --> link --+--[XP00]--[XP01]--     XP: 2 KB, 512 x 32 bit
 *   in1 --> link --+--[XP10]--[XP11]--
 *                        |       |
 *                       OS0     OS1        see output_scheduler.c
 *                        v       v
 *                       out0    out1       the other half of the same links
 *
 * Cut-through: SOP in to SOP out is decode 1 + synchroniser 3 (1 inside one
 * clock domain) + decision 2 + transmit start 2 cycles (8.5).
 *
 * Not modelled: underrun of a packet whose input is slower than its output. The
 * pipeline hides every difference below 1000 ppm. */
#include "systems/forth/link/block_ram.h"
#include "systems/forth/switch/crossbar.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_param forth_xbar_params[] = {
	/* clang-format off */
	WEFT_PARAM(U32, struct forth_xbar, ports, "8", "2..64", STATED,
		   "number of ports (T 3.2.1: 8, 10; P 1: 12)"),
	WEFT_PARAM(BYTES, struct forth_xbar, xp_bytes, "2048", "32..16376", STATED,
		   "buffer at each crosspoint (P 3)"),
	WEFT_PARAM(ENUM, struct forth_xbar, frame, "word", "word|packed",
		   RECONSTRUCTED, "frame layout (R-18)"),
	WEFT_PARAM(ENUM, struct forth_xbar, cs_credit, "start", "start|per_word",
		   STATED, "credit for the whole packet when it starts to "
		   "leave, or word by word (P 3, T 3.2.4)"),
	WEFT_PARAM(U32, struct forth_xbar, min_payload, "24", "0..4096", STATED,
		   "shorter payloads are padded on the wire (P 3, R-40)"),
	WEFT_PARAM(U32, struct forth_xbar, xp_sync, "3", "0..64", STATED,
		   "cycles, arrival notice to the output scheduler across "
		   "domains (P 3)"),
	WEFT_PARAM(U32, struct forth_xbar, xp_sync_same, "1", "0..64",
		   RECONSTRUCTED, "the same inside one domain (8.5)"),
	WEFT_PARAM(U32, struct forth_xbar, cs_sync, "3", "0..64", STATED,
		   "cycles, output scheduler to credit scheduler (P 3)"),
	WEFT_PARAM(U32, struct forth_xbar, decode, "1", "0..64", RECONSTRUCTED,
		   "cycles, header decoded and written (8.5)"),
	WEFT_PARAM(U32, struct forth_xbar, os_decide, "2", "0..64", STATED,
		   "cycles, eligibility and round robin: 5 with the "
		   "synchroniser (P 3)"),
	WEFT_PARAM(U32, struct forth_xbar, tx_start, "2", "1..64", RECONSTRUCTED,
		   "cycles, column multiplexer, size, credit check (8.5)"),
	WEFT_PARAM(U32, struct forth_xbar, os_presched, "3", "0..5", STATED,
		   "cycles before the end of a packet at which the next is "
		   "chosen (P 3)"),
	WEFT_PARAM(U32, struct forth_xbar, os_pipe_change, "5", "0..64", CALIBRATED,
		   "scheduling pipeline, other crosspoint than before (R-25)"),
	WEFT_PARAM(U32, struct forth_xbar, os_pipe_same, "3", "0..64", CALIBRATED,
		   "scheduling pipeline, same crosspoint (R-25)"),
	WEFT_PARAM(U32, struct forth_xbar, refresh_cc, "1024", "0..", RECONSTRUCTED,
		   "cycles after which an idle line repeats a credit (5.3)"),
	WEFT_PARAM(U32, struct forth_xbar, t_crtx, "3", "0..64", CALIBRATED,
		   "cycles, credit formation to line (11.7)"),
	WEFT_PARAM(U32, struct forth_xbar, t_crrx, "2", "0..64", CALIBRATED,
		   "cycles, credit parse (11.7)"),
	WEFT_PARAM(U32, struct forth_xbar, credit_words, "0", "0..5", OWN,
		   "extra credit words allowed per transmission"),
	WEFT_PARAM(BOOL, struct forth_xbar, crc32_complement, "false", "", STATED,
		   "body CRC complemented as in AAL5 (R-20); as neighbours"),
	WEFT_PARAM(U32, struct forth_xbar, resync, "0", "0..", OWN,
		   "cycles without credits after which a flow starts anew on "
		   "both sides (5.7); 0 = never; must agree with neighbours"),
	WEFT_PARAM(U32, struct forth_xbar, domains, "2", "1..2", STATED,
		   "clock domains: ports below ports/2 are TOP (P 3)"),
	WEFT_PARAM(STR, struct forth_xbar, ppm, "0,0", "", OWN,
		   "how fast the crystals of TOP and BOTTOM are, ppm"),
	WEFT_PARAM(STR, struct forth_xbar, routes, "", "", OWN,
		   "flow:port,path/flow:port,..; other flows of path 0 go to "
		   "the port of their number"),
	WEFT_PARAM(BOOL, struct forth_xbar, stamps, "no", "", STATED,
		   "write ts3 and ts4 into the payload (P 5.3, R-38)"),
	WEFT_PARAM(ENUM, struct forth_xbar, budget, "report", "report|refuse",
		   STATED, "crosspoints larger than the block RAM that each "
		   "had (10.3): counter bram shows all, or the machine is not "
		   "built"),
	WEFT_PARAM(BOOL, struct forth_xbar, detail, "no", "", OWN,
		   "report every port and crosspoint at the end"),
	{ 0 }
	/* clang-format on */
};

static const struct weft_preset forth_xbar_presets[] = {
	{ "tr-switch", "ports=8 min_payload=8",
	  "TR-376: 8x8, packets of 24 to 512 bytes" },
	{ "plat-switch", "ports=8 min_payload=24",
	  "platform paper: 8x8, packets of 40 to 528 bytes" },
	{ 0 }
};

static const struct weft_port_decl forth_xbar_ports[] = {
	{ "port%u", WEFT_PORT_LINK, .count = "ports", .wire = &forth_wire,
	  .optional = true, .doc = "full-duplex link" },
	{ 0 }
};

/* ---- input half (8.2) ---- */

static void xp_push(struct forth_xbar *x, uint32_t i, uint32_t o,
		    struct weft_frame *f)
{
	struct forth_xbar_xp *xp = forth_xbar_xp(x, i, o);
	uint64_t came = f->u[FORTH_U_OWN + 1];

	f->next = NULL;
	if (xp->head)
		xp->tail->next = f;
	else
		xp->head = f;
	xp->tail = f;
	if (xp->head == f)
		xp->ready = f->u[FORTH_U_OWN];
	x->port[o].busy |= 1ull << i;
	xp->words += forth_xbar_fifo_words(f);
	xp->charged += forth_charge(1, forth_shape_get(f).wire_len);
	if (xp->drain <= came)
		return;
	/* The departure of the preceding packet was computed early, for cycle
	 * xp->drain. Words of the new packet that are written before that cycle
	 * are part of the level at that departure. */
	xp->drain_words += forth_xbar_written(x, f, xp->drain - came);
	if (xp->drain_words > xp->high)
		xp->high = xp->drain_words;
}

static void forth_xbar_packet(void *own, struct forth_port *l,
			      struct weft_frame *f,
			      const struct forth_port_rx *rx)
{
	struct weft_comp *c = own;
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *in = forth_xbar_port_of(l);
	uint32_t i = (uint32_t)(in - x->port);
	uint32_t o =
		in->route[forth_hdr_way(f->u[FORTH_U_HEADER], in->path_mask)];
	uint32_t charge = forth_charge(1, forth_shape_get(f).wire_len);
	const struct weft_clock *from = &l->clk, *to;
	uint64_t came = rx->cycle + rx->shift;

	if (o >= x->ports) {
		in->unknown++;
		weft_frame_free(f);
		return;
	}
	if (forth_xbar_xp(x, i, o)->charged + charge > x->xp_words) {
		in->overflow += f->words;
		forth_port_dropped(l, o, charge);
		weft_frame_free(f);
		return;
	}
	/* count the remaining cycles on the output's clock */
	to = &x->port[o].link.clk;
	if (!weft_clock_same(from, to))
		came = weft_clock_cycle(to, weft_clock_edge(from, came));
	f->u[FORTH_U_OWN] = came + x->decode +
			    (in->bottom == x->port[o].bottom ? x->xp_sync_same
							     : x->xp_sync);
	f->u[FORTH_U_OWN + 1] = came;
	xp_push(x, i, o, f);
	forth_xbar_tell_queue(c, o);
	forth_xbar_os_notice(c, o, f->u[FORTH_U_OWN]);
}

/* Returns whether the crosspoints of an input are empty. */
static bool forth_xbar_drained(void *own, struct forth_port *l)
{
	const struct forth_xbar *x = ((struct weft_comp *)own)->state;
	uint32_t i = (uint32_t)(forth_xbar_port_of(l) - x->port);

	for (uint32_t o = 0; o < x->ports; o++)
		if (forth_xbar_xp(x, i, o)->charged)
			return false;
	return true;
}

static const struct forth_port_ops forth_xbar_link_ops = {
	.packet = forth_xbar_packet,
	.drained = forth_xbar_drained,
	.woken = forth_xbar_os_woken
};

/* ---- set-up ---- */

static struct forth_port_cfg port_cfg(const struct forth_xbar *x, bool bottom)
{
	struct forth_port_cfg cfg = forth_port_cfg_default();

	cfg.layout = x->frame;
	cfg.rx_lanes = x->ports;
	cfg.rx_cap = x->xp_words;
	cfg.min_payload = x->min_payload > 8 ? x->min_payload : 0;
	cfg.refresh_cc = x->refresh_cc;
	cfg.t_crtx = x->cs_sync + x->t_crtx;
	cfg.t_crrx = x->t_crrx;
	cfg.credit_words = x->credit_words;
	cfg.resync_cc = x->resync;
	cfg.crc32_complement = x->crc32_complement;
	cfg.ppm = bottom ? x->ppm_bottom : x->ppm_top;
	cfg.return_discards = false;
	return cfg;
}

static int forth_xbar_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	/* each crosspoint has one block RAM of 2 KB, which makes 64 block RAMs
	 * in the 8x8 switch */
	uint32_t i, all = x->ports * x->ports;
	const struct bram_block b = { "crosspoints",
				      all * bram_bytes(x->xp_bytes), all,
				      "xp_bytes" };
	struct forth_port_cfg cfg;
	char tail;

	if (sscanf(x->ppm, "%d,%d%c", &x->ppm_top, &x->ppm_bottom, &tail) != 2)
		return weft_fail(
			err, EINVAL,
			"%s.ppm: '%s' is not two numbers: write e.g. '100,-100'",
			c->name, x->ppm);
	if (bram_check(c, &b, 1, x->budget, &x->bram, err) ||
	    forth_xbar_route_init(c, err))
		return -EINVAL;
	x->xp_words = (uint32_t)x->xp_bytes / 4;
	x->ahead = x->cs_sync + x->t_crtx;
	x->ahead -= x->ahead > 0;
	x->port = aligned_alloc(64, x->ports * sizeof(*x->port));
	x->xp = calloc((size_t)x->ports * x->ports, sizeof(*x->xp));
	if (!x->port || !x->xp)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	memset(x->port, 0, x->ports * sizeof(*x->port));
	for (i = 0; i < x->ports; i++) {
		struct forth_xbar_port *p = &x->port[i];

		p->chosen = FORTH_XBAR_NOWHERE;
		p->bottom = x->domains == 2 && i >= x->ports / 2;
		cfg = port_cfg(x, p->bottom);
		if (forth_port_init(&p->link, c, &c->ports[i], &cfg,
				    &forth_xbar_link_ops, c, x->ports + i, err))
			return -EINVAL;
	}
	forth_xbar_route_bind(x);
	return 0;
}

/* Returns the payload of the largest packet that neighbours send, and in *one_p
 * whether all packets have that size. */
static uint32_t crossbar_largest(const struct forth_xbar *x, bool *one_p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < x->ports; i++) {
		const struct weft_port *p = x->port[i].link.port->peer;
		const struct forth_port *l = p ? p->iface : NULL;

		if (!l || !l->cfg.max_payload)
			continue;
		*one_p &= l->cfg.one_size &&
			  (!most || most == l->cfg.max_payload);
		if (l->cfg.max_payload > most)
			most = l->cfg.max_payload;
	}
	return most;
}

static int forth_xbar_start(struct weft_comp *c, struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	const struct forth_xbar_port *first = NULL;
	bool one = true;
	uint32_t i, most = crossbar_largest(x, &one);

	for (i = 0; i < x->ports; i++) {
		struct forth_xbar_port *p = &x->port[i];

		if (forth_port_start(&p->link, err) ||
		    forth_port_room_check(&p->link, most, one, err))
			return -err->code;
		if (!p->link.peer) {
			forth_xbar_route_prune(x, i);
			continue;
		}
		if (!first)
			first = p;
		if (forth_port_net_clock(first->link.port).num !=
		    forth_port_net_clock(p->link.port).num)
			return weft_fail(
				err, EINVAL,
				"%s: all links of a switch must have the same rate",
				c->name);
	}
	return 0;
}

static void forth_xbar_arrive(struct weft_comp *c, uint32_t port,
			      struct weft_frame *f)
{
	struct forth_xbar *x = c->state;

	forth_port_arrive(&x->port[port].link, 0, f);
}

static void forth_xbar_event(struct weft_comp *c, uint32_t tag)
{
	struct forth_xbar *x = c->state;

	if (tag < x->ports)
		forth_xbar_os_event(c, tag);
	else
		forth_port_event(&x->port[tag - x->ports].link);
}

static void forth_xbar_fini(struct weft_comp *c)
{
	struct forth_xbar *x = c->state;
	uint32_t i;

	for (i = 0; x->xp && i < x->ports * x->ports; i++)
		while (x->xp[i].head) {
			struct weft_frame *f = x->xp[i].head;

			x->xp[i].head = f->next;
			weft_frame_free(f);
		}
	for (i = 0; x->port && i < x->ports; i++)
		forth_port_fini(&x->port[i].link);
	free(x->port);
	free(x->xp);
	free(x->route);
}

WEFT_COMPONENT(forth_xbar, .name = "forth.xbar", .kind = WEFT_KIND_SWITCH,
	       .doc = "FORTH buffered crossbar switch",
	       .source = "forth.md 8, 11.1",
	       .not_modelled = "underrun by clocks more than 1000 ppm apart",
	       .state_size = sizeof(struct forth_xbar),
	       .params = forth_xbar_params, .presets = forth_xbar_presets,
	       .counters = forth_xbar_counters,
	       .n_counters = FORTH_XBAR_COUNTERS, .ports = forth_xbar_ports,
	       .ops = { .init = forth_xbar_init,
			.start = forth_xbar_start,
			.arrive = forth_xbar_arrive,
			.event = forth_xbar_event,
			.finish = forth_xbar_finish,
			.sample = forth_xbar_finish,
			.fini = forth_xbar_fini,
			.route = forth_xbar_route,
			.waiting = forth_xbar_waiting });
