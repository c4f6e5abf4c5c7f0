/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: virtual interfaces (hvia.md 5.1, 6.1). */
#include "host/times.h"
#include "systems/hvia/lib/vipl_internal.h"

/* Checks attributes of a VI. Reliable service needs the option "+reliable" of
 * the NIC, because the card offers unreliable service only (6.1). */
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
	if (!vipl_tag(n, a->Ptag))
		return VIP_INVALID_PTAG;
	return a->EnableRdmaRead ? VIP_INVALID_RDMAREAD : VIP_SUCCESS;
}

static struct hvia_vi_attr attr_in(const struct vipl_nic *n,
				   const VIP_VI_ATTRIBUTES *a)
{
	return (struct hvia_vi_attr){
		.reliability = a->ReliabilityLevel,
		.max_transfer = (uint32_t)a->MaxTransferSize,
		.qos = (uintptr_t)a->QoS,
		.ptag = vipl_tag(n, a->Ptag),
		.rdma_write = a->EnableRdmaWrite,
	};
}

void vipl_attr_out(VIP_VI_ATTRIBUTES *to, const struct hvia_vi_attr *a,
		   const struct vipl_nic *n)
{
	if (to)
		*to = (VIP_VI_ATTRIBUTES){
			.ReliabilityLevel = a->reliability,
			.MaxTransferSize = a->max_transfer,
			.QoS = (VIP_QOS)(uintptr_t)a->qos,
			.Ptag = n ? vipl_tag_handle(n, a->ptag) : NULL,
			.EnableRdmaWrite = a->rdma_write,
			.EnableRdmaRead = a->rdma_read,
		};
}

void vipl_vi_drop(struct vipl_vi *v)
{
	struct weft_host *h = weft_host_self();

	if (--v->held)
		return;
	for (uint32_t i = 0; i < 2; i++)
		weft_host_free(h, v->q[i].ring);
	weft_host_free(h, v);
}

/* Makes a VI. The completion queues may be NULL. The caller keeps them from
 * being freed during the call. */
static VIP_RETURN vi_create(struct vipl_nic *n, const VIP_VI_ATTRIBUTES *a,
			    struct vipl_cq *send, struct vipl_cq *recv,
			    struct vipl_vi *v)
{
	struct hvia_vi_arg arg = { .client = n->client, .attr = attr_in(n, a) };
	VIP_RETURN ret;

	if ((send && send->nic != n) || (recv && recv->nic != n))
		return VIP_INVALID_PARAMETER;
	v->self = vipl_handle(VIPL_VI, v, 0);
	if (!v->self)
		return VIP_ERROR_RESOURCE;
	v->leaving = true; /* not usable until its set-up is complete */
	n->n_vis++;
	arg.attr.stamped = send || recv;
	ret = vipl_call(n, HVIA_CALL_VI, &arg);
	v->nic = n;
	v->vi = arg.vi;
	v->k = arg.k;
	for (uint32_t i = 0; i < 2; i++)
		v->q[i] = (struct vipl_queue){ .vi = v, .dir = i, .first = 1 };
	if (ret == VIP_SUCCESS &&
	    a->ReliabilityLevel != VIP_SERVICE_UNRELIABLE) {
		ret = vipl_rel_new(v);
		if (ret != VIP_SUCCESS)
			vipl_call(n, HVIA_CALL_VI_FREE, &arg);
	}
	if (ret != VIP_SUCCESS) {
		n->n_vis--;
		vipl_forget(VIPL_VI, v->self);
		return ret;
	}
	vipl_cq_attach(send, &v->q[HVIA_Q_SEND]);
	vipl_cq_attach(recv, &v->q[HVIA_Q_RECV]);
	v->next = n->vis;
	n->vis = v;
	v->leaving = false;
	return VIP_SUCCESS;
}

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES *ViAttribs,
		       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
		       VIP_VI_HANDLE *ViHandle)
{
	struct weft_host *h = weft_host_self();
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct vipl_cq *send, *recv;
	struct vipl_vi *v;
	VIP_RETURN ret;

	if (!n || !ViAttribs || !ViHandle)
		return VIP_INVALID_PARAMETER;
	ret = attr_check(n, ViAttribs);
	if (ret != VIP_SUCCESS)
		return ret;
	if ((SendCQHandle && !vipl_cq(SendCQHandle)) ||
	    (RecvCQHandle && !vipl_cq(RecvCQHandle)))
		return VIP_INVALID_PARAMETER;
	v = weft_host_calloc(h, 1, sizeof(*v));
	if (!v)
		return VIP_ERROR_RESOURCE;
	v->held = 1;
	send = vipl_cq_enter(SendCQHandle);
	recv = vipl_cq_enter(RecvCQHandle);
	ret = vi_create(n, ViAttribs, send, recv, v);
	vipl_cq_leave(send, ret);
	vipl_cq_leave(recv, ret);
	if (ret == VIP_SUCCESS)
		*ViHandle = v->self;
	else
		vipl_vi_drop(v);
	return ret;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_vi_arg a = { 0 };
	VIP_RETURN ret;
	struct vipl_vi **pp;

	if (!v)
		return VIP_INVALID_PARAMETER;
	/* refused, because descriptors are posted or another thread is in a
	 * call */
	if (v->q[0].n || v->q[1].n || v->inside > 1)
		return vipl_vi_leave(v, VIP_ERROR_RESOURCE);
	if (v->k->state != HVIA_VI_IDLE)
		return vipl_vi_leave(v, VIP_INVALID_STATE);
	v->leaving = true;
	if (v->rel)
		vipl_rel_free(v);
	a.vi = v->vi;
	ret = vipl_call(v->nic, HVIA_CALL_VI_FREE, &a);
	v->leaving = ret == VIP_SUCCESS;
	if (ret != VIP_SUCCESS)
		return vipl_vi_leave(v, ret);
	pp = &v->nic->vis;
	while (*pp != v)
		pp = &(*pp)->next;
	*pp = v->next;
	v->nic->n_vis--;
	vipl_forget(VIPL_VI, v->self);
	for (uint32_t i = 0; i < 2; i++) {
		vipl_cq_detach(&v->q[i]);
		vipl_notify_drop(&v->q[i].notify);
	}
	vipl_vi_drop(v);
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
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	if (!v || !State || !ViAttribs || !ViSendQEmpty || !ViRecvQEmpty)
		return vipl_vi_leave(v, VIP_INVALID_PARAMETER);
	weft_host_cpu(weft_host_self(),
		      weft_host_time(weft_host_self(), T_vipl_poll));
	*State = state[v->k->state];
	vipl_attr_out(ViAttribs, &v->k->attr, v->nic);
	*ViSendQEmpty = !v->q[HVIA_Q_SEND].n;
	*ViRecvQEmpty = !v->q[HVIA_Q_RECV].n;
	return vipl_vi_leave(v, VIP_SUCCESS);
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *ViAttribs)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);
	struct hvia_vi_arg a;
	VIP_RETURN ret;

	if (!v || !ViAttribs)
		return vipl_vi_leave(v, VIP_INVALID_PARAMETER);
	ret = attr_check(v->nic, ViAttribs);
	/* The service of a VI cannot change, because its memory was set up when
	 * the VI was made. */
	if (ret == VIP_SUCCESS && (ViAttribs->ReliabilityLevel !=
				   VIP_SERVICE_UNRELIABLE) != (v->rel != NULL))
		ret = VIP_INVALID_RELIABILITY_LEVEL;
	if (ret != VIP_SUCCESS)
		return vipl_vi_leave(v, ret);
	a = (struct hvia_vi_arg){ .vi = v->vi,
				  .attr = attr_in(v->nic, ViAttribs) };
	a.attr.stamped = v->q[0].cq || v->q[1].cq;
	return vipl_vi_leave(v, vipl_call(v->nic, HVIA_CALL_VI_SET, &a));
}
