/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that measure the throughput of the RMA (extoll.md 6.5, 7.3):
 *
 *   extoll.rma_put_bw  node 0 puts into the partner's memory (EX-05, EX-06,
 *                      small ones EX-14)
 *   extoll.rma_get_bw  node 0 gets from it
 *
 * `count` requests of `size` bytes are posted as fast as the NIC takes them.
 * Time runs from the first post to the notification of the last one's
 * completer.  The contents are checked afterwards. */
#include <errno.h>

#include "systems/extoll/programs/rma_program.h"

enum { BW_BLOCKS = 8 };

struct bw {
	/* parameters */
	uint64_t count, size;
	uint32_t partner;
	bool bytes, verify, notify;
	/* run */
	struct rmaw v;
	uint64_t block; /* bytes of a place */
};

static void bw_fill(struct bw *b, uint32_t node)
{
	for (uint32_t i = 0; i < BW_BLOCKS; i++)
		program_fill(b->v.buf + i * b->block, (uint32_t)(b->block / 8),
			     program_base(node, 0, i));
}

static void bw_verify(struct bw *b, uint32_t node)
{
	uint64_t used = b->count < BW_BLOCKS ? b->count : BW_BLOCKS;
	uint32_t whole = (uint32_t)(b->size / 8);

	for (uint32_t i = 0; i < used && b->verify; i++) {
		int32_t bad = program_check(b->v.buf + i * b->block, 0, whole,
					    program_base(node, 0, i));

		if (bad >= 0)
			weft_check_failed(b->v.w.c,
					  "block %u: qword %d is wrong", i,
					  bad);
	}
}

static void bw_stream(struct bw *b, const struct rma_program_peer *to,
		      rma_post_fn *post)
{
	for (uint64_t i = 0; i < b->count; i++) {
		size_t at = i % BW_BLOCKS * b->block;
		bool last = i + 1 == b->count && !b->notify;
		int ret = post(b->v.port, to->handle, b->v.region, at, b->size,
			       to->nla + at, last ? RMA_NOTI_COMPLETER : 0, 0);

		if (b->notify && ret == RMA_SUCCESS)
			ret = rma_post_notification(b->v.port, to->handle, i, 0,
						    RMA_NOTI_COMPLETER, 0);
		if (!rma_program_ok(&b->v, "post", ret))
			return;
	}
}

static void bw_report(struct bw *b, weft_time_t t)
{
	double s = (double)t / WEFT_SEC;
	double mb = (double)(b->count * b->size) / s / 1e6;

	weft_metric(b->v.w.c, "bandwidth", "MB/s", mb);
	weft_metric(b->v.w.c, "rate", "/s", (double)b->count / s);
	weft_series_add(b->v.w.c, "bandwidth", "B", "MB/s", (double)b->size,
			mb);
}

static int bw_begin(struct bw *b, struct weft_comp *c, const char *name)
{
	int ret;

	b->block = (b->size + 4095) / 4096 * 4096;
	ret = rma_program_open(&b->v, c, name, BW_BLOCKS * b->block);
	if (ret)
		return ret;
	if (b->partner < b->v.w.n)
		return 0;
	weft_check_failed(c, "partner: one of 0..%u", b->v.w.n - 1);
	return -EINVAL;
}

/* ---- puts ---- */

static weft_time_t put_in(struct bw *b)
{
	for (uint64_t n = b->notify ? b->count : 1; n; n--)
		rma_program_noti(&b->v, RMA_NOTI_COMPLETER, NULL);
	return weft_host_now(b->v.w.h);
}

/* When the last one has landed: there, or here in loopback. */
static weft_time_t put_landed(struct bw *b)
{
	if (b->partner != b->v.w.me)
		return program_get(&b->v.w, "rma.put.at", b->partner);
	return put_in(b);
}

static void put_send(struct bw *b)
{
	struct rma_program_peer to;
	weft_time_t t;

	if (rma_program_connect(&b->v, b->partner, &to))
		return;
	bw_fill(b, 0);
	t = weft_host_now(b->v.w.h);
	bw_stream(b, &to, b->bytes ? rma_post_put_bt : rma_post_put_qw);
	bw_report(b, put_landed(b) - t);
}

static int put_main(struct weft_comp *c)
{
	struct bw *b = c->state;
	int ret = bw_begin(b, c, "rma.put");

	if (ret)
		return ret;
	if (!b->v.w.me) {
		put_send(b);
	} else if (b->v.w.me == b->partner) {
		program_put(&b->v.w, "rma.put.at", put_in(b));
		bw_verify(b, 0);
	}
	rma_program_close(&b->v);
	return 0;
}

/* ---- gets ---- */

static int get_main(struct weft_comp *c)
{
	struct bw *b = c->state;
	int ret = bw_begin(b, c, "rma.get");
	struct rma_program_peer from;
	weft_time_t t;

	if (ret)
		return ret;
	if (b->v.w.me == b->partner)
		bw_fill(b, b->partner);
	program_barrier(&b->v.w, "rma.get.filled");
	if (!b->v.w.me && !rma_program_connect(&b->v, b->partner, &from)) {
		t = weft_host_now(b->v.w.h);
		bw_stream(b, &from,
			  b->bytes ? rma_post_get_bt : rma_post_get_qw);
		rma_program_noti(&b->v, RMA_NOTI_COMPLETER, NULL);
		bw_report(b, weft_host_now(b->v.w.h) - t);
		bw_verify(b, b->partner);
	}
	rma_program_close(&b->v);
	return 0;
}

// clang-format off
#define BW_PARAMS                                                              \
	WEFT_PARAM(U64, struct bw, count, "1000", "1..", OWN, "requests"),     \
	WEFT_PARAM(BYTES, struct bw, size, "4096", "1..1MiB", OWN,             \
		   "bytes of a request; above 4096 the library cuts it"),      \
	WEFT_PARAM(U32, struct bw, partner, "1", "", OWN,                      \
		   "node that node 0 talks to"),                               \
	WEFT_PARAM(BOOL, struct bw, bytes, "no", "", OWN,                      \
		   "byte requests instead of quadwords"),                      \
	WEFT_PARAM(BOOL, struct bw, verify, "yes", "", OWN,                    \
		   "compare what has arrived")
static const struct weft_param put_params[] = {
	BW_PARAMS,
	WEFT_PARAM(BOOL, struct bw, notify, "no", "", OWN,
		   "a notification behind each, as of the common endpoint"),
	{ 0 }
};
static const struct weft_param get_params[] = { BW_PARAMS, { 0 } };
// clang-format on

WEFT_COMPONENT(rma_put_bw, .name = "extoll.rma_put_bw",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "stream of RMA puts", .source = "extoll.md 6.5",
	       .state_size = sizeof(struct bw), .params = put_params,
	       .ops = { .main = put_main });
WEFT_COMPONENT(rma_get_bw, .name = "extoll.rma_get_bw",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "stream of RMA gets", .source = "extoll.md 6.5",
	       .state_size = sizeof(struct bw), .params = get_params,
	       .ops = { .main = get_main });
