/* SPDX-License-Identifier: Apache-2.0 */
/* Program hvia.capacity (hvia.md 3.5, HV-20): capacity of HVIA-GE's address
 * translation table. It registers regions of one page in the kernel agent's
 * allocator until no region fits. It also finds the largest size at which each
 * VI can have one region. */
#include "systems/hvia/lib/translation_table.h"
#include "weft/prog.h"

struct capacity {
	uint64_t vis;
};

/* Registers up to `most` regions of `pages` pages. Returns the number of
 * regions that fit. */
static uint32_t fill(uint32_t pages, uint64_t most)
{
	struct hvia_att a = { 0 };
	uint32_t n = 0, handle;

	hvia_att_init(&a, HVIA_SDRAM_BYTES);
	while (n < most && !hvia_att_take(&a, pages, &handle))
		n++;
	hvia_att_fini(&a);
	return n;
}

static int capacity_main(struct weft_comp *c)
{
	struct capacity *p = c->state;
	uint32_t low = 0, high = HVIA_SDRAM_BYTES / HVIA_L2_BYTES;

	if (weft_host_node(weft_prog_host(c)))
		return 0;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (fill(mid, p->vis) == p->vis)
			low = mid;
		else
			high = mid;
	}
	weft_metric(c, "per_vi", "MiB",
		    (double)low * HVIA_PAGE / (1024.0 * 1024.0));
	weft_metric(c, "buffers", "buffers", fill(1, UINT32_MAX));
	return 0;
}

static const struct weft_param capacity_params[] = {
	WEFT_PARAM(U64, struct capacity, vis, "1024", "1..1024", STATED,
		   "VIs that have a buffer each"),
	{ 0 }
};

WEFT_COMPONENT(hvia_capacity, .name = "hvia.capacity",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hvia.nic",
	       .doc = "what HVIA-GE's address translation table holds",
	       .source = "hvia.md 3.5", .state_size = sizeof(struct capacity),
	       .params = capacity_params, .ops = { .main = capacity_main });
