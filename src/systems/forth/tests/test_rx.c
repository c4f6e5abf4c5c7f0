/* SPDX-License-Identifier: Apache-2.0 */
/* Receive machine, symbol by symbol: every branch of forth.md 4.9 and 5.7. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

struct bench {
	struct pair p;
	struct forth_port *l;
	struct forth_port_count *c;
	uint16_t sym[256];
	uint32_t n;
	uint64_t now;
};

static const uint64_t data[3] = { 0x1122334455667788, 0x99AABBCCDDEEFF00,
				  0x0123456789ABCDEF };

static void setup(struct bench *b, const char *frame)
{
	const char *set[] = { "frame", frame, "refresh", "0", NULL };

	memset(b, 0, sizeof(*b));
	pair_init(&b->p, set, NULL, NULL);
	pair_start(&b->p);
	b->l = &b->p.n[1]->link;
	b->c = &b->l->count;
	b->now = 100;
	pair_run(&b->p, b->now);
}

/* Writes the symbols of a packet of three qwords. */
static void encode_as(struct bench *b, struct forth_shape s)
{
	struct weft_frame *f = weft_frame_new(b->p.sim);

	f->flags = FORTH_F_PACKET;
	f->u[FORTH_U_HEADER] = forth_header(1, 0, 3, 0x10000000);
	f->payload = weft_slice_new(b->p.sim, 24);
	memcpy(weft_slice_data(f->payload), data, 24);
	for (uint32_t i = 0; i < s.credits; i++)
		forth_frame_set_credit(f, i, forth_credit(0, i + 1));
	forth_shape_set(f, s);
	b->n = forth_wire.encode(f, b->sym, 256);
	weft_frame_free(f);
}

/* Writes the symbols of a packet of three qwords, with `credits` credits before
 * it. */
static void encode(struct bench *b, uint32_t credits)
{
	encode_as(b, (struct forth_shape){ .layout = (uint8_t)b->l->cfg.layout,
					   .links = 1,
					   .credits = (uint8_t)credits,
					   .wire_len = 24 });
}

/* Lets the symbols arrive on `link`. In a bundle they are the share of this
 * link. */
static void share(struct bench *b, uint32_t link)
{
	struct weft_frame *f = weft_frame_new(b->p.sim);

	f->raw = weft_raw_new(b->p.sim, b->n);
	f->raw->n = b->n;
	memcpy(f->raw->sym, b->sym, b->n * sizeof(b->sym[0]));
	f->flags = FORTH_F_PACKET | FORTH_F_CREDITS;
	if (b->l->cfg.links > 1)
		f->flags |= FORTH_F_LINE;
	f->words = (b->n + 3) / 4;
	f->word_fs = b->p.cc;
	f->time = b->now * b->p.cc;
	forth_port_arrive(b->l, link, f);
}

static void arrive(struct bench *b)
{
	share(b, 0);
	b->now += (b->n + 3) / 4 + 64;
	pair_run(&b->p, b->now);
}

static void flip(struct bench *b, uint32_t bit)
{
	b->sym[bit / 8] ^= (uint16_t)(0x80 >> bit % 8);
}

static bool delivered(struct bench *b)
{
	bool ok = b->p.n[1]->received == 1;

	b->p.n[1]->received = 0;
	return ok;
}

static void good_frames(void **state)
{
	static const char *const frame[] = { "word", "packed" };
	uint32_t k, credits;

	for (k = 0; k < 2; k++)
		for (credits = 0; credits < 4; credits++) {
			struct bench b;

			setup(&b, frame[k]);
			encode(&b, credits);
			arrive(&b);
			assert_true(delivered(&b));
			assert_int_equal(b.p.n[1]->last_rx.bad, 0);
			assert_int_equal(
				b.p.n[1]->last_rx.shift,
				forth_credit_words(k, 1, credits, true));
			assert_int_equal(b.p.n[1]->last_rx.words, b.n / 4);
			assert_memory_equal(b.p.n[1]->last_data, data, 24);
			pair_run(&b.p, b.now);
			forth_port_counts(b.l);
			assert_int_equal(b.c->credits_in,
					 k && credits ? (credits + 1) / 2 * 2
						      : credits);
			assert_int_equal(b.l->tx[0].acked, credits * 32);
			pair_fini(&b.p);
		}
}

/* V12: the receiver finds the delimiter in any lane, behind any number of
 * commas. */
static void delimiter_is_found_in_any_lane(void **state)
{
	struct bench b;
	uint32_t k;

	setup(&b, "word");
	for (k = 1; k < 8; k++) {
		encode(&b, 1);
		memmove(b.sym + k, b.sym, b.n * sizeof(b.sym[0]));
		b.n += k;
		while (k && b.sym[0] != FORTH_COMMA)
			b.sym[0] = FORTH_COMMA;
		for (uint32_t i = 0; i < k; i++)
			b.sym[i] = FORTH_COMMA;
		arrive(&b);
		assert_true(delivered(&b));
		assert_memory_equal(b.p.n[1]->last_data, data, 24);
	}
	encode(&b, 1);
	memmove(b.sym, b.sym + 1, --b.n * sizeof(b.sym[0]));
	arrive(&b);
	assert_true(delivered(&b));
	assert_int_equal(b.c->align + b.c->header_align, 0);
	pair_fini(&b.p);
}

/* V07: in each run a different bit of header and CRC-16 is wrong. The first bit
 * is skipped. */
static void header_errors(void **state)
{
	static const char *const frame[] = { "word", "packed" };
	uint32_t k, bit, n = 0;

	for (k = 0; k < 2; k++) {
		uint32_t at = k ? 16 : 32;
		struct bench b;

		setup(&b, frame[k]);
		for (bit = 1, n = 0; bit < 80; bit++) {
			uint32_t before = b.l->rx[0].fwd;

			encode(&b, 0);
			flip(&b, at + bit);
			arrive(&b);
			assert_false(delivered(&b));
			n++;
			assert_int_equal(b.c->header_crc, n);
			assert_int_equal(b.p.n[1]->errors, n);
			/* 5.7: a NIC returns all words of the lost packet */
			assert_in_range((b.l->rx[0].fwd - before) & 4095,
					k ? 9 : 10, 10);
			encode(&b, 0);
			arrive(&b);
			assert_true(delivered(&b));
		}
		pair_fini(&b.p);
	}
}

/* The receiver decodes a header with a wrong bit 63 as credits, and
 * realigns. */
static void type_bit(void **state)
{
	struct bench b;

	setup(&b, "word");
	encode(&b, 0);
	flip(&b, 32);
	arrive(&b);
	assert_false(delivered(&b));
	assert_int_equal(b.c->header_align + b.c->header_crc, 1);
	encode(&b, 0);
	arrive(&b);
	assert_true(delivered(&b));
	pair_fini(&b.p);
}

/* V08: the packet is delivered with its wrong data and counted once. */
static void body_errors(void **state)
{
	struct bench b;
	uint32_t bit, n = 0;

	setup(&b, "word");
	for (bit = 128; bit < 128 + 192 + 32; bit += 5) {
		uint32_t i = bit / 8 - 16;

		encode(&b, 0);
		flip(&b, bit);
		arrive(&b);
		assert_true(delivered(&b));
		assert_int_equal(b.c->body_crc, ++n);
		assert_int_equal(b.p.n[1]->last_rx.bad, FORTH_PORT_BODY_BAD);
		if (i >= 24)
			continue;
		i = (i & ~7u) + 7 - i % 8;
		assert_int_equal(b.p.n[1]->last_data[i] ^
					 ((const uint8_t *)data)[i],
				 0x80 >> bit % 8);
	}
	pair_fini(&b.p);
}

/* A packet truncated at any word is reported: an incomplete header in register
 * 0x6C, an incomplete payload in register 0xBC and to the owner as a truncated
 * packet. */
static void truncation_at_any_place_is_reported(void **state)
{
	struct bench b;
	uint32_t n;

	for (n = 4; n < 44; n += 4) {
		setup(&b, "word");
		encode(&b, 0);
		b.n = n;
		arrive(&b);
		assert_int_equal(delivered(&b), n >= 16);
		assert_int_equal(b.c->header_align, n < 16);
		assert_int_equal(b.c->align, n >= 16);
		if (n >= 16) {
			assert_int_equal(b.p.n[1]->last_rx.bad,
					 FORTH_PORT_BODY_BAD |
						 FORTH_PORT_TRUNC);
			assert_int_equal(b.p.n[1]->last_len, (n - 16) / 8 * 8);
		}
		pair_fini(&b.p);
	}
}

static void control_in_payload(void **state)
{
	struct bench b;

	setup(&b, "word");
	encode(&b, 0);
	b.sym[24] = FORTH_COMMA;
	arrive(&b);
	assert_true(delivered(&b));
	assert_int_equal(b.p.n[1]->last_len, 8);
	/* the truncated packet and its remaining words, which have no SOP,
	 * count once each */
	assert_int_equal(b.c->align, 2);
	pair_fini(&b.p);

	setup(&b, "word"); /* a whole packet starts inside another one */
	encode(&b, 0);
	memmove(b.sym + 24, b.sym, 44 * sizeof(b.sym[0]));
	b.n = 24 + 44;
	arrive(&b);
	assert_int_equal(b.p.n[1]->received, 2);
	assert_int_equal(b.p.n[1]->last_rx.bad, 0);
	assert_int_equal(b.c->align, 1);
	pair_fini(&b.p);
}

/* Lets a packet arrive over two links. In the first `links` shares the symbol
 * behind the word of the delimiter is a comma. */
static void head_ends_on(struct bench *b, uint32_t links)
{
	const char *set[] = { "links",	 "2", "rx_words", "1023",
			      "refresh", "0", NULL };

	memset(b, 0, sizeof(*b));
	pair_init(&b->p, set, NULL, NULL);
	pair_start(&b->p);
	b->l = &b->p.n[1]->link;
	b->c = &b->l->count;
	b->now = 100;
	pair_run(&b->p, b->now);
	for (uint32_t lane = 0; lane < 2; lane++) {
		struct forth_shape s = { .layout = (uint8_t)b->l->cfg.layout,
					 .links = 2,
					 .line = (uint8_t)lane,
					 .wire_len = 24 };

		encode_as(b, s);
		if (lane < links)
			b->sym[4] = FORTH_COMMA;
		share(b, lane);
	}
	b->now += 128;
	pair_run(&b->p, b->now);
}

/* 4.9: a header that ends on all links counts as missing. A header that ends on
 * some links counts as an error of alignment. The rest of the packet has no
 * SOP, so that it counts as an error of alignment, too. */
static void
a_head_that_ends_on_one_of_two_links_is_an_error_of_alignment(void **state)
{
	for (uint32_t links = 0; links <= 2; links++) {
		struct bench b;

		head_ends_on(&b, links);
		assert_int_equal(delivered(&b), !links);
		assert_int_equal(b.c->align, links == 1 ? 2 : links / 2);
		assert_int_equal(b.c->header_align, links / 2);
		pair_fini(&b.p);
	}
}

static void lost_delimiter(void **state)
{
	struct bench b;

	setup(&b, "word");
	encode(&b, 0);
	b.sym[1] = 0xFA;
	arrive(&b);
	assert_false(delivered(&b));
	assert_int_equal(b.c->align, 1);
	assert_int_equal(b.l->rx[0].fwd, 10); /* its charge */
	encode(&b, 0);
	arrive(&b);
	assert_true(delivered(&b));
	pair_fini(&b.p);
}

static void credit_errors(void **state)
{
	struct bench b;
	uint32_t bit;

	setup(&b, "word");
	for (bit = 17; bit < 32; bit++) { /* V09 */
		encode(&b, 1);
		flip(&b, bit);
		arrive(&b);
		assert_true(delivered(&b));
		assert_int_equal(b.c->credit_parity, bit - 16);
	}
	forth_port_counts(b.l);
	assert_int_equal(b.l->tx[0].acked, 0);
	encode(&b, 1); /* 5.6: two wrong bits in a credit are not noticed */
	flip(&b, 27);
	flip(&b, 28);
	arrive(&b);
	forth_port_counts(b.l);
	assert_int_not_equal(b.l->tx[0].acked, 32);
	b.n = 4; /* a credit of an unknown flow */
	b.sym[2] = forth_credit(9, 1) >> 8;
	b.sym[3] = forth_credit(9, 1) & 255;
	arrive(&b);
	forth_port_counts(b.l);
	assert_int_equal(b.c->credits_odd, 1);
	assert_int_equal(b.c->header_align, 0);
	pair_fini(&b.p);
}

/* 5.4: a credit for words that were never sent is refused. */
static void credit_for_words_never_sent_is_refused(void **state)
{
	struct bench b;

	setup(&b, "word");
	b.l->cfg.credit_filter = true;
	encode(&b, 1);
	arrive(&b);
	forth_port_counts(b.l);
	assert_int_equal(b.l->tx[0].acked, 0);
	assert_int_equal(b.c->credits_odd, 1);
	pair_fini(&b.p);
}

/* 5.4: a credit for all words that were sent is accepted, but a credit for one
 * word more is not. */
static void all_that_was_sent_may_be_acknowledged(void **state)
{
	for (uint32_t more = 0; more < 2; more++) {
		struct bench b;

		setup(&b, "word");
		encode(&b, 1);
		b.l->cfg.credit_filter = true;
		b.l->tx[0].sent = (uint16_t)(32 - more); /* it says 32 */
		arrive(&b);
		forth_port_counts(b.l);
		assert_int_equal(b.c->credits_odd, more);
		assert_int_equal(b.l->tx[0].acked, more ? 0 : 32);
		pair_fini(&b.p);
	}
}

/* 4.9: sync is lost after 4 invalid codes in 16 symbols and returns after 16
 * comma words. */
static void loss_of_sync(void **state)
{
	struct bench b;
	uint32_t i;

	setup(&b, "word");
	encode(&b, 0);
	for (i = 0; i < 3; i++)
		b.sym[16 + 2 * i] |= WEFT_SYM_BAD;
	b.sym[32] |= WEFT_SYM_BAD; /* the first bad symbol has just left the
				      window */
	arrive(&b);
	assert_int_equal(b.c->bad_char[0], 4);
	assert_int_equal(b.c->sync_loss[0], 0);
	delivered(&b);
	encode(&b, 0);
	for (i = 0; i < 4; i++)
		b.sym[16 + 5 * i] |= WEFT_SYM_BAD; /* 15 symbols */
	b.now -= 64 - 40; /* the next frame follows within 16 words */
	arrive(&b);
	assert_int_equal(b.c->sync_loss[0], 1);
	assert_true(b.c->bad_char[0] == 8);
	b.p.n[1]->received = 0;
	pair_fini(&b.p);

	setup(&b, "word");
	encode(&b, 0);
	for (i = 0; i < 4; i++)
		b.sym[16 + i] |= WEFT_SYM_BAD;
	{
		struct weft_frame *f = weft_frame_new(b.p.sim);

		f->raw = weft_raw_new(b.p.sim, b.n);
		f->raw->n = b.n;
		memcpy(f->raw->sym, b.sym, b.n * sizeof(b.sym[0]));
		f->flags = FORTH_F_PACKET | FORTH_F_CREDITS;
		f->words = b.n / 4;
		f->time = b.now * b.p.cc;
		forth_port_arrive(b.l, 0, f);
		b.p.n[1]->received = 0;
		b.now += 11 + 15; /* one comma word fewer than needed */
		pair_run(&b.p, b.now);
		encode(&b, 0);
		arrive(&b);
		assert_false(delivered(&b));
		encode(&b, 0);
		arrive(&b);
		assert_true(delivered(&b));
	}
	pair_fini(&b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_frames),
		cmocka_unit_test(delimiter_is_found_in_any_lane),
		cmocka_unit_test(header_errors),
		cmocka_unit_test(type_bit),
		cmocka_unit_test(body_errors),
		cmocka_unit_test(truncation_at_any_place_is_reported),
		cmocka_unit_test(control_in_payload),
		cmocka_unit_test(
			a_head_that_ends_on_one_of_two_links_is_an_error_of_alignment),
		cmocka_unit_test(lost_delimiter),
		cmocka_unit_test(credit_errors),
		cmocka_unit_test(credit_for_words_never_sent_is_refused),
		cmocka_unit_test(all_that_was_sent_may_be_acknowledged),
		cmocka_unit_test(loss_of_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
