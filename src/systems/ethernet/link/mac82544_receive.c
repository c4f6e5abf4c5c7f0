/* SPDX-License-Identifier: Apache-2.0 */
/* Receiver and flow control (802.3x) of the MAC, see mac82544.h. The receiver
 * checks a frame when the last byte has arrived. A good frame for this station
 * enters the FIFO at that time. The frame leaves the FIFO when its last byte is
 * in memory. */
#include <assert.h>
#include <string.h>

#include "systems/ethernet/link/mac82544_internal.h"
#include "weft/trace.h"

/* ---- flow control ---- */

static void send_pause(struct mac *m, uint16_t quanta)
{
	uint8_t src[ETH_ADDR];
	uint32_t i;

	for (i = 0; i < ETH_ADDR; i++)
		src[i] = (uint8_t)(i < 4 ? m->ral[0] >> 8 * i
					 : m->rah[0] >> 8 * (i - 4));
	mac_tally(m, quanta ? MAC_R_XOFFTXC : MAC_R_XONTXC, &m->stats.pause_tx);
	mac_tx_control(m, eth_pause_new(m->comp->sim, src, quanta));
}

/* Sends XOFF when the FIFO is above the high mark. Repeats XOFF after half of
 * its pause time, so that the sender stays paused. Sends XON below the low
 * mark. */
static void fifo_changed(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	uint32_t high = m->reg[MAC_R_FCRTH] & 0xfff8;
	uint32_t low = m->reg[MAC_R_FCRTL] & 0xfff8;
	uint16_t quanta = (uint16_t)m->reg[MAC_R_FCTTV];
	weft_time_t now = weft_now(m->comp);

	if (!(m->reg[MAC_R_CTRL] & MAC_CTRL_TFCE) || !quanta || !high)
		return;
	if (rx->fill > high &&
	    (!rx->xoff || now >= rx->xoff_at + quanta * ETH_PAUSE_QUANTA / 2)) {
		rx->xoff = true;
		rx->xoff_at = now;
		send_pause(m, quanta);
	} else if (rx->xoff && rx->fill <= low) {
		rx->xoff = false;
		send_pause(m, 0);
	}
}

/* ---- frames for this station ---- */

static bool is_ours(const struct mac *m, const struct weft_frame *f)
{
	uint32_t rctl = m->reg[MAC_R_RCTL];
	const uint8_t *a = eth_frame_data(f);
	uint32_t lo = a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 |
		      (uint32_t)a[3] << 24;
	uint32_t hi = a[4] | (uint32_t)a[5] << 8 | MAC_RAH_AV;

	if (!memcmp(a, eth_broadcast, ETH_ADDR) && rctl & MAC_RCTL_BAM)
		return true;
	if (rctl & (eth_is_group(a) ? MAC_RCTL_MPE : MAC_RCTL_UPE))
		return true;
	for (uint32_t i = 0; i < MAC_ADDRS; i++)
		if (m->ral[i] == lo && m->rah[i] == hi)
			return true;
	return false;
}

/* Checks a frame and counts its fault. Returns true if the receiver keeps it: a
 * good frame or, with RCTL.SBP, a frame with a wrong FCS. */
static bool is_sound(struct mac *m, struct weft_frame *f)
{
	uint32_t max = m->reg[MAC_R_RCTL] & MAC_RCTL_LPE ? m->cfg.frame_max
							 : ETH_FRAME_MAX;
	bool keep = m->reg[MAC_R_RCTL] & MAC_RCTL_SBP;

	switch (eth_frame_check(f, max)) {
	case ETH_GOOD:
		return true;
	case ETH_BAD_FCS:
		mac_tally(m, MAC_R_CRCERRS, &m->stats.crc);
		f->flags |= MAC_RX_CE;
		return keep;
	case ETH_BAD_SYMBOL:
		mac_tally(m, MAC_R_RXERRC, &m->stats.symbol);
		return false;
	case ETH_RUNT:
		mac_tally(m, MAC_R_RUC, &m->stats.runt);
		return false;
	default:
		mac_tally(m, MAC_R_ROC, &m->stats.giant);
		return false;
	}
}

/* ---- into the FIFO ---- */

static void arm_ready(struct mac *m)
{
	const struct mac_rx *rx = &m->rx;
	weft_time_t t;

	if (!rx->first)
		return;
	t = eth_frame_end(rx->first) + m->cfg.receive;
	if (t >= weft_now(m->comp))
		weft_timer_arm(m->comp, &m->rx.ready,
			       m->cfg.tag + MAC_TAG_RX_READY, t);
}

static void frame_take(struct mac *m, struct weft_frame *f)
{
	struct mac_rx *rx = &m->rx;

	if (rx->fill + f->payload.len > m->cfg.rx_fifo) {
		weft_frame_free(f);
		mac_tally(m, MAC_R_MPC, &m->stats.missed);
		mac_cause(m, MAC_INT_RXO);
		fifo_changed(m);
		return;
	}
	f->next = NULL;
	if (rx->first)
		rx->last->next = f;
	else
		rx->first = f;
	rx->last = f;
	rx->fill += f->payload.len;
	weft_mark(m->comp, f->trace_id, "frame on the line", weft_now(m->comp));
	if (rx->first == f)
		arm_ready(m);
	fifo_changed(m);
}

static void frame_look(struct mac *m, struct weft_frame *f)
{
	uint16_t quanta;

	f->flags = 0;
	if (!(m->reg[MAC_R_RCTL] & MAC_RCTL_EN) || !is_sound(m, f)) {
		weft_frame_free(f);
	} else if (eth_pause_parse(f, &quanta)) {
		weft_frame_free(f);
		if (!(m->reg[MAC_R_CTRL] & MAC_CTRL_RFCE))
			return;
		mac_tally(m, quanta ? MAC_R_XOFFRXC : MAC_R_XONRXC,
			  &m->stats.pause_rx);
		/* hold data frames until the pause ends; a pause time of 0 ends
		 * the pause now */
		m->tx.pause = weft_now(m->comp) + quanta * ETH_PAUSE_QUANTA;
		mac_tx_next(m);
	} else if (!is_ours(m, f)) {
		m->stats.filtered++;
		weft_frame_free(f);
	} else {
		frame_take(m, f);
	}
}

void mac_rx_end(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	struct weft_frame *f;

	if (!weft_timer_due(m->comp, &rx->end))
		return;
	while ((f = eth_line_take(&rx->line, weft_now(m->comp))))
		frame_look(m, f);
	if (rx->line)
		weft_timer_arm(m->comp, &rx->end, m->cfg.tag + MAC_TAG_RX_END,
			       eth_frame_end(rx->line));
}

void mac_arrive(struct mac *m, struct weft_frame *f)
{
	eth_line_add(&m->rx.line, f);
	weft_timer_arm(m->comp, &m->rx.end, m->cfg.tag + MAC_TAG_RX_END,
		       eth_frame_end(m->rx.line));
}

/* ---- descriptors ---- */

/* Fetches as many descriptors as `cache` has room for, up to the end of the
 * ring. */
static void mac82544_receive_fetch(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	uint32_t ring = mac_ring(m, MAC_R_RDLEN), tail = m->reg[MAC_R_RDT];
	uint32_t n;

	if (m->move[MAC_RX_DESC].busy || !(m->reg[MAC_R_RCTL] & MAC_RCTL_EN) ||
	    tail >= ring || rx->fetched >= ring || rx->fetched == tail ||
	    rx->n == MAC_RX_CACHE)
		return;
	n = (tail > rx->fetched ? tail : ring) - rx->fetched;
	n = n < MAC_RX_FETCH ? n : MAC_RX_FETCH;
	n = n < MAC_RX_CACHE - rx->n ? n : MAC_RX_CACHE - rx->n;
	mac_ask(m, MAC_RX_DESC, mac_desc(m, MAC_R_RDBAL, rx->fetched),
		rx->fetched, weft_slice_word(m->comp->sim, n * MAC_DESC));
	rx->fetched = (rx->fetched + n) % ring;
}

/* ---- out of the FIFO ---- */

/* Returns n bytes of the frame from `off` on, as the receiver stores them in
 * memory. The receiver stores a correct FCS, even if the FCS on the line was
 * wrong. */
static struct weft_slice stored_part(const struct mac *m,
				     const struct weft_frame *f, uint32_t off,
				     uint32_t n)
{
	uint32_t len = f->payload.len, fcs, i;
	struct weft_slice s;

	if (off + n <= len)
		return weft_slice_sub(f->payload, off, n);
	s = weft_slice_word(m->comp->sim, n);
	fcs = eth_fcs(eth_frame_data(f), len);
	for (i = 0; i < n; i++)
		weft_slice_data(s)[i] =
			off + i < len ? eth_frame_data(f)[off + i]
				      : (uint8_t)(fcs >> 8 * (off + i - len));
	return s;
}

static void mac82544_receive_store(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	struct weft_frame *f = rx->first;
	uint32_t rctl = m->reg[MAC_R_RCTL], buffer = 2048u >> (rctl >> 16 & 3);

	if (!f || rx->storing || !rx->n || m->move[MAC_RX_DATA].busy ||
	    m->move[MAC_RX_BACK].busy ||
	    eth_frame_end(f) + m->cfg.receive > weft_now(m->comp))
		return;
	if (rctl & MAC_RCTL_BSEX && buffer < 2048)
		buffer *= 16;
	if (!rx->off) /* compute the length once, because software may change
			 SECRC during the store */
		rx->total =
			f->payload.len + (rctl & MAC_RCTL_SECRC ? 0 : ETH_FCS);
	rx->part = rx->total - rx->off;
	if (rx->part > buffer)
		rx->part = buffer;
	rx->storing = true;
	weft_mark(m->comp, f->trace_id, "MAC: receive", weft_now(m->comp));
	mac_ask(m, MAC_RX_DATA, rx->cache[rx->head], m->reg[MAC_R_RDH],
		stored_part(m, f, rx->off, rx->part));
	m->move[MAC_RX_DATA].trace_id = f->trace_id;
}

/* Writes the descriptor back, because the bytes are stored now. */
static void write_back(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	uint32_t index = m->reg[MAC_R_RDH];
	bool last = rx->off + rx->part == rx->total;
	struct weft_slice s = weft_slice_word(m->comp->sim, MAC_DESC);
	uint8_t *d = weft_slice_data(s);

	memset(d, 0, MAC_DESC);
	memcpy(d, &rx->cache[rx->head], 8);
	d[MAC_RXD_LEN] = (uint8_t)rx->part;
	d[MAC_RXD_LEN + 1] = (uint8_t)(rx->part >> 8);
	d[MAC_RXD_STATUS] = (uint8_t)(MAC_RX_DD | (last ? MAC_RX_EOP : 0));
	d[MAC_RXD_ERRORS] = last ? (uint8_t)rx->first->flags : 0;
	rx->off += rx->part;
	mac_ask(m, MAC_RX_BACK, mac_desc(m, MAC_R_RDBAL, index), index, s);
}

/* Continues with the next buffer of the frame, or with the next frame. */
static void written_back(struct mac *m)
{
	struct mac_rx *rx = &m->rx;
	struct weft_frame *f = rx->first;
	uint32_t ring = mac_ring(m, MAC_R_RDLEN);
	uint32_t head = mac_behind(m, MAC_R_RDLEN, m->reg[MAC_R_RDH]);

	rx->storing = false;
	rx->head = (rx->head + 1) % MAC_RX_CACHE;
	rx->n--;
	m->reg[MAC_R_RDH] = head;
	if (ring && (m->reg[MAC_R_RDT] + ring - head) % ring == ring / 2)
		mac_cause(m, MAC_INT_RXDMT0);
	if (rx->off != rx->total)
		return;
	rx->first = f->next;
	rx->off = 0;
	rx->fill -= f->payload.len;
	m->stats.rx_bytes += f->payload.len;
	mac_tally(m, MAC_R_GPRC, &m->stats.rx_frames);
	weft_frame_free(f);
	arm_ready(m);
	fifo_changed(m);
	mac_rx_told(m);
}

void mac_rx_moved(struct mac *m, enum mac_kind kind, struct weft_slice data)
{
	struct mac_rx *rx = &m->rx;

	switch (kind) {
	case MAC_RX_DESC:
		for (uint32_t i = 0; i < data.len; i += MAC_DESC)
			memcpy(&rx->cache[(rx->head + rx->n++) % MAC_RX_CACHE],
			       weft_slice_data(data) + i, sizeof(*rx->cache));
		break;
	case MAC_RX_DATA:
		write_back(m);
		break;
	default:
		written_back(m);
	}
}

void mac_rx_kick(struct mac *m)
{
	mac82544_receive_fetch(m);
	mac82544_receive_store(m);
}

void mac_rx_ready(struct mac *m)
{
	if (weft_timer_due(m->comp, &m->rx.ready))
		mac82544_receive_store(m);
}

/* Resets the receiver. Keeps frames that are still on the line, because the
 * receiver checks a frame only at its end. */
void mac_rx_reset(struct mac *m)
{
	struct mac_rx *rx = &m->rx;

	eth_line_free(&rx->first);
	rx->fill = rx->off = rx->n = rx->head = rx->fetched = 0;
	rx->storing = rx->xoff = false;
	weft_timer_cancel(&rx->ready);
}
