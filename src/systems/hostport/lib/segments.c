/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port user library: messages longer than a maximum transfer unit are
 * segmented by software (hostport.md 3.5).
 *
 * Each segment is an instruction that requests an acknowledge. Therefore each
 * segment has exactly one notification. The user receives one notification for
 * all segments of a message. The API tag of a segment holds:
 *
 * [47] segment   [46] last   [45:32] number   [31:24] slot   [23:0] user's tag
 *
 * Segments that do not fit into the work queue at once are posted when
 * notifications are taken. */
#include <errno.h>
#include <string.h>

#include "systems/hostport/lib/hostport_internal.h"

enum { SLOTS = 64, NUMBERS = 1 << 14 };

#define SEG	       (1ull << 47)
#define SEG_LAST       (1ull << 46)
#define SEG_NUMBER(t)  ((uint32_t)HP_GET(t, 45, 32))
#define SEG_SLOT(t)    ((uint32_t)HP_GET(t, 31, 24))
#define SEG_USER(t)    HP_GET(t, 23, 0)
#define SEG_MAKE(n, s) (SEG | HP_PUT(n, 45, 32) | HP_PUT(s, 31, 24))

struct hport_seg {
	uint32_t mtu;
	struct { /* an instruction whose segments are in flight */
		bool used;
		/* left: number of pending notifications. error: the first
		 * error */
		uint32_t left, error;
	} slot[SLOTS];
	/* message whose segments are being posted */
	bool active, pumping;
	struct hport_post post;
	uint64_t at;
	uint32_t slot_now;
};

int hport_set_mtu(struct hport *p, uint32_t bytes)
{
	bytes &= ~7u;
	if (!p->seg && bytes)
		p->seg = weft_host_calloc(p->drv.host, 1, sizeof(*p->seg));
	if (!p->seg)
		return bytes ? -ENOMEM : 0;
	if (p->seg->active)
		return -EAGAIN;
	p->seg->mtu = bytes;
	return 0;
}

/* ---- posting ---- */

void hport_seg_pump(struct hport *p)
{
	struct hport_seg *s = p->seg;

	if (!s || !s->active || s->pumping)
		return;
	s->pumping = true;
	while (s->active) {
		/* segment that starts at byte `at` */
		struct hport_post o = s->post;
		uint64_t left = o.bytes - s->at;
		bool last = left <= s->mtu;

		o.bytes = last ? left : s->mtu;
		o.own += s->at;
		o.far.off += s->at;
		o.tag.api = SEG_MAKE(s->at / s->mtu, s->slot_now) |
			    (last ? SEG_LAST : 0) | SEG_USER(o.tag.api);
		o.flags |= HPORT_ACK | (last ? 0 : HPORT_MORE);
		if (hport_post_long(p, &o))
			break;
		s->at += o.bytes;
		s->active = s->at < s->post.bytes;
	}
	s->pumping = false;
	/* triggers the segments posted so far, because otherwise they would be
	 * triggered only with the last segment of the message */
	if (s->active)
		hport_flush(p);
}

bool hport_seg_busy(struct hport *p)
{
	hport_seg_pump(p);
	return p->seg && p->seg->active && !p->seg->pumping;
}

bool hport_unposted(const struct hport *p)
{
	return p->seg && p->seg->active;
}

int hport_seg_post(struct hport *p, const struct hport_post *o)
{
	struct hport_seg *s = p->seg;
	uint64_t segments;
	uint32_t slot = 0;

	if (hport_seg_busy(p))
		return -EAGAIN;
	if (!s || !s->mtu || o->bytes <= s->mtu)
		return hport_post_long(p, o);
	segments = (o->bytes + s->mtu - 1) / s->mtu;
	if (segments > NUMBERS)
		return -EMSGSIZE;
	while (slot < SLOTS && s->slot[slot].used)
		slot++;
	if (slot == SLOTS)
		return -EAGAIN;
	s->slot[slot].used = true;
	s->slot[slot].error = 0;
	s->slot[slot].left = (uint32_t)segments;
	s->post = *o;
	s->slot_now = slot;
	s->at = 0;
	s->active = true;
	hport_seg_pump(p);
	return 0;
}

/* ---- notifications ---- */

bool hport_seg_note(struct hport *p, struct hport_note *n)
{
	struct hport_seg *s = p->seg;
	uint32_t k = SEG_SLOT(n->tag.api);
	bool tell = true;

	if (!s || !s->mtu || !(n->tag.api & SEG) || n->event == HPORT_ULTRA)
		return true;
	if (n->event == HPORT_DONE && k < SLOTS && s->slot[k].used) {
		if (!s->slot[k].error)
			s->slot[k].error = n->error;
		/* the user is notified when the last notification of the
		 * message's segments has arrived */
		tell = !--s->slot[k].left;
		s->slot[k].used = !tell;
		if (tell)
			n->error = s->slot[k].error;
	}
	n->at = (uint64_t)SEG_NUMBER(n->tag.api) * s->mtu;
	n->more = !(n->tag.api & SEG_LAST);
	n->message = k;
	n->tag.api = SEG_USER(n->tag.api);
	return tell;
}
