/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the state of a client in the simulation, writes its events, and
 * detaches it. */
#include <errno.h>
#include <sys/socket.h>

#include "attach/serve_internal.h"
#include "host/prog.h"
#include "weft/prog.h"

bool att_timed(const struct att_server *s)
{
	return s->o.clock != WEFT_CLOCK_NONE;
}

struct att_client *att_find(struct att_server *s, uint32_t addr)
{
	uint32_t node = WEFT_ATT_NODE(addr), slot = WEFT_ATT_SLOT(addr);
	struct att_agent *g;

	if (node >= s->agents.n)
		return NULL;
	g = s->agents.at[node];
	for (size_t i = 0; i < g->clients.n; i++)
		if (g->clients.at[i]->slot == slot)
			return g->clients.at[i];
	return NULL;
}

/* ---- events ---- */

/* Returns true if the ring has room for an event. Detaches a client whose
 * count of read events is impossible, because its ring cannot be trusted any
 * more. */
static bool ring_room(struct att_client *c)
{
	uint32_t n = c->ev_tail - atomic_load(&c->seg->ev_head);

	if (n <= ATT_EVENTS)
		return n < ATT_EVENTS;
	att_break(c, "its event ring makes no sense");
	return false;
}

static void ring_put(struct att_client *c, const struct att_event *e)
{
	struct att_event *at = &c->view.ev[c->ev_tail % ATT_EVENTS];

	*at = *e;
	at->time = weft_prog_time(c->g->prog);
	c->ev_tail++;
	c->wake = true;
	if (!att_timed(c->srv))
		atomic_store(&c->seg->ev_tail, c->ev_tail);
	weft_count(c->g->prog, AGENT_C_EVENTS, !c->aside);
	c->srv->measure.sum.events += !c->aside;
	c->measured.events += !c->aside;
}

static void msg_put(struct att_client *c, struct att_event *e,
		    const struct att_msg *m)
{
	uint32_t slot = c->free_slot[--c->n_free];
	const void *data = m->own ? m->own : m->ev.data;

	c->msg[slot] = *m;
	c->msg[slot].used = true;
	e->slot = slot;
	e->data = slot * c->view.rx_slot;
	if (e->len)
		memcpy(c->view.rx + e->data, data, e->len);
	ring_put(c, e);
}

void att_msg_done(struct att_agent *g, struct att_msg *m)
{
	if (m->own)
		free(m->own);
	else
		g->ep->ops->release(g->ep, &m->ev);
	m->used = false;
}

void att_push(struct att_client *c, const struct att_event *e)
{
	if (c->gone)
		return;
	if (ring_empty(&c->late) && ring_room(c))
		ring_put(c, e);
	else if (!c->gone)
		*ring_push(&c->late) = (struct att_late){ .e = *e };
}

void att_push_msg(struct att_client *c, const struct att_event *e,
		  const struct att_msg *m)
{
	struct att_late l = { .e = *e, .m = *m };

	if (!c->gone && !c->leaving && ring_empty(&c->late) && c->n_free &&
	    ring_room(c))
		msg_put(c, &l.e, m);
	/* ring_room may have detached the client */
	else if (c->gone || c->leaving)
		att_msg_done(c->g, &l.m);
	else
		*ring_push(&c->late) = l;
}

void att_push_late(struct att_client *c)
{
	while (!c->gone && !ring_empty(&c->late) && ring_room(c)) {
		struct att_late *l = ring_front(&c->late);

		if (l->e.kind == WEFT_EV_RECV && !c->n_free)
			return;
		if (l->e.kind == WEFT_EV_RECV)
			msg_put(c, &l->e, &l->m);
		else
			ring_put(c, &l->e);
		ring_pop(&c->late);
	}
}

void att_reply(struct att_client *c, const struct att_reply *r, uint64_t seq)
{
	if (c->gone)
		return;
	c->seg->reply = *r;
	c->reply_seq = seq;
	c->wake = true;
}

/* ---- state ---- */

/* Publishes all events at the hand-over. A client that polls while it waits
 * must not find an event earlier, because results would then depend on real
 * time. */
void att_show(struct att_client *c)
{
	weft_far_settle(c->g->h);
	atomic_store(&c->seg->now, weft_prog_time(c->g->prog));
	atomic_store(&c->seg->cmd_head, c->cmd_head);
	atomic_store(&c->seg->reply_seq, c->reply_seq);
	atomic_store(&c->seg->ev_tail, c->ev_tail);
}

void att_run(struct att_client *c)
{
	uint32_t was = ATT_WAIT;
	bool runs;

	c->wake = false;
	if (c->gone)
		return;
	att_show(c);
	c->far.epoch++; /* makes cached reads of the client's memory invalid */
	runs = atomic_compare_exchange_strong(&c->seg->state, &was, ATT_RUN) ||
	       was == ATT_RUN;
	/* A client that was already running when att_show published the events
	 * may begin to wait before it polls again. It would then miss these
	 * events. */
	c->missed = was != ATT_WAIT && att_timed(c->srv);
	/* A client that waits on its descriptor (weft_att_arm) instead of the
	 * segment gets a byte. The byte is sent after the state has changed,
	 * because the client may poll at once and WAIT hides events. The send
	 * may fail on a full socket, which is readable already because of its
	 * unread bytes. */
	if (atomic_load(&c->seg->armed) && atomic_exchange(&c->seg->armed, 0))
		send(c->sock, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!runs)
		/* no hand-over: in state OUT the client polls when it
		 * continues, and in state GONE it has left */
		return;
	/* a client without pending commands learns the present time, so that
	 * its next command is not late */
	if (!att_has_cmds(c))
		c->resumed = false;
	weft_count(c->g->prog, AGENT_C_HANDOVERS, !c->aside);
	c->srv->measure.sum.handovers += !c->aside;
	c->measured.handovers += !c->aside;
	if (!c->running && att_timed(c->srv)) {
		c->running = true;
		vec_push(&c->srv->running, c);
	}
	if (was == ATT_WAIT && atomic_load(&c->seg->sleeps))
		att_futex_wake(&c->seg->state);
}

/* ---- ends ---- */

void att_break(struct att_client *c, const char *why)
{
	if (c->gone)
		return;
	att_say(c->srv, "rank %u on n%u (process %d) is detached: %s", c->rank,
		c->node, (int)c->pid, why);
	weft_count(c->g->prog, AGENT_C_BROKEN, 1);
	c->srv->measure.sum.broken++;
	c->broken = true;
	att_gone(c);
	shutdown(c->sock, SHUT_RDWR);
}

static void tell_death(struct att_client *c, uint32_t addr)
{
	struct att_event e = { .kind = WEFT_EV_ERROR,
			       .status = -EPIPE,
			       .src = addr };

	if (c->gone || c->srv->o.raw)
		return;
	att_push(c, &e);
	atomic_fetch_add(&c->srv->news, 1); /* makes the gate call the agents */
}

/* Reports the death of a process to all clients, because a client may wait for
 * the dead process. */
static void serve_client_death(struct att_server *s, uint32_t addr)
{
	uint64_t never = 0;

	s->measure.sum.died++;
	atomic_compare_exchange_strong(&s->died_ns, &never, att_now_ns());
	att_epoch_broken(s);
	for (size_t i = 0; i < s->clients.n; i++)
		tell_death(s->clients.at[i], addr);
}

void att_unborn(struct att_server *s, uint32_t rank, pid_t pid)
{
	uint32_t addr = WEFT_ATT_ADDR(s->map[rank], s->slot[rank]);

	for (size_t i = 0; i < s->clients.n; i++)
		if (s->clients.at[i]->rank == rank)
			return;
	att_say(s,
		"rank %u on n%u (process %d) has ended before it was attached",
		rank, s->map[rank], (int)pid);
	vec_push(&s->unborn, addr);
	if (s->o.direct)
		direct_dead(s->o.direct, s->map[rank], s->slot[rank]);
	serve_client_death(s, addr);
}

void att_tell_unborn(struct att_client *c)
{
	for (size_t i = 0; i < c->srv->unborn.n; i++)
		tell_death(c, c->srv->unborn.at[i]);
}

/* Detaches a client. The client's statistics are kept. The agent releases the
 * client's messages later (att_release_after_exit), because a release takes
 * simulated time. */
void att_gone(struct att_client *c)
{
	struct att_agent *g = c->g;

	if (c->gone)
		return;
	c->gone = true;
	c->wake = false;
	c->far.dead = true;
	att_stat_keep(c);
	atomic_store(&c->seg->state, ATT_GONE);
	att_futex_wake(&c->seg->state);
	c->srv->live--;
	c->srv->measure.asides -= c->aside;
	for (size_t i = 0; i < g->clients.n; i++)
		if (g->clients.at[i] == c) {
			vec_remove(&g->clients, i);
			break;
		}
	vec_push(&g->graves, c);
	g->mourns = true;
	if (c->left)
		return;
	serve_client_death(c->srv, WEFT_ATT_ADDR(c->node, c->slot));
}
