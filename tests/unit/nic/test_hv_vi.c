/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors, protection, doorbells and states of HVIA-GE through its
 * registers (hvia.md 9: T-03, T-04, T-06 to T-09, T-11, T-18 to T-22, T-24,
 * T-26, T-27, T-32, T-39, T-43).  Node 0 acts, node 1 has VIs that answer. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "hvarea.h"

enum { VI = 3, PEER = 4, LEN = 16 * HVIA_PAGE };

static struct {
	struct hvrig rig[2];
	uint8_t *buf[2];
	uint32_t handle[2];
	uint32_t flags; /* of the peer */
} t;

#define OK   (HVIA_ST_DONE)
#define RECV (HVIA_ST_DONE | HVIA_ST_RECEIVE)

static void open_side(struct weft_host *h, uint32_t rights, uint32_t flags)
{
	uint32_t i = weft_host_node(h);

	hvrig_open(&t.rig[i], h);
	t.buf[i] = hvrig_mem(&t.rig[i], LEN, rights, &t.handle[i]);
	hvrig_vi(&t.rig[i], i ? PEER : VI, i ? VI : PEER, flags);
}

/* Peer: n receives of 4 KB each. */
static void peer_posts(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];

	open_side(h, HVIA_ATT_RDMA_WRITE, t.flags);
	for (uint32_t i = 0; i < b->v[0]; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_seg(d, t.buf[1] + i % 16 * HVIA_PAGE, t.handle[1],
			  HVIA_PAGE);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
}

/* Then it waits for the end. */
static int peer(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	peer_posts(h, b);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	return 0;
}

static void run(node_fn a, node_fn z, uint64_t posted)
{
	struct bench *b = hvrig_bench();

	t.flags = HVIA_VIF_RDMA_WRITE;
	b->v[0] = posted;
	bench_set(b, "hvia.nic", "stages", "no");
	bench_prog(b, 0, a);
	bench_prog(b, 1, z);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

static struct hvrig_desc *simple(uint32_t i, uint32_t len)
{
	struct hvrig_desc *d = hvrig_desc(&t.rig[0], i, 0);

	hvrig_seg(d, t.buf[0], t.handle[0], len);
	return d;
}

static uint32_t sent(struct hvrig_desc *d)
{
	hvrig_post(&t.rig[0], VI, HVIA_Q_SEND, d);
	return hvrig_wait(&t.rig[0], d);
}

static enum hvia_vi_state state_of(struct hvrig *r, uint32_t vi)
{
	return (enum hvia_vi_state)HVIA_VI_0_STATE(
		hvrig_load(r, hvia_vi_entry(vi, HVIA_VI_0)));
}

static void no_error(struct hvrig *r)
{
	assert_int_equal(hvrig_error(r), 0);
}

static void error_is(struct hvrig *r, uint32_t vi, enum hvia_error code)
{
	uint64_t e = hvrig_error(r);

	assert_true(e & HVIA_ERR_VALID);
	assert_int_equal(HVIA_ERR_VI(e), vi);
	assert_int_equal(HVIA_ERR_CODE(e), code);
}

/* ---- T-06, T-07, T-08, T-04, T-03 -----------------------------------------
 */

static void formats(void)
{
	struct hvrig_desc *d = simple(0, 100);

	d->d.length = 99;
	assert_int_equal(sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvrig_desc(&t.rig[0], 1, 0);
	d->d.length = 1;
	assert_int_equal(sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = simple(2, 8);
	d->d.control = 0x0010;
	assert_int_equal(sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = simple(3, 8);
	d->d.control = HVIA_OP_RDMAREAD;
	assert_int_equal(sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = simple(4, 8);
	d->d.seg_count = 253;
	assert_int_equal(sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvrig_desc(&t.rig[0], 5, HVIA_OP_RDMAWRITE);
	assert_int_equal(sent(d),
			 OK | HVIA_ST_FORMAT_ERROR | HVIA_ST_RDMA_WRITE);
	d = simple(6, 8);
	d->seg[0].length = d->d.length = 0x80000000;
	assert_int_equal(sent(d), OK | HVIA_ST_LENGTH_ERROR);
}

static uint32_t try_data(uint64_t va, uint32_t handle, uint32_t len)
{
	struct hvrig_desc *d = hvrig_desc(&t.rig[0], 7, 0);

	hvrig_seg(d, (void *)(uintptr_t)va, handle, len);
	return sent(d);
}

static void protection(void)
{
	struct hvrig *r = &t.rig[0];
	uint64_t va = (uintptr_t)t.buf[0];
	weft_phys_t page[2] = { 0x10000, 0x12000 }, top = 0x20000;
	uint32_t other = hvrig_region(r, 0x5000, 64, page, HVRIG_PTAG + 1, 0);
	uint32_t high = hvrig_region(r, ~0ULL - 99, 100, &top, HVRIG_PTAG, 0);
	uint32_t freed = hvrig_region(r, 0x9000, 64, page, HVRIG_PTAG, 0);

	assert_int_equal(try_data(va + LEN - 1, t.handle[0], 1), OK);
	assert_int_equal(try_data(va + LEN - 1, t.handle[0], 2),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(va + LEN, t.handle[0], 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(va - 1, t.handle[0], 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(~0ULL - 99, high, 100), OK);
	assert_int_equal(try_data(~0ULL - 49, high, 100),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(0x5000, other, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(0x9000, freed, 8), OK);
	hvrig_unmap(r, freed);
	assert_int_equal(hvrig_load(r, HVIA_ATT_BUSY), 0);
	assert_int_equal(try_data(0x9000, freed, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(try_data(va, 4000000, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
}

/* 3.6: 0x10001A10 of a region from 0x10000E00 on.  The pages are of this
 * node's memory; what arrives tells where it was read. */
static void worked_example(void)
{
	struct hvrig *r = &t.rig[0];
	weft_phys_t page[3], phys;
	uint8_t *mem = weft_mem_alloc(r->h, 3 * HVIA_PAGE, HVIA_PAGE, &phys);
	struct hvrig_desc *d;
	uint32_t h;

	for (uint32_t i = 0; i < 3; i++)
		page[i] = phys + (2 - i) * HVIA_PAGE;
	h = hvrig_region(r, 0x10000E00, 2 * HVIA_PAGE, page, HVRIG_PTAG, 0);
	mem[HVIA_PAGE + 0xA10] = 0x5A; /* second page of three, reversed */
	d = hvrig_desc(r, 8, 0);
	hvrig_seg(d, (void *)(uintptr_t)0x10001A10, h, 1);
	assert_int_equal(sent(d), OK);
}

static int refuser(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	worked_example();
	formats();
	protection();
	assert_int_equal(state_of(&t.rig[0], VI), HVIA_VI_CONNECTED);
	no_error(&t.rig[0]);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int refused_peer(struct weft_host *h, struct bench *b)
{
	peer(h, b);
	assert_int_equal(t.buf[1][0], 0x5A);
	/* what was refused has not been sent: 1 + 3 messages came */
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(t.rig[1].desc[i].d.status, i < 4 ? RECV : 0);
	no_error(&t.rig[1]);
	return 0;
}

static void refused(void **state)
{
	(void)state;
	run(refuser, refused_peer, 8);
}

/* ---- RDMA (T-09, T-10, T-11) ----------------------------------------------
 */

static uint32_t rdma(uint64_t va, uint32_t handle, uint32_t len, uint32_t imm)
{
	struct hvrig_desc *d =
		hvrig_desc(&t.rig[0], 0,
			   HVIA_OP_RDMAWRITE | (imm ? HVIA_OP_IMMEDIATE : 0));

	d->d.immediate = imm;
	hvrig_remote(d, va, handle);
	hvrig_seg(d, t.buf[0], t.handle[0], len);
	return sent(d);
}

static int writer(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;
	uint64_t va;

	open_side(h, 0, 0);
	memset(t.buf[0], 0x77, LEN);
	hvarea_meet(h, &turn);
	va = (uintptr_t)t.buf[1];
	/* node 1: its region 2 may not be written */
	assert_int_equal(rdma(va, t.handle[1], 64, 0), OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(b->v[1], (uint32_t)b->v[2], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(b->v[1], (uint32_t)b->v[2], 64, 5),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(va + LEN - 32, t.handle[1], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(0x70000000, (uint32_t)b->v[3], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	/* 5 packets, pages at 4096 and 8192 inside of the 2nd, the 5th */
	assert_int_equal(rdma(va + 2000, t.handle[1], 4 * 1472 + 500, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	hvarea_meet(h, &turn);
	/* now the VI may not */
	hvarea_meet(h, &turn);
	assert_int_equal(rdma(va, t.handle[1], 64, 0), OK | HVIA_ST_RDMA_WRITE);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int written(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	weft_phys_t nowhere = 0xF0000000u;
	uint32_t turn = 0, closed;
	struct hvrig_desc *d;
	uint8_t *shut;

	open_side(h, HVIA_ATT_RDMA_WRITE, t.flags);
	shut = hvrig_mem(r, HVIA_PAGE, 0, &closed);
	b->v[1] = (uintptr_t)shut;
	b->v[2] = closed;
	b->v[3] = hvrig_region(r, 0x70000000, 64, &nowhere, HVRIG_PTAG,
			       HVIA_ATT_RDMA_WRITE);
	d = hvrig_desc(r, 0, 0);
	hvrig_post(r, PEER, HVIA_Q_RECV, d);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	error_is(r, PEER, HVIA_ERROR_RDMAW_DATA);
	no_error(r);
	assert_int_equal(d->d.status, OK | HVIA_ST_REMOTE_RDMA_WRITE |
					      HVIA_ST_IMMEDIATE |
					      HVIA_ST_RDMA_PROT_ERROR);
	assert_int_equal(shut[0], 0);
	assert_int_equal(t.buf[1][63], 0x77);
	assert_int_equal(t.buf[1][64], 0);
	assert_int_equal(t.buf[1][1999], 0);
	assert_int_equal(t.buf[1][2000], 0x77);
	assert_int_equal(t.buf[1][2000 + 4 * 1472 + 499], 0x77);
	assert_int_equal(t.buf[1][2000 + 4 * 1472 + 500], 0);
	assert_int_equal(t.buf[1][LEN - 1], 0);
	/* descriptor 1; 5 small ones; 5 packets of the large one */
	assert_int_equal(bench_counter(b->node[1].dev, "translations"),
			 1 + 5 + 5);
	assert_int_equal(bench_counter(b->node[1].dev, "second_pages"), 2);
	hvrig_vi(r, PEER, VI, 0);
	hvrig_store(r, hvia_vi_entry(PEER, HVIA_VI_1),
		    hvrig_load(r, hvia_vi_entry(PEER, HVIA_VI_1)) | 9ULL << 48);
	memset(t.buf[1], 0, 64);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	assert_int_equal(t.buf[1][0], 0);
	return 0;
}

static void rdma_rights(void **state)
{
	(void)state;
	run(writer, written, 0);
}

/* ---- doorbells (T-18, T-19) -----------------------------------------------
 */

static void ring(struct hvrig *r, uint32_t vi, uint32_t q, uint64_t token)
{
	weft_io_store64(r->h, &r->db, hvia_doorbell(vi, q), token);
}

/* Three receives are posted, then the doorbell is misused. */
static void spoil(uint32_t vi, uint64_t token, enum hvia_error code,
		  uint32_t times)
{
	struct hvrig *r = &t.rig[0];

	hvrig_vi(r, vi, PEER, 0);
	for (uint32_t i = 0; i < 3; i++)
		hvrig_post(r, vi, HVIA_Q_RECV, hvrig_desc(r, 10 + i, 0));
	while (times--)
		ring(r, vi, HVIA_Q_RECV, token);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(hvrig_wait(r, &r->desc[10 + i]),
				 RECV | HVIA_ST_FLUSHED);
	error_is(r, vi, code);
	assert_int_equal(state_of(r, vi), HVIA_VI_ERROR);
	/* and what is posted in ERROR */
	hvrig_post(r, vi, HVIA_Q_SEND, simple(14, 4));
	assert_int_equal(hvrig_wait(r, &r->desc[14]), OK | HVIA_ST_FLUSHED);
}

static int misuser(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;
	uint64_t e;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	spoil(10, hvia_token(r->desc_handle, 32), HVIA_ERROR_POST_DESC, 1);
	no_error(r);
	spoil(11, hvia_token(777, 0), HVIA_ERROR_POST_DESC, 1);
	no_error(r);
	/* outside of its region: found when the chain comes there, by then the
	 * three are done for */
	hvrig_vi(r, 12, PEER, 0);
	ring(r, 12, HVIA_Q_SEND, hvia_token(r->desc_handle, 0x7fffffc0));
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	error_is(r, 12, HVIA_ERROR_POST_DESC);
	assert_int_equal(state_of(r, 12), HVIA_VI_ERROR);
	/* a descriptor of another owner (T-37) */
	hvrig_vi(r, 13, PEER, 0);
	e = hvrig_load(r, hvia_vi_entry(13, HVIA_VI_0));
	hvrig_store(r, hvia_vi_entry(13, HVIA_VI_0), e ^ 1 << 16);
	ring(r, 13, HVIA_Q_SEND, hvia_token(r->desc_handle, 0));
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	error_is(r, 13, HVIA_ERROR_POST_DESC);
	no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

static void doorbells(void **state)
{
	(void)state;
	run(misuser, peer, 0);
}

/* 1024 receives in a ring of descriptors, then one more. */
static int overrunner(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 64; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		d->d.next = (uintptr_t)&r->desc[(i + 1) % 64];
		d->d.next_handle = r->desc_handle;
	}
	for (uint32_t i = 0; i < 1024; i++)
		ring(r, VI, HVIA_Q_RECV, hvia_token(r->desc_handle, 0));
	assert_int_equal(
		HVIA_VI_2_RECV(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_2))),
		1024);
	no_error(r);
	ring(r, VI, HVIA_Q_RECV, hvia_token(r->desc_handle, 0));
	error_is(r, VI, HVIA_ERROR_VI_OVERRUN);
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_MS);
	assert_int_equal(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_2)) >> 32, 0);
	assert_int_equal(state_of(r, VI), HVIA_VI_ERROR);
	hvarea_meet(h, &turn);
	return 0;
}

static void overrun(void **state)
{
	(void)state;
	run(overrunner, peer, 0);
}

/* ---- links set late (T-20) ------------------------------------------------
 */

/* The second descriptor is linked and posted at every time around the end of
 * the first. */
static int racer(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 400; i++) {
		struct hvrig_desc *d[2] = { simple(i % 16 * 2, 4),
					    simple(i % 16 * 2 + 1, 4) };

		t.buf[0][0] = (uint8_t)i;
		hvrig_post(r, VI, HVIA_Q_SEND, d[0]);
		weft_host_sleep(h, weft_host_now(h) + i * 8 * WEFT_NS);
		hvrig_post(r, VI, HVIA_Q_SEND, d[1]);
		assert_int_equal(hvrig_wait(r, d[0]), OK);
		assert_int_equal(hvrig_wait(r, d[1]), OK);
		r->q[VI][HVIA_Q_SEND].tail = NULL;
		weft_host_sleep(h, weft_host_now(h) + 9 * WEFT_US);
	}
	no_error(r);
	assert_true(bench_counter(b->node[0].dev, "next_reads") > 50);
	assert_true(bench_counter(b->node[0].dev, "next_reads") < 390);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

/* Keeps two receives posted, again at every time around completions. */
static int race_peer(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_seg(d, t.buf[1] + i * 64, t.handle[1], 64);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 800; i++) {
		struct hvrig_desc *d = &r->desc[i % 3];

		assert_int_equal(hvrig_wait(r, d), RECV);
		assert_int_equal(t.buf[1][i % 3 * 64], (uint8_t)(i / 2));
		d = hvrig_desc(r, i % 3, 0);
		hvrig_seg(d, t.buf[1] + i % 3 * 64, t.handle[1], 64);
		weft_host_sleep(h, weft_host_now(h) + i % 211 * 7 * WEFT_NS);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
	no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

static void race(void **state)
{
	(void)state;
	run(racer, race_peer, 0);
}

/* ---- many VIs (T-21, T-22) ------------------------------------------------
 */

enum { EACH = 2 };

static uint32_t many_len(uint32_t vi, uint32_t k)
{
	return 1 + (vi * 37 + k * 911) % 3000;
}

/* All VIs send; two descriptors each, posted before the engine runs. */
static int many_sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0, handle, at;
	uint8_t *mem;

	(void)b;
	open_side(h, 0, 0);
	mem = hvrig_mem(r, HVIA_VIS * EACH * 64, 0, &handle);
	for (uint32_t vi = 0; vi < HVIA_VIS; vi++)
		hvrig_vi(r, vi, HVIA_VIS - 1 - vi, 0);
	hvarea_meet(h, &turn);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_STOP);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		struct hvia_seg *g = (struct hvia_seg *)(d + 1);
		uint32_t vi = i / EACH, k = i % EACH;

		at = vi % 13;
		d->control = HVIA_OP_IMMEDIATE;
		d->immediate = vi;
		d->seg_count = 1;
		d->length = g->length = many_len(vi, k);
		g->addr = (uintptr_t)t.buf[0] + at;
		g->handle = t.handle[0];
		if (!k) {
			d->next = (uintptr_t)(mem + (i + 1) * 64);
			d->next_handle = handle;
		}
		weft_io_store64(h, &r->db, hvia_doorbell(vi, HVIA_Q_SEND),
				hvia_token(handle, i * 64));
	}
	for (uint32_t i = 0; i < LEN; i++)
		t.buf[0][i] = hvarea_byte(1, i);
	hvrig_store(r, HVIA_CTRL,
		    hvrig_load(r, HVIA_CTRL) & ~(uint64_t)HVIA_CTRL_STOP);
	weft_host_sleep(h, weft_host_now(h) + 45 * WEFT_MS);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++)
		assert_int_equal(((struct hvia_desc *)(mem + i * 64))->status,
				 OK);
	no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

static int many_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0, handle, bufs;
	uint8_t *mem, *buf;

	(void)b;
	open_side(h, 0, 0);
	mem = hvrig_mem(r, HVIA_VIS * EACH * 64, 0, &handle);
	buf = hvrig_mem(r, HVIA_VIS * EACH * HVIA_PAGE, 0, &bufs);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		struct hvia_seg *g = (struct hvia_seg *)(d + 1);
		uint32_t vi = i / EACH;

		if (i % EACH == 0)
			hvrig_vi(r, vi, HVIA_VIS - 1 - vi, 0);
		d->seg_count = 1;
		g->length = HVIA_PAGE;
		g->addr = (uintptr_t)buf + (uint64_t)i * HVIA_PAGE;
		g->handle = bufs;
		if (i % EACH == 0) {
			d->next = (uintptr_t)(mem + (i + 1) * 64);
			d->next_handle = handle;
		}
		weft_io_store64(h, &r->db, hvia_doorbell(vi, HVIA_Q_RECV),
				hvia_token(handle, i * 64));
	}
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < HVIA_VIS * EACH; i++) {
		const struct hvia_desc *d = (struct hvia_desc *)(mem + i * 64);
		uint32_t vi = HVIA_VIS - 1 - i / EACH, k = i % EACH;
		uint32_t len = many_len(vi, k);

		assert_int_equal(d->status, RECV | HVIA_ST_IMMEDIATE);
		assert_int_equal(d->immediate, vi);
		assert_int_equal(d->length, len);
		for (uint32_t j = 0; j < len; j += 97)
			assert_int_equal(buf[i * HVIA_PAGE + j],
					 hvarea_byte(1, j + vi % 13));
	}
	no_error(r);
	assert_true(bench_counter(b->node[1].dev, "prefetch_misses") >
		    HVIA_VIS);
	return 0;
}

static void many(void **state)
{
	(void)state;
	run(many_sender, many_receiver, 0);
}

/* ---- states (T-26, T-27), interrupts (T-43) -------------------------------
 */

static int stater(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	/* a send in IDLE is flushed at once; receives stay */
	hvrig_vi_state(r, VI, PEER, HVIA_VI_IDLE, 0);
	for (uint32_t i = 0; i < 4; i++)
		hvrig_post(r, VI, HVIA_Q_RECV, hvrig_desc(r, 20 + i, 0));
	assert_int_equal(sent(simple(0, 4)), OK | HVIA_ST_FLUSHED);
	assert_int_equal(r->desc[20].d.status, 0);
	/* flushed on demand, both queues; those posted later stay */
	hvrig_store(r, hvia_vi_entry(VI, HVIA_VI_3), HVIA_VIF_FLUSH);
	assert_int_equal(hvrig_wait(r, &r->desc[23]), RECV | HVIA_ST_FLUSHED);
	assert_int_equal(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_3)), 0);
	hvrig_post(r, VI, HVIA_Q_RECV, hvrig_desc(r, 24, 0));
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	assert_int_equal(r->desc[24].d.status, 0);
	/* connected in the middle of a long message: it ends as flushed */
	hvrig_vi(r, VI, PEER, 0);
	hvrig_post(r, VI, HVIA_Q_SEND, simple(1, LEN));
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	hvrig_store(r, hvia_vi_entry(VI, HVIA_VI_0),
		    (hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_0)) & ~3ULL) |
			    HVIA_VI_ERROR);
	assert_int_equal(hvrig_wait(r, &r->desc[1]), OK | HVIA_ST_FLUSHED);
	assert_int_equal(hvrig_wait(r, &r->desc[24]), RECV | HVIA_ST_FLUSHED);
	no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

static void states(void **state)
{
	(void)state;
	run(stater, peer, 1);
}

static int irq_sender(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	(void)b;
	open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 60; i++)
		assert_int_equal(sent(simple(i % 2, 4)), OK);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

/* One interrupt for one arm, however many completions come. */
static int irq_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint64_t entry = hvia_vi_entry(PEER, HVIA_VI_3);
	uint32_t turn = 0;

	peer_posts(h, b);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_COMPLETION);
	hvrig_store(r, entry, HVIA_VIF_IRQ_RECV);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(bench_counter(b->node[1].dev, "irqs"), 1);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), HVIA_INT_COMPLETION);
	assert_int_equal(hvrig_load(r, entry), t.flags);
	hvrig_store(r, HVIA_INT_CAUSE, HVIA_INT_COMPLETION);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), 0);
	return 0;
}

static void interrupts(void **state)
{
	(void)state;
	run(irq_sender, irq_receiver, 60);
}

/* ---- compaction (T-32, the card's part) -----------------------------------
 */

static int mover(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	struct hvarea hole, a;
	uint32_t turn = 0, from;
	weft_time_t t0, t1;
	uint64_t w;

	(void)b;
	open_side(h, 0, 0);
	hvarea_new(&hole, r, 0x100000, 50 * HVIA_PAGE, 0, 1);
	from = r->l2;
	hvarea_new(&a, r, 0x40000123, 200 * HVIA_PAGE, 0, 2);
	*hvarea_at(&a, 150 * HVIA_PAGE) = 0xAB;
	hvarea_meet(h, &turn);
	hvrig_unmap(r, hole.handle);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_STOP);
	while (!(hvrig_load(r, HVIA_STATUS) & HVIA_STATUS_IDLE))
		;
	hvrig_store(r, HVIA_MOVE_FROM, from);
	hvrig_store(r, HVIA_MOVE_TO, from - 50);
	t0 = weft_host_now(h);
	hvrig_store(r, HVIA_MOVE_COUNT, a.pages);
	while (hvrig_load(r, HVIA_MOVE_COUNT))
		;
	t1 = weft_host_now(h);
	assert_in_range(t1 - t0, 6 * WEFT_US, 9 * WEFT_US); /* 402 cycles */
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(a.handle) + 8);
	w = hvrig_load(r, HVIA_ATT_DATA);
	assert_int_equal(w, (uint64_t)from << 32 | a.pages);
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(a.handle) + 8);
	hvrig_store(r, HVIA_ATT_DATA, (uint64_t)(from - 50) << 32 | a.pages);
	hvrig_store(r, HVIA_CTRL,
		    hvrig_load(r, HVIA_CTRL) & ~(uint64_t)HVIA_CTRL_STOP);
	assert_int_equal(try_data(a.va + 150 * HVIA_PAGE, a.handle, 1), OK);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int moved_peer(struct weft_host *h, struct bench *b)
{
	peer(h, b);
	assert_int_equal(t.buf[1][0], 0xAB);
	return 0;
}

static void compaction(void **state)
{
	(void)state;
	run(mover, moved_peer, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),    cmocka_unit_test(rdma_rights),
		cmocka_unit_test(doorbells),  cmocka_unit_test(overrun),
		cmocka_unit_test(race),	      cmocka_unit_test(many),
		cmocka_unit_test(states),     cmocka_unit_test(interrupts),
		cmocka_unit_test(compaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
