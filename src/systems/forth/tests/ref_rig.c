/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_rig.h. */
#include "ref_rig.h"

#include <stdio.h>
#include <string.h>

void ref_rig_base(struct ref_dma_cfg *c)
{
	memset(c, 0, sizeof(*c));
	c->lnotify = RIG_LNOTIFY;
	c->rnotify = RIG_RNOTIFY;
	c->pc_t = 100;
	c->cc_t = 128;
}

/* ---- the product ---- */

static void add_paths(char *set, size_t size, const struct ref_dma_cfg *c)
{
	size_t at = strlen(set);

	if (!c->multi)
		return;
	at += (size_t)snprintf(set + at, size - at, " bundle=packet pattern=");
	for (uint32_t i = 0; i < c->n_path; i++)
		at += (size_t)snprintf(set + at, size - at, "%s%u",
				       i ? "," : "", c->path[i]);
	for (uint32_t k = 0; k < REF_PATHS; k++)
		at += (size_t)snprintf(set + at, size - at, " sink.delay%u=%u",
				       k, c->delay[k]);
}

void ref_rig_open(struct rig *r, const struct ref_dma_cfg *c)
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
	add_paths(set, sizeof(set), c);
	rig_single(r, "plat-switch", set);
	rig_setup(r, 0);
	rig_cfg(r, 0, FORTH_CFG_PCIX_CMD, 2,
		(uint32_t)__builtin_ctz(c->mmrbc / 512)
			<< FORTH_PCIX_CMD_MMRBC_SHIFT);
	rig_w32(r, 0, FORTH_BENCH,
		c->bench_zero ? FORTH_BENCH_ON | FORTH_BENCH_ZERO : 0);
}

void ref_rig_run(struct rig *r, const struct ref_dma_cfg *c)
{
	for (uint32_t i = 0; i < c->n_send; i++)
		if (!c->send[i].lost)
			rig_send_on(r, c->send[i].link, c->send[i].cycle,
				    c->send[i].header, i);
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

/* ---- comparison ---- */

static int compare_bus(const struct rig *r, const struct ref_dma_log *l)
{
	const struct tbus *b = r->n[0].bus;

	for (uint32_t i = 0; i < b->n_log && i < l->n_op; i++) {
		const struct tbus_op *a = &b->log[i];
		const struct ref_op *w = &l->op[i];

		if (replay_differ("op kind", i, a->op == WEFT_BUS_WRITE,
				  w->write) ||
		    replay_differ("op addr", i, a->addr, w->addr) ||
		    replay_differ("op req", i, a->req, w->req) ||
		    replay_differ("op done", i, a->done, w->done) ||
		    replay_differ("op bytes", i, a->bytes, w->bytes) ||
		    (w->word && replay_differ("op word", i, a->word, w->word)))
			return 1;
	}
	return replay_differ("ops", 0, b->n_log, l->n_op);
}

static int compare_link(const struct tsink *s, const struct ref_dma_log *l,
			uint32_t k)
{
	for (uint32_t i = 0; i < s->n_log && i < l->n_pkt[k]; i++)
		if (replay_differ("packet cycle", i, s->log[i].cycle,
				  l->pkt[k][i].cycle) ||
		    replay_differ("packet header", i, s->log[i].header,
				  l->pkt[k][i].header))
			return 1;
	for (uint32_t i = 0; i < s->n_start && i < l->n_start[k]; i++)
		if (replay_differ("start", i, s->start[i], l->start[k][i]))
			return 1;
	return replay_differ("packets", k, s->n_log, l->n_pkt[k]) ||
	       replay_differ("starts", k, s->n_start, l->n_start[k]);
}

int ref_rig_compare(const struct rig *r, const struct ref_dma_cfg *c,
		    const struct ref_dma_log *l)
{
	int bad = compare_bus(r, l);

	for (uint32_t k = 0; k < (c->multi ? c->links : 1) && !bad; k++)
		bad = compare_link(r->on[k], l, k);
	return bad;
}

int ref_rig_both(struct rig *r, const struct ref_dma_cfg *c,
		 struct ref_dma_log *l)
{
	ref_rig_run(r, c);
	ref_dma_run(c, l);
	return ref_rig_compare(r, c, l);
}
