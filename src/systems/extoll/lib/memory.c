/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's part of the RMA: entries of the translation table, ATU commands,
 * processes. See memory.h. */
#include "systems/extoll/lib/memory.h"

#include <errno.h>
#include <string.h>

#include "host/times.h"

const struct xmem_group xmem_groups[XMEM_GROUPS] = {
	[XMEM_SMALL] = { 0, 65536, 16 },
	[XMEM_MEDIUM] = { 65536, 65536, 512 },
	[XMEM_LARGE] = { 131072, 131072, ATU_GATES },
};

/* ---- one process at a time ---- */

static void kern_enter(struct xmem *m)
{
	while (m->kern->busy)
		host_nap(m->host, T_extoll_kernel_turn);
	m->kern->busy = true;
}

/* ---- consecutive entries ---- */

static void entries_mark(struct xmem_kern *k, uint32_t first, uint32_t n,
			 bool taken)
{
	for (uint32_t i = first; i < first + n; i++)
		k->taken[i / 32] = (k->taken[i / 32] & ~(1u << (i % 32))) |
				   (uint32_t)taken << (i % 32);
}

/* Returns the first of n consecutive free entries, or ATU_GATES if there are
 * none. Searches the groups whose regions may have n pages, the group of the
 * smallest regions first. */
static uint32_t entries_find(const struct xmem_kern *k, uint64_t n)
{
	for (uint32_t i = 0; i < XMEM_GROUPS; i++) {
		const struct xmem_group *g = &xmem_groups[i];
		uint32_t end = g->first + g->n, run = 0;

		for (uint32_t at = g->first; n <= g->max && at < end; at++) {
			run = k->taken[at / 32] >> at % 32 & 1 ? 0 : run + 1;
			if (run == n)
				return at + 1 - run;
		}
	}
	return ATU_GATES;
}

/* ---- ATU ---- */

/* Waits until the ATU has finished all commands so far. */
static void atu_notified(struct xmem *m)
{
	struct xmem_kern *k = m->kern;

	xmem_rf(m, EXTOLL_ATU_COMMAND, ATU_CMD_TELL(ATU_NOTIFY, k->word_phys));
	while (!*k->word)
		weft_host_poll64(m->host, k->word, 0, WEFT_NEVER);
}

/* ---- state of the node ---- */

static void kern_free(struct weft_host *h, struct xmem_kern *k)
{
	void *part[] = { k->gat, k->taken, k->locks, (void *)k->word, k };

	for (uint32_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (part[i])
			weft_mem_free(h, part[i]);
}

/* Attaches the process to the node's state. The first process creates that
 * state. */
static int kern_get(struct xmem *m)
{
	struct xmem_kern *k = m->drv.kernel->rma;
	weft_phys_t phys;

	if (!k) {
		k = weft_mem_alloc(m->host, sizeof(*k), 64, &phys);
		if (!k)
			return -ENOMEM;
		k->gat = weft_mem_alloc(m->host, ATU_GAT_BYTES, ATU_GAT_BYTES,
					&k->gat_phys);
		k->taken = weft_mem_alloc(m->host, ATU_GATES / 8, 64, &phys);
		k->locks = weft_mem_alloc(m->host, RMA_VPIDS * XMEM_LOCKS * 4,
					  64, &k->locks_phys);
		k->word = weft_mem_alloc(m->host, 64, 64, &k->word_phys);
		if (!k->gat || !k->taken || !k->locks || !k->word) {
			kern_free(m->host, k);
			return -ENOMEM;
		}
		m->kern = m->drv.kernel->rma = k;
		xmem_rf(m, EXTOLL_ATU_GAT, ATU_BASE_MAKE(k->gat_phys));
		xmem_rf(m, EXTOLL_ATU_ENABLE, 1);
		xmem_rf(m, EXTOLL_RMA_LOCK_BASE, k->locks_phys);
		xmem_rf(m, EXTOLL_RMA_LOCK_N, XMEM_LOCKS);
	}
	m->kern = k;
	k->users++;
	return 0;
}

/* ---- processes ---- */

static int xmem_attach(struct xmem *m)
{
	weft_phys_t phys;
	int ret;
	uint32_t v;

	m->ring = weft_mem_alloc(m->host, (size_t)m->slots * RMA_NOTI_BYTES, 64,
				 &phys);
	if (!m->ring)
		return -ENOMEM;
	ret = extoll_drv_vpid(&m->drv, -1);
	if (ret < 0)
		goto free_ring;
	m->vpid = (uint32_t)ret;
	extoll_drv_lock(&m->drv);
	ret = kern_get(m);
	extoll_drv_unlock(&m->drv);
	if (ret)
		goto free_vpid;
	v = m->vpid;
	memset(&m->kern->locks[v * XMEM_LOCKS], 0, XMEM_LOCKS * 4);
	xmem_rf(m, EXTOLL_RMA_BASE + 8 * v, phys);
	xmem_rf(m, EXTOLL_RMA_SIZE + 8 * v, m->slots);
	xmem_rf(m, EXTOLL_RMA_VPID + 8 * v,
		RMA_V_ENABLE | RMA_V_INT | RMA_V_TC_ALL);
	return 0;
free_vpid:
	extoll_drv_vpid_free(&m->drv, m->vpid);
free_ring:
	weft_mem_free(m->host, (void *)m->ring);
	return ret;
}

int xmem_open(struct xmem *m, struct weft_host *h, uint32_t slots)
{
	int ret;

	*m = (struct xmem){ .host = h, .slots = slots, .memlock = UINT64_MAX };
	ret = extoll_drv_open(h, &m->drv);
	if (ret)
		return ret;
	ret = xmem_attach(m);
	if (ret)
		extoll_drv_close(&m->drv);
	return ret;
}

void xmem_close(struct xmem *m)
{
	struct xmem_kern *k = m->kern;

	kern_enter(m);
	/* Waits until the NIC holds no command of this process. A remaining
	 * command would act on the next process that gets this VPID. */
	extoll_drv_drain(&m->drv);
	xmem_rf(m, EXTOLL_RMA_VPID + 8 * m->vpid, 0);
	while (extoll_drv_load(&m->drv, EXTOLL_RMA_PENDING + 8 * m->vpid))
		weft_host_cpu(m->host, weft_host_time(m->host, T_extoll_retry));
	/* Clears all entries of the process, also those of regions that it did
	 * not unregister. */
	for (uint32_t i = 0; i < ATU_GATES; i++) {
		if (!k->gat[i] || GATE_VPID(k->gat[i]) != m->vpid)
			continue;
		k->gat[i] = 0;
		entries_mark(k, i, 1, false);
	}
	*k->word = 0;
	xmem_rf(m, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH_VPID(m->vpid));
	atu_notified(m);
	xmem_rf(m, EXTOLL_RMA_SIZE + 8 * m->vpid, 0);
	m->kern->busy = false;
	extoll_drv_lock(&m->drv);
	if (!--k->users) { /* the last process removes the node's state */
		xmem_rf(m, EXTOLL_ATU_ENABLE, 0);
		xmem_rf(m, EXTOLL_ATU_GAT, 0);
		xmem_rf(m, EXTOLL_RMA_LOCK_N, 0);
		m->drv.kernel->rma = NULL;
		kern_free(m->host, k);
	}
	extoll_drv_unlock(&m->drv);
	weft_mem_free(m->host, (void *)m->ring);
	extoll_drv_vpid_free(&m->drv, m->vpid);
	extoll_drv_close(&m->drv);
}

/* ---- regions ---- */

int xmem_register(struct xmem *m, void *p, size_t len, struct xmem_region *r)
{
	weft_phys_t phys, end;
	uint64_t pages;
	int ret = 0;

	if (!len)
		return -EINVAL;
	/* refuse memory that is not physically contiguous, because the entries
	 * below assume it */
	if (!weft_mem_phys(m->host, p, &phys) ||
	    !weft_mem_phys(m->host, (uint8_t *)p + len - 1, &end) ||
	    end != phys + len - 1)
		return -EFAULT;
	pages = (phys % RMA_PAGE + len + RMA_PAGE - 1) / RMA_PAGE;
	if (m->pinned + pages * RMA_PAGE > m->memlock)
		return -EPERM;
	kern_enter(m);
	r->entry = entries_find(m->kern, pages);
	if (r->entry == ATU_GATES) {
		ret = -ENOMEM;
	} else {
		r->start = p;
		r->len = len;
		r->pages = (uint32_t)pages;
		r->nla = NLA_MAKE(0, r->entry, phys % RMA_PAGE);
		entries_mark(m->kern, r->entry, r->pages, true);
		for (uint32_t i = 0; i < r->pages; i++)
			m->kern->gat[r->entry + i] =
				GATE_MAKE(GATE_RW, m->vpid,
					  phys + (uint64_t)i * RMA_PAGE);
		m->pinned += pages * RMA_PAGE;
	}
	m->kern->busy = false;
	return ret;
}

void xmem_unregister(struct xmem *m, struct xmem_region *r)
{
	struct xmem_kern *k = m->kern;
	uint32_t first = r->entry, n = r->pages;

	kern_enter(m);
	for (uint32_t i = 0; i < r->pages; i++)
		k->gat[r->entry + i] = 0;
	/* flush all pages, and wait until no access uses them */
	while (n) {
		*k->word = 0;
		for (uint32_t i = 0; i < 8 && n; i++) {
			uint32_t c = n < ATU_FLUSH_MAX ? n : ATU_FLUSH_MAX;

			xmem_rf(m, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH(first, c));
			first += c;
			n -= c;
		}
		atu_notified(m);
	}
	entries_mark(m->kern, r->entry, r->pages, false);
	m->pinned -= (uint64_t)r->pages * RMA_PAGE;
	m->kern->busy = false;
	r->pages = 0;
}
