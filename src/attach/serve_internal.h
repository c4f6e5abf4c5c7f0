/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulator: the server (serve.c), who joins and leaves
 * (serve_watch.c, a thread of its own; serve_join.c, serve_seg.c), the gate
 * (serve_gate.c), a client's rings and state (serve_client.c), its commands
 * (serve_cmd.c, serve_mem.c), the job that it belongs to (serve_job.c), its
 * calls (serve_stat.c), the agents (agent.c). */
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

/* A message that a client has or will get. */
struct att_msg {
	struct weft_ep_event ev; /* of the endpoint, to be released */
	void *own;		 /* or of a neighbour on this node */
	bool used;
};

/* An event that did not fit. */
struct att_late {
	struct att_event e;
	struct att_msg m; /* RECV */
};

/* A region of a client's memory. */
struct att_mr {
	struct weft_ep_mr mr;
	void *shadow;
	struct att_client *c;
};

/* A piece of a client's memory as the node sees it. */
struct att_shadow {
	struct att_client *c;
	uint8_t *p;
	uint64_t va, len, age;
	uint32_t users;
};

/* An operation of the endpoint that is under way. */
struct att_op {
	struct att_op *next;
	struct att_client *c;
	uint64_t ctx;
	bool quiet;
	uint32_t class_; /* of the stage */
	void *stage;	 /* or NULL */
	void *shadow;	 /* or NULL */
};

/* The program host.agent of a node; its state. */
struct att_agent {
	/* parameters */
	uint32_t max_msg, rx_slots, eager_max, batch, post;
	bool use_irq;
	weft_time_t cost_call;
	/* run */
	struct att_server *srv;
	struct weft_comp *prog;
	struct weft_host *h;
	struct weft_ep *ep;
	uint32_t node;
	weft_time_t cost_clock; /* of reading the clock here */
	bool opened, parked, ended;
	bool waiting;  /* inside of the endpoint's wait */
	bool plans;    /* when it has to go on has changed */
	bool mourns;   /* regions of clients that have gone are left */
	uint32_t near; /* rounds since it looked at the endpoint */
	struct {
		VEC(struct att_client *);
	} clients; /* by slot, those that are there */
	struct {
		VEC(struct att_mr);
	} mrs;
	struct {
		VEC(struct att_shadow);
	} shadows;
	uint64_t shadow_age;
	struct {
		VEC(struct att_client *);
	} graves;	      /* have gone, and left messages */
	struct att_node *raw; /* serve_host.h, or NULL */
	int mem_fd;	      /* of the node's memory */
	struct att_op *free_ops;
	uint32_t n_ops; /* under way */
	struct {
		VEC(void *);
	} stage[32]; /* free buffers of 2^i bytes */
};

/* Its wait for a common start; seq of the command, 0: it does not. */
struct att_epoch {
	uint64_t seq, job;
	weft_time_t at; /* WEFT_NEVER: not all are there */
	bool end;
};

/* Times of a call; what went to a rank. */
struct att_timed {
	weft_time_t sum, max;
};
struct att_sent {
	uint64_t messages, bytes;
};

/* Where the rings and buffers of a client's segment lie. */
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
	struct weft_proc *proc; /* the thread is in it; NULL: monitor */
	struct weft_far_owner *far_owner;
	uint32_t depth; /* of drivers */
	bool parked, killed;
};

/* Signs that a client sleeps: its processor time, and since when it is still.
 */
struct att_stillness {
	uint64_t ran_ns, quiet_since, stop_since;
};

/* What is measured of a client. */
struct att_measured {
	weft_time_t start, over;    /* 0: not yet */
	uint64_t violations;	    /* before it, or in it */
	uint64_t events, handovers; /* counted; taken back by att_cmd_aside */
};

/* Calls of a client. */
struct att_calls {
	struct att_stat stat[WEFT_ATT_STATS];
	struct att_timed timed[WEFT_ATT_STATS]; /* here */
	struct {
		uint32_t stat;
		weft_time_t from;
	} open[ATT_OPEN]; /* calls that it is in */
	uint32_t n_open;
	struct att_sent *sent; /* by rank, or NULL */
};

/* One attached process. */
struct att_client {
	struct att_server *srv;
	struct att_agent *g;
	uint32_t node, slot, rank, gen, role;
	pid_t pid; /* for what is said; what is done is done to who */
	struct pidfd who;
	int sock;
	struct att_seg *seg;
	size_t seg_bytes;
	struct att_view view;
	_Atomic bool eof; /* the watcher: its socket has ended */
	/* the simulation's */
	bool gone, left, broken;
	bool leaving; /* it gets no more messages */
	bool running; /* time waits for it */
	bool resumed; /* it came back when time had passed */
	bool wake;    /* there is something for it */
	bool charged; /* the first command's time */
	bool sync;    /* it waits for an answer */
	uint32_t cmd_head, ev_tail;
	uint32_t told; /* commands when it began to wait */
	bool wants_room;
	uint32_t room_at; /* value of cmd_head */
	uint64_t reply_seq;
	weft_time_t since; /* waits */
	weft_time_t deadline;
	bool early[ATT_CMDS]; /* releases that did not wait */
	struct att_msg msg[ATT_RX_SLOTS];
	uint32_t free_slot[ATT_RX_SLOTS], n_free;
	struct {
		RING(struct att_late);
	} late;
	struct weft_far_owner far;
	struct att_epoch epoch;
	bool aside; /* what it does is no part of what is measured */
	struct att_measured measured;
	struct att_thread thread;
	struct att_stillness still;
	struct att_calls calls;
};

struct att_conn {
	int fd;
	struct pidfd who; /* who connected; the client's, if there is one */
	uint64_t since;
	struct att_client *c; /* NULL: has not said hello */
	struct att_hello hello;
	bool greeted;
};

/* A process of the job that is stopped, and since when. */
struct att_stop {
	pid_t pid;
	uint64_t since;
};

struct att_child {
	pid_t pid;
	int fd;		  /* pidfd, or -1 */
	bool ended, seen; /* seen: by the simulation */
	int status;
};

/* Of the watcher, a thread of its own. */
struct att_watch {
	pthread_t thread;
	bool running;
	struct {
		VEC(struct att_conn *);
	} conns;
	struct {
		VEC(struct att_stop);
	} stops;
	uint64_t job_next;   /* when to look again */
	uint64_t deaf_until; /* nobody can join */
	bool told_stranger, told_full;
};

/* When the gate, which waits for a client, loses patience. */
struct att_patience {
	uint64_t last_join_ns, still_ns, look_ns;
	uint64_t lost_ns; /* weft/host.h: when one died */
	bool told_still;
};

/* What is measured of all clients. */
struct att_measure {
	struct att_sum sum;
	uint32_t asides;       /* clients that are no part of it */
	uint32_t began, ended; /* ranks that are measured */
	uint64_t job;	       /* of the first of them */
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
	/* common to both threads, under lock */
	pthread_mutex_t lock;
	struct {
		VEC(struct att_client *);
	} joins; /* not yet seen by the simulation */
	struct {
		VEC(struct att_child);
	} children;
	bool ready, quit, all_started;
	uint8_t (*gens)[ATT_NODE_SLOTS + 1]; /* by node: lives of a slot */
	struct {
		VEC(uint64_t);
	} taken; /* node << 8 | slot of those attached */
	uint32_t alive;
	_Atomic uint32_t news;
	_Atomic uint64_t died_ns; /* when the first did, or 0 */
	struct att_watch watch;
	/* the simulation's */
	struct {
		VEC(struct att_client *);
	} clients; /* all that ever were */
	struct {
		VEC(struct att_client *);
	} running;
	struct {
		VEC(uint32_t);
	} unborn; /* addresses of ranks that ended before they were attached */
	uint32_t opened, seen, news_seen;
	uint32_t live; /* clients */
	weft_time_t settled;
	bool joinable, started, over, failed;
	bool several; /* weft/host.h: a node has more than one process */
	uint64_t calls;
	struct att_patience patience;
	struct att_measure measure;
};

uint64_t att_now_ns(void);
void att_say(struct att_server *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* agent.c: when it has to go on; WEFT_PROG_KICKED: when it is called. */
weft_time_t att_agent_deadline(const struct att_agent *g);

/* serve_watch.c */
int att_watch_start(struct att_server *s, struct weft_err *err);
void att_watch_stop(struct att_server *s);
/* The simulation should look who came or went. */
void att_watch_news(struct att_server *s);
/* The watcher should look at what has changed. */
void att_watch_poke(struct att_server *s);
/* serve_join.c */
/* Who has connected; negative errno: it may not. */
int att_join_who(struct att_server *s, int fd, struct pidfd *who_p);
/* It says something; negative errno: it is to go. */
int att_join_hello(struct att_server *s, struct att_conn *k);
/* Those who came before the agents were ready are answered then. */
int att_join_answer(struct att_server *s, struct att_conn *k);
/* serve_seg.c: a segment for a client of the agent; its descriptor. */
int att_seg_new(struct att_client *c, const struct att_agent *g);
void att_client_free(struct att_client *c);

/* serve_gate.c */
bool att_gate(void *server, bool idle);
/* From an agent: it is open, or cannot be. */
void att_opened(struct att_server *s, struct weft_host *h, bool ok);

/* Until a client does not run any more; false: the run is to stop. */
bool att_await(struct att_client *c);

/* serve_host.c: processes that call weft/host.h themselves */
int att_raw_tap(struct att_server *s, struct weft_err *err);
int att_raw_main(struct att_agent *g);
const struct att_seg_host *att_raw_info(const struct att_agent *g);
/* At the present time: whoever can go on does; true: somebody does. */
bool att_raw_call(struct att_server *s);
/* One has died: the others are ended, as soon as they wait or patience ends;
 * true: just now. */
bool att_raw_lost(struct att_server *s, bool idle);
void att_raw_free(struct att_agent *g);

/* serve_proc.c */
enum att_doing { ATT_ASLEEP, ATT_BUSY, ATT_STOPPED };
/* All threads of a process; adds their processor time. */
enum att_doing att_doing(int pid, uint64_t *ran_p);

/* serve_job.c: the watcher's.  Those of the job that are stopped are ended when
 * patience is over, and all of it when it goes on without one. */
void att_job_check(struct att_server *s);
int att_job_pause(const struct att_server *s); /* ms between looks */

/* serve_client.c */
bool att_timed(const struct att_server *s);
/* The attached process with this address, or NULL. */
struct att_client *att_find(struct att_server *s, uint32_t addr);
uint32_t att_addr(const struct att_client *c);
void att_push(struct att_client *c, const struct att_event *e);
/* A message; m is released when the client has done so. */
void att_push_msg(struct att_client *c, const struct att_event *e,
		  const struct att_msg *m);
void att_push_late(struct att_client *c);
/* Everything so far is visible to the client. */
void att_show(struct att_client *c);
/* Gives the processor to a client that waits. */
void att_run(struct att_client *c);
/* It broke the rules. */
void att_break(struct att_client *c, const char *why);
/* It is not there any more; its peers learn it unless it left. */
void att_gone(struct att_client *c);
/* A rank has failed before it was attached: the others learn it, now and when
 * they come. */
void att_unborn(struct att_server *s, uint32_t rank, pid_t pid);
void att_tell_unborn(struct att_client *c);
void att_reply(struct att_client *c, const struct att_reply *r, uint64_t seq);
void att_msg_done(struct att_agent *g, struct att_msg *m);

/* serve_cmd.c */
/* Carries out what the client has posted; true: the first of it must wait. */
bool att_serve(struct att_agent *g, struct att_client *c);
bool att_has_cmds(const struct att_client *c);
struct att_op *att_op_new(struct att_agent *g, struct att_client *c,
			  const struct att_cmd *cmd);
void att_op_free(struct att_agent *g, struct att_op *op);
/* What the endpoint says of it. */
void att_op_event(struct att_agent *g, const struct weft_ep_event *ev);
/* A buffer that devices reach; NULL: none now. */
void *att_stage(struct att_agent *g, size_t len, uint32_t *class_p);

/* serve_far.c: a client's memory as the node sees it; NULL: no room. */
void *att_shadow_get(struct att_agent *g, struct att_client *c, uint64_t va,
		     uint64_t len);
/* By any address in it. */
void att_shadow_put(struct att_agent *g, const void *p);
/* Those of clients that have gone. */
void att_shadows_drop(struct att_agent *g);

/* serve_mem.c; each as a function of commands */
typedef int (*att_cmd_fn)(struct att_agent *g, struct att_client *c,
			  const struct att_cmd *cmd);
int att_cmd_remote(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd); /* PUT, GET, FADD, CSWAP */
int att_cmd_mr_reg(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd);
int att_cmd_mr_dereg(struct att_agent *g, struct att_client *c,
		     const struct att_cmd *cmd);
/* Those that it has or waits for. */
void att_drop_msgs(struct att_agent *g, struct att_client *c);
/* Regions and messages of clients that have gone. */
void att_release_after_exit(struct att_agent *g);

/* serve_epoch.c */
int att_cmd_aside(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_epoch(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_over(struct att_agent *g, struct att_client *c,
		 const struct att_cmd *cmd);
/* When the agent has to look; WEFT_NEVER: the client does not wait for it. */
weft_time_t att_epoch_deadline(const struct att_client *c);
/* Those whose moment has come go on. */
void att_epoch_due(struct att_agent *g);
/* One has died: the others need not wait for it. */
void att_epoch_broken(struct att_server *s);

/* serve_stat.c */
int att_cmd_begin(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd);
int att_cmd_end(struct att_agent *g, struct att_client *c,
		const struct att_cmd *cmd);
/* A command that was carried out: messages and their bytes. */
void att_stat_cmd(struct att_client *c, const struct att_cmd *cmd);
/* What is measured begins: nothing has been. */
void att_stat_reset(struct att_client *c);
/* It has ended, or the client has. */
void att_stat_keep(struct att_client *c);

/* What the 64 bits of the endpoint carry beside those of the user. */
static inline uint64_t att_imm(uint32_t imm, const struct att_client *to,
			       const struct att_client *from)
{
	return imm | (uint64_t)to->slot << 32 | (uint64_t)from->slot << 40 |
	       (uint64_t)(to->gen & 0xffff) << 48;
}

#endif
