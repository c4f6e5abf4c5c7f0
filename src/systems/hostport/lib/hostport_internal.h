/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the Host Port's user library. */
#ifndef SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H
#define SYSTEMS_HOSTPORT_LIB_HOSTPORT_INTERNAL_H

#include "systems/hostport/lib/driver.h"

struct hport_hole { /* words of the RDR that were freed out of order */
	uint32_t end, words;
};

struct hport {
	/* handle of the driver with only host and dev set, because the library
	 * has no access to the driver's other state */
	struct hport_drv drv;
	struct weft_io page, info; /* Triggerpage, information page */
	struct hport_sizes size;
	uint32_t vpid, hpid;
	uint64_t *wq, *sdr, *rdr, *wdt, *prq;
	volatile uint64_t *nq;
	/* work queue: index of the next entry, number of entries not triggered
	 * yet, and read pointer of the device as last reported */
	uint32_t wq_wp, wq_new, wq_rp;
	/* notification queue: index of the next entry, and number of entries
	 * taken but not yet reported to the device */
	uint32_t nq_rp, nq_owed;
	/* receive data region: read pointer as last reported to the device. A
	 * message taken out of order is a hole until the read pointer has
	 * passed its words. */
	uint32_t rdr_rp, n_holes;
	struct hport_hole *holes;
	uint32_t prq_wp, prq_rp;
	/* errno once the device refuses every access, else 0 */
	int off;
	/* if set, instructions are issued by tagged conditional stores */
	bool tagged;
	struct hport_seg *seg; /* NULL unless messages are segmented */
};

/* A send, put or get. */
struct hport_post {
	struct hport_peer to;
	uint32_t byte, flags;
	struct hport_tag tag;
	struct hport_far far; /* remote window of a put or get */
	uint32_t win;
	/* own: offset in the SDR or in the caller's window. bytes: length */
	uint64_t own, bytes;
};
/* Posts a send, put or get as one instruction. Returns 0 or a negative
 * errno. */
int hport_post_long(struct hport *p, const struct hport_post *o);

/* segments.c */
/* Posts a send, put or get. If its data are longer than a maximum transfer
 * unit, posts as many segments as the queue has room for. Returns 0, -EMSGSIZE,
 * -EAGAIN, or an error of hport_post_long(). */
int hport_seg_post(struct hport *p, const struct hport_post *o);
/* Posts further segments while the queue has room. hport_seg_busy() returns
 * whether segments are left. */
void hport_seg_pump(struct hport *p);
bool hport_seg_busy(struct hport *p);
/* Handles a notification of a segment. Returns false when the library must not
 * pass the notification to the user. */
bool hport_seg_note(struct hport *p, struct hport_note *n);

/* Decodes the device's answer to a trigger. Returns 0 or the error, which is
 * kept in p->off. */
int hport_refusal(struct hport *p, uint64_t val);
/* Triggers by a load of the Triggerpage, or by a tagged load. Returns the
 * answer of the device, or HP_NONE when the device did not answer. */
uint64_t hport_trigger(struct hport *p, uint32_t cmd, uint32_t par);

#endif
