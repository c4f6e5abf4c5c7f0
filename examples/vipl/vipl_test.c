/* SPDX-License-Identifier: Apache-2.0 */
/* A program written for VIPL (the library of the Virtual Interface
 * Architecture) from the public description of the interface alone. The program
 * contains no code for the simulator.
 *
 *	vipl_test server DEVICE CLIENT-HOST
 *	vipl_test client DEVICE SERVER-HOST
 *
 * Tests ping-pong, RDMA write, a completion queue for several VIs (virtual
 * interfaces), asynchronous errors, and a disconnect in the middle of
 * transfers.  Prints the results and ends with 0 if all checks hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <vipl.h>

enum { VIS = 4, ROUNDS = 100, PING = 64, RDMA = 5000, DESCS = 64 };
enum { CQ_MESSAGES = 10, BIG = 16384, BIGS = 20 };

#define CHECK(what)                                                            \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("line %d: %s is wrong\n", __LINE__, #what);     \
			exit(1);                                               \
		}                                                              \
	} while (0)
#define MUST(call) CHECK((call) == VIP_SUCCESS)

/* Global variables are safe here, because each process has its own copy. */
static int server;
static VIP_NIC_HANDLE nic;
static VIP_PROTECTION_HANDLE ptag;
static VIP_CQ_HANDLE cq;
static VIP_VI_HANDLE vi[VIS];
static VIP_MEM_HANDLE desc_handle, data_handle;
static VIP_DESCRIPTOR *desc;
static unsigned char data[BIGS * BIG] __attribute__((aligned(64)));
static volatile int lost, empty;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	if (e->ErrorCode == VIP_ERROR_CONN_LOST)
		lost++;
	else if (e->ErrorCode == VIP_ERROR_RECVQ_EMPTY && e->ViHandle == vi[2])
		empty++;
	else
		printf("asynchronous error %d\n", (int)e->ErrorCode);
}

/* ---- descriptors ---- */

static VIP_DESCRIPTOR *describe(int i, void *p, VIP_UINT32 n)
{
	VIP_DESCRIPTOR *d = &desc[i];

	memset(d, 0, sizeof(*d));
	d->CS.Control = VIP_CONTROL_OP_SENDRECV;
	d->CS.Length = n;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = data_handle;
	d->DS[0].Local.Length = n;
	return d;
}

static void post_recv(int v, int i, void *p, VIP_UINT32 n)
{
	MUST(VipPostRecv(vi[v], describe(i, p, n), desc_handle));
}

static void send_it(int v, VIP_DESCRIPTOR *d)
{
	VIP_DESCRIPTOR *done;

	MUST(VipPostSend(vi[v], d, desc_handle));
	MUST(VipSendWait(vi[v], VIP_INFINITE, &done));
	CHECK(done == d);
}

static void send_now(int v, int i, void *p, VIP_UINT32 n)
{
	send_it(v, describe(i, p, n));
}

static VIP_DESCRIPTOR *recv_now(int v)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	while ((r = VipRecvDone(vi[v], &d)) == VIP_NOT_DONE)
		;
	CHECK(r == VIP_SUCCESS);
	return d;
}

/* Keeps both sides in step by messages of 4 bytes on VI 0. */
static void step(void)
{
	unsigned char *word = data + sizeof(data) - 64;

	if (!server)
		send_now(0, 1, word + 8, 4);
	recv_now(0);
	post_recv(0, 0, word, 4);
	if (server)
		send_now(0, 1, word + 8, 4);
}

/* ---- setting up ---- */

static VIP_MEM_HANDLE enrol(void *p, VIP_ULONG n, VIP_BOOLEAN rdma)
{
	VIP_MEM_ATTRIBUTES mem = { ptag, rdma, VIP_FALSE };
	VIP_MEM_HANDLE handle;

	MUST(VipRegisterMem(nic, p, n, &mem, &handle));
	return handle;
}

static void open_nic(const char *device)
{
	VIP_NIC_ATTRIBUTES attr;

	MUST(VipOpenNic(device, &nic));
	MUST(VipQueryNic(nic, &attr));
	CHECK(attr.MaxVI >= VIS && attr.MaxCQ >= 1);
	MUST(VipErrorCallback(nic, NULL, on_error));
	MUST(VipCreatePtag(nic, &ptag));
	desc = aligned_alloc(VIP_DESCRIPTOR_ALIGNMENT, DESCS * sizeof(*desc));
	CHECK(desc);
	desc_handle = enrol(desc, DESCS * sizeof(*desc), VIP_FALSE);
	data_handle = enrol(data, sizeof(data), VIP_TRUE);
	MUST(VipCreateCQ(nic, 256, &cq));
}

static void state_is(int i, VIP_VI_STATE want, int idle)
{
	VIP_VI_ATTRIBUTES attr;
	VIP_VI_STATE state;
	VIP_BOOLEAN s, r;

	MUST(VipQueryVi(vi[i], &state, &attr, &s, &r));
	CHECK(state == want && (!idle || (s && r)));
}

static void make_vi(int i)
{
	VIP_VI_ATTRIBUTES attr;

	memset(&attr, 0, sizeof(attr));
	attr.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
	attr.MaxTransferSize = 65536;
	attr.Ptag = ptag;
	attr.EnableRdmaWrite = VIP_TRUE;
	MUST(VipCreateVi(nic, &attr, NULL, i ? cq : NULL, &vi[i]));
}

static VIP_NET_ADDRESS *address(const char *host, int i)
{
	VIP_NET_ADDRESS *a = calloc(1, 64);

	MUST(VipNSGetHostByName(nic, (VIP_CHAR *)host, a, 0));
	a->DiscriminatorLen = 4;
	memcpy(a->HostAddress + a->HostAddressLen, &i, 4);
	return a;
}

static void connect_vi(int i, const char *other)
{
	char own[64];
	VIP_NET_ADDRESS *local, *remote = address(other, i);
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	VIP_RETURN ret;

	gethostname(own, sizeof(own));
	local = address(own, i);
	if (server) {
		MUST(VipConnectWait(nic, local, VIP_INFINITE, remote, &attr,
				    &conn));
		MUST(VipConnectAccept(conn, vi[i]));
	} else {
		while ((ret = VipConnectRequest(vi[i], local, remote, 10000,
						&attr)) == VIP_NO_MATCH)
			usleep(50);
		CHECK(ret == VIP_SUCCESS);
	}
	CHECK(attr.MaxTransferSize == 65536);
	state_is(i, VIP_STATE_CONNECTED, 0);
	free(local);
	free(remote);
}

/* ---- parts ---- */

static void ping_pong(void)
{
	unsigned char *in = data, *out = data + 4096;
	struct timeval t0, t1;

	gettimeofday(&t0, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		memset(out, i + server, PING);
		if (!server)
			send_now(0, 1, out, PING);
		CHECK(recv_now(0)->CS.Length == PING);
		CHECK(in[0] == (unsigned char)(i + !server) &&
		      in[PING - 1] == in[0]);
		post_recv(0, 0, in, PING);
		if (server)
			send_now(0, 1, out, PING);
	}
	gettimeofday(&t1, NULL);
	if (!server)
		printf("ping-pong: %ld us for %d round trips\n",
		       (t1.tv_sec - t0.tv_sec) * 1000000 + t1.tv_usec -
			       t0.tv_usec,
		       ROUNDS);
}

/* The server sends the address of its memory. The client writes there by RDMA,
 * with a number as immediate data. */
static void rdma(void)
{
	struct {
		VIP_UINT64 va;
		VIP_MEM_HANDLE handle;
	} *where = (void *)data;
	VIP_DESCRIPTOR *d;

	/* the receive that the next step() needs */
	post_recv(0, 3, data + sizeof(data) - 64, 4);
	if (server) {
		where = (void *)(data + 8192);
		where->va = (VIP_UINT64)(unsigned long)(data + 20001);
		where->handle = data_handle;
		send_now(0, 1, where, sizeof(*where));
		d = recv_now(0);
		CHECK((d->CS.Status & VIP_STATUS_OP_MASK) ==
		      VIP_STATUS_OP_REMOTE_RDMA_WRITE);
		CHECK(d->CS.ImmediateData == 4711);
		for (int i = 0; i < RDMA; i++)
			CHECK(data[20001 + i] == (unsigned char)(i * 7));
		printf("RDMA write: %d bytes\n", RDMA);
		return;
	}
	recv_now(0);
	for (int i = 0; i < RDMA; i++)
		data[40003 + i] = (unsigned char)(i * 7);
	d = describe(1, data + 40003, RDMA);
	d->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
	d->CS.ImmediateData = 4711;
	d->CS.SegCount = 2;
	d->DS[1].Local = d->DS[0].Local;
	d->DS[0].Remote.Data.AddressBits = where->va;
	d->DS[0].Remote.Handle = where->handle;
	d->DS[0].Remote.Reserved = 0;
	send_it(0, d);
}

/* Sends messages on three VIs with one completion queue. */
static void queue(void)
{
	VIP_VI_HANDLE from;
	VIP_BOOLEAN recv;
	VIP_DESCRIPTOR *d;
	int got[VIS] = { 0 };

	for (int i = 0; i < 3 * CQ_MESSAGES; i++) {
		int v = 1 + i % 3;

		if (!server) {
			data[0] = (unsigned char)(v * 16 + i / 3);
			send_now(v, 2, data, 1 + (VIP_UINT32)i);
			continue;
		}
		MUST(VipCQWait(cq, VIP_INFINITE, &from, &recv));
		CHECK(recv == VIP_TRUE);
		MUST(VipRecvDone(from, &d));
		for (v = 1; v < VIS && vi[v] != from; v++)
			;
		CHECK(v < VIS);
		CHECK(*(unsigned char *)d->DS[0].Local.Data.Address ==
		      v * 16 + got[v]);
		got[v]++;
	}
	if (server)
		printf("completion queue: %d %d %d\n", got[1], got[2], got[3]);
}

/* Sends a message to VI 2, which has no receive. */
static void no_receive(void)
{
	if (!server)
		send_now(2, 2, data, 8);
	step();
	for (int i = 0; server && !empty && i < 1000; i++)
		usleep(10);
	CHECK(!server || empty == 1);
}

static void count_ended(VIP_VI_HANDLE v, int is_recv, int *done, int *flushed)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	for (;;) {
		r = is_recv ? VipRecvDone(v, &d) : VipSendDone(v, &d);
		if (!d)
			break;
		CHECK(r == VIP_SUCCESS ||
		      (r == VIP_DESCRIPTOR_ERROR &&
		       d->CS.Status & (VIP_STATUS_DESC_FLUSHED_ERROR |
				       VIP_STATUS_PARTIAL_ERROR)));
		++*(r == VIP_SUCCESS ? done : flushed);
	}
	CHECK(r == VIP_DESCRIPTOR_ERROR); /* A flushed queue has no further
					   * descriptor. */
}

static void hang_up(void)
{
	int done = 0, flushed = 0;
	VIP_DESCRIPTOR *d;

	for (int i = 0; i < BIGS - 1 && server; i++)
		post_recv(1, 8 + i, data + i * BIG, BIG);
	step();
	for (int i = 0; i < BIGS - 1 && !server; i++)
		MUST(VipPostSend(vi[1], describe(8 + i, data + i * BIG, BIG),
				 desc_handle));
	while (server && !lost)
		usleep(10);
	if (server)
		state_is(1, VIP_STATE_ERROR, 0);
	for (; !server && done < 3; done++)
		MUST(VipSendWait(vi[1], VIP_INFINITE, &d));
	MUST(VipDisconnect(vi[1]));
	count_ended(vi[1], server, &done, &flushed);
	CHECK(done + flushed == BIGS - 1 && flushed);
	state_is(1, VIP_STATE_IDLE, 1);
	printf("disconnect: %d done, %d flushed\n", done, flushed);
}

static void clean_up(void)
{
	int n = 0;

	for (int i = 0; i < VIS; i++) {
		if (i != 1)
			MUST(VipDisconnect(vi[i]));
		count_ended(vi[i], 1, &n, &n);
		MUST(VipDestroyVi(vi[i]));
	}
	MUST(VipDestroyCQ(cq));
	MUST(VipDeregisterMem(nic, data, data_handle));
	MUST(VipDeregisterMem(nic, desc, desc_handle));
	MUST(VipDestroyPtag(nic, ptag));
	MUST(VipNSShutdown(nic));
	MUST(VipCloseNic(nic));
	free(desc);
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	server = !strcmp(argv[1], "server");
	open_nic(argv[2]);
	MUST(VipNSInit(nic, NULL));
	for (int i = 0; i < VIS; i++) {
		make_vi(i);
		if (!i)
			post_recv(0, 0, data, PING);
		for (int k = 0; i && server && k < CQ_MESSAGES; k++)
			post_recv(i, 4 + i * CQ_MESSAGES + k,
				  data + 65536 + (i * CQ_MESSAGES + k) * 64,
				  64);
		connect_vi(i, argv[3]);
	}
	ping_pong();
	rdma();
	step();
	queue();
	step();
	no_receive();
	hang_up();
	step();
	clean_up();
	puts("everything as it should be");
	return 0;
}
