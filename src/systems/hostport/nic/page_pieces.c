/* SPDX-License-Identifier: Apache-2.0 */
/* Walk over a range of host memory, page by page (hostport.md 8.2 step 8, 8.8).
 *
 * Physical memory is one range, or two if it wraps at the end of a ring.
 * Virtual memory is translated ahead of its use, by as many pages as the unit's
 * list holds. Each page is translated once. A page is in use until the unit
 * releases it (hp_walk_past). After a fault no further translation is
 * requested. */
#include <assert.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/functional_units.h"

void hp_walk_ring(struct hp_walk *w, weft_phys_t base, uint64_t size,
		  uint64_t off, uint32_t bytes)
{
	hp_walk_phys(w, base + off, bytes);
	if (off + bytes > size)
		w->first = (uint32_t)(size - off);
	w->pa[1] = base;
}

/* ---- virtual ---- */

static void walk_ask(struct hp_nic *n, struct hp_walk *w);

static void page_done(struct hp_nic *n, struct hp_xlate *x)
{
	struct hp_walk *w = x->arg;
	uint32_t page = (uint32_t)(x->vpage - w->va / HP_PAGE);

	w->out--;
	w->asking[x - w->ask] = false;
	w->at[page % w->room] = x->ppage;
	if (x->fault && page < w->fault)
		w->fault = page;
	walk_ask(n, w);
	w->go(n, w->arg);
}

static void page_missed(struct hp_nic *n, struct hp_xlate *x)
{
	struct hp_walk *w = x->arg;

	if (w->missed)
		w->missed(n, w->arg);
}

static void walk_ask(struct hp_nic *n, struct hp_walk *w)
{
	while (w->asked < w->pages && w->asked - w->low < w->room &&
	       w->out < HP_AHEAD && w->fault == UINT32_MAX) {
		struct hp_xlate *x;
		uint32_t i = 0;

		while (w->asking[i])
			i++;
		w->asking[i] = true;
		x = &w->ask[i];
		x->vpage = w->va / HP_PAGE + w->asked;
		w->at[w->asked++ % w->room] = HP_WALK_NONE;
		w->out++;
		hp_tlb_get(n, x);
	}
}

void hp_walk_virt(struct hp_nic *n, struct hp_walk *w, uint32_t vpid,
		  uint64_t va, uint32_t bytes, bool write)
{
	assert(!w->virtual);
	w->virtual = true;
	w->va = va;
	w->vpid = (uint16_t)vpid;
	w->bytes = bytes;
	w->fault = UINT32_MAX;
	w->low = w->asked = w->out = 0;
	w->pages = bytes ? (uint32_t)((va % HP_PAGE + bytes + HP_PAGE - 1) /
				      HP_PAGE)
			 : 0;
	w->room = HP_AHEAD;
	w->at = w->some;
	/* allocates a list, because some[] is too short */
	if (w->pages > w->room) {
		w->room = w->pages < n->param.list_pages ? w->pages
							 : n->param.list_pages;
		w->at = w->list = need(malloc(w->room * sizeof(*w->list)));
	}
	for (uint32_t i = 0; i < HP_AHEAD; i++)
		w->ask[i] = (struct hp_xlate){ .vpid = (uint16_t)vpid,
					       .write = write,
					       .done = page_done,
					       .missed = page_missed,
					       .arg = w };
	hp_tlb_use(n, w);
	walk_ask(n, w);
}

/* ---- use ---- */

enum hp_step hp_walk_at(const struct hp_walk *w, uint32_t off,
			weft_phys_t *pa_p, uint32_t *left_p)
{
	uint64_t at = w->va % HP_PAGE + off;
	uint32_t page = (uint32_t)(at / HP_PAGE);

	if (!w->virtual) {
		bool first = off < w->first;

		*pa_p = first ? w->pa[0] + off : w->pa[1] + off - w->first;
		*left_p = first ? w->first - off : w->bytes - off;
		return HP_STEP_READY;
	}
	if (page >= w->fault)
		return HP_STEP_FAULT;
	if (page >= w->asked || w->at[page % w->room] == HP_WALK_NONE)
		return HP_STEP_WAIT;
	*pa_p = w->at[page % w->room] * HP_PAGE + at % HP_PAGE;
	*left_p = HP_PAGE - (uint32_t)(at % HP_PAGE);
	return HP_STEP_READY;
}

void hp_walk_past(struct hp_nic *n, struct hp_walk *w, uint32_t off)
{
	uint32_t page;

	if (!w->virtual)
		return;
	page = (uint32_t)((w->va % HP_PAGE + off) / HP_PAGE);
	w->low = page < w->asked ? page : w->asked;
	walk_ask(n, w);
}

void hp_walk_end(struct hp_nic *n, struct hp_walk *w)
{
	if (!w->virtual)
		return;
	hp_tlb_unuse(n, w);
	free(w->list);
	w->at = w->list = NULL;
	w->virtual = false;
}
