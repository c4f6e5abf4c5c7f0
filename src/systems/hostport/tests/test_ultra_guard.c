/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of ULTRA that change owners (hostport.md 9.3, 9.8): values that the
 * previous owner left in the registers of a port, and VPIDs that the registers
 * name. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/nic/nic.h"

enum { THEIRS = 7, MINE = 9, ALSO = 11, SLICES = 4, WORDS = 8, TRIES = 64 };
enum { OWNED = 1, GIVEN, TAKEN, SENT, END };

static int call(struct weft_host *h, uint32_t op, void *arg)
{
	return weft_drv_call(h, weft_dev_open(h, 0), op, arg);
}

static uint32_t take(struct weft_host *h, uint32_t unit)
{
	struct hport_c_ultra a = { .unit = unit };

	assert_int_equal(call(h, HPORT_C_ULTRA_TAKE, &a), 0);
	return a.upid;
}

static int put(struct weft_host *h, uint32_t unit, uint32_t upid, uint32_t reg,
	       uint64_t val)
{
	struct hport_c_ultra a = { unit, upid, reg, 1, val };

	return call(h, HPORT_C_ULTRA_REG, &a);
}

static uint64_t get(struct weft_host *h, uint32_t unit, uint32_t upid,
		    uint32_t reg)
{
	struct hport_c_ultra a = { unit, upid, reg, 0, 0 };

	assert_int_equal(call(h, HPORT_C_ULTRA_REG, &a), 0);
	return a.val;
}

/* Makes a requester port whose packets go to completer port `to` of this
 * node. */
static uint32_t requester(struct weft_host *h, uint32_t to)
{
	struct hport_c_ultra_route a = { .node = 0 };
	uint32_t upid = take(h, 0);

	assert_int_equal(call(h, HPORT_C_ULTRA_ROUTE, &a), 0);
	assert_int_equal(a.n, 1);
	put(h, 0, upid, HP_UR_TUPID, to);
	put(h, 0, upid, HP_UR_DEST, 1ull << 32 | 1);
	put(h, 0, upid, HP_UR_ROUTE, a.el[0]);
	put(h, 0, upid, HP_UR_LEN, 1);
	put(h, 0, upid, HP_UR_CTRL, HP_ULTRA_EN);
	assert_int_equal(get(h, 0, upid, HP_UR_CTRL), HP_ULTRA_EN);
	return upid;
}

static struct weft_io page_of(struct weft_host *h, uint32_t upid)
{
	struct hport_c_ultra_map a = { .upid = upid };

	assert_int_equal(call(h, HPORT_C_ULTRA_MAP, &a), 0);
	return (struct weft_io){ .dev = weft_dev_open(h, 0),
				 .off = a.off,
				 .len = HP_PAGE,
				 .bar = (uint8_t)a.bar };
}

static void packet(struct weft_host *h, const struct weft_io *page,
		   uint32_t flags, uint32_t words)
{
	for (uint32_t i = 32 - words; i < 32; i++)
		weft_io_store64(h, page, flags | HP_ULTRA_INDEX(i), ~0ull);
	hports_pause(h, 5 * WEFT_US);
}

/* ---- the queue of the previous owner ---- */

static weft_phys_t before; /* address of that queue */

static int queue_again(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	uint32_t c = take(h, HP_ULTRA_CPL), q;
	struct hport_c_ultra_queue a = { c, SLICES, WORDS, 0, 0 };
	struct weft_io page;

	assert_int_equal(call(h, HPORT_C_ULTRA_QUEUE, &a), 0);
	assert_int_equal(get(h, HP_ULTRA_CPL, c, HP_UC_BASE), a.phys);
	assert_int_equal(get(h, HP_ULTRA_CPL, c, HP_UC_SIZE),
			 WORDS << 24 | SLICES);
	before = a.phys;
	put(h, HP_ULTRA_CPL, c, HP_UC_OWNER, 0);
	hports.step = GIVEN;
	hports_await(h, TAKEN);
	assert_int_equal(take(h, HP_ULTRA_CPL), c);
	q = requester(h, c);
	put(h, HP_ULTRA_CPL, c, HP_UC_OUPID, q);
	put(h, HP_ULTRA_CPL, c, HP_UC_HPID, hport_hpid(p));
	put(h, HP_ULTRA_CPL, c, HP_UC_CTRL, HP_ULTRA_EN);
	page = page_of(h, q);
	for (uint32_t i = 0; i < SLICES; i++)
		packet(h, &page, 0, 4);
	hports.step = END;
	hport_close(p);
	return 0;
}

/* Allocates until it gets the memory of the earlier queue. */
static int find(struct hport_drv *d, void *arg)
{
	void **m = arg;

	for (uint32_t i = 0; i < TRIES; i++) {
		weft_phys_t phys;

		*m = hport_kmem_alloc(d, 8 * SLICES * WORDS, &phys);
		assert_non_null(*m);
		if (phys == before)
			return 0;
	}
	return -ENOENT;
}

static int next_user(struct weft_host *h, struct exrig *r, uint32_t node)
{
	void *m;

	hports_await(h, GIVEN);
	assert_int_equal(hport_drv_run(h, find, &m), 0);
	memset(m, 'V', 8 * SLICES * WORDS);
	hports.step = TAKEN;
	hports_await(h, END);
	assert_int_equal(hports_count(m, 8 * SLICES * WORDS, 'V'),
			 8 * SLICES * WORDS);
	return 0;
}

static void a_port_has_no_queue_of_the_owner_before(void **state)
{
	HPORTS_ONE(queue_again, next_user);
}

/* ---- VPIDs that a port names ---- */

static uint32_t named; /* VPID that the attacker's port names */

/* Sends packets that are too long, which are refused and notified. */
static int names_others(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	struct weft_io page;
	uint32_t q;

	hports.step = OWNED;
	hports_await(h, GIVEN);
	q = requester(h, 0);
	put(h, 0, q, HP_UR_CTRL, 0);
	named = (uint32_t)get(h, 0, q, HP_UR_VPID);
	assert_int_equal(put(h, 0, q, HP_UR_VPID, THEIRS), 0); /* free */
	put(h, 0, q, HP_UR_CTRL, HP_ULTRA_EN);
	assert_int_equal(
		put(h, HP_ULTRA_CPL, take(h, HP_ULTRA_CPL), HP_UC_VPID, ALSO),
		0);
	page = page_of(h, q);
	hports.step = TAKEN;
	hports_await(h, SENT);
	for (uint32_t i = 0; i < 20; i++)
		packet(h, &page, HP_ULTRA_NOTIFY, 32);
	put(h, 0, q, HP_UR_CTRL, 0);
	hports.step = END;
	hport_close(p);
	return 0;
}

/* Names its VPID in a port of ULTRA, and gives VPID and port back before the
 * attacker takes the port. */
static int victim(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr want = { .vpid = THEIRS };
	struct hport *p;
	struct hport_note n;
	uint32_t q;

	hports_await(h, OWNED);
	p = hports_open(h, THEIRS);
	q = take(h, 0);
	assert_int_equal(put(h, 0, q, HP_UR_VPID, THEIRS), 0);
	put(h, 0, q, HP_UR_OWNER, 0);
	hport_close(p);
	hports.step = GIVEN;
	hports_await(h, TAKEN);
	/* fails, because the driver assigns no VPID that another port names */
	assert_int_equal(hport_open(h, &want, &p), -EBUSY);
	want.vpid = ALSO; /* VPID that a port of the completer names */
	assert_int_equal(hport_open(h, &want, &p), -EBUSY);
	p = hports_open_any(h);
	assert_int_not_equal(hport_vpid(p), THEIRS);
	hports.step = SENT;
	hports_await(h, END);
	assert_false(hport_poll(p, &n));
	hport_close(p);
	return 0;
}

static void notifications_of_a_port_reach_no_later_owner(void **state)
{
	HPORTS_ONE(names_others, victim);
	assert_int_equal(named, MINE); /* the value of the new owner, and not of
					* the earlier one */
}

/* ---- packets that do not leave ---- */

enum { PACKETS = 100 };

/* Gives a port back while packets wait in it. The receiver has one slice, which
 * never becomes free. If the port got another owner, the waiting packets would
 * take the route of that owner, or packets of that owner would take the old
 * route. */
static int leaves_packets(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	uint32_t c = take(h, HP_ULTRA_CPL), q = requester(h, c), other;
	struct hport_c_ultra_queue a = { c, 1, WORDS, 0, 0 };
	struct weft_io page = page_of(h, q);

	assert_int_equal(call(h, HPORT_C_ULTRA_QUEUE, &a), 0);
	put(h, HP_ULTRA_CPL, c, HP_UC_OUPID, q);
	put(h, HP_ULTRA_CPL, c, HP_UC_HPID, hport_hpid(p));
	put(h, HP_ULTRA_CPL, c, HP_UC_CTRL, HP_ULTRA_EN);
	for (uint32_t i = 0; i < PACKETS; i++)
		packet(h, &page, 0, 4);
	put(h, 0, q, HP_UR_CTRL, 0);
	put(h, 0, q, HP_UR_OWNER, 0);
	assert_int_equal(put(h, 0, q, HP_UR_CTRL, 0), -EBADF);
	other = take(h, 0);
	assert_int_not_equal(other, q);
	/* frees the port, so that the packets are discarded */
	put(h, HP_ULTRA_CPL, c, HP_UC_OWNER, 0);
	put(h, 0, other, HP_UR_OWNER, 0);
	assert_int_equal(take(h, 0), other);
	hport_close(p);
	return 0;
}

static void a_port_with_packets_is_given_to_nobody(void **state)
{
	HPORTS_ONE(leaves_packets);
}

static int switches_off(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	uint32_t q = requester(h, 5); /* port 5 takes no packet */
	struct weft_io page = page_of(h, q);

	for (uint32_t i = 0; i < PACKETS; i++) {
		for (uint32_t k = 28; k < 32; k++)
			weft_io_store64(h, &page, HP_ULTRA_INDEX(k), i);
		if (i == 1)
			put(h, 0, q, HP_UR_CTRL, 0);
	}
	put(h, 0, q, HP_UR_OWNER, 0);
	assert_int_equal(take(h, 0), q);
	assert_int_equal(get(h, 0, q, HP_UR_CTRL), 0);
	assert_int_equal(exrig_counter(r->node[0].nic, "ultra_sent"), 2);
	hport_close(p);
	return 0;
}

static void packets_of_a_port_that_is_off_leave_before_it_goes(void **state)
{
	HPORTS_ONE(switches_off);
}

/* ---- a process that ends ---- */

static uint32_t ports; /* number of ports of each unit that the process had */

static uint32_t take_all(struct weft_host *h, uint32_t unit)
{
	struct hport_c_ultra a = { .unit = unit };
	uint32_t n = 0;

	while (!call(h, HPORT_C_ULTRA_TAKE, &a))
		assert_int_equal(a.upid, n++);
	return n;
}

static int ends(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_c_ultra_queue a = { 0, SLICES, WORDS, 0, 0 };
	struct hport *p = hports_open(h, MINE);

	ports = take_all(h, 0);
	assert_int_equal(take_all(h, HP_ULTRA_CPL), ports);
	assert_true(ports > 1);
	assert_int_equal(call(h, HPORT_C_ULTRA_QUEUE, &a), 0);
	hport_close(p);
	return 0; /* ends with all its ports open */
}

static int takes_them(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p;

	hports_pause(h, 20 * WEFT_MS);
	p = hports_open_any(h);
	assert_int_equal(take_all(h, 0), ports);
	assert_int_equal(take_all(h, HP_ULTRA_CPL), ports);
	assert_int_equal(get(h, HP_ULTRA_CPL, 0, HP_UC_SIZE), 0);
	hport_close(p);
	return 0;
}

static void ports_come_back_with_the_end_of_a_process(void **state)
{
	HPORTS_ONE(ends, takes_them);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_has_no_queue_of_the_owner_before),
		cmocka_unit_test(notifications_of_a_port_reach_no_later_owner),
		cmocka_unit_test(ports_come_back_with_the_end_of_a_process),
		cmocka_unit_test(a_port_with_packets_is_given_to_nobody),
		cmocka_unit_test(
			packets_of_a_port_that_is_off_leave_before_it_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
