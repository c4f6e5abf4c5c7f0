/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: every call refuses a handle that was given back, is of another kind or
 * another program, is NULL, or is any other number (hvia.md 6.1). */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"

enum { KINDS = 6, FALSE_ONES = 32 };

/* One valid handle of each kind, and further arguments of the calls. */
struct things {
	struct side s;
	VIP_CQ_HANDLE cq;
	VIP_CONN_HANDLE conn;
	union vip_addr here, there;
};

/* ---- calls by kind ---- */

static void never(VIP_PVOID ctx, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_DESCRIPTOR *d)
{
	(void)ctx, (void)nic, (void)vi, (void)d;
	abort();
}

static void never_cq(VIP_PVOID ctx, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		     VIP_BOOLEAN recv)
{
	(void)ctx, (void)nic, (void)vi, (void)recv;
	abort();
}

#define refused(call) assert_int_equal(call, VIP_INVALID_PARAMETER)

static void nic_refused(struct things *t, void *x)
{
	VIP_AUTODISCOVERY_LIST list = { 0 };
	VIP_PROTECTION_HANDLE tag;
	VIP_VI_ATTRIBUTES remote;
	VIP_NIC_ATTRIBUTES nic;
	VIP_CONN_HANDLE conn;
	VIP_MEM_ATTRIBUTES m;
	VIP_MEM_HANDLE mem;
	VIP_ULONG len = 8;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	char name[8];

	refused(VipQueryNic(x, &nic));
	refused(VipCreatePtag(x, &tag));
	refused(VipDestroyPtag(x, t->s.ptag));
	refused(VipRegisterMem(x, t->s.data, 8, &t->s.mem_attr, &mem));
	refused(VipDeregisterMem(x, t->s.desc, t->s.handle));
	refused(VipQueryMem(x, t->s.desc, t->s.handle, &m));
	refused(VipSetMemAttributes(x, t->s.desc, t->s.handle, &t->s.mem_attr));
	refused(VipCreateVi(x, &t->s.attr, NULL, NULL, &vi));
	refused(VipCreateCQ(x, 4, &cq));
	refused(VipErrorCallback(x, NULL, NULL));
	refused(VipConnectWait(x, &t->here.a, 0, &t->there.a, &remote, &conn));
	refused(VipNSInit(x, NULL));
	refused(VipNSGetHostByName(x, "n1", &t->there.a, 0));
	refused(VipNSGetHostByAddr(x, &t->here.a, name, &len));
	refused(VipNSShutdown(x));
	refused(VipQuerySystemManagementInfo(x, VIP_SMI_AUTODISCOVERY, &list));
	refused(VipCloseNic(x));
}

static void vi_refused(struct things *t, void *x)
{
	VIP_DESCRIPTOR *d = side_desc(&t->s, 0, 0, 8), *got;
	VIP_VI_ATTRIBUTES a = t->s.attr;
	VIP_BOOLEAN send, recv;
	VIP_VI_STATE state;

	refused(VipPostSend(x, d, t->s.handle));
	refused(VipPostRecv(x, d, t->s.handle));
	refused(VipSendDone(x, &got));
	refused(VipRecvDone(x, &got));
	refused(VipSendWait(x, 0, &got));
	refused(VipRecvWait(x, 0, &got));
	refused(VipSendNotify(x, NULL, never));
	refused(VipRecvNotify(x, NULL, never));
	refused(VipConnectAccept(t->conn, x));
	refused(VipConnectRequest(x, &t->here.a, &t->there.a, 1, &a));
	refused(VipConnectPeerRequest(x, &t->here.a, &t->there.a, 1));
	refused(VipConnectPeerDone(x, &a));
	refused(VipConnectPeerWait(x, &a));
	refused(VipDisconnect(x));
	refused(VipQueryVi(x, &state, &a, &send, &recv));
	refused(VipSetViAttributes(x, &t->s.attr));
	refused(VipDestroyVi(x));
}

static void cq_refused(struct things *t, void *x)
{
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	refused(VipCQDone(x, &vi, &recv));
	refused(VipCQWait(x, 0, &vi, &recv));
	refused(VipCQNotify(x, NULL, never_cq));
	refused(VipResizeCQ(x, 8));
	refused(VipDestroyCQ(x));
	/* VipCreateVi accepts NULL, because a VI need not have a completion
	 * queue */
	if (!x)
		return;
	refused(VipCreateVi(t->s.nic, &t->s.attr, x, NULL, &vi));
	refused(VipCreateVi(t->s.nic, &t->s.attr, NULL, x, &vi));
}

static void conn_refused(struct things *t, void *x)
{
	refused(VipConnectAccept(x, t->s.vi));
	refused(VipConnectReject(x));
}

static void tag_refused(struct things *t, void *x)
{
	VIP_MEM_ATTRIBUTES m = { .Ptag = x };
	VIP_VI_ATTRIBUTES a = t->s.attr;
	VIP_MEM_HANDLE mem;
	VIP_VI_HANDLE vi;

	a.Ptag = x;
	refused(VipDestroyPtag(t->s.nic, x));
	assert_int_equal(VipRegisterMem(t->s.nic, t->s.data, 8, &m, &mem),
			 VIP_INVALID_PTAG);
	assert_int_equal(
		VipSetMemAttributes(t->s.nic, t->s.desc, t->s.handle, &m),
		VIP_INVALID_PTAG);
	assert_int_equal(VipCreateVi(t->s.nic, &a, NULL, NULL, &vi),
			 VIP_INVALID_PTAG);
	assert_int_equal(VipSetViAttributes(t->s.vi, &a), VIP_INVALID_PTAG);
}

/* Checks that calls refuse x as a memory handle. Skips x if it is the handle in
 * use, because a memory handle is the card's own index, so that a new region
 * can have the handle of an earlier one. */
static void mem_refused(struct things *t, void *x)
{
	VIP_MEM_HANDLE m = (VIP_MEM_HANDLE)(uintptr_t)x;
	VIP_MEM_ATTRIBUTES a;

	if (m == t->s.handle)
		return;
	refused(VipQueryMem(t->s.nic, t->s.desc, m, &a));
	refused(VipSetMemAttributes(t->s.nic, t->s.desc, m, &t->s.mem_attr));
	refused(VipDeregisterMem(t->s.nic, t->s.desc, m));
}

static void (*const refused_by[KINDS])(struct things *t, void *x) = {
	nic_refused,  vi_refused,  cq_refused,
	conn_refused, tag_refused, mem_refused,
};

/* ---- the objects ---- */

static void open_things(struct things *t, struct weft_host *h, struct bench *b)
{
	VIP_VI_ATTRIBUTES remote;

	side_open(&t->s, h, b, "hvia0+cq+reliable", 4096);
	ok(VipCreateCQ(t->s.nic, 4, &t->cq));
	vip_addr(&t->s, 0, "handles", &t->here);
	vip_addr(&t->s, 1, "handles", &t->there);
	ok(VipConnectWait(t->s.nic, &t->here.a, VIP_INFINITE, &t->there.a,
			  &remote, &t->conn));
	vip_addr(&t->s, 1, "handles", &t->there);
}

static void handles(struct things *t, void *x[KINDS])
{
	void *const all[KINDS] = { t->s.nic,  t->s.vi,
				   t->cq,     t->conn,
				   t->s.ptag, (void *)(uintptr_t)t->s.handle };

	memcpy(x, all, sizeof(all));
}

/* Runs the other node. The tested node uses this node's handles as wrong
 * handles, and refuses this node's request for a connection. */
static int asker(struct weft_host *h, struct bench *b)
{
	union vip_addr here, there;
	VIP_VI_ATTRIBUTES remote;
	struct side s;

	side_open(&s, h, b, "hvia0+cq+reliable", 4096);
	b->v[0] = (uintptr_t)s.nic;
	b->v[1] = (uintptr_t)s.vi;
	b->v[2] = (uintptr_t)s.ptag;
	vip_addr(&s, 1, "handles", &here);
	vip_addr(&s, 0, "handles", &there);
	assert_int_equal(VipConnectRequest(s.vi, &here.a, &there.a,
					   VIP_INFINITE, &remote),
			 VIP_REJECT);
	side_close(&s);
	return 0;
}

/* ---- tests ---- */

/* Returns wrong handles: numbers, addresses, handles of the other program,
 * values next to valid ones. */
static uint32_t false_ones(struct bench *b, struct things *t,
			   void *const own[KINDS], void *x[FALSE_ONES])
{
	uint64_t r = 0x9e3779b97f4a7c15u;
	uint32_t n = 0;

	x[n++] = NULL;
	x[n++] = (void *)1;
	x[n++] = (void *)UINTPTR_MAX;
	x[n++] = t;
	x[n++] = t->s.data;
	for (uint32_t i = 0; i < 3; i++)
		x[n++] = (void *)(uintptr_t)b->v[i];
	for (uint32_t i = 0; i < KINDS - 1; i++)
		/* the next generation of the slot */
		x[n++] = (uint8_t *)own[i] + (1u << 20);
	for (uint32_t i = 0; i < KINDS - 1; i++)
		/* the next slot of the table */
		x[n++] = (uint8_t *)own[i] + 1;
	while (n < FALSE_ONES) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		x[n++] = (void *)(uintptr_t)r;
	}
	return n;
}

/* Returns whether x is a valid handle, because a value next to a handle may be
 * another handle. */
static bool is_own(void *const own[KINDS], const void *x)
{
	for (uint32_t i = 0; i < KINDS; i++)
		if (own[i] == x)
			return true;
	return false;
}

static int false_handles(struct weft_host *h, struct bench *b)
{
	void *own[KINDS], *x[FALSE_ONES];
	struct things t;
	uint32_t n;

	open_things(&t, h, b);
	handles(&t, own);
	n = false_ones(b, &t, own, x);
	for (uint32_t k = 0; k < KINDS; k++) {
		for (uint32_t i = 0; i < n; i++)
			if (!is_own(own, x[i]))
				refused_by[k](&t, x[i]);
		for (uint32_t i = 0; i < KINDS - 1; i++)
			if (i != k)
				refused_by[k](&t, own[i]);
	}
	ok(VipConnectReject(t.conn)); /* all valid handles work as before */
	ok(VipDestroyCQ(t.cq));
	side_close(&t.s);
	return 0;
}

static void test_false_handles_are_refused(void **state)
{
	viprig_run(*state, false_handles, asker);
}

/* Runs one of two programs of a node, which make the same kinds of objects in
 * the same order. The library refuses the handles of the other program. */
static int neighbour(struct weft_host *h, struct bench *b)
{
	uint32_t me = (uint32_t)b->v[8]++;
	VIP_PROTECTION_HANDLE tag;
	VIP_NIC_ATTRIBUTES a;
	VIP_NIC_HANDLE nic;

	ok(VipOpenNic("hvia0", &nic));
	ok(VipCreatePtag(nic, &tag));
	b->v[2 * me] = (uintptr_t)nic;
	b->v[2 * me + 1] = (uintptr_t)tag;
	weft_oob_put(h, me ? "made1" : "made0", 1);
	weft_oob_get(h, me ? "made0" : "made1");
	refused(VipQueryNic((VIP_NIC_HANDLE)(uintptr_t)b->v[2 * !me], &a));
	refused(VipDestroyPtag(
		nic, (VIP_PROTECTION_HANDLE)(uintptr_t)b->v[2 * !me + 1]));
	ok(VipQueryNic(nic, &a));
	ok(VipDestroyPtag(nic, tag));
	ok(VipCloseNic(nic));
	return 0;
}

static void test_handles_belong_to_their_program(void **state)
{
	bench_prog(*state, 0, neighbour);
	viprig_run(*state, neighbour, NULL);
}

/* Checks that every call refuses a handle that was given back, also after a new
 * handle of the same kind has taken its slot. */
static int stale_handles(struct weft_host *h, struct bench *b)
{
	void *old[KINDS];
	struct things t;
	VIP_PROTECTION_HANDLE tag;
	VIP_NIC_HANDLE nic;

	open_things(&t, h, b);
	handles(&t, old);
	ok(VipConnectReject(t.conn));
	conn_refused(&t, old[3]);
	ok(VipDestroyCQ(t.cq));
	cq_refused(&t, old[2]);
	ok(VipCreateCQ(t.s.nic, 4, &t.cq));
	cq_refused(&t, old[2]);
	ok(VipDestroyVi(t.s.vi));
	vi_refused(&t, old[1]);
	side_vi(&t.s, &t.s.vi);
	vi_refused(&t, old[1]);
	ok(VipCreatePtag(t.s.nic, &tag));
	ok(VipDestroyPtag(t.s.nic, tag));
	tag_refused(&t, tag);
	old[4] = tag;
	/* gives the same tag of the card again */
	ok(VipCreatePtag(t.s.nic, &tag));
	tag_refused(&t, old[4]);
	ok(VipDestroyPtag(t.s.nic, tag));
	ok(VipOpenNic("hvia0", &nic));
	ok(VipCloseNic(nic));
	nic_refused(&t, nic);
	old[0] = nic;
	ok(VipOpenNic("hvia0", &nic));
	nic_refused(&t, old[0]);
	tag_refused(&t, nic);
	ok(VipCloseNic(nic));
	ok(VipDestroyCQ(t.cq));
	side_close(&t.s);
	mem_refused(&t, old[5]);
	nic_refused(&t, t.s.nic);
	return 0;
}

static void test_stale_handles_are_refused(void **state)
{
	viprig_run(*state, stale_handles, asker);
}

/* Checks that tags, VIs and requests of one NIC are invalid for another NIC,
 * and that closing a NIC frees them. */
static int other_nic(struct weft_host *h, struct bench *b)
{
	VIP_MEM_ATTRIBUTES m = { 0 };
	VIP_NIC_HANDLE nic;
	VIP_MEM_HANDLE mem;
	struct things t;

	open_things(&t, h, b);
	ok(VipOpenNic("hvia0", &nic));
	ok(VipCreatePtag(nic, &m.Ptag));
	assert_int_equal(VipRegisterMem(t.s.nic, t.s.data, 8, &m, &mem),
			 VIP_INVALID_PTAG);
	refused(VipDestroyPtag(t.s.nic, m.Ptag));
	ok(VipCloseNic(nic));
	tag_refused(&t, m.Ptag);
	ok(VipConnectReject(t.conn));
	ok(VipDestroyCQ(t.cq));
	side_close(&t.s);
	return 0;
}

static void test_handles_belong_to_their_nic(void **state)
{
	viprig_run(*state, other_nic, asker);
}

/* Handles that were given back leave their slots to new handles, so that the
 * table of a program that makes and destroys objects does not grow. */
static int reused_slots(struct weft_host *h, struct bench *b)
{
	enum { TAGS = 5, ROUNDS = 4, SLOT = (1 << 20) - 1 };
	VIP_PROTECTION_HANDLE tag[TAGS];
	uint64_t seen = 0, first = 0;
	VIP_NIC_HANDLE nic;

	ok(VipOpenNic("hvia0", &nic));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (uint32_t k = 0; k < TAGS; k++) {
			ok(VipCreatePtag(nic, &tag[k]));
			assert_in_range((uintptr_t)tag[k] & SLOT, 0, 63);
			seen |= 1ull << ((uintptr_t)tag[k] & SLOT);
		}
		first = first ? first : seen;
		for (uint32_t k = 0; k < TAGS; k++)
			ok(VipDestroyPtag(nic, tag[k]));
	}
	assert_int_equal(seen, first);
	ok(VipCloseNic(nic));
	return 0;
}

static void slots_of_destroyed_objects_are_used_again(void **state)
{
	viprig_run(*state, reused_slots, NULL);
}

/* ---- a call of another thread ---- */

struct waiting {
	struct things *t;
	VIP_RETURN ret;
	bool begun, over;
};

static int waits(struct weft_host *h, void *arg)
{
	struct waiting *w = arg;
	VIP_DESCRIPTOR *d;

	w->begun = true;
	w->ret = VipRecvWait(w->t->s.vi, VIP_INFINITE, &d);
	w->over = true;
	return 0;
}

/* Checks that an object is not destroyed while a call of another thread uses
 * it. */
static int destroyed_in_wait(struct weft_host *h, struct bench *b)
{
	struct things t;
	struct waiting w = { .t = &t };
	VIP_DESCRIPTOR *d;

	open_things(&t, h, b);
	ok(VipConnectReject(t.conn));
	side_recv(&t.s, side_desc(&t.s, 0, 0, 8));
	weft_thread_start(h, waits, &w);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_true(w.begun && !w.over);
	ok(VipDisconnect(t.s.vi));
	assert_int_equal(VipRecvDone(t.s.vi, &d), VIP_DESCRIPTOR_ERROR);
	assert_non_null(d);
	assert_int_equal(VipDestroyVi(t.s.vi), VIP_ERROR_RESOURCE);
	/* the other thread continues to wait */
	side_recv(&t.s, side_desc(&t.s, 1, 0, 8));
	ok(VipDisconnect(t.s.vi));
	/* this call wakes all threads, which check their condition again */
	ok(VipErrorCallback(t.s.nic, NULL, NULL));
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_true(w.over);
	assert_int_equal(w.ret, VIP_DESCRIPTOR_ERROR);
	ok(VipDestroyCQ(t.cq));
	side_close(&t.s);
	return 0;
}

static void test_waiting_calls_keep_their_vi(void **state)
{
	viprig_run(*state, destroyed_in_wait, asker);
}

/* ---- memory ---- */

/* Checks that a destroyed VI frees its memory: the next VI is at the same
 * address, because an allocation takes a free block of its size. A reliable VI
 * keeps its block until its thread has ended. */
static int makes_another(struct weft_host *h, struct bench *b)
{
	const struct vipl_vi *first;
	struct side s;

	side_open(&s, h, b, "hvia0+reliable", 4096);
	first = vipl_vi(s.vi);
	for (uint32_t i = 0; i < 2; i++) {
		ok(VipDestroyVi(s.vi));
		weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
		s.attr.ReliabilityLevel = i ? VIP_SERVICE_UNRELIABLE
					    : VIP_SERVICE_RELIABLE_DELIVERY;
		side_vi(&s, &s.vi);
		assert_ptr_equal(vipl_vi(s.vi), first);
	}
	side_close(&s);
	return 0;
}

static void a_vi_that_is_destroyed_gives_back_its_memory(void **state)
{
	viprig_run(*state, makes_another, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_false_handles_are_refused,
						viprig_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_handles_belong_to_their_program, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			slots_of_destroyed_objects_are_used_again, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(test_stale_handles_are_refused,
						viprig_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_handles_belong_to_their_nic, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_waiting_calls_keep_their_vi, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			a_vi_that_is_destroyed_gives_back_its_memory,
			viprig_setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
