/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the cell channel. */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H

#include "systems/extoll/network/cell_channel.h"

#define EPORT_NONE 0xff

/* Puts the cell into a slot of ep, seen by its owner at `cycle`. */
uint32_t eport_put(struct eport *ep, const struct ecell *cell, uint32_t vc,
		   uint64_t cycle);
/* Cycle of the peer's clock, t_sync included, for a flit of ours that is on
 * the line at `cycle`. */
uint64_t eport_cross(const struct eport *ep, uint64_t cycle);
/* Pool credits in use, see cell_channel.h: used[vc] changes to n. */
void eport_use(struct eport *ep, uint32_t vc, uint32_t n);
static inline bool eport_has_credit(const struct eport *ep, uint32_t vc)
{
	return ep->used[vc] < ep->lim_reserved || ep->shared < ep->lim_pool;
}

/* The cell as a frame; f.payload has room for its bytes. */
void eport_frame(const struct eport *ep, const struct ecell *cell, uint32_t vc,
		 struct weft_frame *f);

/* Ports that are listened to (cell_channel_listen.c): the cell, whose packet
 * becomes the one that the peer is given, and the control cell that starts at
 * cycle `at` (kind, n: below). */
void eport_tap_start(struct eport *ep);
void eport_tap_drop(struct eport *ep);
void eport_tap_cell(struct eport *ep, struct ecell *cell, uint32_t vc,
		    uint64_t at);
void eport_tap_tell(struct eport *ep, uint64_t at, uint32_t kind, uint32_t n);
/* n refreshes, the first at cycle `at`. */
void eport_tap_refresh(struct eport *ep, uint64_t at, uint64_t n);

/* Tapped ports (cell_channel_framed.c). */
int eport_slow_start(struct eport *ep, struct weft_err *err);
void eport_slow_fini(struct eport *ep);
void eport_slow_abandon(struct eport *ep);
bool eport_slow_can(struct eport *ep, uint32_t vc, uint64_t g);
uint64_t eport_slow_next(struct eport *ep, uint64_t g);
void eport_slow_commit(struct eport *ep, const struct ecell *cell, uint32_t vc,
		       uint64_t g);
void eport_slow_release(struct eport *ep, const struct ecell *cell,
			uint64_t cycle);
/* A control cell of cell_channel_control.c starts at `at`: kind < EX_VCS, n
 * credits. */
enum { EPORT_TELL_ACK = EX_VCS, EPORT_TELL_REFRESH };
void eport_slow_tell(struct eport *ep, uint64_t at, uint32_t kind, uint32_t n);

#endif
