/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a FORTH link: see flink.h.  Transmit machine (forth.md 4.10) and
 * the receive path of undamaged frames; credits are in flink_credit.c, damaged
 * frames in flink_rx.c.
 *
 * Not modelled: the 16-word synchronisation FIFOs (they hide skew and never
 * fill), a damaged delimiter directly behind a truncated packet (the packet
 * ends there anyway). */
#include "link/flink_int.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define NET_RATE 2500000000ull /* bit/s after 8b/10b (4.6) */
#define T_SER_DEFAULT 24       /* 11.1 */

struct weft_clock flink_net_clock(const struct weft_port *p)
{
	struct weft_clock clk;

	if (p->link && p->link->cls == &weft_class_forth_link)
		return ((struct forth_link *)p->link->state)->clk;
	weft_clock_from_hz(&clk, NET_RATE, 32);
	return clk;
}

struct flink_cfg flink_cfg_default(void)
{
	return (struct flink_cfg){
		.links = 1,
		.layout = FORTH_WORD,
		.rx_lanes = 1,
		.rx_cap = 2046,
		.refresh_cc = 1024,
		.t_crtx = 3,
		.t_crrx = 2,
		.return_discards = true,
	};
}

/* ---- set-up ------------------------------------------------------------ */

static int cfg_check(const struct flink *l, struct weft_err *err)
{
	const struct flink_cfg *c = &l->cfg;
	const char *name = l->comp->name;

	if (c->links != 1 && c->links != 2 && c->links != 4)
		return weft_fail(err, EINVAL, "%s: a bundle has 1, 2 or 4 "
				 "links, not %u", name, c->links);
	if (c->layout == FORTH_PACKED && c->links != 1)
		return weft_fail(err, EINVAL, "%s: frame=packed needs "
				 "links=1", name);
	if (!c->rx_lanes || c->rx_lanes > FORTH_FLOWS)
		return weft_fail(err, EINVAL, "%s: %u credit flows: 1 to %u "
				 "fit", name, c->rx_lanes, FORTH_FLOWS);
	if (c->min_payload % 8 || c->min_payload > 4096)
		return weft_fail(err, EINVAL, "%s: minimum payload %u: whole "
				 "qwords up to 4096", name, c->min_payload);
	return 0;
}

int flink_init(struct flink *l, struct weft_comp *c, struct weft_port *port,
	       const struct flink_cfg *cfg, const struct flink_ops *ops,
	       void *own, uint32_t tag, struct weft_err *err)
{
	uint32_t j;

	memset(l, 0, sizeof(*l));
	l->comp = c;
	l->port = port;
	l->cfg = *cfg;
	l->ops = ops;
	l->own = own;
	l->tag = tag;
	l->kick = l->blocked = l->wake_at = WEFT_NEVER;
	for (j = 0; j < cfg->links && j < FLINK_LINKS_MAX; j++)
		port[j].iface = l;
	return cfg_check(l, err);
}

static const struct flink *link_end(const struct weft_port *p)
{
	return p->peer ? p->peer->iface : NULL;
}

static int peer_check(const struct flink *l, const struct flink *p,
		      struct weft_err *err)
{
	uint32_t j;

	if (p->cfg.links != l->cfg.links || p->cfg.layout != l->cfg.layout ||
	    p->cfg.min_payload != l->cfg.min_payload)
		return weft_fail(err, EINVAL, "%s and %s do not speak alike: "
				 "bundled links, frame and minimum payload "
				 "must agree", l->comp->name, p->comp->name);
	for (j = 1; j < l->cfg.links; j++)
		if (link_end(&l->port[j]) != p)
			return weft_fail(err, EINVAL, "%s.%s and %s.%s are one "
					 "bundle and must lead to the same "
					 "place", l->comp->name,
					 l->port[0].name, l->comp->name,
					 l->port[j].name);
	return 0;
}

static void clock_setup(struct flink *l)
{
	struct weft_clock clk = flink_net_clock(l->port);

	if (l->clk_set)
		return;
	l->clk_set = true;
	l->clk = l->cfg.ppm ? weft_clock_offset_ppm(clk, l->cfg.ppm) : clk;
	if (l->clk.den == 1 && l->clk.num > 1)
		l->inverse = UINT64_MAX / l->clk.num;
}

static void delay_setup(struct flink *l)
{
	const struct weft_clock *a = &l->clk, *b = &l->peer->clk;
	uint32_t j;

	l->tapped = false;
	l->delay = weft_clock_edge(a, T_SER_DEFAULT) - a->phase;
	if (!l->loop || l->port->peer)
		l->delay = l->port->delay;
	for (j = 0; j < l->cfg.links && l->port[j].peer; j++) {
		if (l->port[j].delay > l->delay)
			l->delay = l->port[j].delay;
		l->tapped |= l->port[j].tapped && !l->loop;
	}
	l->same_clk = a->num == b->num && a->den == b->den && a->den == 1 &&
		      a->phase == b->phase && l->delay % a->num == 0;
	l->delay_cc = l->same_clk ? l->delay / a->num : 0;
}

static void peer_setup(struct flink *l)
{
	l->tx_lanes = l->peer->cfg.rx_lanes;
	l->tx_cap = l->cfg.tx_cap ? l->cfg.tx_cap : l->peer->cfg.rx_cap;
	clock_setup(l->peer);
	delay_setup(l);
}

int flink_start(struct flink *l, struct weft_err *err)
{
	clock_setup(l);
	l->peer = (struct flink *)link_end(l->port);
	if (!l->peer)
		return 0;
	if (peer_check(l, l->peer, err))
		return -err->code;
	peer_setup(l);
	if (l->tx_cap >= FORTH_COUNT_MASK)
		return weft_fail(err, EINVAL, "%s: a buffer of %u words is "
				 "more than 12-bit credits can count",
				 l->peer->comp->name, l->tx_cap);
	if (flink_credit_init(l, err))
		return -ENOMEM;
	if (l->tapped)
		flink_arm(l);
	return 0;
}

void flink_fini(struct flink *l)
{
	flink_rx_fini(l);
	flink_credit_fini(l);
}

void flink_loopback(struct flink *l, bool on)
{
	struct flink_lane_tx *tx = l->tx_other;
	struct flink_lane_rx *rx = l->rx_other;
	struct weft_err err = { 0 };

	if (on == l->loop)
		return;
	l->loop = on;
	l->peer = on ? l : (struct flink *)link_end(l->port);
	l->tx_other = l->tx;
	l->rx_other = l->rx;
	l->tx = tx;
	l->rx = rx;
	l->due_head = l->due_tail;
	l->in_head = l->in_tail;
	memset(&l->active, 0, sizeof(l->active));
	memset(&l->wait, 0, sizeof(l->wait));
	if (!l->peer)
		return;
	peer_setup(l);
	if (!l->tx && flink_credit_init(l, &err))
		assert(!"memory");
}

/* ---- transmit (4.10) ----------------------------------------------------- */

void flink_arm(struct flink *l)
{
	uint64_t at = WEFT_NEVER, t;

	if (l->kick != WEFT_NEVER && !l->lost_sync)
		at = l->kick > l->line_free ? l->kick : l->line_free;
	if (l->wake_at < at)
		at = l->wake_at;
	if (l->tapped || mask_any(&l->peer->wait)) {
		t = flink_next_credit(l);
		at = t < at ? t : at;
	}
	if (l->lost_sync && flink_resync(l) < at)
		at = flink_resync(l);
	if (at != WEFT_NEVER)
		weft_timer_arm(l->comp, &l->timer, l->tag,
			       weft_clock_edge(&l->clk, at));
}

static struct weft_frame *frame_of(struct flink *l, const struct flink_pkt *p)
{
	struct weft_frame *f = p->f;
	struct forth_shape s = { 0 };

	if (f) {
		f->flags &= ~(uint32_t)FORTH_F_CREDITS;
		return f;
	}
	f = weft_frame_new(l->comp->sim);
	f->flags = FORTH_F_PACKET;
	f->u[FORTH_U_HEADER] = p->header;
	f->payload = p->payload;
	f->trace_id = p->trace_id;
	s.wire_len = (uint16_t)flink_wire_len(l, forth_hdr_size(p->header));
	forth_shape_set(f, s);
	return f;
}

static void lane_frames(struct flink *l, struct weft_frame *f,
			weft_time_t start)
{
	struct forth_shape s = forth_shape_get(f);
	uint32_t j;

	f->flags |= FORTH_F_LANE;
	s.seq = l->seq++;
	for (j = 0; j < l->cfg.links; j++) {
		bool more = j + 1 < l->cfg.links;
		struct weft_frame *lane = more ? weft_frame_dup(f) : f;

		s.lane = (uint8_t)j;
		forth_shape_set(lane, s);
		weft_port_send(&l->port[j], lane, start);
	}
}

static void loop_frame(struct flink *l, struct weft_frame *f,
		       weft_time_t start)
{
	struct weft_frame **q = &l->loop_q;

	f->time = start + l->delay;
	f->next = NULL;
	while (*q)
		q = &(*q)->next;
	*q = f;
	weft_post(l->comp, l->comp->n_ports + l->port->index, f->time);
}

static void line_put(struct flink *l, struct weft_frame *f, uint64_t at)
{
	weft_time_t start = weft_clock_edge(&l->clk, at);

	f->word_fs = l->clk.num / l->clk.den;
	if (l->loop)
		loop_frame(l, f, start);
	else if (l->tapped && l->cfg.links > 1)
		lane_frames(l, f, start);
	else
		weft_port_send(l->port, f,
			       start + (l->delay - l->port->delay));
}

void flink_send_credits(struct flink *l, uint64_t at, const uint16_t *credit,
			uint32_t n, uint32_t words)
{
	struct weft_frame *f = weft_frame_new(l->comp->sim);
	struct forth_shape s = { .layout = (uint8_t)l->cfg.layout,
				 .links = (uint8_t)l->cfg.links,
				 .credits = (uint8_t)n };
	uint32_t i;

	f->flags = FORTH_F_CREDITS;
	f->words = words;
	forth_shape_set(f, s);
	for (i = 0; i < n; i++)
		forth_frame_set_credit(f, i, credit[i]);
	line_put(l, f, at);
}

/* Wire words of what is really there (a truncated packet has no CRC word). */
static uint32_t packet_words(const struct flink *l, const struct weft_frame *f,
			     const struct forth_shape *s)
{
	if (!(f->flags & FORTH_F_TRUNC))
		return forth_words(l->cfg.layout, l->cfg.links, s->wire_len);
	return forth_words(l->cfg.layout, l->cfg.links, f->payload.len) - 1;
}

static uint64_t send_packet(struct flink *l, const struct flink_pkt *p,
			    uint64_t at, uint32_t *shift_p)
{
	struct weft_frame *f = frame_of(l, p);
	struct forth_shape s = forth_shape_get(f);
	uint64_t header = f->u[FORTH_U_HEADER];
	uint32_t lane = flink_lane(l, forth_hdr_flow(header));

	s.layout = (uint8_t)l->cfg.layout;
	s.links = (uint8_t)l->cfg.links;
	s.lane = 0;
	s.credits = (uint8_t)flink_packet_credits(l, at, f);
	*shift_p = forth_credit_words(l->cfg.layout, s.links, s.credits, true);
	f->words = packet_words(l, f, &s) + *shift_p;
	if (l->tapped)
		f->flags |= FORTH_F_CREDITS;
	forth_shape_set(f, s);
	if (lane < l->tx_lanes) {
		l->tx[lane].sent = (l->tx[lane].sent +
				    forth_charge(s.links, s.wire_len)) &
				   FORTH_COUNT_MASK;
		flink_unwait_lane(l, lane);
	}
	l->count.tx_packets++;
	l->count.tx_qwords += forth_hdr_size(header) + 2;
	l->count.out_cycles += f->words;
	l->line_free = at + f->words;
	l->last_start = at;
	line_put(l, f, at);
	return l->line_free;
}

static void unblock(struct flink *l, uint64_t at)
{
	if (l->blocked != WEFT_NEVER && at > l->blocked)
		l->count.backpressure += at - l->blocked;
	l->blocked = WEFT_NEVER;
}

/* Credits only grow on a line without faults: what was enough once still is,
 * and nobody has to be asked. */
static bool lane_ready(struct flink *l, uint32_t lane, uint32_t charge,
		       uint64_t cycle)
{
	if (!l->peer->tapped && !l->cfg.credit_filter &&
	    flink_lane_ok(l, lane, charge))
		return true;
	if (l->pulled != cycle) {
		flink_pull(l, cycle);
		l->pulled = cycle;
	}
	return flink_lane_ok(l, lane, charge);
}

uint64_t flink_tx_ready(struct flink *l, uint32_t flow, uint32_t bytes,
			uint64_t cycle)
{
	uint32_t lane = flink_lane(l, flow);
	uint32_t charge = forth_charge(l->cfg.links, bytes);
	if (l->lost_sync) {
		l->wake_at = flink_resync(l);
		flink_arm(l);
		return WEFT_NEVER;
	}
	if (lane >= l->tx_lanes)
		return cycle;
	l->pulled = WEFT_NEVER;
	if (lane_ready(l, lane, charge, cycle))
		return cycle;
	if (l->blocked == WEFT_NEVER)
		l->blocked = cycle;
	flink_wait_lane(l, lane, charge);
	return flink_wait(l);
}

uint64_t flink_tx_slot(struct flink *l, uint64_t cycle)
{
	flink_catch_up(l, cycle);
	return cycle > l->line_free ? cycle : l->line_free;
}

uint64_t flink_tx_commit(struct flink *l, const struct flink_pkt *p,
			 uint64_t cycle)
{
	uint32_t shift;

	unblock(l, cycle);
	return send_packet(l, p, cycle, &shift);
}

void flink_kick(struct flink *l, weft_time_t t)
{
	uint64_t at = flink_cycle(l, t);

	if (!l->peer || at >= l->kick)
		return;
	l->kick = at;
	at = at > l->line_free ? at : l->line_free;
	weft_timer_arm(l->comp, &l->timer, l->tag,
		       weft_clock_edge(&l->clk, at));
}

bool flink_credit(struct flink *l, uint32_t flow, uint32_t qwords)
{
	uint32_t lane = flink_lane(l, flow);
	uint32_t charge = flink_charge(l, qwords);

	if (lane >= l->tx_lanes || lane_ready(l, lane, charge, flink_now(l)))
		return true;
	flink_wait_lane(l, lane, charge);
	return false;
}

/* The line is free at `now` and the owner wanted to be asked. */
static void try_packet(struct flink *l, uint64_t now)
{
	struct flink_pkt p = { 0 };
	uint64_t end, soon;
	uint32_t shift;

	l->kick = WEFT_NEVER;
	flink_unwait(l);
	l->pulled = WEFT_NEVER;
	if (!l->ops->next(l->own, l, &p)) {
		if (!mask_any(&l->wait)) {
			unblock(l, now);
			return;
		}
		if (l->blocked == WEFT_NEVER)
			l->blocked = now;
		soon = flink_wait(l);
		l->kick = soon < l->kick ? soon : l->kick;
		return;
	}
	unblock(l, now);
	flink_unwait(l);
	end = send_packet(l, &p, now, &shift);
	if (!p.last)
		l->kick = end;
	if (l->ops->sent)
		l->ops->sent(l->own, l, now, end, shift);
}

static void wake(struct flink *l, uint64_t now)
{
	l->wake_at = WEFT_NEVER;
	if (l->ops->woken)
		l->ops->woken(l->own, l);
	else if (l->kick > now)
		l->kick = now;
}

void flink_event(struct flink *l)
{
	uint64_t now;

	if (!weft_timer_due(l->comp, &l->timer) || !l->peer)
		return;
	now = flink_now(l);
	if (l->lost_sync && flink_resync(l) <= now) {
		l->lost_sync = false;
		l->line_free = l->line_free > now ? l->line_free : now;
	}
	if (l->wake_at <= now)
		wake(l, now);
	flink_catch_up(l, now);
	if (l->kick <= now && l->line_free <= now && !l->lost_sync)
		try_packet(l, now);
	if (l->tapped || mask_any(&l->peer->wait))
		flink_catch_up(l, now + 1);
	flink_arm(l);
}

/* ---- receive, undamaged ---------------------------------------------------- */

static void take_credits(struct flink *l, const struct weft_frame *f,
			 const struct forth_shape *s, uint64_t cycle)
{
	uint32_t i;

	for (i = 0; i < s->credits; i++) {
		uint32_t word = s->layout == FORTH_PACKED ? (i + 1) / 2 :
				i < s->links ?
					0 :
					1 + (i - s->links) / (2 * s->links);

		flink_credit_in(l, cycle + word + l->cfg.t_crrx,
				forth_frame_credit(f, i), 0);
	}
}

void flink_deliver(struct flink *l, struct weft_frame *f,
		   const struct flink_rx *rx)
{
	if (!(f->flags & FORTH_F_PACKET)) {
		weft_frame_free(f);
		return;
	}
	l->count.rx_packets++;
	l->count.rx_qwords += f->payload.len / 8 + 1;
	l->ops->packet(l->own, l, f, rx);
}

static void loop_arrive(struct flink *l)
{
	while (l->loop_q && l->loop_q->time <= weft_now(l->comp)) {
		struct weft_frame *f = l->loop_q;

		l->loop_q = f->next;
		flink_arrive(l, 0, f);
	}
}

void flink_arrive(struct flink *l, uint32_t j, struct weft_frame *f)
{
	struct flink_rx rx = { 0 };
	struct forth_shape s;

	if (!f) {
		loop_arrive(l);
		return;
	}
	if (f->raw || l->lost_sync ||
	    f->flags & (FORTH_F_CRC32 | FORTH_F_TRUNC | FORTH_F_LANE)) {
		flink_rx_odd(l, j, f);
		return;
	}
	s = forth_shape_get(f);
	rx.cycle = flink_cycle(l, f->time);
	rx.words = f->words;
	rx.shift = forth_credit_words(s.layout, s.links, s.credits,
				      f->flags & FORTH_F_PACKET);
	l->rx_quiet = rx.cycle + rx.words;
	l->count.in_cycles += rx.words;
	if (f->flags & FORTH_F_CREDITS)
		take_credits(l, f, &s, rx.cycle);
	flink_deliver(l, f, &rx);
}

struct flink_count *flink_counts(struct flink *l)
{
	uint64_t now = flink_now(l);

	if (!l->peer)
		return &l->count;
	flink_catch_up(l, now);
	flink_pull(l, now);
	if (l->blocked != WEFT_NEVER && now > l->blocked) {
		l->count.backpressure += now - l->blocked;
		l->blocked = now;
	}
	return &l->count;
}
