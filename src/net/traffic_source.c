/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals and sizes of synthetic traffic, see traffic_source.h. */
#include "net/traffic_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- when ---- */

/* Rounds a time down to a cycle. Returns ARRIVALS_NEVER if the time is 2^63 or
 * later, as happens with a load of 1e-30. */
static uint64_t arrivals_cycle(double at)
{
	return at < 0x1p63 ? (uint64_t)at : ARRIVALS_NEVER;
}

/* Draws the number of trials up to and including the first success, at least 1.
 * log_miss is the logarithm of the probability that a trial fails. */
static uint64_t arrivals_trials(double log_miss, struct weft_rng *rng)
{
	double n;

	if (isinf(log_miss))
		return 1;
	n = floor(log(1 - weft_rng_real(rng)) / log_miss);
	return n < 1e15 ? 1 + (uint64_t)n : (uint64_t)1e15;
}

/* Sets up the phases of on_off. On average a share of start / (start + stop) of
 * the cycles is in a burst. This share is also the probability that the run
 * starts in a burst. */
static int on_off_init(struct arrivals *a, double peak, struct weft_rng *rng,
		       struct weft_err *err)
{
	if (!(a->start > 0 || a->stop > 0))
		return weft_fail(
			err, EINVAL,
			"on_off has bursts: set start or stop, the probabilities that one begins and ends in a cycle");
	if (!(a->start > 0 && a->stop > 0))
		peak = fmin(peak, 1);
	if (!(a->start > 0))
		a->start = a->stop * a->rate / (peak - a->rate);
	else if (!(a->stop > 0))
		a->stop = a->start * (peak - a->rate) / a->rate;
	else
		peak = a->rate * (a->start + a->stop) / a->start;
	if (!(peak <= 1) || !(a->start > 0 && a->start <= 1) ||
	    !(a->stop > 0 && a->stop <= 1))
		return weft_fail(
			err, EINVAL,
			"on_off with start %.3g, stop %.3g and %.3g packets per cycle in a burst does not give %.3g: lower the load, or change start and stop",
			a->start, a->stop, peak, a->rate);
	a->log_miss = log1p(-peak);
	a->end_on = log1p(-a->stop);
	a->end_off = log1p(-a->start);
	a->off = 0;
	if (weft_rng_real(rng) < a->start / (a->start + a->stop))
		a->off = arrivals_trials(a->end_on, rng);
	return 0;
}

int arrivals_init(struct arrivals *a, double peak, double burst,
		  struct weft_rng *rng, struct weft_err *err)
{
	double off;

	a->at = 0;
	a->next = 0;
	if (a->rate <= 0) {
		a->next = ARRIVALS_NEVER;
		return 0;
	}
	if (a->kind >= ARRIVALS_SATURATED)
		return 0;
	a->rate = fmin(a->rate, 1);
	a->log_miss = log1p(-a->rate);
	if (a->kind == ARRIVALS_PERIODIC) {
		a->at = weft_rng_real(rng) / a->rate;
		a->next = arrivals_cycle(a->at);
		return 0;
	}
	if (a->kind == ARRIVALS_BURSTY) {
		peak = fmin(peak, 1);
		/* Mean length of a phase off, so that rate = peak * on / (on +
		 * off). */
		off = burst * (peak / a->rate - 1);
		if (burst < 1 || peak < a->rate)
			return weft_fail(
				err, EINVAL,
				"bursts of %g cycles at %.3g packets per cycle do not give %.3g",
				burst, peak, a->rate);
		a->log_miss = log1p(-peak);
		a->end_on = log1p(-1 / burst);
		a->end_off = off > 1 ? log1p(-1 / off) : -INFINITY;
		a->off = 0;
	}
	if (a->kind == ARRIVALS_ON_OFF && on_off_init(a, peak, rng, err))
		return -EINVAL;
	arrivals_step(a, 0, rng);
	/* A step is at least 1 cycle. The first arrival is moved by one cycle,
	 * so that it can be in cycle 0. */
	a->next--;
	return 0;
}

static uint64_t bursty_next(struct arrivals *a, struct weft_rng *rng)
{
	uint64_t at = a->next + arrivals_trials(a->log_miss, rng);

	while (at >= a->off) {
		uint64_t on = a->off + arrivals_trials(a->end_off, rng);

		a->off = on + arrivals_trials(a->end_on, rng);
		at = on - 1 + arrivals_trials(a->log_miss, rng);
	}
	return at;
}

void arrivals_step(struct arrivals *a, double line, struct weft_rng *rng)
{
	double gap = line / a->rate;

	switch (a->kind) {
	case ARRIVALS_BERNOULLI:
		a->next += arrivals_trials(a->log_miss, rng);
		break;
	case ARRIVALS_PERIODIC:
		a->at += 1 / a->rate;
		a->next = arrivals_cycle(a->at);
		break;
	case ARRIVALS_BURSTY:
	case ARRIVALS_ON_OFF:
		a->next = bursty_next(a, rng);
		break;
	case ARRIVALS_SATURATED:
		break;
	case ARRIVALS_UNIFORM:
		a->at += gap * 2 * weft_rng_real(rng);
		a->next = arrivals_cycle(ceil(a->at));
		break;
	case ARRIVALS_EVEN:
		a->next += (uint64_t)(line + (gap - line));
		break;
	case ARRIVALS_POISSON:
		gap = (gap - line) * -log(1 - weft_rng_real(rng));
		a->next += (uint64_t)(line + gap);
		break;
	}
}

void arrivals_shift(struct arrivals *a, uint64_t by)
{
	if (a->next == ARRIVALS_NEVER)
		return;
	a->next += by;
	a->off += by;
	a->at += (double)by;
}

void arrivals_wait(struct arrivals *a, uint64_t until)
{
	if (a->next < until)
		a->next = until;
	if (a->at < (double)until)
		a->at = (double)until;
}

/* ---- sizes ---- */

static int mix_entry(struct traffic_mix *m, const char **p, uint32_t most,
		     double *sum)
{
	char *end;
	unsigned long size = strtoul(*p, &end, 10);
	double weight = 1;

	if (end == *p || size > most || m->n == TRAFFIC_SIZES)
		return -EINVAL;
	if (*end == ':') {
		*p = end + 1;
		weight = strtod(*p, &end);
		if (end == *p || !(weight > 0) || weight > 1e9)
			return -EINVAL;
	}
	if (*end && *end != ',')
		return -EINVAL;
	m->size[m->n] = (uint32_t)size;
	m->upto[m->n++] = *sum += weight;
	*p = end + (*end == ',');
	return 0;
}

int traffic_mix_read(struct traffic_source *s, const char *text, uint32_t most)
{
	struct traffic_mix *m = calloc(1, sizeof(*m));
	double sum = 0;

	if (!m)
		abort();
	s->mix = m;
	while (*text)
		if (mix_entry(m, &text, most, &sum))
			return -EINVAL;
	for (uint32_t i = 0; i < m->n; i++)
		m->upto[i] /= sum;
	return 0;
}

static uint32_t size_draw(const struct traffic_source *s, struct weft_rng *rng)
{
	const struct traffic_mix *m = s->mix;
	uint32_t i = 0;
	double u;

	if (!m && s->size_max <= s->size)
		return s->size;
	if (!m)
		return s->size +
		       (uint32_t)weft_rng_below(rng, s->size_max - s->size + 1);
	u = weft_rng_real(rng);
	while (i + 1 < m->n && u >= m->upto[i])
		i++;
	return m->size[i];
}

double traffic_mean(const struct traffic_source *s,
		    uint32_t (*cost)(const void *own, uint32_t size),
		    const void *own)
{
	uint32_t hi = s->size_max > s->size ? s->size_max : s->size;
	double sum = 0, was = 0;

	for (uint32_t k = s->size; !s->mix && k <= hi; k++)
		sum += cost(own, k);
	if (!s->mix)
		return sum / (hi - s->size + 1);
	for (uint32_t i = 0; i < s->mix->n; i++) {
		sum += (s->mix->upto[i] - was) * cost(own, s->mix->size[i]);
		was = s->mix->upto[i];
	}
	return sum;
}

/* ---- source ---- */

void traffic_replay(struct traffic_source *s, struct trace *t, uint32_t node)
{
	s->replay = calloc(1, sizeof(*s->replay));
	if (!s->replay)
		abort();
	packet_replay_init(s->replay, t, node);
}

struct traffic_packet traffic_draw(struct traffic_source *s,
				   struct weft_rng *rng)
{
	struct traffic_packet p = { .number = s->made++ };

	if (s->replay) {
		const struct trace_pkt *k;

		p.id = packet_replay_take(s->replay);
		k = &s->replay->t->pkt[p.id];
		p.at = k->cycle;
		p.dest = k->dst;
		p.size = k->bytes;
		return p;
	}
	p.at = s->arrivals.next;
	p.dest = pattern_dest(&s->pattern, rng);
	p.size = size_draw(s, rng);
	return p;
}

uint64_t traffic_total(const struct traffic_source *s)
{
	if (s->replay)
		return s->replay->n;
	if (s->arrivals.next == ARRIVALS_NEVER)
		return 0;
	return s->packets ? s->packets : UINT64_MAX;
}

void traffic_source_fini(struct traffic_source *s)
{
	free(s->mix);
	if (s->replay)
		vec_free(&s->replay->ready);
	free(s->replay);
}
