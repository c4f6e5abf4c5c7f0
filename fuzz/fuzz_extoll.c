/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that reaches extoll.nic, in any order: registers, stores on
 * requester pages, packets of the network, answers of the bus.  Nothing may
 * crash or be lost.  An input is a string of operations, one byte each followed
 * by its arguments. */
#include <stdlib.h>
#include <string.h>

#include "systems/extoll/tests/velo_rig.h"
#include "see.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	struct fuzz_in in;
	struct xr r;
};

/* Offsets near which there are registers; the NIC decodes the rest. */
static uint64_t reg_off(struct fuzz *f)
{
	static const uint32_t base[] = {
		0x0000,	  0x0100,   0x0200,   0x0300,	0x0400,	  0x1000,
		0x2000,	  0x3000,   0x100000, 0x101000, 0x102000, 0x103000,
		0x110000, 0x111000, 0x112000, 0x113000, 0xD00000, 0xF00000,
	};
	uint32_t b = base[take(&f->in, 1) % (sizeof(base) / sizeof(base[0]))];
	uint32_t i = (uint32_t)take(&f->in, 1);

	return b >= 0xD00000 ? b + i * 4096 : b + i * 8;
}

static void op_reg(struct fuzz *f)
{
	uint64_t off = reg_off(f);

	xr_w64(&f->r, 0, off, take(&f->in, 8));
}

static void op_load(struct fuzz *f)
{
	uint64_t off = take(&f->in, 1) & 1 ? reg_off(f) : take(&f->in, 3) * 8;

	see_value(xr_r64(&f->r, 0, off));
}

/* A ring where there is memory: VELO's mailbox of VPID 0..3. */
static void op_mailbox(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 2), vpid = a & 3;

	xr_w64(&f->r, 0, EXTOLL_VELO_TX + 8 * vpid, EXTOLL_TX(0, vpid, 0));
	xr_w64(&f->r, 0, EXTOLL_VELO_RX_BASE + 8 * vpid,
	       XR_MEM + 0x10000 * (1 + vpid));
	xr_w64(&f->r, 0, EXTOLL_VELO_RX + 8 * vpid,
	       EXTOLL_RX(0, a >> 4 & 31, (uint64_t)(a >> 9 & 3) << 16));
}

/* Any store on a page. */
static void op_page(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 4), n = 4 + (a & 15) * 4;
	uint64_t page = a >> 30 & 1 ? extoll_rma_page(a >> 25 & 31, a >> 17 & 3)
				    : extoll_velo_page(0, a >> 17 & 3);
	uint64_t line[8];

	for (uint32_t i = 0; i < 8; i++)
		line[i] = take(&f->in, a >> 31 ? 8 : 1);
	xr_store(&f->r, 0, page + (a >> 4 & 0x3F) % 16 * 4, line, n);
}

/* A message that may well go out. */
static void op_send(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 3), len = 1 + (a & 63);
	uint64_t m[9] = { EXTOLL_SEND(a >> 6 & 1, a >> 7 & 3, a >> 9 & 3, a,
				      len) };
	uint32_t n = EXTOLL_SEND_BYTES(len);
	uint64_t page = extoll_velo_page(0, a >> 11 & 3);

	xr_store(&f->r, 0, page, m, n < 64 ? n : 64);
	if (n > 64)
		xr_store(&f->r, 0, page + 64, &m[8], n - 64);
}

static void op_wait(struct fuzz *f)
{
	xr_run(&f->r, take(&f->in, 1) * 4);
}

/* A packet of the network, right or wrong. */
static void op_packet(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(&f->in, 3);
	struct weft_frame *p = weft_frame_new(f->r.sim);
	uint32_t len = a >> 4 & 0x7F;

	if (a >> 23)
		len = (a >> 4 & 0xFFF) + 1;
	for (uint32_t i = 0; i < 3; i++)
		p->u[i] = take(&f->in, 8);
	if (a >> 22 & 1) /* a VELO message */
		p->u[0] = EX_H0_MAKE(1, 2, a >> 2 & 3, 0) |
			  EX_PUT(len, 54, 48) | (p->u[0] & EX_VELO_IRQ);
	*ex_meta(p) = (struct ex_meta){ .words = a >> 16 & 3,
					.cls = a >> 18 & 1,
					.hops = 1 };
	p->payload = weft_slice_new(f->r.sim, len);
	if (len)
		memset(weft_slice_data(p->payload), (int)a, len);
	xr_send(&f->r, (a & 3) % 3, p, xr_cycle(&f->r) + 1);
}

static void op_memory(struct fuzz *f)
{
	uint32_t off = (uint32_t)take(&f->in, 2) * 8;

	xr_mem_set64(&f->r, 0, XR_MEM + off, take(&f->in, 8));
}

static void op_bus(struct fuzz *f)
{
	f->r.bus[0]->refuse = take(&f->in, 1) & 1;
}

static void (*const ops[])(struct fuzz *) = {
	op_reg,	 op_load,   op_mailbox, op_page, op_send,
	op_wait, op_packet, op_memory,	op_bus,
};

static void show(struct fuzz *f)
{
	const struct xbus *b = f->r.bus[0];

	see(b->mem, XR_MEM_BYTES);
	for (uint32_t i = 0; i < b->n_log && i < XR_LOG; i++) {
		see_value(b->log[i].time ^ (uint64_t)b->log[i].op);
		see_value(b->log[i].addr);
		see_value(b->log[i].bytes);
	}
	see_value(b->irq_edges);
	for (uint32_t i = 0; i < f->r.net->n_log && i < XR_LOG; i++) {
		const struct xnet_pkt *p = &f->r.net->log[i];

		see_value(p->cycle);
		see(p->u, sizeof(p->u));
		see(p->data,
		    p->len < sizeof(p->data) ? p->len : sizeof(p->data));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const set[] = { "", "width=w16", "velo_max=120",
					   "np_depth=1 posted=2" };
	struct fuzz f = { .in = { data, data + size } };

	xr_single(&f.r, set[take(&f.in, 1) % 4]);
	xr_setup(&f.r, 0);
	for (uint32_t n = 0; f.in.p < f.in.end && n < 400; n++)
		ops[take(&f.in, 1) % (sizeof(ops) / sizeof(ops[0]))](&f);
	xr_run(&f.r, 100000);
	xr_settle(&f.r);
	show(&f);
	xr_free(&f.r);
	return 0;
}
