/* SPDX-License-Identifier: Apache-2.0 */
/* What bus.pcix (pcix.c) and bus.pci (pci.c) share: arbiter and life
 * (pcibus.c), writes of devices (pcibus_dma.c), accesses of the host
 * (pcibus_pio.c).
 *
 * All times are numbers of bus clock edges.  A request asserted at edge r takes
 * part in every arbitration at an edge >= r.  The arbitration of edge d is
 * computed 1 fs after that edge, when all requests of the edge are known, so
 * the outcome does not depend on the order of components; what it decides
 * becomes visible at edge d + 1 or later.  Only the ways between processor and
 * bus, and between bridge and memory, take times that are no whole clocks. */
#ifndef HOST_PCIBUS_H
#define HOST_PCIBUS_H

#include "host/pio.h"

#define PCIBUS_NEVER UINT64_MAX

/* Masters, in the order of the round robin. */
enum {
	PCIBUS_M_PIO,	     /* bridge: loads and stores of the host */
	PCIBUS_M_COMPLETION, /* bridge: split completions */
	PCIBUS_M_DEVICES,    /* then write and read request of each device */
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
	/* bus.pci has more */
	PCIBUS_C_TAGGED = PCIBUS_C_N,
	PCIBUS_C_RETRIES,
	PCIBUS_C_WAITS,
	PCIBUS_C_DISCARDS,
	PCIBUS_C_PCI_N
};

enum { PCIBUS_EV_DECIDE, PCIBUS_EV_LOADED, PCIBUS_EV_BLOCK, PCIBUS_EV_N };

enum pcibus_op { PCIBUS_STORE, PCIBUS_LOAD, PCIBUS_COND };

/* An access of the host.  A conditional store waits for its answer as a load
 * does. */
struct pcibus_pio {
	enum pcibus_op op;
	uint32_t retries;
	uint64_t ready;
	struct pio io;
};

/* A delayed read at the bridge (bus.pci). */
struct pcibus_delayed {
	uint64_t ready; /* edge from which the bridge has the bytes */
	uint32_t until; /* ... of the transaction up to here */
};

struct pcibus_dev {
	struct weft_port *port;
	struct weft_bus_txn *rd, *wr; /* not yet wholly planned */
	uint64_t rd_ready, wr_ready;  /* REQ# at this edge, or NEVER */
	uint64_t rd_busy, wr_busy;    /* until its NOTE_DONE */
	uint32_t seq_left;	      /* bytes the bridge still owes */
	struct pcibus_delayed delayed;
	uint32_t window, places; /* for stores; free ones; 0, 1: no limit */
	bool tagged;		 /* it takes tagged accesses */
	uint32_t orphans;	 /* answers that nobody waits for any more */
};

/* A split read whose completion the bridge is to send. */
struct pcibus_split {
	uint32_t dev;
	uint64_t ready;
};

/* A tenure whose latency timer may end it early. */
struct pcibus_tenure {
	uint32_t dev;
	bool read;
	uint64_t frame, expiry, next; /* next: edge the next block starts at */
	uint32_t left;		      /* bytes of the tenure after `next` */
};

/* The load on the bus, or retried and waiting for the bus. */
struct pcibus_load {
	struct pio pio;
	bool pending;  /* asked for and not answered to the host */
	bool open;     /* on the bus, and its end not known */
	bool latched;  /* the device has been told */
	bool deferred; /* it will answer later */
	bool replied, status;
	uint64_t data;	/* edge of its first datum at the earliest */
	uint64_t tail;	/* clocks from there to its end */
	uint64_t limit; /* edge at which the target gives up */
	uint64_t due;	/* edge at whose end this is looked at */
};

struct pcibus;

/* What differs between buses. */
struct pcibus_kind {
	void (*read_grant)(struct pcibus *b, uint32_t dev, uint64_t d);
	void (*completion_grant)(struct pcibus *b, uint64_t d);
	/* A data tenure of a read has moved its last datum at `end`. */
	void (*read_end)(struct pcibus *b, struct pcibus_dev *dev, uint64_t end,
			 bool timer);
	/* Clocks of a store of the host on the bus. */
	uint64_t (*store_clocks)(const struct pcibus *b,
				 const struct pcibus_pio *p);
	/* Clocks of n bytes at an address. */
	uint64_t (*pio_beats)(const struct pcibus *b, uint64_t off,
			      uint32_t bytes);
};

/* The last one of a device, counted when it began. */
struct pcibus_burst {
	uint32_t counter, bytes;
	weft_time_t start, end;
};

/* Parameters: pci.c and pcix.c say what each is. */
struct pcibus_params {
	struct weft_clock clock;
	uint32_t width, devices, pio_depth;
	uint32_t t_arb, t_ph, t_gap, t_split, t_disc, t_pio1, t_piob;
	uint32_t t_read, t_abort, t_dac, t_irq;
	uint64_t sc_chunk, wr_chunk;
	/* and of bus.pci */
	uint32_t t_park, t_turn, t_end, t_retry, t_initial, t_tag, reads;
	uint32_t max_retries;
	uint64_t page, line, rd_chunk;
	weft_time_t t_mem, h_rd_out, h_rd_in, h_wr_out, h_wr_in, h_dw;
};

struct pcibus {
	struct pcibus_params p; /* first: rows have offsets in it */
	const struct pcibus_kind *kind;
	uint32_t block; /* bytes: where a tenure may end */
	uint64_t lanes; /* address bits inside of a datum */
	struct weft_comp *comp;
	struct weft_port *host;
	struct weft_timer decide;
	uint64_t free_at; /* edge from which the bus is free */
	uint64_t held;	  /* clocks up to there without a gap */
	struct pcibus_burst burst;
	uint32_t last; /* master granted last */
	struct pcibus_dev *dev;
	struct pcibus_split *split; /* FIFO, devices entries */
	uint32_t split_head, n_split;
	struct pcibus_pio *pio; /* FIFO, pio_depth + 1 entries */
	uint32_t pio_head, n_pio, n_store;
	uint64_t store_until; /* edge at which the store on the bus is done */
	weft_time_t stored;   /* all stores on the bus are in devices then */
	weft_time_t commit;   /* all writes of devices are in memory then */
	struct pcibus_load load;
	struct pcibus_tenure tenure;
};

static inline weft_time_t pcibus_time(const struct pcibus *b, uint64_t edge)
{
	return weft_clock_edge(&b->p.clock, edge);
}

/* The edge whose arbitration is being computed. */
static inline uint64_t pcibus_edge_past(const struct pcibus *b)
{
	return weft_clock_cycle(&b->p.clock, weft_now(b->comp) - 1);
}

/* First edge at or after now. */
static inline uint64_t pcibus_edge_next(const struct pcibus *b)
{
	return weft_clock_cycle(&b->p.clock, weft_now(b->comp));
}

/* Clocks of n bytes at an address, for devices. */
static inline uint64_t pcibus_beats(const struct pcibus *b, uint64_t addr,
				    uint32_t bytes)
{
	return ((addr & b->lanes) + bytes + b->p.width - 1) / b->p.width;
}

static inline uint32_t pcibus_least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Rows of both classes that are the same, in the order of their tables. */
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
int pcibus_init(struct weft_comp *c, const struct pcibus_kind *kind,
		const struct weft_bus_ops *ops, struct weft_err *err);

void pcibus_event(struct weft_comp *c, uint32_t tag);
int pcibus_finish(struct weft_comp *c, struct weft_err *err);
uint64_t pcibus_ahead(const struct weft_comp *c, uint32_t k);
void pcibus_fini(struct weft_comp *c);
void pcibus_irq(struct weft_port *dev_port, bool asserted);
const struct weft_clock *pcibus_clock(struct weft_port *port);

extern const struct weft_port_decl pcibus_ports[];

/* The device on the other side of its port. */
static inline struct pcibus_dev *pcibus_dev_of(struct weft_port *dev_port,
					       struct pcibus **b_p)
{
	struct weft_port *p = dev_port->peer;

	*b_p = p->comp->state;
	return &(*b_p)->dev[p->index - 1];
}

/* The bus is taken from edge d for len clocks. */
void pcibus_occupy(struct pcibus *b, uint64_t d, uint64_t len);
/* Plans the next arbitration. */
void pcibus_kick(struct pcibus *b);
/* Edge from which master m asks for the bus. */
uint64_t pcibus_ready(const struct pcibus *b, uint32_t m);

/* pcibus_dma.c */
void pcibus_submit(struct weft_port *dev_port, struct weft_bus_txn *t);
void pcibus_write_grant(struct pcibus *b, uint32_t dev, uint64_t d);
void pcibus_block(struct pcibus *b);
/* More clocks of the address phase of what is left of t. */
static inline uint32_t pcibus_dac(const struct pcibus *b,
				  const struct weft_bus_txn *t)
{
	return (t->addr + t->moved) >> 32 ? b->p.t_dac : 0;
}

/* Answer of memory to an access to the next n bytes of t. */
enum weft_bus_status pcibus_answer(const struct pcibus *b,
				   const struct weft_bus_txn *t,
				   uint32_t bytes);
/* Clocks that a slow bridge takes longer for what takes it so many. */
static inline uint64_t pcibus_slower(const struct weft_bus_txn *t,
				     uint32_t clocks)
{
	if (t->slow_factor <= 1)
		return 0;
	return (uint64_t)((t->slow_factor - 1) * clocks + 0.5);
}

/* Memory is read or written, bytes at the next ones of t, at a time. */
void pcibus_mem_tell(struct pcibus *b, struct pcibus_dev *dev,
		     const struct weft_bus_txn *t, uint32_t bytes,
		     weft_time_t time);
/* Data of one tenure, or of a part of it: tells the device; edge of the end. */
uint64_t pcibus_burst(struct pcibus *b, struct pcibus_dev *dev,
		      struct weft_bus_txn *t, uint32_t bytes, uint64_t frame,
		      uint64_t start, bool timer);
/* The n bytes of a tenure, or those before its timer may cut it; in that case
 * the rest comes by itself. */
void pcibus_data(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint32_t n, uint64_t d, uint64_t frame,
		 uint64_t start);
/* NOTE_DONE at edge `end`; the transaction goes back to the device. */
void pcibus_done(struct pcibus *b, struct pcibus_dev *dev,
		 struct weft_bus_txn *t, uint64_t end);
void pcibus_aborted(struct pcibus *b, struct pcibus_dev *dev,
		    struct weft_bus_txn *t, uint64_t d,
		    enum weft_bus_status status);

/* pcibus_pio.c */
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
void pcibus_pio_grant(struct pcibus *b, uint64_t d);
void pcibus_loaded(struct pcibus *b);

#endif
