/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA: scenarios U01 to U07 of hostport.md 13.5, its golden vectors, packets
 * kept on the device. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/hostport/nic/ultra.h"
#include "ultrarig.h"

/* ---- U01, U02, U03: lengths and pieces ---- */

static void short_near(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_give(e, 0, 1, 5);
	ultrarig_give(e, 0, 2, 2);
}

/* Checks that the notification has the packet's length. Words beyond the length
 * of the receive buffer, or of the packet, are not written. */
static void short_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[6], want[5], tag;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n = i ? 2 : 5, max = i ? 5 : 3;

		memset(w, 0xee, sizeof(w));
		assert_int_equal(ultra_recv(&e->rx, &tag, w, max,
					    weft_host_now(e->h) + WEFT_MS),
				 n);
		n = n < max ? n : max;
		ultrarig_fill(want, n, tag);
		assert_memory_equal(w, want, 8 * n);
		for (; n < 6; n++)
			assert_int_equal(w[n], 0xeeeeeeeeeeeeeeee);
	}
}

static void a_packet_is_taken_as_far_as_there_is_room(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, short_near, short_far);
	ultrarig_free(&t);
}

/* U02 */
static void trigger_addresses_have_specified_bits(void **state)
{
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

/* Stores packet `tag` of n payload words in pieces of `piece` dwords. */
static void give_pieces(struct ultra_end *e, uint64_t tag, uint32_t n,
			uint32_t seed)
{
	uint32_t b[2 * ULTRARIG_MAX + 2], at = 0, all = 2 * n + 2;
	struct weft_io io = e->tx.page;
	uint64_t w[ULTRARIG_MAX + 1];

	w[0] = tag;
	ultrarig_fill(w + 1, n, tag);
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
	for (uint32_t n = 0; n <= ULTRARIG_MAX; n++) {
		ultrarig_give(e, 0, 4 * n, n);
		give_pieces(e, 4 * n + 1, n, 7 * n + 1);
		give_pieces(e, 4 * n + 2, n, 0);
		weft_host_cpu(e->h, 20 * WEFT_US);
	}
}

static void lengths_far(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t n = 0; n <= ULTRARIG_MAX; n++)
		for (uint32_t k = 0; k < 3; k++)
			ultrarig_take(e, 4 * n + k, n);
}

/* U01, U03 */
static void packets_of_1_to_32_words_arrive_however_written(void **state)
{
	static const char *const roomy[] = {
		"hostport.nic:ultra_port_slice=256", NULL
	};
	struct ultrarig t = { 0 };

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

	ultrarig_give(e, 0, 1, ULTRARIG_MAX);
	/* refused, because two packets of 32 words do not fit into 63 */
	ultrarig_give(e, 0, 2, ULTRARIG_MAX);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	assert_int_equal(w[0], 2);
	assert_int_equal(w[1], e->tx.upid);
	weft_host_cpu(e->h, 10 * WEFT_US);
	ultrarig_give(e, 0, 3, ULTRARIG_MAX);
	weft_host_cpu(e->h, 10 * WEFT_US);
	/* stores an index that does not follow the one before */
	io.attr = WEFT_UC;
	weft_io_store64(e->h, &io, HP_ULTRA_INDEX(28), 4);
	weft_io_store64(e->h, &io, HP_ULTRA_INDEX(31), 5);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	assert_int_equal(w[0], 4);
}

static void full_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 1, ULTRARIG_MAX);
	ultrarig_take(e, 3, ULTRARIG_MAX);
	ultrarig_take(e, 5, 0);
}

/* U04 */
static void slice_full(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, full_near, full_far);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_refused"), 2);
	ultrarig_free(&t);
}

/* ---- U05: loads of a user ---- */

static void loads_near(struct ultrarig *t, struct ultra_end *e)
{
	uint32_t first = ultra_read_pointer(&e->tx);
	uint32_t off;

	ultrarig_give(e, 0, 1, 4);
	weft_host_cpu(e->h, 10 * WEFT_US);
	assert_int_equal(ultra_read_pointer(&e->tx), first + 5);
	for (off = 0; off < HP_ULTRA_RP; off += 264)
		assert_int_equal(weft_io_load64(e->h, &e->tx.page, off & ~7u),
				 UINT64_MAX);
	assert_int_equal(ultra_read_pointer(&e->tx), first + 5);
	ultrarig_give(e, 0, 2, 4);
}

static void loads_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 1, 4);
	ultrarig_take(e, 2, 4);
}

/* U05 */
static void user_loads(void **state)
{
	struct ultrarig t = { 0 };

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
	ultrarig_give(e, ULTRA_NOTIFY | ULTRA_ACK, 1, 2);
	assert_false(hpproc_wait(&e->p, w));
	ultrarig_meet(e);
	ultrarig_meet(e);
	ultrarig_give(e, ULTRA_NOTIFY | ULTRA_ACK, 2, 2);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x118);
	assert_int_equal(w[0], 2);
}

static void wrong_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t tag, w[ULTRARIG_MAX];

	cpl_set(e, HP_UC_OUPID, e->rx.upid + 1);
	ultrarig_meet(e);
	ultrarig_meet(e);
	assert_int_equal(ultra_poll(&e->rx, &tag, w, ULTRARIG_MAX), -1);
	assert_int_equal(weft_io_load64(e->h, &e->u.ports,
					HP_ULTRA_CPL |
						HP_ULTRA_PAGE(e->rx.upid) |
						HP_UC_PTRS),
			 0);
	cpl_set(e, HP_UC_OUPID, 0);
	ultrarig_meet(e);
	ultrarig_take(e, 2, 2);
}

/* U06 */
static void wrong_source(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, wrong_near, wrong_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_discarded"), 1);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 1);
	ultrarig_free(&t);
}

/* Lets the port accept only packets of another node (HPID 3), so that the first
 * packet of node 0 is discarded. */
static void node_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t tag, w[ULTRARIG_MAX];

	cpl_set(e, HP_UC_HPID, 3);
	ultrarig_meet(e);
	ultrarig_meet(e);
	assert_int_equal(ultra_poll(&e->rx, &tag, w, ULTRARIG_MAX), -1);
	cpl_set(e, HP_UC_HPID, 1);
	ultrarig_meet(e);
	ultrarig_take(e, 2, 2);
}

/* U06 */
static void a_port_takes_packets_of_one_node(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, wrong_near, node_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_discarded"), 1);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 1);
	ultrarig_free(&t);
}

/* ---- routes of a port ---- */

static uint64_t req_reg(struct ultra_end *e, uint32_t upid, uint32_t reg)
{
	return weft_io_load64(e->h, &e->u.ports, HP_ULTRA_PAGE(upid) + reg);
}

static void req_set(struct ultra_end *e, uint32_t upid, uint32_t reg,
		    uint64_t val)
{
	weft_io_store64(e->h, &e->u.ports, HP_ULTRA_PAGE(upid) + reg, val);
}

/* Checks that port 1 is not enabled without a route and that the route of port
 * 0 does not change. */
static void ways_near(struct ultrarig *t, struct ultra_end *e)
{
	static const uint64_t none[] = { 0, 1, 16 };
	uint64_t way = req_reg(e, 0, HP_UR_ROUTE), len;

	len = req_reg(e, 0, HP_UR_LEN);
	for (uint32_t i = 0; i < 3; i++) {
		req_set(e, 1, HP_UR_ROUTE,
			i == 1 ? HP_EL_SEP : 0x4f4f4f4f4f4f4f4f);
		req_set(e, 1, HP_UR_ROUTE + 8, 0x4f4f4f4f4f4f4f4f);
		req_set(e, 1, HP_UR_LEN, none[i]);
		req_set(e, 1, HP_UR_CTRL, HP_ULTRA_EN);
		assert_int_equal(req_reg(e, 1, HP_UR_CTRL), 0);
	}
	req_set(e, 0, HP_UR_LEN, 0);
	req_set(e, 0, HP_UR_ROUTE, 0);
	assert_int_equal(req_reg(e, 0, HP_UR_LEN), len);
	assert_true(req_reg(e, 0, HP_UR_ROUTE) == way);
	ultrarig_give(e, 0, 1, 2);
	/* disables the port while its packet leaves */
	req_set(e, 0, HP_UR_CTRL, 0);
	req_set(e, 0, HP_UR_LEN, 0);
	ultrarig_meet(e);
}

static void ways_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_meet(e);
}

static void a_port_has_a_way_as_long_as_it_has_packets(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, ways_near, ways_far);
	ultrarig_free(&t);
}

/* ---- U07: receive queue full ---- */

static void queue_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 12; i++) {
		ultrarig_give(e, 0, i, 3);
		weft_host_cpu(e->h, 2 * WEFT_US);
	}
	ultrarig_meet(e);
}

static void queue_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t page = HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid);

	ultrarig_meet(e);
	/* three of four slices are in use, and the other packets wait */
	assert_int_equal(weft_io_load64(e->h, &e->u.ports, page + HP_UC_PTRS),
			 3ull << 24);
	for (uint32_t i = 0; i < 12; i++)
		ultrarig_take(e, i, 3);
}

/* U07 */
static void queue_full(void **state)
{
	struct ultrarig t = { .attr = { .slices = 4 } };

	ultrarig_run(&t, NULL, NULL, queue_near, queue_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 12);
	ultrarig_free(&t);
}

/* ---- the read pointer of a receive queue (9.6) ---- */

enum { RING = 3 }; /* slices */

static void pointer_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t turn = 0; turn < 2; turn++) {
		ultrarig_give(e, 0, 1, 1);
		ultrarig_give(e, 0, 2, 1);
		weft_host_cpu(e->h, 10 * WEFT_US);
		ultrarig_meet(e);
		ultrarig_meet(e);
	}
}

/* Stores a read pointer. Returns read and write pointer as the register shows
 * them. */
static uint64_t pointers(struct ultra_end *e, uint64_t rp)
{
	weft_io_store64(e->h, &e->rx.page, HP_ULTRA_RP, rp);
	return weft_io_load64(e->h, &e->u.ports,
			      HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid) |
				      HP_UC_PTRS);
}

static void pointer_far(struct ultrarig *t, struct ultra_end *e)
{
	e->rx.page.attr = WEFT_UC;
	ultrarig_meet(e);
	assert_int_equal(pointers(e, 2), 2ull << 24 | 2);
	ultrarig_meet(e);
	/* Slices 2 and 0 have packets. */
	ultrarig_meet(e);
	assert_int_equal(pointers(e, RING), 1ull << 24 | 2);
	cpl_set(e, HP_UC_CTRL, 0);
	assert_int_equal(pointers(e, 0), 1ull << 24 | 2);
	cpl_set(e, HP_UC_CTRL, HP_ULTRA_EN);
	assert_int_equal(pointers(e, 0), 1ull << 24);
	assert_int_equal(pointers(e, 2), 1ull << 24);
	assert_int_equal(pointers(e, 1), 1ull << 24 | 1);
	ultrarig_meet(e);
}

static void a_read_pointer_moves_to_taken_slices_of_an_enabled_port(void **st)
{
	struct ultrarig t = { .attr = { .slices = RING } };

	ultrarig_run(&t, NULL, NULL, pointer_near, pointer_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 4);
	ultrarig_free(&t);
}

/* ---- a queue that changes while a packet is checked ---- */

enum { MOMENTS = 40 };

static void shrinking_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < MOMENTS; i++) {
		weft_host_sleep(e->h, (i + 1) * WEFT_MS);
		ultrarig_give(e, 0, i, 1);
	}
}

/* Lets the driver take all free slices away, in each round 100 ns later than in
 * the round before. In some rounds the packet has found a slice and loses it
 * again. */
static void shrinking_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t size = weft_io_load64(
		e->h, &e->u.ports,
		HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid) | HP_UC_SIZE);

	for (uint32_t i = 0; i < MOMENTS; i++) {
		uint64_t stalls = ultrarig_counter(t, 1, "rx_stalls");

		weft_host_sleep(e->h, (i + 1) * WEFT_MS + i * WEFT_US / 10);
		cpl_set(e, HP_UC_SIZE, size & ~0xffffffull);
		weft_host_cpu(e->h, 10 * WEFT_US);
		stalls = ultrarig_counter(t, 1, "rx_stalls") - stalls;
		assert_in_range(stalls, 0, 1);
		t->v[stalls]++;
		cpl_set(e, HP_UC_SIZE, size);
		ultrarig_take(e, i, 1);
	}
}

static void a_slice_taken_from_a_packet_is_one_stall(void **state)
{
	static const char *const slow[] = {
		"hostport.nic:ultra_cpl_latency=255", NULL
	};
	struct ultrarig t = { .attr = { .slices = RING } };

	ultrarig_run(&t, NULL, slow, shrinking_near, shrinking_far);
	assert_true(t.v[1] > 0);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), MOMENTS);
	ultrarig_free(&t);
}

/* ---- options (9.5, 14.3) ---- */

/* Lets the target discard a packet that finds no slice, and notify its
 * origin. */
static void discard_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t err = i < 3 ? 0 : HP_ERR_ROUTE_BROKEN;

		ultrarig_give(e, ULTRA_NOTIFY | ULTRA_ACK, i, 3);
		assert_true(hpproc_wait(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w),
				 HP_CMD(err, HP_G_ULTRA, HP_B_ULTRA_ACKED));
		assert_int_equal(w[0], i);
	}
	ultrarig_give(e, 0, 5, 3); /* without notification */
	weft_host_cpu(e->h, 10 * WEFT_US);
	ultrarig_meet(e);
	ultrarig_meet(e);
	ultrarig_give(e, 0, 6, 3);
}

static void discard_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_meet(e);
	for (uint32_t i = 0; i < 3; i++)
		ultrarig_take(e, i, 3);
	ultrarig_meet(e);
	ultrarig_take(e, 6, 3);
}

static void full_policy(void **state)
{
	static const char *const discard[] = {
		"hostport.nic:ultra_full_policy=discard", NULL
	};
	struct ultrarig t = { .attr = { .slices = 4 } };

	ultrarig_run(&t, NULL, discard, discard_near, discard_far);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_discarded"), 3);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"), 4);
	assert_int_equal(ultrarig_counter(&t, 1, "rx_stalls"), 0);
	ultrarig_free(&t);
}

/* Checks that packets longer than a slice are refused like packets that find no
 * slice. */
static void words_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	ultrarig_give(e, 0, 1, 7); /* eight words */
	ultrarig_give(e, 0, 2, 8);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x120);
	assert_int_equal(w[0], 2);
	ultrarig_give(e, 0, 3, 7);
}

static void words_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 1, 7);
	ultrarig_take(e, 3, 7);
}

static void max_words(void **state)
{
	static const char *const eight[] = { "hostport.nic:ultra_max_words=8",
					     NULL };
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, eight, words_near, words_far);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_refused"), 1);
	ultrarig_free(&t);
}

/* ---- packets kept on the device (9.6) ---- */

static void device_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 10; i++) {
		ultrarig_give(e, 0, i, i);
		weft_host_cpu(e->h, 2 * WEFT_US);
	}
	ultrarig_meet(e);
}

static void device_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_meet(e);
	for (uint32_t i = 0; i < 10; i++)
		ultrarig_take(e, i, i);
	assert_int_equal(weft_io_load64(e->h, &e->rx.page, 0), 0);
}

static void on_device(void **state)
{
	struct ultrarig t = { .attr = { .slices = 4, .on_device = true } };

	ultrarig_run(&t, NULL, NULL, device_near, device_far);
	ultrarig_free(&t);
}

/* ---- lengths that a port takes ---- */

enum { LENGTHS = 41 }; /* payloads of 0 to 40 words */

/* Sends a packet of n payload words to port `upid`. A requester sends no more
 * than 31 words. */
static void forge(struct ultrarig *t, uint32_t upid, uint64_t tag, uint32_t n)
{
	struct hp_nic *nic = t->r.node[0].nic->state;
	struct hp_route r = { .dtag = 2, .nf = 2 };
	struct hp_head h = {
		.c = { HP_C0(HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_SEND), 1, 0), 0,
		       tag, HP_C3(2, 8 * n), ULTRA_C4(upid, 0) },
		.bytes = 8 * n,
	};
	uint64_t w[LENGTHS];
	struct weft_frame *f;
	uint32_t skip;

	assert_int_equal(hp_route_topo(&t->r.topo, 0, 1, r.fwd), 1);
	r.fwd[1] = HP_EL(0, 1);
	f = hp_pkt_new(t->r.sim, &r, &h, 0);
	assert_non_null(f);
	skip = hp_pkt_skip(f, &h);
	ultrarig_fill(w, n, tag);
	memcpy(weft_slice_data(f->payload) + skip, w, 8 * n);
	hp_net_send(nic, f, skip, hp_now(nic) + 10, UINT32_MAX, NULL, NULL);
}

static void forging_near(struct ultrarig *t, struct ultra_end *e)
{
	static const uint32_t none[] = { 64, 65535 }; /* ports 0 to 63 exist */

	for (uint32_t i = 0; i < 2; i++)
		forge(t, none[i], 0, 1);
	for (uint32_t n = 0; n < LENGTHS; n++) {
		forge(t, t->end[1].rx.upid, n, n);
		weft_host_sleep(e->h, weft_host_now(e->h) + 2 * WEFT_US);
	}
	ultrarig_meet(e);
}

/* A slice holds the payload, the tag and the status. */
static void forging_far(struct ultrarig *t, struct ultra_end *e)
{
	uint32_t room = t->attr.on_device ? LENGTHS : t->attr.words - 2;

	ultrarig_meet(e);
	room = room < ULTRA_PAYLOAD_MAX ? room : ULTRA_PAYLOAD_MAX;
	for (uint32_t n = 0; n <= room; n++)
		ultrarig_take(e, n, n);
	assert_int_equal(ultrarig_counter(t, 1, "ultra_received"), room + 1);
	assert_int_equal(ultrarig_counter(t, 1, "ultra_discarded"),
			 2 + LENGTHS - 1 - room);
}

static void packets_that_do_not_fit_into_a_slice_are_discarded(void **state)
{
	static const uint32_t words[] = { 2, 3, 10, 32, 33, 40, 0 };

	for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct ultrarig t = { .attr = { .words = words[i],
						.on_device = !words[i] } };

		ultrarig_run(&t, NULL, NULL, forging_near, forging_far);
		ultrarig_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_policy),
		cmocka_unit_test(a_slice_taken_from_a_packet_is_one_stall),
		cmocka_unit_test(max_words),
		cmocka_unit_test(trigger_addresses_have_specified_bits),
		cmocka_unit_test(a_packet_is_taken_as_far_as_there_is_room),
		cmocka_unit_test(
			packets_of_1_to_32_words_arrive_however_written),
		cmocka_unit_test(slice_full),
		cmocka_unit_test(user_loads),
		cmocka_unit_test(wrong_source),
		cmocka_unit_test(a_port_takes_packets_of_one_node),
		cmocka_unit_test(a_port_has_a_way_as_long_as_it_has_packets),
		cmocka_unit_test(queue_full),
		cmocka_unit_test(
			a_read_pointer_moves_to_taken_slices_of_an_enabled_port),
		cmocka_unit_test(on_device),
		cmocka_unit_test(
			packets_that_do_not_fit_into_a_slice_are_discarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
