/* SPDX-License-Identifier: Apache-2.0 */
/* One coherent data cache: lines with real bytes, MESI states, and the event
 * table of forth.md 9 as data. The cache has no clock. net.c and core.c call
 * its functions at the right cycle. */
#ifndef SYSTEMS_COHERENT_CACHE_H
#define SYSTEMS_COHERENT_CACHE_H

#include "weft/types.h"

enum coh_state { COH_I, COH_S, COH_E, COH_M, COH_STATES };

/* Requests on the interconnect. Those below COH_SNOOPED are broadcast. */
enum coh_bus {
	COH_RD,	  /* BusRd */
	COH_RDX,  /* BusRdX */
	COH_UPGR, /* BusUpgr */
	/* update every cache that holds the line, and memory */
	COH_UPDATE,
	COH_WRITE, /* write memory and invalidate, snooped like BusRdX */
	COH_SNOOPED,
	/* a read that only the memory controller answers */
	COH_MEM_RD = COH_SNOOPED,
	COH_MEM_WR,
	COH_NONE, /* no request is needed, because the access hits */
	COH_BUSES = COH_NONE
};
extern const char *const coh_state_name[COH_STATES];
extern const char *const coh_bus_name[COH_BUSES + 1];

/* ---- the event table ---- */

struct coh_local {
	/* request that must be made on the interconnect first */
	enum coh_bus bus;
	/* next state. After BusRd it is S if other caches hold a copy */
	enum coh_state next;
};
/* Returns the entry of the event table for a local access. */
struct coh_local coh_on_local(bool write, enum coh_state s);

enum coh_act {
	COH_SUPPLY = 1, /* the cache sends the line to the requester */
	/* the cache may supply the line, because its copy equals memory */
	COH_MAY_SUPPLY = 2,
	COH_WRITE_BACK = 4, /* memory stores the line, too */
	COH_MERGE = 8, /* the bytes of the Update are written into the line */
	COH_ALLOCATE = 16, /* the cache allocates the line, if so configured */
};
struct coh_snoop {
	enum coh_state next;
	uint32_t act; /* enum coh_act */
};

/* ---- the cache ---- */

struct coh_line {
	uint64_t addr; /* address of the first byte */
	uint64_t used; /* larger for a more recent use */
	uint8_t *data;
	enum coh_state state;
};

struct coh_cache {
	uint32_t line, ways, sets;
	uint64_t tick;
	struct coh_line *lines; /* sets x ways */
	uint8_t *data;
};

/* Allocates the lines. The sizes and the number of sets must be powers of two
 * (asserted). Returns false if memory runs out. */
bool coh_cache_init(struct coh_cache *c, uint64_t bytes, uint32_t line,
		    uint32_t ways);
void coh_cache_fini(struct coh_cache *c);

/* Returns the line that holds addr, or NULL. Its state is never I. */
struct coh_line *coh_cache_find(const struct coh_cache *c, uint64_t addr);
/* Makes a local access. On a hit, changes the state of the line, marks the line
 * as used last, and returns COH_NONE with the line in *line_p. Otherwise
 * changes nothing and returns the request that the access needs. */
enum coh_bus coh_cache_local(struct coh_cache *c, uint64_t addr, bool write,
			     struct coh_line **line_p);
/* Reacts to a request of another cache. Writes `bytes` bytes of an Update at
 * addr into the line. If the cache held the line, copies its bytes to `copy`,
 * because the cache may have to supply them. Sets *was_p to the state before
 * the request. Returns the actions. */
struct coh_snoop coh_cache_snoop(struct coh_cache *c, enum coh_bus bus,
				 uint64_t addr, const uint8_t *update,
				 uint32_t bytes, uint8_t *copy,
				 enum coh_state *was_p);
/* Returns the line in which to store addr: an invalid one, otherwise the least
 * recently used one. */
struct coh_line *coh_cache_victim(struct coh_cache *c, uint64_t addr);
/* Empties a line. Returns true if it was dirty. Its bytes are then in `copy`,
 * and the caller must write them back. */
bool coh_cache_evict(struct coh_cache *c, struct coh_line *l, uint8_t *copy);
/* Fills an invalid line that coh_cache_victim() returned. No other line may
 * hold addr. */
void coh_cache_install(struct coh_cache *c, struct coh_line *l, uint64_t addr,
		       enum coh_state state, const uint8_t *data);
/* Ends a BusUpgr. Returns the line, into which the core may now write. */
struct coh_line *coh_cache_upgrade(struct coh_cache *c, uint64_t addr);

#endif
