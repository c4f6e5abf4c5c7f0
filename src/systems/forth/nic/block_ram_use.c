/* SPDX-License-Identifier: Apache-2.0 */
/* Memories of the FORTH NIC, compared with the block RAMs of its FPGA (forth.md
 * 10.3, Table 2 of the platform paper). Not counted: synchronisation FIFOs,
 * external memory, and the event log, which is our addition. */
#include "systems/forth/link/block_ram.h"
#include "systems/forth/nic/nic.h"

int forth_bram_init(struct forth_nic *n, struct weft_err *err)
{
	const struct bram_block b[] = {
		{ "request queues, Host2Net and Net2Host FIFO",
		  bram_bytes(FORTH_DESC_TOTAL * FORTH_DESC_BYTES) +
			  (n->p.voqs ? 0 : bram_fifo68(n->p.h2n_words)) +
			  bram_fifo68(n->p.n2h_words),
		  22, "h2n_words or n2h_words" },
		{ "VOQs", n->p.voqs * bram_bytes(n->p.voq_bytes), 37,
		  "voqs or voq_bytes" },
		{ "multipath: FIFOs of further links, headers",
		  n->multi ? (n->p.links - 1) * bram_fifo68(n->p.n2h_words) +
				     bram_bytes(8ull * n->p.reseq_headers)
			   : 0,
		  20, "n2h_words or reseq_headers" },
		{ "sampling memory", bram_bytes(8 * FORTH_SAMPLES), 32, "it" },
	};
	const uint32_t all = sizeof(b) / sizeof(b[0]);

	return bram_check(n->comp, b, all, n->p.budget,
			  &n->comp->counters[C_BRAM], err);
}
