/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays of messages, stages, sums and uses, see message_stages.h. */
#include "measure/message_stages.h"

#include <stdlib.h>
#include <string.h>

static char *story_dup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		abort();
	return copy;
}

/* Returns the array with room for element n, zeroed. Grows at powers of two. */
static void *story_grow(void *at, size_t n, size_t size)
{
	if (!(n & (n - 1)))
		at = reallocarray(at, n ? 2 * n : 1, size);
	if (!at)
		abort();
	memset((char *)at + n * size, 0, size);
	return at;
}

struct story_msg *story_msg_add(struct story *s, const char *from,
				const char *to)
{
	struct story_msg *m;

	s->msgs = story_grow(s->msgs, s->n_msgs, sizeof(*s->msgs));
	m = &s->msgs[s->n_msgs++];
	m->from = story_dup(from);
	m->to = story_dup(to);
	return m;
}

void story_stage_add(struct story_msg *m, const char *comp, const char *stage,
		     uint64_t end)
{
	m->stages = story_grow(m->stages, m->n_stages, sizeof(*m->stages));
	m->stages[m->n_stages++] = (struct story_stage){
		.comp = story_dup(comp), .stage = story_dup(stage), .end = end
	};
}

struct story_sum *story_sum_add(struct story *s, const char *comp,
				const char *stage)
{
	struct story_sum *u;

	s->sums = story_grow(s->sums, s->n_sums, sizeof(*s->sums));
	u = &s->sums[s->n_sums++];
	u->comp = story_dup(comp);
	u->stage = story_dup(stage);
	return u;
}

struct story_use *story_use_add(struct story *s, const char *comp,
				const char *part, const char *kind,
				const char *doing)
{
	struct story_use *u;

	s->uses = story_grow(s->uses, s->n_uses, sizeof(*s->uses));
	u = &s->uses[s->n_uses++];
	u->comp = story_dup(comp);
	u->part = story_dup(part);
	u->kind = story_dup(kind);
	u->doing = story_dup(doing);
	return u;
}

static void msg_fini(struct story_msg *m)
{
	for (size_t i = 0; i < m->n_stages; i++) {
		free(m->stages[i].comp);
		free(m->stages[i].stage);
	}
	free(m->stages);
	free(m->from);
	free(m->to);
}

void story_fini(struct story *s)
{
	for (size_t i = 0; i < s->n_msgs; i++)
		msg_fini(&s->msgs[i]);
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
