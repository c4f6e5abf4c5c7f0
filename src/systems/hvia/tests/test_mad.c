/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE with a broken driver and broken programs: random values in all
 * registers, random descriptors and doorbells, regions that lead to no memory,
 * resets at any time. The card must never hang, and must work after a reset. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "hvarea.h"

enum { AREA = 32 * HVIA_PAGE, ACTS = 1500, VIS = 8 };

static struct {
	struct hvrig rig[2];
	uint8_t *buf[2];
	uint32_t handle[2], seed;
} t;

static uint64_t any(uint32_t *g)
{
	uint64_t v = hvarea_rand(g);

	switch (hvarea_rand(g) % 6) {
	case 0:
		return v % 4;
	case 1:
		return v % 64;
	case 2:
		return v << 32 | hvarea_rand(g);
	case 3:
		return ~v;
	case 4:
		return 1ULL << v % 64;
	default:
		return v;
	}
}

/* ---- random accesses ---- */

static void control(struct hvrig *r, uint32_t *g)
{
	uint32_t off = hvarea_rand(g) % 0x98 & ~7u;
	uint64_t v = any(g);

	if (off == HVIA_MOVE_COUNT)
		v %= 5000;
	if (off == HVIA_MAC || off == HVIA_ATT_HOST_L1 ||
	    off == HVIA_ATT_HOST_L2)
		return;
	if (off == HVIA_CTRL && hvarea_rand(g) % 4)
		v = (v & ~(uint64_t)HVIA_CTRL_RESET) | HVIA_CTRL_ENABLE;
	if (hvarea_rand(g) % 3)
		hvrig_store(r, off, v);
	else
		hvrig_load(r, off);
}

static void table(struct hvrig *r, uint32_t *g)
{
	uint64_t off =
		hvia_vi_entry(hvarea_rand(g) % VIS, hvarea_rand(g) % 4 * 8);

	if (hvarea_rand(g) % 3)
		hvrig_store(r, off, any(g));
	else
		hvrig_vi(r, hvarea_rand(g) % VIS, hvarea_rand(g) % VIS,
			 hvarea_rand(g) % 32);
}

static void kernel(struct hvrig *r, uint32_t *g)
{
	uint32_t off = HVIA_KTX_LENGTH + hvarea_rand(g) % 3 * 8;

	hvrig_store(r, HVIA_KTX + hvarea_rand(g) % 64 * 8, any(g));
	hvrig_store(r, off, hvarea_rand(g) % 2 ? 60 : any(g));
}

/* Writes a descriptor that is nearly right, or random bytes. */
static void scribble(struct hvrig *r, uint32_t *g)
{
	struct hvrig_desc *d = &r->desc[hvarea_rand(g) % HVRIG_DESCS];
	uint32_t me = weft_host_node(r->h), k = hvarea_rand(g) % 5;

	memset(d, 0, sizeof(*d));
	d->d.control = (uint16_t)(hvarea_rand(g) % 16);
	d->d.next = (uintptr_t)&r->desc[hvarea_rand(g) % HVRIG_DESCS];
	d->d.next_handle = r->desc_handle;
	while (k--)
		hvrig_seg(d, t.buf[me] + hvarea_rand(g) % AREA, t.handle[me],
			  hvarea_rand(g) % 4000);
	if (hvarea_rand(g) % 4)
		return;
	((uint32_t *)d)[hvarea_rand(g) % 64] = (uint32_t)any(g);
}

static void doorbell(struct hvrig *r, uint32_t *g)
{
	uint64_t off = hvia_doorbell(hvarea_rand(g) % VIS, hvarea_rand(g) % 2);
	uint64_t v =
		hvia_token(r->desc_handle, hvarea_rand(g) % HVRIG_DESCS *
						   (uint32_t)sizeof(*r->desc));

	if (hvarea_rand(g) % 50 == 0)
		v = any(g);
	if (hvarea_rand(g) % 50 == 0)
		off += hvarea_rand(g) % 512 * 8;
	weft_io_store64(r->h, &r->db, off, v);
}

static void region(struct hvrig *r, uint32_t *g)
{
	weft_phys_t page[4];

	if (r->handles > 40)
		return;
	for (uint32_t i = 0; i < 4; i++)
		page[i] = 0xF0000000u + hvarea_rand(g) % 4096 * HVIA_PAGE;
	hvrig_region(r, any(g) & ~63ULL, 1 + hvarea_rand(g) % 12000, page,
		     HVRIG_PTAG, hvarea_rand(g) % 4);
}

static void act(struct hvrig *r, uint32_t *g)
{
	static void (*const acts[])(struct hvrig *, uint32_t *) = {
		control,  table,    kernel,   scribble, scribble,
		doorbell, doorbell, doorbell, region,
	};

	acts[hvarea_rand(g) % (sizeof(acts) / sizeof(acts[0]))](r, g);
	if (hvarea_rand(g) % 4 == 0)
		weft_host_sleep(r->h, weft_host_now(r->h) +
					      hvarea_rand(g) % 20000 * WEFT_NS);
}

/* ---- check after the random accesses ---- */

static void open_side(struct weft_host *h)
{
	uint32_t i = weft_host_node(h);

	hvrig_open(&t.rig[i], h);
	t.buf[i] =
		hvrig_mem(&t.rig[i], AREA, HVIA_ATT_RDMA_WRITE, &t.handle[i]);
	for (uint32_t v = 0; v < VIS; v++)
		hvrig_vi(&t.rig[i], v, v, HVIA_VIF_RDMA_WRITE);
}

/* Checks that the card works as after a reset. */
static void works(struct weft_host *h, uint32_t *turn)
{
	uint32_t me = weft_host_node(h);
	struct hvrig *r = &t.rig[me];
	struct hvrig_desc *d;

	hvrig_store(r, HVIA_CTRL, HVIA_CTRL_RESET);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_MS);
	open_side(h);
	d = hvrig_desc(r, 0, 0);
	memset(t.buf[me], me ? 0 : 0x5C, 3000);
	hvrig_seg(d, t.buf[me], t.handle[me], 3000);
	hvrig_vi(r, me ? 900 : 901, me ? 901 : 900, 0);
	if (me)
		hvrig_post(r, 900, HVIA_Q_RECV, d);
	hvarea_meet(h, turn);
	if (!me)
		hvrig_post(r, 901, HVIA_Q_SEND, d);
	assert_int_equal(hvrig_wait(r, d),
			 HVIA_ST_DONE | (me ? HVIA_ST_RECEIVE : 0));
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(t.buf[me][i], 0x5C);
}

static int lunatic(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h), g = t.seed * 2 + me, turn = 0;

	open_side(h);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < ACTS; i++)
		act(&t.rig[me], &g);
	hvarea_meet(h, &turn);
	works(h, &turn);
	return 0;
}

static void card_works_after_random_accesses(void **state)
{
	for (t.seed = 1; t.seed <= 12; t.seed++) {
		struct bench *b = hvrig_bench();

		bench_prog(b, 0, lunatic);
		bench_prog(b, 1, lunatic);
		bench_start(b);
		bench_run(b);
		assert_string_equal(bench_failure(b, 0), "");
		assert_false(weft_progs_running(b->sim));
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		card_works_after_random_accesses) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
