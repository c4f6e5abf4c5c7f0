/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of host memory, page by page (hostport.md 8.2 step 8, 8.8).
 *
 * Physical memory is one piece, or two where a ring wraps.  Virtual memory is
 * translated a few pages ahead of its use, each page once; a translation is in
 * use until the page has been passed.  After a fault no more is asked for. */
#include "nic/hostport/units.h"

void hp_walk_phys(struct hp_walk *w, weft_phys_t pa, uint32_t bytes)
{
	w->virtual = false;
	w->fault = UINT32_MAX;
	w->bytes = w->first = bytes;
	w->pa[0] = pa;
}

void hp_walk_ring(struct hp_walk *w, weft_phys_t base, uint64_t size,
		  uint64_t off, uint32_t bytes)
{
	hp_walk_phys(w, base + off, bytes);
	if (off + bytes > size)
		w->first = (uint32_t)(size - off);
	w->pa[1] = base;
}

/* ---- virtual ----------------------------------------------------------- */

static void page_done(struct hp_nic *n, struct hp_xlate *x)
{
	struct hp_walk *w = x->arg;
	uint32_t slot = (uint32_t)(x - w->page);
	uint32_t page = (uint32_t)(x->vpage - w->va / HP_PAGE);

	w->out--;
	w->here[slot] = true;
	if (x->fault && page < w->fault)
		w->fault = page;
	w->go(n, w);
}

static void page_missed(struct hp_nic *n, struct hp_xlate *x)
{
	struct hp_walk *w = x->arg;

	if (w->missed)
		w->missed(n, w);
}

static void walk_ask(struct hp_nic *n, struct hp_walk *w)
{
	uint32_t ahead = hp_tlb_ahead(n);

	while (w->asked < w->pages && w->asked - w->low < ahead &&
	       w->fault == UINT32_MAX) {
		uint32_t slot = w->asked % HP_AHEAD;

		w->page[slot].vpage = w->va / HP_PAGE + w->asked++;
		w->here[slot] = false;
		w->out++;
		hp_tlb_get(n, &w->page[slot]);
	}
}

void hp_walk_virt(struct hp_nic *n, struct hp_walk *w, uint32_t vpid,
		  uint64_t va, uint32_t bytes, bool write)
{
	w->virtual = true;
	w->va = va;
	w->bytes = bytes;
	w->fault = UINT32_MAX;
	w->low = w->asked = w->out = 0;
	w->pages = bytes ? (uint32_t)((va % HP_PAGE + bytes + HP_PAGE - 1) /
				      HP_PAGE)
			 : 0;
	for (uint32_t i = 0; i < HP_AHEAD; i++)
		w->page[i] = (struct hp_xlate){ .vpid = (uint16_t)vpid,
						.write = write,
						.done = page_done,
						.missed = page_missed,
						.arg = w,
						.entry = UINT32_MAX };
	walk_ask(n, w);
}

static enum hp_step virt_at(const struct hp_walk *w, uint32_t off,
			    weft_phys_t *pa_p, uint32_t *left_p)
{
	uint64_t at = w->va % HP_PAGE + off;
	uint32_t page = (uint32_t)(at / HP_PAGE), slot = page % HP_AHEAD;

	if (page >= w->fault)
		return HP_STEP_FAULT;
	if (page >= w->asked || !w->here[slot])
		return HP_STEP_WAIT;
	*pa_p = w->page[slot].ppage * HP_PAGE + at % HP_PAGE;
	*left_p = HP_PAGE - (uint32_t)(at % HP_PAGE);
	return HP_STEP_READY;
}

/* ---- use --------------------------------------------------------------- */

enum hp_step hp_walk_at(const struct hp_walk *w, uint32_t off,
			weft_phys_t *pa_p, uint32_t *left_p)
{
	if (w->virtual)
		return virt_at(w, off, pa_p, left_p);
	*pa_p = off < w->first ? w->pa[0] + off : w->pa[1] + off - w->first;
	*left_p = off < w->first ? w->first - off : w->bytes - off;
	return HP_STEP_READY;
}

void hp_walk_past(struct hp_nic *n, struct hp_walk *w, uint32_t off)
{
	uint32_t page;

	if (!w->virtual)
		return;
	page = (uint32_t)((w->va % HP_PAGE + off) / HP_PAGE);
	while (w->low < page && w->low < w->asked)
		hp_tlb_put(n, &w->page[w->low++ % HP_AHEAD]);
	walk_ask(n, w);
}

void hp_walk_end(struct hp_nic *n, struct hp_walk *w)
{
	if (!w->virtual)
		return;
	while (w->low < w->asked)
		hp_tlb_put(n, &w->page[w->low++ % HP_AHEAD]);
	w->pages = w->asked;
}
