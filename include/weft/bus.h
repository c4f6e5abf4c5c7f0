/* SPDX-License-Identifier: Apache-2.0 */
/* The host bus as devices and hosts see it.
 *
 *    host (programs, memory, bridge) ---- bus ---- device(s)
 *
 * A bus is a component of KIND_BUS with one port "host" and ports "dev%u".
 * Host and device call the bus from their own events; the bus answers by notes:
 * it queues a note on the receiver's bus port and posts an arrival (phase 0)
 * for the note's time, so the receiver's ops.arrive(c, port, NULL) drains
 * `while (weft_bus_next(port, &note))`.  Notes of one port are taken in order
 * of time; those of one time in the order in which the bus sent them.
 *
 * An arrival per note is expensive.  A receiver that can do without sets told()
 * of its port: the bus calls it when it sends the note (bus.pcix: when the
 * tenure is granted), some time before note->time.  The receiver may store the
 * change of state with its time (WEFT_TOLD_TAKEN), or have the note queued
 * without an arrival and drain the queue whenever it polls (WEFT_TOLD_QUIET);
 * nothing may become visible before note->time.  A device that takes the notes
 * of its own reads calls weft_bus_settle before it uses the bytes.
 *
 * The buses differ:
 *
 *                 bus.pcix, bus.pci        bus.ht (packets)
 *   submitted     one read, one write      any number, served in order; reads
 *                                          with any_order perhaps not
 *   write DONE    last datum has moved     last byte is on the link: a device
 *                                          that must not queue more than n
 *                                          packets counts DONEs
 *   read          SPLIT, BURST..., DONE    BURST for each packet of up to 64
 *                                          bytes, DONE; DONE alone when one
 *                                          packet carries all
 *   no target     status of DONE           reads: status and all ones; writes
 *                                          are lost, status OK
 *   irq           a wire                   a posted packet, behind writes
 *   clock         the bus clock            the clock of the device's core
 *
 * bus.pci alone: SPLIT is a retry of a delayed read; a write is in memory some
 * time after DONE, and a load's answer not before the writes in front of it. */
#ifndef WEFT_BUS_H
#define WEFT_BUS_H

#include "weft/sim.h"

WEFT_C_BEGIN

enum weft_bus_op { WEFT_BUS_READ, WEFT_BUS_WRITE };

enum weft_bus_status {
	WEFT_BUS_OK,
	WEFT_BUS_MASTER_ABORT, /* no target answers at that address */
	WEFT_BUS_TARGET_ABORT, /* the target refuses */
	WEFT_BUS_PARITY,       /* data came with wrong parity: PERR# */
	WEFT_BUS_SPLIT_ERROR,  /* a completion reports that the read failed */
};

/* Errors of an access on bus.pcix, which a fault (fault.bus) asks for. */
enum weft_bus_error {
	WEFT_BUS_E_NONE,
	WEFT_BUS_E_ADDRESS, /* parity of its address phase */
	WEFT_BUS_E_DATA,    /* parity of its data: a bit has turned over */
	WEFT_BUS_E_MASTER,  /* no target answers */
	WEFT_BUS_E_TARGET,  /* the target refuses */
	WEFT_BUS_E_MESSAGE, /* split completion error message instead of data */
	WEFT_BUS_E_REPEAT,  /* a split completion comes once more */
	WEFT_BUS_E_DISCARD, /* the split completion of a load is not taken */
};

/* Lines by which a device reports an error. */
enum weft_bus_signal { WEFT_BUS_PERR, WEFT_BUS_SERR };

/* A device-initiated transaction (DMA).  Owned by the device, lent to the bus
 * from submit until its NOTE_DONE has been taken. */
struct weft_bus_txn {
	enum weft_bus_op op;
	weft_phys_t addr;
	uint32_t bytes; /* any number, at any address */
	/* write: the bytes (may have no buf when payload is off).
	 * read: allocated by the device, filled burst by burst. */
	struct weft_slice data;
	uint32_t max_request;	/* cut a read into sequences of at most this
				 * many bytes; 0 = one sequence */
	uint32_t latency_timer; /* bus clocks a tenure may last once another
				 * master waits; 0 = no limit */
	uint32_t cookie;	/* the device's own */
	uint64_t trace_id;	/* of the message it is for, or 0 */
	bool trace_last; /* the message has arrived when this transaction ends
			  */
	/* a fault on the way: clocks the bridge takes longer from the split
	 * response to the first datum, before each further completion */
	uint32_t slow_split, slow_next;
	/* a fault of the device: factor on its own times, or 0 for none */
	double slow_factor;
	enum weft_bus_error
		error; /* bus.pcix: error that the transaction meets */
	/* Read, packet buses: its answer may pass stores of the host. Set by a
	 * device that needs the answer before it can take stores, because
	 * otherwise both would wait for each other. */
	bool relaxed;
	/* read: its answer may come before those of earlier reads (bus.ht with
	 * several banks of memory) */
	bool any_order;
	/* kept by the bus */
	enum weft_bus_status status;
	weft_time_t t_req;  /* REQ# asserted */
	weft_time_t t_done; /* last datum moved, or abort */
	uint32_t tenures;   /* bus requests (REQ#) so far */
	uint32_t splits;    /* split responses so far */
	uint32_t moved;	    /* bytes so far */
	void *link_;	    /* list of the bus */
	uint64_t priv_[6];  /* the bus's own */
};

enum weft_note_kind {
	/* to the device, about its own transactions */
	WEFT_NOTE_SPLIT, /* split response received at `time` */
	WEFT_NOTE_BURST, /* a data tenure: first datum moves at `time`.  A
			  * tenure that the latency timer may end early is
			  * told in parts with the same `frame` */
	WEFT_NOTE_DONE,	 /* transaction over: status, t_done valid */
	/* to the device, about host accesses */
	WEFT_NOTE_STORE, /* bytes of data[] to space:off; see weft_bus_window */
	WEFT_NOTE_LOAD,	 /* answer with weft_bus_ops.reply in the same event,
			  * or say weft_bus_defer in it and answer later */
	/* to the host */
	WEFT_NOTE_MEM_WRITE, /* put slice bytes to phys now; drops slice */
	WEFT_NOTE_MEM_READ,  /* fill slice from phys now */
	WEFT_NOTE_LOADED,    /* data[] of the outstanding PIO load */
	WEFT_NOTE_STORED,    /* one posted store left the bridge's buffer */
	WEFT_NOTE_IRQ,	     /* line of device `dev` is now `level` */
	/* tagged accesses, see below */
	WEFT_NOTE_TAGGED,   /* to the device: op, tag, user, cond, data[] */
	WEFT_NOTE_ANSWERED, /* to the host: data[], level = response tag */
};

/* Tagged store, tagged load, tagged conditional store. */
enum weft_bus_tagged_op { WEFT_TSTORE, WEFT_TLOAD, WEFT_TCSTORE };

struct weft_bus_note {
	enum weft_note_kind kind;
	uint32_t dev;
	weft_time_t time;
	uint64_t off; /* STORE, LOAD: offset; MEM_*: physical address */
	uint32_t offset, bytes; /* of the transaction; also STORE/LOAD size */
	uint8_t space;		/* 0 = configuration, 1 + n = BAR n */
	bool level;
	/* MEM_READ: the bytes may be filled late, because the device settles
	 * before it reads them */
	bool lazy;
	bool last;  /* BURST: nothing follows */
	bool timer; /* BURST: cut short by the latency timer */
	bool user;  /* TAGGED: the tag is the program's own */
	bool error; /* LOADED, ANSWERED: no target (bus.ht: the error bit) */
	uint8_t op; /* TAGGED: enum weft_bus_tagged_op */
	/* enum weft_bus_error.  STORE, LOAD: of the access; BURST, MEM_*: bit 0
	 * of the first byte is wrong; DONE of a read: a
	 * completion without a request follows, up to data_end */
	uint8_t wrong;
	uint8_t load; /* LOADED: number that the host gave it */
	uint16_t tag;
	struct weft_slice slice;
	struct weft_bus_txn *txn; /* about transactions of the device */
	/* FRAME# asserted; tenure began.  STORE, LOAD, TAGGED: it began, for
	 * listeners; `asked`: the host has handed it to the bus */
	weft_time_t frame, asked;
	uint64_t trace_id;    /* MEM_WRITE: of the transaction */
	weft_time_t data_end; /* last datum of this tenure has moved */
	uint64_t cond;	      /* TAGGED, conditional: see weft_bus_tagged */
	uint8_t data[64];     /* STORE, LOADED, TAGGED, ANSWERED */
};

/* A tagged access of the host (Host Port specification 10.1).  On the way it is
 * a header of 8 bytes {op 8, tag kind 1, size 7, tag 16, reserved 32}, an
 * address of 8, the condition of 8 where there is one, and the data. */
struct weft_bus_tagged {
	enum weft_bus_tagged_op op;
	bool user;    /* tag given by the program; else by its process */
	uint16_t tag; /* of the request */
	uint8_t space;
	uint64_t off;
	uint32_t bytes;	  /* stores: 4..64, a multiple of 4; load: 4, 8 */
	uint64_t cond;	  /* TCSTORE: WEFT_COND */
	const void *data; /* stores */
};

/* Condition {kind 8, bit 8, address 48}. */
#define WEFT_COND(kind, bit, addr)                                             \
	((uint64_t)(uint8_t)(kind) << 56 | (uint64_t)(uint8_t)(bit) << 48 |    \
	 ((uint64_t)(addr)&0xffffffffffff))
enum { WEFT_COND_ROOM }; /* the queue at the address is not full */

/* iface of a bus's ports. */
struct weft_bus_ops {
	/* Starts a transaction of the device: REQ# is asserted now. */
	void (*submit)(struct weft_port *dev_port, struct weft_bus_txn *t);
	/* Answers NOTE_LOAD, from the event that took it.  A device that does
	 * not answer (decoding off) leaves the load to a master abort. */
	void (*reply)(struct weft_port *dev_port, const void *data,
		      uint32_t bytes);
	/* Answers NOTE_LOAD at an address where the device has nothing: all
	 * ones and an error.  NULL: weft_bus_refuse answers with all ones. */
	void (*refuse)(struct weft_port *dev_port);
	/* Sets the device's interrupt line (INTA#, level). */
	void (*irq)(struct weft_port *dev_port, bool asserted);
	/* Asserts PERR# or SERR# for the device.  NULL: no such lines. */
	void (*signal)(struct weft_port *dev_port, enum weft_bus_signal line);
	/* Host side.  Puts a store of 4..64 bytes, a multiple of 4 (1 or 2 too
	 * in configuration space; bus.ht: inside an aligned line of 64), into
	 * the bridge's posted-write buffer.  Returns false when the buffer is
	 * full: wait for NOTE_STORED. */
	bool (*pio_store)(struct weft_port *host_port, uint32_t dev,
			  uint8_t space, uint64_t off, const void *data,
			  uint32_t bytes);
	/* Starts a load of 1..8 bytes (one at a time, but see `loads`) behind
	 * all earlier stores; NOTE_LOADED brings the bytes, all ones when no
	 * device answers. */
	void (*pio_load)(struct weft_port *host_port, uint32_t dev,
			 uint8_t space, uint64_t off, uint32_t bytes);
	/* Returns how many loads may be under way at a time, each with a number
	 * below that which the answer carries.  NULL: 1. */
	uint32_t (*loads)(struct weft_port *host_port);
	/* Starts a load as pio_load does, with a number; pio_load has 0. */
	void (*pio_load_as)(struct weft_port *host_port, uint32_t number,
			    uint32_t dev, uint8_t space, uint64_t off,
			    uint32_t bytes);
	/* Returns true when slot `dev` holds a device. */
	bool (*present)(struct weft_port *host_port, uint32_t dev);
	/* Returns the clock by which the bus counts at this port. */
	const struct weft_clock *(*clock)(struct weft_port *port);
	/* Each does and returns as its function below: weft_bus_window,
	 * weft_bus_consumed and weft_bus_defer.  NULL: the bus cannot. */
	bool (*window)(struct weft_port *dev_port, uint32_t stores);
	bool (*consumed)(struct weft_port *dev_port, uint32_t stores);
	bool (*defer)(struct weft_port *dev_port);
	/* Puts the bytes of memory reads that are due by now into their slices.
	 * NULL: they are always there. */
	void (*settle)(struct weft_port *dev_port);
	/* Returns true when the bus takes any number of transactions of a
	 * device at a time.  NULL or false: one read, one write. */
	bool (*many)(struct weft_port *dev_port);
	/* Starts a tagged access.  Loads and conditional stores count as loads:
	 * one of all of them at a time, behind all earlier stores, ended by
	 * WEFT_NOTE_ANSWERED; a device that has not called takes_tagged answers
	 * them with all ones and response tag 0.  Returns false when a tagged
	 * store finds the buffer full.  This and the next two are NULL on a bus
	 * without tagged accesses. */
	bool (*pio_tagged)(struct weft_port *host_port, uint32_t dev,
			   const struct weft_bus_tagged *r);
	/* Says that the device takes tagged accesses; returns true. */
	bool (*takes_tagged)(struct weft_port *dev_port);
	/* Answers a tagged load (data, and whether it is valid) or conditional
	 * store (no data, and whether it was done), as reply does. */
	void (*tagged_reply)(struct weft_port *dev_port, const void *data,
			     uint32_t bytes, bool status);
};

/* iface of a host's bus port. */
struct weft_bus_host_ops {
	/* Returns true when [phys, phys+bytes) is memory. */
	bool (*decode)(struct weft_port *host_port, weft_phys_t phys,
		       uint32_t bytes);
	/* Carries out the accesses to memory that are due by now.  NULL: they
	 * are always carried out. */
	void (*settle)(struct weft_port *host_port);
};

/* Returns the operations of the bus behind a device's or host's port, as in
 * weft_bus_of(p)->submit(p, t). */
static inline const struct weft_bus_ops *weft_bus_of(const struct weft_port *p)
{
	return (const struct weft_bus_ops *)p->peer->iface;
}

/* ---- back-pressure -----------------------------------------------------
 *
 * By default a device takes every store when it arrives.  One that calls
 * weft_bus_window(port, n), from its start op on and before the first store,
 * has n places for stores: each NOTE_STORE fills one, weft_bus_consumed empties
 * them again.  While none is empty further stores wait in the bus, in order,
 * nothing is lost, and in the end the host's pio_store finds the bridge full.
 * The store that waited longest arrives at the first bus clock after consumed.
 *
 * NOTE_LOAD comes behind all stores that were submitted before the load, but
 * needs no place: a device that still holds stores, and wants to take them
 * first, defers the answer.  Answers to the device's own reads pass stores that
 * wait at the device, and those that wait in the host's bridge when the read is
 * `relaxed`.
 *
 * The functions return false, and do nothing, on a bus without back-pressure
 * (bus.pcix: stores arrive at once, loads are answered at once).  On bus.pci a
 * device without a place, or without an answer, costs the bus retries. */

/* Gives the device places for `stores` stores.  Returns false when the bus has
 * no back-pressure. */
static inline bool weft_bus_window(struct weft_port *dev_port, uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->window && bus->window(dev_port, stores);
}

/* Empties the places of `stores` stores, in order of their arrival.  Returns
 * false when the bus has no back-pressure. */
static inline bool weft_bus_consumed(struct weft_port *dev_port,
				     uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->consumed && bus->consumed(dev_port, stores);
}

/* Call in the event that took NOTE_LOAD: the device answers with reply in a
 * later event.  Returns false when the bus cannot wait: answer in this event.
 */
static inline bool weft_bus_defer(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->defer && bus->defer(dev_port);
}

/* Answers NOTE_LOAD in place of reply: the device has nothing at that address.
 */
static inline void weft_bus_refuse(struct weft_port *dev_port, uint32_t bytes)
{
	static const uint64_t ones[8] = { ~0ull, ~0ull, ~0ull, ~0ull,
					  ~0ull, ~0ull, ~0ull, ~0ull };
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->refuse)
		bus->refuse(dev_port);
	else
		bus->reply(dev_port, ones, bytes);
}

/* Puts the bytes of the device's memory reads that are due by now into their
 * slices. */
static inline void weft_bus_settle(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->settle)
		bus->settle(dev_port);
}

/* Asserts PERR# or SERR#, on a bus that has them. */
static inline void weft_bus_signal(struct weft_port *dev_port,
				   enum weft_bus_signal line)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->signal)
		bus->signal(dev_port, line);
}

/* Returns true when the bus takes any number of transactions of a device at a
 * time; false: one read, one write. */
static inline bool weft_bus_many(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->many && bus->many(dev_port);
}

/* Call in the start op of a device that takes WEFT_NOTE_TAGGED.  Returns false
 * when the bus has no tagged accesses. */
static inline bool weft_bus_takes_tagged(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->takes_tagged && bus->takes_tagged(dev_port);
}

/* Takes the next note that is due now.  Returns false when there is none. */
bool weft_bus_next(struct weft_port *p, struct weft_bus_note *note_p);
/* Returns the number of notes in the queue, due or not. */
uint32_t weft_bus_queued(const struct weft_port *p);
/* Takes the next note, also before it is due, because no event follows the end
 * of a run. Returns false when there is none. */
bool weft_bus_left(struct weft_port *p, struct weft_bus_note *note_p);
/* Bus side: queues a note (copied) on the peer of bus_port, due at note->time >
 * now.  Takes the reference of note->slice. */
void weft_bus_tell(struct weft_port *bus_port,
		   const struct weft_bus_note *note);
/* Receiver: asks for an arrival at the time of each note in its queue that is
 * due later, also of those that were queued quietly, because it waits for one
 * of them from now on. */
void weft_bus_expect(struct weft_port *p);

WEFT_C_END

#endif
