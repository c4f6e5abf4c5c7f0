/* SPDX-License-Identifier: Apache-2.0 */
/* Places for flits in the queues of a router (queued.h). A queue uses its
 * reserved places first, then places of the pool. If no such place is left, a
 * flit of the first packet that is not whole uses the spare place of the queue.
 * The next flit that leaves the queue frees the spare place, so that it is free
 * when the next packet needs it. */
#include "systems/router/network/queued.h"

/* Returns how many of `used` places of a queue come from the pool. */
static uint32_t pooled(const struct queued *r, uint32_t used)
{
	return used > r->room.own ? used - r->room.own : 0;
}

/* Returns true if a queue has n more places of its own or of the pool. With a
 * dynamic threshold, a queue gets places of the pool while it uses fewer than
 * alpha times the free places of the pool (Choudhury and Hahne 1998). */
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
