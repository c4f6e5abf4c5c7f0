/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that call weft/host.h themselves (weft exec --raw). For each thread
 * of such a process the node has a thread, which makes the calls. The node's
 * thread waits while the process has its turn, so that the rest of the
 * simulation cannot distinguish the node's thread from a program of the
 * simulator (serve_host.c: turns and ends; serve_call.c: calls;
 * serve_call_proc.c: calls of processes, domains, drivers and threads;
 * serve_call_mem.c: memory). */
#ifndef ATTACH_SERVE_HOST_H
#define ATTACH_SERVE_HOST_H

#include "attach/host_proto.h"
#include "attach/serve_internal.h"

enum { RAW_OP = 0x57454654 }; /* operation of a call to a client's driver */
enum { RAW_DEPTH = 16, RAW_PROCS = 4096, RAW_MAPS = 4096, RAW_WORDS = 65536 };

/* A process of the simulated node. */
struct raw_proc {
	struct weft_proc *p; /* the process; NULL: the entry is free */
	bool entered;	     /* a thread is or was in the process */
	struct {
		VEC(uint64_t);
	} maps; /* windows of the process, by offset */
};

/* A word of the process on which threads wait. */
struct raw_word {
	uint64_t at; /* address of the word in the process */
	const struct weft_far_owner *who;
	uint32_t word;
	uint64_t woken; /* number of its last wake-up */
};

/* State that the threads of a node share. */
struct att_node {
	struct weft_dev *dev[ATT_HOST_DEVS];
	struct {
		VEC(struct raw_proc);
	} procs;
	struct {
		VEC(struct raw_word *);
	} words;
	struct att_seg_host info;
	uint8_t *mem;
	uint32_t n_maps, n_domains;
};

/* serve_host.c */
/* Executes the client's calls until the client leaves or, inside a driver,
 * until the driver returns. */
void raw_serve(struct att_client *c);
/* Main function of a thread of the node. Calls raw_serve for its client and
 * returns the thread's status. */
int raw_main(struct weft_host *h, void *client);

/* serve_call.c: checks a command, executes it, and fills in r. A bad command
 * gives r a negative status, or detaches the client. */
void raw_run(struct att_client *c, const struct att_host_cmd *k,
	     struct att_reply *r);
/* Returns the address of [off, off + n) in the node's memory, or NULL if the
 * client may not use it. */
void *raw_mem(struct att_client *c, uint64_t off, uint64_t n);
/* Reports why a call was refused. Returns false. */
bool raw_refuse(struct att_client *c, const char *call, const char *why);
/* Returns the device of a command, or NULL if it is not open. */
struct weft_dev *raw_dev(const struct att_client *c,
			 const struct att_host_cmd *k);
/* Returns t, or WEFT_NEVER for a time that is later than any run. */
weft_time_t raw_time(uint64_t t);
/* Returns the process of a handle, or NULL if it does not exist. */
struct raw_proc *raw_proc(struct att_client *c, uint16_t handle);

/* Returns the data of a command whose arguments were checked. */
static inline const void *raw_data(const struct att_client *c,
				   const struct att_host_cmd *k)
{
	return c->view.tx + k->val;
}

/* Each carries out the calls of one subject: memory, names (serve_call_mem.c),
 * domains, processes, drivers, threads (serve_call_proc.c). Returns false for
 * calls of other subjects. */
bool raw_run_mem(struct att_client *c, const struct att_host_cmd *k,
		 struct att_reply *r);
bool raw_run_name(struct att_client *c, const struct att_host_cmd *k,
		  struct att_reply *r);
bool raw_run_domain(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r);
bool raw_run_proc(struct att_client *c, const struct att_host_cmd *k,
		  struct att_reply *r);
bool raw_run_driver(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r);
bool raw_run_thread(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r);

#endif
