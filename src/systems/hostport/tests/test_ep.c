/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port: the instructions that make up a
 * message, put or get of a given size and alignment, and the operations that
 * are refused. The conformance program tests the rest. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hpproc.h"
#include "systems/hostport/lib/endpoint.h"
#include "systems/hostport/nic/nic.h"
#include "weft/bus.h"
#include "weft/ep.h"
#include "weft/hostport.h"

enum { AREA = 3 << 16, MAX_MSG = 1 << 17, EAGER = 2048 };

static struct end {
	struct weft_ep *ep;
	struct weft_ep_mr mr;
	uint8_t *mem;
} end[2];
static struct exrig *rig;

static uint64_t vcis(uint32_t node)
{
	return exrig_counter(rig->node[node].nic, "vcis");
}

static uint8_t pattern(uint32_t i, uint32_t seed)
{
	return (uint8_t)(i * 7 + (i >> 8) + seed);
}

static void fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		b[i] = pattern(i, seed);
}

static void check(const uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		if (b[i] != pattern(i, seed))
			fail_msg("%u bytes differ at %u", n, i);
}

static struct weft_ep_event next(struct end *e, enum weft_ep_kind kind)
{
	struct weft_ep_event ev = { 0 };

	while (!e->ep->ops->poll(e->ep, &ev, 1))
		e->ep->ops->wait(e->ep, WEFT_NEVER);
	if (ev.kind != kind)
		print_error("event %d, not %d\n", ev.kind, kind);
	assert_int_equal(ev.kind, kind);
	return ev;
}

/* ---- messages ---- */

/* Numbers of instructions that the sender (near) and the receiver (far) issue
 * for a message and its answer of 0 bytes. A credit may add one instruction. */
static const struct {
	uint32_t bytes, near, far;
} ways[] = {
	{ 0, 1, 1 },	     { 1, 1, 1 },	{ 40, 1, 1 },
	{ 41, 1, 1 },	     { EAGER, 1, 1 },	{ EAGER + 1, 1, 3 },
	{ 65536 + 3, 1, 3 }, { MAX_MSG, 1, 3 },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void messages_near(struct end *e, uint8_t *heap)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		uint8_t *buf = i % 2 ? heap + i : e->mem + i;
		uint64_t from[2] = { vcis(0), vcis(1) };
		struct weft_ep_event ev;

		fill(buf, ways[i].bytes, i);
		assert_int_equal(
			weft_ep_send(e->ep, 1, buf, ways[i].bytes, i, buf), 0);
		ev = next(e, WEFT_EV_SENT);
		assert_ptr_equal(ev.ctx, buf);
		ev = next(e, WEFT_EV_RECV);
		assert_int_equal(ev.imm, ~(uint64_t)i);
		e->ep->ops->release(e->ep, &ev);
		assert_in_range(vcis(0) - from[0], ways[i].near,
				ways[i].near + 1);
		assert_in_range(vcis(1) - from[1], ways[i].far,
				ways[i].far + 1);
	}
}

static void messages_far(struct end *e)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		struct weft_ep_event ev = next(e, WEFT_EV_RECV);

		assert_int_equal(ev.src, 0);
		assert_int_equal(ev.imm, i);
		assert_int_equal(ev.len, ways[i].bytes);
		check(ev.data, ways[i].bytes, i);
		e->ep->ops->release(e->ep, &ev);
		assert_int_equal(
			weft_ep_send(e->ep, 0, NULL, 0, ~(uint64_t)i, NULL), 0);
		next(e, WEFT_EV_SENT);
	}
}

/* Sends more long messages than the receiver has slots. The others arrive when
 * the user releases slots. */
enum { LONG = 7 };

static void long_near(struct end *e)
{
	fill(e->mem, EAGER + 8, 1);
	for (uint32_t i = 0; i < LONG; i++)
		assert_int_equal(
			weft_ep_send(e->ep, 1, e->mem, EAGER + 8, i, NULL), 0);
	for (uint32_t i = 0; i < LONG; i++)
		next(e, WEFT_EV_SENT);
}

static void long_far(struct end *e)
{
	struct weft_ep_event ev[LONG];
	uint32_t n = 0, held = 0;

	while (n < LONG) {
		weft_time_t until = weft_host_now(e->ep->host) + 100 * WEFT_US;

		while (n < LONG && !e->ep->ops->wait(e->ep, until))
			n += (uint32_t)e->ep->ops->poll(e->ep, &ev[n], 1);
		/* the receiver has delivered as many messages as it has
		 * slots */
		assert_true(n > held);
		for (; held < n; held++) {
			assert_int_equal(ev[held].imm, held);
			check(ev[held].data, EAGER + 8, 1);
			e->ep->ops->release(e->ep, &ev[held]);
		}
	}
}

/* Applies the writes of devices on node 1 to its memory, so that the test sees
 * them as programs of node 1 would. */
static void settle(void)
{
	struct weft_port *p = &rig->node[1].host->ports[0];
	const struct weft_bus_host_ops *ops = p->iface;

	ops->settle(p);
}

/* ---- memory ---- */

/* Numbers of instructions of a put and of a get. `near` and `far` are the
 * offsets of the addresses, and `heap` means that the device cannot reach the
 * near address. */
static const struct {
	uint32_t bytes, near, far;
	bool heap;
	uint32_t put, get;
} moves[] = {
	{ 0, 0, 0, 0, 0, 0 },	     { 8, 0, 0, 0, 1, 1 },
	{ 24, 0, 0, 1, 1, 1 },	     { 3, 0, 2, 0, 1, 1 },
	{ 7, 1, 3, 0, 2, 1 },	     { 32, 0, 0, 0, 1, 1 },
	{ 65536, 8, 16, 0, 1, 1 },  /* words are aligned */
	{ 65536, 0, 0, 1, 16, 16 }, /* bounced, a page at a time */
	{ 8192, 4, 0, 0, 2, 2 },    /* source and target differ in their offset
				     * within a word */
	{ 8192, 4, 4, 0, 3, 3 },    /* put: bytes, words, bytes */
	{ 4096 - 7, 0, 7, 0, 2, 1 },
};
enum { MOVES = sizeof(moves) / sizeof(*moves) };

static void moves_near(struct end *e, uint8_t *heap, uint64_t addr,
		       uint64_t key)
{
	const struct weft_ep_ops *o = e->ep->ops;
	uint8_t *there = end[1].mem;

	o->poll(e->ep, NULL, 0); /* polls, because credits are in flight */
	weft_host_sleep(e->ep->host, weft_host_now(e->ep->host) + 10 * WEFT_US);
	for (uint32_t i = 0; i < MOVES; i++) {
		uint8_t *buf = (moves[i].heap ? heap : e->mem) + moves[i].near;
		uint64_t raddr = addr + 4096 + moves[i].far, from = vcis(0);
		uint32_t n = moves[i].bytes;

		fill(buf, n, i);
		memset(there, 0xee, AREA);
		assert_int_equal(
			weft_ep_post(e->ep,
				     &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							   .dst = 1,
							   .buf = buf,
							   .len = n,
							   .raddr = raddr,
							   .rkey = key }),
			0);
		next(e, WEFT_EV_PUT);
		assert_int_equal(vcis(0) - from, moves[i].put);
		settle();
		check(there + 4096 + moves[i].far, n, i);
		for (uint32_t k = 0; k < 4096 + moves[i].far; k++)
			assert_int_equal(there[k], 0xee);
		for (uint32_t k = 4096 + moves[i].far + n; k < AREA; k++)
			assert_int_equal(there[k], 0xee);
		memset(buf, 0xaa, n + 1);
		from = vcis(0);
		assert_int_equal(
			weft_ep_post(e->ep,
				     &(struct weft_ep_op){ .code = WEFT_EP_GET,
							   .dst = 1,
							   .into = buf,
							   .len = n,
							   .raddr = raddr,
							   .rkey = key }),
			0);
		next(e, WEFT_EV_GET);
		assert_int_equal(vcis(0) - from, moves[i].get);
		check(buf, n, i);
		assert_int_equal(buf[n], 0xaa);
	}
}

static void refused_near(struct end *e, uint8_t *heap, uint64_t addr,
			 uint64_t key)
{
	const struct weft_ep_ops *o = e->ep->ops;
	struct weft_ep_event ev;
	struct weft_ep_mr mr;

	assert_int_equal(o->mr_reg(e->ep, e->mem, 0, &mr), -EINVAL);
	assert_int_equal(o->mr_reg(e->ep, heap, 64, &mr), -EFAULT);
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = 2,
							  .buf = heap,
							  .len = 8,
							  .raddr = addr,
							  .rkey = key }),
		-EINVAL);
	/* A put beyond the window and a get with a wrong capability fail. The
	 * target is not notified of them. */
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = 1,
							  .buf = heap,
							  .len = 8,
							  .raddr = addr + AREA,
							  .rkey = key,
							  .notify = true,
							  .imm = 5,
							  .ctx = heap }),
		0);
	ev = next(e, WEFT_EV_ERROR);
	assert_int_equal(ev.status, -EFAULT);
	assert_ptr_equal(ev.ctx, heap);
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
							  .dst = 1,
							  .into = heap,
							  .len = 8,
							  .raddr = addr,
							  .rkey = key ^ 1 }),
		0);
	next(e, WEFT_EV_ERROR);
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
							  .dst = 1,
							  .raddr = addr + 4,
							  .rkey = key,
							  .operand = 1 }),
		-EINVAL);
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
							  .dst = 1,
							  .raddr = addr + AREA,
							  .rkey = key,
							  .operand = 1 }),
		0);
	next(e, WEFT_EV_ERROR);
	weft_ep_send(e->ep, 1, NULL, 0, 77, NULL); /* lets the other side end */
	next(e, WEFT_EV_SENT);
}

/* Accepts a region that ends where the pinned memory ends, and refuses one more
 * byte. */
static void last_page_near(struct end *e)
{
	static const struct {
		uint32_t off, len;
		int ret;
	} row[] = {
		{ 0, 4096, 0 },	      { 0, 4097, -EFAULT }, { 4095, 1, 0 },
		{ 4095, 2, -EFAULT }, { 4096, 1, -EFAULT }, { 8, 4088, 0 }
	};
	struct weft_host *h = e->ep->host;
	uint8_t *two = weft_host_align(h, 4096, 2 * 4096);
	struct weft_ep_mr mr;
	weft_phys_t phys;

	assert_true(weft_mem_pin(h, two, 4096, &phys));
	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(e->ep->ops->mr_reg(e->ep, two + row[i].off,
						    row[i].len, &mr),
				 row[i].ret);
		if (!row[i].ret)
			assert_int_equal(e->ep->ops->mr_dereg(e->ep, &mr), 0);
	}
	weft_mem_unpin(h, two, 4096);
	assert_int_equal(e->ep->ops->mr_reg(e->ep, two, 1, &mr), -EFAULT);
}

/* ---- heads that the library does not send ---- */

/* Sends a head of n words to node 1, and lets node 1 handle the head. */
static void forge(struct end *e, uint32_t kind, uint32_t id, const uint64_t *w,
		  uint32_t n)
{
	struct hostport_ep *x = hostport_ep_of((struct ep *)e->ep);
	struct weft_host *h = e->ep->host;
	struct hport_tag tag = { 0, hostport_ep_tag(kind, id, 0) };

	assert_int_equal(hport_fast_send(x->p, &x->peer[1], 0, tag, w, n), 0);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
}

/* Returns the id of the operation of node 1 that waits for node 0. */
static uint32_t waiting_id(void)
{
	const struct ep *e = (struct ep *)end[1].ep;
	uint32_t id = 0;

	while (id < EP_OPS && !e->ops[id].waiting)
		id++;
	assert_true(id < EP_OPS);
	return id;
}

static void forged_over(struct end *e, const char *key)
{
	struct weft_host *h = e->ep->host;

	weft_oob_put(h, key, 1);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
}

/* Heads with too few words have no effect. An answer counts once. */
static void forged_near(struct end *e)
{
	static const struct {
		uint32_t kind, words;
	} heads[] = { { EP_RTS, 2 },
		      { EP_FIN, 2 },
		      { EP_ATOMIC, 5 },
		      { EP_DONE, 2 },
		      { EP_CREDIT, 1 } };
	struct weft_host *h = e->ep->host;
	volatile uint64_t *sum = (volatile uint64_t *)end[1].mem;
	uint64_t w[5] = { end[1].mr.addr, end[1].mr.key, 1 }, was, sent;
	struct weft_ep_event ev;
	uint32_t id;

	weft_oob_get(h, "asked");
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	id = waiting_id();
	sent = vcis(1);
	settle();
	was = *sum;
	for (uint32_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		for (uint32_t n = 0; n < heads[i].words; n++)
			forge(e, heads[i].kind, id, w, n);
	settle();
	assert_int_equal(*sum, was);
	assert_int_equal(vcis(1), sent);
	forge(e, EP_ATOMIC, 0, w, 5);
	settle();
	assert_int_equal(*sum, was + 1);
	assert_int_equal(vcis(1), sent + 1); /* the answer */
	forged_over(e, "short");
	memset(w, 0, sizeof(w));
	forge(e, EP_FIN, id, w, 2);
	forged_over(e, "one");
	forge(e, EP_FIN, id, w, 2);
	forge(e, EP_DONE, id, w, 2);
	forged_over(e, "again");
	ev = next(e, WEFT_EV_RECV);
	assert_int_equal(ev.imm, 5);
	e->ep->ops->release(e->ep, &ev);
}

/* Returns the number of events until node 0 has stored `key` out of band. */
static uint32_t events_until(struct end *e, const char *key)
{
	struct weft_host *h = e->ep->host;
	struct weft_ep_event ev;
	uint32_t n = 0;
	bool over;

	do {
		over = weft_oob_there(h, key);
		n += (uint32_t)e->ep->ops->poll(e->ep, &ev, 1);
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	} while (!over);
	return n;
}

static void forged_far(struct end *e)
{
	assert_int_equal(weft_ep_send(e->ep, 0, e->mem, EAGER + 8, 5, NULL), 0);
	e->ep->ops->poll(e->ep, NULL, 0);
	weft_oob_put(e->ep->host, "asked", 1);
	assert_int_equal(events_until(e, "short"), 0);
	assert_int_equal(events_until(e, "one"), 1);
	assert_int_equal(events_until(e, "again"), 0);
}

/* A call costs 20 ns of the processor, both a poll that finds nothing and a
 * progress call without work. */
static void cost_near(struct end *e, uint64_t addr, uint64_t key)
{
	struct weft_ep_event ev;
	weft_time_t t = weft_host_busy(e->ep->host);

	assert_int_equal(e->ep->ops->poll(e->ep, &ev, 1), 0);
	assert_int_equal(weft_host_busy(e->ep->host) - t, 20 * WEFT_NS);
	t = weft_host_busy(e->ep->host);
	assert_int_equal(
		weft_ep_post(e->ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = 1,
							  .buf = e->mem,
							  .len = 0,
							  .raddr = addr,
							  .rkey = key }),
		0);
	assert_int_equal(weft_host_busy(e->ep->host) - t, 20 * WEFT_NS);
	next(e, WEFT_EV_PUT);
}

static int program(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep_attr a = { .max_msg = MAX_MSG };
	struct end *e = &end[node];
	weft_phys_t phys;
	uint8_t *heap = weft_host_calloc(h, 1, MAX_MSG + 64);

	assert_int_equal(weft_ep_open(h, &a, &e->ep), 0);
	assert_string_equal(e->ep->info.name, "hostport");
	e->mem = weft_mem_alloc(h, AREA, 4096, &phys);
	assert_int_equal(e->ep->ops->mr_reg(e->ep, e->mem, AREA, &e->mr), 0);
	weft_oob_put(h, node ? "addr1" : "addr0", e->mr.addr);
	weft_oob_put(h, node ? "key1" : "key0", e->mr.key);
	if (node) {
		messages_far(e);
		long_far(e);
		forged_far(e);
		next(e, WEFT_EV_RECV);
	} else {
		uint64_t addr = weft_oob_get(h, "addr1");
		uint64_t key = weft_oob_get(h, "key1");

		messages_near(e, heap);
		long_near(e);
		forged_near(e);
		moves_near(e, heap, addr, key);
		cost_near(e, addr, key);
		last_page_near(e);
		refused_near(e, heap, addr, key);
	}
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	e->ep->ops->close(e->ep);
	return 0;
}

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	return hport_serve(h, 10 * WEFT_US, false);
}

static void test_endpoint_passes_messages_and_puts(void **state)
{
	struct exrig r;

	hprig_new(&r, "2", NULL);
	rig = &r;
	for (uint32_t i = 0; i < 2; i++) {
		struct hp_nic *n = r.node[i].nic->state;

		n->place.topo = &r.topo;
		exrig_prog(&r, i, program);
		exrig_prog(&r, i, driver);
	}
	exrig_start(&r);
	exrig_run(&r);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(exrig_counter(r.node[i].nic, "rx_stalls"), 0);
	exrig_free(&r);
}

/* ---- windows ---- */

/* Number of windows of each port. The other process has chosen it for the whole
 * node. It is not a multiple of 64, the number of bits of a word. */
enum { WINDOWS = 4 * 64 + 16 };

/* Returns how many windows the endpoint itself uses. */
static uint32_t own_windows(const struct weft_ep *ep)
{
	const struct hostport_ep *x = hostport_ep_of((struct ep *)ep);
	uint32_t n = 0;

	while (x->win_used[0] >> n & 1)
		n++;
	return n;
}

static int decides(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr a = { .vpid = -1,
				.sizes = { .wq = 64,
					   .nq = 1 << 12,
					   .sdr = 1 << 16,
					   .rdr = 1 << 16,
					   .wdt = WINDOWS,
					   .rdr_unit = 6 } };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), 0);
	weft_oob_put(h, "decided", 1);
	weft_oob_get(h, "over");
	hport_close(p);
	return 0;
}

static int registers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep_mr mr[WINDOWS];
	struct weft_ep *ep;
	weft_phys_t phys;
	uint32_t n, own;
	uint8_t *mem;

	weft_oob_get(h, "decided");
	assert_int_equal(weft_ep_open(h, NULL, &ep), 0);
	mem = weft_mem_alloc(h, 4096, 4096, &phys);
	own = own_windows(ep);
	for (n = 0; n < WINDOWS - own; n++)
		assert_int_equal(ep->ops->mr_reg(ep, mem, 64, &mr[n]), 0);
	assert_int_equal(ep->ops->mr_reg(ep, mem, 64, &mr[0]), -ENOSPC);
	while (n--)
		assert_int_equal(ep->ops->mr_dereg(ep, &mr[n]), 0);
	ep->ops->close(ep);
	weft_oob_put(h, "over", 1);
	return 0;
}

static void test_endpoint_has_regions_in_each_window_of_its_port(void **state)
{
	struct exrig r;
	struct hp_nic *n;

	hprig_new(&r, "1", NULL);
	n = r.node[0].nic->state;
	n->place.topo = &r.topo;
	exrig_prog(&r, 0, decides);
	exrig_prog(&r, 0, registers);
	exrig_prog(&r, 0, driver);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- sizes ---- */

/* Sizes of a node with one process. The process requests `slots` messages of 40
 * bytes in flight. The receive data region has room for `slots` messages of the
 * usual 2048 bytes, because a later process may request messages of this size.
 * A region that would exceed 8 MiB has room for messages of 40 bytes only. A
 * message of 2048 bytes takes 320 words, one of 40 bytes takes 64 words. */
static const struct {
	uint32_t slots, words;
} regions[] = {
	{ 16, 16 * 320 },    { 3000, 3000 * 320 }, { 3276, 3276 * 320 },
	{ 3277, 3277 * 64 }, { 4000, 4000 * 64 },
};
static uint32_t region;

static int takes_region(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep_attr a = { .rx_slots = regions[region].slots,
				  .eager_max = 40 };
	const struct hostport_ep *x;
	struct weft_ep *ep;

	assert_int_equal(weft_ep_open(h, &a, &ep), 0);
	x = hostport_ep_of((struct ep *)ep);
	assert_in_range(hport_sizes_of(x->p).rdr, regions[region].words,
			regions[region].words + 128);
	ep->ops->close(ep);
	return 0;
}

static void test_region_has_room_for_usual_messages_up_to_8_mib(void **state)
{
	for (region = 0; region < sizeof(regions) / sizeof(*regions);
	     region++) {
		struct exrig r;
		struct hp_nic *n;

		hprig_new(&r, "1", NULL);
		n = r.node[0].nic->state;
		n->place.topo = &r.topo;
		exrig_prog(&r, 0, takes_region);
		exrig_prog(&r, 0, driver);
		exrig_start(&r);
		exrig_run(&r);
		exrig_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoint_passes_messages_and_puts),
		cmocka_unit_test(
			test_endpoint_has_regions_in_each_window_of_its_port),
		cmocka_unit_test(
			test_region_has_room_for_usual_messages_up_to_8_mib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
