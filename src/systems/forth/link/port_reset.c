/* SPDX-License-Identifier: Apache-2.0 */
/* Reset of a port (forth.md 5.7): both ends of the line are out of sync while
 * their receive buffers drain; then T = F = F' = 0 on both sides, and after 16
 * words of commas they go on (4.9).  What is on the line is lost. */
#include "systems/forth/link/port_internal.h"

void flink_port_down(struct flink *l)
{
	if (!l->lost_sync)
		for (uint32_t j = 0; j < l->cfg.links; j++)
			l->count.sync_loss[j]++;
	flink_out_of_sync(l);
	if (flink_now(l) > l->rx_quiet)
		l->rx_quiet = flink_now(l);
}

bool flink_port_drained(struct flink *l)
{
	return weft_now(l->comp) >= l->fwd_last &&
	       (!l->ops->drained || l->ops->drained(l->own, l));
}

void flink_port_up(struct flink *l, bool reset)
{
	if (reset)
		flink_credit_reset(l);
	l->wake_at = flink_resync(l); /* what waited for credits may go */
	flink_arm(l);
}
