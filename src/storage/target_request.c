/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: checks records and starts their requests.
 *
 * A record with a seq newer than the slot's begins a request. A record with the
 * slot's seq and a newer attempt is a repetition. While the request is in
 * service, the target answers a repetition with BUSY. If the request was
 * served, the target repeats the answer. A READ that is FRESH is served again.
 * The target ignores all other records, which are older. */
#include <errno.h>

#include "storage/target_internal.h"

/* ---- checks ---- */

static bool range_good(const struct drive_config *cfg,
		       const struct storage_record *r)
{
	return r->offset % cfg->sector == 0 && r->length % cfg->sector == 0 &&
	       r->length && r->offset <= cfg->size &&
	       r->length <= cfg->size - r->offset;
}

static bool stage_good(const struct storage_target *t,
		       const struct storage_record *r)
{
	return r->length <= t->attr.max_request && r->stage % 8 == 0 &&
	       r->stage <= t->attr.staging &&
	       r->length <= t->attr.staging - r->stage;
}

static bool segs_good(const struct storage_target *t,
		      const struct storage_record *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->segs; i++) {
		const struct storage_seg *s = &r->seg[i];

		if (!s->len ||
		    (!t->link->info.bytes && (s->addr % 8 || s->len % 8)))
			return false;
		sum += s->len;
	}
	return sum == r->length && r->length <= t->attr.max_request;
}

/* Returns 0, or the status with which the target refuses the request. */
static int request_check(const struct storage_target *t,
			 const struct storage_record *r)
{
	const struct drive_config *cfg = drive_config(t->drive);
	uint32_t flags = r->flags & ~(uint32_t)(STORAGE_CHECK | STORAGE_FRESH);
	bool good = r->code != STORAGE_FLUSH ? range_good(cfg, r) : true;

	if (flags & ~(uint32_t)STORAGE_FUA ||
	    (flags && r->code != STORAGE_WRITE && r->code != STORAGE_ZERO))
		return -EINVAL;
	if (r->flags & STORAGE_FRESH && r->code != STORAGE_READ)
		return -EINVAL;
	if (r->code == STORAGE_READ)
		good = good && segs_good(t, r);
	else if (r->code == STORAGE_WRITE)
		good = good && stage_good(t, r);
	if (r->code < STORAGE_READ || r->code > STORAGE_ZERO || !good)
		return -EINVAL;
	return t->gone ? -ENODEV : 0;
}

/* ---- requests ---- */

/* Checks the data of a WRITE, which have all landed. */
static void data_check(struct storage_target *t, struct session *se,
		       struct slot *sl)
{
	const struct storage_record *r = &sl->rec;

	if (r->flags & STORAGE_CHECK && target_crc(t, 0, se->staging + r->stage,
						   r->length) != r->data_crc) {
		t->stats.damaged++;
		sl->state = SLOT_AGAIN;
		sl->again = r->puts;
		target_out(se, sl);
		return;
	}
	target_queue(t, sl);
}

static bool data_landed(const struct storage_target *t,
			const struct session *se, const struct slot *sl)
{
	uint32_t mark = storage_mark(sl->rec.tag, se->epoch, sl->rec.seq);
	uint32_t landed = sl->marked && sl->mark == mark ? sl->landed : 0;

	return t->link->info.ordered || landed >= sl->rec.puts;
}

/* Serves the slot's record from its start. */
static void slot_start(struct storage_target *t, struct session *se,
		       struct slot *sl)
{
	int status = request_check(t, &sl->rec);

	sl->status = 0;
	sl->asked = sl->put = 0;
	sl->seg = sl->seg_at = 0;
	sl->crc = 0;
	if (status) {
		t->stats.refused += status == -EINVAL;
		target_answer(se, sl, status);
	} else if (sl->rec.code != STORAGE_WRITE) {
		target_queue(t, sl);
	} else {
		sl->state = SLOT_LAND;
		if (data_landed(t, se, sl))
			data_check(t, se, sl);
	}
}

static void request_new(struct storage_target *t, struct session *se,
			struct slot *sl, const struct storage_record *rec)
{
	/* An initiator that begins a request before the end of the previous one
	 * breaks the protocol. */
	if (sl->state == SLOT_QUEUE || sl->state == SLOT_DRIVE) {
		t->stats.refused++;
		return;
	}
	t->stats.requests++;
	sl->rec = *rec;
	sl->puts = 0;
	sl->busy_due = false;
	slot_start(t, se, sl);
}

static void request_repeat(struct storage_target *t, struct session *se,
			   struct slot *sl, const struct storage_record *rec)
{
	t->stats.repeats++;
	sl->rec.attempt = rec->attempt;
	sl->rec.puts = rec->puts;
	switch (sl->state) {
	case SLOT_LAND:
		if (data_landed(t, se, sl))
			data_check(t, se, sl);
		break;
	case SLOT_QUEUE:
	case SLOT_DRIVE:
		sl->busy_due = true;
		target_out(se, sl);
		break;
	case SLOT_AGAIN:
		/* Checks data again only if new puts have arrived. Otherwise
		 * puts may still be in flight: the staging may match the CRC
		 * now, but the remaining data could damage it later. */
		if (rec->puts == sl->again)
			target_out(se, sl);
		else
			slot_start(t, se, sl);
		break;
	case SLOT_SERVED:
		if (rec->flags & STORAGE_FRESH)
			slot_start(t, se, sl);
		else
			target_answer(se, sl, sl->status);
		break;
	default: /* the queued answer will carry the new attempt */
		break;
	}
}

void target_request(struct storage_target *t, struct session *se,
		    const struct storage_record *rec)
{
	struct slot *sl;
	int32_t newer;

	if (se->state != SESSION_UP || rec->epoch != se->epoch) {
		target_refuse(t, se, rec);
		return;
	}
	sl = &se->slot[rec->tag];
	newer = sl->state == SLOT_EMPTY ? 1 : (int32_t)(rec->seq - sl->rec.seq);
	if (newer > 0)
		request_new(t, se, sl, rec);
	else if (!newer && (int16_t)(rec->attempt - sl->rec.attempt) > 0)
		request_repeat(t, se, sl, rec);
	else
		t->stats.stale++;
}

void target_landed(struct storage_target *t, struct session *se, uint32_t mark)
{
	struct slot *sl;

	if (se->state != SESSION_UP ||
	    (mark ^ storage_mark(mark, se->epoch, mark >> 16)) & 0xFFFF) {
		t->stats.stale++;
		return;
	}
	sl = &se->slot[mark % STORAGE_DEPTH];
	if (!sl->marked || (int16_t)((mark >> 16) - (sl->mark >> 16)) > 0) {
		sl->marked = true;
		sl->mark = mark;
		sl->landed = 0;
	}
	sl->landed += mark == sl->mark;
	if (sl->state == SLOT_LAND && data_landed(t, se, sl))
		data_check(t, se, sl);
}

void target_forget(struct storage_target *t, struct session *se)
{
	target_unqueue(t, se);
	for (uint32_t i = 0; se->slot && i < STORAGE_DEPTH; i++) {
		struct slot *sl = &se->slot[i];

		target_chunks_drop(t, se, sl);
		*sl = (struct slot){ .work = { se, sl, NULL } };
		sl->chunks.tail = &sl->chunks.head;
	}
	se->send = NULL;
	se->send_tail = &se->send;
}
