/* SPDX-License-Identifier: Apache-2.0 */
/* Allocator of the card's address translation table (hvia.md 3.5, 6.2). It
 * belongs to the kernel agent and does not access the card.
 *
 * SDRAM   0 ---> level 1, 24 bytes each        level 2, 4 bytes each <--- end
 *         handle 0, 1, 2 ...                              ... 2, 1, 0 index
 *
 * A region gets the lowest free handle, so that level 1 stays short. Its block
 * of level 2 is found by first fit. The two levels grow towards each other.
 * Registration fails if they would meet even after all blocks of level 2 are
 * moved together. */
#ifndef SYSTEMS_HVIA_LIB_TRANSLATION_TABLE_H
#define SYSTEMS_HVIA_LIB_TRANSLATION_TABLE_H

#include "base/vec.h"
#include "systems/hvia/nic/regs_map.h"
#include "weft/types.h"

struct hvia_att_region {
	uint32_t pages; /* number of pages, or 0 if the handle is free */
	uint32_t l2;
};

/* A free block, as a node of a treap by index. `most` is the length of the
 * longest block in its subtree, so that a search skips subtrees without
 * room. */
struct hvia_att_node {
	uint32_t at, len, most;
	uint32_t left, right; /* 0: none */
};

struct hvia_att {
	uint32_t sdram; /* bytes */
	uint32_t used;	/* number of entries of level 2 in use */
	uint32_t live;	/* number of handles in use */
	struct {
		VEC(struct hvia_att_region);
	} region; /* regions by handle; the last one is always in use */
	struct {
		VEC(uint32_t);
	} spare_handles; /* heap of free handles; the lowest is below region.n
			  */
	struct {
		VEC(struct hvia_att_node);
	} node;
	struct {
		VEC(uint32_t);
	} spare_nodes;
	uint32_t root;
};

/* Starts the allocator of an empty table of `sdram` bytes. hvia_att_fini()
 * frees it. */
void hvia_att_init(struct hvia_att *a, uint32_t sdram);
void hvia_att_fini(struct hvia_att *a);

/* Takes a handle and a block of `pages` entries. Returns 0, -ENOSPC if the
 * table has no room, or -EAGAIN if it has room after hvia_att_compact(). */
int hvia_att_take(struct hvia_att *a, uint32_t pages, uint32_t *handle_p);
/* Gives a handle and its block back. The handle must have been taken. */
void hvia_att_give(struct hvia_att *a, uint32_t handle);
static inline bool hvia_att_has(const struct hvia_att *a, uint32_t handle)
{
	return handle < a->region.n && a->region.at[handle].pages;
}

/* Moves all blocks towards index 0, lowest first. Calls `move` for each block
 * that moves, after the region has its new index. Handles do not change. */
void hvia_att_compact(struct hvia_att *a,
		      void (*move)(void *own, uint32_t handle, uint32_t from),
		      void *own);
/* Returns one more than the highest index of level 2 in use. */
uint32_t hvia_att_top(const struct hvia_att *a);

static inline uint32_t hvia_att_blocks(const struct hvia_att *a)
{
	return (uint32_t)(a->node.n - 1 - a->spare_nodes.n);
}

#endif
