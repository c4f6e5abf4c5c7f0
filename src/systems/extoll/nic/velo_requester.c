/* SPDX-License-Identifier: Apache-2.0 */
/* VELO requester: stores on requester pages become messages. Source: extoll.md
 * 3.2, 5.1; thirteen cycles from the store that completes a message to its
 * first word at the network port (7.1: N2).
 *
 *   IDLE -> HEADER -> BODY -> ROUTE -> SEND -> IDLE
 *            '--------'--------'---> DROP ---> IDLE
 *
 * The unit accepts a word per cycle, which is the rate of HTAX. A message of
 * several stores stays open while messages of other requester pages pass. Its
 * requester page identifies the message. Further bytes of a dropped message are
 * dropped until a store to its page starts a new message.
 *
 * Our reading: a store that is longer than its message is a length error. If a
 * message begins while an earlier message of its page is open, the earlier
 * message is dropped as partial. */
#include <assert.h>

#include "systems/extoll/nic/nic.h"

const char *const extoll_velo_rq_name[VELO_RQ_STATES] = {
	[VELO_RQ_IDLE] = "IDLE", [VELO_RQ_HEADER] = "HEADER",
	[VELO_RQ_BODY] = "BODY", [VELO_RQ_ROUTE] = "ROUTE",
	[VELO_RQ_SEND] = "SEND", [VELO_RQ_DROP] = "DROP",
};

/* ---- open messages ---- */

static struct extoll_velo_open *open_new(struct extoll_velo_rq *q,
					 uint32_t page)
{
	struct extoll_velo_open *o = q->spare;

	if (o)
		q->spare = o->next;
	else
		o = malloc(sizeof(*o));
	assert(o);
	*o = (struct extoll_velo_open){ .next = q->open,
					.page = (uint16_t)page };
	q->open = o;
	return o;
}

static void open_close(struct extoll_velo_rq *q, struct extoll_velo_open *o)
{
	struct extoll_velo_open **at = &q->open;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	o->next = q->spare;
	q->spare = o;
}

static void open_touch(struct extoll_nic *n, struct extoll_velo_open *o)
{
	o->expires = ex_now(n) + n->velo_partial;
	weft_timer_arm(n->comp, &n->velo.rq.timer, EX_TAG_UNIT + EXTOLL_HX_VELO,
		       ex_edge(n, o->expires));
}

static uint64_t open_header(const struct extoll_velo_open *o)
{
	uint64_t h = 0;

	memcpy(&h, o->buf, o->have < 8 ? o->have : 8);
	return h;
}

static void rq_count_drop(struct extoll_nic *n,
			  const struct extoll_velo_open *o,
			  enum extoll_drop why)
{
	n->velo.drop[why]++;
	weft_msg_end(n->comp, o->trace, false);
	weft_count(n->comp, EX_C_VELO_DROPPED, 1);
	ex_event(n, EXTOLL_EV_VELO_DROP, o->page & 0xff,
		 EXTOLL_SEND_NODE(open_header(o)), why);
}

/* ---- states ---- */

static enum extoll_velo_rq_state rq_drop_as(struct extoll_velo_rq *q,
					    enum extoll_drop why)
{
	q->why = why;
	return VELO_RQ_DROP;
}

/* Appends the bytes of the store to the message. Returns false if the bytes do
 * not fit into the buffer, which has room for the longest message. */
static bool rq_append(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	struct extoll_velo_open *o = q->cur;
	uint32_t size = sizeof(o->buf);
	uint32_t room = o->have < size ? size - o->have : 0;
	uint32_t k = q->store->bytes < room ? q->store->bytes : room;

	if (o->have && o->trace)
		weft_msg_end(n->comp, q->store->trace, false);
	else
		o->trace = q->store->trace;
	if (k)
		memcpy(o->buf + o->have, q->store->data, k);
	o->have = (uint16_t)(o->have + q->store->bytes);
	return q->store->bytes <= room;
}

static enum extoll_velo_rq_state rq_idle(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	uint32_t off, page;

	if (!q->store)
		return VELO_RQ_IDLE;
	off = q->store->off % EXTOLL_PAGE;
	page = EXTOLL_VELO_TC(q->store->off) << 8 |
	       EXTOLL_PAGE_VPID(q->store->off);
	q->cur = q->open;
	while (q->cur && q->cur->page != page)
		q->cur = q->cur->next;
	if (off == 0) { /* a new message ends the open one of its page */
		if (q->cur) {
			if (!q->cur->dropped)
				rq_count_drop(n, q->cur, EXTOLL_DROP_PARTIAL);
			open_close(q, q->cur);
		}
		q->cur = open_new(q, page);
		rq_append(n);
		return VELO_RQ_HEADER;
	}
	if (!q->cur)
		q->cur = open_new(q, page);
	else if (off == q->cur->have && q->cur->dropped)
		q->store = (rq_append(n), open_touch(n, q->cur), NULL);
	if (!q->store)
		return VELO_RQ_IDLE;
	if (off != q->cur->have)
		return rq_drop_as(q, EXTOLL_DROP_ALIGN);
	if (!rq_append(n))
		return rq_drop_as(q, EXTOLL_DROP_LENGTH);
	return q->cur->need ? VELO_RQ_BODY : VELO_RQ_HEADER;
}

static enum extoll_velo_rq_state rq_header(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	const struct extoll_velo_vpid *p =
		velo_vpid(&n->velo, q->cur->page & 0xff);
	uint64_t h = open_header(q->cur);
	uint32_t len = EXTOLL_SEND_LEN(h);

	if (q->cur->have < 8) {
		open_touch(n, q->cur);
		q->store = NULL;
		return VELO_RQ_IDLE;
	}
	/* Checks fields in the order of the columns in 3.2. */
	if (h & EXTOLL_SEND_MULTICAST)
		return rq_drop_as(q, EXTOLL_DROP_MULTICAST);
	if (h & EXTOLL_SEND_ZERO)
		return rq_drop_as(q, EXTOLL_DROP_RESERVED);
	if (!len || len > n->velo_max)
		return rq_drop_as(q, EXTOLL_DROP_LENGTH);
	if (!p || !(p->tx & EXTOLL_TX_ENABLE))
		return rq_drop_as(q, EXTOLL_DROP_DISABLED);
	q->cur->need = (uint16_t)EXTOLL_SEND_BYTES(len);
	return VELO_RQ_BODY;
}

static enum extoll_velo_rq_state rq_body(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;

	q->store = NULL;
	if (q->cur->have > q->cur->need)
		return rq_drop_as(q, EXTOLL_DROP_LENGTH);
	if (q->cur->have == q->cur->need)
		return VELO_RQ_ROUTE;
	open_touch(n, q->cur);
	return VELO_RQ_IDLE;
}

static enum extoll_velo_rq_state rq_route(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	uint64_t h = open_header(q->cur);
	uint64_t tx = velo_vpid(&n->velo, q->cur->page & 0xff)->tx;
	struct weft_frame *f = weft_frame_new(n->comp->sim);
	uint32_t len = EXTOLL_SEND_LEN(h);

	/* Make H0 (3.9). The register file supplies the sender, so that a
	 * process cannot forge it. */
	f->u[0] = EX_H0_MAKE(EXTOLL_TX_NODE(tx), EXTOLL_TX_VPID(tx),
			     EXTOLL_SEND_VPID(h), EXTOLL_SEND_NODE(h)) |
		  EX_PUT(EXTOLL_SEND_MTT(h), 33, 32) |
		  (h & EXTOLL_SEND_IRQ ? EX_VELO_IRQ : 0) | EX_VELO_EOM |
		  EX_PUT(EXTOLL_SEND_TAG(h), 47, 40) | EX_PUT(len, 54, 48);
	ex_pd_set(f, EXTOLL_TX_PD(tx));
	f->payload = weft_slice_new(n->comp->sim, len);
	if (weft_slice_data(f->payload))
		memcpy(weft_slice_data(f->payload), q->cur->buf + 8, len);
	if (!n->np[EX_NP_VELO].ep.peer ||
	    !ex_route(n, f, EXTOLL_SEND_NODE(h), EX_NP_VELO, 1, 0)) {
		weft_frame_free(f);
		return rq_drop_as(q, EXTOLL_DROP_NO_ROUTE);
	}
	f->trace_id = q->cur->trace;
	open_close(q, q->cur);
	q->held = f;
	q->from = ex_now(n) + n->velo_req;
	ex_mark(n, f->trace_id, "VELO requester", q->from);
	return VELO_RQ_SEND;
}

static enum extoll_velo_rq_state rq_send(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	uint64_t now = ex_now(n);

	if (!netport_room(&n->np[EX_NP_VELO], 0))
		return VELO_RQ_SEND;
	netport_send(&n->np[EX_NP_VELO], q->held, q->from > now ? q->from : now,
		     UINT32_MAX);
	q->held = NULL;
	n->velo.sent++;
	weft_count(n->comp, EX_C_VELO_SENT, 1);
	ex_htax_go(n);
	return VELO_RQ_IDLE;
}

static enum extoll_velo_rq_state rq_drop(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;

	rq_count_drop(n, q->cur, q->why);
	q->cur->dropped = true;
	open_touch(n, q->cur);
	q->store = NULL;
	return VELO_RQ_IDLE;
}

static void rq_run(struct extoll_nic *n)
{
	static enum extoll_velo_rq_state (*const state[])(
		struct extoll_nic *) = {
		[VELO_RQ_IDLE] = rq_idle, [VELO_RQ_HEADER] = rq_header,
		[VELO_RQ_BODY] = rq_body, [VELO_RQ_ROUTE] = rq_route,
		[VELO_RQ_SEND] = rq_send, [VELO_RQ_DROP] = rq_drop,
	};
	struct extoll_velo_rq *q = &n->velo.rq;
	enum extoll_velo_rq_state old;

	do {
		old = q->state;
		q->state = state[old](n);
		if (q->state != old &&
		    weft_heard_kind(n->comp, WEFT_TRACE_STATE)) {
			/* report the end of SEND at the cycle at which the
			 * message's first word is ready, if that cycle is later
			 * than now */
			uint64_t now = ex_now(n);
			bool sent = old == VELO_RQ_SEND && q->from > now;

			weft_state(n->comp, "velo_requester",
				   extoll_velo_rq_name[q->state],
				   sent ? ex_edge(n, q->from)
					: weft_now(n->comp));
		}
	} while (q->state != old);
}

/* ---- calls from outside ---- */

/* Returns true if the requester has room for one more store besides the
 * `flying` stores in flight. Each store needs room in the network port, because
 * it may complete a message. */
bool extoll_velo_rq_room(struct extoll_nic *n, uint32_t flying)
{
	const struct netport *np = &n->np[EX_NP_VELO];

	return !n->velo.rq.held && (!flying || np->q[0].n + flying < np->depth);
}

void extoll_velo_rq_store(struct extoll_nic *n, const struct hx_store *s)
{
	assert(n->velo.rq.state == VELO_RQ_IDLE);
	n->velo.rq.store = s;
	rq_run(n);
	n->velo.rq.store = NULL;
}

void extoll_velo_rq_sent(void *own, struct netport *np, uint32_t cls,
			 uint64_t trace_id)
{
	rq_run(own);
	ex_htax_go(own);
}

/* Drops open messages that have had no store for 256 cycles (5.1). */
void extoll_velo_rq_expire(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;
	uint64_t now = ex_now(n), first = WEFT_NEVER;
	struct extoll_velo_open *o, *next;

	for (o = q->open; o; o = next) {
		next = o->next;
		if (o->expires > now) {
			first = o->expires < first ? o->expires : first;
			continue;
		}
		if (!o->dropped)
			rq_count_drop(n, o, EXTOLL_DROP_PARTIAL);
		open_close(q, o);
	}
	if (first != WEFT_NEVER)
		weft_timer_arm(n->comp, &q->timer, EX_TAG_UNIT + EXTOLL_HX_VELO,
			       ex_edge(n, first));
}

static void open_free(struct extoll_velo_open *o)
{
	struct extoll_velo_open *next;

	for (; o; o = next) {
		next = o->next;
		free(o);
	}
}

void extoll_velo_rq_fini(struct extoll_nic *n)
{
	struct extoll_velo_rq *q = &n->velo.rq;

	open_free(q->open);
	open_free(q->spare);
	q->open = q->spare = NULL;
	if (q->held)
		weft_frame_free(q->held);
	q->held = NULL;
}
