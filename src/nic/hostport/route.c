/* SPDX-License-Identifier: Apache-2.0 */
/* Routing cache (hostport.md 3.2, 8.8): entries of the routing space by offset
 * and length, 32 bytes of each; longer ones are read every time.  Insert of the
 * driver is not offered: a route is there when it has been used. */
#include <stdlib.h>

#include "nic/hostport/units.h"

enum { KEPT = 32 }; /* bytes of a line */

struct hp_route_cache {
	struct hp_lines lines;
};

static uint64_t route_key(uint32_t off, uint32_t len)
{
	return (uint64_t)len << 32 | off;
}

static void route_done(struct hp_nic *n, struct hp_look *k)
{
	struct hp_route_req *r = k->arg;

	r->ok = k->ok && hp_route_parse(&r->route, k->data, k->bytes);
	r->done(n, r);
}

void hp_route_get(struct hp_nic *n, struct hp_route_req *r, uint32_t off,
		  uint32_t len)
{
	struct hp_look *k = &r->look;

	k->key = route_key(off, len);
	k->addr = n->rs_base + off;
	k->bytes = len < HP_LOOK_BYTES ? len : HP_LOOK_BYTES;
	k->done = route_done;
	k->arg = r;
	if (!len || (uint64_t)off + len > n->rs_size)
		hp_lines_none(n, &n->routes->lines, k);
	else
		hp_lines_get(n, &n->routes->lines, k);
}

/* ---- the block --------------------------------------------------------- */

/* Remove and query: ARG0 is the offset, the count is the length. */
static uint64_t route_cache(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			    uint64_t arg1)
{
	struct hp_lines *l = &n->routes->lines;
	uint64_t key = route_key((uint32_t)arg0, HP_CACHE_COUNT(cmd));

	(void)arg1;
	if (HP_CACHE_OP(cmd) == HP_CACHE_FLUSH)
		hp_lines_flush(l);
	else if (HP_CACHE_OP(cmd) == HP_CACHE_REMOVE)
		hp_lines_remove(l, key);
	return hp_lines_present(l, key) ? HP_CACHE_PRESENT : 0;
}

static int route_init(struct hp_nic *n, struct weft_err *err)
{
	struct hp_route_cache *r = calloc(1, sizeof(*r));

	(void)err;
	if (!r)
		abort();
	n->routes = r;
	r->lines.width = KEPT;
	r->lines.cycles = n->t_route;
	r->lines.hits = HP_K_ROUTE_HITS;
	r->lines.misses = HP_K_ROUTE_MISSES;
	return hp_lines_init(&r->lines, n->route_cache);
}

static void route_fini(struct hp_nic *n)
{
	if (n->routes)
		hp_lines_fini(&n->routes->lines);
	free(n->routes);
}

const struct hp_block hp_route_block = {
	.name = "route",
	.init = route_init,
	.cache = route_cache,
	.fini = route_fini,
};
