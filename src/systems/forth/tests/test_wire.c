/* SPDX-License-Identifier: Apache-2.0 */
/* Wire format against the vectors of forth.md 4.3 to 4.8 and 4.12. */
#include <stdlib.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "systems/forth/link/port.h"

static struct weft_frame *packet(struct weft_sim *sim, uint64_t header,
				 const uint64_t *data)
{
	struct weft_frame *f = weft_frame_new(sim);
	uint32_t n = forth_hdr_size(header);

	f->flags = FORTH_F_PACKET;
	f->u[FORTH_U_HEADER] = header;
	f->payload = weft_slice_new(sim, n * 8);
	memcpy(weft_slice_data(f->payload), data, n * 8);
	return f;
}

static void shape(struct weft_frame *f, uint32_t layout, uint32_t links,
		  uint32_t lane, uint32_t credits, uint32_t wire_len)
{
	struct forth_shape s = { (uint8_t)layout,    (uint8_t)links,
				 (uint8_t)lane,	     (uint8_t)credits,
				 (uint16_t)wire_len, 0 };

	forth_shape_set(f, s);
}

/* Parses symbols as the specification writes them: "K:BC K:FB 80 A0 | ..". */
static uint32_t parse(const char *text, uint16_t *sym)
{
	uint32_t n = 0;

	while (*text) {
		uint16_t k = 0;

		if (*text == ' ' || *text == '|') {
			text++;
			continue;
		}
		if (text[0] == 'K') {
			k = WEFT_SYM_K;
			text += 2;
		}
		sym[n++] = (uint16_t)(strtoul(text, NULL, 16) | k);
		text += 2;
	}
	return n;
}

static void golden(struct weft_frame *f, const char *text)
{
	uint16_t want[512], got[512];
	uint32_t n = parse(text, want), i;

	assert_int_equal(forth_wire.encode(f, NULL, 0), n);
	assert_int_equal(forth_wire.encode(f, got, 512), n);
	for (i = 0; i < n; i++)
		assert_int_equal(got[i], want[i]);
	weft_frame_free(f);
}

static const uint64_t zero_one_two[3] = { 0, 1, 2 };

static void golden_frames(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	uint64_t h = forth_header(1, 0, 3, 0x10000000), q = 0x0123456789ABCDEF;
	struct weft_frame *f;

	assert_true(h == 0x0108000310000000);
	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_WORD, 1, 0, 1, 24);
	forth_frame_set_credit(f, 0, forth_credit(1, 0x20));
	golden(f,
	       "K:BC K:FB 80 A0 | 01 08 00 03 | 10 00 00 00 | 10 35 00 00 |"
	       "00 00 00 00 | 00 00 00 00 | 00 00 00 00 | 00 00 00 01 |"
	       "00 00 00 00 | 00 00 00 02 | 00 2E ED 32");
	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_PACKED, 1, 0, 0, 24);
	golden(f,
	       "K:BC K:FB 01 08 | 00 03 10 00 | 00 00 10 35 |"
	       "00 00 00 00 | 00 00 00 00 | 00 00 00 00 | 00 00 00 01 |"
	       "00 00 00 00 | 00 00 00 02 | 00 2E ED 32");
	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_PACKED, 1, 0, 1, 24);
	forth_frame_set_credit(f, 0, forth_credit(1, 0x20));
	golden(f,
	       "K:BC K:FB 80 A0 | 80 A0 01 08 | 00 03 10 00 | 00 00 10 35 |"
	       "00 00 00 00 | 00 00 00 00 | 00 00 00 00 | 00 00 00 01 |"
	       "00 00 00 00 | 00 00 00 02 | 00 2E ED 32");
	f = packet(sim, forth_header(0, 0, 1, 0), &q);
	shape(f, FORTH_WORD, 1, 0, 0, 8);
	golden(f,
	       "K:BC K:FB 00 00 | 00 08 00 01 | 00 00 00 00 | 08 C2 00 00 |"
	       "01 23 45 67 | 89 AB CD EF | 09 EE DE 06");
	weft_sim_free(sim);
}

static void credit_only_frames(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	uint32_t layout, i;

	for (layout = FORTH_WORD; layout <= FORTH_PACKED; layout++) {
		struct weft_frame *f = weft_frame_new(sim);

		for (i = 0; i < 2; i++)
			forth_frame_set_credit(
				f, i, forth_credit(3 + 2 * i, i ? 0x2A : 0x7F));
		shape(f, layout, 1, 0, 2, 0);
		golden(f, layout == FORTH_WORD
				  ? "K:BC K:FB C1 FF | C2 AA 00 00"
				  : "K:BC K:FB C1 FF | C2 AA K:BC K:BC");
	}
	weft_sim_free(sim);
}

/* byte i of a beat is on link i mod L. Every field starts on a beat. */
static void bytes_of_a_beat_go_round_the_links(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	uint64_t h = forth_header(1, 0, 3, 0x10000000);
	struct weft_frame *f;

	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_WORD, 2, 0, 1, 24);
	forth_frame_set_credit(f, 0, 0x80A0);
	golden(f,
	       "K:BC K:FB 80 A0 | 01 00 10 00 | 10 00 00 00 |"
	       "00 00 00 00 | 00 00 00 00 | 00 00 00 00 | 00 ED 00 00");
	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_WORD, 2, 1, 1, 24);
	forth_frame_set_credit(f, 0, 0x80A0);
	golden(f,
	       "K:BC K:FB 00 00 | 08 03 00 00 | 35 00 00 00 |"
	       "00 00 00 00 | 00 00 00 01 | 00 00 00 02 | 2E 32 00 00");
	f = packet(sim, h, zero_one_two);
	shape(f, FORTH_WORD, 4, 3, 0, 24);
	golden(f,
	       "K:BC K:FB 00 00 | 03 00 00 00 | 00 00 00 00 |"
	       "00 00 00 01 | 00 02 00 00 | 32 00 00 00");
	weft_sim_free(sim);
}

/* 4.4, column "complemented": vectors with the three qwords 0, 1, 2. */
static void body_crcs_may_be_complemented(void **state)
{
	static const uint64_t data[] = { 0, 1, 2 };
	static const uint8_t want[] = { 0xFF, 0xD1, 0x12, 0xCD };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f =
		packet(sim, forth_header(1, 0, 3, 0x10000000), data);
	uint16_t got[512];
	uint32_t n;

	shape(f, FORTH_WORD, 1, 0, 0, 24);
	f->flags |= FORTH_F_CPL;
	n = forth_wire.encode(f, got, 512);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(got[n - 4 + i] & 0xFF, want[i]);
	weft_frame_free(f);
	weft_sim_free(sim);
}

static void credit_vectors(void **state)
{
	static const struct {
		uint32_t flow, value;
		uint16_t credit;
	} v[] = { { 0, 0, 0x8000 },	{ 0, 1, 0xC001 },
		  { 1, 0x20, 0x80A0 },	{ 3, 0x7F, 0xC1FF },
		  { 5, 0x2A, 0xC2AA },	{ 64, 1, 0xA001 },
		  { 127, 0x7F, 0xBFFF } };
	uint32_t i, b;

	for (i = 0; i < 7; i++) {
		assert_int_equal(forth_credit(v[i].flow, v[i].value),
				 v[i].credit);
		assert_int_equal(forth_credit_flow(v[i].credit), v[i].flow);
		assert_int_equal(forth_credit_value(v[i].credit), v[i].value);
		assert_true(forth_credit_good(v[i].credit));
		for (b = 0; b < 15; b++)
			assert_false(forth_credit_good(
				(uint16_t)(v[i].credit ^ 1u << b)));
	}
}

static void header_crcs(void **state)
{
	static const struct {
		uint64_t header;
		uint16_t crc;
	} v[] = { { 0, 0x313E },
		  { UINT64_MAX, 0x97DF },
		  { 0x0123456789ABCDEF, 0x986B },
		  { 0x0008000100000000, 0x08C2 },
		  { 0x0548003E1FE00000, 0x9BFF },
		  { 0x7F780200FFFFF000, 0x537D },
		  { 0x05476C4020000000, 0xCFF5 } };
	uint32_t i;

	for (i = 0; i < 7; i++)
		assert_int_equal(forth_crc16(v[i].header), v[i].crc);
	/* 7.3: flow 5, remote notification, resequencing field 0x1DB, 64
	 * qwords */
	assert_true(forth_header_reseq(forth_header(5, FORTH_HDR_REMOTE_NOTIFY,
						    64, 0x20000000),
				       0x1DB) == 0x05476C4020000000);
	assert_int_equal(forth_hdr_reseq(0x05476C4020000000), 0x1DB);
}

/* 4.8, 5.1, 11.8: a packet has the specified number of words on the wire, and
 * consumes the specified number of credits. */
static void packets_have_specified_words_and_charges(void **state)
{
	assert_int_equal(forth_words(FORTH_WORD, 1, 496), 129);
	assert_int_equal(forth_words(FORTH_WORD, 1, 512), 133);
	assert_int_equal(forth_words(FORTH_PACKED, 1, 496), 128);
	assert_int_equal(forth_words(FORTH_PACKED, 1, 512), 132);
	assert_int_equal(forth_words(FORTH_WORD, 1, 24), 11);
	assert_int_equal(forth_words(FORTH_WORD, 2, 4096), 516);
	assert_int_equal(forth_words(FORTH_WORD, 4, 4096), 260);
	assert_int_equal(forth_words(FORTH_WORD, 4, 24), 6);
	assert_int_equal(forth_charge(1, 8), 6);
	assert_int_equal(forth_charge(1, 24), 10);
	assert_int_equal(forth_charge(1, 512), 132);
	assert_int_equal(forth_charge(2, 4096), 514);
	assert_int_equal(forth_credit_words(FORTH_WORD, 1, 1, true), 0);
	assert_int_equal(forth_credit_words(FORTH_WORD, 1, 3, true), 1);
	assert_int_equal(forth_credit_words(FORTH_WORD, 1, 4, true), 2);
	assert_int_equal(forth_credit_words(FORTH_PACKED, 1, 1, true), 1);
	assert_int_equal(forth_credit_words(FORTH_PACKED, 1, 1, false), 0);
	assert_int_equal(forth_credit_words(FORTH_PACKED, 1, 3, false), 1);
}

/* Checks that forth_wire.front writes the first symbols of a frame that has no
 * payload bytes, and stores the length of the whole frame in `all`. */
static void front_as_far_as(uint32_t layout, uint32_t links, uint32_t credits,
			    uint32_t qwords, bool cut)
{
	static const uint64_t data[20];
	struct weft_sim *with = weft_sim_new(1), *without = weft_sim_new(1);
	uint64_t header = forth_header(5, 0, qwords, 0x1000);
	uint16_t a[512], b[512];

	weft_sim_set_payload(without, false);
	for (uint32_t lane = 0; lane < links; lane++) {
		struct weft_frame *f = packet(with, header, data), *g;
		uint32_t n, all;

		f->flags |= cut ? FORTH_F_TRUNC : 0;
		g = weft_frame_new(without);
		g->flags = f->flags;
		g->u[FORTH_U_HEADER] = header;
		g->payload = weft_slice_new(without, f->payload.len);
		shape(f, layout, links, lane, credits, 8 * qwords + 16 * !cut);
		shape(g, layout, links, lane, credits, 8 * qwords + 16 * !cut);
		n = forth_wire.front(g, a, 512, &all);
		assert_int_equal(all, forth_wire.encode(f, b, 512));
		assert_in_range(n, 4, all - 1);
		assert_memory_equal(a, b, n * sizeof(*a));
		assert_int_equal(forth_wire.front(g, NULL, 0, &all), n);
		weft_frame_free(f);
		weft_frame_free(g);
	}
	weft_sim_free(with);
	weft_sim_free(without);
}

static void front_of_a_frame_equals_the_start_of_the_whole(void **state)
{
	for (uint32_t qwords = 1; qwords <= 20; qwords++)
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t links = 1u << i % 4 % 3;

			front_as_far_as(FORTH_WORD, links, i % 3, qwords,
					i > 3);
			front_as_far_as(FORTH_PACKED, 1, i % 3, qwords, i > 3);
		}
}

/* If a frame is longer than the room for its symbols, the encoder returns the
 * length of the frame and writes as many symbols as fit. */
static void an_encoder_writes_no_symbol_behind_its_room(void **state)
{
	enum { ROOM = 11 };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f =
		packet(sim, forth_header(1, 0, 3, 0x10000000), zero_one_two);
	uint16_t all[512], got[ROOM + 1] = { [ROOM] = 0xFFFF };
	uint32_t n;

	shape(f, FORTH_WORD, 1, 0, 0, 24);
	n = forth_wire.encode(f, all, 512);
	assert_true(n > ROOM + 1);
	assert_int_equal(forth_wire.encode(f, got, ROOM), n);
	assert_memory_equal(got, all, ROOM * sizeof(*got));
	assert_int_equal(got[ROOM], 0xFFFF);
	weft_frame_free(f);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_frames),
		cmocka_unit_test(credit_only_frames),
		cmocka_unit_test(bytes_of_a_beat_go_round_the_links),
		cmocka_unit_test(body_crcs_may_be_complemented),
		cmocka_unit_test(credit_vectors),
		cmocka_unit_test(header_crcs),
		cmocka_unit_test(packets_have_specified_words_and_charges),
		cmocka_unit_test(
			front_of_a_frame_equals_the_start_of_the_whole),
		cmocka_unit_test(an_encoder_writes_no_symbol_behind_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
