/* SPDX-License-Identifier: Apache-2.0 */
/* See exref.h. */
#include "exref.h"

#include <stdio.h>

static uint64_t rnd;

void exref_seed(uint64_t seed)
{
	rnd = seed * 0x9E3779B97F4A7C15ull + 1;
}

uint32_t dice(uint32_t n)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (uint32_t)(rnd >> 20) % n;
}

struct ref_hx_cfg exref_hx(void)
{
	static const uint32_t posted[] = { 1, 2, 5, 16 };
	static const uint32_t reads[] = { 1, 3, 8, 32 };
	static const uint64_t t[] = { 20, 50, 130, 700 };

	return (struct ref_hx_cfg){ .t_sync_in = dice(5),
				    .t_htax = 1 + dice(6),
				    .t_sync_out = dice(5),
				    .posted = posted[dice(4)],
				    .reads = reads[dice(4)],
				    .t_write = t[dice(4)] * WEFT_NS,
				    .t_read = t[dice(4)] * WEFT_NS };
}

struct extoll_nic *exref_nic(const struct xr *r)
{
	return r->nic[0]->state;
}

void exref_open(struct xr *r, struct ref_hx_cfg *c, const char *more)
{
	char set[256];

	snprintf(set, sizeof(set),
		 "t_sync_in=%u t_htax=%u t_sync_out=%u posted=%u reads=%u %s",
		 c->t_sync_in, c->t_htax, c->t_sync_out, c->posted, c->reads,
		 more);
	xr_single(r, set);
	xr_setup(r, 0);
	xr_w64(r, 0, EXTOLL_EVQ_SIZE, 0);
	xr_settle(r);
	c->core = r->core;
	c->ht = r->bus[0]->clock;
	r->bus[0]->t_write = c->t_write;
	r->bus[0]->t_read = c->t_read;
}
