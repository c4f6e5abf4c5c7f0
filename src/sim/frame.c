/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of frames and payload buffers: no allocation per packet after warm-up,
 * and a count of buffers in use for the conservation check. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/need.h"
#include "sim/sim_internal.h"

enum { SLAB_FRAMES = 64 };

static void *slab_new(struct weft_sim *sim, size_t bytes)
{
	void *p = need(aligned_alloc(64, (bytes + 63) / 64 * 64));

	vec_push(&sim->slabs, p);
	return p;
}

struct weft_frame *weft_frame_new(struct weft_sim *sim)
{
	struct weft_frame *f;

	if (!sim->free_frames) {
		f = slab_new(sim, SLAB_FRAMES * sizeof(*f));
		for (uint32_t i = 0; i < SLAB_FRAMES; i++) {
			f[i].next = sim->free_frames;
			sim->free_frames = &f[i];
		}
	}
	f = sim->free_frames;
	sim->free_frames = f->next;
	memset(f, 0, sizeof(*f));
	f->sim = sim;
	sim->live_frames++;
	return f;
}

void weft_frame_free(struct weft_frame *f)
{
	struct weft_sim *sim = f->sim;

	weft_slice_drop(&f->payload);
	free(f->raw);
	f->raw = NULL;
	f->next = sim->free_frames;
	sim->free_frames = f;
	assert(sim->live_frames > 0);
	sim->live_frames--;
}

struct weft_frame *weft_frame_dup(const struct weft_frame *f)
{
	struct weft_frame *d = weft_frame_new(f->sim);

	*d = *f;
	d->next = NULL;
	d->payload = weft_slice_ref(f->payload);
	if (f->raw) {
		d->raw = weft_raw_new(f->sim, f->raw->n);
		memcpy(d->raw->sym, f->raw->sym,
		       f->raw->n * sizeof(*f->raw->sym));
	}
	return d;
}

struct weft_raw *weft_raw_new(struct weft_sim *sim, uint32_t n)
{
	struct weft_raw *r = malloc(sizeof(*r) + n * sizeof(*r->sym));

	assert(r);
	r->n = n;
	return r;
}

struct weft_slice weft_slice_word(struct weft_sim *sim, uint32_t len)
{
	struct weft_slice s = { NULL, 0, len };
	uint32_t l = len > 1 ? 32 - (uint32_t)__builtin_clz(len - 1) : 0;
	struct weft_buf *b;

	if (!len)
		return s;
	l = max_of(l, BUF_LOG2_MIN);
	assert(l <= BUF_LOG2_MAX);
	b = sim->free_bufs[l];
	if (b)
		sim->free_bufs[l] = b->next_free;
	else
		b = slab_new(sim, sizeof(*b) + ((size_t)1 << l));
	b->refs = 1;
	b->cap_log2 = l;
	b->sim = sim;
	sim->live_bufs++;
	s.buf = b;
	return s;
}

struct weft_slice weft_slice_new(struct weft_sim *sim, uint32_t len)
{
	if (!sim->carried)
		return (struct weft_slice){ .len = len };
	return weft_slice_word(sim, len);
}

struct weft_slice weft_slice_ref(struct weft_slice s)
{
	if (s.buf)
		s.buf->refs++;
	return s;
}

struct weft_slice weft_slice_sub(struct weft_slice s, uint32_t off,
				 uint32_t len)
{
	assert((uint64_t)off + len <= s.len);
	s = weft_slice_ref(s);
	s.off += off;
	s.len = len;
	return s;
}

void weft_slice_drop(struct weft_slice *s)
{
	struct weft_buf *b = s->buf;

	s->buf = NULL;
	s->len = 0;
	if (!b || --b->refs)
		return;
	b->next_free = b->sim->free_bufs[b->cap_log2];
	b->sim->free_bufs[b->cap_log2] = b;
	assert(b->sim->live_bufs > 0);
	b->sim->live_bufs--;
}
