/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that send many VELO messages (extoll.md 6.5):
 *
 *   extoll.velo_rate  node 0 sends to a partner as fast as it can
 *   extoll.alltoall   every node sends `count` messages to every other node
 *
 * Every message is checked: contents, length, order within its pair. A lost
 * message is an error (EX-17). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "programs/stream.h"
#include "systems/extoll/programs/velo_program.h"

struct va {
	struct stream s; /* all to all uses its count and size */
	uint64_t mailbox;
	uint32_t size_max;
	struct velow v;
	/* by node: */
	struct velo_connection *to;
	/* number of the next message. A message that is lost or comes twice
	 * makes those behind it wrong */
	uint64_t *seen;
	uint64_t received;
};

static uint32_t va_len(const struct va *a, uint32_t src, uint32_t dst,
		       uint64_t seq)
{
	return program_qwords(src, dst, seq, (uint32_t)a->s.size, a->size_max);
}

static int va_begin(struct va *a, struct weft_comp *c, const char *name)
{
	int ret = velo_program_open(&a->v, c, name, a->mailbox);

	if (ret)
		return ret;
	if (a->size_max < a->s.size)
		a->size_max = (uint32_t)a->s.size;
	a->to = weft_host_calloc(a->v.w.h, a->v.w.n, sizeof(*a->to));
	a->seen = weft_host_calloc(a->v.w.h, a->v.w.n, sizeof(*a->seen));
	if (!a->to || !a->seen)
		return -ENOMEM;
	if (a->size_max <= velo_max_len(a->v.port))
		return 0;
	weft_check_failed(c, "size_max: messages have up to %u bytes",
			  velo_max_len(a->v.port));
	return -EINVAL;
}

/* Receives and checks all messages in the mailbox. */
static void va_drain(struct va *a)
{
	uint8_t want[VELOW_LEN_MAX];
	struct velo_program_msg m;

	while (velo_program_poll(&a->v, &m)) {
		uint64_t seq;

		if (m.node >= a->v.w.n) {
			a->v.bad++;
			continue;
		}
		seq = a->seen[m.node]++;
		program_fill(want, VELOW_LEN_MAX / 8,
			     program_base(m.node, a->v.w.me, seq));
		velo_program_check(&a->v, &m, va_len(a, m.node, a->v.w.me, seq),
				   seq, want);
		a->received++;
	}
}

/* Receives until `want` messages have arrived. */
static void va_receive(struct stream *s, uint64_t want)
{
	struct va *a = (struct va *)s;

	for (va_drain(a); a->received < want; va_drain(a))
		velo_wait(a->v.port, WEFT_NEVER);
}

static void va_close(struct stream *s)
{
	struct va *a = (struct va *)s;

	weft_host_free(a->v.w.h, a->to);
	weft_host_free(a->v.w.h, a->seen);
	velo_program_close(&a->v);
}

/* ---- rate ---- */

static int rate_open(struct stream *s)
{
	struct va *a = (struct va *)s;
	int ret = va_begin(a, s->w.c, "velo.rate");

	if (!ret && !s->partner) {
		weft_check_failed(s->w.c, "partner: one of 1..%u", s->w.n - 1);
		ret = -EINVAL;
	}
	return ret || s->w.me ? ret
			      : velo_program_connect(&a->v, a->to, s->partner);
}

static bool rate_post(struct stream *s, uint64_t i)
{
	struct va *a = (struct va *)s;

	velo_program_send(&a->v, a->to, s->partner,
			  va_len(a, s->w.me, s->partner, i), i);
	return true;
}

static const struct stream_ops rate_ops = {
	.flags = STREAM_RECEIVED,
	.open = rate_open,
	.post = rate_post,
	.receive = va_receive,
	.close = va_close,
};

static int rate_main(struct weft_comp *c)
{
	return stream_main(c, &rate_ops);
}

/* ---- all to all ---- */

/* Sends in rounds: one message to every other node in each round. Each node
 * starts with its next neighbour. Receives after every message, because a full
 * mailbox would stop other nodes. */
static void all_send(struct va *a)
{
	uint32_t n = a->v.w.n, me = a->v.w.me;

	for (uint64_t seq = 0; seq < a->s.count; seq++)
		for (uint32_t k = 1; k < n; k++) {
			uint32_t d = (me + k) % n;

			velo_program_send(&a->v, &a->to[d], d,
					  va_len(a, me, d, seq), seq);
			va_drain(a);
		}
}

static int all_main(struct weft_comp *c)
{
	struct va *a = c->state;
	weft_time_t t;
	uint64_t n;
	int ret = va_begin(a, c, "velo.all");

	for (uint32_t i = 0; !ret && i < a->v.w.n; i++)
		ret = velo_program_connect(&a->v, &a->to[i], i);
	if (ret)
		return ret;
	n = a->s.count * (a->v.w.n - 1);
	program_barrier(&a->v.w, "velo.go");
	t = weft_host_now(a->v.w.h);
	all_send(a);
	va_receive(&a->s, n);
	t = weft_host_now(a->v.w.h) - t;
	weft_metric(c, "received", "messages", (double)a->received);
	weft_metric(c, "lost", "messages", (double)(n - a->received));
	weft_metric(c, "rate", "msg/s", (double)n / ((double)t / WEFT_SEC));
	va_close(&a->s);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct va, field, def, range, OWN, doc)
#define P_ALL(n)                                                               \
	STREAM_COUNT(n, "messages (to each node)"),                            \
	STREAM_SIZE("8", "1..120", "bytes of a message"),                      \
	P(U32, size_max, "0", "0..120", "with it: spread evenly between them"),\
	P(BYTES, mailbox, "0", "0..", "bytes; 0 = 2 MB")
static const struct weft_param rate_params[] = {
	P_ALL("10000"),
	STREAM_PARTNER,
	{ 0 }
};
static const struct weft_param all_params[] = { P_ALL("100"), { 0 } };
/* clang-format on */

WEFT_COMPONENT(velo_rate, .name = "extoll.velo_rate", .kind = WEFT_KIND_PROGRAM,
	       .needs = "extoll.nic",
	       .doc = "VELO messages per second from one node to another",
	       .source = "extoll.md 6.5, 7.4", .state_size = sizeof(struct va),
	       .params = rate_params, .ops = { .main = rate_main });

WEFT_COMPONENT(velo_alltoall, .name = "extoll.alltoall",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "VELO messages from every node to every other",
	       .source = "extoll.md 6.5, EX-17",
	       .state_size = sizeof(struct va), .params = all_params,
	       .ops = { .main = all_main });
