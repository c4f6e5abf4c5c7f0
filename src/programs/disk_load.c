/* SPDX-License-Identifier: Apache-2.0 */
/* Program disk.load: requests to a remote disk (docs/storage.md), sequential or
 * random, read, written, flushed, trimmed.  With `verify` every byte that is
 * read is compared with a model of the writes that have ended, and at the end
 * all of the range is read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "host/times.h"
#include "programs/program.h"
#include "storage/shadow.h"
#include "weft/disk.h"

enum { LOAD_DEPTH = 1024, LOAD_SEGS = 256, LOAD_EVENTS = 16 };

/* Kinds of errors, in the order of their metrics. */
static const struct {
	int status;
	const char *name;
} errors[] = {
	{ -EIO, "errors_io" },
	{ -ENODEV, "errors_gone" },
	{ -EBADMSG, "errors_damaged" },
	{ -ESTALE, "errors_lost" },
	{ -ETIMEDOUT, "errors_timeout" },
	{ -ENOSPC, "errors_space" },
	{ 0, "errors_other" },
};
enum { ERRORS = sizeof(errors) / sizeof(errors[0]) };

/* A request in flight, with its own buffer. */
struct job {
	struct job *next;
	struct weft_disk_op op;
	uint8_t *buf;
	uint32_t version; /* WRITE, TRIM, ZERO */
	uint64_t mark;	  /* FLUSH */
	struct weft_disk_seg seg[LOAD_SEGS];
};

struct load {
	/* parameters */
	char to[64];
	uint32_t link, notify, cluster, check, tries, stripe, target_depth;
	weft_time_t timeout;
	bool use_irq, registered, verify, history, expect_errors;
	uint64_t count, bytes, size, size_max, from, range;
	uint32_t depth, segments, align, misalign, pattern;
	uint32_t read, flush, trim, zero, fua;
	weft_time_t gap;
	/* run */
	struct program w;
	struct weft_disk *d;
	const struct weft_disk_info *info;
	struct shadow *shadow;
	struct job *job, *free;
	uint8_t *mem;
	uint64_t stride;
	uint32_t in_flight;
	uint64_t issued, moved, at, reads, writes, failed[ERRORS];
	uint64_t left;		  /* requests to issue */
	weft_time_t t0, t1, next; /* t1: 0 while requests count */
	struct weft_hist *latency;
};

static const char *const links[] = { NULL, "native", "ep" };
static const char *const notifies[] = { "request", "page", "packet" };

/* ---- choice of the next request ---- */

static uint64_t below(struct load *l, uint64_t n)
{
	return weft_rng_below(&l->w.c->rng, n);
}

static bool percent(struct load *l, uint32_t share)
{
	return share && below(l, 100) < share;
}

static enum weft_disk_code code_next(struct load *l)
{
	if (percent(l, l->flush))
		return WEFT_DISK_FLUSH;
	if (percent(l, l->trim))
		return WEFT_DISK_TRIM;
	if (percent(l, l->zero))
		return WEFT_DISK_ZERO;
	return percent(l, l->read) ? WEFT_DISK_READ : WEFT_DISK_WRITE;
}

static void place_next(struct load *l, struct weft_disk_op *op)
{
	uint64_t unit = l->info->sector, align = max_of(l->align, unit);
	uint64_t n =
		l->size / unit + below(l, (l->size_max - l->size) / unit + 1);
	uint64_t most = l->range - n * unit;

	op->length = n * unit;
	if (l->pattern)
		op->offset = below(l, most / align + 1) * align;
	else
		op->offset = l->at > most ? 0 : l->at;
	l->at = op->offset + op->length;
	op->offset += l->from;
}

/* Divides a buffer into segments of whole qwords. */
static void segs_make(struct load *l, struct job *j)
{
	uint64_t n = min_of(l->segments, (uint32_t)(j->op.length / 8));
	uint64_t each = j->op.length / n & ~7ull, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t k = i == n - 1 ? j->op.length - at : each;

		j->seg[i] = (struct weft_disk_seg){ j->buf + at, k };
		at += k;
	}
	j->op.seg = j->seg;
	j->op.segs = (uint32_t)n;
}

static uint64_t first_of(const struct load *l, const struct job *j)
{
	return (j->op.offset - l->from) / l->info->sector;
}

static uint64_t count_of(const struct load *l, const struct job *j)
{
	return j->op.length / l->info->sector;
}

/* Returns false if the bytes are in use. */
static bool job_model(struct load *l, struct job *j)
{
	if (j->op.code == WEFT_DISK_FLUSH) {
		j->mark = shadow_flush(l->shadow);
		return true;
	}
	if (!shadow_use(l->shadow, first_of(l, j), count_of(l, j)))
		return false;
	if (j->op.code == WEFT_DISK_READ)
		return true;
	j->version = 0;
	if (j->op.code == WEFT_DISK_WRITE) {
		j->version = shadow_version(l->shadow);
		shadow_fill(l->shadow, j->buf, first_of(l, j), count_of(l, j),
			    j->version);
	}
	return true;
}

static bool job_make(struct load *l, struct job *j)
{
	j->op = (struct weft_disk_op){ .code = code_next(l), .ctx = j };
	if (j->op.code != WEFT_DISK_FLUSH)
		place_next(l, &j->op);
	if (j->op.code == WEFT_DISK_WRITE || j->op.code == WEFT_DISK_ZERO)
		j->op.flags = percent(l, l->fua) ? WEFT_DISK_FUA : 0;
	if (j->op.code == WEFT_DISK_READ || j->op.code == WEFT_DISK_WRITE)
		segs_make(l, j);
	return !l->verify || job_model(l, j);
}

/* ---- ending and submitting ---- */

static void error_count(struct load *l, const struct job *j, int status)
{
	uint32_t k = 0;

	while (errors[k].status && errors[k].status != status)
		k++;
	l->failed[k]++;
	if (!l->expect_errors)
		weft_check_failed(l->w.c,
				  "request %d of %" PRIu64 " at %" PRIu64
				  " ended with %d",
				  j->op.code, j->op.length, j->op.offset,
				  status);
}

static void read_check(struct load *l, const struct job *j)
{
	int64_t bad =
		shadow_check(l->shadow, j->buf, first_of(l, j), count_of(l, j));

	if (bad >= 0)
		weft_check_failed(l->w.c,
				  "sector %" PRId64 " of the read at %" PRIu64
				  " has none of its %u values",
				  bad, j->op.offset,
				  shadow_choices(l->shadow, (uint64_t)bad));
}

static void job_verify(struct load *l, const struct job *j, int status)
{
	bool fua = j->op.flags & WEFT_DISK_FUA;

	if (j->op.code == WEFT_DISK_FLUSH) {
		if ((!status || status == -ESTALE) &&
		    !shadow_flushed(l->shadow, j->mark, status != 0))
			weft_check_failed(l->w.c,
					  "writes that had ended were "
					  "lost without a word");
		return;
	}
	if (j->op.code != WEFT_DISK_READ)
		shadow_wrote(l->shadow, first_of(l, j), count_of(l, j),
			     j->version,
			     status ? SHADOW_MAYBE
			     : fua  ? SHADOW_SAFE
				    : SHADOW_ENDED);
	else if (!status)
		read_check(l, j);
	shadow_unuse(l->shadow, first_of(l, j), count_of(l, j));
}

static void job_end(struct load *l, const struct weft_disk_event *ev)
{
	struct job *j = ev->ctx;
	bool data =
		j->op.code == WEFT_DISK_READ || j->op.code == WEFT_DISK_WRITE;

	l->in_flight--;
	if (ev->status)
		error_count(l, j, ev->status);
	else if (data && !l->t1)
		l->moved += j->op.length;
	l->reads += !l->t1 && j->op.code == WEFT_DISK_READ;
	l->writes += !l->t1 && j->op.code == WEFT_DISK_WRITE;
	if (l->latency)
		weft_hist_put(l->latency,
			      (double)(ev->ended - ev->submitted) / WEFT_US);
	if (l->verify)
		job_verify(l, j, ev->status);
	j->next = l->free;
	l->free = j;
}

static void load_poll(struct load *l, weft_time_t until)
{
	struct weft_disk_event ev[LOAD_EVENTS];
	int n = weft_disk_poll(l->d, ev, LOAD_EVENTS);

	for (int i = 0; i < n; i++)
		job_end(l, &ev[i]);
	if (!n)
		weft_disk_wait(l->d, until);
}

/* Without room, ends make some: their events are taken. */
static void job_submit(struct load *l, struct job *j)
{
	int ret;

	while ((ret = weft_disk_submit(l->d, &j->op)) == -EAGAIN)
		load_poll(l, weft_host_now(l->w.h) +
				     weft_host_time(l->w.h, T_disk_again));
	if (ret)
		weft_check_failed(l->w.c,
				  "submit of %" PRIu64 " + %" PRIu64 " says %d",
				  j->op.offset, j->op.length, ret);
	l->in_flight += !ret;
}

static void load_drain(struct load *l)
{
	while (l->in_flight)
		load_poll(l, WEFT_NEVER);
}

/* ---- phases ---- */

static bool more(const struct load *l)
{
	return l->bytes ? l->moved < l->bytes : l->issued < l->count;
}

static void load_run(struct load *l)
{
	weft_time_t next = l->t0;

	while (more(l)) {
		bool due = !l->gap || weft_host_now(l->w.h) >= next;
		struct job *j = due ? l->free : NULL;

		/* A choice that meets a request in flight is made again, after
		 * others have ended. */
		if (!j || !job_make(l, j)) {
			load_poll(l, l->gap && !due ? next : WEFT_NEVER);
			continue;
		}
		l->free = j->next;
		l->issued++;
		next += l->gap;
		job_submit(l, j);
	}
	load_drain(l);
	l->t1 = weft_host_now(l->w.h);
}

static struct job *job_wait(struct load *l)
{
	while (!l->free)
		load_poll(l, WEFT_NEVER);
	l->free->op = (struct weft_disk_op){ .ctx = l->free };
	return l->free;
}

/* Makes writes safe, then reads all of the range. */
static void load_read_all(struct load *l)
{
	struct job *j = job_wait(l);

	l->latency = NULL;
	j->op.code = WEFT_DISK_FLUSH;
	job_model(l, j);
	l->free = j->next;
	job_submit(l, j);
	load_drain(l);
	for (uint64_t at = 0; at < l->range; at += j->op.length) {
		j = job_wait(l);
		j->op.code = WEFT_DISK_READ;
		j->op.offset = l->from + at;
		j->op.length = min_of(l->size_max, l->range - at);
		segs_make(l, j);
		job_model(l, j);
		l->free = j->next;
		job_submit(l, j);
	}
	load_drain(l);
	/* A loss that these reads have seen is one that a FLUSH must name. */
	j = job_wait(l);
	j->op.code = WEFT_DISK_FLUSH;
	job_model(l, j);
	l->free = j->next;
	job_submit(l, j);
	load_drain(l);
}

static void load_report(struct load *l)
{
	struct weft_disk_stats s = weft_disk_stats(l->d);
	double t = (double)(l->t1 - l->t0) / WEFT_SEC;
	struct weft_comp *c = l->w.c;

	weft_metric(c, "bandwidth", "MB/s", (double)l->moved / t / 1e6);
	weft_metric(c, "bandwidth_binary", "MiB/s",
		    (double)l->moved / t / 1048576);
	weft_metric(c, "rate", "requests/s", (double)l->issued / t);
	weft_metric(c, "reads", "requests", (double)l->reads);
	weft_metric(c, "writes", "requests", (double)l->writes);
	weft_metric(c, "parts", "requests", (double)s.requests);
	weft_metric(c, "retries", "requests", (double)s.retries);
	weft_metric(c, "damaged", "requests", (double)s.damaged);
	weft_metric(c, "stale", "records", (double)s.stale);
	weft_metric(c, "sessions", "sessions", (double)s.sessions);
	for (uint32_t i = 0; i < ERRORS; i++)
		weft_metric(c, errors[i].name, "requests",
			    (double)l->failed[i]);
}

/* ---- opening ---- */

static int load_open(struct load *l)
{
	struct weft_disk_attr a = { .stripe = l->stripe,
				    .depth = l->target_depth,
				    .check = l->check ? WEFT_DISK_CHECK_CRC32C
						      : WEFT_DISK_CHECK_NONE,
				    .use_irq = l->use_irq,
				    .link = links[l->link],
				    .notify = notifies[l->notify],
				    .cluster = l->cluster,
				    .timeout = l->timeout,
				    .tries = l->tries };
	int n = program_nodes(&l->w, l->to, a.target, WEFT_DISK_TARGETS);

	if (n <= 0)
		return -EINVAL;
	a.targets = (uint32_t)n;
	return weft_disk_open(l->w.h, &a, &l->d);
}

static int load_sizes(struct load *l)
{
	uint32_t unit = l->info->sector;
	uint64_t rest = l->info->size > l->from ? l->info->size - l->from : 0;

	l->size_max = max_of(l->size, l->size_max);
	l->range = l->range ? l->range : rest;
	l->range = l->range / unit * unit;
	if (l->size % unit || l->size_max % unit || l->from % unit ||
	    l->align % unit || l->range > rest || l->size_max > l->range)
		return -EINVAL;
	l->stride = l->size_max + 64;
	return 0;
}

static int load_memory(struct load *l)
{
	size_t n = l->depth * l->stride + 64;
	weft_phys_t phys;
	int ret = 0;

	l->job = weft_host_calloc(l->w.h, l->depth, sizeof(*l->job));
	l->mem = l->registered ? weft_mem_alloc(l->w.h, n, 4096, &phys)
			       : weft_host_align(l->w.h, 64, n);
	if (!l->job || !l->mem)
		return -ENOMEM;
	if (l->registered)
		ret = weft_disk_reg(l->d, l->mem, n);
	for (uint32_t i = l->depth; i--; l->free = &l->job[i]) {
		l->job[i].buf = l->mem + i * l->stride + l->misalign;
		l->job[i].next = l->free;
	}
	if (!ret && l->verify) {
		l->shadow = shadow_new(l->w.h, l->range / l->info->sector,
				       l->info->sector, l->history);
		ret = l->shadow ? 0 : -ENOMEM;
	}
	return ret;
}

static int load_start(struct load *l)
{
	int ret = load_open(l);

	if (ret)
		return ret;
	l->info = weft_disk_info(l->d);
	ret = load_sizes(l);
	return ret ? ret : load_memory(l);
}

static void load_close(struct load *l)
{
	if (l->d)
		weft_disk_close(l->d);
	shadow_free(l->shadow);
	if (l->registered)
		weft_mem_free(l->w.h, l->mem);
	else
		weft_host_free(l->w.h, l->mem);
	weft_host_free(l->w.h, l->job);
}

static int load_main(struct weft_comp *c)
{
	struct load *l = c->state;
	int ret;

	l->w = program_from(c);
	l->latency = weft_hist(c, "latency", "us");
	ret = load_start(l);
	if (ret)
		weft_check_failed(c, "cannot start: %s", program_why(ret));
	l->t0 = weft_host_now(l->w.h);
	if (!ret) {
		load_run(l);
		if (l->verify)
			load_read_all(l);
		load_report(l);
	}
	load_close(l);
	return ret;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct load, field, def, range, OWN, doc)
static const struct weft_param load_params[] = {
	P(STR, to, "1", "", "nodes of the targets: 1,2,4..6"),
	P(ENUM, link, "auto", "auto|native|ep",
	  "carrier of the protocol; auto = native where the NIC has one"),
	P(ENUM, notify, "request", "request|page|packet",
	  "native link: what raises a notification"),
	P(U32, cluster, "0", "", "native link: transfers of one start; 0 = all"),
	P(ENUM, check, "none", "none|crc32c", "of the data, end to end"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning"),
	P(U32, stripe, "65536", "4096..", "bytes on one target"),
	P(U32, target_depth, "128", "1..128", "requests in flight to a target"),
	P(TIME, timeout, "0", "", "of the first try; 0 = the library's"),
	P(U32, tries, "0", "0..60000", "of a request; 0 = the library's"),
	P(U64, count, "1000", "", "requests"),
	P(BYTES, bytes, "0", "", "until so many have moved; 0 = count"),
	P(BYTES, size, "4KiB", "512..64MiB", "bytes of a request"),
	P(BYTES, size_max, "0", "0..64MiB", "largest; 0 = all as size"),
	P(BYTES, from, "0", "", "first byte of the disk that is used"),
	P(BYTES, range, "0", "", "bytes from there on; 0 = the rest"),
	P(U32, depth, "16", "1..1024", "requests in flight"),
	P(U32, segments, "1", "1..256", "of a request"),
	P(U32, align, "0", "", "random places are multiples; 0 = sector"),
	P(U32, misalign, "0", "0..63", "bytes by which buffers are off 64"),
	P(ENUM, pattern, "sequential", "sequential|random", "order of places"),
	P(U32, read, "50", "0..100", "percent of reads and writes that read"),
	P(U32, flush, "0", "0..100", "percent of requests that flush"),
	P(U32, trim, "0", "0..100", "percent of the others that trim"),
	P(U32, zero, "0", "0..100", "percent of the others that write zeros"),
	P(U32, fua, "0", "0..100", "percent of writes with FUA"),
	P(TIME, gap, "0", "", "between two submissions; 0 = as fast as it goes"),
	P(BOOL, registered, "yes", "", "buffers are regions of the NIC"),
	P(BOOL, verify, "yes", "", "compare every byte with a model"),
	P(BOOL, history, "no", "",
	  "the model expects that the drive loses its cache"),
	P(BOOL, expect_errors, "no", "", "requests may fail"),
	{ 0 }
};
static const struct weft_preset load_presets[] = {
	{ "clustered", "use_irq=no notify=request cluster=0",
	  "all transfers of a request start together, the last one notifies" },
	{ "clustered-irq", "use_irq=yes notify=request cluster=0",
	  "... and raises an interrupt" },
	{ "packet-irq", "use_irq=yes notify=packet cluster=1",
	  "each packet starts alone and raises an interrupt" },
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(disk_load, .name = "disk.load", .kind = WEFT_KIND_PROGRAM,
	       .doc = "verified requests to a remote disk",
	       .source = "FORTH specification 13",
	       .state_size = sizeof(struct load), .params = load_params,
	       .presets = load_presets, .ops = { .main = load_main });
