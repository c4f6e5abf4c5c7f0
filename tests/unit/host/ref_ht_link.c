/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the HyperTransport bus: bridge, memory, the link. */
#include "ref_ht_internal.h"

/* ---- the bridge ---- */

static weft_time_t behind(const struct link *l, weft_time_t t)
{
	return t > l->commit ? t : l->commit;
}

static void bridge_write(struct ref *r, struct link *l, const struct pkt *p)
{
	const struct ht_op *o = &r->s->dev[l->index].op[p->op];
	struct txn *t = &l->txn[p->op];
	weft_time_t now = ref_ht_edge(r, r->k);
	struct ht_said *n;

	if (p->what == HT_IRQ) {
		n = ref_ht_tell(r, 0, WEFT_NOTE_IRQ,
				behind(l, now + r->s->t_irq));
		n->level = p->level;
		return;
	}
	if (ref_ht_decode(p->addr, p->bytes)) {
		l->commit = behind(l, now + r->s->t_write);
		ref_ht_tell_pkt(r, 0, WEFT_NOTE_MEM_WRITE, l->commit, p, false);
	}
	t->came += p->bytes;
	if (t->came < o->bytes)
		return;
	n = ref_ht_tell(r, 1 + l->index, WEFT_NOTE_DONE, now);
	n->write = n->last = true;
	n->tenures = t->tenures;
	n->bytes = t->came;
}

/* Takes a packet that has arrived. */
static void bridge_take(struct ref *r, struct link *l, struct pkt *p)
{
	weft_time_t now = ref_ht_edge(r, r->k);

	ref_ht_credit_back(r, l, UP, p->vc);
	if (p->vc == P) {
		bridge_write(r, l, p);
	} else if (p->vc == NP) {
		p->due = r->k + 1;
		p->from = ref_ht_less_half(
			r, now + r->s->t_read +
				   p->addr / 64 % r->s->banks * r->s->t_bank);
		p->from = behind(l, p->from);
		ref_ht_push(&l->memory, p);
	} else {
		now = behind(l, now + r->s->t_in);
		r->load_until[p->number] = now;
		ref_ht_tell_pkt(r, 0, WEFT_NOTE_LOADED, now, p, true);
	}
}

/* Returns whether read i may access memory. Usually reads stay in order. With
 * several banks a read that may overtake waits only for earlier reads of its
 * own transaction. */
static bool memory_turn(const struct ref *r, const struct link *l, uint32_t i)
{
	uint32_t op = l->memory.at[i].op;
	bool any = r->s->banks > 1 && r->s->dev[l->index].op[op].any_order;

	for (uint32_t k = 0; k < i; k++)
		if (!any || l->memory.at[k].op == op)
			return false;
	return true;
}

static void memory_has(struct ref *r, struct link *l, uint32_t i)
{
	struct pkt p = ref_ht_take(&l->memory, i);

	p.ready = r->k;
	p.vc = R;
	p.error = !ref_ht_decode(p.addr, p.bytes);
	if (!p.error)
		ref_ht_tell_pkt(r, 0, WEFT_NOTE_MEM_READ, ref_ht_edge(r, r->k),
				&p, false);
	ref_ht_push(&l->lane[DOWN].queue[R], &p);
}

void ref_ht_bridge_memory(struct ref *r, struct link *l)
{
	for (uint32_t i = 0; i < l->memory.n;) {
		const struct pkt *p = &l->memory.at[i];

		if (p->due <= r->k && p->from <= ref_ht_edge(r, r->k) &&
		    memory_turn(r, l, i))
			memory_has(r, l, i);
		else
			i++;
	}
}

/* ---- the link ---- */

void ref_ht_link_ends(struct ref *r, struct link *l)
{
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		struct lane *lane = &l->lane[dir];

		if (!lane->left || --lane->left)
			continue;
		if (dir == UP) {
			bridge_take(r, l, &lane->cur);
			continue;
		}
		lane->cur.due = r->k + r->rx;
		ref_ht_push(&l->pipe, &lane->cur);
		if (lane->cur.what != HT_STORE)
			continue;
		l->held--;
		ref_ht_tell_pkt(r, 0, WEFT_NOTE_STORED, ref_ht_edge(r, r->k),
				&lane->cur, false);
	}
}

void ref_ht_link_news(struct ref *r, struct link *l)
{
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		struct lane *lane = &l->lane[dir];

		for (uint32_t i = 0; i < lane->news.n;)
			if (lane->news.at[i].due <= r->k)
				lane->credits[ref_ht_take(&lane->news, i).vc]++;
			else
				i++;
	}
}

/* Makes requests of the host ready to be sent. */
void ref_ht_link_ready(struct ref *r, struct link *l)
{
	for (uint32_t vc = P; vc <= NP; vc++) {
		struct list *q = &l->lane[DOWN].queue[vc];

		for (uint32_t i = 0; i < q->n; i++)
			if (q->at[i].ready == NEVER &&
			    q->at[i].from <= ref_ht_edge(r, r->k))
				q->at[i].ready = r->k;
	}
}

/* Returns true while a store that was requested before the load has not left
 * the bridge, because the load must follow it. */
static bool load_ordered(const struct ref *r, const struct pkt *p)
{
	for (uint32_t d = 0; d < r->s->devices; d++) {
		const struct lane *lane = &r->link[d].lane[DOWN];

		if (lane->left && lane->cur.what == HT_STORE &&
		    lane->cur.seq < p->seq)
			return true;
		for (uint32_t i = 0; i < lane->queue[P].n; i++)
			if (lane->queue[P].at[i].seq < p->seq)
				return true;
	}
	return false;
}

/* Returns whether an earlier posted packet must leave before packet p. */
static bool ordered(const struct ref *r, const struct link *l, uint32_t dir,
		    const struct pkt *p)
{
	const struct list *q = &l->lane[dir].queue[P];

	if (p->what == HT_LOAD && dir == DOWN)
		return load_ordered(r, p);
	for (uint32_t i = 0; i < q->n; i++)
		if (dir == DOWN ? !p->relaxed && q->at[i].ready <= p->ready
				: q->at[i].seq < p->seq)
			return true;
	return false;
}

static bool can_go(const struct ref *r, const struct link *l, uint32_t dir,
		   uint32_t vc)
{
	const struct list *q = &l->lane[dir].queue[vc];

	return q->n && q->at[0].ready <= r->k && l->lane[dir].credits[vc] &&
	       (dir == DOWN || vc != NP || l->tags) &&
	       (vc == P || !ordered(r, l, dir, &q->at[0]));
}

/* Returns the end of the written bytes in the 32-byte block of address a. */
static uint64_t block_end(uint64_t a, uint64_t end)
{
	uint64_t b = (a / 32 + 1) * 32;

	return b < end ? b : end;
}

/* Cuts the next packet off a transaction. The remaining bytes stay in the
 * queue. */
static struct pkt cut(struct ref *r, struct link *l, struct list *q,
		      uint32_t *dwords_p)
{
	struct pkt *p = &q->at[0], part = *p;
	uint64_t end = p->addr + p->bytes, to = block_end(p->addr, end);
	struct txn *t = &l->txn[p->op];

	if (p->what == HT_READ) {
		while (to % 64 && to < end)
			to = block_end(to, end);
		*dwords_p = 2;
	} else {
		bool mask = p->addr % 4 || to % 4;

		if (!mask && to % 64 && to < end && block_end(to, end) % 4 == 0)
			to = block_end(to, end);
		*dwords_p = 2 + mask +
			    ref_ht_dwords(p->addr, (uint32_t)(to - p->addr));
	}
	part.bytes = (uint32_t)(to - p->addr);
	part.at = t->sent;
	t->sent += part.bytes;
	t->tenures++;
	p->addr = to;
	p->bytes -= part.bytes;
	if (!p->bytes)
		ref_ht_take(q, 0);
	return part;
}

static void go(struct ref *r, struct link *l, uint32_t dir, uint32_t vc)
{
	struct lane *lane = &l->lane[dir];
	struct list *q = &lane->queue[vc];
	struct pkt *p = &q->at[0];
	uint32_t n;

	if (p->what == HT_WRITE || (p->what == HT_READ && dir == UP)) {
		lane->cur = cut(r, l, q, &n);
		l->tags -= vc == NP;
	} else {
		n = 2;
		if (p->what == HT_STORE)
			n = ref_ht_store_dwords(p);
		else if (vc == R)
			n = 1 + ref_ht_dwords(p->addr, p->bytes);
		lane->cur = ref_ht_take(q, 0);
	}
	lane->credits[vc]--;
	lane->last = vc;
	lane->left = n;
	r->log->busy[dir] += n;
}

void ref_ht_link_decides(struct ref *r, struct link *l)
{
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		struct lane *lane = &l->lane[dir];

		for (uint32_t i = 1; !lane->left && i <= VCS; i++)
			if (can_go(r, l, dir, (lane->last + i) % VCS))
				go(r, l, dir, (lane->last + i) % VCS);
	}
}
