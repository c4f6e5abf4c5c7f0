/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of the Host Port that have a life of their own: caches by the
 * number they have in CACHE_CMD (hostport.md 8.8), then the others. */
#include "nic/hostport/nic.h"

const struct hp_block *const hp_blocks[HP_BLOCKS] = {
	[HP_CACHE_CTX] = NULL, /* see ctx.h */
};
