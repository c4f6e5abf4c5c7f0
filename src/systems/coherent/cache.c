/* SPDX-License-Identifier: Apache-2.0 */
/* MESI data cache with update requests (forth.md 9).
 *
 *   core -> lookup -> hit
 *                  -> request that the access needs on the interconnect
 *   interconnect -> snoop -> answer (held, supply), new state
 *
 * In a cache with several lines in a set, the least recently used line is
 * replaced (own choice, because the paper gives no organisation). Not modelled:
 * the cores' own, incoherent caches. */
#include "systems/coherent/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the event table ---- */

/* clang-format off */
static const struct coh_local local_tab[2][COH_STATES] = {
	{ /* read */
		[COH_I] = { COH_RD, COH_E },
		[COH_S] = { COH_NONE, COH_S },
		[COH_E] = { COH_NONE, COH_E },
		[COH_M] = { COH_NONE, COH_M },
	},
	{ /* write */
		[COH_I] = { COH_RDX, COH_M },
		[COH_S] = { COH_UPGR, COH_M },
		[COH_E] = { COH_NONE, COH_M },
		[COH_M] = { COH_NONE, COH_M },
	},
};

#define LOSES_THE_LINE {                                                       \
		[COH_I] = { COH_I, 0 },                                        \
		[COH_S] = { COH_I, 0 },                                        \
		[COH_E] = { COH_I, COH_SUPPLY },                               \
		[COH_M] = { COH_I, COH_SUPPLY },                               \
	}
static const struct coh_snoop snoop_tab[COH_SNOOPED][COH_STATES] = {
	[COH_RD] = {
		[COH_I] = { COH_I, 0 },
		[COH_S] = { COH_S, COH_MAY_SUPPLY },
		[COH_E] = { COH_S, COH_SUPPLY },
		[COH_M] = { COH_S, COH_SUPPLY | COH_WRITE_BACK },
	},
	[COH_RDX] = LOSES_THE_LINE,
	[COH_UPGR] = LOSES_THE_LINE,
	[COH_WRITE] = LOSES_THE_LINE,
	[COH_UPDATE] = {
		[COH_I] = { COH_I, COH_ALLOCATE },
		[COH_S] = { COH_S, COH_MERGE },
		[COH_E] = { COH_E, COH_MERGE },
		[COH_M] = { COH_M, COH_MERGE },
	},
};

/* clang-format on */

struct coh_local coh_on_local(bool write, enum coh_state s)
{
	return local_tab[write][s];
}

const char *const coh_state_name[COH_STATES] = { "I", "S", "E", "M" };

const char *const coh_bus_name[COH_BUSES + 1] = {
	[COH_RD] = "BusRd",	  [COH_RDX] = "BusRdX",
	[COH_UPGR] = "BusUpgr",	  [COH_UPDATE] = "Update",
	[COH_WRITE] = "BusWrite", [COH_MEM_RD] = "MemRd",
	[COH_MEM_WR] = "MemWr",	  [COH_NONE] = "none",
};

/* ---- the cache ---- */

bool coh_cache_init(struct coh_cache *c, uint64_t bytes, uint32_t line,
		    uint32_t ways)
{
	uint32_t n = (uint32_t)(bytes / line);

	*c = (struct coh_cache){ .line = line, .ways = ways, .sets = n / ways };
	assert(c->sets && !(c->sets & (c->sets - 1)) && !(line & (line - 1)));
	c->lines = calloc(n, sizeof(*c->lines));
	c->data = calloc(n, line);
	if (!c->lines || !c->data)
		return false;
	for (uint32_t i = 0; i < n; i++)
		c->lines[i].data = c->data + (size_t)i * line;
	return true;
}

void coh_cache_fini(struct coh_cache *c)
{
	free(c->lines);
	free(c->data);
	*c = (struct coh_cache){ 0 };
}

static struct coh_line *set_of(const struct coh_cache *c, uint64_t addr)
{
	return &c->lines[(addr / c->line & (c->sets - 1)) * c->ways];
}

struct coh_line *coh_cache_find(const struct coh_cache *c, uint64_t addr)
{
	struct coh_line *l = set_of(c, addr);

	addr &= ~(uint64_t)(c->line - 1);
	for (uint32_t i = 0; i < c->ways; i++, l++)
		if (l->state != COH_I && l->addr == addr)
			return l;
	return NULL;
}

enum coh_bus coh_cache_local(struct coh_cache *c, uint64_t addr, bool write,
			     struct coh_line **line_p)
{
	struct coh_line *l = coh_cache_find(c, addr);
	struct coh_local to = coh_on_local(write, l ? l->state : COH_I);

	*line_p = NULL;
	if (to.bus != COH_NONE)
		return to.bus;
	l->state = to.next;
	l->used = ++c->tick;
	*line_p = l;
	return COH_NONE;
}

struct coh_snoop coh_cache_snoop(struct coh_cache *c, enum coh_bus bus,
				 uint64_t addr, const uint8_t *update,
				 uint32_t bytes, uint8_t *copy,
				 enum coh_state *was_p)
{
	struct coh_line *l = coh_cache_find(c, addr);
	struct coh_snoop to;

	*was_p = l ? l->state : COH_I;
	assert(bus < COH_SNOOPED);
	to = snoop_tab[bus][*was_p];
	if (!l)
		return to;
	if (to.act & COH_MERGE)
		memcpy(l->data + (addr - l->addr), update, bytes);
	memcpy(copy, l->data, c->line);
	l->state = to.next;
	return to;
}

struct coh_line *coh_cache_victim(struct coh_cache *c, uint64_t addr)
{
	struct coh_line *l = set_of(c, addr), *best = l;

	for (uint32_t i = 0; i < c->ways; i++, l++) {
		if (l->state == COH_I)
			return l;
		if (l->used < best->used)
			best = l;
	}
	return best;
}

bool coh_cache_evict(struct coh_cache *c, struct coh_line *l, uint8_t *copy)
{
	bool dirty = l->state == COH_M;

	if (dirty)
		memcpy(copy, l->data, c->line);
	l->state = COH_I;
	return dirty;
}

void coh_cache_install(struct coh_cache *c, struct coh_line *l, uint64_t addr,
		       enum coh_state state, const uint8_t *data)
{
	assert(l->state == COH_I && !coh_cache_find(c, addr));
	l->addr = addr & ~(uint64_t)(c->line - 1);
	l->state = state;
	l->used = ++c->tick;
	memcpy(l->data, data, c->line);
}

struct coh_line *coh_cache_upgrade(struct coh_cache *c, uint64_t addr)
{
	struct coh_line *l = coh_cache_find(c, addr);

	assert(l && l->state == COH_S);
	l->state = coh_on_local(true, COH_S).next;
	l->used = ++c->tick;
	return l;
}
