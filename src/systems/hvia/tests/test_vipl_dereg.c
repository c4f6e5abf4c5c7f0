/* SPDX-License-Identifier: Apache-2.0 */
/* De-registration and changed attributes also affect state that the card has
 * fetched (hvia.md 3.6, 3.7, 6.2, T-08, T-09, T-34): descriptors, prefetched
 * addresses, messages in progress. */
#include "viprig.h"

#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"

enum { PAGE = 4096, LONG = 60000 };

static uint8_t *page(struct side *s, VIP_MEM_ATTRIBUTES *a, VIP_MEM_HANDLE *m)
{
	uint8_t *p = weft_host_align(s->h, PAGE, PAGE);

	ok(VipRegisterMem(s->nic, p, PAGE, a, m));
	return p;
}

static bool all(const uint8_t *p, uint32_t n, uint8_t val)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i] != val)
			return false;
	return true;
}

static VIP_DESCRIPTOR *receive_into(VIP_DESCRIPTOR *d, void *data,
				    VIP_MEM_HANDLE m, uint32_t bytes)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = m;
	d->DS[0].Local.Length = bytes;
	return d;
}

/* Number and length of the messages. The sender sends one at each request of
 * the other side. */
static uint32_t sends = 1, send_bytes = 100;

static int sender(struct weft_host *h, struct bench *b)
{
	struct side s;
	char name[8] = "send0";

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_connect(&s);
	for (uint32_t i = 0; i < sends; i++, name[4]++) {
		meet(&s, name);
		memset(s.data, 0x51, send_bytes);
		side_send(&s, side_desc(&s, 0, 0, send_bytes));
		assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
	}
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void run_with_sender(node_fn fn, uint32_t n, uint32_t bytes)
{
	struct bench *b = viprig_bench();

	sends = n;
	send_bytes = bytes;
	viprig_run(b, fn, sender);
	bench_free(b);
}

/* ---- the descriptor's region ---- */

static int drops_descriptor(struct weft_host *h, struct bench *b)
{
	VIP_MEM_HANDLE m, other;
	VIP_DESCRIPTOR *d, *got;
	struct side s;
	uint8_t *p;

	side_open(&s, h, b, "hvia0", PAGE);
	side_handler(&s);
	d = receive_into((void *)page(&s, &s.mem_attr, &m), s.data, s.handle,
			 200);
	ok(VipPostRecv(s.vi, d, m));
	side_connect(&s); /* the card has fetched the descriptor */
	ok(VipDeregisterMem(s.nic, d, m));
	/* registers the page again under another handle */
	p = page(&s, &s.mem_attr, &other);
	memset(p, 0xee, PAGE);
	meet(&s, "send0");
	assert_int_equal(VipRecvWait(s.vi, 10, &got), VIP_DESCRIPTOR_ERROR);
	assert_ptr_equal(got, d);
	assert_true(d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR);
	side_errors(&s, 1);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_POST_DESC);
	assert_true(all(p, PAGE, 0xee));
	assert_true(all(s.data, 200, 0));
	meet(&s, "end");
	side_drain(&s);
	weft_host_exit(h, 0);
}

static void a_fetched_receive_goes_with_its_region(void **state)
{
	run_with_sender(drops_descriptor, 1, 100);
}

/* Checks that no message arrives. A program that deregisters memory before it
 * disconnects gets only flushed descriptors. */
static int drops_and_leaves(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d, *got;
	VIP_MEM_HANDLE m;
	struct side s;

	side_open(&s, h, b, "hvia0", PAGE);
	side_handler(&s);
	d = receive_into((void *)page(&s, &s.mem_attr, &m), s.data, s.handle,
			 200);
	ok(VipPostRecv(s.vi, d, m));
	side_connect(&s);
	ok(VipDeregisterMem(s.nic, d, m));
	meet(&s, "end");
	ok(VipDisconnect(s.vi));
	assert_int_equal(VipRecvDone(s.vi, &got), VIP_DESCRIPTOR_ERROR);
	assert_ptr_equal(got, d);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_int_equal(s.n_err, 0);
	side_close(&s);
	return 0;
}

static void disconnecting_without_the_region_is_no_error(void **state)
{
	run_with_sender(drops_and_leaves, 0, 100);
}

/* moment: time from the request of the message to the deregistration of its
 * memory. Afterwards no byte of the memory may be written. */
static weft_time_t moment;
static uint32_t seen[HVIA_ERRORS], unharmed;

static int drops_in_the_middle(struct weft_host *h, struct bench *b)
{
	VIP_MEM_HANDLE m, other;
	VIP_DESCRIPTOR *d;
	struct side s;
	uint8_t *p;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_handler(&s);
	d = receive_into((void *)page(&s, &s.mem_attr, &m), s.data, s.handle,
			 LONG);
	ok(VipPostRecv(s.vi, d, m));
	side_connect(&s);
	meet(&s, "send0");
	weft_host_sleep(h, weft_host_now(h) + moment);
	ok(VipDeregisterMem(s.nic, d, m));
	p = page(&s, &s.mem_attr, &other);
	memset(p, 0xee, PAGE);
	weft_host_sleep(h, weft_host_now(h) + 2 * WEFT_MS);
	assert_true(all(p, PAGE, 0xee));
	assert_true(s.n_err <= 1);
	unharmed += !s.n_err; /* the message was complete before */
	for (uint32_t i = 0; i < s.n_err; i++)
		seen[s.err[i].ErrorCode]++;
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_message_in_progress_ends_with_the_descriptors_region(void **state)
{
	for (moment = 0; moment < 640 * WEFT_US; moment += 9730 * WEFT_NS)
		run_with_sender(drops_in_the_middle, 1, LONG);
	assert_true(seen[VIP_ERROR_COMP_PROT] > 20);
	assert_true(seen[VIP_ERROR_POST_DESC]);
	assert_true(unharmed);
}

/* ---- data ---- */

static uint32_t retag;

static int drops_data(struct weft_host *h, struct bench *b)
{
	VIP_MEM_HANDLE m, other, last;
	VIP_MEM_ATTRIBUTES a;
	VIP_DESCRIPTOR *d;
	struct side s;
	uint8_t *p, *q;

	side_open(&s, h, b, "hvia0", PAGE);
	side_handler(&s);
	p = page(&s, &s.mem_attr, &m);
	/* A second region has a higher handle. Therefore handle m stays below
	 * ATT_L1_COUNT after its region is gone. */
	page(&s, &s.mem_attr, &last);
	for (uint32_t i = 0; i < 2; i++)
		side_recv(&s, receive_into(&s.desc[i].d, p, m, 200));
	side_connect(&s); /* prefetches the address of the first page */
	a = s.mem_attr;
	ok(VipCreatePtag(s.nic, &a.Ptag));
	if (retag) {
		ok(VipSetMemAttributes(s.nic, p, m, &a));
		q = p;
	} else {
		ok(VipDeregisterMem(s.nic, p, m));
		q = page(&s, &a, &other);
	}
	memset(q, 0xee, PAGE);
	for (uint32_t i = 0; i < 2; i++) {
		meet(&s, i ? "send1" : "send0");
		assert_int_equal(side_received(&s, &d) & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_PROTECTION_ERROR);
	}
	assert_true(all(q, PAGE, 0xee));
	assert_int_equal(s.n_err, 0);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void prefetched_addresses_go_with_their_region(void **state)
{
	retag = 0;
	run_with_sender(drops_data, 2, 100);
}

static void prefetched_addresses_go_when_the_tag_changes(void **state)
{
	retag = 1;
	run_with_sender(drops_data, 2, 100);
}

/* Gives a VI another tag. Afterwards the VI must not write into memory that its
 * posted receives name. */
static int changes_vi(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	side_open(&s, h, b, "hvia0", PAGE);
	side_handler(&s);
	side_recv(&s, receive_into(&s.desc[0].d, s.data, s.handle, 200));
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	ok(VipCreatePtag(s.nic, &s.attr.Ptag));
	ok(VipSetViAttributes(s.vi, &s.attr));
	side_errors(&s, 1);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_POST_DESC);
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_DESCRIPTOR_ERROR);
	assert_non_null(d);
	weft_host_exit(h, 0);
}

static void a_fetched_receive_goes_when_the_vi_gets_another_tag(void **state)
{
	viprig_run(*state, changes_vi, NULL);
}

/* ---- handles that were freed ---- */

static int uses_freed(struct weft_host *h, struct bench *b)
{
	VIP_MEM_HANDLE m, last;
	VIP_DESCRIPTOR *d;
	struct side s;
	uint8_t *p;

	side_open(&s, h, b, "hvia0", PAGE);
	p = page(&s, &s.mem_attr, &m);
	page(&s, &s.mem_attr, &last);
	assert_true(last > m); /* handle m stays below ATT_L1_COUNT */
	side_connect(&s);
	ok(VipDeregisterMem(s.nic, p, m));
	side_send(&s, receive_into(&s.desc[0].d, p, m, 0));
	assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
	d = receive_into(&s.desc[0].d, p, m, 8);
	d->CS.Length = 8;
	side_send(&s, d);
	assert_int_equal(side_sent(&s, NULL),
			 VIP_STATUS_DONE | VIP_STATUS_PROTECTION_ERROR);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_freed_handle_does_not_translate(void **state)
{
	run_with_sender(uses_freed, 0, 100);
}

/* ---- RDMA targets ---- */

static int is_target(struct weft_host *h, struct bench *b)
{
	VIP_MEM_ATTRIBUTES a = { .EnableRdmaWrite = VIP_TRUE };
	VIP_MEM_HANDLE m;
	VIP_DESCRIPTOR *d;
	struct side s;
	uint8_t *p;

	side_open(&s, h, b, "hvia0", PAGE);
	side_handler(&s);
	ok(VipCreatePtag(s.nic, &a.Ptag));
	p = page(&s, &a, &m);
	b->v[0] = (uintptr_t)p;
	b->v[1] = m;
	side_recv(&s, side_desc(&s, 0, 0, 100));
	side_connect(&s);
	meet(&s, "go");
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_RDMAW_PROT);
	assert_int_equal(s.err[0].OpCode, VIP_STATUS_OP_REMOTE_RDMA_WRITE);
	/* with immediate data the receive descriptor reports the error and
	 * contains the data */
	assert_int_equal(side_received(&s, &d),
			 VIP_STATUS_DONE | VIP_STATUS_OP_REMOTE_RDMA_WRITE |
				 VIP_STATUS_IMMEDIATE |
				 VIP_STATUS_RDMA_PROT_ERROR);
	assert_int_equal(d->CS.ImmediateData, 0x77);
	assert_true(all(p, PAGE, 0));
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int writes(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	side_open(&s, h, b, "hvia0", PAGE);
	side_connect(&s);
	meet(&s, "go");
	fill(s.data, 100, 1);
	side_send(&s, side_rdma(&s, 0, 0, 100, b->v[0], (uint32_t)b->v[1]));
	assert_true(side_sent(&s, NULL) & VIP_STATUS_DONE);
	d = side_rdma(&s, 1, 0, 100, b->v[0], (uint32_t)b->v[1]);
	d->CS.Control |= VIP_CONTROL_IMMEDIATE;
	d->CS.ImmediateData = 0x77;
	side_send(&s, d);
	assert_true(side_sent(&s, NULL) & VIP_STATUS_DONE);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void rdma_does_not_reach_memory_of_another_tag(void **state)
{
	viprig_run(*state, is_target, writes);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fetched_receive_goes_with_its_region),
		cmocka_unit_test(disconnecting_without_the_region_is_no_error),
		cmocka_unit_test(
			a_message_in_progress_ends_with_the_descriptors_region),
		cmocka_unit_test(prefetched_addresses_go_with_their_region),
		cmocka_unit_test(prefetched_addresses_go_when_the_tag_changes),
		T(a_fetched_receive_goes_when_the_vi_gets_another_tag),
		cmocka_unit_test(a_freed_handle_does_not_translate),
		T(rdma_does_not_reach_memory_of_another_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
