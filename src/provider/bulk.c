/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minmax.h"
#include "provider/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of unused registrations that are kept. Timed runs keep none,
 * because the heap decides whether a later buffer has the address of a
 * registration, and addresses of the heap differ from run to run. */
enum { REGS_KEPT = 16 };

/* Returns the largest size of a put in bytes. Both ends of a transfer compute
 * the same size. */
static size_t bulk_chunk(const struct wfi_hub *h)
{
	size_t most = h->info->max_put;

	return most ? min_of(most, 1u << 26) : 1u << 26;
}

/* ---- registered memory ---- */

/* Drops the least recently used registration without users. Returns true if it
 * was dropped, so that the NIC has room. Returns false if no registration is
 * unused, or if an operation in flight still needs the registration (mr_dereg
 * returned -EAGAIN). A later call tries to drop it again. */
static bool regs_drop(struct wfi_hub *h)
{
	struct wfi_reg **at, **old = NULL, *r;

	for (at = &h->regs; *at; at = &(*at)->next)
		if (!(*at)->users && (!old || (*at)->used < (*old)->used))
			old = at;
	if (!old || h->ep->ops->mr_dereg(h->ep, &(*old)->mr) == -EAGAIN)
		return false;
	r = *old;
	*old = r->next;
	free(r);
	return true;
}

static struct wfi_reg *regs_find(struct wfi_hub *h, char *base, size_t len)
{
	struct wfi_reg *r;

	for (r = h->regs; r; r = r->next)
		if (base >= r->base && len <= r->len &&
		    (size_t)(base - r->base) <= r->len - len)
			break;
	return r;
}

/* Returns true for errors of a NIC whose tables are full. */
static bool regs_full(int rc)
{
	return rc == -ENOMEM || rc == -ENOSPC;
}

static int regs_add(struct wfi_hub *h, char *base, size_t len,
		    struct wfi_reg **r_p)
{
	struct wfi_reg *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	do
		rc = h->ep->ops->mr_reg(h->ep, base, len, &r->mr);
	while (regs_full(rc) && regs_drop(h));
	if (rc) {
		free(r);
		return rc;
	}
	r->base = base;
	r->len = len;
	r->next = h->regs;
	h->regs = *r_p = r;
	return 0;
}

int wfi_reg_get(struct wfi_hub *h, void *p, size_t len, struct wfi_reg **r_p)
{
	struct wfi_reg *r = regs_find(h, p, len);
	int rc = r ? 0 : regs_add(h, p, len, &r);

	if (regs_full(rc)) {
		/* Returns -EAGAIN if a registration is in use, because the end
		 * of an operation may free it later. */
		rc = -ENOMEM;
		for (r = h->regs; r; r = r->next)
			if (r->users)
				rc = -EAGAIN;
	}
	if (rc)
		return rc;
	r->users++;
	r->used = ++h->reg_uses;
	*r_p = r;
	return 0;
}

void wfi_reg_put(struct wfi_hub *h, struct wfi_reg *r)
{
	unsigned kept = 0;

	r->users--;
	h->reg_drops++;
	for (r = h->regs; r; r = r->next)
		kept += !r->users;
	if (kept > (h->info->clock == WEFT_CLOCK_NONE ? REGS_KEPT : 0))
		regs_drop(h);
}

bool wfi_regs_drop(struct wfi_hub *h)
{
	while (h->regs && regs_drop(h))
		;
	return !h->regs;
}

/* ---- windows ---- */

int wfi_window_open(struct wfi_op *op, void *p, size_t len,
		    struct wire_window *w_p)
{
	struct wfi_hub *h = op->hub;
	size_t chunk = bulk_chunk(h);
	int rc = op->id ? 0 : wfi_op_number(op);

	if (rc)
		return rc;
	if (op->peer->addr != h->self)
		rc = wfi_reg_get(h, p, len, &op->reg);
	if (rc)
		return rc;
	op->from = p;
	op->left = (len + chunk - 1) / chunk;
	op->at = len;
	if (!op->reg) {
		*w_p = (struct wire_window){ (uintptr_t)p, 0, len };
		return 0;
	}
	*w_p = (struct wire_window){
		.addr = op->reg->mr.addr +
			(uint64_t)((char *)p - op->reg->base),
		.key = op->reg->mr.key,
		.len = len,
	};
	return 0;
}

int wfi_window_later(struct wfi_op *op, void *p, size_t len,
		     struct wire_window *w_p)
{
	int rc;

	if (op->more && op->drops == op->hub->reg_drops)
		return -EAGAIN;
	rc = wfi_window_open(op, p, len, w_p);
	op->more = rc == -EAGAIN;
	op->drops = op->hub->reg_drops;
	return rc;
}

void wfi_bulk_in(struct wfi_hub *h, uint32_t src, uint32_t imm)
{
	struct wfi_op *op = wfi_op_find(h, imm);

	if (imm & WFI_DIRECT) {
		struct wfi_peer *p = wfi_peer_get(h, src);

		if (p)
			wfi_hub_ack(h, p, 0, imm & ~WFI_DIRECT, 0);
		return;
	}
	if (!op || !op->left || op->peer->addr != src || !op->type->filled)
		return;
	if (!--op->left)
		op->type->filled(op);
}

/* ---- puts ---- */

static int bulk_post(struct wfi_op *op)
{
	struct wfi_hub *h = op->hub;
	size_t n = min_of(op->len - op->at, bulk_chunk(h));
	int rc;

	if (op->peer->addr == h->self) {
		/* The window belongs to this process. */
		struct wfi_op *w = wfi_op_find(op->hub, op->to_id);

		if (!w || !w->left || w->peer != op->peer || op->len != w->at ||
		    (uintptr_t)w->from != op->to.addr) {
			op->err = EIO;
		} else {
			memcpy((void *)(uintptr_t)w->from, op->from, op->len);
			w->left = 1;
			wfi_bulk_in(op->hub, op->hub->self, op->to_id);
		}
		op->more = false;
		return 0;
	}
	rc = weft_ep_post(h->ep,
			  &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						.dst = op->peer->addr,
						.buf = op->from + op->at,
						.len = n,
						.raddr = op->to.addr + op->at,
						.rkey = op->to.key,
						.notify = true,
						.imm = op->to_id,
						.ctx = &op->note });
	if (rc)
		return rc;
	op->notes++;
	op->at += n;
	op->more = op->at < op->len;
	return 0;
}

int wfi_bulk_out(struct wfi_op *op)
{
	while (op->more && !op->err) {
		int rc = bulk_post(op);

		if (rc == -EAGAIN)
			return wfi_op_again(op, wfi_bulk_out);
		if (rc)
			op->err = -rc;
	}
	if (op->notes)
		return 0;
	op->bulk = op->more = false;
	if (op->err)
		wfi_op_end(op, op->err);
	else
		op->type->put(op);
	return 0;
}

void wfi_bulk_put(struct wfi_op *op, const void *p, size_t len,
		  const struct wire_window *to, uint32_t to_id)
{
	op->from = p;
	op->len = len;
	op->at = 0;
	op->to = *to;
	op->to_id = to_id;
	op->bulk = true;
	op->more = len > 0;
	wfi_bulk_out(op);
}

/* ---- memory ---- */

size_t wfi_iov_len(const struct iovec *iov, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

/* Returns the next piece of an iov after `skip` bytes, at most `most` bytes
 * long. Returns false at the end of the iov. */
static bool iov_piece(const struct iovec *iov, size_t n, size_t *i,
		      size_t *skip, size_t most, struct iovec *piece)
{
	for (; *i < n; (*i)++) {
		size_t k = iov[*i].iov_len;

		if (*skip >= k) {
			*skip -= k;
			continue;
		}
		k -= *skip;
		piece->iov_base = (char *)iov[*i].iov_base + *skip;
		piece->iov_len = min_of(k, most);
		*skip += piece->iov_len;
		return true;
	}
	return false;
}

size_t wfi_iov_out(const struct iovec *iov, size_t n, size_t skip, void *to,
		   size_t len)
{
	struct iovec p;
	size_t i = 0, at = 0;

	while (at < len && iov_piece(iov, n, &i, &skip, len - at, &p)) {
		memcpy((char *)to + at, p.iov_base, p.iov_len);
		at += p.iov_len;
	}
	return at;
}

size_t wfi_iov_in(const struct iovec *iov, size_t n, size_t skip,
		  const void *from, size_t len)
{
	struct iovec p;
	size_t i = 0, at = 0;

	while (at < len && iov_piece(iov, n, &i, &skip, len - at, &p)) {
		memcpy(p.iov_base, (const char *)from + at, p.iov_len);
		at += p.iov_len;
	}
	return at;
}

void *wfi_op_flat(struct wfi_op *op, bool fill)
{
	size_t len = wfi_iov_len(op->iov, op->iovs);

	if (op->iovs == 1 && !op->bounce)
		return op->iov[0].iov_base;
	if (!op->bounce)
		op->bounce = malloc(len ? len : 1);
	if (op->bounce && fill)
		wfi_iov_out(op->iov, op->iovs, 0, op->bounce, len);
	return op->bounce;
}
