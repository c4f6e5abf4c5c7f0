/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: virtual interfaces (hvia.md 5.1, 6.1). */
#include "ulib/vipl_priv.h"

/* What the library offers: the card unreliable service alone (6.1). */
static VIP_RETURN attr_check(const struct vipl_nic *n,
			     const VIP_VI_ATTRIBUTES *a)
{
	uint32_t level = a->ReliabilityLevel;
	bool reliable = level == VIP_SERVICE_RELIABLE_DELIVERY ||
			level == VIP_SERVICE_RELIABLE_RECEPTION;

	if (level != VIP_SERVICE_UNRELIABLE && !(reliable && n->with_reliable))
		return VIP_INVALID_RELIABILITY_LEVEL;
	if (!a->MaxTransferSize || a->MaxTransferSize > VIPL_MAX_TRANSFER)
		return VIP_INVALID_MTU;
	if ((uintptr_t)a->QoS > VIPL_QOS_MAX)
		return VIP_INVALID_QOS;
	if ((uintptr_t)a->Ptag >= HVIA_PTAGS)
		return VIP_INVALID_PTAG;
	return a->EnableRdmaRead ? VIP_INVALID_RDMAREAD : VIP_SUCCESS;
}

static struct hvia_vi_attr attr_in(const VIP_VI_ATTRIBUTES *a)
{
	return (struct hvia_vi_attr){
		.reliability = a->ReliabilityLevel,
		.max_transfer = (uint32_t)a->MaxTransferSize,
		.qos = (uintptr_t)a->QoS,
		.ptag = (uint32_t)(uintptr_t)a->Ptag,
		.rdma_write = a->EnableRdmaWrite,
	};
}

void vipl_attr_out(VIP_VI_ATTRIBUTES *to, const struct hvia_vi_attr *a)
{
	if (to)
		*to = (VIP_VI_ATTRIBUTES){
			.ReliabilityLevel = a->reliability,
			.MaxTransferSize = a->max_transfer,
			.QoS = (VIP_QOS)(uintptr_t)a->qos,
			.Ptag = (VIP_PROTECTION_HANDLE)(uintptr_t)a->ptag,
			.EnableRdmaWrite = a->rdma_write,
			.EnableRdmaRead = a->rdma_read,
		};
}

static VIP_RETURN cqs_check(const struct vipl_nic *n, VIP_CQ_HANDLE s,
			    VIP_CQ_HANDLE r)
{
	if ((s && !vipl_cq(s)) || (r && !vipl_cq(r)) ||
	    (s && vipl_cq(s)->nic != n) || (r && vipl_cq(r)->nic != n))
		return VIP_INVALID_PARAMETER;
	return VIP_SUCCESS;
}

static VIP_RETURN vi_make(struct vipl_nic *n, struct vipl_vi *v,
			  const VIP_VI_ATTRIBUTES *attr, bool stamped)
{
	struct hvia_vi_arg a = { .client = n->client, .attr = attr_in(attr) };
	VIP_RETURN ret;

	a.attr.stamped = stamped;
	ret = vipl_call(n, HVIA_CALL_VI, &a);
	v->nic = n;
	v->vi = a.vi;
	v->k = a.k;
	for (uint32_t i = 0; i < 2; i++)
		v->q[i] = (struct vipl_queue){ .vi = v, .dir = i };
	if (ret == VIP_SUCCESS &&
	    attr->ReliabilityLevel != VIP_SERVICE_UNRELIABLE) {
		ret = vipl_rel_new(v);
		if (ret != VIP_SUCCESS)
			vipl_call(n, HVIA_CALL_VI_FREE, &a);
	}
	return ret;
}

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES *ViAttribs,
		       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
		       VIP_VI_HANDLE *ViHandle)
{
	struct weft_host *h = weft_host_self();
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct vipl_vi *v;
	VIP_RETURN ret;

	if (!n || !ViAttribs || !ViHandle)
		return VIP_INVALID_PARAMETER;
	ret = attr_check(n, ViAttribs);
	if (ret == VIP_SUCCESS)
		ret = cqs_check(n, SendCQHandle, RecvCQHandle);
	if (ret != VIP_SUCCESS)
		return ret;
	v = weft_host_calloc(h, 1, sizeof(*v));
	ret = v ? vi_make(n, v, ViAttribs, SendCQHandle || RecvCQHandle)
		: VIP_ERROR_RESOURCE;
	if (ret != VIP_SUCCESS) {
		weft_host_free(h, v);
		return ret;
	}
	vipl_cq_attach(vipl_cq(SendCQHandle), &v->q[HVIA_Q_SEND]);
	vipl_cq_attach(vipl_cq(RecvCQHandle), &v->q[HVIA_Q_RECV]);
	v->magic = VIPL_VI_MAGIC;
	v->next = n->vis;
	n->vis = v;
	n->n_vis++;
	*ViHandle = v;
	return VIP_SUCCESS;
}

static void vi_unlink(struct vipl_vi *v)
{
	struct vipl_vi **pp = &v->nic->vis;

	while (*pp != v)
		pp = &(*pp)->next;
	*pp = v->next;
	v->nic->n_vis--;
	v->magic = 0;
	for (uint32_t i = 0; i < 2; i++)
		vipl_cq_detach(&v->q[i]);
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *v = vipl_vi(ViHandle);
	struct hvia_vi_arg a;
	VIP_RETURN ret;

	if (!v)
		return VIP_INVALID_PARAMETER;
	if (v->q[0].n || v->q[1].n)
		return VIP_ERROR_RESOURCE;
	a = (struct hvia_vi_arg){ .vi = v->vi };
	ret = v->k->state == HVIA_VI_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE;
	if (ret != VIP_SUCCESS)
		return ret;
	if (v->rel)
		vipl_rel_free(v);
	ret = vipl_call(v->nic, HVIA_CALL_VI_FREE, &a);
	if (ret != VIP_SUCCESS)
		return ret;
	vi_unlink(v);
	weft_host_free(weft_host_self(), v);
	return VIP_SUCCESS;
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE *State,
		      VIP_VI_ATTRIBUTES *ViAttribs, VIP_BOOLEAN *ViSendQEmpty,
		      VIP_BOOLEAN *ViRecvQEmpty)
{
	static const VIP_VI_STATE state[] = {
		[HVIA_VI_IDLE] = VIP_STATE_IDLE,
		[HVIA_VI_PENDING] = VIP_STATE_CONNECT_PENDING,
		[HVIA_VI_CONNECTED] = VIP_STATE_CONNECTED,
		[HVIA_VI_ERROR] = VIP_STATE_ERROR,
	};
	struct vipl_vi *v = vipl_vi(ViHandle);

	if (!v || !State || !ViAttribs || !ViSendQEmpty || !ViRecvQEmpty)
		return VIP_INVALID_PARAMETER;
	weft_host_cpu(weft_host_self(), VIPL_POLL);
	*State = state[v->k->state];
	vipl_attr_out(ViAttribs, &v->k->attr);
	*ViSendQEmpty = !v->q[HVIA_Q_SEND].n;
	*ViRecvQEmpty = !v->q[HVIA_Q_RECV].n;
	return VIP_SUCCESS;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *ViAttribs)
{
	struct vipl_vi *v = vipl_vi(ViHandle);
	struct hvia_vi_arg a;
	VIP_RETURN ret;

	if (!v || !ViAttribs)
		return VIP_INVALID_PARAMETER;
	ret = attr_check(v->nic, ViAttribs);
	if (ret != VIP_SUCCESS)
		return ret;
	/* how a VI works was decided when it was made */
	if ((ViAttribs->ReliabilityLevel != VIP_SERVICE_UNRELIABLE) !=
	    (v->rel != NULL))
		return VIP_INVALID_RELIABILITY_LEVEL;
	a = (struct hvia_vi_arg){ .vi = v->vi, .attr = attr_in(ViAttribs) };
	a.attr.stamped = v->q[0].cq || v->q[1].cq;
	return vipl_call(v->nic, HVIA_CALL_VI_SET, &a);
}
