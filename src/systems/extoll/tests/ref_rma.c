/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_rma.h. */
#include "ref_rma_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool ref_enabled(const struct program *w, uint32_t vpid)
{
	return vpid < REF_RMA_VPIDS && w->x->cfg.vpid[vpid].enabled;
}

/* ---- requests ---- */

struct ref_rma_req *ref_ask(struct program *w, uint32_t port, bool read,
			    uint64_t addr, uint32_t bytes)
{
	struct ref_hx *hx = &w->x->hx;
	struct ref_rma_req *r = &w->x->req[hx->n_req];

	assert(hx->n_req < REF_HX_MAX);
	hx->req[hx->n_req].cycle = w->now;
	hx->req[hx->n_req].unit = (uint8_t)port;
	hx->req[hx->n_req].bytes = (uint8_t)bytes;
	hx->req[hx->n_req].read = read;
	hx->req[hx->n_req].t_bus = 0;
	if (read && w->x->cfg.slow_each && addr / 64 % w->x->cfg.slow_each == 0)
		hx->req[hx->n_req].t_bus = w->x->cfg.t_slow;
	hx->n_req++;
	*r = (struct ref_rma_req){ .addr = addr };
	return r;
}

/* Returns the word of the lock at addr after the last write that the bus has
 * completed by time t. */
uint32_t ref_memory(const struct program *w, uint64_t addr, uint64_t t)
{
	const struct ref_hx *hx = &w->x->hx;
	uint32_t val = 0;

	for (uint32_t i = 0; i < hx->n_req; i++)
		if (!hx->req[i].read && w->x->req[i].addr == addr &&
		    hx->req[i].granted <= w->now &&
		    ref_hx_bus_end(hx, &hx->req[i]) <= t)
			val = (uint32_t)w->x->req[i].w[1];
	return val;
}

static uint64_t gate_at(const struct program *w, uint64_t addr, uint64_t t)
{
	uint64_t gate = 0;

	for (uint32_t i = 0; i < w->x->n_gate; i++)
		if (w->x->gate[i].addr == addr && w->x->gate[i].time + 1 < t)
			gate = w->x->gate[i].gate;
	return gate;
}

/* ---- notifications (extoll.md 3.6) ---- */

static uint64_t mode(const struct cmd *c)
{
	return (c->opt >> 2 & 1) | (c->opt >> 3 & 1) << 1 |
	       (c->opt >> 4 & 1) << 2 | (c->mods >> 3 & 1) << 3 |
	       (c->mods >> 1 & 1) << 4 | (c->mods >> 2 & 1) << 5;
}

bool ref_tell(struct program *w, uint32_t port, const struct cmd *c,
	      uint64_t w0, uint32_t unit, uint32_t error)
{
	uint32_t v = c->vpid, next = w->wp[v] + 1;
	struct ref_rma_req *r;

	if (next == w->x->cfg.vpid[v].slots)
		next = 0;
	if (next == w->rp[v])
		return false;
	r = ref_ask(w, port, false, w->x->cfg.vpid[v].ring + 16 * w->wp[v], 16);
	r->w[0] = w0;
	r->w[1] = c->low | (uint64_t)c->far_vpid << 23 |
		  (uint64_t)c->far_node << 32 | 1ull << (48 + unit) |
		  (uint64_t)c->op << 51 | mode(c) << 55 | (uint64_t)error << 61;
	w->wp[v] = next;
	return true;
}

/* ---- ATU ---- */

static void atu_answer(void *own, uint32_t unit, uint32_t user, uint64_t phys,
		       int use)
{
	if (unit == COMP)
		ref_in_answer(own, user, phys, use);
	else
		ref_tx_answer(own, unit, phys, use);
}

static void atu_read(void *own, uint32_t unit, uint64_t addr)
{
	ref_ask(own, PORT_ATU, true, addr, 8)->user = unit;
}

static void atu_write(void *own, uint64_t addr)
{
	ref_ask(own, PORT_ATU, false, addr, 8)->w[1] = 1;
}

/* ---- inputs of a cycle ---- */

static bool room(void *own, uint32_t unit, uint32_t flying)
{
	const struct program *w = own;

	return unit != PORT_REQ || w->q_n - w->q_first + flying < REF_RMA_QUEUE;
}

static void cells(struct program *w, uint32_t np)
{
	const struct ref_rma *x = w->x;

	for (; w->next_cell < x->n_cell &&
	       x->cell[w->next_cell].cycle <= w->now &&
	       x->cell[w->next_cell].np == np;
	     w->next_cell++) {
		const struct ref_rma_cell *c = &x->cell[w->next_cell];

		if (np == 1) {
			ref_in_cell(w, w->next_cell);
			ref_in_run(w);
		} else if (c->eop) {
			w->wait[w->wait_n++] = c->pkt;
			ref_resp_packets(w);
			ref_tx_run(w, RESP);
		}
	}
}

/* Counts the packets that have left the network port by this cycle, and runs
 * their units. Returns true if any packet has left. */
static bool leave(struct program *w)
{
	const struct ref_rma_left *l = &w->x->left[w->next_left];
	bool any = false;

	for (; w->next_left < w->x->n_left && l->cycle <= w->now &&
	       w->tx[l->cls].left < w->tx[l->cls].handed;
	     l++, w->next_left++) {
		w->tx[l->cls].left++;
		ref_tx_run(w, l->cls);
		any = true;
	}
	return any;
}

static void store(struct program *w, uint32_t i)
{
	const struct ref_rma_store *s = &w->x->store[i];

	switch (s->what) {
	case REF_RMA_DESC:
		w->queue[w->q_n++] = i;
		ref_tx_run(w, REQ);
		break;
	case REF_RMA_RP:
		if (s->w[0] < w->x->cfg.vpid[s->vpid].slots)
			w->rp[s->vpid] = (uint32_t)s->w[0];
		break;
	case REF_RMA_ATU:
		ref_atu_command(&w->atu, s->w[0]);
		break;
	}
}

static void stores(struct program *w)
{
	struct ref_hx *hx = &w->x->hx;

	while (w->next_went < hx->n_went &&
	       hx->store[hx->went[w->next_went]].taken <= w->now)
		store(w, hx->went[w->next_went++]);
}

static void answer(struct program *w, uint32_t i)
{
	const struct ref_hx *hx = &w->x->hx;
	const struct ref_rma_req *r = &w->x->req[i];
	uint32_t unit = hx->req[i].unit;

	if (unit == PORT_ATU)
		ref_atu_read_done(
			&w->atu, r->user,
			gate_at(w, r->addr, ref_hx_bus_end(hx, &hx->req[i])));
	else
		ref_tx_read_done(w, unit - PORT_REQ, r->user);
}

static void answers(struct program *w)
{
	const struct ref_hx *hx = &w->x->hx;

	while (w->scan < hx->n_req && w->x->req[w->scan].done_seen)
		w->scan++;
	for (uint32_t i = w->scan; i < hx->n_req; i++) {
		struct ref_rma_req *r = &w->x->req[i];

		if (r->done_seen || hx->req[i].done == UINT64_MAX)
			continue;
		r->done_seen = true;
		if (hx->req[i].read)
			answer(w, i);
	}
}

static bool grants(struct program *w)
{
	const struct ref_hx *hx = &w->x->hx;
	bool any = ref_hx_end(&w->x->hx);

	for (uint32_t i = w->scan; any && i < hx->n_req; i++) {
		struct ref_rma_req *r = &w->x->req[i];

		if (r->granted_seen || hx->req[i].granted == UINT64_MAX)
			continue;
		r->granted_seen = true;
		if (r->data)
			ref_in_granted(w, r->user - 1);
	}
	return any;
}

/* ---- the whole RMA ---- */

static bool units(struct program *w)
{
	bool any = leave(w);

	any |= ref_tx_run(w, REQ);
	any |= leave(w);
	any |= ref_tx_run(w, RESP);
	any |= leave(w);
	any |= ref_in_run(w);
	any |= ref_atu_run(&w->atu);
	return leave(w) || any;
}

static void cycle(struct program *w)
{
	w->atu.now = w->now;
	ref_hx_begin(&w->x->hx, w->now);
	cells(w, 1);
	leave(w);
	cells(w, 2);
	stores(w);
	answers(w);
	do
		while (units(w))
			;
	while (grants(w));
}

static void look_tx(const struct program *w, uint32_t unit,
		    struct ref_rma_seen *s)
{
	const struct tx *t = &w->tx[unit];

	s->tx[unit].started = t->n;
	s->tx[unit].over = t->first;
	s->tx[unit].handed = t->handed;
	for (uint32_t i = t->first; i < t->n; i++) {
		s->tx[unit].state[i - t->first] = t->op[i].state;
		s->tx[unit].asked += t->op[i].asked;
		s->tx[unit].got += t->op[i].got;
	}
}

static void look(const struct program *w, struct ref_rma_seen *s)
{
	memset(s, 0, sizeof(*s));
	look_tx(w, REQ, s);
	look_tx(w, RESP, s);
	for (uint32_t vc = 0; vc < REF_RMA_VCS; vc++) {
		s->in_state[vc] = w->in[vc].state;
		s->in_cells[vc] = w->in[vc].n - w->in[vc].first;
	}
	s->writes = w->in_writes;
	s->requests = w->a_n - w->a_first;
	s->waiting = w->wait_n - w->wait_first;
	s->hits = w->atu.hits;
	s->misses = w->atu.misses;
	s->faults = w->atu.faults;
	s->commands = w->atu.n_cmd;
	s->stores = w->next_went;
	memcpy(s->wp, w->wp, sizeof(s->wp));
}

void ref_rma_run(struct ref_rma *x)
{
	struct program *w = calloc(1, sizeof(*w));

	assert(w);
	w->x = x;
	w->atu.own = x->hx.own = w;
	w->atu.table = x->cfg.table;
	w->atu.answer = atu_answer;
	w->atu.read = atu_read;
	w->atu.write = atu_write;
	x->hx.room = room;
	x->hx.n_req = x->n_out = x->discarded = x->stalls = x->locks = 0;
	memset(x->good, 0, sizeof(x->good));
	memset(x->bad, 0, sizeof(x->bad));
	ref_hx_reset(&x->hx);
	for (uint32_t k = 0; k < x->cycles; k++) {
		w->now = x->from + k;
		cycle(w);
		look(w, &x->seen[k]);
	}
	x->replaced = w->atu.replaced;
	x->stale = w->atu.stale;
	free(w);
}
