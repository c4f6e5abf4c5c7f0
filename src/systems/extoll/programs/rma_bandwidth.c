/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that measure the throughput of the RMA (extoll.md 6.5, 7.3):
 *
 *   extoll.rma_put_bw  node 0 puts into the partner's memory (EX-05, EX-06;
 *                      EX-14 for small puts)
 *   extoll.rma_get_bw  node 0 gets from the partner's memory
 *
 * The measured time lasts from the first post to the completer notification of
 * the last put or get. The contents are checked after the measurement. */
#include "programs/stream.h"
#include "systems/extoll/programs/rma_program.h"

enum { BW_BLOCKS = 8 };

struct rma_bw {
	struct stream s;
	bool bytes, verify, notify;
	struct rmaw v;
	struct rma_program_peer to;
	uint64_t block; /* bytes of a block */
	rma_post_fn *post;
	bool lands;	  /* blocks arrive at this node */
	uint32_t pattern; /* node that filled the blocks with its pattern */
};

/* Fills the blocks with the pattern of `node`. */
static void bw_fill(struct rma_bw *b, uint32_t node)
{
	for (uint32_t i = 0; i < BW_BLOCKS; i++)
		program_fill(b->v.buf + i * b->block, (uint32_t)(b->block / 8),
			     program_base(node, 0, i));
}

static void bw_verify(struct stream *s)
{
	struct rma_bw *b = (struct rma_bw *)s;
	uint64_t used = b->s.count < BW_BLOCKS ? b->s.count : BW_BLOCKS;
	uint32_t whole = (uint32_t)(b->s.size / 8);

	for (uint32_t i = 0; i < used && b->lands && b->verify; i++) {
		int32_t bad = program_check(b->v.buf + i * b->block, 0, whole,
					    program_base(b->pattern, 0, i));

		if (bad >= 0)
			weft_check_failed(b->s.w.c,
					  "block %u: qword %d is wrong", i,
					  bad);
	}
}

static bool bw_post(struct stream *s, uint64_t i)
{
	struct rma_bw *b = (struct rma_bw *)s;
	size_t at = i % BW_BLOCKS * b->block;
	bool last = i + 1 == b->s.count && !b->notify;
	int ret = b->post(b->v.port, b->to.handle, b->v.region, at, b->s.size,
			  b->to.nla + at, last ? RMA_NOTI_COMPLETER : 0, 0);

	if (b->notify && ret == RMA_SUCCESS)
		ret = rma_post_notification(b->v.port, b->to.handle, i, 0,
					    RMA_NOTI_COMPLETER, 0);
	return rma_program_ok(&b->v, "post", ret);
}

static int bw_open(struct rma_bw *b, const char *name)
{
	b->block = (b->s.size + 4095) / 4096 * 4096;
	return rma_program_open(&b->v, b->s.w.c, name, BW_BLOCKS * b->block);
}

static void bw_close(struct stream *s)
{
	rma_program_close(&((struct rma_bw *)s)->v);
}

/* ---- puts ---- */

static int put_open(struct stream *s)
{
	struct rma_bw *b = (struct rma_bw *)s;
	int ret = bw_open(b, "rma.put");

	b->post = b->bytes ? rma_post_put_bt : rma_post_put_qw;
	b->lands = s->w.me;
	b->pattern = 0;

	if (ret || s->w.me)
		return ret;
	bw_fill(b, 0);
	return rma_program_connect(&b->v, s->partner, &b->to);
}

static void put_receive(struct stream *s, uint64_t n)
{
	struct rma_bw *b = (struct rma_bw *)s;

	for (n = b->notify ? n : 1; n; n--)
		rma_program_noti(&b->v, RMA_NOTI_COMPLETER, NULL);
}

static const struct stream_ops put_ops = {
	.flags = STREAM_ARRIVAL,
	.key = "rma.put.at",
	.open = put_open,
	.post = bw_post,
	.receive = put_receive,
	.verify = bw_verify,
	.close = bw_close,
};

static int put_main(struct weft_comp *c)
{
	return stream_main(c, &put_ops);
}

/* ---- gets ---- */

static int get_open(struct stream *s)
{
	struct rma_bw *b = (struct rma_bw *)s;
	int ret = bw_open(b, "rma.get");

	b->post = b->bytes ? rma_post_get_bt : rma_post_get_qw;
	b->lands = !s->w.me;
	b->pattern = s->partner;

	if (ret)
		return ret;
	if (s->receives)
		bw_fill(b, s->partner);
	s->receives = false;
	program_barrier(&s->w, "rma.get.filled");
	return s->w.me ? 0 : rma_program_connect(&b->v, s->partner, &b->to);
}

static void get_finish(struct stream *s)
{
	rma_program_noti(&((struct rma_bw *)s)->v, RMA_NOTI_COMPLETER, NULL);
}

static const struct stream_ops get_ops = {
	.open = get_open,
	.post = bw_post,
	.finish = get_finish,
	.verify = bw_verify,
	.close = bw_close,
};

static int get_main(struct weft_comp *c)
{
	return stream_main(c, &get_ops);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct rma_bw, field, def, range, OWN, doc)
#define BW_PARAMS                                                              \
	STREAM_COUNT("1000", "requests"),                                      \
	STREAM_SIZE("4096", "1..1MiB",                                         \
		    "bytes of a request; above 4096 the library cuts it"),     \
	STREAM_PARTNER,                                                        \
	P(BOOL, bytes, "no", "", "byte requests instead of quadwords"),        \
	P(BOOL, verify, "yes", "", "compare what has arrived")
static const struct weft_param put_params[] = {
	BW_PARAMS,
	P(BOOL, notify, "no", "",
	  "a notification behind each, as of the common endpoint"),
	{ 0 }
};
static const struct weft_param get_params[] = { BW_PARAMS, { 0 } };
// clang-format on

WEFT_COMPONENT(rma_put_bw, .name = "extoll.rma_put_bw",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "stream of RMA puts", .source = "extoll.md 6.5",
	       .state_size = sizeof(struct rma_bw), .params = put_params,
	       .ops = { .main = put_main });
WEFT_COMPONENT(rma_get_bw, .name = "extoll.rma_get_bw",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "stream of RMA gets", .source = "extoll.md 6.5",
	       .state_size = sizeof(struct rma_bw), .params = get_params,
	       .ops = { .main = get_main });
