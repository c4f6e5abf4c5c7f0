/* SPDX-License-Identifier: Apache-2.0 */
/* Network interface of the FORTH NIC: joins the link engine
 * (systems/forth/link/port.h) to the outgoing buffers and to Net2Host. Source:
 * forth.md sections 4.1, 4.2, 4.9, 4.11 (cut-through, R-24), 5.2 and 5.7
 * (credits of the NIC receiver), 7.6 (one FIFO per link, R-35).
 *
 * Either the links are bundled byte by byte into one engine, or each link has
 * an engine and a Net2Host FIFO of its own. All engines run on one NET clock.
 * The network counters are sums over the engines. */
#include <errno.h>
#include <stddef.h>

#include "systems/forth/nic/nic.h"

/* Returns the time at which payload qword i is complete in Net2Host. */
weft_time_t forth_rx_word_at(const struct forth_nic *n,
			     const struct forth_rx *rx, uint32_t i)
{
	uint64_t cc = rx->data_cc + (2ull * (i + 1) + n->width - 1) / n->width;

	return weft_clock_edge(&n->link[0].clk, cc);
}

/* ---- receive ---- */

uint32_t forth_fifo_used(struct forth_nic *n, uint32_t link)
{
	struct forth_fifo *q = &n->fifo[link];

	if (q->out && forth_pc(n) >= q->out_at) {
		q->used -= q->out;
		q->out = 0;
	}
	return q->used;
}

/* Truncates a packet to the free room in Net2Host. Net2Host can overflow only
 * if the sender has wrong credits. */
static void rx_overflow(struct forth_nic *n, struct forth_rx *rx)
{
	uint32_t room = n->p.n2h_words - forth_fifo_used(n, rx->link);
	uint32_t lost;

	if (rx->qwords + 1 <= room)
		return;
	lost = rx->qwords + 1 - room;
	forth_perf_add(n, PERF_NET2H_FULL_ERR, lost);
	weft_count(n->comp, C_RX_LOST, lost);
	rx->bad = true;
	rx->qwords -= lost < rx->qwords ? lost : rx->qwords;
}

static void rx_enqueue(struct forth_nic *n, struct forth_port *l,
		       struct weft_frame *f, const struct forth_port_rx *r,
		       uint32_t wait)
{
	uint32_t link = forth_link_of(n, l);
	uint32_t size = forth_hdr_size(f->u[FORTH_U_HEADER]);
	uint64_t ready = r->cycle + r->shift + n->p.t_l2d + wait;
	/* words on the wire in front of the payload */
	uint32_t before = n->p.frame == FORTH_WORD && n->width == 1 ? 4 : 3;
	struct forth_rx rx = {
		.hdr = f->u[FORTH_U_HEADER],
		.data = f->payload,
		.ready = forth_pc_of_cc(n, ready),
		.data_cc = r->cycle + r->shift + before,
		.end_cc = r->cycle + r->words,
		.qwords = f->payload.len / 8,
		.charge = forth_port_charge(l, size),
		.bad = r->bad,
		.loop = l->loop,
		.link = (uint8_t)link,
		.trace = f->trace_id,
	};

	f->payload = (struct weft_slice){ 0 };
	rx_overflow(n, &rx);
	n->fifo[link].used += rx.qwords + 1;
	n->fifo[link].line += !rx.loop;
	/* with multipath a header takes effect once its header CRC is checked
	 * (7.4). An announcement, however, is ready only after its body CRC */
	if (n->multi && forth_is_announce(n, rx.hdr))
		rx.ready = forth_pc_of_cc(n, rx.end_cc);
	if (n->multi)
		forth_reseq_header(n, &rx, forth_pc_of_cc(n, rx.data_cc));
	*ring_push(&n->fifo[link].q) = rx;
	forth_mark(n, rx.trace, "receives enough of it", rx.ready);
	forth_trace_fifo(n, link);
	forth_engine_offer(n, rx.ready);
}

static void netif_packet(void *own, struct forth_port *l, struct weft_frame *f,
			 const struct forth_port_rx *r)
{
	struct forth_nic *n = own;
	uint32_t link = forth_link_of(n, l);
	uint32_t size = forth_hdr_size(f->u[FORTH_U_HEADER]);
	uint64_t words = forth_port_words(l, size);

	weft_count(n->comp, C_PACKETS_IN, 1);
	n->net2h_start++;
	if (r->bad)
		forth_log(n, (enum forth_log_unit)(LOG_LINK0 + link), LOG_ERROR,
			  LOG_BODY_CRC);
	/* Net2Host has no room even for the header */
	if (forth_fifo_used(n, link) >= n->p.n2h_words) {
		forth_perf_add(n, PERF_NET2H_FULL_ERR, size + 1);
		weft_count(n->comp, C_RX_LOST, size + 1);
		forth_port_fwd(l, 0, forth_port_charge(l, size),
			       weft_clock_edge(&l->clk, r->cycle + r->words));
	} else {
		rx_enqueue(n, l, f, r, (uint32_t)((n->ct_num * words + 3) / 4));
	}
	weft_frame_free(f);
}

void forth_netif_flush(struct forth_nic *n, uint64_t pc)
{
	for (uint32_t k = 0; k < n->n_link; k++) {
		weft_time_t t = weft_clock_edge(&n->pci, pc);
		struct forth_fifo *q = &n->fifo[k];

		for (; !ring_empty(&q->q); ring_pop(&q->q)) {
			struct forth_rx *rx = ring_front(&q->q);
			weft_time_t end =
				weft_clock_edge(&n->link[0].clk, rx->end_cc);

			t = end > t ? end : t;
			forth_port_fwd(forth_rx_end(n, rx), 0, rx->charge, t);
			forth_netif_gone(n, rx);
			forth_reseq_written(n, rx, true);
			weft_slice_drop(&rx->data);
		}
		q->used = q->out = 0;
	}
}

/* ---- credits: word by word as the DMA drains Net2Host. A FIFO word is worth 2
 * / width link words ---- */

void forth_netif_words_out(struct forth_nic *n, uint32_t first, uint32_t count,
			   uint64_t pc0)
{
	uint32_t words = (1 + first + count) * 2 / n->width - n->wr.credited;
	struct forth_fifo *q = &n->fifo[n->wr.rx.link];
	struct weft_clock half = { 2 * n->pci.num, n->pci.den, 0 };

	/* subtract the words of the previous burst from the level now. The
	 * words of the new burst stay in the level until pc0, because the bus
	 * reports a burst ahead of time */
	forth_fifo_used(n, n->wr.rx.link);
	q->used -= q->out;
	q->out = count;
	q->out_at = pc0;
	n->wr.drained += count;
	n->wr.credited += words;
	if (!words)
		return;
	if (n->width < 4) {
		forth_port_fwd_ramp(forth_rx_end(n, &n->wr.rx), 0, words,
				    2 / n->width, &n->pci, pc0);
		return;
	}
	/* With four links a link word is two qwords. Therefore F grows at every
	 * second edge. The first of these edges is the one at which a whole
	 * link word has left. */
	half.phase = weft_clock_edge(&n->pci, pc0 + (first % 2 ? 2 : 1));
	forth_port_fwd(forth_rx_end(n, &n->wr.rx), 0, 1, half.phase);
	if (words > 1)
		forth_port_fwd_ramp(forth_rx_end(n, &n->wr.rx), 0, words - 1, 1,
				    &half, 0);
}

/* Gives the remaining charge of the packet back as credits at PCI edge `pc`
 * (5.2), including the charge of words that were not written. */
void forth_netif_rest_out(struct forth_nic *n, uint64_t pc)
{
	uint32_t rest = n->wr.rx.charge - n->wr.credited;

	n->fifo[n->wr.rx.link].used -= n->wr.rx.qwords - n->wr.drained;
	n->wr.drained = n->wr.rx.qwords;
	n->wr.credited += rest;
	if (rest)
		forth_port_fwd(forth_rx_end(n, &n->wr.rx), 0, rest,
			       weft_clock_edge(&n->pci, pc));
}

void forth_netif_gone(struct forth_nic *n, const struct forth_rx *rx)
{
	struct forth_port *l = &n->link[rx->link];

	if (rx->loop || --n->fifo[rx->link].line || !l->muted)
		return;
	forth_port_kick(l->back, weft_now(n->comp));
}

/* ---- transmit ---- */

static void netif_bad_header(void *own, struct forth_port *l, uint64_t cycle)
{
	struct forth_nic *n = own;

	forth_log(n, (enum forth_log_unit)(LOG_LINK0 + forth_link_of(n, l)),
		  LOG_ERROR, LOG_HEADER_CRC);
}

static bool netif_drained(void *own, struct forth_port *l)
{
	const struct forth_nic *n = own;

	return !n->fifo[l - n->link].line;
}

static const struct forth_port_ops netif_ops = {
	.next = forth_voq_next,
	.sent = forth_voq_sent,
	.packet = netif_packet,
	.bad_header = netif_bad_header,
	.credit = forth_log_credit,
	.drained = netif_drained,
};

/* ---- counters (0x80..0xC8) ---- */

uint64_t forth_link_sum(struct forth_nic *n, size_t counter)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < n->n_link; k++)
		for (struct forth_port *l = &n->link[k]; l; l = l->back) {
			const char *count = (const char *)forth_port_counts(l);

			sum += *(const uint64_t *)(count + counter);
		}
	return sum;
}

/* Returns a counter of one RocketIO register: the counter of link 0, or the sum
 * over all other links. */
static uint64_t network_interface_rio(struct forth_nic *n, size_t counters,
				      bool first)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < n->n_link; k++) {
		const uint64_t *per_link =
			(const uint64_t *)((const char *)forth_port_counts(
						   &n->link[k]) +
					   counters);

		for (uint32_t j = 0; j < FORTH_PORT_LINKS_MAX; j++)
			sum += first == (k + j == 0) ? per_link[j] : 0;
	}
	return sum;
}

#define AT(field) offsetof(struct forth_port_count, field)

uint64_t forth_net_count(struct forth_nic *n, enum forth_net id)
{
	static const size_t plain[NET_N] = {
		[NET_NET_OUT_CYCLES] = AT(out_cycles),
		[NET_NET_IN_CYCLES] = AT(in_cycles),
		[NET_NET_OUT_PACKETS] = AT(tx_packets),
		[NET_NET_DEQ_WORDS] = AT(tx_qwords),
		[NET_NET_IN_PACKETS] = AT(rx_packets),
		[NET_NET_ENQ_WORDS] = AT(rx_qwords),
		[NET_HEADER_CRC_ERR] = AT(header_crc),
		[NET_NET_ALIGN_ERR] = AT(align),
		[NET_NET_BACKPRESSURE] = AT(backpressure),
	};
	uint64_t starts = n->net2h_start;
	static const size_t per_link[] = { AT(bad_char), AT(sync_loss),
					   AT(disparity), AT(tx_full) };

	if (!n->started)
		return 0;
	if (id == NET_H2NET_START)
		return n->h2net_start;
	if (id >= NET_RIO0_UNKNOWN && id <= NET_RIO1_TX_FULL)
		return network_interface_rio(
			n, per_link[(id - NET_RIO0_UNKNOWN) % 4],
			id <= NET_RIO0_TX_FULL);
	if (id != NET_NET2H_START)
		return forth_link_sum(n, plain[id]);
	/* leave out packets that are still arriving, because Net2HPReady is not
	 * raised for them yet */
	for (uint32_t k = 0; k < n->n_link; k++)
		for (uint32_t i = ring_count(&n->fifo[k].q);
		     i > 0 &&
		     ring_nth(&n->fifo[k].q, i - 1)->ready > forth_pc(n);
		     i--)
			starts--;
	return starts;
}

/* ---- construction ---- */

int forth_netif_init(struct forth_nic *n, struct weft_err *err)
{
	struct forth_port_cfg cfg = forth_port_cfg_default();
	int ret = 0;

	cfg.links = n->width;
	cfg.layout = n->p.frame;
	cfg.rx_lanes = 1;
	cfg.rx_cap = n->p.n2h_words * 2 / n->width;
	cfg.max_payload = (uint32_t)n->p.max_payload;
	cfg.min_payload = n->p.min_payload > 8 ? (uint32_t)n->p.min_payload : 0;
	cfg.refresh_cc = n->p.refresh_cc;
	cfg.resync_cc = n->p.resync;
	cfg.t_crtx = n->p.t_crtx;
	cfg.t_crrx = n->p.t_crrx;
	cfg.credit_words = n->p.credit_words;
	cfg.ppm = (int32_t)n->p.ppm;
	cfg.credit_filter = n->p.credit_filter;
	cfg.crc32_complement = n->p.crc32_complement;
	cfg.return_discards = true;
	for (uint32_t k = 0; k < n->n_link && !ret; k++)
		ret = forth_port_init(&n->link[k], n->comp,
				      &n->comp->ports[PORT_LINK + k], &cfg,
				      &netif_ops, n, TAG_LINK + k, err);
	return ret;
}

int forth_netif_start(struct forth_nic *n, struct weft_err *err)
{
	const struct weft_clock *a = &n->link[0].clk;
	unsigned __int128 net, pci;
	int ret = 0;

	for (uint32_t k = 0; k < n->n_link && !ret; k++) {
		const struct weft_clock *b = &n->link[k].clk;

		ret = forth_port_start(&n->link[k], err);
		if (!ret && (a->num != b->num || a->den != b->den))
			ret = weft_fail(
				err, EINVAL,
				"%s: links of different rates: all run on one clock",
				n->comp->name);
	}
	/* cut-through: a packet waits until 1 - R_net/R_pci of it has
	 * arrived, so that the bus does not overtake the link. The part is
	 * rounded up to quarters. R_net/R_pci = (4 L / T_net) / (8 / T_pci) */
	net = (unsigned __int128)n->width * n->pci.num * a->den;
	pci = (unsigned __int128)2 * a->num * n->pci.den;
	n->ct_num = n->p.ct_q	? n->p.ct_q - 1
		    : net < pci ? (uint64_t)((4 * (pci - net) + pci - 1) / pci)
				: 0;
	return ret;
}
