/* SPDX-License-Identifier: Apache-2.0 */
/* Directory of a set-associative cache, see assoc.h: allocation, and choice of
 * the entry to replace. */
#include "base/assoc.h"

#include <stdlib.h>

#include "base/need.h"

void assoc_init(struct assoc *a, uint32_t sets, uint32_t ways,
		enum assoc_policy policy)
{
	*a = (struct assoc){ .sets = sets, .ways = ways, .policy = policy };
	a->at = need(calloc((size_t)sets * ways, sizeof(*a->at)));
	if (policy == ASSOC_ROUND_ROBIN)
		a->turn = need(calloc(sets, sizeof(*a->turn)));
}

void assoc_fini(struct assoc *a)
{
	free(a->at);
	free(a->turn);
	*a = (struct assoc){ 0 };
}

uint32_t assoc_victim_if(const struct assoc *a, uint32_t set,
			 bool (*may)(const void *arg, uint32_t i),
			 const void *arg)
{
	uint32_t first = set * a->ways, best = ASSOC_NONE;

	for (uint32_t i = first; i < first + a->ways; i++) {
		const struct assoc_entry *e = &a->at[i];

		if (e->state == ASSOC_EMPTY)
			return i;
		if (e->state != ASSOC_VALID ||
		    (best != ASSOC_NONE && e->used >= a->at[best].used))
			continue;
		if (!may ||
		    may(arg,
			i)) /* call may() last, because the call costs time */
			best = i;
	}
	return best;
}

uint32_t assoc_victim(struct assoc *a, uint32_t set)
{
	uint32_t turn;

	if (a->policy == ASSOC_LRU)
		return assoc_victim_if(a, set, NULL, NULL);
	turn = a->turn[set];
	a->turn[set] = (turn + 1) % a->ways;
	return set * a->ways + turn;
}
