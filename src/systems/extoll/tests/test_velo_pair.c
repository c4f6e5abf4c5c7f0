/* SPDX-License-Identifier: Apache-2.0 */
/* VELO between two nodes with a crossbar each. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "velo_msg.h"

/* T-01, all lengths, through the network. */
static void test_every_length_arrives_through_the_network(void **state)
{
	for (uint32_t len = 1; len <= 64; len++) {
		uint32_t slot = (len - 1) % BOX_N;
		uint8_t want[64];
		weft_phys_t at = BOX + slot * 128;
		uint32_t first = 120 - (len + 7) / 8 * 8;

		velo_send(0, 1, len, len);
		xr_settle(&vr);
		velo_fill(want, len, len);
		assert_memory_equal(vr.bus[1]->mem + (at - XR_MEM) + first,
				    want, len);
		assert_true(xr_mem64(&vr, 1, at + 120) ==
			    (EXTOLL_STATUS(0, SENDER, len & 3, len, len) |
			     EXTOLL_STATUS_EOM));
		xr_w64(&vr, 1, EXTOLL_VELO_RP + 3 * EXTOLL_RP_STRIDE,
		       (slot + 1) % BOX_N);
	}
	assert_int_equal(xr_r64(&vr, 1, EXTOLL_VELO_RECEIVED), 64);
}

/* T-08 from end to end: 300 messages are sent to a mailbox with 15 free slots
 * before the first one is read. All of them arrive. */
static void test_pair_full(void **state)
{
	uint32_t rp = 0, n = 300;

	for (uint32_t i = 0; i < n; i++)
		velo_send(0, 1, 64, i);
	xr_run(&vr, 50000);
	assert_int_equal(vr.nic[1]->counters[EX_C_VELO_RECEIVED], BOX_N - 1);
	assert_true(vr.bus[0]->held > 0);
	for (uint32_t i = 0; i < n; i++) {
		weft_phys_t slot = BOX + rp * 128;
		uint8_t want[64];

		while (!xr_mem64(&vr, 1, slot + 120))
			xr_run(&vr, 100);
		velo_fill(want, 64, i & 0xff);
		assert_int_equal(
			EXTOLL_STATUS_TAG(xr_mem64(&vr, 1, slot + 120)),
			i & 0xff);
		xr_mem_set64(&vr, 1, slot + 120, 0);
		rp = (rp + 1) % BOX_N;
		velo_set_rp(1, rp);
	}
	xr_settle(&vr);
	assert_int_equal(vr.bus[0]->held, 0);
	assert_int_equal(xr_r64(&vr, 1, EXTOLL_VELO_RECEIVED), n);
}

/* A run may end with messages that no receiver has read. */
static void test_pair_abandoned(void **state)
{
	for (uint32_t i = 0; i < 300; i++)
		velo_send(0, 1, 64, i);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, 1, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	/* a load behind the waiting stores gets no answer */
	assert_true(xr_r64(&vr, 0, EXTOLL_HTAX_WAITING) == UINT64_MAX);
}

static void test_pair_loopback(void **state)
{
	velo_send(0, 0, 8, 3);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, 0, EXTOLL_VELO_RECEIVED), 1);
	assert_true(xr_mem64(&vr, 0, BOX + 120) != 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, velo_pair, velo_teardown)
	const struct CMUnitTest tests[] = {
		T(test_every_length_arrives_through_the_network),
		T(test_pair_full),
		T(test_pair_abandoned),
		T(test_pair_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
