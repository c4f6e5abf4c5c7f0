/* SPDX-License-Identifier: Apache-2.0 */
/* Gigabit Ethernet controller of HVIA-GE, the "driver in hardware" (hvia.md 1,
 * 3.9, 7.1, 7.2): Tx and Rx buffers, descriptor rings in local memory, and the
 * 82544 behind the local PCI bus. Times are in cycles.
 *
 * send     FIFO 2, Tx buffer 2, Tx descriptor 6. When the MAC has fewer than
 *          tx_outstanding descriptors: tail write 6, fetch of the descriptor
 *          14, fetch of the first burst 16
 * receive  store of the last burst 18, store of the descriptor 12, poll that
 *          detects DD 4
 *
 * The model of the local bus consists only of these times. Transfers in
 * opposite directions do not delay each other. */
#include <assert.h>
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* Addresses in local memory. */
enum {
	GEC_TXD = 0x0000,
	GEC_RXD = 0x1000,
	GEC_TX = 0x100000,
	GEC_RX = 0x200000,
	GEC_STRIDE = 0x4000,
};

enum { CMD = MAC_CMD_EOP | MAC_CMD_IFCS | MAC_CMD_RS };

/* ---- transmit ---- */

void hv_gec_put(struct hv_nic *n, const struct hv_tx_frame *f)
{
	struct hv_tx_frame *q = ring_push(&n->gec.txq);

	*q = *f;
	q->ready = hv_time(n, n->p.t_fifo + n->p.t_txbuf + n->p.t_txd);
	weft_mark(n->comp, q->trace, "FIFO, Tx buffer, Tx descriptor",
		  q->ready);
	if (!f->kernel)
		n->gec.buffers++;
	weft_timer_arm(n->comp, &n->timer[HV_U_TX], HV_U_TX, q->ready);
}

/* Ends a write of the tail register, then gives the next ready frame to the MAC
 * if the MAC may have another descriptor. Runs when a tail write ends, when a
 * frame becomes ready, and when the MAC has sent a frame. */
void hv_gec_tx_event(struct hv_nic *n)
{
	struct hv_gec *g = &n->gec;
	struct hv_tx_frame *f;
	uint8_t *d;
	uint64_t addr;

	if (g->tail) {
		g->tail = false;
		mac_store(g->mac, MAC_TDT, g->tdt);
	}
	if (ring_empty(&g->txq) || g->outstanding >= n->p.tx_outstanding)
		return;
	f = ring_front(&g->txq);
	if (f->ready > weft_now(n->comp)) {
		weft_timer_arm(n->comp, &n->timer[HV_U_TX], HV_U_TX, f->ready);
		return;
	}
	weft_mark(n->comp, f->trace, "waits for the MAC", weft_now(n->comp));
	d = g->tx_desc[g->tdt];
	addr = GEC_TX + (uint64_t)g->tdt * GEC_STRIDE;
	memset(d, 0, MAC_DESC);
	memcpy(d, &addr, 8);
	d[MAC_TXD_LEN] = (uint8_t)f->data.len;
	d[MAC_TXD_LEN + 1] = (uint8_t)(f->data.len >> 8);
	d[MAC_TXD_CMD] = CMD;
	g->tx[g->tdt] = *f;
	g->tdt = (g->tdt + 1) % HV_RING;
	ring_pop(&g->txq);
	g->outstanding++;
	g->tail = true;
	hv_wake_local(n, HV_U_TX, n->p.t_tail);
}

static void on_sent(void *own, uint32_t index)
{
	struct hv_nic *n = own;
	struct hv_tx_frame *f = &n->gec.tx[index];

	weft_slice_drop(&f->data);
	n->gec.outstanding--;
	if (f->kernel)
		n->ktx_len = 0;
	else
		n->gec.buffers--;
	if (!n->gec.tail)
		hv_wake_local(n, HV_U_TX, 0);
	/* the send engine waits for a Tx buffer */
	if (n->send.state == SEND_BUF)
		hv_wake(n, HV_U_SEND, 0);
}

/* ---- receive ---- */

void hv_gec_free(struct hv_nic *n)
{
	struct hv_gec *g = &n->gec;

	g->rx_used--;
	g->rdt = (g->rdt + 1) % HV_RING;
	mac_store(g->mac, MAC_RDT, g->rdt);
}

/* Queues a received frame, whose DD is set, for the receive engine. The frame's
 * buffer is large enough for any frame that the MAC accepts. */
static void ethernet_controller_received(struct hv_nic *n, uint32_t i)
{
	struct hv_gec *g = &n->gec;
	struct hv_rx_frame *f = ring_push(&g->rxq);
	weft_time_t polled;

	assert(g->rx_desc[i][MAC_RXD_STATUS] & MAC_RX_EOP);
	f->data = g->rx[i];
	g->rx[i] = (struct weft_slice){ 0 };
	g->rx_used++;
	polled = hv_local(n, n->p.t_poll);
	f->ready = weft_clock_align(n->clk, polled);
	f->trace = g->rx_trace;
	weft_mark(n->comp, f->trace, "MAC: stores frame and descriptor",
		  weft_now(n->comp));
	weft_mark(n->comp, f->trace, "poll", polled);
	if (n->recv.state == RECV_IDLE)
		weft_timer_arm(n->comp, &n->timer[HV_U_RECV], HV_U_RECV,
			       f->ready);
}

/* ---- transfers of the MAC's bytes ---- */

static void on_move(void *own, const struct mac_move *mv)
{
	struct hv_nic *n = own;
	const uint32_t cycles[MAC_KINDS] = {
		[MAC_TX_DESC] = n->p.t_txdesc, [MAC_TX_DATA] = n->p.t_txburst,
		[MAC_TX_BACK] = n->p.t_rxback, [MAC_RX_DESC] = n->p.t_txdesc,
		[MAC_RX_DATA] = n->p.t_rxdma,  [MAC_RX_BACK] = n->p.t_rxback,
	};

	n->gec.move[mv->kind] = mv;
	hv_wake_local(n, HV_U_MAC + mv->kind, cycles[mv->kind]);
}

void hv_gec_mac_event(struct hv_nic *n, uint32_t kind)
{
	struct hv_gec *g = &n->gec;
	const struct mac_move *mv = g->move[kind];
	uint8_t *bytes = weft_slice_data(mv->data);
	uint32_t i;

	switch ((enum mac_kind)kind) {
	case MAC_TX_DESC:
		memcpy(bytes, g->tx_desc[mv->index], MAC_DESC);
		break;
	case MAC_TX_DATA:
		i = (uint32_t)(mv->addr - GEC_TX) / GEC_STRIDE;
		assert(i < HV_RING && mv->bytes <= g->tx[i].data.len);
		memcpy(bytes, weft_slice_data(g->tx[i].data), mv->bytes);
		weft_mark(n->comp, g->tx[i].trace,
			  "MAC: tail, descriptor, first burst",
			  weft_now(n->comp));
		mac_trace(g->mac, g->tx[i].trace);
		break;
	case MAC_TX_BACK:
		memcpy(g->tx_desc[mv->index] + 8, bytes, 8);
		break;
	case MAC_RX_DESC:
		for (uint32_t k = 0; k < mv->bytes / MAC_DESC; k++)
			memcpy(bytes + (size_t)k * MAC_DESC,
			       g->rx_desc[(mv->index + k) % HV_RING], MAC_DESC);
		break;
	case MAC_RX_DATA:
		i = (uint32_t)(mv->addr - GEC_RX) / GEC_STRIDE;
		assert(i < HV_RING && !g->rx[i].buf);
		g->rx[i] = weft_slice_ref(mv->data);
		g->rx_trace = mv->trace_id;
		break;
	/* the descriptor keeps the address of its buffer for the next frame */
	case MAC_RX_BACK:
		memcpy(g->rx_desc[mv->index] + 8, bytes + 8, 8);
		ethernet_controller_received(n, mv->index);
		break;
	default:
		break;
	}
	mac_moved(n->gec.mac, (enum mac_kind)kind);
}

/* ---- set-up ---- */

static void on_irq(void *own, bool level)
{
	(void)level; /* unused, because the GEC polls */
}

static const struct mac_ops mac_ops = { .move = on_move,
					.irq = on_irq,
					.sent = on_sent };

void hv_gec_init(struct hv_nic *n)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;

	cfg.start = n->p.mac_start;
	cfg.receive = n->p.mac_receive;
	cfg.ahead = n->p.tx_outstanding - 1;
	cfg.rx_fifo = (uint32_t)n->p.rx_fifo;
	/* The MAC accepts every frame of the standard, even if the limit of the
	 * engine is lower. */
	cfg.frame_max = n->p.mtu > HVIA_F_MTU ? n->p.mtu : HVIA_F_MTU;
	cfg.tag = HV_TAG_MAC;
	n->gec.mac = mac_new(n->comp, &n->comp->ports[HV_PORT_LINK], &cfg,
			     &mac_ops, n);
	for (uint32_t i = 0; i < HV_RING; i++) {
		uint64_t addr = GEC_RX + (uint64_t)i * GEC_STRIDE;

		memcpy(n->gec.rx_desc[i], &addr, 8);
	}
}

/* Sets up the MAC as a driver does when it is loaded. */
void hv_gec_start(struct hv_nic *n)
{
	struct mac *m = n->gec.mac;
	uint32_t rctl = MAC_RCTL_EN | MAC_RCTL_SECRC;

	mac_set_address(n->gec.mac, 0, n->mac);
	mac_store(m, MAC_TDBAL, GEC_TXD);
	mac_store(m, MAC_TDLEN, HV_RING * MAC_DESC);
	mac_store(m, MAC_RDBAL, GEC_RXD);
	mac_store(m, MAC_RDLEN, HV_RING * MAC_DESC);
	mac_store(m, MAC_TIPG, 8);
	mac_store(m, MAC_TCTL, MAC_TCTL_EN | MAC_TCTL_PSP);
	if (n->p.mtu > ETH_FRAME_MAX) /* long frames need buffers of 16 KB */
		rctl |= MAC_RCTL_LPE | MAC_RCTL_BSEX | 1u << 16;
	mac_store(m, MAC_RCTL, rctl);
	n->gec.rdt = HV_RING - 1;
	mac_store(m, MAC_RDT, n->gec.rdt);
}

void hv_gec_clear(struct hv_nic *n)
{
	struct hv_gec *g = &n->gec;

	for (; !ring_empty(&g->txq); ring_pop(&g->txq))
		weft_slice_drop(&ring_front(&g->txq)->data);
	for (; !ring_empty(&g->rxq); ring_pop(&g->rxq))
		weft_slice_drop(&ring_front(&g->rxq)->data);
	for (uint32_t i = 0; i < HV_RING; i++) {
		weft_slice_drop(&g->tx[i].data);
		weft_slice_drop(&g->rx[i]);
	}
}
