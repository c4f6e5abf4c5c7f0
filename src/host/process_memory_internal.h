/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows of other processes' memory in the memory of a node
 * (process_memory.h). */
#ifndef HOST_PROCESS_MEMORY_INTERNAL_H
#define HOST_PROCESS_MEMORY_INTERNAL_H

#include "host/mem.h"
#include "host/process_memory.h"

/* NULL: no room. */
void *mem_far_add(struct mem *m, struct weft_far_owner *o, uint64_t va,
		  uint64_t len);
/* False: there is none. */
bool mem_far_del(struct mem *m, void *shadow);
/* between process_memory.c and process_memory_pins.c: the shadow is an
 * allocated piece */
void mem_far_set(struct mem *m, const struct mem_far *f);

/* between process_memory.c and process_memory_buffers.c: how many bytes it
 * could; a write */
size_t mem_far_access(struct weft_far_owner *o, uint64_t va, void *buf,
		      size_t n, bool write);
void mem_far_put(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 const void *src, size_t n);
/* Out of what was read ahead; false: it cannot be. */
bool mem_far_ahead(struct mem *m, const struct mem_far *f, uint64_t va,
		   void *dst, size_t n);
/* Something else is there now; everything, of an owner. */
void mem_far_stale(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n);
void mem_far_forget(struct mem *m, const struct weft_far_owner *o);
/* A write, until mem_far_flush; those that concern a place, now. */
void mem_far_later(struct mem *m, const struct mem_far *f, uint64_t va,
		   const void *src, size_t n);
void mem_far_clean(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n);

/* process_memory_pins.c, as mem_pin and mem_unpin; false: it was not */
bool mem_far_pin(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 uint64_t len, weft_phys_t *phys);
bool mem_far_unpin(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   uint64_t len);
bool mem_far_phys(const struct mem *m, const struct weft_far_owner *o,
		  uint64_t va, weft_phys_t *phys_p);

#endif
