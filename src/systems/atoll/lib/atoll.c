/* SPDX-License-Identifier: Apache-2.0 */
/* User library of ATOLL, see weft/atoll.h. systems/atoll/nic/regs_map.h has the
 * registers. */
#include "weft/atoll.h"

#include <errno.h>
#include <string.h>

#include "systems/atoll/nic/regs_map.h"

struct atoll_port {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io io, mgmt;
	struct atoll_attr a;
	uint32_t node;
	/* DMA: */
	volatile uint64_t *sdq, *rdq;
	uint8_t *sdr, *rdr;
	uint32_t sdq_wp, rdq_rp;
	uint32_t rdr_size;	 /* bytes */
	uint64_t sdr_wp, rdr_rp; /* positions in bytes, not wrapped */
};

static void atoll_put(struct atoll_port *p, uint32_t off, uint64_t val)
{
	weft_io_store64(p->h, &p->io, off, val);
}

static uint64_t atoll_get(struct atoll_port *p, uint32_t off)
{
	return weft_io_load64(p->h, &p->io, off);
}

/* ---- opening ---- */

static void *atoll_region(struct atoll_port *p, size_t bytes, uint32_t base_reg)
{
	weft_phys_t phys = 0;
	void *m = weft_mem_alloc(p->h, bytes, 4096, &phys);

	if (m)
		atoll_put(p, base_reg, phys);
	return m;
}

static int open_dma(struct atoll_port *p)
{
	size_t q = (size_t)p->a.entries * ATOLL_DESC;

	p->sdq = atoll_region(p, q, ATOLL_SDQ_BASE);
	p->sdr = atoll_region(p, p->a.bytes, ATOLL_SDR_BASE);
	p->rdq = atoll_region(p, q, ATOLL_RDQ_BASE);
	/* The region has room for one flit more than the largest message,
	 * because the host port accepts even a short flit only if 64 bytes are
	 * free. */
	p->rdr_size = p->a.bytes + ATOLL_FLIT;
	p->rdr = atoll_region(p, p->rdr_size, ATOLL_RDR_BASE);
	if (!p->sdq || !p->sdr || !p->rdq || !p->rdr)
		return -ENOMEM;
	atoll_put(p, ATOLL_SDQ_SIZE, p->a.entries);
	atoll_put(p, ATOLL_RDQ_SIZE, p->a.entries);
	atoll_put(p, ATOLL_RDR_SIZE, p->rdr_size);
	atoll_put(p, ATOLL_CTRL, ATOLL_CTRL_DMA);
	return 0;
}

static int atoll_map(struct atoll_port *p)
{
	uint32_t id;

	p->dev = weft_dev_open(p->h, 0);
	if (!p->dev)
		return -ENODEV;
	id = weft_cfg_load(p->h, p->dev, 0, 4);
	if (id != (ATOLL_DEVICE_ID << 16 | ATOLL_VENDOR_ID))
		return -ENODEV;
	if (!weft_io_map(p->h, p->dev, ATOLL_BAR_PORTS,
			 p->a.port * (uint64_t)ATOLL_PAGE, ATOLL_PAGE, WEFT_UC,
			 &p->io) ||
	    !weft_io_map(p->h, p->dev, ATOLL_BAR_MGMT, 0, ATOLL_PAGE, WEFT_UC,
			 &p->mgmt))
		return -ENODEV;
	weft_cfg_store(p->h, p->dev, 4, 2, 6);
	return 0;
}

int atoll_open(struct weft_host *h, const struct atoll_attr *a,
	       struct atoll_port **p_p)
{
	struct atoll_port *p = weft_host_calloc(h, 1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	p->h = h;
	p->a = *a;
	p->a.entries = a->entries ? a->entries : 64;
	p->a.bytes = a->bytes ? a->bytes : 65536;
	ret = a->port < ATOLL_PORTS && p->a.entries > 1 && p->a.bytes % 64 == 0
		      ? atoll_map(p)
		      : -EINVAL;
	if (!ret)
		p->node = (uint32_t)weft_io_load64(h, &p->mgmt, ATOLL_M_NODE);
	if (!ret && a->mode == ATOLL_DMA)
		ret = open_dma(p);
	if (ret)
		atoll_close(p);
	else
		*p_p = p;
	return ret;
}

void atoll_close(struct atoll_port *p)
{
	const volatile void *regions[] = { p->sdq, p->sdr, p->rdq, p->rdr };

	if (p->rdr) {
		/* Stop the host port from accepting packets. Wait until its
		 * stores to main memory have ended, because they write to the
		 * regions that are freed below. */
		atoll_put(p, ATOLL_RDQ_SIZE, 0);
		while (atoll_get(p, ATOLL_CTRL) & ATOLL_CTRL_STORES)
			;
	}
	for (uint32_t i = 0; i < 4; i++)
		if (regions[i])
			weft_mem_free(p->h, (void *)regions[i]);
	weft_host_free(p->h, p);
}

uint32_t atoll_node(const struct atoll_port *p)
{
	return p->node;
}

/* ---- sending ---- */

static void atoll_chars(uint8_t *to, const uint8_t *route, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = atoll_char(route[i] & 7);
}

static int send_pio(struct atoll_port *p, const uint8_t *route, uint32_t n,
		    uint32_t tag, const void *data, uint32_t bytes)
{
	const uint64_t *w = data;
	uint8_t c[ATOLL_ROUTE_MAX];

	if (!bytes || bytes > ATOLL_PIO_MAX)
		return -EINVAL;
	atoll_chars(c, route, n);
	for (uint32_t i = 0, k; i < n; i += k) {
		uint64_t some = 0;

		k = n - i < ATOLL_PIO_CHARS ? n - i : ATOLL_PIO_CHARS;
		for (uint32_t j = 0; j < k; j++)
			some |= (uint64_t)c[i + j] << 8 * j;
		atoll_put(p, ATOLL_PIO_ROUTE, some | (uint64_t)k << 56);
	}
	atoll_put(p, ATOLL_PIO_TAG, tag & 0xffff);
	for (uint32_t i = 0; i < bytes / 8; i++)
		atoll_put(p,
			  i + 1 == bytes / 8 ? ATOLL_PIO_LAST : ATOLL_PIO_DATA,
			  w[i]);
	return 0;
}

/* Sends the message of descriptor w. Returns once the NIC has completed the
 * descriptor, so that the send data region is free for the next message. */
static void send_desc(struct atoll_port *p, const uint64_t *w, const void *data,
		      uint32_t bytes)
{
	volatile uint64_t *d = p->sdq + (uint64_t)p->sdq_wp * 8;
	uint64_t old = w[7];

	if (bytes)
		weft_host_copy(p->h, p->sdr, data, bytes);
	for (uint32_t i = 0; i < 8; i++)
		d[i] = w[i];
	p->sdq_wp = p->sdq_wp + 1 == p->a.entries ? 0 : p->sdq_wp + 1;
	atoll_put(p, ATOLL_SDQ_WP, p->sdq_wp);
	while (d[7] == old)
		weft_host_poll64(p->h, &d[7], old, WEFT_NEVER);
}

int atoll_send(struct atoll_port *p, const uint8_t *route, uint32_t n,
	       uint32_t tag, const void *data, uint32_t bytes)
{
	uint64_t w[8] = { ATOLL_SD_W0(bytes, tag, n) };

	if (!n || n > ATOLL_ROUTE_MAX || bytes % 8)
		return -EINVAL;
	if (p->a.mode == ATOLL_PIO)
		return send_pio(p, route, n, tag, data, bytes);
	if (bytes > p->a.bytes)
		return -EINVAL;
	atoll_chars((uint8_t *)&w[2], route, n);
	send_desc(p, w, data, bytes);
	return 0;
}

int atoll_again(struct atoll_port *p, const struct atoll_msg *m,
		const void *data)
{
	uint64_t w[8] = { ATOLL_SD_W0(m->bytes, m->tag, m->n_route) };

	if (p->a.mode != ATOLL_DMA || !m->n_route || m->bytes > p->a.bytes)
		return -EINVAL;
	atoll_chars((uint8_t *)&w[2], m->route, m->n_route);
	w[5] = m->head;
	w[7] = ATOLL_D_AGAIN;
	send_desc(p, w, data, m->bytes);
	return 0;
}

/* ---- receiving ---- */

static void msg_head(struct atoll_msg *m, uint64_t head)
{
	*m = (struct atoll_msg){
		.node = ATOLL_HEAD_SRC(head) / ATOLL_PORTS,
		.port = ATOLL_HEAD_SRC(head) % ATOLL_PORTS,
		.tag = ATOLL_HEAD_TAG(head),
		.bytes = ATOLL_HEAD_BYTES(head),
		.head = head,
	};
}

/* Receives a packet by PIO: reads the status register and the header word, then
 * each payload word as it arrives. Returns false if no packet has arrived. */
static bool poll_pio(struct atoll_port *p, struct atoll_msg *m, void *data,
		     uint32_t max)
{
	uint64_t s = atoll_get(p, ATOLL_PIO_STATUS), w;
	uint32_t there;

	if (!(s & ATOLL_STATUS_PACKET))
		return false;
	msg_head(m, atoll_get(p, ATOLL_PIO_HEAD));
	there = ATOLL_STATUS_WORDS(s);
	for (uint32_t i = 0; i < m->bytes; i += 8) {
		while (!there) {
			s = atoll_get(p, ATOLL_PIO_STATUS);
			there = ATOLL_STATUS_WORDS(s);
			m->bytes = ATOLL_STATUS_BYTES(s);
			/* the packet is shorter than its header said */
			if (i >= m->bytes) {
				atoll_get(p, ATOLL_PIO_RDATA);
				return true;
			}
		}
		w = atoll_get(p, ATOLL_PIO_RDATA);
		there--;
		if (i + 8 <= max)
			memcpy((uint8_t *)data + i, &w, 8);
	}
	return true;
}

static bool poll_dma(struct atoll_port *p, struct atoll_msg *m, void *data,
		     uint32_t max)
{
	volatile uint64_t *d = p->rdq + (uint64_t)p->rdq_rp * 8;
	const uint8_t *route = (const uint8_t *)&d[2];
	uint32_t room = p->rdr_size - (uint32_t)d[1], bytes, k;

	if (!(d[7] & ATOLL_D_VALID))
		return false;
	msg_head(m, d[0]);
	m->retrieved = d[7] & ATOLL_D_RETRIEVED;
	m->n_route = (uint32_t)(d[6] >> 48 & 0xff);
	for (uint32_t i = 0; i < m->n_route && i < sizeof(m->route); i++)
		m->route[i] = route[i] & 7;
	/* The payload may wrap to the start of the region. */
	bytes = m->bytes < max ? m->bytes : max;
	k = room < bytes ? room : bytes;
	if (k)
		weft_host_copy(p->h, data, p->rdr + d[1], k);
	if (bytes > k)
		weft_host_copy(p->h, (uint8_t *)data + k, p->rdr, bytes - k);
	d[7] = 0;
	p->rdq_rp = p->rdq_rp + 1 == p->a.entries ? 0 : p->rdq_rp + 1;
	p->rdr_rp += m->bytes;
	atoll_put(p, ATOLL_RDR_RP, p->rdr_rp);
	atoll_put(p, ATOLL_RDQ_RP, p->rdq_rp);
	return true;
}

bool atoll_poll(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max)
{
	return p->a.mode == ATOLL_DMA ? poll_dma(p, m, data, max)
				      : poll_pio(p, m, data, max);
}

bool atoll_recv(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max, weft_time_t deadline)
{
	for (;;) {
		if (atoll_poll(p, m, data, max))
			return true;
		if (p->a.mode == ATOLL_DMA &&
		    !weft_host_poll64(p->h, p->rdq + p->rdq_rp * 8ULL + 7, 0,
				      deadline))
			return false;
		if (p->a.mode == ATOLL_PIO && deadline != WEFT_NEVER &&
		    weft_host_now(p->h) >= deadline)
			return false;
	}
}

/* ---- management ---- */

void atoll_manage(struct atoll_port *p, uint32_t counter)
{
	weft_io_store64(p->h, &p->mgmt, ATOLL_M_HOST_PORT, p->a.port);
	if (counter)
		weft_io_store64(p->h, &p->mgmt, ATOLL_M_DL_COUNTER, counter);
}

bool atoll_irq_wait(struct atoll_port *p, weft_time_t deadline)
{
	bool ok = weft_host_irq_wait(p->h, p->dev, deadline);

	if (ok)
		weft_io_store64(p->h, &p->mgmt, ATOLL_M_IRQ,
				weft_io_load64(p->h, &p->mgmt, ATOLL_M_IRQ));
	return ok;
}

bool atoll_deadlock(struct atoll_port *p, struct atoll_deadlock *d)
{
	uint64_t ports = weft_io_load64(p->h, &p->mgmt, ATOLL_M_DL_PORTS);

	for (uint32_t o = 0; o < ATOLL_XPORTS; o++) {
		uint64_t s;

		if (!(ports >> o & 1))
			continue;
		s = weft_io_load64(p->h, &p->mgmt, ATOLL_M_DL_STATE + 8 * o);
		if (s & ATOLL_DL_COND) {
			*d = (struct atoll_deadlock){ o, ATOLL_DL_GRANTED(s),
						      ATOLL_DL_WAITS(s) };
			return true;
		}
		weft_io_store64(p->h, &p->mgmt, ATOLL_M_DL_PORTS, 1u << o);
	}
	return false;
}

bool atoll_retrieve(struct atoll_port *p, const struct atoll_deadlock *d)
{
	weft_io_store64(p->h, &p->mgmt, ATOLL_M_REDIRECT, d->waits);
	weft_io_store64(p->h, &p->mgmt, ATOLL_M_DL_PORTS, 1u << d->out);
	return weft_io_load64(p->h, &p->mgmt, ATOLL_M_REDIRECT);
}
