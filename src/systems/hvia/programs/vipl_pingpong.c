/* SPDX-License-Identifier: Apache-2.0 */
/* Program vipl.pingpong (hvia.md 6.5): messages between node 0 and a partner
 * over VIPL. Each side posts a receive descriptor before the message arrives.
 * Messages are sent by send/receive, or by RDMA write, where the target polls
 * the last byte. For completions a side polls or blocks. */
#include <errno.h>
#include <string.h>

#include "host/times.h"
#include "programs/pingpong.h"
#include "vipl.h"

enum { OP_SEND, OP_RDMA };
enum { WAIT_POLL, WAIT_BLOCK };
enum { RECVS = 2, SENDS = 64 };
enum { DISC = 7 }; /* discriminator of both nodes' network addresses */

struct vipl_pingpong {
	struct pingpong p;
	uint32_t op, wait, offset;
	weft_time_t pause;
	char nic[32];
	VIP_NIC_HANDLE card;
	VIP_PROTECTION_HANDLE ptag;
	VIP_VI_HANDLE vi;
	VIP_NIC_ATTRIBUTES attr;
	/* two receive descriptors that alternate, then the send descriptors */
	VIP_DESCRIPTOR *desc;
	uint64_t reaped; /* number of completed sends that were removed from the
			    queue */
	uint8_t *out, *in;
	VIP_MEM_HANDLE handle;
	uint64_t remote;
	uint32_t remote_handle;
	/* processor time at the start of the round trip, and sum over all round
	 * trips */
	weft_time_t round, busy;
};

/* A network address with room for its discriminator. */
union vip_address {
	VIP_NET_ADDRESS a;
	uint8_t bytes[64];
};

/* Returns true, or fails a check that names the call. */
static bool vip_ok(struct vipl_pingpong *v, const char *what, VIP_RETURN ret)
{
	if (ret != VIP_SUCCESS)
		weft_check_failed(v->p.w.c, "%s returns %d", what, (int)ret);
	return ret == VIP_SUCCESS;
}

/* ---- messages ---- */

/* Returns the last byte of a message. The target of an RDMA write detects the
 * arrival by this byte alone. */
static uint8_t vipl_pingpong_last(uint64_t seq)
{
	return (uint8_t)(seq % 255 + 1);
}

/* Fills in a descriptor of one segment. */
static void vip_descriptor(struct vipl_pingpong *v, VIP_DESCRIPTOR *d,
			   void *data)
{
	uint32_t bytes = (uint32_t)v->p.len;

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = bytes ? 1 : 0;
	d->CS.Length = bytes;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = v->handle;
	d->DS[0].Local.Length = bytes;
}

static bool vipl_pingpong_post_recv(struct vipl_pingpong *v, uint64_t seq)
{
	VIP_DESCRIPTOR *d = &v->desc[seq % RECVS];

	vip_descriptor(v, d, v->in);
	return vip_ok(v, "VipPostRecv", VipPostRecv(v->vi, d, v->handle));
}

static bool vipl_pingpong_post_send(struct vipl_pingpong *v, uint64_t seq)
{
	VIP_DESCRIPTOR *d = &v->desc[RECVS + seq % SENDS];

	vip_descriptor(v, d, v->out);
	if (v->op == OP_RDMA) {
		d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
		d->CS.SegCount = 2;
		d->DS[1] = d->DS[0];
		d->DS[0].Remote.Data.AddressBits = v->remote;
		d->DS[0].Remote.Handle = v->remote_handle;
		d->DS[0].Remote.Reserved = 0;
	}
	return vip_ok(v, "VipPostSend", VipPostSend(v->vi, d, v->handle));
}

/* Removes completed sends from the queue. Every send is completed when its
 * answer has arrived. */
static void vipl_pingpong_reap(struct vipl_pingpong *v, uint64_t until)
{
	VIP_DESCRIPTOR *d;

	for (; v->reaped < until; v->reaped++)
		while (VipSendDone(v->vi, &d) == VIP_NOT_DONE)
			;
}

/* Sends, then posts the next receive while the message is in flight. If the
 * receive were posted earlier, the card would fetch both descriptors at once,
 * and the processor's accesses to the card would delay the card's reads on the
 * bus. */
static int vipl_pingpong_send(struct pingpong *p, uint64_t seq)
{
	struct vipl_pingpong *v = (struct vipl_pingpong *)p;
	weft_time_t now;

	if (p->begins)
		v->round = weft_host_user(p->w.h);
	pingpong_fill(p, v->out, seq);
	if (p->len)
		v->out[p->len - 1] = vipl_pingpong_last(seq);
	if (!vipl_pingpong_post_send(v, seq))
		return -EIO;
	if (v->wait == WAIT_POLL) {
		vipl_pingpong_reap(v, seq + 1);
	} else {
		/* A node that blocks does not spin for its sends. It gives the
		 * processor to other threads while the card reads descriptor
		 * and data. It removes completed sends only after half of the
		 * descriptors are used. */
		now = weft_host_now(p->w.h);
		weft_host_sleep(p->w.h, now + v->pause);
		if (v->reaped + SENDS / 2 <= seq)
			vipl_pingpong_reap(v, seq);
	}
	if (v->op == OP_RDMA || vipl_pingpong_post_recv(v, seq + 1))
		return 0;
	return -EIO;
}

static int vipl_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	struct vipl_pingpong *v = (struct vipl_pingpong *)p;
	VIP_RETURN ret = VIP_NOT_DONE;
	uint8_t *last = v->in + p->len - 1;
	uint64_t *word = (uint64_t *)((uintptr_t)last & ~7ul), old;
	VIP_DESCRIPTOR *d;

	p->in = v->in;
	if (v->op == OP_RDMA) {
		/* polls the word with the last byte, because this node is the
		 * target */
		while (*(volatile uint8_t *)last != vipl_pingpong_last(seq)) {
			memcpy(&old, word, 8);
			if (*(volatile uint8_t *)last ==
			    vipl_pingpong_last(seq))
				break;
			weft_host_poll64(p->w.h, word, old, WEFT_NEVER);
		}
		return 0;
	}
	if (v->wait == WAIT_BLOCK)
		ret = VipRecvWait(v->vi, VIP_INFINITE, &d);
	while (ret == VIP_NOT_DONE)
		ret = VipRecvDone(v->vi, &d);
	if (!vip_ok(v, "receive", ret))
		return -EIO;
	if (d->CS.Length == p->len &&
	    (!p->len || *last == vipl_pingpong_last(seq)))
		return 0;
	weft_check_failed(p->w.c, "wrong bytes");
	return -EIO;
}

/* Makes the partner read the clock and its processor time before each message.
 * The readings take time, and node 0 makes the same readings before each round
 * trip. */
static void vipl_pingpong_ready(struct pingpong *p)
{
	if (!p->begins) {
		weft_host_now(p->w.h);
		weft_host_user(p->w.h);
	}
}

static void vipl_pingpong_done(struct pingpong *p, uint64_t seq)
{
	struct vipl_pingpong *v = (struct vipl_pingpong *)p;

	if (p->begins && seq)
		v->busy += weft_host_user(p->w.h) - v->round;
}

/* ---- a NIC, registered memory, a connection ---- */

/* Opens the NIC that the parameter names, makes a protection tag, and publishes
 * the node's address. Returns false after a failed check. */
static bool vip_open(struct vipl_pingpong *v)
{
	uint64_t mac = 0;

	if (!vip_ok(v, "VipOpenNic", VipOpenNic(v->nic, &v->card)) ||
	    !vip_ok(v, "VipQueryNic", VipQueryNic(v->card, &v->attr)) ||
	    !vip_ok(v, "VipCreatePtag", VipCreatePtag(v->card, &v->ptag)))
		return false;
	for (uint32_t i = 0; i < 6; i++)
		mac = mac << 8 | v->attr.LocalNicAddress[i];
	program_put(&v->p.w, "vip.mac", mac);
	return true;
}

/* Allocates and registers the descriptors of 64 bytes, then `bytes` of data.
 * Returns the data, or NULL after a failed check. */
static uint8_t *vip_memory(struct vipl_pingpong *v, size_t bytes)
{
	VIP_MEM_ATTRIBUTES a = { .Ptag = v->ptag, .EnableRdmaWrite = true };
	size_t head =
		((RECVS + SENDS) * sizeof(VIP_DESCRIPTOR) + 4095) & ~4095ul;
	uint8_t *p = weft_host_calloc(v->p.w.h, 1, head + bytes + 4096);

	if (!p)
		return NULL;
	p += -(uintptr_t)p & 4095;
	if (!vip_ok(v, "VipRegisterMem",
		    VipRegisterMem(v->card, p, head + bytes, &a, &v->handle)))
		return NULL;
	v->desc = (VIP_DESCRIPTOR *)p;
	return p + head;
}

static void vip_address(struct vipl_pingpong *v, uint32_t node,
			union vip_address *to)
{
	uint64_t mac = program_get(&v->p.w, "vip.mac", node);
	uint32_t disc = DISC;

	memset(to, 0, sizeof(*to));
	to->a.HostAddressLen = 6;
	to->a.DiscriminatorLen = 4;
	for (uint32_t i = 0; i < 6; i++)
		to->bytes[4 + i] = (uint8_t)(mac >> 8 * (5 - i));
	memcpy(to->bytes + 10, &disc, 4);
}

/* Connects to the partner. The node with the lower number listens, and the
 * other node sends the request. */
static bool vip_connect(struct vipl_pingpong *v)
{
	union vip_address local, remote;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	VIP_RETURN ret;

	vip_address(v, v->p.w.me, &local);
	vip_address(v, v->p.peer, &remote);
	if (v->p.w.me < v->p.peer)
		return vip_ok(v, "VipConnectWait",
			      VipConnectWait(v->card, &local.a, VIP_INFINITE,
					     &remote.a, &attr, &conn)) &&
		       vip_ok(v, "VipConnectAccept",
			      VipConnectAccept(conn, v->vi));
	do { /* repeats until the peer listens */
		host_nap(v->p.w.h, T_hvia_connect_poll);
		ret = VipConnectRequest(v->vi, &local.a, &remote.a,
					VIP_INFINITE, &attr);
	} while (ret == VIP_NO_MATCH);
	return vip_ok(v, "VipConnectRequest", ret);
}

static int vipl_pingpong_open(struct pingpong *p)
{
	struct vipl_pingpong *v = (struct vipl_pingpong *)p;
	uint64_t room = (p->size_max + 8191) & ~4095ul;
	VIP_VI_ATTRIBUTES a = { .ReliabilityLevel = VIP_SERVICE_UNRELIABLE,
				.EnableRdmaWrite = true };
	uint8_t *data;

	if (v->op == OP_RDMA && !p->size) {
		weft_check_failed(
			p->w.c,
			"an RDMA write whose last byte is polled has at least one");
		return -EINVAL;
	}
	p->len = p->size;
	if (!vip_open(v))
		return -EIO;
	data = vip_memory(v, 2 * room);
	a.Ptag = v->ptag;
	a.MaxTransferSize = v->attr.MaxTransferSize;
	if (!data || !vip_ok(v, "VipCreateVi",
			     VipCreateVi(v->card, &a, NULL, NULL, &v->vi)))
		return -EIO;
	v->out = data + v->offset;
	v->in = data + room + v->offset;
	/* Node 0 posts its first receive after its first send.
	 * */
	if (v->op == OP_SEND && !p->begins && !vipl_pingpong_post_recv(v, 0))
		return -EIO;
	program_put(&p->w, "vpp.at", (uintptr_t)v->in);
	program_put(&p->w, "vpp.handle", v->handle);
	v->remote = program_get(&p->w, "vpp.at", p->peer);
	v->remote_handle = (uint32_t)program_get(&p->w, "vpp.handle", p->peer);
	return vip_connect(v) ? 0 : -EIO;
}

static void vipl_pingpong_sized(struct pingpong *p, double half)
{
	const struct vipl_pingpong *v = (struct vipl_pingpong *)p;
	double used = p->time ? 100.0 * (double)v->busy / (double)p->time : 0;

	if (!p->begins || half <= 0)
		return;
	weft_metric(p->w.c, "bandwidth", "MB/s", (double)p->len * 1e3 / half);
	weft_metric(p->w.c, "utilisation", "%", used);
	weft_series_add(p->w.c, "utilisation", "B", "%", (double)p->len, used);
}

static void vipl_pingpong_close(struct pingpong *p)
{
	struct vipl_pingpong *v = (struct vipl_pingpong *)p;
	VIP_DESCRIPTOR *d;

	vipl_pingpong_reap(v, p->rounds);
	program_barrier(&p->w, "vpp.end");
	vip_ok(v, "VipDisconnect", VipDisconnect(v->vi));
	do
		VipSendDone(v->vi, &d);
	while (d);
	do
		VipRecvDone(v->vi, &d);
	while (d);
	vip_ok(v, "VipDestroyVi", VipDestroyVi(v->vi));
	vip_ok(v, "VipCloseNic", VipCloseNic(v->card));
}

static const struct pingpong_ops vipl_pingpong_ops = {
	.flags = PINGPONG_EACH | PINGPONG_FIRST_APART | PINGPONG_PAIR,
	.tail = 1,
	.open = vipl_pingpong_open,
	.ready = vipl_pingpong_ready,
	.send = vipl_pingpong_send,
	.wait = vipl_pingpong_wait,
	.done = vipl_pingpong_done,
	.sized = vipl_pingpong_sized,
	.close = vipl_pingpong_close,
};

static int vipl_pingpong_main(struct weft_comp *c)
{
	return pingpong_main(c, &vipl_pingpong_ops);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct vipl_pingpong, field, def, range, OWN, doc)
static const struct weft_param vipl_pingpong_params[] = {
	PINGPONG_COUNT("100"), PINGPONG_SIZE("4", "0..16MiB"), PINGPONG_PARTNER,
	P(ENUM, op, "send", "send|rdma", "send and receive, or RDMA write"),
	P(ENUM, wait, "poll", "poll|block", "how the receiver learns of it"),
	P(U32, offset, "0", "0..4095", "where in its page the buffer begins"),
	P(TIME, pause, "3us", "", "block: asleep from a send to the next accesses to the card; the sender's part of 7.1 is 2.4 us"),
	P(STR, nic, "hvia0", "", "name for VipOpenNic"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(vipl_pingpong, .name = "vipl.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hvia.nic",
	       .doc = "round trips between two nodes over VIPL",
	       .source = "hvia.md 6.5",
	       .state_size = sizeof(struct vipl_pingpong),
	       .params = vipl_pingpong_params,
	       .ops = { .main = vipl_pingpong_main });
