/* SPDX-License-Identifier: Apache-2.0 */
/* Connects RMA and ATU with the rest of the NIC, see rma.h. Their state is
 * allocated on first use, so that a node that only forwards packets has
 * none. */
#include "systems/extoll/nic/rma.h"

#include <assert.h>
#include <stdlib.h>

#include "systems/extoll/nic/nic.h"

struct rma *extoll_rma_make(struct extoll_nic *n)
{
	struct rma *r = n->rma;

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	assert(r);
	n->rma = r;
	r->nic = n;
	r->config = RMA_C_RESET;
	r->req.rma = r->resp.rma = r;
	r->req.type = &extoll_rma_requester;
	r->resp.type = &extoll_rma_responder;
	r->req.interval = n->rma_interval;
	r->resp.interval = RMA_T_CHECK + ATU_HIT;
	r->atu.nic = n;
	r->atu.n_gats = n->gats;
	atu_tlb_init(&r->atu.tlb);
	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		r->in[vc].rma = r;
		r->in[vc].head = RMA_CELL_NONE;
	}
	return r;
}

static void rma_drop(struct rma *r)
{
	struct weft_frame *f;

	extoll_rma_tx_fini(&r->req);
	extoll_rma_tx_fini(&r->resp);
	while ((f = r->wait_head)) {
		r->wait_head = f->next;
		weft_frame_free(f);
	}
	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		struct extoll_rma_in *in = &r->in[vc];

		weft_slice_drop(&in->data);
		for (; in->head != RMA_CELL_NONE;
		     in->head = r->cell[in->head].next)
			if (r->cell[in->head].eop)
				weft_frame_free(r->cell[in->head].pkt);
	}
}

/* If the run came to rest, frees the commands and packets that still wait for a
 * ring or for the network. */
static int extoll_rma_finish(struct extoll_nic *n, struct weft_err *err)
{
	if (n->rma && weft_sim_idle(n->comp->sim))
		rma_drop(n->rma);
	return 0;
}

static void extoll_rma_fini(struct extoll_nic *n)
{
	struct rma *r = n->rma;

	if (!r)
		return;
	rma_drop(r);
	atu_tlb_fini(&r->atu.tlb);
	free(r->atu.gat);
	ex_vpid_free(&r->vpid);
	free(r);
	n->rma = NULL;
}

void extoll_rma_count(struct extoll_nic *n, enum extoll_rma_counter k,
		      uint64_t by)
{
	weft_count(n->comp, EX_C_RMA + k, by);
}

void extoll_rma_wake(struct rma *r, struct weft_timer *tm,
		     enum extoll_htax_port port, uint64_t cycle)
{
	weft_timer_arm(r->nic->comp, tm, EX_TAG_UNIT + port,
		       ex_edge(r->nic, cycle));
}

/* Reads host memory. The answer may overtake stores of the host. If it could
 * not, a deadlock would be possible: stores would wait for room in the command
 * queue, while a command in that queue waits for the answer. */
void extoll_rma_read(struct extoll_nic *n, enum extoll_htax_port port,
		     weft_phys_t addr, uint32_t bytes,
		     void (*done)(struct extoll_nic *n, struct hx_pkt *p),
		     void *own, uint64_t trace)
{
	struct hx_pkt *p = ex_pkt_new(n);

	p->txn.op = WEFT_BUS_READ;
	p->txn.addr = addr;
	p->txn.bytes = bytes;
	p->txn.relaxed = true;
	p->txn.trace_id = trace;
	p->done = done;
	p->user[0] = (uintptr_t)own;
	ex_htax_send(n, port, p, ex_now(n));
}

bool extoll_rma_packet_ours(const struct rma *r, const struct weft_frame *f,
			    struct extoll_rma_cmd *c)
{
	return extoll_rma_packet_decode(f, c) &&
	       EX_H0_CHECK(f->u[0]) == (r->nic->place.node & 0xff) &&
	       (!(extoll_rma_vpid_ctl(r, c->vpid) & RMA_V_ENABLE) ||
		RMA_V_PD(extoll_rma_vpid_ctl(r, c->vpid)) == ex_pd(f));
}

/* ---- network ports 1 and 2 ---- */

static void extoll_rma_np_cell(void *own, struct netport *np,
			       const struct netport_cell *c)
{
	struct extoll_nic *n = own;
	struct rma *r = extoll_rma_make(n);

	if (np == &n->np[EX_NP_RMA])
		extoll_rma_compl_cell(r, c);
	else
		extoll_rma_resp_cell(r, c);
}

static void extoll_rma_np_sent(void *own, struct netport *np, uint32_t cls,
			       uint64_t trace_id)
{
	struct extoll_nic *n = own;
	struct extoll_rma_tx *u = cls ? &n->rma->resp : &n->rma->req;

	if (u->head != u->tail)
		extoll_rma_tx_run(u);
}

const struct netport_ops ex_rma_np = { .cell = extoll_rma_np_cell,
				       .sent = extoll_rma_np_sent };

/* ---- units ---- */

/* Runs the unit behind the port if its timer is due. */
static void rma_event(struct extoll_nic *n, uint32_t port)
{
	struct rma *r = n->rma;

	switch (port) {
	case EXTOLL_HX_RMA_REQ:
		if (weft_timer_due(n->comp, &r->req.timer))
			extoll_rma_tx_run(&r->req);
		break;
	case EXTOLL_HX_RMA_RESP:
		if (weft_timer_due(n->comp, &r->resp.timer))
			extoll_rma_tx_run(&r->resp);
		break;
	case EXTOLL_HX_RMA_COMP:
		if (weft_timer_due(n->comp, &r->in_timer))
			extoll_rma_compl_run(r);
		break;
	default: /* ATU */
		if (weft_timer_due(n->comp, &r->atu.timer))
			atu_run(&r->atu);
	}
}

const struct ex_unit ex_rma_req_unit = { .room = extoll_rma_req_room,
					 .store = extoll_rma_req_store,
					 .event = rma_event,
					 .finish = extoll_rma_finish,
					 .fini = extoll_rma_fini };
const struct ex_unit ex_rma_resp_unit = { .event = rma_event };
const struct ex_unit ex_rma_comp_unit = { .event = rma_event };
const struct ex_unit ex_atu_unit = { .event = rma_event };
