/* SPDX-License-Identifier: Apache-2.0 */
/* Control cells of a cell channel, worked out when needed
 * (cell_channel_control.c). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H

#include "systems/extoll/network/cell_channel_internal.h"

/* A credit of `vc` may be on ep's line from `cycle` on (beside the data: counts
 * at the peer from then on). */
void cell_channel_owe(struct cell_channel *ep, uint32_t vc, uint64_t cycle);
/* Fixes all control cells that start before `limit`. */
void cell_channel_settle(struct cell_channel *ep, uint64_t limit);
/* Takes in what has come from the peer up to cycle g; returns the first later
 * cycle at which more may come, as far as is known now, or WEFT_NEVER. */
uint64_t cell_channel_hear(struct cell_channel *ep, uint64_t g);

/* Parts of it for framed ports: first cycle at which a control cell is
 * ready (0: some are owed already); the one that starts at cycle `at`; a credit
 * that is ready at `cycle`. */
uint64_t cell_channel_ctl_ready(const struct cell_channel *ep);
void cell_channel_ctl_send(struct cell_channel *ep, uint64_t at);
void cell_channel_ctl_due(struct cell_channel *ep, uint64_t cycle, uint32_t vc);

#endif
