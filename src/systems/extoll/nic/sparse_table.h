/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with one entry per VPID (extoll.md 2.6). Entries are allocated in
 * groups of sixteen at the first write, so that unused VPIDs cost no memory. */
#ifndef SYSTEMS_EXTOLL_NIC_SPARSE_TABLE_H
#define SYSTEMS_EXTOLL_NIC_SPARSE_TABLE_H

#include <stdint.h>
#include <stdlib.h>

enum { VPID_CHUNK = 16 };

struct ex_vpids {
	char *chunk[256 / VPID_CHUNK];
};

/* Returns the entry of `size` bytes, or NULL if its group was never written. */
static inline void *ex_vpid_find(const struct ex_vpids *t, uint32_t vpid,
				 size_t size)
{
	char *c = t->chunk[(vpid & 0xff) / VPID_CHUNK];

	return c ? c + vpid % VPID_CHUNK * size : NULL;
}

/* Returns the entry of `size` bytes, zeroed if its group is new. */
static inline void *ex_vpid_make(struct ex_vpids *t, uint32_t vpid, size_t size)
{
	char **c = &t->chunk[(vpid & 0xff) / VPID_CHUNK];

	if (!*c)
		*c = calloc(VPID_CHUNK, size);
	if (!*c)
		abort();
	return ex_vpid_find(t, vpid, size);
}

static inline void ex_vpid_free(struct ex_vpids *t)
{
	for (uint32_t i = 0; i < 256 / VPID_CHUNK; i++)
		free(t->chunk[i]);
}

#endif
