/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, interrupts and data movements of the 82544's MAC, see mac82544.h.
 *
 * Source: hvia.md 3.9, 7.1, 7.2. Register offsets and bits are those of the
 * 82544's manual. Two choices are our own. RS acts like RPS: the MAC writes DD
 * when the frame has left the line, and moves TDH at that time. The delay RDTR
 * starts with the first frame, and later frames do not restart it. Not
 * modelled: multicast table, VLANs, checksum offload (DEXT), hash filters,
 * early transmit, EEPROM, PHY registers. */
#include "systems/ethernet/link/mac82544.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "systems/ethernet/link/mac82544_internal.h"

static const struct mac_reg {
	uint16_t off;
	uint8_t cell;
	uint32_t rw, reset;
	bool statistic;
} regs[] = {
	/* clang-format off */
	{ MAC_CTRL,    MAC_R_CTRL,    0xffffffff, 0 },
	{ MAC_ITR,     MAC_R_ITR,     0xffff,     0 },
	{ MAC_RCTL,    MAC_R_RCTL,    0x0fffffff, 0 },
	{ MAC_TCTL,    MAC_R_TCTL,    0x03fffffe, 0 },
	{ MAC_TIPG,    MAC_R_TIPG,    0x3fffffff, 8 },
	{ MAC_FCTTV,   MAC_R_FCTTV,   0xffff,     0 },
	{ MAC_FCRTL,   MAC_R_FCRTL,   0x8000fff8, 0 },
	{ MAC_FCRTH,   MAC_R_FCRTH,   0x8000fff8, 0 },
	{ MAC_RDBAL,   MAC_R_RDBAL,   0xfffffff0, 0 },
	{ MAC_RDBAH,   MAC_R_RDBAH,   0xffffffff, 0 },
	{ MAC_RDLEN,   MAC_R_RDLEN,   0x000fff80, 0 },
	{ MAC_RDH,     MAC_R_RDH,     0xffff,     0 },
	{ MAC_RDT,     MAC_R_RDT,     0xffff,     0 },
	{ MAC_RDTR,    MAC_R_RDTR,    0xffff,     0 },
	{ MAC_TDBAL,   MAC_R_TDBAL,   0xfffffff0, 0 },
	{ MAC_TDBAH,   MAC_R_TDBAH,   0xffffffff, 0 },
	{ MAC_TDLEN,   MAC_R_TDLEN,   0x000fff80, 0 },
	{ MAC_TDH,     MAC_R_TDH,     0xffff,     0 },
	{ MAC_TDT,     MAC_R_TDT,     0xffff,     0 },
	{ MAC_CRCERRS, MAC_R_CRCERRS, 0, 0, true },
	{ MAC_RXERRC,  MAC_R_RXERRC,  0, 0, true },
	{ MAC_MPC,     MAC_R_MPC,     0, 0, true },
	{ MAC_XONRXC,  MAC_R_XONRXC,  0, 0, true },
	{ MAC_XONTXC,  MAC_R_XONTXC,  0, 0, true },
	{ MAC_XOFFRXC, MAC_R_XOFFRXC, 0, 0, true },
	{ MAC_XOFFTXC, MAC_R_XOFFTXC, 0, 0, true },
	{ MAC_GPRC,    MAC_R_GPRC,    0, 0, true },
	{ MAC_GPTC,    MAC_R_GPTC,    0, 0, true },
	{ MAC_RUC,     MAC_R_RUC,     0, 0, true },
	{ MAC_ROC,     MAC_R_ROC,     0, 0, true },
	/* clang-format on */
};

static const struct mac_reg *reg_at(uint32_t off)
{
	for (uint32_t i = 0; i < sizeof(regs) / sizeof(*regs); i++)
		if (regs[i].off == off)
			return &regs[i];
	return NULL;
}

/* ---- interrupts ---- */

static void int_update(struct mac *m)
{
	bool level = m->icr & m->ims;
	weft_time_t now = weft_now(m->comp);

	if (level == m->level)
		return;
	if (level && now < m->held) { /* ITR delays this interrupt */
		weft_timer_arm(m->comp, &m->timer, m->cfg.tag + MAC_TAG_INT,
			       m->held);
		return;
	}
	m->level = level;
	if (level)
		m->held = now + m->reg[MAC_R_ITR] * (256 * WEFT_NS);
	if (m->ops->irq)
		m->ops->irq(m->own, level);
}

void mac_cause(struct mac *m, uint32_t bits)
{
	m->icr |= bits;
	int_update(m);
}

void mac_rx_told(struct mac *m)
{
	weft_time_t wait =
		m->cfg.moderation + m->reg[MAC_R_RDTR] * (1024 * WEFT_NS);

	if (!wait) {
		mac_cause(m, MAC_INT_RXT0);
		return;
	}
	if (m->waiting)
		return;
	m->waiting = true;
	m->rxt0 = weft_now(m->comp) + wait;
	weft_timer_arm(m->comp, &m->timer, m->cfg.tag + MAC_TAG_INT, m->rxt0);
}

static void int_event(struct mac *m)
{
	if (!weft_timer_due(m->comp, &m->timer))
		return;
	if (m->waiting && m->rxt0 <= weft_now(m->comp)) {
		m->waiting = false;
		m->icr |= MAC_INT_RXT0;
	}
	int_update(m);
	if (m->waiting)
		weft_timer_arm(m->comp, &m->timer, m->cfg.tag + MAC_TAG_INT,
			       m->rxt0);
}

/* ---- registers ---- */

void mac_tally(struct mac *m, enum mac_cell reg, uint64_t *stat)
{
	if (m->reg[reg] != UINT32_MAX)
		m->reg[reg]++;
	(*stat)++;
}

/* Returns the address register at offset `off`, or NULL if there is none. */
static uint32_t *address_cell(struct mac *m, uint32_t off)
{
	uint32_t i = (off - MAC_RAL) / 8;

	if (off < MAC_RAL || i >= MAC_ADDRS || off % 4)
		return NULL;
	return off % 8 ? &m->rah[i] : &m->ral[i];
}

uint32_t mac_load(struct mac *m, uint32_t off)
{
	const struct mac_reg *r = reg_at(off);
	const uint32_t *address = address_cell(m, off);
	uint32_t v;

	if (r) {
		v = m->reg[r->cell];
		if (r->statistic) /* a load clears a statistic */
			m->reg[r->cell] = 0;
		return v;
	}
	if (address)
		return *address;
	switch (off) {
	case MAC_STATUS:
		return (m->port->peer ? MAC_STATUS_LU : 0) | 1; /* FD */
	case MAC_ICR:
		v = m->icr;
		m->icr = 0;
		int_update(m);
		return v;
	case MAC_IMS:
		return m->ims;
	default:
		return 0;
	}
}

static void store_cell(struct mac *m, const struct mac_reg *r, uint32_t val)
{
	if (r->cell == MAC_R_CTRL && val & MAC_CTRL_RST) {
		mac_reset(m);
		return;
	}
	m->reg[r->cell] = (m->reg[r->cell] & ~r->rw) | (val & r->rw);
	if (r->cell == MAC_R_TDH)
		m->tx.next = m->reg[MAC_R_TDH];
	if (r->cell == MAC_R_RDH) { /* drop descriptors that were fetched for
				       the old head */
		/* keep the descriptor whose bytes are being stored */
		m->rx.n = m->rx.storing;
		m->rx.fetched = m->reg[MAC_R_RDH];
		m->move[MAC_RX_DESC].stale = m->move[MAC_RX_DESC].busy;
	}
	mac_tx_kick(m);
	mac_rx_kick(m);
}

void mac_store(struct mac *m, uint32_t off, uint32_t val)
{
	const struct mac_reg *r = reg_at(off);
	uint32_t *address = address_cell(m, off);

	if (r) {
		store_cell(m, r, val);
		return;
	}
	if (address) {
		*address = off % 8 ? val & (MAC_RAH_AV | 0x3ffff) : val;
		return;
	}
	if (off == MAC_IMS)
		m->ims |= val;
	else if (off == MAC_IMC)
		m->ims &= ~val;
	else if (off == MAC_ICS)
		m->icr |= val;
	else if (off == MAC_ICR)
		m->icr &= ~val;
	int_update(m);
}

void mac_set_address(struct mac *m, uint32_t i, const uint8_t a[ETH_ADDR])
{
	m->ral[i] = a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 |
		    (uint32_t)a[3] << 24;
	m->rah[i] = a[4] | (uint32_t)a[5] << 8 | MAC_RAH_AV;
}

/* ---- movements, events, set-up ---- */

void mac_ask(struct mac *m, enum mac_kind kind, uint64_t addr, uint32_t index,
	     struct weft_slice data)
{
	struct mac_move *mv = &m->move[kind];

	assert(!mv->busy);
	*mv = (struct mac_move){ .kind = kind,
				 .addr = addr,
				 .bytes = data.len,
				 .index = index,
				 .data = data,
				 .busy = true };
	m->ops->move(m->own, mv);
}

/* Completes a movement. Ignores the data of a movement that began before a
 * reset, because its descriptor is no longer valid. */
void mac_moved(struct mac *m, enum mac_kind kind)
{
	struct mac_move *mv = &m->move[kind];
	struct weft_slice data = mv->data;
	bool stale = mv->stale;

	assert(mv->busy);
	*mv = (struct mac_move){ .kind = kind };
	if (!stale && kind <= MAC_TX_BACK)
		mac_tx_moved(m, kind, data);
	else if (!stale)
		mac_rx_moved(m, kind, data);
	weft_slice_drop(&data);
	mac_tx_kick(m);
	mac_rx_kick(m);
}

void mac_event(struct mac *m, uint32_t tag)
{
	static void (*const fn[MAC_TAGS])(struct mac *) = {
		[MAC_TAG_TX] = mac_tx_event,
		[MAC_TAG_RX_END] = mac_rx_end,
		[MAC_TAG_RX_READY] = mac_rx_ready,
		[MAC_TAG_INT] = int_event,
	};

	assert(tag >= m->cfg.tag && tag < m->cfg.tag + MAC_TAGS);
	fn[tag - m->cfg.tag](m);
}

void mac_reset(struct mac *m)
{
	uint32_t i;

	for (i = 0; i < MAC_KINDS; i++)
		m->move[i].stale = m->move[i].busy;
	mac_tx_reset(m);
	mac_rx_reset(m);
	for (i = 0; i < sizeof(regs) / sizeof(*regs); i++)
		m->reg[regs[i].cell] = regs[i].reset;
	m->icr = m->ims = 0;
	m->waiting = false;
	weft_timer_cancel(&m->timer);
	int_update(m);
}

void mac_abandon(struct mac *m)
{
	mac_tx_reset(m);
	mac_rx_reset(m);
}

struct mac *mac_new(struct weft_comp *c, struct weft_port *p,
		    const struct mac_cfg *cfg, const struct mac_ops *ops,
		    void *own)
{
	struct mac *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->comp = c;
	m->port = p;
	m->cfg = *cfg;
	m->ops = ops;
	m->own = own;
	mac_reset(m);
	return m;
}

void mac_free(struct mac *m)
{
	if (!m)
		return;
	mac_abandon(m);
	vec_free(&m->tx.fifo);
	vec_free(&m->tx.back);
	eth_line_free(&m->rx.line);
	for (uint32_t i = 0; i < MAC_KINDS; i++)
		weft_slice_drop(&m->move[i].data);
	free(m);
}

const struct mac_stats *mac_stats(const struct mac *m)
{
	return &m->stats;
}
