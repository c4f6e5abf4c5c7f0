/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_reseq.h. */
#include "ref_reseq.h"

#include <stdlib.h>

void ref_reseq_init(struct ref_reseq *r, uint32_t n)
{
	r->pkt = calloc(n + 1, sizeof(*r->pkt));
	r->note = calloc(n + 1, sizeof(*r->note));
	r->n = n;
}

void ref_reseq_fini(struct ref_reseq *r)
{
	free(r->pkt);
	free(r->note);
}

static bool later_came(const struct ref_reseq *r, uint32_t i, uint64_t now)
{
	const struct ref_reseq_pkt *p = r->pkt;

	for (uint32_t k = i + 1; k < r->n; k++)
		if (p[k].src == p[i].src && p[k].path == p[i].path &&
		    !p[k].lost)
			return p[k].checked <= now;
	return false;
}

static void pass(struct ref_reseq *r, const struct ref_reseq_pkt *p)
{
	bool notify = p->header >> 54 & 1, irq = p->header >> 52 & 1;

	if (p->lost) {
		r->losses++;
		r->loss[p->src] = true;
		return;
	}
	if (notify || irq)
		r->note[r->tail++] = (struct ref_reseq_note){ p->header, p->src,
							      r->loss[p->src] };
	if (notify)
		r->loss[p->src] = false;
}

static void advance_source(struct ref_reseq *r, uint32_t src, uint64_t now)
{
	for (; r->next[src] < r->n; r->next[src]++) {
		const struct ref_reseq_pkt *p = &r->pkt[r->next[src]];

		if (p->src != src)
			continue;
		if (p->lost ? !later_came(r, r->next[src], now) : !p->written)
			return;
		pass(r, p);
	}
}

void ref_reseq_advance(struct ref_reseq *r, uint64_t now)
{
	for (uint32_t i = 0; i < REF_SOURCES; i++)
		advance_source(r, i, now);
}
