/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a drive: computes when a request ends, and applies its effect at
 * that time.
 *
 * Events run in the order of their times, even if the caller polls late. Of the
 * events at one time, the ends of destages run first, then the ends of
 * requests, then the starts of new destages. A destage starts on an idle
 * channel only before `now`, because a request that is submitted at `now` has
 * precedence. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/need.h"
#include "storage/drive_internal.h"

/* ---- bad sectors ---- */

/* Reads one number or range at *p_p. Returns false if *p_p begins with
 * neither. */
static bool bad_read(const char **p_p, struct drive_bad *b)
{
	char *end;

	if (**p_p < '0' || **p_p > '9')
		return false;
	errno = 0;
	b->first = b->last = strtoull(*p_p, &end, 10);
	if (!strncmp(end, "..", 2)) {
		if (end[2] < '0' || end[2] > '9')
			return false;
		b->last = strtoull(end + 2, &end, 10);
	}
	*p_p = end;
	return !errno && b->first <= b->last;
}

static bool bad_list(struct drive *d, char *why, size_t n)
{
	const char *p = d->cfg.bad;
	struct drive_bad b;

	while (*p) {
		if (!bad_read(&p, &b) || (*p && (*p != ',' || !p[1]))) {
			snprintf(why, n,
				 "'%s' is not a list of sectors: write 5,9..12",
				 d->cfg.bad);
			return false;
		}
		if (b.last >= d->cfg.size / d->cfg.sector) {
			snprintf(why, n,
				 "bad sector %" PRIu64
				 " lies behind the last one, %" PRIu64,
				 b.last, d->cfg.size / d->cfg.sector - 1);
			return false;
		}
		vec_push(&d->bad, b);
		p += *p == ',';
	}
	return true;
}

static bool is_bad(const struct drive *d, const struct drive_request *r)
{
	uint64_t first = r->offset / d->cfg.sector;
	uint64_t n = r->length / d->cfg.sector;

	if (r->code == DRIVE_FLUSH || r->code == DRIVE_TRIM)
		return false;
	vec_foreach (&d->bad, const struct drive_bad, b)
		if (b->first < first + n && first <= b->last)
			return true;
	return false;
}

/* ---- begin and end ---- */

static bool config_fits(const struct drive_config *c, char *why, size_t n)
{
	const char *wrong = NULL;

	if (c->sector != 512 && c->sector != 4096)
		wrong = "a sector has 512 or 4096 bytes";
	else if (!c->size || c->size % c->sector)
		wrong = "the size is a multiple of the sector";
	else if (!c->queue || !c->channels)
		wrong = "queue and channels begin at 1";
	else if (c->seek_max < c->seek_min)
		wrong = "seek_max is at least seek_min";
	else if (c->cache && c->cache < c->sector)
		wrong = "a cache has room for a sector";
	if (wrong)
		snprintf(why, n, "%s", wrong);
	return !wrong;
}

struct drive *drive_new(const struct drive_config *cfg, char *why, size_t n)
{
	struct drive *d;

	if (!config_fits(cfg, why, n))
		return NULL;
	d = need(calloc(1, sizeof(*d)));
	d->cfg = *cfg;
	d->dirty.sector = cfg->sector;
	d->channel = need(calloc(cfg->channels, sizeof(*d->channel)));
	if (bad_list(d, why, n))
		d->medium = medium_new(cfg->file, cfg->size, why, n);
	if (d->medium)
		return d;
	drive_free(d);
	return NULL;
}

void drive_free(struct drive *d)
{
	if (!d)
		return;
	if (d->medium) {
		while (d->dirty.root)
			drive_destage(d, d->now);
		while (d->out.n)
			drive_destaged(d);
		medium_sync(d->medium);
	}
	medium_free(d->medium);
	vec_free(&d->ops);
	vec_free(&d->waiting);
	vec_free(&d->done);
	vec_free(&d->interface);
	vec_free(&d->out);
	vec_free(&d->bad);
	free(d->channel);
	free(d);
}

const struct drive_config *drive_config(const struct drive *d)
{
	return &d->cfg;
}

struct drive_stats drive_stats(const struct drive *d)
{
	return d->stats;
}

/* ---- plan ---- */

static void plan_read(struct drive *d, struct drive_op *op)
{
	const struct drive_request *r = &op->r;
	struct drive_pass *p = &op->pass;
	uint32_t c;

	if (!op->status && drive_holds(d, r->offset, r->length)) {
		op->end = drive_move(d, d->now, r->length).to;
		return;
	}
	c = drive_channel(d, d->now, r->offset);
	*p = drive_pass(d, c, d->now, (struct drive_span){ 0 }, r->code,
			r->offset, r->length);
	op->media = true;
	op->moving = drive_move_behind(d, p->data, p->to, r->length);
	op->end = max_of(op->moving.to, p->to);
}

/* Plans a write, trim or zero. Returns false if the request must wait for room
 * in the cache. */
static bool plan_write(struct drive *d, struct drive_op *op)
{
	const struct drive_request *r = &op->r;
	uint64_t bytes = r->code == DRIVE_WRITE ? r->length : 0;
	uint64_t room = bytes ? bytes : d->cfg.sector;
	weft_time_t from;
	uint32_t c;

	op->cached = !op->status && !r->fua && room <= d->cfg.cache;
	if (op->cached) {
		if (!drive_room(d, d->now, room, &from))
			return false;
		op->room = room;
		op->moving = drive_move(d, from, bytes);
		op->end = op->moving.to;
		return true;
	}
	c = drive_channel(d, d->now, r->offset);
	op->moving = drive_move(d, d->now, bytes);
	op->pass = drive_pass(d, c, d->now, op->moving, r->code, r->offset,
			      r->length);
	op->media = true;
	op->end = op->pass.to;
	return true;
}

static void plan_flush(struct drive *d, struct drive_op *op)
{
	while (d->dirty.root)
		drive_destage(d, d->now);
	op->end = d->out.n ? vec_last(&d->out).end : d->now;
}

static void ops_add(struct drive *d, const struct drive_op *op)
{
	size_t i = d->ops.n;

	while (i && d->ops.at[i - 1].end > op->end)
		i--;
	vec_insert(&d->ops, i, *op);
}

/* ---- end ---- */

static int op_effect(struct drive *d, const struct drive_op *op)
{
	if (op->r.code == DRIVE_FLUSH)
		return d->error;
	d->reserved -= op->room;
	if (op->status)
		return op->status;
	if (op->r.code == DRIVE_READ)
		return drive_read(d, &op->r);
	if (!op->cached)
		return drive_write_through(d, &op->r, op->r.length);
	drive_cache_put(d, &op->r, op->r.length);
	return 0;
}

/* Ends the first request, and plans waiting writes while the cache has room. */
static void op_end(struct drive *d)
{
	struct drive_op op = d->ops.at[0];
	struct drive_done done = { .at = op.end };

	vec_remove(&d->ops, 0);
	done.end.ctx = op.r.ctx;
	done.end.status = op_effect(d, &op);
	vec_push(&d->done, done);
	while (d->waiting.n && plan_write(d, d->waiting.at)) {
		ops_add(d, d->waiting.at);
		vec_remove(&d->waiting, 0);
	}
}

/* Returns the time at which a channel is free to destage, or WEFT_NEVER if no
 * byte is dirty. */
static weft_time_t idle(const struct drive *d)
{
	uint32_t c;

	if (!d->dirty.root)
		return WEFT_NEVER;
	c = drive_channel(d, d->now, UINT64_MAX);
	return max_of(d->now, d->channel[c].free);
}

void drive_advance(struct drive *d, weft_time_t now)
{
	assert(now >= d->now);
	for (;;) {
		weft_time_t out = d->out.n ? d->out.at[0].end : WEFT_NEVER;
		weft_time_t op = d->ops.n ? d->ops.at[0].end : WEFT_NEVER;
		weft_time_t start = idle(d);

		if (out <= now && out <= op && out <= start) {
			d->now = max_of(d->now, out);
			drive_destaged(d);
		} else if (op <= now && op <= start) {
			d->now = max_of(d->now, op);
			op_end(d);
		} else if (start < now) {
			d->now = start;
			drive_destage(d, start);
		} else {
			break;
		}
	}
	d->now = now;
}

/* ---- calls ---- */

static uint64_t held(const struct drive *d)
{
	return d->ops.n + d->waiting.n + d->done.n - d->taken;
}

static void count(struct drive *d, const struct drive_op *op)
{
	const struct drive_request *r = &op->r;
	struct drive_stats *s = &d->stats;

	s->bad += op->status != 0;
	s->queue_max = max_of(s->queue_max, held(d));
	switch (r->code) {
	case DRIVE_READ:
		s->reads++;
		s->read_bytes += r->length;
		break;
	case DRIVE_WRITE:
		s->writes++;
		s->write_bytes += r->length;
		break;
	case DRIVE_FLUSH:
		s->flushes++;
		break;
	default:
		s->trims++;
	}
}

bool drive_submit(struct drive *d, weft_time_t now,
		  const struct drive_request *r)
{
	struct drive_op op = { .r = *r };
	bool planned = true;

	assert(r->code == DRIVE_FLUSH ||
	       (r->length <= d->cfg.size &&
		r->offset <= d->cfg.size - r->length &&
		!(r->offset % d->cfg.sector) && !(r->length % d->cfg.sector)));
	drive_advance(d, now);
	if (held(d) >= d->cfg.queue)
		return false;
	op.status = is_bad(d, r) ? -EIO : 0;
	if (r->code == DRIVE_READ)
		plan_read(d, &op);
	else if (r->code == DRIVE_FLUSH)
		plan_flush(d, &op);
	else
		planned = !d->waiting.n && plan_write(d, &op);
	if (planned)
		ops_add(d, &op);
	else
		vec_push(&d->waiting, op);
	count(d, &op);
	return true;
}

bool drive_poll(struct drive *d, weft_time_t now, struct drive_end *end_p)
{
	drive_advance(d, now);
	if (d->taken == d->done.n)
		return false;
	*end_p = d->done.at[d->taken++].end;
	if (d->taken == d->done.n) {
		vec_clear(&d->done);
		d->taken = 0;
	}
	return true;
}

weft_time_t drive_next(const struct drive *d)
{
	if (d->taken < d->done.n)
		return d->done.at[d->taken].at;
	return d->ops.n ? d->ops.at[0].end : WEFT_NEVER;
}
