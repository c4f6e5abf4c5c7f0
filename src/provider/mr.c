/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions, and the check of peers' requests against them. */
#include <stdlib.h>
#include <string.h>

#include "provider/bulk.h"
#include "provider/region.h"

int wfi_mr_check(struct wfi_ep *ep, const struct wfi_in *in, size_t len,
		 uint64_t access, struct wfi_mr **mr_p, size_t *at_p)
{
	struct wfi_mr *mr = map_ptr(&ep->dom->mrs, in->w->b);
	uint64_t addr = in->w->a;

	if (!mr)
		return FI_ENOKEY;
	if ((mr->access & access) != access)
		return FI_EACCES;
	if (addr < mr->base || addr - mr->base > mr->len ||
	    len > mr->len - (addr - mr->base))
		return FI_EACCES;
	*mr_p = mr;
	*at_p = addr - mr->base;
	return 0;
}

static int mr_close(struct fid *fid)
{
	struct wfi_mr *mr = container_of(fid, struct wfi_mr, fid.fid);
	struct wfi_domain *d = mr->dom;

	wfi_lock(d->hub);
	wfi_ops_leave_mr(d->hub, mr);
	map_del(&d->mrs, mr->fid.key);
	wfi_region_gone(mr);
	if (mr->cntr)
		mr->cntr->refs--;
	d->refs--;
	wfi_unlock(d->hub);
	free(mr);
	return 0;
}

static int mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct wfi_mr *mr = container_of(fid, struct wfi_mr, fid.fid);
	int rc = 0;

	wfi_lock(mr->dom->hub);
	if (bfid->fclass == FI_CLASS_CNTR && (flags & FI_REMOTE_WRITE) &&
	    !mr->cntr) {
		mr->cntr = container_of(bfid, struct wfi_cntr, fid.fid);
		mr->cntr->refs++;
		/* Peers lose direct access, because the NIC would not report
		 * their accesses, which the counter must count. */
		wfi_region_gone(mr);
	} else if (bfid->fclass == FI_CLASS_EP) {
		mr->ep = container_of(bfid, struct wfi_ep, fid.fid);
	} else {
		rc = -FI_EINVAL;
	}
	wfi_unlock(mr->dom->hub);
	return rc;
}

static struct fi_ops mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = mr_close,
	.bind = mr_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

/* Assigns a key to the region: the user's key, or the provider's next key.
 * Returns 0 or negative errno. */
static int mr_key(struct wfi_domain *d, struct wfi_mr *mr, uint64_t want)
{
	if (d->prov_key)
		want = d->next_key++;
	if (want == FI_KEY_NOTAVAIL)
		return -FI_EINVAL;
	if (map_get(&d->mrs, want))
		return -FI_ENOKEY;
	mr->fid.key = want;
	return map_set(&d->mrs, want, (uintptr_t)mr);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
		      uint64_t flags, struct fid_mr **mr_p)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid.fid);
	struct wfi_mr *mr;
	int rc;

	if (fid->fclass != FI_CLASS_DOMAIN || attr->iov_count > WFI_IOV ||
	    !attr->iov_count || attr->iface != FI_HMEM_SYSTEM)
		return -FI_EINVAL;
	if (flags & ~(FI_RMA_EVENT | FI_RMA_PMEM))
		return -FI_EBADFLAGS;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	memcpy(mr->iov, attr->mr_iov, attr->iov_count * sizeof(*mr->iov));
	mr->iovs = attr->iov_count;
	mr->len = wfi_iov_len(mr->iov, mr->iovs);
	mr->base = d->virt_addr ? (uintptr_t)mr->iov[0].iov_base : attr->offset;
	mr->access = attr->access;
	mr->flags = flags;
	mr->dom = d;
	wfi_lock(d->hub);
	rc = mr_key(d, mr, attr->requested_key);
	if (!rc)
		d->refs++;
	wfi_unlock(d->hub);
	if (rc) {
		free(mr);
		return rc;
	}
	mr->fid.fid = (struct fid){ FI_CLASS_MR, attr->context, &mr_fid_ops };
	mr->fid.mem_desc = mr;
	*mr_p = &mr->fid;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t key,
		   uint64_t flags, struct fid_mr **mr_p, void *context)
{
	struct fi_mr_attr attr = { .mr_iov = iov,
				   .iov_count = count,
				   .access = access,
				   .offset = offset,
				   .requested_key = key,
				   .context = context };

	return mr_regattr(fid, &attr, flags, mr_p);
}

int wfi_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
	       uint64_t offset, uint64_t key, uint64_t flags,
	       struct fid_mr **mr_p, void *context)
{
	struct iovec iov = { (void *)buf, len };

	return mr_regv(fid, &iov, 1, access, offset, key, flags, mr_p, context);
}

struct fi_ops_mr wfi_ops_mr = {
	.size = sizeof(struct fi_ops_mr),
	.reg = wfi_mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};
