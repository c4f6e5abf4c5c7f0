/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ATOLL's wire format (hostport.md 2.1, 2.2;
 * systems/atoll/network/wire.h). Flits are encoded and decoded, and compared
 * with characters that were worked out by hand. Damaged flits are detected. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/atoll/network/wire.h"
#include "weft/sim.h"

/* BITS of a symbol: 8 data bits, control, bad. */
enum { K = WEFT_SYM_K, MAX = 80, BITS = 10 };

static struct weft_sim *sim;

static struct weft_frame *flit(enum at_kind kind, uint32_t flags, uint32_t seq,
			       const uint8_t *p, uint32_t n)
{
	struct weft_frame *f = weft_frame_new(sim);

	*at_line(f) = (struct at_line){ .kind = (uint8_t)kind,
					.flags = (uint8_t)flags,
					.seq = (uint8_t)seq };
	f->payload = weft_slice_word(sim, n);
	if (n)
		memcpy(weft_slice_data(f->payload), p, n);
	return f;
}

/* Returns the frame that these characters decode to. */
static struct weft_frame *heard(const uint16_t *sym, uint32_t n)
{
	struct weft_frame *f = weft_frame_new(sim);

	f->raw = weft_raw_new(sim, n ? n : 1);
	f->raw->n = n;
	memcpy(f->raw->sym, sym, n * sizeof(*sym));
	at_decode(f);
	assert_null(f->raw);
	return f;
}

static bool is_bad(const uint16_t *sym, uint32_t n)
{
	struct weft_frame *f = heard(sym, n);
	bool bad = at_line(f)->flags == AT_BAD;

	weft_frame_free(f);
	return bad;
}

static uint32_t line_of(struct weft_frame *f, uint16_t *sym)
{
	uint32_t n = atoll_wire.encode(f, sym, MAX);

	assert_int_equal(n, at_words(f));
	assert_int_equal(atoll_wire.encode(f, NULL, 0), n);
	weft_frame_free(f);
	return n;
}

/* Computes a CRC bit by bit: CRC-16 (0x1021, start 0xffff) or CRC-8 (0x07,
 * start 0). */
static uint32_t crc(uint32_t c, uint32_t poly, uint32_t bits, const uint8_t *p,
		    uint32_t n)
{
	for (uint32_t i = 0; i < 8 * n; i++) {
		uint32_t in = p[i / 8] >> (7 - i % 8) & 1;
		uint32_t top = c >> (bits - 1) & 1;

		c = c << 1 & ((1u << bits) - 1);
		c ^= top ^ in ? poly : 0;
	}
	return c;
}

static void characters_are_those_of_the_layout(void **state)
{
	const uint8_t route[] = { at_char(4), at_char(1) };
	const uint8_t data[] = { 0xfe, 0x01, 0x80 };
	const uint16_t head[] = { K | 0x10, 7, K | 0x0c, K | 0x09, K | 0x30 };
	const uint8_t under[] = { 200, 0xfe, 0x01, 0x80 }, st[] = { 0x5a, 9 };
	uint32_t c = crc(0xffff, 0x1021, 16, under, 4);
	const uint16_t last[] = { K | 0x20,
				  200,
				  0xfe,
				  0x01,
				  0x80,
				  (uint16_t)(c >> 8),
				  (uint16_t)(c & 0xff),
				  K | 0x40 };
	const uint16_t said[] = { K | 0x5a, 9,
				  (uint16_t)crc(0, 0x07, 8, st, 2) };
	uint16_t sym[MAX];

	assert_int_equal(line_of(flit(AT_HEAD, 0, 7, route, 2), sym), 5);
	assert_memory_equal(sym, head, sizeof(head));
	assert_int_equal(line_of(flit(AT_DATA, AT_EOP, 200, data, 3), sym), 8);
	assert_memory_equal(sym, last, sizeof(last));
	line_of(flit(AT_DATA, 0, 200, data, 3), sym);
	assert_int_equal(sym[7], K | 0x30);
	assert_int_equal(
		line_of(flit(AT_STATE, AT_STOP | AT_ASK, 9, NULL, 0), sym), 3);
	assert_memory_equal(sym, said, sizeof(said));
}

static void each_character_has_its_part(void **state)
{
	const uint8_t bytes[] = { 3, 4 };
	static const struct {
		enum at_kind kind;
		uint32_t n;
		uint8_t part[8];
	} row[] = {
		{ AT_HEAD,
		  5,
		  { WEFT_PART_CONTROL, WEFT_PART_SEQ, WEFT_PART_ROUTE,
		    WEFT_PART_ROUTE, WEFT_PART_CONTROL } },
		{ AT_DATA,
		  7,
		  { WEFT_PART_CONTROL, WEFT_PART_SEQ, WEFT_PART_PAYLOAD,
		    WEFT_PART_PAYLOAD, WEFT_PART_CRC, WEFT_PART_CRC,
		    WEFT_PART_CONTROL } },
		{ AT_STATE,
		  3,
		  { WEFT_PART_CREDIT, WEFT_PART_CREDIT, WEFT_PART_CREDIT } },
	};
	uint16_t sym[MAX];

	for (uint32_t r = 0; r < 3; r++) {
		struct weft_frame *f = flit(row[r].kind, 0, 1, bytes, 2);

		assert_int_equal(at_encode_parts(f, sym, row[r].n), row[r].n);
		for (uint32_t i = 0; i < row[r].n; i++)
			assert_int_equal(sym[i] >> WEFT_PART_SHIFT,
					 row[r].part[i]);
		/* nothing is written, because the array is too short */
		sym[0] = 0x7777;
		assert_int_equal(at_encode_parts(f, sym, row[r].n - 1),
				 row[r].n);
		assert_int_equal(atoll_wire.encode(f, sym, row[r].n - 1),
				 row[r].n);
		assert_int_equal(sym[0], 0x7777);
		weft_frame_free(f);
	}
}

static void what_was_said_is_heard(void **state)
{
	uint8_t bytes[AT_FLIT];
	uint16_t sym[MAX];

	for (uint32_t i = 0; i < AT_FLIT; i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	for (uint32_t n = 0; n <= AT_FLIT; n++)
		for (uint32_t k = AT_HEAD; k <= AT_STATE; k++) {
			uint32_t flags = k == AT_DATA	 ? n & 1
					 : k == AT_STATE ? n & 15
							 : 0;
			uint32_t len = k == AT_STATE ? 0 : n;
			uint32_t words = line_of(
				flit(k, flags, 255 - n, bytes, len), sym);
			struct weft_frame *f = heard(sym, words);

			assert_int_equal(at_line(f)->kind, k);
			assert_int_equal(at_line(f)->flags, flags);
			assert_int_equal(at_line(f)->seq, 255 - n);
			assert_int_equal(f->payload.len, len);
			if (len)
				assert_memory_equal(weft_slice_data(f->payload),
						    bytes, len);
			weft_frame_free(f);
		}
}

/* The decoder detects any wrong bit of a data flit or state flit. In a head it
 * accepts wrong data bits of the sequence number and of routing characters,
 * because the link checks the sequence and the crossbar checks parity (2.2). */
static void a_bit_that_is_wrong_is_noticed(void **state)
{
	const uint8_t bytes[] = { 9, 0x0c, 5, 6 };
	uint16_t sym[MAX];

	for (uint32_t k = AT_HEAD; k <= AT_STATE; k++) {
		uint32_t n = line_of(flit(k, k == AT_DATA, 77, bytes, 4), sym);

		assert_false(is_bad(sym, n));
		for (uint32_t bit = 0; bit < BITS * n; bit++) {
			uint32_t at = bit / BITS;
			bool open = k == AT_HEAD && at && at < n - 1 &&
				    bit % BITS < 8;

			sym[at] ^= (uint16_t)(1 << bit % BITS);
			assert_int_equal(is_bad(sym, n), !open);
			sym[at] ^= (uint16_t)(1 << bit % BITS);
		}
	}
}

static void a_flit_that_is_too_short_or_too_long_is_bad(void **state)
{
	const uint8_t bytes[] = { 9, 0x0c };
	uint16_t sym[MAX];

	for (uint32_t k = AT_HEAD; k <= AT_STATE; k++) {
		uint32_t n = line_of(flit(k, 0, 77, bytes, 2), sym);

		for (uint32_t i = 0; i < n; i++)
			assert_true(is_bad(sym, i));
		/* Repeats the last character. In a head this makes a route of
		 * wrong parity. */
		sym[n] = sym[n - 1];
		assert_int_equal(is_bad(sym, n + 1), k != AT_HEAD);
	}
	/* a head cannot be an end */
	line_of(flit(AT_HEAD, AT_EOP, 77, bytes, 2), sym);
	assert_int_equal(sym[4], K | 0x40);
	assert_true(is_bad(sym, 5));
	/* first and last character are right, but a character between them is
	 * not */
	for (uint32_t i = 0; i < 3; i++)
		sym[i] = i == 1 ? 7 : i ? K | 0x30 : K | 0x20;
	assert_true(is_bad(sym, 3));
	assert_true(is_bad((uint16_t[]){ K | 0x20, 7, 1, K | 0x30 }, 4));
	for (uint32_t i = 2; i < AT_FLIT + 4; i++)
		sym[i] = K | 0x0c;
	sym[0] = K | 0x10;
	sym[AT_FLIT + 2] = K | 0x30;
	assert_false(is_bad(sym, AT_FLIT + 3));
	sym[AT_FLIT + 2] = K | 0x0c;
	sym[AT_FLIT + 3] = K | 0x30;
	assert_true(is_bad(sym, AT_FLIT + 4));
}

static int setup(void **state)
{
	sim = weft_sim_new(1);
	return !sim;
}

static int teardown(void **state)
{
	weft_sim_free(sim);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_those_of_the_layout),
		cmocka_unit_test(each_character_has_its_part),
		cmocka_unit_test(what_was_said_is_heard),
		cmocka_unit_test(a_bit_that_is_wrong_is_noticed),
		cmocka_unit_test(a_flit_that_is_too_short_or_too_long_is_bad),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
