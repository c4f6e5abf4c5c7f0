/* SPDX-License-Identifier: Apache-2.0 */
/* Places for flits in the queues of a router, see queued.h. The first places
 * that a queue uses are its own. Others come from the pool. If neither has one,
 * a flit with only whole packets before it takes the spare place of its queue.
 * The next flit that leaves returns it, so the spare place is free again when
 * the next packet needs it. */
#include "systems/router/network/queued.h"

/* Returns how many of `used` places of a queue come from the pool. */
static uint32_t pooled(const struct queued *r, uint32_t used)
{
	return used > r->room.own ? used - r->room.own : 0;
}

/* With a dynamic threshold a queue may take from the pool while it has taken
 * less than alpha times what is left (Choudhury and Hahne 1998). */
static bool common_fits(const struct queued *r, const struct queued_out *q,
			uint32_t n)
{
	uint32_t has = pooled(r, q->used), left = r->room.pool - r->room.used;
	uint32_t more = pooled(r, q->used + n) - has;

	if (!more)
		return true;
	if (q->used + n > r->room.limit || more > left)
		return false;
	return r->room.alpha == 0 || has < r->room.alpha * left;
}

bool queued_fits(const struct queued *r, const struct queued_out *q, uint32_t n,
		 bool first)
{
	return (first && r->room.spare && !q->spare) || common_fits(r, q, n);
}

void queued_take(struct queued *r, struct queued_out *q, uint32_t n)
{
	if (!common_fits(r, q, n)) {
		q->spare = true;
		return;
	}
	r->room.used += pooled(r, q->used + n) - pooled(r, q->used);
	q->used += n;
}

void queued_return(struct queued *r, struct queued_out *q)
{
	if (q->spare) {
		q->spare = false;
		return;
	}
	r->room.used -= pooled(r, q->used) - pooled(r, q->used - 1);
	q->used--;
}
