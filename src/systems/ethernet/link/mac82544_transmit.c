/* SPDX-License-Identifier: Apache-2.0 */
/* Transmitter of the MAC, see mac82544.h. It fetches descriptors in order of
 * the ring and gathers their bytes up to EOP. Frames wait in the FIFO until the
 * line is free. The frame on the line stays in the FIFO until its gap has
 * ended. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "systems/ethernet/link/mac82544_internal.h"
#include "weft/trace.h"

/* ---- write-back ---- */

static void write_back(struct mac *m)
{
	struct mac_tx *tx = &m->tx;

	while (tx->due && !m->move[MAC_TX_BACK].busy) {
		struct mac_back b = tx->back.at[0];
		struct weft_slice s;

		tx->due--;
		memmove(tx->back.at, tx->back.at + 1, --tx->back.n * sizeof(b));
		if (!(b.upper[MAC_TXD_CMD - 8] & (MAC_CMD_RS | MAC_CMD_RPS)))
			continue;
		b.upper[MAC_TXD_STA - 8] |= MAC_STA_DD;
		s = weft_slice_word(m->comp->sim, sizeof(b.upper));
		memcpy(weft_slice_data(s), b.upper, sizeof(b.upper));
		mac_ask(m, MAC_TX_BACK, mac_desc(m, MAC_R_TDBAL, b.index) + 8,
			b.index, s);
	}
}

/* ---- the line ---- */

/* Removes the first frame of the FIFO after the frame has left the line. */
static void mac82544_transmit_retire(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	struct mac_tx_frame t = tx->fifo.at[0];

	memmove(tx->fifo.at, tx->fifo.at + 1, --tx->fifo.n * sizeof(t));
	tx->due += t.parts;
	m->reg[MAC_R_TDH] = mac_behind(m, MAC_R_TDLEN, t.index);
	if (m->ops->sent)
		m->ops->sent(m->own, t.index);
	write_back(m);
	if (m->reg[MAC_R_TDH] == m->reg[MAC_R_TDT])
		mac_cause(m, MAC_INT_TXQE);
}

static void mac82544_transmit_wake(struct mac *m, weft_time_t t)
{
	weft_timer_arm(m->comp, &m->tx.timer, m->cfg.tag + MAC_TAG_TX, t);
}

/* Sends the next frame and the gap behind it. Control frames leave before the
 * frames in the FIFO. */
static void start(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	weft_time_t now = weft_now(m->comp);
	weft_time_t gap = ((m->reg[MAC_R_TIPG] & 0x3ff) + 4) * ETH_BYTE_FS;
	struct weft_frame *f;

	if (tx->n_ctl) {
		f = tx->ctl[0];
		memmove(tx->ctl, tx->ctl + 1, --tx->n_ctl * sizeof(f));
		tx->ctl_on_line = true;
	} else {
		f = tx->fifo.at[0].f;
		tx->fifo.at[0].f = NULL;
		tx->on_line = true;
		m->stats.tx_bytes += f->payload.len;
		mac_tally(m, MAC_R_GPTC, &m->stats.tx_frames);
	}
	tx->free = now + eth_frame_time(f) + gap;
	weft_port_send(m->port, f, now);
	mac82544_transmit_wake(m, tx->free);
}

void mac_tx_next(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	weft_time_t now = weft_now(m->comp), at = tx->free;

	while (tx->fifo.n && !tx->on_line && !tx->fifo.at[0].f)
		mac82544_transmit_retire(m); /* drop a malformed frame,
						which is never sent */
	if (!m->port->peer)
		return; /* no frame leaves without a cable: STATUS.LU is 0 */
	if (tx->on_line || tx->ctl_on_line || (!tx->n_ctl && !tx->fifo.n))
		return;
	if (!tx->n_ctl && at < tx->fifo.at[0].ready)
		at = tx->fifo.at[0].ready;
	if (!tx->n_ctl && at < tx->pause)
		at = tx->pause;
	if (at > now)
		mac82544_transmit_wake(m, at);
	else
		start(m);
}

void mac_tx_event(struct mac *m)
{
	struct mac_tx *tx = &m->tx;

	if (!weft_timer_due(m->comp, &tx->timer))
		return;
	if (weft_now(m->comp) >= tx->free) {
		if (tx->on_line) {
			tx->on_line = false;
			mac82544_transmit_retire(m);
		}
		tx->ctl_on_line = false;
	} else if (tx->on_line || tx->ctl_on_line) {
		mac82544_transmit_wake(m, tx->free);
	}
	mac_tx_next(m);
	mac_tx_kick(m);
}

void mac_tx_control(struct mac *m, struct weft_frame *f)
{
	struct mac_tx *tx = &m->tx;

	if (tx->n_ctl == MAC_CTL_MAX) {
		weft_frame_free(f);
		return;
	}
	tx->ctl[tx->n_ctl++] = f;
	mac_tx_next(m);
}

/* ---- descriptors ---- */

static void drop_parts(struct mac_tx *tx)
{
	while (tx->n_parts)
		weft_slice_drop(&tx->part[--tx->n_parts]);
	tx->bytes = tx->used = 0;
	tx->bad = false;
}

/* Builds the frame from its parts. Without IFCS the last four bytes are the
 * FCS, and the frame is not padded. */
static struct weft_frame *mac82544_transmit_build(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	bool fcs = tx->desc[MAC_TXD_CMD] & MAC_CMD_IFCS;
	struct weft_frame *f;

	if (tx->bad || tx->bytes < (fcs ? ETH_HEAD : ETH_FRAME_MIN + ETH_FCS))
		return NULL;
	if (tx->n_parts == 1 && tx->bytes >= ETH_FRAME_MIN) {
		f = eth_frame_slice(m->comp->sim, weft_slice_ref(tx->part[0]));
	} else {
		uint8_t *to;

		f = eth_frame_new(m->comp->sim, tx->bytes);
		to = eth_frame_data(f);
		for (uint32_t i = 0; i < tx->n_parts; to += tx->part[i++].len)
			memcpy(to, weft_slice_data(tx->part[i]),
			       tx->part[i].len);
	}
	if (!fcs)
		eth_frame_given_fcs(f);
	return f;
}

/* Completes the fetch of a descriptor's bytes. The last descriptor of a frame
 * also puts the frame into the FIFO. */
static void part_done(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	struct mac_tx_frame t;

	tx->fetching = false;
	if (tx->desc[MAC_TXD_CMD] & MAC_CMD_EOP) {
		t = (struct mac_tx_frame){
			.f = mac82544_transmit_build(m),
			.ready = weft_now(m->comp) + m->cfg.start,
			.parts = tx->used,
			.index = tx->back.at[tx->back.n - 1].index,
		};
		m->stats.bad_desc += !t.f;
		if (t.f && tx->trace) {
			t.f->trace_id = tx->trace;
			weft_mark(m->comp, tx->trace, "MAC: start", t.ready);
		}
		tx->trace = 0;
		drop_parts(tx);
		vec_push(&tx->fifo, t);
		mac_tx_next(m);
	}
	mac_tx_kick(m);
}

static void got_desc(struct mac *m, const uint8_t *d)
{
	struct mac_tx *tx = &m->tx;
	struct mac_back b = { .index = tx->next };
	uint32_t len = (uint32_t)get_le(d + MAC_TXD_LEN, 2);

	memcpy(tx->desc, d, MAC_DESC);
	memcpy(b.upper, d + 8, sizeof(b.upper));
	vec_push(&tx->back, b);
	tx->used++;
	tx->next = mac_behind(m, MAC_R_TDLEN, tx->next);
	tx->bad = tx->bad || d[MAC_TXD_CMD] & MAC_CMD_DEXT ||
		  tx->n_parts == MAC_PARTS_MAX ||
		  tx->bytes + len > m->cfg.frame_max + ETH_FCS;
	if (tx->bad || !len) {
		part_done(m);
		return;
	}
	tx->pending = true;
	tx->ask = WEFT_NEVER;
}

static void ask_data(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	weft_time_t now = weft_now(m->comp);

	/* wait until the FIFO has room for the current frame */
	if (tx->used <= 1 && tx->fifo.n > m->cfg.ahead)
		return;
	if (!tx->pending || m->move[MAC_TX_DATA].busy)
		return;
	if (tx->ask == WEFT_NEVER)
		tx->ask = now + m->cfg.turn;
	if (now < tx->ask) {
		mac82544_transmit_wake(m, tx->ask);
		return;
	}
	tx->pending = false;
	mac_ask(m, MAC_TX_DATA, get_le(tx->desc, 8),
		tx->back.at[tx->back.n - 1].index,
		weft_slice_word(m->comp->sim,
				(uint32_t)get_le(tx->desc + MAC_TXD_LEN, 2)));
}

void mac_tx_kick(struct mac *m)
{
	struct mac_tx *tx = &m->tx;
	uint32_t ring = mac_ring(m, MAC_R_TDLEN);

	ask_data(m);
	if (!(m->reg[MAC_R_TCTL] & MAC_TCTL_EN) || tx->fetching ||
	    m->move[MAC_TX_DESC].busy || m->move[MAC_TX_DATA].busy ||
	    (!tx->used && !m->cfg.desc_ahead && tx->fifo.n > m->cfg.ahead) ||
	    tx->next >= ring || m->reg[MAC_R_TDT] >= ring ||
	    tx->next == m->reg[MAC_R_TDT])
		return;
	tx->fetching = true;
	mac_ask(m, MAC_TX_DESC, mac_desc(m, MAC_R_TDBAL, tx->next), tx->next,
		weft_slice_word(m->comp->sim, MAC_DESC));
}

void mac_trace(struct mac *m, uint64_t trace_id)
{
	m->tx.trace = trace_id;
}

void mac_tx_moved(struct mac *m, enum mac_kind kind, struct weft_slice data)
{
	struct mac_tx *tx = &m->tx;

	switch (kind) {
	case MAC_TX_DESC:
		got_desc(m, weft_slice_data(data));
		break;
	case MAC_TX_DATA:
		tx->bytes += data.len;
		tx->part[tx->n_parts++] = weft_slice_ref(data);
		part_done(m);
		break;
	default:
		mac_cause(m, MAC_INT_TXDW);
		write_back(m);
	}
}

/* Drops queued frames. The frame on the line continues. */
void mac_tx_reset(struct mac *m)
{
	struct mac_tx *tx = &m->tx;

	drop_parts(tx);
	vec_foreach (&tx->fifo, struct mac_tx_frame, t) {
		if (t->f)
			weft_frame_free(t->f);
	}
	while (tx->n_ctl)
		weft_frame_free(tx->ctl[--tx->n_ctl]);
	vec_clear(&tx->fifo);
	vec_clear(&tx->back);
	tx->due = tx->next = 0;
	tx->fetching = tx->pending = tx->on_line = tx->ctl_on_line = false;
	tx->pause = 0;
	weft_timer_cancel(&tx->timer);
}
