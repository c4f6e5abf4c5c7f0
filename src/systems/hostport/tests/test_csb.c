/* SPDX-License-Identifier: Apache-2.0 */
/* The conditional store buffer against ref_hp. Triggerpages are loaded at
 * random while entries are taken and VPIDs are switched on and off. All answers
 * and entries must be equal. `test_csb SEED [N]` runs N scenarios.
 * */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ref_hp.h"
#include "unit/replay.h"
#include "base/rng.h"
#include "systems/hostport/nic/store_buffer.h"

struct totals {
	uint64_t loads, accepted, full, off, invalid, refused, taken;
};

static uint32_t below(struct weft_rng *g, uint32_t n)
{
	return (uint32_t)weft_rng_below(g, n);
}

/* Returns one of a few processes, or sometimes any VPID. */
static uint32_t some_vpid(struct weft_rng *g, const uint32_t *vpids, uint32_t n)
{
	return below(g, 40) ? vpids[below(g, n)] : below(g, 65536);
}

static int one_load(struct hp_csb *b, struct ref_csb *ref, uint32_t off,
		    uint64_t i, struct totals *t)
{
	uint64_t want = ref_csb_load(ref, off);
	uint64_t got = hp_csb_trigger(b, HP_TRIGGER_VPID(off),
				      HP_TRIGGER_CMD(off), HP_TRIGGER_PAR(off));
	uint64_t *by_reason[] = { &t->loads, &t->full, &t->off, &t->invalid,
				  &t->refused };

	t->loads++;
	t->accepted += HP_RET_ACCEPTED(got);
	if (HP_RET_REASON(got))
		(*by_reason[HP_RET_REASON(got) % 5])++;
	return replay_differ("answer", i, got, want) +
	       replay_differ("free", i, hp_csb_free(b), ref->depth - ref->n);
}

static int one_take(struct hp_csb *b, struct ref_csb *ref, uint64_t i,
		    struct totals *t)
{
	struct ref_csb_entry want = { 0 };
	struct hp_csb_entry got = { 0 };
	bool some = hp_csb_take(b, &got);

	t->taken += some;
	return replay_differ("entry there", i, some, ref_csb_next(ref, &want)) +
	       replay_differ("vpid", i, got.vpid, want.vpid) +
	       replay_differ("command", i, got.cmd, want.command) +
	       replay_differ("parameter", i, got.par, want.parameter);
}

static int steps(struct hp_csb *b, struct ref_csb *ref, struct weft_rng *g,
		 struct totals *t)
{
	uint32_t vpids[8], n = 1 + below(g, 8), drain = 1 + below(g, 30);
	int bad = 0;

	for (uint32_t i = 0; i < n; i++) {
		vpids[i] = below(g, 4) ? below(g, 65536) : 65535 - i;
		ref->enabled[vpids[i]] = true;
		hp_csb_enable(b, vpids[i], true);
	}
	for (uint64_t i = 0; !bad && i < 400; i++) {
		uint32_t vpid = some_vpid(g, vpids, n), kind = below(g, 40);
		uint32_t cmd = below(g, 3) ? 0 : below(g, 16);

		if (kind < drain) {
			bad = one_take(b, ref, i, t);
		} else if (kind == 39) {
			ref->enabled[vpid] = !ref->enabled[vpid];
			hp_csb_enable(b, vpid, ref->enabled[vpid]);
		} else {
			uint32_t off =
				vpid << 12 | cmd << 8 | below(g, 32) << 3;

			bad = one_load(b, ref, off, i, t);
		}
	}
	while (!bad && ref->n)
		bad = one_take(b, ref, 1000, t);
	return bad;
}

static int one(uint64_t seed, void *totals)
{
	struct ref_csb *ref = calloc(1, sizeof(*ref));
	struct hp_csb *b = calloc(1, sizeof(*b));
	struct weft_rng g;
	int bad;

	weft_rng_seed(&g, seed, "csb");
	ref->depth = b->depth = 1 + below(&g, below(&g, 2) ? 8 : 300);
	ref->limit = b->vpid_max = below(&g, 3) ? 0 : 1 + below(&g, 40);
	if (!hp_csb_init(b))
		abort();
	bad = steps(b, ref, &g, totals);
	hp_csb_fini(b);
	free(b);
	free(ref);
	return bad;
}

/* Checks the answers that the specification prints for T02 to T07 (hostport.md
 * 13.1, appendix A). */
static int golden(void)
{
	struct hp_csb *b = calloc(1, sizeof(*b));
	int bad = 0;

	b->depth = 22;
	if (!hp_csb_init(b))
		abort();
	bad += replay_differ("T06", 0, hp_csb_trigger(b, 0x1234, 0, 5),
			     0x160200);
	hp_csb_enable(b, 0x1234, true);
	bad += replay_differ("T03", 0, hp_csb_trigger(b, 0x1234, 0, 5),
			     0x110085);
	bad += replay_differ("T04", 0, hp_csb_trigger(b, 0x1234, 0, 0),
			     0x110080);
	for (uint32_t cmd = 6; cmd < 16; cmd++)
		bad += replay_differ("T07", cmd,
				     hp_csb_trigger(b, 0x1234, cmd, 1),
				     0x110300);
	hp_csb_trigger(b, 0x1234, 0, 14);
	bad += replay_differ("T02", 0, hp_csb_trigger(b, 0x1234, 0, 5), 0x103);
	bad += replay_differ(
		"T05", 0, HP_TRIGGER_PAGE(0x1234) | HP_TRIGGER(HP_T_ISSUE, 5),
		0x1234028);
	bad += replay_differ(
		"T05", 1, HP_TRIGGER_PAGE(0xffff) | HP_TRIGGER(HP_T_NQ_RP, 31),
		0xffff2f8);
	hp_csb_fini(b);
	free(b);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };

	if (golden() || !replay(argc, argv, 1000, one, &t))
		return 1;
	printf("%" PRIu64 " loads, %" PRIu64 " entries, rejected: %" PRIu64
	       " full, %" PRIu64 " off, %" PRIu64 " invalid, %" PRIu64
	       " over their share; %" PRIu64 " taken\n",
	       t.loads, t.accepted, t.full, t.off, t.invalid, t.refused,
	       t.taken);
	return t.accepted != t.taken || !t.full || !t.off || !t.invalid ||
	       (argc < 2 && !t.refused);
}
