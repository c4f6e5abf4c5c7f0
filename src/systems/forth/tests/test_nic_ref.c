/* SPDX-License-Identifier: Apache-2.0 */
/* forth.nic against the cycle-by-cycle reference ref_dma: random descriptors,
 * packets, credits and parameters. Every bus request, every departure and the
 * counters must be equal. `test_nic_ref SEED [N]` runs N scenarios from SEED
 * on. */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "ref_rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)

/* ---- scenarios ---- */

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
	/* the sink has room for the largest packet plus the granularity of
	 * credits */
	c->sink_cap =
		(c->max_qwords * 8 + 16) / (4 * c->links) + 33 + below(g, 600);
	if (c->sink_cap > 2046)
		c->sink_cap = 2046;
	c->sink_hold = 8 + (below(g, 3) ? 0 : below(g, 600));
	c->refresh = 64 + below(g, 1000);
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

/* ---- comparison ---- */

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
		bad |= replay_differ("active", d, rig_r32(r, 0, reg[d][0]),
				     l->active[d]);
		bad |= replay_differ("granted", d, rig_r32(r, 0, reg[d][1]),
				     l->granted[d]);
		bad |= replay_differ("qwords", d, rig_r32(r, 0, reg[d][2]),
				     l->qwords[d]);
	}
	bad |= replay_differ("split", 0, rig_r32(r, 0, FORTH_SPLIT_DURATION),
			     l->split);
	bad |= replay_differ("backpressure", 0,
			     rig_r32(r, 0, FORTH_NET_BACKPRESSURE),
			     l->backpressure);
	bad |= replay_differ("T", 0, credit & 0xFFF, l->sent0);
	bad |= replay_differ("F'", 0, credit >> 16, l->acked0);
	bad |= replay_differ("free blocks", 0, rig_r32(r, 0, FORTH_EXT_FREE),
			     l->ext_free);
	for (uint32_t q = 0; q < c->queues; q++)
		bad |= replay_differ(
			"head", q,
			forth_pointers_head(
				rig_r32(r, 0, FORTH_QUEUE_POINTERS + 4 * q)),
			l->head[q]);
	return bad;
}

/* Returns whether nothing changes any more. The test reads registers one after
 * the other, and only unchanging registers give one consistent state. */
static bool at_rest(const struct ref_dma_cfg *c, const struct ref_dma_log *l)
{
	const struct ref_op *last = &l->op[l->n_op ? l->n_op - 1 : 0];
	uint64_t cc = c->end_pc * c->pc_t / c->cc_t;

	return (!l->n_op || (last->done && last->done + 500 < c->end_pc)) &&
	       (!l->n_pkt[0] || l->pkt[0][l->n_pkt[0] - 1].cycle + 2000 < cc);
}

struct totals {
	uint64_t ops, packets, blocked, rest, fetches;
};

static int scenario(uint64_t seed, void *totals)
{
	static struct ref_dma_cfg cfg;
	static struct ref_dma_log log;
	struct totals *t = totals;
	struct weft_rng g;
	struct rig r;
	int bad;

	ref_rig_base(&cfg);
	weft_rng_seed(&g, seed, "forth_ref");
	random_params(&cfg, &g);
	ref_rig_open(&r, &cfg);
	random_work(&cfg, &g, rig_pc(&r));
	bad = ref_rig_both(&r, &cfg, &log) ||
	      (at_rest(&cfg, &log) && compare_counters(&r, &cfg, &log));
	if (bad)
		fprintf(stderr,
			"links %u voqs %u overlap %u zero %u notify-on-read "
			"%u blocks %u x %u\n",
			cfg.links, cfg.voqs, cfg.overlap, cfg.bench_zero,
			cfg.lnotify_read, cfg.ext_blocks, cfg.block_words);
	t->ops += log.n_op;
	t->packets += log.n_pkt[0] + log.n_start[0];
	t->blocked += log.backpressure > 0;
	t->rest += at_rest(&cfg, &log);
	t->fetches += log.fetches;
	if (!bad)
		rig_free(&r);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	uint64_t n = replay(argc, argv, 500, scenario, &t);

	printf("%" PRIu64 " bus operations, %" PRIu64 " packets, %" PRIu64
	       " short of credits, %" PRIu64 " with counters, %" PRIu64
	       " blocks fetched back\n",
	       t.ops, t.packets, t.blocked, t.rest, t.fetches);
	return !n || t.rest < n / 2 || (n >= 100 && t.fetches < n / 2);
}
