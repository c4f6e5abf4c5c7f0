/* SPDX-License-Identifier: Apache-2.0 */
/* host.h without a simulator: nodes with memory, a clock that advances with
 * every call, and a toy FORTH NIC that executes descriptors at once. The NIC
 * records the driver's accesses for the tests. */
#ifndef FORTH_TESTS_FAKE_HOST_H
#define FORTH_TESTS_FAKE_HOST_H

#include "systems/forth/nic/regs_map.h"
#include "weft/host.h"

#define FAKE_NODES 3
#define FAKE_MEM   (4u << 20)
#define FAKE_LOG   4096

enum fake_what { FAKE_CFG, FAKE_REG, FAKE_SLOT, FAKE_FENCE };

struct fake_access {
	enum fake_what what;
	uint32_t off, size;
	uint64_t val;
};

struct weft_dev {
	struct weft_host *host;
};

struct weft_host {
	uint32_t node, nodes;
	struct weft_dev dev;
	uint8_t *mem;
	uint32_t used;
	weft_phys_t base;
	weft_time_t now;
	/* the toy NIC */
	uint32_t cfg[64], reg[256];
	uint64_t slot[1024][2];
	uint32_t queues, head[8], departed[8], rnotify;
	/* false: released descriptors stay in their slots */
	bool running;
	uint32_t tail[8], pending[8];
	uint32_t lose; /* transfers of the NIC still to be lost */
	bool irq;      /* interrupt flag */
	/* record */
	struct fake_access log[FAKE_LOG];
	uint32_t n_log;
	uint64_t io_loads;
};

/* Makes `nodes` nodes on one network. queues is 1, 2, 4 or 8. */
void fake_start(struct weft_host *h, uint32_t nodes, uint32_t queues);
void fake_stop(struct weft_host *h, uint32_t nodes);
/* Executes the released descriptors. */
void fake_run(struct weft_host *h);

#endif
