/* SPDX-License-Identifier: Apache-2.0 */
/* Program ep.traffic: messages of random sizes to random or fixed destinations
 * over the common endpoint. It checks order, length and every byte, and
 * collects latencies in a histogram. All nodes take part. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/times.h"
#include "net/pattern.h"
#include "programs/endpoint_program.h"

#define EPT_NODES 128
/* bit in the imm of a node's last message to another node */
#define EPT_LAST ((uint64_t)1 << 63)

/* Kind of pattern for each value of parameter `pattern`. */
static const enum pattern_kind ept_kinds[] = {
	PATTERN_UNIFORM,
	PATTERN_TURN,
	PATTERN_TURN,
};

struct ept {
	/* Parameters: */
	uint64_t count;
	uint64_t size, size_max;
	uint32_t pattern, rx_slots;
	char to[64];
	weft_time_t gap;
	bool use_irq;
	/* State of the run: */
	struct program w;
	struct weft_ep *ep;
	uint32_t dst[EPT_NODES], n_dst;
	struct pattern choice;
	uint64_t sent[EPT_NODES], got[EPT_NODES], bytes;
	uint32_t ended;
	uint8_t *buf;
	struct weft_hist *latency;
	weft_time_t t0;
};

/* Returns the length of a message: `size`, or a random length from `size` to
 * `size_max`. The message begins with a time stamp of 8 bytes. */
static size_t ept_length(const struct ept *t, uint32_t src, uint32_t dst,
			 uint64_t seq)
{
	uint64_t span = t->size_max - t->size + 1;

	return t->size + program_mix(program_base(src, dst, seq)) % span;
}

static void ept_arrived(struct ept *t, const struct weft_ep_event *ev)
{
	uint64_t seq = t->got[ev->src];
	uint64_t base = program_base(ev->src, t->w.me, seq);
	const uint64_t *time = ev->data;
	int64_t bad;

	if (ev->imm & EPT_LAST) {
		t->ended++;
		if ((ev->imm & ~EPT_LAST) != seq)
			weft_check_failed(t->w.c,
					  "node %u sent %" PRIu64
					  " messages, %" PRIu64 " are here",
					  ev->src, ev->imm & ~EPT_LAST, seq);
		return;
	}
	t->got[ev->src]++;
	t->bytes += ev->len;
	bad = epw_check(time + 1, ev->len - 8, base);
	if (ev->imm != seq || bad >= 0 ||
	    ev->len != ept_length(t, ev->src, t->w.me, seq))
		weft_check_failed(t->w.c,
				  "message %" PRIu64
				  " of node %u: number %" PRIu64
				  ", wrong byte %" PRId64,
				  seq, ev->src, ev->imm, bad);
	weft_hist_put(t->latency,
		      (double)(weft_host_now(t->w.h) - *time) / WEFT_NS);
}

static int ept_serve(struct ept *t)
{
	struct weft_ep_event ev[8];
	int n = t->ep->ops->poll(t->ep, ev, 8);

	for (int i = 0; i < n; i++) {
		if (ev[i].kind != WEFT_EV_RECV)
			continue;
		ept_arrived(t, &ev[i]);
		t->ep->ops->release(t->ep, &ev[i]);
	}
	return n;
}

/* Sends a message and waits for its completion event, because the endpoint may
 * read the buffer until that event. */
static void ept_send(struct ept *t, uint32_t dst, size_t len, uint64_t imm)
{
	struct weft_ep_event ev[1];
	bool sent;
	int ret;

	while ((ret = weft_ep_send(t->ep, dst, t->buf, len, imm, t->buf)) ==
	       -EAGAIN)
		ept_serve(t);
	if (ret)
		weft_check_failed(t->w.c, "send to node %u says %d", dst, ret);
	sent = ret;
	while (!sent) {
		int n = t->ep->ops->poll(t->ep, ev, 1);

		if (n && ev[0].kind == WEFT_EV_RECV) {
			ept_arrived(t, ev);
			t->ep->ops->release(t->ep, ev);
		}
		sent = n && ev[0].ctx == t->buf;
		if (!n)
			t->ep->ops->wait(t->ep, WEFT_NEVER);
	}
}

static void ept_run(struct ept *t)
{
	weft_time_t next = t->t0;

	for (uint64_t k = 0; k < t->count && t->n_dst; k++) {
		uint64_t seq;
		uint32_t d;
		size_t len;

		next += t->gap;
		while (weft_host_now(t->w.h) < next)
			if (!ept_serve(t))
				t->ep->ops->wait(t->ep, next);
		d = pattern_dest(&t->choice, &t->w.c->rng);
		seq = t->sent[d]++;
		len = ept_length(t, t->w.me, d, seq);
		*(uint64_t *)t->buf = weft_host_now(t->w.h);
		epw_fill(t->buf + 8, len - 8, program_base(t->w.me, d, seq));
		ept_send(t, d, len, seq);
	}
	/* The last message to a node contains the number of messages sent to
	 * it, so that the node detects lost messages. */
	for (uint32_t p = 0; p < t->w.n; p++)
		ept_send(t, p, 0, EPT_LAST | t->sent[p]);
	while (t->ended < t->w.n)
		if (!ept_serve(t))
			t->ep->ops->wait(t->ep, WEFT_NEVER);
}

static int ept_open(struct ept *t)
{
	struct weft_ep_attr a = { .rx_slots = t->rx_slots,
				  .use_irq = t->use_irq };
	weft_phys_t phys;
	int n;

	if (!t->size_max)
		t->size_max = t->size;
	if (t->size_max > 4096)
		a.max_msg = (uint32_t)t->size_max;
	n = t->w.n > EPT_NODES ? -1
			       : program_nodes(&t->w, t->to, t->dst, EPT_NODES);
	if (n < 0 || t->size < 8 || t->size_max < t->size)
		return -EINVAL;
	t->n_dst = (uint32_t)n;
	t->choice = (struct pattern){ .kind = ept_kinds[t->pattern],
				      .node = t->w.me,
				      .nodes = t->w.n,
				      .self = true,
				      .set = t->dst,
				      .n_set = t->n_dst };
	t->buf = weft_mem_alloc(t->w.h, t->size_max + 8, 64, &phys);
	if (!t->buf)
		return -ENOMEM;
	return weft_ep_open(t->w.h, &a, &t->ep);
}

static int ept_main(struct weft_comp *c)
{
	struct ept *t = c->state;
	uint64_t msgs = 0;
	double s;
	int ret;

	t->w = program_from(c);
	t->latency = weft_hist(c, "latency", "ns");
	ret = ept_open(t);
	if (ret) {
		weft_check_failed(c, "cannot start: %s", program_why(ret));
		return ret;
	}
	program_barrier(&t->w, "ept.go");
	t->t0 = weft_host_now(t->w.h);
	ept_run(t);
	s = (double)(weft_host_now(t->w.h) - t->t0) / WEFT_SEC;
	for (uint32_t p = 0; p < t->w.n; p++)
		msgs += t->got[p];
	weft_metric(c, "received", "messages", (double)msgs);
	weft_metric(c, "bandwidth_in", "MiB/s", (double)t->bytes / s / 1048576);
	weft_metric(c, "message_rate", "messages/s", (double)msgs / s);
	program_barrier(&t->w, "ept.end");
	host_nap(t->w.h, T_settle);
	t->ep->ops->close(t->ep);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct ept, field, def, range, OWN, doc)
static const struct weft_param ept_params[] = {
	P(U64, count, "1000", "", "messages this node sends"),
	P(BYTES, size, "64", "8..1MiB", "smallest message"),
	P(BYTES, size_max, "0", "0..1MiB", "largest; 0 = all the same"),
	P(ENUM, pattern, "uniform", "uniform|round-robin|fixed",
	  "order of destinations"),
	P(STR, to, "all", "",
	  "destinations: 0,2,4..6 or all, others, self, next, none"),
	P(U32, rx_slots, "0", "0..4096", "slots per peer; 0 = the library's"),
	P(TIME, gap, "0", "", "time between messages; 0 = none"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(ep_traffic, .name = "ep.traffic", .kind = WEFT_KIND_PROGRAM,
	       .doc = "checked messages over the common endpoint",
	       .source = "ep.h", .state_size = sizeof(struct ept),
	       .params = ept_params, .ops = { .main = ept_main });
