/* SPDX-License-Identifier: Apache-2.0 */
/* Writes registers, configuration and descriptors of forth.nic in any order
 * while packets arrive. The NIC does not crash, does not stop, and loses
 * nothing. An input is a string of operations, one byte each followed by its
 * arguments. */
#include <stdlib.h>
#include <string.h>

#include "see.h"
#include "systems/forth/tests/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	const uint8_t *p, *end;
	struct rig r;
	uint32_t depth;
	/* True once loopback was switched on, or if the machine is one of
	 * `more_of`. Lost packets are not an error then. */
	bool looped;
	uint32_t slot[FORTH_QUEUES_MAX], queues; /* slot[]: next slot of each
						  * queue */
	uint32_t links;
};

/* Returns the next n bytes of the input as a number. Bytes past the end of the
 * input count as 0. */
static uint64_t take(struct fuzz *f, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n && f->p < f->end; i++)
		v |= (uint64_t)*f->p++ << 8 * i;
	return v;
}

static void op_reg(struct fuzz *f)
{
	uint32_t off = (uint32_t)take(f, 1) * 4;
	uint32_t val = (uint32_t)take(f, 4);

	f->looped |= off == FORTH_CONTROL && val >> 30 == 3;
	rig_w32(&f->r, 0, off, val);
}

static void op_cfg(struct fuzz *f)
{
	uint32_t off = (uint32_t)take(f, 1);
	uint32_t bytes = off % 4 == 0 ? 4 : off % 2 == 0 ? 2 : 1;

	rig_cfg(&f->r, 0, off, bytes, (uint32_t)take(f, bytes));
}

static void op_load(struct fuzz *f)
{
	uint32_t off = (uint32_t)take(f, 2) & 0x7FFC;

	see_value(rig_load(&f->r, 0, 2, off, off % 8 ? 4 : 8));
}

/* Writes a descriptor that is probably valid. */
static void op_desc(struct fuzz *f)
{
	uint32_t where = (uint32_t)take(f, 2), what = (uint32_t)take(f, 4);
	uint64_t q[2];

	q[0] = RIG_MEM + (what & 0xFFF8);
	q[1] = forth_desc_q1(what >> 16 & 15, what & 0x3F, RIG_MEM + 0x20000,
			     (uint64_t)(what >> 24 & 15) << 59);
	rig_store(&f->r, 0, 2, FORTH_QUEUE_MEM + 16 * (where % 1024), q, 16);
}

/* Writes any words into the queue memory. */
static void op_burst(struct fuzz *f)
{
	uint32_t off = FORTH_QUEUE_MEM + (uint32_t)take(f, 2) % 1000 * 16;
	uint64_t line[8];

	for (uint32_t i = 0; i < 8; i++)
		line[i] = take(f, 8);
	rig_store(&f->r, 0, 2, off, line, sizeof(line));
}

static void op_wait(struct fuzz *f)
{
	rig_wait(&f->r, take(f, 1) * 4);
}

static void op_packet(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(f, 3);
	uint32_t size = 1 + (a & 0x1FF);

	if (f->r.sink->tail < RIG_SENDS)
		rig_send(&f->r, rig_cc(&f->r) + 1,
			 forth_header(a >> 9 & 7, (uint64_t)(a >> 12) << 52,
				      size, RIG_MEM + (a & 0xFF0)),
			 a);
}

static void op_enable(struct fuzz *f)
{
	rig_cfg(&f->r, 0, FORTH_CFG_COMMAND, 2,
		FORTH_CMD_MEMORY | FORTH_CMD_MASTER);
	rig_w32(&f->r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
}

static void op_ram(struct fuzz *f)
{
	uint64_t off = take(f, 4) & 0x7FFFFFC, val = take(f, 4);

	rig_store(&f->r, 0, 1, off, &val, 4);
	see_value(rig_load(&f->r, 0, 1, off, 4));
}

/* Writes the next descriptor of a queue and starts the queue. */
static void op_next(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(f, 4), q = a % f->queues;
	uint64_t flags = FORTH_DESC_START | (uint64_t)(a >> 3 & 7) << 60;
	uint32_t depth = FORTH_DESC_TOTAL / f->queues;

	rig_post(&f->r, 0, q, f->slot[q]++ % depth,
		 RIG_MEM + (a >> 6 & 31) * 520,
		 forth_desc_q1(a >> 11 & 7, 1 + (a >> 14 & 63),
			       RIG_MEM + 0x20000 + (a >> 20 & 15) * 8, flags));
}

/* Posts a descriptor that belongs to a group, or one that announces a group.
 * The completion field of an announcement is the number of packets of the
 * group. */
static void op_group(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(f, 3), q = a % f->queues;
	uint32_t depth = FORTH_DESC_TOTAL / f->queues;
	uint64_t flags = FORTH_DESC_START |
			 (uint64_t)(a >> 6 & 3) << FORTH_DESC_GROUP_SHIFT |
			 (a >> 8 & 1 ? FORTH_DESC_ANNOUNCE : 0) |
			 (a >> 9 & 1 ? FORTH_DESC_RNOTIFY : 0);

	rig_post(&f->r, 0, q, f->slot[q]++ % depth,
		 RIG_MEM + (a >> 10 & 31) * 520,
		 forth_desc_q1(a >> 3 & 7, 1 + (a >> 15 & 31),
			       RIG_MEM + 0x20000, flags));
}

/* Injects a packet from any of the links. */
static void op_from(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(f, 4), link = a % f->links;
	uint64_t h = forth_header(a >> 2 & 7, (uint64_t)(a >> 14 & 0xFFF) << 52,
				  1 + (a >> 8 & 63),
				  RIG_MEM + 0x1000 + (a >> 26) * 64);

	if (f->links > 1)
		h = forth_header_reseq(h, a >> 17 & 0x1FF);
	if (f->r.on[link] && f->r.on[link]->tail < RIG_SENDS)
		rig_send_on(&f->r, link, rig_cc(&f->r) + 1, h, a);
}

static void op_bus(struct fuzz *f)
{
	uint32_t a = (uint32_t)take(f, 1);

	f->r.n[0].bus->refuse = (a & 7) == 7;
	f->r.n[0].bus->contend = a >> 3 & 1;
}

/* Stops the neighbour, which then returns no credits, or lets the neighbour
 * continue. */
static void op_stop(struct fuzz *f)
{
	if (take(f, 1) & 1)
		f->r.sink->stop = true;
	else
		rig_release(&f->r);
}

/* Loads the registers that a driver loads after an interrupt. */
static void op_service(struct fuzz *f)
{
	static const uint16_t regs[] = {
		FORTH_POINTERS,	      FORTH_DESC_ERR,	  FORTH_RESEQ,
		FORTH_RESEQ_RX,	      FORTH_RESEQ_POOL,	  FORTH_EXT_FREE,
		FORTH_QUEUE_POINTERS, FORTH_CREDIT_STATE, FORTH_LINK_STATE,
		FORTH_RESEQ_STATE,    FORTH_LOG_COUNT,	  FORTH_UNSYNC,
	};

	for (uint32_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		see_value(rig_r32(&f->r, 0, regs[i]));
	see_value(rig_cfg_get(&f->r, 0, FORTH_CFG_STATUS, 2));
	rig_cfg(&f->r, 0, FORTH_CFG_APP_IRQ, 4,
		FORTH_APP_IRQ_ENABLE | FORTH_APP_IRQ_FLAG);
}

static void (*const near_ops[])(struct fuzz *) = {
	op_next, op_group, op_from, op_bus, op_stop, op_service,
};
static void (*const ops[])(struct fuzz *) = {
	op_reg,	 op_cfg,    op_load,   op_desc, op_burst,
	op_wait, op_packet, op_enable, op_ram,
};

enum { NEAR = 243 }; /* operation bytes >= NEAR select near_ops */

static void operate(struct fuzz *f)
{
	uint32_t n = (uint32_t)take(f, 1);

	if (n < NEAR)
		ops[n % (sizeof(ops) / sizeof(ops[0]))](f);
	else
		near_ops[(n - NEAR) % (sizeof(near_ops) / sizeof(near_ops[0]))](
			f);
}

static uint64_t counter(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	abort();
}

static void show(struct fuzz *f)
{
	const struct tbus *b = f->r.n[0].bus;
	const struct tsink *k = f->r.sink;

	see(b->mem, RIG_MEM_BYTES);
	for (uint32_t i = 0; i < b->n_log && i < RIG_LOG; i++) {
		const struct tbus_op *o = &b->log[i];

		see_value(o->req << 8 | o->op);
		see_value(o->done);
		see_value(o->addr);
		see_value((uint64_t)o->splits << 32 | o->tenures << 16 |
			  o->bytes);
	}
	see_value(b->irq_edges);
	see(k->log,
	    (k->n_log < RIG_LOG ? k->n_log : RIG_LOG) * sizeof(*k->log));
	see(k->start, k->n_start * sizeof(*k->start));
}

/* A first byte of at least MORE selects a machine from more_of. */
enum { MORE = 248 };
static const char *const more_of[8][2] = {
	{ "plat-multi", "" },
	{ "plat-switch",
	  "voq_ext_bytes=65536 voq_hi=1024 voq_lo=256 "
	  "sink.lanes=8 sink.cap=1200" },
	{ "plat-switch", "completion=count sink.lanes=8 sink.cap=1200" },
	{ "tr-switch",
	  "rw_overlap=false netcnt_read_clears=false "
	  "sink.lanes=8 sink.cap=1200" },
	{ "plat-multi", "completion=count" },
	{ "plat-switch", "voq_seg_max=512 sink.lanes=8 sink.cap=1200" },
	{ "plat-switch",
	  "suppress_bad_body_notify=true sink.lanes=8 "
	  "sink.cap=1200" },
	{ "plat-multi", "voq_seg_max=512 reseq_headers=4" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const presets[] = { "tr-switch", "plat-switch",
					       "tr-direct", "plat-direct4" };
	struct fuzz f = { .p = data, .end = data + size };
	uint32_t first = (uint32_t)take(&f, 1), preset = first % 4;
	const char *const *more = first < MORE ? NULL : more_of[first % 8];

	if (more)
		rig_single(&f.r, more[0], more[1]);
	else
		rig_single(&f.r, presets[preset],
			   preset < 2 ? "sink.lanes=8 sink.cap=1200"
				      : "sink.cap=2047");
	rig_setup(&f.r, 0);
	f.queues = 1u << (rig_r32(&f.r, 0, FORTH_BUILD) >> 4 & 3);
	f.links = more && !strcmp(more[0], "plat-multi") ? 4 : 1;
	for (uint32_t n = 0; f.p < f.end && n < 400; n++)
		operate(&f);
	op_enable(&f);
	rig_wait(&f.r, 2000);
	if (more)
		f.looped = true;
	if (counter(f.r.n[0].nic, "rx_underruns") ||
	    (!f.looped && counter(f.r.n[0].nic, "rx_lost")))
		abort();
	show(&f);
	rig_free(&f.r);
	return 0;
}
