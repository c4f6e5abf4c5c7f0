/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up, slots and committing of cells of EXTOLL's cell channel, see
 * cell_channel.h. */
#include "systems/extoll/network/cell_channel_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/extoll/network/cell_channel_control.h"
#include "systems/extoll/network/cell_channel_framed.h"
#include "weft/trace.h"

/* Times from the stage table of extoll.md 7.1. From grant to start flit: X/2 +
 * L1 = 5 + 8 cycles. From first flit to request: L6 + X/2 = 10 + 5. From a
 * freed slot to its credit on the line: 5 + 8. From the end of a cell to its
 * ACK on the line: 2 + 8. */
struct cell_channel_cfg cell_channel_cfg_link(uint32_t width,
					      const struct weft_clock *clk)
{
	return (struct cell_channel_cfg){
		.clk = *clk,
		.width = width,
		.link = true,
		.overhead = ex_cell_overhead(width),
		.ctl_flits = ex_control_flits(width),
		.gap = 4,
		.t_out = 13,
		.t_ser = 41,
		.t_sync = 10,
		.t_in = 15,
		.t_ctl_in = 10,
		.t_credit = 13,
		.t_ack = 10,
		.slots = 64,
		.reserved = 8,
		.window = 32,
		.ack_every = 4,
		.ack_idle = 64,
		.refresh = 256,
		.timeout = 1024,
		.attempts = 15,
	};
}

struct cell_channel_cfg cell_channel_cfg_internal(uint32_t width,
						  const struct weft_clock *clk)
{
	return (struct cell_channel_cfg){
		.clk = *clk,
		.width = width,
		.gap = 4,
		.t_out = 5,
		.t_in = 5,
		.t_credit = 2,
		.slots = 64,
		.reserved = 8,
	};
}

int cell_channel_init(struct cell_channel *ep, struct weft_comp *c,
		      struct weft_port *p, const struct cell_channel_cfg *cfg,
		      const struct cell_channel_ops *ops, void *own,
		      struct weft_err *err)
{
	*ep = (struct cell_channel){
		.comp = c,
		.port = p,
		.ops = ops,
		.own = own,
		.cfg = *cfg,
		.free_slot = CELL_CHANNEL_NONE,
		.way_head = CELL_CHANNEL_NONE,
		.way_tail = CELL_CHANNEL_NONE,
		.next_refresh = cfg->refresh ? cfg->refresh : WEFT_NEVER,
	};
	if (cfg->slots > 128 || cfg->slots < EX_VCS * cfg->reserved ||
	    !cfg->reserved)
		return weft_fail(
			err, EINVAL,
			"%u slots cannot be %u for each of %u virtual channels: at most 128 in all",
			cfg->slots, cfg->reserved, EX_VCS);
	if (cfg->ctl_flits && cfg->t_credit < cfg->t_out)
		return weft_fail(
			err, EINVAL,
			"a credit is ready %u cycles after its slot is free, at least %u are needed",
			cfg->t_credit, cfg->t_out);
	p->iface = ep;
	return 0;
}

uint64_t cell_channel_cross(const struct cell_channel *ep, uint64_t cycle)
{
	const struct weft_clock *c = &ep->cfg.clk, *p = &ep->peer->cfg.clk;
	weft_time_t t = weft_clock_edge(c, cycle);

	if (!ep->cfg.link)
		return weft_clock_cycle(p, t);
	t += ep->cfg.t_ser * c->num / (2 * c->den) + ep->port->delay;
	t += (ep->peer->cfg.t_sync - 1) * p->num / (2 * p->den);
	return weft_clock_cycle(p, t);
}

static void cell_channel_limits(struct cell_channel *ep)
{
	const struct cell_channel_cfg *c = &ep->cfg, *p = &ep->peer->cfg;

	ep->lim_reserved = (uint8_t)p->reserved;
	ep->lim_pool = (uint8_t)(p->slots - EX_VCS * p->reserved);
	ep->lim_window = (uint8_t)(c->window ? c->window : UINT8_MAX);
	ep->t_out = (uint8_t)c->t_out;
	ep->gap = (uint8_t)c->gap;
	ep->overhead = (uint8_t)c->overhead;
	ep->ctl = (uint8_t)c->ctl_flits;
	ep->far_whole = p->store_forward;
	ep->t_credit = (uint8_t)c->t_credit;
	ep->in_slow = ep->needs_frames;
	ep->aside = !ep->ctl;
}

/* Returns the reason why the two ends do not fit together, or NULL. */
static const char *cell_channel_mismatch(const struct cell_channel *ep,
					 const struct weft_port *q)
{
	const struct cell_channel *peer = ep->peer;

	if (!peer || peer->cfg.link != ep->cfg.link ||
	    peer->cfg.width != ep->cfg.width)
		return "both ends of a channel need the same kind and width";
	if (ep->cfg.link)
		return NULL;
	if (ep->port->needs_frames || q->needs_frames)
		return "nothing can sit on a channel inside a node: take a "
		       "link port, e.g. s0.lp0";
	if (!weft_clock_same(&ep->cfg.clk, &peer->cfg.clk))
		return "a node has one core clock: set clock and ppm of its "
		       "NIC and its crossbar alike, e.g. extoll.*.clock=200MHz";
	return NULL;
}

int cell_channel_start(struct cell_channel *ep, struct weft_err *err)
{
	struct weft_port *q = ep->port->peer;
	uint64_t base = 1 << 20; /* a late cycle, because rounding differs
				  * near cycle 0 */
	const char *wrong;

	if (!q)
		return 0;
	ep->peer = (struct cell_channel *)q->iface;
	wrong = cell_channel_mismatch(ep, q);
	if (wrong)
		return weft_fail(err, EINVAL, "%s.%s: %s", ep->comp->name,
				 ep->port->name, wrong);
	ep->same_clk = weft_clock_same(&ep->cfg.clk, &ep->peer->cfg.clk);
	ep->needs_frames =
		ep->cfg.link &&
		(ep->port->needs_frames || q->needs_frames || !ep->same_clk ||
		 ep->cfg.train || ep->peer->cfg.train);
	ep->way = (uint32_t)(cell_channel_cross(ep, base) - base) +
		  ep->cfg.link + ep->peer->cfg.t_in;
	ep->way_end = (uint32_t)(cell_channel_cross(ep, base) - base) +
		      ep->cfg.overhead + ep->peer->cfg.t_ack;
	ep->way_ctl = (uint32_t)(cell_channel_cross(ep, base) - base) +
		      ep->cfg.ctl_flits + ep->peer->cfg.t_ctl_in;
	cell_channel_limits(ep);
	if (ep->port->listener)
		cell_channel_listen_start(ep);
	return ep->needs_frames ? cell_channel_framed_start(ep, err) : 0;
}

/* Frees the packets whose last cell is in a slot of this end. These are slots
 * of cells in flight and, if `taken`, slots that the owner holds. The owner
 * holds every slot that is neither free nor used by a cell in flight. */
void cell_channel_abandon(struct cell_channel *ep, bool taken)
{
	bool mine[128] = { false };
	uint32_t i;

	for (i = 0; taken && i < ep->n_slots; i++)
		mine[i] = true;
	for (i = ep->way_head; i != CELL_CHANNEL_NONE; i = ep->slot[i].next)
		mine[i] = true;
	for (i = ep->free_slot; i != CELL_CHANNEL_NONE; i = ep->slot[i].next)
		mine[i] = false;
	for (i = 0; i < ep->n_slots; i++)
		if (mine[i] &&
		    (ep->slot[i].flags & (ECELL_EOP | ECELL_VOID)) == ECELL_EOP)
			weft_frame_free(ep->slot[i].pkt);
	if (ep->slow)
		cell_channel_framed_abandon(ep);
	if (ep->listener)
		cell_channel_listen_drop(ep);
}

void cell_channel_fini(struct cell_channel *ep)
{
	ring_free(&ep->due);
	ring_free(&ep->end);
	ring_free(&ep->in);
	if (ep->slow) {
		cell_channel_retry_drop_all(ep->slow);
		ring_free(&ep->slow->in);
		free(ep->slow);
	}
	ep->slow = NULL;
}

/* ---- slots ---- */

static void slots_grow(struct cell_channel *ep)
{
	uint32_t i, n = ep->n_slots ? 2 * ep->n_slots : 4;
	struct ecell *s = weft_comp_alloc(ep->comp, n * sizeof(*s));

	assert(n <= 128);
	if (ep->n_slots)
		memcpy(s, ep->slot, ep->n_slots * sizeof(*s));
	ep->slot = s;
	for (i = ep->n_slots; i < n; i++)
		ep->slot[i].next =
			i + 1 < n ? (uint8_t)(i + 1) : CELL_CHANNEL_NONE;
	ep->free_slot = ep->n_slots;
	ep->n_slots = (uint8_t)n;
}

uint32_t cell_channel_put(struct cell_channel *ep, const struct ecell *cell,
			  uint32_t vc, uint64_t cycle)
{
	struct ecell *s;
	uint32_t i;

	if (ep->free_slot == CELL_CHANNEL_NONE)
		slots_grow(ep);
	i = ep->free_slot;
	s = &ep->slot[i];
	ep->free_slot = s->next;
	*s = *cell;
	s->cycle = cycle;
	s->vc = (uint8_t)vc;
	s->skip = 0;
	s->hint = 0;
	s->next = CELL_CHANNEL_NONE;
	if (s->flags & ECELL_VOID)
		s->pkt = weft_frame_dup(cell->pkt);
	if (ep->way_head == CELL_CHANNEL_NONE)
		ep->way_head = (uint8_t)i;
	else
		ep->slot[ep->way_tail].next = (uint8_t)i;
	ep->way_tail = (uint8_t)i;
	ep->held++;
	assert(ep->held <= ep->n_slots);
	(ep->ops->cell ? ep->ops->cell : ep->ops->wake)(ep->own, ep, cycle);
	return i;
}

uint32_t cell_channel_take(struct cell_channel *ep, uint64_t cycle)
{
	uint32_t i = ep->way_head;

	if (i == CELL_CHANNEL_NONE || ep->slot[i].cycle > cycle)
		return CELL_CHANNEL_NONE;
	ep->way_head = ep->slot[i].next;
	ep->slot[i].next = CELL_CHANNEL_NONE;
	return i;
}

void cell_channel_release(struct cell_channel *ep, uint32_t slot,
			  uint64_t cycle)
{
	struct ecell *s = &ep->slot[slot];

	if (s->flags & ECELL_VOID)
		weft_frame_free(s->pkt);
	if (ep->in_slow)
		cell_channel_framed_release(ep, s, cycle);
	else
		cell_channel_owe(ep, s->vc, cycle + ep->t_credit);
	s->next = ep->free_slot;
	ep->free_slot = (uint8_t)slot;
	ep->held--;
}

/* ---- sending ---- */

void cell_channel_use(struct cell_channel *ep, uint32_t vc, uint32_t n)
{
	uint32_t r = ep->lim_reserved;
	uint32_t before = ep->used[vc] > r ? ep->used[vc] - r : 0;
	uint32_t after = n > r ? n - r : 0;

	ep->shared = (uint8_t)(ep->shared + after - before);
	ep->used[vc] = (uint8_t)n;
}

/* Returns true at once if a reserved credit of the VC is free and the window
 * has room. So most calls do not read the rings of the peer's credits and ACKs.
 * Other calls apply the credits and ACKs up to g, which keeps the rings
 * short. */
bool cell_channel_can(struct cell_channel *ep, uint32_t vc, uint64_t g)
{
	uint64_t next;

	if (!ep->peer)
		return false;
	if (ep->needs_frames)
		return cell_channel_framed_can(ep, vc, g);
	if (ep->used[vc] < ep->lim_reserved && ep->unacked < ep->lim_window)
		return true;
	next = cell_channel_hear(ep, g);
	if (cell_channel_has_credit(ep, vc) && ep->unacked < ep->lim_window)
		return true;
	ep->peer->listened = true;
	if (next != WEFT_NEVER)
		ep->ops->wake(ep->own, ep, next);
	return false;
}

bool cell_channel_room(const struct cell_channel *ep, uint32_t vc)
{
	uint32_t used = 0;

	for (uint32_t v = 0; v < EX_VCS; v++)
		used += ep->used[v];
	return !ep->peer || cell_channel_has_credit(ep, vc) ||
	       used > ep->peer->held;
}

/* Reports to listeners a cell that starts on the line at cycle s. The last cell
 * of a packet carries the packet's id, because the packet arrives with that
 * cell. */
WEFT_COLD static void cell_channel_trace(const struct cell_channel *ep,
					 const struct ecell *cell, uint64_t s)
{
	const struct weft_comp *c = ep->comp;
	weft_time_t from = weft_clock_edge(&ep->cfg.clk, s);
	uint64_t there = s + ep->way + (ep->far_whole ? cell->flits : 0);
	bool last = (cell->flags & (ECELL_EOP | ECELL_VOID)) == ECELL_EOP;
	uint64_t id = last ? cell->pkt->trace_id : 0;

	weft_span(c, ep->port->name, WEFT_TRACE_ONE, "cell", cell->flits, from,
		  weft_clock_edge(&ep->cfg.clk, ep->line_free));
	weft_mark(c, id,
		  c->cls->kind == WEFT_KIND_SWITCH ? "crossbar"
						   : "network port",
		  from);
	weft_mark(ep->port->link ? ep->port->link : c, id, "cable, link port",
		  weft_clock_edge(&ep->peer->cfg.clk, there));
}

void cell_channel_commit(struct cell_channel *ep, const struct ecell *cell,
			 uint32_t vc, uint64_t g)
{
	uint32_t flits = cell->flits + ep->overhead;
	uint64_t s = g + ep->t_out;
	struct ecell told;

	ep->tx_cells++;
	ep->tx_flits += cell->flits;
	ep->tx_packets += !!(cell->flags & ECELL_EOP);
	ep->peer->listened = false;
	if (ep->needs_frames) {
		cell_channel_framed_commit(ep, cell, vc, g);
		return;
	}
	if (__builtin_expect(ep->listener != NULL, 0)) {
		told = *cell;
		cell_channel_listen_cell(ep, &told, vc, s + cell->skip);
		cell = &told;
	}
	cell_channel_use(ep, vc, ep->used[vc] + 1u);
	ep->busy += flits;
	ep->next_grant = g + ep->gap;
	s += cell->skip;
	ep->line_free = s + flits;
	if (ep->line_free > ep->next_grant + ep->t_out)
		ep->next_grant = ep->line_free - ep->t_out;
	if (ep->overhead) {
		ep->unacked++;
		ring_insert_sorted(&ep->peer->end,
				   s + cell->flits + ep->way_end, );
	}
	if (weft_heard(ep->comp))
		cell_channel_trace(ep, cell, s);
	cell_channel_put(ep->peer, cell, vc,
			 s + ep->way + (ep->far_whole ? cell->flits : 0));
}

struct cell_channel_count *cell_channel_counts(struct cell_channel *ep)
{
	struct cell_channel_count *n = &ep->count;
	uint64_t now = cell_channel_now(ep);

	if (ep->peer && ep->ctl && !ep->needs_frames)
		cell_channel_settle(ep, now);
	n->tx_cells = ep->tx_cells;
	n->tx_flits = ep->tx_flits;
	n->tx_packets = ep->tx_packets;
	n->busy = ep->busy;
	/* A quiet framed line sends no frames for its refreshes. Their time on
	 * the line is added here. */
	if (ep->needs_frames && ep->cfg.refresh && ep->next_refresh < now)
		n->busy +=
			((now - 1 - ep->next_refresh) / ep->cfg.refresh + 1) *
			ep->cfg.ctl_flits;
	if (ep->peer) {
		n->rx_cells = ep->peer->tx_cells;
		n->rx_packets = ep->peer->tx_packets;
	}
	return n;
}

/* Stores the frames, words and busy time of the port in weft_port.out_*.
 * Excludes busy cycles that are allocated after the present cycle. */
void cell_channel_volume(struct cell_channel *ep)
{
	const struct cell_channel_count *n = cell_channel_counts(ep);
	uint64_t now = cell_channel_now(ep), busy = n->busy;

	if (ep->line_free > now)
		busy -= ep->line_free - now < busy ? ep->line_free - now : busy;
	ep->port->out_run = 0; /* weft_port_ahead has nothing to add */
	ep->port->out_frames = n->tx_cells;
	ep->port->out_words = n->tx_flits;
	ep->port->out_busy =
		weft_clock_edge(&ep->cfg.clk, busy) - ep->cfg.clk.phase;
}
