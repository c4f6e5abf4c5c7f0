/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the workloads over VIPL, see vipl_program.h. */
#include "systems/hvia/programs/vipl_program.h"

#include <string.h>

#include "host/times.h"

enum { DISC = 7 };

bool vipl_program_ok(struct vipw *v, const char *what, VIP_RETURN ret)
{
	if (ret != VIP_SUCCESS)
		weft_check_failed(v->w.c, "%s returns %d", what, (int)ret);
	return ret == VIP_SUCCESS;
}

bool vipl_program_open(struct vipw *v, struct weft_comp *c, const char *nic)
{
	uint64_t mac = 0;

	*v = (struct vipw){ .w = program_from(c) };
	if (!vipl_program_ok(v, "VipOpenNic", VipOpenNic(nic, &v->nic)) ||
	    !vipl_program_ok(v, "VipQueryNic", VipQueryNic(v->nic, &v->attr)) ||
	    !vipl_program_ok(v, "VipCreatePtag",
			     VipCreatePtag(v->nic, &v->ptag)))
		return false;
	for (uint32_t i = 0; i < 6; i++)
		mac = mac << 8 | v->attr.LocalNicAddress[i];
	program_put(&v->w, "vip.mac", mac);
	return true;
}

void vipl_program_close(struct vipw *v)
{
	VIP_DESCRIPTOR *d;

	vipl_program_ok(v, "VipDisconnect", VipDisconnect(v->vi));
	do
		VipSendDone(v->vi, &d);
	while (d);
	do
		VipRecvDone(v->vi, &d);
	while (d);
	vipl_program_ok(v, "VipDestroyVi", VipDestroyVi(v->vi));
	vipl_program_ok(v, "VipCloseNic", VipCloseNic(v->nic));
}

VIP_DESCRIPTOR *vipl_program_mem(struct vipw *v, uint32_t n, size_t bytes,
				 bool rdma_write, uint8_t **data_p,
				 VIP_MEM_HANDLE *handle_p)
{
	VIP_MEM_ATTRIBUTES a = { .Ptag = v->ptag,
				 .EnableRdmaWrite = rdma_write };
	size_t head = (n * sizeof(VIP_DESCRIPTOR) + 4095) & ~4095ul;
	uint8_t *p = weft_host_calloc(v->w.h, 1, head + bytes + 4096);

	if (!p)
		return NULL;
	p += -(uintptr_t)p & 4095;
	if (!vipl_program_ok(
		    v, "VipRegisterMem",
		    VipRegisterMem(v->nic, p, head + bytes, &a, handle_p)))
		return NULL;
	*data_p = p + head;
	return (VIP_DESCRIPTOR *)p;
}

void vipl_program_desc(VIP_DESCRIPTOR *d, void *data, VIP_MEM_HANDLE handle,
		       uint32_t bytes)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = bytes ? 1 : 0;
	d->CS.Length = bytes;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = bytes;
}

bool vipl_program_vi(struct vipw *v, uint32_t level, bool rdma_write)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = (VIP_RELIABILITY_LEVEL)level,
		.MaxTransferSize = v->attr.MaxTransferSize,
		.Ptag = v->ptag,
		.EnableRdmaWrite = rdma_write,
	};

	return vipl_program_ok(v, "VipCreateVi",
			       VipCreateVi(v->nic, &a, NULL, NULL, &v->vi));
}

void vipl_program_addr(struct vipw *v, uint32_t node, uint32_t disc,
		       union vipl_program_addr *to)
{
	uint64_t mac = program_get(&v->w, "vip.mac", node);

	memset(to, 0, sizeof(*to));
	to->a.HostAddressLen = 6;
	to->a.DiscriminatorLen = 4;
	for (uint32_t i = 0; i < 6; i++)
		to->bytes[4 + i] = (uint8_t)(mac >> 8 * (5 - i));
	memcpy(to->bytes + 10, &disc, 4);
}

bool vipl_program_connect(struct vipw *v, uint32_t peer)
{
	union vipl_program_addr local, remote;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	VIP_RETURN ret;

	vipl_program_addr(v, v->w.me, DISC, &local);
	vipl_program_addr(v, peer, DISC, &remote);
	if (v->w.me < peer)
		return vipl_program_ok(v, "VipConnectWait",
				       VipConnectWait(v->nic, &local.a,
						      VIP_INFINITE, &remote.a,
						      &attr, &conn)) &&
		       vipl_program_ok(v, "VipConnectAccept",
				       VipConnectAccept(conn, v->vi));
	do { /* until the peer listens */
		host_nap(v->w.h, T_hvia_connect_poll);
		ret = VipConnectRequest(v->vi, &local.a, &remote.a,
					VIP_INFINITE, &attr);
	} while (ret == VIP_NO_MATCH);
	return vipl_program_ok(v, "VipConnectRequest", ret);
}
