/* SPDX-License-Identifier: Apache-2.0 */
/* Rings for the messages of direct endpoints.
 *
 * A sender writes each message behind its previous one. It clears the mark of
 * the next message first and writes the mark of the new message last, so that a
 * reader never reads an unfinished message. The receiver cannot write to the
 * ring. It keeps a private list of the messages read and marks them as freed in
 * any order. From time to time it reports freed room to the sender, in the
 * order of the ring. */
#include <errno.h>

#include "attach/direct_internal.h"

/* Returns the bytes to skip so that a message of this size does not wrap around
 * the ring's end. */
static uint64_t skip_of(const struct direct *d, uint64_t at, uint64_t size)
{
	uint64_t left = d->ring_bytes - at % d->ring_bytes;

	return size <= left ? 0 : left;
}

/* Returns true if the ring has room for `bytes` and one more unit. The unit
 * holds the mark of the next message. */
static bool direct_ring_fits(struct direct *d, struct direct_peer *p,
			     uint64_t bytes)
{
	uint64_t taken;

	if (p->put + bytes + DIRECT_UNIT <= p->room)
		return true;
	if (!p->place) /* The peer had not joined at the last attempt. */
		return !direct_peer_open(d, (uint32_t)(p - d->peer),
					 WANT_PEER) &&
		       direct_ring_fits(d, p, bytes);
	taken = atomic_load_explicit(&p->place->pair[d->me].taken,
				     memory_order_acquire);
	if (taken <= p->put)
		p->room = taken + d->ring_bytes;
	return p->put + bytes + DIRECT_UNIT <= p->room;
}

static void want_room(struct direct *d, uint32_t to, bool wants)
{
	d->peer[to].wants = wants;
	atomic_store(&d->self->pair[to].wanted, wants);
}

bool direct_has_room(struct direct *d, uint32_t to, size_t len)
{
	struct direct_peer *p = &d->peer[to];
	uint64_t size = direct_size(len);
	uint64_t all = skip_of(d, p->put, size) + size;

	if (direct_ring_fits(d, p, all)) {
		if (p->wants)
			want_room(d, to, false);
		return true;
	}
	want_room(d, to, true);
	if (direct_ring_fits(d, p, all))
		return true;
	d->blocked = to + 1;
	d->blocked_len = len;
	return false;
}

/* Clears the mark at p->put before it publishes the message h, because the
 * receiver reads the next mark as soon as it has read h. */
static void direct_ring_publish(struct direct *d, struct direct_peer *p,
				struct direct_head *h, enum direct_kind kind,
				size_t len)
{
	atomic_store_explicit(&direct_head_at(d, p->out, p->put)->mark, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&h->mark, (uint32_t)kind << 24 | (uint32_t)len,
			      memory_order_release);
}

struct direct_head *direct_begin(struct direct *d, uint32_t to, size_t len)
{
	struct direct_peer *p = &d->peer[to];
	uint64_t skip = skip_of(d, p->put, direct_size(len));
	struct direct_head *h = direct_head_at(d, p->out, p->put);

	if (!direct_has_room(d, to, len))
		return NULL;
	if (skip) {
		h->at = p->put;
		p->put += skip;
		direct_ring_publish(d, p, h, DIRECT_SKIP, 0);
	}
	return direct_head_at(d, p->out, p->put);
}

void direct_commit(struct direct *d, uint32_t to, struct direct_head *h,
		   enum direct_kind kind, size_t len, uint32_t imm)
{
	struct direct_peer *p = &d->peer[to];

	h->imm = imm;
	h->at = p->put;
	if (!p->met) {
		/* The first message to this peer: registers as a sender, so
		 * that the peer maps the memory of this process. */
		d->peer[to].met = true;
		direct_peer_open(d, to, WANT_MEET);
	}
	p->put += direct_size(len);
	direct_ring_publish(d, p, h, kind, len);
	/* The message must be visible before the sleep flag is read. */
	atomic_thread_fence(memory_order_seq_cst);
	direct_wake(d, to);
}

/* ---- receiving ---- */

/* Returns the entry with size and state of the message that starts at `at`. */
static uint16_t *unit_at(const struct direct *d, const struct direct_peer *p,
			 uint64_t at)
{
	return &p->units[at % d->ring_bytes / DIRECT_UNIT];
}

const struct direct_head *direct_next(struct direct *d, struct direct_peer *p,
				      enum direct_kind *kind_p, uint32_t *len_p)
{
	for (;;) {
		const struct direct_head *h = direct_head_at(d, p->in, p->got);
		uint32_t mark =
			atomic_load_explicit(&h->mark, memory_order_acquire);
		uint64_t left = d->ring_bytes - p->got % d->ring_bytes;
		uint64_t size = direct_size(mark & 0xffffff);

		if (!mark || p->broken)
			return NULL;
		if (h->at != p->got) {
			p->broken = true; /* the sender wrote garbage */
			return NULL;
		}
		*kind_p = mark >> 24;
		*len_p = mark & 0xffffff;
		if (*kind_p == DIRECT_SKIP && left < d->ring_bytes) {
			*unit_at(d, p, p->got) =
				(uint16_t)(left / DIRECT_UNIT | DIRECT_FREED);
			p->got += left;
			continue;
		}
		if (size > left || *kind_p >= DIRECT_SKIP) {
			p->broken = true; /* the sender wrote garbage */
			return NULL;
		}
		*unit_at(d, p, p->got) = (uint16_t)(size / DIRECT_UNIT);
		p->got += size;
		return h;
	}
}

/* Frees messages in order, up to the first that is still in use. */
static void give_back(struct direct *d, struct direct_peer *p)
{
	while (p->freed < p->got) {
		uint16_t *u = unit_at(d, p, p->freed);

		if (!(*u & DIRECT_FREED))
			break;
		p->freed += (uint64_t)(*u & ~DIRECT_FREED) * DIRECT_UNIT;
		*u = 0;
	}
}

void direct_tell_room(struct direct *d, struct direct_peer *p)
{
	give_back(d, p);
	if (p->told == p->freed)
		return;
	p->told = p->freed;
	atomic_store(&d->self->pair[p - d->peer].taken, p->freed);
	if (atomic_load(&p->place->pair[d->me].wanted))
		direct_wake(d, (uint32_t)(p - d->peer));
}

void direct_free(struct direct *d, struct direct_peer *p,
		 const struct direct_head *h)
{
	uint16_t *u = unit_at(d, p, (uint64_t)((const uint8_t *)h - p->in));

	if (*u) /* A zero entry is not a message, or was freed before. */
		*u |= DIRECT_FREED;
	give_back(d, p); /* give_back also frees the skipped bytes before the
			  * message. */
	if (p->freed - p->told >= d->ring_bytes / 4 ||
	    atomic_load_explicit(&p->place->pair[d->me].wanted,
				 memory_order_relaxed))
		direct_tell_room(d, p);
}

void direct_meet(struct direct *d)
{
	for (uint32_t w = 0; w * 64 < d->n; w++) {
		uint64_t now = atomic_load_explicit(
			&d->seg->post[d->me].senders[w], memory_order_acquire);
		uint64_t new = now & ~d->senders[w];

		d->senders[w] |= new;
		for (; new; new &= new - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(new);

			if (i < d->n && !direct_peer_open(d, i, WANT_PEER))
				d->active[d->n_active++] = i;
		}
	}
}
