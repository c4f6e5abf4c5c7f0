/* SPDX-License-Identifier: Apache-2.0 */
/* Network interface of the FORTH NIC: what joins the link engine (flink.h) to
 * the outgoing buffers and to Net2Host.
 * Source: forth.md sections 4.1, 4.2, 4.9, 4.11 (cut-through, R-24), 5.2 and
 * 5.7 (credits of the NIC receiver). */
#include <errno.h>

#include "nic/forth/nic.h"

/* ---- cut-through (R-24) -------------------------------------------------- */

/* Quarters of a packet to wait: 1 - R_net/R_pci, rounded up.
 * R_net/R_pci = (4 L / T_net) / (8 / T_pci). */
static uint32_t ct_quarters(const struct forth_nic *n)
{
	const struct weft_clock *p = &n->pci, *c = &n->link.clk;
	unsigned __int128 net = (unsigned __int128)n->links * p->num * c->den;
	unsigned __int128 pci = (unsigned __int128)2 * c->num * p->den;

	if (net >= pci)
		return 0;
	return (uint32_t)((4 * (pci - net) + pci - 1) / pci);
}

/* Wire words in front of the payload. */
static uint32_t words_before(const struct forth_nic *n)
{
	return n->frame == FORTH_WORD && n->links == 1 ? 4 : 3;
}

/* Payload qword i is complete in Net2Host. */
weft_time_t forth_rx_word_at(const struct forth_nic *n,
			     const struct forth_rx *rx, uint32_t i)
{
	uint64_t cc = rx->data_cc + (2ull * (i + 1) + n->links - 1) / n->links;

	return weft_clock_edge(&n->link.clk, cc);
}

/* ---- receive --------------------------------------------------------------
 */

/* Room in Net2Host: only wrong credits can fill it. */
static void rx_overflow(struct forth_nic *n, struct forth_rx *rx)
{
	uint32_t room = n->n2h_words - n->rx_used;
	uint32_t lost;

	if (rx->qwords + 1 <= room)
		return;
	lost = rx->qwords + 1 - room;
	forth_perf_add(n, PERF_NET2H_FULL_ERR, lost);
	weft_count(n->comp, C_RX_LOST, lost);
	rx->bad = true;
	rx->qwords -= lost < rx->qwords ? lost : rx->qwords;
}

static bool rx_lost(const struct forth_nic *n)
{
	return n->rx_used >= n->n2h_words;
}

static void rx_enqueue(struct forth_nic *n, struct weft_frame *f,
		       const struct flink_rx *r, uint32_t wait)
{
	uint32_t size = forth_hdr_size(f->u[FORTH_U_HEADER]);
	uint64_t ready = r->cycle + r->shift + n->t_l2d + wait;
	struct forth_rx rx = {
		.hdr = f->u[FORTH_U_HEADER],
		.data = f->payload,
		.ready = forth_pc_of_cc(n, ready),
		.data_cc = r->cycle + r->shift + words_before(n),
		.end_cc = r->cycle + r->words,
		.qwords = f->payload.len / 8,
		.charge = flink_charge(&n->link, size),
		.bad = r->bad,
	};

	f->payload = (struct weft_slice){ 0 };
	rx_overflow(n, &rx);
	n->rx_used += rx.qwords + 1;
	*ring_push(&n->rx) = rx;
	forth_engine_offer(n, rx.ready);
}

static void netif_packet(void *own, struct flink *l, struct weft_frame *f,
			 const struct flink_rx *r)
{
	struct forth_nic *n = own;
	uint32_t size = forth_hdr_size(f->u[FORTH_U_HEADER]);
	uint64_t words = flink_words(l, size);

	weft_count(n->comp, C_PACKETS_IN, 1);
	n->net2h_start++;
	if (rx_lost(n)) { /* not even the header finds room */
		forth_perf_add(n, PERF_NET2H_FULL_ERR, size + 1);
		weft_count(n->comp, C_RX_LOST, size + 1);
		flink_fwd(l, 0, flink_charge(l, size),
			  weft_clock_edge(&l->clk, r->cycle + r->words));
	} else {
		rx_enqueue(n, f, r, (uint32_t)((n->ct_num * words + 3) / 4));
	}
	weft_frame_free(f);
}

void forth_netif_flush(struct forth_nic *n, uint64_t pc)
{
	weft_time_t t = weft_clock_edge(&n->pci, pc);

	for (; !ring_empty(&n->rx); ring_pop(&n->rx)) {
		struct forth_rx *rx = ring_front(&n->rx);
		weft_time_t end = weft_clock_edge(&n->link.clk, rx->end_cc);

		t = end > t ? end : t;
		flink_fwd(&n->link, 0, rx->charge, t);
		weft_slice_drop(&rx->data);
	}
	n->rx_used = 0;
}

/* ---- credits: word by word as the DMA drains Net2Host ----------------- */

/* Link words that `qwords` FIFO words are worth. */
static uint32_t worth(const struct forth_nic *n, uint32_t qwords)
{
	return qwords * 2 / n->links;
}

void forth_netif_header_out(struct forth_nic *n)
{
	n->wr.credited = worth(n, 1);
	n->wr.drained = 0;
	n->rx_used--;
	if (n->wr.credited)
		flink_fwd(&n->link, 0, n->wr.credited, weft_now(n->comp));
}

/* Four links: a link word is two qwords, so F moves at every second edge. */
static void words_out_wide(struct forth_nic *n, uint32_t first, uint32_t words,
			   uint64_t pc0)
{
	uint64_t at = pc0 + (first % 2 ? 2 : 1); /* first whole link word */
	struct weft_clock half = { 2 * n->pci.num, n->pci.den, 0 };

	half.phase = weft_clock_edge(&n->pci, at);
	flink_fwd(&n->link, 0, 1, half.phase);
	if (words > 1)
		flink_fwd_ramp(&n->link, 0, words - 1, 1, &half, 0);
}

void forth_netif_words_out(struct forth_nic *n, uint32_t first, uint32_t count,
			   uint64_t pc0)
{
	uint32_t words = worth(n, 1 + first + count) - n->wr.credited;

	n->rx_used -= count;
	n->wr.drained += count;
	n->wr.credited += words;
	if (!words)
		return;
	if (n->links == 4)
		words_out_wide(n, first, words, pc0);
	else
		flink_fwd_ramp(&n->link, 0, words, 2 / n->links, &n->pci, pc0);
}

/* The rest of the packet's charge, at its last word (5.2); words that were not
 * written go with it. */
void forth_netif_rest_out(struct forth_nic *n, uint64_t pc)
{
	uint32_t rest = n->wr.rx.charge - n->wr.credited;

	n->rx_used -= n->wr.rx.qwords - n->wr.drained;
	n->wr.drained = n->wr.rx.qwords;
	n->wr.credited += rest;
	if (rest)
		flink_fwd(&n->link, 0, rest, weft_clock_edge(&n->pci, pc));
}

/* ---- transmit --------------------------------------------------------------
 */

static bool netif_next(void *own, struct flink *l, struct flink_pkt *p)
{
	(void)l;
	return forth_voq_next(own, p);
}

static void netif_sent(void *own, struct flink *l, uint64_t start, uint64_t end,
		       uint32_t shift)
{
	(void)l;
	forth_voq_sent(own, start, end, shift);
}

static const struct flink_ops netif_ops = {
	.next = netif_next,
	.sent = netif_sent,
	.packet = netif_packet,
};

/* ---- counters (0x80..0xC8) ------------------------------------------------
 */

static uint64_t others(const uint64_t *per_link)
{
	uint64_t sum = 0;

	for (uint32_t j = 1; j < FLINK_LINKS_MAX; j++)
		sum += per_link[j];
	return sum;
}

/* Net2HPReady has not been raised yet for packets still on their way. */
static uint64_t net2h_starts(struct forth_nic *n)
{
	uint64_t count = n->net2h_start;

	for (uint32_t i = ring_count(&n->rx); i > 0; i--) {
		if (ring_nth(&n->rx, i - 1)->ready <= forth_pc(n))
			break;
		count--;
	}
	return count;
}

uint64_t forth_net_count(struct forth_nic *n, enum forth_net id)
{
	const struct flink_count *k;

	if (!n->started)
		return 0;
	k = flink_counts(&n->link);
	switch (id) {
	case NET_NET_OUT_CYCLES:
		return k->out_cycles;
	case NET_NET_IN_CYCLES:
		return k->in_cycles;
	case NET_RIO0_UNKNOWN:
		return k->bad_char[0];
	case NET_RIO0_SYNC_LOSS:
		return k->sync_loss[0];
	case NET_RIO0_PARITY:
		return k->disparity[0];
	case NET_RIO0_TX_FULL:
		return k->tx_full[0];
	case NET_RIO1_UNKNOWN:
		return others(k->bad_char);
	case NET_RIO1_SYNC_LOSS:
		return others(k->sync_loss);
	case NET_RIO1_PARITY:
		return others(k->disparity);
	case NET_RIO1_TX_FULL:
		return others(k->tx_full);
	case NET_NET_OUT_PACKETS:
		return k->tx_packets;
	case NET_NET_DEQ_WORDS:
		return k->tx_qwords;
	case NET_NET_IN_PACKETS:
		return k->rx_packets;
	case NET_NET_ENQ_WORDS:
		return k->rx_qwords;
	case NET_HEADER_CRC_ERR:
		return k->header_crc;
	case NET_NET_ALIGN_ERR:
		return k->align;
	case NET_NET_BACKPRESSURE:
		return k->backpressure;
	case NET_H2NET_START:
		return n->h2net_start;
	case NET_NET2H_START:
		return net2h_starts(n);
	default:
		return 0;
	}
}

/* ---- construction ---------------------------------------------------------
 */

int forth_netif_init(struct forth_nic *n, struct weft_err *err)
{
	struct flink_cfg cfg = flink_cfg_default();

	cfg.links = n->links;
	cfg.layout = n->frame;
	cfg.rx_lanes = 1;
	cfg.rx_cap = n->n2h_words * 2 / n->links;
	cfg.min_payload = n->min_payload > 8 ? (uint32_t)n->min_payload : 0;
	cfg.refresh_cc = n->refresh_cc;
	cfg.t_crtx = n->t_crtx;
	cfg.t_crrx = n->t_crrx;
	cfg.credit_words = n->credit_words;
	cfg.ppm = (int32_t)n->ppm;
	cfg.credit_filter = n->credit_filter;
	cfg.return_discards = true;
	return flink_init(&n->link, n->comp, &n->comp->ports[PORT_LINK], &cfg,
			  &netif_ops, n, TAG_LINK, err);
}

int forth_netif_start(struct forth_nic *n, struct weft_err *err)
{
	int ret = flink_start(&n->link, err);

	n->ct_num = n->ct_q ? n->ct_q - 1 : ct_quarters(n);
	return ret;
}
