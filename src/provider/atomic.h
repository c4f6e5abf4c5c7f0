/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations: a table with a function for each type and operation. */
#ifndef PROVIDER_ATOMIC_H
#define PROVIDER_ATOMIC_H

#include "provider/obj.h"

enum {
	WFI_TYPES = FI_UINT128 + 1,
	WFI_ATOMICS = FI_ATOMIC_OP_LAST,
};

/* Computes dst = dst op src for n elements. Stores old values in res unless it
 * is NULL. No argument needs to be aligned. src is NULL for FI_ATOMIC_READ, and
 * cmp is NULL except for FI_CSWAP... and FI_MSWAP. */
typedef void wfi_atomic_fn(void *dst, const void *src, const void *cmp,
			   void *res, size_t n);

/* Returns the bytes of an element of a type, or 0 for an unknown type. */
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
