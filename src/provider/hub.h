/* SPDX-License-Identifier: Apache-2.0 */
/* The process's one door to the fabric: the attachment, its endpoint, the
 * processes it talks to, the ports (endpoints of libfabric) it has, and the
 * operations under way.  All domains of a process share it, and its lock is
 * the lock of everything in this folder. */
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

/* Name of an endpoint: process << 16 | port; never 0, as no port is 0. */
typedef uint64_t wfi_name;
#define WFI_NAME(peer, port) ((wfi_name)(peer) << 16 | (uint16_t)(port))
#define WFI_PEER(name)	     ((uint32_t)((name) >> 16))
#define WFI_PORT(name)	     ((uint16_t)(name))

/* ctx of an operation of struct weft_ep: told when it has ended. */
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

/* Another process, or this one. */
struct wfi_peer {
	uint32_t addr;
	bool dead;
	bool busy;	       /* in the hub's list */
	struct wfi_pkts queue; /* what the transport did not take yet */
	TAILQ_ENTRY(wfi_peer) link;
	uint32_t acks[WFI_ACKS]; /* to go with the end of a progress */
	unsigned n_acks;
	bool owed; /* in the hub's list */
	struct wfi_peer *next_ack;
	struct map regions; /* struct wfi_region, see region.h */
};

/* A message that has come in.  Everything in it is the sender's word: the
 * header is complete, nothing else has been checked. */
struct wfi_in {
	struct wfi_peer *peer;
	wfi_name from;
	const struct wire *w;
	const void *data;
	size_t len;
};

/* Somebody who can be reached at a port. */
struct wfi_port {
	uint16_t num;
	bool open; /* to be found by WIRE_ASK */
	void (*in)(struct wfi_port *p, const struct wfi_in *in);
	void (*down)(struct wfi_port *p, struct wfi_peer *peer);
};

/* A port of an unknown process: 127.0.0.1. */
struct wfi_ask {
	uint16_t port;
	wfi_name name; /* 0: nobody has answered */
	uint64_t asked_us, first_us;
	uint32_t slots; /* of each node that have been asked */
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
	WFI_CALL_CQ_READ, /* that took something */
	WFI_CALLS
};

struct wfi_hub {
	struct wfi_hub *next; /* of the process */
	int refs;
	struct weft_att *att;
	struct weft_ep *ep;
	const struct weft_att_info *info;
	uint32_t self;
	pthread_mutex_t lock;
	size_t eager; /* payload of one message */

	struct map peers; /* by address */
	TAILQ_HEAD(, wfi_peer) busy;
	struct wfi_pkts loop;  /* to ourselves */
	struct wfi_peer *acks; /* peers that are owed some */
	bool progressing;
	struct map ports;
	struct map asks; /* by port */
	uint16_t next_port;

	uint16_t gen; /* of the first operations: answers to those of another
		       * hub of the process are not taken for theirs */
	struct wfi_slot *slot;
	size_t slots, first_free;
	TAILQ_HEAD(, wfi_op) live;
	TAILQ_HEAD(, wfi_op) again; /* what the transport had no room for */
	TAILQ_HEAD(, wfi_op) idle;  /* to be used again */

	struct wfi_reg *regs; /* registered memory, see bulk.h */
	uint64_t reg_uses, reg_drops;
	unsigned char *scratch;

	int stat[WFI_CALLS];
	enum wfi_call call; /* that is being made */
	uint64_t call_bytes;
};

int wfi_hub_get(struct wfi_hub **h_p);
void wfi_hub_put(struct wfi_hub *h);

static inline void wfi_lock(struct wfi_hub *h)
{
	pthread_mutex_lock(&h->lock);
}

static inline void wfi_unlock(struct wfi_hub *h)
{
	pthread_mutex_unlock(&h->lock);
}

/* ---- sending: all with the lock ---- */

struct wfi_peer *wfi_peer_get(struct wfi_hub *h, uint32_t addr);
/* One message.  -EAGAIN: nothing has happened; not with `must`, then it is
 * kept until there is room.  note may be NULL. */
int wfi_hub_send(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		 const struct iovec *iov, size_t n, struct wfi_note *note,
		 bool must);
/* A message without payload, or with this one, that must go. */
void wfi_hub_tell(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		  const void *data, size_t len);
void wfi_hub_ack(struct wfi_hub *h, struct wfi_peer *p, uint16_t port,
		 uint32_t id, int err);

/* Takes what has arrived.  True when something has. */
bool wfi_hub_progress(struct wfi_hub *h);
/* Without the lock, after a progress that changed nothing: sleeps a little. */
void wfi_hub_idle(struct wfi_hub *h);
void wfi_hub_wait(struct wfi_hub *h, uint32_t real_us);
/* A call that changes state costs this. */
void wfi_hub_charge(struct wfi_hub *h);

/* ---- calls of the user, as counted and timed (stat.c) ---- */

/* With the lock; one at a time. */
void wfi_calls_open(struct wfi_hub *h);
enum wfi_call wfi_call_of(uint64_t kind); /* as of wfi_tx.kind */
void wfi_call_begin(struct wfi_hub *h, enum wfi_call call, uint64_t bytes);
/* -FI_EAGAIN: it was none, the user makes it again. */
void wfi_call_end(struct wfi_hub *h, int rc);

/* ---- ports and names ---- */

/* num 0: any.  -EADDRINUSE. */
int wfi_port_open(struct wfi_hub *h, struct wfi_port *p, uint16_t num);
void wfi_port_close(struct wfi_hub *h, struct wfi_port *p);
void wfi_name_sin(wfi_name name, struct sockaddr_in *sin);
/* The endpoint at an address, or 0 while it is being asked for. */
wfi_name wfi_name_find(struct wfi_hub *h, const struct sockaddr_in *sin);
/* How long it has been asked for, in real time; 0: not, or not any more. */
uint64_t wfi_name_age(struct wfi_hub *h, const struct sockaddr_in *sin);
void wfi_name_ask(struct wfi_hub *h, const struct wfi_in *in);
void wfi_name_here(struct wfi_hub *h, const struct wfi_in *in);
bool wfi_sin_exact(const struct sockaddr_in *sin);
uint64_t wfi_real_us(void);

#endif
