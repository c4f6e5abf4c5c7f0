/* SPDX-License-Identifier: Apache-2.0 */
/* A program on each of two nodes calls VIPL in any order with any arguments.
 * Handles are invalid in every way: some never existed, some are handles of
 * another kind of object or of the other program, some were freed. Descriptors
 * and their links change while posted. Memory is deregistered while in use.
 * Lengths exceed all memory. Every call returns, and the library neither
 * crashes nor returns a descriptor that was not posted.
 *
 * An input is a byte that selects the library's options, then a string of
 * operations, one byte each followed by its arguments. The top bit of an
 * operation byte selects the node. */
#include <stdlib.h>
#include <string.h>

#include "systems/hvia/tests/viprig.h"
#include "see.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static VIP_RETURN seen(VIP_RETURN ret)
{
	see_value(ret);
	return ret;
}
/* Makes a call of VIPL and passes the returned code to see_value(). */
#define SEEN(call, ...) seen(call(__VA_ARGS__))

enum { SLOTS = 4, OPS = 200, BYTES = 1 << 14, DESCS = 16, POOL = 64 };

struct user {
	struct side s;
	VIP_VI_HANDLE vi[SLOTS];
	VIP_CQ_HANDLE cq[SLOTS];
	VIP_PROTECTION_HANDLE ptag[SLOTS];
	VIP_MEM_HANDLE mem[SLOTS];
	VIP_CONN_HANDLE conn;
	bool posted[DESCS]; /* descriptors that the library owns now */
};

static struct {
	struct fuzz_in in;
	struct user user[2];
	uint32_t ready, done;
	const char *nic;
	void *pool[POOL]; /* handles of both programs, some of them freed */
	uint32_t pooled;
} f;

static uint32_t arg(void)
{
	return (uint32_t)take(&f.in, 1);
}

static void *keep(void *handle)
{
	f.pool[f.pooled++ % POOL] = handle;
	return handle;
}

/* Returns a handle of the pool, or an arbitrary number. */
static void *any(void)
{
	uint32_t a = arg();

	return a < 16 ? (void *)(uintptr_t)take(&f.in, 8) : f.pool[a % POOL];
}

/* ---- NIC, protection, memory ---- */

static void op_ptag(struct user *u)
{
	uint32_t a = arg();

	if (a & 4)
		SEEN(VipDestroyPtag, u->s.nic, u->ptag[a & 3]);
	else
		SEEN(VipCreatePtag, u->s.nic, &u->ptag[a & 3]);
	keep(u->ptag[a & 3]);
}

static void op_register(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 4), i = a & 3;
	VIP_MEM_ATTRIBUTES m = { .Ptag = u->ptag[a >> 2 & 3],
				 .EnableRdmaWrite = a >> 4 & 1,
				 .EnableRdmaRead = a >> 5 & 1 };
	uint64_t len = a >> 16;

	if (a >> 6 & 1) /* Some regions are longer than all memory. */
		len <<= 24;
	SEEN(VipRegisterMem, u->s.nic, u->s.data + (a >> 8 & 0xFF) * 16, len,
	     &m, &u->mem[i]);
}

static void op_deregister(struct user *u)
{
	uint32_t a = arg();

	SEEN(VipDeregisterMem, u->s.nic, u->s.data + (a >> 2) * 16,
	     u->mem[a & 3]);
}

static void op_mem_attributes(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	VIP_MEM_ATTRIBUTES m;

	SEEN(VipQueryMem, u->s.nic, u->s.data, a & 64 ? a : u->mem[a & 3], &m);
	m.Ptag = u->ptag[a >> 2 & 3];
	m.EnableRdmaWrite = a >> 4 & 1;
	m.EnableRdmaRead = 0;
	SEEN(VipSetMemAttributes, u->s.nic, u->s.data + (a >> 8) * 16,
	     u->mem[a & 3], &m);
}

/* ---- VIs and connections ---- */

static VIP_VI_ATTRIBUTES attributes(struct user *u, uint32_t a)
{
	return (VIP_VI_ATTRIBUTES){
		.ReliabilityLevel = (VIP_USHORT)(1u << (a & 3)),
		.MaxTransferSize = a >> 2 & 1 ? 1 << 21 : a,
		.Ptag = a >> 3 & 1 ? u->ptag[a >> 4 & 3] : u->s.ptag,
		.EnableRdmaWrite = a >> 6 & 1,
		.EnableRdmaRead = a >> 7 & 1,
	};
}

static void op_vi(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2), i = a & 3;
	VIP_VI_ATTRIBUTES v = attributes(u, a >> 8);

	if (u->vi[i] && !(a >> 15))
		SEEN(VipSetViAttributes, u->vi[i], &v);
	else if (SEEN(VipCreateVi, u->s.nic, &v,
		      a >> 2 & 1 ? u->cq[a >> 3 & 3] : NULL,
		      a >> 5 & 1 ? u->cq[a >> 6 & 3] : NULL, &u->vi[i]))
		u->vi[i] = NULL;
	keep(u->vi[i]);
}

static void op_destroy(struct user *u)
{
	uint32_t i = arg() & 3;

	if (SEEN(VipDestroyVi, u->vi[i]) == VIP_SUCCESS)
		u->vi[i] = NULL;
}

static void op_query(struct user *u)
{
	VIP_VI_ATTRIBUTES v;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE st;

	if (SEEN(VipQueryVi, u->vi[arg() & 3], &st, &v, &s, &r))
		return;
	see_value(st);
	see_value(s << 1 | r);
	see_value(v.ReliabilityLevel);
	see_value(v.MaxTransferSize);
	see_value(v.EnableRdmaWrite);
}

static void address(struct user *u, uint32_t node, uint32_t a,
		    union vip_addr *to)
{
	vip_addr(&u->s, node, a & 1 ? "one" : "two", to);
	if (a >> 1 & 1)
		to->a.DiscriminatorLen = (VIP_UINT16)(a >> 2);
	if (a >> 5 == 7)
		to->a.HostAddressLen = (VIP_UINT16)(a >> 2);
}

static void answer(struct user *u, bool accept, uint32_t vi)
{
	VIP_RETURN ret;

	if (accept)
		ret = SEEN(VipConnectAccept, u->conn, u->vi[vi]);
	else
		ret = SEEN(VipConnectReject, u->conn);
	/* The handle becomes invalid after a reject, a successful accept or a
	 * time-out. */
	if (!accept || ret == VIP_SUCCESS || ret == VIP_TIMEOUT)
		u->conn = NULL;
}

static void op_wait_connect(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	union vip_addr local, from;
	VIP_VI_ATTRIBUTES v;

	address(u, weft_host_node(u->s.h), a & 0xFF, &local);
	if (SEEN(VipConnectWait, u->s.nic, &local.a, a >> 15, &from.a, &v,
		 &u->conn))
		return;
	keep(u->conn);
	if (!(a >> 13 & 1))
		answer(u, !(a >> 14 & 1), a >> 8 & 3);
}

/* Answers a pending connection request, if there is one. */
static void op_late_answer(struct user *u)
{
	uint32_t a = arg();

	answer(u, !(a & 4), a & 3);
}

static void op_connect(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2), me = weft_host_node(u->s.h);
	union vip_addr local, remote;
	VIP_VI_ATTRIBUTES v;

	address(u, me, a & 0xFF, &local);
	address(u, a >> 12 & 1 ? me : !me, a & 0xFF, &remote);
	if (a >> 13 & 1) {
		SEEN(VipConnectPeerRequest, u->vi[a >> 8 & 3], &local.a,
		     &remote.a, a >> 14 & 1);
		SEEN(VipConnectPeerDone, u->vi[a >> 10 & 3], &v);
		return;
	}
	SEEN(VipConnectRequest, u->vi[a >> 8 & 3], &local.a, &remote.a, 1, &v);
}

static void op_disconnect(struct user *u)
{
	SEEN(VipDisconnect, u->vi[arg() & 3]);
}

/* ---- transfers ---- */

static void op_post(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 4), i = a & 15;
	const struct user *peer = &f.user[u == f.user];
	VIP_MEM_HANDLE mem = a >> 7 & 1 ? u->mem[a >> 8 & 3] : u->s.handle;
	VIP_VI_HANDLE vi = u->vi[a >> 4 & 3];
	VIP_DESCRIPTOR *d;

	if (u->posted[i])
		return;
	if (a >> 10 & 1)
		d = side_rdma(&u->s, i, a >> 16 & 0xFFF, a >> 20,
			      (uintptr_t)peer->s.data, peer->s.handle);
	else
		d = side_desc(&u->s, i, a >> 16 & 0xFFF, a >> 20);
	if (a >> 11 & 1)
		d->CS.Control = (VIP_UINT16)(a >> 12);
	if (a >> 6 & 1)
		u->posted[i] = SEEN(VipPostSend, vi, d, mem) == VIP_SUCCESS;
	else
		u->posted[i] = SEEN(VipPostRecv, vi, d, mem) == VIP_SUCCESS;
}

/* Writes arbitrary bytes into a descriptor, posted or not. Often the bytes hit
 * the link to the next descriptor. */
static void op_scribble(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	for (uint32_t n = 1 + (a >> 4 & 7), at = a >> 8 & 63; n--; at++)
		u->s.desc[a & 15].bytes[at] = (uint8_t)arg();
}

/* Links a descriptor to another one. */
static void op_link(struct user *u)
{
	uint32_t a = arg();

	u->s.desc[a & 15].d.CS.Next.Descriptor = &u->s.desc[a >> 4].d;
	u->s.desc[a & 15].d.CS.NextHandle = u->s.handle;
}

/* Checks that a descriptor that the library returns was posted. */
static void came_back(struct user *u, VIP_DESCRIPTOR *d)
{
	uint32_t i = 0;

	if (!d)
		return;
	while (i < DESCS && &u->s.desc[i].d != d)
		i++;
	if (i == DESCS || !u->posted[i])
		abort();
	u->posted[i] = false;
}

static void op_done(struct user *u)
{
	static VIP_RETURN (*const done[])(VIP_VI_HANDLE,
					  VIP_DESCRIPTOR **) = { VipRecvDone,
								 VipSendDone };
	static VIP_RETURN (*const wait[])(VIP_VI_HANDLE, VIP_ULONG,
					  VIP_DESCRIPTOR **) = { VipRecvWait,
								 VipSendWait };
	uint32_t a = arg();
	VIP_VI_HANDLE vi = u->vi[a & 3];
	VIP_DESCRIPTOR *d = NULL;

	if (a & 8)
		wait[a >> 2 & 1](vi, 0, &d);
	else
		done[a >> 2 & 1](vi, &d);
	came_back(u, d);
}

/* ---- completion queues and other calls ---- */

static void op_cq(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2), i = a & 3;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	switch (a >> 2 & 3) {
	case 0:
		if (!u->cq[i] && SEEN(VipCreateCQ, u->s.nic, a >> 8, &u->cq[i]))
			u->cq[i] = NULL;
		keep(u->cq[i]);
		break;
	case 1:
		if (SEEN(VipDestroyCQ, u->cq[i]) == VIP_SUCCESS)
			u->cq[i] = NULL;
		break;
	case 2:
		SEEN(VipResizeCQ, u->cq[i], a >> 8);
		break;
	default:
		a >> 4 & 1 ? SEEN(VipCQWait, u->cq[i], 0, &vi, &recv)
			   : SEEN(VipCQDone, u->cq[i], &vi, &recv);
	}
}

/* ---- any handle in any place ---- */

static void forget(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	see_value(e->ErrorCode);
	see_value(e->ResourceCode);
}

static void any_nic(struct user *u, void *x, uint32_t a)
{
	VIP_NIC_ATTRIBUTES n;
	VIP_CQ_HANDLE cq;

	switch (a % 6) {
	case 0:
		SEEN(VipCloseNic, x);
		break;
	case 1:
		SEEN(VipQueryNic, x, &n);
		break;
	case 2:
		SEEN(VipErrorCallback, x, NULL, forget);
		break;
	case 3:
		if (SEEN(VipCreateCQ, x, a, &cq) == VIP_SUCCESS)
			keep(cq);
		break;
	case 4:
		SEEN(VipDestroyPtag, u->s.nic, x);
		break;
	default:
		SEEN(VipDestroyPtag, x, u->ptag[a & 3]);
	}
}

static void any_vi(struct user *u, void *x, uint32_t a)
{
	VIP_VI_ATTRIBUTES v = attributes(u, a);
	VIP_DESCRIPTOR *d = NULL;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE st;

	switch (a % 7) {
	case 0:
		SEEN(VipDestroyVi, x);
		break;
	case 1:
		SEEN(VipDisconnect, x);
		break;
	case 2:
		SEEN(VipQueryVi, x, &st, &v, &s, &r);
		break;
	case 3:
		v.Ptag = x;
		SEEN(VipSetViAttributes, u->vi[a & 3], &v);
		break;
	case 4:
		if (!u->posted[a & 15])
			u->posted[a & 15] =
				SEEN(VipPostRecv, x, &u->s.desc[a & 15].d,
				     u->s.handle) == VIP_SUCCESS;
		break;
	case 5:
		SEEN(VipSendWait, x, 0, &d);
		break;
	default:
		SEEN(VipRecvDone, x, &d);
	}
	came_back(u, d);
}

static void any_cq(struct user *u, void *x, uint32_t a)
{
	VIP_VI_ATTRIBUTES v = attributes(u, a & ~0x83u);
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	switch (a % 5) {
	case 0:
		SEEN(VipDestroyCQ, x);
		break;
	case 1:
		SEEN(VipCQDone, x, &vi, &recv);
		break;
	case 2:
		SEEN(VipResizeCQ, x, a);
		break;
	case 3:
		if (SEEN(VipCreateVi, u->s.nic, &v, x, a & 8 ? any() : NULL,
			 &vi) == VIP_SUCCESS)
			u->vi[a >> 4 & 3] = keep(vi);
		break;
	default:
		a & 8 ? SEEN(VipConnectReject, x)
		      : SEEN(VipConnectAccept, x, u->vi[a >> 4 & 3]);
	}
}

static void op_any(struct user *u)
{
	static void (*const by[])(struct user *, void *,
				  uint32_t) = { any_nic, any_vi, any_cq };
	uint32_t a = (uint32_t)take(&f.in, 2);

	by[a % 3](u, any(), a >> 8);
}

static void op_sleep(struct user *u)
{
	weft_host_sleep(u->s.h, weft_host_now(u->s.h) + (1 + arg()) * WEFT_US);
}

static void (*const ops[])(struct user *) = {
	op_ptag,     op_register,    op_deregister, op_mem_attributes,
	op_vi,	     op_destroy,     op_query,	    op_wait_connect,
	op_connect,  op_late_answer, op_disconnect, op_post,
	op_scribble, op_done,	     op_cq,	    op_sleep,
	op_any,	     op_link,
};

/* ---- programs ---- */

/* Runs the operations that the input has for this node. Peeks at the next
 * operation, and leaves it in the input if it is for the other node. */
static int hostile(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h);
	struct user *u = &f.user[me];

	side_open_few(&u->s, h, b, f.nic, DESCS, BYTES);
	SEEN(VipErrorCallback, u->s.nic, NULL, forget);
	u->vi[0] = keep(u->s.vi);
	u->ptag[0] = keep(u->s.ptag);
	keep(u->s.nic);
	u->mem[0] = u->s.handle;
	f.ready++;
	while (f.ready < 2)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	while (f.in.p < f.in.end && f.done < OPS) {
		if (*f.in.p >> 7 != me) {
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
			continue;
		}
		f.done++;
		ops[(arg() & 127) % (sizeof(ops) / sizeof(ops[0]))](u);
	}
	SEEN(VipCloseNic, u->s.nic);
	see(u->s.desc, DESCS * sizeof(union vip_desc));
	see(u->s.data, BYTES);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nic[] = { "hvia0", "hvia0+cq+reliable" };
	struct bench *b = viprig_bench();
	struct weft_err err = { 0 };

	memset(&f, 0, sizeof(f));
	f.in = (struct fuzz_in){ data, data + size };
	f.nic = nic[arg() & 1];
	bench_prog(b, 0, hostile);
	bench_prog(b, 1, hostile);
	bench_start(b);
	weft_sim_run(b->sim, 10 * WEFT_SEC);
	if (weft_progs_running(b->sim) || !weft_sim_idle(b->sim) ||
	    weft_sim_finish(b->sim, &err))
		abort();
	bench_free(b);
	return 0;
}
