/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays of messages, stages, sums and uses, see message_stages.h. */
#include "base/need.h"
#include "measure/message_stages.h"

#include <stdlib.h>
#include <string.h>

struct story_msg *story_msg_add(struct story *s, const char *from,
				const char *to)
{
	struct story_msg *m;

	s->msgs = grown(s->msgs, s->n_msgs, sizeof(*s->msgs));
	m = &s->msgs[s->n_msgs++];
	m->from = need(strdup(from));
	m->to = need(strdup(to));
	return m;
}

void story_stage_add(struct story_msg *m, const char *comp, const char *stage,
		     uint64_t end)
{
	m->stages = grown(m->stages, m->n_stages, sizeof(*m->stages));
	m->stages[m->n_stages++] =
		(struct story_stage){ .comp = need(strdup(comp)),
				      .stage = need(strdup(stage)),
				      .end = end };
}

struct story_sum *story_sum_add(struct story *s, const char *comp,
				const char *stage)
{
	struct story_sum *u;

	s->sums = grown(s->sums, s->n_sums, sizeof(*s->sums));
	u = &s->sums[s->n_sums++];
	u->comp = need(strdup(comp));
	u->stage = need(strdup(stage));
	return u;
}

struct story_use *story_use_add(struct story *s, const char *comp,
				const char *part, const char *kind,
				const char *doing)
{
	struct story_use *u;

	s->uses = grown(s->uses, s->n_uses, sizeof(*s->uses));
	u = &s->uses[s->n_uses++];
	u->comp = need(strdup(comp));
	u->part = need(strdup(part));
	u->kind = need(strdup(kind));
	u->doing = need(strdup(doing));
	return u;
}

void story_fini(struct story *s)
{
	for (size_t i = 0; i < s->n_msgs; i++) {
		struct story_msg *m = &s->msgs[i];

		for (size_t k = 0; k < m->n_stages; k++) {
			free(m->stages[k].comp);
			free(m->stages[k].stage);
		}
		free(m->stages);
		free(m->from);
		free(m->to);
	}
	for (size_t i = 0; i < s->n_sums; i++) {
		free(s->sums[i].comp);
		free(s->sums[i].stage);
	}
	for (size_t i = 0; i < s->n_uses; i++) {
		free(s->uses[i].comp);
		free(s->uses[i].part);
		free(s->uses[i].kind);
		free(s->uses[i].doing);
	}
	free(s->msgs);
	free(s->sums);
	free(s->uses);
	*s = (struct story){ 0 };
}
