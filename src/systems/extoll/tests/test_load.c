/* SPDX-License-Identifier: Apache-2.0 */
/* extoll.load: its accesses to a device, and two instances with real NICs and
 * crossbars in between. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "measure/result.h"
#include "systems/extoll/nic/nic.h"
#include "systems/extoll/traffic/nic_load.h"

extern const struct weft_class weft_class_extoll_load, weft_class_extoll_nic,
	weft_class_extoll_xbar;

/* ---- a device that logs its accesses ---- */

enum { LOG = 64 };

struct dev {
	struct weft_bus_note log[LOG];
	uint32_t n, done;
	bool take; /* takes stores as they arrive */
};

static void dev_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct dev *d = c->state;
	struct weft_bus_note note;

	while (weft_bus_next(&c->ports[0], &note)) {
		if (note.kind == WEFT_NOTE_DONE) {
			d->done++;
			continue;
		}
		assert_true(d->n < LOG);
		d->log[d->n++] = note;
		if (d->take)
			weft_bus_consumed(&c->ports[0], 1);
	}
}

static int dev_start(struct weft_comp *c, struct weft_err *err)
{
	assert_true(weft_bus_window(&c->ports[0], 16));
	return 0;
}

static const struct weft_port_decl dev_ports[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "bus" }, { 0 }
};
static WEFT_COMPONENT(test_dev, .name = "test.dev", .kind = WEFT_KIND_NIC,
		      .doc = "log", .state_size = sizeof(struct dev),
		      .ports = dev_ports,
		      .ops = { .start = dev_start, .arrive = dev_arrive });

/* ---- building ---- */

static struct weft_sim *sim;

/* Adds a component with settings "name=value name=value". */
static struct weft_comp *add(const struct weft_class *cls, const char *name,
			     const char *set)
{
	struct weft_comp *c = weft_sim_add(sim, cls, name, NULL);
	char text[200], *save = NULL;

	snprintf(text, sizeof(text), "%s", set);
	for (char *s = strtok_r(text, " ", &save); s;
	     s = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(s, '=');

		*eq = 0;
		assert_int_equal(weft_param_set(c, s, eq + 1, NULL), 0);
	}
	assert_int_equal(weft_comp_init(c, NULL), 0);
	return c;
}

static void join(struct weft_comp *a, const char *pa, struct weft_comp *b,
		 const char *pb, weft_time_t delay)
{
	assert_int_equal(weft_connect(weft_port_find(a, pa),
				      weft_port_find(b, pb), NULL, delay, NULL),
			 0);
}

static struct extoll_load *load;
static struct dev *dev;

static void open_dev(const char *set)
{
	struct weft_comp *l, *d;

	sim = weft_sim_new(1);
	l = add(&weft_class_extoll_load, "n3.bus", set);
	d = add(&weft_class_test_dev, "n3.nic", "");
	join(d, "bus", l, "dev0", 0);
	load = l->state;
	dev = d->state;
	dev->take = true;
	assert_int_equal(weft_sim_start(sim, NULL), 0);
}

static int close_sim(void **state)
{
	weft_sim_free(sim);
	return 0;
}

static uint64_t word(const struct weft_bus_note *n, uint32_t i)
{
	uint64_t v = 0;

	memcpy(&v, n->data + 8 * i, n->bytes < 8 ? n->bytes : 8);
	return v;
}

/* ---- accesses to the device ---- */

/* Registers are stored in the order of a driver. The first store arrives after
 * H1 + 3 dwords + H3. The next stores arrive as fast as the link permits, one
 * every 4 dwords of 2.5 ns. */
static void test_registers_are_stored_in_driver_order(void **state)
{
	open_dev("node=3 nodes=9 pattern=none slots=32");
	weft_sim_run(sim, 10 * WEFT_US);
	assert_int_equal(dev->n, 7);
	assert_int_equal(dev->log[0].space, 0);
	assert_int_equal(dev->log[0].off, EXTOLL_CFG_COMMAND);
	assert_int_equal(dev->log[0].bytes, 2);
	assert_int_equal(word(&dev->log[0], 0), 6);
	assert_int_equal(dev->log[0].time, 142500000);
	for (uint32_t i = 1; i < 7; i++) {
		assert_int_equal(dev->log[i].space, 1);
		assert_int_equal(dev->log[i].time,
				 142500000 + i * 4 * 2500000ull);
	}
	assert_int_equal(word(&dev->log[1], 0), EXTOLL_VELO);
	assert_int_equal(dev->log[5].off, EXTOLL_VELO_RX);
	assert_int_equal(word(&dev->log[5], 0),
			 EXTOLL_RX(LOAD_PD, 32, EXTOLL_RX_ENABLE));
	assert_int_equal(dev->log[6].off, EXTOLL_VELO_TX);
	assert_int_equal(word(&dev->log[6], 0),
			 EXTOLL_TX(3, LOAD_VPID, LOAD_PD));
}

/* A message has header, stamp and words. 72 bytes are two lines. */
static void test_message_has_header_stamp_and_words(void **state)
{
	const struct weft_bus_note *m;
	uint64_t born;

	open_dev(
		"node=3 nodes=9 pattern=fixed dest=5 size=64 packets=1 "
		"load=0.01");
	weft_sim_run(sim, 1000 * WEFT_US);
	assert_int_equal(dev->n, 9);
	m = &dev->log[7];
	assert_int_equal(m[0].off, extoll_velo_page(0, 0));
	assert_int_equal(m[0].bytes, 64);
	assert_int_equal(m[1].off, extoll_velo_page(0, 0) + 64);
	assert_int_equal(m[1].bytes, 8);
	assert_int_equal(word(&m[0], 0), EXTOLL_SEND(5, 0, 0, 5, 64));
	born = LOAD_BORN(word(&m[0], 1));
	assert_int_equal(LOAD_WAIT(word(&m[0], 1)), 0);
	assert_int_equal(m[0].time, weft_clock_edge(&load->s.clock, born) +
					    135 * WEFT_NS + 18 * 2500000ull);
	assert_int_equal(m[1].time - m[0].time, 4 * 2500000ull);
	for (uint32_t k = 1; k < 8; k++)
		assert_int_equal(word(&m[k == 7], k == 7 ? 0 : 1 + k),
				 extoll_load_word(word(&m[0], 1), 3, 5, k));
	assert_int_equal(load->comp->counters[LOAD_SENT], 1);
}

/* A message of 8 bytes takes 5 flits, one of 9 bytes takes 7 (extoll.md 3.9),
 * which are 6 on average. A load of 0.06 is therefore a message in 100 cycles.
 */
static void test_load_counts_the_mean_size(void **state)
{
	uint32_t n[2] = { 0 };
	uint64_t first, last;

	open_dev(
		"node=3 nodes=9 pattern=fixed dest=5 size=8 size_max=9 "
		"packets=50 load=0.06 arrivals=periodic");
	weft_sim_run(sim, 1000 * WEFT_US);
	assert_int_equal(dev->n, 7 + 50);
	first = LOAD_BORN(word(&dev->log[7], 1));
	last = LOAD_BORN(word(&dev->log[7 + 49], 1));
	assert_int_equal(last - first, 49 * 100);
	for (uint32_t i = 7; i < dev->n; i++) {
		assert_in_range(dev->log[i].bytes, 16, 24);
		n[dev->log[i].bytes > 16]++;
	}
	assert_in_range(n[0], 10, 40); /* each with probability 1/2 */
	assert_int_equal(n[0] + n[1], 50);
}

/* The host sends `depth` stores to a device that consumes none, then one more
 * whenever the device has consumed one. */
static void test_idle_device_gets_depth_stores(void **state)
{
	open_dev("node=0 nodes=2 load=1000 depth=6");
	dev->take = false;
	weft_sim_run(sim, 10 * WEFT_US);
	assert_int_equal(dev->n, 6);
	for (uint32_t i = 7; i <= 20; i++) {
		weft_bus_consumed(load->dev->peer, 1);
		weft_sim_run(sim, weft_sim_now(sim) + WEFT_US);
		assert_in_range(dev->n, i - 1, i);
	}
	assert_int_equal(load->out, dev->n - 14);
}

/* ---- messages from the device ---- */

static struct weft_bus_txn txn;

/* Makes the device write n words into a slot, `to_end` words before its end. */
static void slot_write(uint32_t slot, uint32_t to_end, const uint64_t *m,
		       uint32_t n)
{
	txn = (struct weft_bus_txn){ .op = WEFT_BUS_WRITE,
				     .addr = LOAD_BOX + slot * EXTOLL_SLOT +
					     EXTOLL_SLOT - 8 * to_end,
				     .bytes = 8 * n,
				     .data = weft_slice_word(sim, 8 * n) };
	memcpy(weft_slice_data(txn.data), m, 8 * n);
	weft_bus_of(load->dev->peer)->submit(load->dev->peer, &txn);
	weft_slice_drop(&txn.data);
	weft_sim_run(sim, weft_sim_now(sim) + 2 * WEFT_US);
}

/* Makes the device write a message of 8 bytes into a slot. */
static void box_write(uint32_t slot, uint64_t status, uint64_t stamp)
{
	slot_write(slot, 2, (uint64_t[]){ stamp, status }, 2);
}

#define GOOD (EXTOLL_STATUS(7, 0, 0, 3, 8) | EXTOLL_STATUS_EOM)

/* The component stores the read pointer after every second slot. The pointer
 * wraps. */
static void test_read_pointer_follows_every_second_slot(void **state)
{
	const uint64_t *k;

	open_dev("node=3 nodes=9 pattern=none slots=6 lazy=2");
	k = load->comp->counters;
	weft_sim_run(sim, 10 * WEFT_US);
	for (uint32_t i = 0; i < 8; i++)
		box_write(i % 6, GOOD, LOAD_STAMP(10, 0, 0));
	assert_int_equal(dev->done, 8);
	assert_int_equal(k[LOAD_RECEIVED], 8);
	assert_int_equal(k[LOAD_BYTES], 64);
	assert_int_equal(k[LOAD_RP], 4);
	assert_int_equal(dev->n, 11);
	assert_int_equal(dev->log[7].off, EXTOLL_VELO_RP);
	assert_int_equal(word(&dev->log[7], 0), 2);
	assert_int_equal(word(&dev->log[9], 0), 0);
	assert_int_equal(word(&dev->log[10], 0), 2);
	/* 30 + 6 * 2.5 ns towards the host, 164 ns until the processor sees the
	 * message, 75 + 4 * 2.5 + 60 ns back to the device */
	assert_int_equal(dev->log[7].time, 12 * WEFT_US + 354 * WEFT_NS);
	assert_int_equal(k[LOAD_WRONG] + k[LOAD_CORRUPT] + k[LOAD_STRAY], 0);
	assert_int_equal(weft_sim_finish(sim, NULL), 0);
}

static void test_wrong_messages_are_counted(void **state)
{
	static const uint64_t bad[] = {
		EXTOLL_STATUS(9, 0, 0, 3, 8) | EXTOLL_STATUS_EOM, /* source */
		EXTOLL_STATUS(7, 1, 0, 3, 8) | EXTOLL_STATUS_EOM, /* process */
		EXTOLL_STATUS(7, 0, 0, 4, 8) | EXTOLL_STATUS_EOM, /* tag */
		EXTOLL_STATUS(7, 0, 0, 3, 16) | EXTOLL_STATUS_EOM,
		EXTOLL_STATUS(7, 0, 0, 3, 8),
		GOOD | EXTOLL_STATUS_ERROR,
	};
	const uint64_t *k;

	open_dev("node=3 nodes=9 pattern=none");
	k = load->comp->counters;
	for (uint32_t i = 0; i < 6; i++) {
		box_write(i, bad[i], 0);
		assert_int_equal(k[LOAD_WRONG], i + 1);
	}
	box_write(7, GOOD, 0); /* this message skips a slot */
	assert_int_equal(k[LOAD_WRONG], 7);
	txn = (struct weft_bus_txn){ .op = WEFT_BUS_WRITE,
				     .addr = 64,
				     .bytes = 8 };
	weft_bus_of(load->dev->peer)->submit(load->dev->peer, &txn);
	assert_int_equal(k[LOAD_STRAY], 1);
	weft_sim_run(sim, 20 * WEFT_US);
	assert_int_not_equal(weft_sim_finish(sim, NULL), 0);
}

/* Damages one word after the other of a message of 64 bytes, which arrives in
 * two writes: first the stamp, then seven words and the status. */
static void test_damage_of_each_word_of_a_long_message_is_counted(void **state)
{
	const uint64_t stamp = LOAD_STAMP(10, 0, 0), *k;
	uint64_t m[8];

	open_dev("node=3 nodes=9 pattern=none size=64");
	k = load->comp->counters;
	for (uint32_t i = 0; i < 8; i++) {
		for (uint32_t w = 1; w < 8; w++)
			m[w - 1] = extoll_load_word(stamp, 7, 3, w);
		m[7] = EXTOLL_STATUS(7, 0, 0, 3, 64) | EXTOLL_STATUS_EOM;
		if (i < 7)
			m[i] ^= 1ull << 8 * i;
		slot_write(i, 9, &stamp, 1);
		slot_write(i, 8, m, 8);
		assert_int_equal(k[LOAD_CORRUPT], i < 7 ? i + 1 : 7);
	}
	assert_int_equal(k[LOAD_RECEIVED], 8);
	assert_int_equal(k[LOAD_WRONG] + k[LOAD_STRAY], 0);
}

/* ---- with NICs ---- */

static struct weft_comp *nic[2], *end[2];
static struct topology topo;

static void open_pair(const char *set0, const char *set1)
{
	static const char *const np[] = { "np0", "np1", "np2" };
	const uint32_t size[] = { 2 };
	struct weft_comp *sw[2];
	char name[8];

	sim = weft_sim_new(1);
	assert_int_equal(
		topo_grid(&topo, EX_TOPO_PORTS, size, 1, false, false, NULL),
		0);
	topo.path = true;
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "n%u.bus", i);
		end[i] = add(&weft_class_extoll_load, name, i ? set1 : set0);
		snprintf(name, sizeof(name), "n%u.nic", i);
		nic[i] = add(&weft_class_extoll_nic, name, "");
		snprintf(name, sizeof(name), "s%u", i);
		sw[i] = add(&weft_class_extoll_xbar, name, "");
		join(nic[i], "bus", end[i], "dev0", 0);
		for (uint32_t k = 0; k < 3; k++)
			join(nic[i], np[k], sw[i], np[k], 1);
		ex_place(nic[i])->topo = ex_place(sw[i])->topo = &topo;
		ex_place(nic[i])->node = ex_place(sw[i])->node = i;
	}
	join(sw[0], "lp0", sw[1], "lp1", 10 * WEFT_NS);
	assert_int_equal(weft_sim_start(sim, NULL), 0);
}

static double latency(const char *name)
{
	const struct result_metric *m =
		result_metric_get(weft_sim_result(sim), name);

	assert_non_null(m);
	return m->value;
}

/* Table 7.1: 1156.4 ns for 8 bytes between neighbours. Each of three
 * synchronisers adds a random part of a cycle. */
static void test_latency_is_that_of_table_7_1(void **state)
{
	open_pair("node=0 nodes=2 packets=1", "node=1 nodes=2 pattern=none");
	weft_sim_run(sim, 100 * WEFT_US);
	assert_int_equal(weft_sim_finish(sim, NULL), 0);
	assert_float_equal(latency("n1.bus.latency"), 1156.4, 10);
}

static void both_ways(const char *set, uint32_t stores)
{
	char text[2][160];

	for (uint32_t i = 0; i < 2; i++)
		snprintf(text[i], sizeof(text[i]), "node=%u nodes=2 %s", i,
			 set);
	open_pair(text[0], text[1]);
	weft_sim_run(sim, 10 * WEFT_MS);
	assert_true(weft_sim_idle(sim));
	assert_int_equal(weft_sim_finish(sim, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t *k = end[i]->counters, *n = nic[i]->counters;

		assert_int_equal(k[LOAD_SENT], 1000);
		assert_int_equal(k[LOAD_RECEIVED], 1000);
		assert_int_equal(k[LOAD_WRONG] + k[LOAD_CORRUPT], 0);
		assert_int_equal(n[EX_C_VELO_SENT], 1000);
		assert_int_equal(n[EX_C_STORES],
				 7 + 1000 * stores + k[LOAD_RP]);
		assert_int_equal(n[EX_C_WRITES], 1000 * stores);
	}
}

static void test_small_messages_pass_both_ways_without_stalls(void **state)
{
	both_ways("load=0.5 packets=1000", 1);
	assert_int_equal(nic[0]->counters[EX_C_VELO_STALLS], 0);
	/* The component stores the read pointer after four slots, or after more
	 * slots if an earlier such store is in flight. */
	assert_in_range(end[0]->counters[LOAD_RP], 150, 250);
}

static void test_large_messages_pass_both_ways(void **state)
{
	both_ways("load=0.5 packets=1000 size=64", 2);
}

/* A full mailbox stops the network, and no message is lost. */
static void test_full_mailbox_loses_no_message(void **state)
{
	both_ways("load=1000 packets=1000 slots=4", 1);
	assert_true(nic[0]->counters[EX_C_VELO_STALLS] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			test_registers_are_stored_in_driver_order, close_sim),
		cmocka_unit_test_teardown(
			test_message_has_header_stamp_and_words, close_sim),
		cmocka_unit_test_teardown(test_load_counts_the_mean_size,
					  close_sim),
		cmocka_unit_test_teardown(test_idle_device_gets_depth_stores,
					  close_sim),
		cmocka_unit_test_teardown(
			test_read_pointer_follows_every_second_slot, close_sim),
		cmocka_unit_test_teardown(test_wrong_messages_are_counted,
					  close_sim),
		cmocka_unit_test_teardown(
			test_damage_of_each_word_of_a_long_message_is_counted,
			close_sim),
		cmocka_unit_test_teardown(test_latency_is_that_of_table_7_1,
					  close_sim),
		cmocka_unit_test_teardown(
			test_small_messages_pass_both_ways_without_stalls,
			close_sim),
		cmocka_unit_test_teardown(test_large_messages_pass_both_ways,
					  close_sim),
		cmocka_unit_test_teardown(test_full_mailbox_loses_no_message,
					  close_sim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
