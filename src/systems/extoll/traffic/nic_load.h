/* SPDX-License-Identifier: Apache-2.0 */
/* State and internal functions of extoll.load: nic_load.c (tables, the bus,
 * arrivals), nic_load_source.c (set-up of the NIC, messages). */
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
	LOAD_DEPTH = 16, /* most stores in flight */
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
	/* state, in the order of use by a message: */
	struct weft_comp *comp;
	struct weft_port *dev;
	/* Times from which the link is free, towards the NIC and towards the
	 * host. */
	weft_time_t down_free, up_free;
	weft_time_t last; /* time at which the last store arrives at the NIC */
	/* arrival of a store of the read pointer; 0 = none */
	weft_time_t rp_at;
	uint64_t stamp;	 /* first word of the message that is being received */
	uint32_t ends;	 /* bit i: store i in flight ends a message */
	uint8_t out;	 /* stores in flight */
	uint8_t step;	 /* number of set-up stores made */
	uint32_t next;	 /* next slot of the mailbox to read */
	uint32_t behind; /* free slots not reported to the NIC */
	uint64_t last_sent;
	/* sum of latencies in ns, only without extoll.net */
	double latency_sum;
	/* parameters: */
	struct weft_clock core;
	weft_time_t t_store, t_dword, t_rx, t_tx, t_seen;
	uint32_t depth, slots, lazy, size, size_max;
};

/* Data for the receiver, in the first eight bytes of a message. */
#define LOAD_STAMP(born, wait, marked)                                         \
	((uint64_t)(born) << 24 | (uint64_t)(wait) << 1 | (marked))
#define LOAD_BORN(s)   ((s) >> 24)
#define LOAD_WAIT(s)   ((uint32_t)((s) >> 1) & LOAD_WAIT_MAX)
#define LOAD_MARKED(s) ((bool)((s)&1))
enum { LOAD_WAIT_MAX = 0x7fffff };

/* Returns word k of a message's payload. Word 0 is LOAD_STAMP. The others
 * depend on source and destination, so that misrouted messages are found. */
static inline uint64_t extoll_load_word(uint64_t stamp, uint32_t src,
					uint32_t dest, uint32_t k)
{
	uint64_t z = stamp ^ ((uint64_t)src << 48 | (uint64_t)dest << 32 | k);

	z *= 0x9E3779B97F4A7C15ull;
	return z ^ z >> 29;
}

/* nic_load_source.c: starts the source (ops.start). Returns 0, or -EINVAL with
 * a message. */
int extoll_load_src_start(struct extoll_load *l, struct weft_err *err);
/* Makes stores while the NIC has room. Called when the NIC has consumed
 * stores. */
void extoll_load_src_next(struct extoll_load *l);
/* Operation net_source_ops.starves. */
bool extoll_load_src_starves(const struct weft_comp *c, uint64_t before);
/* Stores the read pointer at time t: all slots up to l->next are free. */
void extoll_load_src_rp(struct extoll_load *l, weft_time_t t);

#endif
