/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of ULTRA's ports as registers (hostport.md 9.8), its management
 * region, interrupts and refusals (9.5, 9.7). */
#include "unit/cmocka_all.h"

#include "ultrarig.h"

enum { PORT = 3, BEYOND = 64 };

struct reg {
	uint32_t off;
	uint64_t stored, kept;
};

static const struct reg req[] = {
	{ HP_UR_VPID, 0x5abcd, 0xabcd },
	{ HP_UR_OWNER, 0x1122334455667788, 0x1122334455667788 },
	{ HP_UR_TUPID, 0xfff5, 0x7f5 },
	{ HP_UR_DEST, 0x99beef12345678, 0xbeef12345678 },
	{ HP_UR_ROUTE, 0x0807060504030201, 0x0807060504030201 },
	{ HP_UR_ROUTE + 8, 0x100f0e0d0c0b0a09, 0x100f0e0d0c0b0a09 },
	{ HP_UR_LEN, 17, 16 },
	{ HP_UR_SLICE, 0x00c80064, 0x00c80064 },
	{ HP_UR_PTRS, 0, 0x00640064 }, /* both at the lower bound */
	{ HP_UR_CTRL, 0, 0 },
};
static const struct reg cpl[] = {
	{ HP_UC_OUPID, 0xfff6, 0x7f6 },
	{ HP_UC_HPID, 0x187654321, 0x87654321 },
	{ HP_UC_BASE, 0x123456789f, 0x1234567898 },
	{ HP_UC_SIZE, 0x1220abcdef, 0x20abcdef },
	{ HP_UC_PTRS, 0x777, 0 },
	{ HP_UC_VPID, 0x51234, 0x1234 },
	{ HP_UC_OWNER, 0x8877665544332211, 0x8877665544332211 },
	{ HP_UC_CTRL, 0xfe, HP_ULTRA_ON_DEVICE | HP_ULTRA_CPL_IRQ },
};

static uint64_t load(struct ultra_end *e, uint32_t off)
{
	return weft_io_load64(e->h, &e->u.ports, off);
}

static void store(struct ultra_end *e, uint32_t off, uint64_t val)
{
	weft_io_store64(e->h, &e->u.ports, off, val);
}

/* Stores registers one by one, upwards or downwards, and checks that each store
 * leaves the others unchanged. */
static void page(struct ultra_end *e, uint32_t at, const struct reg *r,
		 uint32_t n, bool back)
{
	bool done[16] = { false };
	uint64_t was[16];

	for (uint32_t i = 0; i < n; i++)
		was[i] = load(e, at + r[i].off);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = back ? n - 1 - k : k;

		store(e, at + r[i].off, r[i].stored);
		done[i] = true;
		for (uint32_t j = 0; j < n; j++)
			if (r[j].off != HP_UR_PTRS || r == cpl)
				assert_int_equal(load(e, at + r[j].off),
						 done[j] ? r[j].kept : was[j]);
	}
}

static void ports_near(struct ultrarig *t, struct ultra_end *e)
{
	enum { REQ = sizeof(req) / sizeof(*req) };
	enum { CPL = sizeof(cpl) / sizeof(*cpl) };
	uint32_t at;

	for (uint32_t k = 0; k < 2; k++) {
		at = HP_ULTRA_PAGE(PORT + k);
		page(e, at, req, REQ, k);
		store(e, at + HP_UR_PTRS, 0);
		assert_int_equal(load(e, at + HP_UR_PTRS), 0x00640064);
		page(e, at | HP_ULTRA_CPL, cpl, CPL, k);
		assert_int_equal(load(e, at + 0x50), ~0ull);
		assert_int_equal(load(e, (at | HP_ULTRA_CPL) + 0x40), ~0ull);
	}
	/* halves */
	at = HP_ULTRA_PAGE(PORT) + HP_UR_OWNER;
	assert_int_equal(weft_io_load32(e->h, &e->u.ports, at), 0x55667788);
	assert_int_equal(weft_io_load32(e->h, &e->u.ports, at + 4), 0x11223344);
	/* bounds that do not make a slice */
	store(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE, 0x00640064);
	assert_int_equal(load(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE), 0);
	store(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE, 0x02000000);
	assert_int_equal(load(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE),
			 0x02000000);
	store(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE, 0x02010000);
	assert_int_equal(load(e, HP_ULTRA_PAGE(PORT) + HP_UR_SLICE), 0);
	/* ports beyond the last */
	store(e, HP_ULTRA_PAGE(BEYOND) + HP_UR_VPID, 1);
	assert_int_equal(load(e, HP_ULTRA_PAGE(BEYOND) + HP_UR_VPID), ~0ull);
}

static void nothing(struct ultrarig *t, struct ultra_end *e)
{
}

static const char *const sizes[] = { "hostport.nic:ultra_ports=64",
				     "hostport.nic:ultra_max_words=30",
				     "hostport.nic:ultra_packet_queue=512",
				     NULL };

static void run(const char *const *set, bool path, ultra_fn near, ultra_fn far)
{
	struct ultrarig t = { .no_path = !path };

	ultrarig_run(&t, NULL, set, near, far);
	ultrarig_free(&t);
}

static void registers_keep_what_was_stored(void **state)
{
	run(sizes, false, ports_near, nothing);
}

/* ---- the management region, pages of users ---- */

static void pages_near(struct ultrarig *t, struct ultra_end *e)
{
	struct weft_io io;

	assert_true(weft_io_map(e->h, e->d.dev, HP_BAR_ULTRA, HP_ULTRA_MGMT,
				HP_PAGE, WEFT_UC, &io));
	weft_io_store64(e->h, &io, HP_UM_PORTS, 1);
	assert_int_equal(weft_io_load64(e->h, &io, HP_UM_PORTS), 64);
	assert_int_equal(weft_io_load64(e->h, &io, HP_UM_WORDS), 30);
	assert_int_equal(weft_io_load64(e->h, &io, HP_UM_QUEUE), 512);
	assert_int_equal(weft_io_load64(e->h, &io, 0x18), ~0ull);
	/* a user may read the read pointer of an enabled port and nothing
	 * else */
	assert_int_equal(weft_io_load64(e->h, &e->tx.page, HP_ULTRA_RP),
			 e->tx.lower);
	assert_int_equal(weft_io_load64(e->h, &e->tx.page, 0), ~0ull);
	store(e, HP_ULTRA_PAGE(e->tx.upid) + HP_UR_CTRL, 0);
	assert_int_equal(weft_io_load64(e->h, &e->tx.page, HP_ULTRA_RP), ~0ull);
}

static void pages_say_what_there_is(void **state)
{
	run(sizes, true, pages_near, nothing);
}

/* ---- interrupts ---- */

static bool irq(struct ultra_end *e)
{
	bool got = weft_host_irq_wait(e->h, e->d.dev,
				      weft_host_now(e->h) + 50 * WEFT_US);

	if (got)
		assert_int_equal(hpdrv_get(&e->d, HP_R_IRQ_STATUS),
				 HP_IRQ_ULTRA);
	hpdrv_set(&e->d, HP_R_IRQ_STATUS, HP_IRQ_ULTRA);
	return got;
}

/* Sends packets with notification and interrupt, with one of the two, and with
 * none. */
static void irq_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	ultrarig_meet(e);
	for (uint32_t flags = 0; flags < 4; flags++) {
		ultrarig_give(e, flags, 20 + flags, 2);
		assert_int_equal(irq(e), !!(flags & ULTRA_IRQ));
		assert_int_equal(hpproc_wait(&e->p, w),
				 !!(flags & ULTRA_NOTIFY));
		ultrarig_meet(e);
	}
}

/* Checks that the completer raises its interrupt with each packet if the
 * interrupt is enabled. */
static void irq_far(struct ultrarig *t, struct ultra_end *e)
{
	uint32_t at = HP_ULTRA_CPL | HP_ULTRA_PAGE(e->rx.upid);

	store(e, at + HP_UC_CTRL, HP_ULTRA_EN | HP_ULTRA_CPL_IRQ);
	ultrarig_meet(e);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(irq(e), i < 2);
		ultrarig_take(e, 20 + i, 2);
		store(e, at + HP_UC_CTRL,
		      HP_ULTRA_EN | (i ? 0 : HP_ULTRA_CPL_IRQ));
		ultrarig_meet(e);
	}
}

static void interrupts_come_when_they_were_asked_for(void **state)
{
	run(NULL, true, irq_near, irq_far);
}

/* ---- refusals ---- */

/* Starts a packet of four words four times, and abandons it three times. The
 * notification of the first refusal is in flight when the other packets are
 * abandoned, so that one further notification reports the last of them. */
static void broken_near(struct ultrarig *t, struct ultra_end *e)
{
	static const uint32_t tags[] = { 1, 3 };
	uint64_t w[HP_WORDS];
	/* an uncached window, so that stores are not combined */
	struct weft_io io;

	assert_true(weft_io_map(e->h, e->d.dev, HP_BAR_ULTRA,
				HP_ULTRA_PAGE(e->tx.upid), HP_PAGE, WEFT_UC,
				&io));
	for (uint32_t i = 0; i < 7; i++)
		weft_io_store64(e->h, &io,
				i < 4 ? HP_ULTRA_START(4)
				      : HP_ULTRA_INDEX(32 + i - 7),
				i + 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(hpproc_wait(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w),
				 HP_CMD(0, HP_G_ULTRA, HP_B_ULTRA_REFUSED));
		assert_int_equal(w[0], tags[i]);
		assert_int_equal(w[1], e->tx.upid);
	}
	assert_false(hpproc_wait(&e->p, w));
	assert_int_equal(ultrarig_counter(t, 0, "ultra_refused"), 3);
	ultrarig_meet(e);
}

static void broken_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[4] = { 0 }, tag;

	ultrarig_meet(e);
	assert_int_equal(
		ultra_recv(&e->rx, &tag, w, 4, weft_host_now(e->h) + WEFT_MS),
		3);
	assert_int_equal(tag, 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(w[i], 5 + i);
}

static void broken_packets_are_told_of(void **state)
{
	run(NULL, true, broken_near, broken_far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_keep_what_was_stored),
		cmocka_unit_test(pages_say_what_there_is),
		cmocka_unit_test(interrupts_come_when_they_were_asked_for),
		cmocka_unit_test(broken_packets_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
