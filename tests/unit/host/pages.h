/* SPDX-License-Identifier: Apache-2.0 */
/* A device of many pages: BAR0 of 256 MB, one page for each of 65,536
 * processes.
 *
 * load            returns page << 32 | number of loads of the page so far
 * store at 0x100  the device writes the number of the page to the stored
 *                 physical address, PAGES_DELAY later
 * other store     records offset, bytes and time
 * tagged store    records tag and user
 * tagged load     returns the load's tag, as a valid answer only while the
 *                 queue has entries
 * tagged conditional store of 64 bytes
 *                 enters the queue of PAGES_QUEUE entries if it has room */
#ifndef TESTS_HOST_PAGES_H
#define TESTS_HOST_PAGES_H

#include "weft/bus.h"

enum { PAGES = 65536, PAGES_QUEUE = 700, PAGES_DMA = 0x100 };
#define PAGES_DELAY (5 * WEFT_US)

struct pages {
	struct weft_port *port;
	uint32_t bar; /* address */
	uint32_t loads[PAGES];
	uint64_t n_loads, n_stores;
	weft_time_t t; /* time of the last access */
	uint64_t last_off;
	uint32_t last_bytes;
	uint32_t n_tagged, n_queue;
	uint16_t tag;
	bool user;
	uint64_t queue[PAGES_QUEUE]; /* first word of each entry */
	/* writes */
	struct {
		weft_phys_t addr;
		uint64_t page;
	} dma[PAGES];
	uint32_t dma_head, dma_tail;
	bool dma_busy;
	struct weft_bus_txn txn;
};

extern const struct weft_class weft_class_pages;

#endif
