/* SPDX-License-Identifier: Apache-2.0 */
/* Packet-hops per second through the buffered crossbar with the full credit
 * protocol: traffic components on every port, uniform destinations, sinks that
 * drain at the rate of a 100 MHz bus. One packet through the switch is one hop,
 * although it crosses two links. Frames carry sizes and times but no payload
 * bytes, because the bench measures the switch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/bench/bench.h"
#include "systems/forth/link/port.h"
#include "weft/sim.h"

extern const struct weft_class weft_class_forth_gen, weft_class_forth_xbar;

struct fab {
	struct weft_sim *sim;
	uint32_t ports;
};

static struct weft_comp *
bench_switch_add(struct fab *f, const struct weft_class *cls, const char *name,
		 const char *const *set, struct weft_err *err)
{
	struct weft_comp *c = weft_sim_add(f->sim, cls, name, err);

	for (; c && *set; set += 2)
		if (weft_param_set(c, set[0], set[1], err))
			return NULL;
	return c && !weft_comp_init(c, err) ? c : NULL;
}

static int add_node(struct fab *f, uint32_t i, struct weft_comp *sw,
		    const char *size, const char *load, struct weft_err *err)
{
	char name[32], node[16], ports[16];
	const char *none[] = { NULL };
	const char *set[] = { "node", node, "dests",  ports, "size", size,
			      "load", load, "verify", "no",  NULL };
	struct weft_comp *gen, *link;

	snprintf(node, sizeof(node), "%u", i);
	snprintf(ports, sizeof(ports), "%u", f->ports);
	snprintf(name, sizeof(name), "gen%u", i);
	gen = bench_switch_add(f, &weft_class_forth_gen, name, set, err);
	snprintf(name, sizeof(name), "link%u", i);
	link = bench_switch_add(f, &weft_class_forth_link, name, none, err);
	if (!gen || !link)
		return -EINVAL;
	return weft_connect(&gen->ports[0], &sw->ports[i], link, 0, err);
}

static uint64_t bench_switch_hops(const struct fab *f)
{
	struct weft_comp *c;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < weft_sim_count(f->sim); i++) {
		c = weft_sim_at(f->sim, i);
		if (c->cls == &weft_class_forth_gen)
			n += c->counters[2]; /* received */
	}
	return n;
}

static int bench_switch_one(struct bench_ctx *b, uint32_t n, const char *size,
			    const char *load, struct weft_err *err)
{
	uint64_t want = bench_size(b, 2000000, 300000), ns, done, before;
	struct fab f = { .sim = weft_sim_new(1), .ports = n };
	char name[64], ports[16];
	const char *set[] = { "ports", ports, NULL };
	struct weft_comp *sw;
	int ret;

	weft_sim_set_payload(f.sim, false);
	snprintf(ports, sizeof(ports), "%u", n);
	sw = bench_switch_add(&f, &weft_class_forth_xbar, "switch", set, err);
	ret = sw ? 0 : -EINVAL;
	for (uint32_t i = 0; !ret && i < n; i++)
		ret = add_node(&f, i, sw, size, load, err);
	if (!ret)
		ret = weft_sim_start(f.sim, err);
	if (ret)
		goto out;
	weft_sim_run(f.sim, 100 * WEFT_US);
	before = bench_switch_hops(&f);
	ns = bench_cpu_ns();
	do {
		weft_sim_run(f.sim, weft_sim_now(f.sim) + 100 * WEFT_US);
		done = bench_switch_hops(&f) - before;
	} while (done < want);
	ns = bench_cpu_ns() - ns;
	snprintf(name, sizeof(name), "hops_%ux%u_%sB_%s", n, n, size,
		 *load == '0' ? "half" : "full");
	bench_report(b, name, "M/s", (double)done * 1e3 / (double)ns);
out:
	weft_sim_free(f.sim);
	return ret;
}

enum { IDLE_SWITCHES = 16, IDLE_PORTS = 32 };

/* Measures the memory per connected port of a 32x32 switch before any traffic.
 * The memory of the crosspoints is included. The switches are cabled in pairs,
 * port to port. */
static int idle_port(struct bench_ctx *b, struct weft_err *err)
{
	struct fab f = { .sim = weft_sim_new(1) };
	const char *set[] = { "ports", "32", NULL };
	uint64_t before = bench_rss_bytes();
	struct weft_comp *sw[IDLE_SWITCHES];
	char name[16];
	int ret = 0;

	for (uint32_t i = 0; i < IDLE_SWITCHES && !ret; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		sw[i] = bench_switch_add(&f, &weft_class_forth_xbar, name, set,
					 err);
		ret = sw[i] ? 0 : -EINVAL;
		for (uint32_t k = 0; i % 2 && k < IDLE_PORTS && !ret; k++)
			ret = weft_connect(&sw[i]->ports[k],
					   &sw[i - 1]->ports[k], NULL,
					   300 * WEFT_NS, err);
	}
	if (!ret)
		ret = weft_sim_start(f.sim, err);
	if (!ret)
		bench_report(b, "idle_port", "bytes",
			     (double)(bench_rss_bytes() - before) /
				     (IDLE_SWITCHES * IDLE_PORTS));
	weft_sim_free(f.sim);
	return ret;
}

int bench_switch(struct bench_ctx *b, struct weft_err *err)
{
	static const char *const sizes[] = { "24", "128", "512" };
	static const char *const loads[] = { "0.5", "2" };
	static const uint32_t ports[] = { 8, 32 };
	uint32_t p, s, l;
	int ret = idle_port(b, err);

	for (p = 0; p < 2 && !ret; p++)
		for (s = 0; s < 3 && !ret; s++)
			for (l = 0; l < 2 && !ret; l++)
				ret = bench_switch_one(b, ports[p], sizes[s],
						       loads[l], err);
	return ret;
}
