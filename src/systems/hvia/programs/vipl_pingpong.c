/* SPDX-License-Identifier: Apache-2.0 */
/* Program vipl.pingpong (hvia.md 6.5): messages between nodes 0 and 1 over
 * VIPL, each side with a receive descriptor posted ahead; send/receive or RDMA
 * write whose target polls the last byte; polling or blocking.  Every byte of
 * the first and the last message is compared. */
#include "systems/hvia/programs/vipl_program.h"

#include <string.h>

enum { OP_SEND, OP_RDMA };
enum { WAIT_POLL, WAIT_BLOCK };
enum { RECVS = 2, SENDS = 64 };

struct vpp {
	/* parameters */
	uint64_t count, size;
	uint32_t op, wait, offset;
	weft_time_t pause;
	char nic[32];
	/* run */
	struct vipw v;
	VIP_DESCRIPTOR *desc; /* two receives in turn, then sends */
	uint64_t reaped;      /* sends taken back */
	uint8_t *out, *in;
	VIP_MEM_HANDLE handle;
	uint64_t remote;
	uint32_t remote_handle;
	struct weft_hist *hist;
	weft_time_t total, busy; /* all but the first round trip */
	weft_time_t least;
};

static uint8_t byte_of(uint64_t seq, uint64_t i)
{
	return (uint8_t)program_mix(seq * 0x10001 + i);
}

/* Only the last byte tells an RDMA write's target that it is there. */
static void vipl_pingpong_fill(struct vpp *p, uint64_t seq)
{
	for (uint64_t i = 0; i < p->size; i++)
		p->out[i] = byte_of(seq, i);
	if (p->size)
		p->out[p->size - 1] = (uint8_t)(seq % 255 + 1);
}

static bool vipl_pingpong_whole(const struct vpp *p, uint64_t seq)
{
	for (uint64_t i = 0; i + 1 < p->size; i++)
		if (p->in[i] != byte_of(seq, i))
			return false;
	return !p->size || p->in[p->size - 1] == seq % 255 + 1;
}

static bool post_recv(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d = &p->desc[seq % RECVS];

	vipl_program_desc(d, p->in, p->handle, (uint32_t)p->size);
	return vipl_program_ok(&p->v, "VipPostRecv",
			       VipPostRecv(p->v.vi, d, p->handle));
}

static bool send_one(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d = &p->desc[RECVS + seq % SENDS];

	vipl_program_desc(d, p->out, p->handle, (uint32_t)p->size);
	if (p->op == OP_RDMA) {
		d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
		d->CS.SegCount = 2;
		d->DS[1] = d->DS[0];
		d->DS[0].Remote.Data.AddressBits = p->remote;
		d->DS[0].Remote.Handle = p->remote_handle;
		d->DS[0].Remote.Reserved = 0;
	}
	return vipl_program_ok(&p->v, "VipPostSend",
			       VipPostSend(p->v.vi, d, p->handle));
}

static VIP_RETURN recv_one(struct vpp *p, VIP_DESCRIPTOR **d_p)
{
	VIP_RETURN ret;

	if (p->wait == WAIT_BLOCK)
		return VipRecvWait(p->v.vi, VIP_INFINITE, d_p);
	do
		ret = VipRecvDone(p->v.vi, d_p);
	while (ret == VIP_NOT_DONE);
	return ret;
}

/* The target of RDMA looks at the word with the last byte. */
static bool vipl_pingpong_land(struct vpp *p, uint64_t seq)
{
	uint8_t *last = p->in + p->size - 1;
	uint64_t *word = (uint64_t *)((uintptr_t)last & ~7ul), old;

	while (*(volatile uint8_t *)last != seq % 255 + 1) {
		memcpy(&old, word, 8);
		if (*(volatile uint8_t *)last == seq % 255 + 1)
			break;
		weft_host_poll64(p->v.w.h, word, old, WEFT_NEVER);
	}
	return true;
}

static bool vipl_pingpong_take(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d;

	if (p->op == OP_RDMA)
		return vipl_pingpong_land(p, seq);
	return vipl_program_ok(&p->v, "receive", recv_one(p, &d)) &&
	       d->CS.Length == p->size;
}

/* Sends are done at the latest when the answer is here. */
static void vipl_pingpong_reap(struct vpp *p, uint64_t until)
{
	VIP_DESCRIPTOR *d;

	for (; p->reaped < until; p->reaped++)
		while (VipSendDone(p->v.vi, &d) == VIP_NOT_DONE)
			;
}

/* Who blocks does not spin for its sends: it leaves the processor to others
 * for as long as the card reads descriptor and data, and takes sends back now
 * and then. */
static void let_go(struct vpp *p, uint64_t seq)
{
	weft_host_sleep(p->v.w.h, weft_host_now(p->v.w.h) + p->pause);
	if (p->reaped + SENDS / 2 <= seq)
		vipl_pingpong_reap(p, seq);
}

/* The next receive is posted while the message flies: earlier, the card would
 * fetch both descriptors at once, and the processor's accesses to the card
 * would meet its reads on the bus. */
static bool vipl_pingpong_shoot(struct vpp *p, uint64_t seq)
{
	if (!seq || seq + 1 == p->count)
		vipl_pingpong_fill(p, seq);
	else if (p->size)
		p->out[p->size - 1] = (uint8_t)(seq % 255 + 1);
	if (!send_one(p, seq))
		return false;
	if (p->wait == WAIT_POLL)
		vipl_pingpong_reap(p, seq + 1);
	else
		let_go(p, seq);
	return p->op == OP_RDMA || post_recv(p, seq + 1);
}

static bool round_trip(struct vpp *p, uint64_t seq)
{
	bool checked = !seq || seq + 1 == p->count, ping = p->v.w.me == 0;
	weft_time_t t, busy;

	t = weft_host_now(p->v.w.h);
	busy = weft_host_user(p->v.w.h);
	if (ping)
		program_sent(&p->v.w, 1);
	if ((ping && !vipl_pingpong_shoot(p, seq)) ||
	    !vipl_pingpong_take(p, seq))
		return false;
	if (checked && !vipl_pingpong_whole(p, seq))
		weft_check_failed(p->v.w.c, "wrong bytes");
	if (!ping) {
		program_turn(&p->v.w, 0);
		return vipl_pingpong_shoot(p, seq);
	}
	t = weft_host_now(p->v.w.h) - t;
	program_got(&p->v.w, 1);
	p->least = seq && p->least < t ? p->least : t;
	weft_hist_put(p->hist, (double)t / 2 / WEFT_NS);
	p->total += seq ? t : 0;
	p->busy += seq ? weft_host_user(p->v.w.h) - busy : 0;
	return true;
}

static bool vipl_pingpong_prepare(struct vpp *p, struct weft_comp *c)
{
	uint8_t *data;

	if (!vipl_program_open(&p->v, c, p->nic))
		return false;
	p->desc = vipl_program_mem(&p->v, RECVS + SENDS,
				   2 * ((p->size + 8191) & ~4095ul), true,
				   &data, &p->handle);
	if (!p->desc || !vipl_program_vi(&p->v, VIP_SERVICE_UNRELIABLE, true))
		return false;
	p->out = data + p->offset;
	p->in = data + ((p->size + 8191) & ~4095ul) + p->offset;
	/* one receive ahead: node 0 posts its own when it has sent */
	if (p->op == OP_SEND && p->v.w.me && !post_recv(p, 0))
		return false;
	program_put(&p->v.w, "vpp.at", (uintptr_t)p->in);
	program_put(&p->v.w, "vpp.handle", p->handle);
	p->remote = program_get(&p->v.w, "vpp.at", p->v.w.me ^ 1);
	p->remote_handle =
		(uint32_t)program_get(&p->v.w, "vpp.handle", p->v.w.me ^ 1);
	return vipl_program_connect(&p->v, p->v.w.me ^ 1);
}

static void vipl_pingpong_results(struct vpp *p, struct weft_comp *c)
{
	double half = p->count > 1 ? (double)p->total / 2 / WEFT_NS /
					     (double)(p->count - 1)
				   : 0;
	double used = p->total ? 100.0 * (double)p->busy / (double)p->total : 0;

	if (half <= 0)
		return;
	weft_metric(c, "half_rtt_mean", "ns", half);
	weft_metric(c, "half_rtt_min", "ns", (double)p->least / 2 / WEFT_NS);
	weft_metric(c, "bandwidth", "MB/s", (double)p->size * 1e3 / half);
	weft_metric(c, "utilisation", "%", used);
	weft_series_add(c, "half_rtt", "B", "ns", (double)p->size, half);
	weft_series_add(c, "utilisation", "B", "%", (double)p->size, used);
}

static int vpp_main(struct weft_comp *c)
{
	struct vpp *p = c->state;
	uint32_t me = weft_host_node(weft_host_self());

	if (me > 1)
		return 0;
	if (p->op == OP_RDMA && !p->size) {
		weft_check_failed(
			c,
			"an RDMA write whose last byte is looked at has at least one");
		return 0;
	}
	if (!vipl_pingpong_prepare(p, c))
		return 0;
	if (me == 0)
		p->hist = weft_hist(c, "half_rtt", "ns");
	for (uint64_t i = 0; i < p->count; i++)
		if (!round_trip(p, i))
			break;
	vipl_pingpong_reap(p, p->count);
	if (me == 0)
		vipl_pingpong_results(p, c);
	program_barrier(&p->v.w, "vpp.end");
	vipl_program_close(&p->v);
	return 0;
}

// clang-format off
static const struct weft_param vpp_params[] = {
	WEFT_PARAM(U64, struct vpp, count, "100", "1..", OWN, "round trips"),
	WEFT_PARAM(BYTES, struct vpp, size, "4", "0..16MiB", OWN, "bytes of a message"),
	WEFT_PARAM(ENUM, struct vpp, op, "send", "send|rdma", OWN, "send and receive, or RDMA write"),
	WEFT_PARAM(ENUM, struct vpp, wait, "poll", "poll|block", OWN, "how the receiver learns of it"),
	WEFT_PARAM(U32, struct vpp, offset, "0", "0..4095", OWN, "where in its page the buffer begins"),
	WEFT_PARAM(TIME, struct vpp, pause, "3us", "", OWN, "block: asleep from a send to the next accesses to the card; the sender's part of 7.1 is 2.4 us"),
	WEFT_PARAM(STR, struct vpp, nic, "hvia0", "", OWN, "name for VipOpenNic"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(vipl_pingpong, .name = "vipl.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hvia.nic",
	       .doc = "round trips between nodes 0 and 1 over VIPL",
	       .source = "hvia.md 6.5", .state_size = sizeof(struct vpp),
	       .params = vpp_params, .ops = { .main = vpp_main });
