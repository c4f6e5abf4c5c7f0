/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of forth.md 13, V07 to V12, on a running link between two nodes. The
 * fault component acts on frames that leave node 0. */
#include <stdio.h>

#include "net/fault.h"
#include "pair.h"

extern const struct weft_class weft_class_fault_bits, weft_class_fault_drop;

enum { PACKETS = 40 };

/* Returns the charged words of node i that have not returned, in whole credits
 * of 32 words. */
static uint32_t out(struct pair *p, uint32_t i)
{
	struct forth_port *l = &p->n[i]->link;

	forth_port_counts(l);
	return ((l->tx[0].sent - l->tx[0].acked) & FORTH_COUNT_MASK) / 32;
}

static void run(struct pair *p, const char *const *set,
		const struct weft_class *cls, const char *const *fault,
		uint32_t from)
{
	pair_init(p, set, cls, fault);
	pair_send(p, from, PACKETS, 40);
	pair_start(p);
	pair_run(p, 60000);
}

/* A symbol on the line has 12 bits. The bits above name the part of the frame
 * to which the symbol belongs. They must be cleared before the frame leaves the
 * fault. */
static void parts_of_symbols_do_not_leave_the_fault(void **state)
{
	static const uint16_t in[] = { 0xfabc, 0x1000, 0x8fff, 0x0801, 0xf000 };
	static const uint16_t line[] = { 0x0abc, 0, 0x0fff, 0x0801, 0 };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = weft_frame_new(sim);
	struct weft_raw *raw;

	/* the second fault_set replaces the symbols of the first */
	for (uint32_t turn = 0; turn < 2; turn++) {
		raw = weft_raw_new(sim, 5);
		memcpy(raw->sym, in, sizeof(in));
		raw->n = 5;
		fault_set(f, raw);
		assert_ptr_equal(f->raw, raw);
		assert_memory_equal(f->raw->sym, line, sizeof(line));
	}
	weft_frame_free(f);
	weft_sim_free(sim);
}

static void header_bits(void **state)
{
	char bit[8];
	uint32_t k;

	for (k = 1; k < 80; k += 3) {
		const char *f[] = { "target", "header", "frame", "7",
				    "bit",    bit,	NULL };
		struct pair p;

		snprintf(bit, sizeof(bit), "%u", k);
		run(&p, NULL, &weft_class_fault_bits, f, 0);
		assert_int_equal(p.n[1]->received, PACKETS - 1);
		assert_int_equal(p.n[1]->link.count.header_crc, 1);
		assert_int_equal(p.n[1]->errors, 1);
		assert_int_equal(p.n[1]->bad, 0);
		/* all credits have returned (5.7) */
		assert_int_equal(out(&p, 0), 0);
		pair_fini(&p);
	}
}

/* 5.7: a bundle returns all words of packets with a bad header, including the
 * beat of the header. Without this beat 40 such packets would lose more than a
 * credit. */
static void a_bundle_returns_all_credits_of_bad_headers(void **state)
{
	static const char *const links[] = { "2", "4" };
	const char *f[] = { "target", "header", "frame", "1", "bit",
			    "20",     "count",	"40",	 NULL };

	for (uint32_t i = 0; i < 2; i++) {
		const char *set[] = { "links", links[i], "rx_words", "1023",
				      NULL };
		struct pair p;

		run(&p, set, &weft_class_fault_bits, f, 0);
		assert_int_equal(p.n[1]->received, 0);
		assert_int_equal(p.n[1]->link.count.header_crc, PACKETS);
		assert_int_equal(out(&p, 0), 0);
		pair_fini(&p);
	}
}

static void body_bits(void **state)
{
	const char *f[] = { "target", "body",  "frame", "7", "bit",
			    "1000",   "count", "2",	NULL };
	struct pair p;

	run(&p, NULL, &weft_class_fault_bits, f, 0);
	assert_int_equal(p.n[1]->received, PACKETS);
	assert_int_equal(p.n[1]->link.count.body_crc, 2);
	assert_int_equal(p.n[1]->bad, 2);
	assert_int_equal(p.fault->counters[0], 2);
	pair_fini(&p);
}

static void credit_bit(void **state)
{
	const char *set[] = { "rx_words", "400", NULL };
	const char *f[] = {
		"target", "credit", "frame", "3", "bit", "11", NULL
	};
	struct pair p;

	run(&p, set, &weft_class_fault_bits, f, 1);
	assert_int_equal(p.n[0]->received, PACKETS);
	assert_int_equal(p.n[1]->link.count.credit_parity, 1);
	assert_int_equal(out(&p, 1), 0);
	pair_fini(&p);
}

/* Faults are drawn at a rate for each part of a frame. Each hit is counted for
 * its part, and the check of this part notices it. */
static void faults_hit_each_part_and_its_check_notices(void **state)
{
	static const char *const name[] = { "control", "credit", "header",
					    "body" };
	uint32_t i, k;

	for (i = 0; i < 4; i++) {
		const char *f[] = { "target", name[i], "rate",
				    i == 3 ? "2e-4" : "2e-3", NULL };
		const struct forth_port_count *n;
		struct pair p;
		uint64_t hit, *c;

		pair_init(&p, NULL, &weft_class_fault_bits, f);
		pair_send(&p, 0, 400, 40);
		pair_start(&p);
		pair_run(&p, 60000);
		n = forth_port_counts(&p.n[1]->link);
		c = p.fault->counters;
		hit = c[1];
		assert_true(hit > 5 && c[0] >= hit);
		/* parts in the order of name[], padding last */
		for (k = 0; k < 5; k++)
			assert_int_equal(c[2 + k], k == i ? hit : 0);
		assert_int_equal(n->body_crc, i == 3 ? hit : 0);
		assert_int_equal(n->header_crc + n->header_align,
				 i == 2 ? hit : 0);
		if (i == 1)
			assert_true(n->credit_parity > 0);
		if (i == 0)
			assert_true(n->align > 0 && n->align <= hit);
		pair_fini(&p);
	}
}

/* A wrong bit 63 makes the header a credit (V07). The packet is lost and
 * counted once, and the receiver realigns. */
static void type_bit(void **state)
{
	const char *f[] = {
		"target", "header", "frame", "7", "bit", "0", NULL
	};
	struct pair p;

	run(&p, NULL, &weft_class_fault_bits, f, 0);
	assert_int_equal(p.n[1]->received, PACKETS - 1);
	assert_int_equal(p.n[1]->link.count.header_crc +
				 p.n[1]->link.count.header_align,
			 1);
	assert_int_equal(p.n[1]->bad, 0);
	pair_fini(&p);
}

static void credit_loss(void **state)
{
	static const char *const rate[] = { "0.5", "0.95" };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		const char *set[] = { "rx_words", "400", NULL };
		const char *f[] = { "credits", rate[i], NULL };
		struct pair p;

		pair_init(&p, set, &weft_class_fault_drop, f);
		pair_send(&p, 1, PACKETS, 40);
		pair_start(&p);
		pair_run(&p, 800000);
		assert_int_equal(p.n[0]->received, PACKETS);
		assert_int_equal(p.n[0]->bad, 0);
		assert_true(p.fault->counters[1] > 10);
		assert_int_equal(out(&p, 1), 0);
		pair_fini(&p);
	}
}

static void damaged_delimiter_loses_one_packet(void **state)
{
	const char *sop[] = { "target", "control", "frame", "9",
			      "bit",	"10",	   NULL };
	const char *commas[] = { "comma_add", "0.4", "comma_del", "0.4", NULL };
	struct pair p;

	run(&p, NULL, &weft_class_fault_bits, sop, 0);
	assert_int_equal(p.n[1]->received, PACKETS - 1);
	assert_int_equal(p.n[1]->link.count.align, 1);
	assert_int_equal(out(&p, 0), 0);
	pair_fini(&p);
	run(&p, NULL, &weft_class_fault_drop, commas, 0);
	assert_int_equal(p.n[1]->received, PACKETS);
	assert_int_equal(p.n[1]->bad, 0);
	assert_true(p.fault->counters[3] > 10);
	pair_fini(&p);
}

static void lost_and_repeated(void **state)
{
	const char *lose[] = { "frame", "4", "count", "3", NULL };
	const char *twice[] = { "repeat", "1", NULL };
	struct pair p;

	run(&p, NULL, &weft_class_fault_drop, lose, 0);
	assert_int_equal(p.n[1]->received, PACKETS - 3);
	assert_int_equal(p.fault->counters[0], 3);
	pair_fini(&p);
	/* a packet that arrives twice would move F ahead of T, which stops the
	 * sender. The check of 5.4 prevents this */
	run(&p, NULL, &weft_class_fault_drop, twice, 0);
	assert_true(p.fault->counters[2] >= 2);
	assert_true(p.n[1]->received == 2 * p.fault->counters[2]);
	assert_true(p.n[1]->received < 2 * PACKETS);
	pair_fini(&p);
	pair_init(&p, NULL, &weft_class_fault_drop, twice);
	p.n[0]->link.cfg.credit_filter = true;
	pair_send(&p, 0, 2, 40);
	pair_start(&p);
	pair_run(&p, 60000);
	assert_int_equal(p.n[1]->received, 4);
	assert_true(forth_port_counts(&p.n[0]->link)->credits_odd > 0);
	pair_fini(&p);
}

/* With random errors in all parts the link continues, and every packet is
 * delivered, bad, or counted as lost. */
static void link_survives_random_errors_in_all_parts(void **state)
{
	static const char *const links[] = { "1", "2", "4" };
	uint32_t i;

	for (i = 0; i < 6; i++) {
		const char *set[] = { "links", links[i % 3], "rx_words", "1000",
				      NULL };
		const char *f[] = { "rate", "1e-4", "code",
				    i < 3 ? "bytes" : "8b10b", NULL };
		struct pair p;

		run(&p, set, &weft_class_fault_bits, f, 0);
		assert_true(p.fault->counters[0] > 0);
		assert_true(p.n[1]->received + p.n[1]->link.count.header_crc +
				    p.n[1]->link.count.align +
				    p.n[1]->link.count.header_align >=
			    PACKETS);
		pair_fini(&p);
	}
}

/* One link of a bundle loses a delimiter. Register 0xBC counts this error, and
 * later packets arrive. */
static void bundle_alignment(void **state)
{
	const char *set[] = { "links", "2", "rx_words", "1023", NULL };
	const char *f[] = {
		"target", "control", "frame", "9", "bit", "10", NULL
	};
	struct pair p;

	run(&p, set, &weft_class_fault_bits, f, 0);
	assert_int_equal(p.n[1]->received, PACKETS - 1);
	assert_int_equal(p.n[1]->link.count.align, 1);
	assert_int_equal(out(&p, 0), 0);
	pair_fini(&p);
}

/* One link of a bundle loses its whole share of a packet. The receiver drops
 * the other shares, and later packets arrive. */
static void lost_share(uint32_t links, uint32_t link)
{
	const char *set[] = { "links", links == 2 ? "2" : "4", "rx_words",
			      "1023", NULL };
	struct weft_comp *fault;
	struct pair p;

	pair_init(&p, set, NULL, NULL);
	fault = weft_sim_add(p.sim, &weft_class_fault_drop, "drop", NULL);
	assert_int_equal(weft_param_set(fault, "frame", "9", NULL), 0);
	assert_int_equal(weft_comp_init(fault, NULL), 0);
	assert_int_equal(weft_filter_add(&p.comp[0]->ports[link], fault, NULL),
			 0);
	pair_send(&p, 0, PACKETS, 40);
	pair_start(&p);
	pair_run(&p, 60000);
	assert_int_equal(fault->counters[0], 1);
	assert_int_equal(p.n[1]->received, PACKETS - 1);
	assert_int_equal(p.n[1]->bad, 0);
	assert_int_equal(p.n[1]->link.count.align, 1);
	assert_int_equal(out(&p, 0), 0);
	pair_fini(&p);
}

static void each_link_of_a_bundle_may_lose_its_share(void **state)
{
	for (uint32_t links = 2; links <= 4; links += 2)
		for (uint32_t k = 0; k < links; k++)
			lost_share(links, k);
}

/* ---- 10-bit codes (4.6, 4.9, R-42) ---- */

/* A single wrong bit changes the balance of its code. The receiver notices it
 * as an invalid code or as a disparity error. A disparity error appears at the
 * latest with the comma behind the packet. */
static void every_wrong_bit_of_a_code_is_seen(void **state)
{
	uint64_t invalid = 0, disparity = 0, unseen = 0;
	char bit[8];

	for (uint32_t k = 0; k < 160; k++) {
		const char *f[] = { "target", k < 80 ? "header" : "body",
				    "code",   "8b10b",
				    "frame",  "7",
				    "bit",    bit,
				    NULL };
		const struct forth_port_count *n;
		struct pair p;

		snprintf(bit, sizeof(bit), "%u", k);
		run(&p, NULL, &weft_class_fault_bits, f, 0);
		n = &p.n[1]->link.count;
		invalid += n->bad_char[0];
		disparity += n->disparity[0];
		unseen += !n->bad_char[0] && !n->disparity[0];
		assert_int_equal(n->sync_loss[0], 0);
		assert_int_equal(p.fault->counters[0], 1);
		if (k < 80)
			assert_int_equal(p.n[1]->received, PACKETS - 1);
		else
			assert_int_equal(n->body_crc, 1);
		/* A damaged header that ends in a control symbol does not tell
		 * the size of its packet. Therefore the words of the packet are
		 * not returned. */
		assert_in_range(out(&p, 0), 0, k < 80);
		pair_fini(&p);
	}
	assert_int_equal(unseen, 0);
	assert_true(invalid > 40 && disparity > 40);
}

/* The line carries only commas and refreshes. The error rate holds for all
 * their bits. */
static void idle_commas_are_hit(void **state)
{
	const char *set[] = { "refresh", "1000", NULL };
	const char *f[] = { "code", "8b10b", "rate", "1e-4", NULL };
	const struct forth_port_count *n, *back;
	struct pair p;

	pair_init(&p, set, &weft_class_fault_bits, f);
	pair_start(&p);
	pair_run(&p, 500000); /* 20,000,000 bits, of which 2,000 are wrong */
	n = forth_port_counts(&p.n[1]->link);
	back = forth_port_counts(&p.n[0]->link);
	assert_in_range(p.fault->counters[0], 1800, 2200);
	assert_true(n->bad_char[0] > 200 && n->disparity[0] > 200);
	assert_true(n->bad_char[0] + n->disparity[0] >=
		    p.fault->counters[0] * 9 / 10);
	assert_int_equal(back->bad_char[0] + back->disparity[0], 0);
	/* commas do not count as traffic */
	assert_in_range(n->in_cycles, 450, 500);
	pair_fini(&p);
}

/* Words of a frame must not also be drawn as commas, because a bit would then
 * be hit twice on a line that is busy most of the time. */
static void words_of_a_frame_are_not_hit_as_commas(void **state)
{
	const char *set[] = { "refresh", "1000", NULL };
	const char *f[] = { "code", "8b10b", "rate", "1e-5", NULL };
	struct pair p;

	pair_init(&p, set, &weft_class_fault_bits, f);
	pair_send(&p, 0, 4000, 40);
	pair_start(&p);
	pair_run(&p, 500000);
	/* 20,000,000 bits, two thirds of them in frames */
	assert_in_range(p.fault->counters[0], 160, 240);
	assert_in_range(p.fault->counters[1], 110, 180);
	assert_true(p.n[1]->received > 3900);
	pair_fini(&p);
}

/* An invalid code counts only as invalid, whatever symbol it replaced. */
static void invalid_codes_are_no_disparity_errors(void **state)
{
	static const char *const target[] = { "control", "header", "body" };

	for (uint32_t i = 0; i < 3; i++) {
		const char *f[] = { "target",  target[i], "frame", "7",
				    "invalid", "yes",	  NULL };
		const struct forth_port_count *n;
		struct pair p;

		run(&p, NULL, &weft_class_fault_bits, f, 0);
		n = forth_port_counts(&p.n[1]->link);
		assert_int_equal(n->bad_char[0], 1);
		assert_int_equal(n->disparity[0], 0);
		assert_int_equal(n->sync_loss[0], 0);
		pair_fini(&p);
	}
}

/* A run ends when only commas are left. */
static void idle_commas_keep_no_run_going(void **state)
{
	const char *set[] = { "refresh", "0", NULL };
	const char *f[] = { "code", "8b10b", "rate", "1e-4", NULL };
	struct pair p;

	run(&p, set, &weft_class_fault_bits, f, 0);
	assert_true(p.n[1]->received > PACKETS / 2);
	assert_true(p.fault->counters[0] > 0);
	assert_true(weft_sim_idle(p.sim));
	pair_fini(&p);
}

/* Four invalid codes in 16 symbols end sync, even if they are in four
 * different words. After 16 good words the link receives again, so that the
 * noise can end sync once more. */
static void noise_on_commas_ends_sync_and_the_link_comes_back(void **state)
{
	const char *set[] = { "rx_words", "1000", NULL };
	const char *f[] = { "code", "8b10b", "rate", "1e-2", NULL };
	const struct forth_port_count *n;
	struct pair p;

	pair_init(&p, set, &weft_class_fault_bits, f);
	pair_start(&p);
	pair_run(&p, 200000);
	n = forth_port_counts(&p.n[1]->link);
	assert_true(n->sync_loss[0] > 10);
	assert_true(n->bad_char[0] > 4 * n->sync_loss[0]);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_symbols_do_not_leave_the_fault),
		cmocka_unit_test(header_bits),
		cmocka_unit_test(a_bundle_returns_all_credits_of_bad_headers),
		cmocka_unit_test(body_bits),
		cmocka_unit_test(credit_bit),
		cmocka_unit_test(faults_hit_each_part_and_its_check_notices),
		cmocka_unit_test(type_bit),
		cmocka_unit_test(credit_loss),
		cmocka_unit_test(damaged_delimiter_loses_one_packet),
		cmocka_unit_test(lost_and_repeated),
		cmocka_unit_test(link_survives_random_errors_in_all_parts),
		cmocka_unit_test(bundle_alignment),
		cmocka_unit_test(each_link_of_a_bundle_may_lose_its_share),
		cmocka_unit_test(every_wrong_bit_of_a_code_is_seen),
		cmocka_unit_test(idle_commas_are_hit),
		cmocka_unit_test(words_of_a_frame_are_not_hit_as_commas),
		cmocka_unit_test(invalid_codes_are_no_disparity_errors),
		cmocka_unit_test(idle_commas_keep_no_run_going),
		cmocka_unit_test(
			noise_on_commas_ends_sync_and_the_link_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
