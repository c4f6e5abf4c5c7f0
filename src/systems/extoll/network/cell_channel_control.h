/* SPDX-License-Identifier: Apache-2.0 */
/* Control cells of a cell channel (cell_channel_control.c). They are computed
 * when an end needs them, so that they cost no events. */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H

#include "systems/extoll/network/cell_channel_internal.h"

/* Queues a credit of `vc`, which may be on ep's line from `cycle` on. A credit
 * beside the data counts at the peer from `cycle` on. */
void cell_channel_owe(struct cell_channel *ep, uint32_t vc, uint64_t cycle);
/* Sends all control cells that start before `limit`. */
void cell_channel_settle(struct cell_channel *ep, uint64_t limit);
/* Applies the control cells from the peer up to cycle g. Returns the first
 * later cycle at which more may arrive, as far as is known now, or
 * WEFT_NEVER. */
uint64_t cell_channel_hear(struct cell_channel *ep, uint64_t g);

/* Parts for framed ports. cell_channel_ctl_ready() returns the first cycle at
 * which a control cell is ready, 0 if one is owed already.
 * cell_channel_ctl_send() sends the one that starts at cycle `at`.
 * cell_channel_ctl_due() queues a credit that is ready at `cycle`. */
uint64_t cell_channel_ctl_ready(const struct cell_channel *ep);
void cell_channel_ctl_send(struct cell_channel *ep, uint64_t at);
void cell_channel_ctl_due(struct cell_channel *ep, uint64_t cycle, uint32_t vc);

#endif
