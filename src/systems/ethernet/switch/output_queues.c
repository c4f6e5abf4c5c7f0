/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of class eth.switch: queues, the shared buffer, pause. */
#include <stdlib.h>

#include "systems/ethernet/switch/learning_switch.h"

static weft_time_t output_queues_later(weft_time_t a, weft_time_t b)
{
	return a > b ? a : b;
}

static void out_next(struct esw *w, uint32_t i);

/* ---- what is told ---- */

void esw_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *wt)
{
	const struct esw *w = c->state;

	*wt = (struct weft_waiting){ .unit = "frames",
				     .queued =
					     w->p[port].q.n - w->p[port].head };
}

static void output_queues_tell(const struct esw *w, uint32_t i)
{
	const struct esw_port *p = &w->p[i];
	weft_time_t now = weft_now(w->comp);
	uint64_t queued = p->q.n - p->head;

	if (!weft_heard_kind(w->comp, WEFT_TRACE_STATE))
		return;
	weft_state_at(w->comp, "output", i,
		      p->now			 ? "sends"
		      : p->ctl_now		 ? "pauses"
		      : queued && p->pause > now ? "paused"
		      : queued			 ? "waits"
						 : "idle",
		      now);
	weft_level(w->comp, "queue", i, queued, now);
	weft_level(w->comp, "buffer", WEFT_TRACE_ONE, w->used, now);
}

/* ---- pause ---- */

/* The newest pause frame is the one that counts. */
static void send_pause(struct esw *w, uint32_t i, uint16_t quanta)
{
	struct esw_port *p = &w->p[i];

	if (p->ctl)
		weft_frame_free(p->ctl);
	p->ctl = eth_pause_new(w->comp->sim, w->addr, quanta);
	p->xoff = quanta;
	p->xoff_at = weft_now(w->comp);
	weft_count(w->comp, ESW_C_PAUSE_OUT, 1);
	out_next(w, i);
}

/* A frame has come from port i: enough? Asks again at half of the time. */
static void pause_above(struct esw *w, uint32_t i)
{
	const struct esw_port *p = &w->p[i];

	if (w->full == ESW_PAUSE && w->used > w->xoff &&
	    (!p->xoff || weft_now(w->comp) - p->xoff_at >=
				 w->quanta * ETH_PAUSE_QUANTA / 2))
		send_pause(w, i, (uint16_t)w->quanta);
}

static void pause_below(struct esw *w)
{
	if (w->used > w->xon)
		return;
	for (uint32_t i = 0; i < w->ports; i++)
		if (w->p[i].xoff)
			send_pause(w, i, 0);
}

void esw_paused(struct esw *w, uint32_t i, uint16_t quanta)
{
	w->p[i].pause = weft_now(w->comp) + quanta * ETH_PAUSE_QUANTA;
	out_next(w, i);
}

/* ---- buffer ---- */

static struct esw_item *item_new(struct esw *w, struct weft_frame *f)
{
	struct esw_item *it = malloc(sizeof(*it));

	if (!it)
		abort();
	*it = (struct esw_item){ .f = f, .bytes = f->payload.len };
	w->used += it->bytes;
	if (w->used > w->comp->counters[ESW_C_PEAK])
		w->comp->counters[ESW_C_PEAK] = w->used;
	return it;
}

/* One copy less. */
static void item_put(struct esw *w, struct esw_item *it)
{
	if (--it->refs)
		return;
	w->used -= it->bytes;
	free(it);
	pause_below(w);
}

/* The last copy is the frame itself. */
static struct weft_frame *item_copy(struct esw_item *it)
{
	struct weft_frame *f = it->f;

	if (--it->waits)
		return weft_frame_dup(f);
	it->f = NULL;
	return f;
}

static void item_drop(struct esw_item *it)
{
	if (--it->refs)
		return;
	if (it->f)
		weft_frame_free(it->f);
	free(it);
}

static bool has_room(const struct esw *w, const struct weft_frame *f)
{
	return w->used + f->payload.len <= w->buffer;
}

static void output_queues_enqueue(struct esw *w, struct esw_item *it,
				  uint32_t to, weft_time_t ready)
{
	if (!w->p[to].port->peer)
		return;
	it->refs++;
	it->waits++;
	vec_push(&w->p[to].q, (struct esw_wait){ it, ready });
}

static void enqueue_all(struct esw *w, struct esw_item *it, uint32_t in,
			weft_time_t ready)
{
	weft_count(w->comp, ESW_C_FLOODED, 1);
	for (uint32_t i = 0; i < w->ports; i++)
		if (i != in)
			output_queues_enqueue(w, it, i, ready);
}

void esw_forward(struct esw *w, struct weft_frame *f, uint32_t in, uint32_t to,
		 weft_time_t ready)
{
	struct esw_item *it;
	uint32_t i;

	if (!has_room(w, f)) {
		weft_count(w->comp, ESW_C_DROPPED, 1);
		weft_count(w->comp, ESW_C_DROPPED_BYTES, f->payload.len);
		weft_frame_free(f);
		pause_above(w, in);
		return;
	}
	it = item_new(w, f);
	it->refs = 1; /* ours */
	if (to == ETH_NO_PORT)
		enqueue_all(w, it, in, ready);
	else
		output_queues_enqueue(w, it, to, ready);
	if (it->refs == 1) { /* nobody there */
		weft_frame_free(f);
		item_put(w, it);
		return;
	}
	it->refs--;
	pause_above(w, in);
	for (i = 0; i < w->ports; i++)
		if (i == to || (to == ETH_NO_PORT && i != in)) {
			out_next(w, i);
			output_queues_tell(w, i);
		}
}

/* ---- the line ---- */

static void output_queues_pop(struct esw_port *p)
{
	if (++p->head == p->q.n) {
		p->head = 0;
		vec_clear(&p->q);
	} else if (p->head >= 64 && p->head * 2 >= p->q.n) {
		p->q.n -= p->head;
		memmove(p->q.at, p->q.at + p->head, p->q.n * sizeof(*p->q.at));
		p->head = 0;
	}
}

static void onto_line(struct esw *w, uint32_t i, struct weft_frame *f)
{
	struct esw_port *p = &w->p[i];
	weft_time_t now = weft_now(w->comp);

	p->end = now + eth_frame_time(f);
	weft_port_send(p->port, f, now);
	weft_timer_arm(w->comp, &p->done, ESW_TAG_DONE(w, i), p->end);
}

static void start_data(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	struct esw_item *it = p->q.at[p->head].item;
	struct weft_frame *f = item_copy(it);

	output_queues_pop(p);
	p->now = it;
	weft_count(w->comp, ESW_C_OUT, 1);
	onto_line(w, i, f);
}

static void start_control(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	struct weft_frame *f = p->ctl;

	p->ctl = NULL;
	p->ctl_now = true;
	onto_line(w, i, f);
}

/* Earliest start of what is next, and whether there is something. */
static bool next_at(const struct esw_port *p, weft_time_t *at)
{
	*at = p->end ? p->end + ETH_GAP * ETH_BYTE_FS : 0;
	if (p->ctl)
		return true;
	if (p->q.n == p->head)
		return false;
	*at = output_queues_later(
		*at, output_queues_later(p->q.at[p->head].ready, p->pause));
	return true;
}

static void out_next(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	weft_time_t at;

	if (!p->now && !p->ctl_now && next_at(p, &at))
		weft_timer_arm(w->comp, &p->out, ESW_TAG_START(w, i),
			       output_queues_later(at, weft_now(w->comp)));
}

void esw_start_event(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	weft_time_t at;

	if (!weft_timer_due(w->comp, &p->out) || p->now || p->ctl_now ||
	    !next_at(p, &at))
		return;
	if (at > weft_now(w->comp))
		out_next(w, i);
	else if (p->ctl)
		start_control(w, i);
	else
		start_data(w, i);
	output_queues_tell(w, i);
}

void esw_done_event(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	struct esw_item *it = p->now;

	if (!weft_timer_due(w->comp, &p->done))
		return;
	p->now = NULL;
	p->ctl_now = false;
	if (it)
		item_put(w, it);
	out_next(w, i);
	output_queues_tell(w, i);
}

/* What waits when the run ends. */
void esw_out_fini(struct esw *w)
{
	for (uint32_t i = 0; i < w->ports; i++) {
		struct esw_port *p = &w->p[i];

		for (; p->head < p->q.n; p->head++)
			item_drop(p->q.at[p->head].item);
		if (p->now)
			item_drop(p->now);
		if (p->ctl)
			weft_frame_free(p->ctl);
		eth_line_free(&p->line);
		vec_free(&p->q);
	}
}
