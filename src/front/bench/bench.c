/* SPDX-License-Identifier: Apache-2.0 */
/* `weft bench`: runs the benches of bench.def and of the systems. */
#include "front/bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/out/out.h"

static const struct bench benches[] = {
#define X(id, doc_)    { .name = #id, .doc = doc_, .run = bench_##id },
#define BENCH(id, doc) X(id, doc)
#include "front/bench/bench.def"
#include "systems.def"
#undef X
	{ 0 },
};

struct bench_ctx {
	const struct bench *bench;
	struct json *j; /* JSON output; NULL: lines of text */
	bool quick;
};

void bench_report(struct bench_ctx *b, const char *name, const char *unit,
		  double value)
{
	if (!b->j) {
		printf("%-10s %-32s %12.6g  %s\n", b->bench->name, name, value,
		       unit);
		fflush(stdout);
		return;
	}
	json_obj(b->j, NULL);
	json_str(b->j, "bench", b->bench->name);
	json_str(b->j, "name", name);
	json_str(b->j, "unit", unit);
	json_real(b->j, "value", value);
	json_end(b->j);
}

bool bench_full(const struct bench_ctx *b)
{
	return !b->quick;
}

uint32_t bench_size(const struct bench_ctx *b, uint32_t full, uint32_t quick)
{
	return b->quick ? quick : full;
}

uint64_t bench_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t bench_rss_bytes(void)
{
	unsigned long size, rss = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &size, &rss) != 2)
		rss = 0;
	if (f)
		fclose(f);
	return (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE);
}

const char *bench_next(void *unused, size_t i)
{
	return benches[i].name;
}

static int bench_all(struct bench_ctx *ctx, const char *name)
{
	struct weft_err err = { 0 };
	const char *near;
	bool any = false;

	for (const struct bench *b = benches; b->name; b++) {
		if (name && strcmp(name, b->name))
			continue;
		any = true;
		ctx->bench = b;
		if (b->run(ctx, &err))
			return cli_error(&err);
	}
	if (any)
		return CLI_OK;
	fprintf(stderr, "weft: bench: no bench '%.40s': ", name);
	near = units_nearest(name, bench_next, NULL);
	if (near) {
		fprintf(stderr, "did you mean '%s'?\n", near);
		return CLI_USAGE;
	}
	fprintf(stderr, "there are");
	for (const struct bench *b = benches; b->name; b++)
		fprintf(stderr, " %s", b->name);
	fprintf(stderr, "\n");
	return CLI_USAGE;
}

int cmd_bench(struct cli *c)
{
	struct bench_ctx ctx = { .quick = c->quick };
	const char *name = c->args.n ? c->args.at[0] : NULL;
	struct json j;
	int status;

	if (!cli_format_is(c, "json"))
		return cli_flush(bench_all(&ctx, name));
	json_init(&j, true);
	ctx.j = &j;
	json_arr(&j, NULL);
	status = bench_all(&ctx, name);
	json_end(&j);
	if (status == CLI_OK)
		printf("%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
	return cli_flush(status);
}
