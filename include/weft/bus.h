/* SPDX-License-Identifier: Apache-2.0 */
/* The host bus as devices and hosts see it.
 *
 *    host (programs, memory, bridge) ---- bus ---- device(s)
 *
 * A bus is a component of KIND_BUS with one port "host" and ports "dev%u". Host
 * and device call the bus from their own events. The bus answers by notes: it
 * queues a note on the receiver's bus port and posts an arrival (phase 0) for
 * the note's time. The receiver's ops.arrive(c, port, NULL) dequeues all notes
 * by `while (weft_bus_next(port, &note))`. Each port dequeues notes in order of
 * time, and notes of equal time in the order in which the bus sent them.
 *
 * An arrival per note is expensive. A receiver that needs no arrival sets
 * told() of its port. The bus calls told() when it sends the note (bus.pcix:
 * when the tenure is granted), some time before note->time. With
 * WEFT_TOLD_TAKEN the receiver has stored the change of state with its time.
 * With WEFT_TOLD_QUIET the note is queued without an arrival, and the receiver
 * drains the queue whenever it polls. The receiver must not act on the note
 * before note->time. A device that sets told() calls weft_bus_settle before it
 * uses the bytes of its own reads.
 *
 * The buses differ:
 *
 *                 bus.pcix, bus.pci        bus.ht (packets)
 *   submitted     one read, one write      any number, served in order
 *                                          except reads with any_order
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
 * On bus.pci alone SPLIT is a retry of a delayed read. A write reaches memory
 * some time after its DONE. The answer to a load does not arrive before the
 * writes that the bridge accepted from the device earlier. */
#ifndef WEFT_BUS_H
#define WEFT_BUS_H

#include "weft/sim.h"

WEFT_C_BEGIN

enum weft_bus_op { WEFT_BUS_READ, WEFT_BUS_WRITE };

enum weft_bus_status {
	WEFT_BUS_OK,
	WEFT_BUS_MASTER_ABORT, /* no target answers at the address */
	WEFT_BUS_TARGET_ABORT, /* the target refuses the access */
	WEFT_BUS_PARITY,       /* data arrived with wrong parity: PERR# */
	WEFT_BUS_SPLIT_ERROR,  /* a completion reports that the read failed */
};

/* Errors that a fault (fault.bus) injects into an access on bus.pcix. */
enum weft_bus_error {
	WEFT_BUS_E_NONE,
	WEFT_BUS_E_ADDRESS, /* wrong parity in the address phase */
	WEFT_BUS_E_DATA,    /* wrong parity in the data: one bit has flipped */
	WEFT_BUS_E_MASTER,  /* no target answers (master abort) */
	WEFT_BUS_E_TARGET,  /* the target refuses (target abort) */
	WEFT_BUS_E_MESSAGE, /* a split completion error message arrives
			     * instead of data */
	WEFT_BUS_E_REPEAT,  /* a split completion arrives twice */
	WEFT_BUS_E_DISCARD, /* the host does not accept the split completion of
			     * a load */
};

/* Lines by which a device reports an error. */
enum weft_bus_signal { WEFT_BUS_PERR, WEFT_BUS_SERR };

/* A transaction (DMA) of a device. The device owns the struct. The bus uses the
 * struct from submit until the device has dequeued its NOTE_DONE. */
struct weft_bus_txn {
	enum weft_bus_op op;
	weft_phys_t addr;
	uint32_t bytes; /* length, any number, at any address */
	/* In a write: the bytes to write. buf may be NULL in runs without
	 * payload. In a read: a slice that the device allocates and the bus
	 * fills burst by burst. */
	struct weft_slice data;
	uint32_t max_request;	/* A read is cut into sequences of at most
				 * this many bytes; 0 = one sequence. */
	uint32_t latency_timer; /* bus clocks that a tenure may last once
				 * another master waits; 0 = no limit */
	uint32_t cookie;	/* free for the device's use */
	uint64_t trace_id;	/* id of the message that the transaction
				 * belongs to, or 0 */
	bool trace_last;	/* true when the message has arrived at the end
				 * of this transaction */
	/* Extra clocks that the bridge needs between the split response and the
	 * first datum, and before each further completion. A fault sets these
	 * fields. */
	uint32_t slow_split, slow_next;
	/* Factor on the device's times, set by a fault of the device; 0 =
	 * none. */
	double slow_factor;
	enum weft_bus_error error; /* error that a fault injects on bus.pcix */
	/* On packet buses: the answer to this read may overtake stores of the
	 * host. A device that accepts no stores until the answer arrives sets
	 * this field, because otherwise the answer would wait for the stores
	 * and the stores would wait for the answer. */
	bool relaxed;
	/* The answer to this read may arrive before the answers to earlier
	 * reads (bus.ht with several banks of memory). */
	bool any_order;
	/* The bus sets all fields from here on. */
	enum weft_bus_status status;
	weft_time_t t_req;  /* time at which REQ# was asserted */
	weft_time_t t_done; /* time at which the last datum moved, or time of
			     * the abort */
	uint32_t tenures;   /* number of bus requests (REQ#) so far */
	uint32_t splits;    /* number of split responses so far */
	uint32_t moved;	    /* bytes moved so far */
	void *link_;	    /* next transaction in a list of the bus */
	uint64_t priv_[6];  /* private to the bus */
};

enum weft_note_kind {
	/* To the device, about its own transactions: */
	WEFT_NOTE_SPLIT, /* a split response was received at `time` */
	/* A data tenure, whose first datum moves at `time`. A tenure that the
	 * latency timer may cut short has several notes with equal `frame`. */
	WEFT_NOTE_BURST,
	WEFT_NOTE_DONE, /* the transaction has ended: status and t_done are
			 * valid */
	/* To the device, about accesses of the host: */
	WEFT_NOTE_STORE, /* data[] is stored at space:off; see
			  * weft_bus_window */
	WEFT_NOTE_LOAD,	 /* The device answers by weft_bus_ops.reply in this
			  * event, or calls weft_bus_defer and answers later. */
	/* To the host: */
	WEFT_NOTE_MEM_WRITE, /* the host writes the bytes of the slice to memory
			      * now and takes ownership of the slice */
	WEFT_NOTE_MEM_READ,  /* the host fills the slice from memory now */
	WEFT_NOTE_LOADED,    /* data[] answers the outstanding PIO load */
	WEFT_NOTE_STORED,    /* one posted store has left the bridge's buffer */
	WEFT_NOTE_IRQ,	     /* the interrupt line of device `dev` has
			      * changed to `level` */
	/* Tagged accesses, see weft_bus_tagged: */
	WEFT_NOTE_TAGGED,   /* the host accesses the device: op, tag, user, cond
			     * and data[] describe the access */
	WEFT_NOTE_ANSWERED, /* the device has answered the host with data[], and
			     * with the response tag in `level` */
};

/* Tagged store, tagged load, tagged conditional store. */
enum weft_bus_tagged_op { WEFT_TSTORE, WEFT_TLOAD, WEFT_TCSTORE };

struct weft_bus_note {
	enum weft_note_kind kind;
	uint32_t dev;
	weft_time_t time;
	uint64_t off; /* offset in the window (STORE, LOAD), or physical address
		       * (MEM_*) */
	uint32_t offset, bytes; /* offset in the transaction; number of bytes of
				 * the transfer or access */
	uint8_t space;		/* 0 = configuration space, 1 + n = BAR n
				 * (STORE, LOAD) */
	bool level;
	/* The host may fill in the bytes of a MEM_READ later, because the
	 * device calls weft_bus_settle before it reads the bytes. */
	bool lazy;
	bool last;  /* the last burst of the transaction (BURST) */
	bool timer; /* the latency timer cut the burst short (BURST) */
	bool user;  /* the program itself gave the tag (TAGGED) */
	bool error; /* in notes LOADED and ANSWERED: the access reached no
		     * target (bus.ht: the error bit of the response) */
	uint8_t op; /* an enum weft_bus_tagged_op (TAGGED) */
	/* An enum weft_bus_error. STORE and LOAD carry the error of the access.
	 * In BURST and MEM_* any error means that bit 0 of the first byte is
	 * wrong. In the DONE of a read an error means that the split completion
	 * arrives a second time and ends at data_end. */
	uint8_t wrong;
	uint8_t load; /* number that the host gave the load (LOADED) */
	uint16_t tag;
	struct weft_slice slice;
	struct weft_bus_txn *txn; /* transaction of the device that the note
				   * is about */
	/* `frame` is the time at which FRAME# was asserted and the tenure
	 * began. In STORE, LOAD and TAGGED both times are for observers: the
	 * access began on the bus at `frame`, and the host handed the access to
	 * the bus at `asked`. */
	weft_time_t frame, asked;
	uint64_t trace_id;    /* trace_id of the transaction (MEM_WRITE) */
	weft_time_t data_end; /* time at which the last datum of this tenure
			       * has moved */
	uint64_t cond;	      /* condition of a conditional store (TAGGED), see
			       * weft_bus_tagged */
	uint8_t data[64];     /* bytes of STORE, LOADED, TAGGED, ANSWERED */
};

/* A tagged access of the host (hostport.md 10.1). On the bus it is a header of
 * 8 bytes {op 8, tag kind 1, size 7, tag 16, reserved 32}, an address of 8
 * bytes, the condition of 8 bytes for TCSTORE, and the data. */
struct weft_bus_tagged {
	enum weft_bus_tagged_op op;
	bool user;    /* true: tag given by the program; false: tag of the
		       * program's process */
	uint16_t tag; /* tag of the request */
	uint8_t space;
	uint64_t off;
	uint32_t bytes;	  /* stores: 4..64, a multiple of 4; loads: 4 or 8 */
	uint64_t cond;	  /* condition of a TCSTORE, as WEFT_COND makes it */
	const void *data; /* bytes to store; stores alone use them */
};

/* Returns a condition {kind 8, bit 8, address 48}. */
#define WEFT_COND(kind, bit, addr)                                             \
	((uint64_t)(uint8_t)(kind) << 56 | (uint64_t)(uint8_t)(bit) << 48 |    \
	 ((uint64_t)(addr)&0xffffffffffff))
enum { WEFT_COND_ROOM }; /* Condition: the queue at the address is not full. */

/* Operations of a bus. weft_port.iface of its ports points to them. */
struct weft_bus_ops {
	/* Starts a transaction of the device. REQ# is asserted immediately. */
	void (*submit)(struct weft_port *dev_port, struct weft_bus_txn *t);
	/* Answers NOTE_LOAD. Must be called in the event that dequeues the
	 * note. A load that
	 * the device does not answer (decoding off) ends with a master
	 * abort. */
	void (*reply)(struct weft_port *dev_port, const void *data,
		      uint32_t bytes);
	/* Answers NOTE_LOAD by all ones and an error, because the device has no
	 * register at the address. NULL: weft_bus_refuse answers by all
	 * ones. */
	void (*refuse)(struct weft_port *dev_port);
	/* Sets the device's interrupt line (INTA#, level). */
	void (*irq)(struct weft_port *dev_port, bool asserted);
	/* Asserts PERR# or SERR# for the device. NULL: the bus has no such
	 * lines. */
	void (*signal)(struct weft_port *dev_port, enum weft_bus_signal line);
	/* For the host. Puts a store into the bridge's posted-write buffer. The
	 * store has 4..64 bytes, a multiple of 4, or 1 or 2 bytes in
	 * configuration space. On bus.ht the store lies inside an aligned line
	 * of 64 bytes. Returns false when the buffer is full: the host then
	 * waits for NOTE_STORED.
	 */
	bool (*pio_store)(struct weft_port *host_port, uint32_t dev,
			  uint8_t space, uint64_t off, const void *data,
			  uint32_t bytes);
	/* For the host. Starts a load of 1..8 bytes behind all earlier stores.
	 * NOTE_LOADED carries the bytes, all ones when no device answers. One
	 * load is in flight at a time, unless `loads` returns more. */
	void (*pio_load)(struct weft_port *host_port, uint32_t dev,
			 uint8_t space, uint64_t off, uint32_t bytes);
	/* Returns how many loads may be in flight at a time. Each load has a
	 * number below this limit, and the answer carries the load's number.
	 * NULL: 1. */
	uint32_t (*loads)(struct weft_port *host_port);
	/* Starts a load as pio_load does, and gives the load a number. Loads
	 * that pio_load starts have number 0. */
	void (*pio_load_as)(struct weft_port *host_port, uint32_t number,
			    uint32_t dev, uint8_t space, uint64_t off,
			    uint32_t bytes);
	/* Returns true when slot `dev` holds a device. */
	bool (*present)(struct weft_port *host_port, uint32_t dev);
	/* Returns the clock that counts the cycles of the bus at this port. */
	const struct weft_clock *(*clock)(struct weft_port *port);
	/* Each implements weft_bus_window, weft_bus_consumed or weft_bus_defer
	 * and returns its result. NULL: the bus has no back-pressure. */
	bool (*window)(struct weft_port *dev_port, uint32_t stores);
	bool (*consumed)(struct weft_port *dev_port, uint32_t stores);
	bool (*defer)(struct weft_port *dev_port);
	/* Fills the slices of memory reads with all bytes that have arrived by
	 * now. NULL: this bus never delays the bytes of a slice. */
	void (*settle)(struct weft_port *dev_port);
	/* Returns true when a device may have any number of transactions in
	 * flight. NULL or false: one read and one write. */
	bool (*many)(struct weft_port *dev_port);
	/* Starts a tagged access. Tagged loads and conditional stores count as
	 * loads: only one tagged load or conditional store is in flight at a
	 * time, behind all earlier stores, and WEFT_NOTE_ANSWERED ends it. A
	 * device that has not called takes_tagged gets no tagged accesses, and
	 * the host gets all ones with response tag 0 as answer. Returns false
	 * when the buffer has no room for a tagged store. On a bus without
	 * tagged accesses this and the next two functions are NULL. */
	bool (*pio_tagged)(struct weft_port *host_port, uint32_t dev,
			   const struct weft_bus_tagged *r);
	/* Enables the delivery of tagged accesses to the device. Returns
	 * true. */
	bool (*takes_tagged)(struct weft_port *dev_port);
	/* Answers a tagged load with its data, where `status` says whether the
	 * data are valid. Answers a conditional store without data, where
	 * `status` says whether the store was done. The device calls
	 * tagged_reply in the events in which it calls reply. */
	void (*tagged_reply)(struct weft_port *dev_port, const void *data,
			     uint32_t bytes, bool status);
};

/* Operations of a host. weft_port.iface of its bus port points to them. */
struct weft_bus_host_ops {
	/* Returns true when [phys, phys+bytes) is memory. */
	bool (*decode)(struct weft_port *host_port, weft_phys_t phys,
		       uint32_t bytes);
	/* Carries out the accesses to memory that are due by now. NULL: the
	 * host delays no access. */
	void (*settle)(struct weft_port *host_port);
};

/* Returns the operations of the bus at a device's or host's port, for calls
 * like weft_bus_of(p)->submit(p, t). */
static inline const struct weft_bus_ops *weft_bus_of(const struct weft_port *p)
{
	return (const struct weft_bus_ops *)p->peer->iface;
}

/* ---- back-pressure -----------------------------------------------------
 *
 * By default a device accepts every store when it arrives. A device that calls
 * weft_bus_window(port, n), in its start op or later but before the first
 * store, has n slots for stores. Each NOTE_STORE fills a slot, and
 * weft_bus_consumed empties slots. While no slot is empty, further stores wait
 * in the bus in their order. No store is lost, because the host's pio_store
 * returns false when the bridge's buffer is full. The store that waited longest
 * arrives at the first bus clock after weft_bus_consumed.
 *
 * NOTE_LOAD follows all stores that were submitted before the load, but needs
 * no slot. A device that must process the stores in its slots before it answers
 * a load defers the answer. Answers to the device's own reads overtake stores
 * that wait for a slot. When the read is `relaxed`, its answer also overtakes
 * stores that wait in the host's bridge.
 *
 * The functions return false, and do nothing, on a bus without back-pressure
 * (bus.pcix: the device must accept each store and answer each load at once).
 * On bus.pci the bridge retries an access to a device that has no free slot or
 * no answer. The retries occupy the bus. */

/* Gives the device room for this number of stores.  Returns false when the bus
 * has no back-pressure. */
static inline bool weft_bus_window(struct weft_port *dev_port, uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->window && bus->window(dev_port, stores);
}

/* Empties the slots of the oldest `stores` stores. Returns false when the bus
 * has no back-pressure. */
static inline bool weft_bus_consumed(struct weft_port *dev_port,
				     uint32_t stores)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->consumed && bus->consumed(dev_port, stores);
}

/* Lets the device answer a load by reply in a later event. Called in the event
 * that dequeued NOTE_LOAD. Returns false when the bus cannot wait for an
 * answer. The device must then answer in this event. */
static inline bool weft_bus_defer(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->defer && bus->defer(dev_port);
}

/* Answers NOTE_LOAD when the device has no register at the address. The device
 * then does not call reply. */
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

/* Fills the slices of the device's memory reads with all bytes that have
 * arrived by now. */
static inline void weft_bus_settle(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->settle)
		bus->settle(dev_port);
}

/* Asserts PERR# or SERR#. Does nothing on a bus without these lines. */
static inline void weft_bus_signal(struct weft_port *dev_port,
				   enum weft_bus_signal line)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	if (bus->signal)
		bus->signal(dev_port, line);
}

/* Returns true when a device may have any number of transactions in flight,
 * false when it may have one read and one write. */
static inline bool weft_bus_many(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->many && bus->many(dev_port);
}

/* Enables the delivery of tagged accesses to this device as WEFT_NOTE_TAGGED.
 * Called in the device's start op. Returns false when the bus has no tagged
 * accesses. */
static inline bool weft_bus_takes_tagged(struct weft_port *dev_port)
{
	const struct weft_bus_ops *bus = weft_bus_of(dev_port);

	return bus->takes_tagged && bus->takes_tagged(dev_port);
}

/* Dequeues the next note that is due by now. Returns false when no note is
 * due. */
bool weft_bus_next(struct weft_port *p, struct weft_bus_note *note_p);
/* Returns the number of notes in the queue, due or not. */
uint32_t weft_bus_queued(const struct weft_port *p);
/* Dequeues the next note, even if the note is not due yet. Used after the last
 * event of a run, because no later event can dequeue the note. Returns false
 * when the queue is empty. */
bool weft_bus_left(struct weft_port *p, struct weft_bus_note *note_p);
/* For the bus. Queues a copy of the note on the peer of bus_port, due at
 * note->time, which is later than now. The call takes ownership of the
 * reference in note->slice. */
void weft_bus_tell(struct weft_port *bus_port,
		   const struct weft_bus_note *note);
/* For the receiver. Requests an arrival for each queued note that is not due
 * yet, at the time of the note. Notes with WEFT_TOLD_QUIET, which were queued
 * without an arrival, get one, too. A receiver that stops polling and waits for
 * a note calls this function. */
void weft_bus_expect(struct weft_port *p);

WEFT_C_END

#endif
