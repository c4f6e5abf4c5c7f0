/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes with Host Ports and hostile hosts, which write to management
 * registers, context tables, windows, routes, VCIs, Triggerpages and ULTRA
 * pages. Damaged routes and contexts make the Host Ports also send packets that
 * no driver sets up. The Host Port does not crash, and the run ends.
 *
 * An input is a string of operations, one byte each followed by its arguments.
 * The top bit of an operation byte selects the node. */
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/tests/hpproc.h"
#include "host/prog.h"
#include "see.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VPID = 0x11, PROCS = 2, OPS = 300, BUF = 16 * HP_PAGE };

struct side {
	struct hpdrv d;
	struct hpproc p[PROCS];
	struct weft_io ultra;
	uint8_t *buf;
	weft_phys_t buf_phys;
};

static struct {
	struct fuzz_in in;
	struct side side[2];
	uint32_t ready, done;
} f;

/* ---- operations ---- */

static void op_reg(struct side *s)
{
	uint32_t off = (uint32_t)take(&f.in, 2) & 0xFF8;

	if (off < 0xF00)
		off &= 0xF8;
	hpdrv_set(&s->d, off, take(&f.in, 8));
}

static void op_load(struct side *s)
{
	see_value(hpdrv_get(&s->d, (uint32_t)take(&f.in, 2) & 0xFF8));
}

/* Issues an arbitrary command to a cache and does not wait for its
 * completion. */
static void op_cache(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 3);

	hpdrv_set(&s->d, HP_R_CACHE_ARG0, take(&f.in, 8));
	hpdrv_set(&s->d, HP_R_CACHE_ARG1, take(&f.in, 8));
	hpdrv_set(&s->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(a & 7, a >> 3 & 7, VPID + (a >> 6 & 3),
			       a >> 8 & 0xFF));
}

/* Inserts a translation of one of the first 32 pages, even if no miss has
 * requested it. */
static void op_translate(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	hpdrv_set(&s->d, HP_R_CACHE_ARG0, (a & 31));
	hpdrv_set(&s->d, HP_R_CACHE_ARG1,
		  HP_TLB_ARG((s->buf_phys >> 12) + (a >> 5 & 15), a >> 9 & 1));
	hpdrv_set(&s->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_INSERT, HP_CACHE_TLB,
			       VPID + (a >> 10 & 1), 1));
}

static void op_context(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	s->d.ct[HP_WORDS * (VPID + (a & 1)) + (a >> 1 & 7)] ^= take(&f.in, 8);
	if (a >> 4 & 1)
		hpdrv_set(&s->d, HP_R_VPID_EN,
			  HP_VPID_EN(VPID + (a & 1), a >> 5 & 1));
}

static void op_route(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	s->d.rs[HPDRV_ROUTE * (a & 1) + (a >> 1) % HPDRV_RLEN] =
		(uint8_t)take(&f.in, 1);
}

static void op_window(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	s->p[a & 1].wdt[HP_WORDS * (a >> 1 & 7) + (a >> 4 & 7)] =
		take(&f.in, 8);
}

/* Opens a window over memory of this node. */
static void op_open(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint64_t *w = s->p[a & 1].wdt + HP_WORDS * (a >> 1 & 7);

	memset(w, 0, HP_LINE);
	w[0] = (a >> 4 & 15) * HP_PAGE;
	w[1] = (1 + (a >> 8 & 7)) * HP_PAGE;
	w[2] = HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | HP_WIN_CAP_ANY;
}

/* Issues arbitrary words as an instruction. */
static void op_raw(struct side *s)
{
	struct hpproc *p = &s->p[take(&f.in, 1) & 1];
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < HP_WORDS; i++)
		w[i] = take(&f.in, 8);
	hpproc_put(p, w);
	see_value(hpproc_trigger(p, HP_T_ISSUE, 1));
}

/* Issues an instruction that is probably valid. */
static void op_vci(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 4);
	struct hpproc *p = &s->p[a & 1];
	uint64_t w[HP_WORDS];

	hpproc_to(w, a >> 24, a >> 1 & 1, VPID + (a >> 2 & 3), a >> 8);
	w[3] = HP_VCI_W3(a >> 4 & 7, 0);
	w[4] = take(&f.in, 2);
	w[5] = HP_VCI_W5(a >> 7 & 7);
	w[6] = take(&f.in, 2);
	w[7] = take(&f.in, 2);
	if (HP_MAIN(a >> 24) == HP_MAIN(HP_B_SEND))
		w[3] = w[6];
	hpproc_put(p, w);
	if (a >> 23 & 1)
		see_value(hpproc_trigger(p, HP_T_ISSUE, 1 + (a >> 20 & 7)));
}

static void op_trigger(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	see_value(hpproc_trigger(&s->p[a & 1], a >> 4 & 15, a >> 8 & 31));
}

static void op_posted(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint64_t *w = s->p[a & 1].prq + HP_WORDS * (a >> 1 & 15);

	w[HP_PRD_ADDR] = (a >> 8) * HP_PAGE / 8;
	w[HP_PRD_LEN] = take(&f.in, 2);
	w[HP_PRD_FLAGS] = take(&f.in, 1) << 56;
}

static void op_ultra(struct side *s)
{
	uint32_t off = (uint32_t)take(&f.in, 4) & (HP_ULTRA_BYTES - 8);

	if (take(&f.in, 1) & 1)
		see_value(weft_io_load64(s->d.h, &s->ultra, off));
	else
		weft_io_store64(s->d.h, &s->ultra, off, take(&f.in, 8));
}

static void op_wait(struct side *s)
{
	weft_host_sleep(s->d.h, weft_host_now(s->d.h) +
					(1 + take(&f.in, 1)) * 50 * WEFT_NS);
}

/* ---- operations that are probably valid ---- */

static void translate(struct side *s, uint32_t i, uint32_t page, bool writable)
{
	hpdrv_set(&s->d, HP_R_CACHE_ARG0, page);
	hpdrv_set(&s->d, HP_R_CACHE_ARG1,
		  HP_TLB_ARG((s->buf_phys >> 12) + page % 16, writable));
	hpdrv_set(&s->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_INSERT, HP_CACHE_TLB, VPID + i, 1));
}

/* Sets up two windows, the mappings of some of their pages, and posted
 * receives. */
static void op_prepare(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 3), i = a & 1;
	struct hpproc *p = &s->p[i];

	for (uint32_t n = 0; n < 2; n++) {
		uint64_t *w = p->wdt + HP_WORDS * n;

		memset(w, 0, HP_LINE);
		w[HP_WIN_VA] = n * 4 * HP_PAGE + (a >> 1 & 1) * 8;
		w[HP_WIN_LEN] = 4 * HP_PAGE;
		w[HP_WIN_FLAGS] = HP_WIN_EN | HP_WIN_RD | HP_WIN_CAP_ANY |
				  (a >> (2 + n) & 1 ? HP_WIN_WR : 0);
	}
	for (uint32_t k = 0; k < 8; k++)
		if (a >> (8 + k) & 1)
			translate(s, i, k, !(a >> (16 + k) & 1));
	for (uint32_t k = 0; k < (a >> 4 & 7); k++) {
		uint64_t *w = p->prq + HP_WORDS * (p->pi++ % s->d.prq);

		w[HP_PRD_LEN] = 1024;
		w[HP_PRD_FLAGS] = HP_PRD_VALID;
		w[HP_PRD_ADDR] = k * HP_PAGE;
		see_value(hpproc_trigger(p, HP_T_PRQ_WP, 1));
	}
}

/* Posts an instruction of a valid kind to one of a node's two VPIDs. */
static void op_good(struct side *s)
{
	static const uint8_t kinds[] = {
		HP_B_FAST_SEND | 1, HP_B_FAST_SEND | 5, HP_B_FAST_PUT | 1,
		HP_B_FAST_PUT | 3,  HP_B_FAST_GET | 1,	HP_B_FAST_GET | 3,
		HP_B_MIS_PUT,	    HP_B_FAA,		HP_B_CAS,
		HP_B_SEND,	    HP_B_PUT,		HP_B_GET,
	};
	uint32_t a = (uint32_t)take(&f.in, 4), node = s != f.side;
	uint32_t byte = kinds[(a & 15) % sizeof(kinds)];
	struct hpproc *p = &s->p[a >> 4 & 1];
	uint64_t w[HP_WORDS];

	hpproc_to(w, byte | (a >> 5 & 1 ? HP_A : 0), a >> 6 & 1 ? node : !node,
		  VPID + (a >> 7 & 1), a);
	w[3] = HP_VCI_W3(a >> 8 & 1, 0);
	w[4] = (a >> 9 & 15) * 1000 & ~7u;
	w[5] = HP_VCI_W5(a >> 13 & 1) | (a >> 14 & 0xFF);
	w[6] = (a >> 22 & 7) * 1016;
	w[7] = (a >> 25 & 127) * 24;
	if (byte == HP_B_SEND) {
		w[3] = (a >> 22 & 7) * 100;
		w[4] = w[7];
	}
	hpproc_put(p, w);
	see_value(hpproc_trigger(p, HP_T_ISSUE, 1));
}

/* Reads up to 7 notifications, and may advance read pointers afterwards. */
static void op_notices(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 1);
	struct hpproc *p = &s->p[a & 1];
	uint64_t w[HP_WORDS];

	for (uint32_t n = 0; n < (a >> 1 & 7) && hpproc_nqe(p, w); n++)
		see(w, sizeof(w));
	if (a >> 4 & 1 && p->owed) {
		see_value(hpproc_trigger(p, HP_T_NQ_RP, p->owed % 32));
		p->owed = 0;
	}
	if (a >> 5 & 1)
		see_value(hpproc_trigger(p, HP_T_RDR_RP, a >> 5));
}

/* Accesses the registers that a driver accesses after an interrupt. */
static void op_service(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 1);
	uint64_t v = see_value(hpdrv_get(&s->d, HP_R_IRQ_STATUS));

	for (uint32_t n = 0; n < 4; n++) {
		v = see_value(hpdrv_get(&s->d, HP_R_TLB_MISS));
		if (v == HP_NONE)
			break;
		if (a & 1)
			translate(s, HP_MISS_VPID(v) & 1,
				  (uint32_t)HP_MISS_PAGE(v),
				  HP_MISS_WRITE(v) || a & 2);
	}
	see_value(hpdrv_get(&s->d, HP_R_IRQ_VPID));
	see_value(hpdrv_get(&s->d, HP_R_ERR_LOG));
	see_value(hpdrv_get(&s->d, HP_R_CACHE_STATUS));
	see_value(hpdrv_get(&s->d, HP_R_CSB_FREE));
	see_value(hpdrv_get(&s->d, HP_R_TLB_MISS_CNT));
	hpdrv_set(&s->d, HP_R_IRQ_STATUS, a >> 2);
}

/* Closes a process. In half of the cases, opens the process again with other
 * flags. */
static void op_closed(struct side *s)
{
	static const uint64_t flags[] = { 0, HP_CTX_PR_EN, HP_CTX_RMA_NTF,
					  HP_CTX_IRQ_EN | HP_CTX_PR_EN };
	uint32_t a = (uint32_t)take(&f.in, 1), i = a & 1;
	struct hpproc *p = &s->p[i];

	hpdrv_set(&s->d, HP_R_VPID_EN, HP_VPID_EN(VPID + i, false));
	if (a >> 1 & 1)
		hpdrv_set(&s->d, HP_R_VPID_QUIET, VPID + i);
	for (uint32_t n = 0; n < (a >> 2 & 3); n++)
		see_value(hpdrv_get(&s->d, HP_R_VPID_QUIET));
	hpdrv_set(&s->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_CTX, VPID + i, 0));
	if (a >> 4 & 1)
		return;
	p->wi = p->ni = p->pi = p->owed = 0;
	memset((void *)(uintptr_t)p->nq, 0, (size_t)HP_LINE * s->d.nq);
	hpdrv_enable(p, flags[a >> 5 & 3]);
	if (a >> 7)
		hpdrv_set(&s->d, HP_R_VPID_EN,
			  HP_VPID_EN_WEIGHT(VPID + i, a >> 2 & 7));
}

/* Places the ring of event records or the area for parked packets in memory,
 * moves the ring's read pointer, or sets the control register. */
static void op_areas(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 1);

	switch (a & 3) {
	case 0:
		hpdrv_set(&s->d, HP_R_EVENTS_BASE, s->buf_phys + 12 * HP_PAGE);
		hpdrv_set(&s->d, HP_R_EVENTS_SIZE, a >> 2 & 15);
		break;
	case 1:
		hpdrv_set(&s->d, HP_R_EVENTS_RP, a >> 2);
		break;
	case 2:
		hpdrv_set(&s->d, HP_R_PARK_BASE, s->buf_phys + 13 * HP_PAGE);
		hpdrv_set(&s->d, HP_R_PARK_SIZE, a >> 2 & 3);
		break;
	default:
		hpdrv_set(&s->d, HP_R_CTRL,
			  HP_CTRL_ENABLE | HP_CTRL_NPS_ALL | (a >> 1 & 6));
	}
}

/* Sets up a requester port or a completer port of ULTRA as the driver does. */
static void op_port(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2), node = s != f.side;
	uint32_t page = HP_ULTRA_DRIVER | HP_ULTRA_PAGE(a & 1);
	uint64_t slice = a >> 3 & 1 ? 16 : 32;

	if (a >> 1 & 1) {
		uint8_t el[HP_ULTRA_ROUTE_MAX] = { 0 };
		uint8_t *b = s->d.rs + HPDRV_ROUTE * !node;
		uint64_t w[2];

		memcpy(el, b + HP_RS_HEAD, sizeof(el));
		memcpy(w, el, sizeof(w));
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_VPID, VPID);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_TUPID, a & 1);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_DEST,
				!node + 1);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_LEN,
				b[HP_RS_NF]);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_ROUTE, w[0]);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_ROUTE + 8,
				w[1]);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_SLICE,
				(64 + (a & 1) * 64) << 16 | (a & 1) * 64);
		weft_io_store64(s->d.h, &s->ultra, page + HP_UR_CTRL,
				a >> 2 & 1 ? 0 : HP_ULTRA_EN);
		return;
	}
	page |= HP_ULTRA_CPL;
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_OUPID, a & 1);
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_HPID, !node + 1);
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_BASE,
			s->buf_phys + (8 + (a & 1)) * HP_PAGE);
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_SIZE,
			slice << 24 | (2 + (a >> 4 & 7)));
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_VPID, VPID);
	weft_io_store64(s->d.h, &s->ultra, page + HP_UC_CTRL,
			HP_ULTRA_EN | (a >> 7 & 7) << 1);
}

/* Moves the read pointer of a completer port, or sends a packet of n words
 * through a requester port. */
static void op_packet(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2), n = 1 + (a >> 1 & 15);
	uint32_t page = HP_ULTRA_PAGE(a & 1);

	if (a >> 5 & 1) {
		weft_io_store64(s->d.h, &s->ultra,
				HP_ULTRA_CPL | page | HP_ULTRA_RP, a >> 6 & 7);
		see_value(
			weft_io_load64(s->d.h, &s->ultra, HP_ULTRA_CPL | page));
		return;
	}
	page |= a >> 6 & 7 ? HP_ULTRA_ACK : 0;
	page |= a >> 9 & 1 ? HP_ULTRA_NOTIFY : 0;
	page |= a >> 10 & 1 ? HP_ULTRA_IRQ : 0;
	for (uint32_t i = 0; i < n; i++)
		weft_io_store64(s->d.h, &s->ultra,
				page + HP_ULTRA_START(n) + 8 * i,
				a * 0x9E3779B97F4A7C15ull + i);
	see_value(weft_io_load64(s->d.h, &s->ultra, HP_ULTRA_PAGE(a & 1)));
}

static void (*const near_ops[])(struct side *) = {
	op_prepare, op_good,  op_notices, op_service,
	op_closed,  op_areas, op_port,	  op_packet,
};
static void (*const ops[])(struct side *) = {
	op_reg,	   op_load, op_cache, op_translate, op_context,
	op_route,  op_open, op_raw,   op_vci,	    op_trigger,
	op_posted, op_wait, op_ultra, op_window,
};

enum { NEAR = 112 }; /* operation bytes >= NEAR select near_ops */

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

static void open_side(struct side *s, struct weft_host *h, struct exrig *r,
		      uint32_t node)
{
	s->d.wq = s->d.nq = 32;
	hpdrv_open(&s->d, r, node, h);
	s->buf = weft_mem_alloc(h, BUF, HP_PAGE, &s->buf_phys);
	if (!s->buf || !weft_io_map(h, s->d.dev, HP_BAR_ULTRA, 0,
				    HP_ULTRA_BYTES, WEFT_UC, &s->ultra))
		abort();
	for (uint32_t i = 0; i < PROCS; i++)
		hpproc_open(&s->p[i], &s->d, h, VPID + i,
			    i ? HP_CTX_PR_EN | HP_CTX_RMA_NTF : 0);
	f.ready++;
	while (f.ready < 2)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

/* Runs the operations that the input has for this node. Peeks at the next
 * operation, and leaves it in the input if it is for the other node. */
static int hostile(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct side *s = &f.side[node];

	open_side(s, h, r, node);
	while (f.in.p < f.in.end && f.done < OPS) {
		if (*f.in.p >> 7 != node) {
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
			continue;
		}
		f.done++;
		operate(s);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct exrig r;
	struct weft_err err = { 0 };

	memset(&f, 0, sizeof(f));
	f.in = (struct fuzz_in){ data, data + size };
	hprig_new(&r, "2", NULL);
	exrig_prog(&r, 0, hostile);
	exrig_prog(&r, 1, hostile);
	exrig_start(&r);
	weft_sim_run(r.sim, 100 * WEFT_MS);
	if (weft_progs_running(r.sim) || !weft_sim_idle(r.sim) ||
	    weft_sim_finish(r.sim, &err))
		abort();
	exrig_free(&r);
	return 0;
}
