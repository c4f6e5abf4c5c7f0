/* SPDX-License-Identifier: Apache-2.0 */
/* Data of a tenure, beat by beat: see ref_pcix.h. */
#include "ref_pcix_internal.h"

#include <assert.h>
#include <string.h>

struct stream *pcix_data_stream(struct ref *r)
{
	return r->kind == WRITE ? &r->wr[r->dev] : &r->rd[r->dev];
}

/* Sends the note of the part of the tenure that ends at edge k. */
static void part_tell(struct ref *r, uint64_t k)
{
	struct stream *st = pcix_data_stream(r);
	const struct ref_op *o = pcix_op_of(st);
	bool write = r->kind == WRITE;
	struct ref_note *n =
		pcix_tell(r, 1 + r->dev, WEFT_NOTE_BURST, r->part_start);

	n->write = write;
	n->frame = pcix_edge(r, r->frame);
	n->data_end = pcix_edge(r, k);
	n->offset = r->part_off;
	n->bytes = r->part;
	n->last = r->part_off + r->part == o->bytes;
	n->timer = r->part_timer;
	if (write || !r->s->pci) {
		n = pcix_tell(r, 0,
			      write ? WEFT_NOTE_MEM_WRITE : WEFT_NOTE_MEM_READ,
			      write ? k : r->frame);
		n->addr = o->addr + r->part_off;
		n->bytes = r->part;
		n->time += write ? r->s->h_dw : 0;
		r->commit = write ? n->time : r->commit;
	}
	r->part_off += r->part;
	r->part = 0;
	r->part_start = k;
	r->part_timer = false;
}

void pcix_data_begin(struct ref *r)
{
	r->phase = DATA;
	r->start = r->part_start = r->k;
	r->part_off = pcix_data_stream(r)->moved;
}

/* Handles the last clock before a block starts. If the timer has expired and
 * another master waits, that block is the last. */
static void timer_look(struct ref *r)
{
	struct stream *st = pcix_data_stream(r);
	uint32_t rest = r->chunk - r->done_bytes;
	uint32_t block = r->s->pci ? r->s->line : 128;

	if (r->kind == COMPLETION || !rest || !pcix_op_of(st)->latency_timer ||
	    (pcix_op_of(st)->addr + st->moved) % block ||
	    r->k < r->frame + pcix_op_of(st)->latency_timer)
		return;
	part_tell(r, r->k + 1);
	if (pcix_others_ask(r) && rest > block) {
		r->chunk = r->done_bytes + block;
		r->part_timer = true;
	}
}

/* Moves one beat in the clock that starts at this edge. */
void pcix_beat(struct ref *r)
{
	struct stream *st = pcix_data_stream(r);
	uint32_t w = r->s->width, n = w;

	if (r->s->pci) /* the first and last beat may have fewer bytes */
		n = pcix_least(w - (pcix_op_of(st)->addr + st->moved) % w,
			       r->chunk - r->done_bytes);
	st->moved += n;
	r->done_bytes += n;
	r->part += n;
	timer_look(r);
}

static void write_over(struct ref *r)
{
	struct stream *st = &r->wr[r->dev];
	uint32_t t = r->s->t_disc, a = r->s->t_arb;

	if (st->moved == pcix_op_of(st)->bytes) {
		pcix_stream_done(r, st, true, WEFT_BUS_OK);
		return;
	}
	st->asking = true;
	st->hold = r->k + (t > a ? t - a : 0);
}

static void completion_over(struct ref *r)
{
	struct stream *st = &r->rd[r->dev];

	st->seq -= r->done_bytes;
	if (st->seq) {
		r->fifo[0].hold = r->k;
		return;
	}
	memmove(r->fifo, r->fifo + 1, --r->n_fifo * sizeof(r->fifo[0]));
	if (st->moved == pcix_op_of(st)->bytes) {
		pcix_stream_done(r, st, false, WEFT_BUS_OK);
		return;
	}
	st->asking = true;
	st->hold = r->k;
}

/* PCI: ends the tenure of a read. The read is done, or requests the bus again
 * for its remaining data. */
static void read_data_over(struct ref *r)
{
	struct stream *st = &r->rd[r->dev];

	st->seq -= r->done_bytes;
	r->phase = TAIL;
	r->tail = IDLE;
	r->left = r->s->t_end;
	if (st->moved == pcix_op_of(st)->bytes) {
		pcix_stream_done(r, st, false, WEFT_BUS_OK);
		return;
	}
	st->asking = true;
	st->hold = r->k + r->s->t_end + r->s->t_retry;
}

/* Returns whether the data of the tenure end at this edge. */
bool pcix_data_over(struct ref *r)
{
	if (r->done_bytes < r->chunk)
		return false;
	part_tell(r, r->k);
	r->phase = FREE;
	if (r->kind == WRITE)
		write_over(r);
	else if (r->kind == READ)
		read_data_over(r);
	else
		completion_over(r);
	return true;
}
