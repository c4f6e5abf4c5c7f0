/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that measure the latency of VELO (extoll.md 6.5, 7.2):
 *
 *   extoll.velo_pingpong  ping-pong of node 0 and a partner with messages of
 *                         1..64 bytes (EX-01, EX-02)
 *   extoll.hop_sweep      ping-pong of node 0 with nodes 1..hops, one after the
 *                         other (T-38)
 *   extoll.loopback       every node sends messages to itself (EX-04) */
#include <errno.h>

#include "programs/pingpong.h"
#include "systems/extoll/programs/velo_program.h"

struct velo_pingpong {
	struct pingpong p;
	uint32_t hops;
	weft_time_t think;
	struct velow v;
	struct velo_connection to;
	struct velo_program_msg msg;
	uint64_t out[VELOW_LEN_MAX / 8];
};

static int velo_pingpong_begin(struct pingpong *p, const char *name)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;
	int ret = velo_program_open(&a->v, p->w.c, name, 0);

	if (ret)
		return ret;
	if (p->size_max <= velo_max_len(a->v.port))
		return 0;
	weft_check_failed(p->w.c, "size_max: messages have up to %u bytes",
			  velo_max_len(a->v.port));
	return -EINVAL;
}

static int velo_pingpong_send(struct pingpong *p, uint64_t seq)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;

	if (a->think)
		weft_host_cpu(p->w.h, a->think);
	pingpong_fill(p, a->out, seq);
	if (velo_send(&a->to, a->out, (uint32_t)p->len, seq & 0xff,
		      seq >> 8 & 3))
		a->v.bad++;
	return 0;
}

static int velo_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;

	while (!velo_program_poll(&a->v, &a->msg))
		velo_wait(a->v.port, WEFT_NEVER);
	velo_program_check(&a->v, &a->msg, (uint32_t)p->len, seq, NULL);
	p->in = a->msg.data;
	return 0;
}

static void velo_pingpong_close(struct pingpong *p)
{
	velo_program_close(&((struct velo_pingpong *)p)->v);
}

/* ---- ping-pong ---- */

static int velo_pingpong_open(struct pingpong *p)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;
	int ret = velo_pingpong_begin(p, "velo.pp");

	if (ret || (!p->begins && p->w.me != p->partner))
		return ret;
	return velo_program_connect(&a->v, &a->to, p->peer);
}

static const struct pingpong_ops velo_pingpong_ops = {
	.open = velo_pingpong_open,
	.send = velo_pingpong_send,
	.wait = velo_pingpong_wait,
	.close = velo_pingpong_close,
};

static int velo_pingpong_main(struct weft_comp *c)
{
	return pingpong_main(c, &velo_pingpong_ops);
}

/* ---- loopback ---- */

static int loopback_open(struct pingpong *p)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;
	int ret = velo_pingpong_begin(p, "velo.loop");

	p->begins = p->alone = true;
	p->peer = p->w.me;
	return ret ? ret : velo_program_connect(&a->v, &a->to, p->w.me);
}

static const struct pingpong_ops loopback_ops = {
	.open = loopback_open,
	.send = velo_pingpong_send,
	.wait = velo_pingpong_wait,
	.close = velo_pingpong_close,
};

static int loopback_main(struct weft_comp *c)
{
	struct pingpong *p = c->state;

	p->partner = 1; /* must exist, but is not used */
	return pingpong_main(c, &loopback_ops);
}

/* ---- hop sweep ---- */

/* Fits a line through (1, y[0]) .. (n, y[n-1]) by least squares. Reports ns per
 * hop, and the largest distance of a point from the line. */
static void sweep_fit(struct weft_comp *c, const double *y, uint32_t n)
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
	weft_metric(c, "per_hop", "ns", slope);
	weft_metric(c, "no_hop", "ns", at0);
	weft_metric(c, "not_linear", "ns", worst);
}

static int sweep_open(struct pingpong *p)
{
	struct velo_pingpong *a = (struct velo_pingpong *)p;
	int ret = velo_pingpong_begin(p, "velo.hops");

	if (ret || a->hops < p->w.n)
		return ret;
	weft_check_failed(p->w.c, "hops: at most %u", p->w.n - 1);
	return -EINVAL;
}

static const struct pingpong_ops sweep_ops = {
	.open = sweep_open,
	.send = velo_pingpong_send,
	.wait = velo_pingpong_wait,
	.close = velo_pingpong_close,
};

static int sweep_partner(struct velo_pingpong *a, uint32_t peer, double *ns_p)
{
	a->p.peer = peer;
	a->p.len = a->p.size;
	a->p.rounds = 0;
	return velo_program_connect(&a->v, &a->to, peer)
		       ? -EINVAL
		       : pingpong_rounds(&a->p, ns_p);
}

static int sweep_all(struct velo_pingpong *a)
{
	struct program *w = &a->p.w;
	double *y = weft_host_calloc(w->h, a->hops, sizeof(*y));
	int ret = y ? 0 : -ENOMEM;

	for (uint32_t k = 1; !ret && k <= a->hops; k++) {
		ret = sweep_partner(a, k, &y[k - 1]);
		if (!ret)
			weft_series_add(w->c, "half_rtt", "hops", "ns", k,
					y[k - 1]);
	}
	if (!ret)
		sweep_fit(w->c, y, a->hops);
	weft_host_free(w->h, y);
	return ret;
}

static int sweep_main(struct weft_comp *c)
{
	struct velo_pingpong *a = c->state;
	double ns;
	int ret;

	a->p.partner = 1;
	ret = pingpong_open(&a->p, c, &sweep_ops);
	if (ret)
		return ret;
	if (a->p.begins)
		ret = sweep_all(a);
	else if (a->p.w.me <= a->hops)
		ret = sweep_partner(a, 0, &ns);
	velo_program_close(&a->v);
	return ret;
}

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct velo_pingpong, field, def, range, OWN, doc)
static const struct weft_param velo_pingpong_params[] = {
	PINGPONG_PARAMS("100", "8", "1..120", "1"),
	P(TIME, think, "0", "", "processor time before each message"),
	{ 0 }
};
static const struct weft_param sweep_params[] = {
	PINGPONG_COUNT("100"), PINGPONG_SIZE("8", "1..120"),
	P(U32, hops, "1", "1..", "nodes 1..hops are asked in turn"),
	{ 0 }
};
static const struct weft_param loopback_params[] = {
	PINGPONG_COUNT("100"), PINGPONG_SIZES("8", "1..120", "1"),
	{ 0 }
};
/* clang-format on */

#define PROGRAM(id, name_, doc_, source_, params_, main_)                      \
	WEFT_COMPONENT(id, .name = name_, .kind = WEFT_KIND_PROGRAM,           \
		       .needs = "extoll.nic", .doc = doc_, .source = source_,  \
		       .state_size = sizeof(struct velo_pingpong),             \
		       .params = params_, .ops = { .main = main_ })

PROGRAM(velo_pingpong, "extoll.velo_pingpong", "ping-pong over VELO",
	"extoll.md 6.5", velo_pingpong_params, velo_pingpong_main);
PROGRAM(velo_hop_sweep, "extoll.hop_sweep",
	"ping-pong over VELO with nodes at growing distance",
	"extoll.md 6.5, T-38", sweep_params, sweep_main);
PROGRAM(velo_loopback, "extoll.loopback", "messages over VELO to the own node",
	"extoll.md 6.5", loopback_params, loopback_main);
