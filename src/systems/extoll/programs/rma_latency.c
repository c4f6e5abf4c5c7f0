/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on single RMA commands (extoll.md 6.5, 7.5, T-19):
 *
 *   extoll.rma_lat   puts to and fro between node 0 and a partner, seen by
 *                    polling memory: half round trip
 *   extoll.rma_lock  every node takes and gives back one lock of node 0, as a
 *                    mutex, and counts in memory that only its holder may
 *                    touch */
#include <errno.h>
#include <string.h>

#include "systems/extoll/programs/rma_program.h"

/* ---- latency ---- */

struct lat {
	uint64_t count, size;
	uint32_t partner;
	bool immediate;
	struct rmaw v;
};

enum { LAT_IN = 0, LAT_OUT = 4096, LAT_BYTES = 8192 };

static void lat_put(struct lat *l, const struct rma_program_peer *to,
		    uint64_t seq)
{
	uint64_t *out = (uint64_t *)(l->v.buf + LAT_OUT);
	int ret;

	out[l->size / 8 - 1] = seq;
	if (l->immediate)
		ret = rma_post_immediate_put(l->v.port, to->handle, 8, seq,
					     to->nla + LAT_IN, 0, 0);
	else
		ret = rma_post_put_qw(l->v.port, to->handle, l->v.region,
				      LAT_OUT, l->size, to->nla + LAT_IN, 0, 0);
	rma_program_ok(&l->v, "put", ret);
}

/* The last quadword lands last. */
static void lat_wait(struct lat *l, uint64_t seq)
{
	const volatile uint64_t *in =
		(uint64_t *)(l->v.buf + LAT_IN) + l->size / 8 - 1;

	while (*in != seq)
		weft_host_poll64(l->v.w.h, in, seq - 1, WEFT_NEVER);
}

static void lat_rounds(struct lat *l, const struct rma_program_peer *to,
		       uint64_t from, uint64_t n)
{
	if (!l->v.w.me)
		program_sent(&l->v.w, to->node);
	for (uint64_t i = from; i < from + n; i++) {
		if (!l->v.w.me)
			lat_put(l, to, i);
		lat_wait(l, i);
		if (l->v.w.me || i + 1 < from + n)
			program_turn(&l->v.w, to->node);
		if (l->v.w.me)
			lat_put(l, to, i);
	}
}

static int lat_main(struct weft_comp *c)
{
	struct lat *l = c->state;
	struct rma_program_peer to;
	weft_time_t t;
	int ret = rma_program_open(&l->v, c, "rma.lat", LAT_BYTES);

	if (ret)
		return ret;
	if (l->immediate)
		l->size = 8;
	if (l->size % 8) {
		weft_check_failed(
			c, "size: a multiple of 8, the last word is polled");
		return -EINVAL;
	}
	if (!l->partner || l->partner >= l->v.w.n) {
		weft_check_failed(c, "partner: one of 1..%u", l->v.w.n - 1);
		return -EINVAL;
	}
	if ((!l->v.w.me || l->v.w.me == l->partner) &&
	    !rma_program_connect(&l->v, l->v.w.me ? 0 : l->partner, &to)) {
		lat_rounds(l, &to, 1, 1); /* the TLBs know the pages */
		if (!l->v.w.me)
			program_got(&l->v.w, to.node);
		t = weft_host_now(l->v.w.h);
		lat_rounds(l, &to, 2, l->count);
		t = weft_host_now(l->v.w.h) - t;
		if (!l->v.w.me)
			program_got(&l->v.w, to.node);
		if (!l->v.w.me)
			weft_metric(c, "half_rtt", "ns",
				    (double)t / WEFT_NS / 2 / (double)l->count);
	}
	rma_program_close(&l->v);
	return 0;
}

/* ---- lock ---- */

struct lock {
	uint64_t count;
	weft_time_t hold;
	uint32_t target;
	struct rmaw v;
	uint64_t tries;
};

/* The answer to one request. */
static bool lock_ask(struct lock *l, const struct rma_program_peer *at,
		     int32_t compare, int32_t add)
{
	struct rma_noti n = { 0 };
	uint32_t unit = l->target ? RMA_NOTI_RESPONDER : RMA_NOTI_COMPLETER;

	l->tries++;
	if (!rma_program_ok(&l->v, "rma_post_lock",
			    rma_post_lock(l->v.port, at->handle, 0, compare,
					  add, unit)))
		return true;
	rma_program_noti(&l->v, RMA_NOTI_COMPLETER, &n);
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
	for (uint64_t i = 0; i < l->count; i++) {
		while (!lock_ask(l, &at, 0, 1))
			;
		lock_inside(l, &at);
		if (!lock_ask(l, &at, 1, -1))
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
	WEFT_PARAM(U64, struct lat, count, "100", "1..", OWN, "round trips"),
	WEFT_PARAM(BYTES, struct lat, size, "8", "8..4096", OWN,
		   "bytes of a put, multiples of 8"),
	WEFT_PARAM(U32, struct lat, partner, "1", "1..", OWN,
		   "node that node 0 talks to"),
	WEFT_PARAM(BOOL, struct lat, immediate, "no", "", OWN,
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
	       .source = "extoll.md 6.5", .state_size = sizeof(struct lat),
	       .params = lat_params, .ops = { .main = lat_main });
WEFT_COMPONENT(rma_lock, .name = "extoll.rma_lock", .kind = WEFT_KIND_PROGRAM,
	       .needs = "extoll.nic", .doc = "mutex of fetch-compare-and-add",
	       .source = "extoll.md 3.5", .state_size = sizeof(struct lock),
	       .params = lock_params, .ops = { .main = lock_main });
