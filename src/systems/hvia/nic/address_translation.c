/* SPDX-License-Identifier: Apache-2.0 */
/* Address translation of HVIA-GE (hvia.md 3.2, 3.3, 3.5, 3.6, 7.3): the table
 * in SDRAM, the look-up of both levels, moves of level-2 entries.
 *
 * A look-up takes 14 cycles of computing (index 4, check 8, add 2), 9 cycles
 * for level 1 and 7 for level 2. Each further page takes 7 + 2. With
 * CTRL.ATT_HOST the look-up reads the entries of 24 and 4 bytes from host
 * memory instead. One look-up runs at a time, and look-ups of the receive
 * engine have priority.
 *
 * Not modelled: refresh of the SDRAM, its rows. Stores of the host do not delay
 * look-ups. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "systems/hvia/nic/nic.h"

enum { CHUNK = HVIA_SDRAM_BYTES / 1024, L2_MAX = HVIA_SDRAM_BYTES / 4 };

static const enum hv_unit owner_unit[HV_OWNERS] = {
	[HV_RECV] = HV_U_RECV, [HV_SEND] = HV_U_SEND
};

/* ---- SDRAM ---- */

uint8_t *hv_sdram(struct hv_nic *n, uint32_t addr)
{
	uint8_t **chunk = &n->att.sdram[addr / CHUNK % 1024];

	if (!*chunk)
		*chunk = calloc(1, CHUNK);
	if (!*chunk)
		abort();
	return *chunk + addr % CHUNK;
}

uint64_t hv_sdram_load(struct hv_nic *n, uint32_t addr)
{
	uint64_t v;

	memcpy(&v, hv_sdram(n, addr & ~7u), 8);
	return v;
}

void hv_sdram_store(struct hv_nic *n, uint32_t addr, uint64_t val)
{
	memcpy(hv_sdram(n, addr & ~7u), &val, 8);
}

static uint32_t l2_load(struct hv_nic *n, uint32_t i)
{
	uint32_t v;

	memcpy(&v, hv_sdram(n, hvia_l2_addr(i)), 4);
	return v;
}

void hv_l2_store(struct hv_nic *n, uint64_t val)
{
	uint32_t i = (uint32_t)(val >> 32), page = (uint32_t)val;

	if (i < L2_MAX)
		memcpy(hv_sdram(n, hvia_l2_addr(i)), &page, 4);
	else
		hv_count(n, HV_K_BAD_ACCESS);
}

/* ---- look-up, one function for each step of 3.6 ---- */

static void address_translation_go(struct hv_nic *n, enum hv_att_state s,
				   uint32_t cycles)
{
	n->att.state = s;
	hv_wake(n, HV_U_ATT, cycles);
}

static void address_translation_finish(struct hv_nic *n, bool ok)
{
	struct hv_xlate *x = &n->att.x[n->att.owner];

	x->ok = ok;
	x->pending = false;
	if (ok && x->n_piece == 1) {
		n->att.singles++;
		n->att.spent += weft_now(n->comp) - n->att.begun;
	}
	if (!ok)
		hv_count(n, HV_K_REFUSED);
	hv_wake(n, owner_unit[n->att.owner], 0);
	address_translation_go(n, ATT_IDLE, 0);
}

/* Starts the next look-up: step 1, after which the level-1 entry is
 * requested. */
static void att_idle(struct hv_nic *n)
{
	struct hv_att *a = &n->att;

	for (a->owner = 0; a->owner < HV_OWNERS; a->owner++)
		if (a->x[a->owner].pending)
			break;
	if (a->owner == HV_OWNERS)
		return;
	hv_count(n, HV_K_TRANSLATIONS);
	a->begun = weft_now(n->comp);
	if (n->ctrl & HVIA_CTRL_ATT_HOST)
		address_translation_go(n, ATT_L1, n->p.t_index);
	else
		address_translation_go(n, ATT_CHECK, n->p.t_index + n->p.t_l1);
}

/* Requests the level-1 entry from a table in host memory once its index is
 * computed. */
static void att_l1(struct hv_nic *n)
{
	struct hv_att *a = &n->att;
	uint32_t h = a->x[a->owner].handle;

	if (h >= a->l1_count) {
		address_translation_finish(n, false);
		return;
	}
	a->state = ATT_CHECK;
	hv_dma_read(n, &a->dma, a->host_l1 + (uint64_t)h * HVIA_L1_BYTES,
		    HVIA_L1_BYTES);
}

/* Runs steps 3 to 5. Returns false if the access is not allowed. A doorbell's
 * offset counts from the multiple of 64 at or below the start of the region,
 * because descriptors are aligned and regions are not. */
static bool address_translation_check(struct hv_att *a)
{
	const struct hvia_l1 *e = &a->e;
	struct hv_xlate *x = &a->x[a->owner];
	uint64_t va = x->by_offset ? hvia_desc_base(e->va) + x->va : x->va;
	uint64_t off = va - e->va;

	if (!e->pages || HVIA_ATT_PTAG(e->attr) != x->ptag ||
	    (x->remote && !(e->attr & HVIA_ATT_RDMA_WRITE)))
		return false;
	if (off > e->length || x->len > e->length - off)
		return false;
	x->va = va;
	if (off < e->first) {
		a->k = 0;
		a->inpage = (uint32_t)(HVIA_PAGE - e->first + off);
	} else {
		a->k = (uint32_t)(1 + (off - e->first) / HVIA_PAGE);
		a->inpage = (uint32_t)((off - e->first) % HVIA_PAGE);
	}
	return e->first && e->first <= HVIA_PAGE;
}

/* Requests level-2 entry k after `before` cycles of computing. From a table on
 * the card, the entry arrives before state ATT_ADD. From a table in host
 * memory, state ATT_L2 reads the entry. */
static void ask_l2(struct hv_nic *n, uint32_t before)
{
	if (n->ctrl & HVIA_CTRL_ATT_HOST)
		address_translation_go(n, ATT_L2, before);
	else
		address_translation_go(n, ATT_ADD,
				       before + n->p.t_l2 + n->p.t_add);
}

static void att_check(struct hv_nic *n)
{
	struct hv_att *a = &n->att;
	uint32_t h = a->x[a->owner].handle;
	bool ok = h < a->l1_count;
	uint64_t w[3];

	if (a->dma.txn.data.buf) {
		ok = hv_dma_take(&a->dma, &a->e);
		/* reads by quadwords, because 24 bytes may lie in two chunks */
	} else if (ok) {
		for (uint32_t i = 0; i < 3; i++)
			w[i] = hv_sdram_load(n, hvia_l1_addr(h) + 8 * i);
		memcpy(&a->e, w, sizeof(w));
	}
	if (!ok || !address_translation_check(a)) {
		address_translation_finish(n, false);
		return;
	}
	a->left = a->x[a->owner].len;
	a->x[a->owner].n_piece = 0;
	ask_l2(n, n->p.t_lcheck);
}

/* Returns true if page k is inside the region's entry and level 2 of the
 * table. */
static bool l2_valid(const struct hv_att *a)
{
	return a->k < a->e.pages && (uint64_t)a->e.l2 + a->k < L2_MAX;
}

static void att_l2(struct hv_nic *n)
{
	struct hv_att *a = &n->att;

	if (!l2_valid(a)) {
		address_translation_finish(n, false);
		return;
	}
	a->state = ATT_L2IN;
	hv_dma_read(n, &a->dma,
		    a->host_l2 + (uint64_t)(a->e.l2 + a->k) * HVIA_L2_BYTES,
		    HVIA_L2_BYTES);
}

static void att_l2in(struct hv_nic *n)
{
	address_translation_go(n, ATT_ADD, n->p.t_add);
}

/* Runs step 6 of the look-up, and step 7 if the range continues in the next
 * page. */
static void att_add(struct hv_nic *n)
{
	struct hv_att *a = &n->att;
	struct hv_xlate *x = &a->x[a->owner];
	struct hv_piece *p = &x->piece[x->n_piece];
	uint32_t page = 0;
	bool ok = true;

	if (a->dma.txn.data.buf)
		ok = hv_dma_take(&a->dma, &page);
	else if (l2_valid(a))
		page = l2_load(n, a->e.l2 + a->k);
	else
		ok = false;
	if (!ok) {
		address_translation_finish(n, false);
		return;
	}
	p->pa = (page & ~(HVIA_PAGE - 1u)) + a->inpage;
	p->len = HVIA_PAGE - a->inpage;
	if (p->len > a->left)
		p->len = a->left;
	a->left -= p->len;
	if (++x->n_piece == 2 || !a->left) {
		address_translation_finish(n, true);
		return;
	}
	hv_count(n, HV_K_SECOND_PAGES);
	a->k++;
	a->inpage = 0;
	ask_l2(n, 0);
}

void hv_xlate(struct hv_nic *n, enum hv_owner o, const struct hv_xlate *x)
{
	assert(!n->att.x[o].pending);
	n->att.x[o] = *x;
	n->att.x[o].pending = true;
	if (n->att.state == ATT_IDLE)
		hv_wake(n, HV_U_ATT, 0);
}

void hv_att_event(struct hv_nic *n)
{
	static void (*const step[])(struct hv_nic *) = {
		[ATT_IDLE] = att_idle,	 [ATT_L1] = att_l1,
		[ATT_CHECK] = att_check, [ATT_L2] = att_l2,
		[ATT_L2IN] = att_l2in,	 [ATT_ADD] = att_add,
	};

	step[n->att.state](n);
}

/* ---- compaction (6.2) ---- */

void hv_move_start(struct hv_nic *n, uint64_t count)
{
	struct hv_att *a = &n->att;

	if (a->count || a->from > L2_MAX || a->to > L2_MAX ||
	    count > L2_MAX - a->from || count > L2_MAX - a->to) {
		hv_count(n, HV_K_BAD_ACCESS);
		return;
	}
	a->count = count;
	if (count)
		weft_timer_arm(n->comp, &n->timer[HV_U_MOVE], HV_U_MOVE,
			       weft_clock_after(n->clk, weft_now(n->comp),
						count * n->p.t_move));
}

/* Ends a move. Moves all entries at this time, because engines are stopped and
 * read no entry during the move. */
void hv_move_event(struct hv_nic *n)
{
	struct hv_att *a = &n->att;

	for (uint64_t i = 0; i < a->count; i++)
		hv_l2_store(n, (a->to + i) << 32 |
				       l2_load(n, (uint32_t)(a->from + i)));
	weft_count(n->comp, HV_K_MOVED, a->count);
	a->count = 0;
}
