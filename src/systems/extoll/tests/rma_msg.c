/* SPDX-License-Identifier: Apache-2.0 */
/* See rma_msg.h. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rma_msg.h"

struct xr rr;

void rr_gate(uint32_t i, uint32_t rights, uint32_t page)
{
	xr_mem_set64(&rr, 0, RR_GAT + 8 * i,
		     GATE_MAKE(rights, RR_VPID, RR_PAGE(page)));
}

static void registers(void)
{
	xr_setup(&rr, 0);
	xr_w64(&rr, 0, EXTOLL_ATU_GAT, ATU_BASE_MAKE(RR_GAT));
	xr_w64(&rr, 0, EXTOLL_ATU_ENABLE, 1);
	xr_w64(&rr, 0, EXTOLL_RMA_LOCK_BASE, RR_LOCKS);
	xr_w64(&rr, 0, EXTOLL_RMA_LOCK_N, 4);
	xr_w64(&rr, 0, EXTOLL_RMA_BASE + 8 * RR_VPID, RR_RING);
	xr_w64(&rr, 0, EXTOLL_RMA_SIZE + 8 * RR_VPID, RR_SLOTS);
	xr_w64(&rr, 0, EXTOLL_RMA_VPID + 8 * RR_VPID,
	       RMA_V_ENABLE | RMA_V_TC_ALL | RMA_PUT(RR_PD, 31, 16));
	xr_settle(&rr);
}

int rr_open(void **state)
{
	xr_single(&rr, "");
	for (uint32_t i = 0; i < RR_PAGES; i++)
		rr_gate(i, GATE_RW, i);
	registers();
	return 0;
}

int rr_close(void **state)
{
	xr_free(&rr);
	return 0;
}

static uint8_t pattern(uint32_t seed, uint32_t i)
{
	return (uint8_t)(1 + (seed * 37 + i * 11 + (i >> 8)) % 255);
}

void rr_fill(uint32_t page, uint32_t seed)
{
	uint8_t *at = rr.bus[0]->mem + (RR_PAGE(page) - XR_MEM);

	for (uint32_t i = 0; i < RMA_PAGE; i++)
		at[i] = pattern(seed, i);
}

bool rr_landed(uint32_t page, uint32_t bytes, uint32_t seed)
{
	const uint8_t *at = rr.bus[0]->mem + (RR_PAGE(page) - XR_MEM);

	for (uint32_t i = 0; i < RMA_PAGE; i++)
		if (at[i] != (i < bytes ? pattern(seed, i) : 0))
			return false;
	return true;
}

bool rr_empty(uint32_t page)
{
	return rr_landed(page, 0, 0);
}

static bool has_data(uint32_t op)
{
	return op == RMA_PUT_BT || op == RMA_PUT_QW || op == RMA_GET_BT_RSP ||
	       op == RMA_GET_QW_RSP;
}

void rr_arrive(struct rr_pkt p, uint64_t cycle)
{
	struct weft_frame *f = weft_frame_new(rr.sim);
	struct extoll_rma_cmd c = { .op = (uint8_t)p.op,
				    .spec = (uint8_t)p.spec,
				    .vpid = 9,
				    .far_vpid = RR_VPID,
				    .low = p.bytes ? p.bytes - 1 : 0 };
	bool resp = p.op == RMA_GET_BT || p.op == RMA_GET_QW;

	f->u[0] = extoll_rma_h0(&c, RR_FAR);
	f->u[1] = p.w[0];
	f->u[2] = p.w[1];
	*ex_meta(f) =
		(struct ex_meta){ .words = (uint8_t)extoll_rma_words(p.op),
				  .hops = 1,
				  .cls = p.op == RMA_GET_BT_RSP ||
					 p.op == RMA_GET_QW_RSP };
	ex_pd_set(f, RR_PD + p.pd);
	if (has_data(p.op)) {
		f->payload = weft_slice_new(rr.sim, p.bytes);
		for (uint32_t i = 0; i < p.bytes; i++)
			weft_slice_data(f->payload)[i] = pattern(p.seed, i);
	}
	xr_send(&rr, resp ? EX_NP_RESP : EX_NP_RMA, f, cycle);
}

void rr_put(uint32_t from, uint32_t bytes)
{
	uint64_t d[3] = { RMA_D_MAKE(RMA_PUT_QW, RR_FAR, 9, RMA_REQUESTER, 0) |
				  RMA_D_BYTES(bytes),
			  NLA_MAKE(0, from, 0), NLA_MAKE(0, 1, 0) };

	xr_store(&rr, 0, extoll_rma_page(RMA_OPT_TE, RR_VPID), d, sizeof(d));
}

uint64_t rr_noti(uint32_t i)
{
	return xr_mem64(&rr, 0, RR_RING + RMA_NOTI_BYTES * i + 8);
}

uint64_t rr_faults(enum atu_fault why)
{
	return xr_r64(&rr, 0, EXTOLL_ATU_FAULTS + 8 * why);
}

uint64_t rr_counter(const char *name)
{
	const struct weft_comp *c = rr.nic[0];

	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	fail();
	return 0;
}

struct rr_ops rr_ops(enum weft_bus_op op, weft_phys_t lo, weft_phys_t hi)
{
	const struct xbus *b = rr.bus[0];
	struct rr_ops r = { 0 };

	assert_true(b->n_log < XR_LOG);
	for (uint32_t i = 0; i < b->n_log; i++) {
		const struct xbus_op *l = &b->log[i];

		if (l->op != op || l->addr < lo || l->addr >= hi)
			continue;
		r.first = r.n++ ? r.first : i;
		r.last = i;
	}
	return r;
}
