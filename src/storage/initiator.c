/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: opens disks, accepts requests of the user, and waits until
 * requests end. See initiator.h. */
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "storage/initiator.h"

/* ---- requests ---- */

static bool data_of(enum weft_disk_code code)
{
	return code == WEFT_DISK_READ || code == WEFT_DISK_WRITE;
}

static int segs_check(const struct weft_disk_op *op)
{
	uint64_t sum = 0;

	if (!op->length || !op->segs || op->segs > DISK_SEGS)
		return -EINVAL;
	for (uint32_t i = 0; i < op->segs; i++) {
		if (op->seg[i].len > op->length - sum)
			return -EINVAL;
		sum += op->seg[i].len;
	}
	return sum == op->length ? 0 : -EINVAL;
}

static int op_check(const struct weft_disk *d, const struct weft_disk_op *op)
{
	uint32_t known =
		op->code == WEFT_DISK_WRITE || op->code == WEFT_DISK_ZERO
			? WEFT_DISK_FUA
			: 0;

	if (op->code > WEFT_DISK_ZERO || op->flags & ~known)
		return -EINVAL;
	if (op->code == WEFT_DISK_FLUSH)
		return 0;
	if (op->offset % d->info.sector || op->length % d->info.sector)
		return -EINVAL;
	if (op->offset > d->info.size || op->length > d->info.size - op->offset)
		return -ERANGE;
	return data_of(op->code) ? segs_check(op) : 0;
}

static bool segs_copy(struct weft_disk *d, struct request *r)
{
	struct weft_disk_seg *to = r->few;
	uint32_t n = data_of(r->op.code) ? r->op.segs : 0;

	if (n > DISK_FEW)
		to = weft_host_calloc(d->h, n, sizeof(*to));
	if (!to)
		return false;
	if (n)
		memcpy(to, r->op.seg, n * sizeof(*to));
	r->op.seg = to;
	return true;
}

static void request_free(struct weft_disk *d, struct request *r)
{
	if (r->op.seg != r->few)
		weft_host_free(d->h, (void *)(uintptr_t)r->op.seg);
	r->op.seg = r->few;
	r->next = d->free;
	d->free = r;
}

void disk_request_check(struct weft_disk *d, struct request *r)
{
	if (!r->whole || r->parts)
		return;
	/* The target lost parts of this write before the write ended. If a
	 * FLUSH has already reported this loss, that FLUSH did not cover the
	 * write. Therefore the loss counts again, so that the next FLUSH
	 * reports it. */
	for (uint32_t i = 0; r->lost && i < d->info.targets; i++)
		if (r->lost >> i & 1 && r->op.code != WEFT_DISK_FLUSH)
			d->store[i].loss = ++d->losses;
	r->ended = d->now;
	r->next = NULL;
	*d->ended_tail = r;
	d->ended_tail = &r->next;
}

int weft_disk_submit(struct weft_disk *d, const struct weft_disk_op *op)
{
	struct request *r = d->free;
	int ret;

	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_call));
	ret = op_check(d, op);
	if (ret)
		return ret;
	if (!r)
		return -EAGAIN;
	d->free = r->next;
	*r = (struct request){ .op = *op };
	if (!segs_copy(d, r)) {
		r->op.seg = r->few;
		request_free(d, r);
		return -EAGAIN;
	}
	r->submitted = d->now = weft_host_now(d->h);
	*d->divide_tail = r;
	d->divide_tail = &r->next;
	d->room = true;
	disk_divide(d);
	for (uint32_t i = 0; i < d->info.targets; i++)
		disk_send(d, &d->store[i]);
	return 0;
}

/* ---- progress ---- */

static struct store *store_of(struct weft_disk *d, uint32_t node)
{
	for (uint32_t i = 0; i < d->info.targets; i++)
		if (d->store[i].node == node)
			return &d->store[i];
	return NULL;
}

static void event_in(struct weft_disk *d, const struct storage_event *ev)
{
	struct store *s = store_of(d, ev->peer);

	if (!s)
		return;
	if (ev->kind == STORAGE_EV_GONE)
		disk_gone(d, s, -ENODEV);
	else if (ev->kind == STORAGE_EV_LANDED)
		disk_landed(d, s, ev->mark);
	else if (ev->slot != ev->rec.tag || !ev->rec.code)
		d->stats.stale++;
	else if (ev->slot == STORAGE_CONTROL)
		disk_control(d, s, &ev->rec);
	else
		disk_answer(d, s, &ev->rec);
}

void disk_progress(struct weft_disk *d)
{
	enum { PIECE = 16 };
	struct storage_event ev[PIECE];
	int n;

	d->stuck = false;
	do {
		n = d->link->ops->poll(d->link, ev, PIECE);
		d->now = weft_host_now(d->h);
		for (int i = 0; i < n; i++)
			event_in(d, &ev[i]);
	} while (n == PIECE);
	if (d->now >= d->timer)
		disk_expire(d);
	for (uint32_t i = 0; i < d->info.targets; i++) {
		disk_session(d, &d->store[i]);
		disk_settle(d, &d->store[i]);
	}
	disk_divide(d);
	for (uint32_t i = 0; i < d->info.targets; i++)
		disk_send(d, &d->store[i]);
}

weft_time_t disk_next(const struct weft_disk *d)
{
	weft_time_t t = d->timer;

	for (uint32_t i = 0; i < d->info.targets; i++) {
		const struct store *s = &d->store[i];

		if (s->state == STORE_LOGIN || s->state == STORE_LOGOUT)
			t = min_of(t, s->login_at);
		if (s->state == STORE_QUIET)
			t = min_of(t, s->quiet);
	}
	/* Polls again after T_disk_again, because no event reports room in the
	 * link. */
	if (d->stuck)
		t = min_of(t, d->now + weft_host_time(d->h, T_disk_again));
	return t;
}

/* Clears losses that an event has reported to the user. */
static void losses_told(struct weft_disk *d, const struct request *r)
{
	for (uint32_t i = 0; i < d->info.targets; i++)
		if (r->lost >> i & 1 && d->store[i].loss <= r->losses)
			d->store[i].loss = 0;
}

int weft_disk_poll(struct weft_disk *d, struct weft_disk_event *ev, int max)
{
	int n = 0;

	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_call));
	disk_progress(d);
	while (n < max && d->ended) {
		struct request *r = d->ended;

		d->ended = r->next;
		if (!d->ended)
			d->ended_tail = &d->ended;
		ev[n++] = (struct weft_disk_event){ .status = r->status,
						    .ctx = r->op.ctx,
						    .submitted = r->submitted,
						    .ended = r->ended };
		if (r->op.code == WEFT_DISK_FLUSH && r->lost)
			losses_told(d, r);
		request_free(d, r);
	}
	return n;
}

int weft_disk_wait(struct weft_disk *d, weft_time_t deadline)
{
	for (;;) {
		disk_progress(d);
		if (d->ended)
			return 0;
		if (d->now >= deadline)
			return -ETIMEDOUT;
		d->link->ops->wait(d->link, min_of(deadline, disk_next(d)));
	}
}

int weft_disk_do(struct weft_disk *d, const struct weft_disk_op *op)
{
	struct weft_disk_event ev;
	int ret = weft_disk_submit(d, op);

	if (ret)
		return ret;
	while (!weft_disk_poll(d, &ev, 1))
		weft_disk_wait(d, WEFT_NEVER);
	return ev.status;
}

const struct weft_disk_info *weft_disk_info(const struct weft_disk *d)
{
	return &d->info;
}

struct weft_disk_stats weft_disk_stats(const struct weft_disk *d)
{
	return d->stats;
}
