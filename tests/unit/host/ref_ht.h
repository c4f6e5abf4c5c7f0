/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the HyperTransport bus: one step per slot (4 bytes on a
 * link). Every packet moves dword by dword through buffers that are counted.
 * The model plays a whole script and lists all notes to host and devices with
 * their times. */
#ifndef TESTS_HOST_REF_HT_H
#define TESTS_HOST_REF_HT_H

#include "weft/bus.h"

enum { HT_DEVS = 2, HT_OPS = 64, HT_LOG = 16384, HT_CYCLE = 8, HT_LOADS = 32 };

enum ht_what { HT_STORE, HT_LOAD, HT_WRITE, HT_READ, HT_IRQ };

/* An operation of a script. The host requests the next operation `delay` after
 * the previous store was accepted or the previous load was requested. If that
 * load took the last free load number, `delay` begins at the next answer to a
 * load. A device submits the next operation `delay` after the previous one. */
struct ht_op {
	enum ht_what what;
	weft_time_t delay;
	uint64_t addr;
	uint32_t bytes;
	/* host: number of the slot, which may be empty */
	uint32_t dev;
	bool relaxed, any_order; /* read */
	bool level;		 /* interrupt */
};

struct ht_list {
	uint32_t n;
	struct ht_op op[HT_OPS];
};

struct ht_script {
	/* clocks of slots and of cores; a slot is a clock of a link of 16
	 * bits */
	struct weft_clock slot, core;
	uint32_t devices, credits, tags, depth, pio_depth, rx, tx;
	uint32_t loads, np_depth, r_depth;
	weft_time_t t_store, t_out, t_in, t_reg, t_read, t_write, t_irq;
	weft_time_t t_credit, t_bank;
	uint32_t banks;
	/* number of stores that each device can hold, or 0 for no limit */
	uint32_t window;
	/* eat: time from the note of a store to its consumption. answer: time
	 * from the note of a load to its answer. With 0 the answer is sent at
	 * once, with WEFT_NEVER no answer is sent. Stores use the times of
	 * eat[] in turn, loads those of answer[]. */
	weft_time_t eat[HT_CYCLE], answer[HT_CYCLE];
	struct ht_list host, dev[HT_DEVS];
};

struct ht_said {
	enum weft_note_kind kind;
	uint32_t port; /* 0 for the host, 1 + n for device n */
	weft_time_t time;
	uint64_t addr;
	uint32_t offset, bytes, tenures;
	enum weft_bus_status status;
	bool write, last, level;
	uint8_t first; /* first byte of the data, for STORE and LOADED */
	uint8_t load;  /* number of the load, for LOADED */
};

struct ht_log {
	uint32_t n;
	struct ht_said said[HT_LOG];
	uint64_t busy[2]; /* number of dwords on the link, down and up */
};

/* All addresses outside this hole are memory. */
#define HT_HOLE_LO 0x10000000ull
#define HT_HOLE_HI 0x10008000ull
bool ref_ht_decode(uint64_t addr, uint32_t bytes);
/* Returns the first byte of the data of the host's store i, and of the answer
 * to a device's load i. */
uint8_t ref_ht_byte(uint32_t i);

void ref_ht_run(const struct ht_script *s, struct ht_log *log);

#endif
