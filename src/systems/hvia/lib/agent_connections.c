/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: calls that make and end connections (hvia.md 5.1, 6.3).
 *
 * client                             server
 * REQUEST  -- CONN_REQ ----------->  LISTEN
 * PENDING  <-- NO_MATCH, REJECT ---  no listener, or REJECT
 *          <-- CONN_ACCEPT --------  ACCEPT: the VI is CONNECTED already
 * CONNECTED -- CONN_ACK ---------->  CONNECTED
 *          -- DISCONNECT --------->  ERROR
 * IDLE     <-- CONN_ACK -----------
 *
 * Two peers both send CONN_REQ, and the peer with the lower address answers the
 * other peer's request. A packet without an answer is sent again
 * (connection_packets.h). Both sides of a connection start with the low 16 bits
 * of its id as sequence number, so that frames of an earlier connection are out
 * of sequence. */
#include "systems/hvia/lib/agent.h"

#include <errno.h>
#include <string.h>

#include "host/times.h"
#include "systems/hvia/lib/connection_packets.h"

/* Checks that ReliabilityLevel, MaxTransferSize and QoS match (6.1). */
int conn_attr_check(const struct hvia_vi_attr *x, const struct hvia_vi_attr *y)
{
	if (x->reliability != y->reliability)
		return -EPROTOTYPE;
	if (x->max_transfer != y->max_transfer)
		return -EMSGSIZE;
	return x->qos != y->qos ? -ENOPROTOOPT : 0;
}

static uint64_t agent_connections_mixed(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Computes the delay from the id. Ids of different stations differ, so that two
 * stations that collided do not collide again. */
weft_time_t conn_again(struct weft_host *h, uint64_t id, uint32_t tries)
{
	weft_time_t first = weft_host_time(h, T_hvia_connect_again);
	weft_time_t t = tries < 7 ? first << tries
				  : weft_host_time(h, T_hvia_connect_most);

	return t + (t < 4 ? 0 : agent_connections_mixed(id + tries) % (t / 4));
}

void conn_send(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
	       uint8_t type)
{
	const struct hvia_kvi *k = &a->vi[vi];
	struct hvia_pkt p = { .type = type,
			      .dst_vi = k->remote_vi,
			      .src_vi = vi,
			      .id = k->id,
			      .word = (uint16_t)a->payload,
			      .peer = k->peer,
			      .attr = k->attr,
			      .from = k->local,
			      .to = k->remote };

	memcpy(p.mac, k->remote.mac, 6);
	agent_send(a, h, &p);
}

void conn_set(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
	      enum hvia_vi_state state)
{
	a->vi[vi].state = state;
	a->vi[vi].flushed = false;
	agent_vi_write(a, h, vi);
}

/* Ends an attempt to connect that has failed. */
void conn_failed(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		 int result)
{
	struct hvia_kvi *k = &a->vi[vi];

	k->conn = HVIA_CONN_ENDED;
	k->result = result;
	conn_set(a, h, vi, HVIA_VI_IDLE);
	hvia_notify(h, &k->event);
}

/* ---- server ---- */

int agent_listen(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;
	struct hvia_listener l = { .proc = weft_proc_self(h),
				   .local = &c->local };
	struct hvia_listener **tail = &a->listeners;
	struct hvia_listener **pp = &a->listeners;

	agent_lock(a, h);
	while (*tail)
		tail = &(*tail)->next;
	*tail = &l;
	agent_unlock(a);
	weft_host_wait(h, &l.event, 0, c->deadline);
	agent_lock(a, h);
	while (*pp && *pp != (&l))
		pp = &(*pp)->next;
	if (*pp)
		*pp = l.next;
	agent_unlock(a);
	if (!l.got)
		return -ETIMEDOUT;
	c->conn = l.got->id;
	c->remote = l.got->from;
	c->remote_attr = l.got->attr;
	return 0;
}

static struct hvia_request *request_open(struct hvia_agent *a, uint64_t id)
{
	for (uint32_t i = 0; i < HVIA_REQUESTS; i++)
		if (a->request[i].id == id && id && !a->request[i].answer)
			return &a->request[i];
	return NULL;
}

void conn_answer(struct hvia_agent *a, struct weft_host *h,
		 struct hvia_request *r, uint8_t type)
{
	struct hvia_pkt p = { .type = type,
			      .dst_vi = r->vi,
			      .id = r->id,
			      .from = r->to,
			      .to = r->from };

	memcpy(p.mac, r->from.mac, 6);
	r->answer = type;
	agent_send(a, h, &p);
}

int agent_reject(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;
	struct hvia_request *r = request_open(a, c->conn);

	if (!r)
		return -EINVAL;
	conn_answer(a, h, r, HVIA_T_CONN_REJECT);
	return 0;
}

/* Connects the VI to the sender of a request and sends the accept. */
void conn_accept(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		 struct hvia_request *r)
{
	struct hvia_kvi *k = &a->vi[vi];

	k->id = r->id;
	k->local = r->to;
	k->remote = r->from;
	k->remote_vi = r->vi;
	k->remote_attr = r->attr;
	k->conn = HVIA_CONN_ACCEPTED;
	k->tries = 0;
	k->again = weft_host_now(h) + conn_again(h, k->id, 0);
	conn_payload(a, k, r->payload);
	r->answer = HVIA_T_CONN_ACCEPT;
	r->mine = vi;
	conn_set(a, h, vi, HVIA_VI_CONNECTED);
	conn_send(a, h, vi, HVIA_T_CONN_ACCEPT);
	hvia_notify(h, &a->timer);
}

/* Waits until the VI's connection is up or has ended. */
static int conn_wait(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		     weft_time_t deadline)
{
	struct hvia_kvi *k = &a->vi[vi];

	while (k->conn == HVIA_CONN_ASKED || k->conn == HVIA_CONN_ACCEPTED) {
		uint32_t seen = k->event;

		if (!weft_host_wait(h, &k->event, seen, deadline))
			break;
	}
	if (k->conn == HVIA_CONN_UP)
		return 0;
	if (k->conn == HVIA_CONN_ENDED)
		return k->result;
	agent_lock(a, h);
	conn_failed(a, h, vi, -ETIMEDOUT);
	agent_unlock(a);
	return -ETIMEDOUT;
}

int agent_accept(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;
	struct hvia_kvi *k = &a->vi[c->vi];
	struct hvia_request *r;
	int ret;

	agent_lock(a, h);
	r = request_open(a, c->conn);
	ret = !r ? -EINVAL : conn_attr_check(&k->attr, &r->attr);
	if (!ret && k->state != HVIA_VI_IDLE)
		ret = -EBUSY;
	if (!ret)
		conn_accept(a, h, c->vi, r);
	agent_unlock(a);
	return ret ? ret : conn_wait(a, h, c->vi, WEFT_NEVER);
}

/* ---- client, peers ---- */

static void conn_ask(struct hvia_agent *a, struct weft_host *h,
		     const struct hvia_conn_arg *c, bool peer)
{
	struct hvia_kvi *k = &a->vi[c->vi];

	k->id = agent_connections_mixed(++a->ids);
	if (!k->id)
		k->id = 1;
	k->local = c->local;
	k->remote = c->remote;
	k->remote_vi = 0;
	k->peer = peer;
	k->conn = HVIA_CONN_ASKED;
	k->tries = 0;
	k->again = weft_host_now(h) + conn_again(h, k->id, 0);
	k->deadline = c->deadline;
	conn_set(a, h, c->vi, HVIA_VI_PENDING);
	conn_send(a, h, c->vi, HVIA_T_CONN_REQ);
	hvia_notify(h, &a->timer);
}

int agent_request(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;
	struct hvia_kvi *k = &a->vi[c->vi];
	int ret = 0;

	agent_lock(a, h);
	if (k->state != HVIA_VI_IDLE)
		ret = -EBUSY;
	else
		conn_ask(a, h, c, false);
	agent_unlock(a);
	if (!ret)
		ret = conn_wait(a, h, c->vi, c->deadline);
	c->remote_attr = k->remote_attr;
	return ret;
}

int agent_peer(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;

	if (a->vi[c->vi].state != HVIA_VI_IDLE)
		return -EBUSY;
	conn_ask(a, h, c, true);
	conn_peer_match(a, h, c->vi);
	return 0;
}

/* ---- the end ---- */

void agent_conn_end(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	struct hvia_kvi *k = &a->vi[vi];
	bool up = k->conn == HVIA_CONN_UP || k->conn == HVIA_CONN_ACCEPTED;

	conn_set(a, h, vi, HVIA_VI_IDLE);
	agent_vi_flush(a, h, vi);
	if (up)
		conn_leave(a, h, vi);
	k->conn = HVIA_CONN_NONE;
	hvia_notify(h, &k->event);
}

int agent_disconnect(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_conn_arg *c = arg;

	agent_conn_end(a, h, c->vi);
	return 0;
}

int agent_fail(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_fail_arg *f = arg;
	struct hvia_kvi *k = &a->vi[f->vi];
	struct hvia_async e = { .code = f->code,
				.vi = f->vi,
				.queue = f->queue,
				.token = f->token };
	bool up = k->conn == HVIA_CONN_UP;

	if (k->state == HVIA_VI_ERROR) /* the error has already been reported */
		return -EBUSY;
	if (f->end && up) {
		conn_leave(a, h, f->vi);
		k->conn = HVIA_CONN_NONE;
	}
	if (f->code != HVIA_ERROR_CONN_LOST)
		agent_error(a, h, &e);
	if (f->end && up && k->state != HVIA_VI_ERROR) {
		e.code = HVIA_ERROR_CONN_LOST;
		agent_error(a, h, &e);
	}
	return 0;
}
