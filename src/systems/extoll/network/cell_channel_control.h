/* SPDX-License-Identifier: Apache-2.0 */
/* Control cells of a cell channel (cell_channel_control.c). They are computed
 * when an end needs them, so that they cost no events. */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_CONTROL_H

#include "systems/extoll/network/cell_channel_internal.h"

/* Queues a credit of `vc`. In-band, it may be on ep's line from `cycle` on. A
 * credit that is not sent in-band counts at the peer way_ctl cycles after
 * `cycle`. */
void cell_channel_owe(struct cell_channel *ep, uint32_t vc, uint64_t cycle);
/* Sends all control cells that start before `limit`. */
void cell_channel_settle(struct cell_channel *ep, uint64_t limit);
/* Applies the peer's control cells that take effect by cycle g. Returns the
 * first later cycle at which one may take effect, as far as is known now, or
 * WEFT_NEVER. */
uint64_t cell_channel_hear(struct cell_channel *ep, uint64_t g);

/* Parts that framed ports use, too. cell_channel_ctl_ready() returns the first
 * cycle at which a control cell is ready, or 0 if a credit is already owed.
 * cell_channel_ctl_send() sends the control cell that starts at cycle `at`.
 * cell_channel_ctl_due() queues a credit that is ready at `cycle`. */
uint64_t cell_channel_ctl_ready(const struct cell_channel *ep);
void cell_channel_ctl_send(struct cell_channel *ep, uint64_t at);
void cell_channel_ctl_due(struct cell_channel *ep, uint64_t cycle, uint32_t vc);

#endif
