/* SPDX-License-Identifier: Apache-2.0 */
/* M-VIA and TCP/IP on a plain Ethernet NIC, see stack.h. Both run in one
 * thread, because the node has one processor: an interrupt can stop the work of
 * the process at any time, and the work continues afterwards. */
#include "systems/ethernet/lib/stack.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "host/times.h"
#include "systems/ethernet/lib/stack_bytes.h"
#include "systems/ethernet/nic/regs_map.h"

enum { HEAD = 14, MIN_RX = 256, BYTES_FS = 8 };

/* Default values of Linux, like the times in system.def. */
enum { TRIES = 15, SAME_ACKS = 3, PROBES = 9 };

struct stack {
	struct weft_host *h;
	const struct stack_proto *proto;
	struct stack_cost c;
	struct eth_dev *e;
	/* payload: largest number of data bytes in a frame */
	uint32_t me, peer, payload;
	uint32_t tx_seq, rx_seq; /* next byte to send, to receive */
	bool asleep, tx_irq;
	weft_time_t uncharged;
	/* Unacknowledged bytes, sent or about to be sent. The first one has
	 * number `una`. M-VIA drops bytes after sending. */
	struct stack_bytes sent;
	uint32_t una, same_acks, tries;
	uint32_t acks;	 /* acknowledgements that must be sent at once */
	uint32_t probes; /* probes sent in a row without an answer */
	/* time of the next probe, or NEVER if no receive call waits */
	weft_time_t keep_at;
	/* the sender has given up; therefore all of its segments carry a
	 * reset */
	bool resets;
	/* now: last reading of the clock, kept because each reading takes time;
	 * rto: present time-out; rto_at, ack_at: times at which the time-out
	 * expires and an acknowledgement is due */
	weft_time_t now, rto, rto_at, ack_at;
	/* buffer of the process's receive call, size of the buffer, number of
	 * bytes received so far */
	uint8_t *to;
	uint32_t want, got;
	int error;
	struct stack_bytes early; /* bytes that arrived before the process asked
				     for them */
};

static weft_time_t copy_time(uint64_t rate, uint32_t n)
{
	return rate ? (weft_time_t)((unsigned __int128)n * BYTES_FS * WEFT_SEC /
				    rate)
		    : 0;
}

/* ---- frames ---- */

/* Posts frames until `window` frames are in the NIC. Enables the interrupt of
 * sent frames only while more frames wait. */
static void stack_post(struct stack *s)
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

static void stack_deliver(struct stack *s, const uint8_t *p, uint32_t n)
{
	uint32_t k = s->want - s->got < n ? s->want - s->got : n;

	if (k)
		memcpy(s->to + s->got, p, k);
	s->got += k;
	if (n > k && stack_bytes_add(&s->early, s->h, p + k, n - k))
		s->error = -ENOMEM;
}

/* ---- acknowledgements ---- */

/* Handles the acknowledgement of a segment. Restarts keep-alive, because a
 * segment shows that the peer is alive. Answers a probe, which is a segment
 * without data whose number is one less than the expected number. */
static void stack_heard(struct stack *s, const struct stack_seg *g)
{
	uint32_t n = g->ack - s->una;

	s->probes = 0;
	if (s->keep_at != WEFT_NEVER)
		s->keep_at = s->now + weft_host_time(s->h, T_tcp_keep_idle);
	if (!g->len && g->seq == s->rx_seq - 1)
		s->acks++;
	if (!s->sent.n || n > s->sent.n)
		return; /* the acknowledgement is old, or acknowledges unsent
			   bytes */
	if (!n) {
		if (!g->len && ++s->same_acks == SAME_ACKS)
			s->tx_seq = s->una; /* resend, because the segment at
					       `una` is lost */
		return;
	}
	stack_bytes_drop(&s->sent, n);
	s->una += n;
	if ((int32_t)(s->tx_seq - s->una) < 0)
		s->tx_seq = s->una;
	s->same_acks = s->tries = 0;
	s->rto = s->c.timeout;
	s->rto_at = s->sent.n ? s->now + s->rto : WEFT_NEVER;
}

static void frame_in(struct stack *s, const uint8_t *p, uint32_t len)
{
	bool tcp = s->proto->reliable;
	struct stack_seg g;
	uint32_t old = 0;

	if (len < HEAD + s->proto->head ||
	    get_be(p + 12, 2) != s->proto->type ||
	    !s->proto->get(p + HEAD, len - HEAD, &g))
		return;
	if (g.reset) {
		weft_host_cpu(s->h, s->c.receive);
		/* accept a reset with a later sequence number, because bytes
		 * before it may be lost */
		if ((int32_t)(g.seq - s->rx_seq) >= 0 && !s->error)
			s->error = -ECONNRESET;
		s->rto_at = WEFT_NEVER;
		return;
	}
	if (tcp)
		stack_heard(s, &g);
	else if (s->rto_at != WEFT_NEVER)
		s->rto_at = s->now + s->rto;
	if (tcp && g.len) {
		old = s->rx_seq - g.seq;
		if (old >=
		    g.len) { /* the segment is old, or not the next one */
			old = g.len;
			s->acks++;
		}
	}
	weft_host_cpu(s->h,
		      s->c.receive + copy_time(s->c.copy_rx, g.len - old));
	if (!tcp && g.seq != s->rx_seq)
		s->error = -EIO;
	if (old == g.len)
		return;
	s->rx_seq = g.seq + g.len;
	if (tcp && s->ack_at == WEFT_NEVER)
		s->ack_at = s->now + weft_host_time(s->h, T_tcp_ack_delay);
	stack_deliver(s, p + HEAD + s->proto->head + old, g.len - old);
}

/* ---- interrupts ---- */

/* Handles an interrupt and the received frames. The cost of an interrupt
 * includes the handler's accesses to the NIC, which take time themselves.
 * Therefore only the remaining cost is charged after these accesses. */
static void stack_interrupted(struct stack *s)
{
	weft_time_t t = weft_host_now(s->h), cost = 0, spent;
	uint32_t causes = eth_causes(s->e), len;
	const uint8_t *p;

	s->now = t;
	if (causes & MAC_INT_RXT0)
		cost += s->c.interrupt;
	if (causes & MAC_INT_TXDW && s->tx_irq)
		cost += s->c.restart;
	spent = weft_host_now(s->h) - t;
	if (cost > spent)
		weft_host_cpu(s->h, cost - spent);
	if (s->asleep)
		s->uncharged += weft_host_now(s->h) - t;
	stack_post(s);
	while ((p = eth_rx(s->e, &len))) {
		frame_in(s, p, len);
		eth_rx_return(s->e);
	}
}

/* Occupies the processor until the process has worked for time t. Interrupt
 * handlers do not count as work of the process. */
static void stack_work(struct stack *s, weft_time_t t)
{
	weft_time_t now = weft_host_now(s->h), end = now + t;

	s->now = now;
	while (weft_host_isr_spin(s->h, eth_device(s->e), end)) {
		now = weft_host_now(s->h);
		stack_interrupted(s);
		end += weft_host_now(s->h) - now;
	}
	s->now = end;
}

/* Sleeps until an interrupt or the deadline. Handles a time-out that expired
 * meanwhile. */
static void sleep_until(struct stack *s, weft_time_t deadline)
{
	weft_time_t end = s->rto_at < deadline ? s->rto_at : deadline;

	s->asleep = true;
	if (weft_host_isr_wait(s->h, eth_device(s->e), end))
		stack_interrupted(s);
	else
		s->now = end > s->now ? end : s->now;
	if (s->now < s->rto_at)
		return;
	if (!s->proto->reliable || ++s->tries > TRIES) {
		s->error = -ETIMEDOUT;
		s->rto_at = WEFT_NEVER;
		return;
	}
	s->tx_seq = s->una;
	s->same_acks = 0;
	s->rto = 2 * s->rto < weft_host_time(s->h, T_tcp_rto_max)
			 ? 2 * s->rto
			 : weft_host_time(s->h, T_tcp_rto_max);
	s->rto_at = s->now + s->rto;
}

/* Sleeps until the NIC has sent a frame. */
static void sleep_for_room(struct stack *s)
{
	eth_enable(s->e, MAC_INT_TXDW, true);
	s->tx_irq = true;
	sleep_until(s, WEFT_NEVER);
}

/* ---- calls ---- */

static uint32_t stack_unsent(const struct stack *s)
{
	return s->sent.n - (s->tx_seq - s->una);
}

/* Sends one segment of up to k bytes. Reads tx_seq only after stack_work(),
 * because an interrupt during that time may change tx_seq. */
static void stack_transmit(struct stack *s, uint32_t k)
{
	struct stack_seg g;
	uint8_t *p;

	while (!(p = eth_tx_buf(s->e)))
		sleep_for_room(s);
	s->asleep = false;
	stack_work(s, s->c.transmit + copy_time(s->c.copy_tx, k));
	k = k < stack_unsent(s) ? k : stack_unsent(s);
	if (k)
		memcpy(p + HEAD + s->proto->head,
		       stack_bytes_at(&s->sent, s->tx_seq - s->una), k);
	g = (struct stack_seg){ s->tx_seq, k, s->rx_seq, s->resets };
	put_be(p, 0x020000000000 | s->peer, ETH_STATION);
	memcpy(p + ETH_STATION, eth_address(s->e), ETH_STATION);
	put_be(p + 12, s->proto->type, 2);
	s->proto->put(p + HEAD, s->me, s->peer, &g);
	eth_tx_put(s->e, HEAD + s->proto->head + k);
	s->tx_seq += k;
	s->ack_at = WEFT_NEVER;
	if (k && s->rto_at == WEFT_NEVER && s->proto->reliable)
		s->rto_at = s->now + s->rto;
	stack_post(s);
}

static void transmit_all(struct stack *s)
{
	while (stack_unsent(s) && !s->error)
		stack_transmit(s, stack_unsent(s) < s->payload ? stack_unsent(s)
							       : s->payload);
}

/* Resends lost bytes. Then sends the acknowledgements that are due and that no
 * segment with data has carried. */
static void catch_up(struct stack *s)
{
	bool asleep = s->asleep;

	transmit_all(s);
	if (s->now >= s->ack_at && !s->acks)
		s->acks = 1;
	for (; s->acks; s->acks--)
		stack_transmit(s, 0);
	s->asleep = asleep;
}

/* Sends a reset, so that the peer fails too if the line still works. */
static void give_up(struct stack *s)
{
	if (s->error != -ETIMEDOUT || !s->proto->reliable || s->resets)
		return;
	s->resets = true;
	s->tx_seq = s->una + s->sent.n;
	stack_transmit(s, 0);
}

/* Returns the time of the next probe, or NEVER while bytes are unacknowledged,
 * because these bytes are resent and need no probe. */
static weft_time_t keep_due(const struct stack *s)
{
	return s->sent.n ? WEFT_NEVER : s->keep_at;
}

/* Probes the peer with a segment that it must acknowledge. Fails after PROBES
 * probes without an answer. */
static void keep_alive(struct stack *s)
{
	if (s->error || s->now < keep_due(s))
		return;
	if (s->probes++ == PROBES) {
		s->error = -EHOSTDOWN;
		return;
	}
	s->keep_at = s->now + weft_host_time(s->h, T_tcp_keep_again);
	s->tx_seq--;
	stack_transmit(s, 0);
	s->tx_seq++;
}

int stack_send(struct stack *s, const void *data, uint32_t n)
{
	stack_work(s, s->c.call);
	if (stack_bytes_add(&s->sent, s->h, data, n))
		return -ENOMEM;
	transmit_all(s);
	if (!s->proto->reliable) {
		stack_bytes_drop(&s->sent, n);
		s->una = s->tx_seq;
	}
	give_up(s);
	return s->error;
}

/* Spins for a while, then sleeps, until all bytes have arrived or the stack
 * fails. */
static void stack_await(struct stack *s)
{
	weft_time_t end;

	s->now = weft_host_now(s->h);
	end = s->now + s->c.polls * s->c.poll;
	if (!s->proto->reliable)
		s->rto_at = s->now + s->rto;
	else
		s->keep_at = s->now + weft_host_time(s->h, T_tcp_keep_idle);
	while (s->got < s->want && !s->error && s->c.polls &&
	       weft_host_isr_spin(s->h, eth_device(s->e),
				  end < s->ack_at ? end : s->ack_at))
		stack_interrupted(s);
	while (s->got < s->want && !s->error) {
		catch_up(s);
		sleep_until(s,
			    s->ack_at < keep_due(s) ? s->ack_at : keep_due(s));
		keep_alive(s);
	}
	if (!s->proto->reliable)
		s->rto_at = WEFT_NEVER;
	s->keep_at = WEFT_NEVER;
	give_up(s);
}

int stack_recv(struct stack *s, void *p, uint32_t n)
{
	weft_time_t t;

	s->to = p;
	s->want = n;
	s->got = s->early.n < n ? s->early.n : n;
	if (s->got) {
		memcpy(p, stack_bytes_at(&s->early, 0), s->got);
		stack_bytes_drop(&s->early, s->got);
	}
	stack_await(s);
	t = weft_host_now(s->h);
	if (s->asleep) {
		weft_host_cpu(s->h, s->c.wake);
		s->uncharged += weft_host_now(s->h) - t;
	} else {
		stack_work(s, s->c.detect);
	}
	s->asleep = false;
	s->want = s->got = 0;
	return s->error;
}

int stack_serve(struct stack *s, weft_time_t deadline)
{
	while (eth_tx_kept(s->e) || eth_tx_clean(s->e))
		sleep_for_room(s);
	while (s->sent.n && !s->error && s->now < deadline) {
		catch_up(s);
		sleep_until(s, deadline < s->ack_at ? deadline : s->ack_at);
	}
	give_up(s);
	s->asleep = false;
	return s->error ? s->error : !s->sent.n;
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
	s->c.timeout = c->timeout    ? c->timeout
		       : p->reliable ? weft_host_time(h, T_tcp_rto)
				     : weft_host_time(s->h, T_mvia_timeout);
	s->rto = s->c.timeout;
	s->rto_at = s->ack_at = s->keep_at = WEFT_NEVER;
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
	while (eth_tx_kept(s->e) || eth_tx_clean(s->e))
		sleep_for_room(s);
	eth_close(s->e);
	stack_bytes_free(&s->early, s->h);
	stack_bytes_free(&s->sent, s->h);
	weft_host_free(s->h, s);
}
