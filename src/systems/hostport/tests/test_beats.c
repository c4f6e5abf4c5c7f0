/* SPDX-License-Identifier: Apache-2.0 */
/* States of a notification that a reader may see while the device writes it:
 * scenario Q10 of hostport.md 13.2, on buses of 32 and 64 bits and on
 * HyperTransport. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpproc.h"

extern const struct weft_class weft_class_bus_pci;

enum { VPID = 8, ROUNDS = 12, AFTER = 500 };

static struct hpdrv drv;

/* Two entries, with the content that each had when it was first valid. */
struct watch {
	volatile uint64_t *at[2];
	uint64_t seen[2][HP_WORDS];
	bool valid[2];
};

/* Fills both entries with the content of an earlier round, but with an invalid
 * command. */
static void watch_begin(struct watch *s, struct hpproc *p)
{
	for (uint32_t i = 0; i < 2; i++) {
		s->at[i] = p->nq + HP_WORDS * ((p->ni + i) % p->drv->nq);
		memset((void *)(uintptr_t)s->at[i], 0x77, HP_LINE);
		s->at[i][HP_NQE_CMD] = HP_NQE_W7(0, 0x77777777, 0x7777);
		s->valid[i] = false;
	}
}

/* Polls both entries once. Fails if an entry that was valid has changed. */
static void watch_look(struct watch *s)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t w[HP_WORDS];

		memcpy(w, (const void *)(uintptr_t)s->at[i], HP_LINE);
		if (s->valid[i])
			assert_memory_equal(w, s->seen[i], HP_LINE);
		else if (HP_NQE_VALID(w))
			memcpy(s->seen[i], w, HP_LINE);
		s->valid[i] = HP_NQE_VALID(w);
	}
}

static void watch_check(const struct watch *s, uint64_t tag, uint32_t n)
{
	const uint64_t *w = HP_NQE_CMD(s->seen[0]) == HP_B_NOTIFY_FAST_RECV
				    ? s->seen[0]
				    : s->seen[1];

	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(HP_NQE_USER(s->seen[i]), tag);
		assert_int_equal(HP_NQE_TAG(s->seen[i]), tag);
		assert_int_equal(HP_NQE_HPID(s->seen[i]), 1);
		assert_int_equal(HP_NQE_VPID(s->seen[i]), VPID);
	}
	assert_int_equal(HP_NQE_WORDS(w), n);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(w[2 + i], i < n ? ~tag + i : 0);
}

static int reader(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;
	struct watch s;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, VPID, 0);
	for (uint64_t tag = 0; tag < ROUNDS; tag++) {
		uint32_t n = tag % 6, before = 0;
		uint64_t data[5], w[HP_WORDS];

		for (uint32_t i = 0; i < 5; i++)
			data[i] = ~tag + i;
		watch_begin(&s, &p);
		hpproc_fast_send(&p, 0, VPID, 0, tag, data, n);
		for (; !s.valid[0] || !s.valid[1]; before++) {
			watch_look(&s);
			weft_host_cpu(h, WEFT_NS);
		}
		assert_true(before > 50);
		for (uint32_t i = 0; i < AFTER; i++) {
			watch_look(&s);
			weft_host_cpu(h, WEFT_NS);
		}
		watch_check(&s, tag, n);
		assert_true(hpproc_nqe(&p, w) && hpproc_nqe(&p, w));
	}
	return 0;
}

static void run_on(const struct weft_class *bus, const char *width,
		   const char *clock)
{
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", bus);
	if (bus) {
		exrig_set(&r, "bus.pci", "width", width);
		exrig_set(&r, "bus.pci", "clock", clock);
	}
	exrig_prog(&r, 0, reader);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* Q10 */
static void test_q10_valid_last(void **state)
{
	run_on(&weft_class_bus_pci, "4", "30ns");
	run_on(&weft_class_bus_pci, "8", "15ns");
	run_on(NULL, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_q10_valid_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
