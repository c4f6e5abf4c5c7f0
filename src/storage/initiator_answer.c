/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: answers of targets.
 *
 * The initiator accepts an answer to the newest attempt that sent data or to a
 * later attempt. An answered part ends when no transfer needs its memory. On an
 * unordered link DONE contains the number of puts of a READ, and the part waits
 * until all of them have landed. The initiator checks every field of an answer,
 * because a target may be faulty. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

/* Returns a status that weft/disk.h knows. */
static int status_of(uint64_t value)
{
	static const int known[] = { 0, EIO, ENODEV, ENOSPC, EINVAL };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (value == (uint64_t)(int64_t)-known[i])
			return -known[i];
	return -EIO;
}

static void read_end(struct weft_disk *d, struct store *s, struct part *p)
{
	if (!p->status && p->flags & STORAGE_CHECK &&
	    disk_part_crc(d, p) != p->crc) {
		d->stats.damaged++;
		disk_part_again(d, s, p, -EBADMSG);
		return;
	}
	if (!p->status && p->bounce.n)
		disk_copy(d, p->request, p->cursor, p->piece[0].p, p->length,
			  false);
	disk_part_end(d, s, p, p->status);
}

static void part_settle(struct weft_disk *d, struct store *s, struct part *p)
{
	bool reads = p->code == STORAGE_READ;

	if (reads && (d->link->info.ordered || p->landed >= p->puts))
		read_end(d, s, p);
	else if (!reads &&
		 d->link->ops->departed(d->link, s->node) >= p->ticket)
		disk_part_end(d, s, p, p->status);
}

void disk_settle(struct weft_disk *d, struct store *s)
{
	for (uint32_t i = 0; s->lands && i < d->attr.depth; i++)
		if (s->part[i].state == PART_LAND)
			part_settle(d, s, &s->part[i]);
}

void disk_landed(struct weft_disk *d, struct store *s, uint32_t mark)
{
	uint32_t tag = mark % STORAGE_DEPTH;
	struct part *p = &s->part[tag < d->attr.depth ? tag : 0];

	if (p->state != PART_FREE && p->mark == mark)
		p->landed++;
}

static void done_in(struct weft_disk *d, struct store *s, struct part *p,
		    const struct storage_record *rec)
{
	p->state = PART_LAND;
	p->status = status_of(rec->value);
	if (p->code == STORAGE_READ) {
		p->crc = rec->data_crc;
		p->puts = rec->puts;
	}
	s->lands++;
	part_settle(d, s, p);
}

/* Returns true if `attempt` is an attempt of the part, and not older than the
 * last attempt that sent data. */
static bool attempt_good(const struct part *p, uint16_t attempt)
{
	return (int16_t)(attempt - p->data_attempt) >= 0 &&
	       (int16_t)(p->attempt - attempt) >= 0;
}

void disk_answer(struct weft_disk *d, struct store *s,
		 const struct storage_record *rec)
{
	struct part *p = rec->tag < d->attr.depth ? &s->part[rec->tag] : NULL;

	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_record));
	if (!p || (p->state != PART_SEND && p->state != PART_SENT) ||
	    !p->sent || p->data_due || rec->epoch != s->epoch ||
	    rec->seq != p->seq || !attempt_good(p, rec->attempt) ||
	    (s->state != STORE_UP && s->state != STORE_LOGIN)) {
		d->stats.stale++;
		return;
	}
	if (rec->code == STORAGE_DONE) {
		done_in(d, s, p, rec);
	} else if (rec->code == STORAGE_AGAIN && p->code == STORAGE_WRITE) {
		d->stats.damaged++;
		disk_part_again(d, s, p, -EBADMSG);
	} else if (rec->code == STORAGE_BUSY && p->state == PART_SENT) {
		p->tries = 1;
	} else {
		d->stats.stale++;
	}
}
