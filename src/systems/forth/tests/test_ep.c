/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint over FORTH between two nodes of the toy host, step by step.
 * Program ep.conformance tests the rules of all endpoints. These tests are
 * about the parts of this endpoint: direct puts, bounces, credits, keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "fake_host.h"
#include "systems/forth/lib/endpoint.h"
#include "weft/ep.h"
#include "weft/forth.h"

static struct weft_host node[FAKE_NODES];
static struct weft_ep *a, *b;

static void open_both(const struct weft_ep_attr *attr)
{
	fake_start(node, 2, 8);
	assert_int_equal(weft_ep_open(&node[0], attr, &a), 0);
	assert_int_equal(weft_ep_open(&node[1], attr, &b), 0);
}

static void close_both(void)
{
	a->ops->close(a);
	b->ops->close(b);
	fake_stop(node, 2);
}

/* Returns the next event, or one of kind -1 if there is none. */
static struct weft_ep_event next(struct weft_ep *ep)
{
	struct weft_ep_event ev = { .kind = -1 };

	for (int i = 0; i < 4 && (int)ev.kind < 0; i++)
		ep->ops->poll(ep, &ev, 1);
	return ev;
}

static void test_endpoint_reports_capabilities(void **state)
{
	open_both(NULL);
	assert_string_equal(a->info.name, "forth");
	assert_int_equal(a->info.caps, 31);
	assert_int_equal(a->info.emulated,
			 WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP);
	close_both();
}

static void test_message_arrives_from_any_address(void **state)
{
	char text[] = "any length, any address";
	struct weft_ep_event ev;

	open_both(NULL);
	assert_int_equal(weft_ep_send(a, 1, text + 1, 17, 42, text), 0);
	ev = next(a);
	assert_int_equal(ev.kind, WEFT_EV_SENT);
	assert_ptr_equal(ev.ctx, text);
	ev = next(b);
	assert_int_equal(ev.kind, WEFT_EV_RECV);
	assert_int_equal(ev.src, 0);
	assert_int_equal(ev.imm, 42);
	assert_int_equal(ev.len, 17);
	assert_memory_equal(ev.data, text + 1, 17);
	b->ops->release(b, &ev);
	assert_int_equal((int)next(b).kind, -1);
	close_both();
}

/* There are sixteen slots, so that the seventeenth message waits for a
 * release. */
static void test_seventeenth_message_waits_for_a_release(void **state)
{
	struct weft_ep_event ev[16];

	open_both(NULL);
	for (int i = 0; i < 17; i++)
		assert_int_equal(weft_ep_send(a, 1, "x", 1, (uint64_t)i, NULL),
				 0);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(next(a).kind, WEFT_EV_SENT);
		ev[i] = next(b);
		assert_int_equal(ev[i].imm, i);
	}
	assert_int_equal((int)next(a).kind, -1);
	assert_int_equal((int)next(b).kind, -1);
	/* release in the reverse order of arrival: credits return with the
	 * first slot, which is released last */
	for (int i = 15; i >= 0; i--) {
		b->ops->release(b, &ev[i]);
		assert_int_equal((int)next(b).kind, -1);
		if (i)
			assert_int_equal((int)next(a).kind, -1);
	}
	assert_int_equal(next(a).kind, WEFT_EV_SENT);
	assert_int_equal(next(b).imm, 16);
	close_both();
}

/* A peer breaks a rule: it sends a message into a slot before the user has
 * released the slot's last message. The new message waits for the release. */
static void a_message_without_a_credit_waits_for_a_release(void **state)
{
	const struct forth_ep *x;
	struct forth_ep_trailer *t;
	struct weft_ep_event ev[16];

	open_both(NULL);
	x = (const struct forth_ep *)b;
	for (int i = 0; i < 16; i++) {
		assert_int_equal(weft_ep_send(a, 1, "x", 1, (uint64_t)i, NULL),
				 0);
		ev[i] = next(b);
		assert_int_equal(ev[i].imm, i);
	}
	t = (struct forth_ep_trailer *)(x->rx + forth_ep_slot(x, 0, 16) +
					x->slot_bytes) -
	    1;
	t->imm = 16;
	t->seq = 17;
	assert_int_equal((int)next(b).kind, -1);
	b->ops->release(b, &ev[0]);
	assert_int_equal(next(b).imm, 16);
	assert_int_equal((int)next(b).kind, -1);
	close_both();
}

static uint8_t *region(struct weft_host *h, struct weft_ep *ep, size_t n,
		       struct weft_ep_mr *mr)
{
	weft_phys_t phys;
	uint8_t *p = weft_mem_alloc(h, n, 64, &phys);

	assert_int_equal(ep->ops->mr_reg(ep, p, n, mr), 0);
	assert_int_equal(mr->addr, phys);
	return p;
}

/* A put of aligned bytes in memory visible to the NIC is one transfer from the
 * user's own memory. */
static void test_put_direct(void **state)
{
	struct weft_ep_mr src, dst;
	uint8_t *from, *to;
	uint32_t before;

	open_both(NULL);
	from = region(&node[0], a, 4096, &src);
	to = region(&node[1], b, 4096, &dst);
	memset(from, 0x5A, 4096);
	before = node[0].departed[1];
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
					      .dst = 1,
					      .buf = from,
					      .len = 4096,
					      .raddr = dst.addr,
					      .rkey = dst.key,
					      .ctx = from });
	assert_int_equal(node[0].departed[1] - before, 1);
	assert_int_equal(node[0].slot[128 + before][0], src.addr);
	assert_memory_equal(from, to, 4096);
	assert_int_equal(next(a).kind, WEFT_EV_PUT);
	close_both();
}

/* A put from memory that is not visible goes through a bounce buffer. An odd
 * tail of the put goes by message. */
static void test_put_tail(void **state)
{
	struct weft_ep_mr dst;
	uint8_t *from = malloc(100), *to;
	struct weft_ep_event ev;

	open_both(NULL);
	to = region(&node[1], b, 128, &dst);
	for (int i = 0; i < 100; i++)
		from[i] = (uint8_t)(i + 1);
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
					      .dst = 1,
					      .buf = from,
					      .len = 99,
					      .raddr = dst.addr + 8,
					      .rkey = dst.key,
					      .notify = true,
					      .imm = 7 });
	assert_int_equal(next(a).kind, WEFT_EV_PUT);
	assert_memory_equal(to + 8, from, 96);
	assert_int_equal(to[8 + 96], 0); /* the peer has not polled yet */
	ev = next(b);
	assert_int_equal(ev.kind, WEFT_EV_PUT_IN);
	assert_int_equal(ev.imm, 7);
	assert_memory_equal(to + 8, from, 99);
	assert_int_equal(to[8 + 99], 0);
	assert_int_equal(to[7], 0);
	free(from);
	close_both();
}

static void test_get_and_atomics(void **state)
{
	struct weft_ep_mr mr;
	struct weft_ep_event ev;
	uint64_t *cell;
	uint8_t buf[16];

	open_both(NULL);
	cell = (uint64_t *)region(&node[1], b, 64, &mr);
	cell[0] = 40;
	memcpy(cell + 1, "0123456789abcdef", 16);
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
					      .dst = 1,
					      .raddr = mr.addr,
					      .rkey = mr.key,
					      .operand = 2 });
	assert_int_equal((int)next(b).kind, -1);
	ev = next(a);
	assert_int_equal(ev.kind, WEFT_EV_ATOMIC);
	assert_int_equal(ev.result, 40);
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_CSWAP,
					      .dst = 1,
					      .raddr = mr.addr,
					      .rkey = mr.key,
					      .operand = 41,
					      .desired = 5 });
	next(b);
	assert_int_equal(next(a).result, 42);
	assert_int_equal(cell[0], 42);
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_CSWAP,
					      .dst = 1,
					      .raddr = mr.addr,
					      .rkey = mr.key,
					      .operand = 42,
					      .desired = 5 });
	next(b);
	assert_int_equal(next(a).result, 42);
	assert_int_equal(cell[0], 5);
	weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_GET,
					      .dst = 1,
					      .into = buf,
					      .len = 5,
					      .raddr = mr.addr + 11,
					      .rkey = mr.key });
	next(b);
	assert_int_equal(next(a).kind, WEFT_EV_GET);
	assert_memory_equal(buf, "34567", 5);
	close_both();
}

/* At most eight requests to a peer may wait for their answers. */
static void test_request_limit(void **state)
{
	struct weft_ep_mr mr;

	open_both(NULL);
	region(&node[1], b, 64, &mr);
	for (int i = 0; i < 8; i++)
		assert_int_equal(
			weft_ep_post(a,
				     &(struct weft_ep_op){ .code = WEFT_EP_FADD,
							   .dst = 1,
							   .raddr = mr.addr,
							   .rkey = mr.key,
							   .operand = 1 }),
			0);
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
						      .dst = 1,
						      .raddr = mr.addr,
						      .rkey = mr.key,
						      .operand = 1 }),
		-EAGAIN);
	next(b);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(next(a).result, i);
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
						      .dst = 1,
						      .raddr = mr.addr,
						      .rkey = mr.key,
						      .operand = 1 }),
		0);
	close_both();
}

static void test_access_outside_a_region_is_refused(void **state)
{
	struct weft_ep_mr mr;
	char heap[8];

	open_both(NULL);
	region(&node[1], b, 100, &mr);
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						      .dst = 1,
						      .buf = heap,
						      .len = 8,
						      .raddr = mr.addr + 93,
						      .rkey = mr.key }),
		-EINVAL);
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						      .dst = 1,
						      .buf = heap,
						      .len = 8,
						      .raddr = mr.addr + 92,
						      .rkey = mr.key }),
		0);
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						      .dst = 2,
						      .buf = heap,
						      .len = 8,
						      .raddr = mr.addr,
						      .rkey = mr.key }),
		-EINVAL);
	assert_int_equal(a->ops->mr_reg(a, heap, 8, &mr), -EFAULT);
	assert_int_equal(weft_ep_send(a, 1, heap, 4097, 0, NULL), -EMSGSIZE);
	close_both();
}

/* A region stays registered while an answer to any peer is read from it. Other
 * regions may close. */
static void test_dereg_waits_for_answers(void **state)
{
	for (uint32_t asks = 0; asks < 2; asks++) {
		struct weft_host *h = &node[!asks];
		struct weft_ep *from, *near;
		struct weft_ep_mr mr, other, end, back;
		uint8_t *into;

		open_both(NULL);
		near = asks ? a : b;
		from = asks ? b : a;
		into = region(&node[asks], from, 64, &back);
		region(h, near, 64, &other);
		region(h, near, 64, &mr);
		region(h, near, 64, &end);
		assert_int_equal(
			weft_ep_post(from,
				     &(struct weft_ep_op){ .code = WEFT_EP_GET,
							   .dst = !asks,
							   .into = into,
							   .len = 64,
							   .raddr = mr.addr,
							   .rkey = mr.key }),
			0);
		h->running = false;
		next(near);
		assert_int_equal(near->ops->mr_dereg(near, &mr), -EAGAIN);
		assert_int_equal(near->ops->mr_dereg(near, &other), 0);
		assert_int_equal(near->ops->mr_dereg(near, &end), 0);
		h->running = true;
		fake_run(h);
		next(near);
		assert_int_equal(next(from).kind, WEFT_EV_GET);
		assert_int_equal(near->ops->mr_dereg(near, &mr), 0);
		assert_int_equal(near->ops->mr_dereg(near, &mr), -EINVAL);
		close_both();
	}
}

/* Events that the user does not poll delay new operations, and no event is
 * lost. */
static void test_unread_events(void **state)
{
	int sent = 0, seen = 0;

	open_both(NULL);
	while (!weft_ep_send(a, 0, "y", 1, 0, NULL) && sent < 1000)
		sent++;
	assert_in_range(sent, 16, 200);
	for (int i = 0; i < 1000; i++) {
		struct weft_ep_event ev = { .kind = -1 };

		a->ops->poll(a, &ev, 1);
		if (ev.kind == WEFT_EV_RECV)
			a->ops->release(a, &ev);
		seen += ev.kind == WEFT_EV_SENT;
	}
	assert_int_equal(seen, sent);
	close_both();
}

static void test_wait_ends_at_deadline_or_message(void **state)
{
	open_both(NULL);
	assert_int_equal(a->ops->wait(a, node[0].now + WEFT_US), -ETIMEDOUT);
	weft_ep_send(b, 0, "z", 1, 0, NULL);
	assert_int_equal(a->ops->wait(a, node[0].now + WEFT_US), 0);
	close_both();
}

/* Each call costs 20 ns of processor time, even a poll that finds no event and
 * a progress call without work. */
static void test_each_call_costs_20_ns_of_processor(void **state)
{
	struct weft_ep_event ev;
	struct weft_ep_mr mr;
	weft_time_t t;

	open_both(NULL);
	region(&node[1], b, 64, &mr);
	t = node[0].now;
	assert_int_equal(a->ops->poll(a, &ev, 1), 0);
	assert_int_equal(node[0].now - t, 20 * WEFT_NS);
	t = node[0].now;
	assert_int_equal(
		weft_ep_post(a, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						      .dst = 1,
						      .buf = &ev,
						      .len = 0,
						      .raddr = mr.addr,
						      .rkey = mr.key }),
		0);
	assert_int_equal(node[0].now - t, 20 * WEFT_NS);
	close_both();
}

static void test_no_nic(void **state)
{
	struct weft_ep *ep;

	fake_start(node, 1, 1);
	node[0].cfg[0] = 0xFFFFFFFF;
	assert_int_equal(weft_ep_open(&node[0], NULL, &ep), -ENODEV);
	fake_stop(node, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoint_reports_capabilities),
		cmocka_unit_test(test_message_arrives_from_any_address),
		cmocka_unit_test(test_seventeenth_message_waits_for_a_release),
		cmocka_unit_test(
			a_message_without_a_credit_waits_for_a_release),
		cmocka_unit_test(test_put_direct),
		cmocka_unit_test(test_put_tail),
		cmocka_unit_test(test_get_and_atomics),
		cmocka_unit_test(test_request_limit),
		cmocka_unit_test(test_access_outside_a_region_is_refused),
		cmocka_unit_test(test_dereg_waits_for_answers),
		cmocka_unit_test(test_unread_events),
		cmocka_unit_test(test_wait_ends_at_deadline_or_message),
		cmocka_unit_test(test_each_call_costs_20_ns_of_processor),
		cmocka_unit_test(test_no_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
