/* SPDX-License-Identifier: Apache-2.0 */
/* forth.nic against the cycle-by-cycle reference ref_dma: random descriptors,
 * packets, credits and parameters; every bus request, every departure and the
 * counters must be the same.  `test_nic_forth_ref SEED [N]` runs N scenarios
 * from SEED on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/ref_dma.h"
#include "rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)

static uint32_t below(struct weft_rng *g, uint32_t n)
{
	return (uint32_t)weft_rng_below(g, n);
}

static void rng_seed(struct weft_rng *g, uint64_t seed)
{
	for (uint32_t i = 0; i < 4; i++) { /* splitmix64 */
		uint64_t z = seed += 0x9E3779B97F4A7C15;

		z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
		z = (z ^ z >> 27) * 0x94D049BB133111EB;
		g->s[i] = z ^ z >> 31;
	}
}

/* ---- scenarios
 * --------------------------------------------------------------- */

static void random_params(struct ref_dma_cfg *c, struct weft_rng *g)
{
	static const uint32_t links[] = { 1, 1, 1, 2, 4 };
	static const uint32_t quarters[] = { 0, 3, 1, 0, 0 };
	bool voqs = below(g, 3) > 0;

	c->links = links[below(g, 5)];
	c->quarters = quarters[c->links];
	c->queues = voqs ? 8 : 1;
	c->voqs = voqs ? 8 : 0;
	c->voq_words = voqs ? 514 + below(g, 511) : 514 + below(g, 510);
	c->max_qwords = voqs ? (below(g, 2) ? 64 : 3 + below(g, 200)) : 512;
	c->seg_qwords = below(g, 2) ? c->max_qwords : 3 + below(g, 500);
	if (voqs && below(g, 2)) {
		c->block_words = 8 + below(g, 300);
		c->ext_blocks = 1 + below(g, below(g, 2) ? 10 : 200);
		c->hi = 1 + below(g, c->voq_words / (1 + below(g, 16)));
		c->lo = 1 + below(g, c->voq_words - c->block_words);
		c->rd_lat = below(g, 100);
		c->rate = 1 + below(g, 16);
	}
	c->min_bytes = voqs ? 24 : 8;
	c->lnotify_read = voqs ? below(g, 4) == 0 : below(g, 4) > 0;
	c->overlap = below(g, 4) > 0;
	c->bench_zero = below(g, 5) == 0;
	c->t_arb = 2 + below(g, 8);
	c->t_ph = 2 + below(g, 6);
	c->t_gap = 2 + below(g, 8);
	c->t_split = c->t_gap + c->t_ph + 1 + below(g, 80);
	c->t_disc = c->t_arb + below(g, 20);
	c->chunk = 128 * (1 + below(g, 16));
	c->mmrbc = 512u << below(g, 4);
	c->sink_lanes = below(g, 2) ? 8 : 1;
	/* room for the largest packet plus the granularity */
	c->sink_cap =
		(c->max_qwords * 8 + 16) / (4 * c->links) + 33 + below(g, 600);
	if (c->sink_cap > 2046)
		c->sink_cap = 2046;
	c->sink_hold = 8 + (below(g, 3) ? 0 : below(g, 600));
	c->refresh = 64 + below(g, 1000);
	c->lnotify = RIG_LNOTIFY;
	c->rnotify = RIG_RNOTIFY;
	c->pc_t = 100;
	c->cc_t = 128;
}

static uint32_t random_size(struct weft_rng *g)
{
	switch (below(g, 4)) {
	case 0:
		return 1 + below(g, 4);
	case 1:
		return 1 + below(g, 512);
	default:
		return 1 + below(g, 70);
	}
}

static void random_work(struct ref_dma_cfg *c, struct weft_rng *g,
			uint64_t start_pc)
{
	uint32_t slot[8] = { 0 }, gap = 1 + below(g, 200);
	uint64_t pc = start_pc, cc = start_pc * 100 / 128 + 2;

	c->n_desc = 1 + below(g, 60);
	for (uint32_t i = 0; i < c->n_desc; i++) {
		struct ref_desc *d = &c->desc[i];
		uint32_t flow = below(g, 8), size = random_size(g);
		uint64_t flags = (uint64_t)below(g, 8) << 60 & ~(1ull << 60);

		if (below(g, 30) == 0)
			size = below(g, 2) ? 0 : 513 + below(g, 100);
		d->queue = c->queues == 1 ? 0
			   : below(g, 8)  ? flow
					  : below(g, 8);
		d->slot = slot[d->queue]++;
		d->src = SRC + 8 * below(g, 100);
		d->q1 = forth_desc_q1(flow, size, (uint32_t)DST,
				      FORTH_DESC_START | flags);
		pc += 1 + below(g, gap);
		d->pc = pc;
	}
	c->n_send = below(g, 3) ? below(g, 60) : 0;
	for (uint32_t i = 0; i < c->n_send; i++) {
		c->send[i].cycle = cc += below(g, gap);
		c->send[i].header = forth_header(
			below(g, 128), (uint64_t)below(g, 8) << 52,
			random_size(g), (uint32_t)DST + 8 * below(g, 100));
	}
	c->end_pc = pc + 25000;
}

/* ---- the product
 * --------------------------------------------------------------- */

static void product_open(struct rig *r, const struct ref_dma_cfg *c)
{
	char set[1024];

	snprintf(set, sizeof(set),
		 "links=%u queues=%u voqs=%u voq_bytes=%u h2n_words=%u "
		 "max_payload=%u min_payload=%u lnotify_at=%s rw_overlap=%u "
		 "refresh_cc=%u bus.t_arb=%u bus.t_ph=%u bus.t_gap=%u "
		 "bus.t_split=%u bus.t_disc=%u bus.chunk=%u sink.lanes=%u "
		 "sink.cap=%u sink.hold=%u sink.refresh=%u voq_seg_max=%u "
		 "voq_ext_bytes=%u voq_block_bytes=%u voq_hi=%u voq_lo=%u "
		 "ext_rd_lat=%u ext_rate=%u",
		 c->links, c->queues, c->voqs, c->voq_words * 8, c->voq_words,
		 c->max_qwords * 8, c->min_bytes,
		 c->lnotify_read ? "read" : "departed", c->overlap, c->refresh,
		 c->t_arb, c->t_ph, c->t_gap, c->t_split, c->t_disc, c->chunk,
		 c->sink_lanes, c->sink_cap, c->sink_hold, c->refresh,
		 c->seg_qwords * 8, c->ext_blocks * c->block_words * 8,
		 c->ext_blocks ? c->block_words * 8 : 2048,
		 c->ext_blocks ? c->hi * 8 : 8, c->ext_blocks ? c->lo * 8 : 8,
		 c->rd_lat, c->ext_blocks ? c->rate : 1);
	rig_single(r, "plat-switch", set);
	rig_setup(r, 0);
	rig_cfg(r, 0, FORTH_CFG_PCIX_CMD, 2,
		(uint32_t)__builtin_ctz(c->mmrbc / 512)
			<< FORTH_PCIX_CMD_MMRBC_SHIFT);
	rig_w32(r, 0, FORTH_BENCH,
		c->bench_zero ? FORTH_BENCH_ON | FORTH_BENCH_ZERO : 0);
}

static void product_run(struct rig *r, const struct ref_dma_cfg *c)
{
	for (uint32_t i = 0; i < c->n_send; i++)
		rig_send(r, c->send[i].cycle, c->send[i].header, i);
	for (uint32_t i = 0; i < c->n_desc; i++) {
		const struct ref_desc *d = &c->desc[i];
		uint64_t q[2] = { d->src, d->q1 };

		rig_run_pc(r, d->pc - 1);
		rig_store(
			r, 0, 2,
			forth_desc_offset(d->queue, 1024 / c->queues, d->slot),
			q, sizeof(q));
	}
	rig_run_pc(r, c->end_pc);
}

/* ---- comparison
 * ----------------------------------------------------------------- */

static int differ(const char *what, uint32_t i, uint64_t got, uint64_t want)
{
	if (got == want)
		return 0;
	fprintf(stderr,
		"%s %u: product %" PRIu64 " (%" PRIx64 "), reference %" PRIu64
		" (%" PRIx64 ")\n",
		what, i, got, got, want, want);
	return 1;
}

static int compare_bus(const struct rig *r, const struct ref_dma_log *l)
{
	const struct tbus *b = r->n[0].bus;

	for (uint32_t i = 0; i < b->n_log && i < l->n_op; i++) {
		const struct tbus_op *a = &b->log[i];
		const struct ref_op *w = &l->op[i];

		if (differ("op kind", i, a->op == WEFT_BUS_WRITE, w->write) ||
		    differ("op req", i, a->req, w->req) ||
		    differ("op done", i, a->done, w->done) ||
		    differ("op addr", i, a->addr, w->addr) ||
		    differ("op bytes", i, a->bytes, w->bytes) ||
		    (w->word && differ("op word", i, a->word, w->word)))
			return 1;
	}
	return differ("ops", 0, b->n_log, l->n_op);
}

static int compare_link(const struct rig *r, const struct ref_dma_log *l)
{
	const struct tsink *s = r->sink;

	for (uint32_t i = 0; i < s->n_log && i < l->n_pkt; i++)
		if (differ("packet cycle", i, s->log[i].cycle,
			   l->pkt[i].cycle) ||
		    differ("packet header", i, s->log[i].header,
			   l->pkt[i].header))
			return 1;
	for (uint32_t i = 0; i < s->n_start && i < l->n_start; i++)
		if (differ("start", i, s->start[i], l->start[i]))
			return 1;
	return differ("packets", 0, s->n_log, l->n_pkt) ||
	       differ("starts", 0, s->n_start, l->n_start);
}

static int compare_counters(struct rig *r, const struct ref_dma_cfg *c,
			    const struct ref_dma_log *l)
{
	static const uint32_t reg[][3] = {
		{ FORTH_H2N_DMA_ACTIVE, FORTH_H2N_BUS_GRANTED,
		  FORTH_H2N_QWORD },
		{ FORTH_N2H_DMA_ACTIVE, FORTH_N2H_BUS_GRANTED,
		  FORTH_N2H_QWORD },
	};
	uint32_t credit = rig_r32(r, 0, FORTH_CREDIT_STATE);
	int bad = 0;

	for (uint32_t d = 0; d < 2; d++) {
		bad |= differ("active", d, rig_r32(r, 0, reg[d][0]),
			      l->active[d]);
		bad |= differ("granted", d, rig_r32(r, 0, reg[d][1]),
			      l->granted[d]);
		bad |= differ("qwords", d, rig_r32(r, 0, reg[d][2]),
			      l->qwords[d]);
	}
	bad |= differ("split", 0, rig_r32(r, 0, FORTH_SPLIT_DURATION),
		      l->split);
	bad |= differ("backpressure", 0, rig_r32(r, 0, FORTH_NET_BACKPRESSURE),
		      l->backpressure);
	bad |= differ("T", 0, credit & 0xFFF, l->sent0);
	bad |= differ("F'", 0, credit >> 16, l->acked0);
	bad |= differ("free blocks", 0, rig_r32(r, 0, FORTH_EXT_FREE),
		      l->ext_free);
	for (uint32_t q = 0; q < c->queues; q++)
		bad |= differ("head", q,
			      forth_pointers_head(rig_r32(
				      r, 0, FORTH_QUEUE_POINTERS + 4 * q)),
			      l->head[q]);
	return bad;
}

/* Registers are read one after the other: only at rest. */
static bool at_rest(const struct ref_dma_cfg *c, const struct ref_dma_log *l)
{
	const struct ref_op *last = &l->op[l->n_op ? l->n_op - 1 : 0];
	uint64_t cc = c->end_pc * c->pc_t / c->cc_t;

	return (!l->n_op || (last->done && last->done + 500 < c->end_pc)) &&
	       (!l->n_pkt || l->pkt[l->n_pkt - 1].cycle + 2000 < cc);
}

struct totals {
	uint64_t ops, packets, blocked, rest, fetches;
};

static int scenario(uint64_t seed, struct totals *t)
{
	static struct ref_dma_cfg cfg;
	static struct ref_dma_log log;
	struct weft_rng g;
	struct rig r;
	int bad;

	memset(&cfg, 0, sizeof(cfg));
	rng_seed(&g, seed);
	random_params(&cfg, &g);
	product_open(&r, &cfg);
	random_work(&cfg, &g, rig_pc(&r));
	product_run(&r, &cfg);
	ref_dma_run(&cfg, &log);
	bad = compare_bus(&r, &log) || compare_link(&r, &log) ||
	      (at_rest(&cfg, &log) && compare_counters(&r, &cfg, &log));
	if (bad)
		fprintf(stderr,
			"seed %" PRIu64
			": links %u voqs %u overlap %u "
			"zero %u notify-on-read %u blocks %u x %u\n",
			seed, cfg.links, cfg.voqs, cfg.overlap, cfg.bench_zero,
			cfg.lnotify_read, cfg.ext_blocks, cfg.block_words);
	t->ops += log.n_op;
	t->packets += log.n_pkt + log.n_start;
	t->blocked += log.backpressure > 0;
	t->rest += at_rest(&cfg, &log);
	t->fetches += log.fetches;
	if (!bad)
		rig_free(&r);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t n = argc > 2	? strtoull(argv[2], NULL, 10)
		     : argc > 1 ? 1
				: 1000;
	struct totals t = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		if (!scenario(seed + i, &t))
			continue;
		fprintf(stderr, "rerun: %s %" PRIu64 "\n", argv[0], seed + i);
		return 1;
	}
	printf("%" PRIu64 " scenarios from seed %" PRIu64 ": %" PRIu64
	       " bus operations, %" PRIu64 " packets, %" PRIu64
	       " short of credits, %" PRIu64 " with counters, %" PRIu64
	       " blocks fetched back\n",
	       n, seed, t.ops, t.packets, t.blocked, t.rest, t.fetches);
	return t.rest < n / 2 || (n >= 100 && t.fetches < n / 2);
}
