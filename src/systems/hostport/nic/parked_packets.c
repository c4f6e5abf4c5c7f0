/* SPDX-License-Identifier: Apache-2.0 */
/* Parks packets that wait for a translation or for room at their receiver. This
 * is an addition of Weft. In hostport.md 8.8 the unit waits together with its
 * packet, and later packets stay in the network.
 *
 * A packet that waits is moved into the buffer of its unit if the buffer has
 * room, and is stored from there. Otherwise the packet is moved into pages of
 * an area in main memory, which the driver provides. From there the packet is
 * read back into the ingress buffer, at most one page at a time.
 *
 * In both cases the network gets its cells back, and the unit is free for other
 * packets. Without room in buffer and area, the unit waits for the driver, and
 * packets without room at their receiver are refused (receiver_room.c). */
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/functional_units.h"

/* largest number of transactions at a time in each direction */
enum { PIECES = 8 };

/* ---- the area ---- */

void hp_park_area(struct hp_nic *n, uint64_t pages)
{
	struct hp_park_area *a = &n->park;

	if (a->used || pages > HP_PARK_MAX)
		return; /* keeps the area, because packets are in it */
	free(a->page);
	a->page = need(calloc(pages ? pages : 1, sizeof(*a->page)));
	a->pages = (uint32_t)pages;
}

/* Finds the first run of free pages that is long enough. */
static bool parked_packets_area(struct hp_nic *n, struct hp_push *p,
				uint32_t taken)
{
	uint32_t want = (p->size + HP_PAGE - 1) / HP_PAGE;
	struct hp_park_area *a = &n->park;

	if (!want || taken + want > a->pages - a->used)
		return false;
	for (uint32_t i = 0, run = 0; i < a->pages; i++) {
		run = a->page[i] ? 0 : run + 1;
		if (run < want)
			continue;
		p->park.first = i + 1 - want;
		p->park.pages = want;
		memset(a->page + p->park.first, 1, want);
		a->used += want;
		hp_count(n, HP_K_PARKS, 1);
		return true;
	}
	return false;
}

bool hp_park_begin(struct hp_nic *n, struct hp_push *p, uint32_t fu,
		   uint32_t vpid)
{
	struct hp_share *s = NULL;
	bool parked;

	if (p->park.pages || p->park.kept)
		return true;
	/* A packet is not parked if its receiver would then use more bytes or
	 * pages than were free before. */
	if (vpid < HP_VPIDS)
		s = hp_room_share(n, vpid);
	parked = (s ? s->bytes : 0) + p->size <=
		 n->param.miss_buffer - n->park.kept[fu];
	if (parked) {
		n->park.kept[fu] += p->size;
		p->park.kept = p->size;
		p->park.fu = (uint8_t)fu;
		p->copied = true;
	} else {
		parked = parked_packets_area(n, p, s ? s->pages : 0);
	}
	if (!s)
		return parked;
	p->park.shared = parked;
	s->bytes += p->park.kept;
	s->pages += p->park.pages;
	p->park.vpid = (uint16_t)vpid;
	hp_room_tidy(n, s);
	return parked;
}

void hp_park_end(struct hp_nic *n, struct hp_push *p)
{
	if (p->park.shared) {
		struct hp_share *s = hp_room_share(n, p->park.vpid);

		s->bytes -= p->park.kept;
		s->pages -= p->park.pages;
		p->park.shared = false;
		hp_room_tidy(n, s);
	}
	n->park.kept[p->park.fu] -= p->park.kept;
	p->park.kept = 0;
	if (!p->park.pages)
		return;
	memset(n->park.page + p->park.first, 0, p->park.pages);
	n->park.used -= p->park.pages;
	p->park.pages = 0;
}

/* ---- writing and reading back ---- */

static void park_wrote(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_push *p = d->arg;

	p->park.out--;
	p->park.there += d->txn.data.len;
	hp_push_go(n, p);
}

static void park_came(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_push *p = d->arg;
	uint8_t *to = weft_slice_data(p->rx->f->payload) + p->rx->head.skip;

	p->park.out--;
	memcpy(to + d->user, weft_slice_data(d->txn.data), d->txn.data.len);
	p->park.back += d->txn.data.len;
	hp_push_go(n, p);
}

uint32_t hp_park_go(struct hp_nic *n, struct hp_push *p, uint32_t here)
{
	const weft_phys_t area =
		n->park.base + (uint64_t)HP_PAGE * p->park.first;
	struct hp_park *k = &p->park;
	struct hp_rx *rx = p->rx;
	uint32_t end = here < p->size ? here : p->size, bytes;
	uint32_t most = n->param.dma_piece;

	while (k->put < end && k->out < PIECES && !p->stop) {
		bytes = end - k->put < most ? end - k->put : most;
		if (bytes < most && !rx->whole && end < p->size)
			/* waits until a whole piece has arrived */
			break;
		k->out++;
		hp_dma_write(n, area + k->put,
			     weft_slice_sub(rx->f->payload,
					    rx->head.skip + k->put, bytes),
			     park_wrote, p);
		k->put += bytes;
	}
	end = p->stored + HP_INGRESS;
	end = end < k->there ? end : k->there;
	end = end < p->total ? end : p->total;
	while (!p->hold && !p->stop && k->asked < end && k->out < PIECES) {
		bytes = end - k->asked < most ? end - k->asked : most;
		k->out++;
		hp_dma_read(n, area + k->asked, bytes, park_came, p)->user =
			k->asked;
		k->asked += bytes;
	}
	return here < p->park.back ? here : p->park.back;
}
