/* SPDX-License-Identifier: Apache-2.0 */
/* Observers: groups that are counted (forth.md 7.7). A group consists of the
 * packets that its source sent under one number, up to the packet that
 * announces the total. It must be notified once, when all its packets are in
 * memory. The exact time is not checked, because the engine accepts an
 * announcing packet without an access of the bus. */
#include "watch.h"

void watch_group(struct watch *w, uint32_t src, uint32_t group, uint64_t pc)
{
	struct watch_stream *s = &w->stream[src];
	bool found = false;

	for (uint64_t i = s->front; i < s->end && !found; i++) {
		struct watch_pkt *p = watch_pkt(s, i);

		if (p->told || (p->hdr >> 42 & 63) != group)
			continue;
		found = watch_announces(w, p->hdr);
		p->told = true;
		if (p->past > pc)
			watch_fail(w,
				   "source %u, group %u: notified before "
				   "its data",
				   src, group);
	}
	if (!found)
		watch_fail(w, "source %u, group %u: not announced", src, group);
	while (s->front < s->end && watch_pkt(s, s->front)->told)
		s->front++;
}

uint64_t watch_group_left(const struct watch *w)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < WATCH_NODES; k++) {
		const struct watch_stream *s = &w->stream[k];

		for (uint64_t i = s->front; i < s->end; i++)
			n += !s->ring[i & s->mask].told;
	}
	return n;
}
