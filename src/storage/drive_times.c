/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a drive. The interface has gaps between reservations, which later
 * requests use: a write into the cache does not wait for the mechanics of a
 * read. The media have no gaps: requests and destages of a channel run in the
 * order in which they were planned.
 *
 * Not modelled: zones of a disk (all tracks have one rate), position of the
 * platter (an access costs half a turn), spin-up. */
#include <math.h>

#include "base/minmax.h"
#include "storage/drive_internal.h"

/* Returns the time of n bytes at rate / share bit/s, rounded up. */
static weft_time_t rate_time(uint64_t n, uint64_t rate, uint32_t share)
{
	unsigned __int128 bits = (unsigned __int128)n * 8;
	uint64_t sec, rest;

	if (!rate)
		return 0;
	/* Computes the time in two steps, because the product of all factors
	 * can have more than 128 bits. */
	bits *= share;
	if (bits / rate > WEFT_NEVER / WEFT_SEC)
		return WEFT_NEVER;
	sec = (uint64_t)(bits / rate);
	rest = (uint64_t)(bits % rate);
	return time_plus(
		sec * WEFT_SEC,
		(weft_time_t)(((unsigned __int128)rest * WEFT_SEC + rate - 1) /
			      rate));
}

struct drive_span drive_move(struct drive *d, weft_time_t from, uint64_t n)
{
	weft_time_t t = rate_time(n, d->cfg.interface_rate, 1);
	struct drive_span s;
	size_t i = 0;

	while (d->interface.n && d->interface.at[0].to <= d->now)
		vec_remove(&d->interface, 0);
	for (; t && i < d->interface.n; i++) {
		if (time_plus(from, t) <= d->interface.at[i].from)
			break;
		from = max_of(from, d->interface.at[i].to);
	}
	s = (struct drive_span){ from, time_plus(from, t) };
	if (t)
		vec_insert(&d->interface, i, s);
	return s;
}

struct drive_span drive_move_behind(struct drive *d, weft_time_t from,
				    weft_time_t to, uint64_t n)
{
	weft_time_t t = rate_time(n, d->cfg.interface_rate, 1);

	return drive_move(d, to - from > t ? to - t : from, n);
}

uint32_t drive_channel(const struct drive *d, weft_time_t t, uint64_t at)
{
	uint32_t best = 0;
	weft_time_t free = WEFT_NEVER;

	for (uint32_t i = 0; i < d->cfg.channels; i++) {
		const struct drive_channel *c = &d->channel[i];
		weft_time_t from = max_of(t, c->free);

		if (i && (from > free ||
			  (from == free &&
			   (c->at != at || d->channel[best].at == at))))
			continue;
		best = i;
		free = from;
	}
	return best;
}

/* Returns the time for moving the arm from one byte to another, plus half a
 * turn. */
static weft_time_t seek(const struct drive_config *cfg, uint64_t from,
			uint64_t to)
{
	uint64_t far = from > to ? from - to : to - from;
	double share = sqrt((double)far / (double)cfg->size);

	if (!cfg->seek_max || !far)
		return 0;
	return cfg->seek_min + cfg->turn / 2 +
	       (weft_time_t)((double)(cfg->seek_max - cfg->seek_min) * share);
}

struct drive_pass drive_pass(struct drive *d, uint32_t channel, weft_time_t t,
			     struct drive_span ready, enum drive_code code,
			     uint64_t at, uint64_t len)
{
	const struct drive_config *cfg = &d->cfg;
	struct drive_channel *c = &d->channel[channel];
	weft_time_t access = cfg->latency, moving = 0;
	struct drive_pass p = { .channel = channel };

	if (code != DRIVE_TRIM) { /* TRIM changes the drive's own table only */
		access = time_plus(access, seek(cfg, c->at, at));
		moving = rate_time(len, cfg->media_rate, cfg->channels);
		c->at = at + len;
	}
	p.from = max_of(t, c->free);
	if (ready.from > p.from && ready.from - p.from > access)
		p.from = ready.from - access;
	p.data = time_plus(p.from, access);
	p.to = max_of(time_plus(p.data, moving), ready.to);
	d->stats.busy = time_plus(d->stats.busy, p.to - p.from);
	c->free = p.to;
	return p;
}

uint64_t drive_moved(const struct drive *d, weft_time_t from, weft_time_t to,
		     uint64_t len, weft_time_t t)
{
	uint64_t sectors = len / d->cfg.sector;

	if (t <= from || from >= to)
		return 0;
	if (t >= to)
		return len;
	return (uint64_t)((unsigned __int128)sectors * (t - from) /
			  (to - from)) *
	       d->cfg.sector;
}
