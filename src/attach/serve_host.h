/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that call weft/host.h themselves (weft exec --raw): for each of
 * their threads one thread of the node, which makes their calls.  The thread
 * does nothing else: it waits for the process inside of its turn, so that the
 * rest of the simulation cannot tell it from a program of its own
 * (serve_host.c: turns and ends; serve_call.c: calls; serve_call_proc.c: those
 * of processes, domains, drivers and threads). */
#ifndef ATTACH_SERVE_HOST_H
#define ATTACH_SERVE_HOST_H

#include "attach/host_proto.h"
#include "attach/serve_internal.h"

enum { RAW_OP = 0x57454654 }; /* of a driver's call: ours */
enum { RAW_DEPTH = 16, RAW_PROCS = 4096, RAW_MAPS = 4096, RAW_WORDS = 65536 };

/* A process of the simulated node. */
struct raw_proc {
	struct weft_proc *p; /* NULL: freed */
	bool entered;	     /* some thread is, or was, in it */
	struct {
		VEC(uint64_t);
	} maps; /* windows, by their offset */
};

/* A word of the process that threads wait for. */
struct raw_word {
	uint64_t at; /* address there */
	const struct weft_far_owner *who;
	uint32_t word;
};

/* What is common to the threads of a node. */
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

typedef void (*raw_fn)(struct att_client *c, const struct att_host_cmd *k,
		       struct att_reply *r);
#define RAW_CALL(name)                                                         \
	static void name(struct att_client *c, const struct att_host_cmd *k,   \
			 struct att_reply *r)

/* serve_host.c */
/* Until it leaves, or (inside of a driver) comes back from the driver. */
void raw_serve(struct att_client *c);

/* serve_call.c: checks a command and carries it out. */
void raw_run(struct att_client *c, const struct att_host_cmd *k,
	     struct att_reply *r);
/* In the node's memory; NULL: not there. */
void *raw_mem(struct att_client *c, uint64_t off, uint64_t n);
bool raw_refuse(struct att_client *c, const char *call, const char *why);
struct raw_proc *raw_proc(struct att_client *c, uint16_t handle);

/* Bytes that go along, and have been checked. */
static inline const void *raw_data(const struct att_client *c,
				   const struct att_host_cmd *k)
{
	return c->view.tx + k->val;
}

/* serve_call_mem.c, serve_call_proc.c */
extern const raw_fn raw_mem_fns[ATT_H_END];
extern const raw_fn raw_proc_fns[ATT_H_END];

#endif
