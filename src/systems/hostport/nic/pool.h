/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of reused records: any struct with `next` (free records) and `chain`
 * (all records). */
#ifndef SYSTEMS_HOSTPORT_NIC_POOL_H
#define SYSTEMS_HOSTPORT_NIC_POOL_H

#include <stdlib.h>

#include "base/need.h"

/* Returns a zeroed record: from the pool, or a new one if the pool is empty. */
#define hp_pool_take(pool, all)                                                \
	({                                                                     \
		__typeof__(pool) r_ = (pool), chain_ = r_ ? r_->chain : (all); \
                                                                               \
		if (r_)                                                        \
			(pool) = r_->next;                                     \
		else                                                           \
			(all) = r_ = need(malloc(sizeof(*r_)));                \
		*r_ = (__typeof__(*r_)){ .chain = chain_ };                    \
		r_;                                                            \
	})
#define hp_pool_put(pool, record)                                              \
	((record)->next = (pool), (void)((pool) = (record)))
/* Frees all records, in use or not. */
#define hp_pool_free(all)                                                      \
	do {                                                                   \
		__typeof__(all) r_, next_ = (all);                             \
                                                                               \
		while ((r_ = next_)) {                                         \
			next_ = r_->chain;                                     \
			free(r_);                                              \
		}                                                              \
		(all) = NULL;                                                  \
	} while (0)

#endif
