/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the cell channel. */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H

#include "systems/extoll/network/cell_channel.h"

#define CELL_CHANNEL_NONE 0xff

/* Puts the cell into a slot of ep, seen by its owner at `cycle`. */
uint32_t cell_channel_put(struct cell_channel *ep, const struct ecell *cell,
			  uint32_t vc, uint64_t cycle);
/* Cycle of the peer's clock, t_sync included, for a flit of ours that is on
 * the line at `cycle`. */
uint64_t cell_channel_cross(const struct cell_channel *ep, uint64_t cycle);
/* Pool credits in use, see cell_channel.h: used[vc] changes to n. */
void cell_channel_use(struct cell_channel *ep, uint32_t vc, uint32_t n);
static inline bool cell_channel_has_credit(const struct cell_channel *ep,
					   uint32_t vc)
{
	return ep->used[vc] < ep->lim_reserved || ep->shared < ep->lim_pool;
}

/* The cell as a frame; f.payload has room for its bytes. */
void cell_channel_frame(const struct cell_channel *ep, const struct ecell *cell,
			uint32_t vc, struct weft_frame *f);

/* Ports that are listened to (cell_channel_listen.c): the cell, whose packet
 * becomes the one that the peer is given, and the control cell that starts at
 * cycle `at` (kind, n: below). */
void cell_channel_listen_start(struct cell_channel *ep);
void cell_channel_listen_drop(struct cell_channel *ep);
void cell_channel_listen_cell(struct cell_channel *ep, struct ecell *cell,
			      uint32_t vc, uint64_t at);
void cell_channel_listen_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n);
/* n refreshes, the first at cycle `at`. */
void cell_channel_listen_refresh(struct cell_channel *ep, uint64_t at,
				 uint64_t n);

/* Tapped ports (cell_channel_framed.c). */
int cell_channel_framed_start(struct cell_channel *ep, struct weft_err *err);
void cell_channel_framed_fini(struct cell_channel *ep);
void cell_channel_framed_abandon(struct cell_channel *ep);
bool cell_channel_framed_can(struct cell_channel *ep, uint32_t vc, uint64_t g);
uint64_t cell_channel_framed_next(struct cell_channel *ep, uint64_t g);
void cell_channel_framed_commit(struct cell_channel *ep,
				const struct ecell *cell, uint32_t vc,
				uint64_t g);
void cell_channel_framed_release(struct cell_channel *ep,
				 const struct ecell *cell, uint64_t cycle);
/* A control cell of cell_channel_control.c starts at `at`: kind < EX_VCS, n
 * credits. */
enum { CELL_CHANNEL_TELL_ACK = EX_VCS, CELL_CHANNEL_TELL_REFRESH };
void cell_channel_framed_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n);

#endif
