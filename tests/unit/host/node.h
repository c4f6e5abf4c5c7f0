/* SPDX-License-Identifier: Apache-2.0 */
/* A node on a bench: host.pc, bus.pcix (or bus.ht) and a simple card, with test
 * functions as programs.
 *
 * The card has a BAR2 of 8 GiB with an address of 64 bits and no memory. BAR0
 * and BAR1 have 32 KB each. They are plain memory except for two words of BAR1:
 *
 *   CARD_DMA    A store of 64 bits makes the card write the 8 bytes at
 *               CARD_VALUE to the stored physical address, CARD_DELAY clocks
 *               later.
 *   CARD_IRQ    A store of 32 bits sets the interrupt line to bit 0 of the
 *               stored value. */
#ifndef TESTS_HOST_NODE_H
#define TESTS_HOST_NODE_H

#include "host/prog.h"
#include "weft/bus.h"

enum {
	CARD_DMA = 0x100,
	CARD_VALUE = 0x108,
	CARD_DELAY = 0x110,
	CARD_IRQ = 0x118,
	CARD_BAR = 0x8000,
	NODES = 3,
	PROGS = 4,
	STORES = 256,
};

#define PC ((weft_time_t)10000000) /* a bus clock in fs */

struct card_store {
	weft_time_t time;
	uint8_t space;
	uint64_t off;
	uint32_t bytes;
};

struct card {
	struct weft_port *port;
	uint8_t cfg[256], bar[2][CARD_BAR];
	struct weft_bus_txn txn;
	weft_time_t t_dma; /* time at which the last DMA write was done */
	struct card_store store[STORES];
	uint32_t n_stores;
};

struct bench;
typedef int (*node_fn)(struct weft_host *h, struct bench *b);

struct node {
	struct weft_comp *host, *bus, *dev, *prog[PROGS];
	uint32_t progs;
	struct card *card;
};

struct bench {
	struct weft_sim *sim;
	struct node node[NODES];
	uint32_t nodes;
	/* values that test programs leave for their test */
	weft_time_t t[16];
	uint64_t v[16];
	void *p;
	/* makes further connections when all components exist. NULL makes
	 * none. */
	void (*join)(struct bench *b);
	/* listener, freed with the bench; may be NULL */
	struct weft_listener *ear;
};

struct bench *bench_new(uint32_t nodes);
/* Makes a bench with bus.ht and the host's preset "opteron". */
struct bench *bench_new_ht(uint32_t nodes);
/* Makes a bench with any bus, and any device in place of the card. */
struct bench *bench_make(uint32_t nodes, const struct weft_class *bus,
			 const struct weft_class *dev);
void bench_free(struct bench *b);
/* Sets a parameter of a component, or of all components of a class. Called
 * before bench_start(). */
void bench_set(struct bench *b, const char *of, const char *param,
	       const char *value);
/* Makes fn the next program of a node. */
void bench_prog(struct bench *b, uint32_t node, node_fn fn);
void bench_start(struct bench *b);
/* Runs until no event is left, then calls finish of all components. Checks that
 * no device has reached a page that a program had unpinned. */
void bench_run(struct bench *b);
/* Runs fn as the only program, from the start to the end. */
void bench_main(struct bench *b, node_fn fn);
/* Runs fn as a program of node 0 to its end. No check may fail. */
void bench_well(struct bench *b, node_fn fn);
/* Frees the bench that is the state of a cmocka test. */
int bench_teardown(void **state);
/* Returns the i-th failed check, or "". */
const char *bench_failure(const struct bench *b, size_t i);
uint64_t bench_counter(const struct weft_comp *c, const char *name);

#endif
