/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar: nine ports, virtual output queues, four virtual channels,
 * cut-through (extoll.md 4).
 *
 *   np0..2 --> cells --> 36 queues --\            /--> np0..2
 *   lp0..5 --> (channel) per input  --> 9x36 RR --> 9x9 accept --> lp0..5
 *
 * An input has a queue for each output and each VC on which cells arrive, so
 * that cells of two packets never mix in one queue. In each cycle every output
 * that may send grants one cell. A cell may be granted if it has a credit, if
 * it owns its outgoing VC or that VC is free, and if the RAM of its input is
 * not being read. Every input accepts one of the grants to its cells. Outputs
 * and inputs choose round robin (4.2). The round-robin state of an output
 * advances with every grant, accepted or not.
 *
 * Fall-through: t_route cycles from the first flit to the request, t_cross from
 * the grant to the first flit at the output, 5 + 5 = X of table 7.1. A routing
 * flit that is used up leaves an idle cycle on the output. The registers of the
 * crossbar and its link ports are in systems/extoll/nic/link_registers.c. Not
 * modelled: numbers of RAM slots. */
#include "systems/extoll/network/crossbar.h"

#include <stdlib.h>
#include <string.h>

#include "weft/trace.h"

/* ---- waking ---- */

/* TAG_PORT + port: event of a framed port */
enum { TAG_DECIDE = 0, TAG_PORT = 1 };

static inline void extoll_xbar_arm(struct extoll_xbar *x, uint64_t cycle)
{
	if (cycle >= x->armed)
		return;
	x->armed = cycle;
	x->armed_t = weft_clock_edge(&x->clock, cycle);
	weft_wake(x->comp, TAG_DECIDE, x->armed_t);
}

static void extoll_xbar_wake(void *own, struct cell_channel *ep, uint64_t cycle)
{
	extoll_xbar_arm(own, cycle);
}

static void extoll_xbar_cell(void *own, struct cell_channel *ep, uint64_t cycle)
{
	struct extoll_xbar *x = own;
	uint32_t i = (uint32_t)(ep - x->ep);

	if (!(x->busy >> i & 1))
		x->seen[i] = cycle;
	x->busy |= (uint16_t)(1u << i);
	extoll_xbar_arm(x, cycle);
}

static const struct cell_channel_ops extoll_xbar_port_ops = {
	.wake = extoll_xbar_wake,
	.cell = extoll_xbar_cell,
	.gone = extoll_xbar_gone,
	.link = extoll_xbar_link
};

/* ---- arrival: into the queues ---- */

static void cell_in(struct extoll_xbar *x, uint32_t i, uint32_t slot)
{
	struct extoll_xbar_in *in = &x->in[i];
	struct ecell *c = &x->ep[i].slot[slot];
	uint64_t apart = c->cycle - in->pushed;

	in->pushed = c->cycle;
	in->spacing = apart < in->spacing ? (uint32_t)apart : in->spacing;
	if (c->flags & ECELL_SOP) {
		in->out[c->vc] = (uint8_t)extoll_xbar_route(x, i, c);
		in->vc_out[c->vc] = c->vc_out;
	}
	c->vc_out = in->vc_out[c->vc];
	if (in->out[c->vc] != EXTOLL_XBAR_NONE) {
		extoll_xbar_queue_push(x, i, in->out[c->vc], slot);
		return;
	}
	/* Drops the cell, because its packet has no valid output. */
	if (c->flags & ECELL_VOID)
		weft_count(x->comp, EXTOLL_XBAR_VOIDS, 1);
	else if (c->flags & ECELL_EOP)
		weft_frame_free(c->pkt);
	cell_channel_release(&x->ep[i], slot, c->cycle + c->flits);
}

/* Queues the cells that the crossbar sees up to `cycle`. Returns the next cycle
 * at which it sees a cell. */
static uint64_t take_cells(struct extoll_xbar *x, uint64_t cycle)
{
	uint64_t next = WEFT_NEVER;
	uint32_t m = x->busy;

	for (; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(m), slot;

		if (x->seen[i] <= cycle) {
			while ((slot = cell_channel_take(&x->ep[i], cycle)) !=
			       EXTOLL_XBAR_NONE)
				cell_in(x, i, slot);
			x->seen[i] = cell_channel_seen(&x->ep[i]);
			if (x->seen[i] == WEFT_NEVER)
				x->busy &= (uint16_t) ~(1u << i);
		}
		next = x->seen[i] < next ? x->seen[i] : next;
	}
	return next;
}

/* ---- decision ---- */

/* Returns the queue heads (bits as in struct extoll_xbar_out) that output o
 * could send at `cycle` if their inputs could be read. */
static uint64_t could_go(struct extoll_xbar *x, uint32_t o, uint64_t cycle)
{
	struct extoll_xbar_out *out = &x->out[o];
	uint64_t m = 0;
	uint32_t v;

	for (v = 0; v < EX_VCS; v++) {
		uint64_t w = out->want[v];

		if (w && out->lock[v] != EXTOLL_XBAR_NONE)
			w &= 1ULL << out->lock[v];
		if (w && cell_channel_can(&x->ep[o], v, cycle))
			m |= w;
	}
	return m;
}

/* Sends the cell at the head of queue (o, bit). A cable may lead from the
 * output back to the input of the cell. Sending may then enlarge that input's
 * array of slots, and so move the cell. Therefore works on a copy of the
 * cell. */
static void cell_out(struct extoll_xbar *x, uint32_t o, uint32_t bit,
		     uint64_t cycle)
{
	uint32_t i = bit / EX_VCS;
	uint32_t slot = x->in[i].head[o * EX_VCS + bit % EX_VCS];
	struct ecell c = x->ep[i].slot[slot];
	uint64_t end = cycle + c.flits + c.skip;
	bool ends;

	weft_count(x->comp, EXTOLL_XBAR_CELLS, 1);
	weft_count(x->comp, EXTOLL_XBAR_PACKETS,
		   (c.flags & (ECELL_EOP | ECELL_VOID)) == ECELL_EOP);
	/* A void SOP releases its outgoing VC, because the good copy of the
	 * cell starts the packet again. A void EOP keeps the VC, because the
	 * good copy follows on the same VC. */
	ends = c.flags & ECELL_VOID ? c.flags & ECELL_SOP : c.flags & ECELL_EOP;
	x->out[o].lock[c.vc_out] = ends ? EXTOLL_XBAR_NONE : (uint8_t)bit;
	extoll_xbar_queue_pop(x, i, o, bit);
	if (weft_heard_kind(x->comp, WEFT_TRACE_STATE))
		extoll_xbar_tell_cell(x, i, o, cycle, end);
	x->read_free[i] = end;
	cell_channel_commit(&x->ep[o], &c, c.vc_out, cycle);
	x->grant_at[o] = x->ep[o].next_grant;
	cell_channel_release(&x->ep[i], slot, end);
}

struct grants {
	uint8_t bit[EX_PORTS]; /* bit of the granted cell, by output */
	/* mask of outputs that granted a cell of this input */
	uint16_t by_in[EX_PORTS];
	uint16_t ins;
};

/* Lets output o grant a cell. Returns WEFT_NEVER after a grant. Otherwise
 * returns the next cycle at which o may grant if no credit or ACK arrives
 * before. */
static uint64_t crossbar_grant(struct extoll_xbar *x, uint32_t o,
			       uint64_t cycle, uint64_t freed, struct grants *g)
{
	uint64_t m = cell_channel_next(&x->ep[o], cycle);
	uint32_t bit;

	if (m > cycle)
		return x->grant_at[o] = m;
	m = could_go(x, o, cycle);
	if (!m)
		return WEFT_NEVER;
	if (!(m & freed)) {
		/* First cycle at which one of the inputs in m can be read. */
		uint64_t t = WEFT_NEVER;
		uint32_t i;

		for (i = 0; i < EX_PORTS; i++)
			if (m >> i * EX_VCS & 0xf && x->read_free[i] < t)
				t = x->read_free[i];
		return t;
	}
	bit = extoll_xbar_arbiter(m & freed, x->out[o].last);
	x->out[o].last = (uint8_t)bit;
	g->bit[o] = (uint8_t)bit;
	g->by_in[bit / EX_VCS] |= (uint16_t)(1u << o);
	g->ins |= (uint16_t)(1u << bit / EX_VCS);
	return WEFT_NEVER;
}

/* Lets each input accept one grant and send the granted cell. Returns the first
 * cycle at which an output may grant again, because its grant was refused or
 * because it is in `fresh`. */
static uint64_t accept_all(struct extoll_xbar *x, const struct grants *g,
			   uint64_t cycle)
{
	uint64_t next = WEFT_NEVER;
	uint32_t m;

	for (m = g->ins; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(m), outs = g->by_in[i];
		uint32_t o = extoll_xbar_arbiter(outs, x->in[i].accept);

		x->in[i].accept = (uint8_t)o;
		if (outs & (outs - 1)) {
			weft_count(x->comp, EXTOLL_XBAR_CONFLICTS,
				   (uint64_t)__builtin_popcount(outs) - 1);
			next = cycle + 1;
		}
		cell_out(x, o, g->bit[o], cycle);
		x->fresh |= (uint16_t)(1u << o);
	}
	/* Outputs in `fresh` may grant again, because they have sent a cell or
	 * have got a new request. */
	for (m = x->fresh & x->asked; m; m &= m - 1) {
		uint64_t t = x->grant_at[__builtin_ctz(m)];

		t = t > cycle ? t : cycle + 1;
		next = t < next ? t : next;
	}
	return next;
}

/* Runs one cycle of all arbiters. Returns the next cycle in which they have
 * work. */
static uint64_t crossbar_decide(struct extoll_xbar *x, uint64_t cycle)
{
	struct grants g = { .ins = 0 };
	uint64_t freed = 0, next = WEFT_NEVER, t;
	uint32_t m, i;

	/* bits of inputs whose RAM is not being read */
	for (i = 0; i < EX_PORTS; i++)
		freed |= (x->read_free[i] <= cycle ? 0xfULL : 0) << i * EX_VCS;
	x->fresh = 0;
	for (m = x->asked; m; m &= m - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(m);

		t = x->grant_at[o];
		if (t <= cycle)
			t = crossbar_grant(x, o, cycle, freed, &g);
		next = t < next ? t : next;
	}
	t = accept_all(x, &g, cycle);
	return t < next ? t : next;
}

/* Prefetches memory that the first cell in flight to input i will need: its
 * output, and the state of the peer at that output. */
static void soon_out(const struct extoll_xbar *x, uint32_t i, uint32_t stage)
{
	struct ecell *c = &x->ep[i].slot[x->ep[i].way_head];
	uint32_t o = c->hint ? c->hint - 1u : extoll_xbar_peek(x, c);
	const struct cell_channel *p;

	if (o >= EX_PORTS || !x->peer[o])
		return;
	c->hint = (uint8_t)(o + 1);
	p = x->peer[o];
	if (stage == 3) {
		__builtin_prefetch(&p->slot[p->free_slot], 1);
		__builtin_prefetch(p->own, 1);
		__builtin_prefetch((const char *)p->own + 64, 1);
		return;
	}
	__builtin_prefetch(&x->out[o], 1);
	__builtin_prefetch(&x->ep[o], 1);
	__builtin_prefetch(&x->ep[o].tx_cells, 1);
	__builtin_prefetch(&p->slot, 1);
}

/* Prefetches in stages: first the inputs whose cells are seen next, then the
 * cells, then the outputs of the cells. Each stage follows pointers that the
 * stage before has fetched. */
void extoll_xbar_soon(const struct weft_comp *c, uint32_t stage)
{
	const struct extoll_xbar *x = c->state;
	uint32_t m;

	if (!stage)
		__builtin_prefetch(c->counters, 1);
	for (m = x->busy; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(m);

		if (x->seen[i] > x->armed)
			continue;
		if (!stage) {
			__builtin_prefetch(&x->ep[i].slot, 1);
			__builtin_prefetch(&x->in[i], 1);
			__builtin_prefetch((const char *)&x->in[i] + 64, 1);
		} else if (stage == 1) {
			const struct cell_channel *ep = &x->ep[i];

			__builtin_prefetch(&ep->slot[ep->way_head]);
			if (ep->due.at)
				__builtin_prefetch(
					ring_at(&ep->due, ep->due.tail), 1);
		} else {
			soon_out(x, i, stage);
		}
	}
}

void extoll_xbar_event(struct weft_comp *c, uint32_t tag)
{
	struct extoll_xbar *x = c->state;
	uint64_t cycle = x->armed, next;

	if (tag >= TAG_PORT) {
		cell_channel_event(&x->ep[tag - TAG_PORT]);
		return;
	}
	if (cycle == WEFT_NEVER || x->armed_t != weft_now(c))
		return;
	x->armed = WEFT_NEVER;
	next = take_cells(x, cycle);
	if (x->held.n)
		extoll_xbar_queue_held(x, cycle);
	if (x->asked) {
		uint64_t t = crossbar_decide(x, cycle);

		next = t < next ? t : next;
	}
	/* crossbar_decide() may have added packets to `held` */
	if (x->held.n) {
		uint64_t t = extoll_xbar_queue_held(x, cycle);

		next = t < next ? t : next;
	}
	if (weft_heard_kind(x->comp, WEFT_TRACE_LEVEL))
		extoll_xbar_tell_queues(x);
	if (next != WEFT_NEVER)
		extoll_xbar_arm(x, next);
}

void extoll_xbar_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	struct extoll_xbar *x = c->state;

	cell_channel_arrive(&x->ep[port], f);
}

/* ---- set-up ---- */

int extoll_xbar_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_xbar *x = c->state;
	struct cell_channel_cfg link, inner;
	uint32_t i;

	x->clock = weft_clock_offset_ppm(x->clock, (int32_t)x->ppm);
	link = extoll_xbar_cfg_link(x);
	inner = extoll_xbar_cfg_internal(x);
	x->comp = c;
	x->place.waits = &extoll_xbar_waits;
	x->armed = WEFT_NEVER;
	for (i = 0; i < EX_PORTS; i++) {
		x->in[i].pushed = 0 - (uint64_t)EXTOLL_XBAR_FAR;
		x->in[i].spacing = EXTOLL_XBAR_FAR;
		memset(x->in[i].head, EXTOLL_XBAR_NONE, sizeof(x->in[i].head));
		memset(x->in[i].tail, EXTOLL_XBAR_NONE, sizeof(x->in[i].tail));
		memset(x->in[i].out, EXTOLL_XBAR_NONE, sizeof(x->in[i].out));
		memset(x->out[i].lock, EXTOLL_XBAR_NONE,
		       sizeof(x->out[i].lock));
		x->out[i].last = x->in[i].accept = 63;
		if (cell_channel_init(&x->ep[i], c, &c->ports[i],
				      i < EX_INTERNAL ? &inner : &link,
				      &extoll_xbar_port_ops, x, err))
			return -1;
	}
	return 0;
}

int extoll_xbar_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_xbar *x = c->state;
	const struct topology *t = x->place.topo;
	uint32_t i;

	x->datelines = x->dateline << EX_INTERNAL;
	if (t) { /* the crossbar has a position in a network */
		x->node = x->place.node;
		x->datelines |= topo_datelines(t, x->node);
		topo_here_init(&x->here, t, x->node);
	}
	for (i = 0; i < EX_PORTS; i++) {
		if (cell_channel_start(&x->ep[i], err))
			return -1;
		x->peer[i] = x->ep[i].peer;
	}
	return extoll_xbar_cells_fit(x, err);
}

/* Frees the packets that the crossbar still holds at the end of the run,
 * because no receiver will free them. */
int extoll_xbar_finish(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_xbar *x = c->state;
	uint32_t i;

	for (i = 0; weft_sim_idle(c->sim) && i < EX_PORTS; i++)
		cell_channel_abandon(&x->ep[i], true);
	return extoll_xbar_sample(c, err);
}

void extoll_xbar_fini(struct weft_comp *c)
{
	struct extoll_xbar *x = c->state;
	uint32_t i;

	if (!x->comp)
		return;
	for (i = 0; i < EX_PORTS; i++)
		cell_channel_fini(&x->ep[i]);
	free(x->table);
	free(x->turn);
	vec_free(&x->held);
}
