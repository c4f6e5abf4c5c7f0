/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of class eth.switch: queues, the shared buffer, pause frames. */
#include <stdlib.h>

#include "systems/ethernet/switch/learning_switch.h"

/* ---- reports ---- */

void esw_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *wt)
{
	const struct esw *w = c->state;

	*wt = (struct weft_waiting){ .unit = "frames",
				     .queued = ring_count(&w->p[port].q) };
}

static void output_queues_tell(const struct esw *w, uint32_t i)
{
	const struct esw_port *p = &w->p[i];
	weft_time_t now = weft_now(w->comp);
	uint64_t queued = ring_count(&p->q);

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

/* Queues a pause frame. It replaces a waiting pause frame, because only the
 * newest pause frame counts. */
static void send_pause(struct esw *w, uint32_t i, uint16_t quanta)
{
	struct esw_port *p = &w->p[i];

	if (p->ctl)
		weft_frame_free(p->ctl);
	p->ctl = eth_pause_new(w->comp->sim, w->addr, quanta);
	p->xoff = quanta;
	p->xoff_at = weft_now(w->comp);
	weft_count(w->comp, ESW_C_PAUSE_OUT, 1);
	esw_out_next(w, i);
}

/* Sends a pause frame by port i, which has just received a frame, if the buffer
 * is above the mark. Repeats the pause frame after half of its pause time, so
 * that the sender stays paused. */
static void pause_above(struct esw *w, uint32_t i)
{
	const struct esw_port *p = &w->p[i];

	if (w->full == ESW_PAUSE && w->used > w->xoff &&
	    (!p->xoff || weft_now(w->comp) - p->xoff_at >=
				 w->quanta * ETH_PAUSE_QUANTA / 2))
		send_pause(w, i, (uint16_t)w->quanta);
}

/* ---- buffer ---- */

/* Drops one copy of a frame. After the last copy, frees the buffer bytes of the
 * frame, which may end pauses. */
static void item_put(struct esw *w, struct esw_item *it)
{
	if (--it->refs)
		return;
	w->used -= it->bytes;
	free(it);
	for (uint32_t i = 0; w->used <= w->xon && i < w->ports; i++)
		if (w->p[i].xoff)
			send_pause(w, i, 0);
}

static void item_drop(struct esw_item *it)
{
	if (--it->refs)
		return;
	if (it->f)
		weft_frame_free(it->f);
	free(it);
}

void esw_forward(struct esw *w, struct weft_frame *f, uint32_t in, uint32_t to,
		 weft_time_t ready)
{
	uint32_t first = to == ETH_NO_PORT ? 0 : to, i;
	uint32_t end = to == ETH_NO_PORT ? w->ports : to + 1;
	struct esw_item *it;

	if (w->used + f->payload.len > w->buffer) {
		weft_count(w->comp, ESW_C_DROPPED, 1);
		weft_count(w->comp, ESW_C_DROPPED_BYTES, f->payload.len);
		weft_frame_free(f);
		pause_above(w, in);
		return;
	}
	it = malloc(sizeof(*it));
	if (!it)
		abort();
	*it = (struct esw_item){ .f = f, .bytes = f->payload.len, .refs = 1 };
	w->used += it->bytes;
	if (w->used > w->comp->counters[ESW_C_PEAK])
		w->comp->counters[ESW_C_PEAK] = w->used;
	weft_count(w->comp, ESW_C_FLOODED, to == ETH_NO_PORT);
	for (i = first; i < end; i++)
		if (i != in && w->p[i].port->peer) {
			it->refs++;
			it->waits++;
			*ring_push(&w->p[i].q) = (struct esw_wait){ it, ready };
		}
	if (it->refs ==
	    1) { /* drop the frame, because no other port has a station */
		weft_frame_free(f);
		item_put(w, it);
		return;
	}
	it->refs--; /* drop the reference of this function */
	pause_above(w, in);
	for (i = first; i < end; i++)
		if (i != in) {
			esw_out_next(w, i);
			output_queues_tell(w, i);
		}
}

/* ---- the line ---- */

/* Sends a pause frame, or the first frame of the queue. */
static void start(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	struct weft_frame *f = p->ctl;
	weft_time_t now = weft_now(w->comp);

	if (f) {
		p->ctl = NULL;
		p->ctl_now = true;
	} else {
		struct esw_item *it = ring_front(&p->q)->item;

		ring_pop(&p->q);
		p->now = it;
		f = it->f; /* the last copy is not duplicated */
		if (--it->waits)
			f = weft_frame_dup(f);
		else
			it->f = NULL;
		weft_count(w->comp, ESW_C_OUT, 1);
	}
	p->end = now + eth_frame_time(f);
	weft_port_send(p->port, f, now);
	weft_timer_arm(w->comp, &p->done, ESW_TAG_DONE(w, i), p->end);
}

/* Returns true if a frame waits, and stores in *at the earliest time at which
 * the frame may start. */
static bool next_at(const struct esw_port *p, weft_time_t *at)
{
	*at = p->end ? p->end + ETH_GAP * ETH_BYTE_FS : 0;
	if (p->ctl)
		return true;
	if (ring_empty(&p->q))
		return false;
	if (*at < ring_front(&p->q)->ready)
		*at = ring_front(&p->q)->ready;
	if (*at < p->pause)
		*at = p->pause;
	return true;
}

void esw_out_next(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	weft_time_t now = weft_now(w->comp), at;

	if (!p->now && !p->ctl_now && next_at(p, &at))
		weft_timer_arm(w->comp, &p->out, ESW_TAG_START(w, i),
			       at > now ? at : now);
}

void esw_start_event(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];
	weft_time_t at;

	if (!weft_timer_due(w->comp, &p->out) || p->now || p->ctl_now ||
	    !next_at(p, &at))
		return;
	if (at > weft_now(w->comp))
		esw_out_next(w, i);
	else
		start(w, i);
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
	esw_out_next(w, i);
	output_queues_tell(w, i);
}

/* Frees the frames that wait at the end of the run. */
void esw_out_fini(struct esw *w)
{
	for (uint32_t i = 0; i < w->ports; i++) {
		struct esw_port *p = &w->p[i];

		for (; !ring_empty(&p->q); ring_pop(&p->q))
			item_drop(ring_front(&p->q)->item);
		if (p->now)
			item_drop(p->now);
		if (p->ctl)
			weft_frame_free(p->ctl);
		eth_line_free(&p->line);
		ring_free(&p->q);
	}
}
