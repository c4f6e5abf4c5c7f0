/* SPDX-License-Identifier: Apache-2.0 */
/* Program vipl.pingpong (hvia.md 6.5): messages between nodes 0 and 1 over
 * VIPL, each side with a receive descriptor posted ahead; send/receive or RDMA
 * write whose target polls the last byte; polling or blocking.  Every byte of
 * the first and the last message is compared. */
#include "work/vipw.h"

#include <string.h>

enum { OP_SEND, OP_RDMA };
enum { WAIT_POLL, WAIT_BLOCK };

struct vpp {
	/* parameters */
	uint64_t count, size;
	uint32_t op, wait, offset;
	char nic[32];
	/* run */
	struct vipw v;
	VIP_DESCRIPTOR *desc; /* send, two receives in turn */
	uint8_t *out, *in;
	VIP_MEM_HANDLE handle;
	uint64_t remote;
	uint32_t remote_handle;
	struct weft_hist *hist;
	weft_time_t total;
};

static uint8_t byte_of(uint64_t seq, uint64_t i)
{
	return (uint8_t)work_mix(seq * 0x10001 + i);
}

/* Only the last byte tells an RDMA write's target that it is there. */
static void fill(struct vpp *p, uint64_t seq)
{
	for (uint64_t i = 0; i < p->size; i++)
		p->out[i] = byte_of(seq, i);
	if (p->size)
		p->out[p->size - 1] = (uint8_t)(seq % 255 + 1);
}

static bool whole(const struct vpp *p, uint64_t seq)
{
	for (uint64_t i = 0; i + 1 < p->size; i++)
		if (p->in[i] != byte_of(seq, i))
			return false;
	return !p->size || p->in[p->size - 1] == seq % 255 + 1;
}

static bool post_recv(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d = &p->desc[1 + seq % 2];

	vipw_desc(d, p->in, p->handle, (uint32_t)p->size);
	return vipw_ok(&p->v, "VipPostRecv",
		       VipPostRecv(p->v.vi, d, p->handle));
}

static bool send_one(struct vpp *p)
{
	VIP_DESCRIPTOR *d = p->desc;

	vipw_desc(d, p->out, p->handle, (uint32_t)p->size);
	if (p->op == OP_RDMA) {
		d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
		d->CS.SegCount = 2;
		d->DS[1] = d->DS[0];
		d->DS[0].Remote.Data.AddressBits = p->remote;
		d->DS[0].Remote.Handle = p->remote_handle;
		d->DS[0].Remote.Reserved = 0;
	}
	return vipw_ok(&p->v, "VipPostSend",
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
static bool land(struct vpp *p, uint64_t seq)
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

static bool take(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d;

	if (p->op == OP_RDMA)
		return land(p, seq);
	return vipw_ok(&p->v, "receive", recv_one(p, &d)) &&
	       d->CS.Length == p->size;
}

/* The next receive is posted while the message flies: earlier, the card would
 * fetch both descriptors at once. */
static bool shoot(struct vpp *p, uint64_t seq)
{
	VIP_DESCRIPTOR *d;

	if (!send_one(p))
		return false;
	while (VipSendDone(p->v.vi, &d) == VIP_NOT_DONE)
		;
	return p->op == OP_RDMA || post_recv(p, seq + 1);
}

static bool round_trip(struct vpp *p, uint64_t seq)
{
	bool checked = !seq || seq + 1 == p->count, ping = p->v.w.me == 0;
	weft_time_t t;

	if (checked)
		fill(p, seq);
	else if (p->size)
		p->out[p->size - 1] = (uint8_t)(seq % 255 + 1);
	t = weft_host_now(p->v.w.h);
	if ((ping && !shoot(p, seq)) || !take(p, seq))
		return false;
	if (checked && !whole(p, seq))
		weft_check_failed(p->v.w.c, "wrong bytes");
	if (!ping)
		return shoot(p, seq);
	t = weft_host_now(p->v.w.h) - t;
	weft_hist_put(p->hist, (double)t / 2 / WEFT_NS);
	p->total += seq ? t : 0;
	return true;
}

static bool prepare(struct vpp *p, struct weft_comp *c)
{
	uint8_t *data;

	if (!vipw_open(&p->v, c, p->nic))
		return false;
	p->desc = vipw_mem(&p->v, 3, 2 * ((p->size + 8191) & ~4095ul), true,
			   &data, &p->handle);
	if (!p->desc || !vipw_vi(&p->v, VIP_SERVICE_UNRELIABLE, true))
		return false;
	p->out = data + p->offset;
	p->in = data + ((p->size + 8191) & ~4095ul) + p->offset;
	/* one receive ahead: node 0 posts its own when it has sent */
	if (p->op == OP_SEND && p->v.w.me && !post_recv(p, 0))
		return false;
	work_put(&p->v.w, "vpp.at", (uintptr_t)p->in);
	work_put(&p->v.w, "vpp.handle", p->handle);
	p->remote = work_get(&p->v.w, "vpp.at", p->v.w.me ^ 1);
	p->remote_handle =
		(uint32_t)work_get(&p->v.w, "vpp.handle", p->v.w.me ^ 1);
	return vipw_connect(&p->v, p->v.w.me ^ 1);
}

static void results(struct vpp *p, struct weft_comp *c)
{
	double half = p->count > 1 ? (double)p->total / 2 / WEFT_NS /
					     (double)(p->count - 1)
				   : 0;

	if (half <= 0)
		return;
	weft_metric(c, "half_rtt_mean", "ns", half);
	weft_metric(c, "bandwidth", "MB/s", (double)p->size * 1e3 / half);
}

static int vpp_main(struct weft_comp *c)
{
	struct vpp *p = c->state;
	uint32_t me = weft_host_node(weft_host_self());

	if (me > 1)
		return 0;
	if (p->op == OP_RDMA && !p->size) {
		weft_check_failed(c,
				  "an RDMA write whose last byte is looked "
				  "at has at least one");
		return 0;
	}
	if (!prepare(p, c))
		return 0;
	if (me == 0)
		p->hist = weft_hist(c, "half_rtt", "ns");
	for (uint64_t i = 0; i < p->count; i++)
		if (!round_trip(p, i))
			break;
	if (me == 0)
		results(p, c);
	work_barrier(&p->v.w, "vpp.end");
	vipw_close(&p->v);
	return 0;
}

// clang-format off
static const struct weft_param vpp_params[] = {
	WEFT_PARAM(U64, struct vpp, count, "100", "1..", OWN, "round trips"),
	WEFT_PARAM(BYTES, struct vpp, size, "4", "0..16MiB", OWN, "bytes of a message"),
	WEFT_PARAM(ENUM, struct vpp, op, "send", "send|rdma", OWN, "send and receive, or RDMA write"),
	WEFT_PARAM(ENUM, struct vpp, wait, "poll", "poll|block", OWN, "how the receiver learns of it"),
	WEFT_PARAM(U32, struct vpp, offset, "0", "0..4095", OWN, "where in its page the buffer begins"),
	WEFT_PARAM(STR, struct vpp, nic, "hvia0", "", OWN, "name for VipOpenNic"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(vipl_pingpong, .name = "vipl.pingpong",
	       .kind = WEFT_KIND_PROGRAM,
	       .doc = "round trips between nodes 0 and 1 over VIPL",
	       .source = "hvia.md 6.5", .state_size = sizeof(struct vpp),
	       .params = vpp_params, .ops = { .main = vpp_main });
