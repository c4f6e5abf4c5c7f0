/* SPDX-License-Identifier: Apache-2.0 */
/* Program ultra.pingpong (hostport.md 9, 11.5, 11.6): node 0 and a partner
 * exchange packets over ULTRA.  Paths are set up by the drivers; their control
 * messages take the out-of-band network.
 *
 * latency is the time from a packet's store to its status word seen, measured
 * with the one clock that all nodes have; half_rtt is the usual measure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "weft/ultra.h"
#include "work/work.h"

struct uw {
	uint64_t count;
	uint32_t words, partner;
	bool on_device;
	weft_time_t pause, grid;
	uint64_t burst;
	double sent_at, got_at; /* sums, ns */
	struct work w;
	uint32_t sent, got; /* control messages */
	double sum, least, most;
};

/* ---- control messages ---- */

static void ctl_key(char *key, size_t size, uint32_t from, uint32_t to,
		    uint32_t msg, uint32_t word)
{
	snprintf(key, size, "ultra.%u.%u.%u.%u", from, to, msg, word);
}

static void ctl_send(void *own, uint32_t node, const uint64_t *w)
{
	struct uw *a = own;
	char key[64];

	for (uint32_t i = 0; i < ULTRA_MSG_WORDS; i++) {
		ctl_key(key, sizeof(key), a->w.me, node, a->sent, i);
		weft_oob_put(a->w.h, key, w[i]);
	}
	a->sent++;
}

static void ctl_recv(void *own, uint32_t node, uint64_t *w)
{
	struct uw *a = own;
	char key[64];

	for (uint32_t i = 0; i < ULTRA_MSG_WORDS; i++) {
		ctl_key(key, sizeof(key), node, a->w.me, a->got, i);
		w[i] = weft_oob_get(a->w.h, key);
	}
	a->got++;
}

/* Both are ready. */
static void ctl_meet(struct uw *a, uint32_t peer)
{
	uint64_t w[ULTRA_MSG_WORDS] = { 0 };

	ctl_send(a, peer, w);
	ctl_recv(a, peer, w);
}

/* ---- ping-pong ---- */

static void send(struct uw *a, struct ultra_tx *tx, uint32_t to, uint64_t seq)
{
	uint64_t w[ULTRA_PAYLOAD_MAX];

	work_fill(w, a->words, work_base(a->w.me, to, seq));
	w[0] = weft_host_now(a->w.h); /* for the other side */
	if (a->grid) {
		w[0] = (w[0] / a->grid + 2) * a->grid;
		weft_host_sleep(a->w.h, w[0]);
	}
	a->sent_at += (double)w[0] / WEFT_NS;
	ultra_send(tx, 0, seq, w, a->words);
}

static void recv(struct uw *a, struct ultra_rx *rx, uint32_t from, uint64_t seq)
{
	uint64_t w[ULTRA_PAYLOAD_MAX], tag = 0;
	int n = ultra_recv(rx, &tag, w, ULTRA_PAYLOAD_MAX, WEFT_NEVER);
	weft_time_t now = weft_host_now(a->w.h);
	double ns;

	if (n != (int)a->words || tag != seq ||
	    (n > 1 &&
	     work_check(w, 1, a->words, work_base(from, a->w.me, seq)) >= 0))
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
			      work_mix(i) % (2 * a->pause) / 1000 * 1000 + 1);
}

/* As fast as they go, one way; a packet that finds no room is not sent again,
 * so they are few. */
static void burst(struct uw *a, struct ultra_tx *tx, struct ultra_rx *rx,
		  uint32_t peer)
{
	for (uint64_t i = 0; i < a->burst; i++)
		if (!a->w.me)
			send(a, tx, peer, i);
		else
			recv(a, rx, peer, i);
}

/* A load of four bytes (UL-11). */
static void load_time(struct uw *a, struct ultra_drv *d)
{
	weft_time_t t = weft_host_now(a->w.h), t2;

	weft_io_load32(a->w.h, &d->mgmt, 0);
	t2 = weft_host_now(a->w.h);
	t = t2 - t - (weft_host_now(a->w.h) - t2);
	weft_metric(a->w.c, "load", "ns", (double)t / WEFT_NS);
}

static void rounds(struct uw *a, struct ultra_tx *tx, struct ultra_rx *rx,
		   uint32_t peer)
{
	weft_time_t t = weft_host_now(a->w.h);

	for (uint64_t i = 0; i < a->count; i++) {
		pause(a, i);
		if (!a->w.me)
			send(a, tx, peer, i);
		recv(a, rx, peer, i);
		if (a->w.me)
			send(a, tx, peer, i);
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

static int paths(struct uw *a, struct ultra_drv *d, uint32_t peer,
		 struct ultra_tx *tx, struct ultra_rx *rx)
{
	struct ultra_ctl c = { a, ctl_send, ctl_recv };
	struct ultra_rx_attr attr = { .on_device = a->on_device };
	int ret = 0;

	for (uint32_t i = 0; !ret && i < 2; i++)
		ret = i == !a->w.me ? ultra_accept(d, &c, peer, &attr, rx)
				    : ultra_connect(d, &c, peer, 0, tx);
	return ret;
}

static int uw_main(struct weft_comp *c)
{
	struct uw *a = c->state;
	struct ultra_drv d;
	struct ultra_tx tx;
	struct ultra_rx rx;
	uint32_t peer;
	int ret;

	a->w = work_of(c);
	if (!a->partner || a->partner >= a->w.n) {
		weft_check_failed(c, "partner: one of 1..%u", a->w.n - 1);
		return -EINVAL;
	}
	if (a->w.me && a->w.me != a->partner)
		return 0;
	peer = a->w.me ? 0 : a->partner;
	ret = ultra_open(a->w.h, &d);
	if (!ret)
		ret = paths(a, &d, peer, &tx, &rx);
	if (ret) {
		weft_check_failed(c, "no path: error %d", ret);
		return ret;
	}
	ctl_meet(a, peer);
	load_time(a, &d);
	if (a->burst)
		burst(a, &tx, &rx, peer);
	else
		rounds(a, &tx, &rx, peer);
	ultra_tx_close(&tx);
	ultra_rx_close(&rx);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, doc)                                        \
	WEFT_PARAM(type, struct uw, field, def, range, OWN, doc)
static const struct weft_param uw_params[] = {
	P(U64, count, "100", "1..", "round trips"),
	P(U32, words, "1", "1..31", "of payload, besides the tag"),
	P(U32, partner, "1", "1..", "the node that sends them back"),
	P(BOOL, on_device, "no", "", "packets are read from the device (9.6)"),
	P(TIME, grid, "0",  "", "stores begin at multiples of this; 0 = any time"),
	P(U64, burst, "0", "0..30", "instead: so many packets one after the other"),
	P(TIME, pause, "0", "", "mean of a random time before each round"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(ultra_pingpong, .name = "ultra.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .doc = "ping-pong over ULTRA",
	       .source = "hostport.md 9, 11.5", .state_size = sizeof(struct uw),
	       .params = uw_params, .ops = { .main = uw_main });
