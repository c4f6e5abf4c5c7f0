/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of the event loop lets simulated time pass while no client runs.
 * Without an attached client simulated time stands still.
 *
 * In timed runs the gate waits for all running clients. Then it lets their
 * agents continue at the present time, in the order of nodes, so that results
 * do not depend on the speed of processes. A client that sleeps in the kernel
 * counts as waiting. If it then posts a command after time has passed, the
 * command counts as a violation. In untimed runs the gate only calls agents
 * whose clients have posted commands. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "attach/serve_internal.h"
#include "host/prog.h"

enum {
	CLIENT_CHECK_NS = 10000000,  /* ns between two checks of a running
				      * client */
	CLIENT_ASLEEP_NS = 20000000, /* ns of sleep after which a running client
				      * changes to state OUT */
	LAST_JOIN_NS = 1000000000,   /* ns after the last join at which the run
				      * starts without further clients */
	ALL_CHECK_NS = 100000000,    /* ns between two checks of all clients */
	IDLE_CHECK_NS = 50000000,    /* ns between two checks when no client has
				      * work */
};

void att_opened(struct att_server *s, struct weft_host *h, bool ok)
{
	s->failed |= !ok;
	if (++s->opened < s->agents.n)
		return;
	s->over |= s->failed;
	/* Drivers of the nodes need this time to start. Processes that use
	 * drivers join afterwards. */
	s->settled = weft_sim_now(s->sim) +
		     (s->o.raw && !s->several
			      ? 0
			      : weft_host_time(h, T_exec_open_settle));
}

/* ---- joining and leaving ---- */

static void serve_gate_join(struct att_server *s, struct att_client *c)
{
	struct att_agent *g = c->g;
	size_t i = 0;

	while (i < g->clients.n && g->clients.at[i]->slot < c->slot)
		i++;
	vec_insert(&g->clients, i, c);
	vec_push(&s->clients, c);
	s->measure.sum.joined += c->role != ATT_ROLE_THREAD;
	s->patience.last_join_ns = att_now_ns();
	s->live++;
	att_tell_unborn(c);
	if (!s->o.raw)
		att_run(c);
}

static void serve_gate_leave(struct att_server *s, struct att_client *c)
{
	if (!c->gone && !c->left)
		att_say(s,
			"rank %u on n%u (process %d) has gone without leaving",
			c->rank, c->node, (int)c->pid);
	att_gone(c);
	madvise(c->seg, c->seg_bytes, MADV_REMOVE);
	atomic_store(&c->seg->state, ATT_GONE);
	close(c->sock);
	c->sock = -1;
	pidfd_close(&c->who);
	s->alive--;
	for (size_t i = 0; i < s->taken.n; i++)
		if (s->taken.at[i] == ((uint64_t)c->node << 8 | c->slot)) {
			s->taken.at[i] = s->taken.at[--s->taken.n];
			return;
		}
}

static void gate_news(struct att_server *s)
{
	bool ended;

	s->news_seen = atomic_load(&s->news);
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->joins.n; i++)
		serve_gate_join(s, s->joins.at[i]);
	vec_clear(&s->joins);
	for (size_t i = 0; i < s->clients.n; i++)
		if (s->clients.at[i]->sock >= 0 &&
		    atomic_load(&s->clients.at[i]->eof))
			serve_gate_leave(s, s->clients.at[i]);
	/* A failed child that never joined is reported as dead, because peers
	 * may wait for it. Launchers such as mpirun report failed children
	 * themselves. */
	for (size_t i = 0; i < s->children.n && !s->o.together; i++) {
		struct att_child *c = &s->children.at[i];

		if (!c->ended || c->seen)
			continue;
		c->seen = true;
		if (c->status)
			att_unborn(s, (uint32_t)i, c->pid);
	}
	ended = s->all_started && !s->alive && !s->joins.n;
	for (size_t i = 0; i < s->children.n; i++)
		ended &= s->children.at[i].ended;
	s->over |= ended;
	pthread_mutex_unlock(&s->lock);
}

/* ---- clients that run ---- */

/* Marks a client as waiting from now on. */
static void serve_gate_waits(struct att_client *c)
{
	c->running = false;
	c->since = weft_sim_now(c->srv->sim);
	c->told = atomic_load(&c->seg->cmd_tail);
}

/* In timed runs, finds clients that the gate counted as waiting although they
 * have continued. Such a client runs, or has posted commands and waits again.
 * In untimed runs, lets all clients ring the bell again. */
static void gate_resumed(struct att_server *s)
{
	bool timed = att_timed(s) && !s->o.raw;
	weft_time_t now = weft_sim_now(s->sim);

	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];
		bool running = atomic_load(&c->seg->state) == ATT_RUN;

		if (!timed && !c->gone)
			atomic_store(&c->seg->told, 0);
		if (!timed || c->gone || c->running ||
		    (!running && atomic_load(&c->seg->cmd_tail) == c->told))
			continue;
		c->resumed |= now != c->since;
		serve_gate_waits(c);
		if (!running)
			continue;
		c->running = true;
		vec_push(&s->running, c);
	}
}

/* Ends a client that was stopped (SIGSTOP) for longer than --patience, because
 * the other clients wait for it. */
static void look_stopped(struct att_client *c, enum att_doing doing)
{
	uint64_t now = att_now_ns();

	if (doing != ATT_STOPPED)
		c->still.stop_since = 0;
	else if (!c->still.stop_since)
		c->still.stop_since = now;
	else if (now - c->still.stop_since >= c->srv->o.patience_ns) {
		c->srv->measure.sum.stopped++;
		att_break(c, "it was stopped for too long, and is ended");
		pidfd_kill(&c->who, SIGKILL);
	}
}

static bool serve_gate_runs(struct att_client *c)
{
	return !c->gone && atomic_load(&c->seg->state) == ATT_RUN;
}

bool att_await(struct att_client *c)
{
	struct att_server *s = c->srv;

	for (uint32_t i = 0; i < s->o.spin && serve_gate_runs(c); i++)
		att_pause();
	c->still.quiet_since = c->still.stop_since = 0;
	while (serve_gate_runs(c)) {
		atomic_store(&c->seg->sim_waits, 1);
		if (att_futex_wait(&c->seg->state, ATT_RUN, CLIENT_CHECK_NS) &&
		    errno == ETIMEDOUT && serve_gate_runs(c)) {
			/* The client has not handed over for
			 * CLIENT_CHECK_NS. */
			uint64_t now = att_now_ns(), ran = 0;
			enum att_doing doing = att_doing(c->pid, &ran);

			look_stopped(c, doing);
			/* A client that sleeps and polls now and then (usleep)
			 * counts as asleep, too. A client with a thread that
			 * waits in real time (`outside`) does not count as
			 * asleep, because simulated time must stand still
			 * during that wait. */
			if (doing != ATT_ASLEEP || !c->still.quiet_since ||
			    atomic_load(&c->seg->outside) ||
			    ran - c->still.ran_ns >
				    (now - c->still.quiet_since) / 4) {
				c->still.quiet_since = now;
				c->still.ran_ns = ran;
			} else if (now - c->still.quiet_since >=
				   CLIENT_ASLEEP_NS) {
				uint32_t was = ATT_RUN;

				s->measure.sum.outside +=
					atomic_compare_exchange_strong(
						&c->seg->state, &was, ATT_OUT);
			}
		}
		if (weft_sim_stopped(s->sim))
			return false;
	}
	atomic_store(&c->seg->sim_waits, 0);
	serve_gate_waits(c);
	return true;
}

static bool gate_await(struct att_server *s)
{
	size_t n = 0;
	bool ok = true;

	for (; n < s->running.n && ok; n++)
		ok = att_await(s->running.at[n]);
	n -= !ok;
	if (!n)
		return ok;
	memmove(s->running.at, s->running.at + n,
		(s->running.n - n) * sizeof(*s->running.at));
	s->running.n -= n;
	return ok;
}

/* Hands over again to clients that may have missed the events of their last
 * hand-over, because they were already running when it happened. Only clients
 * that wait now are resumed. */
static void gate_missed(struct att_server *s)
{
	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];

		if (c->gone || !c->missed ||
		    atomic_load(&c->seg->state) != ATT_WAIT)
			continue;
		c->missed = false;
		c->wake = true;
	}
}

/* ---- agents ---- */

/* Resumes agents that have work. They continue at the present time. Returns
 * true if any parked agent continues. */
static bool gate_call(struct att_server *s)
{
	bool any = false;

	for (size_t i = 0; i < s->agents.n; i++) {
		struct att_agent *g = s->agents.at[i];
		bool work = s->over || g->plans || g->parked || g->mourns;

		if (!g->h)
			continue;
		/* A client in state OUT may have set a new deadline while the
		 * agent waits. */
		work |= g->waiting && att_agent_deadline(g) < g->until;
		for (size_t k = 0; k < g->clients.n && !work; k++)
			work = g->clients.at[k]->wake ||
			       att_has_cmds(g->clients.at[k]);
		if (!work)
			continue;
		if (weft_prog_kick(g->h))
			any = true;
		else if (g->waiting)
			weft_prog_call(g->h, true);
	}
	return any;
}

/* Returns true if all attached clients are outside the measured part, no
 * operation of the machine is in flight and no client waits for a time.
 * Simulated time then stands still, because clients start and end in real
 * time. */
static bool gate_aside(const struct att_server *s)
{
	if (!s->live || s->measure.asides < s->live)
		return false;
	for (size_t i = 0; i < s->agents.n; i++) {
		const struct att_agent *g = s->agents.at[i];

		if (!g->ended && (!weft_prog_rests(g->h) || g->n_ops ||
				  att_agent_deadline(g) != WEFT_PROG_KICKED))
			return false;
	}
	return true;
}

/* ---- nothing to do ---- */

static void look_all(struct att_server *s)
{
	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];
		uint64_t unused = 0;

		if (!c->gone)
			look_stopped(c, att_doing(c->pid, &unused));
	}
}

/* Returns true if a client of the direct path sleeps. Such clients do not
 * report waits. Therefore a client that used hardly any processor time for as
 * long as --patience counts as asleep. */
static bool serve_gate_sleeps(struct att_client *c)
{
	uint64_t now = att_now_ns(), ran = 0;

	if (att_doing(c->pid, &ran) == ATT_ASLEEP && c->still.quiet_since &&
	    ran - c->still.ran_ns <= (now - c->still.quiet_since) / 8)
		return now - c->still.quiet_since >= c->srv->o.patience_ns;
	c->still.quiet_since = now;
	c->still.ran_ns = ran;
	return false;
}

/* Detaches all clients if one died and the others wait. The simulator cannot
 * select the calls that wait for the dead client, because a receive from any
 * source names no client. */
static bool still_lost(struct att_server *s)
{
	if (!s->measure.sum.died)
		return false;
	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];

		if (!c->gone &&
		    !(s->o.direct ? serve_gate_sleeps(c)
				  : atomic_load(&c->seg->state) == ATT_WAIT))
			return false;
	}
	att_say(s, "a process has died and all others wait: they are detached");
	for (size_t i = 0; i < s->clients.n; i++) {
		s->clients.at[i]->left = true;
		att_gone(s->clients.at[i]);
	}
	return true;
}

/* Reports that no event is left and no client computes. The program is in a
 * deadlock, or waits for an event outside the run. */
static void serve_gate_still(struct att_server *s)
{
	uint64_t now = att_now_ns();

	if (!s->patience.still_ns)
		s->patience.still_ns = s->patience.look_ns = now;
	if (now - s->patience.look_ns >= ALL_CHECK_NS) {
		s->patience.look_ns = now;
		look_all(s);
	}
	if (!s->live || s->patience.told_still ||
	    now - s->patience.still_ns < s->o.patience_ns || !s->started)
		return;
	if (still_lost(s) || s->o.direct)
		return;
	s->patience.told_still = true;
	att_say(s,
		"nothing happens: all %u processes wait (a deadlock of the program?); ctrl-c ends it",
		s->live);
}

static bool gate_slow(struct att_server *s, bool idle)
{
	for (;;) {
		uint32_t seq;

		s->seen = atomic_load(&s->bell->seq);
		gate_news(s);
		gate_resumed(s);
		if (!gate_await(s))
			return false;
		gate_missed(s);
		/* The run does not start before all clients have joined,
		 * because a client that has not joined cannot be distinguished
		 * from one that has exited. */
		s->started |= s->measure.sum.joined >= s->o.ranks ||
			      (s->measure.sum.joined &&
			       att_now_ns() - s->patience.last_join_ns >=
				       LAST_JOIN_NS);
		if ((s->started || s->over) &&
		    (s->o.raw ? att_raw_call(s) : gate_call(s))) {
			s->patience.still_ns = 0;
			s->patience.told_still = false;
			return true;
		}
		if (att_raw_lost(s, idle))
			continue;
		if (s->over || weft_sim_stopped(s->sim))
			return false;
		if (s->started && !idle && s->live && !gate_aside(s))
			return false;
		serve_gate_still(s);
		seq = s->seen;
		for (uint32_t i = 0;
		     i < s->o.spin && atomic_load(&s->bell->seq) == seq; i++)
			att_pause();
		atomic_store(&s->bell->asleep, 1);
		if (atomic_load(&s->bell->seq) == seq)
			att_futex_wait(&s->bell->seq, seq, IDLE_CHECK_NS);
		atomic_store(&s->bell->asleep, 0);
	}
}

bool att_gate(void *server, bool idle)
{
	struct att_server *s = server;

	/* Checks stopped clients here, too, because the gate is never idle when
	 * clients poll while they wait for a stopped client. */
	if (!(++s->calls & 0xffff) &&
	    att_now_ns() - s->patience.look_ns >= ALL_CHECK_NS) {
		s->patience.look_ns = att_now_ns();
		look_all(s);
	}
	/* Processes may join when all agents are open and have settled. */
	if (!s->joinable) {
		if (s->opened < s->agents.n ||
		    (!idle && weft_sim_now(s->sim) < s->settled))
			return false;
		pthread_mutex_lock(&s->lock);
		s->ready = true;
		pthread_mutex_unlock(&s->lock);
		att_watch_poke(s);
		s->joinable = true;
	}
	if (!idle && s->started && s->measure.asides < s->live &&
	    !s->running.n && !(s->o.raw && s->measure.sum.died) &&
	    atomic_load_explicit(&s->bell->seq, memory_order_relaxed) ==
		    s->seen &&
	    atomic_load_explicit(&s->news, memory_order_relaxed) ==
		    s->news_seen)
		return false;
	return gate_slow(s, idle);
}
