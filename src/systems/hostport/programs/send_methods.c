/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on the ways to send of the Host Port (hostport.md 11.9):
 *
 *   hostport.pingpong  messages to and fro between node 0 and a partner: half
 *                      round trip; get: from the trigger to the notification
 *   hostport.stream    node 0 sends (or gets) as fast as it can
 *
 * Small instructions carry longer messages in pieces. */
#include <errno.h>

#include "systems/hostport/programs/hostport_program.h"

struct curve {
	uint64_t count, size;
	uint32_t way, partner, depth;
	bool ordered;
	uint32_t issue;
	uint64_t mtu;
	struct hpw v;
};

static int curve_open(struct curve *a, struct weft_comp *c)
{
	a->v.way = a->way;
	a->v.unordered = !a->ordered;
	a->v.tagged = a->issue;
	a->v.mtu = a->mtu;
	a->v.size = a->size;
	return hostport_program_open(&a->v, c, a->partner);
}

static bool takes_part(const struct curve *a)
{
	return !a->v.w.me || a->v.w.me == a->partner;
}

/* The pattern of message seq, its number in the last word. */
static void send_methods_fill(struct curve *a, uint8_t *to, uint32_t src,
			      uint64_t seq)
{
	uint32_t words = (uint32_t)(a->v.size / 8);

	program_fill(to, words, program_base(src, 0, seq));
	((uint64_t *)to)[words - 1] = seq;
}

static void send_methods_check(struct curve *a, uint32_t src, uint64_t seq)
{
	uint32_t words = (uint32_t)(a->v.size / 8);

	if (program_check(a->v.in, 0, words - 1, program_base(src, 0, seq)) >=
		    0 ||
	    ((uint64_t *)a->v.in)[words - 1] != seq)
		weft_check_failed(a->v.w.c, "message %llu is not what was sent",
				  (unsigned long long)seq);
}

/* ---- ping-pong ---- */

/* The device reads the message until it says that it is done. */
static void send_methods_stamp(struct curve *a, uint64_t seq)
{
	while (a->way == HPW_PUT && a->v.done < a->v.posted)
		hostport_program_absorb(&a->v);
	((uint64_t *)(a->v.out + a->v.size))[-1] = seq;
}

static void round_trip(struct curve *a, uint64_t seq)
{
	send_methods_stamp(a, seq);
	if (!a->v.w.me)
		hostport_program_send(&a->v, 0);
	hostport_program_recv(&a->v, seq);
	if (!a->v.w.me)
		return;
	if (seq > 1)
		program_turn(&a->v.w, 0);
	hostport_program_send(&a->v, 0);
}

static void get_once(struct curve *a)
{
	if (a->v.w.me)
		return;
	hostport_program_send(&a->v, 0);
	while (a->v.done < a->v.posted)
		hostport_program_absorb(&a->v);
}

static void send_methods_once(struct curve *a, uint64_t seq)
{
	if (hostport_program_fetches(a->way))
		get_once(a);
	else
		round_trip(a, seq);
}

/* A get comes back to where it began. */
static uint32_t other_end(const struct curve *a)
{
	return hostport_program_fetches(a->way) || a->v.w.me ? 0 : a->partner;
}

static void send_methods_rounds(struct curve *a)
{
	bool serves = a->v.w.me;

	if (!serves)
		program_sent(&a->v.w, other_end(a));
	for (uint64_t i = 2; i < a->count + 2; i++) {
		send_methods_once(a, i);
		if (!serves && i < a->count + 1)
			program_turn(&a->v.w, other_end(a));
	}
}

/* The first message, with its contents; caches and TLBs know it then. */
static void send_methods_first(struct curve *a)
{
	uint32_t peer = a->v.w.me ? 0 : a->partner;

	send_methods_fill(a, a->v.out, a->v.w.me, 1);
	program_barrier(&a->v.w, "hp.filled");
	if (!takes_part(a))
		return;
	send_methods_once(a, 1);
	if (!hostport_program_fetches(a->way) || !a->v.w.me)
		send_methods_check(a, peer, 1);
}

static int pingpong_main(struct weft_comp *c)
{
	struct curve *a = c->state;
	double trips = hostport_program_fetches(a->way) ? 1 : 2;
	weft_time_t t;

	if (curve_open(a, c))
		return -EIO;
	send_methods_first(a);
	program_barrier(&a->v.w, "hp.first");
	t = weft_host_now(a->v.w.h);
	if (takes_part(a))
		send_methods_rounds(a);
	t = weft_host_now(a->v.w.h) - t;
	if (!a->v.w.me)
		program_got(&a->v.w, other_end(a));
	if (!a->v.w.me)
		weft_metric(c, "latency", "ns",
			    (double)t / WEFT_NS / trips / (double)a->count);
	hostport_program_close(&a->v);
	return 0;
}

/* ---- stream ---- */

static bool send_methods_receives(const struct curve *a)
{
	return a->v.w.me == a->partner &&
	       (a->way < HPW_FAST_PUT || a->way == HPW_ULTRA);
}

static void stream_send(struct curve *a)
{
	for (uint64_t i = 0; i < a->count; i++) {
		while (a->v.posted - a->v.done >= a->depth)
			hostport_program_absorb(&a->v);
		hostport_program_send(&a->v, HPORT_ACK);
	}
	while (a->v.done < a->v.posted)
		hostport_program_absorb(&a->v);
}

/* ULTRA tells nobody when a packet has arrived: the receiver's clock does. */
static weft_time_t stream_end(struct curve *a)
{
	weft_time_t now = weft_host_now(a->v.w.h);

	if (a->way != HPW_ULTRA)
		return now;
	if (a->v.w.me == a->partner)
		program_put(&a->v.w, "hp.end", now);
	return a->v.w.me ? now : program_get(&a->v.w, "hp.end", a->partner);
}

static int stream_main(struct weft_comp *c)
{
	struct curve *a = c->state;
	weft_time_t t;

	if (curve_open(a, c))
		return -EIO;
	send_methods_first(a);
	program_barrier(&a->v.w, "hp.first");
	t = weft_host_now(a->v.w.h);
	if (!a->v.w.me)
		stream_send(a);
	for (uint64_t i = 0; send_methods_receives(a) && i < a->count; i++)
		hostport_program_recv(&a->v, 0);
	t = stream_end(a) - t;
	if (!a->v.w.me)
		weft_metric(c, "bandwidth", "MB/s",
			    (double)(a->count * a->v.size) /
				    ((double)t / WEFT_US));
	hostport_program_close(&a->v);
	return 0;
}

// clang-format off
static const struct weft_param curve_params[] = {
	WEFT_PARAM(U64, struct curve, count, "50", "1..", OWN, "messages"),
	WEFT_PARAM(BYTES, struct curve, size, "8", "8..1048576", OWN,
		   "bytes of a message, multiples of 8"),
	WEFT_PARAM(ENUM, struct curve, way, "fast_send", HPW_WAYS, OWN,
		   "instruction"),
	WEFT_PARAM(U32, struct curve, partner, "1", "1..", OWN,
		   "node that node 0 talks to"),
	WEFT_PARAM(U32, struct curve, depth, "16", "1..", OWN,
		   "stream: instructions under way"),
	WEFT_PARAM(BOOL, struct curve, ordered, "yes", "", OWN,
		   "instructions to the partner stay in order (SB6)"),
	WEFT_PARAM(ENUM, struct curve, issue, "trigger", "trigger|tagged", OWN,
		   "load of a Triggerpage, or tagged conditional store (10.2)"),
	WEFT_PARAM(BYTES, struct curve, mtu, "0", "0..1048576", OWN,
		   "longer messages are segmented by the library, mtu_bytes of "
		   "the specification (3.5); 0 = they are not"),
	{ 0 }
};
// clang-format on

static int curve_init(struct weft_comp *c, struct weft_err *err)
{
	const struct curve *a = c->state;

	return hostport_program_words(c, "size", a->size, err) ||
			       hostport_program_words(c, "mtu", a->mtu, err)
		       ? -EINVAL
		       : 0;
}

WEFT_COMPONENT(hostport_pingpong, .name = "hostport.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "latency of the Host Port's ways to send",
	       .source = "hostport.md 11.9", .state_size = sizeof(struct curve),
	       .params = curve_params,
	       .ops = { .init = curve_init, .main = pingpong_main });
WEFT_COMPONENT(hostport_stream, .name = "hostport.stream",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "bandwidth of the Host Port's ways to send",
	       .source = "hostport.md 11.9", .state_size = sizeof(struct curve),
	       .params = curve_params,
	       .ops = { .init = curve_init, .main = stream_main });
