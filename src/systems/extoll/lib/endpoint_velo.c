/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: messages by VELO. The VELO tag of a message is the
 * message's kind. */
#include <string.h>

#include "systems/extoll/lib/endpoint.h"

/* An EP_MSG may need several VELO messages. TAG_FIRST is the tag of the first
 * of these VELO messages, TAG_MORE that of the others. */
enum { TAG_FIRST = EP_KINDS, TAG_MORE };

struct first {
	uint64_t imm;
	uint64_t len;
};

/* Contents of messages: `rts` of EP_RTS, `atomic` of EP_ATOMIC, `done` of
 * EP_FIN, EP_DONE and EP_CREDIT. The id of EP_CREDIT is the number of messages
 * consumed. */
struct rts {
	uint64_t imm, addr;
	uint32_t len, id;
};
struct atomic {
	uint64_t addr, key, a, b;
	uint32_t id, swap;
};
struct done {
	uint64_t result;
	uint32_t id;
	int32_t status;
};

static void velo_out(struct ep *e, uint32_t dst, uint32_t tag, const void *data,
		     size_t len)
{
	struct extoll_ep_peer *p = &extoll_ep_of(e)->peer[dst];

	if (p->irq)
		velo_send_irq(&p->velo, data, (uint32_t)len, tag, 0);
	else
		velo_send(&p->velo, data, (uint32_t)len, tag, 0);
}

/* Sends one VELO message: n bytes of head, then as many of the `left` bytes of
 * data as fit. Returns the bytes of data sent. */
static size_t velo_part(struct ep *e, uint32_t dst, uint32_t tag,
			const void *head, size_t n, const uint8_t *data,
			size_t left)
{
	uint8_t m[EXTOLL_EP_VELO];
	size_t k = left < sizeof(m) - n ? left : sizeof(m) - n;

	if (n)
		memcpy(m, head, n);
	weft_host_move(e->h, m + n, data, k);
	velo_out(e, dst, tag, m, n + k);
	return k;
}

/* Sends a message. Always returns true: while the NIC has no room, the stores
 * of the processor wait. */
bool extoll_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		       const void *data)
{
	struct rts r = { h->imm, h->addr, h->len, h->id };
	struct atomic a = { h->addr, h->key, h->a, h->b, h->id, h->swap };
	struct done d = { h->a, h->id, h->status };
	struct first f = { .imm = h->imm, .len = h->len };
	size_t off;

	switch (h->kind) {
	case EP_MSG:
		if (h->len <= EXTOLL_EP_VELO - sizeof(f.imm)) {
			velo_part(e, dst, EP_MSG, &f, sizeof(f.imm), data,
				  h->len);
			break;
		}
		off = velo_part(e, dst, TAG_FIRST, &f, sizeof(f), data, h->len);
		while (off < h->len)
			off += velo_part(e, dst, TAG_MORE, NULL, 0,
					 (const uint8_t *)data + off,
					 h->len - off);
		break;
	case EP_RTS:
		velo_out(e, dst, EP_RTS, &r, sizeof(r));
		break;
	case EP_ATOMIC:
		velo_out(e, dst, EP_ATOMIC, &a, sizeof(a));
		break;
	case EP_CREDIT:
		d = (struct done){ .id = (uint32_t)h->a };
		/* fall through */
	default:
		velo_out(e, dst, h->kind, &d, sizeof(d));
	}
	return true;
}

/* ---- receiving ---- */

static void msg_data(struct ep *e, struct ep_msg *m, const uint8_t *data,
		     size_t len)
{
	if (len > m->len - m->got)
		len = m->len - m->got;
	if (len)
		weft_host_copy(e->h, m->eager + m->got, data, len);
	m->got += (uint32_t)len;
	m->state = m->got == m->len ? EP_READY : EP_PART;
}

/* Receives a whole message, or the first VELO message of a longer one. Its data
 * start n bytes behind the start of `data`. */
static void in_message(struct ep *e, uint32_t src, const uint8_t *data,
		       size_t len, size_t n)
{
	struct first f = { .len = len - sizeof(f.imm) };
	struct ep_head h;
	struct ep_msg *m;

	if (len < n)
		return;
	memcpy(&f, data, n);
	if (f.len > e->eager_max)
		return;
	h = (struct ep_head){ .kind = EP_MSG,
			      .imm = f.imm,
			      .len = (uint32_t)f.len };
	m = ep_msg_new(e, src, &h);
	if (m)
		msg_data(e, m, data + n, len - n);
}

/* Decodes a control message of the peer's library. Returns false if its length
 * is wrong for its kind. */
static bool in_head(uint32_t tag, const uint8_t *data, size_t len,
		    struct ep_head *h)
{
	struct rts r;
	struct atomic a;
	struct done d;

	h->kind = (enum ep_kind)tag;
	if (tag == EP_RTS && len == sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		h->imm = r.imm;
		h->addr = r.addr;
		h->len = r.len;
		h->id = r.id;
	} else if (tag == EP_ATOMIC && len == sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		h->addr = a.addr;
		h->key = a.key;
		h->a = a.a;
		h->b = a.b;
		h->id = a.id;
		h->swap = a.swap;
	} else if (len == sizeof(d) &&
		   (tag == EP_FIN || tag == EP_DONE || tag == EP_CREDIT)) {
		memcpy(&d, data, sizeof(d));
		h->a = tag == EP_CREDIT ? d.id : d.result;
		h->id = d.id;
		h->status = d.status;
	} else {
		return false;
	}
	return true;
}

void extoll_ep_poll(struct ep *e)
{
	uint8_t buf[128];
	uint32_t from, tag, len;

	while (velo_recv(extoll_ep_of(e)->velo, buf, &from, &tag, NULL, &len) ==
	       VELO_SUCCESS) {
		uint32_t src = VELO_SRC_NODE(from);
		struct ep_head h = { 0 };

		if (src >= e->n)
			continue;
		if (tag == EP_MSG) {
			in_message(e, src, buf, len, sizeof(uint64_t));
		} else if (tag == TAG_FIRST) {
			in_message(e, src, buf, len, sizeof(struct first));
		} else if (tag == TAG_MORE) {
			struct ep_peer *p = &e->peer[src];
			struct ep_msg *m = &p->msg[(p->got - 1) % e->slots];

			if (p->got && m->state == EP_PART)
				msg_data(e, m, buf, len);
		} else if (in_head(tag, buf, len, &h)) {
			ep_in(e, src, &h, NULL);
		}
	}
}
