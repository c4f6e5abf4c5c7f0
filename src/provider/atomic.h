/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations as a table from type and operation to code. */
#ifndef PROVIDER_ATOMIC_H
#define PROVIDER_ATOMIC_H

#include "provider/obj.h"

enum {
	WFI_TYPES = FI_UINT128 + 1,
	WFI_ATOMICS = FI_ATOMIC_OP_LAST,
};

/* dst = dst op src, n times. Old values are stored in res unless it is NULL.
 * Nothing needs to be aligned. src is NULL for FI_ATOMIC_READ. cmp is NULL
 * except for FI_CSWAP... and FI_MSWAP. */
typedef void wfi_atomic_fn(void *dst, const void *src, const void *cmp,
			   void *res, size_t n);

/* Returns the bytes of a type, or 0. */
size_t wfi_atomic_size(unsigned type);
/* Returns the function, or NULL if the type has no such operation. */
wfi_atomic_fn *wfi_atomic_find(unsigned type, unsigned op);

/* Returns true if the operation has a compare operand. */
static inline bool wfi_atomic_compares(unsigned op)
{
	return op >= FI_CSWAP && op <= FI_MSWAP;
}

/* Implements fi_query_atomic(3). Returns 0 or negative errno. */
int wfi_query_atomic(struct fid_domain *dom, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr,
		     uint64_t flags);

#endif
