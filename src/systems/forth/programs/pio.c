/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.pio: the cost of stores to the NIC (forth.md 11.5, F07 to F10).
 * Node 0 measures the time of n and of 2n stores with the NIC's free-running
 * time stamp. The difference of the two times is the cost of n stores, because
 * fixed costs cancel. The NIC transfers nothing, because the program leaves the
 * start flags of the descriptors clear. */
#include <errno.h>

#include "programs/program.h"
#include "systems/forth/lib/device.h"

struct pio {
	uint32_t count; /* parameter */
	struct program w;
	struct weft_forth *f;
	weft_phys_t buf;
};

typedef void pio_fn(struct pio *p, uint32_t n);

static void pio_words(struct pio *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		weft_forth_store(p->f, FORTH_QUEUE_SELECT, 0);
}

static void pio_descs(struct pio *p, uint32_t n)
{
	uint64_t q1 = forth_desc_q1(0, 1, (uint32_t)p->buf, 0);

	for (uint32_t i = 0; i < n; i++)
		weft_forth_slot_write(p->f, 0, i, p->buf, q1);
}

/* Writes n whole lines of four descriptors each. */
static void pio_lines(struct pio *p, uint32_t n)
{
	struct weft_forth_desc d = { .local = p->buf,
				     .remote = (uint32_t)p->buf,
				     .qwords = 1,
				     .flags = WEFT_FORTH_HOLD };
	struct weft_forth_desc four[4] = { d, d, d, d };

	for (uint32_t i = 0; i < n; i++)
		weft_forth_post(p->f, four, 4);
}

static uint32_t pio_span(struct pio *p, pio_fn *fn, uint32_t n)
{
	uint32_t t = weft_forth_timestamp(p->f);

	fn(p, n);
	return weft_forth_timestamp(p->f) - t;
}

/* Returns the bus clocks of one operation. fn executes the operation n
 * times. */
static double pio_cost(struct pio *p, enum weft_forth_post post, pio_fn *fn)
{
	struct weft_forth_attr a = { .post = post, .stopped = true };
	uint32_t n = p->count;
	double cost;

	if (weft_forth_open(p->w.h, &a, &p->f))
		return 0;
	pio_span(p, fn, 1);
	cost = pio_span(p, fn, n);
	cost = ((double)pio_span(p, fn, 2 * n) - cost) / n;
	weft_forth_close(p->f);
	return cost;
}

static int pio_main(struct weft_comp *c)
{
	struct pio *p = c->state;
	double pc_ns, one, desc32, desc64, line;

	p->w = program_from(c);
	if (!weft_mem_alloc(p->w.h, 64, 64, &p->buf) ||
	    weft_forth_open(p->w.h, NULL, &p->f)) {
		weft_check_failed(c, "cannot open the NIC");
		return -ENODEV;
	}
	pc_ns = weft_forth_pc_ns(p->f);
	weft_forth_close(p->f);
	one = pio_cost(p, WEFT_FORTH_POST_32, pio_words);
	desc32 = pio_cost(p, WEFT_FORTH_POST_32, pio_descs);
	desc64 = pio_cost(p, WEFT_FORTH_POST_64, pio_descs);
	line = pio_cost(p, WEFT_FORTH_POST_WC, pio_lines);
	weft_metric(c, "store", "pc", one);
	weft_metric(c, "descriptor", "pc", desc32);
	weft_metric(c, "descriptor_ns", "ns", desc32 * pc_ns);
	weft_metric(c, "descriptor64", "pc", desc64);
	weft_metric(c, "cluster", "pc", line);
	weft_metric(c, "gain", "x", 4 * desc32 / line);
	return 0;
}

static const struct weft_param pio_params[] = {
	WEFT_PARAM(U32, struct pio, count, "8", "1..8", OWN,
		   "stores, descriptors or clusters of a measurement"),
	{ 0 }
};

WEFT_COMPONENT(forth_pio, .name = "forth.pio", .kind = WEFT_KIND_PROGRAM,
	       .needs = "forth.nic", .doc = "cost of descriptor writes",
	       .source = "forth.md 11.5", .state_size = sizeof(struct pio),
	       .params = pio_params, .ops = { .main = pio_main });
