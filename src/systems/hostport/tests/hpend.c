/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios on two Host Ports: see hpend.h. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

void hppair_once(void (*before)(struct hppair *), hppair_fn near, hppair_fn far)
{
	static struct hppair t;

	hppair_run(&t, before, near, far);
	hppair_free(&t);
}

const char *const *hppair_sets;

void hppair_set(struct hppair *t)
{
	for (const char *const *s = hppair_sets; *s; s += 2)
		exrig_set(&t->rig, "hostport.nic", s[0], s[1]);
}

uint64_t hppair_counter(const struct hppair *t, uint32_t node, const char *name)
{
	return exrig_counter(t->rig.node[node].nic, name);
}

void hppair_far_1(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
}

void hppair_far_2(struct hppair *t, struct hpend *e)
{
	hppair_far_1(t, e);
	hppair_meet(e);
}

/* ---- messages ---- */

void hpend_sdr(struct hpend *e, uint32_t words, uint32_t seed)
{
	for (uint32_t i = 0; i < 8 * words; i++)
		((uint8_t *)e->p.sdr)[i] = hpend_byte(i, seed);
}

void hpend_rdr_check(struct hpend *e, const uint64_t *w, uint32_t bytes,
		     uint32_t seed)
{
	uint32_t wp = HP_PS_LO(w[2]), size = e->d.rdr;
	uint32_t start = (wp + size - bytes / 8) % size;

	assert_int_equal(w[3], bytes);
	for (uint32_t i = 0; i < bytes; i++) {
		uint32_t at = (8 * start + i) % (8 * size);

		assert_int_equal(((uint8_t *)e->p.rdr)[at],
				 hpend_byte(i, seed));
	}
}

void hpend_rdr_rest(struct hpend *e, const uint64_t *w, uint32_t bytes)
{
	uint32_t size = 8 * e->d.rdr;
	uint32_t start = (8 * HP_PS_LO(w[2]) + size - bytes) % size;
	uint8_t *b = (uint8_t *)e->p.rdr;

	for (uint32_t i = bytes; i < size; i++)
		assert_int_equal(b[(start + i) % size], 0xee);
	memset(b, 0xee, size);
}

void hpend_rdr_free(struct hpend *e, uint32_t words)
{
	while (words) {
		uint32_t k = words > HP_COUNT_MAX ? HP_COUNT_MAX : words;

		if (hpproc_trigger(&e->p, HP_T_RDR_RP, k) & HP_TRUE)
			words -= k;
	}
}

void hpend_prd(struct hpend *e, uint64_t addr, uint64_t len, uint64_t flags,
	       uint64_t cookie)
{
	hpend_prd_raw(e, addr, len, HP_PRD_VALID | flags, cookie);
}

void hpend_prd_raw(struct hpend *e, uint64_t addr, uint64_t len, uint64_t flags,
		   uint64_t cookie)
{
	uint64_t *w = e->p.prq + HP_WORDS * e->p.pi++;

	w[HP_PRD_ADDR] = addr;
	w[HP_PRD_LEN] = len;
	w[HP_PRD_FLAGS] = flags;
	w[HP_PRD_COOKIE] = cookie;
	while (!(hpproc_trigger(&e->p, HP_T_PRQ_WP, 1) & HP_TRUE))
		;
}

/* ---- memory ---- */

void hpend_windows(struct hpend *e)
{
	hpend_win(e, HPEND_WIN, 0, HPEND_LEN, HPEND_OPEN | HPEND_CAPA, 0);
	hpend_win(e, HPEND_OWN, 0, HPEND_LEN, HP_WIN_EN, 0);
	hppair_meet(e);
}

void hppair_far_memory(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	hpend_windows(e);
	hppair_meet(e);
}

struct hprma hpend_put(uint64_t off, uint64_t ooff, uint64_t len)
{
	return (struct hprma){ .byte = HP_B_PUT | HP_A,
			       .win = HPEND_WIN,
			       .capa = HPEND_CAPA,
			       .owin = HPEND_OWN,
			       .off = off,
			       .ooff = ooff,
			       .len = len };
}

struct hprma hpend_get(uint64_t off, uint64_t ooff, uint64_t len)
{
	struct hprma a = hpend_put(off, ooff, len);

	a.byte = HP_B_GET;
	return a;
}
