/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA: scenarios U01 to U15 of hostport.md 13.5 and its golden vectors. */
#include "../cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "ultrarig.h"

enum { MAX = 31 };

static void fill(uint64_t *w, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		w[i] = (seed + 1) * 0x9E3779B97F4A7C15ull + i;
}

static void take(struct ultra_end *e, uint64_t tag, uint32_t n)
{
	uint64_t got[MAX] = { 0 }, want[MAX], t = 0;
	int k = ultra_recv(&e->rx, &t, got, MAX, weft_host_now(e->h) + WEFT_MS);

	assert_int_equal(k, n);
	assert_int_equal(t, tag);
	fill(want, n, tag);
	assert_memory_equal(got, want, 8 * n);
}

static void give(struct ultra_end *e, uint32_t flags, uint64_t tag, uint32_t n)
{
	uint64_t w[MAX];

	fill(w, n, tag);
	ultra_send(&e->tx, flags, tag, w, n);
}

static void nothing(struct ultrarig *t, struct ultra_end *e)
{
}

/* ---- U01, U02, U03: lengths and pieces ---- */

static void addresses(void **state)
{
	(void)state;
	assert_int_equal(HP_ULTRA_PAGE(0x123) | HP_ULTRA_NOTIFY | HP_ULTRA_ACK |
				 HP_ULTRA_START(6),
			 0x1236D0);
	assert_int_equal(HP_ULTRA_NOTIFY | HP_ULTRA_ACK |
				 HP_ULTRA_INDEX(HP_ULTRA_LAST),
			 0x6F8);
	assert_int_equal(HP_ULTRA_CPL | HP_ULTRA_PAGE(0x123) | HP_ULTRA_RP,
			 0x923800);
	assert_int_equal(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_ACKED), 0x118);
	assert_int_equal(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_REFUSED), 0x120);
}

/* The packet `tag` of n payload words in stores of `piece` dwords. */
static void give_pieces(struct ultra_end *e, uint64_t tag, uint32_t n,
			uint32_t seed)
{
	uint32_t b[2 * MAX + 2], at = 0, all = 2 * n + 2;
	struct weft_io io = e->tx.page;
	uint64_t w[MAX + 1];

	w[0] = tag;
	fill(w + 1, n, tag);
	memcpy(b, w, 4 * all);
	io.attr = WEFT_UC;
	while (at < all) {
		uint32_t k = 1 + seed % 16,
			 off = HP_ULTRA_START(n + 1) + 4 * at;

		seed = seed * 1103515245 + 12345;
		k = seed >> 16 & 1 ? 1 : k;
		k = k < all - at ? k : all - at;
		weft_io_copy(e->h, &io, off, b + at, 4 * k);
		at += k;
	}
}

static void lengths_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t n = 0; n <= MAX; n++) {
		give(e, 0, 4 * n, n);
		give_pieces(e, 4 * n + 1, n, 7 * n + 1);
		give_pieces(e, 4 * n + 2, n, 0);
		weft_host_cpu(e->h, 20 * WEFT_US);
	}
}

static void lengths_far(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t n = 0; n <= MAX; n++)
		for (uint32_t k = 0; k < 3; k++)
			take(e, 4 * n + k, n);
}

static void lengths(void **state)
{
	static const char *const roomy[] = {
		"hostport.nic:ultra_port_slice=256", NULL
	};
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, roomy, lengths_near, lengths_far);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_sent"), 96);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 96);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_refused"), 0);
	ultrarig_free(&t);
}

/* ---- U04: slice full; broken sequence ---- */

static void full_near(struct ultrarig *t, struct ultra_end *e)
{
	struct weft_io io = e->tx.page;
	uint64_t w[HP_WORDS];

	give(e, 0, 1, MAX);
	give(e, 0, 2, MAX); /* 32 + 32 words in 63 */
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	assert_int_equal(w[0], 2);
	assert_int_equal(w[1], e->tx.upid);
	weft_host_cpu(e->h, 10 * WEFT_US);
	give(e, 0, 3, MAX);
	weft_host_cpu(e->h, 10 * WEFT_US);
	/* an index that does not follow */
	io.attr = WEFT_UC;
	weft_io_store64(e->h, &io, HP_ULTRA_INDEX(28), 4);
	weft_io_store64(e->h, &io, HP_ULTRA_INDEX(31), 5);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	assert_int_equal(w[0], 4);
}

static void full_far(struct ultrarig *t, struct ultra_end *e)
{
	take(e, 1, MAX);
	take(e, 3, MAX);
	take(e, 5, 0);
}

static void slice_full(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, full_near, full_far);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_refused"), 2);
	ultrarig_free(&t);
}

/* ---- U05: loads of a user ---- */

static void loads_near(struct ultrarig *t, struct ultra_end *e)
{
	uint32_t first = ultra_read_pointer(&e->tx);
	uint32_t off;

	give(e, 0, 1, 4);
	weft_host_cpu(e->h, 10 * WEFT_US);
	assert_int_equal(ultra_read_pointer(&e->tx), first + 5);
	for (off = 0; off < HP_ULTRA_RP; off += 264)
		assert_int_equal(weft_io_load64(e->h, &e->tx.page, off & ~7u),
				 UINT64_MAX);
	assert_int_equal(ultra_read_pointer(&e->tx), first + 5);
	give(e, 0, 2, 4);
}

static void loads_far(struct ultrarig *t, struct ultra_end *e)
{
	take(e, 1, 4);
	take(e, 2, 4);
}

static void user_loads(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, loads_near, loads_far);
	ultrarig_free(&t);
}

/* ---- U06: another source ---- */

static void cpl_set(struct ultra_end *e, uint32_t reg, uint64_t val)
{
	uint64_t page = HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid);

	weft_io_store64(e->h, &e->u.ports, page + reg, val);
	weft_io_load64(e->h, &e->u.ports, page + reg);
}

static void wrong_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	ultrarig_meet(e);
	give(e, ULTRA_NOTIFY | ULTRA_ACK, 1, 2);
	assert_false(hpproc_wait(&e->p, w));
	ultrarig_meet(e);
	ultrarig_meet(e);
	give(e, ULTRA_NOTIFY | ULTRA_ACK, 2, 2);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x118);
	assert_int_equal(w[0], 2);
}

static void wrong_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t tag, w[MAX];

	cpl_set(e, HP_UC_OUPID, e->rx.upid + 1);
	ultrarig_meet(e);
	ultrarig_meet(e);
	assert_int_equal(ultra_poll(&e->rx, &tag, w, MAX), -1);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports,
					HP_ULTRA_CPL |
						HP_ULTRA_PAGE(e->rx.upid) |
						HP_UC_PTRS),
			 0);
	cpl_set(e, HP_UC_OUPID, 0);
	ultrarig_meet(e);
	take(e, 2, 2);
}

static void wrong_source(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, wrong_near, wrong_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_discarded"), 1);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 1);
	ultrarig_free(&t);
}

/* ---- U07: receive queue full ---- */

static void queue_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 12; i++) {
		give(e, 0, i, 3);
		weft_host_cpu(e->h, 2 * WEFT_US);
	}
	ultrarig_meet(e);
}

static void queue_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid);

	ultrarig_meet(e);
	/* three of four slices, the others wait */
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UC_PTRS),
			 3ull << 24);
	for (uint32_t i = 0; i < 12; i++)
		take(e, i, 3);
}

static void queue_full(void **state)
{
	struct ultrarig t = { .attr = { .slices = 4 } };

	(void)state;
	ultrarig_run(&t, NULL, NULL, queue_near, queue_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 12);
	ultrarig_free(&t);
}

/* ---- U08, U15: polling ---- */

static void poll_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 20; i++) {
		weft_host_cpu(e->h, 3 * WEFT_US);
		give(e, 0, i, MAX);
	}
}

static void poll_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t loads = exrig_counter(t->r.node[1].host, "loads");

	for (uint32_t i = 0; i < 20; i++)
		take(e, i, MAX);
	assert_int_equal(exrig_counter(t->r.node[1].host, "loads"), loads);
}

static void polling(void **state)
{
	extern const struct weft_class weft_class_bus_pci;
	static const char *const narrow[] = { "bus.pci:width=4",
					      "bus.pci:clock=30ns", NULL };
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, &weft_class_bus_pci, narrow, poll_near, poll_far);
	ultrarig_free(&t);
	memset(&t, 0, sizeof(t));
	ultrarig_run(&t, NULL, NULL, poll_near, poll_far);
	ultrarig_free(&t);
}

/* ---- U09: notifications, interrupt ---- */

static void notes_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	give(e, ULTRA_NOTIFY, 7, 1);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x110);
	assert_int_equal(w[0], 7);
	assert_int_equal(w[1], e->tx.upid);
	give(e, ULTRA_NOTIFY | ULTRA_ACK, 8, 1);
	assert_true(hpproc_wait(&e->p, w));
	t->t[0] = weft_host_now(e->h);
	assert_int_equal(HP_NQE_CMD(w), 0x118);
	assert_int_equal(w[0], 8);
	assert_int_equal(HP_NQE_HPID(w), 2);
	assert_int_equal(ultrarig_counter(t, 0, "irqs"), 0);
	give(e, ULTRA_IRQ | ULTRA_ACK, 9, 1);
	assert_true(weft_host_irq_wait(e->h, e->d.dev,
				       weft_host_now(e->h) + WEFT_MS));
	hpdrv_set(&e->d, HP_R_IRQ_STATUS, HP_IRQ_ULTRA);
	assert_false(hpproc_wait(&e->p, w));
}

static void notes_far(struct ultrarig *t, struct ultra_end *e)
{
	take(e, 7, 1);
	take(e, 8, 1);
	t->t[1] = weft_host_now(e->h);
	take(e, 9, 1);
}

static void notifications(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, notes_near, notes_far);
	assert_true(t.t[0] > t.t[1]); /* acknowledged after the store */
	assert_int_equal(ultrarig_counter(&t, 0, "irqs"), 1);
	ultrarig_free(&t);
}

/* ---- U10: path set-up ---- */

static void setup_near(struct ultrarig *t, struct ultra_end *e)
{
	struct ultra_tx other;

	assert_int_equal(ultra_connect(&e->u, &e->ctl, 1, 0, &other), -EBUSY);
	give(e, 0, 1, 1);
}

static void setup_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_CPL | HP_ULTRA_PAGE(1);
	struct ultra_rx other;

	assert_int_equal(ultra_accept(&e->u, &e->ctl, 0, &t->attr, &other),
			 -EBUSY);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UC_OWNER),
			 0);
	take(e, 1, 1);
}

/* Nobody is enabled: stores go nowhere. */
static void early_near(struct ultrarig *t, struct ultra_end *e)
{
	e->tx = (struct ultra_tx){ .d = &e->u };
	assert_true(weft_io_map(e->h, e->u.dev, HP_BAR_ULTRA, 0, HP_PAGE,
				WEFT_WC, &e->tx.page));
	give(e, 0, 1, 1);
	ultrarig_meet(e);
}

static void early_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_meet(e);
}

static void path_setup(void **state)
{
	static const char *const one[] = { "hostport.nic:ultra_ports=2", NULL };
	struct ultrarig t = { 0 };

	(void)state;
	/* the origin has one port, the target two */
	ultrarig_run(&t, NULL, one, nothing, nothing);
	ultrarig_free(&t);
	memset(&t, 0, sizeof(t));
	t.no_path = true;
	ultrarig_run(&t, NULL, NULL, early_near, early_far);
	assert_int_equal(ultrarig_counter(&t, 0, "packets_out"), 0);
	ultrarig_free(&t);
}

static void no_free_near(struct ultrarig *t, struct ultra_end *e)
{
	/* the driver has given all other ports away */
	for (uint32_t i = 1; i < e->u.n_ports; i++)
		weft_io_store64(e->h, &e->u.ports,
				HP_ULTRA_PAGE(i) | HP_UR_OWNER, 1);
	setup_near(t, e);
}

static void no_free_port(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, no_free_near, setup_far);
	ultrarig_free(&t);
}

/* ---- U11: slices by the driver ---- */

static void slices_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_PAGE(e->tx.upid), w[HP_WORDS];

	weft_io_store64(e->h, &e->u.ports, page + HP_UR_CTRL, 0);
	weft_io_store64(e->h, &e->u.ports, page + HP_UR_SLICE,
			110ull << 16 | 100);
	weft_io_store64(e->h, &e->u.ports, page + HP_UR_CTRL, HP_ULTRA_EN);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UR_PTRS),
			 100ull << 16 | 100);
	give(e, 0, 1, 9); /* 10 words in 9 */
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	give(e, 0, 2, 8);
	weft_host_cpu(e->h, 10 * WEFT_US);
	give(e, 0, 3, 8); /* goes round */
	weft_host_cpu(e->h, 10 * WEFT_US);
	assert_int_equal(ultra_read_pointer(&e->tx), 108);
	/* a page of the user does not reach the driver's */
	assert_int_equal(e->tx.page.len, HP_PAGE);
}

static void slices_far(struct ultrarig *t, struct ultra_end *e)
{
	take(e, 2, 8);
	take(e, 3, 8);
}

static void slices(void **state)
{
	struct ultrarig t = { 0 };

	(void)state;
	ultrarig_run(&t, NULL, NULL, slices_near, slices_far);
	ultrarig_free(&t);
}

/* ---- U12: 2048 ports ---- */

enum { PORTS = 2048, SLICE = 4 };

static void many_put(struct ultra_end *e, uint32_t unit, uint32_t i,
		     uint32_t reg, uint64_t val)
{
	weft_io_store64(e->h, &e->u.ports, unit | HP_ULTRA_PAGE(i) | reg, val);
}

static uint32_t many_peer(uint32_t i)
{
	return (i * 5 + 3) % PORTS;
}

static void many_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < PORTS; i++) {
		many_put(e, 0, i, HP_UR_TUPID, many_peer(i));
		many_put(e, 0, i, HP_UR_DEST, 2ull << 32 | 2);
		many_put(e, 0, i, HP_UR_ROUTE, 0x0141); /* +x, NP0 */
		many_put(e, 0, i, HP_UR_LEN, 2);
		many_put(e, 0, i, HP_UR_SLICE,
			 (uint64_t)(i + 1) * 4 << 16 | i * 4);
		many_put(e, 0, i, HP_UR_CTRL, HP_ULTRA_EN);
	}
	ultrarig_meet(e);
	for (uint32_t i = 0; i < PORTS; i++) {
		struct weft_io io;
		uint64_t w[2] = { i, ~(uint64_t)i };

		assert_true(weft_io_map(e->h, e->u.dev, HP_BAR_ULTRA,
					HP_ULTRA_PAGE(i), HP_PAGE, WEFT_WC,
					&io));
		weft_io_copy(e->h, &io, HP_ULTRA_START(2), w, 16);
		weft_io_fence(e->h);
	}
	ultrarig_meet(e);
}

static void many_far(struct ultrarig *t, struct ultra_end *e)
{
	weft_phys_t phys;
	volatile uint64_t *q =
		weft_mem_alloc(e->h, 8ull * PORTS * 2 * SLICE, HP_PAGE, &phys);

	assert_non_null(q);
	for (uint32_t i = 0; i < PORTS; i++) {
		many_put(e, HP_ULTRA_CPL, many_peer(i), HP_UC_OUPID, i);
		many_put(e, HP_ULTRA_CPL, i, HP_UC_HPID, 1);
		many_put(e, HP_ULTRA_CPL, i, HP_UC_BASE,
			 phys + 8ull * i * 2 * SLICE);
		many_put(e, HP_ULTRA_CPL, i, HP_UC_SIZE, SLICE << 24 | 2);
		many_put(e, HP_ULTRA_CPL, i, HP_UC_CTRL, HP_ULTRA_EN);
	}
	ultrarig_meet(e);
	ultrarig_meet(e);
	weft_host_cpu(e->h, WEFT_MS);
	weft_host_poll64(e->h, q, 1, weft_host_now(e->h) + WEFT_US);
	for (uint32_t i = 0; i < PORTS; i++) {
		volatile uint64_t *s = q + many_peer(i) * 2 * SLICE;

		assert_int_equal(s[3], 1ull << 63 | 1);
		assert_int_equal(s[1], i);
		assert_int_equal(s[2], ~(uint64_t)i);
		assert_int_equal(s[0] | s[4] | s[5] | s[6] | s[7], 0);
	}
}

static void many_ports(void **state)
{
	static const char *const many[] = {
		"hostport.nic:ultra_ports=2048",
		"hostport.nic:ultra_packet_queue=8192", NULL
	};
	struct ultrarig t = { .no_path = true };

	(void)state;
	ultrarig_run(&t, NULL, many, many_near, many_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), PORTS);
	ultrarig_free(&t);
}

/* ---- U13, U14: cycles ---- */

static void time_near(struct ultrarig *t, struct ultra_end *e)
{
	weft_time_t us = weft_host_now(e->h) / WEFT_US;

	weft_host_sleep(e->h, (us + 10) * WEFT_US);
	t->t[0] = weft_host_now(e->h);
	give(e, 0, 1, 1);
}

static void time_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[MAX], tag;

	while (ultra_poll(&e->rx, &tag, w, MAX) < 0)
		weft_host_poll64(e->h, e->rx.queue + e->rx.words - 1, 0,
				 WEFT_NEVER);
	t->t[1] = weft_host_now(e->h);
}

static weft_time_t latency(const char *set)
{
	const char *const sets[] = { "extoll.xbar:clock=200MHz",
				     "hostport.nic:net_clock=200MHz", set,
				     NULL };
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, sets, time_near, time_far);
	ultrarig_free(&t);
	return t.t[1] - t.t[0];
}

/* Every configured latency appears once, to the femtosecond (in steps of the
 * core clock). */
static void latencies(void **state)
{
	weft_time_t base = latency(NULL);

	(void)state;
	assert_int_equal(latency("hostport.nic:ultra_req_latency=23") - base,
			 100 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_req_latency=3"),
			 base - 100 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_cpl_latency=21") - base,
			 90 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_cpl_occupancy=50"), base);
	assert_int_equal(latency("extoll.xbar:t_lp_in=30") - base,
			 100 * WEFT_NS);
	assert_int_equal(latency("extoll.xbar:t_route=15") - base,
			 100 * WEFT_NS);
}

static void rate_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 40; i++)
		give(e, 0, i, 1);
}

static void rate_far(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t w[MAX], tag;

		while (ultra_poll(&e->rx, &tag, w, MAX) < 0)
			weft_host_poll64(
				e->h,
				e->rx.queue + (e->rx.rp + 1) * e->rx.words - 1,
				0, WEFT_NEVER);
		assert_int_equal(tag, i);
		t->t[i] = weft_host_now(e->h);
	}
}

static void rate(void **state)
{
	static const char *const roomy[] = {
		"hostport.nic:ultra_port_slice=256", NULL
	};
	struct ultrarig t = { .attr = { .slices = 256 } };

	(void)state;
	ultrarig_run(&t, NULL, roomy, rate_near, rate_far);
	/* one packet in 21 cycles of 10 ns */
	assert_int_equal((t.t[30] - t.t[10] + 5 * WEFT_NS) / (10 * WEFT_NS),
			 20 * 21);
	ultrarig_free(&t);
}

/* ---- packets kept on the device (9.6) ---- */

static void device_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 10; i++) {
		give(e, 0, i, i);
		weft_host_cpu(e->h, 2 * WEFT_US);
	}
	ultrarig_meet(e);
}

static void device_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_meet(e);
	for (uint32_t i = 0; i < 10; i++)
		take(e, i, i);
	assert_int_equal(weft_io_load64(e->h, &e->rx.page, 0), 0);
}

static void on_device(void **state)
{
	struct ultrarig t = { .attr = { .slices = 4, .on_device = true } };

	(void)state;
	ultrarig_run(&t, NULL, NULL, device_near, device_far);
	ultrarig_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),	cmocka_unit_test(lengths),
		cmocka_unit_test(slice_full),	cmocka_unit_test(user_loads),
		cmocka_unit_test(wrong_source), cmocka_unit_test(queue_full),
		cmocka_unit_test(polling),	cmocka_unit_test(notifications),
		cmocka_unit_test(path_setup),	cmocka_unit_test(no_free_port),
		cmocka_unit_test(slices),	cmocka_unit_test(many_ports),
		cmocka_unit_test(latencies),	cmocka_unit_test(rate),
		cmocka_unit_test(on_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
