/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the HyperTransport bus: devices and their cores. */
#include "ref_ht_internal.h"

#include <assert.h>

/* ---- devices ---- */

static void dev_submit(struct ref *r, struct link *l)
{
	const struct ht_op *o = &r->s->dev[l->index].op[l->next];
	struct pkt p = { .what = o->what,
			 .op = l->next,
			 .dev = l->index,
			 .addr = o->addr,
			 .bytes = o->bytes,
			 .vc = o->what == HT_READ ? NP : P,
			 .ready = r->k + r->tx,
			 .seq = l->seq++,
			 .relaxed = o->relaxed,
			 .level = o->level };

	l->list_at += o->delay;
	l->next++;
	ref_ht_push(&l->lane[UP].queue[p.vc], &p);
}

/* Makes the device answer the oldest load at time t. The link may send the
 * answer tx slots after slot number `slot`. The load leaves the core's queue at
 * the first slot that is after t, but not before `slot`. */
static void dev_answer(struct ref *r, struct link *l, weft_time_t t,
		       uint64_t slot)
{
	struct pkt p = l->load_queue.at[0];

	p.first = l->mute ? 0xff : ref_ht_byte(l->loads);
	l->loads++;
	p.ready = slot + r->tx;
	p.seq = l->seq++;
	p.vc = R;
	ref_ht_push(&l->lane[UP].queue[R], &p);
	l->answer_at = WEFT_NEVER;
	for (l->gone = slot; ref_ht_edge(r, l->gone) <= t;)
		l->gone++;
}

void ref_ht_dev_acts(struct ref *r, struct link *l, weft_time_t limit)
{
	const struct ht_list *list = &r->s->dev[l->index];

	for (;;) {
		weft_time_t t = l->next < list->n
					? l->list_at + list->op[l->next].delay
					: WEFT_NEVER;

		if (t <= l->answer_at && t <= limit)
			dev_submit(r, l);
		else if (l->answer_at <= limit)
			dev_answer(r, l, l->answer_at,
				   l->mute || r->k < l->earliest ? l->earliest
								 : r->k);
		else
			break;
	}
	for (uint32_t i = 0; i < l->n_eat;)
		if (l->eat[i] <= limit) {
			l->eat[i] = l->eat[--l->n_eat];
			l->places++;
		} else {
			i++;
		}
}

/* Makes the device process the load of which the core notifies it at this slot.
 * No answer leaves before the target's access time is over. */
void ref_ht_dev_load(struct ref *r, struct link *l)
{
	weft_time_t after = r->s->answer[l->loads % HT_CYCLE];

	if (l->load_told != r->k)
		return;
	l->load_told = NEVER;
	l->earliest = r->k + r->reg;
	l->mute = after == WEFT_NEVER;
	if (!after)
		dev_answer(r, l, ref_ht_edge(r, r->k), l->earliest);
	else /* the core detects at once that a mute device does not answer */
		l->answer_at = ref_ht_edge(r, r->k) + (l->mute ? 1 : after);
}

/* ---- the device's core ---- */

void ref_ht_credit_back(struct ref *r, struct link *l, uint32_t dir,
			uint32_t vc)
{
	struct pkt p = { .vc = vc, .due = r->k + r->credit };

	ref_ht_push(&l->lane[dir].news, &p);
}

uint32_t ref_ht_store_dwords(const struct pkt *p)
{
	return 2 + (p->addr % 4 || p->bytes % 4) +
	       ref_ht_dwords(p->addr, p->bytes);
}

/* Counts down the stores in front of a load. After the last one the load may be
 * shown to the device, because accesses stay in order. */
static void store_in_front(const struct link *l, struct pkt *load)
{
	if (load->behind && !--load->behind)
		load->ready = l->told;
}

static void core_store_tell(struct ref *r, struct link *l)
{
	struct pkt p = ref_ht_take(&l->queue, 0);

	if (l->told + ref_ht_store_dwords(&p) > r->k)
		l->told += ref_ht_store_dwords(&p);
	else
		l->told = r->k;
	ref_ht_tell_pkt(r, 1 + l->index, WEFT_NOTE_STORE,
			ref_ht_edge(r, l->told), &p, true);
	if (r->s->window) {
		l->places--;
		l->eat[l->n_eat++] = ref_ht_edge(r, l->told) +
				     r->s->eat[l->stores % HT_CYCLE];
		assert(l->n_eat < MANY);
	}
	l->stores++;
	for (uint32_t i = 0; i < l->load_buffer.n; i++)
		store_in_front(l, &l->load_buffer.at[i]);
	for (uint32_t i = 0; i < l->load_queue.n; i++)
		store_in_front(l, &l->load_queue.at[i]);
}

/* Moves stores from the link buffer to the queue, and from there to the
 * device. */
static void core_stores(struct ref *r, struct link *l)
{
	for (;;) {
		if (l->buffer.n && l->queue.n < r->s->depth) {
			struct pkt p = ref_ht_take(&l->buffer, 0);

			ref_ht_push(&l->queue, &p);
			ref_ht_credit_back(r, l, DOWN, P);
		} else if (l->queue.n && l->places) {
			core_store_tell(r, l);
		} else {
			return;
		}
	}
}

/* Notifies the device of one load at a time, if the core has room for its
 * answer. */
static void core_load(struct ref *r, struct link *l)
{
	struct list *q = &l->load_queue;

	if (l->gone <= r->k) {
		ref_ht_take(q, 0);
		l->shown = false;
		l->gone = NEVER;
	}
	while (l->load_buffer.n && q->n < r->s->np_depth) {
		struct pkt p = ref_ht_take(&l->load_buffer, 0);

		ref_ht_push(q, &p);
		ref_ht_credit_back(r, l, DOWN, NP);
	}
	if (!q->n || l->shown || q->at[0].behind ||
	    l->lane[UP].queue[R].n >= r->s->r_depth)
		return;
	l->shown = true;
	l->load_told = q->at[0].ready > r->k ? q->at[0].ready : r->k;
	ref_ht_tell_pkt(r, 1 + l->index, WEFT_NOTE_LOAD,
			ref_ht_edge(r, l->load_told), &q->at[0], false);
}

static void core_answer(struct ref *r, struct link *l, const struct pkt *p)
{
	const struct ht_op *o = &r->s->dev[l->index].op[p->op];
	struct txn *t = &l->txn[p->op];
	struct ht_said *n;

	ref_ht_credit_back(r, l, DOWN, R);
	l->tags++;
	t->came += p->bytes;
	t->aborted |= p->error;
	if (p->bytes < o->bytes) {
		n = ref_ht_tell(r, 1 + l->index, WEFT_NOTE_BURST,
				ref_ht_edge(r, r->k));
		n->offset = p->at;
		n->bytes = p->bytes;
		n->last = p->at + p->bytes == o->bytes;
	}
	if (t->came < o->bytes)
		return;
	n = ref_ht_tell(r, 1 + l->index, WEFT_NOTE_DONE, ref_ht_edge(r, r->k));
	n->status = t->aborted ? WEFT_BUS_MASTER_ABORT : WEFT_BUS_OK;
	n->tenures = t->tenures;
	n->bytes = t->came;
	n->last = true;
}

void ref_ht_core_step(struct ref *r, struct link *l)
{
	while (l->pipe.n && l->pipe.at[0].due == r->k) {
		struct pkt p = ref_ht_take(&l->pipe, 0);

		if (p.what == HT_STORE) {
			ref_ht_push(&l->buffer, &p);
		} else if (p.what == HT_LOAD) {
			p.behind = l->buffer.n + l->queue.n;
			p.ready = l->told;
			ref_ht_push(&l->load_buffer, &p);
		} else {
			core_answer(r, l, &p);
		}
	}
	core_stores(r, l);
	core_load(r, l);
}
