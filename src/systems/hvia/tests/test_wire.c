/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of HVIA-GE made by hand, byte by byte (hvia.md 3.8, 5.3, 5.5). They
 * are sent as kernel packets, which may have any content. Tests positions of
 * fields, sequence numbers, messages that change in the middle, frames for
 * other VIs, masked interrupts, and memory that does not exist. */
#include "hvduo.h"

#include <string.h>

#include "systems/ethernet/link/wire.h"

struct head {
	uint32_t flags, seq, length, offset, type;
	uint64_t word; /* the eight bytes at offset 30 */
};

static void put(uint8_t *p, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Sends a frame of VI 3 of node 0 to VI 4 of node 1, with n bytes of `fill`. */
static void say(struct hvrig *r, const struct head *t, uint32_t n, uint8_t fill)
{
	uint8_t f[1600] = { 0 };
	uint32_t bytes = 42 + n < 60 ? 60 : 42 + n;

	eth_addr_of(f, 1);
	eth_addr_of(f + 6, 0);
	f[12] = 0x88;
	f[13] = 0xB5;
	f[14] = (uint8_t)t->type;
	f[15] = (uint8_t)t->flags;
	put(f + 16, PEER, 2);
	put(f + 18, VI, 2);
	put(f + 20, t->seq, 2);
	put(f + 22, t->length, 4);
	put(f + 26, t->offset, 4);
	put(f + 30, t->word, 8);
	memset(f + 42, fill, n);
	for (uint32_t i = 0; i < bytes; i += 8) {
		uint64_t w;

		memcpy(&w, f + i, 8);
		hvrig_store(r, HVIA_KTX + i, w);
	}
	hvrig_store(r, HVIA_KTX_LENGTH, bytes);
	while (hvrig_load(r, HVIA_KTX_LENGTH))
		;
	weft_host_sleep(r->h, weft_host_now(r->h) + 50 * WEFT_US);
}

static const struct hvrig_desc *desc(uint32_t i)
{
	return &hvduo.rig[1].desc[i];
}

/* Functions of a test: node 1 posts receives, node 0 runs `play`, then node 1
 * runs `check`. */
static void (*play)(struct hvrig *r);
static void (*check)(struct hvrig *r, struct bench *b);
static uint32_t first_seq;

static int player(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvrig_open(&hvduo.rig[0], h);
	hvarea_meet(h, &turn);
	play(&hvduo.rig[0]);
	hvarea_meet(h, &turn);
	return 0;
}

static int checker(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint8_t mac[6];
	uint32_t turn = 0;

	hvduo_peer_posts(h, b);
	eth_addr_of(mac, 0);
	hvrig_store(r, hvia_vi_entry(PEER, HVIA_VI_1),
		    hvia_vi_1(mac, 0, first_seq));
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	check(r, b);
	return 0;
}

static void run(void (*p)(struct hvrig *r),
		void (*c)(struct hvrig *r, struct bench *b), uint32_t seq)
{
	play = p;
	check = c;
	first_seq = seq;
	hvduo_run(player, checker, 6);
}

static uint64_t counted(struct bench *b, const char *name)
{
	return bench_counter(b->node[1].dev, name);
}

enum { ONE = HVIA_FF_FIRST | HVIA_FF_LAST };

/* ---- layout ---- */

static void says_immediate(struct hvrig *r)
{
	say(r,
	    &(struct head){ .flags = ONE | HVIA_FF_IMMEDIATE,
			    .length = 8,
			    .word = 0xdeadbeef12345678 },
	    8, 0x5a);
}

static void has_immediate(struct hvrig *r, struct bench *b)
{
	assert_int_equal(desc(0)->d.status, RECV | HVIA_ST_IMMEDIATE);
	assert_int_equal(desc(0)->d.immediate, 0x12345678);
	assert_int_equal(desc(0)->d.length, 8);
	assert_int_equal(hvduo.buf[1][7], 0x5a);
	assert_int_equal(hvduo.buf[1][8], 0);
}

static void immediate_data_of_a_send_lie_at_byte_30(void **state)
{
	run(says_immediate, has_immediate, 0);
}

/* ---- sequence ---- */

static void says_over_the_wrap(struct hvrig *r)
{
	for (uint32_t i = 0; i < 4; i++)
		say(r,
		    &(struct head){ .flags = ONE,
				    .seq = (0xfffe + i) & 0xffff,
				    .length = 8 },
		    8, (uint8_t)(i + 1));
	/* repeats a frame from before the wrap and a frame from after the wrap.
	 * The card drops both frames */
	say(r, &(struct head){ .flags = ONE, .seq = 0xffff, .length = 8 }, 8,
	    9);
	say(r, &(struct head){ .flags = ONE, .seq = 1, .length = 8 }, 8, 9);
}

static void has_four(struct hvrig *r, struct bench *b)
{
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(desc(i)->d.status, i < 4 ? RECV : 0);
	assert_int_equal(counted(b, "gaps"), 0);
	assert_int_equal(counted(b, "drop_old"), 2);
}

static void sequence_numbers_go_on_over_the_wrap(void **state)
{
	run(says_over_the_wrap, has_four, 0xfffe);
}

/* Sends with a gap: the frames 0xffff and 0 are lost. */
static void says_over_a_gap(struct hvrig *r)
{
	say(r, &(struct head){ .flags = ONE, .seq = 0xfffe, .length = 8 }, 8,
	    1);
	say(r, &(struct head){ .flags = ONE, .seq = 1, .length = 8 }, 8, 2);
}

static void has_two(struct hvrig *r, struct bench *b)
{
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(desc(i)->d.status, i < 2 ? RECV : 0);
	assert_int_equal(counted(b, "gaps"), 1);
	assert_int_equal(counted(b, "drop_old"), 0);
}

static void a_gap_at_the_wrap_is_one(void **state)
{
	run(says_over_a_gap, has_two, 0xfffe);
}

/* ---- messages that change ---- */

static void says_other_length(struct hvrig *r)
{
	say(r, &(struct head){ .flags = HVIA_FF_FIRST, .length = 3000 }, 1472,
	    1);
	say(r,
	    &(struct head){ .flags = HVIA_FF_LAST,
			    .seq = 1,
			    .length = 2000,
			    .offset = 1472 },
	    528, 2);
	say(r, &(struct head){ .flags = ONE, .seq = 2, .length = 8 }, 8, 3);
}

static void says_other_offset(struct hvrig *r)
{
	say(r, &(struct head){ .flags = HVIA_FF_FIRST, .length = 2000 }, 1472,
	    1);
	say(r,
	    &(struct head){ .flags = HVIA_FF_LAST,
			    .seq = 1,
			    .length = 2000,
			    .offset = 1000 },
	    528, 2);
	say(r, &(struct head){ .flags = ONE, .seq = 2, .length = 8 }, 8, 3);
}

static void has_partial(struct hvrig *r, struct bench *b)
{
	assert_int_equal(desc(0)->d.status, RECV | HVIA_ST_PARTIAL_ERROR);
	assert_int_equal(desc(0)->d.length, 1472);
	assert_int_equal(hvduo.buf[1][1471], 1);
	assert_int_equal(hvduo.buf[1][1472], 0);
	/* the descriptor was filled by the next message */
	assert_int_equal(desc(1)->d.status, RECV);
	assert_int_equal(hvduo.buf[1][HVIA_PAGE], 3);
	assert_int_equal(counted(b, "partial"), 1);
}

static void a_message_keeps_its_length_and_place(void **state)
{
	run(says_other_length, has_partial, 0);
	run(says_other_offset, has_partial, 0);
}

/* ---- frames for other VIs ---- */

static void says_foreign(struct hvrig *r)
{
	for (uint32_t i = 0; i < 40; i++)
		say(r, &(struct head){ .type = 5, .flags = ONE, .length = 8 },
		    8, 1);
	say(r, &(struct head){ .flags = ONE, .length = 8 }, 8, 3);
}

static void has_one(struct hvrig *r, struct bench *b)
{
	assert_int_equal(desc(0)->d.status, RECV);
	assert_int_equal(counted(b, "drop_type"), 40);
	assert_int_equal(HVIA_STATUS_RX_BUFFERS(hvrig_load(r, HVIA_STATUS)), 0);
}

static void frames_of_others_keep_no_buffer(void **state)
{
	run(says_foreign, has_one, 0);
}

/* ---- interrupts ---- */

static void says_kernel(struct hvrig *r)
{
	say(r, &(struct head){ .type = HVIA_T_NO_MATCH }, 8, 1);
}

static void is_masked(struct hvrig *r, struct bench *b)
{
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), HVIA_INT_PACKET);
	assert_int_equal(counted(b, "irqs"), 0);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_ERROR | HVIA_INT_COMPLETION);
	hvrig_load(r, HVIA_STATUS);
	assert_int_equal(counted(b, "irqs"), 0);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_PACKET);
	hvrig_load(r, HVIA_STATUS);
	assert_int_equal(counted(b, "irqs"), 1);
}

static void a_masked_cause_raises_no_interrupt(void **state)
{
	run(says_kernel, is_masked, 0);
}

/* ---- memory that does not exist ---- */

static int sends_there(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	assert_int_equal(hvduo_sent(hvduo_simple(0, 64)), OK);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int has_none(struct weft_host *h, struct bench *b)
{
	weft_phys_t nowhere = 0xf0000000;
	struct hvrig *r = &hvduo.rig[1];
	struct hvrig_desc *d;
	uint32_t turn = 0, m;

	hvduo_open_side(h, 0, 0);
	m = hvrig_region(r, 0x10000, HVIA_PAGE, &nowhere, HVRIG_PTAG, 0);
	d = hvrig_desc(r, 0, 0);
	hvrig_seg(d, (void *)0x10000, m, 64);
	hvrig_post(r, PEER, HVIA_Q_RECV, d);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(d->d.status, RECV | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(counted(b, "bus_aborts"), 1);
	return 0;
}

static void bytes_that_find_no_memory_are_reported(void **state)
{
	hvduo_run(sends_there, has_none, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(immediate_data_of_a_send_lie_at_byte_30),
		cmocka_unit_test(sequence_numbers_go_on_over_the_wrap),
		cmocka_unit_test(a_gap_at_the_wrap_is_one),
		cmocka_unit_test(a_message_keeps_its_length_and_place),
		cmocka_unit_test(frames_of_others_keep_no_buffer),
		cmocka_unit_test(a_masked_cause_raises_no_interrupt),
		cmocka_unit_test(bytes_that_find_no_memory_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
