/* SPDX-License-Identifier: Apache-2.0 */
/* A common start: processes of a job that have said so go on together, at the
 * next whole second, when what was under way has long arrived.  How they came
 * there (start-up in real time) is forgotten; what follows is the same in every
 * run. */
#include <errno.h>

#include "attach/serve_priv.h"
#include "weft/prog.h"

/* Before the second the node does nothing for this long. */
#define SETTLE WEFT_MS

static bool waits(const struct att_client *c)
{
	return !c->gone && c->epoch.seq;
}

static void epoch_check(struct att_server *s, uint64_t job, uint64_t ranks,
			weft_time_t now)
{
	weft_time_t at = ((now + 2 * SETTLE) / WEFT_SEC + 1) * WEFT_SEC;
	uint64_t n = 0;

	for (size_t i = 0; i < s->clients.n; i++)
		n += waits(s->clients.at[i]) &&
		     s->clients.at[i]->epoch.job == job;
	for (size_t i = 0; n >= ranks && i < s->clients.n; i++) {
		struct att_client *c = s->clients.at[i];

		if (!waits(c) || c->epoch.job != job)
			continue;
		c->epoch.at = at;
		c->g->plans = true;
	}
}

int att_cmd_epoch(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd)
{
	c->epoch = (struct att_epoch){ .seq = cmd->ctx,
				       .job = cmd->buf,
				       .at = WEFT_NEVER };
	epoch_check(c->srv, cmd->buf, cmd->len, weft_prog_time(g->prog));
	return 0;
}

static void tell(struct att_server *s, bool begins)
{
	if (s->o.measured)
		s->o.measured(s->o.measured_arg, begins);
}

int att_cmd_over(struct att_agent *g, struct att_client *c,
		 const struct att_cmd *cmd)
{
	if (c->over)
		return 0;
	att_stat_keep(c);
	c->over = weft_prog_time(g->prog);
	if (c->start && ++c->srv->ended == c->srv->began)
		tell(c->srv, false);
	return 0;
}

static void epoch_reply(struct att_client *c, int status)
{
	struct att_reply r = { .status = status, .a = c->epoch.at };

	if (!status) {
		c->start = c->epoch.at;
		att_stat_reset(c);
		if (!c->srv->began++) {
			c->srv->job = c->epoch.job;
			tell(c->srv, true);
		}
		c->srv->sum.violations -= c->violations;
		c->violations = 0;
	}
	att_reply(c, &r, c->epoch.seq);
	c->epoch.seq = 0;
}

weft_time_t att_epoch_deadline(const struct att_client *c)
{
	if (!waits(c) || c->epoch.at == WEFT_NEVER)
		return WEFT_NEVER;
	return c->epoch.at - SETTLE;
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
		if (waits(s->clients.at[i]) &&
		    s->clients.at[i]->epoch.at == WEFT_NEVER)
			epoch_reply(s->clients.at[i], -EPIPE);
}
