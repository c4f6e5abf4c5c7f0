/* SPDX-License-Identifier: Apache-2.0 */
/* Compares eth.switch with ref_eth.c in steps of 2 ns, with random frames,
 * settings and pauses. Every copy must leave at the same time by the same
 * port. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_eth.h"
#include "base/rng.h"
#include "eth_feed.h"

enum { FRAMES = 160, OUT = 4096, TICK_NS = 2 };

static struct ref_eth_frame in[FRAMES];
static struct ref_eth_out want[OUT];
static struct feed d;

static uint32_t below(struct weft_rng *r, uint32_t n)
{
	return (uint32_t)weft_rng_below(r, n);
}

static void draw_cfg(struct weft_rng *r, struct ref_eth_cfg *c)
{
	*c = (struct ref_eth_cfg){
		.ports = 2 + below(r, 4),
		.latency = 1 + below(r, 1000),
		.buffer = 2048 + below(r, 20000),
		.quanta = 1 + below(r, 30),
		.cut = below(r, 2),
		.pause = below(r, 2),
		.ageing = below(r, 3) ? 1000000000 : 20000,
	};
	c->xoff = 1 + c->buffer / 2;
	c->xon = 1 + below(r, c->xoff);
}

static uint32_t draw_len(struct weft_rng *r)
{
	return below(r, 2) ? 60 + below(r, 100) : 60 + below(r, 1455);
}

static void draw_frames(struct weft_rng *r, const struct ref_eth_cfg *c)
{
	uint64_t at[REF_PORTS] = { 0 };
	uint32_t busy = below(r, 4) ? 0 : 4000;

	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t p = below(r, c->ports), n = draw_len(r);
		bool pause = c->pause && !below(r, 12);

		n = pause ? 60 : n;
		at[p] = at[p] ? at[p] + below(r, 20 + busy) : 300 + below(r, 9);
		in[i] = (struct ref_eth_frame){
			.port = p,
			.len = n,
			.id = i + 1,
			.start = at[p],
			.src = below(r, 5) ? p : below(r, 12),
			.dst = pause ? (uint32_t)REF_PAUSE : below(r, 12),
			.quanta = below(r, 40),
			.bad = !pause && !below(r, 15),
		};
		at[p] += (8 + n + 4 + 12) * REF_TICKS;
	}
}

static void open_switch(const struct ref_eth_cfg *c)
{
	char v[6][32];
	const char *set[] = { "latency", v[0],
			      "buffer",	 v[1],
			      "xoff",	 v[2],
			      "xon",	 v[3],
			      "quanta",	 v[4],
			      "ageing",	 v[5],
			      "mode",	 c->cut ? "cut" : "store",
			      "full",	 c->pause ? "pause" : "drop",
			      NULL };

	snprintf(v[0], sizeof(v[0]), "%uns", TICK_NS * c->latency);
	snprintf(v[1], sizeof(v[1]), "%u", c->buffer);
	snprintf(v[2], sizeof(v[2]), "%u", c->xoff);
	snprintf(v[3], sizeof(v[3]), "%u", c->xon);
	snprintf(v[4], sizeof(v[4]), "%u", c->quanta);
	snprintf(v[5], sizeof(v[5]), "%lluns",
		 (unsigned long long)c->ageing * TICK_NS);
	feed_init(&d, c->ports, set);
}

static void send_all(void)
{
	uint8_t a[ETH_ADDR];

	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct ref_eth_frame *f = &in[i];
		struct weft_frame *w;

		eth_addr_of(a,
			    0xffff); /* an address to which no frame is sent */
		w = f->dst == REF_PAUSE
			    ? eth_pause_new(d.sim, a, (uint16_t)f->quanta)
			    : feed_frame(&d, f->src, f->dst, f->len, f->id);
		if (f->bad)
			feed_damage(w);
		feed_send(&d, f->port, w, f->start * TICK_NS * WEFT_NS);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct feed_got *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static uint32_t id_of(const struct feed_got *g)
{
	return g->dst == 0xc2000001
		       ? (uint32_t)REF_PAUSE << 16 | (g->id & 0xffff)
		       : g->id;
}

static void one(uint64_t seed)
{
	struct weft_rng r;
	struct ref_eth_cfg c;
	uint32_t n, i, dropped;

	weft_rng_seed(&r, seed, "eth_ref");
	draw_cfg(&r, &c);
	draw_frames(&r, &c);
	n = ref_eth_run(&c, in, FRAMES, want, OUT, &dropped);
	open_switch(&c);
	send_all();
	feed_run(&d);
	qsort(d.got, d.n_got, sizeof(*d.got), by_start);
	for (i = 0; i < n && i < d.n_got; i++)
		if (d.got[i].start != want[i].start * TICK_NS * WEFT_NS ||
		    d.got[i].port != want[i].port ||
		    id_of(&d.got[i]) != want[i].id)
			fail_msg(
				"seed %llu: output %u: frame %x at %llu by "
				"%u, want %x at %llu by %u",
				(unsigned long long)seed, i, id_of(&d.got[i]),
				(unsigned long long)(d.got[i].start / WEFT_NS),
				d.got[i].port, want[i].id,
				(unsigned long long)want[i].start * TICK_NS,
				want[i].port);
	assert_int_equal(d.n_got, n);
	assert_int_equal(feed_count(&d, "dropped"), dropped);
	assert_true(n > FRAMES / 4);
	feed_fini(&d);
}

static uint64_t first = 1, runs = 400;

static void random_traffic(void **state)
{
	for (uint64_t seed = first; seed < first + runs; seed++)
		one(seed);
}

/* Runs the scenarios. Arguments: [first seed [how many]]. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_traffic) };

	first = argc > 1 ? strtoull(argv[1], NULL, 10) : first;
	runs = argc > 2 ? strtoull(argv[2], NULL, 10) : runs;
	return cmocka_run_group_tests_name("eth_ref", tests, NULL, NULL);
}
