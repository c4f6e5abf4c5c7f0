/* SPDX-License-Identifier: Apache-2.0 */
/* Every clock: the interconnect, the cores in order, the interface, the
 * arbiter.  A transaction is a list of waits; after each one something
 * happens. */
#include "ref_coh.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char st; /* I S E M */
	uint64_t addr;
	uint32_t age;
	uint8_t b[COH_LINE_MAX];
};

enum what { W_NOTHING, W_SNOOP, W_DATA };
struct wait {
	uint32_t cycles;
	enum what then;
};
struct waits {
	struct wait w[16];
	uint32_t n;
};

struct core {
	enum { C_STOP, C_BUSY, C_ASKS } st;
	uint64_t until;
	uint32_t pos;
	struct line *lines;
	uint8_t priv[REF_COH_PRIV];
};

struct ref {
	const struct ref_coh_script *s;
	struct ref_coh_log *log;
	uint64_t now;
	struct core core[COH_CORES_MAX];
	/* interface */
	enum { N_STOP, N_WAITS, N_ASKS } ni;
	uint64_t ni_until;
	uint32_t ni_pos;
	/* interconnect */
	bool busy;
	uint32_t turn;
	struct waits path, side; /* towards the requester; into memory */
	struct coh_txn t;
	struct line *place;
	char fill;
	uint8_t buf[COH_LINE_MAX];
	int64_t row[64]; /* open row of each bank, -1 = none */
};

/* ---- memory ---- */

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return a / b + (a % b ? 1 : 0);
}

static uint32_t open_row(struct ref *r, uint64_t addr)
{
	uint64_t n = addr / r->s->row_bytes;
	int64_t *open = &r->row[n % r->s->banks];
	int64_t want = (int64_t)(n / r->s->banks);
	uint32_t cost = 0;

	if (*open != want) {
		if (*open >= 0)
			cost += r->s->t_rp;
		cost += r->s->t_rcd;
	}
	*open = want;
	return cost;
}

static void then(struct waits *l, uint32_t cycles, enum what what)
{
	assert(l->n < 16);
	l->w[l->n++] = (struct wait){ cycles, what };
}

static void wait_read(struct ref *r, struct waits *l, uint64_t addr)
{
	then(l, r->s->t_ctrl, W_NOTHING);
	then(l, open_row(r, addr), W_NOTHING);
	then(l, r->s->t_cas, W_NOTHING);
}

static void wait_write(struct ref *r, struct waits *l, uint64_t addr,
		       const uint8_t *b, uint32_t n)
{
	then(l, r->s->t_ctrl, W_NOTHING);
	then(l, open_row(r, addr), W_NOTHING);
	then(l, r->s->t_cwl, W_NOTHING);
	then(l, ceil_div(n, r->s->width), W_NOTHING);
	memcpy(r->log->mem + addr, b, n);
}

static void wait_reply(struct ref *r, uint32_t n, enum what what)
{
	then(&r->path, r->s->t_reply, W_NOTHING);
	then(&r->path, ceil_div(n, r->s->width), what);
}

/* ---- caches ---- */

static struct line *set_of(struct ref *r, uint32_t i, uint64_t addr)
{
	uint32_t sets = r->s->size / r->s->line / r->s->ways;

	return r->core[i].lines + addr / r->s->line % sets * r->s->ways;
}

static struct line *find(struct ref *r, uint32_t i, uint64_t addr)
{
	struct line *l = set_of(r, i, addr);

	for (uint32_t w = 0; w < r->s->ways; w++)
		if (l[w].st != 'I' &&
		    l[w].addr / r->s->line == addr / r->s->line)
			return &l[w];
	return NULL;
}

static void touch(struct ref *r, uint32_t i, struct line *l)
{
	struct line *set = set_of(r, i, l->addr);

	for (uint32_t w = 0; w < r->s->ways; w++)
		set[w].age++;
	l->age = 0;
}

static struct line *oldest(struct ref *r, uint32_t i, uint64_t addr)
{
	struct line *set = set_of(r, i, addr), *old = set;

	for (uint32_t w = 0; w < r->s->ways; w++)
		if (set[w].st == 'I')
			return &set[w];
	for (uint32_t w = 1; w < r->s->ways; w++)
		if (set[w].age > old->age)
			old = &set[w];
	return old;
}

static void make_room(struct ref *r, uint32_t i, uint64_t addr, struct waits *l)
{
	r->place = oldest(r, i, addr);
	if (r->place->st == 'M') {
		then(l, r->s->t_req, W_NOTHING);
		wait_write(r, l, r->place->addr, r->place->b, r->s->line);
	}
	r->place->st = 'I';
}

static void put_line(struct ref *r, uint32_t i, uint64_t addr, char st,
		     const uint8_t *b)
{
	r->place->st = st;
	r->place->addr = addr / r->s->line * r->s->line;
	memcpy(r->place->b, b, r->s->line);
	touch(r, i, r->place);
}

/* ---- cores ---- */

static bool is_private(uint64_t addr)
{
	return addr >= REF_COH_PRIVATE;
}

static bool is_uncached(uint64_t addr)
{
	return !is_private(addr) && addr >= REF_COH_OPEN;
}

static const struct coh_op *op_of(struct ref *r, uint32_t i)
{
	return &r->s->op[i][r->core[i].pos];
}

static void next_op(struct ref *r, uint32_t i)
{
	struct core *c = &r->core[i];
	const struct coh_op *op = op_of(r, i);

	c->st = C_STOP;
	if (c->pos == r->s->n_ops[i])
		return;
	c->st = C_BUSY;
	c->until = r->now + op->gap;
	if (is_private(op->addr))
		c->until += r->s->t_plb;
	else if (is_uncached(op->addr))
		c->until += r->s->t_port;
	else
		c->until += r->s->t_hit;
}

static void access_done(struct ref *r, uint32_t i, uint8_t *b)
{
	const struct coh_op *op = op_of(r, i);
	struct ref_coh_access *a = &r->log->op[r->log->n_ops++];

	if (op->store)
		memcpy(b, &op->value, op->bytes); /* little-endian host */
	*a = (struct ref_coh_access){ .core = i,
				      .cycle = r->now,
				      .addr = op->addr };
	memcpy(&a->value, b, op->bytes);
	r->core[i].pos++;
	next_op(r, i);
}

/* True when the access could be done in the cache. */
static bool try_cache(struct ref *r, uint32_t i)
{
	const struct coh_op *op = op_of(r, i);
	struct line *l = find(r, i, op->addr);

	if (!l || (op->store && l->st == 'S'))
		return false;
	if (op->store)
		l->st = 'M';
	touch(r, i, l);
	access_done(r, i, l->b + op->addr % r->s->line);
	return true;
}

static void core_step(struct ref *r, uint32_t i)
{
	struct core *c = &r->core[i];
	uint64_t addr;

	if (c->st != C_BUSY || r->now != c->until)
		return;
	addr = op_of(r, i)->addr;
	if (is_private(addr)) {
		access_done(r, i, c->priv + (addr - REF_COH_PRIVATE));
		return;
	}
	if (is_uncached(addr) || !try_cache(r, i))
		c->st = C_ASKS;
}

/* ---- interface ---- */

static const struct coh_item *item_of(struct ref *r)
{
	return &r->s->item[r->ni_pos];
}

static void next_item(struct ref *r)
{
	r->ni = r->ni_pos == r->s->n_items ? N_STOP : N_WAITS;
	if (r->ni == N_WAITS)
		r->ni_until = item_of(r)->cycle + r->s->t_ni;
}

static void ni_step(struct ref *r)
{
	if (r->ni == N_WAITS && r->now >= r->ni_until)
		r->ni = N_ASKS;
}

/* ---- interconnect ---- */

static enum coh_bus need(struct ref *r, uint32_t src)
{
	const struct coh_op *op;
	struct line *l;

	if (src == r->s->cores)
		return item_of(r)->how == COH_TO_MEMORY	  ? COH_MEM_WR
		       : item_of(r)->how == COH_BY_UPDATE ? COH_UPDATE
							  : COH_WRITE;
	op = op_of(r, src);
	if (is_uncached(op->addr))
		return op->store ? COH_MEM_WR : COH_MEM_RD;
	l = find(r, src, op->addr);
	if (!l)
		return op->store ? COH_RDX : COH_RD;
	return op->store && l->st == 'S' ? COH_UPGR : COH_NONE;
}

static void grant(struct ref *r, uint32_t src)
{
	const struct ref_coh_script *s = r->s;
	enum coh_bus bus = need(r, src);
	bool ni = src == s->cores;

	r->busy = true;
	r->turn = src;
	r->place = NULL;
	r->path.n = r->side.n = 0;
	r->t = (struct coh_txn){
		.bus = bus,
		.src = src,
		.addr = ni ? item_of(r)->addr : op_of(r, src)->addr,
		.bytes = ni ? item_of(r)->bytes : op_of(r, src)->bytes,
		.grant = r->now,
		.supplier = -1,
	};
	if (bus == COH_NONE) {
		then(&r->path, s->t_arb, W_DATA);
		return;
	}
	then(&r->path, s->t_arb, W_NOTHING);
	if (bus == COH_RD || bus == COH_RDX)
		make_room(r, src, r->t.addr, &r->path);
	then(&r->path, s->t_req, W_NOTHING);
	if (ni || bus == COH_MEM_WR)
		then(&r->path, ceil_div(r->t.bytes, s->width), W_NOTHING);
	then(&r->path, bus == COH_MEM_RD || bus == COH_MEM_WR ? 0 : s->t_snoop,
	     W_SNOOP);
}

static void arbitrate(struct ref *r)
{
	uint32_t i = r->turn;

	if (r->busy)
		return;
	do {
		i = i == r->s->cores ? 0 : i + 1;
		if (i == r->s->cores ? r->ni == N_ASKS
				     : r->core[i].st == C_ASKS) {
			grant(r, i);
			return;
		}
	} while (i != r->turn);
}

static bool dirty_elsewhere(struct ref *r, struct line **l_p, int32_t *who_p)
{
	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = i == r->t.src ? NULL : find(r, i, r->t.addr);

		if (l && l->st == 'M') {
			*l_p = l;
			*who_p = (int32_t)i;
			return true;
		}
	}
	return false;
}

static void snoop_read(struct ref *r)
{
	uint64_t addr = r->t.addr / r->s->line * r->s->line;
	bool dirty = false;

	for (uint32_t k = 1; k <= r->s->cores; k++) {
		uint32_t i = (r->t.src + k) % (r->s->cores + 1);
		struct line *l = i == r->s->cores ? NULL : find(r, i, addr);

		if (!l || i == r->t.src)
			continue;
		r->t.shared = true;
		if (l->st == 'M')
			dirty = true;
		if ((l->st == 'M' || l->st == 'E' ||
		     (l->st == 'S' && r->t.bus == COH_RD &&
		      r->s->supply_shared)) &&
		    r->t.supplier < 0) {
			r->t.supplier = (int32_t)i;
			memcpy(r->buf, l->b, r->s->line);
		}
		l->st = r->t.bus == COH_RD ? 'S' : 'I';
	}
	if (r->t.bus == COH_RDX)
		r->fill = 'M';
	else
		r->fill = r->t.shared ? 'S' : 'E';
	if (r->t.supplier >= 0) {
		then(&r->path, r->s->t_supply, W_NOTHING);
	} else {
		memcpy(r->buf, r->log->mem + addr, r->s->line);
		wait_read(r, &r->path, addr);
	}
	wait_reply(r, r->s->line, W_DATA);
	if (dirty && r->t.bus == COH_RD) {
		then(&r->side, r->s->t_supply, W_NOTHING);
		wait_write(r, &r->side, addr, r->buf, r->s->line);
	}
}

static void snoop_upgr(struct ref *r)
{
	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = i == r->t.src ? NULL : find(r, i, r->t.addr);

		if (l) {
			r->t.shared = true;
			l->st = 'I';
		}
	}
	then(&r->path, 0, W_DATA);
}

static void snoop_update(struct ref *r)
{
	const struct coh_item *it = item_of(r);
	uint64_t addr = it->addr / r->s->line * r->s->line;

	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = find(r, i, addr);

		if (l) {
			r->t.shared = true;
			memcpy(l->b + (it->addr - addr), it->data, it->bytes);
		}
	}
	wait_write(r, &r->side, it->addr, it->data, it->bytes);
	if (r->t.shared || !r->s->update_alloc) {
		then(&r->path, 0, W_DATA);
		return;
	}
	r->t.allocated = true;
	make_room(r, it->target, addr, &r->side);
	if (it->bytes == r->s->line) {
		put_line(r, it->target, addr, 'E', it->data);
		then(&r->path, 0, W_DATA);
		return;
	}
	/* what memory needs first, then the line */
	r->path = r->side;
	r->side.n = 0;
	wait_read(r, &r->path, addr);
	memcpy(r->buf, r->log->mem + addr, r->s->line);
	wait_reply(r, r->s->line, W_DATA);
}

static void snoop_write(struct ref *r)
{
	const struct coh_item *it = item_of(r);
	uint64_t addr = it->addr / r->s->line * r->s->line;
	struct line *m;
	int32_t who;

	if (it->bytes < r->s->line && dirty_elsewhere(r, &m, &who)) {
		r->t.supplier = who;
		memcpy(m->b + (it->addr - addr), it->data, it->bytes);
		then(&r->side, r->s->t_supply, W_NOTHING);
		wait_write(r, &r->side, addr, m->b, r->s->line);
	} else {
		wait_write(r, &r->side, it->addr, it->data, it->bytes);
	}
	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = find(r, i, addr);

		if (l) {
			r->t.shared = true;
			l->st = 'I';
		}
	}
	then(&r->path, 0, W_DATA);
}

static void at_memory(struct ref *r)
{
	if (r->t.bus == COH_MEM_RD) {
		wait_read(r, &r->path, r->t.addr);
		memcpy(r->buf, r->log->mem + r->t.addr, r->t.bytes);
		wait_reply(r, r->t.bytes, W_DATA);
		return;
	}
	if (r->t.src == r->s->cores)
		memcpy(r->buf, item_of(r)->data, r->t.bytes);
	else
		memcpy(r->buf, &op_of(r, r->t.src)->value, r->t.bytes);
	wait_write(r, &r->path, r->t.addr, r->buf, r->t.bytes);
	r->path.w[r->path.n - 1].then = W_DATA;
}

static void snoop(struct ref *r)
{
	r->t.snoop = r->now;
	if (r->t.bus == COH_RD || r->t.bus == COH_RDX)
		snoop_read(r);
	else if (r->t.bus == COH_UPGR)
		snoop_upgr(r);
	else if (r->t.bus == COH_UPDATE)
		snoop_update(r);
	else if (r->t.bus == COH_WRITE)
		snoop_write(r);
	else
		at_memory(r);
}

static void data_there(struct ref *r)
{
	uint32_t i = r->t.src;
	struct line *l;

	r->t.data = r->now;
	if (i == r->s->cores) {
		if (r->t.allocated && r->t.bytes < r->s->line)
			put_line(r, item_of(r)->target, r->t.addr, 'E', r->buf);
		return;
	}
	if (r->t.bus == COH_MEM_RD || r->t.bus == COH_MEM_WR) {
		access_done(r, i, r->buf);
		return;
	}
	if (r->t.bus == COH_NONE)
		r->t.snoop = r->now;
	if (r->t.bus == COH_RD || r->t.bus == COH_RDX)
		put_line(r, i, r->t.addr, r->fill, r->buf);
	l = find(r, i, r->t.addr);
	if (op_of(r, i)->store)
		l->st = 'M';
	touch(r, i, l);
	access_done(r, i, l->b + r->t.addr % r->s->line);
}

/* One clock of one list; what has no wait left happens now. */
static void waits_step(struct ref *r, struct waits *l, bool tick)
{
	if (tick && l->n)
		l->w[0].cycles -= l->w[0].cycles > 0;
	while (l->n && !l->w[0].cycles) {
		enum what what = l->w[0].then;

		memmove(&l->w[0], &l->w[1], --l->n * sizeof(l->w[0]));
		if (what == W_SNOOP)
			snoop(r);
		else if (what == W_DATA)
			data_there(r);
	}
}

static void net_step(struct ref *r)
{
	bool side = r->side.n > 0;

	if (!r->busy)
		return;
	waits_step(r, &r->path, true);
	/* a list that appeared in this clock starts with the next one */
	waits_step(r, &r->side, side);
	if (r->path.n || r->side.n)
		return;
	r->busy = false;
	r->t.end = r->now;
	r->log->txn[r->log->n_txns++] = r->t;
	if (r->t.src == r->s->cores) {
		r->ni_pos++;
		next_item(r);
	}
}

/* ---- run ---- */

static bool over(const struct ref *r)
{
	for (uint32_t i = 0; i < r->s->cores; i++)
		if (r->core[i].st != C_STOP)
			return false;
	return r->ni == N_STOP && !r->busy;
}

static void count_copies(struct ref *r)
{
	for (uint32_t i = 0; i < r->s->cores; i++)
		for (uint32_t k = 0; k < r->s->size / r->s->line; k++) {
			char st = r->core[i].lines[k].st;

			r->log->copies[0] += st == 'S';
			r->log->copies[1] += st == 'E';
			r->log->copies[2] += st == 'M';
		}
}

void ref_coh_run(const struct ref_coh_script *s, struct ref_coh_log *log)
{
	struct ref *r = calloc(1, sizeof(*r));
	uint32_t lines = s->size / s->line;

	assert(r);
	memset(log, 0, sizeof(*log));
	r->s = s;
	r->log = log;
	r->turn = s->cores;
	memset(r->row, 0xff, sizeof(r->row));
	for (uint32_t i = 0; i < s->cores; i++) {
		r->core[i].lines = calloc(lines, sizeof(struct line));
		assert(r->core[i].lines);
		for (uint32_t k = 0; k < lines; k++)
			r->core[i].lines[k].st = 'I';
		next_op(r, i);
	}
	next_item(r);
	for (; !over(r); r->now++) {
		net_step(r);
		for (uint32_t i = 0; i < s->cores; i++)
			core_step(r, i);
		ni_step(r);
		arbitrate(r);
	}
	count_copies(r);
	for (uint32_t i = 0; i < s->cores; i++)
		free(r->core[i].lines);
	free(r);
}
