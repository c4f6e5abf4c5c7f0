/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL in software: the VI's own memory and thread, its connection,
 * and the user's descriptors, see vipl_rel.h. */
#include "ulib/vipl_rel.h"

#include <stddef.h>
#include <string.h>

/* ---- the user's descriptors ------------------------------------------------
 */

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

/* What the card's table says of [at, at + n) (3.6). */
static bool region_ok(const struct vipl_vi *v, VIP_MEM_HANDLE handle,
		      uint64_t at, uint64_t n)
{
	uint64_t va, len;
	uint32_t ptag;

	return hvia_region(v->nic->client, handle, &va, &len, &ptag) &&
	       ptag == v->k->attr.ptag && at >= va && at - va <= len &&
	       n <= len - (at - va);
}

/* More segments than the descriptor's region holds are none. */
static uint64_t desc_bytes(const VIP_DESCRIPTOR *d)
{
	uint32_t n = d->CS.SegCount <= HVIA_SEGMENTS ? d->CS.SegCount : 0;

	return n <= 2 ? 64 : HVIA_DESC_CONTROL + (uint64_t)n * HVIA_SEGMENT;
}

bool rel_reach(struct vipl_rel *r, uint32_t dir, const VIP_DESCRIPTOR *d,
	       VIP_MEM_HANDLE handle)
{
	uint64_t at = (uintptr_t)d;
	struct hvia_fail_arg f = { .vi = r->v->vi,
				   .code = HVIA_ERROR_POST_DESC,
				   .queue = dir,
				   .token = vipl_token(r->v->nic, d, handle),
				   .end = true };

	if (at % HVIA_DESC_ALIGN == 0 && region_ok(r->v, handle, at, 64) &&
	    region_ok(r->v, handle, at, desc_bytes(d)))
		return true;
	vipl_call(r->v->nic, HVIA_CALL_FAIL, &f);
	return false;
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

static void tell_user(struct vipl_rel *r)
{
	struct hvia_client *c = r->v->nic->client;

	c->event++;
	weft_host_wake(weft_host_self(), &c->event);
}

void rel_complete(struct vipl_rel *r, VIP_DESCRIPTOR *d, uint32_t length,
		  uint32_t status)
{
	bool in = d == r->in;

	r->posted[in ? HVIA_Q_RECV : HVIA_Q_SEND]--;
	if (!(status & VIP_STATUS_OP_MASK))
		status |= vipl_status_op(d, in ? HVIA_Q_RECV : HVIA_Q_SEND);
	d->CS.Length = length;
	d->CS.Status = status | VIP_STATUS_DONE;
	if (r->v->q[in ? HVIA_Q_RECV : HVIA_Q_SEND].cq)
		vipl_cq_collect(r->v->q[in ? HVIA_Q_RECV : HVIA_Q_SEND].cq);
	tell_user(r);
}

void rel_fail(struct vipl_rel *r, uint32_t code, bool end)
{
	struct hvia_fail_arg f = { .vi = r->v->vi, .code = code, .end = end };

	vipl_call(r->v->nic, HVIA_CALL_FAIL, &f);
}

/* ---- the card --------------------------------------------------------------
 */

static void raw_sent(struct vipl_rel *r)
{
	while (vipl_queue_done(&r->raw[HVIA_Q_SEND]))
		vipl_queue_take(&r->raw[HVIA_Q_SEND]);
}

/* A slot is free as soon as the card is done with it: it may have to leave the
 * queue first. */
void rel_post(struct vipl_rel *r, uint32_t dir, struct rel_slot *s,
	      uint32_t bytes)
{
	VIP_DESCRIPTOR *d = &s->desc;

	raw_sent(r);
	memset(d, 0, sizeof(*d));
	if (r->v->k->state == HVIA_VI_ERROR)
		return; /* nothing goes any more: the slot is free */
	d->CS.SegCount = 1;
	d->CS.Length = bytes;
	d->DS[0].Local.Data.Address = &s->head;
	d->DS[0].Local.Handle = r->handle;
	d->DS[0].Local.Length = bytes;
	weft_host_cpu(weft_host_self(), VIPL_POST);
	vipl_queue_link(&r->raw[dir], d, r->handle);
	vipl_ring(weft_host_self(), r->v, dir, d, r->handle);
}

uint32_t rel_data(const struct vipl_rel *r)
{
	return rel_payload(r->v->k->payload) -
	       (uint32_t)sizeof(struct rel_head);
}

static int engine(struct weft_host *h, void *arg)
{
	struct vipl_rel *r = arg;
	struct vipl_nic *n = r->v->nic;

	while (!r->stop) {
		struct vipl_queue *q[2] = { &r->raw[0], &r->raw[1] };
		uint32_t seen = n->client->event;

		raw_sent(r);
		rel_receive(r);
		rel_send(r);
		if (seen != n->client->event)
			continue;
		vipl_sleep(n, q, 2, seen,
			   r->base != r->seq ? r->again : WEFT_NEVER);
	}
	weft_host_free(h, r->slots);
	weft_host_free(h, r);
	return 0;
}

/* ---- life ------------------------------------------------------------------
 */

static VIP_RETURN rel_memory(struct vipl_rel *r)
{
	struct vipl_vi *v = r->v;
	VIP_MEM_ATTRIBUTES a = {
		.Ptag = (VIP_PROTECTION_HANDLE)(uintptr_t)v->k->attr.ptag
	};
	size_t bytes = sizeof(VIP_DESCRIPTOR) + rel_payload(v->nic->payload);

	r->stride = (bytes + HVIA_DESC_ALIGN - 1) & ~(HVIA_DESC_ALIGN - 1ul);
	bytes = REL_SLOTS * r->stride;
	r->slots = weft_host_align(weft_host_self(), HVIA_PAGE, bytes);
	if (!r->slots)
		return VIP_ERROR_RESOURCE;
	return VipRegisterMem(v->nic, r->slots, bytes, &a, &r->handle);
}

VIP_RETURN vipl_rel_new(struct vipl_vi *v)
{
	struct weft_host *h = weft_host_self();
	struct vipl_rel *r = weft_host_calloc(h, 1, sizeof(*r));

	if (!r)
		return VIP_ERROR_RESOURCE;
	r->v = v;
	for (uint32_t i = 0; i < 2; i++)
		r->raw[i] =
			(struct vipl_queue){ .vi = v, .dir = i, .raw = true };
	if (rel_memory(r) != VIP_SUCCESS) {
		weft_host_free(h, r);
		return VIP_ERROR_RESOURCE;
	}
	v->rel = r;
	weft_thread_start(h, engine, r);
	return VIP_SUCCESS;
}

/* The thread sees it and goes. */
void vipl_rel_free(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;

	VipDeregisterMem(v->nic, r->slots, r->handle);
	r->stop = true;
	tell_user(r);
}

/* Before a connection is asked for or accepted: receives are there. */
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
	tell_user(r); /* its thread sleeps for them from now on */
}

/* Too many at a time, or one that the card could not fetch (2.3). */
static bool post_wrong(struct vipl_rel *r, uint32_t dir,
		       const VIP_DESCRIPTOR *d, VIP_MEM_HANDLE handle)
{
	struct hvia_fail_arg f = { .vi = r->v->vi,
				   .code = HVIA_ERROR_VI_OVERRUN,
				   .queue = dir,
				   .end = true };

	if (!rel_reach(r, dir, d, handle))
		return true;
	if (r->posted[dir]++ < HVIA_QUEUE_MAX)
		return false;
	vipl_call(r->v->nic, HVIA_CALL_FAIL, &f);
	return true;
}

/* A queue's newest descriptor has just been linked. */
void vipl_rel_posted(struct vipl_vi *v, uint32_t dir, VIP_MEM_HANDLE handle)
{
	struct vipl_rel *r = v->rel;
	VIP_DESCRIPTOR *d = v->q[dir].tail;

	if (v->k->state == HVIA_VI_ERROR ||
	    (dir == HVIA_Q_SEND && v->k->state != HVIA_VI_CONNECTED)) {
		d->CS.Status = vipl_status_op(d, dir) | VIP_STATUS_DONE |
			       VIP_STATUS_DESC_FLUSHED_ERROR;
		return;
	}
	if (post_wrong(r, dir, d, handle))
		return;
	if (dir == HVIA_Q_SEND && !r->out) {
		r->out = d;
		r->out_handle = handle;
		r->out_at = 0;
	} else if (dir == HVIA_Q_RECV && !r->in) {
		r->in = d;
		r->in_handle = handle;
		r->in_at = 0;
	}
	if (dir == HVIA_Q_SEND)
		tell_user(r);
}

/* After the card has flushed everything. */
void vipl_rel_ended(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;

	r->out = r->in = NULL;
	r->posted[0] = r->posted[1] = 0;
	r->base = r->seq;
	r->filled = false;
	for (uint32_t i = 0; i < 2; i++) {
		vipl_queue_flush(&r->raw[i]);
		while (r->raw[i].n)
			vipl_queue_take(&r->raw[i]);
	}
}
