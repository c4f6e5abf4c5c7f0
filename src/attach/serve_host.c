/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and ends the threads of a node that make the calls of a process's
 * threads. A turn is the time in which the process runs, from a hand-over to
 * its next command. */
#include "attach/serve_host.h"

#include <errno.h>

#include "host/prog.h"
#include "weft/prog.h"

#define TIME_MAX (WEFT_NEVER / 4)

/* ---- a turn of the process ---- */

static uint32_t state_of(const struct att_client *c)
{
	return c->gone ? ATT_GONE : atomic_load(&c->seg->state);
}

/* Hands the turn to the client: its state changes from WAIT to RUN. */
static void turn_give(struct att_client *c)
{
	uint32_t was = ATT_WAIT;

	atomic_store(&c->seg->now, weft_now(c->g->prog));
	if (!atomic_compare_exchange_strong(&c->seg->state, &was, ATT_RUN))
		return;
	c->thread.far_owner->epoch++; /* makes cached reads of the client's
				       * memory invalid */
	weft_count(c->g->prog, AGENT_C_HANDOVERS, 1);
	c->srv->measure.sum.handovers++;
	if (atomic_load(&c->seg->sleeps))
		att_futex_wake(&c->seg->state);
}

/* Waits until the client has posted a command. Returns false if the client has
 * gone. */
static bool serve_host_turn(struct att_client *c)
{
	bool stopped = false;

	for (;;) {
		uint32_t state = state_of(c);

		if (state == ATT_GONE)
			return false;
		if (state != ATT_RUN && att_has_cmds(c))
			return true;
		if (state == ATT_WAIT && !stopped) {
			turn_give(c);
		} else if (state == ATT_RUN && !stopped) {
			stopped = !att_await(c);
		} else {
			/* The client sleeps in the kernel, so other threads
			 * continue meanwhile. */
			weft_time_t since = weft_now(c->g->prog);

			c->thread.parked = true;
			weft_prog_park(c->thread.h);
			c->thread.parked = false;
			c->resumed = weft_now(c->g->prog) != since;
		}
	}
}

/* ---- commands ---- */

/* Copies a command into private memory and checks it. All decisions use the
 * copy, because the client can change the ring at any time. */
static bool cmd_read(struct att_client *c, struct att_host_cmd *k)
{
	uint32_t tail = atomic_load(&c->seg->cmd_tail);

	if (tail - c->cmd_head > ATT_CMDS) {
		att_break(c, "its command ring makes no sense");
		return false;
	}
	memcpy(k, (const void *)&c->view.cmd[c->cmd_head % ATT_CMDS],
	       sizeof(*k));
	/* keeps the compiler from reading the ring again */
	__asm__ volatile("" ::: "memory");
	if (k->kind > ATT_H_FIRST_ && k->kind < ATT_H_END &&
	    k->busy <= ATT_BUSY_MAX && weft_now(c->g->prog) < TIME_MAX)
		return true;
	att_break(c, "no such call");
	return false;
}

static void cmd_run(struct att_client *c, const struct att_host_cmd *k)
{
	struct att_reply r = { 0 };
	weft_time_t since;

	if (k->busy)
		weft_host_cpu(c->thread.h, k->busy);
	since = weft_now(c->g->prog);
	raw_run(c, k, &r);
	weft_count(c->g->prog, AGENT_C_COMMANDS, 1);
	c->srv->measure.sum.commands++;
	/* Counts a violation of causality. The client has continued although
	 * its last call took simulated time, or it does not wait for this call
	 * although this call took time. */
	if (c->resumed || (!k->ctx && k->kind != ATT_H_DRV_CALL &&
			   weft_now(c->g->prog) != since)) {
		weft_count(c->g->prog, AGENT_C_VIOLATIONS, 1);
		c->srv->measure.sum.violations++;
	}
	c->resumed = false;
	if (c->gone)
		return;
	r.c = weft_prog_debt(c->thread.h);
	r.stores = weft_prog_stores(c->thread.h);
	if (!k->ctx || k->kind == ATT_H_DRV_CALL)
		return;
	c->seg->reply = r;
	atomic_store(&c->seg->reply_seq, k->ctx);
}

/* ---- ends ---- */

/* Ends the remaining threads and their processes after all programs have
 * left. */
static void all_left(struct att_server *s)
{
	for (size_t i = 0; i < s->clients.n; i++)
		if (s->clients.at[i]->role == ATT_ROLE_HOST &&
		    !s->clients.at[i]->left && !s->clients.at[i]->gone)
			return;
	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];

		if (c->role == ATT_ROLE_THREAD && c->thread.h &&
		    !c->thread.killed)
			weft_prog_kill(c->thread.h);
		c->thread.killed = true;
		att_gone(c);
	}
}

/* Marks a thread as left, or with `all` every thread of its process. A process
 * with threads stays attached until all programs have ended, because its
 * threads may be drivers that other programs need. On a node with several
 * processes the drivers belong to the machine, so no process stays attached. */
static void serve_host_leave(struct att_client *c, bool all)
{
	struct att_server *s = c->srv;
	bool stays = false;

	c->left = true;
	for (size_t i = 0; all && i < s->clients.n; i++) {
		struct att_client *t = s->clients.at[i];

		if (t == c || t->pid != c->pid || !t->thread.h || t->gone)
			continue;
		t->left = true;
		stays = !s->several;
	}
	if (!stays)
		att_gone(c);
	c->thread.killed |= s->several && all; /* the client's thread ends by
						* itself */
	all_left(s);
}

void raw_serve(struct att_client *c)
{
	uint32_t depth = c->thread.depth;
	struct att_host_cmd k;

	while (c->thread.depth >= depth && serve_host_turn(c) &&
	       cmd_read(c, &k)) {
		atomic_store(&c->seg->cmd_head, ++c->cmd_head);
		if (k.kind == ATT_H_BYE) {
			serve_host_leave(c, k.n);
			return;
		}
		cmd_run(c, &k);
	}
}

int raw_main(struct weft_host *h, void *client)
{
	raw_serve(client);
	return 0;
}

/* ---- threads ---- */

/* Returns the first client without a thread, or NULL. */
static struct att_client *first_client(struct att_agent *g)
{
	for (size_t i = 0; i < g->clients.n; i++)
		if (g->clients.at[i]->role == ATT_ROLE_HOST &&
		    !g->clients.at[i]->thread.h)
			return g->clients.at[i];
	return NULL;
}

/* Main function of a raw agent. Returns when the run is over, so that the run
 * does not end before its processes. */
int att_raw_main(struct att_agent *g)
{
	struct att_client *c;

	att_opened(g->srv, g->h, true);
	if (g->srv->several) {
		/* Each client is a separate process of the node and gets one
		 * thread. */
		while (!g->srv->over) {
			while (g->srv->started && (c = first_client(g))) {
				c->thread.far_owner = &c->far;
				c->thread.h =
					weft_prog_process(g->h, raw_main, c);
				if (c->thread.h)
					c->thread.proc =
						weft_proc_self(c->thread.h);
				else
					att_break(
						c,
						"its node has no memory for a process");
			}
			att_agent_park(g);
		}
		return 0;
	}
	while (!(c = g->srv->started ? first_client(g) : NULL) && !g->srv->over)
		att_agent_park(g);
	if (c) {
		c->thread.h = g->h;
		c->thread.far_owner = &c->far;
		raw_serve(c);
	}
	while (!g->srv->over)
		att_agent_park(g);
	return 0;
}

/* ---- the gate ---- */

bool att_raw_call(struct att_server *s)
{
	bool any = false;

	for (size_t i = 0; i < s->agents.n; i++) {
		struct att_agent *g = s->agents.at[i];

		if (g->parked && (s->over || (s->started && first_client(g))))
			any |= weft_prog_kick(g->h);
	}
	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];

		if (!c->thread.h || c->thread.killed)
			continue;
		if (c->gone) {
			c->thread.killed = any = true;
			weft_prog_kill(c->thread.h);
			all_left(s);
		} else if (c->thread.parked && state_of(c) != ATT_OUT) {
			any |= weft_prog_kick(c->thread.h);
		}
	}
	return any;
}

/* Ends the run after a process died, because weft/host.h cannot report a death
 * to other processes. On nodes with several processes the run ends only when
 * all others wait and no event can reach them. */
bool att_raw_lost(struct att_server *s, bool idle)
{
	if (!s->o.raw || !s->measure.sum.died || s->over ||
	    (s->several && !idle))
		return false;
	for (size_t i = 0; s->several && i < s->clients.n; i++)
		if (!s->clients.at[i]->gone &&
		    state_of(s->clients.at[i]) != ATT_WAIT)
			return false;
	if (!s->patience.lost_ns)
		s->patience.lost_ns = att_now_ns();
	if (!idle && att_now_ns() - s->patience.lost_ns < s->o.patience_ns)
		return false;
	att_say(s, "a process has died: the run ends");
	s->over = true;
	for (size_t i = 0; i < s->clients.n; i++) {
		s->clients.at[i]->left = true;
		att_gone(s->clients.at[i]);
	}
	return true;
}

/* ---- the node ---- */

int att_raw_tap(struct att_server *s, struct weft_err *err)
{
	for (uint32_t r = 0; r < s->o.ranks; r++)
		s->several |= s->slot[r] > 0;
	for (size_t i = 0; i < s->agents.n; i++) {
		struct att_agent *g = s->agents.at[i];

		struct weft_host *h = weft_prog_host(g->prog);
		struct weft_prog_node n;

		g->mem_fd = weft_prog_share(h);
		if (g->mem_fd < 0)
			return weft_fail(
				err, -g->mem_fd,
				"node n%zu: its memory cannot be shared with a process",
				i);
		g->raw = calloc(1, sizeof(*g->raw));
		if (!g->raw)
			abort();
		n = weft_prog_node(h);
		g->raw->mem = n.mem;
		g->raw->info = (struct att_seg_host){
			.mem_bytes = n.bytes,
			.mem_base = n.base,
			.cost_store = n.store,
			.cost_wc = n.wc,
			.post = att_timed(g->srv) ? g->post : ATT_POST_ALL,
			.own = g->srv->several,
		};
		if (!g->raw->mem)
			return weft_fail(err, ENOMEM, "node n%zu: no memory",
					 i);
	}
	return 0;
}

void att_raw_free(struct att_agent *g)
{
	struct att_node *n = g->raw;

	if (!n)
		return;
	for (size_t i = 0; i < n->procs.n; i++)
		vec_free(&n->procs.at[i].maps);
	for (size_t i = 0; i < n->words.n; i++)
		free(n->words.at[i]);
	vec_free(&n->procs);
	vec_free(&n->words);
	free(n);
	g->raw = NULL;
}
