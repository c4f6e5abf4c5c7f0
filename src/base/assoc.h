/* SPDX-License-Identifier: Apache-2.0 */
/* Directory of a set-associative cache: the keys, the states and the order of
 * replacement.  The data lie in an array of the cache, by the same index:
 *
 *	struct assoc dir;
 *	assoc_init(&dir, sets, ways, ASSOC_LRU);
 *
 *	i = assoc_find(&dir, set, owner, key);
 *	if (i == ASSOC_NONE) {
 *		i = assoc_victim(&dir, set);
 *		assoc_put(&dir, i, owner, key, ASSOC_VALID);
 *		data[i] = ...
 *	}
 *	assoc_touch(&dir, i);
 *
 * The cache chooses the set of a key, because each cache has its own hash. */
#ifndef BASE_ASSOC_H
#define BASE_ASSOC_H

#include <stdbool.h>
#include <stdint.h>

#define ASSOC_NONE UINT32_MAX /* result of a search: no entry has the key */

enum assoc_policy {
	/* replaces an empty entry, else the least recently used one */
	ASSOC_LRU,
	/* Replaces the entries of a set round robin, empty or not, like
	 * hardware with one counter that advances at each replacement. */
	ASSOC_ROUND_ROBIN,
};

enum assoc_state {
	ASSOC_EMPTY,
	ASSOC_VALID,
	/* The entry waits for its data. assoc_find returns it, and it is never
	 * replaced. */
	ASSOC_FILLING,
	/* The entry was removed while it waited for its data. assoc_find does
	 * not return it. The entry is not replaced before the data arrive,
	 * because the data will be written to the entry. */
	ASSOC_GONE,
};

struct assoc_entry {
	uint64_t key, used;
	/* part of the key: a process, or 0 if all processes share the entry */
	uint32_t owner;
	enum assoc_state state;
};

struct assoc {
	struct assoc_entry *at; /* sets * ways */
	uint32_t sets, ways;
	enum assoc_policy policy;
	uint64_t clock; /* number of uses so far, which is the clock of LRU */
	/* next entry to replace in each set; NULL unless round robin */
	uint32_t *turn;
};

/* Allocates `sets` * `ways` empty entries. Does not return if memory runs
 * out. */
void assoc_init(struct assoc *a, uint32_t sets, uint32_t ways,
		enum assoc_policy policy);
/* Frees the entries. A zeroed directory is allowed, so that a cache may be
 * freed without assoc_init. */
void assoc_fini(struct assoc *a);

/* Returns the entry that the next insert into the set replaces, or ASSOC_NONE
 * if all entries are being filled. */
uint32_t assoc_victim(struct assoc *a, uint32_t set);
/* Returns the least recently used entry of the set for which `may` returns
 * true, or ASSOC_NONE. An empty entry is returned without a call of `may`,
 * because its replacement loses no data. */
uint32_t assoc_victim_if(const struct assoc *a, uint32_t set,
			 bool (*may)(const void *arg, uint32_t i),
			 const void *arg);

static inline uint32_t assoc_size(const struct assoc *a)
{
	return a->sets * a->ways;
}

/* Returns the entry of the key, or ASSOC_NONE if no entry of the key is valid
 * or being filled. If a key has been put twice, returns the first entry. */
static inline uint32_t assoc_find(const struct assoc *a, uint32_t set,
				  uint32_t owner, uint64_t key)
{
	uint32_t first = set * a->ways;

	for (uint32_t i = first; i < first + a->ways; i++) {
		const struct assoc_entry *e = &a->at[i];

		if (e->key == key && e->owner == owner &&
		    (e->state == ASSOC_VALID || e->state == ASSOC_FILLING))
			return i;
	}
	return ASSOC_NONE;
}

static inline bool assoc_valid(const struct assoc *a, uint32_t i)
{
	return i != ASSOC_NONE && a->at[i].state == ASSOC_VALID;
}

/* Makes entry i the most recently used one. */
static inline void assoc_touch(struct assoc *a, uint32_t i)
{
	a->at[i].used = ++a->clock;
}

static inline void assoc_put(struct assoc *a, uint32_t i, uint32_t owner,
			     uint64_t key, enum assoc_state state)
{
	a->at[i].key = key;
	a->at[i].owner = owner;
	a->at[i].state = state;
}

/* Removes entry i, so that assoc_find no longer returns it. An entry that is
 * being filled is not reused before its data have arrived, because the data
 * will be written there. */
static inline void assoc_remove(struct assoc *a, uint32_t i)
{
	struct assoc_entry *e = &a->at[i];
	bool filling = e->state == ASSOC_FILLING || e->state == ASSOC_GONE;

	e->state = filling ? ASSOC_GONE : ASSOC_EMPTY;
}

#endif
