/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the calls of weft/host.h in a process. Each call becomes a
 * command. A call that has a result or takes time hands the processor to the
 * simulator until the simulator has executed the command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/host_client.h"

/* Ends the process after its simulated machine has gone, because weft/host.h
 * has no error for a lost machine. */
static _Noreturn void host_lost(const struct weft_host *h)
{
	while (host_left())
		pause();
	fprintf(stderr, "weft: process %d: its simulated machine has gone\n",
		(int)getpid());
	fflush(NULL);
	_exit(125);
}

void host_hand_over(struct weft_host *h)
{
	att_hand_over(h->att, 1000000000);
	if (atomic_load(&h->att->seg->state) == ATT_WAIT)
		att_look(h->att);
}

static void host_call_put(struct weft_host *h, const struct att_host_cmd *cmd,
			  uint64_t ctx)
{
	struct weft_att *a = h->att;
	struct att_host_cmd *c;
	uint64_t busy;

	if (atomic_load_explicit(&a->seg->outside, memory_order_relaxed))
		atomic_store(&a->seg->outside, 0);
	att_cpu_charge(a);
	while (!(c = (struct att_host_cmd *)att_cmd_new(a, ATT_C_NOP))) {
		if (weft_att_gone(a))
			host_lost(h);
		host_hand_over(h);
	}
	busy = c->busy;
	*c = *cmd;
	c->busy = busy;
	c->ctx = ctx;
	att_post(a);
}

void host_put(struct weft_host *h, const struct att_host_cmd *cmd)
{
	if (weft_att_gone(h->att))
		host_lost(h);
	host_call_put(h, cmd, 0);
}

uint64_t host_call(struct weft_host *h, struct att_host_cmd *cmd,
		   struct att_reply *r)
{
	struct weft_att *a = h->att;

	if (weft_att_gone(a))
		host_lost(h);
	host_call_put(h, cmd, ++a->seq);
	while (atomic_load(&a->seg->reply_seq) != a->seq) {
		if (weft_att_gone(a))
			host_lost(h);
		host_hand_over(h);
	}
	h->glances = 0;
	h->debt = a->seg->reply.c;
	h->stores = a->seg->reply.stores;
	if (r)
		*r = a->seg->reply;
	return a->seg->reply.a;
}

/* Number of stores that the smallest bridge can hold. */
enum { BRIDGE = 4 };

void host_post(struct weft_host *h, struct att_host_cmd *cmd,
	       struct host_takes t)
{
	/* Does not wait for the reply if the call takes no time, or if all
	 * calls are posted. */
	if (h->node->info.post == ATT_POST_ALL ||
	    (h->node->info.post != ATT_POST_NONE && !h->debt && !t.cost &&
	     ((!t.stores && !t.fence) || h->stores + t.stores <= BRIDGE))) {
		host_put(h, cmd);
		h->stores += t.stores;
	} else {
		host_call(h, cmd, NULL);
	}
}

/* ---- with bytes ---- */

static void data_in(struct weft_host *h, struct att_host_cmd *cmd,
		    const void *data, uint32_t n)
{
	struct weft_att *a = h->att;

	while (!att_tx_new(a, n, &cmd->val)) {
		if (weft_att_gone(a))
			host_lost(h);
		host_hand_over(h);
	}
	memcpy(a->tx + cmd->val, data, n);
	cmd->n = n;
}

uint64_t host_call_data(struct weft_host *h, struct att_host_cmd *cmd,
			const void *data, uint32_t n, struct att_reply *r)
{
	if (weft_att_gone(h->att))
		host_lost(h);
	data_in(h, cmd, data, n);
	return host_call(h, cmd, r);
}

void host_post_data(struct weft_host *h, struct att_host_cmd *cmd,
		    const void *data, uint32_t n, struct host_takes t)
{
	if (weft_att_gone(h->att))
		host_lost(h);
	data_in(h, cmd, data, n);
	host_post(h, cmd, t);
}
