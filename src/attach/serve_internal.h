/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that files of the simulator's side of attached processes share:
 * the server (serve.c), joining and leaving (serve_watch.c, which is a separate
 * thread, serve_join.c, serve_seg.c), the gate (serve_gate.c), rings and state
 * of a client (serve_client.c), commands (serve_cmd.c, serve_mem.c), memory of
 * a client (serve_far.c), the measured part (serve_epoch.c), calls
 * (serve_stat.c), the job (serve_job.c, serve_proc.c), agents (agent.c). */
#ifndef ATTACH_SERVE_INTERNAL_H
#define ATTACH_SERVE_INTERNAL_H

#include <pthread.h>

#include "attach/proto.h"
#include "attach/serve.h"
#include "base/pidfd.h"
#include "base/ring.h"
#include "base/vec.h"
#include "host/process_memory.h"

enum { ATT_NODE_SLOTS = 255, ATT_OPEN = 8 };

enum {
	AGENT_C_COMMANDS,
	AGENT_C_EVENTS,
	AGENT_C_HANDOVERS,
	AGENT_C_SENDS,
	AGENT_C_SEND_BYTES,
	AGENT_C_RECVS,
	AGENT_C_RECV_BYTES,
	AGENT_C_PUTS,
	AGENT_C_PUT_BYTES,
	AGENT_C_GETS,
	AGENT_C_GET_BYTES,
	AGENT_C_ATOMICS,
	AGENT_C_STALLS,
	AGENT_C_VIOLATIONS,
	AGENT_C_BROKEN,
	AGENT_C_N
};

struct att_client;

/* A message that a client holds or is about to receive. */
struct att_msg {
	struct weft_ep_event ev; /* event of the endpoint, which needs a
				  * release */
	void *own;		 /* copy of a message from a client of this
				  * node, or NULL */
	bool used;
};

/* An event that found the ring full. */
struct att_late {
	struct att_event e;
	struct att_msg m; /* message of a RECV event */
};

/* A region of a client's memory. */
struct att_mr {
	struct weft_ep_mr mr;
	void *shadow;
	struct att_client *c;
};

/* A range of a client's memory, at addresses that devices of the node can
 * use. */
struct att_shadow {
	struct att_client *c;
	uint8_t *p;
	uint64_t va, len, age;
	uint32_t users;
};

/* An operation of the endpoint in flight. */
struct att_op {
	struct att_op *next;
	struct att_client *c;
	uint64_t ctx;
	bool quiet;
	uint32_t class_; /* size class of the stage */
	void *stage;	 /* device-visible copy of the data, or NULL */
	void *shadow;	 /* shadow that holds the data, or NULL */
};

/* State of the program host.agent of a node. */
struct att_agent {
	/* Parameters: */
	uint32_t max_msg, rx_slots, eager_max, batch, post;
	bool use_irq;
	weft_time_t cost_call;
	/* State of the run: */
	struct att_server *srv;
	struct weft_comp *prog;
	struct weft_host *h;
	struct weft_ep *ep;
	uint32_t node;
	weft_time_t cost_clock; /* cost of reading the clock on this node */
	bool opened, parked, ended;
	bool waiting;	   /* the agent is inside agent_wait */
	weft_time_t until; /* deadline of agent_wait */
	bool plans;	   /* the agent's next deadline has changed */
	bool mourns;	   /* regions or messages of detached clients remain */
	uint32_t near;	   /* number of calls of agent_give that resumed clients
			    * since the last poll of the endpoint */
	struct {
		VEC(struct att_client *);
	} clients; /* attached clients, by slot */
	struct {
		VEC(struct att_mr);
	} mrs;
	struct {
		VEC(struct att_shadow);
	} shadows;
	uint64_t shadow_age;
	struct {
		VEC(struct att_client *);
	} graves;	      /* detached clients that still hold messages */
	struct att_node *raw; /* state of a node whose processes call
			       * weft/host.h (serve_host.h), or NULL */
	int mem_fd;	      /* descriptor of the node's memory */
	struct att_op *free_ops;
	uint32_t n_ops; /* operations in flight */
	struct {
		VEC(void *);
	} stage[32]; /* free buffers of 2^i bytes */
};

/* Wait of a client for a common start or end. seq is the number of the command,
 * or 0 when the client does not wait. */
struct att_epoch {
	uint64_t seq, job;
	weft_time_t at; /* common time of start or end; WEFT_NEVER: some
			 * clients do not wait yet */
	bool end;
};

/* Times of a kind of call (att_timed), and traffic to a rank (att_sent). */
struct att_timed {
	weft_time_t sum, max;
};
struct att_sent {
	uint64_t messages, bytes;
};

/* Addresses of the rings and buffers in a client's segment. */
struct att_view {
	const struct att_cmd *cmd;
	struct att_event *ev;
	const uint8_t *tx;
	uint8_t *rx;
	uint64_t tx_bytes, rx_slot, max_msg;
};

/* A client's thread on the modelled node, which calls weft/host.h. */
struct att_thread {
	struct weft_host *h;
	struct weft_proc *proc; /* current process; NULL: monitor */
	struct weft_far_owner *far_owner;
	uint32_t depth; /* number of nested driver calls */
	bool parked, killed;
};

/* Observations of a client that may sleep: its processor time, the start of its
 * inactivity, and the time at which it was stopped. */
struct att_stillness {
	uint64_t ran_ns, quiet_since, stop_since;
};

/* The measured part of a client. */
struct att_measured {
	weft_time_t start, over; /* begin and end of the measured part; 0: not
				  * yet reached */
	uint64_t violations;	 /* causality violations so far; set to 0 at the
				  * start of the part */
	uint64_t events, handovers; /* counts so far; att_cmd_aside subtracts
				     * them from the counts of the run */
};

/* Counts and times of a client's calls (weft_att_stat). */
struct att_calls {
	struct att_stat stat[WEFT_ATT_STATS];
	struct att_timed timed[WEFT_ATT_STATS]; /* times of calls, measured by
						 * the agent */
	struct {
		uint32_t stat;
		weft_time_t from;
	} open[ATT_OPEN]; /* calls not yet ended */
	uint32_t n_open;
	struct att_sent *sent; /* traffic to each rank, or NULL */
};

/* One attached process. */
struct att_client {
	struct att_server *srv;
	struct att_agent *g;
	uint32_t node, slot, rank, gen, role;
	pid_t pid; /* for output; signals use the pidfd */
	struct pidfd who;
	int sock;
	struct att_seg *seg;
	size_t seg_bytes;
	struct att_view view;
	_Atomic bool eof; /* set by the watcher when the socket was closed */
	/* The simulation writes the fields from here on. */
	bool gone, left, broken;
	bool leaving; /* the client receives no more messages */
	bool running; /* simulated time waits for the client */
	bool resumed; /* the client continued without a hand-over, although time
		       * had passed since its wait started */
	bool wake;    /* events wait to be published to the client */
	bool missed;  /* the client did not wait at its last hand-over */
	bool charged; /* the processor time of the first command in the ring has
		       * been charged */
	bool sync;    /* the client waits for a reply */
	uint32_t cmd_head, ev_tail;
	uint32_t told; /* value of cmd_tail when the client's wait started */
	bool wants_room;
	uint32_t room_at; /* value of cmd_head at which the client continues */
	uint64_t reply_seq;
	weft_time_t since; /* time at which the client's wait started */
	weft_time_t deadline;
	bool early[ATT_CMDS]; /* commands that were executed before earlier
			       * commands, by index in the ring */
	struct att_msg msg[ATT_RX_SLOTS];
	uint32_t free_slot[ATT_RX_SLOTS], n_free;
	struct {
		RING(struct att_late);
	} late;
	struct weft_far_owner far;
	struct att_epoch epoch;
	bool aside; /* the client is outside the measured part */
	struct att_measured measured;
	struct att_thread thread;
	struct att_stillness still;
	struct att_calls calls;
};

struct att_conn {
	int fd;
	struct pidfd who; /* handle of the connected process; after the hello
			   * `c` owns it */
	uint64_t since;
	struct att_client *c; /* client of the connection; NULL: no hello yet */
	struct att_hello hello;
	bool greeted;
};

/* A stopped process of the job and the time at which it was found. */
struct att_stop {
	pid_t pid;
	uint64_t since;
};

struct att_child {
	pid_t pid;
	int fd;		  /* pidfd, or -1 */
	bool ended, seen; /* seen: the simulation has handled the end */
	int status;
};

/* State of the watcher thread. */
struct att_watch {
	pthread_t thread;
	bool running;
	struct {
		VEC(struct att_conn *);
	} conns;
	struct {
		VEC(struct att_stop);
	} stops;
	uint64_t job_next;   /* time of the next check of the job */
	uint64_t deaf_until; /* no process can join before this time */
	bool told_stranger, told_full;
};

/* Real times in ns that the gate compares with --patience and with its own
 * intervals. */
struct att_patience {
	uint64_t last_join_ns, still_ns, look_ns;
	uint64_t lost_ns; /* weft/host.h: time of the first death */
	bool told_still;
};

/* The measured part of all clients. */
struct att_measure {
	struct att_sum sum;
	uint32_t asides;       /* number of clients outside the measured part */
	uint32_t began, ended; /* number of ranks that have begun, and have
				* ended, their measured part */
	uint64_t job;	       /* job of the first rank */
};

struct att_server {
	struct att_opts o;
	uint32_t *map, *slot; /* by rank */
	char path[64];
	int listen_fd, event_fd, bell_fd, spare_fd;
	struct att_bell *bell;
	struct weft_sim *sim;
	struct {
		VEC(struct att_agent *);
	} agents; /* by node */
	/* The watcher and the simulation use the next fields, under the
	 * lock. */
	pthread_mutex_t lock;
	struct {
		VEC(struct att_client *);
	} joins; /* clients that the simulation has not seen yet */
	struct {
		VEC(struct att_child);
	} children;
	bool ready, quit, all_started;
	/* generation of each slot, by node */
	uint8_t (*gens)[ATT_NODE_SLOTS + 1];
	struct {
		VEC(uint64_t);
	} taken; /* node << 8 | slot of attached clients */
	uint32_t alive;
	_Atomic uint32_t news;
	_Atomic uint64_t died_ns; /* time of the first death, or 0 */
	struct att_watch watch;
	/* The simulation alone uses the fields from here on. */
	struct {
		VEC(struct att_client *);
	} clients; /* all clients ever attached */
	struct {
		VEC(struct att_client *);
	} running;
	struct {
		VEC(uint32_t);
	} unborn; /* addresses of ranks that ended before they were attached */
	uint32_t opened, seen, news_seen;
	uint32_t live; /* number of attached clients */
	weft_time_t settled;
	bool joinable, started, over, failed;
	bool several; /* weft/host.h: a node may have several processes */
	uint64_t calls;
	struct att_patience patience;
	struct att_measure measure;
};

/* Shows a line to the user. Both the watcher and the simulation may call it. */
void att_say(struct att_server *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* agent.c: returns the time at which the agent must run again, or
 * WEFT_PROG_KICKED if only a kick resumes it. */
weft_time_t att_agent_deadline(const struct att_agent *g);
/* Parks the agent until the gate kicks it. */
void att_agent_park(struct att_agent *g);

/* serve_watch.c */
/* Starts the watcher thread. Returns 0 or negative errno with err set. */
int att_watch_start(struct att_server *s, struct weft_err *err);
/* Ends the watcher thread and closes its connections. */
void att_watch_stop(struct att_server *s);
/* Makes the simulation check for clients that have joined or left. */
void att_watch_news(struct att_server *s);
/* Makes the watcher check its descriptors and the processes of the job. */
void att_watch_poke(struct att_server *s);
/* serve_join.c */
/* Identifies the process that has connected. Returns 0, or negative errno if
 * the process may not join. */
int att_join_who(struct att_server *s, int fd, struct pidfd *who_p);
/* Reads a hello. Returns 0, or negative errno if the connection must be
 * closed. */
int att_join_hello(struct att_server *s, struct att_conn *k);
/* Answers a hello, as soon as the agents are ready. Returns 0, or negative
 * errno if the connection must be closed. */
int att_join_answer(struct att_server *s, struct att_conn *k);
/* serve_seg.c: makes the segment of a client of the agent. Returns its
 * descriptor or negative errno. */
int att_seg_new(struct att_client *c, const struct att_agent *g);
/* Frees a client and its segment. */
void att_client_free(struct att_client *c);

/* serve_gate.c */
/* The gate of the simulation, a weft_gate_fn: waits until no client runs, then
 * lets agents continue at the present time. Returns true if an agent continued,
 * false if time may pass. */
bool att_gate(void *server, bool idle);
/* Records that an agent has opened its endpoint (ok), or could not open it. */
void att_opened(struct att_server *s, struct weft_host *h, bool ok);

/* Blocks until a client stops running. Returns false if the run must stop. */
bool att_await(struct att_client *c);

/* Shares the memory of each node with its processes, which call weft/host.h
 * themselves (serve_host.c). Returns 0 or negative errno with err set. */
int att_raw_tap(struct att_server *s, struct weft_err *err);
/* Main function of an agent. Returns 0 when the run is over. */
int att_raw_main(struct att_agent *g);
/* Resumes every thread that can run at the current simulated time. Returns
 * true if any was resumed. */
bool att_raw_call(struct att_server *s);
/* Ends the remaining clients after one has died, when all wait or patience
 * expires. Returns true if this call has ended them. */
bool att_raw_lost(struct att_server *s, bool idle);
/* Frees the state of a node. */
void att_raw_free(struct att_agent *g);

/* serve_proc.c */
enum att_doing { ATT_ASLEEP, ATT_BUSY, ATT_STOPPED };
/* Returns the state of all threads of a process. Adds their processor time to
 * *ran_p. */
enum att_doing att_doing(int pid, uint64_t *ran_p);
/* Reads the start of a file and ends it with a zero. Returns the number of
 * bytes, or 0 on failure. */
size_t att_slurp(const char *path, char *buf, size_t size);

/* serve_job.c: called by the watcher. Kills processes of the job that have
 * been stopped for longer than --patience, and the whole job if it continues
 * after losing a process. */
void att_job_check(struct att_server *s);
int att_job_pause(const struct att_server *s); /* returns ms between checks */

/* serve_client.c */
/* Returns false with --clock none, because simulated time has no meaning in
 * such a run. */
bool att_timed(const struct att_server *s);
/* Returns the attached client with this address, or NULL. */
struct att_client *att_find(struct att_server *s, uint32_t addr);
/* Writes an event into the client's ring, or keeps it if the ring is full. */
void att_push(struct att_client *c, const struct att_event *e);
/* Delivers a message. m is released when the client releases the message. */
void att_push_msg(struct att_client *c, const struct att_event *e,
		  const struct att_msg *m);
/* Moves waiting events into the ring while the ring has room. */
void att_push_late(struct att_client *c);
/* Publishes all events pushed so far to the client. */
void att_show(struct att_client *c);
/* Hands the processor to a client that waits. */
void att_run(struct att_client *c);
/* Detaches a client that broke the protocol and reports why. */
void att_break(struct att_client *c, const char *why);
/* Detaches a client. The client's peers get an error event unless the client
 * left properly. */
void att_gone(struct att_client *c);
/* Handles a rank that ended before it was attached. All attached clients get an
 * error event now. Clients that join later get it when they join. */
void att_unborn(struct att_server *s, uint32_t rank, pid_t pid);
/* Reports to a new client all ranks that ended before they were attached. */
void att_tell_unborn(struct att_client *c);
/* Writes the reply to command `seq`. */
void att_reply(struct att_client *c, const struct att_reply *r, uint64_t seq);
/* Ends the use of a message: frees the agent's copy, or releases the message to
 * the endpoint if the agent has not copied it. */
void att_msg_done(struct att_agent *g, struct att_msg *m);

/* serve_cmd.c */
/* Executes the commands that the client has posted. Returns true if the first
 * remaining command must wait for the endpoint. */
bool att_serve(struct att_agent *g, struct att_client *c);
/* Returns true if the client has posted commands that were not executed. */
bool att_has_cmds(const struct att_client *c);
/* Returns an operation for a command. Aborts if memory is exhausted.
 * att_op_free frees the operation and its buffer (att_stage). */
struct att_op *att_op_new(struct att_agent *g, struct att_client *c,
			  const struct att_cmd *cmd);
/* Frees an operation and its buffer (att_stage), and drops its use of a
 * shadow. */
void att_op_free(struct att_agent *g, struct att_op *op);
/* Completes the operation that an event of the endpoint belongs to. */
void att_op_event(struct att_agent *g, const struct weft_ep_event *ev);
/* Returns a device-visible buffer and its size class, or NULL if no memory is
 * free at present. */
void *att_stage(struct att_agent *g, size_t len, uint32_t *class_p);

/* serve_far.c: returns device-visible addresses of the client's memory, or NULL
 * if the node has no addresses left. */
void *att_shadow_get(struct att_agent *g, struct att_client *c, uint64_t va,
		     uint64_t len);
/* Drops one use of the shadow that contains p. */
void att_shadow_put(struct att_agent *g, const void *p);
/* Frees shadows of detached clients. */
void att_shadows_drop(struct att_agent *g);

/* serve_mem.c. A command function returns 0 or negative errno. After -EAGAIN
 * the command stays in the ring and is repeated later. */
typedef int (*att_cmd_fn)(struct att_agent *g, struct att_client *c,
			  const struct att_cmd *cmd);
/* Each carries out a command and returns as att_cmd_fn does. att_cmd_remote
 * carries out PUT, GET, FADD and CSWAP. */
int att_cmd_remote(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd);
int att_cmd_mr_reg(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd);
int att_cmd_mr_dereg(struct att_agent *g, struct att_client *c,
		     const struct att_cmd *cmd);
/* Releases all messages that the client holds or has not received yet. */
void att_drop_msgs(struct att_agent *g, struct att_client *c);
/* Frees regions and messages of detached clients as soon as no operation uses
 * them. */
void att_release_after_exit(struct att_agent *g);

/* serve_epoch.c. Each carries out a command and returns as att_cmd_fn does. */
int att_cmd_aside(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_epoch(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_over(struct att_agent *g, struct att_client *c,
		 const struct att_cmd *cmd);
/* Returns the time at which the agent must serve this client's epoch, or
 * WEFT_NEVER. */
weft_time_t att_epoch_deadline(const struct att_client *c);
/* Resumes clients whose epoch has started. */
void att_epoch_due(struct att_agent *g);
/* Ends all waits for a common start after a client has died, because the dead
 * client will never wait for this start. */
void att_epoch_broken(struct att_server *s);

/* serve_stat.c. Each carries out a command and returns as att_cmd_fn does. */
int att_cmd_begin(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_end(struct att_agent *g, struct att_client *c,
		const struct att_cmd *cmd);
/* Counts messages and bytes of an executed command. */
void att_stat_cmd(struct att_client *c, const struct att_cmd *cmd);
/* Zeroes the counts of a client at the start of the measured part. */
void att_stat_reset(struct att_client *c);
/* Stores the counts when the measured part or the client ends. */
void att_stat_keep(struct att_client *c);

/* Returns the immediate value for the endpoint: 32 bits of the user, the slots
 * of the receiving and the sending client, and the generation of the receiver's
 * slot. The receiving agent identifies both clients by these fields, and drops
 * messages to an earlier client of the slot. */
static inline uint64_t att_imm(uint32_t imm, const struct att_client *to,
			       const struct att_client *from)
{
	return imm | (uint64_t)to->slot << 32 | (uint64_t)from->slot << 40 |
	       (uint64_t)(to->gen & 0xffff) << 48;
}

#endif
