/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.pingpong: node 0 sends, the partner returns the same packet
 * from where it landed (forth.md 13, V01).  Sizes run from size to size_max in
 * steps, one after the other, `count` round trips each.  Both sides compare
 * every byte; half the round trip goes into a histogram and a curve. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/times.h"
#include "programs/program.h"
#include "weft/forth.h"

enum pp_wait { PP_DATA, PP_NOTIFY, PP_IRQ };

struct pp {
	/* parameters */
	uint64_t count;
	uint64_t size, size_max;
	uint32_t step, partner, wait, post;
	double spread;
	/* run */
	struct program w;
	struct weft_forth *f;
	uint64_t *tx, *rx;
	weft_phys_t tx_phys, rx_phys, remote;
	uint32_t peer, seen;
	struct weft_hist *hist;
};

/* Several transfers when the NIC cannot move it in one. */
static int pp_put(struct pp *p, weft_phys_t from, uint32_t qwords)
{
	uint32_t max = weft_forth_info(p->f)->max_transfer / 8, off = 0;
	uint32_t flag = p->wait == PP_NOTIFY ? WEFT_FORTH_RNOTIFY
			: p->wait == PP_IRQ  ? WEFT_FORTH_RIRQ
					     : 0;

	while (off < qwords) {
		uint32_t k = qwords - off < max ? qwords - off : max;
		uint32_t last = off + k == qwords ? flag : 0;
		int ret = weft_forth_put(p->f, p->peer, from + 8 * off,
					 p->remote + 8 * off, k, last);

		if (ret == -EAGAIN)
			weft_forth_wait_space(p->f, p->peer, 1, WEFT_NEVER);
		else if (ret)
			return ret;
		else
			off += k;
	}
	return 0;
}

/* Waits for the message whose last qword will be `last`. */
static void pp_wait_for(struct pp *p, uint32_t qwords, uint64_t last)
{
	volatile uint64_t *at = &p->rx[qwords - 1];

	if (p->wait == PP_NOTIFY) {
		weft_forth_wait_remote(p->f, p->seen, WEFT_NEVER);
		p->seen++;
		return;
	}
	if (p->wait == PP_IRQ) {
		weft_forth_irq_wait(p->f, WEFT_NEVER);
		weft_forth_irq_ack(p->f);
		return;
	}
	while (*at != last)
		weft_host_poll64(p->w.h, at, *at, WEFT_NEVER);
}

static void pp_verify(struct pp *p, uint32_t qwords, uint64_t base,
		      uint64_t seq)
{
	int32_t bad = program_check(p->rx, 0, qwords, base);

	if (bad >= 0)
		weft_check_failed(p->w.c,
				  "round %" PRIu64
				  ", %u bytes: differs at byte %d",
				  seq, 8 * qwords, 8 * bad);
}

/* One round; returns its time at the initiator. */
static weft_time_t pp_round(struct pp *p, uint32_t qwords, uint64_t seq)
{
	uint32_t first = p->w.me == 0 ? 0 : p->peer;
	uint64_t base = program_base(first, p->partner, seq);
	uint64_t last = base + (qwords - 1) * PROGRAM_STEP;
	weft_time_t t = 0;

	if (p->w.me == 0) {
		program_fill(p->tx, qwords, base);
		t = weft_host_now(p->w.h);
		program_sent(&p->w, p->peer);
		pp_put(p, p->tx_phys, qwords);
	}
	pp_wait_for(p, qwords, last);
	if (p->w.me == 0) {
		t = weft_host_now(p->w.h) - t;
		program_got(&p->w, p->peer);
	} else {
		program_turn(&p->w, p->peer);
		pp_put(p, p->rx_phys, qwords);
	}
	pp_verify(p, qwords, base, seq);
	return t;
}

static void pp_report(struct pp *p, uint32_t bytes, double sum, double min,
		      double max)
{
	double mean = sum / (double)p->count;

	weft_series_add(p->w.c, "half_rtt", "B", "us", bytes, mean / 1000);
	weft_series_add(p->w.c, "half_rtt_spread", "B", "ns", bytes, max - min);
	weft_metric(p->w.c, "half_rtt", "ns", mean);
	weft_metric(p->w.c, "half_rtt_min", "ns", min);
	weft_metric(p->w.c, "half_rtt_max", "ns", max);
	if (p->spread > 0 && max - min > p->spread)
		weft_check_failed(
			p->w.c,
			"%u bytes: half round trips between %.1f and %.1f ns",
			bytes, min, max);
}

static void pp_size(struct pp *p, uint32_t bytes, uint64_t *seq_p)
{
	double sum = 0, min = 1e30, max = 0;

	for (uint64_t i = 0; i < p->count; i++) {
		double ns = (double)pp_round(p, bytes / 8, (*seq_p)++) / 2 /
			    WEFT_NS;

		if (p->w.me)
			continue;
		weft_hist_put(p->hist, ns);
		sum += ns;
		min = ns < min ? ns : min;
		max = ns > max ? ns : max;
	}
	if (!p->w.me)
		pp_report(p, bytes, sum, min, max);
}

static int pp_open(struct pp *p)
{
	struct weft_forth_attr a = { .post = p->post,
				     .irq = p->wait == PP_IRQ };
	int ret;

	if (!p->size_max)
		p->size_max = p->size;
	if (p->size % 8 || p->step % 8 || p->size_max < p->size ||
	    !p->partner || p->partner >= p->w.n) {
		weft_check_failed(
			p->w.c,
			"sizes are multiples of 8, size_max is not below size; partner is one of 1..%u",
			p->w.n - 1);
		return -EINVAL;
	}
	p->tx = weft_mem_alloc(p->w.h, p->size_max, 64, &p->tx_phys);
	p->rx = weft_mem_alloc(p->w.h, p->size_max, 64, &p->rx_phys);
	if (!p->tx || !p->rx)
		return -ENOMEM;
	ret = weft_forth_open(p->w.h, &a, &p->f);
	if (ret)
		return ret;
	program_put(&p->w, "pp.rx", p->rx_phys);
	p->peer = p->w.me == 0 ? p->partner : 0;
	p->remote = program_get(&p->w, "pp.rx", p->peer);
	program_barrier(&p->w, "pp.go");
	return 0;
}

static void pp_close(struct pp *p)
{
	struct weft_forth_counters c;

	program_barrier(&p->w, "pp.done");
	host_nap(p->w.h, T_settle);
	weft_forth_counters_read(p->f, &c);
	weft_metric(p->w.c, "nic_errors", "",
		    (double)weft_forth_counters_errors(&c));
	if (weft_forth_counters_errors(&c))
		weft_check_failed(p->w.c, "the NIC counted errors");
	weft_forth_close(p->f);
}

static int pp_main(struct weft_comp *c)
{
	struct pp *p = c->state;
	uint64_t seq = 0;
	int ret;

	p->w = program_from(c);
	ret = pp_open(p);
	if (ret)
		return ret;
	if (p->w.me == 0)
		p->hist = weft_hist(c, "half_rtt", "ns");
	for (uint64_t b = p->size; b <= p->size_max; b += p->step)
		if (p->w.me == 0 || p->w.me == p->partner)
			pp_size(p, (uint32_t)b, &seq);
	if (!p->w.me)
		weft_metric(c, "rounds", "", (double)seq);
	pp_close(p);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct pp, field, def, range, OWN, doc)
static const struct weft_param pp_params[] = {
	P(U64, count, "100", "1..", "round trips of each size"),
	P(BYTES, size, "24", "8..1MiB", "smallest message"),
	P(BYTES, size_max, "0", "0..1MiB", "largest; 0 = only one size"),
	P(U32, step, "8", "8..", "bytes from size to size"),
	P(U32, partner, "1", "1..", "the node that returns the packets"),
	P(ENUM, wait, "data", "data|notify|irq",
	  "poll the last word, the notification word, or sleep"),
	P(ENUM, post, "wc", "wc|store64|store32",
	  "how descriptors are written"),
	P(REAL, spread, "0", "",
	  "largest difference in ns among equal round trips; 0 = any"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_pingpong, .name = "forth.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "ping-pong over the native FORTH library",
	       .source = "forth.md 13, V01", .state_size = sizeof(struct pp),
	       .params = pp_params, .ops = { .main = pp_main });
