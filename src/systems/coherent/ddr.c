/* SPDX-License-Identifier: Apache-2.0 */
/* DDR controller (forth.md 9: 256 MB). Timing is our own, because the paper
 * gives no numbers.
 *
 *   read:  t_ctrl + row + t_cas to the first beat
 *   write: t_ctrl + row + t_cwl + beats
 *   row:   0 when open, t_rcd when the bank is idle, t_rp + t_rcd otherwise
 *
 * Not modelled: refresh, write recovery, overlapping accesses. */
#include "systems/coherent/ddr.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

bool coh_mem_init(struct coh_mem *m, uint64_t size)
{
	m->size = size;
	m->page = calloc((size + COH_PAGE - 1) / COH_PAGE, sizeof(*m->page));
	return m->page;
}

void coh_mem_fini(struct coh_mem *m)
{
	/* Free only pages that exist, because most pages were never written,
	 * and free(NULL) costs time, too: sanitizers walk the stack in every
	 * call. */
	for (uint64_t i = 0; m->page && i * COH_PAGE < m->size; i++)
		if (m->page[i])
			free(m->page[i]);
	free(m->page);
	*m = (struct coh_mem){ 0 };
}

/* Returns the bytes of this access that lie in the page of addr. */
static uint32_t ddr_span(uint64_t addr, uint32_t bytes)
{
	uint32_t room = COH_PAGE - (uint32_t)(addr % COH_PAGE);

	return bytes < room ? bytes : room;
}

void coh_mem_read(const struct coh_mem *m, uint64_t addr, void *to,
		  uint32_t bytes)
{
	uint8_t *p = to;

	assert(addr <= m->size && bytes <= m->size - addr);
	for (uint32_t n; bytes; bytes -= n, addr += n, p += n) {
		const uint8_t *page = m->page[addr / COH_PAGE];

		n = ddr_span(addr, bytes);
		if (page)
			memcpy(p, page + addr % COH_PAGE, n);
		else
			memset(p, 0, n);
	}
}

void coh_mem_write(struct coh_mem *m, uint64_t addr, const void *from,
		   uint32_t bytes)
{
	const uint8_t *p = from;

	assert(addr <= m->size && bytes <= m->size - addr);
	for (uint32_t n; bytes; bytes -= n, addr += n, p += n) {
		uint8_t **page = &m->page[addr / COH_PAGE];

		n = ddr_span(addr, bytes);
		if (!*page)
			*page = calloc(1, COH_PAGE);
		if (!*page)
			abort();
		memcpy(*page + addr % COH_PAGE, p, n);
	}
}

/* ---- rows ---- */

bool coh_ddr_init(struct coh_ddr *d, uint64_t bytes)
{
	d->open = calloc(d->banks, sizeof(*d->open));
	return coh_mem_init(&d->mem, bytes) && d->open;
}

void coh_ddr_fini(struct coh_ddr *d)
{
	coh_mem_fini(&d->mem);
	free(d->open);
	d->open = NULL;
}

uint32_t coh_ddr_beats(const struct coh_ddr *d, uint32_t bytes)
{
	return (bytes + d->width - 1) / d->width;
}

static uint32_t row_cost(struct coh_ddr *d, uint64_t addr)
{
	uint64_t row = addr / d->row_bytes / d->banks + 1;
	uint64_t *open = &d->open[addr / d->row_bytes % d->banks];
	uint64_t was = *open;

	*open = row;
	if (was == row) {
		d->row_hits++;
		return 0;
	}
	if (!was) {
		d->row_misses++;
		return d->t_rcd;
	}
	d->row_conflicts++;
	return d->t_rp + d->t_rcd;
}

uint32_t coh_ddr_read(struct coh_ddr *d, uint64_t addr, void *to,
		      uint32_t bytes)
{
	d->reads++;
	coh_mem_read(&d->mem, addr, to, bytes);
	return d->t_ctrl + row_cost(d, addr) + d->t_cas;
}

uint32_t coh_ddr_write(struct coh_ddr *d, uint64_t addr, const void *from,
		       uint32_t bytes)
{
	d->writes++;
	coh_mem_write(&d->mem, addr, from, bytes);
	return d->t_ctrl + row_cost(d, addr) + d->t_cwl +
	       coh_ddr_beats(d, bytes);
}
