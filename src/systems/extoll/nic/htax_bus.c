/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX: notes of the bus. They are loads and stores of the host, and
 * completions of the NIC's own requests (extoll.md 2.4; see htax.c). */
#include <string.h>

#include "systems/extoll/nic/nic.h"

static int htax_bus_target(const struct extoll_nic *n,
			   const struct weft_bus_note *note)
{
	return note->space ? ex_rf_target(n, note->off, note->bytes)
			   : EXTOLL_HX_RF;
}

/* Queues a store behind the earlier ones. The arbiter will determine the unit
 * of the store. */
static void note_store(struct extoll_nic *n, const struct weft_bus_note *note)
{
	struct hx_store *s = ring_push(&n->htax.store);

	s->cycle = ex_sync(&n->clock, note->time, n->t_sync_in);
	s->off = (uint32_t)note->off;
	s->bytes = (uint8_t)note->bytes;
	s->unit = HX_UNIT_NONE;
	s->trace = htax_bus_target(n, note) == EXTOLL_HX_RF
			   ? 0
			   : weft_msg_open(n->comp);
	ex_mark(n, s->trace, "synchroniser in", s->cycle);
	memcpy(s->data, note->data, note->bytes);
	if (!n->htax.deciding || s->cycle > ex_now(n))
		ex_htax_arm(n, s->cycle);
}

/* Counts and reports an access outside all intervals, or in an interval whose
 * port has no unit (2.4). */
void ex_htax_discard(struct extoll_nic *n, uint64_t off)
{
	n->discarded++;
	weft_count(n->comp, EX_C_DISCARDED, 1);
	ex_event(n, EXTOLL_EV_HTAX, 0, n->place.node, (uint32_t)(off >> 12));
}

static void load_answer(struct extoll_nic *n, const struct weft_bus_note *note)
{
	if (htax_bus_target(n, note) == EXTOLL_HX_RF && ex_rf_load(n, note))
		return;
	if (htax_bus_target(n, note) != EXTOLL_HX_RF)
		ex_htax_discard(n, note->off);
	else if (!n->htax.load.waits)
		return; /* without a reply the bus reports that the device is
			 * absent */
	weft_bus_refuse(n->bus, note->bytes);
}

/* Counts a store in front of the load that has arrived at its unit. After the
 * last such store the load crosses back to the HT core and is answered. */
void ex_htax_load_moved(struct extoll_nic *n)
{
	struct ex_htax *h = &n->htax;

	if (!h->load.waits || --h->load.behind)
		return;
	weft_wake(n->comp, EX_TAG_LOAD,
		  weft_clock_edge(&n->ht, ex_sync(&n->ht, weft_now(n->comp),
						  n->t_sync_out)));
}

void ex_htax_load(struct extoll_nic *n)
{
	load_answer(n, &n->htax.load.note);
	n->htax.load.waits = false;
}

static void note_access(struct extoll_nic *n, const struct weft_bus_note *note)
{
	bool rf = htax_bus_target(n, note) == EXTOLL_HX_RF;
	struct ex_htax *h = &n->htax;

	if (note->kind == WEFT_NOTE_LOAD) {
		/* The load stays behind all earlier stores of the host (2.2).
		 * If no store is in flight, the register file answers
		 * immediately (7.4). */
		if (!note->space || !h->ordered || ring_empty(&h->store)) {
			load_answer(n, note);
			return;
		}
		h->load.note = *note;
		h->load.behind = ring_count(&h->store);
		h->load.waits = weft_bus_defer(n->bus);
		return;
	}
	weft_count(n->comp, EX_C_STORES, 1);
	if (rf && !(note->space && h->ordered)) {
		ex_rf_store(n, note->space, note->off, note->data, note->bytes);
		weft_bus_consumed(n->bus, 1);
	} else if (rf && !(*ex_command(n) & EXTOLL_CMD_MEMORY)) {
		weft_bus_consumed(n->bus, 1);
	} else {
		note_store(n, note);
	}
}

static void note_done(struct extoll_nic *n, struct hx_pkt *p)
{
	struct ex_htax *h = &n->htax;

	if (p->txn.status != WEFT_BUS_OK) {
		n->aborts++;
		weft_count(n->comp, EX_C_ABORTS, 1);
	}
	if (p->txn.op == WEFT_BUS_WRITE) {
		/* the core's queue was full, so that requests may wait for the
		 * room that this write frees */
		if (h->in_core[HX_TO_POSTED] >= h->limit[HX_TO_POSTED])
			ex_htax_arm(n, ex_now(n));
		h->in_core[HX_TO_POSTED]--;
		if (p->done)
			p->done(n, p);
		ex_pkt_free(n, p);
		return;
	}
	weft_bus_settle(n->bus);
	if (p->txn.status != WEFT_BUS_OK)
		memset(weft_slice_data(p->txn.data), 0xff, p->txn.bytes);
	p->cycle = ex_sync(&n->clock, weft_now(n->comp), n->t_sync_in);
	hx_list_push(&h->answer, p);
	ex_htax_arm(n, p->cycle);
}

bool ex_htax_notes(struct extoll_nic *n)
{
	struct weft_bus_note note;
	bool any = false;

	for (; weft_bus_next(n->bus, &note); any = true) {
		if (note.kind == WEFT_NOTE_STORE || note.kind == WEFT_NOTE_LOAD)
			note_access(n, &note);
		else if (note.kind == WEFT_NOTE_DONE)
			note_done(n, (struct hx_pkt *)note.txn);
	}
	return any;
}

/* ---- notes ahead of their time ---- */

/* Decides whether a note needs an event, when the bus sends the note ahead of
 * its time. Fewer events make the simulation faster. A store for a unit needs
 * no event before it has crossed the synchroniser.
 *
 * The completion of a write needs no event unless the core's queue is full.
 * When the queue fills, HTAX requests events for the outstanding notes
 * (weft_bus_expect). */
enum weft_told ex_htax_told(struct weft_port *p,
			    const struct weft_bus_note *note)
{
	struct extoll_nic *n = p->comp->state;
	struct hx_pkt *own = (struct hx_pkt *)note->txn;
	const struct ex_htax *h = &n->htax;

	if (note->kind == WEFT_NOTE_STORE && note->space &&
	    (h->ordered || htax_bus_target(n, note) != EXTOLL_HX_RF)) {
		weft_wake(n->comp, EX_TAG_HTAX,
			  ex_edge(n, ex_sync(&n->clock, note->time,
					     n->t_sync_in)));
		return WEFT_TOLD_QUIET;
	}
	if (note->kind == WEFT_NOTE_DONE && own->txn.op == WEFT_BUS_WRITE &&
	    !own->done && own->txn.status == WEFT_BUS_OK &&
	    h->in_core[HX_TO_POSTED] < h->limit[HX_TO_POSTED]) {
		weft_slice_drop(&own->txn.data);
		return WEFT_TOLD_QUIET;
	}
	return WEFT_TOLD_POST;
}
