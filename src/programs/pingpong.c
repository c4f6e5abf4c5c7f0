/* SPDX-License-Identifier: Apache-2.0 */
/* Ping-pong over any library, see pingpong.h. */
#include "programs/pingpong.h"

#include <errno.h>
#include <inttypes.h>

#include "programs/endpoint_program.h"

static bool pingpong_is(const struct pingpong *p, uint32_t flag)
{
	return p->ops->flags & flag;
}

/* Returns true if this node starts or answers rounds. */
static bool pingpong_plays(const struct pingpong *p)
{
	return p->begins || (!p->alone && p->w.me == p->partner);
}

bool pingpong_opens(const struct pingpong *p)
{
	return pingpong_plays(p) || !pingpong_is(p, PINGPONG_PAIR);
}

/* ---- payload ---- */

/* Returns the base of a message's payload. With PINGPONG_ECHO both directions
 * have one base, because the partner returns the bytes that it received. */
static uint64_t pingpong_base(const struct pingpong *p, bool own, uint64_t seq)
{
	if (pingpong_is(p, PINGPONG_ECHO))
		return program_base(0, p->partner, seq);
	return own ? program_base(p->w.me, p->peer, seq)
		   : program_base(p->peer, p->w.me, seq);
}

void pingpong_fill(const struct pingpong *p, void *out, uint64_t seq)
{
	epw_fill(out, p->len, pingpong_base(p, true, seq));
}

uint64_t pingpong_qword(const struct pingpong *p, uint64_t i, uint64_t seq)
{
	return pingpong_base(p, false, seq) + i * PROGRAM_STEP;
}

static void pingpong_verify(struct pingpong *p, uint64_t seq)
{
	uint64_t base = pingpong_base(p, false, seq);
	uint32_t head = p->ops->head, own = head + p->ops->tail;
	int64_t bad = -1;

	if (p->in && p->len > own)
		bad = epw_check((const uint8_t *)p->in + head, p->len - own,
				base + head / 8 * PROGRAM_STEP);
	if (bad >= 0)
		weft_check_failed(p->w.c,
				  "round %" PRIu64 ", %" PRIu64
				  " bytes: differs at byte %" PRId64,
				  seq, p->len, bad + head);
}

/* ---- rounds ---- */

static weft_time_t pingpong_start(struct pingpong *p)
{
	weft_time_t now = weft_host_now(p->w.h);

	if (p->ops->start)
		p->ops->start(p);
	return now;
}

static void pingpong_clock(struct pingpong *p, weft_time_t t, uint64_t i)
{
	p->last = t;
	p->time += t;
	p->timed++;
	if (!pingpong_is(p, PINGPONG_EACH))
		return;
	weft_hist_put(p->hist, (double)t / 2 / WEFT_NS);
	p->least = i && p->least < t ? p->least : t;
	p->most = i && p->most > t ? p->most : t;
	if (!p->rounds && !i && pingpong_is(p, PINGPONG_FIRST_APART))
		p->time = p->timed = 0;
}

/* Runs n rounds. Measures the time of each round, or the time of all rounds
 * together. */
static int pingpong_begin(struct pingpong *p, uint64_t seq, uint64_t n,
			  bool warm)
{
	bool each = pingpong_is(p, PINGPONG_EACH), marks;
	weft_time_t t = 0;
	int ret;

	marks = !pingpong_is(p, PINGPONG_UNMARKED);
	for (uint64_t i = 0; i < n; i++) {
		if (p->ops->ready)
			p->ops->ready(p);
		if (!warm && (each || !i))
			t = pingpong_start(p);
		if (marks)
			program_sent(&p->w, p->peer);
		ret = p->ops->send(p, seq + i);
		if (!ret)
			ret = p->ops->wait(p, seq + i);
		if (ret)
			return ret;
		if (!warm && (each || i + 1 == n))
			pingpong_clock(p, weft_host_now(p->w.h) - t, i);
		if (marks)
			program_got(&p->w, p->peer);
		pingpong_verify(p, seq + i);
		if (p->ops->done)
			p->ops->done(p, seq + i);
	}
	return 0;
}

static int pingpong_answer(struct pingpong *p, uint64_t seq, uint64_t n,
			   bool warm)
{
	bool reads = !warm && pingpong_is(p, PINGPONG_BOTH);
	weft_time_t t = reads ? pingpong_start(p) : 0;
	int ret;

	for (uint64_t i = 0; i < n; i++) {
		if (p->ops->ready)
			p->ops->ready(p);
		ret = p->ops->wait(p, seq + i);
		if (ret)
			return ret;
		if (!pingpong_is(p, PINGPONG_UNMARKED)) {
			program_got(&p->w, p->peer);
			program_sent(&p->w, p->peer);
		}
		pingpong_verify(p, seq + i);
		ret = p->ops->send(p, seq + i);
		if (ret)
			return ret;
		if (p->ops->done)
			p->ops->done(p, seq + i);
	}
	if (reads)
		pingpong_clock(p, weft_host_now(p->w.h) - t, 0);
	return 0;
}

int pingpong_rounds(struct pingpong *p, double *ns_p)
{
	int (*rounds)(struct pingpong *, uint64_t, uint64_t, bool) =
		p->begins ? pingpong_begin : pingpong_answer;
	bool warm = pingpong_is(p, PINGPONG_WARM) && !p->rounds;
	uint64_t seq = p->rounds + pingpong_is(p, PINGPONG_WARM);
	int ret = warm ? rounds(p, 0, 1, true) : 0;

	p->time = p->timed = 0;
	if (!ret)
		ret = rounds(p, seq, p->count, false);
	if (ret)
		return ret;
	p->rounds += p->count;
	/* The order of these divisions must not change, because published
	 * digits depend on it. */
	if (pingpong_is(p, PINGPONG_EACH))
		*ns_p = p->timed ? (double)p->time / 2 / WEFT_NS /
					   (double)p->timed
				 : 0;
	else
		*ns_p = (double)p->time / (p->alone ? 1 : 2) /
			(double)p->count / WEFT_NS;
	return 0;
}

/* ---- results ---- */

static void pingpong_report(struct pingpong *p, double ns)
{
	const char *name = p->alone ? "latency" : "half_rtt";

	weft_metric(p->w.c, name, "ns", ns);
	weft_series_add(p->w.c, name, "B", "ns", (double)p->len, ns);
	if (!pingpong_is(p, PINGPONG_EACH))
		return;
	weft_metric(p->w.c, "half_rtt_min", "ns",
		    (double)p->least / 2 / WEFT_NS);
	weft_metric(p->w.c, "half_rtt_max", "ns",
		    (double)p->most / 2 / WEFT_NS);
}

int pingpong_run(struct pingpong *p)
{
	double ns;
	int ret;

	if (!pingpong_plays(p))
		return 0;
	if (p->begins && pingpong_is(p, PINGPONG_EACH))
		p->hist = weft_hist(p->w.c, "half_rtt", "ns");
	for (p->len = p->size; p->len <= p->size_max; p->len += p->step) {
		ret = pingpong_rounds(p, &ns);
		if (ret)
			return ret;
		if (p->timed && (p->begins || pingpong_is(p, PINGPONG_BOTH)))
			pingpong_report(p, ns);
		if (p->ops->sized)
			p->ops->sized(p, ns);
	}
	if (p->begins)
		weft_metric(p->w.c, "rounds", "", (double)p->rounds);
	return 0;
}

int pingpong_open(struct pingpong *p, struct weft_comp *c,
		  const struct pingpong_ops *ops)
{
	p->w = program_from(c);
	p->ops = ops;
	if (!p->partner || p->partner >= p->w.n) {
		weft_check_failed(c, "partner: one of 1..%u", p->w.n - 1);
		return -EINVAL;
	}
	if (!p->size_max)
		p->size_max = p->size;
	if (!p->step) /* a program of one size has no parameter `step` */
		p->step = 1;
	if (p->size_max < p->size) {
		weft_check_failed(c, "size_max: not below size");
		return -EINVAL;
	}
	p->begins = p->w.me == 0;
	p->peer = p->begins ? p->partner : 0;
	return pingpong_opens(p) ? ops->open(p) : 0;
}

int pingpong_main(struct weft_comp *c, const struct pingpong_ops *ops)
{
	struct pingpong *p = c->state;
	int ret = pingpong_open(p, c, ops);

	if (ret || !pingpong_opens(p))
		return ret;
	ret = pingpong_run(p);
	ops->close(p);
	return ret;
}
