/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a FORTH link (see port.h): set-up, and the receive path of
 * undamaged frames. The transmit machine is in transmit.c, credits in
 * credit_use.c and credit_return.c, damaged frames in symbol_receiver.c,
 * bundles in bundle.c, loopback in loopback.c.
 *
 * The synchronisation FIFO of a bundled link holds 16 words. If the delays of
 * the links differ by more than 16 words, every frame of more than 16 words
 * overflows the FIFO and is lost as a whole.
 *
 * Not modelled: a damaged delimiter directly behind a truncated packet, because
 * the packet ends there anyway. */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* line rate in bit/s after 8b/10b (forth.md 4.6) */
#define NET_RATE      2500000000ull
#define T_SER_DEFAULT 24 /* 11.1 */

struct weft_clock forth_port_net_clock(const struct weft_port *p)
{
	struct weft_clock clk;

	if (p->link && p->link->cls == &weft_class_forth_link)
		return ((struct forth_link *)p->link->state)->clk;
	weft_clock_from_hz(&clk, NET_RATE, 32);
	return clk;
}

struct forth_port_cfg forth_port_cfg_default(void)
{
	return (struct forth_port_cfg){
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

/* ---- set-up ---- */

int forth_port_init(struct forth_port *l, struct weft_comp *c,
		    struct weft_port *port, const struct forth_port_cfg *cfg,
		    const struct forth_port_ops *ops, void *own, uint32_t tag,
		    struct weft_err *err)
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
	for (j = 0; j < cfg->links && j < FORTH_PORT_LINKS_MAX; j++)
		port[j].iface = l;
	if (cfg->links != 1 && cfg->links != 2 && cfg->links != 4)
		return weft_fail(err, EINVAL,
				 "%s: a bundle has 1, 2 or 4 links, not %u",
				 c->name, cfg->links);
	if (cfg->layout == FORTH_PACKED && cfg->links != 1)
		return weft_fail(err, EINVAL, "%s: frame=packed needs links=1",
				 c->name);
	if (!cfg->rx_lanes || cfg->rx_lanes > FORTH_FLOWS)
		return weft_fail(err, EINVAL,
				 "%s: %u credit flows: 1 to %u fit", c->name,
				 cfg->rx_lanes, FORTH_FLOWS);
	if (cfg->min_payload % 8 || cfg->min_payload > 4096)
		return weft_fail(
			err, EINVAL,
			"%s: minimum payload %u: whole qwords up to 4096",
			c->name, cfg->min_payload);
	return 0;
}

static const struct forth_port *link_end(const struct weft_port *p)
{
	return p->peer ? p->peer->iface : NULL;
}

/* Checks that both ends of a line have equal configurations, and that all links
 * of a bundle end at one peer. */
static int peer_alike(const struct forth_port *l, const struct forth_port *p,
		      struct weft_err *err)
{
	const struct {
		const char *what;
		uint32_t here, there;
	} must[] = {
		{ "bundled links", l->cfg.links, p->cfg.links },
		{ "frame (0 = word, 1 = packed)", l->cfg.layout,
		  p->cfg.layout },
		{ "min_payload", l->cfg.min_payload, p->cfg.min_payload },
		{ "crc32_complement", l->cfg.crc32_complement,
		  p->cfg.crc32_complement },
		{ "resync (0 = off)", !!l->cfg.resync_cc, !!p->cfg.resync_cc },
	};

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		if (must[i].here != must[i].there)
			return weft_fail(
				err, EINVAL,
				"%s and %s do not speak alike: %s is %u in %s and %u in %s: give both the same value, or presets that belong together",
				l->comp->name, p->comp->name, must[i].what,
				must[i].here, l->comp->name, must[i].there,
				p->comp->name);
	for (uint32_t j = 1; j < l->cfg.links; j++)
		if (link_end(&l->port[j]) != p)
			return weft_fail(
				err, EINVAL,
				"%s.%s and %s.%s are one bundle and must lead to the same place",
				l->comp->name, l->port[0].name, l->comp->name,
				l->port[j].name);
	return 0;
}

static void clock_setup(struct forth_port *l)
{
	struct weft_clock clk = forth_port_net_clock(l->port);

	if (l->clk_set)
		return;
	l->clk_set = true;
	l->clk = l->cfg.ppm ? weft_clock_offset_ppm(clk, l->cfg.ppm) : clk;
	l->word_fs = l->clk.num / l->clk.den;
	if (l->clk.den == 1 && l->clk.num > 1)
		l->inverse = UINT64_MAX / l->clk.num;
}

/* Sets lanes, clock and delay, which depend on the peer. */
void forth_port_peer_setup(struct forth_port *l)
{
	const struct weft_clock *a = &l->clk, *b = &l->peer->clk;
	weft_time_t least = WEFT_NEVER;
	uint32_t j;

	l->tx_lanes = l->peer->cfg.rx_lanes;
	l->tx_cap = l->cfg.tx_cap ? l->cfg.tx_cap : l->peer->cfg.rx_cap;
	clock_setup(l->peer);
	l->needs_frames = false;
	l->delay = weft_clock_edge(a, T_SER_DEFAULT) - a->phase;
	if (l->port->peer)
		l->delay = l->port->delay;
	for (j = 0; j < l->cfg.links && l->port[j].peer; j++) {
		if (l->port[j].delay > l->delay)
			l->delay = l->port[j].delay;
		if (l->port[j].delay < least)
			least = l->port[j].delay;
		l->needs_frames |=
			(l->port[j].needs_frames || l->cfg.resync_cc) &&
			!l->loop;
	}
	l->skew = l->delay > least ? l->delay - least : 0;
	forth_port_tap_setup(l);
	l->same_clk =
		weft_clock_same(a, b) && a->den == 1 && l->delay % a->num == 0;
	l->delay_cc = l->same_clk ? l->delay / a->num : 0;
}

int forth_port_room_check(const struct forth_port *l, uint32_t bytes,
			  bool one_size, struct weft_err *err)
{
	uint32_t charge = forth_port_charge(l, (bytes + 7) / 8), need;
	uint32_t unit = one_size ? FORTH_CREDIT_GRAN : 1;

	/* Even with an empty buffer, T - F' may be up to 31 words, because F'
	 * counts whole credits (5.2). With packets of one size the bound is 32
	 * words minus the largest power of two up to 32 that divides the
	 * charge. */
	while (charge % unit)
		unit /= 2;
	need = charge + FORTH_CREDIT_GRAN - unit;
	if (!bytes || !l->peer || l->tx_cap >= need)
		return 0;
	return weft_fail(
		err, EINVAL,
		"%s has %u words for packets of %s: those of %u bytes and a credit's granularity need %u and would wait for ever: make its buffer %u bytes (forth.xbar: xp_bytes) or the packets smaller",
		l->peer->comp->name, l->tx_cap, l->comp->name, bytes, need,
		4 * l->cfg.links * need);
}

bool forth_port_in_sync(const struct forth_port *l)
{
	return !l->lost_sync || forth_port_past(l) >= forth_port_in_sync_at(l);
}

int forth_port_start(struct forth_port *l, struct weft_err *err)
{
	const struct weft_comp *k = l->port->link;

	clock_setup(l);
	l->peer = (struct forth_port *)link_end(l->port);
	if (!l->peer)
		return 0;
	if (peer_alike(l, l->peer, err))
		return -err->code;
	forth_port_peer_setup(l);
	if (l->tx_cap >= FORTH_COUNT_MASK)
		return weft_fail(
			err, EINVAL,
			"%s: a buffer of %u words is more than 12-bit credits can count",
			l->peer->comp->name, l->tx_cap);
	if (forth_port_room_check(l, l->cfg.max_payload, l->cfg.one_size,
				  err) ||
	    forth_port_credit_init(l, err) || credit_resync_init(l, err))
		return -err->code;
	/* the neighbour sends commas from time 0 on, and this end is in sync
	 * after 16 words of commas */
	if (k && k->cls == &weft_class_forth_link &&
	    ((struct forth_link *)k->state)->powerup) {
		l->lost_sync = true;
		l->rx_quiet = weft_clock_cycle(&l->clk, l->delay);
	}
	if (l->needs_frames || l->lost_sync)
		forth_port_arm(l);
	return 0;
}

void forth_port_fini(struct forth_port *l)
{
	struct weft_frame *f;

	if (l->back)
		forth_port_fini(l->back);
	free(l->back);
	l->back = NULL;
	for (uint32_t j = 0; j < FORTH_PORT_LINKS_MAX; j++)
		while ((f = l->line_q[j])) {
			l->line_q[j] = f->next;
			weft_frame_free(f);
		}
	while ((f = l->loop_q)) {
		l->loop_q = f->next;
		weft_frame_free(f);
	}
	free(l->tx);
	free(l->rx);
	free(l->epoch);
	ring_free(&l->due);
	ring_free(&l->in);
	l->tx = NULL;
	l->rx = NULL;
	l->epoch = NULL;
}

/* ---- receive, undamaged ---- */

/* Delivers a frame. The function is inline, because every undamaged packet
 * takes this path. */
static inline __attribute__((always_inline)) void
deliver(struct forth_port *l, struct weft_frame *f,
	const struct forth_port_rx *rx)
{
	if (!(f->flags & FORTH_F_PACKET)) {
		weft_frame_free(f);
		return;
	}
	if (__builtin_expect(l->muted, 0) && !l->loop) {
		l->count.deaf++; /* loopback drops a packet of the line */
		forth_port_return(
			l,
			forth_charge(l->cfg.links, forth_shape_get(f).wire_len),
			rx->cycle + rx->words);
		weft_frame_free(f);
		return;
	}
	l->count.rx_packets++;
	l->count.rx_qwords += f->payload.len / 8 + 1;
	if (l->epoch) {
		uint32_t lane =
			forth_port_lane_of(l->peer, f->u[FORTH_U_HEADER]);
		uint32_t words =
			forth_charge(l->cfg.links, forth_shape_get(f).wire_len);

		if (lane < l->cfg.rx_lanes)
			credit_resync_held(l, lane, (int32_t)words);
	}
	l->ops->packet(l->own, l, f, rx);
}

void forth_port_deliver(struct forth_port *l, struct weft_frame *f,
			const struct forth_port_rx *rx)
{
	deliver(l, f, rx);
}

void forth_port_arrive(struct forth_port *l, uint32_t j, struct weft_frame *f)
{
	struct forth_port_rx rx = { 0 };
	struct forth_shape s;
	uint32_t i;

	if (!f) {
		forth_port_loop_arrive(l->back);
		return;
	}
	if (f->raw || l->lost_sync ||
	    f->flags & (FORTH_F_CRC32 | FORTH_F_TRUNC | FORTH_F_LINE)) {
		forth_port_rx_odd(l, j, f);
		return;
	}
	if (l->cfg.links > 1 &&
	    forth_port_skew_full(l, l->peer->skew, f->words)) {
		forth_port_skew_lost(l, f);
		return;
	}
	s = forth_shape_get(f);
	rx.cycle = forth_port_cycle(l, f->time);
	rx.words = f->words;
	rx.shift = forth_credit_words(s.layout, s.links, s.credits,
				      f->flags & FORTH_F_PACKET);
	l->rx_quiet = rx.cycle + rx.words;
	l->count.in_cycles += rx.words;
	for (i = 0; f->flags & FORTH_F_CREDITS && i < s.credits; i++)
		forth_port_credit_in(
			l,
			rx.cycle + forth_credit_word(s.layout, s.links, i) +
				l->cfg.t_crrx,
			forth_frame_credit(f, i), 0);
	deliver(l, f, &rx);
}

void forth_port_watch(struct forth_port *l, bool on)
{
	if (l->back)
		forth_port_watch(l->back, on);
	forth_port_counts(l);
	l->watched = on && l->peer;
}

struct forth_port_count *forth_port_counts(struct forth_port *l)
{
	uint64_t now = forth_port_now(l);

	if (!l->peer)
		return &l->count;
	forth_port_catch_up(l, now);
	forth_port_pull(l, now);
	if (l->blocked != WEFT_NEVER && now > l->blocked) {
		l->count.backpressure += now - l->blocked;
		l->blocked = now;
	}
	return &l->count;
}

weft_time_t forth_port_blocked(struct forth_port *l)
{
	return weft_clock_edge(&l->clk, forth_port_counts(l)->backpressure) -
	       weft_clock_edge(&l->clk, 0);
}
