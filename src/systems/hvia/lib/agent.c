/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent of HVIA-GE (see agent.h): loads the agent, handles interrupts
 * and dispatches calls. Source: hvia.md 6.2 to 6.4, 7.5.
 *
 * The agent sleeps for the time of its work and does not occupy the processor,
 * because the processor time of a process does not contain the kernel's work
 * for the process (7.5). */
#include "systems/hvia/lib/agent.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"

enum { CFG_IDS = 0 };

bool hvia_probe(struct weft_host *h, struct weft_dev *d)
{
	return weft_cfg_load(h, d, CFG_IDS, 4) ==
	       (HVIA_DEVICE_ID << 16 | HVIA_VENDOR_ID);
}

void agent_lock(struct hvia_agent *a, struct weft_host *h)
{
	while (a->locked)
		host_nap(h, T_hvia_lock_turn);
	a->locked = true;
}

/* ---- processes ---- */

static int agent_open(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_open *o = arg;
	struct hvia_client *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	/* A program becomes a process when it opens the card for the first
	 * time. */
	c->proc = weft_proc_self(h);
	if (!c->proc)
		c->proc = weft_proc_new(h, 0);
	if (!c->proc) {
		free(c);
		return -ENOMEM;
	}
	c->agent = a;
	c->next = a->clients;
	a->clients = c;
	o->client = c;
	o->number = a->opens++;
	o->version = agent_load(a, h, HVIA_ID);
	memcpy(o->mac, a->mac, 6);
	o->payload = a->payload;
	return 0;
}

static void client_drop(struct hvia_agent *a, struct hvia_client *c)
{
	struct hvia_client **pp = &a->clients;

	for (size_t i = a->waits.n; i--;)
		if (a->waits.at[i].client == c)
			a->waits.at[i] = vec_pop(&a->waits);
	while (*pp != c)
		pp = &(*pp)->next;
	*pp = c->next;
	free(c);
}

/* Closes a client, but frees it only when the process ends, because threads of
 * the process may still read it. */
static int agent_close(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_client *c = ((struct hvia_close *)arg)->client;

	c->closed = true;
	hvia_notify(h, &c->event);
	return 0;
}

/* ---- calls ---- */

typedef int (*agent_fn)(struct hvia_agent *a, struct weft_host *h, void *arg);

/* Positions (offset + 1) of the VI and of the client in the argument of a call,
 * or 0 if the argument has none. Both must belong to the caller. */
#define AT(type, field) (1 + offsetof(struct type, field))

static const struct {
	agent_fn fn;
	/* the call may sleep, therefore it takes and releases the lock
	 * itself */
	bool waits;
	uint8_t vi, client;
} agent_calls[HVIA_CALLS] = {
	[HVIA_CALL_OPEN] = { agent_open },
	[HVIA_CALL_CLOSE] = { agent_close, .client = AT(hvia_close, client) },
	[HVIA_CALL_PTAG] = { agent_ptag },
	[HVIA_CALL_PTAG_FREE] = { agent_ptag_free },
	[HVIA_CALL_REG] = { agent_reg },
	[HVIA_CALL_DEREG] = { agent_dereg },
	[HVIA_CALL_MEM_QUERY] = { agent_mem_query },
	[HVIA_CALL_MEM_SET] = { agent_mem_set },
	[HVIA_CALL_VI] = { agent_vi, .client = AT(hvia_vi_arg, client) },
	[HVIA_CALL_VI_FREE] = { agent_vi_free, .vi = AT(hvia_vi_arg, vi) },
	[HVIA_CALL_VI_SET] = { agent_vi_set, .vi = AT(hvia_vi_arg, vi) },
	[HVIA_CALL_ARM] = { agent_arm, true,
			    .client = AT(hvia_arm_arg, client) },
	[HVIA_CALL_LISTEN] = { agent_listen, true },
	[HVIA_CALL_ACCEPT] = { agent_accept, true, AT(hvia_conn_arg, vi) },
	[HVIA_CALL_REJECT] = { agent_reject },
	[HVIA_CALL_REQUEST] = { agent_request, true, AT(hvia_conn_arg, vi) },
	[HVIA_CALL_PEER] = { agent_peer, .vi = AT(hvia_conn_arg, vi) },
	[HVIA_CALL_DISCONNECT] = { agent_disconnect,
				   .vi = AT(hvia_conn_arg, vi) },
	[HVIA_CALL_FAIL] = { agent_fail, .vi = AT(hvia_fail_arg, vi) },
};

/* Returns true if the VI and the client in the argument belong to the
 * caller. */
static bool agent_allowed(const struct hvia_agent *a, struct weft_host *h,
			  uint32_t op, const uint8_t *arg)
{
	uint8_t at_vi = agent_calls[op].vi, at_client = agent_calls[op].client;
	const struct hvia_client *c = a->clients, *named;
	const struct weft_proc *p = weft_proc_self(h);
	uint32_t vi;

	if (at_vi) {
		memcpy(&vi, arg + at_vi - 1, sizeof(vi));
		if (vi >= HVIA_VIS || a->vi[vi].proc != p)
			return false;
	}
	if (!at_client)
		return true;
	memcpy(&named, arg + at_client - 1, sizeof(named));
	while (c && c != named)
		c = c->next;
	return c && c->proc == p;
}

static int agent_call(struct weft_host *h, void *own, uint32_t op, void *arg)
{
	struct hvia_agent *a = own;
	int ret;

	if (op >= HVIA_CALLS)
		return -EINVAL;
	host_nap(h, T_hvia_trap);
	if (!agent_allowed(a, h, op, arg))
		return -EBADF;
	if (agent_calls[op].waits)
		return agent_calls[op].fn(a, h, arg);
	agent_lock(a, h);
	ret = agent_calls[op].fn(a, h, arg);
	agent_unlock(a);
	if (op == HVIA_CALL_OPEN && !ret)
		weft_proc_enter(h, ((struct hvia_open *)arg)->client->proc);
	return ret;
}

/* Releases everything that a process had open when it ended (T-36). */
static void agent_gone(struct weft_host *h, void *own, struct weft_proc *p)
{
	struct hvia_agent *a = own;
	bool ours = false;

	agent_lock(a, h);
	for (struct hvia_listener **pp = &a->listeners; *pp;)
		if ((*pp)->proc == p)
			*pp = (*pp)->next;
		else
			pp = &(*pp)->next;
	agent_vi_gone(a, h, p);
	agent_mem_gone(a, h, p);
	for (struct hvia_client *c = a->clients, *next; c; c = next) {
		next = c->next;
		if (c->proc != p)
			continue;
		ours = true;
		client_drop(a, c);
	}
	if (ours)
		weft_proc_free(h, p);
	agent_unlock(a);
}

static void agent_fini(void *own)
{
	struct hvia_agent *a = own;

	while (a->clients)
		client_drop(a, a->clients);
	hvia_att_fini(&a->att);
	vec_free(&a->region);
	vec_free(&a->waits);
	vec_free(&a->leaving);
	free(a);
}

/* ---- threads ---- */

static void agent_causes(struct hvia_agent *a, struct weft_host *h,
			 uint64_t cause)
{
	if (cause & HVIA_INT_COMPLETION) {
		/* takes the processor first, so that no other thread runs
		 * during the loop */
		weft_host_cpu(h, 0);
		for (size_t i = 0; i < a->waits.n; i++) {
			struct hvia_wait *w = &a->waits.at[i];

			if (w->told || !(*w->q.status & HVIA_ST_DONE))
				continue;
			w->told = true;
			hvia_notify(h, &w->client->event);
		}
	}
	if (cause & HVIA_INT_ERROR)
		agent_errors(a, h);
	if (cause & HVIA_INT_PACKET) {
		struct hvia_pkt p;
		enum agent_got got;

		do {
			agent_lock(a, h);
			got = agent_recv(a, h, &p);
			if (got == AGENT_PACKET)
				agent_packet(a, h, &p);
			agent_unlock(a);
		} while (got != AGENT_NONE);
	}
}

static int agent_interrupts(struct weft_host *h, void *arg)
{
	struct hvia_agent *a = arg;
	uint64_t cause, more;

	for (;;) {
		weft_host_isr_wait(h, a->dev, WEFT_NEVER);
		cause = agent_load(a, h, HVIA_INT_CAUSE);
		/* Clears the causes before it handles them, so that an event
		 * during the handling sets its cause, and the interrupt line,
		 * again. */
		for (; cause; cause = more) {
			agent_store(a, h, HVIA_INT_CAUSE, cause);
			agent_causes(a, h, cause);
			more = agent_load(a, h, HVIA_INT_CAUSE);
			/* The store may have cleared the cause of a completion
			 * that arrived after the load of `cause`. The status of
			 * that completion is visible after the load of `more`.
			 * Therefore the queues are checked again here. */
			agent_causes(a, h, cause & HVIA_INT_COMPLETION);
		}
	}
	return 0;
}

static int agent_timer(struct weft_host *h, void *arg)
{
	struct hvia_agent *a = arg;

	for (;;) {
		uint32_t seen = a->timer;
		weft_time_t at;

		agent_lock(a, h);
		at = agent_conn_again(a, h);
		agent_unlock(a);
		weft_host_wait(h, &a->timer, seen, at);
	}
	return 0;
}

/* ---- loading ---- */

static int agent_start(struct hvia_agent *a, struct weft_host *h)
{
	int ret;
	uint64_t mac;

	weft_cfg_store(h, a->dev, HVIA_CFG_COMMAND, 2,
		       HVIA_CMD_MEMORY | HVIA_CMD_MASTER);
	if (!weft_io_map(h, a->dev, HVIA_BAR_CTRL, 0, HVIA_BAR_CTRL_BYTES,
			 WEFT_UC, &a->ctrl))
		return -ENOMEM;
	a->ctrl_bits = agent_load(a, h, HVIA_CTRL) &
		       (HVIA_CTRL_PREFETCH | HVIA_CTRL_ATT_HOST);
	mac = agent_load(a, h, HVIA_MAC);
	for (uint32_t i = 0; i < 6; i++)
		a->mac[i] = (uint8_t)(mac >> 8 * i);
	a->ids = mac * 0x9e3779b97f4a7c15u;
	a->payload = (uint32_t)agent_load(a, h, HVIA_PAYLOAD_MAX);
	ret = agent_mem_init(a, h);
	if (ret)
		return ret;
	agent_store(a, h, HVIA_INT_MASK,
		    HVIA_INT_COMPLETION | HVIA_INT_ERROR | HVIA_INT_PACKET);
	a->ctrl_bits |= HVIA_CTRL_ENABLE | HVIA_CTRL_IRQ;
	agent_store(a, h, HVIA_CTRL, a->ctrl_bits);
	weft_thread_start(h, agent_interrupts, a);
	weft_thread_start(h, agent_timer, a);
	return 0;
}

int hvia_agent_load(struct weft_host *h, struct weft_dev *d)
{
	struct hvia_agent *a = calloc(1, sizeof(*a));
	struct weft_drv drv = { a, agent_call, agent_gone, agent_fini };
	int ret;

	if (!a)
		return -ENOMEM;
	a->dev = d;
	hvia_att_init(&a->att, HVIA_SDRAM_BYTES);
	/* takes the lock until the agent is ready, so that calls wait */
	a->locked = true;
	if (!weft_drv_set(h, d, &drv)) {
		agent_fini(a);
		return 0; /* another thread has loaded the agent meanwhile */
	}
	ret = agent_start(a, h);
	agent_unlock(a);
	return ret;
}
