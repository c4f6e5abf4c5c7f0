/* SPDX-License-Identifier: Apache-2.0 */
/* Messages per second of a whole system: programs that post descriptors and
 * check every byte, hosts, PCI-X, NICs with their DMA engines, links and
 * crossbar. Eight nodes send to random destinations as fast as the simulated
 * machines allow. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "front/bench/bench.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"

static const char text[] =
	"nodes:\n"
	"  count: 8\n"
	"  host: { type: host.pc }\n"
	"  bus: { type: bus.pcix }\n"
	"  nic: { type: forth.nic, preset: plat-switch }\n"
	"fabric:\n"
	"  type: switch\n"
	"  switch: { type: forth.xbar, preset: plat-switch }\n"
	"  link: { type: forth.link }\n"
	"workload:\n"
	"  - { program: forth.traffic, preset: uniform, notify: 16,"
	" interval: 0 }\n";

static int run_case(struct bench_ctx *b, struct exp_case *c, const char *size,
		    double messages)
{
	uint64_t ns = bench_cpu_ns(), events;
	struct weft_result *r;
	char name[40];

	weft_sim_run(c->sim, WEFT_NEVER);
	ns = bench_cpu_ns() - ns;
	events = weft_sim_events(c->sim);
	r = weft_sim_result(c->sim);
	if (r->n_failures)
		return -EIO;
	snprintf(name, sizeof(name), "messages_%sB", size);
	bench_report(b, name, "M/s", messages * 1e3 / (double)ns);
	snprintf(name, sizeof(name), "events_%sB", size);
	bench_report(b, name, "events/message", (double)events / messages);
	return 0;
}

static int one(struct bench_ctx *b, const struct registry *reg,
	       const char *size, struct weft_err *err)
{
	uint32_t count = bench_size(b, 50000, 10000);
	char set_size[40], set_count[40];
	const char *set[] = { set_size, set_count };
	const struct exp_opts opts = { .set = set, .n_set = 2 };
	struct exp_case c;
	struct exp *e;
	int ret;

	snprintf(set_size, sizeof(set_size), "workload.size=%s", size);
	snprintf(set_count, sizeof(set_count), "workload.count=%u", count);
	ret = exp_load_text("bench", text, strlen(text), &opts, reg, &e, err);
	if (ret)
		return ret;
	ret = exp_case_open(e, 0, &c, err);
	if (!ret) {
		ret = run_case(b, &c, size, 8.0 * count);
		if (ret)
			weft_fail(err, EIO, "the traffic failed its checks");
		exp_case_close(&c);
	}
	exp_free(e);
	return ret;
}

int bench_nic(struct bench_ctx *b, struct weft_err *err)
{
	struct registry reg;
	int ret;

	registry_init(&reg);
	ret = one(b, &reg, "24", err);
	if (!ret)
		ret = one(b, &reg, "512", err);
	registry_fini(&reg);
	return ret;
}
