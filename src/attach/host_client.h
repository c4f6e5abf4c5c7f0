/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files that implement weft/host.h inside a process:
 * start and end of threads (host_life.c), common part of all calls
 * (host_call.c), MMIO and tagged accesses (host_io.c), memory (host_mem.c),
 * waiting and time (host_time.c), processes, domains and drivers
 * (host_proc.c). */
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
	uint16_t handle; /* index of the process in the node plus 1, because 0
			  * means no process */
};

enum { HOST_WORDS = 8 };

/* State that all threads of the process share. */
struct host_node {
	uint8_t *mem;
	struct att_seg_host info;
	struct weft_dev dev[ATT_HOST_DEVS];
	uint32_t logged;
	_Atomic uint64_t wakes; /* number of calls of weft_host_wake */
	struct {
		const void *key; /* key of the word; NULL: the entry is free */
		void *val;
	} word[HOST_WORDS]; /* words of weft_host_word */
};

/* One thread. */
struct weft_host {
	struct weft_att *att;
	struct host_node *node;
	weft_time_t debt; /* processor time that the thread has used and not yet
			   * reported */
	uint32_t stores;  /* stores in the bridge, as last reported */
	struct weft_proc *proc, *caller;
	uint32_t calls;
	uint32_t glances; /* reads of the clock and short sleeps since the last
			   * hand-over */
	weft_time_t seen; /* result of the last read of the clock */
	struct weft_host *next; /* next thread of the process */
	/* Arguments of weft_thread_start for this thread. */
	int (*fn)(struct weft_host *h, void *arg);
	void *arg;
	struct host_start *start;
};

/* host_call.c */
/* Hands over for at most a second of real time, then checks that the simulator
 * is alive. */
void host_hand_over(struct weft_host *h);
/* Makes a call and waits for its reply. Returns `a` of the reply, and the whole
 * reply in *r unless r is NULL. Ends the process if the simulator has gone,
 * because weft/host.h has no error for a lost simulator. */
uint64_t host_call(struct weft_host *h, struct att_host_cmd *cmd,
		   struct att_reply *r);
/* Posts a call that has no result and takes no time. */
void host_put(struct weft_host *h, const struct att_host_cmd *cmd);
/* Cost of a call, and the stores that it adds to the bridge. */
struct host_takes {
	weft_time_t cost;
	uint32_t stores;
	bool fence; /* the call moves gathered stores (write combining) into the
		     * bridge */
};
/* Posts a call without a result. Waits for its reply only if the call takes
 * time, which depends on `cost`, on the thread's debt, and on the bridge's room
 * for `stores`. */
void host_post(struct weft_host *h, struct att_host_cmd *cmd,
	       struct host_takes t);
#define HOST_TAKES(...) ((struct host_takes){ __VA_ARGS__ })
/* Makes a call as host_call does, with n bytes of data, which are copied before
 * the call returns. Returns as host_call does. */
uint64_t host_call_data(struct weft_host *h, struct att_host_cmd *cmd,
			const void *data, uint32_t n, struct att_reply *r);
/* Posts as host_post does, with n bytes of data. */
void host_post_data(struct weft_host *h, struct att_host_cmd *cmd,
		    const void *data, uint32_t n, struct host_takes t);

/* host_life.c: returns true if the process has reported its end to its node. */
bool host_left(void);

/* host_proc.c: sets h->proc to the process that the node has made for the
 * thread. */
void host_is_process(struct weft_host *h);
/* Calls `gone` of each local driver for the thread's process. Called when that
 * process ends. */
void host_gone(struct weft_host *h);

/* host_mem.c */
/* Returns the offset of p in the node's memory, or UINT64_MAX if p is not in
 * that memory. */
uint64_t host_off(const struct weft_host *h, const volatile void *p);

#endif
