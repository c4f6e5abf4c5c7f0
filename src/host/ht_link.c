/* SPDX-License-Identifier: Apache-2.0 */
/* HyperTransport: one direction of a link. Three queues share it in the order
 * of EXTOLL specification 2.2. */
#include "host/ht.h"

#include <assert.h>
#include <stdlib.h>

/* ---- queues and rings ---- */

void ht_queue_insert(struct ht_queue *q, struct ht_pkt *p)
{
	struct ht_pkt **at = &q->head;

	if (!q->head || q->tail->ready <= p->ready) {
		ht_queue_push(q, p);
		return;
	}
	while ((*at)->ready <= p->ready)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	q->n++;
}

void ht_queue_clear(struct ht *b, struct ht_queue *q)
{
	while (q->head)
		ht_pkt_free(b, ht_queue_pop(q));
}

uint64_t ht_ring_take(struct ht_ring *r, uint32_t n, uint64_t back)
{
	if (!r->back)
		r->back = calloc(n, sizeof(*r->back));
	assert(r->back);
	r->back[r->used % n] = back;
	return r->used++;
}

void ht_ring_back(struct ht_ring *r, uint32_t n, uint64_t which, uint64_t back)
{
	assert(r->back[which % n] == HT_NEVER);
	r->back[which % n] = back;
}

/* ---- tags ---- */

uint64_t ht_tag_slot(const struct ht *b, const struct ht_link *l)
{
	uint64_t first;

	if (b->banks == 1)
		return ht_ring_slot(&l->tag, b->tags);
	if (!l->reads)
		return 0;
	first = l->reads->back[0];
	for (uint32_t i = 1; i < b->tags; i++)
		if (l->reads->back[i] < first)
			first = l->reads->back[i];
	return first;
}

uint8_t ht_tag_take(struct ht *b, struct ht_link *l, uint64_t d)
{
	uint8_t tag = 0;

	if (!l->reads)
		l->reads = calloc(1, sizeof(*l->reads));
	assert(l->reads);
	if (b->banks == 1)
		return (uint8_t)(ht_ring_take(&l->tag, b->tags, HT_NEVER) %
				 b->tags);
	while (l->reads->back[tag] > d)
		tag++;
	assert(tag < b->tags);
	l->reads->back[tag] = HT_NEVER;
	return tag;
}

void ht_tag_back(struct ht *b, struct ht_link *l, uint8_t tag, uint64_t back)
{
	if (b->banks == 1)
		ht_ring_back(&l->tag, b->tags, tag, back);
	else
		l->reads->back[tag] = back;
}

/* ---- order ---- */

/* Returns the slot before which the packet must not start, because no packet
 * may overtake an earlier posted packet. */
static uint64_t order_slot(const struct ht *b, const struct ht_link *l,
			   enum ht_dir dir, enum ht_vc vc,
			   const struct ht_pkt *p)
{
	const struct ht_pkt *posted = l->lane[dir].queue[HT_POSTED].head;
	bool load = dir == HT_DOWN && vc == HT_NONPOSTED, waits;
	uint64_t s = 0;

	if (vc == HT_POSTED)
		return 0;
	/* A load starts after all earlier stores of the host, to any device,
	 * have left, because the host's accesses stay in order. */
	for (uint32_t i = 0; load && i < b->devices; i++) {
		const struct ht_link *o = &b->link[i];

		posted = o->lane[HT_DOWN].queue[HT_POSTED].head;
		if (posted && posted->seq < p->seq)
			return HT_NEVER;
		if (o != l && o->store_seq < p->seq)
			s = ht_later(s, o->store_until);
	}
	if (load)
		return s;
	if (dir == HT_UP)
		waits = posted && posted->seq < p->seq;
	else
		waits = posted && !p->relaxed && posted->ready <= p->ready;
	return waits ? HT_NEVER : 0;
}

/* Returns the first slot at which the head of a queue can start, according to
 * the packets queued so far. */
static uint64_t ht_link_start(const struct ht *b, const struct ht_link *l,
			      enum ht_dir dir, enum ht_vc vc)
{
	const struct ht_lane *lane = &l->lane[dir];
	const struct ht_pkt *p = lane->queue[vc].head;
	uint64_t s;

	if (!p)
		return HT_NEVER;
	s = ht_later(p->ready, order_slot(b, l, dir, vc, p));
	s = ht_later(s, ht_ring_slot(&lane->credit[vc], b->credits));
	if (dir == HT_UP && vc == HT_NONPOSTED)
		s = ht_later(s, ht_tag_slot(b, l));
	return s;
}

/* ---- the link ---- */

static const char *const ht_doing[HT_DIRS][HT_VCS] = {
	[HT_DOWN] = { "store", "load", "read answer" },
	[HT_UP] = { "write", "read", "load answer" },
};

WEFT_COLD static void occupied(const struct ht *b, const struct ht_link *l,
			       enum ht_dir dir, uint64_t d, uint32_t slots)
{
	weft_span(b->comp, dir == HT_UP ? "up" : "down", ht_link_number(b, l),
		  ht_doing[dir][l->lane[dir].last], slots * 4, ht_time(b, d),
		  ht_time(b, d + slots));
}

uint64_t ht_occupy(struct ht *b, struct ht_link *l, enum ht_dir dir, uint64_t d,
		   uint32_t slots)
{
	struct ht_lane *lane = &l->lane[dir];

	assert(d >= lane->free_at);
	lane->free_at = d + slots;
	weft_count(b->comp, dir == HT_UP ? HT_C_UP_BUSY : HT_C_DOWN_BUSY,
		   slots);
	if (weft_heard(b->comp))
		occupied(b, l, dir, d, slots);
	return lane->free_at;
}

void ht_kick(struct ht *b, struct ht_link *l, enum ht_dir dir)
{
	struct ht_lane *lane = &l->lane[dir];
	weft_time_t now = weft_now(b->comp);
	uint64_t first = HT_NEVER;

	for (uint32_t vc = 0; vc < HT_VCS; vc++) {
		uint64_t s = ht_link_start(b, l, dir, vc);

		first = s < first ? s : first;
	}
	if (first == HT_NEVER)
		return;
	first = ht_later(first, lane->free_at);
	first = ht_later(first, weft_clock_cycle(&b->slot, now ? now - 1 : 0));
	weft_timer_arm(b->comp, &lane->decide,
		       ht_link_number(b, l) * HT_DIRS + dir,
		       ht_time(b, first) + 1);
}

void ht_decide(struct ht *b, struct ht_link *l, enum ht_dir dir)
{
	static const ht_send_fn send[HT_DIRS][HT_VCS] = {
		[HT_DOWN] = { ht_store_send, ht_load_send, ht_answer_send },
		[HT_UP] = { ht_write_send, ht_read_send, ht_loaded_send },
	};
	struct ht_lane *lane = &l->lane[dir];
	uint64_t d = weft_clock_cycle(&b->slot, weft_now(b->comp) - 1);

	if (!weft_timer_due(b->comp, &lane->decide))
		return;
	for (uint32_t i = 1; d >= lane->free_at && i <= HT_VCS; i++) {
		uint32_t vc = (lane->last + i) % HT_VCS;

		if (ht_link_start(b, l, dir, vc) > d)
			continue;
		lane->last = vc;
		send[dir][vc](b, l, d);
		break;
	}
	ht_kick(b, l, dir);
}
