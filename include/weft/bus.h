/* SPDX-License-Identifier: Apache-2.0 */
/* The host bus as devices and hosts see it.
 *
 *    host (programs, memory, bridge) ---- bus ---- device(s)
 *
 * A bus is a component of KIND_BUS with one port "host" and ports "dev%u".
 * Host and device call the bus from their own events; everything the bus says
 * comes back as notes: the bus queues a note on the receiver's bus port and
 * posts an arrival (phase 0) for the note's time, so the receiver's
 * ops.arrive(c, port, NULL) drains `while (weft_bus_next(port, &note))`.
 * Notes of one port are taken in order of time; those of one time in the order
 * in which the bus told them.
 *
 * An arrival per note is dear.  A receiver that can do without sets told() of
 * its port: it is called when the bus tells the note (bus.pcix: when the tenure
 * is granted), some time before note->time.  It may keep in mind what will be
 * so from then on (WEFT_TOLD_TAKEN), or have the note queued without an arrival
 * and drain the queue whenever it looks (WEFT_TOLD_QUIET); nothing may become
 * visible before note->time.  A device that takes the notes of its own reads
 * calls weft_bus_settle before it uses the bytes.
 *
 * What differs between buses:
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
 *   nobody there  status of DONE           reads: status and all ones; writes
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
	WEFT_BUS_MASTER_ABORT, /* nobody answers at that address */
	WEFT_BUS_TARGET_ABORT, /* the target refuses */
	WEFT_BUS_PARITY,       /* data came with wrong parity: PERR# */
	WEFT_BUS_SPLIT_ERROR,  /* a completion said that the read has failed */
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

/* Lines by which a device says that it has seen something wrong. */
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
	bool trace_last;	/* and its end: it has arrived then */
	/* a fault on the way: clocks the bridge takes longer from the split
	 * response to the first datum, before each further completion */
	uint32_t slow_split, slow_next;
	/* and its own times are that many times as long; 0 = 1 */
	double slow_factor;
	enum weft_bus_error error; /* bus.pcix: and this goes wrong */
	/* read, packet buses: its answer may pass stores of the host.  To be
	 * set by a device that needs the answer before it can take stores. */
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
	void *link_;	    /* the bus's own list */
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
	bool lazy;  /* MEM_READ: the device settles before it looks */
	bool last;  /* BURST: nothing follows */
	bool timer; /* BURST: cut short by the latency timer */
	bool user;  /* TAGGED: the tag is the program's own */
	bool error; /* LOADED, ANSWERED: nobody has it (bus.ht: the error bit)
		     */
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
	 * those who listen; `asked`: the host has handed it to the bus */
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
	/* REQ# is asserted now. */
	void (*submit)(struct weft_port *dev_port, struct weft_bus_txn *t);
	/* Answer to NOTE_LOAD, from the event that took it.  A device that
	 * does not answer (decoding off) leaves the load to a master abort. */
	void (*reply)(struct weft_port *dev_port, const void *data,
		      uint32_t bytes);
	/* The same for a load that hits nothing in the device: all ones, and
	 * the error is told; NULL: weft_bus_refuse answers with all ones. */
	void (*refuse)(struct weft_port *dev_port);
	/* The device's interrupt line (INTA#, level). */
	void (*irq)(struct weft_port *dev_port, bool asserted);
	/* Optional: the device asserts PERR# or SERR#. */
	void (*signal)(struct weft_port *dev_port, enum weft_bus_signal line);
	/* Host side.  A store of 4..64 bytes, a multiple of 4 (1 or 2 too in
	 * configuration space; bus.ht: inside of an aligned line of 64), into
	 * the bridge's posted-write buffer: false = buffer full, wait for
	 * NOTE_STORED. */
	bool (*pio_store)(struct weft_port *host_port, uint32_t dev,
			  uint8_t space, uint64_t off, const void *data,
			  uint32_t bytes);
	/* A load of 1..8 bytes (one at a time, but see `loads`), after all
	 * earlier stores.  All ones when no device answers. */
	void (*pio_load)(struct weft_port *host_port, uint32_t dev,
			 uint8_t space, uint64_t off, uint32_t bytes);
	/* Optional: so many loads may be on the way at a time, each with a
	 * number (0 to that, less one) which the answer carries.
	 * pio_load is that with number 0. */
	uint32_t (*loads)(struct weft_port *host_port);
	void (*pio_load_as)(struct weft_port *host_port, uint32_t number,
			    uint32_t dev, uint8_t space, uint64_t off,
			    uint32_t bytes);
	/* True when slot `dev` holds a device. */
	bool (*present)(struct weft_port *host_port, uint32_t dev);
	const struct weft_clock *(*clock)(struct weft_port *port);
	/* Optional (NULL: the bus cannot); devices use the functions
	 * weft_bus_window, weft_bus_consumed and weft_bus_defer below. */
	bool (*window)(struct weft_port *dev_port, uint32_t stores);
	bool (*consumed)(struct weft_port *dev_port, uint32_t stores);
	bool (*defer)(struct weft_port *dev_port);
	/* Memory reads due by now are in their slices afterwards; NULL: they
	 * always are. */
	void (*settle)(struct weft_port *dev_port);
	/* True: takes any number of transactions of a device at a time.  NULL
	 * or false: one read, one write. */
	bool (*many)(struct weft_port *dev_port);
	/* Tagged accesses; all three are NULL on a bus that has none.  Those
	 * that are answered count as loads: one of all of them at a time, after
	 * all earlier stores; WEFT_NOTE_ANSWERED ends them.  A tagged store is
	 * a store: false = buffer full.  A device that has not said that it
	 * takes tagged accesses is not there for them: a load gives all ones,
	 * and the response tag is 0. */
	bool (*pio_tagged)(struct weft_port *host_port, uint32_t dev,
			   const struct weft_bus_tagged *r);
	bool (*takes_tagged)(struct weft_port *dev_port);
	/* Answer to a tagged load (data, and is it valid?) or conditional store
	 * (no data; was it done?), as reply. */
	void (*tagged_reply)(struct weft_port *dev_port, const void *data,
			     uint32_t bytes, bool status);
};

/* iface of a host's bus port. */
struct weft_bus_host_ops {
	/* True when [phys, phys+bytes) is memory. */
	bool (*decode)(struct weft_port *host_port, weft_phys_t phys,
		       uint32_t bytes);
	/* Carries out what is due by now; NULL: that is always done. */
	void (*settle)(struct weft_port *host_port);
};

/* The bus behind a device's or host's port: weft_bus_of(p)->submit(p, t). */
static inline const struct weft_bus_ops *weft_bus_of(const struct weft_port *p)
{
	return (const struct weft_bus_ops *)p->peer->iface;
}

/* ---- back-pressure -----------------------------------------------------
 *
 * A device that says nothing takes every store when it comes.  One that says
 * weft_bus_window(port, n), from its start op on and before the first store,
 * has n places for stores: each NOTE_STORE fills one, weft_bus_consumed empties
 * them again.  While none is empty further stores wait in the bus, in order,
 * nothing is lost, and in the end the host's pio_store finds the bridge full.
 * The store that waited longest comes at the first bus clock after consumed.
 *
 * A load is told behind all stores that were asked for before it, but needs no
 * place: a device that has stores left when NOTE_LOAD comes, and wants to take
 * them first, defers the answer.  Answers to the device's own reads pass stores
 * that wait at the device, and those that wait in the host's bridge when the
 * read is `relaxed`.
 *
 * All three return false, and do nothing, on a bus that has no such thing
 * (pcix: stores come as they come, loads are answered at once).  On bus.pci a
 * device without a place, or without an answer, costs the bus retries. */
static inline bool weft_bus_window(struct weft_port *dev_port, uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->window && bus->window(dev_port, stores);
}

static inline bool weft_bus_consumed(struct weft_port *dev_port,
				     uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->consumed && bus->consumed(dev_port, stores);
}

/* From the event that took NOTE_LOAD: the device will answer with reply in a
 * later event (and must). */
static inline bool weft_bus_defer(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->defer && bus->defer(dev_port);
}

/* Instead of reply: nothing of the device is at that address. */
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

static inline void weft_bus_settle(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->settle)
		bus->settle(dev_port);
}

static inline void weft_bus_signal(struct weft_port *dev_port,
				   enum weft_bus_signal line)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->signal)
		bus->signal(dev_port, line);
}

static inline bool weft_bus_many(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->many && bus->many(dev_port);
}

/* From the start op of a device that takes WEFT_NOTE_TAGGED; false: the bus has
 * no such thing. */
static inline bool weft_bus_takes_tagged(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->takes_tagged && bus->takes_tagged(dev_port);
}

/* Next note due now, or false. */
bool weft_bus_next(struct weft_port *p, struct weft_bus_note *note_p);
/* Notes in the queue, due or not. */
uint32_t weft_bus_queued(const struct weft_port *p);
/* The run is over: next note, whenever it would have been due, or false. */
bool weft_bus_left(struct weft_port *p, struct weft_bus_note *note_p);
/* Bus side: queue a note (copied) on the peer of bus_port, due at note->time >
 * now.  Takes the reference of note->slice. */
void weft_bus_tell(struct weft_port *bus_port,
		   const struct weft_bus_note *note);
/* Receiver: from now on it wants to be woken by what is in its queue. */
void weft_bus_expect(struct weft_port *p);

WEFT_C_END

#endif
