/* SPDX-License-Identifier: Apache-2.0 */
/* Private to process_memory*.c: shadows of other processes' memory in the
 * memory of a node (process_memory.h). */
#ifndef HOST_PROCESS_MEMORY_INTERNAL_H
#define HOST_PROCESS_MEMORY_INTERNAL_H

#include "host/mem.h"
#include "host/process_memory.h"

/* Creates a shadow. Returns NULL if the node has no free pages. */
void *mem_far_add(struct mem *m, struct weft_far_owner *o, uint64_t va,
		  uint64_t len);
/* Removes a shadow. Returns false if there is none. */
bool mem_far_del(struct mem *m, void *shadow);
/* Registers a shadow, which is an allocated piece. Shared with
 * process_memory_pins.c. */
void mem_far_set(struct mem *m, const struct mem_far *f);

/* Copies bytes from or to the process immediately. Returns the number of copied
 * bytes. Shared with process_memory_buffers.c. */
size_t mem_far_access(struct weft_far_owner *o, uint64_t va, void *buf,
		      size_t n, bool write);
/* Writes n bytes to the process at once. If this fails, drops the bytes and
 * counts a fault. */
void mem_far_put(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 const void *src, size_t n);
/* Copies n bytes from data that were read ahead. Returns false if not all of
 * the n bytes were read ahead. */
bool mem_far_ahead(struct mem *m, const struct mem_far *f, uint64_t va,
		   void *dst, size_t n);
/* Drop data that were read ahead. mem_far_stale drops the data of a range,
 * because a write covers the range. mem_far_forget drops all data of an
 * owner. */
void mem_far_stale(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n);
void mem_far_forget(struct mem *m, const struct weft_far_owner *o);
/* mem_far_later keeps a write until mem_far_flush. mem_far_clean writes the
 * kept data of a range at once. */
void mem_far_later(struct mem *m, const struct mem_far *f, uint64_t va,
		   const void *src, size_t n);
void mem_far_clean(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   size_t n);

/* process_memory_pins.c: work like mem_pin, mem_unpin and mem_phys.
 * mem_far_unpin and mem_far_phys return false if a page is not pinned. */
bool mem_far_pin(struct mem *m, struct weft_far_owner *o, uint64_t va,
		 uint64_t len, weft_phys_t *phys);
bool mem_far_unpin(struct mem *m, const struct weft_far_owner *o, uint64_t va,
		   uint64_t len);
bool mem_far_phys(const struct mem *m, const struct weft_far_owner *o,
		  uint64_t va, weft_phys_t *phys_p);

#endif
