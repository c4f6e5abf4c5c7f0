/* SPDX-License-Identifier: Apache-2.0 */
/* Program ultra.pingpong (hostport.md 9, 11.5, 11.6): node 0 and a partner
 * exchange packets over ULTRA.
 *
 * latency is the time from a packet's store to its status word seen, measured
 * with the one clock that all nodes have; half_rtt is the usual measure. */
#include <errno.h>
#include <string.h>

#include "systems/hostport/programs/ultra_program.h"
#include "weft/trace.h"

struct uw {
	uint64_t count;
	uint32_t words, partner, retrieve;
	bool conditional;
	weft_time_t pause, grid;
	uint64_t burst;
	double sent_at, got_at; /* sums, ns */
	struct program w;
	struct ultraw u;
	uint64_t refused; /* conditional stores */
	double sum, least, most;
};

enum { FROM_MEMORY, FROM_DEVICE, BY_TAGGED };

/* ---- ping-pong ---- */

static void ultra_pingpong_put(struct uw *a, uint64_t seq, const uint64_t *w)
{
	if (!a->conditional) {
		ultra_send(&a->u.tx, 0, seq, w, a->words);
		return;
	}
	while (!ultra_send_cond(&a->u.tx, 0, seq, w, a->words))
		a->refused++;
}

static void ultra_pingpong_send(struct uw *a, uint64_t seq)
{
	uint64_t w[ULTRA_PAYLOAD_MAX];

	program_fill(w, a->words, program_base(a->w.me, a->u.peer, seq));
	w[0] = weft_host_now(a->w.h); /* for the other side */
	if (a->grid) {
		w[0] = (w[0] / a->grid + 2) * a->grid;
		weft_host_sleep(a->w.h, w[0]);
	}
	a->sent_at += (double)w[0] / WEFT_NS;
	weft_sent(a->w.c, a->u.peer, w[0]);
	ultra_pingpong_put(a, seq, w);
}

static int ultra_pingpong_get(struct uw *a, uint64_t *tag, uint64_t *w)
{
	if (a->retrieve != BY_TAGGED)
		return ultra_recv(&a->u.rx, tag, w, ULTRA_PAYLOAD_MAX,
				  WEFT_NEVER);
	while (!ultra_poll_tagged(&a->u.rx, tag, w, a->words))
		;
	return (int)a->words;
}

static void ultra_pingpong_recv(struct uw *a, uint64_t seq)
{
	uint64_t w[ULTRA_PAYLOAD_MAX], tag = 0;
	int n = ultra_pingpong_get(a, &tag, w);
	weft_time_t now = weft_host_now(a->w.h);
	double ns;

	weft_got(a->w.c, a->u.peer, now);
	if (n != (int)a->words || tag != seq ||
	    (n > 1 &&
	     program_check(w, 1, a->words,
			   program_base(a->u.peer, a->w.me, seq)) >= 0))
		weft_check_failed(a->w.c, "packet %u is not what was sent",
				  (unsigned)seq);
	if (n < 1)
		return;
	ns = (double)(now - w[0]) / WEFT_NS;
	a->got_at += (double)now / WEFT_NS;
	a->sum += ns;
	a->least = seq && a->least < ns ? a->least : ns;
	a->most = a->most > ns ? a->most : ns;
}

/* Different phases of all clocks from round to round. */
static void pause(struct uw *a, uint64_t i)
{
	if (a->pause)
		weft_host_cpu(a->w.h,
			      program_mix(i) % (2 * a->pause) / 1000 * 1000 +
				      1);
}

/* As fast as they go, one way; a packet that finds no room is not sent again,
 * so they are few. */
static void burst(struct uw *a)
{
	for (uint64_t i = 0; i < a->burst; i++)
		if (!a->w.me)
			ultra_pingpong_send(a, i);
		else
			ultra_pingpong_recv(a, i);
}

/* A load of four bytes (UL-11), where no driver keeps the registers to itself.
 */
static void load_time(struct uw *a)
{
	weft_time_t t, t2;

	if (a->u.d.traps)
		return;
	t = weft_host_now(a->w.h);
	weft_io_load32(a->w.h, &a->u.d.mgmt, 0);
	t2 = weft_host_now(a->w.h);
	t = t2 - t - (weft_host_now(a->w.h) - t2);
	weft_metric(a->w.c, "load", "ns", (double)t / WEFT_NS);
}

static void ultra_pingpong_rounds(struct uw *a)
{
	weft_time_t t = weft_host_now(a->w.h);

	for (uint64_t i = 0; i < a->count; i++) {
		pause(a, i);
		if (!a->w.me)
			ultra_pingpong_send(a, i);
		ultra_pingpong_recv(a, i);
		if (a->w.me)
			ultra_pingpong_send(a, i);
	}
	t = weft_host_now(a->w.h) - t;
	if (!a->w.me)
		weft_metric(a->w.c, "half_rtt", "ns",
			    (double)t / 2 / (double)a->count / WEFT_NS);
	weft_metric(a->w.c, "sent_at", "ns", a->sent_at / (double)a->count);
	weft_metric(a->w.c, "got_at", "ns", a->got_at / (double)a->count);
	weft_metric(a->w.c, "latency", "ns", a->sum / (double)a->count);
	weft_metric(a->w.c, "latency_min", "ns", a->least);
	weft_metric(a->w.c, "latency_max", "ns", a->most);
}

static int uw_open(struct uw *a)
{
	struct ultra_rx_attr attr = { .on_device = a->retrieve != FROM_MEMORY };
	int ret = ultraw_open(&a->u, &a->w, a->w.me ? 0 : a->partner, &attr);

	if (!ret && a->words + 1 > a->u.d.max_words) {
		weft_check_failed(
			a->w.c,
			"words: the device takes tag and %u words at most (ultra_max_words)",
			a->u.d.max_words - 1);
		ret = -EMSGSIZE;
	}
	if (!ret && (a->retrieve == BY_TAGGED || a->conditional) &&
	    !weft_io_can_tag(a->w.h, a->u.d.dev)) {
		weft_check_failed(a->w.c, "no tagged accesses on this bus");
		ret = -ENOTSUP;
	}
	return ret;
}

static int uw_main(struct weft_comp *c)
{
	struct uw *a = c->state;
	int ret;

	a->w = program_from(c);
	if (!a->partner || a->partner >= a->w.n) {
		weft_check_failed(c, "partner: one of 1..%u", a->w.n - 1);
		return -EINVAL;
	}
	if (a->w.me && a->w.me != a->partner)
		return 0;
	ret = uw_open(a);
	if (ret)
		return ret;
	load_time(a);
	if (a->burst)
		burst(a);
	else
		ultra_pingpong_rounds(a);
	if (a->conditional)
		weft_metric(c, "refused", "", (double)a->refused);
	ultraw_close(&a->u);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, doc)                                        \
	WEFT_PARAM(type, struct uw, field, def, range, OWN, doc)
static const struct weft_param uw_params[] = {
	P(U64, count, "100", "1..", "round trips"),
	P(U32, words, "1", "1..31", "of payload, besides the tag"),
	P(U32, partner, "1", "1..", "the node that sends them back"),
	P(ENUM, retrieve, "memory", "memory|device|tagged",
	  "packets are in memory, or read from the device (9.6): by loads, or by "
	  "tagged loads that tell whether one is there (10.1)"),
	P(BOOL, conditional, "no", "", "packets of up to 7 words leave by tagged "
	  "conditional stores (10.1)"),
	P(TIME, grid, "0",  "", "stores begin at multiples of this; 0 = any time"),
	P(U64, burst, "0", "0..30", "instead: so many packets one after the other"),
	P(TIME, pause, "0", "", "mean of a random time before each round"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(ultra_pingpong, .name = "ultra.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "ping-pong over ULTRA", .source = "hostport.md 9, 11.5",
	       .state_size = sizeof(struct uw), .params = uw_params,
	       .ops = { .main = uw_main });
