/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent of HVIA-GE (hvia.md 6.2 to 6.4): the driver of a node's card.
 *
 *   process: VIPL ---- doorbell page of its own VIs ----------------> card
 *              | trap (enum hvia_call)                                 ^
 *            agent: protection tags, regions, VIs, connections -- PIO -+
 *              threads: interrupts and kernel packets; time-outs
 *
 * This file has the interface between VIPL and the agent first, then the
 * agent's own state. */
#ifndef SYSTEMS_HVIA_LIB_AGENT_H
#define SYSTEMS_HVIA_LIB_AGENT_H

#include "systems/hvia/lib/translation_table.h"
#include "systems/hvia/nic/regs_map.h"
#include "weft/host.h"

enum { HVIA_DISC = 16, HVIA_ERR_QUEUE_LEN = 2048 };

/* Attributes of a VI. Both ends of a connection must agree on reliability,
 * transfer size and quality of service. */
struct hvia_vi_attr {
	uint16_t reliability;
	uint32_t max_transfer;
	uint64_t qos;
	uint32_t ptag;
	bool rdma_write, rdma_read;
	bool stamped; /* the card numbers the completions of this VI */
};

/* Network address. */
struct hvia_addr {
	uint8_t mac[6];
	uint8_t len; /* number of bytes of the discriminator */
	uint8_t disc[HVIA_DISC];
};

/* Asynchronous error, which belongs to no call (5.6). */
struct hvia_async {
	uint32_t code, vi, queue;
	uint64_t token;
	void *cq; /* completion queue that the error concerns, or NULL */
};

enum hvia_conn_state {
	HVIA_CONN_NONE,
	HVIA_CONN_ASKED, /* request sent */
	/* the accept was sent, but its acknowledgement has not arrived */
	HVIA_CONN_ACCEPTED,
	HVIA_CONN_UP,
	HVIA_CONN_ENDED, /* with `result` */
};

/* Kernel state of a VI. VIPL may read it. */
struct hvia_kvi {
	struct weft_proc *proc; /* NULL: free */
	struct hvia_client *client;
	struct weft_io page; /* doorbell page in the process */
	struct hvia_vi_attr attr;
	enum hvia_vi_state state;
	/* the VI is in ERROR, and all posted descriptors have been flushed */
	bool flushed;
	uint32_t event; /* incremented when the connection changes */
	/* Connection. */
	enum hvia_conn_state conn;
	bool peer; /* the request is peer to peer */
	int result;
	uint64_t id;
	struct hvia_addr local, remote;
	struct hvia_vi_attr remote_attr;
	uint32_t remote_vi, tries;
	weft_time_t again, deadline;
	/* payload bytes of a frame: the lower of the limits of both cards */
	uint32_t payload;
	/* State of the reliable service on this side (mine) and on the remote
	 * side (theirs): next frame expected, status bits of an error. A
	 * disconnect carries this state, because the acknowledgement may be
	 * lost with the connection. theirs.said is set when a disconnect has
	 * brought the remote side's state, and cleared when the service applies
	 * that state. */
	struct {
		uint16_t next, error;
		bool said;
	} mine, theirs;
};

/* One opening of the card by a process. A process may open the card several
 * times. */
struct hvia_client {
	struct hvia_agent *agent;
	struct weft_proc *proc;
	uint32_t event; /* incremented with each error or completion */
	struct hvia_async err[HVIA_ERR_QUEUE_LEN];
	uint32_t err_in, err_out;
	bool closed;
	struct hvia_client *next;
};

/* A queue whose next completion wakes a sleeping client. */
struct hvia_armed {
	uint32_t vi, queue;
	/* status word of the oldest descriptor of the queue */
	const volatile uint32_t *status;
};

/* ---- calls: all return 0 or a negative errno ---- */

enum hvia_call {
	HVIA_CALL_OPEN,	 /* struct hvia_open */
	HVIA_CALL_CLOSE, /* struct hvia_close */
	HVIA_CALL_PTAG,	 /* struct hvia_ptag_arg */
	HVIA_CALL_PTAG_FREE,
	HVIA_CALL_REG, /* struct hvia_mem_arg */
	HVIA_CALL_DEREG,
	HVIA_CALL_MEM_QUERY,
	HVIA_CALL_MEM_SET,
	HVIA_CALL_VI, /* struct hvia_vi_arg */
	HVIA_CALL_VI_FREE,
	HVIA_CALL_VI_SET,
	HVIA_CALL_ARM,	  /* struct hvia_arm_arg */
	HVIA_CALL_LISTEN, /* struct hvia_conn_arg */
	HVIA_CALL_ACCEPT,
	HVIA_CALL_REJECT,
	HVIA_CALL_REQUEST,
	HVIA_CALL_PEER,
	HVIA_CALL_DISCONNECT,
	HVIA_CALL_FAIL, /* struct hvia_fail_arg */
	HVIA_CALLS
};

struct hvia_open {
	struct hvia_client *client;
	uint32_t number; /* number of the client, unique on its node */
	uint8_t mac[6];
	uint32_t payload; /* payload bytes of a frame */
	uint64_t version;
};

struct hvia_close {
	struct hvia_client *client;
};

struct hvia_ptag_arg {
	uint32_t ptag;
};

struct hvia_mem_arg {
	struct hvia_client *client;
	uint64_t va, len;
	uint32_t ptag, handle;
	bool rdma_write, rdma_read;
};

struct hvia_vi_arg {
	struct hvia_client *client;
	uint32_t vi;
	struct hvia_kvi *k;
	struct hvia_vi_attr attr;
};

/* Arms all queues, polls them once more, and sleeps until client->event !=
 * seen. Polls after arming, because a completion that arrived before its queue
 * was armed raises no interrupt. Returns 0 after a completion or an error,
 * -ETIMEDOUT at the deadline. */
struct hvia_arm_arg {
	struct hvia_client *client;
	struct hvia_armed *armed;
	uint32_t n, seen;
	weft_time_t deadline;
};

struct hvia_conn_arg {
	struct hvia_client *client;
	uint32_t vi; /* VI of ACCEPT, REQUEST, PEER and DISCONNECT */
	struct hvia_addr local, remote;
	struct hvia_vi_attr remote_attr; /* result */
	/* id of a request: the result of LISTEN, an argument of ACCEPT and
	 * REJECT */
	uint64_t conn;
	weft_time_t deadline;
};

/* An error that the library reports. If `end` is set, both sides lose the
 * connection, because the library cannot continue with the VI. */
struct hvia_fail_arg {
	uint32_t vi, code, queue; /* enum hvia_error */
	uint64_t token;
	bool end;
};

/* Stores address, length and protection tag of a region. Returns false if the
 * region does not belong to the client. */
bool hvia_region(const struct hvia_client *c, uint32_t handle, uint64_t *va_p,
		 uint64_t *len_p, uint32_t *ptag_p);
/* Queues an asynchronous error for the client and wakes it. */
void hvia_client_tell(struct weft_host *h, struct hvia_client *c,
		      const struct hvia_async *e);
/* Returns true if the device is an HVIA-GE. */
bool hvia_probe(struct weft_host *h, struct weft_dev *d);
/* Loads the agent of the node unless it is loaded. `h` must be the monitor.
 * Returns 0, -ENODEV or -ENOMEM. */
int hvia_agent_load(struct weft_host *h, struct weft_dev *d);

/* ---- private to the agent ---- */

struct hvia_region {
	struct weft_proc *proc; /* NULL: free */
	struct hvia_l1 l1;
	uint64_t va, len; /* address and length as registered */
};

/* A connection request that waits for accept or reject, or that was answered.
 * Answered requests are kept, so that a duplicate gets an equal answer. */
struct hvia_request {
	uint64_t id; /* 0: free */
	struct hvia_addr from, to;
	struct hvia_vi_attr attr;
	uint32_t vi; /* VI of the requester */
	uint32_t payload;
	bool peer;
	/* the request is from a peer, and no local VI has requested that
	 * connection yet */
	bool waits;
	uint8_t answer; /* type of the answer, or 0 before the answer */
	uint32_t mine;	/* local VI that accepted the request */
	uint64_t age;
};

struct hvia_listener {
	struct weft_proc *proc;
	const struct hvia_addr *local;
	struct hvia_request *got;
	uint32_t event;
	struct hvia_listener *next;
};

/* A kernel packet, built and parsed by agent_packets.c. */
struct hvia_pkt {
	uint8_t type;
	uint8_t mac[6]; /* address of the remote station */
	uint32_t dst_vi, src_vi;
	uint64_t id;
	uint16_t word, error; /* see agent_packets.c */
	bool peer;
	struct hvia_vi_attr attr;
	struct hvia_addr from, to; /* discriminators */
};

/* A disconnect that the remote agent has not confirmed. */
struct hvia_leaving {
	struct hvia_pkt pkt;
	uint32_t tries; /* number of times sent, or 0 before the first */
	weft_time_t again;
};

/* A queue whose completion wakes a sleeping client. */
struct hvia_wait {
	struct hvia_client *client;
	struct hvia_armed q;
	bool told;
};

enum {
	HVIA_REQUESTS = HVIA_VIS,
	HVIA_LEAVING = 8, /* largest number of disconnects in flight */
	/* number of tries for packets that the remote agent must answer */
	HVIA_TRIES = 20,
};

struct hvia_agent {
	struct weft_dev *dev;
	struct weft_io ctrl;
	bool locked;
	uint8_t mac[6];
	uint32_t payload; /* payload bytes of a frame */
	uint64_t ctrl_bits, ids, ages;
	struct hvia_att att;
	struct {
		VEC(struct hvia_region);
	} region; /* by handle */
	/* the two levels of a table in host memory (CTRL.ATT_HOST), or NULL if
	 * the table is on the card */
	struct {
		uint8_t *l1;
		uint32_t *l2;
	} host;
	struct weft_proc *ptag[HVIA_PTAGS]; /* owners by tag */
	struct hvia_kvi vi[HVIA_VIS];
	struct hvia_client *clients;
	struct {
		VEC(struct hvia_wait);
	} waits;
	struct hvia_listener *listeners;
	struct hvia_request request[HVIA_REQUESTS];
	struct {
		VEC(struct hvia_leaving);
	} leaving; /* disconnects in the order of their calls */
	uint64_t compactions;
	uint32_t opens;
	/* incremented when a packet needs an earlier time-out */
	uint32_t timer;
};

static inline void agent_store(struct hvia_agent *a, struct weft_host *h,
			       uint64_t off, uint64_t val)
{
	weft_io_store64(h, &a->ctrl, off, val);
}
static inline uint64_t agent_load(struct hvia_agent *a, struct weft_host *h,
				  uint64_t off)
{
	return weft_io_load64(h, &a->ctrl, off);
}

/* Counts an event and wakes threads that wait for it. */
static inline void hvia_notify(struct weft_host *h, uint32_t *event)
{
	++*event;
	weft_host_wake(h, event);
}

/* Takes the agent's lock. Sleeps while another thread has it. */
void agent_lock(struct hvia_agent *a, struct weft_host *h);

static inline void agent_unlock(struct hvia_agent *a)
{
	a->locked = false;
}

/* agent_memory.c, called with the lock held */
int agent_mem_init(struct hvia_agent *a, struct weft_host *h);
/* Calls of enum hvia_call: `arg` is the struct that the enum names. Each
 * returns 0 or a negative errno. */
int agent_ptag(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_ptag_free(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_reg(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_dereg(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_mem_query(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_mem_set(struct hvia_agent *a, struct weft_host *h, void *arg);

static inline bool agent_ptag_valid(const struct hvia_agent *a,
				    const struct weft_proc *p, uint32_t ptag)
{
	return ptag && ptag < HVIA_PTAGS && a->ptag[ptag] == p;
}

/* Frees tags and regions of a process that has ended. */
void agent_mem_gone(struct hvia_agent *a, struct weft_host *h,
		    struct weft_proc *p);

/* agent_vi.c */
/* Calls of enum hvia_call with the arguments that the enum names. Each returns
 * 0 or a negative errno. */
int agent_vi(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_vi_free(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_vi_set(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_arm(struct hvia_agent *a, struct weft_host *h, void *arg);
/* Writes the entry of a VI on the card from the VI's kernel state. */
void agent_vi_write(struct hvia_agent *a, struct weft_host *h, uint32_t vi);
/* Returns after all posted descriptors of the VI have been completed. */
void agent_vi_flush(struct hvia_agent *a, struct weft_host *h, uint32_t vi);
/* Frees the VIs of a process that has ended. */
void agent_vi_gone(struct hvia_agent *a, struct weft_host *h,
		   struct weft_proc *p);
/* Handles the error interrupt: reads and handles all errors that the card has
 * queued. */
void agent_errors(struct hvia_agent *a, struct weft_host *h);
/* Handles an asynchronous error: notifies the client, and ends the VI if the
 * error requires it. */
void agent_error(struct hvia_agent *a, struct weft_host *h,
		 const struct hvia_async *e);

/* agent_connections.c */
/* Calls of enum hvia_call. They may sleep, therefore they take and release the
 * lock themselves. */
int agent_listen(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_accept(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_reject(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_request(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_peer(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_disconnect(struct hvia_agent *a, struct weft_host *h, void *arg);
int agent_fail(struct hvia_agent *a, struct weft_host *h, void *arg);
/* Ends the connection of a VI. Notifies the remote side if the connection was
 * up. */
void agent_conn_end(struct hvia_agent *a, struct weft_host *h, uint32_t vi);

/* Resends packets whose answer is overdue. Gives a packet up after its last
 * attempt or its deadline. Returns the time at which the agent must call this
 * function again. */
weft_time_t agent_conn_again(struct hvia_agent *a, struct weft_host *h);
/* Handles a connection packet that has arrived. */
void agent_packet(struct hvia_agent *a, struct weft_host *h,
		  const struct hvia_pkt *p);

/* agent_packets.c */
/* Sends a packet. Waits while the card's only buffer is in use. */
void agent_send(struct hvia_agent *a, struct weft_host *h,
		const struct hvia_pkt *p);
/* Reads the oldest received packet and removes it from the card. */
enum agent_got {
	AGENT_NONE,
	AGENT_OTHER, /* a packet of another kind, or a malformed one, was
			removed */
	AGENT_PACKET,
};
enum agent_got agent_recv(struct hvia_agent *a, struct weft_host *h,
			  struct hvia_pkt *p);

#endif
