/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA: the state machine of requester and responder (extoll.md 5.3,
 * 5.4). Commands pass in order through CMD, XLATE, READ, SEND, NOTI.
 *
 *   CMD    checks the command for 8 cycles
 *   XLATE  translates an address, in 4 cycles, or longer if the TLB lacks the
 *          page
 *   READ   reads up to 64 bytes of host memory at a time. At most 8 reads are
 *          outstanding. Their data are used in the order of addresses
 *   SEND   sends data as they arrive (cut-through)
 *   NOTI   writes the notification, if requested or after an error
 *
 * Up to four commands are in progress. The reads of a command start when all
 * reads of the previous command are requested. The previous command may still
 * be in SEND then. */
#include <assert.h>
#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

const char *const extoll_rma_tx_name[RMA_TX_STATES] = {
	[RMA_TX_FREE] = "free",	  [RMA_TX_CMD] = "cmd",
	[RMA_TX_XLATE] = "xlate", [RMA_TX_READ] = "read",
	[RMA_TX_SEND] = "send",	  [RMA_TX_NOTI] = "noti",
};

static struct extoll_rma_txop *tx_op(struct extoll_rma_tx *u, uint32_t i)
{
	return &u->op[i % RMA_TXOPS];
}

/* Returns true if cycle op->until is reached. Otherwise requests a run of the
 * unit at that cycle. */
static bool tx_time(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;

	if (ex_now(u->rma->nic) >= op->until)
		return true;
	extoll_rma_wake(u->rma, &u->timer, u->type->port, op->until);
	return false;
}

/* ---- reads ---- */

static void tx_read_done(struct extoll_nic *n, struct hx_pkt *p)
{
	struct extoll_rma_rd *rd =
		(struct extoll_rma_rd *)(uintptr_t)p->user[0];
	struct extoll_rma_tx *u = rd->op->u;
	uint8_t *to = weft_slice_data(rd->op->buf);

	if (to)
		memcpy(to + rd->at, weft_slice_data(p->txn.data), p->txn.bytes);
	if (p->txn.status != WEFT_BUS_OK)
		rd->op->bad = RMA_BAD_READ;
	rd->done = true;
	/* Reads complete out of order. `got` counts data only up to the first
	 * read that is missing. */
	for (; u->rd_head != u->rd_tail; u->rd_head++) {
		rd = &u->rd[u->rd_head % RMA_READS];
		if (!rd->done)
			break;
		rd->op->got = rd->end;
	}
	extoll_rma_tx_run(u);
}

static void tx_read_one(struct extoll_rma_tx *u, struct extoll_rma_txop *op)
{
	struct extoll_rma_rd *rd = &u->rd[u->rd_tail++ % RMA_READS];
	weft_phys_t a = op->phys - op->skew + op->asked;
	uint32_t n = 64 - a % 64, left = op->total - op->asked;

	n = n < left ? n : left;
	rd->op = op;
	rd->done = false;
	rd->at = op->asked;
	rd->end = op->asked += n;
	extoll_rma_count(u->rma->nic, RMA_K_READ_BYTES, n);
	extoll_rma_read(u->rma->nic, u->type->port, a, n, tx_read_done, rd,
			op->cmd.trace);
}

/* Requests reads in the order of commands. The reads of a command start when
 * all reads of the previous one are requested. */
static void tx_reads(struct extoll_rma_tx *u)
{
	for (uint32_t i = u->head; i != u->tail; i++) {
		struct extoll_rma_txop *op = tx_op(u, i);
		uint8_t *p = weft_slice_data(op->buf);

		if (op->state < RMA_TX_READ && op->state != RMA_TX_FREE)
			return;
		if (op->bad && op->total > op->asked) {
			/* A read has failed, and the command is refused. Fill
			 * the data that were not requested yet with ones. */
			if (p)
				memset(p + op->asked, 0xff,
				       op->total - op->asked);
			op->total = op->asked;
		}
		/* Wait for an earlier lock, which has not been written back. */
		for (uint32_t k = u->head; k != i; k++)
			if (op->alone && !op->asked && tx_op(u, k)->alone &&
			    tx_op(u, k)->asked && !tx_op(u, k)->sent)
				return;
		while (op->asked < op->total &&
		       u->rd_tail - u->rd_head < RMA_READS)
			tx_read_one(u, op);
		if (op->asked != op->total)
			return;
	}
}

/* ---- states ---- */

static enum extoll_rma_tx_state tx_refuse(struct extoll_rma_txop *op)
{
	return op->u->type->fill && op->f ? RMA_TX_SEND : RMA_TX_NOTI;
}

static enum extoll_rma_tx_state tx_cmd(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;

	if (!tx_time(op))
		return RMA_TX_CMD;
	op->bad = u->type->check(u->rma, op);
	ex_mark(u->rma->nic, op->cmd.trace, "checks the command",
		ex_now(u->rma->nic));
	if (op->bad)
		return tx_refuse(op);
	op->until = ex_now(u->rma->nic) + ATU_HIT;
	return RMA_TX_XLATE;
}

static void tx_translated(struct atu_req *r)
{
	struct extoll_rma_txop *op = r->own;

	op->translated = true;
	op->u->in_xlate = false;
	extoll_rma_tx_run(op->u);
}

/* Prepares the reads: address, number of bytes, and the buffer, which is also
 * the payload of the frame. */
static enum extoll_rma_tx_state tx_read_begin(struct extoll_rma_txop *op,
					      weft_phys_t phys)
{
	struct weft_sim *sim = op->u->rma->nic->comp->sim;

	ex_mark(op->u->rma->nic, op->cmd.trace, "translation",
		ex_now(op->u->rma->nic));
	op->phys = phys;
	op->skew = phys % 4;
	op->total = (op->skew + op->bytes + 3) & ~3u;
	op->buf = op->alone ? weft_slice_word(sim, op->total)
			    : weft_slice_new(sim, op->total);
	if (op->cmd.bytes)
		op->f->payload = weft_slice_sub(op->buf, op->skew, op->bytes);
	return RMA_TX_READ;
}

static enum extoll_rma_tx_state tx_xlate(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;

	if (!op->bytes || op->physical) {
		if (!tx_time(op))
			return RMA_TX_XLATE;
		return op->bytes ? tx_read_begin(op, op->from) : RMA_TX_SEND;
	}
	if (!op->asked_atu && !u->in_xlate) {
		u->in_xlate = op->asked_atu = true;
		op->xl.nla = op->from;
		op->xl.bytes = op->bytes;
		op->xl.vpid = op->cmd.vpid;
		op->xl.access = ATU_READ;
		op->xl.done = tx_translated;
		op->xl.own = op;
		atu_translate(&u->rma->atu, &op->xl);
	}
	if (!op->translated)
		return RMA_TX_XLATE;
	if (!op->xl.fault)
		return tx_read_begin(op, op->xl.phys);
	op->bad = RMA_BAD_XLATE;
	return tx_refuse(op);
}

static enum extoll_rma_tx_state tx_read(struct extoll_rma_txop *op)
{
	bool all = op->got == op->total;

	if (op->bad && all)
		return tx_refuse(op);
	if (op->bad || !op->got || (op->alone && !all))
		return RMA_TX_READ;
	return RMA_TX_SEND;
}

static enum extoll_rma_tx_state tx_send(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;
	struct netport *np = &u->rma->nic->np[EX_NP_RMA];
	/* bytes of payload that have arrived; UINT32_MAX = all */
	uint32_t avail = UINT32_MAX;

	if (op->got != op->total)
		avail = op->got > op->skew ? op->got - op->skew : 0;
	if (!op->sent) {
		/* Earlier commands must have started to send. Refused commands
		 * that wait in NOTI do not count. */
		for (uint32_t i = u->head; tx_op(u, i) != op; i++)
			if (!tx_op(u, i)->sent &&
			    tx_op(u, i)->state != RMA_TX_NOTI)
				return RMA_TX_SEND;
		if (!netport_room(np, u->type->cls))
			return RMA_TX_SEND;
		if (u->type->fill)
			u->type->fill(u->rma, op);
		op->told = avail;
		op->f->trace_id = op->cmd.trace;
		op->pkt = netport_send(np, op->f, ex_now(u->rma->nic), avail);
		op->sent = true;
	}
	if (op->told < avail)
		netport_more(np, op->pkt, avail);
	op->told = avail;
	return avail == UINT32_MAX ? RMA_TX_NOTI : RMA_TX_SEND;
}

static bool tx_notify(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;
	uint32_t unit = u->type->unit;

	if (unit == RMA_RESPONDER && op->cmd.op == RMA_LOCK_REQ &&
	    !op->cmd.at_resp)
		unit = RMA_COMPLETER;
	if (unit == RMA_COMPLETER
		    ? !op->bad
		    : !extoll_rma_wants_noti(u->rma, &op->cmd, unit, op->bad))
		return true;
	if (!(extoll_rma_vpid_ctl(u->rma, op->cmd.vpid) & RMA_V_ENABLE))
		return true;
	return extoll_rma_notify(
		u->rma, u->type->port, op->cmd.vpid, op->w0,
		extoll_rma_noti_pack(&op->cmd, unit, op->bad ? unit : 0), 0);
}

static enum extoll_rma_tx_state tx_noti(struct extoll_rma_txop *op)
{
	struct extoll_rma_tx *u = op->u;
	struct extoll_nic *n = u->rma->nic;

	if (op != tx_op(u, u->head))
		return RMA_TX_NOTI;
	atu_finish(&u->rma->atu, &op->xl);
	if (!tx_notify(op)) {
		if (!op->stalled)
			extoll_rma_count(n, RMA_K_NOTI_STALLS, 1);
		op->stalled = true;
		return RMA_TX_NOTI;
	}
	extoll_rma_count(n, op->bad ? u->type->bad : u->type->good, 1);
	if (op->bad)
		weft_msg_end(n->comp, op->cmd.trace, false);
	if (op->bad)
		ex_event(n, EXTOLL_EV_RMA_ERROR, op->cmd.vpid, op->cmd.far_node,
			 op->bad | u->type->unit << 8);
	weft_slice_drop(&op->buf);
	if (op->f && !op->sent)
		weft_frame_free(op->f);
	op->f = NULL;
	return RMA_TX_FREE;
}

static enum extoll_rma_tx_state (*const tx_state[RMA_TX_STATES])(
	struct extoll_rma_txop *) = {
	[RMA_TX_CMD] = tx_cmd,	 [RMA_TX_XLATE] = tx_xlate,
	[RMA_TX_READ] = tx_read, [RMA_TX_SEND] = tx_send,
	[RMA_TX_NOTI] = tx_noti,
};

/* ---- the unit ---- */

static void tx_tell(const struct extoll_rma_txop *op)
{
	const struct weft_comp *c = op->u->rma->nic->comp;

	weft_state_at(c, op->u->type->machine, (uint32_t)(op - op->u->op),
		      extoll_rma_tx_name[op->state], weft_now(c));
}

static bool tx_start(struct extoll_rma_tx *u)
{
	uint64_t now = ex_now(u->rma->nic);
	struct extoll_rma_txop *op = tx_op(u, u->tail);

	if (u->tail - u->head == RMA_TXOPS || !u->type->waits(u->rma))
		return false;
	if (now < u->next_start) {
		extoll_rma_wake(u->rma, &u->timer, u->type->port,
				u->next_start);
		return false;
	}
	u->next_start = now + u->interval;
	u->tail++;
	*op = (struct extoll_rma_txop){ .u = u,
					.state = RMA_TX_CMD,
					.until = now + RMA_T_CHECK };
	u->type->take(u->rma, op);
	tx_tell(op);
	ex_mark(u->rma->nic, op->cmd.trace, "waits for its turn", now);
	return true;
}

void extoll_rma_tx_run(struct extoll_rma_tx *u)
{
	enum extoll_rma_tx_state next;
	bool moved;

	do {
		moved = tx_start(u);
		/* Runs commands in order, each until it must wait. Therefore in
		 * every cycle the host writes of a command precede those of the
		 * next command. */
		for (uint32_t i = u->head; i != u->tail; i++) {
			struct extoll_rma_txop *op = tx_op(u, i);

			while (op->state != RMA_TX_FREE) {
				next = tx_state[op->state](op);
				if (next == op->state)
					break;
				op->state = next;
				tx_tell(op);
				moved = true;
			}
			if (op->state == RMA_TX_FREE)
				u->head++; /* commands end in order */
		}
		tx_reads(u);
	} while (moved);
}

void extoll_rma_tx_fini(struct extoll_rma_tx *u)
{
	for (; u->head != u->tail; u->head++) {
		struct extoll_rma_txop *op = tx_op(u, u->head);

		weft_slice_drop(&op->buf);
		if (op->f && !op->sent)
			weft_frame_free(op->f);
	}
}
