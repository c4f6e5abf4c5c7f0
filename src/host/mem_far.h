/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows of other processes' memory in the memory of a node (far.h). */
#ifndef HOST_MEM_FAR_H
#define HOST_MEM_FAR_H

#include "host/far.h"
#include "host/mem.h"

/* NULL: no room. */
void *mem_far_add(struct mem *m, struct weft_far_owner *o, uint64_t va,
		  uint64_t len);
/* False: there is none. */
bool mem_far_del(struct mem *m, void *shadow);

#endif
