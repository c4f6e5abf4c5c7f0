/* SPDX-License-Identifier: Apache-2.0 */
/* Observers: notifications that the order of sending allows (forth.md 7.4). The
 * observers see which packets were really sent and really arrived. This file
 * compares the packet numbers and announced paths in headers with the true
 * ones, and uses them for nothing else. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "systems/forth/link/wire.h"
#include "watch.h"

void watch_grow(void **at, uint32_t *head, uint32_t *cap, size_t size)
{
	uint32_t old = *cap, n = old ? 2 * old : 16;
	char *p = malloc(n * size);

	assert(p);
	for (uint32_t i = 0; i < old; i++)
		memcpy(p + i * size,
		       (char *)*at + ((*head + i) & (old - 1)) * size, size);
	free(*at);
	*at = p;
	*head = 0;
	*cap = n;
}

struct watch_pkt *watch_pkt(struct watch_stream *s, uint64_t number)
{
	return &s->ring[number & s->mask];
}

static void stream_grow(struct watch_stream *s)
{
	uint64_t cap = s->ring ? 2 * (s->mask + 1) : 64;
	struct watch_pkt *p = calloc(cap, sizeof(*p));

	assert(p);
	for (uint64_t i = s->front; i < s->end; i++)
		p[i & (cap - 1)] = *watch_pkt(s, i);
	free(s->ring);
	s->ring = p;
	s->mask = cap - 1;
}

/* ---- the sender (7.2, 7.3) ---- */

static void check_fields(struct watch *w, struct watch_stream *s, uint32_t src,
			 uint32_t path, uint64_t hdr)
{
	uint64_t n = s->end - s->front;

	if ((hdr >> 49 & 7) != src)
		watch_fail(w, "source %u says it is %u", src,
			   (uint32_t)(hdr >> 49 & 7));
	if ((hdr >> 46 & 7) != (s->count[path] & 7))
		watch_fail(w, "packet %u on path %u has number %u",
			   s->count[path], path, (uint32_t)(hdr >> 46 & 7));
	if (n >= 1 && (watch_pkt(s, s->end - 1)->hdr >> 44 & 3) != path)
		watch_fail(w, "path %u was not told ahead", path);
	if (n >= 2 && (watch_pkt(s, s->end - 2)->hdr >> 42 & 3) != path)
		watch_fail(w, "path %u was not told two ahead", path);
}

void watch_sent(struct watch *w, uint32_t src, uint32_t path, uint64_t hdr)
{
	struct watch_stream *s = &w->stream[src];

	if (!w->groups)
		check_fields(w, s, src, path, hdr);
	if (!s->ring || s->end - s->front > s->mask)
		stream_grow(s);
	*watch_pkt(s, s->end++) = (struct watch_pkt){ .hdr = hdr,
						      .past = WATCH_NEVER,
						      .path = (uint8_t)path };
	s->count[path]++;
	weft_count(w->comp, WATCH_C_PACKETS, 1);
}

/* ---- arrival ---- */

/* Records the arrival of a packet. Earlier packets of its path that have not
 * arrived are lost, because a path keeps the order. */
void watch_heard(struct watch *w, uint32_t path, uint64_t hdr, uint64_t pc)
{
	uint32_t src = hdr >> 49 & 7;
	struct watch_stream *s = &w->stream[src];
	uint64_t i = s->at[path] > s->front ? s->at[path] : s->front;

	for (; i < s->end; i++) {
		struct watch_pkt *p = watch_pkt(s, i);

		if (p->path != path)
			continue;
		if (p->hdr == hdr) {
			p->came = true;
			s->at[path] = i + 1;
			/* an announcing packet is not written */
			if (watch_announces(w, hdr)) {
				p->past = pc;
				return;
			}
			WATCH_PUSH(&w->fifo[path],
				   ((struct watch_wait){ i, (uint8_t)src }));
			return;
		}
		p->lost = true;
		p->past = pc;
		weft_count(w->comp, WATCH_C_LOST, 1);
	}
	watch_fail(w, "a packet came on path %u that source %u never sent",
		   path, src);
}

/* ---- allowed notifications ---- */

static void stream_advance(struct watch *w, uint32_t src, uint64_t pc)
{
	struct watch_stream *s = &w->stream[src];

	for (; s->front < s->end; s->front++) {
		const struct watch_pkt *p = watch_pkt(s, s->front);

		if (p->past > pc)
			return;
		s->past = p->past > s->past ? p->past : s->past;
		if (p->lost) {
			s->loss = true;
			weft_count(w->comp, WATCH_C_FOUND, 1);
		} else if (p->hdr & FORTH_HDR_REMOTE_NOTIFY) {
			WATCH_PUSH(&w->due[src],
				   ((struct watch_due){ s->past, s->loss,
							(uint8_t)src }));
			s->loss = false;
		}
	}
}

void watch_advance(struct watch *w, uint64_t pc)
{
	for (uint32_t i = 0; i < WATCH_NODES && !w->groups; i++)
		stream_advance(w, i, pc);
}
