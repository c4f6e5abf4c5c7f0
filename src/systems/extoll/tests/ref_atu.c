/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_atu.h. */
#include "ref_atu.h"

#include <assert.h>

/* ---- the table of 3.7 ---- */

static uint32_t page_of(uint64_t nla)
{
	return (uint32_t)(nla >> 12 & 0x7ffffff);
}

static bool gate_mine(uint64_t gate, uint32_t vpid)
{
	return (gate & 3) && !(gate >> 52) && (gate >> 2 & 0x3ff) == vpid;
}

static bool gate_allows(uint64_t gate, uint32_t vpid, bool write)
{
	return gate_mine(gate, vpid) && (gate & (write ? 2 : 1));
}

static bool nla_fine(const struct ref_atu_ask *q)
{
	return !(q->nla >> 39) && !(q->nla >> 30) &&
	       (q->nla & 0xfff) + q->bytes <= 4096;
}

/* ---- TLB ---- */

static int find(const struct ref_atu *a, uint32_t page, uint32_t vpid)
{
	for (uint32_t w = 0; w < REF_ATU_WAYS; w++)
		if (a->way[page % REF_ATU_SETS][w].full &&
		    a->way[page % REF_ATU_SETS][w].page == page &&
		    a->way[page % REF_ATU_SETS][w].vpid == vpid)
			return (int)w;
	return -1;
}

static void fill(struct ref_atu *a, uint32_t page, uint32_t vpid, uint64_t gate)
{
	uint32_t s = page % REF_ATU_SETS, w = a->next[s];

	a->replaced += a->way[s][w].full;
	a->way[s][w].full = true;
	a->way[s][w].page = page;
	a->way[s][w].vpid = vpid;
	a->way[s][w].gate = gate;
	a->next[s] = w + 1 == REF_ATU_WAYS ? 0 : w + 1;
}

/* ---- lookups and walks ---- */

static void tell(struct ref_atu *a, uint32_t unit, bool fine, uint64_t gate)
{
	struct ref_atu_ask q = a->ask[unit];
	int use = -1;

	a->ask[unit].state = REF_ATU_IDLE;
	a->faults += !fine;
	if (fine) {
		for (use = 0; a->use[use].live; use++)
			assert(use + 1 < REF_ATU_USES);
		a->use[use] = (struct ref_atu_use){ .live = true,
						    .page = page_of(q.nla),
						    .vpid = q.vpid,
						    .epoch = a->epoch };
	}
	a->answer(a->own, unit, q.user,
		  (gate & 0xffffffffff000) + (q.nla & 0xfff), use);
}

static void look(struct ref_atu *a, uint32_t unit)
{
	struct ref_atu_ask *q = &a->ask[unit];
	uint32_t page = page_of(q->nla);
	uint64_t gate;
	int w;

	if (!nla_fine(q)) {
		tell(a, unit, false, 0);
		return;
	}
	w = find(a, page, q->vpid);
	if (w < 0) {
		a->misses++;
		q->state = REF_ATU_WALK;
		q->stale = false;
		a->read(a->own, unit, a->table + 8ull * (page & 0x3ffff));
		return;
	}
	a->hits++;
	gate = a->way[page % REF_ATU_SETS][w].gate;
	tell(a, unit, gate_allows(gate, q->vpid, q->write), gate);
}

void ref_atu_read_done(struct ref_atu *a, uint32_t unit, uint64_t gate)
{
	struct ref_atu_ask *q = &a->ask[unit];

	if (q->stale) {
		a->stale++;
		q->state = REF_ATU_LOOK;
		ref_atu_run(a);
		return;
	}
	if (gate_mine(gate, q->vpid))
		fill(a, page_of(q->nla), q->vpid, gate);
	tell(a, unit, gate_allows(gate, q->vpid, q->write), gate);
}

void ref_atu_ask(struct ref_atu *a, uint32_t unit, uint64_t nla, uint32_t bytes,
		 uint32_t vpid, bool write, uint32_t user)
{
	assert(a->ask[unit].state == REF_ATU_IDLE);
	a->ask[unit] = (struct ref_atu_ask){ .state = REF_ATU_LOOK,
					     .nla = nla,
					     .due = a->now + REF_ATU_HIT,
					     .bytes = bytes,
					     .vpid = vpid,
					     .number = a->asked++,
					     .write = write,
					     .user = user };
}

/* Returns the unit with the oldest request that is due, or -1. */
static int due(const struct ref_atu *a)
{
	int best = -1;

	for (int u = 0; u < REF_ATU_UNITS; u++)
		if (a->ask[u].state == REF_ATU_LOOK &&
		    a->ask[u].due <= a->now &&
		    (best < 0 || a->ask[u].number < a->ask[best].number))
			best = u;
	return best;
}

/* ---- commands (extoll.md 3.8) ---- */

void ref_atu_finish(struct ref_atu *a, int use)
{
	if (use >= 0)
		a->use[use].live = false;
}

static bool concerns(uint64_t cmd, uint32_t page, uint32_t vpid)
{
	uint32_t first = (uint32_t)(cmd & 0xfffffff);

	switch (cmd >> 60) {
	case 1:
		return page >= first &&
		       page <= first + (uint32_t)(cmd >> 28 & 0x3ff);
	case 2:
		return vpid == (cmd & 0x3ff);
	default:
		return cmd >> 60 == 3;
	}
}

static void begin(struct ref_atu *a, uint64_t cmd)
{
	a->begun = true;
	a->epoch++;
	if (cmd >> 60 > 2)
		return;
	for (uint32_t i = 0; i < REF_ATU_SETS * REF_ATU_WAYS; i++)
		if (concerns(cmd, a->way[i / 4][i % 4].page,
			     a->way[i / 4][i % 4].vpid))
			a->way[i / 4][i % 4].full = false;
	for (uint32_t u = 0; u < REF_ATU_UNITS; u++)
		if (a->ask[u].state == REF_ATU_WALK &&
		    concerns(cmd, page_of(a->ask[u].nla), a->ask[u].vpid))
			a->ask[u].stale = true;
}

/* Returns true if a translation that was answered before the command is still
 * in use. */
static bool waits(const struct ref_atu *a, uint64_t cmd)
{
	for (uint32_t i = 0; i < REF_ATU_USES; i++)
		if (a->use[i].live && a->use[i].epoch != a->epoch &&
		    concerns(cmd, a->use[i].page, a->use[i].vpid))
			return true;
	return false;
}

static bool command(struct ref_atu *a)
{
	uint64_t cmd = a->cmd[0];

	if (!a->n_cmd)
		return false;
	if (!a->begun)
		begin(a, cmd);
	if (waits(a, cmd))
		return false;
	if (cmd >> 60 == 3 || cmd >> 60 == 4)
		a->write(a->own, cmd & 0xfffffffffff8);
	a->begun = false;
	a->n_cmd--;
	for (uint32_t i = 0; i < a->n_cmd; i++)
		a->cmd[i] = a->cmd[i + 1];
	return true;
}

void ref_atu_command(struct ref_atu *a, uint64_t word)
{
	if (a->n_cmd < REF_ATU_QUEUE)
		a->cmd[a->n_cmd++] = word;
	while (command(a))
		;
}

bool ref_atu_run(struct ref_atu *a)
{
	bool any = false;
	int u;

	for (; (u = due(a)) >= 0; any = true)
		look(a, (uint32_t)u);
	while (command(a))
		any = true;
	return any;
}
