/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction whose record was in use before. */
#ifndef TESTS_HOST_USED_TXN_H
#define TESTS_HOST_USED_TXN_H

#include <stddef.h>
#include <string.h>

#include "weft/bus.h"

/* Fills the fields that the bus sets with leftovers, because a device need not
 * clear them. */
static inline void used_txn(struct weft_bus_txn *t)
{
	size_t from = offsetof(struct weft_bus_txn, status);

	memset((char *)t + from, 0xa5, sizeof(*t) - from);
}

#endif
