/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process: contract in process_memory.h. */
#include "host/process_memory_internal.h"
#include "host/host_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/pidfd.h"

enum {
	FAR_BOUNCE = 4096,
	FAR_ALIGN = 16,
	FAR_PIECE = 8192, /* longest piece of a stream */
};

/* Returns the index of the first shadow that ends above p. */
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
	uint64_t skew = va % FAR_ALIGN, all;
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
	mem_settled(m);
	mem_far_forget(m, f.owner);
	vec_remove(&m->far, i);
	if (f.owner->strict)
		mprotect(f.shadow, f.len, PROT_READ | PROT_WRITE);
	return mem_free(m, f.shadow);
}

/* ---- access ---- */

/* Copies by a system call. Returns the number of copied bytes. */
static size_t by_kernel(struct weft_far_owner *o, uint64_t va, void *buf,
			size_t n, bool write)
{
	size_t all = n;

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
			break;
		}
		va += (size_t)k;
		buf = (uint8_t *)buf + k;
		n -= (size_t)k;
	}
	return all - n;
}

size_t mem_far_access(struct weft_far_owner *o, uint64_t va, void *buf,
		      size_t n, bool write)
{
	size_t done = 0;

	o->dead |= o->who && !pidfd_alive(o->who);
	if (o->dead)
		return 0;
	if (!o->by_copy)
		done = by_kernel(o, va, buf, n, write);
	if (done < n && o->by_copy && !o->copy(o->arg, va, buf, n, write))
		done = n;
	return done;
}

static void far_read(struct mem *m, const struct mem_far *f, void *dst,
		     const uint8_t *src, size_t n)
{
	uint64_t va = f->va + (uint64_t)(src - f->shadow);
	struct weft_far_owner *o = f->owner;
	size_t done;

	mem_far_clean(m, o, va, n);
	if (o->ahead && n <= FAR_PIECE && mem_far_ahead(m, f, va, dst, n))
		return;
	done = mem_far_access(o, va, dst, n, false);
	if (done == n)
		return;
	o->faults++;
	memset((uint8_t *)dst + done, 0xff, n - done);
}

void mem_far_put(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 const void *src, size_t n)
{
	mem_far_stale(m, o, va, n);
	if (mem_far_access(o, va, (void *)(uintptr_t)src, n, true) < n)
		o->faults++;
}

static void far_write(struct mem *m, const struct mem_far *f, uint8_t *dst,
		      const void *src, size_t n)
{
	mem_settled(m);
	mem_far_put(m, f->owner, f->va + (uint64_t)(dst - f->shadow), src, n);
}

/* Returns the shadow at p, or NULL if p is in no shadow. Reduces *n_p to the
 * number of bytes from p to the end of the shadow. If p is in no shadow,
 * reduces *n_p to the number of bytes before the next shadow. */
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

void mem_far_copy(struct mem *m, void *dst, const void *src, size_t n)
{
	const uint8_t *s = src;
	uint8_t *d = dst;
	size_t k;

	for (; n; n -= k, d += k, s += k) {
		const struct mem_far *to, *from;

		k = n;
		to = far_at(m, d, &k);
		from = far_at(m, s, &k);
		if (to && from) {
			uint8_t buf[FAR_BOUNCE];

			for (size_t i = 0; i < k; i += FAR_BOUNCE) {
				size_t part =
					k - i < FAR_BOUNCE ? k - i : FAR_BOUNCE;

				far_read(m, from, buf, s + i, part);
				far_write(m, to, d + i, buf, part);
			}
		} else if (to) {
			far_write(m, to, d, s, k);
		} else if (from) {
			far_read(m, from, d, s, k);
		} else {
			memcpy(d, s, k);
		}
	}
}

void mem_far_store(struct mem *m, void *dst, const void *src, size_t n)
{
	size_t k = n;
	const struct mem_far *to = far_at(m, dst, &k);

	if (to && k == n && n <= FAR_PIECE)
		mem_far_later(m, to,
			      to->va + (uint64_t)((uint8_t *)dst - to->shadow),
			      src, n);
	else
		mem_far_copy(m, dst, src, n);
}

/* ---- functions for programs ---- */

void *weft_far_add(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		   size_t len)
{
	void *p = mem_far_add(&h->hp->mem, o, va, len);
	weft_phys_t phys;

	if (p && mem_phys_own(&h->hp->mem, p, &phys))
		mem_own(&h->hp->mem, phys, h->owner);
	return p;
}

void weft_far_settle(struct weft_host *h)
{
	mem_settled(&h->hp->mem);
}

void weft_far_del(struct weft_host *h, void *shadow)
{
	if (!mem_far_del(&h->hp->mem, shadow))
		weft_check_failed(h->prog, "no memory of a process there");
}
