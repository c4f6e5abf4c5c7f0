/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and addresses.
 *
 * An endpoint's own address contains its process: 127.(slot + 1).(node).(node),
 * port. The address 127.0.x.y, which users type, does not name a process. In
 * this case a question is sent to every process, and the owner of the port
 * answers. */
#include "base/minmax.h"
#include "provider/hub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

/* Real time between two questions for a port. Questions are repeated, because
 * the owner may not have joined yet. */
enum { ASK_AGAIN_US = 20000 };

int wfi_port_open(struct wfi_hub *h, struct wfi_port *p, uint16_t num)
{
	int rc;

	if (num && map_get(&h->ports, num))
		return -EADDRINUSE;
	for (uint32_t i = 0; !num && i < 0x8000; i++) {
		uint16_t n = h->next_port | 0x8000;

		h->next_port = n + 1;
		if (!map_get(&h->ports, n))
			num = n;
	}
	if (!num)
		return -EADDRINUSE;
	rc = map_set(&h->ports, num, (uintptr_t)p);
	if (!rc)
		p->num = num;
	return rc;
}

void wfi_port_close(struct wfi_hub *h, struct wfi_port *p)
{
	if (p->num)
		map_del(&h->ports, p->num);
	p->num = 0;
}

void wfi_name_sin(wfi_name name, struct sockaddr_in *sin)
{
	uint32_t peer = WFI_PEER(name);

	*sin = (struct sockaddr_in){ .sin_family = AF_INET };
	sin->sin_port = htons(WFI_PORT(name));
	sin->sin_addr.s_addr =
		htonl(127u << 24 | (WEFT_ATT_SLOT(peer) + 1) << 16 |
		      (WEFT_ATT_NODE(peer) & 0xffff));
}

bool wfi_sin_exact(const struct sockaddr_in *sin)
{
	uint32_t ip = ntohl(sin->sin_addr.s_addr);

	return ip >> 24 == 127 && (ip >> 16 & 0xff);
}

/* Asks the first slots of all nodes for the owner of a port. Slots without a
 * process do not answer. Most nodes have few processes, therefore the first
 * question goes to two slots of each node, and each further question to four
 * times as many. */
static void name_ask_all(struct wfi_hub *h, struct wfi_ask *a)
{
	struct wire w = { .op = WIRE_ASK, .a = a->port };
	uint32_t most = a->slots ? a->slots * 4 : 2;

	a->slots = min_of(most, h->info->slots);
	for (uint32_t node = 0; node < h->info->nodes; node++) {
		for (uint32_t slot = 0; slot < a->slots; slot++) {
			uint32_t to = WEFT_ATT_ADDR(node, slot);
			struct wfi_peer *p = wfi_peer_get(h, to);

			if (!p || to == h->self)
				continue;
			p->dead = false; /* another process may have the address
					  * by now */
			wfi_hub_send(h, p, &w, NULL, 0, NULL, false);
		}
	}
}

wfi_name wfi_name_find(struct wfi_hub *h, const struct sockaddr_in *sin)
{
	uint32_t ip = ntohl(sin->sin_addr.s_addr);
	uint16_t port = ntohs(sin->sin_port);
	struct wfi_port *own;
	struct wfi_ask *a;
	uint64_t now;

	if (!port)
		return 0;
	if (wfi_sin_exact(sin))
		return WFI_NAME(
			WEFT_ATT_ADDR(ip & 0xffff, (ip >> 16 & 0xff) - 1),
			port);
	own = map_ptr(&h->ports, port);
	if (own && own->open)
		return WFI_NAME(h->self, port);
	a = map_ptr(&h->asks, port);
	now = wfi_real_us();
	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a || map_set(&h->asks, port, (uintptr_t)a)) {
			free(a);
			return 0;
		}
		*a = (struct wfi_ask){ .port = port, .first_us = now };
	}
	if (a->name)
		return a->name;
	if (!a->asked_us || now - a->asked_us > ASK_AGAIN_US) {
		a->asked_us = now;
		name_ask_all(h, a);
	}
	return 0;
}

uint64_t wfi_name_age(struct wfi_hub *h, const struct sockaddr_in *sin)
{
	struct wfi_ask *a = map_ptr(&h->asks, ntohs(sin->sin_port));

	return a && !a->name ? wfi_real_us() - a->first_us : 0;
}

void wfi_name_ask(struct wfi_hub *h, const struct wfi_in *in)
{
	struct wfi_port *p =
		in->w->a <= UINT16_MAX ? map_ptr(&h->ports, in->w->a) : NULL;
	struct wire w = { .op = WIRE_HERE, .a = in->w->a };

	if (p && p->open)
		wfi_hub_tell(h, in->peer, &w, NULL, 0);
}

void wfi_name_here(struct wfi_hub *h, const struct wfi_in *in)
{
	struct wfi_ask *a = in->w->a && in->w->a <= UINT16_MAX
				    ? map_ptr(&h->asks, in->w->a)
				    : NULL;

	if (a && !a->name)
		a->name = WFI_NAME(in->peer->addr, a->port);
}
