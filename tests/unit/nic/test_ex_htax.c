/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL's on-chip crossbar against a reference that goes cycle by cycle
 * (ref_htax.h): random requests of all units, and stores of the host, at random
 * times, lengths, clocks and depths. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "ref_htax.h"
#include "velo_msg.h"

static struct ref_hx ref;
static struct ref_hx seen;
static uint64_t rnd;

static uint32_t dice(uint32_t n)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (uint32_t)(rnd >> 20) % n;
}

/* ---- the device ---- */

static struct extoll_nic *nic(void)
{
	return vr.nic[ME]->state;
}

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
	struct hx_pkt *p =
		r->read ? ex_pkt_new(nic()) : ex_pkt_write(nic(), at, r->bytes);

	p->txn.op = r->read ? WEFT_BUS_READ : WEFT_BUS_WRITE;
	p->txn.addr = at;
	p->txn.bytes = r->bytes;
	p->sent = on_sent;
	p->done = r->read ? on_done : NULL;
	p->user[0] = i;
	ex_htax_send(nic(), r->unit, p, r->cycle);
}

/* A descriptor of the wrong length: counted and dropped by the unit; a store
 * where there is no register. */
static void store(const struct ref_hx_store *s)
{
	static const uint8_t data[64];
	uint64_t off = s->unit == EXTOLL_HX_RF ? 0x8000 : extoll_rma_page(0, 9);

	xr_store(&vr, ME, off, data, s->bytes);
}

/* Which of the reference's requests a bus transaction is. */
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

/* Where a store lands that is made at a cycle. */
static weft_time_t next_ht(uint64_t cycle)
{
	return weft_clock_align(&ref.cfg.ht,
				weft_clock_edge(&vr.core, cycle) + 1);
}

static void play(void)
{
	uint32_t i = 0, k = 0, taken = 0;
	uint32_t first = nic()->htax.store.head;

	memset(&seen, 0xff, sizeof(seen));
	while (i < ref.n_req || k < ref.n_store || taken < ref.n_store) {
		uint64_t c = xr_cycle(&vr);

		for (; i < ref.n_req && ref.req[i].cycle == c + 1; i++)
			ask(i);
		for (; k < ref.n_store && ref.store[k].time <= next_ht(c); k++)
			store(&ref.store[k]);
		xr_run(&vr, 1);
		if (nic()->htax.store.head - first > taken)
			seen.store[taken++].taken = xr_cycle(&vr);
	}
	xr_settle(&vr);
	read_log();
}

/* ---- what is played ---- */

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

/* Each is stored at the first HT edge after the cycle at which it is asked
 * for. */
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

static void configure(char *set, size_t len)
{
	static const uint32_t posted[] = { 1, 2, 5, 16 };
	static const uint32_t reads[] = { 1, 3, 8, 32 };
	static const uint64_t t[] = { 20, 50, 130, 700 };

	ref.cfg = (struct ref_hx_cfg){ .t_sync_in = dice(5),
				       .t_htax = 1 + dice(6),
				       .t_sync_out = dice(5),
				       .posted = posted[dice(4)],
				       .reads = reads[dice(4)],
				       .t_write = t[dice(4)] * WEFT_NS,
				       .t_read = t[dice(4)] * WEFT_NS };
	snprintf(set, len,
		 "t_sync_in=%u t_htax=%u t_sync_out=%u posted=%u reads=%u",
		 ref.cfg.t_sync_in, ref.cfg.t_htax, ref.cfg.t_sync_out,
		 ref.cfg.posted, ref.cfg.reads);
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
	char set[128];

	rnd = seed * 0x9E3779B97F4A7C15ull + 1;
	configure(set, sizeof(set));
	xr_single(&vr, set);
	xr_setup(&vr, ME);
	xr_w64(&vr, ME, EXTOLL_EVQ_SIZE, 0); /* events write nothing */
	xr_settle(&vr);
	ref.cfg.core = vr.core;
	ref.cfg.ht = vr.bus[ME]->clock;
	vr.bus[ME]->t_write = ref.cfg.t_write;
	vr.bus[ME]->t_read = ref.cfg.t_read;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_htax_does_what_the_reference_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
