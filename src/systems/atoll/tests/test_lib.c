/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's library (weft/atoll.h): limits of its calls, messages of all sizes
 * between all ports in queues of a few entries, configurations that are
 * refused. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "atoll_pair.h"
#include "host/prog.h"
#include "measure/result.h"

enum { BYTES = 512, LINK = 4 }; /* OutPort to the other node */

static struct {
	struct atoll_pair p;
	void (*fn[2])(struct weft_host *h);
	uint64_t w[2][BYTES / 8 + 8];
} t;

static int prog_main(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	void (*fn)(struct weft_host *) = t.fn[weft_host_node(h)];

	if (fn)
		fn(h);
	return 0;
}

static WEFT_COMPONENT(prog, .name = "prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test", .ops = { .main = prog_main });

static const struct weft_class *const progs[] = { &weft_class_prog, NULL };

static void run(void (*zero)(struct weft_host *),
		void (*one)(struct weft_host *))
{
	struct weft_err err = { 0 };

	t.fn[0] = zero;
	t.fn[1] = one;
	atoll_pair_new(&t.p, progs, NULL);
	assert_int_equal(weft_sim_start(t.p.sim, &err), 0);
	weft_sim_run(t.p.sim, WEFT_NEVER);
	assert_int_equal(weft_sim_finish(t.p.sim, &err), 0);
	for (size_t i = 0; i < weft_sim_result(t.p.sim)->n_failures; i++)
		print_error("%s\n", weft_sim_result(t.p.sim)->failures[i]);
	assert_int_equal(weft_sim_result(t.p.sim)->n_failures, 0);
	assert_false(weft_progs_running(t.p.sim));
	weft_sim_free(t.p.sim);
}

static struct atoll_port *open_port(struct weft_host *h, uint32_t port,
				    enum atoll_mode mode)
{
	struct atoll_attr a = { port, mode, 3, BYTES };
	struct atoll_port *p;

	assert_int_equal(atoll_open(h, &a, &p), 0);
	return p;
}

/* ---- opening ---- */

static const struct {
	struct atoll_attr a;
	int ret;
	uint32_t entries, bytes;
} opens[] = {
	{ { 4, ATOLL_DMA, 0, 0 }, -EINVAL, 0, 0 },
	{ { 0, ATOLL_DMA, 1, 0 }, -EINVAL, 0, 0 },
	{ { 0, ATOLL_DMA, 2, 65 }, -EINVAL, 0, 0 },
	{ { 0, ATOLL_DMA, 2, 63 }, -EINVAL, 0, 0 },
	{ { 0, ATOLL_PIO, 1, 0 }, -EINVAL, 0, 0 },
	/* The node has 64 MiB, so that not all regions fit. The library frees
	 * the regions that it has allocated before. */
	{ { 0, ATOLL_DMA, 2, 40 << 20 }, -ENOMEM, 0, 0 },
	{ { 0, ATOLL_DMA, 2, 28 << 20 }, 0, 2, 28 << 20 },
	{ { 3, ATOLL_DMA, 2, 64 }, 0, 2, 64 },
	{ { 2, ATOLL_DMA, 0, 0 }, 0, 64, 65536 },
	{ { 1, ATOLL_PIO, 0, 0 }, 0, 0, 0 },
};

/* Checks the sizes of queues and receive region. The region has room for one
 * flit more than the largest message of `bytes` bytes. */
static void device_has(uint32_t port, uint32_t entries, uint32_t bytes)
{
	const struct at_nic *n = atoll_pair_nic(&t.p, 0);
	const struct at_rx *r = &n->rx[port];

	assert_int_equal(n->tx[port].sdq_size, entries);
	assert_int_equal(r->rdq_size, entries);
	assert_int_equal(r->rdr_size, bytes ? bytes + 64 : 0);
	assert_int_equal(r->rdr_base % 4096, 0);
	assert_int_equal(r->ctrl, entries ? ATOLL_CTRL_DMA : 0);
}

static void opening(struct weft_host *h)
{
	struct atoll_port *p;

	for (uint32_t i = 0; i < sizeof(opens) / sizeof(*opens); i++) {
		assert_int_equal(atoll_open(h, &opens[i].a, &p), opens[i].ret);
		if (opens[i].ret)
			continue;
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
		assert_int_equal(atoll_node(p), 0);
		device_has(opens[i].a.port, opens[i].entries, opens[i].bytes);
		atoll_close(p);
	}
}

static void ports_open_with_sizes_that_can_be(void **state)
{
	run(opening, NULL);
}

/* ---- sends that are refused ---- */

static void sending(struct weft_host *h)
{
	struct atoll_port *dma = open_port(h, 0, ATOLL_DMA);
	struct atoll_port *pio = open_port(h, 1, ATOLL_PIO);
	static uint64_t w[BYTES / 8 + 1];
	struct atoll_msg m = { .n_route = 1, .bytes = BYTES + 8 };
	uint8_t route[ATOLL_ROUTE_MAX + 1] = { 0 };

	assert_int_equal(atoll_send(dma, route, 0, 1, w, 8), -EINVAL);
	assert_int_equal(atoll_send(dma, route, ATOLL_ROUTE_MAX + 1, 1, w, 8),
			 -EINVAL);
	assert_int_equal(atoll_send(dma, route, 1, 1, w, 12), -EINVAL);
	assert_int_equal(atoll_send(dma, route, 1, 1, w, BYTES + 8), -EINVAL);
	assert_int_equal(atoll_send(pio, route, 1, 1, w, 0), -EINVAL);
	assert_int_equal(atoll_send(pio, route, 1, 1, w, ATOLL_PIO_MAX + 8),
			 -EINVAL);
	assert_int_equal(atoll_send(pio, route, 0, 1, w, 8), -EINVAL);
	assert_int_equal(atoll_again(dma, &m, w), -EINVAL);
	m.bytes = 8;
	assert_int_equal(atoll_again(pio, &m, w), -EINVAL);
	m.n_route = 0;
	assert_int_equal(atoll_again(dma, &m, w), -EINVAL);
	/* no message has left */
	assert_int_equal(t.p.nic[0]->counters[AT_K_SENT], 0);
	assert_false(atoll_recv(dma, &m, w, 8, weft_host_now(h) + WEFT_US));
	assert_false(atoll_recv(pio, &m, w, 8, weft_host_now(h) + WEFT_US));
	assert_false(atoll_poll(pio, &m, w, 8));
	/* the longest route, the largest messages */
	assert_int_equal(
		atoll_send(pio, route, ATOLL_ROUTE_MAX, 1, w, ATOLL_PIO_MAX),
		0);
	assert_true(atoll_recv(dma, &m, w, sizeof(w), WEFT_NEVER));
	assert_int_equal(m.bytes, ATOLL_PIO_MAX);
	assert_int_equal(m.port, 1);
	assert_int_equal(atoll_send(dma, route, ATOLL_ROUTE_MAX, 1, w, BYTES),
			 0);
	assert_true(atoll_recv(dma, &m, w, sizeof(w), WEFT_NEVER));
	assert_int_equal(m.bytes, BYTES);
	atoll_close(pio);
	atoll_close(dma);
}

/* Returns how long a call that receives nothing takes. */
static weft_time_t in_vain(struct weft_host *h, struct atoll_port *p,
			   weft_time_t patience)
{
	struct atoll_msg m;
	weft_time_t from;
	uint64_t w;

	/* the same phase of all clocks each time */
	weft_host_sleep(h, (weft_host_now(h) / WEFT_MS + 1) * WEFT_MS);
	from = weft_host_now(h);
	assert_false(atoll_recv(p, &m, &w, 8, from + patience));
	return weft_host_now(h) - from;
}

static void waiting(struct weft_host *h)
{
	struct atoll_port *pio = open_port(h, 1, ATOLL_PIO);
	weft_time_t one = in_vain(h, pio, 0), look;

	/* the call asks for the time after its poll */
	look = weft_host_now(h);
	look = weft_host_now(h) - look;
	assert_int_equal(in_vain(h, pio, one - look), one);
	assert_true(in_vain(h, pio, one - look + 1) > one);
	atoll_close(pio);
}

static void a_receive_by_pio_ends_at_its_deadline(void **state)
{
	run(waiting, NULL);
}

static void what_cannot_be_sent_is_refused(void **state)
{
	run(sending, NULL);
}

/* ---- all ports, all sizes ---- */

enum { ROUNDS = 40 };

static uint64_t word(uint32_t round, uint32_t i)
{
	return (uint64_t)round << 32 | i * 2654435761u;
}

static uint32_t size_of(uint32_t round)
{
	return round * 56 % (BYTES + 8) & ~7u;
}

/* Port k of node 0 sends to port `round % 4` of node 1, which echoes each
 * message to its sender. */
static void asks(struct weft_host *h)
{
	struct atoll_port *p[ATOLL_PORTS];
	uint64_t *w = t.w[0];
	struct atoll_msg m;

	for (uint32_t k = 0; k < ATOLL_PORTS; k++)
		p[k] = open_port(h, k, k % 2 ? ATOLL_PIO : ATOLL_DMA);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t k = i / 4 % ATOLL_PORTS, n = size_of(i);
		uint8_t route[2] = { LINK, (uint8_t)(i % 4) };

		n = n || k % 2 == 0 ? n : 8;
		for (uint32_t j = 0; j < n / 8; j++)
			w[j] = word(i, j);
		assert_int_equal(atoll_send(p[k], route, 2, 0x12340 + i, w, n),
				 0);
		memset(w, 0xee, sizeof(t.w[0]));
		assert_true(atoll_recv(p[k], &m, w, BYTES, WEFT_NEVER));
		assert_int_equal(m.node, 1);
		assert_int_equal(m.port, i % 4);
		assert_int_equal(m.tag, 0x2340 + i);
		assert_false(m.retrieved);
		for (uint32_t j = 0; j < n / 8; j++)
			assert_int_equal(w[j], word(i, j));
		assert_int_equal(w[m.bytes / 8], 0xeeeeeeeeeeeeeeee);
	}
	for (uint32_t k = 0; k < ATOLL_PORTS; k++)
		atoll_close(p[k]);
}

static void answers(struct weft_host *h)
{
	struct atoll_port *p[ATOLL_PORTS];
	uint64_t *w = t.w[1];
	struct atoll_msg m;

	for (uint32_t k = 0; k < ATOLL_PORTS; k++)
		p[k] = open_port(h, k, k / 2 ? ATOLL_PIO : ATOLL_DMA);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t k = i % 4;
		uint8_t route[2] = { LINK, 0 };

		assert_true(atoll_recv(p[k], &m, w, BYTES, WEFT_NEVER));
		assert_int_equal(m.node, 0);
		assert_int_equal(m.port, i / 4 % ATOLL_PORTS);
		route[1] = (uint8_t)m.port;
		if (!m.bytes && k / 2)
			m.bytes = 8;
		assert_int_equal(atoll_send(p[k], route, 2, m.tag, w, m.bytes),
				 0);
	}
	for (uint32_t k = 0; k < ATOLL_PORTS; k++)
		atoll_close(p[k]);
}

static void all_ports_take_messages_of_all_sizes(void **state)
{
	run(asks, answers);
}

/* A message longer than the caller's buffer is truncated, and the next message
 * arrives whole. */
static void cuts(struct weft_host *h)
{
	for (enum atoll_mode mode = ATOLL_PIO; mode <= ATOLL_DMA; mode++) {
		struct atoll_port *p = open_port(h, 2, mode);
		static const uint8_t route[] = { 2 };
		uint64_t w[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
		struct atoll_msg m;

		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(atoll_send(p, route, 1, i, w, 64), 0);
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t got[8] = { 0 };
			uint32_t max = i % 2 ? 64 : 8 * i + 8;

			assert_true(atoll_recv(p, &m, got, max, WEFT_NEVER));
			assert_int_equal(m.bytes, 64);
			assert_memory_equal(got, w, max);
			assert_true(max == 64 || !got[max / 8]);
		}
		atoll_close(p);
	}
}

static void a_message_is_cut_to_the_room_for_it(void **state)
{
	run(cuts, NULL);
}

/* ---- closing while messages come ---- */

enum { BLOCKS = 8, BLOCK = 1024, MESSAGES = 12 };

static void closes(struct weft_host *h)
{
	struct atoll_port *p = open_port(h, 0, ATOLL_DMA);
	struct atoll_msg m;
	uint8_t *mem[BLOCKS];
	uint32_t last = 1;

	for (uint32_t i = 0; i <= last; i++)
		assert_true(atoll_recv(p, &m, t.w[0], BYTES, WEFT_NEVER));
	atoll_close(p);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		mem[i] = weft_mem_alloc(h, BLOCK, 64, NULL);
		memset(mem[i], 'V', BLOCK);
	}
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	for (uint32_t i = 0; i < BLOCKS; i++)
		for (uint32_t k = 0; k < BLOCK; k++)
			assert_int_equal(mem[i][k], 'V');
	/* The next owner of the port gets the waiting messages, but not the
	 * message that was arriving when the port was closed. */
	p = open_port(h, 0, ATOLL_DMA);
	while (atoll_recv(p, &m, t.w[0], BYTES,
			  weft_host_now(h) + 100 * WEFT_US)) {
		assert_int_equal(m.bytes, BYTES);
		assert_in_range(m.tag, last + 1, last + 2);
		last = m.tag;
		for (uint32_t k = 0; k < BYTES / 8; k++)
			assert_int_equal(t.w[0][k], word(m.tag, k));
	}
	assert_int_equal(last, MESSAGES - 1);
	atoll_close(p);
}

static void goes_on(struct weft_host *h)
{
	struct atoll_port *p = open_port(h, 0, ATOLL_DMA);
	static const uint8_t route[] = { LINK, 0 };

	for (uint32_t i = 0; i < MESSAGES; i++) {
		for (uint32_t k = 0; k < BYTES / 8; k++)
			t.w[1][k] = word(i, k);
		assert_int_equal(atoll_send(p, route, 2, i, t.w[1], BYTES), 0);
	}
	atoll_close(p);
}

static void nothing_is_stored_to_a_port_that_is_closed(void **state)
{
	run(closes, goes_on);
}

/* ---- waiting flits ---- */

/* The receiver accepts no flit. Flits wait at the InPorts of both senders for
 * the link to the receiver, and no flit waits for another link. */
static void waits(struct weft_host *h)
{
	struct atoll_port *p[2] = { open_port(h, 0, ATOLL_PIO),
				    open_port(h, 1, ATOLL_PIO) };
	static const uint8_t route[] = { LINK, 0 };
	struct at_nic *n = atoll_pair_nic(&t.p, 0);
	struct weft_comp *c = t.p.nic[0];
	uint32_t flits = 0;

	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(atoll_send(p[i % 2], route, 2, i, t.w[0], 512),
				 0);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	for (uint32_t i = 0; i < 2; i++)
		flits += (uint32_t)ring_count(&n->x.in[i].q);
	assert_true(flits >= 2);
	for (uint32_t port = 0; port <= AT_LINKS; port++) {
		struct weft_waiting w = { .queued = 99 };

		c->cls->ops.waiting(c, port, &w);
		assert_string_equal(w.unit, "flits");
		assert_int_equal(w.queued, port == ATOLL_PAIR_LINK ? flits : 0);
	}
	t.w[1][0] = 1; /* the other side may begin */
}

static void takes_late(struct weft_host *h)
{
	struct atoll_port *p = open_port(h, 0, ATOLL_PIO);
	struct atoll_msg m;
	uint64_t w[64];

	t.w[1][0] = 0;
	while (!t.w[1][0])
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(atoll_recv(p, &m, w, 512, WEFT_NEVER));
}

static void flits_that_wait_for_a_link_are_counted(void **state)
{
	run(waits, takes_late);
}

/* ---- stop and continue ---- */

/* Returns whether link 0 has sent "stop" to its peer when `bytes` bytes of its
 * buffer are free. */
static bool says_stop(struct atoll_xbar *x, uint32_t bytes)
{
	x->in[AT_LINK0].used = x->buffer - bytes;
	atoll_link_link_state(x, 0);
	return x->link[0].stop_said;
}

static void fills(struct weft_host *h)
{
	struct atoll_xbar *x = &atoll_pair_nic(&t.p, 0)->x;

	assert_false(says_stop(x, x->stop_free));
	assert_true(says_stop(x, x->stop_free - 1));
	assert_true(says_stop(x, x->cont_free - 1));
	assert_false(says_stop(x, x->cont_free));
	assert_false(says_stop(x, x->buffer));
	assert_int_equal(x->comp->counters[x->counter0 + AX_K_STOPS], 1);
}

static void a_link_stops_below_its_threshold_and_not_at_it(void **state)
{
	run(fills, NULL);
}

/* ---- machines that are refused ---- */

/* The least stop_free is 2 * 17 + 2 * t_out + t_in + 2 * 69 = 213, because the
 * cable takes 50 ns, which is 17 cycles, and a flit has at most 69
 * characters. */
static const struct {
	const char *set[8];
	/* text that the refusal contains; NULL: the machine is built */
	const char *why;
} machines[] = {
	{ { "stop_free", "213", NULL }, NULL },
	{ { "stop_free", "212", NULL },
	  "stop_free 212, cont_free 384, buffer 512: stop_free must be 213" },
	{ { "stop_free", "213", "t_in", "14", NULL }, "must be 214" },
	{ { "stop_free", "213", "t_out", "15", NULL }, "must be 215" },
	{ { "stop_free", "384", NULL }, "cont_free" },
	{ { "stop_free", "383", NULL }, NULL },
	{ { "cont_free", "512", NULL }, NULL },
	{ { "cont_free", "513", NULL }, "not more than buffer" },
	{ { "buffer", "383", NULL }, "not more than buffer" },
	{ { "buffer", "384", NULL }, NULL },
};

static void machines_without_room_for_a_stop_are_refused(void **state)
{
	t.fn[0] = t.fn[1] = NULL;
	for (uint32_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		struct weft_err err = { 0 };
		int ret;

		atoll_pair_new(&t.p, progs, machines[i].set);
		ret = weft_sim_start(t.p.sim, &err);
		if (!ret != !machines[i].why ||
		    (ret && !strstr(err.msg, machines[i].why)))
			fail_msg("row %u: %s", i, err.msg);
		weft_sim_free(t.p.sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_open_with_sizes_that_can_be),
		cmocka_unit_test(what_cannot_be_sent_is_refused),
		cmocka_unit_test(a_receive_by_pio_ends_at_its_deadline),
		cmocka_unit_test(all_ports_take_messages_of_all_sizes),
		cmocka_unit_test(a_message_is_cut_to_the_room_for_it),
		cmocka_unit_test(nothing_is_stored_to_a_port_that_is_closed),
		cmocka_unit_test(flits_that_wait_for_a_link_are_counted),
		cmocka_unit_test(
			a_link_stops_below_its_threshold_and_not_at_it),
		cmocka_unit_test(machines_without_room_for_a_stop_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
