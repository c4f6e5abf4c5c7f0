/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of bytes between devices and another process, with few calls of the
 * kernel. Reads fetch ahead and writes are collected until a program may see
 * them. Each direction has several streams, because a node may serve several
 * processes with a stream in each direction.
 *
 * Data that were read ahead become invalid when the process runs (its epoch
 * changes), or when a write covers them. No two collected writes overlap,
 * therefore their order does not matter. */
#include <string.h>

#include "host/process_memory_internal.h"

enum {
	STREAMS = 4,   /* streams in each direction */
	AHEAD = 16384, /* bytes of a buffer; a stream begins at a page */
};

struct buf {
	struct weft_far_owner *owner;
	uint64_t epoch, va, n; /* n is 0 if the buffer is empty */
	/* address at which the stream continues, number of bytes to read
	 * ahead */
	uint64_t next, more;
	uint64_t used;
	uint8_t data[AHEAD];
};

struct mem_far_bufs {
	struct buf in[STREAMS], out[STREAMS];
	uint64_t uses;
};

static struct mem_far_bufs *bufs_of(struct mem *m)
{
	if (!m->far_bufs)
		m->far_bufs = calloc(1, sizeof(*m->far_bufs));
	if (!m->far_bufs)
		abort();
	return m->far_bufs;
}

static bool memory_buffers_overlaps(const struct buf *b,
				    const struct weft_far_owner *o, uint64_t va,
				    size_t n)
{
	return b->n && b->owner == o && b->va < va + n && va < b->va + b->n;
}

/* Returns the least recently used buffer. */
static struct buf *memory_buffers_oldest(struct buf b[STREAMS])
{
	struct buf *old = b;

	for (uint32_t i = 1; i < STREAMS; i++)
		if (b[i].used < old->used)
			old = &b[i];
	return old;
}

/* ---- reads ---- */

static struct buf *in_fill(struct mem_far_bufs *bufs, const struct mem_far *f,
			   uint64_t va, size_t n)
{
	struct buf *b = NULL;
	uint64_t to, all;

	/* Uses the buffer of the stream that continues at this address, or the
	 * oldest one. */
	for (uint32_t i = 0; i < STREAMS && !b; i++) {
		struct buf *in = &bufs->in[i];

		if (in->owner != f->owner || va > in->next ||
		    va + n <= in->next)
			continue;
		if (in->more < AHEAD / 2)
			in->more = in->more * 2 + MEM_PAGE;
		b = in;
	}
	if (!b) {
		b = memory_buffers_oldest(bufs->in);
		b->more = 0;
	}
	/* Reads whole pages up to the end of the shadow. The number of bytes to
	 * read ahead grows with each read that continues the stream. */
	to = (va + n + b->more + MEM_PAGE - 1) / MEM_PAGE * MEM_PAGE;
	if (to > f->va + f->len)
		to = f->va + f->len;
	all = to - va < AHEAD ? to - va : AHEAD;
	b->n = 0;
	if (all < n || mem_far_access(f->owner, va, b->data, all, false) < all)
		return NULL;
	b->owner = f->owner;
	b->epoch = f->owner->epoch;
	b->va = va;
	b->n = all;
	b->next = va + all;
	return b;
}

bool mem_far_ahead(struct mem *m, const struct mem_far *f, uint64_t va,
		   void *dst, size_t n)
{
	struct mem_far_bufs *bufs = bufs_of(m);
	struct buf *b = NULL;

	for (uint32_t i = 0; i < STREAMS && !b; i++) {
		struct buf *in = &bufs->in[i];

		if (memory_buffers_overlaps(in, f->owner, va, n) &&
		    in->epoch == f->owner->epoch && va >= in->va &&
		    va + n <= in->va + in->n)
			b = in;
	}
	if (!b)
		b = in_fill(bufs, f, va, n);
	if (!b)
		return false;
	b->used = ++bufs->uses;
	memcpy(dst, b->data + (va - b->va), n);
	return true;
}

void mem_far_stale(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n)
{
	for (uint32_t i = 0; m->far_bufs && i < STREAMS; i++)
		if (memory_buffers_overlaps(&m->far_bufs->in[i], o, va, n))
			m->far_bufs->in[i].n = 0;
}

void mem_far_forget(struct mem *m, const struct weft_far_owner *o)
{
	for (uint32_t i = 0; m->far_bufs && i < STREAMS; i++)
		if (m->far_bufs->in[i].owner == o)
			m->far_bufs->in[i].n = m->far_bufs->in[i].next = 0;
}

/* ---- writes ---- */

static void out_flush(struct mem *m, struct buf *b)
{
	uint64_t n = b->n;

	b->n = 0;
	if (n)
		mem_far_put(m, b->owner, b->va, b->data, n);
}

void mem_far_flush(struct mem *m)
{
	m->far_dirty = m->far_due = false;
	for (uint32_t i = 0; i < STREAMS; i++)
		out_flush(m, &m->far_bufs->out[i]);
}

void mem_far_clean(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n)
{
	for (uint32_t i = 0; m->far_dirty && i < STREAMS; i++)
		if (memory_buffers_overlaps(&m->far_bufs->out[i], o, va, n))
			out_flush(m, &m->far_bufs->out[i]);
}

void mem_far_later(struct mem *m, const struct mem_far *f, uint64_t va,
		   const void *src, size_t n)
{
	struct mem_far_bufs *bufs = bufs_of(m);
	struct buf *b = NULL;

	mem_far_clean(m, f->owner, va, n);
	/* Uses the buffer whose bytes end at va. If it has no room, flushes it
	 * first. Without such a buffer, flushes and uses the oldest one. */
	for (uint32_t i = 0; i < STREAMS && !b; i++) {
		struct buf *out = &bufs->out[i];

		if (out->n && out->owner == f->owner && out->va + out->n == va)
			b = out;
	}
	if (!b || b->n + n > AHEAD) {
		b = b ? b : memory_buffers_oldest(bufs->out);
		out_flush(m, b);
	}
	if (!b->n) {
		b->owner = f->owner;
		b->va = va;
	}
	memcpy(b->data + b->n, src, n);
	b->n += n;
	b->used = ++bufs->uses;
	m->far_dirty = true;
	m->far_due |= !f->owner->settles;
}

void mem_far_fini(struct mem *m)
{
	free(m->far_bufs);
	m->far_bufs = NULL;
	vec_free(&m->far);
}
