/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process: contract in far.h. */
#include "host/mem_far.h"
#include "host/host_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { FAR_BOUNCE = 4096 };

/* Index of the first shadow that ends above p. */
static size_t far_find(const struct mem *m, const uint8_t *p)
{
	size_t lo = 0, hi = m->far.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->far.at[mid].shadow + m->far.at[mid].len <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void mem_far_set(struct mem *m, const struct mem_far *f)
{
	if (f->owner->strict)
		mprotect(f->shadow, f->len, PROT_NONE);
	vec_insert(&m->far, far_find(m, f->shadow), *f);
}

void *mem_far_add(struct mem *m, struct weft_far_owner *o, uint64_t va,
		  uint64_t len)
{
	uint64_t skew = va % MEM_PAGE, all;
	struct mem_far f = { .owner = o, .va = va - skew };
	weft_phys_t phys;

	if (!len || len > m->bytes || va + len < va)
		return NULL;
	all = (skew + len + MEM_PAGE - 1) / MEM_PAGE * MEM_PAGE;
	f.shadow = mem_take(m, all, MEM_PAGE, &phys);
	if (!f.shadow)
		return NULL;
	f.len = all;
	mem_far_set(m, &f);
	return f.shadow + skew;
}

bool mem_far_del(struct mem *m, void *shadow)
{
	size_t i = far_find(m, shadow);
	struct mem_far f;

	if (i == m->far.n || m->far.at[i].shadow > (uint8_t *)shadow)
		return false;
	f = m->far.at[i];
	memmove(&m->far.at[i], &m->far.at[i + 1],
		(--m->far.n - i) * sizeof(*m->far.at));
	if (f.owner->strict)
		mprotect(f.shadow, f.len, PROT_READ | PROT_WRITE);
	return mem_free(m, f.shadow);
}

/* ---- access ---- */

static bool by_kernel(struct weft_far_owner *o, uint64_t va, void *buf,
		      size_t n, bool write)
{
	while (n) {
		struct iovec here = { buf, n };
		struct iovec there = { (void *)(uintptr_t)va, n };
		ssize_t k = write ? process_vm_writev(o->pid, &here, 1, &there,
						      1, 0)
				  : process_vm_readv(o->pid, &here, 1, &there,
						     1, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			o->dead |= k < 0 && errno == ESRCH;
			o->by_copy = k < 0 && o->copy &&
				     (errno == EPERM || errno == ENOSYS);
			return false;
		}
		va += (size_t)k;
		buf = (uint8_t *)buf + k;
		n -= (size_t)k;
	}
	return true;
}

static bool far_access(struct weft_far_owner *o, uint64_t va, void *buf,
		       size_t n, bool write)
{
	if (o->dead)
		return false;
	if (!o->by_copy && by_kernel(o, va, buf, n, write))
		return true;
	return o->by_copy && !o->copy(o->arg, va, buf, n, write);
}

static void far_read(const struct mem_far *f, void *dst, const uint8_t *src,
		     size_t n)
{
	uint64_t va = f->va + (uint64_t)(src - f->shadow);

	if (far_access(f->owner, va, dst, n, false))
		return;
	f->owner->faults++;
	memset(dst, 0xff, n);
}

static void far_write(const struct mem_far *f, uint8_t *dst, const void *src,
		      size_t n)
{
	uint64_t va = f->va + (uint64_t)(dst - f->shadow);

	if (!far_access(f->owner, va, (void *)(uintptr_t)src, n, true))
		f->owner->faults++;
}

/* The shadow at p, or NULL; how many of n bytes are of the same kind. */
static const struct mem_far *far_at(const struct mem *m, const uint8_t *p,
				    size_t *n_p)
{
	size_t i = far_find(m, p), room;
	const struct mem_far *f = i < m->far.n ? &m->far.at[i] : NULL;

	if (!f)
		return NULL;
	if (p < f->shadow) {
		room = (size_t)(f->shadow - p);
		f = NULL;
	} else {
		room = (size_t)(f->shadow + f->len - p);
	}
	if (*n_p > room)
		*n_p = room;
	return f;
}

static void far_both(const struct mem_far *to, uint8_t *dst,
		     const struct mem_far *from, const uint8_t *src, size_t n)
{
	uint8_t buf[FAR_BOUNCE];

	for (size_t i = 0; i < n; i += FAR_BOUNCE) {
		size_t k = n - i < FAR_BOUNCE ? n - i : FAR_BOUNCE;

		far_read(from, buf, src + i, k);
		far_write(to, dst + i, buf, k);
	}
}

void mem_far_copy(const struct mem *m, void *dst, const void *src, size_t n)
{
	const uint8_t *s = src;
	uint8_t *d = dst;
	size_t k;

	for (; n; n -= k, d += k, s += k) {
		const struct mem_far *to, *from;

		k = n;
		to = far_at(m, d, &k);
		from = far_at(m, s, &k);
		if (to && from)
			far_both(to, d, from, s, k);
		else if (to)
			far_write(to, d, s, k);
		else if (from)
			far_read(from, d, s, k);
		else
			memcpy(d, s, k);
	}
}

/* ---- of a thread's node ---- */

void *weft_far_add(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		   size_t len)
{
	return mem_far_add(&h->hp->mem, o, va, len);
}

void weft_far_del(struct weft_host *h, void *shadow)
{
	if (!mem_far_del(&h->hp->mem, shadow))
		weft_check_failed(h->prog, "no memory of a process there");
}
