/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL calls for NICs, protection tags and memory (hvia.md 6.1). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"

VIP_RETURN vipl_return(int err)
{
	static const struct {
		int err;
		VIP_RETURN ret;
	} tab[] = {
		{ 0, VIP_SUCCESS },
		{ -EINVAL, VIP_INVALID_PARAMETER },
		{ -ETIMEDOUT, VIP_TIMEOUT },
		{ -ECONNREFUSED, VIP_REJECT },
		{ -EPROTOTYPE, VIP_INVALID_RELIABILITY_LEVEL },
		{ -EMSGSIZE, VIP_INVALID_MTU },
		{ -ENOPROTOOPT, VIP_INVALID_QOS },
		{ -EPERM, VIP_INVALID_PTAG },
		{ -EBUSY, VIP_INVALID_STATE },
		{ -ENOENT, VIP_NO_MATCH },
	};

	for (size_t i = 0; i < sizeof(tab) / sizeof(tab[0]); i++)
		if (tab[i].err == err)
			return tab[i].ret;
	return VIP_ERROR_RESOURCE;
}

weft_time_t vipl_deadline(struct weft_host *h, VIP_ULONG ms)
{
	weft_time_t now = weft_host_now(h);

	if (ms == VIP_INFINITE || ms > (WEFT_NEVER - now) / WEFT_MS - 1)
		return WEFT_NEVER;
	return now + ms * WEFT_MS;
}

/* ---- NIC ---- */

/* Names under which programs for VI NICs of other makers open a card. Those
 * NICs had completion queues and reliable delivery. */
static const struct {
	/* format of the name with the number of the device. A name without a
	 * number means device 0 */
	const char *format;
	bool own;
} nic_names[] = {
	{ "hvia%u%n", true },	{ "clanvi%u%n", false },
	{ "via_lo%n", false },	{ "via_eth%u%n", false },
	{ "nic%u%n", false },	{ "via%u%n", false },
	{ "VINIC%u%n", false },
};
enum { NIC_NAMES = sizeof(nic_names) / sizeof(nic_names[0]) };

/* Parses "hvia0" and its options "+cq", "+reliable", or a name of another
 * NIC. */
static bool parse_name(struct vipl_nic *n, const char *name, uint32_t *dev_p)
{
	int used = 0;

	if (!strncmp(name, "/dev/", 5))
		name += 5;
	for (size_t i = 0; i < NIC_NAMES && !used; i++) {
		const char *f = nic_names[i].format;

		*dev_p = 0;
		if (strstr(f, "%u"))
			sscanf(name, f, dev_p, &used);
		else
			sscanf(name, f, &used);
		n->with_cq = n->with_reliable = !nic_names[i].own;
	}
	if (!used)
		return false;
	snprintf(n->name, sizeof(n->name), "hvia%u", *dev_p);
	for (name += used; *name; name += used) {
		if (!strncmp(name, "+cq", (size_t)(used = 3)))
			n->with_cq = true;
		else if (!strncmp(name, "+reliable", (size_t)(used = 9)))
			n->with_reliable = true;
		else
			return false;
	}
	return true;
}

static int nic_open(struct weft_host *h, struct vipl_nic *n)
{
	struct hvia_open o = { 0 };
	int ret = weft_drv_call(h, n->dev, HVIA_CALL_OPEN, &o);

	if (ret == -ENODEV) {
		ret = hvia_probe(h, n->dev) ? hvia_agent_load(h, n->dev)
					    : -ENODEV;
		if (!ret)
			ret = weft_drv_call(h, n->dev, HVIA_CALL_OPEN, &o);
	}
	n->client = o.client;
	n->version = o.version;
	n->payload = o.payload;
	memcpy(n->mac, o.mac, 6);
	if (ret)
		return ret;
	if (vipl_handles(o.number))
		n->self = vipl_handle(VIPL_NIC, n, 0);
	if (n->self)
		return 0;
	weft_drv_call(h, n->dev, HVIA_CALL_CLOSE,
		      &(struct hvia_close){ n->client });
	return -ENOMEM;
}

VIP_RETURN VipOpenNic(const VIP_CHAR *DeviceName, VIP_NIC_HANDLE *NicHandle)
{
	struct weft_host *h = weft_host_self();
	struct vipl_nic *n;
	uint32_t dev = 0;

	if (!DeviceName || !NicHandle || !h)
		return VIP_INVALID_PARAMETER;
	n = weft_host_calloc(h, 1, sizeof(*n));
	if (!n)
		return VIP_ERROR_RESOURCE;
	if (!parse_name(n, DeviceName, &dev)) {
		weft_host_free(h, n);
		return VIP_INVALID_PARAMETER;
	}
	n->dev = weft_dev_open(h, dev);
	if (!n->dev || nic_open(h, n)) {
		weft_host_free(h, n);
		return VIP_ERROR_RESOURCE;
	}
	*NicHandle = n->self;
	/* starts the thread, because it logs errors even without a handler */
	vipl_serve(n);
	return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle)
{
	struct vipl_nic *n = vipl_nic(NicHandle);

	if (!n)
		return VIP_INVALID_PARAMETER;
	if (n->n_vis || n->n_cqs)
		return VIP_ERROR_RESOURCE;
	vipl_forget(VIPL_NIC, NicHandle);
	vipl_forget_of(n);
	vipl_call(n, HVIA_CALL_CLOSE, &(struct hvia_close){ n->client });
	return VIP_SUCCESS;
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES *NicAttribs)
{
	struct vipl_nic *n = vipl_nic(NicHandle);

	if (!n || !NicAttribs)
		return VIP_INVALID_PARAMETER;
	*NicAttribs = (VIP_NIC_ATTRIBUTES){
		.HardwareVersion = n->version,
		.ProviderVersion = 1,
		.NicAddressLen = 6,
		.LocalNicAddress = n->mac,
		.ThreadSafe = VIP_TRUE,
		.MaxDiscriminatorLen = HVIA_DISC,
		.MaxRegisterBytes =
			(VIP_ULONG)(HVIA_SDRAM_BYTES - HVIA_L1_BYTES) /
			HVIA_L2_BYTES * HVIA_PAGE,
		.MaxRegisterRegions =
			HVIA_SDRAM_BYTES / (HVIA_L1_BYTES + HVIA_L2_BYTES),
		.MaxRegisterBlockBytes = UINT32_MAX,
		.MaxVI = HVIA_VIS,
		.MaxDescriptorsPerQueue = HVIA_QUEUE_MAX,
		.MaxSegmentsPerDesc = HVIA_SEGMENTS,
		.MaxCQ = n->with_cq ? VIPL_CQS : 0,
		.MaxCQEntries = n->with_cq ? VIPL_CQ_ENTRIES : 0,
		.MaxTransferSize = VIPL_MAX_TRANSFER,
		.NativeMTU = n->payload,
		.MaxPtags = HVIA_PTAGS - 1,
		.ReliabilityLevelSupport = VIP_SERVICE_UNRELIABLE,
	};
	if (n->with_reliable)
		NicAttribs->ReliabilityLevelSupport |=
			VIP_SERVICE_RELIABLE_DELIVERY |
			VIP_SERVICE_RELIABLE_RECEPTION;
	snprintf(NicAttribs->Name, sizeof(NicAttribs->Name), "%s", n->name);
	return VIP_SUCCESS;
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
			    VIP_ERROR_HANDLER ErrorHandler)
{
	struct vipl_nic *n = vipl_nic(NicHandle);

	if (!n)
		return VIP_INVALID_PARAMETER;
	n->handler = ErrorHandler;
	n->handler_ctx = Context;
	vipl_serve(n);
	return VIP_SUCCESS;
}

/* ---- protection tags ---- */

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE *Ptag)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_ptag_arg t = { 0 };
	VIP_RETURN ret;

	if (!n || !Ptag)
		return VIP_INVALID_PARAMETER;
	ret = vipl_call(n, HVIA_CALL_PTAG, &t);
	if (ret != VIP_SUCCESS)
		return ret;
	*Ptag = vipl_handle(VIPL_PTAG, n, t.ptag);
	if (*Ptag)
		return VIP_SUCCESS;
	vipl_call(n, HVIA_CALL_PTAG_FREE, &t);
	return VIP_ERROR_RESOURCE;
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_ptag_arg t = { 0 };
	VIP_RETURN ret;

	if (!n)
		return VIP_INVALID_PARAMETER;
	/* a wrong handle gives tag 0, which the agent refuses */
	t.ptag = vipl_tag(n, Ptag);
	ret = vipl_call(n, HVIA_CALL_PTAG_FREE, &t);
	if (ret == VIP_SUCCESS)
		vipl_forget(VIPL_PTAG, Ptag);
	return ret == VIP_INVALID_STATE ? VIP_ERROR_RESOURCE : ret;
}

/* ---- memory ---- */

static struct hvia_mem_arg mem_arg(struct vipl_nic *n, VIP_PVOID va,
				   VIP_MEM_HANDLE handle,
				   const VIP_MEM_ATTRIBUTES *a)
{
	struct hvia_mem_arg m = { .client = n->client,
				  .va = (uintptr_t)va,
				  .handle = handle };

	if (a) {
		m.ptag = vipl_tag(n, a->Ptag);
		m.rdma_write = a->EnableRdmaWrite;
	}
	return m;
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress,
			  VIP_ULONG Length, VIP_MEM_ATTRIBUTES *MemAttribs,
			  VIP_MEM_HANDLE *MemoryHandle)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_mem_arg m;
	VIP_RETURN ret;

	if (!n || !MemAttribs || !MemoryHandle)
		return VIP_INVALID_PARAMETER;
	if (MemAttribs->EnableRdmaRead)
		return VIP_INVALID_RDMAREAD;
	m = mem_arg(n, VirtualAddress, 0, MemAttribs);
	m.len = Length;
	ret = vipl_call(n, HVIA_CALL_REG, &m);
	if (ret == VIP_SUCCESS)
		*MemoryHandle = m.handle;
	return ret;
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress,
			    VIP_MEM_HANDLE MemoryHandle)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_mem_arg m;

	if (!n)
		return VIP_INVALID_PARAMETER;
	m = mem_arg(n, VirtualAddress, MemoryHandle, NULL);
	return vipl_call(n, HVIA_CALL_DEREG, &m);
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
		       VIP_MEM_HANDLE MemHandle, VIP_MEM_ATTRIBUTES *MemAttribs)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_mem_arg m;
	VIP_RETURN ret;

	if (!n || !MemAttribs)
		return VIP_INVALID_PARAMETER;
	m = mem_arg(n, Address, MemHandle, NULL);
	ret = vipl_call(n, HVIA_CALL_MEM_QUERY, &m);
	if (ret == VIP_SUCCESS)
		*MemAttribs = (VIP_MEM_ATTRIBUTES){
			.Ptag = vipl_tag_handle(n, m.ptag),
			.EnableRdmaWrite = m.rdma_write,
		};
	return ret;
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			       VIP_MEM_HANDLE MemHandle,
			       VIP_MEM_ATTRIBUTES *MemAttribs)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_mem_arg m;

	if (!n || !MemAttribs)
		return VIP_INVALID_PARAMETER;
	if (MemAttribs->EnableRdmaRead)
		return VIP_INVALID_RDMAREAD;
	m = mem_arg(n, Address, MemHandle, MemAttribs);
	return vipl_call(n, HVIA_CALL_MEM_SET, &m);
}
