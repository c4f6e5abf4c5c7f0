/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows of clients' memory (host/process_memory.h). In untimed runs unused
 * shadows are kept for a while, so that the endpoint's library finds its
 * registrations again when a buffer is reused. */
#include "attach/serve_internal.h"

/* Largest number of unused shadows that an agent keeps in an untimed run. In a
 * timed run it keeps none, because the heap decides whether a buffer reuses an
 * address, and results would differ from run to run. */
enum { KEPT = 64 };

static void shadow_drop(struct att_agent *g, size_t i)
{
	weft_far_del(g->h, g->shadows.at[i].p);
	g->shadows.at[i] = vec_last(&g->shadows);
	g->shadows.n--;
}

/* Drops the least recently used shadow if more than `most` are unused. Returns
 * true if it dropped one. */
static bool shadows_trim(struct att_agent *g, size_t most)
{
	size_t unused = 0, old = 0;

	for (size_t i = 0; i < g->shadows.n; i++) {
		const struct att_shadow *s = &g->shadows.at[i];

		if (s->users)
			continue;
		if (!unused++ || s->age < g->shadows.at[old].age)
			old = i;
	}
	if (unused <= most)
		return false;
	shadow_drop(g, old);
	return true;
}

void *att_shadow_get(struct att_agent *g, struct att_client *c, uint64_t va,
		     uint64_t len)
{
	struct att_shadow s = { .c = c, .va = va, .len = len ? len : 1 };

	for (size_t i = 0; i < g->shadows.n; i++) {
		struct att_shadow *k = &g->shadows.at[i];

		/* In timed runs only a shadow that starts at va is used.
		 * Otherwise results would depend on the offset of va in the
		 * shadow, which the client's heap decides. */
		if (k->c != c || va < k->va || s.len > k->len ||
		    va - k->va > k->len - s.len ||
		    (att_timed(c->srv) && va != k->va))
			continue;
		k->users++;
		k->age = ++g->shadow_age;
		return k->p + (va - k->va);
	}
	do {
		s.p = weft_far_add(g->h, &c->far, va, s.len);
	} while (!s.p && shadows_trim(g, 0));
	if (!s.p)
		return NULL;
	s.users = 1;
	s.age = ++g->shadow_age;
	vec_push(&g->shadows, s);
	return s.p;
}

void att_shadow_put(struct att_agent *g, const void *p)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < g->shadows.n; i++) {
		struct att_shadow *s = &g->shadows.at[i];

		if (b < s->p || b >= s->p + s->len)
			continue;
		s->users--;
		break;
	}
	while (shadows_trim(g, att_timed(g->srv) ? 0 : KEPT))
		;
}

void att_shadows_drop(struct att_agent *g)
{
	for (size_t i = g->shadows.n; i--;)
		if (!g->shadows.at[i].users && g->shadows.at[i].c->gone)
			shadow_drop(g, i);
}
