/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of the cell channel share. */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_INTERNAL_H

#include "systems/extoll/network/cell_channel.h"

#define CELL_CHANNEL_NONE 0xff

/* Puts a copy of the cell into a slot of ep, whose owner sees the cell at
 * `cycle`. Returns the slot. A void cell gets its own copy of the packet. */
uint32_t cell_channel_put(struct cell_channel *ep, const struct ecell *cell,
			  uint32_t vc, uint64_t cycle);
/* Converts the cycle at which a flit is on the line to a cycle of the peer's
 * clock, t_sync included. */
uint64_t cell_channel_cross(const struct cell_channel *ep, uint64_t cycle);
/* Sets the used credits of vc to n, and corrects the count of used pool
 * credits. */
void cell_channel_use(struct cell_channel *ep, uint32_t vc, uint32_t n);
/* Returns true if a reserved credit of the VC or a credit of the pool is
 * free. */
static inline bool cell_channel_has_credit(const struct cell_channel *ep,
					   uint32_t vc)
{
	return ep->used[vc] < ep->lim_reserved || ep->shared < ep->lim_pool;
}

/* Fills f, the frame of a cell. The caller supplies f.payload with room for the
 * cell's bytes. */
void cell_channel_frame(const struct cell_channel *ep, const struct ecell *cell,
			uint32_t vc, struct weft_frame *f);

/* Functions of a listener on a line without faults (cell_channel_listen.c).
 * start() installs the listener, drop() frees the listener's incomplete
 * packets. cell() reports a cell and replaces its packet by the packet that the
 * peer receives. tell() reports the control cell that starts at cycle `at`,
 * with kind and n as in cell_channel_framed_tell(). */
void cell_channel_listen_start(struct cell_channel *ep);
void cell_channel_listen_drop(struct cell_channel *ep);
void cell_channel_listen_cell(struct cell_channel *ep, struct ecell *cell,
			      uint32_t vc, uint64_t at);
void cell_channel_listen_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n);
/* Reports n refreshes, the first at cycle `at`. */
void cell_channel_listen_refresh(struct cell_channel *ep, uint64_t at,
				 uint64_t n);

/* Framed ports call cell_channel_framed_X() in place of cell_channel_X()
 * (cell_channel_framed.c). */
int cell_channel_framed_start(struct cell_channel *ep, struct weft_err *err);
void cell_channel_framed_abandon(struct cell_channel *ep);
bool cell_channel_framed_can(struct cell_channel *ep, uint32_t vc, uint64_t g);
uint64_t cell_channel_framed_next(struct cell_channel *ep, uint64_t g);
void cell_channel_framed_commit(struct cell_channel *ep,
				const struct ecell *cell, uint32_t vc,
				uint64_t g);
/* Gives the peer the credit for the slot of a cell, unless the cell is
 * resent. */
void cell_channel_framed_release(struct cell_channel *ep,
				 const struct ecell *cell, uint64_t cycle);
/* Sends a control cell of cell_channel_control.c at cycle `at`. If kind is a
 * VC, the cell returns n credits of that VC. Otherwise kind is one of the
 * values below. */
enum { CELL_CHANNEL_TELL_ACK = EX_VCS, CELL_CHANNEL_TELL_REFRESH };
void cell_channel_framed_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n);

#endif
