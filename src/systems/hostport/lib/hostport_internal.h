/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the Host Port's user library. */
#ifndef SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H
#define SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H

#include "systems/hostport/lib/driver.h"

struct hport_hole { /* words of the RDR that were taken out of order */
	uint32_t end, words;
};

struct hport {
	struct hport_drv drv;	   /* host and dev alone, because the kernel has
				    * the rest */
	struct weft_io page, info; /* Triggerpage, information page */
	struct hport_sizes size;
	uint32_t vpid, hpid;
	uint64_t *wq, *sdr, *rdr, *wdt, *prq;
	volatile uint64_t *nq;
	/* work queue: next entry, entries not triggered yet, and the device's
	 * read pointer as last reported */
	uint32_t wq_wp, wq_new, wq_rp;
	/* notification queue: next entry, entries taken but not yet reported */
	uint32_t nq_rp, nq_owed;
	/* receive data region: our read pointer as the device knows it. A hole
	 * keeps a message that was taken out of order until the pointer passes
	 * it. */
	uint32_t rdr_rp, n_holes;
	struct hport_hole *holes;
	uint32_t prq_wp, prq_rp;
	int off;	       /* errno once the device has refused
				* everything, else 0 */
	bool tagged;	       /* puts instructions by tagged conditional
				* stores */
	struct hport_seg *seg; /* NULL unless messages are segmented */
};

/* A send, put or get. */
struct hport_post {
	struct hport_peer to;
	uint32_t byte, flags;
	struct hport_tag tag;
	struct hport_far far; /* of put and get */
	uint32_t win;
	uint64_t own, bytes; /* offset in the SDR or in our own window */
};
/* Posts a send, put or get as one instruction. Returns 0 or a negative
 * errno. */
int hport_post_long(struct hport *p, const struct hport_post *o);

/* segments.c */
/* Posts a send, put or get, in segments when it is longer than a maximum
 * transfer unit, as many of them as there is room for. Returns 0, -EMSGSIZE,
 * -EAGAIN, or an error of hport_post_long(). */
int hport_seg_post(struct hport *p, const struct hport_post *o);
/* Posts further segments while there is room. hport_seg_busy() returns whether
 * segments are left. */
void hport_seg_pump(struct hport *p);
bool hport_seg_busy(struct hport *p);
/* Handles a notification of a segment. Returns false when it was meant for the
 * library alone. */
bool hport_seg_note(struct hport *p, struct hport_note *n);

/* Decodes the device's answer to a trigger. Returns the error, which it also
 * keeps in p->off, or 0. */
int hport_refusal(struct hport *p, uint64_t val);
/* Triggers by a load of the Triggerpage, or by a tagged load. Returns the
 * answer of the device, HP_NONE when it gave none. */
uint64_t hport_trigger(struct hport *p, uint32_t cmd, uint32_t par);

#endif
