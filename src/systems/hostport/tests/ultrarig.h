/* SPDX-License-Identifier: Apache-2.0 */
/* Two Host Ports whose processes use ULTRA: node 0 sends, node 1 receives.  The
 * drivers' control messages are FAST_SENDs (hostport.md 9.8). */
#ifndef HOSTPORT_TESTS_ULTRARIG_H
#define HOSTPORT_TESTS_ULTRARIG_H

#include "hpproc.h"
#include "weft/ultra.h"

struct ultra_end {
	struct weft_host *h;
	struct hpdrv d;
	struct hpproc p;
	struct ultra_drv u;
	struct ultra_ctl ctl;
	struct ultra_tx tx;
	struct ultra_rx rx;
	uint32_t node, meetings;
};

struct ultrarig;
typedef void (*ultra_fn)(struct ultrarig *t, struct ultra_end *e);

struct ultrarig {
	struct exrig r;
	struct ultra_end end[2];
	ultra_fn fn[2];
	struct ultra_rx_attr attr;
	bool no_path; /* the sides set up the path themselves */
	/* results that both sides write */
	weft_time_t t[64];
	uint64_t v[64];
};

/* Runs both sides. `set` holds "class.param=value" ..., ended by NULL. A bus of
 * NULL is HyperTransport. Sets up a path from node 0 to node 1 first, unless
 * no_path is set. */
void ultrarig_run(struct ultrarig *t, const struct weft_class *bus,
		  const char *const *set, ultra_fn near, ultra_fn far);
/* Waits until both nodes have called it. */
void ultrarig_meet(struct ultra_end *e);
uint64_t ultrarig_counter(struct ultrarig *t, uint32_t node, const char *name);
void ultrarig_free(struct ultrarig *t);

/* Fills in n words that follow from a seed. ultrarig_give() sends a packet of
 * such words, and ultrarig_take() checks one that has arrived. */
enum { ULTRARIG_MAX = 31 };
void ultrarig_fill(uint64_t *w, uint32_t n, uint64_t seed);
void ultrarig_give(struct ultra_end *e, uint32_t flags, uint64_t tag,
		   uint32_t n);
void ultrarig_take(struct ultra_end *e, uint64_t tag, uint32_t n);

#endif
