/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: dividing requests of the user into parts.
 *
 * READ and WRITE are divided at stripes, at the targets' largest request, and
 * where a part would have more than eight pieces of memory. TRIM and ZERO have
 * one part for each target, because they carry no data, and their bytes on a
 * target are contiguous. FLUSH has a part for each target.
 *
 * If a target has no free tag or staging for a request, later requests to that
 * target wait, too. Requests to other targets do not wait. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

static const uint8_t codes[] = {
	[WEFT_DISK_READ] = STORAGE_READ,   [WEFT_DISK_WRITE] = STORAGE_WRITE,
	[WEFT_DISK_FLUSH] = STORAGE_FLUSH, [WEFT_DISK_TRIM] = STORAGE_TRIM,
	[WEFT_DISK_ZERO] = STORAGE_ZERO,
};

/* A range of bytes on one target. */
struct extent {
	struct store *store;
	uint64_t offset, length;
};

/* ---- striping ---- */

/* Returns target and offset of byte `at`, and the number of bytes up to the
 * stripe's end. */
static struct extent extent_at(struct weft_disk *d, uint64_t at)
{
	uint64_t stripe = d->attr.stripe, n = d->info.targets;
	uint64_t k = at / stripe, in = at % stripe;

	if (n == 1)
		return (struct extent){ d->store, at, d->info.size - at };
	return (struct extent){ &d->store[k % n], k / n * stripe + in,
				stripe - in };
}

/* Returns how many of the bytes before `at` are on target i. */
static uint64_t bytes_before(const struct weft_disk *d, uint32_t i, uint64_t at)
{
	uint64_t stripe = d->attr.stripe, row = stripe * d->info.targets;
	uint64_t in = at % row, from = i * stripe;
	uint64_t more = in > from ? min_of(in - from, stripe) : 0;

	return at / row * stripe + more;
}

/* ---- pieces ---- */

static bool aligned(const struct weft_disk *d, const uint8_t *p, size_t n)
{
	return d->link->info.bytes || ((uintptr_t)p % 8 == 0 && n % 8 == 0);
}

static uint32_t piece_add(struct part *p, struct region *g, uint8_t *b,
			  size_t n)
{
	p->piece[p->pieces++] = (struct piece){
		.p = b,
		.len = (uint32_t)n,
		.addr = g->mr.addr + (uint64_t)(b - g->p),
		.key = g->mr.key,
		.region = g,
	};
	return (uint32_t)n;
}

/* Fills p->piece with up to eight ranges of registered memory, from the
 * request's cursor on. Returns the number of bytes in these ranges, a multiple
 * of the sector size. Returns 0 if the data must be copied. */
static uint64_t pieces_find(struct weft_disk *d, struct request *r,
			    struct part *p, uint64_t max)
{
	struct cursor c = r->cursor;
	uint64_t n = 0, more;

	p->pieces = 0;
	while (n < max && p->pieces < STORAGE_SEGS) {
		const struct weft_disk_seg *s = &r->op.seg[c.seg];
		size_t k = min_of(max - n, (uint64_t)(s->len - c.at));
		uint8_t *b = (uint8_t *)s->p + c.at;
		struct region *g = k ? disk_region(d, b, k) : NULL;

		if (k && (!g || !aligned(d, b, k)))
			break;
		if (k)
			n += piece_add(p, g, b, k);
		c = c.at + k < s->len ? (struct cursor){ c.seg, c.at + k }
				      : (struct cursor){ c.seg + 1, 0 };
	}
	/* Cuts off the end that is not a whole sector. */
	for (more = n % d->info.sector; more;) {
		struct piece *last = &p->piece[p->pieces - 1];
		uint64_t k = min_of(more, (uint64_t)last->len);

		last->len -= (uint32_t)k;
		p->pieces -= !last->len;
		more -= k;
	}
	return n / d->info.sector * d->info.sector;
}

/* Gives a part pages of bounce memory. Returns false if too few pages are
 * free. */
static bool bounce_get(struct weft_disk *d, struct part *p, uint64_t n)
{
	uint64_t at;

	if (d->bounce_blocked || !pages_get(&d->bounce_pages, n, &p->bounce)) {
		d->bounce_blocked = true;
		return false;
	}
	at = (uint64_t)p->bounce.first * STORAGE_PAGE;
	p->pieces = 1;
	p->piece[0] = (struct piece){ .p = d->bounce + at,
				      .len = (uint32_t)n,
				      .addr = d->bounce_mr.addr + at,
				      .key = d->bounce_mr.key };
	return true;
}

/* Finds memory for the next bytes of a READ or WRITE. Returns the number of
 * these bytes, or 0 if no memory is free. */
static uint64_t memory_get(struct weft_disk *d, struct store *s,
			   struct request *r, struct part *p, uint64_t max)
{
	uint64_t n = pieces_find(d, r, p, max);

	if (!n) {
		if (!bounce_get(d, p, max))
			return 0;
		n = max;
	}
	if (r->op.code == WEFT_DISK_WRITE &&
	    !pages_get(&s->pages, n, &p->stage)) {
		if (p->bounce.n)
			pages_put(&d->bounce_pages, &p->bounce);
		s->blocked = true;
		return 0;
	}
	return n;
}

/* ---- parts ---- */

/* Returns an error if no part for the store can start any more: the target has
 * gone, or it does not answer and all tags are in use. In the second case a
 * request without a tag has no deadline, and would never end. */
static int hopeless(const struct weft_disk *d, const struct store *s)
{
	if (s->state == STORE_GONE)
		return -ENODEV;
	return disk_silent(d, s) && !s->free_n ? -ETIMEDOUT : 0;
}

static void part_start(struct weft_disk *d, struct store *s, struct request *r,
		       struct part *p)
{
	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_part));
	d->stats.requests++;
	p->code = codes[r->op.code];
	p->flags = r->op.flags & WEFT_DISK_FUA ? STORAGE_FUA : 0;
	for (uint32_t i = 0; i < p->pieces; i++)
		if (p->piece[i].region)
			p->piece[i].region->users++;
	if (d->attr.check && p->pieces)
		p->flags |= STORAGE_CHECK;
	if (p->code == STORAGE_WRITE) {
		p->data_due = true;
		if (p->bounce.n)
			disk_copy(d, r, p->cursor, p->piece[0].p, p->length,
				  true);
		if (p->flags & STORAGE_CHECK)
			p->crc = disk_part_crc(d, p);
		d->stats.write_bytes += p->length;
	} else if (p->code == STORAGE_READ) {
		d->stats.read_bytes += p->length;
	} else if (p->code == STORAGE_FLUSH) {
		p->covers = s->ended;
	}
	disk_part_queue(s, p);
}

/* Two functions that make the next part of a request. Both return false if no
 * tag or memory is free. */

static bool divide_data(struct weft_disk *d, struct request *r)
{
	struct extent e = extent_at(d, r->op.offset + r->divided);
	uint64_t n = min_of(e.length, r->op.length - r->divided);
	int why = hopeless(d, e.store);
	struct part *p;

	n = min_of(n, (uint64_t)d->info.max_request);
	if (why) {
		r->status = r->status ? r->status : why;
	} else {
		if (e.store->blocked || !e.store->free_n) {
			e.store->blocked = true;
			return false;
		}
		p = disk_part_new(d, e.store, r);
		p->cursor = r->cursor;
		p->offset = e.offset;
		n = p->length = memory_get(d, e.store, r, p, n);
		if (!n) {
			r->parts--;
			p->pieces = 0; /* the regions have not counted these
					* pieces */
			disk_part_free(d, e.store, p);
			d->room = false; /* freeing this part makes no room */
			return false;
		}
		part_start(d, e.store, r, p);
	}
	disk_skip(r, &r->cursor, n);
	r->divided += n;
	r->whole = r->divided == r->op.length;
	return true;
}

static bool divide_rest(struct weft_disk *d, struct request *r)
{
	uint32_t i = (uint32_t)r->divided;
	struct store *s = &d->store[i];
	uint64_t from = bytes_before(d, i, r->op.offset);
	uint64_t to = bytes_before(d, i, r->op.offset + r->op.length);
	bool flush = r->op.code == WEFT_DISK_FLUSH;

	if (hopeless(d, s) && (flush || from < to)) {
		r->status = r->status ? r->status : hopeless(d, s);
	} else if (flush || from < to) {
		struct part *p;

		if (s->blocked || !s->free_n) {
			s->blocked = true;
			return false;
		}
		p = disk_part_new(d, s, r);
		p->offset = flush ? 0 : from;
		p->length = flush ? 0 : to - from;
		part_start(d, s, r, p);
	}
	r->divided++;
	r->whole = r->divided == d->info.targets;
	return true;
}

static bool divide_one(struct weft_disk *d, struct request *r)
{
	bool data =
		r->op.code == WEFT_DISK_READ || r->op.code == WEFT_DISK_WRITE;

	while (!r->whole)
		if (!(data ? divide_data(d, r) : divide_rest(d, r)))
			return false;
	return true;
}

void disk_divide(struct weft_disk *d)
{
	struct request **at = &d->divide, *r;

	if (!d->room)
		return;
	d->room = d->bounce_blocked = false;
	for (uint32_t i = 0; i < d->info.targets; i++)
		d->store[i].blocked = false;
	while ((r = *at)) {
		if (!divide_one(d, r)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		disk_request_check(d, r);
	}
	d->divide_tail = at;
}
