/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of coh.system, see ref_coh.h. In each clock the parts take their
 * steps in this order: interconnect, cores by number, interface, arbiter. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ref_coh_internal.h"

/* ---- cores ---- */

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

void ref_coh_access_done(struct ref *r, uint32_t i, uint8_t *b)
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

/* Tries to serve the access of core i from its cache alone. Returns true if the
 * cache could. */
static bool try_cache(struct ref *r, uint32_t i)
{
	const struct coh_op *op = op_of(r, i);
	struct line *l = ref_coh_find(r, i, op->addr);

	if (!l || (op->store && l->st == 'S'))
		return false;
	if (op->store)
		l->st = 'M';
	ref_coh_touch(r, i, l);
	ref_coh_access_done(r, i, l->b + op->addr % r->s->line);
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
		ref_coh_access_done(r, i, c->priv + (addr - REF_COH_PRIVATE));
		return;
	}
	if (is_uncached(addr) || !try_cache(r, i))
		c->st = C_ASKS;
}

/* ---- interface ---- */

void ref_coh_next_item(struct ref *r)
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
	ref_coh_next_item(r);
	for (; !over(r); r->now++) {
		ref_coh_net_step(r);
		for (uint32_t i = 0; i < s->cores; i++)
			core_step(r, i);
		ni_step(r);
		ref_coh_arbitrate(r);
	}
	count_copies(r);
	for (uint32_t i = 0; i < s->cores; i++)
		free(r->core[i].lines);
	free(r);
}
