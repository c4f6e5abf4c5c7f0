/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the PCI-X bus: what arbiter (pcix.c), device transactions
 * (pcix_dma.c) and host accesses (pcix_pio.c) share.
 *
 * All times are numbers of bus clock edges.  A request asserted at edge r takes
 * part in every arbitration at an edge >= r.  The arbitration of edge d is
 * computed 1 fs after that edge, when all requests of the edge are known, so
 * the outcome does not depend on the order of components; what it decides
 * becomes visible at edge d + 1 or later. */
#ifndef HOST_PCIX_H
#define HOST_PCIX_H

#include "weft/bus.h"

#define PCIX_NEVER UINT64_MAX

enum {
	PCIX_ADB = 128, /* allowable disconnect boundary, bytes (PCI-X) */
	PCIX_PIO_MAX = 64,
};

/* Masters, in the order of the round robin. */
enum {
	PCIX_M_PIO,	   /* bridge: loads and stores of the host */
	PCIX_M_COMPLETION, /* bridge: split completions */
	PCIX_M_DEVICES,	   /* then write and read request of each device */
};

enum {
	PCIX_C_BUSY,
	PCIX_C_STORES,
	PCIX_C_STORE_BYTES,
	PCIX_C_LOADS,
	PCIX_C_COMPLETIONS,
	PCIX_C_READS,
	PCIX_C_WRITES,
	PCIX_C_READ_BYTES,
	PCIX_C_WRITE_BYTES,
	PCIX_C_DISCONNECTS,
	PCIX_C_TIMER_CUTS,
	PCIX_C_ABORTS,
	PCIX_C_N
};

enum { PCIX_EV_DECIDE, PCIX_EV_LOADED, PCIX_EV_BLOCK, PCIX_EV_N };

struct pcix_pio {
	bool load;
	uint8_t space;
	uint32_t dev, bytes;
	uint64_t off, ready;
	uint8_t data[PCIX_PIO_MAX];
};

struct pcix_dev {
	struct weft_port *port;
	struct weft_bus_txn *rd, *wr; /* not yet wholly planned */
	uint64_t rd_ready, wr_ready;  /* REQ# at this edge, or NEVER */
	uint64_t rd_busy, wr_busy;    /* until its NOTE_DONE */
	uint32_t seq_left;	      /* bytes the bridge still owes */
};

/* A split read whose completion the bridge is to send. */
struct pcix_split {
	uint32_t dev;
	uint64_t ready;
};

/* A write tenure whose latency timer may end it early. */
struct pcix_tenure {
	uint32_t dev;
	uint64_t frame, expiry, next; /* next: edge the next block starts at */
	uint32_t left;		      /* bytes of the tenure after `next` */
};

struct pcix {
	/* parameters */
	struct weft_clock clock;
	uint32_t width, devices, pio_depth;
	uint32_t t_arb, t_ph, t_gap, t_split, t_disc, t_pio1, t_piob;
	uint32_t t_read, t_abort, t_dac, t_irq;
	uint64_t sc_chunk, wr_chunk;
	/* state */
	struct weft_comp *comp;
	struct weft_port *host;
	struct weft_timer decide;
	uint64_t free_at; /* edge from which the bus is free */
	uint32_t last;	  /* master granted last */
	struct pcix_dev *dev;
	struct pcix_split *split; /* FIFO, devices entries */
	uint32_t split_head, n_split;
	struct pcix_pio *pio; /* FIFO, pio_depth + 1 entries */
	uint32_t pio_head, n_pio, n_store;
	uint64_t store_until; /* edge at which the store on the bus is done */
	struct pcix_pio load; /* the load on the bus */
	uint64_t load_end;
	bool load_pending, replied;
	struct pcix_tenure tenure;
};

static inline weft_time_t pcix_time(const struct pcix *b, uint64_t edge)
{
	return weft_clock_edge(&b->clock, edge);
}

/* The edge whose arbitration is being computed. */
static inline uint64_t pcix_edge_past(const struct pcix *b)
{
	return weft_clock_cycle(&b->clock, weft_now(b->comp) - 1);
}

/* First edge at or after now. */
static inline uint64_t pcix_edge_next(const struct pcix *b)
{
	return weft_clock_cycle(&b->clock, weft_now(b->comp));
}

static inline uint64_t pcix_beats(const struct pcix *b, uint32_t bytes)
{
	return (bytes + b->width - 1) / b->width;
}

/* The bus is taken from edge d for len clocks. */
void pcix_occupy(struct pcix *b, uint64_t d, uint64_t len);
/* Plans the next arbitration. */
void pcix_kick(struct pcix *b);
/* Edge from which master m asks for the bus. */
uint64_t pcix_ready(const struct pcix *b, uint32_t m);

/* pcix_dma.c: tenures granted at edge d. */
void pcix_submit(struct weft_port *dev_port, struct weft_bus_txn *t);
void pcix_write_grant(struct pcix *b, uint32_t dev, uint64_t d);
void pcix_read_grant(struct pcix *b, uint32_t dev, uint64_t d);
void pcix_completion_grant(struct pcix *b, uint64_t d);
void pcix_block(struct pcix *b);

/* pcix_pio.c */
bool pcix_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		uint64_t off, const void *data, uint32_t bytes);
void pcix_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
	       uint64_t off, uint32_t bytes);
void pcix_reply(struct weft_port *dev_port, const void *data, uint32_t bytes);
bool pcix_present(struct weft_port *host_port, uint32_t dev);
void pcix_pio_grant(struct pcix *b, uint64_t d);
void pcix_loaded(struct pcix *b);

#endif
