/* SPDX-License-Identifier: Apache-2.0 */
/* Service port of a node: high availability port (hostport.md 3.2, 6.3 code
 * 14).  Packets that no crossbar could route come here: the origin is told, as
 * far as the way back is known.
 *
 * Not modelled: multicast. */
#include "nic/hostport/units.h"

void hp_service(struct hp_nic *n, struct hp_rx *rx)
{
	uint32_t byte = HP_CMD_BYTE(HP_C0_CMD(rx->head.c[0]));

	if (hp_is_reply(byte))
		hp_err_log(n, HP_CMD(HP_ERR_ROUTE_BROKEN, HP_G_PORT, byte),
			   rx->head.vpid);
	else
		hp_ack(n, &rx->head, HP_ERR_ROUTE_BROKEN);
	hp_rx_end(n, rx);
}
