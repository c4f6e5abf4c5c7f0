/* SPDX-License-Identifier: Apache-2.0 */
/* Request queues of the FORTH NIC: start flag, pointers, choice of the next
 * queue, and the order of departure, which local notifications follow. Source:
 * forth.md sections 3.1, 3.3, 3.7, 3.8. */
#include <stdlib.h>

#include "systems/forth/nic/nic.h"

/* Releases the slots of a queue up to descriptor `desc`, whose start flag was
 * set. */
void forth_queue_trigger(struct forth_nic *n, uint32_t desc)
{
	uint32_t qi = desc / n->depth, slot = desc % n->depth;
	struct forth_queue *q = &n->queue[qi];
	uint32_t old = q->pending;
	uint32_t ahead = (slot - q->head) & (n->depth - 1);
	bool stamp, traced;

	/* a store into a released slot has no further effect */
	if (ahead < q->pending)
		return;
	q->pending = ahead + 1;
	q->tail = (slot + 1) & (n->depth - 1);
	stamp = forth_bench_mode(n) & FORTH_BENCH_ON;
	traced = weft_heard(n->comp);
	if (stamp && !n->ts1)
		n->ts1 = calloc(FORTH_DESC_TOTAL, sizeof(*n->ts1));
	if (traced && !n->trace)
		n->trace = calloc(FORTH_DESC_TOTAL, sizeof(*n->trace));
	for (uint32_t i = old; (stamp || traced) && i < q->pending; i++) {
		uint32_t at = qi * n->depth + ((q->head + i) & (n->depth - 1));

		if (stamp) /* time stamp ts1 of benchmark mode */
			n->ts1[at] = (uint32_t)forth_pc(n);
		if (traced)
			n->trace[at] = weft_msg_open(n->comp);
	}
	if (n->rq.state == FORTH_NO_PND_OP)
		forth_engine_wake(n, forth_pc(n));
}

uint32_t forth_queue_pointers(struct forth_nic *n, uint32_t qi)
{
	const struct forth_queue *q = &n->queue[qi];
	/* The engine fetches the second qword in RdD1 and Check. `state` shows
	 * RdD0 for the whole time of RdD0, RdD1 and Check (dma_engine.c). In
	 * the first cycle of that time the engine still fetches the first
	 * qword. */
	enum forth_state s = n->rq.state;
	bool second =
		s == FORTH_RD_D1 || s == FORTH_CHECK ||
		(s == FORTH_RD_D0 && n->started && forth_pc(n) != n->rq.since);

	second = second && n->rq.queue == qi;

	return forth_pointers_pack(q->head, second, q->tail);
}

uint32_t forth_track_add(struct forth_nic *n, uint32_t qi, bool lnotify)
{
	struct forth_queue *q = &n->queue[qi];
	uint32_t seq = q->track.tail;

	*ring_push(&q->track) = (struct forth_track){
		.slot = (uint16_t)q->head,
		.lnotify = lnotify,
	};
	return seq;
}

/* Notes that transfer `seq` departs at PCI edge `pc`, which may lie in the
 * future. Then counts departures from the oldest transfer on, up to the first
 * transfer that has not departed, so that one notification covers all earlier
 * transfers of its queue (3.8). */
void forth_track_done(struct forth_nic *n, uint32_t qi, uint32_t seq,
		      uint64_t pc)
{
	struct forth_queue *q = &n->queue[qi];
	struct forth_track *t = ring_at(&q->track, seq);
	struct forth_lnotify l;
	uint32_t next;

	t->done = true;
	t->gone = pc;
	for (; !ring_empty(&q->track) && ring_front(&q->track)->done;
	     ring_pop(&q->track)) {
		t = ring_front(&q->track);
		q->gone = t->gone > q->gone ? t->gone : q->gone;
		q->departed++;
		if (!t->lnotify)
			continue;
		next = (t->slot + 1u) & (n->depth - 1);
		l = (struct forth_lnotify){
			.word = forth_lnotify_pack(next, qi, q->departed),
			.at = q->gone,
			.queue = qi,
		};
		ring_insert_sorted(&n->lnotify, l, .at);
		forth_engine_offer(n, q->gone);
	}
}
