/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the Host Port that have state of their own. The caches come first,
 * in the order of their numbers in CACHE_CMD (hostport.md 8.8). */
#include "systems/hostport/nic/nic.h"

const struct hp_block *const hp_blocks[HP_BLOCKS] = {
	[HP_CACHE_CTX] = NULL, /* see context_cache.h */
	[HP_CACHE_WIN] = &hp_win_block,
	[HP_CACHE_ROUTE] = &hp_route_block,
	[HP_CACHE_TLB] = &hp_tlb_block,
	[HP_BLOCK_ULTRA] = &hp_ultra_block,
	[HP_BLOCK_NOTIFY] = &hp_notify_block,
};
