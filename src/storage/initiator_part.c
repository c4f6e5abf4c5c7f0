/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: parts of requests, from the allocation of a tag to the end of
 * the part.
 *
 * The first try of a WRITE, and the try after AGAIN, sends data before the
 * record. The target sends the data of a READ in answer to the first try, and
 * to a try that is FRESH. All other tries send the record alone. They do not
 * repeat the data of a WRITE, because the target may be writing the staging to
 * the drive, and a damaged repetition would reach the drive. They do not
 * request the data of a READ, because the data of an earlier try may still
 * arrive. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

uint32_t disk_part_crc(struct weft_disk *d, const struct part *p)
{
	uint32_t crc = 0;

	for (uint32_t i = 0; i < p->pieces; i++)
		crc = storage_crc(crc, p->piece[i].p, p->piece[i].len);
	weft_host_cpu(d->h,
		      p->length * weft_host_time(d->h, T_disk_crc) / 1024);
	return crc;
}

/* ---- tags ---- */

struct part *disk_part_new(struct weft_disk *d, struct store *s,
			   struct request *r)
{
	struct part *p = &s->part[s->free[s->free_head]];
	bool queued = p->queued;
	struct part *next = p->next;
	uint32_t seq = p->seq + 1;

	s->free_head = (s->free_head + 1) % d->attr.depth;
	s->free_n--;
	*p = (struct part){ .request = r,
			    .state = PART_SEND,
			    .queued = queued,
			    .next = next,
			    .seq = seq,
			    .tries = 1,
			    .patience = d->attr.timeout };
	p->deadline = d->now + p->patience;
	d->timer = min_of(d->timer, p->deadline);
	r->parts++;
	return p;
}

void disk_part_free(struct weft_disk *d, struct store *s, struct part *p)
{
	for (uint32_t i = 0; i < p->pieces; i++)
		if (p->piece[i].region)
			p->piece[i].region->users--;
	if (p->bounce.n)
		pages_put(&d->bounce_pages, &p->bounce);
	if (p->stage.n)
		pages_put(&s->pages, &p->stage);
	p->pieces = 0;
	p->state = PART_FREE;
	s->free[(s->free_head + s->free_n++) % d->attr.depth] =
		(uint8_t)(p - s->part);
	d->room = true;
}

/* ---- ends ---- */

/* Counts the writes that a FLUSH has to cover. Returns the status of the part.
 * After a loss every FLUSH ends with -ESTALE until the user has received an
 * event with -ESTALE, because each of these FLUSHes covers the lost writes. */
static int end_account(struct weft_disk *d, struct store *s, struct part *p,
		       int status)
{
	bool writes = p->code == STORAGE_WRITE || p->code == STORAGE_TRIM ||
		      p->code == STORAGE_ZERO;
	uint64_t bit = (uint64_t)1 << (s - d->store);

	if (writes && !status && !(p->flags & STORAGE_FUA)) {
		s->ended++;
		p->request->cached |= bit;
	}
	if (p->code != STORAGE_FLUSH || status)
		return status;
	s->covered = max_of(s->covered, p->covers);
	if (!s->loss)
		return 0;
	p->request->lost |= bit;
	p->request->losses = d->losses;
	return -ESTALE;
}

/* Records the end of a part in its request. */
static void request_part_ended(struct weft_disk *d, struct store *s,
			       struct part *p, int status)
{
	struct request *r = p->request;

	status = end_account(d, s, p, status);
	if (!r->status || status == -ESTALE)
		r->status = status;
	r->parts--;
	p->request = NULL;
	disk_request_check(d, r);
}

/* Returns true if the target may still write to memory of the user. */
static bool part_exposed(const struct part *p)
{
	return p->code == STORAGE_READ && !p->bounce.n;
}

void disk_part_end(struct weft_disk *d, struct store *s, struct part *p,
		   int status)
{
	bool alive = status == -ETIMEDOUT && p->sent;

	s->lands -= p->state == PART_LAND;
	if (!alive) {
		request_part_ended(d, s, p, status);
		disk_part_free(d, s, p);
		return;
	}
	/* The target may still serve the part. It begins the next session only
	 * when it does not serve the part any more. */
	p->state = PART_DEAD;
	if (s->state == STORE_UP)
		disk_login(d, s);
	if (!part_exposed(p) || disk_silent(d, s))
		request_part_ended(d, s, p, status);
}

void disk_dead_end(struct weft_disk *d, struct store *s, bool free)
{
	for (uint32_t i = 0; i < d->attr.depth; i++) {
		struct part *p = &s->part[i];

		if (p->state != PART_DEAD)
			continue;
		if (p->request)
			request_part_ended(d, s, p, -ETIMEDOUT);
		if (free)
			disk_part_free(d, s, p);
	}
}

void disk_part_again(struct weft_disk *d, struct store *s, struct part *p,
		     int status)
{
	if (p->tries >= d->attr.tries) {
		disk_part_end(d, s, p, status);
		return;
	}
	/* An ordered link may lose data. Without a CRC the initiator cannot
	 * detect the loss. Therefore each try of a READ requests the data
	 * again. */
	if (status == -EBADMSG || (p->code == STORAGE_READ &&
				   d->link->info.ordered && !d->attr.check)) {
		p->data_due = true;
		p->put_at = 0;
		p->fresh = p->code == STORAGE_READ;
	}
	s->lands -= p->state == PART_LAND;
	p->tries++;
	p->state = PART_SEND;
	p->deadline = d->now + p->patience;
	d->timer = min_of(d->timer, p->deadline);
	disk_part_queue(s, p);
}

static void part_expire(struct weft_disk *d, struct store *s, struct part *p)
{
	/* The target has answered the request. Only the NIC of this node has
	 * not reported the end of the part's transfers. The part does not wait
	 * longer for this report. */
	if (p->state == PART_LAND && p->code != STORAGE_READ) {
		disk_part_end(d, s, p, p->status);
		return;
	}
	d->stats.retries += p->state != PART_SEND && p->tries < d->attr.tries;
	p->patience *= 2;
	disk_part_again(d, s, p, -ETIMEDOUT);
}

void disk_expire(struct weft_disk *d)
{
	d->timer = WEFT_NEVER;
	for (uint32_t i = 0; i < d->info.targets; i++) {
		struct store *s = &d->store[i];

		for (uint32_t k = 0; k < d->attr.depth; k++) {
			struct part *p = &s->part[k];
			bool waits =
				p->state != PART_FREE && p->state != PART_DEAD;

			if (waits && p->deadline <= d->now)
				part_expire(d, s, p);
			if (p->state != PART_FREE && p->state != PART_DEAD)
				d->timer = min_of(d->timer, p->deadline);
		}
	}
}

/* ---- sending ---- */

void disk_part_queue(struct store *s, struct part *p)
{
	if (p->queued)
		return;
	p->queued = true;
	p->next = NULL;
	*s->send_tail = p;
	s->send_tail = &p->next;
}

/* Puts the data of a WRITE. Returns false if the link has no room. */
static bool data_send(struct weft_disk *d, struct store *s, struct part *p)
{
	uint64_t to = s->stage + (uint64_t)p->stage.first * STORAGE_PAGE;
	const struct storage_link_ops *ops = d->link->ops;
	uint32_t i = 0, at = p->put_at;

	while (i < p->pieces && at >= p->piece[i].len)
		at -= p->piece[i++].len;
	for (; i < p->pieces; i++, at = 0) {
		const struct piece *b = &p->piece[i];

		while (at < b->len) {
			uint32_t n = min_of(b->len - at, d->link->info.max_put);
			int ret =
				ops->put(d->link, s->node, b->p + at, n,
					 to + p->put_at, s->stage_key, p->mark);

			if (ret == -EAGAIN)
				return false;
			/* A put that the link refuses counts as lost. */
			p->puts += !ret;
			at += n;
			p->put_at += n;
		}
	}
	p->ticket = ops->started(d->link, s->node);
	return true;
}

static void record_make(const struct store *s, const struct part *p,
			struct storage_record *r)
{
	*r = (struct storage_record){ .epoch = s->epoch,
				      .seq = p->seq,
				      .tag = (uint16_t)(p - s->part),
				      .attempt = (uint16_t)(p->attempt + 1),
				      .code = p->code,
				      .flags = p->flags |
					       (p->fresh ? STORAGE_FRESH : 0),
				      .offset = p->offset,
				      .length = p->length };
	if (p->code == STORAGE_WRITE) {
		r->data_crc = p->crc;
		r->puts = p->puts;
		r->stage = (uint64_t)p->stage.first * STORAGE_PAGE;
	}
	if (p->code != STORAGE_READ)
		return;
	r->segs = (uint8_t)p->pieces;
	for (uint32_t i = 0; i < p->pieces; i++)
		r->seg[i] =
			(struct storage_seg){ p->piece[i].addr, p->piece[i].key,
					      p->piece[i].len, 0 };
}

static bool part_send(struct weft_disk *d, struct store *s, struct part *p)
{
	/* The last try keeps its deadline in a new session, so that a part ends
	 * even if its target begins sessions for ever. */
	bool keeps = !p->sent && p->attempt && p->tries >= d->attr.tries;
	struct storage_record rec;

	if (!p->sent) {
		p->sent = true;
		p->puts = p->landed = p->put_at = 0;
		p->data_due = true;
		p->fresh = false;
		p->mark =
			storage_mark((uint32_t)(p - s->part), s->epoch, p->seq);
	}
	if (p->code == STORAGE_WRITE && p->data_due && !data_send(d, s, p))
		return false;
	record_make(s, p, &rec);
	storage_record_seal(&rec);
	if (d->link->ops->record(d->link, s->node, rec.tag, &rec))
		return false;
	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_record));
	p->attempt++;
	if (p->data_due)
		p->data_attempt = p->attempt;
	/* FRESH is for this try only. If the next try were FRESH without need,
	 * the target would send the data again, and the repeated data could
	 * arrive after the answer to this attempt. */
	p->data_due = p->fresh = false;
	p->state = PART_SENT;
	if (!keeps)
		p->deadline = d->now + p->patience;
	d->timer = min_of(d->timer, p->deadline);
	return true;
}

void disk_send(struct weft_disk *d, struct store *s)
{
	struct part *p;

	while (s->state == STORE_UP && (p = s->send)) {
		if (p->state == PART_SEND && !part_send(d, s, p)) {
			d->stuck = true;
			return;
		}
		p->queued = false;
		s->send = p->next;
		if (!s->send)
			s->send_tail = &s->send;
	}
}
