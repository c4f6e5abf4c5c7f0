/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of components: zeroed, aligned to lines of 64 bytes, freed all at
 * once. Large networks get huge pages, so that an access to a component costs
 * no page table walk. */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks; /* the newest first */
	size_t used;		    /* bytes given out */
};

/* Returns `bytes` of zeroed memory, or NULL if memory runs out. The arena owns
 * it. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Frees all memory of the arena. */
void arena_fini(struct arena *a);

#endif
