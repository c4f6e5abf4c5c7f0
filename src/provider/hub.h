/* SPDX-License-Identifier: Apache-2.0 */
/* The hub is the process's access to the fabric. It holds the attachment, its
 * endpoint, the peers, the ports (endpoints of libfabric) and the operations in
 * flight. All domains of a process share the hub, and its lock protects
 * everything in this folder. */
#ifndef PROVIDER_HUB_H
#define PROVIDER_HUB_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "provider/map.h"
#include "provider/wire.h"
#include "weft/attach.h"

struct wfi_hub;
struct wfi_op;
struct wfi_reg;

/* Name of an endpoint: process << 16 | port. Never 0, because no port is 0. */
typedef uint64_t wfi_name;
#define WFI_NAME(peer, port) ((wfi_name)(peer) << 16 | (uint16_t)(port))
#define WFI_PEER(name)	     ((uint32_t)((name) >> 16))
#define WFI_PORT(name)	     ((uint16_t)(name))

/* ctx of an operation of struct weft_ep. fn is called when the operation
 * ends. */
struct wfi_note {
	void (*fn)(struct wfi_note *n, int status);
};

struct wfi_pkt {
	STAILQ_ENTRY(wfi_pkt) link;
	struct wfi_note *note;
	size_t len;
	char buf[];
};
STAILQ_HEAD(wfi_pkts, wfi_pkt);

enum { WFI_ACKS = 64 };

/* A process of the run: a peer, or this process. */
struct wfi_peer {
	uint32_t addr;
	bool dead;
	bool busy;	       /* the peer is in the hub's list of busy peers */
	struct wfi_pkts queue; /* messages that the transport has not accepted
				* yet */
	TAILQ_ENTRY(wfi_peer) link;
	/* Operations to acknowledge, in one message at the end of
	 * wfi_hub_progress, or earlier when the array is full. */
	uint32_t acks[WFI_ACKS];
	unsigned n_acks;
	bool owed; /* the peer is in the hub's list `acks` */
	struct wfi_peer *next_ack;
	struct map regions; /* regions of the peer, struct wfi_region
			     * (region.h) */
};

/* A received message with a complete header. Each handler checks the fields
 * that it uses, because they come from the sender. */
struct wfi_in {
	struct wfi_peer *peer;
	wfi_name from;
	const struct wire *w;
	const void *data;
	size_t len;
};

/* An object that receives messages at a port. */
struct wfi_port {
	uint16_t num;
	bool open; /* the port answers WIRE_ASK */
	void (*in)(struct wfi_port *p, const struct wfi_in *in);
	/* Called when a peer has ended. May be NULL. */
	void (*down)(struct wfi_port *p, struct wfi_peer *peer);
};

/* A search for the owner of a port at 127.0.0.1, whose process is unknown. */
struct wfi_ask {
	uint16_t port;
	wfi_name name; /* name of the owner; 0: no answer yet */
	uint64_t asked_us, first_us;
	uint32_t slots; /* number of slots of each node that have got the
			 * question */
};

struct wfi_slot {
	struct wfi_op *op;
	uint16_t gen;
};

enum wfi_call {
	WFI_CALL_SEND,
	WFI_CALL_TSEND,
	WFI_CALL_RECV,
	WFI_CALL_TRECV,
	WFI_CALL_WRITE,
	WFI_CALL_READ,
	WFI_CALL_ATOMIC,
	WFI_CALL_FETCH,
	WFI_CALL_CQ_READ, /* reads of a completion queue with a result */
	WFI_CALLS
};

struct wfi_hub {
	struct wfi_hub *next; /* next hub of the process */
	int refs;
	struct weft_att *att;
	struct weft_ep *ep;
	const struct weft_att_info *info;
	uint32_t self;
	pthread_mutex_t lock;
	size_t eager; /* payload bytes of one message */

	struct map peers; /* struct wfi_peer by address */
	TAILQ_HEAD(, wfi_peer) busy;
	struct wfi_pkts loop;  /* messages from this process to itself */
	struct wfi_peer *acks; /* peers that have to get acknowledgements */
	bool progressing;
	struct map ports;
	struct map asks; /* struct wfi_ask by port */
	uint16_t next_port;

	/* generation of the first operations; differs between hubs of the
	 * process, so that late answers to another hub do not match */
	uint16_t gen;
	struct wfi_slot *slot;
	size_t slots, first_free;
	TAILQ_HEAD(, wfi_op) live;
	/* operations for which the transport had no room */
	TAILQ_HEAD(, wfi_op) again;
	TAILQ_HEAD(, wfi_op) idle; /* free operations, for reuse */

	struct wfi_reg *regs; /* registrations of memory, see bulk.h */
	uint64_t reg_uses, reg_drops;
	unsigned char *scratch;

	int stat[WFI_CALLS];
	enum wfi_call call; /* call in progress */
	uint64_t call_bytes;
};

/* Gets the hub of the process's attachment, which the first call opens. Returns
 * 0 or negative errno. wfi_hub_put drops the hub. */
int wfi_hub_get(struct wfi_hub **h_p);
/* Drops one use of the hub. */
void wfi_hub_put(struct wfi_hub *h);

/* Takes the lock of the hub, which is recursive. */
static inline void wfi_lock(struct wfi_hub *h)
{
	pthread_mutex_lock(&h->lock);
}

static inline void wfi_unlock(struct wfi_hub *h)
{
	pthread_mutex_unlock(&h->lock);
}

/* ---- sending: all with the lock ---- */

/* Returns the record of a process, and makes it if necessary. Returns NULL if
 * memory is exhausted. */
struct wfi_peer *wfi_peer_get(struct wfi_hub *h, uint32_t addr);
/* Sends one message. Returns 0, -EPIPE if the peer is dead, or -EAGAIN if the
 * transport has no room. With `must` the message is queued if there is no room.
 * Calls `note` (may be NULL) when the send ends. */
int wfi_hub_send(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		 const struct iovec *iov, size_t n, struct wfi_note *note,
		 bool must);
/* Sends a message with `len` bytes of payload. Queues the message if the
 * transport has no room, because it must not be lost. */
void wfi_hub_tell(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		  const void *data, size_t len);
/* Acknowledges request `id` of the peer. err != 0 reports an error.
 * Acknowledgements without error are collected during wfi_hub_progress. */
void wfi_hub_ack(struct wfi_hub *h, struct wfi_peer *p, uint16_t port,
		 uint32_t id, int err);

/* Handles all messages and events that have arrived. Returns true if it has
 * handled any. */
bool wfi_hub_progress(struct wfi_hub *h);

/* ---- calls of the user, as counted and timed (stat.c) ---- */

/* Names the calls in the statistics. Called once, when the hub is opened. */
void wfi_calls_open(struct wfi_hub *h);
/* returns the call of a wfi_tx.kind */
enum wfi_call wfi_call_of(uint64_t kind);
/* Begins a call that changes state, and charges its cost. Called with the lock
 * held, which the caller keeps until wfi_call_end, because one call is counted
 * at a time. */
void wfi_call_begin(struct wfi_hub *h, enum wfi_call call, uint64_t bytes);
/* Ends a call. After -FI_EAGAIN the call is not counted, because the user
 * repeats it. */
void wfi_call_end(struct wfi_hub *h, int rc);

/* ---- ports and names ---- */

/* Opens a port (num 0: any). Returns 0 or -EADDRINUSE. */
int wfi_port_open(struct wfi_hub *h, struct wfi_port *p, uint16_t num);
/* Closes a port. Does nothing if the port is closed. */
void wfi_port_close(struct wfi_hub *h, struct wfi_port *p);
/* Writes the address of an endpoint to *sin. */
void wfi_name_sin(wfi_name name, struct sockaddr_in *sin);
/* Returns the name of the endpoint at an address, or 0 while the process
 * searches for the owner of the address. */
wfi_name wfi_name_find(struct wfi_hub *h, const struct sockaddr_in *sin);
/* Returns the real time in us since the search for the owner of an address
 * began, or 0 without a search. */
uint64_t wfi_name_age(struct wfi_hub *h, const struct sockaddr_in *sin);
/* Answers WIRE_ASK if this process has the port open. */
void wfi_name_ask(struct wfi_hub *h, const struct wfi_in *in);
/* Stores the answer to a WIRE_ASK of this process. */
void wfi_name_here(struct wfi_hub *h, const struct wfi_in *in);
/* Returns true if the address identifies a process by its node and slot. */
bool wfi_sin_exact(const struct sockaddr_in *sin);
/* Returns real time in us. */
uint64_t wfi_real_us(void);

#endif
