/* SPDX-License-Identifier: Apache-2.0 */
/* Runs callbacks of the Host Port's blocks at core clock edges. A heap orders
 * the callbacks by cycle, then by the order of their requests. The component
 * needs only one timer for all callbacks. */
#include <stdlib.h>

#include "systems/hostport/nic/nic.h"

static bool before(const struct hp_call *a, const struct hp_call *b)
{
	return a->cycle != b->cycle ? a->cycle < b->cycle : a->seq < b->seq;
}

void hp_at(struct hp_nic *n, uint64_t cycle, hp_fn fn, void *arg)
{
	struct hp_later *l = &n->later;
	struct hp_call c = { cycle, l->seq++, fn, arg };
	size_t i = l->n;

	vec_push(l, c);
	while (i && before(&c, &l->at[(i - 1) / 2])) {
		l->at[i] = l->at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	l->at[i] = c;
	weft_timer_arm(n->comp, &l->timer, HP_TAG_LATER, hp_edge(n, cycle));
}

void hp_later_event(struct hp_nic *n)
{
	struct hp_later *l = &n->later;
	uint64_t now = hp_now(n);

	if (!weft_timer_due(n->comp, &l->timer))
		return;
	while (l->n && l->at[0].cycle <= now) {
		struct hp_call first = l->at[0], c = l->at[--l->n];
		size_t i = 0, k;

		while ((k = 2 * i + 1) < l->n) {
			if (k + 1 < l->n && before(&l->at[k + 1], &l->at[k]))
				k++;
			if (!before(&l->at[k], &c))
				break;
			l->at[i] = l->at[k];
			i = k;
		}
		l->at[i] = c;
		first.fn(n, first.arg);
	}
	if (l->n)
		weft_timer_arm(n->comp, &l->timer, HP_TAG_LATER,
			       hp_edge(n, l->at[0].cycle));
}
