/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and payload slices: pooling, references, payload switched off. */
#include "../cmocka_all.h"

#include <string.h>

#include "sim/sim_internal.h"

static void slices_share_bytes(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_slice s = weft_slice_new(sim, 100), t;
	struct weft_buf *b = s.buf;

	memset(weft_slice_data(s), 7, 100);
	t = weft_slice_sub(s, 40, 20);
	assert_int_equal(t.len, 20);
	assert_ptr_equal(weft_slice_data(t), weft_slice_data(s) + 40);
	weft_slice_drop(&s);
	assert_int_equal(s.len, 0);
	assert_null(s.buf);
	assert_int_equal(weft_slice_data(t)[19], 7);
	assert_int_equal(sim->live_bufs, 1);
	weft_slice_drop(&t);
	assert_int_equal(sim->live_bufs, 0);
	s = weft_slice_new(sim, 128);
	/* reused, because the size class is equal */
	assert_ptr_equal(s.buf, b);
	weft_slice_drop(&s);
	weft_sim_free(sim);
}

static void no_payload_means_no_bytes(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_slice s;

	weft_sim_set_payload(sim, false);
	s = weft_slice_new(sim, 512);
	assert_null(s.buf);
	assert_int_equal(s.len, 512);
	s = weft_slice_sub(s, 8, 16);
	assert_int_equal(s.len, 16);
	weft_slice_drop(&s);
	weft_sim_free(sim);
}

static void frames_are_clean_and_counted(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = weft_frame_new(sim), *d;

	f->payload = weft_slice_new(sim, 64);
	f->u[3] = 9;
	f->raw = weft_raw_new(sim, 3);
	f->raw->sym[2] = WEFT_SYM_K | 0xBC;
	d = weft_frame_dup(f);
	assert_int_equal(d->u[3], 9);
	assert_int_equal(d->raw->sym[2], WEFT_SYM_K | 0xBC);
	assert_ptr_equal(d->payload.buf, f->payload.buf);
	weft_frame_free(f);
	assert_int_equal(sim->live_frames, 1);
	assert_int_equal(sim->live_bufs, 1);
	weft_frame_free(d);
	assert_int_equal(sim->live_bufs, 0);
	f = weft_frame_new(sim);
	assert_int_equal(f->u[3], 0);
	assert_null(f->raw);
	weft_frame_free(f);
	weft_sim_free(sim);
}

/* Frames and buffers in use decide how much memory is allocated, however many
 * were in use before. */
static void memory_of_frames_and_payloads_is_used_again(void **state)
{
	enum { HELD = 500, ROUNDS = 100 };
	static struct weft_frame *f[HELD];
	struct weft_sim *sim = weft_sim_new(1);
	size_t slabs = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < HELD; i++) {
			f[i] = weft_frame_new(sim);
			f[i]->payload = weft_slice_new(sim, 1 + i);
		}
		if (!round)
			slabs = sim->slabs.n;
		assert_int_equal(sim->slabs.n, slabs);
		for (uint32_t i = 0; i < HELD; i++)
			weft_frame_free(f[round % 2 ? i : HELD - 1 - i]);
		assert_int_equal(sim->live_frames + sim->live_bufs, 0);
	}
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_share_bytes),
		cmocka_unit_test(no_payload_means_no_bytes),
		cmocka_unit_test(frames_are_clean_and_counted),
		cmocka_unit_test(memory_of_frames_and_payloads_is_used_again),
	};

	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
