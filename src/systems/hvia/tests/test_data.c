/* SPDX-License-Identifier: Apache-2.0 */
/* Messages through two HVIA-GE cards: every byte, length and status, against a
 * model of gather, scatter and pages (hvia.md 9: T-01, T-02, T-05, T-10, T-11,
 * T-13). */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "hvarea.h"

enum { SEGS = 24, GUARD = 0xEE, AREA = 270 * HVIA_PAGE, MSGS = 256 };
#define SRC_VA 0x00007F0012345E40ULL
#define DST_VA 0xFFFF800000001A10ULL

struct seg {
	uint32_t off, len;
};

struct msg {
	uint32_t control, imm, n_src, n_dst;
	struct seg src[SEGS], dst[SEGS];
	uint32_t len, room; /* sums */
};

static struct {
	struct msg msg[MSGS];
	uint32_t n, dst_handle;
	struct hvrig rig[2];
	struct hvarea area[2];
	uint8_t want[AREA];
} t;

/* ---- both sides ---- */

static void fill_source(uint32_t k)
{
	const struct msg *m = &t.msg[k];

	for (uint32_t s = 0, i = 0; s < m->n_src; s++)
		for (uint32_t j = 0; j < m->src[s].len; j++, i++)
			*hvarea_at(&t.area[0], m->src[s].off + j) =
				hvarea_byte(k, i);
}

/* Sends random messages. Segments of the source do not overlap. */
static int sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_new(&t.area[0], r, SRC_VA, AREA, 0, 5);
	hvrig_vi(r, 9, 1023, 0);
	hvarea_meet(h, &turn);
	for (uint32_t k = 0; k < t.n; k++) {
		const struct msg *m = &t.msg[k];
		struct hvrig_desc *d = hvrig_desc(r, k % 7, m->control);
		uint32_t want = HVIA_ST_DONE;

		fill_source(k);
		d->d.immediate = m->imm;
		if (m->control & HVIA_OP_RDMAWRITE) {
			hvrig_remote(d, DST_VA + m->dst[0].off, t.dst_handle);
			want |= HVIA_ST_RDMA_WRITE;
		}
		for (uint32_t s = 0; s < m->n_src; s++)
			hvrig_seg(d,
				  (void *)(uintptr_t)(SRC_VA + m->src[s].off),
				  t.area[0].handle, m->src[s].len);
		hvarea_meet(h, &turn);
		hvrig_post(r, 9, HVIA_Q_SEND, d);
		assert_int_equal(hvrig_wait(r, d), want);
		hvarea_meet(h, &turn);
	}
	return 0;
}

/* Computes the expected content of memory. */
static void model(uint32_t k)
{
	const struct msg *m = &t.msg[k];

	memset(t.want, GUARD, AREA);
	for (uint32_t s = 0, i = 0; s < m->n_dst; s++)
		for (uint32_t j = 0; j < m->dst[s].len && i < m->len; j++, i++)
			t.want[m->dst[s].off + j] = hvarea_byte(k, i);
}

static void compare(uint32_t k)
{
	model(k);
	for (uint32_t i = 0; i < AREA; i++)
		if (*hvarea_at(&t.area[1], i) != t.want[i])
			fail_msg("message %u, byte %u: %02x, not %02x", k, i,
				 *hvarea_at(&t.area[1], i), t.want[i]);
}

static uint32_t want_status(const struct msg *m)
{
	uint32_t s = HVIA_ST_DONE;

	s |= m->control & HVIA_OP_RDMAWRITE ? HVIA_ST_REMOTE_RDMA_WRITE
					    : HVIA_ST_RECEIVE;
	if (m->len > m->room)
		return s | HVIA_ST_LENGTH_ERROR;
	return m->control & HVIA_OP_IMMEDIATE ? s | HVIA_ST_IMMEDIATE : s;
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_new(&t.area[1], r, DST_VA, AREA, HVIA_ATT_RDMA_WRITE, 6);
	t.dst_handle = t.area[1].handle;
	hvrig_vi(r, 1023, 9, HVIA_VIF_RDMA_WRITE);
	hvarea_meet(h, &turn);
	for (uint32_t k = 0; k < t.n; k++) {
		const struct msg *m = &t.msg[k];
		bool takes = m->control != HVIA_OP_RDMAWRITE;
		struct hvrig_desc *d = hvrig_desc(r, k % 7, 0);

		memset(t.area[1].mem, GUARD,
		       (size_t)t.area[1].pages * HVIA_PAGE);
		if (!(m->control & HVIA_OP_RDMAWRITE))
			for (uint32_t s = 0; s < m->n_dst; s++)
				hvrig_seg(d,
					  (void *)(uintptr_t)(DST_VA +
							      m->dst[s].off),
					  t.area[1].handle, m->dst[s].len);
		if (takes)
			hvrig_post(r, 1023, HVIA_Q_RECV, d);
		hvarea_meet(h, &turn);
		if (takes) {
			assert_int_equal(hvrig_wait(r, d), want_status(m));
			assert_int_equal(d->d.length,
					 m->len < m->room ? m->len : m->room);
			if (m->control & HVIA_OP_IMMEDIATE)
				assert_int_equal(d->d.immediate, m->imm);
		} else {
			weft_host_sleep(h, weft_host_now(h) + 12 * WEFT_MS);
		}
		compare(k);
		hvarea_meet(h, &turn);
	}
	assert_int_equal(hvrig_error(r), 0);
	return 0;
}

static struct bench *bench(void)
{
	struct bench *b = hvrig_bench();

	bench_set(b, "host.pc", "oob_delay", "1us");
	return b;
}

static void run(struct bench *b)
{
	bench_prog(b, 0, sender);
	bench_prog(b, 1, receiver);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
}

/* ---- messages ---- */

static struct msg *add(uint32_t control)
{
	struct msg *m = &t.msg[t.n++];

	assert_true(t.n <= MSGS);
	memset(m, 0, sizeof(*m));
	m->control = control;
	m->imm = t.n * 0x01010101u;
	return m;
}

static void src(struct msg *m, uint32_t off, uint32_t len)
{
	m->src[m->n_src++] = (struct seg){ off, len };
	m->len += len;
}

static void dst(struct msg *m, uint32_t off, uint32_t len)
{
	m->dst[m->n_dst++] = (struct seg){ off, len };
	m->room += len;
}

/* T-01 */
static void data_of_every_size_are_exact(void **state)
{
	static const uint32_t n[] = { 0,    1,	  4,	17,   18,    19,
				      1471, 1472, 1473, 2944, 65536, 1048576 };
	struct bench *b = bench();

	t.n = 0;
	for (uint32_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		for (uint32_t op = 0; op < 4; op++) {
			static const uint32_t control[] = {
				HVIA_OP_SENDRECV,
				HVIA_OP_SENDRECV | HVIA_OP_IMMEDIATE,
				HVIA_OP_RDMAWRITE,
				HVIA_OP_RDMAWRITE | HVIA_OP_IMMEDIATE
			};
			struct msg *m = add(control[op]);

			src(m, 3 + i, n[i]);
			dst(m, 777 * i, n[i]);
		}
	run(b);
	bench_free(b);
}

/* T-02: borders of pages, byte by byte. */
static void data_at_page_borders_are_exact(void **state)
{
	struct bench *b = bench();
	uint32_t seed = 1;

	t.n = 0;
	for (uint32_t i = 0; i < 96; i++) {
		struct msg *m = add(i & 1 ? HVIA_OP_RDMAWRITE : 0);
		uint32_t near = (uint32_t)(HVIA_PAGE - DST_VA % HVIA_PAGE);
		uint32_t off =
			i < 48 ? near - 24 + i : hvarea_rand(&seed) % 16384;
		uint32_t len = i % 3 == 0   ? 24
			       : i % 3 == 1 ? 1472
					    : hvarea_rand(&seed) % 12000;

		src(m, hvarea_rand(&seed) % 8192, len);
		dst(m, off, len);
	}
	run(b);
	bench_free(b);
}

/* T-05, T-13: gather and scatter; every eighth receiver has too little room. */
static void segments_gather_and_scatter_within_bounds(void **state)
{
	struct bench *b = bench();
	uint32_t seed = 77;

	t.n = 0;
	for (uint32_t i = 0; i < 120; i++) {
		struct msg *m = add(i % 5 ? 0 : HVIA_OP_IMMEDIATE);
		uint32_t k = 1 + hvarea_rand(&seed) % 20, off = 0, left;

		while (k--) {
			uint32_t len = hvarea_rand(&seed) % 700;

			src(m, off, len);
			off += len + hvarea_rand(&seed) % 3000;
		}
		k = 1 + hvarea_rand(&seed) % 20;
		left = i % 8 == 7 && m->len ? m->len - 1 : m->len;
		for (off = 0; k--;) {
			uint32_t len = k ? hvarea_rand(&seed) % 700 : left;

			if (len > left)
				len = left;
			left -= len;
			dst(m, off, len);
			off += len + hvarea_rand(&seed) % 3000;
		}
		if (m->len > m->room)
			m->control = 0;
	}
	run(b);
	assert_true(bench_counter(b->node[0].dev, "segment_reads") > 200);
	assert_true(bench_counter(b->node[1].dev, "segment_reads") > 200);
	bench_free(b);
}

/* Tests options of the card: no prefetch buffer, a prefetch buffer with more
 * entries, the table in host memory (T-41), long frames. */
static void data_are_exact_with_every_option_of_the_card(void **state)
{
	static const char *const opt[][2] = { { "prefetch", "0" },
					      { "prefetch", "16" },
					      { "att_host", "yes" },
					      { "mtu", "9014" },
					      { "mtu", "60" } };
	uint32_t seed = 9;

	for (uint32_t o = 0; o < sizeof(opt) / sizeof(opt[0]); o++) {
		struct bench *b = bench();

		bench_set(b, "hvia.nic", opt[o][0], opt[o][1]);
		t.n = 0;
		for (uint32_t i = 0; i < 24; i++) {
			struct msg *m = add(i % 3 ? 0 : HVIA_OP_RDMAWRITE);
			uint32_t len = hvarea_rand(&seed) % 20000;

			src(m, hvarea_rand(&seed) % 8192, len);
			dst(m, hvarea_rand(&seed) % 4096, len);
		}
		run(b);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_every_size_are_exact),
		cmocka_unit_test(data_at_page_borders_are_exact),
		cmocka_unit_test(segments_gather_and_scatter_within_bounds),
		cmocka_unit_test(data_are_exact_with_every_option_of_the_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
