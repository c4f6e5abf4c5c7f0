/* SPDX-License-Identifier: Apache-2.0 */
/* Observers of a multipath run, given with --load: an oracle that knows more
 * than the receiver can.
 *
 * n0.nic --(watch.link: sent)--> switches --(watch.link: heard)--> n1.nic
 *                                                                    |
 *                                                      watch.bus ----+
 *
 * watch.link sits on the outputs of a NIC, where it sees the true order of
 * sending. It also sits, behind all faults, on the outputs of a switch towards
 * a NIC, where it sees which packets arrive, and when. watch.bus at the
 * receiver compares notifications with these packets (watch_order.c,
 * watch_bus.c). */
#include <stdio.h>

#include "systems/forth/link/wire.h"
#include "watch.h"

struct tap {
	/* tap on a NIC: observer of each destination of the NIC's packets */
	struct watch *of[WATCH_NODES];
	struct watch *to; /* tap towards a NIC: observer of that NIC */
	uint32_t node, path;
};

/* Returns the bus clock (pc) at which the header of a frame is checked. Header
 * and CRC follow the delimiter and the credits (forth.md 4.7). */
static uint64_t checked_pc(const struct watch *w, const struct weft_frame *f)
{
	struct forth_shape s = forth_shape_get(f);
	uint32_t words =
		4 + forth_credit_words(s.layout, s.links, s.credits, true);

	return weft_clock_cycle(&w->pci, f->time + words * f->word_fs);
}

static void tap_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;
	uint64_t hdr = f->u[FORTH_U_HEADER];
	uint32_t dst = forth_hdr_flow(hdr);

	if (!(f->flags & FORTH_F_PACKET))
		;
	else if (t->to)
		watch_heard(t->to, t->path, hdr, checked_pc(t->to, f));
	else if (dst < WATCH_NODES && t->of[dst])
		watch_sent(t->of[dst], t->node, t->path, hdr);
	weft_filter_pass(c, f);
}

static int tap_start(struct weft_comp *c, struct weft_err *err)
{
	struct tap *t = c->state;
	bool sent = c->on->comp->cls->kind == WEFT_KIND_NIC;
	const struct weft_port *p = sent ? c->on : c->on->peer;
	unsigned int node;

	if (sscanf(p->comp->name, "n%u.nic", &node) != 1 ||
	    sscanf(p->name, "link%u", &t->path) != 1)
		return 0; /* the cable is between switches */
	t->node = node;
	for (uint32_t i = 0; sent && i < WATCH_NODES; i++)
		t->of[i] = watch_of(c->sim, i);
	if (!sent)
		t->to = watch_of(c->sim, node);
	return 0;
}

static WEFT_COMPONENT(watch_link, .name = "watch.link", .kind = WEFT_KIND_FAULT,
		      .doc = "sees packets leave a NIC, or arrive at one",
		      .state_size = sizeof(struct tap),
		      .ops = { .start = tap_start, .filter = tap_filter });

WEFT_PLUGIN(&weft_class_watch_bus, &weft_class_watch_link);
