/* SPDX-License-Identifier: Apache-2.0 */
/* Common start and common end of the measured part. Processes reach both at
 * times that depend on real time, so their messages at these times must not use
 * the simulated machine. The measured part starts for all processes at one
 * simulated time, with no operation in flight and all counts at zero, and ends
 * for all at one time. Therefore the measured part is equal in every run. */
#include <errno.h>

#include "attach/serve_internal.h"
#include "weft/prog.h"

static bool serve_epoch_waits(const struct att_client *c)
{
	return !c->gone && c->epoch.seq;
}

static void serve_epoch_aside(struct att_client *c, bool on)
{
	c->srv->measure.asides += on;
	c->srv->measure.asides -= c->aside;
	c->aside = on;
}

/* Takes a client out of the measured part. Subtracts the client's events and
 * hand-overs from the counts of the run, because their number depends on real
 * time. */
int att_cmd_aside(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd)
{
	if (c->measured.start)
		return 0;
	serve_epoch_aside(c, true);
	weft_count(g->prog, AGENT_C_EVENTS, -c->measured.events);
	weft_count(g->prog, AGENT_C_HANDOVERS, -c->measured.handovers);
	c->srv->measure.sum.events -= c->measured.events;
	c->srv->measure.sum.handovers -= c->measured.handovers;
	c->measured.events = c->measured.handovers = 0;
	return 0;
}

/* Records that the client waits. Sets the common time when the last client of
 * the job waits. */
int att_cmd_epoch(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd)
{
	weft_time_t grain = weft_host_time(g->h, T_exec_grain);
	weft_time_t at = weft_prog_time(g->prog) +
			 2 * weft_host_time(g->h, T_exec_settle);
	bool end = cmd->flags & ATT_F_END;
	struct att_server *s = g->srv;
	uint64_t n = 0;

	c->epoch = (struct att_epoch){
		.seq = cmd->ctx, .job = cmd->buf, .at = WEFT_NEVER, .end = end
	};
	if (!end)
		at = (at / grain + 1) * grain;
	for (size_t i = 0; i < s->clients.n; i++)
		n += serve_epoch_waits(s->clients.at[i]) &&
		     s->clients.at[i]->epoch.job == cmd->buf &&
		     s->clients.at[i]->epoch.end == end;
	for (size_t i = 0; n >= cmd->len && i < s->clients.n; i++) {
		struct att_client *k = s->clients.at[i];

		if (!serve_epoch_waits(k) || k->epoch.job != cmd->buf)
			continue;
		k->epoch.at = at;
		k->g->plans = true;
		atomic_fetch_add(&s->news, 1);
	}
	return 0;
}

int att_cmd_over(struct att_agent *g, struct att_client *c,
		 const struct att_cmd *cmd)
{
	struct att_server *s = c->srv;
	struct att_reply r = { 0 };

	if (!c->measured.over) {
		att_stat_keep(c);
		c->measured.over = weft_prog_time(g->prog);
		if (c->measured.start &&
		    ++s->measure.ended == s->measure.began && s->o.measured)
			s->o.measured(s->o.measured_arg, false);
	}
	if (cmd->ctx)
		att_reply(c, &r, cmd->ctx);
	return 0;
}

static void epoch_reply(struct att_client *c, int status)
{
	struct att_reply r = { .status = status, .a = c->epoch.at };
	struct att_server *s = c->srv;

	/* At a common end all clients leave the measured part before the first
	 * of them continues. */
	for (size_t i = 0; c->epoch.end && i < s->clients.n; i++)
		if (serve_epoch_waits(s->clients.at[i]) &&
		    s->clients.at[i]->epoch.job == c->epoch.job)
			serve_epoch_aside(s->clients.at[i], true);
	if (!c->epoch.end && !status) {
		serve_epoch_aside(c, false);
		c->measured.start = c->epoch.at;
		att_stat_reset(c);
		if (!s->measure.began++) {
			s->measure.job = c->epoch.job;
			if (s->o.measured)
				s->o.measured(s->o.measured_arg, true);
		}
		s->measure.sum.violations -= c->measured.violations;
		c->measured.violations = 0;
	}
	att_reply(c, &r, c->epoch.seq);
	c->epoch.seq = 0;
}

weft_time_t att_epoch_deadline(const struct att_client *c)
{
	if (!serve_epoch_waits(c) || c->epoch.at == WEFT_NEVER)
		return WEFT_NEVER;
	return c->epoch.at - weft_host_time(c->g->h, T_exec_settle);
}

void att_epoch_due(struct att_agent *g)
{
	for (size_t i = 0; i < g->clients.n; i++) {
		struct att_client *c = g->clients.at[i];

		if (att_epoch_deadline(c) > weft_prog_time(g->prog))
			continue;
		weft_host_sleep(g->h, c->epoch.at);
		epoch_reply(c, 0);
	}
}

void att_epoch_broken(struct att_server *s)
{
	for (size_t i = 0; i < s->clients.n; i++)
		if (serve_epoch_waits(s->clients.at[i]) &&
		    s->clients.at[i]->epoch.at == WEFT_NEVER)
			epoch_reply(s->clients.at[i], -EPIPE);
}
