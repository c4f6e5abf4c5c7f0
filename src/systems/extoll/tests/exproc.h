/* SPDX-License-Identifier: Apache-2.0 */
/* A process that uses the RMA by its registers and descriptors alone. */
#ifndef EXTOLL_TESTS_EXPROC_H
#define EXTOLL_TESTS_EXPROC_H

#include "systems/extoll/nic/regs_map.h"
#include "systems/extoll/nic/rma_regs_map.h"
#include "weft/host.h"

enum { EXPROC_SLOTS = 64, EXPROC_PAGES = 80 };

struct exproc {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io rf, page[32];
	uint32_t vpid, slots, rp;
	volatile uint64_t *ring;
	weft_phys_t ring_phys, gat_phys, buf_phys, lock_phys;
	uint64_t *gat; /* entry i maps page i of buf, read and write */
	uint8_t *buf;
	int32_t *lock;
	uint64_t *word; /* written by notifications of the ATU */
	weft_phys_t word_phys;
};

/* Opens a process. The first one of a node makes the tables. */
void exproc_open(struct exproc *p, struct weft_host *h, uint32_t vpid);
uint64_t exproc_get(struct exproc *p, uint32_t off);
void exproc_set(struct exproc *p, uint32_t off, uint64_t val);
/* Posts one descriptor through the requester page of option bits `opt`. */
void exproc_post(struct exproc *p, uint32_t opt, uint64_t w0, uint64_t w1,
		 uint64_t w2);
/* Takes the next notification and stores the read pointer. Returns false after
 * 100 us without one. */
bool exproc_noti(struct exproc *p, uint64_t *w0, uint64_t *w1);
/* Stores the read pointer in the NIC. */
void exproc_rp(struct exproc *p);
/* NLA of byte off of buf. */
#define EXPROC_NLA(off) NLA_MAKE(0, (off) / RMA_PAGE, (off) % RMA_PAGE)
/* Flushes n pages by a command to the ATU and waits for the ATU's
 * notification. */
void exproc_flush(struct exproc *p, uint32_t page, uint32_t n);

#endif
