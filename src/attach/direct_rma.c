/* SPDX-License-Identifier: Apache-2.0 */
/* Direct endpoint: memory of the peers.  The kernel copies, at once; where it
 * refuses, and for atomics, the target's library is asked (direct_ask.c).
 *
 * A key is the place of the region in its owner's table, and how often that was
 * used before; an address is the owner's. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "attach/direct_int.h"

/* ---- regions ---- */

int direct_mr_reg(struct weft_ep *ep, void *p, size_t len,
		  struct weft_ep_mr *mr_p)
{
	struct direct *d = (struct direct *)ep;

	if (!len || !p)
		return -EINVAL;
	for (uint32_t k = 0; k < DIRECT_REGIONS; k++) {
		uint32_t i = (d->region_next + k) % DIRECT_REGIONS;
		struct direct_region *r = &d->self->region[i];

		if (r->len)
			continue;
		d->region_next = i + 1;
		atomic_store(&r->addr, (uintptr_t)p);
		atomic_store(&r->len, len);
		*mr_p = (struct weft_ep_mr){
			.key = (uint64_t)r->age << 32 | i,
			.addr = (uintptr_t)p,
			.len = len,
		};
		return 0;
	}
	return -ENOMEM;
}

static struct direct_region *region_of(struct direct_place *p, uint64_t key)
{
	struct direct_region *r;

	if ((uint32_t)key >= DIRECT_REGIONS)
		return NULL;
	r = &p->region[(uint32_t)key];
	return r->len && r->age == key >> 32 ? r : NULL;
}

int direct_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct direct *d = (struct direct *)ep;
	struct direct_region *r = region_of(d->self, mr->key);

	if (!r)
		return -EINVAL;
	atomic_store(&r->len, 0);
	atomic_fetch_add(&r->age, 1);
	return 0;
}

bool direct_covers(struct direct_place *p, uint64_t addr, uint64_t key,
		   uint64_t len)
{
	const struct direct_region *r = region_of(p, key);
	uint64_t base, size;

	if (!r)
		return false;
	base = r->addr;
	size = r->len;
	return addr >= base && len <= size && addr - base <= size - len;
}

/* ---- by the kernel ---- */

static int cma(struct direct *d, uint32_t to, void *buf, uint64_t raddr,
	       size_t len, bool write)
{
	pid_t pid = (pid_t)d->peer[to].place->pid;
	uint8_t *b = buf;

	while (len) {
		struct iovec here = { b, len };
		struct iovec there = { (void *)(uintptr_t)raddr, len };
		ssize_t n =
			write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
			      : process_vm_readv(pid, &here, 1, &there, 1, 0);

		if (n <= 0)
			return n < 0 ? -errno : -EFAULT;
		b += n;
		raddr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int move(struct direct *d, uint32_t to, void *buf, uint64_t raddr,
		size_t len, bool write)
{
	void *r = (void *)(uintptr_t)raddr;
	int ret;

	if (to == d->me) {
		memmove(write ? r : buf, write ? buf : r, len);
		return 0;
	}
	if (d->no_cma)
		return -EPERM;
	ret = cma(d, to, buf, raddr, len, write);
	d->no_cma |= ret == -EPERM || ret == -ENOSYS;
	return ret == -ESRCH ? -EPIPE : ret == -ENOSYS ? -EPERM : ret;
}

/* ---- calls ---- */

/* Whatever it is, the end is told by an event. */
static int done(struct direct *d, uint32_t to, enum weft_ep_kind kind,
		int status, size_t len, void *ctx)
{
	struct weft_ep_event ev = { .kind = status ? WEFT_EV_ERROR : kind,
				    .status = status,
				    .src = direct_addr(d, to),
				    .len = len,
				    .ctx = ctx };

	if (ctx)
		direct_event(d, &ev);
	return 0;
}

static int by_message(struct direct *d, enum direct_what what,
		      struct direct_op *op, uint64_t raddr, uint64_t rkey)
{
	if (!op)
		return -EAGAIN;
	op->ask.what = what;
	op->ask.raddr = raddr;
	op->ask.rkey = rkey;
	direct_op_start(d, op);
	return 0;
}

int direct_put(struct direct *d, uint32_t to, const void *buf, size_t len,
	       uint64_t raddr, uint64_t rkey, bool notify, uint32_t imm,
	       void *ctx)
{
	struct direct_head *h;
	struct direct_op *op;
	int ret;

	if (direct_is_left(d, to))
		return done(d, to, WEFT_EV_PUT, -EPIPE, len, ctx);
	if (!direct_covers(d->peer[to].place, raddr, rkey, len))
		return -EINVAL;
	if (notify && !direct_has_room(d, to, 0))
		return -EAGAIN;
	ret = move(d, to, (void *)(uintptr_t)buf, raddr, len, true);
	if (ret != -EPERM) {
		h = notify && !ret ? direct_begin(d, to, 0) : NULL;
		if (h)
			direct_commit(d, to, h, DIRECT_PUT_IN, 0, imm);
		return done(d, to, WEFT_EV_PUT, ret, len, ctx);
	}
	op = direct_op_new(d, to, WEFT_EV_PUT, ctx);
	if (op) {
		op->buf = (uint8_t *)(uintptr_t)buf;
		op->len = len;
		op->notify = notify;
		op->imm = imm;
	}
	return by_message(d, ASK_PUT, op, raddr, rkey);
}

int direct_get(struct direct *d, uint32_t to, void *buf, size_t len,
	       uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct direct_op *op;
	int ret;

	if (direct_is_left(d, to))
		return done(d, to, WEFT_EV_GET, -EPIPE, len, ctx);
	if (!direct_covers(d->peer[to].place, raddr, rkey, len))
		return -EINVAL;
	ret = move(d, to, buf, raddr, len, false);
	if (ret != -EPERM)
		return done(d, to, WEFT_EV_GET, ret, len, ctx);
	op = direct_op_new(d, to, WEFT_EV_GET, ctx);
	if (op) {
		op->buf = buf;
		op->len = len;
	}
	return by_message(d, ASK_GET, op, raddr, rkey);
}

int direct_atomic(struct direct *d, uint32_t to, enum direct_what what,
		  uint64_t raddr, uint64_t rkey, uint64_t a, uint64_t b,
		  void *ctx)
{
	struct direct_op *op;

	if (direct_is_left(d, to))
		return done(d, to, WEFT_EV_ATOMIC, -EPIPE, 8, ctx);
	if (raddr % 8 || !direct_covers(d->peer[to].place, raddr, rkey, 8))
		return -EINVAL;
	op = direct_op_new(d, to, WEFT_EV_ATOMIC, ctx);
	if (op) {
		op->ask.a = a;
		op->ask.b = b;
	}
	return by_message(d, what, op, raddr, rkey);
}
