/* SPDX-License-Identifier: Apache-2.0 */
/* Coherent network interface: puts arriving words where a processor finds them
 * (forth.md 9: "update requests, meant for a coherent NI").  In order, one at a
 * time:
 *
 *   arrival --t_ni--> request to the interconnect
 *     memory:     MemWr, no snooping; the mailbox lies in uncached memory
 *     invalidate: memory written, every copy invalidated
 *     update:     Update into caches and memory
 *
 * The mailbox is a ring of 4-byte slots; word n (from 1) has value n.  A word
 * whose slot is still unread waits; that the interface knows what was read
 * costs nothing.  Not modelled: the network behind it. */
#include <string.h>

#include "systems/coherent/coherent_internal.h"

enum { INTO_MAILBOX, INTO_REGION };

uint64_t coh_ni_slot(const struct coh_system *s, uint64_t seq)
{
	uint64_t base = s->delivery == COH_TO_MEMORY
				? s->ddr_bytes - s->uncached_bytes
				: 0;

	return base + s->mailbox + seq % s->slots * s->stride;
}

static uint64_t random_word(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	uint64_t base = s->delivery == COH_TO_MEMORY
				? s->ddr_bytes - s->uncached_bytes
				: 0;

	return base + s->region_base +
	       weft_rng_below(&c->rng, s->region / 4) * 4;
}

static void ni_make(struct weft_comp *c, struct coh_item *it)
{
	struct coh_system *s = c->state;
	struct coh_ni *ni = &s->ni;
	uint64_t at = s->start + ni->made * s->interval +
		      weft_rng_below(&c->rng, s->jitter + 1);
	uint32_t value = (uint32_t)(ni->made + 1);

	if (at < ni->last_cycle)
		at = ni->last_cycle;
	*it = (struct coh_item){ .cycle = at,
				 .how = s->delivery,
				 .target = s->target,
				 .bytes = 4,
				 .addr = s->into == INTO_MAILBOX
						 ? coh_ni_slot(s, ni->made)
						 : random_word(c) };
	for (uint32_t b = 0; b < 4; b++)
		it->data[b] = (uint8_t)(value >> 8 * b);
	ni->last_cycle = at;
	ni->made++;
}

static bool ni_next(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	struct coh_ni *ni = &s->ni;

	if (ni->items) {
		if (ni->pos == ni->n_items)
			return false;
		ni->item = ni->items[ni->pos++];
		return true;
	}
	if (ni->made == s->words)
		return false;
	ni_make(c, &ni->item);
	return true;
}

void coh_ni_start(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	uint64_t now = coh_cycle(c), at;

	s->ni.state = NI_END;
	if (!ni_next(c))
		return;
	weft_count(c, C_ARRIVED, 1);
	at = s->ni.item.cycle + s->t_ni;
	s->ni.state = NI_WAIT;
	coh_at(c, &s->ni.timer, EV_NI, at > now ? at : now);
}

/* The word before last in this slot must have been read by all. */
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

void coh_ni_kick(struct weft_comp *c)
{
	struct coh_system *s = c->state;

	if (s->ni.state == NI_SLOT)
		coh_at(c, &s->ni.timer, EV_NI, coh_cycle(c));
}

void coh_ni_done(struct weft_comp *c)
{
	weft_count(c, C_DELIVERED, 1);
	coh_ni_start(c);
}
