/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE: descriptors that cross a page (hvia.md 3.1, 5.2, 5.3), wrong entries
 * of the table in host memory (7.3), station addresses, and a receive
 * descriptor that is requested while the previous one ends (5.3). */
#include "hvduo.h"

#include <string.h>

#include "systems/ethernet/link/wire.h"

/* A region of two pages that are not adjacent. The descriptor begins 64 bytes
 * before the end of the first page, so that four of its six segments are in the
 * second. */
enum { DESC_VA = 0x40000, AT = HVIA_PAGE - 64, SEGS = 6 };
enum second { THERE, OUTSIDE, NOWHERE };

struct split {
	struct hvia_desc d;
	struct hvia_seg seg[SEGS];
};

static enum second second;
static volatile struct hvia_desc *split_at[2];

/* Makes a descriptor whose segment i has i + 1 bytes. Segments are 256 bytes
 * apart. */
static uint32_t split_new(struct hvrig *r)
{
	uint32_t node = weft_host_node(r->h);
	struct split s = { .d.seg_count = SEGS };
	weft_phys_t phys, page[2];
	uint8_t *mem = weft_mem_alloc(r->h, 4ul * HVIA_PAGE, HVIA_PAGE, &phys);

	assert_non_null(mem);
	memset(mem, 0xff, 4ul * HVIA_PAGE);
	page[0] = phys + 2ul * HVIA_PAGE;
	page[1] = second == NOWHERE ? 0xf0000000 : phys;
	for (uint32_t i = 0; i < SEGS; i++) {
		s.seg[i].addr = (uintptr_t)hvduo.buf[node] + 256 * i;
		s.seg[i].handle = hvduo.handle[node];
		s.seg[i].length = i + 1;
		s.d.length += node ? 0 : i + 1;
	}
	memcpy(mem + 2ul * HVIA_PAGE + AT, &s, 64);
	memcpy(mem, (uint8_t *)&s + 64, sizeof(s) - 64);
	split_at[node] = (void *)(mem + 2ul * HVIA_PAGE + AT);
	return hvrig_region(r, DESC_VA,
			    second == OUTSIDE ? HVIA_PAGE : 2 * HVIA_PAGE, page,
			    HVRIG_PTAG, 0);
}

static void split_post(struct hvrig *r, uint32_t vi, uint32_t q)
{
	weft_io_store64(r->h, &r->db, hvia_doorbell(vi, q),
			hvia_token(split_new(r), AT));
}

static void later(struct weft_host *h)
{
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
}

static uint64_t counted(struct bench *b, uint32_t node, const char *name)
{
	return bench_counter(b->node[node].dev, name);
}

/* ---- sends ---- */

static int sends_split(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	for (uint32_t i = 0; i < SEGS; i++)
		memset(hvduo.buf[0] + 256 * i, (int)i + 1, i + 1);
	hvarea_meet(h, &turn);
	split_post(r, VI, HVIA_Q_SEND);
	later(h);
	if (second == THERE) {
		assert_int_equal(split_at[0]->status, OK);
		assert_int_equal(split_at[0]->length, 21);
		hvduo_no_error(r);
		assert_int_equal(counted(b, 0, "segment_reads"), 1);
	} else {
		assert_int_equal(split_at[0]->status, 0);
		hvduo_error_is(r, VI, HVIA_ERROR_POST_DESC);
		assert_int_equal(hvduo_state_of(r, VI), HVIA_VI_ERROR);
	}
	assert_int_equal(counted(b, 0, "bus_aborts"), second == NOWHERE);
	hvarea_meet(h, &turn);
	return 0;
}

static int has_gathered(struct weft_host *h, struct bench *b)
{
	const struct hvia_desc *d;
	uint32_t turn = 0, at = 0;

	hvduo_peer_posts(h, b);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	d = &hvduo.rig[1].desc[0].d;
	assert_int_equal(d->status, second == THERE ? RECV : 0);
	for (uint32_t i = 0; i < SEGS && second == THERE; i++)
		for (uint32_t k = 0; k <= i; k++)
			assert_int_equal(hvduo.buf[1][at++], i + 1);
	return 0;
}

static void a_send_descriptor_goes_on_in_another_page(void **state)
{
	for (second = THERE; second <= NOWHERE; second++)
		hvduo_run(sends_split, has_gathered, 1);
}

/* ---- receives ---- */

static int sends_plain(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	for (uint32_t i = 0; i < 21; i++)
		hvduo.buf[0][i] = (uint8_t)(i + 1);
	hvarea_meet(h, &turn);
	assert_int_equal(hvduo_sent(hvduo_simple(0, 21)), OK);
	later(h);
	hvarea_meet(h, &turn);
	return 0;
}

/* Checks that the bytes of the first two segments are stored and that Length
 * counts them. */
static int receives_split(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0, at = 0, whole = second == THERE ? SEGS : 2;

	hvduo_open_side(h, 0, 0);
	split_post(r, PEER, HVIA_Q_RECV);
	later(h);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(split_at[1]->status,
			 second == THERE ? RECV
					 : RECV | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(split_at[1]->length, second == THERE ? 21 : 3);
	for (uint32_t i = 0; i < SEGS; i++)
		for (uint32_t k = 0; k <= i + 1; k++)
			assert_int_equal(hvduo.buf[1][256 * i + k],
					 i < whole && k <= i ? ++at : 0);
	assert_int_equal(counted(b, 1, "bus_aborts"), second == NOWHERE);
	hvduo_no_error(r);
	return 0;
}

static void a_receive_descriptor_goes_on_in_another_page(void **state)
{
	for (second = THERE; second <= NOWHERE; second++)
		hvduo_run(sends_plain, receives_split, 0);
}

/* ---- the table in host memory ---- */

static int names_wrong_entries(struct weft_host *h, struct bench *b)
{
	const uint32_t bad = HVIA_ST_DONE | HVIA_ST_PROTECTION_ERROR;
	struct hvrig *r = &hvduo.rig[0];
	uint64_t va = (uintptr_t)hvrig_mem(r, 2 * HVIA_PAGE, 0, b->p);
	uint32_t turn = 0, two = *(uint32_t *)b->p;

	assert_non_null(r->host_l1);
	hvarea_meet(h, &turn);
	/* refused: an entry that does not exist, an entry with fewer pages than
	 * its length, and an entry whose page does not exist */
	assert_int_equal(hvduo_try_data(va, two + 1, 4), bad);
	r->host_l1[two].pages = 1;
	assert_int_equal(hvduo_try_data(va + HVIA_PAGE - 4, two, 4), OK);
	assert_int_equal(hvduo_try_data(va + HVIA_PAGE - 4, two, 8), bad);
	assert_int_equal(hvduo_try_data(va + HVIA_PAGE, two, 4), bad);
	r->host_l1[two].pages = 2;
	r->host_l1[two].l2 = HVIA_SDRAM_BYTES / 4;
	assert_int_equal(hvduo_try_data(va, two, 4), bad);
	assert_int_equal(counted(b, 0, "refused"), 4);
	hvarea_meet(h, &turn);
	return 0;
}

static int wrong_entries(struct weft_host *h, struct bench *b)
{
	uint32_t handle;

	hvduo_open_side(h, 0, 0);
	b->p = &handle;
	return names_wrong_entries(h, b);
}

static void wrong_entries_in_host_memory_are_refused(void **state)
{
	hvduo.param = "att_host";
	hvduo.value = "yes";
	hvduo_run(wrong_entries, hvduo_peer, 8);
}

/* ---- station addresses ---- */

#define ADDRESS 0x060504030201ull

static uint64_t address_of(uint32_t node)
{
	uint64_t v = 0;

	eth_addr_of((uint8_t *)&v, node);
	return v;
}

/* The VIs use the default station addresses. Both cards have other addresses at
 * first, so that no frame is received until the cards have the default
 * addresses, too. */
static int moves(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	assert_int_equal(hvrig_load(r, HVIA_MAC), ADDRESS);
	hvarea_meet(h, &turn);
	assert_int_equal(hvduo_sent(hvduo_simple(0, 8)), OK);
	later(h);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(hvduo_sent(hvduo_simple(1, 8)), OK);
	later(h);
	hvrig_store(r, HVIA_MAC, address_of(0));
	assert_int_equal(hvrig_load(r, HVIA_MAC), address_of(0));
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	/* this message is reported as a gap, because its sequence number is 2
	 * and two frames are missing */
	assert_int_equal(hvduo_sent(hvduo_simple(2, 8)), OK);
	later(h);
	hvarea_meet(h, &turn);
	return 0;
}

static int is_moved(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0;

	hvduo_peer_posts(h, b);
	hvrig_store(r, HVIA_MAC, ADDRESS + 1);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(r->desc[0].d.status, 0);
	assert_int_equal(counted(b, 1, "drop_vi"),
			 0); /* the MAC has filtered the frame */
	hvrig_store(r, HVIA_MAC, address_of(1));
	hvarea_meet(h, &turn);
	/* the frame is dropped, because its sender is not the VI's remote
	 * station */
	hvarea_meet(h, &turn);
	assert_int_equal(r->desc[0].d.status, 0);
	assert_int_equal(counted(b, 1, "drop_vi"), 1);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(r->desc[0].d.status, RECV);
	assert_int_equal(counted(b, 1, "gaps"), 1);
	return 0;
}

static void a_card_has_the_address_that_it_was_given(void **state)
{
	hvduo.of = "n0.nic";
	hvduo.param = "mac_addr";
	hvduo.value = "0x060504030201";
	hvduo_run(moves, is_moved, 1);
}

/* ---- immediate data in succession ---- */

static int writes_twice(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d[2];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 2; i++) {
		d[i] = hvrig_desc(r, i, HVIA_OP_RDMAWRITE | HVIA_OP_IMMEDIATE);
		hvrig_remote(d[i], (uintptr_t)hvduo.buf[1] + 8 * i,
			     hvduo.handle[1]);
		hvrig_seg(d[i], hvduo.buf[0], hvduo.handle[0], 8);
		d[i]->d.immediate = 0x100 + i;
	}
	memset(hvduo.buf[0], 9, 8);
	hvrig_post(r, VI, HVIA_Q_SEND, d[0]);
	hvrig_post(r, VI, HVIA_Q_SEND, d[1]);
	assert_true(hvrig_wait(r, d[1]) & HVIA_ST_DONE);
	later(h);
	hvarea_meet(h, &turn);
	return 0;
}

static int has_both(struct weft_host *h, struct bench *b)
{
	const struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_peer_posts(h, b);
	d = hvduo.rig[1].desc;
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(d[i].d.status,
				 HVIA_ST_DONE | HVIA_ST_IMMEDIATE |
					 HVIA_ST_REMOTE_RDMA_WRITE);
		assert_int_equal(d[i].d.immediate, 0x100 + i);
		assert_int_equal(d[i].d.length, 8);
	}
	assert_int_equal(hvduo.buf[1][15], 9);
	assert_int_equal(hvduo.buf[1][16], 0);
	hvduo_no_error(&hvduo.rig[1]);
	return 0;
}

/* The second packet arrives while the descriptor of the first is completed,
 * before the next descriptor has been fetched. */
static void a_descriptor_is_fetched_for_immediate_data(void **state)
{
	hvduo.param = "t_visible";
	hvduo.value = "400";
	hvduo_run(writes_twice, has_both, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_descriptor_goes_on_in_another_page),
		cmocka_unit_test(a_receive_descriptor_goes_on_in_another_page),
		cmocka_unit_test(wrong_entries_in_host_memory_are_refused),
		cmocka_unit_test(a_card_has_the_address_that_it_was_given),
		cmocka_unit_test(a_descriptor_is_fetched_for_immediate_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
