/* SPDX-License-Identifier: Apache-2.0 */
/* Routing cache (hostport.md 3.2, 8.8): entries of the routing space by offset
 * and length, 32 bytes each. Longer entries are read every time. An insert of
 * the driver does nothing, because a route enters the cache with its first
 * use. */
#include "systems/hostport/nic/functional_units.h"

static void route_done(struct hp_nic *n, void *arg)
{
	struct hp_route_req *r = arg;
	const struct hp_look *k = &r->look;

	r->ok = k->ok && hp_route_parse(&r->route, k->data, k->bytes);
	r->done(n, r->arg);
}

void hp_route_get(struct hp_nic *n, struct hp_route_req *r, uint32_t off,
		  uint32_t len)
{
	struct hp_look *k = &r->look;

	k->key = (uint64_t)len << 32 | off;
	k->addr = n->reg.rs_base + off;
	k->bytes = len < HP_LOOK_BYTES ? len : HP_LOOK_BYTES;
	k->done = route_done;
	k->arg = r;
	hp_lines_get(n, n->routes, k,
		     len && (uint64_t)off + len <= n->reg.rs_size);
}

/* ---- the block ---- */

/* Executes remove and query. ARG0 is the offset of the route, and the count in
 * the command is its length. */
static uint64_t route_cache(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			    uint64_t arg1)
{
	return hp_lines_cmd(n->routes, HP_CACHE_OP(cmd),
			    (uint64_t)HP_CACHE_COUNT(cmd) << 32 |
				    (uint32_t)arg0);
}

const struct hp_block hp_route_block = {
	.name = "route",
	.cache = route_cache,
};
