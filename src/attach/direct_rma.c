/* SPDX-License-Identifier: Apache-2.0 */
/* Put, get and atomics of a direct endpoint. The kernel copies the data of put
 * and get during the call. The target's library executes atomics, and also put
 * and get if the kernel refuses (direct_ask.c).
 *
 * A key is the index of a region in its owner's table and the number of earlier
 * uses of that entry. An address is valid in its owner's address space. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "attach/direct_internal.h"

/* ---- regions ----
 * Requests of peers are checked against a private table. Peers can read a
 * public copy of the table. Therefore an origin detects a wrong request itself
 * and does not send a message. */

static void direct_rma_show(struct direct *d, uint32_t i)
{
	struct direct_region *r = &d->self->region[i];

	atomic_store(&r->len, 0);
	atomic_store(&r->addr, d->region[i].addr);
	atomic_store(&r->age, d->region[i].age);
	atomic_store(&r->len, d->region[i].len);
}

int direct_mr_reg(struct weft_ep *ep, void *p, size_t len,
		  struct weft_ep_mr *mr_p)
{
	struct direct *d = (struct direct *)ep;

	if (d->forked)
		return -EIO;
	if (!len || !p)
		return -EINVAL;
	for (uint32_t k = 0; k < DIRECT_REGIONS; k++) {
		uint32_t i = (d->region_next + k) % DIRECT_REGIONS;
		struct direct_own *r = &d->region[i];

		if (r->len)
			continue;
		d->region_next = i + 1;
		r->addr = (uintptr_t)p;
		r->len = len;
		direct_rma_show(d, i);
		*mr_p = (struct weft_ep_mr){
			.key = (uint64_t)r->age << 32 | i,
			.addr = (uintptr_t)p,
			.len = len,
		};
		return 0;
	}
	return -ENOMEM;
}

static bool region_ok(uint64_t base, uint64_t size, uint32_t age, uint64_t addr,
		      uint64_t key, uint64_t len)
{
	return size && age == key >> 32 && addr >= base && len <= size &&
	       addr - base <= size - len;
}

int direct_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct direct *d = (struct direct *)ep;
	uint32_t i = (uint32_t)mr->key;

	if (d->forked)
		return -EIO;
	if (i >= DIRECT_REGIONS || !d->region[i].len ||
	    d->region[i].age != mr->key >> 32)
		return -EINVAL;
	d->region[i].len = 0;
	d->region[i].age++;
	direct_rma_show(d, i);
	return 0;
}

bool direct_covers(const struct direct *d, uint64_t addr, uint64_t key,
		   uint64_t len)
{
	const struct direct_own *r = &d->region[(uint32_t)key % DIRECT_REGIONS];

	return (uint32_t)key < DIRECT_REGIONS &&
	       region_ok(r->addr, r->len, r->age, addr, key, len);
}

/* Returns true if the peer's public table has the region. Wrong entries harm
 * only the peer, because every address in the table is an address of the peer's
 * memory. */
static bool his_covers(struct direct *d, uint32_t to, uint64_t addr,
		       uint64_t key, uint64_t len)
{
	const struct direct_region *r;

	if ((uint32_t)key >= DIRECT_REGIONS ||
	    direct_peer_open(d, to, WANT_PEER))
		return false;
	r = &d->peer[to].place->region[(uint32_t)key];
	return region_ok(r->addr, r->len, r->age, addr, key, len);
}

/* ---- by the kernel ---- */

/* Returns the pid behind a pidfd, or 0 if it is not visible in this
 * namespace. */
static pid_t pid_of(int pid_fd)
{
	char path[40], line[80];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pid_fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "Pid: %d", &pid) != 1)
		;
	if (f)
		fclose(f);
	return pid;
}

static int direct_rma_cma(pid_t pid, void *buf, uint64_t raddr, size_t len,
			  bool write)
{
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

static int direct_rma_move(struct direct *d, uint32_t to, void *buf,
			   uint64_t raddr, size_t len, bool write)
{
	void *r = (void *)(uintptr_t)raddr;
	struct direct_peer *p = &d->peer[to];
	int ret;

	if (to == d->me) {
		memmove(write ? r : buf, write ? buf : r, len);
		return 0;
	}
	if (d->no_cma)
		return -EPERM;
	/* The simulator supplies the pidfd, because a pid that the peer itself
	 * supplied could belong to another process. */
	if (!p->knows_who && !direct_want(d, WANT_WHO, to, -1, &p->who.fd) &&
	    p->who.fd >= 0)
		p->who.pid = pid_of(p->who.fd);
	p->knows_who = true;
	if (p->who.fd < 0 || p->who.pid <= 0)
		return -EPERM;
	if (!pidfd_alive(&p->who))
		return -EPIPE;
	ret = direct_rma_cma(p->who.pid, buf, raddr, len, write);
	d->no_cma |= ret == -EPERM || ret == -ENOSYS;
	return ret == -ESRCH ? -EPIPE : ret == -ENOSYS ? -EPERM : ret;
}

/* ---- calls ---- */

/* Reports the end of an operation as an event, whatever its status. */
static int direct_rma_done(struct direct *d, uint32_t to,
			   enum weft_ep_kind kind, int status, size_t len,
			   void *ctx)
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
		      struct direct_op *op, const struct weft_ep_op *asked)
{
	if (!op)
		return -EAGAIN;
	op->ask.what = what;
	op->ask.raddr = asked->raddr;
	op->ask.rkey = asked->rkey;
	direct_op_start(d, op);
	return 0;
}

int direct_put(struct direct *d, uint32_t to, const struct weft_ep_op *put)
{
	void *buf = (void *)(uintptr_t)put->buf;
	uint32_t imm = (uint32_t)put->imm;
	struct direct_head *h;
	struct direct_op *op;
	int ret;

	if (direct_is_left(d, to))
		return direct_rma_done(d, to, WEFT_EV_PUT, -EPIPE, put->len,
				       put->ctx);
	if (!his_covers(d, to, put->raddr, put->rkey, put->len))
		return -EINVAL;
	if (put->notify && !direct_has_room(d, to, 0))
		return -EAGAIN;
	ret = direct_rma_move(d, to, buf, put->raddr, put->len, true);
	if (ret != -EPERM) {
		h = put->notify && !ret ? direct_begin(d, to, 0) : NULL;
		if (h)
			direct_commit(d, to, h, DIRECT_PUT_IN, 0, imm);
		return direct_rma_done(d, to, WEFT_EV_PUT, ret, put->len,
				       put->ctx);
	}
	op = direct_op_new(d, to, WEFT_EV_PUT, put->ctx);
	if (op) {
		op->buf = buf;
		op->len = put->len;
		op->notify = put->notify;
		op->imm = imm;
	}
	return by_message(d, ASK_PUT, op, put);
}

int direct_get(struct direct *d, uint32_t to, const struct weft_ep_op *get)
{
	struct direct_op *op;
	int ret;

	if (direct_is_left(d, to))
		return direct_rma_done(d, to, WEFT_EV_GET, -EPIPE, get->len,
				       get->ctx);
	if (!his_covers(d, to, get->raddr, get->rkey, get->len))
		return -EINVAL;
	ret = direct_rma_move(d, to, get->into, get->raddr, get->len, false);
	if (ret != -EPERM)
		return direct_rma_done(d, to, WEFT_EV_GET, ret, get->len,
				       get->ctx);
	op = direct_op_new(d, to, WEFT_EV_GET, get->ctx);
	if (op) {
		op->buf = get->into;
		op->len = get->len;
	}
	return by_message(d, ASK_GET, op, get);
}

int direct_atomic(struct direct *d, uint32_t to, const struct weft_ep_op *a)
{
	struct direct_op *op;

	if (direct_is_left(d, to))
		return direct_rma_done(d, to, WEFT_EV_ATOMIC, -EPIPE, 8,
				       a->ctx);
	if (a->raddr % 8 || !his_covers(d, to, a->raddr, a->rkey, 8))
		return -EINVAL;
	op = direct_op_new(d, to, WEFT_EV_ATOMIC, a->ctx);
	if (op) {
		op->ask.a = a->operand;
		op->ask.b = a->code == WEFT_EP_CSWAP ? a->desired : 0;
	}
	return by_message(d, a->code == WEFT_EP_CSWAP ? ASK_CSWAP : ASK_FADD,
			  op, a);
}
