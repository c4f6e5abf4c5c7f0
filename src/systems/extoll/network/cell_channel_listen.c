/* SPDX-License-Identifier: Apache-2.0 */
/* A listener on a line without faults. The cell channel builds the frames that
 * a framed line would carry (cell_channel_framed.c) for the listener alone.
 * Such a line has no errors, so that SEQ, ACK and credits are plain counts.
 *
 * The peer receives packets made of the bytes that the listener heard.
 *
 * A refresh is reported only if another cell was on the line since the last
 * refresh, because a framed line at rest sends no frames. */
#include "systems/extoll/network/cell_channel_control.h"
#include "systems/extoll/network/frame.h"

struct cell_channel_listener {
	struct weft_line_listener *to;
	uint64_t word_fs;
	uint8_t seq;	       /* SEQ of the next cell */
	uint8_t acked;	       /* SEQ up to which ACKs were sent, exclusive */
	uint8_t refresh_vc;    /* VC of the next refresh */
	uint8_t given[EX_VCS]; /* credits returned so far, modulo 256 */
	/* A cell other than a refresh was on the line since the last
	 * refresh. */
	bool awake;
	bool telling;
	struct ex_built built; /* packets for the peer */
};

void cell_channel_frame(const struct cell_channel *ep, const struct ecell *cell,
			uint32_t vc, struct weft_frame *f)
{
	uint32_t ctl = vc | (cell->flags & ECELL_SOP ? EX_CTL_SOP : 0) |
		       (cell->flags & ECELL_EOP ? EX_CTL_EOP : 0);

	ex_cell_fill(f, cell->pkt, ep->cfg.width, ctl, cell->first, cell->flits,
		     cell->flags & ECELL_VOID);
	if (cell->flags & ECELL_TABLE)
		*ex_meta(f) = (struct ex_meta){ .words = ex_meta(f)->words,
						.cls = cell->cls,
						.dest = cell->dest,
						.port = cell->port,
						.dim = cell->dim };
}

static void channel_listen_tell(struct cell_channel *ep, struct weft_frame *f,
				uint64_t at)
{
	struct cell_channel_listener *t = ep->listener;

	f->word_fs = t->word_fs;
	t->telling = true;
	t->to->hear(t->to, f, weft_clock_edge(&ep->cfg.clk, at));
	t->telling = false;
}

void cell_channel_listen_cell(struct cell_channel *ep, struct ecell *cell,
			      uint32_t vc, uint64_t at)
{
	_Alignas(struct weft_buf)
		uint8_t room[sizeof(struct weft_buf) + EX_CELL_BYTES];
	struct weft_frame f = { .payload.buf = (struct weft_buf *)room };

	cell_channel_frame(ep, cell, vc, &f);
	ex_line(&f)->arg = ep->listener->seq++;
	ep->listener->awake = true;
	channel_listen_tell(ep, &f, at);
	if (!(cell->flags & ECELL_VOID))
		cell->pkt = ex_rebuild(&ep->listener->built, ep->comp->sim, &f,
				       weft_slice_data(f.payload));
}

void cell_channel_listen_drop(struct cell_channel *ep)
{
	ex_rebuild_drop(&ep->listener->built);
}

static void tell_control(struct cell_channel *ep, uint64_t at, uint32_t type,
			 uint32_t value)
{
	struct weft_frame f = { .flags = EX_F_CONTROL,
				.words = ep->cfg.ctl_flits };

	*ex_line(&f) = (struct ex_line){ .type = (uint8_t)type,
					 .arg = (uint8_t)value,
					 .width = (uint8_t)ep->cfg.width };
	channel_listen_tell(ep, &f, at);
}

void cell_channel_listen_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n)
{
	struct cell_channel_listener *t = ep->listener;

	t->awake = true;
	if (kind == CELL_CHANNEL_TELL_ACK) {
		t->acked = (uint8_t)(t->acked + n);
		tell_control(ep, at, EX_C_ACK, t->acked - 1u);
	} else {
		t->given[kind] = (uint8_t)(t->given[kind] + n);
		tell_control(ep, at, EX_C_CREDIT + kind, n);
	}
}

void cell_channel_listen_refresh(struct cell_channel *ep, uint64_t at,
				 uint64_t n)
{
	struct cell_channel_listener *t = ep->listener;
	uint32_t vc = t->refresh_vc % EX_VCS;

	t->refresh_vc = (uint8_t)(t->refresh_vc + n);
	if (t->awake)
		tell_control(ep, at, EX_C_REFRESH + vc, t->given[vc]);
	t->awake = false;
}

static void channel_listen_settle(struct weft_port *p)
{
	struct cell_channel *ep = (struct cell_channel *)p->iface;

	if (ep->listener && !ep->listener->telling && ep->peer && ep->ctl)
		cell_channel_settle(ep, cell_channel_now(ep));
}

/* Installs a listener. A framed line reports its real frames and needs no state
 * here. */
void cell_channel_listen_start(struct cell_channel *ep)
{
	const struct weft_clock *clk = &ep->cfg.clk;

	ep->port->listener->settle = channel_listen_settle;
	if (ep->needs_frames)
		return;
	ep->listener = weft_comp_alloc(ep->comp, sizeof(*ep->listener));
	ep->listener->to = ep->port->listener;
	ep->listener->word_fs = clk->num / clk->den;
}
