/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes and a user library, as a program of the simulator or as a process
 * (weft exec --raw). The output must be equal in both cases, to the
 * femtosecond.
 *
 * raw_libs rma|hostport|hostport-own|vipl|ep|ep-own|light [dies]
 *
 * -own: the program loads the Host Port's driver itself, because its node has
 * none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vipl.h>
#include <weft/ep.h>
#include <weft/hostport.h>
#include <weft/rma.h>

enum { ROUNDS = 40, BYTES = 1000 };

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("line %d: %s is wrong\n", __LINE__, #what);     \
			exit(1);                                               \
		}                                                              \
	} while (0)

static uint32_t me;
static bool dies; /* node 1 kills itself in its sixth round */

static void fill(uint8_t *p, size_t n, uint32_t from, uint32_t round)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(from * 59 + round * 7 + i);
}

static void check(const uint8_t *p, size_t n, uint32_t from, uint32_t round)
{
	uint8_t want[BYTES];

	fill(want, n, from, round);
	MUST(!memcmp(p, want, n));
}

static uint64_t meet(struct weft_host *h, const char *name, uint64_t mine)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%u", name, me);
	weft_oob_put(h, key, mine);
	snprintf(key, sizeof(key), "%s%u", name, !me);
	return weft_oob_get(h, key);
}

/* Plays ping-pong rounds. Node 0 begins. */
static void play(struct weft_host *h, const char *name, void *p,
		 void (*say)(void *p, uint32_t round),
		 void (*hear)(void *p, uint32_t round))
{
	weft_time_t t0 = weft_host_now(h), t1;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (me)
			hear(p, i);
		if (me && dies && i == 5)
			raise(SIGKILL);
		say(p, i);
		if (!me)
			hear(p, i);
	}
	t1 = weft_host_now(h);
	printf("%s, node %u: %d round trips, %llu to %llu fs, busy %llu fs\n",
	       name, me, ROUNDS, (unsigned long long)t0, (unsigned long long)t1,
	       (unsigned long long)weft_host_busy(h));
}

/* ---- RMA: puts with a notification ---- */

struct rma {
	struct rma_port *p;
	struct rma_handle *c;
	struct rma_region *r;
	uint8_t *out, *in;
	rma_nla_t there;
};

static void rma_say(void *arg, uint32_t round)
{
	struct rma *r = arg;

	fill(r->out, BYTES, me, round);
	MUST(!rma_post_put_bt(r->p, r->c, r->r, 0, BYTES, r->there,
			      RMA_NOTI_COMPLETER, 0));
}

static void rma_hear(void *arg, uint32_t round)
{
	struct rma *r = arg;
	struct rma_noti *n;

	MUST(!rma_noti_get_block(r->p, &n));
	MUST(n->bytes == BYTES && !n->error);
	MUST(!rma_noti_free(r->p, n));
	check(r->in, BYTES, !me, round);
}

static int run_rma(struct weft_host *h)
{
	struct rma r = { 0 };
	weft_phys_t phys;
	rma_nla_t mine;

	MUST(!rma_open(h, NULL, &r.p));
	r.out = weft_mem_alloc(h, 8192, 4096, &phys);
	r.in = r.out + 4096;
	MUST(r.out && !rma_register(r.p, r.out, 8192, &r.r));
	MUST(!rma_get_nla(r.r, 4096, &mine));
	r.there = meet(h, "nla", mine);
	MUST(!rma_connect(r.p, !me,
			  (uint32_t)meet(h, "vpid", rma_get_vpid(r.p)),
			  RMA_CONN_DEFAULT, &r.c));
	play(h, "rma", &r, rma_say, rma_hear);
	MUST(!rma_close(r.p));
	return 0;
}

/* ---- Host Port: short messages ---- */

struct hp {
	struct hport *p;
	struct hport_peer to;
};

static int hp_driver(struct weft_host *h, void *arg)
{
	return hport_serve(h, WEFT_US, true);
}

static void hp_say(void *arg, uint32_t round)
{
	struct hp *p = arg;
	const uint64_t words[3] = { round, me, 77 };
	struct hport_tag tag = { round, 5 };

	MUST(!hport_fast_send(p->p, &p->to, HPORT_ACK, tag, words, 3));
}

static void hp_hear(void *arg, uint32_t round)
{
	struct hp *p = arg;
	struct hport_note n;

	do
		MUST(hport_wait(p->p, &n, WEFT_NEVER) && !n.error);
	while (n.event != HPORT_MESSAGE);
	MUST(n.data[0] == round && n.data[1] == !me && n.data[2] == 77);
}

static int run_hostport(struct weft_host *h)
{
	struct hport_note n;
	struct hp p;

	MUST(!hport_open(h, NULL, &p.p));
	MUST(!hport_connect(p.p, !me, (uint32_t)meet(h, "hp", hport_vpid(p.p)),
			    &p.to));
	play(h, "hostport", &p, hp_say, hp_hear);
	while (hport_wait(p.p, &n, weft_host_now(h) + 20 * WEFT_US))
		MUST(!n.error);
	hport_close(p.p);
	return 0;
}

/* Runs the Host Port with its driver in a thread of this program. */
static int run_hostport_own(struct weft_host *h)
{
	MUST(weft_thread_start(h, hp_driver, NULL));
	return run_hostport(h);
}

/* ---- VIPL: pinned memory of the process itself ---- */

struct vip {
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE handle;
	struct {
		_Alignas(64) VIP_DESCRIPTOR out, in;
		uint8_t say[BYTES], hear[BYTES];
	} * m;
};

static VIP_DESCRIPTOR *vip_desc(struct vip *v, VIP_DESCRIPTOR *d, void *p)
{
	memset(d, 0, sizeof(*d));
	d->CS.Control = VIP_CONTROL_OP_SENDRECV;
	d->CS.Length = BYTES;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = v->handle;
	d->DS[0].Local.Length = BYTES;
	return d;
}

static void vip_expect(struct vip *v)
{
	MUST(VipPostRecv(v->vi, vip_desc(v, &v->m->in, v->m->hear),
			 v->handle) == VIP_SUCCESS);
}

static void vip_say(void *arg, uint32_t round)
{
	struct vip *v = arg;
	VIP_DESCRIPTOR *done;

	fill(v->m->say, BYTES, me, round);
	MUST(VipPostSend(v->vi, vip_desc(v, &v->m->out, v->m->say),
			 v->handle) == VIP_SUCCESS);
	MUST(VipSendWait(v->vi, VIP_INFINITE, &done) == VIP_SUCCESS);
}

static void vip_hear(void *arg, uint32_t round)
{
	struct vip *v = arg;
	VIP_DESCRIPTOR *done;
	VIP_RETURN ret;

	while ((ret = VipRecvDone(v->vi, &done)) == VIP_NOT_DONE)
		;
	MUST(ret == VIP_SUCCESS && done == &v->m->in);
	check(v->m->hear, BYTES, !me, round);
	vip_expect(v);
}

static VIP_NET_ADDRESS *vip_address(struct vip *v, uint32_t node)
{
	VIP_NET_ADDRESS *a = calloc(1, 64);
	char name[16];

	snprintf(name, sizeof(name), "n%u", node);
	MUST(VipNSGetHostByName(v->nic, name, a, 0) == VIP_SUCCESS);
	a->DiscriminatorLen = 4;
	memcpy(a->HostAddress + a->HostAddressLen, "vip0", 4);
	return a;
}

static void vip_connect(struct vip *v)
{
	VIP_NET_ADDRESS *here = vip_address(v, me), *there;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	VIP_RETURN ret;

	there = vip_address(v, !me);
	if (!me) {
		MUST(VipConnectWait(v->nic, here, VIP_INFINITE, there, &attr,
				    &conn) == VIP_SUCCESS);
		MUST(VipConnectAccept(conn, v->vi) == VIP_SUCCESS);
		return;
	}
	do
		ret = VipConnectRequest(v->vi, here, there, 1000, &attr);
	while (ret == VIP_NO_MATCH || ret == VIP_TIMEOUT);
	MUST(ret == VIP_SUCCESS);
}

static int run_vipl(struct weft_host *h)
{
	struct vip v = { 0 };
	VIP_MEM_ATTRIBUTES mem = { 0 };
	VIP_VI_ATTRIBUTES attr = { 0 };

	MUST(VipOpenNic("hvia0", &v.nic) == VIP_SUCCESS);
	MUST(VipNSInit(v.nic, NULL) == VIP_SUCCESS);
	MUST(VipCreatePtag(v.nic, &v.ptag) == VIP_SUCCESS);
	v.m = aligned_alloc(4096, 8192);
	mem.Ptag = v.ptag;
	MUST(v.m && VipRegisterMem(v.nic, v.m, sizeof(*v.m), &mem, &v.handle) ==
			    VIP_SUCCESS);
	attr.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
	attr.MaxTransferSize = 4096;
	attr.Ptag = v.ptag;
	MUST(VipCreateVi(v.nic, &attr, NULL, NULL, &v.vi) == VIP_SUCCESS);
	vip_expect(&v);
	vip_connect(&v);
	play(h, "vipl", &v, vip_say, vip_hear);
	return 0;
}

/* ---- the common endpoint, on any NIC ---- */

struct ep {
	struct weft_ep *ep;
	uint8_t *out, *in;
	struct weft_ep_mr there;
	uint32_t busy;
};

/* Waits for the next event of this kind. Counts sends and puts that complete
 * meanwhile. */
static void ep_await(struct ep *e, enum weft_ep_kind kind, uint32_t round)
{
	struct weft_ep_event ev;

	for (;;) {
		if (e->ep->ops->poll(e->ep, &ev, 1) < 1) {
			e->ep->ops->wait(e->ep, WEFT_NEVER);
			continue;
		}
		MUST(ev.kind != WEFT_EV_ERROR);
		e->busy -= ev.kind == WEFT_EV_SENT || ev.kind == WEFT_EV_PUT;
		if (ev.kind == WEFT_EV_RECV) {
			check(ev.data, ev.len, !me, round);
			e->ep->ops->release(e->ep, &ev);
		}
		if (ev.kind == kind)
			return;
	}
}

static void ep_say(void *arg, uint32_t round)
{
	struct ep *e = arg;
	int ret;

	while (e->busy)
		ep_await(e, round % 2 ? WEFT_EV_SENT : WEFT_EV_PUT, round);
	fill(e->out, 40, me, round);
	ret = round % 2 ? weft_ep_post(
				  e->ep,
				  &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							.dst = !me,
							.buf = e->out,
							.len = 40,
							.raddr = e->there.addr,
							.rkey = e->there.key,
							.notify = true,
							.imm = round,
							.ctx = e })
			: weft_ep_send(e->ep, !me, e->out, 40, round, e);
	MUST(!ret);
	e->busy++;
}

static void ep_hear(void *arg, uint32_t round)
{
	struct ep *e = arg;

	ep_await(e, round % 2 ? WEFT_EV_PUT_IN : WEFT_EV_RECV, round);
	if (round % 2)
		check(e->in, 40, !me, round);
}

/* Makes progress until time `until`, because operations of the other node need
 * the progress of this endpoint. */
static void ep_rest(struct ep *e, weft_time_t until)
{
	struct weft_ep_event ev;

	while (weft_host_now(e->ep->host) < until)
		if (e->ep->ops->poll(e->ep, &ev, 1) < 1)
			e->ep->ops->wait(e->ep, until);
}

static int run_ep(struct weft_host *h)
{
	const struct weft_ep_attr attr = { 0 };
	struct weft_ep_mr mr;
	struct ep e = { 0 };
	weft_phys_t phys;

	MUST(!weft_ep_open(h, &attr, &e.ep));
	e.out = weft_mem_alloc(h, 4096, 4096, &phys);
	e.in = weft_mem_alloc(h, 4096, 4096, &phys);
	MUST(e.out && e.in && !e.ep->ops->mr_reg(e.ep, e.in, 4096, &mr));
	e.there.addr = meet(h, "addr", mr.addr);
	e.there.key = meet(h, "key", mr.key);
	play(h, e.ep->info.name, &e, ep_say, ep_hear);
	ep_rest(&e, weft_host_now(h) + WEFT_MS);
	return 0;
}

static int run_ep_own(struct weft_host *h)
{
	MUST(weft_thread_start(h, hp_driver, NULL));
	return run_ep(h);
}

/* ---- calls that fail in a process ---- */

static int run_light(struct weft_host *h)
{
	bool ok = weft_procs_run(h, 1);

	printf("light processes: %s\n", ok ? "yes" : "no");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(struct weft_host *h);
	} runs[] = {
		{ "rma", run_rma },
		{ "hostport", run_hostport },
		{ "hostport-own", run_hostport_own },
		{ "vipl", run_vipl },
		{ "ep", run_ep },
		{ "ep-own", run_ep_own },
		{ "light", run_light },
	};
	struct weft_host *h = weft_host_self();

	if (!h)
		return 2;
	me = weft_host_node(h);
	dies = argc == 3 && !strcmp(argv[2], "dies");
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (argc > 1 && !strcmp(argv[1], runs[i].name))
			return runs[i].fn(h);
	return 2;
}
