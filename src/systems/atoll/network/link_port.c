/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's link ports (hostport.md 2.1, 2.5): flow control by stop and continue,
 * CRC check, and resending of flits.
 *
 * The receiver accepts flits in sequence only. If a flit is damaged or missing,
 * or the buffer has no room for it, the receiver requests it once, and drops
 * all other flits until that flit arrives. A link port that receives no state
 * flit for `timeout` cycles resends its flits. A stopped link port requests the
 * state of the peer instead. After `attempts` timeouts in a row a link port
 * neither resends nor requests, so that a run with a dead cable ends.
 * The port of a cable without a fault keeps no copies and sends no
 * acknowledgements. This does not change the cycles of the port, because state
 * characters take no time on the line. */
#include "systems/atoll/network/crossbar.h"

/* Largest number of flits without acknowledgement. It is less than half of the
 * sequence numbers, so that a receiver can distinguish an old flit from a new
 * one. */
enum { UNACKED = 64 };

static bool link_port_guarded(const struct atoll_link_link *k)
{
	return k->port->peer &&
	       (k->port->needs_frames || k->port->peer->needs_frames);
}

static void link_port_put(struct atoll_xbar *x, struct atoll_link_link *k,
			  struct weft_frame *f, uint64_t start)
{
	f->words = at_words(f);
	f->word_fs = x->clk.num / x->clk.den;
	weft_port_send(k->port, f, weft_clock_edge(&x->clk, start));
}

static void state_send(struct atoll_xbar *x, uint32_t l, uint32_t flags)
{
	struct atoll_link_link *k = &x->link[l];
	struct weft_frame *f = weft_frame_new(x->comp->sim);

	*at_line(f) = (struct at_line){
		.kind = AT_STATE,
		.flags = (uint8_t)(flags | (k->stop_said ? AT_STOP : 0)),
		.seq = k->rx_seq,
	};
	link_port_put(x, k, f, atoll_link_now(x) + x->t_out);
}

void atoll_link_link_state(struct atoll_xbar *x, uint32_t l)
{
	struct atoll_link_link *k = &x->link[l];
	uint32_t left = x->buffer - x->in[AT_LINK0 + l].used;
	bool stop = k->stop_said ? left < x->cont_free : left < x->stop_free;

	if (stop == k->stop_said)
		return;
	k->stop_said = stop;
	atoll_link_count(x, AX_K_STOPS, stop);
	state_send(x, l, 0);
}

bool atoll_link_link_can(const struct atoll_xbar *x, uint32_t l)
{
	const struct atoll_link_link *k = &x->link[l];

	return !x->out[AT_LINK0 + l].stopped && !k->replay &&
	       ring_count(&k->again) < UNACKED;
}

void atoll_link_link_send(struct atoll_xbar *x, uint32_t l,
			  struct weft_frame *f, uint64_t start)
{
	struct atoll_link_link *k = &x->link[l];

	at_line(f)->seq = k->tx_seq++;
	if (link_port_guarded(k)) {
		if (ring_empty(&k->again))
			k->heard = start;
		*ring_push(&k->again) = weft_frame_dup(f);
	}
	atoll_link_mark(x, f, "link port out", start);
	link_port_put(x, k, f, start);
}

/* ---- arrivals ---- */

static void state_act(struct atoll_xbar *x, uint32_t l, const struct at_line *s,
		      uint64_t c)
{
	struct atoll_link_link *k = &x->link[l];
	struct atoll_link_out *o = &x->out[AT_LINK0 + l];
	bool stop = s->flags & AT_STOP;

	k->heard = c;
	/* Drop the copies of flits before seq, because the peer has received
	 * them. */
	while (!ring_empty(&k->again)) {
		struct weft_frame *f = *ring_front(&k->again);

		if ((int8_t)(s->seq - at_line(f)->seq) <= 0)
			break;
		weft_frame_free(f);
		ring_pop(&k->again);
		k->resend -= k->resend > 0;
		k->tries = 0;
	}
	if (ring_empty(&k->again))
		k->replay = false;
	if (s->flags & AT_NACK && !ring_empty(&k->again)) {
		k->replay = true;
		k->resend = 0;
	}
	if (s->flags & AT_ASK)
		state_send(x, l, 0);
	if (o->stopped && !stop) {
		atoll_link_count(x, AX_K_STOPPED, c - o->stopped_at);
		k->tries = 0;
	}
	if (!o->stopped && stop)
		o->stopped_at = c;
	o->stopped = stop;
}

/* Drops a flit that is out of order or damaged, or for which the buffer has no
 * room. Requests a resend once, since further requests would restart the
 * resend. Acknowledges an old flit again because the first acknowledgement may
 * be lost. */
static void link_port_refuse(struct atoll_xbar *x, uint32_t l,
			     struct weft_frame *f, bool old)
{
	struct atoll_link_link *k = &x->link[l];

	weft_frame_free(f);
	if (old) {
		state_send(x, l, 0);
		return;
	}
	atoll_link_count(x, AX_K_CRC, 1);
	if (!k->nacked)
		state_send(x, l, AT_NACK);
	k->nacked = true;
}

/* Stores the flit in the buffer. Makes sure that each packet in the buffer has
 * a head and an end, because the crossbar relies on both. */
static void flit_keep(struct atoll_xbar *x, uint32_t l, struct weft_frame *f)
{
	struct atoll_link_link *k = &x->link[l];
	struct atoll_link_in *in = &x->in[AT_LINK0 + l];
	bool head = at_line(f)->kind == AT_HEAD;

	if (!head && !k->open) {
		atoll_link_count(x, AX_K_FRAMING, 1);
		weft_frame_free(f);
		return;
	}
	if (head && k->open) {
		/* A fault has changed the control character at the end of the
		 * previous packet. The CRC does not cover control characters,
		 * so that the flit was accepted. The flit inserted here ends
		 * that packet. It occupies no bytes of the buffer, because it
		 * did not arrive on the line. */
		struct weft_frame *end = weft_frame_new(x->comp->sim);

		*at_line(end) =
			(struct at_line){ .kind = AT_DATA, .flags = AT_EOP };
		AT_CAME(end) = AT_CAME(f);
		AT_READY(end) = AT_CAME(f) + x->t_in + x->t_xbar;
		*ring_push(&in->q) = end;
		atoll_link_count(x, AX_K_FRAMING, 1);
	}
	k->open = head || !(at_line(f)->flags & AT_EOP);
	in->used += at_words(f);
	AT_ROOM(f) = at_words(f);
	AT_READY(f) = AT_CAME(f) + x->t_in + x->t_xbar;
	atoll_link_mark(x, f, "link port in", AT_CAME(f) + x->t_in);
	*ring_push(&in->q) = f;
}

static void flit_in(struct atoll_xbar *x, uint32_t l, struct weft_frame *f)
{
	struct atoll_link_link *k = &x->link[l];
	struct atoll_link_in *in = &x->in[AT_LINK0 + l];
	const struct at_line *s = at_line(f);
	bool bad = s->flags & AT_BAD;

	if (bad || s->seq != k->rx_seq) {
		link_port_refuse(x, l, f,
				 !bad && (int8_t)(s->seq - k->rx_seq) < 0);
		return;
	}
	if (in->used + at_words(f) > x->buffer) {
		atoll_link_count(x, AX_K_OVERFLOWS, 1);
		link_port_refuse(x, l, f, false);
		return;
	}
	k->rx_seq++;
	k->nacked = false;
	flit_keep(x, l, f);
	if (link_port_guarded(k))
		state_send(x, l, 0);
	atoll_link_link_state(x, l);
}

static void came(struct atoll_xbar *x, uint32_t l, struct weft_frame *f)
{
	struct atoll_link_link *k = &x->link[l];

	if (f->raw)
		at_decode(f);
	if (at_line(f)->kind != AT_STATE) {
		flit_in(x, l, f);
		return;
	}
	if (at_line(f)->flags & AT_BAD) {
		weft_frame_free(f);
		return;
	}
	AT_READY(f) = AT_CAME(f) + x->t_in;
	*ring_push(&k->state) = f;
}

/* ---- replay ---- */

static uint64_t replay_step(struct atoll_xbar *x, uint32_t l, uint64_t c)
{
	struct atoll_link_link *k = &x->link[l];
	struct atoll_link_out *o = &x->out[AT_LINK0 + l];
	struct weft_frame *f;

	if (!k->replay || o->stopped)
		return WEFT_NEVER;
	if (o->free > c)
		return o->free;
	if (k->resend == ring_count(&k->again)) {
		k->replay = false;
		return c + 1;
	}
	f = *ring_nth(&k->again, k->resend++);
	atoll_link_count(x, AX_K_RESENT, 1);
	o->free = c + at_words(f);
	link_port_put(x, k, weft_frame_dup(f), c + x->t_out);
	return o->free;
}

/* Handles a timeout: no state flit has arrived for `timeout` cycles, although
 * flits await acknowledgement or the peer has stopped the link. A stopped link
 * asks the peer for its state. Any other link resends its flits. Returns the
 * cycle of the next timeout, or WEFT_NEVER. */
static uint64_t timeout_step(struct atoll_xbar *x, uint32_t l, uint64_t c)
{
	struct atoll_link_link *k = &x->link[l];
	bool stopped = x->out[AT_LINK0 + l].stopped;

	if (!link_port_guarded(k) || (ring_empty(&k->again) && !stopped) ||
	    k->tries > x->attempts)
		return WEFT_NEVER;
	if (c < k->heard + x->timeout)
		return k->heard + x->timeout;
	k->heard = c;
	if (k->tries++ == x->attempts) {
		atoll_link_count(x, AX_K_DOWNS, 1);
		return WEFT_NEVER;
	}
	if (stopped) {
		state_send(x, l, AT_ASK);
	} else {
		k->replay = true;
		k->resend = 0;
	}
	return c + x->timeout;
}

uint64_t atoll_link_link_step(struct atoll_xbar *x, uint32_t l, uint64_t c)
{
	struct atoll_link_link *k = &x->link[l];
	uint64_t next = WEFT_NEVER, t;

	while (!ring_empty(&k->came) && AT_CAME(*ring_front(&k->came)) <= c) {
		struct weft_frame *f = *ring_front(&k->came);

		ring_pop(&k->came);
		came(x, l, f);
	}
	while (!ring_empty(&k->state) &&
	       AT_READY(*ring_front(&k->state)) <= c) {
		struct weft_frame *f = *ring_front(&k->state);

		ring_pop(&k->state);
		state_act(x, l, at_line(f), c);
		weft_frame_free(f);
	}
	if (!ring_empty(&k->came))
		next = AT_CAME(*ring_front(&k->came));
	t = ring_empty(&k->state) ? WEFT_NEVER
				  : AT_READY(*ring_front(&k->state));
	next = t < next ? t : next;
	t = timeout_step(x, l, c);
	next = t < next ? t : next;
	t = replay_step(x, l, c);
	return t < next ? t : next;
}
