/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that do not take the fast path of forth_port_arrive: frames that
 * arrive while the link end is out of sync, and frames of a bundle. Each link
 * of a bundle carries a share of the frame's bytes, in a frame of its own. The
 * shares are joined once each link has delivered its share (forth.md 4.9,
 * 4.12). */
#include "systems/forth/link/port_internal.h"

void forth_port_out_of_sync(struct forth_port *l)
{
	if (l->peer && !l->lost_sync)
		forth_port_catch_up(l, forth_port_now(l));
	l->lost_sync = true;
}

/* Drops f while the link end is out of sync. Sync returns once 16 words of
 * commas have passed on the slowest link of a bundle. Returns whether f was
 * dropped. */
static bool out_of_sync(struct forth_port *l, struct weft_frame *f)
{
	uint64_t cycle = weft_clock_cycle(&l->clk, f->time);

	if (!l->lost_sync)
		return false;
	if (cycle >= forth_port_in_sync_at(l)) {
		l->lost_sync = false;
		l->line_free = l->line_free > cycle ? l->line_free : cycle;
		forth_port_arm(
			l); /* a packet may wait for the return of sync */
		return false;
	}
	if (cycle + f->words > l->rx_quiet)
		l->rx_quiet = cycle + f->words;
	if (f->flags & FORTH_F_PACKET) {
		l->count.unsync++;
		l->count.credit_leak +=
			forth_charge(l->cfg.links, forth_shape_get(f).wire_len);
	}
	weft_frame_free(f);
	return true;
}

/* Returns the oldest frame once each link has delivered its share of that frame
 * or of a later one, otherwise NULL. */
static struct weft_frame *bundle_oldest(struct forth_port *l)
{
	struct weft_frame *f = NULL;
	uint32_t j;

	for (j = 0; j < l->cfg.links; j++) {
		struct weft_frame *g = l->line_q[j];

		if (!g)
			return NULL;
		if ((!f || (int16_t)(forth_shape_get(g).seq -
				     forth_shape_get(f).seq) < 0))
			f = g;
	}
	return f;
}

void forth_port_skew_lost(struct forth_port *l, struct weft_frame *f)
{
	uint64_t end = weft_clock_cycle(&l->clk, weft_now(l->comp)) + f->words;

	l->count.skew_full++;
	l->count.align++;
	if (f->flags & FORTH_F_PACKET)
		forth_port_return(
			l,
			forth_charge(l->cfg.links, forth_shape_get(f).wire_len),
			end);
	weft_frame_free(f);
}

static void bundle_frame(struct forth_port *l, struct weft_frame *first)
{
	struct weft_frame *f[FORTH_PORT_LINKS_MAX] = { 0 }, *whole;
	uint32_t j, good = 0, seq = forth_shape_get(first).seq;
	weft_time_t now = weft_now(l->comp), came = now;

	for (j = 0; j < l->cfg.links; j++) {
		struct weft_frame *g = l->line_q[j];

		if (!g || forth_shape_get(g).seq != seq)
			continue;
		l->line_q[j] = g->next;
		g->next = NULL;
		f[j] = g;
		good += !g->raw;
	}
	if (good < l->cfg.links) {
		forth_port_rx_walk(l, f, first);
	} else {
		whole = weft_frame_dup(f[0]);
		whole->flags &= ~(uint32_t)FORTH_F_LINE;
		whole->time = now;
		/* find when the first share arrived, because the FIFO of its
		 * link overflows if the last share arrives much later */
		for (j = 0; j < l->cfg.links; j++)
			came = f[j]->time < came ? f[j]->time : came;
		if (forth_port_skew_full(l, now - came, whole->words))
			forth_port_skew_lost(l, whole);
		else
			forth_port_arrive(l, 0, whole);
	}
	for (j = 0; j < l->cfg.links; j++)
		if (f[j])
			weft_frame_free(f[j]);
}

void forth_port_rx_odd(struct forth_port *l, uint32_t j, struct weft_frame *f)
{
	struct weft_frame *part[FORTH_PORT_LINKS_MAX] = { 0 }, *oldest;

	if (out_of_sync(l, f))
		return;
	if (f->flags & FORTH_F_LINE) {
		forth_port_append(&l->line_q[j], f);
		while ((oldest = bundle_oldest(l)))
			bundle_frame(l, oldest);
		return;
	}
	if (!f->raw && !(f->flags & (FORTH_F_CRC32 | FORTH_F_TRUNC))) {
		forth_port_arrive(l, j, f);
		return;
	}
	part[j] = f;
	forth_port_rx_walk(l, part, f);
	weft_frame_free(f);
}
