/* SPDX-License-Identifier: Apache-2.0 */
/* Executes atomics of peers on this process's regions. */
#include <errno.h>

#include "provider/atomic.h"
#include "provider/bulk.h"

static int atomic_run(struct wfi_ep *ep, const struct wfi_in *in, void *res)
{
	unsigned type = in->w->aux >> 8, op = in->w->aux & 0xff;
	wfi_atomic_fn *fn = wfi_atomic_find(type, op);
	size_t n = in->w->id2, bytes = n * wfi_atomic_size(type), at;
	const char *src = op == FI_ATOMIC_READ ? NULL : in->data;
	bool compare = in->w->flags & WIRE_COMPARE;
	size_t operands = !src ? 0 : compare ? 2 * bytes : bytes;
	unsigned char tmp[WIRE_ROOM];
	struct wfi_mr *mr;
	int err;

	if (!fn || n > WIRE_ROOM || bytes > WIRE_ROOM ||
	    compare != wfi_atomic_compares(op) || in->len != operands)
		return EINVAL;
	err = wfi_mr_check(ep, in, bytes,
			   (op == FI_ATOMIC_READ ? 0 : FI_REMOTE_WRITE) |
				   (res ? FI_REMOTE_READ : 0),
			   &mr, &at);
	if (err)
		return err;
	wfi_iov_out(mr->iov, mr->iovs, at, tmp, bytes);
	fn(tmp, src, compare ? src + bytes : NULL, res, n);
	if (op != FI_ATOMIC_READ)
		wfi_iov_in(mr->iov, mr->iovs, at, tmp, bytes);
	if (mr->cntr && op != FI_ATOMIC_READ)
		wfi_cntr_inc(mr->cntr, false);
	return 0;
}

void wfi_atomic_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	bool fetch = in->w->flags & WIRE_FETCH;
	unsigned char res[WIRE_ROOM];
	int err = atomic_run(ep, in, fetch ? res : NULL);

	if (!err)
		wfi_ep_count(ep, fetch ? WFI_C_REMOTE_READ : WFI_C_REMOTE_WRITE,
			     false);
	if (fetch)
		wfi_result(ep, in, err, res,
			   in->w->id2 * wfi_atomic_size(in->w->aux >> 8));
	else
		wfi_hub_ack(ep->hub, in->peer, in->w->src, in->w->id, err);
}
