/* SPDX-License-Identifier: Apache-2.0 */
/* Compares EXTOLL's on-chip crossbar with a cycle-by-cycle reference
 * (ref_htax.h), for random requests of all units and random stores of the host.
 * Times, lengths, clocks and depths are random, too. A separate test covers the
 * search for a store that passes others. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "exref.h"
#include "velo_msg.h"

static struct ref_hx ref;
static struct ref_hx seen;
/* ---- the device ---- */

static void on_sent(struct extoll_nic *n, struct hx_pkt *p)
{
	seen.req[p->user[0]].granted = ex_now(n);
}

static void on_done(struct extoll_nic *n, struct hx_pkt *p)
{
	seen.req[p->user[0]].done = ex_now(n);
}

static void ask(uint32_t i)
{
	const struct ref_hx_req *r = &ref.req[i];
	weft_phys_t at = XR_MEM + 0x100000 + 64ull * i;
	struct hx_pkt *p = r->read ? ex_pkt_new(exref_nic(&vr))
				   : ex_pkt_write(exref_nic(&vr), at, r->bytes);

	p->txn.op = r->read ? WEFT_BUS_READ : WEFT_BUS_WRITE;
	p->txn.addr = at;
	p->txn.bytes = r->bytes;
	p->sent = on_sent;
	p->done = r->read ? on_done : NULL;
	p->user[0] = i;
	ex_htax_send(exref_nic(&vr), r->unit, p, r->cycle);
}

/* Stores a descriptor of the wrong length, which the unit counts and drops, or
 * stores to an offset without a register. */
static void store(const struct ref_hx_store *s)
{
	static const uint8_t data[64];
	uint64_t off = s->unit == EXTOLL_HX_RF ? 0x8000 : extoll_rma_page(0, 9);

	xr_store(&vr, ME, off, data, s->bytes);
}

/* Stores the HT cycle of each bus transaction in the request that caused it. */
static void read_log(void)
{
	const struct xbus *b = vr.bus[ME];

	assert_true(b->n_log <= XR_LOG);
	for (uint32_t i = 0; i < b->n_log; i++) {
		uint64_t k = (b->log[i].addr - XR_MEM - 0x100000) / 64;

		seen.req[k].given =
			weft_clock_cycle(&ref.cfg.ht, b->log[i].time);
	}
}

/* Returns the arrival time of a store that is made at a cycle. */
static weft_time_t next_ht(uint64_t cycle)
{
	return weft_clock_align(&ref.cfg.ht,
				weft_clock_edge(&vr.core, cycle) + 1);
}

static void play(void)
{
	uint32_t i = 0, k = 0, taken = 0;
	uint32_t first = exref_nic(&vr)->htax.store.head;

	memset(&seen, 0xff, sizeof(seen));
	while (i < ref.n_req || k < ref.n_store || taken < ref.n_store) {
		uint64_t c = xr_cycle(&vr);

		for (; i < ref.n_req && ref.req[i].cycle == c + 1; i++)
			ask(i);
		for (; k < ref.n_store && ref.store[k].time <= next_ht(c); k++)
			store(&ref.store[k]);
		xr_run(&vr, 1);
		if (exref_nic(&vr)->htax.store.head - first > taken)
			seen.store[taken++].taken = xr_cycle(&vr);
	}
	xr_settle(&vr);
	read_log();
}

/* ---- the scenario ---- */

static void choose(uint64_t from)
{
	static const uint8_t units[] = { EXTOLL_HX_RF,	     EXTOLL_HX_VELO,
					 EXTOLL_HX_RMA_REQ,  EXTOLL_HX_RMA_RESP,
					 EXTOLL_HX_RMA_COMP, EXTOLL_HX_ATU };
	uint32_t dense = 1 + dice(12), reads = dice(5), n = 100 + dice(150);
	uint32_t most = 1 + dice(6);
	uint64_t c = from + 20;

	ref.n_req = 0;
	while (ref.n_req < n) {
		c += dice(dense);
		for (uint32_t u = 0; u < most && ref.n_req < n; u++)
			if (dice(3))
				ref.req[ref.n_req++] = (struct ref_hx_req){
					.cycle = c,
					.unit = units[u],
					.bytes = (uint8_t)(4 + 4 * dice(16)),
					.read = dice(5) < reads,
				};
		c++;
	}
}

/* Chooses random stores. Each happens at the first HT edge after its cycle. */
static void choose_stores(uint64_t from)
{
	uint32_t gap = 1 + dice(20), n = dice(150);
	uint64_t c = from + 20;

	for (ref.n_store = 0; ref.n_store < n; ref.n_store++) {
		ref.store[ref.n_store] = (struct ref_hx_store){
			.time = next_ht(c += dice(gap)),
			.unit = dice(3) ? EXTOLL_HX_RMA_REQ : EXTOLL_HX_RF,
			.bytes = (uint8_t)(8 * (1 + dice(8))),
		};
		if (ref.store[ref.n_store].bytes == RMA_DESC_BYTES)
			ref.store[ref.n_store].bytes = 32;
	}
}

static void compare(void)
{
	for (uint32_t i = 0; i < ref.n_req; i++) {
		assert_int_equal(seen.req[i].granted, ref.req[i].granted);
		assert_int_equal(seen.req[i].given, ref.req[i].given);
		if (ref.req[i].read)
			assert_int_equal(seen.req[i].done, ref.req[i].done);
	}
	for (uint32_t i = 0; i < ref.n_store; i++)
		assert_int_equal(seen.store[i].taken, ref.store[i].taken);
}

static void one(uint64_t seed)
{
	exref_seed(seed);
	ref.cfg = exref_hx();
	exref_open(&vr, &ref.cfg, "");
	choose(xr_cycle(&vr));
	choose_stores(xr_cycle(&vr));
	assert_true(ref_hx_run(&ref, 1000000));
	play();
	compare();
	xr_free(&vr);
}

static void test_htax_does_what_the_reference_does(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++)
		one(seed);
}

/* The first store waits for room. ex_htax_pass_from() returns when the next
 * store behind it arrives, or never if no store follows. */
static void nothing_passes_behind_the_last_store(void **state)
{
	static struct extoll_nic n;

	*ring_push(&n.htax.store) = (struct hx_store){ .cycle = 10 };
	*ring_push(&n.htax.store) = (struct hx_store){ .cycle = 12 };
	*ring_push(&n.htax.store) = (struct hx_store){ .cycle = 30 };
	assert_int_equal(ex_htax_pass_from(&n, 11), 12);
	assert_int_equal(ex_htax_pass_from(&n, 12), 30);
	n.htax.store.tail--;
	assert_int_equal(ex_htax_pass_from(&n, 12), WEFT_NEVER);
	ring_free(&n.htax.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_htax_does_what_the_reference_does),
		cmocka_unit_test(nothing_passes_behind_the_last_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
