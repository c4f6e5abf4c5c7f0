/* SPDX-License-Identifier: Apache-2.0 */
/* Long data: windows (memory that a peer fills with puts) and the puts. */
#ifndef PROVIDER_BULK_H
#define PROVIDER_BULK_H

#include "provider/op.h"

/* Registered memory.  The transport names memory by its address in the
 * process, so that a registration stays true whatever is mapped there: the
 * latest are kept for the next message that lies in the same place. */
struct wfi_reg {
	struct wfi_reg *next;
	struct weft_ep_mr mr;
	char *base;
	size_t len;
	unsigned users;
	uint64_t used;
};

/* -EAGAIN: not before others have given theirs back (reg_drops of the hub). */
int wfi_reg_get(struct wfi_hub *h, void *p, size_t len, struct wfi_reg **r_p);
void wfi_reg_put(struct wfi_hub *h, struct wfi_reg *r);
/* All that nobody uses; true: none is left. */
bool wfi_regs_drop(struct wfi_hub *h);
void wfi_regs_free(struct wfi_hub *h);

/* Opens the window of an operation, which gets a number: `len` bytes at p.
 * Its type's filled() is called when the peer has put all of them. */
int wfi_window_open(struct wfi_op *op, void *p, size_t len,
		    struct wire_window *w_p);
/* The same; -EAGAIN when there is no room, and at once when nothing has changed
 * since then. */
int wfi_window_later(struct wfi_op *op, void *p, size_t len,
		     struct wire_window *w_p);
/* Puts `len` bytes from p into window to_id of the operation's peer; put() of
 * its type is called when they are out. */
void wfi_bulk_put(struct wfi_op *op, const void *p, size_t len,
		  const struct wire_window *to, uint32_t to_id);
int wfi_bulk_out(struct wfi_op *op);
/* A put has arrived. */
void wfi_bulk_in(struct wfi_hub *h, uint32_t src, uint32_t imm);

/* One piece of memory for an operation's: the only one of iov, or a bounce
 * buffer, filled from iov when `fill`.  NULL: no memory. */
void *wfi_op_flat(struct wfi_op *op, bool fill);

/* Copies between a flat piece and iov, after so many bytes of iov, at most what
 * fits; returns bytes. */
size_t wfi_iov_out(const struct iovec *iov, size_t n, size_t skip, void *to,
		   size_t len);
size_t wfi_iov_in(const struct iovec *iov, size_t n, size_t skip,
		  const void *from, size_t len);
size_t wfi_iov_len(const struct iovec *iov, size_t n);

#endif
