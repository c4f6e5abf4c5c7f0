/* SPDX-License-Identifier: Apache-2.0 */
/* The HyperTransport bus alone: the times of EXTOLL specification 7.1, 7.4 and
 * 7.5 from their parts, bandwidth (EX-09, EX-10), order, tags, masks,
 * back-pressure, aborts. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/ht.h"
#include "ht_bench.h"

static uint64_t done(const struct bench *b, uint32_t n)
{
	return bench_when(b, 1, WEFT_NOTE_DONE, n);
}

/* ---- the stages of 7.1, 7.4, 7.5 ---- */

/* H1 + H2 + H3 of an 8-byte message: 75 + 24 / 1.6 + 60. */
static void store_arrives_after_150_ns(void **state)
{
	struct bench *b = *state;

	/* last address of 64 MB */
	htrig_add(&b->s.host, HT_STORE, 0x3fffff0, 16);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 0), 2 * 90);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 0), 2 * 150);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_STORE, 0)->addr, 0x3fffff0);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_STORE, 0)->bytes, 16);
}

static void host_without_costs_takes_the_first_slot(void **state)
{
	struct bench *b = *state;

	b->s.t_store = 0;
	htrig_add(&b->s.host, HT_STORE, 0x1000, 16);
	htrig_add(&b->s.host, HT_STORE, 0x2000, 16)->delay = WEFT_US;
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 0), 2 * 15);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 0), 2 * 75);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 1) -
				 bench_when(b, 0, WEFT_NOTE_STORED, 1),
			 2 * 60);
}

/* EX-11: 35 + 5 + 60 + 10 + 30 + 5 + 35 ns. An answer of 8 bytes has 4 bytes
 * more on the link, which take 2.5 ns. */
static void load_of_4_bytes_takes_180_ns(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.host, HT_LOAD, 0x100, 4);
	htrig_add(&b->s.host, HT_LOAD, 0x100, 8);
	bench_run(b);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 0), 2 * 100);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0), 2 * 180);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 1), 2 * 360 + 5);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 1)->first,
			 ref_ht_byte(1));
}

/* A device that answers later costs its own delay instead of T_REG. */
static void late_answer_replaces_the_time_of_the_target(void **state)
{
	struct bench *b = *state;

	b->s.answer[0] = 40 * WEFT_NS;
	htrig_add(&b->s.host, HT_LOAD, 0x100, 4);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0),
			 2 * (180 - 10 + 40));
}

/* H6 + H7, then memory. Data are in memory before the word that announces
 * them. */
static void write_is_in_memory_74_ns_after_the_link(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 16);
	htrig_add(&b->s.dev[0], HT_WRITE, 0x2000, 64);
	bench_run(b);
	assert_int_equal(done(b, 0), 2 * (30 + 15));
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_WRITE, 0),
			 2 * (45 + 74));
	assert_int_equal(done(b, 1), 2 * (45 + 45));
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_WRITE, 1),
			 2 * (90 + 74));
}

/* 7.5 without HTAX and synchronisers: 30 + 5 + 90 + (4 + n) / 1.6 + 60. */
static void read_of_8_bytes_takes_192_ns(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_READ, 0x1000, 8);
	htrig_add(&b->s.dev[0], HT_READ, 0x1000, 64)->delay = WEFT_US;
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_READ, 0), 2 * 125);
	assert_int_equal(done(b, 0), 2 * 192 + 1);
	assert_int_equal(done(b, 1), 2 * (1000 + 227) + 1);
	assert_null(htrig_said(&b->log, 1, WEFT_NOTE_BURST, 0));
}

static void long_read_is_cut_at_lines_of_64_bytes(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_READ, 0x1020, 4096);
	bench_run(b);
	assert_int_equal(htrig_counter(&b->rig, "reads"), 65);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_BURST, 0)->bytes, 32);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_BURST, 0), 2 * 207 + 1);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_BURST, 1), 2 * 250);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_BURST, 1)->offset, 32);
	assert_true(bench_said(b, 1, WEFT_NOTE_BURST, 64)->last);
	/* 4096 + 65 * 4 bytes at 1.6 GB/s after the first request */
	assert_int_equal(done(b, 0), 2 * (30 + 5 + 90 + 60) + 4356 * 2 / 1.6);
}

static void interrupt_stays_behind_the_writes_before_it(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 64);
	htrig_add(&b->s.dev[0], HT_IRQ, 0, 0)->level = true;
	htrig_add(&b->s.dev[0], HT_IRQ, 0, 0);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_WRITE, 0), 2 * 149);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_IRQ, 0), 2 * 154);
	assert_true(bench_said(b, 0, WEFT_NOTE_IRQ, 0)->level);
	assert_false(bench_said(b, 0, WEFT_NOTE_IRQ, 1)->level);
}

/* ---- bandwidth ---- */

/* EX-09, EX-10: 72 bytes in 45 ns are 1.6 GB/s, and the 64 bytes of data 1.422
 * GB/s. Each direction has this rate while both directions are in use. */
static void stores_and_writes_use_both_directions_in_full(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < HT_OPS; i++) {
		htrig_add(&b->s.host, HT_STORE, 0x1000 + 64 * i, 64);
		htrig_add(&b->s.dev[0], HT_WRITE, 0x1000 + 64 * i, 64);
	}
	bench_run(b);
	for (uint32_t i = 0; i < HT_OPS; i++) {
		assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, i),
				 2 * (75 + 45 * (i + 1)));
		assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, i),
				 2 * (135 + 45 * (i + 1)));
		assert_int_equal(done(b, i), 2 * (30 + 45 * (i + 1)));
	}
	assert_int_equal(htrig_counter(&b->rig, "down_busy"), HT_OPS * 18);
	assert_int_equal(htrig_counter(&b->rig, "up_busy"), HT_OPS * 18);
}

/* 8 bits at 400 MHz give half of the rate, 32 bits at 800 MHz four times the
 * rate. */
static void width_and_clock_scale_the_rate(void **state)
{
	static const char *const narrow[] = { "width", "8", NULL };
	static const char *const wide[] = { "width", "32", "clock", "800MHz",
					    NULL };
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 64);
	b->rig.set = narrow;
	bench_run(b);
	assert_int_equal(done(b, 0), 2 * (30 + 90));
	htrig_free(&b->rig);
	b->rig.set = wide;
	bench_run(b);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_DONE, 0)->time,
			 30 * WEFT_NS + 45 * WEFT_NS / 4);
}

/* With one buffer the next store waits until that buffer is free again: 15 ns
 * on the link, 60 ns in the core, 32.5 ns for the credit. */
static void sender_without_credit_waits_for_a_free_buffer(void **state)
{
	struct bench *b = *state;

	b->s.credits = 1;
	for (uint32_t i = 0; i < 3; i++)
		htrig_add(&b->s.host, HT_STORE, 64 * i, 16);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 0), 2 * 90);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 1), 2 * 197 + 1);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 2), 2 * 305);
}

/* ---- order ---- */

/* A load stays behind earlier stores although its path is shorter, because the
 * host's accesses keep their order. */
static void load_stays_behind_earlier_stores(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.host, HT_STORE, 0, 8);
	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	bench_run(b);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 0), 2 * 145);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 0), 2 * 150);
}

/* The answer to a load waits until an earlier write has left the link and is in
 * memory. */
static void answer_waits_for_the_write_before_it(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 64)->delay = 97500000;
	bench_run(b);
	assert_int_equal(done(b, 0), 2 * 172 + 1);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_WRITE, 0), 2 * 246 + 1);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0), 2 * 246 + 1);
}

static void answer_does_not_wait_for_a_later_write(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 64)->delay = 120 * WEFT_NS;
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0), 2 * 180);
	assert_int_equal(done(b, 0), 2 * (150 + 45));
}

static void read_sees_earlier_writes_and_later_ones_pass(void **state)
{
	struct bench *b = *state;

	b->s.tags = 1;
	htrig_add(&b->s.dev[0], HT_WRITE, 0x1000, 64);
	htrig_add(&b->s.dev[0], HT_READ, 0x1000, 8);
	htrig_add(&b->s.dev[0], HT_READ, 0x2000, 8);
	htrig_add(&b->s.dev[0], HT_WRITE, 0x3000, 8);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_WRITE, 0), 2 * 149);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_READ, 0), 2 * 170);
	/* the second write passes the second read, because the write is on the
	 * link at 80 ns, long before the read */
	assert_int_equal(done(b, 1), 2 * 90);
	assert_int_equal(done(b, 2), 2 * 237 + 1);
	assert_int_equal(done(b, 3), 2 * (237 + 5 + 90 + 7 + 60) + 2);
}

/* ---- tags ---- */

static void read_beyond_32_tags_waits_for_the_first_to_return(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 33; i++)
		htrig_add(&b->s.dev[0], HT_READ, 0x1000 + 64 * i, 8);
	bench_run(b);
	/* Requests leave every 5 ns, answers every 7.5 ns. With 8 buffers every
	 * eight answers take 7.5 + 60 + 32.5 ns more. */
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_READ, 31),
			 2 * (125 + 155));
	assert_int_equal(done(b, 31), 2 * 192 + 1 + 3 * 200 + 7 * 15);
	/* the 33rd request leaves when the first tag has returned */
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_MEM_READ, 32), 2 * 287 + 1);
	assert_int_equal(done(b, 32), 2 * 192 + 1 + 4 * 200);
	assert_int_equal(htrig_counter(&b->rig, "tag_waits"), 1);
}

/* ---- masks ---- */

/* Counts packets and dwords of a write, byte by byte. A line of 64 bytes has
 * two blocks of 32. A block with a partial dword is a packet with a mask. The
 * whole dwords of the rest of the line are one packet without a mask. */
static void expect_write(uint64_t from, uint64_t to, uint32_t *packets_p,
			 uint32_t *dwords_p)
{
	bool open = false;

	*packets_p = *dwords_p = 0;
	for (uint64_t blk = from & ~31ull; blk < to; blk += 32) {
		uint64_t lo = blk > from ? blk : from;
		uint64_t hi = blk + 32 < to ? blk + 32 : to;
		bool mask = lo % 4 || hi % 4;

		open = open && blk % 64 && !mask;
		if (!open) {
			*packets_p += 1;
			*dwords_p += mask ? 3 : 2;
		}
		open = !mask;
		*dwords_p += (uint32_t)((hi + 3) / 4 - lo / 4);
	}
}

static void partial_writes_are_cut_into_packets_with_masks(void **state)
{
	struct bench *b = *state;
	uint32_t packets, dwords;

	for (uint32_t at = 0; at < 68; at++)
		for (uint32_t n = 1; n <= 70; n += at % 4 ? 3 : 1) {
			b->s.dev[0].n = 0;
			htrig_add(&b->s.dev[0], HT_WRITE, 0x1000 + at, n);
			bench_run(b);
			expect_write(0x1000 + at, 0x1000 + at + n, &packets,
				     &dwords);
			assert_int_equal(htrig_counter(&b->rig, "writes"),
					 packets);
			assert_int_equal(b->log.busy[1], dwords);
			assert_int_equal(htrig_counter(&b->rig, "write_bytes"),
					 n);
			assert_int_equal(
				bench_said(b, 1, WEFT_NOTE_DONE, 0)->tenures,
				packets);
			htrig_free(&b->rig);
		}
}

/* One byte takes 8 + 4 + 4 bytes on the link. */
static void write_of_a_byte_takes_a_mask_and_a_dword(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_WRITE, 0x1003, 1);
	bench_run(b);
	assert_int_equal(done(b, 0), 2 * (30 + 10));
	assert_int_equal(htrig_counter(&b->rig, "byte_writes"), 1);
}

/* ---- back-pressure ---- */

/* The device takes one store at a time, each for 10 us. One store is at the
 * device, 16 in the core, 8 in buffers of the link, 8 in the bridge. Then the
 * host waits for room. No store is lost. */
static void stores_wait_where_there_is_room_and_none_is_lost(void **state)
{
	struct bench *b = *state;

	b->s.window = 1;
	for (uint32_t i = 0; i < HT_CYCLE; i++)
		b->s.eat[i] = 10 * WEFT_US;
	for (uint32_t i = 0; i < HT_OPS; i++)
		htrig_add(&b->s.host, HT_STORE, 8 * i, 8);
	bench_run(b);
	/* 25 stores leave the bridge before the device consumes the first, at
	 * 10145 ns */
	assert_true(bench_said(b, 0, WEFT_NOTE_STORED, 24)->time < WEFT_US);
	assert_true(bench_said(b, 0, WEFT_NOTE_STORED, 25)->time >
		    10 * WEFT_US);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 0), 2 * 145);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 1), 2 * 10147 + 1);
	/* When the device has consumed the first store, the core's queue has
	 * room for one more. The credit takes 32.5 ns, and the link 10 ns. */
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 25), 2 * 10190);
	for (uint32_t i = 0; i < HT_OPS; i++)
		assert_int_equal(bench_said(b, 1, WEFT_NOTE_STORE, i)->addr,
				 8 * i);
	assert_int_equal(htrig_counter(&b->rig, "held"), HT_OPS - 1);
}

static void load_waits_behind_stores_the_device_holds(void **state)
{
	struct bench *b = *state;

	b->s.window = 1;
	b->s.eat[0] = b->s.eat[1] = WEFT_US;
	htrig_add(&b->s.host, HT_STORE, 0, 8);
	htrig_add(&b->s.host, HT_STORE, 8, 8);
	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	bench_run(b);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_STORE, 1), 2 * 1147 + 1);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 0), 2 * 1147 + 1);
}

static void relaxed_read_passes_waiting_stores(void **state)
{
	struct bench *b = *state;

	for (uint32_t relaxed = 0; relaxed < 2; relaxed++) {
		uint32_t i;

		b->s.window = 1;
		b->s.host.n = b->s.dev[0].n = 0;
		for (i = 0; i < HT_CYCLE; i++)
			b->s.eat[i] = 10 * WEFT_US;
		for (i = 0; i < 30; i++)
			htrig_add(&b->s.host, HT_STORE, 8 * i, 8);
		htrig_add(&b->s.dev[0], HT_READ, 0x1000, 8);
		b->s.dev[0].op[0].delay = 2 * WEFT_US;
		b->s.dev[0].op[0].relaxed = relaxed;
		bench_run(b);
		if (relaxed)
			assert_int_equal(done(b, 0), 2 * 2192 + 1);
		else
			assert_true(done(b, 0) > 2 * 10000);
		htrig_free(&b->rig);
	}
}

/* ---- addresses without a device ---- */

static void access_to_an_absent_device_is_aborted(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.host, HT_STORE, 0, 8)->dev = 1;
	htrig_add(&b->s.host, HT_LOAD, 0, 8)->dev = 7;
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_STORED, 0), 2 * 75);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0), 2 * 70);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 0)->first, 0xff);
	assert_int_equal(htrig_counter(&b->rig, "aborts"), 2);
	assert_int_equal(htrig_counter(&b->rig, "down_busy"), 0);
}

static void load_of_a_mute_device_gives_all_ones(void **state)
{
	struct bench *b = *state;

	b->s.answer[0] = WEFT_NEVER;
	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	htrig_add(&b->s.host, HT_LOAD, 0, 4);
	bench_run(b);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 0), 2 * 180);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 0)->first, 0xff);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 1)->first,
			 ref_ht_byte(1));
	assert_int_equal(htrig_counter(&b->rig, "aborts"), 1);
}

/* The address has no memory: a read ends with an error and all ones, which the
 * rig checks, and a write is lost. */
static void read_of_a_hole_fails_and_a_write_is_lost(void **state)
{
	struct bench *b = *state;

	htrig_add(&b->s.dev[0], HT_READ, HT_HOLE_LO - 64, 128);
	htrig_add(&b->s.dev[0], HT_WRITE, HT_HOLE_LO, 64);
	htrig_add(&b->s.dev[0], HT_READ, 0x1000, 8);
	bench_run(b);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_DONE, 1)->status,
			 WEFT_BUS_MASTER_ABORT);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_DONE, 2)->status,
			 WEFT_BUS_OK);
	assert_true(bench_said(b, 1, WEFT_NOTE_DONE, 0)->write);
	assert_int_equal(bench_said(b, 1, WEFT_NOTE_DONE, 0)->status,
			 WEFT_BUS_OK);
	assert_null(htrig_said(&b->log, 0, WEFT_NOTE_MEM_WRITE, 0));
	assert_int_equal(htrig_counter(&b->rig, "aborts"), 2);
}

/* ---- packets left at the end ---- */

static void transaction_that_never_ended_is_found_at_the_end(void **state)
{
	struct bench *b = *state;
	struct weft_err err = { 0 };
	char text[80];

	b->s.devices = 3;
	bench_run(b);
	for (uint32_t i = 0; i < 3 * b->s.devices; i++) {
		static const uint8_t at[][2] = { { HT_UP, HT_POSTED },
						 { HT_UP, HT_NONPOSTED },
						 { HT_DOWN, HT_ANSWER } };
		struct ht *ht = b->rig.bus->state;
		struct ht_lane *l = &ht->link[i / 3].lane[at[i % 3][0]];

		assert_int_equal(weft_sim_finish(b->rig.sim, &err), 0);
		l->queue[at[i % 3][1]].n++;
		assert_int_equal(weft_sim_finish(b->rig.sim, &err), -EPROTO);
		snprintf(text, sizeof(text),
			 "%s: a transaction of dev%u never ended",
			 b->rig.bus->name, i / 3);
		assert_string_equal(err.msg, text);
		l->queue[at[i % 3][1]].n--;
		err.code = 0;
	}
}

/* ---- size ---- */

static void bus_and_link_fit_in_a_kilobyte(void **state)
{
	assert_true(sizeof(struct ht) + sizeof(struct ht_link) < 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(store_arrives_after_150_ns),
		T(host_without_costs_takes_the_first_slot),
		T(load_of_4_bytes_takes_180_ns),
		T(late_answer_replaces_the_time_of_the_target),
		T(write_is_in_memory_74_ns_after_the_link),
		T(read_of_8_bytes_takes_192_ns),
		T(long_read_is_cut_at_lines_of_64_bytes),
		T(interrupt_stays_behind_the_writes_before_it),
		T(stores_and_writes_use_both_directions_in_full),
		T(width_and_clock_scale_the_rate),
		T(sender_without_credit_waits_for_a_free_buffer),
		T(load_stays_behind_earlier_stores),
		T(answer_waits_for_the_write_before_it),
		T(answer_does_not_wait_for_a_later_write),
		T(read_sees_earlier_writes_and_later_ones_pass),
		T(read_beyond_32_tags_waits_for_the_first_to_return),
		T(partial_writes_are_cut_into_packets_with_masks),
		T(write_of_a_byte_takes_a_mask_and_a_dword),
		T(stores_wait_where_there_is_room_and_none_is_lost),
		T(load_waits_behind_stores_the_device_holds),
		T(relaxed_read_passes_waiting_stores),
		T(access_to_an_absent_device_is_aborted),
		T(load_of_a_mute_device_gives_all_ones),
		T(read_of_a_hole_fails_and_a_write_is_lost),
		T(transaction_that_never_ended_is_found_at_the_end),
		cmocka_unit_test(bus_and_link_fit_in_a_kilobyte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
