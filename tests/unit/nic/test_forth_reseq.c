/* SPDX-License-Identifier: Apache-2.0 */
/* Resequencing of forth.nic against ref_reseq: random sources, paths of random
 * delay, losses.  Each notification must come at the very edge at which the
 * last missing header or payload allows it, behind what the write engine is
 * doing. `test_nic_forth_reseq SEED [N]` runs N scenarios from SEED on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/ref_reseq.h"
#include "rig.h"

enum { SRCS = 8, PKTS = 400, LINKS = 4 };
#define DST (RIG_MEM + 0x20000u)

struct pkt {
	uint32_t src, index, path, qwords, addr;
	uint64_t header;
	uint32_t sent; /* its number on that path */
};

struct scene {
	uint32_t links, n_src, n;
	uint32_t pattern[8], n_pattern;
	uint32_t delay[LINKS];
	double loss;
	struct pkt pkt[PKTS];
	struct ref_reseq_pkt ref[SRCS][PKTS];
	uint32_t n_ref[SRCS];
	struct pkt *on[LINKS][PKTS]; /* as sent on each path */
	uint32_t n_on[LINKS];
};

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

/* ---- the senders, as 7.2 and 7.3 describe them ---------------------------
 */

static void make(struct scene *s, struct weft_rng *g, bool weighted)
{
	uint32_t number[SRCS][LINKS] = { 0 }, quiet[SRCS] = { 0 };
	uint32_t addr = DST;

	s->n_pattern = s->links;
	for (uint32_t i = 0; i < s->links; i++)
		s->pattern[i] = i;
	if (weighted) {
		s->n_pattern = 5;
		for (uint32_t i = 0; i < 5; i++)
			s->pattern[i] = below(g, s->links);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		struct pkt *p = &s->pkt[i];
		uint32_t src = below(g, s->n_src), k = s->n_ref[src]++;
		struct ref_reseq_pkt *w = &s->ref[src][k];
		const uint32_t *m = s->pattern;
		uint32_t nm = s->n_pattern;
		uint64_t flags = below(g, 3) ? 0 : FORTH_HDR_REMOTE_NOTIFY;

		p->src = src;
		p->index = k;
		p->path = m[k % nm];
		p->qwords = 1 + below(g, 40);
		p->addr = addr;
		addr += 8 * p->qwords;
		p->header = forth_header_reseq(
			forth_header(1, flags, p->qwords, p->addr),
			src << 7 | (number[src][p->path]++ & 7) << 4 |
				m[(k + 1) % nm] << 2 | m[(k + 2) % nm]);
		*w = (struct ref_reseq_pkt){
			.path = p->path,
			.notify = flags,
			.header = REF_NEVER,
			.written = REF_NEVER,
		};
		/* 7.1: losses at least 12 packets apart */
		w->lost = quiet[src] >= 12 && weft_rng_real(g) < s->loss;
		quiet[src] = w->lost ? 0 : quiet[src] + 1;
	}
}

static void params(struct scene *s, struct weft_rng *g, struct rig *r)
{
	static const double loss[] = { 0, 0, 0.02, 0.2 };
	char set[512], pattern[32] = "";
	bool weighted = below(g, 3) == 0;

	s->links = 1 + below(g, LINKS);
	s->n_src = 1 + below(g, SRCS);
	s->n = 20 + below(g, PKTS - 20);
	s->loss = loss[below(g, 4)];
	for (uint32_t k = 0; k < LINKS; k++)
		s->delay[k] = below(g, 2) ? below(g, 800) : 0;
	make(s, g, weighted);
	for (uint32_t i = 0; weighted && i < s->n_pattern; i++)
		snprintf(pattern + strlen(pattern), 8, "%s%u", i ? "," : "",
			 s->pattern[i]);
	snprintf(set, sizeof(set),
		 "links=%u%s%s sink.lanes=8 sink.delay0=%u sink.delay1=%u "
		 "sink.delay2=%u sink.delay3=%u bus.t_arb=%u",
		 s->links, weighted ? " pattern=" : "", pattern, s->delay[0],
		 s->delay[1], s->delay[2], s->delay[3], 2 + below(g, 20));
	rig_single(r, "plat-multi", set);
	rig_setup(r, 0);
}

static uint64_t play(struct scene *s, struct weft_rng *g, struct rig *r)
{
	uint64_t cc = rig_cc(r) + 2, last[LINKS] = { 0 };
	uint32_t gap = 1 + below(g, 120);

	for (uint32_t i = 0; i < s->n; i++) {
		struct pkt *p = &s->pkt[i];
		uint64_t at;

		cc += below(g, gap);
		/* a path keeps its order and takes any time */
		at = cc + (below(g, 4) ? 0 : below(g, 400));
		at = at > last[p->path] ? at : last[p->path];
		last[p->path] = at;
		if (s->ref[p->src][p->index].lost)
			continue;
		s->on[p->path][s->n_on[p->path]++] = p;
		rig_send_on(r, p->path, at, p->header, p->addr);
	}
	return cc;
}

/* ---- what the onlooker sees ------------------------------------------------
 */

static uint64_t pc_of_cc(uint64_t cc)
{
	return (cc * 128 + 99) / 100;
}

static int observe(struct scene *s, struct rig *r)
{
	const struct tbus *b = r->n[0].bus;

	for (uint32_t k = 0; k < s->links; k++) {
		if (r->on[k]->n_start != s->n_on[k])
			return fprintf(stderr, "path %u: %u of %u sent\n", k,
				       r->on[k]->n_start, s->n_on[k]);
		for (uint32_t i = 0; i < s->n_on[k]; i++) {
			struct pkt *p = s->on[k][i];

			/* checked four words behind the delimiter */
			s->ref[p->src][p->index].header = pc_of_cc(
				r->on[k]->start[i] + 24 + s->delay[k] + 4);
		}
	}
	for (uint32_t i = 0; i < b->n_log; i++)
		for (uint32_t j = 0; j < s->n && b->log[i].addr != RIG_RNOTIFY;
		     j++)
			if (s->pkt[j].addr == b->log[i].addr)
				s->ref[s->pkt[j].src][s->pkt[j].index].written =
					b->log[i].done;
	for (uint32_t i = 0; i < s->n_src; i++)
		ref_reseq(s->ref[i], s->n_ref[i]);
	return 0;
}

/* ---- comparison -----------------------------------------------------------
 */

static int differ(const char *what, uint64_t i, uint64_t got, uint64_t want)
{
	if (got == want)
		return 0;
	fprintf(stderr,
		"%s %" PRIu64 ": product %" PRIu64 ", reference %" PRIu64 "\n",
		what, i, got, want);
	return 1;
}

/* Notifications of source src in order; `next` is the first not yet given. */
static int take(struct scene *s, uint32_t src, uint32_t *next)
{
	while (*next < s->n_ref[src] && s->ref[src][*next].may == REF_NEVER)
		++*next;
	return *next < s->n_ref[src];
}

/* Nothing that may notify at or before pc is still waiting. */
static int none_waits(struct scene *s, uint32_t *next, uint64_t pc, uint32_t op)
{
	for (uint32_t src = 0; src < s->n_src; src++)
		if (take(s, src, &next[src]) &&
		    s->ref[src][next[src]].may <= pc) {
			fprintf(stderr,
				"op %u at %" PRIu64
				": source %u could have "
				"notified at %" PRIu64 "\n",
				op, pc, src, s->ref[src][next[src]].may);
			return 1;
		}
	return 0;
}

static int compare(struct scene *s, struct rig *r, uint64_t *notes)
{
	const struct tbus *b = r->n[0].bus;
	uint32_t next[SRCS] = { 0 }, count = 0;

	for (uint32_t i = 0; i < b->n_log; i++) {
		const struct tbus_op *o = &b->log[i];
		uint32_t src = o->word >> 48 & 7;
		struct ref_reseq_pkt *w;
		uint64_t prev = i ? b->log[i - 1].done : 0;

		if (o->addr != RIG_RNOTIFY) {
			if (none_waits(s, next, o->req, i))
				return 1;
			continue;
		}
		if (differ("notification of a source, op", i, src < s->n_src,
			   1) ||
		    differ("a notification is due, op", i,
			   (uint64_t)take(s, src, &next[src]), 1))
			return 1;
		w = &s->ref[src][next[src]++];
		if (differ("request, op", i, o->req,
			   w->may > prev ? w->may : prev) ||
		    differ("loss flag, op", i, o->word >> 41 & 1, w->loss) ||
		    differ("count, op", i, o->word & 0xFFFFFFFF, ++count))
			return 1;
	}
	*notes += count;
	return none_waits(s, next, REF_NEVER - 1, b->n_log);
}

/* The memory is what delivery in order would have left. */
static int memory(struct scene *s, struct rig *r)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pkt *p = &s->pkt[i];
		bool lost = s->ref[p->src][p->index].lost;

		for (uint32_t k = 0; k < p->qwords; k++)
			if (differ("memory, packet", i,
				   rig_mem64(r, 0, p->addr + 8 * k),
				   lost ? 0 : p->addr + k))
				return 1;
	}
	return 0;
}

struct totals {
	uint64_t notes, losses, packets;
};

static int scenario(uint64_t seed, struct totals *t)
{
	static struct scene s;
	struct weft_rng g;
	uint64_t losses = 0;
	struct rig r;
	int bad;

	memset(&s, 0, sizeof(s));
	rng_seed(&g, seed);
	params(&s, &g, &r);
	play(&s, &g, &r);
	rig_wait(&r, 150000);
	bad = observe(&s, &r) || compare(&s, &r, &t->notes) || memory(&s, &r);
	for (uint32_t i = 0; i < s.n_src; i++)
		for (uint32_t k = 0; k < s.n_ref[i]; k++)
			losses += s.ref[i][k].revealed;
	bad = bad || differ("losses", 0,
			    forth_reseq_losses(rig_r32(&r, 0, FORTH_RESEQ)),
			    losses & 0x3FF);
	bad = bad ||
	      differ("sync lost", 0, rig_r32(&r, 0, FORTH_RESEQ) >> 10, 0);
	if (bad)
		fprintf(stderr, "links %u sources %u packets %u\n", s.links,
			s.n_src, s.n);
	else
		rig_free(&r);
	t->losses += losses;
	t->packets += s.n;
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
	       " packets, %" PRIu64 " notifications, %" PRIu64 " losses\n",
	       n, seed, t.packets, t.notes, t.losses);
	return n >= 100 && (!t.losses || !t.notes);
}
