/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_reseq.h. */
#include "ref_reseq.h"

/* First header that came in later on the path of a lost packet. */
static uint64_t shown(const struct ref_reseq_pkt *p, uint32_t n, uint32_t i)
{
	for (uint32_t k = i + 1; k < n; k++)
		if (p[k].path == p[i].path && !p[k].lost)
			return p[k].header;
	return REF_NEVER;
}

void ref_reseq(struct ref_reseq_pkt *p, uint32_t n)
{
	uint64_t past = 0;
	bool loss = false;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t t = p[i].lost ? shown(p, n, i) : p[i].written;

		past = t > past ? t : past;
		p[i].revealed = p[i].lost && past != REF_NEVER;
		loss |= p[i].lost;
		p[i].may = p[i].lost || !p[i].notify ? REF_NEVER : past;
		p[i].loss = loss;
		if (p[i].may != REF_NEVER)
			loss = false;
	}
}
