/* SPDX-License-Identifier: Apache-2.0 */
/* Bench `events`: measures the cost of one event while 100, 10,000 or 1,000,000
 * events are pending.
 *
 * Each component has several pending wake-ups. When a wake-up runs, the
 * component requests a new one after 1..1000 clock cycles, as links and
 * schedulers do. Half the components run on another clock, so that edges of two
 * domains interleave. */
#include <stdio.h>

#include "front/bench/bench.h"
#include "weft/sim.h"

struct waker {
	struct weft_clock clock;
	uint32_t pending;
	uint64_t *left; /* events still to run, shared by all components */
};

static const struct weft_param waker_params[] = {
	WEFT_PARAM(CLOCK, struct waker, clock, "78.125MHz", "", OWN, "clock"),
	WEFT_PARAM(U32, struct waker, pending, "1", "1..1000", OWN,
		   "wake-ups held"),
	{ 0 },
};

static void waker_again(struct weft_comp *c, uint32_t tag)
{
	struct waker *w = c->state;
	uint64_t cycle = weft_clock_cycle(&w->clock, weft_now(c));

	cycle += 1 + weft_rng_below(&c->rng, 1000);
	weft_wake(c, tag, weft_clock_edge(&w->clock, cycle));
}

static int waker_start(struct weft_comp *c, struct weft_err *err)
{
	struct waker *w = c->state;

	for (uint32_t tag = 0; tag < w->pending; tag++)
		waker_again(c, tag);
	return 0;
}

static void waker_event(struct weft_comp *c, uint32_t tag)
{
	struct waker *w = c->state;

	waker_again(c, tag);
	if (--*w->left == 0)
		weft_sim_stop(c->sim);
}

static const struct weft_class waker_class = {
	.api_version = WEFT_API_VERSION,
	.struct_size = sizeof(struct weft_class),
	.name = "bench.waker",
	.kind = WEFT_KIND_TRAFFIC,
	.state_size = sizeof(struct waker),
	.params = waker_params,
	.ops = { .start = waker_start, .event = waker_event },
};

static int waker_build(struct weft_sim *sim, uint32_t pending, uint64_t *left,
		       struct weft_err *err)
{
	uint32_t per = pending < 1000 ? 10 : 1000;
	char name[24], text[24];

	for (uint32_t i = 0; i < pending / per; i++) {
		struct weft_comp *c;

		snprintf(name, sizeof(name), "w%05u", i);
		snprintf(text, sizeof(text), "%u", per);
		c = weft_sim_add(sim, &waker_class, name, err);
		if (!c || weft_param_set(c, "pending", text, err) ||
		    weft_param_set(c, "clock", i % 2 ? "100MHz" : "78.125MHz",
				   err) ||
		    weft_comp_init(c, err))
			return -1;
		((struct waker *)c->state)->left = left;
	}
	return weft_sim_start(sim, err);
}

int bench_events(struct bench_ctx *b, struct weft_err *err)
{
	static const struct {
		uint32_t pending;
		const char *name;
	} sizes[] = { { 100, "pending_100" },
		      { 10000, "pending_10k" },
		      { 1000000, "pending_1m" } };

	for (size_t i = 0; i < 3; i++) {
		uint64_t events = bench_size(b, 10000000, 1000000), left, t;
		uint64_t warm = sizes[i].pending * 2;
		struct weft_sim *sim = weft_sim_new(1);
		int ret = waker_build(sim, sizes[i].pending, &left, err);

		if (!ret) {
			left = warm < events ? warm : events;
			weft_sim_run(sim, WEFT_NEVER);
			left = events;
			t = bench_cpu_ns();
			weft_sim_run(sim, WEFT_NEVER);
			t = bench_cpu_ns() - t;
			bench_report(b, sizes[i].name, "ns/event",
				     (double)t / (double)events);
		}
		weft_sim_free(sim);
		if (ret)
			return -1;
	}
	return 0;
}
