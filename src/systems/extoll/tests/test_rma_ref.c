/* SPDX-License-Identifier: Apache-2.0 */
/* Compares RMA and ATU with a cycle-by-cycle reference (ref_rma.h, ref_atu.h)
 * on random work (rma_play.h). In every cycle the states of all units, cells,
 * queues, lookups and rings must be equal. Every bus access and every packet
 * must be equal, too. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "rma_play.h"

static struct ref_rma_seen seen[REF_RMA_CYCLES];

/* ---- state of the NIC ---- */

static void look_tx(const struct extoll_rma_tx *u, uint32_t unit,
		    struct ref_rma_seen *s)
{
	s->tx[unit].started = u->tail;
	s->tx[unit].over = u->head;
	s->tx[unit].handed = rp.left[unit] + exref_nic(&rr)->np[1].q[unit].n;
	for (uint32_t i = u->head; i != u->tail; i++) {
		const struct extoll_rma_txop *op = &u->op[i % RMA_TXOPS];

		s->tx[unit].state[i - u->head] = (uint8_t)op->state;
		s->tx[unit].asked += op->asked;
		s->tx[unit].got += op->got;
	}
}

static void look(uint32_t cycle)
{
	struct ref_rma_seen *s = &seen[cycle];
	const struct rma *r = extoll_rma_make(exref_nic(&rr));
	const uint64_t *k = rr.nic[0]->counters + EX_C_RMA;

	memset(s, 0, sizeof(*s));
	look_tx(&r->req, 0, s);
	look_tx(&r->resp, 1, s);
	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		s->in_state[vc] = (uint8_t)r->in[vc].state;
		for (uint8_t c = r->in[vc].head; c != 0xff; c = r->cell[c].next)
			s->in_cells[vc]++;
	}
	s->writes = r->in_queue;
	s->requests = r->a_tail - r->a_head;
	for (const struct weft_frame *f = r->wait_head; f; f = f->next)
		s->waiting++;
	s->hits = (uint32_t)k[RMA_K_TLB_HITS];
	s->misses = (uint32_t)k[RMA_K_TLB_MISSES];
	s->faults = (uint32_t)k[RMA_K_ATU_FAULTS];
	s->commands = r->atu.tail - r->atu.head;
	s->stores = exref_nic(&rr)->htax.store.head - rp.first;
	for (uint32_t i = 0; i < RP_PROCS; i++)
		s->wp[RP_FIRST + i] = extoll_rma_vpid(r, RP_FIRST + i)->wp;
}

/* ---- comparison ---- */

static void compare_cycles(uint64_t seed)
{
	for (uint32_t k = 0; k < rp.ref.cycles; k++) {
		const struct ref_rma_seen *a = &seen[k], *b = &rp.ref.seen[k];
		const uint8_t *p = (const void *)a, *q = (const void *)b;
		uint32_t i = 0;

		while (i < sizeof(*a) && p[i] == q[i])
			i++;
		if (i < sizeof(*a))
			fail_msg(
				"machine %u, cycle %u, byte %u: %u, should "
				"be %u",
				(uint32_t)seed, k, i, p[i], q[i]);
	}
}

/* Lists the requests that the bus has, in the order in which it got them. */
static uint32_t order(uint32_t *by)
{
	const struct ref_hx *hx = &rp.ref.hx;
	uint64_t last = weft_clock_align(&hx->cfg.ht, weft_sim_now(rr.sim) + 1);
	uint32_t n = 0, k;

	last = weft_clock_cycle(&hx->cfg.ht, last);
	for (uint32_t i = 0; i < hx->n_req; i++) {
		if (hx->req[i].given >= last)
			continue;
		for (k = n++; k; k--) {
			const struct ref_hx_req *a = &hx->req[by[k - 1]];

			if (a->given < hx->req[i].given ||
			    (a->given == hx->req[i].given && !a->read))
				break;
			by[k] = by[k - 1];
		}
		by[k] = i;
	}
	return n;
}

static void compare_word(const struct xbus_op *l, const struct ref_rma_req *r)
{
	uint64_t w[2] = { r->w[0], r->w[1] };
	uint32_t n = l->bytes;

	if (l->op == WEFT_BUS_READ || n < 8)
		return;
	if (r->data && EX_RMA_CMD(rp.ref.pkt[r->pkt].h[0]) == RMA_IMM_PUT)
		w[0] = w[1] = rp.ref.pkt[r->pkt].h[2];
	else if (r->data)
		for (uint32_t i = 0; i < 8; i++) {
			((uint8_t *)w)[i] = rp_byte(r->pkt, r->off + i);
			((uint8_t *)w)[8 + i] =
				rp_byte(r->pkt, r->off + n - 8 + i);
		}
	assert_true(l->word == w[1] && (n == 8 || l->first == w[0]));
}

static void compare_bus(void)
{
	static uint32_t by[REF_HX_MAX];
	const struct xbus *b = rr.bus[0];
	uint32_t n = order(by);

	assert_int_equal(b->n_log, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct xbus_op *l = &b->log[i];
		const struct ref_hx_req *h = &rp.ref.hx.req[by[i]];

		assert_int_equal(l->addr, rp.ref.req[by[i]].addr);
		assert_int_equal(l->bytes, h->bytes);
		assert_int_equal(l->op == WEFT_BUS_READ, h->read);
		assert_int_equal(weft_clock_cycle(&rp.ref.hx.cfg.ht, l->time),
				 h->given);
		compare_word(l, &rp.ref.req[by[i]]);
	}
}

static const struct ref_rma_out *next_out(uint32_t *at, uint32_t cls)
{
	while (*at < rp.ref.n_out && rp.ref.out[*at].cls != cls)
		++*at;
	assert_true(*at < rp.ref.n_out);
	return &rp.ref.out[(*at)++];
}

static void compare_packets(void)
{
	uint32_t at[2] = { 0 };

	for (uint32_t i = 0; i < rr.net->n_log; i++) {
		const struct xnet_pkt *p = &rr.net->log[i];
		const struct ref_rma_out *o =
			next_out(&at[p->meta.cls], p->meta.cls);
		const uint8_t *mem = rr.bus[0]->mem + (o->from - XR_MEM);

		assert_true(p->u[0] == o->h[0] && p->u[1] == o->h[1]);
		if (p->meta.words == 3)
			assert_true(p->u[2] == o->h[2]);
		assert_int_equal(p->len, o->len);
		assert_int_equal(p->pd, o->pd);
		if (o->len && o->from < RR_PAGE(RP_READABLE))
			assert_memory_equal(p->data, mem,
					    o->len < 128 ? o->len : 128);
	}
}

static void compare_counters(void)
{
	const uint64_t *k = rr.nic[0]->counters + EX_C_RMA;

	assert_int_equal(k[RMA_K_COMMANDS], rp.ref.good[0]);
	assert_int_equal(k[RMA_K_BAD_COMMANDS], rp.ref.bad[0]);
	assert_int_equal(k[RMA_K_RESPONSES], rp.ref.good[1]);
	assert_int_equal(k[RMA_K_BAD_RESPONSES], rp.ref.bad[1]);
	assert_int_equal(k[RMA_K_COMPLETIONS], rp.ref.good[2]);
	assert_int_equal(k[RMA_K_BAD_COMPLETIONS], rp.ref.bad[2]);
	assert_int_equal(k[RMA_K_DISCARDED], rp.ref.discarded);
	assert_int_equal(k[RMA_K_NOTI_STALLS], rp.ref.stalls);
	assert_int_equal(k[RMA_K_LOCKS], rp.ref.locks);
}

/* Counts of events over all scenarios, so that the test notices an event that
 * never happened. */
static struct {
	uint32_t good[3], bad[3], discarded, stalls, locks, replaced, stale;
	uint32_t hits, faults, full, late;
} sum;

static void add(void)
{
	const struct ref_rma_seen *end = &rp.ref.seen[rp.ref.cycles - 1];

	for (uint32_t i = 0; i < 3; i++) {
		sum.good[i] += rp.ref.good[i];
		sum.bad[i] += rp.ref.bad[i];
	}
	sum.discarded += rp.ref.discarded;
	sum.stalls += rp.ref.stalls;
	sum.locks += rp.ref.locks;
	sum.replaced += rp.ref.replaced;
	sum.stale += rp.ref.stale;
	sum.hits += end->hits;
	sum.faults += end->faults;
	for (uint32_t k = 0; k < rp.ref.cycles; k++) {
		sum.full += rp.ref.seen[k].waiting > 0;
		sum.late += rp.ref.seen[k].commands > 0;
	}
}

static void check_sum(void)
{
	for (uint32_t i = 0; i < 3; i++)
		assert_true(sum.good[i] > 500 && sum.bad[i] > 200);
	assert_true(sum.discarded > 200 && sum.stalls > 100);
	assert_true(sum.locks > 100 && sum.replaced > 20 && sum.stale > 5);
	assert_true(sum.hits > 200 && sum.faults > 300);
	assert_true(sum.full > 1000 && sum.late > 500);
}

static void test_rma_does_what_the_reference_does(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		exref_seed(seed);
		rp_open();
		rp_play(look);
		ref_rma_run(&rp.ref);
		compare_cycles(seed);
		compare_bus();
		compare_packets();
		compare_counters();
		add();
		rp_close();
	}
	check_sum();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rma_does_what_the_reference_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
