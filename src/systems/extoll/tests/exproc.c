/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the RMA: see exproc.h. */
#include "exproc.h"

#include <assert.h>
#include <string.h>

void exproc_set(struct exproc *p, uint32_t off, uint64_t val)
{
	weft_io_store64(p->h, &p->rf, off, val);
}

uint64_t exproc_get(struct exproc *p, uint32_t off)
{
	return weft_io_load64(p->h, &p->rf, off);
}

static void exproc_memory(struct exproc *p)
{
	struct weft_host *h = p->h;

	p->buf = weft_mem_alloc(h, EXPROC_PAGES * RMA_PAGE, RMA_PAGE,
				&p->buf_phys);
	p->gat = weft_mem_alloc(h, ATU_GAT_BYTES, ATU_GAT_BYTES, &p->gat_phys);
	p->lock = weft_mem_alloc(h, RMA_VPIDS * 4 * 4, 64, &p->lock_phys);
	p->word = weft_mem_alloc(h, 64, 64, &p->word_phys);
	p->ring = weft_mem_alloc(h, EXPROC_SLOTS * RMA_NOTI_BYTES, 64,
				 &p->ring_phys);
	assert(p->buf && p->gat && p->lock && p->word && p->ring);
	for (uint32_t i = 0; i < EXPROC_PAGES; i++)
		p->gat[i] =
			GATE_MAKE(GATE_RW, p->vpid, p->buf_phys + i * RMA_PAGE);
}

static void exproc_registers(struct exproc *p)
{
	exproc_set(p, EXTOLL_INTERVAL_LOWER + EXTOLL_INTERVAL_STRIDE,
		   EXTOLL_RMA);
	exproc_set(p, EXTOLL_INTERVAL_UPPER + EXTOLL_INTERVAL_STRIDE,
		   EXTOLL_RMA + EXTOLL_RMA_BYTES - 1);
	exproc_set(p, EXTOLL_INTERVAL_TARGET + EXTOLL_INTERVAL_STRIDE,
		   EXTOLL_HX_RMA_REQ | EXTOLL_INTERVAL_ENABLE);
	exproc_set(p, EXTOLL_ATU_GAT, ATU_BASE_MAKE(p->gat_phys));
	exproc_set(p, EXTOLL_ATU_ENABLE, 1);
	exproc_set(p, EXTOLL_RMA_LOCK_BASE, p->lock_phys);
	exproc_set(p, EXTOLL_RMA_LOCK_N, 4);
	exproc_set(p, EXTOLL_RMA_BASE + 8 * p->vpid, p->ring_phys);
	exproc_set(p, EXTOLL_RMA_SIZE + 8 * p->vpid, p->slots);
	exproc_set(p, EXTOLL_RMA_VPID + 8 * p->vpid,
		   RMA_V_ENABLE | RMA_V_TC_ALL);
}

void exproc_open(struct exproc *p, struct weft_host *h, uint32_t vpid)
{
	memset(p, 0, sizeof(*p));
	p->h = h;
	p->vpid = vpid;
	p->slots = EXPROC_SLOTS;
	p->dev = weft_dev_open(h, 0);
	assert(p->dev);
	weft_cfg_store(h, p->dev, EXTOLL_CFG_COMMAND, 2,
		       EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER);
	assert(weft_io_map(h, p->dev, EXTOLL_BAR, EXTOLL_RF, EXTOLL_RF_BYTES,
			   WEFT_UC, &p->rf));
	for (uint32_t opt = 0; opt < 32; opt++)
		assert(weft_io_map(h, p->dev, EXTOLL_BAR,
				   extoll_rma_page(opt, vpid), EXTOLL_PAGE,
				   WEFT_WC, &p->page[opt]));
	exproc_memory(p);
	exproc_registers(p);
	/* a load returns after all stores have arrived */
	exproc_get(p, EXTOLL_NODE_ID);
}

void exproc_post(struct exproc *p, uint32_t opt, uint64_t w0, uint64_t w1,
		 uint64_t w2)
{
	uint64_t d[3] = { w0, w1, w2 };

	weft_io_copy(p->h, &p->page[opt], 0, d, sizeof(d));
	weft_io_fence(p->h);
}

void exproc_rp(struct exproc *p)
{
	exproc_set(p, EXTOLL_RMA_RP + p->vpid * RMA_PAGE, p->rp);
}

bool exproc_noti(struct exproc *p, uint64_t *w0, uint64_t *w1)
{
	volatile uint64_t *n = &p->ring[2 * p->rp];

	while (!n[1])
		if (!weft_host_poll64(p->h, &n[1], 0,
				      weft_host_now(p->h) + 100 * WEFT_US))
			return false;
	*w0 = n[0];
	*w1 = n[1];
	n[1] = 0;
	p->rp = (p->rp + 1) % p->slots;
	exproc_rp(p);
	return true;
}

void exproc_flush(struct exproc *p, uint32_t page, uint32_t n)
{
	*p->word = 0;
	exproc_set(p, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH(page, n));
	exproc_set(p, EXTOLL_ATU_COMMAND,
		   ATU_CMD_TELL(ATU_NOTIFY, p->word_phys));
	while (!*(volatile uint64_t *)p->word)
		weft_host_poll64(p->h, p->word, 0, WEFT_NEVER);
}
