/* SPDX-License-Identifier: Apache-2.0 */
/* Use of a remote disk by a program, see disk_user.h. */
#include "programs/disk_user.h"

#include <errno.h>
#include <inttypes.h>

#include "base/minmax.h"
#include "host/times.h"

enum { EVENTS = 16 };

static const char *const links[] = { NULL, "native", "ep" };
static const char *const notifies[] = { "request", "page", "packet" };

/* Kinds of errors, in the order of their metrics. */
static const struct {
	int status;
	const char *name;
} errors[DISK_USER_ERRORS] = {
	{ -EIO, "errors_io" },
	{ -ENODEV, "errors_gone" },
	{ -EBADMSG, "errors_damaged" },
	{ -ESTALE, "errors_lost" },
	{ -ETIMEDOUT, "errors_timeout" },
	{ -ENOSPC, "errors_space" },
	{ 0, "errors_other" },
};

static const char *const codes[] = { "reads", "writes", "flushes", "trims",
				     "zeros" };

/* ---- opening ---- */

int disk_user_open(struct disk_user *u, struct weft_comp *c)
{
	struct weft_disk_attr a = { .stripe = u->stripe,
				    .depth = u->target_depth,
				    .check = u->check ? WEFT_DISK_CHECK_CRC32C
						      : WEFT_DISK_CHECK_NONE,
				    .use_irq = u->use_irq,
				    .link = links[u->link],
				    .notify = notifies[u->notify],
				    .cluster = u->cluster,
				    .timeout = u->timeout,
				    .tries = u->tries };
	int n, ret;

	u->w = program_from(c);
	u->latency = weft_hist(c, "latency", "us");
	n = program_nodes(&u->w, u->to, a.target, WEFT_DISK_TARGETS);
	if (n <= 0)
		return -EINVAL;
	a.targets = (uint32_t)n;
	ret = weft_disk_open(u->w.h, &a, &u->d);
	if (!ret)
		u->info = weft_disk_info(u->d);
	return ret;
}

int disk_user_jobs(struct disk_user *u, const struct disk_bufs *b,
		   uint64_t sectors)
{
	uint64_t stride = b->bytes + 64;
	size_t n = u->depth * stride + b->tail;
	weft_phys_t phys;
	int ret = 0;

	u->segments = b->segments;
	u->job = weft_host_calloc(u->w.h, u->depth, sizeof(*u->job));
	u->mem = u->registered ? weft_mem_alloc(u->w.h, n, 4096, &phys)
			       : weft_host_align(u->w.h, 64, n);
	if (!u->job || !u->mem)
		return -ENOMEM;
	if (u->registered)
		ret = weft_disk_reg(u->d, u->mem, n);
	for (uint32_t i = u->depth; i--; u->free = &u->job[i]) {
		u->job[i].buf = u->mem + i * stride + b->misalign;
		u->job[i].next = u->free;
	}
	if (!ret && u->verify) {
		u->shadow = shadow_new(u->w.h, sectors, u->info->sector,
				       u->history);
		ret = u->shadow ? 0 : -ENOMEM;
	}
	return ret;
}

void disk_user_close(struct disk_user *u)
{
	if (u->d)
		weft_disk_close(u->d);
	shadow_free(u->shadow);
	if (u->registered)
		weft_mem_free(u->w.h, u->mem);
	else
		weft_host_free(u->w.h, u->mem);
	weft_host_free(u->w.h, u->job);
}

/* ---- model ---- */

static uint64_t sectors(const struct disk_user *u, const struct disk_job *j)
{
	return j->op.length / u->info->sector;
}

/* Reserves the sectors of the request in the model, and fills the buffer of a
 * write. Returns false if another request uses one of the sectors. */
static bool model_start(struct disk_user *u, struct disk_job *j)
{
	uint64_t n = sectors(u, j);

	if (j->op.code == WEFT_DISK_FLUSH) {
		j->mark = shadow_flush(u->shadow);
		return true;
	}
	if (!shadow_use(u->shadow, j->first, n))
		return false;
	j->version = 0;
	if (j->op.code == WEFT_DISK_WRITE) {
		j->version = shadow_version(u->shadow);
		shadow_fill(u->shadow, j->buf, j->first, n, j->version);
	}
	return true;
}

static void read_check(struct disk_user *u, const struct disk_job *j)
{
	int64_t bad = shadow_check(u->shadow, j->buf, j->first, sectors(u, j));

	if (bad < 0)
		return;
	weft_check_failed(u->w.c,
			  "sector %" PRIu64 " of the read at %" PRIu64
			  " has none of its %u values",
			  (uint64_t)bad - j->first, j->op.offset,
			  shadow_choices(u->shadow, (uint64_t)bad));
}

static void model_end(struct disk_user *u, const struct disk_job *j, int status)
{
	bool fua = j->op.flags & WEFT_DISK_FUA;

	if (j->op.code == WEFT_DISK_FLUSH) {
		if ((!status || status == -ESTALE) &&
		    !shadow_flushed(u->shadow, j->mark, status != 0))
			weft_check_failed(u->w.c,
					  "writes that had ended were lost "
					  "without a word");
		return;
	}
	if (j->op.code != WEFT_DISK_READ)
		shadow_wrote(u->shadow, j->first, sectors(u, j), j->version,
			     status ? SHADOW_MAYBE
			     : fua  ? SHADOW_SAFE
				    : SHADOW_ENDED);
	else if (!status)
		read_check(u, j);
	shadow_unuse(u->shadow, j->first, sectors(u, j));
}

/* ---- requests ---- */

struct disk_job *disk_user_take(struct disk_user *u)
{
	struct disk_job *j;

	while (!u->free)
		disk_user_poll(u, WEFT_NEVER);
	j = u->free;
	u->free = j->next;
	j->op = (struct weft_disk_op){ .ctx = j };
	return j;
}

void disk_user_untake(struct disk_user *u, struct disk_job *j)
{
	j->next = u->free;
	u->free = j;
}

/* Divides the buffer into segments of whole qwords. */
static void segs_make(struct disk_user *u, struct disk_job *j)
{
	uint64_t n = min_of(u->segments, (uint32_t)(j->op.length / 8));
	uint64_t each = j->op.length / n & ~7ull, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t k = i == n - 1 ? j->op.length - at : each;

		j->seg[i] = (struct weft_disk_seg){ j->buf + at, k };
		at += k;
	}
	j->op.seg = j->seg;
	j->op.segs = (uint32_t)n;
}

bool disk_user_submit(struct disk_user *u, struct disk_job *j)
{
	int ret;

	if (u->verify && !model_start(u, j))
		return false;
	if (j->op.code == WEFT_DISK_READ || j->op.code == WEFT_DISK_WRITE)
		segs_make(u, j);
	/* Handles ended requests while the library has no room for another
	 * request. */
	while ((ret = weft_disk_submit(u->d, &j->op)) == -EAGAIN)
		disk_user_poll(u, weft_host_now(u->w.h) +
					  weft_host_time(u->w.h, T_disk_again));
	if (ret)
		weft_check_failed(u->w.c,
				  "submit of %" PRIu64 " + %" PRIu64 " says %d",
				  j->op.offset, j->op.length, ret);
	u->in_flight += !ret;
	return true;
}

static void error_count(struct disk_user *u, const struct disk_job *j,
			int status)
{
	uint32_t k = 0;

	while (errors[k].status && errors[k].status != status)
		k++;
	u->failed[k]++;
	if (!u->expect_errors)
		weft_check_failed(u->w.c,
				  "request %d of %" PRIu64 " at %" PRIu64
				  " ended with %d",
				  j->op.code, j->op.length, j->op.offset,
				  status);
}

static void job_end(struct disk_user *u, const struct weft_disk_event *ev)
{
	struct disk_job *j = ev->ctx;

	u->in_flight--;
	if (ev->status)
		error_count(u, j, ev->status);
	if (u->counts) {
		u->ended[j->op.code]++;
		u->moved += j->op.seg && !ev->status ? j->op.length : 0;
		weft_hist_put(u->latency,
			      (double)(ev->ended - ev->submitted) / WEFT_US);
	}
	if (u->verify)
		model_end(u, j, ev->status);
	disk_user_untake(u, j);
}

void disk_user_poll(struct disk_user *u, weft_time_t until)
{
	struct weft_disk_event ev[EVENTS];
	int n = weft_disk_poll(u->d, ev, EVENTS);

	for (int i = 0; i < n; i++)
		job_end(u, &ev[i]);
	if (!n)
		weft_disk_wait(u->d, until);
}

void disk_user_drain(struct disk_user *u)
{
	while (u->in_flight)
		disk_user_poll(u, WEFT_NEVER);
}

void disk_user_flush(struct disk_user *u)
{
	struct disk_job *j = disk_user_take(u);

	j->op.code = WEFT_DISK_FLUSH;
	disk_user_submit(u, j);
	disk_user_drain(u);
}

/* ---- results ---- */

void disk_user_report_codes(struct disk_user *u, enum weft_disk_code last)
{
	for (uint32_t i = 0; i <= last; i++)
		weft_metric(u->w.c, codes[i], "requests", (double)u->ended[i]);
}

void disk_user_report_rates(struct disk_user *u, weft_time_t took,
			    uint64_t requests)
{
	double t = (double)took / WEFT_SEC;
	struct weft_comp *c = u->w.c;

	weft_metric(c, "bandwidth", "MB/s", (double)u->moved / t / 1e6);
	weft_metric(c, "bandwidth_binary", "MiB/s",
		    (double)u->moved / t / 1048576);
	weft_metric(c, "rate", "requests/s", (double)requests / t);
}

void disk_user_report_library(struct disk_user *u)
{
	struct weft_disk_stats s = weft_disk_stats(u->d);
	struct weft_comp *c = u->w.c;

	weft_metric(c, "parts", "requests", (double)s.requests);
	weft_metric(c, "retries", "requests", (double)s.retries);
	weft_metric(c, "damaged", "requests", (double)s.damaged);
	weft_metric(c, "stale", "records", (double)s.stale);
	weft_metric(c, "sessions", "sessions", (double)s.sessions);
	for (uint32_t i = 0; i < DISK_USER_ERRORS; i++)
		weft_metric(c, errors[i].name, "requests",
			    (double)u->failed[i]);
}
