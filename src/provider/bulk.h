/* SPDX-License-Identifier: Apache-2.0 */
/* Long data: windows (memory that a peer fills with puts) and the puts. */
#ifndef PROVIDER_BULK_H
#define PROVIDER_BULK_H

#include "provider/op.h"

/* Registered memory. The transport names memory by its address in the process,
 * so that a registration stays valid whatever is mapped there. The latest are
 * kept, because the next message often uses the same buffer. */
struct wfi_reg {
	struct wfi_reg *next;
	struct weft_ep_mr mr;
	char *base;
	size_t len;
	unsigned users;
	uint64_t used;
};

/* Registers memory or reuses a registration. Returns 0, -EAGAIN until another
 * operation calls wfi_reg_put (reg_drops of the hub counts these), or another
 * negative errno. */
int wfi_reg_get(struct wfi_hub *h, void *p, size_t len, struct wfi_reg **r_p);
/* Ends one use of a registration. */
void wfi_reg_put(struct wfi_hub *h, struct wfi_reg *r);
/* Drops all unused registrations. Returns true if none is left. */
bool wfi_regs_drop(struct wfi_hub *h);

/* Opens the window of an operation, `len` bytes at p, and gives the operation
 * a number. Calls filled() of its type when the peer has put all bytes.
 * Returns 0 or negative errno as wfi_reg_get. */
int wfi_window_open(struct wfi_op *op, void *p, size_t len,
		    struct wire_window *w_p);
/* Opens a window like wfi_window_open(). After -EAGAIN it returns -EAGAIN again
 * without a try until a registration was given back, because calls of the NIC
 * would be useless. */
int wfi_window_later(struct wfi_op *op, void *p, size_t len,
		     struct wire_window *w_p);
/* Puts `len` bytes from p into window to_id of the operation's peer. Calls
 * put() of its type when they are sent. */
void wfi_bulk_put(struct wfi_op *op, const void *p, size_t len,
		  const struct wire_window *to, uint32_t to_id);
/* Posts the remaining puts of an operation. Returns -EAGAIN without room. */
int wfi_bulk_out(struct wfi_op *op);
/* Handles a put of a peer that has arrived. */
void wfi_bulk_in(struct wfi_hub *h, uint32_t src, uint32_t imm);

/* Returns the operation's memory as one piece: the only one of iov, or a
 * bounce buffer, filled from iov if `fill`. Returns NULL without memory. */
void *wfi_op_flat(struct wfi_op *op, bool fill);

/* Copies from iov, after `skip` bytes of it, to a flat piece. Copies at most
 * what fits. Returns the bytes copied. */
size_t wfi_iov_out(const struct iovec *iov, size_t n, size_t skip, void *to,
		   size_t len);
/* Copies from a flat piece into iov, in the way of wfi_iov_out. Returns the
 * bytes copied. */
size_t wfi_iov_in(const struct iovec *iov, size_t n, size_t skip,
		  const void *from, size_t len);
/* Returns the bytes of an iov. */
size_t wfi_iov_len(const struct iovec *iov, size_t n);

#endif
