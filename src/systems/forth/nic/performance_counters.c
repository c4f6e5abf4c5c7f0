/* SPDX-License-Identifier: Apache-2.0 */
/* Performance counters and timers of the FORTH NIC, computed from the bus's
 * reports, so that no counter needs an event per clock. Source: forth.md
 * sections 2.5 (counting rules, R-49), 2.7 (cumulative timer). All clocks of a
 * tenure are counted when its first datum moves. No load can see the
 * difference, because a host load and a DMA tenure cannot share the bus. */
#include <stddef.h>

#include "systems/forth/nic/nic.h"

static uint64_t pc_since(uint64_t now, uint64_t start)
{
	return now > start ? now - start : 0;
}

/* Returns what a counter has counted since its register cell was last updated.
 * The caller adds the value of the cell. */
uint64_t forth_perf_running(struct forth_nic *n, enum forth_perf id)
{
	uint64_t now;

	if (!n->started)
		return 0;
	now = forth_pc(n);
	switch (id) {
	case PERF_H2N_DMA_ACTIVE:
		return n->rq.active
			       ? pc_since(now, n->perf.active_since[DIR_H2N])
			       : 0;
	case PERF_N2H_DMA_ACTIVE:
		return n->wr.state != FORTH_NO_PND_OP && n->wr.job == JOB_PACKET
			       ? pc_since(now, n->perf.active_since[DIR_N2H])
			       : 0;
	case PERF_IRQ_ACTIVE:
		return n->perf.irq_level ? pc_since(now, n->perf.irq_since) : 0;
	case PERF_SPLIT_DURATION:
		return n->perf.split_open ? pc_since(now, n->perf.split_since)
					  : 0;
	case PERF_BODY_CRC_ERR:
		return forth_link_sum(
			n, offsetof(struct forth_port_count, body_crc));
	case PERF_HEADER_ALIGN_ERR:
		return forth_link_sum(
			n, offsetof(struct forth_port_count, header_align));
	default:
		return 0;
	}
}

/* Notes that a transfer asserts REQ# at PCI edge `pc`. */
void forth_perf_req(struct forth_nic *n, enum forth_dir d, uint64_t pc)
{
	n->perf.active_since[d] = pc;
	if (n->perf.cum_armed && !n->perf.cum_running) {
		n->perf.cum_running = true;
		n->perf.cum_start = pc;
	}
	if (n->sampler.armed)
		forth_sampler_first(n, pc);
}

/* Notes that a transfer of direction d leaves UpdtCnt at PCI edge `pc`. The
 * last datum of the transfer moved at edge `done`. */
void forth_perf_end(struct forth_nic *n, enum forth_dir d, uint64_t done,
		    uint64_t pc)
{
	enum forth_perf active =
		d == DIR_H2N ? PERF_H2N_DMA_ACTIVE : PERF_N2H_DMA_ACTIVE;

	if (d == DIR_N2H || n->rq.active)
		forth_perf_add(n, active,
			       pc_since(pc, n->perf.active_since[d]));
	if (n->perf.cum_running)
		*weft_reg_cell(n->comp, R_CUM_TIMER, 0) =
			(uint32_t)(n->perf.cum_base +
				   pc_since(done, n->perf.cum_start));
}

static void perf_burst(struct forth_nic *n, enum forth_dir d,
		       const struct weft_bus_note *note)
{
	uint64_t pc = forth_pc_of(n, note->time);
	struct forth_ramp *r = &n->perf.moved[d];
	bool out = d == DIR_H2N;
	uint64_t end = forth_pc_of(n, note->data_end);
	/* count only the new clocks, because the bus may report a tenure in
	 * pieces */
	uint64_t from = n->perf.frame_at[d] == note->frame
				? n->perf.frame_end[d]
				: forth_pc_of(n, note->frame);

	if (out && n->perf.split_open) {
		n->perf.split_open = false;
		forth_perf_add(n, PERF_SPLIT_DURATION,
			       pc_since(pc, n->perf.split_since));
	}
	forth_sampler_advance(n, pc);
	r->base += r->n;
	r->start = pc;
	r->n = note->bytes / 8;
	forth_perf_add(n, out ? PERF_H2N_QWORD : PERF_N2H_QWORD, r->n);
	forth_perf_add(n, out ? PERF_H2N_BUS_GRANTED : PERF_N2H_BUS_GRANTED,
		       pc_since(end, from));
	n->perf.frame_at[d] = note->frame;
	n->perf.frame_end[d] = end;
	if (note->timer)
		forth_perf_add(n, out ? PERF_H2N_DISC : PERF_N2H_DISC, 1);
}

void forth_perf_note(struct forth_nic *n, enum forth_dir d,
		     const struct weft_bus_note *note)
{
	uint64_t pc;

	if (note->kind == WEFT_NOTE_BURST) {
		perf_burst(n, d, note);
	} else if (note->kind == WEFT_NOTE_SPLIT) {
		pc = forth_pc_of(n, note->time);
		forth_perf_add(n, PERF_SPLIT_OPS, 1);
		if (note->frame)
			forth_perf_add(
				n, PERF_H2N_BUS_GRANTED,
				pc_since(pc, forth_pc_of(n, note->frame)));
		n->perf.split_open = true;
		n->perf.split_since = pc;
	} else if (d == DIR_H2N) {
		n->perf.split_open = false;
	}
}

/* Returns the qwords moved by DMA up to edge `pc`. */
uint64_t forth_moved(const struct forth_nic *n, enum forth_dir d, uint64_t pc)
{
	const struct forth_ramp *r = &n->perf.moved[d];
	uint64_t in = pc_since(pc, r->start);

	return r->base + (in < r->n ? in : r->n);
}
