/* SPDX-License-Identifier: Apache-2.0 */
/* Bit errors on the 10-bit codes of an EXTOLL line, at symbol and at flit level
 * (extoll.md 4.8; T-40). */
#include "ex_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/b8b10.h"
#include "net/fault.h"

extern const struct weft_class weft_class_fault_bits;

static struct weft_raw *random_line(struct weft_sim *sim, struct weft_rng *r)
{
	uint32_t n = 4 + (uint32_t)weft_rng_below(r, 80), i;
	struct weft_raw *raw = weft_raw_new(sim, n);

	raw->n = n;
	for (i = 0; i < n; i++) {
		uint32_t s = (uint32_t)weft_rng_below(r, 300);

		s = s < 256 ? s : s < 280 ? 0x1fb : 0x1bc;
		raw->sym[i] = (uint16_t)(s | (i % 8) << WEFT_PART_SHIFT);
	}
	return raw;
}

/* Chooses at most n bits for errors, in ascending order and none of them
 * twice. */
static uint32_t random_hits(struct weft_rng *r, struct fault_hit *hit,
			    uint32_t n, uint32_t symbols)
{
	uint32_t i, at = 0;

	for (i = 0; i < n; i++) {
		at += 1 + (uint32_t)weft_rng_below(r, 12);
		if (at >= symbols * 10)
			break;
		hit[i] = (struct fault_hit){ at / 10, at % 10 };
	}
	return i;
}

static void test_bit_and_flit_errors_give_equal_symbols(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_rng r = { .s = { 1, 2, 3, 4 } };
	uint32_t changed = 0, bad = 0, late = 0;

	for (uint32_t k = 0; k < 20000; k++) {
		struct weft_raw *a = random_line(sim, &r);
		size_t size = a->n * sizeof(a->sym[0]);
		struct weft_raw *b = weft_raw_new(sim, a->n);
		struct weft_raw *was = weft_raw_new(sim, a->n);
		struct fault_hit hit[8];
		uint32_t n = random_hits(&r, hit, k % 8, a->n);

		b->n = was->n = a->n;
		memcpy(b->sym, a->sym, size);
		memcpy(was->sym, a->sym, size);
		fault_code_stream(a, hit, n);
		fault_code_flit(b, hit, n, 0);
		assert_memory_equal(a->sym, b->sym, size);
		if (!n)
			assert_memory_equal(a->sym, was->sym, size);
		for (uint32_t i = 0; i < a->n; i++) {
			changed += a->sym[i] != was->sym[i];
			bad += !!(a->sym[i] & WEFT_SYM_BAD);
			/* here the disparity shows an earlier error */
			late += (a->sym[i] ^ was->sym[i]) == WEFT_SYM_BAD;
			assert_int_equal(a->sym[i] >> WEFT_PART_SHIFT, i % 8);
		}
		free(a);
		free(b);
		free(was);
	}
	assert_true(changed > bad && bad > 10000 && late > 1000);
	weft_sim_free(sim);
}

static void run(struct ex_pair *p, const char *level, const char *width,
		const char *rate)
{
	const char *const set[] = { "rate", rate, "level", level, NULL };

	ex_pair_init(p, (const char *[]){ "packets", "3000", "width", width,
					  "gap", "30", NULL });
	ex_pair_fault(p, 0, &weft_class_fault_bits, set);
	ex_pair_fault(p, 1, &weft_class_fault_bits, set);
	ex_pair_start(p);
	ex_pair_drain(p, 100000000);
	ex_pair_check_all(p);
}

static void test_equal_seeds(void **state)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct ex_pair a, b;

		run(&a, "flit", i & 1 ? "w16" : "w32", i & 2 ? "1e-4" : "1e-5");
		run(&b, "symbol", i & 1 ? "w16" : "w32",
		    i & 2 ? "1e-4" : "1e-5");
		for (uint32_t k = 0; k < 2; k++) {
			struct ex_node *x = a.n[k], *y = b.n[k];

			assert_int_equal(x->n_log, y->n_log);
			for (uint32_t c = 0; c < x->n_log; c++)
				assert_int_equal(x->log[c].cycle,
						 y->log[c].cycle);
			assert_memory_equal(&x->ep.count, &y->ep.count,
					    sizeof(x->ep.count));
			assert_memory_equal(
				a.fault[k]->counters, b.fault[k]->counters,
				a.fault[k]->cls->n_counters * sizeof(uint64_t));
			assert_memory_equal(&x->ep.slow->n, &y->ep.slow->n,
					    sizeof(x->ep.slow->n));
			assert_true(x->ep.count.code &&
				    x->ep.count.crc + x->ep.slow->n.control);
		}
		ex_pair_fini(&a);
		ex_pair_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bit_and_flit_errors_give_equal_symbols),
		cmocka_unit_test(test_equal_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
