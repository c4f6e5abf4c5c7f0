/* SPDX-License-Identifier: Apache-2.0 */
/* Network ports of the Host Port (hostport.md 1.2, 3.3, 8.5). They send and
 * receive packets as frames between the device's units and the crossbar.
 *
 * To send, a unit calls hp_net_send(). The packet waits in the list of its port
 * and class until the port has room. The port then sends it to the crossbar.
 * Cells that arrive are collected by port and class. hp_incoming() dispatches a
 * packet when its head is complete.
 *
 * Requests leave through port 0 and replies through port 1 if the node has two
 * ports. Requests and replies have separate virtual channels, so that replies
 * never wait for requests. A port whose bit in CTRL is off sends nothing. Its
 * packets leave through the other port, or wait while both are off. Packets are
 * received at all ports. DHASH is sent while CTRL requests that packets of
 * equal hash stay in order. Otherwise it is 0, because crossbars then need not
 * keep the order (3.6). A unit is notified of arrived bytes at the next edge of
 * the core clock. Cells are given back to the network when the unit has taken
 * their bytes. */
#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "systems/hostport/nic/nic.h"
#include "systems/hostport/nic/pool.h"

/* ---- sending ---- */

static void tx_push(struct hp_tx_list *l, struct hp_tx *t)
{
	t->next = NULL;
	if (l->head)
		l->tail->next = t;
	else
		l->head = t;
	l->tail = t;
}

/* Returns whether CTRL lets the port send. */
static bool np_on(const struct hp_nic *n, uint32_t p)
{
	return p == HP_NP_SERVICE || HP_CTRL_NPS(n->reg.ctrl) >> p & 1;
}

/* Returns the port of a class. If the port of the class is off, returns a port
 * that is on, if there is one. */
static uint32_t np_of(const struct hp_nic *n, uint32_t cls)
{
	uint32_t own = cls && n->param.n_np > 1;

	for (uint32_t p = 0; !np_on(n, own) && p < n->param.n_np; p++)
		if (np_on(n, p))
			return p;
	return own;
}

/* Hands waiting packets to the network port while it has room. */
static void tx_go(struct hp_nic *n, uint32_t p, uint32_t cls)
{
	struct netport *np = &n->net.np[p];

	while (np_on(n, p) && n->net.tx[p][cls].head && netport_room(np, cls)) {
		struct hp_tx *t = n->net.tx[p][cls].head;
		uint64_t now = cell_channel_now(&np->ep);

		n->net.tx[p][cls].head = t->next;
		tx_push(&n->net.flying[p][cls], t);
		t->pkt = netport_send(np, t->f, t->cycle > now ? t->cycle : now,
				      t->avail);
		t->f = NULL;
		hp_stall(n, p);
		hp_count(n, HP_K_PACKETS_OUT, 1);
		if (t->taken)
			t->taken(n, t);
	}
}

struct hp_tx *hp_net_send_on(struct hp_nic *n, uint32_t np,
			     struct weft_frame *f, uint32_t skip,
			     uint64_t cycle, uint32_t bytes,
			     void (*sent)(struct hp_nic *, struct hp_tx *),
			     void *arg)
{
	uint32_t all = f->payload.len;
	struct hp_tx *t = hp_pool_take(n->net.tx_pool, n->net.tx_all);

	if (!(n->reg.ctrl & HP_CTRL_HASH))
		/* clears DHASH, so that crossbars need not keep the order of
		 * packets (3.6) */
		put_be(weft_slice_data(f->payload), 0, 2);
	t->f = f;
	t->np = (uint8_t)np;
	t->cls = ex_meta(f)->cls;
	t->skip = skip;
	t->total = all;
	t->cycle = weft_clock_cycle(&n->param.net_clock, hp_edge(n, cycle));
	t->avail = bytes > all - skip || skip + bytes >= all ? UINT32_MAX
							     : skip + bytes;
	t->sent = sent;
	t->arg = arg;
	tx_push(&n->net.tx[np][t->cls], t);
	tx_go(n, np, t->cls);
	return t;
}

struct hp_tx *hp_net_send(struct hp_nic *n, struct weft_frame *f, uint32_t skip,
			  uint64_t cycle, uint32_t bytes,
			  void (*sent)(struct hp_nic *, struct hp_tx *),
			  void *arg)
{
	return hp_net_send_on(n, np_of(n, ex_meta(f)->cls), f, skip, cycle,
			      bytes, sent, arg);
}

/* Moves waiting packets to a port that may send, because CTRL was written. */
void hp_net_ports(struct hp_nic *n)
{
	for (uint32_t i = 0; i < n->param.n_np * 2; i++) {
		uint32_t p = i / 2, cls = i % 2, to = np_of(n, cls);

		while (!np_on(n, p) && np_on(n, to) && n->net.tx[p][cls].head) {
			struct hp_tx *t = n->net.tx[p][cls].head;

			n->net.tx[p][cls].head = t->next;
			t->np = (uint8_t)to;
			tx_push(&n->net.tx[to][cls], t);
		}
		tx_go(n, p, cls);
		tx_go(n, to, cls);
	}
}

/* Extends the valid bytes of a packet. Does nothing once all bytes were valid,
 * because the network port's handle t->pkt is invalid then. */
void hp_net_more(struct hp_nic *n, struct hp_tx *t, uint32_t bytes)
{
	if (t->avail == UINT32_MAX)
		return;
	t->avail = bytes >= t->total - t->skip ? UINT32_MAX : t->skip + bytes;
	if (t->pkt)
		netport_more(&n->net.np[t->np], t->pkt, t->avail);
}

static void net_sent(void *own, struct netport *np, uint32_t cls,
		     uint64_t trace_id)
{
	struct hp_nic *n = own;
	uint32_t p = (uint32_t)(np - n->net.np);
	struct hp_tx *t = n->net.flying[p][cls].head;

	n->net.flying[p][cls].head = t->next;
	if (t->sent)
		t->sent(n, t);
	hp_pool_put(n->net.tx_pool, t);
	hp_stall(n, p);
	tx_go(n, p, cls);
}

/* ---- receiving ---- */

/* Gives the first k cells of the packet back to the network. */
static void rx_release(struct hp_nic *n, struct hp_rx *rx, uint32_t k)
{
	struct netport *np = &n->net.np[rx->np];

	for (uint32_t i = 0; i < k; i++)
		netport_release(np, rx->slots[i], cell_channel_now(&np->ep));
	rx->n_slots -= k;
	memmove(rx->slots, rx->slots + k, rx->n_slots * sizeof(*rx->slots));
	memmove(rx->ends, rx->ends + k, rx->n_slots * sizeof(*rx->ends));
}

void hp_rx_took(struct hp_nic *n, struct hp_rx *rx, uint32_t bytes)
{
	uint32_t k = 0;

	while (k < rx->n_slots && rx->ends[k] <= rx->head.skip + bytes)
		k++;
	rx_release(n, rx, k);
}

void hp_rx_copied(struct hp_nic *n, struct hp_rx *rx)
{
	rx_release(n, rx, rx->n_slots);
}

/* Frees a packet that has arrived completely and has no consumer any more. */
static void rx_free(struct hp_nic *n, struct hp_rx *rx)
{
	weft_frame_free(rx->f);
	rx->f = NULL;
	hp_pool_put(n->net.rx_pool, rx);
}

void hp_rx_end(struct hp_nic *n, struct hp_rx *rx)
{
	assert(!rx->ended);
	rx->ended = true;
	rx_release(n, rx, rx->n_slots);
	if (rx->whole)
		rx_free(n, rx);
}

/* Notifies the unit at the core clock edge after cells have arrived: first when
 * the head is complete, and then for each further part. */
static void rx_tell(struct hp_nic *n, void *arg)
{
	struct hp_rx *rx = arg;
	uint32_t skip = rx->head.skip;

	rx->telling = false;
	rx->whole = rx->arrived_all;
	if (rx->parse == HP_PARSE_BAD && !rx->ended) {
		hp_count(n, HP_K_BAD_PACKETS, 1);
		hp_rx_end(n, rx);
		return;
	}
	if (rx->ended) {
		if (rx->whole)
			rx_free(n, rx);
		return;
	}
	rx->here = rx->arrived > skip ? rx->arrived - skip : 0;
	if (rx->here > rx->head.bytes)
		rx->here = rx->head.bytes;
	if (rx->open) {
		if (rx->more)
			rx->more(n, rx);
		return;
	}
	if (rx->parse != HP_PARSE_GOOD)
		return;
	rx->open = true;
	hp_count(n, HP_K_PACKETS_IN, 1);
	if (rx->np == HP_NP_SERVICE)
		hp_service(n, rx);
	else
		hp_incoming(n, rx);
}

static void net_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	struct hp_nic *n = own;
	uint32_t p = (uint32_t)(np - n->net.np), cls = c->vc >> 1;
	struct hp_rx *rx = n->net.rx[p][cls];

	if (!rx) {
		rx = hp_pool_take(n->net.rx_pool, n->net.rx_all);
		n->net.rx[p][cls] = rx;
		rx->f = c->pkt;
		rx->np = (uint8_t)p;
		rx->cls = (uint8_t)cls;
		rx->parse = HP_PARSE_MORE;
	}
	if (c->eop)
		n->net.rx[p][cls] = NULL;
	rx->arrived += c->bytes;
	rx->arrived_all = c->eop;
	if (rx->parse == HP_PARSE_MORE)
		rx->parse = hp_pkt_head(
			rx->f, c->eop ? UINT32_MAX : rx->arrived, &rx->head);
	rx->slots[rx->n_slots] = c->slot;
	rx->ends[rx->n_slots++] = c->eop ? UINT32_MAX : rx->arrived;
	if (rx->ended)
		rx_release(n, rx, rx->n_slots);
	if (!rx->telling)
		hp_at(n, hp_now(n), rx_tell, rx);
	rx->telling = true;
}

static const struct netport_ops net_ops = { .cell = net_cell,
					    .sent = net_sent };

/* ---- start and end of a run ---- */

int hp_net_init(struct hp_nic *n, struct weft_err *err)
{
	struct cell_channel_cfg cfg =
		cell_channel_cfg_internal(n->param.width, &n->param.net_clock);
	int ret = 0;

	for (uint32_t i = 0; !ret && i < HP_NPS; i++)
		ret = netport_init(&n->net.np[i], n->comp,
				   &n->comp->ports[HP_PORT_NETS + i], &cfg,
				   n->param.np_depth, &net_ops, n,
				   HP_TAG_NP + i, err);
	return ret;
}

/* Frees the packets that are still in the device at the end of the run. */
void hp_net_abandon(struct hp_nic *n)
{
	for (uint32_t i = 0; i < HP_NPS; i++)
		netport_abandon(&n->net.np[i]);
	for (struct hp_rx *rx = n->net.rx_all; rx; rx = rx->chain)
		if (rx->f && rx->arrived_all) {
			weft_frame_free(rx->f);
			rx->f = NULL;
		}
	for (struct hp_tx *t = n->net.tx_all; t; t = t->chain)
		if (t->f) {
			weft_frame_free(t->f);
			t->f = NULL;
		}
}
