/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a drive that its cache holds: extents that do not overlap, sorted by
 * offset. */
#ifndef STORAGE_EXTENTS_H
#define STORAGE_EXTENTS_H

#include "storage/drive.h"

struct extent {
	uint64_t at, len;
	enum drive_code code; /* DRIVE_WRITE, DRIVE_TRIM, DRIVE_ZERO */
	uint8_t *data;	      /* bytes of a WRITE, or NULL for zeros */
};

struct extents {
	struct extent_node *root;
	uint64_t places; /* number of pseudo-random numbers drawn so far */
	uint32_t sector; /* bytes that an extent of zeros takes in the cache */
	uint64_t room;	 /* bytes that all extents take in the cache */
};

/* Returns the room that an extent takes in a cache. */
uint64_t extent_room(const struct extent *x, uint32_t sector);
/* Copies the bytes of [at, at + len) that x holds to their offsets in p, where
 * p[0] is byte `at`. */
void extent_read(const struct extent *x, uint64_t at, size_t len, void *p);
/* Removes the range [at, at + len), which overlaps x, from x. Stores the
 * remaining parts in part[0..1] and frees x. Returns the number of parts, 0 to
 * 2. */
int extent_cut(struct extent x, uint64_t at, uint64_t len,
	       struct extent part[2]);

/* Adds an extent, which replaces the bytes of its range. The tree owns the
 * extent's data afterwards. */
void extents_put(struct extents *e, struct extent x);
/* Overwrites the bytes of a range with those of p if one extent with data holds
 * the whole range. Returns false if no extent does. */
bool extents_overwrite(struct extents *e, uint64_t at, const void *p,
		       size_t len);
/* Removes a range. */
void extents_cut(struct extents *e, uint64_t at, uint64_t len);
/* Removes an extent and gives it to the caller. Chooses the first extent that
 * begins at or after `from`, or the first extent of the tree if there is none.
 * Returns false if the tree is empty. */
bool extents_take(struct extents *e, uint64_t from, struct extent *x_p);
/* Returns the extent that holds a byte, or NULL. */
const struct extent *extents_find(const struct extents *e, uint64_t at);
/* Copies bytes from all extents, as extent_read does from one. */
void extents_read(const struct extents *e, uint64_t at, size_t len, void *p);

#endif
