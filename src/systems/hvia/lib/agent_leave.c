/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: connections that have ended on this node and that the remote
 * agent has not confirmed (hvia.md 6.3). Only a few disconnects are in flight
 * at a time, because the end of a process with a thousand VIs would otherwise
 * flood the remote agent. A disconnect without an answer is sent again. The
 * agent gives it up after HVIA_TRIES, because the remote station must be gone
 * then. */
#include <string.h>

#include "systems/hvia/lib/connection_packets.h"

void conn_leave(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	const struct hvia_kvi *k = &a->vi[vi];
	struct hvia_leaving l = { .pkt = { .type = HVIA_T_DISCONNECT,
					   .dst_vi = k->remote_vi,
					   .src_vi = vi,
					   .id = k->id,
					   .word = k->mine.next,
					   .error = k->mine.error } };

	memcpy(l.pkt.mac, k->remote.mac, 6);
	vec_push(&a->leaving, l);
	conn_leaving(a, h);
	hvia_notify(h, &a->timer);
}

/* Sends or gives up the first disconnect that is due. Returns false if no
 * disconnect is due. */
static bool leaving_send(struct hvia_agent *a, struct weft_host *h)
{
	weft_time_t now = weft_host_now(h);

	for (size_t i = 0; i < a->leaving.n && i < HVIA_LEAVING; i++) {
		struct hvia_leaving *l = &a->leaving.at[i];
		struct hvia_pkt p = l->pkt;

		if (l->tries && now < l->again)
			continue;
		if (l->tries == HVIA_TRIES) {
			vec_remove(&a->leaving, i);
			return true;
		}
		l->again = now + conn_again(h, p.id, l->tries++);
		agent_send(a, h, &p);
		return true;
	}
	return false;
}

weft_time_t conn_leaving(struct hvia_agent *a, struct weft_host *h)
{
	weft_time_t first = WEFT_NEVER;

	while (leaving_send(a, h))
		;
	for (size_t i = 0; i < a->leaving.n && i < HVIA_LEAVING; i++)
		if (a->leaving.at[i].again < first)
			first = a->leaving.at[i].again;
	return first;
}

void conn_left(struct hvia_agent *a, struct weft_host *h,
	       const struct hvia_pkt *p)
{
	for (size_t i = 0; i < a->leaving.n; i++) {
		const struct hvia_pkt *l = &a->leaving.at[i].pkt;

		if (l->id != p->id || memcmp(l->mac, p->mac, 6))
			continue;
		vec_remove(&a->leaving, i);
		conn_leaving(a, h);
		return;
	}
}
