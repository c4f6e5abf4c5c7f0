/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of libfabric: bindings, failed openings, calls allowed in each state,
 * objects that keep others from being closed. One row for each wrong argument,
 * with its errno. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../locks.h"
#include "rig.h"

static struct rig r;
static struct rig_side *s;
static int fds;

static int setup(void **state)
{
	fds = descriptors_open();
	rig_up(&r, FI_EP_RDM);
	s = &r.s[0];
	return 0;
}

static int teardown(void **state)
{
	rig_down(&r);
	assert_int_equal(descriptors_open(), fds);
	return 0;
}

#define EQ(call, want) assert_int_equal(call, want)

static struct fid_ep *open_ep(void)
{
	struct fid_ep *ep;

	EQ(fi_endpoint(s->dom, s->info, &ep, NULL), 0);
	return ep;
}

/* ---- closing ---- */

static void object_in_use_cannot_be_closed(void **state)
{
	struct fi_cntr_attr cattr = { 0 };
	struct fid_cntr *c, *m;
	struct fid_ep *srx, *ep = open_ep();
	struct fid_mr *mr;
	struct fid_stx *stx;
	struct fid_poll *poll;

	EQ(fi_close(&s->fabric->fid), -FI_EBUSY);
	EQ(fi_close(&s->dom->fid), -FI_EBUSY);
	EQ(fi_close(&s->cq->fid), -FI_EBUSY);
	EQ(fi_close(&s->av->fid), -FI_EBUSY);
	EQ(fi_close(&s->eq->fid), -FI_EBUSY);
	EQ(fi_cntr_open(s->dom, &cattr, &c, NULL), 0);
	EQ(fi_cntr_open(s->dom, NULL, &m, NULL), 0);
	EQ(fi_srx_context(s->dom, NULL, &srx, NULL), 0);
	EQ(fi_ep_bind(ep, &c->fid, FI_SEND | FI_RECV), 0);
	EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
	EQ(fi_close(&c->fid), -FI_EBUSY);
	EQ(fi_close(&srx->fid), -FI_EBUSY);
	EQ(fi_mr_reg(s->dom, &r, 8, FI_REMOTE_WRITE, 0, 5, 0, &mr, NULL), 0);
	EQ(fi_mr_bind(mr, &m->fid, FI_REMOTE_WRITE), 0);
	EQ(fi_mr_bind(mr, &m->fid, FI_REMOTE_WRITE), -FI_EINVAL); /* has one */
	EQ(fi_close(&m->fid), -FI_EBUSY);
	EQ(fi_close(&mr->fid), 0);
	EQ(fi_close(&m->fid), 0);
	EQ(fi_close(&ep->fid), 0);
	EQ(fi_close(&c->fid), 0);
	EQ(fi_close(&srx->fid), 0);
	/* each of these objects keeps the domain open */
	EQ(fi_stx_context(s->dom, NULL, &stx, NULL), 0);
	EQ(fi_poll_open(s->dom, NULL, &poll), 0);
	EQ(container_of(s->dom, struct wfi_domain, fid)->refs, 5);
	EQ(fi_close(&stx->fid), 0);
	EQ(fi_close(&poll->fid), 0);
	EQ(container_of(s->dom, struct wfi_domain, fid)->refs, 3);
	EQ(container_of(s->fabric, struct wfi_fabric, fid)->refs, 2);
}

static void alias_keeps_its_endpoint_and_has_own_flags(void **state)
{
	struct fid_ep *alias = NULL, *second = NULL;
	uint64_t flags;

	EQ(fi_ep_alias(s->ep, &alias, FI_TRANSMIT | FI_DELIVERY_COMPLETE), 0);
	EQ(fi_ep_alias(alias, &second, FI_RECV | FI_COMPLETION), 0);
	EQ(rig_ep(&r, 0)->refs, 2);
	EQ(fi_close(&s->ep->fid), -FI_EBUSY);
	EQ(fi_ep_bind(alias, &s->cq->fid, 0), -FI_ENOSYS);
	flags = FI_TRANSMIT;
	EQ(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), 0);
	assert_true(flags == FI_DELIVERY_COMPLETE);
	flags = FI_RECV;
	EQ(fi_control(&second->fid, FI_GETOPSFLAG, &flags), 0);
	assert_true(flags == FI_COMPLETION);
	flags = FI_TRANSMIT;
	EQ(fi_control(&s->ep->fid, FI_GETOPSFLAG, &flags), 0);
	EQ(flags, 0);
	EQ(fi_close(&second->fid), 0);
	EQ(fi_close(&alias->fid), 0);
	EQ(rig_ep(&r, 0)->refs, 0);
}

static void operation_flags_are_set_per_direction(void **state)
{
	uint64_t flags = FI_TRANSMIT | FI_RECV | FI_INJECT;

	EQ(fi_control(&s->ep->fid, FI_SETOPSFLAG, &flags), 0);
	assert_true(rig_ep(&r, 0)->tx_flags == FI_INJECT);
	EQ(rig_ep(&r, 0)->rx_flags, 0);
	flags = FI_RECV | FI_MULTI_RECV;
	EQ(fi_control(&s->ep->fid, FI_SETOPSFLAG, &flags), 0);
	assert_true(rig_ep(&r, 0)->rx_flags == FI_MULTI_RECV);
	flags = FI_INJECT;
	EQ(fi_control(&s->ep->fid, FI_SETOPSFLAG, &flags), -FI_EINVAL);
	EQ(fi_control(&s->ep->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL);
	EQ(fi_control(&s->ep->fid, FI_BACKLOG, &flags), -FI_ENOSYS);
}

/* ---- binding ---- */

static void object_is_bound_once_and_before_enabling(void **state)
{
	struct fi_av_attr attr = { 0 };
	struct fid_ep *ep = open_ep(), *srx, *srx2;
	struct fid_stx *stx;
	struct fid_cntr *c;
	struct fid_mr *mr;
	struct fid_av *av;

	EQ(fi_cntr_open(s->dom, NULL, &c, NULL), 0);
	EQ(fi_srx_context(s->dom, NULL, &srx, NULL), 0);
	EQ(fi_srx_context(s->dom, NULL, &srx2, NULL), 0);
	EQ(fi_stx_context(s->dom, NULL, &stx, NULL), 0);
	EQ(fi_mr_reg(s->dom, &r, 8, FI_REMOTE_WRITE, 0, 5, 0, &mr, NULL), 0);
	EQ(fi_av_open(s->dom, &attr, &av, NULL), 0);
	EQ(attr.type, FI_AV_MAP);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_READ), -FI_EBADFLAGS);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION),
	   0);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_RECV), 0);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_RECV), -FI_EINVAL);
	EQ(wfi_ep_of(ep)->tx_sel, true);
	EQ(wfi_ep_of(ep)->rx_sel, false);
	EQ(container_of(s->cq, struct wfi_cq, fid)->refs, 4);
	EQ(fi_ep_bind(ep, &c->fid, FI_READ | FI_REMOTE_WRITE), 0);
	EQ(fi_ep_bind(ep, &c->fid, FI_READ), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &c->fid, FI_WRITE), 0);
	assert_null(wfi_ep_of(ep)->cntr[WFI_C_SEND]);
	assert_null(wfi_ep_of(ep)->cntr[WFI_C_RECV]);
	assert_null(wfi_ep_of(ep)->cntr[WFI_C_REMOTE_READ]);
	EQ(container_of(c, struct wfi_cntr, fid)->refs, 3);
	EQ(fi_ep_bind(ep, &s->av->fid, 0), 0);
	EQ(fi_ep_bind(ep, &av->fid, 0), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &s->eq->fid, 0), 0);
	EQ(fi_ep_bind(ep, &s->eq->fid, 0), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
	EQ(fi_ep_bind(ep, &srx2->fid, 0), -FI_EINVAL);
	EQ(fi_ep_bind(ep, &stx->fid, 0), 0);
	EQ(fi_ep_bind(ep, &mr->fid, 0), 0);
	EQ(fi_ep_bind(ep, &s->dom->fid, 0), -FI_EINVAL);
	EQ(fi_enable(ep), 0);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT), -FI_EOPBADSTATE);
	EQ(fi_mr_bind(mr, &c->fid, FI_READ), -FI_EINVAL);
	EQ(fi_mr_bind(mr, &s->cq->fid, FI_REMOTE_WRITE), -FI_EINVAL);
	EQ(fi_mr_bind(mr, &ep->fid, 0), 0);
	EQ(fi_close(&mr->fid), 0);
	EQ(fi_close(&ep->fid), 0);
	EQ(fi_close(&av->fid), 0); /* all objects can be closed again */
	EQ(fi_close(&srx->fid), 0);
	EQ(fi_close(&srx2->fid), 0);
	EQ(fi_close(&stx->fid), 0);
	EQ(fi_close(&c->fid), 0);
}

static void endpoint_needs_its_bindings_to_be_enabled(void **state)
{
	static const uint64_t counts[] = { FI_SEND, FI_WRITE, FI_READ };
	struct fid_cntr *c;
	struct fid_ep *ep;

	EQ(fi_cntr_open(s->dom, NULL, &c, NULL), 0);
	ep = open_ep();
	EQ(fi_enable(ep), -FI_ENOAV);
	EQ(fi_send(ep, &r, 1, NULL, s->to, NULL), -FI_EOPBADSTATE);
	EQ(fi_ep_bind(ep, &s->av->fid, 0), 0);
	EQ(fi_enable(ep), -FI_ENOCQ);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_RECV), 0);
	EQ(fi_enable(ep), -FI_ENOCQ);
	EQ(fi_ep_bind(ep, &c->fid, FI_REMOTE_WRITE), 0);
	EQ(fi_enable(ep), -FI_ENOCQ);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT), 0);
	EQ(fi_enable(ep), 0);
	EQ(fi_close(&ep->fid), 0);
	for (int i = 0; i < 3; i++) { /* counters do */
		ep = open_ep();
		EQ(fi_ep_bind(ep, &s->av->fid, 0), 0);
		EQ(fi_ep_bind(ep, &c->fid, counts[i]), 0);
		EQ(fi_enable(ep), -FI_ENOCQ);
		EQ(fi_ep_bind(ep, &c->fid, FI_RECV), 0);
		EQ(fi_enable(ep), 0);
		EQ(wfi_ep_of(ep)->port.open, true);
		EQ(fi_close(&ep->fid), 0);
	}
	/* an endpoint needs queues only for the operations that its
	 * capabilities name */
	s->info->caps &= ~FI_SEND;
	ep = open_ep();
	EQ(fi_ep_bind(ep, &s->av->fid, 0), 0);
	EQ(fi_ep_bind(ep, &s->cq->fid, FI_RECV), 0);
	EQ(fi_enable(ep), 0);
	EQ(fi_close(&ep->fid), 0);
	s->info->caps &= ~FI_RECV;
	ep = open_ep();
	EQ(fi_ep_bind(ep, &s->av->fid, 0), 0);
	EQ(fi_enable(ep), 0);
	EQ(fi_close(&ep->fid), 0);
	EQ(fi_close(&c->fid), 0);
}

/* ---- opening ---- */

static void wrong_attributes_open_no_object(void **state)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED + 1 };
	struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_COMP + 1 };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_SET };
	struct fi_av_attr av = { .name = "shared" };
	struct fi_wait_attr wait = { .wait_obj = FI_WAIT_MUTEX_COND };
	struct fi_fabric_attr fab = { .name = "other" };
	struct fi_info none = { 0 }, *info = s->info;
	struct fi_mr_attr mr = { .iov_count = 1 };
	struct iovec iov[5] = { { &r, 8 } };
	struct fid_wait *w;
	void *p;

	EQ(fi_cq_open(s->dom, &cq, (void *)&p, NULL), -FI_ENOSYS);
	cq.format = FI_CQ_FORMAT_UNSPEC;
	cq.wait_obj = FI_WAIT_SET;
	EQ(fi_cq_open(s->dom, &cq, (void *)&p, NULL), -FI_EINVAL);
	cq.wait_obj = FI_WAIT_MUTEX_COND;
	EQ(fi_cq_open(s->dom, &cq, (void *)&p, NULL), -FI_ENOSYS);
	EQ(fi_cntr_open(s->dom, &cntr, (void *)&p, NULL), -FI_EINVAL);
	cntr.events = FI_CNTR_EVENTS_COMP;
	cntr.flags = 1;
	EQ(fi_cntr_open(s->dom, &cntr, (void *)&p, NULL), -FI_EINVAL);
	cntr.flags = 0;
	cntr.wait_obj = FI_WAIT_SET;
	EQ(fi_cntr_open(s->dom, &cntr, (void *)&p, NULL), -FI_EINVAL);
	cntr.wait_obj = FI_WAIT_MUTEX_COND;
	EQ(fi_cntr_open(s->dom, &cntr, (void *)&p, NULL), -FI_ENOSYS);
	EQ(fi_eq_open(s->fabric, &eq, (void *)&p, NULL), -FI_EINVAL);
	eq.wait_obj = FI_WAIT_MUTEX_COND;
	EQ(fi_eq_open(s->fabric, &eq, (void *)&p, NULL), -FI_ENOSYS);
	EQ(fi_av_open(s->dom, &av, (void *)&p, NULL), -FI_ENOSYS);
	av.name = NULL;
	av.rx_ctx_bits = 1;
	EQ(fi_av_open(s->dom, &av, (void *)&p, NULL), -FI_ENOSYS);
	av.rx_ctx_bits = 0;
	av.flags = FI_SYMMETRIC;
	EQ(fi_av_open(s->dom, &av, (void *)&p, NULL), -FI_ENOSYS);
	EQ(fi_wait_open(s->fabric, &wait, &w), -FI_ENOSYS);
	EQ(wfi_fabric(&fab, (void *)&p, NULL), -FI_ENODATA);
	EQ(fi_endpoint(s->dom, &none, (void *)&p, NULL), -FI_EINVAL);
	EQ(fi_passive_ep(s->fabric, info, (void *)&p, NULL), -FI_EINVAL);
	EQ(fi_passive_ep(s->fabric, &none, (void *)&p, NULL), -FI_EINVAL);
	EQ(fi_scalable_ep(s->dom, info, (void *)&p, NULL), -FI_ENOSYS);
	EQ(s->dom->ops->query_collective(s->dom, FI_BARRIER, NULL, 0),
	   -FI_ENOSYS);
	info->handle = &s->cq->fid;
	EQ(fi_endpoint(s->dom, info, (void *)&p, NULL), -FI_EINVAL);
	info->handle = NULL;
	/* regions */
	mr.mr_iov = iov;
	EQ(fi_mr_regv(s->dom, iov, 5, 0, 0, 7, 0, (void *)&p, NULL),
	   -FI_EINVAL);
	EQ(fi_mr_regv(s->dom, iov, 0, 0, 0, 7, 0, (void *)&p, NULL),
	   -FI_EINVAL);
	EQ(fi_mr_reg(s->dom, &r, 8, 0, 0, 7, FI_MULTI_RECV, (void *)&p, NULL),
	   -FI_EBADFLAGS);
	EQ(fi_mr_reg(s->dom, &r, 8, 0, 0, FI_KEY_NOTAVAIL, 0, (void *)&p, NULL),
	   -FI_EINVAL);
	mr.iface = FI_HMEM_CUDA;
	EQ(fi_mr_regattr(s->dom, &mr, 0, (void *)&p), -FI_EINVAL);
	EQ(wfi_mr_reg(&s->cq->fid, &r, 8, 0, 0, 7, 0, (void *)&p, NULL),
	   -FI_EINVAL);
}

static void keys_are_unique_or_given_by_the_provider(void **state)
{
	struct fid_mr *mr, *other;
	struct iovec iov[4];

	EQ(fi_mr_reg(s->dom, &r, 8, 0, 0, 7, FI_RMA_EVENT, &mr, &r), 0);
	EQ(fi_mr_key(mr), 7);
	assert_ptr_equal(fi_mr_desc(mr), container_of(mr, struct wfi_mr, fid));
	assert_ptr_equal(mr->fid.context, &r);
	EQ(fi_mr_reg(s->dom, &r, 8, 0, 0, 7, 0, &other, NULL), -FI_ENOKEY);
	EQ(fi_mr_enable(mr), 0);
	EQ(fi_control(&mr->fid, FI_REFRESH, NULL), 0);
	EQ(fi_control(&mr->fid, FI_GETWAIT, NULL), -FI_ENOSYS);
	EQ(fi_close(&mr->fid), 0);
	EQ(fi_mr_reg(s->dom, &r, 8, 0, 0, 7, 0, &mr, NULL), 0);
	EQ(fi_close(&mr->fid), 0);
	/* the provider chooses keys, and addresses replace offsets */
	container_of(s->dom, struct wfi_domain, fid)->prov_key = true;
	container_of(s->dom, struct wfi_domain, fid)->virt_addr = true;
	for (int i = 0; i < 4; i++)
		iov[i] = (struct iovec){ (char *)&r + 8 * i, 5 };
	for (uint64_t k = 1; k < 4; k++) {
		EQ(fi_mr_regv(s->dom, iov, 4, 0, 55, 7, 0, &mr, NULL), 0);
		EQ(fi_mr_key(mr), k);
		EQ(container_of(mr, struct wfi_mr, fid)->base, (uintptr_t)&r);
		EQ(container_of(mr, struct wfi_mr, fid)->len, 20);
		EQ(fi_close(&mr->fid), 0);
	}
}

static void domain_takes_its_modes_from_mr_mode(void **state)
{
	static const struct {
		int mode;
		bool virt, prov;
	} rows[] = { { 0, false, false },
		     { FI_MR_SCALABLE, false, false },
		     { FI_MR_BASIC, true, true },
		     { FI_MR_VIRT_ADDR, true, false },
		     { FI_MR_PROV_KEY, false, true } };
	struct fi_info *info = fi_dupinfo(s->info);
	struct fid_domain *d;
	struct wfi_domain *w;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		info->domain_attr->mr_mode = rows[i].mode;
		EQ(fi_domain(s->fabric, info, &d, &r), 0);
		w = container_of(d, struct wfi_domain, fid);
		assert_ptr_equal(d->fid.context, &r);
		EQ(w->virt_addr, rows[i].virt);
		EQ(w->prov_key, rows[i].prov);
		EQ(fi_domain_bind(d, &s->cq->fid, 0), -FI_EINVAL);
		EQ(fi_domain_bind(d, &s->eq->fid, 0), 0);
		EQ(fi_domain_bind(d, &s->eq->fid, 0), -FI_EINVAL);
		EQ(fi_control(&d->fid, FI_GETWAIT, NULL), -FI_ENOSYS);
		EQ(container_of(s->eq, struct wfi_eq, fid)->refs, 2);
		EQ(fi_close(&d->fid), 0);
		EQ(container_of(s->eq, struct wfi_eq, fid)->refs, 1);
	}
	fi_freeinfo(info);
}

/* ---- options and names ---- */

static void options_of_endpoints_are_read_and_set(void **state)
{
	size_t val, len;
	struct fid_stx *stx;
	struct fid_ep *srx;
	static const struct {
		int level, name;
		size_t len;
		int rc;
		size_t val;
	} rows[] = {
		{ FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, 8, 0, 64 },
		{ FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, 8, 0, 256 },
		{ FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, 9, 0, 1024 },
		{ FI_OPT_ENDPOINT, FI_OPT_RX_SIZE, 8, 0, 1024 },
		{ FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, 7, -FI_ETOOSMALL, 0 },
		{ FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, 8, -FI_ENOPROTOOPT,
		  0 },
		{ FI_OPT_ENDPOINT + 1, FI_OPT_TX_SIZE, 8, -FI_ENOPROTOOPT, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		val = 0;
		len = rows[i].len;
		EQ(fi_getopt(&s->ep->fid, rows[i].level, rows[i].name, &val,
			     &len),
		   rows[i].rc);
		EQ(val, rows[i].val);
		if (!rows[i].rc)
			EQ(len, 8);
	}
	EQ(fi_srx_context(s->dom, NULL, &srx, NULL), 0);
	val = 99;
	EQ(fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
		     8),
	   0);
	EQ(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
		     7),
	   -FI_EINVAL);
	EQ(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &val, 8),
	   -FI_ENOPROTOOPT);
	EQ(fi_setopt(&s->ep->fid, 7, FI_OPT_MIN_MULTI_RECV, &val, 8),
	   -FI_ENOPROTOOPT);
	EQ(fi_getopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
		     &len),
	   0);
	EQ(val, 99);
	EQ(fi_control(&srx->fid, FI_ENABLE, NULL), 0);
	EQ(fi_control(&srx->fid, FI_GETWAIT, NULL), -FI_ENOSYS);
	EQ(fi_close(&srx->fid), 0);
	EQ(fi_stx_context(s->dom, NULL, &stx, NULL), 0);
	EQ(fi_getopt(&stx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
		     &len),
	   -FI_ENOPROTOOPT);
	EQ(fi_setopt(&stx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
		     8),
	   -FI_ENOPROTOOPT);
	EQ(fi_cancel(&stx->fid, NULL), -FI_ENOSYS);
	EQ(fi_close(&stx->fid), 0);
	EQ(s->ep->ops->rx_size_left(s->ep), 1024);
	EQ(s->ep->ops->tx_size_left(s->ep), 1024);
}

static void endpoint_is_named_by_its_port_until_enabled(void **state)
{
	struct sockaddr_in sin, in = { .sin_family = AF_INET };
	struct fid_ep *ep = open_ep(), *same;
	size_t len = sizeof(sin);

	in.sin_port = htons(1234);
	EQ(fi_setname(&ep->fid, &in, sizeof(in) - 1), -FI_EINVAL);
	EQ(fi_setname(&ep->fid, &in, sizeof(in)), 0);
	EQ(fi_getname(&ep->fid, &sin, &len), 0);
	EQ(ntohs(sin.sin_port), 1234);
	EQ(ntohl(sin.sin_addr.s_addr), 0x7f010000);
	len = 7;
	memset(&sin, 0, sizeof(sin));
	EQ(fi_getname(&ep->fid, &sin, &len), -FI_ETOOSMALL);
	EQ(len, sizeof(sin));
	EQ(ntohs(sin.sin_port), 1234);
	EQ(sin.sin_addr.s_addr & htonl(0xff), 0);
	len = 0;
	EQ(fi_getname(&ep->fid, NULL, &len), -FI_ETOOSMALL);
	EQ(fi_setname(&s->ep->fid, &in, sizeof(in)), -FI_EOPBADSTATE);
	/* the endpoint gets the requested port, and a second endpoint gets
	 * another one */
	free(s->info->src_addr);
	s->info->src_addr = malloc(sizeof(in));
	in.sin_port = htons(1235);
	memcpy(s->info->src_addr, &in, sizeof(in));
	same = open_ep();
	EQ(wfi_ep_of(same)->port.num, 1235);
	fi_close(&ep->fid);
	ep = open_ep();
	assert_true(wfi_ep_of(ep)->port.num >= 0x8000);
	fi_close(&ep->fid);
	fi_close(&same->fid);
	ep = open_ep();
	EQ(wfi_ep_of(ep)->port.num, 1235);
	fi_close(&ep->fid);
	/* the call is only for connections */
	len = sizeof(sin);
	EQ(fi_getpeer(s->ep, &sin, &len), -FI_ENOTCONN);
	EQ(fi_connect(s->ep, &in, NULL, 0), -FI_ENOSYS);
	EQ(fi_accept(s->ep, NULL, 0), -FI_EINVAL);
	EQ(fi_shutdown(s->ep, 0), -FI_ENOTCONN);
	EQ(fi_join(s->ep, &in, 0, (void *)&ep, NULL), -FI_ENOSYS);
}

static void operation_with_a_wrong_argument_is_refused(void **state)
{
	static char buf[8192];
	struct iovec iov[5] = { { buf, 1 } };
	struct fi_rma_iov there[2] = { { 0, 1, 1 } };
	struct fi_msg_rma rma = {
		.msg_iov = iov, .iov_count = 1, .rma_iov = there, .addr = s->to
	};
	struct fi_msg m = { .msg_iov = iov, .iov_count = 5, .addr = s->to };
	size_t n;

	EQ(fi_inject(s->ep, buf, 2048, s->to), 0);
	EQ(fi_inject(s->ep, buf, 2049, s->to), -FI_EINVAL);
	EQ(fi_tinject(s->ep, buf, 2049, s->to, 0), -FI_EINVAL);
	EQ(fi_inject_write(s->ep, buf, 2049, s->to, 0, 1), -FI_EINVAL);
	EQ(fi_sendmsg(s->ep, &m, 0), -FI_EINVAL);
	EQ(fi_recvmsg(s->ep, &m, 0), -FI_EINVAL);
	EQ(fi_send(s->ep, buf, SIZE_MAX / 2 + 1, NULL, s->to, NULL),
	   -FI_EMSGSIZE);
	EQ(fi_send(s->ep, buf, 1, NULL, 55, NULL), -FI_EINVAL);
	EQ(fi_recv(s->ep, buf, 1, NULL, 55, NULL), -FI_EINVAL);
	EQ(fi_trecv(s->ep, buf, 1, NULL, 55, 0, 0, NULL), -FI_EINVAL);
	for (rma.rma_iov_count = 0; rma.rma_iov_count < 3;
	     rma.rma_iov_count += 2) {
		EQ(fi_writemsg(s->ep, &rma, 0), -FI_EINVAL);
		EQ(fi_readmsg(s->ep, &rma, 0), -FI_EINVAL);
	}
	EQ(fi_atomic(s->ep, buf, 1, NULL, s->to, 0, 1, (enum fi_datatype)200,
		     FI_SUM, NULL),
	   -FI_EOPNOTSUPP);
	EQ(fi_atomic(s->ep, buf, 1, NULL, s->to, 0, 1, FI_UINT8, FI_CSWAP,
		     NULL),
	   -FI_EOPNOTSUPP);
	EQ(fi_atomic(s->ep, buf, 1, NULL, s->to, 0, 1, FI_UINT8, FI_ATOMIC_READ,
		     NULL),
	   -FI_EOPNOTSUPP);
	EQ(fi_atomicvalid(s->ep, FI_UINT64, FI_SUM, &n), 0);
	EQ(n, 4064 / 2 / 8);
	EQ(fi_atomic(s->ep, buf, n + 1, NULL, s->to, 0, 1, FI_UINT64, FI_SUM,
		     NULL),
	   -FI_EMSGSIZE);
	EQ(fi_atomicvalid(s->ep, FI_UINT64, FI_CSWAP, &n), -FI_EOPNOTSUPP);
	EQ(fi_atomicvalid(s->ep, FI_UINT64, FI_ATOMIC_READ, &n),
	   -FI_EOPNOTSUPP);
	EQ(fi_fetch_atomicvalid(s->ep, FI_UINT64, FI_ATOMIC_READ, &n), 0);
	EQ(fi_fetch_atomicvalid(s->ep, FI_UINT64, FI_CSWAP, &n),
	   -FI_EOPNOTSUPP);
	EQ(fi_compare_atomicvalid(s->ep, FI_UINT8, FI_CSWAP, &n), 0);
	EQ(n, 2032);
	EQ(fi_compare_atomicvalid(s->ep, FI_UINT8, FI_SUM, NULL),
	   -FI_EOPNOTSUPP);
}

static void query_says_which_atomics_exist(void **state)
{
	static const struct {
		enum fi_op op;
		uint64_t flags;
		int rc;
	} rows[] = {
		{ FI_SUM, 0, 0 },
		{ FI_SUM, FI_FETCH_ATOMIC, 0 },
		{ FI_SUM, FI_COMPARE_ATOMIC, -FI_EOPNOTSUPP },
		{ FI_CSWAP, FI_COMPARE_ATOMIC, 0 },
		{ FI_CSWAP, 0, -FI_EOPNOTSUPP },
		{ FI_ATOMIC_READ, 0, -FI_EOPNOTSUPP },
		{ FI_ATOMIC_READ, FI_FETCH_ATOMIC, 0 },
		{ FI_SUM, FI_TAGGED, -FI_EINVAL },
	};
	struct fi_atomic_attr attr;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EQ(fi_query_atomic(s->dom, FI_UINT32, rows[i].op, &attr,
				   rows[i].flags),
		   rows[i].rc);
		if (!rows[i].rc) {
			EQ(attr.size, 4);
			EQ(attr.count, 508);
		}
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(object_in_use_cannot_be_closed),
		T(alias_keeps_its_endpoint_and_has_own_flags),
		T(operation_flags_are_set_per_direction),
		T(object_is_bound_once_and_before_enabling),
		T(endpoint_needs_its_bindings_to_be_enabled),
		T(wrong_attributes_open_no_object),
		T(keys_are_unique_or_given_by_the_provider),
		T(domain_takes_its_modes_from_mr_mode),
		T(options_of_endpoints_are_read_and_set),
		T(endpoint_is_named_by_its_port_until_enabled),
		T(operation_with_a_wrong_argument_is_refused),
		T(query_says_which_atomics_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
