/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's crossbar, see crossbar.h. It handles requests and grants of OutPorts,
 * moves flits and detects deadlocks. */
#include "systems/atoll/network/crossbar.h"

#include <errno.h>

enum { NP_FLITS = 4 }; /* capacity of a network port's InPort in flits */

void atoll_link_arm(struct atoll_xbar *x, uint64_t cycle)
{
	if (cycle >= x->armed)
		return;
	x->armed = cycle;
	weft_wake(x->comp, x->tag, weft_clock_edge(&x->clk, cycle));
}

void atoll_xbar_init(struct atoll_xbar *x, struct weft_comp *c,
		     struct weft_port *link_ports,
		     const struct atoll_xbar_ops *ops, void *own, uint32_t tag)
{
	x->comp = c;
	x->ops = ops;
	x->own = own;
	x->tag = tag;
	x->armed = WEFT_NEVER;
	for (uint32_t i = 0; i < AT_PORTS; i++) {
		x->in[i].want = x->in[i].out = AX_NONE;
		x->out[i].owner = AX_NONE;
		x->out[i].last = AT_PORTS - 1;
	}
	for (uint32_t l = 0; l < AT_LINKS; l++) {
		x->link[l].port = &link_ports[l];
		link_ports[l].iface = x;
		link_ports[l].beside = true; /* state characters do not occupy
					      * the line */
	}
}

/* Checks that the thresholds suit the cables (hostport.md 2.1). Flits still
 * arrive after a link has told its peer to stop: flits in flight, flits that
 * leave before the stop takes effect, and flits that the peer's crossbar
 * granted earlier, which leave t_out after the grant. The free bytes of the
 * buffer must hold all of these flits. */
int atoll_xbar_start(struct atoll_xbar *x, struct weft_err *err)
{
	for (uint32_t l = 0; l < AT_LINKS; l++) {
		const struct weft_port *p = x->link[l].port;
		uint64_t way =
			weft_clock_cycle(&x->clk, x->clk.phase + p->delay);
		uint64_t need =
			2 * way + 2 * x->t_out + x->t_in + 2 * AT_WORDS_MAX;

		if (p->peer &&
		    (x->stop_free < need || x->cont_free <= x->stop_free ||
		     x->cont_free > x->buffer))
			return weft_fail(
				err, EINVAL,
				"%s.%s: stop_free %u, cont_free %u, buffer %u: stop_free must be %u at least for this cable, cont_free more than it and not more than buffer",
				x->comp->name, p->name, x->stop_free,
				x->cont_free, x->buffer, (unsigned)need);
	}
	x->hop = weft_hist(x->comp, "hop", "cycles");
	x->fall = weft_hist(x->comp, "fall_through", "cycles");
	x->way = weft_hist(x->comp, "way", "ns");
	return 0;
}

#define RING_DROP(r)                                                           \
	do {                                                                   \
		for (; !ring_empty(r); ring_pop(r))                            \
			weft_frame_free(*ring_front(r));                       \
		ring_free(r);                                                  \
	} while (0)

void atoll_xbar_fini(struct atoll_xbar *x)
{
	for (uint32_t i = 0; i < AT_PORTS; i++) {
		RING_DROP(&x->in[i].q);
		ring_free(&x->in[i].left);
	}
	for (uint32_t l = 0; l < AT_LINKS; l++) {
		RING_DROP(&x->link[l].again);
		RING_DROP(&x->link[l].came);
		RING_DROP(&x->link[l].state);
	}
}

void atoll_xbar_arrive(struct atoll_xbar *x, uint32_t link,
		       struct weft_frame *f)
{
	AT_CAME(f) = atoll_link_now(x);
	*ring_push(&x->link[link].came) = f;
	atoll_link_arm(x, AT_CAME(f));
}

bool atoll_xbar_np_room(const struct atoll_xbar *x, uint32_t np)
{
	return ring_count(&x->in[np].q) < NP_FLITS;
}

void atoll_xbar_inject(struct atoll_xbar *x, uint32_t np, struct weft_frame *f)
{
	struct atoll_link_in *in = &x->in[np];
	uint64_t now = atoll_link_now(x);

	AT_CAME(f) = in->free > now ? in->free : now;
	in->free = AT_CAME(f) + at_words(f);
	AT_READY(f) = AT_CAME(f) + x->t_xbar;
	AT_ROOM(f) = at_words(f);
	AT_BORN(f) = weft_clock_edge(&x->clk, AT_CAME(f));
	in->used += at_words(f);
	atoll_link_mark(x, f, "host port", AT_CAME(f));
	*ring_push(&in->q) = f;
	atoll_link_arm(x, AT_READY(f));
}

void atoll_xbar_kick(struct atoll_xbar *x)
{
	atoll_link_arm(x, atoll_link_now(x));
}

/* ---- requests ---- */

static struct weft_frame *crossbar_front(const struct atoll_link_in *in,
					 uint64_t c)
{
	struct weft_frame *f;

	if (ring_empty(&in->q))
		return NULL;
	f = *ring_front(&in->q);
	return AT_READY(f) <= c ? f : NULL;
}

static void crossbar_ask(struct atoll_xbar *x, uint32_t i, uint64_t c)
{
	struct atoll_link_in *in = &x->in[i];
	struct weft_frame *f = crossbar_front(in, c);
	uint8_t ch, o;

	if (!f || in->out != AX_NONE || in->want != AX_NONE)
		return;
	if (at_line(f)->kind != AT_HEAD) {
		/* not reachable, because flit_keep() discards a flit that
		 * arrives without a head */
		weft_check_failed(x->comp, "InPort %u: a packet has no head",
				  i);
		return;
	}
	ch = f->payload.len ? *weft_slice_data(f->payload) : 0xff;
	o = ch & 7;
	in->want = o;
	if (!at_char_good(ch) ||
	    (o >= AT_LINK0 && !x->link[o - AT_LINK0].port->peer)) {
		/* The route contains a wrong character or names a link without
		 * a cable. Sends the packet to the management's host port,
		 * where the management process can inspect it. */
		atoll_link_count(x, AX_K_PARITY, 1);
		at_line(f)->flags |= AT_RETRIEVED;
		in->want = (uint8_t)x->mgmt;
		x->ops->misrouted(x->own, i);
	}
}

/* ---- flits ---- */

static void crossbar_measure(struct atoll_xbar *x, uint32_t i, uint32_t o,
			     const struct weft_frame *f, uint64_t c)
{
	uint64_t in = i >= AT_LINK0 ? x->t_in : 0;

	if (at_line(f)->kind != AT_HEAD)
		return;
	weft_hist_put(x->fall, (double)(c - AT_CAME(f) - in));
	if (i >= AT_LINK0 && o >= AT_LINK0)
		weft_hist_put(x->hop, (double)(c + x->t_out - AT_CAME(f)));
	if (o < AT_LINK0)
		weft_hist_put(x->way, (double)(weft_now(x->comp) - AT_BORN(f)) /
					      WEFT_NS);
}

/* Moves the first flit of InPort i to OutPort o. */
static void crossbar_go(struct atoll_xbar *x, uint32_t i, uint32_t o,
			uint64_t c)
{
	struct atoll_link_in *in = &x->in[i];
	struct weft_frame *f = *ring_front(&in->q);
	bool head = at_line(f)->kind == AT_HEAD;
	bool eop = !head && at_line(f)->flags & AT_EOP;

	ring_pop(&in->q);
	crossbar_measure(x, i, o, f, c);
	atoll_link_mark(x, f, "crossbar", c);
	if (head && !(at_line(f)->flags & AT_RETRIEVED)) {
		/* Drop the first routing character, because this crossbar used
		 * it (2.2). */
		struct weft_slice s = f->payload;

		f->payload = weft_slice_sub(s, 1, s.len - 1);
		weft_slice_drop(&s);
	}
	x->out[o].free = c + at_words(f);
	/* restart the deadlock counter, because a flit moved */
	x->out[o].cond = x->out[o].fired = false;
	*ring_push(&in->left) =
		(struct atoll_link_left){ x->out[o].free,
					  (uint32_t)AT_ROOM(f) };
	atoll_link_count(x, AX_K_FLITS, 1);
	if (eop) {
		atoll_link_count(x, AX_K_PACKETS, 1);
		x->out[o].owner = in->out = AX_NONE;
		in->redirect = false;
	}
	if (o >= AT_LINK0)
		atoll_link_link_send(x, o - AT_LINK0, f, c + x->t_out);
	else
		x->ops->flit(x->own, o, f);
}

static void crossbar_leave(struct atoll_xbar *x, uint32_t i, uint64_t c)
{
	struct atoll_link_in *in = &x->in[i];
	uint32_t before = in->used;

	while (!ring_empty(&in->left) && ring_front(&in->left)->cycle <= c) {
		in->used -= ring_front(&in->left)->bytes;
		ring_pop(&in->left);
	}
	if (in->used == before)
		return;
	if (i >= AT_LINK0)
		atoll_link_link_state(x, i - AT_LINK0);
	else
		x->ops->ready(x->own, i);
}

/* ---- deadlock (2.3) ---- */

bool atoll_xbar_dl_cond(const struct atoll_xbar *x, uint32_t out, uint32_t *i_p,
			uint32_t *j_p)
{
	const struct atoll_link_out *o = &x->out[out];
	bool stop = out >= AT_LINK0 ? o->stopped : !x->ops->room(x->own, out);

	if (o->owner == AX_NONE || !stop)
		return false;
	for (uint32_t j = 0; j < AT_PORTS; j++)
		if (j != o->owner && x->in[j].want == out) {
			*i_p = o->owner;
			*j_p = j;
			return true;
		}
	return false;
}

static uint64_t crossbar_watch(struct atoll_xbar *x, uint32_t o, uint64_t c)
{
	struct atoll_link_out *out = &x->out[o];
	uint32_t i, j;

	if (!atoll_xbar_dl_cond(x, o, &i, &j)) {
		out->cond = out->fired = false;
		return WEFT_NEVER;
	}
	if (!out->cond) {
		out->cond = true;
		out->since = c;
	}
	if (out->fired)
		return WEFT_NEVER;
	if (c < out->since + x->dl_counter)
		return out->since + x->dl_counter;
	out->fired = true;
	atoll_link_count(x, AX_K_DEADLOCKS, 1);
	x->ops->deadlock(x->own, o);
	return WEFT_NEVER;
}

bool atoll_xbar_redirect(struct atoll_xbar *x, uint32_t j)
{
	struct atoll_link_in *in;

	if (j >= AT_PORTS || x->in[j].want == AX_NONE ||
	    x->in[j].out != AX_NONE || x->in[j].redirect)
		return false;
	in = &x->in[j];
	in->redirect = true;
	in->want = (uint8_t)x->mgmt;
	at_line(*ring_front(&in->q))->flags |= AT_RETRIEVED;
	atoll_link_count(x, AX_K_RETRIEVED, 1);
	atoll_xbar_kick(x);
	return true;
}

/* ---- states for listeners ---- */

static void crossbar_tell(const struct atoll_xbar *x)
{
	static const char *const wants[AT_PORTS] = { "wants0", "wants1",
						     "wants2", "wants3",
						     "wants4", "wants5",
						     "wants6", "wants7" };
	static const char *const to[AT_PORTS] = { "to0", "to1", "to2", "to3",
						  "to4", "to5", "to6", "to7" };
	weft_time_t now = weft_now(x->comp);

	for (uint32_t i = 0; i < AT_PORTS; i++) {
		const struct atoll_link_out *o = &x->out[i];
		const struct atoll_link_in *in = &x->in[i];

		weft_state_at(x->comp, "inport", i,
			      in->out != AX_NONE    ? to[in->out]
			      : in->want != AX_NONE ? wants[in->want]
						    : "idle",
			      now);
		weft_level(x->comp, "inport_bytes", i, in->used, now);
		weft_state_at(x->comp, "outport", i,
			      o->stopped	    ? "stopped"
			      : o->owner != AX_NONE ? "granted"
						    : "idle",
			      now);
	}
}

/* ---- cycles ---- */

/* Returns the next cycle at which InPort `in` can act. Events of its OutPort
 * are not included, because out_step() returns them. */
static uint64_t in_next(const struct atoll_xbar *x,
			const struct atoll_link_in *in, uint64_t c)
{
	uint64_t t = WEFT_NEVER, r;

	if (!ring_empty(&in->left))
		t = ring_front(&in->left)->cycle;
	if (in->want != AX_NONE && x->out[in->want].owner == AX_NONE) {
		r = x->out[in->want].free;
		t = r < t ? r : t;
	}
	if (ring_empty(&in->q))
		return t;
	r = AT_READY(*ring_front(&in->q));
	return r > c && r < t ? r : t;
}

/* Runs OutPort o at cycle c: grants the OutPort to an InPort if the OutPort is
 * free, and moves a flit through it if possible. Returns the next cycle at
 * which OutPort o can act again. */
static uint64_t out_step(struct atoll_xbar *x, uint32_t o, uint64_t c)
{
	struct atoll_link_out *out = &x->out[o];

	if (out->free > c)
		return out->free;
	/* Round robin among the requesting InPorts, so that none starves. */
	for (uint32_t k = 1; out->owner == AX_NONE && k <= AT_PORTS; k++) {
		uint32_t i = (out->last + k) % AT_PORTS;

		if (x->in[i].want != o || x->in[i].out != AX_NONE)
			continue;
		out->owner = out->last = (uint8_t)i;
		x->in[i].out = (uint8_t)o;
		x->in[i].want = AX_NONE;
	}
	if (out->owner == AX_NONE || !crossbar_front(&x->in[out->owner], c))
		return WEFT_NEVER;
	if (o >= AT_LINK0 ? !atoll_link_link_can(x, o - AT_LINK0)
			  : !x->ops->room(x->own, o))
		return WEFT_NEVER;
	crossbar_go(x, out->owner, o, c);
	return out->free;
}

void atoll_xbar_event(struct atoll_xbar *x)
{
	uint64_t c = x->armed, next = WEFT_NEVER, t;
	uint32_t i;

	if (c == WEFT_NEVER || weft_clock_edge(&x->clk, c) != weft_now(x->comp))
		return;
	x->armed = WEFT_NEVER;
	for (i = 0; i < AT_LINKS; i++) {
		t = x->link[i].port->peer ? atoll_link_link_step(x, i, c)
					  : WEFT_NEVER;
		next = t < next ? t : next;
	}
	for (i = 0; i < AT_PORTS; i++)
		crossbar_leave(x, i, c);
	for (i = 0; i < AT_PORTS; i++)
		crossbar_ask(x, i, c);
	for (i = 0; i < AT_PORTS; i++) {
		t = out_step(x, i, c);
		next = t < next ? t : next;
	}
	for (i = 0; i < AT_PORTS; i++) {
		crossbar_ask(x, i, c);
		t = in_next(x, &x->in[i], c);
		next = t < next ? t : next;
		t = crossbar_watch(x, i, c);
		next = t < next ? t : next;
	}
	if (weft_heard_kind(x->comp, WEFT_TRACE_STATE))
		crossbar_tell(x);
	if (next != WEFT_NEVER)
		atoll_link_arm(x, next > c ? next : c + 1);
}
