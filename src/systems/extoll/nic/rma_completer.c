/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA completer: writes packets to host memory (extoll.md 5.4, 5.5,
 * 7.5).
 *
 * Cells of the four virtual channels arrive interleaved, so that each channel
 * has its own current packet. Packets start one after the other, 20 cycles
 * apart. Only one packet waits for the ATU at a time.
 *
 *   WAIT   waits for the first cell of a packet
 *   CHECK  checks for 16 cycles that the packet is valid and for this node
 *   XLATE  translates the write address, in 4 cycles or more
 *   WRITE  requests posted writes, cut at 64 bytes, 20 cycles behind the cells
 *   LOCK   hands a lock request over to the responder
 *   DRAIN  drops the remaining cells of a packet
 *   NOTI   requests the write of the notification, which follows the data
 *          because both use one queue of posted writes
 *
 * A slot of the network port is released when its bytes are in the write queue.
 * Responses never wait for requests, because that could cause a deadlock. A
 * lock that finds the responder's queue full blocks its own channel only. */
#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

enum { T_CHECK = RMA_T_COMPL - ATU_HIT };

const char *const extoll_rma_in_name[RMA_IN_STATES] = {
	[RMA_IN_WAIT] = "wait",	  [RMA_IN_CHECK] = "check",
	[RMA_IN_XLATE] = "xlate", [RMA_IN_LOCK] = "lock",
	[RMA_IN_WRITE] = "write", [RMA_IN_DRAIN] = "drain",
	[RMA_IN_NOTI] = "noti",
};

static uint64_t in_now(const struct extoll_rma_in *in)
{
	return ex_now(in->rma->nic);
}

static void compl_wake(struct rma *r, uint64_t cycle)
{
	extoll_rma_wake(r, &r->in_timer, EXTOLL_HX_RMA_COMP, cycle);
}

/* ---- cells ---- */

void extoll_rma_compl_cell(struct rma *r, const struct netport_cell *c)
{
	struct extoll_rma_in *in = &r->in[c->vc];
	struct extoll_rma_cell *cell = &r->cell[c->slot];

	*cell = (struct extoll_rma_cell){ .pkt = c->pkt,
					  .cycle = ex_now(r->nic),
					  .end = c->first + c->bytes,
					  .eop = c->eop,
					  .next = RMA_CELL_NONE };
	if (in->head == RMA_CELL_NONE)
		in->head = c->slot;
	else
		r->cell[in->tail].next = c->slot;
	in->tail = c->slot;
	extoll_rma_compl_run(r);
}

/* Returns the number of payload bytes that arrived at least 20 cycles ago. */
static uint32_t in_ready(struct extoll_rma_in *in)
{
	uint32_t end = 0, words = ex_meta(in->pkt)->words * 8u;

	for (uint8_t s = in->head; s != RMA_CELL_NONE;) {
		const struct extoll_rma_cell *c = &in->rma->cell[s];

		if (c->cycle + RMA_T_COMPL > in_now(in)) {
			compl_wake(in->rma, c->cycle + RMA_T_COMPL);
			break;
		}
		end = c->end;
		if (c->eop)
			break;
		s = c->next;
	}
	end = end > words ? end - words : 0;
	return end < in->cmd.bytes ? end : in->cmd.bytes;
}

/* Releases the slots of the packet's first `bytes` bytes. Returns true if the
 * packet's last slot is released and the packet is freed. */
static bool in_release(struct extoll_rma_in *in, uint32_t bytes)
{
	struct rma *r = in->rma;

	while (in->head != RMA_CELL_NONE && r->cell[in->head].end <= bytes) {
		const struct extoll_rma_cell *c = &r->cell[in->head];
		bool eop = c->eop;

		netport_release(&r->nic->np[EX_NP_RMA], in->head, in_now(in));
		in->head = c->next;
		if (eop) {
			weft_slice_drop(&in->data);
			weft_frame_free(in->pkt);
			in->pkt = NULL;
			return true;
		}
	}
	return false;
}

/* ---- states ---- */

static enum extoll_rma_in_state in_wait(struct extoll_rma_in *in)
{
	struct rma *r = in->rma;
	uint64_t now = in_now(in);

	if (in->head == RMA_CELL_NONE)
		return RMA_IN_WAIT;
	if (now < r->in_next) {
		compl_wake(r, r->in_next);
		return RMA_IN_WAIT;
	}
	r->in_next = now + RMA_T_COMPL;
	in->pkt = r->cell[in->head].pkt;
	in->trace = in->pkt->trace_id;
	ex_mark(r->nic, in->trace, "waits for the completer", now);
	in->until = now + T_CHECK;
	in->wrote = 0;
	in->bad = RMA_FINE;
	in->asked_atu = in->translated = in->stalled = false;
	return RMA_IN_CHECK;
}

/* Returns the state after CHECK for a valid packet. */
static enum extoll_rma_in_state in_kind(struct extoll_rma_in *in)
{
	struct rma *r = in->rma;
	struct weft_frame *f = in->pkt;

	switch (in->cmd.op) {
	case RMA_NOTI_PUT:
		return RMA_IN_DRAIN;
	case RMA_LOCK_RSP:
		if (RMA_LOCK_RESULT(in->cmd.w[0]) == RMA_LOCK_NONE)
			in->bad = RMA_BAD_REMOTE;
		return RMA_IN_DRAIN;
	case RMA_LOCK_REQ:
		return RMA_IN_LOCK;
	case RMA_IMM_PUT:
		in->data = weft_slice_word(r->nic->comp->sim, 8);
		memcpy(weft_slice_data(in->data), &f->u[2], 8);
		return RMA_IN_XLATE;
	default:
		if (!f->payload.len)
			in->bad = RMA_BAD_REMOTE;
		else
			in->data = weft_slice_ref(f->payload);
		return in->bad ? RMA_IN_DRAIN : RMA_IN_XLATE;
	}
}

static enum extoll_rma_in_state in_check(struct extoll_rma_in *in)
{
	struct extoll_rma_cmd *c = &in->cmd;
	struct rma *r = in->rma;

	if (in_now(in) < in->until) {
		compl_wake(r, in->until);
		return RMA_IN_CHECK;
	}
	ex_mark(r->nic, in->trace, "checks the packet", in_now(in));
	if (!extoll_rma_packet_ours(r, in->pkt, c) || c->op == RMA_GET_BT ||
	    c->op == RMA_GET_QW || (c->op == RMA_LOCK_REQ && c->at_resp))
		in->bad = RMA_BAD_MISROUTE;
	else if (!(extoll_rma_vpid_ctl(r, c->vpid) & RMA_V_ENABLE) &&
		 c->op != RMA_LOCK_REQ)
		in->bad = RMA_BAD_VPID;
	return in->bad ? RMA_IN_DRAIN : in_kind(in);
}

static void in_translated(struct atu_req *q)
{
	struct extoll_rma_in *in = q->own;

	in->translated = true;
	in->rma->in_xlate = false;
	extoll_rma_compl_run(in->rma);
}

static enum extoll_rma_in_state in_xlate(struct extoll_rma_in *in)
{
	if (!in->asked_atu && !in->rma->in_xlate) {
		in->rma->in_xlate = in->asked_atu = true;
		in->xl.nla = in->cmd.w[0];
		in->xl.bytes = in->cmd.bytes;
		in->xl.vpid = in->cmd.vpid;
		in->xl.access = ATU_WRITE;
		in->xl.done = in_translated;
		in->xl.own = in;
		atu_translate(&in->rma->atu, &in->xl);
	}
	if (!in->translated)
		return RMA_IN_XLATE;
	ex_mark(in->rma->nic, in->trace, "translation", in_now(in));
	if (!in->xl.fault)
		return RMA_IN_WRITE;
	in->bad = RMA_BAD_XLATE;
	return RMA_IN_DRAIN;
}

static enum extoll_rma_in_state in_lock(struct extoll_rma_in *in)
{
	struct rma *r = in->rma;

	if (!extoll_rma_resp_push(r, &in->cmd))
		return RMA_IN_LOCK;
	extoll_rma_wake(r, &r->resp.timer, EXTOLL_HX_RMA_RESP, in_now(in));
	return RMA_IN_DRAIN;
}

static void compl_sent(struct extoll_nic *n, struct hx_pkt *p)
{
	((struct extoll_rma_in *)(uintptr_t)p->user[0])->out--;
	n->rma->in_queue--;
	compl_wake(n->rma, ex_now(n));
}

static void in_write_one(struct extoll_rma_in *in, uint32_t bytes)
{
	struct extoll_nic *n = in->rma->nic;
	struct hx_pkt *p = ex_pkt_new(n);

	p->txn.op = WEFT_BUS_WRITE;
	p->txn.addr = in->xl.phys + in->wrote;
	p->txn.bytes = bytes;
	p->txn.data = weft_slice_sub(in->data, in->wrote, bytes);
	p->txn.trace_id = in->trace;
	p->txn.trace_last = in->wrote + bytes == in->cmd.bytes &&
			    !extoll_rma_wants_noti(in->rma, &in->cmd,
						   RMA_COMPLETER, RMA_FINE);
	ex_mark(n, in->trace, "completer", ex_now(n));
	p->sent = compl_sent;
	p->user[0] = (uintptr_t)in;
	in->out++;
	in->wrote += bytes;
	in->rma->in_queue++;
	extoll_rma_count(n, RMA_K_WRITE_BYTES, bytes);
	ex_htax_send(n, EXTOLL_HX_RMA_COMP, p, ex_now(n));
}

/* Writes the data. Keeps the translation in use until HTAX has granted the last
 * write, because a flush waits for that use. The notification of the flush
 * passes through another port and could otherwise overtake the last write. */
static enum extoll_rma_in_state in_write(struct extoll_rma_in *in)
{
	uint32_t all = in->cmd.bytes, ready = all, n;

	if (in->pkt) { /* request writes for the bytes received so far */
		if (in->cmd.op != RMA_IMM_PUT)
			ready = in_ready(in);
		while (in->wrote < all && in->rma->in_queue < RMA_WRITES) {
			n = extoll_rma_split(in->xl.phys + in->wrote,
					     all - in->wrote);
			if (in->wrote + n > ready)
				break;
			in_write_one(in, n);
		}
		n = ex_meta(in->pkt)->words * 8u + in->wrote;
		if (!in_release(in, in->wrote == all ? UINT32_MAX : n))
			return RMA_IN_WRITE;
	}
	if (in->out)
		return RMA_IN_WRITE;
	atu_finish(&in->rma->atu, &in->xl);
	return RMA_IN_NOTI;
}

static enum extoll_rma_in_state in_drain(struct extoll_rma_in *in)
{
	return in_release(in, UINT32_MAX) ? RMA_IN_NOTI : RMA_IN_DRAIN;
}

static bool in_notify(struct extoll_rma_in *in)
{
	struct rma *r = in->rma;
	struct extoll_rma_cmd c = in->cmd;
	uint32_t error = in->bad ? RMA_COMPLETER : 0;

	if (in->bad == RMA_BAD_REMOTE &&
	    /* lock: bit 0 of `low` is set if the responder refused it */
	    (c.op != RMA_LOCK_RSP || c.low & 1))
		error = RMA_RESPONDER;
	if (c.op == RMA_NOTI_PUT || c.op == RMA_LOCK_RSP)
		/* always notify, because these commands have no other effect */
		c.spec |= RMA_COMPLETER;
	if (!extoll_rma_wants_noti(r, &c, RMA_COMPLETER, in->bad))
		return true;
	return extoll_rma_notify(r, EXTOLL_HX_RMA_COMP, c.vpid, c.w[0],
				 extoll_rma_noti_pack(&c, RMA_COMPLETER, error),
				 in->trace);
}

static enum extoll_rma_in_state in_noti(struct extoll_rma_in *in)
{
	struct extoll_nic *n = in->rma->nic;
	enum extoll_rma_counter k = RMA_K_COMPLETIONS;
	/* A lock request causes no notification here, because the responder
	 * handles the request. A packet of another node or of a disabled VPID
	 * causes no notification either. */
	bool silent = in->bad == RMA_BAD_MISROUTE || in->bad == RMA_BAD_VPID ||
		      in->cmd.op == RMA_LOCK_REQ;

	if (!silent && !in_notify(in)) {
		if (!in->stalled)
			extoll_rma_count(n, RMA_K_NOTI_STALLS, 1);
		in->stalled = true;
		return RMA_IN_NOTI;
	}
	if (in->bad)
		k = silent ? RMA_K_DISCARDED : RMA_K_BAD_COMPLETIONS;
	if (in->bad)
		ex_event(n, EXTOLL_EV_RMA_ERROR, in->cmd.vpid, in->cmd.far_node,
			 in->bad | RMA_COMPLETER << 8);
	if (in->bad || in->cmd.op != RMA_LOCK_REQ)
		extoll_rma_count(n, k, 1);
	return RMA_IN_WAIT;
}

static enum extoll_rma_in_state (*const in_state[RMA_IN_STATES])(
	struct extoll_rma_in *) = {
	[RMA_IN_WAIT] = in_wait,   [RMA_IN_CHECK] = in_check,
	[RMA_IN_XLATE] = in_xlate, [RMA_IN_LOCK] = in_lock,
	[RMA_IN_WRITE] = in_write, [RMA_IN_DRAIN] = in_drain,
	[RMA_IN_NOTI] = in_noti,
};

/* ---- the unit ---- */

/* Runs responses (the higher VCs) first, because they never wait for
 * requests. */
void extoll_rma_compl_run(struct rma *r)
{
	for (uint32_t vc = EX_VCS; vc-- > 0;) {
		const struct weft_comp *c = r->nic->comp;
		struct extoll_rma_in *in = &r->in[vc];
		enum extoll_rma_in_state next;

		while ((next = in_state[in->state](in)) != in->state) {
			in->state = next;
			weft_state_at(c, "rma_completer", vc,
				      extoll_rma_in_name[next], weft_now(c));
		}
	}
}
