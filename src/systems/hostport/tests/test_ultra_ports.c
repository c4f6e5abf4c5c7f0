/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of ULTRA: scenarios U10 to U12 of hostport.md 13.5. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "ultrarig.h"

/* ---- U10: path set-up ---- */

static void setup_near(struct ultrarig *t, struct ultra_end *e)
{
	struct ultra_tx other;

	assert_int_equal(ultra_connect(&e->u, &e->ctl, 1, 0, &other), -EBUSY);
	ultrarig_give(e, 0, 1, 1);
}

static void setup_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_CPL | HP_ULTRA_PAGE(1);
	struct ultra_rx other;

	assert_int_equal(ultra_accept(&e->u, &e->ctl, 0, &t->attr, &other),
			 -EBUSY);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UC_OWNER),
			 0);
	ultrarig_take(e, 1, 1);
}

/* State of the test of the path set-up. At each control message, sent or
 * received, the test checks which registers of the seven steps are enabled. The
 * origin's user tries to send all the time. */
static struct {
	struct ultra_ctl ctl; /* callbacks of the bench */
	uint32_t sent, got;
} step[2];

static bool enabled(struct ultra_end *e, uint32_t unit, uint32_t ctrl)
{
	return weft_io_load64(e->h, &e->u.ports,
			      unit | HP_ULTRA_PAGE(0) | ctrl) &
	       HP_ULTRA_EN;
}

/* Sends a control message of the path set-up. The target sends the request and
 * the completion, the origin sends the response. */
static void step_send(void *own, uint32_t node, const uint64_t *w)
{
	struct ultra_end *e = own;
	uint32_t nth = step[e->node].sent++;

	if (e->node) /* not enabled yet in step 2, enabled in step 6 */
		assert_int_equal(enabled(e, HP_ULTRA_CPL, HP_UC_CTRL), nth);
	else { /* step 4 */
		assert_false(enabled(e, 0, HP_UR_CTRL));
		ultrarig_give(e, 0, 77, 1);
	}
	step[e->node].ctl.send(own, node, w);
}

static void step_recv(void *own, uint32_t node, uint64_t *w)
{
	struct ultra_end *e = own;

	step[e->node].ctl.recv(own, node, w);
	step[e->node].got++;
	if (e->node) { /* step 5 follows */
		assert_false(enabled(e, HP_ULTRA_CPL, HP_UC_CTRL));
	} else { /* step 7 follows */
		assert_false(enabled(e, 0, HP_UR_CTRL));
		ultrarig_give(e, 0, 78, 1);
	}
}

static struct ultra_ctl step_ctl(struct ultra_end *e)
{
	step[e->node].ctl = e->ctl;
	step[e->node].sent = step[e->node].got = 0;
	return (struct ultra_ctl){ e, step_send, step_recv };
}

static void steps_near(struct ultrarig *t, struct ultra_end *e)
{
	struct ultra_ctl ctl = step_ctl(e);
	struct ultra_tx tx;

	e->tx = (struct ultra_tx){ .d = &e->u };
	assert_true(weft_io_map(e->h, e->u.dev, HP_BAR_ULTRA, 0, HP_PAGE,
				WEFT_WC, &e->tx.page));
	assert_int_equal(ultra_connect(&e->u, &ctl, 1, e->p.vpid, &tx), 0);
	assert_int_equal(tx.upid, 0);
	assert_int_equal(ultrarig_counter(t, 0, "ultra_sent"), 0);
	e->tx = tx;
	ultrarig_give(e, 0, 1, 1);
}

static void steps_far(struct ultrarig *t, struct ultra_end *e)
{
	struct ultra_ctl ctl = step_ctl(e);

	assert_int_equal(ultra_accept(&e->u, &ctl, 0, &t->attr, &e->rx), 0);
	ultrarig_take(e, 1, 1);
}

/* U10 */
static void path_setup(void **state)
{
	struct ultrarig t = { .no_path = true };

	ultrarig_run(&t, NULL, NULL, steps_near, steps_far);
	assert_int_equal(step[0].sent, 1);
	assert_int_equal(step[0].got, 2);
	assert_int_equal(step[1].sent, 2);
	assert_int_equal(step[1].got, 1);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_sent"), 1);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 1);
	ultrarig_free(&t);
}

static void no_free_near(struct ultrarig *t, struct ultra_end *e)
{
	/* gives all other ports to other owners */
	for (uint32_t i = 1; i < e->u.n_ports; i++)
		weft_io_store64(e->h, &e->u.ports,
				HP_ULTRA_PAGE(i) | HP_UR_OWNER, 1);
	setup_near(t, e);
}

/* U10 */
static void no_free_port(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, no_free_near, setup_far);
	ultrarig_free(&t);
}

/* Gives all ports before the last one an owner, but no packets. The unit skips
 * groups of 64 such ports at once. */
static void last_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 65; i++)
		weft_io_store64(e->h, &e->u.ports,
				HP_ULTRA_PAGE(i) | HP_UR_OWNER, 1);
	assert_int_equal(ultra_connect(&e->u, &e->ctl, 1, e->p.vpid, &e->tx),
			 0);
	assert_int_equal(e->tx.upid, 65);
	ultrarig_give(e, 0, 1, 1);
}

static void last_far(struct ultrarig *t, struct ultra_end *e)
{
	assert_int_equal(ultra_accept(&e->u, &e->ctl, 0, &t->attr, &e->rx), 0);
	ultrarig_take(e, 1, 1);
}

static void a_port_is_found_behind_64_that_are_idle(void **state)
{
	static const char *const set[] = {
		"hostport.nic:ultra_ports=128",
		"hostport.nic:ultra_packet_queue=8192", NULL
	};
	struct ultrarig t = { .no_path = true };

	ultrarig_run(&t, NULL, set, last_near, last_far);
	ultrarig_free(&t);
}

/* ---- U11: slices by the driver ---- */

static void bits_near(struct ultrarig *t, struct ultra_end *e)
{
	t->v[0] = e->tx.lower;
	t->v[1] = e->tx.size;
	ultrarig_give(e, 0, 1, 1);
}

static void bits_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 1, 1);
}

/* U11: the library finds the part of the queue that a port has. */
static void a_path_has_the_slice_of_its_port(void **state)
{
	static const char *const set[] = { "hostport.nic:ultra_port_slice=63",
					   NULL };
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, set, bits_near, bits_far);
	assert_int_equal(t.v[0], 0);
	assert_int_equal(t.v[1], 63);
	ultrarig_free(&t);
}

static void slices_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_PAGE(e->tx.upid), w[HP_WORDS];

	weft_io_store64(e->h, &e->u.ports, page + HP_UR_CTRL, 0);
	weft_io_store64(e->h, &e->u.ports, page + HP_UR_SLICE,
			110ull << 16 | 100);
	weft_io_store64(e->h, &e->u.ports, page + HP_UR_CTRL, HP_ULTRA_EN);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UR_PTRS),
			 100ull << 16 | 100);
	/* refused, because 10 words do not fit into 9 */
	ultrarig_give(e, 0, 1, 9);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	ultrarig_give(e, 0, 2, 8);
	weft_host_cpu(e->h, 10 * WEFT_US);
	ultrarig_give(e, 0, 3, 8); /* goes round */
	weft_host_cpu(e->h, 10 * WEFT_US);
	assert_int_equal(ultra_read_pointer(&e->tx), 108);
}

static void slices_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 2, 8);
	ultrarig_take(e, 3, 8);
}

/* U11 */
static void slices_change_in_driver_mode_only(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, slices_near, slices_far);
	ultrarig_free(&t);
}

/* A process that has mapped the page of its port and tries to access more:
 * driver mode, the completer's page, the management region. */
static struct weft_turn user_turn(struct weft_host *h, struct weft_proc *p,
				  void *arg)
{
	static const uint32_t far[] = { HP_ULTRA_DRIVER, HP_ULTRA_CPL,
					HP_ULTRA_DRIVER | HP_ULTRA_CPL,
					HP_ULTRA_MGMT };
	struct weft_io *page = arg;

	for (uint32_t i = 0; i < 4; i++) {
		struct weft_io io = *page;

		io.attr = WEFT_UC;
		io.off += far[i];
		assert_int_equal(weft_io_load64(h, &io, HP_UR_CTRL),
				 UINT64_MAX);
		weft_io_store64(h, &io, HP_UR_CTRL, 0);
		weft_io_store64(h, &io, HP_UR_TUPID, 7);
		weft_io_store64(h, &io, HP_UR_SLICE, 0);
	}
	return (struct weft_turn){ .kind = WEFT_TURN_END };
}

static void user_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_PAGE(e->tx.upid);
	uint64_t slice = weft_io_load64(e->h, &e->u.ports, page + HP_UR_SLICE);
	struct weft_proc *p = weft_proc_new(e->h, 0);
	struct weft_io io, no;

	assert_true(weft_proc_map(e->h, p, e->u.dev, HP_BAR_ULTRA, page,
				  HP_PAGE, WEFT_UC, &io));
	assert_true(weft_proc_start(e->h, p, user_turn, &io));
	assert_true(weft_procs_run(e->h, 1));
	t->v[0] = exrig_counter(t->r.node[0].host, "page_faults");
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UR_CTRL),
			 HP_ULTRA_EN);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UR_TUPID),
			 t->end[1].rx.upid);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UR_SLICE),
			 slice);
	ultrarig_give(e, 0, 1, 4);
	/* fails, because another process has that page */
	assert_false(weft_proc_map(e->h, weft_proc_new(e->h, 0), e->u.dev,
				   HP_BAR_ULTRA, page, HP_PAGE, WEFT_UC, &no));
}

static void user_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 1, 4);
}

/* U11 */
static void user_mode(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, user_near, user_far);
	assert_int_equal(t.v[0], 16);
	ultrarig_free(&t);
}

/* ---- ports in turn (9.5) ---- */

enum { TURNS = 3, EACH = 6, AHEAD = 4 };

/* Distance between ports with packets. The last port gets its packets first, so
 * that it ends before the others. */
static uint32_t apart;

/* Opens the second and third port with the route of port 0, for the process
 * that owns port 0. */
static void turns_open(struct ultra_end *e)
{
	static const uint32_t same[] = { HP_UR_VPID,  HP_UR_TUPID,
					 HP_UR_DEST,  HP_UR_LEN,
					 HP_UR_ROUTE, HP_UR_ROUTE + 8 };

	for (uint32_t i = 1; i < TURNS; i++) {
		uint64_t at = HP_ULTRA_PAGE(i * apart), low = 1000 + 100 * i;

		for (uint32_t k = 0; k < sizeof(same) / sizeof(*same); k++)
			weft_io_store64(
				e->h, &e->u.ports, at + same[k],
				weft_io_load64(e->h, &e->u.ports, same[k]));
		weft_io_store64(e->h, &e->u.ports, at + HP_UR_SLICE,
				(low + 100) << 16 | low);
		weft_io_store64(e->h, &e->u.ports, at + HP_UR_CTRL,
				HP_ULTRA_EN);
		assert_int_equal(
			weft_io_load64(e->h, &e->u.ports, at + HP_UR_CTRL),
			HP_ULTRA_EN);
	}
}

/* Gives all ports packets, one port after the other, while the network is off.
 * The unit then takes at most ULTRA_FLYING of them. Notifications arrive in the
 * order in which packets leave. */
static void turns_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS], ctrl = hpdrv_get(&e->d, HP_R_CTRL);
	struct ultra_tx tx = e->tx;

	turns_open(e);
	hpdrv_set(&e->d, HP_R_CTRL, ctrl & ~HP_CTRL_NPS_ALL);
	for (uint32_t i = 0; i < TURNS * EACH; i++) {
		tx.upid = (TURNS - 1 - i / EACH) * apart;
		assert_true(weft_io_map(e->h, e->u.dev, HP_BAR_ULTRA,
					HP_ULTRA_PAGE(tx.upid), HP_PAGE,
					WEFT_WC, &tx.page));
		ultra_send(&tx, ULTRA_NOTIFY, i % EACH, w, 1);
	}
	weft_host_cpu(e->h, 5 * WEFT_US);
	hpdrv_set(&e->d, HP_R_CTRL, ctrl);
	for (uint32_t i = 0, next[TURNS] = { 0 }; i < TURNS * EACH; i++) {
		uint32_t port;

		assert_true(hpproc_wait(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w), 0x110);
		assert_int_equal(w[1] % apart, 0);
		port = (uint32_t)w[1] / apart;
		assert_in_range(port, 0, TURNS - 1);
		assert_int_equal(w[0], next[port]++);
		t->v[i] = port;
	}
}

static void turns_far(struct ultrarig *t, struct ultra_end *e)
{
	weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_MS);
}

static void ports_take_turns(void **state)
{
	static const char *const set[] = {
		"hostport.nic:ultra_ports=192",
		"hostport.nic:ultra_packet_queue=12288", NULL
	};

	for (apart = 1; apart <= 64; apart *= 64) {
		struct ultrarig t = { .attr = { .slices = 2 * EACH } };

		ultrarig_run(&t, NULL, set, turns_near, turns_far);
		for (uint32_t i = AHEAD;
		     i + TURNS <= AHEAD + TURNS * (EACH - AHEAD); i++)
			assert_int_equal(t.v[i], (t.v[i - 1] + 1) % TURNS);
		ultrarig_free(&t);
	}
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

/* A process that has mapped the page of its port. An access to the page of the
 * next port is a fault. */
static struct many {
	struct weft_io page;
	uint32_t upid;
} users[PORTS];

static struct weft_turn many_turn(struct weft_host *h, struct weft_proc *p,
				  void *arg)
{
	struct many *m = arg;
	struct weft_io next = m->page;
	uint64_t w[2] = { m->upid, ~(uint64_t)m->upid };

	weft_io_copy(h, &m->page, HP_ULTRA_START(2), w, 16);
	weft_io_fence(h);
	if (m->upid % 64 == 0) {
		next.off += HP_PAGE;
		next.attr = WEFT_UC;
		weft_io_store64(h, &next, HP_ULTRA_START(1), 0);
		assert_int_equal(weft_io_load64(h, &next, HP_ULTRA_RP),
				 UINT64_MAX);
	}
	return (struct weft_turn){ .kind = WEFT_TURN_END };
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
		struct weft_proc *p = weft_proc_new(e->h, 0);

		users[i].upid = i;
		assert_true(weft_proc_map(e->h, p, e->u.dev, HP_BAR_ULTRA,
					  HP_ULTRA_PAGE(i), HP_PAGE, WEFT_WC,
					  &users[i].page));
		assert_true(weft_proc_start(e->h, p, many_turn, &users[i]));
	}
	assert_true(weft_procs_run(e->h, 4));
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

/* U12 */
static void many_ports(void **state)
{
	static const char *const many[] = {
		"hostport.nic:ultra_ports=2048",
		"hostport.nic:ultra_packet_queue=8192", NULL
	};
	struct ultrarig t = { .no_path = true };

	ultrarig_run(&t, NULL, many, many_near, many_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), PORTS);
	ultrarig_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_mode),
		cmocka_unit_test(path_setup),
		cmocka_unit_test(no_free_port),
		cmocka_unit_test(a_port_is_found_behind_64_that_are_idle),
		cmocka_unit_test(a_path_has_the_slice_of_its_port),
		cmocka_unit_test(slices_change_in_driver_mode_only),
		cmocka_unit_test(ports_take_turns),
		cmocka_unit_test(many_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
