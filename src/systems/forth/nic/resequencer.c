/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath, receiver side of the FORTH NIC. The NIC processes headers in the
 * order in which their source sent them, but writes payload to memory as it
 * arrives. Source: forth.md sections 7.4-7.6, 3.8.
 *
 *   header ---> queue[source][path] ---> in order, payload written --->
 *                 (lists in one pool)            dropped, or delivered
 *
 * A header leaves its queue when it is the next one of its source and its
 * payload is in memory. A header without notification waits for its payload,
 * too, because the links share one write engine, which may write a later packet
 * first. (In 7.4 only a notifying header waits for its payload.) When a header
 * reveals a loss, the NIC skips the lost packet at once, even if the payload of
 * the header is not in memory yet.
 *
 * A header occupies a slot of the pool from its delimiter on, but the NIC
 * processes it only after its CRC is checked. When a source is out of sync, or
 * the pool has no room for a header of the source, the NIC drops all headers of
 * the source, but still writes the packets of the source. Software then
 * restarts the source (register 0x184 here, 0x188 at the sender, with nothing
 * in flight). A packet that is dropped after its header was accepted (software
 * reset, aborted write) is a loss, too. */
#include <errno.h>

#include "systems/forth/nic/nic.h"

struct slot {
	uint64_t hdr, at; /* at: PCI edge from which on the header counts */
	/* number of the header in order of arrival from its source */
	uint64_t order;
	uint16_t next;
	bool written, lost, bad;
};

struct source {
	uint16_t head[FORTH_PORT_LINKS_MAX], tail[FORTH_PORT_LINKS_MAX];
	uint8_t p1, p2, exp[FORTH_PORT_LINKS_MAX];
	bool known;	/* p2 is known */
	bool sync_lost; /* packets stay untracked until software restarts the
			   source */
	bool loss;	/* a packet was lost since the latest notification */
	uint32_t waiting, epoch;
	uint64_t arrived, latest;
};

struct forth_reseq {
	struct source src[SOURCES];
	struct slot *slot;
	uint32_t cap, used, most;
	uint16_t free;
	/* mask of the sources whose next header waits for its CRC check */
	uint32_t pending;
	/* the path pattern is round robin, so that p2 is always known */
	bool round_robin;
	uint32_t losses, sync_lost, overflow;
};

/* Header fields (7.3): 51:49 source, 48:46 number on its path, 45:44 and 43:42
 * paths of the source's next two packets. */

/* ---- pool and lists ---- */

static void source_init(const struct forth_nic *n, struct source *s)
{
	for (uint32_t k = 0; k < FORTH_PORT_LINKS_MAX; k++) {
		s->head[k] = s->tail[k] = NO_SLOT;
		s->exp[k] = 0;
	}
	s->p1 = n->path[0];
	s->p2 = n->path[1 % n->n_path];
	s->known = true;
	s->sync_lost = s->loss = false;
	s->waiting = 0;
	s->epoch++;
}

int forth_reseq_init(struct forth_nic *n, struct weft_err *err)
{
	struct forth_reseq *r;

	if (!n->multi || n->p.completion != COMPLETION_RESEQ)
		return 0;
	r = n->reseq = calloc(1, sizeof(*r));
	if (r)
		r->slot = calloc(n->p.reseq_headers, sizeof(*r->slot));
	if (!r || !r->slot)
		return weft_fail(err, ENOMEM, "%s: no memory for headers",
				 n->comp->name);
	r->cap = n->p.reseq_headers;
	for (uint32_t i = 0; i < r->cap; i++)
		r->slot[i].next = (uint16_t)(i + 1 < r->cap ? i + 1 : NO_SLOT);
	r->round_robin = !n->p.pattern[0];
	for (uint32_t i = 0; i < SOURCES; i++)
		source_init(n, &r->src[i]);
	return 0;
}

void forth_reseq_fini(struct forth_nic *n)
{
	if (n->reseq)
		free(n->reseq->slot);
	free(n->reseq);
	free(n->group);
	ring_free(&n->deliver);
}

static uint16_t slot_take(struct forth_nic *n)
{
	struct forth_reseq *r = n->reseq;
	uint16_t i = r->free;

	if (i == NO_SLOT)
		return i;
	r->free = r->slot[i].next;
	if (++r->used > r->most) {
		r->most = r->used;
		n->comp->counters[C_POOL_MAX] = r->most;
	}
	return i;
}

static void slot_pop(struct forth_reseq *r, struct source *s, uint32_t path)
{
	uint16_t i = s->head[path];

	s->head[path] = r->slot[i].next;
	r->slot[i].next = r->free;
	r->free = i;
	r->used--;
	s->waiting--;
}

static void resequencer_forget(struct forth_reseq *r, struct source *s)
{
	for (uint32_t k = 0; k < FORTH_PORT_LINKS_MAX; k++)
		while (s->head[k] != NO_SLOT)
			slot_pop(r, s, k);
	s->epoch++;
}

static void lose_sync(struct forth_nic *n, struct source *s)
{
	n->reseq->sync_lost++;
	weft_count(n->comp, C_SYNC_LOST, 1);
	forth_log(n, LOG_RESEQ, LOG_ERROR,
		  1u << 8 | (uint32_t)(s - n->reseq->src));
	resequencer_forget(n->reseq, s);
	s->sync_lost = true;
}

/* ---- resequencing (7.4) ---- */

void forth_deliver(struct forth_nic *n, struct forth_deliver d)
{
	*ring_push(&n->deliver) = d;
	forth_engine_offer(n, d.at);
}

static void in_order(struct forth_nic *n, struct source *s)
{
	struct forth_reseq *r = n->reseq;
	struct slot h = r->slot[s->head[s->p1]];
	bool quiet = h.lost || (h.bad && n->p.suppress_bad_body_notify);

	slot_pop(r, s, s->p1);
	s->exp[s->p1] = (s->exp[s->p1] + 1) & 7;
	s->p1 = h.hdr >> 44 & 3;
	s->p2 = h.hdr >> 42 & 3;
	s->known = true;
	s->loss |= h.lost;
	if (h.order < s->latest)
		weft_count(n->comp, C_REORDERED, 1);
	else
		s->latest = h.order;
	if (quiet ||
	    !(h.hdr & (FORTH_HDR_REMOTE_NOTIFY | FORTH_HDR_REMOTE_IRQ)))
		return;
	forth_deliver(n, (struct forth_deliver){
				 .hdr = h.hdr,
				 .at = forth_pc(n),
				 .bad = h.bad,
				 .loss = s->loss,
				 .src = h.hdr >> 49 & 7,
			 });
	if (h.hdr & FORTH_HDR_REMOTE_NOTIFY)
		s->loss = false;
}

/* Handles a gap: a later packet has arrived on path p1. Therefore the packet
 * expected on that path is lost. */
static void resequencer_missing(struct forth_nic *n, struct source *s)
{
	struct forth_reseq *r = n->reseq;

	r->losses++;
	weft_count(n->comp, C_LOSSES, 1);
	forth_log(n, LOG_RESEQ, LOG_ERROR, (uint32_t)(s - r->src));
	s->loss = true;
	s->exp[s->p1] = (s->exp[s->p1] + 1) & 7;
	if (!s->known) {
		lose_sync(n, s);
		return;
	}
	s->p1 = s->p2;
	s->known = r->round_robin;
	s->p2 = (uint8_t)((s->p1 + 1) % n->n_link);
}

static void resequencer_advance(struct forth_nic *n, uint32_t src)
{
	struct forth_reseq *r = n->reseq;
	struct source *s = &r->src[src];

	while (s->p1 < n->n_link && s->head[s->p1] != NO_SLOT) {
		const struct slot *h = &r->slot[s->head[s->p1]];
		bool match = (h->hdr >> 46 & 7) == s->exp[s->p1];

		if (match && !h->written)
			return;
		if (h->at > forth_pc(n)) {
			r->pending |= 1u << src;
			forth_engine_wake(n, h->at);
			return;
		}
		if (match)
			in_order(n, s);
		else
			resequencer_missing(n, s);
	}
}

void forth_reseq_run(struct forth_nic *n)
{
	struct forth_reseq *r = n->reseq;
	uint32_t mask;

	if (!r || !r->pending)
		return;
	mask = r->pending;
	r->pending = 0;
	for (uint32_t i = 0; i < SOURCES; i++)
		if (mask >> i & 1)
			resequencer_advance(n, i);
}

/* ---- headers from the network, payloads from the write engine ---- */

void forth_reseq_header(struct forth_nic *n, struct forth_rx *rx, uint64_t pc)
{
	struct forth_reseq *r = n->reseq;
	struct source *s;

	rx->slot = NO_SLOT;
	rx->src = rx->hdr >> 49 & 7;
	if (!r)
		return;
	s = &r->src[rx->src];
	if (!s->sync_lost)
		rx->slot = slot_take(n);
	if (rx->slot == NO_SLOT) {
		weft_count(n->comp, C_UNTRACKED, 1);
		if (s->sync_lost)
			return;
		r->overflow++;
		weft_count(n->comp, C_POOL_FULL, 1);
		lose_sync(n, s);
		return;
	}
	rx->epoch = s->epoch;
	r->slot[rx->slot] = (struct slot){ .hdr = rx->hdr,
					   .at = pc,
					   .order = s->arrived++ };
	r->slot[rx->slot].next = NO_SLOT;
	if (s->head[rx->link] == NO_SLOT)
		s->head[rx->link] = rx->slot;
	else
		r->slot[s->tail[rx->link]].next = rx->slot;
	s->tail[rx->link] = rx->slot;
	s->waiting++;
	if (s->p1 == rx->link)
		resequencer_advance(n, rx->src);
}

void forth_reseq_written(struct forth_nic *n, const struct forth_rx *rx,
			 bool lost)
{
	struct forth_reseq *r = n->reseq;
	struct slot *h;

	if (!r || rx->slot == NO_SLOT || rx->epoch != r->src[rx->src].epoch)
		return;
	h = &r->slot[rx->slot];
	h->written = true;
	h->lost = lost;
	h->bad = rx->bad;
	resequencer_advance(n, rx->src);
}

/* ---- software ---- */

void forth_reseq_rx_wrote(struct weft_comp *c, uint32_t unused, uint64_t val)
{
	struct forth_nic *n = c->state;
	struct forth_reseq *r = n->reseq;

	for (uint32_t i = 0; r && i < SOURCES; i++) {
		if (!(val >> i & 1))
			continue;
		resequencer_forget(r, &r->src[i]);
		source_init(n, &r->src[i]);
	}
}

uint64_t forth_reseq_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;
	const struct forth_reseq *r = n->reseq;

	if (!r)
		return 0;
	return (r->losses & 0x3FF) | (r->sync_lost & 0x3FF) << 10 |
	       (r->overflow & 0x3FF) << 20;
}

uint64_t forth_reseq_rx_read(struct weft_comp *c, uint32_t unused)
{
	const struct forth_nic *n = c->state;
	uint32_t mask = 0;

	for (uint32_t i = 0; n->reseq && i < SOURCES; i++)
		mask |= (uint32_t)n->reseq->src[i].sync_lost << i;
	return mask;
}

uint64_t forth_reseq_pool_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;

	return n->reseq ? n->reseq->used | n->reseq->most << 16 : 0;
}

uint64_t forth_reseq_state_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;
	const struct source *s;

	if (!n->reseq)
		return 0;
	s = &n->reseq->src[i];
	return s->p1 | (uint32_t)s->p2 << 2 | (uint32_t)s->known << 4 |
	       (uint32_t)s->loss << 5 | (uint32_t)s->sync_lost << 6 |
	       (uint32_t)(s->exp[0] | s->exp[1] << 3 | s->exp[2] << 6 |
			  s->exp[3] << 9)
		       << 8 |
	       (s->waiting & 0x7FF) << 20;
}
