/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of every instruction at both ends, word by word (hostport.md
 * 6.2). All bytes of the user tag and the API tag differ, so that no word can
 * be confused with another. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

#define USER 0x1122334455667788ull
#define API  0xa1a2a3a4a5a6ull

enum { OFF = 64, OWN = 128, LONG = 48 };

struct row {
	uint32_t byte;
	uint32_t words;	 /* number of words of results, or of a fast message */
	uint64_t bytes;	 /* length of the access or of the message */
	uint32_t target; /* command byte of the notification at the target */
};

static const struct row rows[] = {
	{ HP_B_FAST_SEND | HP_A, 0, 0, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_FAST_SEND | HP_A | 1, 1, 8, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_FAST_SEND | HP_A | 5, 5, 40, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_FAST_SEND | 3, 3, 24, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_SEND | HP_A, 0, 8, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_SEND | HP_A, 0, 40, HP_B_NOTIFY_FAST_RECV },
	{ HP_B_SEND | HP_A, 0, LONG, HP_B_NOTIFY_RECV },
	{ HP_B_SEND, 0, LONG, HP_B_NOTIFY_RECV },
	{ HP_B_FAST_PUT | HP_A | 1, 0, 8, HP_B_NOTIFY_RMA },
	{ HP_B_FAST_PUT | HP_A | 3, 0, 24, HP_B_NOTIFY_RMA },
	{ HP_B_MIS_PUT | HP_A, 0, 8, HP_B_NOTIFY_RMA },
	{ HP_B_PUT | HP_A, 0, LONG, HP_B_NOTIFY_RMA },
	{ HP_B_PUT, 0, LONG, HP_B_NOTIFY_RMA },
	{ HP_B_GET, 0, LONG, HP_B_NOTIFY_RMA },
	{ HP_B_FAST_GET | 1, 1, 8, HP_B_NOTIFY_RMA },
	{ HP_B_FAST_GET | 3, 3, 24, HP_B_NOTIFY_RMA },
	{ HP_B_FAA, 1, 8, HP_B_NOTIFY_RMA },
	{ HP_B_CAS, 1, 16, HP_B_NOTIFY_RMA }, /* both operands */
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static uint64_t word(uint32_t i)
{
	return 0xc0ffee0000000000 + i;
}

static bool is_main(const struct row *r, uint32_t main)
{
	return HP_MAIN(r->byte) == main;
}

static bool is_send(const struct row *r)
{
	return is_main(r, HP_M_SEND) || is_main(r, HP_M_FAST_SEND);
}

static void issue(struct hpend *e, const struct row *r)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, r->byte, 1, HPEND_VPID1, 0);
	w[1] = HP_VCI_W1((uint64_t)HPEND_VPID1, API);
	w[2] = USER;
	for (uint32_t i = 3; i < HP_WORDS; i++)
		w[i] = word(i);
	if (is_main(r, HP_M_SEND)) {
		w[3] = OWN;
		w[4] = r->bytes;
	} else if (!is_send(r)) {
		w[3] = HP_VCI_W3((uint64_t)HPEND_WIN, HPEND_CAPA);
		w[4] = OFF;
	}
	if (is_main(r, HP_M_PUT) || is_main(r, HP_M_GET)) {
		w[5] = HP_VCI_W5((uint64_t)HPEND_OWN);
		w[6] = OWN;
		w[7] = r->bytes;
	}
	if (is_main(r, HP_M_MIS_PUT))
		w[5] = 0xff;
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
}

/* Returns data word i of a get, FAA or CAS. FAA and CAS return the new
 * value. */
static uint64_t result(const struct row *r, uint32_t i)
{
	if (is_main(r, HP_M_FAA))
		return word(20) + word(5);
	/* value that does not change, because the CAS compares unequal */
	return word(20 + i);
}

static void origin_is(const struct row *r, const uint64_t *w)
{
	bool gets = is_main(r, HP_M_FAST_GET) || is_main(r, HP_M_FAA) ||
		    is_main(r, HP_M_CAS);

	assert_int_equal(w[0], USER);
	assert_int_equal(w[1], API | (gets ? (uint64_t)r->words << 48 : 0));
	for (uint32_t i = 0; gets && i < r->words; i++)
		assert_int_equal(w[3 + i], result(r, i));
	assert_int_equal(w[7],
			 HP_NQE_W7(HP_CMD(0, 0, r->byte), (uint64_t)HPEND_HPID1,
				   (uint64_t)HPEND_VPID1));
}

static void target_is(const struct row *r, const uint64_t *w, uint32_t wp)
{
	assert_int_equal(w[0], USER);
	assert_int_equal(w[7], HP_NQE_W7(HP_CMD(0, 0, r->target),
					 (uint64_t)HPEND_HPID0,
					 (uint64_t)HPEND_VPID0));
	if (r->target == HP_B_NOTIFY_FAST_RECV) {
		assert_int_equal(w[1], API | r->bytes / 8 << 48);
		for (uint32_t i = 0; i < r->bytes / 8; i++)
			assert_int_equal(w[2 + i], is_main(r, HP_M_SEND)
							   ? word(40 + i)
							   : word(3 + i));
		return;
	}
	assert_int_equal(w[1], API);
	assert_int_equal(w[2], HP_PS(0ull, (uint64_t)wp));
	if (r->target == HP_B_NOTIFY_RECV) {
		assert_int_equal(w[3], r->bytes);
		return;
	}
	assert_int_equal(w[3], HP_RMA_W3((uint64_t)HPEND_WIN, r->byte));
	assert_int_equal(w[4], OFF);
	assert_int_equal(w[5], r->bytes);
}

static void near_all(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];
	uint32_t wp = 0;

	hpend_windows(e);
	for (uint32_t i = 0; i < LONG / 8; i++)
		e->p.sdr[OWN / 8 + i] = word(40 + i);
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		for (uint32_t k = 0; k < 3; k++)
			*(uint64_t *)hpend_at(&t->end[1], OFF + 8 * k) =
				word(20 + k);
		issue(e, r);
		hpend_expect(e, r->byte, w);
		origin_is(r, w);
		wp += r->target == HP_B_NOTIFY_RECV ? LONG / 8 : 0;
		hpend_other(e, r->target, w);
		target_is(r, w, wp);
	}
	hpend_silent(e);
	hppair_meet(e);
}

static void told(struct hppair *t)
{
	t->end[1].flags = HP_CTX_RMA_NTF;
}

static void every_instruction_is_told_word_by_word(void **state)
{
	hppair_once(told, near_all, hppair_far_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_is_told_word_by_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
