/* SPDX-License-Identifier: Apache-2.0 */
/* Reset of a port (forth.md 5.7): both ends of the line are out of sync while
 * their receive buffers drain; then T = F = F' = 0 on both sides, and after 16
 * words of commas they go on (4.9).  What is on the line is lost. */
#include "systems/forth/link/port_internal.h"

void forth_port_port_down(struct forth_port *l)
{
	if (!l->lost_sync)
		for (uint32_t j = 0; j < l->cfg.links; j++)
			l->count.sync_loss[j]++;
	forth_port_out_of_sync(l);
	if (forth_port_now(l) > l->rx_quiet)
		l->rx_quiet = forth_port_now(l);
}

bool forth_port_port_drained(struct forth_port *l)
{
	return weft_now(l->comp) >= l->fwd_last &&
	       (!l->ops->drained || l->ops->drained(l->own, l));
}

void forth_port_port_up(struct forth_port *l, bool reset)
{
	if (reset)
		forth_port_credit_reset(l);
	l->wake_at =
		forth_port_in_sync_at(l); /* what waited for credits may go */
	forth_port_arm(l);
}
