/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up of coh.system: the map of addresses, checks of parameters that depend
 * on each other, scripts of tests. */
#include <errno.h>

#include "systems/coherent/coherent_internal.h"

int coh_where(const struct coh_system *s, uint64_t addr, uint32_t bytes)
{
	uint64_t cached = s->ddr_bytes - s->uncached_bytes;

	if (addr >= s->private_base)
		return addr - s->private_base + bytes <= s->private_bytes
			       ? COH_PRIVATE
			       : -1;
	if (addr + bytes > s->ddr_bytes)
		return -1;
	return addr < cached ? COH_COHERENT : COH_UNCACHED;
}

static bool setup_power2(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int sizes_valid(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;

	if (!setup_power2(s->size) || !setup_power2(s->line) ||
	    !setup_power2(s->ways) || !setup_power2(s->row_bytes) ||
	    !setup_power2(s->width))
		return weft_fail(
			err, EINVAL,
			"%s: size, line, ways, width and row_bytes must be powers of two",
			c->name);
	if ((uint64_t)s->line * s->ways > s->size)
		return weft_fail(
			err, EINVAL,
			"%s: a set of %u lines of %u bytes does not fit into %u bytes",
			c->name, s->ways, s->line, (uint32_t)s->size);
	if (s->uncached_bytes >= s->ddr_bytes ||
	    s->uncached_bytes % s->row_bytes || s->ddr_bytes % s->row_bytes)
		return weft_fail(
			err, EINVAL,
			"%s: uncached_bytes must be below ddr_bytes, both whole rows",
			c->name);
	if (s->private_base < s->ddr_bytes)
		return weft_fail(
			err, EINVAL,
			"%s: private_base lies in DDR memory: give %#llx or more",
			c->name, (unsigned long long)s->ddr_bytes);
	return 0;
}

/* Checks that mailbox and region fit into both cached and uncached memory,
 * because the parameter `delivery` chooses between the two. */
static int places_valid(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;
	uint64_t room = s->ddr_bytes - s->uncached_bytes;

	if (room > s->uncached_bytes)
		room = s->uncached_bytes;
	if (s->mailbox % 4 || s->stride % 4 || s->mailbox > room ||
	    (uint64_t)s->slots * s->stride > room - s->mailbox)
		return weft_fail(
			err, EINVAL,
			"%s: mailbox, stride and slots must lie below %#llx, at multiples of 4",
			c->name, (unsigned long long)room);
	if (s->region % 8 || s->region_base % 8 || s->region_base > room ||
	    s->region > room - s->region_base || s->region > s->private_bytes)
		return weft_fail(
			err, EINVAL,
			"%s: region_base and region must lie below %#llx, at multiples of 8",
			c->name, (unsigned long long)room);
	return 0;
}

static int roles_valid(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;

	if (s->pollers > s->cores || s->target >= s->cores)
		return weft_fail(
			err, EINVAL,
			"%s: %u pollers and target %u must fit %u cores",
			c->name, s->pollers, s->target, s->cores);
	if (s->pollers && s->into)
		return weft_fail(
			err, EINVAL,
			"%s: nothing arrives in the mailbox: set into to mailbox or pollers to 0",
			c->name);
	if (s->privately + s->uncached > 1)
		return weft_fail(
			err, EINVAL,
			"%s: privately and uncached are more than 1 together",
			c->name);
	return 0;
}

int coh_setup_check(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;
	unsigned __int128 last = (unsigned __int128)s->words * s->interval +
				 s->start + s->jitter;

	if (sizes_valid(c, err) || places_valid(c, err) || roles_valid(c, err))
		return -EINVAL;
	/* All arrivals must lie within simulated time. */
	if (last > INT64_MAX || last * s->clock.num / s->clock.den > INT64_MAX)
		return weft_fail(
			err, EINVAL,
			"%s: the last word arrives after the end of time: reduce words, interval or start",
			c->name);
	return 0;
}

/* ---- scripts ---- */

int coh_system_script(struct weft_comp *c, uint32_t core,
		      const struct coh_op *ops, uint32_t n,
		      struct weft_err *err)
{
	struct coh_system *s = c->state;

	for (uint32_t i = 0; i < n; i++)
		if (!setup_power2(ops[i].bytes) || ops[i].bytes > 8 ||
		    ops[i].addr % ops[i].bytes ||
		    coh_where(s, ops[i].addr, ops[i].bytes) < 0)
			return weft_fail(
				err, EINVAL,
				"%s: access %u of core %u is no aligned access of memory",
				c->name, i, core);
	s->core[core].script = ops;
	s->core[core].n_script = n;
	return 0;
}

int coh_system_items(struct weft_comp *c, const struct coh_item *items,
		     uint32_t n, struct weft_err *err)
{
	struct coh_system *s = c->state;

	for (uint32_t i = 0; i < n; i++) {
		const struct coh_item *it = &items[i];
		int where =
			it->how == COH_TO_MEMORY ? COH_UNCACHED : COH_COHERENT;

		if (!it->bytes || it->target >= s->cores ||
		    it->addr % s->line + it->bytes > s->line ||
		    coh_where(s, it->addr, it->bytes) != where)
			return weft_fail(
				err, EINVAL,
				"%s: item %u does not fit into a line of its memory",
				c->name, i);
	}
	s->ni.items = items;
	s->ni.n_items = n;
	return 0;
}

void coh_system_watch(struct weft_comp *c, const struct coh_watch *watch)
{
	((struct coh_system *)c->state)->watch = *watch;
}

const struct coh_cache *coh_system_cache(const struct weft_comp *c,
					 uint32_t core)
{
	return &((const struct coh_system *)c->state)->core[core].cache;
}

const struct coh_mem *coh_system_mem(const struct weft_comp *c)
{
	return &((const struct coh_system *)c->state)->ddr.mem;
}
