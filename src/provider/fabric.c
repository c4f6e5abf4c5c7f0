/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric and domain. All domains of a process share one hub, because a process
 * has one attachment. */
#include <stdlib.h>
#include <string.h>

#include "provider/atomic.h"
#include "provider/obj.h"

int wfi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int wfi_control(struct fid *fid, int command, void *arg)
{
	switch (fid->fclass) {
	case FI_CLASS_MR:
		return command == FI_ENABLE || command == FI_REFRESH
			       ? 0
			       : -FI_ENOSYS;
	case FI_CLASS_SRX_CTX:
		return command == FI_ENABLE ? 0 : -FI_ENOSYS;
	case FI_CLASS_PEP:
		return command == FI_BACKLOG ? 0 : -FI_ENOSYS;
	default:
		return -FI_ENOSYS;
	}
}

int wfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context)
{
	return -FI_ENOSYS;
}

/* ---- domain ---- */

void wfi_domain_use(struct wfi_domain *d, int n)
{
	wfi_lock(d->hub);
	d->refs += n;
	wfi_unlock(d->hub);
}

static int domain_close(struct fid *fid)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid.fid);

	wfi_lock(d->hub);
	if (d->refs) {
		wfi_unlock(d->hub);
		return -FI_EBUSY;
	}
	wfi_unlock(d->hub);
	if (d->eq)
		wfi_eq_use(d->eq, -1);
	d->fabric->refs--;
	map_free(&d->mrs);
	free(d);
	return 0;
}

static int no_scalable_ep(struct fid_domain *d, struct fi_info *info,
			  struct fid_ep **sep, void *context)
{
	return -FI_ENOSYS;
}

static int no_query_collective(struct fid_domain *d, enum fi_collective_op coll,
			       struct fi_collective_attr *attr, uint64_t flags)
{
	return -FI_ENOSYS;
}

static struct fi_ops domain_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = domain_close,
	.bind = wfi_eq_bind,
	.control = wfi_trigger_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = wfi_av_open,
	.cq_open = wfi_cq_open,
	.endpoint = wfi_endpoint,
	.scalable_ep = no_scalable_ep,
	.cntr_open = wfi_cntr_open,
	.poll_open = wfi_poll_open,
	.stx_ctx = wfi_stx,
	.srx_ctx = wfi_srx,
	.query_atomic = wfi_query_atomic,
	.query_collective = no_query_collective,
};

int wfi_domain(struct fid_fabric *fid, struct fi_info *info,
	       struct fid_domain **dom_p, void *context)
{
	struct wfi_domain *d = calloc(1, sizeof(*d));
	int mode = info->domain_attr ? info->domain_attr->mr_mode : 0;

	if (!d)
		return -FI_ENOMEM;
	d->fabric = container_of(fid, struct wfi_fabric, fid);
	d->hub = d->fabric->hub;
	d->virt_addr = mode & (FI_MR_BASIC | FI_MR_VIRT_ADDR);
	d->prov_key = mode & (FI_MR_BASIC | FI_MR_PROV_KEY);
	d->next_key = 1;
	d->fid.fid = (struct fid){ FI_CLASS_DOMAIN, context, &domain_fid_ops };
	d->fid.ops = &domain_ops;
	d->fid.mr = &wfi_ops_mr;
	d->fabric->refs++;
	*dom_p = &d->fid;
	return 0;
}

/* ---- fabric ---- */

static int fabric_close(struct fid *fid)
{
	struct wfi_fabric *f = container_of(fid, struct wfi_fabric, fid.fid);

	if (f->refs)
		return -FI_EBUSY;
	wfi_hub_put(f->hub);
	free(f);
	return 0;
}

static struct fi_ops fabric_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = fabric_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = wfi_domain,
	.passive_ep = wfi_passive_ep,
	.eq_open = wfi_eq_open,
	.wait_open = wfi_wait_open,
	.trywait = wfi_trywait,
};

int wfi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
	       void *context)
{
	struct wfi_fabric *f;
	int rc;

	if (attr->name && strcmp(attr->name, "weft"))
		return -FI_ENODATA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -FI_ENOMEM;
	rc = wfi_hub_get(&f->hub);
	if (rc) {
		FI_WARN(&wfi_prov, FI_LOG_FABRIC, "no attachment: %s\n",
			fi_strerror(-rc));
		free(f);
		return rc;
	}
	f->fid.fid = (struct fid){ FI_CLASS_FABRIC, context, &fabric_fid_ops };
	f->fid.ops = &fabric_ops;
	f->fid.api_version = attr->api_version;
	*fabric_p = &f->fid;
	return 0;
}
