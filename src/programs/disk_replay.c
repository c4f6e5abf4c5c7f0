/* SPDX-License-Identifier: Apache-2.0 */
/* Program disk.replay: sends the requests of a recorded trace to a remote disk
 * (docs/storage.md), at their recorded times or as fast as the disk accepts
 * them.
 *
 * The model of the bytes covers the ranges that the trace touches, not the
 * whole disk, because a trace of hours touches little of a large one. The
 * program submits a request that overlaps a request in flight only after that
 * request has ended, because the order in the trace says which bytes are
 * right. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/vec.h"
#include "programs/block_trace.h"
#include "programs/disk_user.h"

/* A place: a contiguous range of bytes that the trace touches. `first` is the
 * number of its first sector in the model. */
struct place {
	uint64_t at, end, first;
};

struct replay {
	/* parameters */
	struct disk_user u;
	char trace[256], lines[4096], device[24];
	uint32_t format, event, pace;
	double speed;
	bool wrap;
	uint64_t limit;
	/* run */
	const char *label;
	struct block_trace *t;
	struct {
		VEC(struct place);
	} places;
	uint64_t length_max, overlaps;
	weft_time_t t0;
	struct weft_hist *late;
};

enum { PACE_OPEN, PACE_CLOSED };

static const char events[] = "QDC";

/* ---- the trace ---- */

static bool replay_read(struct replay *x, struct weft_comp *c)
{
	const struct block_attr a = { .format = (enum block_format)x->format,
				      .event = events[x->event],
				      .device = x->device };
	struct weft_err err = { 0 };

	if (!*x->trace == !*x->lines) {
		weft_check_failed(c,
				  "name a file in `trace`, or give its "
				  "lines in `lines`");
		return false;
	}
	x->label = *x->trace ? x->trace : "lines";
	if (*x->trace)
		x->t = block_trace_load(x->trace, &a, &err);
	else
		x->t = block_trace_parse(x->label, x->lines, strlen(x->lines),
					 &a, &err);
	if (!x->t)
		weft_check_failed(c, "%s", err.msg);
	return x->t;
}

/* Fits a request into the disk. Checks that it has whole sectors, and with
 * `wrap` reduces an offset beyond the disk's size. Returns false after a failed
 * check. */
static bool op_fit(struct replay *x, struct block_op *op)
{
	const struct weft_disk_info *info = x->u.info;
	uint64_t size = info->size;

	if (op->code == WEFT_DISK_FLUSH)
		return true;
	if (op->offset % info->sector || op->length % info->sector) {
		weft_check_failed(
			x->u.w.c,
			"%s:%u: %" PRIu64 " bytes at %" PRIu64
			" are not whole sectors of the disk, which has "
			"%u bytes in each",
			x->label, op->line, op->length, op->offset,
			info->sector);
		return false;
	}
	if (op->length <= size && op->offset <= size - op->length)
		return true;
	if (!x->wrap || op->length > size) {
		weft_check_failed(x->u.w.c,
				  "%s:%u: %" PRIu64 " bytes at %" PRIu64
				  " end behind the disk's %" PRIu64
				  ": give the target that size, or set wrap",
				  x->label, op->line, op->length, op->offset,
				  size);
		return false;
	}
	op->offset %= size;
	op->offset = min_of(op->offset, size - op->length);
	return true;
}

static int place_cmp(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* Joins places that overlap or touch, and numbers their sectors. Returns the
 * number of sectors of all places. */
static uint64_t places_join(struct replay *x)
{
	uint64_t sectors = 0;
	size_t n = 0;

	if (x->places.n)
		qsort(x->places.at, x->places.n, sizeof(*x->places.at),
		      place_cmp);
	for (size_t i = 0; i < x->places.n; i++) {
		struct place *last = n ? &x->places.at[n - 1] : NULL;
		struct place p = x->places.at[i];

		if (last && p.at <= last->end)
			last->end = max_of(last->end, p.end);
		else
			x->places.at[n++] = p;
	}
	x->places.n = n;
	for (size_t i = 0; i < n; i++) {
		struct place *p = &x->places.at[i];

		p->first = sectors;
		sectors += (p->end - p->at) / x->u.info->sector;
	}
	return sectors;
}

/* Returns the place that contains the byte at offset `at`. The trace must touch
 * this byte. */
static const struct place *place_of(const struct replay *x, uint64_t at)
{
	size_t lo = 0, hi = x->places.n;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (x->places.at[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	return &x->places.at[lo];
}

/* Fits all requests into the disk. Adds the byte range of each request to
 * x->places, and sets x->length_max. */
static bool replay_fit(struct replay *x)
{
	x->length_max = x->u.info->sector;
	for (uint32_t i = 0; i < x->t->n; i++) {
		struct block_op *op = &x->t->op[i];

		if (!op_fit(x, op))
			return false;
		if (op->code == WEFT_DISK_FLUSH)
			continue;
		vec_push(&x->places,
			 (struct place){ op->offset, op->offset + op->length,
					 0 });
		if (op->code == WEFT_DISK_READ || op->code == WEFT_DISK_WRITE)
			x->length_max = max_of(x->length_max, op->length);
	}
	return true;
}

/* ---- the run ---- */

static void job_set(struct replay *x, struct disk_job *j, uint64_t at)
{
	const struct place *p;

	j->op.offset = at;
	if (j->op.code == WEFT_DISK_FLUSH)
		return;
	p = place_of(x, at);
	j->first = p->first + (at - p->at) / x->u.info->sector;
}

/* Submits a job. First waits until requests in flight that use its bytes have
 * ended. */
static void submit(struct replay *x, struct disk_job *j)
{
	if (disk_user_submit(&x->u, j))
		return;
	x->overlaps++;
	do
		disk_user_poll(&x->u, WEFT_NEVER);
	while (!disk_user_submit(&x->u, j));
}

static void wait_until(struct replay *x, weft_time_t due)
{
	while (weft_host_now(x->u.w.h) < due)
		disk_user_poll(&x->u, due);
}

static void replay_one(struct replay *x, const struct block_op *op)
{
	double after = (double)(op->time - x->t->op[0].time) / x->speed;
	weft_time_t due = x->t0 + (weft_time_t)after, now;
	struct disk_job *j;

	if (x->pace == PACE_OPEN)
		wait_until(x, due);
	j = disk_user_take(&x->u);
	j->op.code = (enum weft_disk_code)op->code;
	j->op.flags = op->flags;
	j->op.length = op->length;
	job_set(x, j, op->offset);
	submit(x, j);
	now = weft_host_now(x->u.w.h);
	if (x->pace == PACE_OPEN)
		weft_hist_put(x->late, (double)(now - due) / WEFT_US);
}

/* Flushes the writes, then reads all places. */
static void replay_verify(struct replay *x)
{
	struct disk_job *j;

	disk_user_flush(&x->u);
	for (size_t i = 0; i < x->places.n; i++) {
		const struct place *p = &x->places.at[i];

		for (uint64_t at = p->at; at < p->end; at += j->op.length) {
			j = disk_user_take(&x->u);
			j->op.code = WEFT_DISK_READ;
			j->op.length = min_of(x->length_max, p->end - at);
			job_set(x, j, at);
			submit(x, j);
		}
	}
	disk_user_drain(&x->u);
}

static void replay_run(struct replay *x)
{
	uint64_t n = x->limit ? min_of(x->limit, (uint64_t)x->t->n) : x->t->n;
	const struct block_op *op = x->t->op;
	double recorded = (double)(op[n - 1].time - op[0].time) / x->speed;
	weft_time_t took;

	x->t0 = weft_host_now(x->u.w.h);
	x->u.counts = true;
	for (uint64_t i = 0; i < n; i++)
		replay_one(x, &op[i]);
	disk_user_drain(&x->u);
	x->u.counts = false;
	took = weft_host_now(x->u.w.h) - x->t0;
	if (x->u.verify)
		replay_verify(x);
	disk_user_report_codes(&x->u, WEFT_DISK_ZERO);
	disk_user_report_rates(&x->u, took, n);
	disk_user_report_library(&x->u);
	weft_metric(x->u.w.c, "overlaps", "requests", (double)x->overlaps);
	weft_metric(x->u.w.c, "recorded", "us", recorded / WEFT_US);
	weft_metric(x->u.w.c, "took", "us", (double)took / WEFT_US);
}

static int replay_start(struct replay *x, struct weft_comp *c)
{
	struct disk_bufs bufs = { .segments = 1 };
	int ret;

	if (!replay_read(x, c))
		return -EINVAL;
	ret = disk_user_open(&x->u, c);
	if (x->pace == PACE_OPEN)
		x->late = weft_hist(c, "late", "us");
	if (!ret && !replay_fit(x))
		return -EINVAL;
	bufs.bytes = x->length_max;
	ret = ret ? ret : disk_user_jobs(&x->u, &bufs, places_join(x));
	if (ret)
		weft_check_failed(c, "cannot start: %s", program_why(ret));
	return ret;
}

static int replay_main(struct weft_comp *c)
{
	struct replay *x = c->state;
	int ret = replay_start(x, c);

	if (!ret)
		replay_run(x);
	if (x->u.w.h)
		disk_user_close(&x->u);
	return ret;
}

static void replay_fini(struct weft_comp *c)
{
	struct replay *x = c->state;

	block_trace_free(x->t);
	vec_free(&x->places);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct replay, field, def, range, OWN, doc)
static const struct weft_param replay_params[] = {
	P(STR, trace, "", "", "file of the trace"),
	P(STR, lines, "", "", "its text instead, for a short one"),
	P(ENUM, format, "auto", "auto|blkparse|csv", "of the text"),
	P(ENUM, event, "Q", "Q|D|C",
	  "blkparse: requests are those queued, given to the drive, or ended"),
	P(STR, device, "", "", "blkparse: requests to this MAJOR,MINOR alone"),
	P(ENUM, pace, "open", "open|closed",
	  "at the recorded times, or when one before has ended"),
	P(REAL, speed, "1", "0.000001..1000000",
	  "recorded times are divided by it"),
	P(BOOL, wrap, "no", "", "places behind the disk's end begin at its start"),
	P(U64, limit, "0", "", "requests of the trace; 0 = all"),
	DISK_USER_PARAMS_DISK(struct replay, u),
	DISK_USER_PARAM_DEPTH(struct replay, u, "32",
			      "requests in flight at most"),
	DISK_USER_PARAMS_MODEL(struct replay, u),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(disk_replay, .name = "disk.replay", .kind = WEFT_KIND_PROGRAM,
	       .doc = "recorded requests to a remote disk, verified",
	       .source = "FORTH specification 13",
	       .state_size = sizeof(struct replay), .params = replay_params,
	       .ops = { .main = replay_main, .fini = replay_fini });
