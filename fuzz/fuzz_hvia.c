/* SPDX-License-Identifier: Apache-2.0 */
/* Two HVIA-GE cards on a cable, with hostile hosts and hostile frames. The
 * hosts write to registers, the table of VIs, the translation table, doorbells
 * and descriptors. Frames hold arbitrary bytes. The card does not crash, and
 * the run ends.
 *
 * An input is a string of operations, one byte each followed by its arguments.
 * The top bit of the byte selects the node. */
#include <stdlib.h>
#include <string.h>

#include "systems/hvia/tests/hvrig.h"
#include "see.h"
#include "take.h"
#include "systems/ethernet/link/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VI = 3, BUF = 8 * HVIA_PAGE, OPS = 300 };

struct side {
	struct hvrig r;
	uint8_t *buf;
	uint32_t handle;
};

static struct {
	struct fuzz_in in;
	struct side side[2];
	uint32_t ready, done;
} f;

/* ---- operations ---- */

static void op_reg(struct side *s)
{
	static const uint16_t top[] = { HVIA_KTX_LENGTH, HVIA_KRX_LENGTH,
					HVIA_KRX_TYPE, HVIA_KTX };
	uint32_t a = (uint32_t)take(&f.in, 1);
	uint64_t off = a < 128 ? a % 20 * 8 : top[a % 4];

	hvrig_store(&s->r, off, take(&f.in, 8));
}

static void op_load(struct side *s)
{
	see_value(hvrig_load(&s->r, take(&f.in, 2) & 0xFFF8));
}

static void op_table(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	hvrig_store(&s->r, hvia_vi_entry(a & 1023, a >> 10 & 0x18),
		    take(&f.in, 8));
}

static void op_vi(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	hvrig_vi_state(&s->r, VI + (a & 3), VI + (a >> 2 & 3), a >> 4 & 3,
		       a >> 8);
}

/* Overwrites a level-1 entry of the translation table with an arbitrary value.
 * The entry belongs to a handle in use or is near such an entry. */
static void op_att(struct side *s)
{
	uint32_t h = (uint32_t)take(&f.in, 1) & 7;

	hvrig_store(&s->r, HVIA_ATT_ADDR,
		    hvia_l1_addr(h) + 8 * (take(&f.in, 1) & 3));
	hvrig_store(&s->r, HVIA_ATT_DATA, take(&f.in, 8));
}

static void op_doorbell(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint64_t token = take(&f.in, 8);

	weft_io_store64(s->r.h, &s->r.db, hvia_doorbell(a & 1023, a >> 15),
			token);
}

/* Posts a descriptor that is probably valid. */
static void op_post(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 4), q = a & 1, len = a >> 8 & 0xFFFF;
	struct hvrig_desc *d =
		hvrig_desc(&s->r, a >> 1 & 15, q ? 0 : a >> 24 & 7);

	if (!q && (a >> 24 & 3) == HVIA_OP_RDMAWRITE)
		hvrig_remote(d, (uintptr_t)f.side[s == f.side].buf,
			     f.side[s == f.side].handle);
	for (uint32_t n = a >> 28 & 3; n + 1; n--)
		hvrig_seg(d, s->buf + (len & 63), s->handle, len);
	hvrig_post(&s->r, VI + (a >> 5 & 3), q, d);
}

/* Writes arbitrary bytes into a descriptor, posted or not. */
static void op_desc(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint8_t *d = (uint8_t *)&s->r.desc[a & 15];

	for (uint32_t n = 1 + (a >> 4 & 15), at = a >> 8 & 63; n--; at++)
		d[at] = (uint8_t)take(&f.in, 1);
}

/* Sends a frame with the source address of the other station, and with a few
 * bytes changed. */
static void op_frame(struct side *s)
{
	uint8_t frame[1536] = { 0 };
	uint32_t a = (uint32_t)take(&f.in, 4), len = a & 0x7FF;
	uint32_t me = s != f.side;
	uint64_t w;

	eth_addr_of(frame, !me);
	eth_addr_of(frame + HVIA_F_SRC, me);
	frame[HVIA_F_ETHERTYPE] = 0x88;
	frame[HVIA_F_ETHERTYPE + 1] = 0xB5;
	frame[HVIA_F_TYPE] = a >> 11 & 15;
	frame[HVIA_F_FLAGS] = a >> 15 & 7;
	frame[HVIA_F_DST_VI] = VI + (a >> 18 & 3);
	frame[HVIA_F_SRC_VI] = VI + (a >> 20 & 3);
	frame[HVIA_F_SEQ] = a >> 22 & 3;
	frame[HVIA_F_LENGTH] = (uint8_t)len;
	for (uint32_t n = a >> 24 & 15; n; n--) {
		uint32_t at = (uint32_t)take(&f.in, 1) & 63;

		frame[at] = (uint8_t)take(&f.in, 1);
	}
	for (uint32_t i = 0; i < 64; i += 8) {
		memcpy(&w, frame + i, 8);
		hvrig_store(&s->r, HVIA_KTX + i, w);
	}
	hvrig_store(&s->r, HVIA_KTX_LENGTH, len);
}

static void op_wait(struct side *s)
{
	weft_host_sleep(s->r.h, weft_host_now(s->r.h) +
					(1 + take(&f.in, 1)) * 200 * WEFT_NS);
}

static void op_memory(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	s->buf[a % BUF] = (uint8_t)take(&f.in, 1);
}

/* ---- operations closer to a driver's ---- */

/* Flips bits of the level-1 entry of a region in use. */
static void op_entry(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint32_t at = hvia_l1_addr(HVRIG_FIRST + (a & 1)) + 8 * (a >> 1 & 3);
	uint64_t was;

	hvrig_store(&s->r, HVIA_ATT_ADDR, at);
	was = see_value(hvrig_load(&s->r, HVIA_ATT_DATA));
	hvrig_store(&s->r, HVIA_ATT_ADDR, at);
	hvrig_store(&s->r, HVIA_ATT_DATA, was ^ 1ull << (a >> 3 & 63));
}

/* Sets sequence numbers of a VI to values just before the wrap, because short
 * inputs would not reach them otherwise. */
static void op_sequence(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 1), vi = VI + (a & 3);
	uint64_t q = hvrig_load(&s->r, hvia_vi_entry(vi, HVIA_VI_1));
	uint32_t n = 0x10000u - (a >> 2 & 7), both = a >> 5;

	if (both & 1)
		q = (q & ~(0xFFFFull << 32)) | (uint64_t)(n & 0xFFFF) << 32;
	if (both & 2)
		q = (q & ~(0xFFFFull << 48)) | (uint64_t)(n & 0xFFFF) << 48;
	hvrig_store(&s->r, hvia_vi_entry(vi, HVIA_VI_1), q);
}

/* Posts a descriptor with an arbitrary control word. The descriptor's segments
 * and remote address begin close to the end of a region and may cross that
 * end. */
static void op_edge(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 4), q = a & 1;
	struct side *to = &f.side[s == f.side];
	struct hvrig_desc *d =
		hvrig_desc(&s->r, a >> 1 & 15, q ? 0 : a >> 8 & 15);

	if (!q && (a >> 8 & 3))
		hvrig_remote(d, (uintptr_t)to->buf + BUF - (a >> 12 & 63) * 64,
			     to->handle + (a >> 18 & 15 ? 0 : 1));
	for (uint32_t n = a >> 22 & 3; n + 1; n--)
		hvrig_seg(d, s->buf + BUF - (a >> 24 & 15) * 100, s->handle,
			  (a >> 28 & 7) * 60 + n);
	hvrig_post(&s->r, VI + (a >> 5 & 3), q, d);
}

/* Loads the registers that a driver loads after an interrupt. */
static void op_service(struct side *s)
{
	uint64_t cause = see_value(hvrig_load(&s->r, HVIA_INT_CAUSE));

	for (uint32_t i = 0; i < 4 && cause & HVIA_INT_ERROR; i++) {
		if (!see_value(hvrig_load(&s->r, HVIA_ERR_POP)))
			break;
		see_value(hvrig_load(&s->r, HVIA_ERR_INFO));
	}
	if (cause & HVIA_INT_PACKET) {
		see_value(hvrig_load(&s->r, HVIA_KRX_LENGTH));
		see_value(hvrig_load(&s->r, HVIA_KRX_TYPE));
		for (uint32_t i = 0; i < 64; i += 8)
			see_value(hvrig_load(&s->r, HVIA_KRX + i));
		hvrig_store(&s->r, HVIA_KRX_LENGTH, 0);
	}
	hvrig_store(&s->r, HVIA_INT_CAUSE, cause);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t at = 0; at < HVIA_VI_STRIDE; at += 8)
			see_value(hvrig_load(&s->r, hvia_vi_entry(VI + i, at)));
}

/* Connects a VI again, with or without RDMA. */
static void op_again(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 1);

	hvrig_vi(&s->r, VI + (a & 3), VI + (a & 3), a >> 2 & 0x27);
}

static void (*const near_ops[])(struct side *) = {
	op_entry, op_sequence, op_edge, op_service, op_again,
};
static void (*const ops[])(struct side *) = {
	op_reg,	 op_load, op_table, op_vi,   op_att,	op_doorbell,
	op_post, op_desc, op_frame, op_wait, op_memory,
};

enum { NEAR = 110 }; /* operation bytes >= NEAR select near_ops */

static void operate(struct side *s)
{
	uint32_t n = take(&f.in, 1) & 127;

	if (n < NEAR)
		ops[n % (sizeof(ops) / sizeof(ops[0]))](s);
	else
		near_ops[(n - NEAR) % (sizeof(near_ops) / sizeof(near_ops[0]))](
			s);
}

/* ---- programs ---- */

static int open_side(struct weft_host *h, struct bench *b)
{
	struct side *s = &f.side[weft_host_node(h)];

	hvrig_open(&s->r, h);
	s->buf = hvrig_mem(&s->r, BUF, HVIA_ATT_RDMA_WRITE, &s->handle);
	for (uint32_t i = 0; i < 4; i++)
		hvrig_vi(&s->r, VI + i, VI + i, HVIA_VIF_RDMA_WRITE);
	f.ready++;
	while (f.ready < 2)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	return 0;
}

/* Runs the operations that the input has for this node. Peeks at the next
 * operation, and leaves it in the input if it is for the other node. */
static int hostile(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h);

	open_side(h, b);
	while (f.in.p < f.in.end && f.done < OPS) {
		if (*f.in.p >> 7 != me) {
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
			continue;
		}
		f.done++;
		operate(&f.side[me]);
	}
	see(f.side[me].buf, BUF);
	see(f.side[me].r.desc, HVRIG_DESCS * sizeof(struct hvrig_desc));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench *b = hvrig_bench();
	struct weft_err err = { 0 };

	memset(&f, 0, sizeof(f));
	f.in = (struct fuzz_in){ data, data + size };
	bench_prog(b, 0, hostile);
	bench_prog(b, 1, hostile);
	bench_start(b);
	weft_sim_run(b->sim, WEFT_NEVER);
	if (weft_progs_running(b->sim) || weft_sim_finish(b->sim, &err))
		abort();
	bench_free(b);
	return 0;
}
