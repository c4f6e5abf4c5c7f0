/* SPDX-License-Identifier: Apache-2.0 */
/* Several paths of forth.nic against ref_dma and ref_reseq: random sources,
 * paths of random delay, losses, and outgoing transfers of the NIC. Every bus
 * request must be at the edge that the reference gives. Payloads are written as
 * they arrive. A notification is written once the last missing header or
 * payload allows it and the engine has finished its present work. */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "ref_rig.h"

enum { SRCS = 8, PKTS = 400, DESCS = 80, PATTERN = 5 };
#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)

/* ---- scenarios ---- */

static void random_paths(struct ref_dma_cfg *c, struct weft_rng *g)
{
	bool weighted = below(g, 3) == 0;

	c->multi = true;
	c->links = 1 + below(g, REF_PATHS);
	c->n_path = weighted ? PATTERN : c->links;
	for (uint32_t i = 0; i < c->n_path; i++)
		c->path[i] = weighted ? below(g, c->links) : i;
	for (uint32_t k = 0; k < REF_PATHS; k++)
		c->delay[k] = below(g, 2) ? below(g, 800) : 0;
}

/* Draws segment sizes, and in some scenarios external memory. */
static void random_voqs(struct ref_dma_cfg *c, struct weft_rng *g)
{
	c->voq_words = 514 + below(g, 511);
	c->max_qwords = 64;
	c->seg_qwords = below(g, 2) ? c->max_qwords : 3 + below(g, 500);
	if (below(g, 3))
		return;
	c->block_words = 8 + below(g, 300);
	c->ext_blocks = 1 + below(g, 100);
	c->hi = 1 + below(g, c->voq_words / (1 + below(g, 16)));
	c->lo = 1 + below(g, c->voq_words - c->block_words);
	c->rd_lat = below(g, 100);
	c->rate = 1 + below(g, 16);
}

static void random_params(struct ref_dma_cfg *c, struct weft_rng *g)
{
	random_paths(c, g);
	c->quarters = 3;
	c->queues = c->voqs = 8;
	c->min_bytes = 24;
	random_voqs(c, g);
	c->overlap = below(g, 4) > 0;
	c->t_arb = 2 + below(g, 20);
	c->t_ph = 2 + below(g, 6);
	c->t_gap = 2 + below(g, 8);
	c->t_split = c->t_gap + c->t_ph + 1 + below(g, 80);
	c->t_disc = c->t_arb + below(g, 20);
	c->chunk = 512;
	c->mmrbc = 4096;
	c->sink_lanes = 8;
	c->sink_cap = 2046;
	c->sink_hold = 8 + (below(g, 3) ? 0 : below(g, 600));
	c->refresh = 64 + below(g, 1000);
}

/* Draws packets to the NIC that obey forth.md 7.2 and 7.3. */
static void random_sends(struct ref_dma_cfg *c, struct weft_rng *g, uint64_t cc)
{
	static const double losses[] = { 0, 0, 0.02, 0.2 };
	uint32_t number[SRCS][REF_PATHS] = { 0 }, sent[SRCS] = { 0 };
	uint32_t quiet[SRCS] = { 0 }, gap = 1 + below(g, 120), addr = DST;
	uint32_t n_src = 1 + below(g, SRCS);
	uint64_t last[REF_PATHS] = { 0 };
	double loss = losses[below(g, 4)];

	c->n_send = 20 + below(g, PKTS - 20);
	for (uint32_t i = 0; i < c->n_send; i++) {
		struct ref_send *s = &c->send[i];
		uint32_t src = below(g, n_src), k = sent[src]++;
		uint32_t path = c->path[k % c->n_path];
		uint32_t qwords = 1 + below(g, 40);
		uint64_t flags = below(g, 3) ? 0 : (uint64_t)below(g, 8) << 52;

		s->src = src;
		s->link = path;
		s->header = forth_header_reseq(
			forth_header(1, flags, qwords, addr),
			src << 7 | (number[src][path]++ & 7) << 4 |
				c->path[(k + 1) % c->n_path] << 2 |
				c->path[(k + 2) % c->n_path]);
		addr += 8 * qwords;
		/* 7.1: losses are at least 12 packets apart */
		s->lost = quiet[src] >= 12 && weft_rng_real(g) < loss;
		quiet[src] = s->lost ? 0 : quiet[src] + 1;
		/* a path keeps its order, but the delay of each packet is
		 * random */
		cc += below(g, gap);
		s->cycle = cc + (below(g, 4) ? 0 : below(g, 400));
		if (s->cycle < last[path])
			s->cycle = last[path];
		last[path] = s->cycle;
	}
}

/* Draws transfers that leave this node. */
static void random_descs(struct ref_dma_cfg *c, struct weft_rng *g, uint64_t pc)
{
	uint32_t slot[8] = { 0 }, gap = 1 + below(g, 200);

	c->n_desc = below(g, 2) ? below(g, DESCS) : 0;
	for (uint32_t i = 0; i < c->n_desc; i++) {
		struct ref_desc *d = &c->desc[i];
		uint64_t flags = (uint64_t)below(g, 4) << 61;

		d->queue = below(g, 8);
		d->slot = slot[d->queue]++;
		d->src = SRC + 8 * below(g, 100);
		d->q1 = forth_desc_q1(d->queue, 1 + below(g, 400),
				      (uint32_t)DST, FORTH_DESC_START | flags);
		d->pc = pc += 1 + below(g, gap);
	}
	for (uint32_t i = 0; i < c->n_send; i++)
		if (c->send[i].cycle * 128 / 100 > pc)
			pc = c->send[i].cycle * 128 / 100;
	c->end_pc = pc + 40000;
}

/* ---- comparison ---- */

/* Compares memory with the content after delivery in the order of sending. */
static int compare_memory(const struct ref_dma_cfg *c, struct rig *r)
{
	for (uint32_t i = 0; i < c->n_send; i++) {
		uint64_t h = c->send[i].header;

		for (uint32_t k = 0; k < forth_hdr_size(h); k++)
			if (replay_differ(
				    "memory, packet", i,
				    rig_mem64(r, 0, forth_hdr_addr(h) + 8 * k),
				    c->send[i].lost ? 0 : i + k))
				return 1;
	}
	return 0;
}

struct totals {
	uint64_t notes, losses, packets, out, fetches;
};

static void count(struct totals *t, const struct ref_dma_cfg *c,
		  const struct ref_dma_log *l)
{
	for (uint32_t i = 0; i < l->n_op; i++)
		t->notes += l->op[i].addr == RIG_RNOTIFY;
	for (uint32_t k = 0; k < c->links; k++)
		t->out += l->n_pkt[k];
	t->losses += l->losses;
	t->fetches += l->fetches;
	t->packets += c->n_send;
}

static int scenario(uint64_t seed, void *totals)
{
	static struct ref_dma_cfg cfg;
	static struct ref_dma_log log;
	struct weft_rng g;
	struct rig r;
	uint32_t reg;
	int bad;

	ref_rig_base(&cfg);
	weft_rng_seed(&g, seed, "forth_reseq");
	random_params(&cfg, &g);
	ref_rig_open(&r, &cfg);
	random_sends(&cfg, &g, rig_cc(&r) + 2);
	random_descs(&cfg, &g, rig_pc(&r));
	bad = ref_rig_both(&r, &cfg, &log) || compare_memory(&cfg, &r);
	reg = rig_r32(&r, 0, FORTH_RESEQ);
	bad = bad || replay_differ("losses", 0, forth_reseq_losses(reg),
				   log.losses & 0x3FF);
	bad = bad || replay_differ("sync lost", 0, reg >> 10, 0);
	if (bad)
		fprintf(stderr, "paths %u of %u, %u packets, %u descriptors\n",
			cfg.n_path, cfg.links, cfg.n_send, cfg.n_desc);
	else
		rig_free(&r);
	count(totals, &cfg, &log);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	uint64_t n = replay(argc, argv, 100, scenario, &t);

	printf("%" PRIu64 " packets in, %" PRIu64 " out, %" PRIu64
	       " notifications, %" PRIu64 " losses, %" PRIu64
	       " blocks fetched back\n",
	       t.packets, t.out, t.notes, t.losses, t.fetches);
	return !n ||
	       (n >= 100 && (!t.losses || !t.notes || !t.out || !t.fetches));
}
