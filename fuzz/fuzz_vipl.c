/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL called in any order with any arguments, by a program on each of two
 * nodes: handles of nothing, descriptors that are changed while posted,
 * memory that is deregistered while in use, lengths beyond all memory.  Every
 * call returns; nothing crashes.  Handles that the library has freed and the
 * links of posted descriptors stay alone: a program harms itself with them.
 *
 * An input is a string of operations, one byte each followed by its arguments;
 * the top bit of the byte chooses the node. */
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/ulib/viprig.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 4, OPS = 200, BYTES = 1 << 16 };

struct user {
	struct side s;
	VIP_VI_HANDLE vi[SLOTS];
	VIP_CQ_HANDLE cq[SLOTS];
	VIP_PROTECTION_HANDLE ptag[SLOTS];
	VIP_MEM_HANDLE mem[SLOTS];
	VIP_CONN_HANDLE conn;
	bool posted[16]; /* descriptors that are the library's */
};

static struct {
	struct fuzz_in in;
	struct user user[2];
	uint32_t ready, done;
} f;

static uint32_t arg(void)
{
	return (uint32_t)take(&f.in, 1);
}

/* ---- NIC, protection, memory --------------------------------------------- */

static void op_ptag(struct user *u)
{
	uint32_t a = arg();

	if (a & 4)
		VipDestroyPtag(u->s.nic, u->ptag[a & 3]);
	else
		VipCreatePtag(u->s.nic, &u->ptag[a & 3]);
}

static void op_register(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 4), i = a & 3;
	VIP_MEM_ATTRIBUTES m = { .Ptag = u->ptag[a >> 2 & 3],
				 .EnableRdmaWrite = a >> 4 & 1,
				 .EnableRdmaRead = a >> 5 & 1 };
	uint64_t len = a >> 16;

	if (a >> 6 & 1) /* more than there is */
		len <<= 24;
	VipRegisterMem(u->s.nic, u->s.data + (a >> 8 & 0xFF) * 16, len, &m,
		       &u->mem[i]);
}

static void op_deregister(struct user *u)
{
	uint32_t a = arg();

	VipDeregisterMem(u->s.nic, u->s.data + (a >> 2) * 16, u->mem[a & 3]);
}

static void op_mem_attributes(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	VIP_MEM_ATTRIBUTES m;

	VipQueryMem(u->s.nic, u->s.data, a & 64 ? a : u->mem[a & 3], &m);
	m.Ptag = u->ptag[a >> 2 & 3];
	m.EnableRdmaWrite = a >> 4 & 1;
	m.EnableRdmaRead = 0;
	VipSetMemAttributes(u->s.nic, u->s.data + (a >> 8) * 16, u->mem[a & 3],
			    &m);
}

/* ---- VIs and connections --------------------------------------------------
 */

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

	if (u->vi[i])
		VipSetViAttributes(u->vi[i], &v);
	else if (VipCreateVi(u->s.nic, &v,
			     a >> 2 & 1 ? u->cq[a >> 3 & 3] : NULL,
			     a >> 5 & 1 ? u->cq[a >> 6 & 3] : NULL, &u->vi[i]))
		u->vi[i] = NULL;
}

static void op_destroy(struct user *u)
{
	uint32_t i = arg() & 3;

	if (VipDestroyVi(u->vi[i]) == VIP_SUCCESS)
		u->vi[i] = NULL;
}

static void op_query(struct user *u)
{
	VIP_VI_ATTRIBUTES v;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE st;

	VipQueryVi(u->vi[arg() & 3], &st, &v, &s, &r);
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
		ret = VipConnectAccept(u->conn, u->vi[vi]);
	else
		ret = VipConnectReject(u->conn);
	if (!accept || ret == VIP_SUCCESS || ret == VIP_TIMEOUT)
		u->conn = NULL; /* the library has freed it */
}

static void op_wait_connect(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);
	union vip_addr local, from;
	VIP_VI_ATTRIBUTES v;

	address(u, weft_host_node(u->s.h), a & 0xFF, &local);
	if (VipConnectWait(u->s.nic, &local.a, a >> 15, &from.a, &v, &u->conn))
		return;
	if (!(a >> 13 & 1))
		answer(u, !(a >> 14 & 1), a >> 8 & 3);
}

/* Of a request that waits, or of none. */
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
		VipConnectPeerRequest(u->vi[a >> 8 & 3], &local.a, &remote.a,
				      a >> 14 & 1);
		VipConnectPeerDone(u->vi[a >> 10 & 3], &v);
		return;
	}
	VipConnectRequest(u->vi[a >> 8 & 3], &local.a, &remote.a, 1, &v);
}

static void op_disconnect(struct user *u)
{
	VipDisconnect(u->vi[arg() & 3]);
}

/* ---- transfers ------------------------------------------------------------
 */

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
		u->posted[i] = VipPostSend(vi, d, mem) == VIP_SUCCESS;
	else
		u->posted[i] = VipPostRecv(vi, d, mem) == VIP_SUCCESS;
}

/* Any bytes in a descriptor but its link, whether posted or not. */
static void op_scribble(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2);

	for (uint32_t n = 1 + (a >> 4 & 7), at = 8 + (a >> 8 & 63); n--; at++)
		u->s.desc[a & 15].bytes[at] = (uint8_t)arg();
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
	if (d)
		u->posted[(union vip_desc *)d - u->s.desc] = false;
}

/* ---- completion queues, the rest ------------------------------------------
 */

static void op_cq(struct user *u)
{
	uint32_t a = (uint32_t)take(&f.in, 2), i = a & 3;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	switch (a >> 2 & 3) {
	case 0:
		if (!u->cq[i] && VipCreateCQ(u->s.nic, a >> 8, &u->cq[i]))
			u->cq[i] = NULL;
		break;
	case 1:
		if (VipDestroyCQ(u->cq[i]) == VIP_SUCCESS)
			u->cq[i] = NULL;
		break;
	case 2:
		VipResizeCQ(u->cq[i], a >> 8);
		break;
	default:
		a >> 4 & 1 ? VipCQWait(u->cq[i], 0, &vi, &recv)
			   : VipCQDone(u->cq[i], &vi, &recv);
	}
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
};

/* ---- programs -------------------------------------------------------------
 */

static void forget(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	(void)ctx;
	(void)e;
}

/* Each side takes the operations that are its own; both look at the next. */
static int hostile(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h);
	struct user *u = &f.user[me];

	side_open(&u->s, h, b, "hvia0", BYTES);
	VipErrorCallback(u->s.nic, NULL, forget);
	u->vi[0] = u->s.vi;
	u->ptag[0] = u->s.ptag;
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
	VipCloseNic(u->s.nic);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench *b = viprig_bench();

	memset(&f, 0, sizeof(f));
	f.in = (struct fuzz_in){ data, data + size };
	bench_prog(b, 0, hostile);
	bench_prog(b, 1, hostile);
	bench_start(b);
	weft_sim_run(b->sim, 10 * WEFT_SEC);
	if (weft_progs_running(b->sim))
		abort();
	bench_free(b);
	return 0;
}
