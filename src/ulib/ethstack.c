/* SPDX-License-Identifier: Apache-2.0 */
/* See ethstack.h.  All runs in one thread: work of the process can be
 * interrupted at any time, and goes on where it was afterwards. */
#include "ulib/ethstack.h"

#include <errno.h>
#include <string.h>

#include "nic/eth_regs.h"

enum { HEAD = 14, MIN_RX = 256, BYTES_FS = 8 };

struct stack {
	struct weft_host *h;
	const struct stack_proto *proto;
	struct stack_cost c;
	struct eth_dev *e;
	uint32_t me, peer, payload; /* most bytes of a frame */
	uint32_t tx_seq, rx_seq;    /* next byte */
	bool asleep, tx_irq;
	weft_time_t uncharged;
	/* what the process waits for */
	uint8_t *to;
	uint32_t want, got;
	int error;
	/* what came before it was asked for */
	uint8_t *early;
	uint32_t n_early, cap_early;
};

static weft_time_t copy_time(uint64_t rate, uint32_t n)
{
	return rate ? (weft_time_t)((unsigned __int128)n * BYTES_FS * WEFT_SEC /
				    rate)
		    : 0;
}

/* ---- frames ----------------------------------------------------------------
 */

static void head_put(struct stack *s, uint8_t *p, uint32_t len)
{
	uint32_t i;

	memset(p, 0, 12);
	p[0] = 0x02;
	for (i = 0; i < 4; i++)
		p[2 + i] = (uint8_t)(s->peer >> (24 - 8 * i));
	memcpy(p + 6, eth_address(s->e), ETH_STATION);
	p[12] = (uint8_t)(s->proto->type >> 8);
	p[13] = (uint8_t)s->proto->type;
	s->proto->put(p + HEAD, s->me, s->peer, s->tx_seq, len);
}

/* Gives the NIC what it may have; asks for an interrupt when more waits. */
static void post(struct stack *s)
{
	uint32_t out = eth_tx_clean(s->e), most = s->c.window;
	bool more;

	if (!most)
		eth_tx_post(s->e, UINT32_MAX);
	else if (out < most)
		eth_tx_post(s->e, most - out);
	more = eth_tx_kept(s->e);
	if (more != s->tx_irq)
		eth_enable(s->e, MAC_INT_TXDW, more);
	s->tx_irq = more;
}

/* Bytes that nobody has asked for yet. */
static void keep(struct stack *s, const uint8_t *p, uint32_t n)
{
	uint32_t cap = s->cap_early ? s->cap_early : 4096;
	uint8_t *m;

	while (cap < s->n_early + n)
		cap *= 2;
	if (cap != s->cap_early) {
		m = weft_host_calloc(s->h, cap, 1);
		if (!m) {
			s->error = -ENOMEM;
			return;
		}
		if (s->n_early)
			memcpy(m, s->early, s->n_early);
		weft_host_free(s->h, s->early);
		s->early = m;
		s->cap_early = cap;
	}
	memcpy(s->early + s->n_early, p, n);
	s->n_early += n;
}

static void deliver(struct stack *s, const uint8_t *p, uint32_t n)
{
	uint32_t k = s->want - s->got < n ? s->want - s->got : n;

	if (k)
		memcpy(s->to + s->got, p, k);
	s->got += k;
	if (n > k)
		keep(s, p + k, n - k);
}

static void frame_in(struct stack *s, const uint8_t *p, uint32_t len)
{
	uint32_t seq, n;

	if (len < HEAD + s->proto->head ||
	    (p[12] << 8 | p[13]) != s->proto->type ||
	    !s->proto->get(p + HEAD, len - HEAD, &seq, &n))
		return;
	weft_host_cpu(s->h, s->c.receive + copy_time(s->c.copy_rx, n));
	if (seq != s->rx_seq)
		s->error = -EIO;
	s->rx_seq = seq + n;
	deliver(s, p + HEAD + s->proto->head, n);
}

/* ---- interrupts -------------------------------------------------------------
 */

/* What the handler costs contains its accesses to the NIC. */
static void handler(struct stack *s)
{
	weft_time_t t = weft_host_now(s->h), cost = 0, spent;
	uint32_t causes = eth_causes(s->e);

	if (causes & MAC_INT_RXT0)
		cost += s->c.interrupt;
	if (causes & MAC_INT_TXDW && s->tx_irq)
		cost += s->c.restart;
	spent = weft_host_now(s->h) - t;
	if (cost > spent)
		weft_host_cpu(s->h, cost - spent);
	if (s->asleep)
		s->uncharged += weft_host_now(s->h) - t;
}

static void interrupted(struct stack *s)
{
	const uint8_t *p;
	uint32_t len;

	handler(s);
	post(s);
	while ((p = eth_rx(s->e, &len))) {
		frame_in(s, p, len);
		eth_rx_return(s->e);
	}
}

/* The process works for so long. */
static void work(struct stack *s, weft_time_t t)
{
	weft_time_t end = weft_host_now(s->h) + t, now;

	while (weft_host_isr_spin(s->h, eth_device(s->e), end)) {
		now = weft_host_now(s->h);
		interrupted(s);
		end += weft_host_now(s->h) - now;
	}
}

static void sleep_once(struct stack *s)
{
	s->asleep = true;
	weft_host_isr_wait(s->h, eth_device(s->e), WEFT_NEVER);
	interrupted(s);
}

/* ---- calls
 * ------------------------------------------------------------------- */

static uint8_t *buffer(struct stack *s)
{
	uint8_t *p;

	while (!(p = eth_tx_buf(s->e))) {
		eth_enable(s->e, MAC_INT_TXDW, true);
		s->tx_irq = true;
		sleep_once(s);
	}
	s->asleep = false;
	return p;
}

int stack_send(struct stack *s, const void *data, uint32_t n)
{
	const uint8_t *from = data;
	uint32_t k;

	work(s, s->c.call);
	for (; n; n -= k, from += k) {
		uint8_t *p = buffer(s);

		k = n < s->payload ? n : s->payload;
		work(s, s->c.transmit + copy_time(s->c.copy_tx, k));
		memcpy(p + HEAD + s->proto->head, from, k);
		head_put(s, p, k);
		eth_tx_put(s->e, HEAD + s->proto->head + k);
		s->tx_seq += k;
		post(s);
	}
	return s->error;
}

static void take_early(struct stack *s)
{
	uint32_t k = s->n_early < s->want ? s->n_early : s->want;

	if (!k)
		return;
	memcpy(s->to, s->early, k);
	memmove(s->early, s->early + k, s->n_early - k);
	s->n_early -= k;
	s->got = k;
}

/* Spins for a while, then sleeps. */
static void await(struct stack *s)
{
	weft_time_t end = weft_host_now(s->h) + s->c.polls * s->c.poll;

	while (s->got < s->want && !s->error && s->c.polls &&
	       weft_host_isr_spin(s->h, eth_device(s->e), end))
		interrupted(s);
	while (s->got < s->want && !s->error)
		sleep_once(s);
}

int stack_recv(struct stack *s, void *p, uint32_t n)
{
	weft_time_t t;

	s->to = p;
	s->want = n;
	s->got = 0;
	take_early(s);
	await(s);
	t = weft_host_now(s->h);
	if (s->asleep) {
		weft_host_cpu(s->h, s->c.wake);
		s->uncharged += weft_host_now(s->h) - t;
	} else {
		work(s, s->c.detect);
	}
	s->asleep = false;
	s->want = s->got = 0;
	return s->error;
}

weft_time_t stack_busy(struct stack *s)
{
	return weft_host_busy(s->h);
}

weft_time_t stack_charged(struct stack *s)
{
	return weft_host_busy(s->h) - s->uncharged;
}

int stack_open(struct weft_host *h, const struct stack_proto *p,
	       const struct stack_cost *c, uint32_t peer, struct stack **s_p)
{
	struct eth_attr a = { .tx = c->ring, .rx = MIN_RX, .mtu = c->mtu };
	struct stack *s = weft_host_calloc(h, 1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->h = h;
	s->proto = p;
	s->c = *c;
	s->me = weft_host_node(h);
	s->peer = peer;
	s->payload = (c->mtu ? c->mtu : ETH_MTU) - p->head;
	ret = eth_open(h, &a, &s->e);
	if (ret) {
		weft_host_free(h, s);
		return ret;
	}
	eth_enable(s->e, MAC_INT_RXT0, true);
	*s_p = s;
	return 0;
}

void stack_close(struct stack *s)
{
	while (eth_tx_kept(s->e) || eth_tx_clean(s->e)) {
		eth_enable(s->e, MAC_INT_TXDW, true);
		s->tx_irq = true;
		sleep_once(s);
	}
	eth_close(s->e);
	weft_host_free(s->h, s->early);
	weft_host_free(s->h, s);
}
