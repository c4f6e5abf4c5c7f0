/* SPDX-License-Identifier: Apache-2.0 */
/* Payload of a packet from host memory (hostport.md 8.2 step 8, 8.3 step 7,
 * 8.10).
 *
 * Pieces are read in order, a few at a time, into the packet. The packet may
 * leave when its pages are translated and the first bytes have arrived.
 * Therefore the network port, which all processes share, never waits for a
 * translation or for the first answer of memory, only for the next piece. At
 * most list_pages pages of a packet are translated ahead of their use. A page
 * that cannot be translated, or memory that does not answer, ends the packet
 * with an abort tail: one word with the error code replaces the other bytes. */
#include "systems/hostport/nic/functional_units.h"

/* largest number of reads in flight, for which the unit has room */
enum { PIECES = 8 };

/* Ends the read of the payload when all bytes have arrived. After a fault the
 * packet consists of its first `got` bytes and the tail, also if it was partly
 * sent. */
static void pull_check(struct hp_nic *n, struct hp_pull *p)
{
	bool all = p->got == p->total;
	uint32_t lost = ((p->total - p->got + 7) & ~7u) - 8;
	uint64_t tail = HP_TAIL(p->err);
	struct hp_tx *t = p->tx;

	if (p->over || p->out || !hp_walk_known(&p->walk))
		return;
	if (!all && !p->stop)
		return;
	if (!all && t) {
		memcpy(p->data + p->got, &tail, sizeof(tail));
		p->f->payload.len -= lost;
		t->total -= lost;
		if (t->pkt)
			t->pkt->flits -=
				lost /
				ex_flit_bytes(n->net.np[t->np].ep.cfg.width);
		p->cut = true;
		hp_net_more(n, t, UINT32_MAX);
	}
	if (!all && !t && p->got)
		return; /* the packet is cut when it is released */
	hp_walk_end(n, &p->walk);
	p->over = true;
}

static void pull_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_pull *p = d->arg;
	uint32_t bytes = d->txn.data.len;

	p->out--;
	if (d->txn.status != WEFT_BUS_OK || d->user != p->got) {
		p->stop = true;
	} else {
		memcpy(p->data + p->got, weft_slice_data(d->txn.data), bytes);
		p->got += bytes;
	}
	hp_walk_past(n, &p->walk, p->got);
	if (p->tx && !p->over)
		hp_net_more(n, p->tx, p->got);
	hp_pull_go(n, p);
}

/* Starts reads. Before the packet is sent, starts reads only while no
 * translation is in flight, and reads no more bytes than the unit has room
 * for. */
void hp_pull_go(struct hp_nic *n, void *pull)
{
	struct hp_pull *p = pull;
	uint32_t piece = n->param.dma_piece;
	uint32_t limit = hp_walk_known(&p->walk) ? PIECES * piece : 0;

	if (p->tx || limit > p->total)
		limit = p->total;
	while (!p->stop && p->asked < limit && p->out < PIECES) {
		uint32_t left, bytes = p->total - p->asked;
		weft_phys_t pa;
		enum hp_step step = hp_walk_at(&p->walk, p->asked, &pa, &left);
		struct hp_dma *d;

		if (step == HP_STEP_FAULT)
			p->stop = true;
		if (step != HP_STEP_READY)
			break;
		bytes = bytes < left ? bytes : left;
		bytes = bytes < piece ? bytes : piece;
		p->out++;
		d = hp_dma_read(n, pa, bytes, pull_done, p);
		d->user = p->asked;
		d->txn.trace_id = p->f->trace_id;
		p->asked += bytes;
	}
	pull_check(n, p);
	p->go(n, p->arg);
}

void hp_pull_release(struct hp_nic *n, struct hp_pull *p, uint64_t cycle,
		     void (*sent)(struct hp_nic *, struct hp_tx *), void *arg)
{
	struct weft_frame *f = p->f;
	uint32_t skip = (uint32_t)(p->data - weft_slice_data(f->payload));

	p->tx = hp_net_send(n, f, skip, cycle,
			    p->got == p->total ? UINT32_MAX : p->got, sent,
			    arg);
	if (p->asked < p->total && p->go)
		hp_pull_go(n, p);
	else
		pull_check(n, p);
}

void hp_pull_drop(struct hp_nic *n, struct hp_pull *p)
{
	if (p->f && !p->tx)
		weft_frame_free(p->f);
	p->f = NULL;
}
