/* SPDX-License-Identifier: Apache-2.0 */
/* extoll.gen as a player of packet traces (net/packet_trace.h): each packet
 * goes when its cycle has come and those it waits for have arrived, the
 * earliest first. That one has arrived is known to all sources one cycle later:
 * the trace says what depends on what, not how a node hears of it. */
#include <errno.h>
#include <stdlib.h>

#include "net/packet_trace.h"
#include "systems/extoll/traffic/generator.h"

enum { TAG_READY = 1 };

/* ---- heap of those that had to wait ---- */

static bool generator_replay_earlier(const struct trace *t, uint32_t a,
				     uint32_t b)
{
	return t->pkt[a].cycle != t->pkt[b].cycle
		       ? t->pkt[a].cycle < t->pkt[b].cycle
		       : a < b;
}

static void heap_push(struct extoll_gen_replay *r, uint32_t i)
{
	size_t k;

	vec_push(&r->ready, i);
	for (k = r->ready.n - 1;
	     k && generator_replay_earlier(r->t, i, r->ready.at[(k - 1) / 2]);
	     k = (k - 1) / 2)
		r->ready.at[k] = r->ready.at[(k - 1) / 2];
	r->ready.at[k] = i;
}

static void heap_pop(struct extoll_gen_replay *r)
{
	uint32_t i = vec_pop(&r->ready), *h = r->ready.at;
	size_t k = 0, n = r->ready.n, next;

	if (!n)
		return;
	for (; (next = 2 * k + 1) < n; k = next) {
		if (next + 1 < n &&
		    generator_replay_earlier(r->t, h[next + 1], h[next]))
			next++;
		if (!generator_replay_earlier(r->t, h[next], i))
			break;
		h[k] = h[next];
	}
	h[k] = i;
}

/* ---- playing ---- */

/* Place in the order of the next packet that waits for nobody. */
static bool order_head(struct extoll_gen_replay *r, uint32_t *i_p)
{
	while (r->at < r->end && r->t->pkt[r->t->order[r->at]].deps)
		r->at++;
	*i_p = r->at < r->end ? r->t->order[r->at] : 0;
	return r->at < r->end;
}

static bool replay_head(struct extoll_gen_replay *r, uint32_t *i_p,
			bool *heap_p)
{
	bool any = order_head(r, i_p);

	*heap_p =
		r->ready.n &&
		(!any || generator_replay_earlier(r->t, r->ready.at[0], *i_p));
	if (*heap_p)
		*i_p = r->ready.at[0];
	return any || *heap_p;
}

static void replay_send(struct weft_comp *c, uint32_t i)
{
	struct extoll_gen *g = c->state;
	const struct trace_pkt *p = &g->replay->t->pkt[i];
	struct weft_frame *f = extoll_gen_packet(c, p->dst, p->bytes, false);

	if (!f)
		weft_check_failed(c, "no way to node %u", p->dst);
	else
		extoll_gen_submit(c, f, p->cycle, i);
}

void extoll_gen_replay_next(struct weft_comp *c)
{
	struct extoll_gen *g = c->state;
	struct extoll_gen_replay *r = g->replay;
	uint64_t now = extoll_gen_now(g);
	uint32_t i;
	bool heap;

	while (netport_room(&g->np, g->kind) && replay_head(r, &i, &heap)) {
		uint64_t cycle = r->t->pkt[i].cycle;

		if (cycle > now) {
			if (r->armed == cycle)
				return;
			r->armed = cycle;
			weft_wake(c, TAG_READY,
				  weft_clock_edge(&g->clock, cycle));
			return;
		}
		if (heap)
			heap_pop(r);
		else
			r->at++;
		replay_send(c, i);
	}
}

void extoll_gen_replay_done(struct weft_comp *c, uint32_t i)
{
	struct extoll_gen *g = c->state;
	struct trace *t = g->replay->t;
	uint64_t then = extoll_gen_now(g) + 1;

	if (i >= t->n) /* a damaged number */
		return;
	for (uint32_t k = 0; k < t->pkt[i].n; k++) {
		uint32_t d = t->next[t->pkt[i].first + k];
		struct trace_pkt *p = &t->pkt[d];
		struct weft_comp *src;

		src = g->net->gen[p->src].comp;
		if (--p->wait || !src || src->cls != c->cls)
			continue;
		if (p->cycle < then)
			p->cycle = then;
		heap_push(((struct extoll_gen *)src->state)->replay, d);
		weft_post(src, src->n_ports, weft_clock_edge(&g->clock, then));
	}
}

/* ---- start ---- */

/* All play the same file; components start in order of names, not of nodes. */
int extoll_gen_replay_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct extoll_gen_replay *r;

	if (!g->net)
		return weft_fail(err, EINVAL, "%s: a trace needs a fabric",
				 c->name);
	if (g->verify)
		return weft_fail(
			err, EINVAL,
			"%s: packets of a trace have its numbers, not those that verify compares: leave one out",
			c->name);
	if (!g->net->trace)
		g->net->trace =
			trace_load(g->trace, g->nodes, EX_PAYLOAD_MAX, err);
	if (!g->net->trace)
		return -EINVAL;
	r = g->replay = calloc(1, sizeof(*r));
	if (!r)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	r->t = g->net->trace;
	r->at = r->t->from[g->node];
	r->end = r->t->from[g->node + 1];
	r->armed = UINT64_MAX;
	return 0;
}

void extoll_gen_replay_fini(struct extoll_gen *g)
{
	if (g->replay)
		vec_free(&g->replay->ready);
	free(g->replay);
}
