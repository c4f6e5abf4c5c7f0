/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom: from a cell that has waited long to the output it wants,
 * over the cable to the cells there that hold the slots of its channel, and so
 * on.  A way that comes back to itself is a deadlock; one that ends at an end
 * is blocked by that end. */
#include <stdio.h>
#include <stdlib.h>

#include "link/exnet.h"

/* An input channel of a crossbar: what one may wait for. */
struct place {
	struct weft_comp *c;
	uint32_t in, vc;
};

static uint32_t place_index(const struct place *p)
{
	return (ex_place(p->c)->node * EX_PORTS + p->in) * EX_VCS + p->vc;
}

/* What waits there since before `before`; to: where its slot would be. */
static bool place_step(const struct place *p, uint64_t before, struct place *to,
		       bool *end_p)
{
	const struct ex_place *x = ex_place(p->c);
	const struct weft_port *far;
	struct ex_wait w;

	*end_p = false;
	if (!x->waits_for || !x->waits_for(p->c, p->in, p->vc, &w) ||
	    w.since > before)
		return false;
	far = p->c->ports[w.out].peer;
	*to = (struct place){ far->comp, far->index, w.vc };
	*end_p = far->comp->cls->kind != WEFT_KIND_SWITCH;
	return true;
}

static size_t place_text(const struct place *p, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "%s.%s/vc%u", p->c->name,
				p->c->ports[p->in].name, p->vc);
}

/* Once round from p, the first few by name. */
static void cycle_text(struct place p, uint64_t before, char *text, size_t size)
{
	enum { SHOWN = 8 };
	struct place first = p, next;
	size_t at = 0;
	uint32_t n = 0;
	bool end;

	do {
		if (n < SHOWN && at < size) {
			at += place_text(&p, text + at, size - at);
			if (at < size)
				at += (size_t)snprintf(text + at, size - at,
						       " -> ");
		}
		n++;
		if (!place_step(&p, before, &next, &end) || end)
			return;
		p = next;
	} while (place_index(&p) != place_index(&first));
	if (n > SHOWN && at < size)
		at += (size_t)snprintf(text + at, size - at, "... -> ");
	if (at < size)
		at += place_text(&first, text + at, size - at);
	if (at < size)
		snprintf(text + at, size - at, " (%u inputs)", n);
}

/* Follows from p, marking with `round` where it comes along. */
static bool follow(struct place p, uint64_t before, uint32_t *mark,
		   uint32_t round, char *text, size_t size, bool *blocked_p)
{
	struct place to;
	bool end;

	for (;; p = to) {
		uint32_t *m = &mark[place_index(&p)];

		if (*m == round) {
			cycle_text(p, before, text, size);
			return true;
		}
		if (*m)
			return false;
		*m = round;
		if (!place_step(&p, before, &to, &end))
			return false;
		if (!end)
			continue;
		if (!*blocked_p)
			snprintf(text, size, "%s.%s takes nothing", to.c->name,
				 to.c->ports[to.in].name);
		*blocked_p = true;
		return false;
	}
}

bool exnet_cycle(const struct exnet *n, uint64_t before, char *text,
		 size_t size, bool *blocked_p)
{
	uint32_t all = n->n_xbars * EX_PORTS * EX_VCS, round = 0;
	uint32_t *mark = calloc(all + 1, sizeof(*mark));
	bool found = false;

	*blocked_p = false;
	for (uint32_t i = 0; i < all && !found; i++) {
		struct place p = { n->xbar[i / (EX_PORTS * EX_VCS)],
				   i / EX_VCS % EX_PORTS, i % EX_VCS };

		found = mark &&
			follow(p, before, mark, ++round, text, size, blocked_p);
	}
	free(mark);
	return found;
}
