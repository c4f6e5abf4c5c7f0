/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one node: contract in mem.h.
 * Not modelled: DRAM timing, caches (costs are the host's parameters), holes in
 * the physical map. */
#include "host/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEM_FIRST = MEM_PAGE, MEM_ALIGN = 64 };

void mem_init(struct mem *m, weft_phys_t base, uint64_t bytes)
{
	*m = (struct mem){ .base = base, .bytes = bytes, .touched = MEM_FIRST };
}

void mem_fini(struct mem *m)
{
	if (m->map)
		munmap(m->map, m->bytes);
	m->map = NULL;
	if (m->fd)
		close(m->fd - 1);
	m->fd = 0;
	mem_pins_fini(m);
	mem_far_fini(m);
	vec_free(&m->far_pins);
	vec_free(&m->used);
	vec_free(&m->spare);
}

static bool mem_map(struct mem *m)
{
	void *p;

	if (m->map)
		return true;
	p = mmap((void *)m->hint, m->bytes, PROT_READ | PROT_WRITE,
		 MAP_NORESERVE |
			 (m->fd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS),
		 m->fd - 1, 0);
	if (p == MAP_FAILED)
		return false;
	m->map = p;
	return true;
}

int mem_share(struct mem *m)
{
	int fd;

	if (m->fd)
		return m->fd - 1;
	if (m->map)
		return -EBUSY;
	fd = memfd_create("weft-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)m->bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -ENOMEM;
	}
	m->fd = fd + 1;
	return fd;
}

void *mem_at(struct mem *m, weft_phys_t phys, uint64_t n)
{
	if (!mem_contains(m, phys, n) || !mem_map(m))
		return NULL;
	if (m->pin) {
		uint8_t *page = mem_pinned(m, phys);

		if (page)
			return page;
	}
	/* A device may write to memory that was never allocated, therefore
	 * memory counts as touched when a device reaches it. */
	if (phys - m->base + n > m->touched)
		m->touched = phys - m->base + n;
	return m->map + (phys - m->base);
}

bool mem_phys_own(const struct mem *m, const void *p, weft_phys_t *phys_p)
{
	const uint8_t *b = p;

	if (!m->map || b < m->map || b >= m->map + m->bytes)
		return false;
	*phys_p = m->base + (uint64_t)(b - m->map);
	return true;
}

bool mem_phys(const struct mem *m, const void *p, weft_phys_t *phys_p)
{
	return mem_phys_own(m, p, phys_p) ||
	       (m->pin && mem_pinned_phys(m, p, phys_p));
}

/* ---- allocator: first fit in spare pieces ---- */

/* Returns the index of the first extent at or above off. */
static size_t extents_find(const struct mem_extents *v, uint64_t off)
{
	size_t lo = 0, hi = v->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->at[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void extents_insert(struct mem_extents *v, uint64_t off, uint64_t len)
{
	size_t i = extents_find(v, off);

	vec_insert(v, i, (struct mem_extent){ .off = off, .len = len });
}

static uint64_t align_up(uint64_t x, uint64_t align)
{
	return (x + align - 1) & ~(align - 1);
}

void *mem_take(struct mem *m, uint64_t bytes, uint64_t align,
	       weft_phys_t *phys_p)
{
	uint64_t off = UINT64_MAX;

	if (!align)
		align = MEM_ALIGN;
	if (align & (align - 1) || bytes > m->bytes || !mem_map(m))
		return NULL;
	if (!m->spare.n && !m->used.n && m->bytes > MEM_FIRST)
		extents_insert(&m->spare, MEM_FIRST, m->bytes - MEM_FIRST);
	bytes = align_up(bytes ? bytes : 1, MEM_ALIGN);
	for (size_t i = 0; i < m->spare.n && off == UINT64_MAX; i++) {
		struct mem_extent e = m->spare.at[i];
		uint64_t end = e.off + e.len;
		/* Alignment is that of physical addresses. */
		uint64_t at = align_up(m->base + e.off, align) - m->base;

		if (at < e.off || at > end || bytes > end - at)
			continue;
		off = at;
		vec_remove(&m->spare, i);
		if (off > e.off)
			extents_insert(&m->spare, e.off, off - e.off);
		if (off + bytes < end)
			extents_insert(&m->spare, off + bytes,
				       end - off - bytes);
	}
	if (off == UINT64_MAX)
		return NULL;
	extents_insert(&m->used, off, bytes);
	if (m->pin)
		mem_pins_taken(m, off, bytes);
	*phys_p = m->base + off;
	return m->map + off;
}

void *mem_alloc(struct mem *m, uint64_t bytes, uint64_t align,
		weft_phys_t *phys_p)
{
	weft_phys_t phys;
	uint8_t *p = mem_take(m, bytes, align, &phys);
	uint64_t off;

	if (!p)
		return NULL;
	off = phys - m->base;
	bytes = align_up(bytes ? bytes : 1, MEM_ALIGN);
	if (off < m->touched)
		memset(p, 0,
		       m->touched - off < bytes ? m->touched - off : bytes);
	if (off + bytes > m->touched)
		m->touched = off + bytes;
	if (phys_p)
		*phys_p = phys;
	return p;
}

/* Frees a used extent and joins it with its neighbours. */
static void used_end(struct mem *m, size_t used)
{
	struct mem_extent e = m->used.at[used];
	struct mem_extents *v = &m->spare;
	size_t i = extents_find(v, e.off);

	vec_remove(&m->used, used);
	if (i < v->n && e.off + e.len == v->at[i].off) {
		e.len += v->at[i].len;
		vec_remove(v, i);
	}
	if (i && v->at[i - 1].off + v->at[i - 1].len == e.off)
		v->at[i - 1].len += e.len;
	else
		extents_insert(v, e.off, e.len);
}

bool mem_free(struct mem *m, void *p)
{
	weft_phys_t phys;
	size_t i;

	if (!p)
		return true;
	if (!mem_phys(m, p, &phys))
		return false;
	i = extents_find(&m->used, phys - m->base);
	if (i == m->used.n || m->used.at[i].off != phys - m->base ||
	    m->used.at[i].freed)
		return false;
	m->used.at[i].freed = m->used.at[i].holds;
	if (!m->used.at[i].freed)
		used_end(m, i);
	return true;
}

void mem_free_all(struct mem *m, const void *owner)
{
	for (size_t i = m->used.n; i--;) {
		struct mem_extent *e = &m->used.at[i];

		if (e->owner != owner)
			continue;
		e->freed = e->holds;
		if (!e->freed)
			used_end(m, i);
	}
}

/* ---- owners, and mappings that keep memory ---- */

/* Returns the allocation that contains a byte, or NULL. */
static struct mem_extent *used_at(const struct mem *m, uint64_t off)
{
	size_t i = extents_find(&m->used, off + 1);
	struct mem_extent *e = i ? &m->used.at[i - 1] : NULL;

	return e && off - e->off < e->len ? e : NULL;
}

/* Returns true if another owner has memory in the pages of [off, off + len). */
static bool mem_shared(const struct mem *m, uint64_t off, uint64_t len,
		       const void *owner)
{
	uint64_t from = off / MEM_PAGE * MEM_PAGE,
		 to = align_up(off + len, MEM_PAGE);
	size_t i = extents_find(&m->used, from);

	for (i -= i > 0; i < m->used.n && m->used.at[i].off < to; i++) {
		const struct mem_extent *e = &m->used.at[i];

		if (e->off + e->len > from && e->owner && e->owner != owner)
			return true;
	}
	return false;
}

void *mem_alloc_for(struct mem *m, uint64_t bytes, uint64_t align,
		    const void *owner, weft_phys_t *phys_p)
{
	weft_phys_t phys;
	void *p = mem_alloc(m, bytes, align, &phys);

	if (p && mem_shared(m, phys - m->base, bytes, owner)) {
		mem_free(m, p);
		p = mem_alloc(m, align_up(bytes, MEM_PAGE),
			      align < MEM_PAGE ? MEM_PAGE : align, &phys);
	}
	if (!p)
		return NULL;
	used_at(m, phys - m->base)->owner = owner;
	if (phys_p)
		*phys_p = phys;
	return p;
}

const void *mem_owner(const struct mem *m, const void *p)
{
	weft_phys_t phys;
	const struct mem_extent *e =
		mem_phys(m, p, &phys) ? used_at(m, phys - m->base) : NULL;

	return e ? e->owner : NULL;
}

void mem_own(struct mem *m, weft_phys_t phys, const void *owner)
{
	struct mem_extent *e = used_at(m, phys - m->base);

	if (e && (!e->owner || e->owner == MEM_KERNEL))
		e->owner = owner;
}

bool mem_hold(struct mem *m, weft_phys_t phys, uint64_t len, const void *owner)
{
	struct mem_extent *e =
		mem_contains(m, phys, len) ? used_at(m, phys - m->base) : NULL;

	if (!e || e->freed || e->owner != owner ||
	    len > e->off + e->len - (phys - m->base) ||
	    mem_shared(m, phys - m->base, len, owner))
		return false;
	e->holds++;
	return true;
}

bool mem_release(struct mem *m, weft_phys_t phys)
{
	struct mem_extent *e =
		mem_contains(m, phys, 1) ? used_at(m, phys - m->base) : NULL;

	if (!e || !e->holds)
		return false;
	if (!--e->holds && e->freed)
		used_end(m, (size_t)(e - m->used.at));
	return true;
}
