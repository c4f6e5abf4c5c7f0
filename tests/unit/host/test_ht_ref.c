/* SPDX-License-Identifier: Apache-2.0 */
/* The HyperTransport bus against its slot-by-slot reference: for random scripts
 * the time and content of every note are identical. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../replay.h"
#include "rig_ht.h"
#include "weft/rng.h"

enum { ROUNDS = 1200 };

static uint32_t draw(struct weft_rng *g, uint32_t n)
{
	return (uint32_t)weft_rng_below(g, n);
}

static weft_time_t random_delay(struct weft_rng *g)
{
	switch (draw(g, 5)) {
	case 0:
		return 0;
	case 1: /* a time on a slot of HT400 */
		return draw(g, 200) * (weft_time_t)2500000;
	case 2:
		return draw(g, 20000000);
	default:
		return draw(g, 600000000);
	}
}

static uint64_t random_addr(struct weft_rng *g)
{
	switch (draw(g, 10)) {
	case 0: /* an address at the hole */
		return HT_HOLE_LO - 1024 + draw(g, 2048);
	case 1:
		return 0x200000000 + draw(g, 512);
	case 2:
	case 3:
		return 0x1000 + draw(g, 4096);
	default:
		return 0x1000 + draw(g, 1024) * 8;
	}
}

static void random_dev(struct weft_rng *g, struct ht_list *l)
{
	uint32_t n = draw(g, HT_OPS / 2), burst = draw(g, 3);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bytes = 1 + draw(g, draw(g, 4) ? 64 : 700);
		struct ht_op *o = htrig_add(l, HT_WRITE + draw(g, 2),
					    random_addr(g), bytes);

		if (draw(g, 2))
			o->bytes = (o->bytes + 7) & ~7u;
		o->delay = burst && draw(g, 8) ? 0 : random_delay(g);
		o->relaxed = draw(g, 2);
		o->any_order = draw(g, 4) != 0;
		if (!draw(g, 10))
			*o = (struct ht_op){ .what = HT_IRQ,
					     .delay = o->delay,
					     .level = draw(g, 2) };
	}
}

static void random_host(struct weft_rng *g, struct ht_script *s)
{
	uint32_t n = draw(g, HT_OPS), slow = draw(g, 2) ? 1 : 16;
	uint32_t loads = draw(g, 2) ? 6 : 2;

	for (uint32_t i = 0; i < n; i++) {
		bool load = !draw(g, loads);
		uint32_t at = 4 * draw(g, 16), max = 1 + (64 - at) / 4;
		struct ht_op *o = htrig_add(&s->host, HT_STORE,
					    draw(g, 1u << 20) * 64ull + at,
					    4 + 4 * draw(g, max - 1));

		o->delay = random_delay(g) / slow;
		o->dev = draw(g, 20) ? draw(g, s->devices) : s->devices;
		if (!load && !draw(g, 12))
			o->bytes = 1 + draw(g, 2);
		if (load) {
			o->what = HT_LOAD;
			o->bytes = 4 << draw(g, 2);
			o->addr &= ~7ull;
		}
	}
}

static void random_costs(struct weft_rng *g, struct ht_script *s)
{
	weft_time_t *const t[] = { &s->t_store, &s->t_out,   &s->t_in,
				   &s->t_reg,	&s->t_read,  &s->t_write,
				   &s->t_irq,	&s->t_credit };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (draw(g, 2))
			*t[i] = 1 + draw(g, 200000000);
	s->credits = 1 + draw(g, 8);
	s->tags = 1 + draw(g, draw(g, 2) ? 32 : 4);
	s->depth = 1 + draw(g, 16);
	s->pio_depth = 1 + draw(g, 8);
	s->rx = 1 + draw(g, 20);
	s->tx = 1 + draw(g, 20);
}

static void random_script(uint64_t seed, struct ht_script *s)
{
	static const uint64_t slots[] = { 2500000, 5000000, 1250000, 1666667 };
	struct weft_rng g = { .s = { seed, seed * 0x9e3779b97f4a7c15, 1, 2 } };

	for (int i = 0; i < 16; i++)
		weft_rng_u64(&g);
	htrig_default(s);
	s->devices = 1 + draw(&g, HT_DEVS);
	if (draw(&g, 2))
		random_costs(&g, s);
	if (!draw(&g, 3)) {
		weft_clock_from_period(&s->slot, slots[draw(&g, 4)]);
		weft_clock_from_period(&s->core, 3000000 + draw(&g, 3000000));
	}
	/* several banks, so that answers overtake each other */
	if (!draw(&g, 3)) {
		s->banks = 2 + draw(&g, 15);
		s->t_bank = 1 + draw(&g, 60000000);
	}
	/* loads of several threads, some with short queues */
	if (draw(&g, 2)) {
		s->loads = 1 + draw(&g, HT_LOADS);
		s->np_depth = 1 + draw(&g, draw(&g, 2) ? 16 : 3);
		s->r_depth = 1 + draw(&g, draw(&g, 2) ? 16 : 3);
	}
	s->window = draw(&g, 3) ? 1 + draw(&g, 6) : 0;
	for (uint32_t i = 0; i < HT_CYCLE; i++) {
		s->eat[i] = draw(&g, 3) ? random_delay(&g) : 0;
		s->answer[i] = draw(&g, 3) ? random_delay(&g) : 0;
		if (!draw(&g, 6))
			s->answer[i] = WEFT_NEVER;
	}
	for (uint32_t i = 0; i < s->devices; i++)
		random_dev(&g, &s->dev[i]);
	random_host(&g, s);
}

/* ---- comparison ---- */

/* Orders notes for sorting. Any total order is enough, because both logs are
 * sorted by it. */
static int said_cmp(const void *a, const void *b)
{
	const struct ht_said *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->write != y->write)
		return x->write - y->write;
	return (int)x->tenures - (int)y->tenures;
}

static bool said_same(const struct ht_said *a, const struct ht_said *b)
{
	return !said_cmp(a, b) && a->status == b->status &&
	       a->last == b->last && a->level == b->level &&
	       a->first == b->first && a->load == b->load;
}

static void said_print(const char *who, const struct ht_said *n)
{
	fprintf(stderr,
		"  %s: port %u kind %d time %" PRIu64 " addr %" PRIx64
		" off %u bytes %u tenures %u status %d write %d last %d "
		"level %d first %u\n",
		who, n->port, n->kind, n->time, n->addr, n->offset, n->bytes,
		n->tenures, n->status, n->write, n->last, n->level, n->first);
}

static bool logs_same(struct ht_log *a, struct ht_log *b)
{
	qsort(a->said, a->n, sizeof(a->said[0]), said_cmp);
	qsort(b->said, b->n, sizeof(b->said[0]), said_cmp);
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (!said_same(&a->said[i], &b->said[i])) {
			said_print("model    ", &a->said[i]);
			said_print("reference", &b->said[i]);
			return false;
		}
	return a->n == b->n && a->busy[0] == b->busy[0] &&
	       a->busy[1] == b->busy[1];
}

static int play(uint64_t seed, void *notes)
{
	static struct ht_script s;
	static struct ht_log model, ref;
	struct htrig rig = { 0 };
	int bad;

	random_script(seed, &s);
	htrig_run(&rig, &s, &model);
	ref_ht_run(&s, &ref);
	bad = rig.bad_data || !logs_same(&model, &ref);
	if (bad)
		fprintf(stderr, "%u and %u notes, data %s\n", model.n, ref.n,
			rig.bad_data ? "bad" : "good");
	*(uint64_t *)notes += model.n;
	htrig_free(&rig);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t notes = 0;
	uint64_t rounds = replay(argc, argv, ROUNDS, play, &notes);

	/* the scripts must not be empty */
	return !rounds || (rounds >= ROUNDS && notes <= rounds * 50);
}
