/* SPDX-License-Identifier: Apache-2.0 */
/* Class coh.system for tests: scripts in place of synthetic traffic, and a
 * watcher that sees every access and every transaction. */
#ifndef SYSTEMS_COHERENT_COHERENT_H
#define SYSTEMS_COHERENT_COHERENT_H

#include "systems/coherent/cache.h"
#include "systems/coherent/ddr.h"
#include "weft/sim.h"

enum { COH_CORES_MAX = 16, COH_LINE_MAX = 256 };

enum coh_delivery { COH_TO_MEMORY, COH_BY_INVALIDATE, COH_BY_UPDATE };

/* One access of a core to 1, 2, 4 or 8 bytes, naturally aligned. The core
 * issues it `gap` cycles after the end of its previous access. Bytes are
 * little-endian. */
struct coh_op {
	bool store;
	uint32_t bytes, gap;
	uint64_t addr, value;
};

/* An item that reaches the network interface at `cycle`. All its bytes lie in
 * one line. */
struct coh_item {
	uint64_t cycle;
	enum coh_delivery how;
	uint32_t target; /* cache that may allocate the line of an Update */
	uint32_t bytes;
	uint64_t addr;
	uint8_t data[COH_LINE_MAX];
};

/* A request that the interconnect has served. The four cycles are those at
 * which the request was granted, all snoopers (or the controller) had answered,
 * the requester had the data, and the interconnect was free again. */
struct coh_txn {
	/* COH_NONE if the request was no longer needed at the grant */
	enum coh_bus bus;
	uint32_t src; /* number of the core. The NI has the number after the
		       * last core */
	uint32_t bytes;
	uint64_t addr;
	uint64_t grant, snoop, data, end;
	int32_t supplier; /* number of the cache, or -1 if no cache supplies the
			     data */
	bool shared;	  /* another cache held the line */
	bool allocated;	  /* Update: the target cache allocated the line */
};

struct coh_watch {
	/* Called when an access completes. `value` is the loaded or stored
	 * value. */
	void (*op)(void *arg, uint32_t core, const struct coh_op *op,
		   uint64_t cycle, uint64_t value);
	/* Called when an item takes effect, so that loads see it from now
	 * on. */
	void (*item)(void *arg, const struct coh_item *item);
	/* Called when the interconnect is free again, before it serves the next
	 * request. */
	void (*txn)(void *arg, const struct coh_txn *t);
	void *arg;
};

/* Three functions to call between init and start. coh_system_script sets the
 * script of a core. coh_system_items sets the items that reach the network
 * interface, in order of `cycle`. coh_system_watch sets the watcher of the
 * tests. The caller owns the arrays, which must live as long as the run.
 * coh_system_script and coh_system_items return 0 or an error. */
int coh_system_script(struct weft_comp *c, uint32_t core,
		      const struct coh_op *ops, uint32_t n,
		      struct weft_err *err);
int coh_system_items(struct weft_comp *c, const struct coh_item *items,
		     uint32_t n, struct weft_err *err);
void coh_system_watch(struct weft_comp *c, const struct coh_watch *watch);

/* Returns the cache of a core, for checks of its lines. */
const struct coh_cache *coh_system_cache(const struct weft_comp *c,
					 uint32_t core);
/* Returns the bytes of DRAM. They may be older than those of a dirty line. */
const struct coh_mem *coh_system_mem(const struct weft_comp *c);

extern const struct weft_class weft_class_coh_system;

#endif
