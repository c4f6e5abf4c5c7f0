/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the HyperTransport bus: class and lifetime (ht.c), the two
 * directions of a link (ht_link.c), accesses of the host (ht_pio.c),
 * transactions of devices (ht_dma.c).
 *
 * All times are numbers of slots; a slot is the time of 4 bytes on the link.
 * Decisions for slot d are computed 1 fs after that slot begins, when all
 * requests of d are known, so that the outcome does not depend on the order of
 * components. A decision becomes visible at slot d + 1 or later. */
#ifndef HOST_HT_H
#define HOST_HT_H

#include "host/ht_head.h"
#include "host/pio.h"

#define HT_NEVER UINT64_MAX

/* bytes of data in the longest packet, bytes of the block that a mask covers */
enum { HT_LINE = 64, HT_BLOCK = 32 };
enum { HT_TAGS = 32 };

/* Bytes in front of the data (EXTOLL specification 2.1, 2.2). */
enum { HT_REQUEST = 8, HT_MASK = 4, HT_RESPONSE = 4 };
/* Bytes in front of the data of tagged accesses (Host Port specification 10.1):
 * header and address of a request, its condition, header of an answer. */
enum { HT_TAGGED = 16, HT_COND = 8, HT_ANSWERED = 8 };

/* HT_DOWN: from the host, HT_UP: to the host */
enum ht_dir { HT_DOWN, HT_UP, HT_DIRS };
enum ht_vc { HT_POSTED, HT_NONPOSTED, HT_ANSWER, HT_VCS }; /* P, NP, R */

enum {
	HT_C_STORES,
	HT_C_STORE_BYTES,
	HT_C_HELD,
	HT_C_LOADS,
	HT_C_LOADS_HELD,
	HT_C_ANSWER_WAITS,
	HT_C_WRITES,
	HT_C_WRITE_BYTES,
	HT_C_MASKED,
	HT_C_READS,
	HT_C_READ_BYTES,
	HT_C_TAG_WAITS,
	HT_C_IRQS,
	HT_C_ABORTS,
	HT_C_DOWN_BUSY,
	HT_C_UP_BUSY,
	HT_C_TAGGED,
	HT_C_N
};

/* Element of a queue: a packet, or a device's transaction, which is cut into
 * packets when they are sent. */
struct ht_pkt {
	struct ht_pkt *next;
	uint64_t ready; /* first slot at which it may be on the link */
	uint64_t seq;	/* order of requests */
	struct weft_bus_txn *txn; /* NULL: access of the host, or interrupt */
	/* offset and size of the packet's part of the transaction, in bytes */
	uint32_t at, bytes;
	/* Read: slot at which the answer to the transaction's previous packet
	 * is ready. Load: slot at which the load arrived at the core. */
	uint64_t after;
	uint8_t tag; /* source tag of an answer */
	bool level, relaxed, error;
	/* load: number of earlier stores that still wait at the device */
	uint32_t behind;
	struct pio io; /* access of the host */
};

struct ht_queue {
	struct ht_pkt *head, *tail;
	uint32_t n;
};

/* A ring of n items (buffers of the receiver, or tags), which are allocated and
 * freed in order. */
struct ht_ring {
	/* slot from which each item is free, or NULL if all are free */
	uint64_t *back;
	uint64_t used; /* number of items taken so far */
};

/* Unanswered reads of the device, by source tag. */
struct ht_reads {
	struct ht_read {
		struct weft_bus_txn *txn;
		uint32_t at, bytes;
	} of[HT_TAGS];
	/* Slot from which each tag is free, because answers come in any
	 * order. */
	uint64_t back[HT_TAGS];
};

struct ht_lane {
	struct ht_queue queue[HT_VCS];
	struct ht_ring credit[HT_VCS];
	uint64_t free_at;
	struct weft_timer decide;
	uint32_t last; /* queue that was served last */
	/* Header and mask of a device's packet on the link. */
	uint8_t head[8];
	uint32_t mask;
};

/* The load that a device has to answer. The device is notified of the next load
 * after the answer. The load's packet carries the answer back. */
struct ht_load {
	bool told, deferred,
		late;  /* late: the bridge had no room for the answer */
	uint64_t from; /* slot at which the last load left the core's queue */
};

struct ht_link {
	struct weft_port *port;
	struct ht_lane lane[HT_DIRS];
	struct ht_ring tag;	/* source tags, if answers come in order */
	struct ht_reads *reads; /* allocated by the first read */
	/* number of transactions so far that needed several packets */
	uint64_t sequences;
	uint64_t seq;
	/* at the bridge */
	weft_time_t commit; /* time at which all writes so far are in memory */
	uint64_t answered;  /* slot of the last answer of memory */
	uint64_t store_until; /* end slot of the store on the link */
	uint64_t store_seq;   /* number of that store */
	/* at the device */
	/* number of the device's slots for stores, and number of free slots
	 * (weft_bus_window); 0 and 1 if the device sets no limit */
	uint32_t window, places;
	struct ht_queue wait; /* stores that wait for a free slot */
	/* slot of the last store that the device was notified of */
	uint64_t told;
	bool tagged; /* the device takes tagged accesses */
	/* loads of the host; the device is notified of the first one only */
	struct ht_queue loads;
	struct ht_load load; /* the load that the device was notified of */
};

struct ht {
	/* parameters */
	struct weft_clock clock, core;
	uint32_t width, devices, credits, tags, depth, np_depth, r_depth;
	uint32_t pio_depth, banks, loads;
	uint32_t rx, tx;
	weft_time_t t_store, t_out, t_in, t_reg, t_read, t_write, t_irq;
	weft_time_t t_credit, t_bank;
	/* state */
	struct weft_comp *comp;
	struct weft_port *host;
	struct weft_clock slot;
	/* the parameters rx, tx, t_reg and t_credit in slots */
	uint32_t s_rx, s_tx, s_reg, s_credit;
	/* number of the host's accesses so far */
	uint64_t seq;
	struct ht_link *link; /* one link for each device */
	uint32_t n_loads;     /* unanswered loads of the host */
	struct ht_pkt *unused;
};

static inline weft_time_t ht_time(const struct ht *b, uint64_t slot)
{
	return weft_clock_edge(&b->slot, slot);
}

/* Returns the first slot that begins now or later. */
static inline uint64_t ht_slot_next(const struct ht *b)
{
	return weft_clock_cycle(&b->slot, weft_now(b->comp));
}

/* Returns the slot nearest to t, because processor and link do not run in
 * step. */
static inline uint64_t ht_slot_near(const struct ht *b, weft_time_t t)
{
	weft_time_t half = b->slot.num / b->slot.den / 2;

	return weft_clock_cycle(&b->slot, t > half ? t - half : 0);
}

static inline uint32_t ht_link_number(const struct ht *b,
				      const struct ht_link *l)
{
	return (uint32_t)(l - b->link);
}

/* Returns the number of slots that `bytes` bytes at addr occupy on the link,
 * where only whole dwords are sent. */
static inline uint32_t ht_dwords(uint64_t addr, uint32_t bytes)
{
	return (uint32_t)((addr % 4 + bytes + 3) / 4);
}

static inline uint64_t ht_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ht.c */
/* Returns a zeroed packet. Does not return if memory runs out. */
struct ht_pkt *ht_pkt_new(struct ht *b);

static inline void ht_pkt_free(struct ht *b, struct ht_pkt *p)
{
	p->next = b->unused;
	b->unused = p;
}

/* Returns the link of slot `dev`, or NULL if it has no device. */
static inline struct ht_link *ht_link_of(struct ht *b, uint32_t dev)
{
	return dev < b->devices && b->link[dev].port->peer ? &b->link[dev]
							   : NULL;
}

static inline struct ht_link *ht_link_dev(struct weft_port *dev_port,
					  struct ht **b_p)
{
	struct weft_port *p = dev_port->peer;

	*b_p = p->comp->state;
	return &(*b_p)->link[p->index - 1];
}

/* ht_link.c */
static inline void ht_queue_push(struct ht_queue *q, struct ht_pkt *p)
{
	p->next = NULL;
	if (q->head)
		q->tail->next = p;
	else
		q->head = p;
	q->tail = p;
	q->n++;
}

static inline struct ht_pkt *ht_queue_pop(struct ht_queue *q)
{
	struct ht_pkt *p = q->head;

	q->head = p->next;
	q->n--;
	return p;
}

/* Inserts a packet before the first packet that is ready later. */
void ht_queue_insert(struct ht_queue *q, struct ht_pkt *p);
/* Frees all packets of a queue. */
void ht_queue_clear(struct ht *b, struct ht_queue *q);
/* Returns the slot from which one of the ring's n items is free. */
static inline uint64_t ht_ring_slot(const struct ht_ring *r, uint32_t n)
{
	return r->back ? r->back[r->used % n] : 0;
}

/* Allocates the next item and returns its number. The item is free again from
 * slot `back`. If `back` is HT_NEVER, ht_ring_back sets the slot later. */
uint64_t ht_ring_take(struct ht_ring *r, uint32_t n, uint64_t back);
/* Sets the slot from which item number `which` is free. The item was allocated
 * with HT_NEVER. */
void ht_ring_back(struct ht_ring *r, uint32_t n, uint64_t which, uint64_t back);
/* ht_tag_slot returns the slot from which a source tag is free, ht_tag_take
 * allocates a tag, ht_tag_back frees it. With several banks of memory, answers
 * arrive in any order, so the lowest free tag is used. */
uint64_t ht_tag_slot(const struct ht *b, const struct ht_link *l);
uint8_t ht_tag_take(struct ht *b, struct ht_link *l, uint64_t d);
void ht_tag_back(struct ht *b, struct ht_link *l, uint8_t tag, uint64_t back);
/* Occupies the link for `slots` slots from d on. Returns the first slot after
 * them. */
uint64_t ht_occupy(struct ht *b, struct ht_link *l, enum ht_dir dir, uint64_t d,
		   uint32_t slots);
/* Plans the next decision of a direction. */
void ht_kick(struct ht *b, struct ht_link *l, enum ht_dir dir);
/* Sends the packet that the rules select at this slot, if there is one. */
void ht_decide(struct ht *b, struct ht_link *l, enum ht_dir dir);

/* Sends the head of a queue at slot d. */
typedef void (*ht_send_fn)(struct ht *b, struct ht_link *l, uint64_t d);
/* ht_pio.c */
/* Functions of type ht_send_fn for stores of the host, loads of the host and
 * answers of devices. */
void ht_store_send(struct ht *b, struct ht_link *l, uint64_t d);
void ht_load_send(struct ht *b, struct ht_link *l, uint64_t d);
void ht_loaded_send(struct ht *b, struct ht_link *l, uint64_t d);
/* ht_dma.c */
/* Functions of type ht_send_fn for writes of a device, reads of a device and
 * answers of memory. */
void ht_write_send(struct ht *b, struct ht_link *l, uint64_t d);
void ht_read_send(struct ht *b, struct ht_link *l, uint64_t d);
void ht_answer_send(struct ht *b, struct ht_link *l, uint64_t d);

/* For weft_bus_ops. */
bool ht_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
	      uint64_t off, const void *data, uint32_t bytes);
void ht_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
	     uint64_t off, uint32_t bytes);
void ht_load_as(struct weft_port *host_port, uint32_t number, uint32_t dev,
		uint8_t space, uint64_t off, uint32_t bytes);
void ht_reply(struct weft_port *dev_port, const void *data, uint32_t bytes);
void ht_refuse(struct weft_port *dev_port);
bool ht_tagged(struct weft_port *host_port, uint32_t dev,
	       const struct weft_bus_tagged *r);
bool ht_takes_tagged(struct weft_port *dev_port);
void ht_tagged_reply(struct weft_port *dev_port, const void *data,
		     uint32_t bytes, bool status);
bool ht_defer(struct weft_port *dev_port);
/* Answers a load 1 fs after the device was notified of the load, unless the
 * device has answered. */
void ht_unanswered(struct ht *b, struct ht_link *l);
/* More operations of weft_bus_ops. */
bool ht_window(struct weft_port *dev_port, uint32_t stores);
bool ht_consumed(struct weft_port *dev_port, uint32_t stores);
void ht_submit(struct weft_port *dev_port, struct weft_bus_txn *t);
void ht_irq(struct weft_port *dev_port, bool asserted);

#endif
