/* SPDX-License-Identifier: Apache-2.0 */
/* Order in which a node sends the packets of a trace, see packet_replay.h. */
#include "net/packet_replay.h"

static bool replay_earlier(const struct trace *t, uint32_t a, uint32_t b)
{
	return t->pkt[a].cycle != t->pkt[b].cycle
		       ? t->pkt[a].cycle < t->pkt[b].cycle
		       : a < b;
}

/* Advances r->at past packets with dependences. packet_replay_ready() adds
 * these packets to the heap later. */
static void replay_skip(struct packet_replay *r)
{
	while (r->at < r->end && r->t->pkt[r->t->order[r->at]].deps)
		r->at++;
}

void packet_replay_init(struct packet_replay *r, struct trace *t, uint32_t node)
{
	*r = (struct packet_replay){ .t = t,
				     .n = t->from[node + 1] - t->from[node],
				     .at = t->from[node],
				     .end = t->from[node + 1] };
	replay_skip(r);
}

/* Returns true if the next packet comes from the heap. */
static bool replay_from_heap(const struct packet_replay *r)
{
	return r->ready.n &&
	       (r->at == r->end ||
		replay_earlier(r->t, r->ready.at[0], r->t->order[r->at]));
}

uint64_t packet_replay_due(const struct packet_replay *r)
{
	if (replay_from_heap(r))
		return r->t->pkt[r->ready.at[0]].cycle;
	return r->at < r->end ? r->t->pkt[r->t->order[r->at]].cycle
			      : UINT64_MAX;
}

void packet_replay_ready(struct packet_replay *r, uint32_t i)
{
	size_t k;

	vec_push(&r->ready, i);
	for (k = r->ready.n - 1;
	     k && replay_earlier(r->t, i, r->ready.at[(k - 1) / 2]);
	     k = (k - 1) / 2)
		r->ready.at[k] = r->ready.at[(k - 1) / 2];
	r->ready.at[k] = i;
}

static void heap_pop(struct packet_replay *r)
{
	uint32_t i = vec_pop(&r->ready), *h = r->ready.at;
	size_t k = 0, n = r->ready.n, next;

	if (!n)
		return;
	for (; (next = 2 * k + 1) < n; k = next) {
		if (next + 1 < n && replay_earlier(r->t, h[next + 1], h[next]))
			next++;
		if (!replay_earlier(r->t, h[next], i))
			break;
		h[k] = h[next];
	}
	h[k] = i;
}

/* Delays packets that wait for the departure of packet i to the cycle of packet
 * i or later. Adds those that wait for no other packet to the heap. */
static void replay_left(struct packet_replay *r, uint32_t i)
{
	uint64_t cycle = r->t->pkt[i].cycle;

	for (uint32_t k = r->t->pkt[i].left; k;
	     k = r->t->pkt[k - 1].left_next) {
		struct trace_pkt *p = &r->t->pkt[k - 1];

		if (p->cycle < cycle)
			p->cycle = cycle;
		if (!--p->wait)
			packet_replay_ready(r, k - 1);
	}
}

uint32_t packet_replay_take(struct packet_replay *r)
{
	uint32_t i;

	if (replay_from_heap(r)) {
		i = r->ready.at[0];
		heap_pop(r);
	} else {
		i = r->t->order[r->at++];
		replay_skip(r);
	}
	replay_left(r, i);
	return i;
}
