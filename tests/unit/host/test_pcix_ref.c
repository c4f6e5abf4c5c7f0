/* SPDX-License-Identifier: Apache-2.0 */
/* Both buses against their clock-by-clock reference: for random scripts the
 * time and content of every note are identical. Even seeds test PCI-X, odd
 * seeds PCI. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../replay.h"
#include "rig.h"

enum { ROUNDS = 3000 };

static uint64_t draw(uint64_t *x, uint64_t n)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (*x >> 11) % n;
}

static const uint64_t periods[] = { 10000000, 7500000, 15000000, 15151515 };

static weft_time_t random_delay(uint64_t *x)
{
	switch (draw(x, 5)) {
	case 0:
		return 0;
	case 1: /* a time on an edge of the 100 MHz bus */
		return draw(x, 300) * 10000000;
	case 2:
		return draw(x, 40000000);
	default:
		return draw(x, 3000000000);
	}
}

static uint64_t random_addr(uint64_t *x)
{
	switch (draw(x, 12)) {
	case 0: /* an address at the hole */
		return REF_HOLE_LO - 2048 + draw(x, 512) * 8;
	case 1: /* an address around 4 GB */
		return 0x100000000 - 2048 + draw(x, 512) * 8;
	default:
		return 0x1000 + draw(x, 4096) * 8;
	}
}

static void random_dma(uint64_t *x, struct ref_list *l, bool any)
{
	static const uint32_t limits[] = { 0, 512, 1024, 2048, 4096, 64 };
	static const uint32_t timers[] = { 0, 1, 8, 32, 64, 100, 254 };

	l->n = (uint32_t)draw(x, 12);
	for (uint32_t i = 0; i < l->n; i++)
		l->op[i] = (struct ref_op){
			.delay = random_delay(x),
			.addr = random_addr(x),
			.bytes = 8 +
				 8 * (uint32_t)draw(x, draw(x, 2) ? 512 : 64),
			.max_request = limits[draw(x, 6)],
			.latency_timer = timers[draw(x, 7)],
		};
	for (uint32_t i = 0; any && i < l->n; i++) {
		l->op[i].addr += draw(x, 8);
		l->op[i].bytes -= (uint32_t)draw(x, 8);
	}
}

static void random_pio(uint64_t *x, struct ref_script *s)
{
	s->pio.n = (uint32_t)draw(x, REF_OPS);
	for (uint32_t i = 0; i < s->pio.n; i++) {
		struct ref_op *o = &s->pio.op[i];

		*o = (struct ref_op){
			.delay = random_delay(x) / 16,
			.addr = draw(x, 1024) * 4,
			.load = !draw(x, 6),
			.dev = (uint32_t)draw(x, s->devices),
		};
		if (!draw(x, 20))
			o->dev = s->devices; /* an empty slot */
		o->bytes = o->load ? 4 + 4 * (uint32_t)draw(x, 2)
				   : 4 + 4 * (uint32_t)draw(x, 16);
	}
}

/* Draws the parameters that only PCI has. */
static void random_pci(uint64_t *x, struct ref_script *s)
{
	s->wait = !draw(x, 3);
	s->window = draw(x, 2) ? 1 + (uint32_t)draw(x, 4) : 0;
	s->line = 8u << draw(x, 5);
	s->page = draw(x, 4) ? 4096 : (uint32_t)draw(x, 2) * 256;
	if (draw(x, 2)) {
		s->t_park = 1 + (uint32_t)draw(x, 5);
		s->t_turn = (uint32_t)draw(x, 3);
		s->t_end = (uint32_t)draw(x, 3);
		s->t_tag = (uint32_t)draw(x, 3);
		s->t_retry = 1 + (uint32_t)draw(x, 8);
		s->t_initial = 2 + (uint32_t)draw(x, 30);
		s->rd_chunk = 8u << draw(x, 9);
		s->t_mem = draw(x, 600) * 1000000;
		s->h_rd_out = draw(x, 300) * 1000000;
		s->h_rd_in = draw(x, 300) * 1000000;
		s->h_wr_out = draw(x, 300) * 1000000;
		s->h_dw = draw(x, 900) * 1000000;
	}
	for (uint32_t i = 0; i < s->pio.n; i++) {
		struct ref_op *o = &s->pio.op[i];

		o->addr = i * 4096 + o->addr % 1024;
		o->takes = draw(x, 3) ? 0 : (1 + draw(x, 2000)) * 1000000;
		if (draw(x, 3))
			continue;
		o->tagged = 1u + (o->load ? WEFT_TLOAD : WEFT_TSTORE);
		if (o->load && draw(x, 2)) {
			o->tagged = 1u + WEFT_TCSTORE;
			o->bytes = 4 + 4 * (uint32_t)draw(x, 16);
		}
	}
}

static void random_script(uint64_t seed, struct ref_script *s)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;

	rig_script_default(s);
	if (seed % 2)
		rig_script_pci(s);
	weft_clock_from_period(&s->clock, periods[draw(&x, 4)]);
	s->width = draw(&x, 5) ? 8 : 4;
	s->devices = 1 + (uint32_t)draw(&x, 3);
	s->pio_depth = 1 + (uint32_t)draw(&x, 8);
	if (draw(&x, 2)) {
		s->t_arb = 1 + (uint32_t)draw(&x, 14);
		s->t_ph = 1 + (uint32_t)draw(&x, 6);
		s->t_gap = 1 + (uint32_t)draw(&x, 8);
		s->t_split = s->t_gap + s->t_ph + (uint32_t)draw(&x, 60);
		s->t_disc = 1 + (uint32_t)draw(&x, 30);
		s->t_read = 1 + (uint32_t)draw(&x, 10);
		s->sc_chunk = 8 << draw(&x, 9);
		s->wr_chunk = 8 << draw(&x, 9);
	}
	for (uint32_t i = 0; i < s->devices; i++) {
		random_dma(&x, &s->wr[i], s->pci);
		random_dma(&x, &s->rd[i], s->pci);
	}
	random_pio(&x, s);
	if (s->pci)
		random_pci(&x, s);
}

/* Orders notes by port, then time, then kind, and reads before writes. */
static int note_cmp(const void *a, const void *b)
{
	const struct ref_note *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->write - y->write;
}

static bool note_same(const struct ref_note *a, const struct ref_note *b)
{
	return a->kind == b->kind && a->port == b->port && a->time == b->time &&
	       a->frame == b->frame && a->data_end == b->data_end &&
	       a->addr == b->addr && a->offset == b->offset &&
	       a->bytes == b->bytes && a->tenures == b->tenures &&
	       a->splits == b->splits && a->status == b->status &&
	       a->write == b->write && a->last == b->last &&
	       a->timer == b->timer;
}

static void note_print(const char *who, const struct ref_note *n)
{
	fprintf(stderr,
		"  %s: port %u kind %d time %" PRIu64 " frame %" PRIu64
		" end %" PRIu64 " addr %" PRIx64
		" off %u bytes %u tenures %u"
		" splits %u status %d write %d last %d timer %d\n",
		who, n->port, n->kind, n->time, n->frame, n->data_end, n->addr,
		n->offset, n->bytes, n->tenures, n->splits, n->status, n->write,
		n->last, n->timer);
}

static bool logs_same(struct ref_log *a, struct ref_log *b)
{
	qsort(a->note, a->n, sizeof(a->note[0]), note_cmp);
	qsort(b->note, b->n, sizeof(b->note[0]), note_cmp);
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (!note_same(&a->note[i], &b->note[i])) {
			note_print("model    ", &a->note[i]);
			note_print("reference", &b->note[i]);
			return false;
		}
	return a->n == b->n && a->busy == b->busy;
}

static int play(uint64_t seed, void *notes)
{
	static struct ref_script s;
	static struct ref_log model, ref;
	struct rig rig = { 0 };
	int bad;

	random_script(seed, &s);
	rig_run(&rig, &s, &model);
	ref_pcix_run(&s, &ref);
	bad = rig.bad_data || !logs_same(&model, &ref);
	if (bad)
		fprintf(stderr,
			"%u and %u notes, bus busy %" PRIu64 " and %" PRIu64
			", data %s\n",
			model.n, ref.n, model.busy, ref.busy,
			rig.bad_data ? "bad" : "good");
	*(uint64_t *)notes += model.n;
	rig_free(&rig);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t notes = 0;
	uint64_t rounds = replay(argc, argv, ROUNDS, play, &notes);

	/* the scripts must not be empty */
	return !rounds || (rounds >= ROUNDS && notes <= rounds * 50);
}
