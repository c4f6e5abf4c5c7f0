/* SPDX-License-Identifier: Apache-2.0 */
/* Packets whose receiver has no room (hostport.md 4.6, 4.8, 4.9, 14.3): no
 * entry of its notification queue, no words of its RDR, or no posted buffer.
 *
 * Such a packet takes one of rx_places waiting slots. Its job is set aside and
 * its payload leaves the network. When the receiver has room, the oldest packet
 * that waits for this receiver continues. Without a free slot the packet is
 * refused, with ERR_ROUTE_BROKEN to the origin. If the receiver is closed
 * (VPID_EN), the packet is refused with ERR_TVPID_INV.
 *
 * A receiver may use at most as many slots, bytes of a unit's buffer and pages
 * of the parking area as stay free. Therefore one receiver can use half of
 * them, and two receivers a third each. With waiting slots, neither units nor
 * network ports wait for a receiver, except that a message of more than a line
 * makes its unit wait when no buffer has room and the driver has given no area.
 * With rx_places = 0 the unit waits, as in the thesis, and so do packets behind
 * the waiting packet in the network.
 *
 * Messages for the RDR or posted buffers continue in the order of their
 * arrival. Other packets need only an entry of the notification queue. They may
 * pass messages that have reserved their entry and wait for space. No packet
 * passes an older packet of its ordering key. */
#include "systems/hostport/nic/completer.h"

/* number of cycles until pending transactions are checked again */
enum { AGAIN = 8 };

/* ---- slots and memory of each receiver ---- */

static struct hp_share *share_find(struct hp_nic *n, uint32_t vpid)
{
	for (size_t i = 0; i < n->room.shares.n; i++)
		if (n->room.shares.at[i].vpid == vpid)
			return &n->room.shares.at[i];
	return NULL;
}

struct hp_share *hp_room_share(struct hp_nic *n, uint32_t vpid)
{
	struct hp_share *s = share_find(n, vpid);

	if (s)
		return s;
	vec_push(&n->room.shares,
		 ((struct hp_share){ .vpid = (uint16_t)vpid }));
	return &n->room.shares.at[n->room.shares.n - 1];
}

static bool place_take(struct hp_nic *n, struct hp_in *in)
{
	struct hp_share *s;

	if (in->place)
		return true;
	s = hp_room_share(n, in->head.vpid);
	in->place = s->places + n->room.used < n->param.rx_places;
	s->places += in->place;
	n->room.used += in->place;
	hp_room_tidy(n, s);
	return in->place;
}

void hp_room_leave(struct hp_nic *n, struct hp_in *in)
{
	struct hp_share *s;

	if (!in->place)
		return;
	s = hp_room_share(n, in->head.vpid);
	in->place = false;
	s->places--;
	n->room.used--;
	hp_room_tidy(n, s);
}

/* ---- jobs stand aside ---- */

static struct hp_push *push_of(struct hp_in *in)
{
	return hp_in_part(in) == HP_CPL ? &((struct hp_cpl *)in)->push : NULL;
}

/* Moves the payload out of the network. A payload of up to a line is already in
 * the job's record. A longer payload is moved to the unit's buffer or to main
 * memory. Returns false when neither has room. */
static bool payload_leaves(struct hp_nic *n, struct hp_in *in)
{
	struct hp_push *p = push_of(in);

	if (!p || !in->rx || hp_in_size(in) <= HP_LINE)
		return true;
	return p->rx &&
	       (p->copied || hp_park_begin(n, p, in->job.fu, in->head.vpid));
}

bool hp_room_lacks(struct hp_nic *n, uint32_t vpid)
{
	const struct hp_share *s = share_find(n, vpid);

	return s && s->places;
}

bool hp_room_stand(struct hp_nic *n, void *packet)
{
	struct hp_in *in = packet;

	if (!n->param.rx_places)
		return true;
	if (!place_take(n, in))
		return false;
	if (!payload_leaves(n, in))
		return !n->park.pages;
	in->job.placed = true;
	hp_stage_aside(&n->sched[hp_in_part(in)], &in->job);
	return true;
}

/* ---- list of waiting packets ---- */

/* Returns whether `me` may continue now. An older packet of the same receiver
 * goes first if it waits for an NQ entry, if both packets need space for a
 * message, or if both have the same ordering key. */
bool hp_rx_first(const struct hp_nic *n, const struct hp_in *me)
{
	const struct hp_in *in = n->room.head;

	for (; in && in != me; in = in->next)
		if (in->head.vpid == me->head.vpid &&
		    (in->entry || (in->space && me->space) ||
		     (me->job.ordered && in->job.key == me->job.key)))
			return false;
	return true;
}

static void wait_remove(struct hp_nic *n, struct hp_in *me)
{
	struct hp_in **at = &n->room.head, *last = NULL;

	for (; *at != me; at = &(*at)->next)
		last = *at;
	*at = me->next;
	if (n->room.tail == me)
		n->room.tail = last;
	me->waiting = false;
}

/* ---- the end of a packet without room ---- */

/* Ends a packet without room: gives its reservation back, and sends a refusal
 * to its origin. A reply is not refused but recorded in the error log, because
 * its sender does not wait for an answer. */
static void room_end(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c)
{
	enum hp_err err = hp_csb_on(&n->csb, c->vpid) ? HP_ERR_ROUTE_BROKEN
						      : HP_ERR_TVPID_INV;

	in->gone = true;
	in->job.ordered = false;
	hp_count(n, HP_K_RX_REFUSED, 1);
	if (in->nq && HP_CTX(c->w, HP_F_NQ_RESV)) {
		HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) - 1);
		hp_ctx_dirty(c);
	}
	in->nq = false;
	if (in->reply)
		hp_err_log(n, HP_CMD(HP_ERR_ROUTE_BROKEN, 0, HP_B_ACK),
			   c->vpid);
	else if (in->err) /* the origin already knows of the error */
		hp_err_log(n, HP_CMD(in->err, 0, HP_B_NOTIFY_RMA), c->vpid);
	else
		hp_in_refuse(n, in, err);
	in->err = err;
	hp_in_end(n, in);
	if (push_of(in))
		hp_park_end(n, push_of(in));
	hp_room_leave(n, in);
	hp_stall_update(n, c);
	hp_rx_room(n, c->vpid);
	hp_stage_done(&n->sched[hp_in_part(in)], &in->job);
}

static void room_over(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c);

static void room_again(struct hp_nic *n, void *arg)
{
	hp_in_context(n, arg, room_over);
}

static void room_over(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c)
{
	struct hp_in *in = r->arg;
	struct hp_push *p = push_of(in);

	/* transactions in flight must end first */
	if (p && p->park.out)
		hp_after(n, AGAIN, room_again, in);
	else
		room_end(n, in, c);
}

/* Refuses packets that have waited for rx_block_limit (14.3), so that they
 * leave the network. */
static void wait_expire(struct hp_nic *n, void *arg)
{
	struct hp_in *in = n->room.head, *next;

	for (; in; in = next) {
		next = in->next;
		if (in->since + n->param.rx_block_limit > hp_now(n) ||
		    in->asking)
			continue;
		wait_remove(n, in);
		if (push_of(in))
			push_of(in)->stop = true;
		hp_in_context(n, in, room_over);
	}
}

void hp_room_behind(struct hp_sched *s, struct hp_job *j)
{
	struct hp_nic *n = s->own;
	struct hp_in *in = (struct hp_in *)j;

	if (!hp_room_lacks(n, in->head.vpid))
		/* the older job of the key waits for the driver, not for
		 * room */
		return;
	j->placed = place_take(n, in) && payload_leaves(n, in);
	if (j->placed || (in->place && !n->park.pages))
		return;
	j->over = false;
	hp_in_context(n, in, room_over);
}

/* ---- waiting ---- */

bool hp_room_entry(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c)
{
	if (in->nq || n->param.nq_full_policy)
		return true;
	if (!hp_rx_first(n, in) || !hp_nq_free(c, n->reg.nq_size) ||
	    hp_notify_waits(n, c->vpid))
		return false;
	HP_CTX_SET(c->w, HP_F_NQ_RESV, HP_CTX(c->w, HP_F_NQ_RESV) + 1);
	hp_ctx_dirty(c);
	in->nq = true;
	return true;
}

void hp_rx_wait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c,
		bool entry)
{
	bool turn = !hp_rx_first(n, in);

	in->asking = false;
	in->entry = entry && !turn;
	if (!hp_csb_on(&n->csb, c->vpid)) { /* the VPID is being closed */
		if (in->waiting)
			wait_remove(n, in);
		if (push_of(in))
			push_of(in)->stop = true;
		room_over(n, &in->ctx, c);
		return;
	}
	if (in->waiting) {
		hp_room_stand(n, in);
		return;
	}
	if (!hp_room_stand(n, in)) {
		room_end(n, in, c);
		return;
	}
	in->next = NULL;
	if (n->room.head)
		n->room.tail->next = in;
	else
		n->room.head = in;
	n->room.tail = in;
	in->waiting = true;
	in->since = hp_now(n);
	hp_count(n, HP_K_RX_STALLS, !turn);
	hp_count(n, HP_K_NQE_WAITS, in->entry);
	hp_stall_update(n, c);
	if (n->param.rx_block_limit)
		hp_after(n, n->param.rx_block_limit, wait_expire, NULL);
}

void hp_rx_unwait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c)
{
	if (!in->waiting)
		return;
	wait_remove(n, in);
	hp_room_leave(n, in);
	hp_mark(n, in->trace, "waits for room in memory");
	hp_stall_update(n, c);
	/* retries, because the next packet may fit too */
	hp_rx_room(n, c->vpid);
}

/* Lets the oldest packet that needs space, and the oldest that needs only an NQ
 * entry, request the context again. */
void hp_rx_room(struct hp_nic *n, uint32_t vpid)
{
	bool told[2] = { false, false };

	for (struct hp_in *in = n->room.head; in; in = in->next) {
		if (in->head.vpid != vpid || told[in->space])
			continue;
		told[in->space] = true;
		if (in->asking)
			continue;
		in->asking = true;
		hp_ctx_get(n, &in->ctx);
	}
}
