/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of VPIDs in the queues behind the turn
 * (docs/systems/hostport-virtual.md, "Shares"): VCIs that a VPID has in front
 * of the network port, and answers that it waits for, counted from their fetch
 * on. */
#include <stdlib.h>

#include "systems/hostport/nic/nic.h"

static uint32_t fetch_share_weight(const struct hp_nic *n, uint32_t vpid)
{
	const struct hp_shares *u = &n->fetch.share;

	return u->weight && u->weight[vpid].is ? u->weight[vpid].is : 1;
}

static struct hp_ahead *ahead_of(struct hp_nic *n, uint32_t vpid)
{
	for (size_t i = 0; i < n->fetch.share.ahead.n; i++)
		if (n->fetch.share.ahead.at[i].vpid == vpid)
			return &n->fetch.share.ahead.at[i];
	return NULL;
}

/* Perhaps nothing of the VPID is under way any more. */
static void ahead_check(struct hp_nic *n, struct hp_ahead *a)
{
	if (a->n || a->out)
		return;
	*a = vec_pop(&n->fetch.share.ahead);
}

void hp_fetch_weight(struct hp_nic *n, uint32_t vpid, uint32_t w)
{
	struct hp_shares *u = &n->fetch.share;
	struct hp_ahead *a = ahead_of(n, vpid);

	/* Answers of a former owner do not come; what was fetched leaves. */
	if (a) {
		a->out = 0;
		ahead_check(n, a);
	}
	if (w > 1 && !u->weight)
		u->weight = calloc(HP_VPIDS, sizeof(*u->weight));
	if (w > 1 && !u->weight)
		abort();
	if (u->weight)
		u->weight[vpid] = (struct hp_weight){ .is = (uint8_t)w };
}

void hp_share_add(struct hp_nic *n, uint32_t vpid, struct hp_req *req)
{
	struct hp_ahead *a = ahead_of(n, vpid);

	if (req->ahead)
		return;
	req->ahead = true;
	if (!a) {
		vec_push(&n->fetch.share.ahead,
			 ((struct hp_ahead){ .vpid = (uint16_t)vpid }));
		a = ahead_of(n, vpid);
	}
	a->at = hp_now(n);
	a->n++;
	a->unread++;
	a->several |= a->out + a->unread > 1;
}

/* Others have been fetched, not long ago. */
static bool fetch_share_contended(const struct hp_nic *n, uint32_t vpid)
{
	const struct hp_shares *u = &n->fetch.share;
	uint64_t at = vpid == u->last_vpid ? u->last_other : u->last;

	return at && hp_now(n) - at < n->vpid_recent;
}

void hp_share_mark(struct hp_nic *n, uint32_t vpid)
{
	struct hp_shares *u = &n->fetch.share;

	if (vpid != u->last_vpid)
		u->last_other = u->last;
	u->last_vpid = (uint16_t)vpid;
	u->last = hp_now(n);
}

/* Places that are counted: in front of the network port, or for answers. */
enum places { PORT, ANSWERS };

static uint32_t fetch_share_has(const struct hp_ahead *a, enum places of)
{
	return of == PORT ? a->n : a->out + a->unread;
}

/* Sum, of those that have part in the places.  One that has a single get at a
 * time has not.  Nor has one with an instruction aside, which gets no turn, or
 * one that was still for long: its answers may wait for a page of the target.
 */
static uint32_t fetch_share_weights(const struct hp_nic *n, enum places of)
{
	const struct hp_shares *u = &n->fetch.share;
	uint32_t sum = 0;

	for (size_t i = 0; i < u->ahead.n; i++) {
		const struct hp_ahead *a = &u->ahead.at[i];

		if (fetch_share_has(a, of) &&
		    hp_now(n) - a->at < n->vpid_recent &&
		    (of == PORT || a->several) &&
		    !hp_sched_aside(&n->sched[HP_REQ], a->vpid))
			sum += fetch_share_weight(n, a->vpid);
	}
	return sum;
}

/* The VPID has its part of `all` places: `least`, and a share of the rest, for
 * each unit of its weight.  Whole numbers, so that parts are as weights. */
static bool part_full(const struct hp_nic *n, const struct hp_ahead *a,
		      enum places of, uint32_t all, uint32_t least)
{
	uint32_t sum = fetch_share_weights(n, of), p = all;

	if (all > least && sum)
		p = least + (all - least) / sum;
	return all &&
	       fetch_share_has(a, of) >= fetch_share_weight(n, a->vpid) * p;
}

/* Behind the turn are queues that one VPID could fill, here and where its
 * packets go: it has its share of them, and no more while others want theirs.
 * A VCI that is being read may be a get, where the VPID has some.  With a
 * single get it would wait for the answer before each put. */
bool hp_share_full(struct hp_nic *n, uint32_t vpid)
{
	const struct hp_ahead *a = ahead_of(n, vpid);

	if (!a || !fetch_share_contended(n, vpid))
		return false;
	return part_full(n, a, PORT, n->vpid_ahead, 1) ||
	       (a->out && part_full(n, a, ANSWERS, n->vpid_gets, 2));
}

static void ahead_less(struct hp_nic *n, uint32_t vpid, bool answered)
{
	struct hp_ahead *a = ahead_of(n, vpid);

	if (!a)
		return;
	a->n -= !answered && a->n;
	a->out -= answered && a->out;
	a->at = hp_now(n);
	ahead_check(n, a);
	hp_fetch_resume(n, vpid);
}

void hp_fetch_left(struct hp_nic *n, uint32_t vpid)
{
	ahead_less(n, vpid, false);
}

void hp_fetch_answered(struct hp_nic *n, uint32_t vpid)
{
	ahead_less(n, vpid, true);
}

/* Its kind is known, or it will have none. */
void hp_share_read(struct hp_nic *n, uint32_t vpid, bool three)
{
	struct hp_ahead *a = ahead_of(n, vpid);

	a->unread--;
	a->out += three;
	a->at = hp_now(n);
}
