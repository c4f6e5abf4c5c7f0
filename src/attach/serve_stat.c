/* SPDX-License-Identifier: Apache-2.0 */
/* Records times of a client's calls, their slices of the timeline, and messages
 * from rank to rank. The client marks start and end of a call in its ring. The
 * time of the call is the time of the commands between the marks. Counts cover
 * the measured part (serve_epoch.c), or the whole run if the run has no
 * measured part. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/serve_internal.h"
#include "base/minmax.h"
#include "weft/prog.h"
#include "weft/trace.h"

/* ---- calls ---- */

/* Returns the name of a call. The name is copied once, because the client could
 * change it, and odd characters are replaced by '?'. Appends a number to a name
 * that another call has, because results identify calls by name. */
static const char *stat_name(struct att_client *c, uint32_t stat)
{
	char *name = c->calls.stat[stat].name, number[12];
	size_t n, k;

	if (name[0])
		return name;
	for (uint32_t i = 0; i + 1 < WEFT_ATT_STAT_NAME; i++) {
		char ch = c->seg->stat[stat].name[i];

		if (!ch)
			break;
		name[i] = isalnum((unsigned char)ch) || ch == '_' ? ch : '?';
	}
	for (uint32_t i = 0; name[0] && i < WEFT_ATT_STATS; i++) {
		if (i == stat || strcmp(name, c->calls.stat[i].name))
			continue;
		k = (size_t)snprintf(number, sizeof(number), "#%u", stat);
		n = min_of(strlen(name), WEFT_ATT_STAT_NAME - 1 - k);
		memcpy(name + n, number, k + 1);
		break;
	}
	return name;
}

int att_cmd_begin(struct att_agent *g, struct att_client *c,
		  const struct att_cmd *cmd)
{
	if (cmd->buf >= WEFT_ATT_STATS) {
		att_break(c, "there is no such call");
	} else if (c->calls.n_open < ATT_OPEN) {
		c->calls.open[c->calls.n_open].stat = (uint32_t)cmd->buf;
		c->calls.open[c->calls.n_open++].from = weft_prog_time(g->prog);
	}
	return 0;
}

/* Ends the innermost open call of this kind. Drops calls inside it whose end
 * is missing. */
int att_cmd_end(struct att_agent *g, struct att_client *c,
		const struct att_cmd *cmd)
{
	weft_time_t now = weft_prog_time(g->prog), from;
	uint32_t i = c->calls.n_open, stat;
	struct att_timed *s;

	while (i && c->calls.open[i - 1].stat != cmd->buf)
		i--;
	if (!i)
		return 0;
	c->calls.n_open = --i;
	if (cmd->flags & ATT_F_DROP || c->measured.over)
		return 0;
	stat = c->calls.open[i].stat;
	from = c->calls.open[i].from;
	s = &c->calls.timed[stat];
	s->sum += now - from;
	s->max = max_of(now - from, s->max);
	if (weft_heard_kind(g->prog, WEFT_TRACE_SPAN))
		weft_span(g->prog, WEFT_TRACE_CALLS, c->rank,
			  stat_name(c, stat), c->rank, from, now);
	return 0;
}

/* ---- messages ---- */

static void sent_add(struct att_client *from, const struct att_client *to,
		     uint64_t bytes)
{
	uint32_t ranks = from->srv->o.ranks;

	if (!to || to->rank >= ranks || from->measured.over)
		return;
	if (!from->calls.sent)
		from->calls.sent = calloc(ranks, sizeof(*from->calls.sent));
	if (!from->calls.sent)
		abort();
	from->calls.sent[to->rank].messages++;
	from->calls.sent[to->rank].bytes += bytes;
}

void att_stat_cmd(struct att_client *c, const struct att_cmd *cmd)
{
	struct att_client *peer;

	if (cmd->kind < ATT_C_SEND || cmd->kind > ATT_C_CSWAP)
		return;
	peer = att_find(c->srv, cmd->dst);
	if (cmd->kind == ATT_C_GET && peer)
		sent_add(peer, c, cmd->len);
	else
		sent_add(c, peer, cmd->kind <= ATT_C_PUT ? cmd->len : 8);
}

/* ---- begin and end ---- */

void att_stat_reset(struct att_client *c)
{
	for (uint32_t i = 0; i < WEFT_ATT_STATS; i++) {
		struct att_stat *s = &c->seg->stat[i];

		s->calls = s->bytes = s->time = s->max = 0;
		c->calls.timed[i] = (struct att_timed){ 0 };
	}
	free(c->calls.sent);
	c->calls.sent = NULL;
}

void att_stat_keep(struct att_client *c)
{
	if (c->measured.over)
		return;
	for (uint32_t i = 0; i < WEFT_ATT_STATS; i++) {
		const struct att_stat *s = &c->seg->stat[i];

		stat_name(c, i);
		c->calls.stat[i].calls = s->calls;
		c->calls.stat[i].bytes = s->bytes;
		c->calls.stat[i].time = s->time;
		c->calls.stat[i].max = s->max;
	}
}

/* ---- results ---- */

/* Returns the client of a rank: the first client that has reached the end of
 * its measured part, or the last client if none has. Ignores clients of jobs
 * after the first measured job. */
static struct att_client *rank_client(const struct att_server *s, uint32_t rank)
{
	struct att_client *c = NULL;

	for (size_t i = 0; i < s->clients.n; i++) {
		struct att_client *k = s->clients.at[i];
		bool shown =
			!s->measure.began ||
			(k->measured.start && k->epoch.job == s->measure.job);

		if (k->rank == rank && !(c && c->measured.over) && shown)
			c = k;
	}
	return c;
}

bool att_server_rank(const struct att_server *s, size_t i, struct att_rank *r)
{
	const struct att_client *c;

	for (uint32_t k = 0; k < s->o.ranks; k++) {
		c = rank_client(s, k);
		if (!c || i--)
			continue;
		*r = (struct att_rank){ k, c->node, c->measured.start,
					c->measured.over };
		return true;
	}
	return false;
}

bool att_server_call(const struct att_server *s, size_t i, struct att_call *c)
{
	for (uint32_t r = 0; r < s->o.ranks; r++) {
		const struct att_client *of = rank_client(s, r);

		for (uint32_t k = 0; of && k < WEFT_ATT_STATS; k++) {
			const struct att_stat *st = &of->calls.stat[k];
			const struct att_timed *t = &of->calls.timed[k];

			if (!st->calls || i--)
				continue;
			*c = (struct att_call){ .rank = of->rank,
						.name = st->name,
						.calls = st->calls,
						.bytes = st->bytes,
						.time = st->time + t->sum,
						.max = max_of(st->max,
							      t->max) };
			return true;
		}
	}
	return false;
}

bool att_server_flow(const struct att_server *s, size_t i, struct att_flow *f)
{
	for (uint32_t r = 0; r < s->o.ranks; r++) {
		const struct att_client *c = rank_client(s, r);

		for (uint32_t k = 0; c && c->calls.sent && k < s->o.ranks;
		     k++) {
			if (!c->calls.sent[k].messages || i--)
				continue;
			*f = (struct att_flow){ r, k, c->calls.sent[k].messages,
						c->calls.sent[k].bytes };
			return true;
		}
	}
	return false;
}
