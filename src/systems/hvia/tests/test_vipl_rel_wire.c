/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL against a station whose frames are made by hand: repeated
 * numbers, acknowledgements of unsent packets, targets of RDMA, silence. */
#include "viprig.h"

#include <string.h>

#include "systems/hvia/lib/vipl_reliable.h"

static void open_rel(struct side *s, struct weft_host *h, struct bench *b)
{
	side_open(s, h, b, "hvia0+reliable", 1 << 16);
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	side_vi(s, &s->vi);
	side_handler(s);
}

/* Opens an unreliable VI whose attributes claim that it is reliable, and posts
 * 40 receives to it. */
static void open_forger(struct side *s, struct weft_host *h, struct bench *b)
{
	side_open(s, h, b, "hvia0", 1 << 17);
	vipl_vi(s->vi)->k->attr.reliability = VIP_SERVICE_RELIABLE_RECEPTION;
	side_handler(s);
	for (uint32_t i = 8; i < 48; i++)
		side_recv(s, side_desc(s, i, i * 2048, 1472));
	side_connect(s);
}

static void say(struct side *s, struct rel_head h, const void *data)
{
	uint8_t *at = s->data;

	memcpy(at, &h, sizeof(h));
	if (h.bytes)
		memcpy(at + sizeof(h), data, h.bytes);
	side_send(s, side_desc(s, 0, 0, (uint32_t)sizeof(h) + h.bytes));
	assert_int_equal(side_sent(s, NULL), VIP_STATUS_DONE);
	weft_host_sleep(s->h, weft_host_now(s->h) + 100 * WEFT_US);
}

static struct rel_head message(uint32_t seq, uint32_t bytes)
{
	return (struct rel_head){ .seq = seq,
				  .flags = REL_FIRST | REL_LAST,
				  .bytes = (uint16_t)bytes,
				  .length = bytes };
}

/* Returns the next frame that arrived, or NULL. */
static const struct rel_head *heard(struct side *s)
{
	VIP_DESCRIPTOR *d;

	if (VipRecvDone(s->vi, &d) != VIP_SUCCESS)
		return NULL;
	return d->DS[0].Local.Data.Address;
}

static uint32_t last_ack(struct side *s)
{
	const struct rel_head *h;
	uint32_t ack = UINT32_MAX;

	while ((h = heard(s)))
		ack = h->ack;
	return ack;
}

/* ---- numbers ---- */

static int numbers(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_forger(&s, h, b);
	say(&s, message(0, 4), "one");
	assert_int_equal(last_ack(&s), 1);
	/* a frame that was received before is acknowledged again */
	say(&s, message(0, 4), "dup");
	assert_int_equal(last_ack(&s), 1);
	/* dropped, because frame 1 is missing */
	say(&s, message(2, 4), "gap");
	assert_int_equal(last_ack(&s), 1);
	say(&s, message(1, 4), "two");
	assert_int_equal(last_ack(&s), 2);
	say(&s, message(1, 4), "dup");
	assert_int_equal(last_ack(&s), 2);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int takes_two(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b);
	for (uint32_t i = 0; i < 4; i++)
		side_recv(&s, side_desc(&s, i, i * 64, 64));
	side_connect(&s);
	meet(&s, "end");
	ok(VipRecvDone(s.vi, &d));
	assert_string_equal((char *)s.data, "one");
	ok(VipRecvDone(s.vi, &d));
	assert_string_equal((char *)s.data + 64, "two");
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_NOT_DONE);
	assert_int_equal(s.n_err, 0);
	weft_host_exit(h, 0);
}

static void a_frame_is_taken_once_and_in_its_turn(void **state)
{
	viprig_run(*state, takes_two, numbers);
}

/* ---- acknowledgements ---- */

static int acknowledges(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_forger(&s, h, b);
	meet(&s, "sent");
	while (!heard(&s))
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	say(&s, (struct rel_head){ .ack = 0 }, NULL);
	say(&s, (struct rel_head){ .ack = 3 }, NULL); /* never sent */
	say(&s, (struct rel_head){ .ack = UINT32_MAX }, NULL);
	meet(&s, "wrong");
	meet(&s, "seen");
	say(&s, (struct rel_head){ .ack = 2 }, NULL);
	/* an acknowledgement of a frame that was acknowledged before */
	say(&s, (struct rel_head){ .ack = 1 }, NULL);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int sends_two(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b);
	side_connect(&s);
	for (uint32_t i = 0; i < 2; i++)
		side_send(&s, side_desc(&s, i, 0, 100));
	meet(&s, "sent");
	meet(&s, "wrong");
	assert_int_equal(VipSendDone(s.vi, &d), VIP_NOT_DONE);
	meet(&s, "seen");
	meet(&s, "end");
	for (uint32_t i = 0; i < 2; i++)
		ok(VipSendDone(s.vi, &d));
	assert_int_equal(s.n_err, 0);
	weft_host_exit(h, 0);
}

static void only_what_was_sent_can_be_acknowledged(void **state)
{
	viprig_run(*state, sends_two, acknowledges);
}

/* ---- lengths ---- */

static struct rel_head odd;

/* Sends the packet `odd`, either as the beginning of a message or after the
 * packet `first`. */
static int lies_about_lengths(struct weft_host *h, struct bench *b)
{
	const struct rel_head first = { .flags = REL_FIRST,
					.bytes = 40,
					.length = 60 };
	uint8_t data[1000] = { 0 };
	struct side s;

	open_forger(&s, h, b);
	if (odd.seq)
		say(&s, first, data);
	say(&s, odd, data);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int takes_no_more_than_was_said(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b);
	memset(s.data, 7, 4096);
	side_recv(&s, side_desc(&s, 0, 0, 64));
	side_connect(&s);
	meet(&s, "end");
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_DESCRIPTOR_ERROR);
	assert_true(d->CS.Status & VIP_STATUS_LENGTH_ERROR);
	for (uint32_t i = 64; i < 4096; i++)
		assert_int_equal(s.data[i], 7);
	weft_host_exit(h, 0);
}

/* Each row is a wrong packet. The first two hold a whole message, but more or
 * fewer bytes than its length. The next two end a message with too many bytes,
 * or with too few. The fifth continues a message with more bytes than are left.
 * The sixth begins a message inside another one. The last one ends a message
 * that never began. */
static void a_message_is_as_long_as_it_says(void **state)
{
	static const struct rel_head wrong[] = {
		{ .flags = REL_FIRST | REL_LAST, .bytes = 1000, .length = 8 },
		{ .flags = REL_FIRST | REL_LAST, .bytes = 8, .length = 64 },
		{ .seq = 1, .flags = REL_LAST, .bytes = 40, .length = 60 },
		{ .seq = 1, .flags = REL_LAST, .bytes = 10, .length = 60 },
		{ .seq = 1, .flags = 1 << 15, .bytes = 21, .length = 60 },
		{ .seq = 1, .flags = REL_FIRST, .bytes = 20, .length = 60 },
		{ .flags = REL_LAST, .bytes = 8, .length = 8 },
	};

	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct bench *b = viprig_bench();

		odd = wrong[i];
		viprig_run(b, takes_no_more_than_was_said, lies_about_lengths);
		bench_free(b);
	}
}

/* ---- silence ---- */

enum { TRIES = 20 }; /* docs/systems/vipl.md */

static int is_silent(struct weft_host *h, struct bench *b)
{
	const struct rel_head *f;
	struct side s;
	uint32_t n = 0;

	open_forger(&s, h, b);
	meet(&s, "end");
	while ((f = heard(&s))) {
		assert_int_equal(f->seq, 0);
		n++;
	}
	assert_int_equal(n, 1 + TRIES);
	weft_host_exit(h, 0);
}

static int sends_into_silence(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;
	weft_time_t t;

	open_rel(&s, h, b);
	side_connect(&s);
	t = weft_host_now(h);
	side_send(&s, side_desc(&s, 0, 0, 100));
	assert_int_equal(VipSendWait(s.vi, 1000, &d), VIP_DESCRIPTOR_ERROR);
	assert_true(d->CS.Status & VIP_STATUS_TRANSPORT_ERROR);
	assert_true(weft_host_now(h) - t >= TRIES * WEFT_MS);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_MS);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void silence_is_asked_twenty_times(void **state)
{
	viprig_run(*state, sends_into_silence, is_silent);
}

/* ---- RDMA targets ---- */

enum { TAG, RIGHT, BEYOND, BEFORE, VI_RIGHT, NO_BYTES, TARGETS };
static uint32_t target;

static int writes_where_it_may_not(struct weft_host *h, struct bench *b)
{
	struct rel_head w = message(0, target == NO_BYTES ? 0 : 8);
	const struct rel_head *f;
	struct side s;

	open_forger(&s, h, b);
	meet(&s, "open");
	w.flags |= REL_RDMA;
	w.va = b->v[0] + (target == BEYOND ? 4089 : 100) -
	       (target == BEFORE ? 101 : 0);
	w.handle = (uint32_t)b->v[1];
	say(&s, w, "AAAAAAA");
	f = heard(&s);
	assert_non_null(f);
	assert_int_equal(f->ack, 0);
	assert_int_equal(f->error, VIP_STATUS_RDMA_PROT_ERROR);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int is_guarded(struct weft_host *h, struct bench *b)
{
	VIP_MEM_ATTRIBUTES a = { .EnableRdmaWrite = target != RIGHT };
	uint8_t *p = weft_host_align(h, 4096, 3 * 4096);
	VIP_MEM_HANDLE m;
	struct side s;

	open_rel(&s, h, b);
	a.Ptag = s.ptag;
	if (target == TAG)
		ok(VipCreatePtag(s.nic, &a.Ptag));
	if (target == VI_RIGHT || target == NO_BYTES) {
		ok(VipDestroyVi(s.vi));
		s.attr.EnableRdmaWrite = VIP_FALSE;
		side_vi(&s, &s.vi);
	}
	ok(VipRegisterMem(s.nic, p + 4096, 4096, &a, &m));
	b->v[0] = (uintptr_t)p + 4096;
	b->v[1] = m;
	side_connect(&s);
	meet(&s, "open");
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_RDMAW_PROT);
	meet(&s, "end");
	for (uint32_t i = 0; i < 3 * 4096; i++)
		assert_int_equal(p[i], 0);
	weft_host_exit(h, 0);
}

static void
memory_is_written_only_where_tag_right_and_bounds_allow(void **state)
{
	for (target = 0; target < TARGETS; target++) {
		struct bench *b = viprig_bench();

		viprig_run(b, is_guarded, writes_where_it_may_not);
		bench_free(b);
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_frame_is_taken_once_and_in_its_turn),
		T(only_what_was_sent_can_be_acknowledged),
		T(silence_is_asked_twenty_times),
		cmocka_unit_test(a_message_is_as_long_as_it_says),
		cmocka_unit_test(
			memory_is_written_only_where_tag_right_and_bounds_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
