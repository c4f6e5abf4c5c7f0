/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the Host Port's user library. */
#ifndef SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H
#define SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H

#include "systems/hostport/lib/driver.h"

struct hport_hole { /* words of the RDR that have been taken */
	uint32_t end, words;
};

struct hport {
	struct hport_drv drv; /* host and dev alone: the rest is the kernel's */
	struct weft_io page, info; /* Triggerpage, information page */
	struct hport_sizes size;
	uint32_t vpid, hpid;
	uint64_t *wq, *sdr, *rdr, *wdt, *prq;
	volatile uint64_t *nq;
	/* work queue: next entry, put but not triggered, the device's read
	 * pointer as last heard of */
	uint32_t wq_wp, wq_new, wq_rp;
	/* notification queue: next entry, taken but not told */
	uint32_t nq_rp, nq_owed;
	/* receive data region: the device's view of our read pointer; messages
	 * may be taken in another order than they lie there */
	uint32_t rdr_rp, n_holes;
	struct hport_hole *holes;
	uint32_t prq_wp, prq_rp;
	int off;	       /* the device takes nothing any more: errno */
	bool tagged;	       /* instructions by tagged conditional stores */
	struct hport_seg *seg; /* or NULL */
};

/* A send, put or get. */
struct hport_post {
	struct hport_peer to;
	uint32_t byte, flags;
	struct hport_tag tag;
	struct hport_far far; /* put, get */
	uint32_t win;
	uint64_t own, bytes; /* offset in the SDR or in our window */
};
/* Posts it as one instruction. */
int hport_post_long(struct hport *p, const struct hport_post *o);

/* segments.c */
bool hport_seg_wanted(const struct hport *p, uint64_t bytes);
int hport_seg_post(struct hport *p, const struct hport_post *o);
/* Posts what is left, as far as there is room; busy: something still is. */
void hport_seg_pump(struct hport *p);
bool hport_seg_busy(struct hport *p);
/* False: it was for the library alone. */
bool hport_seg_note(struct hport *p, struct hport_note *n);

/* Looks at the answer to a trigger: p->off, and that. */
int hport_refusal(struct hport *p, uint64_t val);
uint64_t hport_trigger(struct hport *p, uint32_t cmd, uint32_t par);

#endif
