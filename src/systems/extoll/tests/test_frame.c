/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL cells and control cells as line symbols (extoll.md 3.9, 3.10): known
 * answers for both widths, and the receive machine on damaged cells. */
#include <string.h>

#include "unit/cmocka_all.h"
#include "systems/extoll/network/frame.h"

#define K WEFT_SYM_K

static struct weft_frame *cell_new(struct weft_sim *sim, struct weft_frame *pkt,
				   uint32_t width, uint32_t ctl, uint32_t first,
				   uint32_t flits, bool stomp)
{
	struct weft_frame *f = weft_frame_new(sim);

	f->payload = weft_slice_word(sim, flits * ex_flit_bytes(width));
	ex_cell_fill(f, pkt, width, ctl, first, flits, stomp);
	return f;
}

static struct weft_sim *sim;

static int setup(void **state)
{
	sim = weft_sim_new(1);
	return 0;
}

static int teardown(void **state)
{
	weft_sim_free(sim);
	return 0;
}

/* Makes a packet of one command word and n bytes 0x10, 0x11.. with this
 * route. */
static struct weft_frame *packet(uint32_t n, const uint8_t *route,
				 uint32_t hops)
{
	struct weft_frame *f = weft_frame_new(sim);
	uint32_t i;

	memset(&f->u[4], 0xff, 4 * sizeof(f->u[0]));
	f->u[0] = 0x0807060504030201;
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = (uint8_t)hops };
	for (i = 0; i < hops; i++)
		ex_route_set(f, i, route[i]);
	f->payload = weft_slice_word(sim, n);
	for (i = 0; i < n; i++)
		weft_slice_data(f->payload)[i] = (uint8_t)(0x10 + i);
	return f;
}

static void check_symbols(struct weft_frame *f, const uint16_t *want,
			  uint32_t n)
{
	uint16_t sym[128];
	uint32_t i;

	assert_int_equal(ex_wire_link.encode(f, NULL, 0), n);
	assert_int_equal(ex_wire_link.encode(f, sym, 128), n);
	for (i = 0; i < n; i++)
		if (sym[i] != want[i])
			fail_msg("symbol %u: %03x, not %03x", i, sym[i],
				 want[i]);
	assert_int_equal(n, f->words * ex_flit_bytes(ex_line(f)->width));
}

/* The CRCs here are those of zlib: crc32(CTL SEQ [LEN] bytes). */
static void test_cell_32(void **state)
{
	static const uint8_t route[] = { 3, 5, 0 };
	static const uint16_t want[] = {
		K | 0xfb, 0x0c, 0x2a, 4,    /* VC 0, SOP, EOP */
		0x53,	  0xf0, 0xff, 0xff, /* 3 5 0, filled */
		1,	  2,	3,    4,    5,	  6,	7,    8,    0x10, 0x11,
		0x12,	  0x13, 0x14, 0x15, 0x16, 0x17, 0xd6, 0x72, 0x0b, 0x73,
	};
	struct weft_frame *p = packet(8, route, 3);
	struct weft_frame *f =
		cell_new(sim, p, EX_W32, EX_CTL_SOP | EX_CTL_EOP, 0, 5, 0);

	ex_line(f)->arg = 0x2a;
	check_symbols(f, want, sizeof(want) / sizeof(*want));
	weft_frame_free(f);
	weft_frame_free(p);
}

static void test_cell_16(void **state)
{
	static const uint8_t route[] = { 3, 4, 5, 6, 2 };
	static const uint16_t want[] = {
		K | 0xfb, 0x06, /* VC 2, SOP */
		0x43,	  0xe5, 0x26, 0xff, 1,	      2,	3,
		4,	  5,	6,    7,    8,	      K | 0xfd, 0x07,
		0xbc,	  0x76, 0x71, 0x14, K | 0xbc, 0x50,
	};
	struct weft_frame *p = packet(8, route, 5);
	struct weft_frame *f =
		cell_new(sim, p, EX_W16, EX_CTL_SOP | 2, 0, 6, 0);

	ex_line(f)->arg = 7;
	check_symbols(f, want, sizeof(want) / sizeof(*want));
	weft_frame_free(f);
	weft_frame_free(p);
}

/* Each crossbar takes the lowest nibble. A routing flit without further nibbles
 * is removed (3.9). */
static void test_crossbar_takes_the_lowest_nibble_of_a_route(void **state)
{
	static const uint8_t route[] = { 3, 4, 5, 6, 2 };
	static const struct {
		uint32_t left;
		uint16_t flit[2];
	} at[] = { { 2, { 0xe543, 0xff26 } }, { 2, { 0xfe54, 0xff26 } },
		   { 2, { 0xffe5, 0xff26 } }, { 1, { 0xff26, 0x0201 } },
		   { 1, { 0xfff2, 0x0201 } }, { 0, { 0x0201, 0x0403 } } };
	struct weft_frame *p = packet(8, route, 5);

	for (uint32_t i = 0; i < 6; i++) {
		struct weft_frame *f;
		uint16_t *b;

		ex_meta(p)->pos = (uint8_t)i;
		assert_int_equal(ex_route_left(p, EX_W16), at[i].left);
		f = cell_new(sim, p, EX_W16, EX_CTL_SOP, 0, 2, 0);
		b = (uint16_t *)weft_slice_data(f->payload);
		assert_int_equal(b[0], at[i].flit[0]);
		assert_int_equal(b[1], at[i].flit[1]);
		assert_int_equal(ex_line(f)->route, at[i].left);
		weft_frame_free(f);
	}
	weft_frame_free(p);
}

/* The cell is at the start of a larger buffer. */
static void test_a_cell_fills_the_bytes_of_its_flits_alone(void **state)
{
	static const uint8_t route[] = { 3, 4, 5, 6, 2 };
	enum { BYTES = EX_CELL_BYTES, ALL = 2 * EX_CELL_BYTES };
	struct weft_frame *p = packet(BYTES, route, 5);

	for (uint32_t width = 0; width < 2; width++) {
		struct weft_frame *f = weft_frame_new(sim);
		uint8_t *b;

		f->payload = weft_slice_word(sim, ALL);
		b = memset(weft_slice_data(f->payload), 0xaa, ALL);
		ex_cell_fill(f, p, width, EX_CTL_SOP, 0,
			     BYTES / ex_flit_bytes(width), false);
		assert_int_not_equal(b[BYTES - 1], 0xaa);
		for (uint32_t i = BYTES; i < ALL; i++)
			assert_int_equal(b[i], 0xaa);
		weft_frame_free(f);
	}
	weft_frame_free(p);
}

static void test_control_cells_have_the_specified_symbols(void **state)
{
	static const uint16_t want[2][4] = {
		{ K | 0x3c, 0x01, 0x05, 0x0e }, /* ACK 5 */
		{ K | 0x3c, 0x12, 0x03, 0x74 }, /* 3 credits of VC 2 */
	};
	static const uint8_t is[2][2] = { { EX_C_ACK, 5 },
					  { EX_C_CREDIT + 2, 3 } };

	for (uint32_t i = 0; i < 4; i++) {
		struct weft_frame *f =
			ex_control_new(sim, i / 2, is[i % 2][0], is[i % 2][1]);

		check_symbols(f, want[i % 2], 4);
		weft_frame_free(f);
	}
}

/* ---- the receive machine ---- */

static struct ex_heard heard[8];
static uint32_t n_heard;

static void hear(void *own, const struct ex_heard *h)
{
	assert_true(n_heard < 8);
	heard[n_heard++] = *h;
}

static struct ex_dec decode(uint32_t width, const uint16_t *sym, uint32_t n)
{
	struct ex_dec d = { .width = width, .heard = hear };

	n_heard = 0;
	for (uint32_t i = 0; i < n; i++)
		ex_dec_symbol(&d, sym[i]);
	ex_dec_end(&d);
	return d;
}

/* Encodes a full cell of each width, with or without inverted CRC. */
static uint32_t full(uint32_t width, bool stomp, uint16_t *sym)
{
	static const uint8_t route[] = { 3, 0 };
	struct weft_frame *p = packet(52, route, 2), *f;
	uint32_t n;

	f = cell_new(sim, p, width, EX_CTL_SOP | 1, 0,
		     EX_CELL_BYTES / ex_flit_bytes(width), stomp);
	ex_line(f)->arg = 0x81;
	n = ex_encode_parts(f, sym, 128);
	weft_frame_free(f);
	weft_frame_free(p);
	return n;
}

static void test_round_trip(void **state)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint16_t sym[128];
		uint32_t n = full(i & 1, i & 2, sym), k;

		for (k = 0; k < n; k++)
			sym[k] &= 0xfff;
		decode(i & 1, sym, n);
		assert_int_equal(n_heard, 1);
		assert_int_equal(heard[0].verdict, i & 2 ? EX_VOID : EX_GOOD);
		assert_int_equal(heard[0].ctl, EX_CTL_SOP | 1);
		assert_int_equal(heard[0].arg, 0x81);
		assert_int_equal(heard[0].flits, i & 1 ? 16 : 32);
		assert_int_equal(heard[0].bytes[ex_flit_bytes(i & 1)], 1);
	}
}

/* Damages every single bit of every symbol, which gives a wrong byte, an
 * invalid code or a lost control symbol. The cell then never counts as good or
 * as void. */
static void test_single_errors(void **state)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint16_t sym[128], one[128];
		uint32_t n = full(i & 1, i & 2, sym), k, bit;

		for (k = 0; k < n; k++)
			sym[k] &= 0xfff;
		if (!(i & 1))
			/* the comma behind the cell is not part of it */
			n -= 2;
		for (k = 0; k < n * 10; k++) {
			memcpy(one, sym, sizeof(one));
			bit = k % 10;
			one[k / 10] = bit < 8	 ? one[k / 10] ^ 1u << bit
				      : bit == 8 ? one[k / 10] ^ K
						 : WEFT_SYM_BAD;
			decode(i & 1, one, n);
			for (uint32_t h = 0; h < n_heard; h++)
				assert_true(heard[h].verdict >= EX_BAD_CRC);
		}
	}
}

static void test_control_cell_inside_a_data_cell_is_decoded(void **state)
{
	static const uint16_t cut[] = { K | 0xfb, 0, 1,	   3, /* 4 flits */
					9,	  9, 9,	   9,
					K | 0x3c, 1, 0x05, 0x0e };
	static const uint16_t noise[20] = { [2 ... 18] = WEFT_SYM_BAD };
	struct ex_dec d;

	/* an ACK interrupts a cell, and the ACK is decoded */
	decode(EX_W32, cut, 12);
	assert_int_equal(n_heard, 2);
	assert_int_equal(heard[0].verdict, EX_BAD_CODE);
	assert_int_equal(heard[0].flits, 1);
	assert_false(heard[0].control);
	assert_int_equal(heard[1].verdict, EX_GOOD);
	assert_true(heard[1].control);
	assert_int_equal(heard[1].type, EX_C_ACK);
	/* the beginning of a cell alone */
	decode(EX_W32, cut, 3);
	assert_int_equal(n_heard, 1);
	assert_int_equal(heard[0].flits, 0);
	/* no beginning of a cell */
	d = decode(EX_W32, cut + 1, 7);
	assert_int_equal(n_heard, 0);
	assert_int_equal(d.stray, 7);
	d = decode(EX_W16, noise, 20);
	assert_int_equal(d.worst, 17);
	assert_int_equal(d.code, 17);
	assert_int_equal(n_heard, 0);
}

/* A cell has too many bytes, or its end never arrives. */
static void test_too_long(void **state)
{
	uint16_t sym[200] = { K | 0xfb, 0, 1, 200 };

	for (uint32_t w = 0; w < 2; w++) {
		decode(w, sym, 200);
		assert_int_equal(n_heard, 1);
		assert_int_equal(heard[0].verdict, EX_BAD_CODE);
		assert_int_equal(heard[0].flits, w ? 16 : 32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cell_32),
		cmocka_unit_test(test_cell_16),
		cmocka_unit_test(
			test_crossbar_takes_the_lowest_nibble_of_a_route),
		cmocka_unit_test(
			test_a_cell_fills_the_bytes_of_its_flits_alone),
		cmocka_unit_test(test_control_cells_have_the_specified_symbols),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_single_errors),
		cmocka_unit_test(
			test_control_cell_inside_a_data_cell_is_decoded),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
