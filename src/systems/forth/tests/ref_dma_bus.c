/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dma: a serial bus of fixed priority: completion, write, read
 * (forth.md 11.1). */
#include <assert.h>
#include <string.h>

#include "ref_dma_internal.h"

void ref_bus_request(struct ref *r, uint32_t dir, uint64_t addr, uint32_t bytes,
		     uint64_t word)
{
	struct ref_op *o = &r->log->op[r->log->n_op];

	assert(r->log->n_op < REF_OPS && !r->b[dir].pending);
	*o = (struct ref_op){ .write = dir == WR,
			      .req = r->pc,
			      .addr = addr,
			      .word = word,
			      .bytes = bytes };
	memset(&r->b[dir], 0, sizeof(r->b[dir]));
	r->b[dir].pending = r->b[dir].req = true;
	r->b[dir].bytes = bytes;
	r->b[dir].op = r->log->n_op++;
}

static void bus_begin(struct ref *r, uint32_t dir, uint32_t pre, uint32_t beats,
		      uint32_t kind)
{
	r->bus.kind = kind;
	r->bus.dir = dir;
	r->bus.pre = pre + r->c->t_ph;
	r->bus.frame_in = pre;
	r->bus.beats = beats;
}

void ref_bus_arbitrate(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;
	uint32_t n;

	if (r->bus.kind != IDLE)
		return;
	if (r->compl &&!r->compl_wait) {
		n = min32(r->b[RD].seq, c->chunk);
		bus_begin(r, RD, c->t_gap, n / 8, DATA);
		r->b[RD].seq -= n;
		r->compl = false;
	} else if (r->b[WR].req && !r->b[WR].wait) {
		n = min32(r->b[WR].bytes - r->b[WR].moved, c->chunk);
		r->b[WR].req = false;
		bus_begin(r, WR, c->t_arb, n / 8, DATA);
	} else if (r->b[RD].req) {
		r->b[RD].req = false;
		bus_begin(r, RD, c->t_arb, 0, REQUEST);
	}
}

static void tenure_over(struct ref *r)
{
	uint32_t d = r->bus.dir;

	r->bus.kind = IDLE;
	if (r->b[d].moved == r->b[d].bytes) {
		r->b[d].done = true;
		r->b[d].pending = false;
		r->log->op[r->b[d].op].done = r->pc;
	} else if (d == WR) {
		r->b[d].req = true;
		r->b[d].wait = r->c->t_disc - r->c->t_arb;
	} else if (r->b[d].seq) {
		r->compl = true;
		r->compl_wait = 0;
	} else {
		r->b[d].req = true;
	}
}

static void split_response(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;

	r->bus.kind = IDLE;
	r->b[RD].split = true;
	r->b[RD].data = false;
	r->split_open = true;
	r->b[RD].seq = min32(r->b[RD].bytes - r->b[RD].moved, c->mmrbc);
	r->compl = true;
	r->compl_wait = c->t_split - c->t_gap - c->t_ph;
}

void ref_bus_edge(struct ref *r)
{
	bool data_now = r->bus.kind == DATA && !r->bus.pre;

	tick_down(&r->b[WR].wait);
	tick_down(&r->compl_wait);
	if (r->bus.kind == IDLE)
		return;
	if (data_now) {
		r->bus.beats--;
		r->b[r->bus.dir].moved += 8;
		ref_engine_moved(r, r->bus.dir);
		if (!r->bus.beats)
			tenure_over(r);
		return;
	}
	tick_down(&r->bus.frame_in);
	if (--r->bus.pre)
		return;
	if (r->bus.kind == REQUEST) {
		split_response(r);
		return;
	}
	r->b[r->bus.dir].data = true;
	r->b[r->bus.dir].split = false;
	if (r->bus.dir == RD)
		r->split_open = false;
}
