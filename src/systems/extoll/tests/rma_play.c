/* SPDX-License-Identifier: Apache-2.0 */
/* See rma_play.h. */
#include "rma_play.h"

#include <stdio.h>
#include <string.h>

enum { PAGES = 96, WORK = 4000, QUIET = 2000 };

struct rma_play rp;
/* Packets in flight to the NIC, by port and class. */
static struct {
	uint32_t pkt[REF_RMA_MAX], first, n;
} way[EX_NPS][2];

/* ---- hooks that record arrivals and departures ---- */

static void spy_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	uint32_t port = (uint32_t)(np - exref_nic(&rr)->np);
	uint32_t cls = c->vc / 2;

	rp.ref.cell[rp.ref.n_cell++] = (struct ref_rma_cell){
		.cycle = xr_cycle(&rr),
		.pkt = way[port][cls].pkt[way[port][cls].first],
		.end = c->first + c->bytes,
		.np = (uint8_t)port,
		.vc = c->vc,
		.eop = c->eop,
	};
	way[port][cls].first += c->eop;
	ex_rma_np.cell(own, np, c);
}

static void spy_sent(void *own, struct netport *np, uint32_t cls, uint64_t id)
{
	rp.ref.left[rp.ref.n_left++] =
		(struct ref_rma_left){ .cycle = xr_cycle(&rr),
				       .cls = (uint8_t)cls };
	rp.left[cls]++;
	ex_rma_np.sent(own, np, cls, id);
}

static const struct netport_ops spy = { .cell = spy_cell, .sent = spy_sent };

/* ---- pages ---- */

static void gate(uint32_t page)
{
	uint32_t rights = dice(3) ? GATE_RW : dice(4);
	uint32_t phys = rights == GATE_READ ? dice(RP_READABLE)
					    : RP_READABLE + dice(RP_READABLE);
	uint32_t owner = dice(12) ? page % RP_PROCS : dice(RP_PROCS);
	uint64_t g = GATE_MAKE(rights, RP_FIRST + owner, RR_PAGE(phys));

	rp.ref.gate[rp.ref.n_gate++] =
		(struct ref_rma_gate){ .time = weft_sim_now(rr.sim),
				       .addr = RR_GAT + 8 * page,
				       .gate = g };
	xr_mem_set64(&rr, 0, RR_GAT + 8 * page, g);
}

/* Returns an address, usually of a page that the process owns. Most pages of a
 * process are in the same set of the TLB, so that the set's entries are
 * replaced. */
static uint64_t address(uint32_t vpid, uint32_t bytes, bool aligned)
{
	uint32_t page = dice(3) ? ATU_SETS * dice(dice(2) ? 2 : 6)
				: RP_PROCS * dice(PAGES / RP_PROCS);
	uint32_t off = dice(RMA_PAGE);

	page += dice(12) ? vpid - RP_FIRST : dice(RP_PROCS);
	if (off + bytes > RMA_PAGE && dice(20))
		off = bytes > RMA_PAGE ? 0 : RMA_PAGE - bytes;
	if (aligned)
		off &= ~7u;
	return NLA_MAKE(!dice(60), page, off) | (uint64_t)!dice(60) << 40;
}

static uint32_t size(bool aligned)
{
	uint32_t n = dice(3) ? 1 + dice(64) : 1 + dice(600);

	if (!dice(25))
		n = 4096 - 8 * dice(4);
	return aligned ? (n + 7) & ~7u : n;
}

/* ---- stores ---- */

static struct ref_rma_store *store(uint32_t unit, uint64_t off,
				   const void *data, uint32_t bytes)
{
	uint32_t i = rp.ref.hx.n_store++;

	rp.ref.hx.store[i] = (struct ref_hx_store){
		.time = xr_store(&rr, 0, off, data, bytes),
		.unit = (uint8_t)unit,
		.bytes = (uint8_t)bytes,
	};
	return &rp.ref.store[i];
}

static void command(void)
{
	static const uint8_t ops[] = {
		RMA_PUT_BT, RMA_PUT_QW,	  RMA_PUT_QW,  RMA_PUT_BT,  RMA_GET_BT,
		RMA_GET_QW, RMA_NOTI_PUT, RMA_IMM_PUT, RMA_LOCK_REQ
	};
	uint32_t op = dice(30) ? ops[dice(9)] : dice(16);
	bool quad = op & 1 && dice(20);
	uint32_t n = size(quad), vpid = RP_FIRST + dice(RP_PROCS);
	uint32_t opt = (dice(6) ? RMA_OPT_TE : 0) | (dice(12) ? 0 : dice(16));
	uint64_t d[3] = { RMA_D_MAKE(op, dice(20) ? 1 : 500, 9, dice(8),
				     dice(15) ? 0 : dice(16)) |
				  RMA_D_BYTES(dice(40) ? n : n + 4096),
			  address(vpid, n, quad), address(vpid, n, quad) };
	struct ref_rma_store *s;

	if (!(opt & RMA_OPT_TE) && op < RMA_NOTI_PUT)
		d[1] = RR_PAGE(dice(RP_READABLE)) + (d[1] & 0xfff);
	if (!dice(40))
		d[0] ^= 1ull << (dice(2) ? dice(2) : 6 + dice(2));
	s = store(EXTOLL_HX_RMA_REQ, extoll_rma_page(opt, vpid), d, sizeof(d));
	*s = (struct ref_rma_store){ .what = REF_RMA_DESC,
				     .vpid = vpid,
				     .opt = opt,
				     .w = { d[0], d[1], d[2] } };
}

static void read_pointer(uint32_t vpid, uint64_t slot)
{
	struct ref_rma_store *s =
		store(EXTOLL_HX_RF, EXTOLL_RMA_RP + vpid * EXTOLL_RP_STRIDE,
		      &slot, 8);

	rp.ref.hx.store[rp.ref.hx.n_store - 1].pass = true;
	*s = (struct ref_rma_store){ .what = REF_RMA_RP,
				     .vpid = vpid,
				     .w = { slot } };
}

static void atu(uint32_t page)
{
	uint64_t cmd = ATU_CMD_FLUSH(page, 1 + dice(8));
	struct ref_rma_store *s;

	if (!dice(6))
		cmd = ATU_CMD_FLUSH_VPID(RP_FIRST + dice(RP_PROCS));
	if (!dice(4))
		cmd = ATU_CMD_TELL(dice(2) ? ATU_FENCE : ATU_NOTIFY,
				   RR_WORD + 8 * dice(100));
	s = store(EXTOLL_HX_RF, EXTOLL_ATU_COMMAND, &cmd, 8);
	*s = (struct ref_rma_store){ .what = REF_RMA_ATU, .w = { cmd } };
}

/* ---- packets ---- */

uint8_t rp_byte(uint32_t seed, uint32_t i)
{
	return (uint8_t)(seed * 37 + i * 11 + (i >> 8));
}

static bool has_data(uint32_t op)
{
	return (op & 2 && op < 4) || op == RMA_GET_BT_RSP ||
	       op == RMA_GET_QW_RSP;
}

static uint32_t low_of(uint32_t op, uint32_t n)
{
	if (op == RMA_IMM_PUT)
		return n % 8;
	if (op == RMA_LOCK_REQ || op == RMA_LOCK_RSP)
		return n & 1;
	return (op == RMA_NOTI_PUT ? n & 255 : n - 1);
}

static struct weft_frame *frame(const struct ref_rma_pkt *p, uint32_t op,
				uint32_t seed)
{
	struct weft_frame *f = weft_frame_new(rr.sim);

	memcpy(f->u, p->h, sizeof(p->h));
	*ex_meta(f) = (struct ex_meta){ .words = (uint8_t)extoll_rma_words(op),
					.hops = 1,
					.cls = op >= RMA_GET_BT_RSP &&
					       op != RMA_LOCK_REQ };
	ex_pd_set(f, p->pd);
	if (p->len)
		f->payload = weft_slice_new(rr.sim, p->len);
	for (uint32_t i = 0; i < p->len; i++)
		weft_slice_data(f->payload)[i] = rp_byte(seed, i);
	return f;
}

static uint32_t port_of(uint32_t op, uint32_t low)
{
	bool resp = op < 2 || (op == RMA_LOCK_REQ && low);

	return resp == !!dice(40) ? EX_NP_RESP : EX_NP_RMA;
}

static void packet(void)
{
	static const uint8_t ops[] = {
		RMA_PUT_BT,   RMA_PUT_QW,   RMA_GET_BT,	    RMA_GET_QW,
		RMA_NOTI_PUT, RMA_IMM_PUT,  RMA_GET_BT_RSP, RMA_GET_QW_RSP,
		RMA_LOCK_REQ, RMA_LOCK_REQ, RMA_LOCK_RSP,   RMA_PUT_QW
	};
	struct ref_rma_pkt *p = &rp.ref.pkt[rp.ref.n_pkt];
	uint32_t op = ops[dice(12)], n = size(op & 1), low = low_of(op, n);
	uint32_t vpid = RP_FIRST + dice(RP_PROCS), np = port_of(op, low), cls;
	struct weft_frame *f;

	if (op == RMA_IMM_PUT)
		n = low + 1;
	*p = (struct ref_rma_pkt){
		.h = { EX_H0_MAKE(dice(30) ? 1 : 500, 9, vpid, !dice(40)) |
			       EX_PUT(dice(8), 34, 32) | EX_PUT(op, 42, 39) |
			       EX_PUT(low, 54, 43) | EX_RMA_LAST,
		       address(vpid, n, op & 1), address(vpid, n, op & 1) },
		.len = has_data(op) ? n : 0,
		.pd = rp.ref.cfg.vpid[vpid].pd + !dice(25),
		.malformed = !dice(40),
	};
	if (op == RMA_LOCK_REQ) {
		p->h[1] = (uint64_t)dice(5) << 32 | dice(5);
		p->h[2] = (uint64_t)(dice(4) - 1) << 32;
	}
	if (op == RMA_LOCK_RSP && !dice(3))
		p->h[1] |= 0xff000000;
	if (p->malformed)
		p->h[0] &= ~EX_RMA_LAST;
	if (op >= RMA_GET_BT_RSP && !dice(10))
		p->len = 0; /* refused */
	f = frame(p, op, rp.ref.n_pkt);
	cls = ex_meta(f)->cls;
	way[np][cls].pkt[way[np][cls].n++] = rp.ref.n_pkt++;
	xr_send(&rr, np, f, xr_cycle(&rr) + 1);
}

/* ---- scenarios ---- */

static void vpids(void)
{
	static const uint32_t slots[] = { 4, 8, 64, 1024 };

	for (uint32_t i = 0; i < RP_PROCS; i++) {
		uint32_t v = RP_FIRST + i, n = slots[dice(4)], pd = 0x50 + v;
		uint32_t classes = dice(3) ? 15 : 7;
		bool on = i < RP_PROCS - 1, physical = dice(2);

		rp.ref.cfg.vpid[v].enabled = on;
		rp.ref.cfg.vpid[v].physical = physical;
		rp.ref.cfg.vpid[v].classes = classes;
		rp.ref.cfg.vpid[v].pd = pd;
		rp.ref.cfg.vpid[v].slots = n;
		rp.ref.cfg.vpid[v].ring = RR_RING + 0x4000 * i;
		xr_w64(&rr, 0, EXTOLL_RMA_BASE + 8 * v,
		       rp.ref.cfg.vpid[v].ring);
		xr_w64(&rr, 0, EXTOLL_RMA_SIZE + 8 * v, n);
		xr_w64(&rr, 0, EXTOLL_RMA_VPID + 8 * v,
		       (on ? RMA_V_ENABLE : 0) |
			       (physical ? RMA_V_PHYSICAL : 0) |
			       RMA_PUT(classes, 7, 4) | RMA_PUT(pd, 31, 16));
	}
}

static void memory(void)
{
	for (uint32_t i = 0; i < RP_READABLE; i++)
		rr_fill(i, i);
	for (uint32_t i = 0; i < PAGES; i++)
		gate(i);
	xr_w64(&rr, 0, EXTOLL_ATU_GAT, ATU_BASE_MAKE(RR_GAT));
	xr_w64(&rr, 0, EXTOLL_ATU_ENABLE, 1);
	xr_w64(&rr, 0, EXTOLL_RMA_LOCK_BASE, RR_LOCKS);
	xr_w64(&rr, 0, EXTOLL_RMA_LOCK_N, 4);
}

void rp_open(void)
{
	struct ref_rma_cfg *c = &rp.ref.cfg;
	char more[64];

	memset(&rp, 0, sizeof(rp));
	memset(way, 0, sizeof(way));
	*c = (struct ref_rma_cfg){ .interval = dice(2) ? 31 : 1 + dice(31),
				   .depth = 1 + dice(5),
				   .nodes = 2,
				   .locks = 4,
				   .lock_base = RR_LOCKS,
				   .table = RR_GAT,
				   .slow_each = dice(2) ? 0 : 2 + dice(4) };
	rp.ref.hx.cfg = exref_hx();
	snprintf(more, sizeof(more), "rma_interval=%u np_depth=%u width=%s",
		 c->interval, c->depth, dice(2) ? "w16" : "w32");
	exref_open(&rr, &rp.ref.hx.cfg, more);
	c->t_slow = rp.ref.hx.cfg.t_read + (1 + 5 * dice(60)) * WEFT_NS;
	rr.bus[0]->slow_each = c->slow_each;
	rr.bus[0]->t_slow = c->t_slow;
	memory();
	vpids();
	xr_settle(&rr);
	xr_run(&rr, 1); /* to an edge */
	exref_nic(&rr)->np[EX_NP_RMA].ops = &spy;
	exref_nic(&rr)->np[EX_NP_RESP].ops = &spy;
	rr.bus[0]->n_log = 0;
	rp.first = exref_nic(&rr)->htax.store.head;
}

static uint32_t on_way(void)
{
	return rp.ref.hx.n_store - (exref_nic(&rr)->htax.store.head - rp.first);
}

/* Returns true if the command queue has room for all stores in flight. */
static bool queue_free(void)
{
	const struct rma *r = exref_nic(&rr)->rma;

	return r->q_tail - r->q_head + on_way() < RMA_QUEUE;
}

/* Returns true if a command may be stored. The HT core keeps room for the store
 * of a read pointer, because that store frees a full ring. The store of a read
 * pointer may pass commands, but not other stores to registers. */
static bool may_command(void)
{
	return queue_free() || on_way() + 1 < exref_nic(&rr)->posted;
}

static void software(uint32_t k, uint32_t lazy)
{
	uint32_t v = RP_FIRST + dice(RP_PROCS - 1);

	if (k % 8)
		return;
	if (!dice(lazy) || k > WORK)
		read_pointer(v, extoll_rma_vpid(exref_nic(&rr)->rma, v)->wp);
	else if (k < WORK && queue_free() && !dice(40)) {
		uint32_t page = dice(PAGES);

		if (dice(4))
			gate(page);
		atu(page);
	}
}

void rp_play(void (*look)(uint32_t cycle))
{
	uint32_t gap = 10 + dice(80), net = 10 + dice(120), lazy = 2 + dice(30);

	rp.ref.from = xr_cycle(&rr) + 1;
	rp.ref.cycles = WORK + QUIET;
	for (uint32_t k = 0; k < rp.ref.cycles; k++) {
		if (k < WORK && !dice(gap) && may_command())
			command();
		if (k < WORK && !dice(net))
			packet();
		if (k < WORK + QUIET - 600 && !rr.bus[0]->held)
			software(k, lazy);
		if (k < WORK && !dice(900))
			rr.net->stop = true;
		if (k == WORK || !dice(400))
			xr_release(&rr);
		xr_run(&rr, 1);
		look(k);
	}
}

static bool busy(void)
{
	const struct rma *r = exref_nic(&rr)->rma;
	bool any = r->req.head != r->req.tail || r->q_head != r->q_tail ||
		   r->resp.head != r->resp.tail;

	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		any |= r->in[vc].state != RMA_IN_WAIT;
	return any;
}

/* Lets the NIC end its work, and frees the bench. The reference does not cover
 * this part. */
void rp_close(void)
{
	while (busy()) {
		for (uint32_t v = RP_FIRST; v < RP_FIRST + RP_PROCS; v++)
			xr_w64(&rr, 0, EXTOLL_RMA_RP + v * EXTOLL_RP_STRIDE,
			       extoll_rma_vpid(exref_nic(&rr)->rma, v)->wp);
		xr_settle(&rr);
	}
	xr_free(&rr);
}
