/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of coh.system. It takes one step per clock, contains the
 * event table of forth.md 9 as code and computes no times of transactions. It
 * plays a script and lists every access and every transaction. */
#ifndef COHERENT_TESTS_REF_COH_H
#define COHERENT_TESTS_REF_COH_H

#include "systems/coherent/coherent.h"

enum {
	REF_COH_OPS = 64,
	REF_COH_ITEMS = 32,
	REF_COH_LOG = 4096,
	REF_COH_DDR = 131072,
	REF_COH_OPEN = 65536,
	REF_COH_PRIV = 4096
};
#define REF_COH_PRIVATE 0x100000000ull

struct ref_coh_script {
	uint32_t cores, size, line, ways, banks, row_bytes, width;
	bool update_alloc, supply_shared;
	uint32_t t_hit, t_port, t_plb, t_arb, t_req, t_snoop, t_supply;
	uint32_t t_reply, t_ni, t_ctrl, t_rp, t_rcd, t_cas, t_cwl;
	uint32_t n_ops[COH_CORES_MAX], n_items;
	struct coh_op op[COH_CORES_MAX][REF_COH_OPS];
	struct coh_item item[REF_COH_ITEMS];
};

struct ref_coh_access {
	uint32_t core;
	uint64_t cycle, addr, value;
};

struct ref_coh_line {
	char state;
	uint64_t addr;
};

struct ref_coh_log {
	uint32_t n_ops, n_txns;
	struct ref_coh_access op[REF_COH_LOG];
	struct coh_txn txn[REF_COH_LOG];
	uint8_t mem[REF_COH_DDR]; /* at the end */
	uint32_t copies[3]; /* numbers of lines in state S, E, M at the end */
};

void ref_coh_run(const struct ref_coh_script *s, struct ref_coh_log *log);

#endif
