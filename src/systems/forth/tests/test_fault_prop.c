/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of links and switches under faults, in random scenarios: sources
 * and sinks on one cable or around a switch, sizes, buffers and rates drawn
 * from the seed.
 *
 * Credits lost, 0..10 %, 50 %, 95 % (forth.md 5.5, V10): every packet arrives,
 * in order and whole, and no buffer overflows. Packets lost or damaged, cables
 * cut, with resynchronisation (5.7): every source sends all its packets, no
 * buffer overflows, and every packet that does not arrive is in exactly one
 * counter.
 *
 * WEFT_SEED=n replays the scenario of seed n, WEFT_ROUNDS=n plays n
 * scenarios. */
#include "unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/sim.h"

extern const struct weft_class weft_class_forth_gen, weft_class_forth_xbar,
	weft_class_fault_drop, weft_class_fault_bits, weft_class_fault_cut;

enum { PORTS = 6, CC = 12800000 };
#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 48 };
#else
enum { ROUNDS = 240 };
#endif

struct world {
	struct weft_sim *sim;
	struct weft_comp *gen[PORTS], *sw, *fault[2 * PORTS];
	uint32_t n, n_faults;
	/* packets: number that each source sends */
	uint64_t rng, seed, packets;
	uint32_t charge; /* charge of the largest packet */
	/* each node sends to the node whose number is its own + turn, or to any
	 * node, itself included, if turn is 0 */
	uint32_t turn;
};

static uint64_t draw(struct world *w, uint64_t n)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (w->rng >> 11) % n;
}

static void must(const struct world *w, int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("seed %" PRIu64 ": %s", w->seed, err->msg);
}

static void set(struct world *w, struct weft_comp *c, const char *name,
		const char *value)
{
	struct weft_err err = { 0 };

	must(w, weft_param_set(c, name, value, &err), &err);
}

static void set_u64(struct world *w, struct weft_comp *c, const char *name,
		    uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	set(w, c, name, text);
}

static uint64_t get(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	fail_msg("%s has no counter %s", c->cls->name, name);
	return 0;
}

static uint64_t sum(const struct world *w, const char *name)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < w->n; i++)
		v += get(w->gen[i], name);
	return v;
}

static uint64_t faults(const struct world *w, const char *name)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < w->n_faults; i++)
		v += get(w->fault[i], name);
	return v;
}

/* ---- scenarios ---- */

struct common {
	uint64_t size, size_max, rx, refresh, resync, credit_words;
	bool packed;
};

static void make_gen(struct world *w, uint32_t i, const struct common *k)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[8];

	snprintf(name, sizeof(name), "t%u", i);
	c = w->gen[i] = weft_sim_add(w->sim, &weft_class_forth_gen, name, &err);
	set_u64(w, c, "node", i);
	set_u64(w, c, "dests", w->n);
	set_u64(w, c, "packets", w->packets);
	set(w, c, "load", "5");
	if (!w->sw) {
		set(w, c, "pattern", "fixed");
		set_u64(w, c, "dest", 1 - i);
	} else if (w->turn) {
		set(w, c, "pattern", "permutation");
		set_u64(w, c, "dest", w->turn);
	} else if (draw(w, 2)) {
		set(w, c, "pattern", "hotspot");
		set_u64(w, c, "dest", draw(w, w->n));
	}
	set_u64(w, c, "size", k->size);
	set_u64(w, c, "size_max", k->size_max);
	set_u64(w, c, "rx_bytes", k->rx);
	set_u64(w, c, "refresh_cc", k->refresh);
	set_u64(w, c, "resync", k->resync);
	set_u64(w, c, "credit_words", k->credit_words);
	set(w, c, "frame", k->packed ? "packed" : "word");
	if (draw(w, 3) == 0)
		set(w, c, "hold", "20us");
	must(w, weft_comp_init(c, &err), &err);
}

static void make_switch(struct world *w, const struct common *k)
{
	struct weft_err err = { 0 };
	uint64_t words = w->charge + 31; /* 5.2, tight */

	w->sw = weft_sim_add(w->sim, &weft_class_forth_xbar, "s0", &err);
	if (draw(w, 3))
		words += draw(w, 400);
	set_u64(w, w->sw, "ports", w->n);
	set_u64(w, w->sw, "xp_bytes", 4 * words);
	set_u64(w, w->sw, "refresh_cc", k->refresh);
	set_u64(w, w->sw, "resync", k->resync);
	set_u64(w, w->sw, "credit_words", k->credit_words);
	set(w, w->sw, "frame", k->packed ? "packed" : "word");
	set(w, w->sw, "cs_credit", draw(w, 2) ? "start" : "per_word");
	must(w, weft_comp_init(w->sw, &err), &err);
}

static void world_init(struct world *w, uint64_t seed, bool resync,
		       bool anywhere)
{
	struct weft_err err = { 0 };
	struct common k = { 0 };
	bool direct;

	*w = (struct world){ .seed = seed,
			     .rng = seed * 0x9E3779B97F4A7C15ull + 1 };
	draw(w, 2);
	w->sim = weft_sim_new(seed);
	direct = draw(w, 3) == 0;
	w->n = direct ? 2 : 2 + (uint32_t)draw(w, PORTS - 1);
	w->turn = anywhere ? 0 : 1 + (uint32_t)draw(w, w->n - 1);
	w->packets = 20 + draw(w, 60);
	k.size = 8 + 8 * draw(w, 32);
	k.size_max = k.size + 8 * draw(w, 32);
	w->charge = (uint32_t)(k.size_max > 24 ? k.size_max : 24) / 4 + 4;
	k.rx = 4 * (w->charge + 31 + draw(w, 1500));
	k.rx = k.rx < 1024 ? 1024 : k.rx;
	k.refresh = 64 << draw(w, 5);
	if (resync) /* a time-out shorter than a round trip is also drawn */
		k.resync = 40 << draw(w, 9);
	k.credit_words = draw(w, 3) ? 0 : draw(w, 4);
	k.packed = !draw(w, 4);
	if (!direct)
		make_switch(w, &k);
	for (uint32_t i = 0; i < w->n; i++) {
		make_gen(w, i, &k);
		if (w->sw || i == 1)
			must(w,
			     weft_connect(w->sw ? &w->sw->ports[i]
						: &w->gen[0]->ports[0],
					  &w->gen[i]->ports[0], NULL,
					  (1 + draw(w, 60)) * CC, &err),
			     &err);
	}
}

/* Puts a fault on frames that leave p. settings: name, value, .. NULL. */
static void put(struct world *w, struct weft_port *p,
		const struct weft_class *cls, const char *const *settings)
{
	struct weft_err err = { 0 };
	char name[16];
	struct weft_comp *c;

	snprintf(name, sizeof(name), "fault%u", w->n_faults);
	c = weft_sim_add(w->sim, cls, name, &err);
	for (; *settings; settings += 2)
		set(w, c, settings[0], settings[1]);
	must(w, weft_comp_init(c, &err), &err);
	must(w, weft_filter_add(p, c, &err), &err);
	w->fault[w->n_faults++] = c;
}

static void put_everywhere(struct world *w, const struct weft_class *cls,
			   const char *const *settings)
{
	for (uint32_t i = 0; i < w->n; i++) {
		put(w, &w->gen[i]->ports[0], cls, settings);
		if (w->sw)
			put(w, &w->sw->ports[i], cls, settings);
	}
}

/* Runs until all packets are sent and the last ones have had time to arrive. */
static void world_run(struct world *w, uint64_t cycles)
{
	struct weft_err err = { 0 };
	uint64_t t, end = 0;

	must(w, weft_sim_start(w->sim, &err), &err);
	for (t = 20000; t < cycles; t += 20000) {
		weft_sim_run(w->sim, t * CC);
		if (sum(w, "sent") == w->n * w->packets && !end)
			end = t + cycles / 10;
		if (sum(w, "received") == w->n * w->packets || (end && t > end))
			break;
	}
	must(w, weft_sim_finish(w->sim, &err), &err);
}

#define CHECK(w, a, b)                                                         \
	do {                                                                   \
		uint64_t a_ = (a), b_ = (b);                                   \
		if (a_ != b_)                                                  \
			fail_msg("seed %" PRIu64 ": %s is %" PRIu64            \
				 ", not %" PRIu64,                             \
				 (w)->seed, #a, a_, b_);                       \
	} while (0)

/* Checks the properties that hold under every fault of this file. */
static void check_common(const struct world *w)
{
	CHECK(w, sum(w, "sent"), w->n * w->packets);
	CHECK(w, sum(w, "overflow"), 0);
	CHECK(w, sum(w, "corrupt"), 0);
	if (w->sw) {
		CHECK(w, get(w->sw, "overflow"), 0);
		CHECK(w, get(w->sw, "unknown_flow"), 0);
	}
}

/* Returns the sum of a counter over all link ends. */
static uint64_t ends(const struct world *w, const char *name)
{
	return sum(w, name) + (w->sw ? get(w->sw, name) : 0);
}

/* ---- properties ---- */

static void credits_lost(uint64_t seed)
{
	static const char *const high[] = { "0.1", "0.5", "0.95" };
	char rate[16];
	const char *const f[] = { "credits", rate, NULL };
	struct world w;

	world_init(&w, seed, false, true);
	snprintf(rate, sizeof(rate), "0.%04u", (unsigned)draw(&w, 1000));
	if (seed % 4 == 0)
		snprintf(rate, sizeof(rate), "%s", high[draw(&w, 3)]);
	put_everywhere(&w, &weft_class_fault_drop, f);
	world_run(&w, 20000000);
	check_common(&w);
	CHECK(&w, sum(&w, "received"), w.n * w.packets);
	CHECK(&w, sum(&w, "disorder"), 0);
	CHECK(&w, sum(&w, "bad_body"), 0);
	weft_sim_free(w.sim);
}

static void packets_lost(uint64_t seed)
{
	static const char *const f[] = { "packets", "0.03", "credits", "0.05",
					 NULL };
	struct world w;

	world_init(&w, seed, true, true);
	put_everywhere(&w, &weft_class_fault_drop, f);
	world_run(&w, 20000000);
	check_common(&w);
	CHECK(&w, sum(&w, "received") + faults(&w, "packets"), w.n * w.packets);
	CHECK(&w, sum(&w, "bad_body"), 0);
	weft_sim_free(w.sim);
}

/* Damages one bit of a header, but not the first one, which would make the
 * header a credit. */
static void headers_damaged(uint64_t seed)
{
	char frame[8], bit[8], count[8];
	const char *const f[] = { "target", "header", "frame", frame, "bit",
				  bit,	    "count",  count,   NULL };
	struct world w;

	world_init(&w, seed, true, true);
	snprintf(frame, sizeof(frame), "%u", 1 + (unsigned)draw(&w, 10));
	snprintf(bit, sizeof(bit), "%u", 1 + (unsigned)draw(&w, 79));
	snprintf(count, sizeof(count), "%u", 1 + (unsigned)draw(&w, 9));
	put_everywhere(&w, &weft_class_fault_bits, f);
	world_run(&w, 20000000);
	check_common(&w);
	CHECK(&w, faults(&w, "header"), ends(&w, "header_crc"));
	CHECK(&w, faults(&w, "header"), faults(&w, "flipped"));
	CHECK(&w, sum(&w, "received") + faults(&w, "header"), w.n * w.packets);
	weft_sim_free(w.sim);
}

/* The switch forwards a damaged body, and the receiver counts it once (V08).
 * Damage on both hops of a packet would also count once. Therefore only the
 * lines of the sources are damaged. */
static void bodies_damaged(uint64_t seed)
{
	static const char *const f[] = { "target", "body", "rate", "2e-5",
					 NULL };
	struct world w;

	world_init(&w, seed, true, true);
	for (uint32_t i = 0; i < w.n; i++)
		put(&w, &w.gen[i]->ports[0], &weft_class_fault_bits, f);
	world_run(&w, 20000000);
	check_common(&w);
	CHECK(&w, sum(&w, "received"), w.n * w.packets);
	CHECK(&w, sum(&w, "bad_body"), faults(&w, "body"));
	CHECK(&w, sum(&w, "disorder"), 0);
	weft_sim_free(w.sim);
}

/* A credit with one wrong bit is ignored and has no further effect (V09). */
static void credits_damaged(uint64_t seed)
{
	char bit[8];
	const char *const f[] = { "target", "credit", "frame", "3", "bit",
				  bit,	    "count",  "5",     NULL };
	struct world w;

	world_init(&w, seed, true, true);
	snprintf(bit, sizeof(bit), "%u", 1 + (unsigned)draw(&w, 15));
	put_everywhere(&w, &weft_class_fault_bits, f);
	world_run(&w, 20000000);
	check_common(&w);
	CHECK(&w, sum(&w, "received"), w.n * w.packets);
	CHECK(&w, faults(&w, "credit"), 5 * w.n_faults);
	CHECK(&w, ends(&w, "credit_parity"), faults(&w, "flipped"));
	weft_sim_free(w.sim);
}

/* A cable is cut and restored in both directions at once. No node sends to
 * itself, so that no packet meets the cut twice. */
static void cables_cut(uint64_t seed)
{
	char at[16], length[16], every[16];
	const char *const f[] = { "at",	   at,	  "length", length,
				  "every", every, NULL };
	struct world w;
	uint64_t len;
	uint32_t i;

	world_init(&w, seed, true, false);
	len = 1 + draw(&w, 30);
	snprintf(at, sizeof(at), "%uus", 1 + (unsigned)draw(&w, 40));
	snprintf(length, sizeof(length), "%uus", (unsigned)len);
	snprintf(every, sizeof(every), "%uus",
		 (unsigned)(len + 60 + draw(&w, 200)));
	i = (uint32_t)draw(&w, w.n);
	put(&w, &w.gen[i]->ports[0], &weft_class_fault_cut, f);
	put(&w, w.gen[i]->ports[0].peer, &weft_class_fault_cut, f);
	world_run(&w, 40000000);
	check_common(&w);
	CHECK(&w, ends(&w, "sync_loss"), faults(&w, "cuts"));
	/* a packet truncated behind its header is delivered and marked as
	 * bad */
	CHECK(&w,
	      sum(&w, "received") - sum(&w, "bad_body") +
		      faults(&w, "packets") + faults(&w, "truncated") +
		      ends(&w, "unsync"),
	      w.n * w.packets);
	weft_sim_free(w.sim);
}

static void rounds(void (*one)(uint64_t seed), uint64_t from, uint64_t count)
{
	const char *seed = getenv("WEFT_SEED"), *more = getenv("WEFT_ROUNDS");

	if (more)
		count = strtoull(more, NULL, 10);
	if (seed) {
		from = strtoull(seed, NULL, 10);
		count = 1;
	}
	print_message("seeds %" PRIu64 "..%" PRIu64 "\n", from,
		      from + count - 1);
	for (uint64_t i = 0; i < count; i++)
		one(from + i);
}

#define PROPERTY(name, from, count)                                            \
	static void test_##name(void **state)                                  \
	{                                                                      \
		rounds(name, from, count);                                     \
	}
PROPERTY(credits_lost, 1, ROUNDS)
PROPERTY(packets_lost, 1, ROUNDS / 4)
PROPERTY(headers_damaged, 150,
	 ROUNDS / 4) /* seed 191 discards packets out of order */
PROPERTY(bodies_damaged, 530, ROUNDS / 8) /* seed 543: damaged padding */
PROPERTY(credits_damaged, 1, ROUNDS / 8)
PROPERTY(cables_cut, 1, ROUNDS / 4)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_credits_lost),
		cmocka_unit_test(test_packets_lost),
		cmocka_unit_test(test_headers_damaged),
		cmocka_unit_test(test_bodies_damaged),
		cmocka_unit_test(test_credits_damaged),
		cmocka_unit_test(test_cables_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
