/* SPDX-License-Identifier: Apache-2.0 */
/* A program for own.nic: every node copies a block to the next node, which
 * checks the bytes.  The program uses its machine through weft/host.h only. */
#include <stdio.h>
#include <string.h>

#include "own.h"
#include "weft/prog.h"

struct copy {
	uint64_t size; /* bytes of a block, a parameter of the program */
};

static const struct weft_param copy_params[] = {
	WEFT_PARAM(BYTES, struct copy, size, "1KiB", "16..4KiB", OWN,
		   "block to copy, multiple of 8"),
	{ 0 }
};

/* Returns the byte that node `from` sends at offset i. */
static uint8_t pattern(uint32_t from, size_t i)
{
	return (uint8_t)(from * 59 + i * 7 + 1);
}

static bool block_good(const uint8_t *p, size_t n, uint32_t from)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != pattern(from, i))
			return false;
	return true;
}

static int copy_main(struct weft_comp *c)
{
	const struct copy *p = c->state;
	struct weft_host *h = weft_prog_host(c);
	uint32_t me = weft_host_node(h), n = weft_host_nodes(h);
	uint32_t to = (me + 1) % n, from = (me + n - 1) % n;
	struct weft_dev *dev = weft_dev_open(h, 0);
	weft_phys_t src_phys, dst_phys;
	uint8_t *src = weft_mem_alloc(h, p->size, 0, &src_phys);
	uint8_t *dst = weft_mem_alloc(h, p->size, 0, &dst_phys);
	uint64_t *flag = (uint64_t *)(dst + p->size - 8);
	weft_time_t t0 = weft_host_now(h);
	struct weft_io io;
	char key[16];

	if (!src || !dst || !weft_io_map(h, dev, 0, 0, 0x28, WEFT_UC, &io))
		return 1;
	for (size_t i = 0; i < p->size; i++)
		src[i] = pattern(me, i);
	snprintf(key, sizeof(key), "dst%u", me);
	weft_oob_put(h, key, dst_phys);
	snprintf(key, sizeof(key), "dst%u", to);
	weft_io_store64(h, &io, 0x00, src_phys);
	weft_io_store64(h, &io, 0x08, weft_oob_get(h, key));
	weft_io_store64(h, &io, 0x10, to);
	weft_io_store64(h, &io, 0x18, p->size);
	weft_host_poll64(h, flag, 0, WEFT_NEVER);
	if (!block_good(dst, p->size, from))
		weft_check_failed(c, "wrong bytes arrived");
	weft_metric(c, "time", "ns",
		    (double)(weft_host_now(h) - t0) / (double)WEFT_NS);
	return 0;
}

WEFT_COMPONENT(own_copy, .name = "own.copy", .kind = WEFT_KIND_PROGRAM,
	       .doc = "copies a block to the next node and checks it",
	       .state_size = sizeof(struct copy), .params = copy_params,
	       .ops = { .main = copy_main });

WEFT_PLUGIN(&weft_class_own_nic, &weft_class_own_switch, &weft_class_own_copy);
