/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of eth.nic: its rings and buffers, see eth.h. Registers and
 * descriptors are in systems/ethernet/nic/regs_map.h. */
#include "systems/ethernet/lib/eth.h"

#include <errno.h>
#include <string.h>

#include "systems/ethernet/nic/regs_map.h"

enum { HEAD = 14, BUF = 2048, BUF_JUMBO = 16384 };

struct ring {
	volatile uint8_t *desc;
	uint8_t *buf;
	weft_phys_t desc_phys, buf_phys;
	/* n: number of descriptors; size: bytes of each buffer */
	uint32_t n, size;
};

struct eth_dev {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io io;
	uint8_t addr[ETH_STATION];
	struct ring tx, rx;
	/* Transmit side: numbers of frames put into descriptors, posted to the
	 * device, and cleaned after sending, since the start. clean <= posted
	 * <= put. */
	uint32_t put, posted, clean;
	uint32_t rx_next, rx_tail;
};

static void eth_store(struct eth_dev *e, uint32_t reg, uint32_t val)
{
	weft_io_store32(e->h, &e->io, reg, val);
}

static uint32_t eth_load(struct eth_dev *e, uint32_t reg)
{
	return weft_io_load32(e->h, &e->io, reg);
}

static volatile uint8_t *desc(const struct ring *r, uint32_t i)
{
	return r->desc + (size_t)(i % r->n) * MAC_DESC;
}

static void put_le(volatile uint8_t *p, uint64_t v, uint32_t n)
{
	for (; n; n--, v >>= 8)
		*p++ = (uint8_t)v;
}

/* ---- opening ---- */

static int ring_open(struct eth_dev *e, struct ring *r, uint32_t n,
		     uint32_t mtu)
{
	r->n = n;
	r->size = HEAD + mtu > BUF ? BUF_JUMBO : BUF;
	r->desc =
		weft_mem_alloc(e->h, (size_t)n * MAC_DESC, 4096, &r->desc_phys);
	r->buf = weft_mem_alloc(e->h, (size_t)n * r->size, 4096, &r->buf_phys);
	if (!r->desc || !r->buf)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		put_le(desc(r, i), r->buf_phys + (uint64_t)i * r->size, 8);
	return 0;
}

static void eth_free(struct eth_dev *e)
{
	struct ring *rings[] = { &e->tx, &e->rx };

	for (uint32_t i = 0; i < 2; i++) {
		if (rings[i]->desc)
			weft_mem_free(e->h, (void *)rings[i]->desc);
		if (rings[i]->buf)
			weft_mem_free(e->h, rings[i]->buf);
	}
	weft_host_free(e->h, e);
}

static void start_ring(struct eth_dev *e, const struct ring *r, uint32_t low,
		       uint32_t high, uint32_t len)
{
	eth_store(e, low, (uint32_t)r->desc_phys);
	eth_store(e, high, (uint32_t)(r->desc_phys >> 32));
	eth_store(e, len, r->n * MAC_DESC);
}

/* Bits of RCTL for long frames and buffers of 16 KB. */
#define RCTL_JUMBO (MAC_RCTL_LPE | MAC_RCTL_BSEX | 1u << 16)

static void eth_start(struct eth_dev *e)
{
	uint32_t low = eth_load(e, MAC_RAL), high = eth_load(e, MAC_RAH);

	for (uint32_t i = 0; i < ETH_STATION; i++)
		e->addr[i] =
			(uint8_t)(i < 4 ? low >> 8 * i : high >> 8 * (i - 4));
	start_ring(e, &e->tx, MAC_TDBAL, MAC_TDBAH, MAC_TDLEN);
	start_ring(e, &e->rx, MAC_RDBAL, MAC_RDBAH, MAC_RDLEN);
	eth_store(e, MAC_TCTL, MAC_TCTL_EN | MAC_TCTL_PSP);
	eth_store(e, MAC_RCTL,
		  MAC_RCTL_EN | MAC_RCTL_BAM | MAC_RCTL_SECRC |
			  (e->rx.size == BUF ? 0 : RCTL_JUMBO));
	e->rx_tail = e->rx.n - 1;
	eth_store(e, MAC_RDT, e->rx_tail);
}

int eth_open(struct weft_host *h, const struct eth_attr *a,
	     struct eth_dev **e_p)
{
	uint32_t mtu = a->mtu ? a->mtu : ETH_MTU;
	struct eth_dev *e;
	int ret;

	if (!a->tx || !a->rx || a->tx % 8 || a->rx % 8 || mtu > ETH_MTU_MAX)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->h = h;
	e->dev = weft_dev_open(h, 0);
	ret = !e->dev || weft_cfg_load(h, e->dev, 0, 4) !=
				      (ETHNIC_DEVICE << 16 | ETHNIC_VENDOR)
		      ? -ENODEV
		      : 0;
	if (!ret) {
		weft_cfg_store(h, e->dev, 4, 2, 6); /* memory, bus master */
		if (!weft_io_map(h, e->dev, ETHNIC_BAR, 0, ETHNIC_REG_BYTES,
				 WEFT_UC, &e->io))
			ret = -ENODEV;
	}
	ret = ret ? ret : ring_open(e, &e->tx, a->tx, mtu);
	ret = ret ? ret : ring_open(e, &e->rx, a->rx, mtu);
	if (ret) {
		eth_free(e);
		return ret;
	}
	eth_start(e);
	*e_p = e;
	return 0;
}

void eth_close(struct eth_dev *e)
{
	eth_store(e, MAC_CTRL, MAC_CTRL_RST);
	/* loads a register, because the load returns only after the reset */
	eth_load(e, MAC_STATUS);
	eth_free(e);
}

struct weft_dev *eth_device(const struct eth_dev *e)
{
	return e->dev;
}

const uint8_t *eth_address(const struct eth_dev *e)
{
	return e->addr;
}

/* ---- sending ---- */

uint8_t *eth_tx_buf(struct eth_dev *e)
{
	/* One descriptor stays unused, because a full ring would otherwise
	 * look empty. */
	if (e->put - e->clean >= e->tx.n - 1)
		eth_tx_clean(e);
	if (e->put - e->clean >= e->tx.n - 1)
		return NULL;
	return e->tx.buf + (size_t)(e->put % e->tx.n) * e->tx.size;
}

void eth_tx_put(struct eth_dev *e, uint32_t len)
{
	volatile uint8_t *d = desc(&e->tx, e->put++);

	put_le(d + MAC_TXD_LEN, len, 2);
	d[MAC_TXD_CMD] = MAC_CMD_EOP | MAC_CMD_IFCS | MAC_CMD_RS;
	d[MAC_TXD_STA] = 0;
}

void eth_tx_post(struct eth_dev *e, uint32_t n)
{
	n = n < eth_tx_kept(e) ? n : eth_tx_kept(e);
	if (!n)
		return;
	e->posted += n;
	eth_store(e, MAC_TDT, e->posted % e->tx.n);
}

uint32_t eth_tx_clean(struct eth_dev *e)
{
	while (e->clean != e->posted &&
	       desc(&e->tx, e->clean)[MAC_TXD_STA] & MAC_STA_DD)
		e->clean++;
	return e->posted - e->clean;
}

uint32_t eth_tx_kept(const struct eth_dev *e)
{
	return e->put - e->posted;
}

/* ---- receiving ---- */

const uint8_t *eth_rx(struct eth_dev *e, uint32_t *len_p)
{
	volatile uint8_t *d = desc(&e->rx, e->rx_next);

	if (!(d[MAC_RXD_STATUS] & MAC_RX_DD))
		return NULL;
	*len_p = d[MAC_RXD_LEN] | (uint32_t)d[MAC_RXD_LEN + 1] << 8;
	return e->rx.buf + (size_t)e->rx_next * e->rx.size;
}

void eth_rx_return(struct eth_dev *e)
{
	desc(&e->rx, e->rx_next)[MAC_RXD_STATUS] = 0;
	e->rx_next = (e->rx_next + 1) % e->rx.n;
	e->rx_tail = (e->rx_tail + 1) % e->rx.n;
	/* store RDT only for every eighth descriptor, to avoid a store for each
	 * frame */
	if (e->rx_tail % 8 == 0)
		eth_store(e, MAC_RDT, e->rx_tail);
}

uint32_t eth_causes(struct eth_dev *e)
{
	return eth_load(e, MAC_ICR);
}

void eth_enable(struct eth_dev *e, uint32_t causes, bool on)
{
	eth_store(e, on ? MAC_IMS : MAC_IMC, causes);
}
