/* SPDX-License-Identifier: Apache-2.0 */
/* Model of a disk's bytes, for programs that verify them.
 *
 * Each write has a version number, and the number determines all bytes that the
 * write stores in a sector. Version 0 is zeros. The model knows for each sector
 * the versions that the drive may have now. After a write without error this is
 * one version. After a failed write there are several, because a failed write
 * may have changed the sector or not. With `history` the model also knows the
 * versions since the sector's last FLUSH, because the drive has one of them
 * after a loss of its cache. A FLUSH must report such a loss. */
#ifndef STORAGE_SHADOW_H
#define STORAGE_SHADOW_H

#include "weft/host.h"

struct shadow;

/* Makes a model of `sectors` zero sectors. Returns NULL if the host has too
 * little memory. */
struct shadow *shadow_new(struct weft_host *h, uint64_t sectors,
			  uint32_t sector_bytes, bool history);
void shadow_free(struct shadow *s);
/* Marks sectors that a request uses. Returns false, changing nothing, if
 * another request uses one of them, because the order of the two would be
 * undefined. */
bool shadow_use(struct shadow *s, uint64_t first, uint64_t n);
void shadow_unuse(struct shadow *s, uint64_t first, uint64_t n);
/* Returns a version that is new. */
uint32_t shadow_version(struct shadow *s);
/* Fills p with sectors of a version. */
void shadow_fill(const struct shadow *s, void *p, uint64_t first, uint64_t n,
		 uint32_t version);

enum shadow_end {
	SHADOW_ENDED,
	SHADOW_SAFE,  /* FUA: a loss of the cache does not revert the write */
	SHADOW_MAYBE, /* the write failed, and may have changed its sectors
		       * fully, in part or not at all */
};

/* Records the end of a write. */
void shadow_wrote(struct shadow *s, uint64_t first, uint64_t n,
		  uint32_t version, enum shadow_end end);
/* Checks bytes that were read. Returns the first sector whose bytes match none
 * of the sector's possible versions, or -1. */
int64_t shadow_check(struct shadow *s, const void *p, uint64_t first,
		     uint64_t n);
/* shadow_flush returns a mark when the program submits a FLUSH. shadow_flushed
 * records the end of that FLUSH. `lost` means that the FLUSH reported lost
 * writes. shadow_flushed returns false if reads had found lost writes before
 * the mark, but the FLUSH did not report the loss. */
uint64_t shadow_flush(struct shadow *s);
bool shadow_flushed(struct shadow *s, uint64_t mark, bool lost);
/* Returns the number of versions that a sector may hold, for error messages. */
uint32_t shadow_choices(const struct shadow *s, uint64_t sector);

#endif
