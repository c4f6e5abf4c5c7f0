/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar in the Host Port's network: packets with equal hash of their
 * destination leave in order of arrival (hostport.md 3.1, 3.6).
 *
 * The first two bytes behind the route are DHASH (3.3). The value 0 means that
 * the sender does not need order. A packet counts as arrived when it may
 * request its output (crossbar_queues.c). From then on it has an entry in
 * x->turn, and requests only when no packet with the same output, VC and hash
 * precedes it there. So a packet waits only for packets that also need its
 * outgoing VC. Therefore the order causes no deadlock. */
#include "systems/extoll/network/crossbar.h"

#include <stdlib.h>
#include <string.h>

static struct extoll_xbar_turn *turn_find(struct extoll_xbar *x, uint32_t i,
					  const struct ecell *c)
{
	for (uint32_t k = 0; k < x->n_turn; k++)
		if (x->turn[k].in == i && x->turn[k].vc == c->vc &&
		    x->turn[k].serial == c->serial)
			return &x->turn[k];
	return NULL;
}

/* Returns the first packet with the output, VC and hash of `of`, or NULL. */
static struct extoll_xbar_turn *turn_first(struct extoll_xbar *x,
					   const struct extoll_xbar_turn *of)
{
	struct extoll_xbar_turn *t = x->turn;

	while (t < x->turn + x->n_turn &&
	       (t->out != of->out || t->vc_out != of->vc_out ||
		t->hash != of->hash))
		t++;
	return t < x->turn + x->n_turn ? t : NULL;
}

void extoll_xbar_turn_add(struct extoll_xbar *x, uint32_t i,
			  const struct ecell *c)
{
	const uint8_t *b = weft_slice_data(c->pkt->payload);
	uint32_t hash = 0;

	if (!(c->flags & ECELL_VOID) && !ex_meta(c->pkt)->words && b &&
	    c->pkt->payload.len >= 2)
		hash = (uint32_t)b[0] << 8 | b[1];
	if (!hash || turn_find(x, i, c))
		return;
	if (x->n_turn == x->max_turn) {
		x->max_turn = x->max_turn ? 2 * x->max_turn : 16;
		x->turn = realloc(x->turn, x->max_turn * sizeof(*x->turn));
		if (!x->turn)
			abort();
	}
	x->turn[x->n_turn++] =
		(struct extoll_xbar_turn){ .hash = (uint16_t)hash,
					   .in = (uint8_t)i,
					   .vc = c->vc,
					   .serial = c->serial,
					   .out = x->in[i].out[c->vc],
					   .vc_out = c->vc_out };
}

bool extoll_xbar_turn_is(struct extoll_xbar *x, uint32_t i,
			 const struct ecell *c)
{
	const struct extoll_xbar_turn *t = turn_find(x, i, c);

	return !t || turn_first(x, t) == t;
}

bool extoll_xbar_turn_drop(struct extoll_xbar *x, uint32_t i,
			   const struct ecell *c, struct extoll_xbar_turn *next)
{
	struct extoll_xbar_turn *t = turn_find(x, i, c), was, *n;

	if (!t)
		return false;
	was = *t;
	memmove(t, t + 1, (size_t)(x->turn + --x->n_turn - t) * sizeof(*t));
	n = turn_first(x, &was);
	if (n)
		*next = *n;
	return n;
}
