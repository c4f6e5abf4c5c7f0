/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the MAC with a broken driver. Registers, descriptors and times are
 * random, and the peer sends frames of all kinds. No store may leave its
 * buffer, and after a reset the MAC must work. */
#include <string.h>

#include "base/rng.h"
#include "macrig.h"

enum { RUNS = 60, STEPS = 120 };

static const uint16_t regs[] = {
	MAC_CTRL,  MAC_STATUS, MAC_ICR,	  MAC_ITR,   MAC_ICS,  MAC_IMS,
	MAC_IMC,   MAC_RCTL,   MAC_FCTTV, MAC_TCTL,  MAC_TIPG, MAC_FCRTL,
	MAC_FCRTH, MAC_RDBAL,  MAC_RDBAH, MAC_RDLEN, MAC_RDH,  MAC_RDT,
	MAC_RDTR,  MAC_TDBAL,  MAC_TDBAH, MAC_TDLEN, MAC_TDH,  MAC_TDT,
	MAC_MPC,   MAC_GPRC,   MAC_RAL,	  MAC_RAH,   0x1234,   0x7ffc,
};

static uint32_t below(struct weft_rng *r, uint32_t n)
{
	return (uint32_t)weft_rng_below(r, n);
}

static uint32_t value(struct weft_rng *r)
{
	static const uint32_t some[] = { 0,	 1,    2,	7,
					 8,	 0x80, 0x100,	0x1000,
					 0x8000, ~0u,  1u << 1, 0x0400800a };
	uint32_t v = (uint32_t)weft_rng_u64(r);

	return below(r, 3) ? some[below(r, 12)] : v >> below(r, 32);
}

static void touch(struct weft_rng *r, struct station *s)
{
	uint32_t reg = regs[below(r, sizeof(regs) / sizeof(*regs))];

	if (below(r, 4))
		mac_store(s->mac, reg, value(r));
	else
		mac_load(s->mac, reg);
}

static void scribble(struct weft_rng *r, struct station *s)
{
	uint32_t at = below(r, 2) ? TX_RING : RX_RING;

	for (uint32_t i = 0; i < 64; i++)
		s->mem[at + below(r, 512)] = (uint8_t)weft_rng_u64(r);
}

static void step(struct weft_rng *r, struct macrig *rig)
{
	struct station *bad = rig->s[0], *good = rig->s[1];

	switch (below(r, 5)) {
	case 0:
		scribble(r, bad);
		break;
	case 1:
		if (good->tx_tail < 60) {
			macrig_frame(good, below(r, 2), 14 + below(r, 1500));
			macrig_post(good);
		}
		break;
	case 2:
		weft_sim_run(rig->sim, weft_sim_now(rig->sim) +
					       below(r, 30000) * WEFT_NS);
		break;
	default:
		touch(r, bad);
	}
}

/* Resets the MAC, then sends one frame in each direction. */
static void revive(struct macrig *rig)
{
	struct station *s = rig->s[0];
	uint8_t own[6];
	uint64_t n;

	weft_sim_run(rig->sim, weft_sim_now(rig->sim) + WEFT_SEC);
	mac_store(s->mac, MAC_CTRL, MAC_CTRL_RST);
	memset(s->mem, 0, MEM);
	s->tx_tail = 0;
	eth_addr_of(own, 0);
	mac_set_address(s->mac, 0, own);
	macrig_open(s, 16);
	weft_sim_run(rig->sim, weft_sim_now(rig->sim) + 10 * WEFT_US);
	n = mac_stats(s->mac)->rx_frames;
	macrig_frame(rig->s[1], 0, 100);
	macrig_post(rig->s[1]);
	weft_sim_run(rig->sim, weft_sim_now(rig->sim) + WEFT_SEC);
	assert_int_equal(mac_stats(s->mac)->rx_frames, n + 1);
	n = mac_stats(s->mac)->tx_frames;
	macrig_frame(s, 1, 100);
	macrig_post(s);
	weft_sim_run(rig->sim, weft_sim_now(rig->sim) + WEFT_SEC);
	assert_int_equal(mac_stats(s->mac)->tx_frames, n + 1);
}

static void mad_driver(void **state)
{
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct weft_rng r;
		struct macrig rig;

		weft_rng_seed(&r, seed, "mad");
		macrig_init(&rig, NULL, NULL, NULL);
		macrig_open(rig.s[0], 16);
		macrig_open(rig.s[1], 64);
		for (uint32_t i = 0; i < STEPS; i++)
			step(&r, &rig);
		revive(&rig);
		macrig_fini(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mad_driver) };

	return cmocka_run_group_tests_name("mac_hostile", tests, NULL, NULL);
}
