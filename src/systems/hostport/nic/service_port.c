/* SPDX-License-Identifier: Apache-2.0 */
/* Service port of a node (hostport.md 3.1, 3.2): multicast port and high
 * availability port.
 *
 * Multicast: a packet that contains branches (wire.h) is sent once along each
 * branch, so that its copies form a tree. The packet is received completely
 * first, and its cells stay in the network until the copies have been made.
 *
 * High availability: the port receives packets that no crossbar could route
 * (6.3, code 14). The origin is notified if the return route is known.
 *
 * Not modelled: commands of the group multicast. */
#include <string.h>

#include "systems/hostport/nic/functional_units.h"

/* Sends a copy along the k elements el. Returns false when the elements are not
 * a route. */
static bool copy(struct hp_nic *n, const struct hp_rx *rx, const uint8_t *el,
		 uint32_t k)
{
	const uint8_t *data = weft_slice_data(rx->f->payload);
	struct hp_route r = { .dtag = HP_C3_DTAG(rx->head.c[3]),
			      .dhash = (uint16_t)rx->head.vpid,
			      .nf = (uint8_t)k };
	struct weft_frame *f;
	uint32_t skip;

	memcpy(r.fwd, el, k);
	r.nr = rx->head.back.nf;
	memcpy(r.back, rx->head.back.fwd, r.nr);
	f = hp_pkt_new(n->comp->sim, &r, &rx->head, rx->cls);
	if (!f)
		return false;
	skip = hp_pkt_skip(f, &rx->head);
	memcpy(weft_slice_data(f->payload) + skip, data + rx->head.skip,
	       rx->head.bytes);
	hp_net_send_on(n, HP_NP_SERVICE, f, skip, hp_now(n) + n->param.t_frame,
		       UINT32_MAX, NULL, NULL);
	hp_count(n, HP_K_COPIES, 1);
	return true;
}

static void replicate(struct hp_nic *n, struct hp_rx *rx)
{
	const struct hp_head *h = &rx->head;
	bool good = true;

	if (!rx->whole)
		return;
	for (uint32_t i = 0, k; good && i < h->n_tree; i += 1 + k) {
		k = h->tree[i];
		good = k && i + 1 + k <= h->n_tree &&
		       copy(n, rx, h->tree + i + 1, k);
	}
	if (!good)
		hp_count(n, HP_K_BAD_PACKETS, 1);
	hp_rx_end(n, rx);
}

void hp_service(struct hp_nic *n, struct hp_rx *rx)
{
	uint32_t byte = HP_CMD_BYTE(HP_C0_CMD(rx->head.c[0]));

	if (rx->head.n_tree) {
		rx->more = replicate;
		replicate(n, rx);
		return;
	}
	/* high availability */
	if (hp_is_reply(byte))
		hp_err_log(n, HP_CMD(HP_ERR_ROUTE_BROKEN, HP_G_PORT, byte),
			   rx->head.vpid);
	else
		hp_ack(n, &rx->head, HP_ERR_ROUTE_BROKEN, rx->f->trace_id);
	hp_rx_end(n, rx);
}
