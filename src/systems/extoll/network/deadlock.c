/* SPDX-License-Identifier: Apache-2.0 */
/* Detects cells that wait for each other in a circle. In this file a place is
 * an input channel: crossbar, input port and VC. A head is the first cell of a
 * queue of a place. It waits for two conditions: no other packet holds the
 * channel of its output, and a slot behind the output is free. A head can move
 * if both conditions can become true. A slot becomes free if any head of the
 * place behind the output can move.
 *
 * At first all heads count as stuck. The search marks heads that can move until
 * it finds no more: heads that have waited for a short time, that have room, or
 * that leave to a NIC or traffic component. The heads that stay stuck are a
 * deadlock, because no event outside the circle can free them. A head whose
 * state is not known (cells in flight, packets that have not arrived as a
 * whole) counts as able to move, so that there are no false alarms. */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "systems/extoll/network/direct_network.h"

enum { NOWHERE = UINT32_MAX };

struct head {
	uint32_t place; /* input channel of the cell */
	struct ex_wait w;
	bool live; /* it can move */
};

struct waits {
	const struct extoll_net *n;
	uint64_t before;
	struct {
		VEC(struct head);
	} heads; /* by place */
	/* Index of the first head of each place. The heads are sorted by place,
	 * so that place p has the heads first[p] to first[p + 1] - 1. */
	uint32_t *first;
};

/* ---- places: input channels of crossbars ---- */

static uint32_t place_of(const struct weft_comp *c, uint32_t in, uint32_t vc)
{
	return (ex_place(c)->node * EX_PORTS + in) * EX_VCS + vc;
}

static struct weft_comp *place_comp(const struct waits *w, uint32_t p)
{
	return w->n->xbar[p / (EX_PORTS * EX_VCS)];
}

static uint32_t place_in(uint32_t p)
{
	return p / EX_VCS % EX_PORTS;
}

static const struct weft_port *far_end(const struct waits *w,
				       const struct head *h)
{
	return place_comp(w, h->place)->ports[h->w.out].peer;
}

/* Returns true if a head of place p other than head number `but` can move. Also
 * returns true if the place has no heads, because its cells are in flight
 * then. */
static bool place_moves(const struct waits *w, uint32_t p, uint32_t but)
{
	for (uint32_t i = w->first[p]; i < w->first[p + 1]; i++)
		if (i != but && w->heads.at[i].live)
			return true;
	return w->first[p] == w->first[p + 1];
}

/* Returns true if cells may arrive at the place. */
static bool place_takes(const struct waits *w, uint32_t p)
{
	struct weft_comp *c = place_comp(w, p);

	return ex_place(c)->waits->comes(c, place_in(p), p % EX_VCS);
}

/* ---- cells that can move ---- */

/* Returns true if the channel that the head needs can become free. Searches for
 * the next cell of the packet that holds the channel, at this crossbar and then
 * link by link upstream, and checks whether that cell can move. */
static bool lock_comes(const struct waits *w, const struct head *h)
{
	const struct weft_comp *c = place_comp(w, h->place);
	uint32_t out = h->w.out, lock = h->w.lock;

	for (uint32_t hops = 0; hops < w->n->n_xbars; hops++) {
		uint32_t p = place_of(c, lock / EX_VCS, lock % EX_VCS);
		const struct weft_port *up;

		if (lock == EX_UNLOCKED)
			return true;
		for (uint32_t i = w->first[p]; i < w->first[p + 1]; i++)
			if (w->heads.at[i].w.out == out)
				return w->heads.at[i].live;
		if (!place_takes(w, p) && !place_moves(w, p, NOWHERE))
			return false;
		up = c->ports[lock / EX_VCS].peer;
		if (!up || up->comp->cls->kind != WEFT_KIND_SWITCH)
			return true;
		c = up->comp;
		out = up->index;
		lock = ex_place(c)->waits->lock(up->comp, out, lock % EX_VCS);
	}
	return true;
}

/* Returns true if a slot for the head can become free, in its channel or in the
 * pool. */
static bool slot_comes(const struct waits *w, const struct head *h)
{
	const struct weft_port *far = far_end(w, h);

	if (h->w.room || far->comp->cls->kind != WEFT_KIND_SWITCH)
		return true;
	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		if ((vc == h->w.vc || h->w.pool >> vc & 1) &&
		    place_moves(w, place_of(far->comp, far->index, vc),
				NOWHERE))
			return true;
	return false;
}

/* Returns the number of heads that cannot move. */
static uint32_t waits_solve(struct waits *w)
{
	uint32_t stuck = w->heads.n;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 0; i < w->heads.n; i++) {
			struct head *h = &w->heads.at[i];
			bool here = !h->w.early || place_takes(w, h->place) ||
				    place_moves(w, h->place, i);

			if (h->live)
				continue;
			h->live =
				h->w.since > w->before ||
				(here && lock_comes(w, h) && slot_comes(w, h));
			more |= h->live;
			stuck -= h->live;
		}
	}
	return stuck;
}

/* ---- heads of all places ---- */

static uint32_t place_heads(const struct waits *w, uint32_t p,
			    struct ex_wait e[EX_PORTS])
{
	struct weft_comp *c = place_comp(w, p);
	const struct ex_waits *ops = ex_place(c)->waits;

	return ops ? ops->heads(c, place_in(p), p % EX_VCS, e) : 0;
}

static void waits_read(struct waits *w, uint32_t all)
{
	struct ex_wait e[EX_PORTS];

	w->first = calloc(all + 1, sizeof(*w->first));
	if (!w->first)
		abort();
	for (uint32_t p = 0; p < all; p++) {
		uint32_t k = place_heads(w, p, e);

		w->first[p] = w->heads.n;
		for (uint32_t i = 0; i < k; i++)
			vec_push(&w->heads,
				 (struct head){ .place = p, .w = e[i] });
	}
	w->first[all] = w->heads.n;
}

/* ---- text of a circle ---- */

static void place_text(const struct waits *w, uint32_t p, const char *before,
		       char *text, size_t size, size_t *at_p)
{
	const struct weft_comp *c = place_comp(w, p);

	if (*at_p < size)
		*at_p += (size_t)snprintf(
			text + *at_p, size - *at_p, "%s%s.%s/vc%u", before,
			c->name, c->ports[place_in(p)].name, p % EX_VCS);
}

/* Follows stuck heads from place to place until a place repeats. The circle
 * starts at path[*first_p]. Returns the length of the path. */
static uint32_t circle_find(const struct waits *w, uint32_t *path,
			    uint32_t *first_p)
{
	const struct head *h = w->heads.at;
	const struct weft_port *far;
	uint32_t n = 0, p;

	while (h->live)
		h++;
	while (h && n < w->heads.n) {
		for (uint32_t i = 0; i < n; i++)
			if (path[i] == h->place) {
				*first_p = i;
				return n;
			}
		path[n++] = h->place;
		/* Continue with the place whose heads keep head h from
		 * moving. */
		far = far_end(w, h);
		p = h->place;
		if (!lock_comes(w, h))
			p = place_of(place_comp(w, p), h->w.lock / EX_VCS,
				     h->w.lock % EX_VCS);
		else if (!slot_comes(w, h))
			p = place_of(far->comp, far->index, h->w.vc);
		h = NULL; /* continue with the first stuck head of place p */
		for (uint32_t i = w->first[p + 1]; i-- > w->first[p];)
			if (!w->heads.at[i].live)
				h = &w->heads.at[i];
	}
	*first_p = 0;
	return n;
}

static void circle_text(const struct waits *w, char *text, size_t size)
{
	uint32_t *path, n, first;
	size_t at;

	enum { SHOWN = 8 };
	path = calloc(w->heads.n + 1, sizeof(*path));
	at = 0;
	if (!path)
		abort();
	n = circle_find(w, path, &first);
	for (uint32_t k = first; k < n && k - first < SHOWN; k++)
		place_text(w, path[k], k == first ? "" : " -> ", text, size,
			   &at);
	if (n - first > SHOWN && at < size)
		at += (size_t)snprintf(text + at, size - at, " -> ...");
	place_text(w, path[first], " -> ", text, size, &at);
	if (at < size)
		snprintf(text + at, size - at, " (%u inputs)", n - first);
	free(path);
}

bool extoll_net_cycle(const struct extoll_net *n, uint64_t before, char *text,
		      size_t size, bool *blocked_p)
{
	struct waits w = { .n = n, .before = before };
	uint32_t places = n->n_xbars * EX_PORTS * EX_VCS;
	struct ex_wait e[EX_PORTS];
	bool found = false; /* a head has waited since before `before` */

	*blocked_p = false;
	for (uint32_t p = 0; !found && p < places; p++)
		for (uint32_t k = place_heads(&w, p, e); k-- > 0;)
			found |= e[k].since <= before;
	if (!found)
		/* usual case, which needs no slow search */
		return false;
	waits_read(&w, places);
	found = waits_solve(&w) > 0;
	if (found)
		circle_text(&w, text, size);
	/* If no deadlock exists, searches for a NIC or traffic component that
	 * accepts no cells. */
	for (uint32_t i = 0; !found && !*blocked_p && i < w.heads.n; i++) {
		const struct head *h = &w.heads.at[i];
		const struct weft_port *far = far_end(&w, h);

		if (h->w.since > before || h->w.room ||
		    far->comp->cls->kind == WEFT_KIND_SWITCH)
			continue;
		snprintf(text, size, "%s.%s takes nothing", far->comp->name,
			 far->name);
		*blocked_p = true;
	}
	free(w.heads.at);
	free(w.first);
	return found;
}
