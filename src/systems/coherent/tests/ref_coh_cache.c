/* SPDX-License-Identifier: Apache-2.0 */
/* ref_coh: memory and caches. */
#include <assert.h>
#include <string.h>

#include "ref_coh_internal.h"

/* ---- memory ---- */

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

void ref_coh_then(struct waits *l, uint32_t cycles, enum what what)
{
	assert(l->n < 16);
	l->w[l->n++] = (struct wait){ cycles, what };
}

void ref_coh_wait_read(struct ref *r, struct waits *l, uint64_t addr)
{
	ref_coh_then(l, r->s->t_ctrl, W_NOTHING);
	ref_coh_then(l, open_row(r, addr), W_NOTHING);
	ref_coh_then(l, r->s->t_cas, W_NOTHING);
}

void ref_coh_wait_write(struct ref *r, struct waits *l, uint64_t addr,
			const uint8_t *b, uint32_t n)
{
	ref_coh_then(l, r->s->t_ctrl, W_NOTHING);
	ref_coh_then(l, open_row(r, addr), W_NOTHING);
	ref_coh_then(l, r->s->t_cwl, W_NOTHING);
	ref_coh_then(l, ceil_div(n, r->s->width), W_NOTHING);
	memcpy(r->log->mem + addr, b, n);
}

void ref_coh_wait_reply(struct ref *r, uint32_t n, enum what what)
{
	ref_coh_then(&r->path, r->s->t_reply, W_NOTHING);
	ref_coh_then(&r->path, ceil_div(n, r->s->width), what);
}

/* ---- caches ---- */

static struct line *set_of(struct ref *r, uint32_t i, uint64_t addr)
{
	uint32_t sets = r->s->size / r->s->line / r->s->ways;

	return r->core[i].lines + addr / r->s->line % sets * r->s->ways;
}

struct line *ref_coh_find(struct ref *r, uint32_t i, uint64_t addr)
{
	struct line *l = set_of(r, i, addr);

	for (uint32_t w = 0; w < r->s->ways; w++)
		if (l[w].st != 'I' &&
		    l[w].addr / r->s->line == addr / r->s->line)
			return &l[w];
	return NULL;
}

void ref_coh_touch(struct ref *r, uint32_t i, struct line *l)
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

void ref_coh_make_room(struct ref *r, uint32_t i, uint64_t addr,
		       struct waits *l)
{
	r->place = oldest(r, i, addr);
	if (r->place->st == 'M') {
		ref_coh_then(l, r->s->t_req, W_NOTHING);
		ref_coh_wait_write(r, l, r->place->addr, r->place->b,
				   r->s->line);
	}
	r->place->st = 'I';
}

void ref_coh_put_line(struct ref *r, uint32_t i, uint64_t addr, char st,
		      const uint8_t *b)
{
	r->place->st = st;
	r->place->addr = addr / r->s->line * r->s->line;
	memcpy(r->place->b, b, r->s->line);
	ref_coh_touch(r, i, r->place);
}
