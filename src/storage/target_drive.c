/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: queues of requests to the drive.
 *
 * The target divides a READ into pieces. It submits each piece to the drive
 * with a chunk of the pool, so that data leave while the drive reads the next
 * pieces. READs wait for chunks in the order of their arrival. Other requests
 * do not wait for a READ that lacks chunks. */
#include "base/minmax.h"
#include "storage/target_internal.h"

uint32_t target_crc(struct storage_target *t, uint32_t crc, const void *p,
		    size_t n)
{
	weft_host_cpu(t->h, n * weft_host_time(t->h, T_disk_crc) / 1024);
	return storage_crc(crc, p, n);
}

/* ---- queues ---- */

void target_queue(struct storage_target *t, struct slot *sl)
{
	struct slots *q = sl->rec.code == STORAGE_READ ? &t->reads : &t->others;

	sl->state = SLOT_QUEUE;
	sl->next = NULL;
	*q->tail = sl;
	q->tail = &sl->next;
}

static void slots_pop(struct slots *q)
{
	q->head = q->head->next;
	if (!q->head)
		q->tail = &q->head;
}

/* Removes `one` from a queue, or all slots of a session if `one` is NULL. */
static void slots_drop(struct slots *q, const struct session *se,
		       const struct slot *one)
{
	struct slot **at = &q->head;

	while (*at) {
		if (one ? *at == one : (*at)->work.session == se)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
	q->tail = at;
}

void target_unqueue(struct storage_target *t, struct session *se)
{
	slots_drop(&t->reads, se, NULL);
	slots_drop(&t->others, se, NULL);
}

/* ---- chunks ---- */

void target_chunk_free(struct storage_target *t, struct chunk *c)
{
	c->in_drive = false;
	c->next = t->free;
	t->free = c;
}

void target_chunks_drop(struct storage_target *t, struct session *se,
			struct slot *sl)
{
	while (sl->chunks.head) {
		struct chunk *c = chunks_pop(&sl->chunks);

		if (c->in_drive) {
			c->work.slot = NULL; /* the chunk is freed when the
					      * drive ends its read */
		} else if (c->put_at) {
			c->ticket = t->link->ops->started(t->link, se->node);
			chunks_push(&se->departing, c);
		} else {
			target_chunk_free(t, c);
		}
	}
}

void target_drive_drop(struct storage_target *t)
{
	for (uint32_t i = 0; i < t->nodes; i++) {
		struct session *se = &t->session[i];

		target_unqueue(t, se);
		for (uint32_t k = 0; se->slot && k < STORAGE_DEPTH; k++)
			target_chunks_drop(t, se, &se->slot[k]);
		se->in_drive = 0;
	}
	for (uint32_t i = 0; i < t->chunks; i++)
		if (t->chunk[i].in_drive)
			target_chunk_free(t, &t->chunk[i]);
}

/* ---- to the drive ---- */

/* Submits the next piece of the first READ to the drive. Returns false if no
 * READ waits, no chunk is free, or the drive's queue is full. */
static bool read_submit(struct storage_target *t)
{
	struct slot *sl = t->reads.head;
	struct chunk *c = t->free;
	struct drive_request r = { .code = DRIVE_READ };
	struct session *se;

	if (!sl || !c)
		return false;
	se = sl->work.session;
	r.offset = sl->rec.offset + sl->asked;
	r.length = min_of((uint64_t)t->attr.piece, sl->rec.length - sl->asked);
	r.data = c->p;
	r.ctx = &c->work;
	if (!drive_submit(t->drive, t->now, &r))
		return false;
	t->free = c->next;
	c->work = (struct work){ se, sl, c };
	c->len = (uint32_t)r.length;
	c->put_at = 0;
	c->in_drive = true;
	c->summed = false;
	chunks_push(&sl->chunks, c);
	sl->asked += r.length;
	sl->state = SLOT_DRIVE;
	se->in_drive++;
	if (sl->asked == sl->rec.length)
		slots_pop(&t->reads);
	return true;
}

static bool other_submit(struct storage_target *t)
{
	static const enum drive_code code[] = {
		[STORAGE_WRITE] = DRIVE_WRITE,
		[STORAGE_FLUSH] = DRIVE_FLUSH,
		[STORAGE_TRIM] = DRIVE_TRIM,
		[STORAGE_ZERO] = DRIVE_ZERO,
	};
	struct slot *sl = t->others.head;
	struct drive_request r;
	struct session *se;

	if (!sl)
		return false;
	se = sl->work.session;
	r = (struct drive_request){ .code = code[sl->rec.code],
				    .fua = sl->rec.flags & STORAGE_FUA,
				    .ctx = &sl->work };
	if (r.code != DRIVE_FLUSH) {
		r.offset = sl->rec.offset;
		r.length = sl->rec.length;
	}
	if (r.code == DRIVE_WRITE)
		r.data = se->staging + sl->rec.stage;
	if (!drive_submit(t->drive, t->now, &r))
		return false;
	sl->state = SLOT_DRIVE;
	se->in_drive++;
	slots_pop(&t->others);
	return true;
}

/* ---- from the drive ---- */

void target_read_stop(struct storage_target *t, struct slot *sl, int status)
{
	if (!sl->status)
		sl->status = status;
	if (sl->asked == sl->rec.length)
		return;
	slots_drop(&t->reads, NULL, sl);
	sl->asked = sl->rec.length;
}

static void read_ended(struct storage_target *t, const struct work *w,
		       int status)
{
	struct slot *sl = w->slot;

	w->chunk->in_drive = false;
	if (!sl) { /* the session of the READ has ended */
		target_chunk_free(t, w->chunk);
		return;
	}
	if (status)
		target_read_stop(t, sl, status);
	target_out(w->session, sl);
}

static void drive_ended(struct storage_target *t, const struct drive_end *e)
{
	const struct work *w = e->ctx;

	w->session->in_drive--;
	if (w->chunk)
		read_ended(t, w, e->status);
	else if (w->slot->state == SLOT_DRIVE)
		target_answer(w->session, w->slot, e->status);
}

void target_drive(struct storage_target *t)
{
	weft_time_t cost = weft_host_time(t->h, T_disk_part);
	struct drive_end e;
	bool more = true;

	while (drive_poll(t->drive, t->now, &e)) {
		weft_host_cpu(t->h, cost);
		drive_ended(t, &e);
	}
	/* Submits a READ and another request in turn. Neither kind may fill the
	 * drive while the other kind waits. */
	while (more) {
		more = read_submit(t);
		more |= other_submit(t);
		if (more)
			weft_host_cpu(t->h, cost);
	}
}
