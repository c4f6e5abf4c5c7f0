/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL in software: the VI's own memory and thread, its connection,
 * and the user's descriptors, see vipl_reliable.h. */
#include "systems/hvia/lib/vipl_reliable.h"

#include <stddef.h>
#include <string.h>

#include "host/times.h"

/* ---- the user's descriptors ---- */

static uint32_t data_first(const VIP_DESCRIPTOR *d)
{
	return d->CS.Control & VIP_CONTROL_OP_RDMAWRITE ? 1 : 0;
}

uint8_t *rel_piece(const VIP_DESCRIPTOR *d, uint32_t at, uint32_t *n_p)
{
	for (uint32_t i = data_first(d); i < d->CS.SegCount; i++) {
		const VIP_DATA_SEGMENT *s = &d->DS[i].Local;

		if (at < s->Length) {
			*n_p = s->Length - at;
			return (uint8_t *)s->Data.Address + at;
		}
		at -= s->Length;
	}
	return NULL;
}

/* Reports an error of the VI. Reports nothing for a destroyed VI, because its
 * number may belong to another VI. */
static void rel_tell(struct vipl_rel *r, struct hvia_fail_arg *f)
{
	if (!r->stop)
		vipl_call(r->v->nic, HVIA_CALL_FAIL, f);
}

/* Returns true if the card's table allows access to [at, at + n) (hvia.md
 * 3.6). */
static bool region_ok(const struct vipl_vi *v, VIP_MEM_HANDLE handle,
		      uint64_t at, uint64_t n)
{
	uint64_t va, len;
	uint32_t ptag;

	return hvia_region(v->nic->client, handle, &va, &len, &ptag) &&
	       ptag == v->k->attr.ptag && at >= va && at - va <= len &&
	       n <= len - (at - va);
}

/* Returns the length of a descriptor in bytes. An impossible number of segments
 * counts as 0. */
static uint64_t desc_bytes(const VIP_DESCRIPTOR *d)
{
	uint32_t n = d->CS.SegCount <= HVIA_SEGMENTS ? d->CS.SegCount : 0;

	return n <= 2 ? 64 : HVIA_DESC_CONTROL + (uint64_t)n * HVIA_SEGMENT;
}

/* Returns true if the card could fetch descriptor `d`, which is the original or
 * its copy. Otherwise reports the error. */
static bool reliable_vi_reach(struct vipl_rel *r, uint32_t dir,
			      const struct vipl_posted *p,
			      const VIP_DESCRIPTOR *d)
{
	uint64_t at = (uintptr_t)p->d;
	struct hvia_fail_arg f = { .vi = r->v->vi,
				   .code = HVIA_ERROR_POST_DESC,
				   .queue = dir,
				   .token = vipl_token(r->v->nic, p->d,
						       p->handle),
				   .end = true };

	if (at % HVIA_DESC_ALIGN == 0 && region_ok(r->v, p->handle, at, 64) &&
	    region_ok(r->v, p->handle, at, desc_bytes(d)))
		return true;
	rel_tell(r, &f);
	return false;
}

struct vipl_posted *rel_current(struct vipl_rel *r, uint32_t dir)
{
	const struct vipl_queue *q = &r->v->q[dir];
	struct rel_msg *m = &r->msg[dir];
	struct vipl_posted *p;

	/* the program has already taken the descriptor */
	if (m->number < q->first) {
		m->number = q->first;
		m->begun = false;
	}
	while ((p = vipl_queue_at(q, m->number)) && !p->open)
		rel_next(r, dir);
	return p;
}

bool rel_begin(struct vipl_rel *r, uint32_t dir, const struct vipl_posted *p)
{
	struct rel_msg *m = &r->msg[dir];

	if (m->begun)
		return reliable_vi_reach(r, dir, p, m->d);
	if (!reliable_vi_reach(r, dir, p, p->d))
		return false;
	memcpy(m->d, p->d, desc_bytes(p->d));
	m->at = 0;
	m->begun = true;
	return true;
}

uint32_t rel_check(const struct vipl_vi *v, const VIP_DESCRIPTOR *d,
		   uint32_t dir)
{
	uint32_t op = d->CS.Control & VIP_CONTROL_OP_MASK;
	uint64_t sum = 0;

	if (op > (dir == HVIA_Q_SEND ? VIP_CONTROL_OP_RDMAWRITE : 0) ||
	    d->CS.Control & VIP_CONTROL_RESERVED || d->CS.Reserved ||
	    d->CS.SegCount > HVIA_SEGMENTS || d->CS.SegCount < data_first(d))
		return VIP_STATUS_FORMAT_ERROR;
	for (uint32_t i = data_first(d); i < d->CS.SegCount; i++) {
		const VIP_DATA_SEGMENT *g = &d->DS[i].Local;

		if (!region_ok(v, g->Handle, g->Data.AddressBits, g->Length))
			return VIP_STATUS_PROTECTION_ERROR;
		sum += g->Length;
	}
	if (dir == HVIA_Q_SEND && sum != d->CS.Length)
		return VIP_STATUS_FORMAT_ERROR;
	if (dir == HVIA_Q_SEND && sum > v->k->attr.max_transfer)
		return VIP_STATUS_LENGTH_ERROR;
	return 0;
}

void rel_complete(struct vipl_rel *r, uint32_t dir, struct vipl_posted *p,
		  uint32_t length, uint32_t status)
{
	struct vipl_queue *q = &r->v->q[dir];

	p->open = false;
	q->open--;
	if (!(status & VIP_STATUS_OP_MASK))
		status |= vipl_status_op(p->d, dir);
	p->d->CS.Length = length;
	p->d->CS.Status = status | VIP_STATUS_DONE;
	if (q->cq)
		vipl_cq_collect(q->cq);
	hvia_notify(weft_host_self(), &r->v->nic->client->event);
}

void rel_fail(struct vipl_rel *r, uint32_t code, bool end)
{
	struct hvia_fail_arg f = { .vi = r->v->vi, .code = code, .end = end };

	rel_tell(r, &f);
}

/* ---- the card ---- */

/* Posts a slot. First removes from the queue all slots that the card has sent,
 * because a slot is reused as soon as the card is done with it. */
void rel_post(struct vipl_rel *r, uint32_t dir, struct rel_slot *s,
	      uint32_t bytes)
{
	VIP_DESCRIPTOR *d = &s->desc;

	while (vipl_queue_done(&r->raw[HVIA_Q_SEND]))
		vipl_queue_take(&r->raw[HVIA_Q_SEND]);
	memset(d, 0, sizeof(*d));
	if (r->v->k->state == HVIA_VI_ERROR)
		/* the slot stays free, because no frame leaves in ERROR */
		return;
	d->CS.SegCount = 1;
	d->CS.Length = bytes;
	d->DS[0].Local.Data.Address = &s->head;
	d->DS[0].Local.Handle = r->handle;
	d->DS[0].Local.Length = bytes;
	weft_host_cpu(weft_host_self(),
		      weft_host_time(weft_host_self(), T_vipl_post));
	if (!vipl_queue_link(&r->raw[dir], d, r->handle)) {
		d->CS.SegCount = 0;
		return; /* the slot stays free, because memory is short */
	}
	vipl_ring(weft_host_self(), r->v, dir, d, r->handle);
}

static int reliable_vi_engine(struct weft_host *h, void *arg)
{
	struct vipl_rel *r = arg;
	struct vipl_nic *n = r->v->nic;

	while (!r->stop) {
		struct vipl_queue *q[2] = { &r->raw[0], &r->raw[1] };
		uint32_t seen = n->client->event;

		while (vipl_queue_done(&r->raw[HVIA_Q_SEND]))
			vipl_queue_take(&r->raw[HVIA_Q_SEND]);
		rel_receive(r);
		rel_send(r);
		if (seen != n->client->event)
			continue;
		vipl_sleep(n, q, 2, seen,
			   r->base != r->seq ? r->again : WEFT_NEVER);
	}
	for (uint32_t i = 0; i < 2; i++)
		weft_host_free(h, r->raw[i].ring);
	weft_host_free(h, r->slots);
	vipl_vi_drop(r->v);
	weft_host_free(h, r);
	return 0;
}

/* ---- set-up and end ---- */

VIP_RETURN vipl_rel_new(struct vipl_vi *v)
{
	struct weft_host *h = weft_host_self();
	struct vipl_rel *r = weft_host_calloc(h, 1, sizeof(*r));
	struct hvia_mem_arg m = { .client = v->nic->client,
				  .ptag = v->k->attr.ptag };
	size_t bytes = sizeof(VIP_DESCRIPTOR) + rel_payload(v->nic->payload);

	if (!r)
		return VIP_ERROR_RESOURCE;
	r->v = v;
	for (uint32_t i = 0; i < 2; i++)
		r->raw[i] = (struct vipl_queue){
			.vi = v, .dir = i, .first = 1, .raw = true
		};
	/* Window, acknowledgements and receives are one region, so that one
	 * registration is enough. */
	r->stride = (bytes + HVIA_DESC_ALIGN - 1) & ~(HVIA_DESC_ALIGN - 1ul);
	m.len = REL_SLOTS * r->stride;
	r->slots = weft_host_align(h, HVIA_PAGE, m.len + 2 * REL_DESC);
	for (uint32_t i = 0; r->slots && i < 2; i++)
		r->msg[i].d = (void *)(r->slots + m.len + i * REL_DESC);
	m.va = (uintptr_t)r->slots;
	if (!r->slots || vipl_call(v->nic, HVIA_CALL_REG, &m) != VIP_SUCCESS) {
		weft_host_free(h, r);
		return VIP_ERROR_RESOURCE;
	}
	r->handle = m.handle;
	v->rel = r;
	v->held++;
	weft_thread_start(h, reliable_vi_engine, r);
	return VIP_SUCCESS;
}

/* Deregisters the memory of the service and makes its thread end. The thread
 * frees the memory. */
void vipl_rel_free(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;

	struct hvia_mem_arg m = { .client = v->nic->client,
				  .va = (uintptr_t)r->slots,
				  .handle = r->handle };

	vipl_call(v->nic, HVIA_CALL_DEREG, &m);
	v->rel = NULL;
	r->stop = true;
	hvia_notify(weft_host_self(), &v->nic->client->event);
}

/* Posts receives before a connection is requested or accepted, so that the
 * first frame finds a receive. */
void vipl_rel_connected(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;

	if (v->k->state != HVIA_VI_IDLE || r->filled)
		return;
	r->seq = r->base = r->next = r->told = r->tries = r->error = 0;
	r->owe = false;
	r->filled = true;
	for (uint32_t i = 0; i < REL_RX; i++)
		rel_post(r, HVIA_Q_RECV, rel_slot(r, REL_WINDOW + REL_ACKS + i),
			 rel_payload(v->nic->payload));
	/* wakes the service's thread, which arms the new receives before it
	 * sleeps again */
	hvia_notify(weft_host_self(), &v->nic->client->event);
}

/* Accepts the newest descriptor of a queue, which the caller has just linked.
 * If the descriptor cannot be served, flushes it or reports an error. */
void vipl_rel_posted(struct vipl_vi *v, uint32_t dir)
{
	struct vipl_rel *r = v->rel;
	struct vipl_queue *q = &v->q[dir];
	struct vipl_posted *p = vipl_queue_at(q, q->first + q->n - 1);
	struct hvia_fail_arg overrun = { .vi = v->vi,
					 .code = HVIA_ERROR_VI_OVERRUN,
					 .queue = dir,
					 .end = true };

	if (v->k->state == HVIA_VI_ERROR ||
	    (dir == HVIA_Q_SEND && v->k->state != HVIA_VI_CONNECTED)) {
		p->d->CS.Status = vipl_status_op(p->d, dir) | VIP_STATUS_DONE |
				  VIP_STATUS_DESC_FLUSHED_ERROR;
		return;
	}
	if (!reliable_vi_reach(r, dir, p, p->d))
		return; /* the card could not fetch the descriptor (2.3) */
	if (q->open >= HVIA_QUEUE_MAX) {
		rel_tell(r, &overrun);
		return;
	}
	p->open = true;
	q->open++;
	if (dir == HVIA_Q_SEND)
		hvia_notify(weft_host_self(), &v->nic->client->event);
}

/* Resets the service after the card has flushed all descriptors. */
void vipl_rel_ended(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;

	r->base = r->seq;
	r->filled = false;
	for (uint32_t i = 0; i < 2; i++) {
		struct vipl_queue *q = &v->q[i];

		for (uint32_t k = 0; k < q->n; k++)
			vipl_queue_at(q, q->first + k)->open = false;
		q->open = 0;
		r->msg[i].number = q->first + q->n;
		r->msg[i].begun = false;
		vipl_queue_flush(&r->raw[i]);
		while (r->raw[i].n)
			vipl_queue_take(&r->raw[i]);
	}
}
