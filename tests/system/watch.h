/* SPDX-License-Identifier: Apache-2.0 */
/* Observers of a multipath run: packets sent, packets arrived, groups notified.
 * See watch.c. */
#ifndef TESTS_SYSTEM_WATCH_H
#define TESTS_SYSTEM_WATCH_H

#include "weft/bus.h"

enum { WATCH_NODES = 8, WATCH_LINKS = 4, WATCH_READS = 64 };
#define WATCH_NEVER UINT64_MAX

/* A packet from one source to one destination. */
struct watch_pkt {
	uint64_t hdr;
	/* past: bus clock (pc) at which the packet is in memory or known to be
	 * lost, or WATCH_NEVER before that time */
	uint64_t past;
	uint8_t path;
	bool came, lost, told; /* told: the packet's group has been notified */
};

/* Packets from one source to this node, in the order of sending. Packets that
 * later checks no longer need are removed. A packet's number counts the packets
 * of this source from the start of the run. */
struct watch_stream {
	struct watch_pkt *ring;
	uint64_t front, end, mask; /* front, end: numbers of packets */
	uint64_t at[WATCH_LINKS]; /* number of the next packet to arrive on each
				   * path */
	uint32_t count[WATCH_LINKS]; /* number of packets sent on each path */
	/* bus clock at which the last packet before `front` was in memory or
	 * known to be lost */
	uint64_t past;
	/* true if a packet was lost since the latest notification */
	bool loss;
};

/* A notification that is allowed and has not been written yet. */
struct watch_due {
	uint64_t may; /* bus clock from which the notification is allowed */
	bool loss;
	uint8_t src;
};

/* A packet that has arrived and waits to be written. */
struct watch_wait {
	uint64_t number;
	uint8_t src;
};

#define WATCH_FIFO(type)                                                       \
	struct {                                                               \
		type *at;                                                      \
		uint32_t head, n, cap;                                         \
	}

enum watch_op { WATCH_NONE, WATCH_PACKET, WATCH_REMOTE, WATCH_LOCAL };

/* Bus clocks `from` to `to` - 1, in which the NIC's engine cannot start a
 * write. */
struct watch_busy {
	uint64_t from, to;
};

struct watch {
	/* parameters */
	uint32_t t_desc, t_upd;
	bool groups;
	/* state */
	struct weft_comp *comp, *nic;
	struct weft_clock pci;
	struct watch_stream stream[WATCH_NODES];
	WATCH_FIFO(struct watch_wait) fifo[WATCH_LINKS];
	WATCH_FIFO(struct watch_due) due[WATCH_NODES];
	enum watch_op op; /* kind of the latest write */
	struct watch_wait writing;
	const struct weft_bus_txn *write; /* write in progress */
	uint64_t done; /* bus clock at the end of the latest write */
	struct watch_busy busy[WATCH_READS];
	uint32_t n_busy;
	uint32_t notes; /* number of remote notifications so far */
	uint64_t wait_max, failures;
};

enum {
	WATCH_C_PACKETS,
	WATCH_C_NOTES,
	WATCH_C_LOST,
	WATCH_C_FOUND,
	WATCH_C_FLAGGED,
	WATCH_C_AT_ONCE,
	WATCH_C_N
};

/* watch_bus.c: returns the observer of node `node`, or NULL. */
struct watch *watch_of(struct weft_sim *sim, uint32_t node);
/* Records that a packet has left its source through `path`. */
void watch_sent(struct watch *w, uint32_t src, uint32_t path, uint64_t hdr);
/* Records that the header of a packet will be checked at bus clock pc. */
void watch_heard(struct watch *w, uint32_t path, uint64_t hdr, uint64_t pc);
/* Reports a failure. Only the first few are printed. */
void watch_fail(struct watch *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* watch_order.c: notifications that the order of sending allows.
 * watch_advance() finds the notifications that are allowed at bus clock pc,
 * because all earlier packets of the source are in memory or lost. */
void watch_advance(struct watch *w, uint64_t pc);
struct watch_pkt *watch_pkt(struct watch_stream *s, uint64_t number);

/* watch_group.c: a NIC with completion=count counts the packets of a group
 * (forth.md 7.7). Returns true if this packet announces how many packets its
 * group has. */
static inline bool watch_announces(const struct watch *w, uint64_t hdr)
{
	return w->groups && hdr >> 48 & 1;
}
/* Records that a group was notified at bus clock pc. */
void watch_group(struct watch *w, uint32_t src, uint32_t group, uint64_t pc);
/* Returns the number of packets whose group has not been notified. */
uint64_t watch_group_left(const struct watch *w);

extern const struct weft_class weft_class_watch_bus;

#define WATCH_PUSH(q, value)                                                   \
	do {                                                                   \
		if ((q)->n == (q)->cap)                                        \
			watch_grow((void **)&(q)->at, &(q)->head, &(q)->cap,   \
				   sizeof(*(q)->at));                          \
		(q)->at[((q)->head + (q)->n++) & ((q)->cap - 1)] = (value);    \
	} while (0)
#define WATCH_FRONT(q) ((q)->at[(q)->head])
#define WATCH_POP(q)   ((q)->n--, (q)->head = ((q)->head + 1) & ((q)->cap - 1))
void watch_grow(void **at, uint32_t *head, uint32_t *cap, size_t size);

#endif
