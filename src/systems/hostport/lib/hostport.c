/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port user library, see weft/hostport.h: opens ports, and manages memory
 * and windows. */
#include "systems/hostport/lib/hostport_internal.h"

#include <errno.h>
#include <string.h>

/* ---- opening ---- */

static int hostport_trap(struct hport *p, uint32_t op, void *arg)
{
	return weft_drv_call(p->drv.host, p->drv.dev, op, arg);
}

static int port_open(struct hport *p, const struct hport_attr *attr)
{
	struct hport_c_open a = { .sizes = attr->sizes,
				  .vpid = attr->vpid,
				  .flags = attr->flags };
	void *queue[HPORT_QUEUES];
	bool there = true;
	int ret = hport_drv_call(p->drv.host, p->drv.dev, HPORT_C_OPEN, &a);

	if (ret)
		return ret;
	p->vpid = (uint32_t)a.vpid;
	p->hpid = a.hpid;
	p->size = a.sizes;
	p->page = (struct weft_io){ .dev = p->drv.dev,
				    .off = a.page,
				    .len = HP_PAGE,
				    .bar = (uint8_t)a.bar,
				    .attr = WEFT_UC };
	p->info = p->page;
	p->info.off = a.info;
	p->info.bar = a.bar ? HP_BAR_INFO : 0;
	for (uint32_t i = 0; i < HPORT_QUEUES; i++) {
		queue[i] = weft_mem_at(p->drv.host, a.queue[i],
				       hport_queue_bytes(&a.sizes, i));
		there &= queue[i] != NULL;
	}
	p->wq = queue[0];
	p->sdr = queue[1];
	p->rdr = queue[2];
	p->wdt = queue[3];
	p->prq = queue[4];
	p->nq = queue[5];
	p->holes = weft_host_calloc(p->drv.host, p->size.nq, sizeof(*p->holes));
	if (there && p->holes)
		return 0;
	hostport_trap(p, HPORT_C_CLOSE, &(struct hport_c_vpid){ p->vpid });
	return -ENOMEM;
}

int hport_open(struct weft_host *h, const struct hport_attr *a,
	       struct hport **p_p)
{
	static const struct hport_attr plain = { .vpid = -1 };
	struct hport *p = weft_host_calloc(h, 1, sizeof(*p));
	int ret;

	*p_p = NULL;
	if (!p)
		return -ENOMEM;
	p->drv.host = h;
	p->drv.dev = weft_dev_open(h, 0);
	ret = p->drv.dev ? port_open(p, a ? a : &plain) : -ENODEV;
	if (ret) {
		weft_host_free(h, p->holes);
		weft_host_free(h, p);
	} else {
		*p_p = p;
	}
	return ret;
}

void hport_close(struct hport *p)
{
	struct weft_host *h = p->drv.host;

	hostport_trap(p, HPORT_C_CLOSE, &(struct hport_c_vpid){ p->vpid });
	weft_host_free(h, p->holes);
	weft_host_free(h, p->seg);
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

uint64_t hport_info(struct hport *p, uint32_t off)
{
	return weft_io_load64(p->drv.host, &p->info, off);
}

struct hport_sizes hport_sizes_of(const struct hport *p)
{
	return p->size;
}

int hport_connect(struct hport *p, uint32_t node, uint32_t vpid,
		  struct hport_peer *to_p)
{
	struct hport_c_route a = { .node = node, .vpid = vpid };
	int ret = hostport_trap(p, HPORT_C_ROUTE, &a);

	if (!ret)
		*to_p = (struct hport_peer){ a.off, a.len, vpid, a.epoch };
	return ret;
}

/* ---- memory ---- */

void *hport_alloc(struct hport *p, uint64_t bytes, uint64_t *va_p)
{
	struct hport_c_mem a = { .vpid = p->vpid, .bytes = bytes };
	void *mem;

	if (hostport_trap(p, HPORT_C_MAP, &a))
		return NULL;
	mem = weft_mem_at(p->drv.host, a.phys, bytes);
	if (!mem)
		hostport_trap(p, HPORT_C_UNMAP, &a);
	*va_p = a.va;
	return mem;
}

void hport_free(struct hport *p, void *mem)
{
	struct hport_c_mem a = { .vpid = p->vpid };

	if (mem && weft_mem_phys(p->drv.host, mem, &a.phys))
		hostport_trap(p, HPORT_C_FREE, &a);
}

int hport_map(struct hport *p, void *mem, uint64_t bytes, uint64_t *va_p)
{
	struct hport_c_mem a = { .vpid = p->vpid, .bytes = bytes };
	int ret = -EFAULT;

	if (weft_mem_phys(p->drv.host, mem, &a.phys) && a.phys)
		ret = hostport_trap(p, HPORT_C_MAP, &a);
	if (!ret)
		*va_p = a.va;
	return ret;
}

void hport_unmap(struct hport *p, uint64_t va)
{
	struct hport_c_mem a = { .vpid = p->vpid, .va = va };

	hostport_trap(p, HPORT_C_UNMAP, &a);
}

bool hport_page_out(struct hport *p, uint64_t va)
{
	struct hport_c_mem a = { .vpid = p->vpid, .va = va };

	return !hostport_trap(p, HPORT_C_PAGE_OUT, &a);
}

void hport_page_in(struct hport *p, uint64_t va)
{
	struct hport_c_mem a = { .vpid = p->vpid, .va = va };

	hostport_trap(p, HPORT_C_PAGE_IN, &a);
}

/* ---- windows ---- */

static uint64_t *win_of(struct hport *p, uint32_t id)
{
	return id < p->size.wdt ? p->wdt + (size_t)HP_WORDS * id : NULL;
}

/* Removes the device's copy of a window descriptor, because the device may have
 * cached it. */
static int win_changed(struct hport *p, uint32_t id)
{
	return hostport_trap(p, HPORT_C_WINDOW,
			     &(struct hport_c_win){ p->vpid, id });
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

int hport_window_lock_others(struct hport *p, uint32_t id, uint32_t hpid,
			     uint32_t vpid)
{
	static const uint32_t side[] = { HP_WIN_PREV, HP_WIN_NEXT };

	if (!win_of(p, id))
		return -EINVAL;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t link = win_of(p, id)[side[i]];

		/* Stops after as many links as the table has entries, because a
		 * list that the process damaged may be circular. */
		for (uint32_t n = 0; link >> 63 && n < p->size.wdt; n++) {
			uint32_t at = (uint32_t)link;

			if (hport_window_lock(p, at, hpid, vpid))
				break;
			link = win_of(p, at)[side[i]];
		}
	}
	return 0;
}
