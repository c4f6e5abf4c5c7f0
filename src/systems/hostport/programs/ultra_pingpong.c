/* SPDX-License-Identifier: Apache-2.0 */
/* Program ultra.pingpong (hostport.md 9, 11.5, 11.6): node 0 and a partner
 * exchange packets over ULTRA.
 *
 * latency is the time from the store of a packet until its status word is
 * polled, measured with the one clock that all nodes have. half_rtt is half of
 * the round trip, as in every ping-pong. */
#include <errno.h>

#include "programs/pingpong.h"
#include "systems/hostport/programs/ultra_program.h"
#include "weft/trace.h"

struct ultra_pingpong {
	struct pingpong p;
	uint32_t retrieve;
	bool conditional;
	weft_time_t pause, grid;
	uint64_t burst;
	struct ultraw u;
	/* number of conditional stores that the device refused */
	uint64_t refused;
	/* times in ns. sent_at, got_at: store and arrival of the packets of
	 * this round. sum, least, most: latencies of all rounds of a size */
	double sent_at, got_at, sum, least, most;
	uint64_t in[ULTRA_PAYLOAD_MAX];
};

enum { FROM_MEMORY, FROM_DEVICE, BY_TAGGED };

/* ---- a packet ---- */

static void ultra_pingpong_put(struct ultra_pingpong *a, uint64_t seq)
{
	uint32_t words = (uint32_t)(a->p.len / 8);
	uint64_t w[ULTRA_PAYLOAD_MAX];
	weft_time_t at;

	pingpong_fill(&a->p, w, seq);
	at = weft_host_now(a->p.w.h);
	if (a->grid) {
		at = (at / a->grid + 2) * a->grid;
		weft_host_sleep(a->p.w.h, at);
	}
	w[0] = at; /* time of the store, which the partner subtracts */
	a->sent_at += (double)at / WEFT_NS;
	weft_sent(a->p.w.c, a->p.peer, at);
	if (!a->conditional) {
		ultra_send(&a->u.tx, 0, seq, w, words);
		return;
	}
	while (!ultra_send_cond(&a->u.tx, 0, seq, w, words))
		a->refused++;
}

static int ultra_pingpong_get(struct ultra_pingpong *a, uint64_t seq)
{
	uint32_t words = (uint32_t)(a->p.len / 8);
	uint64_t *w = a->in, tag = 0;
	weft_time_t now;
	int n = (int)words;
	double ns;

	if (a->retrieve != BY_TAGGED)
		n = ultra_recv(&a->u.rx, &tag, w, ULTRA_PAYLOAD_MAX,
			       WEFT_NEVER);
	else
		while (!ultra_poll_tagged(&a->u.rx, &tag, w, words))
			;
	now = weft_host_now(a->p.w.h);
	weft_got(a->p.w.c, a->p.peer, now);
	a->p.in = w;
	if (n != (int)words || tag != seq) {
		weft_check_failed(a->p.w.c, "packet %u is not what was sent",
				  (unsigned)seq);
		return -EIO;
	}
	ns = (double)(now - w[0]) / WEFT_NS;
	a->got_at += (double)now / WEFT_NS;
	a->sum += ns;
	a->least = seq % a->p.count && a->least < ns ? a->least : ns;
	a->most = a->most > ns ? a->most : ns;
	return 0;
}

/* ---- rounds ---- */

/* Pauses for a different time in each round, so that the phases of the clocks
 * differ. */
static void ultra_pingpong_pause(struct ultra_pingpong *a, uint64_t i)
{
	if (a->pause)
		weft_host_cpu(a->p.w.h,
			      program_mix(i) % (2 * a->pause) / 1000 * 1000 +
				      1);
}

static int ultra_pingpong_send(struct pingpong *p, uint64_t seq)
{
	struct ultra_pingpong *a = (struct ultra_pingpong *)p;

	if (p->begins)
		ultra_pingpong_pause(a, seq);
	ultra_pingpong_put(a, seq);
	return 0;
}

static int ultra_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	struct ultra_pingpong *a = (struct ultra_pingpong *)p;

	if (!p->begins)
		ultra_pingpong_pause(a, seq);
	return ultra_pingpong_get(a, seq);
}

static void ultra_pingpong_sized(struct pingpong *p, double half)
{
	struct ultra_pingpong *a = (struct ultra_pingpong *)p;
	double n = (double)p->count;

	(void)half;
	weft_metric(p->w.c, "sent_at", "ns", a->sent_at / n);
	weft_metric(p->w.c, "got_at", "ns", a->got_at / n);
	weft_metric(p->w.c, "latency", "ns", a->sum / n);
	weft_metric(p->w.c, "latency_min", "ns", a->least);
	weft_metric(p->w.c, "latency_max", "ns", a->most);
	a->sent_at = a->got_at = a->sum = a->most = 0;
}

static int ultra_pingpong_open(struct pingpong *p)
{
	struct ultra_pingpong *a = (struct ultra_pingpong *)p;
	struct ultra_rx_attr attr = { .on_device = a->retrieve != FROM_MEMORY };
	int ret = ultraw_open(&a->u, &p->w, p->peer, &attr);
	weft_time_t t, t2;

	if (ret)
		return ret;
	if (p->size % 8 || p->step % 8 ||
	    p->size_max / 8 + 1 > a->u.d.max_words) {
		weft_check_failed(
			p->w.c,
			"size: words of 8 bytes; the device takes tag and %u bytes at most (ultra_max_words)",
			8 * (a->u.d.max_words - 1));
		return -EMSGSIZE;
	}
	if ((a->retrieve == BY_TAGGED || a->conditional) &&
	    !weft_io_can_tag(p->w.h, a->u.d.dev)) {
		weft_check_failed(p->w.c, "no tagged accesses on this bus");
		return -ENOTSUP;
	}
	if (!a->u.d.traps) {
		/* measures the time of a load of four bytes (UL-11), unless a
		 * driver keeps the registers to itself */
		t = weft_host_now(p->w.h);
		weft_io_load32(p->w.h, &a->u.d.mgmt, 0);
		t2 = weft_host_now(p->w.h);
		t = t2 - t - (weft_host_now(p->w.h) - t2);
		weft_metric(p->w.c, "load", "ns", (double)t / WEFT_NS);
	}
	return 0;
}

static void ultra_pingpong_close(struct pingpong *p)
{
	struct ultra_pingpong *a = (struct ultra_pingpong *)p;

	if (a->conditional)
		weft_metric(p->w.c, "refused", "", (double)a->refused);
	ultraw_close(&a->u);
}

static const struct pingpong_ops ultra_pingpong_ops = {
	.flags = PINGPONG_BOTH | PINGPONG_UNMARKED | PINGPONG_PAIR,
	.head = 8, /* the first word carries the time of the store */
	.open = ultra_pingpong_open,
	.send = ultra_pingpong_send,
	.wait = ultra_pingpong_wait,
	.sized = ultra_pingpong_sized,
	.close = ultra_pingpong_close,
};

static int ultra_pingpong_main(struct weft_comp *c)
{
	struct ultra_pingpong *a = c->state;
	int ret;

	if (!a->burst)
		return pingpong_main(c, &ultra_pingpong_ops);
	ret = pingpong_open(&a->p, c, &ultra_pingpong_ops);
	if (ret || !pingpong_opens(&a->p))
		return ret;
	/* Sends one way, as fast as possible. Bursts are short, because a
	 * packet that finds no room is not sent again. */
	a->p.len = a->p.size;
	for (uint64_t i = 0; i < a->burst && !ret; i++)
		if (a->p.begins)
			ultra_pingpong_put(a, i);
		else
			ret = ultra_pingpong_get(a, i);
	ultra_pingpong_close(&a->p);
	return ret;
}

/* clang-format off */
#define P(type, field, def, range, doc)                                        \
	WEFT_PARAM(type, struct ultra_pingpong, field, def, range, OWN, doc)
static const struct weft_param ultra_pingpong_params[] = {
	PINGPONG_PARAMS("100", "8", "8..248", "8"),
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
	       .state_size = sizeof(struct ultra_pingpong),
	       .params = ultra_pingpong_params,
	       .ops = { .main = ultra_pingpong_main });
