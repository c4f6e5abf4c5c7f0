/* SPDX-License-Identifier: Apache-2.0 */
/* Handles requests of peers for this process's regions. Each request is checked
 * against the region that it names before any memory is touched, because peers
 * are not trusted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/bulk.h"
#include "provider/obj.h"

/* Counts a write that has arrived, and reports its remote data. */
static void in_written(struct wfi_ep *ep, struct wfi_mr *mr, uint64_t flags,
		       uint64_t data, size_t len)
{
	struct wfi_comp c = {
		.e.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
		.e.len = len,
		.e.data = data,
		.src = FI_ADDR_NOTAVAIL,
	};

	wfi_ep_count(ep, WFI_C_REMOTE_WRITE, false);
	if (mr->cntr)
		wfi_cntr_inc(mr->cntr, false);
	if ((flags & WIRE_DATA) && ep->rx_cq)
		wfi_cq_add(ep->rx_cq, &c);
}

/* Returns the address of a part of a region if the part is contiguous in
 * memory, otherwise NULL. */
static char *in_flat(const struct wfi_mr *mr, size_t at, size_t len)
{
	for (size_t i = 0; i < mr->iovs; i++) {
		if (at < mr->iov[i].iov_len)
			return len <= mr->iov[i].iov_len - at
				       ? (char *)mr->iov[i].iov_base + at
				       : NULL;
		at -= mr->iov[i].iov_len;
	}
	return NULL;
}

void wfi_write_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	struct wfi_mr *mr;
	uint64_t data;
	size_t at, len = in->len - sizeof(data);
	int err;

	if (in->len < sizeof(data))
		return;
	memcpy(&data, in->data, sizeof(data));
	err = wfi_mr_check(ep, in, len, FI_REMOTE_WRITE, &mr, &at);
	if (!err) {
		wfi_iov_in(mr->iov, mr->iovs, at,
			   (const char *)in->data + sizeof(data), len);
		in_written(ep, mr, in->w->flags, data, len);
	}
	wfi_hub_ack(ep->hub, in->peer, in->w->src, in->w->id, err);
}

/* ---- long writes ---- */

static void in_sink_filled(struct wfi_op *op)
{
	if (op->bounce)
		wfi_iov_in(op->mr->iov, op->mr->iovs, op->tag, op->bounce,
			   op->full);
	in_written(op->ep, op->mr, op->op_flags, op->data, op->full);
	wfi_op_end(op, 0);
}

static void in_sink_end(struct wfi_op *op, int err)
{
	if (op->peer)
		wfi_hub_ack(op->hub, op->peer, op->port, op->peer_id, err);
}

static const struct wfi_op_type in_sink_type = {
	.filled = in_sink_filled,
	.end = in_sink_end,
};

/* Opens the window of a long write when the NIC has room, and notifies the
 * writer. */
static int in_sink_step(struct wfi_op *op)
{
	struct wire w = { .op = WIRE_CTS,
			  .flags = WIRE_REPLY,
			  .dst = op->port,
			  .id = op->peer_id };
	struct wire_window to;
	char *flat =
		op->bounce ? op->bounce : in_flat(op->mr, op->tag, op->full);
	int rc = wfi_window_later(op, flat, op->full, &to);

	if (rc == -EAGAIN)
		return wfi_op_again(op, in_sink_step);
	if (rc) {
		wfi_op_end(op, -rc);
		return 0;
	}
	w.id2 = op->id;
	wfi_hub_tell(op->hub, op->peer, &w, &to, sizeof(to));
	return 0;
}

/* Starts the window of a long write. The operation's tag holds the offset in
 * the region. */
static int in_sink(struct wfi_ep *ep, const struct wfi_in *in,
		   struct wfi_mr *mr, size_t at, const struct wire_long *l)
{
	struct wfi_op *op = wfi_op_new(ep->hub, &in_sink_type, ep, in->peer);

	if (!op)
		return ENOMEM;
	op->port = in->w->src;
	op->peer_id = in->w->id;
	op->tag = at;
	op->data = l->data;
	op->full = l->len;
	op->op_flags = in->w->flags;
	if (!in_flat(mr, at, l->len)) {
		op->bounce = malloc(l->len);
		if (!op->bounce) {
			wfi_op_free(op);
			return ENOMEM;
		}
	}
	op->mr = mr;
	in_sink_step(op);
	return 0;
}

/* ---- reads ---- */

void wfi_result(struct wfi_ep *ep, const struct wfi_in *in, int err,
		const void *data, size_t len)
{
	struct wire w = { .op = WIRE_RESULT,
			  .flags = WIRE_REPLY,
			  .dst = in->w->src,
			  .src = ep->port.num,
			  .id = in->w->id,
			  .a = err };

	wfi_hub_tell(ep->hub, in->peer, &w, data, err ? 0 : len);
}

void wfi_read_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	unsigned char buf[WIRE_ROOM];
	struct wfi_mr *mr;
	uint64_t len;
	size_t at;
	int err;

	if (in->len != sizeof(len))
		return;
	memcpy(&len, in->data, sizeof(len));
	err = len <= sizeof(buf)
		      ? wfi_mr_check(ep, in, len, FI_REMOTE_READ, &mr, &at)
		      : EMSGSIZE;
	if (!err) {
		wfi_iov_out(mr->iov, mr->iovs, at, buf, len);
		wfi_ep_count(ep, WFI_C_REMOTE_READ, false);
	}
	wfi_result(ep, in, err, buf, len);
}

static void in_source_put(struct wfi_op *op)
{
	if (op->ep)
		wfi_ep_count(op->ep, WFI_C_REMOTE_READ, false);
	wfi_op_end(op, 0);
}

static void in_source_end(struct wfi_op *op, int err)
{
	struct wire w = { .op = WIRE_RESULT,
			  .flags = WIRE_REPLY,
			  .dst = op->port,
			  .id = op->peer_id,
			  .a = err };

	if (err && op->peer)
		wfi_hub_tell(op->hub, op->peer, &w, NULL, 0);
}

static const struct wfi_op_type in_source_type = {
	.put = in_source_put,
	.end = in_source_end,
};

static int in_source(struct wfi_ep *ep, const struct wfi_in *in,
		     struct wfi_mr *mr, size_t at, const struct wire_long *l)
{
	struct wfi_op *op = wfi_op_new(ep->hub, &in_source_type, ep, in->peer);
	char *flat = in_flat(mr, at, l->len);

	if (!op)
		return ENOMEM;
	op->port = in->w->src;
	op->peer_id = in->w->id;
	if (!flat) {
		flat = op->bounce = malloc(l->len);
		if (flat)
			wfi_iov_out(mr->iov, mr->iovs, at, flat, l->len);
	}
	if (!flat) {
		wfi_op_free(op);
		return ENOMEM;
	}
	op->mr = mr;
	wfi_bulk_put(op, flat, l->len, &l->to, in->w->id);
	return 0;
}

/* ---- long requests ---- */

/* Checks and starts a long write (WIRE_WREQ) or read (WIRE_RREQ). Does not
 * answer a malformed request. */
void wfi_long_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	bool write = in->w->op == WIRE_WREQ;
	struct wire_long l;
	struct wfi_mr *mr;
	size_t at;
	int err;

	if (in->len != sizeof(l))
		return;
	memcpy(&l, in->data, sizeof(l));
	err = l.len ? wfi_mr_check(ep, in, l.len,
				   write ? FI_REMOTE_WRITE : FI_REMOTE_READ,
				   &mr, &at)
		    : EINVAL;
	if (!err)
		err = write ? in_sink(ep, in, mr, at, &l)
			    : in_source(ep, in, mr, at, &l);
	if (err && write)
		wfi_hub_ack(ep->hub, in->peer, in->w->src, in->w->id, err);
	else if (err)
		wfi_result(ep, in, err, NULL, 0);
}
