/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: connection packets that arrive, and packets that are sent again
 * (hvia.md 6.3). A table of the last requests answers duplicates. */
#include <errno.h>
#include <string.h>

#include "systems/hvia/lib/connection_packets.h"

/* ---- requests ---- */

/* Picks the entry to reuse: the oldest answered request, because a request
 * without an answer is still needed. If none has been answered, picks the
 * oldest of all. */
static struct hvia_request *request_new(struct hvia_agent *a,
					const struct hvia_pkt *p)
{
	struct hvia_request *r = a->request, *old = r;

	for (; r < a->request + HVIA_REQUESTS; r++) {
		bool open = r->id && !r->answer;
		bool old_open = old->id && !old->answer;

		if (open != old_open ? old_open : r->age < old->age)
			old = r;
	}
	*old = (struct hvia_request){ .id = p->id,
				      .from = p->from,
				      .to = p->to,
				      .attr = p->attr,
				      .vi = p->src_vi,
				      .payload = p->word,
				      .peer = p->peer,
				      .waits = p->peer,
				      .age = ++a->ages };
	return old;
}

/* Returns true if the VI wants to connect to the sender of the request. */
static bool peer_wants(const struct hvia_kvi *k, const struct hvia_request *r)
{
	return k->proc && k->peer && k->conn == HVIA_CONN_ASKED &&
	       conn_addr_same(&k->local, &r->to) &&
	       conn_addr_same(&k->remote, &r->from);
}

/* Connects two peers that have both requested the connection. The peer with the
 * lower address answers and the other peer waits for the answer, because
 * otherwise both would accept. */
static void peer_meet(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		      struct hvia_request *r)
{
	struct hvia_kvi *k = &a->vi[vi];
	int ret = conn_attr_check(&k->attr, &r->attr);
	int d = memcmp(k->local.mac, k->remote.mac, 6);

	if (!d)
		d = memcmp(k->local.disc, k->remote.disc, HVIA_DISC);
	r->waits = false;
	if (ret) {
		r->answer = HVIA_T_CONN_REJECT;
		conn_failed(a, h, vi, ret);
	} else if (d < 0) {
		conn_accept(a, h, vi, r);
	}
}

void conn_peer_match(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	for (uint32_t i = 0; i < HVIA_REQUESTS; i++) {
		struct hvia_request *r = &a->request[i];

		if (r->id && r->waits && peer_wants(&a->vi[vi], r)) {
			peer_meet(a, h, vi, r);
			return;
		}
	}
}

static void request_server(struct hvia_agent *a, struct weft_host *h,
			   struct hvia_request *r)
{
	struct hvia_listener *l = a->listeners;

	while (l && (l->got || !conn_addr_same(l->local, &r->to)))
		l = l->next;
	if (!l) {
		conn_answer(a, h, r, HVIA_T_NO_MATCH);
		return;
	}
	l->got = r;
	hvia_notify(h, &l->event);
}

static void got_request(struct hvia_agent *a, struct weft_host *h,
			const struct hvia_pkt *p)
{
	struct hvia_request *r = a->request, *end = r + HVIA_REQUESTS;

	while (r < end && (r->id != p->id || memcmp(r->from.mac, p->mac, 6)))
		r++;
	if (r == end) {
		r = request_new(a, p);
		if (!r->peer)
			request_server(a, h, r);
		for (uint32_t i = 0; r->peer && i < HVIA_VIS; i++)
			if (peer_wants(&a->vi[i], r)) {
				peer_meet(a, h, i, r);
				break;
			}
	} else if (r->answer == HVIA_T_CONN_ACCEPT) {
		if (a->vi[r->mine].id == r->id)
			conn_send(a, h, r->mine, HVIA_T_CONN_ACCEPT);
	} else if (r->answer) {
		conn_answer(a, h, r, r->answer);
	}
}

/* ---- answers ---- */

static void agent_peers_ack(struct hvia_agent *a, struct weft_host *h,
			    const struct hvia_pkt *to, uint8_t type)
{
	struct hvia_pkt p = { .type = type,
			      .dst_vi = to->src_vi,
			      .src_vi = to->dst_vi,
			      .id = to->id,
			      .from = to->to,
			      .to = to->from };

	memcpy(p.mac, to->mac, 6);
	agent_send(a, h, &p);
}

/* Returns true if the packet belongs to the VI's connection or request. */
static bool agent_peers_about(const struct hvia_kvi *k,
			      const struct hvia_pkt *p)
{
	return k->proc && k->id == p->id && !memcmp(k->remote.mac, p->mac, 6);
}

/* Handles an accept. A peer's accept carries the id of the request of this
 * node, although the peer has sent its own request. Both peers use the id of
 * the accept from then on. */
static void got_accept(struct hvia_agent *a, struct weft_host *h,
		       const struct hvia_pkt *p)
{
	struct hvia_kvi *k = &a->vi[p->dst_vi];

	if (agent_peers_about(k, p) && k->conn == HVIA_CONN_ASKED) {
		k->id = p->id;
		k->remote_vi = p->src_vi;
		k->remote_attr = p->attr;
		k->conn = HVIA_CONN_UP;
		conn_payload(a, k, p->word);
		conn_set(a, h, p->dst_vi, HVIA_VI_CONNECTED);
		hvia_notify(h, &k->event);
	}
	if (agent_peers_about(k, p) && k->conn == HVIA_CONN_UP)
		agent_peers_ack(a, h, p, HVIA_T_CONN_ACK);
	else /* no VI waits for the accept any more */
		agent_peers_ack(a, h, p, HVIA_T_DISCONNECT);
}

static void got_no(struct hvia_agent *a, struct weft_host *h,
		   const struct hvia_pkt *p)
{
	struct hvia_kvi *k = &a->vi[p->dst_vi];

	if (agent_peers_about(k, p) && k->conn == HVIA_CONN_ASKED)
		conn_failed(a, h, p->dst_vi,
			    p->type == HVIA_T_NO_MATCH ? -ENOENT
						       : -ECONNREFUSED);
}

static void got_ack(struct hvia_agent *a, struct weft_host *h,
		    const struct hvia_pkt *p)
{
	struct hvia_kvi *k = &a->vi[p->dst_vi];

	conn_left(a, h, p);
	if (!agent_peers_about(k, p) || k->conn != HVIA_CONN_ACCEPTED)
		return;
	k->conn = HVIA_CONN_UP;
	hvia_notify(h, &k->event);
}

static void got_disconnect(struct hvia_agent *a, struct weft_host *h,
			   const struct hvia_pkt *p)
{
	struct hvia_kvi *k = &a->vi[p->dst_vi];
	struct hvia_async lost = { .code = HVIA_ERROR_CONN_LOST,
				   .vi = p->dst_vi };

	agent_peers_ack(a, h, p, HVIA_T_CONN_ACK);
	if (!agent_peers_about(k, p))
		return;
	k->theirs.next = p->word;
	k->theirs.error = p->error;
	k->theirs.said = true;
	if (k->conn == HVIA_CONN_ACCEPTED) {
		agent_vi_flush(a, h, p->dst_vi);
		conn_failed(a, h, p->dst_vi, -ETIMEDOUT);
	} else if (k->conn == HVIA_CONN_UP) {
		k->conn = HVIA_CONN_NONE;
		agent_error(a, h, &lost);
	}
}

void agent_packet(struct hvia_agent *a, struct weft_host *h,
		  const struct hvia_pkt *p)
{
	static void (*const got[])(struct hvia_agent * a, struct weft_host * h,
				   const struct hvia_pkt *p) = {
		[HVIA_T_CONN_REQ] = got_request,
		[HVIA_T_CONN_ACCEPT] = got_accept,
		[HVIA_T_CONN_REJECT] = got_no,
		[HVIA_T_CONN_ACK] = got_ack,
		[HVIA_T_DISCONNECT] = got_disconnect,
		[HVIA_T_NO_MATCH] = got_no,
	};

	got[p->type](a, h, p);
}

/* ---- time ---- */

weft_time_t agent_conn_again(struct hvia_agent *a, struct weft_host *h)
{
	weft_time_t now = weft_host_now(h), at, first = WEFT_NEVER;

	for (uint32_t i = 0; i < HVIA_VIS; i++) {
		struct hvia_kvi *k = &a->vi[i];
		bool asked = k->conn == HVIA_CONN_ASKED;

		if (!k->proc || (!asked && k->conn != HVIA_CONN_ACCEPTED))
			continue;
		if (asked && k->peer && now >= k->deadline) {
			conn_failed(a, h, i, -ETIMEDOUT);
			continue;
		}
		if (!asked && k->tries >= HVIA_TRIES) {
			agent_vi_flush(a, h, i);
			conn_failed(a, h, i, -ETIMEDOUT);
			continue;
		}
		if (now >= k->again) {
			k->tries++;
			k->again = now + conn_again(h, k->id, k->tries);
			conn_send(a, h, i,
				  asked ? HVIA_T_CONN_REQ : HVIA_T_CONN_ACCEPT);
		}
		first = k->again < first ? k->again : first;
		if (asked && k->peer && k->deadline < first)
			first = k->deadline;
	}
	at = conn_leaving(a, h);
	return at < first ? at : first;
}
