/* SPDX-License-Identifier: Apache-2.0 */
/* Long transfers. The receiver opens a window, which is memory that a peer
 * fills by puts. */
#ifndef PROVIDER_BULK_H
#define PROVIDER_BULK_H

#include "provider/op.h"

/* Registered memory. The transport names memory by its address in the process.
 * Therefore a registration remains valid after the process has mapped other
 * memory at that address. The registrations used last are kept, because the
 * next message often uses the same buffer. */
struct wfi_reg {
	struct wfi_reg *next;
	struct weft_ep_mr mr;
	char *base;
	size_t len;
	unsigned users;
	uint64_t used;
};

/* Registers memory or reuses a registration. Returns 0 or negative errno. After
 * -EAGAIN the caller has to wait until another operation calls wfi_reg_put. The
 * hub counts these calls in reg_drops. */
int wfi_reg_get(struct wfi_hub *h, void *p, size_t len, struct wfi_reg **r_p);
/* Ends one use of a registration. */
void wfi_reg_put(struct wfi_hub *h, struct wfi_reg *r);
/* Drops all unused registrations. Returns true if none is left. */
bool wfi_regs_drop(struct wfi_hub *h);

/* Opens a window of `len` bytes at p for an operation, and assigns a number to
 * the operation. Calls op->type->filled() when the peer has put all bytes.
 * Returns 0 or negative errno as wfi_reg_get does. */
int wfi_window_open(struct wfi_op *op, void *p, size_t len,
		    struct wire_window *w_p);
/* Opens a window as wfi_window_open does, and returns as it does. If the last
 * call for this operation returned -EAGAIN and no registration has been
 * released since then, returns -EAGAIN at once, because the NIC would refuse
 * again. */
int wfi_window_later(struct wfi_op *op, void *p, size_t len,
		     struct wire_window *w_p);
/* Puts `len` bytes from p into window to_id of the operation's peer. Calls
 * op->type->put() when all bytes are sent. */
void wfi_bulk_put(struct wfi_op *op, const void *p, size_t len,
		  const struct wire_window *to, uint32_t to_id);
/* Posts the remaining puts of an operation. Returns 0, or -EAGAIN if the
 * transport has no room. */
int wfi_bulk_out(struct wfi_op *op);
/* Handles a put of a peer that has arrived. */
void wfi_bulk_in(struct wfi_hub *h, uint32_t src, uint32_t imm);

/* Returns the memory of the operation as one buffer: the only element of its
 * iov, or a bounce buffer, which is filled from iov with `fill`. Returns NULL
 * if memory is exhausted. */
void *wfi_op_flat(struct wfi_op *op, bool fill);

/* Copies at most `len` bytes from iov to a flat buffer. Leaves out the first
 * `skip` bytes of iov. Returns the number of bytes copied. */
size_t wfi_iov_out(const struct iovec *iov, size_t n, size_t skip, void *to,
		   size_t len);
/* Copies bytes from a flat buffer into iov, behind its first `skip` bytes.
 * Returns the number of bytes copied. */
size_t wfi_iov_in(const struct iovec *iov, size_t n, size_t skip,
		  const void *from, size_t len);
/* Returns the total number of bytes of an iov. */
size_t wfi_iov_len(const struct iovec *iov, size_t n);

#endif
