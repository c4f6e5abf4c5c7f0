/* SPDX-License-Identifier: Apache-2.0 */
/* Program ep.pingpong: messages of any size between nodes 0 and 1 over the
 * common endpoint, returned as received, every byte compared.  Other nodes
 * only open their endpoint. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/times.h"
#include "programs/endpoint_program.h"

struct epp {
	/* parameters */
	uint64_t count;
	uint64_t size;
	uint32_t eager_max;
	bool use_irq;
	weft_time_t start, first_wait;
	bool layer;
	uint64_t head;
	weft_time_t call;
	/* run */
	struct program w;
	struct weft_ep *ep;
	uint8_t *buf;
	struct weft_hist *hist;
	weft_time_t total; /* all rounds but the first */
};

static void epp_send(struct epp *p, const void *data, size_t len, uint64_t seq)
{
	struct weft_ep_event ev;
	int ret;

	while ((ret = weft_ep_send(p->ep, p->w.me ^ 1, data, len, seq, NULL)) ==
	       -EAGAIN)
		p->ep->ops->poll(p->ep, &ev, 1);
	if (ret)
		weft_check_failed(p->w.c, "send says %d", ret);
}

/* The next message, everything else that happens is let go. */
static struct weft_ep_event epp_recv(struct epp *p)
{
	struct weft_ep_event ev;

	for (;;) {
		while (p->ep->ops->poll(p->ep, &ev, 1))
			if (ev.kind == WEFT_EV_RECV)
				return ev;
		p->ep->ops->wait(p->ep, WEFT_NEVER);
	}
}

static void epp_check(struct epp *p, const struct weft_ep_event *ev,
		      uint64_t seq)
{
	int64_t bad = epw_check(ev->data, ev->len, program_base(0, 1, seq));

	if (bad >= 0 || ev->len != p->size || ev->imm != seq)
		weft_check_failed(p->w.c,
				  "round %" PRIu64
				  ": length %zu, wrong byte %" PRId64,
				  seq, ev->len, bad);
}

static void epp_note(struct epp *p, weft_time_t t, uint64_t seq)
{
	weft_hist_put(p->hist, (double)t / 2 / WEFT_NS);
	p->total += seq ? t : 0;
}

static void epp_round(struct epp *p, uint64_t seq)
{
	weft_time_t t = weft_host_now(p->w.h);
	struct weft_ep_event ev;

	if (p->w.me == 0) {
		epw_fill(p->buf, p->size, program_base(0, 1, seq));
		t = weft_host_now(p->w.h);
		epp_send(p, p->buf, p->size, seq);
	}
	ev = epp_recv(p);
	t = weft_host_now(p->w.h) - t;
	epp_check(p, &ev, seq);
	if (p->w.me == 1)
		epp_send(p, ev.data, ev.len, seq);
	else
		epp_note(p, t, seq);
	p->ep->ops->release(p->ep, &ev);
}

/* ---- as a library above the endpoint ---- */

static void epp_layer_send(struct epp *p, uint64_t seq)
{
	weft_host_cpu(p->w.h, p->call);
	epp_send(p, p->buf, p->size, seq);
}

/* A place for it is made known, and its arrival is taken notice of. */
static void epp_layer_recv(struct epp *p, uint64_t seq)
{
	struct weft_ep_event ev;

	weft_host_cpu(p->w.h, p->call);
	ev = epp_recv(p);
	epp_check(p, &ev, seq);
	weft_host_move(p->w.h, p->buf, ev.data, p->size);
	p->ep->ops->release(p->ep, &ev);
	weft_host_cpu(p->w.h, p->call);
}

static void epp_layer_round(struct epp *p, uint64_t seq)
{
	weft_time_t t;

	if (p->w.me == 1) {
		epp_layer_recv(p, seq);
		epp_layer_send(p, seq);
		return;
	}
	epw_fill(p->buf, p->size, program_base(0, 1, seq));
	t = weft_host_now(p->w.h);
	epp_layer_send(p, seq);
	epp_layer_recv(p, seq);
	t = weft_host_now(p->w.h) - t;
	epp_note(p, t, seq);
	weft_series_add(p->w.c, "round", "", "ns", (double)seq,
			(double)t / 2 / WEFT_NS);
}

/* ---- beginning and end ---- */

/* As one who has been waiting. */
static void epp_start(struct epp *p)
{
	p->ep->ops->wait(p->ep, weft_host_now(p->w.h) + p->first_wait);
	weft_host_sleep(p->w.h, p->start);
}

static int epp_main(struct weft_comp *c)
{
	struct epp *p = c->state;
	struct weft_ep_attr a = { .use_irq = p->use_irq,
				  .eager_max = p->eager_max };
	weft_phys_t phys;
	int ret;

	p->w = program_from(c);
	p->size += p->layer ? p->head : 0;
	if (p->size > 4096)
		a.max_msg = (uint32_t)p->size;
	ret = weft_ep_open(p->w.h, &a, &p->ep);
	if (ret) {
		weft_check_failed(c, "cannot open the endpoint: %s",
				  program_why(ret));
		return ret;
	}
	p->buf = weft_mem_alloc(p->w.h, p->size + 8, 64, &phys);
	if (p->w.me == 0)
		p->hist = weft_hist(c, "half_rtt", "ns");
	if (p->start && p->w.me < 2)
		epp_start(p);
	for (uint64_t i = 0; i < p->count && p->buf && p->w.me < 2; i++)
		(p->layer ? epp_layer_round : epp_round)(p, i);
	if (p->w.me == 0 && p->count > 1)
		weft_metric(c, "half_rtt_mean", "ns",
			    (double)p->total / 2 / WEFT_NS /
				    (double)(p->count - 1));
	program_barrier(&p->w, "epp.end");
	host_nap(p->w.h, T_settle);
	p->ep->ops->close(p->ep);
	return 0;
}

// clang-format off
static const struct weft_param epp_params[] = {
	WEFT_PARAM(U64, struct epp, count, "1000", "1..", OWN, "round trips"),
	WEFT_PARAM(BYTES, struct epp, size, "64", "0..1MiB", OWN,
		   "bytes of a message"),
	WEFT_PARAM(U32, struct epp, eager_max, "0", "", OWN,
		   "longest message without a handshake; 0 = the library's"),
	WEFT_PARAM(BOOL, struct epp, use_irq, "no", "", OWN,
		   "sleep instead of spinning"),
	WEFT_PARAM(TIME, struct epp, start, "0", "", OWN,
		   "not before this time of the run"),
	WEFT_PARAM(TIME, struct epp, first_wait, "1us", "", OWN,
		   "each node waits so long for a message before the start"),
	WEFT_PARAM(BOOL, struct epp, layer, "no", "", OWN,
		   "as a library above it (libfabric, MPI): data are copied, "
		   "and a message let go, before it is answered"),
	WEFT_PARAM(BYTES, struct epp, head, "32", "0..4096", OWN,
		   "layer: what it puts before the data"),
	WEFT_PARAM(TIME, struct epp, call, "0", "", OWN,
		   "layer: processor time of each of its calls: sending, "
		   "making a place known, taking what has come"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(ep_pingpong, .name = "ep.pingpong", .kind = WEFT_KIND_PROGRAM,
	       .doc = "ping-pong over the common endpoint", .source = "ep.h",
	       .state_size = sizeof(struct epp), .params = epp_params,
	       .ops = { .main = epp_main });
