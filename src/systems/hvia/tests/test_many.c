/* SPDX-License-Identifier: Apache-2.0 */
/* All 1024 VIs of HVIA-GE at once (hvia.md 9: T-21). */
#include "hvduo.h"

#include <stdlib.h>
#include <string.h>

/* ---- many VIs (T-21, T-22) ---- */

enum { EACH = 2 };

static uint32_t many_len(uint32_t vi, uint32_t k)
{
	return 1 + (vi * 37 + k * 911) % 3000;
}

/* Makes all VIs send two descriptors each, posted before the engine runs. */
static int many_sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0, handle, at;
	uint8_t *mem;

	hvduo_open_side(h, 0, 0);
	mem = hvrig_mem(r, HVIA_VIS * EACH * 64, 0, &handle);
	for (uint32_t vi = 0; vi < HVIA_VIS; vi++)
		hvrig_vi(r, vi, HVIA_VIS - 1 - vi, 0);
	hvarea_meet(h, &turn);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_STOP);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		struct hvia_seg *g = (struct hvia_seg *)(d + 1);
		uint32_t vi = i / EACH, k = i % EACH;

		at = vi % 13;
		d->control = HVIA_OP_IMMEDIATE;
		d->immediate = vi;
		d->seg_count = 1;
		d->length = g->length = many_len(vi, k);
		g->addr = (uintptr_t)hvduo.buf[0] + at;
		g->handle = hvduo.handle[0];
		if (!k) {
			d->next = (uintptr_t)(mem + (i + 1) * 64);
			d->next_handle = handle;
		}
		weft_io_store64(h, &r->db, hvia_doorbell(vi, HVIA_Q_SEND),
				hvia_token(handle, i * 64));
	}
	for (uint32_t i = 0; i < LEN; i++)
		hvduo.buf[0][i] = hvarea_byte(1, i);
	hvrig_store(r, HVIA_CTRL,
		    hvrig_load(r, HVIA_CTRL) & ~(uint64_t)HVIA_CTRL_STOP);
	weft_host_sleep(h, weft_host_now(h) + 45 * WEFT_MS);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++)
		assert_int_equal(((struct hvia_desc *)(mem + i * 64))->status,
				 OK);
	hvduo_no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

static int many_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0, handle, bufs;
	uint8_t *mem, *buf;

	hvduo_open_side(h, 0, 0);
	mem = hvrig_mem(r, HVIA_VIS * EACH * 64, 0, &handle);
	buf = hvrig_mem(r, HVIA_VIS * EACH * HVIA_PAGE, 0, &bufs);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		struct hvia_seg *g = (struct hvia_seg *)(d + 1);
		uint32_t vi = i / EACH;

		if (i % EACH == 0)
			hvrig_vi(r, vi, HVIA_VIS - 1 - vi, 0);
		d->seg_count = 1;
		g->length = HVIA_PAGE;
		g->addr = (uintptr_t)buf + (uint64_t)i * HVIA_PAGE;
		g->handle = bufs;
		if (i % EACH == 0) {
			d->next = (uintptr_t)(mem + (i + 1) * 64);
			d->next_handle = handle;
		}
		weft_io_store64(h, &r->db, hvia_doorbell(vi, HVIA_Q_RECV),
				hvia_token(handle, i * 64));
	}
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		const struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		uint32_t vi = HVIA_VIS - 1 - i / EACH, k = i % EACH;
		uint32_t len = many_len(vi, k);

		assert_int_equal(d->status, RECV | HVIA_ST_IMMEDIATE);
		assert_int_equal(d->immediate, vi);
		assert_int_equal(d->length, len);
		for (uint32_t j = 0; j < len; j += 97)
			assert_int_equal(buf[i * HVIA_PAGE + j],
					 hvarea_byte(1, j + vi % 13));
	}
	hvduo_no_error(r);
	assert_true(bench_counter(b->node[1].dev, "prefetch_misses") >
		    HVIA_VIS);
	return 0;
}

/* T-21 */
static void all_1024_vis_are_served_without_cross_talk(void **state)
{
	hvduo_run(many_sender, many_receiver, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		all_1024_vis_are_served_without_cross_talk) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
