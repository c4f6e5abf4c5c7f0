/* SPDX-License-Identifier: Apache-2.0 */
/* Program ep.pingpong: messages of any size between node 0 and a partner over
 * the common endpoint. The partner returns each message as it was received. */
#include <errno.h>
#include <inttypes.h>

#include "host/times.h"
#include "programs/endpoint_program.h"
#include "programs/pingpong.h"

struct ep_pingpong {
	struct pingpong p;
	uint32_t eager_max;
	bool use_irq;
	weft_time_t start, first_wait;
	bool layer;
	uint64_t head;
	weft_time_t call;
	struct weft_ep *ep;
	struct weft_ep_event ev; /* event of the last message received */
	uint8_t *buf;
};

/* Waits for the next message. Drops all other events. */
static void ep_pingpong_take(struct ep_pingpong *e, uint64_t seq)
{
	for (;;) {
		while (e->ep->ops->poll(e->ep, &e->ev, 1)) {
			if (e->ev.kind != WEFT_EV_RECV)
				continue;
			if (e->ev.len != e->p.len || e->ev.imm != seq)
				weft_check_failed(e->p.w.c,
						  "round %" PRIu64
						  ": number %" PRIu64
						  ", %zu bytes",
						  seq, e->ev.imm, e->ev.len);
			e->p.in = e->ev.len == e->p.len ? e->ev.data : NULL;
			return;
		}
		e->ep->ops->wait(e->ep, WEFT_NEVER);
	}
}

static void ep_pingpong_release(struct pingpong *p, uint64_t seq)
{
	struct ep_pingpong *e = (struct ep_pingpong *)p;

	e->ep->ops->release(e->ep, &e->ev);
}

/* Reads the clock before a round, on both nodes. */
static void ep_pingpong_ready(struct pingpong *p)
{
	weft_host_now(p->w.h);
}

/* Sends a new message, or sends the received message back. With `layer` the
 * partner sends a copy of the received message. */
static int ep_pingpong_send(struct pingpong *p, uint64_t seq)
{
	struct ep_pingpong *e = (struct ep_pingpong *)p;
	bool own = p->begins || e->layer;
	const void *data = own ? e->buf : e->ev.data;
	size_t len = own ? p->len : e->ev.len;
	struct weft_ep_event ev;
	int ret;

	if (p->begins)
		pingpong_fill(p, e->buf, seq);
	if (e->layer)
		weft_host_cpu(p->w.h, e->call);
	while ((ret = weft_ep_send(e->ep, p->peer, data, len, seq, NULL)) ==
	       -EAGAIN)
		e->ep->ops->poll(e->ep, &ev, 1);
	if (ret)
		weft_check_failed(p->w.c, "send says %d", ret);
	return ret;
}

static int ep_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	ep_pingpong_take((struct ep_pingpong *)p, seq);
	if (!p->begins) /* the partner reads the clock at the end, too */
		weft_host_now(p->w.h);
	return 0;
}

/* ---- as a library above the endpoint ---- */

/* Models the receive call of a layer above the endpoint. Charges one call for
 * posting a buffer and one for polling the completion. */
static int ep_pingpong_layer_wait(struct pingpong *p, uint64_t seq)
{
	struct ep_pingpong *e = (struct ep_pingpong *)p;

	weft_host_cpu(p->w.h, e->call);
	ep_pingpong_take(e, seq);
	/* p->in is set only if the message has the expected length */
	if (p->in)
		weft_host_move(p->w.h, e->buf, p->in, p->len);
	p->in = p->in ? e->buf : NULL;
	ep_pingpong_release(p, seq);
	weft_host_cpu(p->w.h, e->call);
	return 0;
}

static void ep_pingpong_layer_done(struct pingpong *p, uint64_t seq)
{
	if (p->begins)
		weft_series_add(p->w.c, "round", "", "ns", (double)seq,
				(double)p->last / 2 / WEFT_NS);
}

/* ---- beginning and end ---- */

static int ep_pingpong_open(struct pingpong *p)
{
	struct ep_pingpong *e = (struct ep_pingpong *)p;
	struct weft_ep_attr a = { .use_irq = e->use_irq,
				  .eager_max = e->eager_max };
	weft_phys_t phys;
	int ret;

	p->size += e->layer ? e->head : 0;
	p->size_max += e->layer ? e->head : 0;
	if (p->size_max > 4096)
		a.max_msg = (uint32_t)p->size_max;
	ret = weft_ep_open(p->w.h, &a, &e->ep);
	if (ret) {
		weft_check_failed(p->w.c, "cannot open the endpoint: %s",
				  program_why(ret));
		return ret;
	}
	e->buf = weft_mem_alloc(p->w.h, p->size_max + 8, 64, &phys);
	if (!e->buf) {
		weft_check_failed(p->w.c, "no memory for the message");
		return -ENOMEM;
	}
	if (!e->start || (p->w.me && p->w.me != p->partner))
		return 0;
	/* Starts like a node that has been waiting. */
	e->ep->ops->wait(e->ep, weft_host_now(p->w.h) + e->first_wait);
	weft_host_sleep(p->w.h, e->start);
	return 0;
}

static void ep_pingpong_close(struct pingpong *p)
{
	struct ep_pingpong *e = (struct ep_pingpong *)p;

	program_barrier(&p->w, "epp.end");
	host_nap(p->w.h, T_settle);
	e->ep->ops->close(e->ep);
}

static const struct pingpong_ops ep_pingpong_ops = {
	.flags = PINGPONG_EACH | PINGPONG_ECHO | PINGPONG_FIRST_APART |
		 PINGPONG_UNMARKED,
	.open = ep_pingpong_open,
	.ready = ep_pingpong_ready,
	.send = ep_pingpong_send,
	.wait = ep_pingpong_wait,
	.done = ep_pingpong_release,
	.close = ep_pingpong_close,
};

static const struct pingpong_ops ep_pingpong_layer_ops = {
	.flags = PINGPONG_EACH | PINGPONG_ECHO | PINGPONG_FIRST_APART |
		 PINGPONG_UNMARKED,
	.open = ep_pingpong_open,
	.send = ep_pingpong_send,
	.wait = ep_pingpong_layer_wait,
	.done = ep_pingpong_layer_done,
	.close = ep_pingpong_close,
};

static int ep_pingpong_main(struct weft_comp *c)
{
	const struct ep_pingpong *e = c->state;

	return pingpong_main(c, e->layer ? &ep_pingpong_layer_ops
					 : &ep_pingpong_ops);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct ep_pingpong, field, def, range, OWN, doc)
static const struct weft_param ep_pingpong_params[] = {
	PINGPONG_PARAMS("1000", "64", "0..1MiB", "8"),
	P(U32, eager_max, "0", "",
	  "longest message without a handshake; 0 = the library's"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning"),
	P(TIME, start, "0", "", "not before this time of the run"),
	P(TIME, first_wait, "1us", "",
	  "each node waits so long for a message before the start"),
	P(BOOL, layer, "no", "",
	  "as a library above it (libfabric, MPI): data are copied, and a message let go, before it is answered"),
	P(BYTES, head, "32", "0..4096",
	  "layer: what it puts before the data"),
	P(TIME, call, "0", "",
	  "layer: processor time of each of its calls: sending, making a place known, taking what has come"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(ep_pingpong, .name = "ep.pingpong", .kind = WEFT_KIND_PROGRAM,
	       .doc = "ping-pong over the common endpoint", .source = "ep.h",
	       .state_size = sizeof(struct ep_pingpong),
	       .params = ep_pingpong_params,
	       .ops = { .main = ep_pingpong_main });
