/* SPDX-License-Identifier: Apache-2.0 */
/* The storage link over the FORTH NIC: sends puts and records. */
#include <errno.h>
#include <string.h>

#include "systems/forth/lib/storage_link.h"

static struct forth_storage_queue *queue_of(struct forth_storage *x,
					    const struct forth_storage_peer *p)
{
	return &x->queue[p->node % x->queues];
}

/* ---- departures ---- */

static bool queue_refresh(struct forth_storage *x, uint32_t i)
{
	struct forth_storage_queue *q = &x->queue[i];
	uint64_t departed;

	if (q->departed == q->made)
		return true;
	/* several peers share a queue, and `ends` names the peer of each put */
	departed = weft_forth_departed(x->f, i);
	for (; q->departed < departed; q->departed++) {
		uint8_t *end = &q->ends[q->departed % x->depth];

		if (*end)
			x->peer[*end - 1].departed++;
		*end = 0;
	}
	return q->departed == q->made;
}

bool forth_storage_refresh(struct forth_storage *x)
{
	bool all = true;

	for (uint32_t i = 0; i < x->queues; i++)
		all &= queue_refresh(x, i);
	return all;
}

static uint32_t room(struct forth_storage *x,
		     const struct forth_storage_peer *p)
{
	struct forth_storage_queue *q = queue_of(x, p);

	queue_refresh(x, p->node % x->queues);
	return x->depth - (uint32_t)(q->made - q->departed);
}

/* ---- release ---- */

/* Gives the pending descriptors of a queue to the NIC. The queue has room,
 * because puts and records check for room before they make descriptors. */
static void release(struct forth_storage *x, struct forth_storage_queue *q,
		    bool notify)
{
	if (!q->n_pending)
		return;
	for (uint32_t i = 0; i + 1 < q->n_pending; i++)
		q->pending[i].flags |= WEFT_FORTH_HOLD;
	if (notify)
		q->pending[q->n_pending - 1].flags |= WEFT_FORTH_LNOTIFY;
	weft_forth_post(x->f, q->pending, q->n_pending);
	q->n_pending = 0;
}

void forth_storage_release(struct forth_storage *x)
{
	for (uint32_t i = 0; i < x->queues; i++)
		release(x, &x->queue[i], true);
}

/* Makes descriptors that copy [from, from + len) to address `to` of a peer, and
 * releases each full cluster. The last descriptor gets the flags `last`, all
 * other descriptors get the flags `each`. */
static void transfer(struct forth_storage *x, struct forth_storage_peer *p,
		     weft_phys_t from, uint64_t to, size_t len, uint32_t each,
		     uint32_t last)
{
	struct forth_storage_queue *q = queue_of(x, p);
	uint32_t cluster = x->cluster ? x->cluster : x->depth / 2;

	while (len) {
		uint32_t k = len < x->part ? (uint32_t)len : x->part;

		q->pending[q->n_pending++] = (struct weft_forth_desc){
			.local = from,
			.remote = (uint32_t)to,
			.qwords = (uint16_t)(k / 8),
			.dst = (uint8_t)p->node,
			.flags = (uint8_t)(k == len ? last : each),
		};
		q->made++;
		from += k;
		to += k;
		len -= k;
		if (q->n_pending >= cluster)
			release(x, q, !len);
	}
}

static uint32_t parts(const struct forth_storage *x, size_t len)
{
	return (uint32_t)((len + x->part - 1) / x->part);
}

/* Returns the flags of a transfer whose arrival the NIC must report to the
 * peer. */
static uint32_t arrival(const struct forth_storage_peer *p)
{
	/* request the notification word for a sleeping peer, too, because the
	 * peer counts records by the word alone */
	return WEFT_FORTH_RNOTIFY | (p->irq ? WEFT_FORTH_RIRQ : 0);
}

/* ---- puts ---- */

/* Returns whether [addr, addr + len) lies in the peer's region and the NIC can
 * write it. The key is base and length, as reg() made it. */
static bool can_write(uint64_t addr, uint64_t key, size_t len)
{
	uint64_t base = key >> 32, room_ = key & UINT32_MAX;

	return addr % 8 == 0 && addr >= base && len <= room_ &&
	       addr - base <= room_ - len && addr + len - 1 <= UINT32_MAX;
}

int forth_storage_put(struct storage_link *l, uint32_t node, const void *p,
		      size_t len, uint64_t addr, uint64_t key, uint32_t mark)
{
	struct forth_storage *x = forth_storage_of(l);
	struct forth_storage_peer *to = forth_storage_peer(x, node);
	struct forth_storage_queue *q;
	weft_phys_t from;
	uint32_t each;

	if (!to)
		return 0;
	q = queue_of(x, to);
	if (room(x, to) < parts(x, len)) {
		release(x, q, true);
		return -EAGAIN;
	}
	/* Drop a put outside the peer's region, like data that the network
	 * loses. Do not count the put as started, because it has no transfer
	 * that could depart in the order of the other puts. */
	if (!len || len % 8 || !can_write(addr, key, len) ||
	    !weft_mem_phys(l->host, p, &from) || from % 8)
		return 0;
	each = x->notify == FORTH_STORAGE_REQUEST ? 0 : arrival(to);
	transfer(x, to, from, addr, len, each, each);
	q->ends[(q->made - 1) % x->depth] = (uint8_t)(to - x->peer + 1);
	to->started++;
	return 0;
}

/* ---- records ---- */

int forth_storage_record(struct storage_link *l, uint32_t node, uint32_t slot,
			 const struct storage_record *rec)
{
	struct forth_storage *x = forth_storage_of(l);
	struct forth_storage_peer *to = forth_storage_peer(x, node);
	size_t len = (storage_record_bytes(rec) + 7) & ~(size_t)7;
	struct forth_storage_queue *q;
	uint32_t each, i;

	if (!to || slot >= STORAGE_SLOTS)
		return 0;
	/* drop the record if the peer has no table yet, because the protocol
	 * allows lost records */
	if (!to->table && !forth_storage_meet(x, to))
		return 0;
	q = queue_of(x, to);
	i = to->record_next % FORTH_STORAGE_RECORDS;
	if (room(x, to) < parts(x, len) || q->departed < to->record_end[i]) {
		release(x, q, true);
		return -EAGAIN;
	}
	weft_host_copy(l->host, to->out + (size_t)i * STORAGE_SLOT_BYTES, rec,
		       len);
	each = x->notify == FORTH_STORAGE_PACKET ? arrival(to) : 0;
	transfer(x, to, to->out_phys + (weft_phys_t)i * STORAGE_SLOT_BYTES,
		 to->table + (uint64_t)slot * STORAGE_SLOT_BYTES, len, each,
		 arrival(to));
	to->record_end[i] = q->made;
	to->record_next++;
	release(x, q, true);
	return 0;
}
