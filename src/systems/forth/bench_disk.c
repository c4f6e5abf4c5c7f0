/* SPDX-License-Identifier: Apache-2.0 */
/* Measures rates of block data. An initiator reads and writes a target at
 * random offsets over the native link. Half of the requests are reads, the
 * other half are writes.
 *
 * For "simulated" and "verified" the bench runs program disk.load with 32
 * requests in flight, and measures the processor time of the simulator. Only
 * "verified" checks the bytes.
 *
 * For "client" and "plain" the bench runs fio with 16 requests in flight, and
 * measures the real time of all processes, which share one core. "client"
 * accesses experiment forth/storage-sizes through `weft disk --clock none`.
 * "plain" accesses the memory disk of nbdkit. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/bench/bench.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"

static const char text[] =
	"nodes:\n"
	"  count: 2\n"
	"  host: { type: host.pc }\n"
	"  bus: { type: bus.pcix }\n"
	"  nic: { type: forth.nic, preset: tr-direct }\n"
	"fabric:\n"
	"  type: direct\n"
	"  link: { type: forth.link }\n"
	"workload:\n"
	"  - { program: disk.load, on: 0, pattern: random, depth: 32,"
	" range: 32MiB, timeout: 1s }\n"
	"  - { program: disk.target, on: 1, size: 32MiB }\n";

struct disk_case {
	const char *name; /* prefix of the reported names */
	uint64_t size;
	bool verify;
};

static int case_run(struct bench_ctx *b, const struct disk_case *k,
		    struct exp_case *c, uint64_t count)
{
	uint64_t ns = bench_cpu_ns(), events;
	struct weft_result *r;
	char name[60];
	double s;

	weft_sim_run(c->sim, WEFT_NEVER);
	s = (double)(bench_cpu_ns() - ns) / 1e9;
	events = weft_sim_events(c->sim);
	r = weft_sim_result(c->sim);
	if (r->n_failures)
		return -EIO;
	snprintf(name, sizeof(name), "%s_rate", k->name);
	bench_report(b, name, "MB/s", (double)(count * k->size) / 1e6 / s);
	snprintf(name, sizeof(name), "%s_requests", k->name);
	bench_report(b, name, "k/s", (double)count / 1e3 / s);
	snprintf(name, sizeof(name), "%s_events", k->name);
	bench_report(b, name, "events/request", (double)events / (double)count);
	return 0;
}

static int one(struct bench_ctx *b, const struct registry *reg,
	       const struct disk_case *k, struct weft_err *err)
{
	uint64_t count = bench_size(b, 256 << 20, 32 << 20) / k->size;
	char size[60], number[60];
	const char *set[] = { size, number,
			      k->verify ? "workload.0.verify=yes"
					: "workload.0.verify=no" };
	const struct exp_opts opts = { .set = set, .n_set = 3 };
	struct exp_case c;
	struct exp *e;
	int ret;

	snprintf(size, sizeof(size), "workload.0.size=%u", (uint32_t)k->size);
	snprintf(number, sizeof(number), "workload.0.count=%u",
		 (uint32_t)count);
	ret = exp_load_text("bench", text, strlen(text), &opts, reg, &e, err);
	if (ret)
		return ret;
	ret = exp_case_open(e, 0, &c, err);
	if (!ret) {
		ret = case_run(b, k, &c, count);
		if (ret)
			weft_fail(err, EIO, "the disk failed its checks");
		exp_case_close(&c);
	}
	exp_free(e);
	return ret;
}

/* ---- clients ---- */

#define FIO                                                                    \
	"fio --name=t --ioengine=nbd --uri=$uri --rw=randrw --iodepth=16 "     \
	"--output-format=terse --terse-version=3 --bs=%u --size=%uM"

struct client {
	const char *name;
	const char *run; /* command, with the fio command as argument 1 and the
			  * path of weft as argument 2 */
};

/* Returns field `k`, counted from 1, of a line with fields between semicolons,
 * or 0 if the line has fewer. */
static double field(const char *line, int k)
{
	while (--k && line) {
		line = strchr(line, ';');
		line = line ? line + 1 : NULL;
	}
	return line ? strtod(line, NULL) : 0;
}

/* Runs fio. Returns the bytes per second that it read and wrote, or 0 if it
 * failed. */
static double client_rate(const char *command)
{
	enum { READ_KIB = 7, WRITE_KIB = 48 };
	FILE *f = popen(command, "r");
	char line[4096];
	double kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "3;fio", 5))
			kib = field(line, READ_KIB) + field(line, WRITE_KIB);
	return f && !pclose(f) ? kib * 1024 : 0;
}

static void client_run(struct bench_ctx *b, const struct client *c,
		       const char *weft, uint32_t size, uint32_t mib)
{
	char fio[400], command[5000], name[60];
	double rate;

	snprintf(fio, sizeof(fio), FIO, size, mib);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(command, sizeof(command), c->run, fio, weft);
#pragma GCC diagnostic pop
	rate = client_rate(command);
	snprintf(name, sizeof(name), "%s_%uK_rate", c->name, size >> 10);
	if (rate)
		bench_report(b, name, "MB/s", rate / 1e6);
	snprintf(name, sizeof(name), "%s_%uK_requests", c->name, size >> 10);
	if (rate)
		bench_report(b, name, "k/s", rate / size / 1e3);
}

/* Runs the clients if nbdkit and fio are installed. */
static void clients_run(struct bench_ctx *b)
{
	static const struct client clients[] = {
		{ "client",
		  "'%2$s' disk --fabric forth/storage-sizes --set sweep=none "
		  "--clock none --size 256MiB --quiet '%1$s'" },
		{ "plain", "nbdkit -U - memory 256M --run 'export uri; %1$s'" },
	};
	char weft[4096] = "";
	cpu_set_t all, one;

	if (system("command -v nbdkit fio >/dev/null") ||
	    readlink("/proc/self/exe", weft, sizeof(weft) - 1) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(one), &one))
		return;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		client_run(b, &clients[i], weft, 65536, bench_size(b, 128, 32));
		client_run(b, &clients[i], weft, 4096, bench_size(b, 64, 8));
	}
	sched_setaffinity(0, sizeof(all), &all);
}

int bench_disk(struct bench_ctx *b, struct weft_err *err)
{
	static const struct disk_case cases[] = {
		{ "simulated_64K", 65536, false },
		{ "simulated_4K", 4096, false },
		{ "verified_64K", 65536, true },
	};
	struct registry reg;
	int ret = 0;

	registry_init(&reg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases) && !ret; i++)
		ret = one(b, &reg, &cases[i], err);
	registry_fini(&reg);
	if (!ret)
		clients_run(b);
	return ret;
}
