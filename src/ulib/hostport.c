/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port user library, see weft/hostport.h: opening, memory, windows. */
#include "ulib/hostport_priv.h"

#include <errno.h>
#include <string.h>

/* ---- opening ----------------------------------------------------------- */

static void *queue_new(struct hport *p, uint64_t bytes, uint64_t *page_p)
{
	weft_phys_t phys = 0;
	void *q = weft_mem_alloc(p->drv.host, bytes, HP_PAGE, &phys);

	*page_p = phys / HP_PAGE;
	return q;
}

/* Queues, and the context that names them. */
static bool queues_new(struct hport *p, uint64_t *w)
{
	uint64_t at[6];

	p->wq = queue_new(p, (uint64_t)HP_LINE * p->size.wq, &at[0]);
	p->sdr = queue_new(p, 8ull * p->size.sdr, &at[1]);
	p->rdr = queue_new(p, 8ull * p->size.rdr, &at[2]);
	p->wdt = queue_new(p, (uint64_t)HP_LINE * p->size.wdt, &at[3]);
	p->prq = queue_new(p, (uint64_t)HP_LINE * p->size.prq, &at[4]);
	p->nq = queue_new(p, (uint64_t)HP_LINE * p->size.nq, &at[5]);
	p->holes = weft_host_calloc(p->drv.host, p->size.nq, sizeof(*p->holes));
	HP_CTX_SET(w, HP_F_WQ_BASE, at[0]);
	HP_CTX_SET(w, HP_F_SDR_BASE, at[1]);
	HP_CTX_SET(w, HP_F_RDR_BASE, at[2]);
	HP_CTX_SET(w, HP_F_WDT_BASE, at[3]);
	HP_CTX_SET(w, HP_F_PRQ_BASE, at[4]);
	HP_CTX_SET(w, HP_F_NQ_BASE, at[5]);
	return p->wq && p->sdr && p->rdr && p->wdt && p->prq && p->nq &&
	       p->holes;
}

static void queues_free(struct hport *p)
{
	void *q[] = { p->wq, p->sdr, p->rdr, p->wdt, p->prq, (void *)p->nq };

	for (uint32_t i = 0; i < 6; i++)
		if (q[i])
			weft_mem_free(p->drv.host, q[i]);
	weft_host_free(p->drv.host, p->holes);
}

uint64_t hport_context_flags(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		uint64_t bit;
	} row[] = { { HPORT_ORDERED, HP_CTX_ORD },
		    { HPORT_RMA_NOTES, HP_CTX_RMA_NTF },
		    { HPORT_POSTED, HP_CTX_PR_EN },
		    { HPORT_POSTED_PA, HP_CTX_PR_PA },
		    { HPORT_IRQ, HP_CTX_IRQ_EN } };
	uint64_t w = HP_CTX_EN;

	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		if (flags & row[i].flag)
			w |= row[i].bit;
	return w;
}

static int port_open(struct hport *p, const struct hport_attr *a)
{
	uint64_t w[HP_WORDS] = { hport_context_flags(a->flags) };
	int vpid = hport_drv_vpid(&p->drv, a->vpid);

	if (vpid < 0)
		return vpid;
	p->vpid = (uint32_t)vpid;
	p->size = p->drv.kernel->sizes;
	p->hpid = (uint32_t)hport_drv_load(&p->drv, HP_R_HPID);
	if (!queues_new(p, w) ||
	    !weft_io_map(p->drv.host, p->drv.dev, HP_BAR_TRIGGER,
			 HP_TRIGGER_PAGE(p->vpid), HP_PAGE, WEFT_UC,
			 &p->page)) {
		queues_free(p);
		hport_drv_disable(&p->drv, p->vpid);
		return -ENOMEM;
	}
	hport_drv_enable(&p->drv, p->vpid, w);
	return 0;
}

int hport_open(struct weft_host *h, const struct hport_attr *a,
	       struct hport **p_p)
{
	static const struct hport_attr plain = { .vpid = -1 };
	struct hport *p = weft_host_calloc(h, 1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	a = a ? a : &plain;
	ret = hport_drv_open(h, &a->sizes, &p->drv);
	if (!ret) {
		ret = port_open(p, a);
		if (ret)
			hport_drv_close(&p->drv);
	}
	if (ret)
		weft_host_free(h, p);
	*p_p = ret ? NULL : p;
	return ret;
}

void hport_close(struct hport *p)
{
	struct weft_host *h = p->drv.host;
	struct hport_region *r = p->drv.kernel->regions, *next;

	hport_drv_disable(&p->drv, p->vpid);
	for (; r; r = next) {
		next = r->next;
		if (r->vpid == p->vpid)
			hport_drv_unmap(&p->drv, r);
	}
	for (uint32_t i = 0; i < p->size.wdt; i++)
		if (p->wdt[HP_WORDS * i + HP_WIN_FLAGS])
			hport_window_close(p, i);
	queues_free(p);
	weft_host_free(h, p->seg);
	hport_drv_close(&p->drv);
	weft_host_free(h, p);
}

uint32_t hport_vpid(const struct hport *p)
{
	return p->vpid;
}

uint32_t hport_hpid(const struct hport *p)
{
	return p->hpid;
}

struct hport_sizes hport_sizes_of(const struct hport *p)
{
	return p->size;
}

int hport_connect(struct hport *p, uint32_t node, uint32_t vpid,
		  struct hport_peer *to_p)
{
	int ret = hport_drv_route(&p->drv, node);
	const uint8_t *b = p->drv.kernel->rs + (size_t)HPORT_ROUTE * node;
	uint32_t len;

	if (ret)
		return ret;
	/* not more than there is: short routes stay in the NIC's cache */
	len = HP_RS_HEAD + b[HP_RS_NF] + 1u + b[HP_RS_NR];
	*to_p = (struct hport_peer){ HPORT_ROUTE * node, len, vpid };
	return 0;
}

/* ---- memory ------------------------------------------------------------ */

void *hport_alloc(struct hport *p, uint64_t bytes, uint64_t *va_p)
{
	struct hport_region *r;

	if (hport_drv_map(&p->drv, p->vpid, bytes, NULL, &r))
		return NULL;
	*va_p = r->va;
	return r->mem;
}

static struct hport_region *region_find(struct hport *p, const void *mem,
					uint64_t va)
{
	struct hport_region *r = p->drv.kernel->regions;

	while (r &&
	       (r->vpid != p->vpid ||
		(mem ? r->mem != mem : va < r->va || va >= r->va + r->bytes)))
		r = r->next;
	return r;
}

void hport_free(struct hport *p, void *mem)
{
	struct hport_region *r = mem ? region_find(p, mem, 0) : NULL;

	if (r)
		hport_drv_unmap(&p->drv, r);
}

int hport_map(struct hport *p, void *mem, uint64_t bytes, uint64_t *va_p)
{
	struct hport_region *r;
	int ret = hport_drv_map(&p->drv, p->vpid, bytes, mem, &r);

	if (!ret)
		*va_p = r->va + ((uintptr_t)mem - (uintptr_t)r->mem);
	return ret;
}

void hport_unmap(struct hport *p, uint64_t va)
{
	struct hport_region *r = region_find(p, NULL, va);

	if (r)
		hport_drv_unmap(&p->drv, r);
}

static uint64_t page_cache(struct hport *p, uint32_t op, uint64_t va,
			   uint64_t arg)
{
	return hport_drv_cache(&p->drv,
			       HP_CACHE_CMD(op, HP_CACHE_TLB, p->vpid, 1),
			       va / HP_PAGE, arg);
}

bool hport_page_out(struct hport *p, uint64_t va)
{
	struct hport_region *r = region_find(p, NULL, va);
	uint64_t i;

	if (!r || page_cache(p, HP_CACHE_REMOVE, va, 0) & HP_CACHE_PRESENT)
		return false;
	i = (va - r->va) / HP_PAGE;
	r->out[i / 64] |= 1ull << i % 64;
	return true;
}

void hport_page_in(struct hport *p, uint64_t va)
{
	page_cache(p, HP_CACHE_INSERT, va,
		   hport_drv_translate(&p->drv, p->vpid, va / HP_PAGE));
}

/* ---- windows ----------------------------------------------------------- */

static uint64_t *win_of(struct hport *p, uint32_t id)
{
	return id < p->size.wdt ? p->wdt + (size_t)HP_WORDS * id : NULL;
}

/* The device may have a copy: it must not use it any longer. */
static int win_changed(struct hport *p, uint32_t id)
{
	hport_drv_cache(&p->drv,
			HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_WIN, p->vpid, 1),
			id, 0);
	return 0;
}

int hport_window(struct hport *p, uint32_t id, uint64_t va, uint64_t bytes,
		 uint32_t rights, uint32_t capability)
{
	uint64_t *w = win_of(p, id);

	if (!w || va % 8)
		return -EINVAL;
	memset(w, 0, HP_LINE);
	w[HP_WIN_VA] = va;
	w[HP_WIN_LEN] = bytes;
	w[HP_WIN_FLAGS] = HP_WIN_EN | (rights & HPORT_READ ? HP_WIN_RD : 0) |
			  (rights & HPORT_WRITE ? HP_WIN_WR : 0) |
			  (rights & HPORT_OPEN ? HP_WIN_CAP_ANY : 0) |
			  capability;
	return win_changed(p, id);
}

int hport_window_close(struct hport *p, uint32_t id)
{
	uint64_t *w = win_of(p, id);

	if (!w)
		return -EINVAL;
	w[HP_WIN_FLAGS] = 0;
	return win_changed(p, id);
}

int hport_window_lock(struct hport *p, uint32_t id, uint32_t hpid,
		      uint32_t vpid)
{
	uint64_t *w = win_of(p, id);

	if (!w)
		return -EINVAL;
	w[HP_WIN_OWNER] = HP_WIN_OWNER_MAKE(hpid, vpid);
	w[HP_WIN_FLAGS] |= HP_WIN_LOCK;
	return win_changed(p, id);
}

int hport_window_unlock(struct hport *p, uint32_t id)
{
	uint64_t *w = win_of(p, id);

	if (!w)
		return -EINVAL;
	w[HP_WIN_FLAGS] &= ~HP_WIN_LOCK;
	return win_changed(p, id);
}

int hport_window_join(struct hport *p, uint32_t id, uint32_t after)
{
	uint64_t *w = win_of(p, id), *a = win_of(p, after);

	if (!w || !a || id == after)
		return -EINVAL;
	w[HP_WIN_PREV] = HP_WIN_LINK(after);
	w[HP_WIN_NEXT] = a[HP_WIN_NEXT];
	if (a[HP_WIN_NEXT] >> 63)
		win_of(p, (uint32_t)a[HP_WIN_NEXT])[HP_WIN_PREV] =
			HP_WIN_LINK(id);
	a[HP_WIN_NEXT] = HP_WIN_LINK(id);
	return 0;
}

/* Locks all neighbours in one direction; the list is as long as the table at
 * most. */
static void lock_side(struct hport *p, uint32_t id, uint32_t side,
		      uint32_t hpid, uint32_t vpid)
{
	uint64_t link = win_of(p, id)[side];

	for (uint32_t n = 0; link >> 63 && n < p->size.wdt; n++) {
		uint32_t at = (uint32_t)link;

		if (hport_window_lock(p, at, hpid, vpid))
			return;
		link = win_of(p, at)[side];
	}
}

int hport_window_lock_others(struct hport *p, uint32_t id, uint32_t hpid,
			     uint32_t vpid)
{
	if (!win_of(p, id))
		return -EINVAL;
	lock_side(p, id, HP_WIN_PREV, hpid, vpid);
	lock_side(p, id, HP_WIN_NEXT, hpid, vpid);
	return 0;
}
