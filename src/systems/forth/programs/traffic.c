/* SPDX-License-Identifier: Apache-2.0 */
/* Programs forth.traffic and forth.stream: messages over the native FORTH
 * library to any set of destinations, as fast as possible or at an offered
 * load. The receiver checks every byte and every notification (forth.md 13, V02
 * to V06).
 *
 * All nodes of a run take part. A node with count 0 only receives. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/times.h"
#include "systems/forth/nic/regs_map.h"
#include "systems/forth/programs/traffic.h"

/* ---- set-up ---- */

/* Returns this node's destination in permutation number `hot` of the nodes. All
 * nodes compute the same permutation. */
static uint32_t traffic_permuted(const struct traffic *t)
{
	uint32_t n = t->w.n, p[TRAFFIC_NODES];
	uint64_t r = program_mix(n + 17 * (uint64_t)t->hot);

	for (uint32_t i = 0; i < n; i++)
		p[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t k = (uint32_t)((r = program_mix(r + i)) % (i + 1));
		uint32_t x = p[i];

		p[i] = p[k];
		p[k] = x;
	}
	return p[t->w.me];
}

static int traffic_destinations(struct traffic *t)
{
	/* PERMUTE has one destination, dst[0] */
	static const enum pattern_kind kinds[] = {
		[TRAFFIC_EACH] = PATTERN_TURN,
		[TRAFFIC_RR] = PATTERN_TURN,
		[TRAFFIC_UNIFORM] = PATTERN_UNIFORM,
		[TRAFFIC_HOTSPOT] = PATTERN_HOTSPOT,
		[TRAFFIC_PERMUTE] = PATTERN_TURN,
	};
	int n = program_nodes(&t->w, t->to, t->dst, TRAFFIC_NODES);
	struct pattern_shape shape = { 0 };
	struct weft_err err;

	if (n < 0)
		return -EINVAL;
	t->n_dst = (uint32_t)n;
	if (t->pattern == TRAFFIC_PERMUTE) {
		t->dst[0] = traffic_permuted(t);
		t->n_dst = 1;
	}
	if (!t->n_dst || (t->pattern == TRAFFIC_HOTSPOT && t->hot >= t->w.n))
		t->count = 0;
	for (uint32_t i = 0; i < t->n_dst; i++)
		t->tx[t->dst[i]].quota = t->count / t->n_dst;
	if (t->pattern == TRAFFIC_EACH && t->load <= 0 && t->n_dst)
		t->count = t->count / t->n_dst * t->n_dst;
	if (!t->count)
		return 0;
	t->choice = (struct pattern){ .kind = kinds[t->pattern],
				      .node = t->w.me,
				      .nodes = t->w.n,
				      .self = true,
				      .hot = t->hot_share,
				      .set = t->dst,
				      .n_set = t->n_dst };
	if (t->pattern == TRAFFIC_HOTSPOT)
		shape.dest = t->hot;
	if (!pattern_init(&t->choice, &shape, &err))
		return 0;
	weft_check_failed(t->w.c, "%s", err.msg);
	return -EINVAL;
}

static int traffic_check_params(struct traffic *t)
{
	if (t->w.n > TRAFFIC_NODES || t->size % 8 || t->size_max % 8 ||
	    t->size_max < t->size) {
		weft_check_failed(
			t->w.c,
			"up to %u nodes; sizes are multiples of 8, size_max not below size",
			TRAFFIC_NODES);
		return -EINVAL;
	}
	/* request a notification at least for every quarter of the window,
	 * because the receiver returns credits only when it handles a
	 * notification */
	if (t->count > t->window && (!t->notify || t->notify > t->window / 4))
		t->notify = t->window / 4 ? t->window / 4 : 1;
	return 0;
}

static bool traffic_alloc_tx(struct traffic *t, uint32_t d)
{
	struct traffic_tx *tx = &t->tx[d];

	if (tx->buf)
		return true;
	tx->buf = weft_mem_alloc(t->w.h, (size_t)t->window * t->slot_bytes, 64,
				 &tx->phys);
	tx->due = t->load > 0 ? weft_host_calloc(t->w.h, 1024, sizeof(*tx->due))
			      : NULL;
	return tx->buf && (t->load <= 0 || tx->due);
}

static int traffic_alloc(struct traffic *t, weft_phys_t *rx_p,
			 weft_phys_t *control_p)
{
	uint32_t n = t->w.n;

	t->control_bytes = WEFT_FORTH_NOTIFY_BYTES + 8 * (TRAFFIC_ACKS + 1) * n;
	t->control = weft_mem_alloc(t->w.h, t->control_bytes, 64, control_p);
	t->word = weft_mem_alloc(t->w.h, 8 * (TRAFFIC_ACKS + 1) * n, 64,
				 &t->word_phys);
	t->rx_buf = weft_mem_alloc(
		t->w.h, (size_t)n * t->window * t->slot_bytes, 64, rx_p);
	if (!t->control || !t->word || !t->rx_buf)
		return -ENOMEM;
	t->credit = (uint64_t *)(t->control + WEFT_FORTH_NOTIFY_BYTES);
	t->fin = t->credit + TRAFFIC_ACKS * n;
	for (uint32_t i = 0; i < t->n_dst; i++)
		if (!traffic_alloc_tx(t, t->dst[i]))
			return -ENOMEM;
	if (t->pattern == TRAFFIC_HOTSPOT && t->count &&
	    !traffic_alloc_tx(t, t->hot))
		return -ENOMEM;
	return 0;
}

/* Exchanges sizes and windows with all nodes. All nodes use the largest size
 * and the largest window: a slot is as large as the largest message of any
 * node. */
static void traffic_agree(struct traffic *t)
{
	uint64_t max = t->size_max, window = t->window;

	program_put(&t->w, "traffic.max", max);
	program_put(&t->w, "traffic.window", window);
	for (uint32_t i = 0; i < t->w.n; i++) {
		uint64_t m = program_get(&t->w, "traffic.max", i);
		uint64_t win = program_get(&t->w, "traffic.window", i);

		max = m > max ? m : max;
		window = win > window ? win : window;
	}
	t->slot_bytes = (uint32_t)max;
	t->window = (uint32_t)window;
}

static void traffic_meet(struct traffic *t, weft_phys_t rx, weft_phys_t control)
{
	struct program *w = &t->w;

	program_put(w, "traffic.min", t->size);
	program_put(w, "traffic.notify", t->notify);
	program_put(w, "traffic.count", t->count);
	program_put(w, "traffic.control", control);
	program_put(w, "traffic.rx", rx);
	for (uint32_t i = 0; i < w->n; i++) {
		struct traffic_peer *p = &t->peer[i];

		p->rx = program_get(w, "traffic.rx", i) +
			(uint64_t)w->me * t->window * t->slot_bytes;
		p->control = program_get(w, "traffic.control", i);
		p->count = program_get(w, "traffic.count", i);
		p->notify = (uint32_t)program_get(w, "traffic.notify", i);
		p->min = (uint32_t)program_get(w, "traffic.min", i) / 8;
		p->max = (uint32_t)program_get(w, "traffic.max", i) / 8;
	}
}

/* Refuses messages of a node to itself on a direct cable, because the cable's
 * one flow leads to the other end. */
static int traffic_check_self(struct traffic *t)
{
	bool self = false;

	for (uint32_t i = 0; i < t->n_dst && t->count; i++)
		self |= t->dst[i] == t->w.me;
	if (!self || t->w.n != 2 || weft_forth_load(t->f, FORTH_PORT) != 1)
		return 0;
	weft_check_failed(
		t->w.c,
		"node %u sends to itself, but its cable leads to another NIC: put a switch in between, or say to: others",
		t->w.me);
	return -EINVAL;
}

static int traffic_open(struct traffic *t)
{
	struct weft_forth_attr attr = { .post = t->post,
					.lnotify_every = t->lnotify };
	weft_phys_t rx, control;
	int ret;

	if (!t->size_max)
		t->size_max = t->size;
	traffic_agree(t);
	ret = traffic_check_params(t);
	if (!ret)
		ret = traffic_destinations(t);
	if (!ret)
		ret = traffic_alloc(t, &rx, &control);
	if (ret)
		return ret;
	attr.notify = t->control;
	ret = weft_forth_open(t->w.h, &attr, &t->f);
	if (!ret)
		ret = traffic_check_self(t);
	if (!ret)
		traffic_meet(t, rx, control);
	return ret;
}

/* ---- run ---- */

/* Reports the flows that lack credits for words that they have sent, and the
 * nodes whose final word is missing. */
static void traffic_name_missing(struct traffic *t)
{
	for (uint32_t d = 0; d < t->w.n && d < 8; d++) {
		uint32_t s = weft_forth_load(t->f, FORTH_CREDIT_STATE + 4 * d);
		uint32_t out = forth_credit_out(s);

		/* fewer than 32 words may be missing, because a credit counts
		 * in steps of 32 words */
		if (out >= 32)
			weft_check_failed(
				t->w.c,
				"no credits on flow %u: %u words are not given back",
				d, out);
	}
	for (uint32_t s = 0; s < t->w.n; s++)
		if (!t->rx[s].fin && (s != t->w.me || t->tx[s].posted))
			weft_check_failed(
				t->w.c,
				"the final notification of node %u never came: %" PRIu64
				" of its messages did",
				s, t->rx[s].got);
}

static bool traffic_stuck(struct traffic *t)
{
	if (t->now - t->moved < t->patience)
		return false;
	/* A node that has sent its final words may wait long for a node that
	 * still sends. Such a wait is not an error. */
	for (uint32_t i = 0; t->fin_sent && !t->fin_all && i < t->w.n; i++)
		if (!program_there(&t->w, "traffic.fin", i)) {
			t->moved = t->now;
			return false;
		}
	if (t->fin_sent && !t->fin_all) {
		t->moved = t->now;
		t->fin_all = true;
	}
	if (t->now - t->moved < t->patience)
		return false;
	t->errors++;
	weft_check_failed(t->w.c,
			  "no progress: %" PRIu64 " of %" PRIu64
			  " messages sent, final words of %u nodes seen",
			  t->sent, t->count, t->fins);
	traffic_name_missing(t);
	if (!t->fin_sent)
		program_put(&t->w, "traffic.fin", 1);
	return true;
}

static void traffic_loop(struct traffic *t)
{
	bool moved = false, more;
	weft_time_t timed, until;

	while (!traffic_received_all(t)) {
		if (t->clocked)
			t->now = weft_host_now(t->w.h);
		timed = traffic_timed(t);
		more = traffic_send(t);
		more |= traffic_receive(t);
		moved |= more;
		if (more)
			continue;
		t->now = weft_host_now(t->w.h);
		if (moved)
			t->moved = t->now;
		moved = false;
		if (traffic_stuck(t))
			return;
		/* wait until the NIC writes to memory, or until the time of the
		 * next action */
		until = t->moved + t->patience;
		if (t->load > 0 && t->generated < t->count && t->next < until)
			until = t->next;
		if (timed < until)
			until = timed;
		weft_host_poll_range(t->w.h, t->control, t->control_bytes,
				     until);
	}
	t->now = t->moved = weft_host_now(t->w.h);
	while ((timed = traffic_timed(t)) != WEFT_NEVER) {
		weft_host_sleep(t->w.h, timed);
		t->now = weft_host_now(t->w.h);
	}
}

static int traffic_main(struct weft_comp *c)
{
	struct traffic *t = c->state;
	int ret;

	t->w = program_from(c);
	t->latency = t->stamp ? weft_hist(c, "latency", "ns") : NULL;
	ret = traffic_open(t);
	if (!ret) {
		program_barrier(&t->w, "traffic.open");
		traffic_meas_start(t);
		program_barrier(&t->w, "traffic.go");
		t->t0 = t->moved = t->next = t->now = weft_host_now(t->w.h);
		t->clocked =
			t->load > 0 || t->stamp || t->stall_for || t->meas_for;
		if (t->load > 0)
			traffic_schedule(t);
		traffic_loop(t);
		/* credits and final words in flight must arrive before the
		 * first node stops its NIC */
		for (uint32_t d = 0; d < t->w.n; d++)
			weft_forth_flush(t->f, d,
					 weft_host_now(t->w.h) + t->drain);
		program_barrier(&t->w, "traffic.done");
		host_nap(t->w.h, T_settle);
		traffic_meas_end(t);
		program_barrier(&t->w, "traffic.end");
	} else if (ret != -EINVAL) {
		weft_check_failed(c, "cannot open the NIC: %s",
				  program_why(ret));
	}
	for (uint32_t d = 0; d < t->w.n; d++)
		weft_host_free(t->w.h, t->tx[d].due);
	if (t->f)
		weft_forth_close(t->f);
	return ret;
}

/* ---- tables ---- */

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct traffic, field, def, range, OWN, doc)

#define TRAFFIC_PARAMS(pattern_, to_, size_)                                  \
	P(ENUM, pattern, pattern_,                                            \
	  "each|round-robin|uniform|hotspot|permutation",                     \
	  "order of destinations; each = every one at its own pace"),         \
	P(STR, to, to_, "",                                                   \
	  "destinations: 0,2,4..6 or all, others, self, next, none"),         \
	P(U64, count, "1000", "", "messages this node sends"),                \
	P(BYTES, size, size_, "8..1MiB", "payload of a message"),             \
	P(BYTES, size_max, "0", "0..1MiB",                                    \
	  "random sizes up to this; 0 = all the same"),                       \
	P(U32, window, "64", "4..1000000",                                    \
	  "slots per pair of nodes"),                                         \
	P(U32, notify, "1", "",                                               \
	  "every so many messages one remote notification; 0 = none"),        \
	P(U32, lnotify, "0", "0..1024",                                       \
	  "local notification every so many transfers; 0 = a quarter of "     \
	  "the queue"),                                                       \
	P(ENUM, post, "wc", "wc|store64|store32", "how descriptors are "      \
	  "written"),                                                         \
	P(REAL, load, "0", "0..1",                                            \
	  "offered load as a share of the link; 0 = as fast as possible"),    \
	P(ENUM, arrival, "poisson", "fixed|poisson|bursty",                   \
	  "times between messages at an offered load"),                       \
	P(U32, burst, "16", "1..", "messages of a burst"),                    \
	P(RATE, link_rate, "2.5Gb/s", "", "what load refers to"),             \
	P(U32, hot, "0", "", "hot destination; number of the permutation"),   \
	P(REAL, hot_share, "0.5", "0..1", "share of the hot destination"),    \
	P(BOOL, stamp, "no", "",                                              \
	  "first qword carries the time: latency histogram"),                 \
	P(U32, interval, "2000", "",                                          \
	  "bus clocks between samples of the NIC; 0 = off"),                  \
	P(BOOL, series, "no", "", "keep the samples as curves"),              \
	P(TIME, stall_from, "0", "",                                          \
	  "stop this node's DMA engine so long after the start"),             \
	P(TIME, stall_for, "0", "", "and for so long; 0 = never"),            \
	P(TIME, meas_from, "0", "",                                           \
	  "window of the metrics window_in, window_out"),                     \
	P(TIME, meas_for, "0", "", "its length; 0 = none"),                   \
	P(TIME, drain, "100ms", "1us..", "for requests to leave at the end"),   \
	P(TIME, patience, "100ms", "1us..",                                   \
	  "without progress for so long the run has failed"),                 \
	{ 0 }

static const struct weft_param traffic_params[] = {
	TRAFFIC_PARAMS("uniform", "all", "512")
};
static const struct weft_param stream_params[] = {
	TRAFFIC_PARAMS("each", "0", "496")
};

static const struct weft_preset traffic_presets[] = {
	{ "self", "pattern=each to=self", "every node to itself" },
	{ "n-to-1", "pattern=each to=0", "everybody to node 0" },
	{ "round-robin", "pattern=round-robin to=all", "T 4.2" },
	{ "uniform", "pattern=uniform to=all", "random destinations" },
	{ "hotspot", "pattern=hotspot to=all hot=0 hot_share=0.5",
	  "half of the messages to node 0" },
	{ "permutation", "pattern=permutation", "one partner each" },
	{ "bursty", "pattern=uniform to=all load=0.3 arrival=bursty",
	  "bursts of 16" },
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_traffic, .name = "forth.traffic",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "checked messages over the native FORTH library",
	       .source = "forth.md 13", .state_size = sizeof(struct traffic),
	       .params = traffic_params, .presets = traffic_presets,
	       .ops = { .main = traffic_main });

WEFT_COMPONENT(forth_stream, .name = "forth.stream", .kind = WEFT_KIND_PROGRAM,
	       .needs = "forth.nic",
	       .doc = "one-way stream over the native FORTH library",
	       .source = "forth.md 13, V02-V04",
	       .state_size = sizeof(struct traffic), .params = stream_params,
	       .ops = { .main = traffic_main });
