/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE on a bench: two nodes with host, PCI 64/66 and card, joined by a
 * cable. The functions do the work of a driver by hand. */
#ifndef HVIA_TESTS_HVRIG_H
#define HVIA_TESTS_HVRIG_H

#include "unit/host/node.h"
#include "systems/hvia/nic/regs_map.h"

/* HVRIG_FIRST is the handle of the first region. All of its bytes differ from
 * those of other handles, so that a handle read from the wrong place is
 * invalid. */
enum { HVRIG_DESCS = 64, HVRIG_PTAG = 7, HVRIG_FIRST = 0x10203 };

/* A descriptor with room for all segments. */
struct hvrig_desc {
	struct hvia_desc d;
	struct hvia_seg seg[HVIA_SEGMENTS];
	uint8_t pad[32];
};

struct hvrig_q {
	struct hvrig_desc *tail;
};

/* A program's view of its card. */
struct hvrig {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io db, ctl;
	uint32_t handles, l2;
	/* table in host memory, NULL unless CTRL.ATT_HOST is set */
	struct hvia_l1 *host_l1;
	uint32_t *host_l2;
	/* descriptors, which are one registered region */
	struct hvrig_desc *desc;
	uint32_t desc_handle;
	struct hvrig_q q[HVIA_VIS][2];
};

/* Makes a bench by bench_make(), with cards, bus and cable. */
struct bench *hvrig_bench(void);
/* Records the cards' trace (weft/trace.h) from now on, for hvrig_stage. */
void hvrig_listen(struct bench *b);
void hvrig_open(struct hvrig *r, struct weft_host *h);
uint64_t hvrig_load(struct hvrig *r, uint64_t off);
void hvrig_store(struct hvrig *r, uint64_t off, uint64_t val);

/* Registers a region with these page addresses. The first page is used from the
 * offset of va on. Returns the handle. */
uint32_t hvrig_region(struct hvrig *r, uint64_t va, uint32_t len,
		      const weft_phys_t *page, uint32_t ptag, uint32_t rights);
/* Allocates memory and registers it at its own address. Returns the memory. */
void *hvrig_mem(struct hvrig *r, uint32_t len, uint32_t rights,
		uint32_t *handle_p);
void hvrig_unmap(struct hvrig *r, uint32_t handle);

/* Connects VI `vi` of this node with VI `peer` of the other node. */
void hvrig_vi(struct hvrig *r, uint32_t vi, uint32_t peer, uint32_t flags);
void hvrig_vi_state(struct hvrig *r, uint32_t vi, uint32_t peer,
		    enum hvia_vi_state state, uint32_t flags);

struct hvrig_desc *hvrig_desc(struct hvrig *r, uint32_t i, uint32_t control);
void hvrig_seg(struct hvrig_desc *d, const void *p, uint32_t handle,
	       uint32_t len);
void hvrig_remote(struct hvrig_desc *d, uint64_t va, uint32_t handle);
void hvrig_post(struct hvrig *r, uint32_t vi, uint32_t q, struct hvrig_desc *d);
/* Waits at most 20 ms for descriptor d. Returns its status, or 0 when it is not
 * done. */
uint32_t hvrig_wait(struct hvrig *r, struct hvrig_desc *d);
/* Returns the next asynchronous error, or 0. */
uint64_t hvrig_error(struct hvrig *r);

/* Returns the time in ns at which packet x passed a stage. The stages are
 * doorbell and txd at its sender, and poll, data and done at its receiver. The
 * doorbell of a message counts as that of its first packet. */
double hvrig_stage(struct bench *b, uint32_t node, const char *name, double x);

#endif
