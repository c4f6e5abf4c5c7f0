/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX: the on-chip crossbar between host and functional units, see htax.h.
 * Source: extoll.md 2.3, 2.4, 7.1 (H4, N1, N6, H5), 7.5.
 *
 * A request takes part in every arbitration from the cycle at which it is
 * ready. HTAX runs after all units in a cycle, so that it sees all their
 * requests.
 *
 * Not modelled: the single words of a packet. The model limits an input of the
 * host to one output at a time, but not an input of a unit. */
#include <assert.h>

#include "systems/extoll/nic/nic.h"

enum { IN_POSTED, IN_RESPONSE };

/* Returns the cycles for which a packet with `bytes` of data occupies a
 * port. */
static uint32_t hx_words(uint32_t bytes)
{
	return 1 + (bytes + 7) / 8;
}

/* ---- packets ---- */

static struct hx_pkt *list_pop(struct hx_list *l)
{
	struct hx_pkt *p = l->head;

	l->head = p->next;
	return p;
}

struct hx_pkt *ex_pkt_new(struct extoll_nic *n)
{
	struct hx_pkt *p = n->htax.pool, *chain;

	if (p) {
		n->htax.pool = p->next;
		chain = p->chain;
	} else {
		p = malloc(sizeof(*p));
		assert(p);
		chain = n->htax.all;
		n->htax.all = p;
	}
	*p = (struct hx_pkt){ .chain = chain };
	return p;
}

struct hx_pkt *ex_pkt_write(struct extoll_nic *n, weft_phys_t addr,
			    uint32_t bytes)
{
	struct hx_pkt *p = ex_pkt_new(n);

	p->txn.op = WEFT_BUS_WRITE;
	p->txn.addr = addr;
	p->txn.bytes = bytes;
	p->txn.data = weft_slice_word(n->comp->sim, bytes);
	return p;
}

void ex_pkt_free(struct extoll_nic *n, struct hx_pkt *p)
{
	weft_slice_drop(&p->txn.data);
	p->next = n->htax.pool;
	n->htax.pool = p;
}

/* ---- waking ---- */

void ex_htax_arm(struct extoll_nic *n, uint64_t cycle)
{
	weft_timer_arm(n->comp, &n->htax.timer, EX_TAG_HTAX, ex_edge(n, cycle));
}

void ex_htax_go(struct extoll_nic *n)
{
	if (!ring_empty(&n->htax.store))
		ex_htax_arm(n, ex_now(n));
}

void ex_htax_send(struct extoll_nic *n, enum extoll_htax_port from,
		  struct hx_pkt *p, uint64_t cycle)
{
	bool read = p->txn.op == WEFT_BUS_READ;

	assert(p->txn.bytes && (p->txn.addr % 64) + p->txn.bytes <= 64);
	p->from = (uint8_t)from;
	p->cycle = cycle;
	p->txn.any_order = read; /* units restore the order that they need */
	if (read)
		p->txn.data = weft_slice_word(n->comp->sim, p->txn.bytes);
	hx_list_push(&n->htax.want[read][from], p);
	n->htax.wants[read]++;
	ex_htax_arm(n, cycle);
}

uint32_t ex_htax_pending(const struct extoll_nic *n, uint32_t vpid)
{
	const struct ex_htax *h = &n->htax;
	const struct hx_pkt *p = h->leaving[HX_TO_POSTED].head;
	uint32_t k = 0;

	for (uint32_t i = 0; i <= EXTOLL_HX_N; i++) {
		for (; p; p = p->next)
			k += p->box == vpid + 1;
		if (i < EXTOLL_HX_N)
			p = h->want[HX_TO_POSTED][i].head;
	}
	return k;
}

/* ---- units to host ---- */

/* Returns the unit that wins output `out` at cycle c: round robin (4.2) among
 * the units whose first packet is ready. Returns -1 if no unit has a ready
 * packet. A read of a unit waits for the writes that the unit requested before
 * the read (2.2). */
static int host_winner(const struct extoll_nic *n, uint32_t out, uint64_t c)
{
	const struct ex_htax *h = &n->htax;

	for (uint32_t k = 1; k <= EXTOLL_HX_N; k++) {
		uint32_t i = (h->last[out] + k) % EXTOLL_HX_N;
		const struct hx_pkt *p = h->want[out][i].head;
		const struct hx_pkt *w = h->want[HX_TO_POSTED][i].head;

		if (p && p->cycle <= c &&
		    (out == HX_TO_POSTED || !w || w->cycle > p->cycle))
			return (int)i;
	}
	return -1;
}

static void host_grant(struct extoll_nic *n, uint32_t out, uint64_t c)
{
	struct ex_htax *h = &n->htax;
	struct hx_pkt *p;
	int i;
	weft_time_t t;

	if (!h->wants[out] || h->free[out] > c ||
	    h->in_core[out] >= h->limit[out])
		return;
	i = host_winner(n, out, c);
	if (i < 0)
		return;
	p = list_pop(&h->want[out][i]);
	h->wants[out]--;
	h->last[out] = (uint8_t)i;
	h->free[out] = c + hx_words(out == HX_TO_POSTED ? p->txn.bytes : 0);
	if (++h->in_core[out] >= h->limit[out])
		weft_bus_expect(n->bus); /* the queue is full, so completions
					  * matter now */
	/* The packet crosses HTAX and then the synchroniser to the HT core. */
	t = ex_edge(n, c + n->t_htax);
	p->cycle = ex_sync(&n->ht, t, n->t_sync_out);
	if (p->txn.trace_id) {
		ex_mark(n, p->txn.trace_id, "waits for HTAX", c);
		weft_mark(n->comp, p->txn.trace_id, "HTAX", t);
		weft_mark(n->comp, p->txn.trace_id, "synchroniser out",
			  weft_clock_edge(&n->ht, p->cycle));
	}
	hx_list_push(&n->htax.leaving[out], p);
	weft_wake(n->comp, EX_TAG_OUT, weft_clock_edge(&n->ht, p->cycle));
	weft_count(n->comp, out == HX_TO_POSTED ? EX_C_WRITES : EX_C_READS, 1);
	if (p->sent)
		p->sent(n, p);
}

void ex_htax_leave(struct extoll_nic *n)
{
	uint64_t c = weft_clock_cycle(&n->ht, weft_now(n->comp));

	for (uint32_t out = 0; out < HX_TO_HOST; out++)
		while (n->htax.leaving[out].head &&
		       n->htax.leaving[out].head->cycle <= c) {
			struct hx_pkt *p = list_pop(&n->htax.leaving[out]);

			weft_bus_of(n->bus)->submit(n->bus, &p->txn);
		}
}

/* ---- host to units ---- */

/* Returns the first cycle at which the next store may be granted, or
 * WEFT_NEVER. */
static uint64_t store_from(const struct extoll_nic *n)
{
	const struct ex_htax *h = &n->htax;
	const struct hx_store *s;
	uint64_t c;

	if (ring_count(&h->store) == h->granted)
		return WEFT_NEVER;
	s = ring_nth(&h->store, h->granted);
	c = s->cycle > h->in_free[IN_POSTED] ? s->cycle : h->in_free[IN_POSTED];
	if (s->unit == HX_UNIT_NONE)
		return c;
	return c > h->free[s->unit] ? c : h->free[s->unit];
}

static uint64_t answer_from(const struct extoll_nic *n)
{
	const struct ex_htax *h = &n->htax;
	const struct hx_pkt *p = h->answer.head;
	uint64_t c;

	if (!p)
		return WEFT_NEVER;
	c = p->cycle > h->in_free[IN_RESPONSE] ? p->cycle
					       : h->in_free[IN_RESPONSE];
	return c > h->free[p->from] ? c : h->free[p->from];
}

/* Occupies input and output for a granted packet, which arrives at its unit
 * t_htax cycles later. */
static void unit_take(struct extoll_nic *n, uint32_t in, uint32_t unit,
		      uint32_t bytes, uint64_t c)
{
	struct ex_htax *h = &n->htax;

	h->free[unit] = h->in_free[in] = c + hx_words(bytes);
	h->last[unit] = (uint8_t)in;
	weft_wake(n->comp, EX_TAG_IN, ex_edge(n, c + n->t_htax));
}

static bool store_grant(struct extoll_nic *n, uint64_t c)
{
	struct ex_htax *h = &n->htax;
	const struct ex_unit *u;
	struct hx_store *s;
	int port;

	if (store_from(n) > c)
		return false;
	s = ring_nth(&h->store, h->granted);
	if (s->unit == HX_UNIT_NONE) {
		/* Find the unit at the arbiter and not earlier, because earlier
		 * stores may have changed the intervals. */
		port = ex_rf_target(n, s->off, s->bytes);
		if (port >= 0 && ex_units[port] && ex_units[port]->store)
			s->unit = (uint8_t)port;
	}
	if (s->unit == HX_UNIT_NONE) { /* no unit accepts it (2.4) */
		weft_msg_end(n->comp, s->trace, false);
		ex_htax_discard(n, s->off);
		h->in_free[IN_POSTED] = c + hx_words(s->bytes);
		/* Moves each granted store to the next entry of the ring, which
		 * overwrites the dropped store and empties the first entry. */
		for (uint32_t i = h->granted; i > 0; i--)
			*ring_nth(&h->store, i) = *ring_nth(&h->store, i - 1);
		ring_pop(&h->store);
		weft_bus_consumed(n->bus, 1);
		ex_htax_load_moved(n);
		return false;
	}
	if (h->free[s->unit] > c)
		return false;
	u = ex_units[s->unit];
	if (u->room && !u->room(n, h->flying[s->unit]))
		return ex_htax_pass(n, c) && store_grant(n, c);
	unit_take(n, IN_POSTED, s->unit, s->bytes, c);
	s->cycle = c + n->t_htax;
	ex_mark(n, s->trace, "waits for HTAX", c);
	ex_mark(n, s->trace, "HTAX", s->cycle);
	h->flying[s->unit]++;
	h->granted++;
	return true;
}

static bool answer_grant(struct extoll_nic *n, uint64_t c)
{
	struct ex_htax *h = &n->htax;
	struct hx_pkt *p;

	if (answer_from(n) > c)
		return false;
	p = list_pop(&h->answer);
	unit_take(n, IN_RESPONSE, p->from, p->txn.bytes, c);
	ex_mark(n, p->txn.trace_id, "synchroniser in", p->cycle);
	ex_mark(n, p->txn.trace_id, "waits for HTAX", c);
	p->cycle = c + n->t_htax;
	ex_mark(n, p->txn.trace_id, "HTAX", p->cycle);
	hx_list_push(&h->arriving, p);
	return true;
}

void ex_htax_deliver(struct extoll_nic *n)
{
	struct ex_htax *h = &n->htax;
	uint64_t c = ex_now(n);

	while (h->granted && ring_front(&h->store)->cycle <= c) {
		struct hx_store s = *ring_front(&h->store);

		ring_pop(&h->store);
		h->granted--;
		h->flying[s.unit]--;
		weft_bus_consumed(n->bus, 1);
		ex_units[s.unit]->store(n, &s);
		ex_htax_load_moved(n);
		ex_htax_go(n);
	}
	while (h->arriving.head && h->arriving.head->cycle <= c) {
		struct hx_pkt *p = list_pop(&n->htax.arriving);

		n->htax.in_core[HX_TO_NONPOSTED]--;
		if (p->done)
			p->done(n, p);
		ex_pkt_free(n, p);
		ex_htax_arm(n, ex_now(n));
	}
}

/* ---- arbitration ---- */

/* Returns the next cycle at which a request for this output could be granted,
 * because the request becomes ready or the output becomes free. Returns
 * WEFT_NEVER if the output has no requests or the core's queue is full. An
 * event that changes either condition runs the arbitration. */
static uint64_t host_next(const struct extoll_nic *n, uint32_t out)
{
	const struct ex_htax *h = &n->htax;
	uint64_t next = WEFT_NEVER;

	if (!h->wants[out] || h->in_core[out] >= h->limit[out])
		return next;
	for (uint32_t i = 0; i < EXTOLL_HX_N; i++) {
		const struct hx_pkt *p = h->want[out][i].head;

		if (p && p->cycle < next)
			next = p->cycle;
	}
	if (next == WEFT_NEVER)
		return next;
	return next > h->free[out] ? next : h->free[out];
}

void ex_htax_event(struct extoll_nic *n)
{
	uint64_t c = ex_now(n);
	bool due = weft_timer_due(n->comp, &n->htax.timer), any;
	struct ex_htax *h = &n->htax;
	uint64_t at[4], next = WEFT_NEVER;

	h->deciding = true;
	any = ex_htax_notes(n);
	h->deciding = false;
	if (!any && !due)
		return;
	host_grant(n, HX_TO_POSTED, c);
	host_grant(n, HX_TO_NONPOSTED, c);
	/* A store and an answer compete only if both are for one unit. The
	 * input that this unit served last is granted second. */
	if (h->answer.head && h->last[h->answer.head->from] == IN_POSTED)
		answer_grant(n, c);
	store_grant(n, c);
	answer_grant(n, c);
	at[0] = host_next(n, HX_TO_POSTED);
	at[1] = host_next(n, HX_TO_NONPOSTED);
	at[2] = store_from(n);
	/* the store at the arbiter has no room at its unit, but a later store
	 * may pass it */
	if (at[2] <= c)
		at[2] = ex_htax_pass_from(n, c);
	at[3] = answer_from(n);
	for (uint32_t i = 0; i < 4; i++)
		if (at[i] > c && at[i] < next)
			next = at[i];
	if (next != WEFT_NEVER)
		ex_htax_arm(n, next);
}

/* ---- set-up and end ---- */

void ex_htax_start(struct extoll_nic *n)
{
	bool many = weft_bus_many(n->bus);

	weft_bus_window(n->bus, n->posted);
	n->bus->told = many ? ex_htax_told : NULL;
	n->htax.ordered = !n->rf_core && weft_bus_of(n->bus)->defer;
	/* A bus for which weft_bus_many() is false takes only one read and one
	 * write at a time. */
	n->htax.limit[HX_TO_POSTED] = many ? n->posted : 1;
	n->htax.limit[HX_TO_NONPOSTED] = many ? n->reads : 1;
}

void ex_htax_fini(struct extoll_nic *n)
{
	struct hx_pkt *p;

	while ((p = n->htax.all)) {
		n->htax.all = p->chain;
		weft_slice_drop(&p->txn.data);
		free(p);
	}
	ring_free(&n->htax.store);
}
