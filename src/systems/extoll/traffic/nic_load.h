/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of class extoll.load: nic_load.c (tables, the bus, what arrives),
 * nic_load_source.c (set-up of the NIC, messages of its own making). */
#ifndef SYSTEMS_EXTOLL_TRAFFIC_NIC_LOAD_H
#define SYSTEMS_EXTOLL_TRAFFIC_NIC_LOAD_H

#include "systems/extoll/nic/regs_map.h"
#include "systems/extoll/traffic/source.h"
#include "weft/bus.h"

enum {
	LOAD_VPID = 0,
	LOAD_PD = 1,
	LOAD_BOX = 0x10000000, /* mailbox, physical address */
	LOAD_WORDS = EXTOLL_VELO_LEN_MAX_R2 / 8,
	LOAD_DEPTH = 16, /* stores on their way, at most */
};

enum {
	LOAD_SENT,
	LOAD_RECEIVED,
	LOAD_BYTES,
	LOAD_WRONG,
	LOAD_CORRUPT,
	LOAD_STRAY,
	LOAD_RP,
	LOAD_BACKLOG,
	LOAD_N_COUNTERS
};

struct extoll_load {
	struct extoll_source s;
	/* run; what a message touches first */
	struct weft_comp *comp;
	struct weft_port *dev;
	weft_time_t down_free, up_free; /* the two directions of the link */
	weft_time_t last;		/* store told last reaches the NIC */
	weft_time_t rp_at; /* store of the read pointer does; 0 = none */
	uint64_t stamp;	   /* first part of a message of two */
	uint32_t ends;	   /* bit of each store on its way: ends a message */
	uint8_t out;	   /* stores on their way */
	uint8_t step;	   /* of the set-up */
	uint32_t next;	   /* slot of the mailbox */
	uint32_t behind;   /* slots free that the NIC does not know of */
	uint64_t last_sent;
	double latency_sum; /* ns; without a network that measures */
	/* parameters */
	struct weft_clock core;
	weft_time_t t_store, t_dword, t_rx, t_tx, t_seen;
	uint32_t depth, slots, lazy, size, size_max;
};

/* What the receiver must know of a message, in its first eight bytes. */
#define LOAD_STAMP(born, wait, marked)                                         \
	((uint64_t)(born) << 24 | (uint64_t)(wait) << 1 | (marked))
#define LOAD_BORN(s)   ((s) >> 24)
#define LOAD_WAIT(s)   ((uint32_t)((s) >> 1) & LOAD_WAIT_MAX)
#define LOAD_MARKED(s) ((bool)((s)&1))
enum { LOAD_WAIT_MAX = 0x7fffff };

/* Word k of the payload behind that: source and destination are in it. */
static inline uint64_t extoll_load_word(uint64_t stamp, uint32_t src,
					uint32_t dest, uint32_t k)
{
	uint64_t z = stamp ^ ((uint64_t)src << 48 | (uint64_t)dest << 32 | k);

	z *= 0x9E3779B97F4A7C15ull;
	return z ^ z >> 29;
}

/* nic_load_source.c */
int extoll_load_src_start(struct extoll_load *l, struct weft_err *err);
/* One more store may go to the NIC. */
void extoll_load_src_next(struct extoll_load *l);
bool extoll_load_src_starves(const struct weft_comp *c, uint64_t before);
/* All slots up to l->next are free again, from time t on. */
void extoll_load_src_rp(struct extoll_load *l, weft_time_t t);

#endif
