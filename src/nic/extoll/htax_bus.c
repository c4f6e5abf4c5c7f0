/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX: what the bus has to tell, loads and stores of the host and the ends of
 * own requests (extoll.md 2.4; see htax.c). */
#include <string.h>

#include "nic/extoll/nic.h"

static void note_store(struct extoll_nic *n, const struct weft_bus_note *note,
		       uint32_t unit)
{
	struct hx_store *s = ring_push(&n->htax.store);

	s->cycle = ex_sync(&n->clock, note->time, n->t_sync_in);
	s->off = (uint32_t)note->off;
	s->bytes = (uint8_t)note->bytes;
	s->unit = (uint8_t)unit;
	s->trace = weft_msg_open(n->comp);
	ex_mark(n, s->trace, "synchroniser in", s->cycle);
	memcpy(s->data, note->data, note->bytes);
	if (!n->htax.deciding || s->cycle > ex_now(n))
		ex_htax_arm(n, s->cycle);
}

/* Dropped: no interval has it, or nobody is there (2.4). */
static void note_discard(struct extoll_nic *n, const struct weft_bus_note *note)
{
	uint8_t ones[sizeof(note->data)];

	n->discarded++;
	weft_count(n->comp, EX_C_DISCARDED, 1);
	ex_event(n, EXTOLL_EV_HTAX, 0, n->place.node,
		 (uint32_t)(note->off >> 12));
	if (note->kind == WEFT_NOTE_STORE) {
		weft_bus_consumed(n->bus, 1);
		return;
	}
	memset(ones, 0xff, sizeof(ones));
	weft_bus_of(n->bus)->reply(n->bus, ones, note->bytes);
}

static void note_access(struct extoll_nic *n, const struct weft_bus_note *note)
{
	bool store = note->kind == WEFT_NOTE_STORE;
	int port = EXTOLL_HX_RF;

	if (note->space)
		port = ex_rf_target(n, note->off, note->bytes);
	if (store)
		weft_count(n->comp, EX_C_STORES, 1);
	if (port == EXTOLL_HX_RF && store) {
		ex_rf_store(n, note);
		weft_bus_consumed(n->bus, 1);
	} else if (port == EXTOLL_HX_RF) {
		ex_rf_load(n, note);
	} else if (store && port >= 0 && ex_units[port] &&
		   ex_units[port]->store) {
		note_store(n, note, (uint32_t)port);
	} else {
		note_discard(n, note);
	}
}

static bool core_full(const struct extoll_nic *n)
{
	return n->htax.in_core[HX_TO_POSTED] >= n->htax.limit[HX_TO_POSTED];
}

static void note_done(struct extoll_nic *n, struct hx_pkt *p)
{
	if (p->txn.status != WEFT_BUS_OK) {
		n->aborts++;
		weft_count(n->comp, EX_C_ABORTS, 1);
	}
	if (p->txn.op == WEFT_BUS_WRITE) {
		if (core_full(n))
			ex_htax_arm(n, ex_now(n));
		n->htax.in_core[HX_TO_POSTED]--;
		if (p->done)
			p->done(n, p);
		ex_pkt_free(n, p);
		return;
	}
	weft_bus_settle(n->bus);
	if (p->txn.status != WEFT_BUS_OK)
		memset(weft_slice_data(p->txn.data), 0xff, p->txn.bytes);
	p->cycle = ex_sync(&n->clock, weft_now(n->comp), n->t_sync_in);
	hx_list_push(&n->htax.answer, p);
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

/* ---- ahead of time ------------------------------------------------------- */

/* A store for a unit is looked at when it has crossed the synchroniser. */
static enum weft_told told_store(struct extoll_nic *n,
				 const struct weft_bus_note *note)
{
	int port = note->space ? ex_rf_target(n, note->off, note->bytes) : -1;

	if (port < 0 || !ex_units[port] || !ex_units[port]->store)
		return WEFT_TOLD_POST;
	weft_wake(n->comp, EX_TAG_HTAX,
		  ex_edge(n, ex_sync(&n->clock, note->time, n->t_sync_in)));
	return WEFT_TOLD_QUIET;
}

/* Nobody waits for a write to be out, unless the core's queue is full; when it
 * becomes full HTAX asks for what is still to come (weft_bus_expect). */
static enum weft_told told_done(struct extoll_nic *n, struct hx_pkt *p)
{
	if (p->txn.op != WEFT_BUS_WRITE || p->done ||
	    p->txn.status != WEFT_BUS_OK || core_full(n))
		return WEFT_TOLD_POST;
	weft_slice_drop(&p->txn.data);
	return WEFT_TOLD_QUIET;
}

enum weft_told ex_htax_told(struct weft_port *p,
			    const struct weft_bus_note *note)
{
	struct extoll_nic *n = p->comp->state;

	if (note->kind == WEFT_NOTE_STORE)
		return told_store(n, note);
	if (note->kind == WEFT_NOTE_DONE)
		return told_done(n, (struct hx_pkt *)note->txn);
	return WEFT_TOLD_POST;
}
