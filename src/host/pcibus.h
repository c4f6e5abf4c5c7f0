/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by bus.pcix (pcix.c) and bus.pci (pci.c): arbiter and lifetime
 * (pcibus.c), writes of devices (pcibus_dma.c), accesses of the host
 * (pcibus_pio.c).
 *
 * All times are numbers of bus clock edges. A request asserted at edge r takes
 * part in every arbitration at an edge >= r. The arbitration of edge d is
 * computed 1 fs after that edge, when all requests of the edge are known, so
 * that the outcome does not depend on the order of components. Its decision
 * becomes visible at edge d + 1 or later. Only the paths between processor and
 * bus, and between bridge and memory, take times that are not whole clocks. */
#ifndef HOST_PCIBUS_H
#define HOST_PCIBUS_H

#include "host/pio.h"

#define PCIBUS_NEVER UINT64_MAX

/* Masters, in the order of the round robin. */
enum {
	PCIBUS_M_PIO,	     /* bridge: loads and stores of the host */
	PCIBUS_M_COMPLETION, /* bridge: split completions */
	/* two for each device: its writes, its read requests */
	PCIBUS_M_DEVICES,
};

enum {
	PCIBUS_C_BUSY,
	PCIBUS_C_STORES,
	PCIBUS_C_STORE_BYTES,
	PCIBUS_C_LOADS,
	PCIBUS_C_COMPLETIONS,
	PCIBUS_C_READS,
	PCIBUS_C_WRITES,
	PCIBUS_C_READ_BYTES,
	PCIBUS_C_WRITE_BYTES,
	PCIBUS_C_DISCONNECTS,
	PCIBUS_C_TIMER_CUTS,
	PCIBUS_C_ABORTS,
	PCIBUS_C_N,
	/* Further counters of bus.pci. */
	PCIBUS_C_TAGGED = PCIBUS_C_N,
	PCIBUS_C_RETRIES,
	PCIBUS_C_WAITS,
	PCIBUS_C_DISCARDS,
	PCIBUS_C_PCI_N
};

enum { PCIBUS_EV_DECIDE, PCIBUS_EV_LOADED, PCIBUS_EV_BLOCK, PCIBUS_EV_N };

enum pcibus_op { PCIBUS_STORE, PCIBUS_LOAD, PCIBUS_COND };

/* An access of the host. A conditional store waits for its answer like a
 * load. */
struct pcibus_pio {
	enum pcibus_op op;
	uint32_t retries;
	uint64_t ready;
	struct pio io;
};

/* A delayed read at the bridge (bus.pci). */
struct pcibus_delayed {
	uint64_t ready; /* edge from which the bridge has the bytes */
	uint32_t until; /* offset in the transaction up to which the bridge has
			 * the bytes */
};

struct pcibus_dev {
	struct weft_port *port;
	/* transactions whose end is not planned yet */
	struct weft_bus_txn *rd, *wr;
	uint64_t rd_ready, wr_ready; /* REQ# edges of rd, wr, or PCIBUS_NEVER */
	uint64_t rd_busy, wr_busy; /* edges of NOTE_DONE of the last read and of
				    * the last write */
	uint32_t seq_left; /* bytes that the bridge has yet to complete */
	struct pcibus_delayed delayed;
	/* number of the device's slots for stores, and number of free slots
	 * (weft_bus_window); 0 and 1 if the device sets no limit */
	uint32_t window, places;
	bool tagged;	  /* takes tagged accesses */
	uint32_t orphans; /* answers to loads that the bridge gave up */
};

/* A split read that the bridge still has to complete. */
struct pcibus_split {
	uint32_t dev;
	uint64_t ready;
};

/* A tenure whose latency timer may end it early. */
struct pcibus_tenure {
	uint32_t dev;
	bool read;
	/* bus edges of FRAME#, of the timer's expiry, and of the start of the
	 * next block */
	uint64_t frame, expiry, next;
	uint32_t left; /* bytes of the tenure after `next` */
};

/* The load that is on the bus, or that was retried and waits for the bus. */
struct pcibus_load {
	struct pio pio;
	bool pending;  /* requested, but the host has no answer yet */
	bool open;     /* the load is on the bus, and its end is not known */
	bool latched;  /* the device was notified */
	bool deferred; /* the device answers later */
	bool replied, status;
	uint64_t data;	/* earliest edge of the load's first datum */
	uint64_t tail;	/* clocks from the first datum to the end */
	uint64_t limit; /* edge at which the target gives up */
	uint64_t due;	/* edge after which the load is checked */
};

struct pcibus;

/* Operations that differ between the two buses. */
struct pcibus_kind {
	void (*read_grant)(struct pcibus *b, uint32_t dev, uint64_t d);
	void (*completion_grant)(struct pcibus *b, uint64_t d);
	/* Ends a data tenure of a read, whose last datum moved at `end`. */
	void (*read_end)(struct pcibus *b, struct pcibus_dev *dev, uint64_t end,
			 bool timer);
	/* Returns the clocks of a store of the host on the bus. */
	uint64_t (*store_clocks)(const struct pcibus *b,
				 const struct pcibus_pio *p);
	/* Returns the clocks of n bytes at an address. */
	uint64_t (*pio_beats)(const struct pcibus *b, uint64_t off,
			      uint32_t bytes);
};

/* The last burst of a device, counted when it started. */
struct pcibus_burst {
	uint32_t counter, bytes;
	weft_time_t start, end;
};

/* Parameters, described by the rows in pci.c and pcix.c. */
struct pcibus_params {
	struct weft_clock clock;
	uint32_t width, devices, pio_depth;
	uint32_t t_arb, t_ph, t_gap, t_split, t_disc, t_pio1, t_piob;
	uint32_t t_read, t_abort, t_dac, t_irq;
	uint64_t sc_chunk, wr_chunk;
	/* Parameters of bus.pci only. */
	uint32_t t_park, t_turn, t_end, t_retry, t_initial, t_tag, reads;
	uint32_t max_retries;
	uint64_t page, line, rd_chunk;
	weft_time_t t_mem, h_rd_out, h_rd_in, h_wr_out, h_wr_in, h_dw;
};

struct pcibus {
	struct pcibus_params
		p; /* first member, because parameter rows hold offsets in it */
	const struct pcibus_kind *kind;
	/* bytes of a block; a tenure may end between two blocks */
	uint32_t block;
	uint64_t lanes; /* mask of the address bits inside a datum */
	struct weft_comp *comp;
	struct weft_port *host;
	struct weft_timer decide;
	uint64_t free_at; /* edge from which the bus is free */
	/* number of clocks just before free_at in which the bus is busy without
	 * a gap */
	uint64_t held;
	struct pcibus_burst burst;
	uint32_t last; /* master that was granted last */
	struct pcibus_dev *dev;
	struct pcibus_split *split; /* FIFO of `devices` entries */
	uint32_t split_head, n_split;
	struct pcibus_pio *pio; /* FIFO of pio_depth + 1 entries */
	uint32_t pio_head, n_pio, n_store;
	uint64_t store_until; /* edge at which the store on the bus is done */
	/* time at which all stores on the bus have reached their devices */
	weft_time_t stored;
	/* time at which all writes of devices are in memory */
	weft_time_t commit;
	struct pcibus_load load;
	struct pcibus_tenure tenure;
};

static inline weft_time_t pcibus_time(const struct pcibus *b, uint64_t edge)
{
	return weft_clock_edge(&b->p.clock, edge);
}

/* Returns the edge whose arbitration is being computed. */
static inline uint64_t pcibus_edge_past(const struct pcibus *b)
{
	return weft_clock_cycle(&b->p.clock, weft_now(b->comp) - 1);
}

/* Returns the first edge at or after now. */
static inline uint64_t pcibus_edge_next(const struct pcibus *b)
{
	return weft_clock_cycle(&b->p.clock, weft_now(b->comp));
}

/* Returns the number of clocks in which a device moves `bytes` bytes at
 * addr. */
static inline uint64_t pcibus_beats(const struct pcibus *b, uint64_t addr,
				    uint32_t bytes)
{
	return ((addr & b->lanes) + bytes + b->p.width - 1) / b->p.width;
}

static inline uint32_t pcibus_least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Parameter rows that bus.pci and bus.pcix share, in the order of their
 * tables. */
#define PCIBUS_PARAM(type, field, def, range, doc)                             \
	WEFT_PARAM(type, struct pcibus_params, field, def, range, OWN, doc)
#define PCIBUS_PARAM_DEVICES                                                   \
	PCIBUS_PARAM(U32, devices, "1", "1..32", "devices on the bus")
#define PCIBUS_PARAM_ABORT                                                     \
	PCIBUS_PARAM(U32, t_abort, "4", "1..",                                 \
		     "clocks until a master aborts when nobody answers")
#define PCIBUS_PARAMS_BRIDGE                                                   \
	PCIBUS_PARAM(U32, t_irq, "2", "1..",                                   \
		     "interrupt line to processor, clocks"),                   \
		PCIBUS_PARAM(U32, pio_depth, "8", "1..",                       \
			     "stores the bridge holds (64 bytes each)")

#define PCIBUS_COUNTERS                                                        \
	[PCIBUS_C_BUSY] = { "busy", "clocks",                                  \
			    "bus clocks in tenures, arbitration included" },   \
	[PCIBUS_C_STORE_BYTES] = { "pio_store_bytes", "bytes",                 \
				   "bytes stored by the host" },               \
	[PCIBUS_C_WRITES] = { "writes", "tenures",                             \
			      "write tenures of devices" },                    \
	[PCIBUS_C_READ_BYTES] = { "read_bytes", "bytes",                       \
				  "bytes read by devices" },                   \
	[PCIBUS_C_WRITE_BYTES] = { "write_bytes", "bytes",                     \
				   "bytes written by devices" },               \
	[PCIBUS_C_ABORTS] = { "aborts", "tenures", "tenures nobody answered" }

#define PCIBUS_OPS                                                             \
	.submit = pcibus_submit, .reply = pcibus_reply, .irq = pcibus_irq,     \
	.pio_store = pcibus_store, .pio_load = pcibus_load,                    \
	.present = pcibus_present, .clock = pcibus_clock, .settle = pio_settle

/* pcibus.c: for the classes. */
/* Operations of both classes. pcibus_init checks parameters and makes the
 * queues. The other functions are ops.event, finish, ahead and fini. */
int pcibus_init(struct weft_comp *c, const struct pcibus_kind *kind,
		const struct weft_bus_ops *ops, struct weft_err *err);

void pcibus_event(struct weft_comp *c, uint32_t tag);
int pcibus_finish(struct weft_comp *c, struct weft_err *err);
uint64_t pcibus_ahead(const struct weft_comp *c, uint32_t k);
void pcibus_fini(struct weft_comp *c);
/* Entries of weft_bus_ops. */
void pcibus_irq(struct weft_port *dev_port, bool asserted);
const struct weft_clock *pcibus_clock(struct weft_port *port);

extern const struct weft_port_decl pcibus_ports[];

/* Returns the bus's record of the device that owns dev_port, and the bus in
 * *b_p. */
static inline struct pcibus_dev *pcibus_dev_of(struct weft_port *dev_port,
					       struct pcibus **b_p)
{
	struct weft_port *p = dev_port->peer;

	*b_p = p->comp->state;
	return &(*b_p)->dev[p->index - 1];
}

/* Occupies the bus from edge d for len clocks. */
void pcibus_occupy(struct pcibus *b, uint64_t d, uint64_t len);
/* Plans the next arbitration. */
void pcibus_kick(struct pcibus *b);
/* Returns the edge from which master m requests the bus. */
uint64_t pcibus_ready(const struct pcibus *b, uint32_t m);

/* pcibus_dma.c */
/* Starts a transaction of a device (weft_bus_ops.submit). */
void pcibus_submit(struct weft_port *dev_port, struct weft_bus_txn *t);
/* Runs the tenure of a device's write that was granted at edge d. */
void pcibus_write_grant(struct pcibus *b, uint32_t dev, uint64_t d);
/* Decides about the next block of a tenure whose timer has expired. */
void pcibus_block(struct pcibus *b);
/* Returns the additional clocks of the address phase for the remaining bytes of
 * t. */
static inline uint32_t pcibus_dac(const struct pcibus *b,
				  const struct weft_bus_txn *t)
{
	return (t->addr + t->moved) >> 32 ? b->p.t_dac : 0;
}

/* Returns the answer of memory to an access to the next `bytes` of t. */
enum weft_bus_status pcibus_answer(const struct pcibus *b,
				   const struct weft_bus_txn *t,
				   uint32_t bytes);
/* Returns the additional clocks of a slow bridge for a step of `clocks`. */
static inline uint64_t pcibus_slower(const struct weft_bus_txn *t,
				     uint32_t clocks)
{
	if (t->slow_factor <= 1)
		return 0;
	return (uint64_t)((t->slow_factor - 1) * clocks + 0.5);
}

/* Notifies the host that the next `bytes` of t are read or written at
 * `time`. */
void pcibus_mem_tell(struct pcibus *b, struct pcibus_dev *dev,
		     const struct weft_bus_txn *t, uint32_t bytes,
		     weft_time_t time);
/* Moves the data of a tenure, or of a part of it, and notifies the device.
 * Returns the edge at which the last datum has moved. */
uint64_t pcibus_burst(struct pcibus *b, struct pcibus_dev *dev,
		      struct weft_bus_txn *t, uint32_t bytes, uint64_t frame,
		      uint64_t start, bool timer);
/* Moves the n bytes of a tenure. If the latency timer may end the tenure, moves
 * only the bytes before that point. The remaining bytes follow block by
 * block. */
void pcibus_data(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint32_t n, uint64_t d, uint64_t frame,
		 uint64_t start);
/* Sends NOTE_DONE at edge `end`, with which the transaction returns to the
 * device. */
void pcibus_done(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint64_t end);
/* Ends a transaction that no target completed, with a status. */
void pcibus_aborted(struct pcibus *b, struct pcibus_dev *dev,
		    struct weft_bus_txn *t, uint64_t d,
		    enum weft_bus_status status);

/* pcibus_pio.c */
/* Entries of weft_bus_ops for accesses of the host. */
bool pcibus_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		  uint64_t off, const void *data, uint32_t bytes);
void pcibus_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
		 uint64_t off, uint32_t bytes);
bool pcibus_tagged(struct weft_port *host_port, uint32_t dev,
		   const struct weft_bus_tagged *r);
void pcibus_reply(struct weft_port *dev_port, const void *data, uint32_t bytes);
void pcibus_tagged_reply(struct weft_port *dev_port, const void *data,
			 uint32_t bytes, bool status);
bool pcibus_defer(struct weft_port *dev_port);
bool pcibus_window(struct weft_port *dev_port, uint32_t stores);
bool pcibus_consumed(struct weft_port *dev_port, uint32_t stores);
bool pcibus_takes_tagged(struct weft_port *dev_port);
bool pcibus_present(struct weft_port *host_port, uint32_t dev);
/* Runs the tenure of the host's access that was granted at edge d. */
void pcibus_pio_grant(struct pcibus *b, uint64_t d);
/* Checks the load on the bus at its due edge. */
void pcibus_loaded(struct pcibus *b);

#endif
