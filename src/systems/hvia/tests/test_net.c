/* SPDX-License-Identifier: Apache-2.0 */
/* Unreliable delivery of HVIA-GE (hvia.md 5.5; T-12, T-14, T-15, T-17): a line
 * that loses, repeats and swaps frames, against a model of the rules. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "hvarea.h"
#include "systems/ethernet/link/wire.h"

enum { MSGS = 48, ROOM = 3 * HVIA_PAGE, FRAMES = 256, PIECE = 1472 };

/* LATER: the frame is sent after the next one */
enum act { PASS, LOSE, TWICE, LATER };

struct got {
	uint32_t status, length, msg;
};

static struct {
	/* settings of the test */
	uint32_t len[MSGS], n, posted;
	enum act act[FRAMES];
	/* results */
	struct got got[MSGS];
	uint32_t old, gaps, rest, empty, partial, errors;
	/* state of the programs */
	struct hvrig rig[2];
	struct hvarea area[2];
	uint32_t frames;
} t;

/* ---- the line ---- */

struct line {
	struct weft_frame *held;
	weft_time_t end;
};

/* Forwards a frame at its end, because the MAC receives a frame at its end and
 * frames must stay in order. */
static void line_pass(struct weft_comp *c, struct weft_frame *f)
{
	struct line *l = c->state;
	weft_time_t end = f->time + eth_frame_time(f);

	if (end <= l->end) {
		end = l->end + 1;
		f->time = end - eth_frame_time(f);
	}
	l->end = end;
	weft_filter_pass(c, f);
}

static void line_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct line *l = c->state;
	enum act a = t.frames < FRAMES ? t.act[t.frames] : PASS;
	struct weft_frame *held = l->held;

	t.frames++;
	l->held = NULL;
	if (a == LATER && !held) {
		l->held = f;
		return;
	}
	if (a == TWICE)
		line_pass(c, weft_frame_dup(f));
	if (a == LOSE)
		weft_frame_free(f);
	else
		line_pass(c, f);
	if (held) {
		held->time = weft_now(c) + WEFT_US;
		line_pass(c, held);
	}
}

static void line_fini(struct weft_comp *c)
{
	struct line *l = c->state;

	if (l->held)
		weft_frame_free(l->held);
}

static int line_finish(struct weft_comp *c, struct weft_err *err)
{
	struct line *l = c->state;

	line_fini(c);
	l->held = NULL;
	return 0;
}

static WEFT_COMPONENT(line, .name = "test.line", .kind = WEFT_KIND_FAULT,
		      .doc = "loses, repeats and swaps frames",
		      .state_size = sizeof(struct line),
		      .ops = { .filter = line_filter,
			       .finish = line_finish,
			       .fini = line_fini });

static void (*join_cable)(struct bench *b);

static void join(struct bench *b)
{
	struct weft_err err = { 0 };

	join_cable(b);
	assert_int_equal(weft_filter_add(&b->node[0].dev->ports[1],
					 weft_sim_find(b->sim, "line"), &err),
			 0);
}

/* ---- the model (5.5) ---- */

static struct {
	uint32_t seq, cur, got, msg;
	bool active;
} m;

static void model_packet(uint32_t seq, uint32_t msg, uint32_t off, uint32_t n)
{
	bool first = !off, last = off + n == t.len[msg], gap = seq > m.seq;
	struct got *g = &t.got[m.cur];

	if (seq < m.seq) {
		t.old++;
		return;
	}
	t.gaps += gap;
	m.seq = seq + 1;
	if (m.active && (gap || first)) {
		*g++ = (struct got){ HVIA_ST_DONE | HVIA_ST_RECEIVE |
					     HVIA_ST_PARTIAL_ERROR,
				     m.got, 0 };
		m.cur++;
		t.partial++;
		m.active = false;
	}
	if (!m.active && !first) {
		t.rest++;
		return;
	}
	if (!m.active && m.cur == t.posted) {
		t.empty++;
		return;
	}
	m.got = m.active ? m.got + n : n;
	m.active = !last;
	if (!last)
		return;
	*g = (struct got){ HVIA_ST_DONE | HVIA_ST_RECEIVE | HVIA_ST_IMMEDIATE,
			   m.got, msg };
	m.cur++;
}

struct pkt {
	uint32_t seq, msg, off, n;
};

static void model_pass(const struct pkt *p)
{
	model_packet(p->seq, p->msg, p->off, p->n);
}

static void model_line(const struct pkt *p, const struct pkt **held,
		       enum act act)
{
	const struct pkt *was = *held;

	*held = NULL;
	if (act == LATER && !was) {
		*held = p;
		return;
	}
	if (act == TWICE)
		model_pass(p);
	if (act != LOSE)
		model_pass(p);
	if (was)
		model_pass(was);
}

static void model(void)
{
	static struct pkt pkt[4096];
	const struct pkt *held = NULL;
	uint32_t k = 0;

	memset(&m, 0, sizeof(m));
	memset(t.got, 0, sizeof(t.got));
	t.old = t.gaps = t.rest = t.empty = t.partial = 0;
	for (uint32_t i = 0; i < t.n; i++)
		for (uint32_t off = 0; off < t.len[i]; off += PIECE, k++) {
			uint32_t left = t.len[i] - off;

			pkt[k] = (struct pkt){ k, i, off,
					       left < PIECE ? left : PIECE };
			model_line(&pkt[k], &held,
				   k < FRAMES ? t.act[k] : PASS);
		}
}

/* ---- programs ---- */

static int sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_new(&t.area[0], r, 0x10000, ROOM, 0, 5);
	hvrig_vi(r, 3, 4, 0);
	hvarea_meet(h, &turn);
	for (uint32_t k = 0; k < t.n; k++) {
		struct hvrig_desc *d = hvrig_desc(r, k, HVIA_OP_IMMEDIATE);

		for (uint32_t i = 0; i < t.len[k]; i++)
			*hvarea_at(&t.area[0], i) = hvarea_byte(k, i);
		d->d.immediate = k;
		hvrig_seg(d, (void *)(uintptr_t)0x10000, t.area[0].handle,
			  t.len[k]);
		hvrig_post(r, 3, HVIA_Q_SEND, d);
		assert_int_equal(hvrig_wait(r, d), HVIA_ST_DONE);
	}
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	hvarea_meet(h, &turn);
	return 0;
}

static void check(struct hvrig *r, uint32_t k, const uint8_t *buf)
{
	const struct hvrig_desc *d = &r->desc[k];
	const struct got *g = &t.got[k];

	assert_int_equal(d->d.status, g->status);
	if (!(g->status & HVIA_ST_DONE))
		return;
	assert_int_equal(d->d.length, g->length);
	if (g->status & HVIA_ST_ERRORS)
		return;
	assert_int_equal(d->d.immediate, g->msg);
	for (uint32_t i = 0; i < g->length; i++)
		assert_int_equal(buf[i], hvarea_byte(g->msg, i));
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0, handle;
	uint8_t *buf;
	uint64_t e;

	hvrig_open(r, h);
	buf = hvrig_mem(r, MSGS * ROOM, 0, &handle);
	hvrig_vi(r, 4, 3, 0);
	for (uint32_t k = 0; k < t.posted; k++) {
		struct hvrig_desc *d = hvrig_desc(r, k, 0);

		hvrig_seg(d, buf + k * ROOM, handle, ROOM);
		d->d.length = 0;
		hvrig_post(r, 4, HVIA_Q_RECV, d);
	}
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	for (uint32_t k = 0; k < t.posted; k++)
		check(r, k, buf + k * ROOM);
	for (t.errors = 0; (e = hvrig_error(r)); t.errors++) {
		assert_int_equal(HVIA_ERR_CODE(e), HVIA_ERROR_RECVQ_EMPTY);
		assert_int_equal(HVIA_ERR_VI(e), 4);
	}
	return 0;
}

static void finish(struct bench *b)
{
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
}

static struct bench *bench(node_fn a, node_fn z)
{
	struct bench *b = hvrig_bench();
	struct weft_err err = { 0 };

	assert_non_null(weft_sim_add(b->sim, &weft_class_line, "line", &err));
	join_cable = b->join;
	b->join = join;
	t.frames = 0;
	bench_prog(b, 0, a);
	bench_prog(b, 1, z);
	return b;
}

static void trial(void)
{
	struct bench *b = bench(sender, receiver);
	const struct weft_comp *c = b->node[1].dev;

	model();
	finish(b);
	assert_int_equal(bench_counter(c, "drop_old"), t.old);
	assert_int_equal(bench_counter(c, "gaps"), t.gaps);
	assert_int_equal(bench_counter(c, "drop_rest"), t.rest);
	assert_int_equal(bench_counter(c, "drop_empty"), t.empty);
	assert_int_equal(bench_counter(c, "partial"), t.partial);
	assert_int_equal(t.errors < 16 ? t.errors : t.empty, t.empty);
	bench_free(b);
}

/* T-14: each run loses a different one of the four frames of a message. */
static void one_lost(void **state)
{
	for (uint32_t k = 0; k < 4; k++) {
		memset(t.act, 0, sizeof(t.act));
		t.n = t.posted = 3;
		t.len[0] = 20;
		t.len[1] = 4 * PIECE - 100;
		t.len[2] = 1000;
		t.act[1 + k] = LOSE;
		trial();
	}
}

/* Runs T-12, T-14 and T-15 with random faults. */
static void at_random(void **state)
{
	uint32_t seed = 4711;

	for (uint32_t i = 0; i < 25; i++) {
		uint32_t rate = 3 + hvarea_rand(&seed) % 12;

		t.n = MSGS;
		t.posted = i % 4 ? MSGS : MSGS - 10;
		for (uint32_t k = 0; k < MSGS; k++)
			t.len[k] = 1 + hvarea_rand(&seed) % (ROOM - 1);
		for (uint32_t k = 0; k < FRAMES; k++)
			t.act[k] = hvarea_rand(&seed) % rate
					   ? PASS
					   : (enum act)(1 +
							hvarea_rand(&seed) % 3);
		trial();
	}
}

/* ---- RDMA write that loses a packet ---- */

static int rdma_sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_new(&t.area[0], r, 0x10000, ROOM, 0, 5);
	hvrig_vi(r, 3, 4, 0);
	hvarea_meet(h, &turn);
	for (uint32_t k = 0; k < 3; k++) {
		struct hvrig_desc *d =
			hvrig_desc(r, k, k == 1 ? 0 : HVIA_OP_RDMAWRITE);

		if (k != 1)
			hvrig_remote(d, b->v[0], (uint32_t)b->v[1]);
		hvrig_seg(d, (void *)(uintptr_t)0x10000, t.area[0].handle,
			  k == 1 ? 10 : 4 * PIECE);
		hvrig_post(r, 3, HVIA_Q_SEND, d);
		assert_true(hvrig_wait(r, d) & HVIA_ST_DONE);
	}
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	hvarea_meet(h, &turn);
	return 0;
}

static int rdma_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0, handle;
	struct hvrig_desc *d;
	uint8_t *buf;
	uint64_t e;

	hvrig_open(r, h);
	buf = hvrig_mem(r, ROOM, HVIA_ATT_RDMA_WRITE, &handle);
	b->v[0] = (uintptr_t)buf;
	b->v[1] = handle;
	hvrig_vi(r, 4, 3, HVIA_VIF_RDMA_WRITE);
	d = hvrig_desc(r, 0, 0);
	hvrig_seg(d, buf, handle, 64);
	hvrig_post(r, 4, HVIA_Q_RECV, d);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	e = hvrig_error(r);
	assert_int_equal(HVIA_ERR_CODE(e), HVIA_ERROR_RDMAW_ABORT);
	assert_int_equal(hvrig_error(r), 0);
	assert_int_equal(d->d.status, HVIA_ST_DONE | HVIA_ST_RECEIVE);
	return 0;
}

/* T-14 for RDMA (5.5): the card reports RDMAW_ABORT, and the next messages
 * arrive. */
static void rdma_lost(void **state)
{
	struct bench *b = bench(rdma_sender, rdma_receiver);

	memset(t.act, 0, sizeof(t.act));
	t.act[2] = LOSE;
	finish(b);
	assert_int_equal(bench_counter(b->node[1].dev, "rdma_received"), 1);
	assert_int_equal(bench_counter(b->node[1].dev, "received"), 1);
	assert_int_equal(bench_counter(b->node[1].dev, "drop_rest"), 1);
	bench_free(b);
}

/* ---- no Rx buffer (T-17) ---- */

static int stopped(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0, handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, MSGS * ROOM, 0, &handle);
	hvrig_vi(r, 4, 3, 0);
	for (uint32_t k = 0; k < t.n; k++) {
		struct hvrig_desc *d = hvrig_desc(r, k, 0);

		hvrig_seg(d, buf + k * ROOM, handle, ROOM);
		hvrig_post(r, 4, HVIA_Q_RECV, d);
	}
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_STOP);
	hvarea_meet(h, &turn);
	weft_host_sleep(h, weft_host_now(h) + 300 * WEFT_US);
	assert_int_equal(HVIA_STATUS_RX_BUFFERS(hvrig_load(r, HVIA_STATUS)), 7);
	assert_true(hvrig_load(r, HVIA_STATUS) & HVIA_STATUS_IDLE);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) & ~HVIA_CTRL_STOP);
	hvarea_meet(h, &turn);
	/* the first eight packets that were not lost have arrived */
	for (uint32_t i = 0, k = 0; i < 8; i++, k++) {
		assert_int_equal(r->desc[i].d.status,
				 HVIA_ST_DONE | HVIA_ST_RECEIVE |
					 HVIA_ST_IMMEDIATE);
		assert_int_equal(r->desc[i].d.immediate, k);
		assert_int_equal(buf[i * ROOM + 99], hvarea_byte(k, 99));
	}
	return 0;
}

/* T-17 */
static void no_buffers(void **state)
{
	struct bench *b = bench(sender, stopped);

	memset(t.act, 0, sizeof(t.act));
	t.n = 40;
	for (uint32_t k = 0; k < t.n; k++)
		t.len[k] = PIECE;
	bench_set(b, "hvia.nic", "rx_fifo", "2048");
	finish(b);
	assert_true(bench_counter(b->node[1].dev, "missed") > 10);
	assert_true(bench_counter(b->node[1].dev, "received") > 15);
	assert_int_equal(bench_counter(b->node[1].dev, "missed") +
				 bench_counter(b->node[1].dev, "received"),
			 40);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lost),
		cmocka_unit_test(at_random),
		cmocka_unit_test(rdma_lost),
		cmocka_unit_test(no_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
