/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on the methods of sending of the Host Port (hostport.md 11.9):
 *
 *   hostport.pingpong  messages from node 0 to a partner and back: half of the
 *                      round trip. For a get: time from the trigger to the
 *                      notification
 *   hostport.stream    node 0 sends (or gets) as fast as it can
 *
 * Small instructions carry longer messages in pieces. */
#include <errno.h>

#include "programs/pingpong.h"
#include "programs/stream.h"
#include "systems/hostport/programs/hostport_program.h"

struct way {
	uint32_t way, depth, issue;
	bool ordered;
	uint64_t mtu;
	struct hpw v;
};

struct way_pingpong {
	struct pingpong p;
	struct way w;
};

struct way_stream {
	struct stream s;
	struct way w;
};

static void way_absorb_all(struct hpw *v)
{
	while (v->done < v->posted)
		hostport_program_absorb(v);
}

/* Opens the port, and exchanges one message, so that caches and TLBs are
 * warm. */
static int way_open(struct way *w, const struct program *prog, uint64_t size,
		    uint32_t partner)
{
	struct hpw *v = &w->v;
	uint32_t words = (uint32_t)(size / 8);

	v->way = w->way;
	v->unordered = !w->ordered;
	v->tagged = w->issue;
	v->mtu = w->mtu;
	v->size = size;
	if (hostport_program_open(v, prog->c, partner))
		return -EIO;
	program_fill(v->out, words, program_base(prog->me, 0, 0));
	((uint64_t *)v->out)[words - 1] = 1;
	program_barrier(&v->w, "hp.filled");
	if (hostport_program_fetches(w->way) && !prog->me) {
		hostport_program_send(v, 0);
		way_absorb_all(v);
	} else if (!prog->me) {
		hostport_program_send(v, 0);
		hostport_program_recv(v, 1);
	} else if (prog->me == partner && !hostport_program_fetches(w->way)) {
		hostport_program_recv(v, 1);
		hostport_program_send(v, 0);
	}
	program_barrier(&v->w, "hp.first");
	return 0;
}

/* ---- ping-pong ---- */

/* Returns the number in the last word of a message. The numbers of the rounds
 * start at 2, because the message before the rounds has number 1. */
static uint64_t way_number(uint64_t seq)
{
	return seq + 2;
}

/* Fills the message. First waits for the end of the last put, because the
 * device reads the message until then. */
static void way_fill(struct way_pingpong *a, uint64_t seq)
{
	if (a->w.way == HPW_PUT)
		way_absorb_all(&a->w.v);
	pingpong_fill(&a->p, a->w.v.out, seq);
	((uint64_t *)(a->w.v.out + a->p.len))[-1] = way_number(seq);
}

static int way_send(struct pingpong *p, uint64_t seq)
{
	struct way_pingpong *a = (struct way_pingpong *)p;

	if (p->begins && !p->alone)
		way_fill(a, seq);
	hostport_program_send(&a->w.v, 0);
	return 0;
}

static int way_wait(struct pingpong *p, uint64_t seq)
{
	struct way_pingpong *a = (struct way_pingpong *)p;
	struct hpw *v = &a->w.v;
	uint32_t words = (uint32_t)(p->len / 8);

	if (p->alone) {
		way_absorb_all(v);
		if (program_check(v->in, 0, words - 1,
				  program_base(p->partner, 0, 0)) >= 0)
			weft_check_failed(p->w.c, "wrong bytes were fetched");
		return 0;
	}
	if (!p->begins)
		way_fill(a, seq);
	hostport_program_recv(v, way_number(seq));
	/* compares the message only if its pieces stay in order, because
	 * otherwise pieces on another route may arrive after the last word */
	p->in = a->w.ordered || (a->w.way != HPW_PUT &&
				 a->w.way != HPW_FAST_PUT &&
				 a->w.way != HPW_PUT_BYTES)
			? v->in
			: NULL;
	if (((uint64_t *)v->in)[words - 1] != way_number(seq))
		weft_check_failed(p->w.c, "message %llu is not what was sent",
				  (unsigned long long)way_number(seq));
	return 0;
}

static int way_pingpong_open(struct pingpong *p)
{
	struct way_pingpong *a = (struct way_pingpong *)p;

	p->alone = hostport_program_fetches(a->w.way);
	if (p->alone)
		p->peer = p->w.me; /* a get delivers data to its origin */
	return way_open(&a->w, &p->w, p->size, p->partner);
}

/* Reports the latency under one name for all methods, so that one figure can
 * show all methods. The latency ends when the data have reached their
 * destination. For messages it is half of the round trip. */
static void way_sized(struct pingpong *p, double ns)
{
	if (p->begins && !p->alone)
		weft_metric(p->w.c, "latency", "ns", ns);
}

static void way_pingpong_close(struct pingpong *p)
{
	hostport_program_close(&((struct way_pingpong *)p)->w.v);
}

static const struct pingpong_ops way_pingpong_ops = {
	.flags = PINGPONG_BOTH,
	.tail = 8,
	.open = way_pingpong_open,
	.send = way_send,
	.wait = way_wait,
	.sized = way_sized,
	.close = way_pingpong_close,
};

static int way_pingpong_main(struct weft_comp *c)
{
	return pingpong_main(c, &way_pingpong_ops);
}

/* ---- stream ---- */

static int way_stream_open(struct stream *s)
{
	struct way_stream *a = (struct way_stream *)s;

	if (a->w.way >= HPW_FAST_PUT && a->w.way != HPW_ULTRA)
		s->receives = false;
	/* ULTRA does not notify of arrivals */
	if (a->w.way == HPW_ULTRA)
		s->flags |= STREAM_ARRIVAL;
	return way_open(&a->w, &s->w, s->size, s->partner);
}

static bool way_stream_post(struct stream *s, uint64_t i)
{
	struct way_stream *a = (struct way_stream *)s;

	(void)i;
	while (a->w.v.posted - a->w.v.done >= a->w.depth)
		hostport_program_absorb(&a->w.v);
	hostport_program_send(&a->w.v, HPORT_ACK);
	return true;
}

static void way_stream_finish(struct stream *s)
{
	way_absorb_all(&((struct way_stream *)s)->w.v);
}

static void way_stream_receive(struct stream *s, uint64_t n)
{
	while (n--)
		hostport_program_recv(&((struct way_stream *)s)->w.v, 0);
}

static void way_stream_close(struct stream *s)
{
	hostport_program_close(&((struct way_stream *)s)->w.v);
}

static const struct stream_ops way_stream_ops = {
	.flags = STREAM_ALL,
	.key = "hp.end",
	.open = way_stream_open,
	.post = way_stream_post,
	.finish = way_stream_finish,
	.receive = way_stream_receive,
	.close = way_stream_close,
};

static int way_stream_main(struct weft_comp *c)
{
	return stream_main(c, &way_stream_ops);
}

// clang-format off
#define W(S, type_, field_, def_, range_, doc_)                                \
	{ .name = #field_, .type = WEFT_P_##type_,                             \
	  .offset = offsetof(S, w.field_), .size = sizeof(((S *)0)->w.field_), \
	  .def = def_, .range = range_, .source = WEFT_OWN, .doc = doc_ }
#define WAY_PARAMS(S)                                                          \
	W(S, ENUM, way, "fast_send", HPW_WAYS, "instruction"),                 \
	W(S, BOOL, ordered, "yes", "",                                         \
	  "instructions to the partner stay in order (SB6)"),                  \
	W(S, ENUM, issue, "trigger", "trigger|tagged",                         \
	  "load of a Triggerpage, or tagged conditional store (10.2)"),        \
	W(S, BYTES, mtu, "0", "0..1048576",                                    \
	  "longer messages are segmented by the library, mtu_bytes of the specification (3.5); 0 = they are not")
#define WAY_SIZES "8..1048576"
static const struct weft_param way_pingpong_params[] = {
	PINGPONG_COUNT("50"), PINGPONG_SIZE("8", WAY_SIZES), PINGPONG_PARTNER,
	WAY_PARAMS(struct way_pingpong),
	{ 0 }
};
static const struct weft_param way_stream_params[] = {
	STREAM_COUNT("50", "messages"),
	STREAM_SIZE("8", WAY_SIZES, "bytes of a message, multiples of 8"),
	STREAM_PARTNER,
	WAY_PARAMS(struct way_stream),
	W(struct way_stream, U32, depth, "16", "1..", "instructions under way"),
	{ 0 }
};
// clang-format on

static int way_init(struct weft_comp *c, uint64_t size, uint64_t mtu,
		    struct weft_err *err)
{
	return hostport_program_words(c, "size", size, err) ||
			       hostport_program_words(c, "mtu", mtu, err)
		       ? -EINVAL
		       : 0;
}

static int way_pingpong_init(struct weft_comp *c, struct weft_err *err)
{
	const struct way_pingpong *a = c->state;

	return way_init(c, a->p.size, a->w.mtu, err);
}

static int way_stream_init(struct weft_comp *c, struct weft_err *err)
{
	const struct way_stream *a = c->state;

	return way_init(c, a->s.size, a->w.mtu, err);
}

WEFT_COMPONENT(hostport_pingpong, .name = "hostport.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "latency of the Host Port's ways to send",
	       .source = "hostport.md 11.9",
	       .state_size = sizeof(struct way_pingpong),
	       .params = way_pingpong_params,
	       .ops = { .init = way_pingpong_init, .main = way_pingpong_main });
WEFT_COMPONENT(hostport_stream, .name = "hostport.stream",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "bandwidth of the Host Port's ways to send",
	       .source = "hostport.md 11.9",
	       .state_size = sizeof(struct way_stream),
	       .params = way_stream_params,
	       .ops = { .init = way_stream_init, .main = way_stream_main });
