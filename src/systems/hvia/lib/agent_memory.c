/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: manages protection tags, registers memory, and writes and
 * compacts the address translation table by PIO (hvia.md 3.2 to 3.6, 6.2). */
#include "systems/hvia/lib/agent.h"

#include <errno.h>
#include <string.h>

#include "host/times.h"

/* ---- the table, on the card or in host memory ---- */

int agent_mem_init(struct hvia_agent *a, struct weft_host *h)
{
	/* numbers of regions and pages that the tests with CTRL.ATT_HOST
	 * need */
	enum { REGIONS = 16384, PAGES = 1 << 18 };
	weft_phys_t l1, l2;

	if (!(a->ctrl_bits & HVIA_CTRL_ATT_HOST))
		return 0;
	a->host.l1 = weft_mem_alloc(h, REGIONS * HVIA_L1_BYTES, 4096, &l1);
	a->host.l2 = weft_mem_alloc(h, PAGES * HVIA_L2_BYTES, 4096, &l2);
	if (!a->host.l1 || !a->host.l2)
		return -ENOMEM;
	hvia_att_fini(&a->att);
	/* Each level has its own memory here. The allocator takes the size of
	 * level 1 as the limit for both levels together, so that neither level
	 * exceeds its memory. */
	hvia_att_init(&a->att, REGIONS * HVIA_L1_BYTES);
	agent_store(a, h, HVIA_ATT_HOST_L1, l1);
	agent_store(a, h, HVIA_ATT_HOST_L2, l2);
	return 0;
}

static void l1_quad(struct hvia_agent *a, struct weft_host *h, uint32_t handle,
		    uint32_t i, uint64_t val)
{
	uint32_t at = hvia_l1_addr(handle) + 8 * i;

	if (a->host.l1) {
		memcpy(a->host.l1 + at, &val, 8);
		return;
	}
	agent_store(a, h, HVIA_ATT_ADDR, at);
	agent_store(a, h, HVIA_ATT_DATA, val);
}

/* Writes an entry. Writes the pages field last, so that a half-written entry is
 * never valid (6.2). */
static void l1_write(struct hvia_agent *a, struct weft_host *h, uint32_t handle)
{
	const struct hvia_l1 *e = &a->region.at[handle].l1;

	l1_quad(a, h, handle, 0, e->va);
	l1_quad(a, h, handle, 2,
		e->length | (uint64_t)e->first << 32 | (uint64_t)e->attr << 48);
	l1_quad(a, h, handle, 1, e->pages | (uint64_t)e->l2 << 32);
}

/* ---- compaction ---- */

struct moving {
	struct hvia_agent *a;
	struct weft_host *h;
};

static void agent_memory_moved(void *own, uint32_t handle, uint32_t from)
{
	struct moving *m = own;
	struct hvia_agent *a = m->a;
	struct hvia_l1 *e = &a->region.at[handle].l1;

	e->l2 = a->att.region.at[handle].l2;
	if (a->host.l2) {
		memmove(a->host.l2 + e->l2, a->host.l2 + from, 4ul * e->pages);
	} else {
		agent_store(a, m->h, HVIA_MOVE_FROM, from);
		agent_store(a, m->h, HVIA_MOVE_TO, e->l2);
		agent_store(a, m->h, HVIA_MOVE_COUNT, e->pages);
		while (agent_load(a, m->h, HVIA_MOVE_COUNT))
			host_nap(m->h, T_hvia_turn);
	}
	l1_quad(a, m->h, handle, 1, e->pages | (uint64_t)e->l2 << 32);
}

/* ---- protection tags ---- */

int agent_ptag(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_ptag_arg *t = arg;

	for (uint32_t i = 1; i < HVIA_PTAGS; i++)
		if (!a->ptag[i]) {
			a->ptag[i] = weft_proc_self(h);
			t->ptag = i;
			return 0;
		}
	return -ENOSPC;
}

int agent_ptag_free(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_ptag_arg *t = arg;

	if (!agent_ptag_valid(a, weft_proc_self(h), t->ptag))
		return -EINVAL;
	for (size_t i = 0; i < a->region.n; i++)
		if (a->region.at[i].proc &&
		    HVIA_ATT_PTAG(a->region.at[i].l1.attr) == t->ptag)
			return -EBUSY;
	for (uint32_t i = 0; i < HVIA_VIS; i++)
		if (a->vi[i].proc && a->vi[i].attr.ptag == t->ptag)
			return -EBUSY;
	a->ptag[t->ptag] = NULL;
	return 0;
}

/* ---- regions ---- */

static struct hvia_l1 l1_of(const struct hvia_mem_arg *m)
{
	uint32_t rights = (m->rdma_write ? HVIA_ATT_RDMA_WRITE : 0) |
			  (m->rdma_read ? HVIA_ATT_RDMA_READ : 0);

	return (struct hvia_l1){
		.va = m->va,
		.length = (uint32_t)m->len,
		.first = (uint16_t)(HVIA_PAGE - m->va % HVIA_PAGE),
		.attr = HVIA_ATT_ATTR(m->ptag, rights),
	};
}

static void agent_memory_compact(struct hvia_agent *a, struct weft_host *h)
{
	struct moving m = { a, h };

	agent_store(a, h, HVIA_CTRL, a->ctrl_bits | HVIA_CTRL_STOP);
	while (!(agent_load(a, h, HVIA_STATUS) & HVIA_STATUS_IDLE))
		host_nap(h, T_hvia_turn);
	hvia_att_compact(&a->att, agent_memory_moved, &m);
	agent_store(a, h, HVIA_CTRL, a->ctrl_bits);
	a->compactions++;
}

static int reg_pinned(struct hvia_agent *a, struct weft_host *h,
		      struct hvia_mem_arg *m, const weft_phys_t *phys,
		      uint32_t pages)
{
	struct hvia_region r = { .proc = weft_proc_self(h),
				 .l1 = l1_of(m),
				 .va = m->va,
				 .len = m->len };
	int ret;

	for (uint32_t i = 0; i < pages; i++)
		if (phys[i] > UINT32_MAX)
			/* the card cannot reach pages above 4 GiB (3.3) */
			return -EFAULT;
	ret = hvia_att_take(&a->att, pages, &m->handle);
	if (ret == -EAGAIN) {
		agent_memory_compact(a, h);
		ret = hvia_att_take(&a->att, pages, &m->handle);
	}
	if (ret)
		return ret;
	while (a->region.n <= m->handle)
		vec_push(&a->region, (struct hvia_region){ 0 });
	r.l1.pages = pages;
	r.l1.l2 = a->att.region.at[m->handle].l2;
	a->region.at[m->handle] = r;
	for (uint32_t i = 0; i < pages; i++) {
		if (a->host.l2)
			a->host.l2[(r.l1.l2 + i)] = (uint32_t)phys[i];
		else
			agent_store(a, h, HVIA_ATT_L2,
				    (uint64_t)(r.l1.l2 + i) << 32 | phys[i]);
	}
	l1_write(a, h, m->handle);
	agent_store(a, h, HVIA_ATT_L1_COUNT, a->att.region.n);
	return 0;
}

int agent_reg(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_mem_arg *m = arg;
	uint64_t pages =
		(m->va % HVIA_PAGE + m->len + HVIA_PAGE - 1) / HVIA_PAGE;
	weft_phys_t *phys;
	int ret;

	if (!agent_ptag_valid(a, weft_proc_self(h), m->ptag))
		return -EPERM;
	if (!m->va || !m->len || m->va + m->len < m->va)
		return -EINVAL;
	if (m->len > UINT32_MAX)
		return -ENOSPC;
	phys = weft_host_calloc(h, pages, sizeof(*phys));
	if (!phys)
		return -ENOMEM;
	if (weft_mem_pin(h, (void *)(uintptr_t)m->va, m->len, phys)) {
		ret = reg_pinned(a, h, m, phys, (uint32_t)pages);
		if (ret)
			weft_mem_unpin(h, (void *)(uintptr_t)m->va, m->len);
	} else {
		ret = errno == EFAULT ? -EINVAL : -ENOMEM;
	}
	weft_host_free(h, phys);
	return ret;
}

static struct hvia_region *region_of(struct hvia_agent *a, struct weft_host *h,
				     const struct hvia_mem_arg *m)
{
	struct hvia_region *r;

	if (m->handle >= a->region.n)
		return NULL;
	r = &a->region.at[m->handle];
	return r->proc == weft_proc_self(h) && m->va >= r->va &&
			       m->va - r->va < r->len
		       ? r
		       : NULL;
}

/* Makes the card drop descriptors and addresses that it has fetched through the
 * entry. Waits until no engine works with the entry. */
static void agent_memory_settle(struct hvia_agent *a, struct weft_host *h,
				uint32_t handle)
{
	agent_store(a, h, HVIA_ATT_BUSY, handle);
	while (agent_load(a, h, HVIA_ATT_BUSY))
		host_nap(h, T_hvia_turn);
}

/* Removes a region (6.2). Clears its entry first, so that no new work finds it,
 * then waits for work in progress, and unpins the pages last. */
static void region_drop(struct hvia_agent *a, struct weft_host *h,
			uint32_t handle)
{
	struct hvia_region *r = &a->region.at[handle];

	l1_quad(a, h, handle, 1, (uint64_t)r->l1.l2 << 32);
	agent_memory_settle(a, h, handle);
	weft_mem_unpin(h, (void *)(uintptr_t)r->va, r->len);
	hvia_att_give(&a->att, handle);
	*r = (struct hvia_region){ 0 };
	agent_store(a, h, HVIA_ATT_L1_COUNT, a->att.region.n);
}

int agent_dereg(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_mem_arg *m = arg;
	struct hvia_region *r = region_of(a, h, m);

	if (!r || r->va != m->va)
		return -EINVAL;
	region_drop(a, h, m->handle);
	return 0;
}

int agent_mem_query(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_mem_arg *m = arg;
	const struct hvia_region *r = region_of(a, h, m);

	if (!r)
		return -EINVAL;
	m->len = r->len - (m->va - r->va);
	m->ptag = HVIA_ATT_PTAG(r->l1.attr);
	m->rdma_write = r->l1.attr & HVIA_ATT_RDMA_WRITE;
	m->rdma_read = r->l1.attr & HVIA_ATT_RDMA_READ;
	return 0;
}

int agent_mem_set(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_mem_arg *m = arg;
	struct hvia_region *r = region_of(a, h, m);

	if (!r)
		return -EINVAL;
	if (!agent_ptag_valid(a, weft_proc_self(h), m->ptag))
		return -EPERM;
	r->l1.attr = l1_of(m).attr;
	l1_write(a, h, m->handle);
	agent_memory_settle(a, h, m->handle);
	return 0;
}

bool hvia_region(const struct hvia_client *c, uint32_t handle, uint64_t *va_p,
		 uint64_t *len_p, uint32_t *ptag_p)
{
	const struct hvia_agent *a = c->agent;

	if (handle >= a->region.n || a->region.at[handle].proc != c->proc)
		return false;
	*va_p = a->region.at[handle].l1.va;
	*len_p = a->region.at[handle].l1.length;
	*ptag_p = HVIA_ATT_PTAG(a->region.at[handle].l1.attr);
	return true;
}

void agent_mem_gone(struct hvia_agent *a, struct weft_host *h,
		    struct weft_proc *p)
{
	for (uint32_t i = 0; i < a->region.n; i++)
		if (a->region.at[i].proc == p)
			region_drop(a, h, i);
	for (uint32_t i = 0; i < HVIA_PTAGS; i++)
		if (a->ptag[i] == p)
			a->ptag[i] = NULL;
}
