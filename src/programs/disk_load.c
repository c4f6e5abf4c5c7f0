/* SPDX-License-Identifier: Apache-2.0 */
/* Program disk.load: sends sequential or random requests (read, write, flush,
 * trim) to a remote disk (docs/storage.md). With `verify` the program compares
 * every byte that it reads with a model of the writes that have ended, and
 * reads the whole range at the end. */
#include <errno.h>

#include "base/minmax.h"
#include "programs/disk_user.h"

struct load {
	/* parameters */
	struct disk_user u;
	uint64_t count, bytes, size, size_max, from, range;
	uint32_t segments, align, misalign, pattern;
	uint32_t read, flush, trim, zero, fua;
	weft_time_t gap;
	/* run */
	uint64_t issued, at;
};

/* ---- choice of the next request ---- */

static uint64_t below(struct load *l, uint64_t n)
{
	return weft_rng_below(&l->u.w.c->rng, n);
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

static void job_place(struct load *l, struct disk_job *j, uint64_t at)
{
	j->op.offset = l->from + at;
	j->first = at / l->u.info->sector;
}

static void place_next(struct load *l, struct disk_job *j)
{
	uint64_t unit = l->u.info->sector, align = max_of(l->align, unit);
	uint64_t n =
		l->size / unit + below(l, (l->size_max - l->size) / unit + 1);
	uint64_t most = l->range - n * unit;

	j->op.length = n * unit;
	if (l->pattern)
		l->at = below(l, most / align + 1) * align;
	else if (l->at > most)
		l->at = 0;
	job_place(l, j, l->at);
	l->at += j->op.length;
}

static void job_choose(struct load *l, struct disk_job *j)
{
	j->op.code = code_next(l);
	if (j->op.code != WEFT_DISK_FLUSH)
		place_next(l, j);
	if (j->op.code == WEFT_DISK_WRITE || j->op.code == WEFT_DISK_ZERO)
		j->op.flags = percent(l, l->fua) ? WEFT_DISK_FUA : 0;
}

/* ---- phases ---- */

static bool more(const struct load *l)
{
	return l->bytes ? l->u.moved < l->bytes : l->issued < l->count;
}

/* Starts a request. Returns false if no job is free, or if the chosen request
 * overlaps one in flight. The caller then chooses again after other requests
 * have ended. */
static bool load_one(struct load *l)
{
	struct disk_job *j;

	if (!l->u.free)
		return false;
	j = disk_user_take(&l->u);
	job_choose(l, j);
	if (disk_user_submit(&l->u, j))
		return true;
	disk_user_untake(&l->u, j);
	return false;
}

static void load_run(struct load *l, weft_time_t t0)
{
	weft_time_t next = t0;

	l->u.counts = true;
	while (more(l)) {
		bool due = !l->gap || weft_host_now(l->u.w.h) >= next;

		if (due && load_one(l)) {
			l->issued++;
			next += l->gap;
		} else {
			disk_user_poll(&l->u,
				       l->gap && !due ? next : WEFT_NEVER);
		}
	}
	disk_user_drain(&l->u);
	l->u.counts = false;
}

/* Flushes the writes, then reads the whole range. */
static void load_read_all(struct load *l)
{
	struct disk_job *j;

	disk_user_flush(&l->u);
	for (uint64_t at = 0; at < l->range; at += j->op.length) {
		j = disk_user_take(&l->u);
		j->op.code = WEFT_DISK_READ;
		j->op.length = min_of(l->size_max, l->range - at);
		job_place(l, j, at);
		disk_user_submit(&l->u, j);
	}
	disk_user_drain(&l->u);
	/* The reads may have found that the drive has lost writes. The model
	 * expects the next FLUSH to report such a loss. */
	disk_user_flush(&l->u);
}

/* ---- opening ---- */

static int load_sizes(struct load *l)
{
	const struct weft_disk_info *info = l->u.info;
	uint32_t unit = info->sector;
	uint64_t rest = info->size > l->from ? info->size - l->from : 0;

	l->size_max = max_of(l->size, l->size_max);
	l->range = l->range ? l->range : rest;
	l->range = l->range / unit * unit;
	if (l->size % unit || l->size_max % unit || l->from % unit ||
	    l->align % unit || l->range > rest || l->size_max > l->range)
		return -EINVAL;
	return 0;
}

static int load_start(struct load *l, struct weft_comp *c)
{
	struct disk_bufs bufs = { .misalign = l->misalign,
				  .segments = l->segments,
				  .tail = 64 };
	int ret = disk_user_open(&l->u, c);

	ret = ret ? ret : load_sizes(l);
	bufs.bytes = l->size_max;
	if (!ret)
		ret = disk_user_jobs(&l->u, &bufs,
				     l->range / l->u.info->sector);
	if (ret)
		weft_check_failed(c, "cannot start: %s", program_why(ret));
	return ret;
}

static int load_main(struct weft_comp *c)
{
	struct load *l = c->state;
	int ret = load_start(l, c);
	weft_time_t t0 = weft_host_now(l->u.w.h), took;

	if (!ret) {
		load_run(l, t0);
		took = weft_host_now(l->u.w.h) - t0;
		if (l->u.verify)
			load_read_all(l);
		disk_user_report_rates(&l->u, took, l->issued);
		disk_user_report_codes(&l->u, WEFT_DISK_WRITE);
		disk_user_report_library(&l->u);
	}
	disk_user_close(&l->u);
	return ret;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct load, field, def, range, OWN, doc)
static const struct weft_param load_params[] = {
	DISK_USER_PARAMS_DISK(struct load, u),
	P(U64, count, "1000", "", "requests"),
	P(BYTES, bytes, "0", "", "until so many have moved; 0 = count"),
	P(BYTES, size, "4KiB", "512..64MiB", "bytes of a request"),
	P(BYTES, size_max, "0", "0..64MiB", "largest; 0 = all as size"),
	P(BYTES, from, "0", "", "first byte of the disk that is used"),
	P(BYTES, range, "0", "", "bytes from there on; 0 = the rest"),
	DISK_USER_PARAM_DEPTH(struct load, u, "16", "requests in flight"),
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
	DISK_USER_PARAMS_MODEL(struct load, u),
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
