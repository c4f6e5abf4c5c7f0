/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: every return code of the calls about NIC, tags, memory and VIs, and
 * every asynchronous error (hvia.md 5.5, 5.6, 6.1; T-18, T-19, T-33). */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- calls ---- */

/* Checks the attributes of a NIC (3.5): memory for translations is 64 MiB, with
 * 24 bytes for a region and 4 for a page. */
static void nic_attributes(VIP_NIC_HANDLE nic, const char *name, uint32_t cqs,
			   uint32_t levels)
{
	VIP_NIC_ATTRIBUTES a;

	ok(VipQueryNic(nic, &a));
	assert_string_equal(a.Name, name);
	assert_int_equal(a.HardwareVersion, HVIA_VERSION);
	assert_int_equal(a.ProviderVersion, 1);
	assert_int_equal(a.NicAddressLen, 6);
	assert_int_equal(a.ThreadSafe, VIP_TRUE);
	assert_int_equal(a.MaxDiscriminatorLen, 16);
	assert_int_equal(a.MaxRegisterBytes, 16777210ull * 4096);
	assert_int_equal(a.MaxRegisterRegions, 2396745);
	assert_int_equal(a.MaxRegisterBlockBytes, UINT32_MAX);
	assert_int_equal(a.MaxVI, 1024);
	assert_int_equal(a.MaxDescriptorsPerQueue, 1024);
	assert_int_equal(a.MaxSegmentsPerDesc, 252);
	assert_int_equal(a.MaxCQ, cqs);
	assert_int_equal(a.MaxCQEntries, cqs ? 1 << 20 : 0);
	assert_int_equal(a.MaxTransferSize, 1 << 24);
	assert_int_equal(a.NativeMTU, 1472);
	/* tags have 12 bits, and 0 is not a tag */
	assert_int_equal(a.MaxPtags, 4095);
	assert_int_equal(a.ReliabilityLevelSupport, levels);
	assert_int_equal(a.RDMAReadSupport, 0);
}

static void nic_calls(struct side *s)
{
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES a;
	VIP_AUTODISCOVERY_LIST list = { 0 };

	assert_int_equal(VipOpenNic(NULL, &nic), VIP_INVALID_PARAMETER);
	assert_int_equal(VipOpenNic("hvia0", NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipOpenNic("eth0", &nic), VIP_INVALID_PARAMETER);
	assert_int_equal(VipOpenNic("hvia0+fast", &nic), VIP_INVALID_PARAMETER);
	assert_int_equal(VipOpenNic("hvia7", &nic), VIP_ERROR_RESOURCE);
	assert_int_equal(VipCloseNic(NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCloseNic(s->nic),
			 VIP_ERROR_RESOURCE); /* it has a VI */
	/* opens the card a second time in one program */
	ok(VipOpenNic("/dev/hvia0", &nic));
	nic_attributes(nic, "hvia0", 0, 1);
	ok(VipCloseNic(nic));
	ok(VipOpenNic("hvia0+cq", &nic));
	nic_attributes(nic, "hvia0", 1024, 1);
	ok(VipCloseNic(nic));
	ok(VipOpenNic("hvia0+reliable", &nic));
	nic_attributes(nic, "hvia0", 0, 1 | 2 | 4);
	ok(VipCloseNic(nic));
	assert_int_equal(VipQueryNic(NULL, &a), VIP_INVALID_PARAMETER);
	assert_int_equal(VipErrorCallback(NULL, NULL, NULL),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipQuerySystemManagementInfo(s->nic, 99, &list),
			 VIP_ERROR_NOT_SUPPORTED);
	assert_int_equal(VipQuerySystemManagementInfo(s->nic, 1, NULL),
			 VIP_INVALID_PARAMETER);
	ok(VipQuerySystemManagementInfo(s->nic, VIP_SMI_AUTODISCOVERY, &list));
	assert_int_equal(list.NumAdAddrs, 2);
}

static void name_calls(struct side *s)
{
	union vip_addr a;
	char name[16];
	VIP_ULONG len = sizeof(name);

	assert_int_equal(VipNSGetHostByName(s->nic, "n1", &a.a, 0),
			 VIP_ERROR_NAMESERVICE); /* not initialised */
	assert_int_equal(VipNSShutdown(s->nic), VIP_ERROR_NAMESERVICE);
	ok(VipNSInit(s->nic, NULL));
	ok(VipNSGetHostByName(s->nic, "n1", &a.a, 0));
	ok(VipNSGetHostByAddr(s->nic, &a.a, name, &len));
	assert_string_equal(name, "n1");
	len = 2;
	assert_int_equal(VipNSGetHostByAddr(s->nic, &a.a, name, &len),
			 VIP_ERROR_RESOURCE);
	assert_int_equal(VipNSGetHostByName(s->nic, "n9", &a.a, 0),
			 VIP_ERROR_NAMESERVICE);
	assert_int_equal(VipNSGetHostByName(s->nic, "n1", &a.a, 1),
			 VIP_ERROR_NAMESERVICE);
	assert_int_equal(VipNSGetHostByName(s->nic, NULL, &a.a, 0),
			 VIP_INVALID_PARAMETER);
	ok(VipNSShutdown(s->nic));
}

static void tag_calls(struct side *s)
{
	VIP_PROTECTION_HANDLE t[4200];
	uint32_t n = 0;

	assert_int_equal(VipCreatePtag(NULL, t), VIP_INVALID_PARAMETER);
	assert_int_equal(VipDestroyPtag(s->nic, s->ptag), VIP_ERROR_RESOURCE);
	assert_int_equal(VipDestroyPtag(s->nic, (void *)99),
			 VIP_INVALID_PARAMETER);
	while (n < 4200 && VipCreatePtag(s->nic, &t[n]) == VIP_SUCCESS)
		n++;
	/* tags have 12 bits, 0 is not a tag, and side_open() has made one
	 * already */
	assert_int_equal(n, 4094);
	assert_int_equal(VipCreatePtag(s->nic, &t[n]), VIP_ERROR_RESOURCE);
	while (n)
		ok(VipDestroyPtag(s->nic, t[--n]));
}

/* T-33 */
static void mem_calls(struct side *s)
{
	VIP_MEM_ATTRIBUTES a = s->mem_attr, q;
	VIP_MEM_HANDLE m, m2;
	uint8_t *p = s->data;

	assert_int_equal(VipRegisterMem(s->nic, p, 10, NULL, &m),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipRegisterMem(s->nic, p, 0, &a, &m),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipRegisterMem(s->nic, p, UINT64_MAX - 64, &a, &m),
			 VIP_INVALID_PARAMETER); /* the range wraps around the
						    end of the address space */
	assert_int_equal(VipRegisterMem(s->nic, p, 5ul << 30, &a, &m),
			 VIP_ERROR_RESOURCE);
	assert_int_equal(VipRegisterMem(s->nic, (void *)8192, 4096, &a, &m),
			 VIP_INVALID_PARAMETER); /* the program has no memory at
						    this address */
	assert_int_equal(
		VipRegisterMem(s->nic, (void *)8192, UINT32_MAX, &a, &m),
		/* the length is allowed, but the program has no memory there */
		VIP_INVALID_PARAMETER);
	assert_int_equal(
		VipRegisterMem(s->nic, (void *)8192, 1ul << 32, &a, &m),
		VIP_ERROR_RESOURCE);
	assert_int_equal(VipRegisterMem(s->nic, NULL, 4096, &a, &m),
			 VIP_INVALID_PARAMETER);
	a.EnableRdmaRead = VIP_TRUE;
	assert_int_equal(VipRegisterMem(s->nic, p, 10, &a, &m),
			 VIP_INVALID_RDMAREAD);
	a = s->mem_attr;
	a.Ptag = (void *)77;
	assert_int_equal(VipRegisterMem(s->nic, p, 10, &a, &m),
			 VIP_INVALID_PTAG);
	a = s->mem_attr;
	/* registers the memory twice, which gives two handles */
	ok(VipRegisterMem(s->nic, p, 100, &a, &m));
	ok(VipRegisterMem(s->nic, p, 100, &a, &m2));
	assert_int_not_equal(m, m2);
	a.EnableRdmaWrite = VIP_FALSE;
	ok(VipSetMemAttributes(s->nic, p, m, &a));
	ok(VipQueryMem(s->nic, p + 50, m, &q));
	assert_false(q.EnableRdmaWrite);
	ok(VipQueryMem(s->nic, p, m2, &q));
	assert_true(q.EnableRdmaWrite);
	assert_ptr_equal(q.Ptag, s->ptag);
	assert_int_equal(VipQueryMem(s->nic, p + 100, m, &q),
			 VIP_INVALID_PARAMETER);
	a.Ptag = NULL;
	assert_int_equal(VipSetMemAttributes(s->nic, p, m, &a),
			 VIP_INVALID_PTAG);
	a.EnableRdmaRead = VIP_TRUE;
	assert_int_equal(VipSetMemAttributes(s->nic, p, m, &a),
			 VIP_INVALID_RDMAREAD);
	assert_int_equal(VipDeregisterMem(s->nic, p + 1, m),
			 VIP_INVALID_PARAMETER);
	ok(VipDeregisterMem(s->nic, p, m));
	assert_int_equal(VipDeregisterMem(s->nic, p, m), VIP_INVALID_PARAMETER);
	ok(VipDeregisterMem(s->nic, p, m2));
	assert_int_equal(VipDeregisterMem(s->nic, p, 12345),
			 VIP_INVALID_PARAMETER);
}

static void vi_calls(struct side *s)
{
	const struct {
		VIP_VI_ATTRIBUTES a;
		VIP_RETURN ret;
	} bad[] = {
		{ { 2, 4096, NULL, s->ptag }, VIP_INVALID_RELIABILITY_LEVEL },
		{ { 3, 4096, NULL, s->ptag }, VIP_INVALID_RELIABILITY_LEVEL },
		{ { 1, 0, NULL, s->ptag }, VIP_INVALID_MTU },
		{ { 1, 1ul << 33, NULL, s->ptag }, VIP_INVALID_MTU },
		{ { 1, 4096, (void *)99, s->ptag }, VIP_INVALID_QOS },
		{ { 1, 4096, NULL, NULL }, VIP_INVALID_PTAG },
		{ { 1, 4096, NULL, (void *)99 }, VIP_INVALID_PTAG },
		{ { 1, 4096, NULL, s->ptag, 0, 1 }, VIP_INVALID_RDMAREAD },
	};
	VIP_VI_ATTRIBUTES a;
	VIP_VI_HANDLE vi;
	VIP_VI_STATE st;
	VIP_BOOLEAN x;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		a = bad[i].a;
		assert_int_equal(VipCreateVi(s->nic, &a, NULL, NULL, &vi),
				 bad[i].ret);
		assert_int_equal(VipSetViAttributes(s->vi, &a), bad[i].ret);
	}
	a = s->attr;
	/* T-31 */
	assert_int_equal(VipCreateVi(s->nic, &a, (void *)s->nic, NULL, &vi),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipCreateVi(NULL, &a, NULL, NULL, &vi),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipQueryVi(NULL, &st, &a, &x, &x),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipDestroyVi(NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipDisconnect(NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipPostSend(NULL, &s->desc[0].d, 0),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipPostRecv(s->vi, NULL, 0), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCreateCQ(s->nic, 16, &vi), VIP_ERROR_NOT_SUPPORTED);
	assert_int_equal(VipCQDone(NULL, &vi, &x), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCQWait(NULL, 1, &vi, &x), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCQNotify(NULL, NULL, NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipResizeCQ(NULL, 5), VIP_INVALID_PARAMETER);
	assert_int_equal(VipDestroyCQ(NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipRecvNotify(s->vi, NULL, NULL),
			 VIP_INVALID_PARAMETER);
}

static int calls(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 8192);
	nic_calls(&s);
	name_calls(&s);
	tag_calls(&s);
	mem_calls(&s);
	vi_calls(&s);
	/* T-28: an empty queue, and one whose descriptor is not done */
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_DESCRIPTOR_ERROR);
	assert_null(d);
	side_recv(&s, side_desc(&s, 0, 0, 10));
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_NOT_DONE);
	assert_int_equal(VipRecvWait(s.vi, 2, &d), VIP_TIMEOUT);
	assert_int_equal(VipSendWait(s.vi, 2, &d), VIP_DESCRIPTOR_ERROR);
	side_close(&s);
	return 0;
}

/* T-28, T-31, T-33 */
static void test_calls_refuse_bad_arguments(void **state)
{
	struct bench *b = *state;

	viprig_run(b, calls, NULL);
}

/* Registers pages above 4 GiB, which the card cannot reach. */
static int high(struct weft_host *h, struct bench *b)
{
	VIP_NIC_HANDLE nic;
	VIP_MEM_ATTRIBUTES a = { 0 };
	VIP_MEM_HANDLE m;
	static uint8_t buf[8192];

	ok(VipOpenNic("hvia0", &nic));
	ok(VipCreatePtag(nic, &a.Ptag));
	assert_int_equal(VipRegisterMem(nic, buf, sizeof(buf), &a, &m),
			 VIP_ERROR_RESOURCE);
	assert_int_equal(VipRegisterMem(nic, buf, 1, &a, &m),
			 VIP_ERROR_RESOURCE);
	return 0;
}

/* T-33 */
static void test_memory_above_4_gib_is_refused(void **state)
{
	bench_set(*state, "host.pc", "mem_base", "8GiB");
	viprig_run(*state, high, NULL);
}

/* ---- asynchronous errors ---- */

static void renew(struct side *s, const char *name)
{
	meet(s, name);
	side_drain(s);
	weft_host_sleep(s->h, weft_host_now(s->h) + WEFT_MS);
	ok(VipDisconnect(s->vi));
	s->n_err = 0;
	side_connect(s);
}

/* Rings a doorbell without a descriptor (T-18), and posts too many descriptors
 * (T-19). */
static int posts_wrong(struct weft_host *h, struct bench *b)
{
	static _Alignas(64) VIP_DESCRIPTOR outside;
	struct side s;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 4096);
	side_handler(&s);
	side_connect(&s);
	for (uint32_t i = 0; i < 4; i++) {
		char name[8] = { 'w', (char)('0' + i), 0 };
		VIP_MEM_HANDLE m = i == 1 ? 4000 : s.handle;

		d = side_desc(&s, 0, 0, 8);
		if (i == 0)
			d = (void *)((uint8_t *)d + 8); /* not aligned */
		if (i == 2)
			d = &outside;
		if (i < 3) {
			ok(VipPostSend(s.vi, d, m));
			side_errors(&s, 1);
			assert_int_equal(s.err[0].ErrorCode,
					 VIP_ERROR_POST_DESC);
			assert_int_equal(s.err[0].ResourceCode,
					 VIP_RESOURCE_DESCRIPTOR);
			assert_true(side_sent(&s, &d) &
				    VIP_STATUS_DESC_FLUSHED_ERROR);
		} else {
			for (uint32_t k = 0; k < 1025; k++)
				side_recv(&s, &s.desc[k % 64].d);
			side_errors(&s, 1);
			assert_int_equal(s.err[0].ErrorCode,
					 VIP_ERROR_VI_OVERRUN);
		}
		assert_ptr_equal(s.err[0].ViHandle, s.vi);
		if (i < 3)
			renew(&s, name);
	}
	meet(&s, "end");
	weft_host_exit(h, 0); /* exits with a thousand descriptors posted */
}

static int recorders_on(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < 3; i++) {
		char name[8] = { 'w', (char)('0' + i), 0 };

		renew(&s, name);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-18, T-19, T-28 (a descriptor with an error) */
static void test_post_desc(void **state)
{
	viprig_run(*state, posts_wrong, recorders_on);
}

enum { BIG = 40 << 20 };

/* Sends messages that find no receive. Makes RDMA writes that are not allowed.
 * Causes more errors at once than the card's FIFO holds. */
static int rdma_wrong(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 8192);
	side_connect(&s);
	side_send(&s, side_desc(&s, 0, 0, 100)); /* RECVQ_EMPTY */
	assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
	meet(&s, "one");
	/* an invalid handle and an address beyond the region give RDMAW_PROT */
	side_send(&s, side_rdma(&s, 0, 0, 100, b->v[0], 9999));
	assert_int_equal(side_sent(&s, NULL),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
	side_send(&s,
		  side_rdma(&s, 0, 0, 100, b->v[0] + 8150, (uint32_t)b->v[1]));
	assert_true(side_sent(&s, NULL));
	meet(&s, "two");
	/* a write at a valid address follows */
	fill(s.data, 3000, 5);
	side_send(&s,
		  side_rdma(&s, 0, 0, 3000, b->v[0] + 3, (uint32_t)b->v[1]));
	assert_true(side_sent(&s, NULL));
	meet(&s, "three");
	/* forty errors arrive faster than the FIFO of 16 is read */
	for (uint32_t i = 0; i < 40; i++)
		side_send(&s, side_desc(&s, i, 0, 1));
	for (uint32_t i = 0; i < 40; i++)
		assert_true(side_sent(&s, NULL));
	meet(&s, "four");
	side_send(&s,
		  side_desc(&s, 0, 0, 1)); /* the send also reports the error */
	assert_true(side_sent(&s, NULL));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int rdma_target(struct weft_host *h, struct bench *b)
{
	struct side s;
	uint32_t full = 0;
	VIP_MEM_HANDLE m;
	void *big = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	side_open(&s, h, b, "hvia0", 8192);
	side_handler(&s);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	side_connect(&s);
	meet(&s, "one");
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_RECVQ_EMPTY);
	s.n_err = 0;
	meet(&s, "two");
	side_errors(&s, 2);
	assert_int_equal(s.n_err, 2);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_RDMAW_PROT);
	assert_int_equal(s.err[1].ErrorCode, VIP_ERROR_RDMAW_PROT);
	for (uint32_t i = 0; i < 8192; i++)
		assert_int_equal(s.data[i], 0);
	s.n_err = 0;
	meet(&s, "three");
	/* keeps the kernel busy with ten thousand pages, so that it reads no
	 * errors of the card meanwhile */
	ok(VipRegisterMem(s.nic, big, BIG, &s.mem_attr, &m));
	ok(VipDeregisterMem(s.nic, big, m));
	munmap(big, BIG);
	assert_true(filled(s.data + 3, 3000, 5));
	meet(&s, "four");
	meet(&s, "end");
	side_errors(&s, 40);
	for (uint32_t i = 0; i < s.n_err && i < 32; i++)
		full += s.err[i].ErrorCode == VIP_ERROR_CATASTROPHIC;
	b->v[2] = full;
	b->v[3] = s.n_err;
	side_close(&s);
	return 0;
}

/* T-09, T-12 */
static void test_rdma_errors(void **state)
{
	struct bench *b = *state;

	viprig_run(b, rdma_target, rdma_wrong);
	assert_true(b->v[2]);
	assert_true(b->v[3] < 40);
}

/* ---- RDMA read, which no reliability level offers ---- */

static const struct level {
	const char *nic;
	VIP_USHORT level;
} levels[] = {
	{ "hvia0", VIP_SERVICE_UNRELIABLE },
	{ "hvia0+reliable", VIP_SERVICE_UNRELIABLE },
	{ "hvia0+reliable", VIP_SERVICE_RELIABLE_DELIVERY },
	{ "hvia0+reliable", VIP_SERVICE_RELIABLE_RECEPTION },
};

static void open_level(struct side *s, struct weft_host *h, struct bench *b)
{
	const struct level *l = &levels[b->v[8]];
	VIP_MEM_ATTRIBUTES m = { 0 };
	VIP_VI_ATTRIBUTES a;
	VIP_VI_HANDLE vi;

	side_open(s, h, b, l->nic, 4096);
	side_handler(s);
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = l->level;
	side_vi(s, &s->vi);
	/* attributes cannot request RDMA read either */
	a = s->attr;
	a.EnableRdmaRead = VIP_TRUE;
	assert_int_equal(VipCreateVi(s->nic, &a, NULL, NULL, &vi),
			 VIP_INVALID_RDMAREAD);
	assert_int_equal(VipSetViAttributes(s->vi, &a), VIP_INVALID_RDMAREAD);
	m.Ptag = s->ptag;
	m.EnableRdmaRead = VIP_TRUE;
	assert_int_equal(VipSetMemAttributes(s->nic, s->desc, s->handle, &m),
			 VIP_INVALID_RDMAREAD);
}

static bool has_error(const struct side *s, VIP_ERROR_CODE code)
{
	for (uint32_t i = 0; i < s->n_err && i < 32; i++)
		if (s->err[i].ErrorCode == code)
			return true;
	return false;
}

/* Checks that an RDMA read ends with FORMAT_ERROR and moves no byte. Like any
 * error of a descriptor, this error ends a reliable connection, but an
 * unreliable one stays up. */
static int reads(struct weft_host *h, struct bench *b)
{
	bool reliable = levels[b->v[8]].level != VIP_SERVICE_UNRELIABLE;
	VIP_DESCRIPTOR *d, *got;
	struct side s;

	open_level(&s, h, b);
	side_connect(&s);
	fill(s.data, 100, 1);
	d = side_rdma(&s, 0, 0, 100, b->v[0], (uint32_t)b->v[1]);
	d->CS.Control = VIP_CONTROL_OP_RDMAREAD;
	side_send(&s, d);
	assert_int_equal(side_sent(&s, &got), VIP_STATUS_DONE |
						      VIP_STATUS_FORMAT_ERROR |
						      VIP_STATUS_OP_RDMA_READ);
	assert_ptr_equal(got, d);
	assert_true(filled(s.data, 100, 1));
	if (reliable)
		side_errors(&s, 1);
	assert_int_equal(has_error(&s, VIP_ERROR_CONN_LOST), reliable);
	assert_false(has_error(&s, VIP_ERROR_RDMAR_PROT));
	side_send(&s, side_desc(&s, 1, 0, 100));
	assert_int_equal(
		side_sent(&s, NULL),
		VIP_STATUS_DONE |
			(reliable ? VIP_STATUS_DESC_FLUSHED_ERROR : 0));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int is_read(struct weft_host *h, struct bench *b)
{
	bool reliable = levels[b->v[8]].level != VIP_SERVICE_UNRELIABLE;
	struct side s;

	open_level(&s, h, b);
	fill(s.data, 100, 2);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	side_recv(&s, side_desc(&s, 0, 200, 100));
	side_connect(&s);
	assert_int_equal(
		side_received(&s, NULL),
		VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
			(reliable ? VIP_STATUS_DESC_FLUSHED_ERROR : 0));
	assert_false(has_error(&s, VIP_ERROR_RDMAR_PROT));
	assert_true(filled(s.data, 100, 2));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-07 at every reliability level */
static void test_rdma_read(void **state)
{
	for (uint32_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct bench *b = viprig_bench();

		b->v[8] = i;
		viprig_run(b, is_read, reads);
		bench_free(b);
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_calls_refuse_bad_arguments),
		T(test_memory_above_4_gib_is_refused),
		T(test_post_desc),
		T(test_rdma_errors),
		cmocka_unit_test(test_rdma_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
