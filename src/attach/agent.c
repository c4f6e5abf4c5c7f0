/* SPDX-License-Identifier: Apache-2.0 */
/* Program host.agent executes commands of the processes attached to its node.
 *
 * The agent owns the node's endpoint and uses it as a program of the simulator
 * would. The agent executes the commands that its clients have posted, polls,
 * delivers events, and waits. A client that received an event runs until it
 * waits again. The agent then continues at the same simulated time.
 *
 * Not modelled: several processors of a node. Clients of one node share its
 * agent, which executes their commands one after the other. */
#include <errno.h>

#include "attach/serve_internal.h"
#include "base/minmax.h"
#include "host/prog.h"
#include "weft/prog.h"

enum {
	BATCH_MAX = 64,
	NEAR_MAX = 8, /* largest number of calls of agent_give between two polls
		       * of the endpoint */
};

/* ---- events of the endpoint ---- */

/* Delivers a message or a put with notice to the client whose slot is in the
 * immediate value. */
static void event_in(struct att_agent *g, const struct weft_ep_event *ev)
{
	struct att_client *c = NULL;
	struct att_msg m = { .ev = *ev };
	struct att_event e = {
		.kind = (uint32_t)ev->kind,
		.src = WEFT_ATT_ADDR(ev->src, ev->imm >> 40 & 0xff),
		.imm = (uint32_t)ev->imm,
		.len = ev->len,
	};

	for (size_t i = 0; i < g->clients.n && !c; i++) {
		c = g->clients.at[i];
		if (c->slot != (ev->imm >> 32 & 0xff) ||
		    (c->gen & 0xffff) != ev->imm >> 48)
			c = NULL;
	}
	if (ev->kind != WEFT_EV_RECV) {
		if (c)
			att_push(c, &e);
		return;
	}
	if (!c) {
		att_msg_done(g, &m); /* the receiver has been detached */
		return;
	}
	weft_count(g->prog, AGENT_C_RECVS, 1);
	weft_count(g->prog, AGENT_C_RECV_BYTES, ev->len);
	att_push_msg(c, &e, &m);
}

static int agent_poll(struct att_agent *g)
{
	struct weft_ep_event ev[BATCH_MAX];
	int n = g->ep->ops->poll(g->ep, ev, (int)g->batch);

	for (int i = 0; i < n; i++)
		if (ev[i].kind == WEFT_EV_RECV || ev[i].kind == WEFT_EV_PUT_IN)
			event_in(g, &ev[i]);
		else if (ev[i].ctx)
			att_op_event(g, &ev[i]);
	return n;
}

/* ---- clients ---- */

/* Returns true if a client that waits for room in its command ring can
 * continue. The agent records the number of commands in the ring when it
 * notices the wait. The client continues when half of these commands are
 * executed, because otherwise each command would need a hand-over. */
static bool has_room(struct att_client *c)
{
	uint32_t tail;

	if (!atomic_load(&c->seg->want_room))
		return false;
	tail = atomic_load(&c->seg->cmd_tail);
	if (!c->wants_room)
		c->room_at = c->cmd_head + (tail - c->cmd_head + 1) / 2;
	c->wants_room = (int32_t)(c->cmd_head - c->room_at) < 0;
	return !c->wants_room;
}

/* Hands the processor to clients for which events or replies have arrived.
 * Returns true if any client runs. */
static bool agent_give(struct att_agent *g)
{
	weft_time_t now = weft_prog_time(g->prog);
	bool any = false;

	for (size_t i = 0; i < g->clients.n; i++) {
		struct att_client *c = g->clients.at[i];
		weft_time_t end = atomic_load(&c->seg->deadline);

		if (!c->running && !att_has_cmds(c) && end <= now) {
			atomic_store(&c->seg->deadline, WEFT_NEVER);
			c->wake = true;
		}
		if (!c->running && has_room(c) &&
		    atomic_exchange(&c->seg->want_room, 0))
			c->wake = true;
		if (!c->wake)
			continue;
		att_run(c);
		any |= c->running;
	}
	return any;
}

/* Returns true if the agent must not wait: a client has posted commands or must
 * be resumed, memory of detached clients remains, or the deadline has
 * changed. */
static bool agent_called(const struct att_agent *g)
{
	bool called = g->mourns || g->plans;

	for (size_t i = 0; i < g->clients.n; i++)
		called |= !g->clients.at[i]->running &&
			  (g->clients.at[i]->wake ||
			   att_has_cmds(g->clients.at[i]));
	return called;
}

weft_time_t att_agent_deadline(const struct att_agent *g)
{
	weft_time_t t = WEFT_PROG_KICKED;

	for (size_t i = 0; i < g->clients.n; i++) {
		weft_time_t d = atomic_load(&g->clients.at[i]->seg->deadline);

		if (d < t && d < ATT_TIME_MAX)
			t = d;
		d = att_epoch_deadline(g->clients.at[i]);
		t = min_of(d, t);
	}
	return t;
}

/* ---- the program ---- */

void att_agent_park(struct att_agent *g)
{
	g->parked = true;
	weft_prog_park(g->h);
	g->parked = false;
}

/* Returns true if the agent must not use the endpoint: all its clients are
 * outside the measured part, and no operation is in flight. The endpoint may
 * change only in the measured part. An agent without clients checks all clients
 * of the run. */
static bool agent_aside(const struct att_agent *g)
{
	const struct att_server *s = g->srv;

	for (size_t i = 0; i < g->clients.n; i++)
		if (!g->clients.at[i]->aside)
			return false;
	return !g->n_ops && (g->clients.n || (s->measure.began &&
					      s->measure.asides == s->live));
}

/* Waits on the endpoint. If the gate calls the agent before the endpoint's
 * library blocks, the wait returns at once. Otherwise the agent would miss a
 * command. */
static void agent_wait(struct att_agent *g)
{
	weft_time_t end = att_agent_deadline(g);

	g->until = end;
	g->waiting = true;
	if (!agent_aside(g))
		g->ep->ops->wait(g->ep, end);
	else if (end < WEFT_PROG_KICKED)
		weft_host_sleep(g->h, end);
	else
		weft_prog_park(g->h);
	g->waiting = false;
	weft_prog_call(g->h, false);
}

static void agent_step(struct att_agent *g)
{
	weft_time_t before = weft_prog_time(g->prog);
	bool stalled;
	int n;

	g->plans = false;
	if (g->mourns)
		att_release_after_exit(g);
	att_epoch_due(g);
	/* Executes commands of clients. `stalled` means that the first command
	 * of a client must wait for the endpoint. */
	stalled = false;
	for (size_t i = 0; i < g->clients.n; i++) {
		struct att_client *c = g->clients.at[i];

		if (c->running)
			continue;
		att_push_late(c);
		if (att_has_cmds(c))
			stalled |= att_serve(g, c);
		if (i < g->clients.n && g->clients.at[i] != c)
			i--; /* the client was detached, and index i now holds
			      * the next client */
		else if (i < g->clients.n)
			/* a RELEASE may have made room for waiting events */
			att_push_late(c);
	}
	/* Resumes clients before the poll, so that no event is delivered
	 * between a command and its reply. NEAR_MAX limits the resumptions
	 * between two polls, because clients of this node that keep exchanging
	 * messages would otherwise prevent every poll. */
	if (g->near < NEAR_MAX && agent_give(g)) {
		g->near += g->clients.n > 1;
		return att_agent_park(g);
	}
	g->near = 0;
	n = agent_aside(g) ? 0 : agent_poll(g);
	if (agent_give(g))
		return att_agent_park(g);
	if (stalled && !n) {
		/* Charges the time of a retry, because a program would also
		 * repeat a command until the endpoint accepts it. */
		if (weft_prog_time(g->prog) == before)
			weft_host_cpu(g->h, weft_host_time(g->h, T_exec_retry));
	} else if (!n && !g->srv->over && !agent_called(g)) {
		agent_wait(g);
	}
}

static int agent_main(struct weft_comp *c)
{
	struct att_agent *g = c->state;
	struct weft_ep_attr attr = { .max_msg = g->max_msg,
				     .rx_slots = g->rx_slots,
				     .eager_max = g->eager_max,
				     .use_irq = g->use_irq };
	weft_time_t now;
	int ret;

	g->prog = c;
	g->h = weft_prog_host(c);
	if (!g->srv) {
		weft_check_failed(c, "acts for processes: use weft exec");
		return 0;
	}
	if (g->srv->o.raw)
		return att_raw_main(g);
	ret = weft_ep_open(g->h, &attr, &g->ep);
	now = weft_host_now(g->h);
	g->cost_clock = weft_host_now(g->h) - now;
	g->opened = !ret;
	att_opened(g->srv, g->h, !ret);
	if (ret)
		weft_check_failed(c, "cannot open the endpoint: error %d",
				  -ret);
	while (!ret && !g->srv->over)
		agent_step(g);
	if (!ret)
		g->ep->ops->close(g->ep);
	g->ended = true;
	return 0;
}

static void agent_fini(struct weft_comp *c)
{
	struct att_agent *g = c->state;

	att_raw_free(g);
	for (size_t i = 0; i < sizeof(g->stage) / sizeof(g->stage[0]); i++)
		vec_free(&g->stage[i]);
	vec_free(&g->clients);
	vec_free(&g->mrs);
	vec_free(&g->shadows);
	vec_free(&g->graves);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct att_agent, field, def, range, OWN, doc)
static const struct weft_param agent_params[] = {
	P(TIME, cost_call, "100ns", "", "what a library in the process charges for each of its calls"),
	P(U32, max_msg, "0", "", "largest message; 0 = the library's"),
	P(U32, rx_slots, "0", "", "messages under way from each peer; 0 = the library's"),
	P(U32, eager_max, "0", "", "longest message without a handshake; 0 = the library's"),
	P(U32, batch, "16", "1..64", "events taken with one call of the endpoint"),
	P(ENUM, post, "free", "none|free|all", "weft exec --raw: calls without a result that do not wait; free = those that take no time"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning while all wait"),
	{ 0 }
};
#undef P

static const struct weft_counter agent_counters[AGENT_C_N] = {
	[AGENT_C_COMMANDS] = { "commands", "commands", "what processes have posted" },
	[AGENT_C_EVENTS] = { "events", "events", "given to processes" },
	[AGENT_C_HANDOVERS] = { "handovers", "times", "a process was given the processor" },
	[AGENT_C_SENDS] = { "sends", "messages", "sent by processes" },
	[AGENT_C_SEND_BYTES] = { "send_bytes", "bytes", "in them" },
	[AGENT_C_RECVS] = { "recvs", "messages", "received for processes" },
	[AGENT_C_RECV_BYTES] = { "recv_bytes", "bytes", "in them" },
	[AGENT_C_PUTS] = { "puts", "operations", "remote writes of processes" },
	[AGENT_C_PUT_BYTES] = { "put_bytes", "bytes", "in them" },
	[AGENT_C_GETS] = { "gets", "operations", "remote reads of processes" },
	[AGENT_C_GET_BYTES] = { "get_bytes", "bytes", "in them" },
	[AGENT_C_ATOMICS] = { "atomics", "operations", "remote atomics of processes" },
	[AGENT_C_STALLS] = { "stalls", "times", "a command had to wait for the endpoint" },
	[AGENT_C_VIOLATIONS] = { "violations", "commands", "posted at a time that was already over" },
	[AGENT_C_BROKEN] = { "broken", "processes", "detached because they broke the rules" },
};
// clang-format on

WEFT_COMPONENT(host_agent, .name = "host.agent", .kind = WEFT_KIND_PROGRAM,
	       .doc = "acts for the attached processes of its node",
	       .source = "attach.h", .state_size = sizeof(struct att_agent),
	       .params = agent_params, .counters = agent_counters,
	       .n_counters = AGENT_C_N,
	       .ops = { .main = agent_main, .fini = agent_fini });
