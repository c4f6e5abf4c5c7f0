/* SPDX-License-Identifier: Apache-2.0 */
/* ref_coh: the interconnect. A transaction is a list of waits with an action
 * after each. */
#include <string.h>

#include "ref_coh_internal.h"

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
	l = ref_coh_find(r, src, op->addr);
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
		ref_coh_then(&r->path, s->t_arb, W_DATA);
		return;
	}
	ref_coh_then(&r->path, s->t_arb, W_NOTHING);
	if (bus == COH_RD || bus == COH_RDX)
		ref_coh_make_room(r, src, r->t.addr, &r->path);
	ref_coh_then(&r->path, s->t_req, W_NOTHING);
	if (ni || bus == COH_MEM_WR)
		ref_coh_then(&r->path, ceil_div(r->t.bytes, s->width),
			     W_NOTHING);
	ref_coh_then(&r->path,
		     bus == COH_MEM_RD || bus == COH_MEM_WR ? 0 : s->t_snoop,
		     W_SNOOP);
}

void ref_coh_arbitrate(struct ref *r)
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
		struct line *l =
			i == r->t.src ? NULL : ref_coh_find(r, i, r->t.addr);

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
		struct line *l =
			i == r->s->cores ? NULL : ref_coh_find(r, i, addr);

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
		ref_coh_then(&r->path, r->s->t_supply, W_NOTHING);
	} else {
		memcpy(r->buf, r->log->mem + addr, r->s->line);
		ref_coh_wait_read(r, &r->path, addr);
	}
	ref_coh_wait_reply(r, r->s->line, W_DATA);
	if (dirty && r->t.bus == COH_RD) {
		ref_coh_then(&r->side, r->s->t_supply, W_NOTHING);
		ref_coh_wait_write(r, &r->side, addr, r->buf, r->s->line);
	}
}

static void snoop_upgr(struct ref *r)
{
	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l =
			i == r->t.src ? NULL : ref_coh_find(r, i, r->t.addr);

		if (l) {
			r->t.shared = true;
			l->st = 'I';
		}
	}
	ref_coh_then(&r->path, 0, W_DATA);
}

static void snoop_update(struct ref *r)
{
	const struct coh_item *it = item_of(r);
	uint64_t addr = it->addr / r->s->line * r->s->line;

	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = ref_coh_find(r, i, addr);

		if (l) {
			r->t.shared = true;
			memcpy(l->b + (it->addr - addr), it->data, it->bytes);
		}
	}
	ref_coh_wait_write(r, &r->side, it->addr, it->data, it->bytes);
	if (r->t.shared || !r->s->update_alloc) {
		ref_coh_then(&r->path, 0, W_DATA);
		return;
	}
	r->t.allocated = true;
	ref_coh_make_room(r, it->target, addr, &r->side);
	if (it->bytes == r->s->line) {
		ref_coh_put_line(r, it->target, addr, 'E', it->data);
		ref_coh_then(&r->path, 0, W_DATA);
		return;
	}
	/* the victim is written to memory first, which frees its cache line,
	 * then the new line is read */
	r->path = r->side;
	r->side.n = 0;
	ref_coh_wait_read(r, &r->path, addr);
	memcpy(r->buf, r->log->mem + addr, r->s->line);
	ref_coh_wait_reply(r, r->s->line, W_DATA);
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
		ref_coh_then(&r->side, r->s->t_supply, W_NOTHING);
		ref_coh_wait_write(r, &r->side, addr, m->b, r->s->line);
	} else {
		ref_coh_wait_write(r, &r->side, it->addr, it->data, it->bytes);
	}
	for (uint32_t i = 0; i < r->s->cores; i++) {
		struct line *l = ref_coh_find(r, i, addr);

		if (l) {
			r->t.shared = true;
			l->st = 'I';
		}
	}
	ref_coh_then(&r->path, 0, W_DATA);
}

static void at_memory(struct ref *r)
{
	if (r->t.bus == COH_MEM_RD) {
		ref_coh_wait_read(r, &r->path, r->t.addr);
		memcpy(r->buf, r->log->mem + r->t.addr, r->t.bytes);
		ref_coh_wait_reply(r, r->t.bytes, W_DATA);
		return;
	}
	if (r->t.src == r->s->cores)
		memcpy(r->buf, item_of(r)->data, r->t.bytes);
	else
		memcpy(r->buf, &op_of(r, r->t.src)->value, r->t.bytes);
	ref_coh_wait_write(r, &r->path, r->t.addr, r->buf, r->t.bytes);
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
			ref_coh_put_line(r, item_of(r)->target, r->t.addr, 'E',
					 r->buf);
		return;
	}
	if (r->t.bus == COH_MEM_RD || r->t.bus == COH_MEM_WR) {
		ref_coh_access_done(r, i, r->buf);
		return;
	}
	if (r->t.bus == COH_NONE)
		r->t.snoop = r->now;
	if (r->t.bus == COH_RD || r->t.bus == COH_RDX)
		ref_coh_put_line(r, i, r->t.addr, r->fill, r->buf);
	l = ref_coh_find(r, i, r->t.addr);
	if (op_of(r, i)->store)
		l->st = 'M';
	ref_coh_touch(r, i, l);
	ref_coh_access_done(r, i, l->b + r->t.addr % r->s->line);
}

/* Advances a list of waits by a clock, then runs the action of each wait that
 * has ended. */
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

void ref_coh_net_step(struct ref *r)
{
	bool side = r->side.n > 0;

	if (!r->busy)
		return;
	waits_step(r, &r->path, true);
	/* a list made in this clock begins to wait with the next clock */
	waits_step(r, &r->side, side);
	if (r->path.n || r->side.n)
		return;
	r->busy = false;
	r->t.end = r->now;
	r->log->txn[r->log->n_txns++] = r->t;
	if (r->t.src == r->s->cores) {
		r->ni_pos++;
		ref_coh_next_item(r);
	}
}
