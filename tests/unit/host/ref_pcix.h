/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the PCI-X and of the PCI bus: one step per bus clock,
 * without arithmetic on tenures. The model plays a whole script and lists all
 * notes to host and devices with their times. */
#ifndef TESTS_HOST_REF_PCIX_H
#define TESTS_HOST_REF_PCIX_H

#include "weft/bus.h"

enum { REF_DEVS = 4, REF_OPS = 48, REF_LOG = 131072 };

/* An access. A device submits it `delay` after its previous access in the same
 * direction was done. The host requests it `delay` after its previous access
 * was accepted (store) or answered (load). */
struct ref_op {
	weft_time_t delay;
	uint64_t addr;
	uint32_t bytes, max_request, latency_timer;
	bool load;    /* host */
	uint32_t dev; /* host: number of the slot, which may be empty */
	/* for the host on PCI: 0 for a plain access, or 1 + enum
	 * weft_bus_tagged_op; a conditional store has `load` set */
	uint32_t tagged;
	/* PCI: time after which the device answers a load, or for which it
	 * holds a store (addr / 4096 is the number of the operation) */
	weft_time_t takes;
};

struct ref_list {
	uint32_t n;
	struct ref_op op[REF_OPS];
};

struct ref_script {
	struct weft_clock clock;
	uint32_t width, devices, pio_depth;
	uint32_t t_arb, t_ph, t_gap, t_split, t_disc, t_pio1, t_piob;
	uint32_t t_read, t_abort, t_dac;
	uint32_t sc_chunk, wr_chunk;
	/* PCI */
	bool pci, wait;
	uint32_t t_park, t_turn, t_end, t_retry, t_initial, t_tag;
	uint32_t max_retries, page, line, rd_chunk, window;
	weft_time_t t_mem, h_rd_out, h_rd_in, h_wr_out, h_wr_in, h_dw;
	struct ref_list wr[REF_DEVS], rd[REF_DEVS], pio;
};

struct ref_note {
	enum weft_note_kind kind;
	uint32_t port; /* 0 for the host, 1 + n for device n */
	weft_time_t time, frame, data_end;
	uint64_t addr;
	uint32_t offset, bytes, tenures, splits;
	enum weft_bus_status status;
	bool write, last, timer;
};

struct ref_log {
	uint32_t n;
	struct ref_note note[REF_LOG];
	uint64_t busy; /* number of bus clocks in tenures */
};

/* All addresses below the limit are memory, except this hole. */
#define REF_HOLE_LO 0x10000000ull
#define REF_HOLE_HI 0x10008000ull
#define REF_MEM_END 0x180000000ull
bool ref_pcix_decode(uint64_t addr, uint32_t bytes);

void ref_pcix_run(const struct ref_script *s, struct ref_log *log);

#endif
