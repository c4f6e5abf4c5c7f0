/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that measure the latency of VELO (extoll.md 6.5, 7.2):
 *
 *   extoll.velo_pingpong  node 0 and a partner, sizes 1..64 (EX-01, EX-02)
 *   extoll.hop_sweep      node 0 with nodes 1..hops, one after the other (T-38)
 *   extoll.loopback       every node with itself (EX-04)
 *
 * All contents are checked.  Times are means over `count` round trips between
 * two readings of the clock. */
#include <errno.h>
#include <stdlib.h>

#include "systems/extoll/programs/velo_program.h"

struct pp {
	uint64_t count;
	uint32_t size, size_max, step, partner, hops;
	weft_time_t think;
	struct velow v;
};

static int pp_begin(struct pp *p, struct weft_comp *c, const char *name)
{
	int ret = velo_program_open(&p->v, c, name, 0);

	if (ret)
		return ret;
	p->v.think = p->think;
	if (!p->size_max)
		p->size_max = p->size;
	if (p->size_max <= velo_max_len(p->v.port))
		return 0;
	weft_check_failed(c, "size_max: messages have up to %u bytes",
			  velo_max_len(p->v.port));
	return -EINVAL;
}

/* ---- ping-pong ---- */

static void pp_size(struct pp *p, struct velo_connection *c, uint32_t peer,
		    uint32_t len, uint64_t seq)
{
	double ns;

	if (p->v.w.me) {
		velo_program_serve(&p->v, c, peer, len, p->count, seq);
		return;
	}
	ns = velo_program_pingpong(&p->v, c, peer, len, p->count, seq);
	weft_series_add(p->v.w.c, "half_rtt", "B", "ns", len, ns);
	weft_metric(p->v.w.c, "half_rtt", "ns", ns);
}

static int pp_main(struct weft_comp *comp)
{
	struct pp *p = comp->state;
	struct velo_connection c;
	uint64_t seq = 0;
	uint32_t peer;
	int ret = pp_begin(p, comp, "velo.pp");

	if (ret)
		return ret;
	if (!p->partner || p->partner >= p->v.w.n) {
		weft_check_failed(comp, "partner: one of 1..%u", p->v.w.n - 1);
		return -EINVAL;
	}
	peer = p->v.w.me ? 0 : p->partner;
	if (!p->v.w.me || p->v.w.me == p->partner) {
		ret = velo_program_connect(&p->v, &c, peer);
		for (uint32_t n = p->size; !ret && n <= p->size_max;
		     n += p->step, seq += p->count)
			pp_size(p, &c, peer, n, seq);
	}
	if (!p->v.w.me)
		weft_metric(comp, "rounds", "", (double)seq);
	velo_program_close(&p->v);
	return ret;
}

/* ---- hop sweep ---- */

/* Least squares through (1, y[0]) .. (n, y[n-1]): ns per hop, worst
 * distance. */
static void sweep_fit(struct pp *p, const double *y, uint32_t n)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, slope, at0, worst = 0;

	for (uint32_t i = 0; i < n; i++) {
		sx += i + 1;
		sy += y[i];
		sxx += (i + 1.) * (i + 1.);
		sxy += (i + 1.) * y[i];
	}
	slope = n > 1 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
	at0 = (sy - slope * sx) / n;
	for (uint32_t i = 0; i < n; i++) {
		double d = y[i] - at0 - slope * (i + 1.);

		d = d < 0 ? -d : d;
		worst = d > worst ? d : worst;
	}
	weft_metric(p->v.w.c, "per_hop", "ns", slope);
	weft_metric(p->v.w.c, "no_hop", "ns", at0);
	weft_metric(p->v.w.c, "not_linear", "ns", worst);
}

static int sweep_begin_all(struct pp *p)
{
	double *y = weft_host_calloc(p->v.w.h, p->hops, sizeof(*y));
	struct velo_connection c;

	if (!y)
		return -ENOMEM;
	for (uint32_t k = 1; k <= p->hops; k++) {
		if (velo_program_connect(&p->v, &c, k))
			return -EINVAL;
		y[k - 1] = velo_program_pingpong(&p->v, &c, k, p->size,
						 p->count, 0);
		weft_series_add(p->v.w.c, "half_rtt", "hops", "ns", k,
				y[k - 1]);
	}
	sweep_fit(p, y, p->hops);
	weft_host_free(p->v.w.h, y);
	return 0;
}

static int sweep_main(struct weft_comp *comp)
{
	struct pp *p = comp->state;
	struct velo_connection c;
	int ret = pp_begin(p, comp, "velo.hops");

	if (ret)
		return ret;
	if (p->hops >= p->v.w.n) {
		weft_check_failed(comp, "hops: at most %u", p->v.w.n - 1);
		return -EINVAL;
	}
	if (!p->v.w.me)
		ret = sweep_begin_all(p);
	else if (p->v.w.me <= p->hops &&
		 !(ret = velo_program_connect(&p->v, &c, 0)))
		velo_program_serve(&p->v, &c, 0, p->size, p->count, 0);
	velo_program_close(&p->v);
	return ret;
}

/* ---- loopback ---- */

static int loop_main(struct weft_comp *comp)
{
	struct pp *p = comp->state;
	struct velo_connection c;
	uint64_t seq = 0;
	double ns = 0;
	int ret = pp_begin(p, comp, "velo.loop");

	if (ret)
		return ret;
	ret = velo_program_connect(&p->v, &c, p->v.w.me);
	for (uint32_t n = p->size; !ret && n <= p->size_max;
	     n += p->step, seq += p->count) {
		/* one way, not there and back */
		ns = 2 * velo_program_pingpong(&p->v, &c, p->v.w.me, n,
					       p->count, seq);
		weft_series_add(comp, "latency", "B", "ns", n, ns);
	}
	weft_metric(comp, "latency", "ns", ns);
	velo_program_close(&p->v);
	return ret;
}

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct pp, field, def, range, OWN, doc)
#define P_COUNT P(U64, count, "100", "1..", "round trips of each size")
#define P_SIZE P(U32, size, "8", "1..120", "bytes of a message")
#define P_SIZES                                                                \
	P(U32, size_max, "0", "0..120", "largest; 0 = only one size"),         \
	P(U32, step, "1", "1..", "bytes from size to size")
static const struct weft_param pp_params[] = {
	P_COUNT, P_SIZE, P_SIZES,
	P(U32, partner, "1", "1..", "the node that returns the messages"),
	P(TIME, think, "0", "", "processor time before each message"),
	{ 0 }
};
static const struct weft_param sweep_params[] = {
	P_COUNT, P_SIZE,
	P(U32, hops, "1", "1..", "nodes 1..hops are asked in turn"),
	{ 0 }
};
static const struct weft_param loop_params[] = {
	P_COUNT, P_SIZE, P_SIZES,
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(velo_pingpong, .name = "extoll.velo_pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "ping-pong over VELO", .source = "extoll.md 6.5",
	       .state_size = sizeof(struct pp), .params = pp_params,
	       .ops = { .main = pp_main });

WEFT_COMPONENT(velo_hop_sweep, .name = "extoll.hop_sweep",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "ping-pong over VELO with nodes at growing distance",
	       .source = "extoll.md 6.5, T-38", .state_size = sizeof(struct pp),
	       .params = sweep_params, .ops = { .main = sweep_main });

WEFT_COMPONENT(velo_loopback, .name = "extoll.loopback",
	       .kind = WEFT_KIND_PROGRAM, .needs = "extoll.nic",
	       .doc = "messages over VELO to the own node",
	       .source = "extoll.md 6.5", .state_size = sizeof(struct pp),
	       .params = loop_params, .ops = { .main = loop_main });
