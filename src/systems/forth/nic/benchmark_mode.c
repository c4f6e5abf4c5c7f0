/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmark mode of the FORTH NIC: time stamps in the payload. Source: forth.md
 * section 10.1, R-38. The NIC stamps every packet that departs: qword 0 {ts1,
 * ts2}, qword 1 {0, 0}, into which a switch writes its stamps, qword 2 {node,
 * number}. */
#include "systems/forth/nic/nic.h"

uint32_t forth_bench_mode(struct forth_nic *n)
{
	uint32_t mode = forth_cell(n, R_BENCH);

	return mode & FORTH_BENCH_ON ? mode : 0;
}

void forth_bench_stamp(struct forth_nic *n, const struct forth_pkt *p,
		       uint64_t start_cc)
{
	uint8_t *data = weft_slice_data(p->data);
	uint32_t flow = forth_hdr_flow(p->hdr);
	/* the packet departed at the edge at which it was ready. If it waited
	 * for the line or for credits, it departed at the first PCI edge after
	 * the NET edge before its start */
	uint64_t before = start_cc ? start_cc - 1 : 0;
	uint64_t start =
		forth_pc_of(n, weft_clock_edge(&n->link[0].clk, before) + 1);
	uint32_t ts2 = (uint32_t)(start > p->ready ? start : p->ready);
	uint64_t q[FORTH_STAMP_QWORDS];
	uint32_t bytes = sizeof(q) < p->data.len ? sizeof(q) : p->data.len;

	if (!n->bench_seq)
		n->bench_seq = calloc(FORTH_FLOWS, sizeof(*n->bench_seq));
	q[0] = forth_stamp_pair(p->ts1, ts2);
	q[1] = 0;
	q[2] = forth_stamp_pair(n->p.node, n->bench_seq[flow]++);
	if (data)
		memcpy(data, q, bytes);
}
