/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of VPIDs in the queues behind the fetch unit
 * (docs/systems/hostport-virtual.md, "Shares"). A VCI counts from its fetch
 * until its packet has left the network port and its answer has arrived. */
#include <stdlib.h>

#include "base/need.h"
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

void hp_fetch_weight(struct hp_nic *n, uint32_t vpid, uint32_t w)
{
	struct hp_shares *u = &n->fetch.share;
	struct hp_ahead *a = ahead_of(n, vpid);

	/* stops counting gets of the former owner, because their answers do not
	 * arrive any more. VCIs of the former owner that are not sent yet still
	 * count */
	if (a)
		a->out = 0;
	if (a && !a->n)
		*a = vec_pop(&u->ahead);
	if (w > 1 && !u->weight)
		u->weight = need(calloc(HP_VPIDS, sizeof(*u->weight)));
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

void hp_share_mark(struct hp_nic *n, uint32_t vpid)
{
	struct hp_shares *u = &n->fetch.share;

	if (vpid != u->last_vpid)
		u->last_other = u->last;
	u->last_vpid = (uint16_t)vpid;
	u->last = hp_now(n);
}

/* Returns whether the VPID has used its part of `all` slots. The part of a VPID
 * with weight w is w * (least + (all - least) / sum), where sum is the weight
 * of all VPIDs that share the slots.
 *
 * All VPIDs with instructions in the slots share them, with three exceptions.
 * For gets, a VPID does not count if it never had more than one get or unread
 * VCI at a time. A VPID with an instruction set aside does not count, because
 * no VCI of it is fetched. A VPID without progress for vpid_recent cycles does
 * not count, because its answers may wait for a page of the target. */
static bool part_full(const struct hp_nic *n, const struct hp_ahead *me,
		      enum hp_share_of of, uint32_t all, uint32_t least)
{
	const struct hp_shares *u = &n->fetch.share;
	bool port = of == HP_SHARE_PORT;
	uint32_t sum = 0, p = all, has = port ? me->n : me->out + me->unread;

	for (size_t i = 0; i < u->ahead.n; i++) {
		const struct hp_ahead *a = &u->ahead.at[i];

		if ((port ? a->n : a->out + a->unread) &&
		    hp_now(n) - a->at < n->param.vpid_recent &&
		    (port || a->several) &&
		    !hp_sched_aside(&n->sched[HP_REQ], a->vpid))
			sum += fetch_share_weight(n, a->vpid);
	}
	if (all > least && sum)
		p = least + (all - least) / sum;
	return all && has >= fetch_share_weight(n, me->vpid) * p;
}

/* Returns true if the VPID must wait, because it has used its share and VCIs of
 * another VPID were fetched recently. Without shares one VPID could fill the
 * queues behind the fetch unit, here and at its target. A VCI that is being
 * read counts as a get if the VPID has gets in flight. The share of gets is at
 * least 2, because with 1 a put behind a get would wait for the answer of that
 * get. */
bool hp_share_full(struct hp_nic *n, uint32_t vpid)
{
	const struct hp_shares *u = &n->fetch.share;
	const struct hp_ahead *a = ahead_of(n, vpid);
	/* time at which a VPID other than this one was fetched last */
	uint64_t at = vpid == u->last_vpid ? u->last_other : u->last;

	if (!a || !at || hp_now(n) - at >= n->param.vpid_recent)
		return false;
	return part_full(n, a, HP_SHARE_PORT, n->param.vpid_ahead, 1) ||
	       (a->out &&
		part_full(n, a, HP_SHARE_ANSWERS, n->param.vpid_gets, 2));
}

void hp_share_less(struct hp_nic *n, uint32_t vpid, enum hp_share_of of)
{
	struct hp_ahead *a = ahead_of(n, vpid);

	if (!a)
		return;
	if (of == HP_SHARE_PORT)
		a->n -= a->n > 0;
	else
		a->out -= a->out > 0;
	a->at = hp_now(n);
	/* no VCI or answer of the VPID is pending any more */
	if (!a->n && !a->out)
		*a = vec_pop(&n->fetch.share.ahead);
	hp_fetch_resume(n, vpid);
}

/* Counts a VCI as decoded. If `three` is set, also counts its answer as
 * pending. `three` is not set for an invalid VCI. */
void hp_share_read(struct hp_nic *n, uint32_t vpid, bool three)
{
	struct hp_ahead *a = ahead_of(n, vpid);

	a->unread--;
	a->out += three;
	a->at = hp_now(n);
}
