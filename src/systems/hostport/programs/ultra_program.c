/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of ULTRA between two nodes, see ultra_program.h. */
#include "systems/hostport/programs/ultra_program.h"

#include <stdio.h>

static void ctl_send(void *own, uint32_t node, const uint64_t *w)
{
	struct ultraw *u = own;
	char key[64];

	for (uint32_t i = 0; i < ULTRA_MSG_WORDS; i++) {
		snprintf(key, sizeof(key), "ultra.%u.%u.%u.%u", u->w.me, node,
			 u->sent, i);
		weft_oob_put(u->w.h, key, w[i]);
	}
	u->sent++;
}

static void ctl_recv(void *own, uint32_t node, uint64_t *w)
{
	struct ultraw *u = own;
	char key[64];

	for (uint32_t i = 0; i < ULTRA_MSG_WORDS; i++) {
		snprintf(key, sizeof(key), "ultra.%u.%u.%u.%u", node, u->w.me,
			 u->got, i);
		w[i] = weft_oob_get(u->w.h, key);
	}
	u->got++;
}

int ultraw_open(struct ultraw *u, const struct program *w, uint32_t peer,
		const struct ultra_rx_attr *attr)
{
	struct ultra_ctl c = { u, ctl_send, ctl_recv };
	uint64_t ready[ULTRA_MSG_WORDS] = { 0 };
	uint32_t turn = w->me < peer;
	int ret;

	u->w = *w;
	u->peer = peer;
	ret = ultra_open(w->h, &u->d);
	/* The node with the lower number accepts first, because otherwise both
	 * nodes would wait for each other. */
	for (uint32_t i = 0; !ret && i < 2; i++)
		ret = i == turn ? ultra_accept(&u->d, &c, peer, attr, &u->rx)
				: ultra_connect(&u->d, &c, peer, 0, &u->tx);
	if (ret) {
		weft_check_failed(w->c, "no path: %s", program_why(ret));
		return ret;
	}
	ctl_send(u, peer, ready);
	ctl_recv(u, peer, ready);
	return 0;
}

void ultraw_close(struct ultraw *u)
{
	ultra_tx_close(&u->tx);
	ultra_rx_close(&u->rx);
}
