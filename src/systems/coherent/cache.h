/* SPDX-License-Identifier: Apache-2.0 */
/* One coherent data cache: lines with real bytes, MESI states, and the event
 * table of forth.md 9 as data.  No time here: see net.c and core.c. */
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
	COH_NONE, /* nothing needed: a hit */
	COH_BUSES = COH_NONE
};
const char *coh_state_name(enum coh_state s);
const char *coh_bus_name(enum coh_bus b);

/* ---- the event table ---- */

struct coh_local {
	enum coh_bus bus;    /* what must go on the interconnect first */
	enum coh_state next; /* BusRd: S instead when others hold a copy */
};
struct coh_local coh_on_local(bool write, enum coh_state s);

enum coh_act {
	COH_SUPPLY = 1,	    /* sends the line to the requester */
	COH_MAY_SUPPLY = 2, /* could: any copy is as good as memory */
	COH_WRITE_BACK = 4, /* memory takes the line too */
	COH_MERGE = 8,	    /* bytes of the Update go into the line */
	COH_ALLOCATE = 16,  /* takes the line in, if so configured */
};
struct coh_snoop {
	enum coh_state next;
	uint32_t act; /* enum coh_act */
};
struct coh_snoop coh_on_snoop(enum coh_bus bus, enum coh_state s);

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

/* Sizes are powers of two (sets too, asserted). False: no memory. */
bool coh_cache_init(struct coh_cache *c, uint64_t bytes, uint32_t line,
		    uint32_t ways);
void coh_cache_fini(struct coh_cache *c);

/* The line that holds addr, or NULL; state is never I. */
struct coh_line *coh_cache_find(const struct coh_cache *c, uint64_t addr);
/* A local access: on a hit, changes state and use and gives COH_NONE and the
 * line; otherwise changes nothing and says what the access needs. */
enum coh_bus coh_cache_local(struct coh_cache *c, uint64_t addr, bool write,
			     struct coh_line **line_p);
/* Reacts to another's request.  Merges `bytes` bytes of an Update at addr.
 * Copies the line to copy when it held it (for those who supply). */
struct coh_snoop coh_cache_snoop(struct coh_cache *c, enum coh_bus bus,
				 uint64_t addr, const uint8_t *update,
				 uint32_t bytes, uint8_t *copy,
				 enum coh_state *was_p);
/* The place for addr: an invalid one, else the least recently used. */
struct coh_line *coh_cache_victim(struct coh_cache *c, uint64_t addr);
/* Empties a place; true when it was dirty: its bytes are in copy. */
bool coh_cache_evict(struct coh_cache *c, struct coh_line *l, uint8_t *copy);
void coh_cache_install(struct coh_cache *c, struct coh_line *l, uint64_t addr,
		       enum coh_state state, const uint8_t *data);
/* BusUpgr is through. */
struct coh_line *coh_cache_upgrade(struct coh_cache *c, uint64_t addr);

#endif
