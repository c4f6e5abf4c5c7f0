/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, windows and order of frames in a gateway (gateway.h). */
#include "systems/router/network/gateway.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/rng.h"

/* ---- the other ends ---- */

static struct gateway_way *way_of(struct gateway *g, uint32_t end, uint32_t cls)
{
	if (!g->peer[end])
		g->peer[end] = need(calloc(1, sizeof(*g->peer[end])));
	return &g->peer[end]->way[cls];
}

bool gateway_knows(const struct gateway *g, uint32_t end)
{
	const struct router_net *net = g->s.net->state;
	const struct station *s =
		end < g->s.graph->ends && net->end ? net->end[end] : NULL;

	return s && s->comp->cls == g->s.comp->cls;
}

/* ---- records of frames ---- */

/* Returns a record for a frame. The gateway that delivers the frame frees the
 * record for reuse. The memory belongs to the component that allocated it until
 * the end of the simulation. */
static struct gateway_frame *frame_new(struct gateway *g)
{
	enum { CHUNK = 32 };
	struct gateway_frame *w = g->spare;

	if (!w) {
		w = weft_comp_alloc(g->s.comp, CHUNK * sizeof(*w));
		for (uint32_t i = 0; i + 1 < CHUNK; i++)
			w[i].next = &w[i + 1];
	}
	g->spare = w->next;
	*w = (struct gateway_frame){ .src = g->s.number };
	return w;
}

static void frame_free(struct gateway *g, struct gateway_frame *w)
{
	w->next = g->spare;
	g->spare = w;
}

/* ---- frames into the network ---- */

static void list_add(struct gateway_list *l, struct gateway_frame *w)
{
	w->next = NULL;
	*l->end = w;
	l->end = &w->next;
	l->n++;
}

void gateway_send(struct gateway *g, struct weft_frame *f, uint32_t dest,
		  uint32_t cls, uint32_t bytes)
{
	struct gateway_frame *w = frame_new(g);

	w->f = f;
	w->dest = dest;
	w->cls = cls;
	w->bytes = bytes;
	w->ready = station_now(&g->s) + g->t_in;
	list_add(&g->queue[cls], w);
	station_wake(&g->s, w->ready);
}

void gateway_drop(struct gateway *g, struct weft_frame *f)
{
	weft_count(g->s.comp, GATEWAY_UNKNOWN, 1);
	weft_msg_end(g->s.comp, f->trace_id, false);
	weft_frame_free(f);
}

/* Removes the first frame of a class that is ready and whose window is open.
 * The frame occupies its place until its last packet is sent. */
static struct gateway_frame *queue_next(struct gateway *g, uint32_t cls,
					uint64_t now)
{
	struct gateway_list *l = &g->queue[cls];
	struct gateway_frame **at = &l->first, *w;
	struct gateway_way *way;

	for (; (w = *at); at = &w->next) {
		if (w->ready > now) {
			station_wake(&g->s, w->ready);
			return NULL;
		}
		way = way_of(g, w->dest, cls);
		if (way->open < g->window)
			break;
		weft_count(g->s.comp, GATEWAY_WAITS, !w->waited);
		w->waited = true;
	}
	if (!w)
		return NULL;
	*at = w->next;
	if (!w->next)
		l->end = at;
	way->open++;
	w->number = way->sent++;
	return w;
}

uint32_t gateway_pay(struct gateway *g, uint32_t end, uint32_t cls)
{
	struct gateway_way *way = way_of(g, end, cls);
	uint32_t n = way->owed;

	way->owed = 0;
	return n;
}

/* Returns a frame without content that carries owed credits, or NULL. Skips
 * ends whose credits have already been sent in another packet. */
static struct gateway_frame *owed_next(struct gateway *g)
{
	while (!ring_empty(&g->owed)) {
		struct gateway_owed o = *ring_front(&g->owed);
		struct gateway_way *way = way_of(g, o.end, o.cls);
		struct gateway_frame *w;

		ring_pop(&g->owed);
		way->asked = false;
		if (!way->owed)
			continue;
		w = frame_new(g);
		w->dest = o.end;
		w->cls = o.cls;
		weft_count(g->s.comp, GATEWAY_CREDITS, 1);
		return w;
	}
	return NULL;
}

struct gateway_frame *gateway_next(struct gateway *g, uint64_t now)
{
	struct gateway_frame *w = owed_next(g);

	for (uint32_t k = 0; !w && k < GATEWAY_CLASSES; k++) {
		uint32_t cls = (g->turn + k) % GATEWAY_CLASSES;

		w = queue_next(g, cls, now);
		if (w)
			g->turn = (cls + 1) % GATEWAY_CLASSES;
	}
	return w;
}

/* ---- frames out of the network ---- */

static void frame_deliver(struct gateway *g, struct gateway_frame *w,
			  uint64_t now)
{
	struct weft_comp *c = g->s.comp;
	weft_time_t ready = weft_clock_edge(&g->s.clock, now + g->t_out);

	weft_count(c, GATEWAY_IN, 1);
	weft_count(c, GATEWAY_BYTES_IN, w->bytes);
	weft_mark(c, w->f->trace_id, "network", weft_now(c));
	g->ops->deliver(c, w->f, w->src, w->cls, ready);
	frame_free(g, w);
}

/* Delivers the frame if it is the next in order, and then the frames that
 * waited for it. Otherwise stores it in way->early. */
static void frame_order(struct gateway *g, struct gateway_frame *w,
			uint64_t now)
{
	struct gateway_way *way = way_of(g, w->src, w->cls);
	struct gateway_frame **at = &way->early;

	if (w->number != way->next) {
		weft_count(g->s.comp, GATEWAY_EARLY, 1);
		while (*at && (int32_t)((*at)->number - w->number) < 0)
			at = &(*at)->next;
		w->next = *at;
		*at = w;
		return;
	}
	while (w) {
		way->next++;
		frame_deliver(g, w, now);
		w = way->early;
		if (w && w->number != way->next)
			break;
		if (w)
			way->early = w->next;
	}
}

void gateway_whole(struct gateway *g, struct gateway_frame *w, uint64_t now)
{
	struct gateway_way *way = way_of(g, w->src, w->cls);

	way->open -= w->credits;
	w->credits = 0;
	if (w->f)
		frame_order(g, w, now);
	else
		frame_free(g, w);
}

void gateway_done(struct gateway *g, uint32_t src, uint32_t cls)
{
	struct gateway_way *way = way_of(g, src, cls);

	way->owed++;
	if (2 * way->owed < g->window || way->asked)
		return;
	way->asked = true;
	*ring_push(&g->owed) = (struct gateway_owed){ src, cls };
	station_wake(&g->s, station_now(&g->s) + 1);
}

/* ---- set-up ---- */

static void gateway_step(struct station *s, uint64_t now)
{
	struct gateway *g = (struct gateway *)s;

	gateway_take(g, now);
	gateway_inject(g, now);
}

int gateway_init(struct weft_comp *c, const struct gateway_ops *ops,
		 struct weft_err *err)
{
	struct gateway *g = c->state;

	g->s.comp = c;
	g->s.end = true;
	g->s.clock = g->clock;
	g->s.step = gateway_step;
	g->ops = ops;
	g->last_vc = g->packet = ARBITER_NONE;
	for (uint32_t k = 0; k < GATEWAY_CLASSES; k++)
		g->queue[k].end = &g->queue[k].first;
	g->s.line = need(calloc(c->n_ports, sizeof(*g->s.line)));
	if (g->packet_bytes <= g->header_bytes)
		return weft_fail(
			err, EINVAL,
			"%s.packet_bytes: packets of %u bytes have no room behind a header of %u: set %u or more",
			c->name, g->packet_bytes, g->header_bytes,
			g->header_bytes + 1);
	return 0;
}

int gateway_start(struct weft_comp *c, struct weft_err *err)
{
	struct gateway *g = c->state;
	uint32_t longest;

	if (station_start(&g->s, err))
		return -EINVAL;
	router_net_end(g->s.net, &g->s);
	g->router = &g->s.line[0].far->face;
	longest = gateway_flits(g, g->packet_bytes - g->header_bytes);
	if (g->router->flow != ROUTER_WORMHOLE && longest > g->router->places)
		return weft_fail(
			err, EINVAL,
			"%s: packets of %u flits do not fit in queues of %u: set switch.buf_flits to %u, or gateway.packet_bytes to %u, or flow: wormhole",
			c->name, longest, g->router->places, longest,
			g->router->places * g->flit_bytes);
	g->s.packets = router_packets(g->s.net);
	g->peer = need(calloc(g->s.graph->ends, sizeof(struct gateway_peer *)));
	g->vc = need(calloc(g->router->vcs, sizeof(*g->vc)));
	for (uint32_t v = 0; v < g->router->vcs; v++)
		g->vc[v].credits = g->vc[v].places =
			(uint16_t)g->router->places;
	weft_rng_seed(&g->coins, weft_rng_u64(&c->rng), "routes");
	return 0;
}

static void frames_drop(struct gateway_frame **list)
{
	for (struct gateway_frame *w = *list; w; w = w->next)
		if (w->f)
			weft_frame_free(w->f);
	*list = NULL;
}

void gateway_abandon(struct gateway *g)
{
	for (uint32_t k = 0; k < GATEWAY_CLASSES; k++)
		frames_drop(&g->queue[k].first);
	for (uint32_t i = 0; g->peer && i < g->s.graph->ends; i++)
		for (uint32_t k = 0; g->peer[i] && k < GATEWAY_CLASSES; k++)
			frames_drop(&g->peer[i]->way[k].early);
}

void gateway_fini(struct weft_comp *c)
{
	struct gateway *g = c->state;

	for (uint32_t i = 0; g->peer && i < g->s.graph->ends; i++)
		free(g->peer[i]);
	free(g->peer);
	free(g->vc);
	ring_free(&g->owed);
	station_fini(&g->s);
}
