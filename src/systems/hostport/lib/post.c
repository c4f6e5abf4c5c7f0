/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port user library: instructions and triggers (hostport.md 5, 7.2 to
 * 7.6). */
#include <errno.h>
#include <string.h>

#include "systems/hostport/lib/hostport_internal.h"

uint64_t hport_trigger(struct hport *p, uint32_t cmd, uint32_t par)
{
	uint64_t val = HP_NONE;

	if (!p->tagged)
		return weft_io_load64(p->drv.host, &p->page,
				      HP_TRIGGER(cmd, par));
	weft_io_tload64(p->drv.host, &p->page, HP_TRIGGER(cmd, par), &val);
	return val;
}

bool hport_use_tags(struct hport *p, bool on)
{
	hport_flush(p);
	p->tagged = on && weft_io_can_tag(p->drv.host, p->drv.dev);
	return p->tagged == on;
}

/* Decodes the answer to a trigger. All ones mean that the page no longer
 * belongs to the process. */
int hport_refusal(struct hport *p, uint64_t val)
{
	if (val == HP_NONE || HP_RET_REASON(val) == HP_CTX_OFF)
		p->off = -ENXIO;
	else if (HP_RET_REASON(val) == HP_CMD_BAD)
		p->off = -EIO;
	return p->off;
}

/* Triggers all new entries of the work queue. Rejected entries stay in the
 * queue, so that they are triggered again. Stops when the device refuses every
 * access. */
int hport_flush(struct hport *p)
{
	while (p->wq_new && !p->off) {
		uint32_t n =
			p->wq_new < HP_COUNT_MAX ? p->wq_new : HP_COUNT_MAX;
		uint64_t val = hport_trigger(p, HP_T_ISSUE, n);

		if (!hport_refusal(p, val))
			p->wq_new -= HP_RET_ACCEPTED(val);
	}
	return p->off;
}

bool hport_barrier(struct hport *p, uint32_t id)
{
	return id <= HP_COUNT_MAX &&
	       hport_trigger(p, HP_T_BARRIER, id) & HP_TRUE;
}

/* Posts an instruction. v is its variable part, words W3 to W7. */
static int post_post(struct hport *p, const struct hport_peer *to,
		     uint32_t byte, uint32_t flags, struct hport_tag tag,
		     const uint64_t *v)
{
	uint64_t w[HP_WORDS] = { HP_VCI_W0(HP_CMD(0, HP_G_PORT, byte), to->len,
					   to->off) |
					 HP_VCI_OWNER_PUT(to->epoch),
				 HP_VCI_W1(to->vpid, tag.api), tag.user };
	uint32_t next;

	memcpy(&w[3], v, 5 * sizeof(*v));
	if (p->off)
		return p->off;
	if (hport_seg_busy(p))
		return -EAGAIN;
	/* A tagged store fails if the device has no slot for the instruction,
	 * or if no entry of the notification queue can be reserved for its
	 * completion. */
	if (p->tagged)
		return weft_io_tcstore(p->drv.host, &p->page, 0, w, HP_LINE, 0)
			       ? 0
			       : -EAGAIN;
	next = p->wq_wp + 1 == p->size.wq ? 0 : p->wq_wp + 1;
	if (next == p->wq_rp) /* one entry stays unused (4.4) */
		return hport_flush(p) ? p->off : -EAGAIN;
	memcpy(p->wq + (size_t)HP_WORDS * p->wq_wp, w, HP_LINE);
	p->wq_wp = next;
	p->wq_new++;
	return flags & HPORT_MORE ? 0 : hport_flush(p);
}

static uint32_t post_ack(uint32_t flags)
{
	return flags & HPORT_ACK ? HP_A : 0;
}

/* ---- messages ---- */

int hport_fast_send(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag, const uint64_t *words,
		    uint32_t n)
{
	uint64_t v[5] = { 0 };

	if (n > HP_FAST_WORDS)
		return -EINVAL;
	memcpy(v, words, n * sizeof(*v));
	return post_post(p, to, HP_B_FAST_SEND | post_ack(flags) | n, flags,
			 tag, v);
}

int hport_send(struct hport *p, const struct hport_peer *to, uint32_t flags,
	       struct hport_tag tag, uint64_t off, uint64_t bytes)
{
	return hport_seg_post(p, &(struct hport_post){ .to = *to,
						       .byte = HP_B_SEND,
						       .flags = flags,
						       .tag = tag,
						       .own = off,
						       .bytes = bytes });
}

void *hport_sdr(struct hport *p, uint64_t *bytes_p)
{
	*bytes_p = 8ull * p->size.sdr;
	return p->sdr;
}

/* ---- remote memory ---- */

static int post_far(struct hport *p, const struct hport_peer *to, uint32_t byte,
		    uint32_t flags, struct hport_tag tag,
		    const struct hport_far *far, const uint64_t *rest)
{
	uint64_t v[5] = { HP_VCI_W3(far->win, far->capability), far->off };

	memcpy(&v[2], rest, 3 * sizeof(*v));
	return post_post(p, to, byte, flags, tag, v);
}

int hport_post_long(struct hport *p, const struct hport_post *o)
{
	uint32_t byte =
		o->byte | (o->byte == HP_B_GET ? 0 : post_ack(o->flags));
	uint64_t send[5] = { o->own, o->bytes };
	uint64_t rma[3] = { HP_VCI_W5(o->win), o->own, o->bytes };

	if (o->byte == HP_B_SEND)
		return post_post(p, &o->to, byte, o->flags, o->tag, send);
	return post_far(p, &o->to, byte, o->flags, o->tag, &o->far, rma);
}

int hport_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes)
{
	return hport_seg_post(p,
			      &(struct hport_post){ *to, HP_B_PUT, flags, tag,
						    *far, win, off, bytes });
}

int hport_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes)
{
	return hport_seg_post(p,
			      &(struct hport_post){ *to, HP_B_GET, flags, tag,
						    *far, win, off, bytes });
}

int hport_fast_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   const uint64_t *words, uint32_t n)
{
	uint64_t v[3] = { 0 };

	if (!n || n > HP_FAST_RMA_WORDS)
		return -EINVAL;
	memcpy(v, words, n * sizeof(*v));
	return post_far(p, to, HP_B_FAST_PUT | post_ack(flags) | n, flags, tag,
			far, v);
}

int hport_fast_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   uint32_t n)
{
	uint64_t v[3] = { 0 };

	if (!n || n > HP_FAST_RMA_WORDS)
		return -EINVAL;
	return post_far(p, to, HP_B_FAST_GET | n, flags, tag, far, v);
}

int hport_put_bytes(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag,
		    const struct hport_far *far, uint64_t word, uint8_t enable)
{
	uint64_t v[3] = { enable, word };

	return post_far(p, to, HP_B_MIS_PUT | post_ack(flags), flags, tag, far,
			v);
}

int hport_faa(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint64_t add)
{
	uint64_t v[3] = { add };

	return post_far(p, to, HP_B_FAA, flags, tag, far, v);
}

int hport_cas(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far,
	      uint64_t compare, uint64_t swap)
{
	uint64_t v[3] = { compare, swap };

	return post_far(p, to, HP_B_CAS, flags, tag, far, v);
}
