/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: its three protocols, the sizes at which it
 * changes between them, and the operations that it refuses (extoll.md 6.3,
 * T-42). The conformance program tests the rest. */
#include "unit/cmocka_all.h"
#include "exrig.h"

#include <errno.h>
#include <string.h>

#include "endpoint/core.h"

#define MB (1u << 20)

static const uint32_t sizes[] = { 0,	1,    8,    55,	  56,	57,    64,
				  1023, 1024, 1025, 4096, 4097, 65536, MB };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static uint8_t pattern(uint32_t size, uint32_t i)
{
	return (uint8_t)(i * 13 ^ i >> 8 ^ size);
}

static struct weft_ep *open_ep(struct weft_host *h)
{
	struct weft_ep_attr a = { .max_msg = MB }, second = { .group = 1 };
	struct weft_ep *ep;

	/* one process per node */
	assert_int_equal(weft_ep_open(h, &second, &ep), -EOPNOTSUPP);
	assert_int_equal(weft_ep_open(h, &a, &ep), 0);
	assert_string_equal(ep->info.name, "extoll");
	return ep;
}

static struct weft_ep_event next(struct weft_ep *ep, enum weft_ep_kind kind)
{
	struct weft_ep_event ev = { 0 };

	while (!ep->ops->poll(ep, &ev, 1))
		ep->ops->wait(ep, WEFT_NEVER);
	assert_int_equal(ev.kind, kind);
	return ev;
}

/* Sends each size and counts the NIC's operations for it. */
static int ways_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep *ep = open_ep(h);
	struct weft_ep_event ev;
	weft_phys_t phys;
	uint8_t *pinned = weft_mem_alloc(h, MB, 64, &phys);
	uint8_t *heap = weft_host_calloc(h, 1, MB);

	for (uint32_t i = 0; i < SIZES; i++) {
		uint8_t *buf = i & 1 ? heap : pinned;
		uint64_t velo = exrig_counter(r->node[0].nic, "velo_sent");

		for (uint32_t k = 0; k < sizes[i]; k++)
			buf[k] = pattern(sizes[i], k);
		assert_int_equal(weft_ep_send(ep, 1, buf, sizes[i], i, buf), 0);
		ev = next(ep, WEFT_EV_SENT);
		assert_ptr_equal(ev.ctx, buf);
		ev = next(ep, WEFT_EV_RECV); /* the echo's length */
		assert_int_equal(ev.imm, sizes[i]);
		ep->ops->release(ep, &ev);
		r->v[i] = exrig_counter(r->node[0].nic, "velo_sent") - velo;
	}
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	ep->ops->close(ep);
	return 0;
}

static int ways_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep *ep = open_ep(h);

	for (uint32_t i = 0; i < SIZES; i++) {
		uint64_t gets = exrig_counter(r->node[1].nic, "rma_commands");
		struct weft_ep_event ev = next(ep, WEFT_EV_RECV), sent;

		assert_int_equal(ev.src, 0);
		assert_int_equal(ev.imm, i);
		assert_int_equal(ev.len, sizes[i]);
		for (uint32_t k = 0; k < sizes[i]; k++)
			if (((const uint8_t *)ev.data)[k] !=
			    pattern(sizes[i], k))
				fail_msg("size %u differs at %u", sizes[i], k);
		r->v[32 + i] =
			exrig_counter(r->node[1].nic, "rma_commands") - gets;
		ep->ops->release(ep, &ev);
		weft_ep_send(ep, 0, NULL, 0, sizes[i], NULL);
		sent = next(ep, WEFT_EV_SENT);
		assert_int_equal(sent.status, 0);
	}
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	ep->ops->close(ep);
	return 0;
}

/* T-42: the three protocols, and the sizes at which the endpoint changes from
 * one to the next. */
static void test_protocol_changes_at_the_specified_sizes(void **state)
{
	struct exrig r;

	exrig_new(&r, "2");
	exrig_prog(&r, 0, ways_near);
	exrig_prog(&r, 1, ways_far);
	exrig_start(&r);
	exrig_run(&r);
	for (uint32_t i = 0; i < SIZES; i++) {
		uint32_t n = sizes[i];
		/* credits may arrive in between */
		uint64_t velo =
			n <= 56 || n > 1024 ? 1 : 1 + (n - 48 + 63) / 64;
		uint64_t gets = n <= 1024 ? 0 : (n + 4095) / 4096;

		assert_in_range(r.v[i], velo, velo + 1);
		/* One additional get is allowed, because the memory may begin
		 * in the middle of a page. */
		assert_in_range(r.v[32 + i], gets, gets + (gets ? 1 : 0));
	}
	exrig_free(&r);
}

/* A get from an address that is not registered ends with an error. */
static int fault_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep *ep = open_ep(h);
	struct weft_ep_event ev;
	struct weft_ep_mr mr;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 8192, 4096, &phys);
	/* an address in a table that does not exist */
	uint64_t hole = 5ull << 30;

	assert_int_equal(ep->ops->mr_reg(ep, buf, 0, &mr), -EINVAL);
	assert_int_equal(ep->ops->mr_reg(ep, &mr, 8, &mr), -EFAULT);
	assert_int_equal(ep->ops->mr_reg(ep, buf, 8192, &mr), 0);
	assert_int_equal(
		weft_ep_post(ep,
			     &(struct weft_ep_op){ .code = WEFT_EP_GET,
						   .dst = 0,
						   .into = buf,
						   .len = 8192,
						   .raddr = hole,
						   .rkey = hole << 31 | 8192,
						   .ctx = buf }),
		0);
	ev = next(ep, WEFT_EV_ERROR);
	assert_ptr_equal(ev.ctx, buf);
	assert_int_equal(ev.status, -EFAULT);
	/* the next get works */
	buf[4096] = 77;
	assert_int_equal(
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
						       .dst = 0,
						       .into = buf,
						       .len = 1,
						       .raddr = mr.addr + 4096,
						       .rkey = mr.key }),
		0);
	ev = next(ep, WEFT_EV_GET);
	assert_int_equal(buf[0], 77);
	ep->ops->close(ep);
	return 0;
}

/* A call costs 20 ns of the processor, both a poll that finds nothing and a
 * progress call without work. */
static int cost_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep *ep = open_ep(h);
	struct weft_ep_event ev;
	struct weft_ep_mr mr;
	weft_phys_t phys;
	uint8_t *buf = weft_mem_alloc(h, 4096, 4096, &phys);
	weft_time_t t;

	assert_int_equal(ep->ops->mr_reg(ep, buf, 4096, &mr), 0);
	t = weft_host_busy(h);
	assert_int_equal(ep->ops->poll(ep, &ev, 1), 0);
	assert_int_equal(weft_host_busy(h) - t, 20 * WEFT_NS);
	t = weft_host_busy(h);
	assert_int_equal(
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						       .dst = 0,
						       .buf = buf,
						       .len = 0,
						       .raddr = mr.addr,
						       .rkey = mr.key }),
		0);
	assert_int_equal(weft_host_busy(h) - t, 20 * WEFT_NS);
	ep->ops->close(ep);
	return 0;
}

static void alone(int (*prog)(struct weft_host *, struct exrig *, uint32_t))
{
	struct exrig r;

	exrig_new(&r, "1");
	exrig_prog(&r, 0, prog);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void test_get_from_an_unregistered_address_fails(void **state)
{
	alone(fault_near);
}

static void test_each_call_costs_20_ns_of_processor(void **state)
{
	alone(cost_near);
}

/* Posts more puts than the NIC's command queue accepts. Posting does not wait
 * until data leave, and all puts arrive, from and to any offset in a page. */
static int puts_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	enum { N = 8, LEN = 100000, SKEW = 40 };
	struct weft_ep *ep = open_ep(h);
	weft_phys_t phys;
	uint8_t *from = weft_mem_alloc(h, LEN + SKEW, 4096, &phys);
	uint8_t *to = weft_mem_alloc(h, N * LEN, 4096, &phys);
	struct weft_ep_mr mr;
	weft_time_t start;

	for (uint32_t k = 0; k < LEN; k++)
		from[SKEW + k] = pattern(LEN, k);
	assert_int_equal(ep->ops->mr_reg(ep, to, N * LEN, &mr), 0);
	start = weft_host_now(h);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(
			weft_ep_post(ep,
				     &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							   .dst = 0,
							   .buf = from + SKEW,
							   .len = LEN,
							   .raddr = mr.addr +
								    i * LEN,
							   .rkey = mr.key }),
			0);
	assert_true(weft_host_now(h) - start < 50 * WEFT_US);
	for (uint32_t i = 0; i < N; i++)
		next(ep, WEFT_EV_PUT);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	for (uint32_t i = 0; i < N; i++)
		assert_memory_equal(to + i * LEN, from + SKEW, LEN);
	ep->ops->close(ep);
	return 0;
}

static void test_posting_puts_does_not_wait_for_the_queue(void **state)
{
	alone(puts_near);
}

/* The mailbox has room for all messages in flight, and at most 8 MiB. The
 * endpoint therefore shortens the longest message without a handshake. */
static int boxes_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const struct {
		uint32_t rx_slots, eager_max, used;
	} rows[] = {
		{ 8, 1024, 1024 },     { 8, 1 << 20, 65536 },
		{ 63, 65536, 65536 },  { 64, 65536, 32768 },
		{ 127, 65536, 32768 }, { 128, 65536, 16384 },
	};
	struct weft_ep *ep;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct weft_ep_attr a = { .max_msg = MB,
					  .rx_slots = rows[i].rx_slots,
					  .eager_max = rows[i].eager_max };

		assert_int_equal(weft_ep_open(h, &a, &ep), 0);
		assert_int_equal(((struct ep *)ep)->eager_max, rows[i].used);
		ep->ops->close(ep);
	}
	return 0;
}

static void messages_in_flight_fit_into_a_mailbox_of_8_mb(void **state)
{
	alone(boxes_near);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protocol_changes_at_the_specified_sizes),
		cmocka_unit_test(test_get_from_an_unregistered_address_fails),
		cmocka_unit_test(test_each_call_costs_20_ns_of_processor),
		cmocka_unit_test(test_posting_puts_does_not_wait_for_the_queue),
		cmocka_unit_test(messages_in_flight_fit_into_a_mailbox_of_8_mb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
