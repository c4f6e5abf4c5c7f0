/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the plug-in's report to the results of the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "front/disk/disk.h"
#include "front/out/out.h"

static bool read_hist(const char *line, struct weft_result *r,
		      struct hist **h_p)
{
	char name[80], unit[16];
	struct hist h = { 0 };
	uint64_t count;
	uint32_t bins;

	if (sscanf(line,
		   "hist %79s %15s %" SCNu64 " %lf %lf %lf %lf %lf %" SCNu32,
		   name, unit, &count, &h.sum, &h.sum2, &h.min, &h.max,
		   &h.scale, &bins) != 9 ||
	    bins > 65536)
		return false;
	h.count = count;
	h.n_bins = bins;
	h.bin = calloc(bins + 1, sizeof(*h.bin));
	if (!h.bin)
		abort();
	*h_p = result_hist_get(r, name, unit);
	hist_fini(*h_p);
	**h_p = h;
	return true;
}

static void read_line(const char *line, struct weft_result *r,
		      struct hist **h_p)
{
	char name[80], unit[16], text[512];
	uint64_t n;
	uint32_t i;
	double x;

	if (read_hist(line, r, h_p))
		return;
	if (sscanf(line, "bin %" SCNu32 " %" SCNu64, &i, &n) == 2) {
		if (*h_p && i < (*h_p)->n_bins)
			(*h_p)->bin[i] = n;
	} else if (sscanf(line, "metric %79s %15s %lf", name, unit, &x) == 3) {
		result_metric_set(r, name, unit, x);
	} else if (sscanf(line, "counter %79s %15s %" SCNu64, name, unit, &n) ==
		   3) {
		result_counter_set(r, name, unit, n);
	} else if (!strncmp(line, "failure ", 8)) {
		snprintf(text, sizeof(text), "disk: %.*s",
			 (int)strcspn(line + 8, "\n"), line + 8);
		result_fail(r, text);
	}
}

bool disk_results(const char *path, struct weft_result *r)
{
	FILE *f = fopen(path, "r");
	struct hist *h = NULL;
	char line[512];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		read_line(line, r, &h);
	fclose(f);
	return true;
}

/* ---- summary for the terminal ---- */

static uint64_t counter(const struct weft_result *r, const char *kind,
			const char *what)
{
	char name[80];

	snprintf(name, sizeof(name), "disk.%s.%s", kind, what);
	for (size_t i = 0; i < r->n_counters; i++)
		if (!strcmp(r->counters[i].name, name))
			return r->counters[i].value;
	return 0;
}

static double metric(const struct weft_result *r, const char *kind,
		     const char *what)
{
	const struct result_metric *m;
	char name[80];

	snprintf(name, sizeof(name), "disk.%s.%s", kind, what);
	m = result_metric_get(r, name);
	return m ? m->value : 0;
}

void disk_summary(const struct weft_result *r, FILE *f)
{
	static const char *const kinds[] = { "read", "write", "flush", "trim",
					     "zero" };
	static const char *const heads[] = {
		"requests", "number",	     "MB",
		"errors",   "MB/s modelled", "per second"
	};
	struct table *t = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *k = kinds[i];
		uint64_t n = counter(r, k, "requests");
		uint64_t bad = counter(r, k, "errors");

		if (!n && !bad)
			continue;
		if (!t)
			t = table_new(heads, 6);
		table_cell(t, "%s", k);
		table_cell(t, "%" PRIu64, n);
		table_cell(t, "%.3f", (double)counter(r, k, "bytes") / 1e6);
		table_cell(t, "%" PRIu64, bad);
		table_cell(t, "%.4g", metric(r, k, "rate"));
		table_cell(t, "%.4g", metric(r, k, "per_second"));
	}
	if (t)
		table_print(t, f);
}
