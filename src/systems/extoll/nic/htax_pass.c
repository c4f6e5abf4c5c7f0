/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX: stores of read pointers pass messages and commands that find no room
 * (extoll.md 2.4, 3.3; see htax.c).
 *
 * A message may wait for a mailbox of another node, while a message of that
 * node waits for a mailbox of this node. A store of a read pointer frees slots
 * of a mailbox and so ends the wait. It may pass messages and commands, because
 * no message or command depends on it. It stays behind all other register
 * stores, such as those that open a mailbox. */
#include "systems/extoll/nic/nic.h"

bool ex_htax_pass(struct extoll_nic *n, uint64_t c)
{
	const uint32_t pointers = EXTOLL_VPIDS * EXTOLL_RP_STRIDE;
	struct ex_htax *h = &n->htax;
	struct hx_store pass;

	for (uint32_t i = h->granted + 1; i < ring_count(&h->store); i++) {
		const struct hx_store *s = ring_nth(&h->store, i);

		if (s->cycle > c)
			return false;
		if (ex_rf_target(n, s->off, s->bytes) != EXTOLL_HX_RF)
			continue;
		if (s->off - EXTOLL_VELO_RP >= pointers &&
		    s->off - EXTOLL_RMA_RP >= pointers)
			return false;
		/* Moves the store of the read pointer to the arbiter, in front
		 * of the stores that it passes. */
		pass = *s;
		if (h->load.waits && i >= h->load.behind)
			/* the moved store now precedes the load */
			h->load.behind++;
		for (; i > h->granted; i--)
			*ring_nth(&h->store, i) = *ring_nth(&h->store, i - 1);
		*ring_nth(&h->store, h->granted) = pass;
		return true;
	}
	return false;
}

uint64_t ex_htax_pass_from(const struct extoll_nic *n, uint64_t c)
{
	const struct ex_htax *h = &n->htax;

	for (uint32_t i = h->granted + 1; i < ring_count(&h->store); i++)
		if (ring_nth(&h->store, i)->cycle > c)
			return ring_nth(&h->store, i)->cycle;
	return WEFT_NEVER;
}
