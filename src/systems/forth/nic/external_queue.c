/* SPDX-License-Identifier: Apache-2.0 */
/* External memory behind the VOQs of the FORTH NIC. It holds the bodies of long
 * queues as linked lists of blocks. All VOQs share the blocks, which are at the
 * upper end of BAR0. Source: forth.md sections 2.4, 6.1-6.3, which also choose
 * thresholds, sizes and rates.
 *
 *   in --> tail block .. oldest block --reader (ext_rd_lat, ext_rate)--> chip
 *
 * Our choices: a transfer stays on chip or goes to external memory as a whole.
 * The engine decides when it reserves room for the transfer (3.4 Check). The
 * transfer stays on chip if the VOQ has no external body, its level is below
 * voq_hi and the transfer fits. A packet never crosses the end of a block,
 * because a segment ends with its block.
 *
 * One reader serves all VOQs, round robin over the VOQs whose level is below
 * voq_lo and whose oldest block is complete. A block that is being read accepts
 * no more packets. Once the whole block has been read, its packets count as on
 * chip and the block is free. Writes keep up with the path into the VOQs (1
 * word per PCI cycle) and do not slow down the reader. */
#include <errno.h>

#include "systems/forth/nic/nic.h"

int forth_ext_init(struct forth_nic *n, struct weft_err *err)
{
	struct forth_ext *e = &n->ext;

	if (!n->p.voq_ext_bytes)
		return 0;
	if (n->p.voq_block_bytes % 8 ||
	    n->p.voq_lo + n->p.voq_block_bytes > n->p.voq_bytes ||
	    n->p.voq_hi > n->p.voq_bytes)
		return weft_fail(
			err, EINVAL,
			"%s: voq_block_bytes is no multiple of 8, or voq_lo + voq_block_bytes or voq_hi is above voq_bytes",
			n->comp->name);
	e->block_words = (uint32_t)(n->p.voq_block_bytes / 8);
	e->total = (uint32_t)(n->p.voq_ext_bytes / n->p.voq_block_bytes);
	e->free = calloc(e->total ? e->total : 1, sizeof(*e->free));
	if (!e->free)
		return weft_fail(err, ENOMEM, "%s: no memory for blocks",
				 n->comp->name);
	for (; e->n_free < e->total; e->n_free++)
		e->free[e->n_free] = e->total - 1 - e->n_free;
	e->least_free = e->n_free;
	return 0;
}

static uint64_t block_base(const struct forth_nic *n, uint32_t id)
{
	return FORTH_BAR0_BYTES - n->ext.total * n->p.voq_block_bytes +
	       id * n->p.voq_block_bytes;
}

/* ---- room ---- */

bool forth_ext_wanted(const struct forth_nic *n, uint32_t v, uint32_t qwords)
{
	uint32_t level;

	if (!n->ext.total)
		return false;
	if (!ring_empty(&n->voq[v].blocks))
		return true;
	level = forth_voq_level(n, v);
	return level >= n->p.voq_hi / 8 || level + qwords + 2 > n->voq[v].cap;
}

bool forth_ext_plan(const struct forth_nic *n, uint32_t v, uint32_t qwords,
		    struct forth_plan *p)
{
	const struct forth_voq *q = &n->voq[v];
	uint32_t want = qwords < n->pkt_qwords ? qwords : n->pkt_qwords;
	uint32_t end = 0;

	p->ext = true;
	p->n = p->blocks = 0;
	p->room = ring_empty(&q->blocks) ? 0 : q->room;
	p->seg = p->room && q->seg >= want ? q->seg : 0;
	while (end < qwords) {
		uint32_t left = qwords - end, size = left, first = !end;

		p->seg = p->seg ? p->seg : n->seg_qwords;
		size = size < p->seg ? size : p->seg;
		size = size < n->pkt_qwords ? size : n->pkt_qwords;
		/* a block has to hold header word, CRC word and some payload */
		if (p->room < first + 1u + (left == 1)) {
			if (++p->blocks > n->ext.n_free)
				return false;
			p->room = n->ext.block_words;
			p->seg = 0;
			continue;
		}
		size = size < p->room - first ? size : p->room - first;
		if (size == left && first + size + 1 > p->room)
			size--;
		p->room -= size + first + (size == left);
		p->seg -= size;
		end += size;
		p->end[p->n] = (uint16_t)end;
		p->block[p->n++] = (uint16_t)p->blocks;
	}
	return true;
}

/* Removes the blocks of the plan from the free list and links them to the
 * VOQ. */
void forth_ext_take(struct forth_nic *n, uint32_t v, const struct forth_plan *p)
{
	struct forth_voq *q = &n->voq[v];
	struct forth_ext *e = &n->ext;
	uint32_t tail = q->blocks.tail - 1;

	for (uint32_t i = 0; i < p->blocks; i++)
		*ring_push(&q->blocks) = (struct forth_block){
			.id = e->free[--e->n_free],
		};
	for (uint32_t i = 0; i < p->n; i++)
		ring_at(&q->blocks, tail + p->block[i])->missing++;
	q->room = p->room;
	if (e->n_free < e->least_free)
		e->least_free = e->n_free;
	weft_count(n->comp, C_EXT_BLOCKS, p->blocks);
}

/* ---- filling ---- */

/* Returns the first block that still lacks packets. That block gets the next
 * packet, because packets arrive in order. */
static struct forth_block *block_missing(struct forth_voq *q)
{
	uint32_t i = ring_count(&q->blocks);

	while (i > 1 && ring_nth(&q->blocks, i - 2)->missing)
		i--;
	return ring_nth(&q->blocks, i - 1);
}

void forth_ext_push(struct forth_nic *n, uint32_t v, struct forth_pkt *p,
		    uint64_t in)
{
	struct forth_voq *q = &n->voq[v];
	struct forth_block *b = block_missing(q);
	uint8_t *data = weft_slice_data(p->data);

	p->ext_off = b->fill + p->first;
	b->fill += p->words;
	b->pkts++;
	b->missing--;
	b->in = in;
	weft_bus_settle(n->bus);
	if (data)
		forth_ram_write(n, block_base(n, b->id) + 8ull * p->ext_off,
				data, p->data.len);
	weft_slice_drop(&p->data);
	*ring_push(&q->ext) = *p;
	weft_count(n->comp, C_EXT_WORDS, p->words);
	forth_ext_poke(n);
}

/* Removes the last `missing` packets of an aborted transfer from the blocks of
 * its plan. Frees blocks that become empty. */
void forth_ext_abandon(struct forth_nic *n, uint32_t v, uint32_t missing)
{
	struct forth_voq *q = &n->voq[v];

	while (missing--)
		block_missing(q)->missing--;
	for (; !ring_empty(&q->blocks); q->blocks.tail--) {
		struct forth_block *b = ring_at(&q->blocks, q->blocks.tail - 1);

		if (b->pkts || b->missing)
			break;
		n->ext.free[n->ext.n_free++] = b->id;
	}
	q->room = q->seg = 0;
	forth_ext_poke(n);
}

void forth_ext_reset(struct forth_nic *n)
{
	for (uint32_t v = 0; v < n->n_voq; v++) {
		struct forth_voq *q = &n->voq[v];

		for (; !ring_empty(&q->blocks); ring_pop(&q->blocks))
			n->ext.free[n->ext.n_free++] =
				ring_front(&q->blocks)->id;
		ring_clear(&q->ext);
		q->room = 0;
	}
	n->ext.busy = false;
}

/* ---- the reader ---- */

/* Ends the read of a block: moves its packets to the chip and frees the
 * block. */
static void fetch_end(struct forth_nic *n)
{
	struct forth_ext *e = &n->ext;
	struct forth_voq *q = &n->voq[e->voq];
	struct forth_block b = *ring_front(&q->blocks);
	bool was_empty = ring_empty(&q->pkts);

	for (; b.pkts; b.pkts--, ring_pop(&q->ext)) {
		struct forth_pkt *p = ring_push(&q->pkts);
		uint32_t bytes;
		uint8_t *data;

		*p = *ring_front(&q->ext);
		bytes = forth_hdr_size(p->hdr) * 8;
		p->data = weft_slice_new(n->comp->sim, bytes);
		data = weft_slice_data(p->data);
		if (data)
			forth_ram_read(n,
				       block_base(n, b.id) + 8ull * p->ext_off,
				       data, bytes);
		p->ready = e->end + n->p.t_sync_vl + n->p.t_linkstart;
	}
	ring_pop(&q->blocks);
	e->free[e->n_free++] = b.id;
	e->busy = false;
	if (was_empty)
		forth_voq_kick_one(n, e->voq);
	if (n->n_masked)
		forth_engine_wake(n, forth_pc(n));
}

/* Returns the edge from which the reader may serve VOQ v, or UINT64_MAX if it
 * cannot. */
static uint64_t servable_at(const struct forth_nic *n, uint32_t v)
{
	const struct forth_voq *q = &n->voq[v];
	const struct forth_block *b = ring_front(&q->blocks);
	uint32_t level, low = (uint32_t)(n->p.voq_lo / 8);
	uint64_t at;

	if (ring_empty(&q->blocks) || b->missing)
		return UINT64_MAX;
	level = forth_voq_level(n, v);
	at = level < low ? 0 : forth_voq_left_at(n, v, level - low + 1);
	return at > b->in ? at : b->in;
}

void forth_ext_run(struct forth_nic *n)
{
	struct forth_ext *e = &n->ext;
	uint64_t now = forth_pc(n), soon = UINT64_MAX, at;
	uint32_t i, v = 0;
	struct forth_voq *q;

	if (!weft_timer_due(n->comp, &e->timer))
		return;
	if (e->busy && now >= e->end)
		fetch_end(n);
	if (e->busy)
		return;
	for (i = 0; i < n->n_voq; i++) {
		v = (e->rr + i) % n->n_voq;
		at = servable_at(n, v);
		if (at <= now)
			break;
		soon = at < soon ? at : soon;
	}
	if (i < n->n_voq) { /* the reader serves this VOQ */
		q = &n->voq[v];
		e->busy = true;
		e->voq = v;
		e->rr = v + 1;
		e->end = now + n->p.ext_rd_lat +
			 (8ull * ring_front(&q->blocks)->fill + n->p.ext_rate -
			  1) / n->p.ext_rate;
		q->used += ring_front(&q->blocks)->fill;
		if (ring_count(&q->blocks) == 1)
			q->room = 0; /* closed */
		soon = e->end;
	}
	if (soon != UINT64_MAX)
		weft_timer_arm(n->comp, &e->timer, TAG_EXT,
			       weft_clock_edge(&n->pci, soon));
}

void forth_ext_poke(struct forth_nic *n)
{
	uint64_t soon = UINT64_MAX, now;

	if (!n->ext.total || n->ext.busy)
		return;
	for (uint32_t v = 0; v < n->n_voq; v++) {
		uint64_t at = servable_at(n, v);

		soon = at < soon ? at : soon;
	}
	if (soon == UINT64_MAX)
		return;
	now = forth_pc(n);
	weft_timer_arm(n->comp, &n->ext.timer, TAG_EXT,
		       weft_clock_edge(&n->pci, soon > now ? soon : now));
}

uint64_t forth_ext_free_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;

	return n->ext.n_free;
}

uint64_t forth_ext_least_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;

	return n->ext.least_free;
}
