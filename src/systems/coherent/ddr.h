/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse memory with real bytes, and the DDR controller in front of it. */
#ifndef SYSTEMS_COHERENT_DDR_H
#define SYSTEMS_COHERENT_DDR_H

#include "weft/types.h"

enum { COH_PAGE = 4096 };

/* Bytes that were never written read 0. Every access lies within `size`
 * (asserted). */
struct coh_mem {
	uint64_t size;
	uint8_t **page;
};
bool coh_mem_init(struct coh_mem *m, uint64_t size);
void coh_mem_fini(struct coh_mem *m);
void coh_mem_read(const struct coh_mem *m, uint64_t addr, void *to,
		  uint32_t bytes);
/* Stores bytes. Allocates a page on its first store. */
void coh_mem_write(struct coh_mem *m, uint64_t addr, const void *from,
		   uint32_t bytes);

/* The controller. It executes one access at a time and has one open row per
 * bank. */
struct coh_ddr {
	struct coh_mem mem;
	uint64_t row_bytes;
	uint32_t banks, width;			    /* bytes per cycle */
	uint32_t t_ctrl, t_rp, t_rcd, t_cas, t_cwl; /* cycles */
	/* number of the open row of each bank + 1, or 0 for none */
	uint64_t *open;
	uint64_t reads, writes, row_hits, row_misses, row_conflicts;
};
bool coh_ddr_init(struct coh_ddr *d, uint64_t bytes);
void coh_ddr_fini(struct coh_ddr *d);
/* Returns the number of cycles in which the controller transfers `bytes`
 * bytes. */
uint32_t coh_ddr_beats(const struct coh_ddr *d, uint32_t bytes);
/* Reads bytes. Returns the cycles from the request to the first beat. */
uint32_t coh_ddr_read(struct coh_ddr *d, uint64_t addr, void *to,
		      uint32_t bytes);
/* Writes bytes. Returns the cycles from the request until the last beat is
 * written. */
uint32_t coh_ddr_write(struct coh_ddr *d, uint64_t addr, const void *from,
		       uint32_t bytes);

#endif
