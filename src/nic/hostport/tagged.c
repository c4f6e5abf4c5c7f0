/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged accesses to the Host Port (hostport.md 10.1, 10.2): the process is in
 * the tag, not in the address, so one page is enough for all.
 *
 *   TCSTORE of 64 bytes   a VCI: into a queue of the device, if it has room;
 *                         no Triggerpage load, no fetch from the work queue
 *   TLOAD                 a trigger; its response tag says "fully accepted"
 *   ULTRA                 TCSTORE of a packet, TLOAD of one that is kept on the
 *                         device (ultra.c)
 *
 * Only tags that the processor vouches for count (X1).  A VCI whose process has
 * no NQ entry left keeps its place in the queue, others pass it (CSB11). */
#include <stdlib.h>

#include "nic/hostport/nic.h"

struct place {
	struct hp_req *req;
	uint64_t w[HP_WORDS];
	uint16_t vpid;
	bool parked;
};

struct hp_tagged {
	struct place *at; /* tagged_depth of them, oldest first */
	uint32_t n;
	bool busy; /* `look` is under way, for the VCI of look.vpid */
	struct hp_ctx_req look;
};

static void tagged_go(struct hp_nic *n);

/* The oldest VCI that is not parked; a parked one stops those of its VPID. */
static struct place *next_place(struct hp_tagged *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!t->at[i].parked)
			return &t->at[i];
	return NULL;
}

static struct place *first_of(struct hp_tagged *t, uint32_t vpid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->at[i].vpid == vpid)
			return &t->at[i];
	return NULL;
}

static void place_free(struct hp_tagged *t, struct place *p)
{
	uint32_t i = (uint32_t)(p - t->at);

	t->n--;
	memmove(p, p + 1, (t->n - i) * sizeof(*p));
}

static void park(struct hp_tagged *t, uint32_t vpid, bool on)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->at[i].vpid == vpid)
			t->at[i].parked = on;
}

static void looked(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_tagged *t = n->fetch.tagged;
	struct place *p = first_of(t, r->vpid);

	t->busy = false;
	if (!(c->w[0] & HP_CTX_EN) || !hp_csb_on(&n->csb, c->vpid)) {
		hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, 0), c->vpid);
		hp_job_drop(&n->sched[HP_REQ], &p->req->job);
		place_free(t, p);
	} else if (!hp_nq_free(c, n->nq_size)) {
		hp_count(n, HP_K_PARKED, 1);
		park(t, c->vpid, true);
	} else if (hp_fetch_room(n)) {
		HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) + 1);
		hp_ctx_dirty(c);
		hp_fetch_issue(n, c, p->req, p->w);
		place_free(t, p);
	}
	tagged_go(n);
}

static void tagged_go(struct hp_nic *n)
{
	struct hp_tagged *t = n->fetch.tagged;
	struct place *p = t->busy || !hp_fetch_room(n) ? NULL : next_place(t);

	if (!p)
		return;
	t->busy = true;
	t->look.vpid = p->vpid;
	t->look.done = looked;
	hp_ctx_get(n, &t->look);
}

void hp_tagged_go(struct hp_nic *n)
{
	if (n->fetch.tagged)
		tagged_go(n);
}

void hp_tagged_unpark(struct hp_nic *n, uint32_t vpid)
{
	if (!n->fetch.tagged)
		return;
	park(n->fetch.tagged, vpid, false);
	tagged_go(n);
}

static struct hp_tagged *tagged_make(struct hp_nic *n)
{
	struct hp_tagged *t = n->fetch.tagged;

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (t)
		t->at = calloc(n->tagged_depth, sizeof(*t->at));
	if (!t || !t->at)
		abort();
	n->fetch.tagged = t;
	return t;
}

bool hp_fetch_tagged(struct hp_nic *n, uint32_t vpid, const uint64_t *w)
{
	struct hp_tagged *t = tagged_make(n);
	const struct place *older = first_of(t, vpid);
	struct place *p;

	if (!(n->ctrl & HP_CTRL_ENABLE) || !hp_csb_on(&n->csb, vpid) ||
	    t->n == n->tagged_depth) {
		hp_count(n, HP_K_TAGGED_FULL, 1);
		return false;
	}
	p = &t->at[t->n++];
	*p = (struct place){ .req = hp_job_new(&n->sched[HP_REQ]),
			     .vpid = (uint16_t)vpid,
			     .parked = older && older->parked };
	memcpy(p->w, w, HP_LINE);
	hp_count(n, HP_K_TAGGED, 1);
	tagged_go(n);
	return true;
}

/* ---- the bus ----------------------------------------------------------- */

static bool cond_store(struct hp_nic *n, const struct weft_bus_note *note)
{
	const struct hp_block *ultra = hp_blocks[HP_BLOCK_ULTRA];
	uint64_t w[HP_WORDS];

	if (note->user || note->cond >> 56 != WEFT_COND_ROOM)
		return false;
	if (note->space == 1 + HP_BAR_ULTRA)
		return ultra->tstore(n, note);
	if (note->space != 1 + HP_BAR_TRIGGER || note->bytes != HP_LINE)
		return false;
	memcpy(w, note->data, HP_LINE);
	return hp_fetch_tagged(n, note->tag, w);
}

static bool tagged_load(struct hp_nic *n, const struct weft_bus_note *note,
			uint64_t *val_p)
{
	if (note->user)
		return false;
	if (note->space == 1 + HP_BAR_ULTRA)
		return hp_blocks[HP_BLOCK_ULTRA]->tload(n, note, val_p);
	if (note->space != 1 + HP_BAR_TRIGGER)
		return false;
	*val_p = hp_trigger(n, HP_TRIGGER_PAGE(note->tag) | note->off % HP_PAGE,
			    note->bytes);
	return *val_p & HP_TRUE;
}

void hp_tagged_note(struct hp_nic *n, const struct weft_bus_note *note)
{
	const struct weft_bus_ops *bus = weft_bus_of(n->bus);
	uint64_t val = 0;
	bool valid;

	if (note->op == WEFT_TCSTORE) {
		bus->tagged_reply(n->bus, NULL, 0, cond_store(n, note));
	} else if (note->op == WEFT_TLOAD) {
		valid = tagged_load(n, note, &val);
		bus->tagged_reply(n->bus, &val, note->bytes, valid);
	} else {
		weft_bus_consumed(n->bus, 1); /* no register takes one */
	}
}

void hp_tagged_fini(struct hp_nic *n)
{
	if (n->fetch.tagged)
		free(n->fetch.tagged->at);
	free(n->fetch.tagged);
}
