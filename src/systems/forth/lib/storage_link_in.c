/* SPDX-License-Identifier: Apache-2.0 */
/* The storage link over the FORTH NIC: records that have arrived.
 *
 * The word of remote notifications counts transfers, but does not say which
 * slot a transfer has written. A peer uses its slots in ring order. Therefore
 * the slot behind the last record of each peer is polled first. If no peer has
 * a record in that slot, all slots are scanned once, because the record may
 * have a tag out of order. The scan finds nothing if the notification belonged
 * to data or to a damaged record, or if the record was found before its
 * notification was counted. */
#include <string.h>

#include "host/times.h"
#include "systems/forth/lib/storage_link.h"

/* Charges the processor for the interrupts of n notifications. A node that
 * sleeps and notifies by page or packet has the naive driver of row F35, which
 * handles one notification per interrupt. Other drivers handle all
 * notifications of an interrupt, therefore they are not charged here. */
static void pay(struct forth_storage *x, uint32_t n)
{
	weft_time_t one = weft_host_time(x->link.host, T_forth_storage_single);
	uint32_t paid = n < x->paid ? n : x->paid;

	x->paid -= paid;
	if (x->irq && x->notify != FORTH_STORAGE_REQUEST)
		weft_host_cpu(x->link.host, (n - paid) * one);
}

bool forth_storage_ready(struct forth_storage *x)
{
	uint32_t news = weft_forth_remote_count(x->f) - x->seen;

	/* the word is 0 until the NIC has written it once */
	if (weft_forth_remote_word(x->f) && news) {
		x->due += news;
		x->seen += news;
		pay(x, news);
	}
	return x->due;
}

/* Removes the record from a slot. Clears the magic number, because otherwise
 * the next record with equal bytes would look like this one. Returns false if
 * the slot does not hold a whole record. A partial record stays in the slot,
 * because its remaining words may be in flight. */
static bool take(struct forth_storage *x, uint32_t i, uint32_t slot,
		 struct storage_event *ev)
{
	struct forth_storage_peer *p = &x->peer[i];
	uint8_t *at = p->slots + (size_t)slot * STORAGE_SLOT_BYTES;
	const uint32_t none = 0;
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	if (magic != STORAGE_MAGIC ||
	    !storage_record_read(&ev->rec, at, STORAGE_SLOT_BYTES))
		return false;
	memcpy(at, &none, sizeof(none));
	ev->kind = STORAGE_EV_RECORD;
	ev->peer = p->node;
	ev->slot = slot;
	if (slot < STORAGE_DEPTH)
		p->expect = (slot + 1) % STORAGE_DEPTH;
	x->turn = i;
	return true;
}

static bool take_expected(struct forth_storage *x, struct storage_event *ev,
			  uint32_t *polled_p)
{
	for (uint32_t k = 0; k < x->peers; k++) {
		uint32_t i = (x->turn + k) % x->peers;

		++*polled_p;
		if (take(x, i, x->peer[i].expect, ev))
			return true;
	}
	return false;
}

static bool take_any(struct forth_storage *x, struct storage_event *ev,
		     uint32_t *polled_p)
{
	for (uint32_t k = 0; k < x->peers; k++) {
		uint32_t i = (x->turn + k) % x->peers;
		uint32_t from = x->peer[i].expect;

		for (uint32_t s = 0; s < STORAGE_SLOTS; s++) {
			++*polled_p;
			if (take(x, i, (from + s) % STORAGE_SLOTS, ev))
				return true;
		}
	}
	return false;
}

int forth_storage_poll(struct storage_link *l, struct storage_event *ev,
		       int max)
{
	struct forth_storage *x = forth_storage_of(l);
	weft_time_t poll = weft_host_time(l->host, T_forth_storage_poll);
	weft_time_t taken = weft_host_time(l->host, T_forth_storage_take);
	uint32_t polled = 0;
	int n = 0;

	forth_storage_release(x);
	while (n < max && forth_storage_ready(x)) {
		if (!take_expected(x, &ev[n], &polled) &&
		    !take_any(x, &ev[n], &polled)) {
			x->due = 0;
			break;
		}
		x->due--;
		n++;
	}
	weft_host_cpu(l->host, polled * poll + (uint32_t)n * taken);
	return n;
}
