/* SPDX-License-Identifier: Apache-2.0 */
/* Two HVIA-GE cards against ref_hv: random chains of messages of all sizes,
 * gathered and scattered across pages. The test compares when each Tx
 * descriptor is handed over, and when the last packet of each message is
 * polled, visible and completed. These times must be equal to the femtosecond.
 * `test_nic_ref SEED [N]` runs N scenarios. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_hv.h"
#include "unit/replay.h"
#include "hvarea.h"

enum { VI = 3, PEER = 4, AREA = 1 << 20 };

struct totals {
	uint64_t messages, packets;
};

static struct {
	struct hvrig rig[2];
	struct ref_hv ref;
} t;

/* ---- scenario ---- */

/* Returns a size at which behaviour changes, or any size. */
static uint32_t size(uint32_t *g)
{
	static const uint32_t odd[] = { 0,    1,    18,	  19,	1471,
					1472, 1473, 1480, 1536, 2944,
					2952, 4416, 4450 };

	if (hvarea_rand(g) % 3)
		return odd[hvarea_rand(g) % (sizeof(odd) / sizeof(odd[0]))];
	return hvarea_rand(g) % 9000;
}

static void cut(struct ref_hv_seg *seg, uint32_t n, uint32_t len, uint32_t *g)
{
	for (uint32_t i = 0; i < n; i++) {
		seg[i].len = i + 1 == n ? len : hvarea_rand(g) % (len + 1);
		seg[i].addr = hvarea_rand(g) % 65536;
		if (hvarea_rand(g) % 2)
			seg[i].addr &= ~7u;
		len -= seg[i].len;
	}
}

static void scenario(uint64_t seed)
{
	uint32_t g = (uint32_t)seed * 2654435761u + 1;

	memset(&t.ref, 0, sizeof(t.ref));
	t.ref.n = 2 + hvarea_rand(&g) % (REF_HV_MSGS - 2);
	for (uint32_t i = 0; i < t.ref.n; i++) {
		struct ref_hv_msg *m = &t.ref.msg[i];

		m->len = size(&g);
		m->n_src =
			1 + (hvarea_rand(&g) % 2 ? hvarea_rand(&g) % REF_HV_SEGS
						 : 0);
		m->n_dst = 1 + hvarea_rand(&g) % 2;
		cut(m->src, m->n_src, m->len, &g);
		cut(m->dst, m->n_dst, m->len, &g);
		m->dst[m->n_dst - 1].len += hvarea_rand(&g) % 3000;
	}
}

/* ---- the cards ---- */

static void post(struct hvrig *r, uint32_t i, uint32_t vi, uint32_t q,
		 const struct ref_hv_seg *seg, uint32_t n, const uint8_t *buf,
		 uint32_t handle)
{
	struct hvrig_desc *d = hvrig_desc(r, i, 0);

	for (uint32_t k = 0; k < n; k++)
		hvrig_seg(d, buf + seg[k].addr, handle, seg[k].len);
	hvrig_post(r, vi, q, d);
}

/* Stops the engines, so that they find a chain of descriptors only when it is
 * complete. */
static void stop(struct hvrig *r, bool on)
{
	uint64_t ctrl = hvrig_load(r, HVIA_CTRL) & ~(uint64_t)HVIA_CTRL_STOP;

	hvrig_store(r, HVIA_CTRL, ctrl | (on ? HVIA_CTRL_STOP : 0));
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[1];
	uint32_t turn = 0, handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, AREA, 0, &handle);
	hvrig_vi(r, PEER, VI, 0);
	stop(r, true);
	for (uint32_t i = 0; i < t.ref.n; i++)
		post(r, i, PEER, HVIA_Q_RECV, t.ref.msg[i].dst,
		     t.ref.msg[i].n_dst, buf, handle);
	stop(r, false);
	hvarea_meet(h, &turn);
	return 0;
}

static int sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &t.rig[0];
	uint32_t turn = 0, handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, AREA, 0, &handle);
	hvrig_vi(r, VI, PEER, 0);
	stop(r, true);
	for (uint32_t i = 0; i < t.ref.n; i++)
		post(r, i, VI, HVIA_Q_SEND, t.ref.msg[i].src,
		     t.ref.msg[i].n_src, buf, handle);
	hvarea_meet(h, &turn);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	stop(r, false);
	return 0;
}

static void product(struct bench *b)
{
	bench_prog(b, 0, sender);
	bench_prog(b, 1, receiver);
	bench_start(b);
	bench_run(b);
	if (*bench_failure(b, 0))
		abort();
}

/* ---- comparison ---- */

static uint32_t packets(const struct ref_hv_msg *m)
{
	return m->len ? (m->len + REF_HV_PAYLOAD - 1) / REF_HV_PAYLOAD : 1;
}

static int differ(const char *what, uint32_t i, double ns, uint64_t fs)
{
	double got = ns * 1e6 - (double)fs;

	if (got < 1 && got > -1)
		return 0;
	fprintf(stderr, "message %u: %s at %.6f ns, not %.6f\n", i, what, ns,
		(double)fs / 1e6);
	return 1;
}

static int compare(struct bench *b)
{
	uint32_t seq = 0;

	for (uint32_t i = 0; i < t.ref.n; i++) {
		const struct ref_hv_msg *m = &t.ref.msg[i];
		uint32_t last = seq + packets(m) - 1;

		if (differ("txd", i, hvrig_stage(b, 0, "txd", seq), m->txd) ||
		    differ("poll", i, hvrig_stage(b, 1, "poll", last),
			   m->poll) ||
		    differ("data", i, hvrig_stage(b, 1, "data", last),
			   m->data) ||
		    differ("done", i, hvrig_stage(b, 1, "done", last), m->done))
			return 1;
		seq = last + 1;
	}
	return 0;
}

/* Runs a scenario. Derives the time at which the card found the chain from the
 * time of the first Tx descriptor. */
static int one(uint64_t seed, void *totals)
{
	struct totals *sum = totals;
	struct bench *b = hvrig_bench();
	double first;
	int ret;

	hvrig_listen(b);
	scenario(seed);
	product(b);
	first = hvrig_stage(b, 0, "txd", 0) * 1e6;
	t.ref.start = 1000;
	ref_hv_run(&t.ref);
	t.ref.start +=
		(uint64_t)((first - (double)t.ref.msg[0].txd) / 15151515.1515 +
			   0.5);
	ref_hv_run(&t.ref);
	ret = compare(b);
	bench_free(b);
	sum->messages += t.ref.n;
	for (uint32_t i = 0; i < t.ref.n; i++)
		sum->packets += packets(&t.ref.msg[i]);
	return ret;
}

int main(int argc, char **argv)
{
	struct totals sum = { 0 };
	uint64_t n = replay(argc, argv, 100, one, &sum);

	printf("%" PRIu64 " scenarios, %" PRIu64 " messages, %" PRIu64
	       " packets\n",
	       n, sum.messages, sum.packets);
	return !n;
}
