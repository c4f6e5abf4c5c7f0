/* SPDX-License-Identifier: Apache-2.0 */
/* A stream over any library, see stream.h. */
#include "programs/stream.h"

#include <errno.h>

static void stream_post(struct stream *s)
{
	for (uint64_t i = 0; i < s->count; i++)
		if (!s->ops->post(s, i))
			return;
	if (s->ops->finish)
		s->ops->finish(s);
}

/* Returns the time at which the last message was complete, by the clock that
 * the flags select. */
static weft_time_t stream_end(struct stream *s)
{
	bool sends = !s->w.me, arrival = s->flags & STREAM_ARRIVAL;
	weft_time_t now = 0;

	if (s->receives || (sends && !arrival) || s->flags & STREAM_ALL)
		now = weft_host_now(s->w.h);
	if (!arrival || (sends && s->receives))
		return now;
	if (s->receives)
		program_put(&s->w, s->ops->key, now);
	return sends ? program_get(&s->w, s->ops->key, s->partner) : now;
}

/* Measures the stream at both nodes, each by its own clock. The partner's clock
 * starts with the first message, because the partner cannot know when the
 * sender starts. */
static void stream_received(struct stream *s)
{
	uint64_t n = s->count - (s->w.me != 0);
	weft_time_t t;

	if (s->w.me)
		s->ops->receive(s, 1);
	t = weft_host_now(s->w.h);
	if (s->w.me)
		s->ops->receive(s, s->count);
	else
		stream_post(s);
	t = weft_host_now(s->w.h) - t;
	weft_metric(s->w.c, s->w.me ? "rate" : "send_rate", "msg/s",
		    (double)n / ((double)t / WEFT_SEC));
}

static void stream_run(struct stream *s)
{
	weft_time_t t = 0;
	double sec, mb;

	if (s->flags & STREAM_RECEIVED) {
		stream_received(s);
		return;
	}
	if (!s->w.me || s->flags & STREAM_ALL)
		t = weft_host_now(s->w.h);
	if (!s->w.me)
		stream_post(s);
	if (s->receives)
		s->ops->receive(s, s->count);
	t = stream_end(s) - t;
	if (s->w.me)
		return;
	sec = (double)t / WEFT_SEC;
	mb = (double)(s->count * s->size) / sec / 1e6;
	weft_metric(s->w.c, "bandwidth", "MB/s", mb);
	weft_metric(s->w.c, "rate", "msg/s", (double)s->count / sec);
	weft_series_add(s->w.c, "bandwidth", "B", "MB/s", (double)s->size, mb);
}

int stream_main(struct weft_comp *c, const struct stream_ops *ops)
{
	struct stream *s = c->state;
	int ret;

	s->w = program_from(c);
	s->ops = ops;
	s->flags = ops->flags;
	if (s->partner >= s->w.n) {
		weft_check_failed(c, "partner: one of 0..%u", s->w.n - 1);
		return -EINVAL;
	}
	s->receives = s->w.me == s->partner;
	ret = ops->open(s);
	if (ret)
		return ret;
	if (!s->w.me || s->w.me == s->partner) {
		stream_run(s);
		if (ops->verify)
			ops->verify(s);
	}
	ops->close(s);
	return 0;
}
