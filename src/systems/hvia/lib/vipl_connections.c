/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL calls for connections, the name service and management (hvia.md 5.1,
 * 6.1, 6.3). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/times.h"
#include "systems/hvia/lib/vipl_internal.h"

/* ---- addresses ---- */

/* Reads an address: host address of 6 bytes, then the discriminator. */
static bool addr_in(const VIP_NET_ADDRESS *a, struct hvia_addr *to)
{
	if (!a || a->HostAddressLen != 6 || a->DiscriminatorLen > HVIA_DISC)
		return false;
	memset(to, 0, sizeof(*to));
	memcpy(to->mac, a->HostAddress, 6);
	to->len = (uint8_t)a->DiscriminatorLen;
	memcpy(to->disc, (const uint8_t *)a->HostAddress + 6, to->len);
	return true;
}

static void addr_out(VIP_NET_ADDRESS *to, const struct hvia_addr *a)
{
	to->HostAddressLen = 6;
	to->DiscriminatorLen = a->len;
	memcpy((uint8_t *)to->HostAddress, a->mac, 6);
	memcpy((uint8_t *)to->HostAddress + 6, a->disc, a->len);
}

/* ---- client and server ---- */

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS *LocalAddr,
			  VIP_ULONG Timeout, VIP_NET_ADDRESS *RemoteAddr,
			  VIP_VI_ATTRIBUTES *RemoteViAttribs,
			  VIP_CONN_HANDLE *ConnHandle)
{
	struct weft_host *h = weft_host_self();
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_conn_arg c = { 0 };
	VIP_RETURN ret;

	if (!n || !RemoteAddr || !ConnHandle || !addr_in(LocalAddr, &c.local) ||
	    memcmp(c.local.mac, n->mac, 6))
		return VIP_INVALID_PARAMETER;
	c.client = n->client;
	c.deadline = vipl_deadline(h, Timeout);
	ret = vipl_call(n, HVIA_CALL_LISTEN, &c);
	if (ret != VIP_SUCCESS)
		return ret;
	/* returns no request if the NIC was closed meanwhile */
	*ConnHandle =
		vipl_nic(NicHandle) ? vipl_handle(VIPL_CONN, n, c.conn) : NULL;
	if (!*ConnHandle) {
		vipl_call(n, HVIA_CALL_REJECT, &c);
		return VIP_ERROR_RESOURCE;
	}
	addr_out(RemoteAddr, &c.remote);
	vipl_attr_out(RemoteViAttribs, &c.remote_attr, NULL);
	return VIP_SUCCESS;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle)
{
	const struct vipl_entry *conn = vipl_find(VIPL_CONN, ConnHandle);
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_conn_arg c = { 0 };
	VIP_RETURN ret;

	if (!conn || !v || v->nic != conn->of)
		return vipl_vi_leave(v, VIP_INVALID_PARAMETER);
	c.vi = v->vi;
	c.conn = conn->val;
	if (v->rel)
		vipl_rel_connected(v);
	ret = vipl_call(v->nic, HVIA_CALL_ACCEPT, &c);
	if (ret == VIP_SUCCESS || ret == VIP_TIMEOUT)
		/* after another error the handle stays valid, because the
		 * program may try again */
		vipl_forget(VIPL_CONN, ConnHandle);
	return vipl_vi_leave(v, ret);
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle)
{
	const struct vipl_entry *conn = vipl_find(VIPL_CONN, ConnHandle);
	struct hvia_conn_arg c = { 0 };
	struct vipl_nic *n;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	n = conn->of;
	c.conn = conn->val;
	vipl_forget(VIPL_CONN, ConnHandle);
	return vipl_call(n, HVIA_CALL_REJECT, &c);
}

/* Checks the arguments of VipConnectRequest and VipConnectPeerRequest. Fills in
 * *c for the call of the agent. */
static VIP_RETURN conn_begin(struct vipl_vi *v, const VIP_NET_ADDRESS *local,
			     const VIP_NET_ADDRESS *remote, VIP_ULONG timeout,
			     struct hvia_conn_arg *c)
{
	static const uint8_t none[6];

	if (!v || !timeout || !addr_in(local, &c->local) ||
	    !addr_in(remote, &c->remote) ||
	    memcmp(c->local.mac, v->nic->mac, 6))
		return VIP_INVALID_PARAMETER;
	/* refuses the address, because no station has a group address or the
	 * zero address, and no line leads from a card to itself */
	if (c->remote.mac[0] & 1 || !memcmp(c->remote.mac, none, 6) ||
	    !memcmp(c->remote.mac, v->nic->mac, 6))
		return VIP_NOT_REACHABLE;
	c->client = v->nic->client;
	c->vi = v->vi;
	c->deadline = vipl_deadline(weft_host_self(), timeout);
	if (v->rel)
		vipl_rel_connected(v);
	return VIP_SUCCESS;
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS *LocalAddr,
			     VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_conn_arg c = { 0 };
	VIP_RETURN ret = conn_begin(v, LocalAddr, RemoteAddr, Timeout, &c);

	if (ret == VIP_SUCCESS)
		ret = vipl_call(v->nic, HVIA_CALL_REQUEST, &c);
	if (ret == VIP_SUCCESS)
		vipl_attr_out(RemoteViAttribs, &c.remote_attr, NULL);
	return vipl_vi_leave(v, ret);
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_conn_arg c = { 0 };
	VIP_RETURN ret;

	if (!v)
		return VIP_INVALID_PARAMETER;
	c.vi = v->vi;
	if (v->rel)
		vipl_rel_last(v);
	ret = vipl_call(v->nic, HVIA_CALL_DISCONNECT, &c);
	if (v->rel)
		vipl_rel_ended(v);
	vipl_queue_flush(&v->q[HVIA_Q_SEND]);
	vipl_queue_flush(&v->q[HVIA_Q_RECV]);
	return vipl_vi_leave(v, ret);
}

/* ---- peers ---- */

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle,
				 VIP_NET_ADDRESS *LocalAddr,
				 VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_conn_arg c = { 0 };
	VIP_RETURN ret = conn_begin(v, LocalAddr, RemoteAddr, Timeout, &c);

	if (ret == VIP_SUCCESS)
		ret = vipl_call(v->nic, HVIA_CALL_PEER, &c);
	return vipl_vi_leave(v, ret);
}

static VIP_RETURN peer_done(const struct vipl_vi *v, VIP_VI_ATTRIBUTES *remote)
{
	if (!v)
		return VIP_INVALID_PARAMETER;
	weft_host_cpu(weft_host_self(),
		      weft_host_time(weft_host_self(), T_vipl_poll));
	switch (v->k->conn) {
	case HVIA_CONN_ASKED:
	case HVIA_CONN_ACCEPTED:
		return VIP_NOT_DONE;
	case HVIA_CONN_UP:
		vipl_attr_out(remote, &v->k->remote_attr, NULL);
		return VIP_SUCCESS;
	case HVIA_CONN_ENDED:
		return vipl_return(v->k->result);
	default: /* no request was made */
		return VIP_INVALID_STATE;
	}
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(v, peer_done(v, RemoteViAttribs));
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	for (;;) {
		uint32_t seen = v ? v->k->event : 0;
		VIP_RETURN ret = peer_done(v, RemoteViAttribs);

		if (ret != VIP_NOT_DONE)
			return vipl_vi_leave(v, ret);
		weft_host_wait(weft_host_self(), &v->k->event, seen,
			       WEFT_NEVER);
	}
}

/* ---- name service: "n3" is node 3 ---- */

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo)
{
	struct vipl_nic *n = vipl_nic(NicHandle);

	if (!n)
		return VIP_INVALID_PARAMETER;
	n->names = true;
	return VIP_SUCCESS;
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle)
{
	struct vipl_nic *n = vipl_nic(NicHandle);

	if (!n)
		return VIP_INVALID_PARAMETER;
	if (!n->names)
		return VIP_ERROR_NAMESERVICE;
	n->names = false;
	return VIP_SUCCESS;
}

/* Returns the address of a node: the card's own address with the node's number
 * in the last two bytes. The addresses of all cards have the form
 * 02:00:00:00:hh:ll, where hh:ll is the number of the node. */
static struct hvia_addr node_addr(const struct vipl_nic *n, uint32_t node)
{
	struct hvia_addr a = { 0 };

	memcpy(a.mac, n->mac, 4);
	a.mac[4] = (uint8_t)(node >> 8);
	a.mac[5] = (uint8_t)node;
	return a;
}

/* Returns the address of a host. A host has only the address of index 0. */
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR *Name,
			      VIP_NET_ADDRESS *Address, VIP_ULONG NameIndex)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_addr a;
	uint32_t node;
	int used = 0;

	if (!n || !Name || !Address)
		return VIP_INVALID_PARAMETER;
	if (!n->names || NameIndex ||
	    sscanf(Name, "n%u%n", &node, &used) != 1 || Name[used] ||
	    node >= weft_host_nodes(weft_host_self()))
		return VIP_ERROR_NAMESERVICE;
	a = node_addr(n, node);
	addr_out(Address, &a);
	return VIP_SUCCESS;
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle,
			      VIP_NET_ADDRESS *Address, VIP_CHAR *Name,
			      VIP_ULONG *NameLen)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct hvia_addr a, want;
	char text[16];
	uint32_t node;

	if (!n || !Name || !NameLen || !addr_in(Address, &a))
		return VIP_INVALID_PARAMETER;
	node = (uint32_t)a.mac[4] << 8 | a.mac[5];
	want = node_addr(n, node);
	if (!n->names || node >= weft_host_nodes(weft_host_self()) ||
	    memcmp(want.mac, a.mac, 6))
		return VIP_ERROR_NAMESERVICE;
	snprintf(text, sizeof(text), "n%u", node);
	if (*NameLen <= strlen(text)) {
		*NameLen = strlen(text) + 1;
		return VIP_ERROR_RESOURCE;
	}
	strcpy(Name, text);
	*NameLen = strlen(text) + 1;
	return VIP_SUCCESS;
}

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle,
					VIP_ULONG InfoType,
					VIP_PVOID SysManInfo)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	VIP_AUTODISCOVERY_LIST *list = SysManInfo;
	uint32_t nodes = weft_host_nodes(weft_host_self());

	if (!n || !list)
		return VIP_INVALID_PARAMETER;
	if (InfoType != VIP_SMI_AUTODISCOVERY)
		return VIP_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < nodes && i < list->NumAdAddrs; i++) {
		struct hvia_addr a = node_addr(n, i);

		addr_out(list->ADAddrArray[i], &a);
	}
	list->NumberOfHops = 1;
	list->NumAdAddrs = nodes;
	return VIP_SUCCESS;
}
