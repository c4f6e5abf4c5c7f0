/* SPDX-License-Identifier: Apache-2.0 */
/* The RMA user library on simulated nodes (extoll.md 6.1, 6.2; T-13, T-43,
 * T-44). */
#include "unit/cmocka_all.h"
#include "exrig.h"

#include <string.h>

#include "host/heap.h"
#include "systems/extoll/nic/regs_map.h"
#include "systems/extoll/nic/rma_regs_map.h"
#include "weft/rma.h"

#define MB (1u << 20)

static void one(struct exrig *r, exrig_fn fn)
{
	exrig_new(r, "1");
	exrig_prog(r, 0, fn);
	exrig_start(r);
	exrig_run(r);
}

/* ---- T-44: registration ---- */

static int reg_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_attr a = { .memlock = 5 * 4096 };
	struct rma_region *g[3];
	struct rma_port *p;
	rma_nla_t nla, nla2;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 16 * 4096, 4096, &phys);
	static uint8_t stranger[64];

	assert_int_equal(rma_open(h, &a, &p), RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, 0, &g[0]), RMA_INV_VALUE);
	assert_int_equal(rma_register(p, stranger, 64, &g[0]), RMA_IOCTL);
	/* 2 bytes across the end of a page need two pages */
	assert_int_equal(rma_register(p, buf + 4095, 2, &g[0]), RMA_SUCCESS);
	assert_int_equal(rma_get_nla(g[0], 0, &nla), RMA_SUCCESS);
	assert_int_equal(nla % 4096, 4095);
	assert_int_equal(rma_get_nla(g[0], 2, &nla), RMA_INV_VALUE);
	assert_int_equal(rma_register(p, buf, 4 * 4096, &g[1]), RMA_MLOCKLIMIT);
	assert_int_equal(rma_register(p, buf, 3 * 4096, &g[1]), RMA_SUCCESS);
	rma_get_nla(g[1], 0, &nla);
	assert_int_equal(rma_register(p, buf, 1, &g[2]), RMA_MLOCKLIMIT);
	assert_int_equal(rma_unregister(p, g[1]), RMA_SUCCESS);
	assert_int_equal(rma_unregister(p, g[1]), RMA_INV_VALUE);
	assert_int_equal(rma_register(p, buf + 8192, 3 * 4096, &g[1]),
			 RMA_SUCCESS);
	rma_get_nla(g[1], 0, &nla2);
	/* the new region has the entries of the old one */
	assert_int_equal(nla, nla2);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

static void test_registration_refuses_bad_memory_without_leaks(void **state)
{
	struct exrig r;

	one(&r, reg_main);
	exrig_free(&r);
}

/* Registers regions of 32 MB until the group for large regions is full. */
static int full_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_region *g[64], *x;
	struct rma_port *p;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 32 * MB, 4096, &phys);
	uint32_t n = 0;

	assert_non_null(buf);
	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	while (rma_register(p, buf, 32 * MB, &g[n]) == RMA_SUCCESS)
		n++;
	r->v[0] = n;
	assert_int_equal(rma_register(p, buf, 32 * MB, &x), RMA_NO_MEM);
	assert_int_equal(rma_register(p, buf, 4096, &x), RMA_SUCCESS);
	assert_int_equal(rma_unregister(p, g[3]), RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, 32 * MB, &g[3]), RMA_SUCCESS);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	/* All regions fit again, which shows that the closed port has freed its
	 * entries. */
	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	for (n = 0; rma_register(p, buf, 32 * MB, &g[n]) == RMA_SUCCESS;)
		n++;
	assert_int_equal(n, r->v[0]);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	weft_mem_free(h, buf);
	return 0;
}

static void test_table_full(void **state)
{
	struct exrig r;

	one(&r, full_main);
	/* regions of 32 MB fill the group for large regions, which is half of
	 * the table */
	assert_int_equal(r.v[0], 16);
	exrig_free(&r);
}

/* ---- several processes of a node ---- */

static int long_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_region *g;
	struct rma_port *p;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 8 * MB, 4096, &phys);

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, 8 * MB, &g), RMA_SUCCESS);
	weft_oob_get(h, "open");
	weft_oob_put(h, "begun", 1);
	weft_host_sleep(h, 200 * WEFT_US);
	assert_int_equal(rma_unregister(p, g), RMA_SUCCESS);
	r->v[0] = weft_host_now(h);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

static int short_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_region *g;
	struct rma_port *p;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 4096, 4096, &phys);

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	weft_oob_put(h, "open", 1);
	weft_oob_get(h, "begun");
	weft_host_sleep(h, 200 * WEFT_US + 100 * WEFT_NS);
	r->v[1] = weft_host_now(h);
	assert_int_equal(rma_register(p, buf, 4096, &g), RMA_SUCCESS);
	r->v[2] = weft_host_now(h);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

/* The kernel handles one call at a time. */
static void a_registration_waits_for_another_process(void **state)
{
	struct exrig r;

	exrig_new(&r, "1");
	exrig_prog(&r, 0, long_main);
	exrig_prog(&r, 0, short_main);
	exrig_start(&r);
	exrig_run(&r);
	/* short_main registers while long_main is still in its call */
	assert_true(r.v[1] < r.v[0]);
	assert_true(r.v[2] > r.v[0]);
	exrig_free(&r);
}

/* ---- arguments ---- */

/* Checks arguments that are refused at once. c leads from p to q, d from q to
 * p. */
static void args_posts(struct rma_port *p, struct rma_handle *c,
		       struct rma_handle *d, struct rma_region *g)
{
	assert_int_equal(rma_post_put_bt(p, d, g, 0, 8, 0, 0, 0),
			 RMA_INV_HANDLE);
	assert_int_equal(rma_post_put_bt(p, c, g, 0, 0, 0, 0, 0),
			 RMA_INV_VALUE);
	assert_int_equal(rma_post_put_bt(p, c, g, 8190, 3, 0, 0, 0),
			 RMA_INV_VALUE);
	assert_int_equal(rma_post_put_qw(p, c, g, 4, 8, 0, 0, 0),
			 RMA_WRONG_ARG);
	assert_int_equal(rma_post_put_qw(p, c, g, 0, 8, 0, 8, 0),
			 RMA_WRONG_ARG);
	assert_int_equal(rma_post_immediate_put(p, c, 9, 0, 0, 0, 0),
			 RMA_INV_VALUE);
	assert_int_equal(rma_post_lock(p, c, 0, 0, 0, RMA_NOTI_REQUESTER),
			 RMA_WRONG_ARG);
}

/* Sends three notifications to q, which asks for the middle one first. */
static void args_match(struct weft_host *h, struct rma_port *p,
		       struct rma_handle *c, struct rma_port *q)
{
	struct rma_noti *n;

	rma_post_notification(p, c, 11, 1, 0, 0);
	rma_post_immediate_put(p, c, 8, 0, 1ull << 30, RMA_NOTI_COMPLETER, 0);
	rma_post_notification(p, c, 33, 3, 0, 0);
	while (rma_noti_match(q, RMA_NOTI_COMPLETER, RMA_CMD_IMMEDIATE, 0,
			      &n) == RMA_NO_MATCH)
		rma_noti_wait(q, weft_host_now(h) + WEFT_US);
	assert_int_equal(n->error, RMA_NOTI_COMPLETER); /* no such page */
	assert_in_range(heap_size(n), sizeof(*n), 2 * sizeof(*n));
	rma_noti_free(q, n);
	for (uint32_t i = 11; i <= 33; i += 22) {
		assert_int_equal(rma_noti_get_block(q, &n), RMA_SUCCESS);
		assert_int_equal(n->value, i);
		assert_int_equal(n->bytes, i / 11);
		assert_int_equal(n->command, RMA_CMD_NOTIFICATION);
		rma_noti_free(q, n);
	}
}

static int args_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p, *q;
	struct rma_handle *c, *d;
	struct rma_region *g;
	struct rma_noti *n;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 8192, 4096, &phys);

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	assert_int_equal(rma_open(h, NULL, &q), RMA_SUCCESS);
	assert_int_not_equal(rma_get_vpid(p), rma_get_vpid(q));
	assert_int_equal(rma_get_nodeid(p), 0);
	assert_int_equal(rma_connect(p, 1, 0, 0, &c), RMA_NO_ROUTE);
	assert_int_equal(rma_connect(p, 0, 256, 0, &c), RMA_INV_VALUE);
	assert_int_equal(rma_connect(p, 0, rma_get_vpid(q), 0, &c),
			 RMA_SUCCESS);
	assert_int_equal(rma_connect(q, 0, rma_get_vpid(p), 0, &d),
			 RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, 8192, &g), RMA_SUCCESS);
	args_posts(p, c, d, g);
	assert_int_equal(rma_noti_probe(p, &n), RMA_NO_NOTI);
	assert_int_equal(rma_noti_get_until(p, weft_host_now(h) + WEFT_US, &n),
			 RMA_POLL_EXCEEDED);
	assert_int_equal(rma_noti_match(p, -1, -1, -1, &n), RMA_NO_MATCH);
	args_match(h, p, c, q);
	assert_int_equal(rma_disconnect(p, d), RMA_INV_HANDLE);
	assert_int_equal(rma_disconnect(p, c), RMA_SUCCESS);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	assert_int_equal(rma_close(q), RMA_SUCCESS);
	assert_string_equal(rma_strerror(RMA_NO_ROUTE),
			    "there is no such node");
	return 0;
}

static void test_calls_refuse_bad_arguments(void **state)
{
	struct exrig r;

	one(&r, args_main);
	exrig_free(&r);
}

/* ---- T-13: requests of 1 MB ---- */

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 7 ^ i >> 9);
}

static int big_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p;
	struct rma_handle *c;
	struct rma_region *g;
	struct rma_noti *n;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 2 * MB, 4096, &phys);
	uint64_t there;

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	there = weft_oob_get(h, "nla");
	rma_connect(p, 1, (uint32_t)weft_oob_get(h, "vpid"), 0, &c);
	rma_register(p, buf, 2 * MB, &g);
	for (uint32_t i = 0; i < MB; i++)
		buf[i] = pattern(i);
	assert_int_equal(
		rma_post_put_qw(p, c, g, 0, MB, there, RMA_NOTI_COMPLETER, 0),
		RMA_SUCCESS);
	assert_int_equal(rma_post_get_bt(p, c, g, MB + 3, MB - 5, there + 1,
					 RMA_NOTI_COMPLETER, 0),
			 RMA_SUCCESS);
	assert_int_equal(rma_noti_get_block(p, &n), RMA_SUCCESS);
	assert_int_equal(n->error, 0);
	rma_noti_free(p, n);
	for (uint32_t i = 0; i < MB - 5; i++)
		assert_int_equal(buf[MB + 3 + i], pattern(i + 1));
	assert_int_equal(buf[MB + 2], 0);
	assert_int_equal(buf[2 * MB - 2], 0);
	weft_oob_put(h, "end", 1);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

static int big_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p;
	struct rma_region *g;
	struct rma_noti *n;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, MB, 4096, &phys);
	rma_nla_t nla;

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, MB, &g), RMA_SUCCESS);
	rma_get_nla(g, 0, &nla);
	weft_oob_put(h, "vpid", rma_get_vpid(p));
	weft_oob_put(h, "nla", nla);
	assert_int_equal(rma_noti_get_block(p, &n), RMA_SUCCESS);
	assert_int_equal(n->unit, RMA_NOTI_COMPLETER);
	assert_int_equal(n->value, nla + MB - 4096);
	rma_noti_free(p, n);
	for (uint32_t i = 0; i < MB; i++)
		assert_int_equal(buf[i], pattern(i));
	weft_oob_get(h, "end");
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

static void test_put_of_a_megabyte_is_split_at_pages(void **state)
{
	struct exrig r;

	exrig_new(&r, "2");
	exrig_prog(&r, 0, big_near);
	exrig_prog(&r, 1, big_far);
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(exrig_counter(r.node[1].nic, "rma_completions"), 256);
	/* Source and destination have 255 page boundaries each, at different
	 * offsets of the transfer. These cut it into 511 parts. */
	assert_int_equal(exrig_counter(r.node[1].nic, "rma_responses"), 511);
	exrig_free(&r);
}

/* ---- locks of a VPID with several owners ---- */

enum { LOCKS = 16 };

/* Adds 1 to a lock of a port, if the lock is 0. Returns whether it was. */
static bool lock_takes(struct rma_port *p, struct rma_port *of, uint32_t number)
{
	struct rma_handle *c;
	struct rma_noti *n;
	bool taken;

	assert_int_equal(
		rma_connect(p, 0, rma_get_vpid(of), RMA_CONN_DEFAULT, &c),
		RMA_SUCCESS);
	assert_int_equal(rma_post_lock(p, c, number, 0, 1, RMA_NOTI_COMPLETER),
			 RMA_SUCCESS);
	assert_int_equal(rma_noti_get_block(p, &n), RMA_SUCCESS);
	taken = rma_noti_lock_result(n);
	assert_int_equal(rma_noti_lock_value(n), 1);
	rma_noti_free(p, n);
	assert_int_equal(rma_disconnect(p, c), RMA_SUCCESS);
	return taken;
}

/* Ports 0 and 2 stay open, so that the locks of all VPIDs stay in memory. */
static int locks_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p[3];

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rma_open(h, NULL, &p[i]), RMA_SUCCESS);
	for (uint32_t i = 0; i < LOCKS; i++) {
		assert_true(lock_takes(p[0], p[0], i));
		assert_true(lock_takes(p[0], p[2], i));
	}
	for (uint32_t owner = 0; owner < 3; owner++) {
		uint32_t vpid = rma_get_vpid(p[1]);

		for (uint32_t i = 0; i < LOCKS; i++) {
			assert_true(lock_takes(p[0], p[1], i));
			assert_false(lock_takes(p[0], p[1], i));
		}
		assert_int_equal(rma_close(p[1]), RMA_SUCCESS);
		assert_int_equal(rma_open(h, NULL, &p[1]), RMA_SUCCESS);
		assert_int_equal(rma_get_vpid(p[1]), vpid);
	}
	/* those of the other ports are still taken */
	for (uint32_t i = 0; i < LOCKS; i++) {
		assert_false(lock_takes(p[0], p[0], i));
		assert_false(lock_takes(p[0], p[2], i));
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rma_close(p[i]), RMA_SUCCESS);
	return 0;
}

static void locks_of_a_vpid_are_free_for_each_owner(void **state)
{
	struct exrig r;

	exrig_new(&r, "1");
	exrig_prog(&r, 0, locks_main);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- T-43: a process ends with regions open and puts in flight ---- */

static int exit_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p;
	struct rma_handle *c;
	struct rma_region *g;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 4096, 4096, &phys);
	uint64_t there;

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	there = weft_oob_get(h, "nla");
	rma_connect(p, 1, (uint32_t)weft_oob_get(h, "vpid"), 0, &c);
	rma_register(p, buf, 4096, &g);
	memset(buf, 1, 4096);
	for (uint32_t i = 0; i < 60; i++)
		rma_post_put_qw(p, c, g, 0, 4096, there, 0, 0);
	rma_post_put_qw(p, c, g, 0, 4096, there, RMA_NOTI_REQUESTER, 0);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	return 0;
}

static int exit_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p;
	struct rma_region *g;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 4096, 4096, &phys);
	rma_nla_t nla;
	uint32_t vpid;

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	assert_int_equal(rma_register(p, buf, 4096, &g), RMA_SUCCESS);
	rma_get_nla(g, 0, &nla);
	vpid = rma_get_vpid(p);
	weft_oob_put(h, "vpid", vpid);
	weft_oob_put(h, "nla", nla);
	while (!*(volatile uint64_t *)buf)
		weft_host_poll64(h, (uint64_t *)buf, 0, WEFT_NEVER);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	memset(buf, 2, 4096); /* ours again */
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(buf[i], 2);
	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	assert_int_equal(rma_get_vpid(p), vpid); /* reclaimed */
	assert_int_equal(rma_close(p), RMA_SUCCESS);
	r->v[0] = 1;
	return 0;
}

static void test_exit_with_puts_in_flight_discards_late_ones(void **state)
{
	struct exrig r;
	uint64_t done, lost;

	exrig_new(&r, "2");
	exrig_prog(&r, 0, exit_near);
	exrig_prog(&r, 1, exit_far);
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(r.v[0], 1);
	done = exrig_counter(r.node[1].nic, "rma_completions");
	lost = exrig_counter(r.node[1].nic, "rma_discarded") +
	       exrig_counter(r.node[1].nic, "rma_bad_completions");
	assert_int_equal(done + lost, 61);
	assert_true(done > 10 && lost > 10);
	exrig_free(&r);
}

/* ---- state that a closed port leaves in the NIC ---- */

enum { PROBE_PORTS = 3 };

/* Returns a register as a probe sees it, without the bus. */
static uint64_t probe(const struct exrig *r, uint32_t off)
{
	return weft_reg_load(r->node[0].nic, 1 + EXTOLL_BAR, EXTOLL_RF + off,
			     8);
}

static int closing_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct rma_port *p[PROBE_PORTS];
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, MB, 4096, &phys);

	for (uint32_t i = 0; i < PROBE_PORTS; i++) {
		struct rma_handle *c;
		struct rma_region *g;
		rma_nla_t nla;

		assert_int_equal(rma_open(h, NULL, &p[i]), RMA_SUCCESS);
		assert_int_equal(rma_get_vpid(p[i]), i);
		rma_connect(p[i], 0, i, 0, &c);
		rma_register(p[i], buf, MB, &g);
		rma_get_nla(g, 0, &nla);
		rma_post_put_qw(p[i], c, g, 0, MB / 2, nla + MB / 2, 0, 0);
		r->v[i] = probe(r, EXTOLL_RMA_PENDING + 8 * i);
	}
	for (uint32_t i = 0; i < PROBE_PORTS; i++) {
		assert_true(probe(r, EXTOLL_RMA_VPID + 8 * i) & RMA_V_ENABLE);
		assert_int_not_equal(probe(r, EXTOLL_RMA_SIZE + 8 * i), 0);
		assert_int_equal(rma_close(p[i]), RMA_SUCCESS);
		assert_int_equal(probe(r, EXTOLL_RMA_PENDING + 8 * i), 0);
		assert_int_equal(probe(r, EXTOLL_RMA_VPID + 8 * i), 0);
		assert_int_equal(probe(r, EXTOLL_RMA_SIZE + 8 * i), 0);
	}
	return 0;
}

/* After a close the NIC holds no command of the process, and accepts none. */
static void test_close_leaves_nothing(void **state)
{
	struct exrig r;

	one(&r, closing_main);
	for (uint32_t i = 0; i < PROBE_PORTS; i++)
		assert_true(r.v[i] > 0);
	exrig_free(&r);
}

/* Takes all free blocks of a few sizes and gives them back. Returns a sum that
 * changes if another block is free. */
static uintptr_t free_blocks(struct weft_host *h)
{
	enum { BLOCKS = 64, MOST = 256 };
	void *at[BLOCKS];
	uintptr_t sum = 0;

	for (size_t bytes = 16; bytes <= MOST; bytes += 16) {
		for (uint32_t i = 0; i < BLOCKS; i++) {
			at[i] = weft_host_calloc(h, 1, bytes);
			sum += (uintptr_t)at[i] * bytes;
		}
		for (uint32_t i = BLOCKS; i-- > 0;)
			weft_host_free(h, at[i]);
	}
	return sum;
}

/* Closes a port with two notifications that the program has not asked for and
 * one that it has given back. */
static void noted_close(struct weft_host *h, uint8_t *buf)
{
	struct rma_handle *c;
	struct rma_region *g;
	struct rma_port *p;
	struct rma_noti *n;
	rma_nla_t nla;

	assert_int_equal(rma_open(h, NULL, &p), RMA_SUCCESS);
	rma_connect(p, 0, rma_get_vpid(p), 0, &c);
	rma_register(p, buf, 4096, &g);
	rma_get_nla(g, 0, &nla);
	for (uint32_t i = 0; i < 3; i++)
		rma_post_put_bt(p, c, g, 0, 8, nla + 8, RMA_NOTI_COMPLETER, 0);
	while (!rma_noti_wait(p, weft_host_now(h) + WEFT_US))
		;
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	/* moves the others into the library's list */
	assert_int_equal(rma_noti_match(p, RMA_NOTI_REQUESTER, -1, -1, &n),
			 RMA_NO_MATCH);
	assert_int_equal(rma_noti_get_block(p, &n), RMA_SUCCESS);
	rma_noti_free(p, n);
	assert_int_equal(rma_close(p), RMA_SUCCESS);
}

static int noted_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 4096, 4096, &phys);

	for (uint32_t i = 0; i < 3; i++) {
		noted_close(h, buf);
		r->v[i] = free_blocks(h);
	}
	return 0;
}

static void a_closed_port_keeps_no_memory_of_its_program(void **state)
{
	struct exrig r;

	one(&r, noted_main);
	assert_int_equal(r.v[1], r.v[0]);
	assert_int_equal(r.v[2], r.v[0]);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_registration_refuses_bad_memory_without_leaks),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(a_registration_waits_for_another_process),
		cmocka_unit_test(test_calls_refuse_bad_arguments),
		cmocka_unit_test(test_put_of_a_megabyte_is_split_at_pages),
		cmocka_unit_test(locks_of_a_vpid_are_free_for_each_owner),
		cmocka_unit_test(
			test_exit_with_puts_in_flight_discards_late_ones),
		cmocka_unit_test(test_close_leaves_nothing),
		cmocka_unit_test(a_closed_port_keeps_no_memory_of_its_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
