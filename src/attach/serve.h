/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's side of attached processes, as `weft exec` uses it: a socket
 * on which processes join, an agent on every node (program host.agent) that
 * executes their commands, and a gate that lets simulated time pass. */
#ifndef ATTACH_SERVE_H
#define ATTACH_SERVE_H

#include <sys/types.h>

#include "attach/direct.h"
#include "weft/attach.h"
#include "weft/sim.h"

struct att_opts {
	enum weft_att_clock clock;
	uint32_t ranks;	     /* number of ranks; the run starts when all have
			      * joined */
	const uint32_t *map; /* node of each rank */
	uint32_t spin;	     /* number of polls before a thread sleeps */
	uint64_t patience_ns;
	uint64_t cpu_factor; /* fs of simulated time for a ns of processor time
			      */
	bool trace;
	bool raw; /* clients call weft/host.h themselves */
	/* A launcher such as mpirun starts the processes, and ends all
	 * processes when one dies. false: the i-th child is rank i. */
	bool together;
	/* Memory of the direct path for all nodes, owned by the caller; NULL:
	 * no direct path. */
	struct direct_hub *direct;
	/* Shows one line to the user. Called from several threads. */
	void (*say)(void *arg, const char *line);
	void *say_arg;
	/* Called when the measured part starts for the first rank (begins), and
	 * when it ends for the last rank. May be NULL. */
	void (*measured)(void *arg, bool begins);
	void *measured_arg;
};

/* Totals of a run. */
struct att_sum {
	uint32_t joined, died, broken, stopped;
	uint64_t handovers, commands, events, violations, outside;
	weft_time_t software; /* processor time that processes have charged to
			       * nodes */
	weft_time_t cost_call;
};

/* Calls of one function by a rank: number of calls, their bytes, and the time
 * inside the calls. */
struct att_call {
	uint32_t rank;
	const char *name; /* owned by the server */
	uint64_t calls, bytes;
	weft_time_t time, max;
};
/* Messages from one rank to another. */
struct att_flow {
	uint32_t src, dst;
	uint64_t messages, bytes;
};
/* Node and measured part of a rank. `over` is 0 if the rank has not ended the
 * part. */
struct att_rank {
	uint32_t rank, node;
	weft_time_t start, over;
};

struct att_server;
/* Opens the socket. Copies opts and the map. Returns NULL and sets err on
 * failure. */
struct att_server *att_server_new(const struct att_opts *opts,
				  struct weft_err *err);
/* Stops the watcher, detaches all clients and frees s. */
void att_server_free(struct att_server *s);
/* Returns the value of WEFT_SOCKET for the processes. */
const char *att_server_socket(const struct att_server *s);
/* Connects the agents of a simulation that has not started yet with this
 * server. Called when the simulation is opened (exp.on_open). Returns 0 or
 * negative errno with err set. */
int att_server_tap(void *server, struct weft_sim *sim, struct weft_err *err);
/* Drops the agents, so that no further process can join. Called when the
 * simulation is closed (exp.on_close). */
void att_server_untap(struct att_server *s);
/* Registers a started process, for which the server waits. The run ends when
 * all registered processes have ended and no client is attached. */
void att_server_child(struct att_server *s, pid_t pid);
/* Starts the watcher, after all processes were registered. Returns 0 or
 * negative errno with err set. */
int att_server_go(struct att_server *s, struct weft_err *err);
/* Returns the totals in *sum_p. Called after the run. */
void att_server_sum(struct att_server *s, struct att_sum *sum_p);
/* Each stores entry i, in the order of ranks, in the last argument. Returns
 * false after the last entry. */
bool att_server_rank(const struct att_server *s, size_t i, struct att_rank *r);
bool att_server_call(const struct att_server *s, size_t i, struct att_call *c);
bool att_server_flow(const struct att_server *s, size_t i, struct att_flow *f);
/* Calls fn for each live process that has this socket in its environment.
 * Returns their number. */
struct pidfd;
typedef void (*att_job_fn)(void *arg, const struct pidfd *p);
size_t att_job_each(const char *socket, att_job_fn fn, void *arg);
/* Sends sig to the processes of att_job_each. Returns their number. */
size_t att_job_signal(const char *socket, int sig);
/* Returns the waitpid status of the i-th child. Returns false while the child
 * runs. */
bool att_server_status(struct att_server *s, size_t i, int *status_p);

#endif
