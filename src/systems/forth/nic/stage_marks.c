/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of packets that the FORTH NIC marks for listeners (weft/trace.h).
 * States and levels are reported where they change. */
#include "systems/forth/nic/nic.h"

void forth_trace_released(struct forth_nic *n, uint32_t q, uint32_t first,
			  uint32_t count)
{
	if (!n->trace)
		n->trace = calloc(FORTH_DESC_TOTAL, sizeof(*n->trace));
	for (uint32_t i = 0; n->trace && i < count; i++) {
		uint32_t slot = (first + i) & (n->depth - 1);

		n->trace[q * n->depth + slot] = weft_msg_open(n->comp);
	}
}

void forth_trace_picked(struct forth_nic *n)
{
	const struct forth_rq *rq = &n->rq;

	if (!n->trace)
		return;
	n->rq.trace = n->trace[rq->queue * n->depth + n->queue[rq->queue].head];
	forth_mark(n, n->rq.trace, "waits for the engine", rq->since);
}

void forth_trace_cut(struct forth_nic *n, struct forth_pkt *p, uint64_t read,
		     uint64_t in)
{
	p->trace = weft_msg_fork(n->comp, n->rq.trace);
	forth_mark(n, p->trace, "DMA read: data", read);
	forth_mark(n, p->trace, "into the VOQ", in);
	forth_mark(n, p->trace, "VOQ to link", p->ready);
}
