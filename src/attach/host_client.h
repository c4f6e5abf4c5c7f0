/* SPDX-License-Identifier: Apache-2.0 */
/* weft/host.h inside of a process: threads and their ends (host_life.c), what
 * all calls have in common (host_call.c), MMIO and tagged accesses (host_io.c),
 * memory (host_mem.c), waiting and time (host_time.c), processes, domains and
 * drivers (host_proc.c). */
#ifndef ATTACH_HOST_CLIENT_H
#define ATTACH_HOST_CLIENT_H

#include "attach/client.h"
#include "attach/host_proto.h"
#include "weft/host.h"

struct weft_dev {
	uint32_t index;
	bool open;
	struct weft_drv drv;
};

struct weft_proc {
	uint16_t handle; /* + 1 */
};

enum { HOST_WORDS = 8 };

/* What all threads of the process have in common. */
struct host_node {
	uint8_t *mem;
	struct att_seg_host info;
	struct weft_dev dev[ATT_HOST_DEVS];
	uint32_t logged;
	struct {
		const void *key; /* NULL: free */
		void *val;
	} word[HOST_WORDS]; /* weft_host_word */
};

/* One thread. */
struct weft_host {
	struct weft_att *att;
	struct host_node *node;
	weft_time_t debt; /* processor time it owes */
	uint32_t stores;  /* on their way, as far as is known */
	struct weft_proc *proc, *caller;
	uint32_t calls;
	struct weft_host *next; /* all of the process */
	/* weft_thread_start */
	int (*fn)(struct weft_host *h, void *arg);
	void *arg;
	struct host_start *start;
};

/* host_call.c */
/* For a second at most; a simulator that has gone is noticed. */
void host_hand_over(struct weft_host *h);
/* The answer to a call: a of it; status, a, b and c in r when it is not
 * NULL.  A simulator that has gone ends the process. */
uint64_t host_call(struct weft_host *h, struct att_host_cmd *cmd,
		   struct att_reply *r);
/* A call without a result that neither takes time nor waits for any. */
void host_put(struct weft_host *h, const struct att_host_cmd *cmd);
/* A call without a result.  It does not wait when it takes no time: `cost` of
 * its own, and what the thread owes, and, of `stores`, until the bridge has
 * room. */
struct host_takes {
	weft_time_t cost;
	uint32_t stores;
};
void host_post(struct weft_host *h, struct att_host_cmd *cmd,
	       struct host_takes t);
#define HOST_TAKES(...) ((struct host_takes){ __VA_ARGS__ })
/* The same, with n bytes that go along. */
uint64_t host_call_data(struct weft_host *h, struct att_host_cmd *cmd,
			const void *data, uint32_t n, struct att_reply *r);
void host_post_data(struct weft_host *h, struct att_host_cmd *cmd,
		    const void *data, uint32_t n, struct host_takes t);

/* host_life.c: the process has left and is about to end. */
bool host_left(void);

/* host_proc.c: the node has made it a process. */
void host_is_process(struct weft_host *h);
/* The thread's process ends; drivers learn it. */
void host_gone(struct weft_host *h);

/* host_mem.c */
/* Where p is in the node's memory; UINT64_MAX: not there. */
uint64_t host_off(const struct weft_host *h, const volatile void *p);

#endif
