/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with one entry per VPID (extoll.md 2.6) that cost nothing until they
 * are used: sixteen entries at a time are made when the first is written. */
#ifndef SYSTEMS_EXTOLL_NIC_SPARSE_TABLE_H
#define SYSTEMS_EXTOLL_NIC_SPARSE_TABLE_H

#include <stdint.h>
#include <stdlib.h>

enum { VPID_CHUNK = 16 };

struct ex_vpids {
	char *chunk[256 / VPID_CHUNK];
};

/* Entry of `size` bytes, or NULL while nothing was written near it. */
static inline void *ex_vpid_find(const struct ex_vpids *t, uint32_t vpid,
				 size_t size)
{
	char *c = t->chunk[(vpid & 0xff) / VPID_CHUNK];

	return c ? c + vpid % VPID_CHUNK * size : NULL;
}

/* The same; made of zeros when it is not there. */
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
