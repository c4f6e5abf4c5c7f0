/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations as a table: type and operation to the code. */
#ifndef PROVIDER_ATOMIC_H
#define PROVIDER_ATOMIC_H

#include "provider/obj.h"

enum {
	WFI_TYPES = FI_UINT128 + 1,
	WFI_ATOMICS = FI_ATOMIC_OP_LAST,
};

/* dst = dst op src, n times; the old values go to res when it is not NULL.
 * Nothing needs to be aligned.  src is NULL for FI_ATOMIC_READ; cmp is NULL but
 * for FI_CSWAP... and FI_MSWAP. */
typedef void wfi_atomic_fn(void *dst, const void *src, const void *cmp,
			   void *res, size_t n);

/* Bytes of a type, or 0. */
size_t wfi_atomic_size(unsigned type);
/* NULL: there is no such operation on that type. */
wfi_atomic_fn *wfi_atomic_find(unsigned type, unsigned op);

static inline bool wfi_atomic_compares(unsigned op)
{
	return op >= FI_CSWAP && op <= FI_MSWAP;
}

int wfi_query_atomic(struct fid_domain *dom, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr,
		     uint64_t flags);

#endif
