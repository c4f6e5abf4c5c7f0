/* SPDX-License-Identifier: Apache-2.0 */
/* The native storage link over FORTH between nodes of the toy host: node 0 is a
 * target, nodes 1 and 2 are initiators. */
#include <errno.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "fake_host.h"
#include "storage/link.h"
#include "systems/forth/lib/storage_link.h"

static struct weft_host node[FAKE_NODES];
static struct storage_link *t, *a, *b;

static struct storage_link *open_one(uint32_t i, struct storage_link_attr attr)
{
	static const uint32_t targets[] = { 0 };
	struct storage_link *l;

	attr.target = i == 0;
	attr.targets = targets;
	attr.n_targets = i ? 1 : 0;
	assert_int_equal(storage_native_forth.open(&node[i], &attr, &l), 0);
	return l;
}

static void open_all(const struct storage_link_attr *attr, uint32_t queues)
{
	static const struct storage_link_attr none;

	attr = attr ? attr : &none;
	fake_start(node, 3, queues);
	t = open_one(0, *attr);
	a = open_one(1, *attr);
	b = open_one(2, *attr);
	t->ops->peer_table(t, 1, a->info.table, a->info.table_key);
	t->ops->peer_table(t, 2, b->info.table, b->info.table_key);
}

static void close_all(void)
{
	a->ops->close(a);
	b->ops->close(b);
	t->ops->close(t);
	fake_stop(node, 3);
}

static struct storage_record record_of(uint16_t tag, uint32_t seq)
{
	struct storage_record r = { .code = STORAGE_READ,
				    .tag = tag,
				    .seq = seq,
				    .attempt = 1,
				    .segs = tag % (STORAGE_SEGS + 1) };

	storage_record_seal(&r);
	return r;
}

static int send(struct storage_link *l, uint32_t to, uint16_t tag, uint32_t seq)
{
	struct storage_record r = record_of(tag, seq);

	return l->ops->record(l, to, tag, &r);
}

/* Expects one record and no other. */
static void expect(struct storage_link *l, uint32_t from, uint16_t tag,
		   uint32_t seq)
{
	struct storage_record r = record_of(tag, seq);
	struct storage_event ev[2];

	assert_int_equal(l->ops->poll(l, ev, 2), 1);
	assert_int_equal(ev[0].kind, STORAGE_EV_RECORD);
	assert_int_equal(ev[0].peer, from);
	assert_int_equal(ev[0].slot, tag);
	assert_memory_equal(&ev[0].rec, &r, storage_record_bytes(&r));
}

static void expect_none(struct storage_link *l)
{
	struct storage_event ev;

	assert_int_equal(l->ops->poll(l, &ev, 1), 0);
}

static uint8_t *region(struct storage_link *l, size_t n, struct storage_mr *mr)
{
	weft_phys_t phys;
	uint8_t *p = weft_mem_alloc(l->host, n, 64, &phys);

	assert_int_equal(l->ops->reg(l, p, n, mr), 0);
	return p;
}

/* Counts the slots of the request queue for node `dst` that node i has written
 * and whose second qword has all bits of `bits`. */
static uint32_t slots_with(uint32_t i, uint32_t dst, uint64_t bits)
{
	uint32_t depth = 1024 / node[i].queues, n = 0;
	uint32_t q = dst % node[i].queues;

	for (uint32_t s = 0; s < depth; s++)
		n += (node[i].slot[q * depth + s][1] & bits) == bits &&
		     node[i].slot[q * depth + s][1];
	return n;
}

/* ---- records ---- */

static void test_record(void **state)
{
	open_all(NULL, 8);
	assert_string_equal(t->info.name, "native");
	assert_true(t->info.ordered);
	assert_int_equal(send(a, 0, 0, 1), 0);
	expect(t, 1, 0, 1);
	expect_none(t);
	assert_int_equal(send(t, 1, 0, 1), 0);
	expect(a, 0, 0, 1);
	expect_none(b);
	close_all();
}

static void test_any_order(void **state)
{
	static const uint16_t tags[] = { 5, 127, 128, 0, 6, 1 };
	bool got[3][STORAGE_SLOTS] = { 0 };
	struct storage_event ev[16];

	open_all(NULL, 8);
	for (uint32_t i = 0; i < 6; i++) {
		send(a, 0, tags[i], i + 1);
		send(b, 0, tags[5 - i], i + 1);
	}
	assert_int_equal(t->ops->poll(t, ev, 16), 12);
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(ev[i].slot, ev[i].rec.tag);
		assert_false(got[ev[i].peer][ev[i].slot]);
		got[ev[i].peer][ev[i].slot] = true;
	}
	expect_none(t);
	close_all();
}

static void test_equal_record_again(void **state)
{
	open_all(NULL, 8);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(send(a, 0, STORAGE_CONTROL, 1), 0);
		expect(t, 1, STORAGE_CONTROL, 1);
		expect_none(t);
	}
	close_all();
}

static void test_max_leaves_the_rest(void **state)
{
	struct storage_event ev[4];

	open_all(NULL, 8);
	for (uint16_t i = 0; i < 6; i++)
		send(a, 0, i, 1);
	assert_int_equal(t->ops->poll(t, ev, 4), 4);
	/* does not wait, because a record remains */
	t->ops->wait(t, WEFT_NEVER);
	assert_int_equal(t->ops->poll(t, ev, 4), 2);
	assert_int_equal(ev[1].slot, 5);
	close_all();
}

/* ---- data ---- */

static void test_put(void **state)
{
	struct storage_mr from, to;
	uint8_t *src, *dst;

	open_all(NULL, 8);
	src = region(t, 65536, &from);
	dst = region(a, 65536, &to);
	for (uint32_t i = 0; i < 65536; i++)
		src[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(a->info.max_put, 65536);
	assert_int_equal(t->ops->put(t, 1, src, 65536, to.addr, to.key, 0), 0);
	assert_int_equal(t->ops->put(t, 1, src, 8, to.addr + 65528, to.key, 0),
			 0);
	assert_int_equal(dst[8], 0); /* pending */
	send(t, 1, 3, 1);
	assert_memory_equal(dst, src, 65528);
	assert_memory_equal(dst + 65528, src, 8);
	expect(a, 0, 3, 1);
	assert_int_equal(t->ops->started(t, 1), 2);
	assert_int_equal(t->ops->departed(t, 1), 2);
	assert_int_equal(t->ops->departed(t, 2), 0);
	assert_int_equal(t->ops->dereg(t, &from), 0);
	close_all();
}

/* 16 pages and a record leave as one cluster, with one start flag and one
 * notification. */
static void test_one_cluster(void **state)
{
	struct storage_mr from, to;
	uint8_t *src;

	open_all(NULL, 8);
	src = region(t, 65536, &from);
	region(a, 65536, &to);
	t->ops->put(t, 1, src, 65536, to.addr, to.key, 0);
	send(t, 1, 0, 1);
	assert_int_equal(slots_with(0, 1, 0), 17);
	assert_int_equal(slots_with(0, 1, FORTH_DESC_START), 1);
	assert_int_equal(slots_with(0, 1, FORTH_DESC_RNOTIFY), 1);
	assert_int_equal(slots_with(0, 1, FORTH_DESC_LNOTIFY), 1);
	assert_int_equal(slots_with(0, 1, FORTH_DESC_RIRQ), 0);
	assert_int_equal(node[1].rnotify, 1);
	close_all();
}

static void test_small_clusters(void **state)
{
	const struct storage_link_attr attr = { .cluster = 3,
						.notify = "page" };
	struct storage_mr from, to;
	struct storage_event ev;
	uint8_t *src;

	open_all(&attr, 8);
	src = region(t, 65536, &from);
	region(a, 65536, &to);
	t->ops->put(t, 1, src, 7 * 4096, to.addr, to.key, 0);
	send(t, 1, 0, 1);
	assert_int_equal(slots_with(0, 1, 0), 8);
	assert_int_equal(slots_with(0, 1, FORTH_DESC_START), 3);
	assert_int_equal(node[1].rnotify, 8);
	assert_int_equal(a->ops->poll(a, &ev, 1), 1);
	expect_none(a);
	close_all();
}

/* The naive driver of the papers takes an interrupt for each packet. */
static void test_packets(void **state)
{
	const struct storage_link_attr attr = { .use_irq = true,
						.notify = "packet" };
	struct storage_mr from, to;
	uint8_t *src;

	open_all(&attr, 8);
	src = region(t, 65536, &from);
	region(a, 65536, &to);
	t->ops->put(t, 1, src, 4096, to.addr, to.key, 0);
	send(t, 1, 0, 1);
	assert_int_equal(slots_with(0, 1, 0), 9);
	assert_int_equal(slots_with(0, 1,
				    FORTH_DESC_START | FORTH_DESC_RNOTIFY |
					    FORTH_DESC_RIRQ),
			 9);
	assert_true(node[1].irq);
	expect(a, 0, 0, 1);
	close_all();
}

static void test_pending_leaves_by_poll(void **state)
{
	struct storage_mr from, to;
	uint8_t *src, *dst;

	open_all(NULL, 1);
	src = region(t, 4096, &from);
	dst = region(a, 4096, &to);
	memset(src, 1, 4096);
	t->ops->put(t, 1, src, 4096, to.addr, to.key, 0);
	assert_int_equal(t->ops->departed(t, 1), 0);
	expect_none(t);
	assert_int_equal(dst[4095], 1);
	assert_int_equal(t->ops->departed(t, 1), 1);
	expect_none(a);
	close_all();
}

/* A program that removes a region polls no more, so that removal itself must
 * let pending transfers depart. */
static void test_removal_of_a_region_releases_pending(void **state)
{
	struct storage_mr from, to;
	uint8_t *src, *dst;

	open_all(NULL, 8);
	src = region(t, 4096, &from);
	dst = region(a, 4096, &to);
	memset(src, 1, 4096);
	t->ops->put(t, 1, src, 4096, to.addr, to.key, 0);
	assert_int_equal(dst[4095], 0);
	assert_int_equal(t->ops->dereg(t, &from), 0);
	assert_int_equal(dst[4095], 1);
	close_all();
}

/* ---- no room ---- */

static void test_full_queue(void **state)
{
	struct storage_mr from, to;
	struct storage_event ev;
	uint32_t done = 0, put;
	uint8_t *src;

	open_all(NULL, 8);
	src = region(t, 65536, &from);
	region(a, 65536, &to);
	node[0].running = false;
	while (!t->ops->put(t, 1, src, 65536, to.addr, to.key, 0))
		done++;
	assert_int_equal(done, 128 / 16);
	assert_int_equal(send(t, 1, 0, 1), -EAGAIN);
	assert_int_equal(t->ops->dereg(t, &from), -EAGAIN);
	/* another peer has a queue of its own */
	assert_int_equal(send(t, 2, 0, 1), 0);
	assert_int_equal(t->ops->departed(t, 1), 0);
	node[0].running = true;
	t->ops->wait(t, WEFT_NEVER);
	assert_int_equal(t->ops->departed(t, 1), done);
	for (put = 0; put < 100; put++) {
		assert_int_equal(
			t->ops->put(t, 1, src, 65536, to.addr, to.key, 0), 0);
		assert_int_equal(send(t, 1, (uint16_t)(put % 128), put), 0);
		assert_int_equal(a->ops->poll(a, &ev, 1), 1);
		assert_int_equal(ev.rec.seq, put);
	}
	assert_int_equal(t->ops->departed(t, 1), done + put);
	expect(b, 0, 0, 1);
	close_all();
}

static void test_full_records(void **state)
{
	uint32_t n = 0;

	open_all(NULL, 1);
	node[1].running = false;
	while (!send(a, 0, (uint16_t)(n % 128), n))
		n++;
	assert_int_equal(n, 64);
	node[1].running = true;
	fake_run(&node[1]);
	assert_int_equal(send(a, 0, 100, n), 0);
	close_all();
}

/* ---- losses ---- */

static void test_losses(void **state)
{
	struct storage_event ev;
	uint32_t head;

	open_all(NULL, 8);
	node[1].lose = 1;
	send(a, 0, 0, 1);
	expect_none(t);
	send(a, 0, 1, 1);
	expect(t, 1, 1, 1);
	send(a, 0, 0, 2);
	expect(t, 1, 0, 2);
	/* damage a record in flight */
	node[1].running = false;
	send(a, 0, 2, 1);
	head = node[1].head[0];
	*((uint8_t *)node[1].mem + (node[1].slot[head][0] - node[1].base) +
	  9) ^= 1;
	fake_run(&node[1]);
	node[1].running = true;
	expect_none(t);
	send(a, 0, 3, 1);
	assert_int_equal(t->ops->poll(t, &ev, 1), 1);
	assert_int_equal(ev.slot, 3);
	send(a, 0, 2, 1);
	expect(t, 1, 2, 1);
	close_all();
}

/* ---- addresses outside the peer's region or table ---- */

static void test_bad_places(void **state)
{
	struct storage_mr from, to;
	uint32_t head;
	uint8_t *src;

	open_all(NULL, 8);
	src = region(t, 4096, &from);
	region(a, 4096, &to);
	head = node[0].head[1];
	t->ops->put(t, 1, src, 8, to.addr - 8, to.key, 0);
	t->ops->put(t, 1, src, 8, to.addr + 4096, to.key, 0);
	t->ops->put(t, 1, src, 16, to.addr + 4088, to.key, 0);
	t->ops->put(t, 1, src, 8, to.addr + 4, to.key, 0);
	t->ops->put(t, 1, src, 8, UINT64_MAX - 7, UINT64_MAX, 0);
	t->ops->put(t, 1, src, 8, to.addr, 0, 0);
	t->ops->put(t, 77, src, 8, to.addr, to.key, 0);
	expect_none(t);
	assert_int_equal(node[0].head[1], head);
	t->ops->peer_table(t, 1, 3, 0);
	assert_int_equal(send(t, 1, 0, 1), 0);
	t->ops->peer_table(t, 1, UINT32_MAX - 8, 0);
	assert_int_equal(send(t, 1, 0, 1), 0);
	t->ops->peer_table(t, 500, a->info.table, 0);
	assert_int_equal(send(t, 500, 0, 1), 0);
	assert_int_equal(node[0].head[1], head);
	t->ops->peer_table(t, 1, a->info.table, 0);
	assert_int_equal(send(t, 1, STORAGE_SLOTS, 1), 0);
	assert_int_equal(node[0].head[1], head);
	send(t, 1, 0, 1);
	expect(a, 0, 0, 1);
	close_all();
}

/* ---- opening ---- */

static void test_open(void **state)
{
	static const uint32_t targets[] = { 0 };
	struct storage_link_attr attr = { .targets = targets, .n_targets = 1 };
	struct storage_link *l;

	fake_start(node, 2, 8);
	assert_true(storage_native_forth.probe(&node[0], &node[0].dev));
	attr.notify = "never";
	assert_int_equal(storage_native_forth.open(&node[1], &attr, &l),
			 -EINVAL);
	attr.notify = NULL;
	attr.n_targets = 0;
	assert_int_equal(storage_native_forth.open(&node[1], &attr, &l),
			 -EINVAL);
	/* records to a target that has not opened its link are lost */
	a = open_one(1, attr);
	assert_int_equal(send(a, 0, STORAGE_CONTROL, 1), 0);
	t = open_one(0, attr);
	expect_none(t);
	assert_int_equal(send(a, 0, STORAGE_CONTROL, 1), 0);
	expect(t, 1, STORAGE_CONTROL, 1);
	/* answers of a target that does not know the initiator's table are
	 * lost, too */
	assert_int_equal(send(t, 1, STORAGE_CONTROL, 1), 0);
	expect_none(a);
	a->ops->close(a);
	/* the NIC's count of notifications includes the notifications of the
	 * closed link */
	a = open_one(1, attr);
	assert_int_equal(send(a, 0, STORAGE_CONTROL, 1), 0);
	expect(t, 1, STORAGE_CONTROL, 1);
	a->ops->close(a);
	t->ops->close(t);
	fake_stop(node, 2);
}

/* A peer's NIC has 32 bits for an address in the tables. The last slot may end
 * at 4 GB - 256. */
static void tables_lie_below_4_gb(void **state)
{
	static const uint32_t targets[] = { 0 };
	struct storage_link_attr attr = { .targets = targets };
	struct storage_link *l;

	/* a target with the peers 1 and 2, and an initiator with peer 0 */
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t behind = i ? 1 : 3; /* highest peer, plus 1 */
		uint64_t end;

		attr.target = !i;
		attr.n_targets = i;
		fake_start(node, 3, 8);
		l = open_one(i, attr);
		end = l->info.table + behind * FORTH_STORAGE_TABLE;
		l->ops->close(l);
		fake_stop(node, 3);
		fake_start(node, 3, 8);
		node[i].base += (1ull << 32) - 256 - end;
		l = open_one(i, attr);
		l->ops->close(l);
		node[i].used = 0;
		node[i].base += 256;
		assert_int_equal(storage_native_forth.open(&node[i], &attr, &l),
				 -ENOMEM);
		fake_stop(node, 3);
	}
}

static void test_modes_of_the_endpoint(void **state)
{
	fake_start(node, 1, 8);
	node[0].reg[FORTH_BUILD / 4] |= FORTH_BUILD_MULTIPATH;
	assert_false(storage_native_forth.probe(&node[0], &node[0].dev));
	node[0].reg[FORTH_BUILD / 4] ^= FORTH_BUILD_MULTIPATH;
	node[0].reg[FORTH_BUILD / 4] |= FORTH_BUILD_COUNT;
	assert_false(storage_native_forth.probe(&node[0], &node[0].dev));
	node[0].cfg[0] = 0x12345678;
	assert_false(storage_native_forth.probe(&node[0], &node[0].dev));
	fake_stop(node, 1);
}

static void test_sleepers(void **state)
{
	const struct storage_link_attr attr = { .use_irq = true };
	struct storage_event ev;

	open_all(&attr, 8);
	send(a, 0, 0, 1);
	assert_true(node[0].irq);
	expect(t, 1, 0, 1);
	t->ops->wait(t, WEFT_NEVER); /* acknowledges the interrupt */
	assert_false(node[0].irq);
	node[1].running = false;
	send(a, 0, 1, 1);
	expect_none(t);
	assert_int_equal(a->ops->departed(a, 0), 0);
	a->ops->wait(a, WEFT_NEVER); /* polls, because a departure raises no
					interrupt */
	assert_int_equal(a->ops->poll(a, &ev, 1), 0);
	node[1].running = true;
	fake_run(&node[1]);
	t->ops->wait(t, WEFT_NEVER);
	expect(t, 1, 1, 1);
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_equal_record_again),
		cmocka_unit_test(test_max_leaves_the_rest),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_one_cluster),
		cmocka_unit_test(test_small_clusters),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_pending_leaves_by_poll),
		cmocka_unit_test(test_removal_of_a_region_releases_pending),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_full_records),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_bad_places),
		cmocka_unit_test(test_open),
		cmocka_unit_test(tables_lie_below_4_gb),
		cmocka_unit_test(test_modes_of_the_endpoint),
		cmocka_unit_test(test_sleepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
