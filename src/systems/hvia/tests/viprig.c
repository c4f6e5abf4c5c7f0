/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL on a bench: see viprig.h. */
#include "viprig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench *viprig_bench(void)
{
	struct bench *b = hvrig_bench();
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < 2; i++)
		if (weft_preset_apply(b->node[i].host, "hvia", &err))
			abort();
	return b;
}

int viprig_setup(void **state)
{
	*state = viprig_bench();
	return 0;
}

void viprig_run(struct bench *b, node_fn zero, node_fn one)
{
	bench_prog(b, 0, zero);
	if (one)
		bench_prog(b, 1, one);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
}

/* ---- faults ---- */

static const struct vip_fault *chosen;
static void (*wire)(struct bench *b);

static void join_bad(struct bench *b)
{
	struct weft_err err = { 0 };

	wire(b);
	for (uint32_t i = 0; i < 2 && chosen->cls; i++) {
		char name[8];
		struct weft_comp *c;

		snprintf(name, sizeof(name), "bad%u", i);
		c = weft_sim_find(b->sim, name);
		if (weft_filter_add(&b->node[i].dev->ports[1], c, &err))
			fail_msg("%s", err.msg);
	}
}

struct bench *viprig_run_with(const struct vip_fault *f, node_fn zero,
			      node_fn one)
{
	struct bench *b = viprig_bench();
	struct weft_err err = { 0 };

	chosen = f;
	wire = b->join;
	b->join = join_bad;
	for (uint32_t i = 0; i < 2 && f->cls; i++) {
		char name[8];
		struct weft_comp *c;

		snprintf(name, sizeof(name), "bad%u", i);
		c = weft_sim_add(b->sim, f->cls, name, &err);
		for (uint32_t k = 0; k < 3 && f->param[k]; k++)
			if (weft_param_set(c, f->param[k], f->value[k], &err))
				fail_msg("%s", err.msg);
	}
	viprig_run(b, zero, one);
	return b;
}

/* ---- things ---- */

void side_vi(struct side *s, VIP_VI_HANDLE *vi)
{
	ok(VipCreateVi(s->nic, &s->attr, NULL, NULL, vi));
}

void side_open(struct side *s, struct weft_host *h, struct bench *b,
	       const char *nic, uint32_t bytes)
{
	side_open_few(s, h, b, nic, VIPRIG_DESCS, bytes);
}

void side_open_few(struct side *s, struct weft_host *h, struct bench *b,
		   const char *nic, uint32_t n, uint32_t bytes)
{
	size_t descs = n * sizeof(s->desc[0]);
	uint8_t *p;

	memset(s, 0, sizeof(*s));
	s->h = h;
	s->b = b;
	ok(VipOpenNic(nic, &s->nic));
	ok(VipCreatePtag(s->nic, &s->ptag));
	s->attr = (VIP_VI_ATTRIBUTES){
		.ReliabilityLevel = VIP_SERVICE_UNRELIABLE,
		.MaxTransferSize = 1 << 21,
		.Ptag = s->ptag,
		.EnableRdmaWrite = VIP_TRUE,
	};
	s->mem_attr = (VIP_MEM_ATTRIBUTES){ .Ptag = s->ptag,
					    .EnableRdmaWrite = VIP_TRUE };
	p = weft_host_calloc(h, 1, descs + bytes + 64);
	p += -(uintptr_t)p & 63;
	s->desc = (void *)p;
	s->data = p + descs;
	ok(VipRegisterMem(s->nic, p, descs + bytes, &s->mem_attr, &s->handle));
	side_vi(s, &s->vi);
}

void side_drain(struct side *s)
{
	VIP_DESCRIPTOR *d;

	ok(VipDisconnect(s->vi));
	do
		VipSendDone(s->vi, &d);
	while (d);
	do
		VipRecvDone(s->vi, &d);
	while (d);
}

void side_close(struct side *s)
{
	side_drain(s);
	ok(VipDestroyVi(s->vi));
	ok(VipDeregisterMem(s->nic, s->desc, s->handle));
	ok(VipDestroyPtag(s->nic, s->ptag));
	ok(VipCloseNic(s->nic));
}

static void collect(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	struct side *s = ctx;

	if (s->n_err < 32)
		s->err[s->n_err] = *e;
	s->n_err++;
}

void side_handler(struct side *s)
{
	ok(VipErrorCallback(s->nic, s, collect));
}

void side_errors(struct side *s, uint32_t n)
{
	weft_time_t end = weft_host_now(s->h) + 5 * WEFT_MS;

	while (s->n_err < n && weft_host_now(s->h) < end)
		weft_host_sleep(s->h, weft_host_now(s->h) + 10 * WEFT_US);
}

/* ---- connections ---- */

void vip_addr(struct side *s, uint32_t node, const char *disc,
	      union vip_addr *to)
{
	VIP_NIC_ATTRIBUTES a;

	ok(VipQueryNic(s->nic, &a));
	memset(to, 0, sizeof(*to));
	to->a.HostAddressLen = 6;
	to->a.DiscriminatorLen = (VIP_UINT16)strlen(disc);
	memcpy(to->bytes + 4, a.LocalNicAddress, 6);
	to->bytes[9] = (uint8_t)node;
	memcpy(to->bytes + 10, disc, strlen(disc));
}

void side_wait(struct side *s, VIP_VI_HANDLE vi, const char *disc)
{
	union vip_addr local, from;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;

	vip_addr(s, weft_host_node(s->h), disc, &local);
	ok(VipConnectWait(s->nic, &local.a, VIP_INFINITE, &from.a, &attr,
			  &conn));
	ok(VipConnectAccept(conn, vi));
}

void side_request(struct side *s, VIP_VI_HANDLE vi, uint32_t node,
		  const char *disc)
{
	union vip_addr local, remote;
	VIP_VI_ATTRIBUTES attr;
	VIP_RETURN ret;

	vip_addr(s, weft_host_node(s->h), disc, &local);
	vip_addr(s, node, disc, &remote);
	do {
		weft_host_sleep(s->h, weft_host_now(s->h) + 30 * WEFT_US);
		ret = VipConnectRequest(vi, &local.a, &remote.a, VIP_INFINITE,
					&attr);
	} while (ret == VIP_NO_MATCH);
	assert_int_equal(ret, VIP_SUCCESS);
}

void side_connect(struct side *s)
{
	if (weft_host_node(s->h) == 0)
		side_wait(s, s->vi, "rig");
	else
		side_request(s, s->vi, 0, "rig");
}

/* ---- transfers ---- */

VIP_DESCRIPTOR *side_desc(struct side *s, uint32_t i, uint32_t offset,
			  uint32_t bytes)
{
	VIP_DESCRIPTOR *d = &s->desc[i].d;

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = bytes;
	d->DS[0].Local.Data.Address = s->data + offset;
	d->DS[0].Local.Handle = s->handle;
	d->DS[0].Local.Length = bytes;
	return d;
}

VIP_DESCRIPTOR *side_rdma(struct side *s, uint32_t i, uint32_t offset,
			  uint32_t bytes, uint64_t va, uint32_t handle)
{
	VIP_DESCRIPTOR *d = side_desc(s, i, offset, bytes);

	d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
	d->CS.SegCount = 2;
	d->DS[1] = d->DS[0];
	d->DS[0].Remote.Data.AddressBits = va;
	d->DS[0].Remote.Handle = handle;
	d->DS[0].Remote.Reserved = 0;
	return d;
}

void side_send(struct side *s, VIP_DESCRIPTOR *d)
{
	ok(VipPostSend(s->vi, d, s->handle));
}

void side_recv(struct side *s, VIP_DESCRIPTOR *d)
{
	ok(VipPostRecv(s->vi, d, s->handle));
}

static uint32_t poll_for(struct side *s, VIP_DESCRIPTOR **d_p,
			 VIP_RETURN (*fn)(VIP_VI_HANDLE, VIP_DESCRIPTOR **))
{
	weft_time_t end = weft_host_now(s->h) + 50 * WEFT_MS;
	VIP_DESCRIPTOR *d = NULL;
	VIP_RETURN ret;

	while ((ret = fn(s->vi, &d)) == VIP_NOT_DONE &&
	       weft_host_now(s->h) < end)
		weft_host_cpu(s->h, 200 * WEFT_NS);
	if (d_p)
		*d_p = d;
	if (!d)
		return 0;
	assert_int_equal(ret, d->CS.Status & VIP_STATUS_ERROR_MASK
				      ? VIP_DESCRIPTOR_ERROR
				      : VIP_SUCCESS);
	return d->CS.Status;
}

uint32_t side_sent(struct side *s, VIP_DESCRIPTOR **d_p)
{
	return poll_for(s, d_p, VipSendDone);
}

uint32_t side_received(struct side *s, VIP_DESCRIPTOR **d_p)
{
	return poll_for(s, d_p, VipRecvDone);
}

void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)((i + seed) * 2654435761u >> 23);
}

bool filled(const uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i] != (uint8_t)((i + seed) * 2654435761u >> 23))
			return false;
	return true;
}

void meet(struct side *s, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.%u", name, weft_host_node(s->h));
	weft_oob_put(s->h, key, 1);
	for (uint32_t i = 0; i < weft_host_nodes(s->h); i++) {
		snprintf(key, sizeof(key), "%s.%u", name, i);
		weft_oob_get(s->h, key);
	}
}
