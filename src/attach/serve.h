/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's side of attached processes, for who starts them: a socket
 * where they join, an agent on every node (program host.agent) that acts for
 * those of its node, and a gate that lets time pass. */
#ifndef ATTACH_SERVE_H
#define ATTACH_SERVE_H

#include <sys/types.h>

#include "attach/direct.h"
#include "weft/attach.h"
#include "weft/sim.h"

struct att_opts {
	enum weft_att_clock clock;
	uint32_t ranks;	     /* as many are waited for */
	const uint32_t *map; /* node of each rank */
	uint32_t spin;	     /* turns before somebody sleeps */
	uint64_t patience_ns;
	uint64_t cpu_factor; /* fs of simulated time for a ns of the process */
	bool trace;
	bool raw; /* they call weft/host.h themselves */
	/* Others than we have started them: a process that dies ends all.
	 * Otherwise the i-th child is rank i. */
	bool together;
	/* the processes talk to each other through it, or NULL; made for all
	 * nodes; the caller's */
	struct direct_hub *direct;
	/* What the user should know, one line; from several threads. */
	void (*say)(void *arg, const char *line);
	void *say_arg;
	/* What is measured begins, for the first rank, or has ended, for the
	 * last; NULL: nobody wants to know. */
	void (*measured)(void *arg, bool begins);
	void *measured_arg;
};

/* What became of it all. */
struct att_sum {
	uint32_t joined, died, broken, stopped;
	uint64_t handovers, commands, events, violations, outside;
	weft_time_t software; /* what processes charged to their nodes */
	weft_time_t cost_call;
};

/* One call of a rank: how often, bytes it gave away, time spent in it. */
struct att_call {
	uint32_t rank;
	const char *name; /* the server's */
	uint64_t calls, bytes;
	weft_time_t time, max;
};
/* What a rank sent to another. */
struct att_flow {
	uint32_t src, dst;
	uint64_t messages, bytes;
};
/* A rank: where it was, what of it was measured (over 0: until it left, or it
 * has not ended). */
struct att_rank {
	uint32_t rank, node;
	weft_time_t start, over;
};

struct att_server;
/* opts are copied, the map too. */
struct att_server *att_server_new(const struct att_opts *opts,
				  struct weft_err *err);
void att_server_free(struct att_server *s);
/* For WEFT_SOCKET of the processes. */
const char *att_server_socket(const struct att_server *s);
/* exp.listener: the agents of a simulation that has not started are this
 * server's. */
int att_server_tap(void *server, struct weft_sim *sim, struct weft_err *err);
/* exp.on_close: its agents go away, no process can join any more. */
void att_server_untap(struct att_server *s);
/* A process was started: the run ends when all of these have ended and nobody
 * is attached any more.  It is waited for here. */
void att_server_child(struct att_server *s, pid_t pid);
/* All have been started: from now on the watcher looks. */
int att_server_go(struct att_server *s, struct weft_err *err);
/* After the run. */
void att_server_sum(struct att_server *s, struct att_sum *sum_p);
/* All that there is, in order of ranks; false: no more.  i counts from 0. */
bool att_server_rank(const struct att_server *s, size_t i, struct att_rank *r);
bool att_server_call(const struct att_server *s, size_t i, struct att_call *c);
bool att_server_flow(const struct att_server *s, size_t i, struct att_flow *f);
/* Everything alive that has this socket in its environment; how many. */
struct pidfd;
typedef void (*att_job_fn)(void *arg, const struct pidfd *p);
size_t att_job_each(const char *socket, att_job_fn fn, void *arg);
size_t att_job_signal(const char *socket, int sig);
/* Status of the i-th child as of waitpid; false: it has not ended. */
bool att_server_status(struct att_server *s, size_t i, int *status_p);

#endif
