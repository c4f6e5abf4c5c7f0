/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies the listener of a FORTH link that has no fault component: of a
 * packet when the packet starts, and of a credit frame when that frame is
 * computed (credit_return.c). */
#include "systems/forth/link/port_internal.h"

void forth_port_credits_fill(const struct forth_port *l, struct weft_frame *f,
			     const uint16_t *credit, uint32_t n, uint32_t words)
{
	struct forth_shape s = { .layout = (uint8_t)l->cfg.layout,
				 .links = (uint8_t)l->cfg.links,
				 .credits = (uint8_t)n };

	f->flags = FORTH_F_CREDITS;
	f->words = words;
	forth_shape_set(f, s);
	for (uint32_t i = 0; i < n; i++)
		forth_frame_set_credit(f, i, credit[i]);
}

/* Notifies the listener of a frame or, in a bundle, of each link's share of the
 * frame. */
void forth_port_tell(struct forth_port *l, const struct weft_frame *f,
		     uint64_t at)
{
	weft_time_t start = weft_clock_edge(&l->clk, at);
	struct weft_frame share = *f;
	struct forth_shape s = forth_shape_get(f);

	l->telling = true;
	for (uint32_t j = 0; j < l->cfg.links; j++) {
		struct weft_line_listener *t = l->port[j].listener;

		if (!t)
			continue;
		s.line = (uint8_t)j;
		forth_shape_set(&share, s);
		t->hear(t, &share, start);
	}
	l->telling = false;
}

static void settle(struct weft_port *p)
{
	struct forth_port *l = (struct forth_port *)p->iface;

	if (l->told && !l->telling && !l->needs_frames && l->peer)
		forth_port_catch_up(l, forth_port_now(l));
}

void forth_port_tap_setup(struct forth_port *l)
{
	l->told = false;
	for (uint32_t j = 0; j < l->cfg.links; j++) {
		if (!l->port[j].listener)
			continue;
		l->port[j].listener->settle = settle;
		l->told = !l->loop;
	}
}
