/* SPDX-License-Identifier: Apache-2.0 */
/* Routing frames of the Host Port in crossbars (hostport.md 3.2, 3.3): bytes at
 * every hop, random routes against their list of outputs, malformed frames. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "unit/grid.h"
#include "systems/hostport/nic/wire.h"

/* CMD: FAST_SEND of one word */
enum { VPID = 0xfff1, CMD = 0x0011, CLASS = 0 };

static struct weft_sim *sim;

static int setup(void **state)
{
	sim = weft_sim_new(1);
	return sim ? 0 : -1;
}

static int teardown(void **state)
{
	weft_sim_free(sim);
	return 0;
}

static struct weft_frame *packet(const struct hp_route *r)
{
	struct hp_head h = { .vpid = VPID, .bytes = 8 };

	h.c[0] = HP_C0(CMD, 0x12345678, 0x9abc);
	h.c[2] = 0x1122334455667788;
	h.c[3] = HP_C3(r->dtag, 8);
	return hp_pkt_new(sim, r, &h, CLASS);
}

static void assert_frame(const struct weft_frame *f, const char *want,
			 uint32_t n)
{
	assert_memory_equal(weft_slice_data(f->payload), want, n);
}

/* ---- the specification's example, one hop longer each way ---- */

static void every_crossbar_takes_one_hop_off_the_first_element(void **state)
{
	static const struct hp_route r = { .dhash = 0xff0c,
					   .nf = 4,
					   .fwd = { 0x44, 0x62, 0x53, 0x01 },
					   .nr = 2,
					   .back = { 0x71, 0x11 } };
	static const struct {
		uint32_t out;
		const char *left;
	} hop[] = {
		{ 3, "\xff\x0c\x43\x62\x53\x01\xf1\xff\xf1\xf0\x71\x11" },
		{ 3, "\xff\x0c\x42\x62\x53\x01\xf1\xff\xf1\xf0\x71\x11" },
		{ 3, "\xff\x0c\x41\x62\x53\x01\xf1\xff\xf1\xf0\x71\x11" },
		{ 3, "\xff\x0c\x62\x53\x01\xf1\xff\xf1\xf0\x71\x11\xff" },
		{ 5, "\xff\x0c\x61\x53\x01\xf1\xff\xf1\xf0\x71\x11\xff" },
		{ 5, "\xff\x0c\x53\x01\xf1\xff\xf1\xf0\x71\x11\xff\xff" },
		{ 4, "\xff\x0c\x52\x01\xf1\xff\xf1\xf0\x71\x11\xff\xff" },
		{ 4, "\xff\x0c\x51\x01\xf1\xff\xf1\xf0\x71\x11\xff\xff" },
		{ 4, "\xff\x0c\x01\xf1\xff\xf1\xf0\x71\x11\xff\xff\xff" },
		{ 0, "\xff\x0c\xf1\xff\xf1\xf0\x71\x11\xff\xff\xff\xff" },
	};
	struct weft_frame *f = packet(&r);

	assert_frame(f,
		     "\xff\x0c\x44\x62\x53\x01\xf1\xff\xf1\xf0\x71\x11"
		     "\xff\xff\xff\xff\x00\x11\x12\x34",
		     20);
	for (uint32_t i = 0; i < sizeof(hop) / sizeof(hop[0]); i++) {
		assert_int_equal(ex_runs_step(f), hop[i].out);
		assert_frame(f, hop[i].left, 12);
	}
	/* the bytes behind the routing frame have not changed */
	assert_memory_equal((char *)weft_slice_data(f->payload) + 12,
			    "\xff\xff\xff\xff\x00\x11\x12\x34", 8);
	weft_frame_free(f);
}

/* ---- random routes ---- */

/* Draws the elements of a random route and the list of its outputs. Returns the
 * number of outputs. */
static uint32_t random_way(struct weft_rng *g, struct hp_route *r,
			   uint8_t *outs)
{
	uint32_t n = 0, k = (uint32_t)weft_rng_below(g, 20);

	r->nf = 0;
	while (k--) {
		uint32_t port = (uint32_t)weft_rng_below(g, 6);
		uint32_t hops = 1 + (uint32_t)weft_rng_below(g, 4);

		if (n + hops > HP_HOPS_MAX)
			break;
		r->fwd[r->nf++] = (uint8_t)((4 + port) << 4 | hops);
		while (hops--)
			outs[n++] = (uint8_t)(3 + port);
	}
	outs[n++] = (uint8_t)weft_rng_below(g, 2);
	r->fwd[r->nf++] = (uint8_t)(outs[n - 1] << 4 | 1);
	r->nr = (uint8_t)weft_rng_below(g, 20);
	for (uint32_t i = 0; i < r->nr; i++)
		r->back[i] = (uint8_t)(0x41 + weft_rng_below(g, 15));
	return n;
}

static void what_arrives_is_what_was_sent_on_any_way(void **state)
{
	struct weft_rng g;

	weft_rng_seed(&g, 7, "ways");
	for (uint32_t turn = 0; turn < 2000; turn++) {
		struct hp_route r = { .dhash = (uint16_t)weft_rng_below(
					      &g, 65536) };
		uint8_t outs[HP_HOPS_MAX + 1];
		uint32_t n = random_way(&g, &r, outs);
		struct weft_frame *f = packet(&r);
		struct hp_head h;

		assert_non_null(f);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(hp_pkt_head(f, UINT32_MAX, &h),
					 HP_PARSE_GOOD);
			assert_int_equal(ex_runs_step(f), outs[i]);
		}
		/* at the end of the route no output is left */
		assert_int_equal(ex_runs_step(f), EX_NIB_FILL);
		for (uint32_t here = 0; here < f->payload.len - 8; here += 2)
			assert_int_not_equal(hp_pkt_head(f, here, &h),
					     HP_PARSE_BAD);
		assert_int_equal(hp_pkt_head(f, UINT32_MAX, &h), HP_PARSE_GOOD);
		assert_int_equal(h.vpid, VPID);
		assert_int_equal(h.back.nf, r.nr);
		assert_memory_equal(h.back.fwd, r.back, r.nr);
		assert_true(h.c[0] == HP_C0(CMD, 0x12345678, 0x9abc));
		assert_true(h.c[2] == 0x1122334455667788);
		assert_int_equal(h.bytes, 8);
		assert_int_equal(h.skip, f->payload.len - 8);
		weft_frame_free(f);
	}
}

/* ---- malformed frames ---- */

static void put_bytes(struct weft_frame *f, const void *b, uint32_t n)
{
	f->payload = weft_slice_word(sim, n);
	memcpy(weft_slice_data(f->payload), b, n);
}

/* For every n, keeps the first n bytes of a frame with branches. Either the
 * frame ends there, or its other bytes have not arrived yet. The parser rejects
 * the frame or asks for more bytes, and reads none beyond n. */
static void a_head_with_branches_is_whole_or_not_there(void **state)
{
	static const uint8_t b[] = { 0xff, 0x0c, 0xf2, 5,    0x41, 0x62,
				     0x53, 0x74, 0x85, 0xf1, 0xff, 0xf1,
				     0xf0, 0x71, 0x11, 0xff };
	uint8_t all[16 + 5 * 8] = { 0 };
	struct hp_head h;

	memcpy(all, b, sizeof(b));
	all[17] = CMD; /* words c0 to c3 and the user's word */
	for (uint32_t n = 0; n <= sizeof(all); n++) {
		struct weft_frame *f = weft_frame_new(sim);
		bool head = n >= sizeof(all) - 8;

		put_bytes(f, all, n ? n : 1);
		if (n)
			assert_int_equal(hp_pkt_head(f, UINT32_MAX, &h),
					 head ? HP_PARSE_GOOD : HP_PARSE_BAD);
		weft_frame_free(f);
		for (int rest = 0; rest <= 0xff; rest += 0xff) {
			f = weft_frame_new(sim);
			put_bytes(f, all, sizeof(all));
			memset((char *)weft_slice_data(f->payload) + n, rest,
			       head ? 0 : sizeof(all) - n);
			assert_int_equal(hp_pkt_head(f, n, &h),
					 head ? HP_PARSE_GOOD : HP_PARSE_MORE);
			weft_frame_free(f);
		}
	}
	assert_int_equal(h.n_tree, 5);
	assert_memory_equal(h.tree, b + 4, 5);
	assert_int_equal(h.vpid, VPID);
	assert_int_equal(h.back.nf, 2);
}

static void branches_have_at_most_48_bytes(void **state)
{
	uint8_t b[96] = { 0xff, 0x0c, 0xf2 };
	struct hp_head h;

	for (uint32_t n = 0; n <= 52; n++) {
		uint8_t *v = b + 4 + n; /* behind the branches */
		struct weft_frame *f = weft_frame_new(sim);

		b[3] = (uint8_t)n;
		memset(b + 4, 0x41, n);
		memset(v, 0xff, (size_t)(b + 64 - v));
		v[0] = 0xf1;
		put_bytes(f, b, sizeof(b));
		assert_int_equal(hp_pkt_head(f, UINT32_MAX, &h),
				 n <= 48 ? HP_PARSE_GOOD : HP_PARSE_BAD);
		if (n <= 48) {
			assert_int_equal(h.n_tree, n);
			assert_memory_equal(h.tree, b + 4, n);
		}
		weft_frame_free(f);
	}
}

static void elements_that_are_none_are_not_followed(void **state)
{
	static const uint8_t bad[] = { 0x40, 0x90, 0x00, 0x02, 0x11 + 1, 0x21,
				       0x31, 0xa0, 0xa2, 0xb0, 0xc1,	 0xef };

	for (uint32_t i = 0; i < sizeof(bad); i++) {
		struct hp_route r = { .nf = 2, .fwd = { 0x51, bad[i] } };
		struct weft_frame *f = packet(&r);
		struct hp_head h;

		assert_int_equal(ex_runs_step(f), 4);
		assert_int_equal(ex_runs_step(f), EX_NIB_FILL);
		/* the element remains, so that the high availability port can
		 * parse the rest */
		assert_int_equal(((uint8_t *)weft_slice_data(f->payload))[2],
				 bad[i]);
		assert_int_equal(hp_pkt_head(f, UINT32_MAX, &h), HP_PARSE_GOOD);
		assert_int_equal(h.vpid, VPID);
		weft_frame_free(f);
	}
}

static void reserved_elements_lead_to_the_service_port(void **state)
{
	for (uint32_t el = 0xf0; el <= 0xff; el++) {
		struct hp_route r = { .nf = 2, .fwd = { 0x51, (uint8_t)el } };
		struct weft_frame *f = packet(&r);

		assert_int_equal(ex_runs_step(f), 4);
		assert_int_equal(ex_runs_step(f), EX_RUNS_SERVICE);
		weft_frame_free(f);
	}
}

static void ways_that_are_too_long_are_not_sent(void **state)
{
	struct hp_route none = { .nf = 0 };
	struct hp_route hops = { .nf = 6,
				 .fwd = { 0x4f, 0x4f, 0x4f, 0x4f, 0x43, 1 } };
	struct hp_route bytes = { .nf = 33, .nr = 25 };

	assert_null(packet(&none));
	assert_true(hp_route_fits(&hops)); /* 63 */
	hops.fwd[4]++;
	assert_null(packet(&hops));
	memset(bytes.fwd, 0x41, 32);
	bytes.fwd[32] = 1;
	memset(bytes.back, 0x41, 25);
	assert_null(packet(&bytes)); /* 65 bytes */
	bytes.nr = 24;
	assert_true(hp_route_fits(&bytes));
}

static void a_route_entry_has_at_most_48_elements_each_way(void **state)
{
	enum { HEAD = 8, MOST = 48, END = HEAD + MOST + 1 + MOST };
	uint8_t b[END + 1] = { 1, 2, 3, 4, 5, 6, MOST, MOST };
	struct hp_route r;

	b[HEAD + MOST - 1] = 7;
	b[HEAD + MOST + 1] = 8;
	b[END - 1] = 9;
	assert_true(hp_route_parse(&r, b, END));
	assert_int_equal(r.dtag, 0x01020304);
	assert_int_equal(r.dhash, 0x0506);
	assert_int_equal(r.nf, MOST);
	assert_int_equal(r.nr, MOST);
	assert_int_equal(r.fwd[MOST - 1], 7);
	assert_int_equal(r.back[0], 8);
	assert_int_equal(r.back[MOST - 1], 9);
	assert_false(hp_route_parse(&r, b, END - 1));
	b[7]++;
	assert_false(hp_route_parse(&r, b, END + 1));
	b[7] = 0; /* no return route, and therefore no separator */
	assert_true(hp_route_parse(&r, b, HEAD + MOST));
	assert_false(hp_route_parse(&r, b, HEAD + MOST - 1));
	b[6]++;
	assert_false(hp_route_parse(&r, b, END + 1));
	b[6] = 0;
	assert_false(hp_route_parse(&r, b, END));
	assert_false(hp_route_parse(&r, b, HEAD - 1));
}

/* Checks that routes have as few elements as possible. The upper half of an
 * element is 4..9: forward and back in each dimension. */
static void a_way_is_as_few_elements_as_can_say_it(void **state)
{
	static const struct {
		uint32_t x, y, z, s, d;
		int n;
		const char *el;
	} v[] = {
		{ 8, 0, 0, 3, 3, 0, "" },
		{ 40, 0, 0, 0, 1, 1, "\x41" },
		{ 40, 0, 0, 0, 15, 1, "\x4f" },
		{ 40, 0, 0, 0, 16, 2, "\x4f\x41" },
		{ 40, 0, 0, 18, 0, 2, "\x5f\x53" },
		{ 8, 8, 8, 0, 2 + 8 * 3 + 64 * 1, 3, "\x42\x63\x81" },
		{ 8, 8, 8, 2 + 8 * 3 + 64 * 1, 0, 3, "\x52\x73\x91" },
		{ 8, 8, 0, 0, 8 * 5, 1, "\x73" },
		/* 705 = 47 * 15 hops fit, but 706 hops need one element too
		 * many */
		{ 1413, 0, 0, 0, 705, 47, "\x4f\x4f\x4f\x4f" },
		{ 1413, 0, 0, 0, 706, -1, "" },
	};
	uint8_t el[HP_ROUTE_MAX];

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct topology t = grid(v[i].x, v[i].y, v[i].z, true);

		assert_int_equal(hp_route_topo(&t, v[i].s, v[i].d, el), v[i].n);
		assert_memory_equal(el, v[i].el, strlen(v[i].el));
	}
}

static void damaged_frames_are_read_within_their_bytes(void **state)
{
	struct weft_rng g;

	weft_rng_seed(&g, 3, "bytes");
	for (uint32_t turn = 0; turn < 20000; turn++) {
		struct weft_frame *f = weft_frame_new(sim);
		uint32_t n = (uint32_t)weft_rng_below(&g, 80), out;
		struct hp_head h;
		uint8_t *b;

		f->payload = weft_slice_word(sim, n);
		b = weft_slice_data(f->payload);
		for (uint32_t i = 0; i < n; i++)
			b[i] = (uint8_t)(weft_rng_below(&g, 4)
						 ? weft_rng_below(&g, 256)
						 : 0xf0 + i % 3);
		out = ex_runs_step(f);
		assert_true(out < EX_PORTS || out == EX_NIB_FILL);
		hp_pkt_head(f, UINT32_MAX, &h);
		weft_frame_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_crossbar_takes_one_hop_off_the_first_element),
		cmocka_unit_test(what_arrives_is_what_was_sent_on_any_way),
		cmocka_unit_test(
			a_route_entry_has_at_most_48_elements_each_way),
		cmocka_unit_test(a_way_is_as_few_elements_as_can_say_it),
		cmocka_unit_test(a_head_with_branches_is_whole_or_not_there),
		cmocka_unit_test(branches_have_at_most_48_bytes),
		cmocka_unit_test(elements_that_are_none_are_not_followed),
		cmocka_unit_test(reserved_elements_lead_to_the_service_port),
		cmocka_unit_test(ways_that_are_too_long_are_not_sent),
		cmocka_unit_test(damaged_frames_are_read_within_their_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
