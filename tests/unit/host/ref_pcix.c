/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the PCI-X and the PCI bus: see ref_pcix.h. The rules are
 * those at the top of src/host/pcix.c and src/host/pci.c. Every clock edge is
 * evaluated. A tenure is a countdown, and data move beat by beat. */
#include "ref_pcix_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool ref_pcix_decode(uint64_t addr, uint32_t bytes)
{
	return addr + bytes <= REF_MEM_END &&
	       (addr + bytes <= REF_HOLE_LO || addr >= REF_HOLE_HI);
}

weft_time_t pcix_edge(const struct ref *r, uint64_t k)
{
	return weft_clock_edge(&r->s->clock, k);
}

struct ref_note *pcix_tell(struct ref *r, uint32_t port,
			   enum weft_note_kind kind, uint64_t k)
{
	struct ref_note *n = &r->log->note[r->log->n++];

	assert(r->log->n <= REF_LOG);
	*n = (struct ref_note){ .kind = kind,
				.port = port,
				.time = pcix_edge(r, k) };
	return n;
}

/* Returns the host's oldest access. */
static const struct ref_op *pio_of(const struct ref *r)
{
	return &r->s->pio.op[r->pio_done];
}

/* Returns the number of clocks for the bytes of a host access. */
static uint32_t pio_beats(const struct ref *r, uint64_t addr, uint32_t bytes)
{
	uint32_t n = 0, w = r->s->pci ? r->s->width : 4;

	for (uint64_t a = addr / w * w; a < addr + bytes; a += w)
		n++;
	return n;
}

const struct ref_op *pcix_op_of(const struct stream *st)
{
	return &st->list->op[st->next];
}

/* ---- events outside the bus ---- */

static void stream_submit(struct ref *r, struct stream *st)
{
	if (st->active || st->next >= st->list->n ||
	    st->at + pcix_op_of(st)->delay > pcix_edge(r, r->k))
		return;
	st->active = st->asking = true;
	st->hold = r->k;
	st->moved = st->tenures = st->splits = st->seq = 0;
}

void pcix_stream_done(struct ref *r, struct stream *st, bool write,
		      enum weft_bus_status status)
{
	struct ref_note *n = pcix_tell(r, 1 + r->dev, WEFT_NOTE_DONE, r->k);

	n->write = write;
	n->status = status;
	n->last = true;
	n->tenures = st->tenures;
	n->splits = st->splits;
	n->bytes = st->moved;
	st->active = st->asking = false;
	st->at = pcix_edge(r, r->k);
	st->next++;
}

/* Returns the edge at which the bus gets the host's request of time r->pio_at.
 * This is the first edge after r->pio_at plus the latency from host to bus, but
 * not before the present edge. */
static uint64_t pio_edge(const struct ref *r, const struct ref_op *o)
{
	weft_time_t t = r->pio_at + (o->load ? r->s->h_rd_out : r->s->h_wr_out);
	uint64_t k = r->k;

	while (pcix_edge(r, k) < t)
		k++;
	return k;
}

/* Makes the host's requests up to `limit`. A store that ends at an edge keeps
 * its room in the bridge until that edge. Therefore a request between two edges
 * may find the bridge full. */
static void host_acts(struct ref *r, weft_time_t limit)
{
	const struct ref_list *l = &r->s->pio;

	while (r->pio_next < l->n) {
		const struct ref_op *o = &l->op[r->pio_next];
		weft_time_t t = r->pio_at + o->delay;

		if (r->pio_next && l->op[r->pio_next - 1].load &&
		    r->pio_done < r->pio_next)
			return; /* the answer to the load has not arrived */
		if (t > limit)
			return;
		if (!o->load && r->stores_held == r->s->pio_depth) {
			r->pio_blocked = true;
			return;
		}
		r->pio_at = r->pio_blocked ? pcix_edge(r, r->k) : t;
		r->pio_blocked = false;
		r->pio_ready[r->pio_next++] = pio_edge(r, o);
		r->stores_held += !o->load;
	}
}

/* ---- arbitration ---- */

static bool asks(const struct ref *r, uint32_t m)
{
	const struct stream *st;

	if (m == 0)
		return r->pio_done < r->pio_next &&
		       r->pio_ready[r->pio_done] <= r->k;
	if (m == 1)
		return r->n_fifo && r->fifo[0].hold <= r->k;
	st = m % 2 ? &r->rd[m / 2 - 1] : &r->wr[m / 2 - 1];
	return st->asking && st->hold <= r->k;
}

bool pcix_others_ask(const struct ref *r)
{
	for (uint32_t m = 0; m < 2 + 2 * r->s->devices; m++)
		if ((m < 2 || m / 2 - 1 != r->dev) && asks(r, m))
			return true;
	return false;
}

uint32_t pcix_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void start_stream(struct ref *r, struct stream *st, bool write)
{
	const struct ref_op *o = pcix_op_of(st);

	st->asking = false;
	st->tenures++;
	r->chunk = o->bytes - st->moved;
	if (write)
		r->chunk = pcix_least(r->chunk, r->s->wr_chunk);
	else if (o->max_request)
		r->chunk = pcix_least(r->chunk, o->max_request);
	if (r->s->pci && !write)
		r->chunk = pcix_least(r->chunk, r->s->rd_chunk);
	while (r->s->pci && r->s->page && r->chunk > 1 &&
	       (o->addr + st->moved) / r->s->page !=
		       (o->addr + st->moved + r->chunk - 1) / r->s->page)
		r->chunk--;
	r->left = r->s->t_arb;
	if (r->s->pci && !write && st->seq)
		r->chunk = st->seq; /* bytes that the bridge has or fetches */
	else
		r->abort_ = !ref_pcix_decode(o->addr + st->moved, r->chunk);
}

/* Returns whether the target stops a host access of PCI at once. */
static bool start_stopped(const struct ref *r, const struct ref_op *o)
{
	if (!r->s->pci || r->abort_)
		return false;
	if (o->load)
		return r->latched && r->answer_at > pcix_edge(r, r->k);
	return r->s->window && !r->places[o->dev];
}

static void start_pio(struct ref *r)
{
	const struct ref_script *s = r->s;
	const struct ref_op *o = pio_of(r);

	r->kind = o->load ? LOAD : STORE;
	r->dev = o->dev;
	r->abort_ = o->dev >= s->devices;
	r->left = s->pci ? s->t_park : s->t_arb;
	if (start_stopped(r, o)) {
		r->phase = TAIL;
		r->tail = STOPPED;
		r->left += s->t_ph + s->t_end;
	} else if (r->kind == STORE && !r->abort_) {
		uint32_t n = pio_beats(r, o->addr, o->bytes);

		r->phase = TAIL;
		if (s->pci)
			r->left += s->t_ph + (o->tagged ? s->t_tag : 0) + n;
		else
			r->left = n == 1 ? s->t_pio1 : s->t_piob + n;
	}
}

static void start(struct ref *r, uint32_t m)
{
	r->last = m;
	r->grant = r->k;
	r->phase = ARB;
	r->tail = OVER;
	r->abort_ = r->part_timer = false;
	r->done_bytes = r->part = 0;
	if (m == 0) {
		start_pio(r);
	} else if (m == 1) {
		r->kind = COMPLETION;
		r->dev = r->fifo[0].dev;
		r->left = r->s->t_gap;
		r->chunk = pcix_least(r->rd[r->dev].seq, r->s->sc_chunk);
	} else {
		r->dev = m / 2 - 1;
		r->kind = m % 2 ? READ : WRITE;
		start_stream(r, m % 2 ? &r->rd[r->dev] : &r->wr[r->dev],
			     r->kind == WRITE);
	}
}

static void arbitrate(struct ref *r)
{
	uint32_t n = 2 + 2 * r->s->devices;

	for (uint32_t i = 1; i <= n; i++)
		if (asks(r, (r->last + i) % n)) {
			start(r, (r->last + i) % n);
			return;
		}
}

/* ---- phases ---- */

static void read_over(struct ref *r)
{
	struct stream *st = &r->rd[r->dev];
	struct ref_note *n = pcix_tell(r, 1 + r->dev, WEFT_NOTE_SPLIT, r->k);

	n->offset = st->moved;
	n->bytes = r->chunk;
	st->splits++;
	st->seq = r->chunk;
	r->fifo[r->n_fifo++] = (struct bridge_read){
		r->dev, r->k + r->s->t_split - r->s->t_gap - r->s->t_ph
	};
	r->phase = FREE;
}

/* PCI: the bridge accepts a read and gets its bytes from memory. */
static void read_latch(struct ref *r)
{
	struct stream *st = &r->rd[r->dev];
	struct ref_note *n;
	uint64_t k = r->k + 1;

	while (pcix_edge(r, k) < r->commit ||
	       pcix_edge(r, k) < pcix_edge(r, r->k) + r->s->t_mem)
		k++;
	st->seq = r->chunk;
	st->fetched = k;
	n = pcix_tell(r, 0, WEFT_NOTE_MEM_READ, k);
	n->addr = pcix_op_of(st)->addr + st->moved;
	n->bytes = r->chunk;
}

static void read_phases_over(struct ref *r)
{
	struct stream *st = &r->rd[r->dev];
	struct ref_note *n;

	r->asked = r->k;
	if (!st->seq)
		read_latch(r);
	r->phase = WAIT;
	if (st->fetched <= r->k || r->s->wait)
		return;
	n = pcix_tell(r, 1 + r->dev, WEFT_NOTE_SPLIT, r->k);
	n->offset = st->moved;
	n->bytes = st->seq;
	st->splits++;
	r->phase = TAIL;
	r->tail = STOPPED;
	r->left = r->s->t_end;
}

/* Notifies a device of an access of the host. */
static void dev_tell(struct ref *r, enum weft_note_kind kind, weft_time_t more)
{
	const struct ref_op *o = pio_of(r);
	struct ref_note *n = pcix_tell(r, 1 + r->dev, kind, r->k);

	n->time += more;
	n->addr = o->addr;
	n->bytes = o->bytes;
	if (o->tagged) {
		n->kind = WEFT_NOTE_TAGGED;
		n->offset = o->tagged;
	}
	if (kind == WEFT_NOTE_STORE)
		r->stored = n->time;
	if (kind == WEFT_NOTE_STORE && r->s->window) {
		r->places[r->dev]--;
		r->taken[r->n_taken].dev = r->dev;
		r->taken[r->n_taken++].at = n->time + o->takes;
	}
}

static void loaded_tell(struct ref *r)
{
	const struct ref_op *o = pio_of(r);
	struct ref_note *n = pcix_tell(r, 0, WEFT_NOTE_LOADED, r->k);

	n->addr = o->addr;
	n->bytes = o->bytes;
	n->time += r->s->h_rd_in;
	if (n->time < r->commit)
		n->time = r->commit;
	if (o->tagged) {
		n->kind = WEFT_NOTE_ANSWERED;
		n->last = r->latched && o->addr / 4096 % 2;
	}
	r->pio_at = n->time;
	r->latched = false;
}

static void pio_over(struct ref *r)
{
	const struct ref_op *o = pio_of(r);
	struct ref_note *n;

	if (r->kind == STORE) {
		if (!r->abort_)
			dev_tell(r, WEFT_NOTE_STORE, r->s->h_wr_in);
		n = pcix_tell(r, 0, WEFT_NOTE_STORED, r->k);
		n->addr = o->addr;
		n->bytes = o->bytes;
		r->stores_held--;
	} else {
		loaded_tell(r);
	}
	r->pio_done++;
	r->phase = FREE;
}

static void stopped(struct ref *r)
{
	r->phase = FREE;
	if (r->kind == READ) {
		r->rd[r->dev].asking = true;
		r->rd[r->dev].hold = r->k + r->s->t_retry;
	} else {
		r->pio_ready[r->pio_done] = r->k + r->s->t_retry;
	}
}

static void tail_over(struct ref *r)
{
	if (r->tail == STOPPED) {
		stopped(r);
	} else if (r->tail == IDLE) {
		r->phase = FREE;
	} else if (r->kind == WRITE || r->kind == READ) {
		struct stream *st = pcix_data_stream(r);

		r->phase = FREE;
		pcix_stream_done(r, st, r->kind == WRITE,
				 WEFT_BUS_MASTER_ABORT);
	} else {
		pio_over(r);
	}
}

/* Handles the edge at which the countdown of a phase has ended. */
static void phase_over(struct ref *r)
{
	const struct ref_op *o;

	if (r->phase == TAIL) {
		tail_over(r);
		return;
	}
	if (r->phase == ARB) {
		r->frame = r->k;
		r->phase = PHASES;
		r->left = r->s->t_ph;
		if (r->kind == WRITE || r->kind == READ) {
			o = pcix_op_of(pcix_data_stream(r));
			if ((o->addr + pcix_data_stream(r)->moved) >> 32)
				r->left += r->s->t_dac;
		} else if (r->s->pci && r->kind == LOAD && !r->abort_) {
			o = pio_of(r);
			r->left += o->tagged ? r->s->t_tag : 0;
			if (o->tagged == 1 + WEFT_TCSTORE)
				r->left += pio_beats(r, 0, 8) +
					   pio_beats(r, o->addr, o->bytes);
		}
		return;
	}
	if (r->abort_) {
		r->phase = TAIL;
		r->left = r->s->t_abort;
	} else if (r->kind == READ && r->s->pci) {
		read_phases_over(r);
	} else if (r->kind == READ) {
		read_over(r);
	} else if (r->kind == LOAD && pcix_edge(r, r->k) < r->stored) {
		/* waits a clock, because the load must not pass a store */
		r->left = 1;
	} else if (r->kind == LOAD) {
		o = pio_of(r);
		if (!r->latched) {
			dev_tell(r, WEFT_NOTE_LOAD, 0);
			r->answer_at = pcix_edge(r, r->k) + o->takes;
		}
		r->latched = true;
		r->asked = r->k;
		r->phase = WAIT;
	} else {
		pcix_data_begin(r);
	}
}

/* PCI: returns true if a wait ends at this edge. A load waits for its device,
 * a read for the data of the bridge. */
static bool wait_over(struct ref *r)
{
	const struct ref_script *s = r->s;
	const struct ref_op *o = pio_of(r);
	bool cond = o->tagged == 1 + WEFT_TCSTORE;

	if (r->kind == READ) {
		if (r->k < r->asked + s->t_turn || r->k < r->rd[r->dev].fetched)
			return false;
		pcix_data_begin(r);
		return true;
	}
	if (r->k < r->asked + (cond ? 0 : s->t_turn) + s->t_read)
		return false;
	r->left = s->t_end;
	if (r->answer_at <= pcix_edge(r, r->k - 1) || !o->takes) {
		r->phase = TAIL;
		r->left += cond ? 0 : pio_beats(r, o->addr, o->bytes);
		return true;
	}
	if (r->k < r->grant + s->t_park + s->t_initial)
		return false;
	r->phase = TAIL;
	r->tail = STOPPED;
	return true;
}

static void places_back(struct ref *r)
{
	for (uint32_t i = 0; i < r->n_taken; i++)
		if (r->taken[i].at <= pcix_edge(r, r->k)) {
			r->places[r->taken[i].dev]++;
			r->taken[i--] = r->taken[--r->n_taken];
		}
}

static void step(struct ref *r)
{
	if (r->k)
		host_acts(r, pcix_edge(r, r->k) - 1);
	/* ends the phases that are over at this edge */
	while (r->phase != FREE) {
		if (r->phase == DATA) {
			if (!pcix_data_over(r))
				break;
		} else if (r->phase == WAIT) {
			if (!wait_over(r))
				break;
		} else {
			if (r->left)
				break;
			phase_over(r);
		}
	}
	host_acts(r, pcix_edge(r, r->k));
	places_back(r);
	for (uint32_t i = 0; i < r->s->devices; i++) {
		stream_submit(r, &r->wr[i]);
		stream_submit(r, &r->rd[i]);
	}
	if (r->phase == FREE)
		arbitrate(r);
	if (r->phase == FREE)
		return;
	r->log->busy++;
	if (r->phase == DATA)
		pcix_beat(r);
	else if (r->phase != WAIT)
		r->left--;
}

static bool finished(const struct ref *r)
{
	if (r->phase != FREE || r->pio_done < r->s->pio.n)
		return false;
	for (uint32_t i = 0; i < r->s->devices; i++)
		if (r->wr[i].next < r->wr[i].list->n ||
		    r->rd[i].next < r->rd[i].list->n)
			return false;
	return true;
}

void ref_pcix_run(const struct ref_script *s, struct ref_log *log)
{
	struct ref *r = calloc(1, sizeof(*r));

	assert(r);
	r->s = s;
	r->log = log;
	r->last = 1 + 2 * s->devices;
	log->n = 0;
	log->busy = 0;
	for (uint32_t i = 0; i < s->devices; i++) {
		r->wr[i].list = &s->wr[i];
		r->rd[i].list = &s->rd[i];
		r->places[i] = s->window;
	}
	for (r->k = 0; !finished(r); r->k++)
		step(r);
	free(r);
}
