/* SPDX-License-Identifier: Apache-2.0 */
/* Loss of power, and loss of the requests in flight. An interrupted transfer
 * has moved its first sectors, in proportion to the time since its start. The
 * changed bytes therefore depend on the time of the loss alone. */
#include "base/minmax.h"
#include "storage/drive_internal.h"

/* Subtracts the part of an interrupted pass that lies after `now` from the busy
 * time. */
static void not_busy(struct drive *d, const struct drive_pass *p,
		     weft_time_t now)
{
	if (p->to > now)
		d->stats.busy -= p->to - max_of(p->from, now);
}

static bool writes(const struct drive_op *op)
{
	return !op->status && op->r.code != DRIVE_READ &&
	       op->r.code != DRIVE_FLUSH;
}

/* Applies the bytes that interrupted writes have moved. Bytes of writes to the
 * media go to the medium. Bytes of writes to the cache go to the cache if
 * `cache` is true, otherwise they are lost. */
static void cut_short(struct drive *d, weft_time_t now, bool cache)
{
	vec_foreach (&d->ops, struct drive_op, op) {
		const struct drive_pass *p = &op->pass;

		if (op->media)
			not_busy(d, p, now);
		if (!writes(op))
			continue;
		if (op->media)
			drive_write_through(d, &op->r,
					    drive_moved(d, p->data, p->to,
							op->r.length, now));
		else if (cache)
			drive_cache_put(d, &op->r,
					drive_moved(d, op->moving.from,
						    op->moving.to, op->r.length,
						    now));
	}
}

static void forget(struct drive *d)
{
	vec_clear(&d->ops);
	vec_clear(&d->waiting);
	vec_clear(&d->done);
	d->taken = 0;
	d->reserved = 0;
	vec_clear(&d->interface);
}

bool drive_power_lost(struct drive *d, weft_time_t now)
{
	bool lost = false;

	drive_advance(d, now);
	lost = d->dirty.root;
	vec_foreach (&d->out, struct destage, g) {
		uint64_t len =
			drive_moved(d, g->pass.data, g->end, g->len, now);

		if (g->room)
			not_busy(d, &g->pass, now);
		if (!destage_write(d, g, len))
			lost = true;
	}
	drive_cache_clear(d);
	cut_short(d, now, false);
	forget(d);
	for (uint32_t i = 0; i < d->cfg.channels; i++)
		d->channel[i].free = now;
	return lost;
}

void drive_abandon(struct drive *d, weft_time_t now)
{
	drive_advance(d, now);
	cut_short(d, now, true);
	for (uint32_t i = 0; i < d->cfg.channels; i++)
		d->channel[i].free = now;
	/* Destages continue as planned. */
	vec_foreach (&d->out, struct destage, g) {
		weft_time_t *free = &d->channel[g->pass.channel].free;

		*free = max_of(*free, g->pass.to);
	}
	forget(d);
}
