/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of HVIA-GE (hvia.md 2.2, 2.3, 3.4): values after a reset and after
 * stores, accesses without meaning, kernel packets, the VI table, interrupts by
 * cause and mask. */
#include "hvduo.h"

#include <string.h>

#include "unit/host/config.h"
#include "systems/hvia/nic/nic.h"

extern const struct weft_class weft_class_bus_pci, weft_class_hvia_nic;

static struct hvrig rig;

static uint64_t counted(struct bench *b, const char *name)
{
	return bench_counter(b->node[0].dev, name);
}

static uint64_t bad(struct bench *b)
{
	/* waits, because a load returns after the stores have arrived */
	hvrig_load(&rig, HVIA_ID);
	return counted(b, "bad_accesses");
}

static void run(node_fn fn, const char *param, const char *value)
{
	struct bench *b = hvrig_bench();

	if (param)
		bench_set(b, "n0.nic", param, value);
	bench_prog(b, 0, fn);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

/* Maps the card in its state after power-up. */
static void map_only(struct weft_host *h)
{
	memset(&rig, 0, sizeof(rig));
	rig.h = h;
	rig.dev = weft_dev_open(h, 0);
	weft_cfg_store(h, rig.dev, HVIA_CFG_COMMAND, 2,
		       HVIA_CMD_MEMORY | HVIA_CMD_MASTER);
	assert_true(weft_io_map(h, rig.dev, HVIA_BAR_DOORBELL, 0,
				HVIA_BAR_DOORBELL_BYTES, WEFT_UC, &rig.db));
	assert_true(weft_io_map(h, rig.dev, HVIA_BAR_CTRL, 0,
				HVIA_BAR_CTRL_BYTES, WEFT_UC, &rig.ctl));
}

/* ---- configuration space ---- */

static const struct config_row config[] = {
	{ 0x00, 2, HVIA_VENDOR_ID, HVIA_VENDOR_ID },
	{ 0x02, 2, HVIA_DEVICE_ID, HVIA_DEVICE_ID },
	{ 0x04, 2, 6, 6 },
	{ 0x06, 2, 0x0020, 0x0020 },
	{ 0x08, 4, 0x02000000, 0x02000000 },
	{ 0x0e, 1, 0, 0 },
	{ 0x18, 4, 0, 0 },
	{ 0x3c, 1, 0, 0xff },
	{ 0x3d, 1, 1, 1 },
	{ 0x40, 4, 0, 0 },
};

static int spaces(struct weft_host *h, struct bench *b)
{
	static const uint32_t bytes[2] = { HVIA_BAR_DOORBELL_BYTES,
					   HVIA_BAR_CTRL_BYTES };

	map_only(h);
	CONFIG_CHECK(h, rig.dev, config);
	config_bars(h, rig.dev, bytes, 2);
	return 0;
}

static void configuration_space_is_as_the_table_says(void **state)
{
	run(spaces, NULL, NULL);
}

/* ---- control registers ---- */

enum { LINK = HVIA_STATUS_LINK, L1S = (64 << 20) / HVIA_L1_BYTES };

static const struct {
	uint32_t off;
	uint64_t put, get;
} stored[] = {
	{ HVIA_CTRL, 0x3d, 0x3d },
	{ HVIA_CTRL, 0xffc0, 0 },
	{ HVIA_INT_MASK, ~0ull, 7 },
	{ HVIA_INT_MASK, 2, 2 },
	{ HVIA_MAC, 0xffff060504030202, 0x0000060504030202 },
	{ HVIA_ATT_ADDR, 0x1238, 0x1238 },
	{ HVIA_ATT_ADDR, (64 << 20) + 0x1f, 0x18 },
	{ HVIA_ATT_L1_COUNT, L1S, L1S },
	{ HVIA_ATT_L1_COUNT, L1S + 1, L1S },
	{ HVIA_ATT_L1_COUNT, 1ull << 40, L1S },
	{ HVIA_ATT_L1_COUNT, 0, 0 },
	{ HVIA_MOVE_FROM, 0x123456789, 0x123456789 },
	{ HVIA_MOVE_TO, 0x987654321, 0x987654321 },
	{ HVIA_ATT_HOST_L1, 0x123456780, 0x123456780 },
	{ HVIA_ATT_HOST_L2, 0x123456788, 0x123456788 },
};
/* Read-only registers. */
static const struct {
	uint32_t off;
	uint64_t get;
} fixed[] = {
	{ HVIA_ID, HVIA_VERSION },  { HVIA_STATUS, LINK },
	{ HVIA_ERR_POP, 0 },	    { HVIA_ERR_INFO, 0 },
	{ HVIA_PAYLOAD_MAX, 1472 },
};

static int values(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_CTRL), HVIA_CTRL_PREFETCH);
	assert_int_equal(hvrig_load(&rig, HVIA_MAC), 0x000000000002);
	for (uint32_t off = HVIA_INT_CAUSE; off < 0x98; off += 8)
		if (off != HVIA_MAC && off != HVIA_PAYLOAD_MAX &&
		    hvrig_load(&rig, off))
			fail_msg("reset of %03x", off);
	hvrig_store(&rig, HVIA_ATT_ADDR, 0);
	for (uint32_t i = 0; i < sizeof(stored) / sizeof(*stored); i++) {
		hvrig_store(&rig, stored[i].off, stored[i].put);
		if (hvrig_load(&rig, stored[i].off) != stored[i].get)
			fail_msg("row %u", i);
	}
	assert_int_equal(bad(b), 0);
	for (uint32_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		hvrig_store(&rig, fixed[i].off, ~0ull);
		assert_int_equal(hvrig_load(&rig, fixed[i].off), fixed[i].get);
		assert_int_equal(bad(b), i + 1);
	}
	return 0;
}

static void stores_leave_what_the_table_says(void **state)
{
	run(values, NULL, NULL);
}

/* Registers that a load does not change. */
static const uint32_t quiet[] = {
	HVIA_CTRL,     HVIA_INT_CAUSE,	  HVIA_INT_MASK,    HVIA_MAC,
	HVIA_ATT_ADDR, HVIA_ATT_L1_COUNT, HVIA_MOVE_FROM,   HVIA_MOVE_TO,
	HVIA_ERR_INFO, HVIA_MOVE_COUNT,	  HVIA_ATT_HOST_L1, HVIA_ATT_HOST_L2,
};
enum { QUIET = sizeof(quiet) / sizeof(*quiet) };

static void quiet_load(struct bench *b, uint64_t v[QUIET + 2])
{
	for (uint32_t i = 0; i < QUIET; i++)
		v[i] = hvrig_load(&rig, quiet[i]);
	v[QUIET] = counted(b, "moved");
	v[QUIET + 1] = counted(b, "bad_accesses");
}

static int each_alone(struct weft_host *h, struct bench *b)
{
	static const uint64_t put[][2] = {
		{ HVIA_CTRL, HVIA_CTRL_IRQ }, { HVIA_INT_CAUSE, 7 },
		{ HVIA_INT_MASK, 5 },	      { HVIA_MAC, 0x0605040302 },
		{ HVIA_ATT_ADDR, 0x40 },      { HVIA_ATT_L1_COUNT, 11 },
		{ HVIA_ATT_BUSY, 12 },	      { HVIA_MOVE_FROM, 13 },
		{ HVIA_MOVE_TO, 14 },	      { HVIA_ATT_L2, 15 },
		{ HVIA_ATT_HOST_L1, 0x1000 }, { HVIA_ATT_HOST_L2, 0x2000 },
	};
	uint64_t was[QUIET + 2], is[QUIET + 2];

	map_only(h);
	for (uint32_t i = 0; i < sizeof(put) / sizeof(*put); i++) {
		quiet_load(b, was);
		hvrig_store(&rig, put[i][0], put[i][1]);
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
		quiet_load(b, is);
		for (uint32_t k = 0; k < QUIET + 2; k++)
			if (is[k] != was[k] &&
			    (k >= QUIET || quiet[k] != put[i][0]))
				fail_msg("%03x alters row %u",
					 (uint32_t)put[i][0], k);
	}
	return 0;
}

static void a_store_changes_its_register_alone(void **state)
{
	run(each_alone, NULL, NULL);
}

static int without_prefetch(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_CTRL), 0);
	return 0;
}

static int with_host_table(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_CTRL),
			 HVIA_CTRL_PREFETCH | HVIA_CTRL_ATT_HOST);
	return 0;
}

static int with_address(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_MAC), 0x665544332202);
	assert_int_equal(hvrig_load(&rig, HVIA_PAYLOAD_MAX), 1472);
	return 0;
}

static int with_short_frames(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_PAYLOAD_MAX), 18);
	return 0;
}

static void registers_follow_the_parameters(void **state)
{
	run(without_prefetch, "prefetch", "0");
	run(with_host_table, "att_host", "yes");
	run(with_address, "mac_addr", "112516402455042"); /* 0x665544332202 */
	run(with_short_frames, "mtu", "60");
}

/* ---- SDRAM ---- */

/* The address advances with each access and wraps at the end of memory. */
static int sdram(struct weft_host *h, struct bench *b)
{
	const uint32_t end = 64 << 20;

	map_only(h);
	hvrig_store(&rig, HVIA_ATT_ADDR, end - 16);
	for (uint64_t i = 1; i <= 4; i++)
		hvrig_store(&rig, HVIA_ATT_DATA, 0x1111111111111111 * i);
	assert_int_equal(hvrig_load(&rig, HVIA_ATT_ADDR), 16);
	hvrig_store(&rig, HVIA_ATT_ADDR, end - 16);
	for (uint64_t i = 1; i <= 4; i++)
		assert_int_equal(hvrig_load(&rig, HVIA_ATT_DATA),
				 0x1111111111111111 * i);
	assert_int_equal(hvrig_load(&rig, HVIA_ATT_ADDR), 16);
	/* level 2 starts at the end of the SDRAM, with 4 bytes per entry */
	hvrig_store(&rig, HVIA_ATT_L2, 0ull << 32 | 0xaaaa1000);
	hvrig_store(&rig, HVIA_ATT_L2, 1ull << 32 | 0xbbbb2000);
	hvrig_store(&rig, HVIA_ATT_ADDR, end - 8);
	assert_int_equal(hvrig_load(&rig, HVIA_ATT_DATA), 0xaaaa1000bbbb2000);
	hvrig_store(&rig, HVIA_ATT_L2, (uint64_t)(end / 4 - 1) << 32 | 5);
	assert_int_equal(bad(b), 0);
	hvrig_store(&rig, HVIA_ATT_L2, (uint64_t)(end / 4) << 32 | 5);
	assert_int_equal(bad(b), 1);
	hvrig_store(&rig, HVIA_ATT_ADDR, 0);
	assert_int_equal(hvrig_load(&rig, HVIA_ATT_DATA),
			 5 | 0x33333333ull << 32);
	return 0;
}

static void the_table_is_written_word_by_word(void **state)
{
	run(sdram, NULL, NULL);
}

/* Checks that entries are moved in ascending order and that counts beyond the
 * table are refused. */
static int moves(struct weft_host *h, struct bench *b)
{
	const uint64_t all = (64 << 20) / 4;
	static const struct {
		uint64_t from, to, count;
	} wrong[] = { { (64 << 20) / 4 + 1, 0, 0 },
		      { 0, (64 << 20) / 4 + 1, 0 },
		      { 10, 0, (64 << 20) / 4 - 9 },
		      { 0, 10, (64 << 20) / 4 - 9 } };

	map_only(h);
	for (uint32_t i = 0; i < 8; i++)
		hvrig_store(&rig, HVIA_ATT_L2,
			    (uint64_t)(100 + i) << 32 | (i + 1) << 12);
	hvrig_store(&rig, HVIA_MOVE_FROM, 102);
	hvrig_store(&rig, HVIA_MOVE_TO, 101);
	hvrig_store(&rig, HVIA_MOVE_COUNT, 4);
	while (hvrig_load(&rig, HVIA_MOVE_COUNT))
		;
	assert_int_equal(hvrig_load(&rig, HVIA_STATUS), LINK);
	assert_int_equal(counted(b, "moved"), 4);
	hvrig_store(&rig, HVIA_ATT_ADDR, (64 << 20) - 4 * 108);
	/* two of the entries, the higher one first */
	for (uint32_t i = 0; i < 4; i++) {
		static const uint64_t want[] = { 0x7000ull << 32 | 0x8000,
						 0x6000ull << 32 | 0x6000,
						 0x4000ull << 32 | 0x5000,
						 0x1000ull << 32 | 0x3000 };

		assert_int_equal(hvrig_load(&rig, HVIA_ATT_DATA), want[i]);
	}
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		hvrig_store(&rig, HVIA_MOVE_FROM, wrong[i].from);
		hvrig_store(&rig, HVIA_MOVE_TO, wrong[i].to);
		hvrig_store(&rig, HVIA_MOVE_COUNT, wrong[i].count);
		assert_int_equal(bad(b), i + 1);
	}
	/* moves entries up to the end of the table. A second move during this
	 * move is refused */
	hvrig_store(&rig, HVIA_MOVE_FROM, all - 5000);
	hvrig_store(&rig, HVIA_MOVE_TO, all - 5000);
	hvrig_store(&rig, HVIA_MOVE_COUNT, 5000);
	assert_int_equal(hvrig_load(&rig, HVIA_MOVE_COUNT), 5000);
	assert_int_equal(hvrig_load(&rig, HVIA_STATUS),
			 LINK | HVIA_STATUS_MOVE);
	hvrig_store(&rig, HVIA_MOVE_COUNT, 1);
	assert_int_equal(bad(b), 5);
	return 0;
}

static void entries_of_level_2_are_moved_inside_of_the_table(void **state)
{
	run(moves, NULL, NULL);
}

/* ---- accesses without an effect ---- */

static int wrong(struct weft_host *h, struct bench *b)
{
	uint64_t n = 0;

	map_only(h);
	weft_io_store32(h, &rig.ctl, HVIA_INT_MASK, 7);
	assert_int_equal(bad(b), ++n);
	weft_io_store32(h, &rig.ctl, HVIA_INT_MASK + 4, 7);
	assert_int_equal(bad(b), ++n);
	assert_int_equal(hvrig_load(&rig, HVIA_INT_MASK), 0);
	/* doorbells are ignored, because the card is not enabled */
	for (uint32_t q = 0; q < 2; q++) {
		weft_io_store64(h, &rig.db, hvia_doorbell(3, q), 0);
		assert_int_equal(bad(b), ++n);
	}
	/* ignored, because no packet has arrived */
	hvrig_store(&rig, HVIA_KRX_LENGTH, 0);
	assert_int_equal(hvrig_load(&rig, HVIA_KRX_LENGTH), 0);
	assert_int_equal(hvrig_load(&rig, HVIA_KRX_TYPE), 0);
	/* stores are ignored, because memory accesses are off */
	weft_cfg_store(h, rig.dev, HVIA_CFG_COMMAND, 2, HVIA_CMD_MASTER);
	hvrig_store(&rig, HVIA_INT_MASK, 5);
	assert_int_equal(hvrig_load(&rig, HVIA_INT_MASK), ~0ull);
	weft_cfg_store(h, rig.dev, HVIA_CFG_COMMAND, 2, HVIA_CMD_MEMORY);
	assert_int_equal(hvrig_load(&rig, HVIA_INT_MASK), 0);
	return 0;
}

static void accesses_that_mean_nothing_are_counted(void **state)
{
	run(wrong, NULL, NULL);
}

/* ---- bursts ---- */

enum { WORDS = 8 };

static int burst(struct weft_host *h, struct bench *b)
{
	uint64_t w[WORDS];
	struct weft_io wc;

	map_only(h);
	assert_true(weft_io_map(h, rig.dev, HVIA_BAR_CTRL, 0,
				HVIA_BAR_CTRL_BYTES, WEFT_WC, &wc));
	for (uint32_t i = 0; i < WORDS; i++)
		w[i] = 0x0101010101010101 * (i + 1);
	weft_io_copy(h, &wc, HVIA_KTX, w, sizeof(w));
	weft_io_fence(h);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(hvrig_load(&rig, HVIA_KTX + 8 * i), w[i]);
	assert_int_equal(counted(b, "bad_accesses"), 0);
	/* The last four of 12 bytes are not a whole quadword. */
	weft_io_copy(h, &wc, HVIA_KTX + 64, w, 12);
	weft_io_fence(h);
	assert_int_equal(bad(b), 1);
	assert_int_equal(hvrig_load(&rig, HVIA_KTX + 64), w[0]);
	assert_int_equal(hvrig_load(&rig, HVIA_KTX + 72), 0);
	return 0;
}

static void a_burst_stores_each_of_its_quadwords(void **state)
{
	run(burst, NULL, NULL);
}

/* Sends without a cable, so that frames wait. */
static int alone(struct weft_host *h, struct bench *b)
{
	map_only(h);
	assert_int_equal(hvrig_load(&rig, HVIA_STATUS), 0);
	hvrig_store(&rig, HVIA_KTX_LENGTH, 60);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(hvrig_load(&rig, HVIA_KTX_LENGTH), 60);
	assert_int_equal(counted(b, "kernel_tx"), 1);
	return 0;
}

/* Checks that the card uses the clock of a bus of equal frequency, and
 * otherwise its own clock. */
static int in_step(struct weft_host *h, struct bench *b)
{
	const struct hv_nic *n = b->node[0].dev->state;
	const struct weft_clock *bus = weft_bus_of(n->bus)->clock(n->bus);
	bool same = bus->num * n->p.clock.den == n->p.clock.num * bus->den;

	assert_int_equal(same, b->v[0]);
	assert_ptr_equal(n->clk, same ? bus : &n->p.clock);
	return 0;
}

static void the_card_has_the_clock_of_a_bus_as_fast(void **state)
{
	static const char *const preset[] = { "pci33", "pci64-66" };

	for (uint32_t i = 0; i < 2; i++) {
		struct bench *b = bench_make(1, &weft_class_bus_pci,
					     &weft_class_hvia_nic);

		assert_int_equal(
			weft_preset_apply(b->node[0].bus, preset[i], NULL), 0);
		b->v[0] = i;
		bench_well(b, in_step);
		bench_free(b);
	}
}

static void no_cable_is_no_link(void **state)
{
	struct bench *b =
		bench_make(1, &weft_class_bus_pci, &weft_class_hvia_nic);

	bench_well(b, alone);
	bench_free(b);
}

/* ---- VI table ---- */

static uint64_t vi_load(uint32_t vi, uint32_t byte)
{
	return hvrig_load(&rig, hvia_vi_entry(vi, byte));
}

static void vi_store(uint32_t vi, uint32_t byte, uint64_t val)
{
	hvrig_store(&rig, hvia_vi_entry(vi, byte), val);
}

/* Checks that stores to one entry leave its neighbours unchanged and that the
 * card clears the flush flags. */
static int table(struct weft_host *h, struct bench *b)
{
	static const uint8_t mac[6] = { 2, 3, 4, 5, 6, 7 };
	static const uint32_t vis[] = { 0, 1, 63, 64, 1023 };
	const uint32_t keep = HVIA_VIF_RDMA_WRITE | HVIA_VIF_IRQ_SEND |
			      HVIA_VIF_IRQ_RECV | HVIA_VIF_STAMP;

	map_only(h);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t v = vis[i];

		assert_int_equal(vi_load(v, HVIA_VI_0), 0);
		vi_store(v, HVIA_VI_1, hvia_vi_1(mac, 0xfff0 + i, 0x8000 + i));
		vi_store(v, HVIA_VI_2, ~0ull);
		vi_store(v, HVIA_VI_0,
			 hvia_vi_0(HVIA_VI_PENDING, 0xff, 0xabc0 + i, 0x3f0 + i,
				   mac));
	}
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t v = vis[i];

		assert_int_equal(vi_load(v, HVIA_VI_0),
				 hvia_vi_0(HVIA_VI_PENDING,
					   0xff & ~HVIA_VIF_FLUSH, 0xabc0 + i,
					   0x3f0 + i, mac));
		assert_int_equal(vi_load(v, HVIA_VI_1),
				 hvia_vi_1(mac, 0xfff0 + i, 0x8000 + i));
		assert_int_equal(vi_load(v, HVIA_VI_2), UINT32_MAX);
		vi_store(v, HVIA_VI_3, 0xff00);
		assert_int_equal(vi_load(v, HVIA_VI_3), 0);
		vi_store(v, HVIA_VI_3, keep | HVIA_VIF_FLUSH);
		assert_int_equal(vi_load(v, HVIA_VI_3), keep);
		vi_store(v, HVIA_VI_3, HVIA_VIF_IRQ_SEND << 8);
		assert_int_equal(vi_load(v, HVIA_VI_3),
				 keep & ~HVIA_VIF_IRQ_SEND);
	}
	return 0;
}

static void entries_of_the_vi_table_keep_what_is_stored(void **state)
{
	run(table, NULL, NULL);
}

/* ---- reset ---- */

/* Rings a doorbell whose descriptor is in no region. */
static void ring_wrongly(uint32_t vi)
{
	weft_io_store64(rig.h, &rig.db, hvia_doorbell(vi, HVIA_Q_RECV),
			hvia_token(L1S, 0));
}

static void spoil(const uint32_t *vis, uint32_t n)
{
	static const uint8_t mac[6] = { 2, 3, 4, 5, 6, 7 };

	hvrig_store(&rig, HVIA_CTRL, HVIA_CTRL_ENABLE | HVIA_CTRL_IRQ);
	hvrig_store(&rig, HVIA_INT_MASK, HVIA_INT_ERROR);
	hvrig_store(&rig, HVIA_ATT_L1_COUNT, L1S);
	for (uint32_t i = 0; i < n; i++) {
		vi_store(vis[i], HVIA_VI_1, hvia_vi_1(mac, 1, 2));
		vi_store(vis[i], HVIA_VI_2, ~0ull);
		vi_store(vis[i], HVIA_VI_0,
			 hvia_vi_0(HVIA_VI_PENDING, 0, 3, 4, mac));
	}
	/* one error more than the card keeps */
	for (uint32_t i = 0; i <= HVIA_ERR_ENTRIES; i++)
		ring_wrongly(7);
	assert_true(hvrig_load(&rig, HVIA_ERR_POP) & HVIA_ERR_VALID);
	assert_int_equal(hvrig_load(&rig, HVIA_ERR_INFO), hvia_token(L1S, 0));
	assert_int_equal(hvrig_load(&rig, HVIA_INT_CAUSE), HVIA_INT_ERROR);
}

/* Checks that the reset has left no stored value and no event. */
static int afterwards(struct weft_host *h, struct bench *b)
{
	static const uint32_t vis[] = { 0, 1, 7, 63, 64, 511, 512, 1023 };
	const uint32_t n = sizeof(vis) / sizeof(*vis);
	uint64_t pop;

	map_only(h);
	spoil(vis, n);
	hvrig_store(&rig, HVIA_CTRL, HVIA_CTRL_RESET | HVIA_CTRL_ENABLE);
	assert_int_equal(hvrig_load(&rig, HVIA_CTRL), HVIA_CTRL_PREFETCH);
	assert_int_equal(hvrig_load(&rig, HVIA_INT_MASK), 0);
	assert_int_equal(hvrig_load(&rig, HVIA_INT_CAUSE), 0);
	assert_int_equal(hvrig_load(&rig, HVIA_ATT_L1_COUNT), 0);
	assert_int_equal(hvrig_load(&rig, HVIA_ERR_POP), 0);
	assert_int_equal(hvrig_load(&rig, HVIA_ERR_INFO), 0);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t w = HVIA_VI_0; w <= HVIA_VI_3; w += 8)
			if (vi_load(vis[i], w))
				fail_msg("VI %u, byte %u", vis[i], w);
	/* the loss of an error was forgotten, too */
	hvrig_store(&rig, HVIA_CTRL, HVIA_CTRL_ENABLE);
	ring_wrongly(7);
	pop = hvrig_load(&rig, HVIA_ERR_POP);
	assert_true(pop & HVIA_ERR_VALID);
	assert_false(pop & HVIA_ERR_OVERFLOW);
	return 0;
}

static void a_reset_leaves_nothing(void **state)
{
	run(afterwards, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_space_is_as_the_table_says),
		cmocka_unit_test(stores_leave_what_the_table_says),
		cmocka_unit_test(a_store_changes_its_register_alone),
		cmocka_unit_test(registers_follow_the_parameters),
		cmocka_unit_test(the_table_is_written_word_by_word),
		cmocka_unit_test(
			entries_of_level_2_are_moved_inside_of_the_table),
		cmocka_unit_test(accesses_that_mean_nothing_are_counted),
		cmocka_unit_test(a_burst_stores_each_of_its_quadwords),
		cmocka_unit_test(no_cable_is_no_link),
		cmocka_unit_test(the_card_has_the_clock_of_a_bus_as_fast),
		cmocka_unit_test(entries_of_the_vi_table_keep_what_is_stored),
		cmocka_unit_test(a_reset_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
