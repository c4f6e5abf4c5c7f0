/* SPDX-License-Identifier: Apache-2.0 */
/* Coherent network interface: stores arriving words in memory or caches of the
 * processors (forth.md 9: "update requests, meant for a coherent NI"), in
 * order, one at a time:
 *
 *   arrival --t_ni--> request to the interconnect
 *     memory:     MemWr, no snooping; the mailbox lies in uncached memory
 *     invalidate: memory written, every copy invalidated
 *     update:     Update into caches and memory
 *
 * The mailbox is a ring of 4-byte slots. Word n (from 1) has value n. A word
 * waits while its slot is unread. The interface knows without delay which words
 * were read. Not modelled: the network from which words arrive. */
#include "base/bytes.h"
#include "systems/coherent/coherent_internal.h"

enum { INTO_MAILBOX, INTO_REGION };

/* Returns the start of the memory into which words are delivered. */
static uint64_t ni_memory(const struct coh_system *s)
{
	return s->delivery == COH_TO_MEMORY ? s->ddr_bytes - s->uncached_bytes
					    : 0;
}

uint64_t coh_ni_slot(const struct coh_system *s, uint64_t seq)
{
	return ni_memory(s) + s->mailbox + seq % s->slots * s->stride;
}

/* Takes the next word of the script, or generates one. Returns false if none is
 * left. */
static bool ni_next(struct weft_comp *c, struct coh_item *it)
{
	struct coh_system *s = c->state;
	struct coh_ni *ni = &s->ni;
	uint32_t value = (uint32_t)(ni->made + 1);
	uint64_t at;

	if (ni->items) {
		if (ni->pos == ni->n_items)
			return false;
		*it = ni->items[ni->pos++];
		return true;
	}
	if (ni->made == s->words)
		return false;
	at = s->start + ni->made * s->interval +
	     weft_rng_below(&c->rng, s->jitter + 1);
	if (at < ni->last_cycle)
		at = ni->last_cycle;
	*it = (struct coh_item){
		.cycle = at, .how = s->delivery, .target = s->target, .bytes = 4
	};
	it->addr = s->into == INTO_MAILBOX
			   ? coh_ni_slot(s, ni->made)
			   : ni_memory(s) + s->region_base +
				     weft_rng_below(&c->rng, s->region / 4) * 4;
	put_le(it->data, value, 4);
	ni->last_cycle = at;
	ni->made++;
	return true;
}

void coh_ni_start(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	uint64_t now = coh_cycle(c), at;

	s->ni.state = NI_END;
	if (!ni_next(c, &s->ni.item))
		return;
	weft_count(c, C_ARRIVED, 1);
	at = s->ni.item.cycle + s->t_ni;
	s->ni.state = NI_WAIT;
	coh_at(c, &s->ni.timer, EV_NI, at > now ? at : now);
}

/* Returns whether all pollers have read the earlier word of this slot, because
 * a new word overwrites it. */
static bool slot_free(const struct coh_system *s)
{
	if (s->ni.items || s->into != INTO_MAILBOX)
		return true;
	for (uint32_t i = 0; i < s->pollers; i++)
		if (s->core[i].seen + s->slots < s->ni.made)
			return false;
	return true;
}

void coh_ni_event(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	struct coh_ni *ni = &s->ni;
	uint64_t now = coh_cycle(c);

	if (!weft_timer_due(c, &ni->timer))
		return;
	if (ni->state == NI_WAIT)
		ni->held_since = now;
	if (!slot_free(s)) {
		ni->state = NI_SLOT;
		return;
	}
	weft_count(c, C_HELD_UP, now - ni->held_since);
	if (!ni->items)
		ni->arrival[(ni->made - 1) % s->slots] = ni->item.cycle;
	ni->state = NI_BUS;
	coh_net_ask(c);
}
