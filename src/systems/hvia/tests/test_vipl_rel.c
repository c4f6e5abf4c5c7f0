/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL over a bad network, with 1 % loss, reordering and duplicates: the
 * unreliable service loses whole messages and nothing else, and the reliable
 * service of the library loses nothing. */
#include "viprig.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"

enum { MESSAGES = 200, BUF = 1 << 14, RING = 16 };

static uint32_t size_of(uint32_t i)
{
	return 1 + (i * 2654435761u >> 8) % (i % 4 ? 1500 : 9000);
}

/* ---- reliable ---- */

static void open_level(struct side *s, struct weft_host *h, struct bench *b,
		       uint32_t level)
{
	side_open(s, h, b,
		  level == VIP_SERVICE_UNRELIABLE ? "hvia0" : "hvia0+reliable",
		  RING * BUF);
	if (level == VIP_SERVICE_UNRELIABLE)
		return;
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = (VIP_RELIABILITY_LEVEL)level;
	side_vi(s, &s->vi);
}

static int rel_sender(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	open_level(&s, h, b, VIP_SERVICE_RELIABLE_DELIVERY);
	side_connect(&s);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint32_t at = i % 4 * BUF;

		if (i >= 4)
			ok(VipSendWait(s.vi, VIP_INFINITE, &d));
		fill(s.data + at, size_of(i), i);
		d = side_desc(&s, i % 4, at, size_of(i));
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
		d->CS.ImmediateData = i;
		side_send(&s, d);
	}
	for (uint32_t i = 0; i < 4; i++) {
		ok(VipSendWait(s.vi, VIP_INFINITE, &d));
		assert_int_equal(d->CS.Status,
				 VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
	}
	b->t[0] = weft_host_now(h);
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int rel_receiver(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	open_level(&s, h, b, VIP_SERVICE_RELIABLE_DELIVERY);
	for (uint32_t i = 0; i < RING; i++)
		side_recv(&s, side_desc(&s, i, i * BUF, BUF));
	side_connect(&s);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		ok(VipRecvWait(s.vi, VIP_INFINITE, &d));
		assert_int_equal(d->CS.Status, VIP_STATUS_DONE |
						       VIP_STATUS_OP_RECEIVE |
						       VIP_STATUS_IMMEDIATE);
		assert_int_equal(d->CS.ImmediateData, i);
		assert_int_equal(d->CS.Length, size_of(i));
		assert_true(filled(s.data + i % RING * BUF, size_of(i), i));
		side_recv(&s, side_desc(&s, i % RING, i % RING * BUF, BUF));
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* ---- unreliable ---- */

static int unrel_sender(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	open_level(&s, h, b, VIP_SERVICE_UNRELIABLE);
	side_connect(&s);
	meet(&s, "begin");
	for (uint32_t i = 0; i < MESSAGES; i++) {
		fill(s.data, size_of(i), i);
		d = side_desc(&s, 0, 0, size_of(i));
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
		d->CS.ImmediateData = i;
		side_send(&s, d);
		assert_int_equal(side_sent(&s, NULL),
				 VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* Checks that every received message is complete, right and in order. A message
 * with a missing part must end with PARTIAL_ERROR. */
static int unrel_receiver(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	int64_t last = -1;

	open_level(&s, h, b, VIP_SERVICE_UNRELIABLE);
	for (uint32_t i = 0; i < RING; i++)
		side_recv(&s, side_desc(&s, i, i * BUF, BUF));
	side_connect(&s);
	meet(&s, "begin");
	for (;;) {
		uint32_t k, i;

		if (VipRecvWait(s.vi, 2, &d) == VIP_TIMEOUT)
			break;
		assert_non_null(d);
		k = (uint32_t)((union vip_desc *)d - s.desc);
		if (d->CS.Status & VIP_STATUS_ERROR_MASK) {
			assert_true(d->CS.Status & VIP_STATUS_PARTIAL_ERROR);
			b->v[1]++;
		} else {
			i = d->CS.ImmediateData;
			assert_true((int64_t)i > last);
			assert_int_equal(d->CS.Length, size_of(i));
			assert_true(filled(s.data + k * BUF, size_of(i), i));
			last = i;
			b->v[0]++;
		}
		side_recv(&s, side_desc(&s, k, k * BUF, BUF));
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* ---- faults ---- */

static const struct vip_fault fault_none = { 0 };
static const struct vip_fault fault_loss = { &weft_class_fault_drop,
					     { "packets" },
					     { "0.01" } };
static const struct vip_fault fault_twice = { &weft_class_fault_drop,
					      { "repeat" },
					      { "0.05" } };
static const struct vip_fault fault_order = {
	&weft_class_fault_delay,
	{ "overtake", "share", "max" },
	{ "yes", "0.05", "60us" },
};
static const struct vip_fault fault_bad = { &weft_class_fault_bits,
					    { "rate" },
					    { "1e-6" } };

static const struct vip_fault fault_much = { &weft_class_fault_drop,
					     { "packets" },
					     { "0.1" } };

static const struct vip_fault *const faults[] = { &fault_none,	&fault_loss,
						  &fault_twice, &fault_order,
						  &fault_bad,	&fault_much };

static void test_reliable_messages_survive_every_fault(void **state)
{
	for (uint32_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bench *b =
			viprig_run_with(faults[i], rel_receiver, rel_sender);

		print_message("fault %u: %.3f ms\n", i, (double)b->t[0] / 1e12);
		bench_free(b);
	}
}

static void test_unreliable_messages_are_lost_but_not_wrong(void **state)
{
	for (uint32_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bench *b = viprig_run_with(faults[i], unrel_receiver,
						  unrel_sender);

		print_message("fault %u: %u whole, %u partial\n", i,
			      (unsigned)b->v[0], (unsigned)b->v[1]);
		assert_true(b->v[0] <= MESSAGES);
		assert_true(b->v[0] > MESSAGES / 2);
		if (faults[i] == &fault_none || faults[i] == &fault_twice)
			assert_int_equal(b->v[0], MESSAGES);
		if (faults[i] == &fault_much)
			assert_true(b->v[0] < MESSAGES && b->v[1]);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reliable_messages_survive_every_fault),
		cmocka_unit_test(
			test_unreliable_messages_are_lost_but_not_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
