/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_link.h. */
#include "ref_link.h"

#include <assert.h>
#include <string.h>

uint32_t ref_charge(const struct ref_end *e, uint32_t wire)
{
	return (wire + 16 + 4 * e->links - 1) / (4 * e->links);
}

bool ref_enough(const struct ref_end *e, uint32_t lane, uint32_t charge)
{
	return ((e->sent[lane] - e->acked[lane]) & 4095) + charge <= e->cap;
}

static struct ref_word *on_wire(struct ref_end *e, uint64_t c)
{
	return &e->wire[c % (e->delay < REF_DELAY ? REF_DELAY : REF_WIRE)];
}

const struct ref_word *ref_end_receive(struct ref_end *e, uint64_t c)
{
	struct ref_word *w = on_wire(e->peer, c);

	e->in_cycles += w->data;
	e->due[(c + e->crrx) % REF_DELAY] = *w;
	return w;
}

void ref_end_parse(struct ref_end *e, uint64_t c)
{
	struct ref_word *w = &e->due[c % REF_DELAY];
	uint32_t i;

	for (i = 0; i < w->credits; i++) {
		e->credits_in++;
		e->acked[w->lane[i]] = w->value[i] << 5;
	}
	memset(w, 0, sizeof(*w));
}

bool ref_end_free(const struct ref_end *e)
{
	return e->cur_at == e->cur_n;
}

/* Returns the F[11:5] that a credit of a lane carries in cycle c: the value
 * from `crtx` cycles earlier. */
static uint32_t visible(const struct ref_end *e, uint32_t lane, uint64_t c)
{
	return c < e->crtx
		       ? 0
		       : e->past[lane][(c - e->crtx) % REF_DELAY] >> 5 & 127;
}

/* Chooses the lanes to report: up to `max` lanes whose value has changed, then
 * unchanged lanes until `slots` are full. */
static uint32_t choose(struct ref_end *e, uint64_t c, uint32_t max,
		       uint32_t slots, uint32_t *lane)
{
	uint32_t n = 0, i, k, tries;

	for (i = 0; i < e->rx_lanes && n < max; i++) {
		k = (e->rr_active + i) % e->rx_lanes;
		if (visible(e, k, c) == e->given[k])
			continue;
		e->given[k] = visible(e, k, c);
		lane[n++] = k;
	}
	if (n)
		e->rr_active = (lane[n - 1] + 1) % e->rx_lanes;
	for (tries = 0; e->refresh && n < slots && tries < e->rx_lanes;
	     tries++) {
		bool twice = false;

		k = e->rr_refresh;
		e->rr_refresh = (k + 1) % e->rx_lanes;
		for (i = 0; i < n; i++)
			twice |= lane[i] == k;
		if (!twice)
			lane[n++] = k;
	}
	return n;
}

static struct ref_word *add_word(struct ref_end *e)
{
	struct ref_word *w = &e->cur[e->cur_n++];

	assert(e->cur_n <= 1200);
	memset(w, 0, sizeof(*w));
	w->data = true;
	return w;
}

/* Queues delimiter and credit words of a transmission. */
static void begin(struct ref_end *e, uint64_t c, bool packet,
		  const uint32_t *lane, uint32_t n)
{
	struct ref_word *w;
	uint32_t i, room;

	e->cur_n = e->cur_at = 0;
	e->last_start = c;
	e->credits_out += n;
	w = add_word(e);
	w->delim = true;
	room = e->packed ? 1 : e->links;
	for (i = 0; i < n; i++) {
		if (w->credits == room) {
			w = add_word(e);
			room = 2 * e->links;
		}
		w->lane[w->credits] = lane[i];
		w->value[w->credits++] = e->given[lane[i]];
	}
	/* packed layout: credits come in pairs before a header, so that an odd
	 * last credit is repeated */
	if (e->packed && packet && n == 1)
		add_word(e);
	else if (e->packed && packet && n % 2)
		add_word(e);
}

void ref_end_packet(struct ref_end *e, uint64_t c, struct ref_pkt *p,
		    uint32_t lane)
{
	uint32_t lanes[REF_CREDITS], n, i, words;
	uint32_t max = e->links * (1 + 2 * e->credit_words) + e->packed;

	n = choose(e, c, max < 12 ? max : 12, e->packed ? 0 : e->links, lanes);
	begin(e, c, true, lanes, n);
	words = (p->wire + 4 * e->links - 1) / (4 * e->links);
	words += e->packed ? 3 : e->links == 1 ? 4 : 3;
	for (i = 0; i < words; i++) {
		struct ref_word *w = add_word(e);

		w->header = i == 0;
		w->pkt = p;
	}
	e->sent[lane] = (e->sent[lane] + ref_charge(e, p->wire)) & 4095;
	e->packets++;
	e->blocked = false;
}

static bool any_active(const struct ref_end *e, uint64_t c)
{
	uint32_t k;

	for (k = 0; k < e->rx_lanes; k++)
		if (visible(e, k, c) != e->given[k])
			return true;
	return false;
}

void ref_end_idle(struct ref_end *e, uint64_t c)
{
	uint32_t lanes[REF_CREDITS], n;
	uint32_t max = e->links * (1 + 2 * e->credit_words);
	bool refresh = e->refresh && c >= e->last_start + e->refresh;

	if (!any_active(e, c) && !refresh)
		return;
	n = choose(e, c, max < 12 ? max : 12,
		   e->packed ? !any_active(e, c) : e->links, lanes);
	begin(e, c, false, lanes, n);
}

void ref_end_line(struct ref_end *e, uint64_t c)
{
	struct ref_word *w = on_wire(e, c + e->delay);
	uint32_t k;

	memset(w, 0, sizeof(*w));
	if (!ref_end_free(e))
		*w = e->cur[e->cur_at++];
	e->out_cycles += w->data;
	e->backpressure += e->blocked;
	for (k = 0; k < e->rx_lanes; k++)
		e->past[k][c % REF_DELAY] = e->fwd[k];
}
