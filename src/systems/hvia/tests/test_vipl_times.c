/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of VIPL: its result, its duration (processor time of the library:
 * hvia.md 7.1, 7.5), and its numbers of register stores and loads, most of
 * which the kernel agent makes. When a row differs, all rows are printed. */
#include "viprig.h"

#include <string.h>

struct row {
	const char *what;
	VIP_RETURN ret;
	uint64_t ns, stores, loads;
};

enum { ROWS = 100 };

static struct row seen[ROWS];
static uint32_t n_seen;

static uint64_t counted(const struct side *s, const char *name)
{
	return bench_counter(s->b->node[0].bus, name);
}

static void begin(struct side *s, struct row *r)
{
	r->stores = counted(s, "pio_stores");
	r->loads = counted(s, "pio_loads");
	r->ns = weft_host_now(s->h) / WEFT_NS;
}

/* Records the result and duration of a call. Waits until posted stores have
 * arrived before it counts stores and loads. */
static void note(struct side *s, const char *what, VIP_RETURN ret,
		 const struct row *from)
{
	uint64_t ns = weft_host_now(s->h) / WEFT_NS - from->ns;

	weft_host_sleep(s->h, weft_host_now(s->h) + 2 * WEFT_US);
	assert_true(n_seen < ROWS);
	seen[n_seen++] = (struct row){ what, ret, ns,
				       counted(s, "pio_stores") - from->stores,
				       counted(s, "pio_loads") - from->loads };
}

#define T(what, call)                                                          \
	do {                                                                   \
		struct row from_;                                              \
                                                                               \
		begin(s, &from_);                                              \
		note(s, what, call, &from_);                                   \
	} while (0)

static bool differs(const struct row *a, const struct row *b)
{
	return strcmp(a->what, b->what) || a->ret != b->ret || a->ns != b->ns ||
	       a->stores != b->stores || a->loads != b->loads;
}

static void same(const struct row *want, uint32_t n)
{
	bool bad = n != n_seen;

	for (uint32_t i = 0; i < n_seen && !bad; i++)
		bad = differs(&seen[i], &want[i]);
	for (uint32_t i = 0; i < n_seen && bad; i++)
		print_error("\t{ \"%s\", %d, %u, %u, %u },%s\n", seen[i].what,
			    seen[i].ret, (unsigned)seen[i].ns,
			    (unsigned)seen[i].stores, (unsigned)seen[i].loads,
			    i < n && differs(&seen[i], &want[i]) ? " /* ! */"
								 : "");
	assert_false(bad);
}

/* ---- the calls ---- */

struct things {
	VIP_PROTECTION_HANDLE tag;
	VIP_MEM_HANDLE one, five;
	VIP_VI_HANDLE plain, queued[2], sure;
	VIP_CQ_HANDLE cq, small;
	uint8_t *mem;
};

static void making(struct side *s, struct things *t)
{
	VIP_MEM_ATTRIBUTES m = s->mem_attr;
	VIP_NIC_ATTRIBUTES a;

	t->mem = weft_host_align(s->h, HVIA_PAGE, 8 * HVIA_PAGE);
	T("query nic", VipQueryNic(s->nic, &a));
	T("create tag", VipCreatePtag(s->nic, &t->tag));
	T("register 1 page", VipRegisterMem(s->nic, t->mem, 100, &m, &t->one));
	T("register 5 pages",
	  VipRegisterMem(s->nic, t->mem + 5000, 16000, &m, &t->five));
	T("query memory", VipQueryMem(s->nic, t->mem, t->one, &m));
	m.Ptag = t->tag;
	T("set memory", VipSetMemAttributes(s->nic, t->mem, t->one, &m));
	T("create cq", VipCreateCQ(s->nic, 8, &t->cq));
	T("resize cq", VipResizeCQ(t->cq, 5));
	T("create cq of one", VipCreateCQ(s->nic, 1, &t->small));
	T("create vi", VipCreateVi(s->nic, &s->attr, NULL, NULL, &t->plain));
	T("create vi with cq",
	  VipCreateVi(s->nic, &s->attr, t->cq, t->cq, &t->queued[0]));
	T("create vi with two",
	  VipCreateVi(s->nic, &s->attr, t->small, t->cq, &t->queued[1]));
	s->attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
	T("create reliable vi",
	  VipCreateVi(s->nic, &s->attr, NULL, NULL, &t->sure));
	s->attr.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
}

static void attributes(struct side *s, struct things *t)
{
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;
	VIP_BOOLEAN empty[2];

	T("query vi", VipQueryVi(t->plain, &state, &a, empty, empty + 1));
	a.MaxTransferSize = 4096;
	T("set vi", VipSetViAttributes(t->plain, &a));
	T("set handler", VipErrorCallback(s->nic, NULL, NULL));
	T("begin names", VipNSInit(s->nic, NULL));
	T("end names", VipNSShutdown(s->nic));
}

static void empty_queues(struct side *s, struct things *t)
{
	VIP_VI_HANDLE from;
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;

	T("send done, none", VipSendDone(t->plain, &d));
	T("receive wait, none", VipRecvWait(t->plain, 1, &d));
	T("post receive",
	  VipPostRecv(t->plain, side_desc(s, 0, 0, 64), s->handle));
	T("receive done, not yet", VipRecvDone(t->plain, &d));
	T("receive wait, 1 ms", VipRecvWait(t->plain, 1, &d));
	T("cq done, three queues", VipCQDone(t->cq, &from, &recv));
	T("cq done, one queue", VipCQDone(t->small, &from, &recv));
	T("cq wait, 1 ms", VipCQWait(t->cq, 1, &from, &recv));
	T("receive wait with cq", VipRecvWait(t->queued[0], 1, &d));
	T("peer done, none", VipConnectPeerDone(t->plain, NULL));
}

static VIP_RETURN dial(struct side *s, VIP_VI_HANDLE vi, const char *disc,
		       VIP_ULONG ms)
{
	union vip_addr from, to;
	VIP_VI_ATTRIBUTES a;

	vip_addr(s, 0, disc, &from);
	vip_addr(s, 1, disc, &to);
	return VipConnectRequest(vi, &from.a, &to.a, ms, &a);
}

static void connecting(struct side *s, struct things *t)
{
	union vip_addr me, from;
	VIP_VI_ATTRIBUTES a;
	VIP_CONN_HANDLE conn;

	vip_addr(s, 0, "none", &me);
	T("connect, no server", dial(s, t->plain, "absent", 5));
	meet(s, "listens");
	T("connect", dial(s, t->plain, "a", 50));
	T("connect again", dial(s, t->plain, "a", 50));
	meet(s, "second");
	T("connect with cq", dial(s, t->queued[0], "b", 50));
	meet(s, "third");
	T("connect reliable", dial(s, t->sure, "c", 50));
	T("listen, 2 ms", VipConnectWait(s->nic, &me.a, 2, &from.a, &a, &conn));
	vip_addr(s, 1, "none", &from);
	T("peer request",
	  VipConnectPeerRequest(t->queued[1], &me.a, &from.a, 2));
	T("peer done, not yet", VipConnectPeerDone(t->queued[1], &a));
	T("peer wait", VipConnectPeerWait(t->queued[1], &a));
}

static void sending(struct side *s, struct things *t)
{
	VIP_VI_HANDLE from;
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;

	meet(s, "connected");
	T("post send",
	  VipPostSend(t->plain, side_desc(s, 1, 0, 64), s->handle));
	T("send done, not yet", VipSendDone(t->plain, &d));
	T("send wait", VipSendWait(t->plain, 50, &d));
	T("post long send",
	  VipPostSend(t->plain, side_desc(s, 1, 0, 4096), s->handle));
	T("long send wait", VipSendWait(t->plain, 50, &d));
	T("post too long a send",
	  VipPostSend(t->plain, side_desc(s, 1, 0, 4097), s->handle));
	weft_host_sleep(s->h, weft_host_now(s->h) + WEFT_MS);
	T("send done with error", VipSendDone(t->plain, &d));
	T("post send with cq",
	  VipPostSend(t->queued[0], side_desc(s, 2, 0, 64), s->handle));
	T("cq wait", VipCQWait(t->cq, 50, &from, &recv));
	T("send done of cq", VipSendDone(t->queued[0], &d));
	T("post reliable send",
	  VipPostSend(t->sure, side_desc(s, 3, 0, 3000), s->handle));
	T("reliable send wait", VipSendWait(t->sure, 50, &d));
	T("receive wait", VipRecvWait(t->plain, 50, &d));
}

static void ending(struct side *s, struct things *t)
{
	VIP_DESCRIPTOR *d;

	T("disconnect", VipDisconnect(t->plain));
	T("disconnect again", VipDisconnect(t->plain));
	T("disconnect with cq", VipDisconnect(t->queued[0]));
	T("disconnect reliable", VipDisconnect(t->sure));
	T("destroy vi", VipDestroyVi(t->plain));
	T("destroy vi with cq", VipDestroyVi(t->queued[0]));
	T("destroy cq in use", VipDestroyCQ(t->cq));
	T("destroy vi with two", VipDestroyVi(t->queued[1]));
	T("destroy cq", VipDestroyCQ(t->cq));
	T("destroy reliable vi", VipDestroyVi(t->sure));
	T("send done of no vi", VipSendDone(t->plain, &d));
	T("destroy tag in use", VipDestroyPtag(s->nic, t->tag));
	T("deregister 1 page", VipDeregisterMem(s->nic, t->mem, t->one));
	T("deregister 5 pages",
	  VipDeregisterMem(s->nic, t->mem + 5000, t->five));
	T("destroy tag", VipDestroyPtag(s->nic, t->tag));
	T("close nic in use", VipCloseNic(s->nic));
}

static int caller(struct weft_host *h, struct bench *b)
{
	struct side side, *s = &side;
	struct things t;

	n_seen = 0;
	side_open(s, h, b, "hvia0+cq+reliable", 8192);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	making(s, &t);
	attributes(s, &t);
	empty_queues(s, &t);
	connecting(s, &t);
	sending(s, &t);
	ending(s, &t);
	meet(s, "end");
	weft_host_exit(h, 0);
}

static int listener(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_VI_HANDLE vi[2];
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0+cq+reliable", 8192);
	side_vi(&s, &vi[0]);
	s.attr.MaxTransferSize = 4096; /* equal to that of the other side */
	ok(VipSetViAttributes(s.vi, &s.attr));
	s.attr.MaxTransferSize = 1 << 21;
	s.attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
	side_vi(&s, &vi[1]);
	for (uint32_t i = 0; i < 2; i++)
		ok(VipPostRecv(s.vi, side_desc(&s, i, 0, 4096), s.handle));
	ok(VipPostRecv(vi[0], side_desc(&s, 2, 0, 64), s.handle));
	ok(VipPostRecv(vi[1], side_desc(&s, 3, 0, 4096), s.handle));
	meet(&s, "listens");
	side_wait(&s, s.vi, "a");
	meet(&s, "second");
	side_wait(&s, vi[0], "b");
	meet(&s, "third");
	side_wait(&s, vi[1], "c");
	meet(&s, "connected");
	ok(VipRecvWait(vi[1], VIP_INFINITE, &d));
	side_send(&s, side_desc(&s, 4, 0, 64));
	assert_int_not_equal(side_sent(&s, NULL), 0);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

/* columns: call, result, duration in ns, numbers of stores and loads */
static const struct row rows[] = {
	{ "query nic", VIP_SUCCESS, 1, 0, 0 },
	{ "create tag", VIP_SUCCESS, 202, 0, 0 },
	{ "register 1 page", VIP_SUCCESS, 202, 8, 0 },
	{ "register 5 pages", VIP_SUCCESS, 572, 12, 0 },
	{ "query memory", VIP_SUCCESS, 202, 0, 0 },
	{ "set memory", VIP_SUCCESS, 1620, 7, 1 },
	{ "create cq", VIP_SUCCESS, 1, 0, 0 },
	{ "resize cq", VIP_SUCCESS, 1, 0, 0 },
	{ "create cq of one", VIP_SUCCESS, 1, 0, 0 },
	{ "create vi", VIP_SUCCESS, 202, 3, 0 },
	{ "create vi with cq", VIP_SUCCESS, 202, 3, 0 },
	{ "create vi with two", VIP_SUCCESS, 202, 3, 0 },
	{ "create reliable vi", VIP_SUCCESS, 3385, 43, 0 },
	{ "query vi", VIP_SUCCESS, 21, 0, 0 },
	{ "set vi", VIP_SUCCESS, 202, 3, 0 },
	{ "set handler", VIP_SUCCESS, 1, 0, 0 },
	{ "begin names", VIP_SUCCESS, 1, 0, 0 },
	{ "end names", VIP_SUCCESS, 1, 0, 0 },
	{ "send done, none", VIP_DESCRIPTOR_ERROR, 21, 0, 0 },
	{ "receive wait, none", VIP_DESCRIPTOR_ERROR, 21, 0, 0 },
	{ "post receive", VIP_SUCCESS, 901, 1, 0 },
	{ "receive done, not yet", VIP_NOT_DONE, 21, 0, 0 },
	{ "receive wait, 1 ms", VIP_TIMEOUT, 1000523, 1, 1 },
	{ "cq done, three queues", VIP_NOT_DONE, 61, 0, 0 },
	{ "cq done, one queue", VIP_NOT_DONE, 21, 0, 0 },
	{ "cq wait, 1 ms", VIP_TIMEOUT, 1000563, 0, 0 },
	{ "receive wait with cq", VIP_ERROR_RESOURCE, 1, 0, 0 },
	{ "peer done, none", VIP_INVALID_STATE, 21, 0, 0 },
	{ "connect, no server", VIP_NO_MATCH, 40131, 22, 10 },
	{ "connect", VIP_SUCCESS, 49786, 36, 17 },
	{ "connect again", VIP_INVALID_STATE, 203, 0, 0 },
	{ "connect with cq", VIP_SUCCESS, 49788, 36, 17 },
	{ "connect reliable", VIP_SUCCESS, 164970, 102, 18 },
	{ "listen, 2 ms", VIP_TIMEOUT, 2000002, 0, 0 },
	{ "peer request", VIP_SUCCESS, 1844, 17, 1 },
	{ "peer done, not yet", VIP_NOT_DONE, 21, 0, 0 },
	{ "peer wait", VIP_TIMEOUT, 1997054, 17, 1 },
	{ "post send", VIP_SUCCESS, 901, 1, 0 },
	{ "send done, not yet", VIP_NOT_DONE, 21, 0, 0 },
	{ "send wait", VIP_SUCCESS, 420, 0, 0 },
	{ "post long send", VIP_SUCCESS, 901, 1, 0 },
	{ "long send wait", VIP_SUCCESS, 25516, 3, 4 },
	{ "post too long a send", VIP_SUCCESS, 901, 1, 0 },
	{ "send done with error", VIP_DESCRIPTOR_ERROR, 420, 0, 0 },
	{ "post send with cq", VIP_SUCCESS, 901, 1, 0 },
	{ "cq wait", VIP_SUCCESS, 1945, 2, 3 },
	{ "send done of cq", VIP_SUCCESS, 420, 0, 0 },
	{ "post reliable send", VIP_SUCCESS, 810, 0, 0 },
	{ "reliable send wait", VIP_SUCCESS, 66691, 15, 11 },
	{ "receive wait", VIP_SUCCESS, 420, 0, 0 },
	{ "disconnect", VIP_SUCCESS, 3005, 18, 2 },
	{ "disconnect again", VIP_SUCCESS, 1353, 4, 1 },
	{ "disconnect with cq", VIP_SUCCESS, 2992, 18, 2 },
	{ "disconnect reliable", VIP_SUCCESS, 97195, 50, 89 },
	{ "destroy vi", VIP_SUCCESS, 14489, 4, 15 },
	{ "destroy vi with cq", VIP_SUCCESS, 1285, 1, 2 },
	{ "destroy cq in use", VIP_ERROR_RESOURCE, 1, 1, 2 },
	{ "destroy vi with two", VIP_SUCCESS, 8041, 2, 7 },
	{ "destroy cq", VIP_SUCCESS, 1, 0, 0 },
	{ "destroy reliable vi", VIP_SUCCESS, 2571, 5, 2 },
	{ "send done of no vi", VIP_INVALID_PARAMETER, 1, 0, 0 },
	{ "destroy tag in use", VIP_ERROR_RESOURCE, 202, 0, 0 },
	{ "deregister 1 page", VIP_SUCCESS, 1291, 4, 1 },
	{ "deregister 5 pages", VIP_SUCCESS, 1286, 4, 1 },
	{ "destroy tag", VIP_SUCCESS, 202, 0, 0 },
	{ "close nic in use", VIP_ERROR_RESOURCE, 1, 0, 0 },
};

static void calls_take_their_time(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, caller, listener);
	bench_free(b);
	same(rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_take_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
