/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of a drive. The medium has the durable bytes. The cache has newer bytes
 * in two layers: `out` holds bytes of passes, which are transfers to the medium
 * in progress, and `dirty` holds bytes newer than `out`. The planning of a pass
 * moves its bytes from `dirty` to `out`. A later write to the same sectors goes
 * to `dirty`, and does not change the bytes of the pass.
 *
 * The cache destages extents in the order of their offsets, beginning at the
 * position of the arm. After the last extent the arm returns to the lowest
 * extent. */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/need.h"
#include "storage/drive_internal.h"

static bool overlap(const struct extent *x, uint64_t at, uint64_t len)
{
	return at < x->at + x->len && x->at < at + len;
}

weft_time_t drive_destage(struct drive *d, weft_time_t t)
{
	uint32_t c = drive_channel(d, t, UINT64_MAX);
	struct destage g = { 0 };
	size_t i = d->out.n;

	extents_take(&d->dirty, d->channel[c].at, &g.x);
	g.at = g.x.at;
	g.len = g.x.len;
	g.room = extent_room(&g.x, d->cfg.sector);
	g.pass = drive_pass(d, c, t, (struct drive_span){ 0 }, g.x.code, g.at,
			    g.len);
	g.end = g.pass.to;
	/* Older passes on other channels may have older bytes of the same
	 * range. This pass ends after them, because the medium must keep the
	 * bytes of this pass. */
	for (size_t k = 0; d->cfg.channels > 1 && k < d->out.n; k++)
		if (overlap(&d->out.at[k].x, g.at, g.len))
			g.end = max_of(g.end, d->out.at[k].end);
	while (i && d->out.at[i - 1].end > g.end)
		i--;
	vec_insert(&d->out, i, g);
	d->out_room += g.room;
	return g.end;
}

bool drive_room(struct drive *d, weft_time_t t, uint64_t room,
		weft_time_t *from_p)
{
	uint64_t used = d->dirty.room + d->out_room + d->reserved + room;
	weft_time_t from = t;

	for (;;) {
		uint64_t left = used;

		for (size_t i = 0; left > d->cfg.cache && i < d->out.n; i++) {
			left -= d->out.at[i].room;
			from = max_of(t, d->out.at[i].end);
		}
		if (left <= d->cfg.cache)
			break;
		if (!d->dirty.root)
			return false;
		drive_destage(d, t);
	}
	d->reserved += room;
	*from_p = from;
	return true;
}

bool drive_holds(const struct drive *d, uint64_t at, uint64_t len)
{
	uint64_t end = at + len;

	while (at < end) {
		const struct extent *x = extents_find(&d->dirty, at);

		for (size_t i = 0; !x && i < d->out.n; i++)
			if (overlap(&d->out.at[i].x, at, 1))
				x = &d->out.at[i].x;
		if (!x)
			return false;
		at = x->at + x->len;
	}
	return true;
}

void drive_cache_put(struct drive *d, const struct drive_request *r,
		     uint64_t len)
{
	struct extent x = { .at = r->offset, .len = len, .code = r->code };

	if (!len)
		return;
	if (r->code == DRIVE_WRITE) {
		d->stats.cached_bytes += len;
		if (extents_overwrite(&d->dirty, r->offset, r->data, len))
			return;
		x.data = need(malloc(len));
		memcpy(x.data, r->data, len);
	}
	extents_put(&d->dirty, x);
}

int drive_read(struct drive *d, const struct drive_request *r)
{
	int ret = medium_read(d->medium, r->offset, r->data, r->length);

	vec_foreach (&d->out, struct destage, g)
		extent_read(&g->x, r->offset, r->length, r->data);
	extents_read(&d->dirty, r->offset, r->length, r->data);
	return ret;
}

/* Removes a range from all passes, because the medium already has newer bytes
 * of this range. */
static void out_cut(struct drive *d, uint64_t at, uint64_t len)
{
	struct extent part[2];

	for (size_t i = 0; i < d->out.n; i++) {
		struct destage g = d->out.at[i];
		int n;

		if (!overlap(&g.x, at, len))
			continue;
		n = extent_cut(g.x, at, len, part);
		if (!n) {
			d->out_room -= g.room;
			vec_remove(&d->out, i);
			i--;
			continue;
		}
		d->out.at[i].x = part[0];
		if (n < 2)
			continue;
		g.x = part[1];
		g.room = 0; /* the first part keeps the room of the pass */
		i++;
		vec_insert(&d->out, i, g);
	}
}

static int medium_put(struct drive *d, enum drive_code code, uint64_t at,
		      const void *data, uint64_t len)
{
	if (code == DRIVE_WRITE)
		return medium_write(d->medium, at, data, len);
	return medium_zero(d->medium, at, len);
}

int drive_write_through(struct drive *d, const struct drive_request *r,
			uint64_t len)
{
	int ret;

	if (!len)
		return 0;
	ret = medium_put(d, r->code, r->offset, r->data, len);
	if (ret)
		return ret;
	extents_cut(&d->dirty, r->offset, len);
	out_cut(d, r->offset, len);
	return 0;
}

bool destage_write(struct drive *d, const struct destage *g, uint64_t len)
{
	const struct extent *x = &g->x;
	uint64_t end = g->at + len, n;
	int ret;

	if (end <= x->at)
		return false;
	n = min_of(x->len, end - x->at);
	ret = medium_put(d, x->code, x->at, x->data, n);
	if (ret && !d->error)
		d->error = ret;
	if (!ret && x->code != DRIVE_TRIM)
		d->stats.destaged_bytes += n;
	return n == x->len;
}

void drive_destaged(struct drive *d)
{
	struct destage g = d->out.at[0];

	vec_remove(&d->out, 0);
	destage_write(d, &g, g.len);
	d->out_room -= g.room;
	free(g.x.data);
}

void drive_cache_clear(struct drive *d)
{
	vec_foreach (&d->out, struct destage, g)
		free(g->x.data);
	vec_clear(&d->out);
	d->out_room = 0;
	extents_cut(&d->dirty, 0, UINT64_MAX);
}
