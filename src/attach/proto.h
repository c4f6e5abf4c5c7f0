/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol between an attached process and the simulator: the messages of their
 * socket, and the segment of memory that the simulator sends on the socket.
 *
 *   process                                          simulator
 *     commands  ---- ring, 64 bytes each, payload in tx --->  agent of its node
 *     events    <--- ring, 64 bytes each, data in rx -------
 *     state     RUN: time stands still; WAIT: time may pass; OUT: asleep
 *               in the kernel, counts as WAIT; GONE: detached
 *
 * The process is not trusted.  The simulator copies what it reads once and
 * checks the copy, because the process can change the segment at any time.  The
 * simulator's own state is in private memory, so that a damaged segment
 * detaches its process without effect on other clients. */
#ifndef ATTACH_PROTO_H
#define ATTACH_PROTO_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/times.h"
#include "weft/attach.h"

enum {
	ATT_MAGIC = 0x54464557, /* "WEFT" */
	ATT_CMDS = 1024,
	ATT_EVENTS = 1024,
	ATT_RX_SLOTS = 64,
	ATT_TX_MIN = 256 << 10,
	ATT_SEND_FDS = 2,	/* descriptors of segment and bell */
	ATT_RAW_MSG = 64 << 10, /* longest message for which the segment of a
				 * client without an endpoint has room */
};

/* Longest processor time of one command, in fs. */
#define ATT_BUSY_MAX (3600 * WEFT_SEC)
/* Simulated time after which commands are refused, because a 64-bit count of
 * femtoseconds ends after 5 hours. */
#define ATT_TIME_MAX (4 * 3600 * WEFT_SEC)

enum att_state { ATT_RUN, ATT_WAIT, ATT_OUT, ATT_GONE };

/* ---- on the socket ---- */

/* Kind of client: a process with an endpoint, a process that calls weft/host.h
 * itself, or a further thread of such a process. */
enum att_role { ATT_ROLE_EP, ATT_ROLE_HOST, ATT_ROLE_THREAD };

struct att_hello {
	uint32_t magic, version;
	uint32_t rank; /* UINT32_MAX: unknown */
	uint32_t pid;
	uint32_t role; /* enum att_role */
};

struct att_welcome {
	uint32_t magic, version;
	int32_t status; /* 0, or negative errno; descriptors arrive only with
			 * status 0 */
	uint32_t unused;
	uint64_t seg_bytes, bell_bytes;
};

/* ---- memory common to all processes ----
 * A process that notifies the simulator increments seq, and wakes the simulator
 * if it sleeps. A process that damages this memory can only make the simulator
 * check more often or later, because each sleep of the simulator is short. */
struct att_bell {
	_Atomic uint32_t seq;
	_Atomic uint32_t asleep;
};

/* ---- commands ---- */

enum att_cmd_kind {
	ATT_C_NOP, /* without effect except for its processor time */
	ATT_C_SEND,
	ATT_C_PUT,
	ATT_C_GET,
	ATT_C_FADD,
	ATT_C_CSWAP,
	ATT_C_RELEASE,
	ATT_C_MR_REG,
	ATT_C_MR_DEREG,
	ATT_C_NOW,
	ATT_C_BEGIN,
	ATT_C_END,
	ATT_C_ASIDE,
	ATT_C_EPOCH,
	ATT_C_OVER,
	ATT_C_BYE,
	ATT_C_KINDS
};

enum {
	ATT_F_QUIET = 1,  /* only errors give an event */
	ATT_F_NOTIFY = 2, /* the target of a PUT gets an event */
	ATT_F_DROP = 4,	  /* the call of an END is not counted */
	ATT_F_END = 8,	  /* an EPOCH is a common end, not a common start */
};

struct att_cmd {
	uint8_t kind, flags;
	uint16_t unused;
	uint32_t dst;
	uint64_t busy; /* processor time before the command, in fs */
	uint64_t ctx;  /* returned in the event of the command, or number of the
			* reply */
	uint64_t buf;  /* offset in tx (SEND), local address (PUT, GET, MR),
			* addend (FADD), expected value (CSWAP), or slot of rx
			* (RELEASE) */
	uint64_t len;  /* number of bytes, or desired value (CSWAP) */
	uint64_t raddr, rkey;
	uint32_t imm;
	uint32_t unused2;
};

/* ---- events ---- */

struct att_event {
	uint32_t kind; /* enum weft_ep_kind */
	int32_t status;
	uint32_t src, imm;
	uint64_t ctx, len, result;
	uint64_t data; /* offset in rx (RECV) */
	uint32_t slot; /* slot of rx, for RELEASE (RECV) */
	uint32_t unused;
	uint64_t time; /* time at which the agent wrote the event, in fs */
};

/* Reply to a command. The field `ctx` of the command is the number of the
 * reply. */
struct att_reply {
	int32_t status;
	uint32_t stores; /* weft/host.h: stores still in flight */
	uint64_t a, b, c;
};

struct att_stat {
	char name[WEFT_ATT_STAT_NAME];
	uint64_t calls, bytes;
	/* Processor time in fs of the calls that posted no command. */
	uint64_t time, max;
};

/* ---- weft/host.h ---- */

/* Calls that return before the simulator has executed them. A call with a
 * result always waits. */
enum att_post_kind {
	ATT_POST_NONE,
	ATT_POST_FREE, /* calls that take no time */
	ATT_POST_ALL,
};

/* The node's properties for clients of weft/host.h. */
struct att_seg_host {
	uint64_t mem_bytes, mem_base; /* memory of the node; 0: clients of
				       * weft/host.h are refused */
	uint64_t cost_store, cost_wc;
	uint32_t post;		   /* enum att_post_kind */
	uint32_t own;		   /* handle of the process in which the thread
				    * starts */
	uint64_t time[HOST_TIMES]; /* times of the host model */
};

/* ---- the segment ---- */

#define ATT_LINE __attribute__((aligned(64)))

struct att_seg {
	/* The simulator writes the next fields before the client receives the
	 * segment. */
	uint32_t magic, version;
	uint64_t bytes;
	uint64_t cmd_off, ev_off, tx_off, rx_off;
	uint64_t tx_bytes, rx_bytes, rx_slot;
	uint32_t n_cmds, n_events; /* powers of two */
	uint64_t cost_clock;
	uint32_t spin;	     /* number of polls before a thread sleeps */
	uint32_t trace;	     /* BEGIN and END are recorded for the timeline */
	uint64_t cpu_factor; /* simulated fs for each ns of processor time
			      * (WEFT_CLOCK_CPU) */
	struct weft_att_info info;
	struct att_seg_host host;

	/* Both sides write the next fields. */
	ATT_LINE _Atomic uint32_t state; /* an enum att_state, used as a
					  * futex */
	_Atomic uint32_t sim_waits; /* the process must wake the simulator when
				     * the state is no longer RUN */
	_Atomic uint32_t sleeps;    /* number of sleeping threads */

	/* The process writes the next fields. */
	ATT_LINE _Atomic uint32_t cmd_tail;
	_Atomic uint32_t ev_head;
	_Atomic uint32_t want_room; /* the process asks to be woken when half of
				     * the ring's commands have been executed */
	_Atomic uint32_t told;	  /* in an untimed run: the process has rung the
				   * bell since the gate last checked */
	_Atomic uint32_t armed;	  /* the process wants a byte on the socket at
				   * the next event */
	_Atomic uint32_t outside; /* a thread of weft/host.h waits in real
				   * time. Simulated time must not advance. */
	_Atomic uint64_t deadline; /* simulated time at which the wait ends */
	_Atomic uint64_t
		/* A bit for each slot of rx to release. A process sets bits
		 * here when the ring of commands is too full for a RELEASE. */
		released;

	/* The simulator writes the next fields. */
	ATT_LINE _Atomic uint32_t cmd_head;
	_Atomic uint32_t ev_tail;
	_Atomic uint64_t now; /* simulated time of the last hand-over to the
			       * client */
	_Atomic uint64_t reply_seq;
	struct att_reply reply;

	/* The process writes the next field. */
	ATT_LINE struct att_stat stat[WEFT_ATT_STATS];
};

/* Returns real time in ns (direct.c). */
uint64_t att_now_ns(void);
/* Returns a number of bytes rounded up to pages (direct_hub.c). */
uint64_t att_page_up(uint64_t bytes);

/* Sleeps on p until a wake-up, for at most ns. Returns at once if *p is not
 * `old`, so that a wake-up before the call is not lost. Returns -1 with errno
 * ETIMEDOUT when ns have passed. */
static inline long att_futex_wait(_Atomic uint32_t *p, uint32_t old,
				  uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000),
			       (long)(ns % 1000000000) };

	return syscall(SYS_futex, p, FUTEX_WAIT, old, &ts, NULL, 0);
}

/* Wakes all sleepers on p. */
static inline void att_futex_wake(_Atomic uint32_t *p)
{
	syscall(SYS_futex, p, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Notifies the simulator. Makes the system call only if the simulator sleeps,
 * because the call is slow. */
static inline void att_bell_ring(struct att_bell *b)
{
	atomic_fetch_add(&b->seq, 1);
	if (atomic_load(&b->asleep))
		att_futex_wake(&b->seq);
}

/* Executes the processor's hint for loops that poll. */
static inline void att_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
