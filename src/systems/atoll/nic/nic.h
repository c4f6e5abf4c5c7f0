/* SPDX-License-Identifier: Apache-2.0 */
/* State and internal functions of ATOLL (class atoll.nic): four host ports and
 * the crossbar. See nic.c. */
#ifndef SYSTEMS_ATOLL_NIC_NIC_H
#define SYSTEMS_ATOLL_NIC_NIC_H

#include "base/ring.h"
#include "systems/atoll/network/crossbar.h"
#include "systems/atoll/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/trace.h"

enum { AT_PORT_BUS, AT_PORT_LINK };
enum { AT_TAG_XBAR, AT_TAG_HOST }; /* AT_TAG_HOST + number of the host port */

#define AT_OWN_COUNTERS(X)                                                     \
	X(SENT, "sent", "packets", "given to the crossbar by host ports")      \
	X(RECEIVED, "received", "packets", "taken by host ports")              \
	X(READS, "reads", "transactions", "of host memory")                    \
	X(WRITES, "writes", "transactions", "to host memory")                  \
	X(BAD_DESC, "bad_descriptors", "descriptors", "that make no sense")    \
	X(LENGTHS, "lengths", "packets", "of another length than they said")   \
	X(IRQS, "irqs", "interrupts", "raised")
enum {
#define X(id, name, unit, doc) AT_K_##id,
	AT_OWN_COUNTERS(X)
#undef X
		AT_K_XBAR
};

struct at_nic;

/* A transaction with host memory. */
struct at_dma {
	struct weft_bus_txn txn;
	void (*done)(struct at_nic *n, struct at_dma *d);
	uint32_t hp;
	struct at_dma *next;
};

/* ---- sending side of a host port ---- */

struct at_tx {
	/* PIO: */
	uint8_t route[AT_ROUTE];
	uint32_t n_route;
	uint64_t pio[ATOLL_PIO_MAX / 8];
	uint32_t n_pio, tag;
	uint64_t pio_trace; /* message that the host is storing */
	/* DMA: */
	uint64_t sdq_base, sdr_base;
	uint32_t sdq_size, sdq_wp, sdq_rp;
	bool busy; /* a descriptor is being processed */
	uint64_t desc[8];
	/* Payload of the descriptor: bytes requested so far, total bytes. */
	uint64_t asked, bytes;
	bool reading;
	uint64_t trace; /* message of the packet that is being sent */
	struct {
		RING(uint64_t);
	} traces; /* trace ids of messages whose descriptors are queued */
	/* flits that wait for room at the crossbar: */
	struct {
		RING(struct weft_frame *);
	} q;
	uint8_t part[AT_FLIT]; /* bytes of the next flit */
	uint32_t n_part;
};

/* ---- receiving side ---- */

struct at_pkt { /* PIO: a packet in the buffer */
	uint64_t head;
	bool retrieved;
	uint32_t read; /* bytes read by the host */
	uint64_t trace;
};

struct at_rx {
	/* ctrl: the register ATOLL_CTRL. The other fields up to `head` describe
	 * the packet that is being received. */
	uint32_t ctrl;
	uint8_t route[AT_ROUTE];
	uint32_t n_route;
	bool retrieved, open,
		/* true if the packet being received is the last entry of
		 * pkts */
		pio;
	uint32_t got;  /* bytes received so far, header included */
	uint64_t head; /* header word of the packet */
	/* PIO: unread words of all packets, and the packets to which the words
	 * belong */
	struct {
		RING(uint64_t);
	} words;
	struct {
		RING(struct at_pkt);
	} pkts;
	/* DMA: */
	uint64_t rdq_base, rdr_base;
	uint32_t rdq_size, rdq_rp, rdq_wp, rdr_size;
	uint64_t rdr_rp, rdr_wp, start; /* positions in bytes, not wrapped */
	/* numbers of writes in flight: of payload, of descriptors */
	uint32_t writes, descs;
};

struct at_nic {
	/* parameters: */
	struct weft_clock clock;
	uint32_t t_in, t_xbar, t_out, buffer, stop_free, cont_free;
	uint32_t dl_counter, timeout, attempts, rx_flits, node;
	bool report;
	/* state: */
	struct weft_comp *comp;
	struct weft_port *bus;
	struct atoll_xbar x;
	struct at_tx tx[ATOLL_PORTS];
	struct at_rx rx[ATOLL_PORTS];
	uint64_t irq, redirected;
	uint32_t dl_ports;
	bool irq_level;
	struct {
		struct at_dma *head, *tail;
		bool busy;
	} dma[2];
	struct at_dma *pool;
};

/* dma.c: queues a read, or a write of `data`. Reads start in the order of the
 * calls, and so do writes. Returns the transaction, which the NIC owns. Calls
 * `done`, unless NULL, at completion. Copies the data. */
struct at_dma *at_dma(struct at_nic *n, enum weft_bus_op op, weft_phys_t addr,
		      const void *data, uint32_t bytes, uint32_t hp,
		      void (*done)(struct at_nic *, struct at_dma *));
/* Completes the transaction that the bus reports and starts the next one. */
void at_dma_done(struct at_nic *n, struct at_dma *d);
void at_dma_fini(struct at_nic *n);

/* transmit.c: performs a store to a register of the sending side. */
void at_tx_store(struct at_nic *n, uint32_t hp, uint32_t off, uint64_t val);
/* Sends flits, reads payload and fetches the next descriptor, as far as the
 * crossbar and the queue of host port hp have room. Called after each event
 * that can free such room. */
void at_tx_go(void *own, uint32_t hp);
void at_tx_fini(struct at_nic *n, uint32_t hp);
/* receive.c: returns true if host port np has room for a whole flit */
bool at_rx_room(void *own, uint32_t np);
/* Stores a flit that leaves the crossbar. Takes ownership of f. */
void at_rx_flit(void *own, uint32_t np, struct weft_frame *f);
/* Perform a load or store of word `index` in the pages of the host ports. Both
 * are hooks of the register array `port`. A store that is not for the
 * receiving side is passed on to at_tx_store(). */
uint64_t at_rx_load(struct weft_comp *c, uint32_t index);
void at_rx_store(struct weft_comp *c, uint32_t index, uint64_t val);
/* in registers.c */
extern const struct weft_reg at_regs[];
/* Sets interrupt bits and updates the interrupt line. */
void at_irq(struct at_nic *n, uint64_t bits);
/* Performs a load or store of the host. */
void at_access(struct at_nic *n, const struct weft_bus_note *note);

static inline void at_count(struct at_nic *n, uint32_t k, uint64_t by)
{
	weft_count(n->comp, k, by);
}
/* Records for listeners that message id was in `stage` until now. */
static inline void at_mark(const struct at_nic *n, uint64_t id,
			   const char *stage)
{
	if (__builtin_expect(id != 0, 0))
		weft_mark(n->comp, id, stage, weft_now(n->comp));
}

#endif
