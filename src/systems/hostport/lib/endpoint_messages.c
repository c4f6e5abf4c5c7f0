/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: messages. The API tag holds kind, id and length,
 * the user tag holds imm. The other fields of a head are sent as words, because
 * the tags have no room for them. */
#include "systems/hostport/lib/endpoint.h"
#include "systems/hostport/nic/regs_map.h"

/* ---- sending ---- */

static bool send_words(struct ep *e, uint32_t dst, const struct ep_head *h,
		       const uint64_t *w, uint32_t n)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct hport_tag tag = { h->imm,
				 hostport_ep_tag(h->kind, h->id, h->len) };

	return !hport_fast_send(x->p, &x->peer[dst], HPORT_MORE, tag, w, n);
}

/* Sends through the send data region. The id of the message is the number of
 * its slot. */
static bool send_region(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct hport_tag tag = { .user = h->imm };
	uint64_t at;
	uint32_t s = 0;

	while (s < x->sdr_slots && x->sdr_busy[s])
		s++;
	if (s == x->sdr_slots)
		return false;
	at = s * ((e->eager_max + 7ull) & ~7ull);
	tag.api = hostport_ep_tag(EP_MSG, s, h->len);
	weft_host_copy(e->h, x->sdr + at, data, h->len);
	if (hport_send(x->p, &x->peer[dst], HPORT_MORE, tag, at,
		       (h->len + 7ul) & ~7ul))
		return false;
	x->sdr_busy[s] = true;
	return true;
}

bool hostport_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
			 const void *data)
{
	const uint64_t atomic[] = { h->addr, h->key, h->a, h->b, h->swap };
	const uint64_t rts[] = { h->key, h->addr };
	const uint64_t done[] = { (uint64_t)(int64_t)h->status, h->a };
	uint64_t w[HOSTPORT_EP_FAST / 8] = { 0 };

	switch (h->kind) {
	case EP_MSG:
		if (h->len > HOSTPORT_EP_FAST)
			return send_region(e, dst, h, data);
		weft_host_move(e->h, w, data, h->len);
		return send_words(e, dst, h, w, (h->len + 7) / 8);
	case EP_RTS:
		return send_words(e, dst, h, rts, 2);
	case EP_ATOMIC:
		return send_words(e, dst, h, atomic, 5);
	case EP_CREDIT:
		return send_words(e, dst, h, &h->a, 1);
	case EP_NOTIFY:
		return send_words(e, dst, h, &h->a, 0);
	default:
		return send_words(e, dst, h, done, 2);
	}
}

/* ---- receiving ---- */

/* least number of words of a message of each kind */
static const uint8_t head_words[EP_KINDS] = {
	[EP_RTS] = 2,  [EP_FIN] = 2,	[EP_ATOMIC] = 5,
	[EP_DONE] = 2, [EP_CREDIT] = 1,
};

/* Handles a notification. Only messages of peers are accepted. */
static void in_note(struct ep *e, const struct hport_note *n)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct ep_head h = { .kind = HOSTPORT_EP_KIND(n->tag.api),
			     .id = HOSTPORT_EP_ID(n->tag.api),
			     .len = HOSTPORT_EP_LEN(n->tag.api),
			     .imm = n->tag.user };
	const uint64_t *w = n->data;
	struct ep_msg *m = NULL;
	uint32_t src = n->hpid - 1;
	bool peer = src < e->n && x->peer[src].vpid == n->vpid;

	if (peer && h.kind != EP_MSG && h.kind && h.kind <= EP_CREDIT &&
	    n->n >= head_words[h.kind]) {
		if (h.kind == EP_RTS) {
			h.key = w[0];
			h.addr = w[1];
		} else if (h.kind == EP_ATOMIC) {
			h.addr = w[0];
			h.key = w[1];
			h.a = w[2];
			h.b = w[3];
			h.swap = w[4];
		} else if (h.kind == EP_CREDIT) {
			h.a = w[0];
		} else if (h.kind != EP_NOTIFY) {
			h.status = (int32_t)w[0];
			h.a = w[1];
		}
		ep_in(e, src, &h, NULL);
		return;
	}
	if (peer && h.kind == EP_MSG && h.len <= n->bytes &&
	    n->bytes <= ((e->eager_max + 7ull) & ~7ull))
		m = ep_msg_new(e, src, &h);
	/* frees the message's words in the receive data region, also if the
	 * message is dropped */
	hport_take(x->p, n, m ? m->eager : NULL);
}

void hostport_ep_poll(struct ep *e)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct hport_note n;

	while (hport_poll(x->p, &n)) {
		uint32_t s = HOSTPORT_EP_ID(n.tag.api);
		struct ep_piece *p = s < EP_PIECES ? &e->piece[s] : NULL;

		if (n.event == HPORT_MESSAGE) {
			in_note(e, &n);
		} else if (n.event != HPORT_DONE) {
			/* the NIC refused an access from outside the group */
			continue;
		} else if (HP_MAIN(n.command) == HP_M_FAST_SEND) {
			continue;
		} else if (HP_MAIN(n.command) != HP_M_SEND) {
			if (!p || (!p->op && !p->msg))
				continue;
			p->failed = n.error;
			ep_piece_done(e, p,
				      n.n ? (const uint8_t *)n.data : NULL);
		} else if (n.error < HP_ERR_TVPID_INV && s < x->sdr_slots) {
			/* Frees the slot when the instruction ends. Error codes
			 * from HP_ERR_TVPID_INV on do not free the slot,
			 * because the target reports them after the instruction
			 * has ended. */
			x->sdr_busy[s] = false;
		}
	}
}
