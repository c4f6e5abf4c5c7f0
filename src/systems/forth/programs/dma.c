/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.dma: the cost of a DMA transfer on the bus, from the NIC's own
 * counters (forth.md 2.5, 11.3, 11.4; F01 to F06). Node 0 sends single
 * transfers of several sizes to node 1 over an otherwise idle system. The
 * counters of node 0 give the cost of reads, those of node 1 the cost of
 * writes. Each node reports its own values as metrics. */
#include <errno.h>
#include <stdio.h>

#include "programs/program.h"
#include "systems/forth/lib/device.h"

#define MIB 1048576.0

static const uint32_t dma_sizes[] = { 8, 64, 256, 496, 1024, 1536, 2048, 4096 };
#define DMA_SIZES (sizeof(dma_sizes) / sizeof(dma_sizes[0]))

struct dma {
	/* parameters */
	uint32_t count, read_max, latency_timer;
	weft_time_t gap;
	/* run */
	struct program w;
	struct weft_forth *f;
	weft_phys_t buf, remote;
	uint8_t *mem;
	/* bus clocks granted per transfer of each size, or 0 if not measured */
	double granted[DMA_SIZES];
};

static void dma_metric(struct dma *d, const char *what, uint32_t size,
		       const char *unit, double v)
{
	char name[48];

	snprintf(name, sizeof(name), "%s_%u", what, size);
	weft_metric(d->w.c, name, unit, v);
}

/* Reports values per transfer (out) or per received packet (in) of one size. */
static void dma_report(struct dma *d, uint32_t i, const char *dir,
		       const struct weft_forth_dir *c)
{
	uint32_t size = dma_sizes[i];
	double ops = c->ops, pc, bytes;
	char what[32];

	if (!c->ops)
		return;
	pc = c->active_pc / ops;
	bytes = 8.0 * c->qwords / ops;
	d->granted[i] = c->granted_pc / ops;
	dma_metric(d, dir, size, "pc", pc);
	snprintf(what, sizeof(what), "%s_rate", dir);
	dma_metric(d, what, size, "MiB/s",
		   bytes / (pc * weft_forth_pc_ns(d->f)) * 1e9 / MIB);
	snprintf(what, sizeof(what), "%s_use", dir);
	dma_metric(d, what, size, "%", 100 * bytes / 8 / pc);
	snprintf(what, sizeof(what), "%s_granted", dir);
	dma_metric(d, what, size, "pc", d->granted[i]);
	snprintf(what, sizeof(what), "%s_requests", dir);
	dma_metric(d, what, size, "", c->req / ops);
	snprintf(what, sizeof(what), "%s_disconnects", dir);
	dma_metric(d, what, size, "", c->disconnects / ops);
}

/* Returns true if the counters hold all transfers of this size, and no others.
 * Some may be lost on their way to node 1. */
static bool dma_alone(const struct dma *d, uint32_t size,
		      const struct weft_forth_dir *c)
{
	return (d->w.me || c->ops == d->count) &&
	       c->qwords == c->ops * (size / 8);
}

static void dma_size(struct dma *d, uint32_t i)
{
	uint32_t size = dma_sizes[i];
	uint64_t base = program_base(0, 1, size);
	struct weft_forth_counters c;
	const struct weft_forth_dir *way = d->w.me == 0 ? &c.out : &c.in;
	int32_t bad;

	if (d->w.me == 0)
		program_fill(d->mem, size / 8, base);
	weft_forth_counters_clear(d->f);
	program_barrier_n(&d->w, "dma.clear", i);
	for (uint32_t k = 0; d->w.me == 0 && k < d->count; k++) {
		/* request no local notification, because its write would count
		 * as a part of the transfer */
		weft_forth_put(d->f, 1, d->buf, d->remote, size / 8, 0);
		weft_host_sleep(d->w.h, weft_host_now(d->w.h) + d->gap);
	}
	program_barrier_n(&d->w, "dma.sent", i);
	weft_forth_counters_read(d->f, &c);
	if (dma_alone(d, size, way))
		dma_report(d, i, d->w.me == 0 ? "read" : "write", way);
	else
		weft_check_failed(
			d->w.c,
			"%u bytes: transfers run on while the next size is measured: a longer gap would do",
			size);
	if (d->w.me == 0 && c.split_ops) {
		dma_metric(d, "split", size, "pc",
			   (double)c.split_pc / c.split_ops);
		dma_metric(d, "splits", size, "",
			   (double)c.split_ops / c.out.ops);
	}
	bad = d->w.me ? program_check(d->mem, 0, size / 8, base) : -1;
	if (bad >= 0)
		weft_check_failed(d->w.c, "%u bytes: differs at byte %d", size,
				  8 * bad);
	if (weft_forth_counters_errors(&c))
		weft_check_failed(d->w.c, "the NIC counted errors");
}

/* Reports values that are computed from several sizes. */
static void dma_derived(struct dma *d)
{
	const uint32_t a = 1, b = 4; /* indices of sizes 64 and 1024 */
	const uint32_t last = DMA_SIZES - 1;
	double pc = d->granted[b] - d->granted[a];
	double phases = (d->granted[0] - 1) / 2;

	/* Compute the bytes per clock while data move. A transfer of either
	 * size takes one tenure. Therefore the fixed clocks cancel in the
	 * difference. */
	if (d->granted[a] && d->granted[b]) {
		weft_metric(d->w.c, "peak", "MiB/s",
			    (dma_sizes[b] - dma_sizes[a]) /
				    (pc * weft_forth_pc_ns(d->f)) * 1e9 / MIB);
		weft_metric(d->w.c, "peak_gbit", "Gb/s",
			    (dma_sizes[b] - dma_sizes[a]) * 8.0 /
				    (pc * weft_forth_pc_ns(d->f)));
	}
	/* A read takes one tenure for its request and one for each completion.
	 * The read of one qword takes two tenures, in which one clock carries
	 * data. Therefore `phases` is the overhead of one tenure. */
	if (d->granted[last] && phases > 0 && !d->w.me)
		weft_metric(d->w.c, "completions_4096", "",
			    (d->granted[last] - dma_sizes[last] / 8) / phases -
				    1);
}

static int dma_open(struct dma *d)
{
	struct weft_forth_attr a = { .read_max = d->read_max,
				     .latency_timer = d->latency_timer };
	int ret;

	d->mem = weft_mem_alloc(d->w.h, 4096, 4096, &d->buf);
	if (!d->mem)
		return -ENOMEM;
	ret = weft_forth_open(d->w.h, &a, &d->f);
	if (ret)
		return ret;
	program_put(&d->w, "dma.buf", d->buf);
	d->remote = program_get(&d->w, "dma.buf", 1);
	weft_forth_pc_ns(d->f);
	return 0;
}

static int dma_main(struct weft_comp *c)
{
	struct dma *d = c->state;
	int ret;

	d->w = program_from(c);
	if (d->w.me > 1) {
		weft_check_failed(c, "forth.dma is for nodes 0 and 1");
		return -EINVAL;
	}
	ret = dma_open(d);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < DMA_SIZES; i++)
		if (dma_sizes[i] <= weft_forth_info(d->f)->max_transfer)
			dma_size(d, i);
	dma_derived(d);
	weft_metric(c, "pc_ns", "ns", weft_forth_pc_ns(d->f));
	program_barrier(&d->w, "dma.end");
	weft_forth_close(d->f);
	return 0;
}

// clang-format off
static const struct weft_param dma_params[] = {
	WEFT_PARAM(U32, struct dma, count, "8", "1..1000", OWN,
		   "transfers of each size"),
	WEFT_PARAM(U32, struct dma, read_max, "4096", "512..4096", OWN,
		   "maximum memory read byte count (2.2)"),
	WEFT_PARAM(U32, struct dma, latency_timer, "254", "1..255", OWN,
		   "bus clocks of a tenure that others wait for (2.2)"),
	WEFT_PARAM(TIME, struct dma, gap, "50us", "", OWN,
		   "from a transfer to the next"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_dma, .name = "forth.dma", .kind = WEFT_KIND_PROGRAM,
	       .needs = "forth.nic",
	       .doc = "cost of DMA transfers from the NIC's counters",
	       .source = "forth.md 11.3, 11.4",
	       .state_size = sizeof(struct dma), .params = dma_params,
	       .ops = { .main = dma_main });
