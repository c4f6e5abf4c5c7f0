/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a window (hostport.md 4.7, 6.3) as one function: random
 * accesses to random descriptors are compared with the rules in their order.
 * The random values reach each bit and each edge. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "systems/hostport/nic/functional_units.h"

enum { ROUNDS = 150000 };

static struct weft_rng rng;

static uint64_t any(uint64_t n)
{
	return weft_rng_u64(&rng) % n;
}

static uint64_t word(const struct hp_look *k, uint32_t i)
{
	uint64_t w;

	memcpy(&w, k->data + 8 * i, 8);
	return w;
}

/* Returns the result of the rules of 6.3, one per line, computed on numbers
 * that are wide enough not to wrap. */
static enum hp_err rules(const struct hp_access *a, const struct hp_look *k)
{
	uint64_t flags = word(k, HP_WIN_FLAGS), owner = word(k, HP_WIN_OWNER);
	unsigned __int128 end = (unsigned __int128)a->off + a->len;

	if (!k->ok || !(flags >> 63 & 1))
		return a->target ? HP_ERR_TWINID_INV : HP_ERR_OWINID_INV;
	if (flags & HP_WIN_LOCK && ((owner >> 16 & UINT32_MAX) != a->hpid ||
				    (owner & 0xffff) != a->vpid))
		return a->target ? HP_ERR_TWINID_INV : HP_ERR_OWINID_INV;
	if (a->target && !(flags & HP_WIN_CAP_ANY) &&
	    (flags & UINT32_MAX) != a->capa)
		return HP_ERR_TWINID_CAPA;
	if (a->target && a->rights & HP_WIN_RD && !(flags & HP_WIN_RD))
		return HP_ERR_TWINID_CAPA;
	if (a->target && a->rights & HP_WIN_WR && !(flags & HP_WIN_WR))
		return HP_ERR_TWINID_CAPA;
	if (a->off % 8)
		return a->target ? HP_ERR_TOFFSET : HP_ERR_OOFFSET;
	if (a->len % 8)
		return a->target ? HP_ERR_TLENGTH : HP_ERR_OLENGTH;
	if (end > word(k, HP_WIN_LEN) || a->len > 8 << 20)
		return a->target ? HP_ERR_TWINID : HP_ERR_OWINID;
	return HP_ERR_NOERR;
}

/* Returns a number close to n, or any number. */
static uint64_t near(uint64_t n)
{
	switch (any(8)) {
	case 0:
		return n + 8;
	case 1:
		return n - 8;
	case 2:
		return n + (1ull << any(4));
	case 3:
		return weft_rng_u64(&rng);
	default:
		return n;
	}
}

static void some_window(struct hp_look *k, uint64_t *w)
{
	static const uint64_t lens[] = { 0, 8, 4096, 8 << 20, 16 << 20 };

	w[HP_WIN_VA] = weft_rng_u64(&rng);
	w[HP_WIN_LEN] = near(lens[any(5)]);
	w[HP_WIN_FLAGS] = any(10) ? HP_WIN_EN : 0;
	w[HP_WIN_FLAGS] |= (any(3) ? HP_WIN_RD : 0) | (any(3) ? HP_WIN_WR : 0) |
			   (any(4) ? 0 : HP_WIN_CAP_ANY) |
			   (any(2) ? 0 : HP_WIN_LOCK) | any(3);
	w[HP_WIN_OWNER] = any(2) << 48 | any(2) << 47 | any(2) << 17 |
			  any(2) << 16 | any(2) << 15 | any(2);
	memset(k, 0, sizeof(*k));
	k->ok = any(20);
	memcpy(k->data, w, HP_LINE);
}

static void checks_follow_the_rules(void **state)
{
	uint32_t seen[HP_ERRS] = { 0 };

	weft_rng_seed(&rng, 4, NULL);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t w[HP_WORDS] = { 0 };
		struct hp_access a = { .target = any(2) };
		struct hp_look k;

		some_window(&k, w);
		a.hpid = (uint32_t)(any(2) << 31 | any(2) << 1 | any(2));
		a.vpid = (uint32_t)(any(2) << 15 | any(2));
		a.capa = (uint32_t)any(3);
		a.rights = (any(2) ? HP_WIN_RD : 0) | (any(2) ? HP_WIN_WR : 0);
		a.len = near(any(2) ? 8 : w[HP_WIN_LEN]);
		a.off = near(any(2) ? 0 : w[HP_WIN_LEN] - a.len);
		assert_int_equal(hp_win_check(&a, &k), rules(&a, &k));
		assert_int_equal(hp_win_va(&k), w[HP_WIN_VA]);
		seen[rules(&a, &k)]++;
	}
	for (enum hp_err e = HP_ERR_OWINID_INV; e <= HP_ERR_TLENGTH; e++)
		if (e != HP_ERR_TVPID_INV)
			assert_true(seen[e] > 20);
	assert_true(seen[HP_ERR_NOERR] > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_follow_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
