/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL: scenarios L01 to L06 of hostport.md 13.6, on nodes with host, PCI-X
 * and NIC each, in a mesh of `width` columns. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "host/prog.h"
#include "link/atoll_wire.h"
#include "measure/result.h"
#include "nic/atoll_regs.h"
#include "weft/atoll.h"

extern const struct weft_class weft_class_host_pc, weft_class_bus_pcix;
extern const struct weft_class weft_class_atoll_nic, weft_class_link_cable;

enum { NODES = 9, WORDS = 1024 };

struct rig;
typedef void (*rig_fn)(struct rig *r, struct weft_host *h, uint32_t node);

struct rig {
	struct weft_sim *sim;
	struct weft_comp *nic[NODES], *host[NODES];
	uint32_t nodes, width;
	rig_fn fn, manager;
	uint32_t hit, bit, kind; /* of the fault */
	uint32_t chars;		 /* longest routing string seen on a cable */
	bool recover;
	/* what programs saw */
	uint32_t got[NODES], took, again, reported;
	weft_time_t t[NODES];
};

struct prog {
	struct rig *r;
	rig_fn fn;
	uint32_t node;
};

static int prog_main(struct weft_comp *c)
{
	struct prog *p = c->state;

	p->fn(p->r, weft_prog_host(c), p->node);
	return 0;
}

static WEFT_COMPONENT(prog, .name = "test.prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test function", .state_size = sizeof(struct prog),
		      .ops = { .main = prog_main });

/* ---- a fault that turns bits of one flit over, and looks at routes ---- */

struct tap {
	struct rig *r;
	uint32_t seen;
};

static void tap_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;
	struct rig *r = t->r;
	const struct at_line *l = at_line(f);

	if (l->kind == AT_HEAD && f->payload.len > r->chars)
		r->chars = f->payload.len;
	if (r->hit && l->kind == r->kind && ++t->seen == r->hit) {
		uint32_t n = atoll_wire.encode(f, NULL, 0);

		f->raw = weft_raw_new(c->sim, n);
		f->raw->n = atoll_wire.encode(f, f->raw->sym, n);
		f->raw->sym[2 + r->bit / 8] ^= (uint16_t)(1 << r->bit % 8);
	}
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(tap, .name = "test.tap", .kind = WEFT_KIND_FAULT,
		      .doc = "bits of one flit",
		      .state_size = sizeof(struct tap),
		      .ops = { .filter = tap_filter });

/* ---- the bench ---- */

static void must(int ret, const struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "%s\n", err->msg);
	abort();
}

static struct weft_comp *add(struct rig *r, const struct weft_class *cls,
			     uint32_t node, const char *what, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[32], par[32], val[32];

	snprintf(name, sizeof(name), "n%u.%s", node, what);
	c = weft_sim_add(r->sim, cls, name, &err);
	must(!c, &err);
	for (int used = 0;
	     set && sscanf(set, " %31[^=]=%31s%n", par, val, &used) == 2;
	     set += used)
		must(weft_param_set(c, par, val, &err), &err);
	return c;
}

static void join(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link)
{
	struct weft_err err = { 0 };

	must(weft_connect(a, b, link, 0, &err), &err);
}

static struct weft_comp *add_prog(struct rig *r, uint32_t node,
				  const char *what, rig_fn fn)
{
	struct weft_comp *c = add(r, &weft_class_prog, node, what, NULL);

	*(struct prog *)c->state = (struct prog){ r, fn, node };
	return c;
}

static void node_new(struct rig *r, uint32_t i, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *bus = add(r, &weft_class_bus_pcix, i, "bus", NULL);
	struct weft_comp *prog = add_prog(r, i, "prog0", r->fn);
	struct weft_comp *mgr =
		r->manager ? add_prog(r, i, "prog1", r->manager) : NULL;

	r->host[i] = add(r, &weft_class_host_pc, i, "host", NULL);
	r->nic[i] = add(r, &weft_class_atoll_nic, i, "nic", set);
	must(weft_comp_init(bus, &err), &err);
	must(weft_comp_init(r->host[i], &err), &err);
	must(weft_comp_init(r->nic[i], &err), &err);
	must(weft_comp_init(prog, &err), &err);
	if (mgr)
		must(weft_comp_init(mgr, &err), &err);
	join(&bus->ports[0], &r->host[i]->ports[0], NULL);
	join(&bus->ports[1], &r->nic[i]->ports[0], NULL);
	must(weft_prog_attach(r->host[i], prog), &err);
	if (mgr)
		must(weft_prog_attach(r->host[i], mgr), &err);
}

static void tap_on(struct rig *r, uint32_t node, struct weft_port *p)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = add(r, &weft_class_tap, node, p->name, NULL);

	((struct tap *)c->state)->r = r;
	must(weft_comp_init(c, &err), &err);
	must(weft_filter_add(p, c, &err), &err);
}

/* Links 0 to +x, 1 to -x, 2 to +y, 3 to -y. */
static void rig_run(struct rig *r, uint32_t nodes, uint32_t width,
		    const char *set, const char *cable, bool tap)
{
	struct weft_err err = { 0 };
	struct weft_comp *link;

	r->sim = weft_sim_new(1);
	r->nodes = nodes;
	r->width = width;
	for (uint32_t i = 0; i < nodes; i++)
		node_new(r, i, set);
	link = add(r, &weft_class_link_cable, 0, "cable", cable);
	must(weft_comp_init(link, &err), &err);
	for (uint32_t i = 0; i < nodes; i++) {
		if (i % width + 1 < width)
			join(&r->nic[i]->ports[1], &r->nic[i + 1]->ports[2],
			     link);
		if (i + width < nodes)
			join(&r->nic[i]->ports[3], &r->nic[i + width]->ports[4],
			     link);
	}
	if (tap)
		tap_on(r, 0, &r->nic[0]->ports[1]);
	must(weft_sim_start(r->sim, &err), &err);
	weft_sim_run(r->sim, WEFT_NEVER);
	must(weft_sim_finish(r->sim, &err), &err);
}

static uint64_t counter(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	abort();
}

static uint64_t all(const struct rig *r, const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nodes; i++)
		n += counter(r->nic[i], name);
	return n;
}

static size_t failures(const struct rig *r)
{
	return weft_sim_result(r->sim)->n_failures;
}

static void fill(uint64_t *w, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		w[i] = seed * 0x9E3779B97F4A7C15ull + i;
}

static bool good(const uint64_t *w, uint32_t n, uint64_t seed)
{
	uint64_t want[WORDS];

	fill(want, n, seed);
	return !memcmp(w, want, 8 * n);
}

static struct atoll_port *open_port(struct weft_host *h, uint32_t port,
				    enum atoll_mode mode)
{
	struct atoll_attr a = { .port = port, .mode = mode };
	struct atoll_port *p;

	assert_int_equal(atoll_open(h, &a, &p), 0);
	return p;
}

/* ---- L01, L06: a line of nodes ---- */

static void line_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 4, 4, 4, 2, 7, 7 };
	struct atoll_port *p =
		open_port(h, 2, node % 2 ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	if (!node) {
		weft_host_cpu(h, 100 * WEFT_US);
		fill(w, 8, 5);
		/* what follows the host port is thrown away */
		assert_int_equal(atoll_send(p, route, 7, 0x77, w, 64), 0);
	}
	if (node == 4) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_int_equal(m.bytes, 64);
		assert_int_equal(m.node, 0);
		assert_int_equal(m.port, 2);
		assert_int_equal(m.tag, 0x77);
		assert_true(good(w, 8, 5));
		r->got[4]++;
	}
}

/* L01, L06 */
static void line(void **state)
{
	struct rig r = { .fn = line_side };
	const struct hist *hop;

	(void)state;
	rig_run(&r, 5, 5, NULL, "delay=50ns", true);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(r.got[4], 1);
	assert_int_equal(r.chars, 6); /* one of seven is gone */
	hop = result_hist_get(weft_sim_result(r.sim), "n2.nic.hop", "cycles");
	assert_non_null(hop);
	assert_int_equal(hop->min, 30);
	assert_int_equal(hop->max, 30);
	hop = result_hist_get(weft_sim_result(r.sim), "n2.nic.fall_through",
			      "cycles");
	assert_int_equal(hop->min, 3);
	assert_int_equal(hop->max, 3);
	weft_sim_free(r.sim);
}

/* ---- L02: damage ---- */

static void damage_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 1 };
	struct atoll_port *p = open_port(h, 1, ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	if (!node)
		weft_host_cpu(h, 20 * WEFT_US);
	for (uint32_t i = 0; !node && i < 3; i++) {
		fill(w, 100, i);
		atoll_send(p, route, 2, i, w, 800);
	}
	for (uint32_t i = 0; node && i < 3; i++) {
		if (!atoll_recv(p, &m, w, sizeof(w),
				weft_host_now(h) + WEFT_MS))
			return;
		assert_int_equal(m.tag, r->kind == AT_HEAD ? i + 1 : i);
		assert_true(good(w, 100, m.tag));
		r->got[1]++;
	}
}

/* Each bit of a data flit, and of its CRC (L02). */
static void damaged_data(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < 8 * (AT_FLIT + 2); bit += 37) {
		struct rig r = {
			.fn = damage_side, .hit = 5, .bit = bit, .kind = AT_DATA
		};

		rig_run(&r, 2, 2, NULL, "delay=50ns", true);
		assert_int_equal(failures(&r), 0);
		assert_int_equal(r.got[1], 3);
		assert_true(counter(r.nic[1], "bad_flits") >= 1);
		assert_true(counter(r.nic[0], "resent") >= 1);
		assert_int_equal(counter(r.nic[1], "received"), 3);
		weft_sim_free(r.sim);
	}
}

/* A routing character with one wrong bit: the packet is for the management
 * (L02). */
static void damaged_route(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < 8; bit++) {
		struct rig r = {
			.fn = damage_side, .hit = 1, .bit = bit, .kind = AT_HEAD
		};

		rig_run(&r, 2, 2, NULL, "delay=50ns", true);
		assert_int_equal(counter(r.nic[1], "parity"), 1);
		assert_int_equal(counter(r.nic[1], "irqs"), 1);
		assert_int_equal(r.got[1], 2);
		weft_sim_free(r.sim);
	}
}

/* ---- L03: stop and continue ---- */

static void flood_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 1 };
	struct atoll_port *p = open_port(h, 1, node ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	for (uint32_t i = 0; !node && i < 4; i++) {
		fill(w, 1000, i);
		atoll_send(p, route, 2, i, w, 8000);
	}
	/* loads are slow: the network fills */
	for (uint32_t i = 0; node && i < 4; i++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_int_equal(m.tag, i);
		assert_true(good(w, 1000, i));
		r->got[1]++;
	}
}

/* L03 */
static void stop_continue(void **state)
{
	static const char *const set[] = {
		"", "buffer=1024 stop_free=1023 cont_free=1024",
		"buffer=382 stop_free=380 cont_free=381",
		"t_out=300 buffer=2000 stop_free=1000 cont_free=1001"
	};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct rig r = { .fn = flood_side };

		rig_run(&r, 2, 2, set[i], i == 2 ? "delay=300ns" : "delay=50ns",
			false);
		assert_int_equal(failures(&r), 0);
		assert_int_equal(r.got[1], 4);
		assert_true(counter(r.nic[1], "stops") > 4);
		assert_int_equal(all(&r, "overflows"), 0);
		weft_sim_free(r.sim);
	}
}

/* L03: between stop and continue a buffer gives away cont_free - stop_free
 * bytes at least, so what it takes bounds the stops. */
static void a_link_continues_at_the_higher_threshold(void **state)
{
	enum { BYTES = 4 * 8000, STEP = 1024 };
	struct rig r = { .fn = flood_side };

	(void)state;
	rig_run(&r, 2, 2, "buffer=2048 stop_free=512 cont_free=1536",
		"delay=50ns", false);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(r.got[1], 4);
	assert_in_range(counter(r.nic[1], "stops"), 5, BYTES / STEP + 1);
	weft_sim_free(r.sim);
}

/* ---- L04, L05: deadlock ---- */

static const uint8_t ring[4][3] = {
	{ 4, 6, 1 }, { 6, 5, 1 }, { 7, 4, 1 }, { 5, 7, 1 }
};
static const uint32_t before[4] = { 3, 2, 1, 0 };

static void ring_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = open_port(h, 1, ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, 100 * WEFT_US);
	fill(w, 512, node);
	atoll_send(p, ring[node], 3, 9, w, 4096);
	if (!atoll_recv(p, &m, w, sizeof(w), weft_host_now(h) + 5 * WEFT_MS))
		return;
	assert_int_equal(m.node, before[node]);
	assert_int_equal(m.tag, 9);
	assert_true(good(w, 512, before[node]));
	r->got[node]++;
}

static uint32_t dl_cycles = 1000; /* the timer's */

static void manager(struct rig *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = open_port(h, 0, ATOLL_DMA);
	struct atoll_deadlock d;
	struct atoll_msg m;
	uint64_t w[WORDS];

	atoll_manage(p, dl_cycles);
	if (!atoll_irq_wait(p, 3 * WEFT_MS))
		return;
	r->t[node] = weft_host_now(h);
	weft_host_sleep(h, weft_host_now(h) + (node + 1) * 100 * WEFT_US);
	if (!atoll_deadlock(p, &d))
		return;
	if (!r->recover) {
		r->reported++;
		return;
	}
	assert_true(atoll_retrieve(p, &d));
	r->took++;
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	assert_true(m.retrieved);
	assert_int_equal(m.n_route, 2);
	assert_int_equal(atoll_again(p, &m, w), 0);
	r->again++;
}

/* L04 */
static void deadlock(void **state)
{
	struct rig r = { .fn = ring_side, .manager = manager, .recover = true };

	(void)state;
	rig_run(&r, 4, 2, NULL, "delay=50ns", false);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(r.took, 1);
	assert_int_equal(r.again, 1);
	assert_int_equal(all(&r, "retrieved"), 1);
	assert_true(all(&r, "deadlocks") >= 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.got[i], 1);
	weft_sim_free(r.sim);
}

static bool failed(const struct weft_result *res, const char *text)
{
	for (size_t i = 0; i < res->n_failures; i++)
		if (!strcmp(res->failures[i], text))
			return true;
	return false;
}

static void deadlock_stays(void **state)
{
	struct rig r = { .fn = ring_side, .manager = manager };
	const struct weft_result *res;
	uint32_t named = 0;

	(void)state;
	rig_run(&r, 4, 2, NULL, "delay=50ns", false);
	res = weft_sim_result(r.sim);
	assert_int_equal(r.reported, 4);
	/* and the NICs, with their ports */
	for (size_t i = 0; i < res->n_failures; i++)
		named += !!strstr(res->failures[i], " waits for it");
	assert_int_equal(named, 4);
	assert_true(failed(res,
			   "n0.nic: deadlock: OutPort 4 is granted to "
			   "InPort 1 and stopped, InPort 6 waits for it"));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.got[i], 0);
	weft_sim_free(r.sim);
}

static void timer_run(struct rig *r, uint32_t nodes, uint32_t width,
		      uint32_t cycles)
{
	dl_cycles = cycles;
	rig_run(r, nodes, width, NULL, "delay=50ns", false);
	dl_cycles = 1000;
}

static weft_time_t deadlock_at(uint32_t cycles)
{
	struct rig r = { .fn = ring_side, .manager = manager };
	weft_time_t t;

	timer_run(&r, 4, 2, cycles);
	assert_int_equal(r.reported, 4);
	t = r.t[0];
	weft_sim_free(r.sim);
	return t;
}

/* L04: the timer counts as many cycles of 330 MHz as it was given. */
static void deadlock_timer(void **state)
{
	weft_time_t more = deadlock_at(9000) - deadlock_at(1000);

	(void)state;
	assert_in_range(more, 7900 * (WEFT_SEC / 330000000),
			8100 * (WEFT_SEC / 330000000));
}

/* The same packets, one node after the other: no condition, no interrupt. */
static void quiet_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = open_port(h, 1, ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, (node + 1) * 100 * WEFT_US);
	fill(w, 512, node);
	atoll_send(p, ring[node], 3, 9, w, 4096);
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	r->got[node]++;
}

/* L05 */
static void no_condition(void **state)
{
	struct rig r = { .fn = quiet_side, .manager = manager };

	(void)state;
	rig_run(&r, 4, 2, NULL, "delay=50ns", false);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(all(&r, "deadlocks"), 0);
	assert_int_equal(all(&r, "irqs"), 0);
	assert_int_equal(all(&r, "received"), 4);
	weft_sim_free(r.sim);
}

/* Two neighbours send to a host port whose words are loaded one by one: its
 * OutPort is granted, stopped and wanted by the other, until there is room for
 * a flit again. */
static void slow_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[3][2] = { { 4, 1 }, { 0 }, { 5, 1 } };
	struct atoll_port *p =
		open_port(h, 1, node == 1 ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, 100 * WEFT_US);
	for (uint32_t i = 0; node != 1 && i < 2; i++) {
		fill(w, 500, node);
		atoll_send(p, route[node], 2, node, w, 4000);
	}
	for (uint32_t i = 0; node == 1 && i < 4; i++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_true(good(w, 500, m.tag));
		r->got[1]++;
	}
}

/* Times that the timer has expired, set to so many cycles. */
static uint64_t slow_run(uint32_t cycles)
{
	struct rig r = { .fn = slow_side, .manager = manager };
	uint64_t n;

	timer_run(&r, 3, 3, cycles);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(r.got[1], 4);
	n = all(&r, "deadlocks");
	assert_int_equal(all(&r, "irqs") > 0, n > 0);
	weft_sim_free(r.sim);
	return n;
}

/* L05: the condition holds for some hundred cycles, again and again; the timer
 * starts anew each time. */
static void a_condition_that_goes_resets_the_timer(void **state)
{
	(void)state;
	assert_true(slow_run(250) > 100);
	assert_int_equal(slow_run(1500), 0);
}

/* Three host ports of node 0 send through one link, whose far end takes
 * nothing: the packet of port 1 is granted and stopped.  That of port 2 waits
 * behind it until management takes it out, long before the timer is over: the
 * condition goes, although no flit does.  Then that of port 3 comes. */
enum { TIMER = 26400 }; /* 80 us */
static weft_time_t condition, fired;

static int send_later(struct weft_host *h, void *arg)
{
	static const uint8_t route[] = { 4, 1 };
	uint32_t i = *(const uint32_t *)arg;
	struct atoll_port *p = open_port(h, i, ATOLL_DMA);
	uint64_t w[WORDS];

	weft_host_sleep(h, i * 100 * WEFT_US);
	condition = weft_host_now(h); /* the last one's */
	fill(w, 1000, i);
	return atoll_send(p, route, 2, i, w, 8000);
}

static void link_side(struct rig *r, struct weft_host *h, uint32_t node)
{
	static uint32_t port[] = { 1, 2, 3 };
	struct atoll_port *p;
	uint64_t w[WORDS];
	struct atoll_msg m;

	for (uint32_t i = 0; !node && i < 3; i++)
		assert_non_null(weft_thread_start(h, send_later, &port[i]));
	if (!node)
		return;
	p = open_port(h, 1, ATOLL_PIO);
	weft_host_sleep(h, 800 * WEFT_US);
	for (; r->got[1] < 3; r->got[1]++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_true(good(w, 1000, m.tag));
	}
}

static void takes_one(struct rig *r, struct weft_host *h, uint32_t node)
{
	/* clears the counter of an OutPort, too: not of the one that counts */
	struct atoll_deadlock d = { .out = 7, .waits = 2 };
	struct atoll_port *p = open_port(h, 0, ATOLL_DMA);
	struct atoll_msg m;
	uint64_t w[WORDS];

	atoll_manage(p, dl_cycles);
	if (node)
		return;
	weft_host_sleep(h, 250 * WEFT_US);
	assert_true(atoll_retrieve(p, &d));
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	assert_true(atoll_irq_wait(p, 600 * WEFT_US));
	fired = weft_host_now(h);
	assert_true(atoll_deadlock(p, &d));
	assert_int_equal(d.out, 4);
	assert_int_equal(d.granted, 1);
	assert_int_equal(d.waits, 3);
	assert_int_equal(atoll_again(p, &m, w), 0);
	r->again++;
}

/* L05: the timer counts from the beginning of the second condition. */
static void a_condition_that_goes_without_a_flit_resets_the_timer(void **state)
{
	weft_time_t timer = TIMER * (WEFT_SEC / 330000000);
	struct rig r = { .fn = link_side, .manager = takes_one };

	(void)state;
	timer_run(&r, 2, 2, TIMER);
	assert_int_equal(failures(&r), 0);
	assert_int_equal(all(&r, "deadlocks"), 1);
	assert_int_equal(all(&r, "retrieved"), 1);
	assert_int_equal(r.again, 1);
	assert_int_equal(r.got[1], 3);
	assert_in_range(fired, condition + timer, condition + 2 * timer);
	weft_sim_free(r.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line),
		cmocka_unit_test(damaged_data),
		cmocka_unit_test(damaged_route),
		cmocka_unit_test(stop_continue),
		cmocka_unit_test(a_link_continues_at_the_higher_threshold),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(deadlock_stays),
		cmocka_unit_test(deadlock_timer),
		cmocka_unit_test(no_condition),
		cmocka_unit_test(a_condition_that_goes_resets_the_timer),
		cmocka_unit_test(
			a_condition_that_goes_without_a_flit_resets_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
