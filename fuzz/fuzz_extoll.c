/* SPDX-License-Identifier: Apache-2.0 */
/* Sends extoll.nic everything that can reach it, in any order: accesses to
 * registers, stores on requester pages, packets of the network, answers of the
 * bus. The NIC does not crash and loses nothing. When rings and mailboxes have
 * been emptied, the NIC holds no frame, no payload and no store. An input is a
 * string of operations, one byte each followed by its arguments. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"
#include "systems/extoll/tests/rma_msg.h"
#include "see.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	struct fuzz_in in;
	struct xr r;
};

/* Returns an offset at or near a register. The NIC has to decode every
 * offset. */
static uint64_t reg_off(struct fuzz *f)
{
	static const uint32_t base[] = {
		0x0000,	  0x0100,   0x0200,   0x0300,	0x0400,	  0x1000,
		0x2000,	  0x3000,   0x100000, 0x101000, 0x102000, 0x103000,
		0x110000, 0x111000, 0x112000, 0x113000, 0xD00000, 0xF00000,
	};
	uint32_t b = base[take(&f->in, 1) % (sizeof(base) / sizeof(base[0]))];
	uint32_t i = (uint32_t)take(&f->in, 1);

	return b >= 0xD00000 ? b + i * 4096 : b + i * 8;
}

static void op_reg(struct fuzz *f)
{
	uint64_t off = reg_off(f);

	xr_w64(&f->r, 0, off, take(&f->in, 8));
}

static void op_load(struct fuzz *f)
{
	uint64_t off = take(&f->in, 1) & 1 ? reg_off(f) : take(&f->in, 3) * 8;

	see_value(xr_r64(&f->r, 0, off));
}

/* Places VELO's mailbox of one of the VPIDs 0..3 in existing memory. */
static void op_mailbox(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2), vpid = a & 3;

	xr_w64(&f->r, 0, EXTOLL_VELO_TX + 8 * vpid, EXTOLL_TX(0, vpid, 0));
	xr_w64(&f->r, 0, EXTOLL_VELO_RX_BASE + 8 * vpid,
	       XR_MEM + 0x10000 * (1 + vpid));
	xr_w64(&f->r, 0, EXTOLL_VELO_RX + 8 * vpid,
	       EXTOLL_RX(0, a >> 4 & 31, (uint64_t)(a >> 9 & 3) << 16));
}

/* Makes a store of any size and value on a requester page. */
static void op_page(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 4), n = 4 + (a & 15) * 4;
	uint64_t page = a >> 30 & 1 ? extoll_rma_page(a >> 25 & 31, a >> 17 & 3)
				    : extoll_velo_page(0, a >> 17 & 3);
	uint64_t line[8];

	for (uint32_t i = 0; i < 8; i++)
		line[i] = take(&f->in, a >> 31 ? 8 : 1);
	xr_store(&f->r, 0, page + (a >> 4 & 0x3F) % 16 * 4, line, n);
}

/* Sends a message that is probably valid. */
static void op_send(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 3), len = 1 + (a & 63);
	uint64_t m[9] = { EXTOLL_SEND(a >> 6 & 1, a >> 7 & 3, a >> 9 & 3, a,
				      len) };
	uint32_t n = EXTOLL_SEND_BYTES(len);
	uint64_t page = extoll_velo_page(0, a >> 11 & 3);

	xr_store(&f->r, 0, page, m, n < 64 ? n : 64);
	if (n > 64)
		xr_store(&f->r, 0, page + 64, &m[8], n - 64);
}

static void op_wait(struct fuzz *f)
{
	xr_run(&f->r, take(&f->in, 1) * 4);
}

/* Injects a packet from the network, with valid or arbitrary fields. */
static void op_packet(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 3);
	struct weft_frame *p = weft_frame_new(f->r.sim);
	uint32_t len = a >> 4 & 0x7F;

	if (a >> 23)
		len = (a >> 4 & 0xFFF) + 1;
	for (uint32_t i = 0; i < 3; i++)
		p->u[i] = take(&f->in, 8);
	if (a >> 22 & 1) /* Half of the packets are VELO messages. */
		p->u[0] = EX_H0_MAKE(1, 2, a >> 2 & 3, 0) |
			  EX_PUT(len, 54, 48) | (p->u[0] & EX_VELO_IRQ);
	*ex_meta(p) = (struct ex_meta){ .words = a >> 16 & 3,
					.cls = a >> 18 & 1,
					.hops = 1 };
	p->payload = weft_slice_new(f->r.sim, len);
	if (len)
		memset(weft_slice_data(p->payload), (int)a, len);
	xr_send(&f->r, (a & 3) % 3, p, xr_cycle(&f->r) + 1);
}

static void op_memory(struct fuzz *f)
{
	uint32_t off = (uint32_t)take(&f->in, 2) * 8;

	xr_mem_set64(&f->r, 0, XR_MEM + off, take(&f->in, 8));
}

static void op_bus(struct fuzz *f)
{
	f->r.bus[0]->refuse = take(&f->in, 1) & 1;
}

/* ---- RMA: calls of the driver and of processes ---- */

static void op_gate(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2), i = a & 15;

	xr_mem_set64(&f->r, 0, RR_GAT + 8 * i,
		     GATE_MAKE(a >> 4 & 3, RR_VPID + (a >> 6 & 1),
			       RR_PAGE(a >> 8 & 15)));
}

static void op_process(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2), vpid = RR_VPID + (a & 1);
	uint64_t v = RMA_V_TC_ALL | RMA_PUT(RR_PD, 31, 16);

	for (uint32_t i = 0; i < 16; i++)
		xr_mem_set64(&f->r, 0, RR_GAT + 8 * i,
			     GATE_MAKE(GATE_RW, vpid, RR_PAGE(i)));
	xr_w64(&f->r, 0, EXTOLL_ATU_GAT, ATU_BASE_MAKE(RR_GAT));
	xr_w64(&f->r, 0, EXTOLL_ATU_ENABLE, !(a >> 1 & 1));
	xr_w64(&f->r, 0, EXTOLL_RMA_LOCK_BASE, RR_LOCKS);
	xr_w64(&f->r, 0, EXTOLL_RMA_LOCK_N, 4);
	if (a >> 2 & 1)
		xr_w64(&f->r, 0, EXTOLL_RMA_CONFIG,
		       (a >> 3 & 7) + 1 + (a >> 6 & 1 ? RMA_C_FORCE : 0));
	xr_w64(&f->r, 0, EXTOLL_RMA_BASE + 8 * vpid,
	       RR_RING + 0x4000 * (a & 1));
	xr_w64(&f->r, 0, EXTOLL_RMA_SIZE + 8 * vpid, 2 + (a >> 7 & 15));
	v |= a >> 11 & 1 ? 0 : RMA_V_ENABLE;
	v |= (a >> 12 & 1 ? RMA_V_PHYSICAL : 0) | (a >> 13 & 1 ? RMA_V_RRA : 0);
	xr_w64(&f->r, 0, EXTOLL_RMA_VPID + 8 * vpid,
	       v | (a >> 14 & 1 ? RMA_V_INT : 0));
}

static const uint8_t rma_ops[] = {
	RMA_GET_BT,   RMA_GET_QW,     RMA_PUT_BT,   RMA_PUT_QW,
	RMA_NOTI_PUT, RMA_IMM_PUT,    RMA_LOCK_REQ, RMA_GET_BT_RSP,
	RMA_PUT_BT,   RMA_GET_QW_RSP, RMA_LOCK_RSP, RMA_PUT_QW,
};

/* Returns a size for an RMA operation, computed from 6 bits `a` of the input.
 * Operations on quadwords need a multiple of 8 bytes. */
static uint32_t rma_bytes(uint32_t op, uint32_t a)
{
	uint32_t n = a < 32 ? 1 + a * 5 : (a - 31) * 128;

	return op & 1 ? (n + 7) & ~7u : n;
}

static uint64_t rma_nla(uint32_t op, uint32_t a)
{
	uint32_t off = (a >> 4 & 7) * 584;

	return NLA_MAKE(0, a & 15, op & 1 ? off & ~7u : off + (a >> 4 & 3));
}

static void op_command(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 4), b = (uint32_t)take(&f->in, 3);
	uint32_t op = rma_ops[(a & 15) % 12], vpid = RR_VPID + (a >> 4 & 1);
	uint64_t d[3] = { RMA_D_MAKE(op, RR_FAR, 9, a >> 5 & 7,
				     a >> 8 & 1 ? a >> 9 & 15 : 0) |
				  RMA_D_BYTES(rma_bytes(op, a >> 13 & 63)),
			  rma_nla(op, b), rma_nla(op, b >> 8) };

	if (op == RMA_LOCK_REQ) {
		d[1] = RMA_PUT(b & 7, 63, 32) | (b >> 3 & 7);
		d[2] = RMA_PUT(b >> 8 & 7, 63, 32);
	}
	if (!(a >> 23 & 1) && op < RMA_NOTI_PUT && a >> 24 & 1)
		d[1] = RR_PAGE(b & 15) + (b >> 4 & 15) * 8;
	xr_store(&f->r, 0,
		 extoll_rma_page((a >> 23 & 1 ? RMA_OPT_TE : 0) |
					 (a >> 25 & 1 ? a >> 26 & 15 : 0),
				 vpid),
		 d, sizeof(d));
}

/* Injects a request or an answer as node 1 would send it. */
static void op_request(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 4), b = (uint32_t)take(&f->in, 3);
	uint32_t op = rma_ops[(a & 15) % 12], n = rma_bytes(op, a >> 13 & 63);
	struct extoll_rma_cmd c = { .op = (uint8_t)op,
				    .spec = a >> 5 & 7,
				    .vpid = 9,
				    .far_vpid =
					    (uint16_t)(RR_VPID + (a >> 4 & 1)),
				    .low = n - 1 };
	bool rsp = op == RMA_GET_BT_RSP || op == RMA_GET_QW_RSP;
	struct weft_frame *p = weft_frame_new(f->r.sim);

	p->u[0] = extoll_rma_h0(&c, RR_FAR);
	p->u[1] = rma_nla(op, b);
	p->u[2] = rma_nla(op, b >> 8);
	if (op == RMA_LOCK_REQ) {
		p->u[1] = RMA_PUT(b & 7, 63, 32) | (b >> 3 & 7);
		p->u[2] = RMA_PUT(b >> 8 & 7, 63, 32) |
			  (a >> 19 & 1 ? RMA_D_TARGET : 0);
	}
	*ex_meta(p) = (struct ex_meta){ .words = (uint8_t)extoll_rma_words(op),
					.hops = 1,
					.cls = rsp };
	ex_pd_set(p, RR_PD + (a >> 20 & 15 ? 0 : 1));
	if (rsp || op == RMA_PUT_BT || op == RMA_PUT_QW) {
		p->payload = weft_slice_new(f->r.sim, n);
		memset(weft_slice_data(p->payload), (int)(a ^ b) | 1, n);
	}
	xr_send(&f->r, op < RMA_PUT_BT ? EX_NP_RESP : EX_NP_RMA, p,
		xr_cycle(&f->r) + 1);
}

static void op_translation(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2);
	uint64_t cmd[] = { ATU_CMD_FLUSH(a >> 2 & 15, 1 + (a >> 6 & 15)),
			   ATU_CMD_FLUSH_VPID(RR_VPID + (a >> 2 & 1)),
			   ATU_CMD_TELL(ATU_FENCE, RR_WORD + (a >> 2 & 15) * 8),
			   ATU_CMD_TELL(ATU_NOTIFY,
					RR_WORD + (a >> 2 & 15) * 8) };

	xr_w64(&f->r, 0, EXTOLL_ATU_COMMAND, cmd[a & 3]);
}

static void op_pointers(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2), vpid = RR_VPID + (a & 1);
	uint64_t arm = a >> 1 & 1 ? RMA_RP_REARM : 0;

	if (a >> 2 & 1)
		xr_w64(&f->r, 0, EXTOLL_RMA_RP + EXTOLL_RP_STRIDE * vpid,
		       arm | (a >> 3 & 31));
	else
		xr_w64(&f->r, 0, EXTOLL_EVQ_RP, arm | (a >> 3 & 63));
	see_value(xr_r64(&f->r, 0, EXTOLL_RMA_WP + 8 * vpid));
	see_value(xr_r64(&f->r, 0, EXTOLL_RMA_PENDING + 8 * vpid));
	see_value(xr_r64(&f->r, 0, EXTOLL_EVQ_WP));
}

/* Delays some memory reads, so that their answers arrive out of order. */
static void op_slow(struct fuzz *f)
{
	f->r.bus[0]->slow_each = take(&f->in, 1) & 7;
	f->r.bus[0]->t_slow = 900 * WEFT_NS;
}

static void (*const near_ops[])(struct fuzz *) = {
	op_gate,	op_process,  op_command, op_request,
	op_translation, op_pointers, op_slow,
};
static void (*const ops[])(struct fuzz *) = {
	op_reg,	 op_load,   op_mailbox, op_page, op_send,
	op_wait, op_packet, op_memory,	op_bus,
};

static void show(struct fuzz *f)
{
	const struct xbus *b = f->r.bus[0];

	see(b->mem, XR_MEM_BYTES);
	for (uint32_t i = 0; i < b->n_log && i < XR_LOG; i++) {
		see_value(b->log[i].time ^ (uint64_t)b->log[i].op);
		see_value(b->log[i].addr);
		see_value(b->log[i].bytes);
	}
	see_value(b->irq_edges);
	for (uint32_t i = 0; i < f->r.net->n_log && i < XR_LOG; i++) {
		const struct xnet_pkt *p = &f->r.net->log[i];

		see_value(p->cycle);
		see(p->u, sizeof(p->u));
		see(p->data,
		    p->len < sizeof(p->data) ? p->len : sizeof(p->data));
	}
}

enum { NEAR = 243 }; /* operation bytes >= NEAR select near_ops */

static void operate(struct fuzz *f)
{
	uint32_t n = (uint32_t)take(&f->in, 1);

	if (n < NEAR) {
		ops[n % (sizeof(ops) / sizeof(ops[0]))](f);
		return;
	}
	near_ops[(n - NEAR) % (sizeof(near_ops) / sizeof(near_ops[0]))](f);
}

/* ---- the end ---- */

enum { ROUNDS = 4000, NO_CELL = 0xff };

static uint64_t of_register(struct fuzz *f, uint64_t off)
{
	return weft_reg_load(f->r.nic[0], 1 + EXTOLL_BAR, (uint32_t)off, 8);
}

static void at_register(struct fuzz *f, uint64_t off, uint64_t val)
{
	weft_reg_store(f->r.nic[0], 1 + EXTOLL_BAR, (uint32_t)off, 8, val);
}

static bool vpid_full(const struct rma *r, uint32_t vpid)
{
	const struct extoll_rma_vpid *v = extoll_rma_vpid(r, vpid);

	return v && v->size && (v->wp + 1) % v->size == v->rp;
}

/* Returns true when a transmitter is idle, or cannot continue because the
 * notification ring of its oldest command is full. A transmitter with RMA_TXOPS
 * commands in flight does not start a queued command. With fewer commands in
 * flight, a queued command makes the result false. */
static bool tx_rests(const struct extoll_rma_tx *u, uint32_t queued)
{
	const struct extoll_rma_txop *op = &u->op[u->head % RMA_TXOPS];

	if (u->head == u->tail)
		return !queued;
	return op->state == RMA_TX_NOTI && vpid_full(u->rma, op->cmd.vpid) &&
	       (!queued || u->tail - u->head == RMA_TXOPS);
}

static bool in_rests(const struct extoll_rma_in *in)
{
	const struct rma *r = in->rma;

	switch (in->state) {
	case RMA_IN_WAIT:
		return in->head == NO_CELL;
	case RMA_IN_NOTI:
		return vpid_full(r, in->cmd.vpid);
	case RMA_IN_LOCK:
		return r->a_tail - r->a_head == RMA_QUEUE;
	default:
		return false;
	}
}

/* Returns true when each unit of the NIC is idle, or cannot continue before a
 * process reads its ring or mailbox. */
static bool rests(const struct fuzz *f)
{
	const struct extoll_nic *n = f->r.nic[0]->state;
	const struct rma *r = n->rma;
	bool good = n->velo.cp.state == VELO_CP_WAIT ||
		    n->velo.cp.state == VELO_CP_STALL;

	if (!r)
		return good && ring_empty(&n->htax.store);
	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		good = good && in_rests(&r->in[vc]);
	return good && tx_rests(&r->req, r->q_tail - r->q_head) &&
	       tx_rests(&r->resp, r->a_tail - r->a_head) && !r->atu.looking &&
	       (r->atu.in_use || r->atu.head == r->atu.tail) &&
	       (ring_empty(&n->htax.store) ||
		r->q_tail - r->q_head == RMA_QUEUE);
}

static bool holds(const struct fuzz *f)
{
	const struct extoll_nic *n = f->r.nic[0]->state;
	const struct rma *r = n->rma;

	return f->r.sim->live_frames || f->r.sim->live_bufs ||
	       f->r.bus[0]->held || !ring_empty(&n->htax.store) ||
	       (r && (r->req.head != r->req.tail || r->atu.in_use ||
		      r->resp.head != r->resp.tail));
}

/* Reads ring and mailbox of a process. Closes a ring of one slot and a mailbox
 * shorter than a message, because such a ring or mailbox never has room. */
static void empty(struct fuzz *f, uint32_t vpid)
{
	uint64_t rp = EXTOLL_RP_STRIDE * vpid, i = 8 * vpid;
	uint64_t rx = of_register(f, EXTOLL_VELO_RX + i);

	if (of_register(f, EXTOLL_RMA_SIZE + i) == 1)
		at_register(f, EXTOLL_RMA_SIZE + i, 0);
	at_register(f, EXTOLL_RMA_RP + rp, of_register(f, EXTOLL_RMA_WP + i));
	if (EXTOLL_RX_SLOTS(rx) < 4)
		at_register(f, EXTOLL_VELO_RX + i, 0);
	else
		at_register(f, EXTOLL_VELO_RP + rp,
			    of_register(f, EXTOLL_VELO_RX_WP + i));
}

/* Empties rings and mailboxes until the NIC holds nothing. Accesses registers
 * directly, not over the bus, because stores of the input may have moved the
 * BAR out of the host's reach. Repeats, because other stores of the input may
 * still be queued in the NIC and may fill rings again. */
static void drain(struct fuzz *f)
{
	f->r.bus[0]->refuse = false;
	for (uint32_t i = 0; holds(f) && i < ROUNDS; i++) {
		if (!rests(f))
			abort();
		xr_run(&f->r, 1); /* The run ends at an edge of the core's
				   * clock. */
		for (uint32_t vpid = 0; vpid < EXTOLL_VPIDS; vpid++)
			empty(f, vpid);
		xr_settle(&f->r);
	}
	if (holds(f) || !rests(f))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const set[] = { "", "width=w16", "velo_max=120",
					   "np_depth=1 posted=2" };
	struct fuzz f = { .in = { data, data + size } };

	xr_single(&f.r, set[take(&f.in, 1) % 4]);
	xr_setup(&f.r, 0);
	for (uint32_t n = 0; f.in.p < f.in.end && n < 400; n++)
		operate(&f);
	xr_run(&f.r, 100000);
	xr_settle(&f.r);
	show(&f);
	drain(&f);
	xr_free(&f.r);
	return 0;
}
