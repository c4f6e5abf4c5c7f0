/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches arriving packets to completers, responders and ULTRA (hostport.md
 * 8.5), and sends acknowledges (8.4).
 *
 * network_ports.c checks DTAG. Packets of group ULTRA are passed to ultra.c,
 * GET, FAST_GET, FAA and CAS to the responders, SEND, PUT and others to the
 * completers. Responses and acknowledges are also passed to the completers,
 * before requests.
 *
 * Replies never wait for requests, because a deadlock could form otherwise.
 * They go to the front of the completers' queue and enter only units without
 * requests. The last unit takes replies only. The extra negative acknowledge of
 * an instruction that did not request one may wait for notification space.
 * Therefore it counts as a request (4.9). */
#include "systems/hostport/nic/functional_units.h"

/* ---- acknowledges ---- */

void hp_ack(struct hp_nic *n, const struct hp_head *h, enum hp_err err,
	    uint64_t trace)
{
	uint32_t cmd = HP_C0_CMD(h->c[0]);
	struct hp_head a = { .vpid = HP_C0_VPID(h->c[0]) };
	struct weft_frame *f = NULL;

	a.c[0] = HP_C0(HP_CMD(err, HP_CMD_GROUP(cmd), HP_B_ACK), n->reg.hpid,
		       h->vpid);
	a.c[1] = HP_C1(cmd, HP_C1_TAG(h->c[1]));
	a.c[2] = h->c[2];
	a.c[3] = HP_C3(HP_C0_HPID(h->c[0]), HP_C1_ORIG(h->c[1]));
	if (h->back.nf)
		f = hp_pkt_new(n->comp->sim, &h->back, &a, 1);
	if (!f) { /* the packet has no return route */
		weft_msg_end(n->comp, trace, false);
		hp_err_log(n, HP_CMD(HP_ERR_ROUTE_BROKEN, 0, HP_B_ACK),
			   h->vpid);
		return;
	}
	f->trace_id = trace;
	hp_count(n, err ? HP_K_NACKS : HP_K_ACKS, 1);
	hp_net_send(n, f, f->payload.len, hp_now(n) + n->param.t_frame,
		    UINT32_MAX, NULL, NULL);
}

/* ---- units and their packets ---- */

void hp_in_refuse(struct hp_nic *n, struct hp_in *in, enum hp_err err)
{
	in->err = err;
	hp_ack(n, &in->head, err, in->trace);
	in->trace = 0;
	hp_in_end(n, in);
}

void hp_in_context(struct hp_nic *n, struct hp_in *in,
		   void (*done)(struct hp_nic *, struct hp_ctx_req *,
				struct hp_ctx *))
{
	in->ctx.vpid = (uint16_t)in->head.vpid;
	in->ctx.done = done;
	in->ctx.arg = in;
	hp_ctx_get(n, &in->ctx);
}

bool hp_in_usable(struct hp_nic *n, struct hp_in *in, const struct hp_ctx *c)
{
	uint32_t byte = HP_CMD_BYTE(in->cmd);
	enum hp_err err = in->reply ? HP_ERR_OVPID_INV : HP_ERR_TVPID_INV;
	uint64_t epoch = HP_CTX(c->w, HP_F_EPOCH), w1 = in->head.c[1],
		 w3 = in->head.c[3];
	bool stale; /* the packet was meant for an earlier owner of the VPID */

	/* A reply returns the epoch of its request. An acknowledge returns it
	 * in the size field, because C1 of an acknowledge holds the command.
	 * Other replies return it in C1. A request names the epoch of the owner
	 * to which its sender has connected. */
	if (in->reply)
		stale = epoch !=
			(byte == HP_B_ACK ? HP_C3_SIZE(w3) : HP_C1_ORIG(w1));
	else
		stale = HP_C3_OWNER(w3) != HP_EPOCH_ANY &&
			HP_C3_OWNER(w3) != (epoch & HP_EPOCH_LOW);

	in->flags = c->w[0];
	in->snap = HP_PS(HP_CTX(c->w, HP_F_WQ_RP), 0);
	if (c->w[0] & HP_CTX_EN && !stale)
		return true;
	hp_count(n, HP_K_STALE, c->w[0] & HP_CTX_EN ? 1 : 0);
	in->gone = true;
	hp_err_log(n, HP_CMD(err, HP_G_PORT, byte), c->vpid);
	if (!in->reply)
		hp_in_refuse(n, in, err);
	in->err = err;
	hp_in_end(n, in);
	return false;
}

void hp_in_rma(struct hp_nic *n, struct hp_in *in)
{
	const uint64_t *c = in->head.c;
	struct hp_nqe *e = &in->nqe;

	e->vpid = (uint16_t)in->head.vpid;
	e->trace = in->trace;
	e->reserved = in->nq;
	e->snapshot = true;
	e->w[0] = c[2];
	e->w[1] = HP_C1_TAG(c[1]);
	e->w[3] = HP_RMA_W3(c[4] >> 32, HP_CMD_BYTE(in->cmd));
	e->w[4] = c[5];
	e->w[5] = HP_C3_SIZE(c[3]);
	e->w[7] = HP_NQE_W7(HP_CMD(in->err, HP_G_PORT, HP_B_NOTIFY_RMA),
			    HP_C0_HPID(c[0]), HP_C0_VPID(c[0]));
	hp_notify(n, e);
}

/* ---- dispatch ---- */

/* Moves waiting packets to a scheduler. Requests may use three quarters of the
 * scheduler's queue. A reply overtakes requests that wait for a unit, so that
 * replies never wait for requests. */
static void dispatch_feed(struct hp_nic *n, uint32_t pend)
{
	struct hp_sched *s =
		&n->sched[pend == HP_PEND_RESPONDER ? HP_RSP : HP_CPL];
	uint32_t kept = pend == HP_PEND_REQUEST ? (s->room + 3) / 4 : 0;
	struct hp_in_list *l = &n->pend[pend];

	while (l->head && s->n_queue + kept < s->room) {
		struct hp_job *j = &l->head->job;
		uint32_t i;

		l->head = l->head->next;
		hp_sched_put(s, j);
		if (pend != HP_PEND_REPLY)
			continue;
		for (i = s->n_queue - 1; i && s->queue[i - 1]->fus; i--)
			s->queue[i] = s->queue[i - 1];
		s->queue[i] = j;
	}
}

void hp_rx_ready(struct hp_nic *n)
{
	for (uint32_t i = 0; i < HP_PENDS; i++)
		dispatch_feed(n, i);
}

static void to_unit(struct hp_nic *n, struct hp_rx *rx, uint32_t byte)
{
	bool reply = hp_is_reply(byte), extra = reply && hp_is_extra(&rx->head);
	uint32_t part = hp_is_get(byte) && !reply ? HP_RSP : HP_CPL;
	uint32_t m = HP_MAIN(byte);
	enum hp_key_type type = HP_KEY_RMA;
	const struct hp_head *h = &rx->head;
	struct hp_in *in = hp_job_new(&n->sched[part]);
	uint32_t pend = part == HP_RSP	  ? HP_PEND_RESPONDER
			: reply && !extra ? HP_PEND_REPLY
					  : HP_PEND_REQUEST;
	struct hp_in_list *l = &n->pend[pend];

	in->rx = rx;
	in->head = rx->head;
	in->cmd = HP_C0_CMD(rx->head.c[0]);
	in->reply = reply;
	in->trace = rx->f->trace_id;
	hp_mark(n, in->trace, "to the core clock");
	if (reply && !extra)
		type = HP_KEY_REPLY;
	else if (reply || m == HP_M_SEND || m == HP_M_FAST_SEND)
		type = HP_KEY_SEND;
	in->job.key =
		hp_key(h->vpid, HP_C0_VPID(h->c[0]), HP_C0_HPID(h->c[0]), type);
	in->job.ordered = n->reg.ctrl & HP_CTRL_ORDER;
	in->job.prompt = type == HP_KEY_REPLY;
	/* the last unit takes replies only */
	if (!in->job.prompt && part == HP_CPL)
		in->job.fus = (1u << (n->sched[HP_CPL].n_fu - 1)) - 1;
	if (l->head)
		l->tail->next = in;
	else
		l->head = in;
	l->tail = in;
	dispatch_feed(n, pend);
}

void hp_incoming(struct hp_nic *n, struct hp_rx *rx)
{
	uint32_t cmd = HP_C0_CMD(rx->head.c[0]), byte = HP_CMD_BYTE(cmd);
	uint32_t m = HP_MAIN(byte), dtag = (uint32_t)HP_C3_DTAG(rx->head.c[3]);
	const struct hp_block *ultra = hp_blocks[HP_BLOCK_ULTRA];
	bool put = m == HP_M_PUT || m == HP_M_FAST_PUT || m == HP_M_MIS_PUT;
	bool send = m == HP_M_SEND || m == HP_M_FAST_SEND;
	bool known = hp_is_get(byte) || put || send || byte == HP_B_ACK;

	if (dtag != (uint32_t)n->reg.hpid && dtag != HP_DTAG_ALL) {
		/* refuses a packet that is not for this node. Only logs a
		 * reply, because its sender waits for no answer */
		if (hp_is_reply(byte))
			hp_err_log(n, HP_CMD(HP_ERR_ROUTE_BROKEN, 0, byte),
				   rx->head.vpid);
		else
			hp_ack(n, &rx->head, HP_ERR_ROUTE_BROKEN,
			       rx->f->trace_id);
		hp_rx_end(n, rx);
	} else if (HP_CMD_GROUP(cmd) == HP_G_ULTRA && ultra && ultra->rx) {
		ultra->rx(n, rx);
	} else if (HP_CMD_GROUP(cmd) == HP_G_PORT && known) {
		to_unit(n, rx, byte);
	} else {
		hp_count(n, HP_K_BAD_PACKETS, 1);
		hp_rx_end(n, rx);
	}
}
