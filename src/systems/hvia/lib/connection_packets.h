/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the kernel agent's connections: agent_connections.c (calls),
 * agent_peers.c (arriving packets, time-outs), agent_leave.c (disconnects). */
#ifndef SYSTEMS_HVIA_LIB_CONNECTION_PACKETS_H
#define SYSTEMS_HVIA_LIB_CONNECTION_PACKETS_H

#include "systems/hvia/lib/agent.h"

/* Returns the delay until a packet without an answer is sent again. The delay
 * is short at first and doubles up to 100 ms (hvia.md 6.3). It differs a little
 * by station and connection, so that two stations that collided do not collide
 * again. */
weft_time_t conn_again(struct weft_host *h, uint64_t id, uint32_t tries);

static inline bool conn_addr_same(const struct hvia_addr *x,
				  const struct hvia_addr *y)
{
	return !memcmp(x->mac, y->mac, 6) && x->len == y->len &&
	       !memcmp(x->disc, y->disc, x->len);
}

/* Compares the attributes of two VIs. Returns 0, or -EPROTOTYPE (reliability),
 * -EMSGSIZE (transfer size) or -ENOPROTOOPT (quality of service) for a
 * difference. */
int conn_attr_check(const struct hvia_vi_attr *x, const struct hvia_vi_attr *y);

/* Sets the state of a VI and writes its entry on the card. */
void conn_set(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
	      enum hvia_vi_state state);
/* Ends an attempt to connect, and passes the result to its caller. */
void conn_failed(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		 int result);
/* Prepares a VI for a new connection: sets the payload that both cards can
 * carry, and resets the state of the reliable service. */
static inline void conn_payload(const struct hvia_agent *a, struct hvia_kvi *k,
				uint32_t theirs)
{
	k->payload = theirs < a->payload ? theirs : a->payload;
	k->mine.next = k->mine.error = 0;
	k->mine.said = k->theirs.said = false;
}

/* Sends a packet of this type about the VI's connection. */
void conn_send(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
	       uint8_t type);
/* Answers a request, and keeps the answer for duplicates. */
void conn_answer(struct hvia_agent *a, struct weft_host *h,
		 struct hvia_request *r, uint8_t type);
/* Connects the VI to the sender of a request and sends the accept. */
void conn_accept(struct hvia_agent *a, struct weft_host *h, uint32_t vi,
		 struct hvia_request *r);
/* Notifies the remote side that the connection has ended. Repeats the packet
 * until the remote side confirms it. */
void conn_leave(struct hvia_agent *a, struct weft_host *h, uint32_t vi);
/* Sends the disconnects that are due, as many as may be in flight. Returns the
 * time at which the agent must call this function again. */
weft_time_t conn_leaving(struct hvia_agent *a, struct weft_host *h);
/* Handles the confirmation of a disconnect. */
void conn_left(struct hvia_agent *a, struct weft_host *h,
	       const struct hvia_pkt *p);
/* Connects the VI to a peer whose request arrived before the VI's own. */
void conn_peer_match(struct hvia_agent *a, struct weft_host *h, uint32_t vi);

#endif
