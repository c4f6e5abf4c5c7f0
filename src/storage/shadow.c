/* SPDX-License-Identifier: Apache-2.0 */
/* Model of a disk's bytes: see shadow.h. */
#include "storage/shadow.h"

#include <string.h>

#include "base/minmax.h"

enum {
	MAYBE_ALL = 255,
	POOL = 1024, /* versions allocated at a time */
};

/* An older version of a sector. Each sector has a list of its older versions,
 * newest first. */
struct old {
	struct old *next;
	uint32_t version;
};

struct pool {
	struct pool *next;
	struct old old[POOL];
};

struct sector {
	uint32_t version; /* newest */
	uint8_t maybe;	  /* number of older versions that the sector may hold
			   * instead */
	uint8_t used, dirty;
	uint64_t when; /* clock of the newest write */
	struct old *old;
	struct sector *next; /* next sector in shadow.dirty */
};

struct shadow {
	struct weft_host *h;
	uint64_t n, clock;
	uint32_t bytes, versions;
	bool history;
	uint64_t reverted; /* value of `clock` when a read found a loss, or 0
			    * for none */
	struct old *free;
	struct pool *pools;
	struct sector *dirty;
	struct sector sector[];
};

/* ---- making ---- */

struct shadow *shadow_new(struct weft_host *h, uint64_t sectors,
			  uint32_t sector_bytes, bool history)
{
	struct shadow *s = weft_host_calloc(
		h, 1, sizeof(*s) + sectors * sizeof(s->sector[0]));

	if (!s)
		return NULL;
	s->h = h;
	s->n = sectors;
	s->bytes = sector_bytes;
	s->history = history;
	return s;
}

void shadow_free(struct shadow *s)
{
	while (s && s->pools) {
		struct pool *p = s->pools;

		s->pools = p->next;
		weft_host_free(s->h, p);
	}
	if (s)
		weft_host_free(s->h, s);
}

static struct old *old_new(struct shadow *s)
{
	struct old *o = s->free;
	struct pool *p = o ? NULL : weft_host_calloc(s->h, 1, sizeof(*p));

	if (p) {
		p->next = s->pools;
		s->pools = p;
		for (uint32_t i = 0; i < POOL; i++) {
			p->old[i].next = s->free;
			s->free = &p->old[i];
		}
		o = s->free;
	}
	if (o)
		s->free = o->next;
	return o;
}

/* Frees a list of versions. */
static void old_free(struct shadow *s, struct old **list)
{
	while (*list) {
		struct old *o = *list;

		*list = o->next;
		o->next = s->free;
		s->free = o;
	}
}

/* Forgets versions that the sector cannot hold any more. */
static void old_cut(struct shadow *s, struct sector *t)
{
	struct old **at = &t->old;

	if (t->maybe == MAYBE_ALL)
		return;
	for (uint32_t k = t->maybe; k && *at; k--)
		at = &(*at)->next;
	old_free(s, at);
}

/* ---- use ---- */

bool shadow_use(struct shadow *s, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++)
		if (s->sector[i].used)
			return false;
	for (uint64_t i = first; i < first + n; i++)
		s->sector[i].used = 1;
	return true;
}

void shadow_unuse(struct shadow *s, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++)
		s->sector[i].used = 0;
}

uint32_t shadow_version(struct shadow *s)
{
	return ++s->versions;
}

/* ---- bytes ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xBF58476D1CE4E5B9ull;
	x ^= x >> 27;
	x *= 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

/* Fills q with the bytes of a version. The first qword names sector and
 * version, so that a wrong sector can be distinguished from a damaged one. */
static void sector_fill(const struct shadow *s, uint64_t *q, uint64_t sector,
			uint32_t version)
{
	uint64_t name = sector << 32 | version, base = mix(name);

	if (!version) {
		memset(q, 0, s->bytes);
		return;
	}
	q[0] = name;
	for (uint32_t i = 1; i < s->bytes / 8; i++)
		q[i] = base + i * 0x9E3779B97F4A7C15ull;
}

void shadow_fill(const struct shadow *s, void *p, uint64_t first, uint64_t n,
		 uint32_t version)
{
	uint64_t q[512];

	for (uint64_t i = 0; i < n; i++) {
		sector_fill(s, q, first + i, version);
		memcpy((uint8_t *)p + i * s->bytes, q, s->bytes);
	}
}

/* ---- writes ---- */

static void sector_dirty(struct shadow *s, struct sector *t)
{
	if (t->dirty)
		return;
	t->dirty = 1;
	t->next = s->dirty;
	s->dirty = t;
}

static void sector_wrote(struct shadow *s, struct sector *t, uint32_t version,
			 enum shadow_end end)
{
	bool keep = end == SHADOW_MAYBE || (s->history && end == SHADOW_ENDED);
	struct old *o = keep ? old_new(s) : NULL;

	if (!keep)
		old_free(s, &t->old);
	if (o) {
		*o = (struct old){ t->old, t->version };
		t->old = o;
		sector_dirty(s, t);
	}
	t->maybe = end != SHADOW_MAYBE ? 0 : min_of(t->maybe + 1, MAYBE_ALL);
	t->version = version;
	t->when = s->clock;
}

void shadow_wrote(struct shadow *s, uint64_t first, uint64_t n,
		  uint32_t version, enum shadow_end end)
{
	s->clock++;
	for (uint64_t i = first; i < first + n; i++)
		sector_wrote(s, &s->sector[i], version, end);
}

/* ---- reads ---- */

static bool bytes_are(const struct shadow *s, const uint64_t *q,
		      uint64_t sector, uint32_t version)
{
	uint64_t want[512];

	sector_fill(s, want, sector, version);
	return !memcmp(q, want, s->bytes);
}

static bool sector_check(struct shadow *s, const uint64_t *q, uint64_t sector)
{
	struct sector *t = &s->sector[sector];
	uint32_t k = 1;

	if (bytes_are(s, q, sector, t->version))
		return true;
	for (struct old *o = t->old; o; o = o->next, k++) {
		if (!bytes_are(s, q, sector, o->version))
			continue;
		if (t->maybe != MAYBE_ALL && k > t->maybe) {
			s->reverted = ++s->clock;
			t->maybe = MAYBE_ALL;
		}
		return true;
	}
	return false;
}

int64_t shadow_check(struct shadow *s, const void *p, uint64_t first,
		     uint64_t n)
{
	uint64_t q[512];

	for (uint64_t i = 0; i < n; i++) {
		memcpy(q, (const uint8_t *)p + i * s->bytes, s->bytes);
		if (!sector_check(s, q, first + i))
			return (int64_t)(first + i);
	}
	return -1;
}

/* ---- flushes ---- */

uint64_t shadow_flush(struct shadow *s)
{
	return ++s->clock;
}

bool shadow_flushed(struct shadow *s, uint64_t mark, bool lost)
{
	struct sector **at = &s->dirty, *t;
	bool told = lost || !s->reverted || s->reverted > mark;

	while ((t = *at)) {
		if (lost)
			t->maybe = MAYBE_ALL;
		else if (t->when <= mark)
			old_cut(s, t);
		if (t->old) {
			at = &t->next;
			continue;
		}
		t->dirty = 0;
		*at = t->next;
	}
	if (lost || !told)
		s->reverted = 0;
	return told;
}

uint32_t shadow_choices(const struct shadow *s, uint64_t sector)
{
	uint32_t n = 1;

	for (struct old *o = s->sector[sector].old; o; o = o->next)
		n++;
	return n;
}
