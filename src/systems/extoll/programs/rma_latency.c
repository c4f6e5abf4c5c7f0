/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on single RMA commands (extoll.md 6.5, 7.5, T-19):
 *
 *   extoll.rma_lat   node 0 and a partner put to each other in turn, and poll
 *                    their memory for the put (half the round trip)
 *   extoll.rma_lock  every node takes and releases one lock of node 0, as a
 *                    mutex, and counts in memory that only the holder of the
 *                    lock may access */
#include <errno.h>
#include <string.h>

#include "programs/pingpong.h"
#include "systems/extoll/programs/rma_program.h"

/* ---- latency ---- */

struct rma_lat {
	struct pingpong p;
	bool immediate;
	struct rmaw v;
	struct rma_program_peer to;
};

enum { LAT_IN = 0, LAT_OUT = 4096, LAT_BYTES = 8192 };

/* Sends a message. Its last quadword is its number, which the receiver
 * polls. */
static int lat_send(struct pingpong *p, uint64_t seq)
{
	struct rma_lat *l = (struct rma_lat *)p;
	uint64_t *out = (uint64_t *)(l->v.buf + LAT_OUT);
	int ret;

	pingpong_fill(p, out, seq);
	out[p->len / 8 - 1] = seq + 1;
	if (l->immediate)
		ret = rma_post_immediate_put(l->v.port, l->to.handle, 8,
					     seq + 1, l->to.nla + LAT_IN, 0, 0);
	else
		ret = rma_post_put_qw(l->v.port, l->to.handle, l->v.region,
				      LAT_OUT, p->len, l->to.nla + LAT_IN, 0,
				      0);
	return rma_program_ok(&l->v, "put", ret) ? 0 : -EIO;
}

/* Polls the last quadword of a message, because it arrives last. */
static int lat_wait(struct pingpong *p, uint64_t seq)
{
	struct rma_lat *l = (struct rma_lat *)p;
	const volatile uint64_t *in =
		(uint64_t *)(l->v.buf + LAT_IN) + p->len / 8 - 1;

	while (*in != seq + 1)
		weft_host_poll64(p->w.h, in, *in, WEFT_NEVER);
	p->in = l->v.buf + LAT_IN;
	return 0;
}

static int lat_open(struct pingpong *p)
{
	struct rma_lat *l = (struct rma_lat *)p;
	int ret = rma_program_open(&l->v, p->w.c, "rma.lat", LAT_BYTES);

	if (ret)
		return ret;
	if (l->immediate)
		p->size = p->size_max = 8;
	if (p->size % 8 || p->step % 8 || p->size_max > LAT_OUT) {
		weft_check_failed(
			p->w.c,
			"size: a multiple of 8 up to %u, the last word is polled",
			LAT_OUT);
		return -EINVAL;
	}
	if (p->w.me && p->w.me != p->partner)
		return 0;
	return rma_program_connect(&l->v, p->peer, &l->to);
}

static void lat_close(struct pingpong *p)
{
	rma_program_close(&((struct rma_lat *)p)->v);
}

static const struct pingpong_ops lat_ops = {
	/* warm-up: the TLBs hold the pages afterwards */
	.flags = PINGPONG_WARM | PINGPONG_BOTH,
	.tail = 8,
	.open = lat_open,
	.send = lat_send,
	.wait = lat_wait,
	.close = lat_close,
};

static int lat_main(struct weft_comp *c)
{
	return pingpong_main(c, &lat_ops);
}

/* ---- lock ---- */

struct lock {
	uint64_t count;
	weft_time_t hold;
	uint32_t target;
	struct rmaw v;
	uint64_t tries;
};

/* Posts a lock request and waits for its answer. Returns 1 if the lock has
 * changed, 0 if not, and -EIO if the request failed. */
static int lock_ask(struct lock *l, const struct rma_program_peer *at,
		    int32_t compare, int32_t add)
{
	struct rma_noti n = { 0 };
	uint32_t unit = l->target ? RMA_NOTI_RESPONDER : RMA_NOTI_COMPLETER;

	l->tries++;
	if (!rma_program_ok(&l->v, "rma_post_lock",
			    rma_post_lock(l->v.port, at->handle, 0, compare,
					  add, unit)))
		return -EIO;
	if (!rma_program_noti(&l->v, RMA_NOTI_COMPLETER, &n))
		return -EIO;
	return rma_noti_lock_result(&n);
}

/* Adds one to the count in node 0's memory: get, add, put. */
static void lock_inside(struct lock *l, const struct rma_program_peer *at)
{
	uint64_t *mine = (uint64_t *)(l->v.buf + 8);

	rma_post_get_qw(l->v.port, at->handle, l->v.region, 8, 8, at->nla,
			RMA_NOTI_COMPLETER, 0);
	rma_program_noti(&l->v, RMA_NOTI_COMPLETER, NULL);
	++*mine;
	weft_host_cpu(l->v.w.h, l->hold);
	rma_post_put_qw(l->v.port, at->handle, l->v.region, 8, 8, at->nla,
			RMA_NOTI_REQUESTER, 0);
	rma_program_noti(&l->v, RMA_NOTI_REQUESTER, NULL);
}

static int lock_main(struct weft_comp *c)
{
	struct lock *l = c->state;
	struct rma_program_peer at;
	uint64_t want;
	int ret = rma_program_open(&l->v, c, "rma.lock", 4096);

	if (ret || rma_program_connect(&l->v, 0, &at))
		return -EIO;
	program_barrier(&l->v.w, "rma.lock.begin");
	for (uint64_t i = 0; i < l->count && ret >= 0; i++) {
		while (!(ret = lock_ask(l, &at, 0, 1)))
			;
		/* A node that did not get the lock must not change the
		 * count. */
		if (ret < 0)
			break;
		lock_inside(l, &at);
		ret = lock_ask(l, &at, 1, -1);
		if (!ret)
			weft_check_failed(c, "the lock was not ours");
	}
	weft_metric(c, "requests", "", (double)l->tries);
	program_barrier(&l->v.w, "rma.lock.done");
	want = l->count * l->v.w.n;
	if (!l->v.w.me && *(uint64_t *)l->v.buf != want)
		weft_check_failed(c, "%llu turns were counted instead of %llu",
				  (unsigned long long)*(uint64_t *)l->v.buf,
				  (unsigned long long)want);
	rma_program_close(&l->v);
	return 0;
}

// clang-format off
static const struct weft_param lat_params[] = {
	PINGPONG_PARAMS("100", "8", "8..4096", "8"),
	WEFT_PARAM(BOOL, struct rma_lat, immediate, "no", "", OWN,
		   "immediate puts of 8 bytes"),
	{ 0 }
};

static const struct weft_param lock_params[] = {
	WEFT_PARAM(U64, struct lock, count, "10", "1..", OWN,
		   "turns of every node"),
	WEFT_PARAM(TIME, struct lock, hold, "500ns", "", OWN,
		   "time a node works inside"),
	WEFT_PARAM(ENUM, struct lock, target, "completer",
		   "completer|responder", OWN, "unit that does it"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(rma_lat, .name = "extoll.rma_lat", .kind = WEFT_KIND_PROGRAM,
	       .needs = "extoll.nic", .doc = "ping-pong of RMA puts",
	       .source = "extoll.md 6.5", .state_size = sizeof(struct rma_lat),
	       .params = lat_params, .ops = { .main = lat_main });
WEFT_COMPONENT(rma_lock, .name = "extoll.rma_lock", .kind = WEFT_KIND_PROGRAM,
	       .needs = "extoll.nic", .doc = "mutex of fetch-compare-and-add",
	       .source = "extoll.md 3.5", .state_size = sizeof(struct lock),
	       .params = lock_params, .ops = { .main = lock_main });
