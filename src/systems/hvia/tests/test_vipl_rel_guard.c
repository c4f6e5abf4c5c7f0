/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL guards memory as the card does for plain VIs (hvia.md 2.3, 3.6,
 * 5.6), and reports the outcome of each send once. */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, QUEUE = 1024 };

static void open_rel(struct side *s, struct weft_host *h, struct bench *b,
		     uint32_t bytes)
{
	side_open(s, h, b, "hvia0+reliable", bytes);
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	side_vi(s, &s->vi);
	side_handler(s);
}

static uint32_t wait_done(struct side *s,
			  VIP_RETURN (*fn)(VIP_VI_HANDLE, VIP_ULONG,
					   VIP_DESCRIPTOR **))
{
	VIP_DESCRIPTOR *d;

	fn(s->vi, 1000, &d);
	assert_non_null(d);
	return d->CS.Status;
}

static void quiet(struct side *s, uint32_t ms)
{
	weft_host_sleep(s->h, weft_host_now(s->h) + ms * WEFT_MS);
}

/* Returns a page that is registered with another protection tag. */
static uint8_t *other_tag(struct side *s, VIP_MEM_HANDLE *m)
{
	VIP_MEM_ATTRIBUTES a = { .EnableRdmaWrite = VIP_TRUE };
	uint8_t *p = weft_host_align(s->h, 4096, 4096);

	ok(VipCreatePtag(s->nic, &a.Ptag));
	ok(VipRegisterMem(s->nic, p, 4096, &a, m));
	return p;
}

/* ---- sends that the sending side refuses ---- */

static VIP_DESCRIPTOR *wrong_tag(struct side *s)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, 100);

	d->DS[0].Local.Data.Address = other_tag(s, &d->DS[0].Local.Handle);
	return d;
}

static VIP_DESCRIPTOR *beyond_region(struct side *s)
{
	return side_desc(s, 0, BYTES - 100, 101);
}

static VIP_DESCRIPTOR *before_region(struct side *s)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, 100);

	d->DS[0].Local.Data.AddressBits = (uintptr_t)s->desc - 1;
	return d;
}

static VIP_DESCRIPTOR *too_long(struct side *s)
{
	return side_desc(s, 0, 0, 4097); /* MaxTransferSize 4096 */
}

static VIP_DESCRIPTOR *reserved_set(struct side *s)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, 4);

	d->CS.Reserved = 1;
	return d;
}

static const struct {
	VIP_DESCRIPTOR *(*make)(struct side *s);
	uint32_t status;
} refused[] = {
	{ wrong_tag, VIP_STATUS_PROTECTION_ERROR },
	{ beyond_region, VIP_STATUS_PROTECTION_ERROR },
	{ before_region, VIP_STATUS_PROTECTION_ERROR },
	{ too_long, VIP_STATUS_LENGTH_ERROR },
	{ reserved_set, VIP_STATUS_FORMAT_ERROR },
};
enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

static void reopen(struct side *s)
{
	side_drain(s);
	ok(VipDestroyVi(s->vi));
	s->attr.MaxTransferSize = 4096;
	side_vi(s, &s->vi);
	s->n_err = 0;
}

static int refuses(struct weft_host *h, struct bench *b)
{
	struct side s;
	char name[4] = "r0";

	open_rel(&s, h, b, BYTES);
	for (uint32_t i = 0; i < REFUSED; i++, name[1]++) {
		reopen(&s);
		side_connect(&s);
		side_send(&s, refused[i].make(&s));
		assert_int_equal(wait_done(&s, VipSendWait),
				 VIP_STATUS_DONE | refused[i].status);
		quiet(&s, 30);
		assert_int_equal(s.n_err, 1);
		assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
		meet(&s, name);
	}
	weft_host_exit(h, 0);
}

static int gets_nothing(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	char name[4] = "r0";

	open_rel(&s, h, b, BYTES);
	for (uint32_t i = 0; i < REFUSED; i++, name[1]++) {
		reopen(&s);
		side_recv(&s, side_desc(&s, 0, 0, 5000));
		side_connect(&s);
		assert_int_equal(VipRecvWait(s.vi, 1000, &d),
				 VIP_DESCRIPTOR_ERROR);
		assert_int_equal(d->CS.Status & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_DESC_FLUSHED_ERROR);
		quiet(&s, 30);
		assert_int_equal(s.n_err, 1);
		assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
		meet(&s, name);
	}
	weft_host_exit(h, 0);
}

static void sends_that_the_card_would_refuse_are_refused(void **state)
{
	viprig_run(*state, gets_nothing, refuses);
}

/* ---- sends at the limits ---- */

enum { LIMITS = 4, SEGMENTS = 252 };

static const uint32_t limit_bytes[LIMITS] = { 4096, 0, SEGMENTS * 16, 0 };

/* Makes a send that is just allowed: of MaxTransferSize, without segments, with
 * as many segments as a descriptor has, and an RDMA write of no bytes. */
static VIP_DESCRIPTOR *at_limit(struct side *s, const struct bench *b,
				uint32_t kind, VIP_DESCRIPTOR *large)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, limit_bytes[kind]);

	if (kind == 1)
		d->CS.SegCount = 0;
	if (kind == 2) {
		*large = *d;
		d = large;
		d->CS.SegCount = SEGMENTS;
		for (uint32_t i = 0; i < SEGMENTS; i++) {
			VIP_DATA_SEGMENT *g = &d->DS[i].Local;

			g->Data.Address = s->data + i * 16;
			g->Handle = s->handle;
			g->Length = 16;
		}
	}
	if (kind == 3) {
		d = side_rdma(s, 0, 0, 0, b->v[0], (uint32_t)b->v[1]);
		d->CS.SegCount = 1;
		d->CS.Control |= VIP_CONTROL_IMMEDIATE;
	}
	return d;
}

static int sends_at_limits(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *large;
	VIP_MEM_HANDLE m;
	struct side s;

	open_rel(&s, h, b, BYTES);
	reopen(&s);
	large = weft_host_align(h, 4096, 8192);
	ok(VipRegisterMem(s.nic, large, 8192, &s.mem_attr, &m));
	side_connect(&s);
	for (uint32_t i = 0; i < LIMITS; i++) {
		VIP_DESCRIPTOR *d = at_limit(&s, b, i, large);

		fill(s.data, 4096, i);
		ok(VipPostSend(s.vi, d, d == large ? m : s.handle));
		assert_int_equal(
			wait_done(&s, VipSendWait) &
				(VIP_STATUS_DONE | VIP_STATUS_ERROR_MASK),
			VIP_STATUS_DONE);
	}
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int takes_at_limits(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b, BYTES);
	reopen(&s);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	for (uint32_t i = 0; i < LIMITS; i++)
		side_recv(&s, side_desc(&s, i, 5000 * i, 5000));
	side_connect(&s);
	for (uint32_t i = 0; i < LIMITS; i++) {
		ok(VipRecvWait(s.vi, 1000, &d));
		assert_int_equal(d->CS.Length, limit_bytes[i]);
		assert_true(filled(s.data + 5000 * i, limit_bytes[i], i));
	}
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void sends_that_the_card_would_just_take_arrive(void **state)
{
	viprig_run(*state, takes_at_limits, sends_at_limits);
}

/* ---- receives ---- */

static int sends_one(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b, BYTES);
	side_connect(&s);
	fill(s.data, 100, 3);
	side_send(&s, side_desc(&s, 0, 0, 100));
	assert_int_equal(wait_done(&s, VipSendWait) & VIP_STATUS_ERROR_MASK,
			 VIP_STATUS_REMOTE_DESC_ERROR);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int receives_elsewhere(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	uint8_t *p;

	open_rel(&s, h, b, BYTES);
	d = side_desc(&s, 0, 0, 100);
	p = other_tag(&s, &d->DS[0].Local.Handle);
	d->DS[0].Local.Data.Address = p;
	side_recv(&s, d);
	side_connect(&s);
	assert_int_equal(wait_done(&s, VipRecvWait) & VIP_STATUS_ERROR_MASK,
			 VIP_STATUS_PROTECTION_ERROR);
	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(p[i], 0);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_receive_into_memory_of_another_tag_is_refused(void **state)
{
	viprig_run(*state, receives_elsewhere, sends_one);
}

/* De-registers the region of a receive before or during the message for it. The
 * bytes of the region must not change afterwards. */
static int takes_memory_away(struct weft_host *h, struct bench *b)
{
	uint8_t *p = weft_host_align(h, 4096, BYTES);
	VIP_MEM_HANDLE m;
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b, BYTES);
	ok(VipRegisterMem(s.nic, p, BYTES, &s.mem_attr, &m));
	d = side_desc(&s, 0, 0, BYTES);
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = m;
	side_recv(&s, d);
	side_connect(&s);
	meet(&s, "go");
	while (!p[3000]) /* waits until the message has begun */
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	ok(VipDeregisterMem(s.nic, p, m));
	memset(p, 0xee, BYTES);
	assert_int_equal(wait_done(&s, VipRecvWait) & VIP_STATUS_ERROR_MASK,
			 VIP_STATUS_PROTECTION_ERROR);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(p[i], 0xee);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int sends_long(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b, BYTES);
	side_connect(&s);
	memset(s.data, 7, BYTES);
	meet(&s, "go");
	side_send(&s, side_desc(&s, 0, 0, BYTES));
	assert_int_equal(wait_done(&s, VipSendWait) & VIP_STATUS_ERROR_MASK,
			 VIP_STATUS_REMOTE_DESC_ERROR);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void
memory_that_goes_in_the_middle_of_a_message_is_left_alone(void **state)
{
	viprig_run(*state, takes_memory_away, sends_long);
}

/* ---- descriptors ---- */

static void post_is_refused(struct side *s, VIP_DESCRIPTOR *d,
			    VIP_MEM_HANDLE handle, VIP_DESCRIPTOR *named)
{
	VIP_DESCRIPTOR *got;
	VIP_VI_HANDLE vi;

	side_vi(s, &vi);
	s->n_err = 0;
	ok(VipPostRecv(vi, d, handle));
	side_errors(s, 1);
	quiet(s, 5);
	assert_int_equal(s->n_err, 1);
	assert_int_equal(s->err[0].ErrorCode, VIP_ERROR_POST_DESC);
	assert_ptr_equal(s->err[0].ViHandle, vi);
	assert_ptr_equal(s->err[0].DescriptorPtr, named);
	assert_int_equal(VipRecvDone(vi, &got), VIP_DESCRIPTOR_ERROR);
	assert_ptr_equal(got, d);
	assert_true(d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR);
	ok(VipDisconnect(vi));
	ok(VipDestroyVi(vi));
}

static int posts(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_MEM_HANDLE m;
	VIP_DESCRIPTOR *d, *away, *odd;

	open_rel(&s, h, b, BYTES);
	d = side_desc(&s, 0, 0, 100);
	away = weft_host_align(h, 4096, 4096);
	*away = *d;
	post_is_refused(&s, away, s.handle, NULL); /* not registered */
	/* a handle that does not exist */
	post_is_refused(&s, d, 77, NULL);
	odd = (VIP_DESCRIPTOR *)((uint8_t *)&s.desc[1] + 8);
	*odd = *d;
	/* an address that is not a multiple of 64 */
	post_is_refused(&s, odd, s.handle, odd);
	away = (VIP_DESCRIPTOR *)other_tag(&s, &m);
	*away = *d;
	post_is_refused(&s, away, m, away); /* memory of another tag */
	weft_host_exit(h, 0);
}

static void descriptors_that_the_card_could_not_fetch_are_refused(void **state)
{
	viprig_run(*state, posts, NULL);
}

static int overruns(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE m;

	open_rel(&s, h, b, BYTES);
	d = weft_host_align(h, 4096, (QUEUE + 1) * sizeof(*d));
	ok(VipRegisterMem(s.nic, d, (QUEUE + 1) * sizeof(*d), &s.mem_attr, &m));
	for (uint32_t i = 0; i < QUEUE; i++)
		ok(VipPostRecv(s.vi, &d[i], m));
	quiet(&s, 1);
	assert_int_equal(s.n_err, 0);
	ok(VipPostRecv(s.vi, &d[QUEUE], m));
	quiet(&s, 5);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_VI_OVERRUN);
	weft_host_exit(h, 0);
}

static void the_1025th_receive_overruns(void **state)
{
	viprig_run(*state, overruns, NULL);
}

/* ---- outcome of a send ---- */

enum { LAST = 40, EACH = 30000 };

static int sends_all(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b, BYTES);
	side_connect(&s);
	for (uint32_t i = 0; i < LAST; i++) {
		fill(s.data, EACH, i);
		side_send(&s, side_desc(&s, i % 2, 0, EACH));
		assert_int_equal(wait_done(&s, VipSendWait), VIP_STATUS_DONE);
	}
	quiet(&s, 100);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
	b->v[0]++;
	weft_host_exit(h, 0);
}

/* The receiving process ends right after its last receive. */
static int takes_and_goes(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	open_rel(&s, h, b, BYTES);
	for (uint32_t i = 0; i < 2; i++)
		side_recv(&s, side_desc(&s, i, i * EACH, EACH));
	side_connect(&s);
	for (uint32_t i = 0; i < LAST; i++) {
		while (VipRecvDone(s.vi, &d) == VIP_NOT_DONE)
			weft_host_cpu(h, 100 * WEFT_NS);
		assert_int_equal(d->CS.Status,
				 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
		if (i == LAST - 1)
			weft_host_exit(h, 0);
		assert_true(filled(d->DS[0].Local.Data.Address, EACH, i));
		side_recv(&s, d);
	}
	return 0;
}

static void
what_was_delivered_is_reported_so_when_the_receiver_goes(void **state)
{
	static const struct vip_fault none = { 0 };
	static const struct vip_fault loss = { &weft_class_fault_drop,
					       { "packets" },
					       { "0.1" } };
	struct bench *b;

	b = viprig_run_with(&none, takes_and_goes, sends_all);
	assert_int_equal(b->v[0], 1);
	bench_free(b);
	b = viprig_run_with(&loss, takes_and_goes, sends_all);
	assert_int_equal(b->v[0], 1);
	bench_free(b);
}

/* ---- frames of the card's size ---- */

static weft_time_t took;
static uint32_t native;

static int sends_megabyte(struct weft_host *h, struct bench *b)
{
	VIP_NIC_ATTRIBUTES a;
	struct side s;
	weft_time_t t;

	open_rel(&s, h, b, 1 << 20);
	ok(VipQueryNic(s.nic, &a));
	native = (uint32_t)a.NativeMTU;
	side_connect(&s);
	fill(s.data, 1 << 20, 5);
	t = weft_host_now(h);
	side_send(&s, side_desc(&s, 0, 0, 1 << 20));
	assert_int_equal(wait_done(&s, VipSendWait), VIP_STATUS_DONE);
	took = weft_host_now(h) - t;
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int takes_megabyte(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b, 1 << 20);
	side_recv(&s, side_desc(&s, 0, 0, 1 << 20));
	side_connect(&s);
	assert_int_equal(wait_done(&s, VipRecvWait),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
	assert_true(filled(s.data, 1 << 20, 5));
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static weft_time_t megabyte(const char *mtu0, const char *mtu1, uint32_t want)
{
	struct bench *b = viprig_bench();
	struct weft_err err = { 0 };

	assert_int_equal(weft_param_set(b->node[0].dev, "mtu", mtu0, &err), 0);
	assert_int_equal(weft_param_set(b->node[1].dev, "mtu", mtu1, &err), 0);
	viprig_run(b, takes_megabyte, sends_megabyte);
	assert_int_equal(native, want);
	bench_free(b);
	return took;
}

static void frames_are_as_long_as_both_cards_allow(void **state)
{
	weft_time_t normal = megabyte("1514", "1514", 1472), jumbo;

	jumbo = megabyte("9014", "9014", 8972);
	assert_true(jumbo < normal - normal / 20);
	/* the shorter MTU of the two cards limits the frames */
	assert_in_range(megabyte("1514", "9014", 8972), normal - normal / 50,
			normal + normal / 50);
	/* with this MTU a packet of the service takes several frames, because
	 * one frame is too short even for the service's header */
	assert_true(megabyte("60", "60", 18) > normal);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sends_that_the_card_would_refuse_are_refused),
		T(sends_that_the_card_would_just_take_arrive),
		T(a_receive_into_memory_of_another_tag_is_refused),
		T(memory_that_goes_in_the_middle_of_a_message_is_left_alone),
		T(descriptors_that_the_card_could_not_fetch_are_refused),
		T(the_1025th_receive_overruns),
		cmocka_unit_test(
			what_was_delivered_is_reported_so_when_the_receiver_goes),
		cmocka_unit_test(frames_are_as_long_as_both_cards_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
