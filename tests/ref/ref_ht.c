/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the HyperTransport bus: see ref_ht.h.  The rules are those
 * at the top of src/host/ht.c; every slot is visited, packets sit in lists and
 * buffers are counted. */
#include "ref_ht.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { P, NP, R, VCS };
enum { DOWN, UP, DIRS };
enum { MANY = 4096 };

struct pkt {
	enum ht_what what;
	uint32_t op;	    /* number in its list */
	uint32_t dev, at;   /* part of a read */
	uint32_t bytes, vc; /* vc: whose buffer it holds */
	uint64_t addr;
	weft_time_t from; /* host: ready when it is so late */
	uint64_t ready;	  /* slot; NEVER: not yet */
	uint64_t seq, due;
	bool relaxed, error, answered, level;
	uint8_t first;
};

struct list {
	uint32_t n;
	struct pkt at[MANY];
};

/* A device's transaction. */
struct txn {
	uint32_t sent, came, tenures;
	bool aborted;
};

struct lane {
	struct list queue[VCS];
	uint32_t credits[VCS];
	struct list news; /* credits that come back */
	struct pkt cur;	  /* on the link */
	uint32_t left;	  /* its dwords; 0: link free */
	uint32_t last;
};

struct link {
	uint32_t index;
	struct lane lane[DIRS];
	uint64_t seq;
	uint32_t tags;
	/* bridge */
	uint32_t held; /* stores, until they have left */
	struct list memory;
	weft_time_t commit;
	/* core */
	struct list pipe, buffer, queue;
	struct list tag_news;
	bool load_in;
	struct pkt load;
	uint32_t load_behind;
	/* device */
	uint64_t told;
	uint32_t places, stores, loads, next;
	weft_time_t list_at, answer_at;
	uint64_t earliest; /* slot of an answer */
	uint64_t load_told;
	weft_time_t eat[MANY]; /* when stores are consumed */
	uint32_t n_eat;
	struct txn txn[HT_OPS];
};

struct ref {
	const struct ht_script *s;
	struct ht_log *log;
	uint64_t k, seq;
	uint32_t rx, tx, reg, credit; /* slots */
	struct link link[HT_DEVS];
	uint32_t next;
	weft_time_t host_at;
	bool loading, blocked;
	uint64_t busy;
};

#define NEVER UINT64_MAX

bool ref_ht_decode(uint64_t addr, uint32_t bytes)
{
	return addr + bytes <= HT_HOLE_LO || addr >= HT_HOLE_HI;
}

uint8_t ref_ht_byte(uint32_t i)
{
	return (uint8_t)(i * 7 + 1);
}

static weft_time_t edge(const struct ref *r, uint64_t k)
{
	return weft_clock_edge(&r->s->slot, k);
}

static struct ht_said *tell(struct ref *r, uint32_t port,
			    enum weft_note_kind kind, weft_time_t t)
{
	struct ht_said *n = &r->log->said[r->log->n++];

	assert(r->log->n <= HT_LOG);
	*n = (struct ht_said){ .kind = kind, .port = port, .time = t };
	return n;
}

static void tell_pkt(struct ref *r, uint32_t port, enum weft_note_kind kind,
		     weft_time_t t, const struct pkt *p, bool data)
{
	struct ht_said *n = tell(r, port, kind, t);

	n->addr = p->addr;
	n->bytes = p->bytes;
	n->first = data ? p->first : 0;
}

static void push(struct list *l, const struct pkt *p)
{
	assert(l->n < MANY);
	l->at[l->n++] = *p;
}

static struct pkt take(struct list *l, uint32_t i)
{
	struct pkt p = l->at[i];

	memmove(l->at + i, l->at + i + 1, (--l->n - i) * sizeof(p));
	return p;
}

static uint32_t dwords(uint64_t addr, uint32_t bytes)
{
	uint32_t n = 0;

	for (uint64_t d = addr / 4; d * 4 < addr + bytes; d++)
		n++;
	return n;
}

static weft_time_t less_half(const struct ref *r, weft_time_t t)
{
	weft_time_t half = r->s->slot.num / 2;

	return t > half ? t - half : 0;
}

/* ---- the host ------------------------------------------------------------ */

static uint64_t absent_slot(const struct ref *r, weft_time_t from)
{
	uint64_t k = r->k + 1;

	while (edge(r, k) < from)
		k++;
	return k;
}

static void host_absent(struct ref *r, struct pkt *p)
{
	weft_time_t t = edge(r, absent_slot(r, p->from));

	p->first = 0xff;
	if (p->what == HT_STORE) {
		tell_pkt(r, 0, WEFT_NOTE_STORED, t, p, false);
		return;
	}
	tell_pkt(r, 0, WEFT_NOTE_LOADED, t + r->s->t_in, p, true);
	r->host_at = t + r->s->t_in;
}

/* Asked for at time t. */
static void host_ask(struct ref *r, weft_time_t t)
{
	const struct ht_op *o = &r->s->host.op[r->next];
	bool load = o->what == HT_LOAD;
	struct pkt p = { .what = o->what,
			 .op = r->next,
			 .dev = o->dev,
			 .addr = o->addr,
			 .bytes = o->bytes,
			 .vc = load ? NP : P,
			 .ready = NEVER,
			 .seq = r->seq++,
			 .first = ref_ht_byte(r->next) };

	p.from = less_half(r, t + (load ? r->s->t_out : r->s->t_store));
	r->next++;
	r->host_at = t;
	if (o->dev >= r->s->devices) {
		host_absent(r, &p);
		return;
	}
	push(&r->link[o->dev].lane[DOWN].queue[p.vc], &p);
	r->link[o->dev].held += !load;
	r->loading = load;
}

/* All the host does up to `limit`. */
static void host_acts(struct ref *r, weft_time_t limit)
{
	while (r->next < r->s->host.n && !r->loading) {
		const struct ht_op *o = &r->s->host.op[r->next];
		weft_time_t t = r->host_at + o->delay;

		if (t > limit)
			return;
		if (o->what == HT_STORE && o->dev < r->s->devices &&
		    r->link[o->dev].held == r->s->pio_depth) {
			r->blocked = true;
			return;
		}
		host_ask(r, r->blocked ? edge(r, r->k) : t);
		r->blocked = false;
	}
}

/* ---- devices ------------------------------------------------------------- */

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
	push(&l->lane[UP].queue[p.vc], &p);
}

static void dev_answer(struct ref *r, struct link *l, uint64_t ready, bool mute)
{
	l->load.first = mute ? 0xff : ref_ht_byte(l->loads);
	l->loads++;
	l->load.ready = ready;
	l->load.seq = l->seq++;
	l->load.vc = R;
	push(&l->lane[UP].queue[R], &l->load);
	l->answer_at = WEFT_NEVER;
}

static void dev_acts(struct ref *r, struct link *l, weft_time_t limit)
{
	const struct ht_list *list = &r->s->dev[l->index];

	for (;;) {
		weft_time_t t = l->next < list->n
					? l->list_at + list->op[l->next].delay
					: WEFT_NEVER;

		if (t <= l->answer_at && t <= limit)
			dev_submit(r, l);
		else if (l->answer_at <= limit)
			dev_answer(r, l,
				   (r->k > l->earliest ? r->k : l->earliest) +
					   r->tx,
				   false);
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

/* The load is told at this slot; no answer leaves before the time of the target
 * is over. */
static void dev_load(struct ref *r, struct link *l)
{
	weft_time_t after = r->s->answer[l->loads % HT_CYCLE];

	if (l->load_told != r->k)
		return;
	l->load_told = NEVER;
	if (!after || after == WEFT_NEVER)
		dev_answer(r, l, r->k + r->reg + r->tx, after == WEFT_NEVER);
	else
		l->answer_at = edge(r, r->k) + after;
	l->earliest = r->k + r->reg;
}

/* ---- the device's core --------------------------------------------------- */

static void credit_back(struct ref *r, struct link *l, uint32_t dir,
			uint32_t vc)
{
	struct pkt p = { .vc = vc, .due = r->k + r->credit };

	push(&l->lane[dir].news, &p);
}

static uint32_t store_dwords(const struct pkt *p)
{
	return 2 + (p->addr % 4 || p->bytes % 4) + dwords(p->addr, p->bytes);
}

static void core_store_tell(struct ref *r, struct link *l)
{
	struct pkt p = take(&l->queue, 0);

	if (l->told + store_dwords(&p) > r->k)
		l->told += store_dwords(&p);
	else
		l->told = r->k;
	tell_pkt(r, 1 + l->index, WEFT_NOTE_STORE, edge(r, l->told), &p, true);
	if (r->s->window) {
		l->places--;
		l->eat[l->n_eat++] =
			edge(r, l->told) + r->s->eat[l->stores % HT_CYCLE];
		assert(l->n_eat < MANY);
	}
	l->stores++;
	l->load_behind -= l->load_behind > 0;
}

/* Stores move up: link buffer, queue, device. */
static void core_stores(struct ref *r, struct link *l)
{
	for (;;) {
		if (l->buffer.n && l->queue.n < r->s->depth) {
			struct pkt p = take(&l->buffer, 0);

			push(&l->queue, &p);
			credit_back(r, l, DOWN, P);
		} else if (l->queue.n && l->places) {
			core_store_tell(r, l);
		} else {
			return;
		}
	}
}

static void core_load(struct ref *r, struct link *l)
{
	if (!l->load_in || l->load_behind)
		return;
	l->load_in = false;
	l->load_told = l->told > r->k ? l->told : r->k;
	tell_pkt(r, 1 + l->index, WEFT_NOTE_LOAD, edge(r, l->load_told),
		 &l->load, false);
}

static void core_answer(struct ref *r, struct link *l, const struct pkt *p)
{
	const struct ht_op *o = &r->s->dev[l->index].op[p->op];
	struct txn *t = &l->txn[p->op];
	struct ht_said *n;

	credit_back(r, l, DOWN, R);
	l->tags++;
	t->came += p->bytes;
	t->aborted |= p->error;
	if (p->bytes < o->bytes) {
		n = tell(r, 1 + l->index, WEFT_NOTE_BURST, edge(r, r->k));
		n->offset = p->at;
		n->bytes = p->bytes;
		n->last = p->at + p->bytes == o->bytes;
	}
	if (t->came < o->bytes)
		return;
	n = tell(r, 1 + l->index, WEFT_NOTE_DONE, edge(r, r->k));
	n->status = t->aborted ? WEFT_BUS_MASTER_ABORT : WEFT_BUS_OK;
	n->tenures = t->tenures;
	n->bytes = t->came;
	n->last = true;
}

static void core_step(struct ref *r, struct link *l)
{
	while (l->pipe.n && l->pipe.at[0].due == r->k) {
		struct pkt p = take(&l->pipe, 0);

		if (p.what == HT_STORE) {
			push(&l->buffer, &p);
		} else if (p.what == HT_LOAD) {
			credit_back(r, l, DOWN, NP);
			l->load = p;
			l->load_in = true;
			l->load_behind = l->buffer.n + l->queue.n;
		} else {
			core_answer(r, l, &p);
		}
	}
	core_stores(r, l);
	core_load(r, l);
}

/* ---- the bridge ---------------------------------------------------------- */

static weft_time_t behind(const struct link *l, weft_time_t t)
{
	return t > l->commit ? t : l->commit;
}

static void bridge_write(struct ref *r, struct link *l, const struct pkt *p)
{
	const struct ht_op *o = &r->s->dev[l->index].op[p->op];
	struct txn *t = &l->txn[p->op];
	weft_time_t now = edge(r, r->k);
	struct ht_said *n;

	if (p->what == HT_IRQ) {
		n = tell(r, 0, WEFT_NOTE_IRQ, behind(l, now + r->s->t_irq));
		n->level = p->level;
		return;
	}
	if (ref_ht_decode(p->addr, p->bytes)) {
		l->commit = behind(l, now + r->s->t_write);
		tell_pkt(r, 0, WEFT_NOTE_MEM_WRITE, l->commit, p, false);
	}
	t->came += p->bytes;
	if (t->came < o->bytes)
		return;
	n = tell(r, 1 + l->index, WEFT_NOTE_DONE, now);
	n->write = n->last = true;
	n->tenures = t->tenures;
	n->bytes = t->came;
}

/* A packet has come. */
static void bridge_take(struct ref *r, struct link *l, struct pkt *p)
{
	weft_time_t now = edge(r, r->k);

	credit_back(r, l, UP, p->vc);
	if (p->vc == P) {
		bridge_write(r, l, p);
	} else if (p->vc == NP) {
		p->due = r->k + 1;
		p->from = less_half(r, now + r->s->t_read +
					       p->addr / 64 % r->s->banks *
						       r->s->t_bank);
		p->from = behind(l, p->from);
		push(&l->memory, p);
	} else {
		r->host_at = behind(l, now + r->s->t_in);
		r->loading = false;
		tell_pkt(r, 0, WEFT_NOTE_LOADED, r->host_at, p, true);
	}
}

/* With several banks a read that may overtake waits for nothing but what is in
 * front of it in its own transaction. */
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
	struct pkt p = take(&l->memory, i);

	p.ready = r->k;
	p.vc = R;
	p.error = !ref_ht_decode(p.addr, p.bytes);
	if (!p.error)
		tell_pkt(r, 0, WEFT_NOTE_MEM_READ, edge(r, r->k), &p, false);
	push(&l->lane[DOWN].queue[R], &p);
}

static void bridge_memory(struct ref *r, struct link *l)
{
	for (uint32_t i = 0; i < l->memory.n;) {
		const struct pkt *p = &l->memory.at[i];

		if (p->due <= r->k && p->from <= edge(r, r->k) &&
		    memory_turn(r, l, i))
			memory_has(r, l, i);
		else
			i++;
	}
}

/* ---- the link ------------------------------------------------------------ */

static void link_ends(struct ref *r, struct link *l)
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
		push(&l->pipe, &lane->cur);
		if (lane->cur.what != HT_STORE)
			continue;
		l->held--;
		tell_pkt(r, 0, WEFT_NOTE_STORED, edge(r, r->k), &lane->cur,
			 false);
	}
}

static void link_news(struct ref *r, struct link *l)
{
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		struct lane *lane = &l->lane[dir];

		for (uint32_t i = 0; i < lane->news.n;)
			if (lane->news.at[i].due <= r->k)
				lane->credits[take(&lane->news, i).vc]++;
			else
				i++;
	}
}

/* What the host asked for gets ready. */
static void link_ready(struct ref *r, struct link *l)
{
	for (uint32_t vc = P; vc <= NP; vc++) {
		struct list *q = &l->lane[DOWN].queue[vc];

		for (uint32_t i = 0; i < q->n; i++)
			if (q->at[i].ready == NEVER &&
			    q->at[i].from <= edge(r, r->k))
				q->at[i].ready = r->k;
	}
}

/* A store that was asked for before has not left. */
static bool load_ordered(const struct ref *r, const struct pkt *p)
{
	for (uint32_t d = 0; d < r->s->devices; d++) {
		const struct lane *lane = &r->link[d].lane[DOWN];

		if (lane->left && lane->cur.what == HT_STORE)
			return true;
		for (uint32_t i = 0; i < lane->queue[P].n; i++)
			if (lane->queue[P].at[i].seq < p->seq)
				return true;
	}
	return false;
}

/* Some posted packet must go first. */
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

/* End of what is written in the 32-byte block of a. */
static uint64_t block_end(uint64_t a, uint64_t end)
{
	uint64_t b = (a / 32 + 1) * 32;

	return b < end ? b : end;
}

/* Next packet of a transaction: the rest is left in the queue. */
static struct pkt cut(struct ref *r, struct link *l, struct list *q,
		      uint32_t *dwords_p)
{
	struct pkt *p = &q->at[0], part = *p;
	uint64_t end = p->addr + p->bytes, to = block_end(p->addr, end);
	struct txn *t = &l->txn[p->op];

	(void)r;
	if (p->what == HT_READ) {
		while (to % 64 && to < end)
			to = block_end(to, end);
		*dwords_p = 2;
	} else {
		bool mask = p->addr % 4 || to % 4;

		if (!mask && to % 64 && to < end && block_end(to, end) % 4 == 0)
			to = block_end(to, end);
		*dwords_p =
			2 + mask + dwords(p->addr, (uint32_t)(to - p->addr));
	}
	part.bytes = (uint32_t)(to - p->addr);
	part.at = t->sent;
	t->sent += part.bytes;
	t->tenures++;
	p->addr = to;
	p->bytes -= part.bytes;
	if (!p->bytes)
		take(q, 0);
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
			n = store_dwords(p);
		else if (vc == R)
			n = 1 + dwords(p->addr, p->bytes);
		lane->cur = take(q, 0);
	}
	lane->credits[vc]--;
	lane->last = vc;
	lane->left = n;
	r->log->busy[dir] += n;
}

static void link_decides(struct ref *r, struct link *l)
{
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		struct lane *lane = &l->lane[dir];

		for (uint32_t i = 1; !lane->left && i <= VCS; i++)
			if (can_go(r, l, dir, (lane->last + i) % VCS))
				go(r, l, dir, (lane->last + i) % VCS);
	}
}

/* ---- all ----------------------------------------------------------------- */

static void step(struct ref *r)
{
	weft_time_t now = edge(r, r->k);
	struct link *end = r->link + r->s->devices, *l;

	for (l = r->link; r->k && l < end; l++)
		dev_acts(r, l, now - 1);
	if (r->k)
		host_acts(r, now - 1);
	for (l = r->link; l < end; l++) {
		link_ends(r, l);
		link_news(r, l);
		bridge_memory(r, l);
		core_step(r, l);
	}
	host_acts(r, now);
	for (l = r->link; l < end; l++) {
		dev_load(r, l);
		dev_acts(r, l, now);
		link_ready(r, l);
	}
	for (l = r->link; l < end; l++)
		link_decides(r, l);
}

static bool link_idle(const struct ref *r, const struct link *l)
{
	uint32_t n = l->pipe.n + l->buffer.n + l->queue.n + l->memory.n +
		     l->load_in + (l->load_told != NEVER) +
		     (l->answer_at != WEFT_NEVER);

	for (uint32_t dir = 0; dir < DIRS; dir++) {
		n += l->lane[dir].left;
		for (uint32_t vc = 0; vc < VCS; vc++)
			n += l->lane[dir].queue[vc].n;
	}
	return !n && l->next == r->s->dev[l->index].n;
}

static bool finished(const struct ref *r)
{
	for (uint32_t i = 0; i < r->s->devices; i++)
		if (!link_idle(r, &r->link[i]))
			return false;
	return r->next == r->s->host.n && !r->loading;
}

static void link_init(struct ref *r, uint32_t i)
{
	struct link *l = &r->link[i];

	l->index = i;
	l->tags = r->s->tags;
	l->places = r->s->window ? r->s->window : 1;
	l->load_told = NEVER;
	l->answer_at = WEFT_NEVER;
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		l->lane[dir].last = R;
		for (uint32_t vc = 0; vc < VCS; vc++)
			l->lane[dir].credits[vc] = r->s->credits;
	}
}

static uint32_t slots(const struct ref *r, weft_time_t t)
{
	return (uint32_t)((t + r->s->slot.num - 1) / r->s->slot.num);
}

void ref_ht_run(const struct ht_script *s, struct ht_log *log)
{
	struct ref *r = calloc(1, sizeof(*r));

	assert(r && s->slot.den == 1 && s->core.den == 1);
	r->s = s;
	r->log = log;
	r->rx = slots(r, s->rx * s->core.num);
	r->tx = slots(r, s->tx * s->core.num);
	r->reg = slots(r, s->t_reg);
	r->credit = slots(r, s->t_credit);
	log->n = 0;
	log->busy[0] = log->busy[1] = 0;
	for (uint32_t i = 0; i < s->devices; i++)
		link_init(r, i);
	for (r->k = 0; !finished(r); r->k++)
		step(r);
	free(r);
}
