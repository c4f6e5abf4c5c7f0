/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged accesses (hostport.md 10.1). A conditional store that succeeds has
 * reserved the notification entry of its instruction (X4, CSB11). Also tests
 * ULTRA's tagged stores and loads. */
#include "unit/cmocka_all.h"

#include "ultrarig.h"

/* ---- a full notification queue ---- */

enum { NQ = 16, STORES = 4 * NQ, NOBODY = 900 };

static struct hpdrv drv;
static struct hpproc proc[2];

/* Issues instructions with the tag of the thread and takes no notification.
 * Returns how many were accepted. */
static uint32_t stores(struct weft_host *h, const struct weft_io *page)
{
	uint64_t w[HP_WORDS];
	uint32_t done = 0;

	for (uint32_t i = 0; i < STORES; i++) {
		hpproc_to(w, HP_B_FAST_SEND | HP_A | 1, 0, NOBODY, done);
		done += weft_io_tcstore(h, page, 0, w, HP_LINE, 0);
	}
	return done;
}

/* Checks that all accepted instructions have been executed, although no
 * notification was taken. */
static void executed(const struct hpproc *p, uint32_t n)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		volatile uint64_t *e = p->nq + HP_WORDS * i;

		assert_true(HP_NQE_VALID(e));
		seen |= 1ull << HP_NQE_TAG(e);
	}
	assert_int_equal(seen, (1ull << n) - 1);
}

static int full(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_proc *second;
	uint64_t w[HP_WORDS];
	struct weft_io page;

	drv = (struct hpdrv){ .nq = NQ };
	hpdrv_open(&drv, r, node, h);
	/* VPID 0 is the tag of the monitor */
	hpproc_open(&proc[0], &drv, h, 0, 0);
	hpproc_open(&proc[1], &drv, h, 501, 0);
	second = weft_proc_new(h, 0);
	assert_true(weft_proc_set_tag(h, second, 501));
	assert_true(weft_proc_map(h, second, drv.dev, HP_BAR_TRIGGER, HP_PAGE,
				  HP_PAGE, WEFT_UC, &page));
	r->v[0] = stores(h, &proc[0].page);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	executed(&proc[0], (uint32_t)r->v[0]);
	/* Takes all notifications, so that their entries are free again. The
	 * device then writes a status, which uses one of these entries. */
	for (uint32_t i = 0; i < NQ - 1; i++)
		assert_true(hpproc_nqe(&proc[0], w));
	hpproc_free(&proc[0]);
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	r->v[1] = stores(h, &proc[0].page);
	/* a full queue of one process does not affect another process */
	assert_true(weft_proc_enter(h, second));
	r->v[2] = stores(h, &page);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	executed(&proc[1], (uint32_t)r->v[2]);
	return 0;
}

static void test_tagged_store_fails_when_the_queue_is_full(void **state)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "tagged_depth", "4");
	exrig_prog(&r, 0, full);
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(r.v[0], NQ - 1);
	assert_int_equal(r.v[1], NQ - 2);
	assert_int_equal(r.v[2], NQ - 1);
	assert_int_equal(exrig_counter(r.node[0].nic, "tagged"), 3 * NQ - 4);
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis"), 3 * NQ - 4);
	assert_int_equal(exrig_counter(r.node[0].nic, "tagged_full"),
			 3 * STORES - (3 * NQ - 4));
	exrig_free(&r);
}

/* ---- ULTRA ---- */

enum { VPID = 0x21, WORDS = 5, KEPT = 2, TRIES = 1000 };

static struct weft_proc *tagged_proc(struct ultra_end *e, uint16_t tag)
{
	struct weft_proc *p = weft_proc_new(e->h, 0);

	assert_true(weft_proc_set_tag(e->h, p, tag));
	return p;
}

static struct weft_io page_of(struct ultra_end *e, struct weft_proc *p,
			      uint64_t off)
{
	struct weft_io io;

	assert_true(weft_proc_map(e->h, p, e->d.dev, HP_BAR_ULTRA, off, HP_PAGE,
				  WEFT_UC, &io));
	return io;
}

/* Moves the thread into a process that has this tag and maps the page. */
static struct weft_io enter(struct ultra_end *e, uint64_t off, uint16_t tag)
{
	struct weft_proc *p = tagged_proc(e, tag);
	struct weft_io io = page_of(e, p, off);

	assert_true(weft_proc_enter(e->h, p));
	return io;
}

/* Checks that no store is accepted under a wrong tag, at a wrong offset or with
 * a condition that does not exist. t->v[0] counts the packets until the slice
 * is full. */
static void ultra_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[8] = { 77 }, note[HP_WORDS];

	/* refused, because the monitor's tag is not that of the port */
	assert_false(ultra_send_cond(&e->tx, 0, 1, w, WORDS));
	e->tx.page = enter(e, HP_ULTRA_PAGE(0), VPID);
	ultrarig_meet(e);
	assert_false(weft_io_tcstore(e->h, &e->tx.page, HP_ULTRA_START(3), w,
				     16, 0));
	assert_false(weft_io_tcstore(e->h, &e->tx.page, HP_ULTRA_START(2), w,
				     16, 1ull << 56));
	/* refused, because the condition does not exist, although the store
	 * has the length of a VCI */
	assert_false(weft_io_tcstore(e->h, &e->tx.page, HP_ULTRA_START(8), w,
				     sizeof(w), 1ull << 56));
	for (uint64_t tag = 0; tag < KEPT; tag++) {
		ultrarig_fill(w, WORDS, tag);
		assert_true(
			ultra_send_cond(&e->tx, ULTRA_NOTIFY, tag, w, WORDS));
		assert_true(hpproc_wait(&e->p, note));
		assert_int_equal(note[0], tag);
	}
	/* the target keeps KEPT packets, after which the slice of the origin
	 * fills up */
	for (uint32_t i = 0; i < TRIES; i++)
		t->v[0] += ultra_send_cond(&e->tx, 0, KEPT + t->v[0], w, WORDS);
	ultrarig_meet(e);
	ultrarig_meet(e);
}

static void ultra_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[WORDS], want[WORDS], tag;

	assert_false(ultra_poll_tagged(&e->rx, &tag, w, WORDS));
	ultrarig_meet(e);
	ultrarig_meet(e);
	/* the packet has arrived, but not for this tag */
	assert_false(ultra_poll_tagged(&e->rx, &tag, w, WORDS));
	e->rx.page = enter(e, HP_ULTRA_CPL | HP_ULTRA_PAGE(0), VPID);
	for (uint64_t i = 0; i < KEPT + t->v[0]; i++) {
		while (!ultra_poll_tagged(&e->rx, &tag, w, WORDS))
			;
		assert_int_equal(tag, i);
		ultrarig_fill(want, WORDS, i < KEPT ? i : KEPT - 1);
		assert_memory_equal(w, want, sizeof(w));
	}
	assert_false(ultra_poll_tagged(&e->rx, &tag, w, WORDS));
	ultrarig_meet(e);
}

static void test_tagged_ultra_store_checks_tag_and_offset(void **state)
{
	static const char *const set[] = { "hostport.nic:ultra_port_slice=32",
					   NULL };
	struct ultrarig t = {
		.attr = { .slices = KEPT, .on_device = true, .vpid = VPID }
	};

	ultrarig_run(&t, NULL, set, ultra_near, ultra_far);
	print_message("%u more\n", (unsigned)t.v[0]);
	assert_in_range(t.v[0], 1, TRIES - 1);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_sent"), KEPT + t.v[0]);
	assert_int_equal(ultrarig_counter(&t, 1, "ultra_received"),
			 KEPT + t.v[0]);
	ultrarig_free(&t);
}

enum { MOST = 8 };

/* The device takes tagged stores of at most MOST words. */
static void most_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[MOST] = { 0 };

	e->tx.page = enter(e, HP_ULTRA_PAGE(0), VPID);
	for (uint32_t words = 1; words <= MOST; words++)
		assert_int_equal(ultra_send_cond(&e->tx, 0, words, w, words),
				 words < MOST);
	ultrarig_meet(e);
}

static void most_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[ULTRA_PAYLOAD_MAX], tag;

	for (int words = 1; words < MOST; words++) {
		assert_int_equal(ultra_recv(&e->rx, &tag, w, ULTRA_PAYLOAD_MAX,
					    WEFT_NEVER),
				 words);
		assert_int_equal(tag, words);
	}
	ultrarig_meet(e);
}

static void a_tagged_store_has_as_many_words_as_a_packet(void **state)
{
	static const char *const set[] = { "hostport.nic:ultra_max_words=8",
					   NULL };
	struct ultrarig t = { .attr = { .vpid = VPID } };

	ultrarig_run(&t, NULL, set, most_near, most_far);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_sent"), MOST - 1);
	ultrarig_free(&t);
}

/* ---- tagged accesses behind the last port ---- */

enum { LAST = 2 }; /* ports */

static void behind_near(struct ultrarig *t, struct ultra_end *e)
{
	static const uint32_t unit[] = { 0, HP_ULTRA_CPL };
	struct weft_proc *p = tagged_proc(e, VPID);
	struct weft_io page[2];
	uint64_t w = 0;

	for (uint32_t i = 0; i < 2; i++)
		page[i] = page_of(e, p, unit[i] | HP_ULTRA_PAGE(LAST));
	assert_true(weft_proc_enter(e->h, p));
	for (uint32_t i = 0; i < 2; i++) {
		weft_io_tstore(e->h, &page[i], HP_ULTRA_START(1), &w, 8);
		weft_io_tstore(e->h, &page[i], HP_ULTRA_RP, &w, 8);
		assert_false(
			weft_io_tload64(e->h, &page[i], HP_ULTRA_INDEX(1), &w));
		assert_false(weft_io_tcstore(e->h, &page[i], HP_ULTRA_START(1),
					     &w, 8, 0));
	}
}

static void behind_far(struct ultrarig *t, struct ultra_end *e)
{
}

static void test_ports_that_do_not_exist_refuse_tagged_accesses(void **state)
{
	static const char *const set[] = { "hostport.nic:ultra_ports=2", NULL };
	struct ultrarig t = { .no_path = true };

	ultrarig_run(&t, NULL, set, behind_near, behind_far);
	assert_int_equal(ultrarig_counter(&t, 0, "tagged_refused"), 4);
	ultrarig_free(&t);
}

/* ---- tagged stores to registers ---- */

enum { SLICES = 3, SENT = 3, REFUSED_NEAR = 5, REFUSED_FAR = 3 };

static void tagged_packet(struct ultra_end *e, uint64_t tag)
{
	uint64_t w[WORDS + 1] = { tag };

	ultrarig_fill(w + 1, WORDS, tag);
	weft_io_tstore(e->h, &e->tx.page, HP_ULTRA_START(WORDS + 1), w,
		       sizeof(w));
}

/* Makes one store for each reason of refusal: the tag of another process, a tag
 * in the program's own data, a Triggerpage, the management page, the driver's
 * registers of the process's own port. */
static void regs_near(struct ultrarig *t, struct ultra_end *e)
{
	struct weft_proc *p = tagged_proc(e, VPID);
	struct weft_io driver =
		page_of(e, p, HP_ULTRA_DRIVER | HP_ULTRA_PAGE(0));
	uint64_t w = 0;

	tagged_packet(e, 77);
	weft_io_tstore_user(e->h, &e->tx.page, HP_ULTRA_START(1), &w, 8, VPID);
	weft_io_tstore(e->h, &e->p.page, HP_TRIGGER(HP_T_ISSUE, 1), &w, 8);
	weft_io_tstore(e->h, &e->d.mgmt, HP_R_CTRL, &w, 8);
	e->tx.page = page_of(e, p, HP_ULTRA_PAGE(0));
	assert_true(weft_proc_enter(e->h, p));
	weft_io_tstore(e->h, &driver, HP_UR_CTRL, &w, 8);
	for (uint64_t tag = 0; tag < SENT; tag++) {
		tagged_packet(e, tag);
		weft_host_cpu(e->h, 5 * WEFT_US);
	}
	ultrarig_meet(e);
	ultrarig_meet(e);
}

/* Lets the third packet wait for a slice. A slice becomes free only when the
 * port's own process stores the read pointer. */
static void regs_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[WORDS], want[WORDS], rp = 1, tag;

	ultrarig_meet(e);
	assert_int_equal(ultrarig_counter(t, 1, "ultra_received"), SLICES - 1);
	weft_io_tstore(e->h, &e->rx.page, HP_ULTRA_RP, &rp, 8);
	weft_io_tstore(e->h, &e->rx.page, 0, &rp, 8);
	e->rx.page = enter(e, HP_ULTRA_CPL | HP_ULTRA_PAGE(0), VPID);
	weft_io_tstore(e->h, &e->rx.page, HP_ULTRA_START(2), &rp, 8);
	weft_host_cpu(e->h, 5 * WEFT_US);
	assert_int_equal(ultrarig_counter(t, 1, "ultra_received"), SLICES - 1);
	weft_io_tstore(e->h, &e->rx.page, HP_ULTRA_RP, &rp, 8);
	weft_host_cpu(e->h, 5 * WEFT_US);
	assert_int_equal(ultrarig_counter(t, 1, "ultra_received"), SENT);
	for (uint64_t i = 0; i < SENT; i++) {
		assert_int_equal(ultra_poll(&e->rx, &tag, w, WORDS), WORDS);
		assert_int_equal(tag, i);
		ultrarig_fill(want, WORDS, i);
		assert_memory_equal(w, want, sizeof(w));
	}
	ultrarig_meet(e);
}

static void test_a_register_takes_stores_of_its_process_alone(void **state)
{
	struct ultrarig t = { .attr = { .slices = SLICES, .vpid = VPID } };

	ultrarig_run(&t, NULL, NULL, regs_near, regs_far);
	assert_int_equal(ultrarig_counter(&t, 0, "tagged_refused"),
			 REFUSED_NEAR);
	assert_int_equal(ultrarig_counter(&t, 0, "tagged_stores"), SENT);
	assert_int_equal(ultrarig_counter(&t, 0, "ultra_sent"), SENT);
	assert_int_equal(ultrarig_counter(&t, 1, "tagged_refused"),
			 REFUSED_FAR);
	assert_int_equal(ultrarig_counter(&t, 1, "tagged_stores"), 1);
	ultrarig_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_tagged_store_fails_when_the_queue_is_full),
		cmocka_unit_test(test_tagged_ultra_store_checks_tag_and_offset),
		cmocka_unit_test(a_tagged_store_has_as_many_words_as_a_packet),
		cmocka_unit_test(
			test_ports_that_do_not_exist_refuse_tagged_accesses),
		cmocka_unit_test(
			test_a_register_takes_stores_of_its_process_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
