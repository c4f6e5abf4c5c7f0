/* SPDX-License-Identifier: Apache-2.0 */
/* Instruments of the FORTH NIC: counters (performance_counters.c), samples
 * (sampler.c), time stamps of packets (benchmark_mode.c), the event log
 * (event_log.c). Source: forth.md sections 2.5, 2.7, 2.8 and 10. */
#ifndef SYSTEMS_FORTH_NIC_INSTRUMENTS_H
#define SYSTEMS_FORTH_NIC_INSTRUMENTS_H

#include "systems/forth/nic/registers.h"

struct forth_nic;
struct forth_pkt;
struct forth_port;

enum forth_dir { DIR_H2N, DIR_N2H, DIR_N };

/* A move of n qwords, one in each PCI cycle from edge `start` on. */
struct forth_ramp {
	uint64_t base; /* qwords that had moved before the ramp */
	uint64_t start, n;
};

/* State of the performance counters and timers between two updates of their
 * registers (performance_counters.c). */
struct forth_perf_state {
	uint64_t active_since[DIR_N];
	struct forth_ramp moved[DIR_N];
	/* time of FRAME# in the latest tenure of each direction */
	weft_time_t frame_at[DIR_N];
	/* PCI edge at which the latest tenure of each direction ends, as far as
	 * known */
	uint64_t frame_end[DIR_N];
	bool irq_level;
	uint64_t irq_since, split_since;
	bool split_open, cum_armed, cum_running;
	uint64_t cum_start;
	uint32_t cum_base;
};

struct forth_sampler {
	/* number of samples left to take, number of samples taken, index of the
	 * next sample to read */
	uint32_t left, taken, index;
	bool armed, running;
	uint64_t interval, next; /* pc */
	uint64_t origin[DIR_N];	 /* qwords moved when the sampler started */
	uint32_t *mem;		 /* 2048 samples of two counters (tx, rx) */
};

/* performance_counters.c */
/* Returns what a counter has counted since its register cell was last updated.
 * The caller adds the value of the cell. */
uint64_t forth_perf_running(struct forth_nic *n, enum forth_perf id);
void forth_perf_req(struct forth_nic *n, enum forth_dir d, uint64_t pc);
/* Notes that a transfer leaves UpdtCnt at PCI edge `pc`. The last datum of the
 * transfer moved at edge `done`. */
void forth_perf_end(struct forth_nic *n, enum forth_dir d, uint64_t done,
		    uint64_t pc);
/* Counts the clocks of a tenure that the bus reports. */
void forth_perf_note(struct forth_nic *n, enum forth_dir d,
		     const struct weft_bus_note *note);
/* Returns the qwords moved by DMA up to edge `pc`. */
uint64_t forth_moved(const struct forth_nic *n, enum forth_dir d, uint64_t pc);

/* sampler.c */
/* registers 0xD0, 0xD4 */
void forth_sample_count_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
uint64_t forth_sample_data_read(struct weft_comp *c, uint32_t i);
void forth_sample_data_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
/* Starts sampling at PCI edge `pc`, at which the first DMA transaction after a
 * store to the sample counter begins. */
void forth_sampler_first(struct forth_nic *n, uint64_t pc);
/* Takes the samples due up to PCI edge `pc`. The NIC calls this function before
 * a count changes, so that samples hold the old count. */
void forth_sampler_advance(struct forth_nic *n, uint64_t pc);

/* benchmark_mode.c */
uint32_t forth_bench_mode(struct forth_nic *n);

/* Writes the time stamps into a packet that departs at NET cycle start_cc. */
void forth_bench_stamp(struct forth_nic *n, const struct forth_pkt *p,
		       uint64_t start_cc);

/* event_log.c */
/* Inserts a record in order of time. The log must be on. */
void forth_log_at(struct forth_nic *n, uint64_t pc, enum forth_log_unit unit,
		  enum forth_log_event event, uint32_t arg);
/* forth_port_ops.credit */
void forth_log_credit(void *own, struct forth_port *l, uint64_t cc,
		      uint16_t credit, bool in);
/* registers 0x1C0.. */
void forth_log_control_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
uint64_t forth_log_count_read(struct weft_comp *c, uint32_t i);
void forth_log_index_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
uint64_t forth_log_data_read(struct weft_comp *c, uint32_t i);

#endif
