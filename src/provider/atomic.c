/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of fi_atomic. Each sends a message to the provider of the target,
 * which executes the operation. Operands must fit one message, and so must
 * results. */
#include "provider/atomic.h"

#include "provider/tx.h"

#define WRITE (FI_ATOMIC | FI_WRITE)
#define READ  (FI_ATOMIC | FI_READ)

/* Arguments of an atomic call, common to all variants of the call. */
struct atomic_call {
	struct wfi_tx t;
	enum fi_datatype type;
	enum fi_op op;
	size_t count; /* number of elements */
	const struct fi_ioc *src, *cmp;
	const struct fi_ioc *res;
	size_t srcs, cmps, ress;
};

/* ---- supported operations ---- */

static size_t atomic_most(const struct wfi_hub *h, size_t size)
{
	return h->eager / 2 / size;
}

static int atomic_valid(struct fid_ep *fid, enum fi_datatype type,
			enum fi_op op, size_t *count)
{
	if (!wfi_atomic_find(type, op))
		return -FI_EOPNOTSUPP;
	if (count)
		*count =
			atomic_most(wfi_ep_of(fid)->hub, wfi_atomic_size(type));
	return 0;
}

static int atomic_write_valid(struct fid_ep *fid, enum fi_datatype type,
			      enum fi_op op, size_t *count)
{
	if (wfi_atomic_compares(op) || op == FI_ATOMIC_READ)
		return -FI_EOPNOTSUPP;
	return atomic_valid(fid, type, op, count);
}

static int atomic_fetch_valid(struct fid_ep *fid, enum fi_datatype type,
			      enum fi_op op, size_t *count)
{
	if (wfi_atomic_compares(op))
		return -FI_EOPNOTSUPP;
	return atomic_valid(fid, type, op, count);
}

static int atomic_compare_valid(struct fid_ep *fid, enum fi_datatype type,
				enum fi_op op, size_t *count)
{
	if (!wfi_atomic_compares(op))
		return -FI_EOPNOTSUPP;
	return atomic_valid(fid, type, op, count);
}

int wfi_query_atomic(struct fid_domain *fid, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	bool compare = flags & FI_COMPARE_ATOMIC;

	if ((flags & ~(FI_COMPARE_ATOMIC | FI_FETCH_ATOMIC)) ||
	    (flags & FI_TAGGED))
		return -FI_EINVAL;
	if (!wfi_atomic_find(type, op) || compare != wfi_atomic_compares(op) ||
	    (op == FI_ATOMIC_READ && !(flags & FI_FETCH_ATOMIC)))
		return -FI_EOPNOTSUPP;
	attr->size = wfi_atomic_size(type);
	attr->count = atomic_most(d->hub, attr->size);
	return 0;
}

/* ---- memory and operations of this process ---- */

static size_t atomic_iov(struct iovec *iov, const struct fi_ioc *ioc, size_t n,
			 size_t size)
{
	for (size_t i = 0; i < n; i++)
		iov[i] = (struct iovec){ ioc[i].addr, ioc[i].count * size };
	return n;
}

static size_t atomic_elements(const struct fi_ioc *ioc, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ioc[i].count;
	return sum;
}

static int atomic_check(const struct wfi_hub *h, const struct atomic_call *c,
			size_t size)
{
	if (!wfi_atomic_find(c->type, c->op) ||
	    (c->cmp != NULL) != wfi_atomic_compares(c->op) ||
	    (c->op == FI_ATOMIC_READ && !c->res))
		return -FI_EOPNOTSUPP;
	if (c->srcs > WFI_IOV || c->cmps > WFI_IOV || c->ress > WFI_IOV)
		return -FI_EINVAL;
	if (c->count > atomic_most(h, size))
		return -FI_EMSGSIZE;
	if ((c->cmp && atomic_elements(c->cmp, c->cmps) != c->count) ||
	    (c->res && atomic_elements(c->res, c->ress) != c->count))
		return -FI_EINVAL;
	if (c->t.inject && c->count * size > WFI_INJECT)
		return -FI_EINVAL;
	return 0;
}

static int atomic_post(struct wfi_ep *ep, struct atomic_call *c,
		       struct wfi_peer *p, struct wire *w, size_t size)
{
	struct wfi_op *op = wfi_tx_op(ep, &c->t, p, w->dst);
	struct iovec iov[2 * WFI_IOV];
	size_t n = 0;
	int rc;

	if (!op)
		return -FI_ENOMEM;
	if (c->op != FI_ATOMIC_READ)
		n = atomic_iov(iov, c->src, c->srcs, size);
	if (c->cmp)
		n += atomic_iov(iov + n, c->cmp, c->cmps, size);
	if (c->res) {
		op->type = &wfi_tx_fetch_type;
		op->iovs = atomic_iov(op->iov, c->res, c->ress, size);
		op->full = c->count * size;
		w->flags |= WIRE_FETCH;
	}
	if (c->cmp)
		w->flags |= WIRE_COMPARE;
	rc = wfi_op_number(op);
	w->id = op->id;
	if (!rc)
		rc = wfi_hub_send(ep->hub, p, w, iov, n, NULL, false);
	if (rc)
		wfi_op_free(op);
	return rc;
}

static ssize_t atomic_do(struct fid_ep *fid, struct atomic_call *c)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	size_t size = wfi_atomic_size(c->type);
	struct wire w = { .op = WIRE_ATOMIC,
			  .a = c->t.raddr,
			  .b = c->t.key,
			  .aux = c->type << 8 | c->op };
	struct wfi_peer *p;
	int rc = size ? atomic_check(ep->hub, c, size) : -FI_EOPNOTSUPP;

	if (!rc)
		rc = wfi_tx_begin(ep, &c->t, c->count * size, &p, &w);
	if (rc)
		return rc;
	w.id2 = c->count;
	return wfi_tx_ret(ep, atomic_post(ep, c, p, &w, size));
}

/* ---- calls ---- */

static ssize_t atomic_writev(struct fid_ep *fid, const struct fi_ioc *iov,
			     void **desc, size_t count, fi_addr_t addr,
			     uint64_t raddr, uint64_t key,
			     enum fi_datatype type, enum fi_op op,
			     void *context)
{
	struct atomic_call c = {
		.t = { .addr = addr,
		       .raddr = raddr,
		       .key = key,
		       .context = context,
		       .kind = WRITE,
		       .flags = wfi_ep_of(fid)->tx_flags },
		.type = type,
		.op = op,
		.src = iov,
		.srcs = count,
		.count = atomic_elements(iov, count),
	};

	return atomic_do(fid, &c);
}

static ssize_t atomic_write(struct fid_ep *fid, const void *buf, size_t count,
			    void *desc, fi_addr_t addr, uint64_t raddr,
			    uint64_t key, enum fi_datatype type, enum fi_op op,
			    void *context)
{
	struct fi_ioc ioc = { (void *)buf, count };

	return atomic_writev(fid, &ioc, &desc, 1, addr, raddr, key, type, op,
			     context);
}

/* Carries out a call whose arguments are a struct fi_msg_atomic. The call is a
 * fetch if res is set without cmp. */
static ssize_t atomic_msg(struct fid_ep *fid, const struct fi_msg_atomic *m,
			  const struct fi_ioc *cmp, size_t cmps,
			  const struct fi_ioc *res, size_t ress, uint64_t flags,
			  uint64_t kind)
{
	struct atomic_call c = {
		.t = { .addr = m->addr,
		       .context = m->context,
		       .kind = kind,
		       .flags = flags,
		       .data = m->data },
		.type = m->datatype,
		.op = m->op,
		.src = m->msg_iov,
		.srcs = m->iov_count,
		.cmp = cmp,
		.cmps = cmps,
		.res = res,
		.ress = ress,
	};

	if (m->rma_iov_count != 1)
		return -FI_EINVAL;
	c.t.raddr = m->rma_iov->addr;
	c.t.key = m->rma_iov->key;
	c.count = m->rma_iov->count;
	if (m->op != FI_ATOMIC_READ &&
	    atomic_elements(m->msg_iov, m->iov_count) != c.count)
		return -FI_EINVAL;
	return atomic_do(fid, &c);
}

static ssize_t atomic_writemsg(struct fid_ep *fid,
			       const struct fi_msg_atomic *msg, uint64_t flags)
{
	return atomic_msg(fid, msg, NULL, 0, NULL, 0, flags, WRITE);
}

static ssize_t atomic_inject(struct fid_ep *fid, const void *buf, size_t count,
			     fi_addr_t addr, uint64_t raddr, uint64_t key,
			     enum fi_datatype type, enum fi_op op)
{
	struct fi_ioc ioc = { (void *)buf, count };
	struct atomic_call c = {
		.t = { .addr = addr,
		       .raddr = raddr,
		       .key = key,
		       .kind = WRITE,
		       .inject = true },
		.type = type,
		.op = op,
		.src = &ioc,
		.srcs = 1,
		.count = count,
	};

	return atomic_do(fid, &c);
}

static ssize_t
atomic_compwritev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
		  size_t count, const struct fi_ioc *cmp, void **cmp_desc,
		  size_t cmps, struct fi_ioc *res, void **res_desc, size_t ress,
		  fi_addr_t addr, uint64_t raddr, uint64_t key,
		  enum fi_datatype type, enum fi_op op, void *context)
{
	struct atomic_call c = {
		.t = { .addr = addr,
		       .raddr = raddr,
		       .key = key,
		       .context = context,
		       .kind = READ,
		       .flags = wfi_ep_of(fid)->tx_flags },
		.type = type,
		.op = op,
		.src = iov,
		.srcs = count,
		.cmp = cmp,
		.cmps = cmps,
		.res = res,
		.ress = ress,
		.count = atomic_elements(res, ress),
	};

	if (op != FI_ATOMIC_READ && atomic_elements(iov, count) != c.count)
		return -FI_EINVAL;
	return atomic_do(fid, &c);
}

static ssize_t atomic_compwrite(struct fid_ep *fid, const void *buf,
				size_t count, void *desc, const void *compare,
				void *compare_desc, void *result,
				void *result_desc, fi_addr_t addr,
				uint64_t raddr, uint64_t key,
				enum fi_datatype type, enum fi_op op,
				void *context)
{
	struct fi_ioc ioc = { (void *)buf, count };
	struct fi_ioc cmp = { (void *)compare, count };
	struct fi_ioc res = { result, count };

	return atomic_compwritev(fid, &ioc, &desc, 1, &cmp, &compare_desc, 1,
				 &res, &result_desc, 1, addr, raddr, key, type,
				 op, context);
}

static ssize_t atomic_compwritemsg(struct fid_ep *fid,
				   const struct fi_msg_atomic *msg,
				   const struct fi_ioc *cmp, void **cmp_desc,
				   size_t cmps, struct fi_ioc *res,
				   void **res_desc, size_t ress, uint64_t flags)
{
	return atomic_msg(fid, msg, cmp, cmps, res, ress, flags, READ);
}

static ssize_t atomic_readwritev(struct fid_ep *fid, const struct fi_ioc *iov,
				 void **desc, size_t count, struct fi_ioc *res,
				 void **res_desc, size_t ress, fi_addr_t addr,
				 uint64_t raddr, uint64_t key,
				 enum fi_datatype type, enum fi_op op,
				 void *context)
{
	return atomic_compwritev(fid, iov, desc, count, NULL, NULL, 0, res,
				 res_desc, ress, addr, raddr, key, type, op,
				 context);
}

static ssize_t atomic_readwrite(struct fid_ep *fid, const void *buf,
				size_t count, void *desc, void *result,
				void *result_desc, fi_addr_t addr,
				uint64_t raddr, uint64_t key,
				enum fi_datatype type, enum fi_op op,
				void *context)
{
	struct fi_ioc ioc = { (void *)buf, count };
	struct fi_ioc res = { result, count };

	return atomic_readwritev(fid, &ioc, &desc, 1, &res, &result_desc, 1,
				 addr, raddr, key, type, op, context);
}

static ssize_t atomic_readwritemsg(struct fid_ep *fid,
				   const struct fi_msg_atomic *msg,
				   struct fi_ioc *res, void **res_desc,
				   size_t ress, uint64_t flags)
{
	return atomic_msg(fid, msg, NULL, 0, res, ress, flags, READ);
}

struct fi_ops_atomic wfi_ops_atomic = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = atomic_write_valid,
	.readwritevalid = atomic_fetch_valid,
	.compwritevalid = atomic_compare_valid,
};
