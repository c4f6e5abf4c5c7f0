/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of requests in simulated time, by kind and size class, and the
 * throughput of the modelled machine while it had requests. */
#include <inttypes.h>
#include <stdlib.h>

#include "measure/hist.h"
#include "nbd/nbd.h"

enum { KINDS = WEFT_DISK_ZERO + 1, CLASSES = 7 };

static const char *const kinds[KINDS] = {
	[WEFT_DISK_READ] = "read",   [WEFT_DISK_WRITE] = "write",
	[WEFT_DISK_FLUSH] = "flush", [WEFT_DISK_TRIM] = "trim",
	[WEFT_DISK_ZERO] = "zero",
};

/* Classes of sizes: requests of up to `max` bytes. */
static const struct {
	uint64_t max;
	const char *name;
} classes[CLASSES] = {
	{ 512, "512B" },	{ 4096, "4KiB" },     { 16384, "16KiB" },
	{ 65536, "64KiB" },	{ 262144, "256KiB" }, { 1048576, "1MiB" },
	{ UINT64_MAX, "more" },
};

struct latency {
	struct hist hist[KINDS][CLASSES];
	struct {
		uint64_t requests, bytes, errors;
		weft_time_t busy, until;
	} sum[KINDS];
	/* busy: time with requests of any kind; until: end of the latest
	 * request counted in `busy` */
	weft_time_t busy, until;
};

struct latency *latency_new(void)
{
	struct latency *l = calloc(1, sizeof(*l));

	for (int k = 0; l && k < KINDS; k++)
		for (int c = 0; c < CLASSES; c++)
			hist_init(&l->hist[k][c], 1000); /* bins of ns */
	return l;
}

void latency_free(struct latency *l)
{
	for (int k = 0; l && k < KINDS; k++)
		for (int c = 0; c < CLASSES; c++)
			hist_fini(&l->hist[k][c]);
	free(l);
}

/* Adds the part of a job's time that lies after *until_p, because the time of
 * overlapping requests counts once. Jobs end in order of time. */
static void busy_add(weft_time_t *busy_p, weft_time_t *until_p,
		     const struct nbd_job *j)
{
	weft_time_t begin = j->begin > *until_p ? j->begin : *until_p;

	if (j->end > begin)
		*busy_p += j->end - begin;
	if (j->end > *until_p)
		*until_p = j->end;
}

void latency_add(struct latency *l, const struct nbd_job *j)
{
	int c = 0;

	l->sum[j->code].errors += j->status != 0;
	if (j->status)
		return;
	while (j->length > classes[c].max)
		c++;
	hist_add(&l->hist[j->code][c],
		 (double)(j->end - j->begin) / (double)WEFT_US);
	l->sum[j->code].requests++;
	l->sum[j->code].bytes += j->length;
	busy_add(&l->sum[j->code].busy, &l->sum[j->code].until, j);
	busy_add(&l->busy, &l->until, j);
}

static void write_hist(const struct hist *h, const char *kind,
		       const char *class, FILE *f)
{
	fprintf(f, "hist disk.%s%s%s.latency us %" PRIu64, kind,
		*class ? "." : "", class, h->count);
	fprintf(f, " %.17g %.17g %.17g %.17g %.17g %u\n", h->sum, h->sum2,
		h->min, h->max, h->scale, h->n_bins);
	for (uint32_t i = 0; i < h->n_bins; i++)
		if (h->bin[i])
			fprintf(f, "bin %u %" PRIu64 "\n", i, h->bin[i]);
}

static void write_kind(const struct latency *l, int k, FILE *f)
{
	double busy = (double)l->sum[k].busy / (double)WEFT_SEC;

	for (int c = 0; c < CLASSES; c++)
		if (l->hist[k][c].count)
			write_hist(&l->hist[k][c], kinds[k],
				   k == WEFT_DISK_FLUSH ? "" : classes[c].name,
				   f);
	if (l->sum[k].errors)
		fprintf(f, "counter disk.%s.errors requests %" PRIu64 "\n",
			kinds[k], l->sum[k].errors);
	if (!l->sum[k].requests)
		return;
	fprintf(f, "counter disk.%s.requests requests %" PRIu64 "\n", kinds[k],
		l->sum[k].requests);
	if (k == WEFT_DISK_FLUSH)
		return;
	fprintf(f, "counter disk.%s.bytes B %" PRIu64 "\n", kinds[k],
		l->sum[k].bytes);
	if (busy > 0) {
		fprintf(f, "metric disk.%s.rate MB/s %.17g\n", kinds[k],
			(double)l->sum[k].bytes / 1e6 / busy);
		fprintf(f, "metric disk.%s.per_second 1/s %.17g\n", kinds[k],
			(double)l->sum[k].requests / busy);
	}
}

void latency_write(const struct latency *l, const struct weft_disk_stats *s,
		   FILE *f)
{
	const struct {
		const char *name;
		uint64_t val;
	} counts[] = {
		{ "protocol.requests", s->requests },
		{ "protocol.retries", s->retries },
		{ "protocol.damaged", s->damaged },
		{ "protocol.stale", s->stale },
		{ "protocol.sessions", s->sessions },
	};

	for (int k = 0; k < KINDS; k++)
		write_kind(l, k, f);
	fprintf(f, "metric disk.busy ms %.17g\n",
		(double)l->busy / (double)WEFT_MS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fprintf(f, "counter disk.%s requests %" PRIu64 "\n",
			counts[i].name, counts[i].val);
}
