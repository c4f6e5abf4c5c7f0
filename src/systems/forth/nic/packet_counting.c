/* SPDX-License-Identifier: Apache-2.0 */
/* The counting alternative to resequencing (forth.md 7.7), experimental: the
 * receiver counts payload words per (source, group) and notifies when the
 * announced total has been written.
 *
 * In every header bits 51:49 are the source and bits 47:42 the group. Bit 48
 * marks the last packet of a group, the announcement. The total is the number
 * of payload qwords of all other packets of the group. The announcement holds
 * the total in its address field (our choice, because the spec has no field for
 * the total). The payload of the announcement is dropped. The announcement may
 * overtake the other packets. The sender copies group and bit 48 from the same
 * bits of the descriptor.
 *
 * After the notification the group is empty, and software reuses its number. If
 * a packet is lost, the group never notifies. If more words arrive than
 * announced, the loss flag (41) is set. */
#include <errno.h>

#include "systems/forth/nic/nic.h"

struct forth_group {
	uint32_t count, total;
	uint64_t hdr; /* header of the announcement, or 0 before it arrives */
	bool bad;
};

int forth_group_init(struct forth_nic *n, struct weft_err *err)
{
	if (!n->multi || n->p.completion != COMPLETION_COUNT)
		return 0;
	n->group = calloc(SOURCES * GROUPS, sizeof(*n->group));
	if (!n->group)
		return weft_fail(err, ENOMEM, "%s: no memory for groups",
				 n->comp->name);
	return 0;
}

void forth_group_written(struct forth_nic *n, const struct forth_rx *rx)
{
	uint32_t id = rx->hdr >> 42 & 63;
	struct forth_group *g;

	if (!n->group)
		return;
	g = &n->group[rx->src * GROUPS + id];
	if (forth_is_announce(n, rx->hdr)) {
		g->hdr = rx->hdr;
		g->total = forth_hdr_addr(rx->hdr);
	} else {
		g->count += rx->qwords;
	}
	g->bad |= rx->bad;
	if (!g->hdr || g->count < g->total)
		return;
	if (!g->bad || !n->p.suppress_bad_body_notify)
		forth_deliver(n, (struct forth_deliver){
					 .hdr = g->hdr,
					 .at = forth_pc(n),
					 .bad = g->bad,
					 .loss = g->count > g->total,
					 .src = rx->src,
					 .group = (uint8_t)id,
				 });
	*g = (struct forth_group){ 0 };
}
