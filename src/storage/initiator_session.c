/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: sessions with a target.
 *
 *   LOGIN   sends LOGIN until HELLO names the epoch
 *   QUIET   unordered links: waits for puts of the previous session
 *   UP      sends requests
 *   LOGOUT  sends LOGOUT until DONE says that the target has ended all requests
 *
 * A session ends when the target says that it does not know the epoch, and when
 * a request ends with -ETIMEDOUT, because the target begins the next session
 * only after it has ended all requests of the previous one. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

enum {
	/* limit of the time-out, as a multiple of the first time-out */
	PATIENCE_MOST = 64,
	STAGE_MOST = 1 << 30,
	REQUEST_MOST = 16 << 20,
};

void disk_login(struct weft_disk *d, struct store *s)
{
	s->state = STORE_LOGIN;
	/* The number grows with time, too, because it must be larger than the
	 * numbers of all LOGINs for disks that this node opened earlier. */
	s->number = max_of(s->number + 1, (uint32_t)(d->now / WEFT_US >> 4));
	s->login_tries = 0;
	s->patience = d->attr.timeout;
	s->login_at = d->now;
}

/* ---- sending ---- */

static bool control_send(struct weft_disk *d, struct store *s)
{
	bool in = s->state == STORE_LOGIN;
	struct storage_record rec = { .epoch = s->epoch,
				      .seq = s->number,
				      .tag = STORAGE_CONTROL,
				      .attempt = s->login_tries,
				      .code = in ? STORAGE_LOGIN
						 : STORAGE_LOGOUT };

	if (in) {
		rec.stage = d->link->info.table;
		rec.value = d->link->info.table_key;
	}
	storage_record_seal(&rec);
	return !d->link->ops->record(d->link, s->node, STORAGE_CONTROL, &rec);
}

static void control_turn(struct weft_disk *d, struct store *s)
{
	if (d->now >= s->login_at) {
		s->login_due = true;
		s->login_tries++;
		s->login_at = d->now + s->patience;
		s->patience = min_of(2 * s->patience,
				     PATIENCE_MOST * d->attr.timeout);
		if (disk_silent(d, s)) {
			disk_dead_end(d, s, false);
			d->room = true;
		}
	}
	if (!s->login_due)
		return;
	s->login_due = !control_send(d, s);
	d->stuck |= s->login_due;
}

/* ---- receiving ---- */

static void session_up(struct weft_disk *d, struct store *s)
{
	s->state = STORE_UP;
	disk_dead_end(d, s, true);
	for (uint32_t i = 0; i < d->attr.depth; i++) {
		struct part *p = &s->part[i];

		p->sent = false;
		if (p->state != PART_SENT && p->state != PART_SEND)
			continue;
		p->state = PART_SEND;
		/* the last try keeps its deadline, see part_send */
		if (p->tries < d->attr.tries) {
			p->tries++;
			p->deadline = d->now + p->patience;
		}
		disk_part_queue(s, p);
	}
}

/* Records that the drive has lost its cache: counts a loss if writes have ended
 * since the last FLUSH, and marks the requests whose ended parts were in the
 * cache. */
static void cache_lost(struct weft_disk *d, struct store *s)
{
	uint32_t n = 2 * d->attr.depth * d->attr.targets;
	uint64_t bit = (uint64_t)1 << (s - d->store);

	if (s->ended == s->covered)
		return;
	s->loss = ++d->losses;
	s->covered = s->ended;
	for (uint32_t i = 0; i < n; i++)
		d->requests[i].lost |= d->requests[i].cached & bit;
}

static int hello_first(struct weft_disk *d, struct store *s,
		       const struct storage_record *rec, uint32_t most)
{
	uint64_t stage = min_of(rec->length, (uint64_t)STAGE_MOST);

	if (stage < STORAGE_PAGE || !pages_make(d->h, &s->pages, stage))
		return -ENOMEM;
	s->size = rec->offset;
	s->sector = (uint32_t)rec->seg[0].addr;
	most = (uint32_t)min_of((uint64_t)most, stage);
	s->max_request = most / s->sector * s->sector;
	return 0;
}

/* Checks the sizes in a HELLO. The first HELLO sets the sizes, and a later
 * HELLO must agree with them. */
static int hello_check(struct weft_disk *d, struct store *s,
		       const struct storage_record *rec)
{
	uint64_t sector = rec->seg[0].addr;
	uint64_t most = min_of(rec->seg[0].key, (uint64_t)REQUEST_MOST);

	if ((sector != 512 && sector != 4096) || most < sector ||
	    rec->stage % 8 || !rec->offset || rec->offset % sector ||
	    rec->offset >> 60)
		return -EINVAL;
	if (!s->pages.used)
		return hello_first(d, s, rec, (uint32_t)most);
	return rec->offset == s->size && sector == s->sector &&
			       most >= s->max_request &&
			       rec->length / STORAGE_PAGE >= s->pages.n
		       ? 0
		       : -ENODEV;
}

static void hello_in(struct weft_disk *d, struct store *s,
		     const struct storage_record *rec)
{
	int ret = hello_check(d, s, rec);

	if (ret) {
		disk_gone(d, s, ret);
		return;
	}
	d->stats.sessions += s->epoch != 0;
	s->epoch = rec->epoch;
	s->stage = rec->stage;
	s->stage_key = rec->value;
	if (rec->flags & STORAGE_LOST)
		cache_lost(d, s);
	s->quiet = d->now + weft_host_time(d->h, T_disk_quiet);
	s->state = STORE_QUIET;
	if (d->link->info.ordered || !d->stats.sessions)
		session_up(d, s);
}

void disk_control(struct weft_disk *d, struct store *s,
		  const struct storage_record *rec)
{
	bool hello = rec->code == STORAGE_HELLO;

	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_record));
	if (hello && !rec->segs && s->state == STORE_UP &&
	    rec->epoch == s->epoch)
		disk_login(d, s);
	else if (hello && rec->segs && s->state == STORE_LOGIN &&
		 rec->seq == s->number)
		hello_in(d, s, rec);
	else if (rec->code == STORAGE_DONE && s->state == STORE_LOGOUT &&
		 rec->seq == s->number)
		s->state = STORE_OUT;
	else
		d->stats.stale++;
}

/* ---- time, and the end ---- */

void disk_session(struct weft_disk *d, struct store *s)
{
	if (s->state == STORE_LOGIN || s->state == STORE_LOGOUT)
		control_turn(d, s);
	else if (s->state == STORE_QUIET && d->now >= s->quiet)
		session_up(d, s);
}

void disk_gone(struct weft_disk *d, struct store *s, int status)
{
	if (s->state == STORE_GONE)
		return;
	s->state = STORE_GONE;
	s->why = status;
	disk_dead_end(d, s, true);
	for (uint32_t i = 0; i < d->attr.depth; i++) {
		struct part *p = &s->part[i];

		p->queued = false;
		if (p->state != PART_FREE)
			disk_part_end(d, s, p, -ENODEV);
	}
	s->send = NULL;
	s->send_tail = &s->send;
	d->room = true;
}
