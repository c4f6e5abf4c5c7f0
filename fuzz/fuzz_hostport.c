/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port with a hostile host: management registers, context tables, windows,
 * routes, VCIs of any kind, Triggerpages, ULTRA pages, and by damaged routes
 * and contexts packets that no driver would send, on two nodes.  Nothing may
 * crash or go on for ever.
 *
 * An input is a string of operations, one byte each followed by its arguments;
 * the top bit of the byte chooses the node. */
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

/* A command for a cache, not waited for. */
static void op_cache(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 3);

	hpdrv_set(&s->d, HP_R_CACHE_ARG0, take(&f.in, 8));
	hpdrv_set(&s->d, HP_R_CACHE_ARG1, take(&f.in, 8));
	hpdrv_set(&s->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(a & 7, a >> 3 & 7, VPID + (a >> 6 & 3),
			       a >> 8 & 0xFF));
}

/* The translation that a miss asks for. */
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

/* A window that is open over memory of this side. */
static void op_open(struct side *s)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	uint64_t *w = s->p[a & 1].wdt + HP_WORDS * (a >> 1 & 7);

	memset(w, 0, HP_LINE);
	w[0] = (a >> 4 & 15) * HP_PAGE;
	w[1] = (1 + (a >> 8 & 7)) * HP_PAGE;
	w[2] = HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | HP_WIN_CAP_ANY;
}

/* Any words as an instruction. */
static void op_raw(struct side *s)
{
	struct hpproc *p = &s->p[take(&f.in, 1) & 1];
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < HP_WORDS; i++)
		w[i] = take(&f.in, 8);
	hpproc_put(p, w);
	see_value(hpproc_trigger(p, HP_T_ISSUE, 1));
}

/* An instruction that may well be carried out. */
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

static void (*const ops[])(struct side *) = {
	op_reg,	   op_load, op_cache, op_translate, op_context,
	op_route,  op_open, op_raw,   op_vci,	    op_trigger,
	op_posted, op_wait, op_ultra, op_window,
};

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

/* Each side takes the operations that are its own; both look at the next. */
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
		ops[(take(&f.in, 1) & 127) % (sizeof(ops) / sizeof(ops[0]))](s);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct exrig r;

	memset(&f, 0, sizeof(f));
	f.in = (struct fuzz_in){ data, data + size };
	hprig_new(&r, "2", NULL);
	exrig_prog(&r, 0, hostile);
	exrig_prog(&r, 1, hostile);
	exrig_start(&r);
	weft_sim_run(r.sim, 100 * WEFT_MS);
	if (weft_progs_running(r.sim))
		abort();
	exrig_free(&r);
	return 0;
}
