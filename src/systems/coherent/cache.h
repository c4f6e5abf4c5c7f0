/* SPDX-License-Identifier: Apache-2.0 */
/* One coherent data cache: lines with real bytes, MESI states, and the event
 * table of forth.md 9 as data. It does not know time: see net.c and core.c. */
#ifndef SYSTEMS_COHERENT_CACHE_H
#define SYSTEMS_COHERENT_CACHE_H

#include "weft/types.h"

enum coh_state { COH_I, COH_S, COH_E, COH_M, COH_STATES };

/* Requests on the interconnect.  The first COH_SNOOPED are broadcast. */
enum coh_bus {
	COH_RD,	    /* BusRd */
	COH_RDX,    /* BusRdX */
	COH_UPGR,   /* BusUpgr */
	COH_UPDATE, /* Update: into caches that hold the line, and memory */
	COH_WRITE,  /* write memory and invalidate: snooped as BusRdX */
	COH_SNOOPED,
	COH_MEM_RD = COH_SNOOPED, /* to the memory controller alone */
	COH_MEM_WR,
	COH_NONE, /* nothing needed, because it hits */
	COH_BUSES = COH_NONE
};
extern const char *const coh_state_name[COH_STATES];
extern const char *const coh_bus_name[COH_BUSES + 1];

/* ---- the event table ---- */

struct coh_local {
	enum coh_bus bus;    /* request that must go on the interconnect
			      * first */
	enum coh_state next; /* BusRd: S instead when other caches hold a
			      * copy */
};
/* Returns the entry of the event table for a local access. */
struct coh_local coh_on_local(bool write, enum coh_state s);

enum coh_act {
	COH_SUPPLY = 1,	    /* sends the line to the requester */
	COH_MAY_SUPPLY = 2, /* could, because any copy is as good as memory */
	COH_WRITE_BACK = 4, /* memory takes the line too */
	COH_MERGE = 8,	    /* bytes of the Update go into the line */
	COH_ALLOCATE = 16,  /* takes the line in, if so configured */
};
struct coh_snoop {
	enum coh_state next;
	uint32_t act; /* enum coh_act */
};

/* ---- the cache ---- */

struct coh_line {
	uint64_t addr; /* of the first byte */
	uint64_t used; /* larger = more recently */
	uint8_t *data;
	enum coh_state state;
};

struct coh_cache {
	uint32_t line, ways, sets;
	uint64_t tick;
	struct coh_line *lines; /* sets x ways */
	uint8_t *data;
};

/* Allocates the lines. Sizes are powers of two (sets too, asserted). Returns
 * false when there is no memory. */
bool coh_cache_init(struct coh_cache *c, uint64_t bytes, uint32_t line,
		    uint32_t ways);
void coh_cache_fini(struct coh_cache *c);

/* Returns the line that holds addr, or NULL. Its state is never I. */
struct coh_line *coh_cache_find(const struct coh_cache *c, uint64_t addr);
/* Makes a local access. On a hit, changes state and use, and returns COH_NONE
 * with the line in *line_p. Otherwise changes nothing and returns the request
 * that the access needs. */
enum coh_bus coh_cache_local(struct coh_cache *c, uint64_t addr, bool write,
			     struct coh_line **line_p);
/* Reacts to a request of another cache. Merges `bytes` bytes of an Update at
 * addr. Copies the line to `copy` when the cache held it, because the cache may
 * have to supply it. Returns the actions, with the state before in *was_p. */
struct coh_snoop coh_cache_snoop(struct coh_cache *c, enum coh_bus bus,
				 uint64_t addr, const uint8_t *update,
				 uint32_t bytes, uint8_t *copy,
				 enum coh_state *was_p);
/* Returns the line to use for addr: an invalid one, otherwise the least
 * recently used. */
struct coh_line *coh_cache_victim(struct coh_cache *c, uint64_t addr);
/* Empties a line. Returns true when it was dirty: its bytes are then in `copy`,
 * and the caller must write them back. */
bool coh_cache_evict(struct coh_cache *c, struct coh_line *l, uint8_t *copy);
/* Fills an invalid line that coh_cache_victim() gave. No other line holds
 * addr. */
void coh_cache_install(struct coh_cache *c, struct coh_line *l, uint64_t addr,
		       enum coh_state state, const uint8_t *data);
/* Ends a BusUpgr. Returns the line, which the core may now write. */
struct coh_line *coh_cache_upgrade(struct coh_cache *c, uint64_t addr);

#endif
