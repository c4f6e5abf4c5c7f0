/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of virtual channels for classes of packets (routing_ranges.h).
 *
 * Packets on the VCs of a range may wait for each other. The search for circles
 * (routing_cycle.c) collects the waits of all ranges in one graph. In a pair of
 * ranges, requests wait for room for replies. The replies of a pair must
 * therefore never wait for VCs of its requests, neither directly nor through
 * packets of other ranges. */
#include "net/routing_ranges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int net_range_read(const char *text, uint32_t vcs, struct net_range *r,
		   struct weft_err *err)
{
	char *end;
	unsigned long first = strtoul(text, &end, 10), last = first;
	bool good = end != text;

	if (good && *end == '-') {
		const char *at = end + 1;

		last = strtoul(at, &end, 10);
		good = end != at;
	}
	if (!good || *end || *text == '-' || first > last || last >= vcs)
		return weft_fail(
			err, EINVAL,
			"'%s' does not name VCs: write FIRST-LAST within 0-%u",
			text, vcs - 1);
	*r = (struct net_range){ (uint8_t)first, (uint8_t)(last - first + 1) };
	return 0;
}

uint32_t net_ranges_add(struct net_ranges *s, struct net_range r)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i].first == r.first && s->at[i].n == r.n)
			return i;
	if (s->n == NET_RANGES_MAX)
		return NET_RANGES_MAX;
	s->at[s->n] = r;
	return s->n++;
}

void net_ranges_pair(struct net_ranges *s, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < s->n_pairs; i++)
		if (s->before[i] == a && s->after[i] == b)
			return;
	if (s->n_pairs == NET_RANGES_MAX)
		return;
	s->before[s->n_pairs] = (uint8_t)a;
	s->after[s->n_pairs++] = (uint8_t)b;
}

static uint32_t range_set(struct net_range r)
{
	return (uint32_t)(((1ull << r.n) - 1) << r.first);
}

/* Returns the VCs for which packets on the VCs of `set` may wait, directly or
 * through other packets: `set`, all VCs of a range that shares a VC with `set`,
 * and the VCs of replies to requests on `set`. */
static uint32_t waits_of(const struct net_ranges *s, uint32_t set)
{
	uint32_t was;

	do {
		was = set;
		for (uint32_t i = 0; i < s->n; i++)
			if (range_set(s->at[i]) & set)
				set |= range_set(s->at[i]);
		for (uint32_t i = 0; i < s->n_pairs; i++)
			if (range_set(s->at[s->before[i]]) & set)
				set |= range_set(s->at[s->after[i]]);
	} while (set != was);
	return set;
}

int net_ranges_check(const struct net_ranges *s, const struct net_routing *r,
		     const struct net_graph *g, uint32_t vcs,
		     struct weft_err *err)
{
	const char *why = "";
	uint32_t least = r->vcs(g, &why);
	char text[300];

	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i].n < least)
			return weft_fail(
				err, EINVAL,
				"routing %s needs %u VCs (%s), VCs %u-%u are %u: give each class %u or more, with a larger switch.vcs if they do not suffice",
				r->name, least, why, s->at[i].first,
				s->at[i].first + s->at[i].n - 1, s->at[i].n,
				least);
	for (uint32_t i = 0; i < s->n_pairs; i++) {
		struct net_range q = s->at[s->before[i]],
				 a = s->at[s->after[i]];

		if (waits_of(s, range_set(a)) & range_set(q))
			return weft_fail(
				err, EINVAL,
				"requests on VCs %u-%u and their replies on VCs %u-%u may deadlock: replies wait for VCs of requests, which wait for room for replies; give replies VCs that no request uses (vcs, reply_vcs)",
				q.first, q.first + q.n - 1, a.first,
				a.first + a.n - 1);
	}
	if (net_routing_circle(r, g, vcs, s->at, s->n, text, sizeof(text)))
		return weft_fail(
			err, EINVAL,
			"routing %s may deadlock with these VCs of classes: %s; give classes equal or separate VCs",
			r->name, text);
	return 0;
}
