/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged accesses to the Host Port (hostport.md 10.1, 10.2). The tag names the
 * process, so that one page is enough for all processes.
 *
 * TCSTORE of 64 bytes   stores a VCI in a queue of the device, if the queue has
 *                       room. The VCI needs no Triggerpage load and no fetch
 *                       from the work queue
 * TLOAD                 is a trigger. Its response tag says "fully accepted"
 * ULTRA                 TCSTORE stores a packet, TLOAD reads a packet that is
 *                       kept on the device (ultra.c)
 * TSTORE                stores words of ULTRA's packets, or the read pointer of
 *                       a queue of ULTRA. It never triggers, because a store
 *                       without an answer must not fill a shared queue (X3)
 *
 * Only tags that privileged software has set are accepted, not tags of the
 * user (X1). A VCI is accepted only together with the NQ entry of its
 * completion. Therefore a process that takes no notifications cannot fill the
 * queue, and an accepted instruction will be executed (CSB11, X4). The store is
 * answered after the context was read, because the context counts the NQ
 * entries. */
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/nic.h"

struct place {
	struct hp_req *req;
	uint64_t w[HP_WORDS];
	uint64_t flags; /* W0 of the context */
	uint16_t vpid;
};

struct hp_tagged {
	uint32_t n;
	/* the one store whose answer is pending, because the bus has only one
	 * at a time */
	uint64_t w[HP_WORDS], trace;
	struct hp_ctx_req look;
	struct place at[]; /* ring of up to tagged_depth VCIs, oldest first */
};

void hp_tagged_go(struct hp_nic *n)
{
	struct hp_tagged *t = n->fetch.tagged;

	while (t && t->n && hp_fetch_room(n)) {
		struct place p = t->at[0];

		memmove(t->at, t->at + 1, --t->n * sizeof(*t->at));
		if (hp_csb_on(&n->csb, p.vpid)) {
			hp_fetch_issue(n, p.vpid, p.flags, p.req, p.w);
			continue;
		}
		hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, 0), p.vpid);
		weft_msg_end(n->comp, p.req->trace, false);
		hp_job_drop(&n->sched[HP_REQ], &p.req->job);
	}
}

static void tagged_access_answer(struct hp_nic *n, bool done)
{
	hp_count(n, done ? HP_K_TAGGED : HP_K_TAGGED_FULL, 1);
	weft_bus_of(n->bus)->tagged_reply(n->bus, NULL, 0, done);
}

static void tagged_access_looked(struct hp_nic *n, struct hp_ctx_req *r,
				 struct hp_ctx *c)
{
	struct hp_tagged *t = n->fetch.tagged;
	struct place *p = &t->at[t->n];

	if (!(c->w[0] & HP_CTX_EN) || !hp_csb_on(&n->csb, r->vpid) ||
	    !hp_nq_free(c, n->reg.nq_size)) {
		weft_msg_end(n->comp, t->trace, false);
		tagged_access_answer(n, false);
		return;
	}
	HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) + 1);
	hp_ctx_dirty(c);
	t->n++;
	p->req = hp_job_new(&n->sched[HP_REQ]);
	p->req->job.key = (uint64_t)r->vpid << 48;
	p->req->trace = t->trace;
	hp_mark(n, t->trace, "tagged store: context");
	p->vpid = r->vpid;
	p->flags = c->w[0];
	memcpy(p->w, t->w, HP_LINE);
	tagged_access_answer(n, true);
	hp_tagged_go(n);
}

/* Requests the context of a stored VCI. tagged_access_looked queues the VCI and
 * answers the store. If the device cannot take the VCI, refuses the store at
 * once. */
static void store_vci(struct hp_nic *n, const struct weft_bus_note *note)
{
	struct hp_tagged *t = n->fetch.tagged;

	if (!t)
		t = n->fetch.tagged =
			need(calloc(1, sizeof(*t) + n->param.tagged_depth *
							    sizeof(*t->at)));
	if (!(n->reg.ctrl & HP_CTRL_ENABLE) || !hp_csb_on(&n->csb, note->tag) ||
	    t->n == n->param.tagged_depth || !weft_bus_defer(n->bus)) {
		tagged_access_answer(n, false);
		return;
	}
	memcpy(t->w, note->data, HP_LINE);
	t->trace = weft_msg_open(n->comp);
	t->look.vpid = note->tag;
	t->look.done = tagged_access_looked;
	hp_ctx_get(n, &t->look);
}

/* ---- the bus ---- */

static bool tagged_load(struct hp_nic *n, const struct weft_bus_note *note,
			uint64_t *val_p)
{
	if (note->user)
		return false;
	if (note->space == 1 + HP_BAR_ULTRA)
		return hp_blocks[HP_BLOCK_ULTRA]->tload(n, note, val_p);
	if (note->space != 1 + HP_BAR_TRIGGER)
		return false;
	n->marks.load = HP_TRIGGER_CMD(note->off) == HP_T_ISSUE
				? weft_msg_open(n->comp)
				: 0;
	*val_p = hp_trigger(n, HP_TRIGGER_PAGE(note->tag) | note->off % HP_PAGE,
			    note->bytes);
	return *val_p & HP_TRUE;
}

void hp_tagged_note(struct hp_nic *n, const struct weft_bus_note *note)
{
	const struct weft_bus_ops *bus = weft_bus_of(n->bus);
	const struct hp_block *u = hp_blocks[HP_BLOCK_ULTRA];
	bool fair = !note->user && note->cond >> 56 == WEFT_COND_ROOM;
	bool ultra = note->space == 1 + HP_BAR_ULTRA, done;
	uint64_t val = 0;

	if (note->op == WEFT_TLOAD) {
		done = tagged_load(n, note, &val);
		bus->tagged_reply(n->bus, &val, note->bytes, done);
		return;
	}
	if (note->op == WEFT_TCSTORE) {
		if (fair && note->space == 1 + HP_BAR_TRIGGER &&
		    note->bytes == HP_LINE) {
			store_vci(n, note);
			return;
		}
		done = fair && ultra && u->tstore(n, note);
		bus->tagged_reply(n->bus, NULL, 0, done);
		return;
	}
	/* A refused store is only counted, because it is posted and its process
	 * gets no answer. */
	done = !note->user && ultra && u->tput(n, note);
	hp_count(n, done ? HP_K_TAGGED_STORES : HP_K_TAGGED_REFUSED, 1);
	weft_bus_consumed(n->bus, 1);
}
